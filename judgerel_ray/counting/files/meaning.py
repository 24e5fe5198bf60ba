"""What the columns of a table mean whose names are not those of judgments.

A name is read without asking only where nothing else could be meant: it stands on a closed list
(:mod:`judgerel_ray.counting.files.names`), its values fit, and no other column fits as well. Else
the candidates are named, and ``--column ROLE=COLUMN`` says which. Judgments may stand in lists
inside a cell (``votes.*.winner``) or side by side (``run1``, ``run2``): then all of them are read,
never the first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import chain
from math import prod

import polars as pl

from judgerel_ray.core import OUTCOMES, SweepError
from judgerel_ray.counting.columns import FACETS, TYPED, is_nested, is_no_value
from judgerel_ray.counting.files.cells import (
    SHORT,
    are_short_words,
    leaves,
    mark_between,
    parsed_cell,
    parted,
    values_at,
)
from judgerel_ray.counting.files.labelled import GOLD
from judgerel_ray.counting.files.layout import (
    REPLICATION,
    SAMPLE,
    VALUES,
    Meaning,
    Siblings,
    place_in_line,
    siblings_of,
)
from judgerel_ray.counting.files.named_judges import MARKS, names_nobody
from judgerel_ray.counting.files.names import (
    BARE,
    ROLES,
    STATED,
    called_of,
    column_flag,
    criterion_in,
    facets_in,
    halves,
    in_common,
    is_aggregate,
    is_annotator,
    is_answer,
    is_called_verdict,
    is_category,
    is_metric,
    is_named_element,
    is_numbered_thing,
    is_of_people,
    is_plain_model,
    is_question,
    is_seed,
    is_side_column,
    key_of,
    names_by_pattern,
    patterns_like,
    patterns_of,
    places_side_by_side,
    roles_inside,
    roles_of,
)

_FEW_PARSED = 0.5  # share of the cells that hold JSON, of a column that does
_MOST_ORDERS = 24  # of four options
_RUNNING = ("order", "ordering", "reihenfolge", "顺序", "orden", "ordre")
_UNSURE = re.compile(r"\{judge\}[_\-. ]*\{replication\}")
"""A number behind the name of a judge, which may be of that name: ``claude-3``."""
_LEADING = r":^\W*(\w+)"
"""Takes the first word of a text, where it stands behind a place."""
_FEW_WORDS = 5  # with which texts begin that say a verdict first
_UNNAMED = "no name of judgments"
_MANY = 4  # columns that are of items each, and tell none
_MOST_BESIDE = 200  # columns whose names are looked at together
_SCORED = re.compile(STATED)


def meaning_of(
    rows: pl.LazyFrame,
    stated: Mapping[str, str] | None = None,
    *,
    repeats: str | None = None,
    missing: Sequence[str] = (),
) -> Meaning:
    """Tell what each column of a table means; `stated` roles are as they are stated.

    Columns that are like the shell pattern `repeats` are repeats side by side; texts in `missing`
    stand for no value.

    Examples
    --------
    >>> rows = pl.LazyFrame({"prompt_id": ["p", "p"], "trial": [0, 1], "winner": ["x", "y"]})
    >>> found = meaning_of(rows)
    >>> found.line()
    'read prompt_id as item_id; trial as replication; winner as verdict'
    >>> meaning_of(pl.LazyFrame({"id": ["p"], "run1": [3], "run2": [4]})).siblings.columns
    ('run1', 'run2')
    """
    return _Reader(rows, dict(stated or {}), repeats=repeats, missing=missing).meaning()


class _Reader:
    """One table, looked at by the values of its first rows."""

    def __init__(
        self,
        rows: pl.LazyFrame,
        stated: dict[str, str],
        *,
        repeats: str | None = None,
        missing: Sequence[str] = (),
    ) -> None:
        self.rows = rows
        self.begin = rows.head(SAMPLE).collect(engine="streaming")
        self.stated = stated
        self.missing = missing
        columns = self.begin.columns
        self.roles = {role: place for role, place in stated.items()
                      if place in columns or not facets_in(place)}  # fmt: skip
        self.open: dict[str, tuple[str, ...]] = {}
        self.patterns: list[tuple[str, str]] = []  # Of columns side by side: a role and a pattern.
        self.extra_scores: set[str] = set()  # Scores of judges whose verdicts are read.
        places = [part for place in stated.values() for part in re.split("[,:]", place)]
        self.taken = {*stated.values(), *places}
        # Cells that a stated place reaches into may hold other roles, too.
        self.entered = {parted(one, columns)[0] for one in places} - self.taken
        self.taken |= self.entered
        self.beside = [name for name in columns if repeats and fnmatchcase(name, repeats)]
        self.taken.update(self.beside)
        for name in columns:  # a contract name wins
            several = {f"{name}.1", f"{name}_2", f"{name}2", f"{name} 2"} & {*columns}
            first = {f"{name}_1", f"{name}1", f"{name} 1"} & {*columns}
            is_one_of_several = name in VALUES and bool(several) and not first
            is_one_of_several |= name in VALUES and mark_between(self.begin[name]) is not None
            if name in TYPED and name not in (*self.taken, "label") and not is_one_of_several:
                is_known = (
                    name != "outcome" or self.begin[name].drop_nulls().is_in([*OUTCOMES]).all()
                )
                if (place := self._all_of(name)) is None or not is_known:
                    continue
                self.roles.setdefault(name, place)
                self.taken.add(name)
                self.entered |= {name} if name in FACETS and place != name else set()

    def _all_of(self, name: str) -> str | None:
        """A column, or all elements of its lists where nothing else numbers repeats.

        None where it holds objects of something else, as `judge` may what the judge said.
        """
        is_list = name in VALUES and REPLICATION not in self.begin.columns
        inside = leaves(self.begin[name])
        if name in FACETS and inside:  # who is an object with a name
            called = [f"{name}.{one}" for one in ("name", "id", "model")]
            named = [one for one in called if one in inside]
            holds_values = {*VALUES} & {*chain(*map(roles_inside, inside))}
            return (
                inside[0] if len(inside) == 1 else next(iter(named), None if holds_values else name)
            )
        return f"{name}.*" if is_list and inside == [f"{name}.*"] else name

    def meaning(self) -> Meaning:
        """Roles in the order in which one depends on the other."""
        there = set(self.begin.columns)
        has_judgment_columns = {"item_id", REPLICATION} <= there and bool(set(VALUES) & there)
        siblings = self._stated_siblings()
        if siblings is None and not self._has_value():
            siblings = self._siblings()
        if siblings is not None:
            self.taken.update(siblings.columns)
        elif not self._has_value():
            self._choose_value()
        # A table whose columns have the names that judgments have is read by these alone.
        facts = siblings.facets if siblings else {}
        for role in ("judge", "responder", "criterion", "option_order", "temperature"):
            if role not in self.roles and role not in facts and not has_judgment_columns:
                self._choose(role)
        named = self._named_value
        is_free = "criterion" in named.keys() - self.roles.keys() - {*facts}
        if is_free and self.roles.items() & named.items():
            self._take("criterion", named["criterion"])
        if REPLICATION not in self.roles and REPLICATION not in facts:
            self._choose(REPLICATION)
        if "item_id" not in self.roles and "item_id" not in facts:
            self._choose_item(is_wide=siblings is not None or self._counts_lists())
        is_numbered = self._is_numbered(siblings)
        known = {*self.roles, *self.open, *facts}
        lacking = [] if "item_id" in known else ["item_id"]
        if siblings is None and not self._has_value() and not set(VALUES) & set(self.open):
            lacking.append("verdict or score")
        return Meaning(
            columns=dict(sorted(self.roles.items(), key=lambda one: place_in_line(one[0]))),
            siblings=siblings,
            is_numbered=is_numbered,
            unused=self._unused(),
            open=self.open,
            lacking=tuple(lacking),
            telling=self._telling(siblings),
            counts_rows=is_numbered or self._counts_lists(),
            stated=frozenset({*self.stated, *([REPLICATION] if self.beside else [])}),
            ways=() if siblings or self._has_value() else self._ways(),
        )

    # ---- values

    @cached_property
    def _texts(self) -> dict[str, pl.Series]:
        """Every column of single values as text, what stands for nothing left out."""
        single = [name for name, kind in self.begin.schema.items() if not is_nested(kind)]
        text = pl.col(single).cast(pl.String, strict=False).str.strip_chars()
        there = ~is_no_value(text) & ~text.is_in(list(self.missing))
        return {one.name: one[0] for one in self.begin.select(text.filter(there).implode())}

    def _values(self, place: str) -> pl.Series:
        """Text values at a place: of a column, or inside its cells."""
        if place in self._texts:
            return self._texts[place]
        column, path = parted(place, self.begin.columns)
        rows = values_at(self.begin[column], path)
        single = (one for row in rows for one in row if not isinstance(one, dict | list))
        inside = [str(one) for one in single if one is not None]
        return pl.Series(place, inside, dtype=pl.String)

    def is_number(self, place: str) -> bool:
        """Whether all values are numbers, or state one: ``Score: 2/5``."""
        texts = self._values(place).unique()
        number = texts.cast(pl.Float64, strict=False)
        worded = texts.filter(~number.is_finite().fill_null(False))
        return len(texts) > 0 and all(map(_SCORED.match, worded))

    def is_choice(self, place: str) -> bool:
        """Whether values are few and short, as verdicts are."""
        return are_short_words(self._values(place))

    def _fits(self, role: str, place: str) -> bool:
        """Whether the values at a place may be those of a role."""
        if role in ("score", "temperature"):
            return self.is_number(place)
        if role == "verdict":
            is_outcome = called_of(place) == "outcome" and {*self._values(place)} <= {*OUTCOMES}
            return self.is_choice(place) and not is_outcome
        texts = self._values(place)
        if role == "option_order":
            # A plain `order` of many values may be a running number.
            n = texts.n_unique()
            return 0 < n <= (2 if key_of(place) in _RUNNING else _MOST_ORDERS)
        return len(texts) > 0

    # ---- places

    @cached_property
    def _places(self) -> dict[str, list[str]]:
        """Places by the role that their names tell: columns, and values inside cells."""
        found: dict[str, list[str]] = {}
        for name in self.begin.columns:
            if name in self.taken - self.entered:
                continue
            column = self.begin[name]
            inside = self._inside(column)
            for place, called in inside or [(name, name)]:
                if is_of_people(called.partition(".")[0]):
                    continue
                for role in roles_inside(place) if inside else roles_of(called):
                    found.setdefault(role, []).append(place)
            every = f"{name}.*"
            roles = [] if inside else [one for one in roles_inside(every) if one in VALUES]
            if roles and not self.is_number(name) and mark_between(column):
                for role in roles:
                    found[role] = [one for one in found.get(role, []) if one != name] + [every]
        return found

    def _inside(self, column: pl.Series) -> list[tuple[str, str]]:
        """Places inside a column's cells, with the names that tell their roles."""
        if not is_nested(column.dtype):
            texts = self._texts.get(column.name)
            if texts is None or not len(texts):
                return []
            held = [parsed_cell(one) for one in texts.head(200)]
            if sum(one is not None for one in held) < _FEW_PARSED * len(held):
                return []
        return [(place, called_of(place)) for place in leaves(column)]

    def _has_value(self) -> bool:
        return any(name in self.roles for name in VALUES)

    def _choose(self, role: str) -> None:
        """Take the one place that a role may have; several are left open."""
        there = [one for one in self._places.get(role, []) if self._fits(role, one)]
        if role == REPLICATION:
            there = [one for one in there if not is_seed(one)] or [
                one for one in there
                if any(self._comes_again(item) and self._is_key(item, number=one)
                       for item in self._places.get("item_id", ()))
            ]  # fmt: skip
        if role == "judge" and "responder" in self._places:
            there = [one for one in there if not is_plain_model(one)]
        if role == "judge":
            there = [one for one in there if not self._is_verdict_place(one)]
        if role == "judge" and len(there) > 1:
            there = [one for one in there if not is_plain_model(called_of(one))] or there
        there = [one for one in there if one not in self.taken]
        if len(there) == 1:
            self._take(role, there[0])
        elif there:
            self.open[role] = tuple(there)

    def _is_verdict_place(self, place: str) -> bool:
        """Whether a place that is called after judges holds what they said."""
        rows, texts = self.begin, self._values(place)
        is_marks = {*texts.unique()} <= MARKS
        if is_marks and "*" in place:  # elements of one list are of one item
            column, path = parted(place, self.begin.columns)
            cells = enumerate(values_at(self.begin[column], path))
            each = [{"item_id": row, place: str(one)} for row, cell in cells for one in cell]
            rows = pl.DataFrame(each)
        return names_nobody(rows, texts.rename(place) if is_marks else texts, self.stated)

    def _take(self, role: str, place: str) -> None:
        self.roles[role] = place
        self.taken |= (
            {place, place.partition(".")[0]} if place not in self.begin.columns else {place}
        )

    def _choose_value(self) -> None:
        """The verdict or the score: one place that fits, and no second one."""
        found = [
            (role, place)
            for role in VALUES
            for place in self._places.get(role, [])
            if self._fits(role, place)
        ]
        # A name on both lists, such as grade, is a score where its values are numbers.
        scores = {place for role, place in found if role == "score"}
        found = [one for one in found if one[0] == "score" or one[1] not in scores]
        others = [one for one in found if key_of(one[1].rpartition(".")[2]) != "label"]
        found = others or found
        found += self._alone(dict.fromkeys(place for _, place in found)) if found else []
        found += [one for one in self._named_value.items() if one[0] in VALUES]
        # A text of several values may be a list of them, or one value.
        beside = [place.removesuffix(".*") for _, place in found if place.endswith(".*")]
        found += [("verdict", one) for one in beside
                  if one in self._texts and mark_between(self.begin[one])]  # fmt: skip
        places = list(dict.fromkeys(place for _, place in found))
        if len(places) == 1:
            self._take(*found[0])
        elif places:
            for role in VALUES:
                if several := tuple(place for name, place in found if name == role):
                    self.open[role] = several

    def _alone(self, known: Collection[str]) -> Iterator[tuple[str, str]]:
        """Columns that would be judgments beside others of their shape, and stand alone."""
        known = {parted(place, self.begin.columns)[0] for place in known}
        for name in self.begin.columns:
            if name in self.taken or name in known or is_side_column(name) or is_of_people(name):
                continue
            parts = [part for half in halves(name) for part in half]
            if roles_of(name) or any(map(is_of_people, parts)) or name not in self._texts:
                continue
            stem = re.sub(r"[_\-. ]*\d+$", "", name)
            is_repeat = stem != name and (REPLICATION in roles_of(stem) or len(stem) == 1)
            words = (*parts, stem, stem.removesuffix("s"))
            is_value = any(set(roles_of(part)) & set(VALUES) for part in words)
            is_value |= bool(patterns_of([name]))
            one_value = self._texts[name].n_unique() < 2  # a threshold, say
            if one_value or not (is_repeat or is_value or any(map(is_metric, (name, *parts)))):
                continue
            if self.is_number(name):
                yield "score", name
            elif self.is_choice(name):
                yield "verdict", name

    @cached_property
    def _named_value(self) -> dict[str, str]:
        """A metric's name beside its value, which mean something together alone, by role."""
        by_key = {key_of(name): name for name in self.begin.columns}
        named = ["name", *map(key_of, ROLES["criterion"])]
        name = next((by_key[one] for one in named if one in by_key), None)
        value = by_key.get("value")
        if name is None or value is None:
            return {}
        is_stated = value in (self.stated.get(role) for role in VALUES)
        if not self.is_choice(name) or (value in self.taken and not is_stated):
            return {}
        fitting = [one for one in ("score", "verdict") if self._fits(one, value)]
        criterion = {} if name in self.taken else {"criterion": name}
        return {fitting[0]: value, **criterion} if fitting else {}

    def _choose_item(self, *, is_wide: bool) -> None:
        """The item: the one place whose values come again, or any where judgments are siblings."""
        there = [one for one in self._places.get("item_id", []) if one not in self.taken]
        there = [one for one in there if self._fits("item_id", one)]
        there = there or self._question_texts(is_wide=is_wide)
        coming_again = [one for one in there if self._comes_again(one)]
        keys = [one for one in coming_again if self._is_key(one)]
        # A task of many rows beside an id of each: items, or kinds of them.
        is_kind = coming_again and all(map(is_category, coming_again))
        there = keys or (there if is_kind else coming_again or there)
        if len(there) > 1 and all(self._same(there[0], one) for one in there[1:]):
            there = there[:1]
        if len(there) > 1 and not keys and self._is_key(*there):
            there = [",".join(there), *(one for one in there if one not in coming_again)]
            self.open["item_id"] = tuple(there)
        elif len(there) == 1 and (others := self._questions(there[0])):
            self.open["item_id"] = (*others, there[0])
        elif len(there) == 1:
            self._take("item_id", there[0])
        elif there:
            self.open["item_id"] = tuple(there)

    def _question_texts(self, *, is_wide: bool) -> list[str]:
        """The one column with the text of a question, which names it where no column has ids."""
        texts = [one for one in self._texts if is_question(one) and one not in self.taken]
        if len(texts) != 1 or not (is_wide or self._comes_again(texts[0])):
            return []
        longest = self._texts[texts[0]].str.len_chars().mean()  # shorter, it may name a prompt
        return texts if isinstance(longest, float) and longest > SHORT / 2 else []

    def _questions(self, item: str) -> list[str]:
        """Columns that may be the item rather than one that is another in every row."""
        if item not in self._texts or self._comes_again(item):
            return []
        free = [one for one in self._texts if one not in self.taken and self._comes_again(one)]
        if self.roles.get(REPLICATION) in self._texts:
            return [one for one in free if self._is_key(one)]
        questions = [one for one in free if is_question(called_of(one))
                     and self._texts[one].is_duplicated().all()]  # fmt: skip
        answers = [*filter(is_answer, self.begin.columns)]
        # Other answers to a question are items of their own.
        if not {*answers} <= self._texts.keys():
            return []
        return [one for one in questions
                if self.begin.n_unique([one, *answers]) == self.begin[one].n_unique()
                ]  # fmt: skip

    def _is_key(self, *places: str, number: str = REPLICATION) -> bool:
        """Whether columns tell all rows apart, with the facets and what numbers repeats."""
        facets = [place for role, place in self.roles.items() if role in FACETS]
        facets = [one for one in facets if one in self.begin.columns]  # apart without the others
        named = {*places, self.roles.get(number, number), *facets}
        if any(one not in self.begin.columns for one in named):
            return False
        return not self.begin.select(pl.struct(*named).is_duplicated().any()).item()

    def _comes_again(self, place: str) -> bool:
        texts = self._values(place)
        return texts.n_unique() < len(texts)

    def _same(self, one: str, other: str) -> bool:
        """Whether two columns name the same items."""
        if one not in self.begin.columns or other not in self.begin.columns:
            return False
        pairs = self.begin.select(one, other).unique().height
        return pairs == self.begin[one].n_unique() == self.begin[other].n_unique()

    # ---- judgments side by side

    def _siblings(self) -> Siblings | None:
        """Columns of one shape that hold judgments; None where there are none, or it is open."""
        free = [name for name in self.begin.columns if name not in self.taken]
        free = [name for name in free if not is_of_people(name) and name in self._texts]
        for group in (self._of_patterns, self._numbered, self._of_metrics):
            found = group(free)
            if found or self.open:
                return found
        return None

    def _stated_siblings(self) -> Siblings | None:
        """Repeats side by side by a pattern that was stated."""
        for role in VALUES:
            if role in self.roles:
                continue
            if role in self.stated and (facets := facets_in(self.stated[role])):
                named = self._like(role, self.stated[role])
                if not named:
                    what, other = (("numbers", "verdict") if role == "score"
                                   else ("short texts, as verdicts are", "score"))  # fmt: skip
                    problem = f"columns like {self.stated[role]!r} hold no {what}"
                    raise SweepError(problem, hint=column_flag(other, self.stated[role]))
                return siblings_of(named, facets, role)
        if not self.beside:
            return None
        is_rated = all(self.is_number(one) or not len(self._values(one)) for one in self.beside)
        return Siblings(
            columns=tuple(self.beside),
            facets={REPLICATION: tuple(map(str, range(len(self.beside))))},
            holds="score" if is_rated else "verdict",
        )  # fmt: skip

    def _like(self, role: str, pattern: str) -> dict[str, dict[str, str]]:
        """Columns that are like a pattern and may hold a role, with what each tells."""
        there = [one for one in self.begin.columns if one in self._texts and one not in self.taken]
        there = [one for one in there
                 if not any(map(is_of_people, (one, *chain(*halves(one)))))]  # fmt: skip
        if "{judge}" in pattern or "{replication}" in pattern:
            there = [one for one in there if not is_aggregate(one)]
        if not re.sub(r"\{\w+\}", "", pattern):  # without a word, what is called so is no judgment
            known = (roles_of, is_side_column, is_aggregate, is_annotator,
                     *([is_metric] if "{judge}" in pattern else []))  # fmt: skip
            there = [one for one in there if not any(is_it(one) for is_it in known)]
        fitting = [one for one in there if self._fits(role, one) or not len(self._texts[one])]
        return names_by_pattern(pattern, fitting)

    def _of_patterns(self, free: Sequence[str]) -> Siblings | None:
        """Columns whose names tell things apart, each value of one beside each of the others."""
        found: list[tuple[bool, str, str, Mapping[str, Mapping[str, str]]]] = []
        for pattern, named in patterns_of(free[:_MOST_BESIDE]).items():
            facets, holds = facets_in(pattern), self._held([*named])
            if holds is None or set(facets) & self.roles.keys():
                continue
            each = [{facts[facet] for facts in named.values()} for facet in facets]
            is_whole = len(named) == prod(map(len, each)) > 1
            of_name = _UNSURE.search(pattern) is not None
            if of_name and not (is_whole and all(len(one) > 1 for one in each)):
                continue
            beside = {name: facts for name, facts in self._like(holds, pattern).items()
                      if name not in named}  # fmt: skip
            answers = holds == "score" and any(
                "first" in facts.values() for facts in named.values()
            )
            of_either = set(facets) == {"judge", "criterion"}  # who answered, or who judged
            if len(named) + len(beside) > 1:
                is_sure = is_whole and not (of_name or beside or answers or of_either)
                found.append((is_sure, holds, pattern, {**named, **beside}))
        # Of several cuts of the same names the one that has most words in common.
        found.sort(
            key=lambda one: len("".join(chain(*(facts.values() for facts in one[3].values()))))
        )
        first = {frozenset(one[3]): one for one in reversed(found)}
        found = [one for one in found if first[frozenset(one[3])] is one]
        verdicts = [one for one in found if one[1] == "verdict"]
        if len(verdicts) == 1 and len({str([*one[3].values()]) for one in found}) == 1:
            self.extra_scores.update(name for one in found if one[1] == "score" for name in one[3])
            found = verdicts
        sure = [one for one in found if one[0]]
        if len(sure) == 1 and all(one[3].keys() <= sure[0][3].keys() for one in found):
            return siblings_of(sure[0][3], facets_in(sure[0][2]), sure[0][1])
        for _, holds, pattern, cells in found:
            self.open[holds] = tuple(dict.fromkeys((*self.open.get(holds, ()), *cells)))
            self.patterns.append((holds, pattern))
            if {"judge", "criterion"} == {*facets_in(pattern)}:
                self.patterns.append((holds, pattern.replace("{judge}", "{responder}")))
            if holds == "score" and "{option_order}" in pattern:  # of the first and second answer
                self.patterns.append((holds, pattern.replace("{option_order}", "{responder}")))
            if _UNSURE.search(pattern):
                self.patterns += [(holds, one) for one in patterns_like([*cells])]
        return None

    def _ways(self) -> tuple[tuple[str, str], ...]:
        """Places by which columns are read that say not what they are, side by side or alone."""
        opened = [one for role in VALUES for one in self.open.get(role, ())]
        is_alike = in_common(opened) and {*opened} <= self._texts.keys()
        if self.patterns or (opened and not is_alike):
            return tuple(self.patterns)
        unused = self._unused()
        of_items = [one for one in unused
                    if "item_id" in chain(*map(roles_of, chain(*halves(one))))]  # fmt: skip
        of_items = of_items if len(of_items) < _MANY else []  # a column an item
        free = opened or [
            name for name, why in unused.items()
            if (why == _UNNAMED and name not in of_items)
            or (is_answer(name) and self.is_choice(name))
        ]  # fmt: skip
        free = [name for name in free if name in self._texts and not is_aggregate(name)
                and not is_seed(name) and REPLICATION not in roles_of(name)
                and self._texts[name].n_unique() > 1
                and not self._inside(self.begin[name])]  # fmt: skip
        rated = [name for name in free if self.is_number(name)
                 and (self._comes_again(name) or self._texts[name].str.contains("[.,]").any())
                 ]  # fmt: skip
        worded = [name for name in free if name not in rated and self.is_choice(name)]
        held = {name: {*self._texts[name]} for name in worded}
        known = Counter(chain(*held.values()))
        # What stands side by side has values in common.
        beside = [one for one in worded if any(known[text] > 1 for text in held[one])]
        alone = sorted(filter(self._comes_again, worded), key=lambda one: len(held[one]))
        ways = []
        for role, names in (("score", rated), ("verdict", beside or alone)):
            places = names if names is alone else places_side_by_side(names)
            if "item_id" in {*self.roles, *self.open}:
                places = [one for one in places if "{item_id}" not in one]
            item = self.roles.get("item_id", "")
            if item in self._texts and not self._is_key(item, number="item_id"):
                places = [one for one in places if "{replication}" not in one]
            ways += [(role, one) for one in places if not {*facets_in(one)} & self.roles.keys()]
        return tuple(ways or self._by_leading_words())

    def _by_leading_words(self) -> Iterator[tuple[str, str]]:
        """Places by which texts are read that begin with one of a few words: ``Yes, it does``."""
        for name, why in self._unused().items():
            texts = self._texts.get(name)
            if texts is None or not (why == _UNNAMED or is_answer(name) or roles_of(name)):
                continue
            words = texts.str.extract(_LEADING[1:], 1).str.to_lowercase()
            n = words.n_unique()
            if 1 < n <= _FEW_WORDS and not words.has_nulls() and words.is_duplicated().all():
                yield "verdict", f"{name}{_LEADING}"

    def _held(self, names: Sequence[str]) -> str | None:
        """What columns side by side hold: a score, a verdict, or nothing that is either."""
        if all(map(self.is_number, names)):
            return "score"
        texts = pl.concat([self._values(name).rename("t") for name in names])
        return "verdict" if are_short_words(texts) else None

    def _numbered(self, free: Sequence[str]) -> Siblings | None:
        """Columns whose names differ by a number alone: repeats, or judges: ``rater1``."""
        by_stem: dict[str, list[tuple[int, str]]] = {}
        for name in free:
            numbers = [*re.finditer(r"\d+", name)]
            if len(numbers) == 1:
                stem = f"{name[: numbers[0].start()]}#{name[numbers[0].end() :]}"
                by_stem.setdefault(stem, []).append((int(numbers[0][0]), name))
        found = []
        for stem, named in by_stem.items():
            # verdict beside verdict.1 of pandas, or verdict_2; of verdict_1 it may be the mean.
            first, begin = re.sub(r"[_\-. ]*#.*$", "", stem), min(named)[0]
            if first in free and stem.endswith("#") and begin == (1 if ".#" in stem else 2):
                named.append((0, first))
            names = [name for _, name in sorted(named)]
            before, _, after = stem.partition("#")
            words = before.strip("_-. ")
            parts = (
                [words]
                if roles_of(words)
                else next(
                    ([*half] for half in halves(words) if all(map(roles_of, half))),
                    [one for one in re.split(r"[_\-. ()]+", words) if one],
                )
            )
            known = [set(roles_of(one)) for one in parts]
            if not after.strip("_-. ") and (whole := roles_of(before)):
                known = [set(whole)]
            what = set(roles_of(after.strip("_-. "))).union(*known)
            # A word of another thing numbers that: turn1_score, answer1_score, model1_score.
            is_bare = words.lower() in BARE
            of_these = {REPLICATION, "judge", *VALUES}
            numbers_these = is_bare or all(one & of_these for one in known)
            if not numbers_these or "model" in before.lower():
                continue
            is_repeat = REPLICATION in what or is_bare
            last = known[-1] if known else set()  # it is numbered, as of llm_judge_run1
            is_value, is_judge = bool(set(VALUES) & what), "judge" in what
            is_judge &= REPLICATION not in last
            holds = (
                self._held(names) if len(names) > 1 and (is_value or is_judge or is_repeat)
                else None
            )  # fmt: skip
            if holds and not is_side_column(after.strip("_-. ")):
                found.append((is_value, "judge" if is_judge else REPLICATION, names, holds))
        found = [one for one in found if one[0]] or found
        if len(found) != 1:
            return None
        _, facet, names, holds = found[0]
        # Numbers that name other things, too (model_1 beside score_1), number no repeats; and a
        # table whose repeats or judges are told already has these columns for something else.
        beside = [
            name for name in self.begin.columns if name not in names and is_numbered_thing(name)
        ]
        is_known = facet in self.roles or any(
            self._fits(facet, one) for one in self._places.get(facet, ())
        )
        if is_known or beside:
            self.open[holds] = tuple(names)
            return None
        if facet == "judge":
            cut = [re.sub(r"(\d+)[_\-. ].*$", r"\1", name) for name in names]
            values = tuple(cut if len(set(cut)) == len(cut) else names)
        else:
            values = tuple(map(str, range(len(names))))
        return Siblings(columns=tuple(names), facets={facet: values}, holds=holds)

    def _of_metrics(self, free: Sequence[str]) -> Siblings | None:
        """A column a criterion: metrics by their names, or what stands below ``feedback``."""
        if "criterion" in self.roles:
            return None
        named = [(name, called) for name in free if (called := criterion_in(name))]
        if len(named) < 2:
            named = [(name, name) for name in free if is_metric(name)]
        named = [(name, called) for name, called in named if self._held([name])]
        if len(named) < 2:
            return None
        names = [name for name, _ in named]
        holds = self._held(names)
        if holds is None:
            return None
        if beside := [name for name in free if self._may_be_beside(name, names)]:
            self.open[holds] = (*names, *beside)
            self.patterns.append((holds, "{criterion}"))
            return None
        return Siblings(
            columns=tuple(names), holds=holds,
            facets={"criterion": tuple(called for _, called in named)},
        )  # fmt: skip

    def _may_be_beside(self, name: str, names: Sequence[str]) -> bool:
        """Whether a column without a name that is known holds what those beside it hold."""
        if name in names or roles_of(name) or is_side_column(name) or is_aggregate(name):
            return False
        if not self.is_number(name) or self._texts[name].n_unique() < 2:
            return False
        known = pl.concat([self._texts[one].rename("t") for one in names]).unique()
        return bool(self._texts[name].is_in(known.implode()).all())

    # ---- repeats without a number

    def _is_numbered(self, siblings: Siblings | None) -> bool:
        """Whether no column numbers repeats, and no names of columns do."""
        if REPLICATION in self.roles or REPLICATION in self.open:
            return False
        return siblings is None or REPLICATION not in siblings.facets

    def _counts_lists(self) -> bool:
        """Whether elements of lists are numbered, in rows that are numbered already."""
        return any("*" in place for place in self.roles.values()) and (
            "*" not in self.roles.get(REPLICATION, "")
        )

    def _telling(self, siblings: Siblings | None) -> tuple[str, ...]:
        """Places not read that are neither time, id, cost nor text, inside cells as well."""
        beside = siblings.columns if siblings else ()
        places = [name for name in self.begin.columns if name not in beside and name in self._texts]
        lists = [place.rpartition("*")[0] for place in self.roles.values() if "*" in place]
        for name in self.begin.columns:
            if is_nested(self.begin[name].dtype) or any(
                one.startswith(f"{name}.") for one in lists
            ):
                # Of lists those alone whose elements are judgments: others hold something else.
                places += [place for place in leaves(self.begin[name])
                           if "*" not in place or place.rpartition("*")[0] in lists]  # fmt: skip
        places += [
            f"{name}.*" for name in self.begin.columns
            if lists and name not in self.taken and self._is_beside(name, lists[0][:-1])
        ]  # fmt: skip
        read = {part for place in self.roles.values() for part in re.split("[,:]", place)}
        return tuple(
            name for name in places
            if name not in read and name not in (self.taken if name in self.begin.columns else ())
            and not self._tells_nothing(name)
        )  # fmt: skip

    def _is_beside(self, name: str, other: str) -> bool:
        """Whether a column holds lists of single values, each as long as that of another."""
        inside = [place for place, _ in self._inside(self.begin[name])]
        if other not in self.begin.columns or inside != [f"{name}.*"]:
            return False
        lengths = ([*map(len, values_at(self.begin[one], ["*"]))] for one in (name, other))
        return len({*map(tuple, lengths)}) == 1

    def _tells_nothing(self, name: str) -> bool:
        """Whether a column is a time, an id, a cost or free text, which repeats differ in."""
        called = name if name in self.begin.columns else called_of(name)
        is_verdict = is_called_verdict(name, called) and not is_named_element(name)
        if is_annotator(called) or (is_answer(called) and not is_verdict):
            return False
        values = {value for role, value in self._named_value.items() if role in VALUES}
        is_verdict |= is_metric(called) or name in values
        if is_verdict or set(roles_of(called)) & set(VALUES):
            return True  # what was said beside the verdict
        if is_side_column(called) or is_of_people(called) or name.startswith("column "):
            return True
        texts = self._values(name)
        if texts.n_unique() == len(texts):  # an id of the row
            return True
        longest = texts.str.len_chars().mean()
        return isinstance(longest, float) and longest > SHORT

    def _unused(self) -> dict[str, str]:
        """Columns that stand for nothing, and why."""
        found = {}
        for name in self.begin.columns:
            if name in self.taken or (name in (*TYPED, GOLD) and name != "outcome"):
                continue
            if is_annotator(name):
                found[name] = f"who of several people: {column_flag('judge', name)} takes it so"
            elif is_of_people(name) or any(map(is_of_people, chain(*halves(name)))):
                found[name] = f"what people said: {column_flag('gold', name)} takes it as right"
            elif name in self.extra_scores:
                found[name] = "scores of the same judges, whose verdicts are read"
            elif set(roles_of(name)) & set(VALUES):
                found[name] = f"a name of verdicts: {column_flag('verdict', name)} reads it instead"
            elif is_side_column(name):
                found[name] = "text, time or cost"
            else:
                found[name] = _UNNAMED
        return found
