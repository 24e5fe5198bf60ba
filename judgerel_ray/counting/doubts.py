"""Warnings about ambiguous verdicts, scores and items of input files; none changes a number.

Verdicts may be numbers, ratings off their scale, ties without a place of their own, exceptions, and
words with an explanation. Values may not be of one list: verdicts of a question's own, scores on
two scales; then chance, and how far apart two of them are, is not what a coefficient takes it for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import factorial
from shlex import quote
from statistics import median

import polars as pl

from judgerel_ray.core import Scale
from judgerel_ray.counting.columns import is_judge, is_no_value
from judgerel_ray.counting.files.delimited import TOTALS
from judgerel_ray.counting.nesting import PLACES, N, UnitRows
from judgerel_ray.counting.verdicts.places import N_OPTIONS, ORDER, SHOWN, is_tie
from judgerel_ray.counting.verdicts.policy import SCALE, SCORED, known_scale, scale_names
from judgerel_ray.counting.verdicts.spelling import folded, listed_words, says_none

_ITEM = "item_id"
SUMS_UP = pl.col(_ITEM).cast(pl.String).str.strip_chars().str.to_lowercase().is_in(TOTALS)
"""Whether a row is, by its item's name, one that sums up others."""
_TWO = 2
_MOST_ORDERED = 20
_NUMBER = "__number"
_RATING = r"^(?<number>[^%/]*[^%/ ])(?<sign> ?(?:%|/ ?(?<of>[0-9.]+)))?$"
"""A number, which a percent sign or what it is out of may follow."""
_MENU = (SHOWN, N_OPTIONS, "options", "gold")
"""Columns of a file whose verdicts name options, right or wrong ones: numbers are names there."""
LEADING = r"^[\W_]*([\w+]+)"
"""The word that a text begins with."""
_LONG = 24  # characters above which a text is no verdict of one or two words
_MOST_WORDS = 12  # verdicts that stand for the menu
_MOST_LETTERS = 40
_RAISED = r"(?i)\b(error|exception|timed? ?out|traceback|rate limit|http|status code|429|50[0-9])\b"


def doubts(nested: UnitRows, columns: tuple[str, ...]) -> Iterator[str]:
    """Say which numbers are read as names, and which are off the scale that they are said to be on.

    Examples
    --------
    >>> from judgerel_ray.counting.groups.tally import tally_judgments
    >>> rows = {"item_id": list("qrs"), "verdict": ["1", "2", "4"]}
    >>> nested = tally_judgments(pl.LazyFrame(rows)).nested
    >>> print(*doubts(nested, ("item_id", "verdict")))  # doctest: +ELLIPSIS
    all 3 different verdicts are numbers (1, 2, 4), read as names: 1 and 2 differ as much as 1 ...
    >>> rows = {"item_id": list("qr"), "score": [1.0, 9.0], "scale": ["likert5"] * 2}
    >>> nested = tally_judgments(pl.LazyFrame(rows)).nested
    >>> print(*doubts(nested, ("item_id", "score", "scale")))  # doctest: +ELLIPSIS
    1 of 2 ratings is off scale likert5, which has 0 to 4: 9 (1); counted as written; ...
    """
    judged = nested
    if "role" in nested.units.columns:
        units = nested.units.filter(is_judge(nested.units.columns))
        judged = UnitRows(units=units, kinds=nested.kinds)
    if judged.units.is_empty():
        return
    worded, rated = (judged.kinds[name].count() > 0 for name in ("verdict", "score"))
    if worded and not set(_MENU) & set(columns):
        yield from _numbers_as_names(judged)
    if worded and rated:
        yield from _of_two_minds(judged)
    if rated:
        yield from _doubt_of_lowest_scores(judged)
        yield from _scores_of_two_scales(judged)
    if worded and nested.places is None:  # else verdicts are counted by place
        yield from _verdicts_by_question(judged)
    for name in scale_names(judged.units):
        scale = known_scale(name)
        if scale is not None:
            units = judged.units.filter(pl.col(SCALE).cast(pl.String) == name)
            yield from _doubt_of_scale_ratings(UnitRows(units=units, kinds=judged.kinds), scale)


