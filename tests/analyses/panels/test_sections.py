"""Judges together on the page: panels by size, cascades by cost, and when there is neither."""

import random
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import judgerel_ray
from judgerel_ray import report
from judgerel_ray.analyses.panels import from_run as panels_module
from judgerel_ray.analyses.panels.short import panels_short
from judgerel_ray.blocks.terminal import printed

PAIRS = Path(__file__).parents[3] / "docs" / "data" / "two-judges.csv"
PANELS, CASCADE = "Judges as a panel", "Asking the next one only when in doubt"


def answers(skills=(0.4, 0.6, 0.8), *, n=40, seed=1):
    rng = np.random.default_rng(seed)
    gold = rng.integers(0, 4, n)
    parts = []
    for place, skill in enumerate(skills):
        knows = rng.random(n) < skill
        parts.append(
            pl.DataFrame(
                {"item_id": [f"q{i}" for i in range(n)], "judge": f"<j{place}>", "replication": 0,
                 "verdict": np.where(knows, gold, rng.integers(0, 4, n)).astype(str),
                 "gold": gold.astype(str), "confidence": np.where(knows, 0.9, 0.6),
                 "cost": 10.0**place}
            )
        )  # fmt: skip
    return pl.concat(parts)


@pytest.fixture
def page(tmp_path):
    def write(frame):
        path = tmp_path / "answers.parquet"
        frame.write_parquet(path)
        report(str(path), out=str(tmp_path / "page.html"), force=True)
        return (tmp_path / "page.html").read_text()

    return write


def sections(text):
    return re.findall(r"<h2>([^<]*)</h2>", text)


@pytest.mark.slow
def test_both_have_a_section_with_figures_said_in_words(page):
    text = page(answers())
    assert [name for name in sections(text) if name in (PANELS, CASCADE)] == [PANELS, CASCADE]
    size, cost = re.findall(r'aria-label="(Accuracy against (?:size|cost)[^"]*)"', text)
    assert "3 members: 0." in size
    assert "best of size 2 (&lt;j1&gt; + &lt;j2&gt;): 0." in size
    assert "over random" in cost
    assert "&lt;j0&gt; alone: 0." in text
    assert "<j0>" not in text
    assert not re.search(r"\bnan\b", text, re.IGNORECASE)


@pytest.mark.slow
def test_thresholds_that_nobody_need_reach_are_words(page):
    text = page(answers())
    assert ">any, any<" in text
    assert "-inf" not in text


@pytest.mark.slow
def test_without_costs_or_confidence_there_is_no_cascade(page):
    assert sections(page(answers().drop("cost"))).count(CASCADE) == 0
    mute = sections(page(answers().with_columns(confidence=pl.lit(None, pl.Float64))))
    assert (mute.count(PANELS), mute.count(CASCADE)) == (1, 0)


@pytest.mark.alike(5)
@pytest.mark.parametrize(
    "frame",
    [
        answers().drop("gold"),
        answers(skills=(0.5,)),
        answers().with_columns(gold=pl.lit("the third one")),
        answers().with_columns(gold=pl.lit(None, pl.String)).drop("confidence"),
        answers((0.5, 0.5)).with_columns(item_id=pl.col("item_id") + pl.col("judge")),
    ],
    ids=["no gold", "one judge", "gold of other names", "gold unknown", "other questions"],
)
@pytest.mark.filterwarnings("ignore:all 4 different verdicts are numbers")
@pytest.mark.filterwarnings("ignore:gold matches no verdict of the file")
def test_nothing_is_said_where_nothing_is_known(page, frame):
    found = sections(page(frame.drop("confidence", strict=False)))
    assert (found.count(PANELS), found.count(CASCADE)) == (0, 0)


@pytest.mark.slow
def test_a_page_waits_for_no_million_of_rows(page, monkeypatch):
    monkeypatch.setattr(panels_module, "MOST_ON_PAGE", 100)
    assert PANELS not in sections(page(answers()))


def test_votes_gain_only_where_they_do_better_than_the_best_member_here(tmp_path):
    """Two votes that differ are a lot drawn: they are right as often as their members on average.

    The member that other questions chose may do worse here by bad luck alone, and the gain over it
    lie above nothing.
    """
    draw = random.Random(1)
    labels = tmp_path / "labels.csv"
    rows = "\n".join(f"q{item:02d},{draw.choice('xy')}" for item in range(60))
    labels.write_text(f"item_id,label\n{rows}\n")
    with pytest.warns(judgerel_ray.ReadingWarning):
        found = judgerel_ray.panels(PAIRS, labels=str(labels))
    (row,) = found.panels.filter(rule="majority").iter_rows(named=True)
    assert row["gain_low"] > 0
    assert row["accuracy"] < found.members["accuracy"].max()
    short = " ".join(printed(panels_short(found.tables(), None)).split())
    assert "however votes count: no gain over the best member is shown" in short
    assert "better than the best member" not in short
