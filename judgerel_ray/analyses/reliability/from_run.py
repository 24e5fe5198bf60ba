"""From a run directory or a file of judgments to coefficients, and what these numbers rest on.

They rest on what landed: requests that failed, that are pending, and damaged files are told beside.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import polars as pl

from judgerel_ray.analyses.reliability.reliability import reduce_judgments
from judgerel_ray.analyses.reliability.tolerance import with_bands, with_tolerance
from judgerel_ray.analyses.serving.from_run import (
    serving_asked,
    texts_are_gone,
    with_serving,
)
from judgerel_ray.core import Scale, SweepError, count_of
from judgerel_ray.core.traits import protocols_where
from judgerel_ray.counting.declared import (
    declared_menus,
    declared_scales,
    of_protocols,
    right_verdicts,
)
from judgerel_ray.counting.doubts import ties_counted
from judgerel_ray.counting.given import Given, is_plain, looked_at, reading_of, warn_of
from judgerel_ray.counting.groups.tally import Tally
from judgerel_ray.counting.intervals import AUTO, IntervalChoice
from judgerel_ray.counting.judgments import tally_file
from judgerel_ray.counting.outcomes import failed_requests
from judgerel_ray.counting.placeless import placed_tally
from judgerel_ray.counting.right_answers import (
    GOLD,
    Strangers,
    asked_with_gold,
    contradicting,
    gold_strangers,
)
from judgerel_ray.counting.verdict_names import named_verdicts, refuse_unknown
from judgerel_ray.counting.verdicts.places import declared_options
from judgerel_ray.counting.verdicts.policy import Missing
from judgerel_ray.stats import DEFAULT_COEFFICIENTS
from judgerel_ray.stats.agreement.agreement import CORRECTNESS

if TYPE_CHECKING:
    from judgerel_ray.store import RunDirectory
    from judgerel_ray.store.outputs import Output


@dataclass(frozen=True, slots=True, kw_only=True)
class ReduceOptions:
    """What ``reduce`` computes; None is the default of ARCHITECTURE 3.1."""

    by: tuple[str, ...] | None = None
    measurement: tuple[str, ...] | None = None
    missing: tuple[str, ...] = ("category", "drop")
    coefficients: tuple[str, ...] | None = None
    block: str = "0"
    items: str | None = None
    nuisance: tuple[str, ...] = ()
    tolerance: Mapping[str, float] | None = None
    bands: bool = False
    intervals: IntervalChoice = AUTO

    def __post_init__(self) -> None:
        if self.block not in ("0", "all"):
            raise SweepError(f"block must be 0 or all, got {self.block!r}")

    @property
    def told_apart(self) -> list[str]:
        """Columns that tell rows apart, besides those that make a unit."""
        right = [GOLD] if set(self.coefficients or ()) & set(CORRECTNESS) else []
        return [*(self.by or ()), *([self.items] if self.items else []), *self.nuisance, *right]


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


def _alike(menus: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """Sizes by benchmark, where all protocols have the same."""
    found: dict[str, set[int]] = {}
    for menu in menus.values():
        for benchmark, size in menu.items():
            found.setdefault(benchmark, set()).add(size)
    return {name: sizes.pop() for name, sizes in found.items() if len(sizes) == 1}


def reduce_path(path: str | Given, options: ReduceOptions | None = None) -> pl.DataFrame:
    """Coefficients of a run directory or a file of judgments.

    Effects: reads. Retry: safe, also while a run goes on.

    Raises
    ------
    SweepError
        If a name or a file is wrong.
    StoreError
        If the path is a folder but no run directory, or a file cannot be read.
    """
    options = options or ReduceOptions()
    with reading_of(path):
        judged = open_judgments(path, extra=options.told_apart)
        found = tolerated(judged, options)
        serving = serving_asked(judged, found, options)
    return with_serving(with_bands(found) if options.bands else found, serving)


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


def tolerated(judged: Judged, options: ReduceOptions) -> pl.DataFrame:
    """Coefficients by the options, against the tolerances given, or those of the run's own sweep.

    Without coefficients of choice, those that have a tolerance are among them.
    """
    own = {} if options.tolerance or judged.run is None else sweep_tolerance(judged.run)
    if (
        options.coefficients is None
        and not options.items
        and not set(own) <= set(DEFAULT_COEFFICIENTS)
    ):
        more = tuple(name for name in own if name not in DEFAULT_COEFFICIENTS)
        options = replace(options, coefficients=(*DEFAULT_COEFFICIENTS, *more))
    if set(options.coefficients or ()) & set(CORRECTNESS):
        judged = with_gold(judged)
    found = reduce_judged(judged, options)
    if options.tolerance:
        return with_tolerance(found, options.tolerance)
    there = set(found["coefficient"])
    own = {name: value for name, value in own.items() if name in there}
    return with_tolerance(found, own) if own else found


def sweep_tolerance(run: RunDirectory) -> dict[str, float]:
    """Tolerances that a run's sweep sets for itself."""
    from judgerel_ray.config import parse_sweep

    sweep = parse_sweep(run.read_text("sweep.toml"), source=run.address("sweep.toml"))
    return dict(sweep.tolerance)


