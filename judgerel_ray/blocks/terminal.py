"""Blocks as text for a terminal: the same blocks that a page renders.

Rich lays out what holds wide characters, and is loaded for those alone: it takes a tenth of a
second.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import StringIO
from textwrap import wrap
from typing import TYPE_CHECKING

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
from judgerel_ray.blocks.columns import (
    WIDTH,
    fit_cell,
    fitted_table,
    plain_table,
    with_fitted_names,
)
from judgerel_ray.core import LONGEST_WORD, printable, shortened

if TYPE_CHECKING:
    from rich.console import RenderableType

_UNWRAPPED = 100_000  # characters: a table is as wide as its cells, and wrapped by nobody


def printed(blocks: Sequence[Block]) -> str:
    """Lay blocks out as text: paragraphs as wide as a terminal, tables as wide as they are.

    A figure is not drawn: a table with its numbers stands in its place, where it has one.
    """
    text = ""
    for block in blocks:
        if part := "\n".join(_terminal_block_parts(block)):
            is_below = isinstance(block, Paragraph) and block.kind == "below"
            text += f"{(chr(10) if is_below else chr(10) * 2) if text else ''}{part}"
    return text


def _terminal_block_parts(block: Block) -> Iterator[str]:
    """What a block is made of, from top to bottom."""
    match block:
        case Paragraph():
            yield _wrapped_terminal_text("".join(span.text for span in block.spans))
        case Table():
            yield from _terminal_table(block)
        case Figures():
            for place, table in enumerate(block.numbers):
                yield from ([""] if place else [])
                yield from _terminal_table(table)
        case Facts():
            yield _terminal_table_grid(["", ""], block.pairs)
        case Lines():
            mark = "" if block.kind == "findings" else "- "
            yield from (
                _wrapped_terminal_text(f"{mark}{text}", indent="  ") for text in block.texts
            )
        case Laid():
            yield shortened(printable(block.text, lines=True), LONGEST_WORD)
        case Heat():
            yield from _terminal_heat_table(block)
        case Gallery():
            for matrix in block.matrices:
                yield from _terminal_heat_table(matrix)
        case Folded() | Notice() | Section():
            if inside := printed(block.blocks):
                title = {Folded: "summary", Notice: "label", Section: "title"}[type(block)]
                yield _wrapped_terminal_text(str(getattr(block, title)))
                yield f"\n{inside}"


def _wrapped_terminal_text(text: str, indent: str = "") -> str:
    """A text that is wrapped, and never markup."""
    text = shortened(printable(text), LONGEST_WORD)
    if text.isascii():
        lines = wrap(text, WIDTH, subsequent_indent=indent, break_on_hyphens=False)
        return "\n".join(lines)
    from rich.text import Text

    return f"\n{indent}".join(_terminal_lines_by_rich(Text(text), WIDTH - len(indent)).split("\n"))


def _terminal_lines_by_rich(one: RenderableType, width: int) -> str:
    """What Rich makes of it, which knows how wide each character is."""
    from rich.console import Console

    screen = Console(
        file=StringIO(), width=width, color_system=None,
        highlight=False, markup=False, emoji=False, legacy_windows=False,
    )  # fmt: skip
    with screen.capture() as captured:
        screen.print(one)
    return "\n".join(line.rstrip() for line in captured.get().rstrip("\n").split("\n"))


def _terminal_table(table: Table) -> Iterator[str]:
    """A table under its caption, its notes below."""
    table = table.compact()
    if table.caption:
        yield _wrapped_terminal_text(table.caption)
    heads = [column.head for column in table.columns]
    rows = range(len(table.columns[0].cells) if table.columns else 0)
    lines = [[column.text_at(row) for column in table.columns] for row in rows]
    if table.fits:
        lines = with_fitted_names(heads, lines, [column.is_name for column in table.columns])
    yield _terminal_table_grid(heads, lines, fits=table.fits)
    for place, note in enumerate(table.notes, start=1):
        yield _wrapped_terminal_text(f"{place}: {note}")


def _terminal_heat_table(matrix: Heat) -> Iterator[str]:
    yield _wrapped_terminal_text(matrix.caption)
    lines = [
        [" ".join(filter(None, [name, small]))]
        + [" ".join(filter(None, [one.text, one.small])) for one in tints]
        for name, small, tints in matrix.rows
    ]
    yield _terminal_table_grid(matrix.heads, lines)


def _terminal_table_grid(
    heads: Sequence[str], lines: Sequence[Sequence[str]], *, fits: bool = False
) -> str:
    """Cells in columns; very long ids and verdicts lose their middle."""
    if all(cell.isascii() for line in (heads, *lines) for cell in line):
        table = plain_table(heads, lines).lstrip("\n")
        is_wide = fits and max(map(len, table.split("\n"))) > WIDTH
        return fitted_table(heads, lines) if is_wide else table
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="",
                show_header=any(heads))  # fmt: skip
    for head in heads:
        grid.add_column(
            Text(fit_cell(head)), no_wrap=not fits, overflow="fold" if fits else "ignore"
        )
    for line in lines:
        grid.add_row(*(Text(fit_cell(cell)) for cell in line))
    return _terminal_lines_by_rich(grid, WIDTH if fits else _UNWRAPPED)
