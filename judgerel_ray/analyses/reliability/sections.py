"""The page's sections on reliability: agreement, outcomes, coefficients, places, single questions.

All are made of what is measured once for a page.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import replace
from typing import cast

import polars as pl

from judgerel_ray.analyses.reliability.headlines import first_rows, repeats
from judgerel_ray.blocks.blocks import (
    Block,
    Column,
    Figures,
    Folded,
    Notes,
    Paragraph,
    Section,
    Table,
    counts,
    key_columns,
    numeric,
)
from judgerel_ray.blocks.columns import natural
from judgerel_ray.blocks.words import (
    GREEDY,
    NOISE,
    Row,
    cell,
    coefficient_name,
    estimator_parts,
    explanation,
    flag_words,
    group_columns,
    group_label,
    interval,
    missing_policy,
    noted,
    number,
    percent,
    percent_interval,
    reason,
    remarks,
    replication_words,
    rows_by_group,
)
from judgerel_ray.core import OUTCOMES
from judgerel_ray.core.codes import Flag
from judgerel_ray.counting.verdicts.policy import flag_columns
from judgerel_ray.measuring.alpha_figures import alpha_charts
from judgerel_ray.measuring.lead_codes import LeadCode, lead_parts
from judgerel_ray.measuring.page_data import PageData
from judgerel_ray.measuring.unstable import (
    UNSTABLE,
    reply_blocks,
    unstable_section,
)

_HOW_TO_READ = (
    "Same verdict: how often two judgments of an item agree. Where orders of the options, "
    "templates or definitions vary, each judgment has its own, drawn at random "
    "(reproducibility), and same prompt again says how often the judge repeats itself; elsewhere "
    "only the same prompt was asked again. By chance: how often they would agree if this judge's "
    "verdicts were shuffled across the questions. Alpha puts that chance at 0 and perfect "
    "agreement at 1; ± is the standard deviation of its noise floor. No number here says that a "
    "verdict is right: a judge can be steadily wrong."
)
_OTHER_ORDERS = ("same option in another order", "same place in another order")
_REMARKS = {
    LeadCode.FEW_VERDICTS.value: "no agreement leads",
    LeadCode.FOLLOWS_PLACE.value: "follows the place",
    LeadCode.BELOW_CHANCE.value: "less than by chance",
}
ABSENT: Row = dict.fromkeys(
    ("value", "low", "high", "noise_floor", "noise_floor_sd", "noise", "no_interval", "undefined",
     "conditions")
)  # fmt: skip
"""What stands in place of a row that a group does not have."""


def reliability_on_page(measured: PageData, _options: object) -> list[Block]:
    """Make the page's sections on how far judges repeat themselves."""
    measured = measured.in_order()
    coefficients, unstable, texts = measured.coefficients, measured.unstable, measured.questions
    table = headline_table(coefficients)
    return [
        Section(
            "Agreement with itself",
            [*table, Paragraph(_HOW_TO_READ, "soft")] if table else [],
            place="first",
        ),
        Section("What came back", outcome_section(measured.outcomes), place="counts"),
        Section("Alpha against temperature", _reliability_charts(coefficients), place="serving"),
        Section("Where the verdicts fall", place_section(measured.positions), place="details"),
        Section("All coefficients", coefficient_section(coefficients), place="details"),
        Section(
            UNSTABLE,
            [
                *unstable_section(unstable, group_columns(coefficients), texts),
                *reply_blocks(measured.replies or {}, unstable, texts),
            ],
            place="details",
        ),
    ]


def _reliability_charts(coefficients: pl.DataFrame) -> list[Block]:
    """Alpha against temperature, where there are temperatures."""
    figures = alpha_charts(coefficients)
    if not figures:
        return []
    intro = (
        "1 is perfect agreement of a judge with itself, asked the same prompt again; 0 is what "
        "chance gives. The band is where 95 % of noise falls; hollow points are not "
        "distinguishable from it. Bars are 95 % intervals."
    )
    return [Paragraph(intro), Figures(figures)]


