"""Verdicts held against what is right: accuracy, question by question, and Cohen's kappa."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgerel_ray.core.codes import Flag
from judgerel_ray.core.progress import fewer_groups, under_way
from judgerel_ray.counting.counted import Group
from judgerel_ray.counting.files.labelled import PEOPLE, people_of
from judgerel_ray.counting.groups.grouping import (
    BlockChoice,
    count_judgments,
    greedy_flags,
    sampled,
    varying_facets,
)
from judgerel_ray.counting.groups.matrix import UnitCounts, unit_counts
from judgerel_ray.counting.groups.tally import Tally
from judgerel_ray.counting.intervals import AUTO, IntervalChoice, share_interval
from judgerel_ray.counting.nesting import N
from judgerel_ray.counting.right_answers import GOLD
from judgerel_ray.counting.verdicts.policy import (
    FAILED,
    MISSING,
    NEEDS_NOMINAL,
    SCORED,
    Missing,
    Row,
    floor_columns,
    method_columns,
    number_of_row,
    value_of,
)
from judgerel_ray.counting.verdicts.spelling import folded
from judgerel_ray.measuring.estimates import measured_row
from judgerel_ray.measuring.lead_codes import FEWEST, LeadCode
from judgerel_ray.measuring.tables import LabelledJudges, Questions
from judgerel_ray.stats import Interval, Level, clopper_pearson, measure
from judgerel_ray.stats.agreement.agreement import (
    CORRECTNESS,
    correctness_statistic,
)
from judgerel_ray.stats.counts import QuestionTerms
from judgerel_ray.stats.ratings.kappa import (
    LabelAgreement,
    Weights,
    bootstrap_kappa,
    kappa_floor,
    kappa_interval,
    kappa_undefined,
    label_agreement,
    people_agreement,
)

_RIGHT = "right"  # before every verdict under a policy: they start with "=" or are outcomes
_WITHOUT_GOLD = ("n_judgments", "percent_agreement", "undefined")


def correctness_rows(
    group: Group, rows: pl.DataFrame, names: Sequence[str], missing: Sequence[Missing]
) -> Iterator[Row]:
    """Compute coefficients of right and wrong of one group.

    Rows have the columns of `Coefficients`; questions without gold are left out, and ``undefined``
    is "no_gold" where there is no other.

    Examples
    --------
    >>> from judgerel_ray.measuring.reliability import reduce_judgments
    >>> told = {"item_id": ["q", "q", "r", "r"], "replication": [0, 1, 0, 1],
    ...         "verdict": ["A", "A", "B", "B"], "gold": ["A", "A", "A", "A"]}
    >>> found = reduce_judgments(pl.LazyFrame(told), coefficients=CORRECTNESS[:1])
    >>> found.select("coefficient", "value").rows()
    [('accuracy', 0.5)]
    """
    known = rows.filter(pl.col(GOLD).is_not_null())
    cluster = [name for name in group.unit if name in ("item_id", "benchmark")]
    for policy in missing if group.n_without else MISSING[:1]:
        found = _correctness_counts_by_unit(known, policy, unit=group.unit, cluster=cluster)
        for name in names:
            statistic = correctness_statistic(name)
            coefficient = measure(found.counts_UV, statistic)
            interval = Interval(undefined="undefined")
            if name == "accuracy" and found.counts_UV.size:
                interval = share_interval(found, statistic, group.intervals)
            elif coefficient.value is not None:
                interval = group.intervals.interval(found.counts_UV, statistic, found.clusters_U)
            yield {
                **measured_row(coefficient, interval),
                "low": None if coefficient.value is None else interval.low,
                "high": None if coefficient.value is None else interval.high,
                "missing": policy,
                "n_missing": int(group.table.counts_UK.sum() - found.counts_UV.sum()),
                "undefined": "no_gold" if known.is_empty() else coefficient.undefined,
                **group.sample,
            }


def correctness_by_question(
    source: pl.LazyFrame | Tally,
    *,
    by: Sequence[str] | None = None,
    missing: Missing = "category",
    block: BlockChoice = 0,
) -> pl.DataFrame:
    """Lay accuracy and agreement of every question side by side.

    The groups' columns, then those of `Questions`, sorted. agreement_right and agreement_wrong sum
    to percent_agreement, within units where the question has several. "few_verdicts" stands where
    fewer than half of the replies hold one.

    Examples
    --------
    Steady and right, steady and wrong:

    >>> told = {"item_id": ["q", "q", "r", "r"], "replication": [0, 1, 0, 1],
    ...         "verdict": ["A", "A", "B", "B"], "gold": ["A", "A", "A", "A"]}
    >>> found = correctness_by_question(pl.LazyFrame(told))
    >>> found.select("item_id", "accuracy", "agreement_right", "agreement_wrong").rows()
    [('q', 1.0, 1.0, 0.0), ('r', 0.0, 0.0, 1.0)]
    """
    columns = source.columns if isinstance(source, Tally) else source.collect_schema().names()
    extra = [GOLD] if GOLD in columns else []
    counted = sampled(count_judgments(source, by=by, block=block, extra=extra))
    frame = counted.frame
    if not extra:
        frame = frame.with_columns(pl.lit(None, pl.String).alias(GOLD))
    parts: list[pl.DataFrame] = []
    groups = counted.groups
    split = frame.partition_by(groups, maintain_order=True) if groups else [frame]
    for part in under_way(split, of=len(split), what="groups", hint=fewer_groups(groups)):
        unit = ("item_id", *varying_facets(part, counted.facets))
        found = _correctness_counts_by_unit(part, missing, unit=unit, cluster=["item_id"])
        known = part.group_by("item_id").agg(pl.col(GOLD).is_not_null().any()).sort("item_id")
        table = _correctness_by_question(found, gold_Q=known[GOLD].to_numpy())
        keys = [pl.lit(part[name].first(), part.schema[name]).alias(name) for name in groups]
        if groups and greedy_flags(part.select(groups).row(0, named=True), counted, counted):
            # Accuracy at temperature 0 is what it is; agreement of its repeats is the server's.
            reasons = pl.when(pl.col("undefined") == "no_gold").then(
                pl.lit("no_gold; serving_noise")
            )
            named = reasons.otherwise(pl.coalesce("undefined", pl.lit("serving_noise")))
            table = table.with_columns(named.alias("undefined"))
        silent_Q = _silent_questions_of_part(part)
        flag = pl.concat_str("undefined", pl.lit(LeadCode.FEW_VERDICTS.value), separator="; ",
                             ignore_nulls=True)  # fmt: skip
        flagged = pl.when(silent_Q & (pl.col("undefined") != "no_verdicts").fill_null(True))
        table = table.with_columns(flagged.then(flag).otherwise("undefined").alias("undefined"))
        parts.append(table.with_columns(known["item_id"]).select(*keys, *Questions.columns))
    return pl.concat(parts)


def _silent_questions_of_part(part: pl.DataFrame) -> pl.Series:
    """Questions too few of whose replies hold a verdict to say anything of agreement, in order."""
    held = part.group_by("item_id").agg(
        n_valid=pl.col(N).filter(SCORED.fill_null(False)).sum(),
        n_replies=pl.col(N).filter(~FAILED).sum(),
    )
    return held.sort("item_id").select(pl.col("n_valid") < FEWEST * pl.col("n_replies")).to_series()


def _correctness_by_question(found: UnitCounts, *, gold_Q: NDArray[np.bool_]) -> pl.DataFrame:
    """Every question's numbers but its name, in the order of the questions."""
    n_questions = gold_Q.size
    counts = found.counts_UV.astype(np.float64)
    values = {}
    for name in CORRECTNESS:
        statistic = correctness_statistic(name)
        taking = statistic.takes_part(counts)
        sums_QT = np.zeros((n_questions, 2))
        np.add.at(sums_QT, found.clusters_U[taking], statistic.terms(counts[taking]))
        values[name] = statistic.value(sums_QT)
    n_Q, right_Q = (
        np.bincount(found.clusters_U, column, n_questions).astype(np.int64)
        for column in (counts.sum(axis=1), counts[:, 0])
    )
    ends = [clopper_pearson(int(k), int(n)) for k, n in zip(right_Q, n_Q, strict=True)]
    table = pl.DataFrame(
        {
            "n_judgments": n_Q,
            "accuracy": values["accuracy"],
            "low": [one.low for one in ends],
            "high": [one.high for one in ends],
            "percent_agreement": values["agreement_right"] + values["agreement_wrong"],
            "agreement_right": values["agreement_right"],
            "agreement_wrong": values["agreement_wrong"],
            "majority_right": values["majority_accuracy"],
        },
        schema={name: Questions.dtypes[name] for name in list(Questions.dtypes)[1:-1]},
    ).with_columns(pl.col(pl.Float64).fill_nan(None))
    gold = pl.Series(gold_Q)
    why = (
        pl.when(pl.col("n_judgments") == 0).then(pl.lit("no_verdicts"))
        .when(pl.col("agreement_right").is_null()).then(pl.lit("single_replication"))
        .when(~gold).then(pl.lit("no_gold"))
    )  # fmt: skip
    table = table.with_columns(why.alias("undefined"))
    needs_gold = [name for name in table.columns if name not in _WITHOUT_GOLD]
    return table.with_columns(pl.when(gold).then(pl.col(name)).alias(name) for name in needs_gold)


