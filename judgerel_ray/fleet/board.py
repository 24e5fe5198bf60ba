"""How a run stands: plain numbers the driver keeps, shows, and writes to progress.json."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum

from judgerel_ray.core import TokenCounts
from judgerel_ray.store.records import seal

SMOOTHING_S = 20.0  # a rate looks back about this long


class JudgeState(StrEnum):
    """What a judge is doing."""

    WAITING = "waiting"
    STARTING = "starting"
    RUNNING = "running"
    DONE = "done"
    INCOMPLETE = "incomplete"
    FAILED = "failed"


ENDED = frozenset({JudgeState.DONE, JudgeState.INCOMPLETE, JudgeState.FAILED})


@dataclass(slots=True)
class JudgeBoard:
    """One judge's numbers: requests asked for in all, landed, failed, and how fast."""

    asked: int
    landed: int = 0
    landed_before: int = 0
    failed: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    tokens: TokenCounts = field(default_factory=TokenCounts)
    busy_s: float = 0.0
    state: JudgeState = JudgeState.WAITING
    actors: int = 0
    error: str | None = None
    waits_for: str | None = None
    """What the cluster has not, where that keeps its engines from coming up."""
    requests_per_s: float | None = None
    tokens_per_s: float | None = None
    _marked: float | None = None
    _seen: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Requests, new tokens and seconds behind the rates, the older the less they weigh."""

    @property
    def owed(self) -> int:
        """Requests that have not landed."""
        return self.asked - self.landed

    @property
    def seconds_left(self) -> float | None:
        """By the rate of late; None before there is one, and when no more is to come."""
        to_come = self.owed - self.failed
        if not self.requests_per_s or to_come <= 0 or self.state in ENDED:
            return None
        return to_come / self.requests_per_s

    def resume(self) -> None:
        """Say that engines get work after none had any: the time until then was no work."""
        self._marked = time.monotonic()

    def count(
        self, *, rows: int, outcomes: Mapping[str, int], tokens: TokenCounts, busy_s: float
    ) -> None:
        """Add a landed lease.

        Rates are what landed by the time that passed, weighed down by age: over the first seconds
        that is landed / elapsed, later a smoothing over about ``SMOOTHING_S``.
        """
        now = time.monotonic()
        self.landed += rows
        self.outcomes.update(outcomes)
        self.tokens = self.tokens + tokens
        self.busy_s += busy_s
        if not busy_s:
            return  # no engine worked for it: it says nothing about how fast they are
        span = now - self._marked if self._marked is not None else busy_s
        self._marked = now
        kept = math.exp(-span / SMOOTHING_S)
        landed, generated, seconds = (kept * part for part in self._seen)
        landed, generated = landed + rows, generated + tokens.generated
        seconds = max(seconds + span, 1e-3)
        self._seen = (landed, generated, seconds)
        self.requests_per_s, self.tokens_per_s = landed / seconds, generated / seconds

    def as_json(self) -> dict[str, object]:
        """Plain values, for progress.json."""
        return {
            "state": self.state.value,
            "actors": self.actors,
            "asked": self.asked,
            "landed": self.landed,
            "owed": self.owed,
            "failed": self.failed,
            "outcomes": dict(sorted(self.outcomes.items())),
            "tokens": {
                "prompt": self.tokens.prompt,
                "cached": self.tokens.cached,
                "generated": self.tokens.generated,
            },
            "busy_seconds": round(self.busy_s, 3),
            "requests_per_s": self.requests_per_s,
            "tokens_per_s": self.tokens_per_s,
            "seconds_left": self.seconds_left,
            "error": self.error,
        }


@dataclass(slots=True)
class Board:
    """The whole run's numbers, by judge in the order of the sweep."""

    sweep: str
    session: int
    judges: dict[str, JudgeBoard]
    state: str = "running"
    started_at: str = field(default_factory=lambda: datetime.now(UTC).isoformat())
    notices: list[str] = field(default_factory=list)
    """Lines to be shown once, such as that an engine died; who shows them takes them out."""

    def as_text(self) -> str:
        """The content of progress.json."""
        content = {
            "sweep": self.sweep,
            "session": self.session,
            "state": self.state,
            "started_at": self.started_at,
            "updated_at": datetime.now(UTC).isoformat(),
            "judges": {name: judge.as_json() for name, judge in self.judges.items()},
        }
        return seal(content).decode()
