"""A page in short, kept in docs/, beside the whole list that it was made from, in build/."""

from __future__ import annotations

import re
from pathlib import Path

SECTION = "\n<!-- by a script of its own -->\n## "
LISTS = Path("build/lists")
MOST = 50  # rows of the tables of a section that is kept
_RULE = re.compile(r"^\|(?: ?-+ ?\|)+$", re.MULTILINE)


def in_short(text: str, whole: Path) -> str:
    """The page without its long lists, and where these are; of a section without the parts of one.

    Examples
    --------
    >>> rows = "| a |\\n| --- |\\n" + "| 1 |\\n" * 51
    >>> print(in_short(f"# P\\n\\nSaid.\\n\\n## Every cell\\n\\n{rows}", Path("build/lists/p.md")))
    # P
    <BLANKLINE>
    Said.
    <BLANKLINE>
    ## The whole list
    <BLANKLINE>
    The command above also writes `build/lists/p.md`, which has this page and: every cell (51 rows).
    <BLANKLINE>
    """
    is_page = text.startswith("# ")
    head, *parts = re.split(r"^(?=## )" if is_page else r"^(?=### )", text, flags=re.MULTILINE)
    if is_page:
        left_out = [one for one in parts if rows_of(one) > MOST]
    else:
        left_out = parts if rows_of("".join(parts)) > MOST else []
    if not left_out:
        return text
    kept = [head, *(one for one in parts if one not in left_out)]
    named = "; ".join(f"{_title(one)} ({rows_of(one):,} rows)" for one in left_out)
    note = (
        f"The command above also writes `{whole.as_posix()}`, which has this page and: {named}.\n"
    )
    if not is_page:
        return f"{''.join(kept).rstrip()}\n\n{note.replace('this page', 'this section').rstrip()}"
    return f"{''.join(kept).rstrip()}\n\n## The whole list\n\n{note}"


def rows_of(text: str) -> int:
    """How many rows the tables have, without their heads."""
    lines = sum(line.startswith("|") for line in text.splitlines())
    return lines - 2 * len(_RULE.findall(text))


def write_page(out: Path, whole: Path, text: str) -> None:
    """Write a page in short and whole; sections that other scripts wrote stay in both."""
    for path, one in ((out, in_short(text, whole)), (whole, text)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(one + other_sections(path))


def write_section(out: Path, whole: Path, title: str, text: str) -> None:
    """Write a section of its own script in short and whole, the others staying as they are."""
    replace_section(out, title, in_short(text, whole))
    replace_section(whole, title, text)


def replace_section(path: Path, title: str, text: str) -> None:
    """Write a section of its own script under this title, the others staying as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    before, *sections = path.read_text().split(SECTION) if path.exists() else [""]
    others = [one for one in sections if not one.startswith(f"{title}\n")]
    path.write_text(SECTION.join([before.rstrip() + "\n", *others, f"{title}\n\n{text}\n"]))


def other_sections(path: Path) -> str:
    """The sections that scripts of their own wrote, which this one leaves alone."""
    _, *sections = path.read_text().split(SECTION) if path.exists() else [""]
    return "".join(f"{SECTION}{one}" for one in sections)


def _title(part: str) -> str:
    """The heading of a part, as a word of a sentence."""
    title = part.partition("\n")[0].lstrip("# ")
    return title[:1].lower() + title[1:]
