"""Sheets as people keep them: read whole by what their columns mean, or asked in one line."""

from __future__ import annotations

import io
import json
import shlex
import warnings
from pathlib import Path

import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.cli import main
from judgerel_ray.core import ReadingWarning, SweepError
from judgerel_ray.counting.files.laid_out import once_each
from judgerel_ray.counting.files.meaning import meaning_of
from judgerel_ray.counting.files.source import read_source

SHEETS = Path(__file__).resolve().parents[1] / "cases" / "sheets"

# file: group's value, agreement, judgments, items; counted apart from this package.
RIGHT = {
    "first-minute/natural.csv": {"gpt": (0.916, 500, 100), "haiku": (0.774, 500, 100)},
    "first-minute/runs.csv": {"": (0.556, 36, 12)},
    "first-minute/spalten.csv": {"": (0.778, 36, 12)},
    "first-minute/judges.csv": {
        "gpt-4o": (None, 12, 12), "claude-3.5": (None, 12, 12), "gemini": (None, 12, 12),
    },
    "tables/nested_votes.json": {"m1": (None, 20, 5)},
    "tables/nested_scores.jsonl": {"": (None, 15, 5)},
    "tables/w1_runs.csv": {"": (0.556, 36, 12)},
    "tables/w5_runreason.csv": {"": (0.722, 36, 12)},
    "tables/w6_scoretext.csv": {"": (0.528, 36, 12)},
    "tables/w6c_wide.csv": {"": (0.694, 36, 12)},
    "tables/w8_de.csv": {"": (0.778, 36, 12)},
    "tables/w9_zh.csv": {"裁判甲": (0.556, 36, 12)},
    "tables/w10_emoji.csv": {"": (None, 36, 12)},
    "tables/w12_time.csv": {"judge-x": (0.917, 24, 12)},
    "tables/w13_dups.csv": {"judge-x": (0.917, 24, 12)},
    "tables/w14_merged.csv": {"": (0.722, 36, 12)},
    "tables/w16_title.csv": {"": (0.722, 36, 12)},
    "tables/w18_json.csv": {"": (0.778, 36, 12)},
    "tables/w18b_fenced.csv": {"": (0.667, 36, 12)},
    "tables/w18c_mixed.csv": {"": (0.722, 36, 12)},
    "tables/w19_bool.csv": {"": (0.944, 36, 12)},
    "tables/w28_repeatidx.jsonl": {"jm": (0.528, 48, 12)},
    "tables/run-files/*.csv": {"": (0.694, 36, 12)},
    "tables/dup_rep.csv": {"": (None, 6, 3)},
    "tables/retry.csv": {"": (None, 4, 2)},
    "tables/passed01.csv": {"m": (0.667, 6, 3)},
    "tables/w3_judges.csv": {
        "gpt-4o": (None, 12, 12), "claude-3.5": (None, 12, 12), "gemini": (None, 12, 12),
    },
    "tables/w4_prov.csv": {
        "openai/gpt-4o-2024-08-06": (None, 12, 12), "google/gemini-1.5-pro-002": (None, 12, 12),
    },
    "tables/lf_scores.csv": {"helpfulness": (None, 4, 2), "toxicity": (None, 4, 2)},
    "tables/w22_ragas.csv": {
        "faithfulness": (None, 36, 12), "answer_relevancy": (None, 36, 12),
        "context_precision": (None, 36, 12),
    },
    "tables/w22b_langsmith.csv": {"correctness": (0.889, 36, 12), "conciseness": (None, 36, 12)},
}  # fmt: skip
SAID = {
    "first-minute/natural.csv": (
        "read id as item_id; model as judge; run as replication; label as verdict"
    ),
    "tables/dup_rep.csv": "2 rows equal in every column to an earlier one, left out as copies",
    "tables/retry.csv": "1 row without a verdict beside one of the same replication that has it",
    "tables/w13_dups.csv": "48 rows equal in every column to an earlier one",
    "tables/w14_merged.csv": "item_id: 24 empty cells filled from the row above, as merged cells",
    "tables/w16_title.csv": "2 lines above the names of columns left out, as a title",
    "tables/w6_scoretext.csv": "score: read the number of 'Score: 2/5' (36 texts), all of them",
    "tables/run-files/*.csv": "each file is a repeat of its own, by the number in its name",
    "tables/w17_errors.csv": "look like errors beside the verdicts No, Yes: 'Error code: 429",
    "tables/w17b.csv": "look like errors beside the verdicts fail, pass",
    "tables/w7_yesbecause.csv": "--leading-word reads each by the word it begins with",
    "tables/w7b_few.csv": "--leading-word reads each by the word it begins with",
    "tables/zero_fail.csv": "score 0 (6) is apart from all others, which are 2 to 5",
}


