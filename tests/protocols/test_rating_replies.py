"""The hand-made corpora of ratings: every reply is read as its line says."""

import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from judgerel_ray.core import OUTCOMES, Menu, Scale
from judgerel_ray.protocols import read_rating
from judgerel_ray.protocols.replies.scales import (
    load_scale,
    scale_labels,
    scale_values,
    score_of,
    shipped_scales,
)

FOLDER = Path(__file__).parent
FORMS = ("rating", "score")
SCALES = {
    **{name: load_scale(name) for name in shipped_scales()},
    "hundred": Scale(name="hundred", level="interval", lowest=0, highest=100),
    "seven": Scale(name="seven", level="interval", lowest=1, highest=7, decimals=True),
}


class Line(NamedTuple):
    form: str
    number: int
    scale: str
    policy: str
    ended: str
    expected: str
    reply: str


def unescaped(text: str) -> str:
    return text.replace("\\\\", "\0").replace("\\n", "\n").replace("\0", "\\")


def corpus(form: str) -> list[Line]:
    lines = []
    text = (FOLDER / f"{form}_replies.tsv").read_text(encoding="utf-8")
    for number, line in enumerate(text.split("\n"), start=1):
        if line and not line.startswith("#"):
            scale, policy, ended, expected, reply = line.split("\t")
            lines.append(Line(form, number, scale, policy, ended, expected, unescaped(reply)))
    return lines


LINES = corpus("rating")
SCORES = corpus("score")


def read(line, form):
    scale = SCALES[line.scale]
    labels = scale_labels(scale)
    menu = Menu(labels=labels, option_ids=labels, form=form, reader=line.policy, scale=scale)
    return read_rating(line.reply, finish_reason=line.ended, menu=menu)


@pytest.mark.parametrize("line", [*LINES, *SCORES], ids=lambda line: f"{line.form}-{line.number}")
def test_a_reply_is_read_as_its_line_says(line):
    scale = SCALES[line.scale]
    rating = read(line, line.form)
    if line.expected in OUTCOMES:
        assert (rating.score, rating.label, rating.outcome) == (None, None, line.expected)
    else:
        assert (rating.score, rating.outcome) == (float(line.expected), "scored")
        assert score_of(rating.label, scale) == rating.score


def test_form_score_reads_every_reply_in_form_rating_alike():
    others = [line for line in LINES if re.search(r"\b(?:Score|Answer):", line.reply)]
    assert [line.expected for line in others] == ["unparsed"] * 2
    for line in set(LINES) - set(others):
        assert read(line, "score") == read(line, "rating"), line


def test_form_rating_reads_no_score():
    scores = [line for line in SCORES if re.fullmatch(r"(?:Score|Answer): [^:]*", line.reply)]
    assert len(scores) > 30
    for line in scores:
        assert read(line, "rating").label is None, line


def test_the_corpus_is_large_and_covers_what_can_be_asked_and_read():
    assert len({line[2:] for line in LINES}) == len(LINES) >= 300
    assert len({line[2:] for line in SCORES}) == len(SCORES) >= 75
    assert {line.scale for line in LINES} == set(SCALES)
    assert {line.policy for line in LINES} == {"first", "last", "unanimous"}
    outcomes = Counter(line.expected if line.expected in OUTCOMES else "scored" for line in LINES)
    assert set(outcomes) == set(OUTCOMES) - {"failed"}
    assert max(outcomes.values()) < 0.6 * len(LINES)


@pytest.mark.parametrize("name", ["points5", "likert5", "binary"])
def test_every_value_of_a_small_scale_is_in_the_corpus(name):
    read = {line.expected for line in LINES if line.scale == name}
    assert {f"{value:g}" for value in scale_values(SCALES[name])} <= read
