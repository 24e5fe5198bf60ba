from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from judgerel_ray.core import Outcome, SweepError
from judgerel_ray.core.codes import no_interval_words
from judgerel_ray.counting.intervals import interval_choice
from judgerel_ray.measuring.reliability import reduce_judgments
from judgerel_ray.measuring.tables import Coefficients
from judgerel_ray.stats import (
    DEFAULT_COEFFICIENTS,
    count_statistic,
    counts_from_ratings,
    jackknife_interval,
    krippendorff_alpha,
    noise_floor,
    posterior_interval,
)

ALPHA = ["krippendorff_alpha"]


def judgments(seed: int = 0, *, items: int = 6, replications: int = 4) -> pl.DataFrame:
    """Two judges at two temperatures, some replies without a verdict."""
    rng = np.random.default_rng(seed)
    rows = [
        {
            "judge": judge,
            "benchmark": "bbh",
            "scale": None,
            "temperature": temperature,
            "item_id": f"q{item}",
            "replication": replication,
            "verdict": verdict if verdict != "-" else None,
            "outcome": "scored" if verdict != "-" else "unparsed",
        }
        for judge in ("a", "b")
        for temperature in (0.5, 1.0)
        for item in range(items)
        for replication in range(replications)
        for verdict in [str(rng.choice(list("AABC-"), p=[0.3, 0.2, 0.2, 0.1, 0.2]))]
    ]
    return pl.DataFrame(rows, schema_overrides={"scale": pl.String})


def one(frame: pl.DataFrame, **options) -> dict:
    """The only row of the result."""
    found = reduce_judgments(frame.lazy(), **options)
    assert found.height == 1
    return found.row(0, named=True)


def simple(verdicts: list[list[str | None]], **columns) -> pl.DataFrame:
    """One row a reply: a list of verdicts for every question."""
    rows = [
        {"item_id": f"q{item}", "replication": replication, "verdict": verdict}
        for item, replies in enumerate(verdicts)
        for replication, verdict in enumerate(replies)
    ]
    return pl.DataFrame(rows, schema_overrides={"verdict": pl.String}).with_columns(
        **{name: pl.lit(value) for name, value in columns.items()}
    )


def test_columns_are_those_of_the_contract():
    found = reduce_judgments(judgments().lazy())
    assert found.columns == ["judge", "benchmark", "temperature", *Coefficients.columns]
    assert list(Coefficients.columns) == [
        "coefficient", "value", "low", "high", "noise_floor", "noise_floor_sd", "p_noise", "noise",
        "measurement", "missing", "n_categories", "unit", "conditions", "n_items", "n_replications",
        "n_judgments", "n_missing", "statistic", "interval_method", "no_interval", "n_compared",
        "n_resamples", "null_method", "n_permutations", "flags", "flag_numbers", "estimator",
        "undefined", "lead",
    ]  # fmt: skip


def test_default_groups_coefficients_and_policies():
    found = reduce_judgments(judgments().lazy())
    assert found.select("judge", "temperature").unique().height == 4
    per_group = found.filter(judge="a", temperature=0.5)
    agreement = [name for name in DEFAULT_COEFFICIENTS if name != "valid_rate"]
    expected = [(name, policy) for policy in ("category", "drop") for name in agreement]
    assert per_group.select("coefficient", "missing").rows() == [
        *expected,
        ("valid_rate", "category"),
    ]


@pytest.mark.alike(3)
@pytest.mark.parametrize("seed", range(3))
def test_neither_the_order_nor_the_partitioning_of_rows_matters(seed, tmp_path):
    frame = judgments(seed)
    expected = reduce_judgments(frame.lazy())
    shuffled = frame.sample(fraction=1, shuffle=True, seed=seed)
    assert reduce_judgments(shuffled.lazy()).equals(expected)
    for part in range(5):
        shuffled[part * 20 : (part + 1) * 20].write_parquet(tmp_path / f"part-{part}.parquet")
    parts = pl.scan_parquet(tmp_path / "*.parquet")
    assert reduce_judgments(parts).equals(expected)


@pytest.mark.parametrize("policy", ["category", "drop"])
def test_frames_give_what_arrays_give(policy):
    frame = judgments(3).filter(judge="a", temperature=1.0)
    fill = "unparsed" if policy == "category" else None
    wide = frame.with_columns(pl.col("verdict").fill_null(fill) if fill else pl.col("verdict"))
    table = wide.pivot(on="replication", index="item_id", values="verdict").drop("item_id")
    counts, values = counts_from_ratings(table.rows())
    statistic = count_statistic("krippendorff_alpha", n_values=len(values))
    row = one(frame, coefficients=ALPHA, missing=[policy])
    floor = noise_floor(counts, statistic)
    assert row["value"] == pytest.approx(krippendorff_alpha(counts).value, abs=1e-12)
    interval = jackknife_interval(counts, statistic)
    assert (row["low"], row["high"]) == pytest.approx((interval.low, interval.high), abs=1e-12)
    assert row["noise_floor"] == pytest.approx(floor.mean, abs=1e-12)
    assert (row["p_noise"], row["noise"]) == (floor.p, floor.p > 0.05)


