"""Asking: asks to conditions, wave by wave, and against each other; touches no file."""

from judgerel_ray.design.checks import check_asks, check_own_forms, with_shared_orders
from judgerel_ray.design.waves import Goal, build_wave, goal_of
from judgerel_ray.protocols.waves.counts import StageCount, count_stages
from judgerel_ray.protocols.waves.frame import (
    AskFrame,
    CutText,
    Texts,
    Voice,
    check_items,
    is_shared,
    shared_items,
    voices_of,
)
from judgerel_ray.protocols.waves.orders import option_orders
from judgerel_ray.protocols.waves.work import ItemWork, answer_names, verdict_ids

__all__ = [
    "AskFrame",
    "CutText",
    "Goal",
    "ItemWork",
    "StageCount",
    "Texts",
    "Voice",
    "answer_names",
    "build_wave",
    "check_asks",
    "check_items",
    "check_own_forms",
    "count_stages",
    "goal_of",
    "is_shared",
    "option_orders",
    "shared_items",
    "verdict_ids",
    "voices_of",
    "with_shared_orders",
]
