"""Asking: asks to conditions, wave by wave. May import config, protocols, core; touches no file."""

from judgerel_ray.design.conditions import ItemWork
from judgerel_ray.design.frame import AskFrame, Texts, Voice, check_items
from judgerel_ray.design.grid import StageCount, build_wave, count_stages, voices_of
from judgerel_ray.design.orders import option_orders

__all__ = [
    "AskFrame",
    "ItemWork",
    "StageCount",
    "Texts",
    "Voice",
    "build_wave",
    "check_items",
    "count_stages",
    "option_orders",
    "voices_of",
]
