"""Every coefficient of counts by name, as a function."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from judgerel_ray.stats.agreement import (
    brennan_prediger,
    fleiss_kappa,
    flip_rate,
    gwet_ac1,
    percent_agreement,
    valid_rate,
)
from judgerel_ray.stats.certainty import entropy_agreement, total_agreement
from judgerel_ray.stats.coefficient import Coefficient
from judgerel_ray.stats.intraclass import icc1, icck
from judgerel_ray.stats.krippendorff import krippendorff_alpha
from judgerel_ray.stats.majority import majority_stability

COEFFICIENTS: dict[str, Callable[..., Coefficient]] = {
    "krippendorff_alpha": krippendorff_alpha,
    "percent_agreement": percent_agreement,
    "fleiss_kappa": fleiss_kappa,
    "gwet_ac1": gwet_ac1,
    "brennan_prediger": brennan_prediger,
    "flip_rate": flip_rate,
    "valid_rate": valid_rate,
    "entropy_agreement": entropy_agreement,
    "total_agreement": total_agreement,
    "icc1": icc1,
    "icck": icck,
    "majority_stability_3": partial(majority_stability, k=3),
    "majority_stability_5": partial(majority_stability, k=5),
    "majority_stability_11": partial(majority_stability, k=11),
}
"""Every coefficient of counts by name; the laws in ``tests/laws`` apply to each by themselves."""

DEFAULT_COEFFICIENTS: tuple[str, ...] = tuple(COEFFICIENTS)[:7]
"""Those printed where none is asked for."""
