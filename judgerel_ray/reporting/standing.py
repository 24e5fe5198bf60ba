"""Plans and the standing of runs, as text on a terminal and as the notice that leads a page.

The notice stands where a run is not done: what is pending, why, and how to go on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from shlex import quote
from typing import Any, TypeAlias

from judgerel_ray.asking.plan.answers import KnownAnswer, answer_lines
from judgerel_ray.blocks.blocks import Block, Column, Lines, Notice, Paragraph, Span, Table, counts
from judgerel_ray.core import count_of

JsonRow: TypeAlias = Mapping[str, Any]
"""A plan, a sweep, the standing of a run, or a part of one, as JSON holds it."""
GIB = 1024**3
MIB = 1024**2
SCREEN, WIDTH = 24, 80  # of a terminal


def plan_text(plan: JsonRow, sweep: JsonRow) -> str:
    """A plan as text: what is asked of whom, what it takes, and every default filled in.

    Examples
    --------
    >>> print(plan_text({"sweep": "s", "requests": 0, "stages": [], "judges": [],
    ...                  "disk_bytes": 0, "notes": []}, {"name": "s"}))
    sweep s: 0 requests
    disk: about 0.0 MiB expected
    <BLANKLINE>
    resolved sweep:
      name = "s"
    """
    lines = [*_sweep_lines(plan), *_plan_answers_in_words(plan), *_plan_notes_in_words(plan)]
    return "\n".join([*lines, "", "resolved sweep:", *_toml_like(sweep, "  ")])


def plan_screen(plan: JsonRow, source: str, sweep: JsonRow | None = None) -> str:
    """A plan on one screen: what is asked and takes, what it will show, and notes as they fit.

    Where there is room, judges and asks of the resolved `sweep` follow, a line each.

    Examples
    --------
    >>> print(plan_screen({"sweep": "s", "requests": 0, "stages": [], "judges": [],
    ...                    "disk_bytes": 0, "notes": ["mind this"]}, "s.toml"))
    sweep s: 0 requests
    disk: about 0.0 MiB expected
    note: mind this
    resolved sweep: every default is shown by judgerel plan s.toml --full
    """
    lines = _standing_lines_that_fit(_sweep_lines(plan), SCREEN // 2 - 1, "line")
    lines += _standing_lines_that_fit(_plan_answers_in_words(plan), SCREEN // 3, "line")
    last = f"resolved sweep: every default is shown by judgerel plan {quote(source)} --full"
    left = SCREEN - 1 - _standing_line_height([*lines, last])  # a prompt stands below
    lines += _standing_lines_that_fit(_plan_notes_in_words(plan), left, "note")
    for name in ("judge", "ask"):
        for table in (sweep or {}).get(name, ()):
            keys = (
                f"{key} = {_plan_value_in_words(one)}"
                for key, one in table.items()
                if one not in (None, {})
            )
            line = f"  [[{name}]] {', '.join(keys)}"
            if _standing_line_height([*lines, line, last]) < SCREEN:
                lines.append(line)
    return "\n".join([*lines, last])


def _standing_line_height(lines: Sequence[str]) -> int:
    """Lines of a terminal that lines take."""
    return sum(max(1, -(-len(line) // WIDTH)) for line in lines)


def _standing_lines_that_fit(lines: Sequence[str], height: int, what: str) -> list[str]:
    """Lines as they fit, and how many do not."""
    if _standing_line_height(lines) <= height:
        return list(lines)
    kept: list[str] = []
    for line in lines:
        if _standing_line_height([*kept, line]) < height:
            kept.append(line)
    return [*kept, f"and {count_of(len(lines) - len(kept), f'more {what}')}, with --full"]


def _plan_answers_in_words(plan: JsonRow) -> list[str]:
    """What a sweep will be able to say, and what not."""
    return answer_lines([KnownAnswer(**row) for row in plan.get("answers", ())])


def _plan_notes_in_words(plan: JsonRow) -> list[str]:
    """What to know beside it."""
    return [f"note: {note}" for note in plan["notes"]]


def _sweep_lines(plan: JsonRow) -> list[str]:
    """What is asked of whom, and what it takes."""
    lines = [f"sweep {plan['sweep']}: {_plan_requests_in_words(plan)}"]
    lines += [
        f"  ask[{stage['ask']}] {stage['stage']:<7} {stage['judge']}{_plan_role_in_words(stage)}: "
        f"{stage['items']:,} items, {stage['conditions']:,} conditions, "
        f"{_plan_requests_in_words(stage)}"
        for stage in plan["stages"]
    ]
    for judge in plan["judges"]:
        hours, cost = judge["gpu_hours"], judge.get("cost")
        lines.append(
            f"{judge['judge']}: {_plan_requests_in_words(judge)}, prompts "
            f"{judge['prompt']:,} tokens ({judge['tokens_are']}; {judge['shared']:,} "
            f"where repeated prompts are cached), replies at most {judge['generated_at_most']:,}"
            + (f", about {hours:.2f} GPU-hours expected" if isinstance(hours, float) else "")
            + (f", costs {cost:,.2f} at most by its prices" if isinstance(cost, float) else "")
        )
    lines += [
        f"judge {judge['judge']}: {_plan_nodes_in_words(judge['node_types'])}"
        for judge in plan["judges"]
        if "node_types" in judge
    ]
    lines.append(f"disk: about {_standing_bytes_in_words(plan['disk_bytes'])} expected")
    return lines


def _plan_nodes_in_words(nodes: Mapping[str, int]) -> str:
    """Which nodes of a cluster hold one engine of a judge."""
    written = [name if n == 1 else f"{name} x {n}" for name, n in nodes.items()]
    return ", ".join(written) or "any node (no GPU)"


def _plan_role_in_words(stage: JsonRow) -> str:
    """In which role a judge is asked, where a stage has several."""
    role = stage.get("role")
    return f", {role}" if role in ("participant", "evaluator_only") else ""


def _plan_requests_in_words(row: JsonRow) -> str:
    """How many requests, and where replication is adaptive up to how many."""
    least, most = row["requests"], row.get("requests_at_most", row["requests"])
    return f"{least:,}{'' if least == most else f' to {most:,}'} requests"


def status_text(status: JsonRow) -> str:
    """The standing of a run as text.

    Examples
    --------
    >>> print(status_text({"run": "r", "sweep": "s", "session": 1, "state": "done", "asked": 2,
    ...     "landed": 2, "owed": 0, "failed": 0, "outcomes": {"scored": 2}, "live": None,
    ...     "tokens": {"prompt": 8, "cached": 4, "computed": 4, "generated": 6},
    ...     "judges": [], "broken_commits": []}))
    s: done, landed 2 of 2 (session 1, r)
      outcomes: scored 2
      tokens: prompt 8 (4 cached, 4 computed), generated 6
    """
    lines = [
        f"{status['sweep'] or '(no name known)'}: {status['state']}, {_landed(status)} "
        f"(session {status['session']}, {status['run']})"
    ]
    lines += [f"  {note}" for note in status.get("notes", ())]
    lines += _standing_details_in_words(status)
    if status["live"]:
        lines.append(f"  written by {status['live']}")
    for judge in status["judges"]:
        lines.append(f"{judge['judge']}: {judge['state']}, {_landed(judge)}")
        lines += _standing_details_in_words(judge)
        lines += _standing_pace_in_words(judge)
        if judge["error"]:
            lines.append(f"  {judge['error']}")
    lines += [
        f"broken commit record: {name} (its rows are pending again)"
        for name in status["broken_commits"]
    ]
    return "\n".join(lines)


def _landed(row: JsonRow) -> str:
    """How much of what is asked has landed, of a run or of one judge."""
    asked = "an unknown number" if row["asked"] is None else f"{row['asked']:,}"
    return f"landed {row['landed']:,} of {asked}"


def _standing_details_in_words(row: JsonRow) -> list[str]:
    """Outcomes, tokens and what is open, of a run or of one judge."""
    lines = []
    if row["outcomes"]:
        named = ", ".join(f"{name} {n:,}" for name, n in row["outcomes"].items())
        lines.append(f"  outcomes: {named}")
    tokens = row["tokens"]
    lines.append(
        f"  tokens: prompt {tokens['prompt']:,} ({tokens['cached']:,} cached, "
        f"{tokens['computed']:,} computed), generated {tokens['generated']:,}"
    )
    cost = row.get("cost")
    if isinstance(cost, float):
        lines.append(f"  cost: {cost:,.4g}, by the prices of the sweep")
    if row["owed"]:
        lines.append(f"  pending: {row['owed']:,}")
    if row["failed"]:
        lines.append(f"  failed and recorded in errors/: {row['failed']:,}")
    return lines


def _standing_pace_in_words(judge: JsonRow) -> list[str]:
    """How fast a judge is, or was on average, and what time it needs for the rest."""
    lines = []
    requests, tokens = judge.get("requests_per_s"), judge.get("tokens_per_s")
    if isinstance(requests, float) and isinstance(tokens, float):
        average = "" if judge["state"] == "running" else " on average"
        lines.append(
            f"  rate: {_rate(requests, 3)} requests/s, {_rate(tokens, 4)} new tokens/s{average}"
        )
    left = judge["seconds_left"]
    if isinstance(left, float) and judge["owed"] and judge["state"] == "running":
        lines.append(f"  about {max(1.0, left):.0f} s left")
    return lines


def _rate(value: float, digits: int) -> str:
    """A rate to some digits; a large one in whole numbers, never as a power of ten."""
    return f"{value:,.0f}" if value >= 10 ** (digits - 1) else f"{value:.{digits}g}"


def _standing_bytes_in_words(size: int) -> str:
    """Bytes as people say them."""
    return f"{size / GIB:.1f} GiB" if size >= GIB else f"{size / MIB:.1f} MiB"


def _toml_like(table: JsonRow, indent: str) -> list[str]:
    """A mapping in the manner of TOML, nothing left out."""
    lines: list[str] = []
    for key, value in table.items():
        if isinstance(value, Mapping):
            lines += [f"{indent}[{key}]", *_toml_like(value, indent + "  ")]
        elif isinstance(value, Sequence) and value and isinstance(value[0], Mapping):
            for row in value:
                lines += [f"{indent}[[{key}]]", *_toml_like(row, indent + "  ")]
        else:
            lines.append(f"{indent}{key} = {_plan_value_in_words(value)}")
    return lines


def _plan_value_in_words(value: object) -> str:
    """A value in the manner of TOML; what is not set says so."""
    if value is None:
        return "(not set)"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Sequence):
        return f"[{', '.join(_plan_value_in_words(part) for part in value)}]"
    return str(value)


def unfinished_notice(standing: JsonRow) -> list[Block]:
    """Say that a run is not done, how much is pending of each judge, why, and how to go on.

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
    asked, landed, n_pending, failed = (
        standing[name] for name in ("asked", "landed", "owed", "failed")
    )
    running = standing["state"] == "running"
    what = "still going on" if running else "unfinished"
    counts = f"{landed:,} of {_known(asked)} requests landed, {_known(n_pending)} are pending"
    if failed:
        counts += f"; {failed:,} of those were tried and failed"
    if asked is None and landed:
        counts = f"{count_of(landed, 'request')} landed, and how many were asked is not known"
    elif not asked:
        counts = "it ended before anything was asked"
    stands = Span(f"This run is {what}: {counts}.", "strong")
    found: list[Block] = [
        Paragraph([stands, " Every number below rests on what landed."]),
        *_standing_judges_in_words(standing["judges"]),
        *_standing_pending_reasons(standing),
        _standing_next_step(standing, running=running),
    ]
    return [Notice("This run is unfinished", found)]


