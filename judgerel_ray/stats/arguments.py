"""Checks of arguments that functions of several topics take; each raises ValueError."""

from collections.abc import Collection

import numpy as np
from numpy.typing import ArrayLike, NDArray

from judgerel_ray.core.text import either


def check_fraction(function: str, **numbers: float) -> None:
    """Refuse numbers that are not between 0 and 1, such as a confidence, by their names."""
    for argument, number in numbers.items():
        if not 0 < number < 1:
            raise ValueError(f"{function}: {argument} must be between 0 and 1, got {number!r}")


def check_at_least_1(function: str, **numbers: int | None) -> None:
    """Refuse numbers below 1, by their names; None is none."""
    for argument, number in numbers.items():
        if number is not None and number < 1:
            raise ValueError(f"{function}: {argument} must be at least 1, got {number}")


def check_choice(function: str, known: Collection[str], **chosen: str) -> None:
    """Refuse what is none of the known choices, by its name."""
    for argument, choice in chosen.items():
        if choice not in known:
            raise ValueError(
                f"{function}: {argument} must be one of {either(*known)}, got {choice!r}"
            )


def check_one_length(function: str, **arrays: NDArray[np.generic]) -> None:
    """Refuse arrays, by their names, that are not rows of one length."""
    shapes = [array.shape for array in arrays.values()]
    if len(set(shapes)) > 1 or len(shapes[0]) != 1:
        raise ValueError(
            f"{function}: {', '.join(arrays)} must be of one length, in one shape (n,), "
            f"got {', '.join(map(str, shapes))}"
        )


def check_shape(function: str, shape: tuple[int, ...], **arrays: NDArray[np.generic]) -> None:
    """Refuse arrays, by their names, that are not of a shape."""
    for argument, array in arrays.items():
        if array.shape != shape:
            raise ValueError(f"{function}: {argument} must have shape {shape}, got {array.shape}")


def scores_of(scores: ArrayLike, *, function: str, argument: str) -> NDArray[np.float64]:
    """Read a table of scores, NaN where there is none."""
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or np.isinf(table).any():
        raise ValueError(
            f"{function}: {argument} must have 2 dimensions, got {table.ndim}, and be finite or NaN"
        )
    return table


def clusters_of(
    clusters_U: ArrayLike | None, n: int, *, function: str, argument: str = "clusters_U"
) -> NDArray[np.generic]:
    """Read the question of each of n rows; without any, each row is one."""
    clusters = np.arange(n) if clusters_U is None else np.asarray(clusters_U)
    check_shape(function, (n,), **{argument: clusters})
    return clusters
