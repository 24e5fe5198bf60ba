"""Columns of a confusion matrix: what one assessment makes of every option.

Shape suffixes: O = options (rows), A = assessments (columns).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from judgerel_ray.stats.statistic import Floats, divide


def checked_confusion(confusion_OA: ArrayLike, *, function: str) -> Floats:
    """Read a confusion matrix, refusing what is none.

    Raises
    ------
    ValueError
        If it has not two dimensions and one row at least, holds anything but probabilities, or a
        column is NaN in part.

    Examples
    --------
    >>> checked_confusion([[1, 0.5], [0, 0.5]], function="confusion_uncertainty").shape
    (2, 2)
    """
    confusion = np.asarray(confusion_OA, dtype=np.float64)
    if confusion.ndim != 2 or not len(confusion):
        raise ValueError(
            f"{function}: confusion_OA must have 2 dimensions and a row, got {confusion.shape}"
        )
    absent = np.isnan(confusion)
    if (absent.any(axis=0) != absent.all(axis=0)).any():
        raise ValueError(f"{function}: confusion_OA must hold a whole column of NaN or none of it")
    known = confusion[~absent]
    # Sums of exponentials exceed 1 by rounding.
    if ((known < 0) | (known > 1 + 1e-6)).any():
        raise ValueError(f"{function}: confusion_OA must hold probabilities from 0 to 1")
    return confusion


def scaled_columns(confusion_OA: Floats) -> Floats:
    """Scale each column to sum 1; a column of zeros becomes NaN.

    Examples
    --------
    >>> scaled_columns(np.array([[0.2, 0.0], [0.2, 0.0]])).tolist()
    [[0.5, nan], [0.5, nan]]
    """
    return divide(confusion_OA, np.broadcast_to(confusion_OA.sum(axis=0), confusion_OA.shape))


def suggestibility(used_OA: Floats) -> float | None:
    """Compare an option's probability under its own assessment with that under the others'.

    Returns
    -------
    float or None
        Mean of the diagonal less the mean of the rest; None unless there is one assessment an
        option, and each of them there.

    Examples
    --------
    >>> round(suggestibility(np.array([[0.9, 0.7], [0.1, 0.3]])), 6)
    0.2
    """
    n = len(used_OA)
    own = np.eye(n, dtype=bool)
    if used_OA.shape != own.shape or np.isnan(used_OA).all(axis=0).any():
        return None
    return float(used_OA[own].mean() - used_OA[~own].mean())


def dobrushin(shares_OA: Floats) -> float | None:
    """Give the largest total variation between two columns, each of sum 1.

    Returns
    -------
    float or None
        In [0, 1]; None below two columns without NaN.

    Examples
    --------
    >>> round(dobrushin(np.array([[0.9, 0.7], [0.1, 0.3]])), 6)
    0.2
    """
    columns = shares_OA[:, ~np.isnan(shares_OA).any(axis=0)]
    if columns.shape[1] < 2:
        return None
    apart = np.abs(columns[:, :, None] - columns[:, None, :]).sum(axis=0) / 2
    return float(apart.max())


def mutual_information(shares_OA: Floats) -> float | None:
    """Give the mean divergence of columns of sum 1 from their mean, in nats.

    Returns
    -------
    float or None
        At most log of the number of columns; None below two columns without NaN.

    Examples
    --------
    >>> round(mutual_information(np.eye(2)), 6)
    0.693147
    """
    columns = shares_OA[:, ~np.isnan(shares_OA).any(axis=0)]
    if columns.shape[1] < 2:
        return None
    mean = np.broadcast_to(columns.mean(axis=1, keepdims=True), columns.shape)
    there = columns > 0
    terms = columns[there] * np.log(columns[there] / mean[there])
    return float(max(0.0, terms.sum() / columns.shape[1]))
