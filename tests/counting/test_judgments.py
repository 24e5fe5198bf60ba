from __future__ import annotations

import json
import re
from datetime import timedelta

import polars as pl
import pytest

import judgerel_ray as jr
from judgerel_ray.core import ReadingWarning, SweepError
from judgerel_ray.counting.judgments import tally_file
from judgerel_ray.measuring.reliability import reduce_judgments
from tests.opening import coefficients as coefficients_of
from tests.opening import snapshot

ROWS = {
    "item_id": ["q1", "q1", "q2", "q2"],
    "judge": ["a", "a", "a", "a"],
    "temperature": [0.7, 0.7, 0.7, 0.7],
    "replication": [0, 1, 0, 1],
    "verdict": ["1", "2", None, "1"],
    "score": [1.0, 2.0, None, 1.0],
}


def write(frame: pl.DataFrame, path) -> str:
    if path.suffix == ".parquet":
        frame.write_parquet(path)
    elif path.suffix == ".csv":
        frame.write_csv(path)
    else:
        frame.write_ndjson(path)
    return str(path)


@pytest.mark.alike(2)
@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl", "ndjson"])
def test_every_kind_of_file_reads_alike(ending, tmp_path):
    loaded = tally_file(write(pl.DataFrame(ROWS), tmp_path / f"rows.{ending}")).rows.collect()
    outcome = ["scored", "scored", "unparsed", "scored"]
    assert loaded.to_dict(as_series=False) == {**ROWS, "outcome": outcome}


def test_types_come_from_the_names_of_columns(tmp_path):
    rows = pl.DataFrame(
        {
            "item_id": [7, 7],
            "replication": [0.0, 1.0],
            "verdict": [True, False],
            "score": [1.0, float("nan")],
            "temperature": pl.Series([0.7, 0.7], dtype=pl.Float32),
            "judge": pl.Series(["a", "a"], dtype=pl.Categorical),
        }
    )
    loaded = tally_file(write(rows, tmp_path / "rows.parquet")).rows.collect()
    assert loaded.rows() == [
        ("7", 0, "true", 1.0, 0.7, "a", "scored"),
        ("7", 1, "false", None, 0.7, "a", "scored"),
    ]


def test_an_empty_string_is_no_value(tmp_path):
    lines = [{"item_id": "q", "replication": n, "verdict": v} for n, v in enumerate(["", "A"])]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines))
    assert tally_file(str(path)).rows.collect()["verdict"].to_list() == [None, "A"]


def test_scores_alone_will_do(tmp_path):
    path = write(pl.DataFrame(ROWS).drop("verdict"), tmp_path / "rows.csv")
    assert tally_file(path).rows.collect()["outcome"].null_count() == 0


def test_the_same_replication_of_another_unit_is_welcome(tmp_path):
    rows = {**ROWS, "replication": [0, 0, 0, 0], "template": ["x", "y", "x", "y"]}
    assert tally_file(write(pl.DataFrame(rows), tmp_path / "r.csv")).rows.collect().height == 4


@pytest.mark.parametrize(
    ("column", "values", "line"),
    [
        ("block", [0, 1, 1], "2 rows outside block 0 left out; reduce --block all counts them"),
        ("role", ["judge", "user", None], "1 row whose role is 'user' left out: a judge's is ju"),
    ],
)
def test_rows_that_no_coefficient_counts_are_named(column, values, line):
    """A column of another meaning left half of a file out, and nothing said so."""
    rows = {"item_id": ["q", "q", "q"], "replication": [0, 1, 2], "verdict": ["A", "B", "A"]}
    (note,) = tally_file(pl.LazyFrame({**rows, column: values})).notes
    assert note.startswith(line)


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("column", "values", "line"),
    [
        ("role", ["assistant", "user", None, "user"], "its values are 'assistant', 'user', and r"),
        ("role", [{"name": "x"}] * 4, "its values are lists or objects, and roles are judge, resp"),
        ("block", ["intro", "intro", "end", None], "its values are 'end', 'intro', and blocks are"),
        ("block", ["0", "0", "end", None], "its values are '0', 'end', and blocks are whole"),
        (
            "block",
            [3, 3, 1, 1],
            "its values are 1, 3, and blocks are whole numbers from",
        ),
        ("block", [0.5, 0.0, 0.0, 0.0], "its values are 0.0, 0.5, and blocks are whole numbers"),
    ],
)
def test_columns_that_are_ours_by_name_alone_are_not_read(column, values, line):
    """Every row counts, as in the table without that column, and one line says why."""
    frame = pl.DataFrame({**ROWS, column: pl.Series(values)}).lazy()
    counts, plain = tally_file(frame), tally_file(pl.LazyFrame(ROWS))
    (note,) = counts.notes
    assert note.startswith(f"column {column} is not read: {line}")
    assert reduce_judgments(counts).equals(reduce_judgments(plain))
    with pytest.raises(
        SweepError, match=rf"column {column} cannot be used: .* Try: rename the column"
    ):
        tally_file(frame, extra=[column])


