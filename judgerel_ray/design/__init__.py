"""Asking: asks to conditions, wave by wave. May import config, protocols, core; touches no file."""

from judgerel_ray.design.conditions import ItemWork
from judgerel_ray.design.counting import StageCount, count_stages
from judgerel_ray.design.frame import AskFrame, Texts, Voice, check_items, voices_of
from judgerel_ray.design.grid import build_wave
from judgerel_ray.design.orders import option_orders
from judgerel_ray.design.overlap import check_asks, with_shared_orders

__all__ = [
    "AskFrame",
    "ItemWork",
    "StageCount",
    "Texts",
    "Voice",
    "build_wave",
    "check_asks",
    "check_items",
    "count_stages",
    "option_orders",
    "voices_of",
    "with_shared_orders",
]
