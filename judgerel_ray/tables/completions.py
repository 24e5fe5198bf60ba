"""The completions table: the texts, apart from the judgments so that reducers never read them."""

from __future__ import annotations

import dataframely as dy


class Completions(dy.Schema):
    """What came back, by key."""

    key = dy.String(primary_key=True)
    """The judgment's key."""
    text = dy.String(nullable=True)
    """The reply; null where the request can never succeed."""
    logprobs = dy.List(
        dy.Struct(
            {
                "token": dy.String(),
                "logprob": dy.Float64(),
                "rank": dy.Int32(nullable=True),
                "continuation": dy.Int32(nullable=True),
            }
        ),
        nullable=True,
    )
    """Log-probabilities (natural log) at the verdict's position, where they were asked for: of the
    likeliest tokens by rank, or of the tokens of the options, `continuation` saying of which."""


class Errors(dy.Schema):
    """Requests that did not land because a transport or an engine failed; they stay owed."""

    key = dy.String()
    """The request's key."""
    judge = dy.String()
    """The judge asked."""
    item_id = dy.String()
    """The item asked about."""
    condition_key = dy.String()
    """The condition's key."""
    replication = dy.Int32()
    """The replication index."""
    lease = dy.String()
    """The lease that failed."""
    attempt = dy.Int32()
    """Which try of the lease, from 1."""
    kind = dy.String()
    """Class of the failure: engine_lost, deadline, transport, quarantined, ..."""
    message = dy.String()
    """What the engine or the transport said, first line."""
    failed_at = dy.Datetime(time_unit="us", time_zone="UTC")
    """When."""
