"""Missing verdicts, scales and their levels: what a row counts as, and what rows of results hold.

``category`` makes every outcome without a verdict a value of its own; ``drop`` makes those rows
missing; ``bounds`` asks what the worst and the best of all answers in their place would make of a
coefficient. A ``failed`` request is missing under all three: it says nothing about the judge.

Scales of ratings are known by their names in judgments: their level, and what may be rated on them.

A row of results is one quantity: its value, its interval, how many it rests on, and how it was had.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Literal, cast, get_args

import polars as pl

from judgerel_ray.core import Outcome, Scale, ScaleLevel
from judgerel_ray.core.codes import ALIKE, Flag, IntervalMethod, Noted
from judgerel_ray.stats import Interval, Level, NoiseFloor

Missing = Literal["category", "drop", "bounds"]
MISSING: tuple[Missing, ...] = ("category", "drop")
"""Policies shown where none is asked for."""
POLICIES: tuple[Missing, ...] = (*MISSING, "bounds")

SCORED = pl.col("outcome") == Outcome.SCORED.value
FAILED = pl.col("outcome") == Outcome.FAILED.value
SCALE = "scale"
NEEDS_NOMINAL = "category_needs_nominal"
"""Why a number is undefined that counts missing verdicts as a category: of scores none is one."""
WEAKEST_FIRST: tuple[ScaleLevel, ...] = get_args(ScaleLevel)
"""Levels of scales, each of which also allows what the ones before it allow."""
_TWO = 2  # of two values all levels agree
LABEL = pl.coalesce(pl.col("verdict"), pl.col("score").cast(pl.String))


def value_of(policy: Missing) -> pl.Expr:
    """Give the nominal value of a row under a policy, null where it is missing.

    Examples
    --------
    >>> rows = pl.DataFrame({"verdict": ["A", None], "score": [None, None],
    ...                      "outcome": ["scored", "unparsed"]}, schema_overrides={"score": float})
    >>> rows.select(value_of("category")).to_series().to_list()
    ['=A', 'unparsed']
    >>> rows.select(value_of("drop")).to_series().to_list()
    ['=A', None]
    """
    # The sign keeps a verdict called "unparsed" apart from the outcome.
    verdict = pl.when(SCORED).then(pl.lit("=") + LABEL)
    return verdict.when(~FAILED).then(pl.col("outcome")) if policy == "category" else verdict


def outcomes_without_verdict(rows: pl.DataFrame) -> int:
    """Count the outcomes without a verdict that occur: under ``category`` each is one value more.

    Examples
    --------
    >>> rows = {"outcome": ["scored", "unparsed", "refused", "unparsed", "failed"]}
    >>> outcomes_without_verdict(pl.DataFrame(rows))
    2
    """
    return rows.filter(~SCORED & ~FAILED)["outcome"].n_unique()


def number_of_row() -> pl.Expr:
    """Give the score of a row, null where it is missing.

    Examples
    --------
    >>> rows = pl.DataFrame({"score": [3.0, None], "outcome": ["scored", "refused"]})
    >>> rows.select(number_of_row()).to_series().to_list()
    [3.0, None]
    """
    return pl.when(SCORED).then(pl.col("score"))


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


def level_of_scale(group: pl.DataFrame, scales: Mapping[str, Scale] | None = None) -> Level:
    """Tell the level of measurement of a group's own scale.

    A scale that is declared or shipped has its own level, and several have the weakest of theirs
    (see :func:`level_of_scales`). Without such a scale,
    labels and scores of two values are nominal. A verdict without a score makes a group nominal.

    Examples
    --------
    >>> rows = pl.DataFrame({"score": [1.0, 2.0, 5.0], "outcome": ["scored"] * 3})
    >>> level_of_scale(rows), level_of_scale(rows.with_columns(scale=pl.lit("likert5")))
    ('interval', 'ordinal')
    """
    scored = group.filter(SCORED)
    if scored.is_empty() or scored["score"].null_count():
        return "nominal"
    names = scale_names(scored)
    if scored["score"].n_unique() <= _TWO and not any(known_scale(one, scales) for one in names):
        return "nominal"
    verdicts = scored["verdict"].drop_nulls().unique() if "verdict" in scored.columns else ()
    return level_of_scales(names, verdicts, scales)


NOISE_ABOVE = 0.05
REPEATABILITY, REPRODUCIBILITY = "repeatability", "reproducibility"
"""``conditions``: the same prompt again; nuisance facets drawn at random for each judgment."""
Row = dict[str, object]


def flag_columns(noted: Sequence[Noted]) -> dict[str, list[object]]:
    """Write flags as columns.

    Examples
    --------
    >>> flag_columns([(Flag.FEW_VERDICTS, (3, 40))])
    {'flags': ['few_verdicts'], 'flag_numbers': [[3.0, 40.0]]}
    """
    return {
        "flags": [flag.value for flag, _ in noted],
        "flag_numbers": [[float(one) for one in numbers] for _, numbers in noted],
    }


_NO_FLOOR = NoiseFloor(mean=None, sd=None, p=None, n_permutations=0)


def floor_columns(floor: NoiseFloor | None) -> Row:
    """Write what chance alone would give as columns, null where that is not known.

    Examples
    --------
    >>> floor_columns(NoiseFloor(mean=0.5, sd=0.1, p=0.2, n_permutations=9))["noise"]
    True
    """
    floor = floor or _NO_FLOOR
    return {
        "noise_floor": floor.mean,
        "noise_floor_sd": floor.sd,
        "p_noise": floor.p,
        "noise": None if floor.p is None else floor.p > NOISE_ABOVE,
    }


def with_flags(row: Row, noted: Sequence[Noted]) -> Row:
    """Add flags to a row that has some.

    Examples
    --------
    >>> with_flags(flag_columns([]), [(Flag.SERVING_NOISE, ())])["flags"]
    ['serving_noise']
    """
    more = flag_columns(noted)
    return {**row, **{name: [*cast(Sequence[object], row[name]), *more[name]] for name in more}}


def method_columns(
    statistic: str,
    interval: Interval | None = None,
    floor: NoiseFloor | None = None,
    *,
    alike: str = ALIKE,
    noted: Sequence[Noted] = (),
) -> Row:
    """Write how a number was made, as :class:`judgerel_ray.core.tables.MethodColumns`.

    Examples
    --------
    >>> method_columns("nominal alpha", Interval(undefined="too_few_units"))["no_interval"]
    'too_few_units'
    """
    interval = interval or Interval(undefined="undefined")
    made = None if interval.undefined else interval.kind
    why = None if interval.undefined == "undefined" else interval.undefined
    flags: list[Noted] = []
    if interval.few_informative:
        flags.append((Flag.FEW_INFORMATIVE, ()))
    elif interval.carried_by_few:
        flags.append((Flag.CARRIED_BY_FEW, (interval.n_effective or 0.0, interval.n_questions)))
    if interval.biased:
        flags.append((Flag.BIASED, ()))
    if interval.n_undefined:
        flags.append((Flag.RESAMPLES_UNDEFINED, (interval.n_undefined,)))
    if floor and floor.n_undefined:
        flags.append((Flag.PERMUTATIONS_UNDEFINED, (floor.n_undefined,)))
    by_question = made not in (None, IntervalMethod.T_REPLICATIONS)
    return {
        "statistic": statistic,
        "standard_error": interval.standard_error,
        "interval_method": made and made.value,
        "no_interval": alike if why == ALIKE else why,
        "n_compared": interval.n_questions if by_question or why == ALIKE else None,
        "n_resamples": interval.n_resamples or None,
        "null_method": floor.kind.value if floor and floor.kind else None,
        "n_permutations": (floor.n_permutations or None) if floor else None,
        **flag_columns([*flags, *noted]),
    }
