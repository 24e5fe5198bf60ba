"""From a run directory or a file of judgments to coefficients, and what these numbers rest on.

They rest on what landed: requests that failed, that are pending, and damaged files are told beside.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars as pl

from judgerel_ray.analyses.reliability.reliability import reduce_judgments
from judgerel_ray.analyses.reliability.tolerance import with_bands, with_tolerance
from judgerel_ray.analyses.serving.from_run import (
    serving_asked,
    texts_are_gone,
    with_serving,
)
from judgerel_ray.core import SweepError
from judgerel_ray.counting.given import Given, reading_of
from judgerel_ray.counting.groups.grouping import Block
from judgerel_ray.counting.intervals import AUTO, IntervalChoice
from judgerel_ray.counting.judged import Judged, open_judgments, with_gold
from judgerel_ray.counting.outcomes import failed_requests
from judgerel_ray.counting.right_answers import (
    GOLD,
)
from judgerel_ray.counting.verdict_names import refuse_unknown
from judgerel_ray.counting.verdicts.policy import Missing
from judgerel_ray.stats import DEFAULT_COEFFICIENTS
from judgerel_ray.stats.agreement.agreement import CORRECTNESS

if TYPE_CHECKING:
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
    def counted_block(self) -> Block:
        """The block that counts, or all of them."""
        return "all" if self.block == "all" else 0

    @property
    def told_apart(self) -> list[str]:
        """Columns that tell rows apart, besides those that make a unit."""
        right = [GOLD] if set(self.coefficients or ()) & set(CORRECTNESS) else []
        return [*(self.by or ()), *([self.items] if self.items else []), *self.nuisance, *right]


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
        serving = serving_asked(judged, found, options.coefficients, block=options.counted_block)
    return with_serving(with_bands(found) if options.bands else found, serving)


def tolerated(judged: Judged, options: ReduceOptions) -> pl.DataFrame:
    """Coefficients by the options, against the tolerances given, or those of the run's own sweep.

    Without coefficients of choice, those that have a tolerance are among them.
    """
    own = {} if options.tolerance else judged.tolerance
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
            block=options.counted_block,
        )


def reduce_judged(judged: Judged, options: ReduceOptions) -> pl.DataFrame:
    """Coefficients by the options: of each protocol by itself, where menus differ."""
    apart = options.by is None or "protocol" in options.by
    found = [
        reduce_judgments(
            one.source,
            by=options.by,
            measurement=options.measurement,
            missing=options.missing,
            coefficients=options.coefficients,
            block=options.counted_block,
            n_categories=one.n_categories,
            items=options.items,
            nuisance=options.nuisance,
            intervals=options.intervals,
            scales=one.scales,
            verdicts_known=one.verdicts_known,
            n_options=one.n_options,
        )
        for one in (judged.by_menu() if apart else [judged])
    ]
    return pl.concat(found, how="diagonal_relaxed") if len(found) > 1 else found[0]


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
        serving = serving_asked(judged, found, options.coefficients, block=options.counted_block)
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
    block = options.counted_block if options else 0
    source = judged.source
    if judged.run is not None:
        from judgerel_ray.counting.outcomes import failed_rows
        from judgerel_ray.store import checked_ledger

        rows = failed_rows(judged.run, checked_ledger(judged.run))
        source = judged.frame.head(0) if rows is None else rows
    return failed_requests(source, groups, block=block)
