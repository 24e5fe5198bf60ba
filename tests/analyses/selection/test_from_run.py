"""Selection of a run: gold of its items, and confidences that lie beside its judgments."""

from __future__ import annotations

from datetime import UTC, datetime
from io import BytesIO
from math import log
from typing import Literal

import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.analyses.selection.from_run import selection_of, systems_of
from judgerel_ray.analyses.selection.selection import SelectionOptions
from judgerel_ray.analyses.selection.systems_compared import ComparisonOptions
from judgerel_ray.core import Item, Option, SweepError, TokenCounts, request_key, traits
from judgerel_ray.protocols import registry
from judgerel_ray.protocols.best_of import BestOf, BestOfAsk
from judgerel_ray.store import RunDirectory, begin_session, land
from judgerel_ray.store.made_tables import DISTRIBUTIONS
from judgerel_ray.tables import Completions, Distributions, Judgments, items_to_frame
from tests.opening import answers

HEAD = 'name = "s"\n' + "".join(
    f'[[judge]]\nname = "{name}"\nengine = "simulated"\nmodel = "dirichlet"\ngpus = 0\n'
    for name in ("ant", "bee")
)
THINK = '[[ask]]\nprotocol = "think_twice"\nbenchmark = "b"\npath = "i.jsonl"\n'
BEST = '[[ask]]\nprotocol = "best_of"\nbenchmark = "b"\npath = "i.jsonl"\n'
FEW = SelectionOptions(resamples=20)
N = 12


def condition(judge, role, stage, item, heat):
    return f"{judge}{role}{stage}{item}{heat}"


def row(judge, item, verdict, *, stage="judge", role="judge", heat=0.7, replication=0, **more):
    key = request_key(condition(judge, role, stage, item, heat), replication)
    return {
        "key": key, "judge": judge, "judge_fingerprint": "x", "benchmark": "b", "item_id": item,
        "protocol": "best_of", "stage": stage, "role": role, "template": "default",
        "temperature": heat, "top_k": 50, "top_p": 1.0, "replication": replication, "block": 0,
        "seed": 1 if heat else None, "verdict": verdict, "label": more.pop("label", verdict),
        "outcome": "scored" if verdict else "unparsed", "prompt_tokens": 100,
        "completion_tokens": 10, "finish_reason": "stop", "attempt": 1,
        "landed_at": datetime(2026, 1, 1, tzinfo=UTC), **more,
    }  # fmt: skip


def landed(tmp_path, asks, rows, *, gold=True, logprobs=None):
    """A run with these judgments; items q0 ... have four options, the right one among them."""
    run = RunDirectory.create(str(tmp_path / "run"))
    run.write_text("sweep.toml", HEAD + asks)
    options = tuple(Option(option_id=f"o{k}", text=str(k)) for k in range(4))
    items = [
        Item(item_id=f"q{n}", benchmark="b", category="c", question="?", options=options,
             gold=f"o{n % 4}" if gold else None)
        for n in range(N)
    ]  # fmt: skip
    data = BytesIO()
    items_to_frame(items).write_parquet(data)
    run.write_bytes("items.parquet", data.getvalue())
    session = begin_session(run).number
    frame = pl.DataFrame(rows, schema=Judgments.create_empty().schema)
    for number, (judge,) in enumerate(frame.select("judge").unique(maintain_order=True).rows()):
        mine = frame.filter(pl.col("judge") == judge)
        told = [{"key": key, "text": "?", "logprobs": logprobs and logprobs.get(key)}
                for key in mine["key"]]  # fmt: skip
        asked = mine.select("judge", "role", "stage", "item_id", "temperature").rows()
        texts = pl.DataFrame(told, schema=Completions.create_empty().schema)
        assert land(
            run, session=session, lease=number, attempt=1, judge=judge, judgments=mine,
            completions=texts, conditions={condition(*one): [(0, 1)] for one in asked},
            tokens=TokenCounts(), seconds=1.0,
        )  # fmt: skip
    return run


