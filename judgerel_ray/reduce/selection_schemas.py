"""Columns of the tables of selection."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from judgerel_ray.reduce.systems import System

_FLOAT, _INT, _TEXT, _BOOL = pl.Float64(), pl.Int64(), pl.String(), pl.Boolean()
SYSTEM_COLUMNS: dict[str, pl.DataType] = {
    "system": _TEXT, "n_questions": _INT, "n_answers": _INT, "n_unread": _INT,
    "n_without_gold": _INT, "n_right": _INT, "accuracy": _FLOAT, "low": _FLOAT, "high": _FLOAT,
    "interval": _TEXT, "accuracy_read": _FLOAT, "read_low": _FLOAT, "read_high": _FLOAT,
    "chance": _FLOAT, "noise_floor": _FLOAT, "noise_floor_sd": _FLOAT, "p_noise": _FLOAT,
    "noise": _BOOL, "confidence": _TEXT, "n_rejected": _INT, "n_distinct": _INT,
    "auroc": _FLOAT, "auroc_low": _FLOAT, "auroc_high": _FLOAT, "auroc_floor_sd": _FLOAT,
    "auroc_p_noise": _FLOAT, "auroc_noise": _BOOL, "aurc": _FLOAT, "aurc_low": _FLOAT,
    "aurc_high": _FLOAT, "aurc_floor": _FLOAT, "aurc_excess": _FLOAT, "few": _TEXT,
    "mean_confidence": _FLOAT, "accuracy_confident": _FLOAT, "ece": _FLOAT, "ece_floor": _FLOAT,
    "ece_p": _FLOAT, "ece_mass": _FLOAT, "ece_mass_floor": _FLOAT, "ece_mass_p": _FLOAT,
    "n_bins": _INT, "brier": _FLOAT, "brier_low": _FLOAT, "brier_high": _FLOAT,
    "brier_floor": _FLOAT, "undefined": _TEXT,
}  # fmt: skip
"""Of a system and confidence."""
ACCEPTANCE_COLUMNS: dict[str, pl.DataType] = {
    "system": _TEXT, "confidence": _TEXT, "threshold": _FLOAT, "acceptance": _FLOAT,
    "n_accepted": _INT, "n_errors": _INT, "n_answers": _INT, "error": _FLOAT, "low": _FLOAT,
    "high": _FLOAT, "band_low": _FLOAT, "band_high": _FLOAT, "accuracy": _FLOAT,
    "interval": _TEXT, "band": _TEXT,
}  # fmt: skip
"""Of a threshold."""
RELIABILITY_COLUMNS: dict[str, pl.DataType] = {
    "system": _TEXT, "confidence": _TEXT, "binning": _TEXT, "bin": _INT, "from": _FLOAT,
    "to": _FLOAT, "mean_confidence": _FLOAT, "n": _INT, "n_right": _INT, "accuracy": _FLOAT,
    "low": _FLOAT, "high": _FLOAT,
}  # fmt: skip
"""Of a bin of confidence."""
GUARANTEE_COLUMNS: dict[str, pl.DataType] = {
    "system": _TEXT, "confidence": _TEXT, "risk": _FLOAT, "delta": _FLOAT, "threshold": _FLOAT,
    "n_calibration": _INT, "n_calibration_accepted": _INT, "n_calibration_errors": _INT,
    "n_heldout": _INT, "n_accepted": _INT, "acceptance": _FLOAT, "n_errors": _INT,
    "error": _FLOAT, "low": _FLOAT, "high": _FLOAT, "split": _TEXT, "undefined": _TEXT,
}  # fmt: skip
"""Of a threshold with a guarantee."""


def named_schema(systems: Sequence[System]) -> dict[str, pl.DataType]:
    """Give the columns that name systems.

    Examples
    --------
    >>> named_schema([])
    {}
    """
    if not systems:
        return {}
    rows = systems[0].rows
    return {
        name: _TEXT if rows.schema[name] in (pl.Categorical, pl.Enum) else rows.schema[name]
        for name in systems[0].name
    }
