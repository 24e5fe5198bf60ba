"""One group of counted judgments to rows of coefficients, by each policy for missing verdicts.

Worst and best case (the policy ``bounds``) are what a coefficient would be, whatever the missing
verdicts had been. They are exact where more even verdicts of a unit can only lower (or only raise)
the coefficient: then the best case adds all that is missing to a unit's most frequent verdict, and
the worst case spreads it over the rarest. Where chance comes from the verdicts themselves (alpha,
kappa, AC1, icc1), all totals that can be reached are walked, and where they are too many the row
says that its ends are a bracket: no way to fill in goes beyond them, but none may reach them. Alpha
and icc1 of numbers have their ends at the level asked for. What a missing verdict could be must be
known: where it is not, or nothing bounds a coefficient, the row says so, and has no ends.

Scores of too many values to count each have coefficients by number, sum and sum of squares.

Shape suffixes: U = units, K = declared categories.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Literal, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgerel_ray.core.codes import (
    ALIKE,
    CONTINUOUS,
    NAMES,
    UNANIMOUS,
    UNANIMOUS_UNITS,
    UNBOUNDED,
    VALUES_UNKNOWN,
    IntervalMethod,
)
from judgerel_ray.counting.counted import Group
from judgerel_ray.counting.groups.matrix import MOST_VALUES, Moments, UnitCounts
from judgerel_ray.counting.intervals import share_interval
from judgerel_ray.counting.verdicts.places import ORDER
from judgerel_ray.counting.verdicts.policy import (
    FAILED,
    NEEDS_NOMINAL,
    NOISE_ABOVE,
    REPEATABILITY,
    SCORED,
    Missing,
    Row,
    floor_columns,
    method_columns,
    number_of_row,
    value_of,
)
from judgerel_ray.stats import (
    Coefficient,
    CountStatistic,
    Interval,
    Level,
    NoiseFloor,
    count_statistic,
    measure,
    moment_statistic,
    noise_floors,
    score_floor,
)
from judgerel_ray.stats.agreement.completions import (
    OF_SCORES,
    RATIOS,
    CompletedRange,
    completed_range,
    extremes,
    mean_range,
    scored_range,
)
from judgerel_ray.stats.agreement.krippendorff import alpha_statistic
from judgerel_ray.stats.counts import (
    AgreeingPairs,
    CountTable,
    Floats,
    QuestionTerms,
    divide,
    row_sums,
)
from judgerel_ray.stats.intervals.ends import t_quantile
from judgerel_ray.stats.intervals.question_statistic import count_terms

_WITH_CATEGORIES = ("gwet_ac1", "brennan_prediger", "entropy_agreement")
OF_NUMBERS = ("krippendorff_alpha", "icc1", "icck")
"""Coefficients that verdicts as numbers have, too."""
_ICC = ("icc1", "icck")
_MANY = f"more than {MOST_VALUES} different scores"


def group_rows(
    group: Group,
    *,
    coefficients: Sequence[str],
    missing: Sequence[Missing],
    levels: Sequence[Level] | None,
) -> Iterator[Row]:
    """Compute the rows of one group.

    Examples
    --------
    >>> from judgerel_ray.counting.groups.matrix import unit_table
    >>> from judgerel_ray.counting.nesting import nest_rows
    >>> rows = pl.DataFrame({"item_id": ["q", "r"], "verdict": ["A", "B"], "score": [1.0, 2.0],
    ...                      "outcome": ["scored"] * 2, "n": [2, 2]})
    >>> nested = nest_rows(rows, unit=["item_id"], kinds=["verdict", "score", "outcome"])
    >>> table = unit_table(nested, unit=["item_id"], cluster=["item_id"])
    >>> group = Group(table=table, unit=("item_id",), level="nominal", n_categories=2,
    ...               n_outcomes=0)
    >>> asked = {"coefficients": ["krippendorff_alpha"], "missing": ["drop"], "levels": None}
    >>> [(row["value"], row["missing"]) for row in group_rows(group, **asked)]
    [(1.0, 'category')]
    """
    nominal, scored = _by_level(coefficients, levels or (group.level,))
    nothing_asked = group.n_missing > 0 and not missing
    sample = {**group.sample, "conditions": REPEATABILITY}
    for policy in missing if group.n_without or nothing_asked else ("category",):
        found = group.table.counts(value_of(policy))
        categories = group.n_categories_of(policy)
        statistics = [
            count_statistic(name, n_values=len(found.values), n_categories=max(1, categories))
            for name in nominal
        ]
        floors: Sequence[NoiseFloor] = ()
        if statistics:
            table = CountTable.of(found.counts_UV, statistics[0], function="reduce")
            floors = noise_floors(table, statistics)
        for statistic, floor in zip(statistics, floors, strict=True):
            interval = group.intervals.interval(
                found.counts_UV, statistic, found.clusters_U, p_noise=floor.p
            )
            row = _group_coefficient_row(group, policy, found, statistic, interval, floor, table)
            printed = categories if statistic.name in _WITH_CATEGORIES else None
            yield {**row, **sample, "n_categories": printed}
        for name, level in scored:
            yield {**_scored_row(group, policy, name, level), **sample}
    if "valid_rate" in coefficients:
        # A request that failed got no reply.
        found, statistic = group.table.reply_counts(), count_statistic("valid_rate", n_values=2)
        interval = share_interval(found, statistic, group.intervals)
        row = _group_coefficient_row(group, "category", found, statistic, interval, None)
        yield {**row, **group.sample}


def _by_level(
    coefficients: Sequence[str], levels: Sequence[Level]
) -> tuple[list[str], list[tuple[str, Level]]]:
    """Coefficients of verdicts as mere names, and those of numbers, each with its level."""
    named = [name for name in coefficients if name != "valid_rate"]
    numeric = [level for level in levels if level != "nominal"]
    alphas = numeric if "krippendorff_alpha" in named else []
    scored: list[tuple[str, Level]] = [("krippendorff_alpha", level) for level in alphas]
    # Of numbers there is one analysis of variance, whatever alpha makes of their order.
    scored += [(name, "interval") for name in _ICC if name in named and numeric]
    return [name for name in named if name not in OF_NUMBERS or "nominal" in levels], scored


def _scored_row(group: Group, policy: Missing, name: str, level: Level) -> Row:
    """A coefficient of verdicts as numbers."""
    scored = group.table.kinds.filter(SCORED)
    why = "no_scores" if scored["score"].null_count() else None
    if policy == "category" and group.n_without:
        why = NEEDS_NOMINAL
    found = group.table.counts(number_of_row() if why is None else pl.lit(None, pl.Float64))
    values = np.asarray(found.values, dtype=np.float64)
    statistic = count_statistic(name, n_values=len(values), values=values, level=level)
    floor = noise_floors(found.counts_UV, [statistic])[0]
    interval = group.intervals.interval(found.counts_UV, statistic, found.clusters_U)
    row = {
        **_group_coefficient_row(group, policy, found, statistic, interval, floor),
        "measurement": level,
    }
    return {**row, "undefined": why} if why else row


def _group_coefficient_row(
    group: Group,
    policy: Missing,
    found: UnitCounts,
    statistic: CountStatistic,
    interval: Interval,
    floor: NoiseFloor | None,
    table: CountTable | None = None,
) -> Row:
    """One row of the result, but for what all rows of the group rest on."""
    coefficient = measure(found.counts_UV if table is None else table, statistic)
    alike = (
        _why_group_interval_flat(group, found, statistic)
        if interval.undefined == "no_spread"
        else ALIKE
    )
    return {
        **measured_row(coefficient, interval, floor, alike=alike),
        "missing": policy,
        "n_missing": group.n_judgments - int(found.counts_UV.sum()),
    }


def measured_row(
    found: Coefficient, interval: Interval, floor: NoiseFloor | None = None, *, alike: str = ALIKE
) -> Row:
    """Write a coefficient of verdicts as names with its interval and its floor as a row.

    Examples
    --------
    >>> found = measure([[2, 0], [1, 1]], count_statistic("percent_agreement", n_values=2))
    >>> measured_row(found, Interval(low=0.1, high=0.9))["value"]
    0.5
    """
    return {
        "coefficient": found.name,
        "value": found.value,
        "low": interval.low,
        "high": interval.high,
        **floor_columns(floor),
        "measurement": "nominal",
        "n_categories": None,
        **method_columns(found.estimator, interval, floor, alike=alike),
        "undefined": found.undefined,
    }


def _why_group_interval_flat(group: Group, found: UnitCounts, statistic: CountStatistic) -> str:
    """What questions that leave an interval no spread have in common."""
    counts = found.counts_UV
    split = counts.max(axis=1, initial=0) < counts.sum(axis=1)
    if statistic.name == "valid_rate" or split.any():
        return ALIKE
    return UNANIMOUS if len(group.unit) == 1 else UNANIMOUS_UNITS


NOT_A_POINT = "worst_to_best_case"
"""Why a row of bounds has no value."""


def bound_rows(
    group: Group,
    coefficients: Sequence[str],
    *,
    levels: Sequence[Level] | None = None,
    counted: bool = True,
) -> Iterator[Row]:
    """Compute the worst and the best case of one group.

    Rows are as of :func:`.group_rows`: no value, `low` the least and `high` the greatest the
    coefficient could be, ``interval_method`` saying whether both are reached; both null, and
    ``undefined`` "no_bounds", where there are none, ``no_interval`` saying why ("no_scores" where a
    level needs numbers and verdicts are names). No row where nothing is missing.

    Examples
    --------
    >>> import polars as pl
    >>> from judgerel_ray.counting.groups.matrix import unit_table
    >>> from judgerel_ray.counting.nesting import nest_rows
    >>> rows = pl.DataFrame({"item_id": ["q", "q"], "verdict": ["A", None], "score": [None, None],
    ...                      "outcome": ["scored", "refused"], "n": [2, 1]})
    >>> nested = nest_rows(rows, unit=["item_id"], kinds=["verdict", "score", "outcome"])
    >>> table = unit_table(nested, unit=["item_id"], cluster=["item_id"])
    >>> group = Group(table=table, unit=("item_id",), level="nominal", n_categories=2,
    ...               n_outcomes=1)
    >>> [(round(row["low"], 3), row["high"]) for row in bound_rows(group, ["percent_agreement"])]
    [(0.333, 1.0)]
    """
    n_failed = group.table.n_rows(FAILED)
    if group.n_missing:
        nominal, scored = _by_level(coefficients, levels or (group.level,))
        yield from _nominal_bounds(group, nominal, counted=counted)
        for name, level in scored:
            yield _scored_bounds(group, name, level, counted=counted)
    if "valid_rate" in coefficients and n_failed:
        yield _bound_row(
            group,
            "valid_rate",
            _of_cases(group, "valid_rate", _group_replies_both_ways(group)),
            n_failed,
        )


def _nominal_bounds(group: Group, names: Sequence[str], *, counted: bool) -> Iterator[Row]:
    """The ends of coefficients of verdicts as mere names."""
    seen = group.table.counts(value_of("drop"))
    missing_U = group.table.counts_UK.sum(axis=1) - seen.counts_UV.sum(axis=1)
    # Categories that never occurred may be what is missing, too.
    width = max(group.n_categories, seen.counts_UV.shape[1])
    why = None if counted else CONTINUOUS
    if why is None and width < 2:
        why = VALUES_UNKNOWN
    if why is not None:
        for name in names:
            yield _bound_row(group, name, CompletedRange(), group.n_missing, why=why)
        return
    counts_UK = np.zeros((len(seen.counts_UV), width), dtype=np.int64)
    counts_UK[:, : seen.counts_UV.shape[1]] = seen.counts_UV
    cases = extremes(counts_UK, missing_U)
    for name in names:
        found = _group_coefficient_range(group, name, counts_UK, missing_U, cases)
        yield _bound_row(group, name, found, group.n_missing)


def _scored_bounds(group: Group, name: str, level: Level, *, counted: bool) -> Row:
    """The ends of a coefficient of verdicts as numbers."""
    scores, why = group.scores, None
    named = group.table.kinds.filter(SCORED)["score"].null_count() > 0
    if name not in OF_SCORES:
        why = UNBOUNDED
    elif not counted:
        why = CONTINUOUS
    elif named:
        why = NAMES
    elif len(scores) < max(2, group.n_categories):
        why = VALUES_UNKNOWN
    if why is not None:
        row = _bound_row(group, name, CompletedRange(), group.n_missing, why=why)
        undefined = "no_scores" if named and counted else row["undefined"]
        return {**row, "measurement": level, "undefined": undefined}
    seen = group.table.counts(number_of_row())
    counts_UK = np.zeros((len(seen.counts_UV), len(scores)), dtype=np.int64)
    place = np.searchsorted(scores, np.array(seen.values, dtype=np.float64))
    counts_UK[:, place] = seen.counts_UV
    missing_U = group.table.counts_UK.sum(axis=1) - counts_UK.sum(axis=1)
    found = scored_range(name, counts_UK, missing_U, values=np.array(scores), level=level)
    row = _bound_row(group, name, found, group.n_missing)
    words = f"{row['statistic']}; each missing verdict one of the {len(scores)} scores of the file"
    return {**row, "measurement": level, "statistic": words}


def _group_coefficient_range(
    group: Group,
    name: str,
    counts_UK: NDArray[np.int64],
    missing_U: NDArray[np.int64],
    cases: tuple[NDArray[np.int64], NDArray[np.int64]],
) -> CompletedRange:
    """The worst and the best case of one coefficient, by what is known of it."""
    statistic = count_statistic(name, n_values=counts_UK.shape[1])
    if statistic.monotone:
        return _of_cases(group, name, cases)
    if name in RATIOS:
        return completed_range(name, counts_UK, missing_U)
    if name.startswith("majority_stability"):
        low, high, exact = mean_range(statistic, counts_UK, missing_U)
        return CompletedRange(low=low, high=high, exact=exact)
    return CompletedRange()


def _of_cases(
    group: Group, name: str, cases: tuple[NDArray[np.int64], NDArray[np.int64]]
) -> CompletedRange:
    """The values of both cases; none where a case has none."""
    statistic = count_statistic(
        name, n_values=cases[0].shape[1], n_categories=max(1, group.n_categories)
    )
    values = [measure(case, statistic).value for case in cases]
    known = [one for one in values if one is not None]
    return CompletedRange(low=min(known), high=max(known)) if len(known) == 2 else CompletedRange()


def _group_replies_both_ways(group: Group) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Replies with a verdict and without, requests that failed taken as neither and as both."""
    table = group.table
    failed, scored = table.n_rows(FAILED), table.n_rows(SCORED)
    without = int(table.counts_UK.sum()) - failed - scored
    return np.array([[scored, without + failed]]), np.array([[scored + failed, without]])


