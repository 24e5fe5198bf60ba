"""HH-RLHF: two replies of an assistant to one dialogue, of which a person chose one."""

from __future__ import annotations

from judgerel_ray.benchmarks.admission import admit
from judgerel_ray.benchmarks.dialogue import HUMAN, Turn, last_words, split_turns, written
from judgerel_ray.benchmarks.record import Record
from judgerel_ray.benchmarks.rows import read_records
from judgerel_ray.core import HumanRating, Item, Option

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
    records = read_records(path)
    return admit([(_item(record, n), record) for n, record in enumerate(records)], path=path)


def _item(record: Record, index: int) -> Item:
    """One pair."""
    record.require(CHOSEN, REJECTED, hint="name a file of pairs, such as harmless-base/test")
    sides = {name: split_turns(record.text(name)) for name in (CHOSEN, REJECTED)}
    n_shared = _shared(*sides.values())
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
        context=written(shared[:-1]),
        options=tuple(
            Option(option_id=name, text=last_words(turns[n_shared:]))
            for name, turns in sides.items()
        ),
        gold=CHOSEN,
        ratings=(HumanRating(rater="human", label=CHOSEN),),
    )


def _shared(one: tuple[Turn, ...], two: tuple[Turn, ...]) -> int:
    """Number of leading turns in common that end with a human's and are not all of either."""
    n = 0
    for a, b in zip(one[:-1], two[:-1], strict=False):
        if a != b:
            break
        n += 1
    while n and (one[n - 1].speaker != HUMAN or HUMAN in (one[n].speaker, two[n].speaker)):
        n -= 1
    return n
