"""Head-to-Tail: questions about popular and obscure entities, and responses to judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from judgerel_ray.benchmarks.admission import Responses, admit
from judgerel_ray.benchmarks.source import (
    Record,
    excerpt,
    file_format,
    file_name,
    known_format,
    list_names,
    name_kind,
    read_object,
    read_records,
    stem,
)
from judgerel_ray.core import Item, SweepError
from judgerel_ray.core.files import is_folder, list_folder

_POPULARITIES = ("head", "torso", "tail")
_PREFIX = "head_to_tail_"
_TABLE = "head_to_tail_questions"
_RESPONSES = ("head_to_tail_responses", "application_responses")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """One question with its reference and stratum."""

    source: str
    popularity: str
    question: str
    answer: str
    record: Record


def load_head_to_tail(path: str, answers: str | None = None) -> tuple[Item, ...]:
    """Read Head-to-Tail (Sun et al. 2024).

    Parameters
    ----------
    path : str
        ``head_to_tail_<source>.json`` as the upstream scripts write it (``{"head": [[entity,
        template, question, answer], ...], "torso": ..., "tail": ...}``), a table with
        ``source``, ``popularity``, ``question``, ``answer``, or a folder with such JSON files or
        the table ``head_to_tail_questions``; a folder's ``head_to_tail_responses`` table or
        ``application_responses.json`` gives the responses.
    answers : str, optional
        Responses: a table with ``response_model``, ``source``, ``question``, ``response``, or
        the JSON of schroeder2024 (``{responder: {source: [{"question", "response"}]}}``).

    Returns
    -------
    tuple of Item
        ``item_id`` is ``htt:<source>:<popularity>:<index>``, the index counting from 0 within
        source and popularity. ``category`` is ``<source>:<popularity>``. ``gold`` is the
        reference; several references are one text that lists them as ``['a', 'b']``, as
        schroeder2024 showed them to its judges. With responses, options are the responders'
        (option_id is the responder, in the order of names), only answered questions are items,
        and responses to sources that are not loaded are left out.

    Raises
    ------
    SweepError
        If a file is not of that layout, or a response belongs to no question of its source.

    Examples
    --------
    >>> import json, tempfile, pathlib
    >>> entry = ["m1", "mag-paper-0", "Who wrote it?", ["A. One", "B. Two"]]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "head_to_tail_mag.json")
    ...     _ = file.write_text(json.dumps({"head": [entry], "torso": [], "tail": []}))
    ...     item = load_head_to_tail(str(file))[0]
    >>> item.item_id, item.gold
    ('htt:mag:head:0', "['A. One', 'B. Two']")
    """
    files, found_answers = _head_tail_benchmark_files(path)
    answers = answers or found_answers
    entries = [entry for file in files for entry in _read_entries(file)]
    questions = {(entry.source, entry.question): entry for entry in entries}
    kept = None if answers is None else _read_responses(answers, questions)
    counts: Counter[str] = Counter()
    found = []
    for entry in entries:
        category = f"{entry.source}:{entry.popularity}"
        index = counts[category]
        counts[category] += 1
        key = (entry.source, entry.question)
        if kept is not None and key not in kept:
            continue
        item = Item(
            item_id=f"htt:{category}:{index}",
            benchmark="head_to_tail",
            category=category,
            question=entry.question,
            options=kept.options(key, entry.record) if kept is not None else (),
            gold=entry.answer,
        )
        found.append((item, entry.record))
    return admit(found, path=path)


def _head_tail_benchmark_files(path: str) -> tuple[tuple[str, ...], str | None]:
    """Question files, and the responses if a folder holds them."""
    if not is_folder(path):
        return (path,), None
    inside = [p for p in list_folder(path) if known_format(p) is not None]
    answers = [p for p in inside if stem(p) in _RESPONSES]
    tables = [p for p in inside if stem(p) == _TABLE]
    files = [
        p
        for p in inside
        if p not in answers + tables
        and file_name(p).startswith(_PREFIX)
        and known_format(p) == "json"
    ]
    if bool(files) == bool(tables) or len(tables) > 1 or len(answers) > 1:
        raise SweepError(
            f"expected {_PREFIX}<source>.json files or one table {_TABLE}, and at most one file "
            f"of responses; got {list_names([file_name(p) for p in inside]) or 'none'}",
            where={"folder": path},
            hint="name the question file itself",
        )
    return tuple(files or tables), answers[0] if answers else None


def _read_entries(file: str) -> Iterator[_Entry]:
    """Questions of one upstream JSON or of a table."""
    if known_format(file) != "json":
        for record in read_records(file):
            record.require("source", "popularity", "question", "answer")
            yield _head_tail_question_entry(
                record, record.identifier("source"), _head_tail_popularity(record)
            )
        return
    top = read_object(file, "head, torso and tail")
    source = stem(file).removeprefix(_PREFIX)
    if source == stem(file):
        raise SweepError(
            "the file's name must say its source",
            where={"file": file},
            hint=f"name it {_PREFIX}<source>.json, as upstream does",
        )
    top.require(*_POPULARITIES)
    for popularity in _POPULARITIES:
        for index, value in enumerate(top.listing(popularity)):
            place = {"file": file, "entry": f"{popularity}[{index}]"}
            yield _head_tail_question_entry(_upstream_record(value, place), source, popularity)


def _upstream_record(value: object, place: Mapping[str, object]) -> Record:
    """One upstream question: entity, template, question, answer."""
    if not isinstance(value, list) or len(value) != 4:
        got = f"a list of {len(value)}" if isinstance(value, list) else name_kind(value)
        raise SweepError(f"expected [entity, template, question, answer], got {got}", where=place)
    return Record(fields={"question": value[2], "answer": value[3]}, place=place)


def _head_tail_question_entry(record: Record, source: str, popularity: str) -> _Entry:
    """A question of a source, and how popular what it asks about is."""
    question, answer = record.text("question"), _head_tail_answer_text(record)
    return _Entry(
        source=source, popularity=popularity, question=question, answer=answer, record=record
    )


def _head_tail_answer_text(record: Record) -> str:
    """Answer as text: upstream has texts, years as numbers, and lists of names."""
    answer = record.fields["answer"]
    if isinstance(answer, list):
        return str(list(record.texts("answer")))
    return record.identifier("answer")


def _head_tail_popularity(record: Record) -> str:
    """One of head, torso, tail."""
    popularity = record.text("popularity")
    if popularity not in _POPULARITIES:
        raise record.wrong(f"popularity must be head, torso or tail, got {popularity!r}")
    return popularity


def _read_responses(
    path: str, questions: dict[tuple[str, str], _Entry]
) -> Responses[tuple[str, str]]:
    """Responses to questions of the sources that are loaded."""
    sources = {source for source, _ in questions}
    kept: Responses[tuple[str, str]] = Responses(path)
    rows = _nested_responses(path) if file_format(path) == "json" else _table_responses(path)
    for responder, source, record in rows:
        if source in sources:
            key = (source, record.text("question"))
            kept.add(key, responder, record.text("response"), record)
    kept.match(questions, hint=f"give responses to questions of {', '.join(sorted(sources))}")
    lost = kept.first_unmatched(questions)
    if lost is not None:
        (source, question), record = lost
        raise record.wrong(
            f"response to a question that {source} does not have: {excerpt(question)}"
        )
    return kept


def _table_responses(path: str) -> Iterator[tuple[str, str, Record]]:
    """Responder, source and record of every row."""
    for record in read_records(path):
        record.require("response_model", "source", "question", "response")
        yield record.identifier("response_model"), record.identifier("source"), record


def _nested_responses(path: str) -> Iterator[tuple[str, str, Record]]:
    """Responder, source and record of the authors' nested JSON."""
    top = read_object(path, "responders")
    for responder, by_source in top.fields.items():
        sources = top.child(by_source, responder)
        for source in sources.fields:
            for record in sources.children(source):
                yield responder, source, record
