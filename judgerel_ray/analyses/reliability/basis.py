"""What numbers rest on: coefficients with the requests that failed, and with what is still owed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import polars as pl

from judgerel_ray.analyses.reliability.reducing import (
    Judged,
    ReduceOptions,
    open_judgments,
    tolerated,
)
from judgerel_ray.analyses.reliability.tolerance import with_bands
from judgerel_ray.analyses.serving.from_run import (
    serving_asked,
    texts_are_gone,
)
from judgerel_ray.core import count_of
from judgerel_ray.counting.given import Given, looked_at, reading_of
from judgerel_ray.counting.outcomes import failed_requests

if TYPE_CHECKING:  # coefficients of a file are there before these are imported
    from judgerel_ray.store import RunDirectory

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

    Effects, Raises: as :func:`judgerel_ray.analyses.reliability.reducing.reduce_path`.
    """
    with reading_of(path):
        judged = open_judgments(path, extra=options.told_apart)
        found = tolerated(judged, options)
        failures = failures_of(judged, found, options)
        serving = serving_asked(judged, found, options)
        caution = _of_later_blocks(judged) if options.block == "all" else None
        if judged.run and options.coefficients is None and texts_are_gone(serving):
            caution = "; ".join(filter(None, [caution, _NO_TEXTS]))
    found = with_bands(found) if options.bands else found
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
        from judgerel_ray.counting.outcomes import failed_rows
        from judgerel_ray.store import checked_ledger

        rows = failed_rows(judged.run, checked_ledger(judged.run))
        source = judged.frame.head(0) if rows is None else rows
    return failed_requests(source, groups, block=block)


def basis_lines(path: str | Given) -> list[str]:
    """Say what numbers of a run rest on: how much of it is there, and what of it is damaged.

    Whatever the numbers are, they are of every request that landed, or they were refused: damage
    that is left is in files that they are not made of. Only what can be seen without reading these
    is told; ``judgerel verify`` reads them.

    Effects: reads. Retry: safe, also while a run goes on.

    Raises
    ------
    StoreError
        If records of what landed, or the plan, are damaged.
    """
    opened = looked_at(path)
    if not isinstance(opened, Given) or opened.run is None:
        return []
    damage = unread_damage(opened.run)
    lines = (unfinished(opened), f"damaged: {damage}" if damage else None)
    return [line for line in lines if line is not None]


def unread_damage(run: RunDirectory) -> str | None:
    """Name a file of a run that is damaged, where numbers were made all the same."""
    from judgerel_ray.store import checked_ledger, lost_files
    from judgerel_ray.store.status import altered_files

    ledger = checked_ledger(run)
    damaged = {**lost_files(run, ledger.commits), **dict.fromkeys(altered_files(run), "altered")}
    if not damaged:
        return None
    name, how = next(iter(damaged.items()))
    more = f" (and {count_of(len(damaged) - 1, 'more file')})" if damaged.keys() - {name} else ""
    return (
        f"{run.address(name)} is {how}{more}; these numbers are made of no byte of it, "
        f"and rest on all {count_of(ledger.n_rows, 'request')} that landed; judgerel verify "
        f"{run.url} names what is damaged"
    )


def unfinished(path: str | Given) -> str | None:
    """Say how little of a run its numbers rest on so far; None where it is done, or a file.

    Effects: reads. Retry: safe, also while a run goes on.

    Raises
    ------
    StoreError
        If a file of the run cannot be read.
    """
    opened = looked_at(path)
    if not isinstance(opened, Given) or opened.run is None:
        return None
    from judgerel_ray.store import checked_ledger
    from judgerel_ray.store.status import status_of

    status = status_of(opened.run, checked_ledger(opened.run))
    if status.state == "done":
        return None
    landed = sum(judge.landed for judge in status.judges)
    asked = [judge.asked for judge in status.judges if judge.asked is not None]
    if not asked or landed > sum(asked):  # more than was planned: what says so is lost
        return (
            f"unfinished: rests on {count_of(landed, 'request')}; how many were asked is not known"
        )
    going = ", and still going on" if status.state == "running" else ""
    clauses = [f"unfinished{going}: rests on {landed:,} of {sum(asked):,} requests"]
    clauses += [
        f"judge {one.judge} has none" for one in status.judges if one.asked and not one.landed
    ]
    return "; ".join(clauses)
