import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.core import Ask, Condition, Menu, RequestRefused, Scale
from judgerel_ray.engines import EngineSpec
from judgerel_ray.engines.simulated.options import SimulatedOptions
from judgerel_ray.engines.simulated.replies import draw_replies
from judgerel_ray.engines.simulated.truth import (
    latent_score,
    option_log_weights,
    reasoned,
    tempered,
    uniforms,
)
from judgerel_ray.protocols.replies.verdicts import read_rating
from tests.truth import true_distribution

MENU = Menu(labels=("A", "B", "C"), option_ids=("x", "y", "z"), form="best_response")
TURNED = Menu(labels=("A", "B", "C"), option_ids=("z", "x", "y"), form="best_response")


def by_option(spec, menu, item_id="q1", temperature=1.0):
    shares = true_distribution(spec, item_id=item_id, menu=menu, temperature=temperature)
    return dict(zip(menu.option_ids, shares, strict=True))


@given(
    model=st.sampled_from(["uniform", "always", "dirichlet", "position", "latent"]),
    temperature=st.sampled_from([0.0, 0.01, 0.25, 1.0, 2.0]),
    seed=st.integers(0, 1000),
    concentration=st.floats(0.001, 1000),
)
def test_every_distribution_sums_to_one(model, temperature, seed, concentration):
    options = {"seed": seed, "concentration": concentration}
    spec = EngineSpec(name="j", engine="simulated", model=model, engine_options=options)
    shares = true_distribution(spec, item_id="q", menu=MENU, temperature=temperature)
    assert sum(shares) == pytest.approx(1)
    assert min(shares) >= 0


@pytest.mark.parametrize("model", ["uniform", "dirichlet"])
def test_the_order_shown_moves_no_options_share(simulated, model):
    spec = simulated(model)
    assert by_option(spec, MENU) == pytest.approx(by_option(spec, TURNED))


def test_a_place_moves_the_options_shares_under_position_bias(simulated):
    spec = simulated("position", position_bias=[3.0], quality_sd=0.1)
    first, turned = by_option(spec, MENU), by_option(spec, TURNED)
    assert first["x"] > 0.8
    assert turned["z"] > 0.8
    fair = simulated("position", position_bias=[0.0], quality_sd=0.0)
    assert by_option(fair, MENU) == pytest.approx({"x": 1 / 3, "y": 1 / 3, "z": 1 / 3})


def test_position_shares_are_a_softmax_by_hand(simulated):
    spec = simulated("position", position_bias=[math.log(2)], quality_sd=0.0)
    # weights 2 : 1 : 1
    assert by_option(spec, MENU) == pytest.approx({"x": 0.5, "y": 0.25, "z": 0.25})


@pytest.mark.slow
def test_dirichlet_items_have_the_stated_agreement(simulated):
    # E sum p^2 = sum pi (s pi + 1) / (s + 1); with even pi over 3 and s = 2 that is 5/9.
    spec = simulated("dirichlet", concentration=2.0)
    squares = [
        sum(p * p for p in true_distribution(spec, item_id=f"q{i}", menu=MENU)) for i in range(4000)
    ]
    assert sum(squares) / len(squares) == pytest.approx(5 / 9, abs=0.01)


@pytest.mark.slow
def test_dirichlet_follows_its_base(simulated):
    spec = simulated("dirichlet", concentration=5.0, base={"x": 6, "y": 3, "z": 1})
    shares = [by_option(spec, MENU, item_id=f"q{i}") for i in range(3000)]
    for option, share in {"x": 0.6, "y": 0.3, "z": 0.1}.items():
        assert sum(s[option] for s in shares) / len(shares) == pytest.approx(share, abs=0.02)


def test_items_and_seeds_have_truths_of_their_own(simulated):
    one = by_option(simulated("dirichlet"), MENU)
    assert one != by_option(simulated("dirichlet"), MENU, item_id="q2")
    assert one != by_option(simulated("dirichlet", seed=1), MENU)


def test_greedy_takes_the_likeliest_and_of_several_the_first(simulated):
    assert true_distribution(simulated("uniform"), item_id="q", menu=TURNED, temperature=0.0) == (
        1.0,
        0.0,
        0.0,
    )
    assert tempered((0.0, 2.0, 2.0), 0.0) == (0.0, 1.0, 0.0)


def test_a_temperature_raises_shares_to_its_inverse():
    assert tempered((math.log(0.2), math.log(0.8)), 0.5) == pytest.approx(
        (0.04 / 0.68, 0.64 / 0.68)
    )


