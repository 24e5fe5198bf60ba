"""Log-probabilities as servers list them: which tokens a reply has, and what else its verdict was.

Servers tell tokens as texts, not as numbers; a place in the list stands for the number here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from judgerel_ray.core import Menu, TokenLogprob
from judgerel_ray.engines.engine import JSON
from judgerel_ray.engines.verdict_position import spelled_verdicts, verdict_place
from judgerel_ray.engines.verdict_tree import NextTokens

Listing = tuple[tuple[bytes, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyTokens:
    """The tokens of a reply, and the most probable ones at the place of each."""

    tokens: tuple[bytes, ...] = ()
    listings: tuple[Listing, ...] = ()


def reply_tokens(choice: Mapping[str, JSON]) -> ReplyTokens:
    """Read the tokens of a reply and their alternatives, of either endpoint.

    Examples
    --------
    >>> told = {"tokens": ["[[", "A"], "top_logprobs": [{"[[": -0.1}, {"A": -0.2, "B": -1.7}]}
    >>> reply_tokens({"logprobs": told}).listings[1]
    ((b'A', -0.2), (b'B', -1.7))
    """
    told = choice.get("logprobs")
    if not isinstance(told, Mapping):
        return ReplyTokens()
    content = told.get("content")
    if isinstance(content, Sequence):  # chat
        steps = [step for step in content if isinstance(step, Mapping)]
        return ReplyTokens(
            tokens=tuple(_bytes_of(step) for step in steps),
            listings=tuple(_listing(step.get("top_logprobs")) for step in steps),
        )
    tokens, tops = told.get("tokens"), told.get("top_logprobs")
    if not isinstance(tokens, Sequence) or not isinstance(tops, Sequence):
        return ReplyTokens()
    return ReplyTokens(
        tokens=tuple(str(token).encode() for token in tokens),
        listings=tuple(_by_text(top) for top in tops),
    )


def verdict_logprobs(text: str, reply: ReplyTokens, menu: Menu | None) -> tuple[TokenLogprob, ...]:
    """Find the place of a reply's verdict, and say what each next token there would have spelled.

    Parameters
    ----------
    text : str
        The reply, as it is kept.
    reply : ReplyTokens
        Its tokens.
    menu : Menu or None
        The labels on offer.

    Returns
    -------
    tuple of TokenLogprob
        Most probable first; ``continuation`` is the option's place on the menu. Empty where the
        reply has no verdict, or its tokens do not spell it.

    Examples
    --------
    >>> menu = Menu(labels=("A", "B"), option_ids=("x", "y"), form="best_response")
    >>> tokens = (b"Best Response: [[", b"B", b"]]")
    >>> listings = ((), ((b"B", -0.1), (b"A", -2.4)), ())
    >>> found = verdict_logprobs("Best Response: [[B]]",
    ...                          ReplyTokens(tokens=tokens, listings=listings), menu)
    >>> [(one.token, one.continuation) for one in found]
    [('B', 1), ('A', 0)]
    """
    if menu is None or not reply.tokens:
        return ()
    tokens = _spelling(text, reply.tokens)

    def text_of(places: Sequence[int]) -> str:
        return b"".join(pieces[place] for place in places).decode(errors="replace")

    pieces = list(tokens)
    place = verdict_place(range(len(tokens)), menu=menu, text_of=text_of)
    if place is None:
        return ()
    best = sorted(reply.listings[place], key=lambda pair: (-pair[1], pair[0]))
    pieces += [token for token, _ in best]
    found = NextTokens(
        tuple(range(len(tokens), len(pieces))), tuple(logprob for _, logprob in best)
    )
    texts = [token.decode(errors="replace") for token, _ in best]
    return spelled_verdicts(range(place), found, menu=menu, text_of=text_of, texts=texts)


def _spelling(text: str, tokens: Sequence[bytes]) -> tuple[bytes, ...]:
    """The tokens that spell a text, those behind its end left off: an end mark, what was cut."""
    wanted, spelled = text.encode(), b""
    for place, token in enumerate(tokens):
        spelled += token
        if len(spelled) >= len(wanted):
            kept = (
                tokens[: place + 1]
                if spelled == wanted
                else (*tokens[:place], wanted[len(spelled) - len(token) :])
            )
            return tuple(kept) if spelled.startswith(wanted) else ()
    return tuple(tokens) if wanted.startswith(spelled) and len(spelled) == len(wanted) else ()


def _listing(told: JSON) -> Listing:
    """Next tokens of a chat reply's step."""
    steps = told if isinstance(told, Sequence) else ()
    return tuple(
        (_bytes_of(step), _number(step.get("logprob")))
        for step in steps
        if isinstance(step, Mapping)
    )


def _by_text(told: JSON) -> Listing:
    """Next tokens of a plain completion's step."""
    if not isinstance(told, Mapping):
        return ()
    return tuple((token.encode(), _number(logprob)) for token, logprob in told.items())


def _bytes_of(step: Mapping[str, JSON]) -> bytes:
    """A token's bytes, where they are told; else those of its text."""
    told = step.get("bytes")
    if isinstance(told, Sequence) and told and not isinstance(told, str):
        return bytes(int(str(one)) for one in told)
    return str(step.get("token", "")).encode()


def _number(value: JSON) -> float:
    """A log-probability."""
    return float(value) if isinstance(value, int | float) else float("-inf")
