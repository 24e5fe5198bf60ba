"""``[[ask]]``: what is asked of the judges, about which items, how often.

How often a condition is asked: a number, or as often as its verdict needs.

Sampling temperatures as sweep files write them and as engines take them.

Thresholds of uncertainty labels, as sweep files state them.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Discriminator, Field, Tag, field_validator, model_validator

from judgerel_ray.core import GoldIs
from judgerel_ray.core.table import Flag, Name, Number, Table, Text, Whole
from judgerel_ray.protocols.combining import refuse_combinations

MOST_REPLICATIONS = 100_000
NUMBER, TABLE = "a whole number", "a table"


class AdaptiveReplications(Table):
    """Ask every question a first time alike, then go on where its verdict is not settled.

    Examples
    --------
    >>> AdaptiveReplications(adaptive=0.05).max
    100
    """

    adaptive: Number = Field(gt=0, lt=1)
    """Chance allowed, a question, of settling on another verdict than the judge's most frequent."""
    first: Whole = Field(default=5, ge=2, le=MOST_REPLICATIONS)
    """Replications of every question: the block that coefficients are computed from."""
    max: Whole = Field(default=100, ge=2, le=MOST_REPLICATIONS)
    """Replications that no question exceeds."""
    step: Whole = Field(default=5, ge=1, le=MOST_REPLICATIONS)
    """Replications of each later round."""
    width: Number | None = Field(default=None, gt=0, le=1)
    """Also ask on until no verdict's interval is wider."""

    @model_validator(mode="after")
    def _holds_the_first(self) -> Self:
        """Refuse a bound below the first block."""
        if self.max < self.first:
            raise ValueError(f"max must be at least first, {self.first}, got {self.max}")
        return self


def _kind(value: object) -> str:
    """Which of the two a value is meant to be."""
    return TABLE if isinstance(value, dict | AdaptiveReplications) else NUMBER


Replications = Annotated[
    Annotated[Whole, Field(ge=0, le=MOST_REPLICATIONS), Tag(NUMBER)]
    | Annotated[AdaptiveReplications, Tag(TABLE)],
    Discriminator(_kind),
]


MACHINE_EPSILON = 1e-6  # at or below it a temperature means "greedy", as the papers use the word
COLDEST_SAMPLED = 0.01  # vLLM clamps anything between 0 and this to it: random, not greedy


def plain_temperature(value: float) -> float:
    """Machine epsilon as 0; anything else an engine would clamp is an error.

    Raises
    ------
    ValueError
        If `value` is negative, above 2, or between machine epsilon and 0.01.

    Examples
    --------
    >>> plain_temperature(2.220446049250313e-16)
    0.0
    """
    if 0.0 <= value <= MACHINE_EPSILON:
        return 0.0
    if not COLDEST_SAMPLED <= value <= 2.0:
        raise ValueError(
            f"must be 0 or from {COLDEST_SAMPLED} to 2, got {value!r} "
            "(engines sample at 0.01 what is below it)"
        )
    return value


def checked_thresholds(values: tuple[float, ...]) -> tuple[float, ...]:
    """Refuse thresholds that label all or nothing, and repeats.

    Raises
    ------
    ValueError
        If a threshold is not between 0 and 1, or two are one.

    Examples
    --------
    >>> checked_thresholds((0.6, 0.8))
    (0.6, 0.8)
    """
    for value in values:
        if not 0 < value < 1:
            raise ValueError(f"must be above 0 and below 1, got {value:g}")
    if len(set(values)) < len(values):
        raise ValueError(f"must all differ, got {list(values)}")
    return values


Thresholds = Annotated[tuple[Number, ...], AfterValidator(checked_thresholds)]
"""Thresholds in (0, 1), each once."""


MOST_TOKENS = 1_000_000  # longer than any context; far above it a plan's own texts fill the memory
MOST_KEPT = 2**31 - 1  # what the column of the table holds

ProtocolName = Literal["respond", "best_of", "correctness", "confusion", "rating", "think_twice"]
DefinitionName = Literal["none", "short", "long"]
JudgeRole = Literal["participant", "evaluator_only"]
ModeName = Literal["sample", "exact", "columns", "paper", "single"]


# Temperature, replications and max_tokens, where a file leaves them out.
_DEFAULTS: dict[str, tuple[float, int, int]] = {
    "respond": (0.75, 1, 150),
    "best_of": (1.0, 5, 150),
    "correctness": (1.0, 5, 16),
    "confusion": (0.0, 1, 256),
    "rating": (1.0, 5, 64),
    "think_twice": (1.0, 5, 512),
}


