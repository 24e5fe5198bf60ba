"""From a run directory or a file of judgments to every question's accuracy and agreement."""

from __future__ import annotations

import polars as pl

from judgerel_ray.analyses.reliability.reducing import ReduceOptions, open_judgments, with_gold
from judgerel_ray.core import SweepError
from judgerel_ray.counting.given import Given, reading_of
from judgerel_ray.counting.intervals import AUTO
from judgerel_ray.counting.right_answers import GOLD
from judgerel_ray.counting.verdict_names import refuse_unknown
from judgerel_ray.counting.verdicts.policy import Missing


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
