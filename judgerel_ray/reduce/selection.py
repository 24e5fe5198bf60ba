"""Accept or reject: what every system's answers are worth by how sure it is of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgerel_ray.core import SweepError
from judgerel_ray.reduce.estimates import NOISE_ABOVE
from judgerel_ray.reduce.intervals import check_resamples
from judgerel_ray.reduce.right_answers import ITEM
from judgerel_ray.reduce.selection_curves import (
    acceptance_rows,
    guarantee_row,
    reliability_rows,
)
from judgerel_ray.reduce.selection_schemas import (
    ACCEPTANCE_COLUMNS,
    GUARANTEE_COLUMNS,
    RELIABILITY_COLUMNS,
    SYSTEM_COLUMNS,
    named_schema,
)
from judgerel_ray.reduce.system_confidence import CONFIDENCES
from judgerel_ray.reduce.systems import System
from judgerel_ray.stats import auroc, risk_coverage
from judgerel_ray.stats.accepted_errors import BANDS, Band
from judgerel_ray.stats.brier import brier_score
from judgerel_ray.stats.calibration import BINNINGS, calibration_error
from judgerel_ray.stats.chance_floors import accuracy_floor, ranking_floor
from judgerel_ray.stats.discrimination import few_answers
from judgerel_ray.stats.noise import NoiseFloor
from judgerel_ray.stats.shares import clustered_share

Row = dict[str, object]

_MOST_BINS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionOptions:
    """How answers are selected.

    ``confidences`` of :data:`judgerel_ray.reduce.system_confidence.CONFIDENCES` (None: those that
    are there), ``n_bins`` of calibration, ``band`` of the acceptance curve, ``risk`` and ``delta``
    of the guaranteed threshold, ``resamples`` and ``seed`` of draws.
    """

    confidences: tuple[str, ...] | None = None
    n_bins: int = 10
    band: Band = "bonferroni"
    risk: float = 0.1
    delta: float = 0.1
    resamples: int = 2000
    seed: int = 0

    def __post_init__(self) -> None:
        for name in self.confidences or ():
            if name not in CONFIDENCES:
                raise SweepError(f"confidence must be of {', '.join(CONFIDENCES)}, got {name!r}")
        for what, value in (("risk", self.risk), ("delta", self.delta)):
            if not 0 < value < 1:
                raise SweepError(f"{what} must be between 0 and 1, got {value}")
        if self.band not in BANDS:
            raise SweepError(f"band must be of {', '.join(BANDS)}, got {self.band!r}")
        if not 1 <= self.n_bins <= _MOST_BINS:
            raise SweepError(
                f"bins must be from 1 to {_MOST_BINS}, got {self.n_bins}: a bin needs answers in it"
            )
        check_resamples(self.resamples)

    def of(self, system: System) -> tuple[str, ...]:
        """Name the confidences of a system that are asked for."""
        wanted = self.confidences or CONFIDENCES
        return tuple(name for name in system.confidences if name in wanted)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Selection:
    """What selection is worth, by system and confidence.

    Attributes
    ----------
    systems : DataFrame
        Accuracy beside chance, ranking, calibration.
    acceptance : DataFrame
        Error and accuracy at every threshold that occurs.
    reliability : DataFrame
        Accuracy by stated confidence.
    guarantees : DataFrame
        Thresholds with a bound on the risk, and what they did on questions held out.
    """

    systems: pl.DataFrame
    acceptance: pl.DataFrame
    reliability: pl.DataFrame
    guarantees: pl.DataFrame

    def tables(self) -> dict[str, pl.DataFrame]:
        """Give the tables by name."""
        return {
            "systems": self.systems,
            "acceptance": self.acceptance,
            "reliability": self.reliability,
            "guarantees": self.guarantees,
        }


def selection_tables(
    systems: Sequence[System],
    options: SelectionOptions | None = None,
    *,
    chance: Mapping[tuple[object, str], float] | None = None,
) -> Selection:
    """Lay out accuracy, acceptance, ranking and calibration of every system.

    Parameters
    ----------
    systems : sequence of System
        From :func:`judgerel_ray.reduce.systems.read_systems`.
    options : SelectionOptions, optional
        How answers are selected.
    chance : mapping, optional
        One by the number of options, by (benchmark, item_id), where that is known.

    Returns
    -------
    Selection
        ``systems`` has one row a system and confidence, and one without a confidence where a
        system has none.

    Raises
    ------
    SweepError
        If a confidence is asked for that no system has.

    Examples
    --------
    >>> from judgerel_ray.reduce.systems import read_systems
    >>> rows = {"item_id": ["q", "r", "s"], "verdict": ["1", "2", "2"], "gold": ["1", "2", "1"],
    ...         "confidence": [0.9, 0.8, 0.8]}
    >>> found = selection_tables(read_systems(pl.LazyFrame(rows)))
    >>> found.acceptance.select("threshold", "acceptance", "n_accepted", "n_errors").rows()
    [(0.9, 0.3333333333333333, 1, 0), (0.8, 1.0, 3, 1)]
    """
    options = options or SelectionOptions()
    _refuse_absent(systems, options)
    summary: list[Row] = []
    curves: list[Row] = []
    bins: list[Row] = []
    proven: list[Row] = []
    for system in systems:
        plain = _plain(system, chance or {})
        kinds = options.of(system)
        if not kinds:
            summary.append({**plain, **_nothing(system)})
        for kind in kinds:
            summary.append({**plain, **_ranked(system, kind, options)})
            curves += acceptance_rows(system, kind, band=options.band)
            bins += reliability_rows(system, kind, n_bins=options.n_bins)
            proven.append(
                guarantee_row(
                    system, kind, risk=options.risk, delta=options.delta, seed=options.seed
                )
            )
    schema = named_schema(systems)
    return Selection(
        systems=pl.DataFrame(summary, schema={**schema, **SYSTEM_COLUMNS}),
        acceptance=pl.DataFrame(curves, schema={**schema, **ACCEPTANCE_COLUMNS}),
        reliability=pl.DataFrame(bins, schema={**schema, **RELIABILITY_COLUMNS}),
        guarantees=pl.DataFrame(proven, schema={**schema, **GUARANTEE_COLUMNS}),
    )


def _refuse_absent(systems: Sequence[System], options: SelectionOptions) -> None:
    """Refuse a confidence that no answer has."""
    there = {name for system in systems for name in system.confidences}
    for name in options.confidences or ():
        if name not in there:
            raise SweepError(
                f"no answer has the confidence {name!r}, there is "
                f"{', '.join(one for one in CONFIDENCES if one in there) or 'none'}"
            )


def _plain(system: System, chance: Mapping[tuple[object, str], float]) -> Row:
    """What a system's answers are worth if all are accepted."""
    rows, right, items = system.rows, system.right_N, system.items_N
    readable = rows["verdict"].is_not_null().to_numpy()
    every = clustered_share(right, clusters_N=items)
    read = clustered_share(right[readable], clusters_N=items[readable])
    floor = _floor(system)
    names = system.rows[ITEM].unique().to_list() if chance else []
    known = [chance.get((system.name.get("benchmark"), item)) for item in names]
    there = [one for one in known if one is not None]
    return {
        **system.name,
        "system": system.label,
        "n_questions": every.n_questions,
        "n_answers": every.n,
        "n_unread": int((~readable).sum()),
        "n_without_gold": system.n_without_gold,
        "n_right": every.k,
        "accuracy": every.value,
        "low": every.low,
        "high": every.high,
        "interval": every.method,
        "accuracy_read": read.value,
        "read_low": read.low if read.n else None,
        "read_high": read.high if read.n else None,
        "chance": float(np.mean(there)) if there and len(there) == len(known) else None,
        "noise_floor": floor.mean,
        "noise_floor_sd": floor.sd,
        "p_noise": floor.p,
        "noise": None if floor.p is None else floor.p > NOISE_ABOVE,
    }


