"""Findings: what verification has to say of a run directory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "missing_file",
    "wrong_sha256",
    "unreadable_file",
    "wrong_rows",
    "wrong_keys",
    "wrong_judge",
    "texts_differ",
    "duplicate_rows",
    "unfounded",
    "unplanned_rows",
    "broken_record",
    "missing_records",
    "late_record",
    "orphan",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something verification found. A ``note`` is harmless, an ``error`` is not."""

    level: Literal["error", "note"]
    kind: Kind
    name: str
    message: str


def an_error(kind: Kind, name: str, message: str) -> Finding:
    """Make a finding that is an error.

    Examples
    --------
    >>> an_error("missing_file", "plan.json", "not there").level
    'error'
    """
    return Finding(level="error", kind=kind, name=name, message=message)


def a_note(kind: Kind, name: str, message: str) -> Finding:
    """Make a finding that is a note.

    Examples
    --------
    >>> a_note("orphan", "data/x", "no commit names it").level
    'note'
    """
    return Finding(level="note", kind=kind, name=name, message=message)
