"""What people read: coefficients on a terminal, as JSON, and as one HTML page.

Takes frames of :mod:`judgerel_ray.reduce`; the only room that rounds.

Examples
--------
>>> import polars as pl
>>> from judgerel_ray.report import coefficients_json
>>> coefficients_json(pl.DataFrame({"value": []}, schema={"value": pl.Float64}))
'[]'
"""

from importlib import import_module
from typing import TYPE_CHECKING

# At once: the function has the name of its module, which would hide it.
from judgerel_ray.report.headlines import cautions, headlines

if TYPE_CHECKING:  # named here, loaded when first used: coefficients of a file need few of them
    from judgerel_ray.report.advice import advice_text, comparison_text, tables_json
    from judgerel_ray.report.chances import Probabilities
    from judgerel_ray.report.distribution_sections import Distributed
    from judgerel_ray.report.html import Measured, render_report
    from judgerel_ray.report.positions import verdict_positions
    from judgerel_ray.report.probabilities import limits_text, reasoning_text
    from judgerel_ray.report.ranks import ranking_text
    from judgerel_ray.report.rating_sections import Rated
    from judgerel_ray.report.ratings import alignment_text, scales_text
    from judgerel_ray.report.selection_sections import Selected
    from judgerel_ray.report.settled import settled_text
    from judgerel_ray.report.standing import plan_text, status_text
    from judgerel_ray.report.terminal import coefficients_json, plain_table, print_coefficients
    from judgerel_ray.report.uncertainty import uncertainty_text
    from judgerel_ray.report.uncertainty_lead import Uncertain
    from judgerel_ray.report.weighted import weighted_text

__all__ = [
    "Distributed",
    "Measured",
    "Probabilities",
    "Rated",
    "Selected",
    "Uncertain",
    "advice_text",
    "alignment_text",
    "cautions",
    "coefficients_json",
    "comparison_text",
    "headlines",
    "limits_text",
    "plain_table",
    "plan_text",
    "print_coefficients",
    "ranking_text",
    "reasoning_text",
    "render_report",
    "scales_text",
    "settled_text",
    "status_text",
    "tables_json",
    "uncertainty_text",
    "verdict_positions",
    "weighted_text",
]

_HOMES = {
    "advice": (
        "advice_text",
        "comparison_text",
        "tables_json",
    ),
    "chances": ("Probabilities",),
    "distribution_sections": ("Distributed",),
    "headlines": (
        "cautions",
        "headlines",
    ),
    "html": (
        "Measured",
        "render_report",
    ),
    "positions": ("verdict_positions",),
    "probabilities": (
        "limits_text",
        "reasoning_text",
    ),
    "ranks": ("ranking_text",),
    "rating_sections": ("Rated",),
    "ratings": (
        "alignment_text",
        "scales_text",
    ),
    "selection_sections": ("Selected",),
    "settled": ("settled_text",),
    "standing": (
        "plan_text",
        "status_text",
    ),
    "terminal": (
        "coefficients_json",
        "plain_table",
        "print_coefficients",
    ),
    "uncertainty": ("uncertainty_text",),
    "uncertainty_lead": ("Uncertain",),
    "weighted": ("weighted_text",),
}


def __getattr__(name: str) -> object:
    """Open the module a name lives in."""
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
