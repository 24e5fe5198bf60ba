"""Judgments opened for a test: they stay usable, as only errors of reading need the context."""

from __future__ import annotations

import polars as pl

from judgerel_ray.core.verb import Named
from judgerel_ray.counting.right_answers import GOLD
from judgerel_ray.counting.snapshot import Snapshot
from judgerel_ray.measuring.reliability import (
    Reduced,
    ReduceOptions,
    as_stated,
    questions_of,
    reduce_judged,
    reduced,
    with_stated_tolerance,
)


def snapshot(source, reading: Named | None = None, **columns) -> Snapshot:
    """Judgments of a run, a file or a frame."""
    with Snapshot.open(source, reading, **columns) as judged:
        return judged


def reduction(source, options: ReduceOptions | None = None) -> Reduced:
    """Coefficients, failures, serving noise and caution."""
    options = options or ReduceOptions()
    with Snapshot.open(source, apart=options.extra_keys) as judged:
        with judged.hinting_at_distributions():
            found = reduce_judged(*as_stated(judged, options))
            found = with_stated_tolerance(found, judged, options)
        return reduced(judged, found, options)


def coefficients(source, options: ReduceOptions | None = None) -> pl.DataFrame:
    """Coefficients, and rows of serving noise below."""
    return reduction(source, options).rows


def question_rows(source, options: ReduceOptions | None = None) -> pl.DataFrame:
    """Every question."""
    with Snapshot.open(source, apart=[GOLD]) as judged:
        return questions_of(judged, options)


def answers(source) -> Snapshot:
    """Judgments with what tells how sure an answer is, and what is right."""
    return snapshot(source, columns=["confidence", GOLD])
