"""What labels and margins of single judgments are worth, where the right option is known.

Shape suffixes: N = judgments.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from judgerel_ray.reduce.quantities import QUANTITY, quantity_row
from judgerel_ray.reduce.uncertainty import UncertaintyOptions
from judgerel_ray.reduce.uncertainty_groups import (
    GROUP,
    MAJORITY,
    NO_MAJORITY,
    JudgedGroup,
    Labelling,
    labellings,
    scale_steps,
)
from judgerel_ray.reduce.uncertainty_models import model_quantities, set_quantities
from judgerel_ray.stats import (
    acceptance_curve,
    auroc,
    label_accuracy,
    learn_then_test,
    rating_deviation,
    risk_coverage,
)
from judgerel_ray.stats.discrimination import with_few
from judgerel_ray.stats.shares import clustered_share

COVERAGES = (0.25, 0.5, 0.75)


def uncertainty_summary(
    groups: Sequence[JudgedGroup], options: UncertaintyOptions | None = None
) -> pl.DataFrame:
    """What the label and the margin are worth, by judge, benchmark, template and temperature.

    Parameters
    ----------
    groups : sequence of JudgedGroup
        From :func:`judgerel_ray.reduce.uncertainty_groups.judged_groups`.
    options : UncertaintyOptions, optional
        How matrices were read.

    Returns
    -------
    DataFrame
        One row a group and ``quantity``, with ``value, low, high`` (95 %), ``k`` and ``n`` where it
        is a share, ``threshold`` where it is of labels by one, ``estimator`` and ``undefined``:

        - ``no_majority``, where there are any: judgments of items whose people have no single most
          frequent label, so that no option is right; all else leaves them out;
        - ``accuracy``, ``accuracy_low``, ``accuracy_high``, ``share_low``: intervals are exact
          binomial, by text where texts are judged several times; labels by the threshold given,
          else each by a threshold chosen on other folds; then the last three for every stated
          threshold;
        - ``deviation`` with ``_low`` and ``_high``, of scales only: mean distance of the judge's
          rating from the right one, in steps of the scale;
        - ``wagner2024_threshold`` with ``wagner2024_accuracy_low``, ``_accuracy_high`` and
          ``_share_low``: chosen on the data it is told of, so optimistic, and the row says so;
        - ``accuracy_by_matrix``, ``accuracy_by_model``: of the option the matrix prefers, and of
          the one a small model on its features does, cross-fitted;
        - ``auroc`` of the margin (probability that a right judgment has the larger one) and
          ``auroc_model``; ``aurc`` and ``excess_aurc`` (risk averaged over coverage, and what of it
          a perfect score saves); where they rest on fewer than ten wrong, or right, answers,
          ``estimator`` says so; ``error_of_surest_25`` and so on: share wrong among the surest
          quarter and so on, or a little more where margins tie;
        - ``guaranteed_threshold`` of the margin, by learn-then-test, and the ``guaranteed_share``
          it accepts; ``conformal_coverage`` and ``conformal_size`` of cross-fitted sets.

    Examples
    --------
    >>> uncertainty_summary([]).height
    0

    Notes
    -----
    Only judgments whose right option is known count, and a judgment without a verdict is wrong.
    """
    options = options or UncertaintyOptions()
    found = [
        {**group.name, "n_matrices": group.n_matrices, **quantity}
        for group in groups
        for quantity in _worth(group, options)
    ]
    schema = {**group_schema(), "n_matrices": pl.Int64(), **QUANTITY}
    return pl.DataFrame(found, schema=schema)


def group_schema() -> dict[str, pl.DataType]:
    """Columns that name a group.

    Examples
    --------
    >>> list(group_schema()) == list(GROUP)
    True
    """
    return {name: pl.Float64() if name == "temperature" else pl.String() for name in GROUP}


def _worth(group: JudgedGroup, options: UncertaintyOptions) -> Iterator[dict[str, object]]:
    """All quantities of one group."""
    yield from _left_out(group)
    if not group.judged:
        yield quantity_row("accuracy", n=0, undefined="no_right_option")
        return
    first, *stated, lucky = labellings(group, options)
    yield from _by_label(group, first)
    for labelling in stated:
        yield from list(_by_label(group, labelling))[1:]
    yield from _deviations(group, first, options)
    yield from _optimistic(group, lucky)
    by_matrix = np.array([bool(one.row["correct_by_matrix"]) for one in group.judged])
    matrix = clustered_share(by_matrix, clusters_N=group.text_N)
    yield quantity_row("accuracy_by_matrix", matrix, estimator="largest u")
    yield from model_quantities(group, options)
    yield from _rankings(group)
    yield from _guaranteed(group, options)
    yield from set_quantities(group, options)


def _whose(group: JudgedGroup) -> str:
    """Whose most frequent label is right, where it is people's."""
    kinds = {one.raters or "people" for one in group.judged if one.basis == MAJORITY}
    return f"; right: the label most given by {', '.join(sorted(kinds))}" if kinds else ""


