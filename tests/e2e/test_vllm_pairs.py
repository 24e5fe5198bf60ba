"""A judge of pure position beside one of content, on real vLLM: their truth is that of the weights.

Both repeat themselves, the one by position better than the other; only the one by content gives a
verdict again that is about the item. What is printed of them must say so.
"""

import json
import math

import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.cli import main
from judgerel_ray.store import RunDirectory, scan_judgments

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.ray,
    pytest.mark.slow,
    pytest.mark.usefixtures("ray_local"),
]

JUDGES = ("content", "position")
CONDITIONS = ("repeatability", "reproducibility")
LIMIT = 3.3  # standard errors of drawing replications


@pytest.fixture(scope="module")
def run(tmp_path_factory, run_lean, ray_local):  # noqa: ARG001  engines need a cluster
    """A finished run of both judges over the same pairs in both orders."""
    from demo.pair_judges import write_sweep

    folder = tmp_path_factory.mktemp("vllm_pairs")
    assert run_lean(write_sweep(folder), folder / "run") == 0
    return folder / "run"


@pytest.fixture(scope="module")
def distributions():
    """Each judge's distributions of verdicts by item and order, from the weights."""
    from demo.judge_truth import load_judge
    from demo.pair_judges import draw_pairs, pair_distributions, position_judge

    judge, items = load_judge(), draw_pairs()
    return {
        "content": pair_distributions(judge, items),
        "position": pair_distributions(position_judge(judge), items),
    }


@pytest.fixture(scope="module")
def reduced(run):
    """Coefficients of the run, a reply without a verdict a verdict of its own."""
    return judgerel_ray.reduce(run).filter(missing="category")


def alpha(reduced, judge, conditions):
    [row] = reduced.filter(
        coefficient="krippendorff_alpha", judge=judge, conditions=conditions
    ).to_dicts()
    return row


def test_every_pair_is_judged_in_both_orders(run, capsys):
    from demo.pair_judges import N_PAIRS, REPLICATIONS

    rows = scan_judgments(RunDirectory.open(str(run))).collect()
    cells = rows.group_by("judge", "item_id", "option_order").len()
    assert cells.height == len(JUDGES) * N_PAIRS * 2
    assert set(cells["len"]) == {REPLICATIONS}
    assert rows["key"].n_unique() == rows.height
    for judge in JUDGES:
        assert (rows.filter(judge=judge)["outcome"] == "scored").mean() > 0.97
    capsys.readouterr()
    assert main(["verify", str(run)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "0 errors"


def test_the_run_follows_the_weights(run, distributions):
    """Shares of the first answer and of no verdict, over all items and orders of a judge."""
    from demo.judge_design import NO_VERDICT
    from demo.pair_judges import REPLICATIONS

    rows = scan_judgments(RunDirectory.open(str(run))).collect()
    for judge in JUDGES:
        prompts = [each for orders in distributions[judge] for each in orders]
        found = rows.filter(judge=judge)
        for name, mine in (("alder", pl.col("verdict") == "alder"),
                           (NO_VERDICT, pl.col("outcome") == "unparsed")):  # fmt: skip
            shares = [each.get(name, 0.0) for each in prompts]
            sd = math.sqrt(sum(p * (1 - p) for p in shares) * REPLICATIONS)
            n = found.filter(mine).height
            assert abs(n - REPLICATIONS * sum(shares)) < LIMIT * sd, (judge, name)


def test_reliability_of_the_judge_of_content_is_that_of_its_weights(reduced, distributions):
    from demo.pair_judges import pair_truth

    truth = pair_truth(distributions["content"])
    assert 0.7 < truth["reproducibility"] < truth["repeatability"] < 0.76
    for conditions in CONDITIONS:
        row = alpha(reduced, "content", conditions)
        print(f"content, {conditions}: truth {truth[conditions]:.3f}, "
              f"found {row['value']:.3f} [{row['low']:.3f}, {row['high']:.3f}]")  # fmt: skip
        assert row["low"] <= truth[conditions] <= row["high"]
        assert not row["noise"]


def test_the_judge_of_position_repeats_itself_and_reproduces_nothing(reduced, distributions):
    from demo.pair_judges import pair_truth

    truth = pair_truth(distributions["position"])
    assert abs(truth["reproducibility"]) < 1e-6
    again, other = (alpha(reduced, "position", conditions) for conditions in CONDITIONS)
    print(f"position, repeatability: truth {truth['repeatability']:.3f}, found "
          f"{again['value']:.3f} [{again['low']:.3f}, {again['high']:.3f}]; reproducibility: "
          f"found {other['value']:.4f}, floor {other['noise_floor']:.4f}")  # fmt: skip
    assert truth["repeatability"] > 0.85
    assert again["low"] <= truth["repeatability"] <= again["high"]
    assert not again["noise"]
    assert other["noise"]
    assert abs(other["value"] - other["noise_floor"]) < 2 * other["noise_floor_sd"]
    assert other["unit"] == "item_id"
    # By repeatability alone the judge that reads nothing is the better one.
    assert again["low"] > alpha(reduced, "content", "repeatability")["high"]


def test_swap_consistency_of_both_is_that_of_their_weights(reduced, distributions):
    for judge in JUDGES:
        same = [
            sum(one.get(name, 0.0) * other.get(name, 0.0) for name in {*one, *other})
            for one, other in distributions[judge]
        ]
        [row] = reduced.filter(coefficient="swap_consistency", judge=judge).to_dicts()
        truth = sum(same) / len(same)
        print(f"{judge}, swap consistency: truth {truth:.3f}, found {row['value']:.3f}")
        assert row["low"] <= truth <= row["high"]


def test_compare_never_calls_the_judge_of_position_higher(run, capsys):
    capsys.readouterr()
    assert main(["compare", str(run), "--by", "judge", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {(row["a"], row["b"]) for row in rows} == {("content", "position")}
    # Its bias is the one thing it has more of.
    leading = [row for row in rows if row["coefficient"] != "position_bias"]
    assert {row["standing"] for row in leading} == {"a higher"}
    alphas = [row for row in leading if row["coefficient"] == "krippendorff_alpha"]
    assert [row["missing"] for row in alphas] == ["category", "drop"]
    for row in alphas:
        assert (row["conditions"], row["unit"]) == ("reproducibility", "item_id")
        assert row["high"] < -0.5
    [bias] = [row for row in rows if row["coefficient"] == "position_bias"]
    assert bias["value_a"] < 0.1 < 0.8 < bias["value_b"]
