"""Logs of one's own, their columns named by what they stand for."""

import json
from pathlib import Path

import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.core import ReadingWarning, SweepError
from judgerel_ray.counting.judgments import tally_file
from judgerel_ray.importers import TableMapping, import_table, read_foreign_judgments
from judgerel_ray.measuring.reliability import reduce_judgments

CASES = Path(__file__).parent.parent / "cases"
LONG = {
    "question": ["q1", "q1", "q2", "q2"],
    "round": [0, 1, 0, 1],
    "pick": ["A", "tie", "B", "none"],
    "model": ["j"] * 4,
    "note": ["x"] * 4,
}
NAMED = {"item_id": "question", "replication": "round", "verdict": "pick", "judge": "model"}


@pytest.fixture(params=["parquet", "csv", "jsonl"])
def write(request, tmp_path):
    def written(rows, **schema):
        frame = pl.DataFrame(rows, schema_overrides=schema)
        path = tmp_path / f"log.{request.param}"
        writer = {"parquet": "write_parquet", "csv": "write_csv", "jsonl": "write_ndjson"}
        getattr(frame, writer[request.param])(path)
        return str(path)

    return written


def test_columns_are_named_and_others_left_out(write):
    mapping = TableMapping(columns=NAMED, missing=("none",), values={"temperature": "0.7"})
    found = import_table(write(LONG), mapping)
    assert found.columns == ["judge", "item_id", "replication", "verdict", "temperature"]
    assert found.rows() == [
        ("j", "q1", 0, "A", 0.7),
        ("j", "q1", 1, "tie", 0.7),
        ("j", "q2", 0, "B", 0.7),
        ("j", "q2", 1, None, 0.7),
    ]


def test_an_order_gives_scores(write):
    mapping = TableMapping(columns=NAMED, missing=("none",), order=("A", "tie", "B"))
    assert import_table(write(LONG), mapping)["score"].to_list() == [0.0, 1.0, 2.0, None]
    with pytest.raises(SweepError, match="verdict 'none' is not in the order A, tie, B"):
        import_table(write(LONG), TableMapping(columns=NAMED, order=("A", "tie", "B")))


def test_repeats_side_by_side_are_replications_in_their_order(write):
    rows = {"item": [1, 2], "s10": [3, 4], "s2": [5, -1], "t": [9, 9]}
    mapping = TableMapping(columns={"item_id": "item"}, repeats="s*", missing=("-1",))
    found = import_table(write(rows), mapping).sort("item_id", "replication")
    assert found.select("item_id", "replication", "score").rows() == [
        ("1", 0, 3.0), ("1", 1, 5.0), ("2", 0, 4.0), ("2", 1, None),
    ]  # fmt: skip


def test_repeats_of_words_are_verdicts(tmp_path):
    pl.DataFrame({"item_id": ["q"], "a": ["Yes"], "b": [None]}, schema_overrides={"b": pl.String}
                 ).write_parquet(tmp_path / "log.parquet")  # fmt: skip
    found = import_table(str(tmp_path / "log.parquet"), TableMapping(repeats="[ab]"))
    assert found.select("replication", "verdict").rows() == [(0, "Yes"), (1, None)]


def test_a_part_of_a_text_and_several_columns_together(write):
    rows = {"pair": ["81;x;y", "82;y;x"], "subset": ["s", "t"], "n": [0, 0], "score": [1.0, 2.0]}
    mapping = TableMapping(
        columns={"item_id": r"pair:^(\d+);", "responder": "subset,pair", "replication": "n"}
    )
    found = import_table(write(rows), mapping)
    assert found.select("item_id", "responder").rows() == [
        ("81", "s:81;x;y"),
        ("82", "t:82;y;x"),
    ]


def test_values_fill_only_what_is_not_there(write):
    rows = {"item_id": ["q", "q"], "replication": [0, 1], "score": [1.0, 2.0],
            "temperature": [0.0, None]}  # fmt: skip
    found = import_table(write(rows), TableMapping(values={"temperature": "1", "judge": "j"}))
    assert found.select("temperature", "judge").rows() == [(0.0, "j"), (1.0, "j")]


