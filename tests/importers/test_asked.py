"""Items of logs that tools wrote: answers fixed, or the judge's prompts, to be judged again."""

import json
from pathlib import Path

import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.cli import main
from judgerel_ray.core import ReadingWarning, SweepError
from judgerel_ray.importers.logs.asked import log_items
from judgerel_ray.importers.logs.collect import import_logs
from tests.importers.test_logs import INSPECT as INSPECT_LOG

LOGS = Path(__file__).parent / "logs"
INSPECT = str(LOGS / "inspect-0.3.285.eval")
PROMPTFOO = str(LOGS / "promptfoo-0.121.20.jsonl")


def results(tmp_path, *changes):
    """A log of promptfoo with the first result changed in several ways."""
    first = json.loads(Path(PROMPTFOO).read_text().splitlines()[0])
    file = tmp_path / "results.jsonl"
    file.write_text("".join(f"{json.dumps({**first, **one})}\n" for one in changes))
    return str(file)


def test_an_answer_that_came_twice_is_one_option_and_another_wording_another_item(tmp_path):
    other = {"promptIdx": 1, "prompt": {"raw": "What is 2 + 2?"}, "response": {"output": "Four."}}
    plain, asked_otherwise = log_items([results(tmp_path, {}, {"testIdx": 9}, other)])
    assert [one.text for one in plain.options] == ["4"]
    assert asked_otherwise.item_id == f"{plain.item_id}, prompt 2"
    assert [one.option_id for one in asked_otherwise.options] == ["answerer, prompt 1"]


def test_a_judgment_without_its_prompt_is_left_out_and_said():
    with pytest.warns(ReadingWarning, match="1 of 6 judgments hold no prompt of the judge"):
        items = log_items([PROMPTFOO], prompts=True)
    assert [len(one.options) for one in items] == [2, 3]


def test_criteria_have_a_prompt_each(tmp_path):
    components = [
        {"assertion": {"type": "llm-rubric", "metric": name, "value": name}, "pass": True,
         "score": 1, "metadata": {"renderedGradingPrompt": f"Is it {name}?"}}
        for name in ("short", "kind")
    ]  # fmt: skip
    log = results(tmp_path, {"gradingResult": {"componentResults": components}})
    items = log_items([log], prompts=True)
    assert [(one.category, one.gold, one.options[0].text) for one in items] == [
        ("short", "short", "Is it short?"), ("kind", "kind", "Is it kind?")
    ]  # fmt: skip
    assert [(len(one.options), one.gold) for one in log_items([log])] == [(1, None)]


def test_what_was_judged_with_another_context_or_target_is_another_item(tmp_path):
    metric = {"name": "right", "success": True, "evaluationModel": "g"}
    case = {"name": "a", "input": "Who?", "metricsData": [metric]}
    cases = [
        {**case, "actualOutput": answer, "retrievalContext": [context], "expectedOutput": target}
        for answer, context, target in (("x", "c", "x"), ("y", "c", "x"), ("z", "d", "x"),
                                        ("z", "d", "z"))
    ]  # fmt: skip
    file = tmp_path / "run.json"
    file.write_text(json.dumps({"testCases": cases}))
    found = [(one.item_id, one.context, one.gold, [option.text for option in one.options])
             for one in log_items([str(file)])]  # fmt: skip
    assert found == [
        ("a", "c", "x", ["x", "y"]), ("a, prompt 2", "d", "x", ["z"]),
        ("a, prompt 3", "d", "z", ["z"]),
    ]  # fmt: skip


def promptfoo(grading, *answers):
    """A log of promptfoo with some answers to one question, all graded alike."""
    return [
        {"promptIdx": 0, "testIdx": n, "vars": {"q": "q"}, "prompt": {"raw": "q"},
         "response": {"output": answer}, "failureReason": 0 if answer else 2,
         "gradingResult": grading and {"componentResults": [{"pass": False, **grading}]}}
        for n, answer in enumerate(answers)
    ]  # fmt: skip


