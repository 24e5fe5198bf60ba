"""From a run directory or a file of judgments to coefficients, and what these numbers rest on.

They rest on what landed: requests that failed, that are pending, and damaged files are told beside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from judgerel_ray.core import SweepError
from judgerel_ray.counting.given import Given, reading_of
from judgerel_ray.counting.intervals import AUTO
from judgerel_ray.counting.judged import Judged, open_judgments, with_gold
from judgerel_ray.counting.right_answers import (
    GOLD,
)
from judgerel_ray.counting.verdict_names import refuse_unknown
from judgerel_ray.counting.verdicts.policy import Missing
from judgerel_ray.measuring.failures import failures_of
from judgerel_ray.measuring.reducing import ReduceOptions, tolerated
from judgerel_ray.measuring.serving import (
    serving_asked,
    texts_are_gone,
)

if TYPE_CHECKING:
    from judgerel_ray.store.outputs import Output


def write_coefficients(
    frame: pl.DataFrame,
    out: str | Output,
    *,
    reads: Sequence[str] = (),
    force: bool = False,
) -> None:
    """Write coefficients by the file's ending: .parquet, .csv or .json.

    `reads` names what they are of, which `out` must not be; by `force` a file with other
    content at `out` may go. An `out` of :func:`output_to` has both.

    Effects: writes one file, whole. Retry: safe.
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
    """
    from judgerel_ray.measuring.correctness import question_table

    options = options or ReduceOptions()
    drawn = options.intervals != AUTO
    if options.coefficients or options.tolerance or options.items or options.nuisance or drawn:
        raise SweepError(
            "questions have columns and intervals of their own",
            hint="leave out coefficients, items, tolerance and interval",
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

    Effects, Raises: as :func:`judgerel_ray.measuring.reducing.reduce_path`.
    """
    with reading_of(path):
        judged = open_judgments(path, extra=options.told_apart)
        found = tolerated(judged, options)
        failures = failures_of(judged, found, options)
        serving = serving_asked(judged, found, options.coefficients, block=options.counted_block)
        caution = _of_later_blocks(judged) if options.block == "all" else None
        if judged.run and options.coefficients is None and texts_are_gone(serving):
            caution = "; ".join(filter(None, [caution, _NO_TEXTS]))
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
