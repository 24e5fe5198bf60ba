"""Advice from frames: what targets take, what budgets buy, what the panel is worth."""

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from judgerel_ray.analyses.advice import panel_worth
from judgerel_ray.analyses.advice.advice import advise_judgments
from judgerel_ray.analyses.advice.facets import Populations
from judgerel_ray.analyses.advice.panel_worth import panel_table
from judgerel_ray.analyses.advice.plans import Budget, Costs, measured_costs
from judgerel_ray.analyses.advice.show import advice_text
from judgerel_ray.core import SweepError, progress
from judgerel_ray.stats.generalizability.dstudy import replications_for


def judged(shares, m, rng, **columns):
    """Verdicts of m replications of each question, from its shares."""
    n, n_values = shares.shape
    drawn = [rng.choice(n_values, m, p=p) for p in shares]
    return pl.DataFrame(
        {
            "item_id": np.repeat([f"q{i:03}" for i in range(n)], m),
            "replication": np.tile(np.arange(m), n),
            "verdict": ["ABCDE"[v] for v in np.concatenate(drawn)],
        }
    ).with_columns(**{name: pl.lit(value) for name, value in columns.items()})


@pytest.fixture(scope="module")
def plain():
    rng = np.random.default_rng(1)
    shares = rng.dirichlet([0.4, 0.3, 0.3], 80)
    return judged(shares, 5, rng, judge="j", prompt_tokens=400, completion_tokens=20)


def needs(advice, target, lever="replications"):
    return advice.needs.filter(target=target, lever=lever).row(0, named=True)


@pytest.mark.slow
def test_replications_for_a_mean_follow_spearman_and_brown(plain):
    advice = advise_judgments(plain.lazy())
    one, *_ = advice.designs.filter(n_judgments=1)["generalizability"]
    found = needs(advice, "generalizability")
    assert found["wanted"] == 0.9
    assert found["needed"] == pytest.approx(9 * (1 - one) / one)
    assert found["needed_whole"] == replications_for(one, 0.9) == int(np.ceil(found["needed"]))
    low, *_ = advice.designs.filter(n_judgments=1)["low"]
    assert found["needed_cautious"] >= found["needed_whole"]
    assert found["needed_cautious"] == pytest.approx(replications_for(low, 0.9), abs=1)
    assert found["now"] == pytest.approx(5 * one / (1 + 4 * one))
    assert found["judgments"] == 80 * found["needed_whole"]
    assert found["tokens"] == 80 * (400 + 20 * found["needed_whole"])
    assert found["gpu_seconds"] is None


@pytest.mark.slow
def test_gpu_seconds_are_told_where_they_were_measured(plain):
    found = needs(advise_judgments(plain.lazy(), costs={"j": 0.5}), "generalizability")
    assert found["gpu_seconds"] == pytest.approx(0.5 * found["judgments"])


@pytest.mark.slow
def test_majorities_are_promised_by_their_lower_limit_and_mean_shares_promise_more(plain):
    advice = advise_judgments(plain.lazy())
    designs = {row["n_judgments"]: row for row in advice.designs.to_dicts()}
    assert designs[1]["majority_stability"] == pytest.approx(designs[2]["majority_stability"])
    for k in (3, 5, 11, 21):
        assert designs[k]["majority_alpha"] < designs[k]["generalizability"]
        assert designs[k]["majority_low"] < designs[k]["majority_stability"]
        assert designs[k]["majority_stability"] < designs[k]["majority_high"]
    found = needs(advice, "majority_stability")
    assert found["now"] == pytest.approx(designs[5]["majority_stability"])
    # The estimate reaches it with 11 votes; promised is what the lower limit reaches.
    at = advise_judgments(
        plain.lazy(), target={"majority_stability": designs[11]["majority_stability"]}
    )
    unknown = needs(at, "majority_stability")
    assert unknown["needed"] is None
    assert unknown["unreachable"] in ("known_from_more", "not_known_from_more")
    assert (unknown["n_replications"], unknown["n_questions"]) == (5, 80)
    low = advise_judgments(
        plain.lazy(), target={"majority_stability": designs[3]["majority_low"] - 1e-6}
    )
    promised = needs(low, "majority_stability")
    assert promised["needed_whole"] == promised["needed_cautious"] == 3
    assert promised["judgments"] == 240


@pytest.mark.slow
def test_an_interval_takes_questions_more_than_replications(plain):
    advice = advise_judgments(plain.lazy(), target={"interval_width": 0.05})
    questions = needs(advice, "interval_width", "questions")
    again = needs(advice, "interval_width")
    assert questions["needed_whole"] > 80
    assert questions["judgments"] == 5 * questions["needed_whole"]
    assert again["unreachable"] == "too_few_questions"
    # The width the plan says of these data is near that of their own interval.
    from judgerel_ray.measuring.reliability import reduce_judgments

    alpha = reduce_judgments(plain.lazy(), coefficients=["krippendorff_alpha"]).row(0, named=True)
    assert questions["now"] == pytest.approx(alpha["high"] - alpha["low"], rel=0.15)


