"""The published estimator by name: schroeder2024 on rows of judgments, always with its warning."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgerel_ray.reduce.columns import is_judge, outcome_column
from judgerel_ray.reduce.estimates import NOISE_ABOVE, Group, Row
from judgerel_ray.reduce.grouping import Block

PUBLISHED = ("schroeder2024_alpha", "schroeder2024_omega")
"""Coefficients of this page."""
_ROW, _LABEL = "__replication", "__label"


def read_labels(
    rows: pl.LazyFrame, columns: Sequence[str], *, keys: Sequence[str], block: Block
) -> pl.DataFrame:
    """Read what the published estimator needs of every row: counts do not tell it.

    Parameters
    ----------
    rows : pl.LazyFrame
        Judgments.
    columns : sequence of str
        Their columns.
    keys : sequence of str
        Columns of groups and units to keep.
    block : int or "all"
        Only rows of this block.

    Returns
    -------
    pl.DataFrame
        The keys, the replication (blocks one after the other), the letter shown, and the outcome.

    Examples
    --------
    >>> rows = pl.LazyFrame({"item_id": ["q"], "replication": [0], "verdict": ["B"]})
    >>> read_labels(rows, ["item_id", "replication", "verdict"], keys=["item_id"], block=0).rows()
    [('q', {'block': None, 'replication': 0}, 'B', 'scored')]
    """
    rows = rows.filter(is_judge(columns))
    in_block = pl.lit(None, pl.Int64)
    if "block" in columns:
        in_block = pl.col("block").cast(pl.Int64)
        if block != "all":
            rows = rows.filter(pl.col("block").fill_null(0) == block)
    shown = [pl.col(name).cast(pl.String) for name in ("label", "verdict") if name in columns]
    return rows.select(
        *keys,
        pl.struct(in_block.alias("block"), "replication").alias(_ROW),
        pl.coalesce(*shown, pl.lit(None, pl.String)).alias(_LABEL),
        outcome_column(columns).alias("outcome"),
    ).collect(engine="streaming")


def published_rows(group: Group, rows: pl.DataFrame, names: Sequence[str]) -> Iterator[Row]:
    """Compute the published estimator of one group.

    Parameters
    ----------
    group : Group
        The group.
    rows : pl.DataFrame
        Its rows, from :func:`read_labels`.
    names : sequence of str
        Some of `PUBLISHED`.

    Yields
    ------
    Row
        One a name, whatever is missing: the estimator has its own rule for that. ``undefined`` is
        "no_letter_codes" where verdicts are other than A to E, or correct and incorrect.

    Raises
    ------
    SweepError
        If factor_analyzer is not installed (extra ``legacy``).

    Examples
    --------
    >>> from judgerel_ray.reduce.matrix import unit_table
    >>> from judgerel_ray.reduce.nesting import nest_rows
    >>> counts = pl.DataFrame({"item_id": ["q"], "verdict": ["7"], "score": [None],
    ...                        "outcome": ["scored"], "n": [1]})
    >>> nested = nest_rows(counts, unit=["item_id"], kinds=["verdict", "score", "outcome"])
    >>> table = unit_table(nested, unit=["item_id"], cluster=["item_id"])
    >>> group = Group(table=table, unit=("item_id",), level="nominal", n_categories=1,
    ...               any_without_verdict=False)
    >>> labels = read_labels(pl.LazyFrame({"item_id": ["q"], "replication": [0],
    ...                                    "verdict": ["7"]}),
    ...                      ["item_id", "replication", "verdict"], keys=["item_id"], block=0)
    >>> [row["undefined"] for row in published_rows(group, labels, ["schroeder2024_alpha"])]
    ['no_letter_codes']
    """
    from judgerel_ray.legacy import WARNING, schroeder2024, schroeder2024_noise_floor

    codes = code_table(rows, unit=group.unit)
    found = None if codes is None else schroeder2024(codes)
    noise = None if codes is None else schroeder2024_noise_floor(codes, observed=found)
    for name in names:
        omega = name.endswith("omega")
        null = (noise.omega if omega else noise.alpha) if noise else None
        words = ["schroeder2024"]
        if found:
            words.append(
                f"{found.n_varying} of {found.n_questions} questions vary, {found.n_constant} that "
                f"do not count as 1, {found.n_silent} never answered are dropped"
            )
        if omega and found and found.n_improper:
            words.append(f"{found.n_improper} uniquenesses below 0")
        words += [f"floor of {null.method}"] if null and null.method else []
        why = (found.omega_undefined if omega else found.alpha_undefined) if found else None
        yield {
            "coefficient": name,
            "value": (found.omega if omega else found.alpha) if found else None,
            "low": None,
            "high": None,
            "noise_floor": null.mean if null else None,
            "noise_floor_sd": null.sd if null else None,
            "p_noise": null.p if null else None,
            "noise": null.p > NOISE_ABOVE if null and null.p is not None else None,
            "measurement": "interval",
            "missing": None,
            "n_categories": None,
            "n_missing": 0 if codes is None else int(np.isnan(codes).sum()),
            "estimator": "; ".join([*words, f"WARNING: {WARNING}"]),
            "undefined": why if found else "no_letter_codes",
            **group.basis,
        }


def code_table(rows: pl.DataFrame, *, unit: Sequence[str]) -> NDArray[np.float64] | None:
    """Lay out the codes of one group, or None where a verdict has no code.

    Parameters
    ----------
    rows : pl.DataFrame
        From :func:`read_labels`.
    unit : sequence of str
        Columns that make a unit.

    Returns
    -------
    ndarray of float, shape (n_replications, n_units), or None
        Replications and units sorted; NaN where there is no row.

    Examples
    --------
    >>> rows = pl.LazyFrame({"item_id": ["q", "q", "r"], "replication": [1, 0, 0],
    ...                      "verdict": ["B", "A", None]})
    >>> labels = read_labels(rows, ["item_id", "replication", "verdict"], keys=["item_id"], block=0)
    >>> code_table(labels, unit=["item_id"]).tolist()
    [[1.0, 6.0], [2.0, nan]]
    """
    from judgerel_ray.legacy import codes_from_verdicts

    shown = rows[_LABEL].drop_nulls().str.to_lowercase().unique()
    words = not shown.is_empty() and set(shown) <= {"correct", "incorrect"}
    if "protocol" in rows.columns:
        words |= set(rows["protocol"]) == {"correctness"}
    try:
        codes = codes_from_verdicts(
            rows[_LABEL].to_list(),
            rows["outcome"].to_list(),
            coding="correctness" if words else "letters",
        )
    except ValueError:
        return None
    place = [
        rows.select(columns).join(
            rows.select(columns).unique().sort(columns).with_row_index("__place"),
            on=columns, nulls_equal=True, maintain_order="left",
        )["__place"]
        for columns in ([_ROW], list(unit))
    ]  # fmt: skip
    shape = [int(places.max() or 0) + 1 for places in place]  # type: ignore[arg-type]
    table = np.full(shape, np.nan)
    table[place[0].to_numpy(), place[1].to_numpy()] = codes
    return table
