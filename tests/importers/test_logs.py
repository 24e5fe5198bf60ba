"""Logs of evaluation tools: what becomes of each record, what is said, what is refused.

Fixtures are written to the schema of each tool; none is copied from another project.
"""

from __future__ import annotations

import json
import struct
import zipfile

import polars as pl
import pytest

from judgerel_ray.cli import main
from judgerel_ray.core import ReadingWarning, SweepError
from judgerel_ray.importers.logs.collect import LOG_FORMATS, detect_log_format, import_logs
from judgerel_ray.importers.logs.reading import records


def lines(*records):
    """Records, one a line."""
    return "\n".join(json.dumps(one) for one in records) + "\n"


def promptfoo_result(test, *components, output="4"):
    """One result of promptfoo."""
    return {
        "promptIdx": 0, "testIdx": test, "vars": {"q": "2+2?", "sessionId": f"s{test}"},
        "provider": {"id": "openai:m", "label": ""}, "response": {"output": output},
        "testCase": {"options": {"provider": "openai:grader"}}, "success": True,
        "gradingResult": {"pass": True, "score": 1, "componentResults": list(components)},
    }  # fmt: skip


def graded(kind, passes, score, reason="because"):
    """One component of a promptfoo result."""
    assertion = {"type": kind, "value": "is right"}
    return {"assertion": assertion, "pass": passes, "score": score, "reason": reason}


PROMPTFOO = {
    "evalId": "e",
    "results": {"version": 3, "prompts": [{"raw": "{{q}}"}], "results": [
        promptfoo_result(0, graded("llm-rubric", True, 1), graded("equals", True, 1)),
        promptfoo_result(1, graded("llm-rubric", False, 0), graded("human", True, 1)),
        promptfoo_result(2, graded("llm-rubric", False, 0, "Could not extract JSON from it")),
        promptfoo_result(3, graded("llm-rubric", True, 0), output="5"),
    ]},
    "config": {"description": "d"},
}  # fmt: skip


def sample(number, epoch, value, **more):
    """One sample of Inspect."""
    return {
        "id": number, "epoch": epoch, "input": "q", "output": {"completion": f"a{epoch}"},
        "scores": {
            "model_graded_qa": {"value": value, "explanation": "x", **more},
            "match1": {"value": "C"},
        },
    }  # fmt: skip


EVAL = {"task": "t", "model": "m", "model_roles": {"grader": {"model": "g"}}}
SAMPLES = [
    sample(1, 1, "C"),
    sample(1, 2, "I"),
    sample(2, 1, "C", history=[{"value": "I"}, {"value": "C"}]),
    sample(2, 2, {"fluent": 4, "true": float("nan")}),
]
INSPECT = {
    "version": 2, "status": "success", "eval": EVAL, "plan": {"steps": []}, "samples": SAMPLES,
}  # fmt: skip
DEEPEVAL = {
    "testFile": "t.py",
    "testCases": [
        {"name": f"test_case_{n}", "input": "q", "actualOutput": "a", "metricsData": [
            {"name": "GEval", "success": ok, "score": 0.7, "evaluationModel": "g", "error": error},
            {"name": "Exact Match", "success": True, "score": 1.0, "evaluationModel": None},
        ]}
        for n, ok, error in ((0, True, None), (1, None, "Evaluation LLM outputted an invalid JSON"))
    ],
    "conversationalTestCases": [],
}  # fmt: skip


def assessment(name, kind, who, value, **more):
    """One assessment of MLflow."""
    source = {"source_type": kind, "source_id": who}
    return {"assessment_name": name, "source": source, "feedback": {"value": value}, **more}


MLFLOW = lines(
    {"info": {"trace_id": "tr-1", "assessments": [
        assessment("right", "LLM_JUDGE", "g", True, assessment_id="a", valid=False),
        assessment("right", "HUMAN", "ann@x", False, overrides="a"),
        assessment("long", "CODE", "len", 3),
        {"assessment_name": "expected", "source": {"source_type": "HUMAN"}, "expectation": {}},
    ]}, "data": {}}
)  # fmt: skip


