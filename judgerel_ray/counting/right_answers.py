"""Right answers of items, from a column of the judgments or from a table."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from heapq import nsmallest
from typing import NamedTuple

import polars as pl

from judgerel_ray.core import SweepError, count_of
from judgerel_ray.core.text import some_of
from judgerel_ray.counting.columns import FACETS
from judgerel_ray.counting.files.source import quote_columns
from judgerel_ray.counting.nesting import KIND, PLACES, N, UnitRows
from judgerel_ray.counting.verdicts.places import is_tie
from judgerel_ray.counting.verdicts.spelling import distinct_words, folded

GOLD = "gold"
"""The column that names the right verdict, or score, of a question."""

ITEM = "item_id"
_PLACE = "benchmark"
_TWO = 2  # words that tell a vocabulary
_CRITERION = "criterion"
QUESTION_COLUMNS = (_PLACE, _CRITERION, ITEM)
"""Columns that a table of right answers tells questions apart by, those that it has."""
_WHO = ("judge", "judge_fingerprint", "temperature", "top_k", "top_p")
_STATED = "__stated"
_ONE_QUESTION = (
    _PLACE, ITEM, "protocol", "stage", "role", "responder", "criterion", "definition", "scale",
)  # fmt: skip
"""What rows of one right answer have in common."""
WHOSE = ("judge", "benchmark", "criterion", "scale")
"""Whose verdicts may have words of their own."""
_LONGEST = 8  # names told where gold and verdicts have nothing in common


class UnmatchedGold(NamedTuple):
    """Gold that is no verdict of its file: in how many of the rows that have gold, and what."""

    n_rows: int
    of_rows: int
    gold: tuple[str, ...]
    verdicts: tuple[str, ...]

    def line(self) -> str:
        """Say it in one line.

        Examples
        --------
        >>> print(UnmatchedGold(3, 4, ("Rome",), ("A", "B")).line())
        gold matches no verdict of the file in 3 of the 4 rows with gold; they count as wrong: \
