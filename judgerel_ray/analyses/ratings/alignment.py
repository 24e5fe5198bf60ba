"""Alignment of judges with a reference: another judge's scores, or people's.

A reference is one mean score for each thing rated: an item, a responder, a criterion, and, where
the reference rated on scales, a scale.

Rows of alignment with a reference: sampled scores and probability-weighted ones side by side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from judgerel_ray.analyses.ratings.tables import Alignments
from judgerel_ray.blocks.words import estimator_words
from judgerel_ray.core import SweepError
from judgerel_ray.core.codes import NONE_WITHOUT_ONE, SAME_WITHOUT_ANY, Flag
from judgerel_ray.core.tables import value_columns
from judgerel_ray.counting.groups.rated import QUESTION, RatedGroup, scale_ends
from judgerel_ray.counting.verdicts.policy import SCALE, Row, flag_columns
from judgerel_ray.stats import Estimate, ReferenceAgreement, reference_agreement
from judgerel_ray.stats.counts import Floats
from judgerel_ray.stats.intervals.paired import Difference
from judgerel_ray.stats.ratings.correlations import CORRELATIONS, Correlation

NOT_SAMPLED = "not_sampled"
"""Why single and averaged are undefined: only distributions are there."""
OFF_SCALE = "reference_off_scale"
"""Why intraclass correlations are undefined: the reference has scores that the scale has not."""
_LACKING = {"no_spread": SAME_WITHOUT_ANY, "depends_on_one_question": NONE_WITHOUT_ONE}
_INTRACLASS = ("icc_agreement", "icc_consistency")


def side_by_side(
    sampled: Sequence[RatedGroup], weighted: Sequence[RatedGroup]
) -> list[tuple[Mapping[str, object], RatedGroup | None, RatedGroup | None]]:
    """Pair groups of one key: what was sampled, and what is weighted by probabilities.

    Examples
    --------
    >>> side_by_side([], [])
    []
    """
    drawn = {tuple(group.key.items()): group for group in sampled}
    known = {tuple(group.key.items()): group for group in weighted}
    keys = dict.fromkeys((*drawn, *known))
    return [(dict(key), drawn.get(key), known.get(key)) for key in keys]


def alignment_row(
    drawn: ReferenceAgreement | None, known: ReferenceAgreement | None, name: str
) -> Row:
    """Write one coefficient, of what was sampled and of what was computed.

    Examples
    --------
    >>> from judgerel_ray.stats import reference_agreement
    >>> known = reference_agreement([1, 2, 4, 3], [1, 2, 3, 4])
    >>> row = alignment_row(None, known, "people")
    >>> round(row["weighted"], 3), row["n_weighted"], row["undefined"]
    (0.8, 4, 'not_sampled')
    """
    found = drawn or known
    if found is None:
        raise ValueError("alignment_row: there must be a coefficient")
    undefined = found.averaged.undefined
    made = _how_alignment_was_made(found.averaged)
    row: dict[str, object] = {
        "coefficient": found.coefficient,
        "n_items": found.averaged.n_questions,
        "n_units": found.averaged.n_units,
        "reference": name,
        **made,
        "estimator": estimator_words(made),
        "undefined": undefined or (NOT_SAMPLED if drawn is None else None),
    }
    if drawn is not None:
        row |= {
            **value_columns("single", drawn.single),
            **value_columns("averaged", drawn.averaged),
            **value_columns("gain", drawn.gain),
            "p_gain": drawn.gain.p,
            "n_averaged": drawn.n_averaged,
        }
    if known is not None:
        row |= {**value_columns("weighted", known.averaged), "n_weighted": known.averaged.n_units}
    return row


def on_one_scale(found: ReferenceAgreement) -> ReferenceAgreement:
    """Leave an intraclass correlation undefined where the reference is on another scale.

    It compares scores as they are, so that between 0 to 1 and 1 to 5 it would tell of the units.

    Examples
    --------
    >>> from judgerel_ray.stats import reference_agreement
    >>> found = reference_agreement([1, 2, 4], [0.1, 0.2, 0.4], coefficient="icc_agreement")
    >>> on_one_scale(found).averaged.undefined
    'reference_off_scale'
    """
    if found.coefficient not in _INTRACLASS:
        return found
    single, averaged = (
        replace(one, value=None, low=None, high=None, undefined=OFF_SCALE)
        for one in (found.single, found.averaged)
    )
    gain = Difference(name=found.gain.name, undefined=OFF_SCALE, n_questions=0)
    return replace(found, single=single, averaged=averaged, gain=gain)


def _how_alignment_was_made(one: Estimate) -> dict[str, object]:
    """How a number was computed, and what its interval lacks."""
    few = one.few_questions and not one.undefined
    why = None if one.undefined else one.no_interval
    return {
        "statistic": one.estimator,
        "no_interval": _LACKING.get(why, why) if why else None,
        **flag_columns([(Flag.FEW_INFORMATIVE, ())] if few else []),
    }


REFERENCE_SCORE = "reference_score"
THING = ("benchmark", QUESTION, "responder", "criterion", "definition", SCALE)
"""Columns by which a reference is matched, those that it has."""


def judge_reference(rows: pl.DataFrame, judge: str) -> pl.DataFrame:
    """Take a judge's mean scores as the reference, over all its replications and templates.

    Examples
    --------
    >>> rows = pl.DataFrame({"judge": ["a", "a", "b"], "item_id": ["q"] * 3, "score": [1.0, 2, 5]})
    >>> judge_reference(rows, "a")["reference_score"].to_list()
    [1.5]
    """
    names = [] if "judge" not in rows.columns else rows["judge"].drop_nulls().unique().to_list()
    if judge not in names:
        raise SweepError(
            f"no judge {judge!r} to be the reference, got judges {', '.join(sorted(names))}",
            hint="a judge's name, human, or a .csv or .parquet of item_id, criterion, score",
        )
    return mean_reference(rows.filter(pl.col("judge") == judge))


def mean_reference(rows: pl.DataFrame) -> pl.DataFrame:
    """Average scores of the same thing.

    Examples
    --------
    >>> mean_reference(pl.DataFrame({"item_id": ["q", "q", "r"], "score": [1.0, 2.0, None]})).rows()
    [('q', 1.5)]
    """
    scored = rows.filter(pl.col("score").is_not_null()).sort("score")
    there = [name for name in THING if name in rows.columns]
    measured = [name for name in there if scored[name].null_count() < scored.height]
    names = measured if scored.height else there
    return scored.group_by(names).agg(pl.col("score").mean().alias(REFERENCE_SCORE)).sort(names)


def human_reference(items: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Take the mean of people's scores of each item as the reference.

    A rating that names its responder is of that response. One that names none is of the item: of
    its one response, and no reference where rows name several.

    Examples
    --------
    >>> from judgerel_ray.core import HumanRating, Item
    >>> from judgerel_ray.tables import items_to_frame
    >>> people = tuple(HumanRating(rater=str(n), score=3.0 + n) for n in range(2))
    >>> item = Item(item_id="q", benchmark="b", category="c", question="?", ratings=people)
    >>> human_reference(items_to_frame([item]), pl.DataFrame({"item_id": ["q"]})).rows()
    [('b', 'q', 3.5)]
    """
    ratings = items.select("benchmark", QUESTION, "ratings").explode("ratings").unnest("ratings")
    if "responder" in rows.columns:
        thing = [name for name in ("benchmark", QUESTION) if name in rows.columns]
        answers = rows.group_by(thing).agg(
            __one=pl.col("responder").first().cast(pl.String), __n=pl.col("responder").n_unique()
        )
        ratings = ratings.join(answers, on=thing)
        ratings = ratings.filter(pl.col("responder").is_not_null() | (pl.col("__n") == 1))
        ratings = ratings.with_columns(pl.coalesce("responder", "__one")).drop("__one", "__n")
    return mean_reference(ratings.filter(pl.col("score").is_not_null()))