@pytest.mark.slow
def test_roles_are_ours_in_any_case_and_no_value_is_block_0():
    rows = {**ROWS, "role": ["Judge", "JUDGE ", None, "judge"], "block": ["0", "None", "", "0"]}
    counts = tally_file(pl.LazyFrame(rows))
    assert counts.notes == ("column role: read 'JUDGE ' as judge, 'Judge' as judge",)
    plain = reduce_judgments(tally_file(pl.LazyFrame(ROWS)))
    assert reduce_judgments(counts)["value"].equals(plain["value"])
    answers = pl.LazyFrame({**ROWS, "role": ["Responder"] * 4})
    with pytest.raises(SweepError, match="no row of a judge in block 0"):
        reduce_judgments(tally_file(answers))


@pytest.fixture(scope="module")
def reduced():
    """What the rows come to."""
    return jr.reduce(pl.DataFrame(ROWS))


@pytest.mark.alike(3)
@pytest.mark.parametrize("values", [["high"] * 4, [90, 80, 70, 60], [[1], [2], [3], [4]]])
def test_a_column_that_a_verb_does_not_use_never_makes_it_refuse(values, reduced, tmp_path):
    frame = pl.DataFrame({**ROWS, "gold": "1", "confidence": values, "key": [["x"]] * 4,
                          "role": None})  # fmt: skip
    lists = frame.with_columns(gold=pl.concat_list("gold"))
    assert jr.reduce(lists).equals(reduced)
    with pytest.raises(SweepError, match="gold must be a single value"):
        jr.select(lists.drop("confidence"))
    agreeing = ~pl.col("coefficient").is_in(["accuracy", "cohen_kappa"])  # which gold brings
    assert jr.reduce(frame).filter(agreeing).equals(reduced)
    with pytest.raises(SweepError, match="confidence"):
        jr.select(frame)
    file = tmp_path / "r.parquet"
    frame.write_parquet(file)
    assert jr.reduce(file).filter(agreeing).equals(reduced)


def test_a_row_that_no_row_may_be_is_refused_with_what_to_try(tmp_path):
    for name, value, told in [
        ("outcome", "win", r"outcome is none of .*row=1, outcome=win\]. Try: mend that row, or re"),
        ("temperature", "default", r"expected a number, got 'default' \[.*row=1\]. Try: write the"),
        ("temperature", "-1", r"at least 0 \[.*row=1, temperature=-1.*\]. Try: mend that row"),
    ]:
        path = write(pl.DataFrame({**ROWS, name: value}), tmp_path / "r.csv")
        with pytest.raises(SweepError, match=told):
            tally_file(path)


