"""What numbers rest on: coefficients with the requests that failed, and with what is still owed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import polars as pl

from judgerel_ray.pipeline.given import Given, is_plain
from judgerel_ray.pipeline.reducing import (
    Judged,
    ReduceOptions,
    open_judgments,
    reading_of,
    tolerated,
)
from judgerel_ray.pipeline.serving import (
    only_asked,
    serving_asked,
    texts_are_gone,
    without_serving,
)
from judgerel_ray.reduce.bands import with_bands
from judgerel_ray.reduce.failures import failed_requests

_NO_TEXTS = (
    "texts of the run are gone: repeats at temperature 0 are compared by their verdicts alone; "
    "judgerel verify names the files"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduced:
    """Coefficients; of the same groups, failed requests by reason, and the serving's noise."""

    coefficients: pl.DataFrame
    failures: pl.DataFrame
    serving: pl.DataFrame
    caution: str | None = None
    """What makes the numbers other than they seem."""


def reduce_with_basis(path: str | Given, options: ReduceOptions) -> Reduced:
    """Coefficients, and what their reader must know of the judgments.

    Effects, Raises: as :func:`judgerel_ray.pipeline.reducing.reduce_path`.
    """
    with reading_of(path):
        judged = open_judgments(path, extra=options.told_apart)
        found = tolerated(judged, without_serving(options))
        failures = failures_of(judged, found, options)
        serving = serving_asked(judged, found, options)
        caution = _of_later_blocks(judged) if options.block == "all" else None
        if judged.run and options.coefficients is None and texts_are_gone(serving):
            caution = "; ".join(filter(None, [caution, _NO_TEXTS]))
    found = only_asked(with_bands(found) if options.bands else found, options)
    return Reduced(coefficients=found, failures=failures, serving=serving, caution=caution)


def _of_later_blocks(judged: Judged) -> str | None:
    """Say that replications were asked because earlier ones disagreed, where any were."""
    if "block" not in judged.frame.collect_schema().names():
        return None
    n_later = judged.frame.filter(pl.col("block") > 0).select(pl.len()).collect().item()
    if not n_later:
        return None
    return (
        f"{n_later:,} of these replications are of later blocks, asked where earlier ones "
        "disagreed: agreement and Fleiss' kappa come out too high, Krippendorff's alpha, which "
        "weighs a question by its replications, too low; --block 0 leaves them out"
    )


def failures_of(
    judged: Judged, coefficients: pl.DataFrame, options: ReduceOptions | None = None
) -> pl.DataFrame:
    """Failed requests of the groups that coefficients have, by reason."""
    names = coefficients.columns
    groups = names[: names.index("coefficient")]
    block: Literal[0, "all"] = "all" if options and options.block == "all" else 0
    source = judged.source
    if judged.run is not None:
        from judgerel_ray.pipeline.refusals import failed_rows
        from judgerel_ray.store import read_ledger

        rows = failed_rows(judged.run, read_ledger(judged.run))
        source = judged.frame.head(0) if rows is None else rows
    return failed_requests(source, groups, block=block)


def unfinished(path: str | Given) -> str | None:
    """Say how little of a run its numbers rest on so far; None where it is done, or a file.

    Effects: reads. Retry: safe, also while a run goes on.

    Raises
    ------
    StoreError
        If a file of the run cannot be read.
    """
    if is_plain(path):
        return None
    from judgerel_ray.pipeline.inspecting import read_status
    from judgerel_ray.store import RunDirectory

    if not RunDirectory(url=str(path)).is_run():
        return None
    status = read_status(str(path))
    if status.state == "done":
        return None
    landed = sum(judge.landed for judge in status.judges)
    asked = [judge.asked for judge in status.judges if judge.asked is not None]
    if not asked or landed > sum(asked):  # more than was planned: what says so is lost
        return f"unfinished: rests on {landed:,} requests; how many were asked is not known"
    going = ", and still going on" if status.state == "running" else ""
    said = [f"unfinished{going}: rests on {landed:,} of {sum(asked):,} requests"]
    said += [f"judge {one.judge} has none" for one in status.judges if one.asked and not one.landed]
    return "; ".join(said)
