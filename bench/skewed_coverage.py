"""Does alpha's interval cover where one verdict dominates, or questions are of two kinds?

    python -m bench.skewed_coverage [--runs 200] [--seed 1] [--out docs/coverage.md] [--cells FILE]

Simulated judges of known alpha: Dirichlet-multinomial with base rates 50/50, 90/10, 97/3 and five
options, and mixtures of questions on which the judge is unanimous with coin flips. Three intervals
of each table: the jackknife, the Dirichlet process posterior (both for every table), and the one
that `judgerel reduce` prints: of two verdicts the posterior where the jackknife is flagged. With
--cells they are kept in a file, so that a run that was cut off goes on: a quarter of an hour.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping
from math import sqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.coverage_page import table
from bench.judges_of_known_truth import BASES
from bench.whole_list import LISTS, write_section
from judgerel_ray.counting.intervals import AUTO
from judgerel_ray.stats import CountStatistic, Interval, count_statistic, jackknife_interval
from judgerel_ray.stats.intervals.mixing import posterior_interval
from judgerel_ray.stats.null.noise import noise_floor

TITLE = "Skewed base rates and mixtures: the posterior interval of alpha"
QUESTIONS, REPLICATIONS = (8, 20, 55, 200), (2, 5, 20)
BASE_RATES: Mapping[str, tuple[float, ...]] = {
    "50/50": (0.5, 0.5), "90/10": (0.9, 0.1), "97/3": (0.97, 0.03), "five options": BASES["skewed"],
}  # fmt: skip
KINDS = ("jackknife", "posterior", "printed")
SHARE = 0.8
FEWER: Mapping[str, int] = {"97/3": 5, "five options": 5}
"""By what the runs are divided; of mixtures by 2."""
Tables = NDArray[np.int64]
Draw = Callable[[np.random.Generator, tuple[int, int], int], Tables]
NOTE = """\
Made by `python -m bench.skewed_coverage --runs {runs} --seed {seed}`, printed as it is: {runs}
simulated judges a cell ({half} of mixtures, {fifth} at 97/3 and with five options: 70, 15, 8, 5
and 2 %), and for each the jackknife interval, the posterior interval, and the one `judgerel reduce`
prints. The posterior assumes no form of how verdict distributions vary over questions (a Dirichlet
process, `stats.intervals.mixing_interval`); 0 is in it wherever the p of noise is above .05.
Printed is the posterior where the judge gave two verdicts and the jackknife is flagged *few
informative questions* or rests on one question, and the jackknife elsewhere: of five options and
many replications the posterior of a small alpha is too high, so that it is there for the asking
(`--interval posterior`) and no default.

A cell: coverage in % of the intervals that there are, *mean width*, and in brackets the share of
judges without an interval in %; **bold** where coverage is below 92 % by more than two Monte-Carlo
standard errors. The last column is the share of printed intervals that
are posteriors. In a mixture the judge is unanimous on 80 % of the questions (for one option in 50
or 95 % of these) and flips a coin on the others: alpha .80 and .58.