def _numbers_as_names(nested: UnitRows) -> Iterator[str]:
    """Say that all verdicts are numbers, how they are read, and what to write where they rate."""
    named = SCALE in nested.units.columns and not nested.units[SCALE].null_count()
    if named and all(known_scale(name) for name in scale_names(nested.units)):
        return  # its verdicts have scores
    scored = nested.seen.filter(SCORED)
    if scored.is_empty() or scored["verdict"].null_count() or scored["score"].count():
        return
    if not all(any(map(str.isnumeric, text)) for text in scored["verdict"]):
        return
    parts = folded(pl.col("verdict")).str.extract_groups(_RATING).struct
    number = parts["number"].cast(pl.Float64, strict=False)
    number = number / pl.coalesce(parts["of"].cast(pl.Float64, strict=False), 1.0)
    each = scored.select("verdict", number.alias(_NUMBER), sign=parts["sign"])
    signed = each["sign"].drop_nulls().len() > 0
    each = each.sort(_NUMBER, "verdict").unique(_NUMBER, keep="first", maintain_order=True)
    finite = each[_NUMBER].is_finite().fill_null(False).all()
    if each.height <= _TWO or not finite:
        return
    words = each["verdict"].str.strip_chars().to_list()
    advice, mended = "call the column score", "--column score=verdict"
    if signed:
        advice = "have them ordered"
        mended = "judgerel import table FILE --out RATINGS.parquet "
        mended += f"--order {quote(','.join(words))}" if each.height <= _MOST_ORDERED else (
            "and --order with all of them, lowest first"
        )  # fmt: skip
    yield (
        f"all {each.height:,} different verdicts are numbers ({listed_words(words)}), read as "
        f"names: {words[0]} and {words[1]} differ as much as {words[0]} and {words[-1]}; if they "
        f"are ratings, {advice} ({mended})"
    )


def _of_two_minds(nested: UnitRows) -> Iterator[str]:
    """Say which numbers are of the verdict and which of the score, where these are not the same."""
    if SCALE in nested.units.columns and nested.units[SCALE].count():
        return  # a scale says which score each of its verdicts has
    both = nested.seen.filter(SCORED).select("verdict", "score").drop_nulls().unique()
    if both.height == both["verdict"].n_unique() == both["score"].n_unique():
        return
    each = both.group_by("score").agg(pl.col("verdict").sort())
    several = each.filter(pl.col("verdict").list.len() > 1).sort("score")
    apart = ""
    if several.height:
        score, verdicts = several.row(0)
        apart = f" (score {score:g} stands beside verdicts {listed_words(verdicts)})"
    yield (
        f"a row has a verdict and a score of its own{apart}: agreement, flip rate and accuracy "
        "are of the verdict; alpha, ICC and the standard error are of the score where every row "
        "has one; leave out the column that is not meant"
    )


def _doubt_of_lowest_scores(nested: UnitRows) -> Iterator[str]:
    """Say that -1 or 0 is apart from all other scores, as programs write that there is none.

    On a scale of -1, 0 and 1, or of 0 to 5, it is not.
    """
    kinds = nested.kinds.select("score", pl.Series("n", nested.totals)).drop_nulls("score")
    counted = kinds.group_by("score").agg(pl.col("n").sum()).sort("score")
    if counted.height <= _TWO or counted["score"][0] not in (-1, 0) or counted["score"][1] < 0:
        return
    whole = (counted["score"] == counted["score"].round()).all()
    if counted["score"][0] == 0:
        step = counted["score"][1:].diff().median()
        is_far = isinstance(step, float) and counted["score"][1] > step
        if whole and is_far and counted["score"][1] >= _TWO and counted.height > _TWO + 1:
            yield (
                f"score 0 ({counted['n'][0]:,}) is apart from all others, which are "
                f"{counted['score'][1]:g} to {counted['score'][-1]:g}, as programs write that "
                "there is none; counted as written; leave cells without a score empty"
            )
        return
    if counted["score"][1] >= 1 or counted["score"][-1] > _TWO:
        yield (
            f"score -1 ({counted['n'][0]:,}) is below all others, which are "
            f"{counted['score'][1]:g} to {counted['score'][-1]:g}; counted as written; leave cells "
            "without a score empty"
        )


