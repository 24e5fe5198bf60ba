"""What the start of a rating may still become: nothing is ruled out that a reader could read."""

from __future__ import annotations

import re
from unicodedata import normalize

from judgerel_ray.core import Scale
from judgerel_ray.protocols.numerals import NUMBER_WORDS
from judgerel_ray.protocols.scales import scale_labels

_MARKS = " \t\r\n*_`\"'\\"
_DIGITS = re.compile(r"0*([0-9]*)")
_SIGNS = ("+", "-", ".")


def may_be_rating(text: str, scale: Scale) -> bool:
    """Whether what brackets hold so far may go on to a value of a scale, or is one.

    Parameters
    ----------
    text : str
        From the opening brackets on.
    scale : Scale
        Of words, or of whole numbers.

    Returns
    -------
    bool
        False only where no continuation is read as a value.

    Examples
    --------
    >>> from judgerel_ray.protocols.scales import load_scale
    >>> ten, words = load_scale("points10"), load_scale("likert5")
    >>> [may_be_rating(text, ten) for text in ("", "1", "fo", "42", "good")]
    [True, True, True, False, False]
    >>> [may_be_rating(text, words) for text in ("strongly-", "Agree", "4", "Quite")]
    [True, True, False, False]
    """
    written = text.lstrip(_MARKS)
    # Letters of other scripts have spellings of their own: wide digits, other cases.
    if not written or not written.isascii():
        return True
    if scale.labels:
        return any(_shares_start(_bare(written), _bare(label)) for label in _words(scale))
    if written[0] in _SIGNS:
        return True
    if written[0].isdigit():
        found = _DIGITS.match(written)
        begun = found[1] if found else ""
        return any(label.lstrip("-").startswith(begun) for label in scale_labels(scale))
    return any(_shares_start(_bare(written), _bare(word)) for word in NUMBER_WORDS)


def _words(scale: Scale) -> tuple[str, ...]:
    """Words of a scale, and what may be said in place of its middle, which is not on it."""
    return (*scale.labels, "neutral", "neither agree nor disagree")


def _bare(text: str) -> str:
    """A text without case, blanks and hyphens, marks behind the letters that they stand on."""
    return normalize("NFD", re.sub(r"[\s*_-]+", "", text).casefold())


def _shares_start(one: str, other: str) -> bool:
    """Whether one of two texts begins the other."""
    return one.startswith(other) or other.startswith(one)