def langfuse(source, kind, value, words=None):
    """One score of Langfuse."""
    return {"id": f"{source}{kind}", "traceId": "t", "name": f"as {kind}", "source": source,
            "dataType": kind, "value": value, "stringValue": words}  # fmt: skip


LANGFUSE = {"data": [
    langfuse("EVAL", "NUMERIC", 0.5), langfuse("ANNOTATION", "CATEGORICAL", None, "good"),
    langfuse("EVAL", "BOOLEAN", 1),
], "meta": {"page": 1}}  # fmt: skip
LM_EVAL = lines(
    {"doc_id": 0, "doc": {}, "target": "4", "resps": [["a 4", "a 5"]], "filter": "strict",
     "filtered_resps": [["4", "5"]], "metrics": ["exact_match"], "exact_match": [1.0, 0.0]},
    {"doc_id": 1, "doc": {}, "target": "1", "resps": [[["-2", "False"]], [["-1", "True"]]],
     "filter": "none", "filtered_resps": [["-2.0", "False"], ["-1.0", "True"]],
     "metrics": ["acc"], "acc": 1.0},
)  # fmt: skip
SINGLE = {"question_id": 81, "model": "m", "judge": ["g", "single-v1"], "user_prompt": "p",
          "judgment": "Rating: [[7]]", "score": 7, "turn": 1, "tstamp": 1.0}  # fmt: skip
FASTCHAT_SINGLE = lines(SINGLE, {**SINGLE, "score": -1}, {**SINGLE, "turn": 2, "score": 3})
PAIR = {"question_id": 81, "model_1": "m", "model_2": "n", "g1_winner": "model_1",
        "g2_winner": "model_1", "judge": ["g", "pair-v2"], "g1_judgment": "[[A]]",
        "g2_judgment": "[[B]]", "turn": 1}  # fmt: skip
FASTCHAT_PAIR = lines(PAIR, {**PAIR, "question_id": 82, "g1_winner": "tie", "g2_winner": "error"})
ARENA_2024 = lines(
    {"question_id": "a", "model": "m", "judge": "g", "games": [
        {"user_prompt": "p", "judgment": "My verdict is [[A>>B]]", "score": "A>>B"},
        {"user_prompt": "p", "judgment": "[[A>B]] or [[B>A]]", "score": "A>B"}]}
)  # fmt: skip
ARENA_2025 = lines(
    {"uid": "b", "category": "hard", "model": "m", "baseline": "o3", "judge": "g", "games": [
        {"score": "B>A", "judgment": {"answer": "[[B>A]]"}, "prompt": []}, None]}
)  # fmt: skip
ARENA_SINGLE = lines(
    {"question_id": "c", "model": "m", "judge": "g", "games": [{"judgment": "5", "score": 5}]}
)
ALPACA = [
    {"dataset": "d", "instruction": "i", "output_1": "x", "generator_1": "base", "output_2": "y",
     "generator_2": "m", "annotator": "g", "preference": p, "raw_completion": "m"}
    for p in (1.0, 1.5, float("nan"), 1.98)
]  # fmt: skip
EVENT = {
    "eventName": "gen_ai.evaluation.result", "spanId": "s1",
    "attributes": [
        {"key": "gen_ai.evaluation.name", "value": {"stringValue": "Relevance"}},
        {"key": "gen_ai.evaluation.score.value", "value": {"doubleValue": 0.8}},
        {"key": "gen_ai.evaluation.score.label", "value": {"stringValue": "relevant"}},
    ],
}  # fmt: skip
OTEL_LOGS = lines({"resourceLogs": [{"scopeLogs": [{"logRecords": [EVENT, {"body": {}}]}]}]})
OTEL_SPANS = {
    "resourceSpans": [
        {
            "scopeSpans": [
                {
                    "spans": [
                        {
                            "spanId": "s2",
                            "name": "chat",
                            "events": [
                                {
                                    "name": "gen_ai.evaluation.result",
                                    "attributes": [
                                        {"key": "error.type", "value": {"stringValue": "timeout"}}
                                    ],
                                }
                            ],
                        }
                    ]
                }
            ]
        }
    ]
}


