"""Designs from frames: roles, units, and components that agree with the arrays'."""

import numpy as np
import polars as pl
import pytest

from judgerel_ray.analyses.advice.facets import (
    component_rows,
    facet_groups,
    key_schema,
)
from judgerel_ray.analyses.advice.tables import Components
from judgerel_ray.core import SweepError
from judgerel_ray.counting.columns import FACETS
from judgerel_ray.stats.generalizability.facet_cells import label_cells, score_cells
from judgerel_ray.stats.generalizability.variance_components import variance_components


def variance_table(frame, **options):
    groups = [*facet_groups(frame, **options)]
    found = [{**group.key, **row} for group in groups for row in component_rows(group)]
    return Components.frame(found, key_schema(groups))


def rows(**columns):
    return pl.LazyFrame(columns)


@pytest.fixture(scope="module")
def crossed():
    """Six questions by three orders by two templates, twice each, some replies without verdict."""
    rng = np.random.default_rng(1)
    grid = pl.DataFrame({"item_id": [f"q{i}" for i in range(6)]})
    for name, values in {
        "option_order": [0, 1, 2], "template": ["plain", "long"], "replication": [0, 1],
    }.items():  # fmt: skip
        grid = grid.join(pl.DataFrame({name: values}), how="cross")
    base = rng.integers(0, 3, 6)[grid["item_id"].str.slice(1).cast(pl.Int64).to_numpy()]
    noisy = (base + (rng.random(grid.height) < 0.3)) % 3
    verdict = pl.Series([None if v == 2 and i % 5 == 0 else "ABC"[v] for i, v in enumerate(noisy)])
    return grid.with_columns(verdict=verdict, judge=pl.lit("j"), temperature=pl.lit(1.0))


def test_frames_give_what_arrays_give(crossed):
    found = variance_table(crossed.lazy())
    value = crossed["verdict"].fill_null("none").to_numpy()
    columns = np.unique(value)
    levels = {name: crossed[name].to_numpy() for name in ("item_id", "option_order", "template")}
    whole = variance_components(
        label_cells((value[:, None] == columns).astype(int), levels),
        object_="item_id",
        sizes={"option_order": 6},  # of three options
    )
    expected = {frozenset(one.facets): one.value for one in whole.components}
    got = {
        frozenset(() if name == "residual" else name.split(" x ")): value
        for name, value in found.select("component", "estimate").rows()
    }
    assert got.keys() == expected.keys()
    assert len(got) == 8
    for facets, estimate in expected.items():
        assert got[facets] == pytest.approx(estimate, abs=1e-12)
    assert found["n_items"].unique().to_list() == [6]
    assert found["n_judgments"].unique().to_list() == [72]
    assert found["share"].sum() == pytest.approx(1)
    assert (found["negative"] == (found["estimate"] < 0)).all()
    assert found["undefined"].null_count() == found.height
    assert found.columns[:2] == ["judge", "temperature"]


def test_order_of_rows_changes_nothing(crossed):
    shuffled = crossed.sample(fraction=1, shuffle=True, seed=3)
    assert variance_table(shuffled.lazy()).equals(variance_table(crossed.lazy()))


def test_dropping_is_another_design(crossed):
    dropped = variance_table(crossed.lazy(), missing="drop")
    assert dropped["n_judgments"][0] == 72 - crossed["verdict"].null_count()


def test_roles_are_of_what_is_judged_chosen_or_drawn():
    frame = rows(
        item_id=["q", "q", "r", "r"] * 8,
        responder=["x", "y"] * 16,
        temperature=([0.5] * 4 + [1.0] * 4) * 4,
        template=(["a"] * 8 + ["b"] * 8) * 2,
        replication=[0] * 16 + [1] * 16,
        score=[float(i * 7 % 11) for i in range(32)],
    )
    [group] = facet_groups(frame, by=[])
    assert (group.judged, group.chosen, group.drawn) == (
        ("responder",),
        ("temperature",),
        ("template",),
    )
    assert (group.kind, group.n_things, group.found.n_questions) == ("scores", 4, 2)
    roles = dict(variance_table(frame, by=[]).select("component", "part").rows())
    assert roles["item_id x responder"] == "wanted"
    assert roles["temperature"] == "chosen"
    assert roles["item_id x temperature"] == "wanted"
    assert roles["item_id x template"] == roles["residual"] == "error"


def test_a_judge_and_its_fingerprint_are_one_facet():
    frame = rows(
        item_id=["q", "q", "r", "r"] * 2,
        judge=["x", "y"] * 4,
        judge_fingerprint=["1", "2"] * 4,
        replication=[0] * 4 + [1] * 4,
        verdict=list("AABBABBB"),
    )
    assert variance_table(frame, by=[])["component"].to_list() == [
        "item_id",
        "judge",
        "item_id x judge",
        "residual",
    ]


def test_continuous_scores_go_by_their_sums():
    rng = np.random.default_rng(2)
    scores = rng.normal(5, 1, (60, 2)) + rng.normal(0, 1, (60, 1))
    frame = rows(
        item_id=np.repeat(np.arange(60), 2).astype(str),
        replication=[0, 1] * 60,
        score=scores.ravel(),
    )
    [group] = facet_groups(frame)
    cells = score_cells([2] * 60, scores.sum(1), (scores**2).sum(1), {"q": np.arange(60)})
    expected = variance_components(cells, object_="q")
    assert group.found.value("item_id") == pytest.approx(expected.value("q"))
    assert len(group.units.values) <= 40
    assert group.units.counts_UV.sum() == 120