def _correctness_counts_by_unit(
    rows: pl.DataFrame, policy: Missing, *, unit: Sequence[str], cluster: Sequence[str]
) -> UnitCounts:
    """Counts by unit, the right value of each in the first column."""
    if rows.is_empty():
        return UnitCounts(
            counts_UV=np.zeros((0, 1), dtype=np.int64),
            values=(_RIGHT,),
            clusters_U=np.zeros(0, int),
        )
    gold = pl.col(GOLD).cast(pl.String)
    by_number = pl.col("score") == gold.cast(pl.Float64, strict=False)
    by_name = pl.when(pl.col("verdict").is_not_null()).then(pl.col("verdict") == gold)
    right = SCORED & by_name.otherwise(by_number).fill_null(False)
    value = pl.when(right).then(pl.lit(_RIGHT)).otherwise(value_of(policy))
    found = unit_counts(rows, value, unit=unit, cluster=cluster)
    order = [place for place, one in enumerate(found.values) if one != _RIGHT]
    right_U = np.zeros((len(found.counts_UV), 1), dtype=np.int64)
    if _RIGHT in found.values:
        right_U = found.counts_UV[:, [found.values.index(_RIGHT)]]
    return UnitCounts(
        counts_UV=np.concatenate([right_U, found.counts_UV[:, order]], axis=1),
        values=(_RIGHT, *(found.values[place] for place in order)),
        clusters_U=found.clusters_U,
    )


