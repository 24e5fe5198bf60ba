"""The protocol rating: how good a response is, by a criterion and on a scale.

Criteria, lengths of their definitions, scales and templates are crossed over every response. Most
templates put the response first, so that all of these share its prefix; ``lee2025`` keeps the order
of its paper [1]_, with criterion and scale first.

References
----------
.. [1] Lee, Hong and Thorne (2025), Evaluating the Consistency of LLM Evaluators, COLING 2025.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, model_validator

from judgerel_ray.core import Condition, Item, Menu, Message, Scale, SweepError
from judgerel_ray.protocols.ask import AskTable, TokenCount, UniqueNames, checked_names
from judgerel_ray.protocols.criteria import Criterion, DefinitionLength, listed
from judgerel_ray.protocols.prompts import (
    Template,
    fill,
    item_placeholders,
    menu_for,
    question_form,
)
from judgerel_ray.protocols.protocol import Protocol
from judgerel_ray.protocols.replies.mentions import number_text
from judgerel_ray.protocols.replies.scales import scale_labels
from judgerel_ray.protocols.waves.counts import origin_of, recorded_sampling
from judgerel_ray.protocols.waves.frame import (
    AskFrame,
    FrameKey,
    SettingsMapping,
    Voice,
    answer_names,
)
from judgerel_ray.protocols.waves.work import judging_condition


def render_rating(
    template: Template,
    item: Item,
    text: str,
    *,
    criterion: Criterion,
    definition: str,
    scale: Scale,
) -> tuple[Message, ...]:
    """Prompt that asks a judge to rate one response by one criterion on one scale.

    Examples
    --------
    >>> from judgerel_ray.protocols.criteria import load_criterion
    >>> from judgerel_ray.protocols.replies.scales import load_scale
    >>> from judgerel_ray.protocols import load_template
    >>> item = Item(item_id="1", benchmark="b", category="c", question="1 + 1?")
    >>> prompt = render_rating(
    ...     load_template("rating", "terse"), item, "2", criterion=load_criterion("factuality"),
    ...     definition="none", scale=load_scale("binary"))
    >>> print(prompt[0].content)
    Question:
    1 + 1?
    <BLANKLINE>
    Response:
    2
    <BLANKLINE>
    (End of the response.)
    <BLANKLINE>
    Rate it. Criterion: Is the response factually correct?
    Ratings, from least to most: "No", "Yes"
    Answer only in the form "Rating: [[rating]]".
    """
    where = {"template": template.name}
    if template.protocol != "rating":
        raise SweepError(
            f"template is of another protocol, expected rating, got {template.protocol}",
            where=where,
        )
    meanings = dict(criterion.definitions)
    if definition not in meanings:
        raise SweepError(
            f"definition must be one of {listed(meanings)}, got {definition!r}",
            where={"criterion": criterion.name},
        )
    asked = criterion_words(template, criterion)
    meaning = meanings[definition]
    if meaning:
        asked = fill(template.text("defined"), {"criterion": asked, "definition": meaning})
    values = {**item_placeholders(item), "response": text}
    values |= {"criterion": asked, "scale": _scale_in_template_words(template, scale)}
    return (Message(role="user", content=fill(template.text(question_form(item)), values)),)


def criterion_words(template: Template, criterion: Criterion) -> str:
    """Name a criterion as a template does: by its question or by its name.

    Examples
    --------
    >>> from judgerel_ray.protocols.criteria import load_criterion
    >>> from judgerel_ray.protocols import load_template
    >>> helpful = load_criterion("helpfulness")
    >>> [criterion_words(load_template("rating", name), helpful) for name in ("terse", "lee2025")]
    ['Is the response helpful?', 'Helpfulness']
    """
    if not template.names_criterion:
        return criterion.question
    words = " ".join(criterion.name.replace("_", " ").split())
    return words[:1].upper() + words[1:]


def _scale_in_template_words(template: Template, scale: Scale) -> str:
    """The scale in the template's words."""
    if scale.labels:
        labels = listed(f'"{label}"' for label in scale.labels)
        return fill(template.text("words"), {"labels": labels})
    ends = {"lowest": number_text(scale.lowest), "highest": number_text(scale.highest)}
    return fill(template.text("decimals" if scale.decimals else "numbers"), ends)


Lengths = Annotated[tuple[DefinitionLength, ...], AfterValidator(checked_names)]