def headline_table(coefficients: pl.DataFrame) -> list[Block]:
    """Tabulate what matters most of every group: agreement, alpha, valid verdicts.

    Examples
    --------
    >>> headline_table(pl.DataFrame({"coefficient": ["flip_rate"]}))
    []
    """
    agreements = [
        _reliability_row_emptied(row) for row in first_rows(coefficients, "percent_agreement")
    ]
    if not agreements:
        return []
    names = group_columns(coefficients)

    def beside(frame_rows: Sequence[Row]) -> list[Row]:
        """The rows of the same groups, in the order of the agreements."""
        known = {
            tuple(row[name] for name in names): _reliability_row_emptied(row) for row in frame_rows
        }
        return [known.get(tuple(row[name] for name in names), ABSENT) for row in agreements]

    beside_lead = beside([*repeats(coefficients, "percent_agreement").values()])
    alphas = beside(first_rows(coefficients, "krippendorff_alpha"))
    errors = beside(first_rows(coefficients, "standard_error"))
    valid = beside(first_rows(coefficients, "valid_rate"))
    kept = beside(first_rows(coefficients, "place_consistency"))
    # Both leave out the replies without a verdict, which stand nowhere.
    placed = any(row is not ABSENT for row in kept)
    apart = coefficients.reverse() if placed else coefficients
    options = beside(first_rows(apart, "swap_consistency"))
    notes = Notes()
    # Ratings are led by the error of one.
    leading = [
        row if error["value"] is None else error
        for row, error in zip(agreements, errors, strict=True)
    ]
    rated = any(row["value"] is not None for row in errors)
    columns = [
        *key_columns(agreements, names),
        *([_reliability_value_column("error of one rating, points", errors)] if rated else []),
        _reliability_share_column("same verdict", agreements, notes),
        numeric("by chance", [percent(row["noise_floor"]) for row in agreements]),
        _reliability_share_column("same prompt again", beside_lead),
        *(
            _reliability_share_column(head, rows)
            for head, rows in zip(_OTHER_ORDERS, (options, kept), strict=True)
        ),
        _reliability_value_column("Krippendorff's alpha", alphas, notes),
        floor_column(alphas),
        _reliability_share_column("valid verdicts", valid),
        Column(
            head="remark", cells=[_reliability_lead_remark(row) for row in leading], kind="remark"
        ),
    ]
    caption = "How steady each judge is, with 95 % intervals"
    return [Table(caption, columns, cards=True, notes=notes.texts)]


def _why_no_reliability(row: Row) -> list[str]:
    """Why a coefficient has no value."""
    return [reason(row["undefined"])] if row["undefined"] and row["value"] is None else []


def _reliability_row_emptied(row: Row) -> Row:
    """A row without its numbers, where its group has too few verdicts for any but their share."""
    few = row.get("lead") == LeadCode.FEW_VERDICTS.value and row["coefficient"] != "valid_rate"
    if not few:
        return row
    kept = [one for one in noted(row) if one[0] is Flag.FEW_VERDICTS]
    undefined = {"undefined": LeadCode.FEW_VERDICTS.value}
    numbers = {name: None for name in ABSENT if name != "conditions"}
    return {**row, **numbers, **undefined, **flag_columns(kept)}


def _reliability_lead_remark(row: Row) -> str:
    """What makes the number that leads a group worth little."""
    code, answer = lead_parts(row.get("lead"))
    parts = [f"answers {answer} only"] if answer else []
    parts += [_REMARKS[code]] if code in _REMARKS else []
    parts += flag_words(row, Flag.SOME_WITHOUT)
    parts += [text for text in remarks(row) if text in (NOISE, *GREEDY)]
    return "; ".join(parts)


def _reliability_note_marks(rows: Sequence[Row], notes: Notes | None) -> list[list[int]]:
    """Numbers of the notes on each row, noise apart."""
    if notes is None:
        return []
    marking = [[text for text in remarks(row) if text not in (NOISE, *GREEDY)] for row in rows]
    return [[notes.number(explanation(text)) for text in texts] for texts in marking]


def coefficient_section(coefficients: pl.DataFrame) -> list[Block]:
    """Fold every group's coefficients away under its name, each with floor, basis and notes.

    Examples
    --------
    >>> from judgerel_ray.measuring.reliability import reduce_judgments
    >>> rows = pl.LazyFrame({"item_id": ["q", "q"], "replication": [0, 1], "verdict": ["A", "B"]})
    >>> len(coefficient_section(reduce_judgments(rows)))
    1
    """
    names = group_columns(coefficients)
    varying = [name for name in names if coefficients[name].n_unique() > 1]
    return [
        _reliability_table_folded(group_label(rows[0], varying) or "All coefficients", rows)
        for rows in rows_by_group(coefficients, names).values()
    ]


