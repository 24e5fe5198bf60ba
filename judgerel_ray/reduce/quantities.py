"""Rows of one quantity each: its value, its interval, how many it rests on, and how it was had."""

from __future__ import annotations

import polars as pl

QUANTITY = {
    "quantity": pl.String(),
    "threshold": pl.Float64(),
    "value": pl.Float64(),
    "low": pl.Float64(),
    "high": pl.Float64(),
    "k": pl.Int64(),
    "n": pl.Int64(),
    "estimator": pl.String(),
    "undefined": pl.String(),
}
"""Columns of a quantity: ``low`` and ``high`` are 95 %, ``k`` of ``n`` where it is a share."""


def quantity_row(
    name: str,
    found: object = None,
    *,
    value: float | None = None,
    n: int | None = None,
    estimator: str | None = None,
    undefined: str | None = None,
    threshold: float | None = None,
) -> dict[str, object]:
    """Lay out one quantity.

    Parameters
    ----------
    name : str
        Of the quantity.
    found : object, optional
        What has value, low and high, and k and n where it is a share.
    value, n, estimator, undefined
        What `found` does not tell.
    threshold : float, optional
        Of the labels it is about.

    Examples
    --------
    >>> quantity_row("aurc", value=0.25, n=8)["value"]
    0.25
    """
    return {
        "quantity": name,
        "threshold": threshold,
        "value": getattr(found, "value", value),
        "low": getattr(found, "low", None),
        "high": getattr(found, "high", None),
        "k": getattr(found, "k", None),
        "n": getattr(found, "n", n),
        "estimator": estimator,
        "undefined": undefined,
    }
