"""The demo's judge of pure position beside its honest one: what the run and `compare` say of them.

Both repeat themselves; only the honest one gives a verdict again that is about the item.
"""

import json
import math

import polars as pl
import pytest

from judgerel_ray.cli import main
from judgerel_ray.store import RunDirectory, scan_judgments

pytestmark = [pytest.mark.vllm, pytest.mark.ray, pytest.mark.slow]

LIMIT = 3.3  # standard errors of drawing replications


def test_the_run_follows_the_weights(demo_run):
    """Shares of the first answer and of no verdict, over all items and prompts of a judge."""
    from demo.judge_design import NO_VERDICT
    from demo.judge_truth import load_judge
    from demo.pair_judges import asked_pairs, draw_pairs, pair_distributions, position_judge

    rows = scan_judgments(RunDirectory.open(str(demo_run))).collect()
    judge = load_judge()
    for name, one in (("honest", judge), ("first", position_judge(judge))):
        asked = asked_pairs(one, draw_pairs())
        for temperature in (0.8, 0.4):
            distributions = pair_distributions(asked, temperature)
            prompts = [each for item in distributions for orders in item for each in orders]
            found = rows.filter(judge=name, temperature=temperature)
            assert found.height == 4 * len(prompts)
            for verdict, mine in (("alder", pl.col("verdict") == "alder"),
                                  (NO_VERDICT, pl.col("outcome") == "unparsed")):  # fmt: skip
                shares = [each.get(verdict, 0.0) for each in prompts]
                sd = math.sqrt(4 * sum(p * (1 - p) for p in shares))
                far = abs(found.filter(mine).height - 4 * sum(shares))
                assert far < LIMIT * sd + 1, (name, temperature, verdict)


def test_compare_never_calls_the_judge_of_position_higher(demo_run, capsys):
    capsys.readouterr()
    assert main(["compare", str(demo_run), "--by", "judge", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {(row["a"], row["b"]) for row in rows} == {("first", "honest")}
    # Its bias is the one thing it has more of.
    leading = [row for row in rows if row["coefficient"] != "position_bias"]
    assert {row["standing"] for row in leading} == {"b higher"}
    alphas = [row for row in leading if row["coefficient"] == "krippendorff_alpha"]
    assert [row["missing"] for row in alphas] == ["category", "drop"] * 3
    for row in alphas:
        assert (row["conditions"], row["unit"]) == ("reproducibility", "item_id")
        assert row["low"] > 0.4
    biases = [row for row in rows if row["coefficient"] == "position_bias"]
    assert len(biases) == 3
    for row in biases:
        assert row["value_b"] < 0.1 < 0.6 < row["value_a"]
