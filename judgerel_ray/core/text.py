"""Text of other people's files: read as UTF-8, and fit for a terminal and a page."""

from __future__ import annotations

import re
from collections.abc import Mapping

from judgerel_ray.core.errors import SweepError

_BOM = b"\xef\xbb\xbf"
# UTF-32 first: its mark begins with that of UTF-16.
_OTHERS = (
    (b"\xff\xfe\0\0", "UTF-32"),
    (b"\0\0\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)

# What terminals take for orders, what turns or hides the text around it, and halves of characters:
# C0 and C1 controls, line and paragraph separators, directional marks and overrides, tags, lone
# surrogates. Joiners of emoji and of Arabic or Indic letters stay.
_ACTING = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def decoded(
    content: bytes, *, where: Mapping[str, object] | None = None, lines: bool = False
) -> str:
    r"""Read UTF-8 text; a byte-order mark at its start is dropped.

    Parameters
    ----------
    content : bytes
        A whole file.
    where : mapping, optional
        What locates it in the error.
    lines : bool
        Whether the lines of every system end as ours do.

    Raises
    ------
    SweepError
        If it is in another encoding (UTF-16 is named), or a byte is not UTF-8 (its offset from 0
        is named).

    Examples
    --------
    >>> decoded(b"\xef\xbb\xbfname = 1")
    'name = 1'
    >>> decoded("name".encode("utf-16"))
    Traceback (most recent call last):
    ...
    judgerel_ray.core.errors.SweepError: not UTF-8 text, it is UTF-16. Try: save it as UTF-8
    """
    hint = "save it as UTF-8"
    mark = next((name for mark, name in _OTHERS if content.startswith(mark)), None)
    # Without a mark, letters of a script of ours come with a zero byte each.
    if mark is None and content[:2].count(0) == 1 and content[:64].count(0) * 3 > len(content[:64]):
        mark = "UTF-16"
    if mark:
        raise SweepError(f"not UTF-8 text, it is {mark}", where=where, hint=hint)
    start = len(_BOM) if content.startswith(_BOM) else 0
    try:
        text = content[start:].decode()
    except UnicodeDecodeError as error:
        offset = error.start + start
        raise SweepError(
            f"not UTF-8 text: byte {content[offset]:#04x} at offset {offset}",
            where=where,
            hint=hint,
        ) from error
    return text.replace("\r\n", "\n").replace("\r", "\n") if lines else text


def printable(text: str, *, lines: bool = False) -> str:
    r"""Show characters that would act on a terminal or a page as escapes.

    Parameters
    ----------
    text : str
        Anything: an id, a verdict, the message of an error.
    lines : bool
        Whether line ends and tabs stay, as of a whole text; else they are shown, too.

    Returns
    -------
    str
        The same text where nothing acts; it is made once, however often it is asked for.

    Examples
    --------
    >>> print(printable("q\x1b[2J\n"), printable("naïve 日本 👩‍🚀"))
    q\x1b[2J\n naïve 日本 👩‍🚀
    """
    if text.isascii() and text.isprintable():
        return text
    if lines:
        text = text.replace("\r\n", "\n")
    kept = "\n\t" if lines else ""
    return _ACTING.sub(lambda one: one[0] if one[0] in kept else _escape(one[0]), text)


def _escape(character: str) -> str:
    """A character as Python writes it."""
    return ascii(character)[1:-1]
