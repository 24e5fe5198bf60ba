"""The page of coverage: what was simulated, how to read it, every cell."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import sqrt

from bench.judges_of_known_truth import ALPHAS, BASES, QUESTIONS, REPLICATIONS, TRUTHS
from bench.noise_is_called_noise import Called
from bench.simulated_coverage import Coverage

ENOUGH = 20  # questions from which on coverage is asked for
ALIKE = ("krippendorff_alpha", "fleiss_kappa", "icc1")

HEAD = """\
# Do the intervals cover, and is noise called noise?

Made by `python -m bench.coverage_of_intervals --runs {runs} --seed {seed}`, printed as it is:
simulated judges whose coefficients are known exactly, {runs:,} a cell. The intervals and the p of
noise are those that `judgerel reduce` prints, from the same functions; but of two verdicts it
prints posterior intervals of alpha, Fleiss' kappa and ICC in place of flagged ones: see the end.

## In short

{short}
"""

READING = """\
## How to read it

**Coverage** is the share of intervals that hold the true value. An interval of 95 % should hold it
in 95 of 100 judges. The share is itself uncertain by its Monte-Carlo standard error. A cell is
*short*, and **bold**, where coverage is below 92 % by more than two standard errors (of 92 %).

**Width** tells what coverage costs: an interval from 0 to 1 covers and says nothing. With 8
questions intervals are wide or short of their promise, whatever is done to them: ask more
questions. More replications do not help: at 8 questions, 100 of them cover no better than 5.

**None** is the share of judges for which there is no interval: all questions come out alike (each
unanimous, say; shares and alpha of 1 then have an exact one), or one question decides alone whether
the coefficient exists. The result then says why, in place of an interval. Coverage and width are
over the intervals that there are.

**Flagged** is the share of intervals marked *few informative questions*: fewer than ten questions
show any disagreement, or fewer than ten any agreement; or, of coefficients that take chance from
the judge's own verdicts (alpha, Fleiss' kappa, ICC), fewer than five questions go another way than
most. Where one verdict takes nearly all, the few questions that go another way decide those
coefficients. A judge with a pass rate of 90 %, asked 27 questions, has two or three of them;
whether there was one or four moves alpha by more than a standard error from the same questions can
know. Of two verdicts `judgerel reduce` therefore prints a posterior interval of alpha, Fleiss'
kappa and ICC in place of a flagged one: the section on skewed base rates has its coverage. The
tables here are of the jackknife alone. Take a flagged one as a hint, and read agreement, AC1 and
Brennan-Prediger beside it, whose intervals hold better there. Some flagged intervals cover well:
the flag errs on the side of doubt.
Scores have a mark of their own, *rests on few questions*: the last section has its table.

**The rules behind the intervals**: one question is left out at a time (replications of a question
are no independent evidence), Student's t with questions - 1 degrees of freedom; chance-corrected
coefficients on the logit scale, but only where the plain interval excludes 0. Shares (agreement,
total agreement) stay on their own scale; where that interval reaches beyond 0 or 1 it ends there,
and its other end is the outer one of both scales. No end of a share is nearer than that of as many
independent trials as its error is worth. Fleiss' kappa, where the plain interval does not
exclude 0 and leaving questions out shows a bias of more than a quarter of its standard error, has
it about the value less that bias, on its own scale and with 0 in it where the plain one has it. The
result says of each interval which of these it is; why, says
[decision 008](decisions/008-shares-near-their-ends-and-kappa-near-chance.md) and, of shares,
[decision 021](decisions/021-one-number-has-one-interval.md).

**What an interval is about**: the value for infinitely many questions like these. Questions chosen
by hand, or all of one topic, are not covered by any of this.

What the tables show that is not luck:

- *Fleiss' kappa at alpha 0* is Krippendorff's alpha less a known bias:
  kappa = alpha - (1 - kappa) / (questions x replications). About the value as it is the interval of
  20 questions x 100 covered in 89 %. The value stays as it is, marked *biased* (as is
  entropy where it is), a mark the tables do not count.
- *Percent agreement of two replications*, where it is high, is a share of few trials (20 questions,
  3 of them split). Cut at 1, its plain interval covered in 87 %: a sample of fewer splits has
  less spread, too. With the low end on the logit scale, or that of as many trials, it is wider
  there, and covers. Towards the middle those ends may be the nearer ones (3 of 8 questions agree:
  .79 beside a plain .81); then the plain end stands, so that no interval of a share is narrower
  than the plain one.
- *Entropy agreement* is biased at few replications: two replies cannot show what five categories
  are like, and no interval by question knows of that. Read it from 20 replications on, of a hundred
  questions (whose interval is narrower than the bias) from 100 on.
