"""promptfoo: one judgment for each assertion that a model, or a person, graded.

Read from the results that promptfoo 0.121.20 writes (``output.json``, ``output.jsonl``):
``results.results[].gradingResult.componentResults[]``, assert-sets flattened in it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping

from judgerel_ray.core import Outcome
from judgerel_ray.importers.logs.reading import (
    PEOPLE,
    UNNAMED,
    LogFormat,
    Path,
    Row,
    Sight,
    conversation,
    mapping,
    named_by,
    number,
    passed,
    records,
    sight,
    text,
    values,
)

_AT: Path = ("results", "results")
_GRADED = frozenset({
    "llm-rubric", "agent-rubric", "g-eval", "model-graded-closedqa", "model-graded-factuality",
    "factuality", "answer-relevance", "context-faithfulness", "context-recall",
    "context-relevance", "conversation-relevance", "select-best", "search-rubric",
})  # fmt: skip
"""Assertions that a model grades; all others are computed."""
_HUMAN = "human"
_UNREAD = re.compile(
    r"could not extract json|malformed response|no output|failed to parse|not.*valid json", re.I
)
"""What promptfoo writes as the reason where it scores 0 because it could not read its grader."""
_SHORT = 40


def _known(seen: Sight) -> bool:
    record = seen.record(*_AT) if seen.kind == "document" else seen.record()
    return {"promptIdx", "testIdx"} <= record.keys()


def _read(path: str) -> Iterator[Row]:
    """Judgments of one file.

    Repeats have a ``testIdx`` each, so that what has equal variables and rubric is one item. A
    grader that cannot be read scores 0 and one that leaves out ``pass`` passes: the first is known
    by its reason, the second where PASS stands beside a score of 0. Both are no verdicts;
    nor is what has a ``graderError`` of another kind, which failed.
    """
    at = _AT if sight(path).kind == "document" else ()
    default = UNNAMED
    if at:
        config = next((one for where, one in values(path) if where == ("config", "defaultTest")), 0)
        default = _grader(mapping(mapping(config).get("options")).get("provider")) or default
    for _, record in records(path, at):
        yield from _judgments(mapping(record), default)


def _judgments(record: Mapping[str, object], default: str) -> Iterator[Row]:
    """Judgments of one result."""
    grading, test = mapping(record.get("gradingResult")), mapping(record.get("testCase"))
    components = grading.get("componentResults")
    shown = {
        name: value
        for name, value in mapping(record.get("vars") or test.get("vars")).items()
        if name != "sessionId" and not name.startswith("_")
    }
    grader = _grader(mapping(test.get("options")).get("provider")) or default
    provider = mapping(record.get("provider"))
    responder = text(provider.get("label")) or text(provider.get("id")) or "unnamed"
    if record.get("promptIdx"):
        responder += f", prompt {record['promptIdx']}"
    title = text(test.get("description")) or text(next(iter(shown.values()), None)) or "item"
    times: Counter[str] = Counter()
    assessed = [
        (kind, assertion, graded)
        for graded in map(mapping, components if isinstance(components, list) else [grading])
        for assertion in [mapping(graded.get("assertion"))]
        for kind in [str(assertion.get("type") or "").removeprefix("not-")]
        if kind == _HUMAN or kind in _GRADED
    ]
    # A person's grade is of the same item as the model's: by the rubrics of all of them.
    rubrics = [one.get("value") for kind, one, _ in assessed if kind != _HUMAN]
    item = f"{title[:_SHORT]}#{named_by([shown, rubrics])}"
    for kind, assertion, graded in assessed:
        metric = text(assertion.get("metric")) or kind
        times[metric] += 1
        criterion = metric if times[metric] == 1 else f"{metric} {times[metric]}"
        reason, score = text(graded.get("reason")), number(graded.get("score"))
        outcome = None
        if kind != _HUMAN and reason and not score and _UNREAD.search(reason):
            outcome = Outcome.UNPARSED
        elif mapping(graded.get("metadata")).get("graderError"):
            outcome = Outcome.FAILED
        elif kind != _HUMAN and graded.get("pass") is True and score == 0:
            outcome = Outcome.CONFLICTING
        yield Row(
            judge=PEOPLE if kind == _HUMAN else _grader(assertion.get("provider")) or grader,
            item_id=item,
            criterion=criterion,
            responder=responder,
            verdict=None if outcome else passed(graded.get("pass")),
            outcome=outcome,
            answer=text(mapping(record.get("response")).get("output")),
            question=text(mapping(record.get("prompt")).get("raw")),
            reply=reason,
            prompt=_rendered(mapping(graded.get("metadata")).get("renderedGradingPrompt")),
            reference=text(assertion.get("value")),
        )


def _rendered(prompt: object) -> str | None:
    """What a grader was asked: a text, or messages as JSON in one."""
    try:
        return conversation(json.loads(prompt)) if isinstance(prompt, str) else conversation(prompt)
    except (ValueError, RecursionError):
        return text(prompt)


def _grader(provider: object) -> str | None:
    """The name of a grader: a text, or an object that names one."""
    named = mapping(provider)
    return text(named.get("label") or named.get("id") or named.get("text") or provider or None)


PROMPTFOO = LogFormat(known=_known, read=_read, asks_again="repeats")
