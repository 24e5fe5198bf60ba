"""What labels and margins of single judgments are worth, where the right option is known.

Every score of a judgment beside every other: what it is on average, and how well it ranks; beside
them a small model fitted on matrices, and conformal sets of options.

Shape suffixes: N = judgments, O = options.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgerel_ray.analyses.confusion.groups import (
    FOLDS,
    GROUPED,
    MAJORITY,
    NO_MAJORITY,
    JudgedGroup,
    Labelling,
    labellings,
    scale_steps,
)
from judgerel_ray.analyses.confusion.matrices import ScoredMatrix, UncertaintyOptions
from judgerel_ray.analyses.confusion.tables import JudgmentWorth, ScoreWorth
from judgerel_ray.core.codes import Noted
from judgerel_ray.core.tables import as_columns, value_columns
from judgerel_ray.counting.verdicts.policy import flag_columns
from judgerel_ray.stats import (
    acceptance_curve,
    auroc,
    conformal_rule,
    conformal_sets,
    cross_fitted_auroc,
    cross_fitted_model,
    label_accuracy,
    learn_then_test,
    rating_deviation,
    risk_coverage,
)
from judgerel_ray.stats.confusion.labels import LabelAccuracy
from judgerel_ray.stats.folds import grouped_folds
from judgerel_ray.stats.intervals.ends import jackknife_error, t_quantile
from judgerel_ray.stats.intervals.shares import Share, clustered_share
from judgerel_ray.stats.selective.discrimination import few_answers, few_flags

COVERAGES = (0.25, 0.5, 0.75)
_FOUND = ("value", "low", "high", "k", "n")


def quantity_row(
    name: str, found: object = None, *, estimator: str | None = None,
    noted: Sequence[Noted] = (), **columns: object,
) -> dict[str, object]:  # fmt: skip
    """Lay out one quantity: what was found of it, and other columns by name.

    Examples
    --------
    >>> quantity_row("aurc", value=0.25, n=8)["value"]
    0.25
    """
    weaknesses = [flag.words(numbers) for flag, numbers in noted]
    return {
        "quantity": name,
        **columns,
        **{one: getattr(found, one) for one in _FOUND if hasattr(found, one)},
        "estimator": "; ".join(filter(None, [estimator, *weaknesses])) or None,
        **flag_columns(noted),
    }


def uncertainty_summary(groups: Sequence[JudgedGroup], options: UncertaintyOptions) -> pl.DataFrame:
    """What the label and the margin are worth, by judge, benchmark, template and temperature.

    One row a group and ``quantity``, with ``value, low, high`` (95 %), ``k`` and ``n`` where it is
    a share, ``threshold`` where it is of labels by one, ``estimator`` and ``undefined``: -
    ``no_majority``, where there are any: judgments of items whose people have no single most
    frequent label, so that no option is right; all else leaves them out; - ``accuracy``,
    ``accuracy_low``, ``accuracy_high``, ``share_low``: intervals are exact binomial, by text where
    texts are judged several times; labels by the threshold given, else each by a threshold chosen
    on other folds; then the last three for every stated threshold; - ``deviation`` with ``_low``
    and ``_high``, of scales only: mean distance of the judge's rating from the right one, in steps
    of the scale; - ``wagner2024_threshold`` with ``wagner2024_accuracy_low``, ``_accuracy_high``
    and ``_share_low``: chosen on the data it is evaluated on, so optimistic, and the row says so; -
    ``accuracy_by_matrix``, ``accuracy_by_model``: of the option the matrix prefers, and of the one
    a small model on its features does, cross-fitted; - ``auroc`` of the margin (probability that a
    right judgment has the larger one) and ``auroc_model``; ``aurc`` and ``excess_aurc`` (risk
    averaged over coverage, and what of it a perfect score saves); where they rest on fewer than ten
    wrong, or right, answers, ``estimator`` says so; ``error_of_surest_25`` and so on: share wrong
    among the surest quarter and so on, or a little more where margins tie; -
    ``guaranteed_threshold`` of the margin, by learn-then-test, and the ``guaranteed_share`` it
    accepts; ``conformal_coverage`` and ``conformal_size`` of cross-fitted sets.

    Examples
    --------
    >>> uncertainty_summary([], UncertaintyOptions()).height
    0

    Notes
    -----
    Only judgments whose right option is known count, and a judgment without a verdict is wrong.
    """
    found = [
        {**group.name, "n_matrices": group.n_matrices, **quantity}
        for group in groups
        for quantity in _uncertainty_worth_rows(group, options)
    ]
    return JudgmentWorth.frame(found, GROUPED)


def _uncertainty_worth_rows(
    group: JudgedGroup, options: UncertaintyOptions
) -> Iterator[dict[str, object]]:
    """All quantities of one group."""
    yield from _confusion_left_unlabelled(group)
    if not group.judged:
        yield quantity_row("accuracy", n=0, undefined="no_right_option")
        return
    first, *stated, in_sample = labellings(group, options)
    yield from _accuracy_by_uncertainty(group, first)
    for labelling in stated:
        yield from list(_accuracy_by_uncertainty(group, labelling))[1:]
    yield from _deviation_by_uncertainty(group, first, options)
    yield from _optimistic_uncertainty(group, in_sample)
    by_matrix = np.array([bool(one.row["correct_by_matrix"]) for one in group.judged])
    matrix = clustered_share(by_matrix, clusters_N=group.text_N)
    yield quantity_row("accuracy_by_matrix", matrix, estimator="largest u")
    yield from model_quantities(group, options)
    yield from _uncertainty_margin_ranks(group)
    yield from _uncertainty_safe_margin(group, options)
    yield from set_quantities(group, options)


def _confusion_label_owner(group: JudgedGroup) -> str:
    """Whose most frequent label is right, where it is people's."""
    kinds = {one.raters or "people" for one in group.judged if one.basis == MAJORITY}
    return f"; right: the label most given by {', '.join(sorted(kinds))}" if kinds else ""


