"""Meaning: from judgments to coefficients, outcomes and the questions that waver.

Reducers take a lazy frame and give a frame; they know core, tables, protocols and stats, and no
run directory. Nothing depends on the order or the partitioning of the rows.

Examples
--------
>>> import polars as pl
>>> from judgerel_ray.reduce import reduce_judgments
>>> rows = pl.LazyFrame({"item_id": ["q", "q"], "replication": [0, 1], "verdict": ["A", "B"]})
>>> reduce_judgments(rows, coefficients=["flip_rate"])["value"].to_list()
[1.0]
"""

from judgerel_ray.reduce.bounds import BOUNDED
from judgerel_ray.reduce.columns import FACETS
from judgerel_ray.reduce.consistency import CONSISTENCY
from judgerel_ray.reduce.estimates import COLUMNS, NOISE_ABOVE
from judgerel_ray.reduce.grouping import DEFAULT_GROUPS, count_judgments
from judgerel_ray.reduce.judgments import load_judgments, tally_file
from judgerel_ray.reduce.outcomes import outcome_table
from judgerel_ray.reduce.policy import MISSING, POLICIES
from judgerel_ray.reduce.published import PUBLISHED
from judgerel_ray.reduce.reliability import reduce_judgments
from judgerel_ray.reduce.stability import least_stable
from judgerel_ray.reduce.tally import Tally, tally_judgments

__all__ = [
    "BOUNDED",
    "COLUMNS",
    "CONSISTENCY",
    "DEFAULT_GROUPS",
    "FACETS",
    "MISSING",
    "NOISE_ABOVE",
    "POLICIES",
    "PUBLISHED",
    "Tally",
    "count_judgments",
    "least_stable",
    "load_judgments",
    "outcome_table",
    "reduce_judgments",
    "tally_file",
    "tally_judgments",
]
