"""Exact distributions from a real engine, held against the weights."""

import polars as pl
import pytest

from judgerel_ray.store import RunDirectory, scan_completions, scan_judgments
from judgerel_ray.store.made_tables import read_distributions
from judgerel_ray.tables import frame_to_items

pytestmark = [
    pytest.mark.ray,
    pytest.mark.vllm,
    pytest.mark.slow,
    pytest.mark.usefixtures("ray_local"),
]


@pytest.fixture(scope="module")
def explored(questions_again):
    """The demo's questions, explored and also sampled, by two engines."""
    return RunDirectory.open(str(questions_again))


def test_bounds_hold_the_distribution_of_the_weights(explored, undecided):
    from demo.against_truth import TAIL, asked_in
    from demo.judge_design import NO_VERDICT

    table = read_distributions(explored)
    names = pl.col("verdict").fill_null(NO_VERDICT)
    for asked in asked_in(explored.url)[::3]:  # six of them: the reference takes its time
        mine = table.filter(pl.col("item_id") == asked.item.item_id)
        for temperature in (1.0, 0.75, 0.5):
            true = asked.options(asked.letters(temperature))
            # Labels the menu does not have are no verdict of it.
            off_menu = true.pop("off the menu", 0.0)
            true[NO_VERDICT] = true.get(NO_VERDICT, 0.0) + off_menu
            rows = mine.filter(pl.col("temperature") == temperature).with_columns(names)
            assert rows.height == 6
            for verdict, low, high in rows.select("verdict", "low", "high").iter_rows():
                assert low - TAIL <= true.get(verdict, 0.0) + 1e-5
                assert true.get(verdict, 0.0) <= high + TAIL + 1e-5
            assert 1 - rows["low"].sum() <= undecided + 1e-6


def test_probabilities_at_drawn_verdicts_are_those_of_the_weights(explored):
    import torch

    from demo.judge_truth import load_judge

    run = explored
    judged = scan_judgments(run).filter(template="letters", temperature=1.0)
    rows = judged.join(scan_completions(run), on="key").sort("replication", "item_id").collect()
    assert rows.height == 16 * 4
    scored = rows.filter(pl.col("outcome") == "scored")
    assert scored["logprobs"].null_count() == 0
    assert rows.filter(pl.col("outcome") != "scored")["logprobs"].drop_nulls().is_empty()
    judge = load_judge()
    prompts = prompts_of(judge, run)
    for row in scored.head(12).iter_rows(named=True):
        listed = row["logprobs"]
        best = {one["continuation"]: one["logprob"] for one in reversed(listed)}
        # The letter drawn is one the list spells, with the probability the weights give it.
        before = prompts[row["item_id"]] + row["text"].split("[[")[0] + "[["
        ids = judge.tokenizer(before, return_tensors="pt", add_special_tokens=False)["input_ids"]
        with torch.no_grad():
            true = torch.log_softmax(judge.model(ids).logits[0, -1].double(), dim=-1)
        letter = judge.tokenizer.convert_tokens_to_ids(row["label"])
        place = "ABCDE".index(row["label"])
        assert best[place] == pytest.approx(float(true[letter]), abs=1e-3)


def prompts_of(judge, run):
    """The demo's prompts by item, their options in the order shown."""
    from demo.judge_truth import prompt_text
    from judgerel_ray.design import option_orders

    items = frame_to_items(pl.read_parquet(run.read_bytes("items.parquet")))
    return {
        item.item_id: prompt_text(judge, item, option_orders(item, n_orders=1, seed=0)[0])
        for item in items
    }
