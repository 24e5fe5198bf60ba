"""Logs of evaluation harnesses and batches: lm-eval, batches of OpenAI and vLLM, Inspect."""

from __future__ import annotations

import math
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TypeAlias

from judgerel_ray.core import DECLINED, Outcome, ReadingWarning, SweepError, count_of
from judgerel_ray.core.files import Unpacking, members_of
from judgerel_ray.importers.logs.reading import (
    NOBODY,
    PEOPLE,
    UNNAMED,
    LogFormat,
    LogRow,
    Sight,
    conversation,
    finite_number,
    having,
    is_zip,
    mapping,
    member,
    objects_listed,
    records,
    text,
    unless_scored,
    values,
    zipped,
)
from judgerel_ray.protocols import (
    FreeReading,
    content_text,
    drop_moved_thought,
    message_thought,
    read_free_reply,
)


def _lm_eval(path: str) -> Iterator[LogRow]:
    """Answers of ``<out>/<model>/samples_<task>_<date>.jsonl`` of lm-eval at 4e7e0d4.

    The core of lm-eval has no judge: the rows are a model's answers after a filter, and the values
    of metrics, of which a list holds one a repeat. The model is the file's folder.
    """
    name = PurePosixPath(path)
    task = re.sub(r"_\d{4}-\d\d-\d\d.*$", "", name.name.removeprefix("samples_"))
    task = task.removesuffix(".jsonl")
    for _, one in records(path):
        asked = LogRow(
            judge=name.parent.name or UNNAMED, item_id=str(one.get("doc_id")), benchmark=task,
            definition=text(one.get("filter")), question=text(one.get("arguments")),
        )  # fmt: skip
        for answer in _lmeval_record_answers(one.get("filtered_resps")):
            gold = text(one.get("target"))
            yield replace(asked, criterion="answer", verdict=answer, gold=gold)
        metrics = one.get("metrics")
        for metric in metrics if isinstance(metrics, list) else []:
            value = one.get(str(metric))
            for single in value if isinstance(value, list) else [value]:
                yield replace(asked, criterion=str(metric), score=finite_number(single))


def _lmeval_record_answers(filtered: object) -> list[str | None]:
    """Answers, one a repeat; of a choice by likelihood, the number of the likeliest."""
    held = filtered if isinstance(filtered, list) else [filtered]
    if held and all(isinstance(one, list) and len(one) == 2 for one in held):
        likely = [finite_number(one[0]) for one in held if isinstance(one, list)]
        known = [one for one in likely if one is not None]
        greedy = [one[1] for one in held if isinstance(one, list)]
        if len(known) == len(held) and all(isinstance(one, bool) or one in _BOOL for one in greedy):
            return [str(likely.index(max(known)))]
    flat = [inner for one in held for inner in (one if isinstance(one, list) else [one])]
    return [text(one) for one in flat]


def _batch_known(seen: Sight) -> bool:
    record = seen.record()
    answered = record.get("response")
    if not (answered is None or isinstance(answered, dict)):  # the text of a reply is no response
        return False
    return "custom_id" in record and bool({"response", "error"} & record.keys())


_BOOL = ("True", "False")
_REPEAT = re.compile(r"(.+?)[-_:/#. ](?:r|rep|repeat|replication|run|trial|seed)[-_=]?\d+")


def _batch_log_judgments(path: str) -> Iterator[LogRow]:
    """Judgments of outputs of a batch, whose lines are in no order.

    Read from the documentation of OpenAI's Batch API and of ``vllm run-batch``: ``custom_id`` is
    unique, so that repeats must have put their number behind it (``q7-r3``, ``q7_rep3``); several
    ``choices`` are replications. Verdicts are read by :func:`.read_free_reply`.
    """
    for _, record in records(path):
        name = str(record.get("custom_id"))
        repeat = _REPEAT.fullmatch(name)
        response = mapping(record.get("response"))
        body = mapping(response.get("body"))
        choices = objects_listed(body.get("choices"))
        item, judge = repeat[1] if repeat else name, text(body.get("model")) or UNNAMED
        if record.get("error") or not choices:
            yield LogRow(item_id=item, judge=judge, outcome=Outcome.FAILED)
            continue
        for choice in choices:
            message = mapping(choice.get("message"))
            reply = content_text(message.get("content")) or text(choice.get("text"))
            reply = reply and drop_moved_thought(reply, message_thought(message))
            read, reason = _reading_by_logged_ending(reply, choice.get("finish_reason"))
            if message.get("refusal") or reason == DECLINED:
                read = FreeReading(outcome=Outcome.REFUSED)
            yield LogRow(
                item_id=item, judge=judge, verdict=read.verdict, score=read.score,
                out_of=read.out_of, outcome=unless_scored(read), reply=reply,
            )  # fmt: skip


_CUT = frozenset({"length", "max_tokens", "model_length", "max_output_tokens", "incomplete"})
_BROKEN = frozenset({"abort", "aborted", "error", "cancelled", "failed"})


