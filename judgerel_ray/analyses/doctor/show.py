"""A diagnosis as the result that every format is made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from shlex import quote
from textwrap import wrap

from judgerel_ray.analyses.doctor.diagnosis import Diagnosis
from judgerel_ray.blocks.blocks import Laid
from judgerel_ray.blocks.result import Result
from judgerel_ray.core import SweepError, count_of
from judgerel_ray.core.text import fitted_names

_BELOW = " " * 6
_MOST_ALIKE = 4  # groups of which as much was judged, that have a line each
_UNFIT = 2
_WIDTH = 80  # of a terminal, as of other text; what knows that one needs packages


def diagnosed(found: Diagnosis) -> Result[Diagnosis]:
    """What was found, what was not looked at left out; needs no package but the standard library.

    A table whose columns have other names ends the command with what to type.

    Examples
    --------
    >>> from judgerel_ray.analyses.doctor.diagnosis import Check
    >>> check = Check(name="gpu", is_there=False, found="no NVIDIA driver")
    >>> print(diagnosed(Diagnosis(machine=(check,))).as_text())
    --  gpu  no NVIDIA driver
    """
    error = None
    if found.proposal is not None:
        error = SweepError(
            found.notes[0], where={"file": found.source},
            hint=f"judgerel reduce {quote(found.source)} {found.proposal.flags}; for tables that "
            "come again keep what is printed here as map.toml, fill in each ?, then judgerel "
            f"import table {quote(found.source)} --map map.toml --out judgments.parquet",
        )  # fmt: skip
    parts: dict[str, object] = {
        "machine": [asdict(one) for one in found.machine],
        "columns": [
            {"column": one.column, "taken_for": one.taken_for, **asdict(one)}
            for one in found.columns
        ],
        "judges": [{**asdict(one), "doubt": one.doubt} for one in found.judges],
        "supports": [
            {"question": one.question, "verb": one.verb, "is_supported": one.is_supported,
             "found": one.found, "unblock": one.unblock, **asdict(one)}
            for one in found.supports
        ],
        "notes": found.notes,
        "mapping": found.mapping,
    }  # fmt: skip
    return Result(
        found=found,
        facts={part: content for part, content in parts.items() if content},
        full=lambda: [Laid("\n".join(part)) for part in _doctor_report_parts(found) if part],
        exit_code=0 if found.is_fit else _UNFIT,
        error=error,
    )


def _doctor_report_parts(found: Diagnosis) -> Iterator[list[str]]:
    """The parts of the text, a list of lines each."""
    yield found.mapping.splitlines()
    yield _doctor_report_grid([
        ("ok" if one.is_there else "--", one.name, one.found) for one in found.machine
    ], [one.hint for one in found.machine])  # fmt: skip
    yield _doctor_report_grid([
        (one.column, one.taken_for, count_of(one.n_values, "value") + (f", {one.n_empty:,} empty"
         if one.n_empty else "")) for one in found.columns if one.role
    ])  # fmt: skip
    unread = [one.column for one in found.columns if not one.role]
    yield _doctor_report_lines(f"Not read: {', '.join(unread)}", "  ") if unread else []
    yield from _doctor_report_judges(found)
    yield from _doctor_report_supports(found)


def _doctor_report_judges(found: Diagnosis) -> Iterator[list[str]]:
    """Every group with what was judged; of many those alike in one line."""
    amounts = [
        f"{count_of(one.n_items, 'item')}, {count_of(one.n_judgments, 'judgment')}"
        for one in found.judges
    ]
    alike = Counter(
        amount for one, amount in zip(found.judges, amounts, strict=True) if not one.why
    )
    room = _WIDTH - len("ok  ") - len("  ") - max(map(len, amounts), default=0) - len(" each")
    names = fitted_names([one.group or "all" for one in found.judges], room)
    rows: dict[tuple[str, str, str], str | None] = {}
    for one, name, amount in zip(found.judges, names, amounts, strict=True):
        if not one.why and alike[amount] > _MOST_ALIKE:
            rows["ok", f"{alike[amount]:,} groups", f"{amount} each"] = None
        else:
            rows["--" if one.why else "ok", name, amount] = one.doubt
    yield _doctor_report_grid([*rows], [*rows.values()], is_prose=True)


def _doctor_report_supports(found: Diagnosis) -> Iterator[list[str]]:
    """What the file supports; facets of which nothing is known stand in one line."""
    rows: dict[tuple[str, str, str], str | None] = {}
    unasked = [one for one in found.supports if one.facet and not one.is_supported]
    for one in found.supports:
        question, unblock = one.question, one.unblock
        if len(unasked) > 1 and one in unasked:
            *firsts, last = ((each.facet or "").replace("_", " ") for each in unasked)
            question = f"do {', '.join(firsts)} and {last} matter"
            unblock = "ask the same items at two levels of any of them"
        key = ("ok" if one.is_supported else "--", one.verb, f"{question}: {one.found}")
        rows.setdefault(key, unblock)
    yield _doctor_report_grid([*rows], [*rows.values()], is_prose=True)


def _doctor_report_lines(text: str, later: str, first: str = "") -> list[str]:
    """Text in lines of a terminal's width."""
    return wrap(text, _WIDTH, initial_indent=first, subsequent_indent=later,
                break_long_words=False, break_on_hyphens=False)  # fmt: skip


def _doctor_report_grid(
    rows: Sequence[tuple[str, ...]], below: Sequence[str | None] = (), *, is_prose: bool = False
) -> list[str]:
    """Rows with columns as wide as they need; what stands below one is set off.

    Prose below a row is wrapped; a command is not.
    """
    if not rows:
        return []
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = []
    for place, row in enumerate(rows):
        *first, last = row
        padded = [cell.ljust(width) for cell, width in zip(first, widths, strict=False)]
        start = "".join(f"{cell}  " for cell in padded)
        lines += _doctor_report_lines(last, " " * len(start), start)
        text = below[place] if place < len(below) else None
        if text:
            lines += _doctor_report_lines(text, _BELOW, _BELOW) if is_prose else [f"{_BELOW}{text}"]
    return lines
