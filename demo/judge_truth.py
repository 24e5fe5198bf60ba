"""The truth of the shipped judge, from its own logits: ``python -m demo.judge_truth``.

For every item and temperature this computes the exact distribution over the letters and "no
verdict" that sampling from the shipped weights follows, and the coefficients which ever more
replications tend to. It uses transformers and plain arithmetic and none of the project's engines,
readers or statistics (only the prompts are rendered by the project), so that the whole pipeline
can be held against it.

How: the tree of replies is walked from the prompt, token by token. At every token the logits
are tempered, all but the ``top_k`` most probable tokens dropped, and the rest normalised, as
samplers do. A branch ends where its text holds a verdict in the declared form, where the reply
ends, or where it reaches ``max_tokens``; branches are followed until all that are left together
weigh less than ``tail``.
"""

from __future__ import annotations

import argparse
import heapq
import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from demo.judge_design import (
    ITEMS_FILE,
    JUDGE_FOLDER,
    NO_VERDICT,
    design_distribution,
    kl_divergence,
    quality,
)
from demo.judge_limits import Limits, agreement_variance, limits_of
from demo.write_items import quality_words

if TYPE_CHECKING:
    import torch
    from transformers import LlamaForCausalLM, PreTrainedTokenizerFast

    from judgerel_ray.core import Item, Option

TEMPERATURES = (1.0, 0.75, 0.5, 0.25)
VERDICT = re.compile(r"Best Response: \[\[([A-Z])\]\]")
TAIL = 1e-5
"""Probability left unexplored by default: far below any Monte-Carlo error it is held against."""
BRANCHES_AT_ONCE = 256
NEGLIGIBLE = 1e-3
"""Branches below this share of ``tail`` are not followed; together they are within the tail."""

Distribution = dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    """A judge's weights and its tokenizer."""

    model: LlamaForCausalLM
    tokenizer: PreTrainedTokenizerFast


def load_judge(folder: Path | str = JUDGE_FOLDER) -> Judge:
    """Load the judge from its folder, in float32 and on the CPU."""
    import torch
    from transformers import AutoTokenizer, LlamaForCausalLM

    model = LlamaForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    return Judge(model=model, tokenizer=AutoTokenizer.from_pretrained(folder))


def load_items(path: Path | str = ITEMS_FILE) -> tuple[Item, ...]:
    """Read the demo's items."""
    import polars as pl

    from judgerel_ray.tables import frame_to_items

    return frame_to_items(pl.read_parquet(path))


def prompt_text(
    judge: Judge,
    item: Item,
    options: Sequence[Option] | None = None,
    *,
    template: str = "default",
) -> str:
    """Render an item with one of the project's templates and the judge's chat template.

    Parameters
    ----------
    judge, item
        Whose chat template, and what is asked.
    options
        In the order shown; the item's own order by default.
    template
        A shipped template of best_of.
    """
    from judgerel_ray.protocols import load_template, render_best_of

    wording = load_template("best_of", template)
    messages = render_best_of(wording, item, item.options if options is None else options)
    chat = [{"role": message.role, "content": message.content} for message in messages]
    text = judge.tokenizer.apply_chat_template(chat, add_generation_prompt=True, tokenize=False)
    assert isinstance(text, str)
    return text


class ReplyTree:
    """The replies a judge may give to one prompt, with the logits of every prefix looked at.

    One tree serves all temperatures: tempering starts from the same logits.
    """

    def __init__(self, judge: Judge, prompt: str) -> None:
        self._judge = judge
        self._prompt: list[int] = judge.tokenizer.encode(prompt, add_special_tokens=False)
        self._logits: dict[tuple[int, ...], torch.Tensor] = {}

    def distribution(
        self,
        *,
        temperature: float,
        top_k: int = 50,
        max_tokens: int = 16,
        tail: float = TAIL,
    ) -> Distribution:
        """Compute the distribution of the first verdict in the declared form.

        Parameters
        ----------
        temperature
            0 is greedy.
        top_k
            Tokens kept at every position; 0 keeps all.
        max_tokens
            Longest reply; one cut off before its verdict has none.
        tail
            Probability left unexplored at most.

        Returns
        -------
        dict
            Probability of every letter met and of ``"no verdict"``; sums to 1 but for the tail.
        """
        found: Distribution = {NO_VERDICT: 0.0}

        def ends(reply: tuple[int, ...], mass: float) -> bool:
            outcome = self._outcome(reply, max_tokens=max_tokens)
            if outcome is not None:
                found[outcome] = found.get(outcome, 0.0) + mass
            return outcome is not None

        self._follow(ends, temperature=temperature, top_k=top_k, tail=tail)
        return found

    def _follow(
        self,
        ends: Callable[[tuple[int, ...], float], bool],
        *,
        temperature: float,
        top_k: int,
        tail: float,
    ) -> None:
        """Follow replies, the most probable first, until what is left weighs less than ``tail``.

        ``ends`` is called with every reply so far and its probability, and tells whether the reply
        is followed no further.
        """
        left = 1.0
        heap: list[tuple[float, tuple[int, ...]]] = [(-1.0, ())]
        while heap and left > tail:
            count = min(BRANCHES_AT_ONCE, len(heap))
            branches = [heapq.heappop(heap) for _ in range(count)]
            self._look_at([prefix for _, prefix in branches])
            for negative_mass, prefix in branches:
                steps = next_tokens(self._logits[prefix], temperature=temperature, top_k=top_k)
                for token, p in steps:
                    mass = -negative_mass * p
                    if mass < tail * NEGLIGIBLE:
                        break  # the rest is no more probable, and stays unexplored
                    if ends((*prefix, token), mass):
                        left -= mass
                    else:
                        heapq.heappush(heap, (-mass, (*prefix, token)))

    def _outcome(self, reply: tuple[int, ...], *, max_tokens: int) -> str | None:
        """What a reply is known to answer so far; None while it is still open."""
        is_ended = reply[-1] == self._judge.tokenizer.eos_token_id
        text = self._judge.tokenizer.decode(reply, skip_special_tokens=True)
        verdict = VERDICT.search(text)
        if verdict is not None:
            return verdict[1]
        return NO_VERDICT if is_ended or len(reply) == max_tokens else None

    def _look_at(self, prefixes: Iterable[tuple[int, ...]]) -> None:
        """Compute the logits after each prefix not seen before."""
        import torch

        fresh = [prefix for prefix in prefixes if prefix not in self._logits]
        if not fresh:
            return
        longest = max(map(len, fresh))
        pad = self._judge.tokenizer.pad_token_id
        rows = [[*self._prompt, *p, *[pad] * (longest - len(p))] for p in fresh]
        lasts = torch.tensor([len(self._prompt) + len(prefix) - 1 for prefix in fresh])
        with torch.inference_mode():
            # Padding stands on the right, where causal attention cannot see it.
            hidden = self._judge.model.model(input_ids=torch.tensor(rows)).last_hidden_state
            logits = self._judge.model.lm_head(hidden[torch.arange(len(rows)), lasts])
        self._logits.update(zip(fresh, logits.double(), strict=True))


