"""Sheets of workbooks are read as the CSV of them would be."""

import re
import shlex
import sys
import zipfile
from xml.sax.saxutils import escape

import polars as pl
import pytest

from judgerel_ray.cli import main
from judgerel_ray.core import SweepError
from judgerel_ray.counting.files.source import read_source

pytestmark = pytest.mark.filterwarnings("ignore::judgerel_ray.ReadingWarning")
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
LINK = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
SHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def workbook(path, **sheets):
    """A workbook as spreadsheets write it; a sheet is its rows of numbers, texts and blanks."""
    listed, links, kinds = "", "", ""
    with zipfile.ZipFile(path, "w") as book:
        for number, (name, rows) in enumerate(sheets.items(), 1):
            cells = "".join(f'<row r="{r}">{row_of(row, r)}</row>' for r, row in enumerate(rows, 1))
            book.writestr(
                f"xl/worksheets/sheet{number}.xml",
                f'<worksheet xmlns="{MAIN}"><sheetData>{cells}</sheetData></worksheet>',
            )
            listed += f'<sheet name="{name}" sheetId="{number}" r:id="r{number}"/>'
            links += (f'<Relationship Id="r{number}" Type="{LINK}/worksheet" '
                      f'Target="worksheets/sheet{number}.xml"/>')  # fmt: skip
            part = f"/xl/worksheets/sheet{number}.xml"
            kinds += f'<Override PartName="{part}" ContentType="{SHEET}"/>'
        book.writestr("[Content_Types].xml", (
            f'<Types xmlns="{PACKAGE}/content-types"><Default Extension="rels" ContentType='
            '"application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" '
            f'ContentType="application/xml"/>{kinds}</Types>'
        ))  # fmt: skip
        book.writestr("_rels/.rels", (
            f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="r1" '
            f'Type="{LINK}/officeDocument" Target="xl/workbook.xml"/></Relationships>'
        ))  # fmt: skip
        book.writestr("xl/workbook.xml", (
            f'<workbook xmlns="{MAIN}" xmlns:r="{LINK}"><sheets>{listed}</sheets></workbook>'
        ))  # fmt: skip
        book.writestr("xl/_rels/workbook.xml.rels", (
            f'<Relationships xmlns="{PACKAGE}/relationships">{links}</Relationships>'
        ))  # fmt: skip


def row_of(row, number):
    return "".join(cell(value, f"{'ABCDEFG'[place]}{number}") for place, value in enumerate(row))


def cell(value, place):
    if value is None:
        return ""
    if isinstance(value, int | float):
        return f'<c r="{place}"><v>{value}</v></c>'
    return f'<c r="{place}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'


ROWS = [["Exported by hand"], [None], ["id", "run", "rating", "why"], ["q1", 1, 3, 'a, "b"\nc'],
        [None, 2, 4.5, "d"], ["q2", 1, 2, None], [None, 2, 2, "e"]]  # fmt: skip


@pytest.fixture(autouse=True)
def fastexcel():
    return pytest.importorskip("fastexcel")


def test_a_sheet_of_a_workbook_is_read_as_its_csv(tmp_path, capsys):
    path = tmp_path / "my sheet.xlsx"
    workbook(path, Notes=[], Ratings=ROWS)
    source = read_source(str(path))
    assert source.rows.collect().rows()[0] == ("q1", "1", "3", 'a, "b"\nc')
    assert source.notes == (
        "2 lines above the names of columns left out, as a title", "read the sheet Ratings",
    )  # fmt: skip
    assert main(["reduce", str(path), "--coefficient", "icc1"]) == 0
    assert "2 questions" in capsys.readouterr().out


def test_a_workbook_of_several_sheets_with_rows_is_refused_by_their_names(tmp_path):
    workbook(tmp_path / "a.xlsx", one=ROWS, two=ROWS)
    with pytest.raises(SweepError, match="one sheet has rows, got one, two"):
        read_source(str(tmp_path / "a.xlsx"))
    (tmp_path / "b.xlsx").write_bytes(b"no workbook")
    with pytest.raises(SweepError, match="the workbook cannot be read"):
        read_source(str(tmp_path / "b.xlsx"))


def rated(*words):
    return [["id", "verdict"], *([f"q{n}", word] for n, word in enumerate(words))]


