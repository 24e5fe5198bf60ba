"""From a run or a file of judgments, and labels where there are any, to corrected scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from judgerel_ray.analyses.correction.correction import (
    CorrectionTables,
    agreed_tables,
    correction_tables,
)
from judgerel_ray.analyses.correction.labels import (
    LABELLED,
    gold_as_labels,
    labelled_units,
    passes,
    read_labels,
)
from judgerel_ray.analyses.correction.show import correction_sections
from judgerel_ray.blocks.blocks import FirstScreen, Section
from judgerel_ray.core import SweepError
from judgerel_ray.counting.snapshot import Snapshot

if TYPE_CHECKING:
    from judgerel_ray.measuring.page_data import PageData


def correction_of(
    judged: Snapshot,
    labels: str | None,
    *,
    by: Sequence[str] | None = None,
    positive: str | None = None,
    width: float | None = None,
    seed: int = 0,
) -> CorrectionTables:
    """Correct the scores of judgments, opened with their responders and criteria."""
    if width is not None and not 0 < width < float("inf"):
        raise SweepError(f"--width must be a number above 0, got {width!r}")
    people = gold_as_labels(judged) if labels is None else read_labels(labels)
    if people is not None:
        file = labels or judged.name
        return _corrected_judgments(judged, people, file, by=by, positive=positive, width=width)
    if width is not None:
        raise SweepError(
            "--width needs --labels, or a column gold: without any, nothing says how far judges err"
        )
    return agreed_tables(judged, by=by, positive=positive, seed=seed)


def correction_on_page(measured: PageData, labels: str | None) -> list[FirstScreen | Section]:
    """Make the page's section on scores without the judge's errors, where people labelled items."""
    judged = measured.judged
    if labels is not None:
        return correction_sections(_corrected_judgments(judged, read_labels(labels), labels))
    # The column gold of a file says what such a table does, where its words say which one passes.
    gold = gold_as_labels(judged)
    if gold is None or "verdict" not in judged.frame.collect_schema():
        return []
    verdicts = judged.frame.select(pl.col("verdict").cast(pl.String)).unique().collect()["verdict"]
    words = pl.concat([gold[LABELLED], verdicts.drop_nulls()]).to_frame("word")
    if not words.select(passes(pl.col("word"), None).is_not_null().all()).item():
        return []
    return correction_sections(_corrected_judgments(judged, gold, judged.name))


def _corrected_judgments(
    judged: Snapshot,
    labels: pl.DataFrame,
    file: str,
    *,
    by: Sequence[str] | None = None,
    positive: str | None = None,
    width: float | None = None,
) -> CorrectionTables:
    """Correct scores by what people said of some items."""
    units, missed = labelled_units(judged, labels, by=by, positive=positive, file=file)
    return correction_tables(units, labelled_by=labels.columns, n_unmatched=missed, width=width)
