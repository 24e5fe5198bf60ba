"""Tables of a run beside its coefficients, as a Python program asks for them.

Loads nothing heavy: the package opens these when it is imported.
"""

from __future__ import annotations

from os import PathLike, fspath
from typing import TYPE_CHECKING

from judgerel_ray.counting.given import given

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from judgerel_ray.counting.given import Judgments


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
    from judgerel_ray.analyses.distributions.from_run import run_limits

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
    from judgerel_ray.analyses.distributions.from_run import run_settled

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
    from judgerel_ray.analyses.distributions.from_run import run_reasoning

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
    from judgerel_ray.analyses.confusion.from_run import run_uncertainty
    from judgerel_ray.analyses.confusion.uncertainty import uncertainty_options

    options = uncertainty_options(threshold=threshold, rule=rule, risk=risk, delta=delta)
    return run_uncertainty(fspath(path), options)


def scales(
    path: Judgments,
    *,
    mapping: str | None = None,
    preset: str | None = None,
    pairing: str = "all",
    by: Sequence[str] | None = None,
    scale: Sequence[str | PathLike[str]] = (),
    exact_values: bool = False,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Consistency of ratings on each scale, and across every pair of scales.

    Parameters
    ----------
    path : str, path or frame
        A run with asks of protocol ``rating``, or a file or frame with a column ``scale``.
    mapping : {"minmax", "midrank", "fraction", "collapse", "binarise"}, optional
        How scores come onto one axis; min-max by default.
    preset : str, optional
        One comparison with its mapping: "lee2025_case1", "lee2025_case2", "lee2025_case3".
    pairing : {"all", "first"}
        All replications of one scale with all of the other; or the first of each.
    by : sequence of str, optional
        Columns that make a group; default judge, benchmark, criterion, definition and temperature.
    scale : sequence of str or path
        Files of scales that a file of ratings names, and that do not ship.
    exact_values : bool
        As of :func:`judgerel_ray.reduce`.

    Returns
    -------
    tuple of DataFrame
        As ``judgerel reduce PATH --scales`` prints: self-consistency, one row a group and scale;
        inter-scale consistency, one row a group and comparison.

    Raises
    ------
    SweepError, StoreError
        If the path, a name or a scale is wrong.

    Examples
    --------
    >>> scales("no-such-run", pairing="some")
    Traceback (most recent call last):
    judgerel_ray.core.errors.SweepError: pairing must be one of all, first, got 'some'
    """
    from judgerel_ray.analyses.ratings.from_run import run_scales
    from judgerel_ray.analyses.ratings.inter_scale import scale_choice

    choice = scale_choice(mapping=mapping, preset=preset, pairing=pairing)
    return run_scales(
        given(path, exact_values=exact_values),
        choice,
        by=by,
        scale_files=[fspath(one) for one in scale],
    )


def alignment(
    path: Judgments,
    *,
    reference: str | PathLike[str],
    coefficients: Sequence[str] | None = None,
    by: Sequence[str] | None = None,
    scale: Sequence[str | PathLike[str]] = (),
    exact_values: bool = False,
) -> pl.DataFrame:
    """Agreement of ratings with a reference, of single replications and of their mean.

    Parameters
    ----------
    path : str, path or frame
        As of :func:`scales`.
    reference : str or path
        A judge in it; "human", the ratings of a run's items; or a CSV or Parquet file of item_id,
        score, and what else tells ratings apart of responder, criterion, definition, scale.
    coefficients : sequence of str, optional
        Of pearson, spearman, kendall, icc_agreement, icc_consistency; by default all.
    by, scale, exact_values
        As of :func:`scales`.

    Returns
    -------
    DataFrame
        As ``judgerel reduce PATH --reference WHO`` prints: one row a group, scale and coefficient.

    Raises
    ------
    SweepError, StoreError
        If the path or the reference is wrong.

    Examples
    --------
    >>> alignment("no-such-run", reference="human")
    Traceback (most recent call last):
    judgerel_ray.core.errors.SweepError: no such file [path=no-such-run]
    """
    from judgerel_ray.analyses.ratings.from_run import run_alignment

    files = [fspath(one) for one in scale]
    return run_alignment(
        given(path, exact_values=exact_values),
        fspath(reference),
        coefficients=coefficients,
        by=by,
        scale_files=files,
    )


def ranking(
    path: Judgments,
    *,
    reference: str | PathLike[str] | None = None,
    outside: str | PathLike[str] | None = None,
    mapping: str | None = None,
    preset: str | None = None,
    pairing: str = "all",
    by: Sequence[str] | None = None,
    scale: Sequence[str | PathLike[str]] = (),
    exact_values: bool = False,
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Rank judges by self-consistency, inter-scale consistency, alignment and an outside score.

    Parameters
    ----------
    path : str, path or frame
        As of :func:`scales`.
    reference : str or path, optional
        As of :func:`alignment`; without it, no alignment. A judge that is it is not ranked.
    outside : str or path, optional
        A CSV or Parquet file of judge and score.
    mapping, preset, pairing, by, scale, exact_values
        As of :func:`scales`.

    Returns
    -------
    tuple of DataFrame
        As ``judgerel reduce PATH --ranking`` prints: ranks by measure, mean ranks, and how far the
        measures agree.

    Raises
    ------
    SweepError, StoreError
        If the path or a file is wrong, or no two judges rated at one temperature.

    Examples
    --------
    >>> ranking("no-such-run")
    Traceback (most recent call last):
    judgerel_ray.core.errors.SweepError: no such file [path=no-such-run]
    """
    from judgerel_ray.analyses.ratings.from_run import run_ranking
    from judgerel_ray.analyses.ratings.inter_scale import scale_choice

    found = run_ranking(
        given(path, exact_values=exact_values),
        scale_choice(mapping=mapping, preset=preset, pairing=pairing),
        reference=None if reference is None else fspath(reference),
        outside=None if outside is None else fspath(outside),
        by=by,
        scale_files=[fspath(one) for one in scale],
    )
    return found.ranks, found.mean_ranks, found.agreements
