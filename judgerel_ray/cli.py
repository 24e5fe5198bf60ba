"""The command line: verbs, each a line or two into the pipeline."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial

from rich.console import Console

from judgerel_ray.core import EngineError, JudgeRelError, SweepError

DONE, SOME_FAILED, MISTAKE, CLUSTER_FAILED = 0, 1, 2, 3


class _Parser(argparse.ArgumentParser):
    """A parser whose refusal is one line."""

    def error(self, message: str) -> None:  # type: ignore[override]
        """Say what is wrong in one line and leave with 2."""
        self.exit(MISTAKE, f"judgerel: {message}. Try: {self.prog} --help\n")


class _Screen(Console):
    """A console that leaves a broken pipe to :func:`main`, which knows the exit codes."""

    def on_broken_pipe(self) -> None:
        """Hand it on; Rich itself would exit with 1."""
        raise BrokenPipeError


def build_parser() -> argparse.ArgumentParser:
    """The verbs and their options."""
    parser = _Parser(prog="judgerel", description="How far can an LLM judge be trusted?")
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
    run.set_defaults(act=_run)
    status = add_verb("status", help="how a run stands, also while it goes on")
    status.add_argument("run", metavar="RUN")
    status.add_argument("--json", action="store_true", help="print JSON")
    status.set_defaults(act=_status)
    reduce = add_verb("reduce", help="coefficients of a run or of a file of judgments")
    reduce.add_argument("path", metavar="PATH")
    reduce.add_argument("--by", help="columns to group by, with commas between")
    reduce.add_argument("--measurement", help="nominal, ordinal, interval, ratio")
    reduce.add_argument(
        "--items", metavar="COL", help="distinct items, for alpha and omega of them"
    )
    reduce.add_argument("--missing", default="category,drop", help="category, drop, bounds")
    reduce.add_argument("--coefficient", action="append", metavar="NAME")
    reduce.add_argument("--format", default="table", help="table, json")
    reduce.add_argument("--block", default="0", choices=("0", "all"), help="default 0")
    reduce.add_argument("--out", metavar="FILE", help="also write .parquet, .csv or .json")
    reduce.set_defaults(act=_reduce)
    advise = add_verb("advise", help="replications, questions, judges to buy for a target")
    advise.add_argument("path", metavar="PATH")
    advise.add_argument("--target", action="append", metavar="NAME=VALUE")
    advise.add_argument("--budget", metavar="N", help="judgments; or tokens=N, gpu_seconds=N")
    advise.add_argument("--by", help="columns to group by, with commas between")
    advise.add_argument("--format", default="table", help="table, json")
    advise.set_defaults(act=_advise)
    compare = add_verb("compare", help="paired differences of runs, judges or temperatures")
    compare.add_argument("a", metavar="A")
    compare.add_argument("b", metavar="B", nargs="?", help="without it, --by is compared inside A")
    compare.add_argument("--by", help="columns to match on; without B, columns to compare")
    compare.add_argument("--coefficient", action="append", metavar="NAME")
    compare.add_argument("--tolerance", type=float, metavar="D", help="what does not matter")
    compare.add_argument("--format", default="table", help="table, json")
    compare.set_defaults(act=_compare)
    report = add_verb("report", help="one self-contained page")
    report.add_argument("path", metavar="PATH")
    report.add_argument("--out", required=True, metavar="report.html")
    report.set_defaults(act=_report)
    items = add_verb("items", help="items from a benchmark's upstream files")
    items.add_argument("benchmark", metavar="BENCHMARK")
    items.add_argument("path", metavar="PATH")
    items.add_argument("--out", required=True, metavar="FILE.parquet")
    items.add_argument("--answers", metavar="PATH", help="recorded answers that become options")
    items.set_defaults(act=_items)
    importing = add_verb("import", help="judgments from logs that people hold")
    importing.add_argument("format", metavar="FORMAT", help="schroeder2024")
    importing.add_argument("path", metavar="PATH")
    importing.add_argument("--out", required=True, metavar="FILE.parquet")
    importing.set_defaults(act=_import)
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
        cluster or an engine failed.

    Examples
    --------
    >>> main(["status", "no-such-run"])
    2
    """
    parsed = build_parser().parse_args(arguments)
    act: Callable[[argparse.Namespace], int] = parsed.act
    try:
        code = act(parsed)
        sys.stdout.flush()
        return code
    except EngineError as error:
        print(f"judgerel: {_one_line(error)}", file=sys.stderr)
        return CLUSTER_FAILED
    except JudgeRelError as error:
        print(f"judgerel: {_one_line(error)}", file=sys.stderr)
        return MISTAKE
    except KeyboardInterrupt:
        print("judgerel: stopped; run again to go on with what is owed", file=sys.stderr)
        return CLUSTER_FAILED
    except BrokenPipeError:
        # Who was reading has gone; what is still buffered must not fail at the interpreter's exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE


def _one_line(error: JudgeRelError) -> str:
    """An error without line breaks."""
    return " ".join(str(error).split())


