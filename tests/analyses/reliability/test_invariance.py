"""Neither the order of rows, their files nor the number of threads changes a digit."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from judgerel_ray.counting.intervals import IntervalChoice
from judgerel_ray.counting.judgments import tally_file
from judgerel_ray.measuring.reliability import reduce_judgments
from judgerel_ray.stats import COEFFICIENTS

OF_COUNTS = list(COEFFICIENTS)
OF_SCORES = ["krippendorff_alpha", "icc1", "icck", "cronbach_alpha", "mcdonald_omega"]
NUMBERS = ["value", "low", "high", "noise_floor", "noise_floor_sd", "p_noise"]
REDUCE = """
import sys
import polars as pl
from judgerel_ray.measuring.reliability import reduce_judgments
from judgerel_ray.counting.judgments import tally_file
from judgerel_ray.stats import DEFAULT_COEFFICIENTS
verdicts, scores = map(tally_file, sys.argv[1:])
print(pl.thread_pool_size())
names = [*DEFAULT_COEFFICIENTS, "icc1"]
for row in reduce_judgments(verdicts, coefficients=names).rows():
    print(row)
for row in reduce_judgments(
    scores, items="template", coefficients=["krippendorff_alpha", "icc1", "cronbach_alpha"]
).rows():
    print(row)
