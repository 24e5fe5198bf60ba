"""What a simulated model writes when it thinks twice, and when it judges those that did."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from itertools import accumulate

from judgerel_ray.core import Ask, Condition, Menu
from judgerel_ray.engines.replies import reply_without_verdict
from judgerel_ray.engines.simulated_options import SimulatedOptions
from judgerel_ray.engines.truth import judged_thing, option_log_weights, tempered, uniforms

_STATED: Mapping[str, tuple[str, str, str]] = {
    "final_answer": ("Final Answer", "Reason", "Confidence"),
    "correct_answer": ("Correct Answer", "Justification", "Judge Confidence"),
}


def thinking_replies(model: str, options: SimulatedOptions, ask: Ask) -> list[str]:
    r"""Draw the uncut replies to an ask of protocol think_twice.

    Labels are drawn from the judge's distribution, those of a selection without replacement; the
    confidence stated is the probability it gives the label at temperature 1, to two decimals.

    Parameters
    ----------
    model : str
        Name of the distribution.
    options : SimulatedOptions
        Its parameters.
    ask : Ask
        Replications of one condition, with a menu.

    Returns
    -------
    list of str
        One for each replication, in order.

    Raises
    ------
    ValueError
        If the condition has no menu.
    RequestRefused
        If the menu lacks what the parameters name.

    Examples
    --------
    >>> from judgerel_ray.core import Condition, Menu
    >>> condition = Condition(
    ...     condition_key="0" * 32, seed_base=7, judge="j", judge_fingerprint="f", benchmark="b",
    ...     item_id="i", protocol="think_twice", stage="choose", role="responder", prompt=(),
    ...     template="default", temperature=0.0, top_k=50, top_p=1.0, max_tokens=64,
    ...     menu=Menu(labels=("0", "1"), option_ids=("x", "y"), form="final_answer"))
    >>> thinking_replies("uniform", SimulatedOptions(), Ask(condition=condition, first=0, n=1))
    ['Final Answer: 0\nReason: it fits the question.\nConfidence: 0.50']
    """
    condition = ask.condition
    menu = condition.menu
    if menu is None:
        raise ValueError("thinking_replies: the condition must have a menu")
    weights = option_log_weights(model, options, item_id=judged_thing(condition), menu=menu)
    replies = []
    for replication in ask.replications:
        draw = f"reply:{options.seed}:{condition.condition_key}:{replication}"
        kind, place, _ = uniforms(draw)
        off = reply_without_verdict(options, kind, greedy=condition.temperature == 0)
        if off is not None:
            replies.append(off)
        elif menu.form in _STATED:
            replies.append(_stated(menu, weights, condition, place))
        else:
            replies.append(_selected(menu, weights, condition, draw))
    return replies


def _stated(menu: Menu, weights: tuple[float, ...], condition: Condition, place: float) -> str:
    """One label, a reason and a confidence."""
    chosen = _drawn(tempered(weights, condition.temperature), place)
    label, reason, confidence = _STATED[menu.form]
    sure = tempered(weights, 1.0)[chosen]
    return (
        f"{label}: {menu.labels[chosen]}\n{reason}: it fits the question.\n{confidence}: {sure:.2f}"
    )


def _selected(menu: Menu, weights: tuple[float, ...], condition: Condition, draw: str) -> str:
    """As many different labels as are asked for."""
    name = "Option" if menu.form == "options" else "Candidate"
    left = list(range(len(weights)))
    blocks = []
    for step in range(min(menu.most, len(left))):
        # Of those left: greedily the likeliest, however little is left of the whole.
        part = tempered(tuple(weights[place] for place in left), condition.temperature)
        at = _drawn(part, uniforms(f"{draw}:{step}")[1])
        blocks.append(f"{name}: {menu.labels[left.pop(at)]}\nJustification: it fits the question.")
    return "\n\n".join(blocks)


def _drawn(shares: tuple[float, ...], at: float) -> int:
    """The place a uniform number falls into; never one without a share."""
    limits = list(accumulate(shares))
    place = min(bisect_right(limits, at * limits[-1]), len(limits) - 1)
    while shares[place] == 0 and place > 0:
        place -= 1
    return place
