"""Sweep files to hand to the command line."""

import pytest

ITEMS = """item_id,question,category,gold,option_x,option_y
q1,Which is larger?,c1,one,one,two
q2,Which is warmer?,c2,sun,sun,moon
"""
SWEEP = """name = "small"
[[judge]]
name = "coin"
engine = "simulated"
model = "uniform"
gpus = 0
[[ask]]
protocol = "best_of"
benchmark = "mine"
path = "items.csv"
replications = 3
"""


@pytest.fixture
def sweep_file(tmp_path):
    """Write a sweep with its items beside it, after replacing parts of either."""

    def write(*, swaps=(), more="", items=ITEMS, files=()):
        text = SWEEP
        for old, new in swaps:
            assert old in text
            text = text.replace(old, new)
        (tmp_path / "items.csv").write_text(items, encoding="utf-8")
        for name, content in files:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(content, encoding="utf-8")
        file = tmp_path / "sweep.toml"
        file.write_text(text + more, encoding="utf-8")
        return str(file)

    return write