_QUESTION = ("item_id", "benchmark")
_ITEM, _LABEL, _VALUE = "__item", "__label", "__value"
NO_SCORES = "no_scores"


class LabelledPairs(NamedTuple):
    """A label and a verdict a row, as codes of one vocabulary or as numbers."""

    items_N: NDArray[np.int64]  # noqa: N815  a shape, not a case
    labels_N: NDArray[np.float64]  # noqa: N815
    verdicts_N: NDArray[np.float64]  # noqa: N815
    n_N: NDArray[np.float64]  # noqa: N815
    names: tuple[str, ...]  # What codes stand for; empty of numbers.


def kappa_rows(
    group: Group,
    rows: pl.DataFrame,
    names: Sequence[str],
    missing: Sequence[Missing],
    levels: Sequence[Level] | None,
) -> Iterator[Row]:
    """Compute kappa of one group's verdicts with their labels, and of the labels' people.

    An item weighs 1, shared among its verdicts; of several people's labels each verdict meets each.
    Ratings (ordinal or interval) have quadratic weights, names none. Rows have the columns of
    `Coefficients`; questions without a label are left out, and ``undefined`` is "no_gold" where
    there is no other.

    Examples
    --------
    >>> from judgerel_ray.measuring.reliability import reduce_judgments
    >>> rows = {"item_id": ["q", "q", "r", "s"], "replication": [0, 1, 0, 0],
    ...         "verdict": ["A", "B", "B", "A"], "gold": ["A", "A", "B", "A"]}
    >>> found = reduce_judgments(pl.LazyFrame(rows), coefficients=["cohen_kappa"])
    >>> [(name, round(value, 3)) for name, value in found.select("coefficient", "value").rows()]
    [('cohen_kappa', 0.667)]
    """
    known = rows.filter(pl.col(GOLD).is_not_null() | _rows_have_people_labels(rows))
    known = item_number(known, group.unit)
    for level in dict.fromkeys(levels or (group.level,)) if names else ():
        policies = missing if group.n_without else MISSING[:1]
        for policy in policies if "cohen_kappa" in names else ():
            yield _judge_row(group, known, policy, level)
        if "people_kappa" in names:
            yield _people_row(group, known, level)


