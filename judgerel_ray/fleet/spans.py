"""Spans of a run for OpenTelemetry: off unless ``OTEL_TRACES_EXPORTER`` asks for them.

A span for the session, one for each engine that came up, and one for each lease: how long it took
from when it was sent, what landed of it, and why not. The driver makes them, actors make none.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from judgerel_ray.core import SweepError

VARIABLE = "OTEL_TRACES_EXPORTER"
_TRACER: ContextVar[Any] = ContextVar("judgerel_tracer", default=None)


@contextmanager
def traced_run(sweep: str, session: int) -> Iterator[None]:
    """Send the spans of what happens inside, as OpenTelemetry's own variables say where to.

    Effects: a thread that sends them by HTTP, where the environment asks for it.

    Raises
    ------
    SweepError
        If another exporter than ``otlp`` is asked for, or its package is not there.
    """
    wanted = os.environ.get(VARIABLE, "none") or "none"
    if wanted == "none":
        yield
        return
    if wanted != "otlp":
        raise SweepError(f"{VARIABLE} must be otlp or none, got {wanted!r}", hint="otlp")
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise SweepError(
            f"{VARIABLE} = otlp needs a package that is not installed: {error.name}",
            hint="pip install opentelemetry-exporter-otlp-proto-http",
        ) from error
    name = os.environ.get("OTEL_SERVICE_NAME", "judgerel_ray")
    provider = TracerProvider(resource=Resource.create({"service.name": name}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    tracer = provider.get_tracer("judgerel_ray")
    known: dict[str, str | int] = {"judgerel.sweep": sweep, "judgerel.session": session}
    token = _TRACER.set(tracer)
    try:
        with tracer.start_as_current_span("judgerel.run", attributes=known):
            yield
    finally:
        _TRACER.reset(token)
        provider.shutdown()


def note(name: str, seconds: float, **known: object) -> None:
    """Tell of something that took so many seconds and has just ended; nothing where none is traced.

    Attributes are those `known`, with ``judgerel.`` before each name; ``error`` fails the span.

    Examples
    --------
    >>> note("judgerel.lease", 1.5, judge="j", rows=32)
    """
    tracer = _TRACER.get()
    if tracer is None:
        return
    from opentelemetry.trace import Status, StatusCode

    ended = time.time_ns()
    error = known.pop("error", None)
    attributes = {f"judgerel.{key}": value for key, value in known.items() if value is not None}
    began = ended - int(seconds * 1e9)
    span = tracer.start_span(name, start_time=began, attributes=attributes)
    if error is not None:
        span.set_status(Status(StatusCode.ERROR, str(error)))
    span.end(ended)
