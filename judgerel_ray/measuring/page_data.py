"""What the sections of a page share: measured once, for those of every analysis."""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from judgerel_ray.blocks.columns import in_order
from judgerel_ray.blocks.words import group_columns
from judgerel_ray.counting.judged import Judged
from judgerel_ray.counting.outcomes import outcome_table
from judgerel_ray.measuring.failures import failures_of
from judgerel_ray.measuring.order_effects import verdict_positions
from judgerel_ray.measuring.reducing import ReduceOptions, tolerated
from judgerel_ray.measuring.unstable import Questions, Replies, least_stable, replies_to


@dataclass(frozen=True, slots=True, kw_only=True)
class PageData:
    """What is measured once for a page of judgments that hold verdicts, all with the same groups.

    Attributes
    ----------
    judged : Judged
        The judgments.
    coefficients : pl.DataFrame
        From :func:`judgerel_ray.measuring.reliability.reduce_judgments`.
    outcomes : pl.DataFrame
        From :func:`judgerel_ray.counting.outcomes.outcome_table`.
    unstable : pl.DataFrame
        From :func:`judgerel_ray.measuring.unstable.least_stable`.
    positions : pl.DataFrame, optional
        From :func:`judgerel_ray.measuring.order_effects.verdict_positions`.
    failures : pl.DataFrame, optional
        From :func:`judgerel_ray.counting.outcomes.failed_requests`.
    replies : mapping of tuple to DataFrame, optional
        What was replied to the least stable questions, by the columns of `unstable` before
        ``agreement``.
    questions : mapping of (str, str) to str, optional
        Texts of questions by benchmark and item_id: where single questions are shown, these name
        them.
    """

    judged: Judged
    coefficients: pl.DataFrame
    outcomes: pl.DataFrame
    unstable: pl.DataFrame
    positions: pl.DataFrame | None = None
    failures: pl.DataFrame | None = None
    replies: Replies | None = None
    questions: Questions | None = None

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


def page_data(judged: Judged, questions: Questions | None) -> PageData:
    """Measure what the sections of a page share."""
    coefficients = tolerated(judged, ReduceOptions())
    unstable = least_stable(judged.source, scales=judged.scales)
    return PageData(
        judged=judged,
        coefficients=coefficients,
        outcomes=outcome_table(judged.source),
        unstable=unstable,
        positions=verdict_positions(
            judged.frame, by=group_columns(coefficients), menus=judged.menus
        ),
        failures=failures_of(judged, coefficients),
        replies=replies_to(judged, unstable),
        questions=questions,
    )
