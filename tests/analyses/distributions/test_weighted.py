"""Scores weighted by their probabilities: the law's mean, its certain bounds, and alignment."""

import json

import numpy as np
import polars as pl
import pytest

from judgerel_ray.analyses.ratings.alignment import alignment_table, mean_reference
from judgerel_ray.core import Scale, SweepError
from judgerel_ray.counting.groups.rated import rated_groups, rated_rows
from judgerel_ray.measuring.distributions import (
    distribution_table,
    limit_table,
    weighted_groups,
    weighted_summary,
    weighted_table,
    width_table,
)
from judgerel_ray.stats import krippendorff_alpha, reference_agreement

FIVE = ("1", "2", "3", "4", "5")
LIKERT = ("Strongly Disagree", "Disagree", "Neutral", "Agree", "Strongly Agree")
N = 40


def place(n, **changes):
    return {"judge": "j", "benchmark": "b", "item_id": f"q{n:02}", "template": "default",
            "responder": "x", "criterion": "helpfulness", "definition": "short",
            "scale": "points5", **changes}  # fmt: skip


def engine_says(labels, p, *, open_=0.0, temperature=1.0):
    """What an engine found of a law with its share without a score last."""
    low = [share * (1 - open_) for share in p]
    found = {"temperatures": [temperature], "verdicts": [*labels, None], "low": [low],
             "high": [[share + open_ for share in low]], "estimate": None}  # fmt: skip
    return json.dumps(found)


@pytest.fixture(scope="module")
def laws():
    rng = np.random.default_rng(7)
    return rng.dirichlet(np.full(6, 0.8), size=N)


@pytest.fixture(scope="module")
def table(laws):
    """Ratings on two scales by one law, a tenth of each left open; and verdicts that are none."""
    found = [
        (place(n, scale=scale), engine_says(labels, p, open_=0.1))
        for scale, labels in (("points5", FIVE), ("likert5", LIKERT))
        for n, p in enumerate(laws)
    ]
    verdict = {"judge": "j", "benchmark": "b", "item_id": "q00", "template": "default",
               "option_order": 0}  # fmt: skip
    return distribution_table([*found, (verdict, engine_says(("x", "y"), [0.5, 0.4, 0.1]))])


def test_scores_are_the_laws_means_within_certain_bounds(laws, table):
    found = weighted_table(table)
    assert found.height == 2 * N
    for scale, values in (("points5", np.arange(1.0, 6)), ("likert5", np.arange(5.0))):
        mine = found.filter(scale=scale)
        mean = laws[:, :5] @ values / laws[:, :5].sum(axis=1)
        assert mine["score"].to_numpy() == pytest.approx(mean)
        assert mine["mass"].to_numpy() == pytest.approx(laws[:, :5].sum(axis=1))
        assert (mine["low"].to_numpy() < mean).all()
        assert (mean < mine["high"].to_numpy()).all()
    first = laws[0] * 0.9
    top = (first[:5] @ np.arange(1.0, 6) + 0.1 * 5) / (first[:5].sum() + 0.1)
    assert found.filter(scale="points5", item_id="q00")["high"].item() == pytest.approx(top)


def test_responses_definitions_and_scales_are_told_apart(laws):
    rows = [
        (place(0, responder=who, definition=definition, scale=scale), engine_says(labels, p))
        for (who, definition, scale, labels), p in zip(
            ((who, definition, scale, labels)
             for who in "xy" for definition in ("none", "long")
             for scale, labels in (("points5", FIVE), ("likert5", LIKERT))),
            laws, strict=False,
        )
    ]  # fmt: skip
    table = distribution_table(rows)
    assert weighted_table(table).height == 8
    groups = ["judge", "benchmark", "criterion", "definition", "scale", "temperature"]
    for found in (width_table(table), limit_table(table)):
        assert found.columns[: len(groups)] == groups
        assert found.select(groups).unique().height == 4
    assert limit_table(table)["n_items"].unique().to_list() == [1]


def test_a_scale_of_ones_own_is_weighted_where_it_is_declared(laws):
    scale = Scale(name="stars", level="interval", lowest=0, highest=4)
    rows = [(place(0, scale="stars"), engine_says("01234", laws[0]))]
    table = distribution_table(rows)
    assert weighted_table(table).is_empty()
    found = weighted_table(table, scales={"stars": scale})
    mean = laws[0, :5] @ np.arange(5) / laws[0, :5].sum()
    assert found["score"].item() == pytest.approx(mean)
    limits = {row["coefficient"]: row for row in limit_table(table).iter_rows(named=True)}
    assert limits["krippendorff_alpha"]["undefined"] == "unknown_scale"
    assert limits["percent_agreement"]["undefined"] is None


