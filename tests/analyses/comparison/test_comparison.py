"""Comparisons of judges, temperatures and runs: what is paired with what, and what it comes to."""

import shutil
import warnings

import numpy as np
import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.analyses.comparison.comparison import compare_judgments
from judgerel_ray.analyses.comparison.show import comparison_text
from judgerel_ray.core import ReadingWarning, Scale, SweepError
from judgerel_ray.measuring.reliability import reduce_judgments
from judgerel_ray.stats import count_statistic
from judgerel_ray.stats.intervals.judge_differences import holm
from judgerel_ray.stats.intervals.paired import paired_difference


def judged(alpha, seed, n=30, m=4, **columns):
    """A judge of known alpha, three verdicts; questions of one seed are the same questions."""
    rng = np.random.default_rng(seed)
    shares = np.random.default_rng(99).dirichlet(np.full(3, (1 / alpha - 1) / 3), n)
    verdicts = [rng.choice(list("ABC"), m, p=p) for p in shares]
    return pl.DataFrame(
        {
            "item_id": np.repeat([f"q{i:02}" for i in range(n)], m),
            "replication": np.tile(np.arange(m), n),
            "verdict": np.concatenate(verdicts),
        }
    ).with_columns(**{name: pl.lit(value) for name, value in columns.items()})


@pytest.fixture(scope="module")
def three():
    return pl.concat(
        [
            judged(0.2, 1, judge="coin", temperature=1.0),
            judged(0.7, 2, judge="rock", temperature=1.0),
            judged(0.7, 3, judge="stone", temperature=1.0),
            judged(0.9, 4, judge="rock", temperature=0.5),
            judged(0.7, 5, judge="coin", temperature=0.5),
        ]
    )


def test_all_pairs_of_judges_at_equal_temperatures(three):
    found = compare_judgments(three.lazy(), by=["judge"], coefficients=["krippendorff_alpha"])
    assert found.select("temperature", "a", "b").rows() == [
        (0.5, "coin", "rock"),
        (1.0, "coin", "rock"),
        (1.0, "coin", "stone"),
        (1.0, "rock", "stone"),
    ]
    own = reduce_judgments(three.lazy(), coefficients=["krippendorff_alpha"])
    value = {(row["judge"], row["temperature"]): row["value"] for row in own.to_dicts()}
    for row in found.to_dicts():
        first, second = (value[row[side], row["temperature"]] for side in "ab")
        assert row["value_a"] == pytest.approx(first)
        assert row["value_b"] == pytest.approx(second)
        assert row["difference"] == pytest.approx(second - first)
        assert row["low"] < row["difference"] < row["high"]
        assert row["p"] <= row["p_fdr"] <= row["p_holm"]
        assert (row["n_items"], row["n_judgments_a"], row["missing"]) == (30, 120, "category")
    standing = {
        (row["temperature"], row["a"], row["b"]): row["standing"] for row in found.to_dicts()
    }
    assert standing[1.0, "coin", "rock"] == "b higher"
    assert standing[1.0, "rock", "stone"] == "undecided"


def test_pairs_of_temperatures_of_one_judge(three):
    found = compare_judgments(three.lazy(), by=["temperature"], coefficients=["flip_rate"])
    assert found.select("judge", "a", "b").rows() == [("coin", "0.5", "1"), ("rock", "0.5", "1")]
    assert found["difference"].min() > 0  # warmer flips more


def test_two_files_are_compared_where_their_groups_are_equal(three):
    rock = three.filter(judge="rock")
    later = three.filter(pl.col("judge") != "stone").with_columns(judge=pl.lit("rock")).filter(
        pl.col("temperature") == 1.0
    ).unique(["item_id", "replication"], keep="first", maintain_order=True)  # fmt: skip
    found = compare_judgments(rock.lazy(), later.lazy(), names=("may", "june"))
    assert found.select("judge", "temperature", "a", "b").unique().rows() == [
        ("rock", 1.0, "may", "june")
    ]
    assert found["coefficient"].to_list() == ["krippendorff_alpha", "percent_agreement"]


