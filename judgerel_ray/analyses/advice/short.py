"""The short answer of ``advise``: what each judge has, what the target takes, what stays out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast

import polars as pl

from judgerel_ray.analyses.advice.facets import QUESTION
from judgerel_ray.analyses.advice.panel_worth import Unreachable
from judgerel_ray.analyses.advice.show import (
    OF_VOTES,
    component,
    few_verdicts,
    lever,
    nested_split,
    purchase,
    unreached,
)
from judgerel_ray.blocks.blocks import Block, Paragraph
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
    span,
)
from judgerel_ray.blocks.text_sections import with_interval
from judgerel_ray.blocks.words import (
    cell,
    costing,
    explanation,
    group_label,
    number,
    percent,
    reason,
)
from judgerel_ray.core import count_of
from judgerel_ray.core.codes import Flag
from judgerel_ray.measuring.lead_codes import LeadCode

_FIRST = ("component", "design", "target", "n_items", "n_judges")
_UNKNOWN = "only the same prompt was asked again, so reproducibility is unknown: ask {}"
HEADS_NOTE = """\
single: how reliably one judgment ranks questions, with orders and wordings drawn at random where
several were asked; repeats: the same where its prompt stays; now: what all judgments of a question
come to together, and whether that meets the target (open: its 95 % interval decides neither way);
needed: judgments of each question that reach it by the estimate; for sure: with which even the low
end of the 95 % interval does; never: no number does; judgments, tokens, GPU-seconds: what the
needed ones come to over all questions."""
"""What the heads of the short answer mean."""
_ONCE = "each question was asked once, so nothing can be said: ask each at least twice"
_TARGETS = {"majority_stability": "majority stability {}"}
_WAYS = {"replications": "of the same prompt again"}
_THINGS = {"replications": "replication", "questions": "question", "judges": "judge"}
_STANDINGS = {"undecided": "open"}
_TAKES = "takes "
_JUDGMENTS = " judgments)"
_PANEL_UNKNOWN = {"no_gold": "no right verdicts"}
_CONFOUNDED = "confounded with residual"
_LARGE = 0.1  # share of the variance from which an error is named


def advised_short(
    tables: Mapping[str, pl.DataFrame],
    command: str | None,
    *,
    has_budget: bool = False,
    has_options: bool = False,
) -> list[Block]:
    """Lay the short answer out: a row a group for its first target; others in sentences.

    How to split a budget is said where one is given; another order, where options have any.

    Examples
    --------
    >>> from judgerel_ray.analyses.advice.advice import advise_judgments
    >>> rows = {"item_id": ["q", "q", "r", "r"], "replication": [0, 1, 0, 1],
    ...         "score": [1.0, 3.0, 5.0, 5.0]}
    >>> found = advise_judgments(pl.LazyFrame(rows), target={"generalizability": 0.9})
    >>> advised_short(found.tables(), None)[0].text
    '2 questions: 4 judgments'
    """
    known = {name: table for name, table in tables.items() if not table.is_empty()}
    every = [row for name in ("designs", "components", "needs") if name in known
             for row in known[name].iter_rows(named=True)]  # fmt: skip
    some = next(iter(known.values()), pl.DataFrame())
    columns = [*_advice_group_columns(some)]
    groups = groups_of(every, columns)
    needs = _advice_rows_by_group(known.get("needs"), groups)
    targets = dict.fromkeys(
        (row["target"], row["wanted"]) for rows in needs.values() for row in rows
    )
    alike = [
        one for one in targets if all(_same_advice_as_first(rows, one) for rows in needs.values())
    ]
    leading = {who: _leading_advice_row(rows) for who, rows in needs.items()}
    ones = _advice_rows_by_group(known.get("designs"), groups)
    rows = [
        {
            **row,
            "need": leading.get(who := groups.of(row)),
            "one": _advised_worth_of_one(ones.get(who, [])),
        }
        for row in groups.rows
    ]
    has_asked = _levels_known(known.get("designs"))
    findings = [
        *_advice_on_components(known.get("components"), groups),
        *([] if has_asked else [_advice_on_one_wording(has_options=has_options)]),
        *(one for who, those in needs.items() for one in _advice_on_targets(those, alike, who)),
        *(_advice_on_budget_split(known.get("splits"), groups) if has_budget else ()),
        *_advice_on_panel(known.get("panel")),
    ]
    columns_shown = {
        head: write for head, write in _COLUMNS.items() if has_asked or head != "repeats"
    }
    known_any = any(row["need"] and row["need"]["lever"] for row in rows)
    table = (
        short_table(rows, groups, columns_shown, spare=["tokens", "judgments"]) if known_any else []
    )
    return short_blocks(
        _what_advice_rests_on(known.get("components"), groups),
        [*table, *_advice_conditions_line([row for row in leading.values() if row], alike)],
        _advice_on_two_in_one(findings),
        ("check against requirements", command if known_any else None),
        everyone=groups.labels.values(),
    )


def _advice_on_two_in_one(findings: Sequence[Remark]) -> list[Remark]:
    """Say what two groups need of one kind in one sentence: its beginning once, then each group's.

    Examples
    --------
    >>> [one.text for one in _advice_on_two_in_one([
    ...     Remark(text="no verdict: 2 of 9", who="a", kind="x"),
    ...     Remark(text="no verdict: 3 of 9", who="b", kind="x")])]
    ['no verdict: 2 of 9 for a; 3 of 9 for b']
    """
    joined: list[Remark] = []
    for one in findings:
        alike = [other for other in findings if other.kind and other.kind == one.kind]
        first, last = (alike[0].text, alike[1].text) if len(alike) == 2 else ("", "")
        n = next(
            (i for i, pair in enumerate(zip(first, last, strict=False)) if len({*pair}) > 1), 0
        )
        start = re.match(r".*(?:[:;]|takes) ", first[:n])
        if start is None:
            joined.append(one)
        elif one is alike[0]:
            each = "; ".join(f"{other.text[start.end() :]} for {other.who}" for other in alike)
            joined.append(replace(one, text=f"{start[0]}{each}", who=""))
    return joined


def _advice_on_one_wording(*, has_options: bool) -> Remark:
    """What was asked in one wording alone, and what would ask it in another."""
    ways = "a second template, too"
    if has_options:
        ways = "in another order, too (option_orders = 2), or with a second template"
    return Remark(text=_UNKNOWN.format(ways), severity=HARMFUL)


Target = tuple[object, object]
"""Its name, and the value that is wanted."""


def _same_advice_as_first(rows: Sequence[Row], target: Target) -> bool:
    """Whether a target takes exactly what the first one does, by every lever."""
    names = ("lever", "needed_whole", "needed_cautious", "unreachable", "error_of")
    first = (rows[0]["target"], rows[0]["wanted"])
    ways = [
        [[row[name] for name in names] for row in rows if (row["target"], row["wanted"]) == one]
        for one in (first, target)
    ]
    return ways[0] == ways[1]


def _advice_group_columns(table: pl.DataFrame) -> Sequence[str]:
    """The columns of groups of any of the tables."""
    place = next((i for i, name in enumerate(table.columns) if name in _FIRST), 0)
    return table.columns[:place]


def _advice_rows_by_group(table: pl.DataFrame | None, groups: Groups) -> dict[str, list[Row]]:
    """Rows by the name of their group."""
    return {} if table is None else groups.apart(table.iter_rows(named=True))


def _leading_advice_row(rows: Sequence[Row]) -> Row:
    """The first target's row, by judgments spread over what should not matter where that varies."""
    those = [row for row in rows if row["target"] == rows[0]["target"]]
    return next((row for row in those if row["lever"] == "apart"), those[0])