class RatingAsk(AskTable):
    """An ``[[ask]]`` of rating: judges rate responses by criteria on scales."""

    leaves_out: ClassVar[Mapping[str, str]] = {"verdict_logprobs": "", "option_orders": ""}

    protocol: Literal["rating"]
    """How good a response is."""
    mode: Literal["sample", "exact"] = "sample"
    """How verdicts are had: sampled replies, or the probabilities of all replies."""
    max_tokens: TokenCount = 64
    """New tokens at most."""
    criteria: UniqueNames = ()
    """What responses are rated by: names of shipped criteria, or files; several are crossed."""
    definitions: Lengths = ("short",)
    """How much of each criterion's definition is put: none, short or long; crossed."""
    scales: UniqueNames = ("points5",)
    """What ratings are on: names of shipped scales, or files; crossed."""

    @model_validator(mode="after")
    def _can_be_rated(self) -> Self:
        """Refuse what a rating has no place for."""
        if not self.criteria:
            raise ValueError("protocol rating needs criteria: what responses are rated by")
        if self.reader == "schroeder2024":
            raise ValueError("reader schroeder2024 reads letters and words, no ratings")
        for key in ("definitions", "scales"):  # an empty list is one that is left out
            default = type(self).model_fields[key].default
            object.__setattr__(self, key, getattr(self, key) or default)
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Facet:
    """One way of asking for a rating: all that is crossed but the response and temperature."""

    criterion: Criterion
    definition: DefinitionLength
    scale: Scale
    template: Template

    @property
    def names(self) -> tuple[str, str, str, str]:
        """What its rows record."""
        return self.criterion.name, self.definition, self.scale.name, self.template.name

    @property
    def wording(self) -> tuple[object, ...]:
        """What its prompts say, whatever it is called."""
        meaning = self.criterion.definitions[self.definition]
        texts = tuple(sorted(self.template.texts.items()))
        asked = criterion_words(self.template, self.criterion)
        return asked, meaning, replace(self.scale, name=""), texts


def facets_of(frame: AskFrame) -> Iterator[Facet]:
    """Every way an ask of protocol rating puts a response.

    Examples
    --------
    >>> from judgerel_ray.config import ask_table
    >>> from judgerel_ray.protocols import load_criterion, load_scale, load_template
    >>> ask = ask_table(protocol="rating", benchmark="b", path="p", criteria=("helpfulness",),
    ...                definitions=("none", "long"))
    >>> frame = AskFrame(index=0, ask=ask, items=(), judges=(),
    ...                  templates=(load_template("rating", "default"),),
    ...                  criteria=(load_criterion("helpfulness"),),
    ...                  scales=(load_scale("points5"), load_scale("binary")))
    >>> [facet.names[:3] for facet in facets_of(frame)]
    [('helpfulness', 'none', 'points5'), ('helpfulness', 'none', 'binary'), \
('helpfulness', 'long', 'points5'), ('helpfulness', 'long', 'binary')]
    """
    definitions = RatingAsk.of(frame.ask).definitions
    crossed = product(frame.criteria, definitions, frame.scales, frame.templates)
    for criterion, definition, scale, template in crossed:
        yield Facet(criterion=criterion, definition=definition, scale=scale, template=template)


