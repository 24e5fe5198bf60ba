"""Advice and comparisons as people read them, and as JSON.

Levels of facets in words: what judgments are spread over, and what that does to one judgment.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import polars as pl

from judgerel_ray.analyses.advice.facets import QUESTION
from judgerel_ray.analyses.reliability.lead_codes import LeadCode
from judgerel_ray.blocks.columns import table_within, wrapped
from judgerel_ray.blocks.words import (
    cell,
    coefficient_name,
    flag_words,
    group_label,
    noted,
    number,
    p_value,
    reason,
    remarks,
)
from judgerel_ray.core.codes import Flag
from judgerel_ray.stats.generalizability.component import RESIDUAL, effect_name

Row = Mapping[str, object]
_SHARES = {2: "half of the time", 3: "a third of the time", 4: "a quarter of the time"}
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
            _of_known(one, n, of, in_full=in_full)
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

    Parameters
    ----------
    designs : pl.DataFrame
        The designs of :class:`judgerel_ray.analyses.advice.advice.Advice`.

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
        phrases.append(f"{who}: {_of_one(part)}" if who else _of_one(part))
    return (
        f"One judgment, its reliability for ranking questions: {'; '.join(phrases)}."
        if phrases
        else ""
    )


def _of_one(part: pl.DataFrame) -> str:
    """What one judgment of a group is worth."""
    rows = {row["design"]: row for row in part.iter_rows(named=True)}
    spread, same = rows.get("apart"), rows.get(_SAME)
    again = same and _with_ends(same, "repeatability", "repeatability_low", "repeatability_high")
    if spread is None:
        return (
            f"{again} where every question keeps its prompt (repeatability of the ranking); what "
            "another template or order of the options does (reproducibility) was not asked, "
            "option_orders = 2 asks it"
        )
    drawn = _with_ends(spread, "generalizability", "low", "high")
    sentence = f"{drawn} with its {spread['facets'].replace(', ', ' and ')} drawn at random"
    if same is None:
        return f"{sentence} (reproducibility); the same prompt was not asked again"
    alone = f"{again} where all keep one order and wording (repeatability of the ranking)"
    return f"{sentence} (reproducibility), {alone}"


def _with_ends(row: Row, value: str, low: str, high: str) -> str:
    """A number with its interval."""
    if row[low] is None or row[high] is None:
        return number(row[value])
    return f"{number(row[value])} [{number(row[low])}, {number(row[high])}]"


def _of_known(facet: str, n: int | None, of: int, *, in_full: bool) -> str:
    """So many of a known number of levels."""
    if n is None:
        return f"{facet}: over {of:,} possible"
    if not in_full:
        return f"{facet}: {n:,} of {of:,}"
    share = f"each asked {_SHARES.get(n, 'equally often')}" if n > 1 else "always the same"
    return f"{facet}: {n:,} of {of:,} possible, {share}"


Columns = Mapping[str, Callable[[Row], str]]
_MOST_SIDES = 6
_WITHOUT = {
    "undefined_first": "a has no value",
    "undefined_second": "b has no value",
    "no_common_questions": "no question is in both",
}


def advice_text(tables: Mapping[str, pl.DataFrame]) -> str:
    """Write advice as aligned text, a table for each question one may ask.

    Parameters
    ----------
    tables : mapping of str to pl.DataFrame
        ``components``, ``designs``, ``needs``, ``splits`` and ``panel``, as of
        :class:`judgerel_ray.analyses.advice.advice.Advice`.

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
    needed: how many in all, ...
    """
    parts = []
    for name, (title, columns, note) in _TABLES.items():
        table = tables.get(name)
        if table is not None and not table.is_empty():
            leads = {"designs": one_judgment, "components": _of_components}
            lead = leads[name](table) if name in leads else ""
            parts.append(_section(table, title, columns, note, lead))
    return "\n\n".join(parts)


def comparison_text(comparisons: pl.DataFrame) -> str:
    """Write comparisons as aligned text.

    Parameters
    ----------
    comparisons : pl.DataFrame
        From :func:`judgerel_ray.analyses.comparison.comparison.compare_judgments`.

    Examples
    --------
    >>> from judgerel_ray.analyses.comparison.comparison import compare_judgments
    >>> rows = {"item_id": ["q", "r", "s"] * 4, "judge": ["x"] * 6 + ["y"] * 6,
    ...         "replication": [0, 0, 0, 1, 1, 1] * 2, "verdict": list("ABAABAABBAAB")}
    >>> found = compare_judgments(pl.LazyFrame(rows), by=["judge"],
    ...                           coefficients=["percent_agreement"])
    >>> print(comparison_text(found).splitlines()[0])
    b less a, on the questions both have
    """
    text = _section(
        comparisons, "b less a, on the questions both have", _COMPARISON, _COMPARISON_NOTE
    )
    compared = set(comparisons["conditions"].drop_nulls())
    text = f"{text}\n{wrapped(_UNASKED)}" if compared == {"repeatability"} else text
    left_out = _left_out(comparisons)
    text = f"{text}\n{wrapped(left_out)}" if left_out else text
    few = _compared_few(comparisons)
    return f"{wrapped(few)}\n\n{text}" if few else text


def tables_json(tables: Mapping[str, pl.DataFrame]) -> str:
    """Write tables as one JSON object, a list of rows each; null where there is no number.

    Raises
    ------
    ValueError
        If a number is NaN or infinite.

    Examples
    --------
    >>> tables_json({"needs": pl.DataFrame({"target": ["x"]})})
    '{"needs": [{"target": "x"}]}'
    """
    rows = {name: table.to_dicts() for name, table in tables.items()}
    return json.dumps(rows, allow_nan=False, default=str)


def _section(
    table: pl.DataFrame, title: str, columns: Columns, note: str = "", lead: str = ""
) -> str:
    """A title, what all rows share, a table of the rest, and what is to be known of it."""
    first = next(name for name in table.columns if name in _FIRST)
    groups = table.columns[: table.columns.index(first)]
    varying = [name for name in groups if table[name].n_unique() > 1]
    shared = [
        f"{name.replace('_', ' ')} {cell(table[name][0])}"
        for name in groups
        if name not in varying and table[name][0] is not None
    ]
    lines = [
        [*(cell(row[name]) for name in varying), *(write(row) for write in columns.values())]
        for row in table.iter_rows(named=True)
    ]
    heads = [*varying, *columns]
    # A column that says nothing in any row (GPU-seconds of a judge without GPUs) is left out.
    has_text = [any(text not in ("", "-") for text in texts) for texts in zip(*lines, strict=True)]
    heads = [head for head, kept in zip(heads, has_text, strict=True) if kept]
    lines = [[text for text, kept in zip(line, has_text, strict=True) if kept] for line in lines]
    heading = f"{title} [{', '.join(shared)}]" if shared else title
    above = () if first == "component" else _TOLD_ABOVE  # its remarks are of single rows
    text = f"{heading}\n{table_within(heads, lines, [*varying, *above])}"
    return "\n".join([text, *(wrapped(one) for one in (lead, note) if one)])


def _of_components(table: pl.DataFrame) -> str:
    """Sentences above the components: how answers and judgments share the variance, and gaps."""
    return " ".join(one for one in (nested_split(table), _few_verdicts(table)) if one)


def nested_split(table: pl.DataFrame) -> str:
    """Say how much of the variance is the answers' and how much the judge's, where both are known.

    Parameters
    ----------
    table : pl.DataFrame
        The components of :class:`judgerel_ray.analyses.advice.advice.Advice`; answers are told
        apart where a facet is nested in the question.

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


