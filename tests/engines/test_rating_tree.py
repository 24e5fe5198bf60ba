"""Distributions of ratings: labels that begin one another, and labels of several tokens."""

import asyncio
import itertools
import json
import math
from functools import cache

import pytest

from judgerel_ray.core import Condition, Menu, Scoring
from judgerel_ray.engines.next_tokens import Explorer, NextTokens, explore
from judgerel_ray.engines.simulated.engine import tree_findings
from judgerel_ray.engines.simulated.options import SimulatedOptions
from judgerel_ray.engines.simulated.truth import option_log_weights, tempered
from judgerel_ray.protocols import load_scale, read_verdict, scale_labels, score_of

START = "Rating: [["
END = 0
MOST = 4
WORDS = {
    "points10": ("", START, "1", "0", "7", "]]", "."),
    "likert5": ("", START, "Strongly", " Agree", "Agree", "]]", " Dis", "agree"),
}


def menu_on(name):
    scale = load_scale(name)
    labels = scale_labels(scale)
    return Menu(labels=labels, option_ids=labels, form="rating", scale=scale)


def shares_after(before, words):
    """Some way on from anywhere, mostly towards a rating between brackets."""
    last = before[-1] if before else 0
    weights = [1 + (3 * last + 5 * token) % 4 for token in range(len(words))]
    if not before:
        weights[1] += 20
    elif words[last] == START:
        weights[2] += 12
    elif words[last] != "":
        weights[3] += 10
        weights[5] += 15
    return [weight / sum(weights) for weight in weights]


def explorer(words, start=""):
    said = (1,) if start else ()

    async def look(before, n):
        assert n > len(words)
        return NextTokens(
            tuple(range(len(words))), tuple(map(math.log, shares_after((*said, *before), words)))
        )

    async def go_on(*asked):
        raise AssertionError(asked)  # nothing is to be drawn

    return Explorer(
        look=look,
        go_on=go_on,
        text_of=lambda tokens: "".join(words[token] for token in tokens),
        end_tokens=frozenset({END}),
        n_vocabulary=len(words),
    )


def condition(name, **changes):
    told = {"temperatures": (1.0, 0.5, 0.0), "undecided": 1e-9, "passes": 100_000, **changes}
    return Condition(
        condition_key="0" * 32, seed_base=7, judge="j", judge_fingerprint="f", benchmark="b",
        item_id="i", protocol="rating", stage="exact", role="scorer", prompt=(), scale=name,
        template="default", temperature=1.0, top_k=50, top_p=1.0, max_tokens=MOST,
        menu=menu_on(name), responder="x", criterion="c", definition="none",
        scoring=Scoring(kind="tree", **told),
    )  # fmt: skip


@cache
def found(name, start=""):
    return json.loads(
        asyncio.run(explore(condition(name, start=start), explorer(WORDS[name], start)))
    )


def brute_force(name, temperature, start=""):
    """Every reply, its probability and how it is read; of a forced form up to its first bracket."""
    words, menu, said = WORDS[name], menu_on(name), (1,) if start else ()
    totals = dict.fromkeys((*menu.labels, None), 0.0)

    def walk(before, mass):
        text = "".join(words[token] for token in before)
        if (before and before[-1] == END) or len(before) == MOST:
            reason = "stop" if before[-1] == END else "length"
            if start and "[" in text.partition("]")[0]:
                totals[None] += mass
                return
            if start and "]" in text:
                text, reason = f"{start}{text.partition(']')[0]}]]", "stop"
            elif start:
                text = start + text
            totals[read_verdict(text, finish_reason=reason, menu=menu).label] += mass
            return
        powers = [share ** (1 / temperature) for share in shares_after((*said, *before), words)]
        for token, power in enumerate(powers):
            walk((*before, token), mass * power / sum(powers))

    walk((), 1.0)
    return totals


@pytest.mark.alike(2)
@pytest.mark.parametrize(("name", "start"), list(itertools.product(WORDS, ("", START))))
def test_bounds_close_on_what_enumeration_gives(name, start):
    told = found(name, start)
    assert told["verdicts"] == [*menu_on(name).labels, None]
    for t, temperature in enumerate((1.0, 0.5)):
        true = brute_force(name, temperature, start)
        assert sum(true.values()) == pytest.approx(1)
        several = [one for one, share in true.items() if one is not None and share > 1e-3]
        assert len(several) >= 2
        for v, label in enumerate(told["verdicts"]):
            assert told["low"][t][v] - 1e-6 <= true[label] <= told["high"][t][v] + 1e-6
    assert max(told["undecided"]) < 1e-6


def test_one_and_ten_share_their_first_token():
    true = brute_force("points10", 1.0, START)
    low = dict(
        zip(found("points10", START)["verdicts"], found("points10", START)["low"][0], strict=True)
    )
    assert low["1"] == pytest.approx(true["1"])
    assert low["10"] == pytest.approx(true["10"])
    assert min(low["1"], low["10"]) > 0.01


def test_few_passes_leave_open_and_never_contradict():
    whole = found("points10")
    part = json.loads(
        asyncio.run(explore(condition("points10", passes=4), explorer(WORDS["points10"])))
    )
    assert part["undecided"][0] > 0.05
    for t, v in itertools.product(range(3), range(11)):
        assert part["low"][t][v] <= whole["low"][t][v] + 1e-9
        assert part["high"][t][v] >= whole["high"][t][v] - 1e-9


def test_a_simulated_judge_gives_the_law_of_the_response_and_the_criterion():
    options = SimulatedOptions(noise=0.2, unparsed=0.25)
    told = condition("points5")
    laws = {}
    for responder in ("x", "y"):
        asked = Condition(**{**{name: getattr(told, name) for name in told.__slots__},
                             "responder": responder})  # fmt: skip
        low = json.loads(tree_findings("latent", options, asked))["low"]
        weights = option_log_weights(
            "latent", options, item_id=f"i:{responder}:c", menu=menu_on("points5")
        )
        for t, temperature in enumerate((1.0, 0.5)):
            expected = [0.75 * share for share in tempered(weights, temperature)]
            assert low[t] == pytest.approx([*expected, 0.25])
        laws[responder] = sum(
            share * score_of(label, load_scale("points5"))
            for share, label in zip(low[0], menu_on("points5").labels, strict=False)
        )
    assert laws["x"] != pytest.approx(laws["y"])
