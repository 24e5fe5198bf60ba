r"""Cohen's kappa of a judge with labels, of people with each other, and of two judges.

Every item weighs 1, shared among its pairs of a label and a verdict, so that a judge asked four
times weighs no more than one asked once. Kappa then follows from sums over items of

.. math:: \kappa = \frac{S - E}{T - E}, \qquad E = \frac{g \cdot h}{n}

with S what agrees, T what would agree were every verdict its label, and g and h the sums of both
sides' shares by value (of quadratic weights: of both sides' numbers). Leaving an item out is a
subtraction, and shuffling the labels across items leaves all but S as it is.

Shape suffixes: N = pairs of a label and a verdict, C = items, K = values, T = terms, M = items that
might be added, B = shuffles.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.core.codes import IntervalMethod, NullMethod
from judgerel_ray.stats.arguments import check_one_length, clusters_of
from judgerel_ray.stats.counts import (
    Coefficient,
    Floats,
    QuestionTerms,
    batches,
    counts_from_ratings,
    divide,
)
from judgerel_ray.stats.intervals.ends import jackknife_error, student_ends, t_quantile, trial_ends
from judgerel_ray.stats.intervals.interval import NO_SPREAD, Interval, resampled_interval
from judgerel_ray.stats.null.noise import NOTHING, NoiseFloor
from judgerel_ray.stats.ratings.correlations import question_pairs

Weights: TypeAlias = Literal["linear", "quadratic"]
"""How far two values of an ordered scale disagree: by their distance, or by its square."""
_TINY = 1e-9
_FEWEST = 2
_SHUFFLES = 999
_CELLS = 20_000  # shares of labels, above which the null is taken to be normal
_HELD = 2_000_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LabelAgreement:
    """Labels and verdicts by item, as kappa, its interval and its null are made of them."""

    terms: QuestionTerms  # By item: 1, its parts of T and S, its shares g and h.
    estimator: str
    n_pairs: int
    values: Floats  # Shape (n_values,). What occurs on either side: codes, or numbers.
    weights: Weights | None

    @property
    def sides(self) -> tuple[Floats, Floats]:
        """The shares of both sides by item, (C, K) each."""
        shares = self.terms.terms_CT[:, 3:]
        width = shares.shape[1] // 2
        return shares[:, :width], shares[:, width:]

    @property
    def value(self) -> float:
        """Kappa, NaN where there is none."""
        return float(self.terms.value(self.terms.terms_CT.sum(axis=0)))


def _kappa_of_sums(total: Floats) -> Floats:
    """Sums of terms (..., T) to kappa; NaN where one value is all there is."""
    n, most, same = (total[..., place] for place in range(3))
    width = (total.shape[-1] - 3) // 2
    chance = np.einsum("...k,...k->...", total[..., 3 : 3 + width], total[..., 3 + width :])
    chance = chance / np.where(n > 0, n, 1.0)
    return _ratio_beyond_chance(same - chance, most - chance, most)


def _ratio_beyond_chance(numbers: Floats, room: Floats, most: Floats) -> Floats:
    """Numbers over the room that chance leaves; NaN where that is rounding."""
    return divide(numbers, np.where(room > _TINY * np.maximum(most, 1e-300), room, 0.0))


def _alpha_of_kappa_sums(total: Floats) -> Floats:
    """Sums of the same terms to Krippendorff's alpha of both sides; NaN of one value alone."""
    n, most, same = (total[..., place] for place in range(3))
    width = (total.shape[-1] - 3) // 2
    pooled = (total[..., 3 : 3 + width] + total[..., 3 + width :]) / 2
    room = most - np.einsum("...k,...k->...", pooled, pooled) / np.where(n > 0, n, 1.0)
    apart = _ratio_beyond_chance(most - same, room, most)
    found: Floats = 1 - (2 * n - 1) / np.where(n > 0, 2 * n, 1.0) * apart
    return found


def pooled_alpha(found: LabelAgreement) -> LabelAgreement:
    """Give Krippendorff's alpha of the same pairs: nominal, or interval with quadratic weights.

    Each item holds two ratings, one of each side, however many verdicts share it.

    Examples
    --------
    One of two items agrees: 1 - 3/4 (1 - 1/2) / (1 - 9/16 - 1/16).

    >>> abs(pooled_alpha(label_agreement([0, 1], [0, 0])).value)
    0.0
    """
    terms = replace(found.terms, name="krippendorff_alpha", value=_alpha_of_kappa_sums)
    return replace(found, terms=terms)