def _few_verdicts(table: pl.DataFrame) -> str:
    """Say of which groups nothing is said, where too few of their replies hold a verdict."""
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


def _compared_few(comparisons: pl.DataFrame) -> str:
    """Say of which comparisons nothing is said, for the same reason."""
    rows = comparisons.filter(reason=LeadCode.FEW_VERDICTS.value)
    sides = dict.fromkeys(
        f"{numbers[0]:,.0f} of {numbers[1]:,.0f} replies hold a verdict ({row[side]})"
        for row in rows.iter_rows(named=True)
        for (flag, numbers), side in zip(noted(row), row["flag_sides"], strict=True)
        if flag is Flag.FEW_VERDICTS
    )
    if not sides:
        return ""
    return f"{'; '.join(sides)}: nothing is said of which side agrees more."


def _left_out(comparisons: pl.DataFrame) -> str:
    """Say how many questions are compared nowhere, as one side alone was asked them."""
    numbers = comparisons.select("a", "b", "n_left_out_a", "n_left_out_b").unique(
        maintain_order=True
    )
    sides = [
        f"{n:,} of {name}"
        for a, b, n_a, n_b in numbers.iter_rows()
        for name, n in ((a, n_a), (b, n_b))
        if n
    ]
    if not sides:
        return ""
    some = ", ".join(sides[:_MOST_SIDES]) + (", ..." if len(sides) > _MOST_SIDES else "")
    return f"Questions left out, as the other side was not asked them: {some}."


