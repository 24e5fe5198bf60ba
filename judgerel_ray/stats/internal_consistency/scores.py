"""Scores of subjects on distinct items: what the coefficients of internal consistency start from.

Items are distinct instruments (templates, criteria, judges, scales); subjects are the questions.
Replications are no items: they are interchangeable, see :func:`judgerel_ray.stats.icc`.

Shape suffixes: N = subjects, K = items.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from judgerel_ray.core.codes import Flag, Noted
from judgerel_ray.stats.arguments import check_choice, scores_of
from judgerel_ray.stats.counts import Coefficient, Floats, row_means

MissingScores = Literal["listwise", "pairwise"]
Matrix = Literal["correlation", "covariance"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemCovariances:
    """Scores made ready: the covariances of the items that vary, and what was left out."""

    # Shape (n_kept, n_kept). Of the items kept, over n - 1; NaN where fewer than two subjects have
    # both items.
    covariance_KK: Floats  # noqa: N815  a shape, not a case
    # Shape (n_kept, n_kept). Of the items kept, each by the subjects that have both, whose standard
    # deviations are used; NaN also where either item does not vary among these.
    correlation_KK: Floats  # noqa: N815
    kept: tuple[int, ...]  # Columns kept: those that vary.
    constant: tuple[int, ...]  # Columns dropped because all their scores are one.
    n_subjects: int  # Subjects used: the complete ones, or those with any score.
    n_scores: int  # Scores there are of these subjects and the items kept.
    n_missing: int  # Scores missing among all.


def item_covariances(
    scores_NK: ArrayLike, *, missing: MissingScores = "listwise", function: str = "item_scores"
) -> ItemCovariances:
    """Compute the covariances of items, dropping those that do not vary."""
    scores = scores_of(scores_NK, function=function, argument="scores_NK")
    check_choice(function, ("listwise", "pairwise"), missing=missing)
    there = ~np.isnan(scores)
    used = there.all(axis=1) if missing == "listwise" else there.any(axis=1)
    n_missing = int((~there).sum())
    scores, there = scores[used], there[used]
    varies = [
        bool(np.ptp(column[seen]) > 0) if seen.any() else False
        for column, seen in zip(scores.T, there.T, strict=True)
    ]
    covariance, correlation = _pairwise_covariances(scores[:, varies], there[:, varies])
    return ItemCovariances(
        covariance_KK=covariance,
        correlation_KK=correlation,
        kept=tuple(np.flatnonzero(varies).tolist()),
        constant=tuple(np.flatnonzero(~np.array(varies, dtype=bool)).tolist()),
        n_subjects=int(used.sum()),
        n_scores=int(there[:, varies].sum()),
        n_missing=n_missing,
    )


def cronbach_alpha(
    scores_NK: ArrayLike, *, standardized: bool = False, missing: MissingScores = "listwise"
) -> Coefficient:
    r"""Compute Cronbach's alpha of the sum of distinct items.

    .. math:: \alpha = \frac{p}{p - 1}\left(1 - \frac{\mathrm{tr}\, S}{1'S1}\right)

    Parameters
    ----------
    scores_NK : array-like of float, shape (n_subjects, n_items)
        One row a subject (a question), one column an item (template, criterion, judge, ...). NaN is
        missing. Items that do not vary are dropped, and the estimator says so.
    standardized : bool
        Of correlations in place of covariances.
    missing : {"listwise", "pairwise"}
        Use complete subjects, or all pairs there are.

    Returns
    -------
    Coefficient
        At most 1; negative where items oppose one another, and is left so. ``n_raters`` is the
        number of items used. ``undefined`` is "no_variance" where no item varies, "too_few_items"
        where one does, "too_few_subjects" with fewer than two, "no_common_subjects" where two items
        were never scored together (pairwise), "no_total_variance" where the items cancel.

    Raises
    ------
    ValueError
        If the scores are not two-dimensional or not finite, or `missing` is unknown.

    References
    ----------
    .. [1] Cronbach, L. J. (1951), doi:10.1007/BF02310555.

    Examples
    --------
    S = [[1, 1], [1, 4/3]]: 2 (1 - (7/3) / (13/3)) = 12/13:

    >>> round(cronbach_alpha([[1, 1], [2, 3], [3, 3]]).value, 6)
    0.923077
    """
    found = item_covariances(scores_NK, missing=missing, function="cronbach_alpha")
    matrix = found.correlation_KK if standardized else found.covariance_KK
    value = alpha_of(matrix)
    n_items = len(found.kept)
    kind = "standardized" if standardized else "raw"
    return Coefficient(
        name="cronbach_alpha",
        estimator="; ".join(
            [f"{kind} alpha of {n_items} items, {missing}", *(f.note(n) for f, n in dropped(found))]
        ),
        value=value,
        undefined=None if value is not None else why_no_alpha(found),
        n_units=found.n_subjects,
        n_raters=n_items,
        n_ratings=found.n_scores,
        n_missing=found.n_subjects * n_items - found.n_scores,
    )


def alpha_of(matrix_KK: Floats) -> float | None:
    """Compute alpha of a covariance or correlation matrix; None where undefined or NaN in it."""
    p, total = len(matrix_KK), float(matrix_KK.sum())
    trace = float(np.trace(matrix_KK))
    if p < 2 or not total > 1e-12 * trace:
        return None
    return p / (p - 1) * (1 - trace / total)


def why_no_alpha(found: ItemCovariances) -> str:
    """Say why scores have no alpha."""
    if found.n_subjects < 2:
        return "too_few_subjects"
    if len(found.kept) >= 2 and np.isnan(found.correlation_KK).any():
        return "no_common_subjects"
    return ("no_variance", "too_few_items", "no_total_variance")[min(2, len(found.kept))]


def dropped(found: ItemCovariances) -> list[Noted]:
    """Flag which items were dropped."""
    columns = tuple(map(float, found.constant))
    return [(Flag.CONSTANT_ITEMS, columns)] if columns else []


def unsound(matrix_KK: Floats) -> list[Noted]:
    """Flag where pairs of items make no covariance matrix."""
    if not len(matrix_KK) or np.isnan(matrix_KK).any():
        return []
    if np.linalg.eigvalsh(matrix_KK)[0] >= -1e-9 * np.trace(matrix_KK):
        return []
    return [(Flag.NOT_SEMIDEFINITE, ())]


def _pairwise_covariances(
    scores: Floats, there: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
) -> tuple[Floats, Floats]:
    """Covariances over n - 1 and correlations, each pair of items over the subjects with both."""
    seen = there.astype(np.float64)
    n_KK = seen.T @ seen
    # About each item's mean first, for digits; then about the means of each pair's own subjects.
    filled = np.where(there, scores - row_means(scores.T), 0.0)
    sums_KK = filled.T @ seen
    few = n_KK < 2

    def centred(squares: Floats, first: Floats, second: Floats) -> Floats:
        return np.where(few, np.nan, squares - first * second / np.maximum(n_KK, 1))

    products = centred(filled.T @ filled, sums_KK, sums_KK.T)
    spread = centred((filled**2).T @ seen, sums_KK, sums_KK)
    # What is left of an item's squares by rounding, where it does not vary.
    spread = np.where(spread > 1e-12 * np.diagonal(spread)[:, None], spread, np.nan)
    correlation: Floats = products / np.sqrt(spread * spread.T)
    np.fill_diagonal(correlation, 1.0)
    return products / np.maximum(n_KK - 1, 1), correlation
