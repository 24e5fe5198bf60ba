"""What known verdict distributions give: the limit of infinitely many replications.

Coefficients of verdicts; ordinal and interval alpha of scores, with certain bounds on an expected
score; and the split of the variance where replications reason first, with the distribution at the
verdict in place of the letter drawn (Rao-Blackwell).

Shape suffixes: U = units, V = verdicts or values of a scale, C = clusters (questions), T = terms,
R = replications (sampled reasonings). In bounds N are items, and the last of V is "no score".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.stats.agreement.agreement import correct_for_chance
from judgerel_ray.stats.agreement.majority import checked_distributions, majority_probabilities
from judgerel_ray.stats.arguments import check_choice, check_fraction, clusters_of
from judgerel_ray.stats.counts import Coefficient, Floats, divide
from judgerel_ray.stats.intervals.interval import coefficient_with_interval, student_interval

LIMITS = (
    "percent_agreement",
    "krippendorff_alpha",
    "gwet_ac1",
    "brennan_prediger",
    "entropy_agreement",
    "flip_rate",
)
_SIGNED = {"krippendorff_alpha", "gwet_ac1", "brennan_prediger", "entropy_agreement"}


def limit_coefficients(
    distributions_UV: ArrayLike,
    *,
    n_categories: int | None = None,
    clusters_U: ArrayLike | None = None,
    majorities: Sequence[int] = (3, 5, 11),
    confidence: float = 0.95,
) -> tuple[Coefficient, ...]:
    r"""Compute the limits of coefficients as replications grow, with intervals by question.

    .. math:: A = \frac{1}{Q} \sum_q \sum_v p_{qv}^2, \quad
              \alpha = 1 - \frac{1 - A}{1 - \sum_v \bar p_v^2}

    No verdict was drawn, so the intervals hold only what other questions would change.

    Parameters
    ----------
    distributions_UV : array-like of float, shape (n_units, n_values)
        Probability of each verdict, rows of sum 1; a row with NaN takes no part. "No verdict" is
        a column of its own, or rows are scaled to sum 1 without it.
    n_categories : int, optional
        Declared categories of AC1, Brennan-Prediger and entropy; by default the columns.
    clusters_U : array-like, shape (n_units,), optional
        The question of each unit; by default each is its own.
    majorities : sequence of int
        Replications that vote, for majority stability; each at least 1.
    confidence : float
        Of the jackknife intervals, in (0, 1).

    Returns
    -------
    tuple of Coefficient
        percent_agreement, krippendorff_alpha (of nominal verdicts; also Fleiss's kappa and icc1 in
        the limit), gwet_ac1, brennan_prediger, entropy_agreement, flip_rate, then
        majority_stability_k. ``undefined`` is "no_verdicts" without rows, "no_variance" where
        chance cannot be told. ``n_raters`` and ``n_ratings`` are 0: nothing was sampled.

    Raises
    ------
    ValueError
        If a row is no distribution, there is not one cluster a row, or an option is out of range.

    Notes
    -----
    Replications of finite number estimate the same values, whatever that number, but for terms of
    the order of one over the number of questions in alpha.

    Examples
    --------
    A = (1 + .5) / 2 and the mean distribution is (.75, .25): alpha = 1 - .25 / .375.

    >>> found = limit_coefficients([[1.0, 0.0], [0.5, 0.5]], majorities=())
    >>> [(one.name, round(one.value, 4)) for one in found[:2]]
    [('percent_agreement', 0.75), ('krippendorff_alpha', 0.3333)]
    """
    shares, there = checked_distributions(distributions_UV, function="limit_coefficients")
    clusters = clusters_of(clusters_U, there.size, function="limit_coefficients")[there]
    n_values = n_categories if n_categories is not None else shares.shape[1]
    if n_values < 1 or not shares.shape[1] or any(k < 1 for k in majorities):
        raise ValueError("limit_coefficients: n_categories and majorities must be at least 1")
    check_fraction("limit_coefficients", confidence=confidence)
    stability = [(majority_probabilities(shares, k) ** 2).sum(axis=1) for k in majorities]
    logs = np.log(np.where(shares > 0, shares, 1.0))
    terms = np.column_stack(
        [np.ones(len(shares)), (shares**2).sum(axis=1), -(shares * logs).sum(axis=1), *stability,
         shares]
    )  # fmt: skip
    known, number = np.unique(clusters, return_inverse=True)
    by_C = np.zeros((known.size, terms.shape[1]))
    np.add.at(by_C, number, terms)
    names = (*LIMITS, *(f"majority_stability_{k}" for k in majorities))
    total = by_C.sum(axis=0)
    values = _limits_of_coefficients(total, n_values, len(majorities))
    left_out = _limits_of_coefficients(total - by_C, n_values, len(majorities))
    return tuple(
        _limit_coefficient_interval(
            name, float(values[i]), left_out[:, i], len(shares), confidence, weights_C=by_C[:, 0]
        )
        for i, name in enumerate(names)
    )


def _limits_of_coefficients(total_T: Floats, n_categories: int, n_majorities: int) -> Floats:
    """Every coefficient from sums of [1, sum p^2, entropy, stabilities, p]."""
    q = total_T[..., 0]
    agreement = divide(total_T[..., 1], q)
    shares = total_T[..., 3 + n_majorities :]
    mean = divide(shares, np.broadcast_to(q[..., None], shares.shape))
    together = (mean**2).sum(axis=-1)
    full = np.full_like(agreement, n_categories)
    by_ac1 = divide(1 - together, full - 1)
    chance = np.stack([together, by_ac1, np.where(full > 1, 1 / full, np.nan)])
    alpha, ac1, prediger = correct_for_chance(agreement, chance)
    entropy = 1 - divide(divide(total_T[..., 2], q), np.log(full))
    stability = divide(
        np.moveaxis(total_T[..., 3 : 3 + n_majorities], -1, 0),
        np.broadcast_to(q, (n_majorities, *q.shape)),
    )
    return np.stack([agreement, alpha, ac1, prediger, entropy, 1 - agreement, *stability], axis=-1)


def _limit_coefficient_interval(
    name: str, value: float, left_out_C: Floats, n_units: int, confidence: float, *,
    weights_C: Floats | None = None, words: str = "",
) -> Coefficient:  # fmt: skip
    """One coefficient with its interval, or the reason why there is none."""
    undefined = None if not np.isnan(value) else "no_variance" if n_units else "no_verdicts"
    found = Coefficient(
        name=name,
        value=None if undefined else value,
        undefined=undefined,
        estimator=f"limit of infinitely many replications, exact from distributions{words}",
        n_units=n_units,
    )
    if undefined:
        return found
    ends = student_interval(
        value, left_out_C, confidence, chance_corrected=name in _SIGNED, weights_C=weights_C
    )
    return coefficient_with_interval(found, ends)


NumericLevel = Literal["ordinal", "interval"]


def score_limit(
    distributions_UV: ArrayLike,
    values_V: ArrayLike,
    *,
    level: NumericLevel,
    clusters_U: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Coefficient:
    r"""Compute the limit of alpha of scores as replications grow, those without one dropped.

    .. math:: \alpha = 1 - \frac{\sum_u w_u \mathrm{Var}_u(x)}{\sum_u w_u \, \mathrm{Var}(x)}

    with :math:`w_u` the probability that a reply of the unit has a score: so often it is there. At
    the ordinal level :math:`x` are the values' midranks in the mean distribution.

    krippendorff_alpha. ``undefined`` is "no_verdicts" where no reply has a score, and "no_variance"
    where all have the same. ``n_raters`` and ``n_ratings`` are 0.

    Examples
    --------
    Var within: (0 + 1) / 2; of all: scores 1 with .75 and 3 with .25, so .75.

    >>> found = score_limit([[1.0, 0.0], [0.5, 0.5]], [1, 3], level="interval")
    >>> round(found.value, 4)
    0.3333
    """
    shares, values, clusters = _score_limits_checked(distributions_UV, values_V, clusters_U, level)
    check_fraction("score_limit", confidence=confidence)
    mass_U = shares.sum(axis=1)
    taking = mass_U > 0
    shares, mass_U, clusters = shares[taking], mass_U[taking], clusters[taking]
    questions, number_U = np.unique(clusters, return_inverse=True)
    by_CV = np.zeros((questions.size, values.size))
    np.add.at(by_CV, number_U, shares)
    total_V = by_CV.sum(axis=0)
    whole = _alphas_of_distributions(total_V[None, :], shares, mass_U, None, values, level)[0]
    left_out_C = _alphas_of_distributions(total_V - by_CV, shares, mass_U, number_U, values, level)
    return _limit_coefficient_interval(
        "krippendorff_alpha", float(whole), left_out_C, int(taking.sum()), confidence,
        words=f", {level} scores, replies without one left out",
    )  # fmt: skip


def _alphas_of_distributions(
    totals_CV: Floats,
    shares_UV: Floats,
    mass_U: Floats,
    number_U: NDArray[np.intp] | None,
    values: Floats,
    level: NumericLevel,
) -> Floats:
    """Alpha of all units (one row of totals), or with the units of each question left out."""
    x_CV = np.broadcast_to(values, totals_CV.shape)
    if level == "ordinal":
        x_CV = np.cumsum(totals_CV, axis=1) - totals_CV / 2
    mass_C = totals_CV.sum(axis=1)
    mean_C = divide((totals_CV * x_CV).sum(axis=1), mass_C)
    # About the mean, for the squares of far values lose digits.
    x_CV = x_CV - np.nan_to_num(mean_C)[:, None]
    square_C = (totals_CV * x_CV**2).sum(axis=1)
    # Mean of squares less squares of means, of the units that stay: sum over units of (p x)^2 / w.
    scaled_UV = shares_UV / np.sqrt(mass_U)[:, None]
    moments_VV = scaled_UV.T @ scaled_UV
    means_C = np.einsum("cv,vw,cw->c", x_CV, moments_VV, x_CV, optimize=True)
    if number_U is not None:
        value_U = (scaled_UV * x_CV[number_U]).sum(axis=1) ** 2
        means_C = means_C - np.bincount(number_U, value_U, minlength=len(totals_CV))
    within_C = np.maximum(0.0, square_C - means_C)
    width_C = x_CV.max(axis=1) - x_CV.min(axis=1)
    spread = square_C > 1e-12 * mass_C * width_C**2
    return 1 - divide(within_C, np.where(spread, square_C, 0.0))


def _score_limits_checked(
    distributions_UV: ArrayLike, values_V: ArrayLike, clusters_U: ArrayLike | None, level: str
) -> tuple[Floats, Floats, NDArray[np.generic]]:
    """Shares in the order of the values, the values, and each unit's question."""
    check_choice("score_limit", get_args(NumericLevel), level=level)
    shares, values = np.asarray(distributions_UV, np.float64), np.asarray(values_V, np.float64)
    if shares.ndim != 2 or values.shape != shares.shape[1:] or not np.isfinite(values).all():
        raise ValueError(
            f"score_limit: there must be one finite value a column, got {values.shape} for "
            f"{shares.shape}"
        )
    if np.unique(values).size < values.size:
        raise ValueError("score_limit: values must differ")
    sums = shares.sum(axis=1)
    if not np.isfinite(shares).all() or (shares < 0).any() or (sums > 1 + 1e-6).any():
        raise ValueError("score_limit: rows must be probabilities, of sum 1 at most")
    clusters = clusters_of(clusters_U, len(shares), function="score_limit")
    order = np.argsort(values)
    return shares[:, order], values[order], clusters


