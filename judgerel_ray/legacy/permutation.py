"""The noise floor of schroeder2024: the same estimator where questions share nothing."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.legacy.estimator import Design, Schroeder2024, schroeder2024, sort_out
from judgerel_ray.legacy.factoring import (
    Floats,
    absolute_correlations,
    fit_by_derivatives,
    fit_in_some_order,
    standardised_alpha,
)

_EQUAL = 1e-6  # the estimator itself is reproduced to this


@dataclass(frozen=True, slots=True, kw_only=True)
class PermutationNull:
    """The null of one number of schroeder2024.

    Attributes
    ----------
    mean, sd : float or None
        Under the null; None where nothing varies or the number is undefined.
    p : float or None
        Share of the null at least as far from its mean as the value, on either side, the data
        themselves counted in; permutations whose factor analysis failed count as being as far.
    n_permutations : int
        Permutations that gave a number.
    n_failed : int
        Permutations whose factor analysis failed.
    method : str
        How it was made, in words; empty where there is none.
    """

    mean: float | None = None
    sd: float | None = None
    p: float | None = None
    n_permutations: int = 0
    n_failed: int = 0
    method: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schroeder2024Noise:
    """The nulls of alpha and omega, from the same permutations."""

    alpha: PermutationNull
    omega: PermutationNull


def schroeder2024_noise_floor(
    codes_RQ: ArrayLike,  # noqa: N803
    *,
    observed: Schroeder2024 | None = None,
    n_permutations: int = 100,
    seed: int = 0,
) -> Schroeder2024Noise:
    """Compute what schroeder2024 gives to these judgments when questions share nothing.

    Each question's replications are shuffled inside it, which keeps all that a judge's consistency
    could rest on and removes every relation between questions.

    Parameters
    ----------
    codes_RQ : array-like of float, shape (n_replications, n_questions)
        As for :func:`schroeder2024`.
    observed : Schroeder2024, optional
        Its result for the same codes, where it is known; computed otherwise.
    n_permutations : int
        Shuffles, at least 1.
    seed : int
        Seed of the shuffles. The order of questions and of replications does not matter.

    Returns
    -------
    Schroeder2024Noise
        Without numbers where no question varies.

    Raises
    ------
    ValueError
        As :func:`schroeder2024`, and if `n_permutations` is below 1.
    SweepError
        If factor_analyzer is not installed (extra ``legacy``).

    Notes
    -----
    Factor analyses of the null use exact derivatives; on the published data they give the omega of
    factor_analyzer to 1e-7.

    Examples
    --------
    >>> dice = np.random.default_rng(1).integers(1, 7, size=(20, 6))
    >>> noise = schroeder2024_noise_floor(dice, n_permutations=20)
    >>> noise.alpha.mean > 0.4, noise.alpha.p > 0.05
    (True, True)
    """
    if n_permutations < 1:
        raise ValueError(
            f"schroeder2024_noise_floor: n_permutations must be at least 1, got {n_permutations}"
        )
    design = sort_out(codes_RQ)
    if design.undefined or design.n_varying < 2:
        return Schroeder2024Noise(alpha=PermutationNull(), omega=PermutationNull())
    observed = observed or schroeder2024(codes_RQ)
    alphas, omegas = _null(design, n_permutations, seed)
    return Schroeder2024Noise(
        alpha=_summary(observed.alpha, alphas), omega=_summary(observed.omega, omegas)
    )


def independence_alpha(*, n_varying: int, n_constant: int, n_replications: int) -> float:
    """Expect of schroeder2024's alpha when questions are independent and normal, in closed form.

    Parameters
    ----------
    n_varying, n_constant : int
        Questions that vary, at least 1, and those that are averaged in as 1.
    n_replications : int
        Replications, at least 3.

    Returns
    -------
    float
        ``(c + k a) / (c + k)`` with ``a = k e / (1 + (k - 1) e)`` and
        ``e = E|r| = G((n - 1) / 2) / (sqrt(pi) G(n / 2))``. It knows nothing of the judge.

    Raises
    ------
    ValueError
        If a number is too small.

    Examples
    --------
    The level published for 25 and 8 questions, each asked 100 times, is this:

    >>> [round(independence_alpha(n_varying=k, n_constant=0, n_replications=100), 2)
    ...  for k in (25, 8)]
    [0.69, 0.41]
    """
    if n_varying < 1 or n_constant < 0 or n_replications < 3:
        raise ValueError(
            "independence_alpha: expected n_varying >= 1, n_constant >= 0, n_replications >= 3, "
            f"got {n_varying}, {n_constant}, {n_replications}"
        )
    n, k, c = n_replications, n_varying, n_constant
    e = math.exp(math.lgamma((n - 1) / 2) - math.lgamma(n / 2)) / math.sqrt(math.pi)
    alpha = k * e / (1 + (k - 1) * e)
    return (c + k * alpha) / (c + k)


def _null(design: Design, n_permutations: int, seed: int) -> tuple[Floats, Floats]:
    """Alphas and omegas of shuffled codes; NaN where the factor analysis fails."""
    # Sorted inside and among questions: the seed meets the same table whatever the order of rows.
    codes = np.sort(design.varying_RK, axis=0)
    codes = codes[:, np.lexsort(codes[::-1])]
    rng = np.random.default_rng(seed)
    alphas, omegas = np.empty(n_permutations), np.full(n_permutations, np.nan)
    for place in range(n_permutations):
        corr = absolute_correlations(rng.permuted(codes, axis=0))
        alphas[place] = design.average(standardised_alpha(corr))
        try:
            omegas[place] = design.average(fit_in_some_order(corr, fit_by_derivatives).omega)
        except ValueError:  # numpy's LinAlgError is one
            continue
    return alphas, omegas


def _summary(value: float | None, null: NDArray[np.float64]) -> PermutationNull:
    """Mean, spread and share at least as extreme."""
    given = null[~np.isnan(null)]
    n_failed = null.size - given.size
    if value is None or not given.size:
        return PermutationNull(n_failed=n_failed)
    mean = float(given.mean())
    extreme = int((np.abs(given - mean) >= abs(value - mean) - _EQUAL).sum())
    return PermutationNull(
        mean=mean,
        sd=float(given.std(ddof=1)) if given.size > 1 else 0.0,
        # A fit that fails tells nothing of how far it would have been.
        p=(1 + extreme + n_failed) / (1 + null.size),
        n_permutations=given.size,
        n_failed=n_failed,
        method=f"{given.size} shuffles inside each question"
        + (f" ({n_failed} more failed)" if n_failed else "")
        + ", two-sided",
    )
