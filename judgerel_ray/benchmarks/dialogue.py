"""Dialogues whose last answer is judged: what was said before is context.

HH-RLHF has two replies of an assistant to one dialogue, of which a person chose one; LIMA has
instructions and the carefully written responses that a model was aligned by.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from judgerel_ray.benchmarks.admission import admit_rows
from judgerel_ray.benchmarks.criterion import under_headings
from judgerel_ray.benchmarks.source import Record, name_kind
from judgerel_ray.core import HumanRating, Item, Option

HUMAN, ASSISTANT = "Human", "Assistant"
_TURN = re.compile(rf"\n\n({HUMAN}|{ASSISTANT}):")


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn of a dialogue; ``speaker`` is Human or Assistant."""

    speaker: str
    text: str


def split_turns(transcript: str) -> tuple[Turn, ...]:
    r"""Split a transcript at its speakers' names; what stands before the first is left out."""
    parts = _TURN.split(transcript)
    return tuple(
        Turn(speaker=speaker, text=text.strip())
        for speaker, text in zip(parts[1::2], parts[2::2], strict=True)
    )


def write_turns(turns: Sequence[Turn]) -> str | None:
    r"""Write what was said before, every turn under its speaker; None where nothing was."""
    parts = (under_headings(**{turn.speaker: turn.text}) for turn in turns)
    return "\n\n".join(one for one in parts if one) or None


def last_words(turns: Sequence[Turn]) -> str:
    r"""Write what an assistant said at the end of a dialogue, names only before further turns."""
    first, *further = turns
    return "\n\n".join([first.text, *(f"{turn.speaker}: {turn.text}" for turn in further)])


CHOSEN, REJECTED = "chosen", "rejected"


def load_hh_rlhf(path: str) -> tuple[Item, ...]:
    r"""Read HH-RLHF (Bai et al. 2022), each pair as two responses to one dialogue.

    Parameters
    ----------
    path : str
        An upstream file of pairs such as ``harmless-base/test.jsonl.gz``
        (``{"chosen": "\n\nHuman: ...\n\nAssistant: ...", "rejected": ...}``), or a table with those
        columns; ``item`` numbers its rows where it is there.

    Returns
    -------
    tuple of Item
        One a pair: ``question`` is the last human turn that both transcripts share, ``context``
        what was said before it (every turn under its speaker; null for a first turn), ``options``
        are ``chosen`` and ``rejected``, ``gold`` is ``chosen`` and ``ratings`` say so. Where the
        transcripts part before their last turn, a response holds all that follows, later turns with
        their speakers. ``item_id`` is ``hh_rlhf:<row>`` (from 0), ``category`` is ``all``.

    Raises
    ------
    SweepError
        If the file is of another layout, or two transcripts share no human turn.

    Examples
    --------
    >>> import json, tempfile, pathlib
    >>> before = "\n\nHuman: Hi.\n\nAssistant: Hello!\n\nHuman: Are you well?\n\nAssistant:"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "test.jsonl")
    ...     _ = file.write_text(json.dumps({"chosen": before + " I am.", "rejected": before}))
    ...     item = load_hh_rlhf(str(file))[0]
    >>> item.question, [option.text for option in item.options]
    ('Are you well?', ['I am.', ''])
    >>> print(item.context)
    Human:
    Hi.
    <BLANKLINE>
    Assistant:
    Hello!
    """
    return admit_rows(path, _preference_dialogue_item)


def _preference_dialogue_item(record: Record, index: int) -> Item:
    record.require(CHOSEN, REJECTED, hint="name a file of pairs, such as harmless-base/test")
    sides = {name: split_turns(record.text(name)) for name in (CHOSEN, REJECTED)}
    n_shared = _n_shared_turns(*sides.values())
    if not n_shared:
        raise record.wrong(
            "chosen and rejected must share a human turn and go on after it",
            hint=r"transcripts read '\n\nHuman: ...\n\nAssistant: ...'",
        )
    shared = sides[CHOSEN][:n_shared]
    row = record.whole("item") if "item" in record else index
    return Item(
        item_id=f"hh_rlhf:{row}",
        benchmark="hh_rlhf",
        category="all",
        question=shared[-1].text,
        context=write_turns(shared[:-1]),
        options=tuple(
            Option(option_id=name, text=last_words(turns[n_shared:]))
            for name, turns in sides.items()
        ),
        gold=CHOSEN,
        ratings=(HumanRating(rater="human", label=CHOSEN),),
    )