class Sample(Table):
    """Which items are asked about: ``n`` of each stratum, drawn by ``seed``."""

    per: Literal["category", "benchmark"] | None = "category"
    """The stratum; leave out the key for one item per category."""
    n: Whole = Field(default=1, ge=1)
    """Items of each stratum."""
    seed: Whole = 1
    """The draw."""
    categories: Whole | None = Field(default=None, ge=1)
    """How many strata are drawn; default all."""


class RespondSettings(Table):
    """How responders write the candidate answers of a best_of or correctness ask."""

    temperature: Number = 0.75
    """Sampling temperature."""
    top_k: Whole = Field(default=50, ge=0, le=MOST_KEPT)
    """Most probable tokens kept; 0 keeps all."""
    top_p: Number = Field(default=1.0, gt=0, le=1)
    """Probability mass kept."""
    max_tokens: Whole = Field(default=150, ge=1, le=MOST_TOKENS)
    """New tokens at most."""
    template: Text = "default"
    """Name of a shipped template of protocol respond, or a folder."""

    @field_validator("temperature")
    @classmethod
    def _greedy_or_warm(cls, value: float) -> float:
        """Map machine epsilon to 0, refuse what an engine would silently change."""
        return plain_temperature(value)


class ExactSettings(Table):
    """How far the replies of a judge are explored where none is sampled."""

    forced: Flag = False
    """Take the form up to its label for said: one pass where labels are one token each, and one
    more for each value of a scale, which is read to its end."""
    undecided: Number = Field(default=5e-3, gt=0, lt=1)
    """Probability that may stay open, at each temperature; the default is a tenth of the standard
    error of a share of 100 draws."""
    passes: Whole = Field(default=2_000, ge=1, le=1_000_000)
    """Looks at the next token, at most, of each prompt."""
    draws: Whole = Field(default=0, ge=0, le=10_000)
    """Replies sampled from what stays open, at each temperature."""


