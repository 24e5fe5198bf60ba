"""The page of hostile inputs and the whole list: the same results give the same bytes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from bench.hostile.case import Result

LONGEST = 150
# What differs from run to run or from machine to machine, and says nothing about the case.
MASKS = (
    (re.compile(r"\S*/hostile-[\w-]+/[\w-]+/here/?"), ""),
    (re.compile(r"part-s\d+-l\d+-a\d+-[0-9a-f]+"), "part-…"),
    (re.compile(r"\bs\d+-l\d+-a\d+\b"), "s…"),
    (re.compile(r"\b(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{12,}\b"), "…"),
    (re.compile(r"\b\d[\d,]* (bytes|B)\b"), r"… \1"),
    (re.compile(r"\b0x[0-9a-f]{6,}\b"), "0x…"),
    (re.compile(r"\(and \d+ more\)"), "(and … more)"),
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:.+]+"), "…"),
)
INTRO = """# Hostile inputs

What `judgerel` does with inputs as careless, damaged or hostile people hand them over: {n}
cases, each one run by `make test-hostile` (`python -m bench.hostile --out
docs/hostile-inputs.md --whole build/lists/hostile-inputs.md`), which writes this page, and the
whole list with a row a case and what was printed to `build/lists/`, and fails where a case does not
go as it may.

Every case knows the right answer without the package: agreement, Krippendorff's alpha and valid
verdicts are counted in plain Python on the table that was meant (`bench/hostile/counted.py`),
right options, planned requests and shares in two orders by hand, and all files in the folder
are digested before and after. A case may end in one of two ways: **refused** in one line that
names what is wrong (exit 2, nothing printed, nothing written), or **answered** with the number
that was counted, and with a line that says so wherever something was merged or left out.
The last column is for the third: numbers that are wrong, or inputs that were changed, with
nothing said. It must be empty.

Beside these, tables that nobody thought of: `python -m bench.fuzz_tables --tables 10_000` has
Hypothesis make them, and counts how many gave the numbers of a plain count, how many were refused
in one line, and anything else (`--seed` for others; `make test` has 50). For run directories
`python -m bench.faults` flips bits, cuts files and removes them.

| | cases | refused | answered | defects | silent wrong numbers |
|---|---|---|---|---|---|
{counts}

Exit codes: 0 done, 1 findings (`verify`) or failed requests, 2 refused, 130 interrupted. Names of
files that differ from run to run are shown as `…`.
"""
HEAD = "| case | what happens | exit | silent wrong numbers |\n|---|---|---|---|"


def summary_of(results: Sequence[Result]) -> str:
    """Write the page in short: what is tried, and how the cases of each family went."""
    counts = [_count_line(name, group) for name, group in _families(results)]
    counts.append(_count_line("**all**", results))
    return INTRO.format(n=f"{len(results):,}", counts="\n".join(counts))


def page_of(results: Sequence[Result]) -> str:
    """Write the whole list, below the page in short.

    Parameters
    ----------
    results : sequence of Result
        In the order of the page.

    Returns
    -------
    str
        Markdown.
    """
    parts = [summary_of(results)]
    for name, group in _families(results):
        parts.append(f"## {name}\n\n{HEAD}\n" + "\n".join(_lines(group)) + "\n")
    return "\n".join(parts)


def _families(results: Sequence[Result]) -> list[tuple[str, list[Result]]]:
    """Results by family, in the order of the page."""
    return [(name, list(group)) for name, group in groupby(results, lambda one: one.case.family)]


def _count_line(name: str, results: Sequence[Result]) -> str:
    """How the cases of a family went."""
    kinds = Counter(result.kind for result in results)
    numbers = [kinds["refused"], kinds["answered"], kinds["defect"], kinds["silent wrong"]]
    shown = [str(n) if n else "" for n in numbers]
    return f"| {name} | {len(results):,} | {' | '.join(shown)} |"


def _lines(results: Sequence[Result]) -> Iterator[str]:
    """A row a case."""
    for result in results:
        code = "-" if result.came.code is None else str(result.came.code)
        happens = result.kind if result.kind != "silent wrong" else "answered"
        why = shown(result.why)
        wrong = why if result.kind == "silent wrong" else ""
        happened = f"{happens}: {why}" if why and not wrong else happens
        yield f"| {shown(result.case.what)} | {happened} | {code} | {wrong} |"


def shown(text: str) -> str:
    """A text for a cell: no control character, no markup, no path of this machine, not too long.

    Examples
    --------
    >>> shown("a | <b>")
    '`a ¦ <b>`'
    """
    for pattern, instead in MASKS:
        text = pattern.sub(instead, text)
    text = "".join(one if one.isprintable() else f"\\x{ord(one):02x}" for one in text)
    text = " ".join(text.split()).replace("|", "¦").replace("`", "'")
    if len(text) > LONGEST:
        text = text[: LONGEST - 1] + "…"
    return f"`{text}`" if re.search(r"[<>*_\[\]&#\\~]", text) else text
