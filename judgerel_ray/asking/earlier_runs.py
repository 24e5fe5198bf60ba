"""What earlier runs of a sweep landed, and which of them hold the requests of a new one.

What is planned is held as columns, some tens of bytes a condition and one a request, and earlier
runs are looked at one by one, the newest first. A run says in ``earlier.json`` what it left in
those before it, so that few are opened, however many there are.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.asking.plan.resolve import Resolved
from judgerel_ray.asking.run.pending import landed_texts
from judgerel_ray.asking.run.waves import wanted_later
from judgerel_ray.core import Ask
from judgerel_ray.design import AskFrame, planned_asks
from judgerel_ray.store import (
    CommitRecord,
    Losses,
    Range,
    RunDirectory,
    read_manifest,
    read_whole_ledger,
    reading,
    whole_commits,
)
from judgerel_ray.store.records import seal, union, unseal

EARLIER = "earlier.json"
"""File of a run with what it left in the runs before it, and how many rows it held then."""
MOST_NAMED = 1_000
"""Conditions left in a run that are named; a run with more of them is always looked at."""
_KEY_BYTES = 16  # of a condition's key, which is written as twice as many hexadecimal digits
_ALL: tuple[Range, ...] = ((0, 2**62),)

# A condition, ranges of its replications, and their spans.
Found = tuple[str, Sequence[Range], list[tuple[int, int, int]]]

Left = Mapping[str, Sequence[str] | None]
"""Conditions that only earlier runs hold, by run; None where there are too many to track."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """The runs that asked a sweep before, oldest first, and landed texts that prompts hold."""

    runs: tuple[RunDirectory, ...]
    texts: Mapping[str, str | None]

    def commits(self) -> Iterator[tuple[RunDirectory, CommitRecord]]:
        """What landed and still counts, of the newest run first, each in its order.

        Effects: reads. Cost: one look at the records of each run, when its turn comes.
        """
        for run in reversed(self.runs):
            for commit in whole_commits(run):
                yield run, commit

    def is_pending(self, frames: Sequence[AskFrame]) -> bool:
        """Whether anything that is asked has landed in none of them."""
        return self.n_pending(frames) > 0

    def n_pending(self, frames: Sequence[AskFrame]) -> int:
        """How many of the requests that are asked have landed in none of them."""
        wanted = Wanted.of(planned_asks(frames, self.texts))
        for _, commit in Search(runs=self.runs, wanted=wanted).commits():
            wanted.close(commit.conditions)
            if not wanted.n_open:
                break
        return wanted.n_open


def earlier_of(resolved: Resolved, runs: Sequence[RunDirectory]) -> Earlier:
    """What landed before, with texts where prompts hold any.

    Effects: reads. Cost: of sweeps of several waves a look at the records of each run of which no
    newer one holds all, and texts.
    """
    texts: dict[str, str | None] = {}
    known: dict[str, Sequence[str] | None] = {}
    is_written = any(frame.n_waves > 1 for frame in resolved.frames)
    for run in reversed(runs) if is_written else ():
        if known.get(_earlier_run_name(run)) == []:
            continue
        ledger = read_whole_ledger(run)
        texts = {**landed_texts(run, ledger), **texts}
        _learn_earlier_runs(known, run, ledger.commits, runs)
    return Earlier(runs=tuple(runs), texts=texts)


def keep_left(run: RunDirectory, left: Left) -> None:
    """Write down what a run left in those before it, once it has ended.

    Effects: a file in the run directory. Retry: safe.
    """
    n_rows = sum(one.rows for one in whole_commits(run))
    data = seal({"n_rows": n_rows, "left": dict(left)}, EARLIER, run.identity)
    run.write_bytes(EARLIER, data)


def _learn_earlier_runs(
    known: dict[str, Sequence[str] | None],
    run: RunDirectory,
    commits: Iterable[CommitRecord],
    runs: Iterable[RunDirectory],
) -> bool:
    """Take in what a run says of those before it; False where it has lost rows since.

    What newer runs say goes before: both are true. But what a run says after it looked into another
    may rest on what that held: it is forgotten where that lost rows, and not taken where that is
    none of the runs any more.
    """
    stated = unseal(run.files.find(EARLIER), EARLIER, run.identity)
    if stated is None:
        return True
    if sum(one.rows for one in commits) < stated["n_rows"]:
        if _earlier_run_name(run) in known:
            known.clear()
        return False
    left: Left = stated["left"]
    if left.keys() <= set(map(_earlier_run_name, runs)):
        known.update({name: left[name] for name in left.keys() - known.keys()})
    return True


def _earlier_run_name(run: RunDirectory) -> str:
    """A run's name among those of a series, wherever that lies: its refresh and its sweep."""
    return "/".join(run.url.split("/")[-2:])


