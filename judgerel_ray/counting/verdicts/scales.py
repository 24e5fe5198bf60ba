"""Scales of ratings, by the names in judgments: their level, and what may be rated on them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import get_args

import polars as pl

from judgerel_ray.core import Scale, ScaleLevel

SCALE = "scale"
WEAKEST_FIRST: tuple[ScaleLevel, ...] = get_args(ScaleLevel)
"""Levels of scales, each of which also allows what the ones before it allow."""


def scale_names(rows: pl.DataFrame) -> tuple[str, ...]:
    """Names of the scales in a column ``scale``, sorted; none where there is no such column.

    Examples
    --------
    >>> scale_names(pl.DataFrame({"scale": ["points5", None, "binary"]}))
    ('binary', 'points5')
    """
    if SCALE not in rows.columns:
        return ()
    return tuple(map(str, rows[SCALE].drop_nulls().unique().sort().to_list()))


def known_scale(name: str, declared: Mapping[str, Scale] | None = None) -> Scale | None:
    """Find a scale by its name: one of those declared, or one that ships.

    Examples
    --------
    >>> known_scale("likert5").level, known_scale("stars")
    ('ordinal', None)
    """
    return (declared or {}).get(name) or _shipped_verdict_scales().get(name)


def level_of_scales(
    names: Sequence[str],
    verdicts: Iterable[str] = (),
    declared: Mapping[str, Scale] | None = None,
) -> ScaleLevel:
    """Tell the level of ratings on some scales, the weakest of theirs; interval of none.

    A scale that nobody declared is ordinal where it is called Likert or rated in words, and
    interval where it is rated in numbers.

    Examples
    --------
    >>> level_of_scales(["points5"]), level_of_scales(["points5", "likert5"])
    ('interval', 'ordinal')
    >>> level_of_scales(["stars"], ["1", "2.5"]), level_of_scales(["stars"], ["Poor", "Good"])
    ('interval', 'ordinal')
    """
    words = not all(_is_verdict_number(text) for text in verdicts)
    levels: list[ScaleLevel] = []
    for name in names:
        known = known_scale(name, declared)
        if known is None:
            levels.append("ordinal" if words or "likert" in name.lower() else "interval")
        else:
            levels.append(known.level)
    return min(levels, key=WEAKEST_FIRST.index, default="interval")


def values_on(
    names: Sequence[str], declared: Mapping[str, Scale] | None = None
) -> tuple[int, tuple[float, ...]] | None:
    """Tell how many different ratings some scales allow, and all their scores.

    Examples
    --------
    >>> values_on(["likert5"]), values_on(["binary", "points5"])[0]
    ((5, (0.0, 1.0, 2.0, 3.0, 4.0)), 7)
    >>> values_on(["stars"]) is None
    True
    """
    if not names:
        return None
    from judgerel_ray.protocols.replies.scales import scale_labels, scale_values

    labels: set[str] = set()
    scores: set[float] = set()
    for name in names:
        known = known_scale(name, declared)
        values = scale_values(known) if known else None
        if known is None or values is None:
            return None
        labels.update(scale_labels(known))
        scores.update(values)
    return len(labels), tuple(sorted(scores))


def scale_scores(scale: Scale) -> dict[str, float] | None:
    """Score of every value of a scale by its canonical text; None where decimals may be given.

    Examples
    --------
    >>> binary = known_scale("binary")
    >>> scale_scores(binary)
    {'No': 0.0, 'Yes': 1.0}
    """
    from judgerel_ray.protocols.replies.scales import scale_labels, scale_values

    values = scale_values(scale)
    return None if values is None else dict(zip(scale_labels(scale), values, strict=True))


def scored_kinds(
    kinds: pl.DataFrame, names: Sequence[str], declared: Mapping[str, Scale] | None = None
) -> pl.DataFrame:
    """Add the scores of verdicts on the one scale they are on, to those that have none.

    Examples
    --------
    >>> kinds = pl.DataFrame({"verdict": ["Agree", None], "score": [None, None]},
    ...                      schema_overrides={"score": pl.Float64})
    >>> scored_kinds(kinds, ["likert5"])["score"].to_list()
    [3.0, None]
    """
    scale = known_scale(names[0], declared) if len(names) == 1 else None
    values = scale_scores(scale) if scale else None
    if not values or not kinds["score"].null_count():
        return kinds
    scores = pl.col("verdict").replace_strict(values, default=None, return_dtype=pl.Float64)
    return kinds.with_columns(score=pl.coalesce("score", scores))


def reading_order(columns: Iterable[str], scales: Sequence[str] = ()) -> list[pl.Expr]:
    """Give what groups of ratings are sorted by, as a reader goes through them.

    Examples
    --------
    >>> rows = pl.DataFrame({"definition": ["long", "none", "short", None]})
    >>> rows.sort(reading_order(["definition"]))["definition"].to_list()
    ['none', 'short', 'long', None]
    """
    from judgerel_ray.protocols.criteria import DEFINITION_LENGTHS

    orders = {"definition": DEFINITION_LENGTHS, SCALE: tuple(scales)}
    found: list[pl.Expr] = []
    for name in columns:
        if order := orders.get(name):
            text = pl.col(name).cast(pl.String)
            found.append(text.replace_strict(order, range(len(order)), default=len(order)))
        found.append(pl.col(name))
    return found


@lru_cache(maxsize=1)
def _shipped_verdict_scales() -> dict[str, Scale]:
    """Scales that come with the package, by name; imported where a row names one."""
    from judgerel_ray.protocols.replies.scales import load_scale, shipped_scales

    return {name: load_scale(name) for name in shipped_scales()}


def _is_verdict_number(text: str) -> bool:
    """Whether a verdict is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True
