"""Schemas of results: one class a table, with the type and the meaning of every column.

The columns of groups, which depend on ``by``, come first in a frame and are no part of its schema.
Classes read as dataframely's do; :meth:`Schema.dataframely` makes one of those. They are light
because importing dataframely, and pydantic with it, costs 35 to 55 ms of each ``judgerel reduce``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import polars as pl

if TYPE_CHECKING:
    import dataframely as dy

    from judgerel_ray.core.verb import Verb


class SchemaColumn:
    """A column: its type and a sentence or two on what it means; any value may be null."""

    dtype: pl.DataType

    def __init__(self, description: str = "", *, alias: str | None = None) -> None:
        self.description = description
        self.alias = alias  # the column's name, where that is a keyword of Python

    def dataframely(self) -> dy.Column:
        """Give the same column of dataframely."""
        import dataframely as dy

        kind: type[dy.Column] = getattr(dy, type(self).__name__)
        return kind(nullable=True, alias=self.alias, description=self.description)


class String(SchemaColumn):
    """Text."""

    dtype = pl.String()


class Float64(SchemaColumn):
    """Numbers."""

    dtype = pl.Float64()


class Int64(SchemaColumn):
    """Whole numbers."""

    dtype = pl.Int64()


class Int32(SchemaColumn):
    """Whole numbers of 32 bits, as judgments have them."""

    dtype = pl.Int32()


class Bool(SchemaColumn):
    """Truth values."""

    dtype = pl.Boolean()


class List(SchemaColumn):
    """Lists of values of one type."""

    def __init__(self, inner: SchemaColumn, description: str = "") -> None:
        super().__init__(description)
        self.inner = inner
        self.dtype = pl.List(inner.dtype)

    def dataframely(self) -> dy.Column:
        """Give the same column of dataframely."""
        import dataframely as dy

        return dy.List(self.inner.dataframely(), nullable=True, description=self.description)


class Json(SchemaColumn):
    """What JSON alone holds: an object, or lists of several types."""

    dtype = pl.Object()

    def dataframely(self) -> dy.Column:
        """Give a column of any type."""
        import dataframely as dy

        return dy.Any(description=self.description)


class Schema:
    """Columns of a table of results, in their order; a schema in the body stands for its columns.

    Examples
    --------
    >>> class Counts(Schema):
    ...     n = Int64("How many there are.")
    >>> Counts.descriptions
    {'n': 'How many there are.'}
    >>> Counts.frame([{"judge": "a", "n": 3}], {"judge": pl.String()}).columns
    ['judge', 'n']
    """

    columns: ClassVar[Mapping[str, SchemaColumn]] = {}
    dtypes: ClassVar[Mapping[str, pl.DataType]] = {}
    descriptions: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls) -> None:
        columns = dict(cls.columns)
        for name, value in vars(cls).items():
            if isinstance(value, SchemaColumn):
                columns[value.alias or name] = value
            elif isinstance(value, type) and issubclass(value, Schema):
                columns |= value.columns
        cls.columns = columns
        cls.dtypes = {name: column.dtype for name, column in columns.items()}
        cls.descriptions = {name: column.description for name, column in columns.items()}

    @classmethod
    def frame(
        cls,
        rows: Iterable[Mapping[str, object]] = (),
        groups: Mapping[str, pl.DataType] | Sequence[str] = (),
    ) -> pl.DataFrame:
        """Lay rows out as a table: the columns of groups, of any type where none is named."""
        known = dict(groups) if isinstance(groups, Mapping) else dict.fromkeys(groups)
        schema = {**known, **cls.dtypes}
        return pl.DataFrame(list(rows), schema=schema, orient="row", infer_schema_length=None)

    @classmethod
    def groups(cls, frame: pl.DataFrame) -> list[str]:
        """Name the columns of groups in such a table."""
        return [name for name in frame.columns if name not in cls.columns]

    @classmethod
    def dataframely(cls) -> type[dy.Schema]:
        """Give the same schema as dataframely's, to check a frame by."""
        import dataframely as dy

        columns = {name: column.dataframely() for name, column in cls.columns.items()}
        return type(cls.__name__, (dy.Schema,), {"__doc__": cls.__doc__, **columns})


SchemasByVerb: TypeAlias = Mapping[str, Mapping[str, type[Schema]]]
"""Of each verb, of each of its tables ("" where it prints one list, or beside its tables), its
schema."""


def tables_of(verb: Verb) -> Mapping[str, type[Schema]]:
    """The tables of a verb's JSON: of ``tables.py`` beside its module."""
    beside = verb.act.__module__.rpartition(".")[0]
    known: SchemasByVerb = import_module(f"{beside}.tables").TABLES
    return known[verb.name]
