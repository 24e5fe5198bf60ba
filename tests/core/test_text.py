"""Text of other people's files: read as UTF-8, and fit for a terminal and a page."""

import unicodedata

import pytest

from judgerel_ray.core import SweepError, decoded, printable

KEPT = ["naïve", "日本語", "a\u00a0b", "👩\u200d🚀", "می\u200cخواهم", "e\u0301", "\\x1b", "–±≥"]
ACTING = {
    "\x1b[2J": r"\x1b[2J",
    "\x9b2J": r"\x9b2J",
    "a\rb": r"a\rb",
    "\x07\x08\x7f\x00": r"\x07\x08\x7f\x00",
    "abc\u202ecba\u2066": r"abc\u202ecba\u2066",
    "a\u2028b\x85": r"a\u2028b\x85",
    "\udcff": r"\udcff",
    "\U000e0041": r"\U000e0041",
    "\ufeffid": r"\ufeffid",
}


@pytest.mark.parametrize("text", KEPT)
def test_letters_of_any_language_stay(text):
    assert printable(text) == text == printable(text, lines=True)


@pytest.mark.parametrize("text", ACTING)
def test_what_would_act_is_shown(text):
    assert printable(text) == ACTING[text] == printable(text, lines=True)
    assert printable(printable(text)) == printable(text)


def test_every_control_character_is_shown():
    every = [chr(n) for n in range(0x110000) if unicodedata.category(chr(n)) in ("Cc", "Cs")]
    assert all(printable(one).isascii() and printable(one).isprintable() for one in every)
    assert [one for one in every if printable(one, lines=True) == one] == ["\t", "\n"]


def test_lines_stay_in_a_whole_text_alone():
    assert printable("a\nb\tc") == r"a\nb\tc"
    assert printable("a\r\nb\tc\rd", lines=True) == "a\nb\tc\\rd"


def test_only_utf8_is_read():
    assert decoded(b"\xef\xbb\xbfa\r\nb\rc") == "a\r\nb\rc"
    assert decoded(b"a\r\nb\rc", lines=True) == "a\nb\nc"
    assert decoded(b"") == ""
    with pytest.raises(SweepError, match=r"byte 0xff at offset 4 \[file=f\]"):
        decoded(b"\xef\xbb\xbfa\xff", where={"file": "f"})
