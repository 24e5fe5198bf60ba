"""Figures of uncertainty labels: by threshold, by judge, by acceptance, against people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from judgerel_ray.blocks.blocks import Axis, Figure, Mark
from judgerel_ray.blocks.words import Row, group_label, number

GROUP = ("judge", "benchmark", "template", "temperature", "mode")
QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
_LABELLED = ("how", "threshold")
_ROW = 40.0  # height of a judge in a figure of judges
_SHARE = Axis(values=QUARTERS, grid=True)
_TICKS = (0.1, 0.3, 0.5, 0.7, 0.9)
_MOST_POINTS = 12  # of a curve that is drawn with its points


def varying_columns(frame: pl.DataFrame) -> list[str]:
    """Name the columns that tell groups apart; the judge always does.

    Examples
    --------
    >>> varying_columns(pl.DataFrame({name: ["x"] for name in GROUP}))
    ['judge', 'benchmark']
    """
    return [
        name
        for name in GROUP
        if name in ("judge", "benchmark") or frame[name].n_unique() > 1
    ]  # fmt: skip


def named_groups(frame: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """Give the rows of each group, with what tells it from the others; none of an empty table.

    Examples
    --------
    >>> [name for name, _ in named_groups(pl.DataFrame({name: ["x"] for name in GROUP}))]
    ['x, x']
    """
    if frame.is_empty():
        return
    varying = varying_columns(frame)
    for part in frame.partition_by(GROUP, maintain_order=True):
        yield group_label(part.row(0, named=True), varying), part


def threshold_figures(curves: pl.DataFrame, labels: pl.DataFrame) -> list[Figure]:
    """Draw accuracy and share of low against the threshold, one figure a group.

    Examples
    --------
    >>> threshold_figures(pl.DataFrame(), pl.DataFrame())
    []
    """
    found = []
    for label, part in named_groups(curves):
        same = labels.join(part, on=GROUP, how="semi", nulls_equal=True, maintain_order="left")
        marked = same.filter(pl.col("criterion").is_null(), pl.col("threshold").is_not_null())
        found.append(_threshold_figure(part, marked, label))
    return found


def _threshold_figure(curve: pl.DataFrame, marked: pl.DataFrame, label: str) -> Figure:
    """One judge on one benchmark."""
    rows = curve.to_dicts()
    description = "; ".join(
        f"at {row['threshold']:g}: accuracy of low {number(row['low'])} of {row['n_low']}, of high "
        f"{number(row['high'])}, share of low {number(row['share'])}"
        for row in rows
        if round(row["threshold"], 2) in _TICKS
    )
    in_sample = pl.col("kind") == "in-sample"
    return Figure(
        title=f"Accuracy and share of low against the threshold, {label}",
        description=description,
        caption=f"{label}; shares of {rows[0]['n_all']} judgments",
        x=Axis(title="threshold", values=QUARTERS),
        y=_SHARE,
        marks=[
            *(
                Mark(shape="rule", style=style, data=part, x="threshold")
                for style, part in (("in_sample", marked.filter(in_sample)),
                                    ("stated", marked.filter(~in_sample)))
                if part.height
            ),
            Mark(shape="area", style="area", data=curve, x="threshold", y="low_from", y2="low_to"),
            Mark(shape="rule", style="baseline", data=curve.head(1), y="all"),
            Mark(shape="line", style="other", data=curve, x="threshold", y="high"),
            Mark(shape="line", style="share", data=curve, x="threshold", y="share"),
            Mark(shape="line", style="line", data=curve, x="threshold", y="low"),
        ],
    )  # fmt: skip


def accuracy_figures(labels: pl.DataFrame) -> list[Figure]:
    """Draw accuracy of low and of high beside that of all, one figure a benchmark.

    Examples
    --------
    >>> accuracy_figures(pl.DataFrame())
    []
    """
    if labels.is_empty():
        return []
    leading = leading_labels(labels).filter(pl.col("criterion").is_null())
    found = []
    for (benchmark,), part in leading.group_by("benchmark", maintain_order=True):
        rows = part.to_dicts()
        names = [group_label(row, _but_benchmark(part)) for row in rows]
        description = "; ".join(
            f"{name}: low {number(row['low'])} of {row['n_low']}, high {number(row['high'])} of "
            f"{row['n_high']}, all {number(row['all'])}"
            for row, name in zip(rows, names, strict=True)
        )
        marks = accuracy_marks(rows, names)
        found.append(
            rows_figure(f"Accuracy by label, {benchmark}", description, str(benchmark), "accuracy",
                        len(rows), marks)
        )  # fmt: skip
    return found


def leading_labels(labels: pl.DataFrame) -> pl.DataFrame:
    """Keep the labels that lead in each group: the first way of labelling.

    Examples
    --------
    >>> labels = pl.DataFrame({**{name: ["x", "x"] for name in GROUP},
    ...                        "how": ["threshold_given"] * 2, "threshold": [0.5, 0.6]})
    >>> leading_labels(labels)["threshold"].to_list()
    [0.5]
    """
    first = labels.group_by(*GROUP, maintain_order=True).agg(pl.col(_LABELLED).first())
    return labels.join(
        first, on=[*GROUP, *_LABELLED], how="semi", nulls_equal=True, maintain_order="left"
    )


def _but_benchmark(frame: pl.DataFrame) -> list[str]:
    """Columns that tell groups of one benchmark apart."""
    return [name for name in varying_columns(frame) if name != "benchmark"]


def rows_figure(
    title: str, description: str, caption: str, across: str, n: int, marks: Sequence[Mark]
) -> Figure:
    """Make a figure of `n` rows: marks have the place of theirs in ``row``, from 0 on.

    Examples
    --------
    >>> rows_figure("t", "", "", "share", 2, []).height
    80.0
    """
    return Figure(
        title=title, description=description, caption=caption,
        x=Axis(title=across, values=QUARTERS, grid=True), y=Axis(start=n, end=0, shown=False),
        marks=marks, height=_ROW * n,
    )  # fmt: skip


def name_marks(names: Sequence[str]) -> Mark:
    """Write the name of every row above it.

    Examples
    --------
    >>> name_marks(["j"]).data["row"].to_list()
    [0.2]
    """
    data = pl.DataFrame({"row": [place + 0.2 for place in range(len(names))], "name": names})
    return Mark(shape="text", style="name", data=data, y="row", label="name")


def accuracy_marks(rows: Sequence[Row], names: Sequence[str]) -> list[Mark]:
    """Draw each judge in a row: low above high, and where all lies.

    Examples
    --------
    >>> [mark.style for mark in accuracy_marks([{"all": 0.5, "low": None, "high": None}], ["j"])]
    ['name', 'baseline', 'interval', 'point', 'interval', 'noise']
    """
    alls = [
        {"all": row["all"], "row": place + 0.38, "to": place + 0.92}
        for place, row in enumerate(rows)
    ]
    marks = [
        name_marks(names),
        Mark(shape="rule", style="baseline", data=_floats(alls, ()), x="all", y="row", y2="to"),
    ]
    for label, style, at in (("low", "point", 0.52), ("high", "noise", 0.8)):
        shares = _floats(
            [
                {
                    "share": row[label],
                    "from": row.get(f"{label}_from"),
                    "to": row.get(f"{label}_to"),
                    "row": place + at,
                    "label": f"{name}, {label}: {number(row[label])} of {row[f'n_{label}']}",
                }
                for place, (row, name) in enumerate(zip(rows, names, strict=True))
                if row[label] is not None
            ],
            ("label",),
        )
        marks += _with_interval(shares, style)
    return marks


def _with_interval(shares: pl.DataFrame, style: str) -> list[Mark]:
    """Points of rows with their intervals."""
    return [
        Mark(shape="rule", style="interval", data=shares, x="from", x2="to", y="row"),
        Mark(shape="point", style=style, data=shares, x="share", y="row", label="label"),
    ]


def _floats(rows: Sequence[Mapping[str, object]], words: Sequence[str]) -> pl.DataFrame:
    """Rows as a frame, whose columns are there even where there is none."""
    names = list(rows[0]) if rows else ["share", "from", "to", "row", "label"]
    kinds = {name: pl.String() if name in words else pl.Float64() for name in names}
    return pl.DataFrame(rows, schema=kinds)


def share_figures(labels: pl.DataFrame) -> list[Figure]:
    """Draw the share of low, one figure a benchmark, a row a judge and criterion.

    Examples
    --------
    >>> share_figures(pl.DataFrame())
    []
    """
    if labels.is_empty():
        return []
    found = []
    for (benchmark,), part in leading_labels(labels).group_by("benchmark", maintain_order=True):
        several = part.filter(pl.col("criterion").is_not_null())
        rows = (several if several.height else part).to_dicts()
        columns = [*_but_benchmark(part), "criterion"]
        names = [group_label(row, columns) for row in rows]
        texts = [
            f"{name}: {number(row['share'])} of {row['n_share']}"
            for row, name in zip(rows, names, strict=True)
        ]
        shares = _floats(
            [
                {"zero": 0.0, "share": row["share"], "from": row["share_from"],
                 "to": row["share_to"], "row": place + 0.62, "label": text}
                for place, (row, text) in enumerate(zip(rows, texts, strict=True))
            ],
            ("label",),
        )  # fmt: skip
        marks = [
            name_marks(names),
            Mark(shape="bar", style="bar", data=shares, x="zero", x2="share", y="row"),
            *_with_interval(shares, "point"),
        ]
        found.append(
            rows_figure(f"Share of low uncertainty, {benchmark}", "; ".join(texts), str(benchmark),
                        "share of low", len(rows), marks)
        )  # fmt: skip
    return found


def acceptance_figures(acceptance: pl.DataFrame) -> list[Figure]:
    """Draw the share wrong among the surest judgments, one figure a group.

    Examples
    --------
    >>> acceptance_figures(pl.DataFrame())
    []
    """
    found = []
    for label, part in named_groups(acceptance):
        rows = part.to_dicts()
        description = "; ".join(
            f"of the surest {number(row['accepted'], 2)}: {number(row['error'])} wrong "
            f"({row['n_errors']} of {row['n_accepted']})"
            for row in rows[:: max(1, len(rows) // 5)]
        )
        points = part.with_columns(label=pl.col("error").map_elements(number, pl.String))
        marks = [
            Mark(shape="area", style="area", data=part, x="accepted", y="low", y2="high"),
            Mark(shape="line", style="line", data=part, x="accepted", y="error"),
        ]
        if part.height < _MOST_POINTS:
            marks.append(
                Mark(shape="point", style="point", data=points, x="accepted", y="error",
                     label="label")
            )  # fmt: skip
        found.append(
            Figure(
                title=f"Share wrong against share accepted, {label}",
                description=description,
                caption=f"Share wrong, {label}",
                x=Axis(title="share accepted, surest first", values=QUARTERS),
                y=_SHARE,
                marks=marks,
            )
        )
    return found


def matched_figures(matched: pl.DataFrame) -> Iterator[Figure]:
    """Draw judges beside people, one figure a benchmark and kind of people.

    Examples
    --------
    >>> list(matched_figures(pl.DataFrame()))
    []
    """
    if matched.is_empty():
        return
    labelled = matched.filter(pl.col("criterion").is_null(), pl.col("judge_share").is_not_null())
    for (benchmark, raters), part in labelled.group_by("benchmark", "raters", maintain_order=True):
        judges = [
            {str(row["label"]): row for row in one.iter_rows(named=True)}
            for one in part.partition_by(*GROUP, maintain_order=True)
        ]
        names = [group_label(rows["all"], _but_benchmark(part)) for rows in judges]
        texts = [
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
            f"People matched by label, {of}", "; ".join(texts), of, "share of people matched",
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
