"""Answers and raw replies: samples of lm-eval, outputs of OpenAI's and vLLM's batches."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from judgerel_ray.core import DECLINED, Outcome
from judgerel_ray.importers.logs.reading import (
    UNNAMED,
    LogFormat,
    Row,
    Sight,
    mapping,
    number,
    passed,
    records,
    text,
)


def _lm_eval_known(seen: Sight) -> bool:
    return {"doc_id", "resps", "filtered_resps", "target"} <= seen.record().keys()


def _lm_eval(path: str) -> Iterator[Row]:
    """Answers of ``<out>/<model>/samples_<task>_<date>.jsonl`` of lm-eval at 4e7e0d4.

    The core of lm-eval has no judge: the rows are a model's answers after a filter, and the values
    of metrics, of which a list holds one a repeat. The model is the file's folder.
    """
    name = PurePosixPath(path)
    task = re.sub(r"_\d{4}-\d\d-\d\d.*$", "", name.name.removeprefix("samples_"))
    task = task.removesuffix(".jsonl")
    for _, found in records(path):
        one = mapping(found)
        shared = {
            "judge": name.parent.name or UNNAMED,
            "item_id": str(one.get("doc_id")),
            "benchmark": task,
            "definition": text(one.get("filter")),
            "question": text(one.get("arguments")),
        }
        for answer in _answers(one.get("filtered_resps")):
            gold = text(one.get("target"))
            yield Row(criterion="answer", verdict=answer, gold=gold, **shared)  # type: ignore[arg-type]
        metrics = one.get("metrics")
        for metric in metrics if isinstance(metrics, list) else []:
            value = one.get(str(metric))
            for single in value if isinstance(value, list) else [value]:
                yield Row(criterion=str(metric), score=number(single), **shared)  # type: ignore[arg-type]


def _answers(filtered: object) -> list[str | None]:
    """Answers, one a repeat; of a choice by likelihood, the number of the likeliest."""
    held = filtered if isinstance(filtered, list) else [filtered]
    if held and all(isinstance(one, list) and len(one) == 2 for one in held):
        likely = [number(one[0]) for one in held if isinstance(one, list)]
        known = [one for one in likely if one is not None]
        greedy = [one[1] for one in held if isinstance(one, list)]
        if len(known) == len(held) and all(isinstance(one, bool) or one in _BOOL for one in greedy):
            return [str(likely.index(max(known)))]
    flat = [inner for one in held for inner in (one if isinstance(one, list) else [one])]
    return [text(one) for one in flat]


def _batch_known(seen: Sight) -> bool:
    record = seen.record()
    return "custom_id" in record and bool({"response", "error"} & record.keys())


_BOOL = ("True", "False")
_REPEAT = re.compile(r"(.+?)[-_:/#. ](?:r|rep|repeat|replication|run|trial|seed)[-_=]?\d+")


def _batch(path: str) -> Iterator[Row]:
    """Judgments of outputs of a batch, whose lines are in no order.

    Read from the documentation of OpenAI's Batch API and of ``vllm run-batch``: ``custom_id`` is
    unique, so that repeats must have put their number behind it (``q7-r3``, ``q7_rep3``); several
    ``choices`` are replications. Verdicts are read by :func:`read_reply`.
    """
    for _, found in records(path):
        record = mapping(found)
        name = str(record.get("custom_id"))
        repeat = _REPEAT.fullmatch(name)
        response = mapping(record.get("response"))
        body = mapping(response.get("body"))
        choices = body.get("choices")
        item, judge = repeat[1] if repeat else name, text(body.get("model")) or UNNAMED
        if record.get("error") or not isinstance(choices, list) or not choices:
            yield Row(item_id=item, judge=judge, outcome=Outcome.FAILED)
            continue
        for choice in map(mapping, choices):
            message = mapping(choice.get("message"))
            reply = text(message.get("content") or choice.get("text"))
            verdict, score, outcome = read_reply(reply or "")
            if verdict is None and score is None and outcome is None:
                reason = choice.get("finish_reason")
                if message.get("refusal") or reason == DECLINED:
                    outcome = Outcome.REFUSED
                elif reason == "length":
                    outcome = Outcome.TRUNCATED
            yield Row(
                item_id=item, judge=judge, verdict=verdict, score=score, outcome=outcome,
                reply=reply,
            )  # fmt: skip


_FIELDS = (
    "verdict", "winner", "decision", "choice", "preferred", "label", "pass", "passed", "score",
    "rating", "grade", "answer",
)  # fmt: skip
_OBJECT = re.compile(r"\{[^{}]*\}")
_BRACKETS = re.compile(r"\[\[\s*([^\[\]]{1,40}?)\s*\]\]")
_LABELLED = re.compile(
    r"(?:verdict|winner|decision|rating|score|grade|best response|answer)\W{0,4}(?:is\W+)?"
    r"([A-Za-z0-9.=<>+-]{1,20})(?:/\d+)?\W*$",
    re.I | re.M,
)
_WORD = re.compile(r"[A-Za-z0-9.=<>+_-]{1,20}")


def read_reply(reply: str) -> tuple[str | None, float | None, Outcome | None]:
    """Read a reply whose form is not known: verdict, score, or an outcome where they conflict.

    By the first of these that is there: fields of objects of JSON, ``[[A]]``, a line that ends in
    ``Verdict: A`` or ``Score: 7``, a reply of one word. Different values of one form conflict.

    Examples
    --------
    >>> read_reply('{"score": 4}'), read_reply("I prefer [[B]]."), read_reply("It depends on you.")
    ((None, 4.0, None), ('B', None, None), (None, None, None))
    >>> read_reply("[[A]] or [[B]]")[2].value
    'conflicting'
    """
    objects = [one for text_ in _OBJECT.findall(reply) if (one := _object(text_))]
    found = [one[name] for one in objects for name in _FIELDS if name in one][:1]
    if not found:
        found = list(_BRACKETS.findall(reply)) or list(_LABELLED.findall(reply))
    if not found and (word := _WORD.fullmatch(reply.strip())):
        found = [word[0]]
    distinct = list(dict.fromkeys(text(one) for one in found))
    if len(distinct) > 1:
        return None, None, Outcome.CONFLICTING
    if not distinct or distinct[0] is None:
        return None, None, None
    value = found[0]
    if isinstance(value, bool):
        return passed(value), None, None
    score = number(value)
    return (distinct[0], None, None) if score is None else (None, score, None)


def _object(content: str) -> Mapping[str, object] | None:
    """An object of JSON, its names in lower case."""
    try:
        return {str(name).lower(): one for name, one in json.loads(content).items()}
    except (ValueError, RecursionError):
        return None


LM_EVAL = LogFormat(known=_lm_eval_known, read=_lm_eval, asks_again="repeats")
BATCH = LogFormat(known=_batch_known, read=_batch)
