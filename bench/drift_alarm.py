"""How often is a judge called drifted that never changes, and how soon is one that does?

    python -m bench.drift_alarm [--series 200] [--refreshes 30] [--quiet 10 365]
        [--looks 8760] [--seed 1]

Simulated judges give one of three verdicts on anchors, with question shares drawn evenly. Writes
how many drift-free series raise an alarm at any of their refreshes. Then of series that change
after so many quiet refreshes how many raise one within the next 20, how many too early, and after
how many refreshes: a hotter judge (shares to the power 0.5), other weights (a third of the
questions drawn anew), a habit of a label (a quarter of the replies), and another judge.

Of quiet refreshes before a change the p-values are drawn, as they are uniform; that they are is
what the drift-free series and the tests show.

Judges at temperature 0 come last, asked 100 questions once a look: drift-free ones, of whose
replies four of a series differ by chance (their series are a quarter as many), and ones that change
after quiet refreshes of replies that are all alike.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from judgerel_ray.stats.drift import drift_evidence, exchangeability

Floats = NDArray[np.float64]
LEVEL = 0.05
AFTER = 20
OTHER_REPLIES = 4
"""Of a drift-free judge at temperature 0, by chance, a series."""
N_VALUES = 3


def fresh(rng: np.random.Generator, questions: int) -> Floats:
    """Shares of the verdicts of each question."""
    return rng.dirichlet(np.ones(N_VALUES), questions)


def greedy(shares: Floats) -> Floats:
    """The same judge at temperature 0: its likeliest verdict, always."""
    return np.eye(N_VALUES)[shares.argmax(axis=1)]


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
GREEDY_DRIFTS = ("third of questions new", "another judge")
"""Those that change the likeliest verdict."""


def alarm_at(
    rng: np.random.Generator, *, questions: int, replications: int, refreshes: int,
    permutations: int, drift: str | None = None, quiet: int = 0, is_greedy: bool = False,
) -> int | None:  # fmt: skip
    """The refresh, from 0, at which a simulated series raises the alarm; None if it never does.

    The judge changes after `quiet` refreshes, where it does, and `refreshes` come after them.
    """
    shares = fresh(rng, questions)
    later = shares if drift is None else DRIFTS[drift](shares, rng)
    if is_greedy:
        shares, later = greedy(shares), greedy(later)
    seen = rng.multinomial(quiet * replications, shares)
    ps: list[float | None] = [*rng.uniform(size=quiet)]
    for _ in range(refreshes):
        new = rng.multinomial(replications, later)
        ps.append(exchangeability(seen, new, rng=rng, permutations=permutations).p)
        seen += new
    return drift_evidence(ps, level=LEVEL).since


def greedy_alarm_at(
    rng: np.random.Generator, *, looks: int, permutations: int, questions: int = 100
) -> int | None:
    """The look, from 0, at which a judge at temperature 0 raises the alarm; None if it never does.

    It never changes, but for a few replies that differ by chance.
    """
    replies = rng.random((looks, questions)) < OTHER_REPLIES / (looks * questions)
    # Questions that are always answered alike are all the same to the test: one stands for them.
    varied = replies[:, replies.any(axis=0)]
    others = np.column_stack([varied, np.zeros(looks, bool)]).astype(np.int64)
    verdicts = np.stack([1 - others, others], axis=2)
    seen = np.cumsum(verdicts, axis=0)
    ps = [
        exchangeability(old, new, rng=rng, permutations=permutations).p
        for old, new in zip(seen[:-1], verdicts[1:], strict=True)
    ]
    return drift_evidence([None, *ps], level=LEVEL).since


def caught_line(found: Sequence[int | None], quiet: int) -> str:
    """How many series that change after so many quiet refreshes raise the alarm, and how soon."""
    caught = [one - quiet + 1 for one in found if one is not None and one >= quiet]
    delay = f"median delay {np.median(caught):g} refreshes" if caught else "never caught"
    early = sum(one is not None and one < quiet for one in found)
    return (f"after {quiet} quiet refreshes: {len(caught)} of {len(found)} caught, {early} too "
            f"early; {delay}")  # fmt: skip


def limit(n: int) -> str:
    """What a share of false alarms must not pass, of so many series."""
    most = LEVEL + 2 * np.sqrt(LEVEL * (1 - LEVEL) / n)
    return f"level {LEVEL}, with 2 Monte-Carlo s.e. {most:.3f}"


def main() -> None:
    """Simulate, and print what is found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--series", type=int, default=200)
    parser.add_argument("--refreshes", type=int, default=30)
    parser.add_argument("--quiet", type=int, nargs="+", default=[10, 365])
    parser.add_argument("--looks", type=int, default=8760)
    parser.add_argument("--permutations", type=int, default=999)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    rng = np.random.default_rng(asked.seed)
    common = {"replications": 4, "permutations": asked.permutations}
    alarms = [
        alarm_at(rng, questions=20, refreshes=asked.refreshes, **common) is not None
        for _ in range(asked.series)
    ]
    print(f"drift-free: {sum(alarms)} of {asked.series} series of {asked.refreshes} refreshes "
          f"raise an alarm, {np.mean(alarms):.3f}; {limit(asked.series)}", flush=True)  # fmt: skip
    n_drifting = max(10, asked.series // 10)
    for questions, quiet, drift in product((20, 100), asked.quiet, DRIFTS):
        found = [
            alarm_at(rng, questions=questions, refreshes=AFTER, drift=drift, quiet=quiet, **common)
            for _ in range(n_drifting)
        ]
        print(f"{drift}, {questions} questions x 4, {caught_line(found, quiet)}", flush=True)
    n_greedy = max(10, asked.series // 4)
    alarms = [
        greedy_alarm_at(rng, looks=asked.looks, permutations=asked.permutations) is not None
        for _ in range(n_greedy)
    ]
    print(f"drift-free at temperature 0: {sum(alarms)} of {n_greedy} series of {asked.looks} looks "
          f"raise an alarm, {np.mean(alarms):.3f}; {limit(n_greedy)}", flush=True)  # fmt: skip
    once = {**common, "replications": 1}
    for quiet, drift in product(asked.quiet, GREEDY_DRIFTS):
        found = [
            alarm_at(rng, questions=100, refreshes=AFTER, drift=drift, quiet=quiet, is_greedy=True,
                     **once)
            for _ in range(n_drifting)
        ]  # fmt: skip
        print(
            f"{drift}, 100 questions once at temperature 0, {caught_line(found, quiet)}", flush=True
        )


if __name__ == "__main__":
    main()
