"""Does reproducibility cover, and is a judge that reads nothing called noise?

    python -m bench.coverage_of_reproducibility [--runs 1000] [--seed 1] [--cells FILE]
                                                [--out docs/coverage-reproducibility.md]
                                                [--whole build/lists/coverage-reproducibility.md]

Each cell draws judges of two orders (bench/judges_of_known_order.py), computes reproducibility of
all tables at once from the shipped terms, and asks the shipped ``student_interval`` and flag of
each; of the first tables the shipped ``reproducibility_terms`` are asked as well, and the run stops
where they say anything else. Noise floors are of a fifth as many runs. A cell has its own random
stream; with --cells they are kept in a file and taken from there, so that a run that was cut off
goes on. About ten minutes on one core.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.judges_of_known_order import BASES, MIXTURE, ORDER_BIAS, PURE, OrderedJudge
from bench.noise_is_called_noise import Called, called
from bench.reproducibility_page import Audit, page
from bench.simulated_coverage import Coverage
from bench.whole_list import LISTS, write_page
from judgerel_ray.stats import Interval, count_statistic
from judgerel_ray.stats.counts import QuestionTerms
from judgerel_ray.stats.generalizability.facet_agreement import (
    FacetLevels,
    FacetTarget,
    PairCoefficient,
    crossed_units,
    facet_floors,
    item_terms,
    level_features,
    pair_value,
    reproducibility_terms,
)
from judgerel_ray.stats.generalizability.order_effects import swap_terms
from judgerel_ray.stats.intervals.interval import flagged, student_interval

QUESTIONS = (8, 20, 55, 200)
REPLICATIONS = (2, 5, 20)
ALPHA = 0.6
COEFFICIENTS: tuple[PairCoefficient, ...] = ("krippendorff_alpha", "percent_agreement")
CHECKED = 5  # tables of each cell and coefficient that the shipped terms read, too
FLOORS = 5  # runs for each whose floor is asked for
FLOORED = 300  # questions times replications at most: of more, permutations take long
AUDITED = {  # a judge that follows the place of an option, and one that reads, as found in an audit
    "first shown, 97 %": (OrderedJudge(base="50/50", bias=0.94, alpha=0.0), 0.890),
    "content": (OrderedJudge(base="50/50", bias=0.0, alpha=0.734), 0.734),
}
AUDITED_AT = (100, 4)  # questions in two orders, replications


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderCoverage(Coverage):
    """What the intervals of one coefficient did under one order bias."""

    bias: str


def levels(questions: int) -> FacetLevels:
    """Every question in two orders."""
    return FacetLevels(
        items_U=np.repeat(np.arange(questions), 2), levels_U=np.tile([0, 1], questions)
    )


def many_terms(tables: NDArray[np.int64]) -> NDArray[np.float64]:
    """The terms of many complete tables (runs, 2 questions, options) by question."""
    distances = 1 - np.eye(tables.shape[2])
    crossed = crossed_units(levels(tables.shape[1] // 2), tables[0].sum(axis=1))
    counts = tables.astype(np.float64)
    return item_terms(*level_features(counts, distances), crossed, distances)


def shown(name: PairCoefficient, terms: QuestionTerms, pooled: NDArray[np.float64]) -> Interval:
    """The interval that `judgerel reduce` prints, with its flag."""
    statistic = count_statistic(name, n_values=pooled.shape[1])
    found = student_interval(
        float(terms.value(terms.terms_CT.sum(axis=0))), terms.left_out(), 0.95,
        chance_corrected=statistic.chance_corrected, less_bias=statistic.less_bias,
    )  # fmt: skip
    if found.undefined:
        return found
    return flagged(found, pooled, np.arange(len(pooled)), statistic)


def shipped_terms(name: PairCoefficient, table: NDArray[np.int64]) -> QuestionTerms:
    """The terms of one table as the reducer lays them out."""
    return reproducibility_terms(
        name, table, levels(len(table) // 2), distances_VV=1 - np.eye(table.shape[1])
    )


def coverage(
    name: PairCoefficient, tables: NDArray[np.int64], truth: float, judge: OrderedJudge, bias: str
) -> OrderCoverage:
    """Ask for the interval of each table."""
    runs, n_units, n_options = tables.shape
    by_run = many_terms(tables)
    value = pair_value(name, 1 - np.eye(n_options))
    pooled = tables.reshape(runs, n_units // 2, 2, n_options).sum(axis=2).astype(np.float64)
    questions = np.arange(n_units // 2)
    found = []
    for run in range(runs):
        laid_out = QuestionTerms(
            name=name, questions_C=questions, terms_CT=by_run[run], value=value
        )
        found.append(shown(name, laid_out, pooled[run]))
        if run < CHECKED:
            agree(found[-1], shown(name, shipped_terms(name, tables[run]), pooled[run]))
    given = [one for one in found if one.low is not None and one.high is not None]
    covers = [one.low - 1e-12 <= truth <= one.high + 1e-12 for one in given]
    few = [one.few_informative for one in given]
    return OrderCoverage(
        base=judge.base,
        alpha=judge.alpha,
        bias=bias,
        questions=n_units // 2,
        replications=int(tables[0, 0].sum()),
        coefficient=name,
        truth=truth,
        runs=runs,
        intervals=len(given),
        covered=sum(covers),
        flagged=sum(few),
        covered_unflagged=sum(held and not doubt for held, doubt in zip(covers, few, strict=True)),
        mean_width=float(np.mean([one.high - one.low for one in given])) if given else None,
    )


def agree(one: Interval, other: Interval) -> None:
    """Refuse to go on where the shipped interval is another."""
    ends = [(x.low, x.high) if x.low is not None else (np.nan, np.nan) for x in (one, other)]
    same = np.allclose(*ends, rtol=0, atol=1e-9, equal_nan=True)
    if not same or one.few_informative != other.few_informative:
        raise SystemExit(f"many at once give {one}, reproducibility_terms give {other}")


def floors(tables: NDArray[np.int64], data: str) -> list[Called]:
    """How often no item effect is called noise, from permutations over items inside each order."""
    facets, distances = levels(tables.shape[1] // 2), 1 - np.eye(tables.shape[2])
    wanted = [FacetTarget(name=name) for name in COEFFICIENTS]
    found = [
        facet_floors(table, facets, wanted, distances_VV=distances, seed=run)
        for run, table in enumerate(tables)
    ]
    return [
        called(name, data, [floor[place].p for floor in found])
        for place, name in enumerate(COEFFICIENTS)
    ]


def cell(
    base: str, bias: str, questions: int, replications: int, *, runs: int, seed: int
) -> tuple[list[OrderCoverage], list[Called]]:
    """Compute one cell, and the floors of the same design without content."""
    places = [list(BASES).index(base), list(ORDER_BIAS).index(bias)]
    rng = np.random.default_rng([seed, *places, questions, replications])
    alpha = 0.0 if bias == PURE else ALPHA
    judge = OrderedJudge(base=base, bias=ORDER_BIAS[bias], alpha=alpha)
    of = {"questions": questions, "replications": replications, "rng": rng}
    tables = judge.counts(**of, runs=runs)
    truths = {"krippendorff_alpha": judge.reproducibility, "percent_agreement": judge.agreement}
    covered = [coverage(name, tables, truths[name], judge, bias) for name in COEFFICIENTS]
    if base == MIXTURE or questions * replications > FLOORED:
        return covered, []  # as 50/50 where nothing is content; of many, floors are dear
    blank = OrderedJudge(base=base, bias=judge.bias, alpha=0.0)
    noise = blank.counts(**of, runs=max(1, runs // FLOORS))
    return covered, floors(noise, f"{base}, bias {bias}, {questions} x 2 x {replications}")


def audits(*, runs: int, seed: int) -> list[Audit]:
    """What was printed of the audited judges, and what is printed now."""
    questions, replications = AUDITED_AT
    rng = np.random.default_rng([seed, len(BASES)])
    size = {"questions": questions, "replications": replications, "runs": runs, "rng": rng}
    tables = {name: judge.counts(**size) for name, (judge, _) in AUDITED.items()}
    alpha = count_statistic("krippendorff_alpha", n_values=2)
    before = {name: _values(alpha.value, alpha.terms(one * 1.0)) for name, one in tables.items()}
    of_pairs = pair_value("krippendorff_alpha", 1 - np.eye(2))
    now = {name: _values(of_pairs, many_terms(one)) for name, one in tables.items()}
    found = []
    for name, (judge, printed) in AUDITED.items():
        (other,) = set(AUDITED) - {name}
        truth = judge.reproducibility
        covered = coverage("krippendorff_alpha", tables[name], truth, judge, name)
        noise, _ = floors(tables[name], name)
        apart = levels(questions)
        swaps = [swap_terms(one, apart.items_U, apart.levels_U) for one in tables[name]]
        swap = [float(one.at(np.ones((1, questions)))[0]) for one in swaps]
        found.append(
            Audit(
                judge=name, printed=printed, runs=runs,
                design=f"{questions} x 2 orders x {replications}",
                repeatability=float(before[name].mean()), repeatability_truth=judge.repeatability,
                reproducibility=float(now[name].mean()), reproducibility_truth=truth,
                swap=float(np.mean(swap)), swap_truth=judge.swap_consistency,
                intervals=covered.intervals, covered=covered.covered, noise=noise.noise,
                higher_before=int((before[name] > before[other]).sum()),
                higher_now=int((now[name] > now[other]).sum()),
            )
        )  # fmt: skip
    return found


def _values(
    value: Callable[[NDArray[np.float64]], NDArray[np.float64]], terms: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The coefficient of each table."""
    return value(terms.sum(axis=1))


