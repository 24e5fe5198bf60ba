"""Verbal bands, given to whole intervals alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.legacy import BANDS, verbal_band

NAMES = [name for name, _ in BANDS]


@pytest.mark.parametrize(
    ("low", "high", "band"),
    [
        (-0.4, 0.5, "Unacceptable"),
        (0.51, 0.6, "Poor"),
        (0.61, 0.7, "Questionable"),
        (0.71, 0.8, "Acceptable"),
        (0.81, 0.9, "Good"),
        (0.91, 1.0, "Excellent"),
        (0.5, 0.51, None),
        (0.9, 0.91, None),
    ],
)
def test_a_band_holds_the_whole_interval_or_none_does(low, high, band):
    assert verbal_band(low, high).band == band


def test_the_bands_spanned_are_named():
    found = verbal_band(0.35, 0.75)
    assert found.spans == ("Unacceptable", "Poor", "Questionable", "Acceptable")
    assert str(found) == "no one band: the interval spans Unacceptable to Acceptable"


def test_without_an_interval_there_is_no_band():
    assert (verbal_band(None, None).band, verbal_band(None, None).spans) == (None, ())


@given(st.floats(-2, 1), st.floats(0, 1))
def test_a_wider_interval_never_touches_fewer_bands(low, width):
    narrow, wide = verbal_band(low, low + width), verbal_band(low - 0.1, low + width + 0.1)
    assert set(narrow.spans) <= set(wide.spans)
    assert NAMES[NAMES.index(wide.spans[0]) :][: len(wide.spans)] == [*wide.spans]
    assert (narrow.band is not None) == (len(narrow.spans) == 1)


@pytest.mark.parametrize(
    ("low", "high"),
    [(0.5, None), (None, 0.5), (0.6, 0.5), (float("nan"), 0.5), (0.1, float("nan"))],
)
def test_half_an_interval_is_refused(low, high):
    with pytest.raises(ValueError, match="verbal_band"):
        verbal_band(low, high)
