"""What a page says first of a run that is not done: what is pending, why, and how to go on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from shlex import quote
from typing import cast

from judgerel_ray.blocks.blocks import Block, Column, Lines, Notice, Paragraph, Span, Table
from judgerel_ray.blocks.words import Row
from judgerel_ray.core import count_of


def unfinished_notice(standing: Mapping[str, object]) -> list[Block]:
    """Say that a run is not done, how much is pending of each judge, why, and how to go on.

    Parameters
    ----------
    standing : mapping
        As printed by ``status --json``; ``reasons``, if there, lists ``judge``, ``kind``,
        ``message`` and ``requests`` of what failed and is still pending.

    Returns
    -------
    list of Block
        A notice; nothing where the run is done.

    Examples
    --------
    >>> unfinished_notice({"state": "done"})
    []
    >>> judge = {"judge": "j", "asked": 2, "landed": 1, "owed": 1, "failed": 0, "state": "waiting",
    ...          "error": None}
    >>> [notice] = unfinished_notice({"state": "incomplete", "run": "r", "live": None, "asked": 2,
    ...                             "landed": 1, "owed": 1, "failed": 0, "judges": [judge]})
    >>> notice.blocks[-1].spans[1].text
    'judgerel run SWEEP.toml --out r'
    """
    if standing["state"] == "done":
        return []
    landed, failed = (cast(int, standing[name]) for name in ("landed", "failed"))
    asked, owed = (cast("int | None", standing[name]) for name in ("asked", "owed"))
    running = standing["state"] == "running"
    what = "still going on" if running else "unfinished"
    counts = f"{landed:,} of {_known(asked)} requests landed, {_known(owed)} are pending"
    if failed:
        counts += f"; {failed:,} of those were tried and failed"
    if asked is None and landed:
        counts = f"{count_of(landed, 'request')} landed, and how many were asked is not known"
    elif not asked:
        counts = "it ended before anything was asked"
    judges = cast("Sequence[Row]", standing["judges"])
    stands = Span(f"This run is {what}: {counts}.", "strong")
    found: list[Block] = [Paragraph([stands, " Every number below rests on what landed."])]
    found += [*_judges(judges), *_reasons(standing), _how(standing, running=running)]
    return [Notice("This run is unfinished", found)]


def _known(n: int | None) -> str:
    """Write a number; a dash where nobody knows it."""
    return "-" if n is None else f"{n:,}"


def _judges(judges: Sequence[Row]) -> list[Block]:
    """Counts by judge."""
    if not judges:
        return []

    def counts(name: str, cells: Sequence[int | None]) -> Column:
        return Column(head=name, cells=[_known(n) for n in cells], is_number=True)

    numbers = {
        name: [cast("int | None", row[name]) for row in judges]
        for name in ("asked", "landed", "owed", "failed")
    }
    untried = [
        None if owed is None else max(0, owed - (failed or 0))
        for owed, failed in zip(numbers["owed"], numbers["failed"], strict=True)
    ]
    columns = [
        Column(head="judge", cells=[str(row["judge"]) for row in judges]),
        *(counts("pending" if name == "owed" else name, cells) for name, cells in numbers.items()),
        counts("not asked yet", untried),
    ]
    return [Table("Requests of each judge; what is pending failed or was not asked yet", columns)]


def _reasons(standing: Mapping[str, object]) -> list[Block]:
    """Why requests are pending, by judge."""
    judges = cast("Sequence[Row]", standing["judges"])
    problems = [(str(row["judge"]), str(row["error"])) for row in judges if row["error"]]
    lines = [f"{judge}: {problem}" for judge, problem in problems]
    for row in cast("Sequence[Row]", standing.get("reasons", ())):
        judge, message = str(row["judge"]), str(row["message"])
        if not any(judge == one and problem.startswith(message) for one, problem in problems):
            n = cast(int, row["requests"])
            lines.append(
                f"{judge}: {count_of(n, 'request')} failed "
                f"({str(row['kind']).replace('_', ' ')}): {message}"
            )
    return [Paragraph("Why:"), Lines(lines)] if lines else []


def _how(standing: Mapping[str, object], *, running: bool) -> Paragraph:
    """How to go on."""
    run = quote(str(standing["run"]))
    if running:
        return Paragraph([
            "It goes on: ", Span(f"judgerel status {run}", "code"), " tells how far it is; make "
            "this page again when it is done.",
        ])  # fmt: skip
    return Paragraph([
        "To go on, mend what is said above, if anything is, and run the same sweep into the "
        "same directory: ", Span(f"judgerel run SWEEP.toml --out {run}", "code"), ". It asks only "
        "what is pending; what landed is kept.",
    ])  # fmt: skip


def no_verdicts(asked: str) -> list[Block]:
    """Say that there is nothing to measure.

    Examples
    --------
    >>> no_verdicts("Only answers were asked for.")[0].text
    'There are no verdicts here, so nothing is measured. Only answers were asked for.'
    """
    sentence = f"There are no verdicts here, so nothing is measured. {asked}"
    return [Paragraph(sentence, "lead")]