def test_a_comma_between_thousands_is_no_point(tmp_path):
    path = tmp_path / "r.csv"
    for name, told in {
        "replication": r"Try: write 1000: digits without commas$",
        "score": r"Try: write 1000, as --column \S+ reads it, or 1\.000 where a point is meant$",
    }.items():
        rows = {"item_id": "q", "replication": "1", "score": "2"} | {name: "1,000"}
        path.write_text(";".join(rows) + "\n" + ";".join(rows.values()) + "\n")
        with pytest.raises(SweepError, match=told):
            tally_file(str(path))


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("name", "got", "told"),
    [("score", "3-4", "leave it empty where there is no score"),
     ("score", "3- 4", "leave it empty where there is no score"),
     ("score", "2024-05-01", "leave it empty where there is no score"),
     ("score", "7/5", "leave it empty where there is no score"),
     ("score", "7/ 5", "leave it empty where there is no score"),
     ("score", "about 4", "write 4: the number alone"),
     ("score", "about -4", "write -4: the number alone"),
     ("confidence", "-5%", "leave it empty where there is no confidence"),
     ("confidence", "about -0.5", "leave it empty where there is no confidence"),
     ("confidence", "12,5", "leave it empty where there is no confidence"),
     ("confidence", "1,000", "write 1.000: a point, no comma"),
     ("confidence", "80 %", "write 0.8: a share of 1, not a percentage"),
     ("top_k", "12,5", "leave it empty where there is no top_k"),
     ("top_k", "40.5 %", "leave it empty where there is no top_k"),
     ("top_k", "about 40.5", "leave it empty where there is no top_k"),
     ("top_k", "about 40", "write 40: the number alone"),
     ("temperature", "about -1", "write the temperature that was used, or leave it empty where")],
)  # fmt: skip
def test_numbers_to_write_are_those_meant_and_are_accepted(name, got, told, tmp_path):
    """A range was to be written as its first number, and a share as a negative one."""
    path = tmp_path / "r.csv"
    rows = {"item_id": "q", "replication": "0", "score": "2"} | {name: got}
    path.write_text(";".join(rows) + "\n" + ";".join(rows.values()) + "\n")
    with pytest.raises(SweepError, match=re.escape(f"Try: {told}")):
        tally_file(str(path))
    number = told.removeprefix("write ").partition(":")[0]
    if number != told and ":" in told:
        path.write_text(";".join(rows) + "\n" + ";".join((rows | {name: number}).values()) + "\n")
        assert tally_file(str(path)).rows.collect().height == 1


TOTALS = pytest.mark.parametrize("name", ["TOTAL", " Mean", "Grand total"])


@pytest.mark.alike(3)
@TOTALS
@pytest.mark.parametrize("number", ["0", ""])
def test_a_line_of_totals_below_a_table_is_left_out_and_said(name, number, tmp_path):
    """It was one more question."""
    path = tmp_path / "r.csv"
    path.write_text(f"item_id,replication,score\nq1,0,3\nq1,1,4\n{name},{number},7\n")
    with pytest.warns(ReadingWarning, match="left out the last row, .*, which sums up others"):
        assert coefficients_of(str(path))["n_items"].max() == 1


@TOTALS
def test_a_line_of_totals_elsewhere_is_named(name, tmp_path):
    """It may be a question, and nothing said so."""
    path = tmp_path / "r.csv"
    path.write_text(f"item_id,replication,score\n{name},0,7\nq1,0,3\nq1,1,4\n")
    with pytest.warns(ReadingWarning, match="counted as questions: .*; take the line out if it"):
        assert coefficients_of(str(path))["n_items"].max() == 2
    path.write_text(f"item_id,replication,score\nq1,0,3\n{name},,7\nq1,1,4\n")
    with pytest.raises(SweepError, match=r"replication is missing .*Try: take row 2 out: "):
        tally_file(str(path))


@pytest.mark.parametrize("row", ["Mean,0,3", "mean of all,0,7", "q2,0,7"])
def test_a_last_row_that_may_be_a_question_stays(row, tmp_path):
    path = tmp_path / "r.csv"
    path.write_text(f"item_id,replication,score\nq1,0,3\nq1,1,4\n{row}\n")
    assert tally_file(str(path)).rows.collect().height == 3


def test_lines_of_names_in_the_middle_and_empty_ones_are_no_rows(tmp_path):
    """As of files one behind the other: the names were a question, and their cell a verdict."""
    path = tmp_path / "r.csv"
    part = "item_id,replication,verdict\nq1,0,A\nq2,0,B\n"
    path.write_text(part + part.replace(",0,", ",1,") + ",,\n" + part.replace(",0,", ",2,"))
    with pytest.warns(ReadingWarning, match="left out 2 rows that name the columns again"):
        rows = snapshot(str(path)).frame.collect()
    assert rows.height == 6
    assert rows["item_id"].unique().sort().to_list() == ["q1", "q2"]


