"""A run that lost some of what landed, and goes on with responders that answer otherwise."""

from __future__ import annotations

import dataclasses
import io
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from rich.console import Console

from judgerel_ray.asking.run.lost import agree_to_losses
from judgerel_ray.core import StoreError
from judgerel_ray.store import Losses, read_ledger, scan_judgments, verify_run
from judgerel_ray.store import losses as losses_of
from judgerel_ray.store.records import seal, unseal
from judgerel_ray.store.status import read_status

ITEMS = [f'{{"item_id": "q{i}", "question": "Larger {i}?", "gold": "two"}}' for i in range(4)]
ASK = 'responders = ["x", "y"]\nreplications = 5\ntemperatures = [1.0]'
ANSWERS, JUDGMENTS = 2 * 4, 4 * 5
JUDGES = (("j", ""), ("x", ""), ("y", ""))


@pytest.fixture
def driver(sweep, driver_of):
    return driver_of(sweep(judges=JUDGES, asks=[ASK], items=ITEMS))


def errors_of(run):
    return [found for found in verify_run(run) if found.level == "error"]


def lose(driver, *, judge, n=1, folder="data"):
    """Remove the first parts of a judge."""
    for part in sorted(Path(driver.out, folder, f"judge={judge}").iterdir())[:n]:
        part.unlink()


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["data", pytest.param("texts", marks=pytest.mark.slow)])
# False: as earlier versions wrote records.
@pytest.mark.parametrize("parents", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_judgments_of_a_lost_answer_go_with_it(driver, folder, parents):
    driver.go("first", parents=parents)
    driver.check_whole()
    lose(driver, judge="x", folder=folder)
    session = driver.go("second", parents=parents)
    assert len(session.losses.damaged) == 1
    assert sum(one.rows for one in session.losses.unfounded) == JUDGMENTS // 4
    told = driver.told.getvalue()
    assert "lost: the files of 1 commits are gone, cut or altered" in told
    assert "dropped: 1 commits with rows on answers that the run does not hold" in told
    driver.check_whole()


@pytest.mark.slow
def test_a_driver_killed_between_an_answer_and_its_judgments_leaves_none_of_the_old(driver):
    driver.go("first")
    lose(driver, judge="x")
    driver.go("second", waves=1)
    held = scan_judgments(driver.run).collect()
    assert held.filter(held["role"] == "judge").height == JUDGMENTS * 3 // 4
    assert errors_of(driver.run) == []
    status = read_status(driver.out)
    assert (status.state, status.judges[0].state) == ("incomplete", "incomplete")
    assert (status.judges[0].landed, status.judges[0].owed) == (15, 5)
    driver.go("third")
    driver.check_whole()


def test_status_counts_what_the_next_session_will(driver):
    driver.go("first")
    run = driver.run
    board = {
        "state": "done", "updated_at": datetime.now(UTC).isoformat(),
        "judges": {name: {"state": "done"} for name in "jxy"},
    }  # fmt: skip
    run.write_bytes("progress.json", seal(board, "progress.json", run.identity))
    lose(driver, judge="x")
    status = read_status(driver.out)
    assert (status.state, [one.state for one in status.judges]) == (
        "incomplete", ["incomplete", "incomplete", "done"])  # fmt: skip
    assert [one.owed for one in status.judges] == [5, 1, 0]
    ledger = driver.begin().ledger
    assert [one.landed for one in status.judges] == [ledger.rows[name] for name in "jxy"]


@pytest.mark.slow
def test_a_run_that_holds_judgments_of_two_texts_is_told_and_mended(driver):
    """As a version left it that asked a lost answer again and kept the judgments."""
    driver.go("first", parents=False)
    lose(driver, judge="x")
    driver.go("second", parents=False)
    run = driver.run

    def content_of(name):
        place = f"commits/{name}"
        return dict(unseal(run.read_bytes(place), place, run.identity))

    content = content_of("session-0002.json")
    kept = [name for name in run.names("commits") if name.startswith("s0001")]
    [lost] = [name for name in kept if not run.exists(content_of(name)["data_file"])]
    content["accepted"] = [name for name in kept if name != lost]
    place = "commits/session-0002.json"
    run.write_bytes(place, seal(content, place, run.identity))
    assert read_ledger(run).n_rows == ANSWERS + JUDGMENTS + 5
    [error] = errors_of(run)
    assert (error.kind, "5 more than the plan has" in error.message) == ("unplanned_rows", True)
    status = read_status(driver.out)
    assert (status.state, status.judges[0].state) == ("incomplete", "incomplete")
    assert (status.judges[0].landed, status.judges[0].owed) == (25, 0)
    driver.go("third")
    driver.check_whole()


@pytest.mark.slow
@pytest.mark.parametrize(
    "folder",
    [
        "data",
        *(
            pytest.param(one, marks=pytest.mark.slow)
            for one in ("texts", "data/judge=x", "data/judge=j")
        ),
    ],
)
def test_a_folder_that_is_gone_is_refused_and_nothing_is_written(driver, tmp_path, folder):
    driver.go("first")
    Path(driver.out, folder).rename(tmp_path / "elsewhere")
    before = sorted(driver.run.names("commits"))
    with pytest.raises(StoreError, match="files that landed are gone, cut or altered") as told:
        driver.go("second")
    assert f"{folder} as a whole" in str(told.value)
    assert "--ask-lost" in told.value.hint
    assert "\n" not in str(told.value)
    assert sorted(driver.run.names("commits")) == before
    (tmp_path / "elsewhere").rename(Path(driver.out, folder))
    assert driver.begin().ledger.n_rows == ANSWERS + JUDGMENTS
    Path(driver.out, folder).rename(tmp_path / "elsewhere")
    driver.go("second", ask_lost=True)
    driver.check_whole()


@pytest.mark.slow
def test_records_that_are_gone_altogether_are_refused(driver, tmp_path):
    driver.go("first")
    Path(driver.out, "commits").rename(tmp_path / "elsewhere")
    with pytest.raises(StoreError, match="the records in commits/ that say which count are gone"):
        driver.go("second")
    assert driver.run.names("commits") == ()
    driver.go("second", ask_lost=True)
    driver.check_whole()


@pytest.mark.slow
def test_a_large_share_that_is_gone_is_refused(driver):
    driver.go("first")
    lose(driver, judge="j", n=2)
    with pytest.raises(StoreError, match="10 of 28 rows"):
        driver.go("second")
    driver.go("second", ask_lost=True)
    driver.check_whole()


@pytest.mark.slow
def test_texts_of_judgments_are_not_needed_and_may_be_asked_again(driver):
    driver.go("first")
    lose(driver, judge="j", n=4, folder="texts")
    Path(driver.out, "texts", "judge=j").rmdir()
    session = driver.go("second")
    assert (session.losses.names, session.ledger.n_rows) == ((), ANSWERS + JUDGMENTS)
    assert "texts of 20 judgments are gone or cut" in driver.told.getvalue()
    assert {one.kind for one in errors_of(driver.run)} == {"missing_file"}
    driver.go("second", ask_lost=True)
    driver.check_whole()


@pytest.mark.slow
def test_nothing_is_told_where_nothing_is_lost(driver):
    driver.go("first", waves=1)
    driver.go("second")
    driver.check_whole()
    assert driver.told.getvalue() == ""


@pytest.mark.slow
@pytest.mark.parametrize("change", ["judge", "items"])
def test_a_run_without_a_manifest_is_not_taken_with_another_judge_or_items(
    sweep, driver, driver_of, change
):
    driver.go("first")
    run = driver.run
    run.write_text("manifest.json", '{"format": "judgerel-run/2"}')
    if change == "judge":
        other = dataclasses.replace(driver.resolved.fingerprints["j"], digest="0" * 32)
        changed = dataclasses.replace(
            driver.resolved, fingerprints={**driver.resolved.fingerprints, "j": other}
        )
    else:
        items = [ITEMS[0].replace("Larger", "Smaller"), *ITEMS[1:]]
        changed = sweep(judges=JUDGES, asks=[ASK], items=items)
    refused = driver_of(changed)
    with pytest.raises(StoreError, match=f"of another {change}|about other {change}"):
        refused.go("second")
    assert "sweep" not in json.loads(Path(driver.out, "manifest.json").read_text())
    driver.go("second")
    driver.check_whole()


@pytest.mark.slow
@pytest.mark.parametrize("parents", [True, False])
def test_one_lost_file_with_much_standing_on_it_is_refused(driver, monkeypatch, parents):
    """A share is of all rows that would not count, not of those in the lost file alone."""
    monkeypatch.setattr(losses_of, "SMALL_ROWS", 5)
    monkeypatch.setattr(losses_of, "LARGE_SHARE", 0.2)
    driver.go("first", parents=parents)
    before = sorted(driver.run.names("commits"))
    lose(driver, judge="x", folder="texts")
    with pytest.raises(StoreError, match="1 of 28 rows, and 5 that stand on them") as told:
        driver.go("second", parents=parents)
    assert "--ask-lost" in told.value.hint
    assert sorted(driver.run.names("commits")) == before
    driver.go("second", ask_lost=True, parents=parents)
    driver.check_whole()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "standing", "landed", "is_refused"),
    [
        ((50,), (600,) * 9, 8_160, True),  # one file, two thirds of the run
        ((50,), (600,), 8_160, False),  # one file, and a share that is small
        ((100,), (), 300, False),  # one of three leases of a small run
        ((2_000,), (), 6_000, True),  # one of three leases that were dear
        ((100,), (100,), 300, False),
        ((50, 50), (), 300, True),  # two files: no accident
        ((50, 25), (), 300, False),
        ((), (600,) * 9, 8_160, True),  # rows of no plan alone
    ],
)
def test_what_is_large_counts_all_rows_that_would_not_count(
    driver, rows, standing, landed, is_refused
):
    driver.go("first")
    one = read_ledger(driver.run).commits[0]
    losses = Losses(
        damaged=tuple(dataclasses.replace(one, rows=n) for n in rows),
        unfounded=tuple(dataclasses.replace(one, rows=n) for n in standing),
        n_rows=landed,
    )
    console = Console(file=io.StringIO())
    if is_refused:
        with pytest.raises(StoreError, match=f"of {landed:,} rows"):
            agree_to_losses(driver.run, console, losses)
    else:
        agree_to_losses(driver.run, console, losses)
    agree_to_losses(driver.run, console, losses, ask_lost=True)


