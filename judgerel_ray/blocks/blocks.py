"""What is shown of a result, in blocks: a page and a terminal render the same ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias, cast, get_args

from judgerel_ray.blocks.words import Row, cell, interval, number

if TYPE_CHECKING:
    import polars as pl


def anchor(title: str) -> str:
    """Name the place of a section by its title."""
    return "-".join("".join(c if c.isalnum() else " " for c in title).lower().split())


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a paragraph that looks different."""

    text: str
    # `code` for what is typed, `strong` for what must not be missed, `section` for the title of a
    # section, which is linked to.
    kind: str

    @property
    def anchor(self) -> str:
        """Of the section that it names."""
        return anchor(self.text)


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph."""

    text: str | Sequence[str | Span]
    # `lead` for what comes first, `soft` for what explains, `below` for what explains the table
    # right above; `met`, `missed` and `open` for verdicts.
    kind: str = ""

    @property
    def spans(self) -> list[Span]:
        """Its pieces, plain ones with an empty kind."""
        pieces = [self.text] if isinstance(self.text, str) else self.text
        return [Span(one, "") if isinstance(one, str) else one for one in pieces]


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column of a table."""

    head: str
    cells: Sequence[str]  # Its texts; a column of which all are empty is not shown on a page.
    is_number: bool = False  # Whether they are numbers, to be aligned at the right.
    is_name: bool = False  # Whether they name groups: in a narrow terminal they give way first.
    kind: str = ""  # Class of its cells, where it has a look of its own.
    small: Sequence[str] = ()  # What stands small beside each text: the interval, the spread.
    marks: Sequence[Sequence[int]] = ()  # Numbers of the notes of each cell.

    @property
    def is_empty(self) -> bool:
        """Whether no cell says anything."""
        return all(text in ("", "-") for text in self.cells) and not any(self.small)

    def text_at(self, row: int) -> str:
        """A cell with the numbers of its notes, and what stands small beside it."""
        marks = ",".join(map(str, self.marks[row])) if self.marks and self.marks[row] else ""
        small = self.small[row] if self.small else ""
        return " ".join(filter(None, [self.cells[row], f"({marks})" if marks else "", small]))

    @property
    def is_alike(self) -> bool:
        """Whether all of several cells say the same; numbers stay where they are compared."""
        return len(self.cells) > 1 and len(set(self.cells)) == 1 and not self.is_number


@dataclass(frozen=True, slots=True)
class Table:
    """A table."""

    caption: str
    columns: Sequence[Column]  # As many cells each.
    # Whether rows become cards on narrow screens, so that nothing need be scrolled for.
    cards: bool = False
    notes: Sequence[str] = ()  # What the numbers in `marks` refer to, from 1 on.
    fits: bool = False  # Whether a terminal wraps its cells to be no wider than itself.

    def compact(self) -> Table:
        """Leave out what need not be repeated.

        What is the same in every row is said once, in the caption; what is empty in all is left
        out.
        """
        columns = [column for column in self.columns if not column.is_empty]
        kept = [column for column in columns if not column.is_alike] or columns[:1]
        once = [f"{one.head}: {one.cells[0]}" for one in columns if one not in kept]
        caption = f"{self.caption} ({'; '.join(once)})" if once else self.caption
        return replace(self, caption=caption, columns=kept)


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """An axis of a figure."""

    title: str = ""
    start: float = 0.0  # Where it begins and ends; values beyond are drawn at its ends.
    end: float = 1.0
    values: Sequence[float] = ()
    grid: bool = False  # Whether lines run across the figure at those.
    # Whether it has numbers at all: rows of a figure have names in place of them.
    shown: bool = True


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Mark:
    """What a figure draws of a frame: a row a point, or a row a mark."""

    # `line`, `step` (a line that keeps its height until the next point), `area`, `step_area`,
    # `rule`, `point`, `bar` or `text`.
    shape: str
    style: str  # How it looks: a name of `STYLES`, which a legend explains.
    data: pl.DataFrame
    # Columns of its places: the second of each is the other end. A rule without one of the axes
    # runs all along it.
    x: str | None = None
    x2: str | None = None
    y: str | None = None
    y2: str | None = None
    # Column with what a mark says when pointed at, or of a text its words.
    label: str | None = None
    hollow: str | None = None  # Column that is true where a point is drawn hollow.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Figure:
    """A figure: marks on two axes, drawn by Altair where a page asks for it."""

    title: str
    description: str  # Its numbers in words, for those who cannot see it.
    caption: str
    x: Axis
    y: Axis
    marks: Sequence[Mark]  # Drawn in this order.
    width: float = 262  # Of the plane between the axes, in points.
    height: float = 168


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures side by side, and what their marks mean."""

    figures: Sequence[Figure]  # Nothing is shown where there are none.
    legend: Sequence[tuple[str, str]] = ()  # Styles and what they mean.
    # What a terminal shows in their place, where no other table says it.
    numbers: Sequence[Table] = ()


@dataclass(frozen=True, slots=True)
class Folded:
    """What would fill the page, folded away under a line."""

    summary: str
    blocks: Sequence[Block]


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and values."""

    pairs: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Lines:
    """A list of short texts; `kind` ``cautions`` stands out, ``findings`` are sentences."""

    texts: Sequence[str]
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Laid:
    """A text that is laid out already, line by line."""

    text: str


