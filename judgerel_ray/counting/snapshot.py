"""Judgments opened once a command: their rows, what is declared of them, how they were read.

Verbs begin here. Of a run a snapshot is of one look at its records, so that all numbers of a
command rest on the same rows, whatever lands meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

import polars as pl

from judgerel_ray.core import Scale, SweepError, count_of
from judgerel_ray.core.errors import warn_of
from judgerel_ray.core.traits import protocols_where
from judgerel_ray.core.verb import Labelled, Named, Written, by_name, joined_names
from judgerel_ray.counting.columns import of_protocols
from judgerel_ray.counting.declared import asks_of, menus_of, scales_of, tied_asks
from judgerel_ray.counting.doubts import ties_counted
from judgerel_ray.counting.files.delimited import kind_of
from judgerel_ray.counting.files.labelled import labels_line, read_labels_table
from judgerel_ray.counting.files.source import TABLES, frame_of
from judgerel_ray.counting.groups.tally import Tally
from judgerel_ray.counting.judgments import tally_file
from judgerel_ray.counting.right_answers import GOLD, find_unmatched_gold, judgments_with_gold
from judgerel_ray.counting.tie_labels import placed_tally
from judgerel_ray.counting.verdict_names import named_verdicts, naming_of_verdicts, ways_to_name
from judgerel_ray.counting.verdicts.places import declared_options, labels_need_rows

if TYPE_CHECKING:
    from judgerel_ray.store import RunDirectory


class ArrowStream(Protocol):
    """A frame or table of any library that exports Arrow: pandas, PyArrow, DuckDB, Polars."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Export the rows."""


JudgmentSource: TypeAlias = (
    "str | PathLike[str] | Sequence[str] | pl.DataFrame | pl.LazyFrame | ArrowStream"
)
"""What a Python program gives where ``judgerel`` takes a path of judgments."""
FRAME = "the frame given"
"""What messages call rows without a path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Judgments as they were opened, with what is declared of them, wherever they come from."""

    frame: pl.LazyFrame
    name: str = ""  # What messages call them: the path that was given.
    # Verdicts declared, by protocol and benchmark: the options, and a tie where there is one.
    menus: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    # Options alone, likewise: what is shown in orders, which a tie is not.
    shown: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    scales: Mapping[str, Scale] = field(default_factory=dict)  # Of ratings, as a run declares them.
    tolerance: Mapping[str, float] = field(default_factory=dict)  # A sweep's own, by coefficient.
    run: RunDirectory | None = None  # As of one look at its records.
    tally: Tally | None = None  # Their counts, where they are known from checking them.
    # Whether verdicts name options, where options were shown in several orders.
    verdicts_known: bool = True
    as_written: bool = True  # Whether every spelling is a verdict of its own, as in a run.
    notes: tuple[str, ...] = ()  # How a file was read, as its reader was warned, a line each.
    labels: pl.DataFrame | None = None  # Right verdicts that are given in place of a run's own.
    only: tuple[pl.Expr, ...] = ()  # What rows were chosen by, of those of a run.

    @classmethod
    @contextmanager
    def open(
        cls,
        source: JudgmentSource | RunDirectory,
        reading: Written | None = None,
        *,
        apart: Sequence[str] = (),
        columns: Sequence[str] = (),
        empty: bool = False,
    ) -> Iterator[Snapshot]:
        """Open a run directory (committed rows only), a file or files, or a frame.

        Counts of a file tell rows apart by the columns `apart`, too; columns of a file that not
        every verb uses are there where they are among `columns`. A run in which nothing landed is
        refused, unless it may be `empty`. Errors of reading a run's files, as long as the snapshot
        is open, are told in one line that names the run.

        Examples
        --------
        >>> twice = {"item_id": ["q", "q"], "replication": [0, 1], "verdict": ["A", "B"]}
        >>> rows = pl.DataFrame(twice)
        >>> with Snapshot.open(rows) as judged:
        ...     judged.name, judged.frame.collect()["verdict"].to_list()
        ('the frame given', ['A', 'B'])
        """
        reading = reading or Written()
        run = run_at(source)
        if run is None:
            yield _snapshot_of_sheet_rows(source, reading, apart, columns)
            return
        from judgerel_ray.store import reading as naming_the_run

        with naming_the_run(name_of(source)):
            yield _snapshot_of_run_rows(run, name_of(source), reading, apart, empty=empty)

    @property
    def keyed(self) -> pl.LazyFrame:
        """The judgments with keys and seeds, most of a run's bytes: read where they are needed."""
        if self.run is None:
            return self.frame
        from judgerel_ray.store import scan_judgments

        rows = scan_judgments(self.run)
        return rows.filter(*self.only) if self.only else rows

    @property
    def run_notes(self) -> tuple[str, ...]:
        """What numbers of a run rest on; none of a file, which is read whole."""
        return run_notes(self.run)

    @property
    def where(self) -> Mapping[str, object]:
        """The file, as errors name it; a run is named where it is opened."""
        return {"file": self.name} if self.run is None and self.name else {}

    @contextmanager
    def naming(self) -> Iterator[None]:
        """Name the file in errors of what is made of the rows, where these name none.

        Examples
        --------
        >>> with Snapshot(frame=pl.LazyFrame(), name="a.csv").naming():
        ...     raise SweepError("no verdicts")
        Traceback (most recent call last):
        judgerel_ray.core.errors.SweepError: no verdicts [file=a.csv]
        """
        try:
            yield
        except SweepError as error:
            if "file" not in error.where:
                error.where = {**self.where, **error.where}
            raise

    @contextmanager
    def hinting_at_distributions(self) -> Iterator[None]:
        """Say in errors without a hint that a run has verdict distributions, where it has."""
        try:
            yield
        except SweepError as error:
            if error.hint is None and self.run is not None and self.run.names("distributions"):
                what = "the run has verdict distributions, and nothing sampled"
                hint = f"judgerel distributions {self.name}: {what}"
                raise SweepError(error.problem, where=error.where, hint=hint) from error
            raise

    @property
    def may_know_right(self) -> bool:
        """Whether right verdicts may be known: of a run, or of rows that have a column of them."""
        return self.run is not None or GOLD in self.frame.collect_schema()

    @property
    def source(self) -> pl.LazyFrame | Tally:
        """What reducers start from."""
        return self.tally or self.frame

    @property
    def n_categories(self) -> dict[str, int]:
        """Verdicts by benchmark, of those that all protocols declare alike."""
        return _alike_snapshot_menu_sizes(self.menus)

    @property
    def n_options(self) -> dict[str, int]:
        """Options by benchmark, likewise."""
        return _alike_snapshot_menu_sizes(self.shown)

    def by_menu(self) -> list[Snapshot]:
        """Judgments of each protocol by themselves, where their menus differ; else all together.

        Protocols that share a benchmark may have menus of their own (five answers, or right and
        wrong): together, chance agreement of one would be that of another's menu.
        """
        together = self.n_categories
        if all(together.items() >= menu.items() for menu in self.menus.values()):
            return [self]
        parts = []
        for name, menu in sorted(self.menus.items()):
            rows = self.frame.filter((pl.col("protocol") == name) & (pl.col("role") == "judge"))
            if not rows.select("role").head(1).collect().is_empty():
                shown = {name: self.shown.get(name, menu)}
                parts.append(replace(self, frame=rows, tally=None, menus={name: menu}, shown=shown))
        return parts or [self]


