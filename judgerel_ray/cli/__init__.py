"""The command line: parse arguments, call the verb, print the result.

Every verb and its flags are made of the options that the analyses declare
(:mod:`judgerel_ray.core.verb`); here stands what a terminal needs besides.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stdout
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TextIO, cast

from judgerel_ray.blocks.blocks import Lines
from judgerel_ray.blocks.result import FORMATS, OF_CASES
from judgerel_ray.cli.acts import ACTS, CLUSTER_FAILED, DONE, MISTAKE, STOPPED
from judgerel_ray.cli.parsing import CommandLine, judged_path, parse
from judgerel_ray.cli.screen import (
    NotesFirst,
    one_line,
    open_streams,
    panics_kept_back,
    tell,
)
from judgerel_ray.core import EngineError, JudgeRelError, ReadingWarning, SweepError
from judgerel_ray.core.progress import progress_shown
from judgerel_ray.core.text import install_hint
from judgerel_ray.core.verb import comma_names

if TYPE_CHECKING:
    from judgerel_ray.blocks.result import Result
    from judgerel_ray.store.outputs import Output

ASKING = ("run", "exact", "refresh")
EXTRAS = {
    "ray": "run", "openai": "api", "pyarrow": "api",
    "vllm": "vllm", "torch": "vllm", "transformers": "vllm", "tokenizers": "vllm",
    "altair": "report", "vl_convert": "report",
    "s3fs": "s3", "aiobotocore": "s3", "botocore": "s3",
    "krippendorff": "legacy", "factor_analyzer": "legacy", "sklearn": "legacy",
}  # fmt: skip
"""Packages that the base install lacks, by the extra that brings them."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a verb, print its result and return its exit code.

    0 done, 1 some requests failed and are recorded, 2 the caller's mistake (one line), 3 the
    cluster or an engine failed, or who asks judges was stopped, 4 and 5 what ``gate`` fails or
    leaves open, 6 a series' judge is called drifted, 130 anything else was stopped.

    Examples
    --------
    >>> main(["status", "no-such-run"])
    2
    """
    open_streams()
    typed: CommandLine | None = None
    try:
        typed = parse(arguments)
        if out := typed.texts.get("out") or typed.printing.get("out"):
            from judgerel_ray.store.places import refuse_memory  # Polars, which help needs not

            refuse_memory(out)
        # Ray's processes write where they began to, and for as long as they live.
        apart = nullcontext() if typed.verb.name in ASKING else panics_kept_back()
        with _print_readings(), apart, progress_shown(_tell_progress):
            if act := ACTS.get(typed.verb.name):
                code = act(typed)
            else:
                formats = _command_print_formats(typed)
                request = typed.request()
                output = _command_output_file(typed, request)
                source = _judged_source(typed, request)
                result = typed.verb.act(source, request)
                code = _print_result(typed, result, formats, output)
        sys.stdout.flush()
        return code
    except EngineError as error:
        tell(f"judgerel: {one_line(error)}", stderr=True)
        return CLUSTER_FAILED
    except JudgeRelError as error:
        tell(f"judgerel: {one_line(_named_log(error, typed))}", stderr=True)
        return MISTAKE
    except KeyboardInterrupt:
        asking = typed is not None and typed.verb.name in ASKING
        left = "; run again to ask the pending requests" if asking else ""
        tell(f"judgerel: stopped{left}", stderr=True)
        return CLUSTER_FAILED if asking else STOPPED
    except BrokenPipeError:
        # Who was reading has gone; what is still buffered must not fail at the interpreter's exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except ModuleNotFoundError as error:
        # One of ours that is missing is a defect, any other an extra that was not installed.
        if (error.name or "judgerel_ray").partition(".")[0] == "judgerel_ray":
            raise
        extra = EXTRAS.get((error.name or "").partition(".")[0], "run")
        get = f"{install_hint(extra)}, or make setup there"
        tell(f"judgerel: a package is missing: {error.name}. Try: {get}", stderr=True)
        return MISTAKE
    except _file_errors() as error:
        # What no room could foresee of files, disks and what lies in them; defects still show.
        tell(f"judgerel: {_about_a_file(error, typed)}", stderr=True)
        return MISTAKE


@contextmanager
def _print_readings() -> Iterator[None]:
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


def _tell_progress(line: str) -> None:
    """Say how far long work is."""
    tell(f"judgerel: {line}", stderr=True)


def _file_errors() -> tuple[type[BaseException], ...]:
    """Classes of what readers and writers of files raise; looked up only when something did."""
    if "polars" not in sys.modules:
        return (OSError,)
    from judgerel_ray.store.scan import file_errors

    return file_errors()


def _named_log(error: JudgeRelError, typed: CommandLine | None) -> JudgeRelError:
    """Say of a file that cannot be measured that it is the log of a tool, where it is one."""
    source = None if typed is None or typed.verb.name in ("items", "import") else typed.source
    where = (error.where.get("file"), error.where.get("path"))
    if not source or source not in where or not os.path.isfile(source):
        return error
    from judgerel_ray.counting.files.understood import log_refusal

    return log_refusal(source) or error


def _about_a_file(error: BaseException, typed: CommandLine | None) -> str:
    """What is wrong with a file, and what to try."""
    what = f"a file cannot be read or written: {one_line(error) or type(error).__name__}"
    sources = [] if typed is None else [typed.source, typed.texts.get("b")]
    runs = [path for path in sources if isinstance(path, str) and os.path.isdir(path)]
    if isinstance(error, OSError) and error.filename is None:
        runs = []  # a full disk or a stream that is gone, no file of theirs
    return f"{what}. Try: judgerel verify {' or '.join(runs)}" if runs else what


def _judged_source(typed: CommandLine, request: Any) -> str | tuple[str, ...] | None:
    """What is measured: paths that are there, one or several; None where a verb needs none."""
    for path in filter(None, (typed.source, *typed.more, getattr(request, "b", None))):
        judged_path(path)
    return (typed.source, *typed.more) if typed.more else typed.source or None


def _print_result(
    typed: CommandLine, result: Result[Any], formats: Sequence[str], output: Output | None
) -> int:
    """Print what a verb found, and with ``--out`` write one file."""
    if result.error is not None and (other := _named_log(result.error, typed)) is not result.error:
        raise other
    for note in result.notes:
        tell(note, stderr=any(name != "table" for name in formats))
    shown = _as_long_as_wanted(typed, result)
    for name in formats:
        text = FORMATS[name](shown)
        tell(text) if name == "table" else print(text)
    if output is not None:
        _write_command_result(result, output, typed)
    if result.error is not None:
        raise result.error
    return result.exit_code


def _as_long_as_wanted(typed: CommandLine, result: Result[Any]) -> Result[Any]:
    """The short answer, with its legend, or all there is."""
    if typed.printing.get("full"):
        return result.at_length()
    if not typed.printing.get("explain"):
        return result
    if result.legend is tuple:  # what its columns mean, as their schema says
        result = replace(result, legend=lambda: [Lines(_printed_column_meanings(typed, result))])
    return result.explained()


def _printed_column_meanings(typed: CommandLine, result: Result[Any]) -> list[str]:
    """The columns of a result's tables that hold something with what they mean, each once."""
    from judgerel_ray.core.schema import tables_of

    tables = result.tables if isinstance(result.tables, dict) else {"": result.chief}
    schemas = tables_of(typed.verb)
    pairs = {
        column: schemas[name].descriptions[column]
        for name, table in tables.items() if name in schemas
        for column in table.columns if column in schemas[name].descriptions
        and table[column].null_count() < table.height
    }  # fmt: skip
    return [f"{name}: {text}" for name, text in pairs.items()]