def test_always_names_a_label_of_the_menu(simulated):
    assert by_option(simulated("always"), TURNED) == {"z": 1.0, "x": 0.0, "y": 0.0}
    assert by_option(simulated("always", label="C"), TURNED) == {"z": 0.0, "x": 0.0, "y": 1.0}
    with pytest.raises(RequestRefused, match="label 'D' is not on the menu"):
        by_option(simulated("always", label="D"), MENU)


def test_a_base_without_an_option_is_refused(simulated):
    with pytest.raises(RequestRefused, match="no weight for option 'z'"):
        by_option(simulated("dirichlet", base={"x": 1, "y": 1}), MENU)


def test_uniforms_are_spread_and_apart():
    draws = [uniforms(str(i)) for i in range(2000)]
    for column in zip(*draws, strict=True):
        assert min(column) >= 0
        assert max(column) < 1
        assert sum(column) / 2000 == pytest.approx(0.5, abs=0.03)
    both = sum(a * b for a, b, _ in draws) / 2000
    assert both == pytest.approx(0.25, abs=0.03)


@pytest.mark.parametrize("noise", [0.02, 0.1, 0.5])
@pytest.mark.parametrize("n", [2, 5, 10])
def test_a_latent_judge_rounds_one_opinion_to_every_scale(noise, n):
    options = SimulatedOptions(noise=noise)
    menu = Menu(labels=tuple(map(str, range(n))), option_ids=tuple(map(str, range(n))), form="x")
    for thing in ("a", "b", "c"):
        weights = option_log_weights("latent", options, item_id=thing, menu=menu)
        shares = np.exp(weights)
        assert shares.sum() == pytest.approx(1.0)
        # Its replies, drawn and rounded by hand.
        draws = latent_score(options, thing) + noise * np.random.default_rng(3).normal(size=200_000)
        counted = np.bincount(np.clip((draws * n).astype(int), 0, n - 1), minlength=n) / draws.size
        assert shares == pytest.approx(counted, abs=5e-3)


def test_a_latent_judge_without_noise_gives_the_part_its_opinion_lies_in():
    options = SimulatedOptions(noise=0.0)
    menu = Menu(labels=tuple("12345"), option_ids=tuple("12345"), form="x")
    for thing in map(str, range(20)):
        weights = option_log_weights("latent", options, item_id=thing, menu=menu)
        assert weights.index(0.0) == int(latent_score(options, thing) * 5)


@pytest.mark.parametrize("model", ["latent", "uniform", "always", "dirichlet", "position"])
@pytest.mark.parametrize(("low", "high"), [(0, 10), (0, 1), (-2.5, 7)])
def test_every_simulated_judge_answers_on_a_scale_of_decimals(model, low, high):
    scale = Scale(name="s", level="interval", lowest=low, highest=high, decimals=True)
    menu = Menu(labels=(), option_ids=(), form="rating", scale=scale)
    condition = Condition(
        condition_key="0" * 32, seed_base=7, judge="j", judge_fingerprint="f", benchmark="b",
        item_id="i", protocol="rating", stage="judge", role="judge", prompt=(), template="default",
        temperature=1.0, top_k=50, top_p=1.0, max_tokens=8, menu=menu)  # fmt: skip
    replies = draw_replies(model, SimulatedOptions(), Ask(condition=condition, first=0, n=50))
    read = [read_rating(text, finish_reason="stop", menu=menu) for text in replies]
    assert {one.outcome.value for one in read} == {"scored"}
    assert all(low <= one.score <= high for one in read)
    spec = EngineSpec(name="j", engine="simulated", model=model)
    assert sum(true_distribution(spec, item_id="i", menu=menu)) == pytest.approx(1)


def test_reasoning_scatters_about_the_judges_distribution(make_condition):
    condition, shares = make_condition(), (0.5, 0.3, 0.2)
    assert reasoned(shares, SimulatedOptions(), condition, 0) == shares
    scattered = [
        reasoned(shares, SimulatedOptions(reasoning=5.0), condition, replication)
        for replication in range(2000)
    ]
    assert np.mean(scattered, axis=0) == pytest.approx(shares, abs=0.02)
    # Of Dirichlet(5 p): p (1 - p) / 6.
    assert np.var(scattered, axis=0) == pytest.approx([0.25 / 6, 0.21 / 6, 0.16 / 6], abs=0.005)
