"""Spellings of one word are one verdict, words for nothing are none, and both are said."""

import polars as pl
import pytest

from judgerel_ray.counting.judgments import tally_file
from judgerel_ray.counting.verdicts.spelling import spellings_of
from judgerel_ray.measuring.reliability import reduce_judgments


def rows(verdicts, **columns):
    """One question, asked once for each verdict."""
    n = len(verdicts)
    told = {"item_id": ["q"] * n, "replication": list(range(n)), "verdict": verdicts} | columns
    return pl.DataFrame(told, strict=False).lazy()


def shown(tally):
    """Verdicts by rows that have them."""
    counts = tally.nested.long(["item_id"])
    return dict(counts.group_by("verdict").agg(pl.col("n").sum()).sort("verdict").rows())


def agreement(tally):
    found = reduce_judgments(tally, coefficients=["percent_agreement"], missing=["drop"])
    return found["value"][0]


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (["PASS", "pass", " PASS", "PASS"], {"PASS": 4}),
        (["True", "true", "TRUE", "true"], {"true": 4}),
        (["1", "1.0", "1 ", "1", "+1"], {"1": 5}),
        (["b", "B"], {"B": 2}),  # as many of each: the first in order
        (["not sure", "Not  Sure"], {"Not  Sure": 2}),
        (["caf\u00e9", "cafe\u0301", "caf\u00e9"], {"caf\u00e9": 3}),
        (["PASS", "\uff30\uff21\uff33\uff33", "PASS\u200b", "\ufeffPASS", "PASS"], {"PASS": 5}),
        *((["PASS", f"PASS{mark}", f"PA{mark}SS", "PASS", "PASS"], {"PASS": 5})
          for mark in "\u00ad\u061c\u180e\u200c\u200d\u200e\u202a\u2060\u2066\ufe0f\U000e0100"),
        (["\u2705", "\u2705\ufe0f", "\u2705"], {"\u2705": 3}),
        (["\U0001f44d", "\U0001f44d\u200d", "\U0001f44d"], {"\U0001f44d": 3}),
        (["0", "-0.0", "0.0", "0"], {"0": 4}),
        # What is no spelling of the same word stays apart.
        (["1", "01", "1a"], {"01": 1, "1": 1, "1a": 1}),
        (["yes", "y", "true", "1"], {"1": 1, "true": 1, "y": 1, "yes": 1}),
        (["A", "A.", "(A)"], {"(A)": 1, "A": 1, "A.": 1}),
        # A burning heart is no heart and fire, and flags differ in marks that are not seen alone.
        (["\u2764\u200d\U0001f525", "\u2764\U0001f525"],
         {"\u2764\u200d\U0001f525": 1, "\u2764\U0001f525": 1}),
        (["\U0001f3f4\U000e0067\U000e007f", "\U0001f3f4\U000e0073\U000e007f"],
         {"\U0001f3f4\U000e0067\U000e007f": 1, "\U0001f3f4\U000e0073\U000e007f": 1}),
        # In Persian a joiner parts what is written together.
        (["\u0645\u06cc\u200c\u0634", "\u0645\u06cc\u0634"],
         {"\u0645\u06cc\u0634": 1, "\u0645\u06cc\u200c\u0634": 1}),
        (["9007199254740993", "9007199254740992"],
         {"9007199254740992": 1, "9007199254740993": 1}),
    ],
)  # fmt: skip
def test_spellings_of_one_word_are_one_verdict(verdicts, expected):
    assert shown(tally_file(rows(verdicts))) == expected


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("verdicts", "line"),
    [
        (["Yes", "Yes.", "No"], "Yes, Yes.;"),
        (["A", "**A**", "`A`", "(A)", "[[a]]", "B"], "(A), **A**, A, [[a]], `A`;"),
        (["50%", "50 %", "0 %"], "50 %, 50%;"),
        (["t", "true", "T", "f", "FALSE"], "FALSE, f; T, true;"),
        (["A", "a.", "A"], "A, a.;"),
        (["1", "true", "0", "false", "2"], "0, false; 1, true;"),
        (["01", "1", "10"], "01, 1;"),
        (["gro\u00df", "GROSS", "klein"], "GROSS, gro\u00df;"),
        (["\u0130yi", "iyi"], "iyi, \u0130yi;"),
        (["A", "\u0410", "B"], "'A', '\\u0410';"),
        (["tie", "t\u0456\u0435"], "'tie', 't\\u0456\\u0435';"),
        # These are verdicts of their own.
        (["\u0410", "\u0411", "\u0412"], None),
        (["A", "A+", "A-", "B"], None),
        (["-", ".", "1", "-1", "00"], None),
        (["A>B", "A>>B", "B>A"], None),
        (["1", "1.0", " 1"], None),  # one verdict: merged
    ],
)
def test_verdicts_that_look_alike_are_named_and_counted_apart(verdicts, line):
    tally = tally_file(rows(verdicts))
    (words,) = [one for one in tally.notes if "look alike" in one] or [None]
    if line is None:
        assert words is None
    else:
        start = "look alike, counted as different verdicts: "
        assert words == f"{start}{line} write them in one way if they are one"
    assert len(shown(tally)) == len({one.strip().lower().removesuffix(".0") for one in verdicts})


