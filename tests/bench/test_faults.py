"""Faults in the files of a run, as bench/faults.py counts them, and what asks for lost rows."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from bench import faults
from bench.faults import (
    EQUAL,
    REDUCE,
    REFUSED,
    called,
    into_bucket,
    put,
    read_results,
    try_faults,
)
from bench.small_run import make_run, read_again, run_here
from judgerel_ray.store import RunDirectory, packs, read_ledger, scan_judgments
from judgerel_ray.store.digests import altered

pytestmark = pytest.mark.slow
SAME = ("key", "seed", "item_id", "replication", "label", "verdict", "outcome")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("faults"))


def flipped(data, place):
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


def test_no_fault_gives_other_numbers_and_verify_names_every_one(run):
    # Of 2,000 with four seeds none either.
    tally = try_faults(run, n=100, seed=5, every=50)
    assert (tally.wrong, tally.unnamed) == ([], [])
    kinds = {kind for kind, _ in tally.reduced}
    assert {"data", "texts", "commits", "sessions", "items.parquet", "distributions"} <= kinds
    assert tally.reduced["sweep.toml", EQUAL] == tally.reduced["items.parquet", EQUAL] == 0
    assert tally.reduced["texts", REFUSED] == 0  # no number of these is made of texts


def test_readings_that_are_damaged_never_give_way_to_others(tmp_path):
    run = make_run(tmp_path)
    first = called(["reduce", run.url, *REDUCE])
    read_again(run)
    assert called(["reduce", run.url, *REDUCE]).out != first.out
    tally = try_faults(run, n=60, seed=8)
    assert (tally.wrong, tally.unnamed) == ([], [])
    assert tally.reduced["readings", REFUSED] > 0 < tally.reduced["generations", REFUSED]


def test_packs_and_the_records_they_hold_may_be_damaged(tmp_path, monkeypatch):
    monkeypatch.setattr(packs, "MIN_RECORDS", 1)
    packed = make_run(tmp_path)
    monkeypatch.setattr(faults, "WEIGHTS", {"packs": 6, "commits": 6})
    tally = try_faults(packed, n=110, seed=9)
    assert (tally.wrong, tally.unnamed) == ([], [])
    assert tally.reduced["packs", EQUAL] > 20 < tally.reduced["commits", EQUAL]
    assert tally.reduced["packs", REFUSED] == tally.reduced["commits", REFUSED] == 0


def test_a_count_that_was_cut_off_goes_on(run, tmp_path):
    results = tmp_path / "results.jsonl"
    first = try_faults(run, n=5, seed=7, results=results)
    results.write_text(results.read_text() + '{"seed": 7, "tri')  # cut off while it was written
    before = read_results(results)
    assert before == first.faults
    whole = try_faults(run, n=9, seed=7, before=before, results=results)
    assert [fault.trial for fault in whole.faults] == list(range(9))
    assert read_results(results) == whole.faults == try_faults(run, n=9, seed=7).faults


def test_the_same_in_a_bucket(run):
    tally = try_faults(into_bucket(run, "memory://faults"), n=45, seed=6)
    assert (tally.wrong, tally.unnamed) == ([], [])


def test_every_byte_of_a_part_is_vouched_for(run):
    commit = read_ledger(run).commits[0]
    name = commit.data_file
    data = run.files.read(name)
    rng = np.random.default_rng(1)
    for place in (
        0,
        5,
        len(data) - 9,
        len(data) - 6,
        len(data) - 1,
        *rng.integers(len(data), size=40),
    ):
        put(run, name, flipped(data, place))
        assert altered(run.files, [commit.vouched("data_file")]) == (name,)
    put(run, name, data)
    assert altered(run.files, [commit.vouched("data_file")]) == ()


@pytest.fixture(scope="module")
def in_pieces(tmp_path_factory):
    """A folder with a run of a lease an item: some hold judgments alone."""
    folder = tmp_path_factory.mktemp("pieces")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bench.small_run.PIECE", 1)
        patch.setattr(packs, "MIN_RECORDS", 10**9)  # a record that a pack holds is not lost
        return folder, make_run(folder)


@pytest.mark.parametrize("how", ["flipped", "cut", "gone", "record"])
def test_the_command_named_asks_the_lost_rows_again_and_no_others(
    in_pieces, tmp_path, how, monkeypatch
):
    monkeypatch.setattr("bench.small_run.PIECE", 1)
    monkeypatch.setattr(packs, "MIN_RECORDS", 10**9)
    folder, made = in_pieces
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    run = RunDirectory.open(str(tmp_path / Path(made.url).relative_to(folder)))
    before = called(["reduce", run.url, *REDUCE])
    rows = scan_judgments(run, columns=SAME).collect().sort("key")
    # The last judgments of a judge, on which nothing stands.
    commit = [one for one in read_ledger(run).commits if not one.holds_answers][-1]
    name = f"commits/{commit.name}" if how == "record" else commit.data_file
    data = run.files.read(name)
    left = {"cut": data[:-1], "gone": None}.get(how, flipped(data, len(data) // 2))
    put(run, name, left)
    refused = called(["reduce", run.url, *REDUCE])
    assert refused.is_one_line
    assert run.address(name) in refused.err
    command = f"judgerel run SWEEP.toml --out {run.url}"
    assert f"Try: {command} asks " in refused.err
    asked, messages = run_here(tmp_path / "sweep.toml", run.url)
    assert asked == commit.rows
    assert "lost: " in messages
    assert called(["reduce", run.url, *REDUCE]) == before
    assert scan_judgments(run, columns=SAME).collect().sort("key").equals(rows)
    assert called(["verify", run.url]).code == 0