def _not_led(row: Row) -> list[str]:
    """Remarks but for how few replies hold a verdict, which a sentence of its own says."""
    led = flag_words(row, Flag.FEW_VERDICTS)
    beside = {**row, "no_interval": None}  # said where the interval would be
    others = [one for one in remarks(beside) if one not in led]
    return others + flag_words(row, Flag.SOME_WITHOUT)


def _interval(value: str, low: str, high: str) -> Callable[[Row], str]:
    """A number with its interval; a dash, or why there is none."""

    def write(row: Row) -> str:
        if row[value] is None:
            return (
                _WITHOUT.get(str(row["undefined"]), reason(row["undefined"]))
                if (row.get("undefined"))
                else "-"
            )
        if row[low] is None or row[high] is None:
            why = reason(row.get("no_interval") or "no_interval")
            return f"{number(row[value])} [{why}]"
        return f"{number(row[value])} [{number(row[low])}, {number(row[high])}]"

    return write


def _plain(name: str, digits: int = 3) -> Callable[[Row], str]:
    """A column as it is, numbers rounded."""

    def write(row: Row) -> str:
        value = row[name]
        if isinstance(value, float):
            return number(value, digits)
        return f"{value:,}" if isinstance(value, int) and value >= 10_000 else cell(value)

    return write


def _p(name: str) -> Callable[[Row], str]:
    """A p value, short for three to stand side by side."""
    return lambda row: p_value(row[name]).replace("< 0.", "<.")


def _whole(name: str) -> Callable[[Row], str]:
    """A cost, rounded to three figures that matter below 1000 and to whole numbers above."""

    def write(row: Row) -> str:
        value = row[name]
        if not isinstance(value, int | float):
            return "-"
        return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"

    return write


def _needed(row: Row) -> str:
    """How many, as one can buy it and as a fraction."""
    if row["needed"] is None:
        unknown = row["now"] is None or "not known" in str(row["unreachable"])
        return "not known" if unknown else "out of reach"
    needed, whole = row["needed"], f"{row['needed_whole']:,}"
    exact = isinstance(needed, float) and needed != row["needed_whole"]
    text = f"{whole} ({needed:.3g})" if exact else whole
    # By the estimate alone: at the low end of its interval no number is enough.
    unsure = row["standing"] is not None and row["needed_cautious"] is None
    return f"{text}, not sure" if unsure else text


def _cost(row: Row) -> str:
    """All that a purchase costs, as far as it is known; why there is none."""
    if row["needed"] is None:
        return reason(row["unreachable"])
    known = {name: write(row) for name, write in _COST.items()}
    return ", ".join(f"{amount} {name}" for name, amount in known.items() if amount != "-")


def _estimated(row: Row) -> str:
    """A component's size, or what it cannot be told apart from."""
    text = _interval("estimate", "low", "high")(row)
    return text.replace("confounded with residual", "not told apart from repeats")


