"""Omega total and omega hierarchical: group factors, and the general factor behind them.

Shape suffixes: K = items, F = factors.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from judgerel_ray.stats.minres import one_factor_minres
from judgerel_ray.stats.omega import Omega
from judgerel_ray.stats.rotation import minres_factors, oblimin
from judgerel_ray.stats.scores import MissingScores, alpha_of, dropped, item_scores
from judgerel_ray.stats.statistic import Floats


class _Second(NamedTuple):
    """Loadings of the group factors on the general one, free and kept within 1, or why not."""

    free_F: Floats | None = None  # noqa: N815  a shape, not a case
    bounded_F: Floats | None = None  # noqa: N815
    notes: tuple[str, ...] = ()


def omega_from_correlation(corr_KK: ArrayLike, *, n_factors: int = 3) -> Omega:
    """Compute omega total and hierarchical of a correlation matrix, as R's psych does.

    Factors by minres, rotated by oblimin; one factor of their correlations; the general loadings
    are g = F gamma, and Schmid and Leiman's group loadings F sqrt(1 - gamma^2). Items with a
    negative general loading are turned round, and reported.

    Parameters
    ----------
    corr_KK : array-like of float, shape (n_items, n_items)
        A correlation matrix of distinct items; it may be singular.
    n_factors : int
        Group factors, at least 1. With two, equal loadings on the general factor are assumed; with
        one, omega hierarchical is that of the one factor.

    Returns
    -------
    Omega
        ``value`` is omega total, (1'R1 - sum u^2) / 1'R1 with u^2 = 1 - diag(F Phi F'), and
        ``hierarchical`` (sum g)^2 / 1'R1, R after turning. ``undefined`` is "too_few_items" where
        the factors are not identified (fewer items than (p - F)^2 = p + F asks for),
        "too_few_factors" where the matrix has fewer, or "not_converged".

    Raises
    ------
    ValueError
        If the matrix is not symmetric, its diagonal not 1, or `n_factors` below 1.

    Notes
    -----
    The rotation starts close to the unrotated loadings, where psych's does; others may have other
    minima.

    References
    ----------
    .. [1] Schmid, J. and Leiman, J. M. (1957), doi:10.1007/BF02289209.

    Examples
    --------
    Three groups of three, loadings .8 on factors correlated .5: 1'R1 = 37.8, so total
    1 - 9 x .36 / 37.8 and hierarchical (9 x .8 x sqrt(.5))^2 / 37.8.

    >>> matrix = np.full((9, 9), 0.32)
    >>> for start in (0, 3, 6):
    ...     matrix[start : start + 3, start : start + 3] = 0.64
    >>> np.fill_diagonal(matrix, 1.0)
    >>> found = omega_from_correlation(matrix)
    >>> round(found.value, 4), round(found.hierarchical, 4)
    (0.9143, 0.6857)
    """
    matrix = _checked(corr_KK, n_factors)
    p = len(matrix)
    words = f"{n_factors} factors by minres of correlations, oblimin, Schmid-Leiman; omega total"
    if (p - n_factors) ** 2 < p + n_factors or p < 3:
        return Omega(value=None, undefined="too_few_items", estimator=words, alpha=alpha_of(matrix))
    fit = minres_factors(matrix, n_factors=n_factors)
    if fit is None:
        return Omega(
            value=None, undefined="too_few_factors", estimator=words, alpha=alpha_of(matrix)
        )
    if n_factors == 1:
        sign = -1.0 if fit.loadings_KF.sum() < 0 else 1.0
        pattern, between, rotated = sign * fit.loadings_KF, np.ones((1, 1)), True
    else:
        pattern, between, rotated = oblimin(fit.loadings_KF)
    converged = fit.converged and rotated
    notes = ("uniqueness at its bound, .005",) if fit.at_bound_K.any() else ()
    omega = _filled(matrix, pattern, between, words, converged=converged, notes=notes)
    return replace(omega, heywood=omega.heywood or bool(fit.at_bound_K.any()))


def omega_hierarchical(
    scores_NK: ArrayLike, *, n_factors: int = 3, missing: MissingScores = "listwise"
) -> Omega:
    """Compute :func:`omega_from_correlation` of scores, dropping items that do not vary.

    Parameters
    ----------
    scores_NK : array-like of float, shape (n_subjects, n_items)
        One row a subject (a question), one column a distinct item; NaN is missing.
    n_factors : int
        Group factors, at least 1.
    missing : {"listwise", "pairwise"}
        Use complete subjects, or all pairs there are.

    Returns
    -------
    Omega
        As of :func:`omega_from_correlation`; also "no_variance" and "too_few_subjects".

    Raises
    ------
    ValueError
        If the scores are not two-dimensional or not finite, or `n_factors` is below 1.

    Examples
    --------
    >>> scores = np.random.default_rng(0).normal(size=(40, 2)) @ np.ones((2, 9))
    >>> omega_hierarchical(scores[:, :3]).undefined
    'too_few_items'
    """
    found = item_scores(scores_NK, missing=missing, function="omega_hierarchical")
    if found.n_subjects < 3 or not found.kept:
        why = "too_few_subjects" if found.n_subjects < 3 else "no_variance"
        omega = Omega(value=None, undefined=why, estimator=f"{n_factors} factors")
    else:
        omega = omega_from_correlation(found.correlation_KK, n_factors=n_factors)
    return replace(
        omega, kept=found.kept, dropped=found.constant, n_subjects=found.n_subjects,
        n_missing=found.n_missing, notes=(*dropped(found), *omega.notes),
        flipped=tuple(found.kept[i] for i in omega.flipped),
    )  # fmt: skip


def _filled(
    matrix: Floats,
    pattern: Floats,
    between: Floats,
    words: str,
    *,
    converged: bool,
    notes: tuple[str, ...],
) -> Omega:
    """Omega of a pattern and the correlations of its factors."""
    second = _second_order(between)
    unique = 1 - ((pattern @ between) * pattern).sum(axis=1)
    gamma = second.free_F if second.free_F is not None else second.bounded_F
    general = pattern @ gamma if gamma is not None else None
    # Without a general factor there is nothing to turn items by.
    key = np.ones(len(matrix)) if general is None else np.where(general < 0, -1.0, 1.0)
    total = float(key @ matrix @ key)
    flipped = tuple(np.flatnonzero(key < 0).tolist())
    if flipped:
        notes = (*notes, f"items turned round: {', '.join(map(str, flipped))}")
    turned = matrix * np.outer(key, key)
    common = total - float(unique.sum())
    undefined = None if converged else "not_converged"
    if undefined is None and not total > 0:
        undefined = "non_positive_total"

    def share(loadings_F: Floats | None) -> float | None:
        """(sum of general loadings)^2 over the variance of the sum."""
        if undefined or loadings_F is None:
            return None
        return float((key @ (pattern @ loadings_F)) ** 2) / total

    hierarchical = share(second.free_F)
    group = None if gamma is None else np.sqrt(np.maximum(0.0, 1 - gamma**2))
    improper = second.bounded_F is not None
    return Omega(
        value=None if undefined else common / total,
        undefined=undefined,
        estimator=words,
        hierarchical=hierarchical,
        hierarchical_bounded=share(second.bounded_F) if improper else None,
        limit=hierarchical * total / common if hierarchical is not None and common > 0 else None,
        alpha=alpha_of(turned),
        loadings=() if general is None else tuple((key * general).tolist()),
        group_loadings=_rows(key[:, None] * pattern * group) if group is not None else (),
        factor_correlations=_rows(between),
        uniquenesses=tuple(unique.tolist()),
        kept=tuple(range(len(matrix))),
        flipped=flipped,
        heywood=improper or bool((unique < -1e-8).any()),
        converged=converged,
        notes=(*notes, *second.notes),
    )


def _second_order(between_FF: Floats) -> _Second:
    """One factor of the factors."""
    n_factors = len(between_FF)
    if n_factors == 1:
        return _Second(np.ones(1))
    if n_factors == 2:
        shared = float(between_FF[0, 1])
        if shared <= 0:
            return _Second(notes=("no general factor: the two factors correlate negatively",))
        note = "two factors: equal loadings on the general factor assumed"
        return _Second(np.full(2, np.sqrt(shared)), notes=(note,))
    fit = one_factor_minres(between_FF[None])
    free = fit.loadings_BK[0]
    if np.isnan(free).any():
        return _Second(notes=("no general factor: the factors' correlations do not sum above 0",))
    if fit.converged_B[0] and (np.abs(free) <= 1 + 1e-8).all():
        return _Second(free)
    note = "a group factor's loading on the general factor is above 1"
    within = one_factor_minres(between_FF[None], bounded=True)
    bounded = within.loadings_BK[0] if within.converged_B[0] else None
    return _Second(free if fit.converged_B[0] else None, bounded, (note,))


def _rows(matrix: Floats) -> tuple[tuple[float, ...], ...]:
    """A matrix as tuples."""
    return tuple(tuple(row) for row in matrix.tolist())


def _checked(corr_KK: ArrayLike, n_factors: int) -> Floats:
    """A correlation matrix, symmetric to the last digit."""
    name = "omega_from_correlation"
    if n_factors < 1:
        raise ValueError(f"{name}: n_factors must be at least 1, got {n_factors}")
    matrix = np.array(corr_KK, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.isfinite(matrix).all():
        raise ValueError(f"{name}: corr_KK must be a finite square matrix, got {matrix.shape}")
    if not np.allclose(matrix, matrix.T, rtol=0, atol=1e-8):
        raise ValueError(f"{name}: corr_KK must be symmetric")
    if not np.allclose(np.diagonal(matrix), 1.0, rtol=0, atol=1e-8):
        raise ValueError(f"{name}: corr_KK must have ones on its diagonal")
    return (matrix + matrix.T) / 2
