"""Coefficients on the page: the few that lead, and all of them folded away."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from judgerel_ray.reduce.lead_codes import FEW_FLAG, LeadCode
from judgerel_ray.report.headlines import first_rows, repeats
from judgerel_ray.report.markup import Column, Notes, counts, key_columns, paragraph, table
from judgerel_ray.report.words import (
    GREEDY,
    NOISE,
    Row,
    cell,
    coefficient_name,
    compared,
    escape,
    explanation,
    group_columns,
    group_label,
    interval,
    missing_policy,
    number,
    percent,
    percent_interval,
    reason,
    remarks,
    times,
    without_verdicts,
)

_OTHER_ORDERS = ("same option in another order", "same place in another order")
_REMARKS = {
    LeadCode.FEW_VERDICTS.value: "nothing is said of agreement",
    LeadCode.FOLLOWS_PLACE.value: "follows the place",
    LeadCode.BELOW_CHANCE.value: "less than by chance",
}
_FEW: Row = {
    **dict.fromkeys(("value", "low", "high", "noise_floor", "noise_floor_sd", "noise")),
    "undefined": LeadCode.FEW_VERDICTS.value,
}


def headline_table(coefficients: pl.DataFrame) -> str:
    """Tabulate what matters most of every group: agreement, alpha, valid verdicts.

    Parameters
    ----------
    coefficients : pl.DataFrame
        From :func:`judgerel_ray.reduce.reduce_judgments`.

    Examples
    --------
    >>> headline_table(pl.DataFrame({"coefficient": ["flip_rate"]}))
    ''
    """
    agreements = [_said_of(row) for row in first_rows(coefficients, "percent_agreement")]
    if not agreements:
        return ""
    names = group_columns(coefficients)

    def beside(frame_rows: Sequence[Row]) -> list[Row | None]:
        """The rows of the same groups, in the order of the agreements."""
        known = {tuple(row[name] for name in names): _said_of(row) for row in frame_rows}
        return [known.get(tuple(row[name] for name in names)) for row in agreements]

    beside_lead = beside([*repeats(coefficients, "percent_agreement").values()])
    alphas = beside(first_rows(coefficients, "krippendorff_alpha"))
    errors = beside(first_rows(coefficients, "standard_error"))
    valid = beside(first_rows(coefficients, "valid_rate"))
    kept = beside(first_rows(coefficients, "place_consistency"))
    # Both leave out the replies without a verdict, which stand nowhere.
    apart = coefficients.reverse() if any(kept) else coefficients
    options = beside(first_rows(apart, "swap_consistency"))
    notes = Notes()
    said = [_remark(row) for row in agreements]
    error = _values("error of one rating, points", errors)
    rated = any(row and row["value"] is not None for row in errors)
    columns = [
        *key_columns(agreements, names),
        *([error] if rated else []),  # what leads ratings
        _shares("same verdict", agreements, notes),
        Column(
            head="by chance",
            cells=[percent(row["noise_floor"]) for row in agreements],
            is_number=True,
        ),
        _shares("same prompt again", beside_lead),
        *(_shares(head, rows) for head, rows in zip(_OTHER_ORDERS, (options, kept), strict=True)),
        _values("Krippendorff's alpha", alphas, notes),
        _floors([row or {"noise_floor": None, "noise_floor_sd": None} for row in alphas]),
        _shares("valid verdicts", valid),
        Column(head="remark", cells=said, kind="remark"),
    ]
    caption = "How steady each judge is, with 95 % intervals"
    return f"{table(caption, columns, cards=True)}{notes.html()}"


def _why(row: Row) -> list[str]:
    """Why a coefficient has no value."""
    return [reason(row["undefined"])] if row["undefined"] and row["value"] is None else []


def _said_of(row: Row) -> Row:
    """A row without its numbers, where its group has too few verdicts for any but their share."""
    few = row.get("lead") == LeadCode.FEW_VERDICTS.value and row["coefficient"] != "valid_rate"
    if not few:
        return row
    told = [part for part in str(row["estimator"]).split("; ") if part.startswith(FEW_FLAG)]
    return {**row, **_FEW, "estimator": "; ".join(told)}


def _remark(row: Row) -> str:
    """What makes a row's agreement worth little."""
    code, _, answer = str(row.get("lead")).partition(":")
    said = [f"answers {answer} only"] if answer else []
    said += [_REMARKS[code]] if code in _REMARKS else []
    said += without_verdicts(row)
    said += [text for text in remarks(row) if text in (NOISE, *GREEDY)]
    return "; ".join(said)


