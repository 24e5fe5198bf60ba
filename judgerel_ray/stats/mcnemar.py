"""McNemar's exact test: two judges, right and wrong on the same questions."""

from __future__ import annotations


def mcnemar_exact(b: int, c: int) -> float:
    """Compute the two-sided p-value of paired verdicts that are right or wrong.

    Questions on which both are right, or both wrong, say nothing about which is better; were they
    equally good, each of the others would favour either by the toss of a coin.

    Parameters
    ----------
    b, c : int
        Questions on which the first alone, and the second alone, is right.

    Returns
    -------
    float
        In (0, 1]; 1 where there is no such question.

    Raises
    ------
    ValueError
        If a number is negative or not whole.

    Notes
    -----
    Join the two by question first: rows in different orders make every pair a false one.

    References
    ----------
    .. [1] McNemar, Q. (1947), doi:10.1007/BF02295996.

    Examples
    --------
    Twice the chance of 1 head or fewer in 8 tosses, (1 + 8) / 256:

    >>> mcnemar_exact(1, 7)
    0.0703125
    """
    from scipy.special import bdtr

    if b < 0 or c < 0 or b % 1 or c % 1:
        raise ValueError(f"mcnemar_exact: expected whole numbers from 0 on, got {b!r} and {c!r}")
    return min(1.0, 2.0 * float(bdtr(min(b, c), b + c, 0.5)))