@pytest.mark.alike(2)
@pytest.mark.parametrize(
    ("verdicts", "told"),
    [
        (["A B", "A\u00a0B"], "A B = 'A\\xa0B'"),
        (["caf\u00e9", "caf\u00e9", "cafe\u0301"], "'caf\\xe9' = 'cafe\\u0301'"),
        (["PASS", "PASS", "PA\u200bSS"], "PASS = 'PA\\u200bSS'"),
        (["PASS", "PASS", "PASS\ufe0f"], "'PASS' = 'PASS\\ufe0f'"),
    ],
)
def test_what_no_eye_tells_apart_is_told_by_its_code_points(verdicts, told):
    """It was said that A is merged with A, in print."""
    (line,) = tally_file(rows(verdicts)).notes
    assert line == f"treated as the same verdict: {told} (--exact-values keeps them separate)"


def test_items_that_no_eye_tells_apart_are_told_by_their_code_points():
    names = ["caf\u00e9", "cafe\u0301"]
    (line,) = tally_file(rows(["A", "A"], item_id=names)).notes
    assert line == ("items kept apart that differ in spelling alone: 'cafe\\u0301' and 'caf\\xe9'")


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("column", "told"),
    [
        ("criterion", "criteria"), ("scale", "scales"), ("benchmark", "benchmarks"),
        ("template", "templates"), ("responder", "responders"), ("definition", "definitions"),
    ],
)  # fmt: skip
def test_conditions_that_differ_in_spelling_alone_are_named(column, told):
    """Ratings of one criterion were two groups of half the replications each, in silence."""
    (line,) = tally_file(rows(["A", "B"], **{column: ["help", "Help "]})).notes
    assert line == f"{told} kept apart that differ in spelling alone: 'Help ' and 'help'"


def test_minus_nan_is_no_verdict_and_nat_is_said_to_be_one():
    tally = tally_file(rows(["A", "-nan", "-NaN", "NaT", "A"]))
    assert shown(tally) == {None: 2, "A": 2, "NaT": 1}
    assert [one.partition(";")[0] for one in tally.notes] == [
        "taken as no verdict: -NaN (1), -nan (1)",
        "counted as verdicts: NaT (1)",
    ]


def test_words_that_may_stand_for_no_verdict_are_counted_and_named():
    tally = tally_file(rows(["A", "-", "-", "?", "Undefined", "none of these", "no"]))
    assert shown(tally) == {"-": 2, "?": 1, "A": 1, "Undefined": 1, "no": 1, "none of these": 1}
    line = "counted as verdicts: - (2), ? (1), Undefined (1); leave empty what stands for none"
    assert tally.notes == (line,)


