"""The page in a real browser: it fits narrow and wide windows, and the browser has no complaint."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import threading
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import polars as pl
import pytest

from judgerel_ray.analyses.confusion.show import uncertainty_sections
from judgerel_ray.analyses.reliability.sections import reliability_on_page
from judgerel_ray.counting.snapshot import Snapshot
from judgerel_ray.measuring.page_data import page_data
from judgerel_ray.reporting.pages import render_report

pytestmark = [pytest.mark.browser, pytest.mark.slow]
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
LONG = "a-judge-whose-name-is-longer-than-any-telephone-is-wide-" * 2

# The page runs no script but that of its tables, so a frame around it measures.
HARNESS = """<!doctype html><title>x</title><link rel="icon" href="data:,"><pre></pre>
<iframe></iframe>
<script>
const frame = document.querySelector("iframe");
frame.style = "border:0;height:900px;width:WIDTHpx";
frame.onload = () => {
  const page = frame.contentDocument, root = page.documentElement;
  for (const one of page.querySelectorAll("details")) one.open = true;
  const reach = page.querySelectorAll("summary, .wide[tabindex='0']");
  let reached = 0;
  for (const one of reach) { one.focus(); reached += page.activeElement === one; }
  // What a table tells is read without scrolling it.
  const widest = Math.max(...[...page.querySelectorAll("caption")].map(
    (one) => one.getBoundingClientRect().right));
  document.querySelector("pre").textContent =
    `caption=${Math.ceil(widest)} scroll=${root.scrollWidth} client=${root.clientWidth}`
    + ` all=${reach.length} reached=${reached}`;
};
frame.src = "report.html";
</script>"""

SORTING = """<!doctype html><title>x</title><link rel="icon" href="data:,"><pre></pre>
<iframe src="report.html"></iframe>
<script>
document.querySelector("iframe").onload = (event) => {
  const page = event.target.contentDocument, found = { columns: [], filters: [] };
  for (const table of page.querySelectorAll("table")) {
    const heads = [...table.querySelectorAll("thead th")];
    heads.forEach((head, place) => {
      const read = () => [...table.tBodies[0].rows].map((row) => row.cells[place].textContent);
      const seen = [read()], button = head.querySelector("button");
      if (!button) return;
      for (let click = 0; click < 3; click++) { button.click(); seen.push(read()); }
      found.columns.push({ number: head.classList.contains("number"), seen });
    });
  }
  for (const field of page.querySelectorAll(".filter input")) {
    const rows = [...field.closest(".filter").nextElementSibling.querySelectorAll("tbody tr")];
    const of = (text) => {
      field.value = text;
      field.dispatchEvent(new Event("input"));
      return rows.filter((row) => row.checkVisibility()).map((row) => row.textContent);
    };
    for (const one of page.querySelectorAll("details")) one.open = true;
    found.filters.push({ all: rows.map((row) => row.textContent), j: of("1-10"), none: of("zzz"),
      again: of("").length });
  }
  const text = btoa(unescape(encodeURIComponent(JSON.stringify(found))));
  document.querySelector("pre").textContent = "found=" + text;
};
</script>"""


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder without a word, and remembers what was asked of it."""

    asked: ClassVar[list[str]] = []

    def log_message(self, *words):  # noqa: ARG002
        self.asked.append(self.path)


@pytest.fixture
def served(tmp_path):
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield tmp_path, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def page() -> str:
    rows = [
        {"judge": judge, "scale": scale, "temperature": temperature, "item_id": f"q{item}-{LONG}",
         "replication": replication, "option_order": order, "label": "AB"[(item + order) % 2],
         "verdict": "xy"[(item * replication) % 2] if item else None, "benchmark": "b",
         "protocol": "best_of"}
        for judge in ("j", LONG)
        for scale in ("1-5", "1-10")
        for temperature in (0.0, 0.5, 10.0)
        for item in range(5)
        for order in (0, 1)
        for replication in range(3)
    ]  # fmt: skip
    judge = {"judge": LONG, "asked": 9, "landed": 1, "owed": 8, "failed": 3, "error": LONG}
    counts = {"asked": 9, "landed": 1, "owed": 8, "failed": 3, "live": None}
    standing = {"state": "incomplete", "run": f"/{LONG}", "judges": [judge], **counts}
    texts = {("b", f"q{item}-{LONG}"): f"{item} {LONG} " * 9 for item in range(5)}
    measured = replace(page_data(Snapshot(frame=pl.LazyFrame(rows)), texts), replies=None)
    return render_report(
        measured, title=LONG, asked=[("sweep", LONG)], standing=standing,
        sections=reliability_on_page(measured, None),
    )  # fmt: skip


