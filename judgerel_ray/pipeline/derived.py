"""Tables of a run beside its coefficients, as a Python program asks for them.

Loads nothing heavy: the package opens these when it is imported.
"""

from __future__ import annotations

from os import PathLike, fspath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl


def limits(path: str | PathLike[str]) -> pl.DataFrame:
    """Coefficients of endless replications, from the verdict distributions of a run.

    Parameters
    ----------
    path : str or path
        A run with asks of ``mode = "exact"``.

    Returns
    -------
    DataFrame
        As ``judgerel reduce RUN --limits`` prints: one row a group and coefficient.

    Raises
    ------
    StoreError
        If the path is no run, or the run has no distributions.

    Examples
    --------
    >>> limits("no-such-run")
    Traceback (most recent call last):
    judgerel_ray.core.errors.StoreError: expected a run directory, got none ...
    """
    from judgerel_ray.pipeline import run_limits

    return run_limits(fspath(path))


def settled(path: str | PathLike[str]) -> pl.DataFrame:
    """Tell which questions of an adaptive run have a stable verdict.

    Parameters
    ----------
    path : str or path
        A run with ``replications = { adaptive = ... }``.

    Returns
    -------
    DataFrame
        :class:`judgerel_ray.tables.Settled`, one row a condition; the summary that ``judgerel
        reduce RUN --settled`` prints is made of it.

    Raises
    ------
    StoreError
        If the path is no run, or the run asked nothing adaptively.

    Examples
    --------
    >>> settled("no-such-run")
    Traceback (most recent call last):
    judgerel_ray.core.errors.StoreError: expected a run directory, got none ...
    """
    from judgerel_ray.pipeline import run_settled

    return run_settled(fspath(path))[0]


def reasoning(path: str | PathLike[str]) -> pl.DataFrame:
    """Where verdicts of a run vary: between reasonings, or in the verdict drawn after one.

    Parameters
    ----------
    path : str or path
        A run with ``verdict_logprobs = true``.

    Returns
    -------
    DataFrame
        As ``judgerel reduce RUN --reasoning`` prints: one row a judge, benchmark and temperature.

    Raises
    ------
    StoreError
        If the path is no run, or the run read no probabilities at its verdicts.

    Examples
    --------
    >>> reasoning("no-such-run")
    Traceback (most recent call last):
    judgerel_ray.core.errors.StoreError: expected a run directory, got none ...
    """
    from judgerel_ray.pipeline import run_reasoning

    return run_reasoning(fspath(path))


def uncertainty(
    path: str | PathLike[str],
    *,
    threshold: float | None = None,
    rule: Sequence[str] | str = (),
    risk: float = 0.1,
    delta: float = 0.1,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Uncertainty of single judgments, from the confusion matrices of a run.

    Parameters
    ----------
    path : str or path
        A run with asks of protocol ``confusion``.
    threshold : float, optional
        Of the labels low and high, in (0, 1]; cross-fitted without it.
    rule : str or sequence of str
        "normalised" (columns), "formula" (whatever the judge chose), "exceeding" (the threshold).
    risk, delta : float
        Of the guaranteed threshold: the share wrong it may accept, but for that chance.

    Returns
    -------
    tuple of DataFrame
        One row a judgment; and, as ``judgerel reduce RUN --uncertainty`` prints, their worth.

    Raises
    ------
    StoreError
        If the path is no run, or the run asked for no confusion.

    Examples
    --------
    >>> uncertainty("no-such-run")
    Traceback (most recent call last):
    judgerel_ray.core.errors.StoreError: expected a run directory, got none ...
    """
    from judgerel_ray.pipeline import run_uncertainty
    from judgerel_ray.reduce.uncertainty import uncertainty_options

    options = uncertainty_options(threshold=threshold, rule=rule, risk=risk, delta=delta)
    return run_uncertainty(fspath(path), options)