def no_end(driver):
    """As a driver leaves its session that is killed: without the mark that says what it had."""
    Path(driver.out, "commits", "session-0001.ended").unlink()


@pytest.mark.slow
@pytest.mark.parametrize("how", ["torn", "gone"])
def test_records_that_are_torn_or_gone_are_refused_where_they_are_many(driver, how):
    driver.go("first")
    records = sorted(Path(driver.out, "commits").glob("s0001-*"))
    assert len(records) == 12
    no_end(driver)
    whole = {path: path.read_bytes() for path in records}
    for path in records[:-1]:
        path.write_text("x") if how == "torn" else path.unlink()
    before = sorted(driver.run.names("commits"))
    told = "11 records in commits/ are torn" if how == "torn" else "11 files in data/ have no rec"
    with pytest.raises(StoreError, match=f"{told}.*: about 23 of 28 rows") as refused:
        driver.go("second")
    assert "--ask-lost" in refused.value.hint
    assert sorted(driver.run.names("commits")) == before
    for path, data in whole.items():
        path.write_bytes(data)
    assert driver.begin().ledger.n_rows == ANSWERS + JUDGMENTS
    for path in records[:-1]:
        path.write_text("x") if how == "torn" else path.unlink()
    driver.go("second", ask_lost=True)
    driver.check_whole()


