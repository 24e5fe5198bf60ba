"""Advice where facets have a known number of levels: what is offered can be bought, and is told."""

import numpy as np
import polars as pl
import pytest

from judgerel_ray.analyses.advice.advice import advise_judgments
from judgerel_ray.analyses.advice.facets import Populations, group_sizes
from judgerel_ray.analyses.advice.plans import spread_judgments_over_facets
from judgerel_ray.core import SweepError

AIM = {"generalizability": 0.9}


def pairs(rng, *, questions=300, replications=4, pull=1.6, templates=1):
    """Verdicts of pairs in both orders, by a judge that is pulled to one place."""
    first = rng.choice([-pull, pull], questions)
    logits = rng.normal(0, 1.3, questions)[:, None] + first[:, None] * np.array([1, -1])
    shares = 1 / (1 + np.exp(-logits))[..., None, None]
    chosen = rng.random((questions, 2, templates, replications)) < shares
    q, o, t, r = (axis.ravel() for axis in np.indices(chosen.shape))
    return pl.DataFrame(
        {"item_id": q.astype(str), "option_order": o, "template": t.astype(str),
         "replication": r, "verdict": np.where(chosen.ravel(), "x", "y")}
    )  # fmt: skip


@pytest.fixture(scope="module")
def pulled():
    return pairs(np.random.default_rng(1))


def only(advice, lever="apart"):
    return advice.needs.filter(lever=lever).row(0, named=True)


@pytest.mark.slow
def test_a_pair_has_two_orders_and_what_is_offered_is_half_in_each(pulled):
    advice = advise_judgments(pulled.lazy(), target=AIM)
    found = only(advice)
    assert (found["facets"], found["levels"], found["levels_of"]) == ("option_order", [2], [2])
    assert found["needed_whole"] == 2 * np.ceil(found["needed"] / 2)
    assert found["needed_cautious"] % 2 == 0
    assert found["judgments"] == 300 * found["needed_whole"]
    same = only(advice, "replications")
    assert (same["unreachable"], same["error_of"]) == ("error_stays", "option_order")
    spread = advice.designs.filter(design="apart")
    assert spread["n_judgments"].to_list() == [1, 2, 4, 6, 12, 22, 52]
    assert spread["levels"].to_list() == [[1], *[[2]] * 6]
    # What is there: four judgments in each order.
    eight = 8 * found["now"] / (1 - found["now"])
    assert found["now"] / (1 - found["now"]) / 8 * found["needed"] == pytest.approx(9)
    assert eight > 0
    declared = Populations(sizes={"option_order": "unlimited"})
    before = only(advise_judgments(pulled.lazy(), target=AIM, populations=declared))
    assert before["unreachable"] == "questions_alike"


@pytest.mark.slow
def test_one_judgment_is_told_with_its_order_drawn_and_with_the_same_prompt_again(pulled):
    one = advise_judgments(pulled.lazy()).designs.filter(n_judgments=1)
    same = one.filter(design="replications").row(0, named=True)
    # The place decides: .13 across orders, .44 in one order, of many such questions.
    assert same["generalizability"] == pytest.approx(0.13, abs=0.05)
    assert same["repeatability"] == pytest.approx(0.44, abs=0.07)
    assert same["repeatability_low"] < same["repeatability"] < same["repeatability_high"]
    assert one.filter(design="apart")["repeatability"].to_list() == [None]
    plain = pulled.filter(option_order=0)
    [row] = advise_judgments(plain.lazy()).designs.filter(n_judgments=1).to_dicts()
    assert row["repeatability"] == pytest.approx(row["generalizability"])


@pytest.mark.slow
def test_templates_are_unlimited_or_as_many_as_declared():
    frame = pairs(np.random.default_rng(2), questions=100, replications=2, templates=3).lazy()
    unlimited = advise_judgments(frame, target=AIM)
    found = only(unlimited)
    assert found["facets"] == "template, option_order"
    assert found["levels"] == [found["needed_whole"], 2]
    assert (found["levels_of"], found["needed_whole"] % 2) == ([None, 2], 0)
    for size, of in (("fixed", 3), (3, 3), (8, 8)):
        declared = Populations(sizes={"template": size})
        found = only(advise_judgments(frame, target=AIM, populations=declared))
        assert found["levels_of"] == [of, 2]
        assert found["needed_whole"] % (2 * found["levels"][0]) == 0
        # Replications share the prompt of each order and template.
        assert found["judgments"] == 100 * found["needed_whole"]
    with pytest.raises(SweepError, match="template has 3 levels in these judgments") as error:
        advise_judgments(frame, populations=Populations(sizes={"template": 2}))
    assert "--facet-size template=3" in str(error.value)
    with pytest.raises(SweepError, match="expected one of template, option_order") as error:
        advise_judgments(frame, populations=Populations(sizes={"templat": 3}))
    assert "--facet-size template=3" in str(error.value)
    with pytest.raises(SweepError, match="a whole number from 1 on, fixed or unlimited"):
        advise_judgments(frame, populations=Populations(sizes={"template": 0}))