def _reading_by_logged_ending(reply: str | None, stated: object) -> tuple[FreeReading, str]:
    """Read a reply by how a log says that it ended, in whatever case."""
    reason = str(stated or "stop").lower()
    if reason in _BROKEN:
        return FreeReading(outcome=Outcome.FAILED), reason
    ended = "length" if reason in _CUT else "stop"
    return read_free_reply(reply or "", finish_reason=ended), reason


LM_EVAL = LogFormat(
    known=having("doc_id", "resps", "filtered_resps", "target"), read=_lm_eval, asks_again="repeats"
)
BATCH = LogFormat(known=_batch_known, read=_batch_log_judgments)


_COMPUTED = frozenset({"answer", "choice", "exact", "f1", "includes", "match", "math", "pattern"})
"""Scorers of Inspect that ask no model, whatever the role of a grader."""
_GRADES = ("model_graded_qa", "model_graded_fact")
"""Scorers of Inspect that always ask a model."""
_MODELS = frozenset({"model", "models", "grader", "judge", "model_role"})
"""Options of a scorer that name a model."""
_LETTERS = {"C": "correct", "I": "incorrect", "P": "partial", "N": "no answer"}


def _inspect_known(seen: Sight) -> bool:
    if seen.kind == "zip":
        return bool(seen.names & {"header.json", "_journal/start.json"})
    return {"eval", "status", "version"} <= seen.names


def _inspect_log_judgments(path: str) -> Iterator[LogRow]:
    """Judgments of one log of Inspect, one for each score of each epoch: ``.eval`` or JSON.

    Read from ``log/_log.py`` and ``log/_recorders/eval.py`` of inspect_ai at 499e6152: members of
    an archive are deflated, or packed by zstd (method 93 of ZIP), which Polars unpacks here.
    ``history[0]`` of a score is what the judge said; what it holds now may be a person's edit,
    which becomes a row of people. A score of several values is several criteria. An epoch asks the
    model again as well as its grader. A scorer judges where something shows that it asked a model
    (:func:`_inspect_judges`); what others computed is left out, and said. A sample without a judge
    is an answer that nobody judged. The grader is the model
    of its role, else the one that its reply names (``metadata.grading``, the prompt and the
    reply). Of a member that stands twice in an archive the last counts. A grade that Inspect could
    not read is NaN, its ``reason`` then ``grader_failed``.
    """
    with _inspect_opened(path) as (asked, samples):
        judges = _inspect_judges(asked, samples())
        left: Counter[str] = Counter()
        for sample in samples():
            scores = mapping(sample.get("scores"))
            left.update(name for name in scores if name not in judges)
            yield from _inspect_sample(sample, asked, judges)
    if left:
        names = ", ".join(f"{n} of {name}" for name, n in left.items())
        note = f"computed without a model, so no judgments, and left out: scores {names} [{path}]"
        warnings.warn(ReadingWarning(note), stacklevel=2)


_SCORERS = ("eval", "scorers")
_Samples: TypeAlias = Callable[[], Iterator[Mapping[str, object]]]


@contextmanager
def _inspect_opened(path: str) -> Iterator[tuple[Mapping[str, object], _Samples]]:
    """What was asked, by the head of a log, and its samples, as often as they are wanted."""
    if not is_zip(path):
        asked: dict[str, object] = {}
        scorers: list[object] = []
        for where, one in values(path, elements=_SCORERS):
            if where == _SCORERS:
                scorers.append(one)
            elif where[0] == "eval" and len(where) == 2:
                asked[where[1]] = one
        asked["scorers"] = scorers
        yield asked, lambda: (one for _, one in records(path, ("samples",)))
        return
    with zipped(path) as archive:
        found, n_copies = members_of(archive)
        if n_copies:
            note = f"{count_of(n_copies, 'member')} of {path} stand there again: the last counts"
            warnings.warn(ReadingWarning(note), stacklevel=4)
        names = {one.filename: one for one in found}
        start = next((names[n] for n in ("header.json", "_journal/start.json") if n in names), None)
        if start is None:
            raise SweepError("the archive is no log of Inspect", where={"file": path})
        head = mapping(member(archive, start, path, Unpacking({"file": path})))
        samples = [
            names[name]
            for name in sorted(names)
            if name.startswith("samples/")
            and (name.count("/") == 1 or name.endswith("/sample.json"))
            and name.endswith(".json")
        ]

        def read() -> Iterator[Mapping[str, object]]:
            unpacking = Unpacking({"file": path})
            return (mapping(member(archive, one, path, unpacking)) for one in samples)

        yield mapping(head.get("eval")), read


