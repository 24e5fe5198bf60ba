"""Several things at once, of which one may fail."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


async def all_or_first_error(makers: list[Callable[[], Awaitable[T]]]) -> list[T]:
    """Run all together; when one raises, cancel the rest before raising it.

    Examples
    --------
    >>> async def one():
    ...     return 1
    >>> asyncio.run(all_or_first_error([one, one]))
    [1, 1]
    """
    tasks = [asyncio.ensure_future(maker()) for maker in makers]
    try:
        return list(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
