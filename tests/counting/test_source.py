"""Tables of every form are read, or refused in one line that is true."""

import gzip
import json
import os
import pickle

import hypothesis
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from judgerel_ray.cli import main
from judgerel_ray.core import SweepError
from judgerel_ray.core.errors import Unreadable
from judgerel_ray.counting.files import records
from judgerel_ray.counting.files.source import frame_of, read_source
from judgerel_ray.counting.gold import beside_table

ROWS = [("q1", "0", "A"), ("q1", "1", 'say "B"'), ("q2", "0", "a, b; c|d"), ("q2", "1", None)]
NAMES = ("item_id", "replication", "verdict")
TABLE = pl.DataFrame(ROWS, schema=NAMES, orient="row")
TEXT = TABLE.write_csv()


def read(path):
    return read_source(str(path)).rows.collect()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", TEXT.encode()),
        ("a.csv", TEXT.replace("\n", "\r\n").encode()),
        ("a.csv", TEXT.replace("\n", "\r").encode()),
        ("a.csv", TEXT.encode("utf-8-sig")),
        ("a.csv", TEXT.encode("utf-16")),
        ("a.csv", ("\n" + TEXT.replace("\n", "\n\n")).encode()),
        ("a.csv", TEXT.replace("item_id,", " item_id ,").encode()),
        ("a.csv", TABLE.write_csv(separator=";").encode()),
        ("a.csv", TABLE.write_csv(separator="\t").encode()),
        ("a.csv", TABLE.write_csv(separator="|").encode()),
        ("a.csv", ("sep=;\n" + TABLE.write_csv(separator=";")).encode()),
        ("a.tsv", TABLE.write_csv(separator="\t").encode()),
        ("a.tsv", TEXT.encode()),
        ("a.csv.gz", gzip.compress(TEXT.encode(), mtime=0)),
        ("a.csv.zst", pa.compress(TEXT.encode(), codec="zstd", asbytes=True)),
        ("a[1].csv", TEXT.encode()),
        ("a.jsonl", TABLE.write_ndjson().encode()),
        ("a[1].jsonl", TABLE.write_ndjson().encode()),
        ("a.NDJSON.gz", gzip.compress(TABLE.write_ndjson().encode(), mtime=0)),
        ("a.json", json.dumps(TABLE.to_dicts()).encode()),
        ("a.json", json.dumps({"n": 4, "rows": TABLE.to_dicts(), "tags": []}).encode()),
        ("a.json", json.dumps({"results": {"rows": TABLE.to_dicts()}}).encode()),
        ("a.json", TABLE.write_ndjson().encode()),
    ],
)
def test_one_table_in_every_form(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    assert read(tmp_path / name).rows() == TABLE.rows()


def test_what_stands_between_columns_is_said(tmp_path):
    (tmp_path / "a.csv").write_text(TABLE.write_csv(separator=";"))
    assert read_source(str(tmp_path / "a.csv")).notes == (
        "read with semicolons between columns, as in its first line",
    )
    (tmp_path / "b.csv").write_text(TEXT)
    assert read_source(str(tmp_path / "b.csv")).notes == ()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", b"item_id,verdict,replication,verdict\nq,A,0,B\n", "columns 2 and 4 are both"),
        ("a.csv", b"a,b\n1,2\n1,2,3\n", "line 3 has 3 fields, the first line names 2 columns"),
        (
            "a.csv",
            b"My export\n\nitem_id,verdict\nq,x\nq,x,y\n",
            "line 5 has 3 fields, line 3 names 2 columns",
        ),
        ("a.csv", b"a,b\n1,2\n\n1\n", "line 4 has 1 fields, the first line names 2 columns"),
        ("a.csv", b'a,b\n1,"x\ny"\n1\n', "line 4 has 1 fields"),
        (
            "a.csv",
            b'a,b\n1,"x\n2,y\n',
            "line 2: a quotation mark is open until the file ends, .*Try",
        ),
        ("a.csv", b'a,"b\n1,2\n', "line 1: a quotation mark is open until the file ends, .*Try"),
        ("a.csv", b'a,b\n1,"x"y\n', "line 2: a field goes on behind the quotation mark .*Try"),
        ("a.csv", b'a,b\n"x"y,2\n', "line 2: a field goes on behind the quotation mark .*Try"),
        ("a.csv", b"item_id:verdict\nq:A\n", "line 1 has ':' between names, expected commas, "),
        ("a.tsv", b"item_id^verdict^n\nq^A^1\n", "has '\\^' between names, expected .*or bars"),
        ("a.csv", b"item_id  verdict\nq  A\n", "line 1 has ' ' between names"),
        ("a.csv", b"a,b\n1,2\n1,caf\xe9\n", "line 3 is not UTF-8: byte 0xe9"),
        ("a.csv", b"\x00\x01\x02", "it holds zero bytes"),
        ("a.csv", b"", "is empty"),
        ("a.csv", b"\n\n", "is empty"),
        ("a.jsonl", b'[{"a": 1}]', "line 1 is no record.*Try: rename the file to end in .json"),
        ("a.jsonl", b'[\n {"a": 1}\n]', "line 1 is not JSON.*Try: rename the file to end in .json"),
        ("a.json", b'{"a": {"0": 1, "1": 2}}', 'got one with a .*Try: .*orient="records"'),
        ("a.json", json.dumps({n: {"a": n} for n in range(9)}).encode(), "0, 1, 2, 3, 4, 5, ... "),
        ("a.jsonl", b'{"a": 1}\n{"a": \n', "line 2 is not JSON"),
        ("a.jsonl", b'{"a": 1}\n\n[1, 2]\n', "line 3 is no record"),
        ("a.json", b'{"a": 1', "not JSON"),
        (
            "a.jsonl",
            b'{"verdict": 1}\n{"verdict": 1, "verdict": 2}',
            "line 2: an object has the key",
        ),
        (
            "a.jsonl",
            b'{"verdict": 1, "verd\\u0069ct": 2}',
            "line 1: an object has the key 'verdict' twice",
        ),
        (
            "a.csv",
            b"# of May\na,b\n1,2\n",
            "line 2 has 2 fields, .*Try: take out what stands above",
        ),
        ("a.json", b'[{"verdict": 1, "verdict": 2}]', "an object has the key 'verdict' twice"),
        ("a.csv", b'{"item_id": "q", "verdict": 1}\n', "the file holds JSON, .* ending .jsonl"),
        ("a.json", b"[1, 2]", "record 1 is none"),
        ("a.json", b'{"x": 1}', "expected a list of records, .*, got one with x "),
        ("a.json", b"{}", "expected a list of records, .*, got one with no field "),
        ("a.json", b'{"x": [{"a": 1}], "y": [{"a": 1}]}', "2 lists of records: x, y"),
        ("a.csv.gz", b"no gzip", "cannot be read: it is not packed by gzip, as its name says"),
        ("a.csv.zst", b"no zstd", "cannot be read: it is not packed by zstd, as its name says"),
        (
            "a.csv.gz",
            gzip.compress(b"a,b\n1,2\n", mtime=0)[:20],
            "it is cut off or damaged: its gzip",
        ),
        ("a.parquet", b"no parquet", "cannot be read: it is no whole Parquet file: "),
        ("a.txt", b"x", r"expected .parquet, .*Try: give it the ending of what it is"),
    ],
)
def test_what_is_no_table_is_refused_in_one_line(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SweepError, match=said) as refused:
        read(tmp_path / name)
    assert "\n" not in str(refused.value)
    assert name in str(refused.value)