def with_gold(judged: Judged) -> Judged:
    """The judgments, with the right option of each item where a run knows it.

    Warns
    -----
    ReadingWarning
        If gold of a file is none of its verdicts; where none of it is, it is left out, for an
        accuracy of 0 would say how it was written.
    """
    if judged.run is None:
        if GOLD not in judged.frame.collect_schema():
            return judged
        strangers = strangers_of(judged)
        if strangers is None or strangers.n_rows < strangers.of_rows:
            return judged
        unknown = judged.frame.with_columns(pl.lit(None, pl.String).alias(GOLD))
        return replace(judged, frame=unknown, tally=None)
    items = pl.read_parquet(judged.run.read_bytes("items.parquet"))
    right = right_verdicts(judged.run, items).select("benchmark", "item_id", "gold")
    if right.is_empty():
        return judged
    asked = pl.when(of_protocols(lambda one: one.compares)).then(pl.col("gold")).alias("gold")
    joined = judged.frame.join(right.lazy(), on=["benchmark", "item_id"], how="left")
    return replace(judged, frame=joined.with_columns(asked))


def strangers_of(judged: Judged, gold: pl.DataFrame | None = None) -> Strangers | None:
    """Tell what of gold, of a table or of the judgments' own, is no verdict, and say so in a line.

    So is gold of the judgments' own said that differs between the rows of one question.

    Warns
    -----
    ReadingWarning
        If there is any.
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


def open_judgments(
    path: str | Given, *, extra: Sequence[str] = (), reads: Sequence[str] = (), empty: bool = False
) -> Judged:
    """Judgments of a run directory (committed rows only), of a file or files, or of a frame.

    Counts of a file tell rows apart by the columns `extra`, too. A run's verdicts name options;
    what those of a file name in several orders, a column ``label`` tells, or what is given. Of a
    file, columns that not every verb uses are there where they are among `reads`.
    A run in which nothing landed is refused, unless it may be `empty`.

    Warns
    -----
    ReadingWarning
        If a file was read otherwise than it is written.
    """
    path = looked_at(path)
    rows = path.rows if isinstance(path, Given) else path
    names = path.verdict_names if isinstance(path, Given) else None
    run = path.run if isinstance(path, Given) else None
    if run is not None:
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
        if names == "place":
            raise SweepError(
                "verdicts of a run name options, and its column label their places",
                where={"run": str(path)},
                hint="leave --verdict-names out",
            )
        scales = declared_scales(run)
        frame = scan_judgments(run, columns={*CHEAP_COLUMNS, *extra})
        menus, shown = (declared_menus(run, ties=ties) for ties in (True, False))
        return Judged(frame=frame, menus=menus, shown=shown, scales=scales, run=run)
    if not is_plain(path) and "://" in str(path) and not Path(str(path)).suffix:
        from judgerel_ray.store import RunDirectory

        RunDirectory.open(str(path))  # says that there is none
    exact = isinstance(path, Given) and path.exact_values
    tally = tally_file(rows, extra=extra, exact_values=exact, reads=reads)
    warn_of(tally.notes)
    declared, notes = declared_options(tally.rows, {"file": str(path)})
    most = None if notes else max(declared.values(), default=None)
    tally, more = placed_tally(tally, extra=extra, n_options=most)
    more = (*notes, *more, *ties_counted(tally.nested, declared))
    named = named_verdicts(tally, names, {"file": str(path)})
    warn_of((*more, *named.notes))
    return Judged(
        frame=named.rows,
        tally=None if named.changed else tally,
        shown={"": declared} if declared else {},
        verdicts_known=named.known,
        as_written=tally.spellings is None,
        notes=(*tally.notes, *more, *named.notes),
    )


def beside_table(path: str, flag: str) -> pl.DataFrame:
    """A table that a flag names beside the judgments, read as they are.

    Raises
    ------
    SweepError
        If it cannot be read, naming the flag.
    """
    from judgerel_ray.counting.files.source import read_source, readable

    try:
        source = read_source(path)
        warn_of(source.notes)
        with readable(source.where):
            return source.rows.collect()
    except SweepError as error:
        reason = error.problem.removeprefix("cannot be read: ")
        problem = f"{flag} cannot be read: {reason}"
        raise SweepError(problem, where=error.where, hint=error.hint) from error


def write_coefficients(
    frame: pl.DataFrame,
    out: str | Output,
    *,
    reads: Sequence[str] = (),
    force: bool = False,
) -> None:
    """Write coefficients by the file's ending: .parquet, .csv or .json.

    `reads` names what they are of, which `out` must not be; by `force` a file at `out` may go that
    is no earlier output. An `out` of :func:`output_to` has both.

    Effects: writes one file, whole. Retry: safe.

    Raises
    ------
    SweepError
        If `out` must not be written.
    """
    from judgerel_ray.analyses.reliability.show import coefficients_json
    from judgerel_ray.store.outputs import output_to

    output = output_to(out, "table", reads=reads, force=force) if isinstance(out, str) else out
    if output.ending == ".json":
        output.write(f"{coefficients_json(frame)}\n".encode())
    else:
        output.write_frame(frame)


def question_path(path: str | Given, options: ReduceOptions | None = None) -> pl.DataFrame:
    """Accuracy and agreement of every question of a run directory or a file of judgments.

    Effects: reads. Retry: safe, also while a run goes on.

    Raises
    ------
    SweepError, StoreError
        As of :func:`.reduce_path`.
    """
    from judgerel_ray.analyses.reliability.correctness import question_table

    options = options or ReduceOptions()
    drawn = options.intervals != AUTO
    if (
        options.coefficients
        or options.tolerance
        or options.bands
        or options.items
        or options.nuisance
        or drawn
    ):
        raise SweepError(
            "questions have columns and intervals of their own",
            hint="leave out coefficients, items, tolerance, bands and interval",
        )
    missing: Missing = "category" if "category" in options.missing else "drop"
    with reading_of(path):
        judged = open_judgments(path, extra=[*(options.by or ()), GOLD])
        if not judged.verdicts_known and GOLD in judged.frame.collect_schema().names():
            refuse_unknown("accuracy", {"file": str(path)})
        return question_table(
            with_gold(judged).source,
            by=options.by,
            missing=missing,
            block="all" if options.block == "all" else 0,
        )


def reduce_judged(judged: Judged, options: ReduceOptions) -> pl.DataFrame:
    """Coefficients by the options.

    Protocols that share a benchmark have menus of their own (five answers, or right and wrong):
    each is reduced by itself, or its chance agreement would be that of another's menu.
    """
    together = judged.n_categories
    apart = len(judged.menus) > 1 and (options.by is None or "protocol" in options.by)
    if not apart or all(together.items() >= menu.items() for menu in judged.menus.values()):
        return _reduce_source(judged, judged.source, together, judged.n_options, options)
    parts = []
    for protocol, menu in sorted(judged.menus.items()):
        rows = judged.frame.filter((pl.col("protocol") == protocol) & (pl.col("role") == "judge"))
        if not rows.select("role").head(1).collect().is_empty():
            shown = judged.shown.get(protocol, menu)
            parts.append(_reduce_source(judged, rows, menu, shown, options))
    if not parts:
        return _reduce_source(judged, judged.source, together, judged.n_options, options)
    return pl.concat(parts, how="diagonal_relaxed")


def _reduce_source(
    judged: Judged,
    source: pl.LazyFrame | Tally,
    n_categories: Mapping[str, int],
    n_options: Mapping[str, int],
    options: ReduceOptions,
) -> pl.DataFrame:
    """Coefficients of some judgments."""
    block: Literal[0, "all"] = "all" if options.block == "all" else 0
    return reduce_judgments(
        source,
        by=options.by,
        measurement=options.measurement,
        missing=options.missing,
        coefficients=options.coefficients,
        block=block,
        n_categories=n_categories,
        items=options.items,
        nuisance=options.nuisance,
        intervals=options.intervals,
        scales=judged.scales,
        verdicts_known=judged.verdicts_known,
        n_options=n_options,
    )


_NO_TEXTS = (
    "texts of the run are gone: repeats at temperature 0 are compared by their verdicts alone; "
    "judgerel verify names the files"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduced:
    """Coefficients; of the same groups, failed requests by reason, and the serving's noise."""

    coefficients: pl.DataFrame
    failures: pl.DataFrame
    serving: pl.DataFrame
    caution: str | None = None
    """What makes the numbers other than they seem."""


