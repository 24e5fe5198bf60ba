"""How sure a judge is of single judgments, read from confusion matrices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgerel_ray.core import SweepError
from judgerel_ray.stats import Uncertainty, confusion_uncertainty

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

    Parameters
    ----------
    threshold : float, optional
        In (0, 1].
    rule : str or sequence of str
        Of :data:`RULES`.
    risk, delta : float
        In (0, 1).

    Returns
    -------
    UncertaintyOptions

    Raises
    ------
    SweepError
        If a number is out of range or a rule unknown.

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

    Returns
    -------
    DataFrame
        The columns of the matrix, options (list), u (list, in their order), chosen,
        chosen_by_matrix, label (null without a threshold), the scores of
        :class:`judgerel_ray.stats.Uncertainty`, n_missing, right, correct, correct_by_matrix,
        undefined.

    Examples
    --------
    >>> matrix_rows([]).height
    0
    """
    return pl.DataFrame([one.row for one in matrices], schema=_row_schema())


def scored_matrices(
    confusions: pl.DataFrame,
    verdicts: pl.DataFrame,
    right: pl.DataFrame,
    options: UncertaintyOptions,
) -> Iterator[ScoredMatrix]:
    """Score every matrix.

    Parameters
    ----------
    confusions : DataFrame
        Of :class:`judgerel_ray.tables.Confusions`.
    verdicts : DataFrame
        The judges' own verdicts: judge, benchmark, item_id, template, temperature, verdict (null
        where there was none).
    right : DataFrame
        The right options: benchmark, item_id, right (null where nobody knows), and ``text`` (what
        names the text judged; without the column each item has its own); ``basis`` and ``raters``
        where it is known whose they are.
    options : UncertaintyOptions
        How matrices are read.

    Yields
    ------
    ScoredMatrix

    Examples
    --------
    >>> from judgerel_ray.analyses.confusion.matrices import confusion_table
    >>> nothing = pl.DataFrame(schema={"benchmark": pl.String, "item_id": pl.String,
    ...                                "right": pl.String})
    >>> own = pl.DataFrame(schema={name: pl.String for name in
    ...                            ("judge", "benchmark", "item_id", "template", "verdict")}
    ...                    | {"temperature": pl.Float64})
    >>> list(scored_matrices(confusion_table([]), own, nothing, UncertaintyOptions()))
    []
    """
    own = {
        (r["judge"], r["benchmark"], r["item_id"], r["template"], r["temperature"]): r["verdict"]
        for r in verdicts.iter_rows(named=True)
    }
    known = {(row["benchmark"], row["item_id"]): row for row in right.iter_rows(named=True)}
    for name, cells in confusions.group_by(*MATRIX, maintain_order=True):
        place = dict(zip(MATRIX, name, strict=True))
        shown = cells["verdict_option"].unique(maintain_order=True).to_list()
        argued = cells["assessment_option"].unique(maintain_order=True).to_list()
        matrix = np.full((len(shown), len(argued)), np.nan)
        rows = {option: row for row, option in enumerate(shown)}
        columns = {option: column for column, option in enumerate(argued)}
        for verdict, assessment, probability in cells.select(
            "verdict_option", "assessment_option", "probability"
        ).iter_rows():
            if probability is not None:
                matrix[rows[verdict], columns[assessment]] = probability
        # A column that has not landed whole says nothing yet.
        matrix[:, np.isnan(matrix).any(axis=0)] = np.nan
        verdict = own.get(
            (place["judge"], place["benchmark"], place["item_id"], place["template"],
             place["temperature"])
        )  # fmt: skip
        one = confusion_uncertainty(
            matrix,
            threshold=options.threshold,
            chosen=rows.get(verdict),
            own_choice_required=options.own_choice_required,
            normalised=options.normalised,
            strict=options.strict,
        )
        item_facts = known.get((place["benchmark"], place["item_id"]), {"right": None})
        yield ScoredMatrix(
            row=_row(place, shown, one, verdict, item_facts["right"]),
            scores=one,
            matrix_OA=matrix,
            argued=tuple(argued),
            text=str(item_facts.get("text", place["item_id"])),
            basis=item_facts.get("basis"),
            raters=item_facts.get("raters"),
        )


def _row(
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
        "label": one.label,
        **{name: getattr(one, name) for name in SCORES},
        "n_missing": one.n_missing,
        "right": answer,
        "correct": None if answer is None else verdict == answer,
        "correct_by_matrix": None if answer is None else by_matrix == answer,
        "undefined": one.undefined,
    }


def _row_schema() -> dict[str, pl.DataType]:
    """Columns of :func:`matrix_rows`."""
    texts = {name: pl.String() for name in MATRIX if name != "temperature"}
    return {
        **{name: texts.get(name, pl.Float64()) for name in MATRIX},
        "options": pl.List(pl.String()),
        "u": pl.List(pl.Float64()),
        "chosen": pl.String(),
        "chosen_by_matrix": pl.String(),
        "label": pl.String(),
        **{name: pl.Float64() for name in SCORES},
        "n_missing": pl.Int64(),
        "right": pl.String(),
        "correct": pl.Boolean(),
        "correct_by_matrix": pl.Boolean(),
        "undefined": pl.String(),
    }
