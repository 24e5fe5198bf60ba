import bz2
import lzma

import polars as pl
import pyarrow as pa
import pytest

from judgerel_ray.benchmarks import load_generic
from judgerel_ray.benchmarks.source import read_json_file, read_records
from judgerel_ray.core import ReadingWarning, SweepError


def written(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


@pytest.mark.parametrize(
    ("name", "content", "said", "hint"),
    [
        ("a.jsonl", '{"a": 1}\n{"a": \n', "broken JSON: Expecting value at column", None),
        ("a.jsonl", '{"a": 1}\n[1]\n', "expected one object a line, got a list", None),
        ("a.jsonl", '{"a": 1}\n{"a": 1, "a": 2}\n', "an object has the key 'a' twice", None),
        ("a.jsonl", '{"a": 1}\n{"a": NaN}\n', "NaN is not a JSON number", None),
        ("a.csv", "a,b\n1,2,3\n", "line 2 has 3 fields, the first line names 2", "double quotes"),
        (
            "a.csv",
            'a,b\n"1,2\n',
            "line 2: a quotation mark is open until the file ends",
            "written twice",
        ),
        (
            "a.csv",
            'a,b\n"1"x,2\n',
            "line 2: a field goes on behind the quotation mark",
            "written twice",
        ),
    ],
)
def test_broken_line_is_named(tmp_path, name, content, said, hint):
    with pytest.raises(SweepError, match=r"line=[23]\b") as caught:
        read_records(written(tmp_path / name, content))
    assert said in str(caught.value)
    assert (hint or "") in str(caught.value)


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ('[{"option_id": "a", "text": "x", "text": "y"}]', "an object has the key 'text' twice"),
        ("[1, NaN]", "NaN is not a JSON number"),
        ("[1, -Infinity]", "-Infinity is not a JSON number"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_a_cell_of_json_is_read_as_a_line_of_it(tmp_path, cell, said):
    """Of a key that was there twice the last was taken in silence, and NaN was a number."""
    quoted = cell.replace('"', '""')
    (record,) = read_records(written(tmp_path / "a.csv", f'item_id,options\n1,"{quoted}"\n'))
    with pytest.raises(SweepError, match="write options as a JSON list") as caught:
        record.structure("options")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl", '[\n {"item_id": 1}\n]', "let its name end in .json"),
        ("a.jsonl", '{\n "item_id": 1\n}', "let its name end in .json"),
        ("a.jsonl", '[{"item_id": 1}]\n', "a JSON list belongs in a .json file"),
        ("a.json", '{"a": 1}\n{"a": 2}\n', "let its name end in .jsonl"),
        ("a.json", "{'a': 1}", "broken JSON: Expecting property name"),
        ("a.json", '[{"a": 1, "a": 2}]', "an object has the key 'a' twice"),
        ("a.json", "[1]", "expected an object, got number 1"),
        ("a.json", '{"examples": []}', "keys=examples"),
        ("a.json", "[]", "the file has no rows"),
        ("a.csv", "item_id,question\n", "the file has no rows"),
        ("a.csv", "a,a\n1,2\n", "columns 1 and 2 are both called 'a'"),
        ("a.parquet", b"PAR1 but not really", "not a Parquet file"),
        ("a.txt", "a", "unknown file format"),
        ("a.jsonl.lz4", "a", "unknown file format"),
        ("a.jsonl.zst", "a", "it is not packed by zstd, as its name says"),
        ("a.csv", '{"item_id": 1}\n', "the file holds JSON, by its first line"),
        ("a", "a", "unknown file format"),
    ],
)
def test_file_of_another_shape(tmp_path, name, content, said):
    with pytest.raises(SweepError) as caught:
        read_records(written(tmp_path / name, content))
    assert said in str(caught.value)
    assert f"file={tmp_path / name}" in str(caught.value)
    assert "\n" not in str(caught.value)


TABLE = 'item_id{0}question\n1{0}"Which{0} this?"\n\n2{0}Why?\n'


