"""What ``reduce`` prints besides coefficients: limits, uncertainty, scores, what settled."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from judgerel_ray.cli.reduced import tell_basis
from judgerel_ray.cli.screen import tell

DONE = 0


def print_probabilities(parsed: argparse.Namespace, formats: Sequence[str]) -> int:
    """Print a table of its own: endless replications, judgments, reasonings, or what settled.

    Effects: reads a run; with ``--out`` writes one file. Retry: safe.

    Raises
    ------
    SweepError
        If the threshold, a rule, risk or delta is none.
    """
    from judgerel_ray.analyses.advice.show import tables_json
    from judgerel_ray.analyses.confusion.from_run import run_uncertainty_tables
    from judgerel_ray.analyses.confusion.text import uncertainty_text
    from judgerel_ray.analyses.confusion.uncertainty import uncertainty_options
    from judgerel_ray.analyses.distributions.from_run import (
        run_limits,
        run_reasoning,
        run_settled,
        run_weighted,
    )
    from judgerel_ray.analyses.distributions.show import limits_text, reasoning_text, settled_text
    from judgerel_ray.analyses.ratings.show import weighted_text
    from judgerel_ray.analyses.reliability.reducing import write_coefficients
    from judgerel_ray.analyses.reliability.show import coefficients_json

    options = uncertainty_options(
        threshold=parsed.threshold,
        rule=parsed.rule.split(",") if parsed.rule else (),
        risk=parsed.risk,
        delta=parsed.delta,
    )
    if parsed.uncertainty:
        found = run_uncertainty_tables(parsed.path, options)
        rows = found.judgments
        said = {"json": tables_json(found.printed()), "table": uncertainty_text(found.printed())}
    elif parsed.settled:
        rows, summary = run_settled(parsed.path)
        said = {"json": coefficients_json(summary), "table": settled_text(summary)}
    elif parsed.weighted:
        rows, summary = run_weighted(parsed.path)
        said = {"json": coefficients_json(summary), "table": weighted_text(summary)}
    else:
        rows = run_limits(parsed.path) if parsed.limits else run_reasoning(parsed.path)
        write = limits_text if parsed.limits else reasoning_text
        said = {"json": coefficients_json(rows), "table": write(rows)}
    tell_basis(parsed.path, formats)
    for name in formats:
        print(said[name]) if name == "json" else tell(said[name])
    if parsed.output is not None:
        write_coefficients(rows, parsed.output)
    return DONE
