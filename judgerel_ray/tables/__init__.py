"""Columns: one class a Parquet table. May import only core."""

from judgerel_ray.tables.completions import Completions, Errors
from judgerel_ray.tables.confusions import CONFUSION_MODES, Confusions
from judgerel_ray.tables.distributions import LATER_COLUMNS, Distributions
from judgerel_ray.tables.items import Items, frame_to_items, items_to_frame
from judgerel_ray.tables.judgments import Judgments, count_answers, count_outcomes
from judgerel_ray.tables.settled import Settled

__all__ = [
    "CONFUSION_MODES",
    "LATER_COLUMNS",
    "Completions",
    "Confusions",
    "Distributions",
    "Errors",
    "Items",
    "Judgments",
    "Settled",
    "count_answers",
    "count_outcomes",
    "frame_to_items",
    "items_to_frame",
]