def test_questions_that_are_all_called_so_are_questions(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("item_id,replication,verdict\nsum,0,A\nmean,0,A\n")
    assert tally_file(str(path)).notes == ()


HUGE = [[2**53, 2**53 + 1], [2**53 + 1, 0], [2**63 - 1, 2**63 - 2], [2**53 + 2, 2**53 + 4]]


@pytest.mark.alike(3)
@pytest.mark.parametrize("replications", HUGE)
@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl", "frame"])
def test_replications_that_doubles_do_not_tell_apart_are_refused(replications, ending, tmp_path):
    """Whole numbers beyond 2^53 were counted, and rows of two replications became those of one."""
    rows = pl.DataFrame({"item_id": ["q", "q"], "replication": replications, "verdict": ["A", "B"]})
    given = rows.lazy() if ending == "frame" else write(rows, tmp_path / f"r.{ending}")
    with pytest.raises(SweepError, match=r"replication must be at most 9007199254740991 \(") as no:
        tally_file(given)
    assert str(no.value.where["replication"]) == str(replications[0])  # as it is written


def test_the_greatest_replications_that_doubles_tell_apart_are_read(tmp_path):
    rows = {"item_id": ["q", "q"], "replication": [2**53 - 1, 2**53 - 2], "verdict": ["A", "B"]}
    for ending in ("parquet", "csv", "jsonl"):
        found = tally_file(write(pl.DataFrame(rows), tmp_path / f"r.{ending}")).rows
        assert found.collect()["replication"].to_list() == rows["replication"]


@pytest.mark.parametrize("ending", ["parquet", "jsonl", "frame"])
@pytest.mark.parametrize("name", ["replication", "temperature", "option_order"])
def test_truth_values_are_no_numbers(name, ending, tmp_path):
    rows = {"item_id": ["q", "q"], "replication": [0, 1], "verdict": ["A", "B"]}
    frame = pl.DataFrame({**rows, name: [True, False]})
    given = frame.lazy() if ending == "frame" else write(frame, tmp_path / f"r.{ending}")
    with pytest.raises(SweepError, match=f"{name}: expected a number, got a column of Boolean"):
        tally_file(given)


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"item_id": None}, "column missing: item_id"),
        ({"verdict": None, "score": None}, "column missing: verdict or score"),
        ({"item_id": ["q1", None, "q2", "q2"]}, "item_id is missing"),
        ({"replication": [0, None, 0, 1]}, "replication is missing"),
        ({"replication": [0, 1.5, 0, 1]}, "replication must be a whole number from 0 on"),
        ({"replication": [0, -1, 0, 1]}, "replication must be a whole number from 0 on"),
        (
            {"replication": [0, 2**63, 0, 1]},
            "replication must be at most 9007199254740991 (2^53 - 1)",
        ),
        (
            {"replication": [0, 2**53, 0, 1]},
            "replication must be at most 9007199254740991 (2^53 - 1)",
        ),
        ({"replication": [0, 0, 0, 1]}, "2 rows hold the same replication"),
        ({"outcome": ["scored", "fine", "unparsed", "scored"]}, "outcome is none of scored"),
        ({"outcome": ["scored"] * 4}, "scored without a verdict"),
        ({"outcome": ["refused", None, None, None]}, "beside an outcome other than scored"),
        ({"temperature": [0.7, 0.7, -1, 0.7]}, "temperature must be at least 0"),
        ({"confidence": [0.7, 1.7, 0.1, 0.7]}, "confidence must be between 0 and 1"),
        ({"score": [1.0, float("inf"), None, 1.0]}, "score must be finite"),
        ({"score": ["1", "two", None, "1"]}, "score: expected a number, got 'two'"),
        ({"score": ["1", "20 %", None, "1"]}, "Try: write 20: a number, no sign"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(change, told, tmp_path):
    rows = {name: values for name, values in {**ROWS, **change}.items() if values is not None}
    path = write(pl.DataFrame(rows, strict=False), tmp_path / "rows.csv")
    with pytest.raises(SweepError) as refusal:
        tally_file(path).rows.collect()
    assert told in str(refusal.value)
    assert "rows.csv" in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("name", "text", "to_try"),
    [
        ("confidence", "53%", "0.53"),
        ("confidence", "53,5 %", "0.535"),
        ("confidence", "53/100", "0.53"),
        ("confidence", "530%", None),
        ("confidence", "c = 0.5", "0.5"),
        ("confidence", "about 53", None),
        ("top_p", "95 %", "0.95"),
        ("score", "4 thumbs", "4"),
        ("score", "53,5%", "53.5"),
        ("score", "between 3 and 4", None),
        ("score", "gpt-4", None),
        ("temperature", "T=0.7", "0.7"),
        ("temperature", "default", None),
    ],
)
def test_what_is_to_be_written_for_a_text_is_accepted(name, text, to_try):
    rows = pl.DataFrame({**ROWS, name: ["1", text, "1", "1"]}, strict=False)
    with pytest.raises(SweepError) as refusal:
        tally_file(rows.lazy())
    said = re.search(r"^write ([\d.]+)(?::|$)", str(refusal.value.hint))
    assert (said and said[1]) == to_try, refusal.value.hint
    if to_try is not None:
        mended = rows.with_columns(pl.col(name).replace(text, to_try))
        assert tally_file(mended.lazy()).rows.collect()[name][1] == float(to_try)