def _bound_row(
    group: Group, name: str, found: CompletedRange, n_missing: int, *, why: str | None = None
) -> Row:
    """The two cases of one coefficient as a row."""
    words = f"worst and best case over {n_missing} missing verdicts"
    if not found.exact:
        words = (
            f"bracket of the worst and the best case over {n_missing} missing verdicts: too many "
            "ways to try all, none goes beyond"
        )
    kind = IntervalMethod.WORST_TO_BEST if found.exact else IntervalMethod.BRACKET
    known = {"interval_method": kind.value}
    if found.low is None:
        words, known = "", {"no_interval": why or UNBOUNDED}
    return {
        **_coefficient_row_without_value(group, "bounds", name, "nominal", words),
        "low": found.low,
        "high": found.high,
        "n_categories": group.n_categories,
        "n_missing": n_missing,
        **known,
        "undefined": "no_bounds" if found.low is None else NOT_A_POINT,
        "conditions": None if name == "valid_rate" else REPEATABILITY,
    }


def continuous_rows(
    group: Group, coefficients: Sequence[str], missing: Sequence[Missing],
    levels: Sequence[Level] | None,
) -> Iterator[Row]:  # fmt: skip
    """Compute coefficients of a group whose scores are too many to count each: by their moments.

    Parameters are those of :func:`.group_rows`; without moments a group has no such rows.

    Rows have the columns of `Coefficients`. ``undefined`` is "continuous_scores" where scores would
    have to be counted value by value, "category_needs_nominal" where no score is a category.

    Examples
    --------
    >>> from judgerel_ray.measuring.reliability import reduce_judgments
    >>> told = {"item_id": [f"q{i // 300}" for i in range(600)],
    ...         "replication": list(range(300)) * 2, "score": [float(i) for i in range(600)]}
    >>> found = reduce_judgments(pl.LazyFrame(told), coefficients=["icc1", "flip_rate"])
    >>> [(name, value and round(value, 3)) for name, value in
    ...  found.select("coefficient", "value").rows()]
    [('flip_rate', None), ('icc1', 0.857)]
    """
    if group.moments is None:
        return
    policies: Sequence[Missing] = missing if group.n_without else ("category",)
    named = [name for name in coefficients if name != "valid_rate"]
    for policy in policies:
        lost = policy == "category" and group.n_without > 0
        for name in named:
            own_levels: Sequence[Level] = levels or ("interval",)
            for level in own_levels if name in OF_NUMBERS else ("nominal",):
                if name in OF_NUMBERS and level == "interval" and not lost:
                    yield _moment_row(group, policy, name, group.moments)
                    continue
                is_lost = lost and name in OF_NUMBERS
                why = NEEDS_NOMINAL if is_lost else "continuous_scores"
                yield _coefficient_row_without_value(group, policy, name, level, _MANY, why)


