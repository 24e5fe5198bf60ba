"""Panels: how many votes a majority takes, how many judges a panel is worth, what one more adds.

Where no number of votes is known to be enough, a code says why, with the numbers that belong to it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgerel_ray.analyses.advice.tables import PanelSizes
from judgerel_ray.core.progress import fewer_groups, under_way
from judgerel_ray.core.tables import value_columns
from judgerel_ray.counting.groups.grouping import count_judgments, parts_by, sampled
from judgerel_ray.counting.groups.matrix import unit_counts
from judgerel_ray.counting.verdicts.policy import LABEL, SCORED, level_of_scale
from judgerel_ray.stats.agreement.majority import majority_vote
from judgerel_ray.stats.counts import Floats
from judgerel_ray.stats.intervals.mixing import posterior_shares
from judgerel_ray.stats.intervals.vote_limits import (
    StabilityLimits,
    VoteLimits,
    expected_limits,
    vote_limits,
)
from judgerel_ray.stats.panels.panel import (
    EffectiveJudges,
    PanelStep,
    effective_judges,
    panel_steps,
)


class Unreachable(StrEnum):
    """Why no purchase is known to reach a target.

    Attributes
    ----------
    LEVELS_ASKED_ONCE
        Asked once at each level, so what levels do is not told from chance.
    QUESTIONS_ALIKE
        Questions do not differ more than chance.
    ERROR_STAYS
        The error of one level of ``error_of`` stays, however often it is asked.
    TOO_FEW_QUESTIONS
        Too few questions, however often they are asked.
    TOO_MANY_QUESTIONS, TOO_MANY_VOTES
        Not within the most that are looked at.
    TOO_MANY_VERDICTS
        Limits are not computed for so many different verdicts: it is not known.
    NOT_KNOWN
        Not known from ``n_replications`` of ``n_questions``.
    NOT_KNOWN_FROM_MORE
        Nor from ``design_replications`` of ``design_questions``.
    KNOWN_FROM_MORE
        Not known from what there is; ``design_replications`` of ``design_questions`` would tell.
    """

    LEVELS_ASKED_ONCE = "levels_asked_once"
    QUESTIONS_ALIKE = "questions_alike"
    ERROR_STAYS = "error_stays"
    TOO_FEW_QUESTIONS = "too_few_questions"
    TOO_MANY_QUESTIONS = "too_many_questions"
    TOO_MANY_VOTES = "too_many_votes"
    TOO_MANY_VERDICTS = "too_many_verdicts"
    NOT_KNOWN = "not_known"
    NOT_KNOWN_FROM_MORE = "not_known_from_more"
    KNOWN_FROM_MORE = "known_from_more"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """A reason with its numbers: what was asked, and the design that would tell more, or would not.

    Examples
    --------
    >>> Reason(unreachable=Unreachable.NOT_KNOWN, n_replications=2, n_questions=80).columns()[
    ...     "n_questions"]
    80
    """

    unreachable: Unreachable
    error_of: str | None = None
    n_replications: int | None = None
    n_questions: int | None = None
    design_replications: int | None = None
    design_questions: int | None = None

    def columns(self) -> dict[str, object]:
        """Give the columns of a row of `Needs` that say it."""
        return {**asdict(self), "unreachable": self.unreachable.value}


VOTES = (1, 3, 5, 7, 9, 11, 15, 21, 31, 51)
_REPLICATIONS = (3, 5, 8, 11, 15, 21, 51)  # of designs that may tell more
_TIMES = (2, 4, 8, 16)
_LARGEST_PANEL = 170  # what a size costs grows with its square, and what more judges add shrinks


class VoteStability(NamedTuple):
    """How often two majorities of so many replications agree, and the alpha of majorities."""

    agreement: float
    # Its limits: sampling error, and what no number of questions can tell from so few replications.
    # None where they are not computed.
    low: float | None
    high: float | None
    alpha: float | None  # Krippendorff's nominal alpha of majorities.


class Voting:
    """The votes of one group of labels.

    Shapes: ``counts_UV`` (n_units, n_values), ``clusters_U`` (n_units,).

    Examples
    --------
    >>> votes = Voting(np.array([[5, 0]] * 40 + [[0, 5]] * 40), np.arange(80))
    >>> votes.needed(0.95), votes.unreachable(0.999).unreachable.value
    (1, 'not_known_from_more')
    """

    def __init__(self, counts_UV: NDArray[np.int64], clusters_U: NDArray[np.int64]) -> None:
        taking = counts_UV.sum(axis=1) >= 2
        self._counts_UV = counts_UV[taking]
        self._n_questions = np.unique(clusters_U[taking]).size
        self._designs: dict[tuple[int, int], StabilityLimits | None] = {}

    @property
    def is_known(self) -> bool:
        """Whether any unit has two replications."""
        return len(self._counts_UV) > 0

    @cached_property
    def _shares(self) -> Floats:
        return posterior_shares(self._counts_UV)

    @cached_property
    def _limits(self) -> VoteLimits | None:
        return vote_limits(self._counts_UV, n_questions=self._n_questions)

    def stability(self, k: int) -> VoteStability:
        """Compute how often two majorities of k agree.

        Examples
        --------
        >>> found = Voting(np.array([[5, 0]] * 40 + [[0, 5]] * 40), np.arange(80)).stability(3)
        >>> round(found.agreement, 2), round(found.low, 2), round(found.high, 2)
        (1.0, 0.98, 1.0)
        """
        vote = majority_vote(self._shares, k)
        if self._limits is None:
            return VoteStability(vote.agreement, None, None, vote.alpha)
        low, high = self._limits.stability(k)
        return VoteStability(
            vote.agreement, min(low, vote.agreement), max(high, vote.agreement), vote.alpha
        )

    def needed(self, wanted: float) -> int | None:
        """Find the fewest votes, up to 51, whose lower limit reaches a stability.

        Examples
        --------
        >>> Voting(np.array([[5, 0]] * 40 + [[3, 2]] * 40), np.arange(80)).needed(0.9) is None
        True
        """
        if self._limits is None or not self._reaches(VOTES[-1], wanted):
            return None
        # More votes agree no less.
        place = bisect_left(VOTES, True, key=lambda k: self._reaches(k, wanted))
        return VOTES[place]

    def unreachable(self, wanted: float) -> Reason:
        """Tell why no number of votes can be promised to reach a stability.

        Examples
        --------
        Two replications of a question tell nothing of longer votes, however many the questions:

        >>> votes = Voting(np.array([[2, 0]] * 80 + [[1, 1]] * 20), np.arange(100))
        >>> why = votes.unreachable(0.85)
        >>> why.unreachable.value, why.n_replications, why.design_replications
        ('known_from_more', 2, 5)
        """
        if self._limits is None:
            return Reason(unreachable=Unreachable.TOO_MANY_VERDICTS)
        if self._limits.stability(VOTES[-1]).high < wanted:
            return Reason(unreachable=Unreachable.TOO_MANY_VOTES)
        m, n = round(float(self._counts_UV.sum(axis=1).mean())), self._n_questions
        designs = [(1, more) for more in _REPLICATIONS if more > m]
        designs += [(times, max(m, more)) for times in _TIMES for more in _REPLICATIONS[-2:]]
        # The largest first: what it does not tell the others do not.
        largest = next((one for one in reversed(designs) if self._tells(one, wanted)[0]), None)
        if largest is None:
            return Reason(unreachable=Unreachable.NOT_KNOWN, n_replications=m, n_questions=n)
        why, (times, more) = Unreachable.NOT_KNOWN_FROM_MORE, largest
        if self._tells(largest, wanted)[1]:
            why = Unreachable.KNOWN_FROM_MORE
            times, more = next(one for one in designs if self._tells(one, wanted)[1])
        return Reason(
            unreachable=why,
            n_replications=m,
            n_questions=n,
            design_replications=more,
            design_questions=n * times,
        )

    def _tells(self, design: tuple[int, int], wanted: float) -> tuple[bool, bool]:
        """Whether limits of so many times the questions, asked so often, exist and decide."""
        limits = self._expected(design)
        if limits is None:
            return False, False
        return True, limits.low >= wanted or limits.high < wanted

    def _expected(self, design: tuple[int, int]) -> StabilityLimits | None:
        """Limits of the most votes that a design is expected to give; each is computed once."""
        if design not in self._designs:
            times, replications = design
            found = expected_limits(
                self._shares, n_questions=self._n_questions * times, n_replications=replications
            )
            self._designs[design] = None if found is None else found.stability(VOTES[-1])
        return self._designs[design]

    def _reaches(self, k: int, wanted: float) -> bool:
        """Whether the lower limit of k votes does."""
        low = self.stability(k).low
        return low is not None and low >= wanted


Row = dict[str, object]


def panel_table(frame: pl.LazyFrame, *, by: Sequence[str] | None = None) -> pl.DataFrame:
    """Look at the judges of every group as a panel.

    A panel is of judges that each judge once; where they were asked more often, that tells how
    steady each is.

    Sizes go up to two judges more than there are, and up to 170. Groups of one judge are left out.

    Examples
    --------
    >>> rows = {"item_id": ["q", "q", "r", "r"], "judge": ["x", "y"] * 2, "replication": [0] * 4,
    ...         "verdict": ["A", "A", "B", "A"], "gold": ["A", "A", "B", "B"]}
    >>> panel_table(pl.LazyFrame(rows)).select("n_judges", "agreement", "undefined").row(0)
    (1, 0.625, 'too_few_judges')
    """
    columns = frame.collect_schema().names()
    if "judge" not in columns:
        return PanelSizes.frame()
    # Benchmarks name their questions alike; gold is carried, for it does not vary inside one.
    identity = [name for name in ("item_id", "benchmark", "gold") if name in columns]
    frame = frame.with_columns(item_id=pl.struct(identity))
    counted = sampled(count_judgments(frame, by=by))
    groups = tuple(name for name in counted.groups if name != "judge")
    parts = parts_by(counted.frame, groups).items()
    rows = [
        {**dict(zip(groups, key, strict=True)), **row}
        for key, part in under_way(parts, of=len(parts), what="panels", hint=fewer_groups(groups))
        for row in _panel_rows(part)
    ]
    keys = {name: counted.frame.schema[name] for name in groups}
    return PanelSizes.frame(rows, keys)


def _panel_rows(part: pl.DataFrame) -> list[Row]:
    """The rows of one group, none of fewer than two judges."""
    scored = part.filter(SCORED)
    n_judges = scored["judge"].n_unique()
    if n_judges < 2:
        return []
    labels = level_of_scale(part) == "nominal"
    worth = _advised_worth_by_errors(scored, labels=labels)
    steps: tuple[PanelStep, ...] = ()
    if labels:
        steps = panel_steps(_advised_panel_counts(scored), most=min(n_judges + 2, _LARGEST_PANEL))
    known: Row = {
        "judges": n_judges, **value_columns("effective", worth),
        "error_correlation": worth.correlation, "n_items": scored["item_id"].n_unique(),
        "undefined": worth.undefined,
    }  # fmt: skip
    if not steps:
        return [{**known, "n_judges": n_judges}]
    return [
        {**known, "n_judges": one.n_judges, "agreement": one.agreement, "gain": one.gain}
        for one in steps
    ]


def _advised_panel_counts(scored: pl.DataFrame) -> NDArray[np.int64]:
    """Verdicts by question, judge and value."""
    pair = ["item_id", "judge"]
    found = unit_counts(scored, LABEL, unit=pair, cluster=["item_id"])
    judges = scored.select(pair).unique().sort(pair)["judge"].rank("dense").to_numpy()
    counts = np.zeros(
        (found.clusters_U.max() + 1, int(judges.max()), len(found.values)), dtype=np.int64
    )
    counts[found.clusters_U, judges.astype(np.int64) - 1] = found.counts_UV
    return counts


def _advised_worth_by_errors(scored: pl.DataFrame, *, labels: bool) -> EffectiveJudges:
    """The panel's worth by its errors, where there is gold."""
    n_judges = scored["judge"].n_unique()
    none = EffectiveJudges(n_judges=n_judges, n_questions=0, undefined="no_gold")
    fields = scored["item_id"].struct.fields
    if "gold" not in fields:
        return none
    question = [pl.col("item_id").struct.field(name) for name in fields if name != "gold"]
    gold = pl.col("item_id").struct.field("gold")
    if labels:
        error = (gold.cast(pl.String) != LABEL).cast(pl.Float64)
    else:
        error = pl.col("score") - gold.cast(pl.Float64, strict=False)
    n = pl.col("n").cast(pl.Float64)
    mean = (n * pl.col("error")).sum() / n.sum()
    means = (
        scored.select("judge", "n", item_id=pl.struct(question), error=error)
        .drop_nulls("error")
        .sort("item_id", "judge", "error")
        .group_by("item_id", "judge", maintain_order=True)
        .agg(mean=mean, within=(n * pl.col("error") ** 2).sum() / n.sum() - mean**2)
    )
    if means.is_empty():
        return none
    question_M = means["item_id"].rle_id().to_numpy()
    number = means["judge"].rank("dense").fill_null(0).to_numpy()
    judges, judge_M = np.unique(number, return_inverse=True)
    errors = np.full((question_M.max() + 1, judges.size), np.nan)
    within = errors.copy()
    errors[question_M, judge_M] = means["mean"].to_numpy()
    within[question_M, judge_M] = means["within"].to_numpy()
    return effective_judges(errors, within_NJ=within.clip(min=0))
