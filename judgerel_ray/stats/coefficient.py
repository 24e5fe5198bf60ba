"""A coefficient as a value: what it is, what it rests on, or why there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficient:
    """One coefficient of one group of judgments.

    Exactly one of `value` and `undefined` is set: no coefficient is ever NaN, and none is 1 or 0
    for want of data. Statistics fill the value and the counts; reducers fill the interval and the
    noise floor with :func:`judgerel_ray.stats.jackknife_interval` and
    :func:`judgerel_ray.stats.noise_floor`.

    Attributes
    ----------
    name : str
        Name of the coefficient, as in ``COEFFICIENTS``.
    value : float or None
        Dimensionless.
    low, high : float or None
        Ends of the interval.
    noise_floor, noise_floor_sd, p_noise : float or None
        Mean and standard deviation under the null of the coefficient, and the share of that null
        at least as extreme as `value`.
    n_units : int
        Units that take part (for agreement: those with two ratings or more).
    n_raters : int
        Most ratings of any unit that takes part.
    n_ratings : int
        Ratings of the units that take part.
    n_missing : int
        Ratings missing among them: ``n_units * n_raters - n_ratings``.
    estimator : str
        Which estimator, in words.
    undefined : str or None
        Why there is no value.

    Raises
    ------
    ValueError
        If both or neither of `value` and `undefined` are set, or a number is not finite.

    Examples
    --------
    >>> Coefficient(name="percent_agreement", undefined="single_replication", estimator="pairs",
    ...             n_units=0, n_raters=0, n_ratings=0, n_missing=0).value is None
    True
    """

    name: str
    estimator: str
    n_units: int
    n_raters: int
    n_ratings: int
    n_missing: int
    value: float | None = None
    low: float | None = None
    high: float | None = None
    noise_floor: float | None = None
    noise_floor_sd: float | None = None
    p_noise: float | None = None
    undefined: str | None = None

    def __post_init__(self) -> None:
        if (self.value is None) == (self.undefined is None):
            raise ValueError(
                f"Coefficient: exactly one of value and undefined must be set, "
                f"got {self.value!r} and {self.undefined!r}"
            )
        numbers = (self.value, self.low, self.high, self.noise_floor, self.noise_floor_sd)
        if not all(math.isfinite(number) for number in (*numbers, self.p_noise) if number):
            raise ValueError(f"Coefficient: numbers must be finite, got {self!r}")
