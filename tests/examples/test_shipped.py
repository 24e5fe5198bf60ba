"""What is shipped to try the package on: small, whole, and named for what it is."""

import re
from pathlib import Path

import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.core import SweepError

FOLDER = Path(judgerel_ray.example("run")).parent


def test_judges_of_the_example_are_simulated_and_say_so():
    sweep = judgerel_ray.load_sweep(judgerel_ray.example("sweep.toml"))
    assert {judge.engine for judge in sweep.judge} == {"simulated"}
    names = {judge.name for judge in sweep.judge}
    assert all(name.startswith("simulated-") for name in names)
    assert set(pl.read_csv(judgerel_ray.example("judgments.csv"))["judge"]) == names


def test_the_run_shipped_is_whole_and_of_the_sweep_shipped():
    run = judgerel_ray.example("run")
    assert judgerel_ray.verify(run) == []
    assert judgerel_ray.status(run).state == "done"
    assert Path(run, "sweep.toml").read_text() == (FOLDER / "sweep.toml").read_text()


def test_what_is_shipped_is_small_and_names_no_folder_of_a_machine():
    files = [file for file in FOLDER.rglob("*") if file.is_file() and file.suffix != ".pyc"]
    assert sum(file.stat().st_size for file in files) < 150_000
    for file in files:
        assert not re.search(rb"/(home|root|tmp)/", file.read_bytes()), file


@pytest.mark.slow
def test_what_is_read_stays_as_it_is():
    before = {file: file.stat().st_mtime_ns for file in FOLDER.rglob("*")}
    run = judgerel_ray.example("run")
    judgerel_ray.reduce(run)
    judgerel_ray.distributions(run)
    assert {file: file.stat().st_mtime_ns for file in FOLDER.rglob("*")} == before


def test_an_example_that_is_not_there_is_refused():
    with pytest.raises(SweepError, match=r"must be one of run, .*, got 'table'"):
        judgerel_ray.example("table")
