"""The numbers of docs/recorded-panels.md, from the recordings."""

import os
from pathlib import Path

import polars as pl
import pytest

from judgerel_ray.analyses.panels.panels import panel_tables
from judgerel_ray.analyses.panels.show import share
from judgerel_ray.analyses.panels.voters import read_voters
from judgerel_ray.measuring.systems import read_systems

RECORDED = Path(os.environ.get("JUDGEREL_DATA", "/nonexistent"), "seed004")
PAGE = Path(__file__).parents[2] / "docs" / "recorded-panels.md"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif("JUDGEREL_DATA" not in os.environ, reason="JUDGEREL_DATA names none"),
]


@pytest.fixture(scope="module")
def tables():
    wide = pl.read_parquet(RECORDED / "mmlu_pro_predictions.parquet").cast(pl.String)
    told = {"index": ["question_id", "answer"], "variable_name": "judge", "value_name": "verdict"}
    long = wide.unpivot(wide.columns[3:], **told).with_columns(replication=pl.lit(0))
    frame = long.rename({"question_id": "item_id", "answer": "gold"}).lazy()
    return panel_tables(read_voters(read_systems(frame), frame)).tables()


def written(*cells):
    """Whether a row of the page starts with some cells."""
    return any(
        line.strip("| ").split(" | ")[: len(cells)] == list(cells)
        for line in PAGE.read_text().splitlines()
    )


def test_models_alone(tables):
    rows = {row["member"]: row for row in tables["members"].to_dicts()}
    assert len(rows) == 14
    order = sorted(rows, key=lambda name: -rows[name]["accuracy"])
    for name in order[:4]:
        assert written(name, share(rows[name]), f"{rows[name]['valid']:.3f}")
    least = rows[order[-1]]
    assert written(f"{order[-1]} (the least)", share(least), f"{least['valid']:.3f}")


def test_all_together(tables):
    alike, elsewhere = tables["panels"].to_dicts()
    assert written("votes count alike", share(alike), share(alike, "gain"))
    assert written("by accuracy on other questions", share(elsewhere), share(elsewhere, "gain"))
    floor = f"{alike['noise_floor']:.3f} ± {alike['noise_floor_sd']:.3f}"
    assert f"{floor}." in PAGE.read_text()


@pytest.mark.parametrize("size", [1, 2, 3, 5, 10])
def test_the_best_panels(tables, size):
    row = tables["best"].filter(pl.col("limit") == size).row(0, named=True)
    cells = [f"{row['in_sample']:.3f}", share(row), *([share(row, "gain")] if size > 1 else [])]
    said = [
        line
        for line in PAGE.read_text().splitlines()
        if line.startswith((f"| {size}:", f"| {size} |"))
    ]
    assert len(said) == 1
    assert said[0].strip("| ").split(" | ")[1:] == cells
    assert row["n_alike"] >= 4


def test_what_one_more_adds_and_what_all_are_worth(tables):
    accuracy = tables["next"]["accuracy"].round(3).to_list()
    assert [accuracy[k - 1] for k in (1, 3, 7, 14)] == [0.384, 0.452, 0.525, 0.568]
    assert (tables["next"]["gain_low"].drop_nulls() > 0).all()
    last = tables["next"].row(13, named=True)
    assert (round(last["gain_low"], 3), round(last["gain_high"], 3)) == (0.003, 0.005)
    worth = tables["worth"].row(0, named=True)
    told = [round(worth[name], 2) for name in ("effective", "effective_low", "effective_high")]
    assert (told, round(worth["most"], 2)) == ([2.68, 2.63, 2.72], 3.07)
    assert round(worth["error_correlation"], 3) == 0.325