def test_two_verdicts_of_few_informative_questions_have_the_posterior_interval():
    counts = np.array([[4, 0]] * 14 + [[1, 3], [0, 4]] * 3)
    frame = simple([list("A" * a + "B" * b) for a, b in counts])
    statistic = count_statistic("krippendorff_alpha", n_values=2)
    posterior, left_out = (
        posterior_interval(counts, statistic),
        jackknife_interval(counts, statistic),
    )
    asked = {"coefficients": ALPHA, "missing": ["category"]}
    for row, found in (
        (one(frame, **asked), posterior),
        (one(frame, **asked, intervals=interval_choice("posterior")), posterior),
        (one(frame, **asked, intervals=interval_choice("jackknife")), left_out),
    ):
        assert (row["low"], row["high"]) == pytest.approx((found.low, found.high), abs=1e-12)
        assert f"{found.method}; few informative questions" in row["estimator"]
    # A third verdict: the posterior has to be asked for.
    more = simple([list("A" * a + "B" * b) for a, b in counts] + [list("CCCC")])
    assert "jackknife" in one(more, **asked)["estimator"]
    chosen = one(more, **asked, intervals=interval_choice("posterior"))
    assert "Dirichlet process posterior over 21 questions" in chosen["estimator"]
    # Agreement has no posterior, and says which interval it has.
    agreement = {"coefficients": ["percent_agreement"], "missing": ["category"]}
    row = one(frame, **agreement, intervals=interval_choice("posterior"))
    assert "jackknife" in row["estimator"]


def test_one_row_where_nothing_is_missing():
    row = one(simple([["A", "A"], ["B", "A"]]), coefficients=ALPHA, missing=["drop"])
    assert (row["missing"], row["n_missing"], row["n_judgments"]) == ("category", 0, 4)


def test_policies_differ_in_what_is_missing():
    frame = simple([["A", "A", None], ["B", None, None], [None, None, None]])
    found = reduce_judgments(frame.lazy(), coefficients=["percent_agreement"])
    # category: (1/3 + 1/3 + 1) / 3; drop: the one question with a pair.
    assert found["value"].to_list() == pytest.approx([5 / 9, 1.0])
    assert found["n_missing"].to_list() == [0, 6]
    assert found["n_items"].to_list() == [3, 3]


def test_every_outcome_is_a_category_of_its_own_but_failed():
    frame = simple([["A", None, None, None], ["A", "A", None, None]]).with_columns(
        outcome=pl.Series(
            ["scored", "unparsed", "refused", "failed", "scored", "scored", "unparsed", "failed"]
        )
    )
    row = one(frame, coefficients=["percent_agreement"], missing=["category"])
    assert row["value"] == pytest.approx((0 + 1 / 3) / 2)
    assert row["n_missing"] == 2
    valid = one(frame, coefficients=["valid_rate"])
    assert valid["value"] == 0.5
    assert valid["n_missing"] == 2


def test_a_verdict_may_be_called_like_an_outcome():
    frame = simple([["unparsed", None], ["A", "A"]])
    row = one(frame, coefficients=["percent_agreement"], missing=["category"])
    assert row["value"] == 0.5


def test_the_unit_holds_every_facet_that_varies_and_is_not_in_by():
    frame = pl.concat(
        simple([["A", "B"], ["B", "B"]], judge="a", template=template, option_order=0, stage="s")
        for template in ("x", "y")
    )
    found = reduce_judgments(frame.lazy(), coefficients=["percent_agreement"])
    assert found.select("conditions", "unit", "n_items", "n_replications").rows() == [
        ("reproducibility", "item_id", 2, 4),
        ("repeatability", "item_id x template", 2, 2),
    ]
    split = reduce_judgments(frame.lazy(), by=["template"], coefficients=["percent_agreement"])
    assert split["unit"].to_list() == ["item_id", "item_id"]
    assert split.columns[0] == "template"


def test_units_of_one_question_are_one_cluster():
    frame = pl.concat(
        simple([["A", "B"], ["B", "B"], ["A", "A"]], template=template) for template in ("x", "y")
    )
    found = reduce_judgments(frame.lazy(), coefficients=["percent_agreement"])
    assert ["over 3 questions" in text for text in found["estimator"]] == [True, True]


def test_equal_item_ids_of_two_benchmarks_are_two_questions():
    frame = pl.concat(simple([["A", "B"], ["B", "B"]], benchmark=name) for name in ("x", "y"))
    row = one(frame, by=[], coefficients=["percent_agreement"])
    assert (row["unit"], row["n_items"]) == ("item_id x benchmark", 4)
    assert "over 4 questions" in row["estimator"]


