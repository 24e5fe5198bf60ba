"""What is gone of a run, and what does not count any more because of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from judgerel_ray.core import StoreError, request_key
from judgerel_ray.store import (
    begin_session,
    read_ledger,
    read_whole_ledger,
    scan_judgments,
    verify_run,
)
from judgerel_ray.store.records import seal, unseal

ANSWERS = [request_key("a1", 0), request_key("a1", 1)]
FIRST, SECOND, JUDGED = (f"s0001-l00000{lease}-a1.json" for lease in (1, 2, 3))


@pytest.fixture
def judged(disk_run, land_rows):
    """Answers, second turns that stand on them, judgments of those, and some of nobody's text."""
    begin_session(disk_run)
    land_rows(disk_run, 1, 1, {"a1": [(0, 2)]}, role="responder")
    land_rows(disk_run, 1, 2, {"a2": [(0, 1)]}, role="responder", parents=ANSWERS[:1])
    land_rows(disk_run, 1, 3, {"cc": [(0, 4)]}, parents=[request_key("a2", 0)])
    land_rows(disk_run, 1, 4, {"dd": [(0, 5)]}, parents=[])
    return disk_run


def file_of(run, name, which):
    [commit] = [one for one in read_ledger(run).commits if one.name == name]
    return Path(run.address(getattr(commit, which)))


@pytest.mark.parametrize("which", ["data_file", "texts_file"])
def test_what_stands_on_a_lost_answer_is_lost_with_it(judged, which):
    file_of(judged, FIRST, which).unlink()
    assert read_whole_ledger(judged).rows == {"j": 5}
    session = begin_session(judged)
    assert [one.name for one in session.losses.damaged] == [FIRST]
    assert [one.name for one in session.losses.unfounded] == [SECOND, JUDGED]
    assert session.losses.names == (FIRST, SECOND, JUDGED)
    assert session.ledger.landed == {"dd": ((0, 5),)}
    assert scan_judgments(judged).collect().height == 5


def test_what_no_listing_shows_yet_is_not_lost(run, land_rows, monkeypatch):
    begin_session(run)
    land_rows(run, 1, 1, {"cc": [(0, 4)]})
    monkeypatch.setattr(type(run.files), "sizes", lambda *_: {})
    assert (read_whole_ledger(run).rows, begin_session(run).losses.names) == ({"j": 4}, ())
    assert scan_judgments(run).collect().height == 4
    run.remove(read_ledger(run).commits[0].data_file)
    assert read_whole_ledger(run).rows == {}


def test_an_answer_written_anew_does_not_bear_what_was_judged_before(judged, land_rows):
    """As versions left it that asked the answer again and kept the judgments."""
    begin_session(judged)
    land_rows(judged, 2, 1, {"a1": [(0, 2)]}, role="responder", mark="other words")
    place = "commits/session-0002.json"
    content = dict(unseal(judged.read_bytes(place), place, judged.identity))
    content["accepted"] = [one for one in content["accepted"] if one != FIRST]
    judged.write_bytes(place, seal(content, place, judged.identity))
    assert read_ledger(judged).n_rows == 12
    assert read_whole_ledger(judged).n_rows == 7
    errors = [found for found in verify_run(judged) if found.level == "error"]
    assert [(one.kind, one.name) for one in errors] == [
        ("unfounded", f"commits/{SECOND}"),
        ("unfounded", f"commits/{JUDGED}"),
    ]
    begin_session(judged)
    assert [one.level for one in verify_run(judged) if one.level == "error"] == []


def test_judgments_count_without_their_texts(judged):
    file_of(judged, JUDGED, "texts_file").unlink()
    assert read_whole_ledger(judged).n_rows == 12
    session = begin_session(judged)
    assert (session.losses.names, session.ledger.n_rows) == ((), 12)
    assert [one.name for one in session.losses.unread] == [JUDGED]
    assert [found.kind for found in verify_run(judged)] == ["missing_file"]
    again = begin_session(judged, ask_lost=True)
    assert (again.losses.names, again.ledger.n_rows) == ((JUDGED,), 8)


def test_texts_that_are_cut_are_seen(judged):
    file = file_of(judged, FIRST, "texts_file")
    file.write_bytes(file.read_bytes()[:-1])
    assert read_whole_ledger(judged).n_rows == 5


def test_a_session_that_nobody_agrees_to_takes_nothing_away(judged):
    file_of(judged, FIRST, "data_file").unlink()

    def refuse(losses):
        assert losses.n_rows == 12
        raise StoreError(f"{len(losses.names)} lost")

    with pytest.raises(StoreError, match="3 lost"):
        begin_session(judged, agree=refuse)
    assert read_ledger(judged).session == 1
    assert json.loads(judged.read_text("commits/session-0001.json"))["accepted"] == []
    assert begin_session(judged, agree=lambda _losses: None).number == 2


def test_strays_do_not_count(judged):
    seen = []

    def strays(ledger):
        seen.append(ledger.n_rows)
        return {JUDGED}

    session = begin_session(judged, strays=strays)
    assert (seen, session.losses.names, session.ledger.n_rows) == ([12], (JUDGED,), 8)


@pytest.mark.alike(2)
@pytest.mark.parametrize(
    ("gone", "folders"),
    [
        (["data"], ("data",)),
        (["texts"], ("texts",)),
        (["texts/judge=j"], ("texts/judge=j",)),
        (["data/judge=j", "texts"], ("data/judge=j", "texts")),
    ],
)
def test_folders_of_which_nothing_is_there(judged, land_rows, tmp_path, gone, folders):
    land_rows(judged, 1, 5, {"ee": [(0, 1)]}, judge="k")
    for folder in gone:
        Path(judged.address(folder)).rename(tmp_path / folder.replace("/", "-"))
    assert begin_session(judged).losses.folders == folders