def _doubt_of_scale_ratings(nested: UnitRows, scale: Scale) -> Iterator[str]:
    """Say which ratings are none of their scale."""
    from judgerel_ray.counting.groups.rated import scale_ends
    from judgerel_ray.protocols.replies.scales import scale_values

    low, high = scale_ends(scale)
    number = pl.coalesce("score", pl.col("verdict").cast(pl.Float64, strict=False))
    kinds = nested.kinds.select(
        number.alias(_NUMBER), SCORED.alias("scored"), pl.Series("n", nested.totals)
    )
    rated = kinds.filter(pl.col("scored").fill_null(False))
    is_off = (pl.col(_NUMBER) < low) | (pl.col(_NUMBER) > high)
    if scale_values(scale) is not None:
        is_off |= pl.col(_NUMBER) != pl.col(_NUMBER).round()
    off = rated.filter(is_off).group_by(_NUMBER).agg(pl.col("n").sum()).sort(_NUMBER)
    n = int(off["n"].sum())
    if not n:
        return
    each = [f"{value:g} ({many:,})" for value, many in off.iter_rows()]
    yield (
        f"{n:,} of {int(rated['n'].sum()):,} ratings {'is' if n == 1 else 'are'} off scale "
        f"{scale.name}, which has {low:g} to {high:g}: {listed_words(each)}; counted as written; "
        "leave cells without a rating empty, and give your own scale another name"
    )


def ties_counted(nested: UnitRows, declared: Mapping[str, int]) -> Iterator[str]:
    """Say where a declared number of options may have a tie among them.

    It may where a tie was given, and verdicts, labels and orders fit one option less.

    Examples
    --------
    >>> from judgerel_ray.counting.groups.tally import tally_judgments
    >>> rows = {"item_id": list("qqqq"), "verdict": ["A", "B", "tie", "A"]}
    >>> nested = tally_judgments(pl.LazyFrame(rows)).nested
    >>> print(*ties_counted(nested, {"": 3}))
    n_options says 3, and verdicts name 2 at most, and tie: a tie is no option; if 3 counts it, \
write 2
    >>> list(ties_counted(nested, {"": 2}))
    []
    """
    for benchmark, n_options in declared.items():
        units = nested.units.filter(is_judge(nested.units.columns))
        if benchmark and "benchmark" in units.columns:
            units = units.filter(pl.col("benchmark").cast(pl.String) == benchmark)
        part = UnitRows(units=units, kinds=nested.kinds, places=nested.places)
        named = part.seen.filter(SCORED, pl.col("verdict").is_not_null())
        ties = named.filter(is_tie())["verdict"].unique().sort()
        if ties.is_empty() or n_options <= _TWO:
            continue
        options = named.filter(~is_tie())["verdict"].n_unique()
        if options > n_options:  # questions may have options of their own
            each = part.long(["item_id"]).filter(SCORED, pl.col("verdict").is_not_null(), ~is_tie())
            most = each.group_by("item_id").agg(pl.col("verdict").n_unique())["verdict"].max()
            options = int(str(most or 0))
        if nested.places and PLACES in units.columns:
            options = max(options, int((part.by_place().totals > 0).sum()))
        orders = units[ORDER].drop_nulls().n_unique() if ORDER in units.columns else 0
        if options < n_options and orders <= factorial(n_options - 1):
            of = f" of {benchmark}" if benchmark else ""
            yield (
                f"{N_OPTIONS}{of} says {n_options}, and verdicts name {options} at most, and "
                f"{listed_words(ties.to_list())}: a tie is no option; if {n_options} counts it, "
                f"write {n_options - 1}"
            )


