"""Packs of records: what they save, and that nothing rests on them."""

from __future__ import annotations

import os
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.core import StoreError
from judgerel_ray.store import (
    RunDirectory,
    begin_session,
    close_lease,
    end_session,
    packs,
    read_ledger,
    verify_run,
)
from judgerel_ray.store.files import Disk
from judgerel_ray.store.generations import land_generation
from judgerel_ray.store.ledger import build_ledger, look_at_commits
from judgerel_ray.store.losses import part_commits
from judgerel_ray.store.packs import pack_name, parse_pack
from judgerel_ray.store.records import read_attempt, seal, unseal

N = 5
FIRST = "commits/session-0001.pack"


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(packs, "MIN_RECORDS", 2)


def land_session(run, land_rows, *, n=N):
    """A session that lands n leases, closes an attempt and ends."""
    session = begin_session(run).number
    for lease in range(1, n + 1):
        land_rows(run, session, lease, {f"c{session}-{lease}": [(0, 2)]})
    close_lease(run, session=session, lease=n + 1, attempt=1)
    end_session(run, session)
    return session


def held(run, session=1):
    """Names of the records in a pack."""
    return [name for name, _ in packs._commit_pack_entries(run, session)]


def unpacked(run):
    """What landed by the file of every record."""
    look = look_at_commits(run, packed=False)
    number = look.session.number if look.session else 0
    return build_ledger(number, look.commits, broken=look.broken, run=run)


def errors(run):
    return [(one.kind, one.name) for one in verify_run(run) if one.level == "error"]


def test_names_of_packs():
    assert parse_pack(pack_name(12345)) == 12345
    for name in ("session-1.pack", "session-0001.ended", "session-0001.pack.tmp", ""):
        assert parse_pack(name) is None


@pytest.mark.slow
def test_a_pack_has_every_record_of_the_session_as_it_is(run, land_rows):
    land_session(run, land_rows)
    names = [name for name in run.names("commits") if name.startswith("s0001-l")]
    entries = dict(packs._commit_pack_entries(run, 1))
    assert entries == {name: run.files.read(f"commits/{name}") for name in names}
    assert len(entries) == N + 1  # the closed attempt, too
    assert all(read_attempt(name, data, run.identity) for name, data in entries.items())
    assert read_ledger(run) == unpacked(run)
    assert verify_run(run) == []


@pytest.mark.slow
def test_few_records_are_not_packed_until_there_are_more(run, land_rows, monkeypatch):
    monkeypatch.setattr(packs, "MIN_RECORDS", 8)
    land_session(run, land_rows)
    assert not run.exists(FIRST)
    land_session(run, land_rows)
    # Closed attempts of the first session count no longer.
    assert len(held(run, 2)) == 2 * N + 1
    assert read_ledger(run) == unpacked(run)


@pytest.mark.slow
def test_later_packs_hold_what_earlier_ones_do_not(run, land_rows):
    land_session(run, land_rows)
    land_session(run, land_rows)
    end_session(run, begin_session(run).number)
    assert [len(held(run, number)) for number in (1, 2, 3)] == [N + 1, N + 1, 0]
    assert not run.exists("commits/session-0003.pack")
    assert read_ledger(run) == unpacked(run)
    assert read_ledger(run).n_rows == 4 * N


@pytest.mark.slow
def test_a_look_reads_a_handful_of_files(disk_run, land_rows, monkeypatch):
    land_session(disk_run, land_rows, n=20)
    opened, plain = [], Disk.read_many

    def read_many(self, names):
        names = list(names)
        opened.extend(names)
        return plain(self, names)

    monkeypatch.setattr(Disk, "read_many", read_many)
    ledger = read_ledger(disk_run)
    assert len(opened) == 5, opened  # session, its mark, its pack and whose it is, the manifest
    opened.clear()
    assert unpacked(disk_run) == ledger
    assert len(opened) == 3 + 21
    # A session at work reads its own records, those before from packs.
    session = begin_session(disk_run).number
    for lease in range(1, 4):
        land_rows(disk_run, session, lease, {f"d{lease}": [(0, 2)]})
    opened.clear()
    later = read_ledger(disk_run)
    assert len(opened) == 4 + 3, opened
    opened.clear()
    land_rows(disk_run, session, 4, {"d4": [(0, 2)]})
    assert read_ledger(disk_run, since=later).n_rows == later.n_rows + 2
    assert len(opened) == 2 + 1, opened  # no pack: it has no record of this session


