"""The story top to bottom: plan, run, reduce, report. May import every room below it.

Names are opened when they are used: coefficients of a file need no Ray, no sweep and no store.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judgerel_ray.pipeline.advising import advise_path, assigned, compare_paths
    from judgerel_ray.pipeline.basis import reduce_with_basis, unfinished
    from judgerel_ray.pipeline.confusing import run_uncertainty, run_uncertainty_tables
    from judgerel_ray.pipeline.exacting import run_limits, run_weighted
    from judgerel_ray.pipeline.importing import write_items, write_judgments
    from judgerel_ray.pipeline.inspecting import RunStatus, read_status
    from judgerel_ray.pipeline.planning import Plan, plan_resolved
    from judgerel_ray.pipeline.questions import question_path
    from judgerel_ray.pipeline.reasoning import run_reasoning
    from judgerel_ray.pipeline.reducing import (
        ReduceOptions,
        open_judgments,
        reduce_path,
        verify_path,
        write_coefficients,
    )
    from judgerel_ray.pipeline.reporting import report_path
    from judgerel_ray.pipeline.resolve import Resolved, resolve
    from judgerel_ray.pipeline.running import RunSummary, run_sweep
    from judgerel_ray.pipeline.settling import run_settled

__all__ = [
    "Plan",
    "ReduceOptions",
    "Resolved",
    "RunStatus",
    "RunSummary",
    "advise_path",
    "assigned",
    "compare_paths",
    "open_judgments",
    "plan_resolved",
    "question_path",
    "read_status",
    "reduce_path",
    "reduce_with_basis",
    "report_path",
    "resolve",
    "run_limits",
    "run_reasoning",
    "run_settled",
    "run_sweep",
    "run_uncertainty",
    "run_uncertainty_tables",
    "run_weighted",
    "unfinished",
    "verify_path",
    "write_coefficients",
    "write_items",
    "write_judgments",
]

_HOMES = {
    "advising": ("advise_path", "assigned", "compare_paths"),
    "basis": ("reduce_with_basis", "unfinished"),
    "confusing": ("run_uncertainty", "run_uncertainty_tables"),
    "exacting": ("run_limits", "run_weighted"),
    "importing": ("write_items", "write_judgments"),
    "inspecting": ("RunStatus", "read_status"),
    "planning": ("Plan", "plan_resolved"),
    "reasoning": ("run_reasoning",),
    "questions": ("question_path",),
    "reducing": (
        "ReduceOptions",
        "open_judgments",
        "reduce_path",
        "verify_path",
        "write_coefficients",
    ),
    "reporting": ("report_path",),
    "resolve": ("Resolved", "resolve"),
    "running": ("RunSummary", "run_sweep"),
    "settling": ("run_settled",),
}


def __getattr__(name: str) -> object:
    """Open the module a name lives in."""
    for module, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class _Room(ModuleType):
    """The room, whose ``resolve`` stays the function when the module of that name is imported."""

    def __setattr__(self, name: str, value: object) -> None:
        # Python binds every imported submodule to its parent, and would hide the function.
        if not (name in __all__ and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Room
