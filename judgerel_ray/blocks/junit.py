"""What was checked as JUnit XML, which continuous integration shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from judgerel_ray.core import printable


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
            "classname": _in_xml(one.classname), "name": _in_xml(one.name), "time": "0",
        })  # fmt: skip
        if one.failed or one.undecided:
            kind, word = ("failure", "FAIL") if one.failed else ("error", "INCONCLUSIVE")
            Xml.SubElement(case, kind, {"type": word, "message": _in_xml(one.message)})
    if notes:
        Xml.SubElement(suite, "system-out").text = "\n".join(map(_in_xml, notes))
    Xml.indent(suite)
    head = '<?xml version="1.0" encoding="utf-8"?>'
    return f"{head}\n{Xml.tostring(suite, encoding='unicode')}"


def _in_xml(text: str) -> str:
    """Text of which XML forbids nothing."""
    return printable(text).replace("\ufffe", r"\ufffe").replace("\uffff", r"\uffff")
