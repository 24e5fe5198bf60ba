"""Scales of ratings: the four that ship, and files of one's own.

A scale file is TOML with ``level`` (``nominal``, ``ordinal`` or ``interval``) and either
``labels``, words from lowest to highest, or the numbers ``lowest`` and ``highest``, with
``decimals = true`` where any number between them may be given. A scale is named after its file.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import get_args
from unicodedata import normalize

from judgerel_ray.core import Scale, ScaleLevel, SweepError
from judgerel_ray.protocols.criteria import check_keys, listed, read_wording, shipped_wordings
from judgerel_ray.protocols.replies.mentions import find_number, is_mark, number_text, without_marks

_KEYS = ("level", "labels", "lowest", "highest", "decimals")
_LEVELS: tuple[ScaleLevel, ...] = get_args(ScaleLevel)
_MOST_VALUES = 1001
_LONGEST = 60  # characters of a label
_LETTER = r"(?:[^\W\d_]|[0-9])"
# The reader takes at most five blanks and hyphens between two words for a gap.
_LABEL = re.compile(rf"(?!.*[ _-]{{6}}){_LETTER}(?:(?:{_LETTER}|[_ '’&,/-]){{0,58}}{_LETTER})?")


def load_scale(name_or_path: str) -> Scale:
    """Load a shipped scale by name, or any scale file by path.

    Parameters
    ----------
    name_or_path : str
        As of :func:`judgerel_ray.protocols.load_criterion`.

    Returns
    -------
    Scale
        Named after its file.

    Raises
    ------
    SweepError
        If there is no such scale, or its file is wrong.

    Examples
    --------
    >>> load_scale("likert5").labels[-1], load_scale("points10").highest
    ('Strongly Agree', 10.0)
    """
    name, content, where = read_wording("scales", name_or_path)
    check_keys(content, _KEYS, where)
    level = content.get("level")
    if level not in _LEVELS:
        raise SweepError(
            f"level must be one of {listed(_LEVELS)}, got {level!r}",
            where=where,
            hint='"ordinal" where only the order of the values is meant',
        )
    build = _reply_scale_of_words if "labels" in content else _reply_scale_of_numbers
    scale = build(name, level, content, where)
    if name != name_or_path and name in shipped_scales() and scale != load_scale(name):
        raise SweepError(
            f"{name} is the name of a scale that ships and is another",
            where=where,
            hint="give the file a name of its own",
        )
    return scale


def shipped_scales() -> tuple[str, ...]:
    """Names of the scales that come with the package.

    Examples
    --------
    >>> shipped_scales()
    ('binary', 'likert5', 'points10', 'points5')
    """
    return shipped_wordings("scales")


def scale_values(scale: Scale) -> tuple[float, ...] | None:
    """Every score a rating may have, from lowest to highest; None where decimals may be given.

    Examples
    --------
    >>> scale_values(load_scale("points5")), scale_values(load_scale("binary"))
    ((1.0, 2.0, 3.0, 4.0, 5.0), (0.0, 1.0))
    """
    if scale.labels:
        return tuple(float(place) for place in range(len(scale.labels)))
    if scale.decimals:
        return None
    return tuple(float(value) for value in range(int(scale.lowest), int(scale.highest) + 1))


def scale_labels(scale: Scale) -> tuple[str, ...]:
    """Canonical text of every value, from lowest to highest; empty where decimals may be given.

    Examples
    --------
    >>> scale_labels(load_scale("points5")), scale_labels(load_scale("binary"))
    (('1', '2', '3', '4', '5'), ('No', 'Yes'))
    """
    if scale.labels:
        return scale.labels
    return tuple(number_text(value) for value in scale_values(scale) or ())


def score_of(label: str, scale: Scale) -> float | None:
    """Score of a value by its canonical text; None where the scale has no such value.

    Examples
    --------
    >>> score_of("Agree", load_scale("likert5")), score_of("4", load_scale("points5"))
    (3.0, 4.0)
    >>> score_of("6", load_scale("points5")) is None
    True
    """
    if scale.labels:
        return float(scale.labels.index(label)) if label in scale.labels else None
    number = find_number(label, 0)
    if number is None or number != (label, len(label)):
        return None
    exact = Decimal(label)
    on_it = Decimal(repr(scale.lowest)) <= exact <= Decimal(repr(scale.highest))
    return float(label) if on_it and (scale.decimals or "." not in label) else None


def folded_label(label: str) -> str:
    """Spell a word as the reader tells words apart: in any case, blanks and hyphens at will."""
    return re.sub(r"[\s_-]+", "", normalize("NFC", label).casefold())


def _reply_scale_of_words(
    name: str, level: ScaleLevel, content: dict[str, object], where: dict[str, object]
) -> Scale:
    """A checked scale of words."""
    beside = [key for key in ("lowest", "highest", "decimals") if key in content]
    if beside:
        raise SweepError(
            f"a scale has labels or numbers, got labels and {listed(beside)}",
            where=where,
            hint=f"leave out {listed(beside)}, or labels",
        )
    labels = content["labels"]
    texts = (
        [normalize("NFC", label) for label in labels if isinstance(label, str)]
        if isinstance(labels, list)
        else []
    )
    if not isinstance(labels, list) or len(texts) != len(labels) or len(texts) < 2:
        raise SweepError(
            f"labels must be at least 2 texts from lowest to highest, got {labels!r}",
            where=where,
            hint='labels = ["No", "Yes"]',
        )
    seen: dict[str, str] = {}
    for label in texts:
        number = find_number(label, 0)
        if number is not None and number[1] == len(label):
            raise SweepError(
                f"labels must be words, got the number {label!r}",
                where=where,
                hint="lowest = 1, highest = 5",
            )
        # Vowel signs and tone marks belong to the letters that they stand on.
        if is_mark(label, 0) or not _LABEL.fullmatch(without_marks(label)) or len(label) > _LONGEST:
            raise SweepError(
                "a label must be at most 60 letters, digits, blanks and - ' & , /, no more than 5 "
                f"blanks and hyphens in a row, between letters or digits, got {label!r}",
                where=where,
            )
        folded = folded_label(label)
        if folded in seen:
            how = "twice" if seen[folded] == label else f"beside {seen[folded]!r}"
            raise SweepError(
                f"labels must differ in more than case, blanks and hyphens, got {label!r} {how}",
                where=where,
                hint="leave one out",
            )
        seen[folded] = label
    return Scale(name=name, level=level, labels=tuple(texts))


def _reply_scale_of_numbers(
    name: str, level: ScaleLevel, content: dict[str, object], where: dict[str, object]
) -> Scale:
    """A checked scale of numbers."""
    if "lowest" not in content and "highest" not in content:
        raise SweepError(
            "a scale needs labels, or lowest and highest",
            where=where,
            hint='labels = ["No", "Yes"], or lowest = 1 and highest = 5',
        )
    decimals = content.get("decimals", False)
    if not isinstance(decimals, bool):
        raise SweepError(f"decimals must be true or false, got {decimals!r}", where=where)
    lowest, highest = (
        _reply_scale_end(content, key, decimals, where) for key in ("lowest", "highest")
    )
    if lowest >= highest:
        raise SweepError(
            f"lowest must be below highest, got {number_text(lowest)} and {number_text(highest)}",
            where=where,
        )
    if not decimals and highest - lowest + 1 > _MOST_VALUES:
        raise SweepError(
            f"a scale of whole numbers has at most {_MOST_VALUES} values, "
            f"got {number_text(lowest)} to {number_text(highest)}",
            where=where,
            hint="decimals = true",
        )
    return Scale(name=name, level=level, lowest=lowest, highest=highest, decimals=decimals)


def _reply_scale_end(
    content: dict[str, object], key: str, decimals: bool, where: dict[str, object]
) -> float:
    """One end of a scale of numbers."""
    value = content.get(key)
    kind = "a number" if decimals else "a whole number"
    # A boolean is an int to Python.
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not isinstance(value, int | float) or not math.isfinite(float(value)):
        raise SweepError(f"{key} must be {kind}, got {value!r}", where=where)
    if not decimals and value != int(value):
        raise SweepError(
            f"{key} must be a whole number, got {value!r}", where=where, hint="decimals = true"
        )
    if find_number(number_text(value), 0) != (number_text(value), len(number_text(value))):
        raise SweepError(f"{key} must have at most 15 digits, got {value!r}", where=where)
    return float(value)
