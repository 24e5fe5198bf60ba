"""Probabilities that nobody gives or can read are refused where a sweep is planned, in one line."""

import asyncio
import json
from dataclasses import replace

import pytest

from judgerel_ray.asking.plan.planning import LongestAnswers, plan_resolved
from judgerel_ray.asking.plan.resolve import resolve
from judgerel_ray.config import as_exact
from judgerel_ray.core import RequestRefused, SweepError
from judgerel_ray.design import build_wave
from judgerel_ray.engines import make_engine

IDS = 'option_labels = "ids"'


def item(*texts, **ids):
    """One item: options that are their own ids, or texts by id."""
    pairs = {**{text: text for text in texts}, **ids}.items()
    options = [{"option_id": one, "text": text} for one, text in pairs]
    return json.dumps({"item_id": "q", "question": "So?", "options": options})


def confusion(sweep, *asks, items=(), **more):
    return sweep(asks=asks or ("",), items=list(items), protocol="confusion", **more)


def scored_texts_of(resolved):
    """What is scored of the one item, behind what."""
    frame = resolved.frames[0]
    (work,) = build_wave(frame, 1, frame.judges[0], LongestAnswers(tokens=3))
    return [ask.condition.scoring for ask in work.asks]


@pytest.mark.parametrize(
    ("protocol", "ask", "named"),
    [
        ("confusion", "", "protocol confusion"),
        ("best_of", 'mode = "exact"', "mode exact"),
        ("best_of", "verdict_logprobs = true", "verdict_logprobs"),
    ],
)
def test_a_judge_without_log_probabilities_is_refused(sweep, protocol, ask, named):
    silent = ("mute", "engine_options = { logprobs = false }")
    with pytest.raises(SweepError) as caught:
        sweep(judges=[("j", ""), silent], asks=[ask], protocol=protocol, items=[item("a", "b")])
    line = str(caught.value)
    assert f"{named} reads log-probabilities, the judge's engine gives none" in line
    assert "judge=mute" in line
    assert "\n" not in line
    # Left out, or asked for replies, it is welcome.
    others = f'{ask}\njudges = ["j"]'
    sweep(judges=[("j", ""), silent], asks=[others], protocol=protocol, items=[item("a", "b")])
    sampled = sweep(judges=[silent], items=[item("a", "b")])
    assert plan_resolved(sampled).requests == 5
    with pytest.raises(SweepError, match="mode exact reads log-probabilities"):
        resolve(as_exact(sampled.sweep))


def test_an_engine_without_them_refuses_for_good_and_is_not_asked_again(sweep):
    resolved = confusion(sweep, items=[item("a", "b")])
    frame = resolved.frames[0]
    (work,) = build_wave(frame, 1, frame.judges[0], LongestAnswers(tokens=3))
    spec = replace(resolved.specs["j"], engine_options={"logprobs": False})
    engine = make_engine(spec)
    with pytest.raises(RequestRefused, match=r"^no_logprobs: the engine gives no"):
        engine.prepare(work.asks[0].condition)
    (reply,) = build_wave(frame, 0, frame.judges[0], {})
    ask = reply.asks[0]
    (answer,) = asyncio.run(engine.complete(engine.prepare(ask.condition), ask))
    assert answer.text


def test_replies_are_drawn_only_where_lists_are_whole(sweep):
    open_ = 'mode = "exact"\ntop_k = {}\n[ask.exact]\ndraws = 8'
    with pytest.raises(SweepError, match=r"exact\.draws needs a top_k"):
        sweep(asks=[open_.format(0)], items=[item("a", "b")])
    assert sweep(asks=[open_.format(50)], items=[item("a", "b")]).frames[0].ask.exact.draws == 8


def test_one_option_confuses_nobody(sweep):
    with pytest.raises(SweepError, match="confusion needs at least 2 options, got 1"):
        confusion(sweep, items=[item("only")])


def test_options_of_one_text_are_refused_where_letters_would_hide_it(sweep):
    twice = item(first="Yes", second="No", third="Yes ")
    with pytest.raises(SweepError, match="'first' and 'third' both read 'Yes'"):
        confusion(sweep, items=[twice])
    named = confusion(sweep, IDS, items=[twice])
    assert scored_texts_of(named)[0].continuations == ("first", "second", "third")


@pytest.mark.parametrize("n", [2, 26, 27, 28])
def test_as_many_options_as_there_are_have_labels_that_can_be_told_apart(sweep, n):
    resolved = confusion(sweep, items=[item(*(f"option {k}" for k in range(n)))])
    scorings = scored_texts_of(resolved)
    assert len(scorings) == n
    texts = scorings[0].continuations
    assert len(set(texts)) == n
    assert not [one for one in texts for other in texts if one != other and other.startswith(one)]
    # From 27 options on A begins AA: every label is then scored with its end.
    assert texts[0] == ("A" if n <= 26 else "A]]")
    assert plan_resolved(resolved).requests == 1 + 2 * n


@pytest.mark.parametrize(
    ("labels", "scored"),
    [
        (["Yes", "Yes, mostly"], ("Yes]]", "Yes, mostly]]")),
        ([str(n) for n in range(1, 11)], tuple(f"{n}]]" for n in range(1, 11))),
        (["1", "2", "3", "4", "5"], ("1", "2", "3", "4", "5")),
        (["très bien", "médiocre", "是", "否"], ("très bien", "médiocre", "是", "否")),
        (["Could be Improved", "Bad"], ("Could be Improved", "Bad")),
    ],
)
@pytest.mark.parametrize("mode", ["columns", "paper", "single"])
def test_labels_of_any_wording(sweep, labels, scored, mode):
    resolved = confusion(sweep, f'{IDS}\nmode = "{mode}"', items=[item(*labels)])
    scorings = scored_texts_of(resolved)
    n = len(labels)
    assert len(scorings) == {"columns": n, "paper": n * n, "single": 1}[mode]
    if mode == "paper":
        assert {one.kind for one in scorings} == {"inserted"}
        assert [one.continuations for one in scorings] == [(text,) for text in scored] * n
    else:
        assert {one.continuations for one in scorings} == {scored}
    assert {one.start for one in scorings} == {"Best Response: [["}


@pytest.mark.parametrize("bad", ["a]]b", " Yes", "two\nlines"])
def test_ids_that_no_reply_could_name_are_refused(sweep, bad):
    with pytest.raises(SweepError, match="cannot be read back from a reply that names it"):
        confusion(sweep, IDS, items=[item(bad, "No")])
    assert scored_texts_of(confusion(sweep, items=[item(bad, "No")]))[0].continuations == ("A", "B")