"""


def conditions(items: int, replications: int) -> pl.DataFrame:
    """A judge and three templates, crossed with items and replications."""
    frame = pl.DataFrame({"judge": ["a"]})
    for name, values in (
        ("item_id", [f"question {i}" for i in range(items)]),
        ("template", ["short", "long", "plain"]),
        ("replication", list(range(replications))),
    ):
        frame = frame.join(pl.DataFrame({name: values}), how="cross")
    return frame


def verdicts(items: int = 28, replications: int = 6) -> pl.DataFrame:
    """Letters, a tenth of the replies without one."""
    rng = np.random.default_rng(1)
    frame = conditions(items, replications)
    leaning = frame["item_id"].str.extract(r"(\d+)").cast(pl.Int64).to_numpy() % 3
    drawn = np.where(rng.random(frame.height) < 0.6, leaning, rng.integers(0, 5, frame.height))
    letters = pl.Series(np.array(list("ABCDE"))[drawn])
    read = pl.Series(rng.random(frame.height) < 0.9)
    return frame.with_columns(
        verdict=pl.select(pl.when(read).then(letters)).to_series(),
        outcome=pl.select(
            pl.when(read).then(pl.lit("scored")).otherwise(pl.lit("unparsed"))
        ).to_series(),
    )


def scores(items: int = 28, replications: int = 6) -> pl.DataFrame:
    """Scores of two decimals around a mean of each question, some missing."""
    rng = np.random.default_rng(2)
    frame = conditions(items, replications)
    place = frame["item_id"].str.extract(r"(\d+)").cast(pl.Int64).to_numpy()
    drawn = (0.1 * place + rng.normal(size=frame.height)).round(2)
    drawn[rng.random(frame.height) < 0.02] = np.nan
    return frame.with_columns(score=pl.Series(drawn).fill_nan(None))


def of_counts(source: pl.LazyFrame) -> pl.DataFrame:
    return reduce_judgments(source, coefficients=OF_COUNTS, by=["judge"])


def of_scores(source: pl.LazyFrame) -> pl.DataFrame:
    options = {"items": "template", "by": ["judge"], "missing": ["drop"]}
    return reduce_judgments(source, coefficients=OF_SCORES, **options)


def same_scores(found: pl.DataFrame, expected: pl.DataFrame) -> bool:
    """Numbers to 1e-12, all else the same."""
    assert found.drop(NUMBERS).equals(expected.drop(NUMBERS))
    for name in NUMBERS:
        assert found[name].is_null().equals(expected[name].is_null())
        here, there = found[name].drop_nulls(), expected[name].drop_nulls()
        assert here.to_list() == pytest.approx(there.to_list(), abs=1e-12)
    return found.height > 0


def others(frame: pl.DataFrame, folder: Path) -> Iterator[pl.LazyFrame]:
    """The same rows in other orders and files."""
    shuffled = frame.sample(fraction=1, shuffle=True, seed=3)
    yield shuffled.lazy()
    for n in (1, 7, 500):
        (folder / str(n)).mkdir()
        for part in range(n):
            rows = shuffled[part::n]
            rows.write_parquet(folder / str(n) / f"part-{part:03}.parquet")
        yield pl.scan_parquet(folder / str(n) / "*.parquet")


@pytest.mark.slow
def test_digits_of_counts_do_not_depend_on_rows_or_files(tmp_path):
    frame = verdicts()
    expected = of_counts(frame.lazy())
    assert expected["value"].null_count() < expected.height
    for other in others(frame, tmp_path):
        assert of_counts(other).equals(expected)


@pytest.mark.slow
def test_scores_do_not_depend_on_rows_or_files(tmp_path):
    frame = scores()
    expected = of_scores(frame.lazy())
    assert expected["value"].null_count() == 0
    for other in others(frame, tmp_path):
        assert same_scores(of_scores(other), expected)


@pytest.mark.slow
@pytest.mark.parametrize("make", [verdicts, scores])
def test_a_file_in_any_order_and_kind_gives_the_same_digits(make, tmp_path):
    frame = make(5, 4)
    expected = reduce_judgments(frame.lazy())
    shuffled = frame.sample(fraction=1, shuffle=True, seed=1)
    shuffled.write_parquet(tmp_path / "judgments.parquet", row_group_size=50)
    shuffled.write_csv(tmp_path / "judgments.csv")
    shuffled.write_ndjson(tmp_path / "judgments.jsonl")
    for ending in ("parquet", "csv", "jsonl"):
        tally = tally_file(str(tmp_path / f"judgments.{ending}"))
        assert reduce_judgments(tally).equals(expected)


@pytest.mark.slow
def test_digits_do_not_depend_on_threads(tmp_path):
    # 100,800 ratings: noise floors in closed form, and of a subset of units.
    files = [str(tmp_path / name) for name in ("verdicts.parquet", "scores.parquet")]
    verdicts(70, 480).write_parquet(files[0], row_group_size=10_000)
    scores().write_parquet(files[1], row_group_size=100)
    printed = []
    for n in ("1", "2", "4"):
        threads = dict.fromkeys(
            ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), n
        )
        done = subprocess.run(
            [sys.executable, "-c", REDUCE, *files],
            env={**os.environ, **threads},
            capture_output=True,
            text=True,
            check=True,
        )
        used, *rows = done.stdout.splitlines()
        assert used == n
        printed.append(rows)
    assert len(printed[0]) > 15
    assert printed[1] == printed[0]
    assert printed[2] == printed[0]


@pytest.mark.slow
def test_equal_seeds_draw_equal_questions_whatever_the_order_of_the_rows():
    for source, chosen in ((verdicts(), OF_COUNTS), (scores(), OF_SCORES)):
        by = {"by": ["judge"]} if chosen is OF_COUNTS else {"items": "template"}
        choice = IntervalChoice(method="bootstrap", n_resamples=64, seed=5)
        turned = source.sample(fraction=1, shuffle=True, seed=9)
        one, other = (
            reduce_judgments(frame.lazy(), coefficients=chosen, intervals=choice, **by)
            for frame in (source, turned)
        )
        assert one.equals(other)
        told = one.filter(pl.col("low").is_not_null())
        assert set(told["estimator"].str.contains("bootstrap, 64 resamples of 2[58] ")) == {True}
        more_than_there_are = {"majority_stability_5", "majority_stability_11"}
        assert set(chosen) - set(told["coefficient"]) <= more_than_there_are


def test_where_nothing_varies_the_bootstrap_says_so():
    rows = {"item_id": ["q", "q", "r", "r"], "replication": [0, 1] * 2, "verdict": ["A"] * 4}
    choice = IntervalChoice(method="bootstrap", n_resamples=64)
    found = reduce_judgments(
        pl.LazyFrame(rows), coefficients=["percent_agreement", "valid_rate"], intervals=choice
    )
    assert found["low"].to_list() == [None, None]
    said = found["estimator"].str.extract("no interval: all 2 questions (.*); with")
    assert said.to_list() == ["are unanimous", "come out alike"]