_ROUNDING = 1e-4  # sums of single precision log-probabilities


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoreBounds:
    """Ends that the expected score of each item cannot leave."""

    # Shape (n_items,). Of the mean over replies that have a score; NaN where no reply can have one.
    low_N: Floats  # noqa: N815  a shape, not a case
    high_N: Floats  # noqa: N815


def weighted_bounds(low_NV: ArrayLike, high_NV: ArrayLike, values_V: ArrayLike) -> ScoreBounds:
    r"""Bound :math:`\sum_v x_v p_v / \sum_v p_v` over all distributions within their bounds.

    Shapes: ``low_NV, high_NV`` (n_items, n_values + 1), ``values_V`` (n_values,).

    Notes
    -----
    A ratio is largest where what is open goes to values from the highest down, to "no score" at the
    place where a score would lower the mean, and to lower ones only if it must. Every such place is
    tried: each gives a distribution within the bounds, and one of them is the best.
    """
    low, high = np.asarray(low_NV, dtype=np.float64), np.asarray(high_NV, dtype=np.float64)
    values = np.asarray(values_V, dtype=np.float64)
    name = "weighted_bounds"
    if low.ndim != 2 or low.shape != high.shape or values.shape != (low.shape[1] - 1,):
        raise ValueError(
            f"{name}: low and high need a column a value and one more, got {low.shape}, "
            f"{high.shape} and {values.shape}"
        )
    if not all(np.isfinite(part).all() for part in (low, high, values)):
        raise ValueError(f"{name}: bounds and values must be finite")
    least, most = low.sum(axis=1), high.sum(axis=1)
    if (
        (low > high + _ROUNDING).any()
        or (least > 1 + _ROUNDING).any()
        or (most < 1 - _ROUNDING).any()
    ):
        raise ValueError(f"{name}: some item has no distribution within its bounds")
    return ScoreBounds(
        low_N=-_highest_item_means(low, high, -values),
        high_N=_highest_item_means(low, high, values),
    )


