"""Warnings about verdicts that are texts: exceptions among them, and words with an explanation."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from judgerel_ray.counting.verdicts.spelling import folded, says_none

LEADING = r"^[\W_]*([\w+]+)"
"""The word that a text begins with."""
_LONG = 24  # characters above which a text is no verdict of one or two words
_MOST_WORDS = 12  # verdicts that stand for the menu
_SHOWN = 40
_RAISED = r"(?i)\b(error|exception|timed? ?out|traceback|rate limit|http|status code|429|50[0-9])\b"


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
    words = seen.with_columns(key=folded(pl.col("text"))).group_by("key").agg(
        pl.col("text").first(), pl.col("n").sum()
    )  # fmt: skip
    words = words.with_columns(
        word=folded(pl.col("text").str.extract(LEADING, 1)),
        is_long=pl.col("text").str.len_chars() > _LONG,
        is_raised=pl.col("text").str.contains(_RAISED),
    ).sort("n", "text", descending=[True, False])
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
            repr(one if len(one) <= _SHOWN else f"{one[:_SHOWN]}...") for one in texts
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
            f"{_first_spelled(rest, word)} ({n:,} texts)"
            for word, n in several.sort("n", descending=True).select("word", "texts").iter_rows()
        )
        yield (
            f"verdicts of one leading word are counted as different: {listed}; --leading-word "
            "reads each by the word it begins with"
        )


def _first_spelled(rest: pl.DataFrame, word: str) -> str:
    """The leading word as the commonest of its texts spells it."""
    text = rest.filter(pl.col("word") == word)["text"].str.extract(LEADING, 1)[0]
    return str(text)
