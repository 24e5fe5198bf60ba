"""Blocks as text for a terminal, laid out by Rich: the same blocks that a page renders.

:class:`Screen` is the console that tables are printed on.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from io import StringIO

from rich.console import Console, RenderableType
from rich.table import Table as Grid
from rich.text import Text

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
from judgerel_ray.blocks.columns import WIDTH, fit_cell
from judgerel_ray.core import LONGEST_WORD, printable, shortened

_UNWRAPPED = 100_000  # characters: a table is as wide as its cells, and wrapped by nobody


def printed(blocks: Sequence[Block]) -> str:
    """Lay blocks out as text: paragraphs as wide as a terminal, tables as wide as they are.

    A figure is not drawn: a table with its numbers stands in its place, where it has one.
    """
    parts = ["\n".join(map(_laid_out, _lines(block))) for block in blocks]
    return "\n\n".join(part for part in parts if part)


def _lines(block: Block) -> Iterator[RenderableType]:
    """What a block is made of, from top to bottom."""
    match block:
        case Paragraph():
            yield _text("".join(span.text for span in block.spans))
        case Table():
            yield from _table(block)
        case Figures():
            for place, table in enumerate(block.numbers):
                yield from ([Text("")] if place else [])
                yield from _table(table)
        case Facts():
            yield _grid(["", ""], block.pairs)
        case Lines():
            yield from (_text(f"- {text}") for text in block.texts)
        case Laid():
            yield shortened(printable(block.text, lines=True), LONGEST_WORD)
        case Heat():
            yield from _heat(block)
        case Gallery():
            for matrix in block.matrices:
                yield from _heat(matrix)
        case Folded() | Notice() | Section():
            inside = printed(block.blocks)
            if inside:
                title = {Folded: "summary", Notice: "label", Section: "title"}[type(block)]
                yield _text(str(getattr(block, title)))
                yield f"\n{inside}"


def _laid_out(one: RenderableType) -> str:
    """A piece as text; what is a string is laid out already."""
    if isinstance(one, str):
        return one
    screen = Console(
        file=StringIO(), width=WIDTH if isinstance(one, Text) else _UNWRAPPED, color_system=None,
        highlight=False, markup=False, emoji=False, legacy_windows=False,
    )  # fmt: skip
    with screen.capture() as captured:
        screen.print(one)
    return "\n".join(line.rstrip() for line in captured.get().rstrip("\n").split("\n"))


def _text(text: str) -> Text:
    """A text that is wrapped, and never markup."""
    return Text(printable(text))


def _table(table: Table) -> Iterator[RenderableType]:
    """A table under its caption, its notes below."""
    table = table.compact()
    if table.caption:
        yield _text(table.caption)
    heads = [column.head for column in table.columns]
    rows = range(len(table.columns[0].cells) if table.columns else 0)
    yield _grid(heads, [[column.text_at(row) for column in table.columns] for row in rows])
    for place, note in enumerate(table.notes, start=1):
        yield _text(f"{place}: {note}")


def _heat(matrix: Heat) -> Iterator[RenderableType]:
    yield _text(matrix.caption)
    lines = [
        [" ".join(filter(None, [name, small]))]
        + [" ".join(filter(None, [one.text, one.small])) for one in tints]
        for name, small, tints in matrix.rows
    ]
    yield _grid(matrix.heads, lines)


def _grid(heads: Sequence[str], lines: Sequence[Sequence[str]]) -> Grid:
    """Cells in columns; very long ids and verdicts lose their middle."""
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="",
                show_header=any(heads))  # fmt: skip
    for head in heads:
        grid.add_column(Text(fit_cell(head)), no_wrap=True, overflow="ignore")
    for line in lines:
        grid.add_row(*(Text(fit_cell(cell)) for cell in line))
    return grid


_NARROWEST = 20  # below, COLUMNS is a mistake of a script and no screen


class Screen(Console):
    """A console as wide as there are columns, whatever COLUMNS says when it says none.

    It leaves a broken pipe to the command line, which knows the exit codes.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        width = os.environ.get("COLUMNS", "")
        few = width.isdigit() and int(width) < _NARROWEST
        super().__init__(stderr=stderr, width=80 if few else None)

    def on_broken_pipe(self) -> None:
        """Hand it on; Rich itself would exit with 1."""
        raise BrokenPipeError
