"""Whether probabilities can be read where a sweep asks for them: of which judges, and options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from judgerel_ray.core import Item, Menu, SweepError
from judgerel_ray.design import AskFrame
from judgerel_ray.design.confusing import confusion_menu
from judgerel_ray.engines import EngineSpec
from judgerel_ray.engines.catalog import gives_logprobs
from judgerel_ray.protocols import FORMS, read_verdict


def check_probabilities(frames: Sequence[AskFrame], specs: Mapping[str, EngineSpec]) -> None:
    """Refuse what could only fail once it is asked: probabilities that nobody gives, or can read.

    Raises
    ------
    SweepError
        If an ask reads log-probabilities of a judge whose engine gives none, would draw replies
        from what no list holds, or has options of confusion that cannot be told apart, or not be
        read back as a verdict.
    """
    for frame in frames:
        needed = _needed_for(frame)
        if needed is None:
            continue
        for voice in frame.judges:
            of_prompts = needed != "verdict_logprobs"
            if not gives_logprobs(specs[voice.name], of_prompts=of_prompts):
                of = " of prompts" * (of_prompts and gives_logprobs(specs[voice.name]))
                raise SweepError(
                    f"{needed} reads log-probabilities{of}, the judge's engine gives none",
                    where={"ask": frame.index, "judge": voice.name},
                    hint="leave the judge out with judges = [...], or sample its replies: "
                    "protocol best_of, with replications",
                )
        if frame.ask.exact is not None and frame.ask.exact.draws and not frame.ask.top_k:
            raise SweepError(
                "exact.draws needs a top_k: with all tokens kept, engines list only the most "
                "probable, and no reply can be drawn from the others",
                where={"ask": frame.index},
                hint="top_k = 50, or draws = 0",
            )
        if frame.ask.protocol == "confusion":
            for item in frame.items:
                _check_options(frame, item)


def _needed_for(frame: AskFrame) -> str | None:
    """What of an ask reads log-probabilities; None where nothing does."""
    ask = frame.ask
    if ask.protocol == "confusion":
        return "protocol confusion"
    if ask.mode == "exact":
        return "mode exact"
    return "verdict_logprobs" if ask.verdict_logprobs else None


def _check_options(frame: AskFrame, item: Item) -> None:
    """Refuse options that look alike to a judge, or that its verdict could not name."""
    where = {"ask": frame.index, "benchmark": frame.ask.benchmark, "item": item.item_id}
    for template in frame.templates:
        menu = confusion_menu(frame, item, template)
        seen: dict[str, str] = {}
        # A label of letters tells nothing of an option but its text.
        texts = menu.labels if frame.ask.option_labels == "ids" else _texts(item)
        for option_id, text in zip(menu.option_ids, texts, strict=True):
            other = seen.setdefault(text, option_id)
            if other != option_id:
                raise SweepError(
                    f"confusion needs options that differ, {other!r} and {option_id!r} both read "
                    f"{text!r}",
                    where=where,
                    hint='give them texts of their own, or option_labels = "ids"',
                )
        for label in menu.labels:
            if not _is_read_back(label, menu):
                raise SweepError(
                    f"the label {label!r} cannot be read back from a reply that names it",
                    where=where,
                    hint='option_labels = "letters", or ids without brackets, line breaks and '
                    "blanks at their ends",
                )


def _texts(item: Item) -> tuple[str, ...]:
    """What a judge reads of each option."""
    return tuple(" ".join(option.text.split()) for option in item.options)


def _is_read_back(label: str, menu: Menu) -> bool:
    """Whether the declared form, filled in with a label, is that label's verdict."""
    complete = FORMS[menu.form].complete if menu.form in FORMS else None
    if complete is None:
        return True  # such a form is refused with its template
    return read_verdict(complete(label), finish_reason="stop", menu=menu).label == label
