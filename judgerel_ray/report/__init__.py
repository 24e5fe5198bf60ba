"""What people read: coefficients on a terminal, as JSON, and as one HTML page.

Takes frames of :mod:`judgerel_ray.reduce`; the only room that rounds.

Examples
--------
>>> import polars as pl
>>> from judgerel_ray.report import coefficients_json
>>> coefficients_json(pl.DataFrame({"value": []}, schema={"value": pl.Float64}))
'[]'
"""

from judgerel_ray.report.advice import advice_text, comparison_text, tables_json
from judgerel_ray.report.chances import Probabilities
from judgerel_ray.report.distribution_sections import Distributed
from judgerel_ray.report.headlines import cautions, headlines
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
