"""Judges whose coefficients are known: Dirichlet-multinomial verdicts, in closed form.

A question's verdict distribution is Dirichlet(s pi), pi the base rates and alpha = 1 / (1 + s); its
replications are drawn from it. At alpha 0 every question has the distribution pi: pure noise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

BASES: Mapping[str, tuple[float, ...]] = {
    "uniform": (0.2, 0.2, 0.2, 0.2, 0.2),
    "skewed": (0.70, 0.15, 0.08, 0.05, 0.02),
    "pass/fail": (0.9, 0.1),
}
ALPHAS = (0.0, 0.2, 0.5, 0.8)
QUESTIONS = (8, 20, 27, 100)
REPLICATIONS = (2, 5, 20, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """Base rates by name, and how much of the variance of verdicts is between questions."""

    base: str
    alpha: float

    @property
    def rates(self) -> NDArray[np.float64]:
        return np.array(BASES[self.base])

    @property
    def concentration(self) -> float:
        """The s of alpha = 1 / (1 + s); at alpha 0 there is none."""
        return (1 - self.alpha) / self.alpha

    @property
    def agreement(self) -> float:
        """E sum p^2 = alpha + (1 - alpha) sum pi^2."""
        return self.alpha + (1 - self.alpha) * float((self.rates**2).sum())

    def counts(
        self, *, questions: int, replications: int, runs: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Verdicts counted, shape (runs, questions, categories)."""
        size = (runs, questions)
        if self.alpha == 0:
            return rng.multinomial(replications, self.rates, size=size)
        return rng.multinomial(replications, rng.dirichlet(self.concentration * self.rates, size))


def gwet_ac1(judge: Judge) -> float:
    """Chance = sum pi (1 - pi) / (K - 1)."""
    chance = float((judge.rates * (1 - judge.rates)).sum()) / (judge.rates.size - 1)
    return (judge.agreement - chance) / (1 - chance)


def brennan_prediger(judge: Judge) -> float:
    """Chance = 1 / K."""
    chance = 1 / judge.rates.size
    return (judge.agreement - chance) / (1 - chance)


def entropy_agreement(judge: Judge) -> float:
    """1 - E H(p) / log K, E H(p) = psi(s + 1) - sum pi psi(s pi + 1)."""
    from scipy.special import psi

    pi = judge.rates
    if judge.alpha == 0:
        mean = -float((pi * np.log(pi)).sum())
    else:
        s = judge.concentration
        mean = float(psi(s + 1) - (pi * psi(s * pi + 1)).sum())
    return 1 - mean / log(pi.size)


def total_agreement(judge: Judge, replications: int) -> float:
    """P(m draws of one question are one value) = sum_v prod_{i < m} (s pi_v + i) / (s + i)."""
    if judge.alpha == 0:
        return float((judge.rates**replications).sum())
    s, i = judge.concentration, np.arange(replications)[:, None]
    return float(((s * judge.rates + i) / (s + i)).prod(axis=0).sum())


TRUTHS: Mapping[str, Callable[[Judge, int], float]] = {
    "krippendorff_alpha": lambda judge, _: judge.alpha,
    "percent_agreement": lambda judge, _: judge.agreement,
    "fleiss_kappa": lambda judge, _: judge.alpha,
    "gwet_ac1": lambda judge, _: gwet_ac1(judge),
    "brennan_prediger": lambda judge, _: brennan_prediger(judge),
    "icc1": lambda judge, _: judge.alpha,
    "total_agreement": total_agreement,
    "entropy_agreement": lambda judge, _: entropy_agreement(judge),
}
"""What each coefficient would be of infinitely many questions, by judge and replications."""
