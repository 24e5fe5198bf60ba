"""Internal consistency of distinct items: alpha and the omegas."""

from typing import Literal, get_args

DistinctItemCoefficient = Literal["cronbach_alpha", "mcdonald_omega", "omega_hierarchical"]
CONSISTENCY: tuple[DistinctItemCoefficient, ...] = get_args(DistinctItemCoefficient)
"""Coefficients of distinct items."""
