"""Krippendorff's alpha: agreement among exchangeable raters, at four levels of measurement.

Shape suffixes: U = units, V = distinct values, T = terms; ``...`` = any leading batch axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.arguments import check_choice
from judgerel_ray.stats.counts import (
    AgreeingPairs,
    Coefficient,
    CountStatistic,
    Floats,
    divide,
    measure,
    row_sums,
)

Level = Literal["nominal", "ordinal", "interval", "ratio"]
LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval", "ratio")
Values = Sequence[object] | NDArray[np.generic]
ROUNDING = 1e-12
"""Of a sum of squares about a mean, as a share of that about 0: what is rounding."""


def krippendorff_alpha(
    counts_UV: ArrayLike, *, values: Values | None = None, level: Level = "nominal"
) -> Coefficient:
    r"""Compute Krippendorff's alpha from counts.

    The share of disagreement beyond what the same verdicts show when permuted over the units:

    .. math:: \alpha = 1 - D_o / D_e

    Parameters
    ----------
    counts_UV : array-like of int, shape (n_units, n_values)
        How often each unit received each value; units with fewer than two ratings take no part.
    values : sequence, optional
        What the columns stand for. Numbers for "interval" and "ratio"; for "ordinal" numbers, or
        words in their order (by default the columns are in order); not used for "nominal".
    level : {"nominal", "ordinal", "interval", "ratio"}
        Level of measurement. Option labels are nominal: their codes have no order.

    Returns
    -------
    Coefficient
        Dimensionless, at most 1; 0 is chance agreement, below 0 systematic disagreement.
        ``undefined`` as of :func:`judgerel_ray.stats.measure`.

    Raises
    ------
    ValueError
        If the counts are no table of whole numbers, the level is unknown, or the values do not fit.

    Notes
    -----
    Ordinal distances are between midranks of the pairable ratings. Time O(U V^2), interval O(U V).

    References
    ----------
    .. [1] Krippendorff, K. (2011). Computing Krippendorff's Alpha-Reliability.

    Examples
    --------
    Four units, three ratings each, one stray. Of 12 ordered pairs inside units, 2 x 2/2 = 2 differ
    (per unit, divided by m - 1); permuted at random 2 x 5 x 7 / 11 would: 1 - 22/70.

    >>> alpha = krippendorff_alpha([[3, 0], [2, 1], [0, 3], [0, 3]])
    >>> round(alpha.value, 6)
    0.685714
    """
    n_values = np.shape(counts_UV)[-1] if np.ndim(counts_UV) == 2 else 0
    return measure(counts_UV, alpha_statistic(n_values=n_values, values=values, level=level))


def alpha_statistic(*, n_values: int, values: Values | None, level: Level) -> CountStatistic:
    """Take alpha apart at one level of measurement."""
    name, estimator = "krippendorff_alpha", f"{level} alpha"
    numbers = checked_numbers(level, n_values, values, name=name)
    if level == "ordinal":
        order = np.arange(n_values) if numbers is None else np.argsort(numbers)
        return CountStatistic(
            name=name, estimator=estimator,
            terms=lambda n: _coincidences(n[..., order]), value=lambda t: _ordinal(t, n_values),
            rests_on_minority=True,
            at_totals=lambda c: _alpha_with_distances(estimator, _midrank_distances(c, order)),
        )  # fmt: skip
    if level == "interval" and numbers is not None:
        centred = numbers - (numbers.mean() if n_values else 0.0)
        return CountStatistic(
            name=name, estimator=estimator,
            terms=lambda n: square_terms(value_moments(n, centred)), value=interval_alpha,
            rests_on_minority=True,
            # The squares about a unit's mean are half of those of all ordered pairs, over m.
            pairs=AgreeingPairs(
                place=3,
                weight=lambda m: Fraction(1, 2 * (m - 1)),
                distances_VV=(centred[:, None] - centred) ** 2,
            ),
        )  # fmt: skip
    if numbers is None:
        return CountStatistic(
            name=name, estimator=estimator, terms=_nominal_terms, value=_nominal_alpha_of_sums,
            pairs=AgreeingPairs(place=0, weight=lambda m: Fraction(-1, m - 1)),
            rests_on_minority=True, is_nominal_alpha=True,
        )  # fmt: skip
    return _alpha_with_distances(estimator, _ratio_distances(numbers))


def _alpha_with_distances(estimator: str, distances_VV: Floats) -> CountStatistic:
    """Alpha with distances that are given."""
    return CountStatistic(
        name="krippendorff_alpha", estimator=estimator,
        terms=lambda n: _distance_terms(n, distances_VV),
        value=lambda total: _distance_alpha_of_sums(total, distances_VV),
        pairs=AgreeingPairs(
            place=0, weight=lambda m: Fraction(1, m - 1), distances_VV=distances_VV
        ),
        rests_on_minority=True,
    )  # fmt: skip


def _midrank_distances(totals_V: Floats, order: NDArray[np.intp]) -> Floats:
    """Squared distances between midranks, the values in the order of the columns."""
    c = totals_V[order]
    rank_V = np.empty(len(c))
    rank_V[order] = np.cumsum(c) - c / 2
    return (rank_V[:, None] - rank_V) ** 2


def checked_numbers(
    level: Level, n_values: int, values: Values | None, *, name: str
) -> Floats | None:
    """Read the values as numbers where the level needs them.

    None for nominal, and for words in their order.
    """
    check_choice(name, LEVELS, level=level)
    if values is not None and len(values) != n_values:
        raise ValueError(f"{name}: values must name {n_values} columns, got {len(values)}")
    if level == "nominal" or (level == "ordinal" and values is None):
        return None
    if values is None:
        raise ValueError(f"{name}: values must be given for level {level!r}")
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        if level == "ordinal":  # words in their order
            return None
        raise ValueError(f"{name}: values must be numbers for level {level!r}") from error
    if not np.isfinite(numbers).all():
        raise ValueError(f"{name}: values must be finite, got {numbers!r}")
    return numbers


def _ratio_distances(numbers: Floats) -> Floats:
    """((c - k) / (c + k))^2, 0 where both are 0."""
    total = numbers[:, None] + numbers[None, :]
    apart = numbers[:, None] - numbers[None, :]
    if ((total == 0) & (apart != 0)).any():
        raise ValueError("krippendorff_alpha: values must not be opposite numbers at level 'ratio'")
    return np.divide(apart, total, out=np.zeros_like(apart), where=total != 0) ** 2


def _pairable_unit_weights(counts: Floats) -> tuple[NDArray[np.bool_], Floats]:
    """Which units have pairs, and 1 / (m_q - 1) there."""
    m = row_sums(counts)[..., None]
    return m >= 2, np.divide(1.0, m - 1, out=np.zeros_like(m), where=m >= 2)


def _nominal_terms(counts: Floats) -> Floats:
    """[D_q, n_qv of units that take part], D_q = (m_q^2 - sum n_qv^2) / (m_q - 1)."""
    paired, weight = _pairable_unit_weights(counts)
    m = row_sums(counts)
    disagreement = (m**2 - np.einsum("...v,...v->...", counts, counts))[..., None]
    return np.concatenate([disagreement * weight, counts * paired], axis=-1)


def _nominal_alpha_of_sums(total: Floats) -> Floats:
    """1 - (n - 1) sum D_q / (n^2 - sum c^2)."""
    c = total[..., 1:]
    n = c.sum(axis=-1)
    return 1 - divide((n - 1) * total[..., 0], n**2 - (c**2).sum(axis=-1))


def _distance_terms(counts: Floats, distances_VV: Floats) -> Floats:
    """[D_q, n_qv of units that take part], D_q = n_q' d n_q / (m_q - 1)."""
    paired, weight = _pairable_unit_weights(counts)
    disagreement = (counts * (counts @ distances_VV)).sum(axis=-1, keepdims=True)
    return np.concatenate([disagreement * weight, counts * paired], axis=-1)