@pytest.mark.slow
def test_the_data_meet_a_target_only_with_their_whole_confidence_interval(plain):
    one = advise_judgments(plain.lazy()).designs.filter(n_judgments=5).row(0, named=True)
    middle = one["generalizability"]
    for wanted, standing in (
        (one["low"] - 0.01, "meets"),
        (middle - 0.001, "undecided"),
        (middle + 0.001, "undecided"),
        (one["high"] + 0.01, "fails"),
    ):
        advice = advise_judgments(plain.lazy(), target={"generalizability": wanted})
        assert needs(advice, "generalizability")["standing"] == standing


@pytest.mark.slow
def test_a_budget_is_split_by_what_prompts_and_replies_cost(plain):
    cheap = advise_judgments(plain.lazy(), budget=Budget(amount=4000)).splits
    dear = advise_judgments(plain.lazy(), budget=Budget(amount=400_000, unit="tokens")).splits
    assert (cheap["judgments"] <= 4000).all()
    assert (dear["tokens"] <= 400_000).all()
    [few], [many] = (table.filter("best")["n_replications"].to_list() for table in (cheap, dear))
    assert few in (2, 3, 4)
    assert many > few  # 400 tokens of a prompt are shared by replies of 20
    assert advise_judgments(plain.lazy()).splits["judgments"].max() <= 400
    with pytest.raises(SweepError, match="gpu_seconds needs what a judgment costs"):
        advise_judgments(plain.lazy(), budget=Budget(amount=10, unit="gpu_seconds"))


@pytest.fixture(scope="module")
def ordered():
    """Scores that depend on the order shown: variances 1, .2, .6 and .5."""
    rng = np.random.default_rng(4)
    q, o, r = np.meshgrid(np.arange(40), np.arange(4), np.arange(3), indexing="ij")
    score = (
        rng.normal(0, 1, 40)[q]
        + rng.normal(0, 0.2**0.5, 4)[o]
        + rng.normal(0, 0.6**0.5, (40, 4))[q, o]
        + rng.normal(0, 0.5**0.5, q.shape)
    )
    return pl.DataFrame(
        {
            "item_id": q.ravel().astype(str),
            "option_order": o.ravel(),
            "replication": r.ravel(),
            "score": score.ravel(),
        }
    )


def test_replications_in_one_order_do_not_reach_what_orders_reach(ordered):
    advice = advise_judgments(
        ordered.lazy(), target={"generalizability": 0.9, "dependability": 0.9}
    )
    same = needs(advice, "generalizability")
    apart = needs(advice, "generalizability", "apart")
    assert (same["needed"], same["unreachable"]) == (None, "error_stays")
    assert (same["error_of"], same["n_questions"]) == ("option_order", None)
    part = dict(advice.components.select("component", "estimate").rows())
    error = part["item_id x option_order"] + part["residual"]
    assert apart["needed"] == pytest.approx(9 * error / part["item_id"])
    absolute = needs(advice, "dependability", "apart")
    assert absolute["needed"] == pytest.approx(9 * (error + part["option_order"]) / part["item_id"])
    assert set(advice.designs.filter(design="apart")["facets"]) == {"option_order"}
    designs = advice.designs.filter(n_judgments=51)
    stays, goes = designs.sort("design", descending=True)["generalizability"].to_list()
    assert stays < 0.75 < 0.95 < goes


def test_prompts_asked_once_say_nothing_of_asking_them_again(ordered):
    once = ordered.filter(replication=0)
    advice = advise_judgments(once.lazy(), target={"generalizability": 0.9})
    assert advice.needs["lever"].to_list() == ["apart"]
    assert set(advice.designs["design"]) == {"apart"}
    labels = once.with_columns(verdict=pl.col("score").round().cast(pl.String)).drop("score")
    advice = advise_judgments(labels.lazy(), target={"majority_stability": 0.9})
    assert advice.needs["unreachable"].to_list() == ["single_replication"]


@pytest.mark.slow
def test_judges_left_out_of_the_groups_become_a_facet(plain):
    rng = np.random.default_rng(7)
    other = judged(
        rng.dirichlet([0.4, 0.3, 0.3], 80),
        5,
        rng,
        judge="k",
        prompt_tokens=400,
        completion_tokens=20,
    )
    both = pl.concat([plain, other])
    advice = advise_judgments(both.lazy(), by=[])
    assert "item_id x judge" in advice.components["component"].to_list()
    # Two judges that have nothing in common but the menu.
    shares = dict(advice.components.select("component", "share").rows())
    assert shares["item_id"] < 0.1 < shares["item_id x judge"]


