"""Paths that callers give: one rule and one wording for all verbs."""

import os

import pytest

from judgerel_ray.cli import main

JUDGED = [
    ["reduce", "{}"],
    ["advise", "{}"],
    ["compare", "{}", "--by", "judge"],
    ["compare", "good.csv", "{}"],
    ["report", "{}", "--out", "r.html"],
]
SOURCES = [
    ["items", "mine", "{}", "--out", "i.parquet"],
    ["items", "bbh", "{}", "--out", "i.parquet"],
    ["items", "mt_bench", "good.csv", "--answers", "{}", "--out", "i.parquet"],
    ["import", "schroeder2024", "{}", "--out", "i.parquet"],
]
RUNS = [["status", "{}"], ["verify", "{}"]]
WRITERS = [
    (["reduce", "good.csv", "--out", "{}"], ".json"),
    (["report", "good.csv", "--out", "{}"], ".html"),
    (["items", "mine", "items.csv", "--out", "{}"], ".parquet"),
    (["import", "schroeder2024", "good.csv", "--out", "{}"], ".parquet"),
]


@pytest.fixture
def said(tmp_path, monkeypatch, capsys):
    """The one line that a verb says of a path, in a folder with a few things in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty.csv").touch()
    (tmp_path / "good.csv").write_text("item_id,replication,verdict\nq1,0,A\nq1,1,A\nq2,0,B\n")
    (tmp_path / "items.csv").write_text("item_id,question\n1,Q\n")
    before = sorted(os.listdir())

    def say(arguments, path):
        assert main([word.format(path) for word in arguments]) == 2
        out, err = capsys.readouterr()
        assert (out, err.count("\n"), err[:10]) == ("", 1, "judgerel: ")
        assert sorted(os.listdir()) == before
        return err

    return say


@pytest.mark.parametrize("arguments", JUDGED + SOURCES, ids=" ".join)
def test_nothing_there_is_told_alike_with_the_name_beside_it(said, arguments):
    line = "no such file or folder [path=folde]. Try: folder\n"
    assert said(arguments, "folde") == f"judgerel: {line}"
    assert "no such file or folder" in said(arguments, "no\0where")
    assert "no such file or folder" in said(arguments, "n" * 5000)


@pytest.mark.parametrize("arguments", JUDGED + RUNS, ids=" ".join)
def test_a_folder_that_is_no_run_is_told_alike(said, arguments):
    line = said(arguments, "folder")
    assert "expected a run directory, got a folder without a manifest.json of judgerel" in line


@pytest.mark.parametrize("arguments", JUDGED + RUNS, ids=" ".join)
def test_an_address_where_no_run_is_is_told_alike(said, arguments):
    line = said(arguments, "memory://nothing-here")
    assert "expected a run directory, got none [run=memory://nothing-here]" in line


@pytest.mark.parametrize("arguments", RUNS, ids=" ".join)
def test_a_file_is_no_run(said, arguments):
    assert "expected a run directory, got a file" in said(arguments, "good.csv")


@pytest.mark.parametrize(("arguments", "ending"), WRITERS, ids=lambda value: value[0])
def test_what_cannot_be_written_is_told_before_any_work(said, arguments, ending):
    assert "--out must end in" in said(arguments, "x.xlsx")
    assert "--out must end in" in said(arguments, "")
    assert "--out is no place for a file" in said(arguments, f"good.csv/x{ending}")
    os.mkdir(f"folder/made{ending}")
    assert "--out is no place for a file" in said(arguments, f"folder/made{ending}")


@pytest.mark.parametrize(("arguments", "ending"), WRITERS, ids=lambda value: value[0])
def test_no_folder_is_made_for_a_file(said, arguments, ending):
    line = said(arguments, f"new/a b/x{ending}")
    assert "the folder of --out is not there" in line
    assert "Try: mkdir -p '" in line
    assert line.endswith("/new/a b'\n")


@pytest.mark.parametrize(("arguments", "ending"), WRITERS, ids=lambda value: value[0])
def test_a_place_that_is_read_only_is_told(said, monkeypatch, arguments, ending):
    monkeypatch.setattr(os, "access", lambda *_: False)  # the superuser may write everywhere
    assert "--out may not be written" in said(arguments, f"x{ending}")


def test_what_is_read_is_never_stdout(tmp_path, capfd):
    """As `judgerel reduce log.csv --format json >> log.csv`."""
    log = tmp_path / "log.csv"
    log.write_text("item_id,replication,verdict\nq1,0,A\nq1,1,A\nq2,0,B\n")
    before = log.read_bytes()
    with log.open("a") as opened:
        saved = os.dup(1)
        os.dup2(opened.fileno(), 1)
        try:
            code = main(["reduce", str(log), "--format", "json"])
        finally:
            os.dup2(saved, 1)
            os.close(saved)
    assert code == 2
    assert log.read_bytes() == before
    assert "stdout is the file that is read" in capfd.readouterr().err


def test_a_link_to_nothing_is_not_told_to_try_itself(tmp_path, capsys):
    (tmp_path / "l.csv").symlink_to("gone.csv")
    assert main(["reduce", str(tmp_path / "l.csv")]) == 2
    assert "Try" not in capsys.readouterr().err


@pytest.mark.parametrize(("arguments", "ending"), WRITERS, ids=str)
def test_no_output_goes_to_memory_that_ends_with_the_command(said, arguments, ending):
    for out in ("memory://a", "MEMORY://x/a"):
        assert "must be a place that every process sees" in said(arguments, out + ending)
