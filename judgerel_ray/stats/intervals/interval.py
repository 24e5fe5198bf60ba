"""Intervals by question, because the replications of one question are no independent evidence.

Questions are left out one at a time (the jackknife, with the ends of Student's t on a scale that
fits), or drawn anew with replacement (the bootstrap).

Shape suffixes: U = units, V = distinct values, C = clusters (questions), T = terms, B = resamples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.core.codes import IntervalMethod
from judgerel_ray.stats.agreement.agreement import Statistic, named_statistic
from judgerel_ray.stats.agreement.krippendorff import Level, Values
from judgerel_ray.stats.arguments import check_at_least_1, check_choice, check_fraction, clusters_of
from judgerel_ray.stats.counts import (
    BLOCK,
    Coefficient,
    CountStatistic,
    Floats,
    row_sums,
    run_sums,
    slices,
    term_sums,
)
from judgerel_ray.stats.intervals.ends import (
    alike_ends,
    carried_by_few,
    effective_questions,
    is_uneven,
    jackknife_error,
    n_distinct,
    one_more_ends,
    share_ends,
    student_ends,
    t_quantile,
)


def ends_less_bias(value: float, half: float, bias: float) -> tuple[float, float, IntervalMethod]:
    """Lay a plain interval about a value less its bias, which holds 0 where it did, and the value.

    low, high: At most 1.

    method: Whether 0 had to be kept in it.

    Notes
    -----
    Never on the logit scale: it would exclude 0, which the plain interval holds.
    """
    low, high = value - bias - half, value - bias + half
    method = IntervalMethod.JACKKNIFE_LESS_BIAS
    if value - half <= 0 <= value + half and not low <= 0 <= high:
        low, high = min(0.0, low), max(0.0, high)
        method = IntervalMethod.JACKKNIFE_LESS_BIAS_WITH_0
    if not low <= value <= high:
        low, high = min(low, value), max(high, value)
        method = IntervalMethod.JACKKNIFE_LESS_BIAS_EXTENDED
    return low, min(1.0, high), method


_SOME = 10_000  # units looked at first
_HELD = 5_000_000  # counts whose terms are held, and not computed again
_FEW = 10
_BIAS = 0.25  # of the standard error: coverage of .95 is then still .94
_REPLICATIONS = 20  # an entropy's bias falls with them, its error with the questions
_MINORITY = 5  # below it coverage falls to .63, from it on it holds (bench.coverage_page)


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """Two ends, or why there are none.

    Attributes
    ----------
    low, high : float or None
        The ends; both None where `undefined` is set.
    kind : IntervalMethod or None
        How it was made; `method` says it in words.
    standard_error : float or None
        The jackknife's, on the scale of the value, where Student's t was laid with it.
    undefined : str or None
        "undefined" where the coefficient is, "too_few_units" below two questions, "no_spread" where
        all questions say the same and that is no share of 0 or 1, "depends_on_one_question" where
        leaving one out leaves none.
    n_questions : int
        Questions left out in turn, or trials.
    n_resamples, n_undefined : int
        Of a bootstrap: resamples, and those of them that have no value.
    few_informative : bool
        Whether fewer than ten questions show any disagreement, or fewer than ten any agreement; or,
        of a coefficient whose chance the group's own verdicts measure (alpha, Fleiss, ICC), fewer
        than five have another commonest verdict than most questions have. Coverage may then be far
        below its nominal value.
    biased : bool
        Whether the value is off by more than a quarter of its standard error, as leaving questions
        out shows (Fleiss' kappa near chance) or few replications make sure of (entropy).
    n_effective : float or None
        Of scores: among how many questions the variance between them is shared
        (:func:`judgerel_ray.stats.intervals.ends.effective_questions`).
    carried_by_few : bool
        Whether those are few (:func:`judgerel_ray.stats.intervals.ends.carried_by_few`).
    """

    low: float | None = None
    high: float | None = None
    kind: IntervalMethod | None = None
    standard_error: float | None = None
    undefined: str | None = None
    n_questions: int = 0
    n_resamples: int = 0
    n_undefined: int = 0
    few_informative: bool = False
    biased: bool = False
    n_effective: float | None = None
    carried_by_few: bool = False

    @property
    def method(self) -> str:
        """How it was made, in words."""
        if self.kind is None:
            return ""
        return self.kind.words(n=self.n_questions, n_resamples=self.n_resamples)


def jackknife_interval(
    counts_UV: ArrayLike,
    statistic: Statistic,
    *,
    values: Values | None = None,
    level: Level = "nominal",
    n_categories: int | None = None,
    clusters_U: ArrayLike | None = None,
    confidence: float = 0.95,
) -> Interval:
    """Compute an interval by leaving one question out at a time, with Student's t.

    For chance-corrected coefficients in (0, 1) the logit scale is used (the standard error divided
    by ``value * (1 - value)``), but only where the plain interval excludes 0: on the logit scale 0
    could never be covered. Of a share each end is the outer one of Student's t and of as many
    independent trials as its error is worth, and where questions weigh unequally of one question
    more; where it is 1, or 0, on every question the interval is the exact one of such questions,
    and that of a nominal alpha, Fleiss' kappa or icc1 of 1 follows from it. Fleiss' kappa, where
    marked biased and the plain interval does not exclude 0, has it about the value less that bias,
    and 0 stays in. `method` says which it is.

    Parameters
    ----------
    counts_UV : array-like of int, shape (n_units, n_values)
        How often each unit received each value.
    statistic : CountStatistic, str or callable
        The coefficient, from :func:`judgerel_ray.stats.count_statistic`; or its name; or the
        function of counts that gives it, such as :func:`judgerel_ray.stats.krippendorff_alpha`,
        also with options bound by :func:`functools.partial`.
    values, level, n_categories
        As of :func:`judgerel_ray.stats.count_statistic`; of a name or a function alone.
    clusters_U : array-like, shape (n_units,), optional
        The question of each unit; by default every unit is its own.
    confidence : float
        Coverage asked for, in (0, 1).

    Returns
    -------
    Interval
        Within [0, 1] for shares, at most 1 otherwise; or why there is none.

    Raises
    ------
    ValueError
        If the counts are no table of whole numbers, there is not one cluster a unit, the name is
        unknown, or the confidence is not in (0, 1).

    Notes
    -----
    O(U T) for T terms of a unit. Coverage is near nominal from about 20 questions with even base
    rates, and below it with few questions or a verdict that dominates.

    Examples
    --------
    >>> found = jackknife_interval([[2, 0], [1, 1], [0, 2], [2, 0]], "percent_agreement")
    >>> found.low, found.high, found.method
    (0.0, 1.0, 'outer ends of jackknife-t and binomial over 4 questions')
    """
    check_fraction("jackknife_interval", confidence=confidence)
    statistic = named_statistic(
        statistic, counts_UV, values=values, level=level, n_categories=n_categories
    )
    counts = statistic.checked(counts_UV, function="jackknife_interval")
    owners = clusters_of(clusters_U, len(counts), function="jackknife_interval")
    counts, clusters = by_cluster(counts, owners, statistic)
    parts: Iterable[Floats] = cluster_terms(counts, clusters, statistic)
    if 0 < counts.size <= _HELD:
        parts = [*parts]
        total = np.sum([terms.sum(axis=0) for terms in parts], axis=0)
    else:
        total = term_sums(counts, statistic)
    value = float(statistic.value(total))
    if np.isnan(value):
        return Interval(undefined="undefined")
    pairs = [(statistic.value(total - terms), terms[:, 0]) for terms in parts]
    left_out_C, weights_C = (np.concatenate(some) for some in zip(*pairs, strict=True))
    found = student_interval(
        value, left_out_C, confidence, chance_corrected=statistic.chance_corrected,
        less_bias=statistic.less_bias, weights_C=weights_C,
    )  # fmt: skip
    if found.undefined == NO_SPREAD and statistic.is_nominal_alpha:
        c_V, m_U = counts.sum(axis=0), row_sums(counts)
        chance = float((c_V * (c_V - 1)).sum() / (c_V.sum() * (c_V.sum() - 1)))
        ratings_C = np.bincount(clusters, weights=m_U).astype(np.float64)
        found = exact_where_alike(found, value, confidence, ratings_C, chance=chance)
    if found.undefined or found.kind in EXACT:
        return found
    return flagged(found, counts, clusters, statistic)


NO_SPREAD = "no_spread"
EXACT = (
    IntervalMethod.CLOPPER_PEARSON, IntervalMethod.CLOPPER_PEARSON_LESS_CHANCE,
    IntervalMethod.EXACT_WEIGHTED, IntervalMethod.EXACT_WEIGHTED_LESS_CHANCE,
)  # fmt: skip
"""How the interval was made of what is alike on every question."""


def exact_where_alike(
    found: Interval,
    value: float,
    confidence: float,
    weights_C: Floats | None = None,
    *,
    chance: float | None = None,
) -> Interval:
    """Give a share that is 1, or 0, on every question the exact interval of such questions.

    Questions weigh `weights_C`, by default alike (:func:`.least_mean`). Of agreement beyond chance
    that is 1 it is that of agreement, over what `chance` leaves, and at least -1.

    Examples
    --------
    >>> alike = Interval(undefined="no_spread", n_questions=60)
    >>> exact = exact_where_alike(alike, 1.0, 0.95)
    >>> round(exact.low, 3), exact.high, exact.method
    (0.94, 1.0, 'Clopper-Pearson over 60 questions')
    >>> round(exact_where_alike(alike, 1.0, 0.95, chance=0.5).low, 3)
    0.881
    >>> exact_where_alike(alike, 0.5, 0.95) is alike
    True
    """
    whole = round(value, 9)
    if found.undefined != NO_SPREAD or whole not in (0.0, 1.0):
        return found
    if chance is not None and (whole == 0 or chance >= 1):
        return found
    weights = np.ones(found.n_questions) if weights_C is None else weights_C
    n, uneven = int((weights > 0).sum()), is_uneven(weights)
    low, high = alike_ends(whole, weights, confidence)
    kind = IntervalMethod.EXACT_WEIGHTED if uneven else IntervalMethod.CLOPPER_PEARSON
    if chance is not None:
        low = max(-1.0, 1 - (1 - low) / (1 - chance))
        kind = (IntervalMethod.EXACT_WEIGHTED_LESS_CHANCE if uneven
                else IntervalMethod.CLOPPER_PEARSON_LESS_CHANCE)  # fmt: skip
    return Interval(low=low, high=high, kind=kind, n_questions=n)


def by_cluster(
    counts: Floats, clusters: NDArray[np.generic], statistic: CountStatistic
) -> tuple[Floats, NDArray[np.intp]]:
    """Sort the units that take part by their cluster, clusters numbered from 0 on."""
    taking = statistic.takes_part(counts)
    if not taking.all():
        counts, clusters = np.asfortranarray(counts[taking]), clusters[taking]
    if np.issubdtype(clusters.dtype, np.integer) and len(counts):
        further = np.diff(clusters)
        if (further >= 0).all():
            return counts, np.concatenate([[0], np.cumsum(further > 0)])
    number = np.unique(clusters, return_inverse=True)[1]
    order = np.argsort(number, kind="stable")
    return counts[order], number[order]


def cluster_terms(
    counts: Floats, clusters: NDArray[np.intp], statistic: CountStatistic
) -> Iterator[Floats]:
    """Sum terms by cluster, (clusters of a chunk, T) at a time; units are sorted by cluster."""
    width = max(1, statistic.terms(counts[:0]).shape[-1])
    if clusters.size and clusters[-1] == len(clusters) - 1:  # one unit a question
        for some in slices(len(counts), width):
            yield statistic.terms(counts[some])
        return
    starts = np.flatnonzero(np.diff(clusters, prepend=-1))
    chunk = np.cumsum(np.diff(starts, append=len(clusters))) * width // BLOCK
    for index in np.unique(chunk):
        begins = starts[chunk == index]
        after = np.searchsorted(starts, begins[-1], side="right")
        stop = starts[after] if after < starts.size else len(clusters)
        yield run_sums(statistic.terms(counts[begins[0] : stop]), begins - begins[0], axis=-2)


def student_interval(
    value: float, left_out_C: Floats, confidence: float, *, chance_corrected: bool,
    less_bias: bool = False, least: float = -1.0, weights_C: Floats | None = None,
) -> Interval:  # fmt: skip
    """Compute the interval from delete-one values: of a share as all shares have it, else by t.

    On the logit scale where that may be. With `less_bias` it is about the value less its bias where
    that is large and 0 is near. Its low end is at least `least`, below which no agreement beyond
    chance can fall. A share is a mean of [0, 1] in which questions weigh `weights_C`, by default
    alike.
    """
    n = left_out_C.size
    if n < 2:
        return Interval(undefined="too_few_units", n_questions=n)
    if np.isnan(left_out_C).any():
        return Interval(undefined="depends_on_one_question", n_questions=n)
    error = jackknife_error(left_out_C)
    half = t_quantile(n - 1, confidence) * error
    if half < 1e-9:
        found = Interval(undefined=NO_SPREAD, n_questions=n)
        return found if chance_corrected else exact_where_alike(found, value, confidence, weights_C)
    bias = float((n - 1) * (left_out_C.mean() - value))
    biased = abs(bias) > _BIAS * error
    if biased and less_bias and value - half <= 0:
        low, high, kind = ends_less_bias(value, half, bias)
    elif chance_corrected:
        low, high, kind = student_ends(value, half)
    else:
        low, high = share_ends(value, error, n, confidence=confidence)
        kind = IntervalMethod.JACKKNIFE_AND_BINOMIAL
        if weights_C is not None and is_uneven(weights_C):
            more = one_more_ends(value, left_out_C, weights_C, confidence=confidence)
            low, high = min(low, more[0]), max(high, more[1])
            kind = IntervalMethod.JACKKNIFE_BINOMIAL_ONE_MORE
    return Interval(
        low=max(low, least), high=high, kind=kind, standard_error=error, n_questions=n,
        biased=biased,
    )  # fmt: skip


def coefficient_with_interval(found: Coefficient, ends: Interval) -> Coefficient:
    """Give a coefficient its interval, how that was made, or why there is none."""
    return replace(
        found, low=ends.low, high=ends.high, interval_method=ends.kind,
        standard_error=ends.standard_error, no_interval=ends.undefined,
    )  # fmt: skip


def flagged(
    found: Interval, counts: Floats, clusters: NDArray[np.intp], statistic: CountStatistic
) -> Interval:
    """Mark an interval that few questions carry, or that few replications move."""
    if statistic.needs_replications:
        unsteady = np.median(row_sums(counts)) < max(_REPLICATIONS, n_distinct(clusters))
        found = replace(found, biased=found.biased or bool(unsteady))
    n = effective_questions(counts, clusters, statistic)
    by_few = carried_by_few(counts, clusters, statistic, n)
    found = replace(found, n_effective=n, carried_by_few=by_few)
    # Questions are but added: where some of them are enough, so are all.
    few = _interval_rests_on_few(counts[:_SOME], clusters[:_SOME], statistic)
    if few and len(counts) > _SOME:
        few = _interval_rests_on_few(counts, clusters, statistic)
    return replace(found, few_informative=few)


def _interval_rests_on_few(
    counts: Floats, clusters: NDArray[np.intp], statistic: CountStatistic
) -> bool:
    """Whether few questions tell agreement from disagreement, or have a verdict of the minority."""
    if statistic.of_moments:  # scores have no agreement to lack
        m, total, squares = counts.T
        return n_distinct(clusters[m * squares > total**2 * (1 + 1e-9)]) < _FEW
    most = counts.max(axis=1, initial=0.0)
    disagreeing = n_distinct(clusters[most < row_sums(counts)])
    agreeing = n_distinct(clusters[most > 1])
    # Where distances count, scores that are never the same may yet be near.
    of_distances = statistic.at_totals is not None or (
        statistic.pairs is not None and statistic.pairs.distances_VV is not None
    )
    informative = disagreeing if of_distances else min(disagreeing, agreeing)
    if informative >= _FEW and statistic.rests_on_minority:
        elsewhere_UV = counts < most[:, None]  # another verdict is commoner in this unit
        minority = min(n_distinct(clusters[elsewhere_U]) for elsewhere_U in elsewhere_UV.T)
        return minority < _MINORITY
    return informative < _FEW


BootstrapMethod = Literal["percentile", "basic"]
_KINDS: Mapping[BootstrapMethod, IntervalMethod] = {
    "percentile": IntervalMethod.PERCENTILE_BOOTSTRAP,
    "basic": IntervalMethod.BASIC_BOOTSTRAP,
}
_CELLS = 4_000_000  # draws held at once: 32 MB
_MOST_UNDEFINED = 0.05


def bootstrap_interval(
    counts_UV: ArrayLike,
    statistic: Statistic,
    *,
    n_resamples: int = 2000,
    seed: int = 0,
    method: BootstrapMethod = "percentile",
    clusters_U: ArrayLike | None = None,
    confidence: float = 0.95,
    values: Values | None = None,
    level: Level = "nominal",
    n_categories: int | None = None,
) -> Interval:
    """Compute an interval by drawing questions anew with replacement.

    The jackknife of :func:`judgerel_ray.stats.jackknife_interval` is the default elsewhere: it
    needs no seed, and covers better where questions are few.

    Parameters
    ----------
    counts_UV : array-like of int, shape (n_units, n_values)
        How often each unit received each value; or what else the statistic is of.
    statistic : CountStatistic, str or callable
        The coefficient, as of :func:`judgerel_ray.stats.jackknife_interval`.
    n_resamples : int
        Resamples, at least 1.
    seed : int
        Seed of the draws; equal seeds give equal draws on any machine.
    method : {"percentile", "basic"}
        Quantiles of the resamples, or those reflected at the value.
    clusters_U : array-like, shape (n_units,), optional
        The question of each unit; by default every unit is its own. All units of a question are
        drawn together.
    confidence, values, level, n_categories
        As of :func:`judgerel_ray.stats.jackknife_interval`.

    Returns
    -------
    Interval
        Or why there is none: as of the jackknife, or "undefined_resamples" where more than one in
        twenty resamples have no value.

    Raises
    ------
    ValueError
        If the counts are no table of whole numbers, there is not one cluster a unit, the name is
        unknown, or a choice is out of range.

    Notes
    -----
    Terms are summed by question once; a resample is a row of weights times those sums.

    Examples
    --------
    >>> found = bootstrap_interval([[2, 0], [1, 1], [0, 2], [2, 0]], "percent_agreement")
    >>> found.low, found.high, found.method
    (0.25, 1.0, 'percentile bootstrap, 2000 resamples of 4 questions')
    """
    check_resampling(confidence, n_resamples, method, function="bootstrap_interval")
    statistic = named_statistic(
        statistic, counts_UV, values=values, level=level, n_categories=n_categories
    )
    counts = statistic.checked(counts_UV, function="bootstrap_interval")
    owners = clusters_of(clusters_U, len(counts), function="bootstrap_interval")
    counts, clusters = by_cluster(counts, owners, statistic)
    parts = list(cluster_terms(counts, clusters, statistic))
    terms_CT = np.concatenate(parts) if parts else statistic.terms(counts)
    found = resampled_interval(
        float(statistic.value(terms_CT.sum(axis=0))),
        lambda weight_BC: statistic.value(weight_BC @ terms_CT),
        len(terms_CT), n_resamples=n_resamples, seed=seed, confidence=confidence, method=method,
    )  # fmt: skip
    if found.undefined or found.low is None or found.high is None:
        return found
    floor = -np.inf if statistic.chance_corrected else 0.0
    low, high = max(floor, found.low), min(1.0, found.high)
    inside = replace(found, low=low, high=high)
    return flagged(inside, counts, clusters, statistic)


def bootstrap_weights(n: int, *, n_resamples: int, seed: int) -> Iterator[Floats]:
    """Draw how often each of n questions is in each resample, a block of resamples at a time."""
    rng = np.random.default_rng(seed)
    block = max(1, min(500, _CELLS // n))
    for start in range(0, n_resamples, block):
        # Whole blocks are drawn, so that more resamples begin with those of fewer.
        drawn = rng.integers(n, size=(block, n)) + np.arange(block)[:, None] * n
        weights = np.bincount(drawn.ravel(), minlength=block * n).reshape(block, n)
        yield weights[: n_resamples - start].astype(np.float64)


def resampled_interval(
    value: float, at: Callable[[Floats], Floats], n: int, *, n_resamples: int, seed: int,
    confidence: float, method: BootstrapMethod = "percentile", fewest: int = 2,
) -> Interval:  # fmt: skip
    """Compute the percentile or basic interval of what `at` gives for weights of n questions."""
    if np.isnan(value):
        return Interval(undefined="undefined")
    if n < fewest:
        return Interval(undefined="too_few_units", n_questions=n)
    weights = bootstrap_weights(n, n_resamples=n_resamples, seed=seed)
    values_B = np.concatenate([at(weight_BC) for weight_BC in weights])
    return between(value, values_B, confidence, method, n)


def between(
    value: float, values_B: Floats, confidence: float, method: BootstrapMethod, n: int
) -> Interval:
    """Compute the percentile or basic interval of the resamples of n that have a value."""
    n_undefined = int(np.isnan(values_B).sum())
    if n_undefined > _MOST_UNDEFINED * values_B.size:
        return Interval(undefined="undefined_resamples", n_questions=n)
    tail = (1 - confidence) / 2
    ends = np.quantile(values_B[~np.isnan(values_B)], [tail, 1 - tail])
    if ends[1] - ends[0] < 1e-9:
        return Interval(undefined="no_spread", n_questions=n)
    low, high = ends if method == "percentile" else 2 * value - ends[::-1]
    return Interval(
        low=float(low), high=float(high), kind=_KINDS[method], n_questions=n,
        n_resamples=values_B.size, n_undefined=n_undefined,
    )  # fmt: skip


def check_resampling(confidence: float, n_resamples: int, method: str, *, function: str) -> None:
    """Refuse choices out of range (ValueError)."""
    check_fraction(function, confidence=confidence)
    check_at_least_1(function, n_resamples=n_resamples)
    check_choice(function, ("percentile", "basic"), method=method)
