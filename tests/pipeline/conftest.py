"""Sweep files in a folder of their own."""

import pytest

from judgerel_ray.config import load_sweep
from judgerel_ray.pipeline import resolve

JUDGE = '[[judge]]\nname = "{name}"\nengine = "simulated"\nmodel = "uniform"\ngpus = 0\n{more}\n'
ASK = '[[ask]]\nprotocol = "{protocol}"\nbenchmark = "mine"\npath = "{path}"\n{more}\n'
ITEMS = [
    '{"item_id": "q1", "question": "Larger?", "options": ["one", "two"], "gold": "two"}',
    '{"item_id": "q2", "question": "Warmer?", "options": ["sun", "moon"], "gold": "sun"}',
    '{"item_id": "q3", "question": "Older?", "options": ["a", "b"], "gold": "a", "turns": '
    '["Older?", "And newer?"]}',
]


@pytest.fixture
def sweep(tmp_path):
    """Write, load and resolve a sweep."""

    def make(
        *,
        judges=(("j", ""),),
        asks=("",),
        items=ITEMS,
        protocol="best_of",
        more="",
        path="items.jsonl",
        folder="one",
    ):
        place = tmp_path / folder
        place.mkdir(exist_ok=True)
        (place / path).write_text("\n".join(items), encoding="utf-8")
        text = 'name = "s"\n'
        text += "".join(JUDGE.format(name=name, more=own) for name, own in judges)
        text += "".join(ASK.format(protocol=protocol, path=path, more=own) for own in asks)
        file = place / "s.toml"
        file.write_text(text + more, encoding="utf-8")
        return resolve(load_sweep(file))

    return make
