"""Accept or reject: what every system's answers are worth by how sure it is of them.

Curves of selection: error by acceptance, accuracy by confidence, and a threshold one can prove.

Shape suffixes: N = answers.

Columns of the tables of selection.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgerel_ray.analyses.selection.tables import (
    Acceptances,
    ConfidenceBins,
    Guarantees,
    SystemConfidences,
)
from judgerel_ray.blocks.shown import Shown
from judgerel_ray.core import SweepError
from judgerel_ray.core.tables import as_columns, value_columns
from judgerel_ray.counting.intervals import check_resamples
from judgerel_ray.counting.right_answers import ITEM
from judgerel_ray.counting.verdicts.policy import NOISE_ABOVE, floor_columns
from judgerel_ray.measuring.systems import CONFIDENCES, System, answers_floor
from judgerel_ray.stats import auroc, learn_then_test, risk_coverage
from judgerel_ray.stats.folds import grouped_folds
from judgerel_ray.stats.intervals.shares import clustered_share
from judgerel_ray.stats.selective.calibration import (
    BINNINGS,
    brier_score,
    calibration_error,
    reliability_bins,
)
from judgerel_ray.stats.selective.discrimination import few_answers, ranking_floor
from judgerel_ray.stats.selective.selective import BANDS, Band, accepted_errors

Row = dict[str, object]
_BY_THRESHOLD = ("acceptance", "n_accepted", "n_errors", "error", "low", "high", "band_low",
                 "band_high")  # fmt: skip
HALF = "half_of_questions"
"""``split``: a threshold is learnt on half of the questions, drawn by ``seed``."""


def acceptance_rows(system: System, kind: str, *, band: Band = "bonferroni") -> Iterator[Row]:
    """Give error and accuracy among the accepted at thresholds that occur, at most 50.

    Thresholds fall from row to row. ``low`` and ``high`` hold at a threshold by itself,
    ``band_low`` and ``band_high`` at all of them together; both are of the error. The band is
    Bonferroni's where a question has several answers.

    Examples
    --------
    See :func:`judgerel_ray.analyses.selection.selection.selection_tables`.
    """
    items = system.items_N
    singles = np.unique(items).size == items.size
    found = accepted_errors(
        system.scores_N(kind),
        system.right_N,
        clusters_N=items,
        band=band if singles else "bonferroni",
    )
    columns = {"threshold": "thresholds_T", **{name: f"{name}_T" for name in _BY_THRESHOLD}}
    table = pl.DataFrame(as_columns(found, **columns)).with_columns(
        pl.lit(found.n).alias("n_answers"), accuracy=1 - pl.col("error"),
    )  # fmt: skip
    shared = as_columns(found, "band", interval="method", band_off="off")
    for row in table.fill_nan(None).iter_rows(named=True):
        yield {**row, **shared, "band_thresholds": table.height}


def reliability_rows(system: System, kind: str, *, n_bins: int) -> Iterator[Row]:
    """Give accuracy by confidence, in bins of equal width and of equal mass.

    Examples
    --------
    See :func:`judgerel_ray.analyses.selection.selection.selection_tables`.
    """
    for binning in BINNINGS:
        bins = reliability_bins(
            system.scores_N(kind),
            system.right_N,
            n_bins=n_bins,
            binning=binning,
            clusters_N=system.items_N,
        )
        for place, one in enumerate(bins):
            yield {
                "binning": binning,
                "bin": place,
                "from": one.low,
                **as_columns(one, to="high", mean_confidence="confidence"),
                **as_columns(one.accuracy, "n", "low", "high", n_right="k", accuracy="value"),
            }


def guarantee_row(system: System, kind: str, *, risk: float, delta: float, seed: int) -> Row:
    """Find a threshold on one half of the questions, and see what it does on the other.

    Examples
    --------
    See :func:`judgerel_ray.analyses.selection.selection.selection_tables`.
    """
    items, scores, right = system.items_N, system.scores_N(kind), system.right_N
    row: Row = {"risk": risk, "delta": delta, "split": HALF, "seed": seed}
    if np.unique(items).size < 2:
        return row | {"undefined": "too_few_judgments"}
    held = grouped_folds(items, n_folds=2, seed=seed) == 1
    found = learn_then_test(
        scores[~held], right[~held], risk=risk, delta=delta, clusters_N=items[~held], seed=seed
    )
    row |= {
        "threshold": found.threshold,
        "n_calibration": found.n,
        "n_heldout": int(held.sum()),
        "undefined": found.undefined,
    }
    if found.threshold is None:
        sparse = _keeps_somewhere(scores[~held], right[~held], risk)
        return row | ({"undefined": "too_few_judgments"} if sparse else {})
    taken = held & (scores >= found.threshold)  # NaN reaches nothing
    wrong = clustered_share(~right[taken], clusters_N=items[taken])
    return row | {
        **as_columns(found, n_calibration_accepted="n_accepted", n_calibration_errors="n_errors"),
        **as_columns(wrong, n_accepted="n", n_errors="k", error="value"),
        "acceptance": wrong.n / int(held.sum()),
        **(as_columns(wrong, "low", "high") if wrong.n else {}),
    }


def _keeps_somewhere(
    scores_N: NDArray[np.float64], right_N: NDArray[np.bool_], risk: float
) -> bool:
    """Whether from some confidence on no more are wrong than is wanted, proven or not."""
    sure = scores_N[~np.isnan(scores_N)]
    return any(float(np.mean(~right_N[scores_N >= one])) <= risk for one in np.unique(sure))


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
        name: pl.String() if rows.schema[name] in (pl.Categorical, pl.Enum) else rows.schema[name]
        for name in systems[0].name
    }


_MOST_BINS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionOptions:
    """How answers are selected.

    ``confidences`` of :data:`.CONFIDENCES` (None: those that
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Selection(Shown):
    """What selection is worth, by system and confidence.

    Attributes
    ----------
    systems, acceptance, reliability, guarantees : pl.DataFrame
        As :mod:`judgerel_ray.analyses.selection.tables` says.
    """

    systems: pl.DataFrame
    acceptance: pl.DataFrame
    reliability: pl.DataFrame
    guarantees: pl.DataFrame


def selection_tables(
    systems: Sequence[System],
    options: SelectionOptions | None = None,
    *,
    chance: Mapping[tuple[object, str], float] | None = None,
) -> Selection:
    """Lay out accuracy, acceptance, ranking and calibration of every system.

    Examples
    --------
    >>> from judgerel_ray.measuring.systems import read_systems
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
        named: Row = {**system.name, "system": system.label}
        plain = named | _system_accepting_all(system, chance or {})
        kinds = options.of(system)
        if not kinds:
            rejected = {"n_rejected": system.rows.height, "undefined": "no_confidence"}
            summary.append(plain | rejected)
        for kind in kinds:
            of = named | {"confidence": kind}
            summary.append({**plain, **of, **_answers_ranked_to_select(system, kind, options)})
            curves += [of | row for row in acceptance_rows(system, kind, band=options.band)]
            bins += [of | row for row in reliability_rows(system, kind, n_bins=options.n_bins)]
            found = guarantee_row(
                system, kind, risk=options.risk, delta=options.delta, seed=options.seed
            )
            proven.append(of | found)
    schema = named_schema(systems)
    return Selection(
        systems=SystemConfidences.frame(summary, schema),
        acceptance=Acceptances.frame(curves, schema),
        reliability=ConfidenceBins.frame(bins, schema),
        guarantees=Guarantees.frame(proven, schema),
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


def _system_accepting_all(system: System, chance: Mapping[tuple[object, str], float]) -> Row:
    """What a system's answers are worth if all are accepted."""
    rows, right, items = system.rows, system.right_N, system.items_N
    readable = rows["verdict"].is_not_null().to_numpy()
    every = clustered_share(right, clusters_N=items)
    read = clustered_share(right[readable], clusters_N=items[readable])
    names = system.rows[ITEM].unique().to_list() if chance else []
    known = [chance.get((system.name.get("benchmark"), item)) for item in names]
    there = [one for one in known if one is not None]
    return {
        **as_columns(every, "n_questions", "low", "high", n_answers="n", n_right="k"),
        **as_columns(every, accuracy="value", interval="method"),
        "n_unread": int((~readable).sum()),
        "n_without_gold": system.n_without_gold,
        "accuracy_read": read.value,
        **(as_columns(read, read_low="low", read_high="high") if read.n else {}),
        "chance": float(np.mean(there)) if there and len(there) == len(known) else None,
        **floor_columns(answers_floor(system.rows, system.items_N)),
    }


def _answers_ranked_to_select(system: System, kind: str, options: SelectionOptions) -> Row:
    """How well a confidence ranks the answers, and whether it means what it says."""
    scores, right, items = system.scores_N(kind), system.right_N, system.items_N
    sure = ~np.isnan(scores)
    ranking = auroc(scores, right, clusters_N=items)
    noise = ranking_floor(scores, right, clusters_N=items)
    risk = risk_coverage(scores, right, clusters_N=items)
    found: Row = {
        "n_rejected": int((~sure).sum()),
        "n_distinct": int(np.unique(scores[sure]).size),
        **value_columns("auroc", ranking),
        "auroc_floor_sd": noise.sd,
        "auroc_p_noise": noise.p,
        "auroc_noise": None if noise.p is None else noise.p > NOISE_ABOVE,
        **as_columns(risk, "aurc", aurc_low="low", aurc_high="high", aurc_excess="excess"),
        "aurc_floor": risk.n_errors / risk.n if risk.n else None,
        "few": few_answers(scores, right, items),
        "undefined": ranking.undefined,
    }
    return found | _system_calibration(system, scores, options)


def _system_calibration(
    system: System, scores: NDArray[np.float64], options: SelectionOptions
) -> Row:
    """Calibration of a confidence."""
    right, items = system.right_N, system.items_N
    sure = ~np.isnan(scores)
    brier = brier_score(scores, right, clusters_N=items)
    found: Row = {
        "mean_confidence": float(scores[sure].mean()) if sure.any() else None,
        "accuracy_confident": float(right[sure].mean()) if sure.any() else None,
        **value_columns("brier", brier),
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
