"""The page of reproducibility: what was simulated, how to read it, every cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bench.coverage_page import cell_text, percent, short_of_noise, table
from bench.judges_of_known_order import BASES, COINS, ORDER_BIAS
from bench.noise_is_called_noise import Called
from bench.simulated_coverage import Coverage

ENOUGH = 20  # questions from which on coverage is asked for
NAMES = {"krippendorff_alpha": "Krippendorff's alpha", "percent_agreement": "agreement"}

HEAD = """\
# Does reproducibility cover, and is position called noise?

Made by `python -m bench.coverage_of_reproducibility --runs {runs} --seed {seed}`, printed as it is:
simulated judges asked every question in two orders, whose reproducibility is known exactly,
{runs:,} a cell. Intervals and p of noise are those that `judgerel reduce` prints, from the same
functions. Repeatability has its own page, [coverage.md](coverage.md).
"""

READING = """\
## How to read it

**Coverage** is the share of 95 % intervals that hold the true value, with its Monte-Carlo standard
error. A cell is *short*, and **bold**, where it is below 92 % by more than two standard errors.
After it: mean width, the share of judges without an interval, and the share of intervals flagged
*few informative questions*, both in %. **Reproducibility** compares two judgments of one question,
the order of each drawn at random; both orders are all there are, so only questions are sampled, and
the interval leaves one question out at a time (Student's t; of alpha on the logit scale where the
plain interval excludes 0).
"""

TRUTH = """\
## What is true of the judges

A judgment names the option shown first with probability b, the order bias, and is otherwise drawn
from the question's own distribution p: Dirichlet with base rates pi and alpha .6, or, as
"80 % unanimous", sure of one of two options in {sure:.0%} of the questions and a coin flip in the
others. With u the share of the orders in which each option comes first (one half each, the first
and the last) and q = (1 - b) pi + b u:

| coefficient | true value |
| --- | --- |
| agreement A | (1 - b)^2 E sum p^2 + 2 b (1 - b) pi.u + b^2 u.u |
| Krippendorff's alpha | (A - sum q^2) / (1 - sum q^2) |
| of repeatability | the same with 1 in place of u.u in A |
| swap consistency | (1 - b)^2 E sum p^2 + 2 b (1 - b) pi.u |

The judge of pure position has b = .97 and pi in place of every p, so alpha is 0. Base rates:
{bases}. Order bias: {biases}.
"""

NOISE = """\
## Noise

The same judges without any content (every p is pi), at each order bias, up to 300 judgments an
order. Verdicts are permuted over questions inside each order, so what a judge does by position it
does in every permutation. Right is p > .05 in 95 % of runs; more is caution where few values can
occur. "No p" are runs in which one verdict is all there is.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """An audited judge: what was printed of it, and what repeated simulations give."""

    judge: str
    design: str
    printed: float
    runs: int
    repeatability: float
    repeatability_truth: float
    reproducibility: float
    reproducibility_truth: float
    swap: float
    swap_truth: float
    intervals: int
    covered: int
    noise: int
    higher_before: int
    higher_now: int


