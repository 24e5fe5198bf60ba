"""Verbs on judgments that are there: none of them asks a judge anything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgerel_ray.cli.paths import judged_path, named_log
from judgerel_ray.cli.screen import tell
from judgerel_ray.core import SweepError
from judgerel_ray.core.verb import comma_names

if TYPE_CHECKING:
    from judgerel_ray.analyses.doctor.diagnosis import Diagnosis
    from judgerel_ray.analyses.gate.gated import Gated
    from judgerel_ray.cli.parsing import Asked
    from judgerel_ray.core.verb import Printed
    from judgerel_ray.counting.given import Given
    from judgerel_ray.store.outputs import Output


def judged(path: str, request: Any) -> str | Given:
    """The judgments named, which must be there; of a run what has landed by now."""
    from judgerel_ray.counting.given import given, looked_at

    read = given(
        judged_path(path),
        exact_values=getattr(request, "exact_values", False),
        verdict_names=getattr(request, "verdict_names", None),
    )
    return looked_at(read)


def tell_basis(path: str | Given, formats: Sequence[str], *, about: str = "") -> None:
    """Say before any number what it rests on, where a run has pending requests or damaged files.

    Beside JSON it is no part of it.
    """
    from judgerel_ray.counting.given import basis_lines

    for line in basis_lines(path):
        tell(f"{about}{line}", aside="json" in formats)


DONE, UNFIT = 0, 2
FORMATS = ("table", "json")


def print_found(asked: Asked) -> int:
    """Do what a verb does, and print it.

    Effects: reads a run or a file; with ``--out`` writes one file. Retry: safe.
    """
    from judgerel_ray.analyses.advice.show import tables_json
    from judgerel_ray.analyses.reliability.from_run import write_coefficients
    from judgerel_ray.analyses.reliability.show import coefficients_json

    formats = _formats(asked)
    request = asked.request()
    output = _output(asked, request)
    path = judged(asked.source, request)
    assert asked.verb.show is not None
    printed = asked.verb.show(asked.verb.act(path, request))

    def as_json() -> str:
        tables = printed.tables
        return tables_json(tables) if isinstance(tables, dict) else coefficients_json(tables)

    tell_basis(path, formats)
    for name in formats:
        print(as_json()) if name == "json" else tell(printed.text())
    if output is not None:
        if printed.whole_json and output.ending == ".json":
            output.write(f"{as_json()}\n".encode())
            what = "all tables"
        else:
            write_coefficients(printed.rows, output)
            what = f"table {_chief(asked, printed)}, {printed.rows.height:,} rows,"
        if asked.verb.file:
            tell(f"wrote {what} to {output.path}", aside=True)
    return DONE


def _chief(asked: Asked, printed: Printed) -> str:
    """The name of the table that a file holds."""
    named = printed.tables.items() if isinstance(printed.tables, dict) else ()
    known = (name for name, table in named if table is printed.rows)
    return next(known, asked.verb.file.partition(",")[0])


def print_coefficients(asked: Asked) -> int:
    """Print coefficients."""
    from judgerel_ray.analyses.reliability import show
    from judgerel_ray.analyses.reliability.from_run import reduce_with_basis, write_coefficients
    from judgerel_ray.analyses.reliability.show_serving import serving_blocks
    from judgerel_ray.blocks.terminal import Screen, printed
    from judgerel_ray.measuring.serving import with_serving

    formats = _formats(asked)
    request = asked.request()
    output = _output(asked, request)
    path = judged(asked.source, request)
    options = request.options()
    try:
        found = reduce_with_basis(path, options)
        frame = with_serving(found.coefficients, found.serving)
    except SweepError as error:
        if error.hint is None and Path(path, "distributions").is_dir():
            what = "the run has verdict distributions, and nothing sampled"
            hint = f"judgerel distributions {asked.source}: {what}"
            raise SweepError(error.problem, where=error.where, hint=hint) from error
        raise
    tell_basis(path, formats)
    if found.caution:
        tell(found.caution, aside="json" in formats)
    for name in formats:
        if name == "json":
            print(show.coefficients_json(frame))
            continue
        if found.coefficients.height or not found.serving.height:
            show.print_coefficients(
                found.coefficients,
                console=Screen(),
                failures=found.failures,
                named=options.coefficients is not None or "nominal" in (options.measurement or ()),
            )
        source = "--tolerance" if options.tolerance else "the run's sweep.toml"
        repeats = printed(serving_blocks(found.serving))
        for text in (repeats, show.tolerance_text(frame, source=source)):
            if text:
                tell(f"\n{text}")
    if output is not None:
        write_coefficients(frame, output)
    return DONE


def print_differences(asked: Asked) -> int:
    """Print paired differences."""
    from judgerel_ray.analyses.comparison.show import comparison_text
    from judgerel_ray.analyses.comparison.verb import compared
    from judgerel_ray.analyses.reliability.show import coefficients_json
    from judgerel_ray.analyses.reliability.show_serving import shared_blocks
    from judgerel_ray.blocks.terminal import printed
    from judgerel_ray.measuring.serving import with_shared

    formats = _formats(asked)
    request = asked.request()
    names = (asked.source, str(request.b))
    a = judged(asked.source, request)
    b = None if request.b is None else judged(request.b, request)
    found, shared = compared(a, replace(request, b=b))
    for name, path in zip(names, (a, b), strict=True):
        if path is not None:
            tell_basis(path, formats, about=f"{name}: " if b is not None else "")
    for name in formats:
        if name == "json":
            print(coefficients_json(with_shared(found, shared, names)))
        else:
            tell(comparison_text(found))
            if shared is not None:
                blocks = shared_blocks(shared.rows, shared.settings, names)
                tell(f"\n{printed(blocks)}")
    return DONE


def print_gate(asked: Asked) -> int:
    """Print a gate's verdict, and leave with its code.

    Effects: reads; with ``--ledger`` appends a line to it. Retry: safe.
    """
    formats = _formats(asked, (*FORMATS, "markdown", "junit"))
    request = asked.request()
    path = judged(asked.source, request)
    found: Gated = asked.verb.act(path, request)
    tell_basis(path, [name for name in formats if name != "table"] and ["json"])
    written = {"json": found.as_json, "markdown": found.as_markdown, "junit": found.as_junit}
    for name in formats:
        if name == "table":
            assert asked.verb.show is not None
            tell(asked.verb.show(found).text())
        else:
            print(written[name]())
    return found.exit_code


def print_diagnosis(asked: Asked) -> int:
    """Print what is missing on this machine, or what judgments support.

    Effects: reads. Retry: safe.
    """
    request = asked.request()
    path = judged(asked.source, request) if asked.source else None
    found: Diagnosis = asked.verb.act(path, request)
    if found.mapping:
        refused = SweepError(
            found.notes[0], where={"file": asked.source},
            hint="keep what is printed here as map.toml, fill in each ?, then judgerel import "
            f"table {asked.source} --map map.toml --out judgments.parquet",
        )  # fmt: skip
        if (named := named_log(refused, asked)) is not refused:
            raise named
        print(found.as_json() if asked.printing else found.mapping)
        raise refused
    print(found.as_json()) if asked.printing else tell(found.text())
    return DONE if found.is_fit else UNFIT


def write_page(asked: Asked) -> int:
    """Write the report, and say where it is."""
    request = asked.request()
    tell(f"wrote {asked.verb.act(judged(asked.source, request), request)}")
    return DONE


def write_label_page(asked: Asked) -> int:
    """Write the page on which people label, and say what comes next."""
    request = asked.request()
    n = asked.verb.act(judged(asked.source, request), request)
    tell(f"wrote {request.out}: {n:,} items to label; its export is for judgerel correct --labels")
    return DONE


def _formats(asked: Asked, known: Sequence[str] = FORMATS) -> Sequence[str]:
    """What is printed."""
    names = comma_names(asked.printing.get("format", "table"))
    for name in names or ("nothing",):
        if name not in known:
            got = repr(name) if names else name
            raise SweepError(f"--format must be of {', '.join(known)}, got {got}")
    return names


def _output(asked: Asked, request: Any) -> Output | None:
    """The file of ``--out``, refused before anything is read; None where there is none."""
    out, force = asked.printing.get("out"), asked.printing.get("force", False)
    raw_cells = asked.printing.get("raw_cells", False)
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
    reads = (asked.source, *beside, *scales)
    return output_to(out, "table", reads=reads, force=force, raw_cells=raw_cells)