def test_bytes_that_are_no_text_are_refused_by_the_name_of_their_column(tmp_path):
    pl.DataFrame({"item_id": ["q", "r"], "verdict": [b"A", b"\xff"]}).write_parquet(
        tmp_path / "a.parquet"
    )
    with pytest.raises(SweepError, match=r"column verdict holds bytes that are no UTF-8.*row=2"):
        read(tmp_path / "a.parquet")


def test_no_path_is_not_this_folder():
    with pytest.raises(SweepError, match="expected the path of a file, got an empty text"):
        read_source("")


def test_a_line_with_too_much_is_refused_where_few_columns_are_read(tmp_path):
    """Polars drops what is too much where the last columns are not asked for."""
    (tmp_path / "a.csv").write_text("item_id,verdict,note\nq,A,x\nq,B,so, so\n")
    with pytest.raises(SweepError, match="line 3 has 4 fields"):
        read_source(str(tmp_path / "a.csv")).rows.select("verdict").collect()


def test_an_object_inside_may_have_the_key_of_a_column(tmp_path):
    line = {"verdict": "A", "meta": {"verdict": "B"}}
    (tmp_path / "a.jsonl").write_text(json.dumps(line))
    assert read(tmp_path / "a.jsonl")["verdict"].to_list() == ["A"]


