"""What a reader should know first: how steady each judge is, and what takes the worth from that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

import polars as pl

from judgerel_ray.reduce.estimates import REPEATABILITY, REPRODUCIBILITY
from judgerel_ray.report.words import (
    NOISE,
    UNASKED,
    Row,
    cell,
    conditions,
    group_columns,
    group_label,
    number,
    percent,
    reason,
)

_MOST = 0.5


def headlines(coefficients: pl.DataFrame) -> tuple[str, ...]:
    """Read what leads every group aloud, replies without a verdict counting as one.

    Examples
    --------
    >>> row = {"coefficient": "percent_agreement", "value": 0.647, "low": 0.563, "high": 0.730,
    ...        "noise_floor": 0.528, "noise": False, "undefined": None}
    >>> said, chance = headlines(pl.DataFrame([row]))[0].split("; ")
    >>> said
    'Asked the same prompt again, this judge gives the same verdict 65 % of the time (56 % to 73 %)'
    >>> chance
    'its own verdicts shuffled across the questions would agree 53 % of the time.'
    """
    columns = group_columns(coefficients)
    said = []
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in coefficients.iter_rows(named=True):
        groups.setdefault(tuple(row[name] for name in columns), []).append(row)
    for rows in groups.values():
        text = lead(rows)
        if text is None:
            continue
        label = group_label(rows[0], columns)
        said.append(f"{label}: {text}" if label else text[0].upper() + text[1:])
    return tuple(said)


def of_ratings(rows: Sequence[Row]) -> bool:
    """Tell a group whose verdicts are numbers: it leads with the error of one rating.

    Examples
    --------
    >>> of_ratings([{"coefficient": "standard_error", "value": 0.4}])
    True
    """
    return any(row["coefficient"] == "standard_error" and row["value"] is not None for row in rows)


def lead(rows: Sequence[Row]) -> str | None:
    """Read aloud what a group's reader asks first, by the kind of judgment.

    Of ratings it is by how many points one is off; of verdicts, how often a second one agrees.

    Examples
    --------
    >>> lead([{"coefficient": "valid_rate"}]) is None
    True
    """
    name = "standard_error" if of_ratings(rows) else "percent_agreement"
    first = next((row for row in rows if row["coefficient"] == name), None)
    if first is None:
        return None
    again = [row for row in rows if row.get("conditions") == REPEATABILITY]
    beside = next((row for row in again if row["coefficient"] == name), None)
    beside = beside if first.get("conditions") == REPRODUCIBILITY else None
    said = rating_headline if name == "standard_error" else headline
    return said(first, beside)


def rating_headline(row: Row, repeated: Row | None = None) -> str:
    """Read the error of one rating aloud; `repeated` is that of the same prompt again.

    Examples
    --------
    >>> row = {"value": 0.62, "low": 0.5, "high": 0.8, "noise_floor": 1.1, "noise": False,
    ...        "unit": "item_id", "conditions": "repeatability"}
    >>> rating_headline(row)[:66]
    'asked the same prompt again, one rating of this judge has a standa'
    """
    ends = "" if row["low"] is None else f" ({number(row['low'])} to {number(row['high'])})"
    reproduced = row.get("conditions") == REPRODUCIBILITY
    asked = (
        f"asked about the same item again, {conditions(row, repeated)}"
        if reproduced
        else "asked the same prompt again"
    )
    text = (
        f"{asked}, one rating of this judge has a standard error of {number(row['value'])} "
        f"points{ends}; with its ratings shuffled across the questions it would be "
        f"{number(row['noise_floor'])}."
    )
    if row["noise"]:
        text += f" That is {NOISE}: these data do not show that the question matters to the rating."
    if repeated is not None and repeated["value"] is not None:
        text += f" Asked the same prompt again, {number(repeated['value'])} points."
    return text


def agreements(coefficients: pl.DataFrame) -> list[Row]:
    """Choose each group's agreement, replies without a verdict counting as one.

    Examples
    --------
    >>> agreements(pl.DataFrame({"coefficient": ["valid_rate"]}))
    []
    """
    return first_rows(coefficients, "percent_agreement")


def first_rows(coefficients: pl.DataFrame, name: str) -> list[Row]:
    """Choose the first row of a coefficient in every group: the policy and level that lead.

    Examples
    --------
    >>> first_rows(pl.DataFrame({"coefficient": ["x", "x"], "missing": ["category", "drop"]}), "x")
    [{'coefficient': 'x', 'missing': 'category'}]
    """
    columns = list(group_columns(coefficients))
    mine = coefficients.filter(coefficient=name)
    if not columns:
        return [*mine.head(1).to_dicts()]
    return [*mine.unique(columns, keep="first", maintain_order=True).to_dicts()]


def repeats(coefficients: pl.DataFrame, name: str) -> dict[tuple[object, ...], Row]:
    """Find a coefficient's repeatability by group, where reproducibility leads.

    Examples
    --------
    >>> repeats(pl.DataFrame({"coefficient": ["x"], "conditions": ["repeatability"]}), "x")
    {}
    """
    if "conditions" not in coefficients.columns:
        return {}
    columns = group_columns(coefficients)
    leading = {
        tuple(row[one] for one in columns)
        for row in first_rows(coefficients, name)
        if row["conditions"] == REPRODUCIBILITY
    }
    again = first_rows(coefficients.filter(conditions=REPEATABILITY), name)
    found = {tuple(row[one] for one in columns): row for row in again}
    return {key: row for key, row in found.items() if key in leading}


def headline(row: Row, repeated: Row | None = None) -> str:
    """Read one group's leading agreement aloud; `repeated` is that of the same prompt again.

    Examples
    --------
    >>> headline({"undefined": "no_verdicts"})
    'its agreement is undefined: no verdicts.'
    """
    reproduced = row.get("conditions") == REPRODUCIBILITY
    if row["undefined"] == "single_replication":
        return "every question was asked once, so nothing shows how stable its verdicts are."
    if row["undefined"]:
        return f"its agreement is undefined: {reason(row['undefined'])}."
    ends = "" if row["low"] is None else f" ({percent(row['low'])} to {percent(row['high'])})"
    asked = (
        f"asked about the same item again, {conditions(row, repeated)}, "
        if reproduced
        else "asked the same prompt again, "
    )
    text = (
        f"{asked}this judge gives the same verdict {percent(row['value'])} "
        f"of the time{ends}; its own verdicts shuffled across the questions would agree "
        f"{percent(row['noise_floor'])} of the time."
    )
    if row.get("temperature") == 0 and not reproduced:
        text += " At temperature 0 that is how steady the serving is, not the judgment."
    if row["noise"]:
        text += (
            f" That is {NOISE}: these data do not show that the question matters to the verdict."
        )
    elif cast(float, row["value"]) < cast(float, row["noise_floor"]):
        text += " It disagrees with itself more than chance would."
    if reproduced and repeated is not None and repeated["value"] is not None:
        text += f" Asked the same prompt again, it repeats itself {percent(repeated['value'])}."
    return text


def cautions(coefficients: pl.DataFrame, positions: pl.DataFrame | None) -> tuple[str, ...]:
    """Say what makes agreement worth less than it looks, in plain sentences.

    Parameters
    ----------
    coefficients : pl.DataFrame
        From :func:`judgerel_ray.reduce.reduce_judgments`.
    positions : pl.DataFrame, optional
        From :func:`judgerel_ray.report.positions.verdict_positions`, with the same groups.

    Returns
    -------
    tuple of str
        One sentence a judge and finding, its temperatures named together.

    Examples
    --------
    >>> from judgerel_ray.reduce import reduce_judgments
    >>> from judgerel_ray.report.positions import verdict_positions
    >>> rows = pl.LazyFrame({"item_id": ["q", "q", "r", "r"], "replication": [0, 1, 0, 1],
    ...                      "verdict": ["x", "x", "y", "y"], "label": ["A"] * 4})
    >>> print(cautions(reduce_judgments(rows), verdict_positions(rows))[0])
    This judge answers A whatever the options are (4 of 4 verdicts, 2 questions): agreement says nothing about its judgment.
    """  # noqa: E501
    said: list[str] = []
    if positions is not None:
        columns = positions.columns[: positions.columns.index("n_verdicts")]
        rows = positions.to_dicts()
        for label in dict.fromkeys(one_answer(row) for row in rows):
            if label is not None:
                stuck = [row for row in rows if one_answer(row) == label]
                said += [_stuck(who, mine) for who, mine in _by_judge(stuck, columns)]
        swayed = [row for row in rows if one_answer(row) is None and follows_place(row)]
        said += [_swayed(who, mine) for who, mine in _by_judge(swayed, columns)]
    said += unasked(coefficients)
    return (*said, *_silent(coefficients), *_greedy(coefficients))


def one_answer(row: Row) -> str | None:
    """Name the label of a judge that gives no other, over two questions or more.

    Examples
    --------
    >>> one_answer({"shares": [{"label": "A"}], "n_questions": 2})
    'A'
    """
    shares = cast("list[dict[str, object]]", row["shares"])
    return str(shares[0]["label"]) if len(shares) == 1 and row["n_questions"] != 1 else None


def follows_place(row: Row) -> bool:
    """Tell whether verdicts name the same place more surely than the same option.

    Examples
    --------
    >>> follows_place({"same_option": 0.2, "same_option_half": 0.1, "same_label": 0.9,
    ...                "same_label_half": None})
    True
    """
    if row["same_option"] is None or row["same_label"] is None:
        return False
    halves = [cast(float, row[f"same_{name}_half"] or 0.0) for name in ("option", "label")]
    apart = cast(float, row["same_label"]) - cast(float, row["same_option"])
    return apart > sum(halves)


def _by_judge(rows: Sequence[Row], columns: Sequence[str]) -> Iterator[tuple[str, list[Row]]]:
    """Rows that differ in temperature alone, and whom they are of."""
    rest = [name for name in columns if name != "temperature"]
    parts: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        parts.setdefault(tuple(row[name] for name in rest), []).append(row)
    for mine in parts.values():
        at = sorted(cast(float, row["temperature"]) for row in mine if _temperature(row))
        heat = f" (temperature {', '.join(cell(value) for value in at)})" if at else ""
        told = [name for name in rest if len({row[name] for row in rows}) > 1 or name == "judge"]
        yield f"{group_label(mine[0], told) or 'This judge'}{heat}", mine


def _temperature(row: Row) -> bool:
    """Whether a group has a temperature."""
    return row.get("temperature") is not None


def _stuck(who: str, rows: Sequence[Row]) -> str:
    """A judge of one answer."""
    n = sum(cast(int, row["n_verdicts"]) for row in rows)
    questions = max(cast(int, row["n_questions"]) for row in rows)
    place = any(row["is_place"] for row in rows)
    whatever = "whatever the options are" if place else "whatever the question is"
    return (
        f"{who} answers {one_answer(rows[0])} {whatever} ({n:,} of {n:,} verdicts, {questions:,} "
        "questions): agreement says nothing about its judgment."
    )


def _swayed(who: str, rows: Sequence[Row]) -> str:
    """A judge whose verdicts stay at their place when the options move."""
    label, option = ([row[f"same_{name}"] for row in rows] for name in ("label", "option"))
    return (
        f"{who} follows the place more than the option: shown the same question with its options "
        f"in another order, two verdicts name the same place {_range(label)} of the time and the "
        f"same option {_range(option)}."
    )


def _range(shares: Sequence[object]) -> str:
    """One percentage, or from the least to the greatest."""
    low, high = (percent(end(cast("Sequence[float]", shares))) for end in (min, max))
    return low if low == high else f"{low} to {high}"


def unasked(coefficients: pl.DataFrame) -> list[str]:
    """Say what agreement cannot show where nothing but the same prompt was asked again.

    Examples
    --------
    >>> row = {"coefficient": "percent_agreement", "value": 0.9, "conditions": "repeatability"}
    >>> unasked(pl.DataFrame([row]))[0][:26]
    'Reproducibility is unknown'
    """
    if "conditions" not in coefficients.columns:
        return []
    compared = coefficients.filter(pl.col("conditions").is_not_null())
    valued = compared.filter(pl.col("value").is_not_null())
    reproduced = valued.filter(conditions=REPRODUCIBILITY)
    names = group_columns(coefficients)
    if not names:
        return [UNASKED] if valued.height and reproduced.is_empty() else []
    known = set(reproduced.select(names).rows())
    groups = list(dict.fromkeys(valued.select(names).rows()))
    lacking = [key for key in groups if key not in known]
    if not lacking:
        return []
    if len(lacking) == len(groups):
        return [UNASKED]
    told = [group_label(dict(zip(names, key, strict=True)), names) for key in lacking]
    return [f"Of {'; '.join(told)}: {UNASKED}"]


def _silent(coefficients: pl.DataFrame) -> list[str]:
    """Where agreement is mostly agreement on giving no verdict."""
    rates = [row for row in first_rows(coefficients, "valid_rate") if row["value"] is not None]
    few = [row for row in rates if cast(float, row["value"]) < _MOST]
    if not few:
        return []
    judges = list(dict.fromkeys(cell(row["judge"]) for row in few if row.get("judge") is not None))
    of = f" of {', '.join(judges)}" if judges else ""
    shares = _range([row["value"] for row in few])
    where = f" in {len(few)} of {len(rates)} groups" if len(rates) > 1 else ""
    return [
        f"Fewer than half of the replies{of} hold a verdict{where} ({shares}): "
        "much of the agreement there is on giving none. Coefficients with those replies left "
        "out stand under All coefficients."
    ]


def _greedy(coefficients: pl.DataFrame) -> list[str]:
    """What agreement at temperature 0 is, where it was asked more than once."""
    repeated = [
        row
        for row in agreements(coefficients)
        if row.get("temperature") == 0
        and row["value"] is not None
        and row.get("conditions") != REPRODUCIBILITY
    ]
    if not repeated:
        return []
    return [
        "Temperature 0 is greedy: asked the same prompt in the same order again, a model repeats "
        "itself. Agreement there shows how steady the serving is, not how sound the judgment."
    ]
