"""The page on uncertainty: every figure has its numbers beside it, and they are those of reduce."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser

import polars as pl
import pytest
from markupsafe import escape

from judgerel_ray.analyses.confusion.matrices import UncertaintyOptions
from judgerel_ray.analyses.confusion.show import uncertainty_blocks, uncertainty_sections
from judgerel_ray.blocks.blocks import Figures
from judgerel_ray.blocks.terminal import printed
from judgerel_ray.blocks.words import number
from judgerel_ray.reporting.pages import render_report

HOSTILE = '"><script>alert(1)</script>&$title'
SCALE = ("1", "2", "3", "4", "5")
JUDGES = (("firm", 0.5), (HOSTILE, 2.0))
BENCHMARKS = (("grades", SCALE, 40, ("fluency", "relevance")), ("truth", ("yes", "no"), 40, ("x",)))
REPLIES = pl.DataFrame(
    [
        {"judge": "firm", "benchmark": "grades", "role": "assessor", "outcome": None, "n": 7},
        {"judge": "firm", "benchmark": "grades", "role": "assessor", "outcome": "refused", "n": 2},
        {"judge": "firm", "benchmark": "grades", "role": "judge", "outcome": "scored", "n": 3},
    ]
)


class Closed(HTMLParser):
    """Every tag closed in its turn."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):  # noqa: ARG002  the parser's own signature
        self.tags.append(tag)
        if tag not in ("meta", "link", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):  # noqa: ARG002
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def tables(confusion_inputs):
    options = UncertaintyOptions(thresholds={"grades": (0.7,)})
    return confusion_inputs(JUDGES, BENCHMARKS, options=options)


@pytest.fixture(scope="module")
def page(tables):
    found = uncertainty_sections(tables, REPLIES, {})
    page = render_report(None, title="t", probabilities=found)
    assert not re.search(r"[0-9] %", page)
    return page.replace("\u00a0", " ")


@pytest.fixture(scope="module")
def text(page):
    bare = re.sub(r"<[^>]+>", " ", page.split("</style>")[1])
    return " ".join(unescape(bare).split())


@pytest.mark.slow
def test_the_page_is_whole_and_runs_nothing(page):
    read = Closed(page)
    assert read.open == []
    assert read.tags.count("script") == page.count("<script>") == 1  # that of the tables
    assert "There are no verdicts" not in page


@pytest.mark.slow
def test_sections_come_in_the_order_a_reader_asks(text):
    heads = ["Verdicts and assessments", "Accuracy by label", "People", "Share of low uncertainty",
             "The threshold", "Thresholds used elsewhere", "Scores without a threshold",
             "Single matrices"]  # fmt: skip
    places = [text.index(f" {head} ") for head in heads]
    assert places == sorted(places)


def test_every_figure_says_its_numbers_and_has_a_table(page):
    figures = re.findall(r'<figure><svg[^>]*aria-label="([^"]*)"', page)
    kinds = [label.split(",")[0] for label in figures]
    assert kinds.count("Accuracy by label") == 2
    assert kinds.count("People matched by label") == 2
    assert kinds.count("Share of low uncertainty") == 2
    assert kinds.count("Accuracy and share of low against the threshold") == 4
    assert kinds.count("Share wrong against share accepted") == 4
    assert all(re.search(r"[01]\.\d{3}", label) for label in figures)
    assert page.count("<summary>Numbers by threshold: ") == 4
    assert page.count("<summary>Numbers by acceptance: ") == 4
    assert page.count("<summary>All quantities: ") == page.count("<summary>All scores: ") == 4
    assert page.count("<figure>") == len(figures) == 14


def test_what_is_in_the_tables_is_defined_before_them(tables, text):
    shown = " ".join(printed(uncertainty_blocks(tables)).split())
    defined = {
        "u of an option is its mean probability": "All quantities: ",
        "The margin is the largest u less the second largest": "All quantities: ",
        "Excess AURC: ": "excess aurc",
        "Guaranteed threshold: ": "guaranteed threshold",
        "Conformal sets: ": "conformal size",
        "Signed margin: ": "signed margin",
        "Worst case: ": "worst case",
        "Suggestibility: ": "suggestibility",
        "Dobrushin: ": "dobrushin",
    }
    for said in (text, shown):
        for definition, named in defined.items():
            assert said.index(definition) < said.index(named), definition


def test_numbers_are_those_of_reduce(tables, text):
    shown = " ".join(printed(uncertainty_blocks(tables)).split())
    for row in tables.labels.filter(pl.col("kind") != "in-sample").iter_rows(named=True):
        for name in ("low", "high", "share"):
            if row[name] is not None:
                ends = f"[{number(row[f'{name}_from'])}, {number(row[f'{name}_to'])}]"
                assert f"{number(row[name])} {ends} of {row[f'n_{name}']}" in text
                assert f"{number(row[name])} {ends} of {row[f'n_{name}']}" in shown
    assert " thresholds cross-fitted in 5 folds " in text
    for row in tables.worth.filter(pl.col("low").is_not_null()).iter_rows(named=True):
        assert f"{number(row['value'])} [{number(row['low'])}, {number(row['high'])}]" in text
        assert f"[{row['low']:.3f}, {row['high']:.3f}]" in shown
    for row in tables.scores.iter_rows(named=True):
        assert f"{number(row['mean'])} [{number(row['mean_low'])}" in text
        assert f"{number(row['mean'])} [{number(row['mean_low'])}" in shown
    for row in tables.transfer.filter(pl.col("low").is_not_null()).iter_rows(named=True):
        told = f"{number(row['accuracy_low'])} [{number(row['low'])}, {number(row['high'])}]"
        assert f"{told} of {row['n_low']}" in text
        assert f"{told} of {row['n_low']}" in shown
    for row in tables.against_people.iter_rows(named=True):
        for name in ("judge", "person"):
            ends = f"[{number(row[f'{name}_low'])}, {number(row[f'{name}_high'])}]"
            assert f"{number(row[f'{name}_share'])} {ends}" in text
            assert f"{number(row[f'{name}_share'])} {ends}" in shown
    for row in tables.people.iter_rows(named=True):
        assert f"{number(row['value'])} [{number(row['low'])}, {number(row['high'])}]" in text
        assert f"{number(row['value'])} [{number(row['low'])}, {number(row['high'])}]" in shown


