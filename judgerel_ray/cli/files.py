"""Verbs that write what others read: items from upstream files, judgments from foreign logs."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from os import fspath
from typing import TYPE_CHECKING

from judgerel_ray.cli.paths import source_path
from judgerel_ray.cli.screen import tell

if TYPE_CHECKING:
    from judgerel_ray.cli.parsing import Asked

DONE = 0


def write_items(asked: Asked) -> int:
    """Write items, and say on stderr how gold was read where the file does not say."""
    from judgerel_ray.importers import verbs

    request = asked.request()
    n = verbs.write_items(
        asked.source,
        source_path(request.path),
        request.out,
        answers=None if request.answers is None else source_path(request.answers),
        seed=request.seed,
        gold_is=request.gold_is,
        tell=partial(tell, aside=True),
        force=request.force,
    )
    tell(f"wrote {n} items to {request.out}")
    return DONE


def write_judgments(asked: Asked) -> int:
    """Write foreign judgments."""
    request = asked.request()
    paths = [source_path(fspath(path)) for path in request.paths]
    n = asked.verb.act(asked.source, replace(request, paths=paths))
    tell(f"wrote {n} judgments to {request.out}")
    return DONE