def alignment_table(
    groups: Sequence[RatedGroup],
    reference: pl.DataFrame,
    *,
    name: str,
    coefficients: Sequence[str] | None = None,
    weighted: Sequence[RatedGroup] = (),
) -> pl.DataFrame:
    """Compute how far every group's scores agree with a reference, on every scale.

    Groups that have only weighted scores are undefined, "not_sampled". Scores are compared as they
    are: intraclass correlations need a reference on the same scale, and are undefined,
    "reference_off_scale", where it has scores beyond the scale's ends.

    Examples
    --------
    >>> from judgerel_ray.counting.groups.rated import rated_groups, rated_rows
    >>> told = {"item_id": list("qrst"), "scale": ["points5"] * 4, "replication": [0] * 4,
    ...         "score": [1, 2, 4, 5]}
    >>> groups = rated_groups(*rated_rows(pl.LazyFrame(told)))
    >>> people = mean_reference(pl.DataFrame({"item_id": list("qrst"), "score": [1.0, 2, 3, 4]}))
    >>> found = alignment_table(groups, people, name="people")
    >>> found.filter(coefficient="spearman").select("scale", "single", "n_items").rows()
    [('points5', 1.0, 4)]
    """
    wanted = CORRELATIONS if coefficients is None else coefficients
    if unknown := sorted(set(wanted) - set(CORRELATIONS)):
        raise SweepError(
            f"alignment is told by {', '.join(CORRELATIONS)}, got coefficient {unknown[0]!r}"
        )
    named = [one for one in CORRELATIONS if one in wanted]
    found: list[Row] = []
    matched = False
    for key, sampled, expected in side_by_side(groups, weighted):
        if key.get("judge") == name:
            continue
        scales = [*(sampled.scores if sampled else ()), *(expected.scores if expected else ())]
        for scale in dict.fromkeys(scales):
            drawn, is_drawn = _alignment_on_scale(sampled, scale, reference, named)
            known, is_known = _alignment_on_scale(expected, scale, reference, named)
            matched |= is_drawn or is_known
            for one, other in zip(drawn, known, strict=True):
                found.append({**key, SCALE: scale, **alignment_row(one, other, name)})
    if not matched:
        by = [column for column in THING if column in reference.columns]
        raise SweepError(f"no rating has a reference in {name} by {', '.join(by)}")
    every = [dict(group.key) for group in (*groups, *weighted)]
    keys = pl.DataFrame(every, infer_schema_length=None)
    return Alignments.frame(found, {**keys.schema, SCALE: pl.String()})


