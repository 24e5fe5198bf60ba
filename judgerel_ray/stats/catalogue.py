"""Every coefficient of counts by name, taken apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from judgerel_ray.stats.certainty import entropy_statistic, unanimity_statistic
from judgerel_ray.stats.chance import (
    MEAN_PAIRS,
    ac1_terms,
    ac1_value,
    brennan_prediger_value,
    fleiss_terms,
    fleiss_value,
    pair_terms,
)
from judgerel_ray.stats.intraclass import icc_statistic
from judgerel_ray.stats.krippendorff import Level, Values, alpha_statistic
from judgerel_ray.stats.majority import majority_statistic
from judgerel_ray.stats.statistic import CountStatistic, Floats, divide

_ICC = ("icc1", "icck")


def count_statistic(
    name: str,
    *,
    n_values: int,
    values: Values | None = None,
    level: Level = "nominal",
    n_categories: int | None = None,
) -> CountStatistic:
    """Take a coefficient of counts apart, by name.

    Parameters
    ----------
    name : str
        A name of ``judgerel_ray.stats.COEFFICIENTS``, or ``majority_stability_k`` of any k.
    n_values : int
        Columns of the counts it will be given.
    values : sequence, optional
        What the columns stand for (for the levels other than nominal).
    level : {"nominal", "ordinal", "interval", "ratio"}
        Level of measurement, of Krippendorff's alpha and of icc1 and icck (numbers, but for
        "nominal").
    n_categories : int, optional
        Declared categories, for Gwet's AC1, Brennan-Prediger and entropy; by default `n_values`.

    Returns
    -------
    CountStatistic

    Raises
    ------
    ValueError
        If the name or level is unknown, or the values or categories do not fit.

    Examples
    --------
    >>> count_statistic("percent_agreement", n_values=2).min_ratings
    2
    """
    if n_categories is not None and n_categories < 1:
        raise ValueError(f"{name}: n_categories must be at least 1, got {n_categories}")
    categories = n_values if n_categories is None else n_categories
    if name == "krippendorff_alpha":
        return alpha_statistic(n_values=n_values, values=values, level=level)
    if name in _ICC:
        return icc_statistic(name, n_values=n_values, values=values, level=level)
    stem, _, k = name.rpartition("_")
    if stem == "majority_stability" and k.isdecimal() and int(k) > 0:
        return majority_statistic(int(k))
    known = (*_shares(), *_chance_corrected(categories))
    for statistic in known:
        if statistic.name == name:
            return statistic
    names = ("krippendorff_alpha", *_ICC, "majority_stability_k", *(one.name for one in known))
    raise ValueError(f"count_statistic: name must be one of {names}, got {name!r}")


def _shares() -> tuple[CountStatistic, ...]:
    """Shares of pairs and of replies."""
    return (
        CountStatistic(
            name="percent_agreement",
            estimator="share of agreeing pairs, mean over units",
            terms=pair_terms,
            value=_agreement,
            chance_corrected=False,
            pairs=MEAN_PAIRS,
        ),
        CountStatistic(
            name="flip_rate",
            estimator="share of pairs that differ, mean over units",
            terms=pair_terms,
            value=lambda total: 1 - _agreement(total),
            chance_corrected=False,
            pairs=MEAN_PAIRS,
        ),
        unanimity_statistic(),
        CountStatistic(
            name="valid_rate",
            estimator="share of replies with a verdict",
            terms=_valid_terms,
            value=_agreement,
            min_ratings=1,
            chance_corrected=False,
        ),
    )


def _chance_corrected(n_categories: int) -> tuple[CountStatistic, ...]:
    """Agreement beyond what chance would give."""
    return (
        CountStatistic(
            name="fleiss_kappa",
            estimator="chance from the pooled verdicts",
            terms=fleiss_terms,
            value=fleiss_value,
            pairs=MEAN_PAIRS,
            rests_on_minority=True,
            less_bias=True,
        ),
        CountStatistic(
            name="gwet_ac1",
            estimator="chance from the mean shares, over K - 1",
            terms=ac1_terms,
            value=lambda total: ac1_value(total, n_categories),
            min_ratings=1,
            pairs=replace(MEAN_PAIRS, shares=3),
        ),
        CountStatistic(
            name="brennan_prediger",
            estimator="chance 1 / K",
            terms=pair_terms,
            value=lambda total: brennan_prediger_value(total, n_categories),
            pairs=MEAN_PAIRS,
        ),
        entropy_statistic(n_categories),
    )


def _agreement(total: Floats) -> Floats:
    """Second sum over the first."""
    return divide(total[..., 1], total[..., 0])


def _valid_terms(counts_U2: Floats) -> Floats:
    """[replies, replies with a verdict]."""
    return np.stack([counts_U2.sum(axis=-1), counts_U2[..., 0]], axis=-1)
