"""Judging some and handing on the rest: how well a score tells right judgments from wrong ones.

Higher scores are surer. Confidence takes few distinct values, so ties are everywhere and are never
broken by the order of the rows.

Shape suffixes: N = judgments, T = distinct scores, downwards.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.discrimination import checked_scores
from judgerel_ray.stats.interval import clopper_pearson
from judgerel_ray.stats.statistic import Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptanceCurve:
    """What accepting every judgment from a score on gives, at each distinct score.

    Attributes
    ----------
    thresholds_T : ndarray of float
        Distinct scores, downwards: accepted is what reaches them.
    n_accepted_T, n_errors_T : ndarray of int
        Accepted judgments, and the wrong ones among them.
    acceptance_T, error_T : ndarray of float
        Share accepted of all, and share wrong of the accepted.
    low_T, high_T : ndarray of float
        Exact interval of the share wrong: at each threshold, or at all of them together.
    n : int
        All judgments, those without a score too: they are never accepted.
    simultaneous : bool
        Whether the intervals hold together (each widened, by Bonferroni).
    """

    thresholds_T: Floats  # noqa: N815  a shape, not a case
    n_accepted_T: NDArray[np.int64]  # noqa: N815
    n_errors_T: NDArray[np.int64]  # noqa: N815
    acceptance_T: Floats  # noqa: N815
    error_T: Floats  # noqa: N815
    low_T: Floats  # noqa: N815
    high_T: Floats  # noqa: N815
    n: int
    simultaneous: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskCoverage:
    """Risk against coverage, and the area below.

    Attributes
    ----------
    coverage_N, risk_N : ndarray of float, shape (n_judgments,)
        Share judged, 1/n to 1, and the expected share wrong among them with ties in random order.
    aurc : float or None
        Mean of `risk_N`; None without judgments.
    excess : float or None
        `aurc` less that of a score that ranks every wrong judgment last (E-AURC).
    n, n_errors : int
        Judgments that have a score, and the wrong ones among them.
    """

    coverage_N: Floats  # noqa: N815
    risk_N: Floats  # noqa: N815
    aurc: float | None
    excess: float | None
    n: int
    n_errors: int

    def risk_at(self, coverage: float) -> float | None:
        """Give the risk of the surest share of judgments, rounded up to a whole judgment."""
        if not 0 < coverage <= 1:
            raise ValueError(f"risk_at: coverage must be above 0 and at most 1, got {coverage!r}")
        place = int(np.ceil(coverage * self.n - 1e-9)) - 1
        return float(self.risk_N[place]) if self.n else None


def acceptance_curve(
    scores_N: ArrayLike,
    correct_N: ArrayLike,
    *,
    confidence: float = 0.95,
    simultaneous: bool = False,
) -> AcceptanceCurve:
    """Compute the share wrong among the accepted, at every distinct score.

    Parameters
    ----------
    scores_N : array-like of float, shape (n_judgments,)
        Higher is surer; NaN (no confidence stated) is never accepted.
    correct_N : array-like of bool, shape (n_judgments,)
        Whether each judgment is right.
    confidence : float
        Of the exact intervals, in (0, 1). They take judgments for independent: one a question.
    simultaneous : bool
        Whether the intervals should hold at all thresholds together.

    Returns
    -------
    AcceptanceCurve
        Points are only at scores that occur: between them lies no operating point.

    Raises
    ------
    ValueError
        If the shapes differ or the confidence is not in (0, 1).

    Examples
    --------
    >>> curve = acceptance_curve([0.9, 0.9, 0.5, float("nan")], [True, False, True, True])
    >>> curve.acceptance_T.tolist(), curve.n_errors_T.tolist()
    ([0.5, 0.75], [1, 1])
    """
    scores, correct = checked_scores(scores_N, correct_N, function="acceptance_curve")
    if not 0 < confidence < 1:
        raise ValueError(
            f"acceptance_curve: confidence must be between 0 and 1, got {confidence!r}"
        )
    thresholds, accepted, errors = _steps(scores, correct)
    level = (
        1 - (1 - confidence) / thresholds.size if simultaneous and thresholds.size else confidence
    )
    ends = [
        clopper_pearson(int(k), int(n), confidence=level)
        for k, n in zip(errors, accepted, strict=True)
    ]
    return AcceptanceCurve(
        thresholds_T=thresholds,
        n_accepted_T=accepted,
        n_errors_T=errors,
        acceptance_T=accepted / max(1, scores.size),
        error_T=errors / np.maximum(1, accepted),
        low_T=np.array([end.low for end in ends], dtype=np.float64),
        high_T=np.array([end.high for end in ends], dtype=np.float64),
        n=scores.size,
        simultaneous=simultaneous,
    )


def risk_coverage(scores_N: ArrayLike, correct_N: ArrayLike) -> RiskCoverage:
    """Compute the risk-coverage curve and its area, ties averaged.

    Parameters
    ----------
    scores_N : array-like of float, shape (n_judgments,)
        Higher is surer; judgments with NaN take no part.
    correct_N : array-like of bool, shape (n_judgments,)
        Whether each judgment is right.

    Returns
    -------
    RiskCoverage

    Raises
    ------
    ValueError
        If the shapes differ.

    Examples
    --------
    Two tied at the top, one of them wrong: on average half wrong at every coverage up to both.

    >>> curve = risk_coverage([0.9, 0.9, 0.5], [True, False, True])
    >>> [round(risk, 3) for risk in curve.risk_N.tolist()], round(curve.aurc, 3)
    ([0.5, 0.5, 0.333], 0.444)
    """
    scores, correct = checked_scores(scores_N, correct_N, function="risk_coverage")
    there = ~np.isnan(scores)
    n, n_errors = int(there.sum()), int((there & ~correct).sum())
    if not n:
        return RiskCoverage(
            coverage_N=np.zeros(0), risk_N=np.zeros(0), aurc=None, excess=None, n=0, n_errors=0
        )
    _, accepted, errors = _steps(scores, correct)
    taken = np.arange(1, n + 1)
    # Inside a tie every order is as likely, so errors come at an even pace.
    expected = np.interp(taken, np.append(0, accepted), np.append(0, errors))
    risk = expected / taken
    ideal = np.maximum(0, taken - (n - n_errors)) / taken
    return RiskCoverage(
        coverage_N=taken / n,
        risk_N=risk,
        aurc=float(risk.mean()),
        excess=float(risk.mean() - ideal.mean()),
        n=n,
        n_errors=n_errors,
    )


def _steps(
    scores: Floats, correct: NDArray[np.bool_]
) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
    """Distinct scores downwards, with all that reach each and the wrong ones of them."""
    there = ~np.isnan(scores)
    thresholds, place = np.unique(-scores[there], return_inverse=True)
    accepted = np.cumsum(np.bincount(place, minlength=thresholds.size))
    wrong = np.bincount(place, weights=~correct[there], minlength=thresholds.size)
    return -thresholds, accepted.astype(np.int64), np.cumsum(wrong).astype(np.int64)