def test_limits_are_at_the_level_of_the_scale(laws, table):
    limits = limit_table(table)
    alphas = {
        row["scale"]: row
        for row in limits.filter(coefficient="krippendorff_alpha").iter_rows(named=True)
    }
    levels = {scale: row["measurement"] for scale, row in alphas.items()}
    assert levels == {None: "nominal", "likert5": "ordinal", "points5": "interval"}
    rng = np.random.default_rng(3)
    counts = np.array([rng.multinomial(3000, p)[:5] for p in laws])
    for scale, level in (("points5", "interval"), ("likert5", "ordinal")):
        drawn = krippendorff_alpha(counts, values=np.arange(5.0), level=level).value
        row = alphas[scale]
        # A tenth is open: what is settled of it is shared as the rest, so the law stays.
        assert row["value"] == pytest.approx(drawn, abs=0.01)
        assert row["low"] < row["value"] < row["high"]
    together = limit_table(table.filter(pl.col("scale").is_not_null()), by=["judge"])
    assert set(together["undefined"]) == {"several_scales"}
    others = limits.filter(pl.col("coefficient") != "krippendorff_alpha")
    assert set(others["measurement"]) == {"nominal"}


def reference():
    rng = np.random.default_rng(11)
    return pl.DataFrame({"item_id": [f"q{n:02}" for n in range(N)],
                         "score": rng.uniform(1, 5, size=N)})  # fmt: skip


def sampled(laws, k):
    rng = np.random.default_rng(5)
    rows = [
        {**place(n), "temperature": 1.0, "replication": r, "role": "judge",
         "score": None if value == 5 else float(value + 1)}
        for n, p in enumerate(laws) for r, value in enumerate(rng.choice(6, size=k, p=p))
    ]  # fmt: skip
    return rated_groups(*rated_rows(pl.DataFrame(rows).lazy()))


@pytest.mark.slow
def test_alignment_of_weighted_scores_is_what_averages_tend_to(laws, table):
    weighted = weighted_groups(weighted_table(table))
    scores = weighted_table(table).filter(scale="points5")["score"].to_numpy()
    said = np.clip(scores + np.random.default_rng(1).normal(size=N), 1, 5)
    truth = pl.DataFrame({"item_id": [f"q{n:02}" for n in range(N)], "score": said})
    found = alignment_table(
        sampled(laws, 400), mean_reference(truth), name="people", weighted=weighted
    )
    five = found.filter(scale="points5")
    assert five.height == 5
    for row in five.iter_rows(named=True):
        expected = reference_agreement(
            scores, truth["score"].to_numpy(), coefficient=row["coefficient"]
        ).averaged
        told = [row["weighted"], row["weighted_low"], row["weighted_high"]]
        assert told == pytest.approx([expected.value, expected.low, expected.high])
        assert row["averaged"] == pytest.approx(row["weighted"], abs=0.05)
        assert row["single"] < row["weighted"]
        assert (row["n_weighted"], row["n_items"]) == (N, N)
    # On the other scale nothing was sampled.
    alike = ~pl.col("coefficient").str.starts_with("icc")
    for row in found.filter(alike, scale="likert5").iter_rows(named=True):
        assert (row["undefined"], row["single"], row["n_averaged"]) == ("not_sampled", None, None)
        assert row["weighted"] is not None
    others = found.filter(~alike, scale="likert5")
    assert set(others["undefined"]) == {"reference_off_scale"}


def test_without_distributions_nothing_is_weighted(laws):
    found = alignment_table(sampled(laws, 3), mean_reference(reference()), name="people")
    assert found["weighted"].null_count() == found["n_weighted"].null_count() == found.height
    assert found["averaged"].null_count() == 0


def test_the_summary_counts_responses_and_tells_the_widest_bounds(table):
    found = weighted_table(table)
    [likert, five] = weighted_summary(found).iter_rows(named=True)
    assert (likert["scale"], five["scale"]) == ("likert5", "points5")
    assert (five["n_items"], five["n_responses"]) == (N, N)
    widths = (found["high"] - found["low"]).to_numpy()[found["scale"].to_numpy() == "points5"]
    assert (five["width"], five["largest_width"]) == pytest.approx((widths.mean(), widths.max()))
    assert five["mean"] == pytest.approx(likert["mean"] + 1)


def test_a_response_that_is_never_rated_has_no_score():
    rows = [(place(0), engine_says(FIVE, [0, 0, 0, 0, 0, 1.0]))]
    found = weighted_table(distribution_table(rows))
    assert found.select("score", "low", "high", "mass").row(0) == (None, None, None, 0.0)
    summary = weighted_summary(found).row(0, named=True)
    assert (summary["n_responses"], summary["mean"]) == (0, None)


@pytest.mark.parametrize("off", [["9"], list(FIVE)])
def test_verdicts_off_their_scale_are_told_and_make_no_number(laws, off):
    """Some of them were left out without a word; of all of them NumPy complained."""
    rows = [(place(0, scale="points5"), engine_says(FIVE, laws[0]))]
    table = distribution_table(rows)
    altered = table.with_columns(
        pl.col("verdict").replace({FIVE[0]: "9"} if len(off) == 1 else {one: "x" for one in off})
    )
    for make in (limit_table, weighted_table):
        with pytest.raises(SweepError, match="not on their scale"):
            make(altered)
