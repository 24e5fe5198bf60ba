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
from judgerel_ray.report.html import render_report
from judgerel_ray.report.standing import plan_text, status_text
from judgerel_ray.report.terminal import coefficients_json, plain_table, print_coefficients
from judgerel_ray.report.words import headlines

__all__ = [
    "advice_text",
    "coefficients_json",
    "comparison_text",
    "headlines",
    "plain_table",
    "plan_text",
    "print_coefficients",
    "render_report",
    "status_text",
    "tables_json",
]
