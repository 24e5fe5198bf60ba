"""The short answers of ``select`` and ``systems``: what to accept, and which system is better."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import cast

import polars as pl

from judgerel_ray.blocks.blocks import Block, Lines, Paragraph
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
from judgerel_ray.blocks.words import (
    NOISE,
    cell,
    explanation,
    number,
    percent,
    reason,
    share_with_ends,
)
from judgerel_ray.core import count_of

_SURE = 0.05
_MOST_DECIDED = 6  # pairs of many whose differences are shown, the clearest first
_LONGEST_SIDE = 40  # characters of a system's name; longer ones are numbered
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
    rows = [{**row, "kept": kept.get(groups.of(row), {})} for row in every]
    several = len({tuple(row[name] for name in [*keys, "system"]) for row in every}) > 1
    risks = dict.fromkeys(number(row["risk"], 2).rstrip("0") for row in kept.values())
    columns = {
        "accuracy [95 %]": _accuracy_cell,
        "AUROC [95 %]": lambda row: _selected_value_cell(row, "auroc", "auroc_low", "auroc_high"),
        "accept from": lambda row: _acceptance_threshold_cell(row["kept"]),
    }
    many = len(rows) > MOST_ROWS
    if many:
        table = _one_row_a_system(rows, of_systems)
    else:
        table = short_table(rows, groups, columns, what="row")
    return short_blocks(
        _accepted_share_sentence(every, keys, groups, risks),
        [*table, Paragraph(_selection_legend(rows, many), kind="below")],
        _remarks_by_confidence(rows, of_systems, many),
        ("compare the systems question by question", command if several else None),
        everyone=of_systems.labels.values(),
    )


def _selection_legend(rows: Sequence[Row], many: bool) -> str:
    """What the numbers are, in a line below the table."""
    learnt = [n for row in rows if (n := row["kept"].get("n_calibration")) is not None]
    names = f"{', '.join(dict.fromkeys(str(row['confidence']) for row in rows))}: " * many
    parts = [f"{names}AUROC{', the' if many else ':'} chance that a right answer is surer"]
    parts += [f"in brackets: {NOISE}"] if many else []
    parts += [f"accept from: learnt on {span(learnt, 'question')}"] if learnt and not many else []
    return "; ".join(parts)


def _one_row_a_system(rows: Sequence[Row], groups: Groups) -> list[Block]:
    """Many systems: what is the same of every confidence once, then how well each ranks."""
    confidences = [*dict.fromkeys(str(row["confidence"]) for row in rows)]
    by_system = groups.apart(rows)
    whole = len(confidences) == 1  # intervals of several have no room beside each other

    def ranks(confidence: str) -> Callable[[Row], str]:
        def write(row: Row) -> str:
            of = {str(one["confidence"]): one for one in by_system[groups.of(row)]}
            one = of.get(confidence, {})
            text = number(one.get("auroc"))
            if whole:
                text = _selected_value_cell(one, "auroc", "auroc_low", "auroc_high")
            return f"({text})" if one.get("auroc_noise") else text

        return write

    def accepts(row: Row) -> str:
        found = {
            str(one["confidence"]): _acceptance_threshold_cell(one["kept"])
            for one in by_system[groups.of(row)]
        }
        some = [f"{name} {limit}" for name, limit in found.items() if limit[0].isdigit()]
        return ", ".join(some) or "-"

    columns: dict[str, Callable[[Row], str]] = {
        "accuracy [95 %]": _accuracy_cell,
        **{name: ranks(name) for name in confidences},
        "accept from": accepts,
    }
    return short_table([those[0] for those in by_system.values()], groups, columns, what="system")


def _remarks_by_confidence(rows: Sequence[Row], groups: Groups, many: bool) -> list[Remark]:
    """What forbids or weakens accepting: each once, then where it holds."""
    found: dict[tuple[int, str], dict[str, dict[str, str]]] = {}
    confidences: dict[str, set[str]] = {}
    for row in rows:
        who, confidence = groups.of(row), str(row["confidence"])
        confidences.setdefault(who, set()).add(confidence)
        for one in _selection_remarks(row, many):
            places = found.setdefault((one.severity, one.kind), {})
            places.setdefault(who, {})[confidence] = one.text
    return [
        Remark(
            text=": ".join(filter(None, [
                text,
                named([*places], [*confidences]) if many and severity == WEAK
                else _places_in_words(places, confidences),
            ])),
            severity=severity,
        )
        for (severity, text), places in found.items()
    ]  # fmt: skip


def _places_in_words(
    places: Mapping[str, Mapping[str, str]], confidences: Mapping[str, set[str]]
) -> str:
    """The systems that a remark holds of, each with its confidences and numbers; "" of all."""
    alike: dict[str, list[str]] = {}
    for who, numbers in places.items():
        by_number: dict[str, list[str]] = {}
        for confidence, text in numbers.items():
            by_number.setdefault(text, []).append(confidence)
        is_whole = {*numbers} == confidences[who] and len(by_number) == 1
        phrases = [
            f"{'' if is_whole else ' and '.join(those)} {text}".strip()
            for text, those in by_number.items()
        ]
        alike.setdefault(", ".join(filter(None, phrases)), []).append(who)
    if [*alike] == [""] and {*places} == {*confidences}:
        return ""
    parts = []
    for words, those in sorted(alike.items(), key=lambda one: not one[0]):
        who = named(those, [*confidences], MOST_ROWS)
        parts.append(f"{who} ({words})" if who and words else who or words)
    return ", ".join(parts)


def _accuracy_cell(row: Row) -> str:
    return share_with_ends({"value": row["accuracy"], "low": row["low"], "high": row["high"]})


def _selected_value_cell(row: Row, value: str, low: str, high: str) -> str:
    """A number with its interval, a dash where there is none."""
    if row.get(value) is None:
        return "-"
    if row[low] is None or row[high] is None:
        return f"{number(row[value])} [none]"
    return f"{number(row[value])} [{number(row[low])}, {number(row[high])}]"


def _acceptance_threshold_cell(row: Row) -> str:
    """The least confidence that is accepted, or why there is none."""
    if row.get("threshold") is not None:
        return f"{row['threshold']:.4g}"
    return _NO_THRESHOLD.get(str(row.get("undefined")), "none")


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


def _selection_remarks(row: Row, many: bool) -> Iterator[Remark]:
    """What forbids or weakens accepting by a confidence: its kind, and numbers of its own.

    Of many systems the table has no room for why nothing is accepted, and says what is noise.
    """
    kept = cast(Row, row["kept"])
    if row["noise"]:
        yield Remark(kind=f"accuracy is {NOISE}", text="", severity=GRAVE)
    if row["undefined"]:
        code = str(row["undefined"])
        kind = f"no AUROC: {_NO_AUROC.get(code, explanation(reason(code)))}"
        yield Remark(kind=kind, text="", severity=GRAVE)
    if row["auroc_noise"] and not many:
        yield Remark(kind=f"AUROC is {NOISE}", text="", severity=HARMFUL)
    risk = number(kept.get("risk"), 2).rstrip("0")
    if kept and kept["threshold"] is None and many:
        kind = f"no threshold keeps the error at {risk}, {_acceptance_threshold_cell(kept)}"
        yield Remark(kind=kind, text="", severity=WEAK)
    elif kept and kept["threshold"] is not None:
        error = {"value": kept["error"], "low": kept["low"], "high": kept["high"]}
        text = f"accepts {percent(kept['acceptance'])}, {share_with_ends(error)} of them wrong"
        yield Remark(kind="tried on other questions", text=text, severity=HARMFUL)
    confident, right = row["mean_confidence"], row["accuracy_confident"]
    if None not in (confident, right) and row["ece_p"] is not None and row["ece_p"] < _SURE:
        shares = [percent(confident), percent(right)]
        if shares[0] == shares[1]:
            shares = [number(confident), number(right)]
        kind = f"{'over' if confident > right else 'under'}confident"
        yield Remark(kind=kind, text=f"{shares[0]} said, {shares[1]} right", severity=WEAK)
    if row["few"]:
        kind = _FEW.get(str(row["few"]), reason(row["few"]))
        yield Remark(kind=kind, text="", severity=WEAK)
    unread = row["n_unread"]
    is_one = unread and unread == row["n_rejected"]
    for name, words in _ANSWERS.items():
        if row[name] and not (is_one and name == "n_rejected"):
            kind = f"{words}, and are never accepted" if is_one and name == "n_unread" else words
            yield Remark(kind=kind, text=f"{row[name]:,}", severity=WEAK)


_ANSWERS = {
    "n_unread": "answers without a verdict count as wrong",
    "n_rejected": "answers without such a confidence are never accepted",
    "n_without_gold": "answers to questions without a right answer are left out",
}


_NO_THRESHOLD = {"risk_too_high": "too many wrong", "too_few_judgments": "too few labels"}
_NO_AUROC = {"no_variance": "every answer is right, or every one wrong"}


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
    names = [*dict.fromkeys(cell(row[name]) for row in every for name in ("first", "second"))]
    key = []
    if len(every) <= MOST_ROWS and max(map(len, names), default=0) > _LONGEST_SIDE:
        numbers = {name: f"system {n}" for n, name in enumerate(names, start=1)}
        key = [Lines([f"{number}: {name}" for name, number in numbers.items()], kind="findings")]
        every = [{**row, "first": numbers[cell(row["first"])],
                  "second": numbers[cell(row["second"])]} for row in every]  # fmt: skip
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
        shown += [*([Paragraph(_ERRORS, kind="below")] if by else []), *key]
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
