"""Runs as Python programs call them: what a shell learns from exit codes, a warning says."""

import warnings

import pytest

import judgerel_ray
from judgerel_ray.asking.run import running
from judgerel_ray.asking.run.running import RunSummary
from judgerel_ray.core import SweepError


@pytest.fixture
def ended(sweep, driver_of, monkeypatch):
    """A run that ends so, with all that was asked landed in truth."""
    driver = driver_of(sweep())
    driver.go("word", waves=1)

    def make(**said):
        values = {"session": 1, "asked": 3, "landed": 3, "owed": 0, "failed": 0, "asked_now": 3}
        summary = RunSummary(run="r", **{**values, "problems": {}, **said})
        monkeypatch.setattr(running, "run_sweep", lambda *_, **__: summary)
        return driver.resolved.sweep, driver.out

    return make


def test_what_is_pending_is_a_warning_of_its_own(ended):
    sweep, out = ended(owed=2, problems={"bad": "engine did\nnot start"})
    with pytest.warns(judgerel_ray.UnfinishedRunWarning) as told:
        frame = judgerel_ray.run(sweep, out=out)
    [one] = told
    assert (
        str(one.message) == "r has 2 pending requests; judge bad was given up: engine did not start"
    )
    assert (one.message.owed, one.message.problems) == (2, {"bad": "engine did\nnot start"})
    assert one.filename == __file__
    assert isinstance(one.message, RuntimeWarning)
    assert frame.height == 15


def test_a_run_that_is_done_warns_of_nothing(ended):
    sweep, out = ended()
    with warnings.catch_warnings(record=True) as told:
        assert judgerel_ray.run(sweep, out=out).height == 15
    assert told == []


@pytest.mark.parametrize("out", ["", "  "])
def test_no_place_is_refused(ended, out):
    sweep, _ = ended()
    with pytest.raises(SweepError, match="out is empty"):
        judgerel_ray.run(sweep, out=out)


def test_what_is_no_sweep_is_refused_in_one_line(tmp_path):
    with pytest.raises(SweepError, match="must be a path or what load_sweep gives, got int"):
        judgerel_ray.run(3, out=tmp_path / "z")
    assert not (tmp_path / "z").exists()