def test_a_question_asked_once_says_nothing():
    found = reduce_judgments(simple([["A"], ["B"], [None]], temperature=0.0).lazy())
    assert set(found.filter(pl.col("coefficient") != "valid_rate")["undefined"]) == {
        "single_replication"
    }
    valid = found.filter(coefficient="valid_rate").row(0, named=True)
    assert valid["value"] == pytest.approx(2 / 3)
    # Clopper-Pearson for 2 of 3.
    assert (valid["low"], valid["high"]) == pytest.approx((0.094299, 0.991596), abs=1e-6)


def test_responders_and_later_blocks_do_not_count():
    frame = simple([["A", "A", "B", "B"]]).with_columns(
        role=pl.Series(["judge", "judge", "judge", "responder"]), block=pl.Series([0, 0, 1, 0])
    )
    assert one(frame, coefficients=["percent_agreement"])["value"] == 1.0
    whole = one(frame, coefficients=["percent_agreement"], block="all")
    assert whole["value"] == pytest.approx(1 / 3)
    assert whole["n_judgments"] == 3


def test_categories_are_declared_or_those_of_the_whole_file():
    frame = pl.concat(
        [simple([["A", "B"], ["C", "C"]], judge="a"), simple([["A", None], ["B", "B"]], judge="b")]
    )
    found = reduce_judgments(frame.lazy(), coefficients=["brennan_prediger"])
    # One more under category, for both judges: a reply without a verdict occurs in the file.
    assert found.select("judge", "missing", "n_categories").rows() == [
        ("a", "category", 4),
        ("b", "category", 4),
        ("b", "drop", 3),
    ]
    declared = one(
        simple([["A", "B"], ["C", "C"]], benchmark="bbh"),
        coefficients=["brennan_prediger"],
        n_categories={"bbh": 5, "squad": 9},
    )
    assert declared["n_categories"] == 5
    assert declared["value"] == pytest.approx((0.5 - 0.2) / 0.8)


def with_outcomes(table: list[list[str]], **columns) -> pl.DataFrame:
    """Cells are verdicts, or outcomes without one."""
    names = [outcome.value for outcome in Outcome]
    frame = simple([[None if cell in names else cell for cell in row] for row in table], **columns)
    told = [cell if cell in names else "scored" for row in table for cell in row]
    return frame.with_columns(outcome=pl.Series(told))


def test_noise_over_verdicts_and_outcomes_agrees_by_chance():
    # Three options and four outcomes, all equally often: noise, whose K is 7 and AC1 about 0.
    values = ["A", "B", "C", "unparsed", "conflicting", "off_menu", "refused"]
    drawn = np.random.default_rng(0).choice(values, size=(400, 5))
    frame = with_outcomes(drawn.tolist(), benchmark="b")
    found = reduce_judgments(
        frame.lazy(),
        coefficients=["gwet_ac1", "brennan_prediger"],
        missing=["category"],
        n_categories={"b": 3},
    )
    assert found["n_categories"].to_list() == [7, 7]
    for row in found.iter_rows(named=True):
        assert row["low"] < 0 < row["high"]
        assert row["value"] == pytest.approx(0.0, abs=0.02)


def test_each_outcome_that_occurs_in_the_file_is_one_category_more():
    frame = pl.concat(
        [
            with_outcomes([["A", "B"], ["unparsed", "failed"]], judge="a"),
            with_outcomes([["A", "refused"], ["B", "refused"]], judge="b"),
        ]
    )
    found = reduce_judgments(frame.lazy(), coefficients=["gwet_ac1"])
    # A failed request is no reply; refusals of b could have been a's.
    assert found.select("judge", "missing", "n_categories").rows() == [
        ("a", "category", 4),
        ("a", "drop", 2),
        ("b", "category", 4),
        ("b", "drop", 2),
    ]


def scores(table: list[list[float | None]], **columns) -> pl.DataFrame:
    rows = simple([[None if s is None else str(s) for s in row] for row in table], **columns)
    return rows.with_columns(score=pl.col("verdict").cast(pl.Float64))


@pytest.mark.parametrize(
    ("table", "scale", "level"),
    [
        ([[1, 2], [5, 4]], "points", "interval"),
        ([[1, 2], [5, 4]], "likert-5", "ordinal"),
        ([[0, 1], [1, 1]], "binary", "nominal"),
    ],
)
def test_the_level_is_that_of_the_scale(table, scale, level):
    row = one(scores(table, scale=scale), coefficients=ALPHA)
    counts, values = counts_from_ratings(table)
    expected = krippendorff_alpha(counts, values=values, level=level).value
    assert (row["measurement"], row["scale"]) == (level, scale)
    assert row["value"] == pytest.approx(expected, abs=1e-12)


