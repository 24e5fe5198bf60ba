from __future__ import annotations

import pytest

from judgerel_ray.core import StoreError
from judgerel_ray.store import (
    check_same_sweep,
    read_manifest,
    verify_run,
    write_manifest,
    write_vouched,
)
from judgerel_ray.store.digests import sha256
from judgerel_ray.store.files import Disk

SWEEP = {
    "name": "s",
    "judge": {"llama": {"temperature": [0.7, 0.0], "gpus": 1}, "qwen": {"options": {}}},
}


def test_it_comes_back(run):
    assert read_manifest(run) == {"format": "judgerel-run/2"}
    write_manifest(run, {"reader": {"name": "first", "version": 2}, "note": "é"})
    assert read_manifest(run) == {
        "reader": {"name": "first", "version": 2},
        "note": "é",
        "format": "judgerel-run/2",
    }
    assert run.is_run()


def test_a_run_without_a_sweep_takes_any(disk_run):
    check_same_sweep(disk_run, SWEEP)
    write_manifest(disk_run, {"sweep": SWEEP})
    check_same_sweep(disk_run, SWEEP)
    tuples = {**SWEEP, "judge": {**SWEEP["judge"], "llama": {"temperature": (0.7, 0.0), "gpus": 1}}}
    check_same_sweep(disk_run, tuples)
    with pytest.raises(StoreError):
        check_same_sweep(disk_run, {})


def test_every_differing_key_is_named_with_both_values(disk_run):
    write_manifest(disk_run, {"sweep": SWEEP})
    other = {
        "name": "s",
        "judge": {"llama": {"temperature": [1.0], "gpus": True}, "phi": {"model": "x"}},
    }
    with pytest.raises(StoreError) as caught:
        check_same_sweep(disk_run, other)
    assert caught.value.problem == (
        "the run directory is of another sweep: "
        "judge.llama.gpus: expected 1, got true; "
        "judge.llama.temperature[0]: expected 0.7, got 1.0; "
        "judge.llama.temperature[1]: expected 0.0, got nothing; "
        'judge.phi.model: expected nothing, got "x"; '
        "judge.qwen.options: expected {}, got nothing"
    )
    assert caught.value.where == {"run": disk_run.url}


ASKS = [
    {"protocol": "best_of", "replications": 20, "items": "d1", "temperatures": [0.0, 1.0]},
    {"protocol": "correctness", "replications": {"max": 60}, "items": "d2", "temperatures": [1.0]},
]


def changed(asks, given, disk_run):
    write_manifest(disk_run, {"sweep": {"name": "s", "ask": asks}})
    with pytest.raises(StoreError) as caught:
        check_same_sweep(disk_run, {"name": "s", "ask": given})
    return caught.value.problem.removeprefix("the run directory is of another sweep: ")


def test_an_ask_is_compared_with_the_one_most_like_it(disk_run):
    more = {**ASKS[1], "replications": {"max": 80}}
    said = "ask[1].replications.max: expected 60, got 80"
    assert changed(ASKS, [more, ASKS[0]], disk_run) == said
    assert changed(ASKS, [ASKS[0], more], disk_run) == said


def test_an_ask_more_or_less_is_all_that_is_told(disk_run):
    third = {"protocol": "pairwise"}
    said = changed(ASKS, [third, *ASKS], disk_run)
    assert said == 'ask[2].protocol: expected nothing, got "pairwise"'
    said = changed([ASKS[0], third, ASKS[1]], ASKS[::-1], disk_run)
    assert said == 'ask[1].protocol: expected "pairwise", got nothing'
    assert changed([third], [], disk_run) == (
        'ask: expected nothing, got []; ask[0].protocol: expected "pairwise", got nothing'
    )


