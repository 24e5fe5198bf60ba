"""Curves of selection: error by acceptance, accuracy by confidence, and a threshold one can prove.

Shape suffixes: N = answers.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from judgerel_ray.reduce.systems import System
from judgerel_ray.stats import learn_then_test
from judgerel_ray.stats.accepted_errors import Band, accepted_errors
from judgerel_ray.stats.calibration import BINNINGS, reliability_bins
from judgerel_ray.stats.folds import grouped_folds
from judgerel_ray.stats.shares import clustered_share

Row = dict[str, object]


def acceptance_rows(system: System, kind: str, *, band: Band = "bonferroni") -> Iterator[Row]:
    """Give error and accuracy among the accepted at thresholds that occur, at most 50.

    Yields
    ------
    Row
        Downwards. ``low`` and ``high`` hold at a threshold by itself, ``band_low`` and
        ``band_high`` at all of them together; both are of the error. The band is Bonferroni's
        where a question has several answers.

    Examples
    --------
    See :func:`judgerel_ray.reduce.selection.selection_tables`.
    """
    items = system.items_N
    singles = np.unique(items).size == items.size
    found = accepted_errors(
        system.scores_N(kind),
        system.right_N,
        clusters_N=items,
        band=band if singles else "bonferroni",
    )
    for t, threshold in enumerate(found.thresholds_T.tolist()):
        error = float(found.error_T[t])
        yield {
            **system.name,
            "system": system.label,
            "confidence": kind,
            "threshold": threshold,
            "acceptance": float(found.acceptance_T[t]),
            "n_accepted": int(found.n_accepted_T[t]),
            "n_errors": int(found.n_errors_T[t]),
            "n_answers": found.n,
            "error": error,
            "low": _end(found.low_T[t]),
            "high": _end(found.high_T[t]),
            "band_low": _end(found.band_low_T[t]),
            "band_high": _end(found.band_high_T[t]),
            "accuracy": 1 - error,
            "interval": found.method,
            "band": found.band,
        }


def reliability_rows(system: System, kind: str, *, n_bins: int) -> Iterator[Row]:
    """Give accuracy by confidence, in bins of equal width and of equal mass.

    Yields
    ------
    Row
        From the lowest confidence to the highest.

    Examples
    --------
    See :func:`judgerel_ray.reduce.selection.selection_tables`.
    """
    for binning in BINNINGS:
        bins = reliability_bins(
            system.scores_N(kind),
            system.right_N,
            n_bins=n_bins,
            binning=binning,
            clusters_N=system.items_N,
        )
        for place, one in enumerate(bins):
            yield {
                **system.name,
                "system": system.label,
                "confidence": kind,
                "binning": binning,
                "bin": place,
                "from": one.low,
                "to": one.high,
                "mean_confidence": one.confidence,
                "n": one.accuracy.n,
                "n_right": one.accuracy.k,
                "accuracy": one.accuracy.value,
                "low": one.accuracy.low,
                "high": one.accuracy.high,
            }


def guarantee_row(system: System, kind: str, *, risk: float, delta: float, seed: int) -> Row:
    """Find a threshold on one half of the questions, and see what it does on the other.

    Examples
    --------
    See :func:`judgerel_ray.reduce.selection.selection_tables`.
    """
    items, scores, right = system.items_N, system.scores_N(kind), system.right_N
    row: Row = {
        **system.name,
        "system": system.label,
        "confidence": kind,
        "risk": risk,
        "delta": delta,
        "split": f"half of the questions, seed {seed}",
    }
    if np.unique(items).size < 2:
        return row | {"undefined": "too_few_judgments"}
    held = grouped_folds(items, n_folds=2, seed=seed) == 1
    found = learn_then_test(
        scores[~held], right[~held], risk=risk, delta=delta, clusters_N=items[~held], seed=seed
    )
    row |= {
        "threshold": found.threshold,
        "n_calibration": found.n,
        "n_heldout": int(held.sum()),
        "undefined": found.undefined,
    }
    if found.threshold is None:
        return row
    taken = held & (scores >= found.threshold)  # NaN reaches nothing
    wrong = clustered_share(~right[taken], clusters_N=items[taken])
    return row | {
        "n_calibration_accepted": found.n_accepted,
        "n_calibration_errors": found.n_errors,
        "n_accepted": wrong.n,
        "acceptance": wrong.n / int(held.sum()),
        "n_errors": wrong.k,
        "error": wrong.value,
        "low": wrong.low if wrong.n else None,
        "high": wrong.high if wrong.n else None,
    }


def _end(value: float) -> float | None:
    """An end of an interval; None where there is none."""
    return None if np.isnan(value) else float(value)
