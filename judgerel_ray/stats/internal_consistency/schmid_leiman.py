"""Omega total and omega hierarchical: group factors, and the general factor behind them.

Several common factors by minres, their oblique rotation, and the factor that they share.

Shape suffixes: B = matrices, N = points, K = items, F = factors.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.core.codes import Flag, Noted
from judgerel_ray.stats.arguments import check_at_least_1
from judgerel_ray.stats.counts import Floats
from judgerel_ray.stats.internal_consistency.minres import (
    improper_minres,
    lowest_minima,
    one_factor_minres,
)
from judgerel_ray.stats.internal_consistency.omega import Omega
from judgerel_ray.stats.internal_consistency.scores import (
    MissingScores,
    alpha_of,
    dropped,
    item_covariances,
)

LEAST_UNIQUENESS = 0.005
_TURNS, _HALVINGS, _FLAT = 5000, 60, 1e-10
_STARTS, _UNIQUENESSES = (8, 32), 320  # fewest and most starts; uniquenesses in all of them


class Factors(NamedTuple):
    """Unrotated loadings, whether a minimum was reached, and the uniquenesses there."""

    loadings_BKF: Floats  # noqa: N815  a shape, not a case
    converged_B: NDArray[np.bool_]  # noqa: N815
    uniquenesses_BK: Floats  # noqa: N815

    @property
    def at_bound_BK(self) -> NDArray[np.bool_]:  # noqa: N802
        """Which uniquenesses lie at their bound."""
        return self.uniquenesses_BK <= LEAST_UNIQUENESS * (1 + 1e-9)


class Oblique(NamedTuple):
    """Rotated patterns, the correlations of their factors, and whether a minimum was reached."""

    pattern_BKF: Floats  # noqa: N815
    correlations_BFF: Floats  # noqa: N815
    converged_B: NDArray[np.bool_]  # noqa: N815


def minres_factors(correlations_BKK: Floats, *, n_factors: int) -> Factors:
    """Fit several factors by least squares of the correlations, of many matrices at once.

    Minimised over the uniquenesses is half the sum of squares of the eigenvalues of R - Psi after
    the first `n_factors`, which is the misfit off the diagonal with the best loadings put in.
    Uniquenesses are kept at .005 or above, as R's psych does, and it is said where they lie there.
    The lowest minimum is taken that is reached from many starts: uniquenesses of a half, what the
    other items do not explain (psych's only start), and points all over the box.

    Loadings of shape (n_matrices, n_items, n_factors); NaN where R - Psi has fewer than `n_factors`
    positive eigenvalues.

    Notes
    -----
    32 starts up to ten items, where minima are many, down to eight from 40 on: 0.2 ms a matrix and
    start with ten items.
    """
    n, n_items = correlations_BKK.shape[:2]
    least = np.full((n, n_items), LEAST_UNIQUENESS)
    found = lowest_minima(
        FactorsMisfit(correlations_BKK, n_factors),
        _starting_points(correlations_BKK),
        least,
        np.ones_like(least),
    )
    roots, vectors = _eigenpairs(correlations_BKK, found.x_BK)
    last = slice(None, -n_factors - 1, -1)
    top = np.where(roots[:, -n_factors, None] > 0, roots[:, last], np.nan)
    return Factors(
        vectors[:, :, last] * np.sqrt(top)[:, None, :],
        found.converged_B,
        found.x_BK,
    )


class FactorsMisfit:
    """Half the squares of the smaller eigenvalues of R - Psi, as functions of the uniquenesses."""

    def __init__(self, matrices_BKK: Floats, n_factors: int) -> None:
        self.matrices_BKK, self.n_factors = matrices_BKK, n_factors

    def at(self, x_NK: Floats, which_N: NDArray[np.intp]) -> tuple[Floats, tuple[Floats, ...]]:
        """Misfits, with the eigenvalues and eigenvectors."""
        roots, vectors = _eigenpairs(self.matrices_BKK[which_N], x_NK)
        small = roots[:, : -self.n_factors]
        return np.einsum("ns,ns->n", small, small) / 2, (roots, vectors)

    def slopes(
        self, x_NK: Floats, which_N: NDArray[np.intp], parts: tuple[Floats, ...]
    ) -> tuple[Floats, Floats]:
        """By perturbation of the eigenvalues."""
        del x_NK, which_N  # all is in the eigenvalues
        roots, vectors = parts
        small, minor = roots[:, : -self.n_factors], vectors[:, :, : -self.n_factors]
        # Between small roots all terms sum to the square of the projector.
        curvature: Floats = np.matmul(minor, minor.swapaxes(1, 2)) ** 2
        for place in range(1, self.n_factors + 1):
            weights = 2 * small / np.minimum(small - roots[:, -place, None], -1e-12)
            vector = vectors[:, :, -place]
            turned = np.matmul(minor * weights[:, None, :], minor.swapaxes(1, 2))
            curvature += turned * vector[:, :, None] * vector[:, None, :]
        return -np.einsum("nks,ns->nk", minor**2, small), curvature


def _eigenpairs(matrices_NKK: Floats, psi_NK: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues, ascending, and eigenvectors of R - Psi."""
    shared = matrices_NKK.copy()
    items = np.arange(psi_NK.shape[1])
    shared[:, items, items] -= psi_NK
    return np.linalg.eigh(shared)


def _starting_points(matrices_BKK: Floats) -> Floats:
    """A half, what other items do not explain, and points all over, the same for all matrices."""
    n, n_items = matrices_BKK.shape[:2]
    n_starts = int(np.clip(_UNIQUENESSES // n_items, *_STARTS))
    points = np.random.default_rng(0).uniform(LEAST_UNIQUENESS, 1.0, (n_starts - 2, n_items))
    starts = np.empty((n, n_starts, n_items))
    starts[:, 0], starts[:, 1] = 0.5, _unexplained_variances(matrices_BKK)
    # Items by how much they share, so that their order in the matrix makes no difference.
    order = np.argsort((matrices_BKK**2).sum(axis=2), axis=1)
    place = np.broadcast_to(order[:, None, :], (n, n_starts - 2, n_items))
    np.put_along_axis(starts[:, 2:], place, np.broadcast_to(points, place.shape), axis=2)
    return starts


def _unexplained_variances(matrices_BKK: Floats) -> Floats:
    """1 - squared multiple correlations, where the matrix has an inverse; a half otherwise."""
    roots = np.linalg.eigvalsh(matrices_BKK)
    sound = roots[:, 0] > 1e-8 * roots[:, -1]
    unexplained: Floats = np.full(matrices_BKK.shape[:2], 0.5)
    inverse = np.linalg.inv(matrices_BKK[sound])
    unexplained[sound] = 1 / np.diagonal(inverse, axis1=1, axis2=2)
    return np.clip(unexplained, LEAST_UNIQUENESS, 1.0)


def oblimin(loadings_BKF: Floats) -> Oblique:
    """Rotate loadings to a simple pattern with correlated factors, of many matrices at once.

    Minimised is the sum over items and pairs of factors of the product of squared loadings
    (oblimin with gamma 0, quartimin), without row normalisation, by gradient projection: steps
    along the slope of the rotation, columns scaled back to length 1, halved while they lead uphill.
    It starts close to the unrotated axes: of 310 sets of 6 to 12 items none of 20 other starts led
    lower.

    References
    ----------
    .. [1] Jennrich, R. I. (2002), doi:10.1007/BF02294706.
    """
    n, _, n_factors = loadings_BKF.shape
    # A little off the unrotated axes: of symmetrical loadings those are a saddle.
    near = np.eye(n_factors) + 0.01 * np.triu(np.ones((n_factors, n_factors)), 1)
    turn = np.repeat((near / np.sqrt((near**2).sum(axis=0)))[None], n, axis=0)
    pattern, value, slope = _loading_complexity(loadings_BKF, turn)
    stride, converged = np.ones(n), np.zeros(n, dtype=bool)
    active = np.arange(n)
    for _ in range(_TURNS):
        here, down = turn[active], slope[active]
        tangent = down - here * (here * down).sum(axis=1, keepdims=True)
        length = np.einsum("nfg,nfg->n", tangent, tangent)
        flat = length < _FLAT**2
        converged[active[flat]] = True
        active, here, tangent, length = (one[~flat] for one in (active, here, tangent, length))
        if not active.size:
            break
        stride[active] *= 2
        uphill = np.arange(active.size)
        for _ in range(_HALVINGS):
            rows = active[uphill]
            new = here[uphill] - stride[rows, None, None] * tangent[uphill]
            new = new / np.sqrt((new**2).sum(axis=1, keepdims=True))
            tried = _loading_complexity(loadings_BKF[rows], new)
            lower = tried[1] < value[rows] - 0.5 * stride[rows] * length[uphill]
            rows = rows[lower]
            turn[rows] = new[lower]
            pattern[rows], value[rows], slope[rows] = (one[lower] for one in tried)
            uphill = uphill[~lower]
            if not uphill.size:
                break
            stride[active[uphill]] /= 2
        # No step improves what rounding lets one see.
        converged[active[uphill]] = length[uphill] < 1e-12
        active = np.delete(active, uphill)
    sign = np.where(pattern.sum(axis=1) < 0, -1.0, 1.0)
    correlations = np.matmul(turn.swapaxes(1, 2), turn) * sign[:, :, None] * sign[:, None, :]
    return Oblique(pattern * sign[:, None, :], correlations, converged)


def _loading_complexity(loadings: Floats, turn: Floats) -> tuple[Floats, Floats, Floats]:
    """The pattern A (T')^-1, its complexity sum l_if^2 l_ig^2 / 4 (f, g different), and dQ/dT."""
    inverse = np.linalg.inv(turn)
    pattern: Floats = np.matmul(loadings, inverse.swapaxes(1, 2))
    squares = pattern**2
    others = squares.sum(axis=2, keepdims=True) - squares
    slope = np.matmul(np.matmul(pattern.swapaxes(1, 2), pattern * others), inverse)
    return pattern, np.einsum("nkf,nkf->n", squares, others) / 4, -slope.swapaxes(1, 2)


_WORDS = "standardized omega total; {} factors by minres of correlations, oblimin, Schmid-Leiman"


class _SecondOrder(NamedTuple):
    """Loadings of the group factors on the general one, within 1 and without that bound."""

    gamma_F: Floats | None = None  # noqa: N815  a shape, not a case
    improper_F: Floats | None = None  # noqa: N815
    heywood: bool = False
    notes: tuple[Noted, ...] = ()


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
    matrix = _checked_correlation_matrix(corr_KK, n_factors)
    return omegas_from_correlations(matrix[None], n_factors=n_factors, improper=True)[0]


def omegas_from_correlations(
    corr_BKK: Floats, *, n_factors: int = 3, improper: bool = False
) -> list[Omega]:
    """Compute :func:`omega_from_correlation` of many matrices; improper solutions take longest."""
    p = corr_BKK.shape[1]
    if (p - n_factors) ** 2 < p + n_factors or p < 3:
        return [_alpha_alone(matrix, n_factors, "too_few_items") for matrix in corr_BKK]
    fits = minres_factors(corr_BKK, n_factors=n_factors)
    return omegas_from_factors(corr_BKK, fits, improper=improper)


def omegas_from_factors(corr_BKK: Floats, fits: Factors, *, improper: bool = False) -> list[Omega]:
    """Rotate unrotated factors of matrices, and take Schmid and Leiman's solution."""
    loadings = fits.loadings_BKF
    n_factors = loadings.shape[2]
    found = [_alpha_alone(matrix, n_factors, "too_few_factors") for matrix in corr_BKK]
    there = np.flatnonzero(~np.isnan(loadings).any(axis=(1, 2)))
    rotated = _rotated_loadings(loadings[there])
    seconds = _second_order(rotated.correlations_BFF, improper=improper)
    for place, pattern, between, flat, second in zip(there, *rotated, seconds, strict=True):
        converged, notes = bool(flat and fits.converged_B[place]), _notes_on_factors(fits, place)
        omega = _omega_of_pattern(
            corr_BKK[place], pattern, between, second, converged=converged, notes=notes
        )
        at_bound = bool(fits.at_bound_BK[place].any())
        found[place] = replace(omega, heywood=omega.heywood or at_bound)
    return found


def _rotated_loadings(loadings_BKF: Floats) -> Oblique:
    """Oblique factors; one factor is only turned round."""
    if loadings_BKF.shape[2] > 1:
        return oblimin(loadings_BKF)
    sign = np.where(loadings_BKF.sum(axis=1, keepdims=True) < 0, -1.0, 1.0)
    n = len(loadings_BKF)
    return Oblique(sign * loadings_BKF, np.ones((n, 1, 1)), np.ones(n, dtype=bool))


def _notes_on_factors(fits: Factors, place: int) -> tuple[Noted, ...]:
    """What a reader must know about unrotated factors."""
    notes: tuple[Noted, ...] = ((Flag.AT_BOUND, ()),) if fits.at_bound_BK[place].any() else ()
    p, n_factors = fits.loadings_BKF.shape[1:]
    if (p - n_factors) ** 2 == p + n_factors:
        notes = (*notes, (Flag.NOT_UNIQUE, ()))
    return notes


def _alpha_alone(matrix: Floats, n_factors: int, why: str) -> Omega:
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
    found = item_covariances(scores_NK, missing=missing, function="omega_hierarchical")
    why = "too_few_subjects" if found.n_subjects < 3 else "no_variance" if not found.kept else None
    if why is None and np.isnan(found.correlation_KK).any():
        why = "no_common_subjects"
    if why:
        omega = Omega(value=None, undefined=why, estimator=f"{n_factors} factors")
    else:
        omega = omega_from_correlation(found.correlation_KK, n_factors=n_factors)
    return replace(
        omega, kept=found.kept, dropped=found.constant, n_subjects=found.n_subjects,
        n_missing=found.n_missing, flags=(*dropped(found), *omega.flags),
        flipped=tuple(found.kept[i] for i in omega.flipped),
    )  # fmt: skip


def _omega_of_pattern(
    matrix: Floats,
    pattern: Floats,
    between: Floats,
    second: _SecondOrder,
    *,
    converged: bool,
    notes: tuple[Noted, ...],
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
        notes = (*notes, (Flag.TURNED_ROUND, tuple(map(float, flipped))))
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
        group_loadings=_matrix_as_tuples(key[:, None] * pattern * group)
        if group is not None
        else (),
        factor_correlations=_matrix_as_tuples(between),
        uniquenesses=tuple(unique.tolist()),
        kept=tuple(range(len(matrix))),
        flipped=flipped,
        heywood=second.heywood or bool((unique < -1e-8).any()),
        converged=converged,
        flags=(*notes, *second.notes),
    )


def _second_order(between_BFF: Floats, *, improper: bool) -> list[_SecondOrder]:
    """One factor of the factors of each matrix."""
    n_factors = between_BFF.shape[1]
    if n_factors == 1:
        return [_SecondOrder(np.ones(1)) for _ in between_BFF]
    if n_factors == 2:
        return [_loadings_of_two_factors(float(between[0, 1])) for between in between_BFF]
    fit = one_factor_minres(between_BFF)
    found = []
    for between, gamma, heywood in zip(between_BFF, fit.loadings_BK, fit.heywood_B, strict=True):
        if np.isnan(gamma).any():
            found.append(_SecondOrder(notes=((Flag.NO_GENERAL_FACTOR, ()),)))
        elif heywood:
            note: Noted = (Flag.GENERAL_AT_BOUND, ())
            beyond = improper_minres(between, gamma) if improper else None
            found.append(_SecondOrder(gamma, beyond, heywood=True, notes=(note,)))
        else:
            found.append(_SecondOrder(gamma))
    return found


def _loadings_of_two_factors(shared: float) -> _SecondOrder:
    """The factor of two factors, by their correlation."""
    if shared <= 0:
        return _SecondOrder(notes=((Flag.FACTORS_APART, ()),))
    return _SecondOrder(np.full(2, np.sqrt(shared)), notes=((Flag.EQUAL_GENERAL_LOADINGS, ()),))


def _matrix_as_tuples(matrix: Floats) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in matrix.tolist())


def _checked_correlation_matrix(corr_KK: ArrayLike, n_factors: int) -> Floats:
    """A correlation matrix, symmetric to the last digit."""
    name = "omega_from_correlation"
    check_at_least_1(name, n_factors=n_factors)
    matrix = np.array(corr_KK, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.isfinite(matrix).all():
        raise ValueError(f"{name}: corr_KK must be a finite square matrix, got {matrix.shape}")
    if not np.allclose(matrix, matrix.T, rtol=0, atol=1e-8):
        raise ValueError(f"{name}: corr_KK must be symmetric")
    if not np.allclose(np.diagonal(matrix), 1.0, rtol=0, atol=1e-8):
        raise ValueError(f"{name}: corr_KK must have ones on its diagonal")
    return (matrix + matrix.T) / 2