def _left_out(group: JudgedGroup) -> Iterator[dict[str, object]]:
    """How many judgments are of items whose people have no most frequent label, if any are."""
    if not group.without_majority:
        return
    kinds = {one.raters or "people" for one in group.unjudged if one.basis == NO_MAJORITY}
    told = f"items on which {', '.join(sorted(kinds))} have no single most frequent label: left out"
    k = group.without_majority
    row = quantity_row(NO_MAJORITY, value=k / group.n_matrices, n=group.n_matrices, estimator=told)
    yield {**row, "k": k}


def _by_label(group: JudgedGroup, labelling: Labelling) -> Iterator[dict[str, object]]:
    """Accuracy of all, then under each label, and the share of low."""
    shares = label_accuracy(labelling.low_N, group.correct_N, clusters_N=group.text_N)
    yield quantity_row("accuracy", shares.all, estimator=f"{shares.all.method}{_whose(group)}")
    threshold, told = labelling.threshold, labelling.told
    for name, share in (
        ("accuracy_low", shares.low),
        ("accuracy_high", shares.high),
        ("share_low", shares.share_low),
    ):
        why = labelling.undefined or ("no_judgments" if share.value is None else None)
        if labelling.undefined is None:
            yield quantity_row(name, share, threshold=threshold, estimator=told, undefined=why)
        else:
            yield quantity_row(name, n=len(group.judged), estimator=told, undefined=why)


def _optimistic(group: JudgedGroup, lucky: Labelling) -> Iterator[dict[str, object]]:
    """The threshold that looks best on what chose it, without intervals: they would be wrong."""
    shares = label_accuracy(lucky.low_N, group.correct_N)
    yield quantity_row(
        "wagner2024_threshold", value=lucky.threshold, estimator=lucky.told,
        undefined=lucky.undefined,
    )  # fmt: skip
    for name, share in (
        ("accuracy_low", shares.low),
        ("accuracy_high", shares.high),
        ("share_low", shares.share_low),
    ):
        why = lucky.undefined or ("no_judgments" if share.value is None else None)
        yield quantity_row(
            f"wagner2024_{name}", value=share.value if lucky.undefined is None else None,
            n=share.n, threshold=lucky.threshold, estimator=lucky.told, undefined=why,
        )  # fmt: skip


def _deviations(
    group: JudgedGroup, labelling: Labelling, options: UncertaintyOptions
) -> Iterator[dict[str, object]]:
    """Distance of ratings from the right ones by label, where all options are on one scale."""
    ratings = [
        scale_steps(one.options, options.scales.get(group.benchmark)) for one in group.judged
    ]
    if not all(ratings):
        return
    given, right = (
        [
            steps.get(str(one.row[name]), np.nan)
            for one, steps in zip(group.judged, ratings, strict=True)
        ]
        for name in ("chosen", "right")
    )
    found = rating_deviation(given, right, labelling.low_N, clusters_N=group.text_N)
    for name, one in (("", found.all), ("_low", found.low), ("_high", found.high)):
        why = labelling.undefined if name else None
        yield quantity_row(
            f"deviation{name}", None if why else one, n=len(group.judged),
            threshold=labelling.threshold if name else None,
            estimator=f"steps of the scale; {labelling.told if name else 't over questions'}",
            undefined=why or (None if one.n else "no_judgments"),
        )  # fmt: skip


def _rankings(group: JudgedGroup) -> Iterator[dict[str, object]]:
    """How well the margin ranks right before wrong."""
    margin_N, correct_N, text_N = group.margin_N, group.correct_N, group.text_N
    ranking = auroc(margin_N, correct_N, clusters_N=text_N)
    told = with_few("margin", margin_N, correct_N, text_N)
    yield quantity_row(
        "auroc", ranking, n=ranking.n_ratings, estimator=told, undefined=ranking.undefined
    )
    curve = risk_coverage(margin_N, correct_N, clusters_N=text_N)
    told = with_few("margin, ties averaged", margin_N, correct_N, text_N)
    area = quantity_row("aurc", value=curve.aurc, n=curve.n, estimator=told)
    yield {**area, "low": curve.low, "high": curve.high}
    told = "margin, ties averaged"
    yield quantity_row("excess_aurc", value=curve.excess, n=curve.n, estimator=told)
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
        told = f"margin >= {margin:.3g}; {wrong.method}, pointwise"
        yield quantity_row(name, wrong, estimator=told)


def _guaranteed(group: JudgedGroup, options: UncertaintyOptions) -> Iterator[dict[str, object]]:
    """A threshold of the margin with a bounded risk."""
    safe = learn_then_test(
        group.margin_N,
        group.correct_N,
        risk=options.risk,
        delta=options.delta,
        clusters_N=group.text_N,
        seed=options.seed,
    )
    told = f"margin; wrong <= {options.risk:g} but for chance {options.delta:g}"
    yield quantity_row(
        "guaranteed_threshold", value=safe.threshold, estimator=told, undefined=safe.undefined
    )
    if safe.threshold is not None:
        share = safe.n_accepted / safe.n
        row = quantity_row("guaranteed_share", value=share, n=safe.n, estimator=told)
        yield {**row, "k": safe.n_accepted}
