"""Advice as people read it, and as JSON.

Levels of facets in words: what judgments are spread over, and what that does to one judgment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

import polars as pl

from judgerel_ray.analyses.advice.facets import QUESTION
from judgerel_ray.analyses.advice.panel_worth import VOTES, Unreachable
from judgerel_ray.blocks.text_sections import (
    Columns,
    Row,
    plain,
    remarks_beside_lead,
    section_text,
    with_interval,
)
from judgerel_ray.blocks.words import (
    cell,
    costing,
    group_label,
    noted,
    number,
    reason,
)
from judgerel_ray.core import count_of
from judgerel_ray.core.codes import Flag
from judgerel_ray.measuring.lead_codes import LeadCode
from judgerel_ray.stats.generalizability.component import RESIDUAL, effect_name
from judgerel_ray.stats.intervals.vote_limits import MOST_VALUES

_SHARES = {2: "half of the time", 3: "a third of the time", 4: "a quarter of the time"}
_MOST_SHOWN = 1_000  # groups of a text
_AFTER_GROUPS = {
    "components": "component", "designs": "design", "needs": "target", "splits": "n_items",
    "panel": "n_judges",
}  # fmt: skip
_SAME = "replications"
_ORDER = "option_order"
_ANSWER = "responder"
_NESTED = (QUESTION, effect_name((QUESTION, _ANSWER)), RESIDUAL)


def lever(name: str, *, in_full: bool) -> Callable[[Row], str]:
    """Write a lever in words, with the levels that judgments are spread over.

    Examples
    --------
    >>> row = {"lever": "apart", "facets": "option_order", "levels": [2], "levels_of": [2]}
    >>> lever("lever", in_full=True)(row)
    'option_order: 2 of 2 possible, each asked half of the time'
    >>> lever("lever", in_full=False)(row)
    'option_order: 2 of 2'
    """

    def write(row: Row) -> str:
        facets, numbers, sizes = row["facets"], row["levels"], row["levels_of"]
        if not isinstance(facets, str) or not facets or not isinstance(sizes, list):
            return cell(row[name])
        names = facets.split(", ")
        per_facet = numbers if isinstance(numbers, list) else [None] * len(sizes)
        new = [one for one, of in zip(names, sizes, strict=True) if of is None]
        parts = [f"a new {', '.join(new)} each time"] if new else []
        if in_full and _ORDER in new:
            # Options have finitely many orders; here it is open how many options there are.
            parts[0] += f" (if there are N: --facet-size {_ORDER}=N)"
        parts += [
            _advice_on_known_levels(one, n, of, in_full=in_full)
            for one, n, of in zip(names, per_facet, sizes, strict=True)
            if of is not None
        ]
        return "; ".join(parts)

    return write


def component(row: Row) -> str:
    """Write what verdicts vary with as a reader calls it.

    Examples
    --------
    >>> component({"component": "item_id x option_order"}), component({"component": None})
    ('question x option order', '-')
    """
    if row["component"] is None:
        return "-"
    names = str(row["component"]).replace("_", " ").replace("item id", "question")
    return "repeats, and what is left" if names == "residual" else names


def levels(row: Row) -> str:
    """Write how many levels there are, and of how many where that is known.

    Examples
    --------
    >>> levels({"n_levels": 2, "levels_of": 24}), levels({"n_levels": None, "levels_of": None})
    ('2 of 24', '-')
    """
    seen, of = row["n_levels"], row["levels_of"]
    shown = f"{seen:,}" if isinstance(seen, int) and seen >= 10_000 else cell(seen)
    return f"{shown} of {of:,}" if of is not None else shown


def one_judgment(designs: pl.DataFrame) -> str:
    """Say what one judgment is worth, at levels drawn at random and where its prompt comes again.

    Examples
    --------
    >>> from judgerel_ray.analyses.advice.advice import advise_judgments
    >>> rows = {"item_id": ["q", "q", "r", "r"], "replication": [0, 1, 0, 1],
    ...         "score": [1.0, 3.0, 5.0, 5.0]}
    >>> one_judgment(advise_judgments(pl.LazyFrame(rows)).designs)[:59]
    'One judgment, its reliability for ranking questions: 0.800 '
    """
    groups = designs.columns[: designs.columns.index("design")]
    ones = designs.filter(pl.col("n_judgments") == 1, pl.col("generalizability").is_not_null())
    parts = ones.partition_by(groups, maintain_order=True) if groups else [ones]
    named = [name for name in groups if designs[name].n_unique() > 1]
    phrases = []
    for part in parts:
        if part.is_empty():
            continue
        who = ", ".join(cell(part[name][0]) for name in named)
        phrases.append(
            f"{who}: {_advice_on_one_judgment(part)}" if who else _advice_on_one_judgment(part)
        )
    what = "One judgment, its reliability for ranking questions:"
    return f"{what} {'; '.join(phrases)}." if phrases else ""


def _advice_on_one_judgment(part: pl.DataFrame) -> str:
    """What one judgment of a group is worth."""
    rows = {row["design"]: row for row in part.iter_rows(named=True)}
    spread, same = rows.get("apart"), rows.get(_SAME)
    again = same and _advised_value_interval(
        same, "repeatability", "repeatability_low", "repeatability_high"
    )
    if spread is None:
        return (
            f"{again} where every question keeps its prompt (repeatability of the ranking); what "
            "another template does, or another order where options are compared, was not asked "
            "(reproducibility)"
        )
    drawn = _advised_value_interval(spread, "generalizability", "low", "high")
    sentence = f"{drawn} with its {spread['facets'].replace(', ', ' and ')} drawn at random"
    if same is None:
        return f"{sentence} (reproducibility); the same prompt was not asked again"
    alone = f"{again} where all keep one order and wording (repeatability of the ranking)"
    return f"{sentence} (reproducibility), {alone}"


def _advised_value_interval(row: Row, value: str, low: str, high: str) -> str:
    """A number with its interval."""
    if row[low] is None or row[high] is None:
        return number(row[value])
    return f"{number(row[value])} [{number(row[low])}, {number(row[high])}]"


def _advice_on_known_levels(facet: str, n: int | None, of: int, *, in_full: bool) -> str:
    """So many of a known number of levels."""
    if n is None:
        return f"{facet}: over {of:,} possible"
    if not in_full:
        return f"{facet}: {n:,} of {of:,}"
    share = f"each asked {_SHARES.get(n, 'equally often')}" if n > 1 else "always the same"
    return f"{facet}: {n:,} of {of:,} possible, {share}"


def advice_text(tables: Mapping[str, pl.DataFrame]) -> str:
    """Write advice as aligned text, a table for each question one may ask.

    Examples
    --------
    >>> from judgerel_ray.analyses.advice.advice import advise_judgments
    >>> rows = {"item_id": ["q", "q", "r", "r"], "replication": [0, 1, 0, 1],
    ...         "score": [1.0, 3.0, 5.0, 5.0]}
    >>> advice = advise_judgments(pl.LazyFrame(rows), target={"generalizability": 0.9})
    >>> print(advice_text({"needs": advice.needs}))  # doctest: +ELLIPSIS
    What the targets take
    target             now              by            needed             cost
    generalizability   0.889 undecided  replications  3 (2.25), not      6 judgments
    0.9                                               sure
    needed: the total, ...
    """
    parts = []
    n_more = 0
    leads = {"designs": one_judgment, "components": _component_advice_text}
    for name, (title, columns, note) in _TABLES.items():
        table = tables.get(name)
        if table is not None and not table.is_empty():
            table, n_left_out = _first_advised_groups(table, name)
            n_more = max(n_more, n_left_out)
            lead = leads[name](table) if name in leads else ""
            parts.append(section_text(table, title, columns, note, lead))
    if n_more:
        parts.append(f"{count_of(n_more, 'more group')} not shown: --format json has them all")
    return "\n\n".join(parts)


def _first_advised_groups(table: pl.DataFrame, name: str) -> tuple[pl.DataFrame, int]:
    """The groups that a reader of text may look through, and how many come after them."""
    groups = table.columns[: table.columns.index(_AFTER_GROUPS[name])]
    keys = table.select(groups).unique(maintain_order=True) if groups else table.clear()
    if keys.height <= _MOST_SHOWN:
        return table, 0
    shown = keys.head(_MOST_SHOWN)
    kept = table.join(shown, on=groups, how="semi", nulls_equal=True, maintain_order="left")
    return kept, keys.height - _MOST_SHOWN


def _component_advice_text(table: pl.DataFrame) -> str:
    """Sentences above the components: how answers and judgments share the variance, and gaps."""
    return " ".join(one for one in (nested_split(table), few_verdicts(table)) if one)


def nested_split(table: pl.DataFrame) -> str:
    """Say how much of the variance is the answers' and how much the judge's, where both are known.

    Examples
    --------
    >>> from judgerel_ray.analyses.advice.advice import advise_judgments
    >>> rows = {"item_id": list("qqqqrrrr"), "responder": list("aabbccdd"),
    ...         "replication": [0, 1] * 4, "score": [1, 2, 3, 4, 7, 7, 5, 4]}
    >>> found = advise_judgments(pl.LazyFrame(rows), nested=["responder"])
    >>> nested_split(found.components)[:69]
    "Of one judgment's variance 59 % is between questions, 35 % between th"
    """
    groups = table.columns[: table.columns.index("component")]
    sentences = []
    for part in table.partition_by(groups, maintain_order=True) if groups else [table]:
        rows = {row["component"]: row for row in part.iter_rows(named=True)}
        shares = [rows[name]["share"] for name in _NESTED if name in rows]
        if _ANSWER in rows or len(shares) < len(_NESTED) or None in shares:
            continue
        above = [max(one, 0.0) for one in shares]  # what is below 0 by chance is 0
        questions, answers, judge = (f"{100 * one / sum(above):.0f} %" for one in above)
        named = [name for name in groups if table[name].n_unique() > 1]
        who = group_label(part.row(0, named=True), named) if named else ""
        sentences.append(
            f"{who + ': of' if who else 'Of'} one judgment's variance {questions} is between "
            f"questions, {answers} between the answers to one question (the model's), and {judge} "
            "between judgments of one answer (the judge's)."
        )
    return " ".join(sentences)


def few_verdicts(table: pl.DataFrame) -> str:
    """Say of which groups nothing is said, where too few of their replies hold a verdict.

    Examples
    --------
    >>> few_verdicts(pl.DataFrame({"component": ["item_id"], "undefined": [None]}))
    ''
    """
    groups = table.columns[: table.columns.index("component")]
    sentences = []
    for row in table.filter(undefined=LeadCode.FEW_VERDICTS.value).iter_rows(named=True):
        n, of = next(numbers for flag, numbers in noted(row) if flag is Flag.FEW_VERDICTS)
        who = group_label(row, groups)
        sentences.append(
            f"{who or 'Few verdicts'}: {n:,.0f} of {of:,.0f} replies hold a verdict: nothing is "
            "said of what more judgments are worth."
        )
    return " ".join(sentences)


def _advised_amount(row: Row) -> str:
    """How many, as one can buy it and as a fraction."""
    if row["needed"] is None:
        unknown = row["now"] is None or row["unreachable"] in _UNKNOWN
        return "not known" if unknown else "out of reach"
    needed, whole = row["needed"], f"{row['needed_whole']:,}"
    exact = isinstance(needed, float) and needed != row["needed_whole"]
    text = f"{whole} ({needed:.3g})" if exact else whole
    # By the estimate alone: at the low end of its interval no number is enough.
    unsure = row["standing"] is not None and row["needed_cautious"] is None
    return f"{text}, not sure" if unsure else text


def purchase(row: Row) -> str:
    """Write all that a purchase costs, as far as it is known.

    Examples
    --------
    >>> purchase({"judgments": 240.0, "tokens": None, "gpu_seconds": None})
    '240 judgments'
    """
    known = {name: write(row) for name, write in _COST.items()}
    return ", ".join(f"{amount} {name}" for name, amount in known.items() if amount != "-")


def unreached(row: Row) -> str:
    """Say why no purchase is known to reach a target.

    Examples
    --------
    >>> unreached({"unreachable": "known_from_more", "n_replications": 2, "n_questions": 20,
    ...            "design_replications": 21, "design_questions": 80})
    '2 replications of 20 questions cannot show it; 21 replications of 80 questions would'
    >>> unreached({"unreachable": "error_stays", "error_of": "option_order, template"})
    'the error of one option order and template stays'
    """
    code = row["unreachable"]
    if code == Unreachable.ERROR_STAYS:
        facets = reason(row["error_of"] or "facet").replace(", ", " and ")
        return f"the error of one {facets} stays"
    if code not in OF_VOTES:
        return _UNREACHED.get(str(code), reason(code))
    m, n = cast(int, row["n_replications"]), cast(int, row["n_questions"])
    there = f"{count_of(m, 'replication')} of {count_of(n, 'question')} cannot show it"
    if code == Unreachable.NOT_KNOWN:
        return there
    more, questions = cast(int, row["design_replications"]), cast(int, row["design_questions"])
    design = count_of(more, "replication")
    if code == Unreachable.NOT_KNOWN_FROM_MORE or questions != n:
        design += f" of {count_of(questions, 'question')}"
    if code == Unreachable.NOT_KNOWN_FROM_MORE:
        return f"{there}, nor could {design}"
    return f"{there}; {design} would"


def _advice_component_size(row: Row) -> str:
    """A component's size, or what it cannot be distinguished from."""
    text = with_interval("estimate", "low", "high")(row)
    return text.replace("confounded with residual", "not distinguishable from repeats")


