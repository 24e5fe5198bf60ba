"""Ratings: what is crossed, what it says, and what would be asked twice."""

from dataclasses import replace

import pytest

from judgerel_ray.core import SweepError
from judgerel_ray.design import build_wave, check_asks, count_stages
from judgerel_ray.protocols import load_criterion, scale_labels

KEYS = {
    "protocol": "rating",
    "criteria": ("helpfulness", "conciseness"),
    "definitions": ("none", "short", "long"),
    "scales": ("points5", "points10", "likert5", "binary"),
    "templates": ("default", "paraphrase", "terse"),
    "temperatures": (1.0, 0.0),
    "replications": 5,
}


def check(made):
    made.protocol.check(made)


def conditions(frame):
    works = build_wave(frame, 0, frame.judges[0], {})
    return [(ask.condition, ask.n) for work in works for ask in work.asks]


def test_every_response_is_rated_in_every_way(make):
    frame = make.frame([make.item("q", options="xy")], **KEYS)
    found = conditions(frame)
    assert len(found) == 2 * 2 * 3 * 4 * 3 * 2
    facets = {
        (c.responder, c.criterion, c.definition, c.scale, c.template, c.temperature)
        for c, _ in found
    }
    assert len(facets) == len(found)
    assert len({c.condition_key for c, _ in found}) == len(found)
    assert {n for c, n in found if c.temperature == 0.0} == {1}
    assert {n for c, n in found if c.temperature == 1.0} == {5}
    assert {(c.protocol, c.stage, c.role) for c, _ in found} == {("rating", "judge", "judge")}


def test_prompts_hold_the_response_the_criterion_and_the_scale(make):
    frame = make.frame([make.item("q", options="xy")], **KEYS)
    for condition, _ in conditions(frame):
        text = condition.prompt[0].content
        criterion = load_criterion(condition.criterion)
        assert f"{condition.responder} on q" in text
        assert criterion.question in text
        told = criterion.definitions[condition.definition]
        assert told in text
        if condition.definition == "none":
            assert criterion.definitions["short"] not in text
        assert condition.menu.scale.name == condition.scale
        ends = {"points5": "5", "points10": "10", "likert5": "Strongly Agree", "binary": "Yes"}
        assert ends[condition.scale] in text


def test_criteria_that_put_one_question_are_told_apart_where_they_are_named(make):
    """The same words asked under two names would be asked once and counted twice."""
    one = load_criterion("helpfulness")
    criteria = (one, replace(one, name="use"))
    keys = {**KEYS, "definitions": ("none",)}
    frame = make.frame([make.item("q", options="xy")], **keys)
    with pytest.raises(SweepError, match="helpfulness / none / points5 / default and use / none"):
        check(replace(frame, criteria=criteria))
    frame = make.frame([make.item("q", options="xy")], **{**keys, "templates": ("lee2025",)})
    named = replace(frame, criteria=criteria)
    check(named)
    prompts = [condition.prompt for condition, _ in conditions(named)]
    assert len(set(prompts)) == 2 * 2 * 4
    assert all(condition.menu.form == "score" for condition, _ in conditions(named))
    alike = (replace(one, name="ease_of_use"), replace(one, name="ease of use"))
    with pytest.raises(SweepError, match="put the same words"):
        check(replace(frame, criteria=alike))


def test_a_responders_answers_are_rated_once_they_are_there(make):
    frame = make.frame([make.item("q", options="")], responders="uv", **KEYS)
    assert frame.judging_wave == 1
    (early,) = build_wave(frame, 1, frame.judges[0], {})
    assert (early.asks, early.impossible) == ((), ())
    asked = [ask for one in make.play([frame])[0] for ask in one.work.asks if one.wave == 1]
    assert len(asked) == 2 * 2 * 3 * 4 * 3 * 2
    assert sum(ask.n for ask in asked) == 2 * 2 * 3 * 4 * 3 * (5 + 1)
    assert all(len(ask.condition.parents) == 1 for ask in asked)