- *Total agreement* changes with the number of replications by its nature, and is covered as what it
  is at that number.
- *A negative alpha close to 0* of two replications and one dominating verdict, where no question
  has two minority verdicts, excludes 0 by a hair, and is flagged. Whether something is noise is for
  p to say, not for the interval.
"""

TRUTH = """\
## What is true of the judges

A question has a verdict distribution p, Dirichlet(s pi): pi are the base rates and
s = (1 - alpha) / alpha; its m replications are drawn from p. At alpha 0, p = pi. Then, over
infinitely many questions:

| coefficient | true value |
|---|---|
| krippendorff_alpha (nominal), fleiss_kappa, icc1 (of indicators) | alpha = 1 / (1 + s) |
| percent_agreement; flip_rate is 1 - A, its interval the mirror image | A = E sum p^2 = alpha + (1 - alpha) sum pi^2 |
| gwet_ac1 | (A - G) / (1 - G), G = sum pi (1 - pi) / (K - 1) |
| brennan_prediger | (A - 1/K) / (1 - 1/K) |
| total_agreement | sum over v of prod over i < m of (s pi_v + i) / (s + i); at alpha 0 sum pi^m |
| entropy_agreement | 1 - E H(p) / log K, E H(p) = psi(s + 1) - sum pi psi(s pi + 1) |

K is the number of categories. Base rates: {bases}.
"""  # noqa: E501

NOISE = """\
## Noise