def test_an_altered_manifest_is_refused(run):
    write_manifest(run, {"sweep": SWEEP})
    whole = run.files.read("manifest.json")
    for old, new in (
        (b'"sweep"', b'"sweeq"'), (b"judgerel-run/2", b"judgerel-run/3"), (b'"seal"', b'"seam"'),
        (b'"nonce": "', b'"nonce": "0'), (b"0.7", b"0.6"),
    ):  # fmt: skip
        assert old in whole
        run.files.write("manifest.json", whole.replace(old, new))
        with pytest.raises(StoreError, match=r"manifest of the run .*manifest\.json"):
            read_manifest(run)
    run.files.write("manifest.json", whole)
    assert read_manifest(run) == {"sweep": SWEEP, "format": "judgerel-run/2"}


def test_own_files_are_vouched_for_whenever_a_reader_looks(run):
    write_manifest(run, {"sweep": SWEEP})
    write_vouched(run, "plan.json", b"1")
    write_vouched(run, "settled/settled.parquet", b"a")
    manifest = run.files.read("manifest.json")
    write_vouched(run, "plan.json", b"1")
    assert run.files.read("manifest.json") == manifest  # the same again is no news
    write_vouched(run, "plan.json", b"2")
    assert run.read_bytes("plan.json") == b"2"
    run.files.write("plan.json", b"1")  # an older version, put back
    with pytest.raises(StoreError, match=r"plan\.json of the run is altered") as told:
        run.read_text("plan.json")
    assert told.value.hint.startswith(f"judgerel run SWEEP.toml --out {run.url}")
    assert [(one.kind, one.name) for one in verify_run(run) if one.name == "plan.json"] == [
        ("wrong_sha256", "plan.json")
    ]
    write_vouched(run, "plan.json", b"4")
    assert run.file_digests()["plan.json"] == [sha256(b"4")]


def test_either_version_of_an_own_file_is_trusted_while_it_is_replaced(disk_run, monkeypatch):
    write_manifest(disk_run, {"sweep": SWEEP})
    write_vouched(disk_run, "plan.json", b"1")
    plain, steps = Disk.write, []

    def write(disk, name, data):
        assert disk_run.read_bytes("plan.json") in (b"1", b"2")
        steps.append(name)
        plain(disk, name, data)
        assert disk_run.read_bytes("plan.json") in (b"1", b"2")

    monkeypatch.setattr(Disk, "write", write)
    write_vouched(disk_run, "plan.json", b"2")
    assert steps == ["manifest.json", "plan.json", "manifest.json"]


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"format": "judgerel-run/9"}'])
def test_a_broken_manifest_is_named(disk_run, text):
    disk_run.write_text("manifest.json", text)
    with pytest.raises(StoreError, match=r"manifest\.json"):
        read_manifest(disk_run)


def test_other_code_is_not_blamed_on_the_sweep(disk_run):
    begun = {"judgerel_ray": "0.1.0", "python": "3.11.7", "packages": {"vllm": "0.31.0"}}
    write_manifest(disk_run, {"sweep": {**SWEEP, "first_keys": "a"}, **begun})
    now = {"judgerel_ray": "0.1.0", "python": "3.11.7", "vllm": "0.32.0"}
    read_otherwise = {**SWEEP, "first_keys": "b"}
    with pytest.raises(StoreError, match="what it is read as has changed") as told:
        check_same_sweep(disk_run, read_otherwise, same_file=True, versions=now)
    assert 'first_keys: expected "a", got "b"' in str(told.value)
    assert "vllm 0.31.0, now 0.32.0" in str(told.value)
    assert "another sweep" not in str(told.value)
    assert "the code and files it was begun with" in told.value.hint
    with pytest.raises(StoreError, match=r"Versions are the same \(judgerel_ray 0\.1\.0\)"):
        check_same_sweep(
            disk_run, read_otherwise, same_file=True, versions={**now, "vllm": "0.31.0"}
        )
    with pytest.raises(StoreError, match="is of another sweep"):
        check_same_sweep(disk_run, read_otherwise, versions=now)
