import asyncio
import itertools
import json
import math

import pytest

from judgerel_ray.core import Condition, Menu, RequestRefused, Scoring
from judgerel_ray.engines.next_tokens import Explorer, NextTokens, Sampled, explore, verdict_of

WORDS = ("", "Best Response: [[", "A", "B", "]]", " so", "C")
END = 0
MENU = Menu(labels=("A", "B"), option_ids=("x", "y"), form="best_response")
FORCED = "Best Response: [["


def logprobs_after(before):
    """A little language: some way to the verdict from anywhere, different after every token."""
    weights = [
        1 + (3 * (before[-1] if before else 0) + 7 * token) % 5 for token in range(len(WORDS))
    ]
    if before[-1:] == (1,):
        weights[2] += 12
    if before[-1:] in ((2,), (3,)):
        weights[4] += 20
    total = sum(weights)
    return [math.log(weight / total) for weight in weights]


def explorer(asked=None):
    async def look(before, n):
        if asked is not None:
            asked.append(before)
        assert n == 58
        return NextTokens(tuple(range(len(WORDS))), tuple(logprobs_after(before)))

    async def go_on(before, temperature, seed, most):
        assert (most >= 1, len(before) + most) == (True, 4)
        assert (temperature, seed > 0) == (1.0, True)
        return Sampled(" so" * most, "length")

    return Explorer(
        look=look,
        go_on=go_on,
        text_of=lambda tokens: "".join(WORDS[token] for token in tokens),
        end_tokens=frozenset({END}),
        n_vocabulary=len(WORDS),
    )


def condition(**changes):
    scoring = {"temperatures": (1.0, 0.5, 0.0), "undecided": 1e-9, "passes": 10_000, **changes}
    return Condition(
        condition_key="0" * 32, seed_base=7, judge="j", judge_fingerprint="f", benchmark="b",
        item_id="i", protocol="best_of", stage="exact", role="scorer", prompt=(),
        template="default", temperature=1.0, top_k=50, top_p=1.0, max_tokens=4, menu=MENU,
        scoring=Scoring(kind="tree", **scoring),
    )  # fmt: skip


def found(**changes):
    return json.loads(asyncio.run(explore(condition(**changes), explorer())))


def brute_force(temperature):
    """Every reply of up to four tokens, its probability and its verdict."""
    totals = [0.0, 0.0, 0.0]

    def walk(before, mass):
        text = "".join(WORDS[token] for token in before)
        ended = bool(before) and (before[-1] == END or len(before) == 4)
        if ended:
            place = {"A": 0, "B": 1}.get(_first(text), 2)
            totals[place] += mass
            return
        logs = [value / temperature for value in logprobs_after(before)]
        top = max(logs)
        weights = [math.exp(value - top) for value in logs]
        for token, weight in enumerate(weights):
            walk((*before, token), mass * weight / sum(weights))

    walk((), 1.0)
    return totals


def _first(text):
    head, mark, rest = text.partition(FORCED)
    del head
    if not mark:
        return None
    label, close, _ = rest.partition("]]")
    if close:
        return label if label in ("A", "B") else None
    return None


def test_bounds_close_on_what_enumeration_gives():
    whole = found()
    assert whole["verdicts"] == ["x", "y", None]
    for t, temperature in enumerate((1.0, 0.5)):
        true = brute_force(temperature)
        assert sum(true) == pytest.approx(1)
        for v in range(2):
            # Cut replies may be read without their brackets; those are bounded apart below.
            assert whole["low"][t][v] >= true[v] - 1e-9
    assert max(whole["undecided"]) < 1e-6
    assert sum(whole["low"][2]) == pytest.approx(1)


def test_fewer_passes_leave_more_open_and_never_contradict():
    whole = found()
    for passes in (1, 3, 10):
        part = found(passes=passes)
        assert part["passes"] == passes
        for t, v in itertools.product(range(3), range(3)):
            assert part["low"][t][v] <= whole["low"][t][v] + 1e-9
            assert part["high"][t][v] >= whole["high"][t][v] - 1e-9
    assert found(passes=1)["undecided"][0] > found(passes=10)["undecided"][0]


def test_a_forced_form_takes_one_pass():
    asked = []
    told = condition(start=FORCED)
    result = json.loads(asyncio.run(explore(told, explorer(asked))))
    # Nothing that may begin a label stays open but the empty end and blanks.
    assert asked[0] == ()
    assert result["low"][0][0] > 0


def test_what_stays_open_may_be_drawn():
    part = found(passes=4, draws=16, temperatures=(1.0,))
    assert sum(part["estimate"][0]) == pytest.approx(1)
    # All that was drawn went on without a verdict.
    assert part["estimate"][0][2] > part["low"][0][2]


@pytest.mark.parametrize(
    ("text", "ended", "verdict"),
    [
        ("", False, None),
        ("A", False, 0),
        ("A]]", False, 0),
        ("C", False, -1),
        ("Apple", False, -1),
        ("", True, -1),
        (" B", False, 1),
    ],
)
def test_a_verdict_behind_a_forced_form(text, ended, verdict):
    reason = "stop" if ended else None
    assert verdict_of(text, menu=MENU, start=FORCED, finish_reason=reason) == verdict


@pytest.mark.parametrize(
    ("text", "verdict"), [("1", None), ("10", 1), ("1]", 0), ("11", -1), ("2", -1)]
)
def test_a_label_that_begins_another_stays_open(text, verdict):
    menu = Menu(labels=("1", "10"), option_ids=("x", "y"), form="best_response")
    assert verdict_of(text, menu=menu, start=FORCED, finish_reason=None) == verdict


def test_more_tokens_than_an_engine_lists_are_refused():
    from dataclasses import replace

    with pytest.raises(RequestRefused, match="top_k must be 0 or at most 56, got 57"):
        asyncio.run(explore(replace(condition(), top_k=57), explorer()))


def test_draws_from_what_no_list_holds_are_refused_and_others_are_not():
    from dataclasses import replace

    told = replace(condition(draws=4), top_k=0)
    wide = replace(explorer(), n_vocabulary=32_000)
    with pytest.raises(RequestRefused, match="draws need top_k from 1 to 56, got 0"):
        asyncio.run(explore(told, wide))
    found = json.loads(
        asyncio.run(explore(condition(draws=4, passes=3, temperatures=(1.0,)), explorer()))
    )
    assert found["estimate"] is not None


def test_a_label_whose_bytes_have_not_all_come_stays_open():
    menu = Menu(labels=("\u662f", "\u5426"), option_ids=("x", "y"), form="best_response")
    read = {
        text: verdict_of(text, menu=menu, start=FORCED, finish_reason=None)
        for text in ("\ufffd", "\u662f", "\u5426]]", "?\ufffd")
    }
    assert read == {"\ufffd": None, "\u662f": 0, "\u5426]]": 1, "?\ufffd": -1}
    assert verdict_of("\ufffd", menu=menu, start=FORCED, finish_reason="stop") == -1
    # No letter begins with such bytes.
    assert verdict_of("\ufffd", menu=MENU, start=FORCED, finish_reason=None) == -1