def next_tokens(logits: torch.Tensor, *, temperature: float, top_k: int) -> list[tuple[int, float]]:
    """Compute every next token's probability under temperature and top-k, most probable first."""
    import torch

    if temperature == 0:
        return [(int(logits.argmax()), 1.0)]
    kept = torch.topk(logits, min(top_k, len(logits)) if top_k else len(logits))
    shares = torch.softmax(kept.values / temperature, dim=0)
    return list(zip(kept.indices.tolist(), shares.tolist(), strict=True))


def design_of(item: Item, *, temperature: float) -> Distribution:
    """Compute what the law says of an item, options in the item's own order."""
    qualities = [quality(quality_words(option.text)) for option in item.options]
    return design_distribution(qualities, temperature=temperature)


def judge_truth(
    judge: Judge,
    items: Sequence[Item],
    *,
    temperatures: Sequence[float] = TEMPERATURES,
    top_k: int = 50,
    max_tokens: int = 16,
    replications: int = 100,
    tail: float = TAIL,
) -> list[dict[str, object]]:
    """Compute distributions, limits and distance to the design, one record a temperature.

    ``kl_to_design`` is the mean over items of KL(design, weights) in nats, null at temperature 0;
    what the weights answer more rarely than ``tail`` counts as ``tail`` there;
    ``agreement_sd`` the Monte-Carlo standard deviation of agreement from ``replications`` draws.
    """
    trees = [ReplyTree(judge, prompt_text(judge, item)) for item in items]
    records: list[dict[str, object]] = []
    for temperature in temperatures:
        truths = [
            tree.distribution(
                temperature=temperature, top_k=top_k, max_tokens=max_tokens, tail=tail
            )
            for tree in trees
        ]
        n_categories = max(len(item.options) for item in items) + 1
        limits = limits_of(truths, n_categories=n_categories)
        divergence = None
        if temperature > 0:
            designs = [design_of(item, temperature=temperature) for item in items]
            pairs = zip(designs, truths, strict=True)
            divergence = sum(kl_divergence(d, t, floor=tail) for d, t in pairs) / len(items)
        records.append(
            {
                "temperature": temperature,
                "top_k": top_k,
                "kl_to_design": divergence,
                **{name: getattr(limits, name) for name in Limits.__slots__},
                "replications": replications,
                "agreement_sd": math.sqrt(agreement_variance(truths, replications)),
                "items": {item.item_id: truth for item, truth in zip(items, truths, strict=True)},
            }
        )
    return records


def main() -> None:
    """Print the truth per temperature and write all of it as JSON."""
    parser = argparse.ArgumentParser(description="The demo judge's exact truth.")
    parser.add_argument("--out", type=Path, help="JSON file to write")
    parser.add_argument("--temperatures", type=float, nargs="+", default=TEMPERATURES)
    parser.add_argument("--replications", type=int, default=100)
    parser.add_argument("--tail", type=float, default=TAIL, help="probability left unexplored")
    arguments = parser.parse_args()
    records = judge_truth(
        load_judge(),
        load_items(),
        temperatures=arguments.temperatures,
        replications=arguments.replications,
        tail=arguments.tail,
    )
    print("    T  KL to design  alpha   agreement (sd)     AC1     BP      valid")
    for record in records:
        divergence = record["kl_to_design"]
        shown = "     -" if divergence is None else f"{divergence:.4f}"
        print(
            f"{record['temperature']:5.2f}  {shown:>12}  {record['alpha']:.4f}  "
            f"{record['agreement']:.4f} ({record['agreement_sd']:.4f})  "
            f"{record['ac1']:.4f}  {record['brennan_prediger']:.4f}  {record['valid_rate']:.4f}"
        )
    if arguments.out:
        arguments.out.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