def label_agreement(
    labels_N: ArrayLike,
    verdicts_N: ArrayLike,
    *,
    items_N: ArrayLike | None = None,
    n_N: ArrayLike | None = None,
    weights: Weights | None = None,
    values: ArrayLike | None = None,
    name: str = "cohen_kappa",
) -> LabelAgreement:
    """Lay pairs of a label and a verdict out by item.

    Parameters
    ----------
    labels_N, verdicts_N : array-like of float, shape (n_pairs,)
        What is right of an item, and what a judge said: codes of one vocabulary, or, with
        `weights`, numbers of one scale.
    items_N : array-like, shape (n_pairs,), optional
        The item of each pair; by default each is its own.
    n_N : array-like, shape (n_pairs,), optional
        How often each pair occurs; by default once.
    weights : {"linear", "quadratic"}, optional
        How far two numbers disagree; without, values agree or do not.
    values : array-like of float, shape (n_values,), optional
        What may occur, where the terms must mean the same as those of another judge; by default
        what does.
    name : str
        What the number is called.

    Returns
    -------
    LabelAgreement

    Examples
    --------
    One item judged twice, right once; one judged once, rightly; by hand (1.5/2 - 1/2) / (1/2):

    >>> round(label_agreement([1, 1, 0], [1, 0, 0], items_N=["q", "q", "r"]).value, 6)
    0.5
    """
    labels, verdicts = (np.asarray(one, dtype=np.float64) for one in (labels_N, verdicts_N))
    check_one_length("label_agreement", labels_N=labels, verdicts_N=verdicts)
    items = clusters_of(items_N, labels.size, function="label_agreement", argument="items_N")
    n = np.ones(labels.size) if n_N is None else np.asarray(n_N, dtype=np.float64)
    names, item = np.unique(items, return_inverse=True)
    order = np.lexsort((n, verdicts, labels, item))  # sums depend on their order in the last digit
    labels, verdicts, n, item = labels[order], verdicts[order], n[order], item[order]
    weight = n / np.bincount(item, weights=n, minlength=names.size)[item]

    def by_item(numbers: Floats) -> Floats:
        sums = np.bincount(item, weights=weight * numbers, minlength=names.size)
        return sums.astype(np.float64)

    parts = (labels, verdicts) if values is None else (np.asarray(values, dtype=np.float64),)
    values = np.unique(np.concatenate(parts))
    if weights == "quadratic":
        middle = float(values.mean()) if values.size else 0.0
        x, y = labels - middle, verdicts - middle
        columns = [by_item(one) for one in ((x * x + y * y) / 2, x * y, x, y)]
        shares = [columns[2][:, None], columns[3][:, None]]
        most, same = columns[:2]
    else:
        code_x, code_y = np.searchsorted(values, labels), np.searchsorted(values, verdicts)
        alike = _agreement_weights(values, weights)
        shares = [
            _item_pair_value_shares(item, code, weight, names.size, values.size)
            for code in (code_x, code_y)
        ]
        shares[1] = shares[1] if weights is None else shares[1] @ alike
        most, same = np.ones(names.size), by_item(alike[code_x, code_y])
    terms = np.column_stack([np.ones(names.size), most, same, *shares])
    how = "" if weights is None else f", {weights} weights"
    return LabelAgreement(
        terms=QuestionTerms(name=name, questions_C=names, terms_CT=terms, value=_kappa_of_sums),
        estimator=f"Cohen's kappa{how}, items alike", n_pairs=int(n.sum()), values=values,
        weights=weights,
    )  # fmt: skip


def _agreement_weights(values: Floats, weights: Weights | None) -> Floats:
    """How far pairs of values agree, 1 for the same: without weights, or linear ones."""
    if weights is None or values.size < 2:
        return np.eye(values.size)
    return 1 - np.abs(values[:, None] - values) / np.ptp(values)


def people_agreement(
    labels_N: ArrayLike, items_N: ArrayLike, *, weights: Weights | None = None
) -> LabelAgreement:
    """Lay pairs of two people who labelled the same item out by item.

    Items of one person take no part; every ordered pair of two people is one pair of labels.

    Examples
    --------
    Three people, two of whom agree; two who agree. By hand (2/3 - 5/9) / (4/9):

    >>> found = people_agreement([0, 0, 1, 1, 1], ["q", "q", "q", "r", "r"])
    >>> found.n_pairs, round(found.value, 6)
    (8, 0.25)
    """
    labels = np.asarray(labels_N, dtype=np.float64)
    items = clusters_of(items_N, labels.size, function="people_agreement", argument="items_N")
    item = np.unique(items, return_inverse=True)[1]
    order = np.argsort(item, kind="stable")
    first, second = question_pairs(np.bincount(item))
    apart = first != second
    chosen = (order[first[apart]], order[second[apart]])
    return label_agreement(
        labels[chosen[0]], labels[chosen[1]], items_N=items[chosen[0]], weights=weights,
        name="people_kappa",
    )  # fmt: skip


