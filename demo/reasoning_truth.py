"""What a judge that reasons first truly does, from its own logits by transformers.

The tree of its replies is followed to the place where each writes its verdict's letter. What stands
before is a reasoning, with its probability; the letters that may follow are the verdict's law after
it. Both together say what replications tend to: the distribution of the verdict, and how much of
its variance is the reasoning's. Nothing of the project takes part but the rendering of prompts.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from demo.judge_design import LETTERS, NO_VERDICT
from demo.judge_truth import Distribution, ReplyTree

BEFORE_LETTER = re.compile(r"Best Response: \[\[\Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasoning:
    """How often replies reason so and then give a letter, and how often which."""

    share: float
    letters: Distribution


@dataclass(frozen=True, slots=True, kw_only=True)
class TrueSplit:
    """What replications of one prompt tend to; see ``judgerel_ray.stats.split_variance``."""

    mean: Distribution
    reasoning: float
    verdict: float


class ReasoningTree(ReplyTree):
    """The replies a judge may give to one prompt, by what stands before the letter."""

    def reasonings(
        self, *, temperature: float, top_k: int = 50, max_tokens: int = 24, tail: float = 1e-3
    ) -> list[Reasoning]:
        """Find the reasonings a verdict follows; what their shares leave is without a verdict.

        Parameters
        ----------
        temperature
            Above 0.
        top_k
            Tokens kept at every position; 0 keeps all.
        max_tokens
            Longest reply.
        tail
            Probability left unexplored at most; it counts as without a verdict.
        """
        tokenizer = self._judge.tokenizer
        found: dict[tuple[int, ...], Distribution] = {}

        def ends(reply: tuple[int, ...], mass: float) -> bool:
            *reasoning, token = reply
            text = tokenizer.decode([token])
            if text in LETTERS and BEFORE_LETTER.search(tokenizer.decode(reasoning)):
                found.setdefault(reply[:-1], {})[text] = mass
                return True
            return token == tokenizer.eos_token_id or len(reply) >= max_tokens

        self._follow(ends, temperature=temperature, top_k=top_k, tail=tail)
        shares = [(sum(letters.values()), letters) for letters in found.values()]
        return [
            Reasoning(share=share, letters={x: mass / share for x, mass in letters.items()})
            for share, letters in shares
        ]


def true_split(reasonings: Sequence[Reasoning]) -> TrueSplit:
    """Compute the mean verdict, and the variance of the reasoning and of the verdict after it.

    With shares w and laws p: 1 - sum w |p|^2 is the verdict's, sum w |p|^2 - |sum w p|^2 the
    reasoning's. To give no verdict is a value like the others, and certain where it happens.
    """
    silent = max(0.0, 1 - sum(one.share for one in reasonings))
    mean = {NO_VERDICT: silent}
    certain = silent
    for one in reasonings:
        certain += one.share * sum(p * p for p in one.letters.values())
        for letter, p in one.letters.items():
            mean[letter] = mean.get(letter, 0.0) + one.share * p
    agreement = sum(p * p for p in mean.values())
    return TrueSplit(mean=mean, reasoning=certain - agreement, verdict=1 - certain)
