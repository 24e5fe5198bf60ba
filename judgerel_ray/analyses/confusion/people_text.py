"""Judges against people by one measure, as text and on the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from judgerel_ray.analyses.confusion.label_charts import (
    GROUP,
    accuracy_marks,
    rows_figure,
    told_columns,
)
from judgerel_ray.blocks.blocks import (
    Block,
    Column,
    Figure,
    Figures,
    Mark,
    Paragraph,
    Table,
    counts,
)
from judgerel_ray.blocks.columns import plain_table
from judgerel_ray.blocks.words import NOISE, Row, ends_of, group_label, number, reason

MATCHED_NOTE = (
    "judge: share of an item's people whose label the judge gave, mean over items. person: the "
    "same of each person held out, against the item's other people; a judge that answers as one "
    "more person would reaches it. No majority is taken, so items on which people differ count "
    "like others (split: those without a single most frequent label). Kinds of people stand apart. "
    "low, high: by uncertainty, each with people on the same items. by chance: the judge's labels "
    "of other items, and people's shuffled over items. Intervals are over texts, of the people who "
    "rated."
)
"""How judges and people are compared."""
MATCHED_LEGEND = [
    ("point", "low uncertainty, by thresholds that never saw the judgments they label"),
    ("noise", "high uncertainty"),
    ("baseline", "all judgments"),
    ("people", "a person held out, on the same items"),
]
_PLACES = {"judge": "judge", "person": "person held out"}


def matched_text(matched: pl.DataFrame | None) -> Iterator[str]:
    """Write how judges and people match people, a block a group and kind of people.

    Parameters
    ----------
    matched : pl.DataFrame or None
        From :func:`judgerel_ray.analyses.confusion.matched_people.matched_table`.

    Examples
    --------
    >>> list(matched_text(None))
    []
    """
    if matched is None or matched.is_empty():
        return
    for title, rows in _parts(matched):
        lines = [
            [
                _judgments(row), *_shares(row),
                f"{number(row['noise_floor'])}, {number(row['person_floor'])}",
                *(str(row[name]) for name in ("n_items", "n_split", "n_ratings")), _remark(row),
            ]
            for row in rows
        ]  # fmt: skip
        heads = ["judgments", "judge", "95 %", "person", "95 %", "judge - person", "95 %",
                 "by chance", "items", "split", "ratings", ""]  # fmt: skip
        yield f"{title}: how often a label is that of a person\n{plain_table(heads, lines)}"


def matched_section(matched: pl.DataFrame) -> list[Block]:
    """Draw and tabulate how judges and people match people.

    Parameters
    ----------
    matched : pl.DataFrame
        As for :func:`matched_text`.

    Examples
    --------
    >>> matched_section(pl.DataFrame())
    []
    """
    if matched.is_empty():
        return []
    parts = _parts(matched)
    rows = [row for _, mine in parts for row in mine]
    titles = [title for title, mine in parts for _ in mine]
    columns = [
        Column(head="", cells=titles),
        Column(head="judgments", cells=[_judgments(row) for row in rows]),
        *(
            Column(
                head=head, cells=[number(row[f"{name}_share"]) for row in rows],
                small=[ends_of(row, name) for row in rows], is_number=True,
            )
            for name, head in _PLACES.items()
        ),
        Column(
            head="judge - person", cells=[number(row["difference"]) for row in rows],
            small=[ends_of(row, "difference") for row in rows], is_number=True,
        ),
        Column(
            head="by chance: judge, person", is_number=True,
            cells=[f"{number(r['noise_floor'])}, {number(r['person_floor'])}" for r in rows],
        ),
        counts("items", [row["n_items"] for row in rows]),
        counts("split", [row["n_split"] for row in rows]),
        counts("ratings", [row["n_ratings"] for row in rows]),
        Column(head="remark", cells=[_remark(row) for row in rows], kind="remark"),
    ]  # fmt: skip
    caption = "How often a label is that of a person, as shares with 95 % intervals"
    drawn = Figures(list(_figures(matched)), MATCHED_LEGEND)
    return [Paragraph(MATCHED_NOTE), drawn, Table(caption, columns, cards=True)]


def _parts(matched: pl.DataFrame) -> list[tuple[str, Sequence[Row]]]:
    """Rows of each group and kind of people under its name."""
    told = told_columns(matched)
    parts = matched.partition_by(*GROUP, "raters", maintain_order=True)
    return [(group_label(part.row(0, named=True), [*told, "raters"]), part.to_dicts())
            for part in parts]  # fmt: skip


def _judgments(row: Row) -> str:
    """Which judgments a row is of."""
    if row["criterion"] is not None:
        return str(row["criterion"])
    return "all" if row["label"] == "all" else f"{row['label']} uncertainty"


def _shares(row: Row) -> list[str]:
    """Both shares and their difference, each with its interval."""
    return [
        number(row["judge_share"]), ends_of(row, "judge"), number(row["person_share"]),
        ends_of(row, "person"), number(row["difference"]), ends_of(row, "difference"),
    ]  # fmt: skip


def _remark(row: Row) -> str:
    """What a reader must know of a row."""
    parts = [
        reason(row["undefined"]) if row["undefined"] else "",
        NOISE if row["noise"] else "",
        f"{row['n_single']} items of one person left out" if row["n_single"] else "",
    ]
    return "; ".join(part for part in parts if part)


def _figures(matched: pl.DataFrame) -> Iterator[Figure]:
    """One figure a benchmark and kind of people; a row a judge, its people's bar beside it."""
    labelled = matched.filter(pl.col("criterion").is_null(), pl.col("judge_share").is_not_null())
    for (benchmark, raters), part in labelled.group_by("benchmark", "raters", maintain_order=True):
        judges = [
            {str(row["label"]): row for row in one.iter_rows(named=True)}
            for one in part.partition_by(*GROUP, maintain_order=True)
        ]
        told = [name for name in told_columns(part) if name != "benchmark"]
        names = [group_label(rows["all"], told) for rows in judges]
        said = [
            f"{name}: " + "; ".join(
                f"{label}: judge {number(row['judge_share'])}, person "
                f"{number(row['person_share'])}, {row['n_items']} items"
                for label, row in rows.items()
            )
            for name, rows in zip(names, judges, strict=True)
        ]  # fmt: skip
        people = pl.DataFrame(
            [bar for place, rows in enumerate(judges) for bar in _bars(rows, place)],
            schema=dict.fromkeys(("person", "row", "to"), pl.Float64()),
            orient="row",
        )
        marks = [
            *accuracy_marks([_as_label(rows) for rows in judges], names),
            Mark(shape="rule", style="people", data=people, x="person", y="row", y2="to"),
        ]
        of = f"{benchmark}, {raters}" if raters else str(benchmark)
        yield rows_figure(
            f"People matched by label, {of}", "; ".join(said), of, "share of people matched",
            len(judges), marks,
        )  # fmt: skip


def _bars(rows: Mapping[str, Row], place: int) -> Iterator[tuple[float, float, float]]:
    """Where people stand beside one judge: share, and from where to where in the figure."""
    bars = (("all", 0.38, 0.92), ("low", 0.38, 0.66), ("high", 0.66, 0.92))
    for label, start, end in bars[1:] if len(rows) > 1 else bars[:1]:
        if label in rows:
            yield float(str(rows[label]["person_share"])), place + start, place + end


def _as_label(rows: Mapping[str, Row]) -> Row:
    """The shares of one judge as a row of accuracy by label."""
    found: dict[str, object] = {"all": rows["all"]["judge_share"]}
    for label in ("low", "high"):
        row = rows.get(label, {})
        found |= {
            label: row.get("judge_share"), f"{label}_from": row.get("judge_low"),
            f"{label}_to": row.get("judge_high"), f"n_{label}": row.get("n_items"),
        }  # fmt: skip
    return found
