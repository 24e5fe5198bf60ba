"""The truth behind a simulated judge, to compare with what is estimated."""

from __future__ import annotations

from judgerel_ray.core import Menu
from judgerel_ray.engines import EngineSpec
from judgerel_ray.engines.simulated.options import simulated_options
from judgerel_ray.engines.simulated.truth import answerable, option_log_weights, tempered


def true_distribution(
    spec: EngineSpec, *, item_id: str, menu: Menu, temperature: float = 1.0
) -> tuple[float, ...]:
    """Probability of each option of a menu, given that the reply holds a verdict."""
    menu = answerable(menu)
    weights = option_log_weights(spec.model, simulated_options(spec), item_id=item_id, menu=menu)
    return tempered(weights, temperature)