@pytest.mark.slow
def test_a_terminal_shows_blocks_of_the_page(tables):
    """Figures apart, which hold frames: tables and what is said of them are the same."""
    sections = uncertainty_sections(tables, REPLIES, {})
    page = [block for section in sections for block in section.blocks]
    shown = [one for one in uncertainty_blocks(tables)[1:] if not isinstance(one, Figures)]
    assert all(block in page for block in shown)
    kinds = [type(block).__name__ for block in shown]
    # By label, by criterion, against people, of people, six squares; quantities and scores of four.
    assert (kinds.count("Table"), kinds.count("Folded")) == (10, 8)


def test_without_matrices_a_terminal_says_so(tables):
    empty = replace(tables, worth=tables.worth.clear())
    assert printed(uncertainty_blocks(empty)) == "no confusion matrix has landed"
    assert uncertainty_sections(empty, REPLIES, {}) == []


def test_what_all_groups_have_alike_is_told_once(tables):
    first = printed(uncertainty_blocks(tables)).split("\n")[0]
    assert first == "All judgments: template t, temperature 0, mode columns"


@pytest.mark.slow
def test_the_best_threshold_here_is_called_optimistic(page, text):
    assert "the threshold that looks best here: optimistic" in text
    assert "a threshold the sweep states" in text
    assert page.count('<g class="in_sample">') == 4
    assert page.count('<g class="stated">') == 2
    rows = re.findall(r"the best on these judgments.*?optimistic", text)
    assert len(rows) == 4
    assert "is arithmetic, not the judge's doing" in text


def test_the_curve_stands_where_its_numbers_are(tables, page):
    """The first figure's line has a corner at every threshold that labels any low."""
    curve = tables.curves.filter(judge=tables.curves["judge"][0], benchmark="grades")
    [path] = re.findall(r'<g class="line"><path d="([^"]*)"', page)[:1]
    corners = [tuple(map(float, one.split(","))) for one in re.split("[ML]", path)[1:]]
    kept = curve.filter(pl.col("low").is_not_null())
    assert len(corners) == kept.height
    for (x, y), row in zip(corners, kept.iter_rows(named=True), strict=True):
        assert x == pytest.approx(262 * row["threshold"], abs=0.06)
        assert y == pytest.approx(168 * (1 - row["low"]), abs=0.06)


def test_matrices_mark_verdict_and_right_option_in_words(tables, page, text):
    assert page.count('<table class="heat">') == len(tables.picked) >= 5
    wrong = [one for one in tables.picked if one.why == "most confidently wrong"]
    assert wrong
    for one in wrong:
        heats = [part.split("</table>")[0] for part in page.split('<table class="heat">')[1:]]
        named = escape(
            f"most confidently wrong: {one.matrix.row['judge']}, {one.matrix.row['benchmark']}, "
            f"{one.matrix.row['item_id']}; margin"
        )
        [heat] = [heat for heat in heats if named in heat]
        assert f"{one.matrix.row['chosen']} <small>own verdict</small>" in heat
        assert f"{one.matrix.row['right']} <small>right</small>" in heat
        cells = one.cells()
        assert heat.count("--tint:") == len(cells)
        assert all(number(cell["probability"], 2) in heat for cell in cells)
    assert "How full matrices are, by number of options" in text
    assert "nothing else was looked at" in text


@pytest.mark.slow
def test_what_nobody_argued_is_told(text):
    assert "asked for requests given refused" in text
    assert "assessments 9 7 2" in text
    assert "own verdicts 3 3 0" in text
    assert "a column its matrix does not have" in text


@pytest.mark.slow
def test_the_lead_says_where_the_margin_is_worth_nothing(confusion_inputs):
    found = confusion_inputs((("lost", 0.0),), (("b", ("yes", "no"), 60, ("x",)),))
    shuffled = found.worth.with_columns(
        low=pl.when(pl.col("quantity") == "auroc").then(0.4).otherwise(pl.col("low")),
        high=pl.when(pl.col("quantity") == "auroc").then(0.6).otherwise(pl.col("high")),
    )

    def page(tables):
        told = uncertainty_sections(tables, REPLIES, {})
        return render_report(None, title="t", probabilities=told)

    assert "margin not shown to tell right from wrong" in page(replace(found, worth=shuffled))
    assert "margin not shown to tell" not in page(found)


def test_without_matrices_there_is_no_section():
    assert "Accuracy by label" not in render_report(None, title="t", absent="No.")
