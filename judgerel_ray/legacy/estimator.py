"""Alpha and omega of schroeder2024: replications as subjects, questions as items, signs dropped.

Beside them stands their noise floor: the same estimator where questions share nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.core.codes import Flag
from judgerel_ray.legacy.factoring import (
    NON_RESPONSE,
    Floats,
    absolute_correlations,
    fit_by_derivatives,
    fit_by_library,
    fit_in_some_order,
    standardised_alpha,
)

WARNING = Flag.PUBLISHED.note()
"""What must stand beside every number of this estimator."""

_LIBRARY_UP_TO = 200  # questions: its time grows with their fourth power


@dataclass(frozen=True, slots=True, kw_only=True)
class Schroeder2024:
    """The published estimator's two numbers; iterates as (alpha, omega).

    Attributes
    ----------
    alpha, omega : float or None
        Averages over questions: `n_varying` times the coefficient of ``|R|``, and 1 for each of
        `n_constant`.
    alpha_undefined, omega_undefined : str or None
        Why there is none.
    n_questions, n_replications : int
        As given; replications with a missing code are not counted.
    n_varying : int
        Questions with more than one code: all that was analysed.
    n_constant : int
        Questions answered alike every time, averaged in as reliability 1.
    n_silent : int
        Questions never answered; they vanish.
    n_dropped : int
        Replications left out because a code is missing.
    n_improper : int
        Questions with a uniqueness below 0 (Heywood cases), which the source does not look for.
    converged : bool or None
        The optimiser's word; None where nothing was fitted.
    """

    alpha: float | None
    omega: float | None
    alpha_undefined: str | None = None
    omega_undefined: str | None = None
    n_questions: int
    n_replications: int
    n_varying: int = 0
    n_constant: int = 0
    n_silent: int = 0
    n_dropped: int = 0
    n_improper: int = 0
    converged: bool | None = None

    def __iter__(self) -> Iterator[float | None]:
        yield from (self.alpha, self.omega)


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """Codes sorted out by the authors' rule: what is analysed, averaged in, and dropped."""

    varying_RK: Floats  # noqa: N815  a shape, not a case
    n_questions: int
    n_replications: int
    n_constant: int
    n_silent: int
    n_dropped: int

    @property
    def n_varying(self) -> int:
        """Questions with more than one code."""
        return int(self.varying_RK.shape[1])

    @property
    def undefined(self) -> str | None:
        """Why nothing can be computed at all."""
        if not self.n_questions:
            return "no_verdicts"
        if self.n_replications < 2:
            return "single_replication"
        return "no_verdicts" if self.n_silent == self.n_questions else None

    def average(self, coefficient: float) -> float:
        """Count every constant question as 1."""
        total = self.n_constant + self.n_varying * coefficient
        return total / (self.n_constant + self.n_varying)


def schroeder2024(codes_RQ: ArrayLike) -> Schroeder2024:  # noqa: N803
    """Compute the alpha and omega printed in [1]_, as its authors' script does.

    Parameters
    ----------
    codes_RQ : array-like of float, shape (n_replications, n_questions)
        One code a judgment, from :func:`judgerel_ray.legacy.codes_from_verdicts`; NaN is missing,
        and its whole replication is left out.

    Returns
    -------
    Schroeder2024
        Both 1 where no question varies. Undefined are: "no_verdicts" (no questions, or none that
        was ever answered: nothing is left to average),
        "single_replication", "one_varying_question" (the script fails), "singular_correlations"
        and "factor_analysis_failed" (omega alone: the script fails).

    Raises
    ------
    ValueError
        If `codes_RQ` has not two axes or holds infinities.
    SweepError
        If factor_analyzer is not installed (extra ``legacy``).

    See Also
    --------
    schroeder2024_noise_floor : What the same script makes of independent noise.

    Notes
    -----
    Questions that never vary are taken out: those coded 6 throughout vanish, the others count as 1.
    On the rest, correlations over replications lose their signs; alpha is Cronbach's of that matrix
    and omega is omega total from three minres factors, rotated by oblimin, with reliabilipy's
    communalities. Above 200 varying questions the same factors are fitted with exact derivatives,
    which gives the same omega to 1e-7.

    Given the question, replications are independent, so the population covariance is diagonal and
    the omega meant is 0: what is measured is sampling noise and how many questions there are.
    `WARNING` says so and belongs beside every use.

    The order of questions and replications changes omega by less than 1e-6, and by up to 1e-3 where
    correlations are singular: then the optimiser starts from rounding.

    References
    ----------
    .. [1] Schroeder and Wood-Doughty (2024), Can You Trust LLM Judgments?, arXiv:2412.12509.

    Examples
    --------
    Six fair dice, thrown 20 times, are "reliable":

    >>> found = schroeder2024(np.random.default_rng(0).integers(1, 7, size=(20, 6)))
    >>> found.alpha > 0.5, found.omega > 0.5
    (True, True)
    >>> alpha, omega = schroeder2024([[1, 6], [1, 6]])
    >>> alpha, omega
    (1.0, 1.0)
    """
    design = sort_out(codes_RQ)
    why = design.undefined or ("one_varying_question" if design.n_varying == 1 else None)
    nothing = Schroeder2024(
        alpha=None,
        omega=None,
        alpha_undefined=why,
        omega_undefined=why,
        n_questions=design.n_questions,
        n_replications=design.n_replications,
        n_varying=design.n_varying,
        n_constant=design.n_constant,
        n_silent=design.n_silent,
        n_dropped=design.n_dropped,
    )
    if why:
        return nothing
    if not design.n_varying:
        return replace(nothing, alpha=1.0, omega=1.0)
    corr = absolute_correlations(design.varying_RK)
    alpha = design.average(standardised_alpha(corr))
    try:
        by = fit_by_library if design.n_varying <= _LIBRARY_UP_TO else fit_by_derivatives
        fit = fit_in_some_order(corr, by)
    except ValueError as error:  # numpy's LinAlgError is one
        singular = isinstance(error, np.linalg.LinAlgError)
        reason = "singular_correlations" if singular else "factor_analysis_failed"
        return replace(nothing, alpha=alpha, omega_undefined=reason)
    return replace(
        nothing,
        alpha=alpha,
        omega=design.average(fit.omega),
        n_improper=fit.n_improper,
        converged=fit.converged,
    )


def sort_out(codes_RQ: ArrayLike) -> Design:  # noqa: N803
    """Sort questions into varying, constant and silent ones."""
    codes = np.asarray(codes_RQ, dtype=np.float64)
    if codes.ndim != 2:
        raise ValueError(
            f"schroeder2024: codes must be replications x questions, got shape {codes.shape}"
        )
    if np.isinf(codes).any():
        raise ValueError("schroeder2024: codes must be finite or NaN, got an infinity")
    whole = codes[~np.isnan(codes).any(axis=1)]
    constant = (whole == whole[:1]).all(axis=0) if len(whole) else np.ones(codes.shape[1], bool)
    silent = constant & (whole == NON_RESPONSE).all(axis=0)
    return Design(
        varying_RK=whole[:, ~constant],
        n_questions=codes.shape[1],
        n_replications=len(whole),
        n_constant=int((constant & ~silent).sum()),
        n_silent=int(silent.sum()),
        n_dropped=len(codes) - len(whole),
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
