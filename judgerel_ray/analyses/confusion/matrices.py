"""Confusion matrices: from log-probabilities that landed to cells, and what each matrix says.

A matrix says how sure its judge is of one judgment; beside that, which single matrices are worth
looking at, and how full matrices are by number of options.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgerel_ray.analyses.confusion.tables import ArguedShares, MatrixRows
from judgerel_ray.core import Condition, Menu, SweepError
from judgerel_ray.core.tables import GroupColumns, as_columns
from judgerel_ray.stats import Uncertainty, confusion_uncertainty
from judgerel_ray.tables import Confusions


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

    Of :class:`judgerel_ray.tables.Confusions`, sorted: all cells of every matrix of which anything
    landed. A column is null unless it is there whole.

    Examples
    --------
    >>> confusion_table([]).height
    0
    """
    matrices: dict[tuple[object, ...], _Matrix] = {}
    for one in scored:
        place = _confusion_matrix_key(one)
        name = tuple(place.values())
        matrix = matrices.setdefault(
            name, _Matrix(place=place, options=_confusion_option_menu(one).option_ids)
        )
        column = matrix.columns.setdefault(one.condition.argued, {})
        column.update(_confusion_probabilities(one, last_token=last_token))
    rows = [row for matrix in matrices.values() for row in matrix.cells()]
    frame = pl.DataFrame(rows, schema=Confusions.create_empty().schema)
    return Confusions.validate(frame).sort(MATRIX, maintain_order=True)


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


def _confusion_matrix_key(scored: Scored) -> dict[str, object]:
    """What names a matrix."""
    return {**as_columns(scored.condition, *MATRIX[:-1]), "mode": scored.mode}


def _confusion_option_menu(scored: Scored) -> Menu:
    """The options on offer."""
    menu = scored.condition.menu
    if menu is None:
        raise ValueError("confusion_table: a condition must have a menu")
    return menu


def _confusion_probabilities(
    scored: Scored, *, last_token: bool
) -> Iterator[tuple[str, float | None]]:
    """What one request says of options: of all of them, or in mode paper of one."""
    menu, scoring = _confusion_option_menu(scored), scored.condition.scoring
    if scoring is None:
        raise ValueError("confusion_table: a condition must have a scoring")
    by_option: dict[int, list[tuple[str, float]]] = {}
    for one in scored.read:
        place, logprob = one["continuation"], one["logprob"]
        if isinstance(place, int) and isinstance(logprob, float):
            by_option.setdefault(place, []).append((str(one["token"]), logprob))
    for number, text in enumerate(scoring.continuations):
        option = _confusion_option_of_text(text, menu.labels)
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


def _confusion_option_of_text(text: str, labels: Sequence[str]) -> int:
    """The option a continuation stands for: the longest label it begins with."""
    begun = [place for place, label in enumerate(labels) if text.startswith(label)]
    return max(begun, key=lambda place: len(labels[place]))


