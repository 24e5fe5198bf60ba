"""Judgments that people already hold: foreign logs read into the columns of judgments.

Examples
--------
>>> from judgerel_ray.importers import IMPORTERS
>>> sorted(IMPORTERS)
['bergman2025', 'people', 'schroeder2024', 'table']
"""

from judgerel_ray.importers.answers import scored_answers
from judgerel_ray.importers.bergman2025 import import_bergman2025
from judgerel_ray.importers.catalog import IMPORTERS, import_judgments
from judgerel_ray.importers.people import import_people
from judgerel_ray.importers.schroeder2024 import import_schroeder2024
from judgerel_ray.importers.table import TableMapping, import_table

__all__ = [
    "IMPORTERS",
    "TableMapping",
    "import_bergman2025",
    "import_judgments",
    "import_people",
    "import_schroeder2024",
    "import_table",
    "scored_answers",
]