def _highest_item_means(low: Floats, high: Floats, values: Floats) -> Floats:
    """The highest mean of each item."""
    none, best = values.size, np.full(len(low), np.nan)
    downward = np.argsort(-values, kind="stable")
    for place in range(none + 1):
        order = np.insert(downward, place, none)
        room = np.maximum(0.0, high - low)[:, order]
        before = np.cumsum(room, axis=1) - room
        spare = np.maximum(0.0, 1 - low.sum(axis=1))[:, None]
        filled = np.zeros_like(low)
        filled[:, order] = low[:, order] + np.clip(spare - before, 0.0, room)
        scored = filled[:, :none]
        mass = scored.sum(axis=1)
        mean = np.full(len(low), np.nan)
        np.divide(scored @ values, mass, out=mean, where=mass > 0)
        best = np.fmax(best, mean)
    return best


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceSplit:
    """Where a judge's inconsistency arises: in its reasoning, or in the verdict drawn after it.

    All means are over questions with two reasonings or more.
    """

    # Shape (n_questions, n_values). Estimated verdict distribution of each question; NaN without a
    # reasoning.
    mean_UV: Floats  # noqa: N815  a shape, not a case
    agreement: float | None = None  # How often two replications of a question agree, unbiased.
    # Variance between reasonings, summed over verdicts: what Rao-Blackwellised replications keep.
    reasoning: float | None = None
    # Variance of the verdict drawn, given the reasoning. `reasoning` + `verdict` is exactly 1 -
    # `agreement`.
    verdict: float | None = None
    # `reasoning` over 1 - `agreement`: reasonings needed, as a share of letters drawn, for the same
    # error. None where the replications never differ.
    ratio: float | None = None
    ratio_low: float | None = (
        None  # Ends of its 95 % jackknife interval over questions, within [0, 1].
    )
    ratio_high: float | None = None
    n_questions: int = 0  # Questions with two reasonings or more, and their reasonings.
    n_reasonings: int = 0


