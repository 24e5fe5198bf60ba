"""The settled table: what adaptive replication found of every condition it asked."""

from __future__ import annotations

import dataframely as dy
import polars as pl

STATES = ("settled", "no_verdict", "unstable", "failed", "open")


class Settled(dy.Schema):
    """One condition that was asked adaptively a row."""

    judge = dy.String()
    """Name of the judge in the sweep file."""
    benchmark = dy.String()
    """Where the item comes from."""
    item_id = dy.String()
    """The thing judged."""
    protocol = dy.String()
    """Form of the judgment."""
    responder = dy.String(nullable=True)
    """Whose answer was judged, where one answer is."""
    template = dy.String()
    """Name of the prompt template."""
    option_order = dy.Int32(nullable=True)
    """Index of the order in which options were shown."""
    temperature = dy.Float64(min=0)
    """Sampling temperature."""
    top_k = dy.Int64()
    """Most probable tokens kept; 0 keeps all."""
    top_p = dy.Float64()
    """Probability mass kept."""
    replications = dy.Int64(min=0)
    """Replications looked at: those of the last whole round."""
    state = dy.String()
    """settled on a verdict; no_verdict: settled that most replies hold none; unstable: no stable
    verdict within the most allowed; failed: it can never be asked; open: still to be asked."""
    verdict = dy.String(nullable=True)
    """Id of the option settled on."""
    share = dy.Float64(nullable=True, min=0, max=1)
    """Of the replications looked at, those with the most frequent verdict (or with none)."""
    low = dy.Float64(nullable=True, min=0, max=1)
    """Lower bound of that verdict's probability, of all verdicts at once, however often looked."""
    high = dy.Float64(nullable=True, min=0, max=1)
    """Upper bound."""
    delta = dy.Float64(min=0, max=1)
    """Chance allowed, a condition, that the verdict settled on is not the most frequent one."""
    most = dy.Int64(min=1)
    """Replications it would have been given at most."""

    @dy.rule()
    def is_of_a_known_state(cls) -> pl.Expr:  # noqa: N805  dataframely calls rules on the class
        """The state is one of those there are."""
        return pl.col("state").is_in(STATES)

    @dy.rule()
    def names_what_is_settled(cls) -> pl.Expr:  # noqa: N805
        """There is a verdict where one is settled, and nowhere else."""
        return pl.col("verdict").is_not_null() == (pl.col("state") == "settled")
