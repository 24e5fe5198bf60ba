"""Why no purchase is known to reach a target: a code, and the numbers that go with it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum


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
