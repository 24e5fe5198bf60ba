"""Spearman and Brown: from the reliability of one judgment to that of a mean, and back."""

from __future__ import annotations

import math


def spearman_brown(reliability: float, k: float) -> float:
    """Compute the reliability of a mean of k from that of one.

    Raises
    ------
    ValueError
        If the reliability is above 1 or k is not above 0.

    Examples
    --------
    >>> round(spearman_brown(0.43, 3), 3)
    0.694
    """
    if not (reliability <= 1 and k > 0):
        raise ValueError(
            f"spearman_brown: reliability must be at most 1 and k above 0, "
            f"got {reliability!r}, {k!r}"
        )
    return k * reliability / (1 + (k - 1) * reliability)


def replications_for(reliability: float, target: float) -> int | None:
    r"""Compute how many replications a mean needs to reach a target reliability.

    .. math:: k = \lceil R (1 - \rho) / (\rho (1 - R)) \rceil

    Parameters
    ----------
    reliability : float
        Of one judgment (icc1, Krippendorff's alpha), at most 1.
    target : float
        Reliability wanted, in (0, 1).

    Returns
    -------
    int or None
        At least 1; None where one judgment has no reliability (0 or below): no number helps.

    Raises
    ------
    ValueError
        If the reliability is above 1 or the target is not in (0, 1).

    Notes
    -----
    Holds for mean scores and vote shares, not for majority labels.

    Examples
    --------
    >>> replications_for(0.3, 0.8), replications_for(0.0, 0.8)
    (10, None)
    """
    checked_target(target, function="replications_for")
    if not reliability <= 1:
        raise ValueError(f"replications_for: reliability must be at most 1, got {reliability!r}")
    if reliability <= 0:
        return None
    exact = target * (1 - reliability) / (reliability * (1 - target))
    # A whole number must not become the next one by rounding.
    return max(1, math.ceil(exact * (1 - 1e-12)))


def checked_target(target: float, *, function: str) -> float:
    """Refuse a target outside (0, 1).

    Raises
    ------
    ValueError
        If it is outside.

    Examples
    --------
    >>> checked_target(0.9, function="replications_for")
    0.9
    """
    if not 0 < target < 1:
        raise ValueError(f"{function}: target must be between 0 and 1, got {target!r}")
    return target
