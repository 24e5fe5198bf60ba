"""What confusion matrices say of single judgments, as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from judgerel_ray.analyses.confusion.people_text import MATCHED_NOTE, matched_text
from judgerel_ray.blocks.columns import plain_table, wrapped
from judgerel_ray.blocks.words import Row, group_label, number, numbers, reason

GROUP = ("judge", "benchmark", "template", "temperature", "mode")
NOTE = (
    "accuracy: share of the judge's own verdicts that are the right option (its gold, else the one "
    "label that most of its people gave; no_majority counts the items that have none, which are "
    "left out). Such a label is of people who agree: against people's agreement, hold the share of "
    "people matched, not accuracy. low, high: labels of uncertainty. Intervals are 95 %. Only rows "
    "marked optimistic were chosen on the judgments they are told of. Scores: AUROC 0.5 tells "
    "nothing; AURC is the share wrong, averaged over coverage; few wrong, or right: fewer than ten "
    "texts have such a judgment, and both numbers rest on them; tokens an item, computed for "
    "prompts (what the prefix cache gave left out, where the engine tells) and generated."
)


def uncertainty_text(tables: Mapping[str, pl.DataFrame]) -> str:
    """Write what uncertainty labels and scores are worth.

    Parameters
    ----------
    tables : mapping of str to pl.DataFrame
        As :meth:`judgerel_ray.analyses.confusion.tables.UncertaintyTables.printed`; those left out
        are not written.

    Examples
    --------
    >>> uncertainty_text({"worth": pl.DataFrame({"quantity": []})})
    'no confusion matrix has landed'
    """
    worth = tables["worth"]
    if worth.is_empty():
        return "no confusion matrix has landed"
    blocks = list(_worth(worth))
    if matched := list(matched_text(tables.get("against_people"))):
        blocks += [*matched, wrapped(MATCHED_NOTE)]
    blocks += [*_scores(tables.get("scores")), *_criteria(tables.get("labels"))]
    blocks += [*_transfers(tables.get("transfer")), *_people(tables.get("people"))]
    return "\n\n".join([*blocks, wrapped(NOTE)])


def _worth(worth: pl.DataFrame) -> Iterator[str]:
    """Quantities, a block for each group."""
    for title, rows in _blocks(worth):
        lines = [
            [quantity_name(row), *numbers(row), trials(row), str(row["estimator"] or "")]
            for row in rows
        ]
        heads = ["quantity", "value", "95 %", "of", "how"]
        yield f"{title}: {rows[0]['n_matrices']} matrices\n{plain_table(heads, lines)}"


def quantity_name(row: Row) -> str:
    """Name a quantity, with the threshold of the labels it is of.

    Examples
    --------
    >>> quantity_name({"quantity": "accuracy_low", "threshold": 0.7})
    'accuracy_low at 0.7'
    """
    at = row.get("threshold")
    return str(row["quantity"]) + ("" if at is None else f" at {at:g}")


def _scores(scores: pl.DataFrame | None) -> Iterator[str]:
    """Every score of a judgment, a block for each group."""
    if scores is None or scores.is_empty():
        return
    for title, rows in _blocks(scores):
        lines = [
            [
                str(row["score"]),
                str(row["surer"]),
                *around(row, "mean"),
                *(around(row, "auroc") if row["undefined"] is None else _why(row)),
                *around(row, "aurc"),
                str(row["n"]),
                number(row["tokens"], 0),
                reason(row["few"]) if row["few"] else "",
            ]
            for row in rows
        ]
        heads = [
            "score",
            "surer",
            "mean",
            "95 %",
            "AUROC",
            "95 %",
            "AURC",
            "95 %",
            "n",
            "tokens",
            "remark",
        ]
        yield f"{title}: scores\n{plain_table(heads, lines)}"


def _why(row: Row) -> list[str]:
    """Why there is no number."""
    return [f"- ({reason(row['undefined'])})", ""]


def _criteria(labels: pl.DataFrame | None) -> Iterator[str]:
    """Accuracy by label inside each criterion, where there are several."""
    if labels is None or labels["criterion"].null_count() == labels.height:
        return
    rows = labels.filter(pl.col("criterion").is_not_null(), pl.col("kind") != "in-sample")
    for title, mine in _blocks(rows):
        lines = [
            [str(row["criterion"]), *(share(row, name) for name in LABEL_SHARES), str(row["how"])]
            for row in mine
        ]
        heads = ["criterion", *LABEL_SHARES.values(), "how"]
        yield f"{title}: by criterion\n{plain_table(heads, lines)}"


LABEL_SHARES = {
    "low": "accuracy of low",
    "high": "accuracy of high",
    "all": "accuracy of all",
    "share": "share of low",
}
"""Columns of a table of labels, in words."""


def share(row: Row, name: str) -> str:
    """Write a share with its interval, and of how many.

    Examples
    --------
    >>> share({"low": 0.5, "low_from": 0.0126, "low_to": 0.9874, "n_low": 2}, "low")
    '0.500 [0.013, 0.987] of 2'
    """
    if row[name] is None:
        return f"- of {row[f'n_{name}']}"
    ends = ""
    if row[f"{name}_from"] is not None:
        ends = f" [{number(row[f'{name}_from'])}, {number(row[f'{name}_to'])}]"
    return f"{number(row[name])}{ends} of {row[f'n_{name}']}"


def _transfers(transfer: pl.DataFrame | None) -> Iterator[str]:
    """Thresholds carried: rows are where they were chosen, columns where they are used."""
    if transfer is None or transfer.is_empty():
        return
    for (across, within), part in transfer.group_by("across", "within", maintain_order=True):
        heads, lines = transfer_cells(part.to_dicts())
        yield (
            f"threshold chosen in the row, used in the column: accuracy of low, and share of low "
            f"(across {across}; {within})\n{plain_table(['chosen in', *heads], lines)}"
        )


def transfer_cells(rows: Sequence[Row]) -> tuple[list[str], list[list[str]]]:
    """Lay one comparison out as a square: heads, and a line for each place of choice.

    Examples
    --------
    >>> row = {"source": "a", "target": "a", "threshold": None, "cross_fitted": True,
    ...        "accuracy_low": 0.5, "low": 0.01, "high": 0.99, "n_low": 2, "share_low": 0.2}
    >>> transfer_cells([row])
    (['a'], [['a', '0.500 [0.010, 0.990] of 2, share 0.200 (cross-fitted)']])
    """
    targets = list(dict.fromkeys(str(row["target"]) for row in rows))
    lines: dict[str, list[str]] = {}
    for row in rows:
        at = row["threshold"]
        how = "cross-fitted" if row["cross_fitted"] else f"at {number(at, 2)}"
        ends = "" if row["low"] is None else f" [{number(row['low'])}, {number(row['high'])}]"
        told = f"{number(row['accuracy_low'])}{ends} of {row['n_low']}"
        line = lines.setdefault(str(row["source"]), [str(row["source"])])
        line.append(f"{told}, share {number(row['share_low'])} ({how})")
    return targets, list(lines.values())


def _people(people: pl.DataFrame | None) -> Iterator[str]:
    """How far people agree among themselves."""
    if people is None or people.is_empty():
        return
    lines = [people_line(row) for row in people.iter_rows(named=True)]
    heads = ["", "value", "95 %", "items", "ratings"]
    yield f"how often two people give the same rating\n{plain_table(heads, lines)}"


def people_line(row: Row) -> list[str]:
    """Write how far people agree on one benchmark.

    Examples
    --------
    >>> people_line({"benchmark": "b", "criterion": None, "raters": "expert", "value": 0.5,
    ...              "low": None, "high": None, "undefined": None, "n_items": 9, "n_ratings": 18})
    ['b, expert', '0.500', '', '9', '18']
    """
    named = group_label(row, ["benchmark", "raters", "criterion"])
    return [named, *numbers(row), str(row["n_items"]), str(row["n_ratings"])]


def _blocks(frame: pl.DataFrame) -> list[tuple[str, list[Row]]]:
    """Rows of each group under its name."""
    found: dict[str, list[Row]] = {}
    for row in frame.iter_rows(named=True):
        found.setdefault(group_label(row, GROUP), []).append(row)
    return list(found.items())


def around(row: Row, name: str) -> list[str]:
    """Write a number and its interval of one name.

    Examples
    --------
    >>> around({"mean": 0.5, "mean_low": 0.25, "mean_high": 0.75}, "mean")
    ['0.500', '[0.250, 0.750]']
    """
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return [number(row[name]), "" if low is None else f"[{number(low)}, {number(high)}]"]


def trials(row: Row) -> str:
    """Tell how many of how many, where that is known.

    Examples
    --------
    >>> trials({"k": 1, "n": 2}), trials({"k": None, "n": 2}), trials({"k": None, "n": None})
    ('1 of 2', '2', '')
    """
    if row["k"] is not None:
        return f"{row['k']} of {row['n']}"
    return "" if row["n"] is None else str(row["n"])
