"""Requests that failed, in words: a request that was never answered is no reply."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from judgerel_ray.report.words import cell


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


def failed_text(reasons: Mapping[str, int], *, of: int | None = None) -> str:
    """Say how many requests failed, `of` how many, and why.

    Examples
    --------
    >>> failed_text({"prompt_too_long": 8}), failed_text({"a": 1, "b": 1}, of=3)
    ('8 requests failed (prompt_too_long)', '2 of 3 requests failed (1 a, 1 b)')
    """
    n = sum(reasons.values())
    said = [f"{many:,} {name}" if len(reasons) > 1 else name for name, many in reasons.items()]
    whole = f"{n:,} of {of:,} requests" if of else f"{n:,} request{'s' if n != 1 else ''}"
    return f"{whole} failed ({', '.join(said)})"


def failure_lines(failures: pl.DataFrame | None, outcomes: pl.DataFrame) -> Iterator[str]:
    """Say of every judge how many of its requests failed: no number rests on them.

    Parameters
    ----------
    failures : pl.DataFrame or None
        From :func:`judgerel_ray.reduce.failures.failed_requests`.
    outcomes : pl.DataFrame
        From :func:`judgerel_ray.reduce.outcome_table`, with the same groups.

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
            f"{f'{who[0]}: ' if by else ''}{failed_text(reasons, of=n)}; every number rests on "
            f"{n - sum(reasons.values()):,} replies."
        )
