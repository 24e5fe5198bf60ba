"""Judges against labels, class by class, and every two judges against each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgerel_ray.analyses.agreement.tables import Classes, JudgePairs
from judgerel_ray.blocks.shown import Shown
from judgerel_ray.core import SweepError
from judgerel_ray.core.tables import as_columns
from judgerel_ray.counting.counted import Declared, Group, counted_groups
from judgerel_ray.counting.files.labelled import PEOPLE, READ
from judgerel_ray.counting.gold import with_gold
from judgerel_ray.counting.nesting import N
from judgerel_ray.counting.right_answers import GOLD
from judgerel_ray.counting.snapshot import Snapshot
from judgerel_ray.counting.verdict_names import refuse_unknown
from judgerel_ray.counting.verdicts.policy import (
    MISSING,
    SCORED,
    Missing,
    Row,
    number_of_row,
    value_of,
)
from judgerel_ray.measuring.correctness import (
    LabelledPairs,
    item_number,
    kappa_ends,
    labelled_judges,
    labelled_pairs,
    weights_at,
)
from judgerel_ray.measuring.reliability import ReduceOptions, reduce_judged
from judgerel_ray.measuring.tables import LabelledJudges
from judgerel_ray.stats import Interval, clopper_pearson
from judgerel_ray.stats.agreement.agreement import KAPPAS
from judgerel_ray.stats.intervals.interval import student_interval
from judgerel_ray.stats.ratings.kappa import (
    kappa_floor,
    kappa_undefined,
    label_agreement,
    label_cells_table,
    pooled_alpha,
)

JUDGE = "judge"
_BY = (JUDGE, "benchmark", "protocol", "criterion", "scale")
_SAME = ("item_id", "benchmark", "protocol", "stage", "responder", "criterion", "definition")
"""What two judges must have been asked alike for their verdicts to be of one question."""
MOST_JUDGES = 60
"""More are 1,770 pairs: nobody reads such a matrix."""
_ALPHA = 0.05


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AgreementTables(Shown):
    """Judges against labels, and against each other.

    Attributes
    ----------
    labels : DataFrame
        One row a group and missing policy: accuracy and kappa with labels, people's own kappa.
    classes : DataFrame
        One row a label besides: how often the judge finds it, and is right in giving it.
    pairs : DataFrame
        One row a pair of judges: kappa and alpha over the questions both judged.
    """

    labels: pl.DataFrame = field(default_factory=LabelledJudges.frame)
    classes: pl.DataFrame = field(default_factory=Classes.frame)
    pairs: pl.DataFrame = field(default_factory=JudgePairs.frame)


def checked_policies(names: Sequence[str]) -> tuple[Missing, ...]:
    """Read the names of policies for missing verdicts; SweepError of others.

    Examples
    --------
    >>> checked_policies(["drop"])
    ('drop',)
    """
    found = tuple(one for one in MISSING if one in names)
    if not found or len(found) < len(set(names)):
        raise SweepError(f"missing must be some of {', '.join(MISSING)}, got {', '.join(names)!r}")
    return found


def agreement_tables(
    judged: Snapshot, *, by: Sequence[str] | None = None, missing: Sequence[Missing] = MISSING
) -> AgreementTables:
    """Hold judges against labels, where these are known, and against each other.

    Refuses (SweepError) judgments of one judge without labels: nothing is there to agree with.
    """
    if not judged.verdicts_known:
        refuse_unknown("agree", judged.where)
    judged = with_gold(judged)
    columns = judged.frame.collect_schema().names()
    by = [name for name in _BY if name in columns] if by is None else list(by)
    labels, classes = LabelledJudges.frame(), Classes.frame()
    known = GOLD in columns
    extra = [name for name in READ if name in columns] if known else []
    declared = Declared(n_categories=judged.n_categories, scales=judged.scales)
    groups = [*counted_groups(judged.source, by=by, extra=extra, declared=declared).groups()]
    if known:
        options = ReduceOptions(
            by=tuple(by), missing=tuple(missing),
            coefficients=("accuracy", *KAPPAS[: 1 + (PEOPLE in columns)]),
        )  # fmt: skip
        labels = labelled_judges(reduce_judged(judged, options))
        rows = [
            {**key, **row} for key, group in groups for row in _agreement_by_label(group, missing)
        ]
        classes = Classes.frame(rows, {name: labels.schema[name] for name in by})
    pairs = _agreement_of_judge_pairs(groups, by, missing)
    if labels.is_empty() and pairs.is_empty():
        raise SweepError(
            "nothing to agree with: no label is known, and no two judges share a question",
            where=judged.where,
            hint="--labels FILE (item_id, label), a column gold, or judgments of a second judge",
        )
    return AgreementTables(labels=labels, classes=classes, pairs=pairs)


def _agreement_by_label(group: Group, missing: Sequence[Missing]) -> Iterator[Row]:
    """Every label of one group: how often it is given, found, and rightly said."""
    there = [name for name in READ if name in group.rows.units.columns]
    rows = item_number(group.rows.long([*dict.fromkeys((*group.unit, *there))]), group.unit)
    rows = rows.filter(pl.any_horizontal(pl.col(one).is_not_null() for one in there))
    if rows.is_empty():
        return
    policies = missing if group.n_without else MISSING[:1]
    for policy in policies:
        pairs = labelled_pairs(rows, policy, "nominal")
        codes = range(len(pairs.names))
        cells = label_cells_table(
            pairs.labels_N, pairs.verdicts_N, len(codes), items_N=pairs.items_N, n_N=pairs.n_N
        )
        total = max(1.0, float(cells.sum()))
        for code in codes:
            if not cells[code].sum():
                continue  # a verdict that is no label
            yield {
                "missing": policy,
                "label": pairs.names[code],
                "label_share": float(cells[code].sum()) / total,
                "verdict_share": float(cells[:, code].sum()) / total,
                **_share_agreeing_with_label(pairs, code, "recall", pairs.labels_N),
                **_share_agreeing_with_label(pairs, code, "precision", pairs.verdicts_N),
                "n_items": int(np.unique(pairs.items_N[pairs.labels_N == code]).size),
            }


def _share_agreeing_with_label(
    pairs: LabelledPairs, code: int, name: str, of_N: NDArray[np.float64]
) -> Row:
    """The share right of the questions that have a label, or of the verdicts that give it."""
    item, number = np.unique(pairs.items_N, return_inverse=True)
    weight = pairs.n_N / np.bincount(number, weights=pairs.n_N)[number]
    there = of_N == code
    right = there & (pairs.labels_N == pairs.verdicts_N)
    both = np.stack([
        np.bincount(number, weights=weight * one, minlength=item.size) for one in (there, right)
    ]).astype(np.float64)  # fmt: skip
    of, hits = both[:, both[0] > 0]
    if not of.size:
        return {}
    value, n = float(hits.sum() / of.sum()), of.size
    if np.allclose(of, 1) and np.isin(hits.round(9), (0, 1)).all():
        ends = clopper_pearson(round(float(hits.sum())), n)
    elif n > 1:
        left_out = (hits.sum() - hits) / (of.sum() - of)
        ends = student_interval(value, left_out, 1 - _ALPHA, chance_corrected=False, weights_C=of)
    else:
        ends = Interval(undefined="too_few_units")
    return {name: value, f"{name}_low": ends.low, f"{name}_high": ends.high}


def _agreement_of_judge_pairs(
    groups: Sequence[tuple[dict[str, object], Group]], by: Sequence[str],
    missing: Sequence[Missing],
) -> pl.DataFrame:  # fmt: skip
    """Every two judges that share questions, other columns of groups alike."""
    others = [name for name in by if name != JUDGE]
    together: dict[tuple[object, ...], list[tuple[str, Group]]] = {}
    for key, group in groups if JUDGE in by else ():
        place = tuple(key[name] for name in others)
        together.setdefault(place, []).append((str(key[JUDGE]), group))
    rows = []
    for place, judges in together.items():
        if len(judges) > MOST_JUDGES:
            raise SweepError(
                f"{len(judges)} judges are {len(judges) * (len(judges) - 1) // 2:,} pairs, "
                f"expected at most {MOST_JUDGES} judges",
                hint="a file of some of them",
            )
        laid = {
            name: group.rows.long([one for one in _SAME if one in group.rows.units.columns])
            for name, group in judges
        }
        for (name_a, a), (name_b, b) in combinations(judges, 2):
            found = _kappa_of_judge_pair(a, b, laid[name_a], laid[name_b], missing)
            key = dict(zip(others, place, strict=True))
            rows += [{**key, "judge_a": name_a, "judge_b": name_b, **row} for row in found]
    schema = {name: groups[0][1].rows.units.schema[name] for name in others}
    return JudgePairs.frame(rows, schema)


def _kappa_of_judge_pair(
    a: Group, b: Group, rows_a: pl.DataFrame, rows_b: pl.DataFrame, missing: Sequence[Missing]
) -> Iterator[Row]:
    """Kappa and alpha of two judges, by each policy."""
    keys = [name for name in _SAME if name in rows_a.columns and name in rows_b.columns]
    of_numbers = "nominal" not in (a.level, b.level)
    without = pl.concat([rows_a.select("outcome"), rows_b.select("outcome")]).filter(~SCORED)
    policies: Sequence[Missing] = missing if not without.is_empty() else MISSING[:1]
    for policy in policies:
        if of_numbers and policy == "category" and "drop" in policies:
            continue  # no reply without a score is a score of its own
        value = number_of_row() if of_numbers else value_of(policy)
        sides = [
            one.select(*keys, value.alias(name), pl.col(N).alias(f"n{name}"))
            .drop_nulls(name).with_columns(pl.col(keys).cast(pl.String))
            for one, name in ((rows_a, "a"), (rows_b, "b"))
        ]  # fmt: skip
        both = sides[0].join(sides[1], on=keys, nulls_equal=True).sort([*keys, "a", "b"])
        if both.is_empty():
            continue
        labels, verdicts = _agreement_codes(both, of_numbers=of_numbers)
        question = [name for name in keys if name in ("item_id", "benchmark")]
        found = label_agreement(
            labels, verdicts,
            items_N=both.select(pl.struct(question).rank("dense")).to_series().to_numpy(),
            n_N=(both["na"] * both["nb"]).to_numpy(),
            weights=weights_at("interval" if of_numbers else "nominal"),
        )  # fmt: skip
        why = kappa_undefined(found)
        alpha = pooled_alpha(found)
        terms = found.terms.terms_CT
        yield {
            "missing": policy,
            "measurement": "interval" if of_numbers else "nominal",
            "n_items": len(terms),
            "cohen_kappa": None if why else found.value,
            **as_columns(kappa_ends(found), kappa_low="low", kappa_high="high"),
            "p_noise": kappa_floor(found).p,
            "krippendorff_alpha": None if np.isnan(alpha.value) else alpha.value,
            **as_columns(kappa_ends(alpha), alpha_low="low", alpha_high="high"),
            "percent_agreement": _share_judges_agree(labels, verdicts, both, question),
            "undefined": why,
        }


def _agreement_codes(
    both: pl.DataFrame, *, of_numbers: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Both sides' verdicts as numbers: scores, or codes of one vocabulary."""
    if of_numbers:
        return both["a"].to_numpy(), both["b"].to_numpy()
    known = pl.concat([both["a"], both["b"]]).unique().sort()
    codes = both.select(
        pl.col("a", "b").replace_strict(known, range(len(known)), return_dtype=pl.Float64)
    )
    return codes["a"].to_numpy(), codes["b"].to_numpy()


def _share_judges_agree(
    labels: NDArray[np.float64], verdicts: NDArray[np.float64], both: pl.DataFrame,
    question: Sequence[str],
) -> float:  # fmt: skip
    """How often both say the same, each question weighing 1."""
    pairs = both.select(*question, n=pl.col("na") * pl.col("nb")).with_columns(
        same=pl.Series(labels == verdicts)
    )
    share = pl.col("n").filter(pl.col("same")).sum() / pl.col("n").sum()
    shares = pairs.group_by(question, maintain_order=True).agg(share.alias("share"))["share"]
    return float(shares.mean() or 0.0)  # type: ignore[arg-type]
