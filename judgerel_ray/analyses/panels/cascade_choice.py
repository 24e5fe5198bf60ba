"""How answers of a cascade are passed on, checked before anything is read."""

from __future__ import annotations

from dataclasses import dataclass, field

from judgerel_ray.core import SweepError

PERSON = "person"
"""The last stage, where someone is asked whom no judgments are of."""
MOST_STAGES = 6
"""Stages at most: thresholds of more would be too coarse."""
_MOST_BUDGETS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeChoice:
    """How answers are passed on.

    Attributes
    ----------
    order : tuple of str
        Members, who is asked first first; empty: all of them by mean cost, or the models alone
        where judges of their answers are among them.
    person_cost : float, optional
        What asking a person costs, in the unit of the other costs; by default nobody is.
    person_accuracy : float
        How often that person is right: an assumption, never measured here.
    n_budgets : int
        Points of the curve.
    seed : int
        How folds are drawn.
    """

    order: tuple[str, ...] = field(default=())
    person_cost: float | None = None
    person_accuracy: float = 1.0
    n_budgets: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        if self.person_cost is not None and not 0 <= self.person_cost < float("inf"):
            raise SweepError(f"a person's cost must be at least 0, got {self.person_cost:g}")
        if not 0 <= self.person_accuracy <= 1:
            raise SweepError(
                f"a person's accuracy must be between 0 and 1, got {self.person_accuracy:g}"
            )
        if len(set(self.order)) < len(self.order):
            raise SweepError(f"the order names a member twice: {', '.join(self.order)}")
        if not 1 <= self.n_budgets <= _MOST_BUDGETS:
            raise SweepError(
                f"a curve needs from 1 to {_MOST_BUDGETS} points, got {self.n_budgets}: a page "
                "shows no more"
            )