def thinking(heats=(0.7,)):
    rows = []
    for judge, right in (("ant", 9), ("bee", 6)):
        for heat in heats:
            for n in range(N):
                said = f"o{n % 4}" if n < right else f"o{(n + 1) % 4}"
                shared = {"protocol": "think_twice", "heat": heat}
                rows.append(row(judge, f"q{n}", None, stage="select", role="responder", **shared)
                            | {"outcome": None})  # fmt: skip
                rows.append(row(judge, f"q{n}", said, stage="choose", role="responder",
                                confidence=0.9 if n < right else 0.6, **shared))  # fmt: skip
                rows += [
                    row(judge, f"q{n}", f"o{n % 4}", role=role, confidence=0.8, **shared)
                    for role in ("participant", "evaluator_only")
                ]
    return rows


def test_gold_and_chance_are_those_of_the_items(tmp_path):
    run = landed(tmp_path, THINK, thinking())
    found = selection_of(answers(run.url), FEW).systems.filter(pl.col("role") == "responder")
    assert found.select("judge", "n_right", "chance", "auroc").unique().sort("judge").rows() == [
        ("ant", 9, 0.25, 1.0),
        ("bee", 6, 0.25, 1.0),
    ]


@pytest.mark.slow
def test_the_sweep_says_at_which_temperature_the_answers_were_compared(tmp_path):
    asks = THINK + "temperatures = [1.0, 0.0]\nanswer_temperature = 0.0\n"
    run = landed(tmp_path, asks, thinking(heats=(1.0, 0.0)))
    found = systems_of(answers(run.url), ComparisonOptions(resamples=20))
    assert found.matched_cost["undefined"].is_null().all()
    assert found.matched_cost["first"].str.contains("temperature 0").all()
    # Two answers of two requests each and a reply, 110 tokens a request.
    participant = found.matched_cost.filter(pl.col("second").str.contains("participant"))
    assert participant["second_cost"].unique().to_list() == [550.0]


def test_sampled_verdicts_have_the_probability_read_at_their_place(tmp_path):
    rows = [row("ant", f"q{n}", "o1", label="B", replication=0) for n in range(N)]
    spelled = [
        {"token": t, "logprob": log(p), "rank": k + 1, "continuation": k}
        for k, (t, p) in enumerate((("A", 0.2), ("B", 0.6), ("C", 0.2)))
    ]
    told = {one["key"]: spelled for one in rows}
    asks = BEST + "verdict_logprobs = true\n"
    # Tempered: at .7 the most probable letter is more probable than it is at 1.
    expected = 0.6 ** (1 / 0.7) / (0.6 ** (1 / 0.7) + 2 * 0.2 ** (1 / 0.7))
    run = landed(tmp_path, asks, rows, logprobs=told)
    found = selection_of(answers(run.url), FEW)
    assert found.systems["confidence"].to_list() == ["probability"]
    assert found.acceptance["threshold"].to_list() == pytest.approx([expected])


def distributions(run, heats):
    made = [
        {"judge": "ant", "benchmark": "b", "item_id": f"q{n}", "template": "default",
         "option_order": None, "temperature": heat, "verdict": f"o{k}", "probability": p,
         "low": p, "high": p}
        for heat in heats for n in range(N) for k, p in enumerate((0.1, 0.55, 0.25, 0.1))
    ]  # fmt: skip
    data = BytesIO()
    pl.DataFrame(made, schema=Distributions.create_empty().schema).write_parquet(data)
    run.write_bytes(DISTRIBUTIONS, data.getvalue())


