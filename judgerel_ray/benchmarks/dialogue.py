"""Dialogues whose last answer is judged: what was said before is context."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from judgerel_ray.benchmarks.judged_text import under_headings

HUMAN, ASSISTANT = "Human", "Assistant"
_TURN = re.compile(rf"\n\n({HUMAN}|{ASSISTANT}):")


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn of a dialogue; ``speaker`` is Human or Assistant."""

    speaker: str
    text: str


def split_turns(transcript: str) -> tuple[Turn, ...]:
    r"""Split a transcript at its speakers' names; what stands before the first is left out.

    Examples
    --------
    >>> [turn.text for turn in split_turns("\n\nHuman: Hi.\n\nAssistant: Hello!")]
    ['Hi.', 'Hello!']
    """
    parts = _TURN.split(transcript)
    return tuple(
        Turn(speaker=speaker, text=text.strip())
        for speaker, text in zip(parts[1::2], parts[2::2], strict=True)
    )


def written(turns: Sequence[Turn]) -> str | None:
    r"""Write what was said before, every turn under its speaker; None where nothing was.

    Examples
    --------
    >>> written(split_turns("\n\nHuman: Hi."))
    'Human:\nHi.'
    """
    said = (under_headings(**{turn.speaker: turn.text}) for turn in turns)
    return "\n\n".join(one for one in said if one) or None


def last_words(turns: Sequence[Turn]) -> str:
    r"""Write what an assistant said at the end of a dialogue, names only before further turns.

    Examples
    --------
    >>> last_words(split_turns("\n\nAssistant: Yes.\n\nAssistant: Or no."))
    'Yes.\n\nAssistant: Or no.'
    """
    first, *further = turns
    return "\n\n".join([first.text, *(f"{turn.speaker}: {turn.text}" for turn in further)])
