"""Counting judgments: files whose rows all say the same."""

import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.counting.groups.tally import tally_unchecked


@pytest.mark.alike(2)
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


def test_rows_without_a_role_are_of_the_units_of_those_that_say_judge(tmp_path):
    # Pooled, a unit has two rows of counts: taking them for two units would lose half of them.
    told = {"role": ["judge", None] * 4, "item_id": ["q"] * 4 + ["r"] * 4,
            "replication": [0, 1, 2, 3] * 2, "verdict": list("AABBABAA")}  # fmt: skip
    path = tmp_path / "roles.parquet"
    pl.DataFrame(told).write_parquet(path)
    found = judgerel_ray.reduce(path, coefficients=["percent_agreement"])
    assert found["value"].to_list() == [pytest.approx((2 / 6 + 3 / 6) / 2)]


@pytest.mark.parametrize(("numbers", "is_wrong"), [
    (["0", "1", "2"], False), (["1", "2", "3"], False), (["7", "9", "4"], False),
    (["1.0", "0", "2.0"], False), (["0", "1", "1"], True), (["0", "0.5", "1"], True),
    (["0", "", "1"], True), (["-1", "0", "1"], True), (["1", " 1", "2"], True),
])  # fmt: skip
def test_replications_in_text_are_checked_as_those_of_few_rows_are(numbers, is_wrong):
    rows = pl.LazyFrame({
        "item_id": list("qqqr"), "replication": [*numbers, "0"], "verdict": list("AABA"),
        "temperature": ["0.7", "0.70", "0.7", "1"],
    })  # fmt: skip
    names = ["item_id", "temperature", "verdict"]
    each = [tally_unchecked(rows, names, indexed=False, held=held) for held in (True, False)]
    counts = [nested.long(["item_id", "temperature"]).sort(pl.all()) for nested, _ in each]
    assert counts[0].equals(counts[1])
    assert [at_fault for _, at_fault in each] == [is_wrong] * 2
