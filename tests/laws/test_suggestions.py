"""What a message tells to try works: the flag or the command as it is printed, over all sheets.

And over 600 layouts; ``bench/suggestions.py`` tries as many others as one likes.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.layouts import KINDS, MORE, TOLD
from bench.suggestions import dead_ends, dead_ends_of_layouts

pytestmark = pytest.mark.filterwarnings("ignore::judgerel_ray.ReadingWarning")
SHEETS = Path(__file__).parents[1] / "cases/sheets"
FILES = sorted(path for path in SHEETS.rglob("*.*") if path.is_file())


@pytest.mark.alike(8)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_suggestion_about_a_sheet_works(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert not dead_ends(["reduce", str(path)])


@pytest.mark.parametrize(("seeds", "kinds"), [
    (range(10), KINDS), (range(10_000, 10_010), MORE), (range(20_000, 20_010), TOLD),
    pytest.param(range(10, 200), KINDS, marks=pytest.mark.slow),
    pytest.param(range(10_010, 10_200), MORE, marks=pytest.mark.slow),
    pytest.param(range(20_010, 20_200), TOLD, marks=pytest.mark.slow),
])  # fmt: skip
def test_every_suggestion_about_a_layout_works(seeds, kinds, tmp_path):
    found = dead_ends_of_layouts(seeds, tmp_path, kinds)
    assert not found, "\n".join(found)
