from __future__ import annotations

import re
from html.parser import HTMLParser

import polars as pl
import pytest

from judgerel_ray.reduce import least_stable, outcome_table, reduce_judgments
from judgerel_ray.report import render_report

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
    return render_report(
        reduce_judgments(frame),
        outcome_table(frame),
        least_stable(frame),
        **{"title": HOSTILE, "asked": [("sweep", HOSTILE)], **options},
    )


@pytest.fixture(scope="module")
def page() -> str:
    return rendered(judgments())


def test_every_tag_is_closed_in_its_turn(page):
    checker = Checker(page)
    assert checker.open == []
    assert checker.tags.count("h1") == 1


def test_names_are_text_and_never_markup(page):
    checker = Checker(page)
    assert "script" not in checker.tags
    assert any(HOSTILE in text for text in checker.text)
    assert "<script" not in page


def test_it_asks_nothing_of_any_network(page):
    assert Checker(page).references == []
    assert not re.search(r"https?:|url\(|@import", page)
    assert "default-src 'none'" in page
    assert len(page) < 100_000


def test_it_says_what_matters(page):
    text = " ".join(Checker(page).text)
    for said in (
        "asked again, this judge gives the same verdict",
        "every question was asked once",
        "What was asked",
        "What came back",
        "Krippendorff's alpha",
        "undefined: single replication",
        "The least stable questions",
        "A 50 %, (unparsed) 25 %, B 25 %",
    ):
        assert said in text


def test_alpha_is_drawn_for_every_judge_with_its_numbers_in_words(page):
    figures = re.findall(r'<svg [^>]*role="img" aria-label="([^"]*)"', page)
    assert len(figures) == 2
    assert all("temperature 0.5: " in figure for figure in figures)
    assert page.count('class="band"') == 2
    assert page.count("<circle") == 4


def test_it_reads_in_the_dark_and_by_keyboard(page):
    assert "prefers-color-scheme: dark" in page
    assert page.count('tabindex="0" role="region" aria-label=') == page.count("<table>") == 3
    assert page.count("<caption>") == 3


def test_equal_frames_give_equal_pages(page):
    assert rendered(judgments()) == page


def test_without_temperatures_there_is_no_chart():
    page = rendered(judgments().drop("temperature").filter(pl.col("replication") == 0), asked=())
    assert "<svg" not in page
    assert "What was asked" not in page


def test_a_judge_of_one_mind_has_no_unstable_questions():
    frame = pl.LazyFrame(
        {"item_id": ["q", "q", "r", "r"], "replication": [0, 1, 0, 1], "verdict": list("AABB")}
    )
    assert "No question that was asked twice got two different verdicts" in rendered(frame)
