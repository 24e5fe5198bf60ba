"""How a run stands: plain numbers the driver keeps, shows, and writes to progress.json."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum

from judgerel_ray.core import TokenCounts

SMOOTHING_S = 20.0  # a rate looks back about this long


class JudgeState(StrEnum):
    """What a judge is doing."""

    WAITING = "waiting"
    STARTING = "starting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


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
    requests_per_s: float | None = None
    tokens_per_s: float | None = None
    _marked: float | None = None

    @property
    def owed(self) -> int:
        """Requests that have not landed."""
        return self.asked - self.landed

    @property
    def seconds_left(self) -> float | None:
        """By the rate of late; None before there is one, and when no more is to come."""
        to_come = self.owed - self.failed
        if not self.requests_per_s or to_come <= 0:
            return None
        return to_come / self.requests_per_s

    def count(
        self, *, rows: int, outcomes: Mapping[str, int], tokens: TokenCounts, busy_s: float
    ) -> None:
        """Add a landed lease."""
        now = time.monotonic()
        self.landed += rows
        self.outcomes.update(outcomes)
        self.tokens = self.tokens + tokens
        self.busy_s += busy_s
        if not busy_s:
            return  # no engine worked for it: it says nothing about how fast they are
        since = now - self._marked if self._marked is not None else busy_s
        self._marked = now
        span = max(since, 1e-3)
        weight = 1.0 if self.requests_per_s is None else min(1.0, span / SMOOTHING_S)
        before = (self.requests_per_s or 0.0, self.tokens_per_s or 0.0)
        self.requests_per_s = (1 - weight) * before[0] + weight * rows / span
        self.tokens_per_s = (1 - weight) * before[1] + weight * tokens.generated / span

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
        return json.dumps(content, indent=2)