def reduce_with_basis(path: str | Given, options: ReduceOptions) -> Reduced:
    """Coefficients, and what their reader must know of the judgments.

    Effects, Raises: as :func:`judgerel_ray.analyses.reliability.from_run.reduce_path`.
    """
    with reading_of(path):
        judged = open_judgments(path, extra=options.told_apart)
        found = tolerated(judged, options)
        failures = failures_of(judged, found, options)
        serving = serving_asked(judged, found, options)
        caution = _of_later_blocks(judged) if options.block == "all" else None
        if judged.run and options.coefficients is None and texts_are_gone(serving):
            caution = "; ".join(filter(None, [caution, _NO_TEXTS]))
    found = with_bands(found) if options.bands else found
    return Reduced(coefficients=found, failures=failures, serving=serving, caution=caution)


def _of_later_blocks(judged: Judged) -> str | None:
    """Say that replications were asked because earlier ones disagreed, where any were."""
    if "block" not in judged.frame.collect_schema().names():
        return None
    n_later = judged.frame.filter(pl.col("block") > 0).select(pl.len()).collect().item()
    if not n_later:
        return None
    return (
        f"{n_later:,} of these replications are of later blocks, asked where earlier ones "
        "disagreed: agreement and Fleiss' kappa come out too high, Krippendorff's alpha, which "
        "weighs a question by its replications, too low; --block 0 leaves them out"
    )