@pytest.fixture(scope="module")
def damaged_run(tmp_path_factory, land_rows):
    """A run read again once, whose first two of three sessions left packs; and other packs."""
    patch = pytest.MonkeyPatch()
    patch.setattr(packs, "MIN_RECORDS", 2)
    run, other = (
        RunDirectory.create(os.fspath(tmp_path_factory.mktemp(name) / "run")) for name in "ab"
    )
    land_session(other, land_rows)
    session = begin_session(run).number
    land_rows(run, session, 1, {"c1-1": [(0, 2)]})
    land_rows(run, session, 2, {"c1-2": [(0, 2)]})
    end_session(run, session)
    older = run.files.read(FIRST)
    for lease in range(3, N + 1):
        land_rows(run, session, lease, {f"c1-{lease}": [(0, 2)]})
    close_lease(run, session=session, lease=N + 1, attempt=1)
    end_session(run, session)
    assert len(held(run)) == N + 1  # all, though an earlier pack of this name held two
    land_session(run, land_rows)
    commit = read_ledger(run).commits[0]
    frame = pl.read_parquet(run.address(commit.data_file), hive_partitioning=False)
    readings = [(commit, frame.with_columns(pl.col("judge").cast(pl.String)))]
    assert land_generation(run, readings, number=1, reader="r", version="1")
    begin_session(run)
    land_rows(run, 3, 1, {"c3-1": [(0, 2)]})
    yield run, other.files.read(FIRST), older
    patch.undo()


DAMAGES = st.one_of(
    st.tuples(st.just("cut"), st.floats(0, 1, exclude_max=True)),
    st.tuples(st.just("flipped"), st.floats(0, 1, exclude_max=True)),
    st.tuples(st.just("longer"), st.just(0.0)),
    st.tuples(st.sampled_from(["gone", "other", "later", "older", "empty"]), st.just(0.0)),
)


@given(damage=DAMAGES, bit=st.integers(0, 7))
def test_whatever_becomes_of_a_pack_the_ledger_is_the_same(damaged_run, damage, bit):
    run, other, older = damaged_run
    whole = run.files.read(FIRST)
    how, share = damage
    at = int(share * len(whole))
    left = {
        "cut": whole[:at],
        "flipped": whole[:at] + bytes([whole[at] ^ (1 << bit)]) + whole[at + 1 :],
        "longer": whole + b"\n",
        "other": other,
        "later": run.files.read("commits/session-0002.pack"),
        "older": older,
        "empty": b"",
        "gone": None,
    }[how]
    path = Path(run.address(FIRST))
    expected = unpacked(run)
    assert (expected.broken, expected.n_rows) == ((), 4 * N + 2)
    try:
        path.unlink() if left is None else path.write_bytes(left)
        assert read_ledger(run) == expected
        assert look_at_commits(run) == look_at_commits(run, packed=False)
        kind = "missing_file" if how == "gone" else "broken_record"
        assert errors(run) == ([] if how == "older" else [(kind, FIRST)])
    finally:
        path.write_bytes(whole)


@pytest.mark.alike(3)
@pytest.mark.parametrize("how", ["gone", "altered", "cut"])
@pytest.mark.parametrize("lease", [1, N + 1])  # a commit, and a closed attempt
def test_a_record_that_a_pack_holds_is_not_lost(disk_run, land_rows, how, lease):
    land_session(disk_run, land_rows)
    before, parted = read_ledger(disk_run), part_commits(disk_run, look_at_commits(disk_run))
    name = f"commits/s0001-l{lease:06d}-a1.json"
    path, whole = Path(disk_run.address(name)), disk_run.files.read(name)
    path.write_bytes(whole.replace(b"1", b"2") if how == "altered" else whole[:-5])
    if how == "gone":
        path.unlink()
    assert read_ledger(disk_run) == before
    assert part_commits(disk_run, look_at_commits(disk_run)) == parted
    assert errors(disk_run) == [("broken_record", name)]
    (found,) = verify_run(disk_run)
    assert found.message == (
        f"the record is {'gone' if how == 'gone' else 'torn or altered; remove it'}; a pack holds "
        "it, so that its rows count and none is asked again, and the next run puts it back"
    )
    path.unlink(missing_ok=True)  # as the message says
    opened = begin_session(disk_run)
    assert (opened.losses.names, opened.ledger.n_rows) == ((), 2 * N)
    end_session(disk_run, opened.number)
    assert verify_run(disk_run) == []
    assert path.exists() == (lease == 1)  # closed attempts count no longer
    assert lease != 1 or path.read_bytes() == whole
    disk_run.remove(FIRST)
    assert read_ledger(disk_run).n_rows == 2 * N