def _judge_row(group: Group, known: pl.DataFrame, policy: Missing, level: Level) -> Row:
    """Kappa of verdicts and labels, by one policy and at one level."""
    why = _why_group_lacks_kappa(group, known, policy, level)
    pairs = labelled_pairs(known.clear() if why else known, policy, level)
    found = label_agreement(
        pairs.labels_N, pairs.verdicts_N, items_N=pairs.items_N, n_N=pairs.n_N,
        weights=weights_at(level),
    )  # fmt: skip
    floor = kappa_floor(found)
    interval = kappa_ends(found, group.intervals)
    row = _kappa_row_of_group(group, found, level, policy, why, interval)
    value = value_of(policy) if level == "nominal" else number_of_row()
    counted = 0 if why else int(known.filter(value.is_not_null())[N].sum())
    left_out = 0 if why or level == "nominal" else _n_not_numbers(known)
    noted = [(Flag.LABELS_NO_NUMBERS, (float(left_out),))] if left_out else []
    return {
        **row,
        **floor_columns(floor if row["value"] is not None else None),
        **method_columns(found.estimator, interval, floor, noted=noted),
        "n_missing": int(group.table.counts_UK.sum() - counted),
    }


def _people_row(group: Group, known: pl.DataFrame, level: Level) -> Row:
    """Kappa of two people who labelled the same question, the ceiling of what a judge can reach."""
    people = pl.DataFrame(schema={_ITEM: pl.UInt32, _LABEL: pl.String})
    if PEOPLE in known.columns:
        people = known.group_by(_ITEM, maintain_order=True).agg(
            people_of(pl.col(PEOPLE)).first().alias(_LABEL)
        )
        people = people.filter(pl.col(_LABEL).list.len() > 1).explode(_LABEL)
    weights = weights_at(level)
    label = pl.col(_LABEL).cast(pl.Float64, strict=False)
    people = people.with_columns(
        (label if weights else folded(pl.col(_LABEL)).rank("dense")).cast(pl.Float64).alias(_LABEL)
    ).drop_nulls()
    found = people_agreement(people[_LABEL].to_numpy(), people[_ITEM].to_numpy(), weights=weights)
    why = "no_item_of_several_people" if people.is_empty() else None
    words = f"{found.estimator}, two people of an item"
    interval = kappa_ends(found, group.intervals)
    return {
        **_kappa_row_of_group(group, found, level, MISSING[0], why, interval),
        **floor_columns(None),
        **method_columns(words, interval),
        "n_missing": 0,
    }


def _kappa_row_of_group(
    group: Group, found: LabelAgreement, level: Level, policy: Missing, why: str | None,
    interval: Interval,
) -> Row:  # fmt: skip
    """What both rows hold."""
    undefined = why or kappa_undefined(found)
    return {
        **group.sample,
        "coefficient": found.terms.name,
        "value": None if undefined else found.value,
        "low": interval.low,
        "high": interval.high,
        "measurement": level,
        "missing": policy,
        "n_categories": None,
        "unit": " x ".join(name for name in group.unit if name in _QUESTION),
        "undefined": undefined,
    }


def _why_group_lacks_kappa(
    group: Group, known: pl.DataFrame, policy: Missing, level: Level
) -> str | None:
    """Why these judgments have no kappa at all."""
    if known.is_empty():
        return "no_gold"
    if level == "nominal":
        return None
    if policy == "category" and group.n_without:
        return NEEDS_NOMINAL
    return NO_SCORES if known.filter(SCORED)["score"].null_count() else None


def weights_at(level: Level) -> Weights | None:
    """The weights of kappa at a level of measurement: quadratic, but of names.

    Examples
    --------
    >>> weights_at("nominal"), weights_at("ordinal")
    (None, 'quadratic')
    """
    return None if level == "nominal" else "quadratic"


def kappa_ends(found: LabelAgreement, choice: IntervalChoice = AUTO) -> Interval:
    """The interval of kappa, as it is chosen for all coefficients.

    Examples
    --------
    >>> kappa_ends(label_agreement([1, 1], [1, 1])).undefined
    'undefined'
    """
    if choice.method == "bootstrap":
        return bootstrap_kappa(
            found, n_resamples=choice.n_resamples, seed=choice.seed, confidence=choice.confidence
        )
    return kappa_interval(found, confidence=choice.confidence)


