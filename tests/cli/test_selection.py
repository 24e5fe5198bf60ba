"""Selection and comparison on the command line and in Python: the same numbers, one-line errors."""

import json

import numpy as np
import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.cli import main


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """Two models alone and as judges of each other, 40 questions, gold in a file of its own."""
    rng = np.random.default_rng(5)
    folder = tmp_path_factory.mktemp("answers")
    gold = rng.choice(list("xyz"), 40)
    rows = []
    for judge, skill in (("ant", 0.7), ("bee", 0.5)):
        for role, stage in (("responder", "choose"), ("participant", "judge"),
                            ("evaluator_only", "judge")):  # fmt: skip
            for n in range(40):
                right = rng.random() < skill
                rows.append(
                    {"judge": judge, "role": role, "stage": stage, "protocol": "think_twice",
                     "temperature": 0.7, "template": "default", "item_id": f"q{n}",
                     "replication": 0, "verdict": str(gold[n]) if right else "x",
                     "confidence": None if n == 7 else round(0.5 + 0.4 * right * rng.random(), 1),
                     "outcome": "scored", "gold": str(gold[n]), "category": "ab"[n % 2]}
                )  # fmt: skip
    frame = pl.DataFrame(rows)
    frame.write_parquet(folder / "answers.parquet")
    frame.drop("gold").write_csv(folder / "without.csv")
    pl.DataFrame({"item_id": [f"q{n}" for n in range(40)], "gold": gold}).write_csv(
        folder / "gold.csv"
    )
    (folder / "torn.parquet").write_bytes(b"PAR1")
    return folder


