"""Judging some and handing on the rest: the risk of what is accepted, at every coverage.

Higher scores are surer. Confidence takes few distinct values, so ties are everywhere and are never
broken by the order of the rows. The share wrong among the accepted has bounds at each score that
occurs, by itself and at all together.

Shape suffixes: N = judgments, T = distinct scores or thresholds, downwards, C = clusters
(questions).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.arguments import check_fraction, clusters_of
from judgerel_ray.stats.counts import Floats
from judgerel_ray.stats.intervals.ends import logit_ends, t_quantile
from judgerel_ray.stats.intervals.shares import clopper_pearson, clustered_share
from judgerel_ray.stats.selective.discrimination import checked_scores


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedShares:
    """What accepting every judgment from a score on gives, at each distinct score."""

    # Distinct scores, downwards: accepted is what reaches them.
    thresholds_T: Floats  # noqa: N815  a shape, not a case
    # Accepted judgments, and the wrong ones among them.
    n_accepted_T: NDArray[np.int64]  # noqa: N815
    n_errors_T: NDArray[np.int64]  # noqa: N815
    # Share accepted of all, and share wrong of the accepted.
    acceptance_T: Floats  # noqa: N815
    error_T: Floats  # noqa: N815
    # Interval of the share wrong at each threshold.
    low_T: Floats  # noqa: N815
    high_T: Floats  # noqa: N815
    n: int  # All judgments, those without a score too: they are never accepted.


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptanceCurve(AcceptedShares):
    """The shares, with exact intervals."""

    simultaneous: bool  # Whether the intervals hold together (each widened, by Bonferroni).


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskCoverage:
    """Risk against coverage, and the area below."""

    # Shape (n_judgments,). Share judged, 1/n to 1, and the expected share wrong among them with
    # ties in random order.
    coverage_N: Floats  # noqa: N815
    risk_N: Floats  # noqa: N815
    aurc: float | None = None  # Mean of `risk_N`; None without judgments.
    # `aurc` less that of a score that ranks every wrong judgment last (E-AURC).
    excess: float | None = None
    n: int = 0  # Judgments that have a score, and the wrong ones among them.
    n_errors: int = 0
    # Ends of its interval; none where all judgments are right or all wrong, or of one question.
    low: float | None = None
    high: float | None = None

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
    check_fraction("acceptance_curve", confidence=confidence)
    thresholds, accepted, errors = _risk_coverage_steps(scores, correct)
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


def risk_coverage(
    scores_N: ArrayLike,
    correct_N: ArrayLike,
    *,
    clusters_N: ArrayLike | None = None,
    confidence: float = 0.95,
) -> RiskCoverage:
    """Compute the risk-coverage curve and its area, ties averaged.

    Parameters
    ----------
    scores_N, correct_N, clusters_N
        As of :func:`judgerel_ray.stats.auroc`, also what is refused.
    confidence : float
        Of the interval of the area, in (0, 1).

    Notes
    -----
    The area is a sum over wrong judgments, so its interval has the degrees of freedom of the
    questions that have one (or of those that have a right one, if they are fewer): Student's t on
    the logit scale, the error from the influence of each question [1]_, ties averaged as in the
    area itself.

    References
    ----------
    .. [1] Efron, B. (1982), The jackknife, the bootstrap and other resampling plans, chapter 6
       (the infinitesimal jackknife).

    Examples
    --------
    Two tied at the top, one of them wrong: on average half wrong at every coverage up to both.

    >>> curve = risk_coverage([0.9, 0.9, 0.5], [True, False, True])
    >>> [round(risk, 3) for risk in curve.risk_N.tolist()], round(curve.aurc, 3)
    ([0.5, 0.5, 0.333], 0.444)
    """
    scores, correct = checked_scores(scores_N, correct_N, function="risk_coverage")
    clusters = clusters_of(clusters_N, scores.size, function="risk_coverage", argument="clusters_N")
    check_fraction("risk_coverage", confidence=confidence)
    there = ~np.isnan(scores)
    n, n_errors = int(there.sum()), int((there & ~correct).sum())
    if not n:
        return RiskCoverage(coverage_N=np.zeros(0), risk_N=np.zeros(0))
    _, accepted, errors = _risk_coverage_steps(scores, correct)
    taken = np.arange(1, n + 1)
    # Inside a tie every order is as likely, so errors come at an even pace.
    expected = np.interp(taken, np.append(0, accepted), np.append(0, errors))
    risk = expected / taken
    ideal = np.maximum(0, taken - (n - n_errors)) / taken
    low, high = _area_ends(scores[there], ~correct[there], clusters[there], confidence)
    return RiskCoverage(
        coverage_N=taken / n,
        risk_N=risk,
        aurc=float(risk.mean()),
        excess=float(risk.mean() - ideal.mean()),
        n=n,
        n_errors=n_errors,
        low=low,
        high=high,
    )


def _area_ends(
    scores_N: Floats, wrong_N: NDArray[np.bool_], clusters_N: NDArray[np.generic], confidence: float
) -> tuple[float | None, float | None]:
    """Ends of the interval of the area below the risk-coverage curve."""
    names, number_N = np.unique(clusters_N, return_inverse=True)
    if names.size < 2 or wrong_N.all() or not wrong_N.any():
        return None, None
    area, influence_N = _risk_area_influence(scores_N, wrong_N)
    sums_C = np.bincount(number_N, weights=influence_N)
    error = float(np.sqrt((sums_C**2).sum() * names.size / (names.size - 1)))
    degrees = min(np.unique(number_N[kind]).size for kind in (wrong_N, ~wrong_N))
    return logit_ends(area, t_quantile(min(degrees, names.size - 1), confidence) * error)


def _risk_area_influence(scores_N: Floats, wrong_N: NDArray[np.bool_]) -> tuple[float, Floats]:
    """The area, and how it changes with the weight of each judgment.

    With A_t accepted and E_t wrong down to the t-th distinct score, a_t and e_t of them at it, a
    tie's judgments in random order and h_t = digamma(A_t + 1) - digamma(A_t-1 + 1), the area is
    sum_t [(E_t-1 - A_t-1 e_t / a_t) h_t + e_t] / A_T.
    """
    from scipy.special import digamma, polygamma

    _, place_N = np.unique(-scores_N, return_inverse=True)
    at_T = np.bincount(place_N).astype(np.float64)
    wrong_T = np.bincount(place_N, weights=wrong_N)
    upto_T = np.cumsum(at_T)
    before_T, pace_T = upto_T - at_T, wrong_T / at_T
    gained_T = np.cumsum(wrong_T) - wrong_T - pace_T * before_T
    harmonic_T = np.diff(digamma(np.append(0, upto_T) + 1))
    n = upto_T[-1]
    area = float((gained_T * harmonic_T + wrong_T).sum() / n)
    after_T = _tail_sums(harmonic_T) - harmonic_T
    by_wrong_T = after_T - before_T / at_T * harmonic_T + 1
    paced_T = pace_T * harmonic_T
    steps_T = polygamma(1, upto_T + 1) * (gained_T - np.append(gained_T[1:], 0))
    by_any_T = before_T / at_T * paced_T - (_tail_sums(paced_T) - paced_T) + _tail_sums(steps_T)
    influence: Floats = (by_any_T[place_N] + wrong_N * by_wrong_T[place_N] - area) / n
    return area, influence


def _tail_sums(values_T: Floats) -> Floats:
    """Sums from each place to the last."""
    return np.cumsum(values_T[::-1])[::-1]


def _risk_coverage_steps(
    scores: Floats, correct: NDArray[np.bool_]
) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
    """Distinct scores downwards, with all that reach each and the wrong ones of them."""
    there = ~np.isnan(scores)
    thresholds, place = np.unique(-scores[there], return_inverse=True)
    accepted = np.cumsum(np.bincount(place, minlength=thresholds.size))
    wrong = np.bincount(place, weights=~correct[there], minlength=thresholds.size)
    return -thresholds, accepted.astype(np.int64), np.cumsum(wrong).astype(np.int64)


Band = Literal["bonferroni", "dkw"]
BANDS: tuple[Band, ...] = ("bonferroni", "dkw")


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedErrors(AcceptedShares):
    """The shares, with intervals at each threshold (NaN of one question) and at all together."""

    # Ends that hold at all thresholds together.
    band_low_T: Floats  # noqa: N815  a shape, not a case
    band_high_T: Floats  # noqa: N815
    method: str  # How the intervals were made, in words.
    band: Band
    # Of "dkw", how far each of its two distributions may be off, as a share of all judgments.
    off: float | None = None


def accepted_errors(
    scores_N: ArrayLike,
    correct_N: ArrayLike,
    *,
    clusters_N: ArrayLike | None = None,
    confidence: float = 0.95,
    band: Band = "bonferroni",
    most: int = 50,
) -> AcceptedErrors:
    """Compute the error among the accepted at scores that occur, with pointwise and joint ends.

    References
    ----------
    .. [1] Massart, P. (1990), doi:10.1214/aop/1176990746.
    """
    scores, correct = checked_scores(scores_N, correct_N, function="accepted_errors")
    clusters = clusters_of(
        clusters_N, scores.size, function="accepted_errors", argument="clusters_N"
    )
    if not 0 < confidence < 1 or most < 1 or band not in BANDS:
        raise ValueError(
            "accepted_errors: confidence must be between 0 and 1, most at least 1 and band of "
            f"{', '.join(BANDS)}, got {confidence!r}, {most!r} and {band!r}"
        )
    there = ~np.isnan(scores)
    singles = np.unique(clusters).size == clusters.size
    if band == "dkw" and not singles:
        raise ValueError("accepted_errors: band dkw needs one judgment a question")
    thresholds = _thinned_thresholds(scores[there], most, scores.size)
    level = 1 - (1 - confidence) / max(1, thresholds.size)
    rows = []
    for threshold in thresholds:
        taken = there & (scores >= threshold)
        wrong, questions = ~correct[taken], clusters[taken]
        near = clustered_share(wrong, clusters_N=questions, confidence=confidence)
        far = clustered_share(wrong, clusters_N=questions, confidence=level)
        ends = [near.low, near.high, far.low, far.high]
        rows.append([near.n, near.k, *(np.nan if end is None else end for end in ends)])
    table = np.array(rows, dtype=np.float64).reshape(-1, 6)
    accepted, errors = table[:, 0].astype(np.int64), table[:, 1].astype(np.int64)
    low, high = table[:, 4], table[:, 5]
    off = None
    if band == "dkw":
        low, high, off = _dkw_risk_band(accepted, errors, scores.size, confidence)
    return AcceptedErrors(
        thresholds_T=thresholds,
        n_accepted_T=accepted,
        n_errors_T=errors,
        acceptance_T=accepted / max(1, scores.size),
        error_T=errors / np.maximum(1, accepted),
        low_T=table[:, 2],
        high_T=table[:, 3],
        band_low_T=low,
        band_high_T=high,
        n=scores.size,
        method="exact binomial" if singles else "by question",
        band=band,
        off=off,
    )


def _thinned_thresholds(scores: Floats, most: int, n: int) -> Floats:
    """Distinct scores downwards, at most so many, the loosest always among them."""
    distinct, counts = np.unique(-scores, return_counts=True)
    if distinct.size > most:
        accepted = np.cumsum(counts) / n
        steps = np.arange(1, most + 1) / most * accepted[-1]
        distinct = distinct[np.unique(np.searchsorted(accepted, steps - 1e-12))]
    return -distinct


def _dkw_risk_band(
    accepted: NDArray[np.int64], errors: NDArray[np.int64], n: int, confidence: float
) -> tuple[Floats, Floats, float]:
    """The band from two empirical distributions, each off by at most so much at once."""
    off = float(np.sqrt(np.log(4 / (1 - confidence)) / (2 * max(1, n))))
    wrong, right = errors / max(1, n), (accepted - errors) / max(1, n)
    most, least = wrong + off, np.maximum(0, wrong - off)
    high = np.minimum(1, most / (most + np.maximum(0, right - off)))
    low = least / (least + right + off)
    return low, high, off
