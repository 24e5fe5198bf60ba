"""The command line: verbs, each a line or two into the pipeline."""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO, cast

from judgerel_ray import __version__
from judgerel_ray.cli.files import add_files
from judgerel_ray.cli.measuring import add_numbers
from judgerel_ray.cli.paths import add_force
from judgerel_ray.cli.ratings import add_page_ratings, write_page
from judgerel_ray.cli.reduced import add_exact_values, add_names, judged
from judgerel_ray.cli.screen import (
    NotesFirst,
    Screen,
    one_line,
    open_streams,
    panics_kept_back,
    tell,
)
from judgerel_ray.core import EngineError, JudgeRelError, ReadingWarning, SweepError, printable

if TYPE_CHECKING:
    from judgerel_ray.config import Sweep

DONE, SOME_FAILED, MISTAKE, CLUSTER_FAILED, STOPPED = 0, 1, 2, 3, 130
STDOUT, STDERR = 1, 2
EXTRAS = "make setup, or pip install 'judgerel_ray[vllm,legacy,report,s3]'"


class _Parser(argparse.ArgumentParser):
    """A parser whose refusal is one line."""

    def error(self, message: str) -> None:  # type: ignore[override]
        """Say what is wrong in one line and leave with 2."""
        self.exit(MISTAKE, f"judgerel: {one_line(message)}. Try: {self.prog} --help\n")


def build_parser() -> argparse.ArgumentParser:
    """The verbs and their options."""
    parser = _Parser(prog="judgerel", description="How far can an LLM judge be trusted?")
    parser.add_argument("--version", action="version", version=f"judgerel {__version__}")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    # A shortened flag would mean something else as soon as a longer list has two of its kind.
    add_verb = partial(verbs.add_parser, allow_abbrev=False)
    plan = add_verb("plan", help="what a sweep asks and costs; asks nothing")
    plan.add_argument("sweep", metavar="SWEEP.toml")
    plan.add_argument("--json", action="store_true", help="print JSON")
    plan.set_defaults(act=_plan)
    run = add_verb("run", help="run a sweep, or go on with it")
    run.add_argument("sweep", metavar="SWEEP.toml")
    run.add_argument("--out", required=True, metavar="RUN", help="run directory or fsspec URL")
    run.add_argument("--address", help="Ray cluster; default: one on this machine")
    run.add_argument(
        "--ask-lost", action="store_true", help="ask again what landed and is lost, much as it is"
    )
    run.set_defaults(act=_run)
    exact = add_verb("exact", help="distributions of verdicts from log-probabilities")
    exact.add_argument("sweep", metavar="SWEEP.toml")
    exact.add_argument("--out", required=True, metavar="RUN", help="run directory or fsspec URL")
    exact.add_argument("--address", help="Ray cluster; default: one on this machine")
    exact.set_defaults(act=_exact, ask_lost=False)
    status = add_verb("status", help="how a run stands, also while it goes on")
    status.add_argument("run", metavar="RUN")
    status.add_argument("--json", action="store_true", help="print JSON")
    status.set_defaults(act=_status)
    add_numbers(add_verb)
    report = add_verb("report", help="one self-contained page")
    report.add_argument("path", metavar="PATH")
    report.add_argument("--out", required=True, metavar="report.html")
    add_exact_values(report)
    add_force(report)
    add_page_ratings(report)
    add_names(report)
    report.set_defaults(act=_report)
    add_files(add_verb)
    verify = add_verb("verify", help="check a run directory end to end")
    verify.add_argument("run", metavar="RUN")
    verify.set_defaults(act=_verify)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a verb and return its exit code.

    Returns
    -------
    int
        0 done, 1 some requests failed and are recorded, 2 the caller's mistake (one line), 3 the
        cluster or an engine failed, or who asks judges was stopped, 130 anything else was.

    Examples
    --------
    >>> main(["status", "no-such-run"])
    2
    """
    open_streams()
    parsed = build_parser().parse_args(arguments)
    act: Callable[[argparse.Namespace], int] = parsed.act
    try:
        # Ray's processes write where they began to, and for as long as they live.
        apart = nullcontext() if parsed.verb in ("run", "exact") else panics_kept_back()
        with _readings_told(), apart:
            code = act(parsed)
        sys.stdout.flush()
        return code
    except EngineError as error:
        tell(f"judgerel: {one_line(error)}", aside=True)
        return CLUSTER_FAILED
    except JudgeRelError as error:
        tell(f"judgerel: {one_line(error)}", aside=True)
        return MISTAKE
    except KeyboardInterrupt:
        asking = parsed.verb in ("run", "exact")
        left = "; run again to go on with what is owed" if asking else ""
        tell(f"judgerel: stopped{left}", aside=True)
        return CLUSTER_FAILED if asking else STOPPED
    except BrokenPipeError:
        # Who was reading has gone; what is still buffered must not fail at the interpreter's exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except ModuleNotFoundError as error:
        # One of ours that is missing is a defect, any other an extra that was not installed.
        if (error.name or "judgerel_ray").partition(".")[0] == "judgerel_ray":
            raise
        tell(f"judgerel: a package is missing: {error.name}. Try: {EXTRAS}", aside=True)
        return MISTAKE
    except _file_errors() as error:
        # What no room could foresee of files, disks and what lies in them; defects still show.
        tell(f"judgerel: {_about_a_file(error, parsed)}", aside=True)
        return MISTAKE


@contextmanager
def _readings_told() -> Iterator[None]:
    """Say on stderr, once each and before any number, how files were read.

    Where the command is refused, its one line is all there is.
    """
    notes = NotesFirst(sys.stdout)
    with warnings.catch_warnings(), redirect_stdout(cast(TextIO, notes)):
        warnings.simplefilter("always", ReadingWarning)
        others = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *place: Any) -> None:
            if isinstance(message, ReadingWarning):
                notes.add(f"judgerel: {one_line(message)}")
            else:
                others(message, category, *place)

        warnings.showwarning = show  # type: ignore[assignment]
        yield
        notes.say()


def _file_errors() -> tuple[type[BaseException], ...]:
    """Classes of what readers and writers of files raise; looked up only when something did."""
    if "polars" not in sys.modules:
        return (OSError,)
    from judgerel_ray.store.scan import file_errors

    return file_errors()


def _about_a_file(error: BaseException, parsed: argparse.Namespace) -> str:
    """What is wrong with a file, and what to try."""
    what = f"a file cannot be read or written: {one_line(error) or type(error).__name__}"
    given = [getattr(parsed, name, None) for name in ("path", "run", "a", "b")]
    runs = [path for path in given if isinstance(path, str) and os.path.isdir(path)]
    if isinstance(error, OSError) and error.filename is None:
        runs = []  # a full disk or a stream that is gone, no file of theirs
    return f"{what}. Try: judgerel verify {' or '.join(runs)}" if runs else what


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
def _interruptible() -> Iterator[None]:
    """Let Ctrl-C end engines before it ends the command."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _plan(parsed: argparse.Namespace) -> int:
    """Print the plan."""
    from judgerel_ray.asking.plan.planning import plan_resolved
    from judgerel_ray.asking.plan.resolve import resolve
    from judgerel_ray.config import load_sweep
    from judgerel_ray.reporting.standing import plan_text

    resolved = resolve(load_sweep(parsed.sweep))
    plan = plan_resolved(resolved)
    if parsed.json:
        content = {**plan.as_json(), "resolved": resolved.sweep.model_dump(mode="json")}
        print(json.dumps(content, indent=2))
    else:
        tell(plan_text(plan.as_json(), resolved.sweep.model_dump(mode="json")))
    return DONE


