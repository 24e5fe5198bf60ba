"""What ``advise`` says where facets have a known number of levels, against judges of known truth.

    python -m bench.advice_on_finite_facets [--runs 200] [--seed 1] [--part needs intervals]

``needs``: judgments that a generalizability of .9 takes, of judges that go by the place of an
option, mildly and strongly. ``before`` takes orders as drawn from infinitely many, a new one each
time, as advice did before it knew that a pair has two.

``intervals``: how often 95 % intervals of components and of the generalizability of one judgment
cover the truth, of facets all of whose levels are there, and of facets of which a few are drawn.
``before`` leaves out questions alone. A dash: no interval, because two levels say too little.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgerel_ray.analyses.advice.advice import advise_judgments
from judgerel_ray.analyses.advice.facets import Populations
from judgerel_ray.stats.generalizability.component import (
    component_interval,
    component_share_interval,
)
from judgerel_ray.stats.generalizability.dstudy import dependability
from judgerel_ray.stats.generalizability.facet_cells import label_cells
from judgerel_ray.stats.generalizability.variance_components import (
    VarianceComponents,
    variance_components,
)

Floats = NDArray[np.float64]
AIM = 0.9
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(60)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()
_NAMES = ("question", "order", "question x order", "residual", "generalizability")


def logistic(x: Floats) -> Floats:
    """1 / (1 + exp(-x))."""
    shares: Floats = 1 / (1 + np.exp(-x))
    return shares


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """Judges of pairs: logit P(first option) = content ~ N(0, spread^2) +- pull of the place.

    Which order is number 0 is drawn for each question, as in a run.
    """

    name: str
    spread: float
    pull: float
    questions: int = 400
    replications: int = 4

    def truth(self) -> tuple[float, float, float]:
        """Variances of the mean over both orders, of question x order, and of repeats."""
        p = logistic(self.spread * _NODES[:, None] + self.pull * np.array([1.0, -1.0]))
        mean_q = p.mean(axis=1)
        own = float(_WEIGHTS @ mean_q**2 - (_WEIGHTS @ mean_q) ** 2)
        crossed = float(_WEIGHTS @ ((p - mean_q[:, None]) ** 2).sum(axis=1))
        return own, crossed, float(_WEIGHTS @ (p * (1 - p)).mean(axis=1))

    def need(self) -> float:
        """Judgments for the aim, half in each order: repeats are all the error there is."""
        own, _, repeats = self.truth()
        return AIM / (1 - AIM) * repeats / own

    def draw(self, rng: np.random.Generator) -> pl.DataFrame:
        """Judgments of all questions in both orders."""
        content = rng.normal(0, self.spread, self.questions)
        first = rng.choice([-1.0, 1.0], self.questions) * self.pull
        shares = logistic(content[:, None] + first[:, None] * np.array([1.0, -1.0]))
        chosen = rng.random((*shares.shape, self.replications)) < shares[..., None]
        q, o, r = (axis.ravel() for axis in np.indices(chosen.shape))
        verdict = np.where(chosen.ravel(), "x", "y")
        return pl.DataFrame(
            {"item_id": q.astype(str), "option_order": o, "replication": r, "verdict": verdict}
        )


PAIRS = (
    Pairs(name="no order bias", spread=1.15, pull=0.0),
    Pairs(name="mild order bias", spread=1.15, pull=0.64),
    Pairs(name="strong order bias", spread=1.3, pull=1.58),
    Pairs(name="almost only the place", spread=1.3, pull=3.0),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What was recommended for one judge; NaN where nothing reaches the aim."""

    judge: Pairs
    before: Floats
    after: Floats
    whole: Floats

    @property
    def median_error(self) -> float:
        """Relative error of the median recommendation."""
        return float(np.nanmedian(np.nan_to_num(self.after, nan=np.inf))) / self.judge.need() - 1


