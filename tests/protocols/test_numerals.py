import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.protocols.replies.mentions import find_number, number_text


@given(st.integers(-(10**12), 10**12), st.integers(0, 3), st.integers(0, 2))
def test_digits_are_read_exactly_without_needless_zeros(number, leading, trailing):
    sign = "-" if number < 0 else ""
    text = sign + "0" * leading + str(abs(number)) + ("." + "0" * trailing if trailing else "")
    assert find_number(text, 0) == (str(number), len(text))


@given(st.floats(-(10**6), 10**6).map(lambda value: round(value, 6)))
def test_a_number_and_its_text_belong_together(value):
    text = number_text(value)
    assert float(text) == value
    if "e" not in text:
        assert find_number(text, 0) == (text, len(text))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("four", ("4", 4)),
        ("Fourteen", ("14", 8)),
        ("forty-two", ("42", 9)),
        ("forty two", ("42", 9)),
        ("a hundred", ("100", 9)),
        ("one hundred", ("100", 11)),
        ("minus three", ("-3", 11)),
        ("three point one four", ("3.14", 20)),
        ("three and a half", ("3.5", 16)),
        ("3 and a quarter", ("3.25", 15)),
        ("3¾", ("3.75", 2)),
        ("½", ("0.5", 1)),
        (".50", ("0.5", 3)),
        ("-0", ("0", 2)),
        ("−2", ("-2", 2)),
        ("+2", ("2", 2)),
        ("3,5", (None, 3)),
        ("1,000.5", (None, 7)),
        ("3.5½", (None, 4)),
        ("3.5 and a half", (None, 14)),
        ("1234567890123456", (None, 16)),
        ("0.1234567890123456", (None, 18)),
        ("4.", ("4", 1)),
        ("4 half", ("4", 1)),
        ("fourteenth", None),
        ("onerous", None),
        ("hundred", None),
        ("half", None),
        ("٤", None),
        ("-", None),
        ("", None),
    ],
)
def test_what_a_number_is(text, found):
    assert find_number(text, 0) == found


@pytest.mark.parametrize(
    ("value", "text"), [(4.0, "4"), (-1, "-1"), (0.5, "0.5"), (1e20, "1" + "0" * 20)]
)
def test_ends_of_a_scale_are_spelled_as_its_labels(value, text):
    assert number_text(value) == text
