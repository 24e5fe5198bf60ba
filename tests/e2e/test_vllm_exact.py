"""Exact distributions from a real engine, held against the weights."""

from pathlib import Path

import polars as pl
import pytest

from judgerel_ray.cli import main
from judgerel_ray.pipeline.exacting import read_distributions
from judgerel_ray.store import RunDirectory

pytestmark = [
    pytest.mark.ray,
    pytest.mark.vllm,
    pytest.mark.slow,
    pytest.mark.usefixtures("ray_local"),
]

ROOT = Path(__file__).parents[2]
DEMO = ROOT / "jobs" / "demo__tiny-judge__cpu.toml"
UNDECIDED = 1e-4


@pytest.fixture(scope="module")
def explored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("vllm_exact")
    text = DEMO.read_text().replace("../", f"{ROOT}/")
    file = folder / "s.toml"
    file.write_text(f"{text}\n[ask.exact]\nundecided = {UNDECIDED}\n")
    assert main(["exact", str(file), "--out", str(folder / "run")]) == 0
    return RunDirectory.open(str(folder / "run"))


def test_bounds_hold_the_distribution_of_the_weights(explored):
    from demo.against_truth import TAIL, asked_in
    from demo.judge_design import NO_VERDICT

    table = read_distributions(explored)
    names = pl.col("verdict").fill_null(NO_VERDICT)
    for asked in asked_in(explored.url):
        mine = table.filter(pl.col("item_id") == asked.item.item_id)
        for temperature in (1.0, 0.75, 0.5):
            true = asked.options(asked.letters(temperature))
            # Labels the menu does not have are no verdict of it.
            off_menu = true.pop("off the menu", 0.0)
            true[NO_VERDICT] = true.get(NO_VERDICT, 0.0) + off_menu
            rows = mine.filter(pl.col("temperature") == temperature).with_columns(names)
            assert rows.height == 6
            for verdict, low, high in rows.select("verdict", "low", "high").iter_rows():
                assert low - TAIL <= true.get(verdict, 0.0) + 1e-5
                assert true.get(verdict, 0.0) <= high + TAIL + 1e-5
            assert 1 - rows["low"].sum() <= UNDECIDED + 1e-6
