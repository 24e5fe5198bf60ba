"""What became of the requests: rows, shares of outcomes, and what failed for good.

A reply has a verdict or none, and the share with one has its interval. A request that landed as
failed got no reply, and none is counted; no session can change that, so people are told which and
why. An engine's refusal begins with a code (``prompt_too_long: ...``); a request whose earlier
stage left no text was never sent, and what is wrong is told with that stage's own failure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import polars as pl

from judgerel_ray.blocks.words import cell
from judgerel_ray.core import OUTCOMES, Outcome, count_of
from judgerel_ray.counting.columns import is_judge
from judgerel_ray.counting.groups.grouping import BlockChoice, count_judgments, varying_facets
from judgerel_ray.counting.groups.matrix import unit_table
from judgerel_ray.counting.groups.tally import Tally
from judgerel_ray.counting.intervals import share_interval
from judgerel_ray.counting.nesting import nest_rows
from judgerel_ray.stats import count_statistic, measure

if TYPE_CHECKING:  # coefficients of a file are there before these are imported
    from judgerel_ray.store import Ledger, RunDirectory


def outcome_table(source: pl.LazyFrame | Tally, *, by: Sequence[str] | None = None) -> pl.DataFrame:
    """Tell what became of every judge's requests.

    One row a group: its columns, ``n_items``, ``n_landed`` (rows), the number of rows of every
    outcome, ``valid_rate`` (scored over all but failed) with its 95 % interval ``low`` and ``high``
    by question, null where there is none.

    Examples
    --------
    >>> rows = {"item_id": ["q", "q", "r", "r"], "replication": [0, 1, 0, 1],
    ...         "verdict": ["A", None, "B", "A"]}
    >>> found = outcome_table(pl.LazyFrame(rows))
    >>> found.select("n_landed", "scored", "unparsed", "valid_rate").rows()
    [(4, 3, 1, 0.75)]
    """
    counted = count_judgments(source, by=by)
    groups, rows = counted.groups, counted.frame
    table = []
    for part in rows.partition_by(groups, maintain_order=True) if groups else [rows]:
        facets = varying_facets(part, counted.facets)
        cluster = ("item_id", *(name for name in facets if name == "benchmark"))
        nested = nest_rows(part, unit=cluster, kinds=("outcome",))
        found = unit_table(nested, unit=cluster, cluster=cluster).reply_counts()
        statistic = count_statistic("valid_rate", n_values=2)
        interval = share_interval(found, statistic)
        table.append(
            {
                **(dict(zip(groups, part.select(groups).row(0), strict=True)) if groups else {}),
                "n_items": len(found.counts_UV),
                "n_landed": int(part["n"].sum()),
                **{name: int(part.filter(outcome=name)["n"].sum()) for name in OUTCOMES},
                "valid_rate": measure(found.counts_UV, statistic).value,
                "low": interval.low,
                "high": interval.high,
            }
        )
    whole = {name: pl.Int64() for name in ("n_items", "n_landed", *OUTCOMES)}
    shares = {name: pl.Float64() for name in ("valid_rate", "low", "high")}
    keys = {name: rows.schema[name] for name in groups}
    return pl.DataFrame(table, schema={**keys, **whole, **shares}, orient="row")


NOT_SENT = "never sent, an earlier stage has no text for them"
UNKNOWN = "no reason recorded"
_CODE = r"^refused: ([a-z_]+):"


def failed_requests(
    source: pl.LazyFrame | Tally, groups: Sequence[str], *, block: BlockChoice = 0
) -> pl.DataFrame:
    """Count the failed requests of judges by group and reason.

    Examples
    --------
    >>> rows = pl.LazyFrame({"judge": ["j", "j"], "outcome": ["scored", "failed"],
    ...                      "finish_reason": ["stop", "refused: prompt_too_long: 9 > 8"]})
    >>> failed_requests(rows, ["judge"]).rows()
    [('j', 'prompt_too_long', 1)]
    """
    rows = source.rows if isinstance(source, Tally) else source
    columns = rows.collect_schema().names()
    failed = pl.col("outcome").cast(pl.String) == Outcome.FAILED.value
    if "outcome" not in columns or (isinstance(source, Tally) and not source.any_failed):
        rows, failed = rows.head(0), pl.lit(False)
    reason = reason_of(pl.col("finish_reason")) if "finish_reason" in columns else pl.lit(UNKNOWN)
    chosen = failed & is_judge(columns)
    if "block" in columns and block != "all":
        chosen &= pl.col("block").fill_null(0) == block
    return (
        rows.filter(chosen)
        .with_columns(reason=reason)  # of select alone, a literal makes a row out of none
        .select(*groups, "reason")
        .group_by(*groups, "reason")
        .agg(n=pl.len().cast(pl.Int64))
        .sort(["n", "reason", *groups], descending=[True, False, *(False for _ in groups)])
        .collect()
    )


def reason_of(finish_reason: pl.Expr) -> pl.Expr:
    """Name the reason of a failed row: an engine's code, or that it was never sent.

    Examples
    --------
    >>> rows = pl.DataFrame({"x": ["refused: option_empty: 'A'", "refused: no answer of m", None]})
    >>> rows.select(reason_of(pl.col("x"))).to_series().to_list()[::2]
    ['option_empty', 'no reason recorded']
    """
    text = finish_reason.cast(pl.String)
    known = pl.when(text.is_null()).then(pl.lit(UNKNOWN)).otherwise(pl.lit(NOT_SENT))
    return pl.coalesce(text.str.extract(_CODE), known)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusals:
    """Requests of a run that failed for good, by reason, the most frequent first.

    ``now`` counts those of one session that failed for a reason of their own.
    """

    reasons: Mapping[str, int] = field(default_factory=dict)
    now: int = 0

    def line(self, asked: int) -> str | None:
        """Say how many of `asked` requests failed for good, and why; None where none did.

        Examples
        --------
        >>> Refusals(reasons={"prompt_too_long": 16}).line(64)
        '16 of 64 requests failed and never can succeed: prompt_too_long (16)'
        >>> Refusals().line(64) is None
        True
        """
        if not self.reasons:
            return None
        reasons = ", ".join(f"{reason} ({n:,})" for reason, n in self.reasons.items())
        n = sum(self.reasons.values())
        return f"{n:,} of {asked:,} requests failed and never can succeed: {reasons}"


def read_refusals(run: RunDirectory, ledger: Ledger, session: int = 0) -> Refusals:
    """Read what failed for good, in all and in one session.

    Effects: reads the judgments of those commits that hold failures, and no others.
    """
    found = _failure_counts_by_reason(run, ledger)
    commits = tuple(one for one in ledger.commits if one.session == session)
    now = _failure_counts_by_reason(run, replace(ledger, commits=commits))
    return Refusals(reasons=found, now=sum(n for reason, n in now.items() if reason != NOT_SENT))


def _failure_counts_by_reason(run: RunDirectory, ledger: Ledger) -> dict[str, int]:
    """Failed rows of some commits, counted by reason."""
    from judgerel_ray.store import reading

    rows = failed_rows(run, ledger)
    if rows is None:
        return {}
    with reading(run.url):
        failed = (
            rows.select(reason=reason_of(pl.col("finish_reason")))
            .group_by("reason")
            .len()
            .sort(["len", "reason"], descending=[True, False])
            .collect()
        )
    return {str(reason): int(n) for reason, n in failed.iter_rows()}


def failed_rows(run: RunDirectory, ledger: Ledger) -> pl.LazyFrame | None:
    """Scan the failed rows of those commits that hold any; None where none does."""
    from judgerel_ray.store import CHEAP_COLUMNS, scan_judgments

    holding = tuple(one for one in ledger.commits if one.outcomes.get("failed"))
    if not holding:
        return None
    rows = scan_judgments(run, columns=CHEAP_COLUMNS, ledger=replace(ledger, commits=holding))
    return rows.filter(pl.col("outcome") == "failed")
