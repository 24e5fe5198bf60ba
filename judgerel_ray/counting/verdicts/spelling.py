"""Verdicts and names as people write them: spellings of one word are one verdict, some are none.

Works on the few different verdicts of a file after its rows are counted, never on its rows. Names
of items, judges and conditions that differ in spelling alone are kept apart, and that is said.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from judgerel_ray.core import Outcome, SweepError
from judgerel_ray.core.text import some_of
from judgerel_ray.counting.columns import (
    NO_VALUE,
    OFTEN_NO_VALUE,
    PERHAPS_NO_VALUE,
    is_no_value,
)
from judgerel_ray.counting.nesting import KIND, N, UnitRows, with_codes

_NUMBER = r"^[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]{1,3})?$"
_COMMA = r"^\s*[+-]?\d+,\d+\s*$"
_FAILED = r"^(?:api |parse )?(?:error|exception): "
_DRAWN_OTHERWISE = "\ufe00-\ufe0f\U000e0100-\U000e01ef"  # another drawing of one character
_NO_WIDTH = (
    "[\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff" + _DRAWN_OTHERWISE + "]"
)
# Joiners are letters of some scripts, and parts of emoji: beside these letters they do nothing.
_APART = r"[[:ascii:]\p{Latin}\p{Greek}\p{Cyrillic}\p{Han}]"
_JOINERS = "[\u200c\u200d]+"
MARKED = r"^\[\[\s*([^\[\]]*[^\[\]\s])\s*\]\]$"
"""A word in the two brackets in which judges are told to write: ``[[A]]``."""
_MARKS = "*_`'\"\u2018\u2019\u201c\u201d\u00ab\u00bb()[]{}.,:;!? "
_SHORT = {"t": "true", "f": "false", "y": "yes", "n": "no", "1.0": "true", "0.0": "false"}
_TRUTHS = {"1.0": "true", "0.0": "false"}
"""Numbers that are truth values beside these words alone."""
_LETTERS = {"\u00df": "ss", "\u03c2": "\u03c3", "i\u0307": "i"}  # in lower case
_TWINS = {
    "A": "\u0410\u0391", "B": "\u0412\u0392", "C": "\u0421\u03f9", "E": "\u0415\u0395",
    "H": "\u041d\u0397", "I": "\u0406\u0399", "J": "\u0408", "K": "\u041a\u039a",
    "M": "\u041c\u039c", "N": "\u039d", "O": "\u041e\u039f", "P": "\u0420\u03a1",
    "S": "\u0405", "T": "\u0422\u03a4", "X": "\u0425\u03a7", "Y": "\u0423\u03a5",
    "Z": "\u0396", "a": "\u0430\u03b1", "c": "\u0441\u03f2", "e": "\u0435", "i": "\u0456",
    "j": "\u0458", "o": "\u043e\u03bf", "p": "\u0440\u03c1", "s": "\u0455", "v": "\u03bd",
    "x": "\u0445", "y": "\u0443",
}  # fmt: skip
_LATIN = {twin: letter for letter, twins in _TWINS.items() for twin in twins}
"""Cyrillic and Greek letters that are drawn as Latin ones."""
_MENU = 2  # verdicts that are one by themselves
_EXACT = r"^.{1,15}$"
"""Characters of a number that double precision tells from any other."""
_ODD = pl.Series(["-0.0", "inf", "-inf"])
_PLAIN = pl.Series(["0.0", None, None])
_MOST_QUOTED = 6
_KEPT = "--exact-values keeps them"
_IF_NONE = "leave empty what stands for none"
_NAMED = {
    "judge": "judges", "item_id": "items", "benchmark": "benchmarks", "criterion": "criteria",
    "definition": "definitions", "scale": "scales", "template": "templates",
    "responder": "responders",
}  # fmt: skip
_MOST_UNITS, _MOST_NAMES = 500_000, 50_000  # above them nothing is looked for: a tenth of a second
_SHOWN_NAMES = 3


def folded(text: pl.Expr) -> pl.Expr:
    """Give what all spellings of one word have in common.

    Case, white space around and how much of it inside do not matter, nor does what no eye tells
    apart (composed and decomposed accents, full-width letters, characters without a width); numbers
    are compared by value, unless they begin with a zero as codes do.

    Examples
    --------
    >>> words = pl.DataFrame({"v": [" PASS", "Pass", "1", "1.0 ", "01", "not  sure"]})
    >>> words.select(folded(pl.col("v"))).to_series().to_list()
    ['pass', 'pass', '1.0', '1.0', '01', 'not sure']
    """
    word = text.str.normalize("NFKC").str.replace_all(_NO_WIDTH, "")
    word = word.str.replace_all(f"(^|{_APART}){_JOINERS}", "${1}")
    word = word.str.replace_all(f"{_JOINERS}({_APART}|$)", "${1}").str.to_lowercase()
    word = word.str.strip_chars().str.replace_all(r"\s+", " ")
    # In one chain: every expression that is named twice is computed twice, with all before it.
    number = word.str.extract(_EXACT, 0).str.extract(_NUMBER, 0).cast(pl.Float64, strict=False)
    return pl.coalesce(number.cast(pl.String).replace(_ODD, _PLAIN), word)


def unmarked(text: pl.Expr) -> pl.Expr:
    """Give words without the white space and the two brackets around them.

    Examples
    --------
    >>> pl.DataFrame({"v": [" [[A]]", "[A]"]}).select(unmarked(pl.col("v"))).to_series().to_list()
    ['A', '[A]']
    """
    return text.str.strip_chars().str.replace(MARKED, "${1}")


def _are_marked(text: pl.Expr) -> pl.Expr:
    """Whether all of some texts are words in two brackets; a word beside them may be another."""
    return (text.len() > 0) & text.str.strip_chars().str.contains(MARKED).all()


def loosened(key: pl.Expr) -> pl.Expr:
    """Give what words have in common that a person would read as one, from their folded forms.

    Marks around a word, a blank before a percent sign, zeros before a number, letters that have
    one more way of writing (sharp s, the last sigma, an i that keeps its dot), one letter for true,
    false, yes and no, and 1 and 0 for true and false. Such words may be two verdicts for all that:
    they are named together, never merged.

    Examples
    --------
    >>> words = pl.DataFrame({"key": ["**a**", "(a)", "yes.", "y", "50 %", "a+", "-", "02", "ß"]})
    >>> words.select(loosened(pl.col("key"))).to_series().to_list()
    ['a', 'a', 'yes', 'yes', '50%', 'a+', '-', '2.0', 'ss']
    """
    word = key.str.strip_chars(_MARKS)
    word = pl.when(word == "").then(key).otherwise(word)
    word = word.str.replace(r"\s+%$", "%").str.replace(r"^([+-]?)0+(\d)", "${1}${2}")
    for letter, other in _LETTERS.items():
        word = word.str.replace_all(letter, other, literal=True)
    return folded(word).replace(_SHORT)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Spellings:
    """How the verdicts of a file are spelled, and what each of them is shown as."""

    # One row a verdict as the file has it: `text`, `n` rows, `key` (what all spellings of one word
    # have in common) and `shown`: the spelling that most rows have, the first in order of those
    # that as many have; null of words that stand for no verdict.
    known: pl.DataFrame

    def verdict(self, column: str = "verdict") -> pl.Expr:
        """Give the verdict that each text of the file is.

        Examples
        --------
        >>> seen = pl.DataFrame({"text": ["PASS", "pass", "None"], "n": [3, 1, 1]})
        >>> pl.DataFrame({"verdict": ["pass", "None"]}).select(
        ...     spellings_of(seen).verdict()).to_series().to_list()
        ['PASS', None]
        """
        changed = self.changed()
        if changed.is_empty():
            return pl.col(column)
        return pl.col(column).replace(changed["text"], changed["shown"])

    def compared(self, column: str) -> pl.Expr:
        """Give a text that is compared with verdicts, such as what is right, as they are shown.

        Examples
        --------
        >>> seen = pl.DataFrame({"text": ["PASS"], "n": [3]})
        >>> pl.DataFrame({"gold": ["pass ", "FAIL", "n/a"]}).select(
        ...     spellings_of(seen).compared("gold")).to_series().to_list()
        ['PASS', 'FAIL', None]
        >>> seen = pl.DataFrame({"text": ["True", "False"], "n": [3, 2]})
        >>> pl.DataFrame({"gold": ["1", "0"]}).select(
        ...     spellings_of(seen).compared("gold")).to_series().to_list()
        ['True', 'False']
        """
        text = pl.col(column).cast(pl.String)
        text = unmarked(text) if self.is_marked else text
        first = self.known.drop_nulls("shown").unique("key", maintain_order=True)
        for words in (_TRUTHS, {word: number for number, word in _TRUTHS.items()}):
            if {*first["key"]} == {*words}:  # of either kind alone: no other verdict is there
                first = pl.concat([first, first.with_columns(pl.col("key").replace(words))])
        kept = self.known.drop_nulls("shown").filter(pl.col("key").is_in(NO_VALUE))["key"]
        no_value = is_no_value(text) & ~folded(text).is_in(kept.implode())
        shown = folded(text).replace_strict(
            first["key"], first["shown"], default=None, return_dtype=pl.String
        )
        return pl.when(~no_value).then(pl.coalesce(shown, text.str.strip_chars())).alias(column)

    @property
    def is_marked(self) -> bool:
        """Whether every verdict stands in the two brackets in which judges are told to write."""
        text = pl.col("text").filter(pl.col("shown").is_not_null())
        return bool(self.known.select(_are_marked(text)).item())

    def changed(self) -> pl.DataFrame:
        """Rows of `known` whose verdict is not shown as it stands there."""
        return self.known.filter(pl.col("text").ne_missing(pl.col("shown")))

    def lines(self) -> tuple[str, ...]:
        """Say which spellings were merged, what only looks alike, and what is or may be no verdict.

        Examples
        --------
        >>> seen = pl.DataFrame({"text": ["PASS", " PASS", "pass", "N/A"], "n": [3, 1, 2, 12]})
        >>> for line in spellings_of(seen).lines():
        ...     print(line)
        treated as the same verdict: PASS = pass = ' PASS' (--exact-values keeps them separate)
        taken as no verdict: N/A (12); --exact-values keeps them
        >>> print(*spellings_of(pl.DataFrame({"text": ["A", "**A**"], "n": [3, 2]})).lines())
        look alike, counted as different verdicts: A, **A**; write them in one way if they are one
        """
        found_lines = []
        ranked = self.known.with_columns(says_none=says_none())
        ranked = ranked.sort("n", "text", descending=[True, False])
        verdicts = ranked.drop_nulls("shown")
        if self.is_marked:
            found_lines.append(f"read without brackets: {listed_words(verdicts['text'].to_list())}")
        if words := _verdict_spelling_groups(verdicts.select("text", "shown"), " = "):
            found_lines.append(
                f"treated as the same verdict: {listed_words(words, '; ')} ({_KEPT} separate)"
            )
        each_once = verdicts["shown"].unique(maintain_order=True)
        if not all(map(_is_plain, each_once)) and (
            alike := _verdict_spelling_groups(_as_drawn(each_once), ", ")
        ):
            same = "write them in one way if they are one"
            found_lines.append(
                f"look alike, counted as different verdicts: {listed_words(alike, '; ')}; {same}"
            )
        none = ranked.filter(pl.col("shown").is_null())
        if none.height:
            found_lines.append(f"taken as no verdict: {_verdict_spelling_counts(none)}; {_KEPT}")
        often = pl.col("key").is_in(OFTEN_NO_VALUE)
        others = pl.col("shown").filter(~pl.col("says_none") & ~often).n_unique()
        perhaps = verdicts.filter(pl.col("says_none") | (often & (others >= _MENU)))
        if perhaps.height:
            found_lines.append(
                f"counted as verdicts: {_verdict_spelling_counts(perhaps)}; {_IF_NONE}"
            )
        return tuple(found_lines)


def _is_plain(word: str) -> bool:
    """Whether no other word looks like this one: ASCII letters, none that stands for a word."""
    return word.isascii() and word.isalpha() and word.lower() not in _SHORT


def _as_drawn(words: pl.Series) -> pl.DataFrame:
    """Words, each with what those have in common that a person would read as one."""
    # In steps: one expression of both holds its first step hundreds of times.
    keys = words.to_frame("shown").lazy()
    keys = keys.with_columns(key=folded(pl.col("shown").str.replace_many(_LATIN)))
    return keys.with_columns(loosened(pl.col("key")).alias("key")).collect(engine="in-memory")


def spellings_of(seen: pl.DataFrame, *, options: Collection[str] = ()) -> Spellings:
    """Find which verdicts of a file are one word.

    Examples
    --------
    >>> seen = pl.DataFrame({"text": ["b ", "B", "none"], "n": [2, 2, 1]})
    >>> spellings_of(seen).known["shown"].to_list()
    ['B', 'B', None]
    >>> spellings_of(seen, options=["none"]).known["shown"].to_list()
    ['B', 'B', 'none']
    """
    text = pl.col("text")
    is_marked = seen.select(_are_marked(text.filter(~is_no_value(text)))).item()
    bare = unmarked(text) if is_marked else text.str.strip_chars()
    known = seen.with_columns(key=folded(bare), __bare=bare)
    keys = set(known["key"])
    if keys <= {*_TRUTHS.values(), *_TRUTHS} and keys & {*_TRUTHS} and keys & {*_TRUTHS.values()}:
        known = known.with_columns(pl.col("key").replace(_TRUTHS))
    none = pl.col("key").is_in(NO_VALUE) & ~pl.col("key").is_in(list(options))
    by_bare = known.lazy().group_by("key", shown="__bare").agg(pl.col("n").sum())
    ranked = by_bare.sort("n", "shown", descending=[True, False]).drop("n")
    best = ranked.unique("key", keep="first", maintain_order=True)
    found = known.lazy().join(best, on="key", how="left", maintain_order="left").select(
        "text", "n", "key", pl.when(~none).then("shown").alias("shown")
    )  # fmt: skip
    return Spellings(known=found.collect(engine="in-memory"))


def says_none() -> pl.Expr:
    """Tell verdicts that may stand for none, by `key`: their folded text.

    Examples
    --------
    >>> pl.DataFrame({"key": ["error: timeout", "a"]}).select(says_none()).to_series().to_list()
    [True, False]
    """
    return pl.col("key").is_in(PERHAPS_NO_VALUE) | pl.col("key").str.contains(_FAILED)


def seen_verdicts(nested: UnitRows) -> pl.DataFrame:
    """Count the verdicts of counted judgments, each as its file has it.

    Examples
    --------
    >>> from judgerel_ray.counting.nesting import nest_rows
    >>> rows = pl.DataFrame({"item_id": ["q", "r"], "verdict": ["A", "A"], "n": [2, 1]})
    >>> seen_verdicts(nest_rows(rows, unit=["item_id"], kinds=["verdict"])).rows()
    [('A', 3)]
    """
    kinds = nested.kinds.lazy()
    kinds = kinds.select(pl.col("verdict").alias("text"), pl.Series("n", nested.totals))
    kinds = kinds.filter(pl.col("text").is_not_null(), pl.col("n") > 0)
    return kinds.group_by("text").agg(pl.col("n").sum()).sort("text").collect(engine="in-memory")


def comma_line(seen: pl.DataFrame) -> str | None:
    """Say which verdicts look like numbers with a comma in them, which no reader takes for numbers.

    Examples
    --------
    >>> comma_line(pl.DataFrame({"text": ["1,5", "1.5"], "n": [3, 2]}))
    'a comma makes a number a word: 1,5 (3) is no number; write 1.5 where it is one'
    """
    found = seen.filter(pl.col("text").str.contains(_COMMA)).sort(
        "n", "text", descending=[True, False]
    )
    if found.is_empty():
        return None
    are = "is no number" if found.height == 1 else "are no numbers"
    point = str(found["text"][0]).strip().replace(",", ".")
    first = "it is one" if found.height == 1 else "they are"
    return (
        f"a comma makes a number a word: {_verdict_spelling_counts(found)} {are}; write {point} "
        f"where {first}"
    )


def respelled(nested: UnitRows, spellings: Spellings) -> UnitRows:
    """Give counted judgments their verdicts as they are shown.

    Examples
    --------
    >>> from judgerel_ray.counting.nesting import nest_rows
    >>> rows = pl.DataFrame({"item_id": ["q"] * 3, "verdict": ["A", "a", "none"],
    ...                      "score": [None] * 3, "outcome": ["scored"] * 3, "n": [2, 1, 4]},
    ...                     schema_overrides={"score": float})
    >>> nested = nest_rows(rows, unit=["item_id"], kinds=["verdict", "score", "outcome"])
    >>> respelled(nested, spellings_of(seen_verdicts(nested))).long(["item_id"]).rows()
    [('q', 'A', None, 'scored', 3), ('q', None, None, 'unparsed', 4)]
    """
    if spellings.changed().is_empty():
        return nested
    gone = pl.col("verdict").is_not_null() & spellings.verdict().is_null()
    # What became of a reply without a verdict stays where its row says it: refused, failed.
    untold = (pl.col("outcome") == Outcome.SCORED.value).fill_null(True)
    unparsed = gone & pl.col("score").is_null() & untold
    outcome = pl.when(unparsed).then(pl.lit(Outcome.UNPARSED.value)).otherwise("outcome")
    respelt = nested.kinds.with_columns(spellings.verdict(), outcome.alias("outcome"))
    kinds = respelt.unique().sort(respelt.columns)
    meant = with_codes(respelt, kinds)[KIND]
    flat = nested.units.select(pl.col(KIND).explode()).to_series()
    sizes = nested.units[N].list.len()
    place = pl.Series(np.repeat(np.arange(nested.units.height), sizes.to_numpy()))
    lists = pl.DataFrame({"__unit": place, KIND: meant[flat].cast(flat.dtype)})
    lists = lists.group_by("__unit", maintain_order=True).agg(KIND)
    return replace(nested, units=nested.units.with_columns(lists[KIND]), kinds=kinds)


def spelled_alike(
    frames: Sequence[pl.LazyFrame], column: str, *, as_written: Sequence[bool]
) -> tuple[list[pl.LazyFrame], tuple[str, ...]]:
    """Give tables that are compared one spelling of each word, and say what was merged.

    Examples
    --------
    >>> tables = [pl.LazyFrame({"verdict": [word]}) for word in ("PASS", "pass")]
    >>> found, lines = spelled_alike(tables, "verdict", as_written=[False, False])
    >>> pl.concat(found).collect()["verdict"].to_list(), lines[0].split(" (")[0]
    (['PASS', 'PASS'], 'treated as the same verdict: PASS = pass')
    """
    text = pl.col(column).cast(pl.String).alias("text")
    counts = [
        frame.group_by(text).agg(pl.len().alias("n")).collect().drop_nulls() for frame in frames
    ]
    words = pl.concat(
        one.with_columns(fixed=pl.lit(fixed)) for one, fixed in zip(counts, as_written, strict=True)
    )
    words = words.group_by("text").agg(pl.col("n").sum(), pl.col("fixed").any())
    two = words.filter("fixed").select(key=folded(pl.col("text"))).to_series()
    words = words.filter(~folded(pl.col("text")).is_in(two.filter(two.is_duplicated()).implode()))
    # What stays comes before what only has more rows.
    weight = pl.when("fixed").then(pl.col("n").sum()).otherwise(0)
    found = spellings_of(words.select("text", pl.col("n") + weight), options=NO_VALUE)
    kept = [
        frame if fixed else frame.with_columns(found.verdict(column))
        for frame, fixed in zip(frames, as_written, strict=True)
    ]
    return kept, found.lines()


def _verdict_spelling_groups(words: pl.DataFrame, sign: str) -> list[str]:
    """Words (first column) that have the same second column as another, a text a group."""
    word, same = words.columns
    if words[same].n_unique() == words.height:
        return []
    groups = words.filter(pl.len().over(same) > 1).group_by(same, maintain_order=True)
    return [sign.join(distinct_words(one[word].to_list())) for _, one in groups]


def distinct_words(
    words: Sequence[str], *, quotes: Callable[[str], str] | None = None
) -> list[str]:
    r"""Words as they are told, with the code points of what no eye tells apart.

    Examples
    --------
    >>> print(*distinct_words(["A", "B ", "caf\u00e9", "cafe\u0301"]))
    A 'B ' 'caf\xe9' 'cafe\u0301'
    """
    shown = [(quotes or _quoted_verdict_spelling)(word) for word in words]
    drawn = str.maketrans(_LATIN)
    plain = [re.sub(f"[{_DRAWN_OTHERWISE}]", "", one) for one in shown]
    seen = [unicodedata.normalize("NFKC", one).translate(drawn) for one in plain]
    times = Counter(seen)
    each = zip(words, shown, seen, strict=True)
    return [ascii(word) if times[like] > 1 else one for word, one, like in each]


def _verdict_spelling_counts(words: pl.DataFrame) -> str:
    """Spellings with how many rows have each."""
    each = [
        f"{_quoted_verdict_spelling(text)} ({n:,})"
        for text, n in words.select("text", "n").iter_rows()
    ]
    return listed_words(each)


def _quoted_verdict_spelling(text: str) -> str:
    """A spelling as it is told: in quotes where white space or what cannot be seen is part."""
    return text if text and text == text.strip() and text.isprintable() else repr(text)


def listed_words(parts: Sequence[str], between: str = ", ") -> str:
    """The first of many words, and how many more there are.

    Examples
    --------
    >>> listed_words("ABCDEFGH")
    'A, B, C, D, E, F, and 2 more'
    """
    return some_of(parts, _MOST_QUOTED, between=between, others="and {n:,} more")


def names_kept_apart(units: pl.DataFrame) -> tuple[str, ...]:
    """Say which items, judges, criteria ... are probably one though spelled in several ways.

    Examples
    --------
    >>> units = pl.DataFrame({"judge": ["GPT", "gpt "], "item_id": ["1", "2"]})
    >>> names_kept_apart(units)
    ("judges kept apart that differ in spelling alone: 'GPT' and 'gpt '",)
    """
    if units.height > _MOST_UNITS:
        return ()
    each = units.select(pl.col(name).cast(pl.String).unique().drop_nulls().implode()
                        for name in _NAMED if name in units.columns)  # fmt: skip
    several = [one.explode() for one in each if 1 < one.list.len().item() <= _MOST_NAMES]
    if not several:
        return ()
    names = pl.concat([one.alias("name") for one in several]).to_frame()
    keys = iter(names.select(_one_name(pl.col("name"))).to_series())
    lines = []
    for column in several:
        alike: dict[str, list[str]] = {}
        for name in column:
            alike.setdefault(next(keys), []).append(name)
        groups = [
            " and ".join(distinct_words(sorted(one), quotes=repr))
            for _, one in sorted(alike.items()) if len(one) > 1
        ]  # fmt: skip
        if groups:
            listed = some_of(groups, _SHOWN_NAMES, between="; ", others="and {n} more")
            what = _NAMED[column.name]
            lines.append(f"{what} kept apart that differ in spelling alone: {listed}")
    return tuple(lines)


def _one_name(name: pl.Expr) -> pl.Expr:
    """What names have in common that are spelled in several ways; sheets drop leading zeros.

    Numbers of sections are no numbers: 1.1 and 1.10 are two.
    """
    whole = name.str.replace(r"^(\s*[0-9]+)\.0*(\s*)$", "${1}${2}")
    sections = whole.str.replace_all(r"([0-9])\.([0-9])", "${1}/${2}")
    return folded(sections.str.replace_all(r"(^|[^0-9/])0+([0-9])", "${1}${2}"))


def spelled_otherwise(items_a: pl.Series, items_b: pl.Series) -> list[tuple[str, str]]:
    """Pair items that one side has alone with those of the other that differ in spelling alone.

    Examples
    --------
    >>> spelled_otherwise(pl.Series(["1", "q", "z"]), pl.Series(["1.0", "q", "y"]))
    [('1', '1.0')]
    """
    a, b = (names.cast(pl.String).drop_nulls().unique() for names in (items_a, items_b))
    alone = [
        one.filter(~one.is_in(other.implode())).alias("name").to_frame()
        for one, other in ((a, b), (b, a))
    ]
    if max(one.height for one in alone) > _MOST_NAMES:
        return []
    keyed_a, keyed_b = (one.with_columns(key=_one_name(pl.col("name"))) for one in alone)
    met = keyed_a.join(keyed_b, on="key", suffix="_b").sort("name", "name_b")
    return list(
        met.unique("name", keep="first", maintain_order=True).select("name", "name_b").rows()
    )


def otherwise_line(items_a: pl.Series, items_b: pl.Series) -> str | None:
    """Say of two sides that are compared how many items differ between them in spelling alone.

    Examples
    --------
    >>> otherwise_line(pl.Series(["1", "q"]), pl.Series(["1.0", "q"]))
    "1 item of the two differs in spelling alone, and is left out on both sides: '1' and '1.0'"
    """
    pairs = spelled_otherwise(items_a, items_b)
    if not pairs:
        return None
    # One more than is shown tells that there are others.
    words = [" and ".join(distinct_words(one, quotes=repr)) for one in pairs[: _SHOWN_NAMES + 1]]
    some = some_of(words, _SHOWN_NAMES, between="; ")
    n = f"{len(pairs):,} items of the two differ" if len(pairs) > 1 else "1 item of the two differs"
    left_out = "are left out" if len(pairs) > 1 else "is left out"
    return f"{n} in spelling alone, and {left_out} on both sides: {some}"


def nothing_shared(
    items_a: pl.Series, items_b: pl.Series, where: Mapping[str, object]
) -> SweepError:
    """Make the refusal of two sides that have no item in common.

    Examples
    --------
    >>> print(nothing_shared(pl.Series(["1", "2"]), pl.Series(["1.0"]), {}))
    no item_id is in both: a has '1', '2'; b has '1.0'. Try: write item_id alike in both: '1', or \
'1.0'
    """
    pairs = spelled_otherwise(items_a, items_b)
    hint = "compare judgments of the same questions, with the same item_id letter by letter"
    if pairs:
        one, other = distinct_words(pairs[0], quotes=repr)
        hint = f"write item_id alike in both: {one}, or {other}"
    return SweepError(
        f"no item_id is in both: a has {some_names(items_a)}; b has {some_names(items_b)}",
        where=where,
        hint=hint,
    )


def some_names(names: pl.Series) -> str:
    """Give the first few names in order.

    Examples
    --------
    >>> some_names(pl.Series(["b", "a", "a", "c", "d"]))
    "'a', 'b', 'c', ..."
    """
    known = names.cast(pl.String).drop_nulls().unique().sort()
    return some_of([*map(repr, known.head(_SHOWN_NAMES + 1))], _SHOWN_NAMES)
