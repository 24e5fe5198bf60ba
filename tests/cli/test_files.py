"""Verbs that write files: what their flags mean."""

import polars as pl
import pytest

from judgerel_ray.cli import main

LOG = {"id": ["q1", "q2"], "r0": [1, 5], "r1": [-1, 4]}


@pytest.fixture
def log(tmp_path):
    pl.DataFrame(LOG).write_csv(tmp_path / "log.csv")
    return str(tmp_path / "log.csv")


def test_a_log_is_imported_by_flags(tmp_path, log, capsys):
    out = tmp_path / "judgments.parquet"
    flags = ["--column", "item_id=id", "--repeats", "r?", "--missing", "-1",
             "--value", "judge=j", "--value", "scale=points5"]  # fmt: skip
    assert main(["import", "table", log, "--out", str(out), *flags]) == 0
    assert "wrote 4 judgments" in capsys.readouterr().out
    found = pl.read_parquet(out).sort("item_id", "replication")
    assert found.select("judge", "item_id", "replication", "score", "scale").rows() == [
        ("j", "q1", 0, 1.0, "points5"),
        ("j", "q1", 1, None, "points5"),
        ("j", "q2", 0, 5.0, "points5"),
        ("j", "q2", 1, 4.0, "points5"),
    ]
    assert main(["reduce", str(out), "--measurement", "nominal,ordinal,interval"]) == 0


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--column", "item_id"], "--column must be NAME=..., each name once, got 'item_id'"),
        (["--column", "item_id=id", "--column", "item_id=r0"], "each name once"),
        (["--column", "item_id="], "--column must be NAME="),
        (["--value", "judge"], "--value must be NAME="),
        (["--column", "itm_id=id"], "judgments have no column 'itm_id'. Try: item_id"),
        (["--column", "verdict=r9"], "no column 'r9' for verdict, got id, r0, r1"),
    ],
)
def test_flags_that_mean_nothing_are_one_line(tmp_path, log, capsys, flags, said):
    out = tmp_path / "judgments.parquet"
    assert main(["import", "table", log, "--out", str(out), *flags]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1
    assert not out.exists()


def test_people_of_an_items_file_are_imported(tmp_path, capsys):
    rows = {"item_id": ["q"], "question": ["?"],
            "ratings": [[{"rater": "a", "score": 1.0}, {"rater": "b", "score": 2.0}]]}  # fmt: skip
    pl.DataFrame(rows).write_parquet(tmp_path / "items.parquet")
    out = str(tmp_path / "people.parquet")
    assert main(["import", "people", str(tmp_path / "items.parquet"), "--out", out]) == 0
    assert "wrote 2 judgments" in capsys.readouterr().out
    assert main(["import", "people", str(tmp_path / "items.parquet"), "--out", out,
                 "--missing", "x"]) == 2  # fmt: skip


def test_the_seed_of_items_is_of_what_is_drawn(tmp_path):
    wrong = "; ".join(f"w{n}" for n in range(9))
    text = "Category,Question,Best Answer,Correct Answers,Incorrect Answers\n"
    text += "".join(f"c,q{n}?,b,b,{wrong}\n" for n in range(9))
    (tmp_path / "TruthfulQA.csv").write_text(text)
    drawn = []
    for seed in ("1", "2"):
        out = str(tmp_path / f"{seed}.parquet")
        source = str(tmp_path / "TruthfulQA.csv")
        assert main(["items", "truthfulqa_pairs", source, "--out", out, "--seed", seed]) == 0
        drawn.append(pl.read_parquet(out)["options"].to_list())
    assert drawn[0] != drawn[1]