def _inspect_judges(
    asked: Mapping[str, object], samples: Iterator[Mapping[str, object]]
) -> frozenset[str]:
    """Scorers that asked a model: those of the log itself of which something shows it.

    That is an option that names a model, a record of the grading, a request to a model while the
    scorer was at work, or its name where Inspect's scorer of it always asks one. A role ``grader``
    alone shows it of scorers that are not Inspect's own, where nothing shows it of another.
    """
    shown: set[str] = set()
    for one in objects_listed(asked.get("scorers")):
        if any(mapping(one.get("options")).get(name) for name in _MODELS):
            shown.add(str(one.get("name")).rpartition("/")[2])
    seen: dict[str, None] = {}
    for sample in samples:
        scores = mapping(sample.get("scores"))
        seen.update(dict.fromkeys(scores))
        unsure = [name for name in scores if name not in shown]
        if not unsure:
            continue
        at_work = _model_scorers(sample.get("events"))
        for name in unsure:
            plain = name.rstrip("0123456789")
            first = _score_before_edits(mapping(scores[name]))
            grading = mapping(first.get("metadata")).get("grading")
            if grading or {name, plain} & ({*_GRADES} | shown | at_work):
                shown.add(name)
    if not shown.intersection(seen) and mapping(asked.get("model_roles")).get("grader"):
        shown = {name for name in seen if name.rstrip("0123456789") not in _COMPUTED}
    return frozenset(shown)


def _model_scorers(events: object) -> set[str]:
    """Scorers while which a model was asked, by the spans or steps of a sample's events."""
    found: set[str] = set()
    parents: dict[object, tuple[object, str | None]] = {}
    steps: list[str | None] = []
    for event in objects_listed(events):
        kind = event.get("event")
        scorer = (
            str(event.get("name")).rpartition("/")[2] if event.get("type") == "scorer" else None
        )
        if kind == "span_begin":
            parents[str(event.get("id"))] = (event.get("parent_id"), scorer)
        elif kind == "step" and event.get("action") == "begin":
            steps.append(scorer)
        elif kind == "step":
            steps = steps[:-1]
        elif kind == "model":
            found.update(name for name in steps if name)
            at, above = event.get("span_id"), set[object]()
            while str(at) in parents and str(at) not in above:
                above.add(str(at))
                at, name = parents[str(at)]
                found.update([name] if name else [])
    return found


def _inspect_sample(
    sample: Mapping[str, object], asked: Mapping[str, object], judges: frozenset[str]
) -> Iterator[LogRow]:
    """Judgments of one sample, or its answer that has none."""
    roles = mapping(asked.get("model_roles"))
    grader = roles.get("grader")
    role = text(mapping(grader).get("model") or grader)
    output = mapping(sample.get("output"))
    answered = LogRow(
        judge=NOBODY,
        item_id=str(sample.get("id")),
        benchmark=text(asked.get("task")),
        responder=text(asked.get("model")),
        answer=text(output.get("completion")) or text(output.get("choices") or None),
        question=conversation(sample.get("input")),
        reference=text(sample.get("target")),
    )
    scores = {name: one for name, one in mapping(sample.get("scores")).items() if name in judges}
    if not scores:
        yield replace(answered, outcome=Outcome.FAILED if sample.get("error") else None)
    for name, held in scores.items():
        score = mapping(held)
        stated = _score_before_edits(score)
        asked_grader, replied = _grading_prompt_in_log(stated)
        rows = [(role or text(replied.get("model")) or UNNAMED, stated)]
        if stated is not score and score.get("value") != stated.get("value"):
            rows.append((PEOPLE, score))
        for who, one in rows:
            value = one.get("value")
            parts = value if isinstance(value, dict) else {"": value}
            for part, single in parts.items():
                yield replace(
                    _row_with_logged_value(answered, single, one),
                    judge=who,
                    criterion=f"{name}.{part}" if part else name,
                    reply=text(replied.get("content")) or text(one.get("explanation")),
                    prompt=conversation([asked_grader]) if asked_grader else None,
                )


def _score_before_edits(score: Mapping[str, object]) -> Mapping[str, object]:
    """A score as its judge gave it: what stands there now may be a person's edit."""
    return next(iter(objects_listed(score.get("history"))), score)


def _grading_prompt_in_log(
    score: Mapping[str, object],
) -> tuple[Mapping[str, object], Mapping[str, object]]:
    """What a model that graded was asked, and its reply; of other scorers nothing."""
    grading = mapping(score.get("metadata")).get("grading")
    messages = grading if isinstance(grading, list) and len(grading) > 1 else [None, None]
    return mapping(messages[0]), mapping(messages[-1])


def _row_with_logged_value(row: LogRow, value: object, score: Mapping[str, object]) -> LogRow:
    """A row with the verdict, score or outcome of one value."""
    is_unread = isinstance(value, float) and math.isnan(value)
    if is_unread or mapping(score.get("metadata")).get("unscored_reason"):
        return replace(row, outcome=Outcome.UNPARSED)
    if isinstance(value, bool):
        return replace(row, verdict="true" if value else "false")
    number = finite_number(value)
    if isinstance(value, str) and number is None:
        return replace(row, verdict=_LETTERS.get(value, value))
    return replace(row, score=number)


INSPECT = LogFormat(known=_inspect_known, read=_inspect_log_judgments, asks_again="epochs")
