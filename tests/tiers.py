"""Which of many alike cases `make test` has; `make test-all` has all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def first_of_each(n: int, values: Iterable[Any]) -> list[Any]:
    """Values as parameters, of which the first of each ``n`` is quick and the others are slow.

    Of cases that go through the same code each says as soon as another that this code is broken.
    """
    return [
        value if i % n == 0 else pytest.param(value, marks=pytest.mark.slow)
        for i, value in enumerate(values)
    ]
