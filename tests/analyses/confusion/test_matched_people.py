"""Judges against people in tables: kinds apart, ties kept, labels of what chose no threshold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from judgerel_ray.analyses.confusion.confusion import matched_table, uncertainty_tables
from judgerel_ray.analyses.confusion.from_run import right_options
from judgerel_ray.analyses.confusion.groups import judged_groups, labellings, labels_of_others
from judgerel_ray.analyses.confusion.matrices import UncertaintyOptions, scored_matrices
from judgerel_ray.analyses.confusion.show import uncertainty_blocks
from judgerel_ray.blocks.terminal import printed
from judgerel_ray.core import HumanRating, Item, Option
from judgerel_ray.tables import Confusions, items_to_frame

OPTIONS = tuple(Option(option_id=one, text=one) for one in ("yes", "no"))


def rated(name, **kinds):
    ratings = tuple(
        HumanRating(rater=f"{kind}:{n}" if kind != "people" else str(n), label=label)
        for kind, labels in kinds.items()
        for n, label in enumerate(labels)
    )
    return Item(
        item_id=name, benchmark="b", category="c", question="?", options=OPTIONS, ratings=ratings
    )


def matrices_of(shares, verdicts=None):
    """One judge's matrices and verdicts: `shares` of yes, whatever was argued."""
    cells, own = [], []
    for n, share in enumerate(shares):
        place = {"judge": "j", "benchmark": "b", "item_id": f"q{n}", "template": "t",
                 "temperature": 0.0}  # fmt: skip
        for argued in ("yes", "no"):
            cells += [
                {**place, "criterion": None, "mode": "columns", "assessment_option": argued,
                 "verdict_option": option, "probability": p}
                for option, p in (("yes", share), ("no", 1 - share))
            ]  # fmt: skip
        said = ("yes" if share >= 0.5 else "no") if verdicts is None else verdicts[n]
        own.append({**place, "verdict": said})
    return pl.DataFrame(cells, schema=Confusions.create_empty().schema), pl.DataFrame(own)


def tables_of(items, shares, verdicts=None, **options):
    frame = items_to_frame(items)
    cells, own = matrices_of(shares, verdicts)
    return uncertainty_tables(cells, own, right_options(frame), frame, **options)


@pytest.fixture(scope="module")
def tied():
    """Thirty items, two people each; they differ on every second."""
    rng = np.random.default_rng(4)
    items = [rated(f"q{n}", people=("yes", "yes") if n % 2 else ("yes", "no")) for n in range(30)]
    return items, rng.uniform(0.05, 0.95, 30).round(3).tolist()


def test_ties_are_counted_and_none_is_dropped(tied):
    items, shares = tied
    tables = tables_of(items, shares)
    worth = {row["quantity"]: row for row in tables.worth.iter_rows(named=True)}
    assert (worth["no_majority"]["k"], worth["no_majority"]["n"]) == (15, 30)
    assert worth["accuracy"]["n"] == 15
    assert worth["accuracy"]["estimator"].endswith("right: the label most given by people")
    row = tables.against_people.filter(label="all").row(0, named=True)
    yes = np.array(shares) >= 0.5
    agreed = np.arange(30) % 2 == 1
    assert row["judge_share"] == pytest.approx(np.where(agreed, yes, 0.5).mean())
    assert row["person_share"] == tables.people["value"][0] == 0.5
    assert (row["n_items"], row["n_split"], row["n_ratings"]) == (30, 15, 60)
    shown = " ".join(printed(uncertainty_blocks(tables)).split())
    assert "15 of 30" in shown
    assert "items on which people have no single most frequent label: left out" in shown
    assert "judge - person" in shown


def test_by_label_judge_and_person_are_of_the_same_items(tied):
    items, shares = tied
    found = tables_of(items, shares, options=UncertaintyOptions(threshold=0.8)).against_people
    low = np.maximum(shares, 1 - np.array(shares)) >= 0.8
    for label, kept in (("low", low), ("high", ~low)):
        row = found.filter(label=label).row(0, named=True)
        assert row["n_items"] == kept.sum()
        assert row["person_share"] == pytest.approx((np.arange(30) % 2 == 1)[kept].mean())


def test_kinds_of_people_are_never_pooled():
    items = [rated(f"q{n}", expert=("yes", "yes", "no"), turker=("no",) * 5) for n in range(12)]
    tables = tables_of(items, [0.9] * 12)
    found = tables.against_people.filter(label="all")
    told = {row["raters"]: row["judge_share"] for row in found.iter_rows(named=True)}
    assert told == pytest.approx({"expert": 2 / 3, "turker": 0.0})
    # Pooled, six of eight say no.
    right = right_options(items_to_frame(items))
    assert right.select("right", "basis", "raters", "n_people").unique().rows() == [
        ("yes", "majority", "expert", 3)
    ]
    other = right_options(items_to_frame(items), raters="turker")
    assert set(other["right"]) == {"no"}


def test_where_the_leading_kind_is_silent_nobody_says():
    items = [rated("q0", expert=("yes",)), rated("q1", turker=("no", "no"))]
    found = right_options(items_to_frame(items))
    assert found.select("right", "basis").rows() == [("yes", "majority"), (None, None)]


def test_gold_goes_before_people_who_are_still_matched():
    items = [replace(rated(f"q{n}", people=("no", "no")), gold="yes") for n in range(4)]
    assert set(right_options(items_to_frame(items))["basis"]) == {"gold"}
    tables = tables_of(items, [0.9] * 4)
    assert "no_majority" not in tables.worth["quantity"].to_list()
    assert tables.against_people["judge_share"][0] == 0.0
    assert tables.worth.filter(quantity="accuracy")["value"][0] == 1.0


def test_a_judgment_that_chose_no_threshold_has_that_of_a_fold_without_its_text(tied):
    items, shares = tied
    frame = items_to_frame(items)
    # Two items a text: one people agree on, one they do not.
    right = right_options(frame).with_columns(
        text=pl.col("item_id").str.slice(1).cast(pl.Int64).floordiv(2).cast(pl.String)
    )
    options = UncertaintyOptions()
    [group] = judged_groups(tuple(scored_matrices(*matrices_of(shares), right, options)), options)
    leading = next(labellings(group, options))
    low = labels_of_others(group, leading, options)
    fold_of = dict(zip((one.text for one in group.judged), leading.fitted.fold_N, strict=True))
    assert len(group.unjudged) == group.without_majority == 15
    for one, is_low in zip(group.unjudged, low, strict=True):
        threshold = leading.fitted.thresholds[fold_of[one.text]]
        first, second = sorted(one.scores.u_O, reverse=True)
        assert is_low == (second < threshold <= first)


def test_a_judge_without_a_verdict_matches_nobody():
    items = [rated(f"q{n}", people=("yes", "yes")) for n in range(4)]
    found = tables_of(items, [0.9] * 4, ["yes", None, "yes", None]).against_people
    assert found["judge_share"][0] == 0.5


def test_one_person_an_item_leaves_nobody_to_hold_out():
    items = [rated(f"q{n}", people=("yes",)) for n in range(4)]
    tables = tables_of(items, [0.9] * 4)
    assert matched_table((), items_to_frame(items), UncertaintyOptions()).is_empty()
    assert tables.against_people.is_empty()
    some = [*items, *(rated(f"q{n}", people=("yes", "no")) for n in range(4, 8))]
    row = tables_of(some, [0.9] * 8).against_people.row(0, named=True)
    assert (row["n_items"], row["n_single"]) == (4, 4)