SCORES = {"match": {"value": "C"}}
GONE = {"id": 9, "epoch": 1, "input": "q", "error": {"message": "gone"}, "output": {}}
DOWN = {"assertion": {"type": "llm-rubric", "value": "r"}, "metadata": {"graderError": True}}
UNJUDGED = {
    "inspect": [{**one, "scores": SCORES} for one in INSPECT_LOG["samples"]],
    "inspect, no scores": [*({**one, "scores": None} for one in INSPECT_LOG["samples"]), GONE],
    "promptfoo": promptfoo({"assertion": {"type": "equals"}}, "a1", "a2", None),
    "promptfoo, no assertions": promptfoo(None, "a1", "a2"),
    "promptfoo, people": promptfoo({"assertion": {"type": "human"}}, "a1", "a2"),
    "promptfoo, grader down": promptfoo(DOWN, "a1", "a2"),
    "deepeval": [
        {"name": "x", "input": "q", "actualOutput": answer, "metricsData": [
            {"name": "Exact Match", "success": True, "evaluationModel": None}]}
        for answer in ("a1", "a2")
    ],
    "mlflow": [
        {"request": "q", "response": answer, "info": {"trace_id": "t", "assessments": [
            {"name": "n", "source": {"source_type": "CODE"}, "feedback": {"value": True}}]}}
        for answer in ("a1", "a2")
    ],
}  # fmt: skip
OUTER = {
    "inspect": lambda held: {**INSPECT_LOG, "samples": held},
    "deepeval": lambda held: {"testCases": held},
}


@pytest.mark.filterwarnings("ignore:computed without a model")
@pytest.mark.parametrize("kind", UNJUDGED)
def test_answers_that_no_model_judged_are_items_and_no_judgments(kind, tmp_path):
    file = tmp_path / "log.json"
    log = OUTER.get(kind.partition(",")[0], list)(UNJUDGED[kind])
    file.write_text(json.dumps(log))
    answers = ["a1", "a2"]
    items = log_items([str(file)])
    assert {one.question for one in items} == {"q"}
    assert all([option.text for option in one.options] == answers for one in items)
    with pytest.raises(SweepError, match=r"no model judged.*Try: leave out --prompts"):
        log_items([str(file)], prompts=True)
    if "people" not in kind and "down" not in kind:
        with pytest.raises(SweepError, match=r"no judgment.*Try: judgerel items log PATH"):
            import_logs("auto", [str(file)])


@pytest.mark.filterwarnings("ignore:computed without a model")
def test_an_answer_without_a_judge_beside_those_with_one_is_left_out_and_counted(tmp_path):
    file = tmp_path / "log.json"
    first, *others = INSPECT_LOG["samples"]
    first = {**first, "scores": SCORES}
    file.write_text(json.dumps({**INSPECT_LOG, "samples": [first, *others]}))
    with pytest.warns(ReadingWarning, match="1 answer that no model judged: left out"):
        items = log_items([str(file)])
    assert [[option.text for option in one.options] for one in items] == [["a2"], ["a1", "a2"]]
    with pytest.warns(ReadingWarning):
        judged = import_logs("auto", [str(file)])
    assert set(judged["judge"]) == {"g", "people"}


PAIR = '{"question_id": 1, "model_1": "m", "model_2": "n", "g1_winner": "tie", "judge": ["g", "p"]}'
BATCH = '{"custom_id": "q", "response": {"body": {"choices": [{"message": {"content": "A"}}]}}}'
SINGLE = (
    '{"question_id": 1, "model": "m", "judge": ["g", "p"], "judgment": "[[7]]", "score": 7, '
    '"user_prompt": "Rate it."}'
)


@pytest.mark.parametrize(
    ("log", "prompts", "message"),
    [
        (PAIR, False, "compares pairs"),
        (BATCH, False, "does not hold the question"),
        (BATCH, True, "does not hold the prompts"),
        (SINGLE, False, "does not hold the answers.*--prompts"),
    ],
)
def test_a_log_without_what_was_judged_is_refused(tmp_path, log, prompts, message):
    file = tmp_path / "log.jsonl"
    file.write_text(log)
    with pytest.raises(SweepError, match=message):
        log_items([str(file)], prompts=prompts)


