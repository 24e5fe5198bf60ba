"""The leading finding of a group as one code, decided once for terminal, page and JSON.

A coefficient answers a question that makes sense only where replies hold verdicts, where these
differ, and where it is known what they name. The code says which of these fails, or which number
leads; its figures stand in the group's rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import cast

import polars as pl

from judgerel_ray.blocks.words import estimator_words, group_columns
from judgerel_ray.core.codes import Flag, Noted
from judgerel_ray.counting.columns import is_judge
from judgerel_ray.counting.counted import Group
from judgerel_ray.counting.nesting import N, UnitRows
from judgerel_ray.counting.verdicts.places import SHOWN, place
from judgerel_ray.counting.verdicts.policy import (
    FAILED,
    LABEL,
    NEEDS_NOMINAL,
    REPEATABILITY,
    REPRODUCIBILITY,
    SCORED,
    Row,
)

FEWEST = 0.5
"""Share of replies with a verdict below which no agreement leads.

Of two replies of such a judge at most one pair in four has a verdict on both sides (share squared),
and the verdicts that are there are the choice of the smaller part: what is left out outweighs what
is compared, whatever it would have said.
"""
NEARLY_ALL = 0.95
"""Share below which agreement is flagged: one pair in ten, or more, lacks a verdict (1 - .95^2)."""
_TWO = 2
_MANY = 100  # groups above which all rows are looked through, not each group's
_HALF = 0.5


class LeadCode(StrEnum):
    """What leads a group, the first that holds.

    Attributes
    ----------
    FEW_VERDICTS
        Fewer than `FEWEST` of the replies hold a verdict; figures: valid_rate.
    ONE_ANSWER, ONE_PLACE
        All verdicts are the same one, or name the same place; followed by ``:`` and its name.
    NAMES_UNKNOWN
        Orders of the options vary, and whether a verdict names an option or a place is not known.
    FOLLOWS_PLACE
        In another order verdicts name the same place (place_consistency) more surely than the same
        option (swap_consistency): their intervals do not meet.
    UNDEFINED
        Agreement is undefined, its row says why.
    RATING_ERROR
        standard_error, of ratings.
    NOISE, BELOW_CHANCE
        percent_agreement (of ratings standard_error) cannot be told from what shuffled verdicts
        give; or is below it.
    AGREEMENT
        percent_agreement.
    """

    FEW_VERDICTS = "few_verdicts"
    ONE_ANSWER = "one_answer"
    ONE_PLACE = "one_place"
    NAMES_UNKNOWN = "verdict_names_unknown"
    FOLLOWS_PLACE = "follows_place"
    UNDEFINED = "undefined"
    RATING_ERROR = "rating_error"
    NOISE = "noise"
    BELOW_CHANCE = "below_chance"
    AGREEMENT = "agreement"


_BEFORE_ANSWER = ":"


def lead_parts(lead: object) -> tuple[str, str]:
    """Take the column ``lead`` apart: its code, and the answer or place that is always given.

    Examples
    --------
    >>> lead_parts("one_answer:A"), lead_parts("noise"), lead_parts(None)
    (('one_answer', 'A'), ('noise', ''), ('', ''))
    """
    code, _, answer = str(lead or "").partition(_BEFORE_ANSWER)
    return code, answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Replies:
    """What the replies of a group hold."""

    n_valid: int = 0  # Replies with a verdict, and all; requests that failed got none.
    n_replies: int = 0
    only: str | None = None  # The verdict that all of them hold, on two questions or more.
    # The places they name, so far as labels tell, on two questions or more.
    places: frozenset[str] = frozenset()

    @property
    def are_few(self) -> bool:
        """Whether too few hold a verdict to say anything of agreement."""
        return self.n_valid < FEWEST * self.n_replies

    @property
    def habit(self) -> str | None:
        """The code of a judge that gives one answer, or names one place, whatever is asked."""
        if len(self.places) == 1 and (place := min(self.places)) != self.only:
            return f"{LeadCode.ONE_PLACE.value}{_BEFORE_ANSWER}{place}"
        # One option at several places is no habit: it may be the better one of every question.
        stays = self.only is not None and len(self.places) <= 1
        return f"{LeadCode.ONE_ANSWER.value}{_BEFORE_ANSWER}{self.only}" if stays else None

    @property
    def flag(self) -> Noted | None:
        """What weakens agreement where verdicts are missing."""
        if self.are_few:
            return Flag.FEW_VERDICTS, (self.n_valid, self.n_replies)
        if self.n_valid < NEARLY_ALL * self.n_replies:
            return Flag.SOME_WITHOUT, (self.n_replies - self.n_valid, self.n_replies)
        return None


def replies_of(group: Group) -> Replies:
    """Count what the replies of a group hold.

    Examples
    --------
    >>> from judgerel_ray.counting.groups.matrix import unit_table
    >>> from judgerel_ray.counting.nesting import nest_rows
    >>> rows = pl.DataFrame({"item_id": ["q", "q", "r"], "verdict": ["A", None, "A"],
    ...                      "score": [None] * 3, "outcome": ["scored", "refused", "scored"],
    ...                      "n": [2, 1, 3]}, schema_overrides={"score": pl.Float64})
    >>> nested = nest_rows(rows, unit=["item_id"], kinds=["verdict", "score", "outcome"])
    >>> group = Group(table=unit_table(nested, unit=["item_id"], cluster=["item_id"]),
    ...               unit=("item_id",), level="nominal", n_categories=1, n_outcomes=1)
    >>> replies_of(group)
    Replies(n_valid=5, n_replies=6, only='A', places=frozenset())
    """
    table = group.table
    n_valid, n_replies = table.n_rows(SCORED), table.n_rows(~FAILED)
    only, places = None, frozenset[str]()
    if n_valid and group.moments is None and table.n_items >= _TWO:
        verdicts = table.kinds.filter(pl.Series(table.counts_UK.sum(axis=0) > 0) & SCORED)
        named = verdicts.select(LABEL).to_series().unique()
        only = str(named.item()) if named.len() == 1 else None
        places = _lead_verdict_places(group.rows, n_valid) if group.rows.places else frozenset()
    return Replies(n_valid=n_valid, n_replies=n_replies, only=only, places=places)


def replies_in(rows: pl.DataFrame) -> Replies:
    """Count what replies hold, of counted rows.

    Examples
    --------
    >>> counted = {"outcome": ["scored", "refused", "failed"], "n": [3, 1, 1]}
    >>> replies_in(pl.DataFrame(counted)).n_replies
    4
    """
    held = rows.select(
        n_valid=_lead_rows_of_kind(SCORED), n_replies=_lead_rows_of_kind(~FAILED)
    ).row(0)
    return Replies(n_valid=held[0], n_replies=held[1])


def _lead_rows_of_kind(kind: pl.Expr) -> pl.Expr:
    """How many rows of a kind."""
    return pl.col(N).filter(kind.fill_null(False)).sum().cast(pl.Int64)


def _lead_verdict_places(rows: UnitRows, n_valid: int) -> frozenset[str]:
    """The places that verdicts name, where labels were counted."""
    stood = rows.by_place()
    n_placed = stood.totals
    named = [name for name, n in zip(rows.places or (), n_placed, strict=True) if n]
    return _place_set([*named, *([None] if n_placed.sum() < n_valid else [])])


def _place_set(places: Sequence[str | None]) -> frozenset[str]:
    """Places by name; a verdict that names none, such as a tie, is a place of its own."""
    named = {one for one in places if one is not None}
    return frozenset(named | {""}) if named and None in places else frozenset(named)


def steady_within_units(group: Group) -> bool:
    """Tell whether each unit has one verdict at most, as of a judge that always names one place.

    Examples
    --------
    >>> from judgerel_ray.counting.groups.matrix import unit_table
    >>> from judgerel_ray.counting.nesting import nest_rows
    >>> rows = pl.DataFrame({"item_id": ["q", "r"], "verdict": ["x", "y"], "score": [None] * 2,
    ...                      "outcome": ["scored"] * 2, "n": [2, 3]},
    ...                     schema_overrides={"score": pl.Float64})
    >>> nested = nest_rows(rows, unit=["item_id"], kinds=["verdict", "score", "outcome"])
    >>> steady_within_units(
    ...     Group(table=unit_table(nested, unit=["item_id"], cluster=["item_id"]),
    ...           unit=("item_id",), level="nominal", n_categories=1, n_outcomes=1))
    True
    """
    scored = group.table.kinds.select(SCORED.fill_null(False)).to_series().to_numpy()
    return int(((group.table.counts_UK[:, scored] > 0).sum(axis=1)).max(initial=0)) <= 1


def named_places(
    rows: pl.LazyFrame,
    columns: Sequence[str],
    groups: Sequence[str],
    keys: Sequence[Mapping[str, object]],
) -> list[frozenset[str]]:
    """Find the places that the verdicts of groups name, whose labels were not counted.

    One more pass over the rows, so it is asked of groups alone that cannot be told otherwise.

    There are none where no label tells.

    Examples
    --------
    >>> rows = pl.LazyFrame({"item_id": ["q", "r"], "verdict": ["x", "y"], "label": ["A", "A"]})
    >>> named_places(rows, ["item_id", "verdict", "label"], [], [{}])
    [frozenset({'A'})]
    """
    answered = [pl.col(name).is_not_null() for name in ("verdict", "score") if name in columns]
    rows = rows.filter(is_judge(columns), pl.any_horizontal(answered))
    if "outcome" in columns:
        rows = rows.filter(pl.col("outcome").cast(pl.String).fill_null("scored") == "scored")
    wanted = [
        pl.all_horizontal(pl.col(name).eq_missing(pl.lit(key[name])) for name in groups)
        for key in (keys if len(keys) <= _MANY else ())
        if groups
    ]
    if wanted:
        rows = rows.filter(pl.any_horizontal(wanted))
    found: dict[tuple[object, ...], list[str | None]] = {}
    for row in rows.select(*groups, place()).unique().collect(engine="streaming").to_dicts():
        found.setdefault(tuple(row[name] for name in groups), []).append(row[SHOWN])
    return [_place_set(found.get(tuple(key[name] for name in groups), ())) for key in keys]


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRows:
    """One group's rows, and what is known of its replies."""

    key: Row
    rows: list[Row]
    replies: Replies
    steady: bool  # Whether each unit has one verdict at most.


