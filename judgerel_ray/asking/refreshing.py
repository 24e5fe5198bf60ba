"""One refresh of a series: take the lease, ask what is due, record the result.

Due are sweeps with requests that never landed, and anchors in turn. Rows of earlier refreshes that
a new run plans, too, are carried into it and not asked again. A process that is killed leaves an
unfinished refresh, which the next trigger finishes; runs land every request once by themselves.
What came of a refresh is measured by a function that is handed in.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Literal, NamedTuple

from rich.console import Console

from judgerel_ray.asking.carrying import Carried, carry_landed
from judgerel_ray.asking.earlier_runs import (
    Earlier,
    earlier_of,
    keep_left,
    n_later,
    paid_again,
)
from judgerel_ray.asking.plan.resolve import Resolved, resolve
from judgerel_ray.asking.plan.specs import engine_spec
from judgerel_ray.asking.run.lost import LostMuchError, loss_lines, refuse_losses
from judgerel_ray.asking.run.opening import known_judges
from judgerel_ray.asking.run.running import RunSummary, run_sweep
from judgerel_ray.config import Sweep
from judgerel_ray.config.series import Series, starting_at
from judgerel_ray.core import EngineError, EngineStartError, StoreError, SweepError, printable
from judgerel_ray.design import planned_asks
from judgerel_ray.engines import EngineSpec
from judgerel_ray.engines.model_files import ModelContent, is_local, known_content, model_content
from judgerel_ray.store import (
    CHEAP_COLUMNS,
    RunDirectory,
    read_losses,
    read_manifest,
    scan_judgments,
    whole_commits,
)
from judgerel_ray.store.holding import FencedLease, HeldLease, renewing, take_lease
from judgerel_ray.store.series import MEASURED, Refresh, RefreshSweep, SeriesDirectory

HOUR_S = 3600.0


class SweepWithModels(NamedTuple):
    """A sweep with the models that its judges are in a series.

    With an ``error`` nothing states the commit of one of them: what is asked can be counted, but
    not asked.
    """

    resolved: Resolved
    error: EngineStartError | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HubModels:
    """Which commits the hub models of a series are during one trigger, also without the hub.

    A branch may move while a refresh runs, and at night a hub may be out of reach. So a refresh
    goes on with the commits that its own runs state; else the hub is asked, once in a trigger for
    each model; and where it does not answer, a model stays what the series stated last. Else a
    night without a network would be a night with other judges.

    ``warn`` is called with a line, once for each model for which the hub does not answer.
    """

    directory: SeriesDirectory
    warn: Callable[[str], None]
    answers: dict[tuple[str, str | None], ModelContent | EngineStartError] = field(
        default_factory=dict
    )

    def resolve(
        self,
        sweep: Sweep,
        refreshes: Sequence[Refresh],
        *,
        here: Refresh | None = None,
        first: int = 0,
    ) -> SweepWithModels:
        """Resolve a sweep after some refreshes, or as the refresh `here` asks it.

        Effects: reads items, models' files and what runs state; asks the hub. Retry: safe.
        """
        asked = starting_at(sweep, first)
        known: dict[str, dict[str, object]] = {}
        error: EngineStartError | None = None
        for judge in asked.judge:
            spec = engine_spec(asked, judge)
            if spec.engine != "vllm" or is_local(spec.model):
                continue
            content = self._content(spec, refreshes, here)
            if isinstance(content, EngineStartError):
                error = error or content
                content = ModelContent(
                    kind="hub", name=spec.model, identity=spec.revision or "main", resolved=False,
                    weights=None, revision=spec.revision or "main",
                )  # fmt: skip
            known[judge.name] = {"model": asdict(content)}
        return SweepWithModels(resolve(asked, known=known), error)

    def _content(
        self, spec: EngineSpec, refreshes: Sequence[Refresh], here: Refresh | None
    ) -> ModelContent | EngineStartError:
        """What a model is by the refresh itself, by the hub, or by the refreshes before it."""
        pinned = self._stated(spec, [] if here is None else [here])
        if pinned is not None and pinned.resolved:
            return pinned
        key = (spec.model, spec.revision)
        if key not in self.answers:
            self.answers[key] = _resolved(spec)
        answer = self.answers[key]
        if isinstance(answer, ModelContent) and answer.resolved:
            return answer
        stated = self._stated(spec, refreshes)
        last = stated if stated is not None and stated.resolved else pinned or stated
        if last is None:
            return answer
        if isinstance(answer, EngineStartError):
            self.warn(
                f"warning: {answer.sentence}; it stays what the series asked last, {last.identity}"
            )
            self.answers[key] = last
        return last

    def _stated(self, spec: EngineSpec, refreshes: Iterable[Refresh]) -> ModelContent | None:
        """What runs state that a model is: the newest that name a commit, else the newest."""
        found: ModelContent | None = None
        for refresh in sorted(refreshes, key=lambda one: -one.number):
            for sweep in refresh.sweeps:
                url = self.directory.run_url(refresh, sweep.name)
                for parts in known_judges(url, None).values():
                    content = known_content(spec, parts.get("model"))
                    if content is not None and content.resolved:
                        return content
                    found = found or content
        return found


def _resolved(spec: EngineSpec) -> ModelContent | EngineStartError:
    """What the cache or the hub says of a model."""
    try:
        return model_content(spec)
    except EngineStartError as error:
        return error


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """What is to be asked, and why, a line each; nothing is due where there are no sweeps."""

    sweeps: tuple[RefreshSweep, ...] = ()
    reasons: tuple[str, ...] = ()


def find_due(
    series: Series,
    sweeps: Sequence[tuple[Sweep, str]],
    directory: SeriesDirectory,
    refreshes: Sequence[Refresh],
    now: datetime,
    hub: HubModels,
    *,
    is_asked: bool = False,
) -> Due:
    """Find what a series is to ask.

    Where this trigger `is_asked` anchors already, they are due by the clock alone: not with
    ``anchor_every_h = 0``, which is at each trigger once.

    Effects: reads items, models' files and what landed; asks the hub, and no judge. Retry: safe.
    """
    asked: list[RefreshSweep] = []
    reasons: list[str] = []
    for sweep, role in sweeps:
        if role == "system":
            runs = [run for _, run in directory.runs(sweep.name, refreshes)]
            resolved, _ = hub.resolve(sweep, refreshes)
            earlier = earlier_of(resolved, runs)
            if earlier.is_pending(resolved.frames) or _wants_more(resolved, runs):
                asked.append(RefreshSweep(name=sweep.name, role="system"))
                reasons.append(f"{sweep.name}: requests that no refresh has landed")
                lost = lost_lines(resolved, runs[-1:], earlier)
                reasons += [f"{sweep.name}: {line}" for line in lost]
    anchors = []
    for sweep, role in sweeps:
        if role == "anchor":
            made = directory.runs(sweep.name, refreshes)
            reason = _anchor_reason(series, sweep, made, now, refreshes, hub, is_asked=is_asked)
            reasons += [f"{sweep.name}: {reason}"] if reason else []
            first = _next_first(sweep.name, made)
            anchors.append(RefreshSweep(name=sweep.name, role="anchor", first=first))
    # Together: without anchors of the same time nothing tells a judge from a system that moved.
    return Due(sweeps=(*anchors, *asked), reasons=tuple(reasons)) if reasons else Due()


def _wants_more(resolved: Resolved, runs: Sequence[RunDirectory]) -> bool:
    """Whether adaptive conditions want more than landed of them."""
    try:
        return n_later(resolved, runs) > 0
    except StoreError:  # what is damaged is told where it is carried, and asked again
        return True


def lost_lines(
    resolved: Resolved, runs: Sequence[RunDirectory], earlier: Earlier
) -> tuple[str, ...]:
    """Tell what of some runs is lost and asked again, a line each; refuse where it is much.

    Effects: reads names and sizes.
    """
    lines: list[str] = []
    for run in runs:
        losses = replace(paid_again(read_losses(run), resolved.frames, earlier), unread=())
        refuse_losses(run, losses)
        lines += loss_lines(losses)
    return tuple(lines)


def _anchor_reason(
    series: Series,
    sweep: Sweep,
    made: Sequence[tuple[Refresh, RunDirectory]],
    now: datetime,
    refreshes: Sequence[Refresh],
    hub: HubModels,
    *,
    is_asked: bool,
) -> str:
    """Why anchors are to be judged anew; empty where they are not."""
    if not made:
        return "anchors that were never judged"
    age = (now - datetime.fromisoformat(made[-1][0].started_at)).total_seconds()
    limit = series.anchor_every_h * HOUR_S
    if not 0 <= age < limit and not (is_asked and limit == 0):
        return f"anchors last judged {made[-1][0].started_at}"
    resolved, _ = hub.resolve(sweep, refreshes)
    earlier = earlier_of(resolved, [run for _, run in made])
    asks = planned_asks(resolved.frames, earlier.texts)
    new = {ask.condition.condition_key for ask in asks}
    for _, commit in earlier.commits():
        new.difference_update(commit.conditions)
        if not new:
            return ""
    return "anchors or judges that are new" if new else ""


def _next_first(sweep: str, made: Sequence[tuple[Refresh, RunDirectory]]) -> int:
    """The replication from which anchors have not been asked.

    The last refresh that asked them as anchors began after all that had landed by then.
    """
    next_first = 0
    for refresh, run in reversed(made):
        ends = (
            first + n
            for commit in whole_commits(run)
            for ranges in commit.conditions.values()
            for first, n in ranges
        )
        firsts = [one.first for one in refresh.sweeps if (one.name, one.role) == (sweep, "anchor")]
        next_first = max(next_first, *firsts, *ends)
        if firsts:
            break
    return next_first


State = Literal["held", "unchanged", "done", "partial", "pending"]
RefreshMeasure = Callable[[Series, SeriesDirectory, Sequence[Refresh], Refresh], Mapping[str, Any]]
"""From a series, its refreshes before and the one that was just asked, to what it found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Triggered:
    """What one trigger did: of two refreshes where it finished one before its own."""

    # Whether it was held, and how far it came with the last; requests of a `partial` one are asked
    # by the next refresh.
    state: State
    line: str  # That in words, of both.
    number: int | None = None  # Of the last refresh that was asked.
    # How runs ended, by refresh and sweep.
    summaries: Mapping[tuple[int, str], RunSummary] = field(default_factory=dict)
    error: EngineError | None = None  # Of the first sweep that could not be asked; the others were.

    def after(self, earlier: Triggered | None) -> Triggered:
        """What it did, with what the same trigger did before."""
        if earlier is None:
            return self
        return replace(
            self,
            line=f"{earlier.line}, then {self.line}",
            summaries={**earlier.summaries, **self.summaries},
            error=earlier.error or self.error,
        )


