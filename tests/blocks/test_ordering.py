"""The lists of a page: numbers as numbers, each scale by itself, questions by their text."""

import re

import polars as pl
import pytest

from judgerel_ray.analyses.reliability.sections import reliability_on_page
from judgerel_ray.blocks.columns import in_order, natural
from judgerel_ray.counting.snapshot import Snapshot
from judgerel_ray.measuring.page_data import page_data
from judgerel_ray.reporting.pages import render_report

TEMPERATURES = (10.0, 0.5, 1.0)
SCALES = {"1-10": 10, "1-5": 5, "1-100": 100}


@pytest.fixture(scope="module")
def page():
    """Ratings of two judges at three temperatures on three scales."""
    rows = [
        {"judge": judge, "benchmark": "b", "protocol": "rating", "scale": scale,
         "temperature": temperature, "item_id": f"q{item}", "replication": replication,
         "verdict": str(1 + (item * 7 + replication * (item % 3)) % top)}
        for judge in ("judge-10", "judge-2")
        for scale, top in SCALES.items()
        for temperature in TEMPERATURES
        for item in range(1, 12)
        for replication in range(2)
    ]  # fmt: skip
    texts = {("b", f"q{item}"): f"Which of the {item} is it? " + "Why? " * 50 for item in (2, 4)}
    measured = page_data(Snapshot(frame=pl.LazyFrame(rows)), texts)
    sections = reliability_on_page(measured, None)
    return render_report(measured, title="t", sections=sections)


def table_of(page, caption):
    """Every table whose caption begins so, as rows of texts."""
    found = []
    for table in re.findall(r"(?s)<table.*?</table>", page):
        if not re.search(f"<caption>{caption}", table):
            continue
        rows = re.findall(r"<tr>(.*?)</tr>", table)
        cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in rows]
        found.append([[re.sub(r"<small>.*?</small>", "", cell).strip() for cell in row]
                      for row in cells])  # fmt: skip
    return found


def column(rows, name):
    place = rows[0].index(name)
    return [row[place] for row in rows[1:]]


@pytest.mark.slow
def test_groups_stand_in_the_order_of_their_numbers(page):
    for caption in ("How steady", "Outcome of every reply"):
        (rows,) = table_of(page, caption)
        keys = zip(*(column(rows, name) for name in ("judge", "scale", "temperature")), strict=True)
        assert list(keys) == [
            (judge, scale, temperature)
            for judge in ("judge-2", "judge-10")
            for scale in ("1-5", "1-10", "1-100")
            for temperature in ("0.5", "1", "10")
        ]
    figures = re.findall(r"<figcaption>(.*?)</figcaption>", page)
    assert figures == [f"judge-{n}, {scale}" for n in (2, 10) for scale in ("1-5", "1-10", "1-100")]


@pytest.mark.slow
def test_a_scale_of_a_hundred_hides_no_other_and_none_has_anothers_values(page):
    tables = table_of(page, "Share of verdicts")
    heads = [[head for head in rows[0] if head.isdigit()] for rows in tables]
    assert heads == [[str(value) for value in range(1, top + 1)] for top in (5, 10)]
    assert all("scale" not in rows[0] for rows in tables)  # said once, in the caption


@pytest.mark.slow
def test_questions_are_named_by_their_text_where_it_is_known(page):
    (rows,) = table_of(page, "Questions by the share")
    named = column(rows, "question")
    known = [name for name in named if name.startswith("Which of the")]
    assert known
    assert all(len(name) <= 160 and name.endswith("…") for name in known)
    assert {name for name in named if name not in known} <= {f"q{n}" for n in range(1, 12)}
    assert "<small>q2</small>" in page


def test_temperatures_close_together_do_not_cover_each_other(page):
    figure = re.findall(r"(?s)<figure>.*?</figure>", page)[0]
    labels = re.findall(r'<text transform="translate\([\d.]+,17\)"[^>]*>([^<]*)<', figure)
    assert labels == ["0.5", "10"]  # 1 lies on 0.5 where 10 was asked, too


def test_natural_order():
    shuffled = ["q10", "q2", None, 0.5, "Q1", "1.0", "10", "q2b", "", "02"]
    told = [None, "", 0.5, "1.0", "02", "10", "Q1", "q2", "q2b", "q10"]
    assert sorted(shuffled, key=natural) == told


def test_rows_alike_keep_their_order():
    frame = pl.DataFrame({"a": ["x10", "x9", "x10"], "n": [3, 1, 2]})
    assert in_order(frame, ["a", "absent"])["n"].to_list() == [1, 3, 2]
    assert in_order(frame, []).equals(frame)