def cohen_kappa(
    labels_N: ArrayLike,
    verdicts_N: ArrayLike,
    *,
    items_N: ArrayLike | None = None,
    weights: Weights | None = None,
    confidence: float = 0.95,
) -> Coefficient:
    r"""Compute Cohen's kappa of a judge with labels, each item weighing 1.

    .. math:: \kappa = (p_o - p_e) / (1 - p_e)

    Parameters
    ----------
    labels_N, verdicts_N : array-like, shape (n_pairs,)
        The label and the verdict of each judgment: names, or with `weights` numbers. None or NaN
        is missing: the pair takes no part.
    items_N : array-like, shape (n_pairs,), optional
        The item of each judgment. An item judged m times weighs 1, each verdict 1/m, as with
        ``sample_weight = 1/m`` in scikit-learn. By default each judgment is an item.
    weights : {"linear", "quadratic"}, optional
        Of ratings: how far two of them disagree, by their distance or its square (the distance of
        the numbers themselves, whatever values lie between).
    confidence : float
        Of the interval, in (0, 1).

    Returns
    -------
    Coefficient
        At most 1, 0 at chance, with its interval by item and its floor, labels shuffled across
        items. ``undefined`` is "no_verdicts", or "no_variance" where one value is all there is on
        both sides.

    Raises
    ------
    ValueError
        If the shapes differ, or `weights` go with names.

    References
    ----------
    .. [1] Cohen, J. (1960), doi:10.1177/001316446002000104; (1968), doi:10.1037/h0026256.

    Examples
    --------
    Three of four agree, by chance one in two would: (3/4 - 1/2) / (1/2).

    >>> cohen_kappa(["pass", "pass", "fail", "fail"], ["pass", "pass", "fail", "pass"]).value
    0.5
    """
    labels, verdicts = (np.asarray(one, dtype=object) for one in (labels_N, verdicts_N))
    check_one_length("cohen_kappa", labels_N=labels, verdicts_N=verdicts)
    items = clusters_of(items_N, labels.size, function="cohen_kappa", argument="items_N")
    pairs = np.column_stack([labels, verdicts])
    there = np.array([all(one is not None and one == one for one in pair) for pair in pairs], bool)
    pairs = pairs[there]
    if weights is None:
        known = counts_from_ratings(pairs).values if len(pairs) else ()
        place = {value: float(code) for code, value in enumerate(known)}
        # The Python value of a NumPy scalar is equal to it, and has its hash.
        numbers = [[place[one] for one in column] for column in pairs.T]
    else:
        try:
            numbers = [[float(one) for one in column] for column in pairs.T]
        except (TypeError, ValueError):
            raise ValueError(
                f"cohen_kappa: with weights, labels and verdicts must be numbers, got {pairs[0]!r}"
            ) from None
    found = label_agreement(*numbers, items_N=items[there], weights=weights)
    floor, ends = kappa_floor(found), kappa_interval(found, confidence=confidence)
    why = kappa_undefined(found)
    m = int(np.unique(items[there], return_counts=True)[1].max(initial=0))
    n_items = len(found.terms.terms_CT)
    return Coefficient(
        name="cohen_kappa", estimator=found.estimator, n_units=n_items, n_raters=m,
        n_ratings=found.n_pairs, n_missing=n_items * m - found.n_pairs,
        value=None if why else found.value, undefined=why, low=ends.low, high=ends.high,
        noise_floor=floor.mean, noise_floor_sd=floor.sd, p_noise=floor.p, null_method=floor.kind,
        n_permutations=floor.n_permutations, interval_method=ends.kind,
        standard_error=ends.standard_error, no_interval=ends.undefined,
    )  # fmt: skip


def kappa_undefined(found: LabelAgreement) -> str | None:
    """Why there is no kappa.

    Examples
    --------
    >>> kappa_undefined(label_agreement([], [])), kappa_undefined(label_agreement([1, 1], [1, 1]))
    ('no_verdicts', 'no_variance')
    """
    if not found.n_pairs:
        return "no_verdicts"
    return "no_variance" if np.isnan(found.value) else None


