"""Agreement between judges, replication by replication."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.legacy.coding import LETTERS
from judgerel_ray.legacy.five_numbers import FiveNumbers, five_numbers

NonResponse = Literal["agrees", "never_agrees", "left_out"]
_RULES: tuple[NonResponse, ...] = ("agrees", "never_agrees", "left_out")


@dataclass(frozen=True, slots=True, kw_only=True)
class InterRaterSpread:
    """Agreement between judges in each replication, and its spread over replications.

    Attributes
    ----------
    agreement_R : ndarray of float, shape (n_replications,)
        Share of agreeing pairs of judges over questions; NaN where no pair can be compared.
    summary : FiveNumbers or None
        Of `agreement_R`.
    non_response : str
        What two judges without a letter count as.
    """

    agreement_R: NDArray[np.float64]  # noqa: N815  a shape, not a case
    summary: FiveNumbers | None
    non_response: NonResponse


def inter_rater_spread(
    codes_JRQ: ArrayLike,  # noqa: N803
    *,
    non_response: NonResponse = "agrees",
) -> InterRaterSpread:
    """Compute how agreement between judges varies over replications (Table 1 of [1]_).

    Parameters
    ----------
    codes_JRQ : array-like of float, shape (n_judges, n_replications, n_questions)
        Codes of `codes_from_verdicts`; NaN is missing, and its pairs are left out.
    non_response : {"agrees", "never_agrees", "left_out"}
        What a pair of judges counts as where at least one gave no single letter: ``agrees`` if
        their codes are equal (the authors' script), never, or left out of the share.

    Returns
    -------
    InterRaterSpread

    Raises
    ------
    ValueError
        If there are fewer than two judges, not three axes, or `non_response` is unknown.

    Notes
    -----
    The printed Table 1 (.167 .395 .433 .469 1.000) cannot be reproduced: the script that the
    authors shipped gives .370 .432 .457 .469 .556 on the judgments that they shipped (BBH,
    temperature 0.25). Two thirds of it is agreement on giving no answer: with ``never_agrees``
    the numbers are .086 .136 .148 .173 .198.

    References
    ----------
    .. [1] Schroeder and Wood-Doughty (2024), Can You Trust LLM Judgments?, arXiv:2412.12509.

    Examples
    --------
    Two judges, two replications, two questions; they agree on B, and on no answer:

    >>> codes = [[[2, 6], [2, 1]], [[2, 6], [3, 1]]]
    >>> inter_rater_spread(codes).agreement_R.tolist()
    [1.0, 0.5]
    >>> inter_rater_spread(codes, non_response="never_agrees").agreement_R.tolist()
    [0.5, 0.5]
    """
    codes = np.asarray(codes_JRQ, dtype=np.float64)
    if codes.ndim != 3 or len(codes) < 2:
        raise ValueError(
            "inter_rater_spread: codes must be judges x replications x questions with at least "
            f"two judges, got shape {codes.shape}"
        )
    if non_response not in _RULES:
        raise ValueError(
            f"inter_rater_spread: non_response must be one of {', '.join(_RULES)}, "
            f"got {non_response!r}"
        )
    first, second = np.array([*combinations(range(len(codes)), 2)]).T
    answered = np.isin(codes, list(LETTERS.values()))
    both = answered[first] & answered[second]
    compared = ~np.isnan(codes[first]) & ~np.isnan(codes[second])
    agrees = codes[first] == codes[second]
    if non_response != "agrees":
        agrees &= both
    if non_response == "left_out":
        compared &= both
    pairs = compared.sum(axis=(0, 2))
    agreement = np.full(codes.shape[1], np.nan)
    np.divide((agrees & compared).sum(axis=(0, 2)), pairs, out=agreement, where=pairs > 0)
    return InterRaterSpread(
        agreement_R=agreement, summary=five_numbers(agreement), non_response=non_response
    )