'Rome'; verdicts are 'A', 'B'
        """
        right, verdicts = _gold_as_verdict_names(self.gold, self.verdicts)
        what = f"{right}; verdicts are {verdicts or 'none'}"
        if self.n_rows == self.of_rows:
            return (
                f"gold matches no verdict of the file in any of its "
                f"{count_of(self.of_rows, 'row')}, so no "
                f"verdict could be right and no accuracy is given: {what}; write gold as the "
                "verdicts are"
            )
        return (
            f"gold matches no verdict of the file in {self.n_rows:,} of the {self.of_rows:,} rows "
            f"with gold; they count as wrong: {what}"
        )


def find_unmatched_gold(gold: pl.DataFrame, kinds: pl.DataFrame) -> UnmatchedGold | None:
    """Compare what is right with what was said.

    Examples
    --------
    >>> kinds = pl.DataFrame({"verdict": ["A", "B"]})
    >>> find_unmatched_gold(pl.DataFrame({"gold": ["A", "Rome", None], "n": [1, 1, 8]}), kinds)[:3]
    (1, 2, ('Rome',))
    """
    counted = gold.drop_nulls(GOLD).with_columns(pl.col(GOLD).cast(pl.String))
    known, values = pl.lit(False), list[str]()
    if "verdict" in kinds.columns:
        verdicts = kinds["verdict"].cast(pl.String).drop_nulls().unique().sort()
        known |= pl.col(GOLD).is_in(verdicts.implode())
        values += verdicts.to_list()
    if "score" in kinds.columns:
        bare = kinds.filter(pl.col("verdict").is_null()) if "verdict" in kinds.columns else kinds
        scores = bare["score"].cast(pl.Float64).drop_nulls().unique().sort()
        number = pl.col(GOLD).cast(pl.Float64, strict=False)
        known |= number.is_in(scores.implode())
        values += [f"{score:g}" for score in scores]
    strange = counted.filter(~known.fill_null(False))
    if strange.is_empty():
        return None
    return UnmatchedGold(
        int(strange["n"].sum()), int(counted["n"].sum()), tuple(strange[GOLD].sort()), tuple(values)
    )


def judges_in_other_words(rows: pl.LazyFrame, whose: Sequence[str]) -> pl.DataFrame:
    """Find judges who answer in other words than gold, so that nothing they say could be right.

    Their words are two or more, few, come again from question to question, and are neither gold of
    any question nor words of judges that ever say what gold says. A tie is nobody's word. Where
    gold or the judge has one word alone, the judge may be wrong throughout.

    Examples
    --------
    >>> rows = {"judge": list("aabb"), "item_id": list("qrqr"), "gold": ["pass", "fail"] * 2,
    ...         "verdict": ["pass", "pass", "yes", "no"]}
    >>> judges_in_other_words(pl.LazyFrame(rows), ["judge"]).rows()
    [('b', ['no', 'yes'], ['fail', 'pass'])]
    """
    there = rows.collect_schema().names()
    words = [pl.col("verdict").cast(pl.String)] if "verdict" in there else []
    if "score" in there:
        words.append(pl.col("score").cast(pl.Float64).cast(pl.String))
    word, gold = pl.coalesce(words), pl.col(GOLD).cast(pl.String)
    by_judge = word.filter(~is_tie().fill_null(False)) if "verdict" in there else word
    each = (
        rows.filter(gold.is_not_null())
        .group_by(whose)
        .agg(
            by_judge.drop_nulls().unique().sort().alias("words"), gold.unique().sort().alias(GOLD),
            pl.col(ITEM).n_unique().alias("n"),
        )
        .collect(engine="streaming")
    )  # fmt: skip
    right = each[GOLD].explode().unique()
    right = pl.concat([right, right.cast(pl.Float64, strict=False).cast(pl.String)]).drop_nulls()
    met = pl.col("words").list.eval(pl.element().is_in(right.implode())).list.any()
    known = pl.concat([right, each.filter(met)["words"].explode()])
    shared = pl.col("words").list.eval(pl.element().is_in(known.implode())).list.any()
    few = pl.col("words").list.len().is_between(_TWO, pl.max_horizontal(_TWO, pl.col("n") // 2))
    few &= pl.col(GOLD).list.len() >= _TWO
    found = each.filter(~shared, few) if each.select(met.any()).item() else each.clear()
    return found.select(*whose, "words", GOLD).sort(whose)


def other_words_line(found: pl.DataFrame, whose: Sequence[str]) -> str:
    """Say whose verdicts could not be right, and in which words they are.

    Examples
    --------
    >>> found = pl.DataFrame({"judge": ["b"], "words": [["yes"]], "gold": [["fail", "pass"]]})
    >>> print(other_words_line(found, ["judge"]))
    gold matches no verdict of judge b, so no accuracy is given of it: 'fail', 'pass'; its \
verdicts are 'yes'; write them alike
    """
    names = [
        " ".join(f"{name} {value}" for name, value in zip(whose, row, strict=True))
        for row in found.select(whose).iter_rows()
    ]
    shown = found["words"].explode().str.strip_suffix(".0")  # scores are written as they are shown
    right, words = _gold_as_verdict_names(found[GOLD].explode().to_list(), shown.to_list())
    of, its = ("it", "its") if len(names) == 1 else ("them", "their")
    return (
        f"gold matches no verdict of {some_of(names, _LONGEST)}, so no accuracy is given of {of}: "
        f"{right}; {its} verdicts are {words}; write them alike"
    )


def stated_once(rows: pl.LazyFrame) -> tuple[pl.LazyFrame, str | None]:
    """Give every repeat of a question the gold that other repeats of it state, where that is one.

    A sheet with merged cells states it once, and so does a join that met one row of each question.
    What is right is of a question, of any judge and in any order; of another criterion or another
    answer it is not known by that.

    pl.LazyFrame: The judgments, with gold filled in.

    str or None: In a line how many rows it was filled in for.

    Examples
    --------
    >>> rows = pl.LazyFrame({"item_id": ["q", "q", "r"], "gold": ["A", None, None]})
    >>> filled, line = stated_once(rows)
    >>> filled.collect()["gold"].to_list()
    ['A', 'A', None]
    >>> line
    'gold is empty in 1 row of 1 question that has it in another row, and is taken from there'
    """
    keys = [name for name in _ONE_QUESTION if name in rows.collect_schema()]
    stated = pl.when(pl.col(GOLD).cast(pl.String).str.strip_chars() != "").then(pl.col(GOLD))
    n_empty = rows.select(stated.null_count()).collect(engine="streaming").item()
    if not n_empty:  # as in most files: no question need be looked at
        return rows, None
    facts = (
        rows.group_by(keys)
        .agg(
            stated.drop_nulls().first().alias(_STATED),
            stated.drop_nulls().n_unique().alias("n_gold"),
            stated.null_count().alias("n_empty"),
        )
        .filter(pl.col("n_gold") == 1, pl.col("n_empty") > 0)
        .collect(engine="streaming")
    )
    if facts.is_empty():
        return rows, None
    names = rows.collect_schema().names()
    known = facts.lazy().select(*keys, _STATED)
    filled = rows.join(known, on=keys, how="left", nulls_equal=True, maintain_order="left")
    of = f"{count_of(int(facts['n_empty'].sum()), 'row')} of {count_of(facts.height, 'question')}"
    has = "has" if facts.height == 1 else "have"
    return (
        filled.with_columns(pl.coalesce(stated, _STATED).alias(GOLD)).select(names),
        f"gold is empty in {of} that {has} it in another row, and is taken from there",
    )


def contradicting(rows: pl.DataFrame) -> str | None:
    """Say in a line where one question, asked in the same way, has several right answers.

    Examples
    --------
    >>> rows = pl.DataFrame({"item_id": ["q", "q"], "judge": ["a", "b"], "gold": ["A", "B"]})
    >>> print(contradicting(rows))
    gold differs between the rows of one question in 1 question (q: 'A', 'B'); each verdict is \
