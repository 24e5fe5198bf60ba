"""How fast a run went, from its commit records alone: known after any end, a kill included."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from judgerel_ray.store import CommitRecord


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Requests and new tokens landed a second; None where no engine has worked."""

    requests_per_s: float | None
    tokens_per_s: float | None


def average_pace(commits: Iterable[CommitRecord]) -> Pace:
    """Say how fast commits landed, on average over the time in which any engine was at work.

    Parameters
    ----------
    commits : iterable of CommitRecord
        Of one judge, or of a whole run; any order, any number of sessions.

    Returns
    -------
    Pace
        Rows and new tokens a second. Engines at work at the same time count together; waiting for
        an engine and the time between sessions do not count. Rows that no engine made are left out.

    Examples
    --------
    >>> average_pace([])
    Pace(requests_per_s=None, tokens_per_s=None)
    """
    worked = [commit for commit in commits if commit.seconds > 0]
    seconds = _covered_s((_end(commit), commit.seconds) for commit in worked)
    if not seconds:
        return Pace(requests_per_s=None, tokens_per_s=None)
    return Pace(
        requests_per_s=sum(commit.rows for commit in worked) / seconds,
        tokens_per_s=sum(commit.tokens.generated for commit in worked) / seconds,
    )


def _end(commit: CommitRecord) -> datetime:
    """When a commit was written."""
    return datetime.fromisoformat(commit.written_at)


def _covered_s(spans: Iterable[tuple[datetime, float]]) -> float:
    """Seconds that lie in any of some spans, each given by its end and its length."""
    total, until = 0.0, None
    for begin, end in sorted((end - timedelta(seconds=length), end) for end, length in spans):
        if until is None or end > until:
            start = begin if until is None else max(begin, until)
            total += (end - start).total_seconds()
            until = end
    return total