def _reliability_table_folded(label: str, rows: Sequence[Row]) -> Folded:
    """One group's coefficients."""
    notes = Notes()
    parts = [[*estimator_parts(row), *_why_no_reliability(row)] for row in rows]
    shared = set.intersection(*map(set, parts)) if len(rows) > 1 else set()
    marks = [
        sorted(notes.number(explanation(text)) for text in texts if text not in shared)
        for texts in parts
    ]
    first = rows[0]
    units = dict.fromkeys((row["conditions"], row["unit"]) for row in rows if row["conditions"])
    unit_names = [f"{unit} ({kind})" if len(units) > 1 else f"{unit}" for kind, unit in units]
    basis = (
        f"Unit of agreement: {', '.join(unit_names) or first['unit']}. Questions asked: "
        f"{first['n_items']:,}, {replication_words(first)}; "
        f"judgments: {first['n_judgments']:,}."
    )
    if shared:
        basis += (
            f" Everywhere: {'; '.join(explanation(text) for text in parts[0] if text in shared)}."
        )
    columns = [
        Column(head="coefficient", cells=[coefficient_name(row) for row in rows], marks=marks),
        Column(head="two judgments", cells=[cell(row["conditions"]) for row in rows]),
        Column(head="no verdict", cells=[missing_policy(row) for row in rows]),
        _reliability_value_column("value [95 %]", rows),
        floor_column(rows),
        numeric("p of noise", [number(row["p_noise"]) for row in rows]),
        counts("categories", [row["n_categories"] for row in rows]),
        counts("questions compared", [row["n_compared"] for row in rows]),
        counts("left out", [row["n_missing"] or None for row in rows]),
        Column(head="remark", cells=[NOISE if row["noise"] else "" for row in rows], kind="remark"),
    ]
    table = Table(f"Coefficients: {label}", columns, notes=notes.texts)
    return Folded(label, [Paragraph(basis), table])


def _reliability_share_column(head: str, rows: Sequence[Row], notes: Notes | None = None) -> Column:
    """Shares in percent with their intervals; in words where there is none."""
    cells = [
        _reliability_lack_in_short(row) if row["value"] is None else percent(row["value"])
        for row in rows
    ]
    small = [percent_interval(row["low"], row["high"]) for row in rows]
    return replace(numeric(head, cells, small), marks=_reliability_note_marks(rows, notes))


def _reliability_value_column(head: str, rows: Sequence[Row], notes: Notes | None = None) -> Column:
    """Coefficients with their intervals."""
    cells = [
        _reliability_lack_in_short(row) if row["value"] is None else number(row["value"])
        for row in rows
    ]
    small = [interval(row) for row in rows]
    return replace(numeric(head, cells, small), marks=_reliability_note_marks(rows, notes))


def _reliability_lack_in_short(row: Row) -> str:
    """Why there is no value, shortly."""
    if row["low"] is not None:
        return ""
    if row["undefined"] is None:
        return "-"
    return "asked once" if row["undefined"] == "single_replication" else reason(row["undefined"])


def floor_column(rows: Sequence[Row]) -> Column:
    """Make the column of noise floors with their spread."""
    spreads = [row["noise_floor_sd"] for row in rows]
    small = ["" if spread is None else f"± {number(spread)}" for spread in spreads]
    return numeric("noise floor", [number(row["noise_floor"]) for row in rows], small)


def outcome_section(outcomes: pl.DataFrame) -> list[Block]:
    """Tabulate what became of the requests; outcomes that never occurred are left out.

    Examples
    --------
    >>> from judgerel_ray.counting.outcomes import outcome_table
    >>> rows = pl.LazyFrame({"item_id": ["q", "r"], "verdict": ["A", None]})
    >>> [table] = outcome_section(outcome_table(rows))
    >>> [column.head for column in table.columns][-1]
    'unparsed'
    """
    rows = outcomes.to_dicts()
    seen = [name for name in OUTCOMES if name == "scored" or outcomes[name].sum()]
    names = outcomes.columns[: outcomes.columns.index("n_items")]
    shares = {
        name: [
            _repeat_share_of_whole(
                row[name], row["n_landed"] - (0 if name == "failed" else row["failed"])
            )
            for row in rows
        ]
        for name in seen
    }
    columns = [
        *key_columns(rows, names),
        counts("questions", [row["n_items"] for row in rows]),
        counts("replies", [row["n_landed"] - row["failed"] for row in rows]),
        *(
            numeric(name.replace("_", " "), [f"{row[name]:,}" for row in rows], shares[name])
            for name in seen
        ),
    ]
    return [Table(_reliability_outcome_base({name for name in seen if any(shares[name])}), columns)]


