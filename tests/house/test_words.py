"""Words that make a reader stumble, and what to write instead."""

from __future__ import annotations

import re
import tokenize
from io import StringIO

import pytest

INSTEAD = {
    r"\bdealt\b|\bdeals\b|\bdealing\b(?! with)|\bdeal\b(?! with)": "permuted, shuffled across",
    r"\bendless": "the limit of infinitely many; any number of; very long",
    r"\bof one mind\b": "agree",
    r"\bwhole intervals\b": "the whole confidence interval must meet it",
    r"(?<!for line )(?<!for row )\bin lines\b(?! of)": "as text",
    r"\bwhoever is asked first first\b": "in asking order",
}
"""A pattern of what is not written, and what is."""

LEFT = (
    # Until these rooms, which are being rewritten, have been read over.
    "judgerel_ray/__init__.py",
    "judgerel_ray/asking/",
    "judgerel_ray/cli/",
    "judgerel_ray/counting/",
    "judgerel_ray/report",
)


def banned(path: str, text: str) -> list[str]:
    """What comments, docstrings, messages and names of a module say that they should not."""
    read = (tokenize.COMMENT, tokenize.STRING, tokenize.NAME)
    read = (*read, *(kind for name in ("FSTRING_MIDDLE",) if (kind := getattr(tokenize, name, 0))))
    return [
        f"{path}:{token.start[0]} {found[0]!r}: {instead}"
        for token in tokenize.generate_tokens(StringIO(text).readline)
        if token.type in read
        for pattern, instead in INSTEAD.items()
        if (found := re.search(pattern, token.string.replace("_", " "), re.IGNORECASE))
    ]


def test_nothing_is_said_in_words_that_readers_stumble_over(package):
    faults = [
        fault
        for module in package
        if not module.path.startswith(LEFT)
        for fault in banned(module.path, module.text)
    ]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(
    "line",
    [
        "'scores dealt to the items'",
        "# a random deal",
        "'''Coefficients of endless replications.'''",
        "'judged by whole intervals'",
        "'a plan in lines: what is asked'",
        "f'{x} of one mind'",
        "dealt_moments = 1",
    ],
)
def test_they_are_found(line):
    (fault,) = banned("m.py", line + "\n")
    assert fault.startswith("m.py:1 ")


@pytest.mark.parametrize(
    "line",
    ["# to deal with it", "'in lines of their own'", "# a whole interval", "[a for b in lines]"],
)
def test_plain_words_pass(line):
    assert banned("m.py", line + "\n") == []
