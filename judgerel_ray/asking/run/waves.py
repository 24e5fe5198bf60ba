"""Everything a session asks: wave by wave, and within the judges' wave round by round."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import polars as pl

from judgerel_ray.asking.plan.planning import prompt_fits
from judgerel_ray.asking.plan.resolve import Resolved
from judgerel_ray.asking.plan.specs import request_size
from judgerel_ray.asking.run.pending import (
    NeverSent,
    Pending,
    WorkItems,
    landed_texts,
)
from judgerel_ray.asking.run.pilot import Pilot, PilotStop, pilot_order
from judgerel_ray.asking.run.rounds import Rounds, landed_verdicts
from judgerel_ray.core import Item
from judgerel_ray.design import AskFrame, Voice, voices_of
from judgerel_ray.engines import PromptFit
from judgerel_ray.fleet import Board, Fleet, JudgePool, Unwritten, Work, WorkQueue
from judgerel_ray.store import Ledger, RunDirectory, Session, read_ledger, scan_judgments


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionWaves:
    """The waves of one session."""

    resolved: Resolved
    run: RunDirectory
    session: Session
    fleet: Fleet
    pools: Mapping[str, JudgePool]
    board: Board
    unreadable_ok: bool = False
    stops: list[PilotStop] = field(default_factory=list)
    """What the pilots of judges stopped."""
    _orders: dict[tuple[int, bool], tuple[Item, ...]] = field(default_factory=dict)

    def ask_all(self) -> None:
        """Wave by wave: build prompts from what landed, ask what is pending.

        Effects: makes engines, lands judgments. Retry: safe.
        """
        frames = self.resolved.frames
        fits, ledger = prompt_fits(self.resolved), self.session.ledger
        for wave in range(max(frame.n_waves for frame in frames)):
            ledger = read_ledger(self.run, since=ledger) if wave else ledger
            texts = landed_texts(self.run, ledger) if wave else {}
            if wave > 1 and any(frame.protocol.cascade(frame.ask) is not None for frame in frames):
                self._count_cascaded(ledger)
            work: dict[str, WorkQueue] = {}
            for name in self.resolved.specs:
                asked = _asks_in_wave(frames, wave, name)
                stopped = {stop.ask for stop in self.stops if stop.judge == name}
                asked = tuple(one for one in asked if one[0].index not in stopped)
                rounds = _rounds_of_wave(self.run, ledger, asked, wave)
                if rounds is not None:
                    rounds.failures = self.pools[name].failures
                pending = Pending(
                    asked=asked,
                    wave=wave,
                    texts=texts,
                    ledger=ledger,
                    rounds=rounds,
                    request_size=self._request_size(name),
                    fit=fits.get(name),
                )
                self.pools[name].requests_left = pending.count()
                if self.pools[name].requests_left:
                    work[name] = self._queue(name, pending)
            if work:
                self.fleet.run_wave(work, later=_voices_later(self.resolved, wave))

    def _count_cascaded(self, ledger: Ledger) -> None:
        """Add what goes on to later models, given what those before them said."""
        later = later_requests(self.resolved, self.run, ledger)
        for name, board in self.board.judges.items():
            planned = sum(one.requests for one in self.resolved.counts if one.judge == name)
            board.asked = planned + later.get(name, 0)

    def _request_size(self, name: str) -> int:
        """Replications of a judge that go out together, at most."""
        most = self.resolved.sweep.fleet.replications_per_request
        return request_size(self.resolved.specs[name], most)

    def _queue(self, name: str, pending: Pending) -> WorkQueue:
        """A judge's work of a wave, with the rounds that follow from it."""
        latest = pending.ledger
        pilot = self._pilot(name, pending)
        source = self._source(pending, pilot)

        def next_round() -> WorkItems | None:
            """What the judge is asked next, given what landed of the round before."""
            nonlocal latest, pilot
            if pilot is not None and pilot.is_open:
                pilot.look_at_all()
                return source
            if pilot is not None:
                self.board.notices += pilot.warnings()
                pilot = None
            rounds = pending.rounds
            if rounds is None:
                return None
            latest = read_ledger(self.run, since=latest)
            rounds.advance(self.run, latest, name, unsettled=self.pools[name].unsettled)
            self.pools[name].unsettled.clear()
            wanted = replace(pending, ledger=latest)
            n = wanted.count()
            self.pools[name].requests_left = n
            self.board.judges[name].asked += n
            return self._source(wanted) if n else None

        return WorkQueue(
            source=source,
            request_size=self._request_size(name),
            next_round=next_round,
            most_in_lease=lambda: None if pilot is None else pilot.most_in_lease(),
        )

    def _pilot(self, name: str, pending: Pending) -> Pilot | None:
        """The pilot of a judge's work; None where nothing of it is to be stopped."""
        if self.unreadable_ok:
            return None
        board = self.board.judges[name]

        def order(frame: AskFrame, every: bool) -> tuple[Item, ...]:
            """The items of an ask, put in order once for all judges."""
            key = frame.index, every
            if key not in self._orders:
                self._orders[key] = pilot_order(frame, every=every)
            return self._orders[key]

        def report(stop: PilotStop) -> None:
            """Tell of a stop, and keep it for the run's end."""
            self.stops.append(stop)
            stopped = [one.problem for one in self.stops if one.judge == name]
            board.error = "; ".join([*stopped, "--unreadable-ok goes on"])

        return Pilot(
            run=self.run,
            judge=name,
            pending=pending,
            n_landed=lambda: board.landed,
            report=report,
            orders=order,
        )

    def _source(self, pending: Pending, pilot: Pilot | None = None) -> WorkItems:
        """What can be asked of a judge; what never can lands as failed on the way."""
        never = NeverSent(run=self.run, session=self.session.number, fleet=self.fleet)
        asks = pending.asks(never)
        return fitting(asks if pilot is None else pilot.source(asks), pending.fit, never)


