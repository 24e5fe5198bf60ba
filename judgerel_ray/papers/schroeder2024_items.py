"""The 55 questions and 275 responses that schroeder2024 put before its judges."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from judgerel_ray.benchmarks.admission import admit, distinct_options
from judgerel_ray.benchmarks.source import (
    Record,
    file_format,
    file_name,
    list_names,
    read_object,
    read_records,
    stem,
)
from judgerel_ray.core import Item, Option, SweepError
from judgerel_ray.core.files import is_folder, list_folder

_BENCHMARKS = {"bbh": "bbh", "squad": "squad", "mtb": "mt_bench"}
_STEM = "prompt_responses"
_CONTEXT, _QUESTION, _ANSWER = "Context: ", "\n Question: ", "\n Answer:"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Question:
    """One question as its authors stored it, with the record that holds it."""

    question_id: str
    options: tuple[Option, ...]
    record: Record


def load_schroeder2024(path: str) -> tuple[Item, ...]:
    r"""Read the items of Schroeder and Wood-Doughty (2024): 27 BBH, 20 SQuAD, 8 MT-Bench.

    Parameters
    ----------
    path : str
        The released ``prompt_responses.json`` (``{question_id: {"type", "prompt",
        "model_responses": {model: text}}}``), a table of it with ``question_id``, ``type``,
        ``prompt``, ``position``, ``response_model``, ``response``, or a folder that holds
        either. ``bbh_sampled_q`` and ``squad_sampled_q`` in that folder give the gold.

    Returns
    -------
    tuple of Item
        ``item_id`` is the question id (``bbh:navigate``, ``mtb:coding``, ``squad:<id>``), which
        the released judgments use. Options stand in the order shown, ``option_id`` is the
        responder; some of their texts are empty. ``context`` and ``turns`` are taken out of the
        prompt. ``category`` is the BBH task or the MT-Bench category, and ``all`` for SQuAD,
        whose titles were not released. ``gold`` is null where no file gives it.

    Raises
    ------
    SweepError
        If the file is not of that layout, positions have a gap, or a prompt is not of its
        type's form.

    Examples
    --------
    >>> import json, tempfile, pathlib
    >>> asked = {"type": "squad", "prompt": "Context: It is 5.\n Question: What is?\n Answer:",
    ...          "model_responses": {"m1": "5", "m2": ""}}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "prompt_responses.json")
    ...     _ = file.write_text(json.dumps({"squad:q1": asked}))
    ...     item = load_schroeder2024(str(file))[0]
    >>> item.context, item.question, [option.option_id for option in item.options]
    ('It is 5.', 'What is?', ['m1', 'm2'])
    """
    file, golds = _schroeder_paper_item_files(path)
    nested = file_format(file) == "json"
    questions = _nested_questions(file) if nested else _table_questions(file)
    return admit(
        ((_schroeder_paper_item(asked, golds), asked.record) for asked in questions), path=path
    )


def _schroeder_paper_item_files(path: str) -> tuple[str, dict[tuple[str, str], str]]:
    """The file of prompts, and gold answers by question id and question."""
    if not is_folder(path):
        return path, {}
    inside = list_folder(path)
    files = [p for p in inside if stem(p) == _STEM]
    if len(files) != 1:
        raise SweepError(
            f"expected one {_STEM}.json or .parquet, got {len(files)}",
            where={"folder": path, "holds": list_names([file_name(p) for p in inside])},
        )
    golds: dict[tuple[str, str], str] = {}
    for file in inside:
        if stem(file) == "bbh_sampled_q":
            for record in read_records(file):
                name = f"bbh:{record.identifier('category')}"
                golds[name, record.text("input")] = record.text("target")
        elif stem(file) == "squad_sampled_q":
            for record in read_records(file):
                answers = record.children("answers")
                if answers:
                    name = f"squad:{record.identifier('id')}"
                    golds[name, record.text("question")] = answers[0].text("text")
    return files[0], golds


def _schroeder_paper_item(asked: _Question, golds: Mapping[tuple[str, str], str]) -> Item:
    """One item, its prompt taken apart."""
    kind, _, rest = asked.question_id.partition(":")
    record = asked.record
    if kind not in _BENCHMARKS or not rest:
        raise record.wrong(
            f"question_id must start with bbh:, squad: or mtb:, got {asked.question_id!r}"
        )
    if record.text("type") != kind:
        raise record.wrong(
            f"type must be {kind!r} as in question_id, got {record.fields['type']!r}"
        )
    context: str | None = None
    turns: tuple[str, ...] = ()
    if kind == "squad":
        context, question = _context_and_question(record)
    elif kind == "mtb":
        turns = record.texts("prompt")
        if not turns:
            raise record.wrong("prompt must list the user turns, got none")
        question = turns[0]
    else:
        question = record.text("prompt")
    return Item(
        item_id=asked.question_id,
        benchmark=_BENCHMARKS[kind],
        category="all" if kind == "squad" else rest,
        question=question,
        context=context,
        turns=turns,
        options=asked.options,
        gold=golds.get((asked.question_id, question)),
    )


def _context_and_question(record: Record) -> tuple[str, str]:
    """Both halves of a SQuAD prompt, which its authors joined with fixed words."""
    prompt = record.text("prompt")
    inner = prompt.removeprefix(_CONTEXT).removesuffix(_ANSWER)
    parts = inner.split(_QUESTION)
    if len(prompt) - len(inner) != len(_CONTEXT) + len(_ANSWER) or len(parts) != 2:
        raise record.wrong(
            f"prompt must be {_CONTEXT + '…' + _QUESTION + '…' + _ANSWER!r}, each part once",
            hint="for other prompts write an items file with question and context",
        )
    return parts[0], parts[1]


def _nested_questions(file: str) -> Iterator[_Question]:
    """Questions of the released JSON."""
    top = read_object(file, "question ids")
    for question_id, value in top.fields.items():
        record = top.child(value, question_id)
        record.require("type", "prompt", "model_responses")
        responses = record.child(record.fields["model_responses"], "model_responses")
        options = [Option(option_id=m, text=responses.text(m)) for m in responses.fields]
        yield _Question(
            question_id=question_id,
            options=distinct_options(options, record),
            record=record,
        )


def _table_questions(file: str) -> Iterator[_Question]:
    """Questions of the table, whatever the order of its rows."""
    rows: dict[str, list[Record]] = {}
    for record in read_records(file):
        record.require("question_id", "type", "prompt", "position", "response_model", "response")
        rows.setdefault(record.identifier("question_id"), []).append(record)
    for question_id, records in rows.items():
        ordered = sorted(records, key=lambda record: record.whole("position"))
        _one_prompt_in_order(question_id, ordered)
        options = [
            Option(option_id=row.identifier("response_model"), text=row.text("response"))
            for row in ordered
        ]
        yield _Question(
            question_id=question_id,
            options=distinct_options(options, ordered[-1]),
            record=ordered[0],
        )


def _one_prompt_in_order(question_id: str, ordered: Iterable[Record]) -> None:
    """Refuse positions with a gap, and rows of one question that differ in it."""
    first: Record | None = None
    for expected, record in enumerate(ordered):
        first = first or record
        position = record.whole("position")
        if position != expected:
            raise record.wrong(
                f"positions of {question_id} must run from 0: expected {expected}, got {position}"
            )
        for name in ("type", "prompt"):
            if record.fields[name] != first.fields[name]:
                raise record.wrong(f"{name} of {question_id} differs from its first row's")
