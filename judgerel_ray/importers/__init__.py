"""Judgments that people already hold: foreign logs read into the columns of judgments.

Examples
--------
>>> from judgerel_ray.importers import IMPORTERS
>>> sorted(IMPORTERS)
['schroeder2024']
"""

from judgerel_ray.importers.answers import scored_answers
from judgerel_ray.importers.catalog import IMPORTERS, import_judgments
from judgerel_ray.importers.schroeder2024 import import_schroeder2024

__all__ = ["IMPORTERS", "import_judgments", "import_schroeder2024", "scored_answers"]