@pytest.fixture
def pages(confusion_inputs):
    """Pages by what they show."""
    scale, few = ("1", "2", "3", "4", "5"), (LONG, "no")
    told = confusion_inputs(
        (("j", 0.5), (LONG, 2.0)), (("grades", scale, 30, ("x", LONG)), (LONG, few, 30, ("x",)))
    )
    replies = pl.DataFrame({"judge": [LONG], "benchmark": [LONG], "role": ["assessor"],
                            "outcome": ["refused"], "n": [1]})  # fmt: skip
    found = uncertainty_sections(told, replies, {})
    shown = render_report(None, title=LONG, asked=[("sweep", LONG)], probabilities=found)
    return {"agreement": page(), "uncertainty": shown}


def browsed(address, folder):
    """What Chromium makes of the harness."""
    return subprocess.run(
        [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
         "--window-size=1400,1000", f"--user-data-dir={folder / 'browser'}",
         "--virtual-time-budget=5000", "--dump-dom", f"{address}/harness.html"],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip


@pytest.mark.skipif(not CHROMIUM, reason="no chromium on this machine")
@pytest.mark.parametrize("width", [380, 400, 1280])
@pytest.mark.parametrize("kind", ["agreement", "uncertainty"])
def test_the_page_fits_and_the_browser_has_nothing_to_complain_of(
    served, tmp_path, pages, kind, width
):
    folder, address = served
    (folder / "report.html").write_text(pages[kind], encoding="utf-8")
    (folder / "harness.html").write_text(HARNESS.replace("WIDTH", str(width)), encoding="utf-8")
    Quiet.asked.clear()
    done = browsed(address, tmp_path)
    found = re.search(
        r"caption=(\d+) scroll=(\d+) client=(\d+) all=(\d+) reached=(\d+)", done.stdout
    )
    assert found, done.stdout[:2000]
    caption, scroll, client, regions, reached = map(int, found.groups())
    assert scroll <= client <= width
    assert caption <= client
    assert regions == reached > 10
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []
    assert sorted(Quiet.asked) == ["/harness.html", "/report.html"]


@pytest.mark.skipif(not CHROMIUM, reason="no chromium on this machine")
def test_tables_sort_by_any_column_and_show_the_rows_with_a_text(served, tmp_path):
    folder, address = served
    (folder / "report.html").write_text(page(), encoding="utf-8")
    (folder / "harness.html").write_text(SORTING, encoding="utf-8")
    done = browsed(address, tmp_path)
    told = re.search(r"found=([\w+/=]+)", done.stdout)
    assert told, done.stdout[:2000] + done.stderr[-2000:]
    found = json.loads(base64.b64decode(told[1]))
    numeric = [column["seen"] for column in found["columns"] if column["number"]]
    assert len(numeric) > 5
    for before, up, down, back in numeric:
        assert back == before
        assert sorted(up) == sorted(down) == sorted(before)
        known = [number_of(text) for text in before if number_of(text) is not None]
        assert [number_of(text) for text in up[: len(known)]] == sorted(known)
        assert [number_of(text) for text in down[: len(known)]] == sorted(known, reverse=True)
    assert any(up != before for before, up, _, _ in numeric)
    assert found["filters"]
    for table in found["filters"]:
        assert table["j"] == [row for row in table["all"] if "1-10" in row]
        assert (table["none"], table["again"]) == ([], len(table["all"]))
    assert any(0 < len(table["j"]) < len(table["all"]) for table in found["filters"])
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []


def number_of(text):
    """The number that a cell begins with."""
    found = re.match(r"[<>]?\s*(-?[\d.]+)", text.strip().replace("\u2212", "-").replace(",", ""))
    return float(found[1]) if found else None
