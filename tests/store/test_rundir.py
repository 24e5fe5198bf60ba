from __future__ import annotations

import errno
import multiprocessing
import os
import pickle
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import fsspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.core import StoreError
from judgerel_ray.store import RunDirectory, files, write_manifest
from judgerel_ray.store.files import Bucket
from judgerel_ray.store.rundir import judge_folder


def test_files_come_back_as_written_and_exclusive_creation_keeps_the_first(run):
    run.write_text("progress.json", "é1")
    run.write_text("progress.json", "é2")
    assert run.read_text("progress.json") == "é2"
    assert run.create_exclusive("commits/x", b"first") is True
    assert run.create_exclusive("commits/x", b"second") is False
    assert run.settle("commits/x", b"third") == b"first"
    assert run.settle("commits/y", b"third") == b"third"
    assert run.names("commits") == ("x", "y")
    assert run.names() == ("commits", "manifest.json", "progress.json")
    assert run.files.sizes("commits") == {"commits/x": 5, "commits/y": 5}
    run.remove("commits/x")
    run.remove("commits/x")
    assert run.names("commits") == ("y",)
    assert not run.exists("commits/x")
    assert run.exists("commits/y")


def test_missing_files_and_folders(run):
    assert run.names("nothing") == ()
    assert run.files.sizes("nothing") == {}
    assert run.files.read_many(["nothing", "manifest.json"]).keys() == {"manifest.json"}
    with pytest.raises(StoreError, match="nothing"):
        run.read_bytes("nothing")


def test_it_crosses_processes(run):
    run.write_text("a", "1")
    twin = pickle.loads(pickle.dumps(run))
    assert twin == run
    assert twin.read_text("a") == "1"


def test_secrets_do_not_show():
    run = RunDirectory(url="s3://bucket/run", storage_options={"secret": "hunter2"})
    assert "hunter2" not in repr(run)


def test_create_takes_empty_folders_and_runs_and_refuses_others(tmp_path):
    (tmp_path / "empty").mkdir()
    assert RunDirectory.create(str(tmp_path / "empty")).is_run()
    again = RunDirectory.create(str(tmp_path / "empty"))
    assert again == RunDirectory.open(str(tmp_path / "empty"))
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter1.tex").touch()
    with pytest.raises(StoreError, match=r"chapter1\.tex"):
        RunDirectory.create(str(tmp_path / "thesis"))
    assert [path.name for path in (tmp_path / "thesis").iterdir()] == ["chapter1.tex"]
    for place, found in (
        (tmp_path / "thesis", "a folder without a manifest.json of judgerel"),
        (tmp_path / "thesis" / "chapter1.tex", "a file"),
        (tmp_path / "nowhere", "none"),
    ):
        with pytest.raises(StoreError, match=f"expected a run directory, got {found} "):
            RunDirectory.open(str(place))
    with pytest.raises(StoreError, match="expected an empty or a run directory, got a file"):
        RunDirectory.create(str(tmp_path / "thesis" / "chapter1.tex"))


@pytest.mark.parametrize("manifest", ["{}", "[]", '{"manifest_version": 3}', "{", ""])
def test_a_foreign_manifest_makes_no_run(tmp_path, manifest):
    (tmp_path / "manifest.json").write_text(manifest)
    with pytest.raises(StoreError, match=r"manifest\.json"):
        RunDirectory.create(str(tmp_path))


def test_addresses_are_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    here = os.fspath(Path.cwd() / "run one")
    assert RunDirectory(url="run one").url == here
    assert RunDirectory(url="./run one/").url == here
    assert RunDirectory(url=Path(here).as_uri()).url == here
    assert RunDirectory(url="s3://bucket/run/").url == "s3://bucket/run"
    with pytest.raises(StoreError, match="chain"):
        RunDirectory(url="simplecache::s3://bucket/run")
    with pytest.raises(StoreError, match="nosuch"):
        RunDirectory(url="nosuch://bucket").names()


def test_writes_leave_nothing_beside(disk_run):
    disk_run.write_bytes("data/judge=j/part.parquet", b"1")
    disk_run.create_exclusive("commits/a", b"1")
    disk_run.create_exclusive("commits/a", b"2")
    found = sorted(path.name for path in Path(disk_run.url).rglob("*") if path.is_file())
    assert found == ["a", "manifest.json", "part.parquet"]


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES])
@pytest.mark.parametrize("call", ["write_bytes", "create_exclusive"])
def test_a_disk_that_refuses_is_named(disk_run, monkeypatch, number, call):
    def refuse(_descriptor):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(StoreError, match=os.strerror(number)) as caught:
        getattr(disk_run, call)("commits/x", b"1")
    assert str(caught.value.where["path"]).endswith("commits/x")
    assert disk_run.names("commits") == ()


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="file"):
        RunDirectory.create(str(tmp_path / "file" / "run"))


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP])
def test_exclusive_creation_without_hard_links(disk_run, monkeypatch, number):
    def refuse(*_args):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "link", refuse)
    assert disk_run.create_exclusive("commits/x", b"1") is True
    assert disk_run.create_exclusive("commits/x", b"2") is False
    assert disk_run.read_bytes("commits/x") == b"1"


