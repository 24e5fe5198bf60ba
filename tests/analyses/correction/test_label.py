"""``label``: which items are drawn, what people see of them, and the way back."""

import base64
import json
import re
import shutil
import subprocess
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import numpy as np
import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.analyses.correction.label_page import drawn_units, render_label_page
from judgerel_ray.cli import main
from judgerel_ray.core import SweepError

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)
ATTACK = "</script><script>window.attacked=1</script><img src=x onerror='window.attacked=1'>"


def units(n, unstable=None):
    return pl.DataFrame(
        {"item_id": [f"q{i}" for i in range(n)], "unstable": unstable, "uncertain": None},
        schema_overrides={"unstable": pl.Float64, "uncertain": pl.Float64},
    )


@pytest.mark.slow
@pytest.mark.parametrize("choose", ["random", "unstable"])
def test_every_unit_is_drawn_as_often_as_its_probability_says(choose):
    some = units(12, [0.0] * 8 + [0.1, 0.2, 0.4, 0.5])
    draws = [drawn_units(some, 4, choose=choose, seed=seed) for seed in range(600)]
    assert {one.height for one in draws} == {4}
    told = dict(pl.concat(draws).select("item_id", "probability").rows())
    counted = pl.concat(draws)["item_id"].value_counts()
    for name, n in counted.rows():
        assert n / 600 == pytest.approx(told[name], abs=0.07)  # three standard errors and more
    if choose == "random":
        assert set(told.values()) == {4 / 12}
    else:
        assert told["q11"] > 3 * told["q0"] > 0


def test_all_are_drawn_where_there_are_no_more():
    assert drawn_units(units(3), 9)["probability"].to_list() == [1.0] * 3


def test_a_draw_by_what_nobody_knows_is_refused():
    with pytest.raises(SweepError, match="nothing to choose unstable items by"):
        drawn_units(units(3), 2, choose="unstable")
    with pytest.raises(SweepError, match="--n must be at least 1"):
        drawn_units(units(3), 0)


@pytest.fixture
def judged(tmp_path):
    rows = [
        {"judge": "secret-judge", "item_id": f"q{i}", "replication": r, "question": f"why {i}?",
         "answer": ATTACK if i == 0 else f"because {i}", "confidence": 0.5 + i / 50,
         "verdict": "pass" if (i * r) % 3 == 0 else "fail"}
        for i in range(20) for r in range(3)
    ]  # fmt: skip
    pl.DataFrame(rows).write_csv(tmp_path / "judged.csv")
    return str(tmp_path / "judged.csv")


def data_of(page):
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    return json.loads(found[1])


@pytest.mark.alike(3)
@pytest.mark.parametrize("choose", ["random", "unstable", "uncertain"])
def test_page_is_blind_and_has_what_people_need(judged, tmp_path, choose):
    out = tmp_path / "page.html"
    assert judgerel_ray.label(judged, out=out, n=20, choose=choose) == 20
    page = out.read_text(encoding="utf-8")
    data = data_of(page)
    assert data["choices"] == ["pass", "fail"]
    assert sorted(one["keys"]["item_id"] for one in data["items"]) == sorted(
        f"q{i}" for i in range(20)
    )
    assert ["Answer", ATTACK] in [part for one in data["items"] for part in one["parts"]]
    assert "secret-judge" not in page
    assert "verdict" not in json.dumps(data)


def test_page_runs_its_own_script_alone():
    one = pl.DataFrame({"item_id": [ATTACK], "probability": [0.5], "parts": [[["Q", ATTACK]]]})
    page = render_label_page(one, ["item_id"], ["pass", "fail"], title="1 item")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-")
    assert page.count("<script") == 2
    assert not re.search(r"(?:src|href)=\"?https?:", page)


def test_items_without_texts_are_refused(judged, tmp_path):
    bare = pl.read_csv(judged).drop("question", "answer")
    with pytest.raises(SweepError, match=r"nothing says what item .* is about"):
        judgerel_ray.label(bare, out=tmp_path / "page.html", n=3)
    texts = pl.DataFrame({"item_id": [f"q{i}" for i in range(20)], "question": "why?"})
    texts.write_csv(tmp_path / "texts.csv")
    assert judgerel_ray.label(
        bare, out=tmp_path / "page.html", n=3, items=tmp_path / "texts.csv"
    ) == 3  # fmt: skip


def test_items_of_which_people_would_see_one_text_of_several_are_refused(judged, tmp_path):
    file, out = str(tmp_path / "items.csv"), tmp_path / "page.html"
    said = pl.DataFrame({"item_id": ["q1", "q1"], "answer": ["yes", "no"]})
    rows = pl.read_csv(judged)
    alone = pl.DataFrame({"item_id": rows["item_id"].unique()}).with_columns(answer=pl.lit("yes"))
    by_two = pl.concat([alone.with_columns(responder=pl.lit(name), answer=pl.lit(name))
                        for name in ("new", "old")])  # fmt: skip
    for items in (pl.concat([alone, said]), by_two):
        items.write_csv(file)
        with pytest.raises(SweepError, match=r"item 'q\d+' has several texts.*column responder"):
            judgerel_ray.label(judged, items=file, out=out)
    repeats = rows.with_columns(answer=pl.col("replication").cast(pl.String))
    with pytest.raises(SweepError, match=r"has several texts.*judgerel items log"):
        judgerel_ray.label(repeats, out=out)
    pl.concat([alone, alone]).write_csv(file)  # a row that is there twice says nothing else
    assert judgerel_ray.label(judged, items=file, n=5, out=out) == 5


