"""Blocks as Markdown, for a pull request, an issue or a page of notes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from judgerel_ray.blocks.blocks import (
    Block,
    Facts,
    Figures,
    Folded,
    Gallery,
    Heat,
    Laid,
    Lines,
    Notice,
    Paragraph,
    Section,
    Table,
)
from judgerel_ray.core import printable


def markdown(blocks: Sequence[Block], *, title: str = "") -> str:
    r"""Write blocks as Markdown, under a title where there is one, in place of what leads.

    Examples
    --------
    >>> print(markdown([Paragraph("PASS", kind="lead"), Lines(["*a* failed"])], title="Gate: PASS"))
    ### Gate: PASS
    <BLANKLINE>
    - \*a\* failed
    """
    body = blocks
    if title and blocks and isinstance(blocks[0], Paragraph) and blocks[0].kind == "lead":
        body = blocks[1:]
    parts = [f"### {escaped(title)}"] if title else []
    parts += ["\n".join(_markdown_block_lines(block)) for block in body]
    return "\n\n".join(part for part in parts if part)


def escaped(text: str) -> str:
    r"""Text that is no markup, in one line.

    Examples
    --------
    >>> print(escaped("a|b"))
    a\|b
    """
    kept = printable(" ".join(text.split()))
    return "".join(f"\\{one}" if one in r"\`*_{}[]<>()#|~!@$&" else one for one in kept)


def _markdown_block_lines(block: Block) -> Iterator[str]:
    """A block, line by line."""
    match block:
        case Paragraph():
            yield escaped("".join(span.text for span in block.spans))
        case Table():
            yield from _markdown_table(block)
        case Figures():
            yield "\n\n".join("\n".join(_markdown_table(table)) for table in block.numbers)
        case Facts():
            yield from (f"- {escaped(name)}: {escaped(text)}" for name, text in block.pairs)
        case Lines():
            yield from (f"- {escaped(text)}" for text in block.texts)
        case Laid():
            text = printable(block.text, lines=True)
            fence = "`" * max([2, *map(len, re.findall("`+", text))])
            yield from (f"{fence}`text", *text.split("\n"), f"{fence}`")
        case Heat():
            yield from _markdown_heat_table(block)
        case Gallery():
            yield "\n\n".join("\n".join(_markdown_heat_table(matrix)) for matrix in block.matrices)
        case Folded() | Notice() | Section():
            if inside := markdown(block.blocks):
                title = {Folded: "summary", Notice: "label", Section: "title"}[type(block)]
                yield f"**{escaped(str(getattr(block, title)))}**\n\n{inside}"


def _markdown_table_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(escaped, cells))} |"


def _markdown_table(table: Table) -> Iterator[str]:
    """A table under its caption, its notes below."""
    kept = [column for column in table.columns if not column.is_empty]
    if table.caption:
        yield from (escaped(table.caption), "")
    yield _markdown_table_row([column.head for column in kept])
    yield f"| {' | '.join('---' for _ in kept)} |"
    for place in range(len(kept[0].cells) if kept else 0):
        yield _markdown_table_row([column.text_at(place) for column in kept])
    for number, note in enumerate(table.notes, start=1):
        yield f"\n{number}: {escaped(note)}"


def _markdown_heat_table(matrix: Heat) -> Iterator[str]:
    """A matrix as a table."""
    yield from (escaped(matrix.caption), "", _markdown_table_row(matrix.heads))
    yield f"| {' | '.join('---' for _ in matrix.heads)} |"
    for name, small, tints in matrix.rows:
        yield _markdown_table_row(
            [f"{name} {small}".strip(), *(f"{one.text} {one.small}".strip() for one in tints)]
        )
