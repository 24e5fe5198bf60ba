"""What a sweep asks and takes, before anything is asked."""

import json
import re
from itertools import pairwise
from math import exp
from pathlib import Path

import pytest

import judgerel_ray
from judgerel_ray.asking.plan import planning
from judgerel_ray.asking.plan.planning import BATCH, BYTES_PER_S, REACHED, START_S, plan_resolved
from judgerel_ray.asking.plan.resolve import resolve
from judgerel_ray.config import read_sweep
from judgerel_ray.core import Message
from judgerel_ray.engines import prompt_counter
from judgerel_ray.reporting.standing import plan_screen, plan_text

DEMO = Path(judgerel_ray.__file__).parent / "demo"
DEMO_SWEEP = "jobs/demo__tiny-judge__cpu.toml"
GRID = "temperatures = [1.0, 0.75, 0.5, 0.25, 0.0]\nreplications = 100\n"


def items(n, *, turns=(), words=3):
    """Plain items; those numbered in `turns` are dialogues."""
    for i in range(n):
        item = {"item_id": f"q{i}", "question": f"Is it {i:04}? " * words, "options": list("abcde")}
        yield json.dumps(item | ({"turns": [f"one {i}?", "two?"]} if i in turns else {}))


def test_the_grid_of_the_paper(sweep):
    judges = [(name, "") for name in ("starling", "llama", "gemma")]
    plan = plan_resolved(sweep(judges=judges, asks=[GRID], items=list(items(55))))
    assert plan.requests == 66_165
    assert [judge.requests for judge in plan.judges] == [22_055] * 3
    assert [stage.conditions for stage in plan.stages] == [275] * 3
    text = plan_text(plan.as_json(), {})
    assert text.startswith("sweep s: 66,165 requests\n")
    assert "ask[0] judge   llama: 55 items, 275 conditions, 22,055 requests" in text
    assert any("temperature 0 is asked once" in note for note in plan.notes)


def test_new_tokens_are_the_bound_of_every_request(sweep):
    resolved = sweep(asks=[GRID + "max_tokens = 7\n"], items=list(items(10)))
    [judge] = plan_resolved(resolved).judges
    assert judge.generated_at_most == 10 * 401 * 7


