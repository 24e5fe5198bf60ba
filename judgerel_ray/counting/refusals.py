"""Requests that landed as failed: no session can change that, so people are told which and why.

An engine's refusal begins with a code (``prompt_too_long: ...``); a request whose earlier stage
left no text was never sent, and what is wrong is told with that stage's own failure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import polars as pl

from judgerel_ray.counting.outcomes import NOT_SENT, reason_of
from judgerel_ray.store import CHEAP_COLUMNS, Ledger, RunDirectory, reading, scan_judgments


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

    Raises
    ------
    StoreError
        If one of these files cannot be read.
    """
    found = _by_reason(run, ledger)
    commits = tuple(one for one in ledger.commits if one.session == session)
    now = _by_reason(run, replace(ledger, commits=commits))
    return Refusals(reasons=found, now=sum(n for reason, n in now.items() if reason != NOT_SENT))


def _by_reason(run: RunDirectory, ledger: Ledger) -> dict[str, int]:
    """Failed rows of some commits, counted by reason."""
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
    holding = tuple(one for one in ledger.commits if one.outcomes.get("failed"))
    if not holding:
        return None
    rows = scan_judgments(run, columns=CHEAP_COLUMNS, ledger=replace(ledger, commits=holding))
    return rows.filter(pl.col("outcome") == "failed")
