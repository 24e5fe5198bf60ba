"""Numbers and reasons as a reader meets them: rounded here and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import polars as pl

NOISE = "not distinguishable from noise"
NOISE_SHARE = 0.05
_MISSING = {
    "category": "counts as a verdict",
    "drop": "left out",
    "bounds": "worst to best case",
}
_NAMES = {
    "krippendorff_alpha": "Krippendorff's alpha",
    "percent_agreement": "agreement",
    "fleiss_kappa": "Fleiss' kappa",
    "gwet_ac1": "Gwet's AC1",
    "brennan_prediger": "Brennan-Prediger",
    "flip_rate": "flip rate",
    "valid_rate": "valid verdicts",
}

Row = Mapping[str, object]


def number(value: object, digits: int = 3) -> str:
    """Round a number; a dash where there is none.

    Examples
    --------
    >>> number(0.25237), number(None)
    ('0.252', '-')
    """
    # Adding 0 makes a rounded -0 a 0.
    return f"{round(value, digits) + 0:.{digits}f}" if isinstance(value, int | float) else "-"


def percent(value: object) -> str:
    """Round a share to whole percent, keeping what is not quite nothing or all apart from it.

    Examples
    --------
    >>> percent(0.6469), percent(0.9996), percent(1.0)
    ('65 %', '> 99 %', '100 %')
    """
    if not isinstance(value, (int, float)):
        return "-"
    if 0 < value < 0.005:
        return "< 1 %"
    return "> 99 %" if 0.995 <= value < 1 else f"{100 * value:.0f} %"


def estimate(row: Row) -> str:
    """Give a coefficient with its interval, or the reason why there is none.

    Examples
    --------
    >>> estimate({"value": 0.2524, "low": 0.1694, "high": 0.3584, "undefined": None})
    '0.252 [0.169, 0.358]'
    >>> estimate({"value": None, "low": None, "high": None, "undefined": "single_replication"})
    'undefined: single replication'
    """
    if row["value"] is None and row["low"] is not None:
        return f"[{number(row['low'])}, {number(row['high'])}]"
    if row["undefined"]:
        return f"undefined: {reason(row['undefined'])}"
    if row["low"] is None:
        return f"{number(row['value'])} [no interval]"
    return f"{number(row['value'])} [{number(row['low'])}, {number(row['high'])}]"


def reason(undefined: object) -> str:
    """Write a reason in words.

    Examples
    --------
    >>> reason("no_variance")
    'no variance'
    """
    return str(undefined).replace("_", " ")


def remark(row: Row) -> str:
    """Say what a reader must know about a coefficient besides its value.

    Examples
    --------
    >>> remark({"noise": True, "estimator": "alpha; few informative questions"})
    'not distinguishable from noise; few informative questions'
    """
    said = [NOISE] if row["noise"] else []
    estimator = str(row["estimator"])
    told = ("few ", "no interval", "Heywood case", "WARNING")
    said += [part for part in estimator.split("; ") if part.startswith(told)]
    return "; ".join(said)


def coefficient_name(row: Row) -> str:
    """Name a coefficient, with its level where that is not nominal.

    Examples
    --------
    >>> coefficient_name({"coefficient": "krippendorff_alpha", "measurement": "interval"})
    "Krippendorff's alpha (interval)"
    """
    name = _NAMES.get(str(row["coefficient"]), reason(row["coefficient"]))
    level = row["measurement"]
    return name if level in (None, "nominal") else f"{name} ({level})"


def missing_policy(row: Row) -> str:
    """Say what a reply without a verdict counted as.

    Examples
    --------
    >>> missing_policy({"coefficient": "flip_rate", "missing": "drop"})
    'left out'
    """
    if row["coefficient"] == "valid_rate":
        return "-"
    return _MISSING.get(str(row["missing"]), "-")


def group_columns(coefficients: pl.DataFrame) -> tuple[str, ...]:
    """Name the columns that make a group: those before the coefficient.

    Examples
    --------
    >>> group_columns(pl.DataFrame({"judge": ["a"], "coefficient": ["x"]}))
    ('judge',)
    """
    names = coefficients.columns
    return tuple(names[: names.index("coefficient")])


def group_label(row: Row, columns: Sequence[str]) -> str:
    """Name a group by its values, those that have none left out.

    Examples
    --------
    >>> group_label({"judge": "a", "scale": None, "temperature": 1.0}, ["judge", "scale",
    ...                                                                 "temperature"])
    'a, temperature 1'
    """
    said = {name: row[name] for name in columns if row[name] is not None}
    return ", ".join(
        cell(value) if isinstance(value, str) else f"{name.replace('_', ' ')} {cell(value)}"
        for name, value in said.items()
    )


def cell(value: object) -> str:
    """Write the value of a group's column.

    Examples
    --------
    >>> cell(1.0), cell(0.25), cell("bbh"), cell(None)
    ('1', '0.25', 'bbh', '-')
    """
    if value is None:
        return "-"
    return f"{value:g}" if isinstance(value, float) else str(value)


def headlines(coefficients: pl.DataFrame) -> tuple[str, ...]:
    """Read the agreement of every group aloud, replies without a verdict counting as one.

    Examples
    --------
    >>> row = {"judge": "a", "coefficient": "percent_agreement", "value": 0.647, "low": 0.563,
    ...        "high": 0.730, "noise_floor": 0.528, "p_noise": 0.001, "noise": False,
    ...        "missing": "category", "undefined": None}
    >>> said, chance = headlines(pl.DataFrame([row]))[0].split("; ")
    >>> said
    'a: asked again, this judge gives the same verdict 65 % of the time (56 % to 73 %)'
    >>> chance
    'its own verdicts dealt to the questions at random would agree 53 % of the time.'
    """
    columns = group_columns(coefficients)
    chosen = coefficients.filter(coefficient="percent_agreement").unique(
        columns or None, keep="first", maintain_order=True
    )
    return tuple(_headline(row, columns) for row in chosen.iter_rows(named=True))


def _headline(row: Row, columns: Sequence[str]) -> str:
    """One sentence on one group."""
    label = group_label(row, columns)
    who = f"{label}: " if label else ""
    if row["undefined"] == "single_replication":
        return f"{who}every question was asked once, so nothing shows how stable its verdicts are."
    if row["undefined"]:
        return f"{who}agreement is undefined: {reason(row['undefined'])}."
    ends = "" if row["low"] is None else f" ({percent(row['low'])} to {percent(row['high'])})"
    text = (
        f"{who}asked again, this judge gives the same verdict {percent(row['value'])} of the time"
        f"{ends}; its own verdicts dealt to the questions at random would agree "
        f"{percent(row['noise_floor'])} of the time."
    )
    if row["noise"]:
        text += f" That is {NOISE}: the question hardly matters to the verdict."
    elif cast(float, row["value"]) < cast(float, row["noise_floor"]):
        text += " It disagrees with itself more than chance would."
    return text