def _moment_row(group: Group, policy: Missing, name: str, moments: Moments) -> Row:
    """A coefficient of scores, with its interval and its floor."""
    moments_U3 = moments.moments_U3
    known = cast(Literal["icc1", "icck", "krippendorff_alpha"], name)
    statistic = moment_statistic(known)
    found = measure(moments_U3, statistic)
    interval = Interval(undefined="undefined")
    if found.value is not None:
        interval = group.intervals.interval(moments_U3, statistic, group.table.clusters_U)
    floor = None if known == "icck" else score_floor(moments.scores_N, moments.unit_N, known)
    found = replace(found, estimator=f"{found.estimator}, by number, sum and sum of squares")
    alike = UNANIMOUS if found.value and found.value > 1 - 1e-9 else ALIKE
    return {
        **measured_row(found, interval, floor, alike=alike),
        "measurement": "interval",
        "missing": policy,
        "n_missing": int(group.table.counts_UK.sum() - moments_U3[:, 0].sum()),
        **group.sample,
        "conditions": REPEATABILITY,
    }


def _coefficient_row_without_value(
    group: Group, policy: Missing, name: str, level: str, words: str, why: str | None = None
) -> Row:
    """A row without a value, and why."""
    return {
        "coefficient": name, "value": None, "low": None, "high": None, **floor_columns(None),
        "measurement": level, "missing": policy, "n_categories": None,
        "n_missing": group.n_missing, **method_columns(words), "undefined": why, **group.sample,
        "conditions": REPEATABILITY,
    }  # fmt: skip


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
        interval = group.intervals.interval(found.counts_UV, statistic, found.clusters_U)
        yield {
            **measured_row(measure(found.counts_UV, statistic), interval, floor),
            "missing": policy,
            "n_missing": int(group.table.counts_UK.sum() - found.counts_UV.sum()),
            **group.sample,
            "conditions": REPEATABILITY,
        }


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
    policy: Missing = "drop" if group.n_without else "category"
    words = "root mean variance of one rating of a unit, in points"
    row = _coefficient_row_without_value(group, policy, "standard_error", "interval", words)
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