def test_a_record_of_another_run_in_place_of_one_that_is_packed_is_named(disk_run, land_rows):
    land_session(disk_run, land_rows)
    name = "commits/s0001-l000001-a1.json"
    content = dict(unseal(disk_run.files.read(name), name, disk_run.identity))
    disk_run.write_bytes(name, seal({**content, "judge": "k"}, name, disk_run.identity))
    assert read_ledger(disk_run).rows == {"j": 2 * N}
    assert errors(disk_run) == [("broken_record", name)]


def test_damage_is_a_note_once_a_session_ended_that_went_on_without_it(disk_run, land_rows):
    land_session(disk_run, land_rows)
    Path(disk_run.address(FIRST)).write_bytes(disk_run.files.read(FIRST)[:-1])
    assert errors(disk_run) == [("broken_record", FIRST)]
    end_session(disk_run, begin_session(disk_run).number)
    assert [(one.level, one.name) for one in verify_run(disk_run)] == [("note", FIRST)]
    assert held(disk_run, 2) == list(read_ledger(disk_run).commit_names)  # packed once more


@pytest.mark.slow
def test_the_pack_of_the_last_session_is_missed(run, land_rows):
    land_session(run, land_rows)
    assert verify_run(run) == []
    run.remove(FIRST)
    assert errors(run) == [("missing_file", FIRST)]
    end_session(run, begin_session(run).number)
    assert verify_run(run) == []


@pytest.mark.alike(4)
@pytest.mark.parametrize("step", [0, 1, 2, 3])
def test_a_driver_killed_at_its_end_loses_nothing(run, land_rows, step, monkeypatch):
    """Before its mark, before its pack, before the mark names the pack, and after all."""
    plain, written = RunDirectory.write_bytes, []

    def write_bytes(self, name, data):
        if len(written) == step:
            raise KeyboardInterrupt
        written.append(name)
        plain(self, name, data)

    begin_session(run)
    for lease in range(1, N + 1):
        land_rows(run, 1, lease, {f"c1-{lease}": [(0, 2)]})
    with monkeypatch.context() as patch:
        patch.setattr(RunDirectory, "write_bytes", write_bytes)
        if step < 3:
            with pytest.raises(KeyboardInterrupt):
                end_session(run, 1)
        else:
            end_session(run, 1)
    mark = "commits/session-0001.ended"
    assert written == [mark, FIRST, mark][:step]
    assert read_ledger(run) == unpacked(run)
    assert verify_run(run) == []
    opened = begin_session(run)
    assert (opened.losses.names, opened.ledger.n_rows) == ((), 2 * N)
    end_session(run, 2)
    packed = sorted(held(run, 1) + held(run, 2))
    assert packed == list(read_ledger(run).commit_names)
    assert run.exists("commits/session-0002.pack") == (step < 2)
    assert verify_run(run) == []


def test_a_store_that_refuses_a_pack_ends_the_session_all_the_same(run, land_rows, monkeypatch):
    def refuse(*_, **__):
        raise StoreError("full")

    with monkeypatch.context() as patch:
        patch.setattr("judgerel_ray.store.sessions.leave_pack", refuse)
        land_session(run, land_rows)
    assert run.exists("commits/session-0001.ended")
    assert read_ledger(run) == unpacked(run)


@pytest.mark.slow
def test_a_driver_that_was_superseded_packs_nothing_and_its_late_rows_do_not_count(run, land_rows):
    begin_session(run)
    for lease in range(1, N + 1):
        land_rows(run, 1, lease, {f"c1-{lease}": [(0, 2)]})
    begin_session(run)
    land_rows(run, 1, N + 1, {"late": [(0, 2)]})
    end_session(run, 1)
    assert not run.exists(FIRST)
    # Even where it packs what it knows: a look takes what counts, and no more.
    packs.leave_pack(run, 1, run.names("commits"), {f"s0001-l{n:06d}-a1.json" for n in (1, N + 1)})
    assert len(held(run, 1)) == 2
    assert read_ledger(run) == unpacked(run)
    assert read_ledger(run).n_rows == 2 * N
    end_session(run, 2)
    assert read_ledger(run) == unpacked(run)
    assert len(held(run, 2)) == N - 1


@pytest.mark.slow
def test_what_lands_after_the_end_is_read_beside_the_pack(run, land_rows):
    land_session(run, land_rows)
    land_rows(run, 1, 9, {"late": [(0, 2)]})
    assert read_ledger(run) == unpacked(run)
    assert read_ledger(run).n_rows == 2 * N + 2