def batch(name, content, **more):
    """One line of a batch's output."""
    choice = {"index": 0, "message": {"content": content}, "finish_reason": "stop", **more}
    body = {"model": "g", "choices": [choice]}
    return {"custom_id": name, "response": {"status_code": 200, "body": body}, "error": None}


BATCH = lines(
    batch("q1-r1", "So: [[A]]"), batch("q1-r0", '{"verdict": "B"}'), batch("q2-r0", "Verdict: A"),
    batch("q3-r0", "hm, well", finish_reason="length"),
    {"custom_id": "q4-r0", "response": None, "error": {"code": "expired"}},
)  # fmt: skip
PROMETHEUS = lines(
    {"instruction": "i", "response": "r", "human_score": [3, 4],
     "prometheus_output": ["good [RESULT] 4", "what stood before it", "bad [RESULT] 0"],
     "prometheus_score": [4, 1, 3]}
)  # fmt: skip
BIGGEN = {"x_0": {"id": "x_0", "capability": "planning", "task": "t", "instance_idx": 0,
                  "response_model_name": "m", "response": "r", "score": "4",
                  "eval_model_name": "g"}}  # fmt: skip
UNITXT = [
    {"source": "s", "task_data": {"q": 1}, "good": 1.0, "good_selected_option": "Yes",
     "good_option_selection_completion": "I choose Yes.", "good_positional_bias": True,
     "good_positional_bias_selected_option": "No",
     "good_positional_bias_option_selection_completion": "Perhaps."}
]  # fmt: skip
DIRECT = {
    "criteria": {"name": "clear", "options": [{"name": "Yes", "score": 1},
                                               {"name": "No", "score": 0}]},
    "instance": {"fields": {"text": "t"}}, "selected_option": "Yes", "score": 1.0,
    "metadata": {"self_consistency": {"selected_options": ["Yes", "No"]}},
    "positional_bias": {"detected": True, "result": {
        "selected_option": "No", "metadata": {"generation_failed": True}}},
}  # fmt: skip

