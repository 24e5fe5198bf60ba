"""Is a judge said to favour its own answer where it does not, and is a preference found?

    OMP_NUM_THREADS=1 python -m bench.self_preference [--runs 100] [--seed 1]

Three models answer four-option questions alone, then judge in both roles, by laws that are known:

- opinion: a judge reads no answer; all its replies are draws of one distribution of its own;
- shown: it picks one of the answers that it is shown, at random, whichever model gave it;
- both: half of the time each: follows its opinion, and picks what is shown;
- loyal .1 to .4: as participant it takes its own answer with that chance, else its opinion.

Prints, a row a law and number of questions: how often a judge picks its own where models disagree,
as participant, as evaluator, and the others; how often that is told at .05, of single judges,
against the other participants (the rule before: confounded with opinion) and against the same
model as evaluator; and in how many tables of three judges any is found to favour its own.
In the laws above the line, every such finding is false. Covers: intervals that hold the mean
difference of all tables of the row.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
import polars as pl

from judgerel_ray.analyses.selection.systems_compared import FAVOURS, preference_table
from judgerel_ray.measuring.systems import read_systems

MODELS = ("ada", "bob", "cyd")
OPTIONS = np.array(list("0123"))
LAWS: dict[str, tuple[float, float]] = {  # chance to pick what is shown; chance to take its own
    "opinion": (0.0, 0.0),
    "shown": (1.0, 0.0),
    "both": (0.5, 0.0),
    "loyal .1": (0.0, 0.1),
    "loyal .2": (0.0, 0.2),
    "loyal .4": (0.0, 0.4),
}
SIZES = (60, 200, 600)
_FIRM = 0.3  # Dirichlet's parameter: opinions are mostly of one option, and models differ


def judgments(rng: np.random.Generator, n: int, *, shown: float, loyal: float) -> pl.DataFrame:
    """Answers alone, then of judges in both roles, on n questions."""
    gold = rng.integers(OPTIONS.size, size=n)
    steps = np.cumsum(rng.dirichlet(np.full(OPTIONS.size, _FIRM), size=(len(MODELS), n)), axis=-1)

    def reply(j: int) -> np.ndarray:
        """A reply by opinion."""
        return (rng.random((n, 1)) > steps[j, :, :-1]).sum(axis=1)

    answers = np.array([reply(j) for j in range(len(MODELS))])
    parts = [_rows(m, "responder", answers[j], gold) for j, m in enumerate(MODELS)]
    for j, model in enumerate(MODELS):
        for role in ("participant", "evaluator_only"):
            seen = answers if role == "participant" else np.delete(answers, j, axis=0)
            random = seen[rng.integers(len(seen), size=n), np.arange(n)]
            verdict = np.where(rng.random(n) < shown, random, reply(j))
            if role == "participant":
                verdict = np.where(rng.random(n) < loyal, answers[j], verdict)
            parts.append(_rows(model, role, verdict, gold))
    return pl.concat(parts)


def _rows(model: str, role: str, verdict: np.ndarray, gold: np.ndarray) -> pl.DataFrame:
    """Judgments of one model in one role."""
    return pl.DataFrame({
        "judge": model, "role": role, "replication": 0, "outcome": "scored",
        "stage": "choose" if role == "responder" else "judge",
        "item_id": [f"q{place}" for place in range(verdict.size)],
        "verdict": OPTIONS[verdict], "gold": OPTIONS[gold],
    })  # fmt: skip


def tables(law: str, n: int, runs: int, seed: int) -> list[pl.DataFrame]:
    """Tables of self-preference, one a run."""
    shown, loyal = LAWS[law]
    rng = np.random.default_rng([seed, n, list(LAWS).index(law)])
    return [
        preference_table(read_systems(judgments(rng, n, shown=shown, loyal=loyal).lazy()))
        for _ in range(runs)
    ]


def shares(found: Sequence[pl.DataFrame]) -> dict[str, float]:
    """How often each is picked, and how often each rule tells of a preference."""
    every = pl.concat(found)
    detected = {
        rule: ((every[f"{rule}_p"] <= 0.05) & (every[f"{rule}_difference"] > 0)).mean()
        for rule in ("own", "self")
    }
    favoured = [(one["finding"] == FAVOURS).any() for one in found]
    return {
        "picked": every["self_picked"].mean(),
        "as_evaluator": every["self_picked_as_evaluator"].mean(),
        "by_others": every["own_picked_by_others"].mean(),
        "against_others": detected["own"],
        "against_evaluator": detected["self"],
        "two_sided": (every["self_p"] <= 0.05).mean(),
        "found": float(np.mean(favoured)),
        "covers": (
            (every["self_low"] <= every["self_difference"].mean())
            & (every["self_difference"].mean() <= every["self_high"])
        ).mean(),
    }


def main() -> None:
    """Print the whole."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parsed = parser.parse_args()
    heads = ("law", "questions", "picked", "evaluator", "others", "vs others", "vs evaluator",
             "two-sided", "any found", "covers")  # fmt: skip
    print(("{:>9} {:>9} {:>7} {:>9} {:>7}" + " {:>12}" * 5).format(*heads))
    for law in LAWS:
        for n in SIZES:
            one = shares(tables(law, n, parsed.runs, parsed.seed))
            rules = ("against_others", "against_evaluator", "two_sided", "found", "covers")
            cells = " ".join(f"{one[rule]:>12.3f}" for rule in rules)
            print(f"{law:>9} {n:>9} {one['picked']:>7.3f} {one['as_evaluator']:>9.3f} "
                  f"{one['by_others']:>7.3f} {cells}")  # fmt: skip
        if law == "both":
            print("-" * 100)
    print(f"{parsed.runs} tables a row, three judges each: s.e. of a share of .05 is "
          f"{np.sqrt(0.05 * 0.95 / (3 * parsed.runs)):.3f}")  # fmt: skip


if __name__ == "__main__":
    main()