OF_VOTES = (
    Unreachable.NOT_KNOWN, Unreachable.NOT_KNOWN_FROM_MORE, Unreachable.KNOWN_FROM_MORE
)  # fmt: skip
"""Why votes are not known to reach a target, though others might."""
_UNKNOWN = (*OF_VOTES, Unreachable.TOO_MANY_VERDICTS)
_UNREACHED: Mapping[str, str] = {
    Unreachable.LEVELS_ASKED_ONCE:
        "asked once at each level: what levels do cannot be separated from chance",
    Unreachable.QUESTIONS_ALIKE: "questions do not differ more than chance",
    Unreachable.TOO_FEW_QUESTIONS: "too few questions, however often they are asked",
    Unreachable.TOO_MANY_QUESTIONS: "not within 10^9 questions",
    Unreachable.TOO_MANY_VOTES: f"not within {VOTES[-1]} votes",
    Unreachable.TOO_MANY_VERDICTS: f"not known: more than {MOST_VALUES} different verdicts",
}  # fmt: skip
_OF_ONE_PROMPT = ("majority_stability", "interval_width")
_MAJORITY = ("majority_stability", "majority_low", "majority_high")
_COST: Columns = {
    "judgments": lambda row: costing(row["judgments"]),
    "tokens": lambda row: costing(row["tokens"]),
    "GPU-seconds": lambda row: costing(row["gpu_seconds"]),
}
_COMPONENTS_NOTE = """\
wanted: how verdicts differ because questions do; error: how they differ though the question is
the same; chosen: what was set on purpose. share: of one judgment's variance; levels: how many, and
of how many where that is known. Two levels drawn from more give no interval; --facet-size NAME=N or
NAME=fixed says how many there are. What is below 0 by chance counts as 0 in the tables that
follow."""
_DESIGNS_NOTE = """\
From 0 to 1. Ranking: how reliably the mean of that many judgments tells questions apart, whichever
levels it was asked at; same prompt: the same where exactly that prompt is asked again; value: how
reliable the mean is as a value by itself. Same majority: how often a second set of as many
judgments has the same majority, as far as the data can show; their alpha: how far such majorities
agree beyond chance. Both are for one and the same prompt: a judge that goes by position has them
high."""
NEEDS_NOTE = """\
needed: the total, rounded up (exact figure in brackets), by the estimate; sure: the number with
which even the low end of the 95 % interval reaches the target (for majorities, needed already is
that number); "not sure": at that end no number is enough, as differences between questions may be
chance.
same prompt: alpha's interval and majorities are those of the same prompt asked again
(repeatability), whatever orders and templates do.
cost, or why none reaches it: judgments asked, tokens, GPU-seconds where the run measured them."""
_SPLITS_NOTE = """\
width: of alpha's 95 % interval after such a purchase; s.e.: its standard error. This alpha is that
of the same prompt asked again (repeatability): orders and templates have no part in it."""
_PANEL_NOTE = """\
majorities agree: how often two panels of that size have the same verdict; worth: how many judges
with independent errors these are worth."""
_TABLES: Mapping[str, tuple[str, Columns, str]] = {
    "components": (
        "What verdicts vary with",
        {
            "component": component,
            "part": plain("part"),
            "share": plain("share"),
            "estimate [95 %]": _advice_component_size,
            "levels": levels,
            "remark": lambda row: "; ".join(
                ["below 0"] * bool(row["negative"]) + remarks_beside_lead(row)
            ),
        },
        _COMPONENTS_NOTE,
    ),
    "designs": (
        "What more judgments of a question are worth",
        {
            "by": lever("design", in_full=False),
            "judgments": plain("n_judgments"),
            "ranking [95 %]": with_interval("generalizability", "low", "high"),
            "same prompt": plain("repeatability"),
            "value": plain("dependability"),
            "same majority [95 %]": with_interval(*_MAJORITY),
            "their alpha": plain("majority_alpha"),
        },
        _DESIGNS_NOTE,
    ),
    "needs": (
        "What the targets take",
        {
            "target": lambda row: (
                f"{reason(row['target'])} {cell(row['wanted'])}"
                + ", same prompt" * (row["target"] in _OF_ONE_PROMPT)
            ),
            "now": lambda row: f"{number(row['now'])} {row['standing'] or ''}".rstrip(),
            "by": lever("lever", in_full=True),
            "needed": _advised_amount,
            "sure": plain("needed_cautious"),
            "cost": lambda row: unreached(row) if row["needed"] is None else purchase(row),
        },
        NEEDS_NOTE,
    ),
    "splits": (
        "How to split the budget between questions and replications",
        {
            "questions": plain("n_items"),
            "replications": plain("n_replications"),
            "s.e.": plain("standard_error", 4),
            "width": plain("width"),
            "": lambda row: "<- best" if row["best"] else "",
            **_COST,
        },
        _SPLITS_NOTE,
    ),
    "panel": (
        "The judges as a panel",
        {
            "judges": plain("n_judges"),
            "majorities agree": plain("agreement"),
            "gain": plain("gain"),
            "there are": plain("judges"),
            "worth [95 %]": with_interval("effective", "effective_low", "effective_high"),
            "error correlation": plain("error_correlation"),
        },
        _PANEL_NOTE,
    ),
}