def _alike_snapshot_menu_sizes(menus: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """Sizes by benchmark, where all protocols have the same."""
    found: dict[str, set[int]] = {}
    for menu in menus.values():
        for benchmark, size in menu.items():
            found.setdefault(benchmark, set()).add(size)
    return {name: sizes.pop() for name, sizes in found.items() if len(sizes) == 1}


def name_of(source: object) -> str:
    """What messages call judgments: the path as it was given.

    Examples
    --------
    >>> name_of("a.csv"), name_of(pl.DataFrame())
    ('a.csv', 'the frame given')
    """
    if isinstance(source, str | PathLike):
        path = fspath(source)
        if not isinstance(path, str):
            raise SweepError("expected a path as text, got bytes")
        return path
    if isinstance(source, list | tuple) and source:
        return f"{source[0]} and {len(source) - 1} more" if len(source) > 1 else str(source[0])
    return getattr(source, "spelling", FRAME)


def _is_plain_judgments_file(path: str) -> bool:
    """Whether a path is surely no run directory: a file, at a URL by its ending."""
    if "://" in path:
        return kind_of(path)[0] in TABLES
    try:
        return Path(path).is_file()
    except ValueError:  # no path of any file system
        return False


def run_at(source: JudgmentSource | RunDirectory) -> RunDirectory | None:
    """The run that lies at a path, as of one look at its records; None where none does.

    Examples
    --------
    >>> run_at("no-such-run") is None
    True
    """
    if not isinstance(source, str | PathLike):
        return cast("RunDirectory", source) if hasattr(source, "url") else None
    path = name_of(source)
    if _is_plain_judgments_file(path):  # loads no store
        return None
    from judgerel_ray.store import RunDirectory, as_landed, reading

    with reading(path):
        run = RunDirectory(url=path)
        return as_landed(run) if run.is_run() else None


def open_run(source: JudgmentSource | RunDirectory) -> RunDirectory:
    """The run directory named, as of one look at its records.

    Examples
    --------
    >>> open_run("no-such-run")
    Traceback (most recent call last):
    judgerel_ray.core.errors.StoreError: expected a run directory, got none ...
    """
    run = run_at(source)
    if run is not None:
        return run
    from judgerel_ray.store import RunDirectory

    return RunDirectory.open(name_of(source))


def _snapshot_of_run_rows(
    run: RunDirectory, name: str, reading: Written, apart: Sequence[str], *, empty: bool
) -> Snapshot:
    """Judgments of a run, of its committed rows."""
    from judgerel_ray.config import parse_sweep
    from judgerel_ray.store import CHEAP_COLUMNS, checked_ledger, scan_judgments

    # One without a session has not begun, one without its sweep lost it: readers say which.
    begun = run.exists("sweep.toml") and run.names("commits")
    if begun and not empty and not checked_ledger(run).n_rows:
        raise SweepError(
            "nothing has landed in the run yet",
            where={"run": name},
            hint=f"judgerel status {name} tells whether it is at work; "
            f"judgerel run SWEEP.toml --out {name} goes on with it",
        )
    if isinstance(reading, Named) and reading.verdict_names == "place":
        raise SweepError(
            "verdicts of a run name options, and its column label their places",
            where={"run": name},
            hint="leave --verdict-names out",
        )
    if meant := [flag for flag, is_there in (
        ("--column", reading.columns), ("--leading-word", reading.leading_word),
        ("--item-by-row", reading.item_by_row),
    ) if is_there]:  # fmt: skip
        raise SweepError(
            "a run says itself what its rows, columns and verdicts mean",
            where={"run": name},
            hint=f"leave {meant[0]} out",
        )
    asks = asks_of(run)
    scales = scales_of(asks)
    frame = scan_judgments(run, columns={*CHEAP_COLUMNS, *apart})
    sweep = parse_sweep(run.read_text("sweep.toml"), source=run.address("sweep.toml"))
    items = pl.read_parquet(run.read_bytes("items.parquet"), columns=["benchmark", "options"])
    tied = tied_asks(asks)
    menus, shown = (menus_of(sweep, items, ties) for ties in (tied, set()))
    path = _labels_of(reading)
    labels = None if path is None else read_labels_table(path)
    notes = () if labels is None else (labels_line(frame, labels, str(path)),)
    warn_of(notes)
    return Snapshot(
        frame=frame, name=name, menus=menus, shown=shown, scales=scales,
        tolerance=dict(sweep.tolerance), run=run, labels=labels, notes=notes,
    )  # fmt: skip


def _snapshot_of_sheet_rows(
    source: JudgmentSource | RunDirectory,
    reading: Written,
    apart: Sequence[str],
    columns: Sequence[str],
) -> Snapshot:
    """Judgments of files or a frame, with what their reader must know of them."""
    name, where = name_of(source), {"file": name_of(source)}
    rows: str | Sequence[str] | pl.LazyFrame | None = name
    if isinstance(source, list | tuple):
        is_path = source and all(isinstance(one, str | PathLike) for one in source)
        rows = [name_of(one) for one in source] if is_path else None
    elif not isinstance(source, str | PathLike):
        rows = frame_of(source)
    elif not _is_plain_judgments_file(name) and "://" in name and not Path(name).suffix:
        from judgerel_ray.store import RunDirectory

        RunDirectory.open(name)  # says that there is none
    if rows is None:
        raise SweepError(
            "expected the path of a run directory or of a file of judgments, or a frame of them, "
            f"got {type(source).__name__}",
            hint="a frame of Polars or pandas, or an Arrow table",
        )
    names = naming_of_verdicts(reading.verdict_names if isinstance(reading, Named) else None)
    stated = by_name(reading.columns, "--column", joined_names, form="NAME=COLUMN") or {}
    tally = tally_file(
        rows, extra=apart, exact_values=reading.exact_values, reads=columns, stated=stated,
        labels=_labels_of(reading), leading_word=reading.leading_word, by_row=reading.item_by_row,
    )  # fmt: skip
    if tally.notes:
        warn_of(tally.notes)
    declared, notes = declared_options(tally.rows, where)
    most = None if notes else max(declared.values(), default=None)
    more = tuple(notes)
    if labels_need_rows(tally.nested):
        tally, lines = placed_tally(tally, extra=apart, n_options=most)
        more = (*more, *lines)
    more = (*more, *ties_counted(tally.nested, declared))
    if _labels_of(reading) is not None:
        right = judgments_with_gold(tally.rows, tally.nested)
        strange = find_unmatched_gold(
            right.group_by(GOLD).agg(pl.col("n").sum()), tally.nested.kinds
        )
        more = (*more, *([strange.line()] if strange else []))
    named = named_verdicts(tally, names, where)
    if tally.is_foreign and names is None and not named.known:
        ways, flags = ways_to_name(tally, where)
        raise SweepError(
            "verdicts may name options or places, and the options were shown in several orders: "
            f"{ways}",
            where=where,
            hint=flags,
        )
    more = (*more, *named.notes)
    if more:
        warn_of(more)
    return Snapshot(
        frame=named.rows,
        name=name,
        tally=None if named.changed else tally,
        shown={"": declared} if declared else {},
        verdicts_known=named.known,
        as_written=tally.spellings is None,
        notes=(*tally.notes, *more),
    )


def sides(
    sources: Sequence[JudgmentSource | RunDirectory], reading: Written
) -> list[tuple[JudgmentSource | RunDirectory, Written]]:
    """Several sources with what each is read by: a run beside a file by nothing that files need.

    Examples
    --------
    >>> a_file = pl.DataFrame({"q": ["x"]})
    >>> sides([a_file, a_file], Written(columns=["item_id=q"]))[1][1].columns
    ['item_id=q']
    """
    runs = [run_at(source) for source in sources]
    of_run = reading
    if None in runs:
        of_run = replace(reading, columns=None, leading_word=False, item_by_row=False)
        of_run = replace(of_run, verdict_names=None) if isinstance(of_run, Named) else of_run
    return [(source, reading) if run is None else (run, of_run)
            for source, run in zip(sources, runs, strict=True)]  # fmt: skip


def _labels_of(reading: Written) -> str | None:
    """The file of labels that a request names."""
    labels = reading.labels if isinstance(reading, Labelled) else None
    return None if labels is None else fspath(labels)


def made_matrices() -> pl.Expr:
    """Tell rows that confusion matrices are made of.

    Examples
    --------
    >>> pl.DataFrame({"protocol": ["best_of"]}).select(made_matrices()).item()
    False
    """
    return of_protocols(lambda one: one.makes_matrices)


def replicated(judged: Snapshot) -> Snapshot:
    """Leave out judgments of confusion asks: each is made once, so agreement has no meaning."""
    if judged.run is None:
        return judged
    once = protocols_where(lambda one: one.makes_matrices)
    if not judged.menus.keys() & set(once):
        return judged
    menus = {name: menu for name, menu in judged.menus.items() if name not in once}
    plain = ~made_matrices()
    return replace(judged, frame=judged.frame.filter(plain), only=(plain,), menus=menus)


def run_notes(run: RunDirectory | None) -> tuple[str, ...]:
    """Say what numbers of a run rest on: how much of it is there, and what of it is damaged.

    Numbers rest on every request that landed, or they were refused: damage that is left is in
    files that they do not use. Only what can be seen without reading these files is reported;
    ``judgerel verify`` reads them.

    Effects: reads. Retry: safe, also while a run goes on.
    """
    if run is None:
        return ()
    damage = unread_damage(run)
    lines = (unfinished(run), f"damaged: {damage}" if damage else None)
    return tuple(line for line in lines if line is not None)


def unread_damage(run: RunDirectory) -> str | None:
    """Name a file of a run that is damaged, where numbers were made all the same."""
    from judgerel_ray.store import checked_ledger, lost_files
    from judgerel_ray.store.status import altered_files

    ledger = checked_ledger(run)
    damaged = {**lost_files(run, ledger.commits), **dict.fromkeys(altered_files(run), "altered")}
    if not damaged:
        return None
    name, how = next(iter(damaged.items()))
    more = f" (and {count_of(len(damaged) - 1, 'more file')})" if damaged.keys() - {name} else ""
    return (
        f"{run.address(name)} is {how}{more}; these numbers do not use {'them' if more else 'it'} "
        f"and rest on all {count_of(ledger.n_rows, 'request')} that landed; judgerel verify "
        f"{run.url} names what is damaged"
    )


def unfinished(run: RunDirectory) -> str | None:
    """Say how little of a run its numbers rest on so far; None where it is done.

    Effects: reads. Retry: safe, also while a run goes on.
    """
    from judgerel_ray.store import checked_ledger
    from judgerel_ray.store.status import status_of

    status = status_of(run, checked_ledger(run))
    if status.state == "done":
        return None
    landed = sum(judge.landed for judge in status.judges)
    asked = [judge.asked for judge in status.judges if judge.asked is not None]
    if not asked or landed > sum(asked):  # more than was planned: what says so is lost
        return (
            f"unfinished: rests on {count_of(landed, 'request')}; how many were asked is not known"
        )
    going = ", and still going on" if status.state == "running" else ""
    clauses = [f"unfinished{going}: rests on {landed:,} of {sum(asked):,} requests"]
    clauses += [
        f"judge {one.judge} has none" for one in status.judges if one.asked and not one.landed
    ]
    return "; ".join(clauses)
