"""What a series found over its refreshes: one row a refresh, sweep, judge, group and measure."""

from __future__ import annotations

import dataframely as dy

DRIFT_P, EVIDENCE, USUAL = "drift_p", "drift_evidence", "usual_share"


class AlarmHistory(dy.Schema):
    """``history.parquet`` of a series."""

    refresh = dy.Int32()
    """Number of the refresh."""
    started_at = dy.Datetime(time_unit="us", time_zone="UTC")
    """When it began."""
    sweep = dy.String()
    """Name of the sweep."""
    role = dy.String(check=lambda column: column.is_in(["anchor", "system"]))
    """anchor or system."""
    judge = dy.String()
    """Name of the judge."""
    group = dy.String()
    """What else the number is of: benchmark, protocol, temperature, responder, ...; or empty."""
    measure = dy.String()
    """krippendorff_alpha, percent_agreement, position_bias; mean_score or share:VERDICT;
    usual_share (of the most frequent verdict); drift_p and drift_evidence of anchors.
    Where all verdicts on anchors are alike drift_p is drawn evenly from 0 to 1."""
    value = dy.Float64(nullable=True)
    """The number; null where there is none."""
    low = dy.Float64(nullable=True)
    """Lower end of its 95 % interval."""
    high = dy.Float64(nullable=True)
    """Upper end of its 95 % interval."""
    against = dy.Int32(nullable=True)
    """Number of the earlier refresh that it is compared with, question by question."""
    difference = dy.Float64(nullable=True)
    """This refresh minus that one."""
    difference_low = dy.Float64(nullable=True)
    """Lower end of the difference's interval: 95 %, of scores wider with each look."""
    difference_high = dy.Float64(nullable=True)
    """Upper end of the difference's interval."""
    n_questions = dy.Int32(nullable=True)
    """Questions that the number rests on."""
