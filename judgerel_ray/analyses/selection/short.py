"""The short answers of ``select`` and ``systems``: what to accept, and which system is better."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import cast

import polars as pl

from judgerel_ray.blocks.blocks import Block, Paragraph
from judgerel_ray.blocks.short import (
    GRAVE,
    HARMFUL,
    MOST_ROWS,
    PLAIN,
    WEAK,
    Groups,
    PairOutcome,
    Remark,
    Row,
    groups_of,
    named,
    short_blocks,
    short_table,
    sides_table,
    span,
)
from judgerel_ray.blocks.text_sections import short_p
from judgerel_ray.blocks.words import NOISE, cell, explanation, number, percent, reason
from judgerel_ray.core import count_of

_SURE = 0.05
_CALIBRATION = "calibration"
_MOST_DECIDED = 6  # pairs of many whose differences are shown, the clearest first
_MOST_WITH_ENDS = 2  # confidences whose intervals stand beside each other
_ERRORS = "errors: share wrong, second less first, where both accept as many answers"
_COUNTED = {"first": "first replies", "majority": "majorities"}
_FEW = {
    "few_wrong": "fewer than 10 questions have a wrong answer",
    "few_right": "fewer than 10 questions have a right answer",
}
_FINDINGS = {
    "favours_its_own": "favours its own answers",
    "option_was_shown": "picks an option more because it was shown",
    "avoids_its_own": "avoids its own answers",
    "not_distinguishable": "no preference for its own answers is shown",
}


def selection_short(tables: Mapping[str, pl.DataFrame], command: str | None) -> list[Block]:
    """Lay the short answer of ``select`` out: a row a system and confidence.

    Examples
    --------
    >>> from judgerel_ray import example, select
    >>> found = select(example("judgments.csv"), confidence="agreement", resamples=50)
    >>> selection_short(found.tables(), None)[0].text.partition("; ")[0]
    'surest of 64 answers by 2 systems to 8 questions (confidence agreement)'
    """
    systems, guarantees = tables["systems"], tables["guarantees"]
    every = [*systems.iter_rows(named=True)]
    keys = systems.columns[: systems.columns.index("system")]
    groups = groups_of(every, [*keys, "confidence"])
    of_systems = groups_of(every, keys)
    kept = {groups.of(row): row for row in guarantees.iter_rows(named=True)}
    surest: dict[str, Row] = {}
    for row in tables["acceptance"].iter_rows(named=True):
        surest.setdefault(groups.of(row), row)
    rows = [
        {**row, "kept": kept.get(who := groups.of(row), {}), "surest": surest.get(who, {})}
        for row in every
    ]
    several = len({tuple(row[name] for name in [*keys, "system"]) for row in every}) > 1
    risks = dict.fromkeys(number(row["risk"], 2).rstrip("0") for row in kept.values())
    columns = {
        "accuracy [95 %]": lambda row: _selected_value_cell(row, "accuracy", "low", "high"),
        "AUROC [95 %]": lambda row: _selected_value_cell(row, "auroc", "auroc_low", "auroc_high"),
        "from": lambda row: _acceptance_threshold_cell(row["kept"]),
        "accepted": lambda row: percent(row["kept"].get("acceptance")),
        "wrong [95 %]": lambda row: _selected_value_cell(row["kept"], "error", "low", "high"),
    }
    table = short_table(rows, groups, columns, what="row")
    if len(rows) > MOST_ROWS:
        table = _one_row_a_system(rows, of_systems)
    text = "AUROC: chance that a right answer is the surer"
    if len(rows) <= MOST_ROWS:
        text += "; from: least confidence accepted"
    if any(row["kept"].get("threshold") is not None for row in rows):
        text += "; accepted, wrong: there, on questions held out"
    below = Paragraph(text, kind="soft")
    return short_blocks(
        _accepted_share_sentence(every, keys, groups, risks),
        [*table, below],
        _remarks_by_confidence(rows, of_systems),
        ("compare the systems question by question", command if several else None),
        everyone=of_systems.labels.values(),
    )


def _one_row_a_system(rows: Sequence[Row], groups: Groups) -> list[Block]:
    """Many systems: what is the same of every confidence once, then how well each ranks."""
    confidences = [*dict.fromkeys(str(row["confidence"]) for row in rows)]
    by_system = groups.apart(rows)
    whole = len(confidences) <= _MOST_WITH_ENDS

    def ranks(confidence: str) -> Callable[[Row], str]:
        def write(row: Row) -> str:
            of = {str(one["confidence"]): one for one in by_system[groups.of(row)]}
            one = of.get(confidence, {})
            if not whole:
                return number(one.get("auroc"))
            return _selected_value_cell(one, "auroc", "auroc_low", "auroc_high")

        return write

    def accepts(row: Row) -> str:
        found = {
            str(one["confidence"]): _acceptance_threshold_cell(one["kept"])
            for one in by_system[groups.of(row)]
        }
        some = [f"{name} {limit}" for name, limit in found.items() if limit != "none"]
        return ", ".join(some) or "-"

    columns: dict[str, Callable[[Row], str]] = {
        "accuracy [95 %]": lambda row: _selected_value_cell(row, "accuracy", "low", "high"),
        **{f"AUROC, {name}": ranks(name) for name in confidences},
        "accepted from": accepts,
    }
    return short_table([those[0] for those in by_system.values()], groups, columns, what="system")


def _remarks_by_confidence(rows: Sequence[Row], groups: Groups) -> list[Remark]:
    """What forbids or weakens accepting, of a system once for all confidences it holds of."""
    found: dict[tuple[str, str, int, str], list[str]] = {}
    calibrations: dict[str, dict[str, list[str]]] = {}
    of_system: dict[str, set[str]] = {}
    for row in rows:
        who, confidence = groups.of(row), str(row["confidence"])
        of_system.setdefault(who, set()).add(confidence)
        for one in _selection_remarks(row, who):
            if one.kind == _CALIBRATION:
                word, _, shares = one.text.partition(": ")
                words = calibrations.setdefault(who, {}).setdefault(word, [])
                words.append(f"{shares} ({confidence})")
            else:
                found.setdefault((who, one.text, one.severity, one.kind), []).append(confidence)
    several = any(len(those) > 1 for those in of_system.values())
    remarks = [
        Remark(
            text=text if {*those} == of_system[who] else f"{text} (by {' and '.join(those)})",
            who=who, severity=severity, kind=kind,
        )
        for (who, text, severity, kind), those in found.items()
    ]  # fmt: skip
    for who, parts in calibrations.items():
        text = "; ".join(f"{word}: {', '.join(those)}" for word, those in parts.items())
        if not several:
            text = text.partition(" (")[0]
        remarks.append(Remark(text=text, who=who, severity=WEAK, kind=_CALIBRATION))
    return remarks


def _selected_value_cell(row: Row, value: str, low: str, high: str) -> str:
    """A number with its interval, a dash where there is none."""
    if row.get(value) is None:
        return "-"
    if row[low] is None or row[high] is None:
        return f"{number(row[value])} [none]"
    return f"{number(row[value])} [{number(row[low])}, {number(row[high])}]"


def _acceptance_threshold_cell(row: Row) -> str:
    return "none" if row.get("threshold") is None else f"{row['threshold']:.4g}"


def _accepted_share_sentence(
    every: Sequence[Row], keys: Sequence[str], groups: Groups, risks: Mapping[str, None]
) -> str:
    """Say what is accepted, of how many questions."""
    systems = {tuple(row[name] for name in keys): row for row in every}
    asked = span((row["n_questions"] for row in every), "question")
    answers = sum(row["n_answers"] for row in systems.values())
    risk = f"; error at most {' or '.join(risks)}" if risks else ""
    by = count_of(len(systems), "system")
    return f"surest of {count_of(answers, 'answer')} by {by} to {asked}{groups.shared}{risk}"


def _selection_remarks(row: Row, who: str) -> Iterator[Remark]:
    """What forbids or weakens accepting by a confidence."""
    kept = cast(Row, row["kept"])
    if row["noise"]:
        yield Remark(text=f"accuracy is {NOISE}", who=who, severity=GRAVE)
    if row["undefined"]:
        yield Remark(text=f"no AUROC: {explanation(reason(row['undefined']))}", who=who,
                      severity=GRAVE)  # fmt: skip
    if row["auroc_noise"]:
        yield Remark(text=f"AUROC is {NOISE}", who=who, severity=HARMFUL)
    if kept and kept["threshold"] is None:
        risk = number(kept["risk"], 2).rstrip("0")
        why, kind = (
            _why_nothing_is_accepted(kept, cast(Row, row["surest"])),
            f"{risk} {kept['undefined']}",
        )
        text = f"no threshold keeps the error at {risk}: {why}"
        yield Remark(text=text, who=who, severity=HARMFUL, kind=kind)
    confident, right = row["mean_confidence"], row["accuracy_confident"]
    if None not in (confident, right) and row["ece_p"] is not None and row["ece_p"] < _SURE:
        word = "overconfident" if confident > right else "underconfident"
        shares = [percent(confident), percent(right)]
        if shares[0] == shares[1]:
            shares = [number(confident), number(right)]
        text = f"{word}: sure of {shares[0]}, right in {shares[1]}"
        yield Remark(text=text, who=who, severity=WEAK, kind=_CALIBRATION)
    if row["few"]:
        yield Remark(text=_FEW.get(str(row["few"]), reason(row["few"])), who=who, severity=WEAK)
    unread = row["n_unread"]
    if unread and unread == row["n_rejected"]:
        text = f"{count_of(unread, 'answer')} without a verdict: wrong, and never accepted"
        yield Remark(text=text, who=who, severity=WEAK, kind="n_unread")
        row = {**row, "n_unread": 0, "n_rejected": 0}
    for name, words in (
        ("n_unread", "have no verdict and count as wrong"),
        ("n_rejected", "have no such confidence and are never accepted"),
        ("n_without_gold", "have no right answer and are left out"),
    ):
        if row[name]:
            text = f"{count_of(cast(int, row[name]), 'answer')} {words}"
            yield Remark(text=text, who=who, severity=WEAK, kind=name)


def _why_nothing_is_accepted(kept: Row, surest: Row) -> str:
    """Why a system has no threshold with a guarantee: too many wrong, or too few questions."""
    if kept["undefined"] == "risk_too_high":
        return "too many are wrong even among the surest"
    n = kept["n_calibration"]
    if n is None:
        return "too few questions with a label to prove one"
    few = f"too few labels to prove one ({count_of(n, 'question')} in the half it is learnt on)"
    return f"{few}; none of the surest is wrong" if surest.get("n_errors") == 0 else few


def systems_short(tables: Mapping[str, pl.DataFrame], command: str | None) -> list[Block]:
    """Lay the short answer of ``systems`` out: a row a pair, self-preference in sentences.

    Examples
    --------
    >>> from judgerel_ray import example, systems
    >>> found = systems(example("judgments.csv"), resamples=50)
    >>> systems_short(found.tables(), None)[0].text
    '1 pair of systems, on 8 shared questions: how much more the second has right, by first replies'
    """
    every = sorted(
        tables["pairs"].iter_rows(named=True),
        key=lambda row: (row["p_holm"] is None, row["p_holm"] or 0),
    )
    groups = groups_of(every, ["benchmark", "first", "second"])
    all_groups = groups_of(every, ["benchmark"])
    asked = span((row["n_questions"] for row in every), "shared question")
    several, many = len(every) > 1, len(every) > MOST_ROWS
    columns = {
        **({"row": lambda row: str(every.index(row) + 1)} if several else {}),
        "first": lambda row: cell(row["first"]),
        "second": lambda row: cell(row["second"]),
        "second - first [95 %]": lambda row: _selected_value_cell(row, "difference", "low", "high"),
        "p, Holm": short_p("p_holm"),
        "errors": lambda row: _selected_value_cell(
            row, "error_difference", "error_low", "error_high"
        ),
    }
    by = any(row["error_difference"] is not None for row in every)
    ungrouped = Groups(rows=every, varying=[], shared="", labels={})
    who = {groups.of(row): f"row {place}" for place, row in enumerate(every, start=1)}
    numbered = {one: who[one] if several else "" for one in who}
    if many:
        shown = _systems_in_rows(every)
        findings = _remarks_on_many_pairs(every)
    else:
        shown = short_table(every, ungrouped, columns, what="pair", names=["first", "second"])
        shown += [Paragraph(_ERRORS, kind="soft")] if by else []
        findings = [
            one for row in every for one in _system_pair_remarks(row, numbered[groups.of(row)])
        ]
    findings += _system_cost_remarks(tables["matched_cost"])
    findings += _of_preferences(tables["self_preference"])
    counted = _COUNTED.get(str(every[0]["answer"]), "") if every else ""
    what = "which has more right" if many else "how much more the second has right"
    return short_blocks(
        f"{count_of(len(every), 'pair')} of systems, on {asked}{all_groups.shared}: {what}, "
        f"by {counted}",
        shown,
        findings,
        ("see what answers to accept", command),
        everyone=[*numbered.values()],
    )


def _systems_in_rows(every: Sequence[Row]) -> list[Block]:
    """Many pairs: a row a system, and the clearest differences."""
    table = sides_table(
        [
            PairOutcome(
                sides=(cell(row["first"]), cell(row["second"])),
                higher=_better_system(row) or "undecided",
                values=(row["first_accuracy"], row["second_accuracy"]),
            )
            for row in every
        ],
        "system",
        "accuracy",
    )
    decided = [row for row in every if _better_system(row)]
    clearest = short_table(
        decided[:_MOST_DECIDED],
        Groups(rows=decided, varying=[], shared="", labels={}),
        {
            "right more often": _better_system,
            "than": lambda row: cell(row["first" if row["difference"] > 0 else "second"]),
            "difference [95 %]": _difference_of_better,
            "p, Holm": short_p("p_holm"),
        },
        names=["right more often", "than"],
    )
    return [table, *clearest]


def _better_system(row: Row) -> str:
    """The system of a pair that is right more often; nothing where that is open."""
    p = row["p_holm"]
    if row["undefined"] or p is None or p >= _SURE:
        return ""
    return cell(row["second"] if row["difference"] > 0 else row["first"])


def _difference_of_better(row: Row) -> str:
    """How much more often the better one is right, with its interval."""
    if row["difference"] > 0 or row["low"] is None or row["high"] is None:
        return _selected_value_cell(row, "difference", "low", "high")
    turned = {"value": -row["difference"], "low": -row["high"], "high": -row["low"]}
    return _selected_value_cell(turned, "value", "low", "high")


def _remarks_on_many_pairs(every: Sequence[Row]) -> list[Remark]:
    """Which pairs are open and why, counted, and who errs less where as much is accepted."""
    open_: Counter[tuple[int, str]] = Counter()
    fewer_errors: dict[str, Counter[str]] = {}
    for row in every:
        for one in _system_pair_remarks(row, ""):
            if one.severity != PLAIN:
                open_[one.severity, one.text] += 1
        q = row["error_p_holm"]
        if not row["undefined"] and q is not None and q < _SURE:
            better = cell(row["second"] if row["error_difference"] < 0 else row["first"])
            fewer_errors.setdefault(str(row["confidence"]), Counter())[better] += 1
    found = [
        Remark(text=f"{count_of(n, 'pair')}: {text}", severity=severity)
        for (severity, text), n in open_.items()
    ]
    for confidence, systems in fewer_errors.items():
        some = named([f"{name} (in {count_of(n, 'pair')})" for name, n in systems.most_common()])
        text = f"err less where both accept as many answers by {confidence}: {some}"
        found.append(Remark(text=text))
    return [*found, Remark(text="every pair and its interval: --full")]


def _system_pair_remarks(row: Row, who: str) -> Iterator[Remark]:
    """Which of two systems is better, or why that is open."""
    if row["undefined"]:
        yield Remark(text=f"not compared: {reason(row['undefined'])}", who=who, severity=GRAVE)
        return
    p = row["p_holm"]
    if p is not None and p < _SURE:
        better = row["second"] if row["difference"] > 0 else row["first"]
        yield Remark(text=f"{cell(better)} is right more often", who=who, severity=PLAIN)
    else:
        yield Remark(text="no difference in accuracy is shown", who=who, severity=HARMFUL)
    q = row["error_p_holm"]
    if q is not None and q < _SURE:
        better = row["second"] if row["error_difference"] < 0 else row["first"]
        text = f"{cell(better)} errs less where both accept as many answers by {row['confidence']}"
        yield Remark(text=text, who=who, severity=PLAIN)


def _system_cost_remarks(costs: pl.DataFrame) -> Iterator[Remark]:
    """Whether a judge beats the same money spent on one model."""
    for row in costs.iter_rows(named=True):
        who = f"{cell(row['second'])}"
        if row["undefined"]:
            text = f"matched cost not compared: {reason(row['undefined'])}"
            yield Remark(text=text, who=who, severity=WEAK)
            continue
        what = "asked once" if row["baseline"] == "single" else f"x {row['votes']:.3g} by majority"
        p = row["p_holm"]
        decided = "" if p is not None and p < _SURE else ", no difference shown"
        text = (
            f"against {cell(row['first'])} {what}: "
            f"{_selected_value_cell(row, 'difference', 'low', 'high')}{decided}"
        )
        severity = PLAIN if not decided and row["difference"] > 0 else WEAK
        yield Remark(text=text, who=who, severity=severity)
        wanted = row["votes_wanted"]
        if wanted is not None and row["votes"] is not None and row["votes"] < wanted:
            text = f"the same cost would buy {wanted:,} replies, {row['votes']:.3g} were asked"
            yield Remark(text=text, who=who, severity=WEAK)


def _of_preferences(rows: pl.DataFrame) -> Iterator[Remark]:
    """Whether judges favour their own answers."""
    for row in rows.iter_rows(named=True):
        who = cell(row["judge"])
        if row["finding"] is None:
            lacking = reason(row["undefined"] or "not enough disputed questions")
            text = f"preference for its own answers not known: {lacking}"
            yield Remark(text=text, who=who, severity=WEAK)
            continue
        text = _FINDINGS.get(str(row["finding"]), reason(row["finding"]))
        if row["self_difference"] is not None:
            text += f" ({_selected_value_cell(row, 'self_difference', 'self_low', 'self_high')})"
        severity = PLAIN if row["finding"] == "not_distinguishable" else HARMFUL
        yield Remark(text=text, who=who, severity=severity, kind=str(row["finding"]))
