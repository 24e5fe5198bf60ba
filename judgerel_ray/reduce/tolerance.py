"""Tolerances a domain sets for itself, judged against the interval and not the point."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

import polars as pl

from judgerel_ray.core import SweepError
from judgerel_ray.reduce.greedy import SERVING_NOISE
from judgerel_ray.reduce.lead_codes import LeadCode
from judgerel_ray.reduce.reproducibility import leads
from judgerel_ray.stats import COEFFICIENTS
from judgerel_ray.stats.correctness import CORRECTNESS

MEETS, FAILS, UNDECIDED = "meets", "fails", "undecided"
AT_MOST = ("flip_rate",)
"""Coefficients of which less is better; a tolerance on any other is the least allowed."""


def check_tolerance(tolerance: Mapping[str, float]) -> None:
    """Refuse tolerances of a sweep that no coefficient of its verdicts can be held to.

    Raises
    ------
    SweepError
        With the name that is probably meant, or the most a coefficient can be.

    Examples
    --------
    >>> check_tolerance({"kripendorff_alpha": 0.8})
    Traceback (most recent call last):
    ...
    judgerel_ray.core.errors.SweepError: tolerance.kripendorff_alpha is no coefficient. Try: ...
    """
    known = (*COEFFICIENTS, *CORRECTNESS)
    for name, value in tolerance.items():
        if name not in known:
            close = get_close_matches(name, known, n=1)
            hint = close[0] if close else f"one of {', '.join(known)}"
            raise SweepError(f"tolerance.{name} is no coefficient", hint=hint)
        check_reachable(name, value)


def check_reachable(name: str, value: float) -> None:
    """Refuse a tolerance that no coefficient can have.

    Raises
    ------
    SweepError
        If it is not finite, or above 1.

    Examples
    --------
    >>> check_reachable("krippendorff_alpha", 2.0)
    Traceback (most recent call last):
    ...
    judgerel_ray.core.errors.SweepError: tolerance for 'krippendorff_alpha' must be at most 1, ...
    """
    if not abs(value) < float("inf"):
        raise SweepError(f"tolerance for {name!r} must be a finite number, got {value}")
    if value > 1:
        raise SweepError(
            f"tolerance for {name!r} must be at most 1, which is all it can be, got {value:g}",
            hint=f"{value / 100:g}, if {value:g} % was meant",
        )


def with_tolerance(coefficients: pl.DataFrame, tolerance: Mapping[str, float]) -> pl.DataFrame:
    """Judge coefficients against tolerances.

    Parameters
    ----------
    coefficients : pl.DataFrame
        With the columns coefficient, low and high, as of
        :func:`judgerel_ray.reduce.reduce_judgments`.
    tolerance : mapping of str to float
        Least value allowed by name of coefficient; the most allowed for `AT_MOST`.

    Returns
    -------
    pl.DataFrame
        With two columns more: ``tolerance``, null where none is set, and ``standing``: "meets"
        where the whole interval does, "fails" where none of it does, else "undecided"; also
        undecided without an interval, and of agreement where fewer than half of the replies hold a
        verdict. Null of repeats at temperature 0, which are not sampled, and
        of repeatability where reproducibility is known.

    Raises
    ------
    SweepError
        If a name is none of the coefficients there, or a tolerance is not finite or above 1.

    Examples
    --------
    >>> rows = pl.DataFrame({"coefficient": ["krippendorff_alpha", "flip_rate"],
    ...                      "low": [0.55, 0.01], "high": [0.9, 0.04]})
    >>> judged = with_tolerance(rows, {"krippendorff_alpha": 0.667, "flip_rate": 0.05})
    >>> judged["standing"].to_list()
    ['undecided', 'meets']
    """
    known = coefficients["coefficient"].unique().to_list()
    for name, value in tolerance.items():
        if coefficients.height and name not in known:
            raise SweepError(f"tolerance for {name!r}, expected one of {', '.join(sorted(known))}")
        check_reachable(name, value)
    limit = pl.col("coefficient").replace_strict(
        list(tolerance), list(tolerance.values()), default=None, return_dtype=pl.Float64
    )
    if "estimator" in coefficients.columns:
        # What is asked of a judge's sampling is not met by a server that repeats itself.
        sampling = ~pl.col("estimator").str.contains(SERVING_NOISE, literal=True)
        limit = pl.when(sampling.fill_null(True)).then(limit)
    limit = pl.when(leads(coefficients)).then(limit)
    at_most = pl.col("coefficient").is_in(AT_MOST)
    good = pl.when(at_most).then(pl.col("high") <= limit).otherwise(pl.col("low") >= limit)
    bad = pl.when(at_most).then(pl.col("low") > limit).otherwise(pl.col("high") < limit)
    if "lead" in coefficients.columns:
        few = (pl.col("lead") == LeadCode.FEW_VERDICTS.value).fill_null(False)
        said = ~few | (pl.col("coefficient") == "valid_rate")
        good, bad = good & said, bad & said
    standing = (
        pl.when(limit.is_null()).then(None)
        .when(good.fill_null(False)).then(pl.lit(MEETS))
        .when(bad.fill_null(False)).then(pl.lit(FAILS))
        .otherwise(pl.lit(UNDECIDED))
    )  # fmt: skip
    return coefficients.with_columns(limit.alias("tolerance"), standing.alias("standing"))
