"""From a run directory or a file of judgments to one page."""

from __future__ import annotations

import json
from pathlib import Path

from judgerel_ray.config import Judge, parse_sweep
from judgerel_ray.core import SweepError
from judgerel_ray.pipeline.reducing import Judged, ReduceOptions, open_judgments, reduce_judged
from judgerel_ray.reduce import least_stable, outcome_table
from judgerel_ray.report import render_report
from judgerel_ray.store import read_ledger


def report_path(path: str, out: str) -> str:
    """Write the report of a run directory or a file of judgments; return where it is.

    Effects: writes one file. Retry: safe.
    """
    judged = open_judgments(path)
    coefficients = reduce_judged(judged, ReduceOptions())
    page = render_report(
        coefficients,
        outcome_table(judged.source),
        least_stable(judged.source),
        title=_title(judged, path),
        asked=_asked(judged, path),
    )
    file = Path(out)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(page, encoding="utf-8")
    except OSError as error:
        raise SweepError(f"cannot write the report: {error}", where={"file": out}) from error
    return out


def _title(judged: Judged, path: str) -> str:
    """What the report is about."""
    if judged.run is None:
        return Path(path).name
    return parse_sweep(judged.run.read_text("sweep.toml")).name


def _asked(judged: Judged, path: str) -> list[tuple[str, str]]:
    """What was asked, as the report says it."""
    if judged.run is None:
        return [("file", path)]
    plan = json.loads(judged.run.read_text("plan.json"))
    sweep = parse_sweep(judged.run.read_text("sweep.toml"))
    ledger = read_ledger(judged.run)
    lines = [
        ("sweep", sweep.name),
        ("judges", ", ".join(f"{judge.name} ({_kind(judge)})" for judge in sweep.judge)),
        ("requests", f"{plan['requests']:,} asked, {ledger.n_rows:,} landed"),
    ]
    for index, ask in enumerate(sweep.ask):
        temperatures = ", ".join(f"{value:g}" for value in ask.temperatures)
        lines.append(
            (
                f"ask {index}",
                f"{ask.protocol} on {ask.benchmark}, {ask.replications} replications at "
                f"temperatures {temperatures}",
            )
        )
    tokens = ledger.tokens
    lines.append(
        (
            "tokens",
            f"prompt {tokens.prompt:,} ({tokens.cached:,} from the prefix cache), "
            f"generated {tokens.generated:,}",
        )
    )
    return lines


def _kind(judge: Judge) -> str:
    """What a judge is, never passing a simulated one off as a judge."""
    if judge.engine == "simulated":
        return f"simulated: {judge.model}; answers from a stated distribution, not a judge"
    return judge.model
