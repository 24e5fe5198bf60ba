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

from importlib import import_module
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:  # named here, loaded when first used: coefficients of a file need none of them
    from judgerel_ray.reduce.advice import Advice, advise_judgments
    from judgerel_ray.reduce.bands import with_bands
    from judgerel_ray.reduce.comparison import compare_judgments
    from judgerel_ray.reduce.correctness import question_table
    from judgerel_ray.reduce.costs import Budget, Costs
    from judgerel_ray.reduce.facet_sizes import Populations
    from judgerel_ray.reduce.facets import variance_table
    from judgerel_ray.reduce.needs import TARGETS
    from judgerel_ray.reduce.panels import panel_table
    from judgerel_ray.reduce.tolerance import with_tolerance

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
    "TARGETS",
    "Advice",
    "Budget",
    "Costs",
    "Populations",
    "Tally",
    "advise_judgments",
    "compare_judgments",
    "count_judgments",
    "least_stable",
    "load_judgments",
    "outcome_table",
    "panel_table",
    "question_table",
    "reduce_judgments",
    "tally_file",
    "tally_judgments",
    "variance_table",
    "with_bands",
    "with_tolerance",
]
_LATER = {
    "advice": ("Advice", "advise_judgments"),
    "bands": ("with_bands",),
    "comparison": ("compare_judgments",),
    "correctness": ("question_table",),
    "costs": ("Budget", "Costs"),
    "facet_sizes": ("Populations",),
    "facets": ("variance_table",),
    "needs": ("TARGETS",),
    "panels": ("panel_table",),
    "tolerance": ("with_tolerance",),
}


def __getattr__(name: str) -> object:
    """Load a name of plans and comparisons when it is first asked for."""
    for module, names in _LATER.items():
        if name in names:
            found: object = getattr(import_module(f"{__name__}.{module}"), name)
            globals()[name] = found
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
