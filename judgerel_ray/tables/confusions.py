"""The confusions table: the probability of every option after every assessment."""

from __future__ import annotations

import dataframely as dy
import polars as pl

CONFUSION_MODES = ("columns", "paper", "single")
"""One pass an assessment, one prompt a pair, or all assessments in one prompt."""

_MATRIX = [
    "judge",
    "benchmark",
    "item_id",
    "template",
    "criterion",
    "temperature",
    "mode",
]


class Confusions(dy.Schema):
    """One cell of a confusion matrix a row: options are its rows, assessments its columns."""

    judge = dy.String()
    """Name of the judge in the sweep file."""
    benchmark = dy.String()
    """Where the item comes from."""
    item_id = dy.String()
    """The thing judged."""
    template = dy.String()
    """Name of the prompt template."""
    criterion = dy.String(nullable=True)
    """Criterion judged by, where the protocol has one."""
    temperature = dy.Float64(min=0)
    """Temperature the assessments were sampled at; the probabilities are never tempered."""
    mode = dy.String(check=lambda column: column.is_in(list(CONFUSION_MODES)))
    """How the probabilities were read; see `CONFUSION_MODES`."""
    assessment_option = dy.String(nullable=True)
    """Id of the option argued for; null in mode single, where all assessments stand together."""
    verdict_option = dy.String()
    """Id of the option whose probability this is."""
    probability = dy.Float64(nullable=True, min=0, max=1.000001)
    """Probability of that option given that assessment, raw: options need not sum to 1. Null where
    the judge would not argue for the option, or not all of that assessment's have landed."""

    @dy.rule()
    def single_tells_no_assessments_apart(cls) -> pl.Expr:  # noqa: N805  dataframely calls rules on the class
        """Every mode but single names the option argued for."""
        return (pl.col("mode") == "single") == pl.col("assessment_option").is_null()

    @dy.rule()
    def one_probability_a_cell(cls) -> pl.Expr:  # noqa: N805
        """No cell of a matrix stands twice."""
        return pl.len().over(*_MATRIX, "assessment_option", "verdict_option") == 1

    @dy.rule()
    def whole_columns(cls) -> pl.Expr:  # noqa: N805
        """An assessment is there for every option or for none."""
        absent = pl.col("probability").is_null()
        column = (*_MATRIX, "assessment_option")
        return absent.all().over(*column) | absent.any().over(*column).not_()
