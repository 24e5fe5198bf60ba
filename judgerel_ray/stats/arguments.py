"""Checks of arguments that functions of several topics take."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def check_confidence(confidence: float, *, function: str) -> None:
    """Refuse a confidence that is none (ValueError)."""
    if not 0 < confidence < 1:
        raise ValueError(f"{function}: confidence must be between 0 and 1, got {confidence!r}")


def clusters_of(
    clusters_U: ArrayLike | None, n: int, *, function: str, argument: str = "clusters_U"
) -> NDArray[np.generic]:
    """Read the question of each of n rows (ValueError); without any, each row is one."""
    clusters = np.arange(n) if clusters_U is None else np.asarray(clusters_U)
    if clusters.shape != (n,):
        raise ValueError(f"{function}: {argument} must have shape ({n},), got {clusters.shape}")
    return clusters


def check_at_least_1(function: str, **numbers: int | None) -> None:
    """Refuse numbers below 1, by their names (ValueError); None is none."""
    for argument, number in numbers.items():
        if number is not None and number < 1:
            raise ValueError(f"{function}: {argument} must be at least 1, got {number}")
