"""From a run or a file of judgments, and labels where there are any, to corrected scores."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from judgerel_ray.analyses.correction.labels import labelled_units, read_labels
from judgerel_ray.analyses.correction.tables import (
    CorrectionTables,
    agreed_tables,
    correction_tables,
)
from judgerel_ray.core import SweepError
from judgerel_ray.counting.given import Given, reading_of
from judgerel_ray.counting.judged import open_judgments


def run_correction(
    path: str | Given,
    labels: str | None,
    *,
    by: Sequence[str] | None = None,
    positive: str | None = None,
    width: float | None = None,
    seed: int = 0,
) -> CorrectionTables:
    """Correct the scores of a run or a file.

    Effects: reads. Retry: safe, also while a run goes on.

    Raises
    ------
    SweepError
        If labels or an option are wrong (:func:`.labelled_units`, :func:`.agreed_tables`).
    StoreError
        If the path is a folder but no run directory.
    """
    if width is not None and not 0 < width < float("inf"):
        raise SweepError(f"--width must be a number above 0, got {width!r}")
    with reading_of(path):
        judged = open_judgments(path, extra=by or (), reads=["responder", "criterion"])
        if labels is not None:
            given = read_labels(labels)
            units, missed = labelled_units(judged, given, by=by, positive=positive, file=labels)
            return correction_tables(
                units, labelled_by=given.columns, n_unmatched=missed, width=width
            )
        if width is not None:
            raise SweepError("--width needs --labels: without any, nothing says how far judges err")
        agreed, judges = agreed_tables(judged, by=by, positive=positive, seed=seed)
    none = pl.DataFrame()
    return CorrectionTables(
        estimates=none, rates=none, transport=none, differences=none, budget=none,
        agreed=agreed, judges=judges,
    )  # fmt: skip
