"""Logs that their tools wrote: every verdict is the one that was put into the judge's mouth."""

from pathlib import Path

import polars as pl
import pytest

from judgerel_ray.cli import main
from judgerel_ray.importers.logs.asked import log_items
from judgerel_ray.importers.logs.collect import detect_log_format, import_logs
from judgerel_ray.measuring.reliability import reduce_judgments

LOGS = Path(__file__).parent / "logs"
EVENTS = [
    ("chatcmpl-1", "unnamed", 0, "relevant", None),
    ("chatcmpl-1", "unnamed", 1, "relevant", None),
    ("chatcmpl-2", "unnamed", 0, "not_relevant", None),
    ("chatcmpl-2", "unnamed", 1, None, "failed"),
]
SCORES = [
    ("trace-1", "unnamed", 0, "pass", None),
    ("trace-1", "unnamed", 1, "fail", None),
    ("trace-2:obs-1", "unnamed", 0, "polite", None),
    ("trace-2:obs-1", "unnamed", 0, "0.75", None),
    ("trace-1", "people", 0, "fail", None),
    ("session-1", "api", 0, "rude", None),
]
SAID = {
    "inspect-0.3.285.eval": [
        ("capital", "mockllm/grader", 0, "partial", None),
        ("capital", "mockllm/grader", 1, "incorrect", None),
        ("sum", "mockllm/grader", 0, "correct", None),
        ("sum", "mockllm/grader", 1, None, "unparsed"),
    ],
    "promptfoo-0.121.20.jsonl": [
        ("2 + 2?", "file://grader.js", 0, "pass", None),
        ("2 + 2?", "file://grader.js", 1, "fail", None),
        ("2 + 2?", "file://grader.js", 2, None, "unparsed"),
        ("The capital of France?", "file://grader.js", 0, "pass", None),
        ("The capital of France?", "file://grader.js", 1, "pass", None),
        ("The capital of France?", "file://grader.js", 2, "fail", None),
    ],
    "mlflow-3.17.2.jsonl": [
        ('{"q": "The capital of France?"}', "tiny-judge", 0, None, "failed"),
        ('{"q": "2 + 2?"}', "tiny-judge", 0, "fail", None),
        ('{"q": "The capital of France?"}', "tiny-judge", 1, "pass", None),
        ('{"q": "2 + 2?"}', "tiny-judge", 1, "pass", None),
        ('{"q": "2 + 2?"}', "people", 0, "fail", None),
    ],
    "alpaca_eval-0.6.6.json": [
        ("c8b1ddca4497", "alpaca_eval_gpt4", 0, None, None),
        ("25a4d535dd58", "alpaca_eval_gpt4", 0, "base", None),
        ("240fc03c67cb", "alpaca_eval_gpt4", 0, "mine", None),
    ],
    "fastchat-0e6d3e4-single.jsonl": [
        ("1", "gpt-4", 0, "1.0", None),
        ("1", "gpt-4", 0, "10.0", None),
        ("2", "gpt-4", 0, None, None),
        ("2", "gpt-4", 0, None, "conflicting"),
        ("1:turn2", "gpt-4", 0, "8.5", None),
        ("1:turn2", "gpt-4", 0, "9.0", None),
        ("2:turn2", "gpt-4", 0, None, "failed"),
        ("2:turn2", "gpt-4", 0, "10.0", None),
    ],
    "fastchat-0e6d3e4-pair.jsonl": [
        ("1", "gpt-4", 0, "bee", None),
        ("1", "gpt-4", 0, "ant", None),
        ("2", "gpt-4", 0, "bee", None),
        ("2", "gpt-4", 0, "bee", None),
        ("1:turn2", "gpt-4", 0, "ant", None),
        ("1:turn2", "gpt-4", 0, "tie", None),
        ("2:turn2", "gpt-4", 0, None, "conflicting"),
        ("2:turn2", "gpt-4", 0, None, "failed"),
    ],
    "arena_hard-196f6b8.jsonl": [
        ("u1", "gpt-4.1", 0, "ant", None),
        ("u1", "gpt-4.1", 0, "o3-mini-2025-01-31", None),
        ("u2", "gpt-4.1", 0, None, "conflicting"),
        ("u2", "gpt-4.1", 0, "tie", None),
        ("u3", "gpt-4.1", 0, "gemini-2.0-flash-001", None),
        ("u3", "gpt-4.1", 0, None, None),
        ("u4", "gpt-4.1", 0, None, "failed"),
        ("u4", "gpt-4.1", 0, "ant", None),
    ],
    "batch-vllm-0.32.0.jsonl": [
        ("capital", "tiny", 0, None, "truncated"),
        ("capital", "tiny", 1, None, "truncated"),
        ("sum", "tiny", 0, None, "truncated"),
        ("sum", "tiny", 1, None, "truncated"),
        ("sum", "tiny", 2, None, "truncated"),
        ("bad", "tiny", 0, None, "failed"),
    ],
    "lm_eval-0.4.13.jsonl": [
        ("0", "logs", 0, "Paris", None),
        ("0", "logs", 1, "Lyon", None),
        ("0", "logs", 2, "Paris", None),
        ("0", "logs", 0, "0.6666666666666666", None),
        ("1", "logs", 0, "4", None),
        ("1", "logs", 1, "four", None),
        ("1", "logs", 2, "4", None),
        ("1", "logs", 0, "0.6666666666666666", None),
    ],
    "deepeval-4.3.1.json": [
        ("2 + 2?", "tiny-judge", 0, "pass", None),
        ("2 + 2?", "tiny-judge", 1, "fail", None),
        ("The capital of France?", "tiny-judge", 0, None, "unparsed"),
        ("The capital of France?", "tiny-judge", 1, "pass", None),
        ("The colour of the sky?", "tiny-judge", 0, "pass", None),
        ("The colour of the sky?", "tiny-judge", 1, "pass", None),
    ],
    "prometheus-dcfb442-a2a.jsonl": [
        ("0", "logs", 0, "5.0", None),
        ("0", "logs", 1, "5.0", None),
        ("0", "logs", 2, "4.0", None),
        ("0", "gpt4", 0, "5.0", None),
        ("0", "gpt4", 1, "4.0", None),
        ("0", "gpt4", 2, "5.0", None),
        ("1", "logs", 0, "4.0", None),
        ("1", "logs", 1, "4.0", None),
        ("1", "logs", 2, "2.0", None),
        ("1", "gpt4", 0, "5.0", None),
        ("1", "gpt4", 1, "4.0", None),
        ("1", "gpt4", 2, "5.0", None),
        ("2", "logs", 0, "3.0", None),
        ("2", "logs", 1, "5.0", None),
        ("2", "logs", 2, "5.0", None),
        ("2", "gpt4", 0, "5.0", None),
        ("2", "gpt4", 1, "4.0", None),
        ("2", "gpt4", 2, "5.0", None),
    ],
    "prometheus-dcfb442-a2r.jsonl": [
        ("ee4562a971da", "logs", 0, "5.0", None),
        ("ee4562a971da", "logs", 0, "2.0", None),
        ("2eed3c4eeb44", "logs", 0, "4.0", None),
        ("2eed3c4eeb44", "logs", 0, "1.0", None),
        ("1d973f234d34", "logs", 0, "3.0", None),
        ("1d973f234d34", "logs", 0, "4.0", None),
    ],
    "prometheus-dcfb442-r2r.jsonl": [
        ("ee4562a971da", "logs", 0, "A", None),
        ("2eed3c4eeb44", "logs", 0, "B", None),
        ("1d973f234d34", "logs", 0, "A", None),
    ],
    "biggen-dcfb442.json": [
        ("planning_task_0", "tiny-judge", 0, "4.0", None),
        ("planning_task_1", "tiny-judge", 0, "2.0", None),
        ("reasoning_task_2", "tiny-judge", 0, None, None),
        ("llm_judge_task_3", "tiny-judge", 0, "3.0", None),
    ],
    "evalassist-1.0.5.json": [
        ("abd37a906ef8", "unnamed", 0, "Yes", None),
        ("abd37a906ef8", "unnamed", 1, "Yes", None),
        ("abd37a906ef8", "unnamed", 2, "No", None),
        ("abd37a906ef8", "unnamed", 0, "Yes", None),
        ("153b44f60a3a", "unnamed", 0, "No", None),
        ("153b44f60a3a", "unnamed", 1, "No", None),
        ("153b44f60a3a", "unnamed", 2, "No", None),
        ("153b44f60a3a", "unnamed", 0, "No", None),
        ("1331eab49739", "unnamed", 0, None, "unparsed"),
        ("1331eab49739", "unnamed", 1, None, "unparsed"),
        ("1331eab49739", "unnamed", 2, None, "unparsed"),
        ("1331eab49739", "unnamed", 0, None, "unparsed"),
    ],
    "evalassist-1.0.5-api.json": [
        ("abd37a906ef8", "unnamed", 0, "Yes", None),
        ("abd37a906ef8", "unnamed", 1, "Yes", None),
        ("abd37a906ef8", "unnamed", 2, "No", None),
        ("153b44f60a3a", "unnamed", 0, "No", None),
        ("153b44f60a3a", "unnamed", 1, "No", None),
        ("153b44f60a3a", "unnamed", 2, "No", None),
        ("1331eab49739", "unnamed", 0, None, "unparsed"),
        ("1331eab49739", "unnamed", 1, None, "unparsed"),
        ("1331eab49739", "unnamed", 2, None, "unparsed"),
    ],
    "unitxt-1.26.10.json": [
        ("834dd91f300b", "unnamed", 0, "Yes", None),
        ("834dd91f300b", "unnamed", 0, "No", None),
        ("70a1e71bebf8", "unnamed", 0, "No", None),
        ("70a1e71bebf8", "unnamed", 0, "No", None),
        ("279b266b9bce", "unnamed", 0, None, "unparsed"),
        ("279b266b9bce", "unnamed", 0, None, "unparsed"),
    ],
    "langfuse-3.15.0-v2.json": SCORES,
    "langfuse-5.0.4-v3.json": SCORES,
    "opentelemetry-1.45.2-logs.jsonl": EVENTS,
    "opentelemetry-1.45.2-spans.jsonl": EVENTS,
    "opentelemetry-1.45.2-spans-console.json": EVENTS,
    "opentelemetry-1.38.0-azure.json": [
        ("resp-1", "unnamed", 0, "pass", None),
        ("resp-1", "unnamed", 1, "fail", None),
        ("resp-2", "unnamed", 0, "fail", None),
        ("resp-3", "unnamed", 0, None, "failed"),
        ("resp-4", "unnamed", 0, None, "failed"),
    ],
    "opentelemetry-1.38.0-splunk.json": [
        ("chatcmpl-1", "unnamed", 0, "Pass", None),
        ("chatcmpl-1", "unnamed", 0, "0.0", None),
        ("chatcmpl-2", "unnamed", 0, "Fail", None),
        ("chatcmpl-2", "unnamed", 0, None, "failed"),
    ],
}
PAIRS = ("evalassist-1.0.5-pairs.json", "unitxt-1.26.10-pairs.json")
EACH = pytest.mark.parametrize("name", SAID)
quiet = pytest.mark.filterwarnings("ignore::judgerel_ray.core.ReadingWarning")