@pytest.mark.slow
def test_what_cannot_be_planned_says_why():
    once = pl.LazyFrame({"item_id": ["q", "r"], "replication": [0, 0], "verdict": ["A", "B"]})
    advice = advise_judgments(once)
    assert set(advice.needs["unreachable"]) == {"single_replication"}
    assert advice.designs["undefined"].to_list() == ["single_replication"]
    assert advice.splits.is_empty()
    assert advice.panel.is_empty()
    same = pl.LazyFrame(
        {"item_id": ["q", "q", "r", "r"], "replication": [0, 1] * 2, "verdict": ["A"] * 4}
    )
    assert set(advise_judgments(same).needs["unreachable"]) == {"no_variance"}
    noise = pl.LazyFrame(
        {"item_id": ["q", "q", "r", "r"], "replication": [0, 1] * 2, "verdict": list("ABAB")}
    )
    found = needs(advise_judgments(noise), "generalizability")
    assert found["unreachable"] == "questions_alike"


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ({}, "no target given"),
        ({"generalisability": 0.9}, "Try: generalizability=0.9"),
        ({"generalizability": 1.0}, "between 0 and 1, got 1"),
        ({"interval_width": 2.5}, "between 0 and 2"),
        ({"dependability": float("nan")}, "between 0 and 1, got nan"),
    ],
)
def test_targets_that_cannot_be_are_refused(plain, target, words):
    with pytest.raises(SweepError) as error:
        advise_judgments(plain.lazy(), target=target)
    assert words in str(error.value)


def test_budgets_that_cannot_be_are_refused():
    with pytest.raises(SweepError, match="a budget is in judgments, tokens, gpu_seconds"):
        Budget(amount=1, unit="euros")
    with pytest.raises(SweepError, match=r"above 0 and at most 1e\+12, got -1"):
        Budget(amount=-1)


def test_costs_are_means_of_the_judges_rows():
    frame = pl.LazyFrame(
        {
            "judge": ["x", "x", "y"],
            "role": ["judge", "responder", None],
            "prompt_tokens": [10, 999, 30],
            "completion_tokens": [1, 999, 3],
        }
    )
    found = measured_costs(frame, ["judge"], gpu_seconds={"x": 0.25})
    assert found["x",] == Costs(prompt_tokens=10.0, completion_tokens=1.0, gpu_seconds=0.25)
    assert found["y",] == Costs(prompt_tokens=30.0, completion_tokens=3.0)
    whole = measured_costs(frame, [], gpu_seconds={"x": 0.25, "y": 1.0})[()]
    assert whole == Costs(prompt_tokens=20.0, completion_tokens=2.0)
    bare = measured_costs(pl.LazyFrame({"item_id": ["q"]}), [])[()]
    assert bare.total("tokens", n_prompts=1, n_replications=1) is None
    assert bare.total("judgments", n_prompts=2, n_replications=5) == 10


def test_a_panel_is_worth_what_its_errors_leave():
    # Judges right in 80 %, wrong together in 10 %, each wrong alone in another 10 %.
    rng = np.random.default_rng(3)
    n, judges = 400, "vwxyz"
    together = rng.random(n) < 0.1
    tables = []
    for name in judges:
        wrong = together | (rng.random(n) < 1 / 9)
        verdict = np.where(wrong, "B", "A")
        tables.append(
            pl.DataFrame({"item_id": np.arange(n).astype(str), "judge": name, "replication": 0,
                          "verdict": verdict, "gold": "A"})
        )  # fmt: skip
    frame = pl.concat(tables)
    found = panel_table(frame.lazy())
    assert found["n_judges"].to_list() == [1, 2, 3, 4, 5, 6, 7]
    row = found.row(0, named=True)
    # p = .2, P(both wrong) = .1 + .9 / 81 = .1111: correlation (.1111 - .04) / .16 = .444.
    assert row["error_correlation"] == pytest.approx(0.444, abs=0.08)
    assert row["effective"] == pytest.approx(5 / (1 + 4 * row["error_correlation"]))
    assert row["effective_low"] < row["effective"] < row["effective_high"]
    assert (row["judges"], row["n_items"], row["undefined"]) == (5, n, None)
    assert found["gain"][2] > found["gain"][6] > 0
    without = panel_table(frame.drop("gold").lazy())
    assert without["undefined"].unique().to_list() == ["no_gold"]
    assert without["agreement"].to_list() == pytest.approx(found["agreement"].to_list())


def many_judges():
    rng = np.random.default_rng(4)
    return pl.DataFrame(
        {"item_id": ["q", "r", "s"] * 200, "judge": np.repeat(np.arange(200), 3).astype(str)}
        | {"verdict": rng.choice(["A", "B"], 600, p=[0.8, 0.2]), "gold": "A", "replication": 0}
    )


