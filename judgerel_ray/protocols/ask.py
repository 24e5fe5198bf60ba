"""``[[ask]]``: what is asked of the judges, about which items, how often; and what tables are.

Every table of the sweep file is frozen, closed to unknown keys, and strict about kinds. Here are
the keys that several protocols take: how often a condition is asked (a number, or as often as its
verdict needs), and temperatures as sweep files write them and as engines take them. Each protocol
has a table of its own, which adds what it alone takes and leaves out what has no meaning there.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    GetJsonSchemaHandler,
    Strict,
    Tag,
    field_validator,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from judgerel_ray.core import GoldIs
from judgerel_ray.core.traits import SHIPPED, Traits

NAME = r"^[A-Za-z0-9][A-Za-z0-9._:+-]*$"

# TOML tells 1, "1" and true apart, and so does the sweep: a quoted number is a mistake.
Whole = Annotated[int, Strict()]
Number = Annotated[float, Strict()]
StrictBool = Annotated[bool, Strict()]
Text = Annotated[str, Field(min_length=1)]
Name = Annotated[str, Field(pattern=NAME, max_length=120)]


class SweepTable(BaseModel):
    """A table of the sweep file: frozen, and closed to keys it does not know."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, protected_namespaces=(), allow_inf_nan=False
    )


MOST_REPLICATIONS = 100_000
NUMBER, TABLE = "a whole number", "a table"
NameOrNumber = TypeVar("NameOrNumber", str, float)


class AdaptiveReplications(SweepTable):
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


def _protocol_ask_value_kind(value: object) -> str:
    """Which of the two a value is meant to be."""
    return TABLE if isinstance(value, dict | AdaptiveReplications) else NUMBER


