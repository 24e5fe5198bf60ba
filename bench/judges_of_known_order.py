"""Judges of two orders whose reproducibility is known: content, and the option shown first.

A judgment names the option shown first with probability b (the order bias), and otherwise is drawn
from the item's own distribution p. Items are Dirichlet(s pi), alpha = 1 / (1 + s), or four in five
unanimous and one in five a coin flip. A judge of pure position has pi in place of every p.

Shape suffixes: R = runs, Q = questions, V = options.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
BASES: Mapping[str, tuple[float, ...]] = {
    "50/50": (0.5, 0.5),
    "90/10": (0.9, 0.1),
    "97/3": (0.97, 0.03),
    "five options": (0.2,) * 5,
    "80 % unanimous": (0.5, 0.5),
}
MIXTURE = "80 % unanimous"
COINS = 0.2  # of the items of the mixture
ORDER_BIAS: Mapping[str, float] = {"none": 0.0, "mild": 0.15, "strong": 0.5, "pure position": 0.97}
PURE = "pure position"


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderedJudge:
    """Verdicts by content, and by position with probability `bias`; at `alpha` 0 by no content.

    The mixture has an alpha of its own: of content alone .8.
    """

    base: str
    bias: float
    alpha: float

    @property
    def rates(self) -> Floats:
        """The base rates of the options, by content alone."""
        return np.array(BASES[self.base])

    @property
    def places(self) -> Floats:
        """How often each option is shown first, over the two orders: the first and the last."""
        shown = np.zeros(self.rates.size)
        shown[[0, -1]] = 0.5
        return shown

    @property
    def certainty(self) -> float:
        """E sum p^2: how often two judgments by content agree."""
        if self.alpha == 0:
            return float((self.rates**2).sum())
        if self.base == MIXTURE:
            return 1 - COINS / 2
        return self.alpha + (1 - self.alpha) * float((self.rates**2).sum())

    @property
    def named(self) -> Floats:
        """How often each option is named, over both orders."""
        return (1 - self.bias) * self.rates + self.bias * self.places

    @property
    def agreement(self) -> float:
        """How often two judgments of an item agree, the order of each drawn at random."""
        b = self.bias
        both = 2 * b * (1 - b) * float(self.rates @ self.places)
        return (1 - b) ** 2 * self.certainty + both + b**2 * float((self.places**2).sum())

    @property
    def reproducibility(self) -> float:
        """Krippendorff's alpha of two such judgments."""
        chance = float((self.named**2).sum())
        return (self.agreement - chance) / (1 - chance)

    @property
    def repeatability(self) -> float:
        """Krippendorff's alpha of the same prompt again: a unit is an item in one order."""
        b = self.bias
        both = 2 * b * (1 - b) * float(self.rates @ self.places)
        same = (1 - b) ** 2 * self.certainty + both + b**2
        chance = float((self.named**2).sum())
        return (same - chance) / (1 - chance)

    @property
    def swap_consistency(self) -> float:
        """How often two judgments of an item agree, one in each order."""
        b = self.bias
        both = 2 * b * (1 - b) * float(self.rates @ self.places)
        return (1 - b) ** 2 * self.certainty + both

    def counts(
        self, *, questions: int, replications: int, runs: int, rng: np.random.Generator
    ) -> NDArray[np.int64]:
        """Verdicts counted, shape (R, 2 Q, V): each question in its two orders, side by side."""
        size = (runs, questions)
        if self.alpha == 0:
            shares = np.broadcast_to(self.rates, (*size, self.rates.size))
        elif self.base == MIXTURE:
            sure = np.eye(2)[rng.integers(0, 2, size)]
            shares = np.where(rng.random(size)[..., None] < COINS, 0.5, sure)
        else:
            shares = rng.dirichlet((1 - self.alpha) / self.alpha * self.rates, size)
        first = np.eye(self.rates.size)[[0, -1]]
        verdicts = (1 - self.bias) * shares[:, :, None] + self.bias * first
        drawn = rng.multinomial(replications, verdicts / verdicts.sum(axis=-1, keepdims=True))
        return drawn.reshape(runs, 2 * questions, self.rates.size)
