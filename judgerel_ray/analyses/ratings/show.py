"""Ratings on each scale, across scales, against a reference, and judges ranked by them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

import polars as pl

from judgerel_ray.analyses.ratings.cells import (
    ACROSS,
    COEFFICIENTS,
    MEASURES,
    SELF_CONSISTENCY,
    Columns,
    agreement_line,
    aligned_columns,
    around,
    mapped,
    rank_cell,
    rank_cells,
    rank_measure_in_words,
    rank_sentences,
)
from judgerel_ray.analyses.ratings.judge_ranks import JudgeRanks
from judgerel_ray.blocks.blocks import (
    Axis,
    Block,
    Column,
    Figure,
    Figures,
    Mark,
    Paragraph,
    Section,
    Table,
    key_columns,
    numeric,
    row_columns,
)
from judgerel_ray.blocks.columns import varying_groups
from judgerel_ray.blocks.short import (
    GRAVE,
    HARMFUL,
    PLAIN,
    WEAK,
    Groups,
    Remark,
    Row,
    findings_of_row,
    groups_of,
    short_blocks,
    short_table,
)
from judgerel_ray.blocks.words import (
    cell,
    estimate,
    explanation,
    group_label,
    number,
    reason,
    short_estimate,
)
from judgerel_ray.core import count_of
from judgerel_ray.measuring.alpha_figures import alpha_charts, row_figure

READ_SELF_CONSISTENCY = (
    "Self-consistency: Krippendorff's alpha of the replications of the same prompt, at each "
    "scale's own level. Replies that hold no rating are left out."
)
READ_ACROSS = (
    "Alpha: 1 where a judge says the same on all scales, 0 where its score on one tells nothing of "
    "that on another. Ceiling: what a judge without noise reaches, whose latent score is uniform "
    "on the scale's range: rounding to both scales takes the rest. On its own: self-consistency of "
    "each scale on the same axis. Disattenuated: alpha of all replications over the root of their "
    "product, a heuristic that may exceed 1. Shift: second scale less first, on the common axis."
)
READ_ALIGNED = (
    "Single: the mean over replications of what each gives by itself; averaged: of the mean of all "
    "replications; weighted: of the mean of the scale's values, weighted by their probabilities, "
    "where these were computed. Scores are compared as they are: ICC needs a reference on the same "
    "scale. A reference is the mean of all its scores of a response, on the same scale where it "
    "rated on several, whatever its template and temperature; its own noise lowers every "
    "coefficient."
)
READ_RANKS = (
    "Rank 1 is best. The brackets are a 95 % interval of the rank: from 1 plus the number of "
    "judges that are significantly better to the number of judges minus those significantly worse. "
    "Few to decide: fewer than ten questions decide the comparison with some other judge. The "
    "brackets of a mean rank and of tau are 95 % bootstrap intervals over questions: too narrow "
    "where judges are close, and left out where few questions decide and for tau of two judges. A "
    "measure is the mean over the cells (benchmark, criterion, definition, scale or pair) in which "
    "every judge that has any value of the measure has one; alignment is Pearson's r of the mean "
    "scores of each response with the reference."
)
SELF_CONSISTENCY_LEGEND = (
    ("point", "alpha"),
    ("noise", "alpha, not distinguishable from noise"),
    ("interval", "95 % interval"),
    ("band", "where 95 % of noise falls"),
)
ACROSS_LEGEND = (
    ("point", "alpha across scales"),
    ("noise", "the same, not distinguishable from noise"),
    ("stated", "ceiling of a judge without noise"),
)
_LEAST = 2  # temperatures to compare
_MOST_CHARTS = 24  # more figures than this are no longer looked at one by one


@dataclass(frozen=True, slots=True, kw_only=True)
class Rated:
    """What a page says of ratings; a frame is empty where there is nothing of the kind."""

    self_consistency: pl.DataFrame  # Self-consistency, from `reduce_judgments`.
    across: pl.DataFrame  # From `inter_scale_table`.
    aligned: pl.DataFrame  # From `alignment_table`.
    ranked: JudgeRanks


def rating_sections(found: Rated | None) -> list[Block]:
    """Make the sections of a page; none where nothing was rated.

    Examples
    --------
    >>> rating_sections(None)
    []
    """
    if found is None:
        return []
    return [
        Section(
            "Consistency on each scale",
            []
            if found.self_consistency.is_empty()
            else self_consistency_blocks(found.self_consistency),
        ),
        Section(
            "Consistency across scales",
            [] if found.across.is_empty() else across_blocks(found.across),
        ),
        Section("Ratings against temperature", _ratings_by_temperature(found)),
        *alignment_section(found.aligned),
        Section("Judges ranked", ranking_blocks(found.ranked)),
    ]


def alignment_section(aligned: pl.DataFrame) -> list[Block]:
    """Make the section on agreement with a reference, of :func:`alignment_blocks`.

    Examples
    --------
    >>> alignment_section(pl.DataFrame())
    []
    """
    if aligned.is_empty():
        return []
    return [Section(f"Alignment with {aligned['reference'][0]}", alignment_blocks(aligned))]


def scales_blocks(self_consistency: pl.DataFrame, across: pl.DataFrame) -> list[Block]:
    """Say how consistent judges are on each scale, and across scales.

    Examples
    --------
    >>> empty = pl.DataFrame()
    >>> scales_blocks(empty, empty)[0].text
    'no scales to compare'
    """
    if across.is_empty():
        return [Paragraph("no scales to compare")]
    return [*self_consistency_blocks(self_consistency), *across_blocks(across)]


def self_consistency_blocks(self_consistency: pl.DataFrame) -> list[Block]:
    """Say how consistent judges are on each scale, by judge, criterion and definition.

    Examples
    --------
    See ``tests/cli/test_ratings.py``.
    """
    return [
        Paragraph(READ_SELF_CONSISTENCY),
        Figures(
            _rating_figures(self_consistency, "coefficient", of="scale", title="Alpha by scale"),
            SELF_CONSISTENCY_LEGEND,
        ),
        _rating_table("Self-consistency", self_consistency, "coefficient", (), SELF_CONSISTENCY),
    ]


def across_blocks(across: pl.DataFrame) -> list[Block]:
    """Say how consistent judges are across scales, by pair of scales.

    Examples
    --------
    See ``tests/cli/test_ratings.py``.
    """
    extra = ("scales", "mapping", "level")
    return [
        Paragraph(f"Inter-scale consistency: {mapped(across)}. {READ_ACROSS}"),
        Figures(
            _rating_figures(across, "scales", of="scales", title="Alpha across scales"),
            ACROSS_LEGEND,
        ),
        _rating_table("Inter-scale consistency", across, "scales", extra, ACROSS),
    ]


def _ratings_by_temperature(found: Rated) -> list[Block]:
    """Both against temperature, a column each, where several were asked."""
    if (
        "temperature" not in found.self_consistency.columns
        or found.self_consistency["temperature"].n_unique() < 2
    ):
        return []
    tables: list[Block] = [
        _rating_table_by_heat(
            "Self-consistency by temperature", found.self_consistency, "coefficient"
        )
    ]
    if not found.across.is_empty():
        caption = "Inter-scale consistency by temperature"
        tables.append(_rating_table_by_heat(caption, found.across, "scales", ("scales", "mapping")))
        figures = alpha_charts(_scale_pair_coefficients(found.across))
        tables += [Figures(figures)] if len(figures) <= _MOST_CHARTS else []
    return tables


def _scale_pair_coefficients(across: pl.DataFrame) -> pl.DataFrame:
    """Inter-scale rows of pairs as coefficients, for the chart of alpha against temperature."""
    groups = across.columns[: across.columns.index("scales")]
    kept = ("value", "low", "high", "noise_floor", "noise_floor_sd", "noise", "n_replications",
            "undefined")  # fmt: skip
    pairs = across.filter(pl.col("n_scales") == 2)
    named = pl.lit("krippendorff_alpha").alias("coefficient")
    return pairs.select(*groups, "scales", "mapping", named, *kept)


def _rating_table_by_heat(
    caption: str, frame: pl.DataFrame, until: str, extra: Sequence[str] = ()
) -> Table:
    """A table with a column for each temperature."""
    groups = [
        name
        for name in (*frame.columns[: frame.columns.index(until)], *extra)
        if name != "temperature"
    ]
    heats = frame["temperature"].unique().sort().to_list()
    parts = [
        {row["temperature"]: row for row in part.to_dicts()}
        for part in frame.partition_by(groups, maintain_order=True)
    ]
    firsts: list[Row] = [next(iter(part.values())) for part in parts]
    columns = [
        numeric(
            f"temperature {cell(heat)}",
            [estimate(part[heat]) if heat in part else "-" for part in parts],
        )
        for heat in heats
    ]
    course = Column(
        head="as temperature rises", cells=[heat_course(list(part.values())) for part in parts]
    )
    return Table(caption, [*key_columns(firsts, groups), *columns, course])


def heat_course(rows: Sequence[Row]) -> str:
    """Say whether a number falls as the temperature rises, and if not, where it does not.

    Examples
    --------
    >>> rows = [{"temperature": heat, "value": value, "low": value - 0.1, "high": value + 0.1}
    ...         for heat, value in ((0.1, 0.9), (0.4, 0.5), (1.0, 0.6))]
    >>> heat_course(rows[:2]), heat_course(rows)
    ('falls', 'does not fall from 0.4 to 1 (intervals overlap)')
    """
    known = sorted(
        (row for row in rows if row["value"] is not None and row["temperature"] is not None),
        key=lambda row: cast(float, row["temperature"]),
    )
    if len(known) < _LEAST:
        return "-"
    found = []
    for one, other in pairwise(known):
        if cast(float, other["value"]) > cast(float, one["value"]):
            low, high = other["low"], one["high"]
            near = low is None or high is None or cast(float, low) <= cast(float, high)
            between = f"from {cell(one['temperature'])} to {cell(other['temperature'])}"
            found.append(f"{between} ({'intervals overlap' if near else 'intervals apart'})")
    if found:
        return f"does not fall {', '.join(found)}"
    return "stays" if known[0]["value"] == known[-1]["value"] else "falls"


def alignment_blocks(aligned: pl.DataFrame) -> list[Block]:
    """Say how judges agree with a reference: single, averaged, weighted.

    Examples
    --------
    >>> alignment_blocks(pl.DataFrame())[0].text
    'nothing to align'
    """
    if aligned.is_empty():
        return [Paragraph("nothing to align")]
    caption = f"Agreement with the reference, {aligned['reference'][0]}"
    return [
        Paragraph(READ_ALIGNED),
        _rating_table(caption, aligned, "coefficient", (), aligned_columns(aligned)),
    ]


def ranking_blocks(found: JudgeRanks) -> list[Block]:
    """Say how judges rank by every measure, a table a temperature.

    Examples
    --------
    >>> ranking_blocks(JudgeRanks())
    []
    """
    if found.ranks.is_empty():
        return []
    blocks: list[Block] = [Paragraph(READ_RANKS), Figures(rank_figures(found.ranks))]
    for part in found.ranks.partition_by("temperature", maintain_order=True):
        heads, lines = rank_cells(part, found.mean_ranks)
        heat = part["temperature"][0]
        at = "" if heat is None else f", temperature {cell(heat)}"
        caption = f"Ranks{at}: {'; '.join(rank_sentences(part))}"
        blocks.append(Table(caption, row_columns(heads, lines, words=heads[:1])))
    sentences = [agreement_line(row) for row in found.agreements.iter_rows(named=True)]
    return [*blocks, *(Paragraph(line, "soft") for line in sentences if line)]


def _rating_table(
    caption: str,
    frame: pl.DataFrame,
    until: str,
    extra: Sequence[str],
    columns: Columns,
) -> Table:
    """The rows of a frame, as the terminal shows them."""
    rows = frame.to_dicts()
    names = [*frame.columns[: frame.columns.index(until)], *extra]
    written = [
        Column(head=head, cells=[write(row) for row in rows], is_number="[95 %]" in head,
               kind="remark" if head == "remark" else "")
        for head, write in columns.items()
    ]  # fmt: skip
    return Table(caption, [*key_columns(rows, names), *written])


_WITHIN = ("definition",)


def _rating_figures(frame: pl.DataFrame, until: str, *, of: str, title: str) -> list[Figure]:
    """A figure a judge and criterion that has any value, a line what `of` names and definition."""
    groups = frame.columns[: frame.columns.index(until)]
    names = [name for name in groups if name not in ("scale", *_WITHIN)]
    varying = varying_groups(frame, until)
    found = []
    parts = frame.partition_by(names, maintain_order=True) if names else [frame]
    ways = "mapping" in frame.columns and frame["mapping"].n_unique() > 1
    for part in parts:
        rows = part.filter(pl.col("value").is_not_null()).to_dicts()
        if rows:
            label = group_label(rows[0], [n for n in names if n == "judge" or n in varying])
            lines = [(_rating_line_name(row, of, varying, ways=ways), row) for row in rows]
            found.append(row_figure(lines, title=title, label=label or "all ratings"))
    return found


def _rating_line_name(row: Row, of: str, varying: Sequence[str], *, ways: bool) -> str:
    """What a line is called."""
    within = [cell(row[name]) for name in _WITHIN if name in varying and row[name] is not None]
    how = [str(row["mapping"])] if ways and row["mapping"] != "minmax" else []
    return ", ".join([str(row[of]), *how, *within])


def rank_figures(ranks: pl.DataFrame) -> list[Figure]:
    """Draw judges ranked: a figure a temperature, a line a judge, a column a measure.

    Examples
    --------
    See ``tests/cli/test_ratings.py``.
    """
    found = []
    for part in ranks.partition_by("temperature", maintain_order=True):
        heat = part["temperature"][0]
        label = "all ratings" if heat is None else f"temperature {cell(heat)}"
        found.append(_rank_figure(part, label))
    return found


def _rank_figure(part: pl.DataFrame, label: str) -> Figure:
    """Judges at one temperature; rank 1 stands on top."""
    measures = part["measure"].unique(maintain_order=True).to_list()
    judges = part["judge"].unique(maintain_order=True).to_list()
    ranked = part.filter(pl.col("rank").is_not_null())
    texts = [
        f"{row['judge']}, {MEASURES.get(row['measure'], row['measure'])}: {rank_cell(row)}"
        for row in ranked.iter_rows(named=True)
    ]
    place = pl.col("measure").replace_strict(
        measures, range(len(measures)), return_dtype=pl.Float64
    )
    drawn = ranked.select("judge", "rank", place=place, label=pl.Series(texts, dtype=pl.String))
    heads = pl.DataFrame(
        [{"place": float(n), "name": MEASURES.get(name, name)} for n, name in enumerate(measures)]
    ).with_columns(rank=pl.lit(len(judges) + 0.9))
    last = drawn.group_by("judge", maintain_order=True).agg(pl.col("place", "rank").last())
    return Figure(
        title=f"Ranks of judges, {label}",
        description="; ".join(texts),
        caption=label,
        x=Axis(end=max(1.0, len(measures) - 1.0), shown=False),
        y=Axis(title="rank", start=len(judges) + 0.5, end=0.5,
               values=range(1, len(judges) + 1)),
        width=90.0 * max(1, len(measures) - 1),
        height=26.0 * len(judges),
        marks=[
            *(
                Mark(shape="line", style="join", data=of_judge, x="place", y="rank")
                for of_judge in drawn.partition_by("judge", maintain_order=True)
            ),
            Mark(shape="point", style="point", data=drawn, x="place", y="rank", label="label"),
            Mark(shape="text", style="name_behind", data=last, x="place", y="rank", label="judge"),
            Mark(shape="text", style="name_at", data=heads, x="place", label="name"),
        ],
    )  # fmt: skip


_FEW = ", few to decide"
_HEADS = {
    "pearson": "r", "spearman": "rho", "kendall": "tau-b", "icc_agreement": "ICC(A,1)",
    "icc_consistency": "ICC(C,1)",
}  # fmt: skip


def scales_short(repeated: pl.DataFrame, across: pl.DataFrame, command: str | None) -> list[Block]:
    """Lay the short answer of ``scales`` out: repeats on each scale, and agreement across scales.

    Examples
    --------
    >>> scales_short(pl.DataFrame(), pl.DataFrame(), None)[0].text
    'nothing was rated twice, or on two scales'
    """
    repeats, pairs = [*repeated.iter_rows(named=True)], [*across.iter_rows(named=True)]
    if not repeats and not pairs:
        return short_blocks("nothing was rated twice, or on two scales", [], [])
    keys = repeated.columns[: repeated.columns.index("coefficient")] if repeats else []
    sides = [*across.columns[: across.columns.index("scales")], "scales"] if pairs else []
    of_own, of_pairs = groups_of(repeats, keys), groups_of(pairs, sides)
    columns = {
        "alpha [95 %]": short_estimate,
        "shuffled": lambda row: number(row["noise_floor"]),
        "level": lambda row: cell(row["measurement"]),
    }
    beside = {
        "across [95 %]": short_estimate,
        "shuffled": lambda row: number(row["noise_floor"]),
        "ceiling": lambda row: number(row["ceiling"]),
        "shift [95 %]": lambda row: around(row, "shift"),
    }
    tables = [
        *short_table(repeats, of_own, columns, what="row"),
        *short_table(pairs, of_pairs, beside, what="row"),
    ]
    if pairs:
        meaning = f"alpha: of repeats on one scale; across: between scales, {mapped(across)}"
        tables.append(Paragraph(meaning, kind="below"))
    findings = [
        one
        for rows, groups, what in (
            (repeats, of_own, "repeats"), (pairs, of_pairs, "across scales"),
        )
        for row in rows
        for one in _rating_alpha_remarks(row, groups.of(row), what)
    ]  # fmt: skip
    items = sorted({cast(int, row["n_items"]) for row in (*repeats, *pairs)})
    asked = " to ".join(f"{one:,}" for one in dict.fromkeys((items[0], items[-1])))
    return short_blocks(
        f"consistency of ratings on and across scales: {asked} questions"
        f"{of_own.shared or of_pairs.shared}",
        tables,
        findings,
        ("rank the judges by both", command),
    )


def _rating_alpha_remarks(row: Row, who: str, what: str) -> Iterator[Remark]:
    """What weakens an alpha, or why there is none."""
    if row["undefined"]:
        text = f"{what}: {explanation(reason(row['undefined']))}"
        yield Remark(text=text, who=who, severity=GRAVE)
    yield from findings_of_row(row, who, what)


def aligned_short(aligned: pl.DataFrame, command: str | None) -> list[Block]:
    """Lay the short answer of ``align`` out: the first coefficient, once and averaged; others once.

    Examples
    --------
    >>> from judgerel_ray.analyses.ratings.tables import Alignments
    >>> aligned_short(Alignments.frame(), None)[0].text
    'nothing was rated that the reference rated, too'
    """
    every = [*aligned.iter_rows(named=True)]
    if not every:
        return short_blocks("nothing was rated that the reference rated, too", [], [])
    keys = aligned.columns[: aligned.columns.index("coefficient")]
    groups = groups_of(every, keys)
    parts: dict[str, dict[str, Row]] = {}
    for row in every:
        parts.setdefault(groups.of(row), {})[str(row["coefficient"])] = row
    names = [*dict.fromkeys(str(row["coefficient"]) for row in every)]
    rows = [{**next(iter(of.values())), "of": of} for of in parts.values()]
    first, *others = names
    head = _HEADS.get(first, first)
    columns: dict[str, Callable[[Row], str]] = {
        f"{head} [95 %]": lambda row: _single_rating_value(row["of"].get(first)),
        "averaged [95 %]": lambda row: around(row["of"].get(first, row), "averaged"),
        "weighted": lambda row: number(row["weighted"]),
    }
    for name in others:
        columns[_HEADS.get(name, name)] = _number_of(name)
    reference = ", ".join(dict.fromkeys(cell(row["reference"]) for row in every))
    items = sorted({cast(int, row["n_items"]) for row in every})
    asked = " to ".join(f"{one:,}" for one in dict.fromkeys((items[0], items[-1])))
    meaning = (
        f"{head}: {COEFFICIENTS.get(first, first)} of one rating; averaged: of the mean of all; "
        "others of one rating"
    )
    return short_blocks(
        f"agreement of ratings with {reference}: {asked} questions{groups.shared}",
        [
            *short_table(rows, groups, columns, what="row", spare=[*columns][:2:-1]),
            Paragraph(meaning, kind="below"),
        ],
        [one for row in every for one in _rating_reference_remarks(row, groups, first)],
        ("see how far the ratings repeat themselves", command),
        everyone=groups.labels.values(),
    )


def _number_of(name: str) -> Callable[[Row], str]:
    return lambda row: number((row["of"].get(name) or {}).get("single"))


def _single_rating_value(row: Row | None) -> str:
    if row is None:
        return "-"
    return f"none: {reason(row['undefined'])}" if row["undefined"] else around(row, "single")


def _rating_reference_remarks(row: Row, groups: Groups, first: str) -> Iterator[Remark]:
    """What a coefficient lacks, and whether averaging buys anything."""
    who, name = groups.of(row), COEFFICIENTS.get(str(row["coefficient"]), str(row["coefficient"]))
    if row["undefined"]:
        text = f"no {name}: {reason(row['undefined'])}"
        severity = GRAVE if row["coefficient"] == first else WEAK
        yield Remark(text=text, who=who, severity=severity)
    elif row["coefficient"] == first and cast(float, row["single_low"] or 0) <= 0:
        text = "the interval includes 0: no agreement with the reference is shown"
        yield Remark(text=text, who=who, severity=HARMFUL)
    if row["coefficient"] == first and row["gain"] is not None:
        gains = row["gain_low"] is not None and cast(float, row["gain_low"]) > 0
        text = f"averaging adds {around(row, 'gain')}"
        text = text if gains else "averaging repeats: no gain is shown"
        yield Remark(text=text, who=who, severity=PLAIN, kind=f"gain {gains}")
    yield from findings_of_row(row, who)


def ranks_short(found: JudgeRanks, command: str | None) -> list[Block]:
    """Lay the short answer of ``rank`` out: a row a judge, a column a measure.

    Examples
    --------
    >>> ranks_short(JudgeRanks(), None)[0].text
    'no judge has a measure to rank by'
    """
    if found.ranks.is_empty():
        return short_blocks("no judge has a measure to rank by", [], [])
    rows: list[dict[str, object]] = []
    findings: list[Remark] = []
    heads: dict[str, None] = {}
    several = found.ranks["temperature"].n_unique() > 1
    for part in found.ranks.partition_by("temperature", maintain_order=True):
        named, lines = rank_cells(part, found.mean_ranks)
        heat = part["temperature"][0]
        heads |= dict.fromkeys(named[1:])
        for line in lines:
            cells = {head: text.removesuffix(_FEW) for head, text in zip(named, line, strict=True)}
            rows.append({"temperature": heat, **cells})
        who = f"temperature {cell(heat)}" if several else ""
        findings += _judge_rank_remarks(part, who)
        findings += [Remark(text=text, who=who, kind=text) for text in rank_sentences(part)]
    lines_of_pairs = map(agreement_line, found.agreements.iter_rows(named=True))
    findings += [Remark(text=text, kind="tau") for text in lines_of_pairs if text]
    groups = groups_of(rows, ["temperature", "judge"])
    columns = {head: (lambda row, head=head: str(row.get(head, "-"))) for head in heads}
    n = len({row["judge"] for row in rows})
    return short_blocks(
        f"{count_of(n, 'judge')} ranked, 1 is best, in brackets the ranks it may have"
        f"{groups.shared}",
        short_table(rows, groups, columns, what="row"),
        findings,
        ("see the measures themselves", command),
        everyone=groups.labels.values(),
    )


def _judge_rank_remarks(part: pl.DataFrame, at: str) -> Iterator[Remark]:
    """Whether any measure tells the best judge, and what ranks rest on."""
    for (name,), rows in part.group_by("measure", maintain_order=True):
        what = rank_measure_in_words(name)
        known = rows.filter(pl.col("rank").is_not_null())
        sure = known.filter((pl.col("high") == 1).fill_null(value=False))["judge"].to_list()
        if sure:
            yield Remark(text=f"{what}: {cell(sure[0])} is best", who=at, severity=PLAIN)
        elif known.height > 1:
            text = f"{what}: the best judge is not decided, ranks overlap"
            yield Remark(text=text, who=at, severity=HARMFUL)
        few = rows.filter(pl.col("few").fill_null(value=False))["judge"].to_list()
        if few:
            who = "all" if len(few) == rows.height else ", ".join(map(cell, few))
            text = f"{what}: fewer than 10 questions decide a comparison of {who}"
            yield Remark(text=text, who=at, severity=WEAK)
        for code, lacking in _raters_by_lack(rows):
            text = f"{what}: {', '.join(lacking)}: {explanation(reason(code))}"
            yield Remark(text=text, who=at, severity=WEAK)


def _raters_by_lack(rows: pl.DataFrame) -> Sequence[tuple[str, list[str]]]:
    """Judges by the code of what they lack."""
    found: dict[str, list[str]] = {}
    for row in rows.filter(pl.col("undefined").is_not_null()).iter_rows(named=True):
        found.setdefault(str(row["undefined"]), []).append(cell(row["judge"]))
    return [*found.items()]