_ASKED = ("judge", "benchmark", "item_id", "template", "temperature")
MATRIX = ("judge", "benchmark", "item_id", "template", "criterion", "temperature", "mode")
SCORES = (
    "margin", "signed_margin", "entropy", "worst_case", "suggestibility", "dobrushin",
    "mutual_information",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class UncertaintyOptions:
    """How matrices are read.

    ``threshold`` labels at one threshold; without it labels are cross-fitted. ``normalised``,
    ``own_choice_required`` and ``strict`` are those of
    :func:`judgerel_ray.stats.confusion_uncertainty`. ``risk`` and ``delta`` ask for a threshold
    that accepts at most that share of wrong judgments, but for that chance; ``error`` for sets of
    options that miss the right one at most that often. ``thresholds`` are more thresholds to
    report, and ``scales`` the options of ordered scales from the lowest to the highest, both by
    benchmark; options that are all numbers are a scale anyway.
    """

    threshold: float | None = None
    thresholds: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    scales: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    normalised: bool = False
    own_choice_required: bool = True
    strict: bool = False
    risk: float = 0.1
    delta: float = 0.1
    error: float = 0.1
    seed: int = 0


RULES = ("normalised", "formula", "exceeding")
"""How matrices may be read otherwise: columns scaled to sum 1, low whatever the judge itself chose,
and low only where u exceeds the threshold."""


def uncertainty_options(
    *,
    threshold: float | None = None,
    rule: Sequence[str] | str = (),
    risk: float = 0.1,
    delta: float = 0.1,
) -> UncertaintyOptions:
    """Read how a user wants matrices read.

    Examples
    --------
    >>> uncertainty_options(rule=["formula"]).own_choice_required
    False
    """
    rules = (rule,) if isinstance(rule, str) else tuple(rule)
    if threshold is not None and not 0 < threshold <= 1:
        raise SweepError(f"threshold must be above 0 and at most 1, got {threshold}")
    for name, value in (("risk", risk), ("delta", delta)):
        if not 0 < value < 1:
            raise SweepError(f"{name} must be between 0 and 1, got {value}")
    for one in rules:
        if one not in RULES:
            raise SweepError(f"rule must be of {', '.join(RULES)}, got {one!r}")
    return UncertaintyOptions(
        threshold=threshold,
        normalised="normalised" in rules,
        own_choice_required="formula" not in rules,
        strict="exceeding" in rules,
        risk=risk,
        delta=delta,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredMatrix:
    """One judgment: its row of :func:`matrix_rows`, its scores, and its matrix.

    ``matrix_OA`` has the options of the row as rows and the assessments ``argued`` (None where all
    stood together) as columns; a column of NaN is not there. ``text`` names the text judged:
    judgments of one text are not independent. ``basis`` says where its right option is from, or why
    there is none, and ``raters`` whose majority it is, as of
    :func:`judgerel_ray.analyses.confusion.from_run.right_options`.
    """

    row: Mapping[str, object]
    scores: Uncertainty
    matrix_OA: NDArray[np.float64]  # noqa: N815  a shape, not a case
    argued: tuple[str | None, ...]
    text: str
    basis: str | None = None
    raters: str | None = None

    @property
    def options(self) -> tuple[str, ...]:
        """Ids of the options, in the order of the rows."""
        found = self.row["options"]
        return tuple(str(one) for one in found) if isinstance(found, list) else ()

    @property
    def right(self) -> int | None:
        """Row of the right option; None where nobody knows it."""
        return self.options.index(str(self.row["right"])) if self.row["right"] else None


def matrix_rows(matrices: Sequence[ScoredMatrix]) -> pl.DataFrame:
    """Lay out scored matrices, a row each.

    Examples
    --------
    >>> matrix_rows([]).height
    0
    """
    named = {name: GroupColumns.dtypes.get(name, pl.String()) for name in MATRIX}
    return MatrixRows.frame((one.row for one in matrices), named)


def scored_matrices(
    confusions: pl.DataFrame,
    verdicts: pl.DataFrame,
    right: pl.DataFrame,
    options: UncertaintyOptions,
) -> Iterator[ScoredMatrix]:
    """Score every matrix.

    Examples
    --------
    >>> from judgerel_ray.analyses.confusion.matrices import confusion_table
    >>> nothing = pl.DataFrame(schema={"benchmark": pl.String, "item_id": pl.String,
    ...                                "right": pl.String})
    >>> plain = pl.DataFrame(schema={name: pl.String for name in
    ...                            ("judge", "benchmark", "item_id", "template", "verdict")}
    ...                    | {"temperature": pl.Float64})
    >>> list(scored_matrices(confusion_table([]), plain, nothing, UncertaintyOptions()))
    []
    """
    if confusions.is_empty():
        return
    plain = dict(zip(verdicts.select(_ASKED).iter_rows(), verdicts["verdict"], strict=True))
    known = {(row["benchmark"], row["item_id"]): row for row in right.iter_rows(named=True)}
    for name, cells in confusions.group_by(*MATRIX, maintain_order=True):
        place = dict(zip(MATRIX, name, strict=True))
        shown = cells["verdict_option"].unique(maintain_order=True).to_list()
        argued = cells["assessment_option"].unique(maintain_order=True).to_list()
        matrix = np.full((len(shown), len(argued)), np.nan)
        rows = {option: row for row, option in enumerate(shown)}
        for verdict, assessment, probability in cells.select(
            "verdict_option", "assessment_option", "probability"
        ).iter_rows():
            if probability is not None:
                matrix[rows[verdict], argued.index(assessment)] = probability
        # A column that has not landed whole says nothing yet.
        matrix[:, np.isnan(matrix).any(axis=0)] = np.nan
        verdict = plain.get(tuple(place[one] for one in _ASKED))
        one = confusion_uncertainty(
            matrix, threshold=options.threshold, chosen=rows.get(verdict),
            own_choice_required=options.own_choice_required, normalised=options.normalised,
            strict=options.strict,
        )  # fmt: skip
        item_facts = known.get((place["benchmark"], place["item_id"]), {"right": None})
        yield ScoredMatrix(
            row=_confusion_matrix_row(place, shown, one, verdict, item_facts["right"]),
            scores=one,
            matrix_OA=matrix,
            argued=tuple(argued),
            text=str(item_facts.get("text", place["item_id"])),
            basis=item_facts.get("basis"),
            raters=item_facts.get("raters"),
        )


def _confusion_matrix_row(
    place: dict[str, object],
    shown: Sequence[str],
    one: Uncertainty,
    verdict: object,
    answer: str | None,
) -> dict[str, object]:
    """One judgment's scores as a row."""
    by_matrix = None if one.chosen_by_matrix is None else shown[one.chosen_by_matrix]
    return {
        **place,
        "options": list(shown),
        "u": list(one.u_O),
        "chosen": verdict,
        "chosen_by_matrix": by_matrix,
        **as_columns(one, "label", *SCORES, "n_missing", "undefined"),
        "right": answer,
        "correct": None if answer is None else verdict == answer,
        "correct_by_matrix": None if answer is None else by_matrix == answer,
    }


Read = Sequence[Mapping[str, object]]
"""Rows of a completion's ``logprobs``."""


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

    At most three a judge. Certain is the largest margin, torn the least distance between the two
    largest u, wrong the largest margin among verdicts that are not the right option; ties go to the
    first by benchmark and item. A matrix is picked for one thing only.

    Examples
    --------
    >>> picked_matrices([])
    ()
    """
    found: list[Picked] = []
    whole = [one for one in matrices if one.scores.u_O]
    whole.sort(key=lambda one: tuple(str(one.row[name]) for name in MATRIX[:4]))
    for judge in sorted({str(one.row["judge"]) for one in whole})[:most]:
        left = [one for one in whole if one.row["judge"] == judge]
        for why, pool, worth in _KINDS:
            if fitting := [one for one in left if pool(one)]:
                best = max(fitting, key=worth)
                left = [one for one in left if one is not best]
                found.append(Picked(why=why, matrix=best))
    return tuple(found)


def _margin(one: ScoredMatrix) -> float:
    """How sure."""
    return one.scores.margin or 0.0


def _confusion_closeness(one: ScoredMatrix) -> float:
    """How near the two largest u are, the nearer the higher."""
    first, second = sorted(one.scores.u_O, reverse=True)[:2]
    return second - first


_KINDS: tuple[
    tuple[str, Callable[[ScoredMatrix], bool], Callable[[ScoredMatrix], float]], ...
] = (
    ("most certain", lambda one: one.row["correct"] is not False, _margin),
    ("most torn", lambda _: True, _confusion_closeness),
    ("most confidently wrong", lambda one: one.row["correct"] is False and _margin(one) > 0,
     _margin),
)  # fmt: skip


def sparsity_table(matrices: Sequence[ScoredMatrix]) -> pl.DataFrame:
    """Tell by number of options how far probability follows what was argued.

    Columns that are not there do not count.

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
    rows = [
        _confusion_sparsity_row(judge, n, members) for (judge, n), members in sorted(found.items())
    ]
    return ArguedShares.frame(rows)


def _confusion_sparsity_row(
    judge: str, n: int, members: Sequence[NDArray[np.float64]]
) -> dict[str, object]:
    """One judge and number of options."""
    cells = np.array(members)
    diagonal = np.eye(n, dtype=bool)
    off = cells[:, ~diagonal]
    off = off[~np.isnan(off)]
    return {
        "judge": judge, "n_options": n, "n_matrices": len(members), "even": 1 / n,
        "argued": float(np.nanmean(cells[:, diagonal])),
        "other": float(off.mean()), "empty": float((off < EMPTY).mean()),
    }  # fmt: skip
