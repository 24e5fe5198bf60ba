"""How often `judgerel gate` errs when the truth is at the limit, looked at up to 20 times.

Two thousand pull requests are simulated for each row. The judge's true coefficient is the limit
itself, where every PASS and every FAIL is false and both are likeliest; the ledger promises at most
2.5 % of either, over all looks, stopped at any. Beside it what happens without one: 95 % intervals
at every look of the pooled judgments, and 95 % intervals of judgments asked anew until one decides.
Then how many looks it takes where the truth is away from the limit. Last, a drop of accuracy at its
limit, where a share of the questions loses its right answer wholly and the others waver: Student's
t of the paired questions beside the gate's ends, at one look.

Intervals are those of the gate where no verdict dominates, the jackknife's; the posterior that it
has for few informative questions is too slow to simulate (docs/coverage.md has its coverage).

    python -m bench.gate_errors [--requests 2000] [--looks 20] [--seed 1]
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from judgerel_ray.analyses.gate.standing import LOOK_ALPHA, alpha_at
from judgerel_ray.stats import CountStatistic, count_statistic
from judgerel_ray.stats.intervals.ends import share_ends
from judgerel_ray.stats.intervals.shares import difference_ends

Floats = NDArray[np.float64]
PASS, FAIL, OPEN = 1, -1, 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """A judge with two verdicts, and how its judgments grow from look to look."""

    name: str
    coefficient: str
    beta: tuple[float, float]
    grows: str  # questions or replications

    def shape(self, look: int) -> tuple[int, int]:
        """Questions, and replications of each, at a look."""
        return (40 + 10 * look, 4) if self.grows == "questions" else (60, 3 + look)

    def truth(self) -> float:
        """The coefficient in infinitely many questions and replications."""
        a, b = self.beta
        mean = a / (a + b)
        apart = 2 * a * b / ((a + b) * (a + b + 1))  # E 2p(1-p)
        return {
            "krippendorff_alpha": 1 - apart / (2 * mean * (1 - mean)),
            "percent_agreement": 1 - apart,
            "valid_rate": mean,
        }[self.coefficient]


DESIGNS = (
    Design(name="alpha, more questions", coefficient="krippendorff_alpha", beta=(0.5, 0.5),
           grows="questions"),
    Design(name="alpha, more replications", coefficient="krippendorff_alpha", beta=(0.8, 0.6),
           grows="replications"),
    Design(name="agreement, more questions", coefficient="percent_agreement", beta=(0.6, 0.4),
           grows="questions"),
    Design(name="agreement, more replications", coefficient="percent_agreement", beta=(1.0, 1.0),
           grows="replications"),
    Design(name="valid rate, more questions", coefficient="valid_rate", beta=(9.0, 1.0),
           grows="questions"),
)  # fmt: skip


def draws(design: Design, n: int, n_looks: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Verdicts of all pull requests, shape (n, most questions, most replications)."""
    questions, replications = design.shape(n_looks - 1)
    p = rng.beta(*design.beta, (n, questions, 1))
    return rng.random((n, questions, replications)) < p


def at_look(verdicts: NDArray[np.bool_], design: Design, look: int) -> Floats:
    """Counts of what was asked by a look, shape (n, questions, 2)."""
    questions, replications = design.shape(look)
    first = verdicts[:, :questions, :replications].sum(axis=2)
    return np.stack([first, replications - first], axis=2).astype(np.float64)


def ends(counts: Floats, statistic: CountStatistic, confidence: float) -> tuple[Floats, Floats]:
    """Both ends of the jackknife's interval of each pull request, as the gate has them."""
    n = counts.shape[1]
    terms = statistic.terms(counts)
    total = terms.sum(axis=1)
    value = statistic.value(total)
    without = statistic.value(total[:, None] - terms)
    away = without - without.mean(axis=1, keepdims=True)
    error = np.sqrt((n - 1) / n * (away**2).sum(axis=1))
    if statistic.chance_corrected:
        half = stdtrit(n - 1, (1 + confidence) / 2) * error
        low, high = value - half, value + half
        with np.errstate(divide="ignore", invalid="ignore"):
            centre, reach = np.log(value / (1 - value)), half / (value * (1 - value))
            inner = [(1 + np.tanh((centre + sign * reach) / 2)) / 2 for sign in (-1, 1)]
        on_logit = (low > 0) & (value < 1)
        return np.where(on_logit, inner[0], low), np.where(on_logit, inner[1], np.minimum(high, 1))
    wide = np.array([
        share_ends(one, own, n, confidence=confidence) if own > 0 else (one, one)
        for one, own in zip(value.tolist(), error.tolist(), strict=True)
    ])  # fmt: skip
    return wide[:, 0], wide[:, 1]