def test_distributions_give_answers_where_none_was_sampled_and_chances_where_some_were(tmp_path):
    rows = [row("ant", f"q{n}", f"o{n % 4}", replication=0) for n in range(N)]
    run = landed(tmp_path, BEST + 'mode = "exact"\n', rows)
    distributions(run, (0.7, 1.0))
    found = selection_of(answers(run.url), FEW)
    told = found.systems.select("temperature", "confidence", "n_right", "n_answers").rows()
    assert told == [(0.7, "probability", 12, 12), (1.0, "probability", 3, 12)]
    steps = found.acceptance.select("temperature", "threshold", "n_accepted").rows()
    assert steps == [(0.7, 0.55, 3), (0.7, 0.25, 6), (0.7, 0.1, 12), (1.0, 0.55, 12)]


def test_distributions_of_single_answers_are_no_answers_to_choose(tmp_path):
    run = landed(tmp_path, BEST + 'mode = "exact"\n', [row("ant", "q0", "o0")])
    distributions(run, (1.0,))
    alone = selection_of(answers(run.url), FEW).systems
    of_options = pl.read_parquet(BytesIO(run.read_bytes(DISTRIBUTIONS)))
    judged = [
        {"judge": "ant", "benchmark": "b", "item_id": f"q{n}", "template": "default",
         "option_order": None, "temperature": 1.0, "verdict": verdict, "probability": p,
         "low": p, "high": p, "responder": "o1"}
        for n in range(N) for verdict, p in (("correct", 0.9), ("incorrect", 0.1))
    ]  # fmt: skip
    data = BytesIO()
    pl.concat([pl.DataFrame(judged, schema=of_options.schema), of_options]).write_parquet(data)
    run.write_bytes(DISTRIBUTIONS, data.getvalue())
    assert selection_of(answers(run.url), FEW).systems.equals(alone)


@pytest.fixture
def picking(monkeypatch):
    """A protocol of one's own whose judges choose as those of best_of do."""

    class PickAsk(BestOfAsk):
        """An ``[[ask]]`` of pick."""

        protocol: Literal["pick"]

    class Pick(BestOf):
        """As best_of."""

        name = "pick"
        table = PickAsk

    monkeypatch.setattr(registry, "_known", dict(registry._known))
    monkeypatch.setattr(traits, "_known", dict(traits._known))
    registry.register_protocol(Pick())


@pytest.mark.usefixtures("picking")
def test_a_protocol_of_ones_own_whose_judges_choose_is_selected_among(tmp_path):
    rows = [row("ant", f"q{n}", f"o{n % 4}", replication=0) for n in range(N)]
    rows = [{**one, "protocol": "pick"} for one in rows]
    run = landed(tmp_path, BEST.replace("best_of", "pick") + 'mode = "exact"\n', rows)
    distributions(run, (0.7, 1.0))
    found = selection_of(answers(run.url), FEW)
    told = found.systems.select("temperature", "confidence", "n_right", "n_answers").rows()
    assert told == [(0.7, "probability", 12, 12), (1.0, "probability", 3, 12)]


def test_items_without_a_right_option_are_said(tmp_path):
    run = landed(tmp_path, THINK, thinking(), gold=False)
    with pytest.raises(SweepError, match="items of this run name no right option") as found:
        selection_of(answers(run.url), FEW)
    assert "--gold FILE" in found.value.hint
    file = tmp_path / "gold.csv"
    file.write_text("item_id,gold\n" + "".join(f"q{n},o{n % 4}\n" for n in range(N)))
    told = selection_of(answers(run.url), FEW, gold=str(file)).systems
    assert set(told["n_answers"]) == {N}


def test_without_right_answers_labels_are_named_first(tmp_path):
    rows = pl.DataFrame({"item_id": ["q", "r"], "replication": 0, "verdict": ["a", "b"]})
    rows.write_csv(tmp_path / "bare.csv")
    with pytest.raises(SweepError, match="no right answers: expected a column 'gold'") as refused:
        judgerel_ray.select(tmp_path / "bare.csv")
    assert refused.value.hint.startswith("--labels FILE: ")