def test_python_writes_what_is_not_json_and_it_is_read(tmp_path):
    lines = [{"v": float("nan"), "w": True}, {"v": 1, "w": 2}, {"v": 2.5, "w": "x"}]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert read(tmp_path / "a.jsonl").rows() == [(None, "true"), (1.0, "2"), (2.5, "x")]


def test_folders_and_patterns_are_one_table(tmp_path):
    for judge in "xy":
        folder = tmp_path / "logs" / f"judge={judge}"
        folder.mkdir(parents=True)
        TABLE.write_parquet(folder / "part-0.parquet")
    (tmp_path / "logs" / "_SUCCESS").touch()
    (tmp_path / "logs" / "info.json").write_text("{}")
    for given in ("logs", "logs/*/*.parquet", "logs/**/*.parquet"):
        source = read_source(str(tmp_path / given))
        found = source.rows.collect()
        assert found["judge"].to_list() == ["x"] * 4 + ["y"] * 4
        assert found.select(NAMES).rows() == [*TABLE.rows(), *TABLE.rows()]
        assert source.notes[0].startswith("read 2 files as one table: judge=x")


def test_files_of_one_table_may_differ_in_types_and_not_in_columns(tmp_path):
    pl.DataFrame({"item_id": [1], "verdict": [True]}).write_parquet(tmp_path / "a.parquet")
    pl.DataFrame({"item_id": ["x"], "verdict": ["no"]}).write_parquet(tmp_path / "b.parquet")
    assert read(tmp_path / "*.parquet").rows() == [("1", "true"), ("x", "no")]
    pl.DataFrame({"item_id": ["x"]}).write_parquet(tmp_path / "c.parquet")
    with pytest.raises(SweepError, match="files differ in their columns: verdict"):
        read(tmp_path)
    (tmp_path / "d.csv").write_text(TEXT)
    with pytest.raises(SweepError, match=r"several kinds are there: .csv, .parquet"):
        read(tmp_path)


def test_a_path_that_says_something_else_than_a_column_is_refused(tmp_path):
    """The path was passed over in silence where the file had the column."""
    for folder, temperature, said in (
        ("temperature=0.7", 0.70, None),
        ("temperature=1", 0.7, "the path says temperature=1, and its column temperature has '0.7'"),
        ("temperature=0.7", None, "the path says temperature=0.7, .* has None"),
        ("temperature=__HIVE_DEFAULT_PARTITION__", None, None),
        ("temperature=1/temperature=2", 1.0, "says temperature=1, and temperature=2 as well"),
    ):
        here = tmp_path / f"{folder}-{temperature}".replace("/", "-") / folder
        here.mkdir(parents=True)
        rows = pl.DataFrame({"item_id": ["q"], "temperature": [temperature]})
        rows.cast({"temperature": pl.Float64}).write_parquet(here / "a.parquet")
        root = tmp_path / f"{folder}-{temperature}".replace("/", "-")
        if said is None:
            assert read(root)["temperature"].to_list() == [temperature]
        else:
            with pytest.raises(SweepError, match=said):
                read(root)