def add_leads(
    groups: Sequence[GroupRows],
    rows: pl.LazyFrame,
    *,
    labelled: bool,
    schema: Mapping[str, pl.DataType],
) -> pl.DataFrame:
    """Write the rows of all groups, each with what leads its group and how it was made in words.

    Examples
    --------
    >>> one = GroupRows(key={}, rows=[{"coefficient": "flip_rate", "value": 0.0}], steady=True,
    ...                replies=Replies(n_valid=2, n_replies=2))
    >>> schema = {"coefficient": pl.String(), "value": pl.Float64(), "lead": pl.String()}
    >>> add_leads([one], pl.LazyFrame(), labelled=False, schema=schema).row(0)
    ('flip_rate', 0.0, None)
    """
    asked = [one for one in groups if labelled and one.steady and not one.replies.are_few]
    found = {}
    if asked:
        columns = rows.collect_schema().names()
        keys = [one.key for one in asked]
        places = named_places(rows, columns, list(asked[0].key), keys)
        found = {id(one): seen for one, seen in zip(asked, places, strict=True)}
    names = list(groups[0].key) if groups else []
    written: list[Row] = []
    begins: dict[tuple[int, frozenset[str]], int] = {}
    places_R: list[int] = []
    for one in groups:
        seen = found.get(id(one), one.replies.places)
        same = id(one.rows), seen
        if same not in begins:
            begins[same] = len(written)
            code = lead_code(one.rows, replace(one.replies, places=seen))
            for row in one.rows:
                made = estimator_words(row)
                written.append({**row, "estimator": made, "lead": code})
        places_R += range(begins[same], begins[same] + len(one.rows))
    of_rows = {name: kind for name, kind in schema.items() if name not in names}
    table = pl.DataFrame(written, schema=of_rows, orient="row")[places_R]
    of_group = [place for place, one in enumerate(groups) for _ in one.rows]
    keys_of = [pl.Series(name, [one.key[name] for one in groups], schema[name]) for name in names]
    return pl.DataFrame([*(series[of_group] for series in keys_of), *table])


