"""One refresh of a series: take the lease, ask what is due, record the result.

Due are sweeps with requests that never landed, and anchors in turn. Rows of earlier refreshes that
a new run plans, too, are carried into it and not asked again. A process that is killed leaves an
unfinished refresh, which the next trigger finishes; runs land every request once by themselves.
What came of a refresh is measured by a function that is handed in.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cache, partial
from itertools import chain
from typing import Any, Literal, NamedTuple

import polars as pl
from rich.console import Console

from judgerel_ray.asking.earlier_runs import (
    Earlier,
    Left,
    Search,
    Wanted,
    earlier_of,
    keep_left,
    n_later,
    paid_again,
)
from judgerel_ray.asking.plan.planning import plan_resolved
from judgerel_ray.asking.plan.resolve import Resolved, resolve
from judgerel_ray.asking.plan.specs import engine_spec
from judgerel_ray.asking.run.lost import (
    LostMuchError,
    agree_to_losses,
    loss_lines,
    refuse_losses,
    stray_commits,
)
from judgerel_ray.asking.run.opening import known_judges, prepare_run
from judgerel_ray.asking.run.running import RunSummary, run_sweep
from judgerel_ray.config import Sweep
from judgerel_ray.config.series import Series, starting_at
from judgerel_ray.core import (
    EngineError,
    EngineStartError,
    FileGone,
    StoreError,
    SweepError,
    TokenCounts,
)
from judgerel_ray.design import planned_asks
from judgerel_ray.engines import EngineSpec
from judgerel_ray.engines.model_files import (
    ModelContent,
    hub_model,
    is_local,
    known_content,
    model_content,
)
from judgerel_ray.fleet.board import print_line
from judgerel_ray.store import (
    CHEAP_COLUMNS,
    CommitRecord,
    Losses,
    Range,
    RunDirectory,
    begin_session,
    end_session,
    land,
    land_files,
    read_losses,
    read_manifest,
    reading,
    scan_completions,
    scan_judgments,
    whole_commits,
)
from judgerel_ray.store.generations import reader_of
from judgerel_ray.store.holding import FencedLease, HeldLease, renewing, take_lease
from judgerel_ray.store.ledger import build_ledger
from judgerel_ray.store.parts import expected_keys
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
                content = hub_model(spec, spec.revision or "main", resolved=False)
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
            self.answers[key] = _refreshed_model_content(spec)
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
                for parts in known_judges(url).values():
                    content = known_content(spec, parts.get("model"))
                    if content is not None and content.resolved:
                        return content
                    found = found or content
        return found


def _refreshed_model_content(spec: EngineSpec) -> ModelContent | EngineStartError:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """How many rows went into a run, and what of earlier runs is damaged, a line each.

    ``left`` is what earlier runs hold that the run does not want; None where it lacks what it does.
    """

    n_rows: int = 0
    lacking: tuple[str, ...] = ()
    left: Left | None = None


def carry_landed(
    resolved: Resolved, out: str, earlier: Earlier, *, console: Console | None = None
) -> Carried:
    """Land in a run what it plans and earlier runs hold, in a session of its own.

    Keys are of what is asked, so a row of an earlier run is the row that asking again would give,
    but for what a model that is served elsewhere would do by now. Tokens and seconds stay with the
    run that spent them.

    A file of an earlier run that is damaged is said, and what it held stays open: a run before it
    may hold that, too, and else it is asked again. Judgments of which only the texts are lost, and
    that no run holds with theirs, go over without: their verdicts count.

    What the run itself has lost is printed, as when a run is resumed.

    Effects: makes the run directory, lands rows. Retry: safe, carries what is not there yet.
    """
    wanted = Wanted.of(planned_asks(resolved.frames, earlier.texts, at_most=True))
    # Replications between those that two asks of a condition ask are closed as if they were there.
    is_plain = bool(wanted.is_open.all())
    search = Search(runs=earlier.runs, wanted=wanted)
    commits = search.commits()
    first = next((one for one in commits if wanted.has_open(one[1])), None)
    if first is None:
        return Carried(left=search.left if is_plain else None)
    plan = plan_resolved(resolved)
    run = prepare_run(resolved, plan, out)
    console = console or Console(stderr=True)

    def agree(losses: Losses) -> None:
        """Refuse only what no other run holds: the rest is carried below."""
        if losses.damaged or losses.unfounded:
            every = earlier_of(resolved, (*earlier.runs, run))
            losses = paid_again(losses, resolved.frames, every)
        agree_to_losses(run, console, losses)

    session = begin_session(run, strays=partial(stray_commits, run, resolved, plan), agree=agree)
    number, n_rows, lease = session.number, 0, 0
    lacking: list[str] = []
    reader = reader_of(read_manifest(run))
    manifests: dict[str, Mapping[str, object]] = {}
    asks = partial(planned_asks, resolved.frames, earlier.texts)
    planned = cache(lambda: frozenset(key for ask in asks() for key in ask.condition.parents))
    without_texts: list[tuple[RunDirectory, CommitRecord]] = []

    def again() -> Iterator[tuple[RunDirectory, CommitRecord, bool]]:
        """What is to go over; last what no run holds with its texts."""
        yield from ((*one, True) for one in chain([first], commits))
        yield from ((*one, False) for one in without_texts)

    try:
        for commit in session.ledger.commits:
            wanted.close(commit.conditions)
        del session  # what a run that is gone on with holds is not looked at again
        for source, commit, has_texts in again():
            if not wanted.n_open:
                break
            conditions = wanted.take(commit)
            if conditions:
                lease += 1
                try:
                    if source.url not in manifests:
                        manifests[source.url] = read_manifest(source)
                    engine = _refresh_carried_facts(source, commit, manifests[source.url], reader)
                    rows = _carry_rows_into_refresh(
                        source, commit, conditions, run, number, lease, engine, planned,
                        has_texts=has_texts,
                    )  # fmt: skip
                except _TextsLostError as error:
                    wanted.reopen(conditions)
                    search.damaged.add(source.url)
                    without_texts.append((source, commit))
                    # What is gone is told by whatever goes on with the run.
                    lacking += [] if error.is_gone else [str(error)]
                except _DamagedError as error:
                    wanted.reopen(conditions)
                    search.damaged.add(source.url)
                    lacking.append(str(error))
                else:
                    n_rows += rows
    finally:
        end_session(run, number)
    left = search.left if is_plain and not lacking and not without_texts else None
    return Carried(n_rows=n_rows, lacking=tuple(lacking), left=left)


class _DamagedError(Exception):
    """What a commit of an earlier run landed cannot be read any more."""


class _TextsLostError(Exception):
    """Texts that only explain judgments cannot be read any more."""

    def __init__(self, error: StoreError) -> None:
        super().__init__(f"carried without texts: {error.sentence}")
        self.is_gone = isinstance(error, FileGone)


def _refresh_carried_facts(
    source: RunDirectory, commit: CommitRecord, manifest: Mapping[str, object], reader: str
) -> dict[str, object]:
    """What served a commit, whence it is carried, and by which reader, where not by the run's own.

    Rows go over as they were read: to ask them again for that would cost what asking costs.
    """
    facts = {**commit.engine, "carried_from": f"{source.url}/{commit.name}"}
    facts.pop("reader_version", None)
    read_by = reader_of(manifest, commit.engine)
    return facts if read_by == reader else {**facts, "reader_version": read_by}


def _carry_rows_into_refresh(
    source: RunDirectory,
    commit: CommitRecord,
    conditions: Mapping[str, tuple[Range, ...]],
    run: RunDirectory,
    session: int,
    lease: int,
    engine: Mapping[str, object],
    planned: Callable[[], frozenset[str]],
    *,
    has_texts: bool,
) -> int:
    """Land rows of a commit in another run: with its files if it is all of them.

    Of a part, answers that nothing planned stands on are no parents: the run may not hold them.
    """
    is_whole = conditions == commit.conditions
    if is_whole and land_files(
        run, source, commit, session=session, lease=lease, engine=engine, has_texts=has_texts
    ):
        return commit.rows
    only = build_ledger(0, [commit])
    chosen = pl.col("key").is_in(expected_keys(conditions))
    try:
        with reading(source.url):
            rows = scan_judgments(source, ledger=only).filter(chosen).collect()
    except StoreError as error:
        raise _DamagedError(f"not carried: {error.sentence}") from error
    texts: pl.DataFrame | CommitRecord = commit
    if has_texts:
        try:
            with reading(source.url):
                texts = scan_completions(source, ledger=only).filter(chosen).collect()
        except StoreError as error:
            if commit.holds_answers:
                raise _DamagedError(f"not carried: {error.sentence}") from error
            raise _TextsLostError(error) from error
    parents = commit.parents
    if not is_whole:
        parents = tuple(key for key in parents if key in planned())
    landed = land(
        run,
        session=session,
        lease=lease,
        attempt=commit.attempt,
        judge=commit.judge,
        judgments=rows,
        completions=texts,
        conditions=conditions,
        tokens=TokenCounts(),
        seconds=0.0,
        engine=engine,
        parents=parents,
    )
    return rows.height if landed else 0


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
    console = Console(stderr=True)
    trigger = _Trigger(
        series=series, sweeps=sweeps, directory=directory, lease=taken, measure=measure,
        write=write, address=address, console=console,
        hub=HubModels(directory=directory, warn=partial(print_line, console)),
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
                self.directory.close(
                    one, {"state": "replaced", "ended_at": _refresh_time_now().isoformat()}
                )
        refreshes = self.directory.refreshes()
        due = self._due(refreshes, is_asked=bool(finished))
        if not due.sweeps and finished is not None:
            return finished
        if not due.sweeps:
            self._write(refreshes)
            return Triggered(state="unchanged", line="nothing changed: no request is new")
        self.lease.check()
        number = 1 + max((one.number for one in refreshes), default=0)
        begun = self.directory.begin(
            number, _refresh_time_now().isoformat(timespec="seconds"), due.sweeps
        )
        for line in due.reasons:
            self.say(line)
        return self._ask(begun, refreshes).after(finished)

    def _due(self, refreshes: Sequence[Refresh], *, is_asked: bool) -> Due:
        """Find what the series is to ask.

        Where this trigger `is_asked` anchors already, they are due by the clock alone: not with
        ``anchor_every_h = 0``, which is at each trigger once.

        Effects: reads items, models' files and what landed; asks the hub, and no judge.
        """
        asked: list[RefreshSweep] = []
        reasons: list[str] = []
        for sweep, role in self.sweeps:
            if role == "system":
                runs = [run for _, run in self.directory.runs(sweep.name, refreshes)]
                resolved, _ = self.hub.resolve(sweep, refreshes)
                earlier = earlier_of(resolved, runs)
                if earlier.is_pending(resolved.frames) or _wants_more(resolved, runs):
                    asked.append(RefreshSweep(name=sweep.name, role="system"))
                    reasons.append(f"{sweep.name}: requests that no refresh has landed")
                    lost = lost_lines(resolved, runs[-1:], earlier)
                    reasons += [f"{sweep.name}: {line}" for line in lost]
        anchors = []
        for sweep, role in self.sweeps:
            if role == "anchor":
                made = self.directory.runs(sweep.name, refreshes)
                reason = self._anchor_reason(sweep, made, refreshes, is_asked=is_asked)
                reasons += [f"{sweep.name}: {reason}"] if reason else []
                first = _next_first(sweep.name, made)
                anchors.append(RefreshSweep(name=sweep.name, role="anchor", first=first))
        # Together: without anchors of the same time nothing tells a judge from a system that moved.
        return Due(sweeps=(*anchors, *asked), reasons=tuple(reasons)) if reasons else Due()

    def _anchor_reason(
        self,
        sweep: Sweep,
        made: Sequence[tuple[Refresh, RunDirectory]],
        refreshes: Sequence[Refresh],
        *,
        is_asked: bool,
    ) -> str:
        """Why anchors are to be judged anew; empty where they are not."""
        if not made:
            return "anchors that were never judged"
        age = (_refresh_time_now() - datetime.fromisoformat(made[-1][0].started_at)).total_seconds()
        limit = self.series.anchor_every_h * HOUR_S
        if not 0 <= age < limit and not (is_asked and limit == 0):
            return f"anchors last judged {made[-1][0].started_at}"
        resolved, _ = self.hub.resolve(sweep, refreshes)
        earlier = earlier_of(resolved, [run for _, run in made])
        asks = planned_asks(resolved.frames, earlier.texts)
        new = {ask.condition.condition_key for ask in asks}
        for _, commit in earlier.commits():
            new.difference_update(commit.conditions)
            if not new:
                return ""
        return "anchors or judges that are new" if new else ""

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
            resolved, error = self.hub.resolve(
                named[asked.name], before, here=refresh, first=asked.first
            )
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
            "ended_at": _refresh_time_now().isoformat(timespec="seconds"), "pending": n_left,
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
        age = (_refresh_time_now() - datetime.fromisoformat(refresh.started_at)).total_seconds()
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
            resolved, _ = self.hub.resolve(
                named[asked.name], before, here=refresh, first=asked.first
            )
            if not resolved.is_of(stated):
                return False
        return True

    def _write(self, refreshes: Sequence[Refresh]) -> None:
        """Write the tables and the page of all refreshes."""
        self.lease.check()
        self.write(self.series, self.directory, refreshes)

    def say(self, line: str) -> None:
        """Tell those who wait."""
        print_line(self.console, line)


def _refresh_time_now() -> datetime:
    """The time, of which records are made."""
    return datetime.now(UTC)