def _confusion_left_unlabelled(group: JudgedGroup) -> Iterator[dict[str, object]]:
    """How many judgments are of items whose people have no most frequent label, if any are."""
    if not group.without_majority:
        return
    kinds = {one.raters or "people" for one in group.unjudged if one.basis == NO_MAJORITY}
    estimator = (
        f"items on which {', '.join(sorted(kinds))} have no single most frequent label: left out"
    )
    k, n = group.without_majority, group.n_matrices
    yield quantity_row(NO_MAJORITY, value=k / n, k=k, n=n, estimator=estimator)


def _accuracy_by_uncertainty(
    group: JudgedGroup, labelling: Labelling
) -> Iterator[dict[str, object]]:
    """Accuracy of all, then under each label, and the share of low."""
    shares = label_accuracy(labelling.low_N, group.correct_N, clusters_N=group.text_N)
    yield quantity_row(
        "accuracy", shares.all, estimator=f"{shares.all.method}{_confusion_label_owner(group)}"
    )
    threshold, estimator = labelling.threshold, labelling.method
    for name, share, why in _of_labels(shares, labelling):
        if labelling.undefined is None:
            yield quantity_row(name, share, threshold=threshold, estimator=estimator, undefined=why)
        else:
            yield quantity_row(name, n=len(group.judged), estimator=estimator, undefined=why)


def _of_labels(
    shares: LabelAccuracy, labelling: Labelling
) -> Iterator[tuple[str, Share, str | None]]:
    """Accuracy by label and the share of low, each with its name and what it lacks."""
    named = ("accuracy_low", shares.low), ("accuracy_high", shares.high)
    for name, share in (*named, ("share_low", shares.share_low)):
        none = "no_judgments" if share.value is None else None
        yield name, share, labelling.undefined or none