Replications that do not depend on their question (items that have nothing to do with each other;
questions, for the published estimator). Asked for is that noise is called noise (p > .05) in 93 %
of runs at least; 95 % is exact, more is caution where values are few. "No p" are runs in which the
coefficient itself is undefined (one verdict is all there is; omega of items whose covariances sum
to no more than 0): no reliability is claimed there either. Permutations: 99, and 19 where each is a
factor analysis, instead of the shipped 999 and 99; p = (1 + k) / (1 + permutations) is as right,
only coarser. omega_hierarchical has a value in one permutation of four only, so 19 leave too few
for any p below .05: its 100 % says that noise is not taken for more, and nothing else. icck,
valid_rate and counts have no floor.
"""


def page(covered: Sequence[Coverage], noise: Sequence[Called], *, runs: int, seed: int) -> str:
    """Write the page."""
    bases = "; ".join(f"{name} ({', '.join(map(str, pi))})" for name, pi in BASES.items())
    parts = [
        HEAD.format(runs=runs, seed=seed, short=summary(covered, noise)),
        READING,
        TRUTH.format(bases=bases),
        short_cells(covered),
        NOISE,
        noise_summary(noise),
        "## Every cell\n\nCoverage in % ± its standard error, mean width, none in %, flagged in %.",
        *(coefficient_tables(covered, name) for name in TRUTHS),
        "## Noise, every experiment",
        noise_table(noise),
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def summary(covered: Sequence[Coverage], noise: Sequence[Called]) -> str:
    """From 20 questions on: short cells by coefficient and base rates, and what noise is called."""
    rows = []
    for name in TRUTHS:
        for base in BASES:
            cells = [
                one
                for one in covered
                if (one.coefficient, one.base) == (name, base) and one.questions >= ENOUGH
            ]
            short = [one for one in cells if one.short]
            given = [one for one in cells if one.intervals]
            lowest = min(given, key=lambda one: one.rate)
            rows.append(
                [
                    name,
                    base,
                    f"{len(short)} of {len(given)}",
                    f"{percent(lowest.covered, lowest.intervals)} ({place(lowest)})",
                    shares(short, lambda one: one.flagged, lambda one: one.intervals),
                    shares(given, *_UNFLAGGED),
                    shares(given, lambda one: one.covered, lambda one: one.intervals),
                ]
            )
    head = ["coefficient", "base rates", "short cells", "lowest coverage", "flagged in short cells",
            "coverage of all that are not flagged", "of all"]  # fmt: skip
    low = min(noise, key=lambda one: one.noise / max(1, one.with_p) if one.with_p else 1.0)
    short_noise = [one for one in noise if short_of_noise(one)]
    called = (
        f"Noise: of {len(noise)} experiments over all coefficients with a floor, "
        f"{len(short_noise)} called noise so in less than 93 % by more than two standard errors; "
        f"the lowest share is {percent(low.noise, low.with_p)} % "
        f"({low.coefficient}, {low.data}), that of all {percent(*_totals(noise))} %."
    )
    return (
        f"From {ENOUGH} questions on, 48 cells a row (counted where they have intervals), in %:\n\n"
        f"{table(head, rows)}\n\n{called}"
    )


def short_cells(covered: Sequence[Coverage]) -> str:
    """List what falls short from 20 questions on, with what the flag does there."""
    rows = [
        [
            one.coefficient, one.base, one.questions, one.replications, one.alpha,
            f"{percent(one.covered, one.intervals)} ± {100 * one.error:.1f}",
            percent(one.flagged, one.intervals),
            percent(one.covered_unflagged, one.intervals - one.flagged),
        ]
        for one in covered
        if one.short and one.questions >= ENOUGH
    ]  # fmt: skip
    head = ["coefficient", "base", "questions", "replications", "alpha", "coverage", "flagged",
            "coverage of the unflagged"]  # fmt: skip
    return f"## Cells that fall short, from {ENOUGH} questions on\n\n{table(head, rows)}"


def noise_summary(noise: Sequence[Called]) -> str:
    """One row a coefficient."""
    rows = []
    for name in sorted({one.coefficient for one in noise}):
        cells = [one for one in noise if one.coefficient == name]
        given = [one for one in cells if one.with_p]
        lowest = min(given, key=lambda one: one.noise / one.with_p, default=None)
        rows.append(
            [
                name,
                len(cells),
                sum(one.runs for one in cells),
                percent(
                    sum(one.runs - one.with_p for one in cells), sum(one.runs for one in cells)
                ),
                percent(*_totals(cells)),
                f"{_called(lowest)} of {lowest.with_p} ({lowest.data})" if lowest else "-",
                sum(short_of_noise(one) for one in cells),
            ]
        )
    head = ["coefficient", "experiments", "runs", "no p, %", "called noise, %", "least, %",
            "experiments below 93 % by more than two standard errors"]  # fmt: skip
    return table(head, rows)


def noise_table(noise: Sequence[Called]) -> str:
    """One row an experiment."""
    rows = [
        [
            one.coefficient,
            one.data,
            one.runs,
            percent(one.runs - one.with_p, one.runs),
            f"**{_called(one)}**" if short_of_noise(one) else _called(one),
        ]
        for one in sorted(noise, key=lambda one: one.coefficient)
    ]
    return table(["coefficient", "data", "runs", "no p, %", "called noise, %"], rows)


def coefficient_tables(covered: Sequence[Coverage], name: str) -> str:
    """Tables of one coefficient, one for each base rates."""
    found = {
        (one.base, one.questions, one.replications, one.alpha): one
        for one in covered
        if one.coefficient == name
    }
    parts = [f"### {name}"]
    for base in BASES:
        rows = [
            [q, m, *(cell_text(found[base, q, m, alpha]) for alpha in ALPHAS)]
            for q in QUESTIONS
            for m in REPLICATIONS
        ]
        head = ["questions", "replications", *(f"alpha {alpha:g}" for alpha in ALPHAS)]
        parts.append(f"{base}:\n\n{table(head, rows)}")
    return "\n\n".join(parts)


def cell_text(one: Coverage) -> str:
    """Write coverage ± standard error, width, none, flagged."""
    none = percent(one.runs - one.intervals, one.runs, digits=0)
    if one.mean_width is None:
        return f"none {none}"
    rate = f"{percent(one.covered, one.intervals)} ± {100 * one.error:.1f}"
    rate = f"**{rate}**" if one.short else rate
    flag = percent(one.flagged, one.intervals, digits=0)
    return f"{rate}, {one.mean_width:.2f}, {none}, {flag}"


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Write a table in Markdown."""
    lines = [head, ["---"] * len(head), *([str(one) for one in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def percent(part: int, whole: int, *, digits: int = 1) -> str:
    """Write a share in percent, nothing of nothing as a dash."""
    return f"{100 * part / whole:.{digits}f}" if whole else "-"


def shares(
    cells: Sequence[Coverage], part: Callable[[Coverage], int], whole: Callable[[Coverage], int]
) -> str:
    """Write the share over several cells."""
    return percent(sum(map(part, cells)), sum(map(whole, cells)))


def place(one: Coverage) -> str:
    """Name a cell of a row of the summary."""
    return f"{one.questions} x {one.replications}, alpha {one.alpha:g}"


def short_of_noise(one: Called) -> bool:
    """Whether noise is called so in less than 93 % by more than two standard errors."""
    bound = 0.93 - 2 * sqrt(0.93 * 0.07 / max(1, one.with_p))
    return one.with_p > 0 and one.noise / one.with_p < bound


def _called(one: Called) -> str:
    return percent(one.noise, one.with_p)


def _totals(noise: Sequence[Called]) -> tuple[int, int]:
    return sum(one.noise for one in noise), sum(one.with_p for one in noise)


_UNFLAGGED = (
    lambda one: one.covered_unflagged,
    lambda one: one.intervals - one.flagged,
)
