"""Values that are not of one list: verdicts of a question's own, scores on two scales.

Of such values chance, and how far apart two of them are, is not what a coefficient takes it for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median

import polars as pl

from judgerel_ray.counting.nesting import N, UnitRows
from judgerel_ray.counting.verdicts.places import is_tie
from judgerel_ray.counting.verdicts.policy import SCORED
from judgerel_ray.counting.verdicts.scales import SCALE
from judgerel_ray.counting.verdicts.spelling import folded

ITEM = "item_id"
_TWO = 2
_SHOWN = 3  # names told
_MOST_UNITS = 500_000  # above them nothing is looked for: it takes a tenth of a second
_APART = ("judge", "role", "benchmark", "protocol", "criterion", "definition", "scale")
"""Columns in each of whose values verdicts may have names of their own."""
_FEW_QUESTIONS, _MANY_PAIRS = 10, 20
_CARRYING = 0.4  # share of questions with two verdicts or more: of a sure judge they are few
_NEARLY_ALL = 0.9  # share of questions in one group: the others are strays
_MENU_SIZES = 8  # verdicts of a file, more than ratings in words have
_MENUS = tuple(
    frozenset(words.split())
    for words in (
        "pass fail",
        "yes no",
        "true false",
        "correct incorrect",
        "right wrong",
        "0 1",
        "good bad",
        "a b",
        "1 2",
        "win loss",
        "accept reject",
        "safe unsafe",
    )
)
"""Answers to two choices. Two groups of grades may be one list's ends: A>B, A>>B and B>A, B>>A."""
_RATED = r"^[0-9.]+ ?(%|/ ?[0-9.]+)?$"
_PART = "__part"
_VERDICT = "__verdict"
_NAMED_ALIKE = (
    "chance agreement is computed from all verdicts pooled, so even guessing gets a high alpha and "
    "high kappas; use the same verdict names for all questions (for a choice, its place or label)"
)


def verdicts_by_question(nested: UnitRows) -> Iterator[str]:
    """Say that questions have verdicts of their own, so that chance is less than it seems.

    Questions that all replies answer in one way prove nothing. A tie is of every question.

    Examples
    --------
    >>> from judgerel_ray.counting.groups.tally import tally_judgments
    >>> rows = [{"item_id": f"q{n}", "verdict": one} for n in range(12)
    ...         for one in (("pass", "fail") if n % 2 else ("yes", "no"))]
    >>> nested = tally_judgments(pl.LazyFrame(rows)).nested
    >>> print(*verdicts_by_question(nested))  # doctest: +ELLIPSIS
    2 groups of questions share no verdict ('fail', 'pass'; 'no', 'yes'): chance agreement is ...
    """
    named = nested.seen().filter(SCORED, ~is_tie(), pl.col("verdict").is_not_null())
    if nested.units.height > _MOST_UNITS or named["verdict"].n_unique() < 2 * _TWO:
        return
    rated = folded(pl.col("verdict")).str.contains(_RATED)
    if named["score"].count() or named.select(rated.all()).item():
        return  # ratings, which lie as far apart as their numbers
    there = [name for name in _APART if name in nested.units.columns]
    rows = nested.long([*there, ITEM]).filter(SCORED, ~is_tie(), pl.col("verdict").is_not_null())
    coded = {_PART: (*there,), ITEM: (*there, ITEM), _VERDICT: (*there, "verdict")}
    asked = rows.select(
        "verdict", N,
        *(pl.struct(pl.lit(0), *names).rank("dense").cast(pl.Int64).alias(name)
          for name, names in coded.items()),
    ).filter(pl.col(N).sum().over(ITEM) > 1)  # fmt: skip
    if asked.is_empty():
        return
    if line := _shares_no_verdict(asked) or _of_pairs(asked):
        yield line


def _shares_no_verdict(asked: pl.DataFrame) -> str | None:
    """The line of groups of questions that verdicts of two kinds or more are said in."""
    group = _linked(asked[ITEM], asked[_VERDICT]).alias("group")
    groups = asked.with_columns(group).group_by(_PART, "group").agg(
        pl.col(ITEM).n_unique(), pl.col("verdict").unique().sort()
    )  # fmt: skip
    several = pl.col("verdict").list.len() > 1
    parts = groups.group_by(_PART).agg(
        n=several.sum(), of=pl.col(ITEM).sum(), items=pl.col(ITEM).filter(several).sum(),
        most=pl.col(ITEM).max(),
        verdicts=pl.col("verdict").filter(several).sort(),
    ).filter(
        pl.col("n") > 1, pl.col("of") >= _FEW_QUESTIONS,
        pl.col("items") >= _CARRYING * pl.col("of"),
        pl.col("most") <= _NEARLY_ALL * pl.col("of"),
    ).sort("n", _PART, descending=[True, False])  # fmt: skip
    if parts.is_empty():
        return None
    n, verdicts = parts["n"][0], parts["verdicts"][0].to_list()
    words = pl.Series([one for group in verdicts for one in group])
    if n == _TWO and not any(_is_menu(group) for group in verdicts):
        return None
    if n > _TWO and words.n_unique() < _MENU_SIZES:
        return None
    some = "; ".join(", ".join(map(repr, one[:_SHOWN])) for one in verdicts[:_TWO])
    return (
        f"{n:,} groups of questions share no verdict ({some}{'; ...' * (n > _TWO)}): "
        f"{_NAMED_ALIKE}, or split the file"
    )


