"""A command reads each record of a run once, and all that it says is of that one look."""

import json
from collections import Counter
from contextlib import contextmanager

import polars as pl
import pytest

from bench.faults import called, make_run, put
from judgerel_ray.store import ledger, read_ledger

pytestmark = pytest.mark.slow
VIEWS = {
    "reduce": ("reduce",),
    "JSON": ("reduce", "--format", "json"),
    "serving noise": ("serving",),
    "limits": ("distributions",),
    "settled": ("distributions", "--view", "settled"),
    **{name: (name,) for name in ("uncertainty", "questions", "select", "panels")},
}


def asked(view, run, *more):
    """The command that asks for a view of a run."""
    verb, *flags = VIEWS[view]
    return [verb, run.url, *flags, *more]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("one-look"))


def reads(monkeypatch, arguments):
    """How often each record was read by a command."""
    found = Counter()
    plain = ledger.read_attempt

    def counted(name, data, run):
        found[name] += 1
        return plain(name, data, run)

    monkeypatch.setattr(ledger, "read_attempt", counted)
    ended = called(arguments)
    assert ended.code == 0, ended
    return found


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_reads_every_record_once(run, monkeypatch, view):
    once = dict.fromkeys(read_ledger(run).commit_names, 1)
    assert reads(monkeypatch, asked(view, run)) == once


@pytest.mark.parametrize("verb", ["report", "compare", "advise", "status"])
def test_so_do_the_other_verbs(run, monkeypatch, tmp_path, verb):
    more = {"report": ("--out", str(tmp_path / "page.html")), "compare": ("--by", "judge")}
    once = dict.fromkeys(read_ledger(run).commit_names, 1)
    assert reads(monkeypatch, [verb, run.url, *more.get(verb, ())]) == once


def test_csv_holds_lists_as_json_and_a_line_says_which_table_a_file_holds(run, tmp_path):
    csv, parquet = (str(tmp_path / f"u.{ending}") for ending in ("csv", "parquet"))
    for out in (csv, parquet):
        ended = called(["uncertainty", run.url, "--out", out])
        assert (ended.code, ended.err) == (0, f"wrote table judgments, 12 rows, to {out}\n")
    read, whole = pl.read_csv(csv), pl.read_parquet(parquet)
    assert [json.loads(text) for text in read["u"]] == whole["u"].to_list()
    assert read.columns == whole.columns


def flipped(data):
    place = len(data) // 2
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


@contextmanager
def damaged(run, name, left):
    """A file of the run with other bytes, or gone; whole again afterwards."""
    data = run.files.read(name)
    put(run, name, left(data))
    try:
        yield run.address(name)
    finally:
        put(run, name, data)


UNREAD = {
    "texts gone": ("texts", lambda _: None),
    "texts cut": ("texts", lambda data: data[:-1]),
}


@pytest.mark.parametrize("how", UNREAD)
@pytest.mark.parametrize("view", ["questions", "settled", "select", "limits", "uncertainty"])
def test_beside_damage_that_is_not_read_the_numbers_are_of_all_that_landed(run, view, how):
    ledger = read_ledger(run)
    before = called(asked(view, run))
    assert before.code == 0
    _, left = UNREAD[how]
    # Of answers that later prompts are made of: what stands on them falls with them in a status.
    commit = next(one for one in ledger.commits if one.holds_answers)
    with damaged(run, commit.texts_file, left) as place:
        ended = called(asked(view, run))
        beside = called(asked(view, run, "--format", "json"))
    line = (
        f"damaged: {place} is {how.split()[1]}; these numbers do not use it and rest "
        f"on all {ledger.n_rows} requests that landed; judgerel verify {run.url} names what is "
        "damaged\n"
    )
    assert (ended.code, ended.out) == (0, line + before.out)
    assert (beside.code, beside.err) == (0, line)


def test_a_table_that_is_made_reads_no_part_and_says_that_one_is_gone(run):
    commit = read_ledger(run).commits[0]
    with damaged(run, commit.data_file, lambda _: None) as place:
        ended = called(["distributions", run.url, "--view", "settled"])
        assert called(["questions", run.url]).is_one_line
    assert ended.code == 0
    assert ended.out.startswith(f"damaged: {place} is gone; these numbers")
    assert "unfinished" not in ended.out


@pytest.mark.parametrize("left", [flipped, lambda _: None, lambda data: data[:-9]])
@pytest.mark.parametrize("view", VIEWS)
def test_no_view_is_given_where_a_record_is_damaged(run, view, left):
    name = f"commits/{read_ledger(run).commits[1].name}"
    with damaged(run, name, left) as place:
        ended = called(asked(view, run))
    assert ended.is_one_line
    assert f"a record of what landed is torn, altered or gone [path={place}" in ended.err


def test_the_page_says_it_too(run, tmp_path):
    commit = next(one for one in read_ledger(run).commits if one.holds_answers)
    page = tmp_path / "page.html"
    with damaged(run, commit.texts_file, lambda _: None) as place:
        assert called(["report", run.url, "--out", str(page)]).code == 0
    assert f"{place} is gone; these numbers do not use it" in page.read_text("utf-8")
