"""Alpha and omega of schroeder2024: replications as subjects, questions as items, signs dropped.

Beside them stands their noise floor: the same estimator where questions share nothing. The
published omega was made with reliabilipy on factor_analyzer, of absolute correlations and three
oblique factors. What it did is written here in terms of factor_analyzer alone, and kept as it is:

- correlations lose their signs, so that sampling noise becomes shared variance;
- a question's communality is the sum of its squared *pattern* loadings, as if the oblique factors
  were uncorrelated;
- uniquenesses below 0 are used as they come;
- starting values need the inverse of the correlations, so singular ones fail, or not, as rounding
  has it (two questions with the same verdicts throughout are enough).

Shape suffixes: R = replications, K = questions whose verdicts vary, F = factors.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import metadata
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.core import OUTCOMES, Outcome, SweepError
from judgerel_ray.core.codes import Flag
from judgerel_ray.core.text import install_hint

Coding = Literal["letters", "correctness"]

LETTERS: Mapping[str, float] = {"A": 1.0, "B": 2.0, "C": 3.0, "D": 4.0, "E": 5.0}
"""The five letters, put on an interval scale by their place in the alphabet."""
NON_RESPONSE = 6.0
"""No letter could be read: one more step above E."""
CONFLICTING = 7.0
"""Several different letters were read."""

_CORRECTNESS: Mapping[str, float] = {"correct": 1.0, "incorrect": 0.0}


def codes_from_verdicts(
    labels: Sequence[str | None], outcomes: Sequence[str], *, coding: Coding = "letters"
) -> NDArray[np.float64]:
    """Code verdicts as the authors of [1]_ did.

    Parameters
    ----------
    labels : sequence of str or None
        The label shown for each judgment (a letter from A to E in either case, or ``correct`` and
        ``incorrect``); None unless the outcome is ``scored``.
    outcomes : sequence of str
        What became of each reply, one of ``judgerel_ray.core.OUTCOMES``.
    coding : {"letters", "correctness"}
        ``letters``: A to E are 1 to 5, several letters 7, any other reply without a verdict 6.
        ``correctness``: correct is 1, everything else 0, replies without a verdict included.

    Returns
    -------
    ndarray of float, shape (n_judgments,)
        NaN for a ``failed`` request, which the authors' data do not have.

    Raises
    ------
    ValueError
        If the lengths differ, an outcome is unknown, or a label has no code.

    References
    ----------
    .. [1] Schroeder and Wood-Doughty (2024), Can You Trust LLM Judgments?, arXiv:2412.12509.

    Examples
    --------
    >>> outcomes = ["scored", "unparsed", "conflicting", "failed"]
    >>> codes_from_verdicts(["b", None, None, None], outcomes).tolist()
    [2.0, 6.0, 7.0, nan]
    """
    codes = LETTERS if coding == "letters" else _CORRECTNESS
    silent = NON_RESPONSE if coding == "letters" else 0.0
    conflicting = CONFLICTING if coding == "letters" else 0.0
    without = dict.fromkeys(OUTCOMES, silent)
    without |= {Outcome.CONFLICTING.value: conflicting, Outcome.FAILED.value: float("nan")}
    fold = str.upper if coding == "letters" else str.lower
    coded = np.empty(len(labels))
    for place, (label, outcome) in enumerate(zip(labels, outcomes, strict=True)):
        if outcome not in without:
            raise ValueError(f"codes_from_verdicts: unknown outcome {outcome!r}")
        if outcome != Outcome.SCORED:
            coded[place] = without[outcome]
        elif label is None or fold(label) not in codes:
            raise ValueError(
                f"codes_from_verdicts: {coding} codes {', '.join(codes)} only, got {label!r}"
            )
        else:
            coded[place] = codes[fold(label)]
    return coded


Floats = NDArray[np.float64]

N_FACTORS = 3
_ORDERS = 8
_BOUNDS = (0.005, 1.0)  # of a uniqueness, as in factor_analyzer
_TOO_NEW = (1, 8)  # scikit-learn dropped an argument there that factor_analyzer 0.5.1 passes


@dataclass(frozen=True, slots=True, kw_only=True)
class FactorFit:
    """Omega total of one matrix of absolute correlations.

    ``n_improper`` counts questions with a uniqueness below 0; ``converged`` is what the optimiser
    says of itself.
    """

    omega: float
    n_improper: int
    converged: bool


def absolute_correlations(codes_RK: Floats) -> Floats:
    """Correlations between questions over replications, without their signs."""
    centred = codes_RK - codes_RK.mean(axis=0)
    standard = centred / codes_RK.std(axis=0)
    corr: Floats = np.abs(standard.T @ standard / len(codes_RK))
    return corr


def standardised_alpha(corr_KK: Floats) -> float:
    """Cronbach's alpha of a matrix of correlations."""
    k, total = len(corr_KK), corr_KK.sum()
    return float((total - np.trace(corr_KK)) / total * k / (k - 1))


def fit_in_some_order(corr_KK: Floats, fit: Callable[[Floats], FactorFit]) -> FactorFit:
    """Fit in the order given, or in the first of a few others in which the inverse exists.

    The order of questions means nothing to the model; whether singular correlations can be inverted
    is rounding alone, and decides between a number and a crash of the published script. Raises
    numpy's LinAlgError where no order has an inverse.
    """
    rng = np.random.default_rng(0)
    order = np.arange(len(corr_KK))
    for _ in range(_ORDERS - 1):
        try:
            return fit(corr_KK[np.ix_(order, order)])
        except np.linalg.LinAlgError:
            order = rng.permutation(len(corr_KK))
    return fit(corr_KK[np.ix_(order, order)])


