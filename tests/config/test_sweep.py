"""Who judges, who responds, and where the paths of a sweep lead."""

import pytest

from judgerel_ray.config import parse_sweep, read_sweep
from judgerel_ray.core import SweepError

JUDGE = '[[judge]]\nname = "{name}"\nengine = "simulated"\nmodel = "uniform"\ngpus = 0\n'
ASK = '[[ask]]\nprotocol = "best_of"\nbenchmark = "b"\npath = "p"\n'


def sweep_of(names, *asks):
    judges = "".join(JUDGE.format(name=name) for name in names)
    return parse_sweep('name = "s"\n' + judges + "".join(ASK + ask + "\n" for ask in asks))


def names_of(judges):
    return [judge.name for judge in judges]


def test_every_judge_that_is_no_responder_of_any_ask_is_asked():
    sweep = sweep_of("abcd", 'responders = ["a", "b"]', "")
    assert names_of(sweep.judges_of(0)) == ["c", "d"]
    assert names_of(sweep.judges_of(1)) == ["c", "d"]
    assert names_of(sweep.responders_of(0)) == ["a", "b"]
    assert names_of(sweep.responders_of(1)) == []


def test_named_judges_are_asked_even_where_they_respond():
    sweep = sweep_of("abc", 'responders = ["a", "b"]\njudges = ["c", "a"]')
    assert names_of(sweep.judges_of(0)) == ["a", "c"]


def test_names_that_are_no_judges_are_recorded_answers():
    sweep = sweep_of("ab", 'responders = ["gpt", "llama"]')
    assert names_of(sweep.judges_of(0)) == ["a", "b"]
    assert names_of(sweep.responders_of(0)) == []
    assert sweep.ask[0].responders == ("gpt", "llama")


@pytest.fixture
def beside(tmp_path, monkeypatch):
    """A sweep in one folder, read from another."""
    for name in ("sweeps", "here"):
        (tmp_path / name).mkdir()
    (tmp_path / "sweeps" / "s.toml").write_text('name = "s"\n' + JUDGE.format(name="j") + ASK)
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path


def test_a_relative_path_is_looked_for_beside_the_sweep_then_here(beside):
    sweep = read_sweep("../sweeps/s.toml")
    assert sweep.find("x.csv") == str(beside / "sweeps" / "x.csv")  # in neither
    (beside / "here" / "x.csv").touch()
    assert sweep.find("x.csv") == str(beside / "here" / "x.csv")
    (beside / "sweeps" / "x.csv").touch()
    assert sweep.find("x.csv") == str(beside / "sweeps" / "x.csv")
    assert sweep.find("../here/x.csv") == str(beside / "here" / "x.csv")


def test_absolute_paths_urls_and_home_stay_what_they_are(beside, monkeypatch):
    sweep = read_sweep("../sweeps/s.toml")
    monkeypatch.setenv("HOME", str(beside))
    assert sweep.find("/no/such/x.csv") == "/no/such/x.csv"
    assert sweep.find("s3://bucket/x.csv") == "s3://bucket/x.csv"
    assert sweep.find("~/x.csv") == str(beside / "x.csv")


@pytest.mark.parametrize("path", ["a\0b", "x" * 5000, "~nobody-has-this-name/x"])
def test_what_can_be_no_path_is_refused_in_words(path):
    with pytest.raises(SweepError, match="not a path"):
        sweep_of("j", "").find(path)


def test_a_simulated_judge_holds_a_gpu_only_where_it_is_told_to():
    text = 'name = "s"\n[[judge]]\nname = "{0}"\nengine = "{1}"\nmodel = "uniform"\n{2}\n' + ASK
    assert parse_sweep(text.format("j", "simulated", "")).judge[0].gpus == 0
    assert parse_sweep(text.format("j", "simulated", "gpus = 2")).judge[0].gpus == 2
    assert parse_sweep(text.format("j", "vllm", "")).judge[0].gpus == 1
