"""How what was recorded is asked for and called today: the one page that renamings change."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatch
from typing import Literal

Form = Literal["tables", "json", "text", "page", "file", "run"]


@dataclass(frozen=True, slots=True)
class View:
    """What is asked for: a verb and flags around the paths, and what form the answer has.

    ``tables`` are printed by ``--format json,table``, ``json`` by ``--json`` and, without it, as
    text; a ``page``, a ``file`` or a ``run`` is written to ``--out``.
    """

    verb: str
    flags: tuple[str, ...] = ()
    form: Form = "tables"


VIEWS: dict[str, View] = {
    "coefficients": View("reduce"),
    "questions": View("reduce", ("--questions",)),
    "uncertainty": View("reduce", ("--uncertainty",)),
    "limits": View("reduce", ("--limits",)),
    "weighted": View("reduce", ("--weighted",)),
    "settled": View("reduce", ("--settled",)),
    "reasoning": View("reduce", ("--reasoning",)),
    "scales": View("reduce", ("--scales",)),
    "ranking": View("reduce", ("--ranking",)),
    "alignment": View("reduce"),
    "selection": View("reduce", ("--selection",)),
    "systems": View("reduce", ("--comparison",)),
    "panels": View("reduce", ("--panels",)),
    "cascade": View("reduce", ("--cascade",)),
    "advise": View("advise"),
    "compare": View("compare"),
    "plan": View("plan", form="json"),
    "status": View("status", form="json"),
    "verify": View("verify", form="text"),
    "report": View("report", form="page"),
    "items": View("items", form="file"),
    "import": View("import", form="file"),
    "run": View("run", form="run"),
    "exact": View("exact", form="run"),
}
"""By the name that cases have, which stays; the verb and its flags are those of today."""

FLAGS: dict[str, dict[str, str]] = {}
"""By view ("*" is every one): flags of cases and what they are called today."""

FIELDS: dict[str, dict[str, str]] = {}
"""By view ("*" is every one): fields as they were recorded and what they are called today."""


@dataclass(frozen=True, slots=True)
class Expected:
    """A difference that was meant: patterns of shells of the case, the field and the kind."""

    reason: str
    case: str = "*"
    field: str = "*"
    kind: str = "*"

    def explains(self, case: str, field: str, kind: str) -> bool:
        """Whether it is this one."""
        told = ((case, self.case), (field, self.field), (kind, self.kind))
        return all(fnmatch(one, pattern) for one, pattern in told)


EXPECTED: tuple[Expected, ...] = ()
"""Every difference that stays, with its reason."""


def flags_today(view: str, flags: tuple[str, ...]) -> list[str]:
    """A case's flags as they are spelled today."""
    names = FLAGS.get("*", {}) | FLAGS.get(view, {})
    return [names.get(flag, flag) for flag in flags]


def fields_today(view: str, told: object) -> object:
    """Recorded JSON with its fields called as they are today."""
    names = FIELDS.get("*", {}) | FIELDS.get(view, {})
    if isinstance(told, dict):
        return {names.get(key, key): fields_today(view, value) for key, value in told.items()}
    if isinstance(told, list):
        return [fields_today(view, one) for one in told]
    return told
