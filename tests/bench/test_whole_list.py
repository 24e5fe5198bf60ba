"""Pages that are kept in short: what they leave out is said, counted, and written elsewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bench.whole_list import MOST, in_short, rows_of, write_page, write_section

DOCS = Path(__file__).resolve().parents[2] / "docs"
SHORT = ("coverage.md", "coverage-reproducibility.md")


def rows(n: int) -> str:
    """A table of so many rows."""
    return "| a | b |\n|---|---|\n" + "| 1 | 2 |\n" * n


def test_long_sections_are_left_out_of_the_page_and_kept_in_the_list(tmp_path):
    out, whole = tmp_path / "docs" / "p.md", tmp_path / "lists" / "p.md"
    long = f"### A\n\n{rows(30)}\n### B\n\n{rows(30)}"
    text = f"# P\n\n## In short\n\n{rows(MOST)}\n## Every cell\n\n{long}"
    write_page(out, whole, text)
    assert whole.read_text() == text
    kept, _, note = out.read_text().partition("## The whole list")
    assert kept.rstrip() == text.partition("## Every cell")[0].rstrip()
    assert f"`{whole.as_posix()}`" in note
    assert "every cell (60 rows)." in note
    write_section(out, whole, "More", f"Said.\n\n### C\n\n{rows(60)}")
    assert f"### C\n\n{rows(60)}" in whole.read_text()
    assert "### C" not in out.read_text()
    assert "this section and: c (60 rows)." in out.read_text()
    write_page(out, whole, text)  # the section of another script stays
    assert "## More\n" in out.read_text()
    assert "### C" in whole.read_text()


def test_a_page_without_long_lists_is_left_as_it_is():
    text = f"# P\n\n## In short\n\n{rows(MOST)}"
    assert in_short(text, Path("p.md")) == text
    assert in_short(f"Said.\n\n{rows(60)}", Path("p.md")) == f"Said.\n\n{rows(60)}"


@pytest.mark.parametrize("name", SHORT)
def test_pages_of_the_repository_are_in_short(name):
    text = (DOCS / name).read_text("utf-8")
    assert len(text.encode()) < 30_000
    assert f"`build/lists/{name}`" in text
    assert max(map(rows_of, re.split(r"^#", text, flags=re.MULTILINE))) <= MOST