def page(
    covered: Sequence[Coverage],
    noise: Sequence[Called],
    audits: Sequence[Audit],
    *,
    runs: int,
    seed: int,
) -> str:
    """Write the page."""
    bases = "; ".join(f"{name} ({', '.join(map(str, pi))})" for name, pi in BASES.items())
    biases = ", ".join(f"{name} {b:g}" for name, b in ORDER_BIAS.items())
    parts = [
        HEAD.format(runs=runs, seed=seed),
        audited(audits),
        "## In short\n\n" + summary(covered),
        READING,
        TRUTH.format(sure=1 - COINS, bases=bases, biases=biases),
        "## Cells that fall short, from 20 questions on\n\n" + short_cells(covered),
        NOISE,
        noise_summary(noise),
        "## Every cell",
        *(cells_of(covered, name) for name in NAMES),
        "## Noise, every experiment",
        noise_table(noise),
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def audited(audits: Sequence[Audit]) -> str:
    """The two judges of the audit, before and now."""
    rows = [
        [
            one.judge, f"{one.printed:.3f}",
            f"{one.repeatability:.3f} ({one.repeatability_truth:.3f})",
            percent(one.higher_before, one.runs),
            f"{one.reproducibility:.3f} ({one.reproducibility_truth:.3f})",
            percent(one.higher_now, one.runs),
            percent(one.covered, one.intervals), percent(one.noise, one.runs),
            f"{one.swap:.3f} ({one.swap_truth:.3f})",
        ]
        for one in audits
    ]  # fmt: skip
    head = ["judge", "alpha the audit saw", "repeatability (truth)", "led by it, %",
            "reproducibility (truth)", "leads by it, %", "truth in its interval, %",
            "called noise, %", "swap consistency (truth)"]  # fmt: skip
    design = audits[0].design if audits else "-"
    runs = audits[0].runs if audits else 0
    return (
        "## A judge of position never looks reliable\n\n"
        f"Alpha of {runs:,} simulated pairs of judges, {design}. Before, a question in each order "
        "was a unit of its own, which is repeatability; the judge that picks what is shown first "
        f"led by it.\n\n{table(head, rows)}"
    )


def summary(covered: Sequence[Coverage]) -> str:
    """Short cells and the lowest coverage from 20 questions on, by coefficient and base rates."""
    rows = []
    for name, shown in NAMES.items():
        for base in BASES:
            cells = [
                one
                for one in covered
                if (one.coefficient, one.base) == (name, base) and one.questions >= ENOUGH
            ]
            given = [one for one in cells if one.intervals]
            if not given:
                continue
            short = [one for one in cells if one.short]
            lowest = min(given, key=lambda one: one.rate)
            plain = sum(one.intervals - one.flagged for one in given)
            rows.append(
                [
                    shown, base, f"{len(short)} of {len(given)}",
                    f"{percent(lowest.covered, lowest.intervals)} ({place(lowest)})",
                    percent(sum(o.flagged for o in short), sum(o.intervals for o in short)),
                    percent(sum(one.covered_unflagged for one in given), plain),
                    percent(sum(o.covered for o in given), sum(o.intervals for o in given)),
                ]
            )  # fmt: skip
    head = ["coefficient", "base rates", "short cells", "lowest coverage", "flagged in short cells",
            "coverage of all that are not flagged", "of all"]  # fmt: skip
    return f"From {ENOUGH} questions on, in %:\n\n{table(head, rows)}"


def short_cells(covered: Sequence[Coverage]) -> str:
    """List what falls short, with what the flag does there."""
    rows = [
        [
            NAMES[one.coefficient], one.base, one.bias, one.questions, one.replications,
            f"{one.truth:.3f}", f"{percent(one.covered, one.intervals)} ± {100 * one.error:.1f}",
            percent(one.flagged, one.intervals),
            percent(one.covered_unflagged, one.intervals - one.flagged),
        ]
        for one in covered
        if one.short and one.questions >= ENOUGH
    ]  # fmt: skip
    head = ["coefficient", "base rates", "order bias", "questions", "replications", "truth",
            "coverage", "flagged", "coverage of the unflagged"]  # fmt: skip
    return table(head, rows) if rows else "None."


def cells_of(covered: Sequence[Coverage], name: str) -> str:
    """Tables of one coefficient, one for each base rates."""
    parts = [f"### {NAMES[name]}"]
    for base in BASES:
        found = {
            (one.questions, one.replications, one.bias): one
            for one in covered
            if (one.coefficient, one.base) == (name, base)
        }
        designs = list(dict.fromkeys((q, m) for q, m, _ in found))
        rows = [
            [q, m, *(cell_text(found[q, m, bias]) for bias in ORDER_BIAS if (q, m, bias) in found)]
            for q, m in designs
        ]
        truths = [
            next((f" ({one.truth:.3f})" for (*_, b), one in found.items() if b == bias), "")
            for bias in ORDER_BIAS
        ]
        heads = [f"{bias}{truth}" for bias, truth in zip(ORDER_BIAS, truths, strict=True)]
        parts.append(f"{base}:\n\n{table(['questions', 'replications', *heads], rows)}")
    return "\n\n".join(parts)


def noise_summary(noise: Sequence[Called]) -> str:
    """One row a coefficient."""
    rows = []
    for name, shown in NAMES.items():
        cells = [one for one in noise if one.coefficient == name]
        given = [one for one in cells if one.with_p]
        if not given:
            continue
        lowest = min(given, key=lambda one: one.noise / one.with_p)
        runs, with_p = sum(one.runs for one in cells), sum(one.with_p for one in cells)
        rows.append(
            [
                shown, len(cells), runs, percent(runs - with_p, runs),
                percent(sum(one.noise for one in cells), with_p),
                f"{percent(lowest.noise, lowest.with_p)} ({lowest.data})",
                sum(short_of_noise(one) for one in cells),
            ]
        )  # fmt: skip
    head = ["coefficient", "experiments", "runs", "no p, %", "called noise, %", "least, %",
            "experiments below 93 % by more than two standard errors"]  # fmt: skip
    return table(head, rows)


def noise_table(noise: Sequence[Called]) -> str:
    """One row an experiment."""
    rows = []
    for one in sorted(noise, key=lambda one: one.coefficient):
        share = percent(one.noise, one.with_p)
        share = f"**{share}**" if short_of_noise(one) else share
        none = percent(one.runs - one.with_p, one.runs)
        rows.append([NAMES[one.coefficient], one.data, one.runs, none, share])
    return table(["coefficient", "data", "runs", "no p, %", "called noise, %"], rows)


def place(one: Coverage) -> str:
    """Name a cell of a row of the summary."""
    return f"{one.questions} x {one.replications}, bias {one.bias}"
