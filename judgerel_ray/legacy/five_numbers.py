"""Five-number summaries, as the published tables print them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True, slots=True, kw_only=True)
class FiveNumbers:
    """Minimum, quartiles and maximum; iterates in that order.

    >>> [*FiveNumbers(minimum=0, q1=1, median=2, q3=3, maximum=4, n=5)]
    [0, 1, 2, 3, 4]
    """

    minimum: float
    q1: float
    median: float
    q3: float
    maximum: float
    n: int

    def __iter__(self) -> Iterator[float]:
        yield from (self.minimum, self.q1, self.median, self.q3, self.maximum)


def five_numbers(values_N: ArrayLike) -> FiveNumbers | None:  # noqa: N803  a shape, not a case
    """Summarise numbers by minimum, quartiles (linear between order statistics) and maximum.

    Parameters
    ----------
    values_N : array-like of float, shape (n,)
        Numbers; NaN is left out.

    Returns
    -------
    FiveNumbers or None
        None where there is no number.

    Examples
    --------
    >>> [*five_numbers([4, 1, 2, 3])]
    [1.0, 1.75, 2.5, 3.25, 4.0]
    """
    values = np.asarray(values_N, dtype=np.float64).ravel()
    values = values[~np.isnan(values)]
    if not values.size:
        return None
    numbers = np.percentile(values, [0, 25, 50, 75, 100]).tolist()
    minimum, q1, median, q3, maximum = numbers
    return FiveNumbers(minimum=minimum, q1=q1, median=median, q3=q3, maximum=maximum, n=values.size)