def _known(n: int | None) -> str:
    """Write a number; a dash where nobody knows it."""
    return "-" if n is None else f"{n:,}"


def _standing_judges_in_words(judges: Sequence[JsonRow]) -> list[Block]:
    """Counts by judge."""
    if not judges:
        return []
    numbers = {
        name: [row[name] for row in judges] for name in ("asked", "landed", "owed", "failed")
    }
    untried = [
        None if n_left is None else max(0, n_left - (failed or 0))
        for n_left, failed in zip(numbers["owed"], numbers["failed"], strict=True)
    ]
    columns = [
        Column(head="judge", cells=[str(row["judge"]) for row in judges]),
        *(counts("pending" if name == "owed" else name, cells) for name, cells in numbers.items()),
        counts("not asked yet", untried),
    ]
    return [Table("Requests of each judge; what is pending failed or was not asked yet", columns)]


def _standing_pending_reasons(standing: JsonRow) -> list[Block]:
    """Why requests are pending, by judge."""
    problems = [(row["judge"], row["error"]) for row in standing["judges"] if row["error"]]
    lines = [f"{judge}: {problem}" for judge, problem in problems]
    for row in standing.get("reasons", ()):
        judge, message, kind = row["judge"], row["message"], row["kind"].replace("_", " ")
        if not any(judge == one and problem.startswith(message) for one, problem in problems):
            n = count_of(row["requests"], "request")
            lines.append(f"{judge}: {n} failed ({kind}): {message}")
    return [Paragraph("Why:"), Lines(lines)] if lines else []


def _standing_next_step(standing: JsonRow, *, running: bool) -> Paragraph:
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
