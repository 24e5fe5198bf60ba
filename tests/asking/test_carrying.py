"""What earlier runs landed, landed in a new run: every row once, and with the files it has."""

import errno
import gc
import os
import shutil
import tracemalloc
from types import SimpleNamespace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.asking.earlier_runs import Wanted, earlier_of
from judgerel_ray.asking.refreshing import carry_landed
from judgerel_ray.asking.run.pending import Pending
from judgerel_ray.core import StoreError
from judgerel_ray.design import planned_asks, voices_of
from judgerel_ray.store import (
    RunDirectory,
    end_session,
    parts,
    read_ledger,
    scan_completions,
    scan_judgments,
    verify_run,
)
from judgerel_ray.store.files import Disk
from judgerel_ray.store.generations import land_generation
from judgerel_ray.store.records import union

BATCH = 4
REPLICATIONS = 3
ASK = f"replications = {REPLICATIONS}"


class Cut(BaseException):
    """A kill."""


def items(n, *, first=0):
    line = '{{"item_id": "q{0}", "question": "Which {0}?", "options": ["x", "y"]}}'
    return [line.format(i) for i in range(first, n)]


@pytest.fixture
def world(sweep, driver_of, tmp_path):
    """Lands items of a sweep in runs of their own, some items a commit, and carries them."""

    def resolved(n, *, first=0, ask=ASK, protocol="best_of"):
        return sweep(items=items(n, first=first), asks=(ask,), protocol=protocol)

    def landed(name, one, *, attempt=1, words="once", batch=BATCH, only=None):
        driver = driver_of(one)
        driver.out = str(tmp_path / name)
        run, session = driver.run, driver.begin()
        (frame,) = one.frames
        (voice,) = voices_of(frame, 0)
        pending = Pending(asked=((frame, voice),), wave=0, texts={}, ledger=session.ledger)
        asks = [ask for work in pending.asks(None) for ask in work][:only]
        with pytest.MonkeyPatch.context() as patch:
            plain = parts.land
            patch.setitem(
                driver._land.__globals__, "land",
                lambda *a, **k: plain(*a, **{
                    **k, "attempt": attempt,
                    "judgments": k["judgments"].with_columns(
                        attempt=pl.lit(attempt, pl.Int32), finish_reason=pl.lit(words)
                    ),
                }),
            )  # fmt: skip
            for lease, at in enumerate(range(0, len(asks), batch), start=1):
                driver._land(run, session.number, lease, asks[at : at + batch], "", False)
        end_session(run, session.number)
        return run

    def carried(one, *runs):
        out = str(tmp_path / "new")
        found = carry_landed(one, out, earlier_of(one, runs))
        said.extend(found.lacking)
        return found.n_rows, RunDirectory.open(out) if found.n_rows else None

    said: list[str] = []
    return SimpleNamespace(
        resolved=resolved, landed=landed, carried=carried, folder=tmp_path, said=said
    )


def rows(run):
    return scan_judgments(run).collect().sort("key")


def files(run):
    """Files of a run by the digest that its records have of them."""
    return {
        digest: run.address(name)
        for one in read_ledger(run).commits
        for name, digest in ((one.data_file, one.data_sha256), (one.texts_file, one.texts_sha256))
    }


def errors(run):
    return [found for found in verify_run(run) if found.level == "error"]


def test_a_night_with_a_new_item_stores_nothing_twice(world):
    old = world.landed("old", world.resolved(10), attempt=2)
    n, new = world.carried(world.resolved(11), old)
    assert n == 10 * REPLICATIONS
    assert rows(new).equals(rows(old))
    assert (
        scan_completions(new)
        .collect()
        .sort("key")
        .equals(scan_completions(old).collect().sort("key"))
    )
    there, here = files(old), files(new)
    assert there.keys() == here.keys()
    assert len(here) == 2 * 3
    assert all(os.path.samefile(there[one], here[one]) for one in here)
    assert (errors(old), errors(new)) == ([], [])
    ledger = read_ledger(new)
    assert (ledger.tokens.prompt, sum(one.seconds for one in ledger.judges.values())) == (0, 0)
    assert all(one.engine["carried_from"].startswith(old.url) for one in ledger.commits)


def test_only_what_is_planned_goes_over(world):
    old = world.landed("old", world.resolved(10))
    n, new = world.carried(world.resolved(9, first=2), old)
    assert n == 7 * REPLICATIONS
    assert rows(new).equals(rows(old).filter(pl.col("item_id").is_in(range_of(2, 9))))
    # Of three commits one is wanted whole; the others are written anew.
    shared = [one for one in files(new).values() if os.stat(one).st_nlink > 1]
    assert len(shared) == 2
    assert errors(new) == []


