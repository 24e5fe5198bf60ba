"""From judgments to differences of judges, temperatures and runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from judgerel_ray.analyses.comparison.comparison import compare_judgments
from judgerel_ray.counting.doubtful_names import otherwise_line
from judgerel_ray.counting.given import Given, is_plain, warn_of
from judgerel_ray.counting.judged import Judged, open_judgments
from judgerel_ray.counting.verdict_names import refuse_unknown
from judgerel_ray.counting.verdicts.spelling import spelled_alike
from judgerel_ray.measuring.serving import SharedRequests, serving_between


def compare_with_serving(
    a: str | Given | Judged,
    b: str | Given | Judged | None = None,
    *,
    names: tuple[str, str] | None = None,
    by: Sequence[str] | None = None,
    coefficients: Sequence[str] | None = None,
    tolerance: float | None = None,
    serving: bool = True,
    confidence: float = 0.95,
) -> tuple[pl.DataFrame, SharedRequests | None]:
    """Compare two run directories or files, or what is inside one; and the requests two share.

    Effects: reads. Retry: safe, also while a run goes on.
    """
    names = names or (str(a), str(b or a))
    first = _comparable(a, names[0])
    second = None if b is None else _comparable(b, names[1])
    declared = dict(first.n_categories) | dict(second.n_categories if second else {})
    shown = dict(first.n_options) | dict(second.n_options if second else {})
    frames = [first.frame] if second is None else _spelled_alike(first, second)
    found = compare_judgments(
        *frames,
        by=by,
        coefficients=coefficients,
        tolerance=tolerance,
        names=names,
        n_categories=declared,
        n_options=shown,
        scales=dict(first.scales) | dict(second.scales if second else {}),
        confidence=confidence,
    )
    if second is not None and (line := otherwise_line(_items(first), _items(second))):
        warn_of([line])
    return found, serving_between(first, second) if second and serving else None


def _items(judged: Judged) -> pl.Series:
    """The items of judgments."""
    if judged.tally is not None:
        return judged.tally.nested.units["item_id"]
    return judged.frame.select(pl.col("item_id").unique()).collect(engine="streaming").to_series()


def _spelled_alike(first: Judged, second: Judged) -> list[pl.LazyFrame]:
    """Both sides' judgments with one spelling of each word, unless each is taken as written."""
    frames = [first.frame, second.frame]
    as_written = [side.as_written for side in (first, second)]
    for column in () if all(as_written) else ("verdict", "label"):
        if all(column in frame.collect_schema() for frame in frames):
            frames, lines = spelled_alike(frames, column, as_written=as_written)
            about = "" if column == "verdict" else f"column {column}: "
            warn_of(f"of the two, {about}{line}" for line in lines)
    return frames


def _comparable(source: str | Given | Judged, name: str) -> Judged:
    """Judgments that may be compared across orders; a run's verdicts name options in any case."""
    if isinstance(source, Given) and not is_plain(source):
        source = replace(source, verdict_names=None)
    judged = source if isinstance(source, Judged) else open_judgments(source)
    if not judged.verdicts_known:
        refuse_unknown("compare", {"file": name})
    return judged
