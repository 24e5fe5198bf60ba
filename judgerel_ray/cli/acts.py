"""Verbs that do more than to print their result: they ask judges, or say how a run stands."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from functools import partial
from glob import has_magic
from os import fspath
from typing import TYPE_CHECKING, Any

from judgerel_ray.cli.parsing import CommandLine, path_exists, source_path
from judgerel_ray.cli.screen import one_line, tell
from judgerel_ray.core import SweepError, count_of, printable

if TYPE_CHECKING:
    from judgerel_ray.config import Sweep

DONE, SOME_FAILED, MISTAKE, CLUSTER_FAILED, DRIFT, STOPPED = 0, 1, 2, 3, 6, 130
STDOUT, STDERR = 1, 2


@contextmanager
def _stdout_kept() -> Iterator[None]:
    """Let what Ray, engines and their children print meanwhile go to stderr, not among results."""
    if threading.current_thread() is not threading.main_thread():
        yield  # a program around us: its other threads print, too
        return
    try:
        sys.stdout.flush()
        kept = os.dup(STDOUT)
    except OSError:  # there is no stdout
        yield
        return
    try:
        os.dup2(STDERR, STDOUT)
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(kept, STDOUT)
        os.close(kept)


@contextmanager
def _interruptible_command() -> Iterator[None]:
    """Let Ctrl-C end engines before it ends the command."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _command_init(typed: CommandLine) -> int:
    """Write a first sweep, and print its plan."""
    from judgerel_ray.reporting.standing import plan_screen

    request = typed.request()
    result = typed.verb.act(source_path(typed.source), request)
    tell(f"{result.title}\n\n{plan_screen(result.found.as_json(), request.out)}")
    return DONE


def _command_plan(typed: CommandLine) -> int:
    """Print the plan."""
    from judgerel_ray.config import read_sweep
    from judgerel_ray.reporting.standing import plan_screen, plan_text

    sweep = read_sweep(typed.source)
    found = typed.verb.act(sweep, typed.request()).found
    plan, asks = found.as_json(), [ask.model_dump(mode="json") for ask in found.asks]
    resolved = {**sweep.model_dump(mode="json"), "ask": asks}
    if typed.printing.get("json"):
        print(json.dumps({**plan, "resolved": resolved}, indent=2))
    elif typed.printing:
        tell(plan_text(plan, resolved))
    else:
        tell(plan_screen(plan, typed.source, resolved))
    return DONE


def _command_run(typed: CommandLine) -> int:
    """Run or resume."""
    from judgerel_ray.config import read_sweep

    return _run_sweep(read_sweep(typed.source), typed.request())


def _command_exact(typed: CommandLine) -> int:
    """Find verdict distributions, and print what they say of infinitely many replications."""
    from judgerel_ray.analyses.distributions.from_run import run_limits
    from judgerel_ray.analyses.distributions.show import limit_blocks
    from judgerel_ray.blocks.terminal import printed
    from judgerel_ray.config import as_exact, read_sweep
    from judgerel_ray.counting.snapshot import open_run

    request = typed.request()
    code = _run_sweep(as_exact(read_sweep(typed.source)), request)
    tell(printed(limit_blocks(run_limits(open_run(request.out)))))
    return code


def _run_sweep(sweep: Sweep, request: Any) -> int:
    """Run or resume a sweep, and say how it ended."""
    from judgerel_ray.asking.run.running import run_sweep
    from judgerel_ray.asking.verb import wanted_cluster
    from judgerel_ray.cli.console import Screen

    console = Screen(stderr=True)
    if not request.out.strip():
        raise SweepError("--out is empty", hint="name a new directory")
    with _stdout_kept(), _interruptible_command():
        summary = run_sweep(
            sweep,
            out=request.out,
            address=wanted_cluster(request.address, ray=request.ray),
            console=console,
            ask_lost=getattr(request, "ask_lost", False),
            unreadable_ok=getattr(request, "unreadable_ok", False),
        )
    tell(
        f"{summary.landed} of {summary.asked} requests landed in {summary.run} "
        f"({summary.asked_now} in this session, {summary.owed} pending)"
    )
    for judge, problem in summary.problems.items():
        tell(f"judgerel: judge {judge} was given up: {one_line(problem)}", stderr=True)
    if line := summary.refused.line(summary.asked):
        tell(f"judgerel: {line}", stderr=True)
    for stop in summary.stops:
        tell(f"judgerel: {stop.line('--unreadable-ok')}", stderr=True)
    if not summary.owed:
        return SOME_FAILED if summary.refused.now or summary.stops else DONE
    hint = "run again"
    if summary.stops:
        hint = "what is said above, then run again"
    if summary.mistakes:
        # Asking again would end the same way, however often a scheduler tries.
        hint = f"mend judge {', '.join(summary.mistakes)} as said above, then run again"
    failed = f"{summary.failed} requests failed and are recorded in errors/, "
    n = summary.owed
    pending = f"{n} are pending" if summary.failed else f"{n} requests are pending"
    tell(f"judgerel: {failed if summary.failed else ''}{pending}. Try: {hint}", stderr=True)
    return MISTAKE if summary.mistakes else SOME_FAILED


