import polars as pl
import pytest

from judgerel_ray.benchmarks.rows import read_json, read_records
from judgerel_ray.core import SweepError


def written(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


@pytest.mark.parametrize(
    ("name", "content", "said", "hint"),
    [
        ("a.jsonl", '{"a": 1}\n{"a": \n', "broken JSON: Expecting value at column", None),
        ("a.jsonl", '{"a": 1}\n[1]\n', "expected one object a line, got a list", None),
        ("a.jsonl", '{"a": 1}\n{"a": 1, "a": 2}\n', "repeats the name 'a'", None),
        ("a.jsonl", '{"a": 1}\n{"a": NaN}\n', "NaN is not a JSON number", None),
        ("a.csv", "a,b\n1,2,3\n", "expected 2 cells as in the header, got 3", "double quotes"),
        ("a.csv", 'a,b\n"1,2\n', "broken CSV", None),
        ("a.csv", 'a,b\n"1"x,2\n', "broken CSV", None),
    ],
)
def test_broken_line_is_named(tmp_path, name, content, said, hint):
    with pytest.raises(SweepError, match=r"line=[23]\b") as caught:
        read_records(written(tmp_path / name, content))
    assert said in str(caught.value)
    assert (hint or "") in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl", '[\n {"item_id": 1}\n]', "let its name end in .json"),
        ("a.jsonl", '{\n "item_id": 1\n}', "let its name end in .json"),
        ("a.jsonl", '[{"item_id": 1}]\n', "a JSON list belongs in a .json file"),
        ("a.json", '{"a": 1}\n{"a": 2}\n', "let its name end in .jsonl"),
        ("a.json", "{'a': 1}", "broken JSON: Expecting property name"),
        ("a.json", '[{"a": 1, "a": 2}]', "repeats the name 'a'"),
        ("a.json", "[1]", "expected an object, got number 1"),
        ("a.json", '{"examples": []}', "keys=examples"),
        ("a.json", "[]", "the file has no rows"),
        ("a.csv", "item_id,question\n", "the file has no rows"),
        ("a.csv", "a,a\n1,2\n", "the header repeats 'a'"),
        ("a.parquet", b"PAR1 but not really", "not a Parquet file"),
        ("a.txt", "a", "unknown file format"),
        ("a.jsonl.zst", "a", "unknown file format"),
        ("a", "a", "unknown file format"),
    ],
)
def test_file_of_another_shape(tmp_path, name, content, said):
    with pytest.raises(SweepError) as caught:
        read_records(written(tmp_path / name, content))
    assert said in str(caught.value)
    assert f"file={tmp_path / name}" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_parquet_without_rows(tmp_path):
    pl.DataFrame({"a": []}).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(SweepError, match="has no rows"):
        read_records(str(tmp_path / "a.parquet"))


def test_lines_end_only_at_line_feeds(tmp_path):
    text = '\ufeff{"a": "x\u2028y"}\r\n\r\n{"a": "z"}'
    one, two = read_records(written(tmp_path / "a.ndjson", text))
    assert one.text("a") == "x\u2028y"
    assert two.place["line"] == 3


def test_json_document_with_byte_order_mark(tmp_path):
    assert read_json(written(tmp_path / "a.json", '\ufeff{"a":\r\n [1]}')) == {"a": [1]}


def test_broken_document_names_its_line(tmp_path):
    with pytest.raises(SweepError, match=r"at column 2 .*line=3"):
        read_json(written(tmp_path / "a.json", '{\n"a": 1\n ["b"]}'))


def test_long_cells_are_read(tmp_path):
    long = "x" * 200_000
    (row,) = read_records(written(tmp_path / "a.csv", f"a,b\n{long},1\n"))
    assert len(row.text("a")) == 200_000


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
@pytest.mark.parametrize("line", ["[" * 100_000, '{"a": ' * 100_000])
def test_what_is_nested_too_deeply_is_one_line(tmp_path, name, line):
    with pytest.raises(SweepError, match="nested too deeply") as caught:
        read_records(written(tmp_path / name, line))
    assert "\n" not in str(caught.value)


def test_a_first_line_nested_too_deeply_is_no_row_of_json_lines(tmp_path):
    with pytest.raises(SweepError, match="broken JSON"):
        read_json(written(tmp_path / "a.json", "[" * 100_000 + "\n]"))


def test_a_cell_nested_too_deeply_is_one_line(tmp_path):
    (row,) = read_records(written(tmp_path / "a.csv", "turns\n" + "[" * 100_000))
    with pytest.raises(SweepError, match="turns must be a list") as caught:
        row.structure("turns")
    assert len(str(caught.value)) < 1000
