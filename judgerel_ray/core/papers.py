"""Finds loaders and importers of :mod:`judgerel_ray.papers` by name, without importing it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "import_bergman2025": "bergman2025",
    "import_schroeder2024": "schroeder2024_judgments",
    "load_bergman2025": "bergman2025",
    "load_schroeder2024": "schroeder2024_items",
    "published_rows": "published",
    "scored_answers": "schroeder2024_judgments",
}

PUBLISHED = (
    "schroeder2024_alpha",
    "schroeder2024_omega",
    "schroeder2024_irr",
    "schroeder2024_irr_never_agrees",
    "schroeder2024_irr_left_out",
    "schroeder2024_right_answers",
    "schroeder2024_accuracy",
    "schroeder2024_accuracy_monte_carlo",
)
"""Coefficients that have their name from the paper they are in; `published_rows` computes them."""


def find_in_papers(name: str) -> Any:
    """Load an importer, a loader or `published_rows` of the room ``papers``.

    Examples
    --------
    >>> find_in_papers("load_bergman2025").__name__
    'load_bergman2025'
    """
    return getattr(import_module(f"judgerel_ray.papers.{_HOMES[name]}"), name)