_MOST_SHOWN = 3  # names told
_MOST_UNITS = 500_000  # above them nothing is looked for: it takes a tenth of a second
_APART = ("judge", "role", "benchmark", "protocol", "criterion", "definition", "scale")
"""Columns in each of whose values verdicts may have names of their own."""
_FEW_QUESTIONS, _MANY_PAIRS = 10, 20
_SAMPLED = 2_000  # units that may show that all have the same verdicts
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
_NAMED_ALIKE = (
    "chance agreement is computed from all verdicts pooled, so even guessing gets a high alpha and "
    "high kappas; use the same verdict names for all questions (for a choice, its place or label)"
)


def _verdicts_by_question(nested: UnitRows) -> Iterator[str]:
    """Say that questions have verdicts of their own, so that chance is less than it seems.

    Questions that all replies answer in one way prove nothing. A tie is of every question.
    """
    named = nested.seen.filter(SCORED, ~is_tie(), pl.col("verdict").is_not_null())
    if nested.units.height > _MOST_UNITS or named["verdict"].n_unique() < 2 * _TWO:
        return
    rated = folded(pl.col("verdict")).str.contains(_RATED)
    if named["score"].count() or named.select(rated.all()).item():
        return  # ratings, which lie as far apart as their numbers
    there = [name for name in _APART if name in nested.units.columns]
    if nested.units.height > _SAMPLED:
        begin = _verdicts_of_questions(replace(nested, units=nested.units.head(_SAMPLED)), there)
        n_parts = nested.units.select(pl.lit(0).alias(_PART), *there).n_unique()
        if _is_one_menu(begin, n_parts, named["verdict"].n_unique()):
            return
    asked = _verdicts_of_questions(nested, there)
    if asked.is_empty():
        return
    if line := _shares_no_verdict(asked) or _doubt_of_compared_names(asked):
        yield line


def _verdicts_of_questions(nested: UnitRows, there: Sequence[str]) -> pl.DataFrame:
    """How often each question has each verdict, of those asked twice, with its part of the file."""
    rows = nested.long([*there, _ITEM]).filter(SCORED, ~is_tie(), pl.col("verdict").is_not_null())
    rows = (
        rows.with_columns(pl.lit(0).alias(_PART))
        if not there
        else rows.join(
            rows.select(there).unique().sort(there).with_row_index(_PART),
            on=there,
            nulls_equal=True,
        )
    )
    return rows.filter(pl.col(N).sum().over(_PART, _ITEM) > 1)


def _is_one_menu(asked: pl.DataFrame, n_parts: int, n_verdicts: int) -> bool:
    """Whether some questions show that each part has all verdicts, linked, and three of one."""
    linked = _linked_verdicts(asked).group_by(_PART).agg(pl.len(), pl.col("group").n_unique())
    most = asked.group_by(_PART, _ITEM).len().group_by(_PART).agg(pl.col("len").max())
    is_linked = (linked["len"] == n_verdicts) & (linked["group"] == 1)
    return linked.height == n_parts and bool(is_linked.all() and (most["len"] > _TWO).all())


