"""Costs, tokens and chances of a file: numbers, or a line that says which row has none."""

import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.core import ReadingWarning, SweepError
from judgerel_ray.counting.measured import with_numbers
from judgerel_ray.counting.snapshot import Snapshot
from tests.opening import snapshot


def judged(**columns):
    """Judgments of two judges with a right verdict, and further columns as given."""
    n = 16
    rows = pl.DataFrame({
        "judge": ["a", "b"] * (n // 2), "item_id": [f"q{i // 2}" for i in range(n)],
        "replication": [0] * n, "verdict": [*"ABAA" * (n // 4)], "gold": [*"AABB" * (n // 4)],
    })  # fmt: skip
    return rows.with_columns(pl.Series(name, (values * n)[:n]) for name, values in columns.items())


@pytest.mark.parametrize(
    ("name", "values", "says"),
    [
        ("cost", ["1", "$2"], r"expected a number, got '\$2' \[row=2\]. Try: write 2: a number"),
        ("cost", ["3,5"], r"got '3,5' \[row=1\]. Try: write 3.5: a point, no comma"),
        ("cost", ["1,200"], "Try: write 1200: digits without commas, or 1.200 where a point"),
        ("cost", ["inf"], "expected a number, got 'inf'"),
        ("cost", ["cheap"], "Try: leave it empty where there is no cost, or rename the column"),
        ("cost", [True], "expected a number, got a column of Boolean"),
        ("cost", [[1.0]], "expected a number, got a column of List"),
        ("prompt_tokens", ["1,200"], "Try: write 1200: digits without commas$"),
        (
            "prompt_tokens",
            ["900", "1.234"],
            r"a whole number, got '1.234' \[row=2\]. Try: write 1234",
        ),
        ("prompt_tokens", ["inf"], "a whole number, got 'inf'.*Try: leave it empty"),
        ("prompt_tokens", ["1.234.567"], "Try: write 1234567: digits without points"),
        (
            "completion_tokens",
            [900.0, 1.5],
            r"a whole number, got '1.5' \[row=2\]. Try: write tokens",
        ),
        (
            "probability",
            ["60%"],
            "number between 0 and 1, got '60%'.*Try: write 0.6: a share",
        ),
        ("probability", [0.4, 60.0], r"got '60.0' \[row=2\]. Try: divide percentages by 100"),
        ("probability", ["0,6"], "Try: write 0.6: a point"),
        ("probability", ["1,5"], "Try: leave it empty"),
        ("margin", ["slight"], "expected a number between 0 and 1, got 'slight'"),
    ],
)
def test_what_is_no_number_is_named_by_its_row(name, values, says):
    rows = Snapshot(frame=judged(**{name: values}).lazy())
    with pytest.raises(SweepError, match=f"^{name}: .*{says}"):
        with_numbers(rows, [name])


def test_whole_numbers_of_tokens_may_have_a_point():
    rows = judged(prompt_tokens=["900", "910.0", "1e3", "N/A"], completion_tokens=[9.0, None])
    found = with_numbers(Snapshot(frame=rows.lazy()), ["prompt_tokens", "completion_tokens"]).frame
    assert found.collect()["prompt_tokens"].head(4).to_list() == [900.0, 910.0, 1000.0, None]


def test_words_for_no_value_are_none(tmp_path):
    judged(cost=["0.5", "N/A", "", "nan"]).write_csv(tmp_path / "a.csv")
    found = with_numbers(snapshot(str(tmp_path / "a.csv")), ["cost", "margin"]).frame
    assert found.collect()["cost"].head(4).to_list() == [0.5, None, None, None]


@pytest.mark.slow
def test_verbs_that_read_such_a_column_refuse_it_and_others_do_not(tmp_path):
    path = str(tmp_path / "a.csv")
    judged(cost=["$1"], prompt_tokens=["1,200"], probability=["60%"]).write_csv(path)
    where = r"\[file=.*a.csv, row=1\]"
    for verb, name in (
        (judgerel_ray.panels, "prompt_tokens"),
        (lambda one: judgerel_ray.cascade(one, order=["a", "b"]), "prompt_tokens"),
        (lambda one: judgerel_ray.panels(one, prices={"a": 1, "b": 2}), "prompt_tokens"),
        (judgerel_ray.advise, "prompt_tokens"),
        (judgerel_ray.select, "probability"),
        (judgerel_ray.systems, "probability"),
    ):
        with pytest.raises(SweepError, match=f"{name}: .*{where}"):
            verb(path)
    assert judgerel_ray.reduce(path).height
    judged(cost=["$1"]).write_csv(path)
    with pytest.raises(SweepError, match=f"cost: .*{where}"):
        judgerel_ray.panels(path)
    assert judgerel_ray.panels(path, prices={"a": 1, "b": 2}).members["cost_unit"][0] == "cost"
    assert judgerel_ray.select(path).tables()
    assert judgerel_ray.systems(path).tables()


@pytest.mark.slow
def test_errors_of_what_is_made_of_a_file_name_it_and_what_to_try(tmp_path):
    """No column is listed that the file does not have."""
    path, gold = str(tmp_path / "a.csv"), str(tmp_path / "gold.csv")
    scores = judged(score=[1.0, 2.0]).drop("verdict", "gold")
    alone = judged().filter(judge="a").drop("judge").with_columns(gold=pl.lit("A"))
    strange = judged().with_columns(gold=pl.lit("C"))
    sides = pl.DataFrame({"item_id": ["q0", "q0"], "gold": ["A", "B"]})
    reference = lambda one: judgerel_ray.align(one, reference=gold)  # noqa: E731
    beside = lambda one: judgerel_ray.select(one, gold=gold)  # noqa: E731
    for rows, table, verb, name, says in (
        (scores, None, judgerel_ray.scales, "a.csv", "item_id and scale, got .*, score "),
        (scores, None, judgerel_ray.select, "a.csv", "need a column 'verdict', got .*, score "),
        (strange, None, judgerel_ray.select, "a.csv", "no value in common"),
        (strange, None, judgerel_ray.systems, "a.csv", "no value in common"),
        (strange, None, judgerel_ray.panels, "a.csv", "no value in common"),
        (
            alone,
            None,
            judgerel_ray.panels,
            "a.csv",
            "need a column 'judge'.*gold ",
        ),
        (alone, None, judgerel_ray.systems, "a.csv", "no two systems to compare"),
        (judged(), sides, beside, "gold.csv", "two right answers: 'A' and 'B'"),
        (judged(), sides.drop("gold"), beside, "gold.csv", "--gold needs columns item_id, gold"),
        (
            judged(scale=["points5"]).with_columns(verdict=pl.lit("3")).drop("gold"),
            sides,
            reference,
            "gold.csv",
            "--reference needs columns",
        ),
    ):
        rows.write_csv(path)
        if table is not None:
            table.write_csv(gold)
        with pytest.raises(SweepError, match=rf"{says}.*file=[^ ]*{name}.*\. Try: ") as error:
            verb(path)
        assert "outcome" not in str(error.value)


@pytest.mark.slow
def test_a_page_is_written_without_what_the_column_is_read_for(tmp_path):
    path, page = str(tmp_path / "a.csv"), tmp_path / "page.html"
    judged(cost=["$1"]).write_csv(path)
    with pytest.warns(ReadingWarning, match=r"expected a number, got '\$1' .*panels are left out"):
        judgerel_ray.report(path, out=str(page))
    assert "Krippendorff" in page.read_text()
