"""Runs whose manifest has gold another way than it is read now: the same questions."""

import io
from dataclasses import asdict, replace

import polars as pl
import pytest

from judgerel_ray.core import StoreError, digest
from judgerel_ray.measuring.reliability import ReduceOptions
from judgerel_ray.store import read_ledger, read_manifest, verify_run, write_manifest
from judgerel_ray.tables import items_to_frame
from tests.opening import coefficients as coefficients_of

WRITTEN = {"q1": "two", "q2": "sun", "q3": "a"}
ACCURACY = ReduceOptions(by=("judge",), coefficients=("accuracy",), missing=("drop",))


def with_gold(items, gold):
    return [replace(item, gold=gold.get(item.item_id, item.gold)) for item in items]


def as_begun(run, frames, gold, *, vouched=False):
    """Leave the manifest and items as code did that took gold otherwise, as of commit f009ee0."""
    manifest = read_manifest(run)
    digests = []
    for frame in frames:
        contents = [asdict(item) for item in with_gold(frame.items, gold)]
        contents.sort(key=lambda one: (one["benchmark"], one["item_id"]))
        digests.append(digest({"items": contents}))
    assert all(one["items"] not in digests for one in manifest["sweep"]["ask"])
    for ask, mine in zip(manifest["sweep"]["ask"], digests, strict=True):
        ask["items"] = mine
    manifest.pop("files") if not vouched else None
    write_manifest(run, manifest)
    buffer = io.BytesIO()
    items_to_frame(with_gold(frames[0].items, gold)).write_parquet(buffer)
    run.write_bytes("items.parquet", buffer.getvalue())
    return digests


def accuracy(run):
    return coefficients_of(run.url, ACCURACY)["value"].to_list()


@pytest.mark.slow
@pytest.mark.parametrize("is_whole", [True, False])
def test_a_run_with_gold_as_it_was_written_goes_on(sweep, driver_of, is_whole):
    driver = driver_of(sweep())
    driver.go("word", waves=1)
    run = driver.run
    before, right = read_ledger(run).landed, accuracy(run)
    digests = as_begun(run, driver.resolved.frames, WRITTEN)
    if not is_whole:
        commit = read_ledger(run).commits[-1]
        run.remove(commit.data_file)
    driver.go("word", waves=1, ask_lost=True)
    driver.check_whole()
    assert read_ledger(run).landed == before
    # What the run is of stays as it was begun; its items have the ids that numbers are made of.
    assert [ask["items"] for ask in read_manifest(run)["sweep"]["ask"]] == digests
    assert pl.read_parquet(run.read_bytes("items.parquet"))["gold"].to_list() == ["2", "1", "1"]
    assert accuracy(run) == right
    assert [one for one in verify_run(run) if one.level == "error"] == []


@pytest.mark.slow
def test_a_run_with_ids_goes_on_where_gold_is_now_a_reference(sweep, driver_of):
    driver = driver_of(sweep())
    driver.go("word", waves=1)
    again = driver_of(sweep(asks=('gold_is = "reference"',)))
    assert again.resolved.frames[0].items[0].gold == "two"
    again.go("word", waves=1)
    again.check_whole()
    back = driver_of(sweep())
    back.go("word", waves=1)
    assert pl.read_parquet(back.run.read_bytes("items.parquet"))["gold"].to_list() == [
        "2",
        "1",
        "1",
    ]
    assert verify_run(back.run) == []


def test_another_right_option_is_still_another_question(sweep, driver_of):
    driver = driver_of(sweep())
    driver.go("word", waves=1)
    as_begun(driver.run, driver.resolved.frames, {**WRITTEN, "q2": "moon"})
    with pytest.raises(StoreError, match=r"ask\[0\]\.items"):
        driver.go("word", waves=1)


def test_gold_that_judges_are_shown_is_part_of_what_is_asked(sweep, driver_of):
    driver = driver_of(sweep(protocol="correctness"))
    driver.go("word", waves=1)
    as_begun(driver.run, driver.resolved.frames, {"q1": "2", "q2": "1", "q3": "1"})
    with pytest.raises(StoreError, match=r"ask\[0\]\.items"):
        driver.go("word", waves=1)


@pytest.mark.slow
def test_a_run_without_its_manifest_is_taken_by_its_own_sweep(sweep, driver_of):
    driver = driver_of(sweep())
    driver.go("word", waves=1)
    run = driver.run
    as_begun(run, driver.resolved.frames, WRITTEN)
    run.write_text("manifest.json", '{"format": "judgerel-run/2"}')
    driver.go("word", waves=1)
    driver.check_whole()
    assert verify_run(run) == []
