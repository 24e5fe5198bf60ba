"""Where in a reply its verdict is decided, and what each next token there would have decided.

A sampled reasoning ends in a verdict; the distribution at that place says what other verdicts the
same reasoning could have had. Pure: the engine looks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from judgerel_ray.core import Menu, TokenLogprob
from judgerel_ray.engines.verdict_tree import NextTokens
from judgerel_ray.protocols import answer_frame, read_verdict

TextOf = Callable[[Sequence[int]], str]


def verdict_place(tokens: Sequence[int], *, menu: Menu, text_of: TextOf) -> int | None:
    """Find the token of a reply that writes its verdict's label.

    Parameters
    ----------
    tokens : sequence of int
        The reply.
    menu : Menu
        The labels on offer, the declared form and the reading policy.
    text_of : callable
        Text of the reply's first tokens.

    Returns
    -------
    int or None
        Its index: with it the reply so far has that verdict once the form is closed, without it
        not. None where the reply has no verdict, or its form has no words around the label.

    Examples
    --------
    >>> menu = Menu(labels=("A", "B"), option_ids=("x", "y"), form="best_response")
    >>> words = ["So.", " Best Response: [[", "B", "]]"]
    >>> verdict_place([0, 1, 2, 3], menu=menu, text_of=lambda ids: "".join(words[i] for i in ids))
    2
    """
    final = read_verdict(text_of(tokens), finish_reason="stop", menu=menu).label
    if final is None:
        return None
    # The verdict stays from its place on: halving finds the first prefix that has it.
    low, high = 0, len(tokens)
    while low < high:
        middle = (low + high) // 2
        if closed_label(text_of(tokens[:middle]), menu) == final:
            high = middle
        else:
            low = middle + 1
    return low - 1 if low and closed_label(text_of(tokens[:low]), menu) == final else None


def closed_label(text: str, menu: Menu) -> str | None:
    """The label of a reply whose form is closed where it stands; None where it has none.

    Examples
    --------
    >>> menu = Menu(labels=("A", "B"), option_ids=("x", "y"), form="best_response")
    >>> closed_label("Best Response: [[B", menu), closed_label("Best Response: [[", menu)
    ('B', None)
    """
    close = answer_frame(menu.form)[1]
    for ending in (text, text + close):
        label = read_verdict(ending, finish_reason="stop", menu=menu).label
        if label is not None:
            return label
    return None


def spelled_verdicts(
    before: Sequence[int], found: NextTokens, *, menu: Menu, text_of: TextOf, texts: Sequence[str]
) -> tuple[TokenLogprob, ...]:
    """Say which verdict each next token at the verdict's place would have spelled.

    Parameters
    ----------
    before : sequence of int
        The reply up to there.
    found : NextTokens
        The most probable tokens after it.
    menu : Menu
        The labels on offer.
    text_of : callable
        Text of the reply's first tokens.
    texts : sequence of str
        Text of each token by itself.

    Returns
    -------
    tuple of TokenLogprob
        Most probable first; ``continuation`` is the option's place on the menu, None where the
        token spells none.

    Examples
    --------
    >>> menu = Menu(labels=("A", "B"), option_ids=("x", "y"), form="best_response")
    >>> words = ["Best Response: [[", "A", "B", "?"]
    >>> found = spelled_verdicts([0], NextTokens((1, 3), (-0.1, -3.0)), menu=menu,
    ...     text_of=lambda ids: "".join(words[i] for i in ids), texts=["A", "?"])
    >>> [one.continuation for one in found]
    [0, None]
    """
    spelled = []
    for place, (token, logprob) in enumerate(zip(found.tokens, found.logprobs, strict=True)):
        label = closed_label(text_of((*before, token)), menu)
        option = menu.labels.index(label) if label is not None else None
        spelled.append(
            TokenLogprob(token=texts[place], logprob=logprob, rank=place + 1, continuation=option)
        )
    return tuple(spelled)
