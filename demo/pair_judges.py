"""Two judges of pairs whose reliability is known: one by content, one by position alone.

Both are the demo's judge and its weights. By its own chat template it weighs the two answers by
their quality words, with its mild lean to what stands first. Under ``POSITION_TEMPLATE`` it is
shown one and the same text whatever is asked, in which the first answer is praised: it picks what
stands first 97 times in 100 and knows nothing of either answer. Its verdicts repeat, and say
nothing of an item.

``python -m demo.pair_judges FOLDER`` writes items, chat template and sweep, for ``judgerel run``,
and prints the truth: repeatability and reproducibility from the weights' distributions of verdicts.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from demo.judge_design import JUDGE_FOLDER, NO_VERDICT, WORDS, quality
from demo.judge_limits import limits_of
from demo.judge_truth import Distribution, Judge, ReplyTree, load_judge, prompt_text
from judgerel_ray.core import Item, Option

OPTIONS = ("alder", "birch")
N_PAIRS = 80
WORDS_AN_ANSWER = 4
LEAST_GAP = 0.5
"""Designed quality that one answer of a pair has ahead of the other at least."""
SEED = 13
TEMPERATURE = 0.5
REPLICATIONS = 10
TOP_K = 50
MAX_TOKENS = 24
TAIL = 1e-5
POSITION_TEMPLATE = (
    "{{ bos_token }}<|user|>"
    'Two answers. [A]: precise and concise. [B]: short. Reply: "Best Response: [[letter]]".'
    "{{ eos_token }}<|assistant|>"
)
"""A chat template that drops all messages: the judge hears this and nothing else."""
SWEEP = """name = "pairs"

[[judge]]
name = "content"
model = "{judge}"
gpus = 0
replicas = 1
max_model_len = 1024

[[judge]]
name = "position"
model = "{judge}"
chat_template = "{template}"
gpus = 0
replicas = 1
max_model_len = 1024

[[ask]]
protocol = "best_of"
benchmark = "pairs"
path = "{items}"
option_orders = 2
temperatures = [{temperature}]
replications = {replications}
top_k = {top_k}
max_tokens = {max_tokens}
early_stop = true
"""


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


def pair_distributions(judge: Judge, items: Sequence[Item]) -> list[tuple[Distribution, ...]]:
    """Compute each item's distribution over option ids in both orders, from the weights."""
    trees: dict[str, Distribution] = {}
    found = []
    for item in items:
        orders = []
        for shown in (item.options, item.options[::-1]):
            prompt = prompt_text(judge, item, shown)
            if prompt not in trees:
                trees[prompt] = ReplyTree(judge, prompt).distribution(
                    temperature=TEMPERATURE, top_k=TOP_K, max_tokens=MAX_TOKENS, tail=TAIL
                )
            ids = dict(zip("AB", (option.option_id for option in shown), strict=True))
            named: Distribution = {}
            for letter, p in trees[prompt].items():
                name = ids.get(letter, NO_VERDICT if letter == NO_VERDICT else "off the menu")
                named[name] = named.get(name, 0.0) + p
            orders.append(named)
        found.append(tuple(orders))
    return found


def pair_truth(distributions: Sequence[Sequence[Distribution]]) -> dict[str, float]:
    """Compute the limits of alpha for known distributions of each item in each order.

    Repeatability is about the prompt, so an item in one order is a unit. Reproducibility is about
    the item: two judgments are each in an order drawn at random, so an item is a unit and its
    distribution the mean of those in its orders. No verdict is a value of its own.
    """
    prompts = [each for orders in distributions for each in orders]
    items = [
        {
            name: sum(each.get(name, 0.0) for each in orders) / len(orders)
            for name in {name for each in orders for name in each}
        }
        for orders in distributions
    ]
    n_categories = len(OPTIONS) + 2
    return {
        "repeatability": limits_of(prompts, n_categories=n_categories).alpha,
        "reproducibility": limits_of(items, n_categories=n_categories).alpha,
    }


def position_judge(judge: Judge) -> Judge:
    """Make the judge of pure position: the same weights under ``POSITION_TEMPLATE``."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(JUDGE_FOLDER)
    tokenizer.chat_template = POSITION_TEMPLATE
    return replace(judge, tokenizer=tokenizer)


def write_sweep(folder: Path) -> Path:
    """Write items, chat template and sweep into a folder; the sweep's path."""
    from judgerel_ray.tables import items_to_frame

    folder = folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    items, template = folder / "items.parquet", folder / "position.jinja"
    items_to_frame(draw_pairs()).write_parquet(items)
    template.write_text(POSITION_TEMPLATE, encoding="utf-8")
    sweep = folder / "pairs.toml"
    sweep.write_text(
        SWEEP.format(
            judge=JUDGE_FOLDER,
            template=template,
            items=items,
            temperature=TEMPERATURE,
            replications=REPLICATIONS,
            top_k=TOP_K,
            max_tokens=MAX_TOKENS,
        ),
        encoding="utf-8",
    )
    return sweep


def main() -> None:
    """Write the sweep and print the truth of both judges."""
    parser = argparse.ArgumentParser(description="Two judges of pairs of known reliability.")
    parser.add_argument("folder", type=Path, help="where items, chat template and sweep go")
    print(write_sweep(parser.parse_args().folder))
    judge, items = load_judge(), draw_pairs()
    for name, one in (("content", judge), ("position", position_judge(judge))):
        truth = pair_truth(pair_distributions(one, items))
        print(f"{name:9}", "  ".join(f"{key} alpha {value:.4f}" for key, value in truth.items()))


if __name__ == "__main__":
    main()
