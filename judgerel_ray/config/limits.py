"""``limits`` of a ``[[judge]]`` behind an API: what its server may be asked, and how patiently."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from judgerel_ray.config.table import Number, Table, Whole

SHARED = ("concurrency", "requests_per_minute", "tokens_per_minute")
"""Limits of a provider, which all judges behind it share."""


class Limits(Table):
    """What one provider may be asked; its judges and all their actors share it.

    A provider is a ``base_url`` with an ``api_key_env``.
    """

    concurrency: Whole = Field(default=32, ge=1, le=10_000)
    """Requests at the server at once."""
    requests_per_minute: Number | None = Field(default=None, ge=1)
    """Requests sent in any 60 seconds, those sent again included; default no limit."""
    tokens_per_minute: Number | None = Field(default=None, ge=1)
    """Tokens of prompts and replies in any 60 seconds; default no limit."""
    timeout: Number = Field(default=120.0, gt=0)
    """Seconds one try of a request may take."""
    retries: Whole = Field(default=6, ge=0, le=1000)
    """How often a request is sent again that its server failed at: no reply in time, half a reply,
    an error of the server's own (5xx). One that says to come back later, or is not there, is asked
    until the deadline."""
    deadline: Number = Field(default=600.0, gt=0)
    """Seconds a request may take with all its tries and the waiting between them."""

    @model_validator(mode="after")
    def _tries_fit(self) -> Self:
        """Refuse a deadline that not even one try can keep."""
        if self.deadline < self.timeout:
            raise ValueError(
                f"deadline must be at least timeout = {self.timeout:g}, got {self.deadline:g}"
            )
        return self

    def lease_seconds(self, requests: int, tokens: int) -> float:
        """Longest time in which so much work must have ended, one way or the other.

        Examples
        --------
        >>> Limits(concurrency=10, deadline=600).lease_seconds(20, 0)
        1200.0
        """
        seconds = -(-requests // self.concurrency) * self.deadline
        if self.requests_per_minute is not None:
            seconds += 60.0 * requests / self.requests_per_minute
        if self.tokens_per_minute is not None:
            seconds += 60.0 * tokens / self.tokens_per_minute
        return seconds