@pytest.mark.parametrize("column", ["judge", "criterion"])
def test_several_judges_are_not_one_beside_a_file_that_names_none(column):
    """Two judges that each agree with themselves were one that agrees more than the other side."""
    both = pl.concat([judged(0.5, 2), judged(0.5, 3)])
    both = both.with_columns(
        pl.Series(column, ["y"] * (both.height // 2) + ["z"] * (both.height // 2))
    )
    alone = judged(0.5, 1)
    for sides in ((alone, both), (both, alone)):
        with pytest.raises(
            SweepError, match=f"{column} has several values in .*, got y, z, and no"
        ):
            compare_judgments(*(side.lazy() for side in sides))
    one = both.filter(pl.col(column) == "y")
    assert compare_judgments(alone.lazy(), one.lazy()).height == 2


def test_a_column_that_differs_between_files_is_what_is_compared():
    a, b = judged(0.5, 1, judge="x"), judged(0.5, 2, judge="y")
    found = compare_judgments(a.lazy(), b.lazy())
    assert "judge" not in found.columns
    assert found.height == 2
    mixed = pl.concat([b, judged(0.5, 3, judge="z")])
    with pytest.raises(SweepError, match="judge differs between the two and has several values"):
        compare_judgments(a.lazy(), mixed.lazy())
    with pytest.raises(SweepError, match="no group of judge is in both"):
        compare_judgments(a.lazy(), b.lazy(), by=["judge"])


def test_only_common_questions_count():
    a, b = judged(0.5, 1), judged(0.5, 2).filter(pl.col("item_id") >= "q10")
    extra = b.with_columns(item_id="z" + pl.col("item_id"))
    found = compare_judgments(a.lazy(), pl.concat([b, extra]).lazy()).row(0, named=True)
    assert (found["n_items"], found["n_items_a"], found["n_items_b"]) == (20, 30, 40)
    alone = compare_judgments(a.filter(pl.col("item_id") >= "q10").lazy(), b.lazy())
    assert found["difference"] == pytest.approx(alone["difference"][0])


def test_frames_give_what_arrays_give():
    a, b = judged(0.5, 1), judged(0.6, 2)
    counts = [
        frame.pivot("verdict", index="item_id", values="replication", aggregate_function="len")
        .sort("item_id")
        .select("A", "B", "C")
        .fill_null(0)
        .to_numpy()
        for frame in (a, b)
    ]
    expected = paired_difference(*counts, count_statistic("gwet_ac1", n_values=3), margin=0.1)
    found = compare_judgments(a.lazy(), b.lazy(), coefficients=["gwet_ac1"], tolerance=0.1)
    row = found.row(0, named=True)
    for column, value in {
        "value_a": expected.first, "value_b": expected.second, "difference": expected.value,
        "low": expected.low, "high": expected.high, "p": expected.p,
        "p_equivalence": expected.p_equivalence, "tolerance": 0.1,
    }.items():  # fmt: skip
        assert row[column] == pytest.approx(value)


def test_a_tolerance_is_judged_by_the_interval():
    a = judged(0.7, 1, n=150)
    close = judged(0.7, 2, n=150)
    far = a.with_columns(
        verdict=pl.when(pl.col("replication") < 2).then("verdict").otherwise(pl.lit("C"))
    )

    def standing(other, tolerance):
        found = compare_judgments(
            a.lazy(), other.lazy(), coefficients=["percent_agreement"], tolerance=tolerance
        )
        return found["standing"].item()

    assert standing(close, 0.2) == "equivalent"
    assert standing(close, 0.001) == "undecided"
    assert standing(far, 0.001) == "a higher"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("alphas", "tolerance", "name", "verdicts"),
    [
        ((0.62, 0.66, 0.72, 0.76, 0.8), 0.13, "equivalence", {"equivalent"}),
        ((0.5, 0.58, 0.66, 0.74, 0.82), 0.02, "beyond", {"a higher", "b higher"}),
    ],
)
def test_verdicts_by_a_tolerance_are_corrected_for_all_pairs(alphas, tolerance, name, verdicts):
    judges = [judged(alpha, seed, n=60, judge=f"j{seed}") for seed, alpha in enumerate(alphas, 3)]
    found = compare_judgments(
        pl.concat(judges).lazy(), by=["judge"], coefficients=["percent_agreement"],
        tolerance=tolerance,
    )  # fmt: skip
    alone, together = found[f"p_{name}"].to_list(), found[f"p_{name}_holm"].to_list()
    assert len(alone) == 10
    assert together == list(holm(alone))
    said = found["standing"].is_in(list(verdicts)).to_list()
    assert said == [p < 0.05 for p in together]
    # Of one pair alone some would be said that are not of ten.
    assert sum(p < 0.05 for p in alone) > sum(said) > 0


def test_scores_are_compared_at_their_own_level():
    rng = np.random.default_rng(3)
    tables = []
    for judge, noise in (("calm", 0.5), ("wild", 3.0)):
        base = np.repeat(np.arange(20) % 5 * 2.0, 3)
        tables.append(
            pl.DataFrame({"item_id": np.repeat(np.arange(20), 3).astype(str), "judge": judge,
                          "replication": np.tile([0, 1, 2], 20),
                          "score": np.round(base + rng.normal(0, noise, 60), 1)})
        )  # fmt: skip
    frame = pl.concat(tables)
    row = compare_judgments(frame.lazy(), by=["judge"]).row(0, named=True)
    assert (row["coefficient"], row["measurement"]) == ("krippendorff_alpha", "interval")
    own = reduce_judgments(frame.lazy(), coefficients=["krippendorff_alpha"])
    assert [row["value_a"], row["value_b"]] == pytest.approx(own["value"].to_list())
    assert row["standing"] == "a higher"


def test_missing_verdicts_are_shown_both_ways():
    a = judged(0.5, 1, judge="x")
    b = judged(0.5, 2, judge="y").with_columns(
        verdict=pl.when(pl.col("replication") > 0).then("verdict")
    )
    both = pl.concat([a, b]).lazy()
    found = compare_judgments(both, by=["judge"], coefficients=["krippendorff_alpha"])
    assert found["missing"].to_list() == ["category", "drop"]
    valid = compare_judgments(both, by=["judge"], coefficients=["valid_rate"], missing=["drop"])
    assert valid.select("value_a", "value_b", "difference").row(0) == (1.0, 0.75, -0.25)
    # One reply of four is missing in each question of one side: of 2^30 exchanges two are as far.
    assert (valid["p"].item(), valid["standing"].item()) == (pytest.approx(2**-29), "a higher")


def test_alpha_of_scores_has_no_row_for_replies_without_one():
    frame = pl.concat(
        [
            judged(0.5, seed, judge=judge).with_columns(
                score=pl.when(pl.col("replication") != seed).then(
                    pl.col("verdict").rank("dense").cast(pl.Float64)
                ),
                verdict=pl.lit(None, pl.String),
            )
            for seed, judge in ((1, "x"), (2, "y"))
        ]
    )
    found = compare_judgments(frame.lazy(), by=["judge"])
    rows = found.select("coefficient", "measurement", "missing").rows()
    assert rows == [
        ("percent_agreement", "nominal", "category"),
        ("krippendorff_alpha", "interval", "drop"),
        ("percent_agreement", "nominal", "drop"),
    ]
    own = reduce_judgments(frame.lazy(), coefficients=["krippendorff_alpha"], missing=["drop"])
    alpha = found.filter(coefficient="krippendorff_alpha")
    assert alpha.select("value_a", "value_b").row(0) == pytest.approx(own["value"].to_list())
    asked = compare_judgments(frame.lazy(), by=["judge"], missing=["category"])
    assert asked.select("missing", "undefined").row(0) == ("category", "category_needs_nominal")
    assert asked["value_a"][0] is None
    valid = compare_judgments(frame.lazy(), by=["judge"], coefficients=["valid_rate"])
    assert valid.height == 1


@pytest.mark.slow
def test_corrections_are_over_all_tests_of_the_table(three):
    found = compare_judgments(three.lazy(), by=["judge"], coefficients=["flip_rate", "gwet_ac1"])
    assert found.height == 8
    assert found["p_holm"].to_list() == list(holm(found["p"].to_list()))
    alone = compare_judgments(three.lazy(), by=["judge"], coefficients=["flip_rate"])
    assert found.filter(coefficient="flip_rate")["p"].to_list() == alone["p"].to_list()


@pytest.mark.slow
def test_what_is_undecided_says_why(three):
    found = compare_judgments(three.lazy(), by=["judge"], coefficients=["krippendorff_alpha"])
    rows = {(row["temperature"], row["a"], row["b"]): row for row in found.to_dicts()}
    near, far = rows[1.0, "rock", "stone"], rows[1.0, "coin", "rock"]
    assert (near["standing"], near["reason"]) == ("undecided", "interval_covers_0")
    assert near["low"] < 0 < near["high"]
    assert (far["standing"], far["reason"], far["few_informative"]) == ("b higher", None, False)
    assert far["n_differing"] <= far["n_items"]
    few = compare_judgments(three.filter(pl.col("item_id") < "q09").lazy(), by=["judge"])
    assert few["few_informative"].all()
    assert "few_informative_questions" in few["reason"].to_list()
    assert all("; few informative questions" in text for text in few["estimator"])
    same = three.with_columns(verdict=pl.when(pl.col("judge") != "rock").then("verdict")
                              .otherwise(pl.lit("A")))  # fmt: skip
    none = compare_judgments(same.lazy(), by=["judge"], coefficients=["krippendorff_alpha"])
    undefined = none.filter(b="rock")
    assert undefined["undefined"].to_list() == ["undefined_second"] * 2
    assert undefined.select("standing", "reason").unique().rows() == [("undecided", "undefined")]


@pytest.mark.slow
def test_what_one_test_alone_would_tell_is_undecided_among_many():
    judges = [judged(alpha, seed, judge=f"j{seed}") for seed, alpha in enumerate((0.5,) * 5, 3)]
    judges.append(judged(0.72, 30, judge="k"))
    found = compare_judgments(pl.concat(judges).lazy(), by=["judge"])
    left = found.filter(reason="not_after_correction")
    assert left.height > 0
    assert (left["p"] < 0.05).all()
    assert (left["p_holm"] >= 0.05).all()
    excluded = found.filter((pl.col("low") > 0) | (pl.col("high") < 0))
    assert excluded.filter(standing="undecided")["reason"].unique().to_list() == [
        "not_after_correction"
    ]


@pytest.mark.parametrize("tolerance", [None, 0.05])
def test_two_judges_of_one_law_are_not_told_apart_by_few_questions(tolerance):
    """Of one law at 97/3 the jackknife gave -.6 with p .001, and no caution."""
    passes = {"x": {0: 0, 1: 1, 2: 0}, "y": {3: 4, 4: 4, 5: 3}}
    rows = [
        {"item_id": f"q{q:02}", "judge": judge, "replication": r,
         "verdict": "pass" if r < counts.get(q, 5) else "fail"}
        for judge, counts in passes.items()
        for q in range(55)
        for r in range(5)
    ]  # fmt: skip
    found = compare_judgments(
        pl.LazyFrame(rows), by=["judge"], coefficients=["krippendorff_alpha"], tolerance=tolerance
    ).row(0, named=True)
    assert found["difference"] < -0.6
    assert (found["standing"], found["reason"]) == ("undecided", "few_informative_questions")
    assert found["few_informative"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "Try: --by judge"),
        ({"by": ["juge"]}, "no column 'juge'"),
        ({"by": ["judge"], "missing": ["ignore"]}, "unknown missing policy 'ignore'"),
        (
            {"by": ["judge"], "coefficients": ["kappa"]},
            "cannot compare 'kappa': compared are krippendorff_alpha, percent_agreement, ",
        ),
        (
            {"by": ["judge"], "coefficients": ["accuracy"]},
            "Try: judgerel systems compares accuracy",
        ),
        ({"by": ["judge"], "tolerance": 0.0}, "tolerance must be above 0"),
    ],
)
def test_mistakes_are_refused(three, options, words):
    with pytest.raises(SweepError) as error:
        compare_judgments(three.lazy(), **options)
    assert words in str(error.value)