def test_a_link_whose_answer_was_lost_is_ours(disk_run, monkeypatch):
    plain = os.link

    def link_twice(*args):
        plain(*args)
        plain(*args)

    monkeypatch.setattr(os, "link", link_twice)
    assert disk_run.create_exclusive("commits/x", b"1") is True


def _race(url, options, barrier, who):
    barrier.wait()
    twin = RunDirectory(url=url, storage_options=options)
    return [twin.create_exclusive(f"commits/{n}", str(who).encode()) for n in range(40)]


def _race_in_process(url, options, barrier, who, out):
    out.put((who, _race(url, options, barrier, who)))


@pytest.mark.slow
def test_eight_processes_create_one_name_once(disk_run):
    context = multiprocessing.get_context("spawn")
    barrier, out = context.Barrier(8), context.Queue()
    args = (disk_run.url, {}, barrier)
    racers = [context.Process(target=_race_in_process, args=(*args, who, out)) for who in range(8)]
    for racer in racers:
        racer.start()
    won = dict(out.get(timeout=900) for _ in racers)
    for racer in racers:
        racer.join()
    for n in range(40):
        winners = [who for who in range(8) if won[who][n]]
        assert len(winners) == 1
        assert disk_run.read_text(f"commits/{n}") == str(winners[0])


@pytest.mark.slow
def test_eight_threads_create_one_object_once(s3_options):
    url = "s3://runs/race"
    barrier = threading.Barrier(8)
    with ThreadPoolExecutor(8) as pool:
        won = list(pool.map(lambda who: _race(url, s3_options, barrier, who), range(8)))
    run = RunDirectory(url=url, storage_options=s3_options)
    for n in range(40):
        winners = [who for who in range(8) if won[who][n]]
        assert len(winners) == 1
        assert run.read_text(f"commits/{n}") == str(winners[0])


