"""Files of runs in each other's places: named in one line, or without effect, and never silent."""

from __future__ import annotations

import json
import os
import shlex
import shutil
from itertools import permutations

import pytest

import judgerel_ray
from bench.faults import called, put
from bench.small_run import make_run, read_again, run_here
from judgerel_ray import example
from judgerel_ray.core import StoreError, SweepError
from judgerel_ray.store import RunDirectory, packs, read_ledger, scan_judgments, verify_run

REDUCE = ("--by", "judge", "--coefficient", "percent_agreement", "--format", "json")
STATUS = ("judges", "broken_commits", "state")


def is_record(name):
    """Whether a file says what counts, rather than being counted."""
    return name.startswith("commits/") or name in ("manifest.json", "earlier.json", "progress.json")


def answers(run):
    """What readers make of a run that they must not be mistaken about."""
    status = called(["status", run.url, "--json"])
    shown = json.loads(status.out) if status.code == 0 else {}
    reduced = called(["reduce", run.url, *REDUCE])
    return reduced, status, {name: shown.get(name) for name in STATUS}


def check(run, name, data, whole, others):
    """Put other bytes in the place of a file, look, and put it back."""
    kept = run.files.read(name)
    put(run, name, data)
    try:
        verified = called(["verify", run.url])
        reduced, status, _ = answers(run)
    finally:
        put(run, name, kept)
    text = f"{verified.out}{verified.err}"
    assert verified.code in (1, 2), (name, others, verified)
    assert name in text or run.address(name) in text, (name, others, verified)
    assert "Traceback" not in f"{text}{reduced.err}{status.err}"
    for ended in (reduced, status):
        assert ended.code == 0 or ended.is_one_line, (name, others, ended)
    if reduced.code == 0:
        assert reduced.out == whole[0].out, (name, others)
    else:
        assert name in reduced.err, (name, others, reduced)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two runs of one sweep, of two sessions and two readings each, and their packs."""
    made = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packs, "MIN_RECORDS", 1)
        for _ in range(2):
            made.append(make_run(tmp_path_factory.mktemp("run")))
            read_again(made[-1])
    return made


@pytest.fixture
def shipped(tmp_path):
    """A copy of the run that the package ships."""
    shutil.copytree(example("run"), tmp_path / "run")
    return RunDirectory.open(os.fspath(tmp_path / "run"))


@pytest.mark.slow
def test_no_file_of_the_shipped_run_passes_for_another(shipped):
    names = [name for name in shipped.files.sizes("") if is_record(name)]
    assert len(names) > 8
    whole, bytes_of = answers(shipped), shipped.files.read_many(names)
    for name, other in permutations(names, 2):
        check(shipped, name, bytes_of[other], whole, other)
    assert answers(shipped) == whole


@pytest.mark.slow
def test_no_file_of_another_run_passes_for_ones_own(runs):
    one, two = runs
    names = [name for name in one.files.sizes("") if is_record(name)]
    whole, bytes_of = answers(one), two.files.read_many(names)
    assert set(bytes_of) == set(names)
    for name in names:
        for other in {name, *names[:: len(names) // 3]}:
            check(one, name, bytes_of[other], whole, other)
    assert answers(one) == whole


@pytest.mark.slow
def test_only_regular_files_of_a_run_are_opened(shipped):
    for name, data in shipped.files.read_many(shipped.files.sizes("")).items():
        path = shipped.address(name)
        os.unlink(path)
        os.mkfifo(path)
        verified = called(["verify", shipped.url])
        fifo = "expected a regular file, got a FIFO"
        if name == "manifest.json":
            assert verified.is_one_line, verified
            assert f"{fifo} [path={path}]. Try: remove it" in verified.err
        else:
            assert verified.code == 1, verified
            assert f"error: {name}: {fifo}; remove it" in verified.out
        reduced = called(["reduce", shipped.url, *REDUCE])
        assert reduced.code == 0 or (reduced.is_one_line and path in reduced.err), reduced
        os.unlink(path)
        put(shipped, name, data)


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["run", "of two words"])
def test_a_run_of_another_format_is_measured_as_told(shipped, folder):
    how = ("--by", "judge,protocol,temperature", *REDUCE[2:])
    whole = json.loads(called(["reduce", shipped.url, *how]).out)
    part = next(iter(shipped.files.sizes("data")))
    again = f"{os.path.dirname(part)}/part-s0002-l000001-a1-0.parquet"  # it counts once
    shipped.write_bytes(again, shipped.read_bytes(part))
    shipped.write_text("manifest.json", '{"format": "judgerel-run/1", "seal": "0", "nonce": "1"}')
    run = os.path.join(os.path.dirname(shipped.url), folder)
    os.rename(shipped.url, run)
    for verb in ("reduce", "status", "verify", "rejudge"):
        refused = called([verb, run])
        assert refused.code == 2, refused
        told = refused.err.partition("Try: judgerel ")[2].partition(" measures")[0]
        measured = called([*shlex.split(told), *how])
        assert measured.code == 0, measured
        assert json.loads(measured.out) == whole
        assert "judgerel-run/1, as they landed" in measured.err


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl", "json"])
def test_judgments_that_come_through_a_pipe_are_refused(tmp_path, ending):
    path = tmp_path / f"judgments.{ending}"
    os.mkfifo(path)
    refused = called(["reduce", os.fspath(path)])
    assert refused.is_one_line
    assert "expected a regular file, got a FIFO" in refused.err
    with pytest.raises(SweepError, match="got a FIFO"):
        judgerel_ray.reduce(path)


RESUMED = (
    "commits/s0001-l000001-a1.json", "commits/session-0001.json", "commits/session-0002.json",
    "commits/session-0002.ended", "commits/session-0001.pack", "commits/generation-0002.json",
    "commits/token", "manifest.json", "progress.json",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", RESUMED)
def test_a_run_goes_on_without_what_was_copied_over_or_says_what_to_put_back(runs, name, tmp_path):
    one, two = runs
    folder = os.path.dirname(one.url)
    shutil.copytree(folder, tmp_path / "copy")
    run = RunDirectory.open(os.fspath(tmp_path / "copy/run"))
    put(run, name, two.files.read(name))
    if name == "manifest.json":
        with pytest.raises(StoreError, match=name):
            run_here(tmp_path / "copy/sweep.toml", run.url, ask_lost=True)
        return
    asked, _ = run_here(tmp_path / "copy/sweep.toml", run.url, ask_lost=True)
    assert asked < read_ledger(one).n_rows
    # A reading is made again by `rejudge`; a record that a pack holds counts, and is to be removed.
    errors = [found.name for found in verify_run(run) if found.level == "error"]
    assert errors == ([name] if "generation" in name or "-l" in name else [])
    keys = scan_judgments(run, ledger=read_ledger(run)).collect()["key"]
    assert set(keys) == set(scan_judgments(one).collect()["key"])
    assert keys.n_unique() == keys.len()