def test_levels_asked_for_are_all_given_to_alpha_alone():
    found = reduce_judgments(
        scores([[1, 2], [5, 4]]).lazy(),
        measurement=["interval", "nominal"],
        coefficients=["krippendorff_alpha", "flip_rate"],
    )
    assert found.select("coefficient", "measurement").rows() == [
        ("krippendorff_alpha", "nominal"),
        ("flip_rate", "nominal"),
        ("krippendorff_alpha", "interval"),
    ]


def test_a_reply_without_a_verdict_has_no_number():
    found = reduce_judgments(
        scores([[1, 2, None], [5, 4, 5]]).lazy(), measurement=["interval"], coefficients=ALPHA
    )
    assert found.select("missing", "undefined").rows() == [
        ("category", "category_needs_nominal"),
        ("drop", None),
    ]


def test_labels_have_no_numbers():
    frame = simple([["A", "B"], ["B", "B"]])
    row = one(frame, measurement=["ordinal"], coefficients=ALPHA)
    assert (row["value"], row["undefined"]) == (None, "no_scores")


def test_no_number_is_ever_nan():
    found = reduce_judgments(judgments(items=1, replications=2).lazy())
    floats = found.select(pl.col(pl.Float64))
    assert floats.select(pl.all().is_nan().any()).row(0) == (False,) * floats.width


def test_perfect_agreement_has_no_interval_and_says_what_it_bounds():
    row = one(simple([["A"] * 3] * 10 + [["B"] * 3] * 10), coefficients=["gwet_ac1"])
    # 1 - .05^(1/20) = 14 %.
    assert (row["value"], row["low"], row["high"], row["noise"]) == (1.0, None, None, False)
    said = (
        "all 20 questions are unanimous; with 95 % confidence this fails for fewer than 14 % of "
        "such questions"
    )
    assert said in row["estimator"]


@pytest.mark.parametrize(("n", "share"), [(20, "14 %"), (60, "4.9 %"), (3000, "0.1 %")])
def test_no_share_of_questions_is_bounded_by_nothing(n, share):
    assert f"fewer than {share} of such questions" in no_interval_words("no_spread", n=n)


def test_questions_that_split_alike_are_not_called_unanimous():
    row = one(simple([["A", "B"]] * 5), coefficients=["gwet_ac1"])
    assert row["low"] is None
    assert "all 5 questions come out alike; with" in row["estimator"]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"by": ["judgee"]}, "no column 'judgee' to group by"),
        ({"by": ["item_id"]}, "cannot group by 'item_id'"),
        ({"coefficients": ["kappa"]}, "unknown coefficient 'kappa'"),
        ({"coefficients": []}, "no coefficient given"),
        ({"missing": ["impute"]}, "unknown missing policy 'impute'"),
        ({"measurement": ["cardinal"]}, "unknown measurement 'cardinal'"),
        ({"block": 7}, "no row of a judge in block 7"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(options, told):
    frame = judgments().with_columns(block=pl.lit(0))
    with pytest.raises(SweepError) as refusal:
        reduce_judgments(frame.lazy(), **options)
    assert told in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_frame_without_verdicts_is_refused():
    with pytest.raises(SweepError, match="judgments need item_id, and verdict or score"):
        reduce_judgments(pl.LazyFrame({"item_id": ["q"]}))


def test_categories_are_those_of_a_groups_own_protocol():
    answers = [
        ("best_of", f"q{q}", n, "abcde"[(q + n // 3) % 5]) for q in range(5) for n in range(4)
    ]
    right = [
        ("correctness", f"q{q}", n, ("correct", "incorrect")[(q + n) % 3 == 0])
        for q in range(5)
        for n in range(4)
    ]
    names = ("protocol", "item_id", "replication", "verdict")
    asked = {"coefficients": ["gwet_ac1", "brennan_prediger"]}
    both = pl.DataFrame(answers + right, schema=names, orient="row")
    found = reduce_judgments(both.lazy(), **asked)
    for protocol, size in (("best_of", 5), ("correctness", 2)):
        alone = reduce_judgments(both.filter(protocol=protocol).lazy(), **asked)
        assert set(alone["n_categories"]) == {size}
        assert found.filter(protocol=protocol).equals(alone)
    assert set(reduce_judgments(both.lazy(), by=[], **asked)["n_categories"]) == {7}
    # A reply without a verdict to one is no category of the other.
    lost = pl.DataFrame([("correctness", "q0", 9, None)], schema=both.schema, orient="row")
    found = reduce_judgments(pl.concat([both, lost]).lazy(), **asked)
    assert set(found.filter(protocol="best_of")["n_categories"]) == {5}
    assert set(found.filter(protocol="correctness")["n_categories"]) == {2, 3}
