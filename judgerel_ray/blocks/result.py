"""What a verb found, in one shape: tables, blocks that say them, notes, an exit code.

The command line, a page and a Python program are given the same :class:`Result`; each format is
written of it alone, so they cannot differ. Loads nothing that a machine may lack.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeAlias, TypeVar

from judgerel_ray.blocks.blocks import Laid, Paragraph
from judgerel_ray.core import LONGEST_WORD, printable, shortened
from judgerel_ray.core.errors import JudgeRelError, warn_of

if TYPE_CHECKING:
    import polars as pl

    from judgerel_ray.blocks.blocks import Block

FoundT = TypeVar("FoundT")
Tables: TypeAlias = "pl.DataFrame | Mapping[str, pl.DataFrame]"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Result(Generic[FoundT]):
    """What a verb returns: all that is printed or written of it is made of this.

    Examples
    --------
    >>> import polars as pl
    >>> rows = pl.DataFrame({"judge": ["a"], "value": [0.5]})
    >>> result = Result(found=rows, tables=rows, full=lambda: [Paragraph("a: 0.5")])
    >>> print(result.as_json())
    [
     {"judge": "a", "value": 0.5}
    ]
    """

    found: FoundT  # What a Python program is given.
    # What JSON holds: a list of rows, or tables by name.
    tables: Tables = field(default_factory=dict)
    full: Callable[[], Sequence[Block]] = tuple
    short: Callable[[], Sequence[Block]] | None = None  # The ten lines; where None, `full`.
    legend: Callable[[], Sequence[Block]] = tuple  # What the words and marks of `short` mean.
    title: str = ""  # Of the answer, where blocks stand among other things: its verdict in words.
    facts: Mapping[str, object] = field(default_factory=dict)  # What JSON has beside its tables.
    notes: tuple[str, ...] = ()  # What the numbers rest on, to be read before them.
    exit_code: int = 0
    rows: pl.DataFrame | None = None  # What a file holds of several tables; None for the only one.
    whole_json: bool = False  # Whether a file of JSON holds all tables.
    cases: Sequence[Case] = ()  # What JUnit lists.
    # What the command line ends with once the result is printed, such as a file that needs a map.
    error: JudgeRelError | None = None

    @property
    def chief(self) -> pl.DataFrame:
        """The table that a file holds."""
        if self.rows is not None:
            return self.rows
        assert not isinstance(self.tables, Mapping)
        return self.tables

    def of_rows(self) -> Result[FoundT]:
        """The same with the chief table alone."""
        return replace(self, tables=self.chief)

    def at_length(self) -> Result[FoundT]:
        """The same with all that there is to show, in every format."""
        return replace(self, short=None)

    def explained(self) -> Result[FoundT]:
        """The same with what its words and marks mean below it, in every format."""
        return replace(self, short=lambda: [*self.blocks(), *self.legend()])

    def blocks(self) -> Sequence[Block]:
        """The answer in blocks, as short as there is one."""
        return (self.short or self.full)()

    def for_python(self) -> FoundT:
        """What a program is given, once it is warned (ReadingWarning) of the notes."""
        from judgerel_ray.blocks.shown import shown_as

        warn_of(self.notes)
        found: FoundT = shown_as(self.found, self)
        return found

    def as_text(self) -> str:
        """Lay it out for a terminal."""
        blocks = (self.short or self.full)()
        if all(isinstance(block, Laid) for block in blocks):
            text = "\n\n".join(block.text for block in blocks if isinstance(block, Laid))
            return shortened(printable(text, lines=True), LONGEST_WORD)
        from judgerel_ray.blocks.terminal import printed

        return printed(blocks)

    def as_json(self) -> str:
        """Write its tables: a list of rows, or one object; null where there is no number."""
        if not isinstance(self.tables, Mapping):
            return rows_json(self.tables)
        return tables_json(self.tables, self.facts)

    def as_markdown(self) -> str:
        """Write it for a pull request or an issue; nothing in a name or a path acts as markup."""
        from judgerel_ray.blocks.markdown import markdown

        return markdown(self.blocks(), title=self.title)

    def as_html(self) -> str:
        """Write it for a notebook."""
        from judgerel_ray.blocks.html import rendered_blocks

        return rendered_blocks(self.blocks())

    def as_junit(self) -> str:
        """Write what was checked as JUnit XML."""
        return junit(self.cases, notes=[*self.notes, *self.closing()])

    def closing(self) -> list[str]:
        """Notes of the facts, and the last paragraph: what JUnit says below its cases."""
        last = [block for block in self.full() if isinstance(block, Paragraph)][-1:]
        words = ["".join(span.text for span in block.spans) for block in last]
        noted = self.facts.get("notes", ())
        return [*map(str, noted if isinstance(noted, tuple | list) else ()), *words]


FORMATS: dict[str, Callable[[Result[Any]], str]] = {
    "table": Result.as_text,
    "json": Result.as_json,
    "markdown": Result.as_markdown,
    "junit": Result.as_junit,
}
"""What a result may be printed as, by the name that ``--format`` takes."""
OF_CASES = "junit"
"""The format that only a result with cases has."""


class Writable:
    """A result in Python that can be written as the command line writes it."""

    __slots__ = ()
    shown_by: ClassVar[str]
    """``module:function`` that makes the :class:`Result` of it, in a module that imports this."""

    def __repr__(self) -> str:
        return self.as_text()

    def _repr_html_(self) -> str:
        return self._result().as_html()

    def _result(self) -> Result[Any]:
        found: Result[Any] = resolve_name(self.shown_by)(self)
        return found

    def as_text(self) -> str:
        """Lay it out as the terminal has it."""
        return self._result().as_text()

    def as_json(self) -> str:
        """Write it as JSON."""
        return self._result().as_json()

    def as_markdown(self) -> str:
        """Write it for a pull request."""
        return self._result().as_markdown()


def rows_json(rows: pl.DataFrame) -> str:
    """Write a table as a JSON list, one object a row; null where there is no number.

    Examples
    --------
    >>> import polars as pl
    >>> print(rows_json(pl.DataFrame({"value": [None], "undefined": ["no_variance"]})))
    [
     {"value": null, "undefined": "no_variance"}
    ]
    """
    lines = [json.dumps(row, allow_nan=False, default=str) for row in rows.to_dicts()]
    return "[\n" + ",\n".join(f" {line}" for line in lines) + "\n]" if lines else "[]"


def tables_json(
    tables: Mapping[str, pl.DataFrame], facts: Mapping[str, object] | None = None
) -> str:
    """Write facts and tables as one JSON object, a list of rows each table.

    Examples
    --------
    >>> import polars as pl
    >>> tables_json({"needs": pl.DataFrame({"target": ["x"]})})
    '{"needs": [{"target": "x"}]}'
    """
    rows = {name: table.to_dicts() for name, table in tables.items()}
    return json.dumps({**(facts or {}), **rows}, allow_nan=False, default=str)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One thing that was checked, as JUnit lists it."""

    classname: str
    name: str
    message: str
    failed: bool = False
    undecided: bool = False


