"""Advice and comparisons as text and JSON: every number there, nothing twice, reasons in words."""

import json

import numpy as np
import polars as pl
import pytest

from judgerel_ray.reduce.advice import advise_judgments
from judgerel_ray.reduce.comparison import compare_judgments
from judgerel_ray.report.advice import advice_text, comparison_text, tables_json


@pytest.fixture(scope="module")
def judged():
    rng = np.random.default_rng(1)
    tables = []
    for judge in ("calm", "wild"):
        shares = np.random.default_rng(2).dirichlet([0.5, 0.5], 12)
        verdict = np.concatenate([rng.choice(["A", "B"], 3, p=p) for p in shares])
        tables.append(
            pl.DataFrame({"item_id": np.repeat(np.arange(12), 3).astype(str), "judge": judge,
                          "temperature": 1.0, "replication": np.tile([0, 1, 2], 12),
                          "verdict": verdict, "prompt_tokens": 1000, "completion_tokens": 5})
        )  # fmt: skip
    return pl.concat(tables).lazy()


def test_advice_answers_each_question_once(judged):
    text = advice_text(advise_judgments(judged).tables())
    titles = [part.splitlines()[0] for part in text.split("\n\n")]
    assert titles == [
        "What verdicts vary with [temperature 1]",
        "What more judgments of a question are worth [temperature 1]",
        "What the targets take [temperature 1]",
        "How to split the budget between questions and replications [temperature 1]",
        "The judges as a panel [temperature 1]",
    ]
    # Each is explained below it, in the words of its heads.
    assert [part.splitlines()[-1][-1] for part in text.split("\n\n")] == ["."] * 5
    assert "\ncalm   question  " in text
    assert "GPU-seconds  " not in text
    assert text.count("<- best") == 2
    assert "no gold" in text
    assert "None" not in text
    assert "nan" not in text
    for line in text.splitlines():
        assert line == line.rstrip()


def test_what_is_out_of_reach_says_why(judged):
    advice = advise_judgments(judged, target={"interval_width": 0.001})
    text = advice_text({"needs": advice.needs})
    assert "out of reach: too few questions, however often they are asked" in text


def test_what_was_asked_once_is_not_known_rather_than_out_of_reach():
    rows = {"item_id": ["q", "r", "s"], "replication": [0, 0, 0], "verdict": list("ABA")}
    text = advice_text({"needs": advise_judgments(pl.LazyFrame(rows)).needs})
    assert "not known: single replication" in text
    assert "out of reach" not in text


def test_a_small_p_is_not_printed_as_nothing():
    rng = np.random.default_rng(3)
    coin = rng.choice(["A", "B"], 160)
    steady = np.repeat(rng.choice(["A", "B"], 40), 4)
    steady[::16] = "B"
    rows = pl.DataFrame(
        {"item_id": np.tile(np.repeat(np.arange(40), 4), 2), "replication": [0, 1, 2, 3] * 80,
         "judge": ["coin"] * 160 + ["steady"] * 160, "verdict": np.concatenate([coin, steady])}
    )  # fmt: skip
    text = comparison_text(compare_judgments(rows.lazy(), by=["judge"]))
    assert "< 0.001" in text
    assert " 0.000 " not in text
    assert "Krippendorff's alpha" in text


def test_a_negative_component_is_remarked_on():
    rows = {"item_id": ["q", "q", "r", "r"], "replication": [0, 1] * 2, "verdict": list("ABAB")}
    text = advice_text(advise_judgments(pl.LazyFrame(rows)).tables())
    assert "below 0: counts as 0 below" in text
    assert "questions do not differ more than chance" in text


def test_comparisons_print_what_was_compared(judged):
    found = compare_judgments(judged, by=["judge"])
    lines = comparison_text(found).splitlines()
    assert lines[0] == "b less a, on the questions both have [temperature 1]"
    assert len(lines) == 2 + found.height + 2
    assert "FDR correct it for all pairs compared" in lines[-1]
    row = found.row(0, named=True)
    assert f"{row['difference']:.3f} [{row['low']:.3f}, {row['high']:.3f}]" in lines[2]
    assert "counts as a verdict" in lines[2]


def test_json_holds_every_number(judged):
    tables = advise_judgments(judged).tables()
    content = json.loads(tables_json(tables))
    assert list(content) == ["components", "designs", "needs", "splits", "panel"]
    for name, table in tables.items():
        assert content[name] == table.to_dicts()