def test_time_spans_are_no_verdicts(tmp_path):
    rows = pl.DataFrame({**ROWS, "verdict": [timedelta(days=1)] * 4})
    with pytest.raises(SweepError, match=r"verdict: expected text or a number, got .* time spans"):
        tally_file(write(rows, tmp_path / "rows.parquet"))


def test_the_row_at_fault_is_named(tmp_path):
    path = write(
        pl.DataFrame({**ROWS, "outcome": [None, None, "lost", None]}), tmp_path / "rows.csv"
    )
    with pytest.raises(SweepError, match=r"row=3, outcome=lost"):
        tally_file(path)


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("rows.pdf", "", "unknown kind of file"),
        ("rows.csv", "item_id,replication,verdict\n", "has no rows"),
        ("rows.csv", "", "the file is empty"),
        ("rows.jsonl", "not json", "line 1 is not JSON"),
        ("rows.parquet", "not parquet", "cannot be read: it is no whole Parquet file"),
    ],
)
def test_files_that_are_none_are_refused_in_one_line(name, text, told, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(SweepError) as refusal:
        tally_file(str(tmp_path / name))
    assert told in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_no_file_and_a_folder_are_told_apart(tmp_path):
    with pytest.raises(SweepError, match="no such file"):
        tally_file(str(tmp_path / "gone.csv"))
    with pytest.raises(SweepError, match="holds neither"):
        tally_file(str(tmp_path))


def test_a_file_goes_all_the_way(tmp_path):
    path = write(pl.DataFrame(ROWS), tmp_path / "rows.csv")
    found = reduce_judgments(tally_file(path).rows, coefficients=["valid_rate"])
    assert found.row(0, named=True)["value"] == 0.75


def test_a_doubled_row_names_its_temperature_as_people_write_it(tmp_path):
    file = tmp_path / "twice.csv"
    file.write_text("item_id,replication,temperature,verdict\nq1,0,0,A\nq1,0,0,B\n")
    with pytest.raises(SweepError) as told:
        tally_file(str(file))
    assert told.value.where["temperature"] == "0"


def test_rows_equal_in_all_columns_are_copies_and_count_once(tmp_path):
    file = tmp_path / "twice.csv"
    file.write_text("item_id,replication,verdict\nq1,0,A\nq1,0,A\nq1,1,B\n")
    found = tally_file(str(file))
    assert found.rows.collect()["verdict"].to_list() == ["A", "B"]
    said = "1 row equal in every column to an earlier one, left out as copies"
    assert said in found.notes


def test_repeats_that_no_column_numbers_are_numbered_and_it_is_said(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("item_id,verdict\nq,x\nq,y\n")
    found = tally_file(str(path))
    assert found.rows.collect()["replication"].to_list() == [0, 1]
    assert found.notes == ("read rows alike as repeats, numbered in their order",)


@pytest.mark.parametrize(
    ("heads", "line"),
    [
        ("item,rep,verdict", "read item as item_id; rep as replication"),
        ("Question_ID,Verdict,judge", "read Question_ID as item_id; Verdict as verdict"),
        ("item_id,replicate,rating", "read replicate as replication; rating as score"),
    ],
)  # fmt: skip
def test_a_column_of_another_name_is_read_and_it_is_said(heads, line, tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(f"{heads}\n{','.join('1' for _ in heads.split(','))}\n")
    assert line in tally_file(str(path)).notes


def test_a_column_that_no_column_can_be_is_missing(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("judge,label,outcome\n1,1,1\n")
    with pytest.raises(SweepError) as refused:
        tally_file(str(path))
    assert "column missing: item_id; got judge, label, outcome" in str(refused.value)
    assert "Try: --column item_id=COLUMN, COLUMN one of" in str(refused.value)


@pytest.mark.parametrize(
    ("texts", "line"),
    [
        (["4/5", "3/5"], "score: read the number of '4/5' (2 texts), all of them out of 5"),
        (["3", "4 out of 5"], "score: read the number of '4 out of 5' (1 text), all of them out "
         "of 5"),
        (["1,5", "2"], "score: read the number of '1,5' (1 text)"),
    ],
)  # fmt: skip
def test_scores_that_texts_state_are_read_and_it_is_said(texts, line):
    rows = pl.LazyFrame({"item_id": ["q", "q"], "replication": [0, 1], "score": texts})
    found = tally_file(rows)
    assert found.notes[0] == line
    assert found.rows.collect()["score"].to_list() == [
        float(one.partition("/")[0].partition(" ")[0].replace(",", ".")) for one in texts
    ]


@pytest.mark.parametrize(
    "texts", [["4/5", "7"], ["4/5", "4/10"], ["4/5", "good"], ["1,5", "1,000"]]
)
def test_scores_of_which_one_states_none_are_refused(texts):
    rows = pl.LazyFrame({"item_id": ["q", "q"], "replication": [0, 1], "score": texts})
    with pytest.raises(SweepError, match="score: expected a number"):
        tally_file(rows)


@pytest.mark.parametrize("orders", [["AB", "BA"], ["swapped", "original"], ["True", "False"]])
def test_orders_in_words_are_numbered_the_listed_one_first(orders):
    rows = pl.LazyFrame({"item_id": ["q", "q"], "replication": [0, 0], "option_order": orders,
                         "score": [1, 2]})  # fmt: skip
    places = {"AB": 0, "BA": 1, "swapped": 1, "original": 0, "True": 1, "False": 0}
    found = tally_file(rows).rows.collect()
    assert found["option_order"].to_list() == [places[one] for one in orders]


@pytest.mark.parametrize("items", [["q1", None, "q2", "q2"], ["q1", "q2", "q3", None]])
def test_an_item_that_is_missing_is_no_merged_cell_beside_items_that_are_repeated(items):
    rows = pl.LazyFrame({"item_id": items, "replication": [0, 1, 0, 1], "verdict": [*"abab"]})
    with pytest.raises(SweepError, match="item_id is missing"):
        tally_file(rows)


@pytest.mark.slow
def test_a_file_of_many_columns_is_refused_in_a_short_line(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(",".join(f"c{i}" for i in range(500)) + "\n" + "," * 499)
    with pytest.raises(SweepError, match=r"got (c\d+, ){9}c\d+ and 490 more \["):
        tally_file(str(path))


@pytest.mark.parametrize(
    ("column", "told", "got", "hint"),
    [
        ("temperature", "hot", "a number, got 'hot'", "write the temperature"),
        ("top_k", "all", "a whole number, got 'all'", "leave it empty"),
    ],
)
def test_text_where_a_number_belongs_is_told_by_column(tmp_path, column, told, got, hint):
    path = tmp_path / "judgments.csv"
    path.write_text(f"item_id,replication,verdict,{column}\nq1,0,A,\nq1,1,A,{told}\nq2,0,B,\n")
    with pytest.raises(SweepError, match=f"^{column}: expected {got}") as caught:
        tally_file(str(path))
    assert "row=2" in str(caught.value)
    assert f"Try: {hint}" in str(caught.value)
    assert "conversion" not in str(caught.value)


def test_a_column_that_the_first_line_lacks_is_refused_before_rows_are_read(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"id,said\n1,\xff\n")
    with pytest.raises(SweepError, match="no column 'nope' for x, got id, said"):
        tally_file(str(path), stated={"x": "nope"})
    with pytest.raises(SweepError, match="UTF-8"):
        tally_file(str(path), stated={"verdict": "said"})


@pytest.mark.alike(2)
@pytest.mark.parametrize(
    ("text", "stated", "by_row"),
    [
        ("sep=;\nid;r;said\n1;0;A\n1;1;B\n", {"item_id": "id", "verdict": "said"}, False),
        ("A sheet,,\n\nitem_id,replication,said\n1,0,A\n1,1,B\n", {"verdict": "said"}, False),
        ("id,trial,winner\n1,0,A\n1,1,B\n", {"verdict": "verdict"}, False),
        ("k,said\n0,A\n1,B\n", {"item_id": "item_id", "verdict": "said"}, True),
    ],
)
def test_a_column_that_more_than_the_first_line_names_is_read(tmp_path, text, stated, by_row):
    path = tmp_path / "a.csv"
    path.write_text(text)
    assert tally_file(str(path), stated=stated, by_row=by_row).rows.collect().height == 2
