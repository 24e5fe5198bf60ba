"""Failed requests of the groups that were measured: how many, why, and in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from judgerel_ray.blocks.words import cell
from judgerel_ray.core import count_of
from judgerel_ray.counting.outcomes import failed_requests
from judgerel_ray.counting.snapshot import Snapshot
from judgerel_ray.measuring.reliability import ReduceOptions


def failures_of(
    judged: Snapshot, coefficients: pl.DataFrame, options: ReduceOptions | None = None
) -> pl.DataFrame:
    """Failed requests of the groups that coefficients have, by reason."""
    names = coefficients.columns
    groups = names[: names.index("coefficient")]
    block = options.counted_block if options else 0
    source = judged.source
    if judged.run is not None:
        from judgerel_ray.counting.outcomes import failed_rows
        from judgerel_ray.store import checked_ledger

        rows = failed_rows(judged.run, checked_ledger(judged.run))
        source = judged.frame.head(0) if rows is None else rows
    return failed_requests(source, groups, block=block)


def failed_by_group(
    failures: pl.DataFrame | None, columns: Sequence[str]
) -> dict[tuple[str, ...], dict[str, int]]:
    """Counts of failed requests by reason, of every group that has any, by its values as written.

    Examples
    --------
    >>> rows = pl.DataFrame({"judge": ["j"], "reason": ["prompt_too_long"], "n": [8]})
    >>> failed_by_group(rows, ["judge"])
    {('j',): {'prompt_too_long': 8}}
    """
    found: dict[tuple[str, ...], dict[str, int]] = {}
    for row in failures.to_dicts() if failures is not None else ():
        group = found.setdefault(tuple(cell(row[name]) for name in columns), {})
        group[row["reason"]] = group.get(row["reason"], 0) + row["n"]
    return found


def failures_in_words(reasons: Mapping[str, int], *, of: int | None = None) -> str:
    """Say how many requests failed, `of` how many, and why.

    Examples
    --------
    >>> failures_in_words({"prompt_too_long": 8}), failures_in_words({"a": 1, "b": 1}, of=3)
    ('8 requests failed (prompt_too_long)', '2 of 3 requests failed (1 a, 1 b)')
    """
    n = sum(reasons.values())
    parts = [f"{many:,} {name}" if len(reasons) > 1 else name for name, many in reasons.items()]
    whole = f"{n:,} of {of:,} requests" if of else count_of(n, "request")
    return f"{whole} failed ({', '.join(parts)})"


def failure_lines(failures: pl.DataFrame | None, outcomes: pl.DataFrame) -> Iterator[str]:
    """Say of every judge how many of its requests failed: no number rests on them.

    Examples
    --------
    >>> failed = pl.DataFrame({"judge": ["j"], "reason": ["prompt_too_long"], "n": [8]})
    >>> list(failure_lines(failed, pl.DataFrame({"judge": ["j"], "n_landed": [16]})))
    ['j: 8 of 16 requests failed (prompt_too_long); every number rests on 8 replies.']
    """
    by = ["judge"] if "judge" in outcomes.columns else []
    landed: dict[tuple[str, ...], int] = {}
    for row in outcomes.to_dicts():
        who = tuple(cell(row[name]) for name in by)
        landed[who] = landed.get(who, 0) + row["n_landed"]
    for who, reasons in failed_by_group(failures, by).items():
        n = landed[who]
        yield (
            f"{f'{who[0]}: ' if by else ''}{failures_in_words(reasons, of=n)}; every number rests "
            "on "
            f"{count_of(n - sum(reasons.values()), 'reply', 'replies')}."
        )
