"""Panels and cascades, as a Python program asks for them; loads nothing heavy by itself."""

from __future__ import annotations

from os import PathLike, fspath
from typing import TYPE_CHECKING

from judgerel_ray.counting.given import given

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from judgerel_ray.analyses.selection.spending import Price
    from judgerel_ray.counting.given import Judgments


def panels(
    path: Judgments,
    *,
    by: Sequence[str] | None = None,
    gold: str | PathLike[str] | None = None,
    prices: Mapping[str, float | tuple[float, float]] | None = None,
    confidence: str = "stated",
    seed: int = 0,
    exact_values: bool = False,
    verdict_names: str | None = None,
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Tell what judges are worth as a panel, which to buy, and what the next one adds.

    Members are judges, in a role where there are several, of one benchmark, temperature and
    template; joined by question.

    Parameters
    ----------
    path : str, path or frame
        As of :func:`judgerel_ray.selection`.
    by : sequence of str, optional
        Columns that tell panels apart, in place of those.
    gold : str or path, optional
        As of :func:`judgerel_ray.selection`.
    prices : mapping of str to float or (float, float), optional
        By judge, of a reply; or of a million tokens read and written. By default the rows' own
        ``cost``, else their tokens, else requests.
    confidence : str
        By which votes are weighted: "stated", "agreement", "support", "margin", "probability".
    seed : int
        How folds are drawn.
    exact_values : bool
        As of :func:`judgerel_ray.reduce`.
    verdict_names : {"option", "place"}, optional
        As of :func:`judgerel_ray.reduce`.

    Returns
    -------
    tuple of DataFrame
        Members alone; all together by each rule (majority, by confidence, by accuracy elsewhere);
        the best panel of each size and cost, in sample and held out; random panels of each size
        with the gain of one more; how many independent members they are worth.

    Raises
    ------
    SweepError, StoreError
        As of :func:`judgerel_ray.selection`; or if no two systems share a question.

    Examples
    --------
    >>> panels("no-such-run")
    Traceback (most recent call last):
    judgerel_ray.core.errors.SweepError: no such file [path=no-such-run]
    """
    from judgerel_ray.analyses.panels.from_run import run_panels

    found = run_panels(
        given(path, exact_values=exact_values, verdict_names=verdict_names),
        by=by, gold=_path(gold), prices=_prices(prices),
        confidence=confidence, seed=seed,
    )  # fmt: skip
    return found.members, found.panels, found.best, found.next, found.worth


def cascade(
    path: Judgments,
    *,
    order: Sequence[str] = (),
    person_cost: float | None = None,
    person_accuracy: float = 1.0,
    by: Sequence[str] | None = None,
    gold: str | PathLike[str] | None = None,
    prices: Mapping[str, float | tuple[float, float]] | None = None,
    confidence: str = "stated",
    points: int = 10,
    seed: int = 0,
    exact_values: bool = False,
    verdict_names: str | None = None,
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Tell what it buys to ask the next model, or a person, only where confidence falls short.

    Parameters
    ----------
    path : str, path or frame
        As of :func:`judgerel_ray.selection`.
    order : sequence of str
        Members (see :func:`panels`), who is asked first first; by default all, by mean cost.
    person_cost : float, optional
        Of asking a person last, in the unit of the other costs; by default nobody is.
    person_accuracy : float
        How often that person is right: assumed, not measured.
    by, gold, prices
        As of :func:`panels`.
    confidence : {"stated", "margin", "probability"}
        Which falls short.
    points : int
        Budgets on the curve.
    seed : int
        As of :func:`panels`.
    exact_values : bool
        As of :func:`judgerel_ray.reduce`.
    verdict_names : {"option", "place"}, optional
        As of :func:`judgerel_ray.reduce`.

    Returns
    -------
    tuple of DataFrame
        Everyone asked, alone; and the curve of accuracy against cost, with thresholds chosen on
        other questions than they are tried on, beside passing on at random and the best member
        alone for the same money.

    Raises
    ------
    SweepError, StoreError
        As of :func:`panels`; or if nothing says who is asked first or when to pass on.

    Examples
    --------
    >>> cascade("no-such-run")
    Traceback (most recent call last):
    judgerel_ray.core.errors.SweepError: no such file [path=no-such-run]
    """
    from judgerel_ray.analyses.panels.cascade_choice import CascadeChoice
    from judgerel_ray.analyses.panels.from_run import run_cascade

    choice = CascadeChoice(
        order=tuple(order), person_cost=person_cost, person_accuracy=person_accuracy,
        n_budgets=points, seed=seed,
    )  # fmt: skip
    found = run_cascade(
        given(path, exact_values=exact_values, verdict_names=verdict_names),
        choice, by=by, gold=_path(gold),
        prices=_prices(prices), confidence=confidence,
    )  # fmt: skip
    return found.stages, found.curve


def cascaded(path: str | PathLike[str]) -> pl.DataFrame | None:
    """Tell what the cascades of a run did: who answered how much, how well, and at what cost.

    Parameters
    ----------
    path : str or path
        A run directory.

    Returns
    -------
    DataFrame or None
        As :func:`.cascaded_table`; None where the sweep asked none.

    Raises
    ------
    SweepError, StoreError
        If there is nothing at the path.

    Examples
    --------
    >>> cascaded("no-such-run")
    Traceback (most recent call last):
    judgerel_ray.core.errors.SweepError: no such file [path=no-such-run]
    """
    from judgerel_ray.analyses.panels.from_run import run_cascaded

    return run_cascaded(fspath(path))


def _path(path: str | PathLike[str] | None) -> str | None:
    """A path as text."""
    return None if path is None else fspath(path)


def _prices(
    prices: Mapping[str, float | tuple[float, float]] | None,
) -> dict[str, Price] | None:
    """Prices as the reducers have them."""
    from judgerel_ray.analyses.selection.spending import Price

    if prices is None:
        return None
    return {
        name: Price(prompt=price[0], completion=price[1])
        if isinstance(price, tuple)
        else Price(reply=price)
        for name, price in prices.items()
    }
