"""Selection among the answers of systems, in lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from judgerel_ray.report.terminal import plain_table
from judgerel_ray.report.words import NOISE, Row, interval, number, reason

FEW = (
    "Few wrong (or right) answers: fewer than ten questions have one, and how confidence ranks "
    "rests on them."
)
"""What the flag of a ranking says."""
_STEPS = (0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
_EACH = "\nThe chance is of each line by itself: the best of several lines has none."
_REJECTED = (
    "A reply without a verdict, or without a confidence, is rejected: never accepted, and counted "
    "in every denominator."
)


def selection_text(tables: Mapping[str, pl.DataFrame]) -> str:
    """What selection is worth, a block a table.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        Of :class:`judgerel_ray.reduce.selection.Selection`.

    Examples
    --------
    >>> selection_text({"systems": pl.DataFrame()})
    'no answer whose right answer is known'
    """
    systems = tables["systems"]
    if systems.is_empty():
        return "no answer whose right answer is known"
    blocks = [
        _accuracy(systems.unique("system", keep="first", maintain_order=True).to_dicts()),
        _ranking(systems.filter(pl.col("confidence").is_not_null()).to_dicts()),
        _acceptance(tables["acceptance"]),
        _guarantees(tables["guarantees"].to_dicts()),
        _REJECTED,
    ]
    return "\n\n".join(block for block in blocks if block)


def accuracy_cells(row: Row) -> list[str]:
    """Write a system's accuracy: right of all, share, interval, chance, unread.

    Examples
    --------
    >>> accuracy_cells({"n_right": 3, "n_answers": 4, "accuracy": 0.75, "low": 0.2, "high": 1.0,
    ...                 "noise_floor": 0.25, "noise": True, "p_noise": 0.3, "n_unread": 0})
    ['3 of 4', '0.750', '[0.200, 1.000]', '0.250, not distinguishable from noise', '0']
    """
    by_chance = number(row["noise_floor"]) + (f", {NOISE}" if row["noise"] else "")
    return [
        f"{row['n_right']:,} of {row['n_answers']:,}",
        number(row["accuracy"]),
        interval(row),
        by_chance,
        f"{row['n_unread']:,}",
    ]


def ranking_cells(row: Row) -> list[str]:
    """Write how a confidence ranks: AUROC, AURC, calibration, Brier, rejected.

    Examples
    --------
    See ``tests/cli/test_selection.py``.
    """
    ranked = number(row["auroc"]) + (f", {NOISE}" if row["auroc_noise"] else "")
    if isinstance(row["auroc"], float) and row["auroc"] < 0.5 and row["auroc_noise"] is False:
        ranked += ", surer of wrong answers"
    if row["few"]:
        ranked += f", {reason(row['few'])} answers"
    if row["auroc"] is None and row["undefined"]:
        ranked = f"- ({reason(row['undefined'])})"
    return [
        ranked,
        ends_of(row, "auroc"),
        number(row["aurc"]),
        ends_of(row, "aurc"),
        number(row["aurc_floor"]),
        f"{number(row['ece'])} ({number(row['ece_floor'])})",
        f"{number(row['brier'])} ({number(row['brier_floor'])})",
        f"{row['n_rejected']:,}",
    ]


RANKING_HEADS = (
    "AUROC", "95 %", "AURC", "95 %", "of no use", "ECE (calibrated)", "Brier (by chance)",
    "rejected",
)  # fmt: skip
"""Heads of :func:`ranking_cells`."""


def _accuracy(rows: Sequence[Row]) -> str:
    """Accuracy of every system."""
    lines = [[str(row["system"]), *accuracy_cells(row)] for row in rows]
    heads = ["system", "right", "accuracy", "95 %", "by chance", "unread"]
    questions = sorted({int(str(row["n_questions"])) for row in rows})
    span = f"{questions[0]:,}" if len(questions) == 1 else f"{questions[0]:,} to {questions[-1]:,}"
    told = f"Accuracy if every answer is accepted, of {span} questions; a reply unread is not right"
    left = sum(int(str(row["n_without_gold"])) for row in rows)
    more = f"; {left:,} answers to questions of unknown gold left out" if left else ""
    return f"{told}{more}.\n{plain_table(heads, lines)}"


def _ranking(rows: Sequence[Row]) -> str:
    """How well confidences rank and what they mean."""
    if not rows:
        return "No answer has a confidence: nothing says which to accept."
    lines = [[str(row["system"]), str(row["confidence"]), *ranking_cells(row)] for row in rows]
    table = plain_table(["system", "confidence", *RANKING_HEADS], lines)
    return (
        "Confidence: does it rank right answers above wrong ones, and mean what it says?\n"
        f"{table}\n"
        "AUROC to Brier are of the answers that are not rejected; of no use: the AURC of a "
        "confidence\nthat tells nothing of them. ECE: in "
        f"{rows[0]['n_bins']} bins of equal width; beside it what calibrated confidence would show."
        + (f"\n{FEW}" if any(row["few"] for row in rows) else "")
    )


def _acceptance(acceptance: pl.DataFrame) -> str:
    """Accuracy among the accepted, near round shares accepted."""
    lines = []
    for (system, kind), part in acceptance.group_by("system", "confidence", maintain_order=True):
        rows = part.to_dicts()
        near = {
            min(range(len(rows)), key=lambda t, step=step: abs(rows[t]["acceptance"] - step))  # type: ignore[misc]
            for step in _STEPS
        }
        for t in sorted(near):
            row = rows[t]
            lines.append(
                [
                    str(system), str(kind), f"{row['threshold']:.4g}",
                    f"{row['n_accepted']:,} of {row['n_answers']:,}", number(row["acceptance"]),
                    number(row["accuracy"]), _turned(row, "low", "high"),
                    _turned(row, "band_low", "band_high"),
                ]
            )  # fmt: skip
    if not lines:
        return ""
    heads = ["system", "confidence", "from", "accepted", "share", "accuracy", "95 %", "band"]
    return (
        "Accepted from a confidence on (thresholds that occur, some of them).\n"
        f"{plain_table(heads, lines)}\n"
        "95 %: at this threshold by itself; band: at all thresholds together "
        f"({' or '.join(_bands(acceptance))})."
    )


def _bands(acceptance: pl.DataFrame) -> list[str]:
    """How the bands were made: of several answers a question in one way only."""
    names = [str(one).partition(" ")[0] for one in acceptance["band"]]
    return list(dict.fromkeys(one.partition("-")[0] for one in names))


def _guarantees(rows: Sequence[Row]) -> str:
    """Thresholds with a guarantee."""
    lines = []
    for row in rows:
        if row["threshold"] is None:
            found = [f"none ({reason(row['undefined'])})", "", "", ""]
        else:
            found = [
                f"{row['threshold']:.4g}", f"{row['n_accepted']:,} of {row['n_heldout']:,}",
                number(row["error"]), interval(row),
            ]  # fmt: skip
        lines.append([str(row["system"]), str(row["confidence"]), *found])
    if not lines:
        return ""
    first = rows[0]
    heads = ["system", "confidence", "from", "accepted of held out", "wrong", "95 %"]
    return (
        f"Threshold whose share wrong exceeds {first['risk']:g} with a chance of at most "
        f"{first['delta']:g}: learnt on {first['split']}, tried on the other half.\n"
        f"{plain_table(heads, lines)}" + (_EACH if len(lines) > 1 else "")
    )


def ends_of(row: Row, name: str) -> str:
    """Write the interval of a number of one name.

    Examples
    --------
    >>> ends_of({"auroc_low": 0.25, "auroc_high": 0.75}, "auroc")
    '[0.250, 0.750]'
    """
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return "" if low is None else f"[{number(low)}, {number(high)}]"


def _turned(row: Row, low: str, high: str) -> str:
    """The interval of an accuracy, from that of its error."""
    ends = (row[low], row[high])
    if not all(isinstance(end, float) for end in ends):
        return ""
    return f"[{1 - float(str(row[high])):.3f}, {1 - float(str(row[low])):.3f}]"
