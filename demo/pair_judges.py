"""Two judges of pairs whose reliability is known: one honest, one that goes by position alone.

They are the judges of ``make demo``. Both are the demo's judge and its weights. By its own chat
template, as *honest*, it weighs the two answers by their quality words, with its mild lean to what
stands first. Under ``POSITION_TEMPLATE``, as *first*, it is shown one and the same text whatever is
asked, in which the first answer is praised: it picks what stands first and knows nothing of either
answer. Its verdicts repeat, and say nothing of an item.

``python -m demo.pair_judges`` writes the pairs and the chat template into the package and prints
the truth: repeatability, reproducibility and swap consistency from the weights' distributions of
verdicts. ``python -m demo.pair_judges RUN`` holds a run of ``make demo`` against it, and exits with
1 where a truth lies outside its interval.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from demo.against_truth import Asked
from demo.judge_design import JUDGE_FOLDER, WORDS, quality
from demo.judge_limits import limits_of
from demo.judge_truth import Distribution, Judge, ReplyTree, load_judge, prompt_text
from judgerel_ray.core import Item, Option

PAIRS_FILE = JUDGE_FOLDER.parent / "pairs.parquet"
TEMPLATE_FILE = JUDGE_FOLDER.parent / "first.jinja"
JUDGES = ("honest", "first")
OPTIONS = ("alder", "birch")
N_PAIRS = 60
WORDS_AN_ANSWER = 4
LEAST_GAP = 0.5
"""Designed quality that one answer of a pair has ahead of the other at least."""
SEED = 13
TEMPLATES = ("default", "paraphrase")
TEMPERATURES = (0.8, 0.6, 0.4)
TOP_K = 50
MAX_TOKENS = 24
POSITION_TEMPLATE = (
    "{{ bos_token }}<|user|>"
    'Two answers. [A]: precise and concise. [B]: short. Reply: "Best Response: [[letter]]".'
    "{{ eos_token }}<|assistant|>"
)
"""A chat template that drops all messages: the judge hears this and nothing else."""

Truth = dict[str, float]


def draw_pairs() -> tuple[Item, ...]:
    """Draw pairs of answers of random quality words, none of them a near tie."""
    rng = random.Random(SEED)
    return tuple(_pair(rng, place) for place in range(N_PAIRS))


def _pair(rng: random.Random, place: int) -> Item:
    """One pair, drawn again until its answers differ."""
    while True:
        answers = [rng.choices(tuple(WORDS), k=WORDS_AN_ANSWER) for _ in OPTIONS]
        if abs(quality(answers[0]) - quality(answers[1])) >= LEAST_GAP:
            break
    return Item(
        item_id=f"pair-{place}",
        benchmark="pairs",
        category="question",
        question=f"What is to be said of case {place}?",
        options=tuple(
            Option(option_id=name, text=f"An answer that is {' and '.join(words)}.")
            for name, words in zip(OPTIONS, answers, strict=True)
        ),
    )


def asked_pairs(judge: Judge, items: Iterable[Item]) -> list[list[tuple[Asked, Asked]]]:
    """Make every prompt's tree of replies: of each item, each template, both orders."""
    trees: dict[str, ReplyTree] = {}

    def asked(item: Item, template: str) -> Asked:
        prompt = prompt_text(judge, item, template=template)
        tree = trees.setdefault(prompt, ReplyTree(judge, prompt))
        return Asked(item=item, tree=tree, top_k=TOP_K, max_tokens=MAX_TOKENS)

    return [
        [
            (asked(item, name), asked(replace(item, options=item.options[::-1]), name))
            for name in TEMPLATES
        ]
        for item in items
    ]


def pair_distributions(
    asked: Iterable[Iterable[Sequence[Asked]]], temperature: float
) -> list[list[list[Distribution]]]:
    """Compute distributions over option ids from the weights: by item, template and order."""
    return [
        [[one.options(one.letters(temperature)) for one in orders] for orders in templates]
        for templates in asked
    ]