SCORED = "scored"
LOGS = {
    ("promptfoo", "results.json"): PROMPTFOO,
    ("promptfoo", "results.jsonl"): lines(*PROMPTFOO["results"]["results"]),
    ("inspect", "log.json"): INSPECT,
    ("deepeval", "latest.json"): DEEPEVAL,
    ("mlflow", "traces.jsonl"): MLFLOW,
    ("langfuse", "scores.json"): LANGFUSE,
    ("langfuse", "scores.jsonl"): lines(*LANGFUSE["data"]),
    ("lm_eval", "samples_gsm_2026-01-01T00.jsonl"): LM_EVAL,
    ("fastchat", "g_single.jsonl"): FASTCHAT_SINGLE,
    ("fastchat", "g_pair.jsonl"): FASTCHAT_PAIR,
    ("arena_hard", "2024.jsonl"): ARENA_2024,
    ("arena_hard", "2025.jsonl"): ARENA_2025,
    ("arena_hard", "single.jsonl"): ARENA_SINGLE,
    ("alpaca_eval", "annotations.json"): ALPACA,
    ("opentelemetry", "logs.jsonl"): OTEL_LOGS,
    ("opentelemetry", "spans.json"): OTEL_SPANS,
    ("batch", "output.jsonl"): BATCH,
    ("prometheus", "data_output.json"): PROMETHEUS,
    ("biggen", "sample_evals.json"): BIGGEN,
    ("biggen", "one.json"): BIGGEN["x_0"],
    ("biggen", "list.json"): list(BIGGEN.values()),
    ("unitxt", "instances.json"): UNITXT,
    ("evalassist", "results.json"): [DIRECT],
}
# judge, verdict, score, outcome of each row, in order.
EXPECTED = {
    "promptfoo": [
        ("openai:grader", "pass", None, None), ("openai:grader", "fail", None, None),
        ("people", "pass", None, None), ("openai:grader", None, None, "unparsed"),
        ("openai:grader", None, None, "conflicting"),
    ],
    "inspect": [
        ("g", "correct", None, None), ("g", "incorrect", None, None),
        ("g", "incorrect", None, None), ("people", "correct", None, None),
        ("g", None, 4.0, None), ("g", None, None, "unparsed"),
    ],
    "deepeval": [("g", "pass", 0.7, None), ("g", None, None, "unparsed")],
    "mlflow": [("g", "pass", None, None), ("people", "fail", None, None)],
    "langfuse": [
        ("unnamed", None, 0.5, None), ("people", "good", None, None),
        ("unnamed", "pass", None, None),
    ],
    "lm_eval": [
        ("logs", "4", None, None), ("logs", "5", None, None), ("logs", None, 1.0, None),
        ("logs", None, 0.0, None), ("logs", "1", None, None), ("logs", None, 1.0, None),
    ],
    "g_single.jsonl": [("g", None, 7.0, None), ("g", None, None, None), ("g", None, 3.0, None)],
    "g_pair.jsonl": [
        ("g", "m", None, None), ("g", "m", None, None), ("g", "tie", None, None),
        ("g", None, None, None),
    ],
    "2024.jsonl": [("g", "gpt-4-0314", None, None), ("g", None, None, "conflicting")],
    "2025.jsonl": [("g", "m", None, None), ("g", None, None, "failed")],
    "single.jsonl": [("g", None, 5.0, None)],
    "alpaca_eval": [
        ("g", "base", None, None), ("g", "tie", None, None), ("g", None, None, None),
        ("g", "m", None, None),
    ],
    "logs.jsonl": [("unnamed", "relevant", 0.8, None)],
    "spans.json": [("unnamed", None, None, "failed")],
    "batch": [
        ("g", "A", None, None), ("g", "B", None, None), ("g", "A", None, None),
        ("g", None, None, "truncated"), ("g", None, None, "failed"),
    ],
    "prometheus": [
        ("logs", None, 4.0, None), ("logs", None, 1.0, None), ("logs", None, 0.0, None),
        ("people", None, 3.0, None), ("people", None, 4.0, None),
    ],
    "biggen": [("g", None, 4.0, None)],
    "unitxt": [("unnamed", "Yes", None, None), ("unnamed", None, None, "unparsed")],
    "evalassist": [
        ("unnamed", "Yes", 1.0, None), ("unnamed", "No", 0.0, None),
        ("unnamed", None, None, "unparsed"),
    ],
}  # fmt: skip
EACH = pytest.mark.parametrize("log", LOGS, ids="-".join)
quiet = pytest.mark.filterwarnings("ignore::judgerel_ray.core.ReadingWarning")


@pytest.fixture
def written(tmp_path):
    """Write one of the logs."""

    def write(log, content=None):
        folder = tmp_path / "logs"
        folder.mkdir(exist_ok=True)
        given = LOGS[log] if content is None else content
        file = folder / log[1]
        file.write_text(given if isinstance(given, str) else json.dumps(given))
        return str(file)

    return write


@quiet
@EACH
def test_each_record_becomes_what_was_said(log, written):
    found = import_logs(log[0], [written(log)])
    names = ("verdict", "score", "outcome")
    gone = [pl.lit(None).alias(name) for name in names if name not in found.columns]
    rows = found.with_columns(gone).select("judge", *names).rows()
    assert rows == EXPECTED.get(log[1]) or rows == EXPECTED.get(log[0])


@EACH
def test_the_format_is_found_and_no_other(log, written):
    assert detect_log_format(written(log)) == log[0]


@pytest.mark.slow
@EACH
def test_what_is_written_is_measured(log, written, tmp_path):
    out = str(tmp_path / "j.parquet")
    assert main(["import", "auto", written(log), "--out", out]) == 0
    assert main(["reduce", out]) == 0


def test_a_log_is_measured_from_the_command_line(written, tmp_path, capsys):
    out = str(tmp_path / "j.parquet")
    log = written(("promptfoo", "results.json"))
    assert main(["import", "auto", log, "--out", out]) == 0
    assert "wrote 5 judgments" in capsys.readouterr().out
    assert main(["reduce", out]) == 0
    assert "openai:grader" in capsys.readouterr().out