def _command_refresh(typed: CommandLine) -> int:
    """Refresh a series, and say where its judges stand."""
    from judgerel_ray.analyses.drift.show import summary_text

    with _stdout_kept(), _interruptible_command():
        found = typed.verb.act(typed.source, typed.request()).found
    if typed.printing:
        print(json.dumps(found.as_json(), indent=2))
    else:
        tell(found.line)
        if found.state in ("done", "partial"):
            tell(summary_text(found.summary))
    for judge, problem in found.problems.items():
        tell(f"judgerel: judge {judge} was given up: {one_line(problem)}", stderr=True)
    if found.alarm:
        drifted = [one for one in found.summary["judges"] if one["alarm"]]
        names = ", ".join(f"{one['judge']} since refresh {one['since']}" for one in drifted)
        hint = "see trend.html of the series; drift.since = N accepts it from refresh N on"
        tell(f"judgerel: drift of judge {names}. Try: {hint}", stderr=True)
    # First what asking again cannot mend: an alarm stands in the summary until it is accepted.
    if found.mistakes:
        return MISTAKE
    if found.alarm:
        return DRIFT
    failed = found.state in ("pending", "partial") or found.refused
    return SOME_FAILED if failed else DONE


def _command_status(typed: CommandLine) -> int:
    """Print how a run stands."""
    from judgerel_ray.reporting.standing import status_text

    status = typed.verb.act(typed.source, None).found.as_json()
    if typed.printing:
        print(json.dumps(status, indent=2))
    else:
        tell(status_text(status))
    return DONE


def _command_verify(typed: CommandLine) -> int:
    """Check a run directory."""
    findings = typed.verb.act(typed.source, None).found
    for found in findings:
        tell(printable(f"{found.level}: {found.name}: {found.message}"))
    wrong = sum(found.level == "error" for found in findings)
    tell(count_of(wrong, "error"))
    return SOME_FAILED if wrong else DONE


def _command_rejudge(typed: CommandLine) -> int:
    """Read a run's texts again."""
    found = typed.verb.act(typed.source, typed.request()).found
    made = found.generation
    tell(f"generation {made.number} of readings, by {made.reader} {made.version}")
    for judge, n in found.rows.items():
        tell(f"  {judge}: {found.changed[judge]:,} of {n:,} judgments differ from when they landed")
    return DONE


def _command_replay(typed: CommandLine) -> int:
    """Ask landed requests again."""
    found = typed.verb.act(typed.source, typed.request()).found
    if typed.printing:
        summary = {
            name: getattr(found, name) for name in ("n", "n_differing", "share", "low", "high")
        }
        print(json.dumps({**summary, "rows": found.rows.to_dicts()}, indent=2))
        return DONE
    for row in found.rows.filter(~found.rows["same"]).iter_rows(named=True):
        tell(
            f"{row['key']} differs from character {row['first_difference']} on: landed "
            f"{row['landed_tokens']} tokens, replayed {row['replayed_tokens']}"
        )
    line = f"{found.n_differing} of {found.n} replayed requests differ"
    if found.low is not None:
        line += f": {found.share:.1%} (95 % interval {found.low:.1%} to {found.high:.1%})"
    tell(line)
    return DONE


def _typed_path_or_pattern(path: str) -> str:
    """A path, or a pattern as it is."""
    return path if has_magic(path) and not path_exists(path) else source_path(path)


def write_items(typed: CommandLine) -> int:
    """Write items, and say on stderr how gold was read where the file does not say."""
    from judgerel_ray.importers import verb

    request = typed.request()
    answers = None if request.answers is None else source_path(request.answers)
    request = replace(request, path=_typed_path_or_pattern(fspath(request.path)), answers=answers)
    n = verb.request_items(typed.source, request, partial(tell, stderr=True))
    tell(f"wrote {n} item{'s' * (n != 1)} to {request.out}")
    return DONE


def write_judgments(typed: CommandLine) -> int:
    """Write foreign judgments."""
    from judgerel_ray.importers import verb

    request = typed.request()
    request = replace(
        request, paths=[_typed_path_or_pattern(fspath(path)) for path in request.paths]
    )
    outcomes: list[str] = []
    n = verb.request_judgments(typed.source, request, outcomes.append)
    tell(f"wrote {n} judgment{'s' * (n != 1)} to {request.out}: {outcomes[0]}")
    return DONE


ACTS: dict[str, Callable[[CommandLine], int]] = {
    "init": _command_init,
    "plan": _command_plan,
    "run": _command_run,
    "exact": _command_exact,
    "refresh": _command_refresh,
    "status": _command_status,
    "verify": _command_verify,
    "rejudge": _command_rejudge,
    "replay": _command_replay,
    "items": write_items,
    "import": write_judgments,
}
"""Verbs that do more than to print their result."""
