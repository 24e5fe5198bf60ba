"""Spans of a run: none unless asked for, and what a collector receives."""

from __future__ import annotations

import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from judgerel_ray.asking.run.running import run_sweep
from judgerel_ray.config import read_sweep
from judgerel_ray.core import SweepError
from judgerel_ray.fleet.telemetry import note, traced_run


@pytest.fixture
def collected(monkeypatch):
    """Spans that a collector on this machine receives, each with its attributes."""
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    received = []

    class Collector(BaseHTTPRequestHandler):
        """Takes traces as OpenTelemetry's collector does."""

        def do_POST(self):
            assert self.path == "/v1/traces"
            request = ExportTraceServiceRequest()
            request.ParseFromString(self.rfile.read(int(self.headers["Content-Length"])))
            received.extend(
                span
                for resource in request.resource_spans
                for scope in resource.scope_spans
                for span in scope.spans
            )
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *given):
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Collector)
    Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    yield received
    server.shutdown()
    server.server_close()


def attributes(span) -> dict[str, object]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in span.attributes}


def test_nothing_is_traced_unless_asked_for(collected, monkeypatch):
    monkeypatch.delenv("OTEL_TRACES_EXPORTER", raising=False)
    with traced_run("s", 1):
        note("judgerel.lease", 1.0, judge="a")
    assert collected == []


def test_spans_lie_in_their_run_and_a_lost_lease_says_why(collected, monkeypatch):
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "otlp")
    with traced_run("s", 3):
        note("judgerel.lease", 1.5, judge="a", rows=None, error="engine died")
    lease, run = collected
    assert attributes(run) == {"judgerel.sweep": "s", "judgerel.session": 3}
    assert lease.parent_span_id == run.span_id
    assert attributes(lease) == {"judgerel.judge": "a"}
    assert (lease.status.code, lease.status.message) == (2, "engine died")
    assert lease.end_time_unix_nano - lease.start_time_unix_nano == 1_500_000_000


@pytest.mark.parametrize(("wanted", "said"), [("zipkin", "must be otlp or none, got 'zipkin'")])
def test_another_exporter_is_refused(monkeypatch, wanted, said):
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", wanted)
    with pytest.raises(SweepError, match=said), traced_run("s", 1):
        pytest.fail("traced")


def test_an_exporter_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "otlp")
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.trace_exporter", None)
    with pytest.raises(SweepError, match="not installed"), traced_run("s", 1):
        pytest.fail("traced")


@pytest.mark.ray
@pytest.mark.usefixtures("ray_local")
def test_a_run_traces_its_engines_and_leases(collected, monkeypatch, write_sweep, tmp_path):
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "otlp")
    sweep = read_sweep(str(write_sweep([{"name": "a", "replicas": 1}], n_items=4)))
    summary = run_sweep(sweep, out=str(tmp_path / "run"))
    (run,) = (span for span in collected if span.name == "judgerel.run")
    (start,) = (span for span in collected if span.name == "judgerel.engine_start")
    leases = [attributes(span) for span in collected if span.name == "judgerel.lease"]
    assert {span.trace_id for span in collected} == {run.trace_id}
    assert attributes(start)["judgerel.judge"] == "a"
    assert sum(lease["judgerel.rows"] for lease in leases) == summary.landed > 0