def test_a_folder_of_half_a_disk_is_no_table(tmp_path, monkeypatch):
    monkeypatch.setattr("judgerel_ray.counting.files.source._MOST_FILES", 20)
    (tmp_path / "a.csv").write_text(TEXT)
    hidden = tmp_path / ".git"
    hidden.mkdir()
    for n in range(30):
        (hidden / f"{n}.txt").touch()
    assert read(tmp_path).rows() == TABLE.rows()
    walked = []
    monkeypatch.setattr(
        "os.walk", lambda *_, **__: (walked.append(n) or (str(n), [], ["x"] * 8) for n in range(99))
    )
    with pytest.raises(SweepError, match="expected a folder of tables, got one with more than 20"):
        read(tmp_path)
    assert walked == [0, 1, 2]
    with pytest.raises(SweepError, match=r"a pattern of tables, got one .* more than 20 files"):
        read(tmp_path / "**" / "*.csv")
    assert read(tmp_path / "*.csv").rows() == TABLE.rows()


def test_a_folder_that_cannot_be_read_is_named(tmp_path, monkeypatch):
    """Files in it were left out in silence."""
    (tmp_path / "a.csv").write_text(TEXT)
    (tmp_path / "locked").mkdir()
    scan = os.scandir

    def refuse(path):
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr("os.scandir", refuse)
    with pytest.raises(SweepError, match=r"cannot be read: Permission denied \[.*locked\]"):
        read(tmp_path)


def test_parts_of_a_run_are_not_read_past_its_commits(tmp_path):
    for name in ("commits", "data"):
        (tmp_path / "run" / name).mkdir(parents=True)
    TABLE.write_parquet(tmp_path / "run" / "data" / "part.parquet")
    for given in ("run/data", "run/data/*.parquet"):
        with pytest.raises(SweepError, match=r"parts of a run directory.* Try: .*run"):
            read(tmp_path / given)


def test_what_is_not_there_is_said(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(SweepError, match="no such file"):
        read(tmp_path / "gone.csv")
    with pytest.raises(SweepError, match="no file matches the pattern"):
        read(tmp_path / "gone*.csv")
    with pytest.raises(SweepError, match="a folder that holds neither"):
        read(tmp_path / "empty")


@pytest.mark.parametrize("kind", [pl.Categorical, pl.Enum(["A", "B"]), pl.Binary])
def test_categories_and_bytes_are_text(tmp_path, kind):
    frame = pl.DataFrame({"verdict": pl.Series(["A", "B"]).cast(kind)})
    frame.write_parquet(tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet")["verdict"].to_list() == ["A", "B"]


class OnlyToArrow:
    def to_arrow(self):
        return TABLE.to_arrow()


class OnlyAStream:
    def __arrow_c_stream__(self, requested_schema=None):
        return TABLE.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize(
    "given",
    [TABLE, TABLE.lazy(), TABLE.to_arrow(), TABLE.to_arrow().to_reader(), OnlyToArrow(),
     OnlyAStream()],
    ids=lambda one: type(one).__name__,
)  # fmt: skip
def test_frames_of_any_library_are_taken(given):
    assert frame_of(given).collect().rows() == TABLE.rows()


@pytest.mark.parametrize("given", ["a.csv", 7, None, [TABLE], {"a": [1]}])
def test_what_is_no_frame_is_none(given):
    assert frame_of(given) is None


def test_a_frame_of_pandas_with_values_of_several_kinds():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"item_id": [1, 2], "verdict": [True, "pass"]})
    assert frame_of(frame).collect().rows() == [(1, "true"), (2, "pass")]
    assert frame_of(frame.set_index("item_id")).collect().rows() == [(1, "true"), (2, "pass")]
    frame.columns = ["verdict", "verdict"]
    with pytest.raises(SweepError, match="two columns are called 'verdict'"):
        frame_of(frame)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.json", b"{", "not JSON: "),
        ("a.parquet", b"no parquet", "it is no whole Parquet file: "),
        ("a.pdf", b"", "unknown kind of file"),
    ],
)
def test_a_table_of_a_flag_says_once_that_it_cannot_be_read(tmp_path, name, content, reason):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SweepError) as no:
        beside_table(str(tmp_path / name), "--gold")
    assert no.value.problem.startswith(f"--gold cannot be read: {reason}")


