"""Figures of uncertainty labels: by threshold, by judge, by acceptance, against people.

Tables of labels, scores and people say in numbers what figures show.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import cast

import polars as pl

from judgerel_ray.analyses.confusion.groups import How
from judgerel_ray.analyses.confusion.worth import (
    ENTROPY_OF_REPLICATIONS,
    OWN_PROBABILITY,
    SHARE_OF_REPLICATIONS,
)
from judgerel_ray.blocks.blocks import (
    Axis,
    Block,
    Column,
    Figure,
    Folded,
    Mark,
    Table,
    counts,
    estimates,
    key_columns,
    numeric,
    rounded,
    texts,
)
from judgerel_ray.blocks.words import (
    NOISE,
    Row,
    ends_of,
    group_label,
    interval,
    number,
    numbers,
    reason,
)
from judgerel_ray.core import count_of

GROUP = ("judge", "benchmark", "template", "temperature", "mode")
QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
_LABELLED = ("how", "threshold")
_ROW = 40.0  # height of a judge in a figure of judges
_SHARE = Axis(values=QUARTERS, grid=True)
_TICKS = (0.1, 0.3, 0.5, 0.7, 0.9)
_POINTS = {**dict.fromkeys(("share", "from", "to", "row"), pl.Float64()), "label": pl.String()}
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
    if curves.is_empty():
        return []
    stated = labels.filter(pl.col("criterion").is_null(), pl.col("threshold").is_not_null())
    return [
        _threshold_figure(
            part, stated.join(part, on=GROUP, how="semi", nulls_equal=True, maintain_order="left"),
            label,
        )
        for label, part in named_groups(curves)
    ]  # fmt: skip


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
            *(
                Mark(shape="line", style=style, data=curve, x="threshold", y=name)
                for style, name in (("other", "high"), ("share", "share"), ("line", "low"))
            ),
        ],
    )  # fmt: skip


def accuracy_figures(labels: pl.DataFrame) -> list[Figure]:
    """Draw accuracy of low and of high beside that of all, one figure a benchmark.

    Examples
    --------
    >>> from judgerel_ray.analyses.confusion.tables import LabelledShares
    >>> accuracy_figures(LabelledShares.frame((), GROUP))
    []
    """
    leading = leading_labels(labels).filter(pl.col("criterion").is_null())
    found = []
    for (benchmark,), part in leading.group_by("benchmark", maintain_order=True):
        rows = part.to_dicts()
        names = [group_label(row, _confusion_group_columns(part)) for row in rows]
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


def _confusion_group_columns(frame: pl.DataFrame) -> list[str]:
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
    alls = pl.DataFrame(
        [(row["all"], place + 0.38, place + 0.92) for place, row in enumerate(rows)],
        schema=dict.fromkeys(("all", "row", "to"), pl.Float64()), orient="row",
    )  # fmt: skip
    marks = [
        name_marks(names),
        Mark(shape="rule", style="baseline", data=alls, x="all", y="row", y2="to"),
    ]
    for label, style, at in (("low", "point", 0.52), ("high", "noise", 0.8)):
        marks += _uncertainty_points_drawn(
            [
                {"share": row[label], "from": row.get(f"{label}_from"),
                 "to": row.get(f"{label}_to"), "row": place + at,
                 "label": f"{name}, {label}: {number(row[label])} of {row[f'n_{label}']}"}
                for place, (row, name) in enumerate(zip(rows, names, strict=True))
                if row[label] is not None
            ],
            style,
        )  # fmt: skip
    return marks


def _uncertainty_points_drawn(rows: Sequence[Mapping[str, object]], style: str) -> list[Mark]:
    """Points of rows with their intervals."""
    shares = pl.DataFrame(rows, schema=_POINTS)
    return [
        Mark(shape="rule", style="interval", data=shares, x="from", x2="to", y="row"),
        Mark(shape="point", style=style, data=shares, x="share", y="row", label="label"),
    ]


def share_figures(labels: pl.DataFrame) -> list[Figure]:
    """Draw the share of low, one figure a benchmark, a row a judge and criterion.

    Examples
    --------
    >>> from judgerel_ray.analyses.confusion.tables import LabelledShares
    >>> share_figures(LabelledShares.frame((), GROUP))
    []
    """
    found = []
    for (benchmark,), part in leading_labels(labels).group_by("benchmark", maintain_order=True):
        several = part.filter(pl.col("criterion").is_not_null())
        rows = (several if several.height else part).to_dicts()
        columns = [*_confusion_group_columns(part), "criterion"]
        names = [group_label(row, columns) for row in rows]
        texts = [
            f"{name}: {number(row['share'])} of {row['n_share']}"
            for row, name in zip(rows, names, strict=True)
        ]
        interval_mark, point = _uncertainty_points_drawn(
            [
                {"share": row["share"], "from": row["share_from"], "to": row["share_to"],
                 "row": place + 0.62, "label": text}
                for place, (row, text) in enumerate(zip(rows, texts, strict=True))
            ],
            "point",
        )  # fmt: skip
        shares = point.data.select(pl.lit(0.0).alias("zero"), pl.all())
        bar = Mark(shape="bar", style="bar", data=shares, x="zero", x2="share", y="row")
        marks = [name_marks(names), bar, interval_mark, point]
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
        point = Mark(shape="point", style="point", data=points, x="accepted", y="error",
                     label="label")  # fmt: skip
        found.append(Figure(
            title=f"Share wrong against share accepted, {label}", description=description,
            caption=f"Share wrong, {label}", y=_SHARE,
            x=Axis(title="share accepted, surest first", values=QUARTERS),
            marks=[
                Mark(shape="area", style="area", data=part, x="accepted", y="low", y2="high"),
                Mark(shape="line", style="line", data=part, x="accepted", y="error"),
                *([point] if part.height < _MOST_POINTS else []),
            ],
        ))  # fmt: skip
    return found


def matched_figures(matched: pl.DataFrame) -> Iterator[Figure]:
    """Draw judges beside people, one figure a benchmark and kind of people.

    Examples
    --------
    >>> from judgerel_ray.analyses.confusion.tables import PeopleMatches
    >>> list(matched_figures(PeopleMatches.frame((), GROUP)))
    []
    """
    labelled = matched.filter(pl.col("criterion").is_null(), pl.col("judge_share").is_not_null())
    for (benchmark, raters), part in labelled.group_by("benchmark", "raters", maintain_order=True):
        judges = [
            {str(row["label"]): row for row in one.iter_rows(named=True)}
            for one in part.partition_by(*GROUP, maintain_order=True)
        ]
        names = [group_label(rows["all"], _confusion_group_columns(part)) for rows in judges]
        texts = [
            f"{name}: " + "; ".join(
                f"{label}: judge {number(row['judge_share'])}, person "
                f"{number(row['person_share'])}, {row['n_items']} items"
                for label, row in rows.items()
            )
            for name, rows in zip(names, judges, strict=True)
        ]  # fmt: skip
        people = pl.DataFrame(
            [
                bar
                for place, rows in enumerate(judges)
                for bar in _uncertainty_people_bars(rows, place)
            ],
            schema=dict.fromkeys(("person", "row", "to"), pl.Float64()),
            orient="row",
        )
        marks = [
            *accuracy_marks([_uncertainty_label_row(rows) for rows in judges], names),
            Mark(shape="rule", style="people", data=people, x="person", y="row", y2="to"),
        ]
        of = f"{benchmark}, {raters}" if raters else str(benchmark)
        yield rows_figure(
            f"People matched by label, {of}", "; ".join(texts), of, "share of people matched",
            len(judges), marks,
        )  # fmt: skip


def _uncertainty_people_bars(
    rows: Mapping[str, Row], place: int
) -> Iterator[tuple[float, float, float]]:
    """Where people stand beside one judge: share, and from where to where in the figure."""
    bars = (("all", 0.38, 0.92), ("low", 0.38, 0.66), ("high", 0.66, 0.92))
    for label, start, end in bars[1:] if len(rows) > 1 else bars[:1]:
        if label in rows:
            yield float(str(rows[label]["person_share"])), place + start, place + end


def _uncertainty_label_row(rows: Mapping[str, Row]) -> Row:
    """The shares of one judge as a row of accuracy by label."""
    found: dict[str, object] = {"all": rows["all"]["judge_share"]}
    for label in ("low", "high"):
        row = rows.get(label, {})
        found |= {
            label: row.get("judge_share"), f"{label}_from": row.get("judge_low"),
            f"{label}_to": row.get("judge_high"), f"n_{label}": row.get("n_items"),
        }  # fmt: skip
    return found


_LABEL_SHARES = {
    "low": "accuracy of low",
    "high": "accuracy of high",
    "all": "accuracy of all",
    "share": "share of low",
}
_OF_SAMPLE = {SHARE_OF_REPLICATIONS: "share", ENTROPY_OF_REPLICATIONS: "entropy"}
_COUNTS = ("items", "split", "ratings")
_PLACES = {"judge": "judge", "person": "person held out"}


def _label_columns(rows: Sequence[Row]) -> list[Column]:
    """Columns of accuracy by label and share of low, with intervals and counts."""
    return [
        estimates(head, rows, name, partial(_uncertain_share_interval, name=name))
        for name, head in _LABEL_SHARES.items()
    ]


def _uncertain_share_interval(row: Row, name: str) -> str:
    """Interval and number of judgments of a share."""
    low, high = row[f"{name}_from"], row[f"{name}_to"]
    ends = "" if low is None else f"[{number(low)}, {number(high)}] "
    return f"{ends}of {row[f'n_{name}']}"


def labels_table(labels: pl.DataFrame, *, by_criterion: bool) -> list[Block]:
    """Tabulate accuracy by label and share of low, every way of labelling a row.

    Examples
    --------
    >>> labels_table(pl.DataFrame({"criterion": [None], "kind": ["x"]}), by_criterion=True)
    []
    """
    kept = labels.filter(pl.col("criterion").is_null())
    if by_criterion:
        kept = labels.filter(pl.col("criterion").is_not_null(), pl.col("kind") != "in-sample")
    if kept.is_empty():
        return []
    names = [*varying_columns(kept), *(["criterion"] if by_criterion else [])]
    rows = kept.to_dicts()
    columns = [
        *key_columns(rows, names),
        texts("labelled by", rows, _uncertainty_labelling, "prose"),
        *_label_columns(rows),
        texts("remark", rows, lambda row: "optimistic" * (row["kind"] == "in-sample"), "remark"),
    ]
    what = "by criterion" if by_criterion else "of all judgments whose right option is known"
    caption = (
        f"Accuracy by label and share of low uncertainty {what}, as shares with 95 % intervals"
    )
    return [Table(caption, columns, cards=True)]


def _uncertainty_labelling(row: Row) -> str:
    """How labels were chosen, in short."""
    if row["kind"] == "in-sample":
        return f"threshold {number(row['threshold'], 2)}, the best on these judgments"
    threshold, n_folds = cast(float | None, row["threshold"]), cast(int | None, row["n_folds"])
    return How(str(row["how"])).words(threshold=threshold, n_folds=n_folds)


def curve_tables(curves: pl.DataFrame) -> list[Block]:
    """Tabulate what every twentieth of the threshold gives, a folded table a group.

    Examples
    --------
    >>> curve_tables(pl.DataFrame())
    []
    """
    found: list[Block] = []
    fifths = (pl.col("threshold") * 100).round().cast(pl.Int64) % 5 == 0
    for name, part in named_groups(curves):
        rows = part.filter(fifths).to_dicts()
        columns = [rounded("threshold", rows, "threshold", 2), *_label_columns(rows)]
        caption = f"Accuracy by label and share of low at thresholds, {name}"
        found.append(Folded(f"Numbers by threshold: {name}", [Table(caption, columns)]))
    return found


def acceptance_tables(acceptance: pl.DataFrame) -> list[Block]:
    """Tabulate share wrong against share accepted, a folded table a group.

    Examples
    --------
    >>> acceptance_tables(pl.DataFrame())
    []
    """
    found: list[Block] = []
    for name, part in named_groups(acceptance):
        rows = part.gather_every(max(1, part.height // 10)).to_dicts()
        columns = [
            rounded("margin from", rows, "margin"),
            counts("accepted", [row["n_accepted"] for row in rows]),
            rounded("share", rows, "accepted", 2),
            counts("wrong", [row["n_errors"] for row in rows]),
            estimates("share wrong", rows, "error"),
        ]
        caption = f"Share wrong among the surest judgments, {name}"
        found.append(Folded(f"Numbers by acceptance: {name}", [Table(caption, columns)]))
    return found


def transfer_tables(transfer: pl.DataFrame) -> list[Block]:
    """Tabulate thresholds carried elsewhere, a square a comparison.

    Examples
    --------
    >>> from judgerel_ray.analyses.confusion.tables import ThresholdTransfers
    >>> transfer_tables(ThresholdTransfers.frame())
    []
    """
    return [
        _uncertainty_square(part.to_dicts(), str(across), str(within))
        for (across, within), part in transfer.group_by("across", "within", maintain_order=True)
    ]


def _uncertainty_square(rows: Sequence[Row], across: str, within: str) -> Table:
    """One comparison as a square: a line for each place of choice."""
    targets = list(dict.fromkeys(str(row["target"]) for row in rows))
    lines: dict[str, list[Row]] = {}
    for row in rows:
        lines.setdefault(str(row["source"]), []).append(row)
    columns = [
        Column(head="chosen in", cells=list(lines)),
        *(
            numeric(
                f"used in {target}",
                [_low_uncertainty_accuracy(line[place]) for line in lines.values()],
                [_share_carried(line[place]) for line in lines.values()],
            )
            for place, target in enumerate(targets)
        ),
    ]
    caption = (
        f"Accuracy of low, with 95 % interval, and share of low: threshold carried across "
        f"{across}s of {within}".replace("criterions", "criteria")
    )
    return Table(caption, columns)


def _low_uncertainty_accuracy(row: Row) -> str:
    """Accuracy of low by a threshold that was carried, and of how many."""
    return " ".join(
        filter(None, [number(row["accuracy_low"]), interval(row), f"of {row['n_low']}"])
    )


def _share_carried(row: Row) -> str:
    """Share of low by a threshold that was carried, and which that is."""
    how = "cross-fitted" if row["cross_fitted"] else f"at {number(row['threshold'], 2)}"
    return f"share {number(row['share_low'])} ({how})"


def scores_tables(scores: pl.DataFrame) -> list[Block]:
    """Tabulate every score of a judgment: its mean, how well it ranks, what it takes.

    A folded table a group.

    Examples
    --------
    >>> scores_tables(pl.DataFrame())
    []
    """
    return [_confusion_score_table(part.to_dicts(), name) for name, part in named_groups(scores)]


def _confusion_score_table(rows: Sequence[Row], name: str) -> Folded:
    """Scores of one group."""
    aurocs = [
        number(row["auroc"]) if row["undefined"] is None else reason(row["undefined"])
        for row in rows
    ]
    columns = [
        texts("score", rows, score_words),
        texts("surer where", rows, lambda row: str(row["surer"])),
        estimates("mean", rows, "mean", partial(ends_of, name="mean")),
        numeric("AUROC", aurocs, [ends_of(row, "auroc") for row in rows]),
        estimates("AURC", rows, "aurc", partial(ends_of, name="aurc")),
        counts("judgments", [row["n"] for row in rows]),
        rounded("tokens an item", rows, "tokens", 0),
        texts("remark", rows, lambda row: reason(row["few"] or ""), "remark"),
    ]
    caption = (
        "Scores of single judgments, with 95 % intervals; entropy and mutual information in nats"
    )
    return Folded(f"All scores: {name}", [Table(caption, columns, cards=True)])


def score_words(row: Row) -> str:
    """Name a score, with the replications it is of.

    Examples
    --------
    >>> score_words({"score": "share_of_replications", "of_replications": 4, "drawn_at": 0.7})
    'share of 4 replications at temperature 0.7'
    >>> score_words({"score": "signed_margin", "of_replications": None})
    'signed margin'
    """
    if row["score"] == OWN_PROBABILITY:
        return "probability of the verdict, no assessment shown"
    n = row["of_replications"]
    if n is None:
        return reason(row["score"])
    what = _OF_SAMPLE[str(row["score"])]
    return f"{what} of {count_of(cast(int, n), 'replication')} at temperature {row['drawn_at']:g}"


def quantity_tables(worth: pl.DataFrame) -> list[Block]:
    """Tabulate every quantity of a group, folded.

    Examples
    --------
    >>> quantity_tables(pl.DataFrame())
    []
    """
    found: list[Block] = []
    for name, part in named_groups(worth):
        rows = part.to_dicts()
        columns = [
            texts("quantity", rows, _uncertainty_quantity_name),
            _confusion_score_columns("value", rows),
            numeric("of", [_uncertainty_trial_counts(row) for row in rows]),
            texts("how", rows, lambda row: str(row["estimator"] or ""), "prose"),
        ]
        caption = f"Quantities of {rows[0]['n_matrices']} matrices, with 95 % intervals"
        whole = Table(caption, columns, cards=True)
        found.append(Folded(f"All quantities: {name}", [whole]))
    return found


def _confusion_score_columns(head: str, rows: Sequence[Row]) -> Column:
    """Values with their intervals, or why there is none."""
    found = [numbers(row) for row in rows]
    return numeric(head, [reason(value) for value, _ in found], [ends for _, ends in found])


def _uncertainty_quantity_name(row: Row) -> str:
    """A quantity, with the threshold of the labels it is of."""
    at = row.get("threshold")
    return reason(row["quantity"]) + ("" if at is None else f" at {at:g}")


def _uncertainty_trial_counts(row: Row) -> str:
    """How many of how many, where that is known."""
    if row["k"] is not None:
        return f"{row['k']} of {row['n']}"
    return "" if row["n"] is None else str(row["n"])


def people_blocks(people: pl.DataFrame) -> list[Block]:
    """Tabulate how far people agree.

    Examples
    --------
    >>> people_blocks(pl.DataFrame())
    []
    """
    if people.is_empty():
        return []
    rows = people.to_dicts()
    columns = [
        *key_columns(rows, ["benchmark", "raters"]),
        texts("criterion", rows, lambda row: str(row["criterion"] or "all")),
        _confusion_score_columns("same rating", rows),
        counts("items", [row["n_items"] for row in rows]),
        counts("ratings", [row["n_ratings"] for row in rows]),
    ]
    caption = "How often two people who rate the same give the same rating (share)"
    return [Table(caption, columns)]


def matched_tables(matched: pl.DataFrame) -> list[Block]:
    """Tabulate how judges and people match people, a row a group and kind of judgments.

    Examples
    --------
    >>> matched_tables(pl.DataFrame())
    []
    """
    if matched.is_empty():
        return []
    varying = [*varying_columns(matched), "raters"]
    parts = matched.partition_by(*GROUP, "raters", maintain_order=True)
    rows = [row for part in parts for row in part.to_dicts()]
    columns = [
        texts("", rows, partial(group_label, columns=varying)),
        texts("judgments", rows, _uncertainty_row_scope),
        *(
            estimates(head, rows, f"{name}_share", partial(ends_of, name=name))
            for name, head in _PLACES.items()
        ),
        estimates("judge - person", rows, "difference", partial(ends_of, name="difference")),
        numeric(
            "by chance: judge, person",
            [f"{number(r['noise_floor'])}, {number(r['person_floor'])}" for r in rows],
        ),
        *(counts(name, [row[f"n_{name}"] for row in rows]) for name in _COUNTS),
        texts("remark", rows, _uncertainty_row_remark, "remark"),
    ]
    caption = "How often a label is that of a person, as shares with 95 % intervals"
    return [Table(caption, columns, cards=True)]


def _uncertainty_row_scope(row: Row) -> str:
    """Which judgments a row is of."""
    if row["criterion"] is not None:
        return str(row["criterion"])
    return "all" if row["label"] == "all" else f"{row['label']} uncertainty"


def _uncertainty_row_remark(row: Row) -> str:
    """What a reader must know of a row."""
    parts = [
        reason(row["undefined"]) if row["undefined"] else "",
        NOISE if row["noise"] else "",
        f"{row['n_single']} items of one person left out" if row["n_single"] else "",
    ]
    return "; ".join(part for part in parts if part)
