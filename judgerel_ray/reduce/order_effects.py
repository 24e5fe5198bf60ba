"""What the order of the options does to verdicts, where questions are asked in several orders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from judgerel_ray.core import SweepError
from judgerel_ray.reduce.estimates import Group, Row, noise_columns
from judgerel_ray.reduce.matrix import unit_counts
from judgerel_ray.reduce.policy import MISSING, SCORED, Missing, value_of
from judgerel_ray.stats import Coefficient
from judgerel_ray.stats.order_effects import ORDER_EFFECTS, order_effect, position_bias

SHOWN = "label"
"""The column that names the label shown: where the option stood."""
_ORDER = "option_order"


def check_order(names: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Name the column of labels where it is needed; refuse what is not there.

    Examples
    --------
    >>> check_order(["position_bias"], ["label", "option_order"]), check_order(["flip_rate"], [])
    (['label'], [])
    """
    asked = [name for name in names if name in ORDER_EFFECTS]
    wanted = [_ORDER] if asked else []
    wanted += [SHOWN] if "position_bias" in asked else []
    for name in wanted:
        if name not in columns:
            raise SweepError(
                f"{asked[0]} needs the column {name}, got {', '.join(columns)}",
                hint="ask with option_orders = 2 or more",
            )
    return [name for name in wanted if name == SHOWN]


def order_rows(
    group: Group, rows: pl.DataFrame, names: Sequence[str], missing: Sequence[Missing]
) -> Iterator[Row]:
    """Compute order effects of one group.

    Parameters
    ----------
    group : Group
        The group.
    rows : pl.DataFrame
        Its counted rows, with the label for position_bias.
    names : sequence of str
        Some of `ORDER_EFFECTS`.
    missing : sequence of {"category", "drop"}
        Policies of order_effect; position_bias is of verdicts alone.

    Yields
    ------
    Row
        The columns of ``COLUMNS``; ``undefined`` is "orders_not_crossed" where all was asked in one
        order.

    Examples
    --------
    >>> from judgerel_ray.reduce import reduce_judgments
    >>> told = {"item_id": ["q"] * 4 + ["r"] * 4, "replication": [0, 1] * 4,
    ...         "option_order": [0, 0, 1, 1] * 2, "label": ["A"] * 8,
    ...         "verdict": ["x", "x", "y", "y"] * 2}
    >>> found = reduce_judgments(pl.LazyFrame(told), coefficients=["order_effect", "position_bias"])
    >>> found.select("coefficient", "value").rows()
    [('order_effect', 1.0), ('position_bias', 1.0)]
    """
    cluster = [name for name in group.unit if name in ("item_id", "benchmark")]
    apart = [name for name in group.unit if name != _ORDER]
    policies: Sequence[Missing] = missing if group.n_without else MISSING[:1]
    if "order_effect" in names:
        for policy in policies:
            found = unit_counts(rows, value_of(policy), unit=group.unit, cluster=apart)
            yield _row(group, policy, order_effect(found.counts_UV, found.clusters_U))
    if "position_bias" in names:
        policy = "drop" if group.n_without else "category"
        if _ORDER not in group.unit:
            labels = np.zeros((0, 2), dtype=np.int64)
        else:
            shown = pl.when(SCORED).then(pl.col(SHOWN))
            found = unit_counts(rows, shown, unit=cluster, cluster=cluster)
            # Positions that nothing ever named are on the menu all the same.
            spare = max(0, group.n_categories - found.counts_UV.shape[1])
            labels = np.pad(found.counts_UV, ((0, 0), (0, spare)))
        yield _row(group, policy, position_bias(labels), crossed=_ORDER in group.unit)


def _row(group: Group, policy: Missing, found: Coefficient, *, crossed: bool = True) -> Row:
    """One row of the result."""
    return {
        "coefficient": found.name,
        "value": found.value,
        "low": found.low,
        "high": found.high,
        **noise_columns(None),
        "measurement": "nominal",
        "missing": policy,
        "n_categories": None,
        "n_missing": int(group.table.counts_UK.sum()) - found.n_ratings,
        "estimator": found.estimator,
        "undefined": found.undefined if crossed else "orders_not_crossed",
        **group.basis,
    }
