"""Pieces of a page: sections, lists of facts, tables; all text in them is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import cast

from judgerel_ray.blocks.words import Row, cell, escape


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    head : str
        What it is.
    cells : sequence of str
        Its texts; a column of which all are empty is not shown.
    is_number : bool
        Whether they are numbers, to be aligned at the right.
    kind : str
        Class of its cells, where it has a look of its own.
    small : sequence of str
        What stands small beside each text: the interval, the spread.
    marks : sequence of sequence of int
        Numbers of the notes of each cell.
    """

    head: str
    cells: Sequence[str]
    is_number: bool = False
    kind: str = ""
    small: Sequence[str] = ()
    marks: Sequence[Sequence[int]] = field(default=())

    @property
    def is_empty(self) -> bool:
        """Whether no cell says anything."""
        return all(text in ("", "-") for text in self.cells) and not any(self.small)

    @property
    def is_alike(self) -> bool:
        """Whether all of several cells say the same; numbers stay where they are compared."""
        return len(self.cells) > 1 and len(set(self.cells)) == 1 and not self.is_number

    def head_html(self) -> str:
        """The head of the column."""
        return f'<th scope="col"{self._class()}>{escape(self.head)}</th>'

    def cell_html(self, row: int) -> str:
        """One cell; on narrow screens its head stands before it."""
        text = escape(self.cells[row])
        if self.marks and self.marks[row]:
            # One piece with its marks, where a card lays the parts of a cell side by side.
            text = f"<span>{text}<sup>{','.join(map(str, self.marks[row]))}</sup></span>"
        if self.small and self.small[row]:
            text += f" <small>{escape(self.small[row])}</small>"
        return f'<td{self._class()} data-head="{escape(self.head)}">{text}</td>'

    def _class(self) -> str:
        """The class attribute."""
        kinds = " ".join(name for name in ("number" if self.is_number else "", self.kind) if name)
        return f' class="{kinds}"' if kinds else ""


def section(heading: str, body: str) -> str:
    """Make a heading and what it is about; nothing where there is nothing.

    Examples
    --------
    >>> section("What came back", "")
    ''
    """
    return f"<section><h2>{escape(heading)}</h2>\n{body}\n</section>" if body else ""


def paragraph(text: str, kind: str = "") -> str:
    """Make a paragraph.

    Examples
    --------
    >>> paragraph("1 < 2")
    '<p>1 &lt; 2</p>'
    """
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Make a list of names and values.

    Examples
    --------
    >>> facts([("judge", "j")])
    '<dl><dt>judge</dt><dd>j</dd></dl>'
    """
    told = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in pairs)
    return f"<dl>{told}</dl>"


def table(caption: str, columns: Sequence[Column], *, cards: bool = False) -> str:
    """Make a table that scrolls sideways on its own, by keyboard too.

    What is the same in every row is said once, in the caption; what is empty in all is left out.

    Parameters
    ----------
    caption : str
        What the table tells.
    columns : sequence of Column
        As many cells each.
    cards : bool
        Whether rows become cards on narrow screens, so that nothing need be scrolled for.

    Examples
    --------
    >>> page = table("Two", [Column(head="n", cells=["1", "2"]), Column(head="x", cells=["", ""])])
    >>> page.count("<th "), page.count("<td ")
    (1, 2)
    """
    columns = [column for column in columns if not column.is_empty]
    alike = [column for column in columns if column.is_alike]
    kept = [column for column in columns if not column.is_alike] or columns[:1]
    said = [f"{column.head}: {column.cells[0]}" for column in alike if column not in kept]
    caption = f"{caption} ({'; '.join(said)})" if said else caption
    heads = "".join(column.head_html() for column in kept)
    n_rows = len(kept[0].cells) if kept else 0
    body = "\n".join(
        f"<tr>{''.join(column.cell_html(row) for column in kept)}</tr>" for row in range(n_rows)
    )
    kind = ' class="cards"' if cards else ""
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f"<table{kind}>"
        f"<caption>{escape(caption)}</caption><thead><tr>{heads}</tr></thead>\n"
        f"<tbody>{body}</tbody></table></div>"
    )


def key_columns(rows: Sequence[Row], names: Sequence[str]) -> list[Column]:
    """Make the columns that name a group.

    Examples
    --------
    >>> key_columns([{"top_p": 0.5}], ["top_p"])[0].cells
    ['0.5']
    """
    return [
        Column(head=name.replace("_", " "), cells=[cell(row[name]) for row in rows])
        for name in names
    ]


def counts(head: str, numbers: Sequence[object]) -> Column:
    """Make a column of whole numbers, a dash where there is none.

    Examples
    --------
    >>> counts("n", [1000, None]).cells
    ['1,000', '-']
    """
    cells = ["-" if n is None else f"{cast(int, n):,}" for n in numbers]
    return Column(head=head, cells=cells, is_number=True)


class Notes:
    """Notes under a table, numbered in the order they are first used.

    Examples
    --------
    >>> notes = Notes()
    >>> notes.number("a"), notes.number("b"), notes.number("a")
    (1, 2, 1)
    """

    def __init__(self) -> None:
        self._texts: dict[str, int] = {}

    def number(self, text: str) -> int:
        """Number a note."""
        return self._texts.setdefault(text, len(self._texts) + 1)

    def html(self) -> str:
        """List the notes."""
        told = "".join(f"<li>{escape(text)}</li>" for text in self._texts)
        return f'<ol class="notes">{told}</ol>' if told else ""


def folded(summary: str, body: str) -> str:
    """Fold what would fill the page.

    Examples
    --------
    >>> folded("Numbers", "<p>1</p>")
    '<details><summary>Numbers</summary><p>1</p></details>'
    """
    return f"<details><summary>{escape(summary)}</summary>{body}</details>"
