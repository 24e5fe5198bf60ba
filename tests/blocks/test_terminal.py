"""The same blocks on a terminal and on a page: one result, said once, harmless on both."""

from __future__ import annotations

import re
from html import unescape

from judgerel_ray.blocks.blocks import (
    Column,
    Facts,
    Figures,
    Folded,
    Gallery,
    Heat,
    Lines,
    Notice,
    Paragraph,
    Section,
    Span,
    Table,
    Tint,
)
from judgerel_ray.blocks.html import rendered
from judgerel_ray.blocks.terminal import printed

HOSTILE = "[red]<b>&\x1b[2J\u202e[/red]"
SHOWN = "[red]<b>&\\x1b[2J\\u202e[/red]"
TABLE = Table(
    "Steadiness",
    [
        Column(head="judge", cells=[HOSTILE, "b"]),
        Column(head="scale", cells=["1-5", "1-5"]),
        Column(head="remark", cells=["", ""]),
        Column(head="alpha", cells=["0.5", "0.25"], small=["[0.4, 0.6]", ""], is_number=True,
               marks=[[1], []]),
    ],
    notes=["few questions"],
)  # fmt: skip
BLOCKS = [
    Notice("Unfinished", [Paragraph(["Type ", Span("judgerel run", "code"), "."])]),
    Section(
        "How steady",
        [
            Facts([("sweep", HOSTILE)]),
            Lines(["mind this"], "cautions"),
            Folded("All", [TABLE]),
            Gallery([Heat(caption="torn", heads=["option", "for x"],
                          rows=[("x", "right", [Tint(text="0.75", small="0.5", percent=30)])])]),
        ],
    ),
    Section("Nothing", []),
]  # fmt: skip


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
    long = Column(head="what", cells=["word " * 15, "x"])
    text = printed([Paragraph("word " * 60), Table("", [long])])
    paragraph, table = text.split("\n\n")
    assert max(map(len, paragraph.split("\n"))) <= 80
    assert len(table.split("\n")) == 3


def test_a_wide_table_is_not_wrapped_by_what_it_stands_in():
    wide = Table("", [Column(head=f"column {n}", cells=["a number", "b"]) for n in range(20)])
    nested = printed([Section("All", [Folded("All of it", [wide])])])
    assert nested == f"All\n\nAll of it\n\n{printed([wide])}"


def test_numbers_stand_in_place_of_figures():
    shown = Figures([], numbers=[TABLE])
    assert printed([shown]) == printed([TABLE])
    assert rendered([shown]) == ""