def _optimistic_uncertainty(
    group: JudgedGroup, in_sample: Labelling
) -> Iterator[dict[str, object]]:
    """The threshold that looks best on what chose it, without intervals: they would be wrong."""
    shares = label_accuracy(in_sample.low_N, group.correct_N)
    yield quantity_row(
        "wagner2024_threshold", value=in_sample.threshold, estimator=in_sample.method,
        undefined=in_sample.undefined,
    )  # fmt: skip
    for name, share, why in _of_labels(shares, in_sample):
        yield quantity_row(
            f"wagner2024_{name}", value=share.value if in_sample.undefined is None else None,
            n=share.n, threshold=in_sample.threshold, estimator=in_sample.method, undefined=why,
        )  # fmt: skip


def _deviation_by_uncertainty(
    group: JudgedGroup, labelling: Labelling, options: UncertaintyOptions
) -> Iterator[dict[str, object]]:
    """Distance of ratings from the right ones by label, where all options are on one scale."""
    ratings = [
        scale_steps(one.options, options.scales.get(group.benchmark)) for one in group.judged
    ]
    if not all(ratings):
        return
    valued, right = (
        [
            steps.get(str(one.row[name]), np.nan)
            for one, steps in zip(group.judged, ratings, strict=True)
        ]
        for name in ("chosen", "right")
    )
    found = rating_deviation(valued, right, labelling.low_N, clusters_N=group.text_N)
    for name, one in (("", found.all), ("_low", found.low), ("_high", found.high)):
        why = labelling.undefined if name else None
        yield quantity_row(
            f"deviation{name}", None if why else one, n=len(group.judged),
            threshold=labelling.threshold if name else None,
            estimator=f"steps of the scale; {labelling.method if name else 't over questions'}",
            undefined=why or (None if one.n else "no_judgments"),
        )  # fmt: skip


def _uncertainty_margin_ranks(group: JudgedGroup) -> Iterator[dict[str, object]]:
    """How well the margin ranks right before wrong."""
    margin_N, correct_N, text_N = group.margin_N, group.correct_N, group.text_N
    ranking = auroc(margin_N, correct_N, clusters_N=text_N)
    noted = few_flags(margin_N, correct_N, text_N)
    yield quantity_row(
        "auroc", ranking, n=ranking.n_ratings, estimator="margin", undefined=ranking.undefined,
        noted=noted,
    )  # fmt: skip
    curve = risk_coverage(margin_N, correct_N, clusters_N=text_N)
    estimator = "margin, ties averaged"
    yield quantity_row("aurc", curve, value=curve.aurc, estimator=estimator, noted=noted)
    yield quantity_row("excess_aurc", value=curve.excess, n=curve.n, estimator=estimator)
    accepted = acceptance_curve(group.margin_N, group.correct_N)
    for coverage in COVERAGES:
        places = np.flatnonzero(accepted.acceptance_T >= coverage - 1e-9)
        name = f"error_of_surest_{100 * coverage:.0f}"
        if not places.size:
            yield quantity_row(name, n=len(group.judged), undefined="too_few_judgments")
            continue
        margin = float(accepted.thresholds_T[places[0]])
        taken = group.margin_N >= margin
        wrong = clustered_share(~group.correct_N[taken], clusters_N=group.text_N[taken])
        estimator = f"margin >= {margin:.3g}; {wrong.method}, pointwise"
        yield quantity_row(name, wrong, estimator=estimator)


def _uncertainty_safe_margin(
    group: JudgedGroup, options: UncertaintyOptions
) -> Iterator[dict[str, object]]:
    """A threshold of the margin with a bounded risk."""
    safe = learn_then_test(
        group.margin_N, group.correct_N, clusters_N=group.text_N,
        risk=options.risk, delta=options.delta, seed=options.seed,
    )  # fmt: skip
    estimator = f"margin; wrong <= {options.risk:g} but for chance {options.delta:g}"
    yield quantity_row(
        "guaranteed_threshold", value=safe.threshold, estimator=estimator, undefined=safe.undefined
    )
    if safe.threshold is not None:
        k, n = safe.n_accepted, safe.n
        yield quantity_row("guaranteed_share", value=k / n, k=k, n=n, estimator=estimator)


