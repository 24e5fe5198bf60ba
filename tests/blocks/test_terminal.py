"""The same blocks on a terminal and on a page: one result, said once, harmless on both."""

from __future__ import annotations

import re
from html import unescape

import pytest

from judgerel_ray.blocks import blocks
from judgerel_ray.blocks.terminal import printed
from tests.blocks.rendering import rendered

HOSTILE = "[red]<b>&\x1b[2J\u202e[/red]"
SHOWN = "[red]<b>&\\x1b[2J\\u202e[/red]"
TABLE = blocks.Table(
    "Steadiness",
    [
        blocks.Column(head="judge", cells=[HOSTILE, "b"]),
        blocks.Column(head="scale", cells=["1-5", "1-5"]),
        blocks.Column(head="remark", cells=["", ""]),
        blocks.Column(
            head="alpha",
            cells=["0.5", "0.25"],
            small=["[0.4, 0.6]", ""],
            is_number=True,
            marks=[[1], []],
        ),
    ],
    notes=["few questions"],
)
TINT = blocks.Tint(text="0.75", small="0.5", percent=30)
HEAT = blocks.Heat(caption="torn", heads=["option", "for x"], rows=[("x", "right", [TINT])])
BLOCKS = [
    blocks.Notice(
        "Unfinished", [blocks.Paragraph(["Type ", blocks.Span("judgerel run", "code"), "."])]
    ),
    blocks.Section(
        "How steady",
        [
            blocks.Facts([("sweep", HOSTILE)]),
            blocks.Lines(["mind this"], "cautions"),
            blocks.Folded("All", [TABLE]),
            blocks.Gallery([HEAT]),
        ],
    ),
    blocks.Section("Nothing", []),
]


def words(page: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).replace("\u00a0", " ").split())


def test_a_terminal_and_a_page_say_the_same():
    text, page = " ".join(printed(BLOCKS).split()), words(rendered(BLOCKS))
    expected = ("Type judgerel run", "How steady", f"sweep {SHOWN}", "mind this", "torn",
                "Steadiness (scale: 1-5)", "x right 0.75 0.5", "few questions")  # fmt: skip
    for said in expected:
        assert said in text
        assert said in page
    assert "remark" not in text + page
    assert "Nothing" not in text + page
    assert f"{SHOWN} 0.5 (1) [0.4, 0.6] b 0.25" in text


def test_what_acts_on_a_terminal_or_a_page_is_shown():
    text, page = printed(BLOCKS), rendered(BLOCKS)
    assert SHOWN in text
    assert not re.search(r"[\x1b\u202e]", text + page)
    assert "<b>" not in page
    assert 'id="how-steady"' in page


def test_columns_stand_below_each_other_and_nothing_trails():
    lines = printed([TABLE]).split("\n")
    head, first, second = lines[1:4]
    assert head.index("alpha") == first.index("0.5") == second.index("0.25")
    assert all(line == line.rstrip() for line in lines)


def test_paragraphs_are_as_wide_as_a_terminal_and_cells_are_not_wrapped():
    long = blocks.Column(head="what", cells=["word " * 15, "x"])
    text = printed([blocks.Paragraph("word " * 60), blocks.Table("", [long])])
    paragraph, table = text.split("\n\n")
    assert max(map(len, paragraph.split("\n"))) <= 80
    assert len(table.split("\n")) == 3


@pytest.mark.parametrize("around", [blocks.Folded, blocks.Section, blocks.Notice])
def test_a_table_inside_another_block_is_as_wide_as_its_cells(around):
    table = blocks.Table("", [blocks.Column(head="what", cells=["word " * 30, "x"])])
    assert printed([around("all", [table])]) == f"all\n\n{printed([table])}"


def test_numbers_stand_in_place_of_figures():
    shown = blocks.Figures([], numbers=[TABLE])
    assert printed([shown]) == printed([TABLE])
    assert rendered([shown]) == ""


def test_a_sentence_of_any_letters_is_indented_where_it_goes_on():
    text = (
        "ä" * 30 + " within ± 0.05 of what was measured before, or of what 日本語 says of it, twice"
    )
    lines = printed([blocks.Lines([text], kind="findings")]).splitlines()
    assert len(lines) > 1
    assert not lines[0].startswith(" ")
    assert all(line.startswith("  ") and not line.startswith("   ") for line in lines[1:])
