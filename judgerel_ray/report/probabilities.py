"""What probabilities say, in lines: limits of endless replications, variance of reasonings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from judgerel_ray.report.terminal import plain_table
from judgerel_ray.report.uncertainty import numbers
from judgerel_ray.report.words import group_label

_TOLD = ("coefficient", "measurement", "value", "low", "high", "n_items", "n_categories",
         "undecided", "estimator", "undefined")  # fmt: skip


def limits_text(limits: pl.DataFrame) -> str:
    """Coefficients of endless replications, a block for each group.

    Parameters
    ----------
    limits : DataFrame
        As :func:`judgerel_ray.reduce.limits.limit_table`.

    Examples
    --------
    >>> limits_text(pl.DataFrame({"coefficient": []}))
    'no verdict distribution has landed'
    """
    if limits.is_empty():
        return "no verdict distribution has landed"
    blocks = []
    for title, rows in _blocks(limits, _TOLD):
        first = rows[0]
        basis = (
            f"{title}: {first['n_items']} questions, {first['n_categories']} categories, at most "
            f"{first['undecided']:.2g} of a question left open"
        )
        lines = [[_named(row), *numbers(row)] for row in rows]
        blocks.append(f"{basis}\n{plain_table(['coefficient', 'value', '95 %'], lines)}")
    ending = "Endless replications, nothing sampled; intervals over questions."
    if (limits["undefined"] == "temperature_0").any():
        ending += (
            "\nTemperature 0 draws nothing, so it has no agreement to measure: not scored as 1."
        )
    return "\n\n".join([*blocks, ending])


def reasoning_text(split: pl.DataFrame) -> str:
    """Where verdicts vary: between reasonings, or in the letter drawn after one.

    Parameters
    ----------
    split : DataFrame
        As :func:`judgerel_ray.reduce.reasonings.reasoning_table`.

    Examples
    --------
    >>> reasoning_text(pl.DataFrame({"ratio": []}))
    'no reply with probabilities at its verdict has landed'
    """
    if split.is_empty():
        return "no reply with probabilities at its verdict has landed"
    lines = []
    for row in split.iter_rows(named=True):
        parts = [row[name] for name in ("agreement", "reasoning", "verdict")]
        ends = {"value": row["ratio"], "low": row["ratio_low"], "high": row["ratio_high"]}
        lines.append(
            [
                group_label(row, ["judge", "benchmark", "temperature"]),
                *("-" if part is None else f"{part:.3f}" for part in parts),
                *numbers({**ends, "undefined": None}),
                str(row["n_questions"]),
                str(row["n_replications"]),
            ]
        )
    heads = ["", "agreement", "reasoning", "verdict", "ratio", "95 %", "questions", "replies"]
    return (
        f"{plain_table(heads, lines)}\n\n"
        "agreement + reasoning + verdict = 1: how often two replies agree, how much reasonings "
        "differ,\nand how much the verdict drawn after one does. ratio: reasonings needed, as a "
        "share of letters drawn, for the same error."
    )


def _named(row: Mapping[str, object]) -> str:
    """A coefficient, with its level where that is not nominal."""
    level = row["measurement"]
    return f"{row['coefficient']}{'' if level == 'nominal' else f' ({level})'}"


def _blocks(
    frame: pl.DataFrame, told: Sequence[str]
) -> list[tuple[str, list[Mapping[str, object]]]]:
    """Rows of each group under its name."""
    by = [name for name in frame.columns if name not in told]
    found: dict[str, list[Mapping[str, object]]] = {}
    for row in frame.iter_rows(named=True):
        found.setdefault(group_label(row, by), []).append(row)
    return list(found.items())
