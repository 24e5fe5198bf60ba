"""Omega total and omega hierarchical: group factors, and the general factor behind them.

Shape suffixes: K = items, F = factors.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from judgerel_ray.stats.minres import improper_minres, one_factor_minres
from judgerel_ray.stats.omega import Omega
from judgerel_ray.stats.rotation import Factors, Oblique, minres_factors, oblimin
from judgerel_ray.stats.scores import MissingScores, alpha_of, dropped, item_scores
from judgerel_ray.stats.statistic import Floats

_WORDS = "standardized omega total; {} factors by minres of correlations, oblimin, Schmid-Leiman"


class _Second(NamedTuple):
    """Loadings of the group factors on the general one, within 1 and without that bound."""

    gamma_F: Floats | None = None  # noqa: N815  a shape, not a case
    improper_F: Floats | None = None  # noqa: N815
    heywood: bool = False
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
    psych fits from one start and may stop at a higher minimum. Its bound on loadings on the general
    factor is soft, at .9975: where `heywood` is set, its omega hierarchical differs in the third
    digit.

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
    return omegas_from_correlations(matrix[None], n_factors=n_factors, improper=True)[0]


def omegas_from_correlations(
    corr_BKK: Floats, *, n_factors: int = 3, improper: bool = False
) -> list[Omega]:
    """Compute :func:`omega_from_correlation` of many matrices; improper solutions take longest.

    Examples
    --------
    >>> omegas_from_correlations(np.eye(3)[None])[0].undefined
    'too_few_items'
    """
    p = corr_BKK.shape[1]
    if (p - n_factors) ** 2 < p + n_factors or p < 3:
        return [_without(matrix, n_factors, "too_few_items") for matrix in corr_BKK]
    fits = minres_factors(corr_BKK, n_factors=n_factors)
    return omegas_from_factors(corr_BKK, fits, improper=improper)


def omegas_from_factors(corr_BKK: Floats, fits: Factors, *, improper: bool = False) -> list[Omega]:
    """Rotate unrotated factors of matrices, and take Schmid and Leiman's solution.

    Examples
    --------
    >>> matrix = np.full((6, 6), 0.5) + 0.5 * np.eye(6)
    >>> fits = minres_factors(matrix[None], n_factors=1)
    >>> round(omegas_from_factors(matrix[None], fits)[0].value, 4)
    0.8571
    """
    loadings = fits.loadings_BKF
    n_factors = loadings.shape[2]
    found = [_without(matrix, n_factors, "too_few_factors") for matrix in corr_BKK]
    there = np.flatnonzero(~np.isnan(loadings).any(axis=(1, 2)))
    rotated = _rotated(loadings[there])
    seconds = _second_order(rotated.correlations_BFF, improper=improper)
    for place, pattern, between, flat, second in zip(there, *rotated, seconds, strict=True):
        converged, notes = bool(flat and fits.converged_B[place]), _notes(fits, place)
        omega = _filled(corr_BKK[place], pattern, between, second, converged=converged, notes=notes)
        at_bound = bool(fits.at_bound_BK[place].any())
        found[place] = replace(omega, heywood=omega.heywood or at_bound)
    return found


def _rotated(loadings_BKF: Floats) -> Oblique:
    """Oblique factors; one factor is only turned round."""
    if loadings_BKF.shape[2] > 1:
        return oblimin(loadings_BKF)
    sign = np.where(loadings_BKF.sum(axis=1, keepdims=True) < 0, -1.0, 1.0)
    n = len(loadings_BKF)
    return Oblique(sign * loadings_BKF, np.ones((n, 1, 1)), np.ones(n, dtype=bool))


def _notes(fits: Factors, place: int) -> tuple[str, ...]:
    """What a reader must know about unrotated factors."""
    notes = ("uniqueness at its bound, .005",) if fits.at_bound_BK[place].any() else ()
    p, n_factors = fits.loadings_BKF.shape[1:]
    if (p - n_factors) ** 2 == p + n_factors:
        notes = (*notes, "as many loadings as correlations: other solutions may fit as well")
    return notes


def _without(matrix: Floats, n_factors: int, why: str) -> Omega:
    """Alpha alone."""
    words = _WORDS.format(n_factors)
    return Omega(value=None, undefined=why, estimator=words, alpha=alpha_of(matrix))


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
        Use complete subjects, or all pairs there are, as :func:`mcdonald_omega`.

    Returns
    -------
    Omega
        As of :func:`omega_from_correlation`; also "no_variance", "too_few_subjects" and
        "no_common_subjects".

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
    why = "too_few_subjects" if found.n_subjects < 3 else "no_variance" if not found.kept else None
    if why is None and np.isnan(found.correlation_KK).any():
        why = "no_common_subjects"
    if why:
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
    second: _Second,
    *,
    converged: bool,
    notes: tuple[str, ...],
) -> Omega:
    """Omega of a pattern and the correlations of its factors."""
    unique = 1 - ((pattern @ between) * pattern).sum(axis=1)
    gamma = second.gamma_F
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

    hierarchical = share(gamma)
    group = None if gamma is None else np.sqrt(np.maximum(0.0, 1 - gamma**2))
    beyond = None if second.improper_F is None else key * (pattern @ second.improper_F)
    return Omega(
        value=None if undefined else common / total,
        undefined=undefined,
        estimator=_WORDS.format(len(between)),
        hierarchical=hierarchical,
        improper=share(second.improper_F),
        improper_loadings=() if beyond is None else tuple(beyond.tolist()),
        limit=hierarchical * total / common if hierarchical is not None and common > 0 else None,
        alpha=alpha_of(turned),
        loadings=() if general is None else tuple((key * general).tolist()),
        group_loadings=_rows(key[:, None] * pattern * group) if group is not None else (),
        factor_correlations=_rows(between),
        uniquenesses=tuple(unique.tolist()),
        kept=tuple(range(len(matrix))),
        flipped=flipped,
        heywood=second.heywood or bool((unique < -1e-8).any()),
        converged=converged,
        notes=(*notes, *second.notes),
    )


def _second_order(between_BFF: Floats, *, improper: bool) -> list[_Second]:
    """One factor of the factors of each matrix."""
    n_factors = between_BFF.shape[1]
    if n_factors == 1:
        return [_Second(np.ones(1)) for _ in between_BFF]
    if n_factors == 2:
        return [_of_two(float(between[0, 1])) for between in between_BFF]
    fit = one_factor_minres(between_BFF)
    found = []
    for between, gamma, heywood in zip(between_BFF, fit.loadings_BK, fit.heywood_B, strict=True):
        if np.isnan(gamma).any():
            why = "no general factor: the factors' correlations do not sum above 0"
            found.append(_Second(notes=(why,)))
        elif heywood:
            note = "a group factor's loading on the general factor is kept at 1"
            beyond = improper_minres(between, gamma) if improper else None
            found.append(_Second(gamma, beyond, heywood=True, notes=(note,)))
        else:
            found.append(_Second(gamma))
    return found


def _of_two(shared: float) -> _Second:
    """The factor of two factors, by their correlation."""
    if shared <= 0:
        return _Second(notes=("no general factor: the two factors correlate negatively",))
    note = "two factors: equal loadings on the general factor assumed"
    return _Second(np.full(2, np.sqrt(shared)), notes=(note,))


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
