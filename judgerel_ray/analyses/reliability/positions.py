"""Where verdicts fall: among the places that options were shown in, or among answers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import polars as pl

from judgerel_ray.counting.columns import FACETS, is_judge

_ORDER = "option_order"
_N = pl.col("n")


def verdict_positions(
    frame: pl.LazyFrame,
    *,
    by: Sequence[str] = (),
    menus: Mapping[str, Mapping[str, int]] | None = None,
) -> pl.DataFrame:
    """Count the places that verdicts name, or the answers where no places are known.

    Parameters
    ----------
    frame : pl.LazyFrame
        Judgments; only verdicts of judges in the first block count.
    by : sequence of str
        Columns that make a group, those of the coefficients it stands beside.
    menus : mapping of str to mapping of str to int, optional
        Options declared, by protocol and benchmark.

    Returns
    -------
    pl.DataFrame
        One row a group with any verdict: its columns; ``n_verdicts``, ``n_questions`` and
        ``n_orders`` (orders of the options one question was shown in, at most); ``n_options`` of
        the menu, null where not declared; ``is_place``: whether labels and verdicts differ, so
        that a label is a place and not an answer; ``shares``, a list of (label, share, half), the
        mean over questions and half its 95 % interval, null where there is none.

    Examples
    --------
    One question in two orders, and the judge says A to both:

    >>> rows = {"item_id": ["q", "q"], "option_order": [0, 1], "verdict": ["x", "y"],
    ...         "label": ["A", "A"]}
    >>> found = verdict_positions(pl.LazyFrame(rows))
    >>> found.select("is_place", "shares").row(0)
    (True, [{'label': 'A', 'share': 1.0, 'half': None}])
    """
    columns = frame.collect_schema().names()
    groups = [name for name in by if name in columns]
    counts = _counts(frame, columns, groups)
    unit = [*groups, "item_id"]
    question = counts.group_by(unit).agg(
        _N.sum().alias("__of"), pl.col(_ORDER).n_unique().alias("__orders")
    )
    basis = counts.group_by(groups or pl.lit(0).alias("__all")).agg(
        n_verdicts=_N.sum().cast(pl.Int64),
        n_questions=pl.col("item_id").n_unique().cast(pl.Int64),
        is_place=(pl.col("label") != pl.col("verdict")).any(),
        **_menu(counts, menus or {}),
    )
    basis = basis if groups else basis.drop("__all")
    orders = _over(question, groups, n_orders=pl.col("__orders").max().cast(pl.Int64))
    found = _joined(basis, orders, groups)
    found = _joined(found, _shares(counts, question, groups), groups)
    found = found.filter(pl.col("n_verdicts") > 0)
    return found.sort(groups) if groups else found


def _counts(frame: pl.LazyFrame, columns: Sequence[str], groups: Sequence[str]) -> pl.DataFrame:
    """How often each question, as it was asked, got each verdict under each label."""
    text = [pl.col(name).cast(pl.String) for name in ("verdict", "score") if name in columns]
    answer = pl.coalesce(text) if text else pl.lit(None, pl.String)
    label = pl.coalesce(pl.col("label").cast(pl.String), answer) if "label" in columns else answer
    order = pl.col(_ORDER) if _ORDER in columns else pl.lit(0)
    facets = [name for name in FACETS if name in columns and name != _ORDER]
    kept = [*dict.fromkeys([*groups, "item_id", *facets])]
    rows = frame.filter(is_judge(columns))
    if "block" in columns:
        rows = rows.filter(pl.col("block").fill_null(0) == 0)
    if "outcome" in columns:
        rows = rows.filter(pl.col("outcome").cast(pl.String).fill_null("scored") == "scored")
    answered = rows.select(
        *kept, order.fill_null(0).alias(_ORDER), verdict=answer, label=label
    ).filter(pl.col("verdict").is_not_null())
    counted = answered.group_by([*kept, _ORDER, "verdict", "label"]).agg(
        n=pl.len().cast(pl.Float64)
    )
    # Sums of floats depend on their order in the last digit: pages must not.
    return counted.collect(engine="streaming").sort([*kept, _ORDER, "verdict", "label"])


def _menu(counts: pl.DataFrame, menus: Mapping[str, Mapping[str, int]]) -> Mapping[str, pl.Expr]:
    """The number of options declared for all rows of a group alike."""
    size = pl.lit(None, pl.Int64)
    if {"protocol", "benchmark"} <= set(counts.columns):
        for protocol, menu in menus.items():
            for benchmark, n in menu.items():
                of_menu = (pl.col("protocol") == protocol) & (pl.col("benchmark") == benchmark)
                size = pl.when(of_menu).then(pl.lit(n, pl.Int64)).otherwise(size)
    alike = (size.n_unique() == 1) if menus else pl.lit(True)
    return {"n_options": pl.when(alike).then(size.first())}


def _shares(counts: pl.DataFrame, question: pl.DataFrame, groups: Sequence[str]) -> pl.DataFrame:
    """Shares of labels: means over questions, each with half its interval."""
    unit = [*groups, "item_id"]
    labels = counts.select(*groups, "label").unique()
    seen = counts.group_by([*unit, "label"]).agg(_N.sum())
    whole = (
        _joined(question, labels, groups)
        .join(seen, on=[*unit, "label"], how="left", nulls_equal=True)
        .with_columns(share=_N.fill_null(0.0) / pl.col("__of"))
        .sort([*unit, "label"])
    )
    by_label = whole.group_by([*groups, "label"]).agg(
        share=pl.col("share").mean(), half=_half("share")
    )
    one = pl.struct("label", "share", "half")
    return _over(by_label.sort([*groups, "label"]), groups, shares=one.implode())


def _half(name: str) -> pl.Expr:
    """Half the 95 % t interval of a mean over questions; null where they do not differ."""
    from scipy.special import stdtrit

    def half(values: pl.Series) -> float | None:
        n, spread = len(values), values.std()
        if n < 2 or not isinstance(spread, float) or spread < 1e-12:
            return None
        wide: float = spread * float(stdtrit(n - 1, 0.975)) / math.sqrt(n)
        return wide

    return pl.col(name).implode().map_elements(half, return_dtype=pl.Float64).first()


def _over(frame: pl.DataFrame, groups: Sequence[str], **made: pl.Expr) -> pl.DataFrame:
    """Aggregate by group, of which there may be one that has no columns."""
    if groups:
        return frame.group_by(groups, maintain_order=True).agg(**made)
    return frame.select(**made)


def _joined(left: pl.DataFrame, right: pl.DataFrame, groups: Sequence[str]) -> pl.DataFrame:
    """Join by group, null being a value."""
    if groups:
        return left.join(right, on=groups, how="left", nulls_equal=True)
    return left.join(right, how="cross")
