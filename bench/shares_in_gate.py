"""Do intervals of shares cover, and does a gate err as seldom at its limit as it promises?

Judges whose true share is known are asked questions several times. Three intervals of the same
judgments are compared: Student's t (as `reduce` had it until 2026-11-27: on the logit scale where
the other end is cut off, none where every question comes out alike), the one that `reduce` and
`gate` print (`share_ends`: each end the outer one of t and of as many trials as the error is worth;
where questions weigh unequally, of one question more, as heavy as that adds, which differs as much
as it can; exact where every question comes out alike), and, for what more would cost, that one or
the ends of one whole question more (as the gate has of drops), whichever is farther out. The truth
is the limit, so every PASS and every FAIL is false; promised are 2.5 % of either.
Beside it alpha of 1, whose exact interval follows from that of agreement.

    python -m bench.shares_in_gate [--runs 4000] [--seed 1] [--cells]

Of the first 20 judges of each cell the shipped function is asked, too, and the run stops where it
gives anything else. About a minute on one core.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, stdtrit

from judgerel_ray.stats.intervals.interval import student_interval

Floats = NDArray[np.float64]
CHECKED = 20
QUESTIONS, REPEATS = (20, 60, 200), (2, 4, 8)
NEAR = (0.02, 0.05, 0.2, 0.5, 0.8, 0.95, 0.98)
HEAVY = {"replies, unequal repeats": 4, "replies, very unequal repeats": 10,
         "heavy questions fail": 4, "very heavy questions fail": 10}  # fmt: skip
"""How much more often a fifth of the questions is asked."""
LIGHT = 0.25  # how often the others fail, of what all do
RULES = ("t", "printed", "one more")
CONFIDENCE, PROMISED = 0.95, 0.025


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """Where verdicts come from: `alike` is how much of the variance lies between questions."""

    name: str
    truth: float
    alike: float
    questions: int
    repeats: int

    def draw(self, runs: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """What each question adds to the share, and how much it weighs: (runs, questions) each."""
        size = (runs, self.questions)
        if self.name == "swap consistency":
            return self._of_orders(size, rng), np.ones(size)
        if self.name == "first place":
            return self._of_places(size, rng), np.ones(size)
        repeats = np.full(self.questions, self.repeats)
        repeats[::5] *= HEAVY.get(self.name, 1)
        if self.name.endswith("fail"):
            return self._of_heavy(repeats.astype(float), size, rng)
        of_share = rng.binomial(repeats, self._shares(self.truth, size, rng))
        return of_share.astype(float), np.broadcast_to(repeats, size).astype(float)

    def _of_heavy(
        self, repeats: Floats, size: tuple[int, int], rng: np.random.Generator
    ) -> tuple[Floats, Floats]:
        """Questions that fail wholly or not at all, heavy ones mostly: those that are hard."""
        heavy, light = repeats > repeats.min(), LIGHT * (1 - self.truth)
        of_heavy = repeats[heavy].sum() / repeats.sum()
        fails = np.where(heavy, (1 - self.truth - (1 - of_heavy) * light) / of_heavy, light)
        held = rng.random(size) >= fails
        return np.where(held, repeats, 0.0), np.broadcast_to(repeats, size)

    def _shares(self, mean: float, size: tuple[int, int], rng: np.random.Generator) -> Floats:
        """The share of each question: one for all, beta, or 0 and 1."""
        if self.alike in (0.0, 1.0):
            return (
                np.where(rng.random(size) < mean, 1.0, 0.0) if self.alike else np.full(size, mean)
            )
        s = (1 - self.alike) / self.alike
        return rng.beta(mean * s, (1 - mean) * s, size)

    def _of_orders(self, size: tuple[int, int], rng: np.random.Generator) -> Floats:
        """Pairs of both orders that name the same option: by content, or by position."""
        same = max(self.truth, 1 - self.truth)
        if self.alike == 0:
            p = np.full(size, (1 + sqrt(2 * same - 1)) / 2)
        elif same == 0.5:
            p = self._shares(0.5, size, rng)
        else:
            s = 2 * (1 - same) / (2 * same - 1)
            p = rng.beta(s / 2, s / 2, size)
        by_place = self.truth < 0.5 or (self.truth == 0.5 and rng.random(size) < 0.5)
        a = rng.binomial(self.repeats, p)
        b = rng.binomial(self.repeats, np.where(by_place, 1 - p, p))
        return (a * b + (self.repeats - a) * (self.repeats - b)) / self.repeats**2

    def _of_places(self, size: tuple[int, int], rng: np.random.Generator) -> Floats:
        """Verdicts for the place shown first, of a judge that else knows what is right."""
        habit, right = 2 * self.truth - 1, rng.random(size) < 0.5
        first = [rng.binomial(self.repeats, habit + (1 - habit) * one) for one in (right, ~right)]
        return sum(first) / (2.0 * self.repeats)


def designs() -> Iterator[Design]:
    """Every cell."""
    named = [("share of replies", truth, alike) for alike in (0, 0.3, 0.8, 1) for truth in NEAR]
    named += [(name, truth, 0.3) for name in list(HEAVY)[:2] for truth in NEAR]
    named += [(name, truth, 1) for name in list(HEAVY)[2:] for truth in (0.8, 0.95, 0.98)]
    named += [("swap consistency", truth, alike) for alike in (0, 1)
              for truth in (0.02, 0.05, 0.5, 0.95, 0.98)]  # fmt: skip
    named += [("first place", truth, 0) for truth in (0.55, 0.95, 0.98)]
    for name, truth, alike in named:
        for questions in QUESTIONS:
            for repeats in REPEATS:
                yield Design(name=name, truth=truth, alike=alike, questions=questions,
                             repeats=repeats)  # fmt: skip


def all_ends(sums: Floats, weights: Floats) -> dict[str, tuple[Floats, Floats]]:
    """Both ends of each run by each rule; NaN where there is no interval."""
    n, total, weight = sums.shape[1], sums.sum(axis=1), weights.sum(axis=1)
    value = total / weight
    without = (total[:, None] - sums) / (weight[:, None] - weights)
    error = np.sqrt((n - 1) / n * ((without - without.mean(axis=1)[:, None]) ** 2).sum(axis=1))
    t, tail = stdtrit(n - 1, (1 + CONFIDENCE) / 2), (1 - CONFIDENCE) / 2
    half = t * error
    alike = half < 1e-9
    inside, spread = np.where((value > 0) & (value < 1), value, 0.5), np.where(alike, 1.0, error)
    centre, reach = np.log(inside / (1 - inside)), half / (inside * (1 - inside))
    inner = [(1 + np.tanh((centre + sign * reach) / 2)) / 2 for sign in (-1, 1)]
    low, high = value - half, value + half
    over, under = (high > 1) & (low >= 0), (low < 0) & (high <= 1)
    low, high = (np.where(over, np.minimum(low, inner[0]), np.maximum(low, 0)),
                 np.where(under, np.maximum(high, inner[1]), np.minimum(high, 1)))  # fmt: skip
    worth = inside * (1 - inside) / spread**2 * (stdtrit(1e9, (1 + CONFIDENCE) / 2) / t) ** 2
    k = inside * worth
    outer = (np.minimum(low, betaincinv(k, worth - k + 1, tail)),
             np.maximum(high, betaincinv(k + 1, worth - k, 1 - tail)))  # fmt: skip
    uneven = np.ptp(weights, axis=1) > 0
    added = one_question_more(sums, weights)
    outer = (np.where(uneven, np.minimum(outer[0], added[0]), outer[0]),
             np.where(uneven, np.maximum(outer[1], added[1]), outer[1]))  # fmt: skip
    more = []
    for worst in (0.0, 1.0):
        squares = error**2 * n * (n - 1) + (worst - value) ** 2 * n / (n + 1)
        away = stdtrit(n, (1 + CONFIDENCE) / 2) * np.sqrt(squares / n / (n + 1))
        more.append((n * value + worst) / (n + 1) + (2 * worst - 1) * away)
    one_more = (
        np.fmin(outer[0], np.maximum(more[0], 0)),
        np.fmax(outer[1], np.minimum(more[1], 1)),
    )
    every, never = alike & (value > 1 - 1e-9), alike & (value < 1e-9)
    none, least = alike & ~every & ~never, least_means(weights, tail)

    def exact(ends: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
        low = np.select([none, every, never], [np.nan, least, 0.0], ends[0])
        return low, np.select([none, every, never], [np.nan, 1.0, 1 - least], ends[1])

    plain = tuple(np.where(alike, np.nan, one) for one in (low, high))
    return {"t": plain, "printed": exact(outer), "one more": exact(one_more)}


def one_question_more(sums: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Ends with one question more, as heavy as uneven weights add, that differs as it may most."""
    n, total = sums.shape[1], weights.sum(axis=1)
    more = (weights**2).sum(axis=1) / total - total / n
    ends = []
    for worst in (0.0, 1.0):
        mean = (sums.sum(axis=1) + more * worst) / (total + more)
        apart = ((sums - weights * mean[:, None]) ** 2).sum(axis=1) + (more * (worst - mean)) ** 2
        away = stdtrit(n, (1 + CONFIDENCE) / 2) * np.sqrt(apart * (n + 1) / n) / (total + more)
        ends.append(np.clip(mean + (2 * worst - 1) * away, 0, 1))
    return ends[0], ends[1]


