"""Any layout of known judgments is read as they are, or asked about: never read otherwise.

Of 2,800 seeds; ``bench/layouts.py`` reads as many others as one likes.
"""

from __future__ import annotations

import warnings

import pytest

from bench.layouts import MORE, TOLD, wrong_and_asked


@pytest.mark.parametrize("seeds", [
    range(50), pytest.param(range(50, 1200), marks=pytest.mark.slow),
])  # fmt: skip
def test_no_layout_is_read_otherwise_than_it_is(seeds, tmp_path, record_property):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wrong, asked = wrong_and_asked(seeds, tmp_path)
    record_property("asked", dict(asked))
    assert not wrong, "\n".join(wrong)
    ambiguous = asked["a file a judge"] + asked["orders"]  # files or orders that say not what
    assert asked.total() - ambiguous < len(seeds) / 4


@pytest.mark.parametrize("seeds", [
    range(10_000, 10_050), pytest.param(range(10_050, 10_800), marks=pytest.mark.slow),
])  # fmt: skip
def test_no_layout_of_two_things_in_a_name_is_read_otherwise(seeds, tmp_path, record_property):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wrong, asked = wrong_and_asked(seeds, tmp_path, MORE)
    record_property("asked", dict(asked))
    assert not wrong, "\n".join(wrong)
    ambiguous = asked["two columns"] + asked["ragged"] + asked["judges and orders"]
    assert asked.total() - ambiguous < len(seeds) / 4


@pytest.mark.parametrize("seeds", [
    range(20_000, 20_060), pytest.param(range(20_060, 20_800), marks=pytest.mark.slow),
])  # fmt: skip
def test_no_layout_of_marks_or_lists_beside_each_other_is_read_otherwise(
    seeds, tmp_path, record_property
):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wrong, asked = wrong_and_asked(seeds, tmp_path, TOLD)
    record_property("asked", dict(asked))
    assert not wrong, "\n".join(wrong)
    assert asked.total() - asked["marks"] - asked["bars"] < len(seeds) / 4