def lead_code(rows: Sequence[Mapping[str, object]], replies: Replies | None = None) -> str | None:
    """Decide what leads a group.

    A `LeadCode`, after `LeadCode.ONE_ANSWER` and `LeadCode.ONE_PLACE` which it is; None where no
    coefficient asked for is one that leads.

    Examples
    --------
    >>> rows = [{"coefficient": "valid_rate", "value": 0.1, "n_judgments": 10, "n_missing": 0}]
    >>> lead_code(rows)
    'few_verdicts'
    >>> lead_code([], Replies(n_valid=8, n_replies=8, only="A"))
    'one_answer:A'
    """
    replies = replies or replies_from_rows(rows)
    if replies and replies.are_few:
        return LeadCode.FEW_VERDICTS.value
    if replies and replies.habit:
        return replies.habit
    first = leading_row(rows)
    withheld = LeadCode.NAMES_UNKNOWN.value
    if any(row.get("undefined") == withheld for row in rows):
        return withheld
    if follows_place(rows):
        return LeadCode.FOLLOWS_PLACE.value
    if first is None:
        return None
    if first.get("value") is None:
        return LeadCode.UNDEFINED.value
    if first.get("noise"):
        return LeadCode.NOISE.value
    if first["coefficient"] == "standard_error":
        return LeadCode.RATING_ERROR.value
    floor = first.get("noise_floor")
    below = floor is not None and cast(float, first["value"]) < cast(float, floor)
    return (LeadCode.BELOW_CHANCE if below else LeadCode.AGREEMENT).value