def pair_truth(distributions: Sequence[Sequence[Sequence[Distribution]]]) -> Truth:
    """Compute the limits of alpha and of swap consistency for known distributions of verdicts.

    Repeatability is about the prompt, so an item in one order and template is a unit.
    Reproducibility is about the item: two judgments are each in an order and a template drawn at
    random, so an item is a unit and its distribution the mean of those of its prompts. Swap
    consistency is the probability that the two orders of a template have one verdict. No verdict
    is a value of its own.
    """
    by_item = [[each for orders in templates for each in orders] for templates in distributions]
    items = [
        {
            name: sum(each.get(name, 0.0) for each in of_item) / len(of_item)
            for name in _names(of_item)
        }
        for of_item in by_item
    ]
    swaps = [orders for templates in distributions for orders in templates]
    n_categories = len(OPTIONS) + 2
    return {
        "repeatability": limits_of(
            [each for of_item in by_item for each in of_item], n_categories=n_categories
        ).alpha,
        "reproducibility": limits_of(items, n_categories=n_categories).alpha,
        "swap consistency": sum(
            one.get(name, 0.0) * other.get(name, 0.0)
            for one, other in swaps
            for name in _names([one, other])
        )
        / len(swaps),
    }


def _names(distributions: Iterable[Distribution]) -> set[str]:
    return {name for each in distributions for name in each}


def position_judge(judge: Judge) -> Judge:
    """Make the judge of pure position: the same weights under ``POSITION_TEMPLATE``."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(JUDGE_FOLDER)
    tokenizer.chat_template = POSITION_TEMPLATE
    return replace(judge, tokenizer=tokenizer)


def truths() -> dict[tuple[str, float], Truth]:
    """Compute the truth of both judges at every temperature from the weights (a minute)."""
    judge = load_judge()
    found = {}
    for name, one in zip(JUDGES, (judge, position_judge(judge)), strict=True):
        asked = asked_pairs(one, draw_pairs())
        for temperature in TEMPERATURES:
            found[name, temperature] = pair_truth(pair_distributions(asked, temperature))
    return found


def known_truths() -> dict[tuple[str, float], Truth]:
    """Read the same from the table of ``demo/README.md``, to three decimals."""
    page = (Path(__file__).parent / "README.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines()]
    return {
        (name, float(temperature)): {
            "repeatability": float(again),
            "reproducibility": float(anew),
            "swap consistency": float(swap),
        }
        for name, temperature, again, anew, swap in (row for row in rows if len(row) == 5)
        if name in JUDGES
    }


def measured(run: str) -> dict[tuple[str, float], dict[str, Mapping[str, float]]]:
    """Read the same from a run, each as a row of ``reduce`` with its value and interval."""
    import polars as pl

    import judgerel_ray

    coefficients = ["krippendorff_alpha", "swap_consistency"]
    table = judgerel_ray.reduce(run, coefficients=coefficients)
    table = table.filter(pl.col("missing").fill_null("category") == "category")
    found: dict[tuple[str, float], dict[str, Mapping[str, float]]] = {}
    for row in table.iter_rows(named=True):
        is_swap = row["coefficient"] == "swap_consistency"
        name = "swap consistency" if is_swap else row["conditions"]
        found.setdefault((row["judge"], row["temperature"]), {})[name] = row
    return found


def main() -> int:
    """Write the shipped files and print the truth, or hold a run against it."""
    parser = argparse.ArgumentParser(description="Two judges of pairs of known reliability.")
    parser.add_argument("run", nargs="?", help="a run of make demo, held against the truth")
    run = parser.parse_args().run
    found = measured(run) if run else {}
    if not run:
        from judgerel_ray.tables import items_to_frame

        items_to_frame(draw_pairs()).write_parquet(PAIRS_FILE)
        TEMPLATE_FILE.write_text(POSITION_TEMPLATE, encoding="utf-8")
    outside = 0
    for group, truth in truths().items():
        for name, value in truth.items():
            line = f"{group[0]:7} {group[1]:4} {name:17} truth {value:6.3f}"
            if run:
                row = found[group][name]
                is_inside = row["low"] <= value <= row["high"]
                outside += not is_inside
                line += f"  run {row['value']:6.3f} [{row['low']:.3f}, {row['high']:.3f}]"
                line += "" if is_inside else "  outside"
            print(line)
    return int(outside > 0)


if __name__ == "__main__":
    sys.exit(main())