def test_an_unreadable_file_crosses_processes_whole():
    error = Unreadable("bad", where={"file": "a"}, hint="another")
    back = pickle.loads(pickle.dumps(error))
    assert (type(back), str(back), back.reason) == (Unreadable, str(error), "bad")
    assert str(error) == "cannot be read: bad [file=a]. Try: another"


def test_a_line_of_too_many_names_is_refused_with_their_number(tmp_path):
    names = ["item_id", "verdict", *(f"c{i}" for i in range(200_000))]
    (tmp_path / "x.csv").write_text(",".join(names) + "\nq,A" + "," * 200_000 + "\n")
    with pytest.raises(SweepError, match=r"^the first line names 200,002 columns in 1,\d+,\d+ b"):
        read_source(str(tmp_path / "x.csv"))


@pytest.mark.alike(3)
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.json", "own.jsonl", "a.parquet"])
def test_too_many_columns_are_refused_with_their_number(name, tmp_path):
    names = [f"c{i}" for i in range(10_001)]
    file = tmp_path / name
    if name == "own.jsonl":  # each row has a field of its own
        file.write_text("".join(f'{{"{one}": 1}}\n' for one in names))
    elif name == "a.parquet":
        pl.DataFrame({one: [1] for one in names}).write_parquet(file)
    elif name == "a.csv":
        file.write_text(",".join(names) + "\n" + "1," * 10_000 + "1\n")
    else:
        row = json.dumps(dict.fromkeys(names, 1))
        file.write_text(f"[{row}]" if name == "a.json" else row)
    with pytest.raises(SweepError, match=r"10,001 columns, expected at most 10,000 \[file="):
        read_source(str(file))


PLAIN_LINES = "".join(f'{{"item_id": "q{i}", "verdict": "A"}}\n' for i in range(20_000))


@pytest.mark.alike(4)
@pytest.mark.parametrize("ending", ["jsonl", "jsonl.gz"])
@pytest.mark.parametrize(
    "kind", ["one line", "one long line", pytest.param("many lines", marks=pytest.mark.slow)]
)
def test_lines_that_become_wide_late_are_refused_there(kind, ending, tmp_path):
    n = 100_000 if kind == "one long line" else 10_001
    fields = [f'"c{i}": {{"a": "}}{{"}}' for i in range(n)]
    wide = "}\n{".join(fields) if kind == "many lines" else ", ".join(fields)
    text = f"{PLAIN_LINES}{{{wide}}}\n{PLAIN_LINES}{{broken\n"  # which is not read any more
    data = gzip.compress(text.encode()) if ending.endswith("gz") else text.encode()
    (tmp_path / f"a.{ending}").write_bytes(data)
    with pytest.raises(SweepError, match=r"at least 1\d,\d+ columns, expected at most 10,000 \["):
        read_source(str(tmp_path / f"a.{ending}"))


def test_lines_that_python_reads_are_refused_where_they_become_wide(tmp_path):
    wide = json.dumps({f"c{i}": 1 for i in range(10_001)})
    (tmp_path / "a.jsonl").write_text(f'{{"v": NaN}}\n{PLAIN_LINES}{wide}\n{{broken\n')
    with pytest.raises(SweepError, match="at least 10,004 columns"):
        read_source(str(tmp_path / "a.jsonl"))


