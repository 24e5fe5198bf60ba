"""What probabilities say: limits of coefficients, weighted scores, settled verdicts, reasonings."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from judgerel_ray.blocks.blocks import (
    Axis,
    Block,
    Column,
    Figure,
    Figures,
    FirstScreen,
    Mark,
    Paragraph,
    Section,
    Table,
    counts,
    key_columns,
    numeric,
    rounded,
    row_columns,
    texts,
)
from judgerel_ray.blocks.words import (
    Row,
    cell,
    coefficient_name,
    ends_of,
    estimate,
    group_columns,
    group_label,
    interval,
    number,
    numbers,
    percent,
    reason,
)

_QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
_ALPHA = "krippendorff_alpha"
_DRAWN = (("percent_agreement", "noise"), (_ALPHA, "point"))
_LEGEND = [
    ("point", "Krippendorff's alpha (in the limit also Fleiss' kappa and ICC(1))"),
    ("noise", "how often two replications agree"),
]


_COLUMNS = ("coefficient", "measurement", "value", "low", "high", "n_items", "n_categories",
         "undecided", "estimator", "undefined")  # fmt: skip
READ_LIMITS = (
    "Entropy agreement: 1 less the mean entropy of a question's verdicts, as a share of the "
    "largest there could be. Majority stability 11: how often the majority of 11 replications is "
    "that of 11 others."
)
READ_REASONING = (
    "agreement + reasoning + verdict = 1: how often two replies agree, how much reasonings differ, "
    "and how much the verdict drawn after one does. ratio: reasonings needed, as a share of "
    "letters drawn, for the same error."
)
READ_SETTLED = (
    "Every question was asked until its most frequent verdict was settled, or until the largest "
    "number of replications was reached: then it has no stable verdict. Shares are of the "
    "questions asked to the end. A settled verdict is not the judge's most frequent one with at "
    "most the chance stated, however often it was looked at. Coefficients rest only on the first "
    "replications, which every question has: later ones were asked where the first disagreed."
)
READ_WEIGHTED = (
    "The score of a response is the mean of the scale's values, each weighted by its probability: "
    "the limit of the mean over infinitely many replications, replies without a score left out. "
    "Words count from 0. Certain width: how far the score could still move, as the probability "
    "that was not followed to a rating could belong to any of them."
)


def distribution_sections(
    limits: pl.DataFrame, widths: pl.DataFrame, weighted: pl.DataFrame
) -> list[FirstScreen | Section]:
    """Make the sections of a page, and the sentence that leads to them.

    Of :func:`.limit_table`, :func:`.width_table` and :func:`.weighted_summary`, which is empty
    without ratings.

    Examples
    --------
    >>> distribution_sections(pl.DataFrame(), pl.DataFrame(), pl.DataFrame())
    []
    """
    if limits.is_empty():
        return []
    scores = [] if weighted.is_empty() else weighted_blocks(weighted)
    sentence = (
        "The probability of every verdict was computed at every temperature asked: see Infinitely "
        "many replications."
    )
    return [
        FirstScreen(blocks=[Paragraph(sentence)]),
        Section("Infinitely many replications", _distribution_limit_part(limits)),
        Section("How certain the distributions are", _distribution_width_table(widths)),
        Section("Probability-weighted scores", scores),
    ]


def limit_blocks(limits: pl.DataFrame) -> list[Block]:
    """List coefficients in the limit of infinitely many replications, a table for each group.

    A page has groups beside each other in one table instead, which no terminal is wide enough for.

    Examples
    --------
    >>> limit_blocks(pl.DataFrame({"coefficient": []}))[0].text
    'no verdict distribution has landed'
    """
    if limits.is_empty():
        return [Paragraph("no verdict distribution has landed")]
    by = [name for name in limits.columns if name not in _COLUMNS]
    found: list[Block] = []
    for part in limits.partition_by(by, maintain_order=True):
        rows = part.to_dicts()
        first = rows[0]
        caption = (
            f"{group_label(first, by)}: {first['n_items']} questions, {first['n_categories']} "
            f"categories, at most {first['undecided']:.2g} of a question left open"
        )
        lines = [[coefficient_name(row), *_distribution_value_cells(row)] for row in rows]
        heads = ["coefficient", "value", "95 %"]
        found.append(Table(caption, row_columns(heads, lines, words=heads[:1])))
    sentence = "Infinitely many replications, nothing sampled; intervals over questions."
    found.append(Paragraph(f"{sentence} {READ_LIMITS}"))
    if (limits["undefined"] == "temperature_0").any():
        sentence = (
            "Temperature 0 draws nothing, so it has no agreement to measure: not scored as 1."
        )
        found.append(Paragraph(sentence))
    return found


def _distribution_limit_part(limits: pl.DataFrame) -> list[Block]:
    """Coefficients against temperature."""
    intro = Paragraph(
        "Nothing was sampled here: the probability of every verdict was computed at every "
        "temperature, and these are the coefficients in the limit of infinitely many replications. "
        "Bars are 95 % intervals over questions, the only thing left to chance. Temperature 0 "
        "draws nothing, so it has no agreement to measure, and none is shown."
    )
    figures = [
        _distribution_limit_figure(part)
        for part in limits.partition_by(
            *(name for name in group_columns(limits) if name != "temperature"), maintain_order=True
        )
        if part["temperature"].n_unique() > 1
    ]
    table = _limit_table(limits)
    return [intro, Figures(figures, _LEGEND), table, Paragraph(READ_LIMITS, "soft")]


def _limit_table(limits: pl.DataFrame) -> Table:
    """Every coefficient, a row a judge, benchmark, way of rating and temperature."""
    by = group_columns(limits)
    parts = limits.partition_by(by, maintain_order=True)
    by_group = [{row["coefficient"]: row for row in part.iter_rows(named=True)} for part in parts]
    first = [part.row(0, named=True) for part in parts]

    def column(name: str) -> Column:
        rows = [group_rows[name] for group_rows in by_group]
        head = coefficient_name({"coefficient": name, "measurement": None})
        found = [
            number(row["value"]) if row["undefined"] is None else reason(row["undefined"])
            for row in rows
        ]
        return numeric(head, found, [interval(row) for row in rows])

    levels = [group_rows[_ALPHA]["measurement"] for group_rows in by_group]
    columns = [
        *key_columns(first, by),
        counts("questions", [row["n_items"] for row in first]),
        Column(
            head="level of alpha",
            cells=["" if set(levels) == {"nominal"} else str(level) for level in levels],
        ),
        *(column(name) for name in by_group[0]),
    ]
    caption = (
        "Coefficients in the limit of infinitely many replications, with 95 % intervals over "
        "questions"
    )
    return Table(caption, columns, cards=True)


def _distribution_limit_figure(part: pl.DataFrame) -> Figure:
    """Agreement and alpha of one judge on one benchmark."""
    label = group_label(
        part.row(0, named=True), [name for name in group_columns(part) if name != "temperature"]
    )
    drawn = part.sort("temperature").filter(
        pl.col("value").is_not_null(), pl.col("coefficient").is_in([name for name, _ in _DRAWN])
    )
    texts = [_point_text(row) for row in drawn.iter_rows(named=True)]
    drawn = drawn.with_columns(label=pl.Series(texts, dtype=pl.String))
    heats = part["temperature"].unique().sort().to_list()
    least = drawn.select(pl.min_horizontal("value", "low").min()).item() or 0.0
    marks = []
    for name, style in _DRAWN:
        of_name = drawn.filter(pl.col("coefficient") == name)
        marks += [
            Mark(shape="line", style="join", data=of_name, x="temperature", y="value"),
            Mark(shape="rule", style="interval", data=of_name, x="temperature", y="low", y2="high"),
            Mark(
                shape="point", style=style, data=of_name, x="temperature", y="value", label="label"
            ),
        ]
    return Figure(
        title=f"Limits of agreement and alpha against temperature, {label}",
        description="; ".join(texts),
        caption=label,
        x=Axis(title="temperature", end=max(1.0, *heats), values=heats),
        y=Axis(start=max(-1.0, min(0.0, least)), values=_QUARTERS, grid=True),
        marks=marks,
    )


def _point_text(row: Row) -> str:
    """One point in words."""
    name = coefficient_name({**row, "measurement": None})
    return f"temperature {cell(row['temperature'])}: {name} {estimate(row)}"


def _distribution_width_table(widths: pl.DataFrame) -> list[Block]:
    """How wide the certified bounds are."""
    if widths.is_empty():
        return []
    intro = Paragraph(
        "Every probability lies between bounds that are certain. The width is how far a verdict's "
        "are apart; open is the probability of replies that were not followed to a verdict."
    )
    rows = widths.to_dicts()
    columns = [
        *key_columns(rows, widths.columns[: widths.columns.index("n_questions")]),
        counts("questions", [row["n_questions"] for row in rows]),
        _distribution_width_column("width, mean", rows, "mean_width"),
        _distribution_width_column("width, largest", rows, "largest_width"),
        _distribution_width_column("open, mean", rows, "mean_open"),
        _distribution_width_column("open, largest", rows, "largest_open"),
        counts("questions settled", [row["n_settled"] for row in rows]),
    ]
    caption = (
        "Certain bounds on the probability of verdicts, in probability; settled: whichever way the "
        "rest falls, the most probable verdict stays the same"
    )
    return [intro, Table(caption, columns, cards=True)]


def reasoning_blocks(split: pl.DataFrame) -> list[Block]:
    """Say where verdicts vary: between reasonings, or in the letter drawn after one.

    Examples
    --------
    >>> reasoning_blocks(pl.DataFrame({"ratio": []}))[0].text
    'no reply with probabilities at its verdict has landed'
    """
    if split.is_empty():
        return [Paragraph("no reply with probabilities at its verdict has landed")]
    rows = split.to_dicts()
    columns = [
        texts("", rows, lambda row: group_label(row, ["judge", "benchmark", "temperature"])),
        *(rounded(name, rows, name) for name in ("agreement", "reasoning", "verdict", "ratio")),
        numeric("95 %", [ends_of(row, "ratio") for row in rows]),
        numeric("questions", [str(row["n_questions"]) for row in rows]),
        numeric("replies", [str(row["n_replications"]) for row in rows]),
    ]
    return [Table("Where verdicts vary", columns), Paragraph(READ_REASONING, "soft")]


def _distribution_value_cells(row: Row) -> list[str]:
    """A value with its interval, or in words why there is none."""
    value, ends = numbers(row)
    return [reason(value), ends]


def settled_blocks(summary: pl.DataFrame) -> list[Block]:
    """Say how many questions have a stable verdict, and what that took.

    Examples
    --------
    >>> settled_blocks(pl.DataFrame())[0].text
    'nothing was asked adaptively'
    """
    if summary.is_empty():
        return [Paragraph("nothing was asked adaptively")]
    rows = summary.to_dicts()
    columns = [
        *key_columns(rows, summary.columns[: summary.columns.index("conditions")]),
        counts("asked", [row["conditions"] for row in rows]),
        counts("stable verdict", [row["settled"] for row in rows]),
        numeric("share [95 %]", [_settled_share(row) for row in rows]),
        counts("stably none", [row["no_verdict"] for row in rows]),
        counts("no stable verdict", [row["unstable"] for row in rows]),
        counts("failed", [row["failed"] for row in rows]),
        counts("still open", [row["open"] for row in rows]),
        counts("replications", [row["replications"] for row in rows]),
        numeric("of the most", [percent(row["used"]) for row in rows]),
    ]
    return [Table("Questions with a stable verdict", columns), Paragraph(READ_SETTLED, "soft")]


def _settled_share(row: Row) -> str:
    """The share with a stable verdict."""
    ends = "" if row["low"] is None else f" [{percent(row['low'])}, {percent(row['high'])}]"
    return percent(row["settled_share"]) + ends


def weighted_blocks(summary: pl.DataFrame) -> list[Block]:
    """Summarise probability-weighted scores of responses.

    Examples
    --------
    >>> weighted_blocks(pl.DataFrame())[0].text
    'no rating has been explored'
    """
    if summary.is_empty():
        return [Paragraph("no rating has been explored")]
    rows = summary.to_dicts()
    columns = [
        *key_columns(rows, summary.columns[: summary.columns.index("n_items")]),
        rounded("mean score", rows, "mean"),
        rounded("least", rows, "least"),
        rounded("greatest", rows, "greatest"),
        numeric("replies with a score", [percent(row["mass"]) for row in rows]),
        _distribution_width_column("certain width, mean", rows, "width"),
        _distribution_width_column("largest", rows, "largest_width"),
        counts("responses", [row["n_responses"] for row in rows]),
        counts("items", [row["n_items"] for row in rows]),
    ]
    return [
        Paragraph(READ_WEIGHTED),
        Table("Probability-weighted scores of responses", columns, cards=True),
    ]


def _distribution_width_column(head: str, rows: Sequence[Row], name: str) -> Column:
    """A column of widths."""
    return numeric(head, [_distribution_width_cell(row[name]) for row in rows])


def _distribution_width_cell(value: object) -> str:
    """A width that is often next to nothing."""
    if not isinstance(value, int | float):
        return "-"
    return "0" if value < 1e-9 else f"{value:.2g}"