def test_verdicts_that_look_alike_are_not_named_where_they_are_kept_as_written():
    tally = tally_file(rows(["A", "A."]), exact_values=True)
    assert shown(tally) == {"A": 1, "A.": 1}
    assert not tally.notes


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    "word",
    ["NaN", "N/A", "null", "None", "nan", "NA", "", "  ", "<NA>", "#N/A", "#REF!", "#DIV/0!"],
)
def test_words_for_nothing_are_no_verdict(word):
    tally = tally_file(rows(["A", word]))
    assert shown(tally) == {None: 1, "A": 1}
    assert tally.nested.kinds["outcome"].to_list() == ["unparsed", "scored"]
    assert tally.rows.collect()["verdict"].to_list() == ["A", None]
    assert tally.rows.collect()["outcome"].to_list() == ["scored", "unparsed"]


@pytest.mark.alike(3)
@pytest.mark.parametrize("word", ["-", "unknown", "tie", "nothing", "?", "inf"])
def test_other_words_are_verdicts(word):
    assert word in shown(tally_file(rows(["A", word])))


def test_a_float_that_is_no_number_is_no_verdict(tmp_path):
    path = tmp_path / "rows.parquet"
    rows([1.0, float("nan"), 2.0, None]).collect().write_parquet(path)
    for exact in (False, True):
        assert shown(tally_file(str(path), exact_values=exact)) == {None: 2, "1.0": 1, "2.0": 1}


def test_what_is_put_together_is_said_in_a_line():
    tally = tally_file(rows(["PASS", "PASS", "PASS", "pass", "pass", " PASS", "N/A", "none"]))
    assert tally.notes == (
        "treated as the same verdict: PASS = pass = ' PASS' (--exact-values keeps them separate)",
        "taken as no verdict: N/A (1), none (1); --exact-values keeps them",
    )
    assert tally_file(rows(["PASS", "FAIL", "", None])).notes == ()


def test_many_words_make_no_long_line():
    words = [f"word{n}" for n in range(40)]
    line = tally_file(rows([*words, *(word.upper() for word in words)])).notes[0]
    assert "and 34 more" in line
    assert len(line) < 250


def test_numbers_are_those_of_the_words_and_exact_values_of_the_spellings():
    messy = rows(["PASS", "pass", " PASS", "FAIL"])
    assert agreement(tally_file(messy)) == pytest.approx(3 / 6)
    assert agreement(tally_file(messy, exact_values=True)) == 0
    assert tally_file(messy, exact_values=True).notes == ()


def test_rows_and_counts_have_the_same_verdicts():
    tally = tally_file(rows(["Pass", "pass", "pass", "null"]))
    assert tally.rows.collect()["verdict"].to_list() == ["pass", "pass", "pass", None]
    assert shown(tally) == {None: 1, "pass": 3}


def test_our_own_judgments_keep_the_ids_of_their_options():
    ours = {"key": ["k"] * 2, "judge_fingerprint": ["f"] * 2, "outcome": ["scored"] * 2}
    assert shown(tally_file(rows(["a", "A"], **ours))) == {"A": 1, "a": 1}
    assert shown(tally_file(rows(["none", "A"], **ours))) == {"A": 1, "none": 1}


@pytest.mark.parametrize(
    "options",
    [
        [["a", "A"]] * 2,
        ['["a", "A"]'] * 2,
        [[{"option_id": "a", "text": "x"}, {"option_id": "A", "text": "y"}]] * 2,
    ],
)
def test_options_that_differ_in_case_stay_apart_and_this_is_said(options):
    tally = tally_file(rows(["a", "A"], options=options))
    assert shown(tally) == {"A": 1, "a": 1}
    assert tally.notes[0].startswith("kept apart: 'A' and 'a', which column options lists")


def test_an_option_that_is_called_none_is_a_verdict():
    assert shown(tally_file(rows(["none", "A"], options=[["none", "A"]] * 2))) == {
        "A": 1, "none": 1,
    }  # fmt: skip
    assert shown(tally_file(rows(["none", "A"], outcome=["scored", None]))) == {"A": 1, "none": 1}
    assert shown(tally_file(rows(["none", "A"], outcome=["refused", None]))) == {None: 1, "A": 1}


