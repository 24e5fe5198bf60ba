"""From log-probabilities that landed to cells of confusion matrices.

Single confusion matrices worth looking at, and how full matrices are by number of options.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgerel_ray.analyses.confusion.uncertainty import ScoredMatrix
from judgerel_ray.core import Condition, Menu
from judgerel_ray.tables import Confusions

Read = Sequence[Mapping[str, object]]
"""Rows of a completion's ``logprobs``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A request that read probabilities, with what landed of it.

    ``read`` is empty where the judge would not argue the option.
    """

    condition: Condition
    mode: str
    read: Read


def confusion_table(scored: Sequence[Scored], *, last_token: bool = False) -> pl.DataFrame:
    """Lay out confusion matrices, one cell a row.

    Parameters
    ----------
    scored : sequence of Scored
        In any order.
    last_token : bool
        Whether an option's probability is that of its last token given those before, in place of
        the whole option's. They differ only for options of several tokens; what closes a label
        that begins another (the brackets behind 1, where 10 is an option too) is no part of it.

    Returns
    -------
    DataFrame
        Of :class:`judgerel_ray.tables.Confusions`, sorted: all cells of every matrix of which
        anything landed. A column is null unless it is there whole.

    Examples
    --------
    >>> confusion_table([]).height
    0
    """
    matrices: dict[tuple[object, ...], _Matrix] = {}
    for one in scored:
        place = _place(one)
        name = tuple(place.values())
        matrix = matrices.setdefault(name, _Matrix(place=place, options=_menu(one).option_ids))
        column = matrix.columns.setdefault(one.condition.argued, {})
        column.update(_probabilities(one, last_token=last_token))
    rows = [row for matrix in matrices.values() for row in matrix.cells()]
    frame = pl.DataFrame(rows, schema=Confusions.create_empty().schema)
    return Confusions.validate(frame).sort(
        "judge", "benchmark", "item_id", "template", "criterion", "temperature", "mode",
        maintain_order=True,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Matrix:
    """One matrix as far as it has landed: options by the option argued for."""

    place: Mapping[str, object]
    options: tuple[str, ...]
    columns: dict[str | None, dict[str, float | None]] = field(default_factory=dict)

    def cells(self) -> Iterator[dict[str, object]]:
        """Every cell; those of an assessment that is not there whole are null."""
        # In paper mode the cells of a column land one by one, and one of them may fail.
        argued = (None,) if None in self.columns else self.options
        for assessment in argued:
            column = self.columns.get(assessment, {})
            whole = all(column.get(option) is not None for option in self.options)
            for option in self.options:
                yield {
                    **self.place,
                    "assessment_option": assessment,
                    "verdict_option": option,
                    "probability": column[option] if whole else None,
                }


def _place(scored: Scored) -> dict[str, object]:
    """What names a matrix."""
    condition = scored.condition
    return {
        "judge": condition.judge,
        "benchmark": condition.benchmark,
        "item_id": condition.item_id,
        "template": condition.template,
        "criterion": condition.criterion,
        "temperature": condition.temperature,
        "mode": scored.mode,
    }


def _menu(scored: Scored) -> Menu:
    """The options on offer."""
    menu = scored.condition.menu
    if menu is None:
        raise ValueError("confusion_table: a condition must have a menu")
    return menu


def _probabilities(scored: Scored, *, last_token: bool) -> Iterator[tuple[str, float | None]]:
    """What one request says of options: of all of them, or in mode paper of one."""
    menu, scoring = _menu(scored), scored.condition.scoring
    if scoring is None:
        raise ValueError("confusion_table: a condition must have a scoring")
    by_option: dict[int, list[tuple[str, float]]] = {}
    for one in scored.read:
        place, logprob = one["continuation"], one["logprob"]
        if isinstance(place, int) and isinstance(logprob, float):
            by_option.setdefault(place, []).append((str(one["token"]), logprob))
    for number, text in enumerate(scoring.continuations):
        option = _option(text, menu.labels)
        tokens = by_option.get(number)
        probability = None
        if tokens is not None:
            ends = _label_tokens(tokens, text.removeprefix(menu.labels[option]))
            logprob = ends[-1][1] if last_token else math.fsum(one for _, one in tokens)
            # Rounding may leave a sum of logarithms a hair above 0.
            probability = min(1.0, math.exp(logprob))
        yield menu.option_ids[option], probability


def _label_tokens(tokens: Sequence[tuple[str, float]], close: str) -> Sequence[tuple[str, float]]:
    """The tokens up to the label's last: those that only write what closes it are left out."""
    kept = len(tokens)
    while kept > 1 and tokens[kept - 1][0] and close.endswith(tokens[kept - 1][0]):
        close = close.removesuffix(tokens[kept - 1][0])
        kept -= 1
    return tokens[:kept]


def _option(text: str, labels: Sequence[str]) -> int:
    """The option a continuation stands for: the longest label it begins with."""
    begun = [place for place, label in enumerate(labels) if text.startswith(label)]
    return max(begun, key=lambda place: len(labels[place]))