def failures_of(
    judged: Judged, coefficients: pl.DataFrame, options: ReduceOptions | None = None
) -> pl.DataFrame:
    """Failed requests of the groups that coefficients have, by reason."""
    names = coefficients.columns
    groups = names[: names.index("coefficient")]
    block: Literal[0, "all"] = "all" if options and options.block == "all" else 0
    source = judged.source
    if judged.run is not None:
        from judgerel_ray.counting.outcomes import failed_rows
        from judgerel_ray.store import checked_ledger

        rows = failed_rows(judged.run, checked_ledger(judged.run))
        source = judged.frame.head(0) if rows is None else rows
    return failed_requests(source, groups, block=block)


def basis_lines(path: str | Given) -> list[str]:
    """Say what numbers of a run rest on: how much of it is there, and what of it is damaged.

    Whatever the numbers are, they are of every request that landed, or they were refused: damage
    that is left is in files that they are not made of. Only what can be seen without reading these
    is told; ``judgerel verify`` reads them.

    Effects: reads. Retry: safe, also while a run goes on.

    Raises
    ------
    StoreError
        If records of what landed, or the plan, are damaged.
    """
    opened = looked_at(path)
    if not isinstance(opened, Given) or opened.run is None:
        return []
    damage = unread_damage(opened.run)
    lines = (unfinished(opened), f"damaged: {damage}" if damage else None)
    return [line for line in lines if line is not None]


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
        f"{run.address(name)} is {how}{more}; these numbers are made of no byte of it, "
        f"and rest on all {count_of(ledger.n_rows, 'request')} that landed; judgerel verify "
        f"{run.url} names what is damaged"
    )


def unfinished(path: str | Given) -> str | None:
    """Say how little of a run its numbers rest on so far; None where it is done, or a file.

    Effects: reads. Retry: safe, also while a run goes on.

    Raises
    ------
    StoreError
        If a file of the run cannot be read.
    """
    opened = looked_at(path)
    if not isinstance(opened, Given) or opened.run is None:
        return None
    from judgerel_ray.store import checked_ledger
    from judgerel_ray.store.status import status_of

    status = status_of(opened.run, checked_ledger(opened.run))
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
