"""The story top to bottom: plan, run, reduce, report. May import every room below it."""

from judgerel_ray.pipeline.planning import Plan, plan_resolved
from judgerel_ray.pipeline.resolve import Resolved, resolve
from judgerel_ray.pipeline.running import RunSummary, run_sweep

__all__ = ["Plan", "Resolved", "RunSummary", "plan_resolved", "resolve", "run_sweep"]