def test_one_value_is_nothing_to_compare(three):
    with pytest.raises(SweepError, match="judge has one value wherever temperature is equal"):
        compare_judgments(three.filter(judge="rock").lazy(), by=["judge"])


def test_questions_asked_once_are_common_all_the_same():
    rows = pl.LazyFrame({
        "item_id": ["q", "r", "s"] * 3, "judge": ["x"] * 3 + ["y"] * 6,
        "replication": [0] * 6 + [1] * 3, "verdict": list("ABAABAABB"),
    })  # fmt: skip
    found = compare_judgments(rows, by=["judge"], coefficients=["percent_agreement"])
    assert found.select("undefined", "n_items").row(0) == ("single_replication", 3)
    apart = rows.with_columns(item_id=pl.col("judge") + pl.col("item_id"))
    with pytest.raises(SweepError, match=r"no item_id is in both: a has 'xq', .*b has 'yq'"):
        compare_judgments(apart, by=["judge"], coefficients=["percent_agreement"])


def sides_of(ids_a, ids_b):
    """Two frames of judgments, each item judged three times."""
    return [
        pl.LazyFrame({"item_id": [one for one in ids for _ in range(3)],
                      "replication": [0, 1, 2] * len(ids), "verdict": list("AAB") * len(ids)})
        for ids in (ids_a, ids_b)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("ids_a", "ids_b", "hint"),
    [
        (["1", "2"], ["1.0", "2.0"], "write item_id alike in both: '1', or '1.0'"),
        (["Q1"], ["q1 "], "write item_id alike in both: 'Q1', or 'q1 '"),
        (["x"], ["y"], "compare judgments of the same questions"),
    ],
)
def test_sides_without_a_common_item_are_refused_with_both_names(ids_a, ids_b, hint):
    """Before, every row was "undecided" and the command succeeded."""
    with pytest.raises(SweepError) as refused:
        compare_judgments(*sides_of(ids_a, ids_b))
    assert f"a has {ids_a[0]!r}" in str(refused.value)
    assert f"b has {ids_b[0]!r}" in str(refused.value)
    assert f"Try: {hint}" in str(refused.value)


