"""How coefficients stand to tolerances and verbal bands, and questions one by one, as text."""

from __future__ import annotations

import polars as pl

from judgerel_ray.report.terminal import plain_table
from judgerel_ray.report.words import (
    cell,
    coefficient_name,
    estimate,
    group_columns,
    number,
    reason,
)


def tolerance_text(coefficients: pl.DataFrame, *, source: str = "") -> str:
    """Write the coefficients that have a tolerance or a band, one line each; nothing without.

    Parameters
    ----------
    coefficients : pl.DataFrame
        With the columns of :func:`judgerel_ray.reduce.with_tolerance`, of
        :func:`judgerel_ray.reduce.with_bands`, or of both.
    source : str
        Who set the tolerances.

    Examples
    --------
    >>> rows = pl.DataFrame({"judge": ["j"], "coefficient": ["flip_rate"], "missing": ["drop"],
    ...                      "measurement": ["nominal"], "value": [0.03], "low": [0.01],
    ...                      "high": [0.04], "undefined": [None], "tolerance": [0.05],
    ...                      "standing": ["meets"]})
    >>> print(tolerance_text(rows))
    The whole interval decides, never the point:
    judge  coefficient  no verdict  value [95 %]          tolerance  standing
    j      flip rate    drop        0.030 [0.010, 0.040]  0.05       meets
    """
    asked = [name for name in ("standing", "band") if name in coefficients.columns]
    if not asked:
        return ""
    rows = coefficients.filter(pl.any_horizontal(pl.col(name).is_not_null() for name in asked))
    groups = group_columns(coefficients)
    tolerated = ["tolerance", "standing"] if "standing" in asked else []
    shown = [*tolerated, *(["band"] if "band" in asked else [])]
    lines = [
        [
            *(cell(row[name]) for name in groups),
            coefficient_name(row),
            cell(row["missing"]),
            estimate(row),
            *(cell(row[name]) for name in shown),
        ]
        for row in rows.iter_rows(named=True)
    ]
    heads = [*groups, "coefficient", "no verdict", "value [95 %]", *shown]
    said = f"Tolerances of {source}. " if source and tolerated else ""
    return f"{said}The whole interval decides, never the point:\n{plain_table(heads, lines)}"


def questions_text(questions: pl.DataFrame) -> str:
    """Write accuracy and agreement of every question, one line each.

    Parameters
    ----------
    questions : pl.DataFrame
        From :func:`judgerel_ray.reduce.question_table`.

    Examples
    --------
    >>> rows = pl.DataFrame({"item_id": ["q"], "n_judgments": [3], "accuracy": [1.0],
    ...                      "low": [0.292], "high": [1.0], "percent_agreement": [1.0],
    ...                      "agreement_right": [1.0], "agreement_wrong": [0.0],
    ...                      "majority_right": [1.0], "undefined": [None]})
    >>> print(questions_text(rows))
    item_id  judgments  accuracy [95 %]       agreement  on right  on wrong  majority right  remark
    q        3          1.000 [0.292, 1.000]  1.000      1.000     0.000     1.000
    """
    groups = [*questions.columns[: questions.columns.index("item_id")], "item_id"]
    numbers = ("percent_agreement", "agreement_right", "agreement_wrong", "majority_right")
    lines = [
        [
            *(cell(row[name]) for name in groups),
            cell(row["n_judgments"]),
            "-"
            if row["accuracy"] is None
            else estimate({**row, "value": row["accuracy"], "undefined": None}),
            *(number(row[name]) for name in numbers),
            reason(row["undefined"]) if row["undefined"] else "",
        ]
        for row in questions.iter_rows(named=True)
    ]
    heads = [
        *groups, "judgments", "accuracy [95 %]", "agreement", "on right", "on wrong",
        "majority right", "remark",
    ]  # fmt: skip
    return plain_table(heads, lines)