def test_two_criteria_of_the_same_words_are_refused(make):
    frame = make.frame([make.item("q")], **KEYS)
    twin = replace(frame.criteria[0], name="twin")
    with pytest.raises(SweepError, match=r"helpfulness / none .* twin / none .* the same words"):
        check(replace(frame, criteria=(frame.criteria[0], twin)))
    with pytest.raises(SweepError, match="criteria must differ in name"):
        check(replace(frame, criteria=(frame.criteria[0], frame.criteria[0])))
    scale = replace(frame.scales[0], name="other")
    with pytest.raises(SweepError, match=r"points5 .* other .* the same words"):
        check(replace(frame, scales=(frame.scales[0], scale)))
    check(frame)


def test_asks_that_rate_the_same_are_refused_and_those_on_other_scales_are_not(make):
    items = [make.item("q")]
    one = make.frame(items, index=0, **{**KEYS, "scales": ("points5",)})
    two = make.frame(items, index=1, **{**KEYS, "scales": ("points10",)})
    check_asks([one, two])
    with pytest.raises(SweepError, match="ask the same of judge j"):
        check_asks([one, replace(one, index=1)])
    more = make.frame(items, index=1, **{**KEYS, "scales": ("points5",), "max_tokens": 9})
    with pytest.raises(SweepError, match="differ only in max_tokens"):
        check_asks([one, more])
    # A criterion of one name and other words: rows would not tell them apart.
    other = replace(one, index=1, criteria=(replace(one.criteria[0], question="Is it so?"),))
    with pytest.raises(SweepError, match="differ only in criteria"):
        check_asks([one, other])


def test_mode_exact_asks_every_prompt_once_for_all_temperatures(make):
    keys = {name: value for name, value in KEYS.items() if name != "replications"}
    for forced in (False, True):
        asked = make.frame(
            [make.item("q", options="xy")], mode="exact", exact={"forced": forced}, **keys
        )
        found = conditions(asked)
        assert len(found) == len({c.condition_key for c, _ in found}) == 2 * 2 * 3 * 4 * 3
        assert {n for _, n in found} == {1}
        assert sum(one.requests for one in count_stages([asked])) == len(found)
        for condition, _ in found:
            assert (condition.stage, condition.role) == ("exact", "scorer")
            assert condition.scoring.temperatures == (1.0, 0.0)
            assert condition.scoring.start == ("Rating: [[" if forced else "")
            assert condition.menu.labels == scale_labels(condition.menu.scale)


def test_exact_asks_that_no_column_tells_apart_are_refused(make):
    keys = {name: value for name, value in KEYS.items() if name != "replications"}
    keys |= {"mode": "exact", "scales": ("points5",)}
    one = make.frame([make.item("q")], index=0, **keys)
    check_asks([one, make.frame([make.item("q")], index=1, **{**keys, "scales": ("binary",)})])
    # What is computed of a prompt may be drawn of it, too.
    drawn = make.frame([make.item("q")], index=1, **{**keys, "mode": "sample"})
    check_asks([one, drawn])
    check_asks([drawn, replace(one, index=2)])
    for more in ({"top_k": 20}, {"exact": {"forced": True}}, {"temperatures": (0.5,)}):
        other = make.frame([make.item("q")], index=1, **{**keys, **more})
        with pytest.raises(SweepError, match=r"would be pooled|ask the same"):
            check_asks([one, other])


def test_two_scales_of_one_name_are_refused(make):
    """Rows name their scale: 4 of 1 to 7 would have no place on 1 to 3."""
    first = make.frame([make.item("q")], **KEYS)
    scale = replace(first.scales[0], highest=(first.scales[0].highest or 1) + 1)
    other = replace(first, index=1, items=(make.item("r"),), scales=(scale,))
    check_asks([first, replace(other, scales=first.scales)])
    with pytest.raises(SweepError, match=r"ask\[0\] and ask\[1\] have different scales of one"):
        check_asks([first, other])
