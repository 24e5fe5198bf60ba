"""Feedback Collection and other files of Prometheus: a response, a rubric of five scores."""

from __future__ import annotations

import re

from judgerel_ray.benchmarks.admission import admit_rows
from judgerel_ray.benchmarks.criterion import numbered_options, rating_by, under_headings
from judgerel_ray.benchmarks.source import Record
from judgerel_ray.core import HumanRating, Item, Option

_PARTS = ("orig_instruction", "orig_response", "orig_reference_answer", "orig_criteria")
_SCORES = tuple(range(1, 6))
# Section headings of the published prompt layout; what stands between them is the data.
_LAYOUT = re.compile(
    r"###\s*The instruction to evaluate:\s*(?P<orig_instruction>.*?)\s*"
    r"###\s*Response to evaluate:\s*(?P<orig_response>.*?)\s*"
    r"###\s*Reference Answer \(Score 5\):\s*(?P<orig_reference_answer>.*?)\s*"
    r"###\s*Score Rubrics?:\s*\[(?P<orig_criteria>.*?)\]\s*"
    + r"\s*".join(rf"Score {n}:\s*(?P<orig_score{n}_description>.*?)" for n in _SCORES)
    + r"\s*(?:###\s*Feedback:\s*)?\Z",
    re.DOTALL,
)


def load_feedback_collection(path: str) -> tuple[Item, ...]:
    """Read Feedback Collection (Kim et al. 2023), or any file of the same layout.

    Parameters
    ----------
    path : str
        The upstream JSON list of ``{"orig_instruction", "orig_response",
        "orig_reference_answer", "orig_criteria", "orig_score1_description" to
        "orig_score5_description", "orig_score"}``, or of whole prompts in ``instruction`` (or
        ``judge_prompt``) that have these parts under their published headings; with scores in
        ``orig_score``, ``gpt4_score`` (a number or a list of repeated ones), or neither.
        Parquet, JSON Lines and CSV of the same columns too.

    Returns
    -------
    tuple of Item
        One a response: ``question`` is the rubric's criterion, ``context`` holds instruction,
        response and reference answer, ``options`` are 1 to 5 with the rubric's descriptions,
        ``gold`` is the score the response was written for (``orig_score``) and ``ratings`` are
        repeated scores of GPT-4 (``gpt-4:0``, ...). ``item_id`` is
        ``feedback_collection:<place in the file>`` and ``category`` the criterion, so
        ``per = "category"`` draws every criterion alike.

    Raises
    ------
    SweepError
        If a record has neither the parts nor a prompt with their headings, or a score is none of
        1 to 5.

    Examples
    --------
    >>> import json, tempfile, pathlib
    >>> row = {"orig_instruction": "Say hello.", "orig_response": "Hello!",
    ...        "orig_reference_answer": "Hello there!", "orig_criteria": "Is it kind?",
    ...        "orig_score": "4", **{f"orig_score{n}_description": f"level {n}"
    ...        for n in range(1, 6)}}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "feedback_collection.json")
    ...     _ = file.write_text(json.dumps([row]))
    ...     item = load_feedback_collection(str(file))[0]
    >>> item.question, item.gold, item.options[0].text
    ('Is it kind?', '4', 'level 1')
    """
    return admit_rows(path, _feedback_collection_item)


def _feedback_collection_item(record: Record, index: int) -> Item:
    """One response with its rubric."""
    parts = _feedback_item_parts(record)
    options = numbered_options([parts.text(f"orig_score{n}_description") for n in _SCORES])
    criterion = parts.text("orig_criteria").strip()
    gold = None
    if "orig_score" in record:
        gold = str(record.whole("orig_score"))
        rating_by("gold", gold, options, record, criterion=criterion)
    return Item(
        item_id=f"feedback_collection:{index}",
        benchmark="feedback_collection",
        category=criterion,
        question=criterion,
        context=under_headings(
            Instruction=parts.text("orig_instruction"),
            Response=parts.text("orig_response"),
            Reference_answer=parts.optional_text("orig_reference_answer"),
        ),
        options=options,
        gold=gold,
        ratings=_feedback_item_ratings(record, options, criterion),
    )


def _feedback_item_parts(record: Record) -> Record:
    """The parts as upstream names them, read out of a whole prompt where there is just that."""
    if "orig_criteria" in record:
        record.require(*_PARTS)
        return record
    column = next((name for name in ("instruction", "judge_prompt") if name in record), None)
    if column is None:
        record.require(*_PARTS)
        raise record.wrong("orig_criteria must not be empty")
    found = _LAYOUT.search(record.text(column))
    if found is None:
        raise record.wrong(
            f"{column} does not hold instruction, response, reference answer and rubric",
            hint="their headings start with ### and the criterion stands in brackets",
        )
    return Record(fields=found.groupdict(), place=record.place)


def _feedback_item_ratings(
    record: Record, options: tuple[Option, ...], criterion: str
) -> tuple[HumanRating, ...]:
    """Scores of GPT-4, one or several."""
    if "gpt4_score" not in record:
        return ()
    rating = record.fields["gpt4_score"]
    scores = rating if isinstance(rating, list) else [rating]
    return tuple(
        rating_by(
            f"gpt-4:{n}",
            str(Record(fields={"gpt4_score": score}, place=record.place).whole("gpt4_score")),
            options, record, criterion=criterion,
        )
        for n, score in enumerate(scores)
    )  # fmt: skip