def _json(capsys, *args):
    assert main([*args, "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.slow
def test_terminal_json_and_python_say_the_same(answers, capsys):
    path = str(answers / "answers.parquet")
    found = _json(capsys, "select", path, "--resamples", "50")
    frames = judgerel_ray.select(path, resamples=50).tables()
    assert list(found) == ["systems", "acceptance", "reliability", "guarantees"]
    for frame, rows in zip(frames.values(), found.values(), strict=True):
        assert frame.to_dicts() == rows
    assert main(["select", "--full", path, "--resamples", "50"]) == 0
    text = capsys.readouterr().out
    for row in found["systems"]:
        assert f"{row['n_right']} of 40" in text
        assert f"[{row['auroc_low']:.3f}, {row['auroc_high']:.3f}]" in text


def test_every_band_is_named_and_a_guarantee_is_of_one_line(answers, tmp_path, capsys):
    rows = pl.read_parquet(answers / "answers.parquet")
    again = rows.filter(pl.col("judge") == "bee").with_columns(replication=pl.lit(1, pl.Int64))
    path = str(tmp_path / "again.parquet")
    pl.concat([rows, again]).write_parquet(path)
    assert main(["select", "--full", path, "--band", "dkw", "--resamples", "9"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "at all thresholds together (Dvoretzky or Bonferroni)" in text
    assert "not for the best of several lines" in text
    assert "learnt on half of the questions, seed 0, tried on the other half" in text


@pytest.mark.slow
def test_costs_of_fractions_of_a_cent_are_told(answers, tmp_path, capsys):
    rows = pl.read_parquet(answers / "answers.parquet").with_columns(cost=pl.lit(0.000213))
    path = str(tmp_path / "paid.parquet")
    rows.write_parquet(path)
    assert main(["systems", "--full", path, "--resamples", "9"]) == 0
    text = capsys.readouterr().out
    assert "(money a question;" in text
    assert "Holm: over the judges of this table" in " ".join(text.split())
    assert "0.000213" in text


@pytest.mark.slow
def test_compared_systems_say_the_same_everywhere(answers, capsys):
    path = str(answers / "answers.parquet")
    found = _json(capsys, "systems", path, "--resamples", "50")
    frames = judgerel_ray.systems(path, resamples=50).tables()
    assert list(found) == ["pairs", "equal_acceptance", "matched_cost", "self_preference"]
    for frame, rows in zip(frames.values(), found.values(), strict=True):
        assert frame.to_dicts() == rows
    assert main(["systems", "--full", path, "--resamples", "50"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "joined by question" in text
    assert f"over these {len(found['pairs'])} comparisons" in text


@pytest.mark.slow
def test_the_answers_compared_can_be_named_where_there_are_several(answers, tmp_path, capsys):
    rows = pl.read_parquet(answers / "answers.parquet")
    twice = pl.concat([rows, rows.with_columns(temperature=pl.lit(0.0))])
    path = str(tmp_path / "twice.parquet")
    twice.write_parquet(path)
    untold = _json(capsys, "systems", path, "--resamples", "9")["matched_cost"]
    assert {row["undefined"] for row in untold} == {"several_answer_temperatures"}
    told = _json(capsys, "systems", path, "--resamples", "9", "--answer-temperature", "0.7")
    assert {row["undefined"] for row in told["matched_cost"]} == {None}
    assert all("temperature 0.7" in row["first"] for row in told["matched_cost"])


@pytest.mark.slow
def test_gold_may_lie_in_a_file_of_its_own(answers, capsys):
    told = _json(capsys, "select", str(answers / "answers.parquet"), "--resamples", "9")
    apart = _json(
        capsys, "select", str(answers / "without.csv"), "--resamples", "9",
        "--gold", str(answers / "gold.csv"),
    )  # fmt: skip
    assert apart == told


def test_systems_may_be_told_apart_by_other_columns(answers, capsys):
    path = str(answers / "answers.parquet")
    found = _json(capsys, "select", path, "--by", "judge,category", "--resamples", "9")
    assert {(row["judge"], row["category"]) for row in found["systems"]} == {
        ("ant", "a"), ("ant", "b"), ("bee", "a"), ("bee", "b")
    }  # fmt: skip


def test_confidence_the_wrong_way_round_is_said(tmp_path, capsys):
    path = tmp_path / "odd.csv"
    lines = [f"q{n},0,{n % 2},1,{0.9 - 0.4 * (n % 2)}" for n in range(40)]
    path.write_text("\n".join(["item_id,replication,verdict,gold,confidence", *lines]))
    assert main(["select", "--full", str(path), "--resamples", "9"]) == 0
    assert "0.000, surer of wrong answers" in capsys.readouterr().out


def test_what_is_found_can_be_written(answers, tmp_path, capsys):
    path, out = str(answers / "answers.parquet"), tmp_path / "systems.csv"
    assert main(["select", path, "--full", "--resamples", "9", "--out", str(out)]) == 0
    assert pl.read_csv(out).height == 6
    printed, told = capsys.readouterr()
    assert "Accuracy" in printed
    assert told == f"wrote table systems, 6 rows, to {out}\n"
    with pytest.raises(SystemExit):
        main(["select", "--help"])
    assert ".csv or .json: the table systems" in " ".join(capsys.readouterr().out.split())


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("verb", "args", "said"),
    [
        ("select", ["without.csv"], "expected a column 'gold'"),
        ("select", ["answers.parquet", "--confidence", "luck"], "confidence must be of"),
        ("select", ["answers.parquet", "--confidence", "margin"], "no answer has the"),
        ("select", ["answers.parquet", "--band", "wide"], "band must be of"),
        ("select", ["answers.parquet", "--bins", "0"], "bins must be from 1 to 1000, got 0"),
        ("select", ["answers.parquet", "--risk", "2"], "risk must be between 0 and 1"),
        ("select", ["answers.parquet", "--bins", "9" * 12], "bins must be from 1 to 1000"),
        ("select", ["answers.parquet", "--resamples", "0"], "must be at least 1"),
        ("select", ["answers.parquet", "--resamples", "9" * 12], "must be at most 100000"),
        ("systems", ["answers.parquet", "--resamples", "9" * 12], "must be at most 100000"),
        ("select", ["answers.parquet", "--by", "color"], "no column 'color'"),
        (
            "select",
            ["answers.parquet", "--gold", "GOLDEN"],
            "cannot be read: no such file",
        ),
        ("select", ["answers.parquet", "--gold", "none.csv"], "--gold cannot be read"),
        ("select", ["answers.parquet", "--gold", "torn.parquet"], "read: it is no whole Parq"),
        ("systems", ["answers.parquet", "--answer", "last"], "answer must be of"),
        (
            "systems",
            ["answers.parquet", "--confidence", "stated,support"],
            "confidence must be of stated, agreement, support, margin, probability, got 'stated,",
        ),
        ("select", ["gold.csv"], "column missing"),
        ("select", ["none.parquet"], "no such file or folder"),
    ],
)
def test_a_mistake_is_one_line(verb, args, said, answers, capsys):
    path, *rest = args
    rest = [
        str(answers / one) if one.endswith(("none.csv", "torn.parquet")) else one for one in rest
    ]
    assert main([verb, str(answers / path), *rest]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert said in err


def test_a_table_without_right_answers_is_refused(answers, tmp_path, capsys):
    path = str(answers / "answers.parquet")
    wrong = tmp_path / "gold.csv"
    wrong.write_text("question,answer\nq1,1\n")
    assert main(["select", path, "--gold", str(wrong)]) == 2
    assert "--gold needs columns item_id, gold" in capsys.readouterr().err
    wrong.write_text("item_id,gold\nq1,1\nq1,2\n")
    assert main(["select", path, "--gold", str(wrong)]) == 2
    assert "an item has two right answers: " in capsys.readouterr().err


def test_without_evaluators_self_preference_says_what_to_ask(answers, tmp_path, capsys):
    rows = pl.read_parquet(answers / "answers.parquet").filter(pl.col("role") != "evaluator_only")
    path = str(tmp_path / "participants.parquet")
    rows.write_parquet(path)
    assert main(["systems", "--full", path, "--resamples", "9"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert 'unknown: ask roles = ["participant", "evaluator_only"]' in text


@pytest.mark.alike(3)
@pytest.mark.parametrize("verb", ["select", "systems", "panels"])
def test_gold_of_one_criterion_is_none_of_another(verb, tmp_path, capsys):
    path, file = str(tmp_path / "judged.csv"), str(tmp_path / "gold.csv")
    rows = pl.DataFrame(
        [{"judge": judge, "criterion": criterion, "item_id": f"q{n}", "replication": r,
          "verdict": "yn"[(n + (criterion == "tone") + (n % 5 == r)) % 2]}
         for judge in ("ant", "bee") for criterion in ("facts", "tone")
         for n in range(20) for r in (0, 1)]
    )  # fmt: skip
    rows.write_csv(path)
    gold = pl.DataFrame({"item_id": [f"q{n}" for n in range(20)], "gold": list("yn") * 10})
    gold.write_csv(file)
    assert main([verb, path, "--gold", file]) == 2
    error = capsys.readouterr().err
    assert "items were judged by several criteria, and gold does not name the criterion" in error
    assert "a column 'criterion' in both tables" in error
    other = gold.with_columns(criterion=pl.lit("tone"), gold=pl.Series(list("ny") * 10))
    pl.concat([gold.with_columns(criterion=pl.lit("facts")), other]).write_csv(file)
    if verb == "select":
        found = _json(capsys, verb, path, "--gold", file, "--resamples", "20")
        assert {(one["criterion"], one["accuracy"]) for one in found["systems"]} == {
            ("facts", 0.8), ("tone", 0.8)
        }  # fmt: skip
    gold.write_csv(file)
    rows.filter(pl.col("criterion") == "facts").write_csv(path)
    assert main([verb, path, "--gold", file]) == 0


@pytest.mark.slow
def test_gold_of_items_that_nobody_judged_counts_as_nothing(answers, tmp_path, capsys):
    path, file = str(answers / "without.csv"), tmp_path / "gold.csv"
    gold = (answers / "gold.csv").read_text()
    file.write_text(f"{gold}elsewhere,yes\n")
    assert main(["select", "--full", path, "--gold", str(file), "--resamples", "9"]) == 0
    assert "matches no verdict" not in capsys.readouterr().err
    file.write_text("\n".join(gold.splitlines()[:-1]) + "\nq39,yes\n")
    assert main(["select", "--full", path, "--gold", str(file), "--resamples", "9"]) == 0
    assert "gold matches no verdict of the file in 1 of the 40 rows" in capsys.readouterr().err