class AskTable(Table):
    """One ``[[ask]]``: what is asked of the judges, about which items, how often."""

    protocol: ProtocolName
    """respond, best_of, correctness, confusion, rating or think_twice."""
    mode: ModeName = "sample"
    """How verdicts are had: sampled replies (sample) or probabilities of all replies (exact); of
    confusion columns (default), paper or single."""
    exact: ExactSettings | None = None
    """How far mode exact goes; beside sampling it waits for `judgerel exact`."""
    benchmark: Name
    """A loader's name, or the name to give to generic items."""
    path: Text
    """The benchmark's upstream files, or an items file."""
    answers: Text | None = None
    """Recorded answers that become options, where they do not lie beside the questions."""
    gold_is: GoldIs | None = None
    """What `gold` of a plain items file is: the right option's id, text, letter, number (from 1) or
    index (from 0), or a reference answer; by default the one reading that fits the whole file."""
    sample: Sample | None = None
    """Which items; default all."""
    temperatures: tuple[Number, ...] = ()
    """Sampling temperatures; default 1.0, 0.75 for responders and 0 for confusion."""
    replications: Replications = 0
    """How often each condition is asked; default 5, and 1 for responders and confusion. A table
    asks until the verdict is settled: { adaptive = 0.05, first = 5, max = 100, step = 5 }."""
    repeat_greedy: Whole = Field(default=0, ge=0, le=MOST_REPLICATIONS)
    """How often temperature 0 is asked, to see serving noise; 0 asks it once."""
    top_k: Whole = Field(default=50, ge=0, le=MOST_KEPT)
    """Most probable tokens kept; 0 keeps all."""
    top_p: Number = Field(default=1.0, gt=0, le=1)
    """Probability mass kept."""
    max_tokens: Whole = Field(default=0, ge=0, le=MOST_TOKENS)
    """New tokens at most; default 150, 16 for correctness, 256 for confusion, 64 for rating and
    512 for think_twice."""
    verdict_logprobs: Flag = False
    """Read, where each reply writes its verdict, how probable every other one was."""
    early_stop: Flag = False
    """Stop a reply after its verdict, where the template asks the verdict first."""
    reader: Literal["first", "last", "unanimous", "schroeder2024"] = "first"
    """Which verdict counts when a reply holds several."""
    templates: tuple[Text, ...] = ("default",)
    """Names of shipped templates, or folders; several are crossed."""
    option_orders: Whole = Field(default=1, ge=1, le=1000)
    """Orders of the options, of think_twice of the models; each item's are drawn once and held."""
    order_seed: Whole = 0
    """The draw of the orders."""
    option_labels: Literal["letters", "ids"] = "letters"
    """What confusion calls the options: A, B, ... or their own ids."""
    option_probability: Literal["whole", "last_token"] = "whole"
    """What confusion takes for an option's: all its tokens', or its last's given the others."""
    thresholds: Thresholds = ()
    """Of the uncertainty labels of confusion, reported beside the ones that are searched."""
    criteria: tuple[Text, ...] = ()
    """What responses are rated by: names of shipped criteria, or files; several are crossed."""
    definitions: tuple[DefinitionName, ...] = ()
    """How much of each criterion's definition is put: none, short (default) or long; crossed."""
    scales: tuple[Text, ...] = ()
    """What ratings are on: names of shipped scales (default points5), or files; crossed."""
    candidates: Whole = Field(default=0, ge=0, le=100)
    """How many options a model selects, or answers it writes, before it thinks twice; default 2."""
    roles: tuple[JudgeRole, ...] = ()
    """What judges of think_twice compare: answers with their own among them (participant), or the
    others' (evaluator_only); default both."""
    answer_temperature: Number | None = None
    """Temperature of the answers that judges of think_twice compare; default the first."""
    cascade: Number | None = Field(default=None, gt=0, le=1)
    """Nobody judges: a question goes on to the next of `responders`, in the order named, only where
    the confidence of the one before falls short of this; after the last, to a person."""
    responders: tuple[Text, ...] = ()
    """Judges that write the candidate answers first, or recorded option ids to keep; of think_twice
    those that answer, default all."""
    respond: RespondSettings | None = None
    """How they write them."""
    judges: tuple[Text, ...] = ()
    """Judges asked; default every judge that is no responder, of think_twice every responder."""

    @field_validator("temperatures")
    @classmethod
    def _each_plain(cls, values: tuple[float, ...]) -> tuple[float, ...]:
        """Map machine epsilon to 0 and refuse repeats."""
        if not values:
            raise ValueError("must name at least one, or be left out")
        plain = tuple(plain_temperature(value) for value in values)
        if len(set(plain)) < len(plain):
            raise ValueError(f"must all differ, got {list(values)}")
        return plain

    @field_validator("answer_temperature")
    @classmethod
    def _plain(cls, value: float | None) -> float | None:
        """Map machine epsilon to 0."""
        return None if value is None else plain_temperature(value)

    @field_validator("replications", "max_tokens", "candidates")
    @classmethod
    def _asked_for_some(cls, value: int | AdaptiveReplications) -> int | AdaptiveReplications:
        """Refuse a stated 0: only a key that is left out means the default."""
        if isinstance(value, int) and value < 1:
            raise ValueError(f"must be at least 1, got {value}")
        return value

    @field_validator(
        "templates", "responders", "judges", "criteria", "definitions", "scales", "roles"
    )
    @classmethod
    def _all_differ(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        """Refuse repeats."""
        if len(set(values)) < len(values):
            raise ValueError(f"must all differ, got {list(values)}")
        return values

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        """Refuse keys that would have no effect, or a wrong one, beside the others."""
        refuse_combinations(self)
        return self

    @property
    def adaptive(self) -> AdaptiveReplications | None:
        """The rule by which questions are asked on; None where all are asked alike."""
        return self.replications if isinstance(self.replications, AdaptiveReplications) else None

    @property
    def first_replications(self) -> int:
        """Replications that every sampled condition gets."""
        return self.replications if isinstance(self.replications, int) else self.replications.first

    @property
    def most_replications(self) -> int:
        """Replications that no sampled condition exceeds."""
        return self.replications if isinstance(self.replications, int) else self.replications.max

    @model_validator(mode="after")
    def _defaults_by_protocol(self) -> Self:
        """Fill the defaults that differ by protocol."""
        temperature, replications, max_tokens = _DEFAULTS[self.protocol]
        defaults: dict[str, object] = {
            "temperatures": self.temperatures or (temperature,),
            "replications": self.replications or replications,
            "max_tokens": self.max_tokens or max_tokens,
        }
        if self.protocol == "rating":
            defaults["definitions"] = self.definitions or ("short",)
            defaults["scales"] = self.scales or ("points5",)
        if self.protocol == "think_twice":
            defaults["candidates"] = self.candidates or 2
            if self.cascade is None:
                defaults["roles"] = self.roles or ("participant", "evaluator_only")
            first = (self.temperatures or (temperature,))[0]
            given = self.answer_temperature
            defaults["answer_temperature"] = first if given is None else given
        if self.mode == "exact" and self.exact is None:
            defaults["exact"] = ExactSettings()
        if self.protocol == "confusion" and self.mode == "sample":
            defaults["mode"] = "columns"
        if self.responders and self.respond is None and self.protocol != "think_twice":
            defaults["respond"] = RespondSettings()
        for key, value in defaults.items():
            object.__setattr__(self, key, value)
        if self.repeat_greedy and 0.0 not in self.temperatures:
            raise ValueError(
                f"repeat_greedy repeats temperature 0, got temperatures {list(self.temperatures)}"
            )
        return self
