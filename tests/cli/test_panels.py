"""Panels and cascades as the command line prints them, and as Python has them."""

import json

import numpy as np
import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.cli import main


@pytest.fixture
def answers(tmp_path):
    """Three judges of 60 questions, the dearest the best, at two temperatures."""
    rng = np.random.default_rng(1)
    letters, gold = np.array(list("ABCD")), rng.integers(0, 4, 60)
    parts = []
    for judge, skill, tokens in (("nano", 0.3, 10), ("flash", 0.6, 40), ("opus", 0.8, 500)):
        for temperature in (0.0, 1.0):
            knows = rng.random(60) < skill
            parts.append(
                pl.DataFrame(
                    {"item_id": [f"q{i}" for i in range(60)], "judge": judge, "replication": 0,
                     "temperature": temperature, "gold": letters[gold],
                     "verdict": letters[np.where(knows, gold, rng.integers(0, 4, 60))],
                     "confidence": np.where(knows, 0.9, 0.6), "prompt_tokens": tokens,
                     "completion_tokens": tokens}
                )
            )  # fmt: skip
    path = tmp_path / "answers.parquet"
    pl.concat(parts).write_parquet(path)
    return str(path)


def test_panels_are_printed_a_block_a_temperature(answers, capsys):
    assert main(["panels", "--full", answers]) == 0
    out = capsys.readouterr().out
    assert out.count("Panel (") == 2
    assert "Panel (temperature 0)" in out
    for text in ("3 members whose errors vary are worth", "by accuracy elsewhere", "size 2",
                 "cost 20", "of 5", "which flatters it"):  # fmt: skip
        assert text in out


@pytest.mark.slow
def test_json_holds_every_table_and_a_file_the_best_panels(answers, tmp_path, capsys):
    out = str(tmp_path / "best.csv")
    assert main(["panels", answers, "--format", "json", "--out", out]) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found) == ["members", "panels", "best", "next", "worth"]
    best = pl.read_csv(out)
    assert best.height == len(found["best"])
    tables = judgerel_ray.panels(answers)
    assert [table.height for table in tables.tables().values()] == [
        len(rows) for rows in found.values()
    ]


@pytest.mark.slow
def test_a_cascade_asks_the_cheapest_first(answers, capsys):
    assert main(["cascade", "--full", answers]) == 0
    out = capsys.readouterr().out
    assert out.count("cost in tokens a question, 60 questions") == 2
    assert out.index("nano") < out.index("flash") < out.index("opus")
    found = judgerel_ray.cascade(answers)
    assert found.stages["cost"].to_list() == [20.0, 80.0, 1000.0] * 2
    assert found.curve.height == 20


@pytest.mark.slow
def test_order_person_and_prices_are_taken(answers, capsys):
    flags = [
        "--order",
        "nano,opus",
        "--person-cost",
        "1",
        "--person-accuracy",
        "0.9",
        "--format",
        "json",
    ]
    prices = ["--price", "nano=0.1,0.4", "--price", "flash=1,2", "--price", "opus=15,75"]
    assert main(["cascade", "--full", answers, *flags, *prices]) == 0
    found = json.loads(capsys.readouterr().out)
    first = found["stages"][:3]
    assert [row["member"] for row in first] == ["nano", "opus", "person"]
    assert [row["cost"] for row in first] == pytest.approx([5e-6, 0.045, 1.0])
    told = judgerel_ray.cascade(
        answers, order=["nano", "opus"], person_cost=1, person_accuracy=0.9,
        prices={"nano": (0.1, 0.4), "flash": (1, 2), "opus": (15, 75)},
    )  # fmt: skip
    assert told.curve.height == len(found["curve"]) == 20


def test_by_lays_side_by_side_what_differs_in_all_else(answers):
    tables = judgerel_ray.panels(answers, by=[], prices=dict.fromkeys(
        ("nano", "flash", "opus"), 2.0))  # fmt: skip
    members, panels = tables.members, tables.panels
    assert members["member"].to_list() == ["flash", "nano", "opus"]
    assert members["cost"].to_list() == [2.0] * 3
    assert panels["n_items"].unique().to_list() == [60]


@pytest.mark.slow
def test_gold_may_lie_in_a_file_of_its_own(answers, tmp_path, capsys):
    frame = pl.read_parquet(answers)
    bare, gold = str(tmp_path / "bare.parquet"), str(tmp_path / "gold.csv")
    frame.drop("gold").write_parquet(bare)
    frame.select("item_id", "gold").unique().write_csv(gold)
    assert main(["panels", bare]) == 2
    said = capsys.readouterr().err
    assert "no right answers: expected a column 'gold' with that of every question" in said
    assert "--gold FILE" in said
    assert main(["panels", "--full", bare, "--gold", gold]) == 0


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("verb", "flags", "message"),
    [
        ("cascade", ["--order", "nano,gpt"], "the order names nano, gpt"),
        ("cascade", ["--person-cost", "-1"], "a person's cost must be at least 0"),
        ("cascade", ["--confidence", "agreement"], "which a cascade does not buy"),
        ("cascade", ["--price", "nano"], "--price must be NAME=A_REPLY"),
        ("panels", ["--price", "nano=1"], "no price of 'flash'"),
        ("panels", ["--price", "nano=1", "--price", "nano=2"], "each name once, got 'nano=2'"),
        ("panels", ["--confidence", "felt"], "confidence must be one of stated"),
    ],
)
def test_a_mistake_is_one_line(answers, verb, flags, message, capsys):
    assert main([verb, answers, *flags]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert message in err
