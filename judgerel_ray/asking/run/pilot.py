"""The pilot of a judge: one reply to each of many questions, before all else that it is asked.

Of every ask whose replies hold a verdict, the first replication of up to 800 questions goes first:
one condition a question, spread over templates, temperatures, and whatever else is crossed. Keys
and seeds are those that the conditions have anyhow; only the order of asking is another. Nothing
more is sent before the first 50 have been looked at; while a later look is awaited, about twice as
many requests as it has questions are sent at most. A look is passed as soon as so many replies can
be read that no later one can turn it into a stop, so a request that is stuck holds nothing back.
Which questions these are follows from the sweep alone, and what came back is read from what landed,
so a run that is killed and goes on decides the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import blake2b
from heapq import nsmallest
from typing import NamedTuple

import polars as pl

from judgerel_ray.asking.run.pending import Pending, WorkItems, pending_parts
from judgerel_ray.asking.run.readability import (
    FEWEST,
    LOOKS,
    Shortfall,
    is_short,
    pilot_looks,
    shortfall_of,
)
from judgerel_ray.core import (
    CUT_IN_THOUGHT,
    Ask,
    Condition,
    Item,
    Menu,
    Outcome,
    StoreError,
    cut_text,
    printable,
    request_key,
)
from judgerel_ray.design import AskFrame, Texts, Voice
from judgerel_ray.protocols import FORMS, fill_example
from judgerel_ray.store import (
    Ledger,
    RunDirectory,
    read_ledger,
    reading,
    scan_completions,
    scan_judgments,
)

_Cell = tuple[str, float]
QUOTED = 200  # characters of a reply, in a message
FEW_REQUESTS = 8  # in a lease, while nothing else may be asked


@dataclass(frozen=True, slots=True, kw_only=True)
class PilotStop:
    """Why a judge is asked nothing more of an ask."""

    judge: str
    ask: int  # Place of the ask in the sweep.
    problem: str
    # A reply beside what the reader wants; empty where replies were cut off in their thought.
    evidence: str
    remedy: str

    def line(self, goes_on: str) -> str:
        """Say it all, with what makes a run go on in spite of it."""
        evidence = f" {self.evidence}." if self.evidence else ""
        return f"{self.problem}.{evidence} Try: {self.remedy}, or {goes_on} to go on"


class _Reply(NamedTuple):
    """What landed of a question's first replication."""

    outcome: str
    finish_reason: str
    tokens: int | None

    @property
    def is_readable(self) -> bool | None:
        """Whether it holds a verdict; None where the request failed, so that it does not count."""
        return None if self.outcome == Outcome.FAILED else self.outcome == Outcome.SCORED


def pilot_order(frame: AskFrame, *, every: bool = False) -> tuple[Item, ...]:
    """Items in the order in which a pilot asks about them, whatever their order in the file.

    Examples
    --------
    >>> from judgerel_ray.config import ask_table
    >>> items = tuple(Item(item_id=x, benchmark="b", category="c", question="?") for x in "pqrs")
    >>> ask = ask_table(protocol="respond", benchmark="b", path="p")
    >>> frame = AskFrame(index=0, ask=ask, items=items, templates=(), judges=())
    >>> [item.item_id for item in pilot_order(frame)]
    ['s', 'p', 'q', 'r']
    """

    def place(item: Item) -> bytes:
        name = f"{item.benchmark}\0{item.item_id}"
        return blake2b(name.encode(errors="surrogatepass"), digest_size=8).digest()

    most = len(frame.items) if every else LOOKS[-1]
    return tuple(nsmallest(most, frame.items, key=place))


def gives_verdict(condition: Condition) -> bool:
    """Whether a reply is read for a verdict: no answer, assessment, selection or probability.

    Examples
    --------
    >>> from judgerel_ray.core import Menu
    >>> condition = Condition(
    ...     condition_key="k", seed_base=1, judge="j", judge_fingerprint="f", benchmark="b",
    ...     item_id="q", protocol="best_of", stage="judge", role="judge", prompt=(),
    ...     template="default", temperature=1.0, top_k=50, top_p=1.0, max_tokens=8,
    ...     menu=Menu(labels=("A", "B"), option_ids=("x", "y"), form="best_response"))
    >>> gives_verdict(condition), gives_verdict(replace(condition, role="scorer"))
    (True, False)
    """
    if condition.menu is None or condition.role in ("scorer", "assessor"):
        return False
    return condition.stage != "select"


