"""Grades that tools for applications keep: promptfoo, DeepEval, MLflow, Langfuse, OpenTelemetry."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain

from judgerel_ray.core import Outcome, SweepError
from judgerel_ray.importers.logs.reading import (
    NOBODY,
    PEOPLE,
    UNNAMED,
    LogFormat,
    LogRow,
    Path,
    Sight,
    conversation,
    finite_number,
    having,
    mapping,
    named_by,
    objects_listed,
    passed,
    records,
    sight,
    text,
    values,
)

_SHORT = 40  # characters of a title
_RESULTS: Path = ("results", "results")
_GRADED = frozenset({
    "llm-rubric", "agent-rubric", "g-eval", "model-graded-closedqa", "model-graded-factuality",
    "factuality", "answer-relevance", "context-faithfulness", "context-recall",
    "context-relevance", "conversation-relevance", "select-best", "search-rubric",
})  # fmt: skip
"""Assertions that a model grades; all others are computed."""
_HUMAN = "human"
_NO_ANSWER = 2  # promptfoo's `failureReason` where it got no answer to assess
_UNREAD = re.compile(
    r"could not extract json|malformed response|no output|failed to parse|not.*valid json", re.I
)
"""What promptfoo writes as the reason where it scores 0 because it could not read its grader."""


def _promptfoo_log_judgments(path: str) -> Iterator[LogRow]:
    """Judgments of promptfoo, one for each assertion that a model, or a person, graded.

    Read from the results that promptfoo 0.121.20 writes (``output.json``, ``output.jsonl``):
    ``results.results[].gradingResult.componentResults[]``, assert-sets flattened in it.
    Repeats have a ``testIdx`` each, so that what has equal variables and rubric is one item. A
    grader that cannot be read scores 0 and one that leaves out ``pass`` passes: the first is known
    by its reason, the second where PASS stands beside a score of 0. Both are no verdicts;
    nor is what has a ``graderError`` of another kind, which failed.
    """
    config = next((one for at, one in values(path) if at == ("config", "defaultTest")), None)
    default = _grader_of_options(mapping(config)) or UNNAMED
    for _, record in records(path, _RESULTS):
        yield from _promptfoo_result(record, default)


def _grader_of_options(tested: Mapping[str, object]) -> str | None:
    """The grader that the options of a test, or of all tests, name."""
    return _grader_name_in_log(mapping(tested.get("options")).get("provider"))


def _promptfoo_result(record: Mapping[str, object], default: str) -> Iterator[LogRow]:
    """Judgments of one result of promptfoo, or its answer that has none."""
    grading, test = mapping(record.get("gradingResult")), mapping(record.get("testCase"))
    components = grading.get("componentResults")
    shown = {
        name: value
        for name, value in mapping(record.get("vars") or test.get("vars")).items()
        if name != "sessionId" and not name.startswith("_")
    }
    grader = _grader_of_options(test) or default
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
    response = mapping(record.get("response"))
    answer = LogRow(
        judge=NOBODY,
        item_id=f"{title[:_SHORT]}#{named_by([shown, rubrics])}",
        responder=responder,
        answer=text(response.get("output")),
        question=text(mapping(record.get("prompt")).get("raw")),
    )
    if not assessed:
        failed = record.get("failureReason") == _NO_ANSWER or response.get("error")
        yield replace(answer, outcome=Outcome.FAILED if failed else None)
    for kind, assertion, graded in assessed:
        metric = text(assertion.get("metric")) or kind
        times[metric] += 1
        criterion = metric if times[metric] == 1 else f"{metric} {times[metric]}"
        reason, score = text(graded.get("reason")), finite_number(graded.get("score"))
        named = _grader_name_in_log(assertion.get("provider"))
        meta = mapping(graded.get("metadata"))
        outcome = None
        if kind != _HUMAN and reason and not score and _UNREAD.search(reason):
            outcome = Outcome.UNPARSED
        elif meta.get("graderError"):
            outcome = Outcome.FAILED
        elif kind != _HUMAN and graded.get("pass") is True and score == 0:
            outcome = Outcome.CONFLICTING
        yield replace(
            answer,
            judge=PEOPLE if kind == _HUMAN else named or grader,
            criterion=criterion,
            verdict=None if outcome else passed(graded.get("pass")),
            outcome=outcome,
            reply=reason,
            prompt=_grader_prompt_in_log(meta.get("renderedGradingPrompt")),
            reference=text(assertion.get("value")),
        )


def _grader_prompt_in_log(prompt: object) -> str | None:
    """What a grader was asked: a text, or messages as JSON in one."""
    try:
        return conversation(json.loads(prompt)) if isinstance(prompt, str) else conversation(prompt)
    except (ValueError, RecursionError):
        return text(prompt)


def _grader_name_in_log(provider: object) -> str | None:
    """The name of a grader: a text, or an object that names one."""
    named = mapping(provider)
    return text(named.get("label") or named.get("id") or named.get("text") or provider or None)


PROMPTFOO = LogFormat(
    known=having("promptIdx", "testIdx", inside=_RESULTS),
    read=_promptfoo_log_judgments,
    asks_again="repeats",
)


_CASES = ("testCases", "conversationalTestCases")
_DEEPEVAL: tuple[Path, ...] = (*((name,) for name in _CASES), *(("testRunData", n) for n in _CASES))
_NUMBERED = re.compile(r"(conversational_)?test_case_\d+")
_COMPUTED = frozenset({"Exact Match", "Pattern Match", "Json Correctness", "Tool Correctness"})
"""Metrics of DeepEval that ask no model for their verdict."""


def _deepeval_known(seen: Sight) -> bool:
    return any("metricsData" in mapping(seen.first.get(path)) for path in _DEEPEVAL)


def _deepeval_log_judgments(path: str) -> Iterator[LogRow]:
    """Judgments of a test run: one for each metric of a test case that a model evaluated.

    Read from ``test_run/api.py`` of deepeval at a2e0d4c (``.deepeval/.latest_run_full.json``).
    Cases without a name are numbered in each run, so that they are known by their input. Metrics
    that DeepEval computes are left out; people's own need name no model. One with an error has no
    verdict. Fields that hold nothing are not written.
    """
    for at in (one for one in _DEEPEVAL if one in sight(path).first):
        for _, case in records(path, at):
            asked = case.get("input") or case.get("turns")
            name = text(case.get("name")) or ""
            if not name or _NUMBERED.fullmatch(name):
                content = [asked, case.get("expectedOutput"), case.get("scenario")]
                name = f"{(text(asked) or 'case')[:_SHORT]}#{named_by(content)}"
            answer = LogRow(
                judge=NOBODY,
                item_id=name,
                answer=text(case.get("actualOutput") or case.get("turns")),
                question=text(asked),
                reference=text(case.get("expectedOutput")),
                context=_log_passages_text(case.get("retrievalContext") or case.get("context")),
            )
            metrics = [
                (one, judge)
                for one in objects_listed(case.get("metricsData"))
                for judge in [text(one.get("evaluationModel"))]
                if judge is not None or one.get("name") not in _COMPUTED
            ]
            if not metrics:
                yield answer
            for one, judge in metrics:
                error = text(one.get("error"))
                outcome = None
                if error:
                    unread = re.search(r"invalid json", error, re.I)
                    outcome = Outcome.UNPARSED if unread else Outcome.FAILED
                yield replace(
                    answer,
                    judge=judge or UNNAMED, criterion=text(one.get("name")), outcome=outcome,
                    verdict=None if outcome else passed(one.get("success")),
                    score=None if outcome else finite_number(one.get("score")),
                    reply=text(one.get("reason")),
                )  # fmt: skip


def _log_passages_text(parts: object) -> str | None:
    """Passages as one text."""
    return "\n\n".join(map(str, parts)) if isinstance(parts, list) else text(parts)


def _mlflow_log_traces_path(seen: Sight) -> Path:
    return ("traces",) if seen.kind == "document" and ("traces",) in seen.first else ()


def _mlflow_known(seen: Sight) -> bool:
    record = seen.record(*_mlflow_log_traces_path(seen))
    info = mapping(record.get("info"))
    return "assessments" in info or {"trace_id", "assessments"} <= record.keys()


def _mlflow_log_judgments(path: str) -> Iterator[LogRow]:
    """Judgments of traces with assessments, as ``Trace.to_dict`` of MLflow 3 writes them.

    Every run of ``evaluate`` logs traces of its own: a trace of a run is known by its request, so
    that runs are replications, any other by its id. A person's assessment that ``overrides`` a
    judge's is a row of people, and the judge's stays. Assessments by code and expectations are left
    out.
    """
    for _, record in records(path, _mlflow_log_traces_path(sight(path))):
        info = mapping(record.get("info"))
        meta = mapping(info.get("trace_metadata") or record.get("trace_metadata"))
        asked = text(
            meta.get("mlflow.traceInputs") or record.get("request") or info.get("request_preview")
        )
        answer = text(
            meta.get("mlflow.traceOutputs")
            or record.get("response")
            or info.get("response_preview")
        )
        trace = text(record.get("trace_id") or info.get("trace_id"))
        if asked and meta.get("mlflow.sourceRun"):
            trace = f"{asked[:_SHORT]}#{named_by(asked)}"
        judged = [
            (one, mapping(one.get("source")), feedback)
            for one in objects_listed(record.get("assessments") or info.get("assessments"))
            if (feedback := mapping(one.get("feedback")))
            and mapping(one.get("source")).get("source_type") != "CODE"
        ]
        row = LogRow(judge=NOBODY, item_id=trace or "", question=asked, answer=answer)
        if not judged:
            yield replace(row, outcome=Outcome.FAILED if info.get("state") == "ERROR" else None)
        for one, source, feedback in judged:
            is_person = source.get("source_type") == "HUMAN"
            yield from _log_rows_of_value(
                feedback.get("value"),
                replace(
                    row,
                    judge=PEOPLE if is_person else text(source.get("source_id")) or UNNAMED,
                    item_id=trace or text(one.get("trace_id")) or "",
                    criterion=text(one.get("assessment_name") or one.get("name")),
                    reply=text(one.get("rationale")),
                    outcome=Outcome.FAILED if feedback.get("error") else None,
                ),
            )


def _log_rows_of_value(value: object, row: LogRow) -> Iterator[LogRow]:
    """Rows of a value of any kind; of an object one for each of its fields."""
    if isinstance(value, dict):
        for part, inner in value.items():
            name = f"{row.criterion}.{part}" if row.criterion else str(part)
            yield from _log_rows_of_value(inner, replace(row, criterion=name))
    elif row.outcome:
        yield row
    elif isinstance(value, bool):
        yield replace(row, verdict=passed(value))
    elif isinstance(value, int | float):
        yield replace(row, score=finite_number(value))
    else:
        yield replace(row, verdict=text(value))


_REMARKS = frozenset({"TEXT", "CORRECTION"})


def _langfuse_log_judgments(path: str) -> Iterator[LogRow]:
    """Judgments of exported scores, as ``/api/public/v2/scores`` or ``v3`` of Langfuse gives them.

    ``ANNOTATION`` is people; ``EVAL`` a judge whose model the score does not name; ``API`` what a
    program sent, called ``api``. A boolean is its value, for version 2 alone has words beside it.
    ``TEXT`` and ``CORRECTION`` are remarks and no verdicts: left out.
    """
    for place, one in records(path, ("data",)):
        source, kind = (str(one.get(name)).upper() for name in ("source", "dataType"))
        if kind in _REMARKS:
            continue
        # What is scored is a subject since version 3 of the API, four fields before.
        where = [
            one.get(name) for name in ("traceId", "observationId", "sessionId", "datasetRunId")
        ]
        where += [mapping(one.get("subject")).get(name) for name in ("traceId", "id")]
        item = ":".join(str(part) for part in where if part)
        if not item:
            raise SweepError(
                "the score does not say what was scored",
                where={"file": path, "record": place},
                hint="ask for it: /api/public/v3/scores?fields=details,subject",
            )
        value, words = one.get("value"), text(one.get("stringValue"))
        verdict = None if kind == "NUMERIC" else words or text(value)
        if kind == "BOOLEAN" and value is not None:
            verdict = passed(bool(value))
        yield LogRow(
            judge={"ANNOTATION": PEOPLE, "API": "api"}.get(source, UNNAMED),
            item_id=item,
            criterion=text(one.get("name")),
            verdict=verdict,
            score=finite_number(value) if kind == "NUMERIC" else None,
            reply=text(one.get("comment")),
        )


_EVENT = "gen_ai.evaluation.result"
_GROUPS = (("resourceLogs", "scopeLogs", "logRecords"), ("resourceSpans", "scopeSpans", "spans"))


def _otel_known(seen: Sight) -> bool:
    record = seen.record()
    lists = {path[0] for path in seen.first if path} | record.keys()
    console = {"trace_id", "span_id"} <= {**record, **mapping(record.get("context"))}.keys()
    return (
        bool(lists & {group[0] for group in _GROUPS})
        or console
        or _otel_log_event_name(record) == _EVENT
    )


def _otel_log_event_name(record: Mapping[str, object]) -> object:
    """The name of an event, an attribute before SDK 1.39."""
    named = record.get("eventName") or record.get("event_name")
    return (
        named
        or _otel_log_attributes(record.get("attributes")).get("event.name")
        or record.get("name")
    )


def _otel_log_judgments(path: str) -> Iterator[LogRow]:
    """Judgments of events ``gen_ai.evaluation.result``: OTLP as JSON, one event a line, consoles.

    Read from the semantic conventions of OpenTelemetry for generative AI: ``score.label`` is a
    verdict and ``score.value`` a score, ``error.type`` says that there is neither. The evaluator
    has no attribute of its own. What is judged is the response, else the span. Splunk's emitter
    labels ``unknown`` what its evaluator did not label: no verdict.
    """
    seen = sight(path)
    at = [group[:1] for group in _GROUPS if group[:1] in seen.first]
    found: Iterable[Mapping[str, object]] = (record for _, record in records(path))
    if seen.kind == "document" and at:
        found = ({one[0]: [part]} for one in at for _, part in records(path, one))
    for record in found:
        for event in _otel_log_events(record):
            stated = _otel_log_attributes(event.get("attributes"))
            failed = stated.get("error.type") is not None
            value = stated.get("gen_ai.evaluation.score.value")
            label = text(stated.get("gen_ai.evaluation.score.label"))
            if label == "unknown" and stated.get("gen_ai.operation.name") == "evaluation":
                label = None
            yield LogRow(
                item_id=text(stated.get("gen_ai.response.id")) or _log_record_span(event),
                criterion=text(stated.get("gen_ai.evaluation.name")),
                verdict=None if failed else label,
                score=None if failed else finite_number(value),
                outcome=Outcome.FAILED if failed else None,
                reply=text(stated.get("gen_ai.evaluation.explanation")),
            )


def _log_record_span(record: Mapping[str, object]) -> str:
    """The span of a record, else its trace; ids of zeros alone are none."""
    found = {**record, **mapping(record.get("context"))}
    ids = (text(found.get(name)) or "" for name in ("spanId", "span_id", "traceId", "trace_id"))
    return next((one for one in ids if one.strip("0x")), "")


def _otel_log_events(record: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    """Events of evaluation in a record of OTLP, or in the span or record that is one."""
    held = (
        objects_listed(within.get(inner))
        for outer, scope, inner in _GROUPS
        for group in objects_listed(record.get(outer))
        for within in objects_listed(group.get(scope))
    )
    for one in chain([record], chain.from_iterable(held)):
        if _otel_log_event_name(one) == _EVENT:
            yield one
        for event in objects_listed(one.get("events")):
            if _otel_log_event_name(event) == _EVENT:
                yield {**event, "spanId": _log_record_span(one)}


def _otel_log_attributes(raw: object) -> dict[str, object]:
    """Attributes by name, of OTLP's list of keys and values, too."""
    if isinstance(raw, dict):
        return raw
    return {
        str(one.get("key")): next(iter(mapping(one.get("value")).values()), None)
        for one in objects_listed(raw)
    }


DEEPEVAL = LogFormat(known=_deepeval_known, read=_deepeval_log_judgments, asks_again="runs")
MLFLOW = LogFormat(known=_mlflow_known, read=_mlflow_log_judgments, asks_again="runs")
LANGFUSE = LogFormat(
    known=having("name", "dataType", "source", inside=("data",)), read=_langfuse_log_judgments
)
OPENTELEMETRY = LogFormat(known=_otel_known, read=_otel_log_judgments)