def test_questions_of_one_side_alone_are_counted():
    found = compare_judgments(*sides_of(["q", "r", "s", "t"], ["q", "r", "u"]))
    counts = found.select("n_items", "n_left_out_a", "n_left_out_b").unique()
    assert counts.rows() == [(2, 2, 1)]
    assert "Questions left out, as the other side was not asked them: 2 of a, 1 of b." in (
        comparison_text(found).replace("\n", " ")
    )
    every = compare_judgments(*sides_of(["q", "r"], ["q", "r"]))
    assert "Questions left out" not in comparison_text(every)


def test_a_model_alone_is_compared_with_itself_and_not_with_the_judge_it_also_is():
    alone = judged(0.3, 1, judge="rock", role="responder", stage="choose")
    other = judged(0.9, 2, judge="rock", role="participant", stage="judge")
    both = pl.concat([alone, other])
    for first, second in ((both, alone), (alone, both)):
        found = compare_judgments(
            first.lazy(), second.lazy(), coefficients=["krippendorff_alpha"], names=("a", "b")
        )
        assert found["role"].to_list() == ["responder"]
        assert found["n_judgments_a"].to_list() == found["n_judgments_b"].to_list() == [120]
        assert found["difference"].to_list() == [0.0]


def test_a_chance_agreement_is_that_of_reduce_with_several_outcomes(three):
    lost = pl.when(pl.col("replication") == 0).then(pl.lit("refused"))
    lost = (
        lost.when(pl.col("replication") == 1).then(pl.lit("unparsed")).otherwise(pl.lit("scored"))
    )
    rows = three.filter(temperature=0.5)
    rows = rows.with_columns(outcome=pl.when(judge="coin").then(lost).otherwise(pl.lit("scored")))
    rows = rows.with_columns(verdict=pl.when(outcome="scored").then("verdict"))
    asked = {"coefficients": ["gwet_ac1"], "missing": ["category"]}
    found = compare_judgments(rows.lazy(), by=["judge"], **asked).row(0, named=True)
    own = dict(reduce_judgments(rows.lazy(), **asked).select("judge", "value").rows())
    assert found["value_a"] == pytest.approx(own["coin"], abs=1e-12)
    assert found["value_b"] == pytest.approx(own["rock"], abs=1e-12)


