"""Asking: asks to conditions, wave by wave. May import config, protocols, core; touches no file."""

from judgerel_ray.design.comparing import check_thinking
from judgerel_ray.design.conditions import ItemWork
from judgerel_ray.design.counting import StageCount, count_stages
from judgerel_ray.design.frame import AskFrame, CutText, Texts, Voice, check_items, voices_of
from judgerel_ray.design.grid import build_wave
from judgerel_ray.design.judging import CORRECTNESS_LABELS, answer_names, verdict_ids
from judgerel_ray.design.orders import option_orders
from judgerel_ray.design.overlap import check_asks, with_shared_orders
from judgerel_ray.design.rating import check_facets
from judgerel_ray.design.reading_back import check_own_forms
from judgerel_ray.design.rounds import Goal, goal_of

__all__ = [
    "CORRECTNESS_LABELS",
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
    "check_facets",
    "check_items",
    "check_own_forms",
    "check_thinking",
    "count_stages",
    "goal_of",
    "option_orders",
    "verdict_ids",
    "voices_of",
    "with_shared_orders",
]