def _distance_alpha_of_sums(total: Floats, distances_VV: Floats) -> Floats:
    """1 - (n - 1) sum D_q / (c' d c)."""
    c = total[..., 1:]
    expected = (c * (c @ distances_VV)).sum(axis=-1)
    return 1 - divide((c.sum(axis=-1) - 1) * total[..., 0], expected)


def value_moments(counts: Floats, numbers_V: Floats) -> Floats:
    """Compute number, sum and sum of squares of each unit's numbers, given as counts of values."""
    return np.stack([row_sums(counts), counts @ numbers_V, counts @ numbers_V**2], axis=-1)


def squares_within(moments: Floats) -> Floats:
    """Compute each unit's squares about its mean; what rounding leaves of no spread is 0."""
    m, total, squares = np.moveaxis(moments, -1, 0)
    within = squares - total**2 / np.where(m >= 1, m, 1.0)
    return np.where(within <= ROUNDING * squares, 0.0, within)


def square_terms(moments: Floats) -> Floats:
    """Lay out [n, sum x, sum x^2, m SS / (m - 1)], SS about the unit's mean, of units of pairs."""
    m, total, squares = np.moveaxis(moments, -1, 0)
    weighted = m * squares_within(moments) / np.where(m >= 2, m - 1, 1.0)
    return np.where(m[..., None] >= 2, np.stack([m, total, squares, weighted], axis=-1), 0.0)


def interval_alpha(total: Floats) -> Floats:
    """Compute alpha at level "interval" from sums of [n, sum x, sum x^2, m SS / (m - 1)].

    1 - (n - 1) / n * sum m SS / (m - 1) / SST
    """
    n, first, second, within = np.moveaxis(total, -1, 0)
    spread = second - divide(first**2, n)
    # A sum of squares about the mean that is rounding of its parts is 0: one value is all there is.
    spread = np.where(spread <= ROUNDING * second, 0.0, spread)
    return 1 - divide((n - 1) * within, n * spread)


def _coincidences(counts: Floats) -> Floats:
    """[o_ck flattened, n_qv] of units that have pairs, o_ck = (n_c n_k - [c = k] n_c) / (m - 1)."""
    paired, weight = _pairable_unit_weights(counts)
    pairs = counts[..., :, None] * counts[..., None, :]
    diagonal = np.arange(counts.shape[-1])
    pairs[..., diagonal, diagonal] -= counts
    weighted = (pairs * weight[..., None]).reshape(*counts.shape[:-1], counts.shape[-1] ** 2)
    # The margin of the coincidences, as whole numbers: a value that is gone must leave exactly 0.
    return np.concatenate([weighted, counts * paired], axis=-1)


def _ordinal(total: Floats, n_values: int) -> Floats:
    """Alpha with squared distances between midranks of the pairable ratings."""
    pairs, c = np.split(total, [n_values**2], axis=-1)
    rank = np.cumsum(c, axis=-1) - c / 2
    distances = (rank[..., :, None] - rank[..., None, :]) ** 2
    observed = (pairs.reshape(distances.shape) * distances).sum(axis=(-2, -1))
    expected = (c[..., :, None] * c[..., None, :] * distances).sum(axis=(-2, -1))
    return 1 - divide((c.sum(axis=-1) - 1) * observed, expected)