def split_variance(distributions_URV: ArrayLike) -> VarianceSplit:
    r"""Split the variance of verdicts into that of the reasoning and that of the verdict.

    .. math:: 1 - A = \mathrm{E}(1 - |\pi|^2) + \mathrm{tr\,Var}(\pi), \quad
              \hat A_q = \frac{|\sum_i \pi_i|^2 - \sum_i |\pi_i|^2}{m (m - 1)}

    Parameters
    ----------
    distributions_URV : array-like of float, shape (n_questions, n_reasonings, n_values)
        Verdict distribution after each sampled reasoning, rows of sum 1 ("no verdict" is a value
        like others); NaN where a replication is missing.

    Returns
    -------
    VarianceSplit
        Numbers are None where no question has two reasonings.

    Raises
    ------
    ValueError
        If the array has not three dimensions, or a row is no distribution.

    Notes
    -----
    Where the distribution after a reasoning is Dirichlet(s p), the ratio is 1 / (1 + s): with s = 5
    one reasoning is worth six letters.

    Examples
    --------
    Each reasoning settles the verdict: all variance is the reasoning's.

    >>> found = split_variance([[[1.0, 0.0], [0.0, 1.0]]])
    >>> found.agreement, found.reasoning, found.verdict, found.ratio
    (0.0, 1.0, 0.0, 1.0)

    Every reasoning leaves it open in the same way: all of it is the verdict's.

    >>> split_variance([[[0.5, 0.5], [0.5, 0.5]]]).ratio
    0.0
    """
    shares = np.asarray(distributions_URV, dtype=np.float64)
    if shares.ndim != 3:
        raise ValueError(
            f"split_variance: distributions_URV must have 3 dimensions, got {shares.ndim}"
        )
    there = np.asarray(~np.isnan(shares).any(axis=2))
    if (shares[there] < 0).any() or (np.abs(shares[there].sum(axis=-1) - 1) > 1e-6).any():
        raise ValueError("split_variance: distributions_URV must hold rows that sum to 1")
    kept = np.where(there[..., None], shares, 0.0)
    m = there.sum(axis=1).astype(np.float64)
    total, squares = kept.sum(axis=1), (kept**2).sum(axis=(1, 2))
    mean = divide(total, np.broadcast_to(m[:, None], total.shape))
    pair = m >= 2
    m, squares, summed = m[pair], squares[pair], (total[pair] ** 2).sum(axis=1)
    agreement = (summed - squares) / (m * (m - 1))
    verdict = 1 - squares / m
    reasoning = np.maximum(0.0, 1 - agreement - verdict)
    n = int(pair.sum())
    if not n:
        return VarianceSplit(mean_UV=mean)
    split = np.stack([reasoning, reasoning + verdict])
    ratio = _share(split.sum(axis=1))
    ends = student_interval(
        float(ratio), _share(split.sum(axis=1)[:, None] - split), 0.95, chance_corrected=False,
        weights_C=split[1],
    )  # fmt: skip
    return VarianceSplit(
        mean_UV=mean,
        agreement=float(agreement.mean()),
        reasoning=float(reasoning.mean()),
        verdict=float(verdict.mean()),
        ratio=None if np.isnan(ratio) else float(ratio),
        ratio_low=None if np.isnan(ratio) else ends.low,
        ratio_high=None if np.isnan(ratio) else ends.high,
        n_questions=n,
        n_reasonings=int(m.sum()),
    )


def _share(parts_2: Floats) -> Floats:
    """First over second; NaN where that is rounding."""
    return divide(parts_2[0], np.where(parts_2[1] > 1e-12, parts_2[1], 0.0))
