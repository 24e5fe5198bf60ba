"""Types that the whole package shares: item, option, message, condition, ask, completion.

Everything here is frozen data without behaviour beyond what its own fields say.
Nothing here knows files, frames, engines or Ray.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal


class Outcome(StrEnum):
    """Why a judgment has, or has not, a verdict.

    >>> Outcome("scored") is Outcome.SCORED
    True
    """

    SCORED = "scored"
    """A verdict on the menu was read."""
    UNPARSED = "unparsed"
    """A whole reply, and no verdict in the declared form."""
    CONFLICTING = "conflicting"
    """Several different verdicts, under a policy that does not choose among them."""
    OFF_MENU = "off_menu"
    """A verdict in the declared form that was not on offer."""
    REFUSED = "refused"
    """The judge declined to judge."""
    TRUNCATED = "truncated"
    """The reply was cut off before any verdict."""
    FAILED = "failed"
    """The request can never succeed (prompt too long, refused by validation); never a category."""


DECLINED = "content_filter"
"""Finish reason of a reply that was declined outside its text, by the provider or the model."""
CUT_IN_THOUGHT = "length: in its thought"
"""Finish reason of a reply that reached its limit before its thought ended."""


OUTCOMES: tuple[str, ...] = tuple(outcome.value for outcome in Outcome)


Role = Literal["judge", "responder", "assessor", "scorer", "participant", "evaluator_only"]
JUDGE_ROLES: tuple[Role, ...] = ("judge", "participant", "evaluator_only")
"""Roles in which a reply is a verdict."""
CHOSEN = "choose"
"""The stage in which a model that thinks twice gives a verdict of its own, as a responder."""
ReaderPolicy = Literal["first", "last", "unanimous", "schroeder2024"]
GoldIs = Literal["id", "text", "letter", "number", "index", "reference"]
"""What `gold` of a plain items file is: how it names an option (number from 1, index from 0), or a
reference answer that is no option."""
ProviderName = Literal[
    "anthropic", "azure", "groq", "ollama", "openai", "openrouter", "together", "vllm"
]
"""Providers whose address and key :data:`judgerel_ray.engines.openai.requests.PROVIDERS` knows."""
ScaleLevel = Literal["nominal", "ordinal", "interval"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One answer on the menu of an item.

    ``option_id`` names it whatever the order shown (often the model that wrote it);
    ``text`` is what the judge reads.
    """

    option_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanRating:
    """One rating a person gave: a number, a word, or both.

    ``responder`` is the option that was rated, by its id. Without it the rating is of the item as
    a whole, and so of its response where it has only one.
    """

    rater: str
    criterion: str | None = None
    score: float | None = None
    label: str | None = None
    responder: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing judged: a question, what surrounds it, and the options to choose from.

    ``turns`` holds every user turn in order for a dialogue and is empty otherwise;
    for a dialogue ``question`` is its first turn. ``gold`` is the reference answer as text, or
    the option id that is right; None where the benchmark has none.
    """

    item_id: str
    benchmark: str
    category: str
    question: str
    context: str | None = None
    turns: tuple[str, ...] = ()
    options: tuple[Option, ...] = ()
    gold: str | None = None
    ratings: tuple[HumanRating, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a conversation, in the roles every chat template knows."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The values a rating may take, and which statistics they allow.

    Either ``labels``, words from lowest to highest, or numbers from ``lowest`` to ``highest``:
    whole ones, or any in between where ``decimals``. The score of a word is its place from 0,
    so the lowest has score 0 and the highest ``len(labels) - 1``.
    """

    name: str
    level: ScaleLevel
    labels: tuple[str, ...] = ()
    lowest: float = 0
    highest: float = 0
    decimals: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FormSpec:
    """A form of verdict that a template declares for itself.

    The word for the verdict is what group ``verdict`` of ``pattern`` captures, or what stands at
    ``path`` in a JSON object; one of the two is set. ``example`` is a whole reply with
    ``{verdict}`` in the word's place. ``naming`` says what options are called: ``letters``,
    ``numbers`` from 1, ``texts``, or ``words``, then ``words[i]`` are those of the option shown at
    place i, the first of them the one that is shown. ``ties`` and ``refusals`` are the words for
    these.
    """

    example: str
    pattern: str = ""
    path: tuple[str | int, ...] = ()
    naming: Literal["letters", "numbers", "texts", "words"] = "letters"
    words: tuple[tuple[str, ...], ...] = ()
    ties: tuple[str, ...] = ()
    refusals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Menu:
    """What a reply may answer, and how its verdict is read.

    ``labels`` are in the order shown and ``option_ids[i]`` is what ``labels[i]`` stands for.
    ``form`` names the declared form of the verdict (see ``protocols.FORMS``);
    ``reader`` is the reading policy. ``scale`` is set where a rating is asked for. ``most`` is how
    many labels a reply may name where it selects several. Where a template has ``declared`` a form
    form, ``words[i]`` are the words that name ``labels[i]``; a tie is the last label.
    """

    labels: tuple[str, ...]
    option_ids: tuple[str, ...]
    form: str
    reader: ReaderPolicy = "first"
    scale: Scale | None = None
    most: int = 1
    declared: FormSpec | None = None
    words: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring:
    """Probabilities read after a prompt, in place of a reply.

    ``start`` is what the judge's turn is taken to have said already. By ``kind``:

    - ``options``: each of ``continuations``, from one pass over the prompt;
    - ``inserted``: the one continuation, put into the prompt and read as part of it;
    - ``next``: the ``top`` most probable next tokens;
    - ``verdict``: beside sampled replies, the most probable next tokens at each one's verdict;
    - ``tree``: the distribution of the verdict at each of ``temperatures``, from the most probable
      next tokens of the prompt and of what may follow it, until no more than ``undecided`` is open
      or ``passes`` were made. With a ``start`` the verdict is the label right behind it.
      ``draws`` replies are sampled from what stayed open, at each temperature.

    Probabilities are the model's own, at temperature 1, whatever the condition's temperature; those
    of a tree are tempered.
    """

    kind: Literal["options", "inserted", "next", "verdict", "tree"]
    start: str = ""
    continuations: tuple[str, ...] = ()
    top: int = 0
    temperatures: tuple[float, ...] = ()
    undecided: float = 0.0
    passes: int = 0
    draws: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenLogprob:
    """Log-probability (natural log) of one token, given the prompt and the tokens before it.

    ``continuation`` is the place among the continuations scored, None where none was asked for.
    ``rank`` counts from 1; None where the engine does not tell.
    """

    token: str
    logprob: float
    rank: int | None = None
    continuation: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """What is held fixed while a judge is asked again: everything but the replication.

    ``condition_key`` is the hash of what is asked and ``seed_base`` the seed of replication 0;
    both come from :mod:`judgerel_ray.core.key`. ``menu`` is None where no verdict is asked
    (a responder's answer). ``parents`` are the keys of the landed answers that the prompt holds.
    ``scoring`` is set where probabilities are read in place of a reply, and ``argued`` is the id of
    the option an assessment argues for. Conditions of one judge and item share a prompt prefix and
    should run on one engine.
    """

    condition_key: str
    seed_base: int
    judge: str
    judge_fingerprint: str
    benchmark: str
    item_id: str
    protocol: str
    stage: str
    role: Role
    prompt: tuple[Message, ...]
    template: str
    temperature: float
    top_k: int
    top_p: float
    max_tokens: int
    stop: tuple[str, ...] = ()
    menu: Menu | None = None
    responder: str | None = None
    criterion: str | None = None
    definition: str | None = None
    scale: str | None = None
    option_order: int | None = None
    block: int = 0
    parents: tuple[str, ...] = ()
    scoring: Scoring | None = None
    argued: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """``n`` consecutive replications of one condition, from ``first`` on."""

    condition: Condition
    first: int
    n: int

    @property
    def replications(self) -> range:
        """The replication indices asked."""
        return range(self.first, self.first + self.n)


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """What came back for one replication: text and counts, never a verdict.

    ``thought`` is what the model thought before its reply where a server says that apart; else it
    is part of the text.

    ``finish_reason`` is ``stop`` or ``length`` for a whole reply, ``content_filter`` for one that
    the provider or the model declined outside its text, or ``refused: <why>`` for a request that
    can never succeed (its text is then None). Token counts are None where the engine cannot say
    them for this one reply. ``logprobs`` hold
    what a condition with ``scoring`` asked for; its text is empty.
    """

    key: str
    replication: int
    seed: int | None
    text: str | None
    finish_reason: str
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    completion_tokens: int | None
    logprobs: tuple[TokenLogprob, ...] = ()
    thought: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenCounts:
    """Tokens an engine has computed since it started, from the engine's own counters.

    ``prompt`` counts every prompt token asked for, ``cached`` those of them served by the
    prefix cache, ``generated`` the new ones.
    """

    prompt: int = 0
    cached: int = 0
    generated: int = 0

    def __add__(self, other: TokenCounts) -> TokenCounts:
        return TokenCounts(
            prompt=self.prompt + other.prompt,
            cached=self.cached + other.cached,
            generated=self.generated + other.generated,
        )

    def __sub__(self, other: TokenCounts) -> TokenCounts:
        return TokenCounts(
            prompt=self.prompt - other.prompt,
            cached=self.cached - other.cached,
            generated=self.generated - other.generated,
        )