{short}
"""


def dirichlet(rates: tuple[float, ...], alpha: float) -> Draw:
    """Verdicts counted, shape (runs, questions, values); at alpha 0 all questions are alike."""

    def draw(rng: np.random.Generator, size: tuple[int, int], m: int) -> Tables:
        shares = (1 - alpha) / alpha * np.array(rates) if alpha else None
        return rng.multinomial(m, rates if shares is None else rng.dirichlet(shares, size), size)

    return draw


def mixture(one_way: float) -> tuple[float, Draw]:
    """Alpha of a mixture of unanimous questions and coin flips, and its verdicts."""

    def draw(rng: np.random.Generator, size: tuple[int, int], m: int) -> Tables:
        unanimous, first = rng.random(size) < SHARE, rng.random(size) < one_way
        ones = rng.binomial(m, np.where(unanimous, first, 0.5))
        return np.stack([ones, m - ones], axis=-1)

    mean = SHARE * one_way + (1 - SHARE) / 2
    return 1 - (1 - SHARE) / 4 / (mean * (1 - mean)), draw


def laws() -> Iterator[tuple[str, float, int, Draw]]:
    """Name, true alpha, by what the runs are divided, and verdicts of each simulated judge."""
    for name, rates in BASE_RATES.items():
        for alpha in (0.0, 0.2, 0.5, 0.8) if len(rates) == 2 else (0.2, 0.5, 0.8):
            yield name, alpha, FEWER.get(name, 1), dirichlet(rates, alpha)
    for one_way in (0.5, 0.95):
        alpha, draw = mixture(one_way)
        yield f"mixture, {one_way:.0%} one way", alpha, 2, draw


def cell(tables: Tables, truth: float) -> dict[str, object]:
    """How often intervals cover, their mean width, and how many there are, by kind."""
    statistic = count_statistic("krippendorff_alpha", n_values=tables.shape[-1])
    found = [three(one, statistic) for one in tables if not np.isnan(value(one, statistic))]
    result: dict[str, object] = {"runs": len(tables)}
    for place, kind in enumerate(KINDS):
        intervals = [one[place] for one in found]
        ends = np.array([[one.low, one.high] for one in intervals if one.low is not None])
        ends = ends.reshape(-1, 2)
        covers = (ends[:, 0] <= truth + 1e-12) & (truth - 1e-12 <= ends[:, 1])
        result[kind] = [
            len(ends),
            int(covers.sum()),
            float(np.ptp(ends, axis=1).sum() / max(1, len(ends))),
        ]
    posteriors = sum(
        one.kind is not None and one.kind.value.startswith("posterior") for _, _, one in found
    )
    return {**result, "posteriors": posteriors}


def value(counts: Tables, statistic: CountStatistic) -> float:
    return float(statistic.value(statistic.terms(counts.astype(np.float64)).sum(axis=0)))


def three(counts: Tables, statistic: CountStatistic) -> tuple[Interval, Interval, Interval]:
    """The three intervals of one table, all from the shipped functions."""
    p = noise_floor(counts, statistic, n_permutations=199).p
    posterior = posterior_interval(counts, statistic, p_noise=p)
    assert posterior is not None
    clusters = np.arange(len(counts))
    return (
        jackknife_interval(counts, statistic),
        posterior,
        AUTO.interval(counts, statistic, clusters, p_noise=p),
    )


def records(runs: int, seed: int, kept: Path) -> list[dict[str, object]]:
    """Compute what `kept` lacks, line by line, and read all of it."""
    lines = kept.read_text().splitlines() if kept.exists() else []
    known = {json.loads(line)["key"] for line in lines}
    for place, (name, alpha, divisor, draw) in enumerate(laws()):
        for questions in QUESTIONS:
            for m in REPLICATIONS:
                n = runs // divisor
                key = f"{seed} {n} {name} {alpha:.3f} {questions} {m}"
                if key in known:
                    continue
                rng = np.random.default_rng([seed, place, questions, m])
                found = cell(draw(rng, (n, questions), m), alpha)
                where = {"law": name, "alpha": alpha, "questions": questions, "m": m}
                with kept.open("a") as file:
                    file.write(json.dumps({"key": key, **where, **found}) + "\n")
                print(key, found, flush=True)
    wanted = [f"{seed} {runs // n} {name} {alpha:.3f} " for name, alpha, n, _ in laws()]
    read = [json.loads(line) for line in kept.read_text().splitlines()]
    return [one for key in wanted for one in read if one["key"].startswith(key)]


def is_short(n: int, covered: int) -> bool:
    return n > 0 and covered / n < 0.92 - 2 * sqrt(0.92 * 0.08 / n)


def text(one: dict[str, object], kind: str) -> str:
    """Coverage, width and how many have none."""
    n, covered, width = one[kind]
    runs = one["runs"]
    if not n:
        return "none (100)"
    rate = f"{100 * covered / n:.1f}"
    rate = f"**{rate}**" if is_short(n, covered) else rate
    return f"{rate}, *{width:.2f}* ({100 * (runs - n) / runs:.0f})"


def section(found: list[dict[str, object]], runs: int, seed: int) -> str:
    """All cells, and above them how many fall short."""
    lines = []
    for kind in KINDS:
        large = [one for one in found if one["questions"] >= 20 and one[kind][0]]
        rates = [one[kind][1] / one[kind][0] for one in large]
        low = large[int(np.argmin(rates))]
        where = f"{low['law']}, alpha {low['alpha']:.2g}, {low['questions']} x {low['m']}"
        none = sum(one["runs"] - one[kind][0] for one in large) / sum(o["runs"] for o in large)
        lines.append([
            kind, f"{sum(is_short(*one[kind][:2]) for one in large)} of {len(large)}",
            f"{100 * min(rates):.1f} ({where})", f"{100 * np.mean(rates):.1f}", f"{100 * none:.1f}",
            f"{np.mean([one[kind][2] for one in large]):.2f}",
        ])  # fmt: skip
    head = ["interval", "short cells", "lowest coverage, %", "mean coverage, %", "none, %",
            "mean width"]  # fmt: skip
    summary = f"From 20 questions on:\n\n{table(head, lines)}"
    parts = [
        NOTE.format(runs=runs, seed=seed, half=runs // 2, fifth=runs // 5, short=summary).strip()
    ]  # fmt: skip
    for name in dict.fromkeys(one["law"] for one in found):
        of_law = [one for one in found if one["law"] == name]
        rows = [
            [f"{one['alpha']:.2g}", one["questions"], one["m"],
             *(text(one, kind) for kind in KINDS), f"{100 * one['posteriors'] / one['runs']:.0f}"]
            for one in of_law
        ]  # fmt: skip
        head = ["alpha", "questions", "replications", *KINDS, "posteriors, %"]
        parts.append(f"### {name}\n\n{table(head, rows)}")
    return "\n\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=200, help="simulated judges a cell")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("docs/coverage.md"))
    parser.add_argument("--whole", type=Path, default=LISTS / "coverage.md", help="every row")
    parser.add_argument("--cells", type=Path, help="keep cells here, and take them from here")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = records(given.runs, given.seed, given.cells or Path(folder, "cells.jsonl"))
    write_section(given.out, given.whole, TITLE, section(found, given.runs, given.seed))


if __name__ == "__main__":
    main()
