from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser

import polars as pl
import pytest

from judgerel_ray.analyses.reliability.sections import reliability_on_page
from judgerel_ray.counting.snapshot import Snapshot
from judgerel_ray.measuring.page_data import page_data
from judgerel_ray.reporting.pages import render_report

HOSTILE = '"><script>alert(1)</script>&$title'
VOID = {"meta", "link", "br"}


class Checker(HTMLParser):
    """Every tag closed in its turn; what would leave the page is kept."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.text: list[str] = []
        self.references: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.references += [f"{k}={v}" for k, v in attrs if k in ("src", "href", "srcset", "data")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def judgments(**columns) -> pl.LazyFrame:
    rows = [
        {
            "judge": judge,
            "temperature": temperature,
            "item_id": f"q{item}{HOSTILE}",
            "replication": replication,
            "verdict": verdict,
        }
        for judge in ("steady", HOSTILE)
        for temperature in (0.5, 1.0)
        for item in range(4)
        for replication, verdict in enumerate(["A", "B" if item else "A", None, "A"])
    ]
    rows += [
        {"judge": "steady", "temperature": 0.0, "item_id": "q", "replication": 0, "verdict": "A"}
    ]
    return pl.LazyFrame(rows).with_columns(**{k: pl.lit(v) for k, v in columns.items()})


def rendered(frame: pl.LazyFrame, **options) -> str:
    measured = replace(page_data(Snapshot(frame=frame), None), replies=None)
    sections = reliability_on_page(measured, None)
    asked = {"title": HOSTILE, "asked": [("sweep", HOSTILE)], "sections": sections}
    page = render_report(measured, **{**asked, **options})
    # A number and its percent sign are tied; tests read them as people do.
    assert not re.search(r"[0-9] %", page)
    return page.replace("\u00a0", " ")


@pytest.fixture(scope="module")
def page() -> str:
    return rendered(judgments())


@pytest.mark.slow
def test_every_tag_is_closed_in_its_turn(page):
    checker = Checker(page)
    assert checker.open == []
    assert checker.tags.count("h1") == 1


def test_names_are_text_and_never_markup(page):
    checker = Checker(page)
    assert checker.tags.count("script") == 1  # that of the tables, which the policy names
    assert any(HOSTILE in text for text in checker.text)
    [script] = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = b64encode(sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'; base-uri 'none'" in page


def test_it_asks_nothing_of_any_network(page):
    assert Checker(page).references == []
    assert not re.search(r"https?:|url\(|@import", page)
    assert "default-src 'none'" in page
    assert len(page) < 100_000


def test_it_says_what_matters(page):
    text = " ".join(Checker(page).text)
    for said in (
        "same verdict",
        "asked once",
        "each judgment has its own, drawn at random (reproducibility)",
        "What was asked",
        "What came back",
        "Krippendorff's alpha",
        "single replication: every question was asked once",
        "The least stable questions",
        "A 50 %, (unparsed) 25 %, B 25 %",
    ):
        assert said in text


def test_a_judge_alone_is_read_aloud_and_several_stand_in_a_table(page):
    one = {"item_id": ["q", "q", "r", "r"], "replication": [0, 1] * 2, "verdict": list("ABBB")}
    assert "Asked the same prompt again, this judge gives the same verdict" in rendered(
        pl.LazyFrame(one)
    )
    assert "this judge gives" not in page
    assert page.count('class="cards"') == 1


def test_coefficients_are_folded_away_by_group_and_estimators_are_notes(page):
    sections = page.count('<details class="section">')
    assert sections == page.count("<h2>") == 7
    assert page.count("<details>") == page.count("<summary>") - sections == 5
    first = re.search(r"<details>.*?</details>", page, re.S)[0]
    heads = re.findall(r"<th [^>]*>([^<]*)</th>", first)
    assert heads[0] == "coefficient"
    assert "estimator" not in heads
    assert "categories" in heads
    assert '<ol class="notes"><li>' in first
    numbers = {int(n) for marks in re.findall(r"<sup>([0-9,]+)</sup>", first)
               for n in marks.split(",")}  # fmt: skip
    assert numbers == set(range(1, 1 + len(re.findall("<li>", first))))


def test_an_empty_column_is_not_shown_even_of_one_row():
    steady = {"item_id": [f"q{i // 4}" for i in range(80)], "replication": [0, 1, 2, 3] * 20}
    verdicts = [f"{'AB'[i // 4 % 2]}" if i % 7 else "C" for i in range(80)]
    page = rendered(pl.LazyFrame({**steady, "verdict": verdicts}))
    assert "remark" not in re.findall(r"<th [^>]*>([^<]*)</th>", page)
    noise = {"item_id": ["q", "q", "r", "r"], "replication": [0, 1] * 2, "verdict": list("ABAB")}
    assert '<td class="remark"' in rendered(pl.LazyFrame(noise))


def test_counts_of_questions_are_named_apart():
    """Of three questions one was never asked twice, and one lost its second verdict."""
    rows = {
        "item_id": ["p", "p", "q", "q", "r", "s", "s"],
        "replication": [0, 1, 0, 1, 0, 0, 1],
        "verdict": ["A", "B", "A", None, "B", "B", "A"],
    }
    page = rendered(pl.LazyFrame(rows))
    assert "Questions asked: 4" in page
    agreements = [row for row in re.findall("<tr>.*?</tr>", page) if ">agreement<sup" in row]
    (left_out,) = (row for row in agreements if ">left out</td>" in row)
    assert '"questions compared">2<' in left_out
    assert '"left out">1<' in left_out


STANDING = {
    "state": "incomplete",
    "run": "/runs/my run",
    "live": None,
    "asked": 30,
    "landed": 12,
    "owed": 18,
    "failed": 5,
    "judges": [
        {"judge": "calm", "asked": 10, "landed": 10, "owed": 0, "failed": 0, "error": None},
        {"judge": HOSTILE, "asked": 10, "landed": 2, "owed": 8, "failed": 5, "error": None},
        {"judge": "dead", "asked": 10, "landed": 0, "owed": 10, "failed": 0, "error": "no GPU"},
    ],
    "reasons": [
        {"judge": HOSTILE, "kind": "engine_lost", "message": "it went away", "requests": 5},
        {"judge": "dead", "kind": "judge_failed", "message": "no GPU", "requests": 10},
    ],
}


@pytest.mark.slow
def test_an_unfinished_run_says_so_before_any_number():
    page = rendered(judgments(), standing=STANDING)
    checker = Checker(page)
    assert checker.open == []
    assert checker.tags.count("script") == 1  # that of the tables, which the policy names
    text = " ".join("".join(checker.text).split())
    notice = text[text.index("This run is unfinished") :]
    assert text.index("This run is unfinished") < text.index("same verdict")
    assert "12 of 30 requests landed, 18 are pending; 5 of those were tried and failed" in notice
    rows = re.search(r"<aside.*?</aside>", page, re.S)[0]
    cells = [re.findall(r"<td[^>]*>([^<]*)<", row) for row in re.findall(r"<tr>.*?</tr>", rows)]
    assert cells[1:] == [
        ["calm", "10", "10", "0", "0", "0"],
        ["&#34;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;$title", "10", "2", "8", "5", "3"],
        ["dead", "10", "0", "10", "0", "10"],
    ]
    assert "dead: no GPU" in notice
    assert notice.count("no GPU") == 1
    assert "5 requests failed (engine lost): it went away" in notice
    assert "judgerel run SWEEP.toml --out '/runs/my run'" in notice


@pytest.mark.slow
def test_a_run_that_goes_on_says_so_and_a_done_one_nothing(page):
    running = rendered(judgments(), standing={**STANDING, "state": "running"})
    assert "This run is still going on" in running
    assert "judgerel status '/runs/my run'" in running.replace("&#39;", "'")
    assert "SWEEP.toml" not in running
    assert rendered(judgments(), standing={"state": "done"}) == page
    assert "<aside" not in page


def test_a_run_that_ended_before_it_began_says_so():
    nothing = {"asked": 0, "landed": 0, "owed": 0, "failed": 0, "judges": [], "reasons": []}
    page = render_report(None, title="t", standing={**STANDING, **nothing}, absent="None.")
    assert "This run is unfinished: it ended before anything was asked." in page
    assert "0 of 0" not in page


def test_replies_without_any_verdict_have_a_page():
    frame = pl.LazyFrame(
        {"item_id": ["q", "r"], "replication": [0, 0], "verdict": [None, None]},
        schema_overrides={"verdict": pl.String},
    )
    text = " ".join(Checker(rendered(frame)).text)
    assert "no verdicts: no reply held a verdict" in text
    assert "Where the verdicts fall" not in text


def test_a_judge_that_mostly_gives_no_verdict_is_called_out():
    verdicts = ["A", None, None, "A", None, None, "B", None, None, "B", None, None]
    rows = {"item_id": ["q"] * 6 + ["r"] * 6, "replication": [*range(6)] * 2, "verdict": verdicts}
    said = "4 of 12 replies (33 %) hold a verdict, too few to report agreement first; "
    page = rendered(pl.LazyFrame(rows))
    assert said in page
    assert "gives the same verdict" not in page
    assert re.search('data-head="same verdict"><span>few verdicts<', page)
    rows["verdict"] = [verdict or "C" for verdict in verdicts]
    assert "too few to report agreement" not in rendered(pl.LazyFrame(rows))


def test_without_verdicts_there_is_a_page_all_the_same():
    answers = pl.DataFrame(
        {"judge": ["x", "y"], "stage": ["answer"] * 2, "questions": [3, 3], "answers": [6, 1234],
         "tokens": [5.25, 7.0]}
    )  # fmt: skip
    page = render_report(None, title="t", answers=answers, absent="Only answers were asked for.")
    checker = Checker(page)
    assert checker.open == []
    text = " ".join(checker.text)
    assert "There are no verdicts here, so nothing is measured. Only answers were asked" in text
    assert "1,234" in text
    assert "What came back" not in text


def placed(verdicts: str, labels: str, *, orders: int = 1) -> str:
    """Three questions in some orders, each asked twice; the same verdicts of each."""
    rows = [
        {"item_id": f"q{item}", "option_order": order, "replication": replication,
         "verdict": verdicts[order], "label": labels[order]}
        for item in range(3) for order in range(orders) for replication in range(2)
    ]  # fmt: skip
    return rendered(pl.LazyFrame(rows))


def test_a_judge_of_one_letter_is_called_out_and_not_praised():
    page = placed("x", "A")
    said = (
        "This judge answers A whatever the options are (6 of 6 verdicts, 3 questions): agreement "
        "says nothing about its judgment."
    )
    assert said in page
    assert "answers A only" in page
    assert "gives the same verdict" not in page
    assert "Reproducibility is unknown: only the same prompt was asked again" in page
    assert page.index(said) < page.index("same verdict")


def test_where_orders_are_crossed_it_says_what_verdicts_follow():
    page = placed("xy", "AA", orders=2)
    assert "answers A whatever" in page
    places = placed("xx", "AB", orders=2)
    assert "whatever" not in places
    row = re.search(r"<tbody>(.*?)</tbody>", places, re.S)[1]
    assert 'data-head="same option in another order">100 %' in row
    assert 'data-head="same place in another order">0 %' in row
    assert "Share of verdicts that name each place" in places
    assert "was asked again: a judge" not in places


def test_alpha_is_drawn_for_every_judge_with_its_numbers_in_words(page):
    figures = re.findall(r'<svg [^>]*role="img" aria-label="([^"]*)"', page)
    assert len(figures) == 2
    assert all("temperature 0.5: " in figure for figure in figures)
    assert page.count('<g class="band">') == page.count('<g class="point">') == 2
    assert page.count("<title>temperature ") == 4  # what a point says when pointed at


def test_it_reads_in_the_dark_and_by_keyboard(page):
    assert "prefers-color-scheme: dark" in page
    assert page.count('tabindex="0" role="region" aria-label=') == len(re.findall("<table", page))
    assert page.count("<caption>") == page.count("<table") == 9


def test_equal_frames_give_equal_pages(page):
    assert rendered(judgments()) == page


def test_without_temperatures_there_is_no_chart():
    page = rendered(judgments().drop("temperature").filter(pl.col("replication") == 0), asked=())
    assert "<svg" not in page
    assert "What was asked" not in page


def test_a_judge_that_never_differs_has_no_unstable_questions():
    frame = pl.LazyFrame(
        {"item_id": ["q", "q", "r", "r"], "replication": [0, 1, 0, 1], "verdict": list("AABB")}
    )
    assert "No question that was asked twice got two different verdicts" in rendered(frame)
