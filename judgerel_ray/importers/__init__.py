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

from typing import TYPE_CHECKING

from judgerel_ray.core.rooms import offer

if TYPE_CHECKING:
    from judgerel_ray.importers.catalog import IMPORTERS as IMPORTERS
    from judgerel_ray.importers.catalog import read_foreign_judgments as read_foreign_judgments
    from judgerel_ray.importers.logs.collect import LOG_FORMATS as LOG_FORMATS
    from judgerel_ray.importers.logs.collect import import_logs as import_logs
    from judgerel_ray.importers.people import import_people as import_people
    from judgerel_ray.importers.table import TableMapping as TableMapping
    from judgerel_ray.importers.table import import_table as import_table

__getattr__ = offer(__name__, "import_bergman2025", "import_schroeder2024", "scored_answers")