def leads(coefficients: pl.DataFrame) -> pl.Expr:
    """Tell the rows that lead: of each coefficient of a group the first, which is reproducibility.

    A judge that goes by position repeats itself; what its verdicts are worth is told by rows that
    lead alone.

    Examples
    --------
    >>> rows = pl.DataFrame({"coefficient": ["icc1"] * 3, "missing": ["drop", "drop", "category"],
    ...                      "measurement": ["nominal"] * 3,
    ...                      "conditions": ["reproducibility", "repeatability", "repeatability"]})
    >>> rows.select(leads(rows)).to_series().to_list()
    [True, False, True]
    """
    if "conditions" not in coefficients.columns:
        return pl.lit(True)
    groups = coefficients.columns[: coefficients.columns.index("coefficient")]
    key = [*groups, "coefficient", "missing", "measurement"]
    first = pl.col("conditions").first().over(key)
    return pl.col("conditions").eq_missing(first)


def leading_row(rows: Sequence[Mapping[str, object]]) -> Mapping[str, object] | None:
    """Choose the row that leads: of ratings the error of one, of verdicts agreement.

    Examples
    --------
    >>> leading_row([{"coefficient": "flip_rate", "value": 0.1}])
    >>> leading_row([{"coefficient": "standard_error", "value": 0.4}])["value"]
    0.4
    """
    name = "standard_error" if of_ratings(rows) else "percent_agreement"
    return next((row for row in rows if row["coefficient"] == name), None)


def follows_place(rows: Sequence[Mapping[str, object]]) -> bool:
    """Tell whether verdicts in another order keep their place more surely than their option.

    Where ties were given, whether more than half of the pairs without a tie keep their place.

    Examples
    --------
    >>> kept = {"coefficient": "place_consistency", "value": 0.9, "low": 0.8, "high": 1.0,
    ...         "missing": "category"}
    >>> option = {**kept, "coefficient": "swap_consistency", "value": 0.1, "low": None,
    ...           "high": None}
    >>> follows_place([kept, option]), follows_place([option])
    (True, False)
    """
    kept, option = same_place_and_option(rows)
    if kept is None or option is None:
        return False
    low = kept["low"] if kept["low"] is not None else kept["value"]
    if cast(int, kept.get("n_missing") or 0) > cast(int, option.get("n_missing") or 0):
        # Ties stand at no place and differ from every option: the two shares are of other pairs.
        # Of those that name two places, no more than the rest name the same option.
        return cast(float, low) > _HALF
    high = option["high"] if option["high"] is not None else option["value"]
    return cast(float, low) > cast(float, high)


def same_place_and_option(
    rows: Sequence[Mapping[str, object]],
) -> tuple[Mapping[str, object] | None, Mapping[str, object] | None]:
    """Find how often verdicts in another order name the same place, and the same option.

    Of the latter the row that leaves the same replies out.

    Examples
    --------
    >>> same_place_and_option([{"coefficient": "flip_rate", "value": 0.1}])
    (None, None)
    """
    valued = [row for row in rows if row.get("value") is not None]
    kept = next((row for row in valued if row["coefficient"] == "place_consistency"), None)
    options = [row for row in valued if row["coefficient"] == "swap_consistency"]
    alike = [row for row in options if kept and row["missing"] == kept["missing"]]
    return kept, next(iter(alike), next(iter(options), None))