def computed(keys: set[str], *, runs: int, seed: int) -> Iterator[dict[str, object]]:
    """Cells that are not there yet, then the audited judges."""
    for base in BASES:
        for questions in QUESTIONS:
            for replications in REPLICATIONS:
                for bias in ORDER_BIAS:
                    key = f"{seed} {runs} {base} {bias} {questions} {replications}"
                    if key not in keys:
                        covered, noise = cell(
                            base, bias, questions, replications, runs=runs, seed=seed
                        )
                        yield {
                            "key": key,
                            "coverage": [asdict(one) for one in covered],
                            "noise": [asdict(one) for one in noise],
                        }
    key = f"{seed} {runs} audited"
    if key not in keys:
        yield {"key": key, "audit": [asdict(one) for one in audits(runs=runs, seed=seed)]}


def cells(
    *, runs: int, seed: int, kept: Path
) -> tuple[Sequence[OrderCoverage], Sequence[Called], Sequence[Audit]]:
    """Compute what `kept` lacks, line by line, and read all of it."""
    lines = kept.read_text().splitlines() if kept.exists() else []
    keys = {json.loads(line)["key"] for line in lines}
    with kept.open("a") as file:
        for record in computed(keys, runs=runs, seed=seed):
            file.write(json.dumps(record) + "\n")
            file.flush()
            print(record["key"], flush=True)
    records = [json.loads(line) for line in kept.read_text().splitlines()]
    return (
        [OrderCoverage(**one) for record in records for one in record.get("coverage", [])],
        [Called(**one) for record in records for one in record.get("noise", [])],
        [Audit(**one) for record in records for one in record.get("audit", [])],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000, help="simulated judges a cell")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("docs/coverage-reproducibility.md"))
    parser.add_argument("--whole", type=Path, default=LISTS / "coverage-reproducibility.md")
    parser.add_argument("--cells", type=Path, help="keep cells here, and take them from here")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        kept = given.cells or Path(folder, "cells.jsonl")
        found = cells(runs=given.runs, seed=given.seed, kept=kept)
    write_page(given.out, given.whole, page(*found, runs=given.runs, seed=given.seed))


if __name__ == "__main__":
    main()
