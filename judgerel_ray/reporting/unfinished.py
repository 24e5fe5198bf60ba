"""What a page says first of a run that is not done: what is owed, why, and how to go on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from shlex import quote
from typing import cast

from judgerel_ray.blocks.markup import Column, paragraph, table
from judgerel_ray.blocks.words import Row, escape


def unfinished_notice(standing: Mapping[str, object]) -> str:
    """Say that a run is not done, of whom how much is owed, why, and how to go on.

    Parameters
    ----------
    standing : mapping
        As printed by ``status --json``; ``reasons``, if there, lists ``judge``, ``kind``,
        ``message`` and ``requests`` of what failed and is still owed.

    Returns
    -------
    str
        A notice in HTML; nothing where the run is done.

    Examples
    --------
    >>> unfinished_notice({"state": "done"})
    ''
    >>> judge = {"judge": "j", "asked": 2, "landed": 1, "owed": 1, "failed": 0, "state": "waiting",
    ...          "error": None}
    >>> notice = unfinished_notice({"state": "incomplete", "run": "r", "live": None, "asked": 2,
    ...                             "landed": 1, "owed": 1, "failed": 0, "judges": [judge]})
    >>> "judgerel run SWEEP.toml --out r" in notice
    True
    """
    if standing["state"] == "done":
        return ""
    landed, failed = (cast(int, standing[name]) for name in ("landed", "failed"))
    asked, owed = (cast("int | None", standing[name]) for name in ("asked", "owed"))
    running = standing["state"] == "running"
    what = "still going on" if running else "unfinished"
    counts = f"{landed:,} of {_known(asked)} requests landed, {_known(owed)} are owed"
    if failed:
        counts += f"; {failed:,} of those were tried and failed"
    if asked is None and landed:
        counts = f"{landed:,} requests landed, and how many were asked is not known"
    elif not asked:
        counts = "it ended before anything was asked"
    judges = cast("Sequence[Row]", standing["judges"])
    why = _reasons(standing)
    return (
        '<aside class="notice" aria-label="This run is unfinished">'
        f"<p><strong>This run is {what}: {escape(counts)}.</strong> "
        f"Every number below rests on what landed.</p>{_judges(judges)}{why}"
        f"{_how(standing, running=running)}</aside>"
    )


def _known(n: int | None) -> str:
    """Write a number; a dash where nobody knows it."""
    return "-" if n is None else f"{n:,}"


def _judges(judges: Sequence[Row]) -> str:
    """Counts by judge."""
    if not judges:
        return ""

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
        *(counts(name, cells) for name, cells in numbers.items()),
        counts("not asked yet", untried),
    ]
    return table("Requests of each judge; what is owed failed or was not asked yet", columns)


def _reasons(standing: Mapping[str, object]) -> str:
    """Why requests are owed, by judge."""
    judges = cast("Sequence[Row]", standing["judges"])
    problems = [(str(row["judge"]), str(row["error"])) for row in judges if row["error"]]
    said = [f"{judge}: {problem}" for judge, problem in problems]
    for row in cast("Sequence[Row]", standing.get("reasons", ())):
        judge, message = str(row["judge"]), str(row["message"])
        if not any(judge == one and problem.startswith(message) for one, problem in problems):
            n = cast(int, row["requests"])
            said.append(
                f"{judge}: {n:,} request{'s' if n != 1 else ''} failed "
                f"({str(row['kind']).replace('_', ' ')}): {message}"
            )
    items = "".join(f"<li>{escape(line)}</li>" for line in said)
    return f"<p>Why:</p><ul>{items}</ul>" if said else ""


def _how(standing: Mapping[str, object], *, running: bool) -> str:
    """How to go on."""
    run = quote(str(standing["run"]))
    if running:
        return (
            f"<p>It goes on: <code>judgerel status {escape(run)}</code> tells how far it is; make "
            "this page again when it is done.</p>"
        )
    return (
        "<p>To go on, mend what is said above, if anything is, and run the same sweep into the "
        f"same directory: <code>judgerel run SWEEP.toml --out {escape(run)}</code>. It asks only "
        "what is owed; what landed is kept.</p>"
    )


def no_verdicts(asked: str) -> str:
    """Say that there is nothing to measure.

    Examples
    --------
    >>> no_verdicts("Only answers were asked for.")
    '<p class="lead">There are no verdicts here, so nothing is measured. Only answers were asked for.</p>'
    """  # noqa: E501
    return paragraph(f"There are no verdicts here, so nothing is measured. {asked}", "lead")
