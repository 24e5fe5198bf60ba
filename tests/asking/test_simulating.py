"""Simulated judges that no menu of the sweep fits are refused where the sweep is planned."""

from pathlib import Path

import pytest

import judgerel_ray
from judgerel_ray.asking.plan.planning import plan_resolved
from judgerel_ray.asking.plan.resolve import resolve
from judgerel_ray.asking.run.running import run_sweep
from judgerel_ray.config import read_sweep
from judgerel_ray.core import StoreError, SweepError

SWEEP = """name = "s"
[[judge]]
name = "j"
engine = "simulated"
model = "{model}"
gpus = 0
{more}
[[ask]]
protocol = "best_of"
benchmark = "mine"
path = "items.jsonl"
"""
ITEMS = [
    '{"item_id": "q1", "question": "Larger?", "options": ["one", "two"], "gold": "two"}',
    '{"item_id": "q2", "question": "Older?", "options": ["a", "b", "c"], "gold": "a"}',
]


@pytest.fixture
def resolved(tmp_path):
    def make(model, more):
        (tmp_path / "items.jsonl").write_text("\n".join(ITEMS), encoding="utf-8")
        file = tmp_path / "s.toml"
        file.write_text(SWEEP.format(model=model, more=more), encoding="utf-8")
        return resolve(read_sweep(str(file)))

    return make


@pytest.mark.parametrize(
    ("model", "more", "said"),
    [
        ("always", 'engine_options = { label = "Z" }', r"label 'Z' is not on the menu"),
        ("dirichlet", "engine_options = { base = { nosuch = 1.0 } }", "base has no weight for"),
        ("uniform", 'chat_template = "nowhere.jinja"', r"must be a readable file.*nowhere\.jinja"),
    ],
)
def test_what_no_menu_has_is_a_mistake_of_the_sweep(resolved, model, more, said):
    with pytest.raises(SweepError, match=said) as told:
        resolved(model, more)
    assert "judge=j" in str(told.value)
    assert len(str(told.value).splitlines()) == 1


def test_a_label_that_some_menus_have_is_none(resolved):
    assert resolved("always", 'engine_options = { label = "C" }').specs["j"].model == "always"


def test_the_memory_of_one_process_is_no_place_for_a_run(resolved):
    with pytest.raises(StoreError, match="must be a place that every process sees"):
        run_sweep(resolved("uniform", "").sweep, out="memory://of-a-test")


def test_a_plan_says_that_blocks_come_on_top(tmp_path):
    judge = Path(judgerel_ray.__file__).parent / "demo" / "judge"
    (tmp_path / "items.jsonl").write_text(ITEMS[0], encoding="utf-8")
    text = SWEEP.format(model=judge, more="").replace('"simulated"', '"vllm"')
    file = tmp_path / "s.toml"
    file.write_text(text, encoding="utf-8")
    notes = plan_resolved(resolve(read_sweep(str(file)))).notes
    assert any("up to 32 tokens more each" in note for note in notes)