def n_later(resolved: Resolved, runs: Sequence[RunDirectory]) -> int:
    """How many requests beyond their first blocks adaptive conditions want that have not landed.

    The newest run that asked the same is looked at, which holds what those before it landed: that
    more is wanted rests on verdicts on the same prompts. Where none did, what is carried tells.

    Effects: reads. Cost: none where no ask is adaptive; else a look at that run's verdicts.
    """
    frames = tuple(frame for frame in resolved.frames if frame.ask.adaptive is not None)
    alike = (run for run in reversed(runs) if resolved.is_of(read_manifest(run).get("sweep")))
    run = next(alike, None) if frames else None
    if run is None:
        return 0
    with reading(run.url):
        found = wanted_later(frames, resolved.specs, run, read_whole_ledger(run))
    return sum(found.values())


def paid_again(losses: Losses, frames: Sequence[AskFrame], earlier: Earlier) -> Losses:
    """The same losses, of damaged commits those alone that asking on would pay for again.

    That is what is planned and landed in no other commit; what was judged of an answer that is
    asked again is so, too, for it is asked in other words.

    Effects: reads. Cost: none where no commit is damaged.
    """
    lost = (*losses.damaged, *losses.unfounded)
    if not lost:
        return losses
    files = {one.data_file for one in lost}
    wanted = Wanted.of(planned_asks(frames, earlier.texts, at_most=True))
    for _, commit in earlier.commits():
        if commit.data_file not in files:
            wanted.close(commit.conditions)
    is_open = {one.data_file for one in lost if wanted.has_open(one)}
    if any(one.holds_answers for one in lost if one.data_file in is_open):
        is_open |= {one.data_file for one in lost if one.parents}
    return replace(
        losses,
        damaged=tuple(one for one in losses.damaged if one.data_file in is_open),
        unfounded=tuple(one for one in losses.unfounded if one.data_file in is_open),
    )


@dataclass(slots=True, kw_only=True)
class Wanted:
    """Which planned requests are still open: found in nothing that was looked at so far.

    Conditions are in the order of their keys, which are bytes here, and ``is_open`` has a place for
    each of their replications, condition after condition.
    """

    judges: tuple[str, ...]
    keys: NDArray[np.bytes_]
    judge_of: NDArray[np.int32]
    firsts: NDArray[np.int64]
    starts: NDArray[np.int64]
    """Where a condition's replications begin; one more than there are conditions."""
    is_open: NDArray[np.bool_]
    n_open: int = field(init=False)

    def __post_init__(self) -> None:
        self.n_open = int(np.count_nonzero(self.is_open))

    @classmethod
    def of(cls, asks: Iterable[Ask]) -> Wanted:
        """All requests of some asks.

        Examples
        --------
        >>> Wanted.of([]).n_open
        0
        """
        judges: dict[str, int] = {}
        hashes, columns = bytearray(), array("q")
        for ask in asks:
            hashes += bytes.fromhex(ask.condition.condition_key)
            columns.extend((judges.setdefault(ask.condition.judge, len(judges)), ask.first, ask.n))
        asked_keys = np.frombuffer(hashes, dtype=f"S{_KEY_BYTES}")
        asked_judges, asked_firsts, asked_n = (
            np.frombuffer(columns, dtype=np.int64).reshape(-1, 3).T
        )
        # Several asks of one condition are one span, of which what none of them asks is closed.
        keys, place = np.unique(asked_keys, return_inverse=True)
        n_conditions = len(keys)
        firsts = np.full(n_conditions, np.iinfo(np.int64).max)
        np.minimum.at(firsts, place, asked_firsts)
        ends = np.zeros(n_conditions, dtype=np.int64)
        np.maximum.at(ends, place, asked_firsts + asked_n)
        judge_of = np.zeros(n_conditions, dtype=np.int32)
        judge_of[place] = asked_judges
        starts = np.concatenate(([0], np.cumsum(ends - firsts)))
        is_open = np.zeros(int(starts[-1]), dtype=np.bool_)
        begins = starts[place] + asked_firsts - firsts[place]
        for begin, n in zip(begins, asked_n, strict=True):  # no list of all of them is made
            is_open[begin : begin + n] = True
        return cls(
            judges=tuple(judges),
            keys=keys,
            judge_of=judge_of,
            firsts=firsts,
            starts=starts,
            is_open=is_open,
        )

    def close(self, conditions: Mapping[str, Sequence[Range]]) -> None:
        """Take note that some replications of conditions are there."""
        for _, _, spans in self._found(conditions, None):
            for begin, end, _ in spans:
                self._close(begin, end)

    def has_open(self, commit: CommitRecord) -> bool:
        """Whether anything of a commit is open."""
        return self._any_open(self._found(commit.conditions, commit.judge))

    def has_open_of(self, keys: Iterable[str]) -> bool:
        """Whether anything of some conditions is open."""
        return self._any_open(self._found(dict.fromkeys(keys, _ALL), None))

    def _any_open(self, found: Iterable[Found]) -> bool:
        """Whether anything in the spans of some conditions is open."""
        return any(self.is_open[begin:end].any() for *_, spans in found for begin, end, _ in spans)

    def beyond(self, commit: CommitRecord) -> Iterator[str]:
        """Conditions of a commit that are not planned, or not all of their replications."""
        found = self._found(commit.conditions, commit.judge)
        planned = {key for key, ranges, spans in found if _run_spans_are_all(ranges, spans)}
        return (key for key in commit.conditions if key not in planned)

    def take(self, commit: CommitRecord) -> dict[str, tuple[Range, ...]]:
        """What of a commit is open; it is closed by this."""
        taken: dict[str, tuple[Range, ...]] = {}
        for key, ranges, spans in self._found(commit.conditions, commit.judge):
            if _run_spans_are_all(ranges, spans) and all(
                self.is_open[begin:end].all() for begin, end, _ in spans
            ):
                fresh = tuple(ranges)
            else:
                places = (
                    (first + int(place), 1)
                    for begin, end, first in spans
                    for place in np.flatnonzero(self.is_open[begin:end])
                )
                fresh = union(places)
            if fresh:
                taken[key] = fresh
                for begin, end, _ in spans:
                    self._close(begin, end)
        return taken

    def reopen(self, conditions: Mapping[str, Sequence[Range]]) -> None:
        """Take note that what was taken could not be had."""
        for _, _, spans in self._found(conditions, None):
            for begin, end, _ in spans:
                self.n_open += end - begin - int(np.count_nonzero(self.is_open[begin:end]))
                self.is_open[begin:end] = True

    def _close(self, begin: int, end: int) -> None:
        """Close a span."""
        self.n_open -= int(np.count_nonzero(self.is_open[begin:end]))
        self.is_open[begin:end] = False

    def _found(
        self, conditions: Mapping[str, Sequence[Range]], judge: str | None
    ) -> Iterator[Found]:
        """Conditions of a judge, or of any, that are planned: their spans, with first replications.

        A span is a range as far as it is planned: where it begins and ends among all replications.
        """
        if not conditions or not len(self.keys):
            return
        sought = np.frombuffer(bytes.fromhex("".join(conditions)), dtype=self.keys.dtype)
        place = np.minimum(np.searchsorted(self.keys, sought), len(self.keys) - 1)
        is_there = self.keys[place] == sought
        if judge is not None:
            number = self.judges.index(judge) if judge in self.judges else -1
            is_there &= self.judge_of[place] == number
        columns = (is_there, self.starts[place], self.starts[place + 1], self.firsts[place])
        for (key, ranges), found, start, end, first in zip(
            conditions.items(), *(column.tolist() for column in columns), strict=True
        ):
            if not found:
                continue
            spans = []
            for from_, n in ranges:
                begin = max(start, start + from_ - first)
                until = min(end, start + from_ + n - first)
                if begin < until:
                    spans.append((begin, until, first + begin - start))
            if spans:
                yield key, ranges, spans