@pytest.mark.parametrize("sign", [",", ";", "\t", "|"])
@pytest.mark.parametrize("ending", [".csv", ".tsv"])
def test_columns_are_found_whatever_stands_between_them(tmp_path, sign, ending, recwarn):
    one, two = read_records(written(tmp_path / f"a{ending}", TABLE.format(sign)))
    assert (one.fields, one.place["line"]) == (
        {"item_id": "1", "question": f"Which{sign} this?"},
        2,
    )
    assert (two.text("question"), two.place["line"]) == ("Why?", 4)
    expected = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}[sign]
    notes = [] if sign == {".csv": ",", ".tsv": "\t"}[ending] else [f"read with {expected} between"]
    assert [str(one.message)[: len(f"read with {expected} between")] for one in recwarn] == notes


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", TABLE.format(",").encode("utf-16")),
        ("a.csv", TABLE.format(",").replace("\n", "\r").encode()),
        ("a.csv", b"sep=;\r\n" + TABLE.format(";").encode()),
        ("a.csv.bz2", bz2.compress(TABLE.format(",").encode())),
        ("a.tsv.xz", lzma.compress(TABLE.format("\t").encode())),
        ("a.csv.zst", pa.compress(TABLE.format(",").encode(), codec="zstd", asbytes=True)),
        (
            "a.jsonl",
            '{"item_id": 1, "question": "Which, this?"}\n{"question": "Why?"}'.encode("utf-16"),
        ),
    ],
)
def test_packed_and_wide_text_is_read_as_in_all_verbs(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    one, two = (record.text("question") for record in read_records(str(tmp_path / name)))
    assert one in ("Which, this?", "Which; this?", "Which\t this?")
    assert two == "Why?"


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
    assert read_json_file(written(tmp_path / "a.json", '\ufeff{"a":\r\n [1]}')) == {"a": [1]}


def test_broken_document_names_its_line(tmp_path):
    with pytest.raises(SweepError, match=r"at column 2 .*line=3"):
        read_json_file(written(tmp_path / "a.json", '{\n"a": 1\n ["b"]}'))


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
        read_json_file(written(tmp_path / "a.json", "[" * 100_000 + "\n]"))


def test_a_cell_nested_too_deeply_is_one_line(tmp_path):
    (row,) = read_records(written(tmp_path / "a.csv", "turns\n" + "[" * 100_000))
    with pytest.raises(SweepError, match="turns must be a list") as caught:
        row.structure("turns")
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"a": 1}\n{"a"\n{"a": "\xff"}\n', "line 3 is not UTF-8: byte 0xff"),
        (b'{"a": 1}\n{"a"\n\x00\n', "it holds zero bytes, the first in line 3"),
        (b"\n \n", "the file is empty"),
        (b"PAR1\n\xff\n", "let its name end in .parquet"),
    ],
)
def test_what_is_wrong_with_a_file_as_a_whole_is_told_before_a_line(tmp_path, content, said):
    with pytest.raises(SweepError) as caught:
        read_records(written(tmp_path / "a.jsonl", content))
    assert said in str(caught.value)


@pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b""])
def test_lines_end_as_in_every_system(tmp_path, mark):
    text = mark + '{"a": "\u2028"}\r\n\r\n{"a": 2}'.encode()
    records = read_records(written(tmp_path / "a.jsonl", text))
    assert [(record.fields["a"], record.place["line"]) for record in records] == [
        ("\u2028", 1),
        (2, 3),
    ]


def test_a_broken_line_is_told_before_an_item_that_is_wrong(tmp_path):
    path = written(tmp_path / "a.jsonl", '{"item_id": "q"}\n{"item_id"\n')
    with pytest.raises(SweepError, match=r"broken JSON.*line=2"):
        load_generic("mine", path)


@pytest.mark.parametrize(
    ("name", "content", "place"),
    [
        ("a.jsonl", "{0}\n\n{0}\n", "line=3, first=line 1"),
        ("a.json", "[{0}, {0}]", r"entry=\[1\], first=entry \[0\]"),
        ("a.csv", "item_id,question\nq,?\n\nq,?\n", "line=4, first=line 2"),
    ],
)
def test_the_places_of_two_items_of_one_name_are_told(tmp_path, name, content, place):
    content = content.replace("{0}", '{"item_id": "q", "question": "?"}')
    with pytest.raises(SweepError, match=f"'q' stands twice.*{place}"):
        load_generic("mine", written(tmp_path / name, content))


def test_a_title_above_the_names_of_columns_is_no_item(tmp_path):
    path = tmp_path / "items.csv"
    path.write_text("My export\n\nitem_id,question,gold\nq1,Why?,A\n")
    with pytest.warns(ReadingWarning, match="2 lines above the names of columns left out"):
        (record,) = read_records(str(path))
    assert (record.fields["item_id"], record.place["line"]) == ("q1", 4)