def range_of(first, end):
    return [f"q{i}" for i in range(first, end)]


def test_fewer_replications_are_the_first_of_more(world):
    old = world.landed("old", world.resolved(5))
    n, new = world.carried(world.resolved(5, ask="replications = 2"), old)
    assert n == 10
    assert rows(new).equals(rows(old).filter(pl.col("replication") < 2))
    assert errors(new) == []


def test_the_newest_run_is_asked_first_and_older_ones_for_the_rest(world):
    first = world.landed("first", world.resolved(8), words="first")
    second = world.landed("second", world.resolved(12, first=6), words="second")
    n, new = world.carried(world.resolved(12), first, second)
    assert n == 12 * REPLICATIONS
    found = dict(rows(new).select("item_id", "finish_reason").unique().iter_rows())
    assert found == {**dict.fromkeys(range_of(0, 6), "first"),
                     **dict.fromkeys(range_of(6, 12), "second")}  # fmt: skip
    assert read_ledger(new).duplicates == {}
    assert errors(new) == []


def test_older_runs_are_not_looked_at_once_all_is_there(world, monkeypatch):
    runs = [world.landed(f"n{i}", world.resolved(4)) for i in range(3)]
    looked = []
    plain = Disk.names
    monkeypatch.setattr(Disk, "names", lambda *a: looked.append(a[0].root) or plain(*a))
    assert not earlier_of(world.resolved(4), runs).is_pending(world.resolved(4).frames)
    assert set(looked) == {runs[2].url}
    assert earlier_of(world.resolved(4), runs).is_pending(world.resolved(5).frames)
    assert set(looked) == {one.url for one in runs}


def test_nothing_is_begun_where_nothing_is_wanted(world):
    old = world.landed("old", world.resolved(4))
    assert world.carried(world.resolved(9, first=5), old) == (0, None)
    assert not (world.folder / "new").exists()


def test_what_is_put_under_one_name_is_not_under_the_other(world):
    """A file that is asked again takes the place of the damaged one, in its own run alone."""
    old = world.landed("old", world.resolved(4))
    _, new = world.carried(world.resolved(4), old)
    (commit,) = read_ledger(new).commits
    new.write_bytes(commit.data_file, b"other")
    assert errors(old) == []
    assert [one.kind for one in errors(new)] == ["wrong_sha256"]
    new.remove(commit.data_file)
    assert errors(old) == []
    # The other run supplies it again.
    assert world.carried(world.resolved(4), old)[0] == 4 * REPLICATIONS
    assert rows(new).equals(rows(old))


@pytest.mark.alike(2)
@pytest.mark.parametrize("code", [errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EACCES])
def test_where_no_link_can_be_the_bytes_are_copied(world, monkeypatch, code):
    old = world.landed("old", world.resolved(4))
    plain = os.link

    def link(source, target):
        if str(source).endswith(".parquet"):
            raise OSError(code, os.strerror(code))
        plain(source, target)

    monkeypatch.setattr(os, "link", link)
    _, new = world.carried(world.resolved(4), old)
    there, here = files(old), files(new)
    assert there.keys() == here.keys()
    assert not any(os.path.samefile(there[one], here[one]) for one in here)
    assert (rows(new).equals(rows(old)), errors(new)) == (True, [])


def flip_a_bit(path):
    with open(path, "r+b") as file:
        file.seek(200)
        byte = file.read(1)
        file.seek(200)
        file.write(bytes([byte[0] ^ 1]))


def test_judgments_that_were_altered_are_named_and_not_carried(world):
    old = world.landed("old", world.resolved(8))
    path = old.address(read_ledger(old).commits[1].data_file)
    flip_a_bit(path)
    n, new = world.carried(world.resolved(8), old)
    (line,) = world.said
    assert line.startswith("not carried: a file that landed is altered: ")
    assert os.path.basename(path) in line
    # The rest goes over, and what was lost is pending in the new run.
    assert (n, rows(new).height, errors(new)) == (4 * REPLICATIONS, 4 * REPLICATIONS, [])


