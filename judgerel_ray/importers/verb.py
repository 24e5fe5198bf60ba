"""``items`` and ``import``: files for others, from upstream benchmarks and from foreign logs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from os import PathLike, fspath
from typing import TYPE_CHECKING

from judgerel_ray.blocks.result import Result
from judgerel_ray.core import SweepError
from judgerel_ray.core.errors import warn_of
from judgerel_ray.core.verb import (
    FORCE,
    Names,
    by_name,
    check_choices,
    comma_names,
    flag,
    joined_names,
    names_of,
    verb,
)

if TYPE_CHECKING:
    from judgerel_ray.importers.table import TableMapping


UNPACK_LIMIT = flag(
    "to how many GiB a packed file may unpack, at any ratio (else 2, and 200 times its size "
    "above 128 MiB)",
    "GB",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemsRequest:
    """What ``items`` is asked for."""

    path: str | PathLike[str] = field(
        kw_only=False, metadata=flag("the benchmark's upstream file or folder", "PATH")
    )
    out: str | PathLike[str] = field(metadata=flag("where the items go", "FILE.parquet"))
    answers: str | PathLike[str] | None = field(
        default=None, metadata=flag("recorded answers that become options", "PATH")
    )
    seed: int = field(default=1, metadata=flag("of what truthfulqa_pairs and mix draw", "S"))
    gold_is: str | None = field(
        default=None,
        metadata=flag(
            "for a plain file: how gold names the right option",
            choices=("id", "text", "letter", "number", "index", "reference"),
        ),
    )
    prompts: bool = field(
        default=False,
        metadata=flag("for a tool's log: use the prompts that its judge was asked as options"),
    )
    unpack_limit: float | None = field(default=None, metadata=UNPACK_LIMIT)
    force: bool = field(default=False, metadata=FORCE)

    def __post_init__(self) -> None:
        check_choices(self)


@verb(
    ItemsRequest,
    examples=(
        "items exam items.jsonl --out items.parquet",
        "items exam items.jsonl --gold-is id --out by-id.parquet",
    ),
    group="Data",
    help="items from a benchmark's upstream files",
    source="BENCHMARK",
    prints="",
)
def items(benchmark: str, request: ItemsRequest) -> Result[int]:
    """Write a benchmark's items as a Parquet file that a sweep can name.

    Parameters
    ----------
    benchmark : str
        A loader's name, or one of your own for a plain file; ``log`` for a log with its answers
        fixed, of any tool that ``import`` reads, or a table.

    Returns
    -------
    int
        How many items were written.

    Raises
    ------
    SweepError
        If the benchmark is unknown, a file of it cannot be read, or `out` must not be written.

    Warns
    -----
    ReadingWarning
        If a plain file does not say how gold names the right option: how it was read.

    Examples
    --------
    >>> import tempfile
    >>> from judgerel_ray import example
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     items("own", example("items.jsonl"), out=f"{folder}/items.parquet", gold_is="id")
    8
    """
    return Result(found=request_items(benchmark, request, lambda line: warn_of([line])))


def request_items(benchmark: str, request: ItemsRequest, tell: Callable[[str], None]) -> int:
    """Write what `items` asks for; how gold was read is handed to `tell`, where no file says it.

    Effects: writes one file, whole. Retry: safe.
    """
    from judgerel_ray.benchmarks import MIX, mix_sources, read_items
    from judgerel_ray.benchmarks.admission import gold_note
    from judgerel_ray.benchmarks.log import LOG
    from judgerel_ray.core.files import unpack_limit
    from judgerel_ray.importers.logs.asked import is_log, log_items
    from judgerel_ray.importers.logs.collect import log_files
    from judgerel_ray.store.outputs import output_to
    from judgerel_ray.tables import items_to_frame

    with unpack_limit(request.unpack_limit):
        path, out = fspath(request.path), fspath(request.out)
        answers = None if request.answers is None else fspath(request.answers)
        logs = log_files([path]) if benchmark == LOG else []
        if logs and all(is_log(one) for one in logs):
            output = output_to(out, "items", reads=logs, force=request.force)
            items = log_items(logs, prompts=request.prompts)
            output.write_frame(items_to_frame(items))
            return len(items)
        if request.prompts:
            raise SweepError(
                "--prompts is of judgerel items log, and of logs of tools", where={"path": path}
            )
        parts = mix_sources(path) if benchmark == MIX else ()
        output = output_to(out, "items", reads=(path, answers, *parts), force=request.force)
        items, read = read_items(
            benchmark,
            path,
            answers=answers,
            seed=request.seed,
            gold_is=request.gold_is,  # type: ignore[arg-type]
        )
        output.write_frame(items_to_frame(items))
        if read is not None and not read.declared:
            tell(gold_note(read))
        return len(items)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportRequest:
    """What ``import`` is asked for."""

    paths: Sequence[str | PathLike[str]] | str | PathLike[str] = field(
        kw_only=False, metadata=flag("what the importer reads, a path or several", "PATH...")
    )
    out: str | PathLike[str] = field(metadata=flag("where the judgments go", "FILE.parquet"))
    map: str | PathLike[str] | None = field(
        default=None,
        metadata=flag(
            "for a table: a file in place of --column, --repeats, --value, --missing and --order",
            "FILE.toml",
        ),
    )
    columns: Mapping[str, str | Sequence[str]] | Sequence[str] | None = field(
        default=None,
        metadata=flag(
            "for a table: the column that holds NAME; several, separated by commas, are joined",
            "NAME=COLUMN", repeats=True,
        ),
    )  # fmt: skip
    repeats: str | None = field(
        default=None,
        metadata=flag("for a table: columns that are replications, such as s?", "PATTERN"),
    )
    values: Mapping[str, str] | Sequence[str] | None = field(
        default=None,
        metadata=flag(
            "for a table: the value of NAME where the table has none",
            "NAME=TEXT", repeats=True,
        ),
    )  # fmt: skip
    missing: Sequence[str] | None = field(
        default=None,
        metadata=flag("for a table: text that means no verdict", "TEXT", repeats=True),
    )
    order: Names = field(
        default=None,
        metadata=flag(
            "for a table: verdicts from lowest to highest, for scores", "A,B", read=comma_names
        ),
    )
    judge: str | None = field(
        default=None,
        metadata=flag("whose judgments they are, of bergman2025 and logs that name none", "NAME"),
    )
    role: str | None = field(
        default=None,
        metadata=flag("of bergman2025: responder, participant, evaluator_only", "ROLE"),
    )
    reread: bool = field(
        default=False, metadata=flag("of bergman2025: verdicts by our own readers")
    )
    unpack_limit: float | None = field(default=None, metadata=UNPACK_LIMIT)
    force: bool = field(default=False, metadata=FORCE)

    def mapping(self) -> TableMapping | None:
        """What the columns of a table stand for; None where no option says so."""
        from judgerel_ray.importers.table import TableMapping, read_mapping

        options = (self.columns, self.repeats, self.values, self.missing, self.order)
        if self.map is not None:
            if any(one is not None for one in options):
                raise SweepError(
                    "--map says what the columns stand for",
                    hint="leave out --column, --repeats, --value, --missing and --order",
                )
            return read_mapping(fspath(self.map))
        if all(one is None for one in options):
            return None
        return TableMapping(
            columns=by_name(self.columns, "--column", joined_names, form="NAME=...") or {},
            repeats=self.repeats,
            values=by_name(self.values, "--value", str, form="NAME=...") or {},
            missing=tuple(self.missing or ()),
            order=names_of(self.order) or (),
        )


@verb(
    ImportRequest,
    examples=(
        "import auto judgments.csv --out judgments.parquet",
        "import table judgments.csv --value scale=binary --out by-table.parquet",
    ),
    group="Data",
    help="judgments from logs that people hold",
    source="FORMAT",
    prints="",
    name="import",
)
def import_judgments(format_name: str, request: ImportRequest) -> Result[int]:
    """Write judgments of foreign logs as one Parquet file that every analysis reads.

    Parameters
    ----------
    format_name : str
        What the logs are: ``auto`` (known by their begin), ``promptfoo``, ``inspect``,
        ``deepeval``, ``mlflow``, ``langfuse``, ``lm_eval``, ``fastchat``, ``arena_hard``,
        ``alpaca_eval``, ``opentelemetry``, ``batch``, ``prometheus``, ``biggen``, ``unitxt``,
        ``evalassist``, ``table``, ``people``, ``schroeder2024`` or ``bergman2025``.

    Returns
    -------
    int
        How many judgments were written.

    Raises
    ------
    SweepError
        If the format is unknown, a path cannot be read, the paths hold a judgment twice, or `out`
        must not be written.

    Examples
    --------
    >>> import tempfile
    >>> from judgerel_ray import example
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     import_judgments("table", example("judgments.csv"), out=f"{folder}/judgments.parquet",
    ...                      columns={"item_id": ("judge", "item_id")}, values={"scale": "binary"})
    64
    """
    return Result(found=request_judgments(format_name, request))


def request_judgments(
    format_name: str, request: ImportRequest, tell: Callable[[str], None] | None = None
) -> int:
    """Write what `import` asks for; how many there are of each outcome is handed to `tell`.

    Effects: writes one file, whole. Retry: safe.
    """
    import polars as pl

    from judgerel_ray.core.files import unpack_limit
    from judgerel_ray.importers.catalog import (
        are_one_table,
        are_tables,
        each_once,
        read_foreign_judgments,
    )
    from judgerel_ray.importers.logs.collect import (
        AUTO,
        LOG_FORMATS,
        import_logs,
        log_files,
        outcomes_of,
    )
    from judgerel_ray.importers.table import import_table
    from judgerel_ray.store.outputs import output_to

    with unpack_limit(request.unpack_limit):
        listed = [request.paths] if isinstance(request.paths, str | PathLike) else request.paths
        paths, mapping = [fspath(path) for path in listed], request.mapping()
        was_auto = format_name == AUTO
        if was_auto and are_tables(paths):
            format_name = "table"
        is_plain = request.role is None and not request.reread
        is_log = mapping is None and is_plain and format_name in (AUTO, *LOG_FORMATS)
        files = log_files(paths) if is_log else paths
        output = output_to(fspath(request.out), "judgments", reads=files, force=request.force)
        if is_log:
            judgments = import_logs(format_name, files, judge=request.judge)
        else:
            is_plain = is_plain and request.judge is None
            if format_name == "table" and is_plain and are_one_table(paths, asks=was_auto):
                judgments = import_table(paths, mapping)
            else:
                read = partial(
                    read_foreign_judgments, format_name, mapping=mapping,
                    judge=request.judge, role=request.role, reread=request.reread,
                )  # fmt: skip
                judgments = pl.concat(map(read, paths), how="diagonal_relaxed")
            judgments = each_once(judgments, format_name)
        output.write_frame(judgments)
        if tell is not None:
            tell(", ".join(f"{n} {name}" for name, n in outcomes_of(judgments).items()))
        return judgments.height
