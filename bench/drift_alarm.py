"""How often is a judge called drifted that never changes, and how soon is one that does?

    python -m bench.drift_alarm [--series 200] [--refreshes 30] [--quiet 10 365] [--seed 1]

Simulated judges give one of three verdicts on anchors, with question shares drawn evenly. Writes
how many drift-free series raise an alarm at any of their refreshes. Then of series that change
after so many quiet refreshes how many raise one within the next 20, how many too early, and after
how many refreshes: a hotter judge (shares to the power 0.5), other weights (a third of the
questions drawn anew), a habit of a label (a quarter of the replies), and another judge.

Of quiet refreshes before a change the p-values are drawn, as they are uniform; that they are is
what the drift-free series and the tests show.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from itertools import product

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.drift import drift_evidence, exchangeability

Floats = NDArray[np.float64]
LEVEL = 0.05
AFTER = 20
N_VALUES = 3


def fresh(rng: np.random.Generator, questions: int) -> Floats:
    """Shares of the verdicts of each question."""
    return rng.dirichlet(np.ones(N_VALUES), questions)


def hotter(shares: Floats, rng: np.random.Generator) -> Floats:  # noqa: ARG001
    """The same judge at a higher temperature."""
    tempered = np.sqrt(shares)
    return np.asarray(tempered / tempered.sum(axis=1, keepdims=True))


def third_new(shares: Floats, rng: np.random.Generator) -> Floats:
    """Other opinions on a third of the questions."""
    return np.where(rng.random((len(shares), 1)) < 1 / 3, fresh(rng, len(shares)), shares)


def habit(shares: Floats, rng: np.random.Generator) -> Floats:  # noqa: ARG001
    """A quarter of the replies name the first label."""
    return 0.75 * shares + 0.25 * np.eye(N_VALUES)[0]


DRIFTS: Mapping[str, Callable[[Floats, np.random.Generator], Floats]] = {
    "hotter": hotter,
    "third of questions new": third_new,
    "habit of a label": habit,
    "another judge": lambda shares, rng: fresh(rng, len(shares)),
}


def alarm_at(
    rng: np.random.Generator, *, questions: int, replications: int, refreshes: int,
    permutations: int, drift: str | None = None, quiet: int = 0,
) -> int | None:  # fmt: skip
    """The refresh, from 0, at which a simulated series raises the alarm; None if it never does.

    The judge changes after `quiet` refreshes, where it does, and `refreshes` come after them.
    """
    shares = fresh(rng, questions)
    later = shares if drift is None else DRIFTS[drift](shares, rng)
    seen = rng.multinomial(quiet * replications, shares)
    ps: list[float | None] = [*rng.uniform(size=quiet)]
    for _ in range(refreshes):
        new = rng.multinomial(replications, later)
        ps.append(exchangeability(seen, new, rng=rng, permutations=permutations).p)
        seen += new
    return drift_evidence(ps, level=LEVEL).since


def main() -> None:
    """Simulate, and print two tables."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--series", type=int, default=200)
    parser.add_argument("--refreshes", type=int, default=30)
    parser.add_argument("--quiet", type=int, nargs="+", default=[10, 365])
    parser.add_argument("--permutations", type=int, default=999)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    rng = np.random.default_rng(asked.seed)
    common = {"replications": 4, "permutations": asked.permutations}
    alarms = [
        alarm_at(rng, questions=20, refreshes=asked.refreshes, **common) is not None
        for _ in range(asked.series)
    ]
    limit = LEVEL + 2 * np.sqrt(LEVEL * (1 - LEVEL) / asked.series)
    print(f"drift-free: {sum(alarms)} of {asked.series} series of {asked.refreshes} refreshes "
          f"raise an alarm, {np.mean(alarms):.3f}; level {LEVEL}, with 2 Monte-Carlo s.e. "
          f"{limit:.3f}", flush=True)  # fmt: skip
    for questions, quiet, drift in product((20, 100), asked.quiet, DRIFTS):
        found = [
            alarm_at(rng, questions=questions, refreshes=AFTER, drift=drift, quiet=quiet, **common)
            for _ in range(max(10, asked.series // 10))
        ]
        caught = [one - quiet + 1 for one in found if one is not None and one >= quiet]
        delay = f"median delay {np.median(caught):g} refreshes" if caught else "never caught"
        early = sum(one is not None and one < quiet for one in found)
        print(f"{drift}, {questions} questions x 4, after {quiet} quiet refreshes: {len(caught)} "
              f"of {len(found)} caught, {early} too early; {delay}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