@EACH
def test_a_file_that_is_cut_off_is_refused(log, written, tmp_path, capsys):
    given = LOGS[log] if isinstance(LOGS[log], str) else json.dumps(LOGS[log])
    path = written(log, given.rstrip()[:-2])
    out = tmp_path / "j.parquet"
    assert main(["import", log[0], path, "--out", str(out)]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "cut off" in err
    assert not out.exists()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "the file is empty"), ("hello", "expected records of JSON"),
        ('{"a": 1 2}', "not JSON"), ("[" * 100_000, "cut off|nested too deep"),
        ('{"a": 1}', "the log is none of"), ("[]", "the log is none of"),
    ],
)  # fmt: skip
def test_what_is_no_log_is_refused(content, problem, tmp_path):
    file = tmp_path / "log.json"
    file.write_text(content)
    with pytest.raises(SweepError, match=problem):
        import_logs("auto", [str(file)])


@quiet
@pytest.mark.parametrize(
    "log", [("langfuse", "scores.json"), ("biggen", "sample_evals.json"), ("unitxt", "i.json")]
)
def test_a_second_document_behind_the_first_is_not_lost(log, written):
    content = {"langfuse": LANGFUSE, "biggen": BIGGEN, "unitxt": UNITXT}
    path = written(log, json.dumps(content[log[0]]) + "\n[1]")
    with pytest.raises(SweepError, match="more stands behind its end"):
        import_logs(log[0], [path])


def test_a_format_is_found_behind_hundreds_of_prompts(tmp_path):
    file = tmp_path / "log.json"
    results = {**PROMPTFOO["results"], "prompts": [{"raw": f"{n}"} for n in range(500)]}
    del results["results"]
    results["results"] = PROMPTFOO["results"]["results"]
    file.write_text(json.dumps({"evalId": "e", "results": results}))
    assert detect_log_format(str(file)) == "promptfoo"


def test_a_named_format_is_not_taken_for_another(written):
    with pytest.raises(SweepError, match="no log of promptfoo"):
        import_logs("promptfoo", [written(("batch", "output.jsonl"))])


def test_repeats_that_the_format_hides_are_numbered_and_their_confounding_said(written):
    with pytest.warns(ReadingWarning) as told:
        found = import_logs("promptfoo", [written(("promptfoo", "results.json"))])
    assert found["item_id"].n_unique() == 1
    judged = found.filter(pl.col("judge") != "people")
    assert judged["replication"].to_list() == [0, 1, 2, 3]
    said = [str(one.message) for one in told]
    assert said == [
        "1 of 1 items judged more than once hold another answer each time (promptfoo repeats ask "
        "the model again): there the model's variance and the judge's are together; judgerel items "
        "log PATH --out items.parquet keeps the answers, so that a sweep judges each again",
        "1 ratings by people are rows of the judge people",
        "no verdict of a judge: 1 conflicting, 1 unparsed",
    ]


def test_a_score_of_langfuse_without_what_was_scored_is_refused(written, tmp_path, capsys):
    """As version 3 of the API gives it where nobody asks for the subject."""
    score = langfuse("EVAL", "BOOLEAN", True)
    del score["traceId"]
    log = ("langfuse", "scores.json")
    path = written(log, {"data": [langfuse("EVAL", "BOOLEAN", 1), score]})
    assert main(["import", "auto", path, "--out", str(tmp_path / "j.parquet")]) == 2
    assert capsys.readouterr().err == (
        f"judgerel: the score does not say what was scored [file={path}, record=2]. "
        "Try: ask for it: /api/public/v3/scores?fields=details,subject\n"
    )