def kappa_interval(found: LabelAgreement, *, confidence: float = 0.95) -> Interval:
    """Compute the interval of kappa, by leaving each item out.

    The outer ends of two: Student's t of the jackknife (on the logit scale where the plain one
    excludes 0), and the same with one item more, the one that changes kappa most. Of a rare class
    few items are labelled: a sample without an agreement on it, or without an error, shows less
    spread than there is, and the jackknife alone covered a kappa of 0 in 53 % of samples of 60
    labels at 90/10 (``bench/kappa_coverage.py``). The item added is, upwards, one on which both
    sides agree on a value that occurs; downwards one on which two values that occur meet, or, of
    ratings, the one that disagreed most. Where everything agrees, the low end is also that of as
    many items of as many (Clopper and Pearson), less chance.

    Examples
    --------
    >>> labels = [1.0] * 6 + [0.0] * 54
    >>> found = kappa_interval(label_agreement(labels, labels))
    >>> round(found.low, 3), found.high
    (0.669, 1.0)
    """
    terms, n = found.terms.terms_CT, len(found.terms.terms_CT)
    value = found.value
    if np.isnan(value):
        return Interval(undefined="undefined")
    if n < _FEWEST:
        return Interval(undefined="too_few_units", n_questions=n)
    total = terms.sum(axis=0)
    left_out = found.terms.left_out()
    plain, error = None, 0.0
    if not np.isnan(left_out).any() and (error := jackknife_error(left_out)) > _TINY:
        plain = student_ends(value, t_quantile(n - 1, confidence) * error)[:2]
    elif value > 1 - _TINY:
        plain = _where_all_agree(found, total, confidence), 1.0
    ends = [value, value] if plain is None else list(plain)
    if plain is None or error > _TINY:
        for place, added in enumerate(_terms_of_extreme_items(found, total)):
            more = [_jackknife_end_with_item(found.terms, one, confidence, place) for one in added]
            ends[place] = (min, max)[place](ends[place], *more)
    low, high = max(-1.0, ends[0]), min(1.0, ends[1])
    if high - low < _TINY:
        return Interval(undefined=NO_SPREAD, n_questions=n)
    kind = IntervalMethod.CLOPPER_PEARSON_LESS_CHANCE
    if plain is None or error > _TINY:
        kind = IntervalMethod.JACKKNIFE_ONE_MORE
    return Interval(low=low, high=high, kind=kind, n_questions=n, standard_error=error or None)


def _where_all_agree(found: LabelAgreement, total: Floats, confidence: float) -> float:
    """The low end of a kappa of 1: items that may disagree, by as much as the values allow."""
    n = len(found.terms.terms_CT)
    farthest = np.ptp(found.values) ** 2 / 2 if found.weights == "quadratic" else 1.0
    may_differ = farthest * (1 - trial_ends(n, n, confidence)[0])
    width = (total.size - 3) // 2
    room = float(total[1] - total[3 : 3 + width] @ total[3 + width :] / n) / n
    return 1 - may_differ / room


def _terms_of_extreme_items(found: LabelAgreement, total: Floats) -> tuple[Floats, Floats]:
    """Terms of the items that would lower kappa most, and raise it most; several where they tie."""
    values = found.values
    if found.weights == "quadratic":
        x = values[[0, -1]] - float(values.mean())
        agreeing = np.column_stack([np.ones(2), x * x, x * x, x, x])
    else:
        one, ones = np.eye(values.size), np.ones((values.size, 1))
        agreeing = np.column_stack(
            [ones, ones, ones, one, _agreement_weights(values, found.weights)]
        )
    disagreeing = found.terms.terms_CT
    if found.weights is None and values.size > 1:
        # Least where chance becomes largest: each side's value the other side's commonest.
        g, h = total[3 : 3 + values.size], total[3 + values.size :]
        meeting = h[:, None] + g
        np.fill_diagonal(meeting, -np.inf)
        i, j = np.nonzero(meeting > meeting.max() - _TINY)
        ones = np.ones((i.size, 1))
        disagreeing = np.column_stack([ones, ones, 0 * ones, one[i], one[j]])
    ends = []
    for pool, sign in ((disagreeing, -1), (agreeing, 1)):
        pool = np.unique(pool, axis=0)
        moved = sign * found.terms.value(total + pool)
        ends.append(pool[moved > np.nanmax(moved, initial=-np.inf) - _TINY])
    return ends[0], ends[1]


def _jackknife_end_with_item(
    terms: QuestionTerms, added: Floats, confidence: float, place: int
) -> float:
    """The end of the jackknife with one item more."""
    total = terms.terms_CT.sum(axis=0)
    value = float(terms.value(total + added))
    left_out = np.append(terms.value(total + added - terms.terms_CT), terms.value(total))
    left_out = np.where(np.isnan(left_out), value, left_out)
    error = jackknife_error(left_out)
    if np.isnan(value) or error <= _TINY:
        return float(terms.value(total))
    low, high, _ = student_ends(value, t_quantile(left_out.size - 1, confidence) * error)
    return high if place else low