def test_a_score_and_the_verdict_written_beside_it_are_one_category():
    scores = {
        "item_id": [f"q{q}" for q in range(12) for _ in range(3)],
        "replication": [0, 1, 2] * 12,
        "score": [1.0 + (q + (r == 2)) % 3 for q in range(12) for r in range(3)],
    }
    alone = pl.DataFrame(scores)
    named = pl.DataFrame({**scores, "score": [1.0 + q % 3 for q in range(12) for _ in range(3)]})
    named = named.with_columns(verdict=pl.col("score").cast(int).cast(str))
    names = ["gwet_ac1", "brennan_prediger"]
    found = compare_judgments(alone.lazy(), named.lazy(), coefficients=names)
    own = [reduce_judgments(one.lazy(), coefficients=names)["value"] for one in (alone, named)]
    for column, of_reduce in zip(("value_a", "value_b"), own, strict=True):
        assert found[column].to_list() == pytest.approx(of_reduce.to_list())


@pytest.mark.alike(2)
@pytest.mark.parametrize(
    ("name", "most"),
    [
        ("percent_agreement", 1),
        ("flip_rate", 1),
        ("swap_consistency", 1),
        ("krippendorff_alpha", 2),
    ],
)
@pytest.mark.filterwarnings("ignore:compared on two scales")
def test_no_interval_of_a_difference_reaches_beyond_what_can_be(name, most):
    asked = [(f"q{q}", order, r) for q in range(12) for order in (0, 1) for r in range(3)]
    frame = pl.DataFrame(asked, schema=["item_id", "option_order", "replication"], orient="row")
    steady = [str(int(one[0][1:]) % 2) for one in asked]
    # Each verdict another than the last: of three, none or one pair agrees.
    restless = ["abc"[(r + order) % 3] if order else "abc"[r] for _, order, r in asked]
    sides = [frame.with_columns(verdict=pl.Series(one)) for one in (steady, restless)]
    for first, second in (sides, sides[::-1]):
        found = compare_judgments(first.lazy(), second.lazy(), coefficients=[name]).row(
            0, named=True
        )
        assert -most <= found["low"] <= found["difference"] <= found["high"] <= most


