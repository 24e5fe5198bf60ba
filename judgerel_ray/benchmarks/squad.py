"""SQuAD v1.1 and v2.0: articles, paragraphs and questions in one JSON file."""

from __future__ import annotations

from collections.abc import Iterator

from judgerel_ray.benchmarks.admission import admit
from judgerel_ray.benchmarks.source import (
    Record,
    as_records,
    file_format,
    name_kind,
    read_json_file,
    read_records,
)
from judgerel_ray.core import Item, SweepError, digest

_UNTITLED = "all"


def load_squad(path: str) -> tuple[Item, ...]:
    """Read SQuAD (Rajpurkar et al. 2016, 2018).

    Parameters
    ----------
    path : str
        The upstream JSON (``{"version", "data": [{"title", "paragraphs": [{"context", "qas":
        [{"id", "question", "answers": [{"text", "answer_start"}], "is_impossible"}]}]}]}``), or
        flat records in JSON, JSON Lines, CSV or Parquet with ``context``, ``question`` and
        ``answers`` (or ``answer``), and ``id``, ``title``, ``is_impossible`` where known.

    Returns
    -------
    tuple of Item
        ``item_id`` is ``squad:<id>``; a flat record without id is named by the hash of context
        and question. ``category`` is the title, ``all`` where there is none. ``gold`` is the
        first answer's text and null where the question has no answer; the other annotators'
        answers are not kept.

    Raises
    ------
    SweepError
        If the file is not of that layout; file and place are named.

    Notes
    -----
    schroeder2024 drew 20 articles of SQuAD v2.0 and one question of each:
    ``sample_items(items, per="category", n=1, seed=1, categories=20)`` draws in the same way
    (its own draw took the first question of a random paragraph).

    Examples
    --------
    >>> import json, tempfile, pathlib
    >>> row = {"id": "q1", "context": "Snow is white.", "question": "What is white?",
    ...        "answers": {"text": ["Snow"], "answer_start": [0]}}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "dev.json")
    ...     _ = file.write_text(json.dumps([row]))
    ...     item = load_squad(str(file))[0]
    >>> item.item_id, item.gold
    ('squad:q1', 'Snow')
    """
    found = []
    for record, context, title in _squad_file_questions(path):
        question = record.text("question")
        if "id" in record:
            name = record.identifier("id")
        else:
            name = digest({"context": context, "question": question})[:16]
        item = Item(
            item_id=f"squad:{name}",
            benchmark="squad",
            category=title or _UNTITLED,
            question=question,
            context=context,
            gold=_squad_first_answer(record),
        )
        found.append((item, record))
    return admit(found, path=path)


def _squad_file_questions(path: str) -> Iterator[tuple[Record, str, str | None]]:
    """Every question of a file with its context and title."""
    if file_format(path) != "json":
        entries = read_records(path)
    else:
        document = read_json_file(path)
        if isinstance(document, dict):
            top = Record(fields=document, place={"file": path})
            top.require("data", hint="SQuAD is {'version': ..., 'data': [...]}")
            entries = top.children("data")
        else:
            entries = as_records(document, path)
    for entry in entries:
        if "paragraphs" not in entry:
            entry.require("context", "question")
            yield entry, entry.text("context"), entry.optional_text("title")
            continue
        title = entry.text("title")
        for paragraph in entry.children("paragraphs"):
            context = paragraph.text("context")
            for question in paragraph.children("qas"):
                question.identifier("id")
                yield question, context, title


def _squad_first_answer(record: Record) -> str | None:
    """First answer's text; None for an unanswerable question."""
    if "answers" not in record.fields:
        record.require("answer", hint="add answers, or one text in the column answer")
        return record.optional_text("answer")
    if _is_impossible(record) or "answers" not in record:
        return None
    answers = record.structure("answers")
    match answers:
        case []:
            return None
        case [str(), *_]:
            return record.texts("answers")[0]
        case [*_]:
            return record.children("answers")[0].text("text")
        case {"text": [*_]}:
            texts = record.child(answers, "answers").texts("text")
            return texts[0] if texts else None
        case _:
            raise record.wrong(
                f"answers must be a list of texts or of {{'text', 'answer_start'}}, "
                f"got {name_kind(answers)}"
            )


def _is_impossible(record: Record) -> bool:
    """The v2.0 flag; False where it is absent."""
    flag = record.fields.get("is_impossible")
    match flag:
        case None:
            return False
        case bool():
            return flag
        case str() if flag.lower() in ("true", "false"):
            return flag.lower() == "true"
    raise SweepError(
        f"is_impossible must be true or false, got {name_kind(flag)}", where=record.place
    )
