"""The recorded judgments of a published study, by its own reading of the texts."""

from __future__ import annotations

import re

import polars as pl
import pytest

from judgerel_ray.counting.judgments import tally_file
from judgerel_ray.measuring.reliability import reduce_judgments

pytestmark = pytest.mark.slow

LETTER = re.compile(r"Best Response:\W*([A-Ea-e])")


def read(text: str | None) -> str:
    letters = {letter.upper() for letter in LETTER.findall(text or "")}
    if len(letters) == 1:
        return letters.pop()
    return "conflicting" if letters else "unparsed"


@pytest.fixture(scope="module")
def alphas(recordings, tmp_path_factory) -> pl.DataFrame:
    folder = recordings / "seed000"
    rows = pl.concat(
        pl.scan_parquet(folder / f"judgments_{name}.parquet")
        .filter(pl.col("benchmark").cast(pl.String) == "bbh", pl.col("temperature") > 0)
        .collect()
        .with_columns(reading=pl.col("text").map_elements(read, return_dtype=pl.String))
        .with_columns(pl.lit(name).alias("judge"), pl.col("question_id").cast(pl.String))
        for name in ("starling", "llama3")
    )
    is_letter = pl.col("reading").str.len_chars() == 1
    judgments = rows.select(
        "judge",
        "temperature",
        "replication",
        item_id="question_id",
        verdict=pl.when(is_letter).then("reading"),
        outcome=pl.when(is_letter).then(pl.lit("scored")).otherwise("reading"),
    )
    path = tmp_path_factory.mktemp("judgments") / "bbh.parquet"
    judgments.write_parquet(path)
    return reduce_judgments(tally_file(str(path)).rows)


# alpha, its interval, agreement, and alpha of the replies with a verdict alone.
PRINTED = {
    ("starling", 1.0): (0.252, 0.169, 0.358, 0.647, 0.590),
    ("starling", 0.75): (0.375, 0.257, 0.511, 0.655, 0.659),
    ("starling", 0.5): (0.517, 0.376, 0.655, 0.707, 0.797),
    ("starling", 0.25): (0.695, 0.533, 0.819, 0.819, 0.966),
    ("llama3", 1.0): (0.363, 0.278, 0.458, 0.565, 0.598),
    ("llama3", 0.75): (0.450, 0.336, 0.570, 0.658, 0.691),
    ("llama3", 0.5): (0.565, 0.426, 0.694, 0.763, 0.772),
    ("llama3", 0.25): (0.660, 0.487, 0.799, 0.843, 0.847),
}


@pytest.mark.parametrize(("judge", "temperature"), PRINTED)
def test_alpha_to_the_printed_digits(alphas, judge, temperature):
    rows = alphas.filter(judge=judge, temperature=temperature).to_dicts()
    found = {(row["coefficient"], row["missing"]): row for row in rows}
    alpha = found["krippendorff_alpha", "category"]
    got = (
        *(alpha[name] for name in ("value", "low", "high")),
        found["percent_agreement", "category"]["value"],
        found["krippendorff_alpha", "drop"]["value"],
    )
    assert tuple(round(number, 3) for number in got) == PRINTED[judge, temperature]
    assert not alpha["noise"]
    assert abs(alpha["noise_floor"]) < 0.001
    assert (alpha["n_items"], alpha["n_replications"]) == (27, 100)
