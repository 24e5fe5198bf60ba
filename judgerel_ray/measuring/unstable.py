"""The questions on which a judge agrees least with itself, and what it replied to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import shorten
from typing import TypeAlias, cast

import polars as pl

from judgerel_ray.blocks.blocks import Block, Column, Folded, Paragraph, Table, counts, key_columns
from judgerel_ray.blocks.words import Row, cell, group_label, number, percent
from judgerel_ray.core import Scale
from judgerel_ray.counting.columns import is_judge
from judgerel_ray.counting.groups.grouping import TEMPERATURE, count_judgments
from judgerel_ray.counting.groups.tally import Tally
from judgerel_ray.counting.snapshot import Snapshot, unread_damage
from judgerel_ray.counting.verdicts.policy import FAILED, LABEL, SCORED, level_of_scale
from judgerel_ray.store import scan_completions

UNSTABLE = "The least stable questions"
"""Title of the section with the questions that a person should see."""
QuestionTexts = Mapping[tuple[str, str], str]
"""Texts of questions by benchmark and item_id."""
_LONGEST_QUESTION = 160
_EACH = 3  # replies of one verdict
_LONGEST = 600
RepliesByUnit: TypeAlias = Mapping[tuple[object, ...], pl.DataFrame]
"""Replies by unit: ``replication`` where recorded, ``verdict``, ``text`` where that is known."""


def least_stable(
    source: pl.LazyFrame | Tally,
    *,
    by: Sequence[str] | None = None,
    n: int = 20,
    scales: Mapping[str, Scale] | None = None,
) -> pl.DataFrame:
    """List the units whose replications agree least, an outcome without a verdict being a value.

    Ratings are listed apart, by how far they spread: 4 beside 5 is no pair that agrees, and near.

    One row a unit, verdicts before ratings, the least stable first: the group's columns, item_id,
    the facets recorded, ``agreement`` (share of agreeing pairs), ``n_replications``, ``verdicts``,
    a list of (value, share) from the most frequent on, ``rated`` and ``spread``, the standard
    deviation of its ratings in points (null of verdicts, and below two ratings). Units asked once
    are left out, and temperature 0: what wavers there is the serving.

    Examples
    --------
    >>> rows = {"item_id": ["q", "q", "r", "r"], "replication": [0, 1, 0, 1],
    ...         "verdict": ["A", "A", "B", "A"]}
    >>> least_stable(pl.LazyFrame(rows), n=1).select("item_id", "agreement").rows()
    [('r', 0.0)]
    """
    counted = count_judgments(source, by=by)
    unit = [*counted.groups, "item_id", *counted.facets]
    value = pl.when(SCORED).then(LABEL).otherwise(pl.format("({})", "outcome"))
    m = pl.col("n").sum()
    share = pl.struct(value=pl.col("value"), share=pl.col("n") / m)
    ties = pl.struct(-pl.col("n").cast(pl.Int64), "value")
    rows = counted.frame.filter(~FAILED)
    if TEMPERATURE in unit:
        rows = rows.filter((pl.col(TEMPERATURE) != 0).fill_null(True))
    units = (
        rows.with_columns(value=value)
        .group_by([*unit, "value"])
        .agg(pl.col("n").sum().cast(pl.Int64))
        .group_by(unit)
        .agg(
            agreement=(pl.col("n") * (pl.col("n") - 1)).sum() / (m * (m - 1)),
            n_replications=m,
            verdicts=share.sort_by(ties),
        )
        .filter(pl.col("n_replications") >= 2)
    )
    groups = rows.partition_by(counted.groups) if counted.groups else [rows]
    rated = [part for part in groups if level_of_scale(part, scales) != "nominal"]
    spreads = _unstable_rating_spreads(pl.concat(rated or [rows.clear()]), unit)
    units = units.join(spreads, on=unit, how="left", nulls_equal=True)
    units = units.with_columns(pl.col("rated").fill_null(value=False))
    verdicts = units.filter(~pl.col("rated")).sort(["agreement", *unit])
    ratings = units.filter("rated").sort([-pl.col("spread"), "agreement", *unit], nulls_last=True)
    return pl.concat([verdicts.head(n), ratings.head(n)])


def _unstable_rating_spreads(rows: pl.DataFrame, unit: Sequence[str]) -> pl.DataFrame:
    """The standard deviation of the ratings of every unit, null below two of them."""
    there = pl.col("score").is_not_null() & SCORED
    n, score = (pl.col(name).filter(there).cast(pl.Float64) for name in ("n", "score"))
    squares = (n * (score - (n * score).sum() / n.sum()) ** 2).sum()
    several = pl.when(n.sum() > 1).then((squares / (n.sum() - 1)).sqrt())
    return rows.group_by(unit).agg(rated=pl.lit(value=True).first(), spread=several)


def unstable_section(
    unstable: pl.DataFrame, groups: Sequence[str], questions: QuestionTexts | None = None
) -> list[Block]:
    """Tabulate the questions whose replications agree least, with what they said.

    Where `questions` has their texts, these name them, and their ids stand small beside.

    Examples
    --------
    >>> from judgerel_ray.measuring.unstable import least_stable
    >>> rows = pl.LazyFrame({"item_id": ["q", "q"], "replication": [0, 1], "verdict": ["A", "A"]})
    >>> unstable_section(least_stable(rows), [])[0].text
    'No question that was asked twice got two different verdicts.'
    """
    unsteady = unstable.filter(pl.col("agreement") < 1)
    if unsteady.is_empty():
        return [Paragraph("No question that was asked twice got two different verdicts.")]
    facets = unstable.columns[: unstable.columns.index("agreement")]
    # Facets that say nothing, or the same everywhere, would only widen the table.
    names = [
        name
        for name in facets
        if name == "item_id" or (name in groups or unstable[name].n_unique() > 1)
    ]
    return [
        _unstable_table(part.to_dicts(), names, questions or {}, rated=rated)
        for rated in (False, True)
        if not (part := unsteady.filter(pl.col("rated") == rated)).is_empty()
    ]


def _unstable_table(
    rows: Sequence[Row], names: Sequence[str], questions: QuestionTexts, *, rated: bool
) -> Table:
    """Questions of verdicts, or of ratings, the least stable first."""
    head, cells = "pairs that agree", [percent(row["agreement"]) for row in rows]
    if rated:
        head, cells = "standard deviation, points", [number(row["spread"]) for row in rows]
    columns = [
        *_unstable_row_names(rows, names, questions),
        Column(head=head, cells=cells, is_number=True),
        counts("replies", [row["n_replications"] for row in rows]),
        Column(head="verdicts", cells=[replied_shares(row) for row in rows], kind="prose"),
    ]
    if rated:
        return Table("Ratings of a question by how far replications spread", columns)
    return Table("Questions by the share of agreeing pairs of replications", columns)


def _unstable_row_names(
    rows: Sequence[Row], names: Sequence[str], questions: QuestionTexts
) -> list[Column]:
    """What names every row; a question by its text, where that is known."""
    keys = {name: column for name, column in zip(names, key_columns(rows, names), strict=True)}
    texts = [question_text(row, questions) for row in rows]
    if any(texts):
        ids = keys["item_id"].cells
        keys["item_id"] = Column(
            head="question",
            cells=[text or one for text, one in zip(texts, ids, strict=True)],
            small=[one if text else "" for text, one in zip(texts, ids, strict=True)],
            kind="prose",
        )
    return list(keys.values())


def question_text(row: Row, questions: QuestionTexts) -> str:
    """The text of a row's question, cut to a length that a table holds; nothing where unknown.

    Examples
    --------
    >>> question_text({"benchmark": "b", "item_id": "q1"}, {("b", "q1"): "Which is  larger?"})
    'Which is larger?'
    """
    text = questions.get((str(row.get("benchmark")), str(row["item_id"])), "")
    return shorten(text, _LONGEST_QUESTION, placeholder=" …")


def replied_shares(row: Row) -> str:
    """What the replications said, the most frequent first."""
    shares = cast("list[dict[str, object]]", row["verdicts"])
    return ", ".join(f"{share['value']} {percent(share['share'])}" for share in shares)


def replies_to(judged: Snapshot, unstable: pl.DataFrame) -> RepliesByUnit:
    """Read what was replied to questions, at most three replies of each verdict.

    Effects: reads, of a run also the texts of these replies.
    """
    units = unstable.filter(pl.col("agreement") < 1)
    names = units.columns[: units.columns.index("agreement")]
    if units.is_empty():
        return {}
    frame = judged.keyed
    schema = frame.collect_schema()
    lacking = {"verdict": pl.String(), "score": pl.Float64(), "outcome": pl.String()}
    rows = frame.filter(is_judge(schema.names())).with_columns(
        pl.lit(None, kind).alias(name) for name, kind in lacking.items() if name not in schema
    )
    if "outcome" not in schema:
        answered = pl.col("verdict").is_not_null() | pl.col("score").is_not_null()
        rows = rows.with_columns(
            outcome=pl.when(answered).then(pl.lit("scored")).otherwise(pl.lit("unparsed"))
        )
    kept = ["replication"] if "replication" in schema else []
    verdict = pl.when(SCORED).then(LABEL.cast(pl.String)).otherwise(pl.format("({})", "outcome"))
    rows = rows.join(units.lazy().select(names), on=names, how="semi", nulls_equal=True)
    keyed = ["key"] if judged.run is not None and "key" in schema else []
    found = rows.select(*names, *kept, *keyed, said=verdict).collect(engine="streaming")
    order = [*names, "said", *kept]
    found = found.sort(order).group_by([*names, "said"], maintain_order=True).head(_EACH)
    # A run whose numbers stand without a damaged file shows its verdicts alone.
    if judged.run is not None and keyed and unread_damage(judged.run) is None:
        texts = scan_completions(judged.run, columns=("key", "text"))
        wanted = texts.join(found.lazy().select("key"), on="key", how="semi").collect()
        found = found.join(wanted, on="key", how="left").sort(order)
    return found.drop(keyed).partition_by(names, as_dict=True, include_key=False)


def reply_blocks(
    replies: RepliesByUnit, unstable: pl.DataFrame, questions: QuestionTexts | None
) -> list[Block]:
    """Lay replies out, a question folded under its name.

    Examples
    --------
    >>> reply_blocks({}, pl.DataFrame({"item_id": ["q"], "agreement": [0.0]}), None)
    []
    """
    names = unstable.columns[: unstable.columns.index("agreement")]
    found: list[Block] = []
    for row in unstable.to_dicts():
        part = replies.get(tuple(row[name] for name in names))
        if part is None:
            continue
        where = group_label(row, [name for name in names if name != "item_id"
                                  and row[name] is not None])  # fmt: skip
        name = question_text(row, questions or {}) or str(row["item_id"])
        columns = [Column(head="verdict", cells=[str(one) for one in part["said"]])]
        if "replication" in part.columns:
            cells = [cell(one) for one in part["replication"]]
            columns.append(Column(head="replication", cells=cells))
        if "text" in part.columns:
            cells = [shorten(one or "", _LONGEST, placeholder=" \u2026") for one in part["text"]]
            columns.append(Column(head="reply", cells=cells, kind="prose"))
        caption = "Replies, at most three of each verdict"
        label = f"{name} ({where})" if where else name
        found.append(Folded(label, [Table(caption, columns)]))
    return found