@pytest.mark.slow
def test_a_record_of_a_session_that_is_gone_takes_no_leases_of_it(driver):
    """Its number is not given again: leases under it are settled, in files nobody reads."""
    driver.go("first")
    Path(driver.out, "commits", "session-0001.json").unlink()
    with pytest.raises(StoreError, match="records in commits/"):
        driver.go("second")
    assert driver.go("second", ask_lost=True).number == 2
    driver.check_whole()


def test_what_a_killed_driver_leaves_is_told_and_asked_again(driver):
    driver.go("first")
    records = sorted(Path(driver.out, "commits").glob("s0001-*"))
    for path in records[-2:]:  # half of the judgments: files without a record
        path.unlink()
    no_end(driver)
    session = driver.go("second")
    assert (session.losses.names, session.ledger.n_rows) == ((), ANSWERS + JUDGMENTS // 2)
    assert "left: 2 files in data/ have no record" in driver.told.getvalue()
    assert "their rows, about 10, are asked again" in driver.told.getvalue()
    driver.check_whole()
    driver.go("third")  # what the second went on without is no news
    assert driver.told.getvalue().count("left:") == 1


@pytest.mark.slow
def test_records_of_few_leases_with_many_rows_are_refused_too(driver, monkeypatch):
    monkeypatch.setattr(losses_of, "SMALL_ROWS", 9)
    driver.go("first")
    for path in sorted(Path(driver.out, "commits").glob("s0001-*"))[-2:]:
        path.unlink()
    no_end(driver)
    with pytest.raises(StoreError, match="2 files in data/ have no record in commits/: about 10"):
        driver.go("second")