@pytest.mark.slow
def test_the_endpoint_may_come_from_the_environment(s3_url, s3_options, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", s3_url)
    fsspec.filesystem("s3").clear_instance_cache()
    assert s3_options
    run = RunDirectory.create("s3://runs/environment")
    assert run.names() == ("manifest.json",)
    fsspec.filesystem("s3").clear_instance_cache()


@pytest.mark.slow
def test_what_others_wrote_after_a_look_is_read(s3_url, s3_options):
    """A listing that is kept would make it missing, in a program that runs and then reads."""
    import s3fs

    run = RunDirectory.create("s3://runs/others", storage_options=s3_options)
    run.write_bytes("data/judge=a/one", b"1")
    assert run.files.sizes("data") == {"data/judge=a/one": 1}
    assert run.names("data/judge=a") == ("one",)
    other = s3fs.S3FileSystem(endpoint_url=s3_url, skip_instance_cache=True)
    other.pipe_file("runs/others/data/judge=a/two", b"2")
    assert run.files.read_many(["data/judge=a/two"]) == {"data/judge=a/two": b"2"}
    assert run.files.filesystem.info(run.files.path("data/judge=a/two"))["size"] == 1
    assert run.names("data/judge=a") == ("one", "two")


@pytest.mark.slow
def test_a_store_whose_answers_are_lost_is_exclusive_all_the_same(s3_url, s3_options, fault_bucket):
    assert s3_options
    with fault_bucket(s3_url, {"lost": 0.5}) as proxy:
        bucket = Bucket(
            url="s3://runs/lost", options={"client_kwargs": {"endpoint_url": proxy.url}}
        )
        for n in range(200):  # answers are lost by chance
            assert bucket.is_exclusive()
            if n >= 7 and proxy.did["lost"] > 4:
                break
        assert proxy.did["lost"] > 4


@pytest.mark.slow
def test_an_upload_in_pieces_that_never_ended_is_no_object(s3_url, s3_options):
    """As a writer of a large part leaves it that is killed: S3 keeps the pieces out of sight."""
    import s3fs

    run = RunDirectory.create("s3://runs/pieces", storage_options=s3_options)
    there = s3fs.S3FileSystem(endpoint_url=s3_url)
    name = "commits/s0001-l000001-a1.json"
    begun = there.call_s3("create_multipart_upload", Bucket="runs", Key=f"pieces/{name}")
    there.call_s3(
        "upload_part", Bucket="runs", Key=f"pieces/{name}", PartNumber=1,
        UploadId=begun["UploadId"], Body=b"half",
    )  # fmt: skip
    assert (run.names("commits"), run.exists(name)) == ((), False)
    assert run.create_exclusive(name, b"whole")
    assert run.read_bytes(name) == b"whole"


@pytest.mark.slow
def test_an_upload_in_pieces_that_breaks_off_is_whole_or_not_there(
    s3_url, s3_options, fault_bucket, monkeypatch
):
    """Pieces are cut, and the answer that they were put together is lost."""
    import s3fs

    piece = 5 * 2**20  # the least that S3 takes
    monkeypatch.setattr(s3fs.S3FileSystem._pipe_file, "__defaults__", (piece, None, "overwrite"))
    monkeypatch.setattr(s3fs.S3FileSystem, "retries", 1)
    data, found = os.urandom(2 * piece + 1), set()
    there = Bucket(url="s3://runs/broken", options=s3_options)
    with fault_bucket(s3_url, {"cut": 0.15, "lost": 0.15}) as proxy:
        options = {
            "client_kwargs": {"endpoint_url": proxy.url},
            "config_kwargs": {"retries": {"max_attempts": 0}},
        }
        bucket = Bucket(url="s3://runs/broken", options=options)
        for n in range(400):  # the rarest comes in about one of 25
            name, written = f"part-{n}", True
            try:
                bucket.write(name, data)
            except StoreError:
                written = False
            found.add((written, there.exists(name)))
            assert not there.exists(name) or there.read(name) == data
            if len(found) == 3:
                break
    # Written; not there; there, though its writer was not told.
    assert found == {(True, True), (False, False), (False, True)}


@pytest.mark.slow
def test_a_bucket_that_is_not_there_is_named(s3_options):
    with pytest.raises(StoreError, match="no-such-bucket"):
        RunDirectory.create("s3://no-such-bucket/run", storage_options=s3_options)


@pytest.mark.slow
def test_a_server_that_is_not_there_is_named(monkeypatch):
    pytest.importorskip("s3fs")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "testing")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
    options = {
        "client_kwargs": {"endpoint_url": "http://127.0.0.1:9", "region_name": "us-east-1"},
        "config_kwargs": {"retries": {"max_attempts": 0}},
    }
    bucket = Bucket(url="s3://runs/x", options=options)
    monkeypatch.setattr(type(bucket.filesystem), "retries", 1)
    with pytest.raises(StoreError, match=r"runs/x.*"):
        bucket.read("a")


class _Careless:
    """A store that takes every PUT, as old S3 look-alikes do."""

    def __init__(self):
        self.objects = {}

    def pipe_file(self, path, value, *, mode="overwrite"):
        assert mode in ("overwrite", "create")
        self.objects[path] = value

    def rm_file(self, path):
        del self.objects[path]


class _Wordy:
    """A store that refuses in words of its own, after a conflict."""

    def __init__(self, names):
        self.names = names
        self.n_calls = 0

    def pipe_file(self, path, value, *, mode):
        assert (mode, value) == ("create", b"1")
        self.n_calls += 1
        if path not in self.names and self.n_calls > 1:
            return
        raise OSError(errno.EINVAL, "At least one of the pre-conditions did not hold")

    def exists(self, path):
        return path in self.names


def _with(monkeypatch, filesystem):
    monkeypatch.setattr(Bucket, "filesystem", property(lambda _self: filesystem))
    return Bucket(url="s3://b/run")


def test_a_store_that_ignores_conditions_is_found_out(monkeypatch):
    careless = _Careless()
    assert _with(monkeypatch, careless).is_exclusive() is False
    assert careless.objects == {}


def test_a_store_without_conditions_is_found_out(monkeypatch):
    class Racy(fsspec.AbstractFileSystem):
        """Inherits the look-then-write of the base class."""

    assert _with(monkeypatch, Racy()).is_exclusive() is False


def test_a_refusal_in_other_words_is_a_refusal(monkeypatch):
    monkeypatch.setattr("judgerel_ray.store.files._PAUSE_S", 0.0)
    assert _with(monkeypatch, _Wordy({"b/run/x"})).create("x", b"1") is False
    assert _with(monkeypatch, _Wordy(set())).create("x", b"1") is True