def verdicts_of(
    counts: Floats, statistic: CountStatistic, limit: float, confidence: float
) -> NDArray[np.int8]:
    """PASS, FAIL or OPEN of each pull request, for `>= limit`; open where nothing has a spread."""
    low, high = ends(counts, statistic, confidence)
    flat = ~(high - low > 1e-9)
    found = np.where(low >= limit, PASS, np.where(high < limit, FAIL, OPEN))
    return np.where(flat, OPEN, found).astype(np.int8)


def rates(design: Design, n: int, n_looks: int, seed: int) -> dict[str, float]:
    """Shares of pull requests with a false PASS, and a false FAIL, at any look."""
    rng = np.random.default_rng(seed)
    statistic = count_statistic(design.coefficient, n_values=2)
    limit, verdicts = design.truth(), draws(design, n, n_looks, rng)
    found = {}
    for name, at in (("ledger", alpha_at), ("pooled at 95 %", lambda _: LOOK_ALPHA)):
        told = np.stack([
            verdicts_of(at_look(verdicts, design, k), statistic, limit, 1 - at(k + 1))
            for k in range(n_looks)
        ])  # fmt: skip
        found |= {f"{name} PASS": (told == PASS).any(axis=0).mean(),
                  f"{name} FAIL": (told == FAIL).any(axis=0).mean()}  # fmt: skip
    again = np.stack([
        verdicts_of(at_look(draws(design, n, 1, rng), design, 0), statistic, limit, 1 - LOOK_ALPHA)
        for _ in range(n_looks)
    ])  # fmt: skip
    return found | {"re-rolled PASS": (again == PASS).any(axis=0).mean(),
                    "re-rolled FAIL": (again == FAIL).any(axis=0).mean()}  # fmt: skip


def power(design: Design, n: int, n_looks: int, seed: int, away: float) -> dict[str, float]:
    """Share decided rightly, by the first look and by the last, where the limit is so far off."""
    rng = np.random.default_rng(seed)
    statistic = count_statistic(design.coefficient, n_values=2)
    limit, verdicts = design.truth() - away, draws(design, n, n_looks, rng)
    told = np.stack([
        verdicts_of(at_look(verdicts, design, k), statistic, limit, 1 - alpha_at(k + 1))
        for k in range(n_looks)
    ])  # fmt: skip
    return {
        "first": (told[0] == PASS).mean(),
        "last": (told == PASS).any(axis=0).mean(),
        "wrong": (told == FAIL).any(axis=0).mean(),
    }


def drop_rates(questions: int, share: float, n: int, seed: int) -> dict[str, float]:
    """Shares of pull requests with a false PASS, and a false FAIL, of a drop at its limit."""
    rng = np.random.default_rng(seed)
    wavering = 1 - 0.05 * rng.random((n, questions))
    before = rng.binomial(4, wavering) / 4
    after = np.where(rng.random((n, questions)) < share, 0, rng.binomial(4, wavering) / 4)
    drop, limit = before - after, share * 0.975
    value, error = drop.mean(axis=1), drop.std(axis=1, ddof=1) / questions**0.5
    half = stdtrit(questions - 1, 1 - LOOK_ALPHA / 2) * error
    ends = np.array([
        difference_ends(*one, questions) for one in zip(value.tolist(), error.tolist(), strict=True)
    ])  # fmt: skip
    return {
        "t PASS": float((value + half < limit).mean()),
        "t FAIL": float((value - half > limit).mean()),
        "gate PASS": float((np.maximum(value + half, ends[:, 1]) < limit).mean()),
        "gate FAIL": float((np.minimum(value - half, ends[:, 0]) > limit).mean()),
    }


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--looks", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    print(f"{asked.requests:,} pull requests a row, up to {asked.looks} looks, truth at the limit")
    ways = ("ledger", "pooled at 95 %", "re-rolled")
    print("judge".ljust(30) + "".join(f"{way:>18}" for way in ways) + "   (false PASS / FAIL, %)")
    for design in DESIGNS:
        found = rates(design, asked.requests, asked.looks, asked.seed)
        cells = [f"{found[f'{way} PASS']:.1%} / {found[f'{way} FAIL']:.1%}" for way in ways]
        print(design.name.ljust(30) + "".join(f"{one:>18}" for one in cells))
    print("\nthe limit .1 below the truth: passed at the first look, by the last, failed at any")
    for design in DESIGNS:
        found = power(design, asked.requests, asked.looks, asked.seed, 0.1)
        print(design.name.ljust(30) + "".join(f"{found[one]:>18.1%}" for one in found))
    print("\na drop of accuracy at its limit: Student's t, and the gate   (false PASS / FAIL, %)")
    for questions in (20, 60, 200):
        for share in (0.02, 0.05, 0.2):
            found = drop_rates(questions, share, asked.requests, asked.seed)
            cells = [f"{found[f'{way} PASS']:.1%} / {found[f'{way} FAIL']:.1%}"
                     for way in ("t", "gate")]  # fmt: skip
            name = f"{questions} questions, {share:.0%} lost"
            print(name.ljust(30) + "".join(f"{one:>18}" for one in cells))


if __name__ == "__main__":
    main()