def _command_print_formats(typed: CommandLine) -> Sequence[str]:
    """What is printed."""
    if typed.printing.get("json"):
        return ["json"]
    if typed.printing.get("md"):
        if "format" in typed.printing:
            raise SweepError("--md and --format are given together", hint="leave one out")
        return ["markdown"]
    known = [name for name in FORMATS if name != OF_CASES or typed.verb.prints == "gate"]
    names = comma_names(typed.printing.get("format", "table"))
    for name in names or ("nothing",):
        if name not in known:
            got = repr(name) if names else name
            raise SweepError(f"--format must be of {', '.join(known)}, got {got}")
    return names


def _write_command_result(result: Result[Any], output: Output, typed: CommandLine) -> None:
    """Write the chief table, or as JSON all of them."""
    what = "all tables"
    if output.ending == ".json":
        rows = result if result.whole_json or result.rows is None else result.of_rows()
        output.write(f"{rows.as_json()}\n".encode())
    else:
        output.write_frame(result.chief)
    if output.ending != ".json" or not result.whole_json:
        what = f"table {_chief_table_of_command(typed, result)}, {result.chief.height:,} rows,"
    if typed.verb.file:
        tell(f"wrote {what} to {output.path}", stderr=True)


def _chief_table_of_command(typed: CommandLine, result: Result[Any]) -> str:
    """The name of the table that a file holds."""
    named = result.tables.items() if isinstance(result.tables, dict) else ()
    known = (name for name, table in named if table is result.rows)
    return next(known, typed.verb.file.partition(",")[0])


def _command_output_file(typed: CommandLine, request: Any) -> Output | None:
    """The file of ``--out``, refused before anything is read; None where there is none."""
    out, force = typed.printing.get("out"), typed.printing.get("force", False)
    raw_cells = typed.printing.get("raw_cells", False)
    if out is None:
        if force or raw_cells:
            name = "--force" if force else "--raw-cells"
            raise SweepError(f"{name} would do nothing without --out", hint="leave it out")
        return None
    if raw_cells and not str(out).lower().endswith(".csv"):
        raise SweepError(
            f"--raw-cells is of CSV alone, got --out {out}", hint="leave --raw-cells out"
        )
    from judgerel_ray.store.outputs import output_to

    beside = [getattr(request, name, None) for name in ("gold", "reference", "outside", "labels")]
    scales = getattr(request, "scale", ())
    reads = (typed.source, *typed.more, *beside, *scales)
    return output_to(out, "table", reads=reads, force=force, raw_cells=raw_cells)
