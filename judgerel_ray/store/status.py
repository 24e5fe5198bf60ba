"""How a run directory stands, from its commits and its progress file; works while a run goes on.

How fast a run went, from its commit records alone: known after any end, a kill included.

What a run directory says that is asked: plan.json.
"""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from judgerel_ray.core import StoreError, TokenCounts, count_of
from judgerel_ray.store import (
    CommitRecord,
    Ledger,
    RunDirectory,
    live_session,
    read_errors,
    read_whole_ledger,
    reading,
    scan_judgments,
    unseen_session,
)
from judgerel_ray.store.ledger import LandedRun, summed_counts
from judgerel_ray.store.records import PROGRESS, unseal


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Requests and new tokens landed a second; None where no engine has worked."""

    requests_per_s: float | None
    tokens_per_s: float | None


def average_pace(commits: Iterable[CommitRecord]) -> Pace:
    """Say how fast commits landed, on average over the time in which any engine was at work.

    Rows and new tokens a second. Engines at work at the same time count together; waiting for an
    engine and the time between sessions do not count. Rows that no engine made are left out.

    Examples
    --------
    >>> average_pace([])
    Pace(requests_per_s=None, tokens_per_s=None)
    """
    worked = [commit for commit in commits if commit.seconds > 0]
    ends = (datetime.fromisoformat(commit.written_at) for commit in worked)
    seconds = _covered_s(zip(ends, (commit.seconds for commit in worked), strict=True))
    if not seconds:
        return Pace(requests_per_s=None, tokens_per_s=None)
    return Pace(
        requests_per_s=sum(commit.rows for commit in worked) / seconds,
        tokens_per_s=sum(commit.tokens.generated for commit in worked) / seconds,
    )


def _covered_s(spans: Iterable[tuple[datetime, float]]) -> float:
    """Seconds that lie in any of some spans, each given by its end and its length."""
    total, until = 0.0, None
    for begin, end in sorted((end - timedelta(seconds=length), end) for end, length in spans):
        if until is None or end > until:
            start = begin if until is None else max(begin, until)
            total += (end - start).total_seconds()
            until = end
    return total


class PlanFile(NamedTuple):
    """What a run was planned to ask, at least and at most."""

    sweep: str
    asked: dict[str, int]
    asked_at_most: dict[str, int]

    def requests_by_now(self, judge: str, board: Mapping[str, object]) -> int:
        """What is asked of a judge: where replication is adaptive, as its driver told it last."""
        least, reported = self.asked[judge], board.get("asked")
        return (
            max(least, min(reported, self.asked_at_most[judge]))
            if isinstance(reported, int)
            else least
        )


def read_plan(run: RunDirectory) -> PlanFile | None:
    """Read a run's plan; None where it is gone, or the run ended before it was written."""
    if not run.exists("plan.json"):
        return None
    try:
        content = json.loads(run.read_text("plan.json"))
        costs = {str(cost["judge"]): cost for cost in content["judges"]}
        asked = {name: int(cost["requests"]) for name, cost in costs.items()}
        most = {
            name: int(cost.get("requests_at_most", asked[name])) for name, cost in costs.items()
        }
        return PlanFile(sweep=str(content["sweep"]), asked=asked, asked_at_most=most)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise StoreError(
            f"the plan is damaged: {type(error).__name__}: {error}",
            where={"path": run.address("plan.json")},
            hint="judgerel run with the same sweep writes it again",
        ) from error