def _reliability_outcome_base(shared: Set[str]) -> str:
    """What the table of outcomes counts, and what the shares of those that have any are of."""
    text = "Outcome of every reply, counted"
    text += ", with shares of the replies" if shared - {"failed"} else ""
    failed = "; failed requests with their share of all that landed"
    return text + (failed if "failed" in shared else "")


def _repeat_share_of_whole(n: int, whole: int) -> str:
    """A share in percent, where it is some and not all."""
    return percent(n / whole) if 0 < n < whole else ""


def answer_section(answers: pl.DataFrame | None) -> list[Block]:
    """Tabulate candidate answers that responders wrote.

    Examples
    --------
    >>> answer_section(None)
    []
    """
    if answers is None or answers.is_empty():
        return []
    rows = answers.to_dicts()
    names = [name for name in answers.columns if name not in ("questions", "answers", "tokens")]
    columns = [
        *(
            Column(
                head="written by" if name == "judge" else name,
                cells=[cell(row[name]) for row in rows],
            )
            for name in names
        ),
        counts("questions", [row["questions"] for row in rows]),
        counts("answers", [row["answers"] for row in rows]),
        numeric("new tokens each (mean)", [number(row["tokens"], 1) for row in rows]),
    ]
    return [Table("Candidate answers that landed", columns)]


_MOST_LABELS = 12


def place_section(positions: pl.DataFrame | None) -> list[Block]:
    """Tabulate how often verdicts name each place, or each answer where places are not known.

    Examples
    --------
    >>> place_section(None)
    []
    """
    if positions is None or positions.is_empty():
        return []
    # What one scale calls 5 is another thing on the next: each has a table of its own.
    parts = [positions]
    if "scale" in positions.columns:
        parts = positions.partition_by("scale", maintain_order=True)
    tables = [(part, shown) for part in parts if (shown := _place_table(part))]
    places = [part for part, _ in tables if part["is_place"].any()]
    paragraphs = dict.fromkeys(_orders_sentence(part.to_dicts()) for part in places)
    return [*map(Paragraph, paragraphs), *(shown for _, shown in tables)]


def _place_table(positions: pl.DataFrame) -> Table | None:
    """Tabulate the shares of one scale; nothing where it has more values than a table shows."""
    rows = positions.to_dicts()
    shares = [_repeat_shares_by_label(row) for row in rows]
    labels = sorted({label for share in shares for label in share}, key=natural)
    if len(labels) > _MOST_LABELS:
        return None
    names = positions.columns[: positions.columns.index("n_verdicts")]
    columns = [
        *key_columns(rows, names),
        counts("verdicts", [row["n_verdicts"] for row in rows]),
        *(
            numeric(
                label,
                [percent(share[label][0]) if label in share else "0 %" for share in shares],
                [
                    _repeat_share_interval(*share[label]) if label in share else ""
                    for share in shares
                ],
            )
            for label in labels
        ),
        numeric("even", [percent(1 / n) if (n := row["n_options"]) else "-" for row in rows]),
    ]
    if not any(row["is_place"] for row in rows):
        return Table("Share of verdicts that give each answer, with 95 % intervals", columns)
    return Table("Share of verdicts that name each place, with 95 % intervals", columns)


def _repeat_shares_by_label(row: Row) -> dict[str, tuple[object, object]]:
    """Share and half its interval, by label."""
    shares = cast("list[dict[str, object]]", row["shares"])
    return {str(one["label"]): (one["share"], one["half"]) for one in shares}


def _orders_sentence(rows: Sequence[Row]) -> str:
    """What the orders asked can show."""
    if any(cast(int, row["n_orders"]) > 1 for row in rows):
        return (
            "Questions were asked with their options in several orders, drawn at random. A judge "
            "that goes by the options names the same option in another order, and every place "
            "about as often; one that goes by position names the same place."
        )
    return (
        "Every question was asked with its options in one order, the same in all replications; "
        "orders differ between questions, drawn at random. A judge that goes by the options names "
        "every place about as often. What it would say in another order was not asked: "
        "option_orders = 2 or more asks it."
    )


def _repeat_share_interval(share: object, half: object) -> str:
    """The interval of a share from half its width."""
    if half is None:
        return ""
    middle, width = cast(float, share), cast(float, half)
    return percent_interval(max(0.0, middle - width), min(1.0, middle + width))
