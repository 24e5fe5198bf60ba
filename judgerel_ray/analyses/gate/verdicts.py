"""May this judge decide here? One line a judge, made of the rows of a gate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from judgerel_ray.analyses.gate.show import more_words
from judgerel_ray.analyses.gate.standing import ALONE, COLUMNS, CROSSES, Verdict, overall
from judgerel_ray.blocks.blocks import Paragraph, Span
from judgerel_ray.blocks.words import (
    Row,
    cell,
    coefficient_name,
    group_label,
    interval,
    judges_other_answers,
    number,
)
from judgerel_ray.core.codes import Flag
from judgerel_ray.counting.groups.grouping import TEMPERATURE
from judgerel_ray.counting.verdicts.policy import REPEATABILITY

SIGNS = {Verdict.PASS: "\u2713", Verdict.FAIL: "\u2717", Verdict.INCONCLUSIVE: "?"}
SAID = {
    Verdict.PASS: "may decide",
    Verdict.FAIL: "may not decide",
    Verdict.INCONCLUSIVE: "undecided",
}
"""A verdict in words that also read in black and white."""
_KINDS = {Verdict.PASS: "met", Verdict.FAIL: "missed", Verdict.INCONCLUSIVE: "open"}
_BEST = (Verdict.PASS, Verdict.INCONCLUSIVE, Verdict.FAIL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a gate says of one judge: at the temperature that serves best, and at the others.

    Attributes
    ----------
    group : mapping
        What tells it, temperature apart.
    verdict : Verdict
        At `temperature`.
    temperature : object
        The best one: of equal verdicts that of the surest alpha; None where there is none.
    rows : sequence of mapping
        Its requirements there.
    others : sequence of (object, Verdict)
        Other temperatures and what is said there, in their order.
    """

    group: Mapping[str, object]
    verdict: Verdict
    temperature: object
    rows: Sequence[Row]
    others: Sequence[tuple[object, Verdict]] = ()


def decisions(requirements: pl.DataFrame) -> list[Decision]:
    """Say of every judge, and whatever else makes groups but temperature, whether it may decide.

    Parameters
    ----------
    requirements : pl.DataFrame
        Of :class:`.Gated`.

    Examples
    --------
    >>> from judgerel_ray import example, gate
    >>> found = gate(example("judgments.csv"), require="flip_rate <= .9").requirements
    >>> [(one.group["judge"], one.verdict.value) for one in decisions(found)]
    [('simulated-erratic', 'PASS'), ('simulated-steady', 'PASS')]
    """
    names = [name for name in requirements.columns if name not in COLUMNS]
    rest = [name for name in names if name != TEMPERATURE]
    parts: dict[tuple[object, ...], dict[object, list[Row]]] = {}
    for row in requirements.iter_rows(named=True):
        heats = parts.setdefault(tuple(row[name] for name in rest), {})
        heats.setdefault(row.get(TEMPERATURE), []).append(row)
    found = []
    for key, heats in parts.items():
        stands = {heat: overall([str(row["verdict"]) for row in rows])
                for heat, rows in heats.items()}  # fmt: skip
        best = min(heats, key=lambda heat: (_BEST.index(stands[heat]), -_surest(heats[heat])))
        found.append(
            Decision(
                group=dict(zip(rest, key, strict=True)), verdict=stands[best], temperature=best,
                rows=heats[best],
                others=[(heat, one) for heat, one in stands.items() if heat != best],
            )
        )  # fmt: skip
    return found


def _surest(rows: Sequence[Row]) -> float:
    """The least alpha that the interval holds; below all where there is none."""
    lows = [
        row["low"]
        for row in rows
        if row["coefficient"] == "krippendorff_alpha" and row["reason"] != Flag.SERVING_NOISE.value
    ]
    return min((float(low) if isinstance(low, float) else -2.0 for low in lows), default=-2.0)


def verdict_line(found: Decision, varying: Sequence[str]) -> Paragraph:
    """Say in one line whether a judge may decide, where, and why.

    Parameters
    ----------
    found : Decision
        What the gate says.
    varying : sequence of str
        Columns whose values tell it from others.

    Examples
    --------
    >>> from judgerel_ray import example, gate
    >>> found = gate(example("judgments.csv"), require="flip_rate <= .9").requirements
    >>> line = verdict_line(decisions(found)[1], ["judge"])
    >>> "".join(span.text for span in line.spans)
    '✓ simulated-steady: may decide. Every requirement is met: flip rate of the same prompt again 0.208 [0.000, 0.553] (at most 0.9).'
    """  # noqa: E501
    who = group_label(found.group, varying) if varying else "this judge"
    heat = "" if found.temperature is None else f" at temperature {cell(found.temperature)}"
    nowhere = found.others and found.verdict is Verdict.FAIL  # the best verdict, so of all
    where = " at any temperature asked" if nowhere else f"{heat}{_elsewhere(found)}"
    best = f"At {cell(found.temperature)}, the best of them: " if nowhere else ""
    stands = f"{SIGNS[found.verdict]} {who}: {SAID[found.verdict]}{where}."
    return Paragraph([Span(stands, "strong"), f" {best}{_why(found)}"], _KINDS[found.verdict])


def _elsewhere(found: Decision) -> str:
    """What is said at other temperatures."""
    words = {Verdict.PASS: "also at", Verdict.FAIL: "not at", Verdict.INCONCLUSIVE: "undecided at"}
    parts = []
    for verdict, word in words.items():
        heats = [cell(heat) for heat, one in found.others if one is verdict]
        parts += [f"{word} {', '.join(heats)}"] if heats else []
    return f" ({'; '.join(parts)})" if parts else ""


def _why(found: Decision) -> str:
    """What decided, or what is open."""
    rows = [row for row in found.rows if row["verdict"] == found.verdict.value]
    if found.verdict is Verdict.PASS:
        return f"Every requirement is met: {'; '.join(dict.fromkeys(map(_held, rows)))}."
    parts = [
        _held(row) if found.verdict is Verdict.FAIL else f"{_held(row)}: {_open(row)}"
        for row in rows
    ]
    word = "Missed" if found.verdict is Verdict.FAIL else "Open"
    return f"{word}: {'; '.join(dict.fromkeys(parts))}."


def _held(row: Row) -> str:
    """A requirement beside the value and its interval."""
    name = coefficient_name({"measurement": None, **row})
    again = "other answers" if judges_other_answers(row) else "the same prompt again"
    same = f" of {again}" if row["conditions"] == REPEATABILITY else ""
    value = "" if row["value"] is None else f" {number(row['value'])} {interval(row)}".rstrip()
    limit = f"{float(str(row['limit'])):g}"
    return f"{name}{same}{value} ({'at most' if row['at_most'] else 'at least'} {limit})"


def _open(row: Row) -> str:
    """What would decide, or why nothing is decided."""
    more = more_words(row)
    return f"{more} would decide" if row["reason"] in (CROSSES, ALONE) else more
