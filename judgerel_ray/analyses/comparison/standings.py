"""What comparisons come to: p-values corrected for all of them, and which side is higher."""

from __future__ import annotations

import polars as pl

from judgerel_ray.analyses.comparison.compared_facets import Row
from judgerel_ray.stats.intervals.judge_differences import benjamini_hochberg, holm

SIGNIFICANT = 0.05


def with_standings(table: pl.DataFrame, tolerance: float | None) -> pl.DataFrame:
    """Correct p-values for all tests of a table, and say where each difference stands.

    Parameters
    ----------
    table : pl.DataFrame
        Of the columns ``difference, low, high, p, p_equivalence, p_beyond, few_informative`` and
        those that are filled here.
    tolerance : float or None
        Largest difference that does not matter.

    Returns
    -------
    pl.DataFrame
        With ``p_holm, p_fdr, p_equivalence_holm, p_beyond_holm``. ``standing`` without a tolerance:
        "a higher" or "b higher" where p_holm is below 0.05, else "undecided". With one,
        "equivalent" where p_equivalence_holm is (for one test: the whole 90 % interval lies within
        it), "a higher" or "b higher" where p_beyond_holm is (the whole 95 % interval lies beyond
        it), else "undecided": over all tests any false "equivalent" has a chance of at most 5 %,
        and so has any false "higher". ``reason``, of what is undecided: "few_verdicts" where it is
        given (fewer than half of a side's replies hold a verdict), "undefined" where there is
        no value or no test, "not_after_correction" where this test alone would tell, then
        "few_informative_questions", else "interval_covers_0" or "interval_crosses_tolerance".

    Examples
    --------
    >>> row = {"difference": 0.1, "low": -0.1, "high": 0.3, "p": 0.3, "p_equivalence": None,
    ...        "p_beyond": None, "few_informative": False, "p_holm": None, "p_fdr": None,
    ...        "p_equivalence_holm": None, "p_beyond_holm": None, "standing": None, "reason": None}
    >>> schema = {name: pl.Boolean() if name == "few_informative" else pl.Float64() for name in row}
    >>> schema |= {"standing": pl.String(), "reason": pl.String()}
    >>> with_standings(pl.DataFrame([row], schema=schema), None).select("standing", "reason").row(0)
    ('undecided', 'interval_covers_0')
    """
    rows = table.to_dicts()
    for p, corrected, correct in (
        ("p", "p_holm", holm),
        ("p", "p_fdr", benjamini_hochberg),
        ("p_equivalence", "p_equivalence_holm", holm),
        ("p_beyond", "p_beyond_holm", holm),
    ):
        for row, one in zip(rows, correct([row[p] for row in rows]), strict=True):
            row[corrected] = one
    for row in rows:
        few = row["reason"]  # known before any test
        row["standing"] = "undecided" if few else _standing(row, tolerance)
        if row["standing"] == "undecided":
            row["reason"] = few or _reason(row, tolerance)
    return pl.DataFrame(rows, schema=table.schema, orient="row")


def _standing(row: Row, tolerance: float | None) -> str:
    """What a difference comes to, by p-values corrected for all tests."""
    difference = row["difference"]
    if not isinstance(difference, float):
        return "undecided"
    if tolerance is not None and _found(row["p_equivalence_holm"]):
        return "equivalent"
    if _found(row["p_holm" if tolerance is None else "p_beyond_holm"]):
        return "b higher" if difference > 0 else "a higher"
    return "undecided"


def _reason(row: Row, tolerance: float | None) -> str:
    """Why neither side is called higher, nor both equivalent."""
    if row["difference"] is None or row["p"] is None:
        return "undefined"
    alone = ("p",) if tolerance is None else ("p_equivalence", "p_beyond")
    if any(_found(row[p]) for p in alone):
        return "not_after_correction"
    if row["few_informative"]:
        return "few_informative_questions"
    return "interval_covers_0" if tolerance is None else "interval_crosses_tolerance"


def _found(p: object) -> bool:
    """Whether a test was made and tells."""
    return isinstance(p, float) and p < SIGNIFICANT
