"""Judgments opened, with what is declared about them: of a run, of files, or of a frame.

Verbs begin here: what a run declares (menus, scales, tolerances, gold) and how a file was read
stand beside the rows, so that every analysis counts the same judgments.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from judgerel_ray.core import Scale, SweepError
from judgerel_ray.core.errors import Unreadable
from judgerel_ray.core.traits import protocols_where
from judgerel_ray.counting.columns import is_judge, of_protocols
from judgerel_ray.counting.doubts import ties_counted
from judgerel_ray.counting.given import Given, is_plain, looked_at, warn_of
from judgerel_ray.counting.groups.tally import Tally
from judgerel_ray.counting.judgments import tally_file
from judgerel_ray.counting.placeless import placed_tally
from judgerel_ray.counting.right_answers import (
    GOLD,
    WHOSE,
    Strangers,
    asked_with_gold,
    contradicting,
    gold_strangers,
    own_words_line,
    words_of_their_own,
)
from judgerel_ray.counting.verdict_names import named_verdicts
from judgerel_ray.counting.verdicts.places import declared_options

if TYPE_CHECKING:
    from judgerel_ray.config import Sweep
    from judgerel_ray.store import RunDirectory


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """Judgments with what is declared about them, wherever they come from."""

    frame: pl.LazyFrame
    menus: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Verdicts declared, by protocol and benchmark: the options, and a tie where there is one."""
    shown: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Options alone, likewise: what is shown in orders, which a tie is not."""
    scales: Mapping[str, Scale] = field(default_factory=dict)
    """Scales of ratings that a run declares, by name."""
    tolerance: Mapping[str, float] = field(default_factory=dict)
    """Tolerances that a run's sweep sets for itself, by coefficient."""
    run: RunDirectory | None = None
    tally: Tally | None = None
    """Their counts, where they are known from checking them."""
    verdicts_known: bool = True
    """Whether verdicts name options, where options were shown in several orders."""
    as_written: bool = True
    """Whether every spelling is a verdict of its own, as in a run."""
    notes: tuple[str, ...] = ()
    """How a file was read, as its reader was warned, a line each."""
    only: tuple[pl.Expr, ...] = ()
    """What rows were chosen by, of those of a run."""
    where: Mapping[str, object] = field(default_factory=dict)
    """The file, as errors name it."""

    @property
    def keyed(self) -> pl.LazyFrame:
        """The judgments with keys and seeds, most of a run's bytes: read where they are needed."""
        if self.run is None:
            return self.frame
        from judgerel_ray.store import scan_judgments

        rows = scan_judgments(self.run)
        return rows.filter(*self.only) if self.only else rows

    @property
    def source(self) -> pl.LazyFrame | Tally:
        """What reducers start from."""
        return self.tally or self.frame

    @property
    def n_categories(self) -> dict[str, int]:
        """Verdicts by benchmark, of those that all protocols declare alike."""
        return _alike(self.menus)

    @property
    def n_options(self) -> dict[str, int]:
        """Options by benchmark, likewise."""
        return _alike(self.shown)

    def by_menu(self) -> list[Judged]:
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