def test_temperatures_are_fixed_and_the_row_says_so():
    # Half the questions asked mostly when cold, half mostly when hot; heat alone adds 10 points.
    rng = np.random.default_rng(4)
    design = [(q, t) for q in range(40) for t in (0, 1) for _ in range(8 if q % 2 == t else 1)]
    q, t = np.array(design).T
    scores = rng.normal(0, 1, 40)[q] + 10.0 * t + rng.normal(0, 1, q.size)
    frame = rows(
        item_id=q.astype(str),
        temperature=0.5 + t * 0.5,
        replication=np.arange(q.size),
        score=scores,
    )
    table = variance_table(frame, by=[])
    assert table["estimator"].str.contains("temperature fixed").all()
    found = dict(table.select("component", "estimate").iter_rows())
    assert found["item_id"] == pytest.approx(1, abs=0.6)  # 2.9 with temperatures random
    assert found["temperature"] == pytest.approx(50, abs=5)
    assert abs(found["item_id x temperature"]) < 0.5


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({"item_id": ["q", "r"], "verdict": ["A", "A"]}, "no_variance"),
        ({"item_id": ["q", "q"], "verdict": ["A", "B"]}, "too_few_units"),
        ({"item_id": ["q", "r"], "verdict": ["A", "B"]}, "confounded with residual"),
        ({"item_id": ["q"], "verdict": [None], "outcome": ["failed"]}, "no_verdicts"),
    ],
)
def test_degenerate_groups_say_why(columns, why):
    columns = {**columns, "replication": list(range(len(columns["item_id"])))}
    assert why in variance_table(pl.LazyFrame(columns))["undefined"].to_list()


def test_unknown_columns_are_refused():
    with pytest.raises(SweepError, match="no column 'juge' to group by"):
        variance_table(rows(item_id=["q"], judge=["x"], verdict=["A"]), by=["juge"])


@pytest.fixture(scope="module")
def repeated(recordings):
    """Eight recorded scores of four responses to each of 1,730 prompts."""
    recorded = pl.read_parquet(recordings / "seed003" / "repeated8_rewardbench2.parquet")
    return (
        recorded.filter(pl.col("run") == "base_both_k8")
        .unpivot(
            on=[f"s{i}" for i in range(8)],
            index=["judge", "item", "subset", "response_idx"],
            variable_name="replication",
            value_name="score",
        )
        .select(
            pl.col("judge").cast(pl.String),
            item_id=pl.format("{}:{}", pl.col("subset").cast(pl.String), "item"),
            responder=pl.col("response_idx").cast(pl.String),
            replication=pl.col("replication").str.slice(1).cast(pl.Int64),
            score=pl.when(pl.col("score") > 0).then(pl.col("score").cast(pl.Float64)),
        )
    )


def test_the_recorded_components_of_responses_in_questions(repeated):
    found = variance_table(repeated.lazy(), nested=["responder"])
    full = found.filter(judge="gpt-5.4-full")
    assert full["component"].to_list() == ["item_id", "item_id x responder", "residual"]
    # Printed .140 / .824 / .036, by another handling of sixteen missing scores.
    assert full["share"].to_list() == pytest.approx([0.140, 0.824, 0.036], abs=0.001)
    share = dict(full.select("component", "share").rows())
    wanted, error = share["item_id x responder"], share["residual"]
    assert wanted / (wanted + error) == pytest.approx(0.958, abs=0.0005)
    assert 19 * error / wanted == pytest.approx(0.8, abs=0.05)  # replications for .95
    assert 99 * error / wanted == pytest.approx(4.3, abs=0.05)  # and for .99
    assert full["n_items"][0] == 1730


def test_a_model_alone_and_as_a_judge_are_told_apart():
    frame = rows(
        judge=["a"] * 16,
        role=["responder", "participant"] * 8,
        stage=["choose", "judge"] * 8,
        item_id=["q", "q", "r", "r"] * 4,
        replication=[n // 4 for n in range(16)],
        verdict=[str(n * 5 % 3) for n in range(16)],
    )
    found = variance_table(frame)
    assert set(found["role"]) == {"responder", "participant"}
    assert set(found["part"]) == {"wanted", "error"}
    assert set(Components.columns).isdisjoint({"item_id", *FACETS})


@pytest.mark.slow
def test_answers_and_judge_are_told_apart_by_the_components_that_made_them():
    """Forty logs of 80 questions, 4 answers each, each judged 3 times: means and coverage."""
    rng = np.random.default_rng(15)
    truth = {"item_id": 1.0, "item_id x responder": 0.5, "residual": 0.25}
    n, shape = 40, (40, 80, 4, 3)
    scores = rng.normal(0, 1, (*shape[:2], 1, 1)) + rng.normal(0, 0.5**0.5, (*shape[:3], 1))
    scores = scores + rng.normal(0, 0.5, shape)
    item, answer, repeat = (axis.ravel() for axis in np.indices(shape[1:]))
    covered = dict.fromkeys(truth, 0)
    estimates = []
    for one in scores:
        frame = pl.DataFrame({
            "item_id": item.astype(str), "responder": [f"answer {k}" for k in answer],
            "replication": repeat, "score": one.ravel(),
        })  # fmt: skip
        found = variance_table(frame.lazy(), nested=["responder"])
        assert found["component"].to_list() == list(truth)
        estimates.append(found["estimate"])
        for name, low, high in found.select("component", "low", "high").iter_rows():
            covered[name] += low <= truth[name] <= high
    assert np.mean(estimates, axis=0) == pytest.approx(list(truth.values()), abs=0.05)
    # 33 of 40 or fewer at .95 each: 2 in 10,000.
    assert min(covered.values()) > 0.825 * n, covered
