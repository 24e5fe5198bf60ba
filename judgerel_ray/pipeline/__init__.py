"""The story top to bottom: plan, run, reduce, report. May import every room below it."""

from judgerel_ray.pipeline.advising import advise_path, compare_paths
from judgerel_ray.pipeline.inspecting import RunStatus, read_status
from judgerel_ray.pipeline.planning import Plan, plan_resolved
from judgerel_ray.pipeline.reducing import (
    ReduceOptions,
    open_judgments,
    reduce_path,
    report_path,
    verify_path,
    write_coefficients,
    write_items,
)
from judgerel_ray.pipeline.resolve import Resolved, resolve
from judgerel_ray.pipeline.running import RunSummary, run_sweep

__all__ = [
    "Plan",
    "ReduceOptions",
    "Resolved",
    "RunStatus",
    "RunSummary",
    "advise_path",
    "compare_paths",
    "open_judgments",
    "plan_resolved",
    "read_status",
    "reduce_path",
    "report_path",
    "resolve",
    "run_sweep",
    "verify_path",
    "write_coefficients",
    "write_items",
]
