"""What a file that somebody else wrote may fetch: nothing of the web, unless the sweep says so."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from judgerel_ray import plan
from judgerel_ray.analyses.gate.requirement import requirements
from judgerel_ray.benchmarks.mix import _part_path
from judgerel_ray.config import parse_sweep
from judgerel_ray.core import SweepError

ITEMS = b"""item_id,question,options
q1,Which?,"[""a"", ""b""]"
q2,Who?,"[""a"", ""b""]"
"""
SWEEP = """
name = "s"
{fetch}
[[judge]]
name = "j"
engine = "simulated"
model = "uniform"
gpus = 0
[[ask]]
protocol = "best_of"
benchmark = "custom"
path = "{url}"
replications = 2
"""


@pytest.fixture
def address():
    """A server of items, with the requests that reached it."""
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.path)
            self.send_response(200)
            self.send_header("Content-Length", str(len(ITEMS)))
            self.end_headers()
            self.wfile.write(b"" if self.command == "HEAD" else ITEMS)

        do_HEAD = do_GET  # noqa: N815  as http.server names it

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/items.csv", seen
    server.shutdown()
    server.server_close()


@pytest.mark.slow
@pytest.mark.parametrize("chain", ["", "simplecache::"])
def test_a_sweep_that_does_not_say_so_fetches_nothing(address, chain):
    url, seen = address
    with pytest.raises(SweepError, match="fetch = true") as refused:
        plan(parse_sweep(SWEEP.format(fetch="", url=f"{chain}{url}")))
    assert "\n" not in str(refused.value)
    assert seen == []


@pytest.mark.parametrize(
    "path",
    ["hf://datasets/a/b.jsonl", "sftp://h/a.csv", "ssh://h/a.csv", "smb://h/s/a.csv", "gh://a/b.csv",
     "reference://a.csv", "simplecache::HF://datasets/a/b.csv", "dir::github", "zip://a::ftp://h/a"],
)  # fmt: skip
def test_any_scheme_that_is_neither_of_a_disk_nor_of_a_bucket_is_of_the_web(path):
    with pytest.raises(SweepError, match="fetch = true"):
        parse_sweep(SWEEP.format(fetch="", url="items.csv")).find(path)


@pytest.mark.parametrize(
    "path",
    ["s3a://b/a.csv", "gcs://b/a.csv", "abfss://b/a.csv", "r2://b/a.csv", "hdfs://n/a.csv",
     "memory://a.csv", "file:///a.csv", "zip://a.csv::s3://b/a.zip", "a::b.csv", "simplecache::s3://b/a.csv"],
)  # fmt: skip
def test_disks_and_buckets_are_not_of_the_web(path):
    assert parse_sweep(SWEEP.format(fetch="", url="items.csv")).find(path).endswith(path)


def test_a_sweep_that_says_so_fetches(address):
    url, seen = address
    plan(parse_sweep(SWEEP.format(fetch="fetch = true", url=url)))
    assert "/items.csv" in seen


@pytest.mark.alike(3)
@pytest.mark.parametrize("key", ["template", "scale", "criterion"])
def test_no_other_path_of_a_sweep_is_fetched(address, key):
    url, seen = address
    sweep = parse_sweep(SWEEP.format(fetch="", url="items.csv"))
    with pytest.raises(SweepError, match="fetch = true"):
        sweep.find(f"{url}/{key}.toml")
    assert sweep.find("s3://bucket/items.csv") == "s3://bucket/items.csv"
    assert seen == []


def test_files_that_sweeps_and_gates_name_fetch_nothing(address, tmp_path):
    url, seen = address
    with pytest.raises(SweepError, match="reads no parts from the web"):
        _part_path("", url)
    rule = f"drop of accuracy <= .1 against {url}"
    (tmp_path / "rules.toml").write_text(f'[gate]\nrequire = ["{rule}"]\n')
    with pytest.raises(SweepError, match="fetch nothing from the web"):
        requirements([], str(tmp_path / "rules.toml"))
    assert requirements([rule], None)[0].against == url
    assert seen == []