def junit(cases: Sequence[Case], *, notes: Sequence[str] = ()) -> str:
    """Write cases: what failed is a failure, what is undecided an error.

    Examples
    --------
    >>> junit([]).splitlines()[1]
    '<testsuite name="judgerel gate" tests="0" failures="0" errors="0" />'
    """
    from xml.etree import ElementTree as Xml

    suite = Xml.Element("testsuite", {
        "name": "judgerel gate", "tests": str(len(cases)),
        "failures": str(sum(one.failed for one in cases)),
        "errors": str(sum(one.undecided for one in cases)),
    })  # fmt: skip
    for one in cases:
        case = Xml.SubElement(suite, "testcase", {
            "classname": _xml_text(one.classname), "name": _xml_text(one.name), "time": "0",
        })  # fmt: skip
        if one.failed or one.undecided:
            kind, word = ("failure", "FAIL") if one.failed else ("error", "INCONCLUSIVE")
            Xml.SubElement(case, kind, {"type": word, "message": _xml_text(one.message)})
    if notes:
        Xml.SubElement(suite, "system-out").text = "\n".join(map(_xml_text, notes))
    Xml.indent(suite)
    head = '<?xml version="1.0" encoding="utf-8"?>'
    return f"{head}\n{Xml.tostring(suite, encoding='unicode')}"


def _xml_text(text: str) -> str:
    """Text of which XML forbids nothing."""
    return printable(text).replace("\ufffe", r"\ufffe").replace("\uffff", r"\uffff")