def test_command_says_what_comes_next_and_spares_files_of_others(judged, tmp_path, capsys):
    out = tmp_path / "page.html"
    assert main(["label", judged, "--out", str(out), "--n", "5"]) == 0
    assert "5 items to label; its export is for judgerel correct" in capsys.readouterr().out
    out.write_text("mine", encoding="utf-8")
    assert main(["label", judged, "--out", str(out)]) == 2
    assert "did not write" in capsys.readouterr().err


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder without a word, and remembers what was asked of it."""

    asked: ClassVar[list[str]] = []

    def log_message(self, *words):  # noqa: ARG002
        self.asked.append(self.path)


HARNESS = """<!doctype html><title>x</title><link rel="icon" href="data:,"><pre></pre>
<iframe src="page.html"></iframe>
<script>
const frame = document.querySelector("iframe");
let visits = 0, before = null, resumed = null, told = null;
frame.onload = () => {
  const page = frame.contentWindow, root = frame.contentDocument;
  const key = (name) =>
    root.dispatchEvent(new page.KeyboardEvent("keydown", { key: name, bubbles: true }));
  visits += 1;
  if (visits === 1) {
    for (const one of ["1", "2", "2", "ArrowLeft", "u", "1", "ArrowRight"]) key(one);
    before = page.csv();
    page.location.reload();
    return;
  }
  if (visits === 2) {
    resumed = page.csv();
    page.localStorage.clear();
    page.location.reload();
    return;
  }
  if (visits === 3) {
    const empty = page.csv();
    page.resume(before);
    told = { empty, again: page.csv() };
    page.localStorage.clear();
    page.location.reload();
    return;
  }
  for (const junk of ["", "hello", before.replaceAll("pass", "?").replaceAll("fail", "?")])
    page.resume(junk);
  const refused = root.getElementById("state").textContent, still = page.csv();
  const excel = "sep=;\\r\\n" + before.replaceAll('","', '";"').replaceAll("pass", "PASS");
  const bytes = [0xff, 0xfe, ...[...excel].flatMap((c) => [c.charCodeAt(0), 0])];
  page.resume(page.decoded(new page.Uint8Array(bytes)));
  const found = { before, resumed, ...told, refused, still, excel: page.csv(),
    attacked: !!page.attacked,
    state: root.getElementById("state").textContent, images: root.images.length,
    wide: [root.documentElement.scrollWidth, ...[...root.querySelectorAll("main *")].filter(
      (one) => one.getBoundingClientRect().right > 380).map((one) => one.id || one.tagName)] };
  const text = btoa(unescape(encodeURIComponent(JSON.stringify(found))));
  document.querySelector("pre").textContent = "found=" + text;
};
frame.style = "border:0;height:900px;width:380px";
</script>"""


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.skipif(not CHROMIUM, reason="no chromium on this machine")
def test_people_label_by_keyboard_and_go_on_where_they_were(judged, tmp_path):
    judgerel_ray.label(judged, out=tmp_path / "page.html", n=20)
    (tmp_path / "harness.html").write_text(HARNESS, encoding="utf-8")
    Quiet.asked.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        done = subprocess.run(
            [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
             f"--user-data-dir={tmp_path / 'browser'}", "--virtual-time-budget=5000", "--dump-dom",
             f"http://127.0.0.1:{server.server_port}/harness.html"],
            capture_output=True, text=True, timeout=180, check=True,
        )  # fmt: skip
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    told = re.search(r"found=([\w+/=]+)", done.stdout)
    assert told, done.stdout[:2000] + done.stderr[-2000:]
    found = json.loads(base64.b64decode(told[1]))
    rows = pl.read_csv(found["before"].encode())
    assert rows["label"].to_list()[:3] == ["pass", "fail", "pass"]
    assert rows["label"].to_list()[3:] == [""] * 17
    assert rows["probability"].to_list() == [1.0] * 20
    assert found["resumed"] == found["before"] == found["again"] != found["empty"]
    assert found["excel"] == found["before"]
    assert found["still"] == found["empty"]
    assert found["refused"].startswith("No label of these items is in that file")
    assert found["state"].endswith("3 labelled")
    assert not found["attacked"]
    assert found["images"] == 0
    assert found["wide"] == [380]
    assert [line for line in done.stderr.splitlines() if "CONSOLE" in line] == []
    assert sorted(Quiet.asked) == ["/harness.html", *["/page.html"] * 4]
    (tmp_path / "labels.csv").write_text(found["before"], encoding="utf-8")
    corrected = judgerel_ray.correct(judged, labels=tmp_path / "labels.csv")
    assert corrected.estimates["n_labels"].unique().to_list() == [3]


def test_unstable_is_what_replications_of_one_judge_differ_by(judged, tmp_path):
    judgerel_ray.label(judged, out=tmp_path / "page.html", n=6, choose="unstable", seed=3)
    items = data_of((tmp_path / "page.html").read_text(encoding="utf-8"))["items"]
    p = {one["keys"]["item_id"]: one["probability"] for one in items}
    steady = [value for name, value in p.items() if int(name[1:]) % 3 == 0]
    assert np.max(steady, initial=0) < min(v for k, v in p.items() if int(k[1:]) % 3)