FRESH_S = 15.0  # progress older than this is history
_NO_PLAN = (
    "plan.json is gone, so nobody knows how much is asked; the next run with the same sweep "
    "writes it again"
)
_NO_RECORDS = (
    "judgments have landed here, and the records in commits/ that say which count are gone; mount "
    "the disk or put them back"
)
_NOT_BEGUN = (
    "no session has begun here, and nothing is known of what is asked; judgerel run begins one"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeStatus:
    """One judge of a run: requests, outcomes, tokens as its engines counted them.

    Rates are those of late while the judge runs, else the average over the time its engines worked.
    What is asked and pending is None where no plan says it.
    """

    judge: str
    asked: int | None
    landed: int
    owed: int | None
    failed: int
    outcomes: Mapping[str, int]
    thoughts: Mapping[str, int]
    """Replies that came with a thought, whole or cut off inside it."""
    tokens: TokenCounts
    busy_seconds: float
    requests_per_s: float | None
    tokens_per_s: float | None
    seconds_left: float | None
    state: str
    error: str | None
    cost: float | None
    """Money of what landed, where the sweep has prices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStatus:
    """A run directory as it stands.

    Attributes
    ----------
    run, sweep : str
        Address of the directory, and name of the sweep.
    session : int
        Number of the last session, from 1; 0 where none has begun.
    state : str
        "running", "done" or "incomplete".
    live : str or None
        Who is at work.
    judges : tuple of JudgeStatus
        One a judge: requests asked, landed, pending and failed, outcomes, tokens, pace.
    broken : tuple of str
        Records of commits that cannot be read.
    notes : tuple of str
        What is not known of it and why, a line each.
    """

    run: str
    sweep: str
    session: int
    state: str
    live: str | None
    judges: tuple[JudgeStatus, ...]
    broken: tuple[str, ...]
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, object]:
        """Give plain values, totals first; None for what nobody knows."""
        tokens = sum((judge.tokens for judge in self.judges), TokenCounts())
        costs = [judge.cost for judge in self.judges if judge.cost is not None]
        return {
            "run": self.run,
            "sweep": self.sweep,
            "session": self.session,
            "state": self.state,
            "live": self.live,
            "asked": self._total(judge.asked for judge in self.judges),
            "landed": sum(judge.landed for judge in self.judges),
            "owed": self._total(judge.owed for judge in self.judges),
            "failed": sum(judge.failed for judge in self.judges),
            "outcomes": summed_counts(judge.outcomes for judge in self.judges),
            "tokens": _landed_token_counts(tokens),
            "cost": sum(costs) if costs else None,
            "judges": [
                {
                    **{one.name: getattr(judge, one.name) for one in fields(judge)},
                    "outcomes": dict(sorted(judge.outcomes.items())),
                    "thoughts": dict(judge.thoughts),
                    "tokens": _landed_token_counts(judge.tokens),
                    "busy_seconds": round(judge.busy_seconds, 3),
                }
                for judge in self.judges
            ],
            "broken_commits": list(self.broken),
            "notes": list(self.notes),
        }

    def _total(self, counts: Iterable[int | None]) -> int | None:
        """A sum over judges; None where a count, or which judges there are, is not known."""
        known = tuple(counts)
        return sum(n or 0 for n in known) if known and None not in known else None


def read_status(out: str | RunDirectory) -> RunStatus:
    """Read how a run directory stands: what a run would ask, or of one ``as_landed`` what it holds.

    Effects: none. Retry: safe, also while the run goes on.
    """
    run = RunDirectory.open(out) if isinstance(out, str) else out
    progress = _stored_driver_progress(run)
    # What is really there, so that nothing is called done that a run would ask again.
    ledger = run.ledger if isinstance(run, LandedRun) else read_whole_ledger(run)
    with reading(run.url):
        failed, costs = (
            _stored_failures_by_judge(run, ledger),
            _costs_of_landed_commits(run, ledger),
        )
    return status_of(run, ledger, progress=progress, failed=failed, costs=costs)


def status_of(
    run: RunDirectory,
    ledger: Ledger,
    *,
    progress: Mapping[str, object] | None = None,
    failed: Mapping[str, int] | None = None,
    costs: Mapping[str, float] | None = None,
) -> RunStatus:
    """How a run stands by what landed; without what failed and what it cost, if not given."""
    plan = read_plan(run)
    progress = _stored_driver_progress(run) if progress is None else progress
    failed, costs = failed or {}, costs or {}
    live = live_session(run)
    if live is None and progress.get("state") == "running" and _age_s(progress) < FRESH_S:
        # What a driver tells is believed only where this host cannot see whether it lives.
        live = unseen_session(run)
    fresh = live is not None
    running = fresh and progress.get("state") == "running"
    boards = _stored_progress_object(progress.get("judges"))
    judges = []
    for name, planned in _stored_plan_requests(plan, ledger).items():
        totals = ledger.judges.get(name)
        landed = totals.rows if totals else 0
        board = _stored_progress_object(boards.get(name))
        asked = planned if plan is None or planned is None else plan.requests_by_now(name, board)
        # What a board says of a judge at work is of now; of any other it is history.
        at_work = running and board.get("state") == "running"
        now = board if at_work and (asked is None or landed < asked) else {}
        pace = average_pace(commit for commit in ledger.commits if commit.judge == name)
        judges.append(
            JudgeStatus(
                judge=name,
                asked=asked,
                landed=landed,
                owed=None if asked is None else max(0, asked - landed),
                failed=failed.get(name, 0),
                outcomes=dict(totals.outcomes) if totals else {},
                thoughts=dict(totals.thoughts) if totals else {},
                tokens=totals.tokens if totals else TokenCounts(),
                busy_seconds=totals.seconds if totals else 0.0,
                requests_per_s=_stored_progress_number(now.get("requests_per_s"))
                or pace.requests_per_s,
                tokens_per_s=_stored_progress_number(now.get("tokens_per_s")) or pace.tokens_per_s,
                seconds_left=_stored_progress_number(now.get("seconds_left")),
                state=_stored_judge_state(
                    asked, landed, str(board.get("state", "waiting")), fresh=fresh
                ),
                error=None if board.get("error") is None else str(board["error"]),
                cost=costs.get(name),
            )
        )
    # Without a plan nothing is known to be pending, and nothing done.
    is_done = plan is not None and all(judge.landed == judge.asked for judge in judges)
    if plan is not None and plan.asked != plan.asked_at_most:
        # What landed may ask for more: whether it does, only a driver that came to its end knows.
        is_done = is_done and progress.get("state") == "done"
    state = "running" if running else ("done" if is_done else "incomplete")
    return RunStatus(
        run=run.url,
        sweep=plan.sweep if plan else _sweep_name(run),
        session=ledger.session,
        state=state,
        live=live,
        judges=tuple(judges),
        broken=ledger.broken,
        notes=(*_stored_run_status_notes(run, plan, ledger), *_thought_notes(ledger)),
    )


def _stored_run_status_notes(
    run: RunDirectory, plan: PlanFile | None, ledger: Ledger
) -> tuple[str, ...]:
    """What is not known of a run, in words."""
    altered = tuple(
        f"{name} is altered, and no number uses it; the next run with the same sweep writes "
        "it again"
        for name in altered_files(run)
    )
    if not ledger.session and run.files.sizes("data"):
        return (_NO_RECORDS, *altered) if plan else (_NO_RECORDS, _NO_PLAN, *altered)
    return altered if plan else (_NO_PLAN if ledger.session else _NOT_BEGUN, *altered)


def _thought_notes(ledger: Ledger) -> Iterator[str]:
    """Which judges think before they reply, and how often the limit cut that off."""
    for name, totals in ledger.judges.items():
        n, cut = sum(totals.thoughts.values()), totals.thoughts.get("cut", 0)
        if n:
            some = f", {cut:,} of them cut off inside it: raise max_tokens" if cut else ""
            yield f"{name}: {count_of(n, 'reply', 'replies')} came with a thought{some}"


def altered_files(run: RunDirectory) -> tuple[str, ...]:
    """Files of the run's own that nothing of a status rests on, or costs alone, and are altered."""
    there = run.files.read_many(("sweep.toml", "items.parquet"))
    return tuple(name for name, data in there.items() if not run.vouches(name, data))


def _stored_plan_requests(plan: PlanFile | None, ledger: Ledger) -> Mapping[str, int | None]:
    """What is asked of every judge; of those that landed something nobody knows, without a plan."""
    return plan.asked if plan else dict.fromkeys(sorted(ledger.judges))


def _sweep_name(run: RunDirectory) -> str:
    """The sweep's name as the run's copy of its file says it; nothing where that is gone, too."""
    try:
        return str(tomllib.loads(run.read_text("sweep.toml")).get("name", ""))
    except (StoreError, ValueError, RecursionError):
        return ""


def _stored_failures_by_judge(run: RunDirectory, ledger: Ledger) -> dict[str, int]:
    """Requests recorded as failed that have not landed since, by judge."""
    import polars as pl

    recorded = read_errors(run)
    if recorded.is_empty():
        return {}
    errors = recorded.lazy().select("key", "judge").unique()
    open_ = errors.join(scan_judgments(run, columns=("key",), ledger=ledger), on="key", how="anti")
    counts = open_.group_by("judge").len().collect()
    return {str(judge): int(n) for judge, n in counts.select(pl.col("judge"), "len").iter_rows()}


def _costs_of_landed_commits(run: RunDirectory, ledger: Ledger) -> dict[str, float]:
    """Money of the rows that landed, by judge; nothing is read where the sweep has no prices."""
    import polars as pl

    try:
        priced = "prices" in run.read_text("sweep.toml")
    except StoreError:  # gone: then nobody knows
        priced = False
    if not priced or not ledger.session:
        return {}
    rows = scan_judgments(run, columns=("judge", "cost"), ledger=ledger)
    rows = rows.filter(pl.col("cost").is_not_null())
    found = rows.group_by("judge").agg(pl.col("cost").sum()).sort("judge").collect()
    return dict(found.iter_rows())


def _stored_judge_state(asked: int | None, landed: int, reported: str, *, fresh: bool) -> str:
    """A judge's state in a word."""
    if landed == asked:
        return "done"
    if (asked is not None and landed > asked) or reported == "done":
        # It holds rows no plan has, which the next run drops; or it was, and has lost some since.
        return "incomplete"
    return reported if fresh else ("failed" if reported == "failed" else "incomplete")


def _stored_progress_number(value: object) -> float | None:
    """A number the driver told, if it did."""
    if not isinstance(value, int | float) or abs(value) > sys.float_info.max:
        return None
    return float(value)


def _stored_progress_object(value: object) -> Mapping[str, object]:
    """An object the driver told; an empty one where another version told something else."""
    return value if isinstance(value, Mapping) else {}


def _age_s(progress: Mapping[str, object]) -> float:
    """How long ago the driver wrote."""
    try:
        at = datetime.fromisoformat(str(progress.get("updated_at")))
    except ValueError:
        return float("inf")
    return (datetime.now(UTC) - (at if at.tzinfo else at.replace(tzinfo=UTC))).total_seconds()


def _stored_driver_progress(run: RunDirectory) -> dict[str, object]:
    """What the driver told last; nothing where it told nothing, or nothing that can be read.

    Drivers write it anew every second and need it for nothing: a damaged one is history.
    """
    if not run.exists(PROGRESS):
        return {}
    try:
        return dict(unseal(run.read_bytes(PROGRESS), PROGRESS, run.identity) or {})
    except StoreError:
        return {}


def _landed_token_counts(tokens: TokenCounts) -> dict[str, int]:
    """Token counts as plain values; computed is what the engine really ran over."""
    return {
        "prompt": tokens.prompt,
        "cached": tokens.cached,
        "computed": tokens.prompt - tokens.cached,
        "generated": tokens.generated,
    }