def agreement(path, **options):
    """Agreement, judgments and items of every group, and the lines that were said."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = judgerel_ray.reduce(
            path, coefficients="percent_agreement", missing="drop", **options
        )
    rows = found.filter(coefficient="percent_agreement").unique(maintain_order=True)
    first = found.columns[0] if found.columns[0] != "coefficient" else None
    by_group = {
        "" if first is None else row[first]: (row["value"], row["n_judgments"], row["n_items"])
        for row in rows.iter_rows(named=True)
    }
    return by_group, [str(one.message) for one in caught]


@pytest.mark.alike(5)
@pytest.mark.parametrize("sheet", RIGHT)
def test_a_sheet_is_read_whole_by_one_command(sheet):
    found, _ = agreement(str(SHEETS / sheet))
    assert found.keys() == RIGHT[sheet].keys()
    for group, (value, judgments, items) in RIGHT[sheet].items():
        assert found[group][1:] == (judgments, items)
        if value is not None:
            assert found[group][0] == pytest.approx(value, abs=5e-4)


@pytest.mark.alike(3)
@pytest.mark.parametrize("sheet", SAID)
def test_what_was_done_or_may_be_wrong_is_said(sheet):
    _, said = agreement(str(SHEETS / sheet))
    assert any(SAID[sheet] in line for line in said), said


@pytest.mark.parametrize(("sheet", "value"), [("w7_yesbecause.csv", 0.778), ("w7b_few.csv", 0.722)])
def test_the_leading_word_is_the_verdict_where_that_is_asked_for(sheet, value):
    found, _ = agreement(str(SHEETS / "tables" / sheet), leading_word=True)
    assert found[""][0] == pytest.approx(value, abs=5e-4)


@pytest.mark.parametrize(
    ("sheet", "words"),
    [
        ("first-minute/pairs.csv", "with --verdict-names place A is the answer shown first"),
        ("tables/w27_case.csv", "several columns may hold what the judge said"),
        ("tables/oaievals.jsonl", "several columns may hold what the judge said"),
        ("tables/arena_marks.csv", "with --verdict-names place A is the answer shown first"),
        ("tables/arena_single.jsonl", "a log of fastchat is imported first"),
        ("tables/alp0.json", "a log of alpaca_eval is imported first"),
    ],
)
def test_what_may_be_two_things_is_asked_in_one_line(sheet, words, capsys):
    assert main(["reduce", str(SHEETS / sheet)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert words in err.splitlines()[-1]


@pytest.mark.slow
def test_pairs_are_read_by_either_answer(capsys):
    path = str(SHEETS / "first-minute" / "pairs.csv")
    for names in ("place", "option"):
        assert main(["reduce", path, "--verdict-names", names]) == 0
        assert "240 replies" in capsys.readouterr().out


@pytest.mark.alike(2)
@pytest.mark.parametrize("sheet", [
    "tables/w27_case.csv", "tables/oaievals.jsonl", "tables/arena_marks.csv",
    "first-minute/pairs.csv",
])  # fmt: skip
def test_every_flag_that_a_refusal_names_works(sheet, capsys):
    """Each way that is suggested is followed: the sheet is read, or asked for one thing more."""
    path = str(SHEETS / sheet)
    assert main(["reduce", path]) == 2
    hint = capsys.readouterr().err.rpartition("Try: ")[2].strip()
    for way in hint.split(" or "):
        assert main(["reduce", path, *shlex.split(way)]) == 0, way
        capsys.readouterr()


@pytest.mark.slow
def test_labels_beside_a_file_are_its_gold():
    mine, gold = (str(SHEETS / "labels" / name) for name in ("mine.csv", "gold.csv"))
    labels = str(SHEETS / "labels" / "labels.csv")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReadingWarning)
        for verb, table in (
            ("reduce", lambda found: found),
            ("gate", lambda found: found.requirements),
            ("select", lambda found: found.systems),
            ("systems", lambda found: found.pairs),
            ("panels", lambda found: found.members),
        ):
            options = {"coefficients": "accuracy"} if verb == "reduce" else {}
            one = table(getattr(judgerel_ray, verb)(mine, labels=labels, **options))
            other = table(getattr(judgerel_ray, verb)(gold, **options))
            assert one.equals(other), verb


def test_files_named_on_a_command_line_are_one_table(capsys):
    files = [str(SHEETS / "tables" / "run-files" / f"run{n}.csv") for n in (3, 1, 2)]
    assert main(["reduce", *files]) == 0
    assert "36 replies" in capsys.readouterr().out
    assert main(["reduce", files[0], str(SHEETS / "labels" / "mine.csv")]) == 2
    assert "files differ in their columns" in capsys.readouterr().err


def test_rows_of_one_item_that_a_column_may_tell_apart_are_no_repeats():
    rows = pl.DataFrame({
        "question": ["a", "a", "b", "b"], "verdict": ["x", "y", "x", "x"],
        "prompt_version": ["v1", "v2", "v1", "v2"],
    })  # fmt: skip
    with pytest.raises(SweepError, match="differ in column prompt_version, not read"):
        judgerel_ray.reduce(rows)


@pytest.mark.parametrize(
    ("column", "value"),
    [("human_label", "x"), ("gold", "x"), ("expected", "x"), ("annotator", "x")],
)
def test_what_people_said_is_never_a_judge_or_its_verdict(column, value):
    rows = pl.LazyFrame({"id": ["a", "a"], "run": [0, 1], column: [value, value]})
    found = meaning_of(rows)
    assert not set(found.columns) & {"judge", "verdict", "score"}
    assert found.lacking == ("verdict or score",)


def test_a_name_that_is_on_no_list_means_nothing():
    found = meaning_of(pl.LazyFrame({"item": ["a", "a"], "verdikt": ["x", "y"]}))
    assert found.lacking == ("verdict or score",)


def test_lists_are_unfolded_and_never_taken_by_their_first():
    rows = read_source(str(SHEETS / "tables" / "nested_votes.json")).rows
    found = meaning_of(rows)
    assert found.columns["verdict"] == "votes.*.winner"
    assert found.columns["replication"] == "votes.*.run_index"


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    "sheet", ["label_gold_ab.csv", "label_gold_place.csv", "label_is_gold.csv"]
)
def test_a_label_that_stays_while_the_verdict_changes_is_no_place(sheet):
    rows = pl.read_csv(SHEETS / "tables" / sheet)
    for names in (None, "option"):
        options = {} if names is None else {"verdict_names": names}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            labelled = judgerel_ray.reduce(rows, **options)
            bare = judgerel_ray.reduce(rows.drop("label"), **options)
        assert labelled.equals(bare)
        said = [str(one.message) for one in caught]
        assert any("it says what is right, not which place was chosen" in line for line in said)
    if sheet != "label_gold_place.csv":  # labels are verdicts, and may be compared with them
        assert any(line.endswith("--column gold=label compares with it") for line in said)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ReadingWarning)
            right = judgerel_ray.reduce(
                rows, columns={"gold": "label"}, coefficients="accuracy",
                verdict_names="option",
            )["value"].drop_nulls()  # fmt: skip
        expected = (rows["verdict"] == rows["label"]).mean()
        assert right.to_list() == [pytest.approx(expected)] * len(right)
        assert len(right)


def test_a_label_that_is_the_place_stays_one():
    rows = pl.DataFrame({
        "item_id": [*"qqqqrrrr"], "replication": [0, 1] * 4, "option_order": [0, 0, 1, 1] * 2,
        "verdict": [*"xyxxyyyx"], "label": [*"ABBBBBAB"],
    })  # fmt: skip
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = judgerel_ray.reduce(rows)
    assert not any("what is right" in str(one.message) for one in caught)
    assert found.filter(coefficient="position_bias").height


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("marks", "read"),
    [
        (["A>B", "B>A"], ["A>B", "A>B"]),
        (["A>B", "A>B"], ["A>B", "B>A"]),
        (["A=B", "tie"], ["tie", "tie"]),
        (["[[A>>B]]", "B >> A"], ["A>>B", "A>>B"]),
        (["A<B", "A > B"], ["B>A", "B>A"]),
    ],
)
def test_marks_beside_an_order_are_read_by_place(marks, read):
    from judgerel_ray.core.verb import Named
    from judgerel_ray.counting.snapshot import Snapshot

    rows = pl.DataFrame({
        "item_id": [*"qqrr"], "replication": [0] * 4, "option_order": [0, 1] * 2,
        "verdict": [*marks, "A>B", "B>A"],
    })  # fmt: skip
    with Snapshot.open(rows, Named(verdict_names="place")) as judged:
        found = judged.frame.collect()
    assert found["verdict"].to_list() == [*read, "A>B", "A>B"]
    assert found["label"][2:].to_list() == ["A", "B"]


def test_events_that_hold_a_verdict_are_read_and_the_others_said():
    path = str(SHEETS / "tables" / "oaievals.jsonl")
    found, said = agreement(path, columns={"verdict": "data.choice"})
    assert found[""][1:] == (6, 3)
    line = "read events of type metrics, which hold verdicts; left out: sampling (6), without a "
    assert f"{line}type (2)" in said


def test_numbered_raters_are_judges_and_numbered_runs_are_repeats():
    for stem, facet in (("rater", "judge"), ("judge_", "judge"), ("run", "replication")):
        rows = pl.LazyFrame({"id": ["a", "b"], f"{stem}1": ["x", "y"], f"{stem}2": ["x", "x"]})
        siblings = meaning_of(rows).siblings
        assert siblings is not None
        assert siblings.columns == (f"{stem}1", f"{stem}2")
        assert [*siblings.facets] == [facet]
    assert siblings.facets == {"replication": ("0", "1")}


def test_a_prediction_is_the_verdict_and_the_label_beside_it_is_not():
    rows = pl.LazyFrame({
        "task": ["a", "a", "b", "b"], "run": [0, 1, 0, 1],
        "prediction": ["yes", "no", "no", "no"], "label": ["yes", "yes", "no", "no"],
    })  # fmt: skip
    assert meaning_of(rows).columns == {
        "item_id": "task", "replication": "run", "verdict": "prediction",
    }  # fmt: skip


def test_rows_that_differ_inside_a_cell_are_no_copies():
    row = {"item_id": "q", "replication": 0, "verdict": "pass"}
    rows = pl.LazyFrame([{**row, "meta": {"model": name}} for name in ("a", "a", "b")])
    found, said = once_each(rows, list(rows.collect_schema()))
    assert found.collect()["meta"].to_list() == [{"model": "a"}, {"model": "b"}]
    assert said == ["1 row equal in every column to an earlier one, left out as copies"]


@pytest.mark.alike(8)
@pytest.mark.parametrize("sheet", [one for one in RIGHT if "*" not in one])
def test_a_sheet_that_is_piped_is_read_as_its_file(sheet, monkeypatch):
    content = (SHEETS / sheet).read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert agreement("-")[0] == agreement(str(SHEETS / sheet))[0]


@pytest.mark.slow
def test_what_is_piped_is_told_by_what_it_begins_with(monkeypatch, capsys):
    rows = pl.DataFrame({"id": ["q", "q"], "run": [0, 1], "winner": ["x", "y"]})
    packed = io.BytesIO()
    rows.write_parquet(packed)
    lines = rows.write_ndjson().encode()
    for content in (packed.getvalue(), lines, json.dumps(rows.to_dicts(), indent=1).encode(),
                    lines.splitlines()[0], rows.write_csv(separator=";").encode()):  # fmt: skip
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert main(["reduce", "-"]) == 0, content
        assert "winner as verdict" in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO()))
    assert main(["reduce", "-"]) == 2
    assert "the file is empty [file=standard input]" in capsys.readouterr().err