EMPTY = 0.01  # a cell below it is taken for empty


@dataclass(frozen=True, slots=True, kw_only=True)
class Picked:
    """A matrix, and what it was picked for."""

    why: str
    matrix: ScoredMatrix

    def cells(self) -> list[Mapping[str, object]]:
        """Lay out the cells: ``option``, ``argued``, ``probability``, and ``scaled``, by column."""
        matrix = self.matrix.matrix_OA
        totals = matrix.sum(axis=0)
        return [
            {
                "option": option,
                "argued": argued,
                "probability": None if np.isnan(p) else float(p),
                "scaled": float(p / totals[a]) if totals[a] > 0 else None,
            }
            for o, option in enumerate(self.matrix.options)
            for a, argued in enumerate(self.matrix.argued)
            for p in [matrix[o, a]]
        ]


def picked_matrices(matrices: Sequence[ScoredMatrix], *, most: int = 4) -> tuple[Picked, ...]:
    """Pick, of each judge, the most certain, the most torn and the most confidently wrong matrix.

    Parameters
    ----------
    matrices : sequence of ScoredMatrix
        In any order.
    most : int
        Judges of whom any are picked: the first by name.

    Returns
    -------
    tuple of Picked
        At most three a judge. Certain is the largest margin, torn the least distance between the
        two largest u, wrong the largest margin among verdicts that are not the right option; ties
        go to the first by benchmark and item. A matrix is picked for one thing only.

    Examples
    --------
    >>> picked_matrices([])
    ()
    """
    found: list[Picked] = []
    whole = sorted((one for one in matrices if one.scores.u_O), key=_name)
    for judge in sorted({str(one.row["judge"]) for one in whole})[:most]:
        of_judge = [one for one in whole if one.row["judge"] == judge]
        taken: list[ScoredMatrix] = []
        for why, pool, worth in _KINDS:
            left = [
                one for one in of_judge if not any(one is other for other in taken) and pool(one)
            ]
            if left:
                best = max(left, key=worth)
                taken.append(best)
                found.append(Picked(why=why, matrix=best))
    return tuple(found)


def _name(one: ScoredMatrix) -> tuple[str, ...]:
    """What a matrix is sorted by."""
    return tuple(str(one.row[name]) for name in ("judge", "benchmark", "item_id", "template"))


def _margin(one: ScoredMatrix) -> float:
    """How sure."""
    return one.scores.margin or 0.0


def _closeness(one: ScoredMatrix) -> float:
    """How near the two largest u are, the nearer the higher."""
    first, second = sorted(one.scores.u_O, reverse=True)[:2]
    return second - first


_KINDS: tuple[
    tuple[str, Callable[[ScoredMatrix], bool], Callable[[ScoredMatrix], float]], ...
] = (
    ("most certain", lambda one: one.row["correct"] is not False, _margin),
    ("most torn", lambda _: True, _closeness),
    ("most confidently wrong", lambda one: one.row["correct"] is False and _margin(one) > 0,
     _margin),
)  # fmt: skip


def sparsity_table(matrices: Sequence[ScoredMatrix]) -> pl.DataFrame:
    """Tell by number of options how far probability follows what was argued.

    Parameters
    ----------
    matrices : sequence of ScoredMatrix
        Those with one assessment an option count.

    Returns
    -------
    DataFrame
        One row a judge and number of options: ``n_matrices``, mean probability of the option
        argued for (``argued``) and of each other option (``other``), the probability of even odds
        (``even``), and the share of cells off the diagonal below 0.01 (``empty``). Columns that are
        not there do not count.

    Examples
    --------
    >>> sparsity_table([]).height
    0
    """
    found: dict[tuple[str, int], list[NDArray[np.float64]]] = {}
    for one in matrices:
        n = len(one.matrix_OA)
        if one.matrix_OA.shape == (n, n) and n > 1 and one.scores.u_O:
            found.setdefault((str(one.row["judge"]), n), []).append(one.matrix_OA)
    rows = [dict(_filled(judge, n, members)) for (judge, n), members in sorted(found.items())]
    numbers = {name: pl.Float64() for name in ("argued", "other", "even", "empty")}
    schema = {
        "judge": pl.String(),
        "n_options": pl.Int64(),
        "n_matrices": pl.Int64(),
        **numbers,
    }
    return pl.DataFrame(rows, schema=schema)


def _filled(
    judge: str, n: int, members: Sequence[NDArray[np.float64]]
) -> Iterator[tuple[str, object]]:
    """One judge and number of options."""
    cells = np.array(members)
    diagonal = np.eye(n, dtype=bool)
    off = cells[:, ~diagonal]
    off = off[~np.isnan(off)]
    yield "judge", judge
    yield "n_options", n
    yield "n_matrices", len(members)
    yield "argued", float(np.nanmean(cells[:, diagonal]))
    yield "other", float(off.mean())
    yield "even", 1 / n
    yield "empty", float((off < EMPTY).mean())
