"""The short answers of ``panels`` and ``cascade``: members together against the best alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from judgerel_ray.analyses.panels.show import CASCADED, share, worth_line
from judgerel_ray.analyses.panels.tables import Members, Stages
from judgerel_ray.blocks.blocks import Block, Paragraph
from judgerel_ray.blocks.short import (
    HARMFUL,
    PLAIN,
    WEAK,
    Groups,
    Remark,
    Row,
    findings_of_row,
    groups_of,
    short_blocks,
    short_names_of,
    short_table,
    span,
    with_names,
)
from judgerel_ray.blocks.text_sections import short_p
from judgerel_ray.blocks.words import (
    NOISE,
    cell,
    costing,
    number,
    percent,
    share_with_ends,
)
from judgerel_ray.core import count_of

_RULES = {"majority": "by majority", "confidence": "by confidence", "accuracy": "by accuracy"}
_GAIN = "gain: over the member best on other questions; p: that guessing does as well"
_CASCADE = (
    "up to: a cascade within that budget for an answer; over random: gain over asking the next at "
    "random; over alone: over the best judge alone for the same money"
)
_FEWEST = 10
"""Questions below which few decide."""


def panels_short(tables: Mapping[str, pl.DataFrame], command: str | None) -> list[Block]:
    """Lay the short answer of ``panels`` out: the best member and each way to count votes.

    Examples
    --------
    >>> from judgerel_ray.analyses.panels.panels import panel_tables
    >>> panels_short(panel_tables([]).tables(), None)[0].text
    'no two systems answered the same questions'
    """
    members = tables["members"]
    if members.is_empty():
        return short_blocks("no two systems answered the same questions", [], [])
    every = [*members.iter_rows(named=True)]
    groups = groups_of(every, Members.groups(members))
    short = short_names_of(cell(row["member"]) for row in every)
    every = [{**row, "member": short[cell(row["member"])]} for row in every]
    alone = groups.apart(every)
    rules = groups.apart(tables["panels"].iter_rows(named=True))
    best = {who: max(those, key=lambda row: row["accuracy"] or 0.0) for who, those in alone.items()}
    rows = [row for who, one in best.items() for row in (one, *rules.get(who, []))]
    findings = [
        *(one for who, those in rules.items() for one in _vote_rule_remarks(those, who, best[who])),
        *_best_panel_remarks(tables["best"], groups, short),
        *(
            Remark(text=_panel_worth_cell(row), who=groups.of(row), kind="worth",
                    severity=WEAK if row["effective"] is None else PLAIN)
            for row in tables["worth"].iter_rows(named=True)
        ),
        *_panel_growth_remarks(tables["next"], groups),
    ]  # fmt: skip
    columns = {
        "who answers": _panel_answerer,
        "accuracy [95 %]": _accuracy_of_panel,
        "gain [95 %]": lambda row: share(row, "gain"),
        "p": lambda row: short_p("p_noise")(row) if "rule" in row else "-",
        _panel_cost_unit(every[0]): lambda row: costing(row["cost"]),
    }
    return short_blocks(
        _panel_scope_sentence(every, alone, groups),
        [
            *short_table(rows, groups, columns, what="row", names=["who answers"]),
            Paragraph(_GAIN, kind="below"),
        ],
        findings,
        ("compare each pair of members", command),
        everyone=groups.labels.values(),
    )


def _panel_scope_sentence(
    every: Sequence[Row], alone: Mapping[str, Sequence[Row]], groups: Groups
) -> str:
    """Say how many members answered how many questions, and what the table's numbers are of."""
    several = f"{count_of(len(alone), 'panel')} of " if len(alone) > 1 else ""
    n = span(len(those) for those in alone.values())
    asked = span(row["n_items"] for row in every)
    return f"{several}{n} members on {asked} questions that all answered{groups.shared}"


def _panel_cost_unit(row: Row) -> str:
    """Whose cost of a question the table has."""
    return "money" if row["cost_unit"] == "cost" else str(row["cost_unit"])


def _panel_answerer(row: Row) -> str:
    """Who answers: the best member alone, or all by a way to count votes."""
    if "member" in row:
        return cell(row["member"])
    return f"all {_RULES[str(row['rule'])]}"


