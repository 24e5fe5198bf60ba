"""What probabilities say, as text: limits of coefficients, variance of reasonings.

Stable verdicts of adaptive runs, and probability-weighted scores: as lines, and as sections of the
report.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill

import polars as pl

from judgerel_ray.blocks.blocks import (
    Block,
    Paragraph,
    Table,
    key_columns,
    row_columns,
)
from judgerel_ray.blocks.columns import plain_table, shared, told_groups
from judgerel_ray.blocks.words import Row, cell, group_label, number, numbers, percent

_TOLD = ("coefficient", "measurement", "value", "low", "high", "n_items", "n_categories",
         "undecided", "estimator", "undefined")  # fmt: skip


def limits_text(limits: pl.DataFrame) -> str:
    """Coefficients in the limit of infinitely many replications, a block for each group.

    Parameters
    ----------
    limits : DataFrame
        As :func:`judgerel_ray.analyses.distributions.distributions.limit_table`.

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
    ending = "Infinitely many replications, nothing sampled; intervals over questions."
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
        As :func:`judgerel_ray.analyses.distributions.reasonings.reasoning_table`.

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


_READ = (
    "Every question was asked on until its most frequent verdict was settled, or the most allowed "
    "was reached: then it has no stable verdict. Shares are of the questions asked to the end. A "
    "settled verdict is wrong about the judge's most frequent one with at most the chance stated, "
    "however often it was looked at. Coefficients rest on the first replications alone, which "
    "every question has: later ones were asked where the first disagreed."
)


def settled_text(summary: pl.DataFrame) -> str:
    """How many questions have a stable verdict, and what that took.

    Parameters
    ----------
    summary : DataFrame
        As :func:`judgerel_ray.analyses.distributions.settled.settled_summary`.

    Examples
    --------
    >>> settled_text(pl.DataFrame())
    'nothing was asked adaptively'
    """
    if summary.is_empty():
        return "nothing was asked adaptively"
    groups = summary.columns[: summary.columns.index("conditions")]
    rows = summary.to_dicts()
    heads = [*groups, *_HEADS]
    lines = [[*(cell(row[name]) for name in groups), *_cells(row)] for row in rows]
    return f"{plain_table(heads, lines)}\n\n{_READ}"


def settled_section(summary: pl.DataFrame) -> list[Block]:
    """The same as a table of the page; nothing where nothing was asked adaptively.

    Examples
    --------
    >>> settled_section(pl.DataFrame())
    []
    """
    if summary.is_empty():
        return []
    rows = summary.to_dicts()
    groups = summary.columns[: summary.columns.index("conditions")]
    columns = [
        *key_columns(rows, groups),
        *row_columns(_HEADS, [_cells(row) for row in rows]),
    ]
    return [Table("Questions with a stable verdict", columns), Paragraph(_READ, "soft")]


_HEADS = (
    "asked",
    "stable verdict",
    "share [95 %]",
    "stably none",
    "no stable verdict",
    "failed",
    "still open",
    "replications",
    "of the most",
)


def _cells(row: Row) -> list[str]:
    """A group's numbers in words."""
    share = "-" if row["settled_share"] is None else percent(row["settled_share"])
    if row["low"] is not None:
        share += f" [{percent(row['low'])}, {percent(row['high'])}]"
    return [
        f"{row['conditions']:,}",
        f"{row['settled']:,}",
        share,
        f"{row['no_verdict']:,}",
        f"{row['unstable']:,}",
        f"{row['failed']:,}",
        f"{row['open']:,}",
        f"{row['replications']:,}",
        "-" if row["used"] is None else percent(row["used"]),
    ]


_WIDTH = 100
_WEIGHTED_HEADS = (
    "mean score", "least", "greatest", "replies with a score", "certain width, mean", "largest",
    "responses", "items",
)  # fmt: skip
_READ_WEIGHTED = (
    "The score of a response is the mean of the scale's values, each weighted by its probability: "
    "what the mean of replications would tend to if they never ended, replies without a score left "
    "out. Words count from 0. Certain width: how far the score could still move, whichever way the "
    "probability falls that was not followed to a rating."
)


def weighted_text(summary: pl.DataFrame) -> str:
    """Write a summary of probability-weighted scores.

    Parameters
    ----------
    summary : DataFrame
        As :func:`judgerel_ray.analyses.distributions.weighted.weighted_summary`.

    Examples
    --------
    >>> weighted_text(pl.DataFrame())
    'no rating has been explored'
    """
    if summary.is_empty():
        return "no rating has been explored"
    names = told_groups(summary, "n_items", always=("scale",))
    lines = [
        [*(cell(row[name]) for name in names), *_weighted_cells(row)]
        for row in summary.iter_rows(named=True)
    ]
    rows = plain_table([*names, *_WEIGHTED_HEADS], lines)
    read = fill(_READ_WEIGHTED, _WIDTH)
    return f"probability-weighted scores\n{shared(summary, 'n_items')}{rows}\n\n{read}"


def weighted_body(summary: pl.DataFrame) -> list[Block]:
    """Write the page's section on probability-weighted scores; empty where there are none.

    Parameters
    ----------
    summary : DataFrame
        As :func:`judgerel_ray.analyses.distributions.weighted.weighted_summary`.

    Examples
    --------
    >>> weighted_body(pl.DataFrame())
    []
    """
    if summary.is_empty():
        return []
    rows = summary.to_dicts()
    lines = [_weighted_cells(row) for row in rows]
    columns = [
        *key_columns(rows, summary.columns[: summary.columns.index("n_items")]),
        *row_columns(_WEIGHTED_HEADS, lines),
    ]
    rated = Table("Probability-weighted scores of responses", columns, cards=True)
    return [Paragraph(_READ_WEIGHTED), rated]


def _weighted_cells(row: Row) -> list[str]:
    """One group."""
    return [
        *(number(row[name]) for name in ("mean", "least", "greatest")),
        percent(row["mass"]),
        *(_tiny(row[name]) for name in ("width", "largest_width")),
        f"{row['n_responses']:,}",
        f"{row['n_items']:,}",
    ]


def _tiny(value: object) -> str:
    """A width that is often next to nothing."""
    if not isinstance(value, int | float):
        return "-"
    return "0" if value < 1e-9 else f"{value:.2g}"
