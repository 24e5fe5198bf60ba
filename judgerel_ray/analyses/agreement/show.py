"""Agreement with labels and between judges, in words and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from judgerel_ray.analyses.agreement.agreement import AgreementTables, agreement_tables
from judgerel_ray.blocks.blocks import (
    Block,
    Column,
    Heat,
    Lines,
    Paragraph,
    Section,
    Table,
    Tint,
    counts,
    estimates,
    key_columns,
    numeric,
)
from judgerel_ray.blocks.columns import natural
from judgerel_ray.blocks.result import Result
from judgerel_ray.blocks.short import (
    HARMFUL,
    MOST_ROWS,
    Remark,
    finding_lines,
    is_too_wide,
    named,
    next_step,
    with_short_names,
    without_alike_numbers,
)
from judgerel_ray.blocks.words import (
    NOISE,
    Row,
    ends_of,
    group_label,
    number,
    percent,
    reason,
    share_with_ends,
)
from judgerel_ray.core import SweepError
from judgerel_ray.counting.verdicts.policy import NOISE_ABOVE
from judgerel_ray.measuring.page_data import PageData

TITLE = "Agreement with labels and between judges"
_MOST_TINT = 45  # percent of the mark's colour: its text stays readable on it
_MOST_LISTED = 10  # pairs that are listed one by one
_LEAST = 3  # judges of a matrix
_MOST_CLASSES = 6  # rows of labels in the short answer
_EXTREMES = 4  # pairs that agree least, and most, where there are too many
_POLICIES = {"category": "a verdict of its own", "drop": "left out"}
_BRIEF = {"category": "counts", "drop": "left out"}
_READ = (
    "Kappa is 1 where verdicts and labels always agree and 0 where they agree as often as the "
    "labels shuffled across the questions would; a question weighs 1, shared among its verdicts. "
    "People: the kappa of two people who labelled the same question, which a judge as good as a "
    "person would reach. Recall of a positive class is the rate of true positives, of a negative "
    "one that of true negatives. Intervals are 95 %, by question."
)


def agreement_blocks(tables: Mapping[str, pl.DataFrame]) -> list[Block]:
    """Lay out agreement with labels, class by class, and that of every two judges.

    Examples
    --------
    >>> from judgerel_ray.analyses.agreement.agreement import AgreementTables
    >>> [type(block).__name__ for block in agreement_blocks(AgreementTables().tables())]
    ['Paragraph']
    """
    found = [
        *_label_agreement_table(tables["labels"]),
        *_agreement_label_table(tables["classes"]),
        *_judge_agreement_tables(tables["pairs"]),
    ]
    return [*found, *reading_blocks()]


def reading_blocks() -> list[Block]:
    """What the numbers mean."""
    return [Paragraph(_READ, "soft")]


def short_agreement_blocks(tables: Mapping[str, pl.DataFrame], command: str | None) -> list[Block]:
    """Lay out the short answer: label by label and pair by pair only as far as a screen goes.

    `command` checks the same judgments against requirements; None of a frame.
    """
    labels, pairs = tables["labels"].filter(pl.col("n_items") > 0), tables["pairs"]
    many = labels.height > MOST_ROWS
    found = [*_label_agreement_table(_one_row_a_judge(labels) if many else labels)]
    names = [
        name
        for name in labels.columns[: labels.columns.index("missing")]
        if name == "judge" or labels[name].n_unique() > 1
    ]
    noise: dict[str, list[str]] = {}
    for row in labels.to_dicts():
        if (row["p_noise"] or 0) > NOISE_ABOVE:
            noise.setdefault(group_label(row, names), []).append("labels")
    for row in pairs.to_dicts() if pairs.height <= _MOST_LISTED else ():
        if (row["p_noise"] or 0) > NOISE_ABOVE:
            noise.setdefault(str(row["judge_a"]), []).append(str(row["judge_b"]))
    left_out = "left out: kappa without replies that hold no verdict"
    remarks = [Remark(text=left_out)] if many and labels["missing"].n_unique() > 1 else []
    remarks += [
        Remark(text=f"kappa with {named(others)} is {NOISE}", who=who, severity=HARMFUL)
        for who, others in noise.items()
    ]
    hidden = tables["classes"].height > _MOST_CLASSES
    found += [] if hidden else _agreement_label_table(tables["classes"])
    if pairs.height <= _MOST_LISTED:
        found += _judge_agreement_tables(pairs)
    else:
        first = pairs.filter(missing=pairs["missing"][0])
        ranked = first.filter(pl.col("cohen_kappa").is_not_null()).sort("cohen_kappa")
        extremes = pl.concat([ranked.head(_EXTREMES), ranked.tail(_EXTREMES)])
        found += _judge_agreement_tables(extremes)
        more = f"{first.height - extremes.height:,} pairs between these"
        remarks.append(Remark(text=f"{more}: --full, and as a matrix on the page of report"))
    if hidden:
        remarks.append(Remark(text="label by label: --full"))
    tables_of = [_narrow_agreement_table(one) for one in found if isinstance(one, Table)]
    shown, remarks, _ = with_short_names(tables_of, remarks)
    lines = finding_lines(remarks)
    step = next_step(("check them against requirements", command))
    return [*shown, *([Lines(lines)] if lines else []), *step]


def _one_row_a_judge(labels: pl.DataFrame) -> pl.DataFrame:
    """Rows of one missing policy, those of the other as a column beside them."""
    keys = labels.columns[: labels.columns.index("missing")]
    first = labels.filter(missing=labels["missing"][0])
    others = labels.filter(pl.col("missing") != labels["missing"][0])
    return first.join(
        others.select(*keys, kappa_left_out="cohen_kappa"), on=keys, how="left", nulls_equal=True
    )


def _narrow_agreement_table(table: Table) -> Table:
    """Leave alpha out where a row would not fit: it stands beside kappa, and is nearly the same."""
    table = replace(table, fits=True)
    if is_too_wide(without_alike_numbers(table)):
        table = replace(table, columns=[one for one in table.columns if one.head != "alpha"])
    return table


def _label_agreement_table(labels: pl.DataFrame) -> list[Block]:
    """Judges against labels, a row each."""
    rows = labels.to_dicts()
    if not rows:
        return []
    keys = labels.columns[: labels.columns.index("missing")]
    people = [] if labels["people_kappa"].is_null().all() else [
        _agreement_estimate_cells("people's kappa", rows, "people_kappa", "people")
    ]  # fmt: skip
    beside = [
        numeric(_BRIEF["drop"], [number(row["kappa_left_out"]) for row in rows])
    ] if "kappa_left_out" in labels.columns else []  # fmt: skip
    columns = [
        *key_columns(rows, keys),
        *_agreement_policy_column(rows),
        counts("labelled", [row["n_items"] for row in rows]),
        _agreement_share_column("accuracy", rows),
        *_agreement_kappa_columns(rows),
        *beside,
        *people,
        numeric("by chance", [number(row["noise_floor"]) for row in rows]),
    ]
    return [Table("Judges against labels", columns)]


def _agreement_label_table(classes: pl.DataFrame) -> list[Block]:
    """Every label: how often it is given and found."""
    rows = classes.to_dicts()
    if not rows:
        return []
    keys = classes.columns[: classes.columns.index("missing")]
    columns = [
        *key_columns(rows, keys),
        *_agreement_policy_column(rows),
        Column(head="label", cells=[str(row["label"]) for row in rows]),
        counts("labelled", [row["n_items"] for row in rows]),
        numeric("of labels", [percent(row["label_share"]) for row in rows]),
        numeric("of verdicts", [percent(row["verdict_share"]) for row in rows]),
        _agreement_share_column("recall", rows),
        _agreement_share_column("precision", rows),
    ]
    return [Table("Label by label", columns)]


def _judge_agreement_tables(pairs: pl.DataFrame) -> list[Block]:
    """Every two judges: a matrix of three or more, and a list of few pairs."""
    if pairs.is_empty():
        return []
    keys = pairs.columns[: pairs.columns.index("judge_a")]
    found: list[Block] = []
    for _, part in pairs.group_by([*keys, "missing"], maintain_order=True):
        judges = sorted({*part["judge_a"], *part["judge_b"]}, key=natural)
        if len(judges) >= _LEAST:
            found.append(
                _agreement_kappa_matrix(part, judges, keys, several=pairs["missing"].n_unique() > 1)
            )
    rows = pairs.to_dicts()
    if len(rows) <= _MOST_LISTED:
        columns = [
            *key_columns(rows, keys),
            *(replace(one, head=one.head[-1]) for one in key_columns(rows, ["judge_a", "judge_b"])),
            *_agreement_policy_column(rows),
            counts("shared", [row["n_items"] for row in rows]),
            *_agreement_kappa_columns(rows),
            _agreement_estimate_cells("alpha", rows, "krippendorff_alpha", "alpha"),
            numeric("agreement", [percent(row["percent_agreement"]) for row in rows]),
        ]
        found.append(Table("Judges against each other", columns))
    return found


def _agreement_kappa_matrix(
    part: pl.DataFrame, judges: Sequence[str], keys: Sequence[str], *, several: bool
) -> Heat:
    """Kappa of every two judges, tinted by it."""
    known = {}
    for row in part.iter_rows(named=True):
        for one, other in (("judge_a", "judge_b"), ("judge_b", "judge_a")):
            known[row[one], row[other]] = row["cohen_kappa"]
    first = part.row(0, named=True)
    whose = group_label(first, keys) if keys else ""
    policy = f"replies without a verdict {_POLICIES[first['missing']]}" if several else ""
    words = [text for text in (whose, policy) if text]
    return Heat(
        caption=": ".join(["Cohen's kappa between judges", *([", ".join(words)] if words else [])]),
        heads=["judge", *judges],
        rows=[(one, "", [_tint(known.get((one, other)), one == other) for other in judges])
              for one in judges],
    )  # fmt: skip


def _tint(kappa: object, is_itself: bool) -> Tint:
    """One kappa; a dash on the diagonal and where there is none."""
    if is_itself or not isinstance(kappa, float):
        return Tint(text="-")
    return Tint(text=number(kappa, 2), percent=_MOST_TINT * max(0.0, kappa))


def _agreement_kappa_columns(rows: Sequence[Row]) -> list[Column]:
    """Kappa with its interval, or why there is none; what is compared, where that is ratings."""
    levels = [str(row["measurement"]) for row in rows]
    is_weighted = "nominal" not in levels
    compared = [] if len({*levels}) < 2 else [Column(head="compared as", cells=levels)]
    head = "quadratic kappa" if is_weighted else "Cohen's kappa"
    cells = [number(row["cohen_kappa"]) if row["undefined"] is None
             else f"undefined: {reason(row['undefined'])}" for row in rows]  # fmt: skip
    return [*compared, numeric(head, cells, [ends_of(row, "kappa") for row in rows])]


def _agreement_estimate_cells(head: str, rows: Sequence[Row], name: str, of: str) -> Column:
    """A number with its interval beside it."""
    return estimates(head, rows, name, lambda row: ends_of(row, of))


def _agreement_share_column(name: str, rows: Sequence[Row]) -> Column:
    """A share in percent with its interval."""
    shares = [{"value": row[name], "low": row[f"{name}_low"], "high": row[f"{name}_high"]}
              for row in rows]  # fmt: skip
    return numeric(name, [share_with_ends(share) for share in shares])


def _agreement_policy_column(rows: Sequence[Row]) -> list[Column]:
    """What replies without a verdict count as, where that makes two rows of one."""
    if len({row["missing"] for row in rows}) < 2:
        return []
    return [Column(head="no verdict", cells=[_BRIEF[str(row["missing"])] for row in rows])]


def agreement_result(
    found: AgreementTables, notes: tuple[str, ...], command: str | None = None
) -> Result[AgreementTables]:
    """Agreement with labels and between judges, as every format is made of it.

    `command` checks the same judgments against requirements.
    """
    tables = found.tables()
    return Result(
        found=found, tables=tables, notes=notes, full=lambda: agreement_blocks(tables),
        short=lambda: short_agreement_blocks(tables, command), legend=reading_blocks,
        rows=found.labels if found.pairs.is_empty() else found.pairs,
    )  # fmt: skip


def agreement_on_page(measured: PageData, _options: object) -> list[Block]:
    """Make the page's section; none where nothing is known to agree with."""
    try:
        found = agreement_tables(measured.judged)
    except SweepError:  # one judge without labels, or too many judges: the page has more to say
        return []
    return [Section(TITLE, agreement_blocks(found.tables()))]