held against the gold of its own row
    """
    asked = [name for name in rows.columns if name not in (GOLD, N, "block", *_WHO)]
    known = rows.select(*asked, pl.col(GOLD).cast(pl.String)).drop_nulls(GOLD)
    several = known.unique()
    several = (
        several.filter(pl.struct(asked).is_duplicated())
        .group_by(asked)
        .agg(pl.col(GOLD).unique(), folded(pl.col(GOLD)).n_unique().alias("n"))
    )
    several = several.filter(pl.col("n") > 1).sort(asked)
    if several.is_empty():
        return None
    n_items = several[ITEM].n_unique()
    questions = count_of(n_items, "question")
    return (
        f"gold differs between the rows of one question in {questions} ({several[ITEM][0]}: "
        f"{_few(set(several[GOLD][0]))}); each verdict is held against the gold of its own row"
    )


def judgments_with_gold(rows: pl.LazyFrame, counts: UnitRows | None) -> pl.DataFrame:
    """Count the rows of each question with each right answer.

    Examples
    --------
    >>> rows = pl.LazyFrame({"item_id": ["q", "q"], "gold": ["A", "A"], "verdict": ["A", "B"]})
    >>> judgments_with_gold(rows, None).rows()
    [('q', 'A', 2)]
    """
    if counts is not None and GOLD in counts.units.columns:
        return counts.units.drop(KIND, PLACES, strict=False).with_columns(pl.col(N).list.sum())
    there = rows.collect_schema().names()
    names = [name for name in (ITEM, *FACETS, GOLD) if name in there]
    return rows.group_by(names).len(N).collect(engine="streaming")


def with_right(rows: pl.DataFrame, gold: pl.DataFrame | None) -> pl.DataFrame:
    """Give answers what is right of their question, and whether they are.

    Examples
    --------
    >>> rows = pl.DataFrame({"item_id": ["q", "r"], "verdict": ["1", None], "gold": ["1", "2"]})
    >>> with_right(rows, None)["right"].to_list()
    [True, False]
    """
    if gold is not None:
        keys = [name for name in QUESTION_COLUMNS if name in gold.columns and name in rows.columns]
        right = gold.select(*keys, pl.col(GOLD).cast(pl.String)).drop_nulls(GOLD).unique()
        _refuse_gold_namesakes(rows, right)
        right = right.unique(keys, keep="any")
        asked = rows
        rows = rows.drop(GOLD, strict=False).join(right, on=keys, how="left")
        if right.height and rows[GOLD].null_count() == rows.height:
            raise SweepError(
                "gold holds no right answer of a judged item: judged are "
                f"{_few(set(asked[ITEM]))}; gold is of {_few(set(right[ITEM]))}",
                hint="the same item_id in both, letter by letter",
            )
    if GOLD not in rows.columns:
        raise SweepError(
            f"no right answers: expected a column {GOLD!r} with that of every question, "
            f"got {quote_columns(rows.columns)}",
            hint="--gold FILE: a table of item_id and gold, or items of a benchmark",
        )
    right_one = (pl.col("verdict") == pl.col(GOLD)).fill_null(False)
    return rows.with_columns(right=right_one)


def refuse_unmatched_gold(known: pl.DataFrame) -> None:
    """Refuse right answers that are named otherwise than the answers.

    Examples
    --------
    >>> refuse_unmatched_gold(pl.DataFrame({"verdict": ["1"], "gold": ["1"]}))
    """
    if known.is_empty():
        raise SweepError("no question has a right answer: gold is null in every row")
    verdicts, right = set(known["verdict"].drop_nulls()), set(known[GOLD])
    if verdicts and not verdicts & right:
        seen, wanted = _gold_as_verdict_names(verdicts, right)
        raise SweepError(
            "verdict and gold have no value in common, so nothing could be right: verdicts are "
            f"{seen}; gold is {wanted}",
            hint="write gold as the verdict that is right, letter by letter",
        )


def _refuse_gold_namesakes(rows: pl.DataFrame, right: pl.DataFrame) -> None:
    """Refuse a table whose names tell no item from one of another benchmark."""
    if _PLACE in right.columns:
        return
    several = right.group_by(pl.exclude(GOLD)).len().filter(pl.col("len") > 1)
    whose = "an item_id has several right answers, and gold does not name their benchmark"
    if several.is_empty() and _PLACE in rows.columns:
        several = _ambiguous_gold_items(rows, right, _PLACE)
        whose = "items of several benchmarks share an item_id, and gold does not name the benchmark"
    shared = several.join(rows.select(ITEM).unique(), on=ITEM, how="semi").sort(ITEM)
    if shared.height:
        raise _gold_namesakes_refusal(whose, shared, _PLACE)


def refuse_other_criteria(rows: pl.LazyFrame, right: pl.DataFrame) -> None:
    """Refuse a table that does not say by which of several criteria of an item its gold is right.

    Examples
    --------
    >>> rows = pl.LazyFrame({"item_id": ["q", "q"], "criterion": ["tone", "facts"]})
    >>> refuse_other_criteria(rows, pl.DataFrame({"item_id": ["p"], "gold": ["good"]}))
    """
    if _CRITERION in right.columns or _CRITERION not in rows.collect_schema():
        return
    keys = [name for name in QUESTION_COLUMNS if name in rows.collect_schema()]
    asked = rows.select(keys).unique().collect().cast({ITEM: pl.String}).drop_nulls(_CRITERION)
    shared = _ambiguous_gold_items(asked, right, _CRITERION).sort(ITEM)
    if shared.height:
        whose = "items were judged by several criteria, and gold does not name the criterion"
        raise _gold_namesakes_refusal(whose, shared, _CRITERION)


def _ambiguous_gold_items(rows: pl.DataFrame, right: pl.DataFrame, column: str) -> pl.DataFrame:
    """Items with gold that rows have with several values of a column."""
    keys = [name for name in QUESTION_COLUMNS if name in right.columns and name in rows.columns]
    asked = rows.select(column, *keys).unique().join(right, on=keys, how="semi")
    return asked.group_by(keys).len().filter(pl.col("len") > 1)


def _gold_namesakes_refusal(whose: str, items: pl.DataFrame, column: str) -> SweepError:
    """The refusal of gold that may be of several questions."""
    return SweepError(
        whose,
        where={ITEM: items[ITEM][0]},
        hint=f"a column {column!r} in both tables tells them apart",
    )


def _gold_as_verdict_names(*sides: Collection[str]) -> list[str]:
    """Some names of each side, by code points where two of them look the same."""
    first = [nsmallest(_LONGEST + 1, set(side)) for side in sides]
    # Of all others, only what is not ASCII can look like one of these.
    others = {one for side in sides for one in side if not one.isascii()}
    names = sorted(others.union(*first))
    shown = dict(zip(names, distinct_words(names, quotes=repr), strict=True))
    return [some_of([shown[one] for one in side], _LONGEST) for side in first]


def _few(names: set[str]) -> str:
    """Some of many names."""
    return some_of([repr(one) for one in sorted(names)], _LONGEST)
