"""What a series found over its refreshes: one row a refresh, sweep, judge, group and measure."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import dataframely as dy

DRIFT_P, EVIDENCE, USUAL = "drift_p", "drift_evidence", "usual_share"


class Cause(StrEnum):
    """What moved since the refresh before, as anchors and systems tell; a judge, since its alarm.

    >>> Cause.JUDGE.words
    'the judge moved: its verdicts on frozen anchors changed'
    """

    JUDGE = "judge"
    SYSTEM = "system"
    ASKED_OTHERWISE = "asked_otherwise"
    BOTH = "both"
    NEITHER = "neither"
    UNDECIDED = "undecided"

    @property
    def words(self) -> str:
        """The same in words."""
        return _WORDS[self]


_WORDS: Mapping[Cause, str] = {
    Cause.JUDGE: "the judge moved: its verdicts on frozen anchors changed",
    Cause.SYSTEM: "the system moved: its scores changed, and anchors show no change of the judge",
    Cause.ASKED_OTHERWISE: "asked otherwise: its scores changed, and none of its answers did; the "
    "judge or its settings changed",
    Cause.BOTH: "both moved, or the judge alone: anchors changed, and so did the system's scores",
    Cause.NEITHER: "nothing moved that these judgments can tell",
    Cause.UNDECIDED: "undecided: the anchors are too few, too new or hint at a change of the "
    "judge without proving it, or the answers and how the judge was asked changed at once",
}


class History(dy.Schema):
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