def refresh_series(
    series: Series,
    *,
    measure: RefreshMeasure,
    write: Callable[[Series, SeriesDirectory, Sequence[Refresh]], None],
    address: str | None = None,
    console: Console | None = None,
) -> Triggered:
    """Refresh a series, if it is due and nobody else does.

    Effects: a lease, at most one new refresh in the series' folder; asks judges. Retry: safe, also
    after a kill and from many processes at once.
    """
    sweeps = series.sweeps()
    directory = SeriesDirectory(url=series.url)
    directory.check_owner(series)
    directory.files.prepare()
    taken = take_lease(directory.files)
    if isinstance(taken, HeldLease):
        return Triggered(
            state="held",
            line=f"another refresh holds the lease since {taken.since} ({taken.holder})",
        )
    console = console or Console(stderr=True)
    trigger = _Trigger(
        series=series, sweeps=sweeps, directory=directory, lease=taken, measure=measure,
        write=write, address=address, console=console,
        hub=HubModels(directory=directory, warn=partial(_say, console)),
    )  # fmt: skip
    try:
        with renewing(taken):
            found = trigger.go()
    except LostMuchError as error:  # its own command would ask what other runs hold, too
        raise StoreError(
            error.problem,
            where=error.where,
            hint="mount the disk or put the files back; or move the run's folder away: the next "
            "refresh carries what other runs hold, and asks the rest again",
        ) from error
    if found.error is not None:
        trigger.say(found.line)
        raise found.error
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trigger:
    """A trigger that holds the lease."""

    series: Series
    sweeps: tuple[tuple[Sweep, str], ...]
    directory: SeriesDirectory
    lease: FencedLease
    measure: RefreshMeasure
    write: Callable[[Series, SeriesDirectory, Sequence[Refresh]], None]
    address: str | None
    console: Console
    hub: HubModels

    def go(self) -> Triggered:
        """Finish what is unfinished; then ask what is due."""
        self.directory.check_owner(self.series)
        self.directory.keep_series(self.series)
        refreshes = self.directory.refreshes()
        self._check_since(1 + max((one.number for one in refreshes), default=0))
        finished: Triggered | None = None
        for one in refreshes:
            if one.is_open:
                before = [other for other in refreshes if other.number < one.number]
                if self._is_as_begun(one, before):
                    finished = self._ask(one, before, is_resumed=True).after(finished)
                    if finished.state == "pending":
                        return finished
                    continue
                self.lease.check()
                self.directory.close(one, {"state": "replaced", "ended_at": _now().isoformat()})
        refreshes = self.directory.refreshes()
        due = find_due(
            self.series, self.sweeps, self.directory, refreshes, _now(), self.hub,
            is_asked=bool(finished),
        )  # fmt: skip
        if not due.sweeps and finished is not None:
            return finished
        if not due.sweeps:
            self._write(refreshes)
            return Triggered(state="unchanged", line="nothing changed: no request is new")
        self.lease.check()
        number = 1 + max((one.number for one in refreshes), default=0)
        begun = self.directory.begin(number, _now().isoformat(timespec="seconds"), due.sweeps)
        for line in due.reasons:
            self.say(line)
        return self._ask(begun, refreshes).after(finished)

    def _check_since(self, number: int) -> None:
        """Refuse to leave out refreshes that are still to come: no alarm could be raised."""
        since = self.series.drift.since
        if since > number:
            raise SweepError(
                f"drift.since must be a refresh of the series or its next one, at most {number}, "
                f"got {since}",
                where={"series": self.directory.url},
                hint=f"since = {number} leaves out all refreshes so far",
            )

    def _ask(
        self, refresh: Refresh, before: Sequence[Refresh], *, is_resumed: bool = False
    ) -> Triggered:
        """Run what a refresh asks, and close it where all of it landed, or its time is over."""
        self._check_anchors(refresh, before)
        named = {sweep.name: sweep for sweep, _ in self.sweeps}
        summaries: dict[tuple[int, str], RunSummary] = {}
        errors: list[EngineError] = []
        n_left = 0
        for asked in refresh.sweeps:
            self.lease.check()
            resolved, error = self._resolved(named[asked.name], asked, refresh, before)
            out = self.directory.run_url(refresh, asked.name)
            runs = [run for _, run in self.directory.runs(asked.name, before)]
            here = [run for _, run in self.directory.runs(asked.name, [refresh])]
            carried = Carried()
            try:
                if error is not None:
                    raise error
                if is_resumed and asked.role == "system":  # files may have gone since it was begun
                    lost_lines(resolved, runs[-1:], earlier_of(resolved, (*runs, *here)))
                # From a replication on of which nothing has landed there is nothing to carry, but
                # answers that are judged: each is asked once, whenever it is judged.
                has_answers = any(frame.n_waves > 1 for frame in resolved.frames)
                earlier = earlier_of(resolved, () if asked.first and not has_answers else runs)
                carried = carry_landed(resolved, out, earlier, console=self.console)
                for line in carried.lacking:
                    self.say(line)
                ended = run_sweep(
                    resolved.sweep, out=out, address=self.address, console=self.console,
                    known={name: one.parts for name, one in resolved.fingerprints.items()},
                )  # fmt: skip
            except EngineError as error:  # no reason to leave the other sweeps unasked
                self.say(f"{asked.name}: {error.sentence}")
                errors.append(error)
                here = [run for _, run in self.directory.runs(asked.name, [refresh])]
                n_left += earlier_of(resolved, here).n_pending(resolved.frames)
                n_left += n_later(resolved, here)
            else:
                summaries[refresh.number, asked.name] = ended
                n_left += ended.owed
                for stop in ended.stops:
                    self.say(f"{asked.name}: {stop.line(f'readable = 0 in ask[{stop.ask}]')}")
            if carried.left and (run := self.directory.run(refresh, asked.name)):
                keep_left(run, carried.left)
        what = f"refresh {refresh.number}"
        if n_left and not self._is_over(refresh, is_resumed=is_resumed):
            return Triggered(
                state="pending", line=f"{what}: {n_left} requests are pending",
                number=refresh.number, summaries=summaries, error=next(iter(errors), None),
            )  # fmt: skip
        self.lease.check()
        state: State = "partial" if n_left else "done"
        found = self.measure(self.series, self.directory, before, refresh)
        result = {
            "state": state, "number": refresh.number, "started_at": refresh.started_at,
            "ended_at": _now().isoformat(timespec="seconds"), "pending": n_left,
            "asked_now": sum(one.asked_now for one in summaries.values()), **found,
        }  # fmt: skip
        # Through JSON first: what is sealed must be what is read back.
        closed = self.directory.close(refresh, json.loads(json.dumps(result)))
        self._write((*before, closed))
        line = f"{what}: done"
        if n_left:
            line += f"; closed with {n_left} requests pending: the next one asks those of systems, "
            line += "and anchors anew"
        return Triggered(
            state=state, line=line, number=refresh.number, summaries=summaries,
            error=next(iter(errors), None),
        )  # fmt: skip

    def _is_over(self, refresh: Refresh, *, is_resumed: bool) -> bool:
        """Whether it is time to give up what is pending; without a time, at the next trigger."""
        limit = self.series.anchor_every_h * HOUR_S
        age = (_now() - datetime.fromisoformat(refresh.started_at)).total_seconds()
        return age >= limit if limit else is_resumed

    def _check_anchors(self, refresh: Refresh, before: Sequence[Refresh]) -> None:
        """Refuse damaged judgments of earlier anchors before anything is asked.

        What is asked is held against all of them, so without them it would be asked for nothing.
        """
        since = self.series.drift.since
        counted = [one for one in before if one.number >= since and one.state in MEASURED]
        for asked in refresh.sweeps:
            if asked.role != "anchor":
                continue
            for earlier, run in self.directory.runs(asked.name, counted):
                try:
                    scan_judgments(run, columns=CHEAP_COLUMNS)
                except StoreError as error:
                    raise StoreError(
                        f"anchors of refresh {earlier.number} cannot be read, and the alarm rests "
                        f"on them: {error.problem}",
                        where=error.where,
                        hint="put a copy of the file back; or begin the alarm anew with this "
                        f"refresh: since = {refresh.number} in [drift]",
                    ) from error

    def _resolved(
        self, sweep: Sweep, asked: RefreshSweep, refresh: Refresh, before: Sequence[Refresh]
    ) -> SweepWithModels:
        """A sweep as a refresh asks it."""
        return self.hub.resolve(sweep, before, here=refresh, first=asked.first)

    def _is_as_begun(self, refresh: Refresh, before: Sequence[Refresh]) -> bool:
        """Whether the sweeps of an unfinished refresh still ask what its runs were begun with."""
        named = {sweep.name: sweep for sweep, _ in self.sweeps}
        for asked in refresh.sweeps:
            if asked.name not in named:
                return False
            run = self.directory.run(refresh, asked.name)
            if run is None:
                continue
            stated = read_manifest(run).get("sweep")
            resolved, _ = self._resolved(named[asked.name], asked, refresh, before)
            if not resolved.is_of(stated):
                return False
        return True

    def _write(self, refreshes: Sequence[Refresh]) -> None:
        """Write the tables and the page of all refreshes."""
        self.lease.check()
        self.write(self.series, self.directory, refreshes)

    def say(self, line: str) -> None:
        """Tell those who wait."""
        _say(self.console, line)


def _say(console: Console, line: str) -> None:
    """Print a line as it stands."""
    console.print(printable(line), markup=False, highlight=False, soft_wrap=True)


def _now() -> datetime:
    """The time, of which records are made."""
    return datetime.now(UTC)
