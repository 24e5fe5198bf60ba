"""A null known by its moments: how likely a value as far from its mean is.

With mean, spread and skewness the distribution of Pearson's third type is fixed: the normal where
there is no skewness, a shifted gamma otherwise. Sums over units of what random deals give them are
close to it, those of a few dominating units (chi-square) and of rare events, too. Where a few
ratings dominate (heavy tails) they are not, and no few moments tell the distribution: what may be
read off them is bounded here.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, erfc, floor, sqrt

_SYMMETRIC = 0.01  # skewness below which the normal is as good
_SETTLED = 1e-12
SETTLED_SKEWNESS = 0.1
"""Up to here a null is as good as known by its moments, if its kurtosis is small, too."""
_SETTLED_KURTOSIS = 0.3
_UNLIKE_POISSON = 0.05  # by how much variance and mean of rare events may differ
_MOST_SKEWNESS, _MOST_KURTOSIS = 0.5, 1.0  # beyond, moments tell no p


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedNull:
    """Moments of a coefficient over all deals.

    Attributes
    ----------
    value : float
        The coefficient of the data.
    mean, sd, skewness : float
        Of the null.
    step : float
        Distance of neighbouring values where the null has few; 0 where they are dense.
    kurtosis : float
        Excess kurtosis of the null, at most about.
    """

    value: float
    mean: float
    sd: float
    skewness: float
    step: float = 0.0
    kurtosis: float = 0.0

    @property
    def settled(self) -> bool:
        """Whether dealing would add nothing.

        Examples
        --------
        >>> ClosedNull(value=0.0, mean=0.0, sd=1.0, skewness=0.05, kurtosis=9.0).settled
        False
        """
        return self._rare or (
            abs(self.skewness) <= SETTLED_SKEWNESS and self.kurtosis <= _SETTLED_KURTOSIS
        )

    @property
    def tells_p(self) -> bool:
        """Whether a p may be read off the moments, if dealing is too dear.

        Of rare events alone (steps, as often as their spread says) that is so however skewed.

        Examples
        --------
        >>> ClosedNull(value=0.0, mean=0.0, sd=1.0, skewness=0.3).tells_p
        True
        """
        return self._rare or (
            abs(self.skewness) <= _MOST_SKEWNESS and self.kurtosis <= _MOST_KURTOSIS
        )

    @property
    def _rare(self) -> bool:
        """Whether these are rare events that come one by one: variance and mean are the same."""
        if not self.step > 0 or self.skewness <= SETTLED_SKEWNESS:
            return False
        return abs(self.sd**2 / (self.mean * self.step) - 1) <= _UNLIKE_POISSON

    @property
    def p(self) -> float:
        """Share of the null at least as far from its mean as the value, on either side.

        Examples
        --------
        >>> round(ClosedNull(value=1.96, mean=0.0, sd=1.0, skewness=0.0).p, 3)
        0.05

        Rare events, 0.1 on average: one or more are met in 9.5 of 100 cases.

        >>> rare = ClosedNull(value=1.0, mean=0.1, sd=0.1**0.5, skewness=0.1**-0.5, step=1.0)
        >>> round(rare.p, 3)
        0.095
        """
        far = abs(self.value - self.mean)
        if not self.sd >= _SETTLED and not self._rare:
            return float(far <= max(1e-9, self.step / 2))
        if self._rare:
            return _poisson(self.mean / self.step, far / self.step)
        z = max(0.0, far - self.step / 2) / self.sd
        return min(1.0, _tail(z, self.skewness) + _tail(z, -self.skewness))


def _poisson(rate: float, far: float) -> float:
    """P(|X - rate| >= far) of a Poisson variable."""
    from scipy.special import pdtr, pdtrc

    above, below = ceil(rate + far - 1e-6), floor(rate - far + 1e-6)
    p = (pdtrc(above - 1, rate) if above > 0 else 1.0) + (pdtr(below, rate) if below >= 0 else 0.0)
    return min(1.0, float(p))


def _tail(z: float, skewness: float) -> float:
    """P(X >= z) of a Pearson III variable with mean 0, sd 1 and this skewness, z from 0 on."""
    if abs(skewness) < _SYMMETRIC:
        return erfc(z / sqrt(2)) / 2
    from scipy.special import gammainc, gammaincc

    shape = 4 / skewness**2
    if skewness > 0:
        return float(gammaincc(shape, shape + z * sqrt(shape)))
    return float(gammainc(shape, max(0.0, shape - z * sqrt(shape))))
