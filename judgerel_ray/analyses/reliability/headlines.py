"""Sentences on what leads each group: how consistent the judge is, and why to distrust it."""

from __future__ import annotations

from typing import cast

import polars as pl

from judgerel_ray.blocks.words import (
    CONFOUNDED,
    NOISE,
    UNASKED,
    Row,
    conditions,
    group_columns,
    group_label,
    judges_other_answers,
    noted,
    number,
    percent,
    reason,
    rows_by_group,
)
from judgerel_ray.core import count_of
from judgerel_ray.core.codes import Flag
from judgerel_ray.counting.verdicts.policy import REPEATABILITY, REPRODUCIBILITY
from judgerel_ray.measuring.lead_codes import (
    Lead,
    LeadCode,
    Replies,
    first_of_groups,
    lead,
    spans_prompts,
)

WARNINGS = (
    LeadCode.FEW_VERDICTS, LeadCode.ONE_ANSWER, LeadCode.ONE_PLACE, LeadCode.NAMES_UNKNOWN,
    LeadCode.FOLLOWS_PLACE,
)  # fmt: skip
"""What makes agreement worth less than it looks, or nothing."""
FEW_QUESTIONS = 10
"""Questions below which a sentence says that it rests on few."""
_MOST = 12  # groups warned of by name on a page; all stand in its table


def lead_text(found: Lead) -> str:
    """Say the leading finding of a group in a sentence.

    Examples
    --------
    >>> replies = Replies(n_valid=4, n_replies=40)
    >>> lead_text(Lead(code=LeadCode.FEW_VERDICTS, n_items=10, replies=replies))
    '4 of 40 replies (10 %) hold a verdict, too few to report agreement first; the tables keep it \
with a flag.'
    """
    code, row = found.code, found.row
    if code is LeadCode.FEW_VERDICTS:
        return (
            f"{_held(found.replies)} hold a verdict, too few to report agreement first; the tables "
            "keep it with a flag."
        )
    if code in (LeadCode.ONE_ANSWER, LeadCode.ONE_PLACE):
        return _repeat_headline_if_stuck(found)
    if code is LeadCode.FOLLOWS_PLACE and found.place and found.option:
        return (
            "this judge follows the place more than the option: shown the same question with its "
            "options in another order, two verdicts name the same place "
            f"{_share(found.place)} of the time and the same option {_share(found.option)}."
            f"{_again(found)}{_without(found)}{_few(found.place, found.n_items)}"
        )
    if code is LeadCode.NAMES_UNKNOWN:
        return (
            "whether its verdicts stay when the options change their order is not known: the file "
            "has several orders and does not say whether a verdict names an option or a place "
            "(--verdict-names option or --verdict-names place, or a column label)."
            f"{_again(found)}{_without(found)}{_few(found.repeated, found.n_items)}"
        )
    if row is None:
        return "none of the coefficients asked for leads."
    writer = rating_headline if row["coefficient"] == "standard_error" else headline
    return f"{writer(row, found.repeated)}{_without(found)}{_few(row, found.n_items)}"


def _few(row: Row | None, n_items: int) -> str:
    """On how few questions it rests, where one of them can move it."""
    if row is None or row["value"] is None:
        return ""
    n = cast(int, row.get("n_compared") or n_items)
    if 0 < n < FEW_QUESTIONS:
        return f" This rests on {count_of(n, 'question')}: a few more can change it."
    if Flag.FEW_INFORMATIVE in dict(noted(row)):
        return f" Of the {n:,} questions few decide this: one of them can move it."
    return ""


def _held(replies: Replies | None) -> str:
    """How many replies, of all."""
    if replies is None:
        return "fewer than half of the replies"
    n, of = replies.n_valid, replies.n_replies
    return f"{n:,} of {of:,} replies ({percent(n / of)})"


def _repeat_headline_if_stuck(found: Lead) -> str:
    """A judge of one answer."""
    place = found.code is LeadCode.ONE_PLACE
    whatever = "whatever the options are" if place else "whatever the question is"
    n = (
        f"{found.replies.n_valid:,} of {found.replies.n_valid:,} verdicts, "
        if found.replies
        else ""
    )
    return (
        f"this judge answers {found.answer} {whatever} ({n}{count_of(found.n_items, 'question')}): "
        "agreement says nothing about its judgment."
    )


def _share(row: Row) -> str:
    """A share with its interval."""
    return f"{percent(row['value'])}{_ends(row)}"


def _ends(row: Row) -> str:
    """The interval of a share; nothing where there is none."""
    return "" if row["low"] is None else f" ({percent(row['low'])} to {percent(row['high'])})"


def _again(found: Lead) -> str:
    """How often it says the same to the same prompt, beside a lead that is about other prompts."""
    row = found.repeated
    if row is None or row["value"] is None:
        return ""
    if row["coefficient"] == "standard_error":
        return f" {_repeat_words(row)}, {number(row['value'])} points."
    return f" {_repeat_words(row)}, it repeats itself {_share(row)} of the time."


def _repeat_words(row: Row) -> str:
    """What a repeat is: the same prompt, unless other answers stand in it."""
    if judges_other_answers(row):
        return "Asked the same question again, with another answer to judge"
    return "Asked the same prompt again"


def _repeat_headline_lowered(text: str) -> str:
    """A sentence as it stands after a colon."""
    return text[0].lower() + text[1:]