class Rating(Protocol):
    """Judges are shown one response; criteria, definitions, scales and templates are crossed."""

    name = "rating"
    table: ClassVar[type[AskTable]] = RatingAsk
    texts = {
        "question": ("question", "response", "criterion", "scale"),
        "context": ("context", "question", "response", "criterion", "scale"),
        "dialogue": ("question_1", "question_2", "response", "criterion", "scale"),
        "defined": ("criterion", "definition"),
        "numbers": ("lowest", "highest"),
        "decimals": ("lowest", "highest"),
        "words": ("labels",),
    }
    stage_texts = ("defined", "numbers", "decimals", "words")
    forms = ("rating", "score")
    declared_forms = True
    template_keys = ("form", "verdict", "criterion")

    def check_together(self, frames: Sequence[AskFrame]) -> None:
        """Refuse two scales of one name: rows name their scale, and could not tell which it is."""
        seen: dict[str, tuple[AskFrame, Scale]] = {}
        for frame in frames:
            for scale in frame.scales:
                first, known = seen.setdefault(scale.name, (frame, scale))
                if known != scale:
                    raise SweepError(
                        f"ask[{first.index}] and ask[{frame.index}] have different scales of one "
                        "name",
                        where={"scale": scale.name},
                        hint="another name for one of the two files",
                    )

    def wordings(self, ask: AskTable) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Criteria and scales."""
        asked_for = RatingAsk.of(ask)
        return asked_for.criteria, asked_for.scales

    def put(
        self, frame: AskFrame, voice: Voice, item: Item, answer: str
    ) -> Iterator[tuple[Condition, tuple[Message, ...]]]:
        """By every criterion, definition, scale and template."""
        for facet in facets_of(frame):
            template, scale, labels = facet.template, facet.scale, scale_labels(facet.scale)
            blank = replace(
                judging_condition(frame, voice, item, template),
                menu=menu_for(
                    template, labels, labels=labels, reader=frame.ask.reader, scale=scale
                ),
                criterion=facet.criterion.name,
                definition=facet.definition,
                scale=scale.name,
            )
            prompt = render_rating(
                template,
                item,
                answer,
                criterion=facet.criterion,
                definition=facet.definition,
                scale=scale,
            )
            yield blank, prompt

    def n_shown(self, frame: AskFrame, item: Item) -> int:
        """A template puts every response by every criterion, definition and scale."""
        n_facets = len(tuple(facets_of(frame))) // len(frame.templates)
        return len(answer_names(frame, item)) * n_facets

    def marks(self, frame: AskFrame, item: Item) -> Iterator[tuple[FrameKey, str, int, int]]:
        """With all that is crossed, in the words of a rating."""
        ask, origin = frame.ask, origin_of(frame, item)
        sampling = (ask.mode, ask.top_k, ask.top_p, ask.max_tokens)
        names = answer_names(frame, item)
        for name, facet, temperature in product(names, facets_of(frame), frame.temperatures):
            what = (ask.protocol, item.benchmark, item.item_id, name, *facet.wording, *origin)
            least, most = frame.replications(temperature), frame.most_replications(temperature)
            yield (*what, temperature, *sampling), facet.template.name, least, most

    def rows(self, frame: AskFrame, item: Item) -> Iterator[tuple[FrameKey, SettingsMapping]]:
        """With all that is crossed."""
        ask = frame.ask
        for facet, temperature in product(facets_of(frame), frame.temperatures):
            question, meaning, scale, texts = facet.wording
            sampling, more = recorded_sampling(ask, temperature)
            settings: dict[str, object] = {
                "max_tokens": ask.max_tokens,
                "reader": ask.reader,
                "respond": origin_of(frame, item),
                "criteria": (question, meaning),
                "scales": scale,
                "templates": (facet.template.declared or facet.template.form, texts),
                **more,
            }
            for name in answer_names(frame, item):
                mark = (ask.protocol, item.benchmark, item.item_id, name, *facet.names, *sampling)
                yield mark, settings

    def menus(
        self, frame: AskFrame, template: Template, where: Mapping[str, object]
    ) -> Iterator[tuple[Menu, Mapping[str, object]]]:
        """One a scale; of decimals the two ends."""
        labels = {
            scale: scale_labels(scale) or (number_text(scale.lowest), number_text(scale.highest))
            for scale in dict.fromkeys(facet.scale for facet in facets_of(frame))
        }
        reader = frame.ask.reader
        return (
            (
                menu_for(template, shown, labels=shown, reader=reader, scale=scale),
                {**where, "scale": scale.name},
            )
            for scale, shown in labels.items()
        )

    def menu_sizes(self, ask: AskTable, options: Sequence[int], ties: int) -> set[int]:
        """Unknown here: what may be rated is the scale's, whatever the responses are called."""
        return set()

    def check(self, frame: AskFrame) -> None:
        """Refuse criteria, definitions and scales that ask the same words under two names."""
        for kind, named in (("criteria", frame.criteria), ("scales", frame.scales)):
            names = [one.name for one in named]
            if len(set(names)) < len(names):
                raise SweepError(
                    f"{kind} must differ in name, got {', '.join(names)}",
                    where={"ask": frame.index},
                )
        seen: dict[tuple[object, ...], tuple[str, ...]] = {}
        for facet in facets_of(frame):
            first = seen.setdefault(facet.wording, facet.names)
            if first != facet.names:
                raise SweepError(
                    f"{' / '.join(first)} and {' / '.join(facet.names)} put the same words: they "
                    "would be asked once and counted twice",
                    where={"ask": frame.index},
                    hint="leave one out",
                )

    def prompt_words(self, ask: AskTable, templates: str) -> str:
        """What is rated, and the prompts."""
        return f"{self.subject_words(ask)}Prompts: {templates}."

    def subject_words(self, ask: AskTable) -> str:
        """What responses are rated by, and on."""
        asked_for = RatingAsk.of(ask)
        by, lengths, on = map(
            ", ".join, (asked_for.criteria, asked_for.definitions, asked_for.scales)
        )
        return f"Responses are rated by {by} (definition: {lengths}) on {on}. "


PROTOCOL = Rating()
