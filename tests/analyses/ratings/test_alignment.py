"""Judges against a reference: another judge, people, a table."""

import numpy as np
import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.analyses.ratings.alignment import (
    alignment_table,
    human_reference,
    judge_reference,
    mean_reference,
    reference_scores,
)
from judgerel_ray.analyses.ratings.show import alignment_blocks
from judgerel_ray.blocks.terminal import printed
from judgerel_ray.core import HumanRating, Item, ReadingWarning, SweepError
from judgerel_ray.counting.groups.rated import rated_groups, rated_rows
from judgerel_ray.stats import reference_agreement
from judgerel_ray.stats.ratings.correlations import CORRELATIONS
from judgerel_ray.tables import items_to_frame

N, K = 30, 4


@pytest.fixture
def two():
    """Scores of two judges on five points, and the rows of both."""
    rng = np.random.default_rng(3)
    latent = rng.uniform(1, 5, size=(N, 1))
    scores = {
        judge: np.clip(np.rint(latent + noise * rng.normal(size=(N, K))), 1, 5)
        for judge, noise in (("wise", 0.2), ("plain", 1.0))
    }
    rows = [
        {"judge": judge, "benchmark": "b", "item_id": f"q{n:02}", "responder": "x",
         "criterion": "factuality", "scale": "points5", "temperature": 1.0, "replication": r,
         "score": table[n, r]}
        for judge, table in scores.items() for n in range(N) for r in range(K)
    ]  # fmt: skip
    return scores, rated_rows(pl.DataFrame(rows).lazy())


def test_every_coefficient_is_that_of_the_statistics(two):
    scores, (rows, scales) = two
    groups = rated_groups(rows, scales)
    found = alignment_table(groups, judge_reference(rows, "wise"), name="wise")
    assert found["judge"].unique().to_list() == ["plain"]
    assert found["coefficient"].to_list() == list(CORRELATIONS)
    for row in found.iter_rows(named=True):
        expected = reference_agreement(
            scores["plain"], scores["wise"].mean(axis=1), coefficient=row["coefficient"]
        )
        for kind in ("single", "averaged"):
            one = getattr(expected, kind)
            told = [row[kind], row[f"{kind}_low"], row[f"{kind}_high"]]
            assert told == pytest.approx([one.value, one.low, one.high], abs=1e-12)
        assert row["gain"] == pytest.approx(expected.gain.value)
        assert row["averaged"] > row["single"]
        assert (row["n_averaged"], row["n_items"]) == (K, N)


def test_people_are_a_reference_of_items_with_one_response(two):
    _, (rows, scales) = two
    items = [
        Item(item_id=f"q{n:02}", benchmark="b", category="c", question="?",
             ratings=tuple(HumanRating(rater=f"{r}", criterion="factuality", score=float(n % 5 + r))
                           for r in range(2)))
        for n in range(N)
    ]  # fmt: skip
    people = human_reference(items_to_frame(items), rows)
    [plain, _] = rated_groups(rows, scales)
    assert reference_scores(plain, "points5", people)[:6].tolist() == [0.5, 1.5, 2.5, 3.5, 4.5, 0.5]
    more = pl.concat([rows, rows.with_columns(responder=pl.lit("y"))])
    assert human_reference(items_to_frame(items), more).is_empty()


def test_a_rating_of_one_response_of_several_is_of_that_response(two):
    _, (rows, scales) = two
    ratings = [
        HumanRating(rater=f"{r}", criterion="factuality", score=score, responder=responder)
        for responder, scores in (("x", (1.0, 2.0)), ("y", (5.0,)))
        for r, score in enumerate(scores)
    ]
    whole = HumanRating(rater="0", criterion="factuality", score=3.0)
    items = [
        Item(item_id=name, benchmark="b", category="c", question="?", ratings=tuple(given))
        for name, given in (("q00", ratings), ("q01", [whole]), ("q02", [whole, *ratings]))
    ]
    both = pl.concat([rows, rows.with_columns(responder=pl.lit("y"))])
    people = human_reference(items_to_frame(items), both)
    [plain, _] = rated_groups(both, scales)
    found = dict(
        zip(
            plain.units.select("item_id", "responder").rows(),
            reference_scores(plain, "points5", people),
            strict=True,
        )
    )
    assert [found["q00", one] for one in "xy"] == [1.5, 5.0]
    assert [found["q02", one] for one in "xy"] == [1.5, 5.0]
    assert np.isnan([found["q01", one] for one in "xy"]).all()
    # Of an item with one response, both ways of saying it are of that one.
    [alone, _] = rated_groups(rows, scales)
    told = reference_scores(alone, "points5", human_reference(items_to_frame(items), rows))
    assert told[:3].tolist() == [1.5, 3.0, 2.0]


def test_a_reference_of_other_responses_says_nothing_of_the_only_one_judged(two):
    _, (rows, scales) = two
    [plain, _] = rated_groups(rows, scales)
    told = {"item_id": ["q00"] * 2 + ["q01"], "responder": ["x", "y", "y"], "score": [1.0, 5.0, 2]}
    found = reference_scores(plain, "points5", mean_reference(pl.DataFrame(told)))
    assert found[0] == 1.0
    assert np.isnan(found[1])