def _accuracy_of_panel(row: Row) -> str:
    return share_with_ends({"value": row["accuracy"], "low": row["low"], "high": row["high"]})


def _vote_rule_remarks(rows: Sequence[Row], who: str, best: Row) -> Iterator[Remark]:
    """Whether voting gains anything over the best member alone, and what its numbers lack."""
    stands: dict[str, list[str]] = {}
    for row in rows:
        how = _RULES[str(row["rule"])]
        stands.setdefault(_vote_gain_standing(row, best), []).append(how)
        if row["noise"]:
            stands.setdefault(_NO_BETTER_THAN_CHANCE, []).append(how)
    for text, those in stands.items():
        every = len(those) == len(rows) and len(rows) > 1
        how = "however votes count" if every else f"votes {' and '.join(those)}"
        severity = PLAIN if text == _BETTER else HARMFUL
        yield Remark(text=f"{how}: {text}", who=who, severity=severity)
    for row in rows:
        yield from findings_of_row({**row, "noise": None}, who, f"votes {_RULES[str(row['rule'])]}")
    for name, words in (("tied", "tie, and are decided by lot"), ("silent", "get no vote")):
        shares = [f"{percent(row[name])} {_RULES[str(row['rule'])]}" for row in rows if row[name]]
        if shares:
            text = f"questions that {words}: {', '.join(shares)}"
            yield Remark(text=text, who=who, severity=WEAK, kind=name)
    if rows[0]["n_dropped"]:
        n = count_of(rows[0]["n_dropped"], "question")
        yield Remark(text=f"{n} left out, as not all members answered", who=who, severity=WEAK)


_BETTER = "better than the best member alone"
_NO_BETTER_THAN_CHANCE = f"accuracy is {NOISE}"


def _vote_gain_standing(row: Row, best: Row) -> str:
    """How a vote stands to the best member alone, by the whole confidence interval of its gain.

    The gain is over the member that other questions chose. Of members as good as each other that is
    the one with bad luck here: a vote that gains must do better than the best member here, too.
    """
    low, high = row["gain_low"], row["gain_high"]
    if row["gain"] is None:
        return "no gain can be measured on a single question"
    if high is not None and high < 0:
        return "worse than the best member alone"
    gains = low is not None and low > 0 and row["accuracy"] > best["accuracy"]
    return _BETTER if gains else "no gain over the best member is shown"


def _best_panel_remarks(
    best: pl.DataFrame, groups: Groups, short: Mapping[str, str]
) -> Iterator[Remark]:
    """The panel that does best on questions it was not chosen by; `short` names of its members."""
    sized = best.filter(chosen_by="size").iter_rows(named=True)
    for who, rows in groups.apart(sized).items():
        row = max(rows, key=lambda one: one["accuracy"] or 0)
        members = with_names(cell(row["members"]), short)
        text = (
            f"best panel, on questions that did not choose it: {members} "
            f"{share(row)}; {row['n_alike']} of {row['n_folds']} folds choose it"
        )
        text += "" if row["exhaustive"] else "; not all panels were tried"
        yield Remark(text=text, who=who, kind="best")


def _panel_worth_cell(row: Row) -> str:
    """How many independent members a panel is worth."""
    return worth_line({**row, "most": None}).replace(" whose errors vary are", " are")


def _panel_growth_remarks(sizes: pl.DataFrame, groups: Groups) -> Iterator[Remark]:
    """What the last member adds."""
    for who, (*_, row) in groups.apart(sizes.iter_rows(named=True)).items():
        if row["gain"] is not None:
            text = f"member {row['n_members']} of a random panel adds {share(row, 'gain')}"
            yield Remark(text=text, who=who, kind="next")