def _advised_worth_of_one(designs: Sequence[Row]) -> Mapping[str, Row]:
    """What one judgment is worth: spread over facets, and of the same prompt."""
    return {str(row["design"]): row for row in designs if row["n_judgments"] == 1}


def _levels_known(designs: pl.DataFrame | None) -> bool:
    """Whether orders or wordings varied; of nothing that is known, whether that matters."""
    if designs is None or designs["design"].is_null().all():
        return True
    return bool((designs["design"] == "apart").any())


def _what_advice_rests_on(components: pl.DataFrame | None, groups: Groups) -> str:
    """Say what the advice rests on."""
    firsts = [rows[0] for rows in _advice_rows_by_group(components, groups).values()]
    n_judgments = sum(row["n_judgments"] or 0 for row in firsts)
    kind = "judge" if [*groups.varying] == ["judge"] else "group"
    several = len(groups.rows) > 1
    who = f"{count_of(len(groups.rows), kind)}, " if several else ""
    each = " each" if several else ""
    asked = f"{who}{span((row['n_items'] or 0 for row in firsts), 'question')}{each}"
    return f"{asked}{groups.shared}: {count_of(n_judgments, 'judgment')}"


def _advice_target_in_words(target: Target) -> str:
    name, wanted = target
    if name == "interval_width":  # of the same prompt, from end to end
        return f"same-prompt alpha ± {cell(cast(float, wanted) / 2)}"
    return _TARGETS.get(str(name), f"{reason(name)} {{}}").format(cell(wanted))


def _advice_conditions_line(needs: Sequence[Row], alike: Sequence[Target]) -> Iterator[Block]:
    """What the table is about, in a line below it: the targets, and how judgments are spread."""
    ways = dict.fromkeys(_advice_way(row) for row in needs if row["lever"])
    if ways:
        targets = " and ".join(map(_advice_target_in_words, alike))
        yield Paragraph(
            f"needed: judgments of a question for {targets}, {' or '.join(ways)}; "
            "for sure: by the low end of its interval",
            kind="below",
        )