@pytest.mark.slow
def test_a_panel_of_hundreds_of_judges_is_told_up_to_a_size():
    found = panel_table(many_judges().lazy())
    assert found["n_judges"].to_list() == list(range(1, 171))
    assert found["agreement"][-1] > found["agreement"][0]
    assert found["judges"].unique().to_list() == [200]


def test_many_panels_say_how_far_they_are(monkeypatch, capsys):
    monkeypatch.setattr(panel_worth, "_LARGEST_PANEL", 3)
    monkeypatch.setattr(progress, "FIRST", 0.0)
    rows = pl.concat(many_judges().with_columns(benchmark=pl.lit(name)) for name in "ab")
    with progress.progress_shown(print):
        assert panel_table(rows.lazy()).height == 6
    assert "of 2 panels, about " in capsys.readouterr().out


def test_benchmarks_that_name_their_questions_alike_are_not_mixed_in_a_panel():
    rng = np.random.default_rng(2)
    tables = [
        pl.DataFrame({"item_id": np.arange(30).astype(str), "judge": name, "replication": 0,
                      "benchmark": benchmark, "verdict": rng.choice(["A", "B"], 30), "gold": "A"})
        for name in "abc" for benchmark in ("one", "two")
    ]  # fmt: skip
    both = pl.concat(tables)
    apart = both.with_columns(item_id=pl.concat_str("benchmark", "item_id"))
    for frame, other in ((both, apart), (both.drop("gold"), apart.drop("gold"))):
        found = panel_table(frame.lazy(), by=[])
        assert_frame_equal(found, panel_table(other.lazy(), by=[]), abs_tol=1e-12)
        assert found["n_items"].to_list() == [60] * 5


def test_a_panel_of_scores_goes_by_distance_from_gold():
    rng = np.random.default_rng(5)
    shared = rng.normal(size=200)
    tables = [
        pl.DataFrame({"item_id": np.arange(200).astype(str), "judge": name, "replication": 0,
                      "score": 5 + shared + rng.normal(size=200), "gold": "5"})
        for name in "abc"
    ]  # fmt: skip
    [row] = panel_table(pl.concat(tables).lazy()).to_dicts()
    assert row["error_correlation"] == pytest.approx(0.5, abs=0.12)
    assert (row["agreement"], row["judges"]) == (None, 3)


@pytest.mark.slow
def test_a_hundred_replications_of_few_questions_are_close_to_the_worst_split():
    rng = np.random.default_rng(1)
    splits = advise_judgments(judged(rng.dirichlet(np.full(5, 0.2), 27), 100, rng).lazy()).splits
    best, worst = splits.filter("best")["width"].item(), splits["width"].to_list()[-1]
    assert splits["n_replications"].to_list()[-1] == 100
    assert 2.5 < worst / best < 4.5


def test_what_was_never_sent_took_no_tokens():
    rows = {
        "item_id": ["q", "q", "long"],
        "prompt_tokens": [10, 30, 9000],
        "completion_tokens": [2, 2, 0],
        "outcome": ["scored", "unparsed", "failed"],
    }
    found = measured_costs(pl.LazyFrame(rows), [])[()]
    assert (found.prompt_tokens, found.completion_tokens) == (20.0, 2.0)


def test_the_value_of_a_mean_is_as_sure_as_its_interval(ordered):
    aim = {"generalizability": 0.9, "dependability": 0.9}
    advice = advise_judgments(ordered.lazy(), target=aim)
    relative, absolute = (needs(advice, name, "apart") for name in aim)
    assert absolute["needed_whole"] <= absolute["needed_cautious"]
    assert relative["needed_cautious"] < absolute["needed_cautious"]  # orders differ in level, too
    assert (relative["standing"], absolute["standing"]) == ("undecided", "undecided")
    two = ordered.filter(pl.col("option_order") < 2).lazy()
    unlimited = Populations(sizes={"option_order": "unlimited"})
    advice = advise_judgments(two, target=aim, populations=unlimited)
    assert needs(advice, "dependability", "apart")["needed_cautious"] is None
    assert advice_text({"needs": advice.needs}).count(", not") == 2  # sure: both of them


@pytest.mark.slow
def test_what_rests_on_the_same_prompt_again_says_so(ordered, plain):
    advice = advise_judgments(ordered.lazy())
    by_target = dict(advice.needs.select("target", "conditions").rows())
    assert by_target == {
        "generalizability": "reproducibility",
        "dependability": "reproducibility",
        "interval_width": "repeatability",
    }
    assert set(advice.splits["conditions"]) == {"repeatability"}
    alone = advise_judgments(plain.lazy())
    assert set(alone.needs["conditions"]) == {"repeatability"}
    told = advice_text(advice.tables())
    assert told.count("0.1, same prompt") == 2
    assert "of the same prompt asked again (repeatability): orders" in told