def replies_from_rows(rows: Sequence[Mapping[str, object]]) -> Replies | None:
    """Read what valid_rate says of replies; None where it was not asked for.

    Examples
    --------
    >>> replies_from_rows([{"coefficient": "valid_rate", "value": 0.1, "n_judgments": 10,
    ...                "n_missing": 0}])
    Replies(n_valid=1, n_replies=10, only=None, places=frozenset())
    """
    row = next((row for row in rows if row["coefficient"] == "valid_rate"), None)
    if row is None or row["value"] is None or "n_judgments" not in row:
        return None
    n = cast(int, row["n_judgments"]) - cast(int, row["n_missing"])
    return Replies(n_valid=round(cast(float, row["value"]) * n), n_replies=n)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead:
    """What leads a group: what it is, and the rows that hold its figures."""

    code: LeadCode  # Which of all findings it is.
    n_items: int  # Questions asked.
    answer: str | None = None  # The one answer, or place, of a judge that gives no other.
    # Agreement, or of ratings the error of one; and the same of the same prompt again, where the
    # first is of other prompts, too.
    row: Mapping[str, object] | None = None
    repeated: Mapping[str, object] | None = None
    # How often verdicts in another order name the same place, and the same option.
    place: Mapping[str, object] | None = None
    option: Mapping[str, object] | None = None
    # How many replies hold a verdict, where valid_rate is there to tell.
    replies: Replies | None = None
    # `row` with replies without a verdict left out, where there are any.
    apart: Mapping[str, object] | None = None


def lead(rows: Sequence[Mapping[str, object]]) -> Lead | None:
    """Find what leads a group, as its rows say; None where none of them leads.

    Examples
    --------
    >>> row = {"coefficient": "percent_agreement", "value": None, "undefined": "no_verdicts"}
    >>> lead([row]).code.value
    'undefined'
    """
    stated = rows[0].get("lead") if rows and "lead" in rows[0] else lead_code(rows)
    if stated is None:
        return None
    code, answer = lead_parts(stated)
    row = leading_row(rows)
    same = [one for one in rows if row is not None and one["coefficient"] == row["coefficient"]]
    again = [one for one in same if one.get("conditions") == REPEATABILITY]
    reproduced = row is not None and row.get("conditions") == REPRODUCIBILITY
    alike = [
        one
        for one in same
        if one is not row and row and one.get("conditions") == row.get("conditions")
    ]
    kept, option = same_place_and_option(rows)
    return Lead(
        code=LeadCode(code),
        n_items=cast(int, rows[0].get("n_items", 0)),
        answer=answer or None,
        row=row,
        repeated=again[0] if reproduced and again else None,
        place=kept,
        option=option,
        replies=replies_from_rows(rows),
        apart=next((one for one in alike if one.get("missing") == "drop"), None),
    )


def of_ratings(rows: Sequence[Mapping[str, object]]) -> bool:
    """Tell a group whose verdicts are numbers: it leads with the error of one rating.

    Examples
    --------
    >>> of_ratings([{"coefficient": "standard_error", "value": 0.4}])
    True
    """
    return any(row["coefficient"] == "standard_error" and row["value"] is not None for row in rows)


def of_their_kind(rows: Sequence[Mapping[str, object]]) -> list[Mapping[str, object]]:
    """Rows of a group without those that take ratings for mere names."""
    if not of_ratings(rows):
        return [*rows]
    return [
        row for row in rows if row["measurement"] != "nominal" or row["coefficient"] == "valid_rate"
    ]


def spans_prompts(row: Mapping[str, object]) -> bool:
    """Tell a row by which other orders or wordings were asked, whatever its value.

    Examples
    --------
    >>> spans_prompts({"conditions": "reproducibility", "undefined": "levels_unequal", "flags": []})
    True
    """
    if row["conditions"] == REPRODUCIBILITY:
        return row.get("undefined") != "facets_not_crossed"
    return Flag.WITHIN_PROMPT in cast(Sequence[str], row.get("flags") or ())


def first_of_groups(coefficients: pl.DataFrame, name: str) -> pl.DataFrame:
    """Choose the first row of a coefficient in every group: the policy and level that lead.

    Of ratings with replies that hold none, the policy that leaves those out leads.

    Examples
    --------
    >>> rows = pl.DataFrame({"coefficient": ["x", "x"], "missing": ["category", "drop"],
    ...                      "undefined": ["category_needs_nominal", None]})
    >>> first_of_groups(rows, "x")["missing"].to_list()
    ['drop']
    """
    columns = [*group_columns(coefficients)]
    rows = coefficients.filter(coefficient=name)
    if "undefined" in rows.columns:
        is_known = pl.col("undefined").ne_missing(NEEDS_NOMINAL)
        of_group = is_known.any().over(columns) if columns else is_known.any()
        rows = rows.filter(is_known | ~of_group)
    return rows.unique(columns, keep="first", maintain_order=True) if columns else rows[:1]