def _run(parsed: argparse.Namespace) -> int:
    """Run or resume."""
    from judgerel_ray.config import load_sweep

    return _run_sweep(load_sweep(parsed.sweep), parsed)


def _exact(parsed: argparse.Namespace) -> int:
    """Find verdict distributions, and print what they say of endless replications."""
    from judgerel_ray.analyses.distributions.from_run import run_limits
    from judgerel_ray.analyses.distributions.show import limits_text
    from judgerel_ray.config import as_exact, load_sweep

    code = _run_sweep(as_exact(load_sweep(parsed.sweep)), parsed)
    tell(limits_text(run_limits(parsed.out)))
    return code


def _run_sweep(sweep: Sweep, parsed: argparse.Namespace) -> int:
    """Run or resume a sweep, and say how it ended."""
    from judgerel_ray.asking.run.running import run_sweep

    console = Screen(stderr=True)
    if not parsed.out.strip():
        raise SweepError("--out is empty", hint="name a new directory")
    with _stdout_kept(), _interruptible():
        summary = run_sweep(
            sweep,
            out=parsed.out,
            address=parsed.address,
            console=console,
            ask_lost=parsed.ask_lost,
        )
    tell(
        f"{summary.landed} of {summary.asked} requests landed in {summary.run} "
        f"({summary.asked_now} in this session, {summary.owed} owed)"
    )
    for judge, problem in summary.problems.items():
        tell(f"judgerel: judge {judge} was given up: {one_line(problem)}", aside=True)
    if line := summary.refused.line(summary.asked):
        tell(f"judgerel: {line}", aside=True)
    if not summary.owed:
        return SOME_FAILED if summary.refused.now else DONE
    hint = "run again"
    if summary.mistakes:
        # Asking again would end the same way, however often a scheduler tries.
        hint = f"mend judge {', '.join(summary.mistakes)} as said above, then run again"
    failed = f"{summary.failed} requests failed and are recorded in errors/, "
    owed = f"{summary.owed} are owed" if summary.failed else f"{summary.owed} requests are owed"
    tell(f"judgerel: {failed if summary.failed else ''}{owed}. Try: {hint}", aside=True)
    return MISTAKE if summary.mistakes else SOME_FAILED


def _status(parsed: argparse.Namespace) -> int:
    """Print how a run stands."""
    from judgerel_ray.reporting.standing import status_text
    from judgerel_ray.store.status import read_status

    status = read_status(parsed.run).as_json()
    if parsed.json:
        print(json.dumps(status, indent=2))
    else:
        tell(status_text(status))
    return DONE


def _report(parsed: argparse.Namespace) -> int:
    """Write the report."""
    tell(f"wrote {write_page(parsed, judged(parsed))}")
    return DONE


def _verify(parsed: argparse.Namespace) -> int:
    """Check a run directory."""
    from judgerel_ray.analyses.reliability.reducing import verify_path

    findings, wrong = verify_path(parsed.run)
    for line in findings:
        tell(printable(line))
    tell(f"{wrong} error{'s' if wrong != 1 else ''}")
    return SOME_FAILED if wrong else DONE