@quiet
@pytest.mark.parametrize(("run", "expected"), [("r", [0, 1]), (None, [0, 0])])
def test_runs_of_mlflow_are_replications_and_other_traces_are_items(written, run, expected):
    """As `mlflow.genai.evaluate` logs a trace of its own for each row of each run."""
    meta = {"mlflow.traceInputs": '{"q": 1}'} | ({"mlflow.sourceRun": run} if run else {})
    traces = [
        {"info": {"trace_id": f"tr-{n}", "trace_metadata": meta,
                  "assessments": [assessment("right", "LLM_JUDGE", "g", n > 0)]}}
        for n in range(2)
    ]  # fmt: skip
    found = import_logs("auto", [written(("mlflow", "traces.jsonl"), lines(*traces))])
    assert found["replication"].to_list() == expected


@quiet
def test_a_metric_of_ones_own_is_a_judge_without_a_name(written):
    """As deepeval writes it: no field for what is None."""
    case = {"name": "c0", "input": "q", "metricsData": [
        {"name": "Mine", "success": True, "score": 1.0, "threshold": 0.5}]}  # fmt: skip
    found = import_logs("auto", [written(("deepeval", "latest.json"), {"testCases": [case]})])
    assert found.select("judge", "criterion", "verdict").rows() == [("unnamed", "Mine", "pass")]


@quiet
def test_both_orders_of_a_pair_are_one_unit_with_the_place_that_won(written):
    found = import_logs("auto", [written(("fastchat", "g_pair.jsonl"))])
    assert found.select("item_id", "option_order", "label").rows() == [
        ("81", 0, "A"), ("81", 1, "B"), ("82", 0, None), ("82", 1, None)
    ]  # fmt: skip


@pytest.mark.parametrize(("second", "n"), [("no", 2), ("yes", None)])
@pytest.mark.filterwarnings("ignore:no verdict of a judge")
def test_two_predictions_of_unitxt_on_one_question_are_two_answers(written, second, n):
    judged = [{**UNITXT[0], "prediction": one} for one in ("yes", second)]
    path = written(("unitxt", "instances.json"), judged)
    if n is None:
        assert "n_answers" not in import_logs("auto", [path]).columns
        return
    with pytest.warns(ReadingWarning, match="hold another answer each time"):
        found = import_logs("auto", [path])
    assert found["n_answers"].to_list() == [n] * 4


@quiet
def test_repeats_of_a_batch_are_found_in_its_names(written):
    found = import_logs("auto", [written(("batch", "output.jsonl"))], judge="j")
    rows = found.select("judge", "item_id", "replication").rows()
    assert rows[:2] == [("g", "q1", 0), ("g", "q1", 1)]
    assert rows[-1] == ("j", "q4", 0)


