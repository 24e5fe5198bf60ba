"""Expected scores of a run, as a Python program asks for them.

Loads nothing heavy: the package opens it when it is imported.
"""

from __future__ import annotations

from os import PathLike, fspath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


def weighted(path: str | PathLike[str]) -> pl.DataFrame:
    """Score every response by the values of its scale, weighted by their probabilities.

    Parameters
    ----------
    path : str or path
        A run with asks of protocol ``rating`` and ``mode = "exact"``.

    Returns
    -------
    DataFrame
        One row a response and way of asking: score, certain low and high, and the probability of a
        reply with a score; ``judgerel reduce RUN --weighted`` prints its summary.

    Raises
    ------
    StoreError
        If the path is no run, or the run has no distributions of ratings.

    Examples
    --------
    >>> weighted("no-such-run")
    Traceback (most recent call last):
    judgerel_ray.core.errors.StoreError: expected a run directory, got none ...
    """
    from judgerel_ray.analyses.distributions.from_run import run_weighted

    return run_weighted(fspath(path))[0]
