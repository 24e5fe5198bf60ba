"""How often a judge gives the label of a person, beside a person held out, by kind of people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl

from judgerel_ray.analyses.confusion.groups import Bools, JudgedGroup, labellings, labels_of_others
from judgerel_ray.analyses.confusion.uncertainty import ScoredMatrix, UncertaintyOptions
from judgerel_ray.analyses.confusion.worth import group_schema
from judgerel_ray.counting.people import people_labels
from judgerel_ray.stats.ratings.people_match import PeopleMatch, people_match

_F, _I, _S = pl.Float64(), pl.Int64(), pl.String()
_COLUMNS: dict[str, pl.DataType] = {
    "raters": _S, "criterion": _S, "label": _S, "judge_share": _F, "judge_low": _F,
    "judge_high": _F, "person_share": _F, "person_low": _F, "person_high": _F, "difference": _F,
    "difference_low": _F, "difference_high": _F, "noise_floor": _F, "noise_floor_sd": _F,
    "p_noise": _F, "noise": pl.Boolean(), "person_floor": _F, "n_items": _I, "n_ratings": _I,
    "n_split": _I, "n_single": _I, "undefined": _S,
}  # fmt: skip
"""Columns after those of the group."""
_LEVEL = 0.05
_Labels = Mapping[tuple[str, str], Sequence[str]]


def matched_table(
    groups: Sequence[JudgedGroup], items: pl.DataFrame, options: UncertaintyOptions | None = None
) -> pl.DataFrame:
    """Compare judges with people by one measure: how often a label is that of another person.

    Parameters
    ----------
    groups : sequence of JudgedGroup
        From :func:`judgerel_ray.analyses.confusion.groups.judged_groups`.
    items : DataFrame
        Of :class:`judgerel_ray.tables.Items`; a rater named ``kind:name`` is of that kind.
    options : UncertaintyOptions, optional
        How matrices were read.

    Returns
    -------
    DataFrame
        One row a group, kind of ``raters`` (null where they have none; kinds are never pooled) and
        ``label``: "all", then "low" and "high" uncertainty by the labels that lead; and one a
        ``criterion`` where there are several (null for all together). ``judge_share`` is the mean
        over items of the share of its people whose label the judge gave, ``person_share`` the same
        of each person against the item's other people, ``difference`` the one less the other, on
        the same items, with 95 % intervals over texts; the people are those who rated, and none is
        drawn anew. ``noise_floor``: the judge's share with its labels shuffled across items, with
        spread, p and ``noise``; ``person_floor``: that of people. ``n_items`` of two people or
        more take part, ``n_split`` of them without a single most frequent label; ``n_single``
        items of one person do not, as nobody is there to hold out.

    Examples
    --------
    >>> from judgerel_ray.tables import items_to_frame
    >>> matched_table([], items_to_frame([])).height
    0

    Notes
    -----
    Items of low uncertainty may be easy for people, too: their bar is of the same items.
    """
    options = options or UncertaintyOptions()
    labels = people_labels(items)
    kinds: dict[object, dict[tuple[str, str], list[str]]] = {}
    for benchmark, item, kind, given in labels.iter_rows():
        kinds.setdefault(kind, {})[benchmark, item] = given
    rows = [
        {**group.name, "raters": kind, **row}
        for group in groups
        for kind, given in kinds.items()
        for row in _of_kind(group, given, options)
    ]
    return pl.DataFrame(rows, schema={**group_schema(), **_COLUMNS})


def _of_kind(
    group: JudgedGroup, given: _Labels, options: UncertaintyOptions
) -> Iterator[dict[str, object]]:
    """Rows of one group and kind of people."""
    matrices = (*group.judged, *group.unjudged)
    rated = np.array([_place(one) in given for one in matrices], dtype=bool)
    if not any(len(given[_place(one)]) > 1 for one in matrices if _place(one) in given):
        return
    yield _row(None, "all", _match(matrices, rated, given))
    if (low := _low(group, options)) is not None:
        for label, kept in (("low", low), ("high", ~low)):
            yield _row(None, label, _match(matrices, rated & kept, given))
    names = [one.row["criterion"] for one in matrices]
    several = [name for name in dict.fromkeys(names) if name is not None]
    for name in several if len(several) > 1 else ():
        of_criterion = np.array([one == name for one in names], dtype=bool)
        yield _row(name, "all", _match(matrices, rated & of_criterion, given))


def _low(group: JudgedGroup, options: UncertaintyOptions) -> Bools | None:
    """The labels that lead, of all judgments; None where there is no threshold."""
    if not group.judged and options.threshold is None:
        return None
    leading = next(labellings(group, options))
    others = labels_of_others(group, leading, options)
    return None if others is None else np.concatenate([leading.low_N, others])


def _place(one: ScoredMatrix) -> tuple[str, str]:
    """The item of a judgment."""
    return str(one.row["benchmark"]), str(one.row["item_id"])


def _match(matrices: Sequence[ScoredMatrix], kept: Bools, given: _Labels) -> PeopleMatch:
    """A judge and a person against people, on some of the judgments."""
    taken = [matrices[place] for place in np.flatnonzero(kept)]
    names = dict.fromkeys(label for one in taken for label in given[_place(one)])
    columns = {name: column for column, name in enumerate(names)}
    counts = np.zeros((len(taken), max(1, len(columns))), dtype=np.int64)
    for row, one in zip(counts, taken, strict=True):
        for label in given[_place(one)]:
            row[columns[label]] += 1
    chosen = [one.row["chosen"] for one in taken]  # none, and what nobody said, match nobody
    verdicts = np.array([columns.get(str(one), -1) if one is not None else -1 for one in chosen],
                        dtype=np.int64)  # fmt: skip
    texts = np.array([one.text for one in taken], dtype=np.str_)
    return people_match(counts, verdicts, clusters_U=texts)


def _row(criterion: object, label: str, found: PeopleMatch) -> dict[str, object]:
    """One comparison."""
    floor = found.floor
    return {
        "criterion": criterion, "label": label,
        "judge_share": found.judge.value, "judge_low": found.judge.low,
        "judge_high": found.judge.high, "person_share": found.person.value,
        "person_low": found.person.low, "person_high": found.person.high,
        "difference": found.difference.value, "difference_low": found.difference.low,
        "difference_high": found.difference.high, "noise_floor": floor.mean,
        "noise_floor_sd": floor.sd, "p_noise": floor.p,
        "noise": None if floor.p is None else floor.p > _LEVEL,
        "person_floor": found.person_floor, "n_items": found.n_items,
        "n_ratings": found.n_ratings, "n_split": found.n_split, "n_single": found.n_single,
        "undefined": found.judge.undefined,
    }  # fmt: skip