def _alike(menus: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """Sizes by benchmark, where all protocols have the same."""
    found: dict[str, set[int]] = {}
    for menu in menus.values():
        for benchmark, size in menu.items():
            found.setdefault(benchmark, set()).add(size)
    return {name: sizes.pop() for name, sizes in found.items() if len(sizes) == 1}


def open_judgments(
    path: str | Given, *, extra: Sequence[str] = (), reads: Sequence[str] = (), empty: bool = False
) -> Judged:
    """Judgments of a run directory (committed rows only), of a file or files, or of a frame.

    Counts of a file tell rows apart by the columns `extra`, too. A run's verdicts name options;
    what those of a file name in several orders, a column ``label`` tells, or what is given. Of a
    file, columns that not every verb uses are there where they are among `reads`.
    A run in which nothing landed is refused, unless it may be `empty`.
    """
    path = looked_at(path)
    if not isinstance(path, Given) or path.run is None:
        return _of_rows(path, extra, reads)
    return _of_run(path, path.run, extra, empty=empty)


def _of_run(path: Given, run: RunDirectory, extra: Sequence[str], *, empty: bool) -> Judged:
    """Judgments of a run, of its committed rows."""
    from judgerel_ray.config import parse_sweep
    from judgerel_ray.store import CHEAP_COLUMNS, checked_ledger, scan_judgments

    # One without a session has not begun, one without its sweep lost it: readers say which.
    begun = run.exists("sweep.toml") and run.names("commits")
    if begun and not empty and not checked_ledger(run).n_rows:
        raise SweepError(
            "nothing has landed in the run yet",
            where={"run": str(path)},
            hint=f"judgerel status {path} tells whether it is at work; "
            f"judgerel run SWEEP.toml --out {path} goes on with it",
        )
    if path.verdict_names == "place":
        raise SweepError(
            "verdicts of a run name options, and its column label their places",
            where={"run": str(path)},
            hint="leave --verdict-names out",
        )
    asks = _asks(run)
    scales = _scales_of(asks)
    frame = scan_judgments(run, columns={*CHEAP_COLUMNS, *extra})
    sweep = parse_sweep(run.read_text("sweep.toml"), source=run.address("sweep.toml"))
    items = pl.read_parquet(run.read_bytes("items.parquet"), columns=["benchmark", "options"])
    tied = _with_ties(asks)
    menus, shown = (_menus_of(sweep, items, ties) for ties in (tied, set()))
    return Judged(
        frame=frame, menus=menus, shown=shown, scales=scales, tolerance=dict(sweep.tolerance),
        run=run,
    )  # fmt: skip


def _of_rows(path: str | Given, extra: Sequence[str], reads: Sequence[str]) -> Judged:
    """Judgments of files or a frame, with what their reader must know of them."""
    opened = path if isinstance(path, Given) else Given(rows=path)
    if not is_plain(path) and "://" in str(path) and not Path(str(path)).suffix:
        from judgerel_ray.store import RunDirectory

        RunDirectory.open(str(path))  # says that there is none
    tally = tally_file(opened.rows, extra=extra, exact_values=opened.exact_values, reads=reads)
    warn_of(tally.notes)
    declared, notes = declared_options(tally.rows, {"file": str(path)})
    most = None if notes else max(declared.values(), default=None)
    tally, more = placed_tally(tally, extra=extra, n_options=most)
    more = (*notes, *more, *ties_counted(tally.nested, declared))
    named = named_verdicts(tally, opened.verdict_names, {"file": str(path)})
    warn_of((*more, *named.notes))
    return Judged(
        frame=named.rows,
        tally=None if named.changed else tally,
        shown={"": declared} if declared else {},
        verdicts_known=named.known,
        as_written=tally.spellings is None,
        notes=(*tally.notes, *more, *named.notes),
        where={"file": str(path)},
    )


@contextmanager
def naming(judged: Judged) -> Iterator[None]:
    """Name the file of judgments in errors of what is made of them, where these name none.

    Examples
    --------
    >>> with naming(Judged(frame=pl.LazyFrame(), where={"file": "a.csv"})):
    ...     raise SweepError("no verdicts")
    Traceback (most recent call last):
    judgerel_ray.core.errors.SweepError: no verdicts [file=a.csv]
    """
    try:
        yield
    except SweepError as error:
        if "file" not in error.where:
            error.where = {**judged.where, **error.where}
        raise


def made_matrices() -> pl.Expr:
    """Tell rows that confusion matrices are made of.

    Examples
    --------
    >>> pl.DataFrame({"protocol": ["best_of"]}).select(made_matrices()).item()
    False
    """
    return of_protocols(lambda one: one.makes_matrices)


def replicated(judged: Judged) -> Judged:
    """Leave out judgments of confusion asks: each is made once, so agreement has no meaning."""
    once = protocols_where(lambda one: one.makes_matrices)
    if judged.run is None or not judged.menus.keys() & set(once):
        return judged
    menus = {name: menu for name, menu in judged.menus.items() if name not in once}
    plain = ~made_matrices()
    return replace(judged, frame=judged.frame.filter(plain), only=(plain,), menus=menus)


def with_gold(judged: Judged) -> Judged:
    """The judgments, with the right option of each item where a run knows it."""
    if judged.run is None:
        if GOLD not in judged.frame.collect_schema():
            return judged
        strangers = strangers_of(judged)
        if strangers is None or strangers.n_rows < strangers.of_rows:
            return _without_strange_gold(judged)
        unknown = judged.frame.with_columns(pl.lit(None, pl.String).alias(GOLD))
        return replace(judged, frame=unknown, tally=None)
    items = pl.read_parquet(judged.run.read_bytes("items.parquet"))
    right = right_verdicts(judged.run, items).select("benchmark", "item_id", "gold")
    if right.is_empty():
        return judged
    asked = (
        pl.when(of_protocols(lambda one: one.has_right_option)).then(pl.col("gold")).alias("gold")
    )
    joined = judged.frame.join(right.lazy(), on=["benchmark", "item_id"], how="left")
    return replace(judged, frame=joined.with_columns(asked))


def _without_strange_gold(judged: Judged) -> Judged:
    """The judgments of a file, without gold of judges none of whose words it is, said in a line."""
    columns = judged.frame.collect_schema().names()
    whose = [name for name in WHOSE if name in columns]
    if not whose:
        return judged
    rows = judged.frame.filter(is_judge(columns))
    counts = None if judged.tally is None else judged.tally.nested
    if counts is not None and GOLD in counts.units.columns:
        units = counts.units.filter(is_judge(counts.units.columns))
        rows = replace(counts, units=units).long([*whose, "item_id", GOLD]).lazy()
    found = words_of_their_own(rows, whose)
    if found.is_empty():
        return judged
    warn_of([own_words_line(found, whose)])
    marked = judged.frame.join(
        found.lazy().select(*whose, pl.lit(True).alias("__own")),
        on=whose, how="left", nulls_equal=True, maintain_order="left",
    )  # fmt: skip
    known = marked.with_columns(pl.when(pl.col("__own").is_null()).then(GOLD).alias(GOLD))
    return replace(judged, frame=known.drop("__own"), tally=None)


def strangers_of(judged: Judged, gold: pl.DataFrame | None = None) -> Strangers | None:
    """Tell what of gold, of a table or of the judgments' own, is no verdict, and say so in a line.

    So is gold of the judgments' own said that differs between the rows of one question.
    """
    counts = None if judged.tally is None else judged.tally.nested
    asked = asked_with_gold(judged.frame, counts) if gold is None else gold.with_columns(n=1)
    if counts is not None:
        kinds = counts.kinds
    else:
        answer_columns = [
            name for name in ("verdict", "score") if name in judged.frame.collect_schema()
        ]
        kinds = judged.frame.select(answer_columns).unique().collect(engine="streaming")
    found = gold_strangers(asked.group_by(GOLD).agg(pl.col("n").sum()), kinds)
    differing = contradicting(asked) if gold is None else None
    warn_of(line for line in (found and found.line(), differing) if line)
    return found


def beside_table(path: str, flag: str) -> pl.DataFrame:
    """A table that a flag names beside the judgments, read as they are."""
    from judgerel_ray.counting.files.source import read_source, readable

    try:
        source = read_source(path)
        warn_of(source.notes)
        with readable(source.where):
            return source.rows.collect()
    except SweepError as error:
        reason = error.reason if isinstance(error, Unreadable) else error.problem
        problem = f"{flag} cannot be read: {reason}"
        raise SweepError(problem, where=error.where, hint=error.hint) from error


def declared_scales(run: RunDirectory) -> dict[str, Scale]:
    """Scales of a run's own, as its manifest tells them; none where that is gone."""
    return _scales_of(_asks(run))


def _scales_of(asks: Sequence[Mapping[str, Any]]) -> dict[str, Scale]:
    """Scales that asks declare."""
    by_ask = [ask.get("scales", {}) for ask in asks]
    return {
        name: Scale(**{**one, "labels": tuple(one["labels"])})
        for scales in by_ask
        if isinstance(scales, Mapping)
        for name, one in scales.items()
    }


def _asks(run: RunDirectory) -> list[Mapping[str, Any]]:
    """What a run's manifest tells of its asks; nothing where that is gone."""
    from judgerel_ray.store import read_manifest

    sweep = read_manifest(run).get("sweep")
    asks = sweep.get("ask", []) if isinstance(sweep, Mapping) else []
    return [ask for ask in asks if isinstance(ask, Mapping)]


def _menus_of(
    sweep: Sweep, items: pl.DataFrame, tied: Collection[tuple[str, str]]
) -> dict[str, dict[str, int]]:
    """Options on the menu by protocol and benchmark, where all items of it have as many.

    A tie is one of them where protocol and benchmark are among `tied`.
    """
    menus: dict[tuple[str, str], set[int]] = {}
    for index, ask in enumerate(sweep.ask):
        benchmarks = ask_benchmarks(sweep, index, items)
        tie = (ask.protocol, ask.benchmark) in tied
        asked = ask.kind
        if not asked.traits.judges:
            continue
        for benchmark in benchmarks:
            listed = items.filter(pl.col("benchmark") == benchmark)
            sizes = asked.menu_sizes(ask, listed["options"].list.len().to_list(), int(tie))
            menus.setdefault((ask.protocol, benchmark), set()).update(sizes)
    declared: dict[str, dict[str, int]] = {protocol: {} for protocol, _ in menus}
    for (protocol, benchmark), found in menus.items():
        if len(found) == 1:
            declared[protocol][benchmark] = found.pop()
    return declared


def _with_ties(asks: Sequence[Mapping[str, Any]]) -> set[tuple[str, str]]:
    """Protocol and benchmark of the asks whose templates declare a tie."""
    return {
        (str(ask.get("protocol")), str(ask.get("benchmark")))
        for ask in asks
        for form in ask.get("forms", {}).values()
        if form["ties"]
    }


def right_verdicts(run: RunDirectory, items: pl.DataFrame) -> pl.DataFrame:
    """Items of a run whose gold is a verdict: an option of theirs, or a tie where one is declared.

    Gold that is none is a reference answer.
    """
    names = pl.col("options").list.eval(pl.element().struct.field("option_id"))
    is_right = names.list.contains(pl.col("gold"))
    tied = {benchmark for _, benchmark in _with_ties(_asks(run))}  # a protocol that may have one
    if tied:
        # A loader of one's own file leaves the name of the benchmark to the file.
        others = tied - set(items["benchmark"])
        has_tie = pl.lit(True) if others else pl.col("benchmark").is_in(sorted(tied))
        is_right = is_right | (has_tie & (pl.col("gold") == "tie"))
    return items.filter(is_right)


def ask_benchmarks(sweep: Sweep, index: int, items: pl.DataFrame) -> list[str]:
    """Name the benchmarks of an ask's items: its own name, or all where a loader names several.

    Examples
    --------
    >>> from judgerel_ray.config import ask_table, Judge, Sweep
    >>> ask = ask_table(protocol="respond", benchmark="b", path="p")
    >>> sweep = Sweep(name="s", judge=(Judge(name="j", model="m"),), ask=(ask,))
    >>> ask_benchmarks(sweep, 0, pl.DataFrame({"benchmark": ["b", "c"]}))
    ['b']
    """
    names = items["benchmark"].unique(maintain_order=True).to_list()
    own = sweep.ask[index].benchmark
    return [own] if own in names else names
