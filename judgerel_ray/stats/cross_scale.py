"""Disagreement across scales as sums over items: terms of each item, and alpha from their sums.

An item's scores on one scale are a distribution over that scale's columns (its replications count
as one score together), and pairs are of all of one scale's with all of another's.

Shape suffixes: N = items, M = scales, V = columns (all values of all scales), G = different values
on the common axis, T = terms; ``...`` = any leading batch axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.scale_mapping import ScaleLevel
from judgerel_ray.stats.statistic import Floats, divide


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScaleAxis:
    """Columns of several scales on one axis, and how far apart they are.

    Attributes
    ----------
    values : tuple of ndarray of float
        The different mapped values of each scale, ascending.
    level : {"nominal", "ordinal", "interval"}
        Level of measurement of the common axis.
    ranked : bool
        Whether a value is worth its midrank within its own scale, over the items: the values then
        only order a scale's columns, and distances follow from the totals.
    """

    values: tuple[Floats, ...]
    level: ScaleLevel
    ranked: bool = False

    @property
    def n_columns(self) -> int:
        """How many columns all scales have."""
        return sum(one.size for one in self.values)

    @property
    def n_kinds(self) -> int:
        """How many columns differ: by value, or by scale and value where they are ranks."""
        return self.n_columns if self.ranked else self._groups()[0].size

    def terms(self, shares: Sequence[Floats]) -> Floats:
        """Compute what each item adds, from its distribution on each scale.

        Parameters
        ----------
        shares : sequence of ndarray of float, shapes (n_items, n_values of the scale)
            Rows sum to 1, or are 0 where an item has no score on the scale. Items with scores on
            fewer than two scales add nothing.

        Returns
        -------
        ndarray of float, shape (n_items, n_terms)

        Examples
        --------
        >>> axis = ScaleAxis(values=(np.array([0.0, 1.0]),) * 2, level="nominal")
        >>> agreeing, split = np.array([[1.0, 0.0]]), np.array([[0.5, 0.5]])
        >>> axis.terms([agreeing, split]).tolist()
        [[1.0, 1.5, 0.5]]
        """
        there_NM = np.stack([one.sum(axis=1) > 0 for one in shares], axis=1)
        there_NM &= (there_NM.sum(axis=1) >= 2)[:, None]
        n_N = there_NM.sum(axis=1)
        weight_N = np.where(n_N >= 2, 1 / np.maximum(n_N - 1, 1), 0.0)
        shares = [one * there_NM[:, [j]] for j, one in enumerate(shares)]
        if self.level == "interval" and not self.ranked:
            return self._square_terms(shares, there_NM, weight_N)
        kinds_NMG = np.stack(self._by_kind(shares), axis=1)
        totals_NG = kinds_NMG.sum(axis=1)
        if self.level == "nominal":
            same = (totals_NG**2).sum(axis=1) - (kinds_NMG**2).sum(axis=(1, 2))
            apart = np.maximum(n_N - same * weight_N, 0.0)
            return np.concatenate([apart[:, None], totals_NG], axis=1)
        pairs = totals_NG[:, :, None] * totals_NG[:, None, :]
        pairs -= np.einsum("nmg,nmh->ngh", kinds_NMG, kinds_NMG)
        flat = (pairs * weight_N[:, None, None]).reshape(len(pairs), self.n_kinds**2)
        return np.concatenate([flat, totals_NG], axis=1)

    def value(self, total: Floats, *, endless: bool = False) -> Floats:
        """Compute alpha from sums of terms.

        Parameters
        ----------
        total : ndarray of float, shape (..., n_terms)
            Sums of terms over items.
        endless : bool
            Whether the terms are weighted by probabilities, as of endlessly many items, in place
            of Krippendorff's correction for few.

        Returns
        -------
        ndarray of float, shape (...)
            1 - Do / De; NaN where all scores are one value.

        Examples
        --------
        Two items, 0 with 0 and 1 with 1:

        >>> axis = ScaleAxis(values=(np.array([0.0, 1.0]),) * 2, level="nominal")
        >>> float(axis.value(np.array([0.0, 2.0, 2.0])))
        1.0
        """
        observed, expected, n = self._disagreement(total)
        return 1 - divide((n if endless else n - 1) * observed, expected)

    def slope(self, total: Floats) -> Floats:
        """Compute by how much alpha falls where items disagree by 1 more and totals stay.

        Examples
        --------
        >>> axis = ScaleAxis(values=(np.array([0.0, 1.0]),) * 2, level="nominal")
        >>> float(axis.slope(np.array([0.0, 2.0, 2.0])))
        0.375
        """
        _, expected, n = self._disagreement(total)
        return divide(n - 1, expected)

    def vectors(self, shares: Sequence[Floats], total_T: Floats) -> list[Floats]:
        """Give vectors whose products across scales are all that dealing scores changes.

        Examples
        --------
        >>> axis = ScaleAxis(values=(np.array([0.0, 1.0]),) * 2, level="interval")
        >>> axis.vectors([np.array([[0.5, 0.5]])] * 2, np.zeros(4))[0].tolist()
        [[0.0]]
        """
        if self.level == "nominal":
            return [one / np.sqrt(2) for one in self._by_kind(shares)]
        if self.level == "interval" and not self.ranked:
            centre = self._centre()
            return [
                (one @ (x - centre))[:, None] for one, x in zip(shares, self.values, strict=True)
            ]
        place = self._ranks(total_T[self.n_kinds**2 :])
        return [(one @ place)[:, None] for one in self._by_kind(shares)]

    def _disagreement(self, total: Floats) -> tuple[Floats, Floats, Floats]:
        """Sums over pairs inside items and over pairs of all scores, and how many scores."""
        if self.level == "interval" and not self.ranked:
            observed, n, first, second = np.moveaxis(total, -1, 0)
            spread = n * second - first**2
            # A spread that is rounding of its parts is none: one value is all there is.
            expected = 2 * np.where(spread <= 1e-12 * n * second, 0.0, spread)
        elif self.level == "nominal":
            observed, c = total[..., 0], total[..., 1:]
            n = c.sum(axis=-1)
            expected = n**2 - (c**2).sum(axis=-1)
            expected = np.where(expected <= 1e-12 * n**2, 0.0, expected)
        else:
            size = self.n_kinds
            pairs, c = np.split(total, [size**2], axis=-1)
            n = c.sum(axis=-1)
            place = self._ranks(c)
            distances = (place[..., :, None] - place[..., None, :]) ** 2
            observed = (pairs.reshape(distances.shape) * distances).sum(axis=(-2, -1))
            expected = np.einsum("...g,...h,...gh->...", c, c, distances)
            # Midranks of one value are all the same, but for rounding.
            expected = np.where(expected <= 1e-12 * n**2, 0.0, expected)
        return observed, expected, n

    def _square_terms(
        self, shares: Sequence[Floats], there_NM: NDArray[np.bool_], weight_N: Floats
    ) -> Floats:
        """[sum of mean squared distances of ordered pairs / (m - 1), m, sum x, sum x^2]."""
        centre = self._centre()
        centred = [x - centre for x in self.values]
        mean_NM = np.stack([p @ x for p, x in zip(shares, centred, strict=True)], axis=1)
        square_NM = np.stack([p @ x**2 for p, x in zip(shares, centred, strict=True)], axis=1)
        spread_NM = np.maximum(square_NM - mean_NM**2, 0.0)
        apart_N = np.zeros(len(mean_NM))
        for j in range(mean_NM.shape[1]):
            for k in range(j):  # not by sums of squares: equal means must leave exactly 0
                both = there_NM[:, j] & there_NM[:, k]
                squared = (mean_NM[:, j] - mean_NM[:, k]) ** 2
                apart_N += 2 * both * (squared + spread_NM[:, j] + spread_NM[:, k])
        columns = [apart_N * weight_N, there_NM.sum(axis=1), mean_NM.sum(axis=1)]
        return np.stack([*columns, square_NM.sum(axis=1)], axis=1)

    def _centre(self) -> float:
        """Middle of the axis: squares about it lose fewer digits."""
        every = np.concatenate(self.values)
        return float(every.min() + every.max()) / 2 if every.size else 0.0

    def _groups(self) -> tuple[Floats, NDArray[np.intp]]:
        """The different values of all scales, and which of them each column is."""
        return np.unique(np.concatenate(self.values).round(9), return_inverse=True)

    def _by_kind(self, shares: Sequence[Floats]) -> list[Floats]:
        """Distributions over the columns that differ, alike for all scales."""
        kind_V = np.arange(self.n_columns) if self.ranked else self._groups()[1]
        parts = np.split(kind_V, np.cumsum([one.size for one in self.values])[:-1])
        found = []
        for mine, kinds in zip(shares, parts, strict=True):
            wide = np.zeros((len(mine), self.n_kinds))
            wide[:, kinds] = mine
            found.append(wide)
        return found

    def _ranks(self, c: Floats) -> Floats:
        """Midranks of all scores together, or within each scale, as shares of their number."""
        if not self.ranked:
            return _shared_midranks(c)
        ends = np.cumsum([one.size for one in self.values])[:-1]
        return np.concatenate([_shared_midranks(one) for one in np.split(c, ends, -1)], axis=-1)


def _shared_midranks(c: Floats) -> Floats:
    """(cumsum - c / 2) / sum, 0 where there are none."""
    n = c.sum(axis=-1, keepdims=True)
    ranks: Floats = (np.cumsum(c, axis=-1) - c / 2) / np.where(n > 0, n, 1.0)
    return ranks
