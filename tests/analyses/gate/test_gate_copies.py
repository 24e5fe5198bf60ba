"""What a gate and doctor found is written alike, copied or not."""

import copy
import pickle
from dataclasses import replace

import pytest

import judgerel_ray
from judgerel_ray import example

FILE = example("judgments.csv")


@pytest.mark.alike(3)
@pytest.mark.parametrize("made", [
    copy.copy, lambda one: pickle.loads(pickle.dumps(one)), replace,
], ids=["copied", "pickled", "replaced"])  # fmt: skip
def test_what_a_verb_found_is_written_alike_wherever_it_goes(made):
    for found in (
        judgerel_ray.gate(FILE, require="valid_rate >= .9"),
        judgerel_ray.doctor(FILE),
    ):
        again = made(found)
        assert again.as_text() == found.as_text()
        assert again.as_json() == found.as_json()
        assert again.as_markdown() == found.as_markdown()