def _is_menu(verdicts: Sequence[str]) -> bool:
    """Whether verdicts are answers to a choice of two."""
    words = pl.DataFrame({"verdict": verdicts}).select(folded(pl.col("verdict"))).to_series()
    return frozenset(words.str.to_lowercase()) in _MENUS


def _of_pairs(asked: pl.DataFrame) -> str | None:
    """The line of questions each of which has two verdicts of many, as names of what it compares.

    Judges that err among many verdicts find a third one somewhere. Of grades, neighbors are met
    alone, so that there are about as many pairs as grades.
    """
    items = asked.group_by(_PART, ITEM).agg(
        pl.len().alias("named"), pl.col(N).sum(), pair=pl.col(_VERDICT).sort()
    )
    items = items.filter(pl.col(N) > _TWO)
    named = asked.group_by(_PART).agg(pl.col("verdict").n_unique().alias("named"))
    two = pl.col("named") == _TWO
    parts = items.group_by(_PART).agg(
        most=pl.col("named").max(), share=two.mean(), two=two.sum(),
        pairs=pl.col("pair").filter(two).n_unique(),
    )  # fmt: skip
    parts = parts.join(named, on=_PART).filter(
        pl.col("most") == _TWO, pl.col("share") >= _CARRYING, pl.col("two") >= _MANY_PAIRS,
        pl.col("named") >= _MENU_SIZES, pl.col("pairs") > _TWO * pl.col("named"),
    ).sort("named", _PART, descending=[True, False])  # fmt: skip
    if parts.is_empty():
        return None
    return f"no question has more than 2 of the {parts['named'][0]:,} verdicts: {_NAMED_ALIKE}"


def _linked(items: pl.Series, verdicts: pl.Series) -> pl.Series:
    """Number the groups in which verdicts link items, row by row; both are numbers from 1 on."""
    import numpy as np
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    first, second = items.to_numpy(), verdicts.to_numpy() + int(items.to_numpy().max())
    size = int(second.max()) + 1
    links = coo_array((np.ones(len(first), dtype=np.int8), (first, second)), shape=(size, size))
    return pl.Series(connected_components(links, directed=False)[1][first])


_FAR, _VERY_FAR = 3, 20  # times the top of the lower heap, and its steps; of two scores alone
_FEW_RATINGS = 0.1  # share of the ratings of either scale: fewer are outliers
_MOST_SCORES = 200  # of ratings; more are measurements


def scores_of_two_scales(nested: UnitRows) -> Iterator[str]:
    """Say that scores of one judge lie in two heaps with steps of their own: 1 to 5, 20 to 100.

    A judge may rate at both ends of one scale. So the lower heap must look like a scale of its own,
    in whole steps from 0 or 1 on, and the upper like the same drawn out.

    Examples
    --------
    >>> from judgerel_ray.counting.groups.tally import tally_judgments
    >>> rows = {"item_id": list("qrstuv"), "score": [1.0, 2.0, 5.0, 20.0, 60.0, 100.0]}
    >>> nested = tally_judgments(pl.LazyFrame(rows)).nested
    >>> print(*scores_of_two_scales(nested))  # doctest: +ELLIPSIS
    scores may be of two scales: 1 to 5 (3) and 20 to 100 (3), and none between them; ...
    """
    if nested.units.height > _MOST_UNITS or nested.seen()["score"].n_unique() < 2 * _TWO:
        return
    there = [name for name in _APART if name in nested.units.columns]
    rated = nested.long(there).filter(SCORED, pl.col("score").is_not_null())
    counted = rated.group_by(*there, "score").agg(pl.col(N).sum()).sort(*there, "score")
    for part in counted.partition_by(there, maintain_order=True) if there else [counted]:
        if SCALE in there and part[SCALE][0] is not None:
            continue  # all are on the scale that is named; what is off it is said of it
        found = _two_heaps(part["score"].to_list(), part[N].to_list())
        if found is not None:
            low, high = found
            yield (
                f"scores may be of two scales: {low} and {high}, and none between them; counted as "
                "written; rate on one scale, or name that of each row in a column scale"
            )
            return


def _two_heaps(scores: list[float], numbers: list[int]) -> tuple[str, str] | None:
    """The ends and ratings of two heaps of sorted scores, the upper in steps as far as it lies."""
    if len(scores) > _MOST_SCORES:
        return None
    for k in range(_TWO, len(scores) - _TWO + 1):
        low, high = scores[:k], scores[k:]
        below, above = sum(numbers[:k]), sum(numbers[k:])
        far = _FAR if min(len(low), len(high)) > _TWO else _VERY_FAR
        if not high[0] >= far * low[-1] > 0:
            continue
        if low[0] not in (0, 1) or high[-1] % low[-1] or any(one % 1 for one in low):
            continue
        step, far_step = (median(b - a for a, b in pairwise(one)) for one in (low, high))
        if far_step >= far * step and min(below, above) >= _FEW_RATINGS * (below + above):
            heaps = ((low, below), (high, above))
            first, second = (f"{one[0]:g} to {one[-1]:g} ({n:,})" for one, n in heaps)
            return first, second
    return None
