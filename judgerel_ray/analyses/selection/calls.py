"""Systems of a run or a file, as a Python program asks for them; loads nothing heavy by itself."""

from __future__ import annotations

from os import PathLike, fspath
from typing import TYPE_CHECKING, Literal

from judgerel_ray.counting.given import given

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from judgerel_ray.counting.given import Judgments


def selection(
    path: Judgments,
    *,
    by: Sequence[str] | None = None,
    gold: str | PathLike[str] | None = None,
    confidence: Sequence[str] | str | None = None,
    risk: float = 0.1,
    delta: float = 0.1,
    bins: int = 10,
    band: Literal["bonferroni", "dkw"] = "bonferroni",
    resamples: int = 2000,
    seed: int = 0,
    exact_values: bool = False,
    verdict_names: str | None = None,
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Tell what accepting answers from a confidence on is worth, by system.

    A system is a judge in a role, at a temperature, with a template. Questions are what is
    independent, however often each was asked.

    Parameters
    ----------
    path : str, path or frame
        A run whose items name their right option, or a file of judgments with ``item_id``,
        ``replication``, ``verdict``, ``gold`` and, where it was stated, ``confidence``.
    by : sequence of str, optional
        Columns that make a system, in place of those.
    gold : str or path, optional
        A table of ``item_id`` and ``gold``, in place of what is known.
    confidence : str or sequence of str, optional
        "stated", "agreement" and "support" (of the question's other replications), "margin" (of
        the confusion matrix), "probability" (of the verdict); by default those that are there.
    risk, delta : float
        A threshold is sought that accepts at most that share of wrong answers, but for that chance.
    bins : int
        Of the calibration error.
    band : {"bonferroni", "dkw"}
        How the band of the acceptance curve is made.
    resamples, seed : int
        Of draws; equal seeds give equal digits.
    exact_values : bool
        As of :func:`judgerel_ray.reduce`.
    verdict_names : {"option", "place"}, optional
        As of :func:`judgerel_ray.reduce`.

    Returns
    -------
    tuple of DataFrame
        Systems (accuracy beside chance, AUROC, AURC, calibration error, Brier score), acceptance
        (error and accuracy at every threshold that occurs), reliability (accuracy by confidence)
        and guarantees (thresholds learnt on half of the questions, tried on the other).

    Raises
    ------
    SweepError, StoreError
        If the path, a column or a choice is wrong, or nobody knows what is right.

    Examples
    --------
    >>> selection("no-such-run")
    Traceback (most recent call last):
    judgerel_ray.core.errors.SweepError: no such file [path=no-such-run]
    """
    from judgerel_ray.analyses.selection.from_run import run_selection
    from judgerel_ray.analyses.selection.selection import SelectionOptions

    names = (confidence,) if isinstance(confidence, str) else confidence
    options = SelectionOptions(
        confidences=None if names is None else tuple(names), n_bins=bins, band=band, risk=risk,
        delta=delta, resamples=resamples, seed=seed,
    )  # fmt: skip
    found = run_selection(
        given(path, exact_values=exact_values, verdict_names=verdict_names),
        options,
        by=by,
        gold=None if gold is None else fspath(gold),
    )
    return found.systems, found.acceptance, found.reliability, found.guarantees


def comparison(
    path: Judgments,
    *,
    by: Sequence[str] | None = None,
    gold: str | PathLike[str] | None = None,
    confidence: str | None = None,
    answer: Literal["first", "majority"] = "first",
    family: Literal["all", "roles", "best"] = "all",
    answer_temperature: float | None = None,
    resamples: int = 2000,
    seed: int = 0,
    exact_values: bool = False,
    verdict_names: str | None = None,
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Compare systems on the questions they share, joined by question.

    Parameters
    ----------
    path, by, gold
        As of :func:`selection`.
    confidence : str, optional
        By which answers are accepted; by default the first that both systems have.
    answer : {"first", "majority"}
        Of a question asked several times.
    family : {"all", "roles", "best"}
        All pairs, those of one judge's roles, or every system against the best model alone. Holm's
        adjustment is over all of them.
    answer_temperature : float, optional
        Of the answers that judges compared, where models answered at several; a run's sweep says.
    resamples, seed : int
        Of the bootstrap, which draws questions for both systems at once.
    exact_values : bool
        As of :func:`judgerel_ray.reduce`.
    verdict_names : {"option", "place"}, optional
        As of :func:`judgerel_ray.reduce`.

    Returns
    -------
    tuple of DataFrame
        Pairs (exact McNemar, differences with intervals), equal acceptance (errors where both
        accept the same share), matched cost (judges against the same cost spent on a single model)
        and self-preference.

    Raises
    ------
    SweepError, StoreError
        As of :func:`selection`; or if there are no two systems.

    Examples
    --------
    >>> comparison("no-such-run")
    Traceback (most recent call last):
    judgerel_ray.core.errors.SweepError: no such file [path=no-such-run]
    """
    from judgerel_ray.analyses.selection.from_run import run_comparison
    from judgerel_ray.analyses.selection.systems_paired import ComparisonOptions

    options = ComparisonOptions(
        answer=answer, family=family, confidence=confidence, resamples=resamples, seed=seed,
        answer_temperature=answer_temperature,
    )  # fmt: skip
    found = run_comparison(
        given(path, exact_values=exact_values, verdict_names=verdict_names),
        options,
        by=by,
        gold=None if gold is None else fspath(gold),
    )
    return found.pairs, found.equal_acceptance, found.matched_cost, found.self_preference
