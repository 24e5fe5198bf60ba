"""Confusion in two waves: what is asked, of what, and what is never sent."""

import pytest

from judgerel_ray.core import request_key
from judgerel_ray.design import build_wave

MODES = {"columns": 3, "paper": 9, "single": 1}


def written(frame, text_of):
    """The first wave's asks, and what the judge wrote for each option argued."""
    (work,) = build_wave(frame, 0, frame.judges[0], {})
    texts = {
        request_key(ask.condition.condition_key, 0): text_of(ask.condition.argued)
        for ask in work.asks
    }
    return work.asks, texts


def second(frame, texts):
    (work,) = build_wave(frame, 1, frame.judges[0], texts)
    return work


@pytest.mark.parametrize("mode", MODES)
def test_a_matrix_is_a_verdict_an_assessment_an_option_and_its_passes(make, mode):
    frame = make.frame([make.item("q")], protocol="confusion", mode=mode)
    asks, texts = written(frame, lambda argued: f"since {argued}")
    assert [ask.condition.stage for ask in asks] == ["verdict", *["assessment"] * 3]
    assert [ask.condition.argued for ask in asks] == [None, *"abc"]
    work = second(frame, texts)
    assert (len(work.asks), work.impossible) == (MODES[mode], ())
    assert len({ask.condition.condition_key for ask in work.asks}) == MODES[mode]
    assessments = [request_key(ask.condition.condition_key, 0) for ask in asks[1:]]
    for n, ask in enumerate(work.asks):
        one = ask.condition
        if mode == "single":
            assert (one.argued, one.parents) == (None, tuple(assessments))
            assert all(f"since {argued}" in one.prompt[0].content for argued in "abc")
            continue
        place = n if mode == "columns" else n // 3
        assert (one.argued, one.parents) == ("abc"[place], (assessments[place],))
        # The assessment stands as the judge's own turn.
        assert [message.role for message in one.prompt] == ["user", "assistant", "user"]
        assert one.prompt[1].content == f"since {'abc'[place]}"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("text", "outcome"),
    [("", "unparsed"), ("I cannot argue for this.", "refused"), (None, "failed")],
)
def test_an_assessment_that_is_none_is_told_and_never_sent(make, mode, text, outcome):
    frame = make.frame([make.item("q")], protocol="confusion", mode=mode)
    _, texts = written(frame, lambda argued: text if argued == "b" else f"since {argued}")
    work = second(frame, texts)
    n_lost = {"columns": 1, "paper": 3, "single": 1}[mode]
    assert len(work.impossible) == n_lost
    assert len(work.asks) == MODES[mode] - n_lost
    assert {why for _, why in work.impossible} == {f"no assessment for b: {outcome}"}
    assert {ask.condition.argued for ask, _ in work.impossible} == {
        None if mode == "single" else "b"
    }


@pytest.mark.parametrize("mode", MODES)
def test_nothing_is_read_before_every_assessment_has_landed(make, mode):
    frame = make.frame([make.item("q")], protocol="confusion", mode=mode, temperatures=(0.0, 1.0))
    _, texts = written(frame, lambda argued: f"since {argued}")
    assert len(second(frame, texts).asks) == 2 * MODES[mode]
    texts.pop(next(reversed(texts)))  # the last assessment at the second temperature
    work = second(frame, texts)
    assert (len(work.asks), work.impossible) == (MODES[mode], ())
    assert {ask.condition.temperature for ask in work.asks} == {0.0}


def test_equal_words_for_two_options_are_two_columns(make):
    # Greedy judges write the same for options that they hold for one.
    frame = make.frame([make.item("q")], protocol="confusion")
    _, texts = written(frame, lambda _argued: "all the same")
    keys = {ask.condition.condition_key for ask in second(frame, texts).asks}
    assert len(keys) == 3