def reference_scores(group: RatedGroup, scale: str, reference: pl.DataFrame) -> Floats:
    """Find the reference of every unit of a group on one scale; NaN where there is none.

    Shape (n_units,).

    Examples
    --------
    See ``tests/analyses/ratings/test_alignment.py``.
    """
    alike = {**group.key, SCALE: scale}
    units = group.units.with_columns(**{name: pl.lit(value) for name, value in alike.items()})
    # A paper's grid has a hundred groups, and each needs little of the whole reference.
    for name, value in alike.items():
        if name in THING and name in reference.columns:
            same = pl.col(name).cast(pl.String) == pl.lit(value).cast(pl.String)
            reference = reference.filter(same.fill_null(False) | pl.col(name).is_null())
    by = [name for name in THING if name in reference.columns and name in units.columns]
    typed = units.with_columns(pl.col(by).cast(pl.String))
    found = pl.Series([None] * units.height, dtype=pl.Float64)
    known = reference.with_columns(
        pl.col(by).cast(pl.String),
        __named=pl.concat_list([pl.col(name).is_not_null() for name in by]),
    )
    # The most particular first: what a reference does not tell holds for all.
    for mask in sorted(known["__named"].unique().to_list(), key=sum, reverse=True):
        columns = [name for name, there in zip(by, mask, strict=True) if there]
        rows = known.filter(pl.col("__named") == pl.lit(mask, pl.List(pl.Boolean)))
        rows = rows.group_by(columns).agg(pl.col(REFERENCE_SCORE).mean())
        joined = typed.join(rows, on=columns, how="left", maintain_order="left")
        found = found.fill_null(joined[REFERENCE_SCORE]) if found.null_count() else found
    scores: Floats = found.fill_null(float("nan")).to_numpy().copy()
    return scores


def _alignment_on_scale(
    group: RatedGroup | None, scale: str, reference: pl.DataFrame, named: Sequence[Correlation]
) -> tuple[list[ReferenceAgreement | None], bool]:
    """Every coefficient of a group on one scale, None where it has nothing there; if it has."""
    if group is None or scale not in group.scores:
        return [None] * len(named), False
    truth_N, scores = reference_scores(group, scale, reference), group.scores[scale]
    found: list[ReferenceAgreement | None] = [
        reference_agreement(scores, truth_N, coefficient=one, questions_N=group.questions_N)
        for one in named
    ]
    low, high = scale_ends(group.scales[scale])
    if ((truth_N < low) | (truth_N > high)).any():
        found = [None if one is None else on_one_scale(one) for one in found]
    return found, bool((~np.isnan(truth_N)).any())