@dataclass(frozen=True, slots=True)
class Notice:
    """What must be known before any number; `label` names it for screen readers."""

    label: str
    blocks: Sequence[Block]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tint:
    """A cell of a :class:`Heat` table."""

    text: str  # Its number, and what stands small beside.
    small: str = ""
    percent: float | None = None  # How much of the mark's colour it has; None for none.


@dataclass(frozen=True, slots=True, kw_only=True)
class Heat:
    """A small matrix whose cells are tinted by what they say."""

    caption: str
    heads: Sequence[str]  # Of all columns; the first is of the names of rows.
    # Name, what is said small beside it, and cells.
    rows: Sequence[tuple[str, str, Sequence[Tint]]]


@dataclass(frozen=True, slots=True)
class Gallery:
    """Small matrices side by side."""

    matrices: Sequence[Heat]


Place = Literal["first", "counts", "analyses", "serving", "details"]
PLACES: tuple[Place, ...] = get_args(Place)
"""Where a section stands on a page: before what was asked, or after, in this order."""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what it is about; nothing is shown where that is nothing.

    Where it `is_folded`, a page folds it away under its heading. A page has sections in the order
    of their places (`PLACES`), those of one place as they were made.
    """

    title: str
    blocks: Sequence[Block]
    is_folded: bool = False
    place: Place = "analyses"

    @property
    def anchor(self) -> str:
        """Where links lead to."""
        return anchor(self.title)


Block: TypeAlias = (
    Paragraph | Table | Figures | Folded | Facts | Lines | Laid | Notice | Heat | Gallery | Section
)
"""Anything that is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstScreen:
    """What an analysis adds to the first screen of a page, beside its sections."""

    blocks: Sequence[Block] = ()
    # From the groups of the table of verdicts, one a row, to a column of that table.
    column: Callable[[Sequence[Row]], Column] | None = None


def key_columns(rows: Sequence[Row], names: Sequence[str]) -> list[Column]:
    """Make the columns that name a group."""
    return [
        Column(head=name.replace("_", " "), cells=[cell(row[name]) for row in rows], is_name=True)
        for name in names
    ]


def counts(head: str, numbers: Sequence[object]) -> Column:
    """Make a column of whole numbers, a dash where there is none."""
    return numeric(head, ["-" if n is None else f"{cast(int, n):,}" for n in numbers])


def numeric(head: str, cells: Sequence[str], small: Sequence[str] = ()) -> Column:
    """Make a column of numbers that are written already."""
    return Column(head=head, cells=cells, small=small, is_number=True)


def estimates(
    head: str, rows: Sequence[Row], name: str, ends: Callable[[Row], str] = interval
) -> Column:
    """Make a column of one number of each row, its interval small beside it."""
    return numeric(head, [number(row[name]) for row in rows], [ends(row) for row in rows])


def texts(head: str, rows: Sequence[Row], write: Callable[[Row], str], kind: str = "") -> Column:
    """Make a column of words on each row."""
    return Column(head=head, cells=[write(row) for row in rows], kind=kind)


def rounded(head: str, rows: Sequence[Row], name: str, digits: int = 3) -> Column:
    """Make a column of one number of each row."""
    cells = [number(row[name], digits) for row in rows]
    return Column(head=head, cells=cells, is_number=True)


def row_columns(
    heads: Sequence[str],
    lines: Sequence[Sequence[str]],
    *,
    words: Sequence[str] = (),
) -> list[Column]:
    """Make columns of cells that lie in rows; all but `words` are numbers."""
    return [
        Column(head=head, cells=[line[place] for line in lines], is_number=head not in words)
        for place, head in enumerate(heads)
    ]


@dataclass(slots=True)
class Notes:
    """Notes under a table, numbered in the order they are first used."""

    _numbers: dict[str, int] = field(default_factory=dict)

    def number(self, text: str) -> int:
        """Number a note."""
        return self._numbers.setdefault(text, len(self._numbers) + 1)

    @property
    def texts(self) -> list[str]:
        """The notes in their order."""
        return list(self._numbers)