def test_prompts_are_estimated_by_characters_and_shared_ones_once(sweep):
    resolved = sweep(asks=[GRID], items=list(items(2, words=100)))
    [judge] = plan_resolved(resolved).judges
    [frame] = resolved.frames
    from judgerel_ray.design import build_wave

    prompts = [
        work.asks[0].condition.prompt[0].content
        for work in build_wave(frame, 0, frame.judges[0], {})
    ]
    assert judge.tokens_are == "estimated"
    assert judge.shared == sum(len(prompt) // 4 for prompt in prompts)
    assert judge.prompt == judge.shared * 401


def test_many_items_follow_from_the_first_by_proportion(sweep):
    few = plan_resolved(sweep(asks=[GRID], items=list(items(50)))).judges[0]
    many = plan_resolved(sweep(asks=[GRID], items=list(items(500)))).judges[0]
    assert many.generated_at_most == 10 * few.generated_at_most
    assert many.prompt == pytest.approx(10 * few.prompt, rel=0.01)


def test_prompts_that_hold_answers_are_bounded_by_the_longest(sweep):
    judges = [(name, "") for name in "jxy"]
    asks = ['responders = ["x", "y"]\nrespond = { max_tokens = 40 }\nmax_tokens = 8\n']
    plan = plan_resolved(sweep(judges=judges, asks=asks, items=list(items(10, turns=(3, 4)))))
    judge, x, y = plan.judges
    assert (judge.requests, x.requests, y.requests) == (50, 12, 12)
    assert judge.generated_at_most == 50 * 8
    assert x.generated_at_most == y.generated_at_most == 12 * 40
    # 10 prompts with two answers of 40 tokens each, at 5 characters of 4
    assert judge.shared > 10 * 2 * 40
    assert judge.prompt == 5 * judge.shared


def test_shared_answers_cost_once(sweep):
    judges = [(name, "") for name in "jxy"]
    own = 'responders = ["x", "y"]\n'
    one = plan_resolved(sweep(judges=judges, asks=[own])).judges
    two = plan_resolved(sweep(judges=judges, asks=[own, own + "temperatures = [0.5]\n"])).judges
    assert [judge.requests for judge in two] == [
        2 * one[0].requests,
        *(j.requests for j in one[1:]),
    ]
    assert [(j.prompt, j.generated_at_most) for j in two[1:]] == [
        (j.prompt, j.generated_at_most) for j in one[1:]
    ]


def vllm_plan(tmp_path, judge):
    (tmp_path / "i.jsonl").write_text("\n".join(items(4)))
    (tmp_path / "s.toml").write_text(
        f'name = "s"\n[[judge]]\nname = "j"\n{judge}\n'
        '[[ask]]\nprotocol = "best_of"\nbenchmark = "b"\npath = "i.jsonl"\nmax_tokens = 50\n'
    )
    resolved = resolve(read_sweep(tmp_path / "s.toml"))
    return resolved, plan_resolved(resolved)


def test_tokens_are_counted_with_the_models_own_tokenizer(tmp_path):
    resolved, plan = vllm_plan(tmp_path, f'model = "{DEMO}/judge"\ngpus = 0')
    [judge] = plan.judges
    count, how = prompt_counter(resolved.specs["j"])
    assert judge.tokens_are == how == "counted"
    assert 0 < judge.shared < judge.prompt == 5 * judge.shared
    said = (Message(role="user", content="word " * 8),)
    assert count(said) != len(said[0].content) // 4
    assert judge.gpu_hours is None


def test_gpu_hours_of_a_gpu_judge_of_known_size(tmp_path):
    _, plan = vllm_plan(tmp_path, 'model = "acme/judge-8B"\ngpus = 2')
    [judge] = plan.judges
    assert judge.generated_at_most == 20 * 50
    # Weights are read once for a batch of new tokens; prompts are arithmetic; both GPUs count.
    decode = 1000 / BATCH * 16e9 / (2 * BYTES_PER_S)
    assert judge.gpu_hours is not None
    least = 2 * (decode / REACHED + START_S) / 3600
    assert least < judge.gpu_hours < least * 1.01
    assert any("8.0 B parameters (by the model's name)" in note for note in plan.notes)
    assert any("not measured" in note for note in plan.notes)


def test_gpu_hours_are_not_made_up(tmp_path):
    _, plan = vllm_plan(tmp_path, 'model = "acme/judge"\ngpus = 1')
    assert plan.judges[0].gpu_hours is None
    assert any("model size unknown" in note for note in plan.notes)
    assert any("set revision" in note for note in plan.notes)
    assert "GPU-hours expected" not in plan_text(plan.as_json(), {})


def test_a_judge_that_is_asked_nothing_costs_nothing(sweep):
    plan = plan_resolved(sweep(judges=[("j", ""), ("k", "")], asks=['judges = ["j"]']))
    idle = plan.judges[1]
    assert (idle.requests, idle.prompt, idle.generated_at_most) == (0, 0, 0)
    assert idle.gpu_hours is None


def test_a_plan_is_plain_values_and_its_text_shows_every_default(sweep):
    resolved = sweep()
    plan = plan_resolved(resolved)
    assert json.loads(json.dumps(plan.as_json())) == plan.as_json()
    values = resolved.sweep.model_dump(mode="json")
    text = plan_text(plan.as_json(), values)
    keys = [
        *(key for key in values if key not in {"judge", "ask", "fleet"}),
        *values["judge"][0],
        *values["ask"][0],
        *values["fleet"],
    ]
    lines = [line.strip() for line in text.split("resolved sweep:\n")[1].splitlines()]
    for key in keys:
        assert any(line.startswith((f"{key} = ", f"[{key}]")) for line in lines), key
    assert "revision = (not set)" in lines
    assert "replications = 5" in lines
    assert "simulated, answers from a stated distribution; not a judge" in text


def test_the_disk_expected_is_what_the_demo_took():
    """240,226 bytes on 2026-11-24, 6 leases; its replies were 0.37 of the length allowed."""
    plan = plan_resolved(resolve(read_sweep(Path(judgerel_ray.__file__).parents[1] / DEMO_SWEEP)))
    shorter = 0.63 * plan.judges[0].generated_at_most * planning.BYTES_PER_TOKEN
    assert plan.disk_bytes - shorter == pytest.approx(240_226, rel=0.15)
    assert any("disk holds judgments" in note and "leases" in note for note in plan.notes)


def test_disk_grows_with_requests_replies_and_conditions(sweep):
    def disk(ask, n=40):
        return plan_resolved(sweep(asks=[ask], items=list(items(n)))).disk_bytes

    once = disk("replications = 100\nmax_tokens = 10\n")
    assert disk("replications = 100\nmax_tokens = 110\n") - once == 4000 * 100 * 1.2
    split = "replications = 50\ntemperatures = [1.0, 0.5]\nmax_tokens = 10\n"
    assert disk(split) - once == 40 * planning.BYTES_PER_CONDITION
    # A request alone in its lease costs the files it lies in.
    assert disk("replications = 1\n", n=1) > planning.BYTES_PER_LEASE


def test_a_cpus_short_seeds_are_told_where_streams_may_meet(tmp_path):
    def notes(judge, replications, n):
        (tmp_path / "i.jsonl").write_text("\n".join(items(n)))
        (tmp_path / "s.toml").write_text(
            f'name = "s"\n[[judge]]\nname = "j"\n{judge}\n[[ask]]\nprotocol = "best_of"\n'
            f'benchmark = "b"\npath = "i.jsonl"\nreplications = {replications}\n'
        )
        plan = plan_resolved(resolve(read_sweep(tmp_path / "s.toml")))
        return [note for note in plan.notes if "random stream" in note]

    cpu = f'model = "{DEMO}/judge"\ngpus = 0'
    assert notes(cpu, 100, 40) == []
    [note] = notes(cpu, 10_000, 40)
    # 40 x 400,000 / 2^32, and the probability that any pair meets
    assert "two of its 40 conditions" in note
    assert "0.0037 pairs expected, probability 0.0037" in note
    assert notes('model = "acme/judge-8B"\ngpus = 1', 10_000, 40) == []


def test_ranges_of_seeds_meet_as_often_as_is_said():
    """Drawn at random: 60 ranges of 40 places among 2^20."""
    from random import Random

    draw, places, conditions, n = Random(1), 2**20, 60, 40
    met = 0
    for _ in range(2000):
        bases = sorted(draw.randrange(places) for _ in range(conditions))
        met += any(b - a < n for a, b in pairwise([*bases, bases[0] + places]))
    expected = conditions * conditions * n / places
    assert met / 2000 == pytest.approx(1 - exp(-expected), abs=0.02)


def test_an_adaptive_plan_says_from_what_to_what_and_whether_anything_settles(sweep):
    rule = "replications = { adaptive = 0.05, first = 4, max = 50 }\ntemperatures = [1.0, 0.0]\n"
    plan = plan_resolved(sweep(asks=[rule], items=list(items(3))))
    assert (plan.requests, plan.requests_at_most) == (3 * 5, 3 * 51)
    assert plan.judges[0].generated_at_most == 3 * 51 * 150
    assert any("first 4 replications and at most of 50" in note for note in plan.notes)
    assert not any("settle nothing" in note for note in plan.notes)
    assert plan_text(plan.as_json(), {}).startswith("sweep s: 15 to 153 requests\n")
    short = plan_resolved(sweep(asks=[rule.replace("50", "8")], items=list(items(3))))
    assert any("8 replications can settle nothing: with 6 verdicts" in note for note in short.notes)
    fixed = plan_resolved(sweep(asks=["temperatures = [1.0, 0.0]\n"], items=list(items(3))))
    assert fixed.requests == fixed.requests_at_most
    # A prompt computed once costs the same however often it is asked.
    assert plan.judges[0].shared == fixed.judges[0].shared
    assert plan.judges[0].prompt == plan.judges[0].shared * 51


def unknown(plan):
    """What a plan says stays unknown: the change and its cost, by question."""
    return {
        one.question: (one.change, one.requests)
        for one in plan.answers
        if not one.is_known and one.ask == 0
    }


@pytest.mark.parametrize("question", ["repeatability", "position bias", "the effect of wording"])
def test_what_a_change_is_said_to_cost_is_what_it_costs(sweep, question):
    judges = [(name, "") for name in ("one", "two")]
    grid = "temperatures = [1.0, 0.0]\nreplications = 1\n"
    plan = plan_resolved(sweep(judges=judges, asks=[grid], items=list(items(7))))
    change, requests = unknown(plan)[question]
    key = change.partition(" =")[0]
    kept = "\n".join(line for line in grid.splitlines() if not line.startswith(key))
    changed = plan_resolved(
        sweep(judges=judges, asks=[f"{kept}\n{change}\n"], items=list(items(7)))
    )
    assert requests > 0
    assert changed.requests - plan.requests == requests
    assert question not in unknown(changed)
    line = f"{question} stays unknown; {change} costs {requests} more requests"
    assert line in plan_text(plan.as_json(), {})


def test_what_is_asked_is_said_to_be_known(sweep):
    many = 'option_orders = 3\nreplications = 2\ntemplates = ["default", "paraphrase"]\n'
    plan = plan_resolved(sweep(asks=[many], items=list(items(2))))
    assert set(unknown(plan)) == {"accuracy"}
    assert unknown(plan)["accuracy"][1] == 0
    shown = "it will show repeatability (every prompt is asked 2 times), position bias (3 orders of"
    assert shown in plan_text(plan.as_json(), {})
    exact = plan_resolved(sweep(asks=['mode = "exact"\n'], items=list(items(2))))
    assert "repeatability" not in unknown(exact)
    greedy = plan_resolved(sweep(asks=["temperatures = [0.0]\n"], items=list(items(2))))
    assert unknown(greedy)["repeatability"] == ("repeat_greedy = 5", 8)


def test_asks_are_named_where_they_differ(sweep):
    one, other = "option_orders = 2\n", 'templates = ["paraphrase"]\n'
    plan = plan_resolved(sweep(asks=[one, other], items=list(items(2))))
    lines = plan_text(plan.as_json(), {}).splitlines()
    assert any("position bias (ask[0]: 2 orders of the options)" in line for line in lines)
    assert any(line.startswith("ask[1]: one order: position bias stays") for line in lines)


def test_a_plan_of_many_judges_and_notes_is_one_screen(sweep):
    judges = [(f"judge-{i}", "") for i in range(30)]
    plan = plan_resolved(sweep(judges=judges, asks=[GRID], items=list(items(3))))
    lines = plan_screen(plan.as_json(), "many.toml").splitlines()
    assert sum(-(-len(line) // 80) for line in lines) < 24
    assert any(re.fullmatch(r"and \d+ more lines, with --full", line) for line in lines)
    assert any("position bias stays unknown" in line for line in lines)
