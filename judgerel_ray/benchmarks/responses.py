"""What responders answered, joined to questions as options."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Generic, TypeVar

from judgerel_ray.benchmarks.admission import distinct_options
from judgerel_ray.benchmarks.record import Record, excerpt
from judgerel_ray.core import Option, SweepError

Q = TypeVar("Q", bound=Hashable)


class Responses(Generic[Q]):
    """Answers by question and responder, each kept with the record that holds it.

    Examples
    --------
    >>> kept: Responses[str] = Responses("answers.jsonl")
    >>> kept.add("q1", "m2", "No.", Record(fields={}, place={"file": "answers.jsonl", "line": 1}))
    >>> kept.options("q1", Record(fields={}, place={}))
    (Option(option_id='m2', text='No.'),)
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._answers: dict[Q, dict[str, str]] = {}
        self._records: dict[Q, Record] = {}

    def __contains__(self, question: Q) -> bool:
        return question in self._answers

    def add(self, question: Q, responder: str, text: str, record: Record) -> None:
        """Keep one answer.

        Raises
        ------
        SweepError
            If the responder has answered the question already.
        """
        answers = self._answers.setdefault(question, {})
        if responder in answers:
            raise record.wrong(f"{responder!r} answers the same question twice")
        answers[responder] = text
        self._records.setdefault(question, record)

    def options(self, question: Q, record: Record) -> tuple[Option, ...]:
        """Options of one question: its responders in the order of their names."""
        answers = sorted(self._answers.get(question, {}).items())
        return distinct_options((Option(option_id=r, text=text) for r, text in answers), record)

    def match(self, questions: Mapping[Q, object], *, hint: str) -> None:
        """Refuse answers none of which belongs to a question.

        Raises
        ------
        SweepError
            If no question is answered.
        """
        if not any(question in questions for question in self._answers):
            example = next(iter(self._answers), None)
            raise SweepError(
                f"none of {len(self._answers)} answered questions is in the question file, "
                f"the first is {excerpt(str(example))}",
                where={"file": self._path},
                hint=hint,
            )

    def first_unmatched(self, questions: Mapping[Q, object]) -> tuple[Q, Record] | None:
        """First answered question that is not among these, with its record."""
        return next((pair for pair in self._records.items() if pair[0] not in questions), None)