def recommended(judge: Pairs, *, runs: int, seed: int) -> Needs:
    """Ask for advice on many sets of judgments of one judge."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(runs):
        frame = judge.draw(rng).lazy()
        row = []
        for populations in (Populations(sizes={"option_order": "unlimited"}), None):
            advice = advise_judgments(
                frame, target={"generalizability": AIM}, populations=populations
            )
            spread = advice.needs.filter(lever="apart").row(0, named=True)
            row += [spread["needed"], spread["needed_whole"]]
        found.append([np.nan if one is None else one for one in row])
    table = np.array(found)
    return Needs(judge=judge, before=table[:, 1], after=table[:, 2], whole=table[:, 3])


@dataclass(frozen=True, slots=True, kw_only=True)
class Levels:
    """Pass or fail with a main effect of levels ~ N(0, main^2) and one with questions, in logits.

    `known`: the levels are all there are, evenly spaced effects of that standard deviation.
    """

    name: str
    main: float
    crossed: float
    known: bool
    spread: float = 1.5

    def effects(self, levels: int, rng: np.random.Generator) -> Floats:
        """Main effects of the levels."""
        if not self.known:
            return rng.normal(0, self.main, levels)
        even = np.linspace(-1, 1, levels)
        return self.main * even / float(even.std(ddof=1))

    def truth(self, levels: int) -> Floats:
        """The components, one-hot over both values, and the generalizability of one judgment."""
        if self.known:
            main = self.effects(levels, np.random.default_rng(0))
            weights = np.full(levels, 1 / levels)
        else:
            main, weights = self.main * _NODES, _WEIGHTS
        logits = self.spread * _NODES[:, None, None] + main[:, None] + self.crossed * _NODES
        p_all = logistic(logits)
        p = p_all @ _WEIGHTS
        mean_q, mean_o = p @ weights, _WEIGHTS @ p
        mean = float(mean_q @ _WEIGHTS)
        own, order = float(mean_q**2 @ _WEIGHTS) - mean**2, float(mean_o**2 @ weights) - mean**2
        square = float(_WEIGHTS @ (p_all**2 @ _WEIGHTS) @ weights)
        crossed, repeats = square - mean**2 - own - order, mean - square
        if self.known:  # mean squares over N - 1, and the crossed effects within their mean
            within = square - float(_WEIGHTS @ p**2 @ weights)
            own += within / levels
            crossed = (crossed - within / levels) * levels / (levels - 1)
            order *= levels / (levels - 1)
        one = crossed * (1 - 1 / levels) if self.known else crossed
        return np.array([*(2 * v for v in (own, order, crossed, repeats)),
                         own / (own + one + repeats)])  # fmt: skip

    def draw(
        self, questions: int, levels: int, replications: int, rng: np.random.Generator
    ) -> VarianceComponents:
        """The components of one simulated design."""
        logits = (
            rng.normal(0, self.spread, (questions, 1))
            + self.effects(levels, rng)
            + rng.normal(0, self.crossed, (questions, levels))
        )
        passed = rng.binomial(replications, logistic(logits)).ravel()
        q, o = (axis.ravel() for axis in np.indices(logits.shape))
        cells = label_cells(np.stack([passed, replications - passed], 1), {"q": q, "o": o})
        sizes = {"o": levels} if self.known else {}
        return variance_components(cells, object_="q", sizes=sizes)


LEVELS = (
    Levels(name="all there are, no effect", main=0.0, crossed=0.0, known=True),
    Levels(name="all there are, mild", main=0.3, crossed=0.5, known=True),
    Levels(name="all there are, strong", main=1.5, crossed=0.3, known=True),
    Levels(name="drawn, mild", main=0.5, crossed=0.5, known=False),
    Levels(name="drawn, strong", main=1.5, crossed=0.3, known=False),
)


def covered(
    law: Levels, *, questions: int, levels: int, runs: int, seed: int
) -> tuple[Floats, Floats, Floats]:
    """Share of intervals that cover, by questions alone and as shipped, and how many there are."""
    rng = np.random.default_rng(seed)
    truth = law.truth(levels)
    hits, given = np.zeros((2, truth.size)), np.zeros((2, truth.size))
    for _ in range(runs):
        found = law.draw(questions, levels, 3, rng)
        one = dependability(found)
        shipped = [*((c.low, c.high) for c in found.components), (one.low, one.high)]
        for method, ends in enumerate((_by_questions(found), shipped)):
            for i, (low, high) in enumerate(ends):
                if low is not None and high is not None:
                    given[method, i] += 1
                    hits[method, i] += low - 1e-9 <= truth[i] <= high + 1e-9
    shares: Floats = np.divide(hits, given, out=np.full_like(hits, np.nan), where=given > 0)
    return shares[0], shares[1], given[1]


def _by_questions(found: VarianceComponents) -> list[tuple[float | None, float | None]]:
    """Intervals by leaving out questions alone."""
    values = np.array([one.value for one in found.components])
    ends = [
        component_interval(value, [(column, 1.0)], confidence=0.95)
        for value, column in zip(values, found.left_out_GP.T, strict=True)
    ]
    one = dependability(found)
    shown = 1 - 1 / found.sizes["o"] if found.sizes else 1.0
    weights = np.array([[1, 0], [0, 0], [0, shown], [0, 1]], dtype=np.float64)
    sums = np.maximum(found.left_out_GP, 0.0) @ weights
    left_out = sums[:, 0] / sums.sum(axis=1)
    return [
        *ends,
        component_share_interval(one.generalizability, [(left_out, 1.0)], confidence=0.95),
    ]


def _needs_lines(runs: int, seed: int) -> Iterator[str]:
    """The table of needs."""
    yield f"Judgments for a generalizability of {AIM}; 400 questions x 2 orders x 4; {runs} runs"
    heads = ("truth", 7), ("before", 8), ("none", 6), ("after", 7), ("quartiles", 14), ("error", 8)
    yield f"{'judge':24}" + "".join(head.rjust(width) for head, width in heads)
    for judge in PAIRS:
        one = recommended(judge, runs=runs, seed=seed)
        out = float(np.isnan(one.before).mean())
        before = f"{np.nanmedian(one.before):.0f}" if out < 0.5 else "-"
        low, middle, high = np.nanquantile(one.whole, [0.25, 0.5, 0.75])
        yield (
            f"{judge.name:24}{judge.need():7.1f}{before:>8}{out:>6.0%}{middle:7.0f}"
            f"{f'{low:.0f} to {high:.0f}':>14}{one.median_error:>8.1%}"
        )


def _interval_lines(runs: int, seed: int) -> Iterator[str]:
    """The table of coverage."""
    error = sqrt(0.95 * 0.05 / runs)
    yield f"Coverage of 95 % intervals, before > after; {runs} runs, Monte-Carlo s.e. {error:.3f}"
    yield f"{'levels':26}{'number':>6}{'Q':>5}  " + "".join(f"{name:18}" for name in _NAMES)
    for law in LEVELS:
        for levels in (2, 3, 4) if law.known else (2, 3, 4, 20):
            for questions in (20, 50, 200):
                before, after, _ = covered(
                    law, questions=questions, levels=levels, runs=runs, seed=seed
                )
                cells = "".join(
                    f"{f'{b:.2f} > ' + ('-' if np.isnan(a) else f'{a:.2f}'):18}"
                    for b, a in zip(before, after, strict=True)
                )
                yield f"{law.name:26}{levels:>6}{questions:>5}  {cells.rstrip()}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--part", nargs="+", default=["needs", "intervals"])
    parsed = parser.parse_args(arguments)
    for name, lines in (("needs", _needs_lines), ("intervals", _interval_lines)):
        if name in parsed.part:
            for line in lines(parsed.runs, parsed.seed):
                print(line, flush=True)
            print()


if __name__ == "__main__":
    main()
