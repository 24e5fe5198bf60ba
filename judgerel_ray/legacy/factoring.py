"""Omega total of absolute correlations: three oblique factors, with the library's own defects.

The published numbers were made with reliabilipy on factor_analyzer. What it did is written here in
terms of factor_analyzer alone, and kept as it is:

- correlations lose their signs, so that sampling noise becomes shared variance;
- a question's communality is the sum of its squared *pattern* loadings, as if the oblique factors
  were uncorrelated;
- uniquenesses below 0 are used as they come;
- starting values need the inverse of the correlations, so singular ones fail, or not, as rounding
  has it (two questions with the same verdicts throughout are enough).

Shape suffixes: R = replications, K = questions whose verdicts vary, F = factors.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.core import OUTCOMES, Outcome, SweepError

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


def absolute_correlations(codes_RK: Floats) -> Floats:  # noqa: N803
    """Correlations between questions over replications, without their signs."""
    centred = codes_RK - codes_RK.mean(axis=0)
    standard = centred / codes_RK.std(axis=0)
    corr: Floats = np.abs(standard.T @ standard / len(codes_RK))
    return corr


def standardised_alpha(corr_KK: Floats) -> float:  # noqa: N803
    """Cronbach's alpha of a matrix of correlations."""
    k, total = len(corr_KK), corr_KK.sum()
    return float((total - np.trace(corr_KK)) / total * k / (k - 1))


def fit_in_some_order(corr_KK: Floats, fit: Callable[[Floats], FactorFit]) -> FactorFit:  # noqa: N803
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


def fit_by_library(corr_KK: Floats) -> FactorFit:  # noqa: N803
    """Fit with factor_analyzer itself: numbers equal to the published ones.

    Raises numpy's LinAlgError for singular correlations, SweepError without the extra ``legacy``.
    """
    with _library() as seen:
        from factor_analyzer import FactorAnalyzer

        analysis = FactorAnalyzer(
            n_factors=N_FACTORS, rotation="oblimin", method="minres", is_corr_matrix=True
        )
        analysis.fit(corr_KK)
    converged = not any("converge" in str(warning.message) for warning in seen)
    return _fit(corr_KK, np.asarray(analysis.loadings_, dtype=np.float64), converged=converged)


def fit_by_derivatives(corr_KK: Floats) -> FactorFit:  # noqa: N803
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
    with _library():
        from factor_analyzer import Rotator

        pattern = Rotator(method="oblimin").fit_transform(loadings)
    return _fit(corr_KK, np.asarray(pattern, dtype=np.float64), converged=bool(found.success))


def _fit(corr_KK: Floats, pattern_KF: Floats, *, converged: bool) -> FactorFit:  # noqa: N803
    """Omega total from pattern loadings taken for orthogonal ones."""
    uniqueness = 1 - (pattern_KF**2).sum(axis=1)
    total = corr_KK.sum()
    return FactorFit(
        omega=float((total - uniqueness.sum()) / total),
        n_improper=int((uniqueness < 0).sum()),
        converged=converged,
    )


@contextmanager
def _library() -> Iterator[list[warnings.WarningMessage]]:
    """Collect what the library and those it stands on warn of; say which extra is missing."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            import factor_analyzer  # noqa: F401

            version = metadata.version("scikit-learn")
        except ImportError as error:
            raise SweepError(
                f"schroeder2024 needs factor_analyzer and scikit-learn, got: {error}",
                hint="pip install 'judgerel_ray[legacy]'",
            ) from error
        if tuple(int(part) for part in version.split(".")[:2]) >= _TOO_NEW:
            raise SweepError(
                f"factor_analyzer 0.5.1 needs scikit-learn before 1.8, got {version}",
                hint="pip install 'judgerel_ray[legacy]'",
            )
        yield seen
