"""What a run tells monitoring systems: Ray's metrics, judge by judge, and OpenTelemetry's spans.

Ray exports metrics on every node, with ``ray_`` before each name and ``_total`` behind a counter's.
The driver counts what landed, so that no lease is counted twice; an actor says how full it is.

Spans are off unless ``OTEL_TRACES_EXPORTER`` asks for them: one for the session, one for each
engine that came up, and one for each lease, with how long it took from when it was sent, what
landed of it, and why not. The driver makes them, actors make none.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

from judgerel_ray.core import SweepError

VARIABLE = "OTEL_TRACES_EXPORTER"
_TRACER: ContextVar[Any] = ContextVar("judgerel_tracer", default=None)


@contextmanager
def traced_run(sweep: str, session: int) -> Iterator[None]:
    """Send the spans of what happens inside, as OpenTelemetry's own variables say where to.

    Effects: a thread that sends them by HTTP, where the environment asks for it.
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


COUNTERS: Mapping[str, str] = {
    "judgerel_judgments": "Judgments landed.",
    "judgerel_prompt_tokens": "Prompt tokens of what landed, those found in a cache included.",
    "judgerel_cached_tokens": "Prompt tokens found in a prefix cache.",
    "judgerel_generated_tokens": "Tokens generated for what landed.",
    "judgerel_failures": "Requests recorded in errors/.",
    "judgerel_gpu_seconds": "Seconds that engines worked, by the GPUs they hold.",
    "judgerel_cost": "Money for the tokens of what landed, of judges with prices.",
}
GAUGES: Mapping[str, str] = {
    "judgerel_queue_depth": "Requests of this wave that have neither landed nor failed.",
    "judgerel_engines": "Engines that are up.",
    "judgerel_leases_at_work": "Leases that an engine has before it.",
}


def record(name: str, judge: str, value: float) -> None:
    """Add to a counter of a judge, or set its gauge.

    Effects: Ray exports it, where this process is connected. Retry: not safe for a counter.
    """
    if name in GAUGES:
        _fleet_metric(name).set(value, tags={"judge": judge})
    elif value or name not in COUNTERS:  # Ray counts no zero
        _fleet_metric(name).inc(value, tags={"judge": judge})


@cache
def _fleet_metric(name: str) -> Any:
    """A metric of this process, made once."""
    from ray.util.metrics import Counter, Gauge

    if name in GAUGES:
        return Gauge(name, description=GAUGES[name], tag_keys=("judge",))
    return Counter(name, description=COUNTERS[name], tag_keys=("judge",))
