"""Conditions to ask, and a tiny random Llama with a tokenizer of its own to ask them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from judgerel_ray.core import Condition, Menu, Message, digest, seed_base
from judgerel_ray.engines import EngineSpec

MENU = Menu(labels=("A", "B", "C"), option_ids=("x", "y", "z"), form="best_response")


def build_condition(text: str = "Which is best?", **changes: Any) -> Condition:
    """A condition whose key and seed follow from what is asked, as in a sweep."""
    values: dict[str, Any] = {
        "judge": "j",
        "judge_fingerprint": "f",
        "benchmark": "b",
        "item_id": "q1",
        "protocol": "best_of",
        "stage": "judge",
        "role": "judge",
        "prompt": (Message(role="user", content=text),),
        "template": "default",
        "temperature": 1.0,
        "top_k": 50,
        "top_p": 1.0,
        "max_tokens": 40,
        "menu": MENU,
        **changes,
    }
    asked = {name: repr(value) for name, value in sorted(values.items())}
    key = digest(asked)
    return Condition(**{"condition_key": key, "seed_base": seed_base(key), **values})


@pytest.fixture(scope="session")
def make_condition() -> Callable[..., Condition]:
    return build_condition


@pytest.fixture(scope="session")
def simulated() -> Callable[..., EngineSpec]:
    """A simulated judge's spec: its model, then its options."""

    def make(model: str = "uniform", **options: Any) -> EngineSpec:
        return EngineSpec(name="j", engine="simulated", model=model, engine_options=options)

    return make
