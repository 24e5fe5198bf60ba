"""The distributions table: verdict probabilities that were computed, not sampled."""

from __future__ import annotations

import dataframely as dy
import polars as pl

_DISTRIBUTION = [
    "judge",
    "benchmark",
    "item_id",
    "template",
    "criterion",
    "option_order",
    "temperature",
    "responder",
    "definition",
    "scale",
]
LATER_COLUMNS = ("responder", "definition", "scale")
"""Columns that tables written before ratings were explored do not have: all null there."""
_ROUNDING = 1e-6  # engines give log-probabilities in single precision


class Distributions(dy.Schema):
    """One verdict of one question at one temperature a row."""

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
    option_order = dy.Int32(nullable=True)
    """Index of the order in which options were shown; 0 is the first drawn."""
    temperature = dy.Float64(min=0)
    """Temperature the probabilities are at; 0 is greedy, ties sharing it."""
    verdict = dy.String(nullable=True)
    """Id of the option, or the rating; null is a reply without a verdict."""
    probability = dy.Float64(min=0, max=1 + _ROUNDING)
    """Best guess; those of a distribution sum to 1."""
    low = dy.Float64(min=0, max=1 + _ROUNDING)
    """The probability is certainly no lower."""
    high = dy.Float64(min=0, max=1 + _ROUNDING)
    """The probability is certainly no higher."""
    responder = dy.String(nullable=True)
    """Whose answer is judged, where it is one answer."""
    definition = dy.String(nullable=True)
    """Length of the criterion's definition, of ratings."""
    scale = dy.String(nullable=True)
    """Scale rated on; a verdict is then its canonical text."""

    @dy.rule()
    def between_its_bounds(cls) -> pl.Expr:  # noqa: N805  dataframely calls rules on the class
        """The best guess is within the bounds."""
        above = pl.col("low") <= pl.col("probability") + _ROUNDING
        return above & (pl.col("probability") <= pl.col("high") + _ROUNDING)

    @dy.rule()
    def sums_to_one(cls) -> pl.Expr:  # noqa: N805
        """The verdicts of a question, with none among them, are all there is."""
        total = pl.col("probability").sum().over(*_DISTRIBUTION)
        return (total - 1).abs() <= _ROUNDING * pl.len().over(*_DISTRIBUTION)

    @dy.rule()
    def one_row_a_verdict(cls) -> pl.Expr:  # noqa: N805
        """No verdict of a distribution stands twice."""
        return pl.len().over(*_DISTRIBUTION, "verdict") == 1