def _plan(parsed: argparse.Namespace) -> int:
    """Print the plan."""
    from judgerel_ray.config import load_sweep
    from judgerel_ray.pipeline import plan_resolved, resolve
    from judgerel_ray.report import plan_text

    resolved = resolve(load_sweep(parsed.sweep))
    plan = plan_resolved(resolved)
    if parsed.json:
        content = {**plan.as_json(), "resolved": resolved.sweep.model_dump(mode="json")}
        print(json.dumps(content, indent=2))
    else:
        print(plan_text(plan.as_json(), resolved.sweep.model_dump(mode="json")))
    return DONE


def _run(parsed: argparse.Namespace) -> int:
    """Run or resume."""
    from judgerel_ray.config import load_sweep
    from judgerel_ray.pipeline import run_sweep

    sweep = load_sweep(parsed.sweep)
    console = Console(stderr=True)
    summary = run_sweep(sweep, out=parsed.out, address=parsed.address, console=console)
    print(
        f"{summary.landed} of {summary.asked} requests landed in {summary.run} "
        f"({summary.asked_now} in this session, {summary.owed} owed)"
    )
    for judge, problem in summary.problems.items():
        print(f"judgerel: judge {judge} was given up: {' '.join(problem.split())}", file=sys.stderr)
    if summary.owed:
        print(
            f"judgerel: {summary.failed} requests failed and are recorded in errors/, "
            f"{summary.owed} are owed. Try: run again",
            file=sys.stderr,
        )
        return SOME_FAILED
    return DONE


def _status(parsed: argparse.Namespace) -> int:
    """Print how a run stands."""
    from judgerel_ray.pipeline import read_status
    from judgerel_ray.report import status_text

    status = read_status(parsed.run).as_json()
    print(json.dumps(status, indent=2) if parsed.json else status_text(status))
    return DONE


def _reduce(parsed: argparse.Namespace) -> int:
    """Print coefficients."""
    from judgerel_ray.pipeline import ReduceOptions, reduce_path, write_coefficients
    from judgerel_ray.report import coefficients_json, print_coefficients

    formats = _names(parsed.format, known=("table", "json"), flag="--format")
    options = ReduceOptions(
        by=_names(parsed.by),
        measurement=_names(parsed.measurement),
        missing=_names(parsed.missing) or (),
        coefficients=_names(",".join(parsed.coefficient)) if parsed.coefficient else None,
        block=parsed.block,
        items=parsed.items,
    )
    frame = reduce_path(parsed.path, options)
    for name in formats or ():
        if name == "json":
            print(coefficients_json(frame))
        else:
            print_coefficients(frame, console=_Screen())
    if parsed.out:
        write_coefficients(frame, parsed.out)
    return DONE


def _advise(parsed: argparse.Namespace) -> int:
    """Print advice."""
    from judgerel_ray.pipeline import advise_path
    from judgerel_ray.report import advice_text, tables_json

    formats = _names(parsed.format, known=("table", "json"), flag="--format")
    advice = advise_path(
        parsed.path, targets=parsed.target, budget=parsed.budget, by=_names(parsed.by)
    )
    tables = advice.tables()
    for name in formats or ():
        print(tables_json(tables) if name == "json" else advice_text(tables))
    return DONE


def _compare(parsed: argparse.Namespace) -> int:
    """Print paired differences."""
    from judgerel_ray.pipeline import compare_paths
    from judgerel_ray.report import coefficients_json, comparison_text

    formats = _names(parsed.format, known=("table", "json"), flag="--format")
    found = compare_paths(
        parsed.a,
        parsed.b,
        by=_names(parsed.by),
        coefficients=_names(",".join(parsed.coefficient)) if parsed.coefficient else None,
        tolerance=parsed.tolerance,
    )
    for name in formats or ():
        print(coefficients_json(found) if name == "json" else comparison_text(found))
    return DONE


def _names(
    text: str | None, *, known: Sequence[str] | None = None, flag: str = ""
) -> tuple[str, ...] | None:
    """Names with commas between; None where the flag was not given."""
    if text is None:
        return None
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in names:
        if known is not None and name not in known:
            raise SweepError(f"{flag} must be of {', '.join(known)}, got {name!r}")
    return names


def _report(parsed: argparse.Namespace) -> int:
    """Write the report."""
    from judgerel_ray.pipeline import report_path

    print(f"wrote {report_path(parsed.path, parsed.out)}")
    return DONE


def _items(parsed: argparse.Namespace) -> int:
    """Write items."""
    from judgerel_ray.pipeline import write_items

    n = write_items(parsed.benchmark, parsed.path, parsed.out, answers=parsed.answers)
    print(f"wrote {n} items to {parsed.out}")
    return DONE


def _import(parsed: argparse.Namespace) -> int:
    """Write foreign judgments."""
    from judgerel_ray.pipeline import write_judgments

    n = write_judgments(parsed.format, parsed.path, parsed.out)
    print(f"wrote {n} judgments to {parsed.out}")
    return DONE


def _verify(parsed: argparse.Namespace) -> int:
    """Check a run directory."""
    from judgerel_ray.pipeline import verify_path

    findings, wrong = verify_path(parsed.run)
    for line in findings:
        print(line)
    print(f"{wrong} error{'s' if wrong != 1 else ''}")
    return SOME_FAILED if wrong else DONE
