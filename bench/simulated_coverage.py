"""One cell of the coverage table: judges of one truth, and the intervals of their verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from bench.judges_of_known_truth import BASES, TRUTHS, Judge
from bench.noise_is_called_noise import Called, of_counts
from judgerel_ray.stats import CountStatistic, Interval, count_statistic, jackknife_interval
from judgerel_ray.stats.intervals.ends import share_ends, t_quantile, trial_ends

CHECKED = 50  # tables of each cell and coefficient that the shipped function reads, too
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What the intervals of one coefficient did in one cell."""

    base: str
    alpha: float
    questions: int
    replications: int
    coefficient: str
    truth: float
    runs: int
    intervals: int  # that there are; the others say why not
    covered: int
    flagged: int
    covered_unflagged: int
    mean_width: float | None

    @property
    def rate(self) -> float:
        return self.covered / self.intervals if self.intervals else float("nan")

    @property
    def error(self) -> float:
        """Monte-Carlo standard error of the rate."""
        return sqrt(self.rate * (1 - self.rate) / self.intervals) if self.intervals else 0.0

    @property
    def short(self) -> bool:
        """Whether coverage is below .92 by more than two Monte-Carlo standard errors."""
        bound = 0.92 - 2 * sqrt(0.92 * 0.08 / max(1, self.intervals))
        return self.intervals > 0 and self.rate < bound


def coverage(
    tables: NDArray[np.int64], statistic: CountStatistic, truth: float, judge: Judge
) -> Coverage:
    """Ask for the interval of each table (runs, questions, categories)."""
    low, high, few = intervals(tables.astype(np.float64), statistic)
    for run, table in enumerate(tables[:CHECKED]):
        agree(jackknife_interval(table, statistic), low[run], high[run], bool(few[run]))
    given = ~np.isnan(low)
    # Truths at an end of the scale are met up to rounding.
    covers = given & (low - 1e-12 <= truth) & (truth <= high + 1e-12)
    return Coverage(
        base=judge.base,
        alpha=judge.alpha,
        questions=tables.shape[1],
        replications=int(tables[0, 0].sum()),
        coefficient=statistic.name,
        truth=truth,
        runs=len(tables),
        intervals=int(given.sum()),
        covered=int(covers.sum()),
        flagged=int((given & few).sum()),
        covered_unflagged=int((covers & ~few).sum()),
        mean_width=float((high - low)[given].mean()) if given.any() else None,
    )


def intervals(
    tables: Floats, statistic: CountStatistic
) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Compute ``jackknife_interval`` of many complete tables: ends (NaN: none) and flags."""
    questions = tables.shape[1]
    terms = statistic.terms(tables)
    total = terms.sum(axis=1)
    value = statistic.value(total)
    left_out = statistic.value(total[:, None] - terms)
    mean = left_out.mean(axis=1)
    spread = ((left_out - mean[:, None]) ** 2).sum(axis=1)
    error = np.sqrt((questions - 1) / questions * spread)
    half = t_quantile(questions - 1, 0.95) * error
    half = np.where(half >= 1e-9, half, np.nan)
    bias = (questions - 1) * (mean - value)
    low, high = value - half, value + half
    inside = np.where((value > 0) & (value < 1), value, 0.5)
    centre, reach = np.log(inside / (1 - inside)), half / (inside * (1 - inside))
    inner_low, inner_high = ((1 + np.tanh((centre + r) / 2)) / 2 for r in (-reach, reach))
    if statistic.chance_corrected:
        logit = (low > 0) & (value < 1)
        near = (np.abs(bias) > 0.25 * error) & (low <= 0) & statistic.less_bias
        held = near & (low <= 0) & (high >= 0)
        low, high = (np.where(near, end - bias, end) for end in (low, high))
        low = np.where(logit, inner_low, np.where(held, np.minimum(0.0, low), low))
        high = np.where(held, np.maximum(0.0, high), high)
        low, high = (np.where(near, extreme(end, value), end)
                     for extreme, end in ((np.minimum, low), (np.maximum, high)))  # fmt: skip
        low, high = np.maximum(-1.0, low), np.where(logit, inner_high, np.minimum(1.0, high))
    else:
        low, high = _share_ends(value, error, questions)
    alike = (error < 1e-9) & np.isin(value.round(9), (0.0, 1.0))
    if statistic.is_nominal_alpha:
        alike &= value > 0.5
        low, high = np.where(alike, _exact_alpha(tables), low), np.where(alike, 1.0, high)
    most = tables.max(axis=2)
    informative = np.minimum((most < tables.sum(axis=2)).sum(axis=1), (most > 1).sum(axis=1))
    few = informative < 10
    if statistic.rests_on_minority:
        few |= (tables < most[..., None]).sum(axis=1).min(axis=1) < 5
    return low, high, few & ~(alike & ~np.isnan(low))


def _share_ends(value: Floats, errors: Floats, questions: int) -> tuple[Floats, Floats]:
    """Shares: the shipped ends, exact where every question agrees or none does; NaN elsewhere."""
    ends = np.full((2, value.size), np.nan)
    for run, (one, error) in enumerate(zip(value.tolist(), errors.tolist(), strict=True)):
        if t_quantile(questions - 1, 0.95) * error >= 1e-9:
            ends[:, run] = share_ends(one, error, questions)
        elif round(one, 9) in (0.0, 1.0):
            ends[:, run] = trial_ends(round(one) * questions, questions, 0.95)
    return ends[0], ends[1]


def _exact_alpha(tables: Floats) -> Floats:
    """The low end of an alpha of 1: that of agreement on as many questions, less chance."""
    totals = tables.sum(axis=1)
    n = totals.sum(axis=1)
    chance = (totals * (totals - 1)).sum(axis=1) / (n * (n - 1))
    least, _ = trial_ends(tables.shape[1], tables.shape[1], 0.95)
    return 1 - (1 - least) / np.where(chance < 1, 1 - chance, np.nan)


def agree(one: Interval, low: float, high: float, few: bool) -> None:
    """Refuse to go on where the shipped interval is another."""
    shipped = (np.nan, np.nan) if one.low is None or one.high is None else (one.low, one.high)
    same = np.allclose([low, high], shipped, rtol=0, atol=1e-9, equal_nan=True)
    if not same or (one.low is not None and one.few_informative != few):
        raise SystemExit(f"many at once give {(low, high, few)}, jackknife_interval gives {one}")


def cell(
    judge: Judge, questions: int, replications: int, *, runs: int, seed: int
) -> tuple[list[Coverage], list[Called]]:
    """Compute one cell: coverage of all coefficients and, of noise, how often it is called so."""
    place = list(BASES).index(judge.base)
    rng = np.random.default_rng([seed, place, round(100 * judge.alpha), questions, replications])
    tables = judge.counts(questions=questions, replications=replications, runs=runs, rng=rng)
    statistics = [count_statistic(name, n_values=judge.rates.size) for name in TRUTHS]
    covered = [
        coverage(tables, statistic, TRUTHS[statistic.name](judge, replications), judge)
        for statistic in statistics
    ]
    if judge.alpha > 0:
        return covered, []
    statistics.append(count_statistic("flip_rate", n_values=judge.rates.size))
    noise = of_counts(
        tables[: runs // 2], statistics, f"{judge.base}, {questions} x {replications}"
    )
    return covered, noise
