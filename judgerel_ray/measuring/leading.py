"""Leading figures by kind of judgment: agreement on each class, and the error of one rating.

Of pass and fail a reader asks how often a second judgment confirms each of the two; of ratings, by
how many points one rating is off.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from judgerel_ray.core.codes import IntervalMethod
from judgerel_ray.counting.counted import Group
from judgerel_ray.counting.verdicts.places import ORDER
from judgerel_ray.counting.verdicts.policy import (
    NOISE_ABOVE,
    REPEATABILITY,
    SCORED,
    Row,
    method_columns,
    number_of_row,
    value_of,
)
from judgerel_ray.measuring.estimates import noise_columns
from judgerel_ray.stats import CountStatistic, Interval, measure, noise_floors, score_floor
from judgerel_ray.stats.agreement.krippendorff import alpha_statistic
from judgerel_ray.stats.counts import AgreeingPairs, Floats, divide, row_sums
from judgerel_ray.stats.intervals.precision import t_quantile
from judgerel_ray.stats.intervals.question_statistic import QuestionTerms, count_terms

LEADING = ("class_agreement", "standard_error")
"""Coefficients of this page: by class of pass and fail, and of ratings in points."""
_PAIR = 2


def leading_by_default(group: Group) -> tuple[str, ...]:
    """Name what leads a group besides the default coefficients.

    Pass and fail are two classes that are the same for every item; options of a menu are not, so
    there are none where an order of options is recorded.

    Examples
    --------
    >>> import polars as pl
    >>> from judgerel_ray.counting.groups.matrix import unit_table
    >>> from judgerel_ray.counting.nesting import nest_rows
    >>> rows = pl.DataFrame({"item_id": ["q", "q"], "verdict": ["A", "B"], "n": [2, 1]})
    >>> nested = nest_rows(rows, unit=["item_id"], kinds=["verdict"])
    >>> group = Group(table=unit_table(nested, unit=["item_id"], cluster=["item_id"]),
    ...               unit=("item_id",), level="nominal", n_categories=2,
    ...               n_outcomes=0, rows=nested)
    >>> leading_by_default(group)
    ('class_agreement',)
    """
    if group.level != "nominal":
        return ("icc1", "standard_error")
    part = group.rows.units
    ordered = ORDER in part.columns and part[ORDER].null_count() < part.height
    return ("class_agreement",) if group.n_categories == _PAIR and not ordered else ()


def class_statistic(name: str, place: int, n_values: int) -> CountStatistic:
    """Take agreement on a class apart: of judgments that name it, how many others do, too.

    Examples
    --------
    >>> measure([[2, 1], [3, 0]], class_statistic("class_agreement:PASS", 0, 2)).value
    0.8
    """
    chosen = np.zeros((n_values, n_values))
    chosen[place, place] = 1.0

    def terms(counts: Floats) -> Floats:
        m, n_of_class = row_sums(counts), counts[..., place]
        paired = m > 1
        both = np.divide(n_of_class * (n_of_class - 1), m - 1, out=np.zeros_like(m), where=paired)
        return np.stack([n_of_class * paired, both], axis=-1)

    return CountStatistic(
        name=name,
        estimator="share of judgments of the class that another judgment confirms",
        terms=terms,
        value=lambda total: divide(total[..., 1], total[..., 0]),
        chance_corrected=False,
        pairs=AgreeingPairs(place=1, weight=lambda m: Fraction(1, m - 1), distances_VV=chosen),
        rests_on_minority=True,
    )


def class_rows(group: Group) -> Iterator[Row]:
    """Compute agreement on each class, replies without a verdict left out.

    Examples
    --------
    >>> import polars as pl
    >>> from judgerel_ray.measuring.reliability import reduce_judgments
    >>> told = {"item_id": ["q"] * 3 + ["r"] * 3, "replication": [0, 1, 2] * 2,
    ...         "verdict": ["pass", "pass", "fail", "pass", "pass", "pass"]}
    >>> found = reduce_judgments(pl.LazyFrame(told), coefficients=["class_agreement"])
    >>> found.select("coefficient", "value").rows()
    [('class_agreement:fail', 0.0), ('class_agreement:pass', 0.8)]
    """
    policy = "drop" if group.n_without else "category"
    found = group.table.counts(value_of("drop"))
    names = [str(value).removeprefix("=") for value in found.values]
    statistics = [
        class_statistic(f"class_agreement:{name}", place, len(names))
        for place, name in enumerate(names)
    ]
    for statistic, floor in zip(statistics, noise_floors(found.counts_UV, statistics), strict=True):
        value = measure(found.counts_UV, statistic)
        interval = group.intervals.interval(found.counts_UV, statistic, found.clusters_U)
        yield {
            "coefficient": statistic.name, "value": value.value, "low": interval.low,
            "high": interval.high, **noise_columns(floor), "measurement": "nominal",
            "missing": policy, "n_categories": None,
            "n_missing": int(group.table.counts_UK.sum() - found.counts_UV.sum()),
            **method_columns(statistic.estimator, interval, floor),
            "undefined": value.undefined, **group.basis, "conditions": REPEATABILITY,
        }  # fmt: skip


def error_rows(group: Group) -> Iterator[Row]:
    """Compute the standard error of one rating, in points: the same prompt again.

    Examples
    --------
    >>> import polars as pl
    >>> from judgerel_ray.measuring.reliability import reduce_judgments
    >>> told = {"item_id": ["q", "q", "r", "r"], "replication": [0, 1] * 2,
    ...         "score": [1.0, 3.0, 5.0, 5.0]}
    >>> found = reduce_judgments(pl.LazyFrame(told), coefficients=["standard_error"])
    >>> found.select("coefficient", "value").rows()
    [('standard_error', 1.0)]
    """
    policy = "drop" if group.n_without else "category"
    words = "root mean variance of one rating of a unit, in points"
    row: Row = {
        "coefficient": "standard_error", "value": None, "low": None, "high": None,
        **noise_columns(None), "measurement": "interval", "missing": policy, "n_categories": None,
        "n_missing": group.n_missing, **method_columns(words), "undefined": None, **group.basis,
        "conditions": REPEATABILITY,
    }  # fmt: skip
    moments = group.moments
    if moments is None and group.table.kinds.filter(SCORED)["score"].null_count():
        yield {**row, "undefined": "no_scores"}
        return
    if moments is not None:
        moments_U3 = moments.moments_U3
        like = score_floor(moments.scores_N, moments.unit_N, "krippendorff_alpha")
    else:
        found = group.table.counts(number_of_row())
        values = np.asarray(found.values, dtype=np.float64)
        centred = values - (values.mean() if values.size else 0.0)
        counts = found.counts_UV
        moments_U3 = np.stack([counts.sum(1), counts @ centred, counts @ centred**2], axis=1)
        alpha = alpha_statistic(n_values=len(values), values=values, level="interval")
        like = noise_floors(counts, [alpha])[0]
    statistic = CountStatistic(
        name="standard_error", estimator=words, terms=_error_terms,
        value=lambda total: np.sqrt(divide(total[..., 1], total[..., 0])), of_moments=True,
    )  # fmt: skip
    value = measure(moments_U3, statistic)
    if value.value is None:
        yield {**row, "undefined": value.undefined}
        return
    terms = count_terms(moments_U3, statistic, questions_U=group.table.clusters_U)
    interval = positive_interval(terms, value.value, confidence=group.intervals.confidence)
    n, total, squares = moments_U3.sum(axis=0)
    spread = float(np.sqrt(max(0.0, squares - total**2 / n) / (n - 1))) if n > 1 else 0.0
    # alpha = 1 - (error / spread)^2: the floor of alpha is that of the error, in other units.
    known = like.mean is not None and like.sd is not None
    yield {
        **row, "value": value.value, "low": interval.low, "high": interval.high,
        "noise_floor": spread if known else None,
        "noise_floor_sd": spread * like.sd / 2 if like.sd is not None else None,
        "p_noise": like.p, "noise": None if like.p is None else like.p > NOISE_ABOVE,
        **method_columns(words, interval, like if known else None),
    }  # fmt: skip


def positive_interval(terms: QuestionTerms, value: float, *, confidence: float = 0.95) -> Interval:
    """Compute the jackknife-t interval of a positive number, on the scale of its logarithm.

    Examples
    --------
    >>> terms = QuestionTerms(name="mean", questions_C=np.arange(3), value=lambda t: t[..., 0] / 3,
    ...                       terms_CT=np.array([[1.0], [2.0], [3.0]]))
    >>> positive_interval(terms, 2.0).method
    'jackknife-t over 3 questions, log scale'
    """
    n = len(terms.terms_CT)
    if n < _PAIR:
        return Interval(undefined="too_few_units", n_questions=n)
    left_out = terms.left_out()
    if np.isnan(left_out).any() or (left_out <= 0).any() or value <= 0:
        return Interval(undefined="depends_on_one_question", n_questions=n)
    logs = np.log(left_out)
    error = float(np.sqrt((n - 1) / n * ((logs - logs.mean()) ** 2).sum()))
    half = t_quantile(n - 1, confidence) * error
    return Interval(
        low=float(value * np.exp(-half)),
        high=float(value * np.exp(half)),
        kind=IntervalMethod.JACKKNIFE_LOG,
        n_questions=n,
    )


def _error_terms(moments: Floats) -> Floats:
    """[degrees of freedom, sum of squares about the unit's mean] of units with two scores."""
    m, total, squares = np.moveaxis(moments, -1, 0)
    inside = np.maximum(squares - divide(total**2, m), 0.0)
    paired = m > 1
    return np.stack([(m - 1) * paired, np.where(paired, inside, 0.0)], axis=-1)
