"""From log-probabilities that landed to cells of confusion matrices."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from judgerel_ray.core import Condition
from judgerel_ray.tables import Confusions

Read = Sequence[Mapping[str, object]]
"""Rows of a completion's ``logprobs``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A request that read probabilities, with what landed of it.

    ``read`` is empty where the judge would not argue the option.
    """

    condition: Condition
    mode: str
    read: Read


def confusion_table(scored: Sequence[Scored], *, last_token: bool = False) -> pl.DataFrame:
    """Lay out confusion matrices, one cell a row.

    Parameters
    ----------
    scored : sequence of Scored
        In any order.
    last_token : bool
        Whether an option's probability is that of its last token given those before, in place of
        the whole option's. They differ only for options of several tokens.

    Returns
    -------
    DataFrame
        Of :class:`judgerel_ray.tables.Confusions`, sorted.

    Examples
    --------
    >>> confusion_table([]).height
    0
    """
    rows = [row for one in scored for row in _cells(one, last_token=last_token)]
    frame = pl.DataFrame(rows, schema=Confusions.create_empty().schema)
    return Confusions.validate(frame).sort(
        "judge", "benchmark", "item_id", "template", "criterion", "temperature", "mode",
        maintain_order=True,
    )  # fmt: skip


def _cells(scored: Scored, *, last_token: bool) -> Iterator[dict[str, object]]:
    """The cells one request fills: a column, one cell of it, or all there is in mode single."""
    condition, menu, scoring = scored.condition, scored.condition.menu, scored.condition.scoring
    if menu is None or scoring is None:
        raise ValueError("confusion_table: a condition must have a menu and a scoring")
    by_option: dict[int, list[float]] = {}
    for one in scored.read:
        place, logprob = one["continuation"], one["logprob"]
        if isinstance(place, int) and isinstance(logprob, float):
            by_option.setdefault(place, []).append(logprob)
    for place, text in enumerate(scoring.continuations):
        tokens = by_option.get(place)
        option = menu.option_ids[_option(text, menu.labels)]
        probability = None
        if tokens is not None:
            # Rounding may leave a sum of logarithms a hair above 0.
            probability = min(1.0, math.exp(tokens[-1] if last_token else math.fsum(tokens)))
        yield {
            "judge": condition.judge,
            "benchmark": condition.benchmark,
            "item_id": condition.item_id,
            "template": condition.template,
            "criterion": condition.criterion,
            "temperature": condition.temperature,
            "mode": scored.mode,
            "assessment_option": condition.argued,
            "verdict_option": option,
            "probability": probability,
        }


def _option(text: str, labels: Sequence[str]) -> int:
    """The option a continuation stands for: the longest label it begins with."""
    begun = [place for place, label in enumerate(labels) if text.startswith(label)]
    return max(begun, key=lambda place: len(labels[place]))