def _advice_way(row: Row) -> str:
    """How judgments of a question are asked under a lever."""
    by = lever("lever", in_full=False)(row)
    parts = (part.partition(": ") for part in by.replace("_", " ").split("; "))
    spread = " and ".join(f"{name} ({of})" if of else name for name, _, of in parts)
    return _WAYS.get(by, f"spread over {spread}")


def _need_of_advice_row(row: Row) -> Row:
    return cast(Row, row["need"] or {})


def _judgments_advised(row: Row) -> str:
    """How many judgments a question, or what keeps it from being known."""
    need = _need_of_advice_row(row)
    if not need:
        return "not known"
    if need["needed_whole"] is None:
        return "never" if need["now"] is not None else "not known"
    return f"{need['needed_whole']:,}"


def _surely_advised_judgments(row: Row) -> str:
    """How many it takes for the low end of the interval to reach the target."""
    need = _need_of_advice_row(row)
    if not need or need["needed_whole"] is None or need["standing"] is None:
        return "-"
    sure = need["needed_cautious"]
    if sure is not None:
        return f"{sure:,}"
    one = cast(Mapping[str, Row], row["one"])
    same, spread = one.get("replications", {}), one.get("apart", {})
    has_interval = spread.get("low") is not None or same.get("repeatability_low") is not None
    return "never" if has_interval else "-"


def _advised_price(unit: str) -> Callable[[Row], str]:
    return lambda row: costing(_need_of_advice_row(row).get(unit))


def _advised_worth_if_drawn(row: Row) -> str:
    """What one judgment is worth with orders and wordings drawn at random, where they were."""
    one = cast(Mapping[str, Row], row["one"])
    if spread := one.get("apart"):
        return with_interval("generalizability", "low", "high")(spread)
    if same := one.get("replications"):
        return with_interval("repeatability", "repeatability_low", "repeatability_high")(same)
    return "-"


def _advised_worth_if_repeated(row: Row) -> str:
    """What one judgment is worth where the same prompt comes again."""
    one = cast(Mapping[str, Row], row["one"]).get("replications")
    return number(one["repeatability"]) if one else "-"


def _advice_value_now(row: Row) -> str:
    need = _need_of_advice_row(row)
    if not need:
        return "-"
    standing = str(need.get("standing") or "")
    return f"{number(need.get('now'))} {_STANDINGS.get(standing, standing)}".rstrip()


_COLUMNS = {
    "single [95 %]": _advised_worth_if_drawn,
    "repeats": _advised_worth_if_repeated,
    "now": _advice_value_now,
    "needed": _judgments_advised,
    "for sure": _surely_advised_judgments,
    "judgments": _advised_price("judgments"),
    "tokens": _advised_price("tokens"),
    "GPU-seconds": _advised_price("gpu_seconds"),
}


def _advice_on_components(components: pl.DataFrame | None, groups: Groups) -> Iterator[Remark]:
    """The largest error of every group, what its numbers lack, and why some have none."""
    if components is None:
        return
    split, few = nested_split(components), few_verdicts(components)
    yield from [Remark(text=few, severity=GRAVE)] if few else ()
    yield from [Remark(text=split, severity=WEAK)] if split else ()
    for who, rows in _advice_rows_by_group(components, groups).items():
        errors = [row for row in rows if row["part"] == "error" and row["component"] != "residual"]
        worst = max(errors, key=lambda row: row["share"] or 0, default=None)
        if worst is not None and (worst["share"] or 0) >= _LARGE:
            text = f"{percent(worst['share'])} of a judgment's variance is {component(worst)}"
            yield Remark(text=text, who=who, severity=HARMFUL, kind="largest error")
        if any(row["undefined"] == _CONFOUNDED and row["component"] == QUESTION for row in rows):
            yield Remark(text=_ONCE, who=who, severity=GRAVE)
            continue
        for row in rows:
            if (row["undefined"] or LeadCode.FEW_VERDICTS) != LeadCode.FEW_VERDICTS:
                what = f"{component(row)}: " if row["component"] is not None else ""
                text = f"{what}{explanation(reason(row['undefined']))}"
                yield Remark(text=text, who=who, severity=WEAK)
            for one in findings_of_row(row, who):
                if Flag.FEW_VERDICTS not in one.kind:
                    yield one


