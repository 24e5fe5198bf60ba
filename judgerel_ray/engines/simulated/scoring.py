"""What a simulated judge takes for probable: its stated distribution, moved by what was argued."""

from __future__ import annotations

import math
from collections.abc import Sequence

from judgerel_ray.core import Condition, Menu, RequestRefused, TokenLogprob
from judgerel_ray.engines.simulated.options import SimulatedOptions
from judgerel_ray.engines.simulated.truth import option_log_weights, reasoned, tempered

_NEVER = -1e4  # log-probability of what cannot be: infinities do not survive every file format


def scored_logprobs(
    model: str, options: SimulatedOptions, condition: Condition
) -> tuple[TokenLogprob, ...]:
    """Log-probabilities a condition's scoring asks for, each option being one token.

    Parameters
    ----------
    model, options
        The distribution's name and parameters.
    condition : Condition
        With a menu and a scoring.

    Returns
    -------
    tuple of TokenLogprob
        As a real engine gives them. The shares of replies without a verdict go to no option.

    Raises
    ------
    RequestRefused
        If a continuation begins with no label of the menu.

    Examples
    --------
    >>> from judgerel_ray.core import Scoring
    >>> condition = Condition(
    ...     condition_key="0" * 32, seed_base=7, judge="j", judge_fingerprint="f", benchmark="b",
    ...     item_id="i", protocol="confusion", stage="probabilities", role="scorer", prompt=(),
    ...     template="default", temperature=0.0, top_k=50, top_p=1.0, max_tokens=1,
    ...     menu=Menu(labels=("A", "B"), option_ids=("x", "y"), form="best_response"),
    ...     scoring=Scoring(kind="options", continuations=("A", "B")))
    >>> [round(math.exp(one.logprob), 3)
    ...  for one in scored_logprobs("uniform", SimulatedOptions(), condition)]
    [0.5, 0.5]
    """
    menu, scoring = condition.menu, condition.scoring
    if menu is None or scoring is None:
        raise RequestRefused("simulated: nothing to score", where={"item": condition.item_id})
    weights = option_log_weights(model, options, item_id=condition.item_id, menu=menu)
    moved = tuple(
        weight + (options.suggestibility if option_id == condition.argued else 0.0)
        for weight, option_id in zip(weights, menu.option_ids, strict=True)
    )
    spoken = 1 - options.refuse - options.unparsed
    probable = [_log(share * spoken) for share in tempered(moved, 1.0)]
    if scoring.kind == "next":
        best = sorted(range(len(probable)), key=lambda place: -probable[place])[: scoring.top]
        return tuple(
            TokenLogprob(token=menu.labels[place], logprob=probable[place], rank=rank)
            for rank, place in enumerate(best, start=1)
        )
    return tuple(
        TokenLogprob(token=text, logprob=probable[_place(text, menu)], continuation=number)
        for number, text in enumerate(scoring.continuations)
    )


def verdict_logprobs(
    model: str, options: SimulatedOptions, condition: Condition, replication: int
) -> tuple[TokenLogprob, ...]:
    """Log-probabilities of the options where a reply writes its verdict, before any temperature.

    Tempered at the condition's temperature they are the distribution its verdict was drawn from.

    Examples
    --------
    >>> condition = Condition(
    ...     condition_key="0" * 32, seed_base=7, judge="j", judge_fingerprint="f", benchmark="b",
    ...     item_id="i", protocol="best_of", stage="judge", role="judge", prompt=(),
    ...     template="default", temperature=1.0, top_k=50, top_p=1.0, max_tokens=8,
    ...     menu=Menu(labels=("A", "B"), option_ids=("x", "y"), form="best_response"))
    >>> [round(math.exp(one.logprob), 3)
    ...  for one in verdict_logprobs("uniform", SimulatedOptions(), condition, 0)]
    [0.5, 0.5]
    """
    menu = condition.menu
    if menu is None:
        return ()
    weights = option_log_weights(model, options, item_id=condition.item_id, menu=menu)
    shares = reasoned(tempered(weights, condition.temperature), options, condition, replication)
    # Raised to the temperature, so that tempering gives them back; greedy ones are as they are.
    raw = tempered(weights, 1.0)
    if condition.temperature > 0:
        powers = [share**condition.temperature for share in shares]
        raw = tuple(power / sum(powers) for power in powers)
    best = sorted(range(len(raw)), key=lambda place: -raw[place])
    return tuple(
        TokenLogprob(token=menu.labels[p], logprob=_log(raw[p]), rank=rank, continuation=p)
        for rank, p in enumerate(best, start=1)
    )


def _place(text: str, menu: Menu) -> int:
    """The option a continuation stands for: the longest label it begins with."""
    begun: Sequence[int] = [n for n, label in enumerate(menu.labels) if text.startswith(label)]
    if not begun:
        raise RequestRefused(f"simulated: {text!r} begins with no label of {menu.labels}")
    return max(begun, key=lambda n: len(menu.labels[n]))


def _log(probability: float) -> float:
    """Natural log, bounded below."""
    return max(math.log(probability), _NEVER) if probability > 0 else _NEVER
