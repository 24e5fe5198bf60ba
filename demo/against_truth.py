"""Hold a run of the demo's judge against its truth: ``python -m demo.against_truth RUN``.

The run's coefficients come from the project, the truth from the model's own logits by transformers
(see :mod:`demo.judge_truth`), for the same questions with their options in the order shown.
Questions are fixed, so the only difference allowed is that of drawing replications: the Monte-Carlo
standard error, by STATISTICS E2's closed form for agreement and by drawing from the truth for the
others. Exit code 1 where any coefficient is further than 3.3 standard errors from the truth.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from demo.judge_design import NO_VERDICT, kl_divergence
from demo.judge_limits import agreement_variance, limits_of
from demo.judge_truth import Distribution, ReplyTree, design_of, load_judge, prompt_text

if TYPE_CHECKING:
    from judgerel_ray.core import Item

LIMIT = 3.3
DRAWS = 2_000
TAIL = 1e-4  # probability left unexplored; a fiftieth of a standard error
COEFFICIENTS = {
    "percent_agreement": "agreement",
    "krippendorff_alpha": "alpha",
    "gwet_ac1": "ac1",
    "brennan_prediger": "brennan_prediger",
    "valid_rate": "valid_rate",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One coefficient at one temperature: from the run, from the weights, and how far apart."""

    temperature: float
    coefficient: str
    found: float
    truth: float
    standard_error: float

    @property
    def z(self) -> float:
        """Distance in Monte-Carlo standard errors."""
        return (self.found - self.truth) / self.standard_error


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question of a run as it was shown, with its tree of replies."""

    item: Item
    tree: ReplyTree
    top_k: int
    max_tokens: int

    def letters(self, temperature: float) -> Distribution:
        """The weights' exact distribution over letters."""
        return self.tree.distribution(
            temperature=temperature, top_k=self.top_k, max_tokens=self.max_tokens, tail=TAIL
        )

    def options(self, letters: Distribution) -> Distribution:
        """The same over option ids; letters the menu does not have are one value."""
        ids = [option.option_id for option in self.item.options]
        names = dict(zip("ABCDEFGHIJ", ids, strict=False)) | {NO_VERDICT: NO_VERDICT}
        found: Distribution = {}
        for letter, p in letters.items():
            name = names.get(letter, "off the menu")
            found[name] = found.get(name, 0.0) + p
        return found


def asked_in(run: str) -> list[Asked]:
    """A run's questions with their options in the order shown."""
    import polars as pl

    from judgerel_ray.config import parse_sweep
    from judgerel_ray.design import option_orders
    from judgerel_ray.store import RunDirectory
    from judgerel_ray.tables import frame_to_items

    judge = load_judge()
    directory = RunDirectory.open(run)
    ask = parse_sweep(directory.read_text("sweep.toml")).ask[0]
    asked = []
    for item in frame_to_items(pl.read_parquet(directory.read_bytes("items.parquet"))):
        shown = replace(item, options=option_orders(item, n_orders=1, seed=ask.order_seed)[0])
        asked.append(
            Asked(
                item=shown,
                tree=ReplyTree(judge, prompt_text(judge, shown)),
                top_k=ask.top_k,
                max_tokens=ask.max_tokens,
            )
        )
    return asked


def compare(run: str) -> tuple[list[Comparison], dict[float, float]]:
    """Compare every coefficient of a run with the truth, at every temperature above 0.

    Returns
    -------
    tuple
        The comparisons, and per temperature the mean over questions of KL(design, weights) in
        nats: how far training left the judge from the law it was meant to follow.
    """
    import judgerel_ray

    asked = asked_in(run)
    table = judgerel_ray.reduce(run)
    comparisons = []
    divergences = {}
    for temperature in sorted(table["temperature"].unique().to_list(), reverse=True):
        if temperature == 0.0:
            continue
        letters = [one.letters(temperature) for one in asked]
        truths = [one.options(each) for one, each in zip(asked, letters, strict=True)]
        designs = [design_of(one.item, temperature=temperature) for one in asked]
        divergences[temperature] = sum(
            kl_divergence(design, each) for design, each in zip(designs, letters, strict=True)
        ) / len(asked)
        rows = table.filter(
            (table["temperature"] == temperature) & (table["missing"] == "category")
        )
        m = int(rows["n_replications"][0])
        n_categories = int(rows["n_categories"].drop_nulls()[0])
        limits = limits_of(truths, n_categories=n_categories)
        errors = _standard_errors(truths, m, n_categories)
        for name, limit in COEFFICIENTS.items():
            comparisons.append(
                Comparison(
                    temperature=temperature,
                    coefficient=name,
                    found=rows.filter(rows["coefficient"] == name)["value"][0],
                    truth=getattr(limits, limit),
                    standard_error=errors[limit],
                )
            )
    return comparisons, divergences


def _standard_errors(
    truths: Sequence[Mapping[str, float]], m: int, n_categories: int
) -> dict[str, float]:
    """Monte-Carlo standard errors with the questions fixed."""
    names = sorted({name for truth in truths for name in truth})
    p_qv = np.array([[truth.get(name, 0.0) for name in names] for truth in truths])
    p_qv /= p_qv.sum(axis=1, keepdims=True)
    rng = np.random.default_rng(1)
    counts_dqv = np.stack([rng.multinomial(m, p, size=DRAWS) for p in p_qv], axis=1)
    agreement = ((counts_dqv**2).sum(2) - m) / (m * (m - 1))
    share_dv = counts_dqv.sum(1) / (m * len(truths))
    observed = agreement.mean(1)
    by_chance = (share_dv**2).sum(1)
    gwet = (share_dv * (1 - share_dv)).sum(1) / (n_categories - 1)
    missing = names.index(NO_VERDICT) if NO_VERDICT in names else None
    valid = 1 - share_dv[:, missing] if missing is not None else np.ones(DRAWS)
    return {
        "agreement": math.sqrt(agreement_variance(truths, m)),
        "alpha": float(((observed - by_chance) / (1 - by_chance)).std()),
        "ac1": float(((observed - gwet) / (1 - gwet)).std()),
        "brennan_prediger": float(observed.std() / (1 - 1 / n_categories)),
        "valid_rate": float(valid.std()),
    }


def main() -> int:
    """Print the comparison."""
    parser = argparse.ArgumentParser(description="A run of the demo's judge against its truth.")
    parser.add_argument("run", help="run directory of demo/questions.toml")
    run = parser.parse_args().run
    comparisons, divergences = compare(run)
    print("   T  coefficient            run    truth  s.e.(MC)      z")
    for row in comparisons:
        print(
            f"{row.temperature:4.2f}  {row.coefficient:<20} {row.found:6.4f}  {row.truth:6.4f}"
            f"   {row.standard_error:6.4f}  {row.z:+5.2f}"
        )
    for temperature, nats in divergences.items():
        print(f"KL(design, weights) at T = {temperature}: {nats:.4f} nats, mean over questions")
    worst = max(abs(row.z) for row in comparisons)
    print(f"largest |z| = {worst:.2f} (limit {LIMIT})")
    return int(worst > LIMIT)


if __name__ == "__main__":
    sys.exit(main())