@pytest.mark.slow
def test_two_templates_of_many_give_no_interval_and_no_sure_number():
    frame = pairs(np.random.default_rng(3), questions=60, replications=2, templates=2).lazy()
    advice = advise_judgments(frame, target=AIM)
    assert set(advice.designs["no_interval"]) == {"too_few_levels"}
    assert set(advice.components["no_interval"]) == {"too_few_levels"}
    found = only(advice)
    assert (found["needed_cautious"], found["standing"]) == (None, "undecided")
    fixed = Populations(sizes={"template": "fixed"})
    known = advise_judgments(frame, target=AIM, populations=fixed)
    assert known.designs["no_interval"].null_count() == known.designs.height
    assert known.designs["low"].null_count() == 0


def test_orders_asked_once_each_are_told_apart_from_chance_by_nobody(pulled):
    once = pulled.filter(replication=0)
    advice = advise_judgments(once.lazy(), target=AIM)
    assert advice.needs["lever"].to_list() == ["apart"]
    [found] = advice.needs.to_dicts()
    if found["needed_whole"] is None:
        assert found["unreachable"] == "levels_asked_once"
    assert advice.designs["repeatability"].null_count() == advice.designs.height


def told(verdicts, orders, **columns):
    n = len(verdicts)
    rows = {"item_id": ["q", "r"] * (n // 2), "option_order": orders, "verdict": verdicts}
    return pl.DataFrame({**rows, **columns})


@pytest.mark.parametrize(
    ("rows", "known", "size"),
    [
        (told(["x", "y", "y", "x"], [0, 0, 1, 1]), {}, 2),
        (told(["x"] * 4, [0, 0, 1, 1]), {}, 2),  # always the same: still two orders at least
        (told(["x", "tie", "y", "x"], [0, 0, 1, 1]), {}, 2),
        (told(["x", "y", "z", "x"], [0, 0, 1, 1]), {}, None),  # names of each question's own
        (told(["x", "y", "z", "x"], [0, 0, 1, 1]), {"n_labels": 2}, 2),
        (told(["x", "y", "z", "x"], [0, 0, 1, 1]), {"n_labels": 5}, 120),
        (told(["x", "y", "z", "x"], [0, 0, 1, 1]), {"n_options": 3}, 6),
        (told(["x", "y", "y", "x"], [0, 1, 2, 3]), {"n_options": 2}, None),  # counted otherwise
        (told(["x", "y", "y", "x"], [0, 0, 1, 1]), {"n_options": 9}, None),
        (told([None] * 4, [0, 0, 1, 1]), {}, None),
    ],
)
def test_orders_are_known_where_options_are(rows, known, size):
    expected = {} if size is None else {"option_order": size}
    assert group_sizes(rows, ["option_order"], {}, **known) == expected


@pytest.mark.slow
def test_the_orders_of_a_run_are_each_questions_own_draw():
    """Two of six orders of three options, drawn for each question: questions show all there is."""
    rng = np.random.default_rng(4)
    places = rng.random((80, 2, 3)).argsort(axis=2)
    weights = np.exp(rng.normal(0, 1, (80, 1, 3)) + 0.8 * (places == 0))
    shares = weights / weights.sum(axis=2, keepdims=True)
    drawn = rng.multinomial(3, shares)
    rows = [
        (str(q), o, i, "xyz"[v])
        for q in range(80) for o in range(2)
        for i, v in enumerate(np.repeat(np.arange(3), drawn[q, o]))
    ]  # fmt: skip
    frame = pl.DataFrame(
        rows, schema=["item_id", "option_order", "replication", "verdict"], orient="row"
    )
    frame = frame.with_columns(benchmark=pl.lit("b")).lazy()
    own = Populations(n_options={"b": 3}, own_orders=True)
    advice = advise_judgments(frame, target=AIM, populations=own)
    assert advice.designs["no_interval"].null_count() == advice.designs.height
    spread = advice.designs.filter(design="apart")
    assert spread["n_judgments"].to_list() == [1, 2, 3, 5, 12, 24, 54]
    assert spread["levels"].to_list() == [[1], [2], [3], [5], [6], [6], [6]]
    assert set(spread["levels_of"].list.first()) == {6}
    shared = advise_judgments(frame, target=AIM, populations=Populations(n_options={"b": 3}))
    assert set(shared.designs["no_interval"]) == {"too_few_levels"}


def test_spreads_are_whole_multiples_of_their_levels():
    sizes = {"order": 6, "template": 4}
    for n in range(1, 60):
        one = spread_judgments_over_facets(n, ["order", "template", "judge"], sizes)
        prompts = one.levels["order"] * one.levels["template"]
        assert n <= one.n_judgments < 2 * n + 24
        assert one.n_judgments % prompts == 0
        assert one.levels["judge"] == one.n_judgments == one.n_prompts
    assert spread_judgments_over_facets(3, ["order"], {"order": 120}).levels == {"order": 3}
