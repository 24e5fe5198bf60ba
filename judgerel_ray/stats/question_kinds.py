"""Questions by what they add to two sides, and the difference when some of them are exchanged.

Shape suffixes: C = common questions, T = terms, R = distinct rows of terms, G = kinds of questions
(pairs of rows that differ), S = exchanges, J = terms that are no copy of another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.statistic import Floats

BORROWED = 2.0
"""Questions of the other side in each side's error, as in Agresti and Coull's interval."""
_STEP = 1e-3
Value = Callable[[Floats], Floats]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class QuestionKinds:
    """Questions by what they add: each kind has two rows of terms, one on either side.

    Attributes
    ----------
    low_GT, high_GT : ndarray of float, shape (n_kinds, n_terms)
        The two rows of each kind of questions in which the sides differ.
    n_G : ndarray of int, shape (n_kinds,)
        Questions of each kind.
    held_G : ndarray of float, shape (n_kinds,)
        Those of them in which the first side has the low row.
    same_RT, n_R : ndarray of float, shapes (n_rows, n_terms) and (n_rows,)
        Rows that both sides share, and in how many questions.
    copies_J : tuple of ndarray of int
        Terms that are not 0 everywhere, those that are each other's copies together.
    steps_J : ndarray of float
        A thousandth of the largest of them.
    """

    low_GT: Floats  # noqa: N815  a shape, not a case
    high_GT: Floats  # noqa: N815
    n_G: NDArray[np.int64]  # noqa: N815
    held_G: Floats  # noqa: N815
    same_RT: Floats  # noqa: N815
    n_R: Floats  # noqa: N815
    copies_J: tuple[NDArray[np.intp], ...]  # noqa: N815
    steps_J: Floats  # noqa: N815

    @property
    def width(self) -> int:
        """Numbers of one exchange that are held at once."""
        return max(1, len(self.n_G), len(self.n_R), len(self.low_GT.T))

    @property
    def cost(self) -> float:
        """What one exchange takes, in units of 5 to 8 nanoseconds."""
        n_terms, n_rows = len(self.low_GT.T), 2 * len(self.n_G) + len(self.n_R)
        return 4.0 * n_terms * len(self.copies_J) + n_rows * (len(self.copies_J) + 2.0)

    def differences(self, value: Value, held_SG: Floats) -> tuple[Floats, Floats]:
        """Give differences and their errors, the low row on the first side in so many questions.

        Examples
        --------
        >>> kinds = question_kinds(np.array([[1.0], [2.0]]), np.array([[3.0], [2.0]]))
        >>> kinds.differences(lambda t: t[..., 0], np.array([[1.0], [0.0]]))[0].tolist()
        [2.0, -2.0]
        """
        given_SG = self.n_G - held_SG
        (first_S, first_SJ), (second_S, second_SJ) = self._sides(value, held_SG)
        low_JG, high_JG, same_JR = self._columns
        # What a question moves each side by, where it is and where it is not.
        first_low, first_high = first_SJ @ low_JG, first_SJ @ high_JG
        second_low, second_high = second_SJ @ low_JG, second_SJ @ high_JG
        crossed_S = _dot(held_SG, first_high**2 + second_low**2)
        crossed_S += _dot(given_SG, first_low**2 + second_high**2)
        crossed_S += ((first_SJ @ same_JR) ** 2 + (second_SJ @ same_JR) ** 2) @ self.n_R
        second_high -= first_low
        second_low -= first_high
        same_SR = (second_SJ - first_SJ) @ same_JR
        total_S = _dot(held_SG, second_high) + _dot(given_SG, second_low) + same_SR @ self.n_R
        squares_S = _dot(held_SG, second_high**2) + _dot(given_SG, second_low**2)
        squares_S += same_SR**2 @ self.n_R
        n = float(self.n_G.sum() + self.n_R.sum())
        own_S = np.maximum(0.0, squares_S - total_S**2 / n) * n / max(1.0, n - 1)
        return second_S - first_S, np.sqrt(own_S + BORROWED / n * crossed_S)

    def effective(self, value: Value) -> float:
        """Count the questions whose exchange matters, less where some matter more than others.

        Examples
        --------
        >>> first, second = np.array([[1.0], [2.0], [3.0]]), np.array([[3.0], [2.0], [1.0]])
        >>> question_kinds(first, second).effective(lambda t: t[..., 0])
        2.0
        """
        (_, first_SJ), (_, second_SJ) = self._sides(value, self.held_G[None])
        low_JG, high_JG, _ = self._columns
        squares_G = ((first_SJ + second_SJ) @ (high_JG - low_JG))[0] ** 2
        fourth = float(self.n_G @ squares_G**2)
        return float(self.n_G @ squares_G) ** 2 / fourth if fourth > 0 else 0.0

    @property
    def _columns(self) -> tuple[Floats, Floats, Floats]:
        """The low, high and same rows, a line for each term that is no copy."""
        one_J = np.array([copies[0] for copies in self.copies_J], dtype=np.intp)
        return self.low_GT[:, one_J].T, self.high_GT[:, one_J].T, self.same_RT[:, one_J].T

    def _sides(
        self, value: Value, held_SG: Floats
    ) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
        """Values (S,) and slopes (S, J) of either side."""
        given_SG, same_T = self.n_G - held_SG, self.n_R @ self.same_RT
        first_ST = same_T + held_SG @ self.low_GT + given_SG @ self.high_GT
        second_ST = same_T + held_SG @ self.high_GT + given_SG @ self.low_GT
        return self._slopes(value, first_ST), self._slopes(value, second_ST)

    def _slopes(self, value: Value, sums_ST: Floats) -> tuple[Floats, Floats]:
        """Values (S,), and what each term moves them by (S, J)."""
        values_S = value(sums_ST)
        slopes_SJ = np.empty((len(sums_ST), len(self.copies_J)))
        for j, (copies, step) in enumerate(zip(self.copies_J, self.steps_J, strict=True)):
            aside_T = np.zeros(sums_ST.shape[1])
            aside_T[copies] = step
            more_S, less_S = value(sums_ST + aside_T), value(sums_ST - aside_T)
            slope_S = (more_S - less_S) / (2 * step)
            slopes_SJ[:, j] = np.where(np.isnan(slope_S), (more_S - values_S) / step, slope_S)
        return values_S, slopes_SJ


def _dot(left_SG: Floats, right_SG: Floats) -> Floats:
    """Sums of products, a row each."""
    summed: Floats = np.einsum("sg,sg->s", left_SG, right_SG)
    return summed


def question_kinds(first_CT: Floats, second_CT: Floats) -> QuestionKinds:
    """Sort questions by what they add to either side.

    Examples
    --------
    >>> kinds = question_kinds(np.array([[1.0], [2.0], [3.0]]), np.array([[3.0], [2.0], [1.0]]))
    >>> kinds.n_G.tolist(), kinds.held_G.tolist(), kinds.n_R.tolist()
    ([2], [1.0], [1.0])
    """
    n = len(first_CT)
    rows_RT, row_C = _distinct(np.concatenate([first_CT, second_CT]))
    first_C, second_C = row_C[:n], row_C[n:]
    differs_C = first_C != second_C
    low_C, high_C = np.minimum(first_C, second_C), np.maximum(first_C, second_C)
    pairs_G, kind_C, n_G = np.unique(
        (low_C * len(rows_RT) + high_C)[differs_C], return_inverse=True, return_counts=True
    )
    held_C = (first_C == low_C)[differs_C].astype(np.float64)
    same_R, n_R = np.unique(first_C[~differs_C], return_counts=True)
    columns: dict[bytes, list[int]] = {}
    for term, column_R in enumerate(rows_RT.T):
        if column_R.any():
            columns.setdefault(column_R.tobytes(), []).append(term)
    copies_J = tuple(np.array(copies) for copies in columns.values())
    return QuestionKinds(
        low_GT=rows_RT[pairs_G // len(rows_RT)],
        high_GT=rows_RT[pairs_G % len(rows_RT)],
        n_G=n_G.astype(np.int64),
        held_G=np.bincount(kind_C, held_C, minlength=n_G.size).astype(np.float64),
        same_RT=rows_RT[same_R],
        n_R=n_R.astype(np.float64),
        copies_J=copies_J,
        steps_J=np.array([_STEP * np.abs(rows_RT[:, copies[0]]).max() for copies in copies_J]),
    )


def _distinct(rows: Floats) -> tuple[Floats, NDArray[np.intp]]:
    """Distinct rows, in an order of their own, and which of them each is."""
    # By one number a row, ten times faster than by comparing rows.
    weights_T = np.random.default_rng(1).uniform(1, 2, (rows.shape[1],))
    key = np.zeros(len(rows))
    for place, weight in enumerate(weights_T):  # so that equal rows have the same roundings
        key += rows[:, place] * weight
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    found = rows[first]
    if not np.array_equal(found[number], rows):
        found, number = np.unique(rows, axis=0, return_inverse=True)
    return found, number.ravel()