Replications = Annotated[
    Annotated[Whole, Field(ge=1, le=MOST_REPLICATIONS), Tag(NUMBER)]
    | Annotated[AdaptiveReplications, Tag(TABLE)],
    Discriminator(_protocol_ask_value_kind),
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


MOST_TOKENS = 1_000_000  # longer than any context; far above it a plan's own texts fill the memory
MOST_KEPT = 2**31 - 1  # what the column of the table holds

ModeName = Literal["sample", "exact", "columns", "paper", "single"]
MOST_EXACT_TOP_K = 56
ONCE_OF_ALL: Mapping[str, object] = {
    "option_labels": "letters",
    "option_probability": "whole",
    "thresholds": [],
    "criteria": [],
    "definitions": [],
    "scales": [],
    "candidates": 0,
    "roles": [],
    "answer_temperature": None,
    "cascade": None,
}
"""Keys of single protocols that every ask once had, with what said nothing: sweep files may say so
still, and identities of runs hold them."""


def checked_names(values: tuple[NameOrNumber, ...]) -> tuple[NameOrNumber, ...]:
    """Refuse repeats.

    Examples
    --------
    >>> checked_names(("default", "paraphrase"))
    ('default', 'paraphrase')
    """
    if len(set(values)) < len(values):
        raise ValueError(f"must all differ, got {list(values)}")
    return values


Temperature = Annotated[Number, AfterValidator(plain_temperature)]
UniqueNames = Annotated[tuple[Text, ...], AfterValidator(checked_names)]
TokenCount = Annotated[Whole, Field(ge=1, le=MOST_TOKENS)]


class Sample(SweepTable):
    """Which items are asked about: ``n`` of each stratum, drawn by ``seed``."""

    per: Literal["category", "benchmark"] | None = "category"
    """The stratum; leave out the key for one item per category."""
    n: Whole = Field(default=1, ge=1)
    """Items of each stratum."""
    seed: Whole = 1
    """The draw."""
    categories: Whole | None = Field(default=None, ge=1)
    """How many strata are drawn; default all."""


class RespondSettings(SweepTable):
    """How responders write the candidate answers of a best_of or correctness ask."""

    temperature: Temperature = 0.75
    """Sampling temperature."""
    top_k: Whole = Field(default=50, ge=0, le=MOST_KEPT)
    """Most probable tokens kept; 0 keeps all."""
    top_p: Number = Field(default=1.0, gt=0, le=1)
    """Probability mass kept."""
    max_tokens: Whole = Field(default=150, ge=1, le=MOST_TOKENS)
    """New tokens at most."""
    template: Text = "default"
    """Name of a shipped template of protocol respond, or a folder."""


class ExactSettings(SweepTable):
    """How far the replies of a judge are explored where none is sampled."""

    forced: StrictBool = False
    """Take the form up to its label for said: one pass where labels are one token each, and one
    more for each value of a scale, which is read to its end."""
    undecided: Number = Field(default=5e-3, gt=0, lt=1)
    """Probability that may stay open, at each temperature; the default is a tenth of the standard
    error of a share of 100 draws."""
    passes: Whole = Field(default=2_000, ge=1, le=1_000_000)
    """Looks at the next token, at most, of each prompt."""
    draws: Whole = Field(default=0, ge=0, le=10_000)
    """Replies sampled from what stays open, at each temperature."""


class AskTable(SweepTable):
    """One ``[[ask]]``: what is asked of the judges, about which items, how often."""

    leaves_out: ClassVar[Mapping[str, str]] = {}
    """Keys below that a protocol does not take, and why where that does not go without saying."""
    adapts: ClassVar[bool] = False
    """Whether it may be asked as often as a verdict needs."""
    kind: ClassVar[AskKind]
    """Its protocol."""

    protocol: str
    """What is asked: best_of, correctness, rating, confusion, think_twice or respond."""
    mode: ModeName = "sample"
    """How verdicts are had: sampled replies (sample) or probabilities of all replies (exact)."""
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
    temperatures: tuple[Temperature, ...] = (1.0,)
    """Sampling temperatures."""
    replications: Replications = 5
    """How often each condition is asked. Of best_of and correctness a table asks until the verdict
    is settled: { adaptive = 0.05, first = 5, max = 100, step = 5 }."""
    repeat_greedy: Whole = Field(default=0, ge=0, le=MOST_REPLICATIONS)
    """How often temperature 0 is asked, to see serving noise; 0 asks it once."""
    top_k: Whole = Field(default=50, ge=0, le=MOST_KEPT)
    """Most probable tokens kept; 0 keeps all."""
    top_p: Number = Field(default=1.0, gt=0, le=1)
    """Probability mass kept."""
    max_tokens: TokenCount = 150
    """New tokens at most."""
    verdict_logprobs: StrictBool = False
    """Read, where each reply writes its verdict, how probable every other one was."""
    early_stop: StrictBool = False
    """Stop a reply after its verdict, where the template asks the verdict first."""
    reader: Literal["first", "last", "unanimous", "schroeder2024"] = "first"
    """Which verdict counts when a reply holds several."""
    templates: UniqueNames = ("default",)
    """Names of shipped templates, or folders; several are crossed."""
    option_orders: Whole = Field(default=1, ge=1, le=1000)
    """Orders of the options, of think_twice of the models; each item's are drawn once and held."""
    order_seed: Whole = 0
    """The draw of the orders."""
    responders: UniqueNames = ()
    """Judges that write the candidate answers first, or recorded option ids to keep; of think_twice
    those that answer, default all."""
    respond: RespondSettings | None = None
    """How they write them."""
    judges: UniqueNames = ()
    """Judges asked; default every judge that is no responder, of think_twice every responder."""
    readable: Number = Field(default=0.2, ge=0, le=1)
    """A judge is stopped early where fewer of its replies than this share hold a verdict that can
    be read; 0 never stops one. No part of what is asked."""

    @classmethod
    def taken(cls) -> tuple[str, ...]:
        """Keys that its protocol takes."""
        return tuple(key for key in cls.model_fields if key not in cls.leaves_out)

    @classmethod
    def of(cls, ask: AskTable) -> Self:
        """An ask that is known to be of this protocol.

        Raises
        ------
        TypeError
            If it is of another.
        """
        if not isinstance(ask, cls):
            raise TypeError(f"expected {cls.__name__}, got {type(ask).__name__}")
        return ask

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Its schema without the keys that it leaves out."""
        spec = handler(core_schema)
        for key in cls.leaves_out:
            handler.resolve_ref_schema(spec)["properties"].pop(key, None)
        return spec

    @field_validator("temperatures")
    @classmethod
    def _each_once(cls, values: tuple[float, ...]) -> tuple[float, ...]:
        """Refuse none, and repeats."""
        if not values:
            raise ValueError("must name at least one, or be left out")
        if values.count(0) > 1:
            raise ValueError(
                f"must all differ, got {list(values)}, where {MACHINE_EPSILON:g} and less is 0"
            )
        return checked_names(values)

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        """Refuse keys that would have no effect, or a wrong one, beside the others."""
        if not self.templates:
            raise ValueError("templates must name at least one template")
        right = self.kind.traits.has_right_option
        if self.gold_is not in (None, "reference") and not right:
            raise ValueError(
                "gold_is needs a protocol whose verdicts are the items' options, got "
                f"{self.protocol}, to which gold is a reference answer"
            )
        if self.respond is not None and not self.responders:
            raise ValueError("respond says how responders write: name them in responders")
        if self.early_stop and self.reader != "first":
            raise ValueError(
                f'early_stop needs reader = "first", got {self.reader!r}: '
                "a reply cut after one verdict cannot show a later one"
            )
        if self.mode == "exact":
            self._explores()
        if self.repeat_greedy and 0.0 not in self.temperatures:
            raise ValueError(
                f"repeat_greedy repeats temperature 0, got temperatures {list(self.temperatures)}"
            )
        if self.responders and self.respond is None and "respond" in self.taken():
            object.__setattr__(self, "respond", RespondSettings())
        return self

    def _explores(self) -> None:
        """Refuse what has no effect, or no exact answer, where no reply is sampled."""
        if self.reader != "first":
            raise ValueError(
                f'mode exact needs reader = "first", got {self.reader!r}: only the first verdict '
                "is settled before a reply ends"
            )
        for key in ("replications", "repeat_greedy", "early_stop", "readable"):
            if key in self.model_fields_set and getattr(self, key):
                raise ValueError(f"mode exact samples nothing: leave out {key}")
        if self.top_p != 1:
            raise ValueError(f"mode exact needs top_p = 1, got {self.top_p}")
        if self.top_k > MOST_EXACT_TOP_K:
            raise ValueError(
                f"mode exact needs top_k = 0 or at most {MOST_EXACT_TOP_K}, got {self.top_k}: "
                "engines list no more tokens"
            )
        if self.exact is None:
            object.__setattr__(self, "exact", ExactSettings())

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


class AskKind:
    """What a protocol says of its asks: their table, its templates, and what their keys mean.

    An ask holds it as ``kind``: making the one object of a protocol names it to its table.
    """

    name: ClassVar[str]
    """What ``protocol`` is in a sweep file and in every table."""
    table: ClassVar[type[AskTable]]
    """Its ``[[ask]]``."""
    traits: ClassVar[Traits] = Traits()
    """What the code that counts its judgments must know; of one that ships, as `SHIPPED` has it."""
    texts: ClassVar[Mapping[str, tuple[str, ...]]]
    """Texts of a template, by question form and stage, with the placeholders each must have."""
    stage_texts: ClassVar[tuple[str, ...]] = ()
    """Those of `texts` that every template has, whatever its items."""
    forms: ClassVar[tuple[str, ...]] = ("best_response", "correctness")
    """Shipped forms of verdict that a template may declare."""
    declared_forms: ClassVar[bool] = False
    """Whether a template may declare a form of its own."""
    ties: ClassVar[bool] = False
    """Whether that form may have a tie."""
    template_keys: ClassVar[tuple[str, ...]] = ("form", "verdict")
    """Keys of ``template.toml``."""

    def __init_subclass__(cls) -> None:
        if (shipped := SHIPPED.get(vars(cls).get("name", ""))) is not None:
            cls.traits = shipped

    def __init__(self) -> None:
        self.table.kind = self

    @property
    def templates(self) -> Path:
        """Folder of its shipped templates, beside its code."""
        return Path(sys.modules[type(self).__module__].__file__ or "").parent / "templates"

    # What an ask says.

    def cascade(self, ask: AskTable) -> float | None:
        """Confidence at which a cascade of its responders stops; None where there is none."""
        return None

    def answer_temperature(self, ask: AskTable) -> float | None:
        """Temperature of the models' answers that judges compare."""
        return None

    def thresholds(self, ask: AskTable) -> tuple[float, ...]:
        """Thresholds of uncertainty labels that an ask states."""
        return ()

    def reads_last_token(self, ask: AskTable) -> bool:
        """Whether an option's probability is its last token's, given the others."""
        return False

    def wordings(self, ask: AskTable) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Criteria and scales that an ask names."""
        return (), ()

    def reads_probabilities(self, ask: AskTable) -> str | None:
        """What of an ask reads probabilities of verdicts in place of replies; None where none."""
        return "mode exact" if ask.mode == "exact" else None

    def prompt_words(self, ask: AskTable, templates: str) -> str:
        """What an ask varies in its prompts, in words."""
        return f"Prompts: {templates}."

    def probability_words(self, ask: AskTable, templates: str, heats: str) -> str:
        """As :meth:`prompt_words`, where probabilities are read."""
        return (
            f"{self.name} on {ask.benchmark}: the probability of every verdict at temperature "
            f"{heats}, nothing sampled. {self.subject_words(ask)}Prompts: {templates}."
        )

    def subject_words(self, ask: AskTable) -> str:
        """What is judged, in words; nothing where the protocol's name says it."""
        return ""

    def menu_sizes(self, ask: AskTable, options: Sequence[int], ties: int) -> set[int]:
        """How many verdicts may be given, by the sizes of items' options; empty where unknown."""
        return {len(ask.responders) + ties} if ask.responders else {n + ties for n in options if n}
