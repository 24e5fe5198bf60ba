"""Adaptive replication in a run: what each condition has shown, and how far it is asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from judgerel_ray.core import Ask, Condition
from judgerel_ray.design import AskFrame, Goal, goal_of
from judgerel_ray.store import CHEAP_COLUMNS, Ledger, RunDirectory, reading, scan_judgments

# What tells the conditions of one judge apart: asks that these do not tell apart are refused.
CONDITION_COLUMNS = (
    "protocol",
    "benchmark",
    "item_id",
    "responder",
    "template",
    "temperature",
    "top_k",
    "top_p",
    "option_order",
)
ItemPlace = tuple[object, ...]
Kept = tuple[int, str]
"""Place of an ask in the sweep, and an item's name."""
Asks = list[tuple[Ask, str | None]]
MOST_KEPT = 50_000  # asks; writing their prompts and hashing their keys again costs far more


@dataclass(frozen=True, slots=True)
class LandedReplications:
    """What landed of a condition: replications, their verdicts, and whether one failed."""

    replications: tuple[int, ...]
    verdicts: tuple[str | None, ...]
    has_failed: bool

    def __add__(self, later: LandedReplications) -> LandedReplications:
        return LandedReplications(
            self.replications + later.replications,
            self.verdicts + later.verdicts,
            self.has_failed or later.has_failed,
        )

    def codes(self, option_ids: Sequence[str]) -> dict[int, int]:
        """Verdict of each replication by its place among the options; none as one of its own."""
        codes = {option_id: code for code, option_id in enumerate(option_ids)}
        return {
            replication: len(codes) if verdict is None else codes[verdict]
            for replication, verdict in zip(self.replications, self.verdicts, strict=True)
        }


def landed_verdicts(
    run: RunDirectory, ledger: Ledger, judge: str, *, items: set[str] | None = None
) -> dict[ItemPlace, LandedReplications]:
    """Read the verdicts that landed of a judge's sampled judgments, by condition.

    Effects: reads. Cost: one pass over the judge's files; memory for the conditions of `items`.
    """
    with reading(run.url):
        rows = scan_judgments(run, columns=CHEAP_COLUMNS, judges=[judge], ledger=ledger).filter(
            (pl.col("role") == "judge") & (pl.col("temperature") > 0)
        )
        if items is not None:
            rows = rows.filter(pl.col("item_id").is_in(sorted(items)))
        frame = (
            rows.group_by(CONDITION_COLUMNS)
            .agg("replication", "verdict", failed=(pl.col("outcome") == "failed").any())
            .collect(engine="streaming")
        )
    return {
        tuple(place): LandedReplications(tuple(replications), tuple(verdicts), bool(failed))
        for *place, replications, verdicts, failed in frame.iter_rows()
    }


def place_of(condition: Condition) -> ItemPlace:
    """A condition among those of its judge, as :func:`landed_verdicts` names it."""
    return tuple(getattr(condition, name) for name in CONDITION_COLUMNS)


@dataclass(slots=True, kw_only=True)
class Rounds:
    """A judge's conditions over the rounds of one session.

    Notes
    -----
    A session asks nothing twice: what failed in one round is pending, and left to the next session.
    """

    landed: dict[ItemPlace, LandedReplications]
    failures: Mapping[tuple[str, int], int] = field(default_factory=dict)
    """How often what begins at a replication of a condition failed in this session."""
    only: frozenset[str] | None = None
    """Names of the items that may want more; None before the first round."""
    ready: dict[Kept, Asks] | None = None
    """What was built of these items in the round before; None where that was too much to keep."""
    read: frozenset[str] = frozenset()
    _asked: dict[str, int] = field(default_factory=dict)
    _wanted: dict[str, int] = field(default_factory=dict)
    _items: set[str] = field(default_factory=set)
    _kept: dict[Kept, Asks] = field(default_factory=dict)
    _n_kept: int = 0

    def grown(self, frame: AskFrame, ask: Ask) -> Ask | None:
        """An ask as far as its condition is wanted now; None where this round has none of it."""
        rule = frame.stopping(ask.condition.temperature)
        if rule is None:
            return ask if self.only is None else None
        condition = ask.condition
        goal = self.goal(frame, condition)
        if not goal.is_reached:
            self._wanted[condition.condition_key] = goal.n
            self._items.add(condition.item_id)
        # An actor that asked on was sent the first block.
        asked = self._asked.get(condition.condition_key, rule.first)
        if self.only is not None and goal.n <= asked:
            return None
        return replace(ask, condition=replace(condition, block=goal.block), n=goal.n)

    def has_failed(self, part: Ask) -> bool:
        """Whether a part was asked in this session and did not land."""
        asked = part.condition.condition_key, part.first
        return self.only is not None and self.failures.get(asked, 0) > 0

    def goal(self, frame: AskFrame, condition: Condition) -> Goal:
        """How far a condition is asked for."""
        rule, menu = frame.stopping(condition.temperature), condition.menu
        if rule is None or menu is None:
            raise ValueError("Rounds.goal: the condition must be of an adaptive ask for verdicts")
        found = self.landed.get(place_of(condition))
        if found is None:
            return Goal(n=rule.first, block=0, is_reached=False)
        if found.has_failed:  # do not extend a condition that contains a permanent failure
            return Goal(n=rule.first, block=0, is_reached=True)
        return goal_of(found.codes(menu.option_ids), len(menu.option_ids) + 1, rule)

    def keep(self, place: int, item_id: str, asks: Asks) -> None:
        """Keep what was built of an item that may want more, for the next round to begin from."""
        if item_id not in self._items or (place, item_id) in self._kept:
            return
        self._n_kept += len(asks)
        if self._n_kept <= MOST_KEPT:
            self._kept[place, item_id] = asks

    def advance(
        self, run: RunDirectory, ledger: Ledger, judge: str, *, unsettled: Iterable[str] = ()
    ) -> None:
        """Go on to the next round with what has landed by now of the items that wanted more.

        Those that actors asked on are among them where they are `unsettled`.

        Effects: reads the files that were not there when the round before began.
        """
        self._asked.update(self._wanted)
        unknown = set(unsettled) - self._items
        self._items |= unknown
        self.only = frozenset(self._items)
        names = frozenset(ledger.commit_names)
        fresh = replace(ledger, commits=tuple(c for c in ledger.commits if c.name not in self.read))
        self.read = names
        item = CONDITION_COLUMNS.index("item_id")
        landed = {place: one for place, one in self.landed.items() if place[item] in self.only}
        found = landed_verdicts(run, fresh, judge, items=self._items) if self._items else {}
        for place, one in found.items():
            landed[place] = landed[place] + one if place in landed else one
        self.landed = landed
        self.ready = None if unknown or self._n_kept > MOST_KEPT else self._kept
        self._wanted, self._items, self._kept, self._n_kept = {}, set(), {}, 0