def test_gold_is_compared_by_its_word():
    told = rows(["PASS", "pass", "FAIL", "1.0"], gold=["pass", "PASS", " fail ", "1"])
    tally = tally_file(told.with_columns(item_id=pl.Series(list("qrst"))), extra=["gold"])
    found = reduce_judgments(tally, coefficients=["accuracy"])
    assert found["value"].to_list() == [1.0]
    assert (tally.rows.collect()["gold"] == tally.rows.collect()["verdict"]).all()


def test_labels_of_places_are_put_together():
    told = rows(["x", "x", "z", "z"], label=["A", "a ", "B", "B"], option_order=[0, 1, 0, 1])
    tally = tally_file(told)
    assert tally.rows.collect()["label"].to_list() == ["A", "A", "B", "B"]
    assert tally.notes == (
        "column label: treated as the same verdict: A = 'a ' (--exact-values keeps them separate)",
    )


def test_scores_that_are_words_for_nothing_are_missing_and_said():
    told = rows([None] * 3, score=["1", "N/A", "1.0"]).drop("verdict")
    tally = tally_file(told)
    assert tally.notes == ("taken as no score: N/A (1)",)
    assert tally.nested.kinds["score"].to_list() == [None, 1.0]


def test_a_score_that_is_no_number_does_not_make_a_group_nominal():
    told = rows([None] * 4, score=[1.0, 3.0, float("nan"), 5.0]).drop("verdict")
    found = reduce_judgments(tally_file(told), coefficients=["krippendorff_alpha"])
    assert set(found["measurement"]) == {"interval"}


def test_the_spelling_shown_is_the_one_most_rows_have():
    seen = pl.DataFrame({"text": [" b", "b", "B"], "n": [2, 2, 3]})
    assert spellings_of(seen).known["shown"].unique().to_list() == ["b"]


def test_places_are_those_of_rows_that_hold_a_verdict():
    told = rows(["x", "N/A", "z", "z"], label=["A", "B", "B", "b"], option_order=[0, 1, 0, 1])
    nested = tally_file(told).nested
    assert nested.places == ("A", "B")
    assert nested.by_place().totals.tolist() == [1, 2]


@pytest.mark.alike(3)
@pytest.mark.parametrize("word", ["N/A", "nan", " "])
def test_a_word_for_nothing_leaves_what_became_of_its_row(word, tmp_path):
    """A refusal and a failed request are not the same for being written beside one word."""
    told = {}
    for verdict in ("", word):
        rows = "".join(
            f"q{i},{n},{'A' if n == 0 else verdict},{outcome}\n"
            for i in range(3)
            for n, outcome in enumerate(["scored", "refused", "unparsed", "failed"])
        )
        path = tmp_path / "a.csv"
        path.write_text(f"item_id,replication,verdict,outcome\n{rows}")
        found = tally_file(str(path))
        told[verdict] = found.nested.long(["item_id"]).sort("item_id", "outcome").rows()
        assert set(found.rows.collect()["outcome"]) == {"scored", "refused", "unparsed", "failed"}
    assert told[word] == told[""]


def test_a_comma_in_a_number_is_said(tmp_path):
    """Kept apart without a word, 1,5 beside 1.5 were two verdicts."""
    path = tmp_path / "ratings.csv"
    rows = [f"q{q};{n};{'1,5' if n else '1.5'}" for q in range(6) for n in range(3)]
    path.write_text("\n".join(["item_id;replication;verdict", *rows]))
    line = "a comma makes a number a word: 1,5 (12) is no number; write 1.5 where it is one"
    assert line in tally_file(str(path)).notes
    path.write_text(path.read_text().replace("1,5", "1.500"))
    found = tally_file(str(path))
    assert not any("comma" in note for note in found.notes)
    assert found.nested.kinds["verdict"].to_list() == ["1.500"]
    path.write_text(path.read_text().replace("verdict", "score").replace("1.500", "1,5"))
    found = tally_file(str(path))
    assert "score: read the number of '1,5' (12 texts)" in found.notes
    assert found.nested.kinds["score"].to_list() == [1.5]