def test_every_log_is_read():
    assert {file.name for file in LOGS.iterdir()} - {"README.md", *PAIRS} == set(SAID)


@pytest.mark.parametrize("name", PAIRS)
def test_pairs_are_known_and_refused(name, tmp_path, capsys):
    path, out = str(LOGS / name), tmp_path / "log.parquet"
    assert detect_log_format(path) == name.partition("-")[0]
    assert main(["import", "auto", path, "--out", str(out)]) == 2
    assert "judgments of pairs by" in capsys.readouterr().err
    assert not out.exists()


@EACH
@pytest.mark.parametrize("verb", ["reduce", "gate", "doctor"])
def test_who_measures_a_log_is_told_to_import_it(name, verb, capsys):
    path = str(LOGS / name)
    assert main([verb, path]) == 2
    assert capsys.readouterr().err == (
        f"judgerel: a log of {name.partition('-')[0]} is imported first [file={path}]. "
        f"Try: judgerel import auto {path} --out judgments.parquet\n"
    )


@quiet
@EACH
def test_what_the_judge_said_is_what_is_read(name):
    path = str(LOGS / name)
    assert detect_log_format(path) == name.partition("-")[0]
    found = import_logs("auto", [path])
    lacking = {"verdict", "outcome"} - {*found.columns}
    said = ["verdict", pl.col("score").cast(pl.String)] if "score" in found.columns else ["verdict"]
    named = pl.col("item_id").str.replace("#.*", "")
    found = found.with_columns(**{one: pl.lit(None, pl.String) for one in lacking})
    shown = found.select(named, "judge", "replication", pl.coalesce(said).alias("said"), "outcome")
    assert shown.rows() == SAID[name]


