"""Criteria of ratings: the question put about a response, and its definition at three lengths.

A criterion file is TOML with ``question``, one that yes or no could answer, and a table
``[definitions]`` with ``short`` and ``long``. A criterion is called by its ``name``, which every
table and page shows, or after its file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

from judgerel_ray.core import SweepError
from judgerel_ray.protocols.wordings import check_keys, read_wording, shipped_wordings

DefinitionLength = Literal["none", "short", "long"]
_LONGEST_NAME = 60
DEFINITION_LENGTHS: tuple[DefinitionLength, ...] = get_args(DefinitionLength)


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """What a response is rated by.

    ``question`` is put about the response; ``definitions`` holds what is told of its meaning by
    length: nothing for ``none``.
    """

    name: str
    question: str
    definitions: Mapping[DefinitionLength, str]


def load_criterion(name_or_path: str) -> Criterion:
    """Load a shipped criterion by name, or any criterion file by path.

    Parameters
    ----------
    name_or_path : str
        A shipped name; or a file, when it holds a path separator or ends in ``.toml``.

    Returns
    -------
    Criterion
        Called by its ``name``, or after its file.

    Raises
    ------
    SweepError
        If there is no such criterion, or its file is wrong.

    Examples
    --------
    >>> criterion = load_criterion("conciseness")
    >>> criterion.question, criterion.definitions["none"]
    ('Is the response concise?', '')
    """
    name, content, where = read_wording("criteria", name_or_path)
    check_keys(content, ("name", "question", "definitions"), where)
    definitions = content.get("definitions")
    if not isinstance(definitions, dict):
        raise SweepError(
            f"definitions must be a table with short and long, got {definitions!r}",
            where=where,
            hint="write [definitions] above short = ... and long = ...",
        )
    check_keys(definitions, ("short", "long"), {**where, "table": "definitions"})
    return Criterion(
        name=_checked_name(_text(content, "name", where) if "name" in content else name, where),
        question=_text(content, "question", where),
        definitions=MappingProxyType(
            {
                "none": "",
                "short": _text(definitions, "short", {**where, "table": "definitions"}),
                "long": _text(definitions, "long", {**where, "table": "definitions"}),
            }
        ),
    )


def shipped_criteria() -> tuple[str, ...]:
    """Names of the criteria that come with the package.

    Examples
    --------
    >>> shipped_criteria()
    ('conciseness', 'factuality', 'harmlessness', 'helpfulness', 'logicality')
    """
    return shipped_wordings("criteria")


def _checked_name(name: str, where: Mapping[str, object]) -> str:
    """A name that a cell of a table can show."""
    if not name.isprintable() or len(name) > _LONGEST_NAME:
        raise SweepError(
            f"a criterion's name must be one line of at most {_LONGEST_NAME} characters, "
            f"got {name[:_LONGEST_NAME]!r}",
            where=where,
            hint='name = "kindness" in the file',
        )
    return name


def _text(content: Mapping[str, object], key: str, where: Mapping[str, object]) -> str:
    """A text that must be there, without blanks around it."""
    value = content.get(key)
    if not isinstance(value, str) or not value.strip():
        raise SweepError(f"{key} must be a text that is not empty, got {value!r}", where=where)
    return value.strip()
