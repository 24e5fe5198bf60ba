"""CONTRIBUTING.md leads where it says: its files exist, and its code does what it promises."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import judgerel_ray
from judgerel_ray.benchmarks import LOADERS, load_items
from judgerel_ray.blocks import words
from judgerel_ray.cli import main
from judgerel_ray.core import SweepError
from judgerel_ray.stats import COEFFICIENTS, agreement, measure

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PATHS = sorted(set(re.findall(r"`([\w.-]+(?:/[\w.-]+)*(?:/|\.(?:py|md|toml)))`", PAGE)))
SECTIONS = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE))


def code_of(section: str) -> dict[str, object]:
    """What the Python block of a section defines."""
    (block,) = re.findall(r"^```python\n(.*?)^```$", SECTIONS[section], re.DOTALL | re.MULTILINE)
    names: dict[str, object] = {}
    exec(block, names)
    return names


def test_there_is_a_recipe_for_each_thing_that_is_added():
    assert {"Add a judge", "Add a benchmark", "Add a coefficient", "Add an analysis",
            "Add a protocol"} <= set(SECTIONS)  # fmt: skip


@pytest.mark.parametrize("path", [path for path in PATHS if "/" in path])
def test_its_files_are_there(path):
    assert (ROOT / path).exists()


def test_names_stand_in_the_files_where_it_says():
    flat = " ".join(PAGE.split())
    places = re.findall(r"((?:`\w+`(?:, | and | or ))*`\w+`)(?: and its defaults in (`\w+`))? in "
                        r"`([\w/]+\.py)`", flat)  # fmt: skip
    found = {(name, path) for names, more, path in places
             for name in re.findall(r"`(\w+)`", f"{names} {more}")}  # fmt: skip
    assert len(found) >= 12
    missing = [one for one in found if one[0] not in (ROOT / one[1]).read_text()]
    assert missing == []


def test_its_benchmark_is_read_planned_and_refused_by_place(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(LOADERS, "riddles", code_of("Add a benchmark")["load_riddles"])
    file = tmp_path / "riddles.jsonl"
    rows = [{"id": 1, "riddle": "What has keys?", "answer": "A piano"},
            {"id": 2, "riddle": "What runs?", "answer": "A river"}]  # fmt: skip
    file.write_text("\n".join(json.dumps(row) for row in rows))
    items = load_items("riddles", str(file))
    assert [(item.item_id, item.gold) for item in items] == [
        ("riddles:1", "A piano"), ("riddles:2", "A river"),
    ]  # fmt: skip
    sweep = tmp_path / "sweep.toml"
    sweep.write_text(
        'name = "r"\n[[judge]]\nname = "j"\nengine = "simulated"\nmodel = "uniform"\n'
        '[[ask]]\nprotocol = "respond"\nbenchmark = "riddles"\npath = "riddles.jsonl"\n'
        "replications = 3\n"
    )
    assert main(["plan", str(sweep)]) == 0
    assert "6 requests" in capsys.readouterr().out
    file.write_text(json.dumps({"id": 1, "riddle": "What has keys?"}))
    with pytest.raises(SweepError, match=r"answer.*line=1"):
        load_items("riddles", str(file))


def test_its_coefficient_gets_interval_floor_and_name(tmp_path, monkeypatch, capsys):
    statistic = code_of("Add a coefficient")["MAJORITY_SHARE"]
    module = agreement.agreement
    shares = module._shares
    monkeypatch.setattr(module, "_shares", lambda: (*shares(), statistic))
    monkeypatch.setitem(
        COEFFICIENTS, "majority_share", lambda counts, **_: measure(counts, statistic)
    )
    monkeypatch.setitem(words._NAMES, "majority_share", "majority share")
    # Of three verdicts the most frequent has 2, 3, 2, ...: mean (2/3 + 1) / 2 over six of each.
    rows = ["item_id,replication,verdict"]
    for unit in range(12):
        verdicts = "AAB" if unit % 2 else "BBB" if unit % 4 else "AAA"
        rows += [f"q{unit},{time},{verdict}" for time, verdict in enumerate(verdicts)]
    file = tmp_path / "judgments.csv"
    file.write_text("\n".join(rows))
    (row,) = judgerel_ray.reduce(str(file), coefficients="majority_share", missing="drop").rows(
        named=True
    )
    assert row["value"] == pytest.approx((2 / 3 + 1) / 2)
    assert row["low"] < row["value"] < row["high"]
    assert 1 / 3 < row["noise_floor"] < row["value"]
    assert main(["reduce", str(file), "--coefficient", "majority_share"]) == 0
    assert "majority share" in capsys.readouterr().out
