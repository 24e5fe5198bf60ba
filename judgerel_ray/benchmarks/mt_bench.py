"""MT-Bench: dialogues of two user turns, and the models' recorded answers."""

from __future__ import annotations

from judgerel_ray.benchmarks.admission import Responses, admit
from judgerel_ray.benchmarks.source import (
    Record,
    file_format,
    file_name,
    known_format,
    list_names,
    read_records,
    stem,
)
from judgerel_ray.core import Item, SweepError
from judgerel_ray.core.files import is_folder, list_folder


def load_mt_bench(path: str, answers: str | None = None) -> tuple[Item, ...]:
    """Read MT-Bench (Zheng et al. 2023; 80 questions in 8 categories).

    Parameters
    ----------
    path : str
        The upstream ``question.jsonl`` (``{"question_id", "category", "turns", "reference"?}``),
        a JSON list of the same, or the upstream folder ``mt_bench/`` with ``question.jsonl`` and
        ``model_answer/``; in a folder, ``*questions.jsonl`` and ``*model_answers.parquet`` serve
        too.
    answers : str, optional
        Folder ``model_answer/`` of ``<model>.jsonl``, one such file (``{"question_id",
        "model_id", "choices": [{"index", "turns"}]}``, whose first choice counts), or a table
        with ``question_id``, ``model``, ``answer_turn1``, ``answer_turn2``.

    Returns
    -------
    tuple of Item
        ``item_id`` is ``mtb:<question_id>``; in a JSON list without question_id, as
        schroeder2024 sampled it, ``mtb:<category>``. ``question`` is the first turn and ``turns``
        are all. ``gold`` is the reference of the final turn where upstream gives one. With
        answers, options are the models' answers to the final turn (option_id is the model, in
        the order of names) and only answered questions are items. One item per category is a
        draw of 8.

    Raises
    ------
    SweepError
        If a file is not of that layout, or the answers belong to other questions.

    Examples
    --------
    >>> import json, tempfile, pathlib
    >>> row = {"question_id": 7, "category": "math", "turns": ["Is 7 prime?", "And 8?"]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "question.jsonl")
    ...     _ = file.write_text(json.dumps(row))
    ...     load_mt_bench(str(file))[0].turns
    ('Is 7 prime?', 'And 8?')
    """
    question_file, found_answers = _mt_bench_files(path)
    answers = answers or found_answers
    asked = [
        (_mt_bench_question_name(record, question_file), _mt_bench_user_turns(record), record)
        for record in read_records(question_file)
    ]
    named = {name: turns for name, turns, _ in asked}
    kept = None if answers is None else _read_answers(answers, named)
    found = []
    for name, turns, record in asked:
        if kept is not None and name not in kept:
            continue
        item = Item(
            item_id=f"mtb:{name}",
            benchmark="mt_bench",
            category=record.identifier("category"),
            question=turns[0],
            turns=turns,
            options=kept.options(name, record) if kept is not None else (),
            gold=_mt_bench_reference(record, len(turns)),
        )
        found.append((item, record))
    return admit(found, path=path)


def _mt_bench_files(path: str) -> tuple[str, str | None]:
    """Question file, and where the answers are if a folder holds them."""
    if not is_folder(path):
        return path, None
    inside = list_folder(path)
    questions = [p for p in inside if file_name(p) == "question.jsonl"] or [
        p for p in inside if stem(p).endswith("questions") and known_format(p) == "jsonl"
    ]
    if len(questions) != 1:
        raise SweepError(
            f"expected one question.jsonl, got {len(questions)}",
            where={"folder": path, "holds": list_names([file_name(p) for p in inside])},
            hint="name the question file itself",
        )
    answers = [p for p in inside if file_name(p) == "model_answer"] or [
        p for p in inside if stem(p).endswith("model_answers") and known_format(p) is not None
    ]
    if len(answers) > 1:
        raise SweepError(
            f"expected one file of model answers, got {list_names(answers)}",
            where={"folder": path},
        )
    return questions[0], answers[0] if answers else None


def _mt_bench_question_name(record: Record, file: str) -> str:
    """Question id, or the category in a list that has no ids."""
    if "answer_turn1" in record.fields:
        raise SweepError(
            "these are model answers; the questions are missing",
            where={"file": file},
            hint="name question.jsonl as path and this file as answers, or a folder with both",
        )
    if "question_id" not in record.fields and file_format(file) == "json":
        return record.identifier("category")
    record.require("question_id", "category", "turns")
    return record.identifier("question_id")


def _mt_bench_user_turns(record: Record) -> tuple[str, ...]:
    """User turns of a dialogue, none of them empty."""
    turns = record.texts("turns")
    if not turns or not all(turn.strip() for turn in turns):
        raise record.wrong("turns must be a list of texts that are not empty")
    return turns


def _mt_bench_reference(record: Record, n_turns: int) -> str | None:
    """Reference of the final turn; upstream writes an empty text where it has none."""
    if "reference" not in record:
        return None
    references = record.texts("reference")
    return references[n_turns - 1] or None if len(references) >= n_turns else None


def _read_answers(path: str, turns: dict[str, tuple[str, ...]]) -> Responses[str]:
    """Final-turn answers of every model to these questions."""
    files: tuple[str, ...] = (path,)
    if is_folder(path):
        files = tuple(p for p in list_folder(path) if known_format(p) == "jsonl")
        if not files:
            raise SweepError("expected <model>.jsonl files, found none", where={"folder": path})
    kept: Responses[str] = Responses(path)
    for file in files:
        for record in read_records(file):
            record.require("question_id")
            name = record.identifier("question_id")
            # A question left out of the question file asks for nothing.
            final = len(turns.get(name, ())) or 1
            model, text = _mt_bench_model_answer(record, final)
            kept.add(name, model, text, record)
    kept.match(turns, hint="give the answers to these questions")
    return kept


def _mt_bench_model_answer(record: Record, turn: int) -> tuple[str, str]:
    """Model and its answer to one turn, counted from 1."""
    if "choices" not in record:
        column = f"answer_turn{turn}"
        record.require("model", column)
        return record.identifier("model"), record.text(column)
    model = record.identifier("model_id")
    choices = record.children("choices")
    if not choices:
        raise record.wrong("choices is empty", hint="leave out the line of a model that failed")
    answers = choices[0].texts("turns")
    if len(answers) < turn:
        raise choices[0].wrong(f"expected answers to {turn} turns, got {len(answers)}")
    return model, answers[turn - 1]