def test_a_reference_that_tells_less_holds_for_all(two):
    _, (rows, scales) = two
    [plain, _] = rated_groups(rows, scales)
    told = pl.DataFrame(
        {"item_id": ["q00", "q00", "q01"], "criterion": ["factuality", None, None],
         "score": [1.0, 2.0, 3.0]}
    )  # fmt: skip
    found = reference_scores(plain, "points5", mean_reference(told))
    assert found[:2].tolist() == [1.0, 3.0]
    assert np.isnan(found[2:]).all()


def test_another_criterion_is_no_reference(two):
    _, (rows, scales) = two
    groups = rated_groups(rows, scales)
    other = pl.DataFrame({"item_id": ["q00"], "criterion": ["taste"], "score": [1.0]})
    with pytest.raises(SweepError, match="no rating has a reference in people by item_id"):
        alignment_table(groups, mean_reference(other), name="people")
    with pytest.raises(SweepError, match="no judge 'none' to be the reference, got judges plain"):
        judge_reference(rows, "none")


def test_intraclass_correlation_needs_a_reference_on_the_scale(two):
    groups = rated_groups(*two[1])
    names = [f"q{n:02}" for n in range(N)]
    shares = mean_reference(pl.DataFrame({"item_id": names, "score": np.linspace(0, 1, N)}))
    found = alignment_table(groups, shares, name="shares")
    of_units = pl.col("coefficient").str.starts_with("icc")
    off, others = found.filter(of_units), found.filter(~of_units)
    assert set(off["undefined"]) == {"reference_off_scale"}
    told = ("single", "single_low", "averaged", "averaged_high", "gain", "p_gain")
    assert all(off[name].null_count() == off.height for name in told)
    assert others["undefined"].null_count() == others.height
    points = mean_reference(pl.DataFrame({"item_id": names, "score": np.linspace(1, 5, N)}))
    found = alignment_table(groups, points, name="points")
    assert found["undefined"].null_count() == found.height


def test_what_an_interval_lacks_is_said_beside_it(two):
    groups = rated_groups(*two[1])
    truth = groups[0].scores["points5"].mean(axis=1)
    for n, said in (
        (N, "no interval: without any one question it comes out the same"),
        (4, "few informative questions"),
    ):
        noise = np.zeros(n) if n == N else np.array([0.5, -0.5, 1, -1])
        table = {"item_id": [f"q{i:02}" for i in range(n)], "score": truth[:n] + noise}
        found = alignment_table(
            groups[:1], mean_reference(pl.DataFrame(table)), name="t", coefficients=["pearson"]
        )
        assert found["estimator"][0].endswith(f"; {said}")
        assert said in " ".join(printed(alignment_blocks(found)).split())
        assert found["averaged_low"].null_count() == (n == N)


def test_references_of_nothing_rated_are_said(tmp_path):
    rated = {"item_id": [f"q{n}" for n in range(12)], "replication": [0] * 12,
             "scale": ["points5"] * 12, "score": [1 + n % 5 for n in range(12)]}  # fmt: skip
    path = tmp_path / "people.csv"
    pl.DataFrame({"item_id": [f"q{n:02}" for n in range(12)], "score": rated["score"]}).write_csv(
        path
    )
    with pytest.warns(ReadingWarning) as caught:
        found = judgerel_ray.align(pl.DataFrame(rated), reference=str(path), coefficients="pearson")
    assert found["n_items"].to_list() == [2]
    assert [str(one.message).partition(":")[0] for one in caught] == [
        "references of 10 of 12 items are of nothing rated, left out",
        "10 items of the two differ in spelling alone, and are left out on both sides",
    ]
    pl.DataFrame({"item_id": ["x", "y"], "score": [1, 2]}).write_csv(path)
    with pytest.raises(SweepError, match=r"no item_id is in both: a has 'q0'.*; b has 'x', 'y'"):
        judgerel_ray.align(pl.DataFrame(rated), reference=str(path))


@pytest.mark.alike(3)
@pytest.mark.parametrize("column", ["benchmark", "criterion", "responder"])
def test_a_reference_says_of_which_of_several_things_of_one_name_it_is(tmp_path, column):
    path = str(tmp_path / "people.csv")
    rated = [{"item_id": f"q{n}", column: name, "replication": 0, "scale": "points5",
              "score": 1 + (n if name == "x" else 12 - n) % 5}
             for name in "xy" for n in range(12)]  # fmt: skip
    people = pl.DataFrame(rated).filter(pl.col(column) == "x").select("item_id", column, "score")
    people.drop(column).write_csv(path)
    said = (
        pytest.warns(ReadingWarning, match=r"names no criterion: .* of an item \(x, y\)")
        if column == "criterion"
        else pytest.raises(SweepError, match=f"must say which {column} .* 'q0' was rated for x, y")
    )
    with said:
        judgerel_ray.align(pl.DataFrame(rated), reference=path, coefficients="pearson")
    people.write_csv(path)
    found = judgerel_ray.align(
        pl.DataFrame(rated).filter(pl.col(column) == "x"), reference=path, coefficients="pearson"
    )
    assert found["averaged"].to_list() == [1]
    apart = pl.DataFrame(rated).with_columns(pl.concat_str("item_id", pl.col(column)))
    people.drop(column).with_columns(pl.concat_str("item_id", pl.lit("x"))).write_csv(path)
    assert judgerel_ray.align(apart, reference=path, coefficients="pearson").height
