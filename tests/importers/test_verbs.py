"""Judgments of several paths in one file."""

import io
import json
from pathlib import Path

import polars as pl
import pytest

from judgerel_ray.cli import main
from judgerel_ray.core import SweepError
from judgerel_ray.importers.table import read_mapping
from judgerel_ray.importers.verb import import_judgments


def released(tmp_path, judge):
    path = tmp_path / f"full_judgements_{judge}.json"
    texts = ["Best Response: [[A]]", "Best Response: [[B]]"]
    path.write_text(json.dumps({judge: {"temperature: 1": {"bbh:x": texts}}}))
    return str(path)


def test_several_paths_become_one_file(tmp_path):
    paths, out = [released(tmp_path, name) for name in ("j", "k")], str(tmp_path / "out.parquet")
    assert import_judgments("schroeder2024", paths, out=out) == 4
    assert pl.read_parquet(out)["judge"].to_list() == ["j", "j", "k", "k"]


def test_a_path_that_is_there_twice_is_one_line(tmp_path):
    path = released(tmp_path, "j")
    with pytest.raises(SweepError, match=r"a judgment more than once.*judge=j.*item_id=bbh:x"):
        import_judgments("schroeder2024", [path, path], out=str(tmp_path / "out.parquet"))


ROWS = "id,verdict\nq1,{}\nq2,pass\n"


@pytest.mark.parametrize("format_name", ["auto", "table"])
def test_files_that_differ_by_a_number_are_repeats_as_for_reduce(tmp_path, format_name, recwarn):
    paths = [str(tmp_path / f"run{n}.csv") for n in (2, 10)]
    for path, word in zip(paths, ("pass", "fail"), strict=True):
        Path(path).write_text(ROWS.format(word))
    import_judgments(format_name, paths, out=(out := str(tmp_path / "out.parquet")))
    found = pl.read_parquet(out).filter(item_id="q1").sort("replication")
    assert found["verdict"].to_list() == ["pass", "fail"]
    assert "each file is a repeat of its own" in "".join(str(one.message) for one in recwarn)


def test_files_that_nothing_tells_apart_are_refused_as_by_reduce(tmp_path):
    paths = [str(tmp_path / f"{name}.csv") for name in ("gpt", "claude")]
    for n, path in enumerate(paths):  # of other questions each, so that no row is there twice
        Path(path).write_text(ROWS.format("pass").replace("q", "q" * (n + 1)))
    with pytest.raises(SweepError, match="no column says what tells them apart"):
        import_judgments("auto", paths, out=str(tmp_path / "out.parquet"))


@pytest.mark.filterwarnings("ignore::judgerel_ray.ReadingWarning")
def test_a_table_or_a_log_that_is_piped_is_told_by_what_it_holds(tmp_path, monkeypatch, capsys):
    out = str(tmp_path / "out.parquet")
    piped(monkeypatch, ROWS.format("fail"))
    assert main(["import", "auto", "-", "--out", out]) == 0
    assert pl.read_parquet(out).height == 2
    log = Path(__file__).parents[1] / "cases/fc_single.jsonl"
    for command in (["import", "auto", "-", "--out", out, "--force"], ["reduce", "-"]):
        piped(monkeypatch, log.read_text())
        capsys.readouterr()
        assert main(command) == 2
        assert "a log of fastchat is imported first" in capsys.readouterr().err


def piped(monkeypatch, text):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


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
