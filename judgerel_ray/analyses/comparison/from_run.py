"""From judgments to differences of judges, temperatures and runs."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from judgerel_ray.analyses.comparison.comparison import OF_LABELS, compare_judgments
from judgerel_ray.core.errors import warn_of
from judgerel_ray.counting.gold import with_gold
from judgerel_ray.counting.snapshot import Snapshot
from judgerel_ray.counting.verdict_names import refuse_unknown
from judgerel_ray.counting.verdicts.spelling import otherwise_line, spelled_alike
from judgerel_ray.measuring.serving import SharedRequests, serving_between


def compare_with_serving(
    first: Snapshot,
    second: Snapshot | None = None,
    *,
    by: Sequence[str] | None = None,
    coefficients: Sequence[str] | None = None,
    tolerance: float | None = None,
    serving: bool = True,
    confidence: float = 0.95,
) -> tuple[pl.DataFrame, SharedRequests | None]:
    """Compare two runs or files, or what is inside one; and the requests two share."""
    for one in (first, second):
        if one is not None and not one.verdicts_known:
            refuse_unknown("compare", one.where)
    if OF_LABELS in (coefficients or ()):
        first, second = with_gold(first), second and with_gold(second)
    declared = dict(first.n_categories) | dict(second.n_categories if second else {})
    shown = dict(first.n_options) | dict(second.n_options if second else {})
    frames = [first.frame] if second is None else _spelled_alike(first, second)
    found = compare_judgments(
        *frames,
        by=by,
        coefficients=coefficients,
        tolerance=tolerance,
        names=(first.name, (second or first).name),
        n_categories=declared,
        n_options=shown,
        scales=dict(first.scales) | dict(second.scales if second else {}),
        confidence=confidence,
    )
    if second is not None and (
        line := otherwise_line(_items_compared(first), _items_compared(second))
    ):
        warn_of([line])
    return found, serving_between(first, second) if second and serving else None


def _items_compared(judged: Snapshot) -> pl.Series:
    """The items of judgments."""
    if judged.tally is not None:
        return judged.tally.nested.units["item_id"]
    return judged.frame.select(pl.col("item_id").unique()).collect(engine="streaming").to_series()


def _spelled_alike(first: Snapshot, second: Snapshot) -> list[pl.LazyFrame]:
    """Both sides' judgments with one spelling of each word, unless each is taken as written."""
    frames = [first.frame, second.frame]
    as_written = [side.as_written for side in (first, second)]
    for column in () if all(as_written) else ("verdict", "label"):
        if all(column in frame.collect_schema() for frame in frames):
            frames, lines = spelled_alike(frames, column, as_written=as_written)
            about = "" if column == "verdict" else f"column {column}: "
            warn_of(f"of the two, {about}{line}" for line in lines)
    return frames