@pytest.mark.parametrize("other", [
    [["judge", "mean"], ["gpt", 3.5]], [["Written by hand"], ["see"]], [["id", "question"]] * 2,
])  # fmt: skip
def test_of_several_sheets_the_one_that_holds_judgments_is_read(tmp_path, capsys, other):
    workbook(tmp_path / "book.xlsx", Other=other, Judgments=rated("pass", "fail"))
    assert main(["reduce", str(tmp_path / "book.xlsx")]) == 0
    assert "read the sheet Judgments; not read: Other" in capsys.readouterr().err


def test_sheets_that_number_repeats_are_read_together(tmp_path, capsys):
    sheets = {"Run 2": rated("pass", "fail"), "Run 10": rated("fail", "fail")}
    workbook(tmp_path / "book.xlsx", **sheets)
    out = str(tmp_path / "out.parquet")
    assert main(["import", "auto", str(tmp_path / "book.xlsx"), "--out", out]) == 0
    assert "read the sheets Run 2, Run 10" in capsys.readouterr().err
    found = pl.read_parquet(out).sort("item_id", "replication")
    assert found["verdict"].to_list() == ["pass", "fail", "fail", "fail"]


@pytest.mark.parametrize("names", [("gpt-4o", "claude-3"), ("Sheet1", "Sheet2"), ("Ann", "Bob")])
def test_several_sheets_that_may_hold_judgments_are_asked(tmp_path, capsys, names):
    book = str(tmp_path / "book.xlsx")
    workbook(book, **dict(zip(names, (rated("pass", "fail"), rated("fail", "fail")), strict=True)))
    assert main(["reduce", book]) == 2
    line = capsys.readouterr().err
    assert f"several sheets may hold the judgments: {', '.join(names)}" in line
    flags = re.findall(r"--column \S+=sheet", line)
    paths = shlex.split(line.partition("one alone: ")[2])[::2]
    assert (len(flags), paths) == (2, [f"{book}#{name}" for name in names])
    for arguments in (*([book, *flag.split()] for flag in flags), *([path] for path in paths)):
        assert main(["reduce", *arguments]) == 0
        out = str(tmp_path / "out.parquet")
        assert main(["import", "auto", *arguments, "--out", out, "--force"]) == 0


@pytest.mark.parametrize("second", [[["Nr", "Meinung"], ["q1", "gut"]], rated("pass")[1:] * 2])
def test_a_sheet_of_the_same_kind_of_name_is_not_left_out(tmp_path, capsys, second):
    for names in (("Run1", "Run2"), ("gpt-4o", "claude-3")):
        sheets = dict(zip(names, (rated("pass", "fail"), second), strict=True))
        workbook(tmp_path / "book.xlsx", **sheets)
        assert main(["reduce", str(tmp_path / "book.xlsx")]) == 2
        assert f"several sheets may hold the judgments: {', '.join(names)}" in (
            capsys.readouterr().err
        )


def test_a_sheet_that_is_not_there_is_named_with_those_that_are(tmp_path, capsys):
    workbook(tmp_path / "book.xlsx", one=ROWS, two=ROWS)
    assert main(["reduce", f"{tmp_path / 'book.xlsx'}#three"]) == 2
    assert "no sheet 'three' has rows, got one, two" in capsys.readouterr().err


def test_labels_may_stand_in_a_sheet_of_their_own(tmp_path, capsys):
    labels = [["id", "label"], ["q0", "pass"], ["q1", "fail"]]
    workbook(book := tmp_path / "book.xlsx", judged=rated("pass", "fail"), labels=labels)
    assert main(["reduce", f"{book}#judged", "--labels", f"{book}#labels"]) == 0
    assert "labels of 2 of 2 items" in capsys.readouterr().err
    assert main(["reduce", f"{book}#judged", "--labels", str(book)]) == 2


def test_a_workbook_says_what_it_needs_where_that_is_not_installed(tmp_path, monkeypatch):
    workbook(tmp_path / "a.xlsx", one=ROWS)
    monkeypatch.setitem(sys.modules, "fastexcel", None)
    with pytest.raises(SweepError, match="a workbook is read by fastexcel") as refused:
        read_source(str(tmp_path / "a.xlsx"))
    assert "save the sheet as CSV" in str(refused.value)