def _n_shared_turns(one: tuple[Turn, ...], two: tuple[Turn, ...]) -> int:
    """Number of leading turns in common that end with a human's and are not all of either."""
    n = 0
    for a, b in zip(one[:-1], two[:-1], strict=False):
        if a != b:
            break
        n += 1
    while n and (one[n - 1].speaker != HUMAN or HUMAN in (one[n].speaker, two[n].speaker)):
        n -= 1
    return n


def load_lima(path: str) -> tuple[Item, ...]:
    """Read LIMA (Zhou et al. 2023; 1,000 instructions to train on), each with its response.

    Parameters
    ----------
    path : str
        The upstream ``train.jsonl`` (``{"conversations": [instruction, response, ...], "source"}``)
        or a table with those columns; or in the layout ``instruction``, ``input``, ``output``,
        ``history`` (a list of pairs of earlier turns).

    Returns
    -------
    tuple of Item
        One a conversation: ``question`` is its last instruction, ``context`` what was said before
        (every turn under its speaker; null for a first turn), ``options`` the one response
        ``lima``. ``category`` is the source, ``all`` where none is said; ``item_id`` is
        ``lima:<row>``, by the column ``item`` where it is there, else from 0. There is no gold.

    Raises
    ------
    SweepError
        If the file is of another layout, or a conversation has no response, as those of the
        upstream ``test.jsonl``.

    Examples
    --------
    >>> import json, tempfile, pathlib
    >>> row = {"conversations": ["Name a colour.", "Red."], "source": "wikihow"}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "train.jsonl")
    ...     _ = file.write_text(json.dumps(row))
    ...     item = load_lima(str(file))[0]
    >>> item.question, item.options[0].text, item.category
    ('Name a colour.', 'Red.', 'wikihow')
    """
    return admit_rows(path, _lima_item)


def _lima_item(record: Record, index: int) -> Item:
    texts = _dialogue_item_turn_texts(record)
    if not texts or len(texts) % 2 or not texts[-1].strip():
        raise record.wrong(
            f"a conversation must end with a response, got {len(texts)} turns",
            hint="train.jsonl has responses, test.jsonl has none",
        )
    turns = [
        Turn(speaker=ASSISTANT if n % 2 else HUMAN, text=text.strip())
        for n, text in enumerate(texts)
    ]
    row = record.whole("item") if "item" in record else index
    return Item(
        item_id=f"lima:{row}",
        benchmark="lima",
        category=record.identifier("source") if "source" in record else "all",
        question=turns[-2].text,
        context=write_turns(turns[:-2]),
        options=(Option(option_id="lima", text=turns[-1].text),),
    )


def _dialogue_item_turn_texts(record: Record) -> tuple[str, ...]:
    """All that was said, instruction and response by turns."""
    if "conversations" in record:
        return record.texts("conversations")
    record.require("instruction", "output", hint="name train.jsonl, whose rows hold conversations")
    instruction = record.text("instruction")
    if more := record.optional_text("input"):
        instruction = f"{instruction}\n\n{more}"
    return (*_dialogue_item_history(record), instruction, record.text("output"))


def _dialogue_item_history(record: Record) -> tuple[str, ...]:
    """Turns before the last pair."""
    if record.fields.get("history") in (None, ""):
        return ()
    texts: list[str] = []
    for pair in record.listing("history"):
        if not isinstance(pair, list) or len(pair) != 2:
            raise record.wrong("history must be a list of pairs of texts")
        for text in pair:
            if not isinstance(text, str):
                raise record.wrong(f"history must hold texts, got {name_kind(text)}")
            texts.append(text)
    return tuple(texts)
