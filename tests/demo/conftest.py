"""Loads the demo's judge and its items once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from demo.judge_truth import Judge
    from judgerel_ray.core import Item


@pytest.fixture(scope="session")
def judge() -> Judge:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from demo.judge_truth import load_judge

    return load_judge()


@pytest.fixture(scope="session")
def items() -> tuple[Item, ...]:
    from demo.judge_truth import load_items

    return load_items()