_UNASKED = (
    "Only the same prompt asked again is compared: of reproducibility nothing is known, unless "
    "both sides are asked in several orders (option_orders = 2) or with several templates."
)
_COMPARED = {
    "reproducibility": "own order and wording (reproducibility)",
    "repeatability": "same prompt (repeatability)",
}
_TOLD_ABOVE = ("a", "b", "no verdict", "two judgments", "questions", "remark")  # of comparisons
_OF_ONE_PROMPT = ("majority_stability", "interval_width")
_MAJORITY = ("majority_stability", "majority_low", "majority_high")
_MISSING = {"category": "counts as a verdict", "drop": "left out"}
_FIRST = ("component", "design", "target", "n_items", "n_judges", "a")
_COST = {
    "judgments": _whole("judgments"),
    "tokens": _whole("tokens"),
    "GPU-seconds": _whole("gpu_seconds"),
}
_COMPARISON_NOTE = """\
p: how often a and b, exchanged within questions at random, differ as much; the 95 % interval of
b - a excludes 0 where p < 0.05. Holm and FDR correct p for all tests of this table; one is higher
where Holm's is < 0.05. within, beyond: p of lying inside the tolerance, and outside it, by Holm.
few informative questions: fewer than 10 differ between a and b, or one side rests on few."""
_COMPONENTS_NOTE = """\
wanted: how verdicts differ because questions do; error: how they differ though the question is
the same; chosen: what was set on purpose. share: of one judgment's variance; levels: how many, and
of how many where that is known. Two levels drawn from more give no interval; --facet-size NAME=N or
NAME=fixed says how many there are. What is below 0 by chance counts as 0 in the tables that
follow."""
_DESIGNS_NOTE = """\
From 0 to 1. Ranking: the reliability of the mean of so many judgments for telling questions apart,
whatever the levels it was asked at; same prompt: where that very prompt is asked again; value: for
the mean as it stands. Same majority: how often a second set wins alike, as far as the data can
tell; their alpha: how far majorities agree beyond chance. Both are of one and the same prompt: a
judge that goes by position has them high."""
_NEEDS_NOTE = """\
needed: how many in all, rounded up (exact figure in brackets), as the estimate has it; sure: where
even the low end of the 95 % interval reaches the target (of majorities nothing less is promised);
"not sure": at that end no number is enough, as differences between questions may be chance.
same prompt: alpha's interval and majorities are those of the same prompt asked again
(repeatability), whatever orders and templates do.
cost, or why none reaches it: judgments asked, tokens, GPU-seconds where the run measured them."""
_SPLITS_NOTE = """\
width: of alpha's 95 % interval after such a purchase; s.e.: its standard error. This alpha is that
of the same prompt asked again (repeatability): orders and templates have no part in it."""
_PANEL_NOTE = """\
majorities agree: how often the panel's verdict is the same for two panels of so many; worth: how
many judges with errors of their own these are worth."""
_TABLES: Mapping[str, tuple[str, Columns, str]] = {
    "components": (
        "What verdicts vary with",
        {
            "component": component,
            "part": _plain("part"),
            "share": _plain("share"),
            "estimate [95 %]": _estimated,
            "levels": levels,
            "remark": lambda row: "; ".join(["below 0"] * bool(row["negative"]) + _not_led(row)),
        },
        _COMPONENTS_NOTE,
    ),
    "designs": (
        "What more judgments of a question are worth",
        {
            "by": lever("design", in_full=False),
            "judgments": _plain("n_judgments"),
            "ranking [95 %]": _interval("generalizability", "low", "high"),
            "same prompt": _plain("repeatability"),
            "value": _plain("dependability"),
            "same majority [95 %]": _interval(*_MAJORITY),
            "their alpha": _plain("majority_alpha"),
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
            "needed": _needed,
            "sure": _plain("needed_cautious"),
            "cost": _cost,
        },
        _NEEDS_NOTE,
    ),
    "splits": (
        "How to split the budget between questions and replications",
        {
            "questions": _plain("n_items"),
            "replications": _plain("n_replications"),
            "s.e.": _plain("standard_error", 4),
            "width": _plain("width"),
            "": lambda row: "<- best" if row["best"] else "",
            **_COST,
        },
        _SPLITS_NOTE,
    ),
    "panel": (
        "The judges as a panel",
        {
            "judges": _plain("n_judges"),
            "majorities agree": _plain("agreement"),
            "gain": _plain("gain"),
            "there are": _plain("judges"),
            "worth [95 %]": _interval("effective", "effective_low", "effective_high"),
            "error correlation": _plain("error_correlation"),
        },
        _PANEL_NOTE,
    ),
}
_COMPARISON: Columns = {
    "a": _plain("a"),
    "b": _plain("b"),
    "coefficient": lambda row: coefficient_name({**row, "measurement": None}),
    "two judgments": lambda row: _COMPARED.get(str(row["conditions"]), "as named"),
    "no verdict": lambda row: _MISSING.get(str(row["missing"]), "-"),
    "value a": _plain("value_a"),
    "value b": _plain("value_b"),
    "b - a [95 %]": _interval("difference", "low", "high"),
    "p": _p("p"),
    "Holm": _p("p_holm"),
    "FDR": _p("p_fdr"),
    "within": _p("p_equivalence_holm"),
    "beyond": _p("p_beyond_holm"),
    "standing": _plain("standing"),
    "questions": _plain("n_items"),
    "remark": lambda row: "; ".join(_not_led(row)),
}