@pytest.mark.alike(3)
@pytest.mark.parametrize("how", ["gone", "cut", "altered"])
def test_judgments_whose_texts_are_lost_go_over_without_them(world, how):
    old = world.landed("old", world.resolved(12))
    commit = read_ledger(old).commits[1]
    path = old.address(commit.texts_file)
    if how == "altered":
        flip_a_bit(path)
    elif how == "cut":
        os.truncate(path, 100)
    else:
        os.remove(path)
    n, new = world.carried(world.resolved(12), old)
    assert (n, rows(new).equals(rows(old))) == (12 * REPLICATIONS, True)
    # Their records name texts that are not there, as those that they come from.
    assert [one.kind for one in errors(new)] == ["missing_file"]
    (lost,) = (one for one in read_ledger(new).commits if one.data_sha256 == commit.data_sha256)
    assert not os.path.exists(new.address(lost.texts_file))
    assert os.path.samefile(new.address(lost.data_file), old.address(commit.data_file))
    said = {"gone": [], "cut": ["carried without texts: a file that landed is cut"],
            "altered": ["carried without texts: a file that landed is altered"]}  # fmt: skip
    assert [line[: len(want)] for line, want in zip(world.said, said[how], strict=True)] == said[
        how
    ]
    # And on into the run after it, which asks a part of that file alone.
    os.rename(world.folder / "new", world.folder / "second")
    second = RunDirectory.open(str(world.folder / "second"))
    n, third = world.carried(world.resolved(6), old, second)
    assert n == 6 * REPLICATIONS
    assert rows(third).equals(rows(old).filter(pl.col("item_id").is_in(range_of(0, 6))))
    assert [one.kind for one in errors(third)] == ["missing_file"]


def test_texts_that_an_older_run_has_come_from_there(world):
    first = world.landed("first", world.resolved(8), words="first")
    second = world.landed("second", world.resolved(8), words="second")
    os.remove(second.address(read_ledger(second).commits[1].texts_file))
    n, new = world.carried(world.resolved(8), first, second)
    said = rows(new)["finish_reason"].value_counts()
    assert (n, dict(said.iter_rows())) == (8 * REPLICATIONS, {"first": 12, "second": 12})
    assert errors(new) == []


def test_answers_whose_texts_are_lost_are_not_carried(world):
    one = world.resolved(8, protocol="respond")
    old = world.landed("old", one)
    os.remove(old.address(read_ledger(old).commits[1].texts_file))
    assert world.carried(one, old)[0] == 4 * REPLICATIONS
    assert earlier_of(one, [old]).n_pending(one.frames) == 4 * REPLICATIONS


@pytest.mark.slow
def test_what_a_run_has_lost_is_refused_where_no_other_run_holds_it(world):
    one = world.resolved(8)
    out = world.landed("new", one, batch=2)
    old = world.landed("old", world.resolved(4))
    before = rows(out)
    for commit in read_ledger(out).commits:
        os.rename(out.address(commit.data_file), f"{out.address(commit.data_file)}.away")
    with pytest.raises(StoreError, match="12 of 24 rows") as refused:
        world.carried(one, old)
    assert f"judgerel run SWEEP.toml --out {out.url} --ask-lost" in refused.value.hint
    for commit in read_ledger(out).commits:  # nothing was written: with the disk all is back
        os.rename(f"{out.address(commit.data_file)}.away", out.address(commit.data_file))
    assert rows(out).equals(before)
    # What other runs hold is carried from there.
    shutil.rmtree(os.path.join(out.url, "data"))
    whole = world.landed("whole", one, words="whole")
    assert world.carried(one, whole)[0] == 24
    assert rows(out)["finish_reason"].unique().to_list() == ["whole"]


def test_what_is_damaged_in_the_newest_run_comes_from_an_older_one(world):
    first = world.landed("first", world.resolved(8), words="first")
    second = world.landed("second", world.resolved(8), words="second")
    path = second.address(read_ledger(second).commits[1].data_file)
    with open(path, "r+b") as file:
        file.seek(200)
        file.write(b"\0\0\0\0")
    n, new = world.carried(world.resolved(8), first, second)
    said = rows(new)["finish_reason"].value_counts()
    assert (n, dict(said.iter_rows())) == (8 * REPLICATIONS, {"first": 12, "second": 12})
    assert len(world.said) == 1


def test_judgments_that_are_gone_come_from_an_older_run_or_are_asked(world):
    first = world.landed("first", world.resolved(8), words="first")
    second = world.landed("second", world.resolved(8), words="second")
    second.remove(read_ledger(second).commits[1].data_file)
    n, new = world.carried(world.resolved(8), first, second)
    assert n == 8 * REPLICATIONS
    said = rows(new)["finish_reason"].value_counts()
    assert dict(said.iter_rows()) == {"first": 12, "second": 12}
    first.remove(read_ledger(first).commits[1].data_file)
    assert earlier_of(world.resolved(8), [first, second]).is_pending(world.resolved(8).frames)