MATRIX_SCORES = {
    **dict.fromkeys(("margin", "signed_margin", "largest_u", "worst_case"), 1),
    **dict.fromkeys(("entropy", "suggestibility", "dobrushin", "mutual_information"), -1),
}
"""Scores of a matrix, with 1 where higher is surer."""
SHARE_OF_REPLICATIONS, ENTROPY_OF_REPLICATIONS = "share_of_replications", "entropy_of_replications"
OWN_PROBABILITY = "probability_of_verdict"
"""Scores that took no matrix: of replications, and of the verdict where no assessment was shown."""
_SIGNED = ("signed_margin", "suggestibility")
_IN_NATS = ("entropy", "mutual_information")


def score_table(
    groups: Sequence[JudgedGroup],
    baselines: pl.DataFrame | None = None,
    tokens: pl.DataFrame | None = None,
) -> pl.DataFrame:
    """Lay out every score of a judgment: its mean, and how well it tells right from wrong.

    Intervals are over questions, and end where no score goes further: entropy and mutual
    information are in nats, from 0 to log of the number of options, signed margin and
    suggestibility in [-1, 1], all else in [0, 1].

    Examples
    --------
    >>> score_table([]).height
    0
    """
    found = [
        {**group.name, **row}
        for group in groups
        if group.judged
        for row in _uncertainty_score_rows(group, baselines, tokens)
    ]
    return ScoreWorth.frame(found, GROUPED)


def _uncertainty_score_rows(
    group: JudgedGroup, baselines: pl.DataFrame | None, tokens: pl.DataFrame | None
) -> Iterator[dict[str, object]]:
    """Every score of one group."""
    cost = None if tokens is None else _mean_tokens(_rows_of_group(group, tokens))
    for name, sign in MATRIX_SCORES.items():
        values = np.array(
            [_confusion_score_value(one.scores, name) for one in group.judged], dtype=np.float64
        )
        yield _uncertainty_score_row(name, values, sign, group, cost)
    if baselines is None:
        return
    of_group = _rows_of_group(group, baselines)
    scores = of_group.select("score", "of_replications", "drawn_at").unique(maintain_order=True)
    for one in scores.iter_rows(named=True):
        rows = of_group.filter(pl.col(key).eq_missing(pl.lit(of)) for key, of in one.items())
        values = _plain_scores(group, rows)
        sign = 1 if rows["higher_is_surer"][0] else -1
        yield {
            **_uncertainty_score_row(one["score"], values, sign, group, _mean_tokens(rows)),
            **one,
        }


def _uncertainty_score_range(name: str, judged: Sequence[ScoredMatrix]) -> tuple[float, float]:
    """The least and the largest that the mean of a score can be."""
    if name in _SIGNED:
        return -1.0, 1.0
    options = np.array([len(one.matrix_OA) for one in judged])
    if name == ENTROPY_OF_REPLICATIONS:
        # No verdict counts as one, and Miller and Madow's correction is below one half.
        return 0.0, float(np.log(options + 1).mean()) + 0.5
    return 0.0, float(np.log(options).mean()) if name in _IN_NATS else 1.0


def _confusion_score_value(scores: object, name: str) -> float:
    """A score of a matrix; NaN where it is not there."""
    if name == "largest_u":
        shares = getattr(scores, "u_O", ())
        return float(max(shares, default=np.nan))
    value = getattr(scores, name)
    return np.nan if value is None else float(value)


