"""What labels and margins of single judgments are worth, where the right option is known.

Shape suffixes: N = judgments.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgerel_ray.reduce.uncertainty import UncertaintyOptions, scored_matrices
from judgerel_ray.stats import (
    LabelEdges,
    Uncertainty,
    auroc,
    cross_fitted_labels,
    label_accuracy,
    label_edges,
    learn_then_test,
    risk_coverage,
    wagner2024_threshold,
)

GROUP = ("judge", "benchmark", "template", "temperature", "mode")
FOLDS = 5


def uncertainty_summary(
    confusions: pl.DataFrame,
    verdicts: pl.DataFrame,
    right: pl.DataFrame,
    options: UncertaintyOptions | None = None,
) -> pl.DataFrame:
    """What the label and the margin are worth, by judge, benchmark, template and temperature.

    Parameters
    ----------
    confusions, verdicts, right, options
        As for :func:`uncertainty_rows`.

    Returns
    -------
    DataFrame
        One row a group and ``quantity``, with ``value, low, high`` (95 %), ``k`` and ``n`` where it
        is a share, ``estimator`` and ``undefined``:

        - ``accuracy``, ``accuracy_by_matrix``, ``accuracy_low``, ``accuracy_high``, ``share_low``:
          exact binomial intervals, one judgment a question; labels by the threshold given, else
          each by a threshold chosen on other folds;
        - ``auroc`` of the margin (probability that a right judgment has the larger one), ``aurc``
          and ``excess_aurc`` (risk averaged over coverage, and what of it a perfect score saves);
        - ``wagner2024_threshold`` with ``wagner2024_accuracy_low``: chosen on the data it is told
          of, so optimistic, and the row says so;
        - ``guaranteed_threshold``: of the margin, by learn-then-test.

    Examples
    --------
    >>> from judgerel_ray.reduce.confusions import confusion_table
    >>> uncertainty_summary(confusion_table([]), pl.DataFrame(), pl.DataFrame()).height
    0

    Notes
    -----
    Only judgments whose right option is known count, and a judgment without a verdict is wrong.
    """
    options = options or UncertaintyOptions()
    groups: dict[tuple[object, ...], list[tuple[dict[str, object], Uncertainty]]] = {}
    for row, one in scored_matrices(confusions, verdicts, right, options):
        groups.setdefault(tuple(row[name] for name in GROUP), []).append((row, one))
    found = [
        {**dict(zip(GROUP, name, strict=True)), "n_matrices": len(members), **quantity}
        for name, members in sorted(groups.items(), key=lambda pair: str(pair[0]))
        for quantity in _worth(members, options)
    ]
    return pl.DataFrame(found, schema=_summary_schema())


def _worth(
    members: Sequence[tuple[dict[str, object], Uncertainty]], options: UncertaintyOptions
) -> Iterator[dict[str, object]]:
    """All quantities of one group."""
    judged = [(row, one) for row, one in members if row["correct"] is not None]
    if not judged:
        yield _quantity("accuracy", n=0, undefined="no_right_option")
        return
    correct_N = np.array([bool(row["correct"]) for row, _ in judged])
    by_matrix_N = np.array([bool(row["correct_by_matrix"]) for row, _ in judged])
    edges = label_edges([one for _, one in judged], own_choice_required=options.own_choice_required)
    margin_N = np.array(
        [np.nan if one.margin is None else one.margin for _, one in judged], dtype=np.float64
    )
    yield from _by_label(judged, edges, correct_N, options)
    matrix = label_accuracy(np.zeros_like(by_matrix_N), by_matrix_N).all
    yield _quantity("accuracy_by_matrix", matrix, estimator="largest u")
    ranking = auroc(margin_N, correct_N)
    yield _quantity(
        "auroc", ranking, n=ranking.n_ratings, estimator="margin", undefined=ranking.undefined
    )
    curve = risk_coverage(margin_N, correct_N)
    for name, value in (("aurc", curve.aurc), ("excess_aurc", curve.excess)):
        yield _quantity(name, value=value, n=len(judged), estimator="margin, ties averaged")
    lucky = wagner2024_threshold(edges, correct_N)
    told = f"optimistic: chosen on the {lucky.n_low} low of {lucky.n} it is told of"
    yield _quantity(
        "wagner2024_threshold", value=lucky.threshold, estimator=told, undefined=lucky.undefined
    )
    yield _quantity(
        "wagner2024_accuracy_low", value=lucky.accuracy_low, n=lucky.n_low, estimator=told,
        undefined=lucky.undefined,
    )  # fmt: skip
    safe = learn_then_test(margin_N, correct_N, risk=options.risk, delta=options.delta)
    yield _quantity(
        "guaranteed_threshold",
        value=safe.threshold,
        estimator=f"margin; wrong <= {options.risk:g} but for chance {options.delta:g}",
        undefined=safe.undefined,
    )


def _by_label(
    judged: Sequence[tuple[dict[str, object], Uncertainty]],
    edges: LabelEdges,
    correct_N: NDArray[np.bool_],
    options: UncertaintyOptions,
) -> Iterator[dict[str, object]]:
    """Accuracy under each label."""
    undefined = None
    if options.threshold is not None:
        low_N = np.array([one.label == "low" for _, one in judged])
        told = f"threshold {options.threshold:g}"
    elif len(judged) >= FOLDS:
        fitted = cross_fitted_labels(edges, correct_N, n_folds=FOLDS, seed=options.seed)
        low_N, told = fitted.low_N, f"thresholds cross-fitted in {FOLDS} folds"
    else:
        low_N, told = np.zeros_like(correct_N), "no threshold"
        undefined = "too_few_judgments"
    shares = label_accuracy(low_N, correct_N)
    yield _quantity("accuracy", shares.all, estimator="exact binomial")
    for name, share in (
        ("accuracy_low", shares.low),
        ("accuracy_high", shares.high),
        ("share_low", shares.share_low),
    ):
        if undefined is None:
            why = "no_judgments" if share.value is None else None
            yield _quantity(name, share, estimator=told, undefined=why)
        else:
            yield _quantity(name, n=len(judged), estimator=told, undefined=undefined)


def _quantity(
    name: str,
    found: object = None,
    *,
    value: float | None = None,
    n: int | None = None,
    estimator: str | None = None,
    undefined: str | None = None,
) -> dict[str, object]:
    """One row of a summary; `found` has value, low and high, and k and n where it is a share."""
    return {
        "quantity": name,
        "value": getattr(found, "value", value),
        "low": getattr(found, "low", None),
        "high": getattr(found, "high", None),
        "k": getattr(found, "k", None),
        "n": getattr(found, "n", n),
        "estimator": estimator,
        "undefined": undefined,
    }


def _summary_schema() -> dict[str, pl.DataType]:
    """Columns of :func:`uncertainty_summary`."""
    texts = {name: pl.String() for name in GROUP if name != "temperature"}
    return {
        **{name: texts.get(name, pl.Float64()) for name in GROUP},
        "n_matrices": pl.Int64(),
        "quantity": pl.String(),
        "value": pl.Float64(),
        "low": pl.Float64(),
        "high": pl.Float64(),
        "k": pl.Int64(),
        "n": pl.Int64(),
        "estimator": pl.String(),
        "undefined": pl.String(),
    }