def cascade_short(tables: Mapping[str, pl.DataFrame], command: str | None) -> list[Block]:
    """Lay the short answer of ``cascade`` out: everyone alone, and the curve's best points.

    Examples
    --------
    >>> cascade_short({"stages": pl.DataFrame(), "curve": pl.DataFrame()}, None)[0].text
    'nothing to pass on'
    """
    stages = tables["stages"]
    if stages.is_empty():
        return short_blocks("nothing to pass on", [], [])
    every = [*stages.iter_rows(named=True)]
    groups = groups_of(every, Stages.groups(stages))
    curves = groups.apart(tables["curve"].iter_rows(named=True))
    rows: list[Row] = []
    findings: list[Remark] = []
    for who, those in groups.apart(every).items():
        rows += [*those, *_cascade_curve_points(curves.get(who, []))]
        findings += _cascade_curve_remarks(curves.get(who, []), who)
        for row in those:
            if row["confident"] is None:
                text = f"{cell(row['member'])}: accuracy assumed, not measured"
                findings.append(Remark(text=text, who=who, severity=HARMFUL))
            elif row["confident"] < 1:
                share_of = percent(1 - row["confident"])
                text = f"{cell(row['member'])}: {share_of} of the answers state no confidence"
                findings.append(Remark(text=text, who=who, severity=WEAK))
    asked = span(row["n_items"] for row in every)
    columns = {
        "who answers": _cascade_point_name,
        _panel_cost_unit(every[0]): lambda row: costing(row["cost"]),
        "accuracy [95 %]": _accuracy_of_panel,
        "over random": lambda row: share(row, "over_random"),
        "over alone": lambda row: share(row, "over_alone"),
    }
    return short_blocks(
        f"the next judge is asked where confidence falls short; {asked} questions{groups.shared}",
        [
            *short_table(rows, groups, columns, what="row", names=["who answers"]),
            Paragraph(_CASCADE, kind="below"),
        ],
        findings,
        ("see what all of them are worth by votes", command),
        everyone=groups.labels.values(),
    )


def _cascade_point_name(row: Row) -> str:
    return cell(row["member"]) if "member" in row else f"up to {costing(row['budget'])}"


def _cascade_curve_points(curve: Sequence[Row]) -> list[Row]:
    """The curve's middle and its best point."""
    if not curve:
        return []
    best = max(curve, key=lambda row: row["accuracy"] or 0)
    return [row for row in curve if row is best or row is curve[len(curve) // 2]]


def _cascade_curve_remarks(curve: Sequence[Row], who: str) -> Iterator[Remark]:
    """Whether confidence picks better than chance, and a cascade better than one member."""
    if not curve:
        yield Remark(text="no budget lies between its members", who=who, severity=HARMFUL)
        return
    for name, words in (
        ("over_random", "passing on by confidence beats passing on at random"),
        ("over_alone", "the cascade beats the best single member for the same money"),
    ):
        known = [row for row in curve if row[f"{name}_low"] is not None]
        better = sum(row[f"{name}_low"] > 0 for row in known)
        worse = sum(row[f"{name}_high"] < 0 for row in known)
        text = f"{words} at {better} of {count_of(len(curve), 'budget')}"
        text += f", and loses at {worse}" if worse else ""
        yield Remark(text=text, who=who, severity=PLAIN if better else HARMFUL, kind=name)
    ready = [row for row in curve if row["n_items"] < _FEWEST]
    if ready:
        yield Remark(text=f"fewer than {_FEWEST} questions", who=who, severity=WEAK)


def cascaded_short(rows: pl.DataFrame, command: str | None) -> list[Block]:
    """Lay out what a cascade did: who answered how much, how well, at what cost.

    Examples
    --------
    >>> from judgerel_ray.analyses.panels.tables import CascadedShares
    >>> cascaded_short(CascadedShares.frame(), None)[0].text
    'no cascade was asked'
    """
    if rows.is_empty():
        return short_blocks("no cascade was asked", [], [])
    every = [*rows.iter_rows(named=True)]
    groups = groups_of(every, ("benchmark", "template", "temperature"))
    columns = {
        head.replace("answered [95 %]", "answered"): lambda row, write=write: write(
            row
        ).removesuffix(f", {NOISE}")
        for head, write in CASCADED.items()
    }
    findings = [
        one for row in every
        for one in findings_of_row(row, groups.of(row), f"accuracy of {cell(row['asked'])}")
    ]  # fmt: skip
    limits = " or ".join(dict.fromkeys(number(row["threshold"]) for row in every))
    return short_blocks(
        f"a cascade{groups.shared}: an answer counts from confidence {limits} on",
        short_table(every, groups, columns, what="row"),
        findings,
        ("see what each of them is worth alone", command),
        everyone=groups.labels.values(),
    )
