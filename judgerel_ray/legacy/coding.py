"""Verdicts as the numbers that schroeder2024 computed with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.core import OUTCOMES, Outcome

Coding = Literal["letters", "correctness"]

LETTERS: Mapping[str, float] = {"A": 1.0, "B": 2.0, "C": 3.0, "D": 4.0, "E": 5.0}
"""The five letters, put on an interval scale by their place in the alphabet."""
NON_RESPONSE = 6.0
"""No letter could be read: one more step above E."""
CONFLICTING = 7.0
"""Several different letters were read."""

_CORRECTNESS: Mapping[str, float] = {"correct": 1.0, "incorrect": 0.0}


def codes_from_verdicts(
    labels: Sequence[str | None], outcomes: Sequence[str], *, coding: Coding = "letters"
) -> NDArray[np.float64]:
    """Code verdicts as the authors of [1]_ did.

    Parameters
    ----------
    labels : sequence of str or None
        The label shown for each judgment (a letter from A to E in either case, or ``correct`` and
        ``incorrect``); None unless the outcome is ``scored``.
    outcomes : sequence of str
        What became of each reply, one of ``judgerel_ray.core.OUTCOMES``.
    coding : {"letters", "correctness"}
        ``letters``: A to E are 1 to 5, several letters 7, any other reply without a verdict 6.
        ``correctness``: correct is 1, everything else 0, replies without a verdict included.

    Returns
    -------
    ndarray of float, shape (n_judgments,)
        NaN for a ``failed`` request, which the authors' data do not have.

    Raises
    ------
    ValueError
        If the lengths differ, an outcome is unknown, or a label has no code.

    References
    ----------
    .. [1] Schroeder and Wood-Doughty (2024), Can You Trust LLM Judgments?, arXiv:2412.12509.

    Examples
    --------
    >>> outcomes = ["scored", "unparsed", "conflicting", "failed"]
    >>> codes_from_verdicts(["b", None, None, None], outcomes).tolist()
    [2.0, 6.0, 7.0, nan]
    """
    codes = LETTERS if coding == "letters" else _CORRECTNESS
    silent = NON_RESPONSE if coding == "letters" else 0.0
    conflicting = CONFLICTING if coding == "letters" else 0.0
    without = dict.fromkeys(OUTCOMES, silent)
    without |= {Outcome.CONFLICTING.value: conflicting, Outcome.FAILED.value: float("nan")}
    fold = str.upper if coding == "letters" else str.lower
    coded = np.empty(len(labels))
    for place, (label, outcome) in enumerate(zip(labels, outcomes, strict=True)):
        if outcome not in without:
            raise ValueError(f"codes_from_verdicts: unknown outcome {outcome!r}")
        if outcome != Outcome.SCORED:
            coded[place] = without[outcome]
        elif label is None or fold(label) not in codes:
            raise ValueError(
                f"codes_from_verdicts: {coding} codes {', '.join(codes)} only, got {label!r}"
            )
        else:
            coded[place] = codes[fold(label)]
    return coded
