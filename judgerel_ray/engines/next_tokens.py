"""What the next tokens of a prompt or a reply say of its verdict.

Without sampling: the distribution of a verdict from a tree of prefixes, and the probabilities of
options that may follow a prompt, by the fewest passes over it. Of a sampled reply: the place where
its verdict is decided, and what each next token there would have decided. An engine only looks:
what follows a prefix, how probable is it. Which prefixes, and what they settle, is decided here.

Shape suffixes: T = temperatures, V = verdicts and, last, "no verdict".
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from judgerel_ray.core import Condition, Menu, RequestRefused, Scoring, TokenLogprob
from judgerel_ray.engines.engine import all_or_first_error
from judgerel_ray.protocols import answer_frame, read_verdict, settled_reading, split_thought
from judgerel_ray.protocols.replies.rating_form import may_be_rating
from judgerel_ray.stats import TokenTree, remainder_draws, with_draws

MOST_LISTED = 64  # tokens an engine lists, at most
SPARE = 8  # tokens listed beyond top_k, so that ties with the last are seen
ROUND = 32  # prefixes asked at once

TokenIds = tuple[int, ...]


class NextTokens(NamedTuple):
    """The most probable tokens after a prefix, and their log-probabilities."""

    tokens: tuple[int, ...]
    logprobs: tuple[float, ...]


class Sampled(NamedTuple):
    """A reply sampled from a prefix on: its text and how it ended."""

    text: str
    finish_reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Explorer:
    """What an engine does for a tree.

    ``look`` lists the next tokens after the prompt and a prefix; ``go_on`` samples a reply from a
    prefix at a temperature by a seed, at most so many tokens; ``text_of`` is the text a prefix adds
    to the prompt.
    """

    look: Callable[[TokenIds, int], Awaitable[NextTokens]]
    go_on: Callable[[TokenIds, float, int, int], Awaitable[Sampled]]
    text_of: Callable[[TokenIds], str]
    end_tokens: frozenset[int]
    n_vocabulary: int


def listed_tokens(top_k: int) -> int:
    """How many tokens to list where `top_k` can be sampled (0 is all)."""
    return min(MOST_LISTED, top_k + SPARE) if top_k else MOST_LISTED


async def explore(condition: Condition, explorer: Explorer) -> str:
    """Explore what a judge may answer, until enough is settled.

    JSON: ``temperatures``; ``verdicts``, the option ids and null for none; ``low``, ``high``:
    certain bounds by temperature and verdict; ``estimate`` likewise where replies were drawn, else
    null; ``undecided`` by temperature; ``passes``.
    """
    menu, scoring = condition.menu, condition.scoring
    if menu is None or scoring is None or scoring.kind != "tree":
        raise RequestRefused("exact: nothing to explore", where={"item": condition.item_id})
    if condition.top_k > MOST_LISTED - SPARE:
        raise RequestRefused(
            f"exact: top_k must be 0 or at most {MOST_LISTED - SPARE}, got {condition.top_k}"
        )
    n_listed = listed_tokens(condition.top_k)
    if scoring.draws and not condition.top_k and explorer.n_vocabulary > n_listed:
        raise RequestRefused(f"exact: draws need top_k from 1 to {MOST_LISTED - SPARE}, got 0")
    tree = TokenTree(
        temperatures=scoring.temperatures,
        n_verdicts=len(menu.labels),
        decide=lambda prefix, ended: verdict_of(
            explorer.text_of(prefix),
            menu=menu,
            start=scoring.start,
            finish_reason=_token_finish_reason(prefix, ended, explorer.end_tokens),
        ),
        max_tokens=condition.max_tokens,
        end_tokens=explorer.end_tokens,
        top_k=condition.top_k,
        n_vocabulary=explorer.n_vocabulary,
        tolerance=scoring.undecided,
    )
    while tree.n_asked < scoring.passes:
        prefixes = tree.pending(min(ROUND, scoring.passes - tree.n_asked))
        if not prefixes:
            break
        looks = await all_or_first_error(explorer.look(prefix, n_listed) for prefix in prefixes)
        for prefix, found in zip(prefixes, looks, strict=True):
            tree.tell(prefix, found.tokens, found.logprobs)
    estimate = await _settle_tokens_by_replies(tree, condition, menu, scoring, explorer)
    return tree_text(tree, menu, estimate)


def verdict_of(text: str, *, menu: Menu, start: str, finish_reason: str | None) -> int | None:
    """The verdict a reply has for good: its place on the menu, -1 for none, None while it is open.

    Examples
    --------
    >>> menu = Menu(labels=("A", "B"), option_ids=("x", "y"), form="best_response")
    >>> verdict_of("Best Response: [[B]]", menu=menu, start="", finish_reason=None)
    1
    >>> verdict_of("B", menu=menu, start="Best Response: [[", finish_reason=None)
    1
    >>> verdict_of("C", menu=menu, start="Best Response: [[", finish_reason=None)
    -1
    """
    if start:
        return verdict_right_behind_form(text, menu=menu, start=start, finish_reason=finish_reason)
    reading = settled_reading(text, finish_reason=finish_reason, menu=menu)
    if reading is None:
        return None
    return NO_VERDICT if reading.label is None else menu.labels.index(reading.label)


def _token_finish_reason(prefix: TokenIds, ended: bool, end_tokens: frozenset[int]) -> str | None:
    """How a reply that ends here ended."""
    if not ended:
        return None
    return "stop" if prefix and prefix[-1] in end_tokens else "length"


async def _settle_tokens_by_replies(
    tree: TokenTree, condition: Condition, menu: Menu, scoring: Scoring, explorer: Explorer
) -> list[list[float]] | None:
    """Settle what stayed open by sampled replies; None where none are drawn."""
    if not scoring.draws:
        return None
    bounds = tree.bounds()
    shares: list[list[float]] = bounds.probability_TV.tolist()
    for t, temperature in enumerate(scoring.temperatures):
        if bounds.undecided_T[t] <= scoring.undecided or temperature == 0:
            continue
        seed = condition.seed_base + t * scoring.draws
        drawn = remainder_draws(*tree.remainder(t), scoring.draws, seed=condition.seed_base)
        verdicts = []
        for number, prefix in enumerate(drawn):
            left = condition.max_tokens - len(prefix)
            reply = await explorer.go_on(prefix, temperature, seed + number, left)
            text = explorer.text_of(prefix) + reply.text
            if scoring.start:
                found = verdict_of(
                    text, menu=menu, start=scoring.start, finish_reason=reply.finish_reason
                )
            else:
                reading = read_verdict(text, finish_reason=reply.finish_reason, menu=menu)
                found = None if reading.label is None else menu.labels.index(reading.label)
            verdicts.append(NO_VERDICT if found is None else found)
        shares[t] = with_draws(bounds, t, verdicts).tolist()
    return shares


def tree_text(tree: TokenTree, menu: Menu, estimate: list[list[float]] | None) -> str:
    """Write down what a tree found, as :func:`explore` says."""
    bounds = tree.bounds()
    return json.dumps(
        {
            "temperatures": list(bounds.temperatures),
            "verdicts": [*menu.option_ids, None],
            "low": bounds.low_TV.tolist(),
            "high": bounds.high_TV.tolist(),
            "estimate": estimate,
            "undecided": bounds.undecided_T.tolist(),
            "passes": tree.n_asked,
        }
    )


NO_VERDICT = -1
_UNFINISHED = "\ufffd"  # stands for a character of which not all bytes have come
_MOST_CHARACTERS = 80  # of a rating between brackets
_ENDED = re.compile(r"(?<=[^\s*_`\"'\\])\s*?\n|\\?\]")


def verdict_right_behind_form(
    text: str, *, menu: Menu, start: str, finish_reason: str | None
) -> int | None:
    """Read the verdict right behind a form: its place on the menu, -1 for none, None while open."""
    if menu.scale is not None:
        return _rating_behind(text, menu, start, finish_reason)
    written, ended = text.strip(), finish_reason is not None
    if not ended and not all(label.isascii() for label in menu.labels):
        written = written.rstrip(_UNFINISHED)
    possible = [n for n, label in enumerate(menu.labels) if label.startswith(written)]
    if written in menu.labels:
        place = menu.labels.index(written)
        return place if ended or possible == [place] else None
    if possible and not ended:
        return None
    begun = [n for n, label in enumerate(menu.labels) if written.startswith(label)]
    if not begun or ended:
        return NO_VERDICT
    place = max(begun, key=lambda n: len(menu.labels[n]))
    rest = written[len(menu.labels[place]) :]
    # What goes on as a word is another word; brackets and the like end the label.
    return NO_VERDICT if rest[0].isalnum() else place


def _rating_behind(text: str, menu: Menu, start: str, finish_reason: str | None) -> int | None:
    """The rating between brackets: by the reader once they close, the line or the reply ends."""
    scale, end = menu.scale, _ENDED.search(text)
    if scale is None:
        return NO_VERDICT
    inside = text[: end.start()] if end else text
    if "[" in inside:  # another form begins before this one ends
        return NO_VERDICT
    if end is None and finish_reason is None:
        inside = inside.rstrip(_UNFINISHED)
        is_open = len(inside) <= _MOST_CHARACTERS and may_be_rating(inside, scale)
        return None if is_open else NO_VERDICT
    closed = end is not None and text[end.end() - 1] == "]"
    reply = start + inside + (answer_frame(menu.form)[1] if closed else "")
    ending = "stop" if end else finish_reason or "stop"
    label = read_verdict(reply, finish_reason=ending, menu=menu).label
    return NO_VERDICT if label is None else menu.labels.index(label)


TextOf = Callable[[Sequence[int]], str]


def verdict_place(tokens: Sequence[int], *, menu: Menu, text_of: TextOf) -> int | None:
    """Find the token of a reply that writes its verdict's label.

    Its index: with it the reply so far has that verdict once the form is closed, without it not.
    None where the reply has no verdict, or its form has no words around the label.
    """
    whole = text_of(tokens)
    final = read_verdict(whole, finish_reason="stop", menu=menu).label
    if final is None:
        return None
    # The verdict stays from its place on: halving finds the first prefix that has it. A thought
    # that names it comes before.
    low, high = 0, len(tokens)
    if thought := split_thought(whole).thought:
        low = bisect_left(range(high), len(thought), key=lambda n: len(text_of(tokens[:n])))
    while low < high:
        middle = (low + high) // 2
        if closed_label(text_of(tokens[:middle]), menu) == final:
            high = middle
        else:
            low = middle + 1
    return low - 1 if low and closed_label(text_of(tokens[:low]), menu) == final else None


def closed_label(text: str, menu: Menu) -> str | None:
    """The label of a reply whose form is closed where it stands; None where it has none."""
    close = answer_frame(menu.form)[1]
    for ending in (text, text + close):
        label = read_verdict(ending, finish_reason="stop", menu=menu).label
        if label is not None:
            return label
    return None


def spelled_verdicts(
    before: Sequence[int], found: NextTokens, *, menu: Menu, text_of: TextOf, texts: Sequence[str]
) -> tuple[TokenLogprob, ...]:
    """Say which verdict each next token at the verdict's place would have spelled."""
    spelled = []
    for place, (token, logprob) in enumerate(zip(found.tokens, found.logprobs, strict=True)):
        label = closed_label(text_of((*before, token)), menu)
        option = menu.labels.index(label) if label is not None else None
        spelled.append(
            TokenLogprob(token=texts[place], logprob=logprob, rank=place + 1, continuation=option)
        )
    return tuple(spelled)


@dataclass(frozen=True, slots=True)
class Pass:
    """One look at the next token: after the prompt and ``before``, of each of ``wanted``."""

    before: TokenIds
    wanted: tuple[int, ...]


def option_passes(continuations: Sequence[TokenIds]) -> tuple[Pass, ...]:
    """Plan the fewest passes that see every token of every option.

    Examples
    --------
    >>> option_passes([(5,), (6, 7), (6, 8)])
    (Pass(before=(), wanted=(5, 6)), Pass(before=(6,), wanted=(7, 8)))
    """
    wanted: dict[TokenIds, set[int]] = {}
    for tokens in continuations:
        for place, token in enumerate(tokens):
            wanted.setdefault(tokens[:place], set()).add(token)
    ordered = sorted(wanted, key=lambda before: (len(before), before))
    return tuple(Pass(before, tuple(sorted(wanted[before]))) for before in ordered)


def path_logprobs(
    continuations: Sequence[TokenIds], seen: Mapping[TokenIds, Mapping[int, float]]
) -> tuple[tuple[float, ...], ...]:
    """Read the log-probability of every token of every option from the passes."""
    return tuple(
        tuple(seen[tokens[:place]][token] for place, token in enumerate(tokens))
        for tokens in continuations
    )
