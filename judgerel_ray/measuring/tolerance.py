"""Tolerances a domain sets for itself, judged against the interval and not the point."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from judgerel_ray.core import SweepError
from judgerel_ray.core.codes import Flag
from judgerel_ray.core.verb import check_reachable
from judgerel_ray.measuring.lead_codes import LeadCode, leads
from judgerel_ray.stats import COEFFICIENTS
from judgerel_ray.stats.agreement.agreement import CORRECTNESS, declaration

_OTHER_SHARES = (*CORRECTNESS, "swap_consistency", "place_consistency", "first_place")
MEETS, FAILS, UNDECIDED = "meets", "fails", "undecided"
AT_MOST = tuple(
    name for name in COEFFICIENTS if (of := declaration(name)) is not None and of.less_is_better
)
"""Coefficients of which less is better; a tolerance on any other is the least allowed."""


def with_tolerance(coefficients: pl.DataFrame, tolerance: Mapping[str, float]) -> pl.DataFrame:
    """Judge coefficients against tolerances.

    With two columns more: ``tolerance``, null where none is set, and ``standing``: "meets" where
    the whole confidence interval does, "fails" where none of it does, else "undecided"; also
    undecided without an interval, and of agreement where fewer than half of the replies hold a
    verdict. Null of repeats at temperature 0, which are not sampled, and of repeatability where
    reproducibility is known.

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
    if "flags" in coefficients.columns:
        # What is asked of a judge's sampling is not met by a server that repeats itself.
        sampling = ~pl.col("flags").list.contains(Flag.SERVING_NOISE.value)
        limit = pl.when(sampling.fill_null(True)).then(limit)
    limit = pl.when(leads(coefficients)).then(limit)
    standings = standing(coefficients, limit, at_most=pl.col("coefficient").is_in(AT_MOST))
    return coefficients.with_columns(limit.alias("tolerance"), standings.alias("standing"))


def standing(coefficients: pl.DataFrame, limit: pl.Expr, *, at_most: pl.Expr) -> pl.Expr:
    """Say where the whole confidence interval of each row lies.

    "meets" where the whole confidence interval does, "fails" where none of it does, else
    "undecided", as of agreement where fewer than half of the replies hold a verdict.

    Examples
    --------
    >>> rows = pl.DataFrame({"coefficient": ["valid_rate"], "low": [0.9], "high": [0.94]})
    >>> rows.select(standing(rows, pl.lit(0.95), at_most=pl.lit(False))).item()
    'fails'
    """
    good = pl.when(at_most).then(pl.col("high") <= limit).otherwise(pl.col("low") >= limit)
    bad = pl.when(at_most).then(pl.col("low") > limit).otherwise(pl.col("high") < limit)
    if "lead" in coefficients.columns:
        few = (pl.col("lead") == LeadCode.FEW_VERDICTS.value).fill_null(False)
        has_verdicts = ~few | (pl.col("coefficient") == "valid_rate")
        good, bad = good & has_verdicts, bad & has_verdicts
    return (
        pl.when(limit.is_null()).then(None)
        .when(good.fill_null(False)).then(pl.lit(MEETS))
        .when(bad.fill_null(False)).then(pl.lit(FAILS))
        .otherwise(pl.lit(UNDECIDED))
    )  # fmt: skip


def is_share(name: str) -> bool:
    """Tell a coefficient that is a mean, over questions, of what lies between 0 and 1.

    Examples
    --------
    >>> [is_share(name) for name in ("flip_rate", "accuracy", "icc1")]
    [True, True, False]
    """
    declared = declaration(name)
    if declared is None:
        return name in _OTHER_SHARES or name.startswith("class_agreement")
    return not declared.chance_corrected


def possible_values(name: str) -> tuple[float, float]:
    """Give the least and the most that a coefficient can be: of shares 0 and 1, else -1 and 1.

    Examples
    --------
    >>> possible_values("flip_rate"), possible_values("krippendorff_alpha")
    ((0.0, 1.0), (-1.0, 1.0))
    """
    return (0.0 if is_share(name) else -1.0), 1.0