def test_prompts_are_of_logs_of_tools(tmp_path, capsys):
    file, out = tmp_path / "log.csv", str(tmp_path / "items.parquet")
    file.write_text("id,input,output\na,2 + 2?,4\n")
    assert main(["items", "log", str(file), "--out", out, "--prompts"]) == 2
    assert "logs of tools" in capsys.readouterr().err
    assert main(["items", "log", str(file), "--out", out]) == 0


def test_items_are_written_from_the_command_line_by_pattern(tmp_path, capsys):
    out = tmp_path / "items.parquet"
    assert main(["items", "log", f"{LOGS}/i*.eval", "--out", str(out), "--prompts"]) == 0
    assert "wrote 2 items" in capsys.readouterr().out
    assert pl.read_parquet(out)["options"][0][0]["text"].startswith("\nYou are assessing")


SWEEP = """name = "again"
[[judge]]
name = "grader"
engine = "simulated"
model = "dirichlet"
gpus = 0
[[ask]]
protocol = "correctness"
benchmark = "log"
path = "items.parquet"
templates = ["graded"]
replications = 8
reader = "last"
"""
TEMPLATE = """verdict = "last"
[form]
pattern = 'GRADE: (?P<verdict>[CPI])'
example = "It meets the criterion. GRADE: {verdict}"
options = [["C"], ["I", "P"]]
"""


@pytest.mark.slow
@pytest.mark.ray
def test_a_log_is_judged_again_and_its_variance_split(tmp_path, capsys, monkeypatch):
    """From a log that Inspect wrote to how much of the variance is the model's and the judge's."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "graded").mkdir()
    (tmp_path / "graded/template.toml").write_text(TEMPLATE)
    (tmp_path / "graded/question.txt").write_text("{prediction}\n")
    (tmp_path / "sweep.toml").write_text(SWEEP)
    with pytest.warns(ReadingWarning, match="without a model.*left out: scores 4 of match"):
        judgerel_ray.items("log", INSPECT, out="items.parquet", prompts=True)
    items = pl.read_parquet("items.parquet")["options"].explode()
    asked = items.struct.field("text").to_list()
    assert len(asked) == 4  # two questions, two epochs: a judgment of the model each
    assert main(["run", "sweep.toml", "--out", "run"]) == 0
    rows = pl.read_parquet("run/data/**/*.parquet")
    assert (rows.height, rows["responder"].n_unique()) == (8 * len(asked), 2)
    # One-way nested analysis of variance, of shares of correct verdicts, by hand.
    correct = (pl.col("verdict") == "correct").cast(pl.Float64)
    means = rows.group_by("item_id", "responder").agg(correct.mean(), correct.var().alias("own"))
    residual = 2 * means["own"].mean()  # both verdicts have this variance: Gini's is their sum
    between = 2 * means.group_by("item_id").agg(pl.col("verdict").var())["verdict"].mean()
    found = judgerel_ray.advise("run", nested="responder").components
    estimates = dict(found.select("component", "estimate").rows())
    assert estimates["residual"] == pytest.approx(residual)
    assert estimates["item_id x responder"] == pytest.approx(between - residual / 8)
    capsys.readouterr()
    assert main(["advise", "--full", "run", "--nested", "responder"]) == 0
    assert "between judgments of one answer" in " ".join(capsys.readouterr().out.split())


def test_a_log_that_nobody_judged_takes_no_other_log_with_it(tmp_path):
    metric = {"name": "right", "success": True, "evaluationModel": "g"}
    judged = {"name": "a", "input": "Who?", "actualOutput": "I.", "metricsData": [metric]}
    without = {"name": "b", "actualOutput": "You.", "metricsData": []}
    files = [tmp_path / "judged.json", tmp_path / "unjudged.json"]
    for file, case in zip(files, (judged, without), strict=True):
        file.write_text(json.dumps({"testCases": [case]}))
    with pytest.warns(ReadingWarning, match="1 answer without a question: left out"):
        items = log_items([str(file) for file in files])
    assert [one.item_id for one in items] == ["a"]
    with (
        pytest.warns(ReadingWarning, match="without a question"),
        pytest.raises(SweepError, match="does not hold the question"),
    ):
        log_items([str(files[1])])