def bootstrap_kappa(
    found: LabelAgreement, *, n_resamples: int, seed: int, confidence: float
) -> Interval:
    """Compute the percentile interval of kappa, items drawn anew.

    Examples
    --------
    >>> found = label_agreement([1, 1, 0, 0] * 5, [1, 0, 0, 0] * 5)
    >>> bootstrap_kappa(found, n_resamples=200, seed=0, confidence=0.95).n_resamples
    200
    """
    return resampled_interval(
        found.value, found.terms.at, len(found.terms.terms_CT), n_resamples=n_resamples, seed=seed,
        confidence=confidence,
    )  # fmt: skip


def kappa_floor(found: LabelAgreement) -> NoiseFloor:
    """Give the null of kappa: the labels of items shuffled across them.

    Its mean is exactly 0, since shuffling leaves chance as it is and makes agreement chance in the
    mean; its standard deviation is Hoeffding's. The p-value is of 999 shuffles, and of a normal law
    where items are many.

    Examples
    --------
    >>> found = kappa_floor(label_agreement([1, 1, 0, 0] * 5, [1, 0, 0, 0] * 5))
    >>> found.mean, round(found.sd, 3), round(found.p, 3)
    (0.0, 0.199, 0.034)
    """
    from scipy.special import ndtr

    value, (g, h) = found.value, found.sides
    n = len(g)
    if np.isnan(value) or n < _FEWEST:
        return NOTHING
    total = found.terms.terms_CT.sum(axis=0)
    room = float(total[1] - g.sum(axis=0) @ h.sum(axis=0) / n)
    apart = [one - one.mean(axis=0) for one in (g, h)]
    variance = float(((apart[0].T @ apart[0]) * (apart[1].T @ apart[1])).sum()) / (n - 1)
    sd = sqrt(max(0.0, variance)) / room
    if sd < 1e-12:  # one side has one value: shuffling changes nothing
        return NoiseFloor(mean=0.0, sd=0.0, p=1.0, kind=NullMethod.LABELS_ALIKE)
    if g.size > _CELLS:
        p = 2 * float(ndtr(-abs(value) / sd))
        return NoiseFloor(mean=0.0, sd=sd, p=p, kind=NullMethod.GOLD_NORMAL)
    rng = np.random.default_rng(0)
    null: list[Floats] = []
    for size in batches(_SHUFFLES, g.size, _HELD):
        order = rng.permuted(np.tile(np.arange(n), (size, 1)), axis=1)
        null.append(np.einsum("bcp,cp->b", apart[0][order], apart[1]) / room)
    # The value as the shuffles have it: where an item has several labels, each with each verdict.
    seen = max(abs(value), abs(float((apart[0] * apart[1]).sum()) / room))
    extreme = int((np.abs(np.concatenate(null)) >= seen - _TINY).sum())
    return NoiseFloor(
        mean=0.0, sd=sd, p=(1 + extreme) / (1 + _SHUFFLES), n_permutations=_SHUFFLES,
        kind=NullMethod.GOLD_SHUFFLES,
    )  # fmt: skip


def label_cells_table(
    labels_N: ArrayLike, verdicts_N: ArrayLike, n_values: int, *,
    items_N: ArrayLike, n_N: ArrayLike | None = None,
) -> NDArray[np.float64]:  # fmt: skip
    """Count labels (rows) by verdicts (columns), each item weighing 1; codes from 0 on.

    Examples
    --------
    >>> label_cells_table([1, 1, 0], [1, 0, 0], 2, items_N=["q", "q", "r"]).tolist()
    [[1.0, 0.0], [0.5, 0.5]]
    """
    labels, verdicts = np.asarray(labels_N, dtype=np.int64), np.asarray(verdicts_N, dtype=np.int64)
    n = np.ones(labels.size) if n_N is None else np.asarray(n_N, dtype=np.float64)
    item = np.unique(np.asarray(items_N), return_inverse=True)[1]
    weight = n / np.bincount(item, weights=n)[item] if item.size else n
    cells = np.bincount(labels * n_values + verdicts, weights=weight, minlength=n_values**2)
    return cells.reshape(n_values, n_values).astype(np.float64)


def _item_pair_value_shares(
    item: NDArray[np.intp], code: NDArray[np.intp], weight: Floats, n_items: int, n_values: int
) -> Floats:
    """The shares of each item's pairs that have each value."""
    cells = np.bincount(item * n_values + code, weights=weight, minlength=n_items * n_values)
    return cells.reshape(n_items, n_values).astype(np.float64)
