"""What a series is to ask now: sweeps with requests that never landed, and anchors in turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from judgerel_ray.asking.plan.resolve import Resolved, resolve
from judgerel_ray.asking.refresh.carrying import Landed, landed_in, planned_asks
from judgerel_ray.asking.refresh.directory import AskedSweep, Refresh, SeriesDirectory
from judgerel_ray.config import Sweep
from judgerel_ray.config.series import Series, starting_at
from judgerel_ray.store import RunDirectory, read_manifest

HOUR_S = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """What is to be asked, and why, a line each; nothing is due where there are no sweeps."""

    sweeps: tuple[AskedSweep, ...] = ()
    reasons: tuple[str, ...] = ()


def find_due(
    series: Series,
    sweeps: Sequence[tuple[Sweep, str]],
    directory: SeriesDirectory,
    refreshes: Sequence[Refresh],
    now: datetime,
) -> Due:
    """Find what a series is to ask.

    Effects: reads items, models' files and what landed; asks nothing. Retry: safe.

    Raises
    ------
    SweepError
        If a sweep is wrong.
    StoreError
        If a run of an earlier refresh cannot be read.
    """
    asked: list[AskedSweep] = []
    reasons: list[str] = []
    for sweep, role in sweeps:
        if role == "system":
            runs = [run for _, run in directory.runs(sweep.name, refreshes)]
            resolved = resolved_as_before(sweep, runs)
            if earlier_of(resolved, runs).is_pending(resolved.frames):
                asked.append(AskedSweep(name=sweep.name, role="system"))
                reasons.append(f"{sweep.name}: requests that no refresh has landed")
    anchors = []
    for sweep, role in sweeps:
        if role == "anchor":
            made = directory.runs(sweep.name, refreshes)
            reason = _anchor_reason(series, sweep, made, now)
            reasons += [f"{sweep.name}: {reason}"] if reason else []
            first = _next_first(made)
            anchors.append(AskedSweep(name=sweep.name, role="anchor", first=first))
    # Together: without anchors of the same time nothing tells a judge from a system that moved.
    return Due(sweeps=(*anchors, *asked), reasons=tuple(reasons)) if reasons else Due()


def _anchor_reason(
    series: Series, sweep: Sweep, made: Sequence[tuple[Refresh, RunDirectory]], now: datetime
) -> str:
    """Why anchors are to be judged anew; empty where they are not."""
    if not made:
        return "anchors that were never judged"
    age = (now - datetime.fromisoformat(made[-1][0].started_at)).total_seconds()
    if not 0 <= age < series.anchor_every_h * HOUR_S:
        return f"anchors last judged {made[-1][0].started_at}"
    runs = [run for _, run in made]
    resolved = resolved_as_before(sweep, runs)
    landed = earlier_of(resolved, runs)
    asks = planned_asks(resolved.frames, landed.texts)
    known = landed.together.landed
    is_new = any(ask.condition.condition_key not in known for ask in asks)
    return "anchors or judges that are new" if is_new else ""


def _next_first(made: Sequence[tuple[Refresh, RunDirectory]]) -> int:
    """The replication from which anchors have not been asked."""
    ends = [
        first + n
        for run_ in made
        for ranges in landed_in([run_[1]], with_texts=False).together.landed.values()
        for first, n in ranges
    ]
    return max(ends, default=0)


def earlier_of(resolved: Resolved, runs: Sequence[RunDirectory]) -> Landed:
    """What landed before, with texts where prompts hold any."""
    return landed_in(runs, with_texts=any(frame.n_waves > 1 for frame in resolved.frames))


def resolved_as_before(sweep: Sweep, runs: Sequence[RunDirectory], *, first: int = 0) -> Resolved:
    """Resolve a sweep; a hub that cannot be reached now names the commits that it named last.

    Else a night without a network would be a night with other judges.
    """
    resolved = resolve(starting_at(sweep, first))
    unknown = {name for name, one in resolved.fingerprints.items() if _is_unresolved(one.parts)}
    if not unknown or not runs:
        return resolved
    stated = read_manifest(runs[-1]).get("sweep")
    judges = stated.get("judge") if isinstance(stated, Mapping) else None
    known = {name: parts for name, parts in dict(judges or {}).items() if name in unknown}
    return resolve(starting_at(sweep, first), known=known) if known else resolved


def _is_unresolved(parts: Mapping[str, object]) -> bool:
    """Whether a judge is a hub id whose commit is not known here."""
    model = parts.get("model")
    return isinstance(model, Mapping) and model.get("resolved") is False
