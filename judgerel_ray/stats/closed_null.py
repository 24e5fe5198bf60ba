"""A null known by its moments: how likely a value as far from its mean is.

With mean, spread and skewness the distribution of Pearson's third type is fixed: the normal where
there is no skewness, a shifted gamma otherwise. Sums over units of what random deals give them are
close to it, those of a few dominating units (chi-square) and of rare events, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import erfc, sqrt

_SYMMETRIC = 0.01  # skewness below which the normal is as good
_SETTLED = 1e-12


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
    """

    value: float
    mean: float
    sd: float
    skewness: float
    step: float = 0.0

    @property
    def p(self) -> float:
        """Share of the null at least as far from its mean as the value, on either side.

        Examples
        --------
        >>> round(ClosedNull(value=1.96, mean=0.0, sd=1.0, skewness=0.0).p, 3)
        0.05

        Rare events, 0.1 on average: one is met in 9.5 of 100 cases.

        >>> rare = ClosedNull(value=1.0, mean=0.1, sd=0.1**0.5, skewness=0.1**-0.5, step=1.0)
        >>> round(rare.p, 2)
        0.09
        """
        far = abs(self.value - self.mean)
        if not self.sd >= _SETTLED:
            return float(far <= max(1e-9, self.step / 2))
        z = max(0.0, far - self.step / 2) / self.sd
        return min(1.0, _tail(z, self.skewness) + _tail(z, -self.skewness))


def _tail(z: float, skewness: float) -> float:
    """P(X >= z) of a Pearson III variable with mean 0, sd 1 and this skewness, z from 0 on."""
    if abs(skewness) < _SYMMETRIC:
        return erfc(z / sqrt(2)) / 2
    from scipy.special import gammainc, gammaincc

    shape = 4 / skewness**2
    if skewness > 0:
        return float(gammaincc(shape, shape + z * sqrt(shape)))
    return float(gammainc(shape, max(0.0, shape - z * sqrt(shape))))
