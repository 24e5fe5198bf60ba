"""From a run directory or a file of judgments to coefficients, and what these numbers rest on.

They rest on what landed: requests that failed, that are pending, and damaged files are told beside.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import polars as pl

from judgerel_ray.core import SweepError
from judgerel_ray.counting.gold import with_gold
from judgerel_ray.counting.groups.grouping import TEMPERATURE
from judgerel_ray.counting.intervals import AUTO
from judgerel_ray.counting.right_answers import GOLD
from judgerel_ray.counting.snapshot import Snapshot
from judgerel_ray.counting.verdict_names import refuse_unknown
from judgerel_ray.counting.verdicts.policy import Missing
from judgerel_ray.measuring.reliability import ReduceOptions, failures_of
from judgerel_ray.measuring.serving import SERVING, requested_serving, texts_are_gone, with_serving


def questions_of(judged: Snapshot, options: ReduceOptions | None = None) -> pl.DataFrame:
    """Accuracy and agreement of every question of judgments opened with their gold."""
    from judgerel_ray.measuring.correctness import correctness_by_question

    options = options or ReduceOptions()
    drawn = options.intervals != AUTO
    if options.coefficients or options.tolerance or options.items or options.nuisance or drawn:
        raise SweepError(
            "questions have columns and intervals of their own",
            hint="leave out coefficients, items, tolerance and interval",
        )
    missing: Missing = "category" if "category" in options.missing else "drop"
    if not judged.verdicts_known and GOLD in judged.frame.collect_schema().names():
        refuse_unknown("accuracy", judged.where)
    return correctness_by_question(
        with_gold(judged).source, by=options.by, missing=missing, block=options.counted_block
    )


_NO_TEXTS = (
    "texts of the run are gone: repeats at temperature 0 are compared by their verdicts alone; "
    "judgerel verify names the files"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reduced:
    """Coefficients; of the same groups, failed requests by reason, and the serving's noise."""

    coefficients: pl.DataFrame
    failures: pl.DataFrame | None  # None where none failed.
    serving: pl.DataFrame | None  # None where no temperature is recorded, or it was not asked for.
    caution: str | None = None  # What makes the numbers other than they seem.

    @property
    def rows(self) -> pl.DataFrame:
        """Coefficients, and below them the rows of the serving's noise."""
        if self.serving is None:
            return self.coefficients
        return with_serving(self.coefficients, self.serving)


@contextmanager
def hinting_at_distributions(judged: Snapshot) -> Iterator[None]:
    """Say in errors without a hint that a run has verdict distributions, where it has."""
    try:
        yield
    except SweepError as error:
        if error.hint is None and judged.run is not None and judged.run.names("distributions"):
            what = "the run has verdict distributions, and nothing sampled"
            hint = f"judgerel distributions {judged.name}: {what}"
            raise SweepError(error.problem, where=error.where, hint=hint) from error
        raise


def reduced(judged: Snapshot, coefficients: pl.DataFrame, options: ReduceOptions) -> Reduced:
    """Coefficients with what their reader must know of the judgments."""
    failures = failures_of(judged, coefficients, options)
    serving, named = None, options.coefficients
    # Without temperatures there is no noise to see; who names it is told so.
    if {*SERVING} & {*named} if named else TEMPERATURE in judged.frame.collect_schema():
        serving = requested_serving(judged, coefficients, named, block=options.counted_block)
    caution = _of_later_blocks(judged) if options.block == "all" else None
    if judged.run and named is None and serving is not None and texts_are_gone(serving):
        caution = "; ".join(filter(None, [caution, _NO_TEXTS]))
    return Reduced(coefficients=coefficients, failures=failures, serving=serving, caution=caution)


def _of_later_blocks(judged: Snapshot) -> str | None:
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
