"""What is shipped to try the package on is what its sweep gives."""

from pathlib import Path

import polars as pl
import pytest

import judgerel_ray
from demo.write_example import verdicts
from judgerel_ray.store import RunDirectory, scan_completions, scan_judgments

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("without_ray")]

RUN = judgerel_ray.example("run")
OF_THE_DAY = ("attempt", "landed_at")


def asked_of(path):
    """What a run asked and was told, without when."""
    run = RunDirectory.open(str(path))
    rows = scan_judgments(run).drop(OF_THE_DAY).collect().sort("key")
    return rows.with_columns(pl.col("judge").cast(pl.String)), scan_completions(run).collect()


def test_the_run_and_the_table_are_what_the_sweep_gives(tmp_path):
    judgments = judgerel_ray.run(judgerel_ray.example("sweep.toml"), out=tmp_path / "run")
    (rows, texts), (shipped, shipped_texts) = asked_of(tmp_path / "run"), asked_of(RUN)
    assert rows.equals(shipped)
    assert texts.sort("key").select("key", "text").equals(
        shipped_texts.sort("key").select("key", "text")
    )  # fmt: skip
    shown = Path(judgerel_ray.example("judgments.csv")).read_text()
    assert verdicts(judgments).write_csv() == shown