def least_means(weights: Floats, tail: float) -> Floats:
    """Where the chance of all ones is the tail and the weighted mean is least, by bisection."""
    low, high = np.zeros(len(weights)), weights.max(axis=1)
    for _ in range(80):
        level = (low + high) / 2
        is_less = np.log(np.minimum(1, level[:, None] / weights)).sum(axis=1) < np.log(tail)
        low, high = np.where(is_less, level, low), np.where(is_less, high, level)
    found: Floats = np.minimum(weights, high[:, None]).sum(axis=1) / weights.sum(axis=1)
    return found


def check(sums: Floats, weights: Floats, ends: tuple[Floats, Floats]) -> None:
    """Stop where the shipped interval is another one."""
    for run in range(CHECKED):
        total, weight = sums[run].sum(), weights[run].sum()
        value = float(total / weight)
        found = student_interval(value, (total - sums[run]) / (weight - weights[run]), CONFIDENCE,
                                 chance_corrected=False, weights_C=weights[run])  # fmt: skip
        shipped = [np.nan if end is None else end for end in (found.low, found.high)]
        if not np.allclose(shipped, [ends[0][run], ends[1][run]], atol=1e-9, equal_nan=True):
            raise SystemExit(f"the package gives {shipped}, this {ends[0][run], ends[1][run]}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What the intervals of one rule did in one cell."""

    covered: float  # of the intervals that there are
    width: float
    low_beyond: float  # of all runs: both ends above the truth
    high_below: float
    none: float

    def short(self, runs: int) -> bool:
        """Whether coverage is below .95 by more than three Monte-Carlo standard errors."""
        return self.covered < CONFIDENCE - 3 * sqrt(CONFIDENCE * (1 - CONFIDENCE) / runs)

    def errs(self, runs: int) -> bool:
        """Whether either error is above its promise by more than three standard errors."""
        most = PROMISED + 3 * sqrt(PROMISED * (1 - PROMISED) / runs)
        return max(self.low_beyond, self.high_below) > most


def cell(design: Design, runs: int, rng: np.random.Generator) -> dict[str, Found]:
    """One cell, by each rule."""
    sums, weights = design.draw(runs, rng)
    found = {}
    for rule, (low, high) in (by_rule := all_ends(sums, weights)).items():
        there = ~np.isnan(low)
        above, below = low > design.truth + 1e-12, high < design.truth - 1e-12
        covered = (there & ~above & ~below).sum() / max(1, there.sum())
        found[rule] = Found(
            covered=float(covered) if there.any() else 1.0, none=float((~there).mean()),
            width=float(np.nanmean(high - low)) if there.any() else float("nan"),
            low_beyond=float(above.mean()), high_below=float(below.mean()),
        )  # fmt: skip
    check(sums, weights, by_rule["printed"])
    return found


def alpha_of_one(questions: int, base: float, runs: int, rng: np.random.Generator) -> float:
    """The most false PASSes over limits, where every question has one verdict, asked twice.

    A share d of the questions is a coin flip: alpha is 1 - d / (4 m (1 - m)), m the mean share of
    the first verdict.
    """
    most = 0.0
    for apart in np.linspace(0.02, 1.98, 50) * -np.log(PROMISED) / questions:
        if apart > 1:
            continue
        coin = rng.random((runs, questions)) < apart
        share = np.where(coin, 0.5, np.where(rng.random((runs, questions)) < base, 1.0, 0.0))
        first = rng.binomial(2, share)
        mean = (1 - apart) * base + apart / 2
        truth = 1 - apart / 2 / (2 * mean * (1 - mean))
        c, n = first.sum(axis=1), 2 * questions
        chance = (c * (c - 1) + (n - c) * (n - c - 1)) / (n * (n - 1))
        alike = (first != 1).all(axis=1) & (chance < 1)
        least = PROMISED ** (1 / questions)
        low = 1 - (1 - least) / np.where(alike, 1 - chance, 1.0)
        most = max(most, float((alike & (low > truth)).mean()))
    return most


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cells", action="store_true", help="print every cell")
    options = parser.parse_args()
    runs = options.runs
    found = [
        (one, cell(one, runs, np.random.default_rng([options.seed, place])))
        for place, one in enumerate(designs())
    ]
    print(f"{runs:,} judges a cell. Lowest coverage, most false verdicts, mean width; cells whose "
          "coverage is below 95 %\nor whose errors are above 2.5 % by more than three standard "
          "errors")  # fmt: skip
    for name, alike in dict.fromkeys((one.name, one.alike) for one, _ in found):
        chosen = [by for one, by in found if (one.name, one.alike) == (name, alike)]
        print(f"{name}, {alike:.0%} of the variance between questions: {len(chosen)} cells")
        for rule in RULES:
            of = [by[rule] for by in chosen]
            wider = np.nanmean([by[rule].width / by["t"].width for by in chosen])
            most = max(max(one.low_beyond, one.high_below) for one in of)
            short, err = (sum(one.short(runs) for one in of), sum(one.errs(runs) for one in of))
            print(f"  {rule:9}{min(one.covered for one in of):8.1%}{most:8.1%}"
                  f"{np.nanmean([one.width for one in of]):8.1%}  {wider:.2f} of t  "
                  f"short {short}, err {err}")  # fmt: skip
    if options.cells:
        print("cell: coverage, width, above the truth, below it, none, by rule")
    for one, by in found if options.cells else ():
        numbers = "  ".join(
            f"{of.covered:.3f} {of.width:.3f} {of.low_beyond:.3f} {of.high_below:.3f} {of.none:.3f}"
            for of in by.values()
        )
        print(f"{one.name} {one.truth} {one.alike} {one.questions} x {one.repeats}: {numbers}")
    print("\nalpha of 1, two repeats: most false PASSes at any limit")
    rng = np.random.default_rng(options.seed)
    for questions in QUESTIONS:
        errors = [f"{base:.0%} {alpha_of_one(questions, base, runs, rng):.1%}"
                  for base in (0.5, 0.8, 0.9)]  # fmt: skip
        print(f"  {questions} questions, share of the first verdict: {', '.join(errors)}")


if __name__ == "__main__":
    main()
