"""Which passes over a prompt give the probabilities of what may follow it, and how they are read.

An option of several tokens needs one pass for each distinct beginning: the prompt with the tokens
before is asked for the probability of the next one. Options of one token each need one pass in all.
Pure: an engine makes the passes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Tokens = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pass:
    """One look at the next token: after the prompt and ``before``, of each of ``wanted``."""

    before: Tokens
    wanted: tuple[int, ...]


def option_passes(continuations: Sequence[Tokens]) -> tuple[Pass, ...]:
    """Plan the fewest passes that see every token of every option.

    Parameters
    ----------
    continuations : sequence of tuple of int
        Tokens of each option; none begins another.

    Returns
    -------
    tuple of Pass
        Shortest beginnings first, so that later ones find the earlier ones' prefix cached.

    Examples
    --------
    >>> option_passes([(5,), (6, 7), (6, 8)])
    (Pass(before=(), wanted=(5, 6)), Pass(before=(6,), wanted=(7, 8)))
    """
    wanted: dict[Tokens, set[int]] = {}
    for tokens in continuations:
        for place, token in enumerate(tokens):
            wanted.setdefault(tokens[:place], set()).add(token)
    ordered = sorted(wanted, key=lambda before: (len(before), before))
    return tuple(Pass(before, tuple(sorted(wanted[before]))) for before in ordered)


def path_logprobs(
    continuations: Sequence[Tokens], seen: Mapping[Tokens, Mapping[int, float]]
) -> tuple[tuple[float, ...], ...]:
    """Read the log-probability of every token of every option from the passes.

    Parameters
    ----------
    continuations : sequence of tuple of int
        As passes were planned for.
    seen : mapping
        What each pass saw: log-probabilities by token, by what stood before.

    Returns
    -------
    tuple of tuple of float
        One for each option, in nats; their sum is the whole option's.

    Raises
    ------
    KeyError
        If a pass or a token is missing.

    Examples
    --------
    >>> path_logprobs([(5,), (6, 7)], {(): {5: -1.0, 6: -0.5}, (6,): {7: -0.1}})
    ((-1.0,), (-0.5, -0.1))
    """
    return tuple(
        tuple(seen[tokens[:place]][token] for place, token in enumerate(tokens))
        for tokens in continuations
    )
