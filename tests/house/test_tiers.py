"""Tests of clusters say so: their files are groups, each of which one process works off."""

from __future__ import annotations

STARTS = ("ray_local", "ray_apart", "ray.init(")


def unmarked(modules) -> list[str]:
    """Files of tests that start a cluster, and carry no mark for it."""
    return [
        module.path
        for module in modules
        if module.path.startswith("tests/") and "/test_" in module.path
        if any(word in module.text for word in STARTS) and "pytest.mark.ray" not in module.text
    ]


def test_files_that_start_clusters_are_marked(every_module):
    faults = unmarked(one for one in every_module if "tests/house" not in one.path)
    assert not faults, "\n".join(faults)


def test_unmarked_files_are_found(planted):
    text = "def test_x(ray_local):\n    pass\n"
    marked = f"import pytest\npytestmark = pytest.mark.ray\n{text}"
    plain = planted(text, "tests/fleet/test_x.py")
    assert unmarked([plain]) == ["tests/fleet/test_x.py"]
    assert unmarked([planted(marked, "tests/fleet/test_x.py")]) == []