@pytest.mark.slow
def test_objects_with_a_field_of_its_own_a_row_stay_texts(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_text(
        "".join(f'{{"item_id": "q{i}", "meta": [{{"k{i}": {i}}}]}}\n' for i in range(10_001))
    )
    found = read_source(str(file)).rows.collect()
    assert found.shape == (10_001, 2)
    assert found["meta"].to_list()[::10_000] == ['[{"k0": 0}]', '[{"k10000": 10000}]']


@pytest.mark.parametrize(
    "later", ['{"a": 1, "b": 2}', '{"b": "x", "a": 1}', '{"b": null, "c": [1.5]}']
)
def test_lines_whose_pieces_differ_are_read_as_a_whole(later, tmp_path, monkeypatch):
    monkeypatch.setattr(records, "_PIECE", 20)
    text = '{"a": 1, "b": 2}\r\n' * 9 + f"\n{later}\n" * 3
    (tmp_path / "a.jsonl").write_text(text)
    whole = pl.read_ndjson(text.encode(), infer_schema_length=None)
    assert_frame_equal(read_source(str(tmp_path / "a.jsonl")).rows.collect(), whole)


KEYS = st.text('ab"\\{}[]:, \n', max_size=3)
INSIDE = KEYS | st.lists(KEYS, max_size=2) | st.dictionaries(KEYS, KEYS, max_size=2)


@hypothesis.given(st.lists(st.dictionaries(KEYS, INSIDE, max_size=3), max_size=3))
def test_names_of_long_lines_are_counted(lines):
    text = "\n".join(map(json.dumps, lines))
    assert records._width_of(text.encode()) == len({json.dumps(k) for one in lines for k in one})


@pytest.mark.alike(2)
@pytest.mark.parametrize(
    "text", ['{"a": "' + '\\"' * 500_000, '"' * 500_001, "{" * 500_000, "\\" * 99]
)
def test_names_of_a_long_line_that_is_cut_are_counted_at_once(text):
    assert records._width_of(text.encode()) <= 1


def test_an_error_names_ten_columns_at_most_in_order(tmp_path, capsys):
    (tmp_path / "a.csv").write_text(",".join(f"c{i}" for i in range(99, 60, -1)) + "\n" + "," * 38)
    assert main(["reduce", str(tmp_path / "a.csv")]) == 2
    names = ", ".join(f"c{i}" for i in range(61, 71))
    assert f"got {names} and 29 more [" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [("old*", "files of one run of another format, got those of 2 runs"),
     ("*", "these files are parts of a run directory")],
)  # fmt: skip
def test_runs_of_another_format_hide_no_rows_of_others(tmp_path, pattern, problem):
    """Their requests have the same keys; and a run whose commits are read is read by these."""
    for name, number in (("old1", 1), ("old2", 1), ("new", 2)):
        run = tmp_path / name
        (run / "commits").mkdir(parents=True)
        (run / "data").mkdir()
        (run / "manifest.json").write_text(f'{{"format": "judgerel-run/{number}"}}')
        rows = {"key": ["k"], "role": ["judge"], "item_id": ["q"], "verdict": [name]}
        for part in ("a", "b"):
            pl.DataFrame(rows).write_parquet(run / "data" / f"{part}.parquet")
    with pytest.raises(SweepError, match=problem) as refused:
        read_source(f"{tmp_path}/{pattern}/data/*.parquet")
    with pytest.raises(SweepError, match="these files are parts of a run directory"):
        read_source(f"{tmp_path}/new/data/a.parquet")  # one by itself, too
    one = read_source(f"{tmp_path}/old1/data/a.parquet")
    assert (one.rows.collect().height, "another format" in one.notes[0]) == (1, True)
    if pattern == "old*":  # and what it tells to try works
        hint = str(refused.value.hint).removeprefix("one at a time: ")
        assert read_source(hint).rows.collect()["verdict"].to_list() == ["old1"]
