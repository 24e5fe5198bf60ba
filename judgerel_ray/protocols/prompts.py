"""Prompts: what the texts of a template make of an item.

Templates are read from their folders in :mod:`judgerel_ray.protocols.templates`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from string import ascii_uppercase
from typing import Literal

from judgerel_ray.core import (
    FormSpec,
    Item,
    Menu,
    Message,
    Option,
    ReaderPolicy,
    Scale,
    SweepError,
)
from judgerel_ray.protocols.criteria import listed
from judgerel_ray.protocols.replies.declared_forms import TIE

PLACEHOLDER = re.compile(r"\{\{([A-Za-z_]\w*)\}\}|\{([A-Za-z_]\w*)\}")
"""``{name}`` is filled (group 2); ``{{name}}`` stands for the text ``{name}`` (group 1)."""
RECORDED = ("{prediction}", "{response}")
"""Texts that ask what the answer holds and nothing else: prompts recorded in a log, whole."""


@dataclass(frozen=True, slots=True)
class Template:
    """The wording of one protocol.

    ``form`` names the declared form of the verdict (None where none is asked);
    ``verdict_first`` says that the verdict comes before any explanation, so a reply may be cut
    after it. ``texts`` maps a question form to its text and ``sha`` hashes all of the folder.
    ``declared`` is the form that a folder declares for itself, ``form`` is then ``own``.
    ``names_criterion`` says that a rating's criterion is given by its name and not its question.
    """

    name: str
    protocol: str
    form: str | None
    verdict_first: bool
    texts: Mapping[str, str]
    sha: str
    names_criterion: bool = False
    declared: FormSpec | None = None

    def text(self, form: str) -> str:
        """Text for a question form.

        Raises
        ------
        SweepError
            If the folder has no text for it.

        Examples
        --------
        >>> from judgerel_ray.protocols import load_template
        >>> load_template("respond", "default").text("context").splitlines()[-1]
        'Answer:'
        """
        if form not in self.texts:
            raise SweepError(
                f"template has no text for items of form {form!r}, "
                f"expected {form}.txt, got {listed(f'{name}.txt' for name in self.texts)}",
                where={"template": self.name, "protocol": self.protocol},
                hint=f"add {form}.txt to the folder, or leave such items out",
            )
        return self.texts[form]


QuestionForm = Literal["question", "context", "dialogue"]


def fill(text: str, values: Mapping[str, str]) -> str:
    """Put values where their placeholders stand, in one pass.

    ``{name}`` becomes the value; ``{{name}}`` becomes ``{name}``. Any other brace is text, and
    values are never scanned again, so a response may hold JSON or a placeholder of its own.

    Raises
    ------
    SweepError
        If a placeholder has no value.

    Examples
    --------
    >>> fill('{a} and {{a}} in {"json": 1}', {"a": "{b}"})
    '{b} and {a} in {"json": 1}'
    """

    def replaced(name: str) -> str:
        if name not in values:
            known = ", ".join(f"{{{known}}}" for known in values)
            raise SweepError(f"unknown placeholder {{{name}}}, known here: {known}")
        return values[name]

    return PLACEHOLDER.sub(
        lambda match: f"{{{match[1]}}}" if match[1] else replaced(match[2]), text
    )


def question_form(item: Item) -> QuestionForm:
    """Which of a template's texts fits an item.

    Examples
    --------
    >>> question_form(Item(item_id="1", benchmark="b", category="c", question="?", context="x"))
    'context'
    """
    if item.turns:
        return "dialogue"
    return "question" if item.context is None else "context"


def labels_for(n: int) -> tuple[str, ...]:
    """Labels of n options in the order shown: A to Z, then AA, AB and so on.

    Raises
    ------
    ValueError
        If `n` is negative.

    Examples
    --------
    >>> labels_for(3), labels_for(28)[-2:]
    (('A', 'B', 'C'), ('AA', 'AB'))
    """
    if n < 0:
        raise ValueError(f"labels_for: n must be at least 0, got {n}")
    return tuple(_option_label_in_prompt(place) for place in range(n))


def render_respond(
    template: Template, item: Item, *, turn: int, first_response: str | None = None
) -> tuple[Message, ...]:
    """Prompt that asks a responder for an answer.

    Parameters
    ----------
    template : Template
        Of protocol ``respond``.
    item : Item
        What is asked; a dialogue has two turns.
    turn : int
        1, or 2 for the second turn of a dialogue.
    first_response : str, optional
        The responder's answer to turn 1; needed for turn 2.

    Raises
    ------
    SweepError
        If the item has no such turn or the template no text for it.
    ValueError
        If `turn` and `first_response` do not go together.

    Examples
    --------
    >>> from judgerel_ray.protocols import load_template
    >>> item = Item(item_id="1", benchmark="b", category="c", question="1 + 1?")
    >>> render_respond(load_template("respond", "default"), item, turn=1)[0].content[-6:]
    '1 + 1?'
    """
    if turn not in (1, 2) or (turn == 2) != (first_response is not None):
        raise ValueError("render_respond: turn must be 1, or 2 together with a first_response")
    form = question_form(item)
    values = item_placeholders(item)
    if turn == 2:
        if form != "dialogue":
            raise SweepError("item has no second turn", where={"item": item.item_id})
        values["response_1"] = first_response or ""
    elif form == "dialogue":
        form, values = "question", {"question": item.turns[0]}
    return _filled_prompt_message(template, "respond", form, values)


def render_best_of(
    template: Template, item: Item, options: Sequence[Option]
) -> tuple[Message, ...]:
    """Prompt that asks a judge for the best of several options.

    Parameters
    ----------
    template : Template
        Of protocol ``best_of``, or of one that fills in the same.
    item : Item
        The question; for a dialogue the options answer its second turn.
    options : sequence of Option
        In the order shown; ``labels_for(len(options))`` are their labels, and their names unless
        the template declares others.

    Raises
    ------
    SweepError
        If there are fewer than two options or the template has no text for the item.

    Examples
    --------
    >>> from judgerel_ray.protocols import load_template
    >>> item = Item(item_id="1", benchmark="b", category="c", question="1 + 1?")
    >>> options = [Option(option_id="x", text="2"), Option(option_id="y", text="3")]
    >>> print(render_best_of(load_template("best_of", "default"), item, options)[0].content[-17:])
    - [A]: 2
    - [B]: 3
    """
    if len(options) < 2:
        raise SweepError(
            f"best_of needs at least 2 options, got {len(options)}", where={"item": item.item_id}
        )
    names = shown_names(template, len(options))
    lines = "\n".join(
        f"- [{name}]: {option.text}" if name else f"- {option.text}"
        for name, option in zip(names, options, strict=True)
    )
    values = {**item_placeholders(item), "responses": lines}
    return _filled_prompt_message(template, "best_of", question_form(item), values)


def shown_names(template: Template, n: int) -> tuple[str | None, ...]:
    """Say what a template calls n options in the order shown; None where each goes by its text.

    Examples
    --------
    >>> from judgerel_ray.protocols import load_template
    >>> shown_names(load_template("best_of", "default"), 2)
    ('A', 'B')
    """
    declared = template.declared
    if declared is None or declared.naming == "letters":
        return labels_for(n)
    if declared.naming == "numbers":
        return tuple(str(place) for place in range(1, n + 1))
    if declared.naming == "texts":
        return (None,) * n
    if len(declared.words) < n:
        raise SweepError(
            f"template {template.name} declares words for {len(declared.words)} options, "
            f"an item has {n}",
            hint='a word for each in [form], or options = "letters" or "numbers"',
        )
    return tuple(words[0] for words in declared.words[:n])


def menu_for(
    template: Template,
    option_ids: Sequence[str],
    *,
    labels: Sequence[str],
    reader: ReaderPolicy,
    texts: Sequence[str] = (),
    scale: Scale | None = None,
) -> Menu:
    """Say what a reply to a template may answer.

    Parameters
    ----------
    template : Template
        Whose form is read.
    option_ids : sequence of str
        What may be answered, in the order shown.
    labels : sequence of str
        Their labels.
    reader : str
        The reading policy.
    texts : sequence of str
        Texts of the options, where the template's own form goes by them.
    scale : Scale, optional
        Of a rating.

    Returns
    -------
    Menu
        With a tie as its last label, where the template declares one.

    Raises
    ------
    SweepError
        If the template declares words for fewer options.

    Examples
    --------
    >>> from judgerel_ray.protocols import load_template
    >>> template = load_template("best_of", "default")
    >>> menu_for(template, ("x", "y"), labels=("A", "B"), reader="last").form
    'best_response'
    """
    declared = template.declared
    names, ids = tuple(labels), tuple(option_ids)
    words: tuple[tuple[str, ...], ...] = ()
    if declared is not None and scale is None:
        words = _option_words_in_prompt(template, declared, names, texts)
        if declared.ties:
            names, ids, words = (*names, TIE), (*ids, TIE), (*words, declared.ties)
    return Menu(
        labels=names, option_ids=ids, form=template.form or "", reader=reader, scale=scale,
        declared=declared, words=words,
    )  # fmt: skip


def _option_words_in_prompt(
    template: Template, declared: FormSpec, labels: tuple[str, ...], texts: Sequence[str]
) -> tuple[tuple[str, ...], ...]:
    """The words that name each option, in the order shown."""
    if declared.naming == "letters":
        return tuple((label,) for label in labels)
    if declared.naming == "texts":
        return tuple((" ".join(text.split()),) for text in texts)
    shown = shown_names(template, len(labels))
    return declared.words[: len(labels)] or tuple((str(name),) for name in shown)


def render_correctness(template: Template, item: Item, response: str) -> tuple[Message, ...]:
    """Prompt that asks a judge whether a response agrees with the item's gold answer.

    Parameters
    ----------
    template : Template
        Of protocol ``correctness``, or of one that fills in the same.
    item : Item
        With ``gold``, the ground truth as text.
    response : str
        The prediction that is judged.

    Raises
    ------
    SweepError
        If the item has no gold answer or the template no text for it.

    Examples
    --------
    >>> from judgerel_ray.protocols import load_template
    >>> item = Item(item_id="1", benchmark="b", category="c", question="1 + 1?", gold="2")
    >>> template = load_template("correctness", "default")
    >>> render_correctness(template, item, "two")[0].content.splitlines()[-3:]
    ['Ground truth: 2', 'Prediction: two', 'Verdict:']
    """
    if item.gold is None:
        raise SweepError("correctness needs a gold answer", where={"item": item.item_id})
    values = {**item_placeholders(item), "ground_truth": item.gold, "prediction": response}
    return _filled_prompt_message(template, "correctness", question_form(item), values)


def as_plain(prompt: Sequence[Message]) -> str:
    """Prompt as plain text, for a model asked without its chat template.

    Examples
    --------
    >>> as_plain((Message(role="user", content="Which?"),))
    'Which?'
    """
    return "\n\n".join(message.content for message in prompt)


def _option_label_in_prompt(place: int) -> str:
    """Label of the option at a place counted from 0, as columns of a spreadsheet are named."""
    rest, last = divmod(place, len(ascii_uppercase))
    return (_option_label_in_prompt(rest - 1) if rest else "") + ascii_uppercase[last]


def item_placeholders(item: Item) -> dict[str, str]:
    """What an item fills in by itself, by placeholder.

    Raises
    ------
    SweepError
        If it is a dialogue of other than two turns.

    Examples
    --------
    >>> item_placeholders(Item(item_id="1", benchmark="b", category="c", question="?"))
    {'question': '?'}
    """
    if not item.turns:
        context = {} if item.context is None else {"context": item.context}
        return {"question": item.question, **context}
    if len(item.turns) != 2:
        raise SweepError(
            f"a dialogue must have 2 turns, got {len(item.turns)}", where={"item": item.item_id}
        )
    return {"question_1": item.turns[0], "question_2": item.turns[1]}


def _filled_prompt_message(
    template: Template, protocol: str, form: QuestionForm, values: Mapping[str, str]
) -> tuple[Message, ...]:
    """The filled text as one user message; of any protocol whose texts take the same values."""
    text = template.text(form)
    if text not in RECORDED and _prompt_placeholders(text) != values.keys():
        raise SweepError(
            f"template is of another protocol, expected {protocol}, got {template.protocol}",
            where={"template": template.name},
        )
    return (Message(role="user", content=fill(text, values)),)


@lru_cache(maxsize=1024)
def _prompt_placeholders(text: str) -> frozenset[str]:
    """Names that a text has filled in."""
    return frozenset(match[2] for match in PLACEHOLDER.finditer(text) if match[2])
