"""What bench/peers.py asks of every arm, and what it makes of their costs; no engine."""

from collections import Counter
from dataclasses import replace

import pytest

from bench.peer_arms import for_peers, raw_calls
from bench.peers import (
    OF_CASE,
    Cell,
    Cost,
    cpu_between,
    least_prompt_tokens,
    ratios,
    rows_of,
    sweep_text,
    worked_between,
)
from judgerel_ray.config import read_sweep


def cells():
    """Two prompts at T = 1 and .5, five replies each; at T = 0 one, as the plan asks it."""
    one = Cell(
        key="", judge="j", chat=(), ids=tuple(range(70)), temperature=1.0, seed=7, n=5,
        max_tokens=9, stop=("]]",),
    )  # fmt: skip
    return [
        replace(one, key=f"{len(ids)}-{t}", ids=ids, temperature=t, n=5 if t else 1)
        for ids in (one.ids, tuple(range(32)))
        for t in (1.0, 0.5, 0.0)
    ]


def asked(call):
    """Which replies a call of LLM.generate asks for, and with what."""
    return Counter(
        (cell.key, str(cell.sampling(first + index)))
        for cell, first, n in call
        for index in range(n)
    )


def test_every_arm_makes_the_same_replies():
    peers = for_peers(cells(), stopped=False)
    rows = Counter((cell.key, str(cell.sampling(r))) for cell, r in rows_of(peers))
    for arm in ("raw", "raw-rows", "per-temperature"):
        assert asked([one for call in raw_calls(arm, peers) for one in call]) == rows
    assert sum(rows.values()) == 30
    assert len(raw_calls("per-temperature", peers)) == 3


def test_a_greedy_reply_is_asked_for_alone_and_every_reply_has_a_seed():
    greedy = [(cell, n) for call in raw_calls("raw", for_peers(cells(), stopped=False))
              for cell, _, n in call if not cell.temperature]  # fmt: skip
    assert len(greedy) == 10
    assert all(n == 1 for _, n in greedy)
    seeds = [cell.sampling(r).get("seed") for cell, r in rows_of(for_peers(cells(), stopped=False))]
    assert {type(seed) for seed in seeds} == {int}


def test_only_who_is_told_stops_at_the_verdict():
    assert not any("stop" in c.sampling() for c in for_peers(cells(), stopped=False))
    stopped = for_peers(cells(), stopped=True)
    assert all(c.sampling()["include_stop_str_in_output"] for c in stopped)


def test_least_prompt_tokens():
    # Of 70 tokens 64 are cached; of 32 none, as the last of a prompt is always computed.
    assert least_prompt_tokens(cells(), 32) == (70 + 10 * 6) + (32 + 10 * 32)


def test_cpu_between_samples():
    samples = [(0.0, 0.0), (10.0, 4.0), (20.0, 24.0)]
    assert cpu_between(samples, 5.0, 15.0) == pytest.approx(12.0)
    assert cpu_between(samples, 15.0, 30.0) == pytest.approx(10.0)


def test_seconds_of_work_leave_out_the_turns_of_others():
    stops = [(1.0, 3.0), (5.0, 6.0), (9.0, 12.0)]
    assert worked_between(stops, 0.0, 20.0) == pytest.approx(14.0)
    assert worked_between(stops, 2.0, 10.0) == pytest.approx(5.0)
    assert worked_between([], 2.0, 10.0) == 8.0


def test_ratios_are_medians_of_rounds_of_a_request_or_of_the_whole():
    def cost(arm, requests, cpu, wall):
        return Cost(arm=arm, requests=requests, prompt=0, computed=0, least=1, new=0, cpu=cpu,
                    wall=wall, cpu_in_all=0, wall_in_all=0, digest="")  # fmt: skip

    rounds = [
        [cost("raw", 100, 10.0, 20.0), cost("x", 50, cpu, wall)]
        for cpu, wall in ((10.0, 10.0), (5.0, 40.0), (2.5, 5.0))
    ]
    assert ratios(rounds) == {"raw": (1.0, 1.0), "x": (1.0, 1.0)}
    assert ratios(rounds, whole=True)["x"] == (2.0, 2.0)
    assert ratios([[cost("x", 1, 1.0, 1.0)]]) == {}


@pytest.mark.parametrize("case", OF_CASE)
def test_the_sweep_of_a_case_is_one_the_package_takes(case, tmp_path):
    file = tmp_path / "s.toml"
    file.write_text(sweep_text(case, [tmp_path], gpus=0, replications=3))
    assert read_sweep(file).ask[0].early_stop == (case == "sweep")