def _marked(rows: Sequence[Row | None], notes: Notes | None) -> list[list[int]]:
    """Numbers of the notes on each row, noise apart."""
    if notes is None:
        return []
    apart = (NOISE, *GREEDY)
    said = [[text for text in remarks(row) if text not in apart] if row else [] for row in rows]
    return [[notes.number(explanation(text)) for text in texts] for texts in said]


def coefficient_section(coefficients: pl.DataFrame) -> str:
    """Fold every group's coefficients away under its name, each with floor, basis and notes.

    Examples
    --------
    >>> from judgerel_ray.reduce import reduce_judgments
    >>> rows = pl.LazyFrame({"item_id": ["q", "q"], "replication": [0, 1], "verdict": ["A", "B"]})
    >>> coefficient_section(reduce_judgments(rows)).count("<details>")
    1
    """
    names = group_columns(coefficients)
    told = [name for name in names if coefficients[name].n_unique() > 1]
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in coefficients.iter_rows(named=True):
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return "\n".join(
        _folded(group_label(rows[0], told) or "All coefficients", rows) for rows in groups.values()
    )


def _folded(label: str, rows: Sequence[Row]) -> str:
    """One group's coefficients."""
    notes = Notes()
    parts = [[*str(row["estimator"]).split("; "), *_why(row)] for row in rows]
    shared = set.intersection(*map(set, parts)) if len(rows) > 1 else set()
    marks = [
        sorted(notes.number(explanation(text)) for text in texts if text not in shared)
        for texts in parts
    ]
    first = rows[0]
    units = dict.fromkeys((row["conditions"], row["unit"]) for row in rows if row["conditions"])
    told = [f"{unit} ({kind})" if len(units) > 1 else f"{unit}" for kind, unit in units]
    basis = (
        f"Unit of agreement: {', '.join(told) or first['unit']}. Questions asked: "
        f"{first['n_items']:,}, each "
        f"{'' if first['n_replications'] == 1 else 'up to '}{times(first['n_replications'])}; "
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
        _values("value [95 %]", rows),
        _floors(rows),
        Column(head="p of noise", cells=[number(row["p_noise"]) for row in rows], is_number=True),
        counts("categories", [row["n_categories"] for row in rows]),
        counts("questions compared", [compared(row) for row in rows]),
        counts("left out", [row["n_missing"] or None for row in rows]),
        Column(head="remark", cells=[NOISE if row["noise"] else "" for row in rows], kind="remark"),
    ]
    return (
        f"<details><summary>{escape(label)}</summary>{paragraph(basis)}"
        f"{table(f'Coefficients: {label}', columns)}{notes.html()}</details>"
    )


def _shares(head: str, rows: Sequence[Row | None], notes: Notes | None = None) -> Column:
    """Shares in percent with their intervals; in words where there is none."""
    cells = [
        "-" if row is None else _none(row) if row["value"] is None else percent(row["value"])
        for row in rows
    ]
    small = ["" if row is None else percent_interval(row["low"], row["high"]) for row in rows]
    marks = _marked(rows, notes)
    return Column(head=head, cells=cells, small=small, marks=marks, is_number=True)


def _values(head: str, rows: Sequence[Row | None], notes: Notes | None = None) -> Column:
    """Coefficients with their intervals."""
    cells = [
        "-" if row is None else _none(row) if row["value"] is None else number(row["value"])
        for row in rows
    ]
    small = ["" if row is None else interval(row) for row in rows]
    marks = _marked(rows, notes)
    return Column(head=head, cells=cells, small=small, marks=marks, is_number=True)


def _none(row: Row) -> str:
    """Why there is no value, shortly."""
    if row["low"] is not None:
        return ""
    return "asked once" if row["undefined"] == "single_replication" else reason(row["undefined"])


def _floors(rows: Sequence[Row]) -> Column:
    """Noise floors with their spread."""
    cells = [number(row["noise_floor"]) for row in rows]
    small = [
        "" if row["noise_floor_sd"] is None else f"± {number(row['noise_floor_sd'])}"
        for row in rows
    ]
    return Column(head="noise floor", cells=cells, small=small, is_number=True)
