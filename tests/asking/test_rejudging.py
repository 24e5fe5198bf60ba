"""Texts read again, and requests asked again, of a run that has ended."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import polars as pl
import pytest

import judgerel_ray
from judgerel_ray import example
from judgerel_ray.asking.run import rejudging
from judgerel_ray.asking.run.running import run_sweep
from judgerel_ray.cli import main
from judgerel_ray.config import read_sweep
from judgerel_ray.core import StoreError, SweepError
from judgerel_ray.engines import make_engine
from judgerel_ray.fleet.landing import read_by_condition
from judgerel_ray.store import RunDirectory, read_ledger, read_manifest, scan_judgments, verify_run
from judgerel_ray.store.generations import land_generation
from judgerel_ray.store.status import read_status
from judgerel_ray.tables import count_outcomes

SWEEP = example("sweep.toml")


@pytest.fixture
def run(tmp_path: Path) -> str:
    """A run that has ended, of two simulated judges."""
    return str(shutil.copytree(example("run"), tmp_path / "run"))


def judgments(run: str) -> pl.DataFrame:
    return scan_judgments(RunDirectory.open(run)).collect().sort("key")


def errors(run: str) -> list[str]:
    return [one.message for one in verify_run(RunDirectory.open(run))]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(one): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


@pytest.fixture
def stricter(monkeypatch):
    """A reader of another version, which refuses every verdict for the label A."""

    def read(condition, text, finish_reason):
        found = read_by_condition(condition, text, finish_reason)
        if found.label != "A":
            return found
        return found._replace(verdict=None, label=None, outcome="unparsed")

    with monkeypatch.context() as patched:
        patched.setattr(rejudging, "read_by_condition", read)
        patched.setattr(rejudging, "READER_VERSION", "stricter")
        yield patched


@pytest.mark.slow
def test_texts_are_read_again_into_a_generation_that_all_readers_see(run, stricter):
    before, files = judgments(run), contents(Path(run, "data"))
    n_first = before.filter(label="A").height
    found = judgerel_ray.rejudge(run, sweep=SWEEP)
    after = judgments(run)
    assert n_first > 0
    assert (found.generation.number, sum(found.changed.values())) == (1, n_first)
    assert sum(found.rows.values()) == before.height
    same = [name for name in before.columns if name not in rejudging.READ]
    assert after.select(same).equals(before.select(same))
    assert after.filter(outcome="unparsed").height >= n_first
    assert after.filter(label="A").is_empty()
    assert contents(Path(run, "data")) == files  # what landed stays, for all who read it
    first = contents(Path(run, "generations"))
    assert first
    assert errors(run) == []
    reading = read_manifest(RunDirectory.open(run))["reading"]
    assert (reading["generation"], reading["reader"], reading["version"]) == (
        1, "judgerel_ray", "stricter",
    )  # fmt: skip
    outcomes = read_status(run).as_json()["outcomes"]
    assert outcomes == count_outcomes(after) != count_outcomes(before)
    stricter.undo()
    stricter.chdir(Path(SWEEP).parent)  # where the run's copy of its sweep finds the items
    found = judgerel_ray.rejudge(run)
    assert (found.generation.number, sum(found.changed.values())) == (2, 0)
    assert judgments(run).equals(before)
    assert errors(run) == []
    assert contents(Path(run, "generations")) == first


@pytest.mark.slow
def test_a_run_read_again_has_nothing_pending_and_keeps_its_reading(run, stricter):
    judgerel_ray.rejudge(run, sweep=SWEEP)
    read = judgments(run)
    stricter.undo()
    summary = run_sweep(read_sweep(SWEEP), out=run)
    assert (summary.asked_now, summary.owed) == (0, 0)
    assert judgments(run).equals(read)


def test_of_two_that_read_at_once_one_lands_and_leaves_no_file(run):
    directory = RunDirectory.open(run)
    commit = read_ledger(directory).commits[0]
    frame = judgments(run).filter(judge=commit.judge).head(3)
    first = land_generation(directory, [(commit, frame)], number=1, reader="r", version="1")
    assert first is not None
    files = contents(Path(run))
    second = land_generation(directory, [(commit, frame)], number=1, reader="r", version="2")
    assert second is None
    assert contents(Path(run)) == files


@pytest.mark.usefixtures("stricter")
def test_a_reader_killed_before_its_record_changed_nothing(run, monkeypatch):
    before = judgments(run)
    monkeypatch.setattr(RunDirectory, "settle", lambda *_: pytest.fail("killed"))
    with pytest.raises(pytest.fail.Exception):
        judgerel_ray.rejudge(run, sweep=SWEEP)
    assert judgments(run).equals(before)
    assert "reading" not in read_manifest(RunDirectory.open(run))


@pytest.mark.slow
@pytest.mark.parametrize("how", ["torn", "gone"])
@pytest.mark.usefixtures("stricter")
def test_a_torn_generation_is_refused_and_reading_again_mends_it(run, how):
    judgerel_ray.rejudge(run, sweep=SWEEP)
    read, record = judgments(run), Path(run, "commits", "generation-0001.json")
    if how == "torn":
        record.write_bytes(record.read_bytes()[:-20])
    else:
        record.unlink()
    with pytest.raises(StoreError, match="torn, altered or gone") as found:
        judgments(run)
    assert found.value.hint.startswith(f"judgerel rejudge {run} reads the texts again and asks no")
    assert any(record.name in found.name for found in verify_run(RunDirectory.open(run)))
    again = judgerel_ray.rejudge(run, sweep=SWEEP).generation.number
    assert again == (2 if how == "torn" else 1)
    assert judgments(run).equals(read)


@pytest.mark.slow
def test_a_damaged_generation_is_named_and_reading_again_mends_it(run, stricter):
    judgerel_ray.rejudge(run, sweep=SWEEP)
    read = judgments(run)
    stricter.undo()
    one = next(Path(run, "generations").rglob("*.parquet"))
    one.write_bytes(one.read_bytes()[:-4])
    with pytest.raises(StoreError, match="a file that landed is cut"):
        judgments(run)
    assert any(one.name in found.name for found in verify_run(RunDirectory.open(run)))
    judgerel_ray.rejudge(run, sweep=SWEEP)
    assert judgments(run).height == read.height
    (error,) = errors(run)
    assert error.endswith("remove commits/generation-0001.json to forget that reading")
    Path(run, "commits", "generation-0001.json").unlink()
    found = verify_run(RunDirectory.open(run))
    assert {one.level for one in found} == {"note"}
    assert ("missing_file", "commits/generation-0001.json") in {(f.kind, f.name) for f in found}
    assert judgments(run).height == read.height


@pytest.mark.slow
@pytest.mark.usefixtures("stricter")
def test_who_lost_the_files_of_a_reading_is_told_to_read_again_and_not_to_ask(run):
    judgerel_ray.rejudge(run, sweep=SWEEP)
    read = judgments(run)
    shutil.rmtree(Path(run, "generations"))
    with pytest.raises(StoreError, match="a file that landed is gone") as found:
        judgments(run)
    assert found.value.hint.startswith(f"judgerel rejudge {run} reads the texts again and asks no")
    with pytest.raises(StoreError, match="what landed is there") as found:
        run_sweep(read_sweep(SWEEP), out=run)
    assert found.value.hint.startswith(f"judgerel rejudge {run} reads the texts again and asks no")
    judgerel_ray.rejudge(run, sweep=SWEEP)
    assert judgments(run).equals(read)


def test_another_sweep_or_altered_texts_change_nothing(run, tmp_path):
    before = judgments(run)
    text = Path(SWEEP).read_text().replace("max_tokens = 8", "max_tokens = 9")
    items = [one for one in Path(SWEEP).parent.iterdir() if one.suffix == ".jsonl"]
    other = tmp_path / "other.toml"
    other.write_text(text)
    for one in items:
        shutil.copy(one, tmp_path)
    with pytest.raises(StoreError, match="prompts that landed are not what the sweep asks"):
        judgerel_ray.rejudge(run, sweep=other)
    texts = next(Path(run, "texts").rglob("*.parquet"))
    texts.write_bytes(texts.read_bytes()[:-1] + b"X")
    with pytest.raises(StoreError, match="a file that landed is altered"):
        judgerel_ray.rejudge(run, sweep=SWEEP)
    assert judgments(run).equals(before)
    assert not list(Path(run, "commits").glob("generation-*"))


@pytest.mark.slow
def test_items_that_were_overwritten_are_those_that_were_asked(run, tmp_path, monkeypatch):
    """Answers of a system are written under one name night after night."""
    shutil.copy(SWEEP, tmp_path)
    file = tmp_path / "items.jsonl"
    whole = Path(SWEEP).with_name("items.jsonl").read_text()
    file.write_text(whole.replace('"question": "', '"question": "Now: '))
    monkeypatch.chdir(tmp_path)
    before = judgments(run)
    key = before.filter(outcome="scored")["key"][5]
    for sweep in (None, "sweep.toml"):
        assert sum(judgerel_ray.rejudge(run, sweep=sweep).rows.values()) == before.height
        assert judgerel_ray.replay(run, key, sweep=sweep).n_differing == 0
    file.unlink()
    assert sum(judgerel_ray.rejudge(run).changed.values()) == 0
    # Without its copy, or with an altered one, they are looked for where the sweep says.
    own = Path(run, "items.parquet")
    own.write_bytes(own.read_bytes()[:-4] + b"....")
    with pytest.raises(SweepError, match="path names nothing that exists"):
        judgerel_ray.rejudge(run)
    file.write_text(whole)
    judgerel_ray.rejudge(run)


def test_a_sweep_with_another_reader_is_refused(run, tmp_path):
    """Else what lands later would be read otherwise than what was read again."""
    text = Path(SWEEP).read_text()
    other = tmp_path / "other.toml"
    other.write_text(text.replace('"best_of"', '"best_of"\nreader = "last"', 1))
    shutil.copy(Path(SWEEP).with_name("items.jsonl"), tmp_path)
    with pytest.raises(StoreError, match=r"by first, .*, ask by ask, and the sweep by last, "):
        judgerel_ray.rejudge(run, sweep=other)
    assert not list(Path(run, "commits").glob("generation-*"))


def test_what_is_replayed_is_what_landed(run, capsys):
    key = judgments(run).filter(outcome="scored")["key"][5]
    found = judgerel_ray.replay(run, key, sweep=SWEEP)
    assert (found.n, found.n_differing, found.low) == (1, 0, None)
    assert found.rows["key"].to_list() == [key]
    assert main(["replay", run, key, "--sweep", SWEEP]) == 0
    assert capsys.readouterr().out == "0 of 1 replayed requests differ\n"


def test_a_draw_estimates_the_share_that_differ(run, monkeypatch, capsys):
    """One judge's engine adds a word to replies of three questions: as serving noise would."""

    def noisy(spec):
        engine = make_engine(spec)
        complete = engine.complete

        async def completed(prepared, ask):
            done = await complete(prepared, ask)
            noise = " indeed" if ask.condition.item_id in noisy_items else ""
            return tuple(
                type(one)(
                    **{**{f: getattr(one, f) for f in one.__slots__}, "text": one.text + noise}
                )
                for one in done
            )

        engine.complete = completed
        return engine

    landed = judgments(run)
    noisy_items = sorted(set(landed["item_id"]))[:3]
    monkeypatch.setattr(rejudging, "make_engine", noisy)
    found = judgerel_ray.replay(run, all=60, seed=1, sweep=SWEEP)
    assert found.n == 60
    assert found.rows["key"].n_unique() == 60
    differing = found.rows.filter(~pl.col("same"))
    assert set(differing["item_id"]) <= set(noisy_items)
    assert found.n_differing == found.rows["item_id"].is_in(noisy_items).sum() > 0
    assert found.low < found.share < found.high
    lengths = differing["landed_text"].str.len_chars()
    assert (differing["first_difference"] == lengths).all()
    assert main(["replay", run, "--all", "60", "--seed", "1", "--sweep", SWEEP, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["n_differing"], told["low"], len(told["rows"])) == (
        found.n_differing, found.low, 60,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, "either KEY or --all"),
        ({"key": "x", "all": 3}, "either KEY or --all"),
        ({"all": 0}, "--all must be at least 1, got 0"),
        ({"key": "x"}, "no reply landed under key 'x'"),
    ],
)
def test_what_cannot_be_replayed_is_refused(run, asked, said):
    with pytest.raises(SweepError, match=said):
        judgerel_ray.replay(run, sweep=SWEEP, **asked)
