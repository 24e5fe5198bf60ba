"""Items of a tool's log: its questions with their answers fixed, or what its judge was asked."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Sequence

from judgerel_ray.benchmarks.log import LoggedAnswer, logged_items
from judgerel_ray.benchmarks.source import Record
from judgerel_ray.core import (
    Item,
    JudgeRelError,
    Outcome,
    ReadingWarning,
    SweepError,
    count_of,
)
from judgerel_ray.core.files import PACKED
from judgerel_ray.importers.logs.collect import LOG_FORMATS, detect_log_format, log_files, log_rows
from judgerel_ray.importers.logs.reading import NOBODY, PEOPLE, LogRow, is_zip, refused, sight

_JSON = (".json", ".jsonl", ".ndjson")


def log_name(path: str) -> str | None:
    """The tool whose log a file is; None of a table, and of what cannot be read.

    Examples
    --------
    >>> log_name("no-such.json") is None
    True
    """
    try:
        return detect_log_format(path) if os.path.isfile(path) and is_log(path) else None
    except JudgeRelError:  # what is wrong with it is said where it is read
        return None


def is_log(path: str) -> bool:
    """Whether a file is of a format of `LOG_FORMATS`; a table of judgments is of none."""
    name = path
    for packed in PACKED:
        name = name.removesuffix(packed)
    with refused(path):
        if not name.endswith(_JSON) and not is_zip(path):
            return False
        seen = sight(path)
        return any(one.known(seen) for one in LOG_FORMATS.values())


def log_items(paths: Sequence[str], *, prompts: bool = False) -> tuple[Item, ...]:
    r"""Read logs of tools as items, so that a sweep asks judges about the same answers again.

    One a question, context and target, and with `prompts` one a question and criterion where there
    are several; ``gold`` is the target or rubric that the judge compared with, None where criteria
    have several. A file of which a model judged nothing (its scorers are code, or people) gives all
    its answers, any other those that a model judged.
    """
    files = log_files(paths)
    rows = [found for file in files for found in _judged_or_all(file, prompts=prompts)]
    if not rows and not prompts:  # nothing of any file can be judged: say of its first why
        rows = [(file, 1, one) for file in files for one in log_rows(detect_log_format(file), file)]
    named = ", ".join(files[:3])
    if prompts and not rows:
        raise SweepError(
            "no model judged what the log holds, so that there is no prompt of a judge",
            where={"file": named},
            hint="leave out --prompts, for its answers",
        )
    return logged_items(
        _judge_prompts_in_log(rows) if prompts else _judged_answers_in_log(rows), path=named
    )


def _judged_or_all(file: str, *, prompts: bool) -> list[tuple[str, int, LogRow]]:
    """What models judged in a file; where they judged nothing, and no prompt is asked for, all."""
    rows = [
        (file, nth, row) for nth, row in enumerate(log_rows(detect_log_format(file), file), start=1)
    ]
    judged = [
        found
        for found in rows
        if found[2].outcome is not Outcome.FAILED and found[2].judge not in (PEOPLE, NOBODY)
    ]
    # What failed may have been the grader, whose answer is there, or the answer itself.
    answers = [
        found
        for found in rows
        if found[2].answer is not None or found[2].outcome is not Outcome.FAILED
    ]
    if not judged and not prompts:
        # Nobody judged them: an answer without its question is nothing to judge.
        askable = [one for one in answers if one[2].question is not None]
        if n_without := len(answers) - len(askable):
            note = f"{count_of(n_without, 'answer')} without a question: left out [{file}]"
            warnings.warn(ReadingWarning(note), stacklevel=3)
        return askable
    n_left = sum(row.judge == NOBODY for _, _, row in answers)
    if judged and n_left:
        note = f"{count_of(n_left, 'answer')} that no model judged: left out [{file}]"
        warnings.warn(ReadingWarning(note), stacklevel=3)
    return judged


def _judged_answers_in_log(rows: Sequence[tuple[str, int, LogRow]]) -> Iterator[LoggedAnswer]:
    """What was judged; what was asked otherwise (prompt, context, target) is an item of its own."""
    asked: dict[str, list[tuple[str | None, ...]]] = {}
    targets: dict[str, set[str]] = {}
    for _, _, row in rows:
        targets.setdefault(row.item_id, set()).update([row.reference] if row.reference else [])
    has_criteria = len({row.criterion for _, _, row in rows}) > 1
    holds_answers = any(row.answer is not None for _, _, row in rows)
    for file, nth, row in rows:
        record = _judgment_place_in_log(file, nth, row)
        if row.question is None or not holds_answers:
            what = "question" if row.question is None else "answers"
            raise record.wrong(
                f"the log does not hold the {what} that its judge judged",
                hint="--prompts, for what the judge was asked" if row.prompt else None,
            )
        wordings = asked.setdefault(row.item_id, [])
        gold = row.reference
        if has_criteria:  # one answer by several rubrics: no target is that of all
            gold = next(iter(known)) if len(known := targets[row.item_id]) == 1 else None
        wording = (row.question, row.context, gold)
        if wording not in wordings:
            wordings.append(wording)
        word = 1 + wordings.index(wording)
        yield LoggedAnswer(
            record=record, item_id=row.item_id if word == 1 else f"{row.item_id}, prompt {word}",
            question=row.question, answer=row.answer or "", responder=row.responder or "answer",
            context=row.context, gold=gold, benchmark=row.benchmark or "log",
        )  # fmt: skip


def _judge_prompts_in_log(rows: Sequence[tuple[str, int, LogRow]]) -> Iterator[LoggedAnswer]:
    """What the judge was asked about each answer."""
    n_without = sum(row.prompt is None for _, _, row in rows)
    if 0 < n_without < len(rows):
        note = f"{n_without} of {len(rows)} judgments hold no prompt of the judge and are left out"
        warnings.warn(ReadingWarning(note), stacklevel=4)
    criteria = {row.criterion for _, _, row in rows}
    questions: dict[str, str] = {}
    for file, nth, row in rows:
        record = _judgment_place_in_log(file, nth, row)
        if row.prompt is None:
            if n_without == len(rows):
                raise record.wrong(
                    "the log does not hold the prompts that its judge was asked",
                    hint="leave out --prompts, and ask by a template of your own",
                )
            continue
        name = f"{row.item_id}: {row.criterion}" if len(criteria) > 1 else row.item_id
        question = questions.setdefault(name, row.question or row.prompt)
        yield LoggedAnswer(
            record=record, item_id=name, question=question, answer=row.prompt,
            responder=row.responder or "answer", gold=row.reference,
            category=row.criterion or "log", benchmark=row.benchmark or "log",
        )  # fmt: skip


def _judgment_place_in_log(file: str, nth: int, row: LogRow) -> Record:
    """Where a judgment stands; pairs are refused."""
    record = Record(fields={}, place={"file": file, "judgment": nth, "item": row.item_id})
    if row.n_options is not None or row.option_order is not None:
        raise record.wrong(
            "the log compares pairs, and items of a log are single answers",
            hint="a plain file of items with the answers as options",
        )
    return record
