"""Systems compared, in lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from judgerel_ray.report.panel_text import costing, unit_words
from judgerel_ray.report.preference import preference_text
from judgerel_ray.report.selection_text import ends_of
from judgerel_ray.report.terminal import plain_table
from judgerel_ray.report.words import Row, interval, number, p_value, reason


def systems_text(tables: Mapping[str, pl.DataFrame]) -> str:
    """How systems compare on the questions they share, a block a table.

    Parameters
    ----------
    tables : mapping of str to DataFrame
        Of :class:`judgerel_ray.reduce.systems_compared.SystemComparison`.

    Examples
    --------
    >>> systems_text({"pairs": pl.DataFrame()})
    'no two systems to compare'
    """
    if tables["pairs"].is_empty():
        return "no two systems to compare"
    blocks = [
        _pairs(tables["pairs"].to_dicts()),
        _matched(tables["matched_cost"].to_dicts()),
        preference_text(tables["self_preference"].to_dicts()),
    ]
    return "\n\n".join(block for block in blocks if block)


def _pairs(rows: Sequence[Row]) -> str:
    """Systems two by two."""
    lines = [
        [
            str(row["first"]), str(row["second"]), f"{row['n_questions']:,}",
            _only(row, "first_only"), _only(row, "second_only"), number(row["difference"]),
            interval(row), p_value(row["p"]), p_value(row["p_holm"]),
            number(row["error_difference"]), ends_of(row, "error"), p_value(row["error_p_holm"]),
        ]
        for row in rows
    ]  # fmt: skip
    heads = [
        "first", "second", "questions", "first only", "second only", "second - first", "95 %",
        "p", "Holm", "wrong at equal acceptance", "95 %", "Holm",
    ]  # fmt: skip
    how = {
        "first": "the first reply to each question",
        "majority": "the majority of the replies to each question",
    }[str(rows[0]["answer"])]
    n = rows[0]["n_comparisons"]
    return (
        f"Accuracy on the questions both were asked, joined by question; {how}.\n"
        f"{plain_table(heads, lines)}\n"
        "first only, second only: questions that one alone got right (exact McNemar). Wrong at "
        "equal acceptance: mean\ndifference of the share wrong over the shares accepted that both "
        "reach, of all replies, questions drawn anew for both.\n"
        f"Holm: over these {n} comparisons. The best of several systems looks better than it is: "
        "pick on some questions, tell on others."
    )


def _matched(rows: Sequence[Row]) -> str:
    """Judges against the same cost."""
    if not rows:
        return ""
    lines = []
    for row in rows:
        if row["undefined"] and row["difference"] is None:
            lines.append([str(row["second"]), str(row["baseline"]), reason(row["undefined"])])
            continue
        votes = f"{row['votes']} of {row['votes_wanted']}" if row["baseline"] == "votes" else "1"
        lines.append(
            [
                str(row["second"]), str(row["baseline"]), str(row["first"]), votes,
                costing(row["first_cost"]), costing(row["second_cost"]),
                number(row["difference"]), interval(row), p_value(row["p"]),
                p_value(row["p_holm"]),
            ]
        )  # fmt: skip
    heads = [
        "judge", "baseline", "model", "replies", "its cost", "judge's cost", "judge - baseline",
        "95 %", "p", "Holm",
    ]  # fmt: skip
    padded = [line + [""] * (len(heads) - len(line)) for line in lines]
    return (
        f"The same cost spent otherwise ({unit_words(rows[0])}; a judge pays for the answers it "
        f"compares).\n{plain_table(heads, padded)}\n"
        "single: the best model alone, asked once. votes: its majority of as many replies as the "
        "judge costs (had of wanted).\nThe model is the best on these very questions, which "
        "favours the baseline."
    )


def _only(row: Row, name: str) -> str:
    """A count of questions; a dash where questions have several answers."""
    return "-" if row[name] is None else f"{row[name]:,}"