def _floor(system: System) -> NoiseFloor:
    """Accuracy of the same answers given to other questions."""
    rows = system.rows
    known = pl.Enum(pl.concat([rows["verdict"], rows["gold"]]).drop_nulls().unique().sort())
    verdicts, gold = (rows[name].cast(known).to_physical() for name in ("verdict", "gold"))
    _, first, question = np.unique(system.items_N, return_index=True, return_inverse=True)
    return accuracy_floor(
        verdicts.cast(pl.Int64).fill_null(-1).to_numpy(), question, gold.to_numpy()[first]
    )


def _nothing(system: System) -> Row:
    """A system without any confidence."""
    return {"n_rejected": system.rows.height, "undefined": "no_confidence"}


def _ranked(system: System, kind: str, options: SelectionOptions) -> Row:
    """How well a confidence ranks the answers, and whether it means what it says."""
    scores, right, items = system.scores_N(kind), system.right_N, system.items_N
    sure = ~np.isnan(scores)
    ranking = auroc(scores, right, clusters_N=items)
    noise = ranking_floor(scores, right, clusters_N=items)
    risk = risk_coverage(scores, right, clusters_N=items)
    found: Row = {
        "confidence": kind,
        "n_rejected": int((~sure).sum()),
        "n_distinct": int(np.unique(scores[sure]).size),
        "auroc": ranking.value,
        "auroc_low": ranking.low,
        "auroc_high": ranking.high,
        "auroc_floor_sd": noise.sd,
        "auroc_p_noise": noise.p,
        "auroc_noise": None if noise.p is None else noise.p > NOISE_ABOVE,
        "aurc": risk.aurc,
        "aurc_low": risk.low,
        "aurc_high": risk.high,
        "aurc_floor": risk.n_errors / risk.n if risk.n else None,
        "aurc_excess": risk.excess,
        "few": few_answers(scores, right, items),
        "undefined": ranking.undefined,
    }
    return found | _calibrated(system, scores, options)


def _calibrated(system: System, scores: NDArray[np.float64], options: SelectionOptions) -> Row:
    """Calibration of a confidence."""
    right, items = system.right_N, system.items_N
    sure = ~np.isnan(scores)
    brier = brier_score(scores, right, clusters_N=items)
    found: Row = {
        "mean_confidence": float(scores[sure].mean()) if sure.any() else None,
        "accuracy_confident": float(right[sure].mean()) if sure.any() else None,
        "brier": brier.value,
        "brier_low": brier.low,
        "brier_high": brier.high,
        "brier_floor": brier.noise_floor,
        "n_bins": options.n_bins,
    }
    for binning in BINNINGS:
        name = "ece" if binning == "width" else "ece_mass"
        error = calibration_error(
            scores, right, n_bins=options.n_bins, binning=binning, clusters_N=items,
            seed=options.seed,
        )  # fmt: skip
        found |= {name: error.value, f"{name}_floor": error.floor, f"{name}_p": error.p}
    return found
