"""What ``reduce`` prints of answers that are right or wrong: selection, and systems compared."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from judgerel_ray.cli.reduced import tell_basis
from judgerel_ray.cli.screen import tell
from judgerel_ray.core import SweepError

DONE = 0


def add_selection(reduce: argparse.ArgumentParser) -> None:
    """Add the flags of selection and of systems compared."""
    reduce.add_argument(
        "--selection", action="store_true", help="accuracy by confidence: accept or reject"
    )
    reduce.add_argument(
        "--comparison", action="store_true", help="systems compared, joined by question"
    )
    reduce.add_argument("--gold", metavar="FILE", help="item_id, gold: what is right")
    reduce.add_argument(
        "--confidence", metavar="NAMES", help="stated, agreement, support, margin, probability"
    )
    reduce.add_argument(
        "--band", default="bonferroni", metavar="NAME", help="bonferroni (default), dkw"
    )
    reduce.add_argument("--bins", type=int, default=10, metavar="N", help="of calibration")
    reduce.add_argument(
        "--answer", default="first", metavar="RULE", help="of a question: first (default), majority"
    )
    reduce.add_argument(
        "--family", default="all", metavar="NAME", help="pairs: all (default), roles, best"
    )
    reduce.add_argument(
        "--compared", type=float, metavar="T", help="temperature of the answers judges compared"
    )


def print_selection(
    parsed: argparse.Namespace, formats: Sequence[str], *, by: Sequence[str] | None
) -> int:
    """Print what selection is worth, or systems compared.

    Effects: reads a run or a file; with ``--out`` writes one file. Retry: safe.

    Raises
    ------
    SweepError
        If a name, a column or a file is wrong.
    """
    from judgerel_ray.analyses.advice.show import tables_json
    from judgerel_ray.analyses.reliability.reducing import write_coefficients
    from judgerel_ray.analyses.selection.from_run import run_comparison, run_selection
    from judgerel_ray.analyses.selection.selection import SelectionOptions
    from judgerel_ray.analyses.selection.show import selection_text, systems_text
    from judgerel_ray.analyses.selection.systems_paired import ComparisonOptions

    names = tuple(one.strip() for one in parsed.confidence.split(",")) if parsed.confidence else ()
    draws = {
        "resamples": 2000 if parsed.resamples is None else parsed.resamples,
        "seed": parsed.seed or 0,
    }
    if parsed.selection:
        options = SelectionOptions(
            confidences=names or None,
            n_bins=parsed.bins,
            band=parsed.band,
            risk=parsed.risk,
            delta=parsed.delta,
            **draws,
        )
        found = run_selection(parsed.path, options, by=by, gold=parsed.gold).tables()
        rows, text = found["systems"], selection_text(found)
    else:
        if len(names) > 1:
            raise SweepError(f"--comparison accepts by one confidence, got {parsed.confidence}")
        compared = ComparisonOptions(
            answer=parsed.answer,
            family=parsed.family,
            confidence=names[0] if names else None,
            answer_temperature=parsed.compared,
            **draws,
        )
        found = run_comparison(parsed.path, compared, by=by, gold=parsed.gold).tables()
        rows, text = found["pairs"], systems_text(found)
    tell_basis(parsed.path, formats)
    for name in formats:
        print(tables_json(found)) if name == "json" else tell(text)
    if parsed.output is not None:
        write_coefficients(rows, parsed.output)
    return DONE
