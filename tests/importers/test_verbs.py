"""Judgments of several paths in one file."""

import json

import polars as pl
import pytest

from judgerel_ray.cli import main
from judgerel_ray.core import SweepError
from judgerel_ray.importers.catalog import write_judgments_file
from judgerel_ray.importers.table import read_mapping


def released(tmp_path, judge):
    path = tmp_path / f"full_judgements_{judge}.json"
    texts = ["Best Response: [[A]]", "Best Response: [[B]]"]
    path.write_text(json.dumps({judge: {"temperature: 1": {"bbh:x": texts}}}))
    return str(path)


def test_several_paths_become_one_file(tmp_path):
    paths, out = [released(tmp_path, name) for name in ("j", "k")], str(tmp_path / "out.parquet")
    assert write_judgments_file("schroeder2024", paths, out) == 4
    assert pl.read_parquet(out)["judge"].to_list() == ["j", "j", "k", "k"]


def test_a_path_that_is_there_twice_is_one_line(tmp_path):
    path = released(tmp_path, "j")
    with pytest.raises(SweepError, match=r"a judgment more than once.*judge=j.*item_id=bbh:x"):
        write_judgments_file("schroeder2024", [path, path], str(tmp_path / "out.parquet"))


TABLE = "question,s0,s1\nq1,good,bad\nq2,none,good\n"
MAP = """repeats = "s?"
missing = ["none"]
order = ["bad", "good"]
[columns]
item_id = "question"
[values]
judge = "j"
"""


def test_a_file_says_what_columns_stand_for(tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    (tmp_path / "map.toml").write_text(MAP)
    out = str(tmp_path / "out.parquet")
    options = ["--repeats", "s?", "--missing", "none", "--order", "bad,good",
               "--column", "item_id=question", "--value", "judge=j"]  # fmt: skip
    found = []
    for given in (["--map", str(tmp_path / "map.toml")], options):
        assert main(["import", "table", str(tmp_path / "t.csv"), "--out", out, *given]) == 0
        found.append(pl.read_parquet(out).rows())
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("[columns", "no TOML"),
        ('repeat = "s?"', "unknown key 'repeat', .* Try: repeats"),
        ("order = 3", "order must be a list of texts, got 3"),
        ("[columns]\nitem_id = 3", "columns must be a table of texts"),
        ('[columns]\nitem = "q"', "judgments have no column 'item'"),
    ],
)
def test_a_file_that_maps_nothing_is_one_line(tmp_path, content, problem):
    (tmp_path / "map.toml").write_text(content)
    with pytest.raises(SweepError, match=problem):
        read_mapping(str(tmp_path / "map.toml"))


def test_a_mapping_stands_alone(tmp_path, capsys):
    (tmp_path / "map.toml").write_text(MAP)
    given = ["--map", str(tmp_path / "map.toml"), "--column", "item_id=q", "--out", "o.parquet"]
    assert main(["import", "table", str(tmp_path / "map.toml"), *given]) == 2
    assert "--map says what the columns stand for" in capsys.readouterr().err
