"""Judgments that people already hold: logs, tables and released results, as judgments or items.

What is named here is loaded when it is used: the verbs of this room are known before it is.

Examples
--------
>>> from judgerel_ray.importers import IMPORTERS
>>> sorted(IMPORTERS)
['alpaca_eval', 'arena_hard', 'auto', 'batch', 'bergman2025', 'biggen', 'deepeval', 'evalassist', \
'fastchat', 'inspect', 'langfuse', 'lm_eval', 'mlflow', 'opentelemetry', 'people', 'prometheus', \
'promptfoo', 'schroeder2024', 'table', 'unitxt']
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from judgerel_ray.core.papers import find_in_papers

if TYPE_CHECKING:
    from judgerel_ray.importers.catalog import IMPORTERS as IMPORTERS
    from judgerel_ray.importers.catalog import read_foreign_judgments as read_foreign_judgments
    from judgerel_ray.importers.logs.collect import LOG_FORMATS as LOG_FORMATS
    from judgerel_ray.importers.logs.collect import import_logs as import_logs
    from judgerel_ray.importers.people import import_people as import_people
    from judgerel_ray.importers.table import TableMapping as TableMapping
    from judgerel_ray.importers.table import import_table as import_table

_OF_PAPERS = ("import_bergman2025", "import_schroeder2024", "scored_answers")
_HOMES = {
    "IMPORTERS": "catalog",
    "LOG_FORMATS": "logs.collect",
    "TableMapping": "table",
    "read_foreign_judgments": "catalog",
    "import_logs": "logs.collect",
    "import_people": "people",
    "import_table": "table",
}
if not TYPE_CHECKING:
    __all__ = sorted([*_HOMES, *_OF_PAPERS])


def __getattr__(name: str) -> object:
    """Load what is named."""
    if name in _OF_PAPERS:
        return find_in_papers(name)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