def test_a_later_reading_of_the_texts_is_what_goes_over(world):
    old = world.landed("old", world.resolved(4))
    (commit,) = read_ledger(old).commits
    other = rows(old).with_columns(verdict=pl.lit(None, pl.String), outcome=pl.lit("refused"))
    assert land_generation(old, [(commit, other)], number=1, reader="r", version="2")
    _, new = world.carried(world.resolved(4), old)
    assert rows(new)["outcome"].unique().to_list() == ["refused"]
    (carried,) = read_ledger(new).commits
    assert (carried.outcomes, carried.data_file.partition("/")[0]) == ({"refused": 12}, "data")
    assert errors(new) == []


@pytest.mark.slow
def test_killed_at_every_step_nothing_is_lost_or_doubled(world, monkeypatch):
    old = world.landed("old", world.resolved(10))
    one = world.resolved(9)  # of the last commit one item is not wanted
    steps, cut_at = 0, 0

    def counted(do):
        def step(*given):
            nonlocal steps
            steps += 1
            if steps == cut_at:
                raise Cut
            return do(*given)

        return step

    for name in ("write", "create", "share"):
        monkeypatch.setattr(Disk, name, counted(getattr(Disk, name)))
    done = False
    while not done:
        steps, cut_at = 0, cut_at + 1
        out = str(world.folder / f"cut{cut_at}")
        earlier = earlier_of(one, [old])
        try:
            carry_landed(one, out, earlier)
            done = True
        except Cut:
            cut_at, last = 0, cut_at
            carry_landed(one, out, earlier)
            cut_at = last
        new = RunDirectory.open(out)
        assert rows(new).equals(rows(old).filter(pl.col("item_id") != "q9"))
        assert (read_ledger(new).duplicates, errors(new)) == ({}, [])
    assert cut_at > 12


ranges = st.lists(st.tuples(st.integers(0, 6), st.integers(1, 4)), max_size=3)
conditions = st.dictionaries(st.sampled_from("abcd"), ranges, max_size=4)


@given(
    asked=st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 6), st.integers(1, 4))),
    there=conditions,
    commits=st.lists(conditions, max_size=4),
)
def test_open_requests_are_those_of_a_set(asked, there, commits):
    """Against the sets of all requests, of which every commit takes its part."""

    def key(name):
        return f"{ord(name):032x}"

    def requests(made):
        return {(k, r) for k, some in made.items() for a, n in some for r in range(a, a + n)}

    def named(made):
        return {key(name): union(some) for name, some in made.items()}

    asks = [
        SimpleNamespace(condition=SimpleNamespace(condition_key=key(name), judge="j"), first=a, n=n)
        for name, a, n in asked
    ]
    wanted = Wanted.of(asks)
    left = requests({}) | {(key(k), r) for k, a, n in asked for r in range(a, a + n)}
    wanted.close(named(there))
    left -= requests(named(there))
    assert wanted.n_open == len(left)
    for made in map(named, commits):
        assert wanted.take(SimpleNamespace(judge="other", conditions=made)) == {}
        commit = SimpleNamespace(judge="j", conditions=made)
        fresh = left & requests(made)
        assert wanted.has_open(commit) == bool(fresh)
        taken = wanted.take(commit)
        assert requests(taken) == fresh
        assert all(some == union(some) for some in taken.values())
        left -= fresh
        assert wanted.n_open == len(left)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_runs_before(world):
    """One run's records are held at a time, and of the plan some bytes a request."""
    n = 2_000
    one, more = world.resolved(n), world.resolved(n + 1)
    run = world.landed("old", one, batch=500)

    def peak(n_runs):
        earlier = earlier_of(more, [run] * n_runs)
        gc.collect()
        tracemalloc.start()
        assert earlier.is_pending(more.frames)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    peak(1)  # what is loaded once
    alone = peak(1)
    assert peak(6) < 1.2 * alone


def test_what_is_wanted_takes_some_tens_of_bytes_a_condition(world):
    n = 40
    wanted = Wanted.of(planned_asks(world.resolved(n).frames, {}))
    assert wanted.n_open == n * REPLICATIONS
    columns = (wanted.keys, wanted.judge_of, wanted.firsts, wanted.starts, wanted.is_open)
    assert sum(column.nbytes for column in columns) == (36 + REPLICATIONS) * n + 8