def _shares_no_verdict(asked: pl.DataFrame) -> str | None:
    """The line of groups of questions that verdicts of two kinds or more are said in."""
    linked = asked.join(_linked_verdicts(asked), on=[_PART, "verdict"])
    groups = linked.group_by(_PART, "group").agg(
        pl.col(_ITEM).n_unique(), pl.col("verdict").unique().sort()
    )  # fmt: skip
    several = pl.col("verdict").list.len() > 1
    parts = groups.group_by(_PART).agg(
        n=several.sum(), of=pl.col(_ITEM).sum(), items=pl.col(_ITEM).filter(several).sum(),
        most=pl.col(_ITEM).max(),
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
    if n == _TWO and not any(_are_verdicts_of_choice(group) for group in verdicts):
        return None
    if n > _TWO and words.n_unique() < _MENU_SIZES:
        return None
    some = "; ".join(", ".join(map(repr, one[:_MOST_SHOWN])) for one in verdicts[:_TWO])
    return (
        f"{n:,} groups of questions share no verdict ({some}{'; ...' * (n > _TWO)}): "
        f"{_NAMED_ALIKE}, or split the file"
    )


def _are_verdicts_of_choice(verdicts: Sequence[str]) -> bool:
    """Whether verdicts are answers to a choice of two."""
    words = pl.DataFrame({"verdict": verdicts}).select(folded(pl.col("verdict"))).to_series()
    return frozenset(words.str.to_lowercase()) in _MENUS


def _doubt_of_compared_names(asked: pl.DataFrame) -> str | None:
    """The line of questions each of which has two verdicts of many, as names of what it compares.

    Judges that err among many verdicts find a third one somewhere. Of grades, neighbors are met
    alone, so that there are about as many pairs as grades.
    """
    if asked["verdict"].n_unique() < _MENU_SIZES:
        return None
    items = asked.group_by(_PART, _ITEM).agg(
        pl.len().alias("named"), pl.col(N).sum(), pair=pl.col("verdict").sort()
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


def _linked_verdicts(asked: pl.DataFrame) -> pl.DataFrame:
    """Verdicts of each part with the number of their group: an item links those that it has."""
    groups: dict[tuple[int, str], set[tuple[int, str]]] = {}
    together = asked.group_by(_PART, _ITEM).agg(pl.col("verdict").sort())
    for part, verdicts in together.select(_PART, "verdict").unique().iter_rows():
        met = [groups.setdefault((part, one), {(part, one)}) for one in verdicts]
        largest, *others = sorted({id(one): one for one in met}.values(), key=len, reverse=True)
        for other in others:
            largest |= other
            groups.update(dict.fromkeys(other, largest))
    rows = [(part, verdict, id(group)) for (part, verdict), group in groups.items()]
    kinds = (asked.schema[_PART], pl.String(), pl.Int64())
    schema = dict(zip((_PART, "verdict", "group"), kinds, strict=True))
    return pl.DataFrame(rows, schema=schema, orient="row")


_FAR, _VERY_FAR = 3, 20  # times the top of the lower heap, and its steps; of two scores alone
_FEW_RATINGS = 0.1  # share of the ratings of either scale: fewer are outliers
_MOST_SCORES = 200  # of ratings; more are measurements


def _scores_of_two_scales(nested: UnitRows) -> Iterator[str]:
    """Say that scores of one judge lie in two heaps with steps of their own: 1 to 5, 20 to 100.

    A judge may rate at both ends of one scale. So the lower heap must look like a scale of its own,
    in whole steps from 0 or 1 on, and the upper like the same drawn out.
    """
    if nested.units.height > _MOST_UNITS or nested.seen["score"].n_unique() < 2 * _TWO:
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


def worded_lines(seen: pl.DataFrame) -> Iterator[str]:
    """Say which texts may be exceptions, and which verdicts come with an explanation.

    `seen` has a row a verdict as the file has it: `text` and `n` rows.

    Examples
    --------
    >>> seen = pl.DataFrame({"text": ["Yes", "No", "Error code: 429 - rate limit reached"],
    ...                      "n": [20, 9, 7]})
    >>> print(*worded_lines(seen))
    7 replies in 1 text look like errors beside the verdicts Yes, No: 'Error code: 429 - rate \
limit reached'; counted as verdicts; leave such cells empty
    >>> seen = pl.DataFrame({"text": ["Yes", "Yes, as it fits", "No."], "n": [3, 2, 4]})
    >>> print(*worded_lines(seen))
    verdicts of one leading word are counted as different: Yes (2 texts); --leading-word reads \
each by the word it begins with
    """
    each = seen.lazy().group_by(key=folded(pl.col("text"))).agg(
        pl.col("text").first(), pl.col("n").sum()
    )  # fmt: skip
    each = each.with_columns(
        word=folded(pl.col("text").str.extract(LEADING, 1)),
        is_long=pl.col("text").str.len_chars() > _LONG,
        is_raised=pl.col("text").str.contains(_RAISED),
    ).sort("n", "text", descending=[True, False])
    words = each.collect(engine="in-memory")
    odd = words["is_long"].any() or words["is_raised"].any()
    if not odd and words["word"].n_unique() == words.height:
        return  # words alone, and no two begin alike
    short = words.filter(~pl.col("is_long") & ~pl.col("is_raised"))
    menu = short["word"].drop_nulls().unique()
    if not short.height > 1 or not 1 < len(menu) <= _MOST_WORDS:
        menu = words.filter(~pl.col("is_raised"))["word"].drop_nulls().unique()
        if not 1 < len(menu) <= _MOST_WORDS // 2:
            return
    strange = words.filter(
        pl.col("is_raised") | (pl.col("is_long") & ~pl.col("word").is_in(menu.implode()))
    ).filter(~pl.col("word").is_in(short["word"].implode()), ~says_none())
    if strange.height:
        texts = strange["text"].head(2).to_list()
        shown = ", ".join(
            repr(one if len(one) <= _MOST_LETTERS else f"{one[:_MOST_LETTERS]}...") for one in texts
        )
        verdicts = ", ".join(short["text"].head(4).to_list())
        n = int(strange["n"].sum())
        yield (
            f"{n:,} {'reply' if n == 1 else 'replies'} in {strange.height:,} "
            f"text{'s' * (strange.height != 1)} look like errors beside the verdicts {verdicts}: "
            f"{shown}; counted as verdicts; leave such cells empty"
        )
    rest = words.join(strange.select("key"), on="key", how="anti")
    several = rest.group_by("word").agg(pl.len().alias("texts"), pl.col("n").sum(),
                                        pl.col("is_long").any())  # fmt: skip
    several = several.filter(pl.col("texts") > 1, pl.col("word").is_not_null())
    explained = rest.filter(pl.col("word").is_in(several["word"].implode()))
    # `A` and `A+` begin alike and are two grades; explanations are longer than a word.
    has_text = explained["text"].str.strip_chars().str.contains(r"\w\W+\w+\W+\w").any()
    marks = explained["key"].str.strip_chars(".,;:!? ").n_unique() < explained.height
    if several.height and (has_text or marks) and several["word"].n_unique() <= _MOST_WORDS:
        listed = ", ".join(
            f"{_doubted_word_as_spelled(rest, word)} ({n:,} texts)"
            for word, n in several.sort("n", descending=True).select("word", "texts").iter_rows()
        )
        yield (
            f"verdicts of one leading word are counted as different: {listed}; --leading-word "
            "reads each by the word it begins with"
        )


def _doubted_word_as_spelled(rest: pl.DataFrame, word: str) -> str:
    """The leading word as the commonest of its texts spells it."""
    text = rest.filter(pl.col("word") == word)["text"].str.extract(LEADING, 1)[0]
    return str(text)


def _items_among_others(units: pl.DataFrame, holds: pl.Expr) -> list[str]:
    """Items that something holds of; none where it holds of all."""
    names = units[_ITEM].unique().to_frame()
    found = names.filter(holds)[_ITEM].cast(pl.String)
    return [] if found.len() in (0, names.height) else found.sort().to_list()


def unnamed_line(units: pl.DataFrame) -> str | None:
    """Say which items are called by a word for no value, as programs write an id that is missing.

    Examples
    --------
    >>> unnamed_line(pl.DataFrame({"item_id": ["q1", "nan"]}))
    "counted as a question: 'nan'; if it stands for no id, give its rows theirs or leave them out"
    """
    found = _items_among_others(units, is_no_value(pl.col(_ITEM).cast(pl.String)))
    if not found:
        return None
    what = "questions" if len(found) > 1 else "a question"
    return (
        f"counted as {what}: {', '.join(map(repr, found))}; if it stands for no id, give its rows "
        "theirs or leave them out"
    )


def totals_line(units: pl.DataFrame) -> str | None:
    """Say which items are probably lines of totals, as sheets end with them, and no questions.

    Examples
    --------
    >>> totals_line(pl.DataFrame({"item_id": ["q1", "q2", "TOTAL"]}))
    "counted as questions: 'TOTAL'; take the line out if it sums up others"
    """
    found = _items_among_others(units, SUMS_UP)
    if not found:
        return None
    it = "the lines out if they sum" if len(found) > 1 else "the line out if it sums"
    return f"counted as questions: {', '.join(map(repr, found))}; take {it} up others"