def labelled_pairs(known: pl.DataFrame, policy: Missing, level: Level) -> LabelledPairs:
    """Pair what is right with what was said, by question; what is missing takes no part.

    Examples
    --------
    >>> rows = pl.DataFrame({"__item": [0, 1], "verdict": ["A", "B"], "score": [None, None],
    ...                      "outcome": ["scored"] * 2, "gold": ["A", "A"], "n": [1, 2]})
    >>> found = labelled_pairs(rows, "category", "nominal")
    >>> found.names, found.labels_N.tolist(), found.verdicts_N.tolist()
    (('A', 'B'), [0.0, 0.0], [0.0, 1.0])
    """
    names: tuple[str, ...] = ()
    if level == "nominal":
        paired = _judgments_by_kappa_label(known, _name_of_label(known)).with_columns(
            value_of(policy).alias(_VALUE)
        )
        paired = paired.drop_nulls([_LABEL, _VALUE])
        both = pl.concat([paired[_LABEL], paired[_VALUE]]).unique().sort()
        names = tuple(str(one).removeprefix("=") for one in both)
        code = [pl.col(one).replace_strict(both, range(len(both)), return_dtype=pl.Float64)
                for one in (_LABEL, _VALUE)]  # fmt: skip
        paired = paired.with_columns(code)
    else:
        paired = _judgments_by_kappa_label(known, _number_of_label(known)).with_columns(
            number_of_row().alias(_VALUE)
        )
        paired = paired.drop_nulls([_LABEL, _VALUE])
    labels, verdicts, n = (paired[one].cast(pl.Float64).to_numpy() for one in (_LABEL, _VALUE, N))
    items = paired[_ITEM].cast(pl.Int64).to_numpy()
    return LabelledPairs(items, labels, verdicts, n, names)


def _judgments_by_kappa_label(known: pl.DataFrame, read: pl.Expr) -> pl.DataFrame:
    """One row a judgment and label: of each person, where several labelled the question."""
    texts = pl.col(GOLD).cast(pl.String)
    if PEOPLE not in known.columns:
        return known.with_columns(texts.alias(_LABEL)).with_columns(read.alias(_LABEL))
    each = people_of(pl.col(PEOPLE)).fill_null(pl.concat_list(texts))
    found = known.with_columns(each.alias(_LABEL)).explode(_LABEL)
    # Labels of people are spelled as they spelled them; verdicts and gold are one spelling each.
    spelled = pl.concat([known["verdict"].cast(pl.String), known[GOLD].cast(pl.String)])
    spelled = spelled.drop_nulls().unique().sort()
    alike = spelled.to_frame(_LABEL).select(folded(pl.col(_LABEL))).to_series()
    by_fold = dict(zip(alike, spelled, strict=True))
    fold = folded(pl.col(_LABEL))
    as_spelled = fold.replace_strict(by_fold, default=pl.col(_LABEL), return_dtype=pl.String)
    return found.with_columns(as_spelled.alias(_LABEL)).with_columns(read.alias(_LABEL))


def _name_of_label(known: pl.DataFrame) -> pl.Expr:
    """A label as a verdict is written that is it: of scores alone, as the number it is."""
    text = pl.col(_LABEL)
    number = pl.coalesce(text.cast(pl.Float64, strict=False).cast(pl.String), text)
    named = known.filter(SCORED)["verdict"].count() > 0
    scored_alone = pl.col("verdict").is_null() & pl.col("score").is_not_null()
    return pl.lit("=") + pl.when(scored_alone | pl.lit(not named)).then(number).otherwise(text)


def _number_of_label(known: pl.DataFrame) -> pl.Expr:
    """A label as the score of the verdict that it names, or as the number that it is."""
    scores = known.filter(SCORED, pl.col("verdict").is_not_null()).unique("verdict")
    named = dict(zip(scores["verdict"].to_list(), scores["score"].to_list(), strict=True))
    text = pl.col(_LABEL)
    number = text.cast(pl.Float64, strict=False)
    if not named:
        return number
    return text.replace_strict(named, default=number, return_dtype=pl.Float64)


def _n_not_numbers(known: pl.DataFrame) -> int:
    """Labels of questions that neither are a number nor name a verdict with one."""
    both = pl.struct(pl.col(_LABEL).alias("text"), _number_of_label(known).alias("number"))
    found = _judgments_by_kappa_label(known, both).select(_ITEM, pl.col(_LABEL).struct.unnest())
    strange = found.filter(pl.col("text").is_not_null(), pl.col("number").is_null())
    return strange.select(_ITEM, "text").unique().height


def _rows_have_people_labels(rows: pl.DataFrame) -> pl.Expr:
    """Tell rows that people labelled, though no label may be the commonest."""
    return pl.col(PEOPLE).is_not_null() if PEOPLE in rows.columns else pl.lit(False)


