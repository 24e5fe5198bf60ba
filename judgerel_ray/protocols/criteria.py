"""Criteria of ratings: the question put about a response, and its definition at three lengths.

A criterion file is TOML with ``question``, one that yes or no could answer, and a table
``[definitions]`` with ``short`` and ``long``. A criterion is called by its ``name``, which every
table and page shows, or after its file.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from judgerel_ray.core import SweepError, decoded
from judgerel_ray.core.files import read_regular
from judgerel_ray.core.text import nearest_name

_SHIPPED = Path(__file__).parent
_SUFFIX = ".toml"


def shipped_wordings(kind: str) -> tuple[str, ...]:
    """Names of the files of a kind that come with the package.

    Examples
    --------
    >>> "likert5" in shipped_wordings("scales")
    True
    """
    return tuple(sorted(path.stem for path in (_SHIPPED / kind).glob(f"*{_SUFFIX}")))


def read_wording(kind: str, name_or_path: str) -> tuple[str, dict[str, object], dict[str, object]]:
    """Read a shipped file by name, or any file by path.

    Examples
    --------
    >>> name, content, _ = read_wording("scales", "binary")
    >>> name, content["labels"]
    ('binary', ['No', 'Yes'])
    """
    is_path = name_or_path.endswith(_SUFFIX) or holds_separator(name_or_path)
    shipped = shipped_wordings(kind)
    if not is_path and name_or_path not in shipped:
        raise SweepError(
            f"unknown name, expected one of {listed(shipped)} or a .toml file, "
            f"got {name_or_path!r}",
            where={"in": kind},
            hint=nearest(name_or_path, shipped),
        )
    path = Path(name_or_path).expanduser()
    path = path if is_path else _SHIPPED / kind / f"{name_or_path}{_SUFFIX}"
    where: dict[str, object] = {"file": path}
    try:
        return path.stem, tomllib.loads(decoded(read_regular(path), where=where, lines=True)), where
    except tomllib.TOMLDecodeError as error:
        raise SweepError(f"not a TOML file: {error}", where=where) from error
    except (OSError, ValueError, RecursionError) as error:
        raise SweepError(f"cannot be read: {error}", where=where) from error


def holds_separator(name: str) -> bool:
    """Whether a name can only be a path."""
    return any(mark in name for mark in (os.sep, os.altsep) if mark)


def check_keys(
    content: Mapping[str, object], known: tuple[str, ...], where: Mapping[str, object]
) -> None:
    """Refuse keys that nothing reads.

    Examples
    --------
    >>> check_keys({"lowest": 1}, ("lowest", "highest"), {})
    """
    for key in content:
        if key not in known:
            raise SweepError(
                f"unknown key, expected {listed(known)}, got {key!r}",
                where=where,
                hint=nearest(key, known),
            )


def listed(names: Iterable[str]) -> str:
    """Names for messages.

    Examples
    --------
    >>> listed(["a", "b"])
    'a, b'
    """
    return ", ".join(names)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant, as a hint.

    Examples
    --------
    >>> nearest("likert", ["likert5", "binary"])
    "did you mean 'likert5'?"
    """
    close = nearest_name(name, known)
    return f"did you mean {close!r}?" if close else None


DefinitionLength = Literal["none", "short", "long"]
_LONGEST_NAME = 60
DEFINITION_LENGTHS: tuple[DefinitionLength, ...] = get_args(DefinitionLength)


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """What a response is rated by.

    ``question`` is put about the response; ``definitions`` holds what a judge is told about its
    meaning, by length: nothing for ``none``.
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
    below = {**where, "table": "definitions"}
    check_keys(definitions, ("short", "long"), below)
    if "name" in content:
        name = _protocol_criterion_text(content, "name", where)
    return Criterion(
        name=_checked_name(name, where),
        question=_protocol_criterion_text(content, "question", where),
        definitions={
            "none": "",
            "short": _protocol_criterion_text(definitions, "short", below),
            "long": _protocol_criterion_text(definitions, "long", below),
        },
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


def _protocol_criterion_text(
    content: Mapping[str, object], key: str, where: Mapping[str, object]
) -> str:
    """A text that must be there, without blanks around it."""
    value = content.get(key)
    if not isinstance(value, str) or not value.strip():
        raise SweepError(f"{key} must be a text that is not empty, got {value!r}", where=where)
    return value.strip()
