"""Counting judgments: files whose rows all say the same."""

import polars as pl
import pytest

import judgerel_ray


@pytest.mark.parametrize(
    "said",
    [{"score": 3.0}, {"score": 3}, {"verdict": "A"}, {"verdict": None, "outcome": "off_menu"}],
)
def test_a_file_whose_rows_all_say_the_same_is_counted(tmp_path, said):
    path = tmp_path / "same.parquet"
    rows = [{"item_id": f"q{n}", "replication": r, **said} for n in range(4) for r in range(3)]
    schema = {"verdict": pl.String} if "verdict" in said else {}
    pl.DataFrame(rows, schema_overrides=schema).write_parquet(path)
    found = judgerel_ray.reduce(path, coefficients=["valid_rate", "krippendorff_alpha"])
    rate = found.filter(coefficient="valid_rate")
    assert rate["value"].to_list() == [0.0 if "outcome" in said else 1.0]
    assert rate["n_judgments"].to_list() == [12]
    alpha = found.filter(coefficient="krippendorff_alpha")
    assert set(alpha["undefined"]) <= {"no_variance", "no_verdicts"}
