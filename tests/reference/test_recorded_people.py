"""What people said of recorded items, as judges are held against it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from judgerel_ray.benchmarks import load_items
from judgerel_ray.pipeline.confusing import right_options
from judgerel_ray.reduce.people import people_labels
from judgerel_ray.stats.people_match import people_match
from judgerel_ray.tables import items_to_frame


def held_out(labels: pl.DataFrame):
    """People of one kind held out in turn, beside the judge that always says the first label."""
    names = sorted({one for said in labels["labels"].to_list() for one in said})
    counts = np.array([[Counter(said)[one] for one in names] for said in labels["labels"]])
    return people_match(counts, np.zeros(len(counts), dtype=int))


def test_feedbackqa_half_of_the_items_have_no_majority(recordings: Path):
    items = items_to_frame(load_items("feedbackqa", str(recordings / "items/feedbackqa.parquet")))
    right = right_options(items)
    assert Counter(right["basis"]) == {"no_majority": 721, "majority": 689}
    found = held_out(people_labels(items))
    # 1 - 721 / 1410: two people each, who agree or do not.
    assert found.person.value == pytest.approx(689 / 1410)
    assert (found.n_items, found.n_split, found.n_single) == (1410, 721, 0)


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
