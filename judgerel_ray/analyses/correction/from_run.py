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
from judgerel_ray.analyses.correction.labels import labelled_units, read_labels
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
    if labels is not None:
        return _corrected(judged, labels, by=by, positive=positive, width=width)
    if width is not None:
        raise SweepError("--width needs --labels: without any, nothing says how far judges err")
    agreed, judges = agreed_tables(judged, by=by, positive=positive, seed=seed)
    none = pl.DataFrame()
    return CorrectionTables(
        estimates=none, rates=none, transport=none, differences=none, budget=none,
        agreed=agreed, judges=judges,
    )  # fmt: skip


def correction_on_page(measured: PageData, labels: str | None) -> list[FirstScreen | Section]:
    """Make the page's section on scores without the judge's errors, where people labelled items."""
    return [] if labels is None else correction_sections(_corrected(measured.judged, labels))


def _corrected(
    judged: Snapshot,
    labels: str,
    *,
    by: Sequence[str] | None = None,
    positive: str | None = None,
    width: float | None = None,
) -> CorrectionTables:
    """Correct scores by what people said of some items."""
    labels_read = read_labels(labels)
    units, missed = labelled_units(judged, labels_read, by=by, positive=positive, file=labels)
    return correction_tables(
        units, labelled_by=labels_read.columns, n_unmatched=missed, width=width
    )