def pilot_questions(
    frame: AskFrame, wave: int, voice: Voice, texts: Texts, items: Iterator[Item]
) -> Iterator[Ask]:
    """One condition of each item that a wave asks for a verdict on; its first replication is asked.

    Templates and temperatures take turns, so that the first questions are spread over them, and so
    are, beside them, orders of options, answers, criteria and scales.
    """

    @cache
    def cell(template: int, temperature: int) -> AskFrame:
        ask = frame.ask
        one = ask.model_copy(update={"temperatures": ask.temperatures[temperature:][:1]})
        return replace(frame, templates=frame.templates[template:][:1], ask=one)

    n_templates, n_temperatures = len(frame.templates), len(frame.ask.temperatures)
    n_cells = n_templates * n_temperatures
    answers, protocol = wave < frame.respond_waves, frame.protocol
    work_of = protocol.answering_work if answers else protocol.judging_work
    place = 0
    for item in items:
        at, rest = place % n_cells, place // n_cells
        work = work_of(cell(at % n_templates, at // n_templates), wave, voice, item, texts)
        every = [ask for ask, never in work or () if never is None]
        asks = [one for one in every if gives_verdict(one.condition)]
        if asks:
            first = min(one.first for one in asks)
            asks = [one for one in asks if one.first == first]
            place += 1
            yield asks[rest % len(asks)]
        elif every:
            return  # a wave asks the same of every item: this one asks for no verdicts


@dataclass(slots=True, kw_only=True)
class _AskPilot:
    """The pilot of one ask: its questions, built as they are needed, and the looks made."""

    place: int
    """Of the ask among those that the judge is asked in this wave."""
    frame: AskFrame
    questions: Iterator[Ask]
    replies: dict[str, _Reply] = field(default_factory=dict)
    """What landed, by request key."""
    asks: list[Ask] = field(default_factory=list)
    n_counted: int = 0
    n_looks: int = 0
    """Looks that are over."""
    is_whole: bool = False
    """Whether there are no more questions than were built."""
    stop: PilotStop | None = None

    def build(self, n: int) -> None:
        """Build questions up to a number, if there are as many."""
        while len(self.asks) < n and not self.is_whole:
            ask = next(self.questions, None)
            if ask is None:
                self.is_whole = True
            else:
                self.asks.append(ask)

    @property
    def looks(self) -> tuple[int, ...]:
        """Numbers of questions that are looked at, of those known by now."""
        return pilot_looks(len(self.asks)) if self.is_whole else LOOKS

    @property
    def next_look(self) -> int | None:
        """Questions of the next look; None where none is left."""
        return None if self.stop else next(iter(self.looks[self.n_looks :]), None)

    @property
    def n_allowed(self) -> int:
        """Questions that may be asked before the next look: up to the one after it."""
        looks = self.looks[: self.n_looks + 2 if self.n_looks else 1]
        return looks[-1] if looks and self.next_look is not None else 0

    @property
    def lets_rest_go(self) -> bool:
        """Whether all else may be asked: all of the pilot is, and one look is left at most."""
        return self.next_look is None or (0 < self.n_looks == len(self.looks) - 1)

    def key(self, ask: Ask) -> str:
        """The key of a question's request."""
        return request_key(ask.condition.condition_key, ask.first)

    def is_ready(self) -> bool:
        """Whether the next look can be made: all landed, or what is to come cannot change it."""
        counted, cells = self.next_replies(missing=False)
        is_whole = all(self.key(ask) in self.replies for ask in self.asks[: len(counted)])
        return is_whole or shortfall_of(counted, cells, share=self.frame.ask.readable) is None

    def next_replies(self, *, missing: bool | None = None) -> tuple[list[bool | None], list[_Cell]]:
        """Whether each reply of the next look is readable, and its template and temperature."""
        asks = self.asks[: self.next_look or 0]
        replies = [self.replies.get(self.key(ask)) for ask in asks]
        counted = [missing if reply is None else reply.is_readable for reply in replies]
        return counted, [(ask.condition.template, ask.condition.temperature) for ask in asks]


@dataclass(slots=True, kw_only=True)
class Pilot:
    """The pilots of all asks of a judge in a wave."""

    run: RunDirectory
    judge: str
    pending: Pending
    n_landed: Callable[[], int]
    report: Callable[[PilotStop], None]
    orders: Callable[[AskFrame, bool], tuple[Item, ...]]
    _pilots: list[_AskPilot] = field(default_factory=list)
    _ledger: Ledger | None = None
    _due_at: int = 0
    """Rows that must have landed before another look can decide anything: one more than by then."""

    def __post_init__(self) -> None:
        wave = self.pending.wave
        for place, (frame, voice) in enumerate(self.pending.asked):
            if not frame.ask.readable or frame.ask.mode == "exact":
                continue
            # Of a later wave it depends on what landed which items ask anything.
            items = iter(self.orders(frame, wave > 0))
            asks = pilot_questions(frame, wave, voice, self.pending.texts, items)
            one = _AskPilot(place=place, frame=frame, questions=asks)
            one.build(FEWEST)
            if one.asks:
                self._pilots.append(one)

    @property
    def is_open(self) -> bool:
        """Whether a look is left."""
        return any(one.next_look is not None for one in self._pilots)

    def most_in_lease(self) -> int | None:
        """Requests that a lease may hold: few before the first look; None where any number may.

        A lease lands as a whole: one with a request that is stuck should not hold all questions.
        """
        return (
            FEW_REQUESTS if any(one.next_look and not one.n_looks for one in self._pilots) else None
        )

    def source(self, rest: WorkItems) -> WorkItems:
        """All that is pending, questions of the pilots first."""
        while True:
            is_decided = self._look()
            for one in self._pilots:
                yield from self._questions(one)
            if all(one.lets_rest_go for one in self._pilots):
                break
            if not is_decided:
                yield ()
        n_sent = 0
        while True:
            self._look()
            looks = [one.next_look for one in self._pilots if one.next_look is not None]
            if not looks:
                break
            if n_sent >= min(looks):
                yield ()
                continue
            works = next(rest, None)
            if works is None:
                return
            n_sent += sum(work.n for work in works)
            yield works
        yield from rest

    def look_at_all(self) -> None:
        """Look at what has landed, where nothing more will: what is missing does not count."""
        self._look(is_last=True)

    def warnings(self) -> Iterator[str]:
        """Say of which asks too few replies are readable, where questions are too few to stop it.

        Effects: reads what landed.
        """
        few = [one for one in self._pilots if not one.looks]
        if few:
            self._ledger = read_ledger(self.run, since=self._ledger or self.pending.ledger)
            self._read(few)
        for one in few:
            replies = [reply.is_readable for reply in one.replies.values()]
            n, readable = sum(reply is not None for reply in replies), replies.count(True)
            if readable < one.frame.ask.readable * n:
                unread = [
                    (ask, reply)
                    for ask in one.asks
                    if (reply := one.replies.get(one.key(ask))) and reply.is_readable is False
                ]
                found = self._stop(one.frame, Shortfall(n=n, readable=readable), unread)
                evidence = f" {found.evidence}." if found.evidence else ""
                yield (
                    f"warning: {found.problem}; of fewer than {FEWEST} questions nothing is "
                    f"stopped.{evidence} Try: {found.remedy}"
                )

    def _questions(self, one: _AskPilot) -> WorkItems:
        """Questions of a pilot that may be asked by now and have not been."""
        one.build(one.n_allowed)
        while one.n_counted < min(one.n_allowed, len(one.asks)):
            ask = one.asks[one.n_counted]
            one.n_counted += 1
            if first := self.pending.take_first(one.place, ask):
                yield first

    def _look(self, *, is_last: bool = False) -> bool:
        """Look at what has landed, if that may decide anything; say whether anything was decided.

        Effects: reads the commits that are new and what they hold of the pilots.
        """
        n_landed, is_decided = self.n_landed(), False
        if not self.is_open or (n_landed < self._due_at and not is_last):
            return False
        since = self._ledger
        self._ledger = self.pending.ledger if since is None else read_ledger(self.run, since=since)
        while True:
            for one in self._pilots:
                one.build(one.next_look or 0)
            waiting = [one for one in self._pilots if one.next_look is not None]
            self._read(waiting)
            ready = [one for one in waiting if is_last or one.is_ready()]
            for one in ready:
                self._decide(one)
            if not ready:
                break
            is_decided, is_last = True, False
        self._due_at = n_landed + 1
        return is_decided

    def _read(self, pilots: list[_AskPilot]) -> None:
        """Read what landed of the questions that were built and have not been read."""
        ledger = self._ledger or self.pending.ledger
        wanted: dict[str, str] = {}
        for one in pilots:
            for ask in one.asks:
                condition_key = ask.condition.condition_key
                is_known = one.key(ask) in one.replies
                if not is_known and not pending_parts(replace(ask, n=1), ledger):
                    wanted[one.key(ask)] = condition_key
        if not wanted:
            return
        columns = ("key", "outcome", "finish_reason", "completion_tokens")
        rows = (
            scan_judgments(
                self.run,
                columns=columns,
                judges=[self.judge],
                ledger=_pilot_ledger_of_conditions(ledger, set(wanted.values())),
            )
            .filter(pl.col("key").is_in(list(wanted)))
            .select(columns)
        )
        with reading(self.run.url):
            found = {key: _Reply(*values) for key, *values in rows.collect().iter_rows()}
        for one in pilots:
            keys = map(one.key, one.asks)
            one.replies.update({key: found[key] for key in keys if key in found})

    def _decide(self, one: _AskPilot) -> None:
        """Make the next look of a pilot: go on, or stop it."""
        n_questions = one.next_look or 0
        counted, cells = one.next_replies()
        found = shortfall_of(counted, cells, share=one.frame.ask.readable)
        one.n_looks += 1
        if found is not None:
            unread = [
                (ask, one.replies[one.key(ask)])
                for ask, is_read, cell in zip(one.asks, counted, cells, strict=False)
                if is_read is False and found.cell in (None, cell)
            ]
            one.stop = self._stop(
                one.frame, found, unread, begins=f"stopped after {n_questions:,} questions: "
            )
            self.pending.stopped.add(one.place)
            self.report(one.stop)

    def _stop(
        self,
        frame: AskFrame,
        found: Shortfall,
        unread: list[tuple[Ask, _Reply]],
        *,
        begins: str = "",
    ) -> PilotStop:
        """Say what was found, show one of the replies that cannot be read, and what to change."""
        cut = [(ask, reply) for ask, reply in unread if reply.finish_reason == CUT_IN_THOUGHT]
        others = [ask for ask, reply in unread if (ask, reply) not in cut]
        who = _ask_words(self.judge, frame, found.cell)
        problem = (
            f"{found.readable:,} of {found.n:,} replies of {who} hold a verdict that can be read"
        )
        evidence, remedies, cutting = "", [], ""
        if cut:
            most = max(ask.condition.max_tokens for ask, _ in cut)
            longest = max(most, *(reply.tokens or 0 for _, reply in cut))
            remedies.append(f"max_tokens = {2 * longest}")
            cutting = f"cut off in their thought at max_tokens = {most}"
        if not others or (cut and is_short(found.n - len(cut), found.n, frame.ask.readable)):
            # They would be too many if all others could be read.
            problem = f"{len(cut):,} of {found.n:,} replies of {who} were {cutting}"
        else:
            problem += f"; {len(cut):,} were {cutting}" if cut else ""
            ask = others[0]
            evidence = f"One reply: {self._quoted(ask)}"
            if ask.condition.menu is not None:
                evidence += f"; the reader wants {wanted_reply(ask.condition.menu)}"
            remedies.append("another template or form")
        return PilotStop(
            judge=self.judge,
            ask=frame.index,
            problem=f"{begins}{problem}",
            evidence=evidence,
            remedy=f"{' or '.join(remedies)} in a new --out",
        )

    def _quoted(self, ask: Ask) -> str:
        """What a question's reply says, on a line."""
        ledger = _pilot_ledger_of_conditions(
            self._ledger or self.pending.ledger, {ask.condition.condition_key}
        )
        key = request_key(ask.condition.condition_key, ask.first)
        try:
            with reading(self.run.url):
                rows = scan_completions(self.run, columns=("key", "text"), ledger=ledger)
                text = next(iter(rows.filter(pl.col("key") == key).collect()["text"]), None)
        except StoreError:  # verdicts count without their texts
            return "its text is lost"
        if text is None:
            return "no text, it was declined"
        return f'"{printable(cut_text(" ".join(text.split()), QUOTED))}"'


def _pilot_ledger_of_conditions(ledger: Ledger, condition_keys: set[str]) -> Ledger:
    """A ledger of the commits that hold any of these conditions."""
    commits = tuple(one for one in ledger.commits if not condition_keys.isdisjoint(one.conditions))
    return replace(ledger, commits=commits)


def _ask_words(judge: str, frame: AskFrame, cell: object = None) -> str:
    """Who was asked what, in words."""
    where = f", template {cell[0]} at temperature {cell[1]:g}" if isinstance(cell, tuple) else ""
    return f"judge {judge} (ask[{frame.index}], {frame.ask.protocol}{where})"


_LABELS_ALONE = ("correctness",)
"""Forms of one word."""


def wanted_reply(menu: Menu) -> str:
    """What a reply may say to be read, as an example in quotes.

    Examples
    --------
    >>> wanted_reply(Menu(labels=("A", "B"), option_ids=("x", "y"), form="best_response"))
    '"Best Response: [[A]]"'
    >>> wanted_reply(Menu(labels=("0", "1"), option_ids=("x", "y"), form="final_answer"))
    '"Final Answer: 0"'
    >>> wanted_reply(Menu(labels=("yes", "no"), option_ids=("x", "y"), form="correctness"))
    '"yes" or "no"'
    """
    label = menu.labels[0]
    if menu.declared is not None:
        word = menu.words[0][0] if menu.words else label
        return f'"{printable(cut_text(fill_example(menu.declared, word), QUOTED))}"'
    complete = FORMS[menu.form].complete if menu.form in FORMS else None
    if complete is not None:
        return f'"{complete(label)}"'
    if menu.form in _LABELS_ALONE:
        return " or ".join(f'"{one}"' for one in menu.labels)
    return f'"{menu.form.replace("_", " ").title()}: {label}"'