def _without(found: Lead) -> str:
    """What replies without a verdict have to do with it, where they are more than a few."""
    replies = found.replies
    if replies is None or replies.flag is None or found.code is LeadCode.UNDEFINED:
        return ""
    n = replies.n_replies - replies.n_valid
    sentence = f" {n:,} of {replies.n_replies:,} replies hold no verdict"
    if found.row is None or found.row["coefficient"] == "standard_error":
        return f"{sentence}."
    alone = found.apart
    if alone is None or alone["value"] is None or found.row.get("missing") != "category":
        return f"{sentence}."
    return (
        f"{sentence} and count as agreeing with each other; without them agreement is "
        f"{percent(alone['value'])}."
    )


def group_leads(coefficients: pl.DataFrame) -> list[tuple[Lead, str]]:
    """Find what leads every group, and read it aloud with the group's name.

    Examples
    --------
    >>> row = {"coefficient": "percent_agreement", "value": 0.647, "low": 0.563, "high": 0.730,
    ...        "noise_floor": 0.528, "noise": False, "undefined": None,
    ...        "n_compared": 55}
    >>> said, chance = group_leads(pl.DataFrame([row]))[0][1].split("; ")
    >>> said
    'Asked the same prompt again, this judge gives the same verdict 65 % of the time (56 % to 73 %)'
    >>> chance
    'its own verdicts shuffled across the questions would agree 53 % of the time.'
    """
    columns = group_columns(coefficients)
    leads = []
    for rows in rows_by_group(coefficients, columns).values():
        found = lead(rows)
        if found is not None:
            text, label = lead_text(found), group_label(rows[0], columns)
            leads.append((found, f"{label}: {text}" if label else text[0].upper() + text[1:]))
    return leads


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
        else _repeat_headline_lowered(_repeat_words(row))
    )
    text = (
        f"{asked}, one rating of this judge has a standard error of {number(row['value'])} "
        f"points{ends}; with its ratings shuffled across the questions it would be "
        f"{number(row['noise_floor'])}."
    )
    if row["noise"]:
        text += f" That is {NOISE}: these data do not show that the question matters to the rating."
    if repeated is not None and repeated["value"] is not None:
        text += f" {_repeat_words(repeated)}, {number(repeated['value'])} points."
    return text


def first_rows(coefficients: pl.DataFrame, name: str) -> list[Row]:
    """Choose the first row of a coefficient in every group: the policy and level that lead.

    Examples
    --------
    >>> first_rows(pl.DataFrame({"coefficient": ["x", "x"], "missing": ["category", "drop"]}), "x")
    [{'coefficient': 'x', 'missing': 'category'}]
    """
    return [*first_of_groups(coefficients, name).to_dicts()]


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
    asked = (
        f"asked about the same item again, {conditions(row, repeated)}, "
        if reproduced
        else f"{_repeat_headline_lowered(_repeat_words(row))}, "
    )
    text = (
        f"{asked}this judge gives the same verdict {percent(row['value'])} "
        f"of the time{_ends(row)}; its own verdicts shuffled across the questions would agree "
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
        text += f" {_repeat_words(repeated)}, it repeats itself {percent(repeated['value'])}."
    return text


def cautions(coefficients: pl.DataFrame) -> tuple[str, ...]:
    """Say what makes agreement worth less than it looks, in plain sentences.

    Parameters
    ----------
    coefficients : pl.DataFrame
        Of one group or of several, from :func:`.reduce_judgments`.

    Returns
    -------
    tuple of str
        One sentence a group that leads with one of `WARNINGS`, and what holds of all.

    Examples
    --------
    >>> from judgerel_ray.measuring.reliability import reduce_judgments
    >>> rows = pl.LazyFrame({"item_id": ["q", "q", "r", "r"], "replication": [0, 1, 0, 1],
    ...                      "verdict": ["x", "x", "y", "y"], "label": ["A"] * 4})
    >>> print(cautions(reduce_judgments(rows))[0])
    This judge answers A whatever the options are (4 of 4 verdicts, 2 questions): agreement says nothing about its judgment.
    """  # noqa: E501
    sentences = [text for found, text in group_leads(coefficients) if found.code in WARNINGS]
    if len(sentences) > _MOST:
        more = f"{len(sentences) - _MOST:,} groups more: see the remarks below."
        sentences = [*sentences[:_MOST], more]
    return (*sentences, *unasked(coefficients), *_greedy_repeat_headline(coefficients))


def unasked(coefficients: pl.DataFrame) -> list[str]:
    """Say what agreement cannot show where nothing but the same prompt was asked again.

    Where repeats judge other answers, not even the judge's own repeatability is known.

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
    if "lead" in valued.columns:  # asked, or nothing to be had from asking
        apart = (LeadCode.NAMES_UNKNOWN.value, LeadCode.FEW_VERDICTS.value)
        valued = valued.filter(~pl.col("lead").is_in(apart).fill_null(False))
    names = group_columns(coefficients)
    rows = [(tuple(row[name] for name in names), row) for row in valued.iter_rows(named=True)]
    mixed = {key for key, row in rows if judges_other_answers(row)}
    known = {
        tuple(row[name] for name in names)
        for row in compared.iter_rows(named=True)
        if spans_prompts(row)
    }
    groups = list(dict.fromkeys(key for key, _ in rows))
    sentences = []
    for text, of in ((CONFOUNDED, mixed), (UNASKED, {*groups} - known - mixed)):
        lacking = [key for key in groups if key in of]
        if lacking and len(lacking) < len(groups):
            labels = [group_label(dict(zip(names, key, strict=True)), names) for key in lacking]
            text = f"Of {'; '.join(labels)}: {text}"
        sentences += [text] if lacking else []
    return sentences


def _greedy_repeat_headline(coefficients: pl.DataFrame) -> list[str]:
    """What agreement at temperature 0 is, where it was asked more than once."""
    repeated = [
        row
        for row in first_rows(coefficients, "percent_agreement")
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