def fit_by_library(corr_KK: Floats) -> FactorFit:
    """Fit with factor_analyzer itself: numbers equal to the published ones.

    Raises numpy's LinAlgError for singular correlations, SweepError without the extra ``legacy``.
    """
    with _paper_library_warnings() as seen:
        from factor_analyzer import FactorAnalyzer

        analysis = FactorAnalyzer(
            n_factors=N_FACTORS, rotation="oblimin", method="minres", is_corr_matrix=True
        )
        analysis.fit(corr_KK)
    converged = not any("converge" in str(warning.message) for warning in seen)
    return _paper_omega_total(
        corr_KK, np.asarray(analysis.loadings_, dtype=np.float64), converged=converged
    )


def fit_by_derivatives(corr_KK: Floats) -> FactorFit:
    """Fit the same model from the same start with exact derivatives, some hundred times as fast.

    factor_analyzer estimates each derivative by one more decomposition a question. The same raises.
    """
    from scipy.optimize import minimize

    k = len(corr_KK)
    reduced = corr_KK.copy()

    def discrepancy(uniqueness: Floats) -> tuple[float, Floats]:
        """Sum of squared residuals, and its derivative by each uniqueness."""
        np.fill_diagonal(reduced, 1 - uniqueness)
        values, vectors = np.linalg.eigh(reduced)
        # The factors leave nothing of their own eigenvalues, unless those are below 0.
        values[-N_FACTORS:] = np.minimum(values[-N_FACTORS:], 0.0)
        return float(values @ values), -2 * (vectors**2) @ values

    with np.errstate(divide="ignore"):  # rounding of a singular matrix; clipped below
        start = np.clip(1 / np.diag(np.linalg.inv(corr_KK)), *_BOUNDS)
    found = minimize(
        discrepancy,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[_BOUNDS] * k,
        options={"maxiter": 1000},
    )
    np.fill_diagonal(reduced, 1 - found.x)
    values, vectors = np.linalg.eigh(reduced)
    loadings = (vectors * np.sqrt(np.maximum(values, 0)))[:, ::-1][:, :N_FACTORS]
    with _paper_library_warnings():
        from factor_analyzer import Rotator

        pattern = Rotator(method="oblimin").fit_transform(loadings)
    return _paper_omega_total(
        corr_KK, np.asarray(pattern, dtype=np.float64), converged=bool(found.success)
    )


def _paper_omega_total(corr_KK: Floats, pattern_KF: Floats, *, converged: bool) -> FactorFit:
    """Omega total from pattern loadings taken for orthogonal ones."""
    uniqueness = 1 - (pattern_KF**2).sum(axis=1)
    total = corr_KK.sum()
    return FactorFit(
        omega=float((total - uniqueness.sum()) / total),
        n_improper=int((uniqueness < 0).sum()),
        converged=converged,
    )


@contextmanager
def _paper_library_warnings() -> Iterator[list[warnings.WarningMessage]]:
    """Collect what the library and those it stands on warn of; say which extra is missing."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            import factor_analyzer  # noqa: F401

            version = metadata.version("scikit-learn")
        except ImportError as error:
            raise SweepError(
                f"schroeder2024 needs factor_analyzer and scikit-learn, got: {error}",
                hint=install_hint("legacy"),
            ) from error
        if tuple(int(part) for part in version.split(".")[:2]) >= _TOO_NEW:
            raise SweepError(
                f"factor_analyzer 0.5.1 needs scikit-learn before 1.8, got {version}",
                hint=install_hint("legacy"),
            )
        yield seen


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


def schroeder2024(codes_RQ: ArrayLike) -> Schroeder2024:
    """Compute the alpha and omega printed in [1]_, as its authors' script does.

    Parameters
    ----------
    codes_RQ : array-like of float, shape (n_replications, n_questions)
        One code a judgment, from :func:`judgerel_ray.papers.codes_from_verdicts`; NaN is missing,
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


def sort_out(codes_RQ: ArrayLike) -> Design:
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
    codes_RQ: ArrayLike,
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
    alphas, omegas = _paper_shuffled_estimates(design, n_permutations, seed)
    return Schroeder2024Noise(
        alpha=_paper_estimate_summary(observed.alpha, alphas),
        omega=_paper_estimate_summary(observed.omega, omegas),
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


def _paper_shuffled_estimates(
    design: Design, n_permutations: int, seed: int
) -> tuple[Floats, Floats]:
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


def _paper_estimate_summary(value: float | None, null: NDArray[np.float64]) -> PermutationNull:
    """Mean, spread and share at least as extreme."""
    valid = null[~np.isnan(null)]
    n_failed = null.size - valid.size
    if value is None or not valid.size:
        return PermutationNull(n_failed=n_failed)
    mean = float(valid.mean())
    extreme = int((np.abs(valid - mean) >= abs(value - mean) - _EQUAL).sum())
    return PermutationNull(
        mean=mean,
        sd=float(valid.std(ddof=1)) if valid.size > 1 else 0.0,
        # A fit that fails tells nothing of how far it would have been.
        p=(1 + extreme + n_failed) / (1 + null.size),
        n_permutations=valid.size,
        n_failed=n_failed,
        method=f"{valid.size} shuffles inside each question"
        + (f" ({n_failed} more failed)" if n_failed else "")
        + ", two-sided",
    )