def item_number(rows: pl.DataFrame, unit: Sequence[str]) -> pl.DataFrame:
    """Rows with the number of their question, as `labelled_pairs` wants them.

    Examples
    --------
    >>> item_number(pl.DataFrame({"item_id": ["r", "q"]}), ["item_id"])["__item"].to_list()
    [2, 1]
    """
    question = [name for name in unit if name in _QUESTION]
    return rows.with_columns(pl.struct(question).rank("dense").cast(pl.Int64).alias(_ITEM))


def kappa_of_sides(
    first: pl.DataFrame, second: pl.DataFrame, unit: Sequence[str], policy: Missing, level: Level
) -> tuple[QuestionTerms, QuestionTerms]:
    """Lay kappa of two sides' verdicts with their labels out by question, in the same terms.

    Examples
    --------
    >>> rows = pl.DataFrame({"item_id": ["q", "r"], "verdict": ["A", "B"], "score": [None, None],
    ...                      "outcome": ["scored"] * 2, "gold": ["A", "A"], "n": [1, 1]})
    >>> one, other = kappa_of_sides(rows, rows[:1], ["item_id"], "category", "nominal")
    >>> one.terms_CT.shape, other.terms_CT.shape
    ((2, 7), (1, 7))
    """
    both = [one.with_columns(__side=pl.lit(side)) for side, one in enumerate((first, second))]
    known = item_number(pl.concat(both, how="diagonal_relaxed"), unit)
    known = known.filter(pl.col(GOLD).is_not_null() | _rows_have_people_labels(known))
    known = known.with_columns((2 * pl.col(_ITEM) + pl.col("__side")).alias(_ITEM))
    pairs = labelled_pairs(known, policy, level)
    values = np.unique(np.concatenate([pairs.labels_N, pairs.verdicts_N]))

    def of(side: int) -> QuestionTerms:
        chosen = pairs.items_N % 2 == side
        return label_agreement(
            pairs.labels_N[chosen], pairs.verdicts_N[chosen], items_N=pairs.items_N[chosen] // 2,
            n_N=pairs.n_N[chosen], weights=weights_at(level), values=values,
        ).terms  # fmt: skip

    return of(0), of(1)


_RENAMED = {
    "accuracy": {"value": "accuracy", "low": "accuracy_low", "high": "accuracy_high"},
    "cohen_kappa": {
        "value": "cohen_kappa", "low": "kappa_low", "high": "kappa_high", "n_compared": "n_items",
        "noise_floor": "noise_floor", "p_noise": "p_noise", "measurement": "measurement",
        "undefined": "undefined",
    },
    "people_kappa": {"value": "people_kappa", "low": "people_low", "high": "people_high"},
}  # fmt: skip


def labelled_judges(coefficients: pl.DataFrame) -> pl.DataFrame:
    """Lay accuracy, kappa and people's own kappa side by side, one row a group and missing policy.

    The groups' columns, then those of `LabelledJudges`, in the order of the coefficients; no row
    where no label is known.

    Examples
    --------
    >>> from judgerel_ray.measuring.reliability import reduce_judgments
    >>> rows = {"item_id": ["q", "r", "s"], "verdict": ["A", "B", "A"], "gold": ["A", "B", "B"]}
    >>> found = labelled_judges(reduce_judgments(pl.LazyFrame(rows)))
    >>> found.select("n_items", "accuracy", "cohen_kappa").rows()
    [(3, 0.6666666666666666, 0.4)]
    """
    groups = coefficients.columns[: coefficients.columns.index("coefficient")]
    kappa = coefficients.filter(coefficient="cohen_kappa")
    keys = {name: coefficients.schema[name] for name in groups}
    if kappa.is_empty() or kappa["undefined"].eq_missing("no_gold").all():
        return LabelledJudges.frame((), keys)
    found = kappa.select(*groups, "missing", **_measured_kappa_columns("cohen_kappa"))
    for name in ("accuracy", "people_kappa"):
        on = [*groups, *(["missing"] if name == "accuracy" else [])]
        other = coefficients.filter(coefficient=name).with_columns(__all=True)
        other = other.select(*on, "__all", **_measured_kappa_columns(name)).unique([*on, "__all"])
        found = found.with_columns(__all=True).join(
            other, on=[*on, "__all"], how="left", nulls_equal=True, maintain_order="left"
        )  # fmt: skip
    return found.select(*groups, *LabelledJudges.columns)


def _measured_kappa_columns(name: str) -> dict[str, pl.Expr]:
    """A coefficient's columns by the names they have beside others."""
    return {new: pl.col(old) for old, new in _RENAMED[name].items()}
