"""Commands that only read judgments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from judgerel_ray.blocks.blocks import Lines
from judgerel_ray.blocks.result import FORMATS, OF_CASES
from judgerel_ray.cli.paths import judged_path, named_log
from judgerel_ray.cli.screen import tell
from judgerel_ray.core import SweepError
from judgerel_ray.core.verb import comma_names

if TYPE_CHECKING:
    from judgerel_ray.blocks.result import Result
    from judgerel_ray.cli.parsing import CommandLine
    from judgerel_ray.store.outputs import Output


def print_result(typed: CommandLine) -> int:
    """Run a verb and print its result.

    Effects: reads a run or a file; with ``--out`` writes one file. Retry: safe.
    """
    formats = _command_print_formats(typed)
    request = typed.request()
    output = _command_output_file(typed, request)
    for path in filter(None, (typed.source, *typed.more, getattr(request, "b", None))):
        judged_path(path)
    source = (typed.source, *typed.more) if typed.more else typed.source or None
    result: Result[Any] = typed.verb.act(source, request)
    if result.error is not None and (other := named_log(result.error, typed)) is not result.error:
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