def later_requests(resolved: Resolved, run: RunDirectory, ledger: Ledger) -> dict[str, int]:
    """Requests beyond the first blocks, by judge: those that landed, and those wanted by now.

    Effects: reads. Cost: none where no ask is adaptive, or nothing has landed.
    """
    found = wanted_later(resolved.frames, resolved.specs, run, ledger)
    for name in found:
        if name in ledger.judges:
            rows = scan_judgments(run, columns=("block",), judges=[name], ledger=ledger)
            rows = rows.filter(pl.col("block") > 0)
            found[name] += int(rows.select(pl.len()).collect().item())
    return found


def wanted_later(
    frames: tuple[AskFrame, ...], names: Iterable[str], run: RunDirectory, ledger: Ledger
) -> dict[str, int]:
    """Requests beyond the first blocks that are wanted by now and have not landed, by judge.

    Effects: reads. Cost: as of :func:`later_requests`.
    """
    found: dict[str, int] = {}
    if not any(frame.later_waves for frame in frames):
        return found
    texts: dict[str, str | None] | None = None
    for name in names:
        waves = {wave for frame in frames for wave in frame.later_waves}
        for wave in sorted(waves if ledger.judges else ()):
            later = tuple(frame for frame in frames if wave in frame.later_waves)
            asked = _asks_in_wave(later, wave, name)
            rounds = _rounds_of_wave(run, ledger, asked, wave)
            if not asked:
                continue
            if wave and texts is None:
                texts = landed_texts(run, ledger)
            pending = Pending(
                asked=asked, wave=wave, texts=texts or {}, ledger=ledger, rounds=rounds
            )
            found[name] = found.get(name, 0) + pending.count_later()
    return found


def _asks_in_wave(
    frames: tuple[AskFrame, ...], wave: int, name: str
) -> tuple[tuple[AskFrame, Voice], ...]:
    """The asks that ask a judge in a wave."""
    return tuple(
        (frame, voice)
        for frame in frames
        if wave < frame.n_waves
        for voice in voices_of(frame, wave)
        if voice.name == name
    )


def _rounds_of_wave(
    run: RunDirectory, ledger: Ledger, asked: tuple[tuple[AskFrame, Voice], ...], wave: int
) -> Rounds | None:
    """The rounds of a judge's wave; None where every condition is asked a fixed number of times."""
    adaptive = [
        voice.name
        for frame, voice in asked
        if frame.ask.adaptive is not None and frame.judging_wave == wave
    ]
    if not adaptive:
        return None
    landed = landed_verdicts(run, ledger, adaptive[0])
    return Rounds(landed=landed, read=frozenset(ledger.commit_names))


def _voices_later(resolved: Resolved, wave: int) -> frozenset[str]:
    """Judges that are asked again in a later wave, so that they are not unloaded."""
    return frozenset(
        voice.name
        for frame in resolved.frames
        for later in range(wave + 1, frame.n_waves)
        for voice in voices_of(frame, later)
    )


def fitting(source: WorkItems, fit: PromptFit | None, never: NeverSent) -> WorkItems:
    """What of a judge's work its context can hold; the rest lands as failed on the way.

    What is unwritten was found to fit, as far as anyone can tell who has not written it.
    """
    for asks in source:
        if not asks:  # nothing for now: a look may wait for what can never be asked
            never.land()
        fits: list[Work] = []
        for ask in asks:
            if (
                fit is None
                or isinstance(ask, Unwritten)
                or (refusal := fit.refusal(ask.condition)) is None
            ):
                fits.append(ask)
            else:
                never.add(ask, refusal)
        if fits or not asks:
            yield tuple(fits)
    never.land()