@quiet
@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("fastchat-0e6d3e4-pair.jsonl", ["A", "A", "A", "B", "B", None, None, None]),
        ("arena_hard-196f6b8.jsonl", ["B", "B", None, None, "A", None, None, "A"]),
    ],
)
def test_the_place_of_the_winner_and_the_order_are_those_of_the_game(name, labels):
    found = import_logs("auto", [str(LOGS / name)])
    assert found["option_order"].to_list() == [0, 1] * 4
    assert found["label"].to_list() == labels


@pytest.mark.slow
@quiet
@pytest.mark.parametrize("name", ["inspect-0.3.285.eval", "promptfoo-0.121.20.jsonl"])
def test_repeats_of_other_answers_are_not_the_same_prompt_again(name, tmp_path, capsys):
    out = str(tmp_path / "log.parquet")
    assert main(["import", "auto", str(LOGS / name), "--out", out]) == 0
    capsys.readouterr()
    assert main(["reduce", out, "--full"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Asked the same question again, with another answer to judge, this judge" in said
    assert "the repeats of 2 of 2 questions judge other answers, too" in said
    assert "The judge's own repeatability is unknown" in said
    assert "same prompt" not in said
    found = pl.read_parquet(out)
    numbers = ["coefficient", "missing", "value", "low", "high", "noise_floor"]
    alone = reduce_judgments(found.drop("n_answers").lazy()).select(numbers)
    assert reduce_judgments(found.lazy()).select(numbers).equals(alone)
    assert main(["doctor", out]) == 0
    assert "how many answers its repeats judge" in capsys.readouterr().out


@quiet
def test_answers_are_counted_only_where_repeats_judge_several():
    found = import_logs("auto", [str(LOGS / "alpaca_eval-0.6.6.json")])
    assert "n_answers" not in found.columns


ANSWERS = {
    "inspect-0.3.285.eval": ("2 + 2?", ["4", "Paris"], "4"),
    "promptfoo-0.121.20.jsonl": ("2 + 2?", ["4", "four", "5"], "Says that it is 4"),
    "mlflow-3.17.2.jsonl": ('{"q": "2 + 2?"}', ['"5"', '"4"'], None),
    "deepeval-4.3.1.json": ("2 + 2?", ["4", "5"], "4"),
}


@quiet
@pytest.mark.parametrize("name", ANSWERS)
def test_answers_of_the_log_are_options_with_what_was_right(name):
    question, answers, gold = ANSWERS[name]
    item = next(one for one in log_items([str(LOGS / name)]) if one.question == question)
    assert [one.text for one in item.options] == answers
    assert item.gold == gold


@pytest.mark.parametrize(
    ("name", "n"), [("inspect-0.3.285.eval", 2), ("promptfoo-0.121.20.jsonl", 2)]
)
@quiet
def test_prompts_are_the_judges_own(name, n):
    items = log_items([str(LOGS / name)], prompts=True)
    shown = next(one for one in items if one.question == "2 + 2?").options
    assert len(shown) == n
    assert shown[0].text.count("2 + 2?") == (name[0] == "i")
    assert "[Submission]: 4" in shown[0].text or "<Output>\n4\n</Output>" in shown[0].text
