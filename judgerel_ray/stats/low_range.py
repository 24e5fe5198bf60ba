"""Edges of the uncertainty label: between which thresholds a judgment is of low uncertainty.

With u sorted downwards, a judgment is of low uncertainty at threshold t where u2 < t <= u1 (where u
must exceed it, u2 <= t < u1) and its own choice allows it. So two numbers and a flag an item are
all a search needs.

Shape suffixes: N = items.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.confusion import Uncertainty
from judgerel_ray.stats.statistic import Floats

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelEdges:
    """Between which thresholds each judgment is of low uncertainty.

    Attributes
    ----------
    above_N : ndarray of float, shape (n_items,)
        The second largest u: low above it.
    upto_N : ndarray of float, shape (n_items,)
        The largest u: low up to it, and at it.
    allowed_N : ndarray of bool, shape (n_items,)
        Whether the own-choice rule lets the label be low at all.
    strict : bool
        Whether u must exceed the threshold, in place of reaching it: low then from the second
        largest u on, and not at the largest.
    """

    above_N: Floats  # noqa: N815  a shape, not a case
    upto_N: Floats  # noqa: N815
    allowed_N: Bools  # noqa: N815
    strict: bool = False

    def low(self, threshold: float) -> Bools:
        """Mark the judgments of low uncertainty at a threshold."""
        if self.strict:
            inside = (self.above_N <= threshold) & (threshold < self.upto_N)
        else:
            inside = (self.above_N < threshold) & (threshold <= self.upto_N)
        marked: Bools = self.allowed_N & inside
        return marked

    def take(self, rows: NDArray[np.intp] | Bools) -> LabelEdges:
        """Keep some of the judgments."""
        return LabelEdges(
            above_N=self.above_N[rows],
            upto_N=self.upto_N[rows],
            allowed_N=self.allowed_N[rows],
            strict=self.strict,
        )


def label_edges(
    uncertainties: Sequence[Uncertainty],
    *,
    own_choice_required: bool = True,
    strict: bool = False,
) -> LabelEdges:
    """Read the edges of the label off the scores of many judgments.

    Parameters
    ----------
    uncertainties : sequence of Uncertainty
        One a judgment; one that is undefined is never low.
    own_choice_required : bool
        Whether low asks that the largest u be that of the judge's own choice.
    strict : bool
        As for :func:`judgerel_ray.stats.confusion_uncertainty`.

    Returns
    -------
    LabelEdges

    Examples
    --------
    >>> from judgerel_ray.stats import confusion_uncertainty
    >>> one = confusion_uncertainty([[0.9, 0.7], [0.1, 0.3]], chosen=0)
    >>> edges = label_edges([one])
    >>> edges.low(0.5).tolist(), edges.low(0.85).tolist()
    ([True], [False])
    """
    tops = [sorted(one.u_O)[-2:] or [0.0, 0.0] for one in uncertainties]
    pairs = np.array(tops, dtype=np.float64).reshape(-1, 2)
    allowed = [
        one.undefined is None and (not own_choice_required or one.chosen == one.chosen_by_matrix)
        for one in uncertainties
    ]
    return LabelEdges(
        above_N=pairs[:, 0],
        upto_N=pairs[:, 1],
        allowed_N=np.array(allowed, dtype=bool),
        strict=strict,
    )