def _plain_scores(group: JudgedGroup, rows: pl.DataFrame) -> NDArray[np.float64]:
    """Plain scores of judgments: of the item, or of its verdict; NaN where it was not asked."""
    of_item: dict[object, dict[object, float]] = {}
    for item, verdict, value in rows.select("item_id", "verdict", "value").iter_rows():
        of_item.setdefault(item, {})[verdict] = value
    found = [
        known.get(None, known.get(one.row["chosen"], 0.0))
        if (known := of_item.get(one.row["item_id"])) else np.nan
        for one in group.judged
    ]  # fmt: skip
    return np.array(found, dtype=np.float64)


def _rows_of_group(group: JudgedGroup, rows: pl.DataFrame) -> pl.DataFrame:
    """Rows of the group's judge and benchmark, on the items it judged."""
    items = [one.row["item_id"] for one in group.judged]
    return rows.filter(
        pl.col("judge") == group.name["judge"],
        pl.col("benchmark") == group.benchmark,
        pl.col("item_id").is_in(items),
    )


def _mean_tokens(rows: pl.DataFrame) -> float | None:
    """Tokens an item."""
    one = rows.unique("item_id")["tokens"].drop_nulls().to_list()
    return float(np.mean(one)) if one else None


def _uncertainty_score_row(
    name: str,
    values_N: NDArray[np.float64],
    sign: int,
    group: JudgedGroup,
    tokens: float | None,
) -> dict[str, object]:
    """One score."""
    valued_N = ~np.isnan(values_N)
    there = values_N[valued_N]
    correct_N, text_N = group.correct_N, group.text_N
    ranking = auroc(sign * values_N, correct_N, clusters_N=text_N)
    curve = risk_coverage(sign * values_N, correct_N, clusters_N=text_N)
    mean = float(there.mean()) if there.size else None
    judged = [one for one, valued in zip(group.judged, valued_N, strict=True) if valued]
    low, high = (
        _uncertainty_mean_ends(there, text_N[valued_N], _uncertainty_score_range(name, judged))
        if judged
        else (None, None)
    )
    return {
        "score": name,
        "surer": "higher" if sign > 0 else "lower",
        "mean": mean,
        "mean_low": low,
        "mean_high": high,
        **value_columns("auroc", ranking),
        **as_columns(curve, "aurc", aurc_low="low", aurc_high="high"),
        "few": few_answers(values_N, correct_N, text_N),
        "n": int(there.size),
        "tokens": tokens,
        "undefined": ranking.undefined if judged else "score_not_computed",
    }


def _uncertainty_mean_ends(
    values_N: NDArray[np.float64], text_N: NDArray[np.intp], within: tuple[float, float]
) -> tuple[float | None, ...]:
    """Ends of the t interval of a mean, texts being what is independent, as far as it can be."""
    place = np.unique(text_N, return_inverse=True)[1]
    n_texts = int(place.max()) + 1
    if n_texts < 2:
        return None, None
    sums, counts = np.bincount(place, weights=values_N), np.bincount(place)
    left_out = (sums.sum() - sums) / (counts.sum() - counts)
    half = t_quantile(n_texts - 1, 0.95) * jackknife_error(left_out)
    mean = float(values_N.mean())
    return max(within[0], mean - half), min(within[1], mean + half)


_FEW = 4 * FOLDS


def model_quantities(
    group: JudgedGroup, options: UncertaintyOptions
) -> Iterator[dict[str, object]]:
    """What a small model on the matrices' features is worth, each judgment by the other folds.

    dict: ``accuracy_by_model`` (of the option it prefers) and ``auroc_model`` (of its probability
    that the judge's own verdict is right: how often a right judgment has the larger one than a
    wrong one of its fold).
    """
    estimator = f"logit on the matrix's features, cross-fitted in {FOLDS} folds"
    names = ("accuracy_by_model", "auroc_model")
    if len(group.judged) < _FEW or not group.has_folds:
        yield from _too_few(names, len(group.judged), estimator)
        return
    right_N = _right_confusion_rows(group.judged)
    matrices, scores = zip(*((one.matrix_OA, one.scores) for one in group.judged), strict=True)
    found = cross_fitted_model(
        matrices, scores, right_N, groups_N=group.text_N, n_folds=FOLDS, seed=options.seed
    )
    share = clustered_share(found.option_N == right_N, clusters_N=group.text_N)
    yield quantity_row(names[0], share, estimator=estimator)
    ranking = cross_fitted_auroc(
        found.correct_N, group.correct_N, fold_N=found.fold_N, clusters_N=group.text_N
    )
    yield quantity_row(
        names[1], ranking, n=ranking.n_ratings, estimator=f"{estimator}; {ranking.estimator}",
        undefined=ranking.undefined,
    )  # fmt: skip


