"""LIMA: instructions and the carefully written responses a model was aligned by."""

from __future__ import annotations

from judgerel_ray.benchmarks.admission import admit
from judgerel_ray.benchmarks.dialogue import ASSISTANT, HUMAN, Turn, written
from judgerel_ray.benchmarks.record import Record, kind_of
from judgerel_ray.benchmarks.rows import read_records
from judgerel_ray.core import Item, Option


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
    records = read_records(path)
    return admit([(_item(record, n), record) for n, record in enumerate(records)], path=path)


def _item(record: Record, index: int) -> Item:
    """One conversation."""
    said = _said(record)
    if not said or len(said) % 2 or not said[-1].strip():
        raise record.wrong(
            f"a conversation must end with a response, got {len(said)} turns",
            hint="train.jsonl has responses, test.jsonl has none",
        )
    turns = [
        Turn(speaker=ASSISTANT if n % 2 else HUMAN, text=text.strip())
        for n, text in enumerate(said)
    ]
    row = record.whole("item") if "item" in record else index
    return Item(
        item_id=f"lima:{row}",
        benchmark="lima",
        category=record.identifier("source") if "source" in record else "all",
        question=turns[-2].text,
        context=written(turns[:-2]),
        options=(Option(option_id="lima", text=turns[-1].text),),
    )


def _said(record: Record) -> tuple[str, ...]:
    """All that was said, instruction and response by turns."""
    if "conversations" in record:
        return record.texts("conversations")
    record.require("instruction", "output", hint="name train.jsonl, whose rows hold conversations")
    instruction = record.text("instruction")
    if more := record.optional_text("input"):
        instruction = f"{instruction}\n\n{more}"
    return (*_history(record), instruction, record.text("output"))


def _history(record: Record) -> tuple[str, ...]:
    """Turns before the last pair."""
    if record.fields.get("history") in (None, ""):
        return ()
    said: list[str] = []
    for pair in record.listing("history"):
        if not isinstance(pair, list) or len(pair) != 2:
            raise record.wrong("history must be a list of pairs of texts")
        for text in pair:
            if not isinstance(text, str):
                raise record.wrong(f"history must hold texts, got {kind_of(text)}")
            said.append(text)
    return tuple(said)