@pytest.mark.alike(2)
@pytest.mark.parametrize("orders", [1, 2])
@pytest.mark.parametrize("scale", ["points", "likert5"])
def test_variance_components_of_scores_are_those_of_reduce(scale, orders):
    rng = np.random.default_rng(5)
    asked = [(judge, f"q{q}", o, r, float(np.clip(round(1 + q % 5 + rng.normal(0, 0.7)), 1, 5)))
             for judge in ("x", "y") for q in range(15) for o in range(orders)
             for r in range(3)]  # fmt: skip
    names = ["judge", "item_id", "option_order", "replication", "score"]
    frame = pl.DataFrame(asked, schema=names, orient="row").with_columns(scale=pl.lit(scale))
    frame = frame if orders > 1 else frame.drop("option_order")
    found = compare_judgments(frame.lazy(), by=["judge"], coefficients=["icc1"]).row(0, named=True)
    own = reduce_judgments(frame.lazy(), coefficients=["icc1"])
    own = own.filter(pl.col("measurement") == "interval")
    own = own.filter(pl.col("conditions") == found["conditions"])
    assert found["measurement"] == "interval"
    assert [found["value_a"], found["value_b"]] == pytest.approx(own["value"].to_list())


@pytest.mark.parametrize("name", ["likert5", "stars"])
def test_a_scale_that_ships_or_is_declared_has_all_its_levels_as_categories(name):
    scales = {"stars": Scale(name="stars", level="ordinal", lowest=1, highest=5)}
    asked = [(judge, f"q{q}", r, float(2 + (q + r * (q % 3 == 0)) % 2))
             for judge in ("x", "y") for q in range(12) for r in range(3)]  # fmt: skip
    names = ["judge", "item_id", "replication", "score"]
    frame = pl.DataFrame(asked, schema=names, orient="row").with_columns(scale=pl.lit(name)).lazy()
    wanted = ["gwet_ac1", "brennan_prediger", "krippendorff_alpha"]
    found = compare_judgments(frame, by=["judge"], coefficients=wanted, scales=scales)
    own = reduce_judgments(frame, coefficients=wanted, scales=scales).filter(
        pl.col("judge") == "x", pl.col("coefficient").is_in(found["coefficient"].implode())
    )
    level = {one: at for one, at in found.select("coefficient", "measurement").rows()}
    assert level["krippendorff_alpha"] == "ordinal"
    assert set(own.filter(measurement="nominal")["n_categories"]) == {5}
    values = {(row["coefficient"], row["measurement"]): row["value"] for row in own.to_dicts()}
    for row in found.to_dicts():
        assert row["value_a"] == pytest.approx(values[row["coefficient"], row["measurement"]])


