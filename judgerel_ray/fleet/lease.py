"""What goes to an actor and what comes back: leases and receipts. Texts never travel here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from judgerel_ray.core import Ask, SweepError, TokenCounts


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """Work given to one actor: asks of one judge, an item's asks side by side.

    ``lease`` numbers it within its session. ``attempt`` is 1 plus how often, in this session, what
    it holds was asked before without landing: requests that failed, and engines or nodes lost while
    its item was before them (the most of any of its asks). Asks given back unasked do not count,
    and another session counts from 1 again. It is the lease's fence: once the driver has closed an
    attempt, nothing that attempt writes is ever read.
    """

    lease: int
    attempt: int
    judge: str
    asks: tuple[Ask, ...]

    @property
    def n_requests(self) -> int:
        """Replications in all."""
        return sum(ask.n for ask in self.asks)


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedAsk:
    """An ask that did not land because its request failed; it stays owed."""

    ask: Ask
    kind: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What an actor did with a lease attempt.

    ``landed`` is False where the driver had closed the attempt before its commit; nothing of it
    counts then. ``withdrawn`` are asks given back unasked after a recall. ``mistake`` is why
    nothing more can be asked of the judge: the caller must change something.
    """

    lease: int
    attempt: int
    landed: bool
    rows: int
    outcomes: Mapping[str, int] = field(default_factory=dict)
    failed: tuple[FailedAsk, ...] = ()
    withdrawn: tuple[Ask, ...] = ()
    tokens: TokenCounts = field(default_factory=TokenCounts)
    seconds: float = 0.0
    mistake: SweepError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ActorFacts:
    """Where an actor runs and what it holds, told once when its engine is up."""

    node: str
    pid: int
    accelerators: tuple[str, ...]
    visible_devices: str | None
    max_num_seqs: int | None
    engine: Mapping[str, object]
    log: str | None = None
    """Where its engine writes what goes wrong, as ``node:path``."""


def ask_units(ask: Ask) -> int:
    """Work of an ask in token-equivalents: new tokens at most, and its prompt once.

    A prompt is counted by characters / 4; it only has to be proportional, not exact.

    Examples
    --------
    >>> from judgerel_ray.core import Condition, Message
    >>> condition = Condition(
    ...     condition_key="k", seed_base=1, judge="j", judge_fingerprint="f", benchmark="b",
    ...     item_id="q", protocol="best_of", stage="judge", role="judge",
    ...     prompt=(Message(role="user", content="x" * 40),), template="default",
    ...     temperature=1.0, top_k=50, top_p=1.0, max_tokens=8)
    >>> ask_units(Ask(condition=condition, first=0, n=5))
    50
    """
    prompt = sum(len(message.content) for message in ask.condition.prompt) // 4
    return ask.n * ask.condition.max_tokens + prompt


def item_of(ask: Ask) -> tuple[str, str]:
    """Name the item an ask is about: benchmark and id."""
    return ask.condition.benchmark, ask.condition.item_id


def split_ask(ask: Ask, size: int) -> tuple[Ask, ...]:
    """Cut an ask into pieces of at most `size` replications; keys and seeds do not change.

    Examples
    --------
    >>> from judgerel_ray.core import Condition
    >>> condition = Condition(
    ...     condition_key="k", seed_base=1, judge="j", judge_fingerprint="f", prompt=(),
    ...     benchmark="b", item_id="q", protocol="best_of", stage="judge", role="judge",
    ...     template="default", temperature=1.0, top_k=50, top_p=1.0, max_tokens=8)
    >>> [(piece.first, piece.n) for piece in split_ask(Ask(condition=condition, first=3, n=5), 2)]
    [(3, 2), (5, 2), (7, 1)]
    """
    return tuple(
        Ask(condition=ask.condition, first=first, n=min(size, ask.first + ask.n - first))
        for first in range(ask.first, ask.first + ask.n, size)
    )