@quiet
def test_a_pattern_reads_files_as_replications_and_none_twice(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text(FASTCHAT_SINGLE + ("" if name == "a" else "\n"))
    found = import_logs("auto", [str(tmp_path / "*.jsonl")])
    assert found.filter(item_id="81")["replication"].to_list() == [0, 1, 2, 3]
    (tmp_path / "c.jsonl").write_text(FASTCHAT_SINGLE)
    with pytest.raises(SweepError, match="two files hold the same"):
        import_logs("auto", [str(tmp_path)])


def archive(path, zstd):
    """An ``.eval`` of Inspect, its members deflated or packed by zstd."""
    members = {"header.json": {"version": 2, "status": "success", "eval": EVAL}}
    members |= {f"samples/{s['id']}_epoch_{s['epoch']}.json": s for s in SAMPLES}
    if not zstd:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
            for name, document in members.items():
                packed.writestr(name, json.dumps(document, indent=1))
        return
    import pyarrow as pa

    # Stored by a name of the method that Python cannot write: the headers are mended behind it.
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as packed:
        for name, document in members.items():
            text = json.dumps(document, indent=1).encode()
            packed.writestr(name, pa.compress(text, codec="zstd", asbytes=True))
        places = [(one.header_offset, packed.start_dir) for one in packed.infolist()]
    content = bytearray(path.read_bytes())
    for offset, _ in places:
        content[offset + 8 : offset + 10] = struct.pack("<H", 93)
    at = content.find(b"PK\x01\x02")
    while at >= 0:
        content[at + 10 : at + 12] = struct.pack("<H", 93)
        at = content.find(b"PK\x01\x02", at + 4)
    path.write_bytes(bytes(content))


@quiet
@pytest.mark.parametrize("zstd", [False, True])
def test_archives_of_inspect_are_read_however_they_are_packed(tmp_path, zstd):
    file = tmp_path / "log.eval"
    archive(file, zstd)
    found = import_logs("auto", [str(file)])
    rows = found.select("judge", "verdict", "score").rows()
    assert rows == [one[:3] for one in EXPECTED["inspect"]]
    content = file.read_bytes()
    for damaged in (
        content[: len(content) // 2],
        content.replace(b"\x28\xb5\x2f\xfd", b"\0\0\0\0"),
    ):
        file.write_bytes(damaged)
        if damaged != content:
            with pytest.raises(SweepError, match="damaged"):
                import_logs("inspect", [str(file)])


def test_every_format_has_a_fixture():
    assert {name for name, _ in LOGS} == set(LOG_FORMATS)


@pytest.mark.slow
def test_records_are_read_one_at_a_time(tmp_path):
    file = tmp_path / "log.json"
    file.write_text('{"rows": [' + '{"a": "x"}, ' * 120_000 + '{"a"')
    found = records(str(file), ("rows",))
    assert [next(found) for _ in range(2)] == [(1, {"a": "x"}), (2, {"a": "x"})]
    with pytest.raises(SweepError, match="cut off"):
        list(found)


@pytest.mark.slow
def test_a_record_longer_than_what_is_read_at_once_is_whole(tmp_path):
    file = tmp_path / "log.jsonl"
    file.write_text(lines({"a": "é" * 3_000_000}, {"b": 12345}))
    assert [len(str(one)) for _, one in records(str(file))] == [3_000_009, 12]


def test_failures_that_name_no_judge_are_of_the_only_judge_of_the_log(tmp_path):
    choice = {"message": {"content": "[[A]]"}}
    good = {"custom_id": "q1-r0", "response": {"body": {"model": "j", "choices": [choice]}}}
    bad = {"custom_id": "q1-r1", "response": None, "error": {"code": "expired"}}
    (tmp_path / "out.jsonl").write_text(f"{json.dumps(good)}\n{json.dumps(bad)}\n")
    with pytest.warns(ReadingWarning, match="1 failed"):
        found = import_logs("auto", [str(tmp_path / "out.jsonl")])
    assert found.select("item_id", "judge", "outcome", "replication").rows() == [
        ("q1", "j", None, 0), ("q1", "j", "failed", 1),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ({"message": {"content": [{"type": "text", "text": "Score: 4"}]}}, (4.0, "scored")),
        (
            {"message": {"content": [{"type": "thinking", "thinking": "Score: 1"},
                                     {"type": "text", "text": "Score: 4"}]}},
            (4.0, "scored"),
        ),
        ({"message": {"content": "Score: 1\nScore: 4", "reasoning_content": "Score: 1"}},
         (4.0, "scored")),
        ({"message": {"content": "Score: 1"}, "finish_reason": "LENGTH"}, (None, "truncated")),
        ({"message": {"content": "Score: 1"}, "finish_reason": "max_output_tokens"},
         (None, "truncated")),
        ({"message": {"content": "Score: 1"}, "finish_reason": "content_filter"},
         (None, "refused")),
        ({"message": {"content": "Score: 1"}, "finish_reason": "abort"}, (None, "failed")),
        ({"message": {"content": None, "reasoning_content": "Score: 1"}, "finish_reason": "length"},
         (None, "truncated")),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:no verdict of a judge")
def test_choices_of_a_batch_are_read_as_servers_write_them(tmp_path, choice, expected):
    file = tmp_path / "out.jsonl"
    body = {"model": "j", "choices": [choice]}
    known = {"model": "j", "choices": [{"message": {"content": "Score: 5"}}]}
    file.write_text(lines(
        {"custom_id": "q1", "response": {"body": body}},
        {"custom_id": "q2", "response": {"body": known}},
    ))  # fmt: skip
    row = import_logs("auto", [str(file)]).row(0, named=True)
    assert (row["score"], row.get("outcome") or "scored") == expected