def test_a_name_refused_while_another_takes_it_is_not_taken_for_taken(monkeypatch):
    class Busy(_Wordy):
        """Says that the name is held, before anything can be read there."""

        def pipe_file(self, path, value, *, mode):
            assert (mode, value) == ("create", b"1")
            self.n_calls += 1
            if self.n_calls == 1:
                raise FileExistsError(path)

    monkeypatch.setattr("judgerel_ray.store.files._PAUSE_S", 0.0)
    busy = Busy(set())
    assert _with(monkeypatch, busy).create("x", b"1") is True
    assert busy.n_calls == 2
    assert _with(monkeypatch, Busy({"b/run/x"})).create("x", b"1") is False


@pytest.mark.skipif(sys.platform == "win32", reason="bytes of a name are bounded on POSIX")
@given(st.lists(st.text(min_size=1), min_size=2, max_size=2, unique=True))
def test_judge_folders_are_one_to_one_and_safe(names):
    folders = [judge_folder(name) for name in names if _encodable(name)]
    assert len(set(folders)) == len(folders)
    for folder in folders:
        assert "/" not in folder
        assert len(folder) < 210
        assert folder.isascii()


def test_long_names_that_differ_at_the_end_stay_apart():
    assert judge_folder("x" * 300) != judge_folder("x" * 299 + "y")
    assert len(judge_folder("é" * 300)) < 210


def _encodable(name):
    return not any(0xD800 <= ord(letter) < 0xE000 for letter in name)


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        (None, "is gone"),
        ("", "is empty"),
        ('{"format": "judge', "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("[1]", "is not a JSON object, it starts with"),
        ("null", "is not a JSON object"),
        ('{"format": "judgerel-run/9"}', "another format, expected 'judgerel-run/2'"),
        ("{}", "another format"),
        ('{"format": "mine"}', "another format"),
        ('{"format": "judgerel-run/1", "seal": "0", "nonce": "1"}', "another format"),
        ('{"format": "judgerel-run/2", "sweep": 3}', "its seal does not hold"),
    ],
)
def test_a_damaged_manifest_is_named_by_all_with_what_to_do(disk_run, manifest, said):
    disk_run.write_text("sweep.toml", "")
    disk_run.write_text("commits/token", "")
    file = Path(disk_run.address("manifest.json"))
    file.unlink()
    if manifest is not None:
        file.write_text(manifest)
    for take in (RunDirectory.open, RunDirectory.create):
        with pytest.raises(StoreError, match=said) as told:
            take(disk_run.url)
        assert told.value.where == {"path": str(file)}
        is_other = "judgerel-run/9" in str(manifest) or "judgerel-run/1" in str(manifest)
        expected = f"judgerel reduce {disk_run.url}/data" if is_other else "run the same sweep"
        assert expected in told.value.hint
    file.write_text('{"format": "judgerel-run/2"}')  # what the hint says
    assert RunDirectory.create(disk_run.url).is_run()


def test_sizes_are_told_while_files_come_and_go(disk_run):
    """Writers give temporary files their names, and remove them, meanwhile."""
    disk_run.write_bytes("data/judge=j/part-0.parquet", b"whole")
    ended = threading.Event()

    def write():
        number = 0
        while not ended.is_set():
            number += 1
            disk_run.write_bytes("data/judge=j/part-1.parquet", b"x" * (number % 9))
            disk_run.write_bytes(f"data/judge=k{number % 5}/part-1.parquet", b"x")
            disk_run.remove("data/judge=j/part-1.parquet")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(300):
            assert disk_run.files.sizes("data")["data/judge=j/part-0.parquet"] == 5
    finally:
        ended.set()
        writer.join()


def test_a_file_that_goes_while_sizes_are_told_is_left_out(disk_run, monkeypatch):
    for name in ("data/judge=j/a", "data/judge=k/b"):
        disk_run.write_bytes(name, b"whole")
    plain = files._stored_folder_entries

    def then_one_goes(folder):
        found = plain(folder)
        if folder.endswith("judge=j"):
            Path(folder, "a").unlink()
        return found

    monkeypatch.setattr(files, "_stored_folder_entries", then_one_goes)
    assert disk_run.files.sizes("data") == {"data/judge=k/b": 5}
    assert disk_run.files.sizes("nowhere") == {}


@pytest.mark.parametrize("name", ["sweep.toml", "plan.json", "items.parquet"])
@pytest.mark.parametrize("read", [RunDirectory.read_text, RunDirectory.read_bytes])
def test_what_follows_from_the_sweep_and_is_gone_says_how_to_get_it_back(run, name, read):
    write_manifest(run, {"sweep": {}})
    with pytest.raises(StoreError, match=f"{name} of the run is gone") as told:
        read(run, name)
    assert told.value.where == {"path": run.address(name)}
    assert "writes it again" in told.value.hint
    with pytest.raises(StoreError) as other:
        read(run, "data/part")
    assert "of the run is gone" not in str(other.value)
    assert "writes it again" not in str(other.value)
