"""What a page answers first: the verdicts of the gate, whatever the judge is like."""

from __future__ import annotations

import re

import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.analyses.gate.show import SIGNS, STANDINGS, decisions
from judgerel_ray.blocks.terminal import printed
from judgerel_ray.core import ReadingWarning
from judgerel_ray.reporting.pages import first_screen
from tests.analyses.gate.test_gate import BY_DEFAULT, judged

HOSTILE = '"><script>alert(1)</script>'
OF_PASS = {word: verdict.value for verdict, word in STANDINGS.items()}


def page_of(rows: pl.DataFrame, folder, **asked) -> str:
    rows.write_csv(folder / "rows.csv")
    out = str(folder / "page.html")
    judgerel_ray.report(str(folder / "rows.csv"), out=out, exact_values=True, force=True, **asked)
    return (folder / "page.html").read_text("utf-8").replace("\u00a0", " ")


def standing(page: str) -> list[str]:
    """What a page leads with: whether each judge may decide."""
    return re.findall(r'<p class="(?:met|missed|open)">.*?</p>', page)


@pytest.mark.alike(4)
@pytest.mark.parametrize("kind", BY_DEFAULT)
def test_the_page_says_what_the_gate_says(kind, tmp_path):
    rows, expected, _ = BY_DEFAULT[kind]
    page = page_of(rows.with_columns(judge=pl.lit("j")), tmp_path)
    gated = judgerel_ray.gate(str(tmp_path / "rows.csv"), exact_values=True)
    lines = re.findall(r'<p class="(?:met|missed|open)"><strong>(.) j: ([a-z ]+)\.', page)
    assert [
        (SIGNS[one.verdict], STANDINGS[one.verdict]) for one in decisions(gated.requirements)
    ] == lines
    assert [OF_PASS[said] for _, said in lines] == [gated.verdict] == [expected]
    if "place" in kind or kind in ("constant", "empty"):
        assert "may decide" not in page.replace("each judge may decide", "")


@pytest.mark.slow
def test_the_verdicts_stand_before_warnings_and_sections(tmp_path):
    rows, _, _ = BY_DEFAULT["place"]
    page = page_of(rows.with_columns(judge=pl.lit("j")), tmp_path)
    body = page[page.index("<main>") :]
    places = [
        body.index(one) for one in ('<p class="missed">', "<table", 'class="cautions"', "<h2>")
    ]
    assert places == sorted(places)


@pytest.mark.slow
def test_it_names_the_temperature_that_serves_best(tmp_path):
    rows = pl.concat([
        judged(80, steady=steady, judge="j").with_columns(temperature=pl.lit(heat))
        for heat, steady in ((0.5, 0.99), (1.0, 0.5))
    ])  # fmt: skip
    page = page_of(rows, tmp_path)
    assert "\u2713 j: may decide at temperature 0.5 (not at 1)." in page
    table = page[page.index("Whether each judge may decide") :]
    assert table.count("may not decide") == 1
    worse = page_of(rows.filter(temperature=1.0).vstack(
        rows.filter(temperature=1.0).with_columns(temperature=pl.lit(2.0))), tmp_path)  # fmt: skip
    assert "\u2717 j: may not decide at any temperature asked." in worse


def test_what_would_decide_and_whom_to_ask(tmp_path):
    rows = judged(30, 4, steady=0.93, judge="j").drop("gold")
    page = page_of(rows, tmp_path)
    assert re.search(r"\? j: undecided\.</strong> Open: .* \d+ more questions? would decide", page)
    assert '<a href="#the-least-stable-questions">The least stable questions</a>' in page
    assert page.count('id="the-least-stable-questions"') == 1
    assert "33 % of pairs agree (j): q" in page


@pytest.mark.slow
def test_whose_judgments_of_a_wavering_question_a_person_should_see(tmp_path):
    out = str(tmp_path / "page.html")
    judgerel_ray.report(judgerel_ray.example("run"), out=out)
    page = (tmp_path / "page.html").read_text("utf-8").replace("\u00a0", " ")
    first = page[page.index("judges waver most") : page.index("<svg")]
    assert "33 % of pairs agree (simulated-erratic): Which" in first
    worst = "ratings with a standard deviation of 3.536 points (simulated-erratic, points10, answer"
    assert f"{worst} of b): Which" in first
    assert "0 % of pairs agree" not in first
    assert "Ratings of a question by how far replications spread" in page


@pytest.mark.slow
def test_labels_correct_the_score_beside_the_verdict(tmp_path):
    rows = judged(80, 2, steady=0.99).with_columns(
        verdict=pl.col("verdict").replace({"a": "pass", "b": "fail"}),
        label=pl.col("gold").replace({"a": "pass", "b": "fail"}),
    )  # fmt: skip
    labels = rows.select("item_id", "label").unique().sort("item_id").head(60)
    labels.write_csv(tmp_path / "labels.csv")
    unlabelled = rows.drop("gold", "label")
    with pytest.warns(ReadingWarning, match="labels of 60 of 80 items taken as right"):
        page = page_of(unlabelled, tmp_path, labels=tmp_path / "labels.csv")
    assert "score, corrected by labels" in page
    with_gold = rows.drop("gold", "label").join(
        labels.rename({"label": "gold"}), on="item_id", how="left"
    )
    assert standing(page) == standing(page_of(with_gold, tmp_path))
    several = pl.concat([labels, labels.head(1).with_columns(
        label=pl.col("label").replace({"pass": "fail", "fail": "pass"})
    )])  # fmt: skip
    several.write_csv(tmp_path / "several.csv")  # of several people, who differ: no gold
    by_several = page_of(unlabelled, tmp_path, labels=tmp_path / "several.csv")
    assert standing(by_several) == standing(page_of(unlabelled, tmp_path)) != standing(page)
    assert "Scores without the judge&#39;s errors" in page
    [row] = judgerel_ray.correct(
        str(tmp_path / "rows.csv"), labels=tmp_path / "labels.csv"
    ).estimates.filter(estimate="ppi").to_dicts()  # fmt: skip
    assert f'data-head="score, corrected by labels">{row["value"]:.3f}' in page


def test_replies_of_wavering_questions_stand_side_by_side_and_are_inert(tmp_path):
    rows = judged(8, 4, steady=0.5, judge=HOSTILE).drop("gold").with_columns(
        pl.col("item_id") + HOSTILE, pl.col("verdict").replace({"a": HOSTILE})
    )  # fmt: skip
    page = page_of(rows, tmp_path)
    assert page.count("<script") == page.count("<script>") == 1  # that of the tables
    assert page.count("Replies, at most three of each verdict") >= 4
    assert HOSTILE.replace('"', "&#34;").replace("<", "&lt;").replace(">", "&gt;") in page


@pytest.mark.slow
def test_the_replies_of_a_run_have_their_texts(tmp_path):
    out = str(tmp_path / "page.html")
    judgerel_ray.report(judgerel_ray.example("run"), out=out)
    page = (tmp_path / "page.html").read_text("utf-8")
    folded = page[page.index("Replies, at most three of each verdict") :]
    assert re.search(r'data-head="reply">[^<]', folded)


@pytest.mark.slow
def test_a_terminal_says_the_same():
    path = judgerel_ray.example("judgments.csv")
    found = first_screen(
        judgerel_ray.gate(path).requirements, judgerel_ray.reduce(path), pl.DataFrame()
    )
    text = printed(found)
    assert text.startswith(
        "Not known yet whether to rely on simulated-erratic and simulated-steady."
    )
    assert "? simulated-erratic: undecided. Open:" in text
    assert "Whether each judge may decide" in text
