"""The published verbal bands of reliability, given to intervals and never to points."""

from __future__ import annotations

import polars as pl

from judgerel_ray.reduce.greedy import SERVING_NOISE
from judgerel_ray.reduce.lead_codes import LeadCode
from judgerel_ray.reduce.reproducibility import leads

BANDED = (
    "krippendorff_alpha", "icc1", "icck", "cronbach_alpha", "mcdonald_omega", "omega_hierarchical",
    "schroeder2024_alpha", "schroeder2024_omega",
)  # fmt: skip
"""Coefficients that are reliabilities; of others there is no band."""


def with_bands(coefficients: pl.DataFrame) -> pl.DataFrame:
    """Name the verbal band of each reliability, or the bands that its interval spans.

    Parameters
    ----------
    coefficients : pl.DataFrame
        With the columns coefficient, missing, low and high, as of
        :func:`judgerel_ray.reduce.reduce_judgments`.

    Returns
    -------
    pl.DataFrame
        With one column more, ``band``, by :func:`judgerel_ray.legacy.verbal_band`; null for
        coefficients that are no reliability, for worst and best cases, for repeats at
        temperature 0, for repeatability where reproducibility is known, and where fewer than half
        of the replies hold a verdict.

    Examples
    --------
    >>> rows = pl.DataFrame({"coefficient": ["krippendorff_alpha", "icc1", "flip_rate"],
    ...                      "missing": ["drop"] * 3, "low": [0.81, 0.5, 0.1],
    ...                      "high": [0.88, 0.75, 0.2]})
    >>> with_bands(rows)["band"].to_list()
    ['Good', 'no one band: the interval spans Unacceptable to Acceptable', None]
    """
    from judgerel_ray.legacy import verbal_band

    bands = [
        str(verbal_band(low, high)) if name in BANDED and missing != "bounds" else None
        for name, missing, low, high in coefficients.select(
            "coefficient", "missing", "low", "high"
        ).iter_rows()
    ]
    named = coefficients.with_columns(pl.Series("band", bands, dtype=pl.String))
    named = named.with_columns(band=pl.when(leads(coefficients)).then("band"))
    if "lead" in coefficients.columns:
        few = (pl.col("lead") == LeadCode.FEW_VERDICTS.value).fill_null(False)
        named = named.with_columns(band=pl.when(~few).then("band"))
    if "estimator" not in coefficients.columns:
        return named
    repeats = pl.col("estimator").str.contains(SERVING_NOISE, literal=True).fill_null(False)
    return named.with_columns(band=pl.when(~repeats).then("band"))
