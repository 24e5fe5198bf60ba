"""Whether forms that templates declare for themselves can be read back from their own examples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from judgerel_ray.core import Menu, OwnForm, SweepError, printable
from judgerel_ray.protocols import (
    TIE,
    Reading,
    Template,
    counted_mention,
    fill_example,
    mention_of,
    read_words,
    refuse_clashes,
)
from judgerel_ray.protocols.replies.own_forms import spoken_text
from judgerel_ray.protocols.waves.frame import AskFrame


@dataclass(frozen=True, slots=True)
class _Said:
    """One word in the verdict's place, and the label it stands for; None for a refusal."""

    word: str
    label: str | None
    menu: Menu


def check_own_forms(frame: AskFrame) -> None:
    """Refuse forms that are not read back from their own examples, and what they do not allow.

    Every word that may stand in the verdict's place is put there and read: of every number of
    options that items have, and of every item where options go by their texts.

    Raises
    ------
    SweepError
        Naming the form, its example and what was read.

    Examples
    --------
    >>> from judgerel_ray.config import ask_table
    >>> ask = ask_table(protocol="best_of", benchmark="b", path="p")
    >>> check_own_forms(AskFrame(index=0, ask=ask, items=(), templates=(), judges=())) is None
    True
    """
    for template in frame.templates:
        if template.own is None:
            continue
        where: dict[str, object] = {"ask": frame.index, "template": template.name}
        _refuse_settings(frame, template, where)
        sayings = [
            one
            for menu, place in frame.protocol.menus(frame, template, where)
            for one in _sayable(menu, place)
        ]
        texts = [fill_example(template.own, one.word) for one in sayings]
        spoken = [spoken_text(text, True) for text in texts]
        for one, text, words in zip(sayings, texts, read_words(spoken, template.own), strict=True):
            mentions = [mention for each in words if (mention := mention_of(each, one.menu))]
            reading = counted_mention(mentions, one.menu, False)
            stands_for = one.label if reading is None else reading.label
            if reading is None or stands_for != one.label:
                raise _not_read_back(template, one, text, words, reading, where)


def _refuse_settings(frame: AskFrame, template: Template, where: dict[str, object]) -> None:
    """Refuse settings that need the words of a shipped form."""
    ask = frame.ask
    if ask.reader == "schroeder2024":
        raise SweepError(
            f"reader schroeder2024 reads letters and words, template {template.name} declares a "
            "form of its own",
            where=where,
            hint='reader = "first", "last" or "unanimous"',
        )
    for key in ("early_stop", "verdict_logprobs"):
        if getattr(ask, key):
            raise SweepError(
                f"{key} needs a form whose words end at the label, template {template.name} "
                "declares a form of its own, which what follows may still change",
                where=where,
                hint=f"{key} = false",
            )


def _sayable(menu: Menu, where: Mapping[str, object]) -> list[_Said]:
    """Every word that may stand in the verdict's place."""
    own = menu.own or OwnForm(example="")
    if menu.scale is not None:
        sayings = [_Said(label, label, menu) for label in menu.labels]
    else:
        places = [f"option {place}" for place in range(1, len(menu.labels) + 1)]
        if own.ties:
            places[-1] = "a tie"
        refuse_clashes((*menu.words, own.refusals), (*places, "a refusal"), where)
        pairs = zip(menu.words, menu.labels, strict=True)
        sayings = [_Said(word, label, menu) for words, label in pairs for word in words]
    return sayings + [_Said(word, None, menu) for word in own.refusals]


def _not_read_back(
    template: Template,
    one: _Said,
    text: str,
    words: list[tuple[str, ...]],
    reading: Reading | None,
    where: dict[str, object],
) -> SweepError:
    """A form that does not read what it declares."""
    own = template.own or OwnForm(example="")
    if reading is None:
        read = "nothing"
    else:
        read = " then ".join(repr(" and ".join(each)) for each in words)
        read += f", which is {reading.label or reading.outcome.value}"
    expected = {None: "a refusal", TIE: "a tie"}.get(one.label, f"label {one.label}")
    return SweepError(
        f"the form of template {template.name} cannot be read back from its own example: with "
        f"{one.word!r} for {expected}, {form_text(own)} reads {read} from {_short(text)!r}",
        where=where,
        hint="a pattern that holds the example's own words, or another example",
    )


def form_text(own: OwnForm) -> str:
    """Write where a form has its word, in one line.

    Examples
    --------
    >>> form_text(OwnForm(example="", path=("scores", 0, "winner")))
    "json 'scores[0].winner'"
    """
    if own.pattern:
        return f"pattern '{printable(own.pattern)}'"
    steps = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in own.path]
    return f"json {''.join(steps).removeprefix('.')!r}"


def _short(text: str, most: int = 200) -> str:
    """A text, cut in the middle where it is long."""
    return text if len(text) <= most else f"{text[: most // 2]} ... {text[-most // 2 :]}"