def test_what_is_imported_can_be_reduced(tmp_path):
    pl.DataFrame({"item": [1, 1, 2], "s0": [1, 2, 3], "s1": [1, 2, 4], "r": ["a", "b", "a"]}
                 ).write_parquet(tmp_path / "log.parquet")  # fmt: skip
    mapping = TableMapping(columns={"item_id": "item", "responder": "r"}, repeats="s?")
    found = read_foreign_judgments("table", str(tmp_path / "log.parquet"), mapping)
    found.write_parquet(tmp_path / "judgments.parquet")
    row = reduce_judgments(
        tally_file(str(tmp_path / "judgments.parquet")).rows, coefficients=["krippendorff_alpha"]
    ).row(0, named=True)
    assert (row["unit"], row["measurement"], row["n_judgments"]) == (
        "item_id x responder", "interval", 6,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("mapping", "said"),
    [
        (TableMapping(), "column missing: verdict or score; got question, round, pick"),
        (TableMapping(columns={"item_id": "questoin"}), "no column 'questoin'.*item_id=question"),
        (TableMapping(columns={"item_id": "question:("}), "no regular expression"),
        (TableMapping(columns={"item_id": "question:q"}), r"takes nothing out. Try: \(q\)"),
        (TableMapping(columns={**NAMED, "score": "pick"}), "score: expected a number, got 'A'"),
        (TableMapping(columns=NAMED, repeats="z*"), "no column is like 'z.'"),
        (TableMapping(columns=NAMED, repeats="note"), "repeats give replication and .* is there"),
        (
            TableMapping(columns={"item_id": "question", "replication": "round", "score": "round"},
                         order=("A",)),
            "an order gives scores to verdicts, the table has scores",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_line(tmp_path, mapping, said):
    pl.DataFrame(LONG).write_parquet(tmp_path / "log.parquet")
    with pytest.raises(SweepError, match=said) as caught:
        import_table(str(tmp_path / "log.parquet"), mapping)
    assert "\n" not in str(caught.value)


def test_names_that_judgments_do_not_have_are_refused():
    with pytest.raises(SweepError, match=r"no column 'item'.*Try: item_id"):
        TableMapping(columns={"item": "x"})
    with pytest.raises(SweepError, match=r"no column 'temprature'.*Try: temperature"):
        TableMapping(values={"temprature": "1"})


def test_other_formats_name_their_own_columns(tmp_path):
    with pytest.raises(SweepError, match="the columns of people are fixed"):
        read_foreign_judgments("people", "x.parquet", TableMapping(repeats="s?"))
    (tmp_path / "log.txt").write_text("x")
    with pytest.raises(SweepError, match=r".tsv, .jsonl, .ndjson or .json, got .txt"):
        import_table(str(tmp_path / "log.txt"))


@pytest.mark.parametrize(
    ("header", "line"),
    [
        ("item_id,epoch,verdict", "read epoch as replication"),
        ("item_id,replication,winner", "read winner as verdict"),
    ],
)
def test_a_column_that_fits_by_its_name_is_read_and_said(tmp_path, header, line):
    (tmp_path / "log.csv").write_text(f"{header}\nq,0,1\n")
    with pytest.warns(ReadingWarning, match=f"^{line}$"):
        found = import_table(str(tmp_path / "log.csv"))
    assert found.columns == ["item_id", "replication", "verdict"]


def test_several_columns_that_fit_are_hinted_and_each_hint_works(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("question_id,grade,points\nq,0,1\n")
    with pytest.raises(SweepError, match="several columns may hold what the judge said") as refused:
        import_table(str(path))
    assert refused.value.hint == "--column score=grade or --column score=points"
    for way in refused.value.hint.split(" or "):
        place = way.partition("score=")[2]
        with pytest.warns(ReadingWarning):
            assert import_table(str(path), TableMapping(columns={"score": place})).height == 1


def test_repeats_that_no_column_numbers_are_numbered_in_their_order_and_it_is_said(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("judge,item,at,verdict\na,q,1,x\nb,q,2,x\na,q,3,y\na,r,4,x\n")
    named = TableMapping(columns={"item_id": "item"})
    with pytest.warns(ReadingWarning) as told:
        found = import_table(str(path), named)
    rows = found.select("judge", "item_id", "replication", "verdict").rows()
    assert rows == [("a", "q", 0, "x"), ("b", "q", 0, "x"), ("a", "q", 1, "y"), ("a", "r", 0, "x")]
    assert [str(one.message) for one in told] == [
        "read rows alike as repeats, numbered in their order; not used: at (no name of judgments)"
    ]


@pytest.mark.parametrize(
    "rows",
    [
        "q,v1,x\nq,v2,y\nr,v1,x\nr,v2,x\n",
        "q,x-first,x\nq,y-first,y\nr,x-first,x\nr,y-first,y\n",  # a judge that goes by place
    ],
)
def test_rows_that_a_column_not_read_tells_apart_are_not_taken_for_repeats(tmp_path, rows):
    path = tmp_path / "log.csv"
    path.write_text("item_id,version,verdict\n" + rows)
    with pytest.raises(SweepError, match="differ in column version, not read"):
        import_table(str(path))
    for role in ("template", "judge", "criterion"):
        apart = TableMapping(columns={role: "version"})
        found = import_table(str(path), apart)  # nothing repeats, of which a line would be said
        assert found[role].to_list() == [line.split(",")[1] for line in rows.split()]


def test_one_value_an_item_tells_no_repeats_apart(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("item_id,version,verdict\nq,v1,x\nq,v1,y\nr,v2,x\nr,v2,x\n")
    with pytest.warns(ReadingWarning, match="numbered in their order"):
        assert import_table(str(path))["replication"].to_list() == [0, 1, 0, 1]


@pytest.mark.filterwarnings("ignore::judgerel_ray.ReadingWarning")
def test_an_order_of_options_in_words_is_read_and_said(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("item_id,order,verdict\nq,BA,x\nq,AB,y\nr,AB,x\nr,BA,x\n")
    with pytest.warns(ReadingWarning, match="column option_order: read AB as 0, BA as 1"):
        found = import_table(str(path))
    assert found["option_order"].to_list() == [1, 0, 0, 1]
    assert found["replication"].to_list() == [0] * 4


def test_rows_that_are_equal_are_repeats():
    mapping = TableMapping(columns={"item_id": "question_id", "verdict": "passed"})
    with pytest.warns(ReadingWarning, match="rows alike as repeats, numbered in their order"):
        found = import_table(str(CASES / "passed01.csv"), mapping)
    assert found["replication"].to_list() == [0, 1] * 3
    (agreement,) = judgerel_ray.reduce(found, coefficients="percent_agreement")["value"]
    assert agreement == pytest.approx(2 / 3)


def test_another_order_swaps_what_marks_of_places_mean_and_a_tie_stays_one():
    named = {"item_id": "pair_id", "option_order": "order", "verdict": "decision"}
    found = import_table(str(CASES / "arena_marks.csv"), TableMapping(columns=named))
    said = judgerel_ray.reduce(found, verdict_names="place").drop_nulls("value")
    # p0, p2 (the tie) and p3 stay what they are in the other order; p1, p4 and p5 do not.
    for name in ("percent_agreement", "swap_consistency"):
        assert said.filter(coefficient=name)["value"].to_list() == [0.5]


@pytest.mark.filterwarnings("ignore::judgerel_ray.ReadingWarning")
def test_numbers_with_a_comma_are_read_and_it_is_said(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("item_id;replication;score\nq;0;1,5\n")
    with pytest.warns(ReadingWarning, match="score: read the number of '1,5'"):
        assert import_table(str(path))["score"].to_list() == [1.5]
    path.write_text('item_id,s0,s1\nq,2,"1,5"\n')
    with pytest.warns(ReadingWarning, match="score: read the number of '1,5'"):
        found = import_table(str(path), TableMapping(repeats="s?"))
    assert found["score"].to_list() == [2.0, 1.5]


EVAL_LOG = [
    {"id": "q1", "epoch": 1, "model": {"id": "m", "name": "M"},
     "scores": {"graded": {"value": "C", "answer": "Paris", "explanation": "so"}}},
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::judgerel_ray.ReadingWarning")
def test_names_inside_objects_lead_to_verdicts_and_questions(tmp_path):
    """Not to the answer that was judged, nor to the id of what judged it."""
    path = tmp_path / "log.json"
    path.write_text(json.dumps({"samples": EVAL_LOG}))
    said = "read id as item_id; epoch as replication; scores.graded.value as verdict"
    assert any(said in note for note in tally_file(str(path)).notes)
    with pytest.warns(ReadingWarning, match=said):
        assert import_table(str(path)).rows() == [("q1", 1, "C")]


def test_the_id_of_another_thing_is_not_taken_for_the_question(tmp_path):
    rows = [{"provider": {"id": "p"}, "testIdx": 1, "run": 0, "passed": True}]
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.warns(ReadingWarning, match="read testIdx as item_id; run as replication"):
        assert import_table(str(path))["item_id"].to_list() == ["1"]


@pytest.mark.parametrize("name", ["item_id", "replication"])
def test_a_row_that_belongs_nowhere_is_refused(tmp_path, name):
    """A summary in the last line of a log, say; reduce refused what was written of it."""
    path = tmp_path / "log.jsonl"
    row = {"item_id": "q", "replication": 0, "verdict": "A"}
    path.write_text(f"{json.dumps(row)}\n{json.dumps({**row, name: None})}\n")
    with pytest.raises(SweepError, match=rf"{name} is missing .*row=2"):
        import_table(str(path))


def test_columns_of_several_judges_are_not_taken_for_repeats_in_silence(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text("item_id,verdict_gpt4,verdict_claude\nq,A,B\nr,A,A\n")
    said = r"verdict_gpt4, verdict_claude are read as repeats of one judge; .* --value judge="
    with pytest.warns(ReadingWarning, match=said):
        assert import_table(str(path), TableMapping(repeats="verdict_*")).height == 4
    one = TableMapping(columns={"verdict": "verdict_gpt4"}, values={"judge": "verdict_gpt4"})
    found = import_table(str(path), one)
    assert found.select("judge", "verdict").rows() == [("verdict_gpt4", "A")] * 2


def test_who_judged_by_another_name_is_said_where_rows_are_numbered(tmp_path):
    path = tmp_path / "two.csv"
    path.write_text("item_id,replication,judge_model,verdict\nq,0,a,A\nq,1,b,B\n")
    with pytest.warns(ReadingWarning, match="column judge_model is not read, and rows that count"):
        import_table(str(path))
    found = import_table(str(path), TableMapping(columns={"judge": "judge_model"}))
    assert found["judge"].to_list() == ["a", "b"]