def two_scales(values_a, values_b, name="score", **columns):
    """Two judges, each with values of its own, at the same questions."""
    rng = np.random.default_rng(6)
    sides = [
        pl.DataFrame({
            "judge": judge, "item_id": np.repeat([f"q{i:02}" for i in range(12)], 3),
            name: rng.choice(values, 36), **columns,
        })
        for judge, values in (("one", values_a), ("two", values_b))
    ]  # fmt: skip
    return pl.concat(sides).lazy()


def lines_of_scales(rows, **asked):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", ReadingWarning)
        compare_judgments(rows, by=["judge"], **asked)
    return [str(one.message) for one in said if "compared on two scales?" in str(one.message)]


def test_sides_on_two_scales_are_named():
    wide = two_scales([1, 2, 3, 4, 5.0], [20, 40, 60, 80, 100.0])
    (line,) = lines_of_scales(wide)
    assert "one has scores from 1 to 5 and two has scores from 20 to 100" in line
    assert lines_of_scales(two_scales([1, 2, 3, 4, 5.0], [1, 20, 40, 80, 100.0]))
    (line,) = lines_of_scales(two_scales(["pass", "fail"], ["yes", "no"], "verdict"))
    assert "one has verdicts 'fail', 'pass' and two has verdicts 'no', 'yes'" in line


def test_sides_on_one_scale_are_not():
    assert not lines_of_scales(two_scales([1, 2, 3.0], [3, 4, 5.0]))
    assert not lines_of_scales(two_scales([1, 2.0], [4, 5.0]))  # a weak and a strong responder
    assert not lines_of_scales(two_scales([1, 2, 3.0], [8, 9, 10.0]))
    assert not lines_of_scales(two_scales(["pass", "fail"], ["pass", "?"], "verdict"))
    assert not lines_of_scales(two_scales([1, 2.0], [4, 5.0], scale="points5"))
    words = two_scales(["pass", "fail"], ["yes", "no"], "verdict")
    assert not lines_of_scales(words, coefficients=["percent_agreement"])


def test_sides_that_are_runs_are_called_as_they_were_given(tmp_path, monkeypatch):
    for name in ("before", "after"):
        shutil.copytree(judgerel_ray.example("run"), tmp_path / name)
    monkeypatch.chdir(tmp_path)
    found = judgerel_ray.compare("before", b="after")
    assert set(found.select("a", "b").rows()) == {("before", "after")}
