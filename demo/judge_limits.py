"""What coefficients over replications tend to when the verdict distributions are known.

Written out from the definitions and apart from the project's own statistics, which are held
against it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from demo.judge_design import NO_VERDICT


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What coefficients over replications tend to when the verdict distributions are known.

    ``agreement`` is the chance that two replications of a question say the same, averaged over
    questions; the others correct it for chance. No verdict counts as a value of its own
    ("category"); ``valid_rate`` is the share of replies with a verdict.
    """

    agreement: float
    alpha: float
    ac1: float
    brennan_prediger: float
    valid_rate: float


def limits_of(distributions: Sequence[Mapping[str, float]], *, n_categories: int) -> Limits:
    """Compute the limits of the coefficients for known distributions, "no verdict" a value.

    Parameters
    ----------
    distributions
        One a question.
    n_categories
        Declared options plus one for "no verdict".
    """
    n = len(distributions)
    agreement = sum(p * p for each in distributions for p in each.values()) / n
    means: dict[str, float] = {}
    for each in distributions:
        for outcome, p in each.items():
            means[outcome] = means.get(outcome, 0.0) + p / n
    by_chance = sum(p * p for p in means.values())
    gwet = sum(p * (1 - p) for p in means.values()) / (n_categories - 1)
    even = 1 / n_categories
    return Limits(
        agreement=agreement,
        alpha=_beyond(agreement, by_chance),
        ac1=_beyond(agreement, gwet),
        brennan_prediger=_beyond(agreement, even),
        valid_rate=1 - means.get(NO_VERDICT, 0.0),
    )


def _beyond(agreement: float, chance: float) -> float:
    """Agreement beyond chance; nan where chance explains all of it."""
    return (agreement - chance) / (1 - chance) if chance < 1 else math.nan


def agreement_variance(distributions: Sequence[Mapping[str, float]], m: int) -> float:
    """Compute the Monte-Carlo variance of observed agreement from m replications a question.

    The questions are held fixed; only the replications are drawn again.
    """
    total = 0.0
    for each in distributions:
        s2 = sum(p**2 for p in each.values())
        s3 = sum(p**3 for p in each.values())
        total += (4 * (m - 2) * (s3 - s2**2) + 2 * (s2 - s2**2)) / (m * (m - 1))
    return total / len(distributions) ** 2