def _advice_on_targets(rows: Sequence[Row], alike: Sequence[Target], who: str) -> Iterator[Remark]:
    """What every other target takes by every lever, and what keeps one from being reached."""
    leading = _leading_advice_row(rows)
    ways: dict[str, list[Target]] = {}
    if leading["lever"] is None:  # what varies says why nothing is known
        return
    for target in dict.fromkeys((row["target"], row["wanted"]) for row in rows):
        those = [row for row in rows if (row["target"], row["wanted"]) == target]
        if target in alike:  # what the table's row does not say
            named_ways = [row for row in those if row is not leading and row["unreachable"]]
            if target != alike[0]:
                named_ways = []
            if leading["unreachable"] and target == alike[0]:
                named_ways.append(leading)
            for row in named_ways:
                yield Remark(text=_what_advice_lever_takes(row), who=who, severity=HARMFUL)
        else:
            never = Unreachable.TOO_FEW_QUESTIONS
            reaching = [row for row in those if row["unreachable"] != never] or those
            ways.setdefault(_what_advice_levers_take(reaching), []).append(target)
    for text, targets in ways.items():
        names = " and ".join(map(_advice_target_in_words, targets))
        reached = any(row["needed"] is not None for row in rows
                      if (row["target"], row["wanted"]) in targets)  # fmt: skip
        severity = PLAIN if reached else WEAK
        # `takes` follows its subject; what else there is to say of it stands apart.
        between = " " if text.startswith(_TAKES) else ": "
        yield Remark(text=f"{names}{between}{text}", who=who, severity=severity, kind=names)


def _what_advice_levers_take(rows: Sequence[Row]) -> str:
    """What levers take, those that reach a target as a choice, then why others never do."""
    ways = [_what_advice_lever_takes(row) for row in rows if row["needed"] is not None]
    never = [_what_advice_lever_takes(row) for row in rows if row["needed"] is None]
    if all(way.endswith(_JUDGMENTS) for way in ways):  # the unit is said once
        ways = [*ways[:1], *(f"{way.removesuffix(_JUDGMENTS)})" for way in ways[1:])]
    takes = f"{_TAKES}{' or '.join(ways)}"
    return "; ".join([*([takes] if ways else []), *never])


def _majority_not_known(row: Row) -> str:
    """Why it is not known whether votes reach a target, and what would show it."""
    if row["unreachable"] == Unreachable.NOT_KNOWN:
        return unreached(row)
    more, n = cast(int, row["design_replications"]), cast(int, row["design_questions"])
    design = count_of(more, "replication")
    design += "" if n == row["n_questions"] else f" of {count_of(n, 'question')}"
    if row["unreachable"] == Unreachable.NOT_KNOWN_FROM_MORE:
        return f"not known, nor would {design} show it"
    return f"not known; {design} would show it"


def _what_advice_lever_takes(row: Row) -> str:
    """What a lever takes, or why it never does."""
    by = lever("lever", in_full=False)(row) if row["lever"] else ""
    if row["needed"] is None:
        why = unreached(row)
        if row["unreachable"] in OF_VOTES:
            return _majority_not_known(row)
        if row["unreachable"] == Unreachable.TOO_FEW_QUESTIONS:
            return f"never by {by}"
        return f"no number of {by} reaches it: {why}" if by else why
    whole = cast(int, row["needed_whole"])
    if by in _THINGS:
        amount = count_of(whole, _THINGS[by])
    else:
        amount = f"{count_of(whole, 'judgment')} of each question {_advice_way(row)}"
    unsure = row["standing"] is not None and row["needed_cautious"] is None
    return f"{amount}{', not sure' * unsure} ({purchase(row)})"


def _advice_on_budget_split(splits: pl.DataFrame | None, groups: Groups) -> Iterator[Remark]:
    """The best way to split the budget."""
    for row in splits.filter("best").iter_rows(named=True) if splits is not None else ():
        text = (
            f"best split of the budget, for the same prompt: {row['n_items']:,} questions x "
            f"{row['n_replications']:,} replications, alpha's interval {number(row['width'])} wide"
        )
        yield Remark(text=text, who=groups.of(row), kind="split")


def _advice_on_panel(panel: pl.DataFrame | None) -> Iterator[Remark]:
    """What the judges are worth together."""
    if panel is None:
        return
    rows = [*panel.filter(n_judges=pl.col("judges")).iter_rows(named=True)]
    groups = groups_of(rows, _advice_group_columns(panel))
    worth = with_interval("effective", "effective_low", "effective_high")
    for row in rows:
        judges = count_of(row["judges"], "judge")
        if row["undefined"]:
            why = _PANEL_UNKNOWN.get(str(row["undefined"]), reason(row["undefined"]))
            text = f"a panel of {judges}: worth not known ({why})"
        else:
            text = f"a panel of {judges}: worth {worth(row)} independent ones"
        share = row["agreement"]
        text += "" if share is None else f"; two such agree {percent(share)}"
        who = group_label(row, groups.varying) if groups.varying else ""
        yield Remark(text=text, who=who, kind="panel")
