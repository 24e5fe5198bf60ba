"""The page on verdict distributions: limits against temperature, and how wide the bounds are."""

import json
import re
from html import unescape

import polars as pl
import pytest

from judgerel_ray.analyses.distributions.show import distribution_sections, limit_blocks
from judgerel_ray.blocks.terminal import printed
from judgerel_ray.blocks.words import number
from judgerel_ray.measuring.distributions import (
    distribution_table,
    limit_table,
    width_table,
)
from judgerel_ray.reporting.pages import render_report


def limits_text(limits):
    return printed(limit_blocks(limits))


@pytest.fixture(scope="module")
def found():
    rows = []
    for n in range(12):
        p = 0.5 + n / 30
        low = [[1.0, 0.0, 0.0], [p - 0.01, 0.9 - p, 0.08]]
        high = [[1.0, 0.0, 0.0], [p + 0.02, 0.93 - p, 0.11]]
        place = {"judge": "j", "benchmark": "b", "item_id": f"q{n}", "template": "t",
                 "criterion": None, "option_order": 0}  # fmt: skip
        text = {"temperatures": [0.0, 1.0], "verdicts": ["x", "y", None], "low": low,
                "high": high, "estimate": None}  # fmt: skip
        rows.append((place, json.dumps(text)))
    table = distribution_table(rows)
    return limit_table(table), width_table(table), pl.DataFrame()


@pytest.fixture(scope="module")
def page(found):
    page = render_report(None, title="t", probabilities=distribution_sections(*found))
    return page.replace("\u00a0", " ")


def test_limits_are_those_of_reduce_with_their_intervals(found, page):
    text = " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())
    assert "Infinitely many replications" in text
    assert "There are no verdicts" not in text
    assert "j, b, temperature 1: 12 questions" in limits_text(found[0])
    told = 0
    for row in found[0].iter_rows(named=True):
        if row["low"] is not None:
            ends = f"[{number(row['low'])}, {number(row['high'])}]"
            assert f"{number(row['value'])} {ends}" in text
            assert ends in limits_text(found[0])
            told += 1
    assert told >= 6


def test_terminal_and_page_name_coefficients_alike_and_say_what_the_rare_ones_are(found, page):
    text = " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())
    for said in (text, " ".join(limits_text(found[0]).split())):
        assert "percent_agreement" not in said
        assert "majority stability 11" in said
        assert "Entropy agreement: 1 less the mean entropy of a question's verdicts" in said
        assert "how often the majority of 11 replications is that of 11 others" in said


def test_the_figure_has_two_curves_and_says_its_numbers(page):
    [label] = re.findall(r'<figure><svg[^>]*aria-label="([^"]*)"', page)
    assert label.startswith("Limits of agreement and alpha against temperature, j, b.")
    assert "temperature 1: agreement 0." in label
    assert "temperature 0:" not in label
    figure = page.split("<figure>")[1].split("</figure>")[0]
    assert (figure.count('class="point"'), figure.count('class="noise"')) == (1, 1)


def test_temperature_0_has_no_agreement_to_measure(found, page):
    greedy = found[0].filter(temperature=0.0)
    assert greedy.height == found[0].height / 2
    assert greedy["value"].to_list() == [None] * greedy.height
    assert set(greedy["undefined"]) == {"temperature_0"}
    assert found[0].filter(temperature=1.0)["undefined"].null_count() == greedy.height
    said = limits_text(found[0])
    assert re.search(r"Krippendorff's alpha +- \(temperature 0\)", said)
    assert "1.000" not in said
    assert "no agreement to measure: not scored as 1" in said
    assert "Temperature 0 draws nothing" in page
    only_drawn = limits_text(found[0].filter(temperature=1.0))
    assert "Temperature 0" not in only_drawn


def test_bounds_are_told_with_their_width(found, page):
    row = found[1].filter(temperature=1.0).row(0, named=True)
    text = " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())
    assert f"{row['mean_width']:.2g} {row['largest_width']:.2g}" in text
    assert "questions settled" in text
    assert row["largest_width"] == pytest.approx(0.03)
