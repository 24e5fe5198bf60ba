"""Words: the types, outcomes, keys and errors every room shares. Imports nothing of the house."""

from judgerel_ray.core.errors import (
    EngineError,
    EngineLost,
    EngineStartError,
    JudgeRelError,
    RequestRefused,
    StoreError,
    SweepError,
    TableError,
)
from judgerel_ray.core.key import digest, request_key, seed_base
from judgerel_ray.core.outcome import OUTCOMES, Outcome
from judgerel_ray.core.types import (
    Ask,
    Completion,
    Condition,
    HumanRating,
    Item,
    Menu,
    Message,
    Option,
    ReaderPolicy,
    Role,
    Scoring,
    TokenCounts,
    TokenLogprob,
)

__all__ = [
    "OUTCOMES",
    "Ask",
    "Completion",
    "Condition",
    "EngineError",
    "EngineLost",
    "EngineStartError",
    "HumanRating",
    "Item",
    "JudgeRelError",
    "Menu",
    "Message",
    "Option",
    "Outcome",
    "ReaderPolicy",
    "RequestRefused",
    "Role",
    "Scoring",
    "StoreError",
    "SweepError",
    "TableError",
    "TokenCounts",
    "TokenLogprob",
    "digest",
    "request_key",
    "seed_base",
]
