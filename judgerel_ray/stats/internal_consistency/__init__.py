"""Internal consistency of distinct items: alpha and the omegas."""

from typing import Literal, get_args

ItemCoefficient = Literal["cronbach_alpha", "mcdonald_omega", "omega_hierarchical"]
CONSISTENCY: tuple[ItemCoefficient, ...] = get_args(ItemCoefficient)
"""Coefficients of distinct items."""
