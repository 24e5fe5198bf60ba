"""What the sections of a page share: measured once, for those of every analysis."""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from judgerel_ray.blocks.columns import in_order
from judgerel_ray.blocks.words import group_columns
from judgerel_ray.counting.intervals import IntervalChoice
from judgerel_ray.counting.outcomes import outcome_table
from judgerel_ray.counting.snapshot import Snapshot
from judgerel_ray.measuring.order_effects import places_named_by_verdicts
from judgerel_ray.measuring.reliability import (
    ReduceOptions,
    as_stated,
    failures_of,
    reduce_judged,
    with_stated_tolerance,
)
from judgerel_ray.measuring.unstable import QuestionTexts, RepliesByUnit, least_stable, replies_to


@dataclass(frozen=True, slots=True, kw_only=True)
class PageData:
    """What a page of judgments that hold verdicts measures once, all with the same groups."""

    judged: Snapshot
    coefficients: pl.DataFrame  # From `reduce_judgments`.
    outcomes: pl.DataFrame  # From `outcome_table`.
    unstable: pl.DataFrame  # From `least_stable`.
    positions: pl.DataFrame | None = None  # From `places_named_by_verdicts`.
    failures: pl.DataFrame | None = None  # From `failed_requests`.
    # What was replied to the least stable questions, by the columns of `unstable` before
    # `agreement`.
    replies: RepliesByUnit | None = None
    # Texts of questions by benchmark and item_id: where single questions are shown, these name
    # them.
    questions: QuestionTexts | None = None

    def in_order(self) -> PageData:
        """The same, the frames that lists are made of by their groups: 2 before 10."""
        groups = group_columns(self.coefficients)
        units = self.unstable.columns[: self.unstable.columns.index("agreement")]
        return replace(
            self,
            coefficients=in_order(self.coefficients, groups),
            outcomes=in_order(self.outcomes, groups),
            positions=None if self.positions is None else in_order(self.positions, groups),
            unstable=in_order(
                self.unstable.with_columns(less=-pl.col("spread").fill_null(0.0)),
                ["rated", "less", "agreement", *units],
            ).drop("less"),
        )


def page_data(judged: Snapshot, questions: QuestionTexts | None) -> PageData:
    """Measure what the sections of a page share."""
    options = ReduceOptions(intervals=IntervalChoice(with_errors=True))
    coefficients = with_stated_tolerance(
        reduce_judged(*as_stated(judged, options)), judged, options
    )
    unstable = least_stable(judged.source, scales=judged.scales)
    return PageData(
        judged=judged,
        coefficients=coefficients,
        outcomes=outcome_table(judged.source),
        unstable=unstable,
        positions=places_named_by_verdicts(
            judged.frame, by=group_columns(coefficients), menus=judged.menus
        ),
        failures=failures_of(judged, coefficients),
        replies=replies_to(judged, unstable),
        questions=questions,
    )
