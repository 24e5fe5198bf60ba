"""What people said of recorded items, as judges are held against it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from bench.against_people import RECORDINGS
from judgerel_ray.analyses.confusion.confusion import people_labels
from judgerel_ray.analyses.confusion.from_run import right_options
from judgerel_ray.benchmarks import load_items
from judgerel_ray.stats.ratings.reference import people_match
from judgerel_ray.tables import items_to_frame

PAGE = Path(__file__).resolve().parents[2] / "docs" / "recorded-people.md"


def page_rows(folder: Path) -> list[str]:
    """The rows of the page's table."""
    return [
        f"| {name} | {row.judge} | {row.people} | {row.before.value:.3f} of {row.before.n:,} | "
        f"{row.now.judge.value:.3f} [{row.now.judge.low:.3f}, {row.now.judge.high:.3f}] | "
        f"{row.now.person.value:.3f} [{row.now.person.low:.3f}, {row.now.person.high:.3f}] | "
        f"{row.now.difference.value:+.3f} [{row.now.difference.low:+.3f}, "
        f"{row.now.difference.high:+.3f}] | {row.now.floor.mean:.3f} | "
        f"{row.now.n_split:,} of {row.now.n_items:,} |"
        for name, recorded in RECORDINGS.items()
        for row in recorded(folder)
    ]


def test_the_page_says_what_is_computed(recordings: Path):
    lines = PAGE.read_text().splitlines()
    assert [line for line in lines if line.startswith(tuple(f"| {n} |" for n in RECORDINGS))] == (
        page_rows(recordings)
    )


def held_out(labels: pl.DataFrame):
    """People of one kind held out in turn, beside the judge that always says the first label."""
    names = sorted({one for said in labels["labels"].to_list() for one in said})
    counts = np.array([[Counter(said)[one] for one in names] for said in labels["labels"]])
    return people_match(counts, np.zeros(len(counts), dtype=int))


@pytest.mark.slow
def test_feedbackqa_half_of_the_items_have_no_majority(recordings: Path):
    items = items_to_frame(load_items("feedbackqa", str(recordings / "items/feedbackqa.parquet")))
    right = right_options(items)
    assert Counter(right["basis"]) == {"no_majority": 721, "majority": 689}
    found = held_out(people_labels(items))
    # 1 - 721 / 1410: two people each, who agree or do not.
    assert found.person.value == pytest.approx(689 / 1410)
    assert (found.n_items, found.n_split, found.n_single) == (1410, 721, 0)


@pytest.mark.slow
def test_summeval_experts_lead_and_crowd_workers_stand_apart(recordings: Path):
    items = items_to_frame(load_items("summeval", str(recordings / "items")))
    right = right_options(items)
    assert set(right["raters"]) == {"expert"}
    assert set(right["n_people"]) == {3}
    assert Counter(right["basis"])["no_majority"] == 206  # three experts, three labels
    shares = {
        kind: held_out(part).person.value
        for (kind,), part in people_labels(items).group_by("raters")
    }
    # As bench.recorded_uncertainty prints them.
    assert shares == pytest.approx({"expert": 0.599, "turker": 0.615}, abs=5e-4)
