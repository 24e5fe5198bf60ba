"""Blocks as Markdown: what a renderer of Markdown makes of them."""

from judgerel_ray.blocks.blocks import (
    Block,
    Column,
    Figures,
    Folded,
    Gallery,
    Heat,
    Laid,
    Notice,
    Paragraph,
    Section,
    Table,
)
from judgerel_ray.blocks.markdown import markdown

TABLE = Table("caption", [Column(head="a", cells=["x"])])
HEAT = Heat(caption="matrix", heads=["", "x"], rows=[("y", "", [])])


def test_tables_side_by_side_have_an_empty_line_between_them():
    for block in (Figures([], numbers=[TABLE, TABLE]), Gallery([HEAT, HEAT])):
        first, _, rest = markdown([block]).partition("\n\n")[2].partition("\n\n")
        assert first.startswith("|")
        assert rest.splitlines()[0] in ("caption", "matrix")


def test_a_laid_text_cannot_end_its_fence():
    lines = markdown([Laid("a\n```\n# no heading\n`````` b")]).splitlines()
    assert lines[0] == "```````text"
    assert lines[-1] == "```````"
    assert markdown([Laid("plain")]).splitlines()[0] == "```text"


def test_blocks_inside_others_keep_what_these_are_called():
    inside: list[Block] = [Paragraph("inside")]
    for block in (Folded("called", inside), Notice("called", inside), Section("called", inside)):
        assert markdown([block]) == "**called**\n\ninside"
    assert markdown([Section("called", [])]) == ""