def _too_few(names: Sequence[str], n: int, estimator: str) -> Iterator[dict[str, object]]:
    """Quantities that so few judgments do not give."""
    for name in names:
        yield quantity_row(name, n=n, estimator=estimator, undefined="too_few_judgments")


def set_quantities(group: JudgedGroup, options: UncertaintyOptions) -> Iterator[dict[str, object]]:
    """What sets of options hold, each calibrated on the other folds.

    dict: ``conformal_coverage`` (sets that hold the right option; at least 1 - error is aimed at)
    and ``conformal_size`` (mean number of options in a set).
    """
    estimator = f"sets of u that miss <= {options.error:g}, cross-fitted in {FOLDS} folds"
    there = np.array([bool(one.scores.u_O) for one in group.judged], dtype=bool)
    kept = [one for one in group.judged if one.scores.u_O]
    text_N = group.text_N[there]
    if len(kept) < _FEW or np.unique(text_N).size < FOLDS:
        yield from _too_few(("conformal_coverage", "conformal_size"), len(kept), estimator)
        return
    shares_NO, there_NO = _padded_confusion_options(kept)
    right_N = _right_confusion_rows(kept)
    fold_N = grouped_folds(text_N, n_folds=FOLDS, seed=options.seed)
    inside_NO = np.zeros_like(there_NO)
    ordered = _is_confusion_scale(kept, options.scales.get(group.benchmark))
    for fold in range(FOLDS):
        tested_N = fold_N == fold
        rule = conformal_rule(
            shares_NO[~tested_N], right_N[~tested_N], clusters_N=text_N[~tested_N],
            error=options.error, ordered=ordered, seed=options.seed,
        )  # fmt: skip
        inside_NO[tested_N] = conformal_sets(shares_NO[tested_N], rule) & there_NO[tested_N]
    held = inside_NO[np.arange(len(kept)), right_N]
    share = clustered_share(held, clusters_N=text_N)
    yield quantity_row("conformal_coverage", share, estimator=estimator)
    size = float(inside_NO.sum(axis=1).mean())
    yield quantity_row("conformal_size", value=size, n=len(kept), estimator=estimator)


def _right_confusion_rows(matrices: Sequence[ScoredMatrix]) -> NDArray[np.intp]:
    """Rows of the right options."""
    return np.array([one.right for one in matrices], dtype=np.intp)


def _is_confusion_scale(matrices: Sequence[ScoredMatrix], scale: Sequence[str] | None) -> bool:
    """Whether all have the same options, and in the order of a scale: sets are then intervals."""
    names = matrices[0].options
    steps = scale_steps(names, scale)
    rising = np.diff([steps.get(name, np.nan) for name in names])
    in_order = bool((rising > 0).all() or (rising < 0).all())
    return in_order and all(one.options == names for one in matrices)


def _padded_confusion_options(
    matrices: Sequence[ScoredMatrix],
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """U of every option, and which options there are: items may differ in their number."""
    most = max(len(one.scores.u_O) for one in matrices)
    shares, there = np.zeros((len(matrices), most)), np.zeros((len(matrices), most), dtype=bool)
    for n, one in enumerate(matrices):
        shares[n, : len(one.scores.u_O)] = one.scores.u_O
        there[n, : len(one.scores.u_O)] = True
    return shares, there
