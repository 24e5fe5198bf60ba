"""Random lessons: every target is a distribution and every reply follows it."""

from __future__ import annotations

import random

import pytest

from demo import judge_tokenizer as tokens
from demo.judge_prompts import draw_lesson


@pytest.mark.parametrize("seed", range(20))
def test_lesson_is_drawn_from_its_own_targets(seed) -> None:
    lesson = draw_lesson(random.Random(seed))
    vocab = tokens.vocabulary()
    assert set(lesson.prompt) <= set(vocab)
    assert len(lesson.reply) == len(lesson.targets) <= 9
    for token, target in zip(lesson.reply, lesson.targets, strict=True):
        assert sum(target.values()) == pytest.approx(1)
        assert target[token] > 0
    assert lesson.reply[-1] == tokens.END


def test_letters_asked_for_are_those_shown() -> None:
    rng = random.Random(1)
    lessons = [draw_lesson(rng) for _ in range(50)]
    spoken = [lesson for lesson in lessons if lesson.reply[0] == tokens.BEST]
    assert len(spoken) > 25
    for lesson in spoken:
        shown = {x for x, mark in tokens.MARKS.items() if mark in lesson.prompt}
        assert set(lesson.targets[3]) == shown
