import gzip

import fsspec
import pytest

from judgerel_ray.benchmarks import load_items
from judgerel_ray.benchmarks.source import excerpt, file_format, name_kind, read_text, read_unpacked
from judgerel_ray.core import SweepError
from judgerel_ray.core.files import is_folder, list_folder
from judgerel_ray.counting.files.source import read_source


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"caf\xe9", "line 1 is not UTF-8: byte 0xe9"),
        (b"\xef\xbb\xbfa\ncaf\xe9", "line 2 is not UTF-8: byte 0xe9"),
        (b"\xff\xfea", "line 1 is not UTF-16: byte 0x61"),
        ("a,b".encode("utf-16-le"), "it holds zero bytes, the first in line 1"),
        (gzip.compress(b"a", mtime=0), "let its name end in .gz"),
        (b"PAR1\xe9", "let its name end in .parquet"),
        (b"", "the file is empty"),
        (b"\xef\xbb\xbf \r\n", "the file is empty"),
        (b"\xff\xfe", "the file is empty"),
    ],
)
def test_bytes_that_are_no_text(tmp_path, content, said):
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(SweepError) as caught:
        read_text(str(tmp_path / "a.csv"))
    assert said in str(caught.value)
    assert "a.csv" in str(caught.value)


@pytest.mark.parametrize(
    "content", [b"no gzip at all", gzip.compress(b"cut off here", mtime=0)[:-9]]
)
def test_broken_compression(tmp_path, content):
    (tmp_path / "a.csv.gz").write_bytes(content)
    with pytest.raises(SweepError, match=r"cannot be read: .*a\.csv\.gz"):
        read_text(str(tmp_path / "a.csv.gz"))


def test_missing_file_points_to_its_neighbour(tmp_path):
    (tmp_path / "questions.jsonl").write_text("{}")
    with pytest.raises(SweepError, match=r"no such file .*Try: .*/questions\.jsonl"):
        read_text(str(tmp_path / "question.jsonl"))
    with pytest.raises(SweepError, match="check the folder"):
        read_text(str(tmp_path / "nowhere" / "question.jsonl"))


def test_folder_and_unknown_protocol_are_no_files(tmp_path):
    with pytest.raises(SweepError, match="expected a file, got a folder"):
        read_text(str(tmp_path))
    for reader in (read_text, is_folder, list_folder):
        with pytest.raises(SweepError, match="cannot be read: Protocol not known: nosuch"):
            reader("nosuch://bucket/a.csv")


def test_urls_read_as_paths_do():
    memory = fsspec.filesystem("memory")
    memory.pipe("/bench/bbh/sums.json", b'{"examples": [{"input": "1+1", "target": "2"}]}')
    memory.pipe("/bench/mine.csv.gz", gzip.compress(b"item_id,question\n1,Why?\n"))
    try:
        assert load_items("bbh", "memory://bench/bbh")[0].item_id == "bbh:sums:0"
        assert load_items("mine", "memory://bench/mine.csv.gz")[0].question == "Why?"
        with pytest.raises(SweepError, match=r"Try: memory://bench/mine\.csv\.gz"):
            load_items("mine", "memory://bench/main.csv.gz")
    finally:
        memory.rm("/bench", recursive=True)


def test_a_path_without_suffix_that_is_not_there_is_said_to_be_absent(tmp_path):
    (tmp_path / "items").mkdir()
    with pytest.raises(SweepError, match=r"no such file \[file=.*itms\]\. Try: .*items"):
        file_format(str(tmp_path / "itms"))


def test_what_only_a_remote_store_raises_is_one_line(monkeypatch):
    botocore = pytest.importorskip("botocore.exceptions", reason="needs the extra s3")

    def refused(*_, **__):
        raise botocore.NoCredentialsError

    monkeypatch.setattr(fsspec, "open", refused)
    with pytest.raises(SweepError, match=r"cannot be read: Unable to locate credentials \[file="):
        read_unpacked("s3://bucket/items.csv")
    with pytest.raises(SweepError, match=r"cannot be read: Unable to locate credentials \[file="):
        read_source("s3://bucket/judgments.csv")


@pytest.mark.parametrize("error", [RuntimeError("no\nroute"), KeyError("host"), OSError(5, "gone")])
def test_whatever_a_client_of_a_file_system_raises_is_one_line(error, monkeypatch):
    def fails(*_, **__):
        raise error

    monkeypatch.setattr(fsspec, "open", fails)
    monkeypatch.setattr(fsspec.core, "url_to_fs", fails)
    for read in (read_unpacked, is_folder, list_folder):
        with pytest.raises(SweepError, match="cannot be read: ") as refused:
            read("hf://datasets/a/b.csv")
        assert "\n" not in str(refused.value)
    with pytest.raises(SweepError, match="cannot be read: "):
        read_source("hf://datasets/a/b.jsonl")


def test_values_are_named_in_a_word_or_two():
    assert [name_kind(one) for one in (None, 3, [1])] == ["null", "number 3", "a list"]
    assert excerpt("two\nlines") == repr("two\nlines")
