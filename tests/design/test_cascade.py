"""A cascade: who is asked next about what, given what those before said."""

import pytest

from judgerel_ray.config import ask_table
from judgerel_ray.core import Item, Option, SweepError, request_key
from judgerel_ray.design import AskFrame, CutText, Voice, build_wave, check_asks, count_stages
from judgerel_ray.protocols import load_template

SMALL, LARGE = (Voice(name=name, fingerprint=f"print-{name}") for name in ("small", "large"))
SELECTED = "Option: 1\nJustification: x\n\nOption: 2\nJustification: y"


def item(name="q", *, benchmark="b"):
    options = tuple(Option(option_id=str(n), text=f"choice {n}") for n in range(4))
    return Item(item_id=name, benchmark=benchmark, category="c", question="Which?", options=options)


def cascade(*, index=0, items=None, templates=("default",), **keys):
    asked = {"temperatures": (1.0, 0.0), "replications": 3, "repeat_greedy": 2, "cascade": 0.8}
    wanted = {**asked, **keys}
    ask = ask_table(
        protocol="think_twice", benchmark="b", path="p", responders=("small", "large"), **wanted
    )
    return AskFrame(
        index=index, ask=ask, items=items or (item(), item("r")), judges=(),
        templates=tuple(load_template("think_twice", name) for name in templates),
        responders=(SMALL, LARGE),
    )  # fmt: skip


def asked_of_both(made, chosen):
    """How often each model selects, where the first one's choices all read `chosen`."""
    texts, n_selected = {}, []
    for wave in range(made.n_waves):
        voice = (SMALL, LARGE)[wave // 2]
        said = SELECTED if wave % 2 == 0 else chosen
        asks = [ask for work in build_wave(made, wave, voice, texts) for ask in work.asks]
        for ask in asks:
            for r in ask.replications:
                texts[request_key(ask.condition.condition_key, r)] = said
        if wave % 2 == 0:
            n_selected.append(sum(ask.n for ask in asks))
    return n_selected


@pytest.mark.parametrize(
    ("chosen", "passed_on"),
    [
        ("Final Answer: 1\nReason: z\nConfidence: 0.8", 0),
        ("Final Answer: 1\nReason: z\nConfidence: 0.79", 10),
        ("Final Answer: 1\nReason: z", 10),
        ("Final Answer: 3\nConfidence: 0.9", 10),  # not among those it selected
        ("I cannot answer.", 10),
        (None, 10),
        # Cut there, it may be 0.9 or 0.905, and no row of it has a confidence.
        (CutText("Final Answer: 1\nReason: z\nConfidence: 0.9"), 10),
        (CutText("Final Answer: 1\nReason: z\nConfidence: 0.9\nAnd"), 0),
    ],
)
def test_a_question_goes_on_where_its_row_is_not_sure_enough(chosen, passed_on):
    assert asked_of_both(cascade(), chosen) == [10, passed_on]


def test_the_confidence_is_that_of_the_answer_that_counts():
    changed = "Final Answer: 1\nConfidence: 0.9\nNo.\nFinal Answer: 2\nConfidence: 0.3"
    assert asked_of_both(cascade(), changed) == [10, 0]
    assert asked_of_both(cascade(reader="last"), changed) == [10, 10]


def test_the_plan_counts_the_first_model_and_the_others_at_most():
    counts = {(one.judge, one.stage): one for one in count_stages([cascade()])}
    for stage in ("select", "choose"):
        first, later = counts["small", stage], counts["large", stage]
        assert (first.requests, first.requests_at_most) == (10, 10)
        assert (later.requests, later.requests_at_most) == (0, 10)


def test_a_cascade_has_its_benchmark_to_itself():
    other = cascade(index=1, items=(item("s"),), cascade=0.5)
    with pytest.raises(SweepError, match=r"ask\[0\] and ask\[1\] think twice about one benchmark"):
        check_asks([cascade(), other])
    check_asks([cascade(), cascade(index=1, items=(item("s", benchmark="c"),))])