def _run_spans_are_all(ranges: Sequence[Range], spans: Sequence[tuple[int, int, int]]) -> bool:
    """Whether the spans of a condition's ranges are as long as these."""
    return sum(end - begin for begin, end, _ in spans) == sum(n for _, n in ranges)


@dataclass(slots=True, kw_only=True)
class Search:
    """A search through earlier runs for what is wanted, which opens few of them."""

    runs: Sequence[RunDirectory]  # Oldest first; the newest is looked into first.
    wanted: Wanted  # What is still open, closed by the caller as it is found.
    # Addresses of runs in which a commit cannot be read, added by the caller who reads it.
    damaged: set[str] = field(default_factory=set)
    _known: dict[str, Sequence[str] | None] = field(default_factory=dict)
    _seen: dict[str, Sequence[str] | None] = field(default_factory=dict)

    def commits(self) -> Iterator[tuple[RunDirectory, CommitRecord]]:
        """What landed and still counts, of the newest run first, each in its order.

        A run is left out of which newer ones hold all that is still open.

        Effects: reads. Cost: one look at the records of each run, when its turn comes.
        """
        for run in reversed(self.runs):
            name = _earlier_run_name(run)
            left = self._known.get(name)  # None, too, where nothing is known of it
            if left is not None and not self.wanted.has_open_of(left):
                continue
            commits = whole_commits(run)
            if _learn_earlier_runs(self._known, run, commits, self.runs):
                keys = list(dict.fromkeys(chain.from_iterable(map(self.wanted.beyond, commits))))
                self._seen[name] = keys if len(keys) <= MOST_NAMED else None
            yield from ((run, commit) for commit in commits)
            del commits  # before those of the next run are there, too
            if run.url in self.damaged:
                self._known.clear()

    @property
    def left(self) -> Left:
        """What the runs before hold beyond what is wanted, as far as that is known."""
        return {**self._known, **self._seen}
