"""Gold of files that people hold: what of it is no verdict is said, never an accuracy of 0."""

import warnings

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import judgerel_ray as jr
from judgerel_ray.analyses.panels.from_run import together_of
from judgerel_ray.analyses.selection.from_run import selection_of
from judgerel_ray.core import ReadingWarning, SweepError
from judgerel_ray.counting.right_answers import contradicting
from judgerel_ray.importers import TableMapping, import_table
from judgerel_ray.measuring.reliability import ReduceOptions
from tests.opening import answers, question_rows, snapshot
from tests.opening import coefficients as coefficients_of

ACCURACY = ReduceOptions(coefficients=("accuracy",), missing=("category",))


def table(gold, verdicts=("A", "B", "A", "A"), name="verdict"):
    n = len(verdicts)
    return pl.DataFrame({"item_id": [f"q{i // 2}" for i in range(n)],
                         "replication": [i % 2 for i in range(n)],
                         name: list(verdicts), "gold": list(gold)})  # fmt: skip


def accuracy(frame):
    """The accuracy, why there is none, and what was said of reading it."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = coefficients_of(frame, ACCURACY)
    lines = [str(one.message) for one in said if one.category is ReadingWarning]
    return found["value"][0], found["undefined"][0], [line for line in lines if "gold" in line]


def test_gold_that_is_no_verdict_at_all_gives_no_accuracy_and_says_so():
    value, why, said = accuracy(table(["Paris", "Paris", "Rome", "Rome"]))
    assert (value, why) == (None, "no_gold")
    assert said == [
        "gold matches no verdict of the file in any of its 4 rows, so no verdict could be right "
        "and no accuracy is given: 'Paris', 'Rome'; verdicts are 'A', 'B'; write gold as the "
        "verdicts are"
    ]


def test_gold_that_is_no_verdict_in_some_rows_is_said_with_how_many():
    value, why, said = accuracy(table(["A", "A", "Rome", "Rome"]))
    assert (value, why) == (0.25, None)
    assert said == [
        "gold matches no verdict of the file in 2 of the 4 rows with gold; they count as wrong: "
        "'Rome'; verdicts are 'A', 'B'"
    ]


@pytest.mark.parametrize(
    ("gold", "verdicts", "name", "value"),
    [
        (["a", " A", "B", "b "], "ABAA", "verdict", 0.25),
        (["1", "1", "2.0", "2"], [1.0, 2.0, 2.0, 2.0], "score", 0.75),
        ([1, 1, 2, 2], [1.0, 1.0, 2.0, 1.0], "score", 0.75),
        (["A", "A", None, None], "ABAA", "verdict", 0.5),
    ],
)
def test_spellings_of_gold_are_those_of_verdicts(gold, verdicts, name, value):
    assert accuracy(table(gold, verdicts, name)) == (value, None, [])


def test_a_question_with_two_right_answers_is_said(tmp_path):
    value, _, said = accuracy(table(["A", "B", "A", "a "]))
    line = (
        "gold differs between the rows of one question in 1 question (q0: 'A', 'B'); each verdict "
        "is held against the gold of its own row"
    )
    assert (value, said) == (1.0, [line])
    file = tmp_path / "a.csv"
    table(["A", "B", "A", "B"]).write_csv(file)
    with pytest.warns(ReadingWarning, match=r"in 2 questions \(q0: 'A', 'B'\)"):
        question_rows(str(file))


@pytest.mark.alike(3)
@pytest.mark.parametrize("use", [jr.select, jr.systems, jr.panels, jr.cascade, jr.advise])
def test_every_verb_that_uses_gold_says_where_it_differs_inside_a_question(use):
    """Between the judges asked, too: a question has one right answer, the same for every judge."""
    rows = {"judge": list("aaabbb"), "item_id": list("qrsqrs"), "replication": [0] * 6,
            "verdict": list("ABBABA"), "cost": [1.0] * 3 + [2.0] * 3,
            "confidence": [0.9, 0.8, 0.3, 0.9, 0.9, 0.9]}  # fmt: skip
    said = (
        r"differs between .* in 1 question \(q: 'A', 'B'\); each verdict is held against the gold"
    )
    with pytest.warns(ReadingWarning, match=said):
        use(pl.DataFrame({**rows, "gold": list("ABABBA")}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        use(pl.DataFrame({**rows, "gold": list("ABAABA")}))


def test_gold_of_orders_that_name_places_is_no_contradiction():
    rows = pl.DataFrame({"item_id": ["q"] * 2, "option_order": [0, 1], "gold": ["A", "B"]})
    assert contradicting(rows) is None


def test_questions_have_no_accuracy_either(tmp_path):
    file = tmp_path / "a.csv"
    table(["Paris"] * 4).write_csv(file)
    with pytest.warns(ReadingWarning, match="gold matches no verdict of the file in any"):
        found = question_rows(str(file))
    assert found["accuracy"].to_list() == [None, None]
    assert found["percent_agreement"].to_list() == [0.0, 1.0]


def two_judges(words):
    """Judge a answers as gold does; b in words of its own."""
    items = [f"q{i}" for i in range(6)]
    right = ["pass", "fail", "fail"] * 2
    return pl.DataFrame({"judge": ["a"] * 6 + ["b"] * 6, "item_id": items * 2,
                         "replication": [0] * 12, "gold": right * 2,
                         "verdict": ["pass", "pass", "fail"] * 2 + words})  # fmt: skip


def test_a_judge_who_answers_in_other_words_than_gold_has_no_accuracy():
    with pytest.warns(ReadingWarning, match="gold matches no verdict of judge b, so no accuracy is "
                      "given of it: 'fail', 'pass'; its verdicts are 'no', 'yes'"):  # fmt: skip
        found = coefficients_of(two_judges(["yes", "no", "no"] * 2), ACCURACY)
    assert dict(found.select("judge", "value").iter_rows()) == {
        "a": pytest.approx(2 / 3),
        "b": None,
    }
    assert found.filter(judge="b")["undefined"].item() == "no_gold"


@pytest.mark.parametrize(
    "words",
    [
        ["fail", "pass", "pass"] * 2,  # wrong throughout, in words of gold
        ["tie"] * 6,  # never right, and no vocabulary
        ["v1", "v2", "v3", "v4", "v5", "v6"],  # answers to questions, not verdicts on them
    ],
)
def test_a_judge_who_is_wrong_throughout_has_an_accuracy_of_nought(words):
    found = coefficients_of(two_judges(words), ACCURACY)
    assert found.filter(judge="b")["value"].item() == 0.0


def test_scores_on_another_scale_than_gold_have_no_accuracy():
    rows = two_judges(["yes"] * 6).drop("verdict").with_columns(
        score=pl.Series([1.0, 2.0, 2.0] * 2 + [20.0, 40.0, 40.0] * 2),
        gold=pl.Series(["1", "2", "1"] * 4), benchmark=pl.lit("x"),
    )  # fmt: skip
    with pytest.warns(ReadingWarning, match="of judge b benchmark x.*'1', '2'.*are '20', '40'; wr"):
        found = coefficients_of(rows, ACCURACY)
    assert found.sort("judge")["value"].to_list() == [pytest.approx(2 / 3), None]


@pytest.mark.alike(3)
@pytest.mark.parametrize("use", [jr.select, jr.systems, jr.panels])
def test_systems_who_answer_in_other_words_than_gold_are_refused(use):
    with pytest.raises(SweepError, match=r"verdict and gold of b have no value in common.*'yes'"):
        use(two_judges(["yes", "no", "no"] * 2))
    assert use(two_judges(["fail", "pass", "pass"] * 2)) is not None


def test_a_page_goes_on_without_them():
    with pytest.warns(ReadingWarning, match="of b have no value in common.*left out of the page"):
        assert together_of(snapshot(two_judges(["yes", "no", "no"] * 2))) is None


def test_selection_says_what_it_counts_as_wrong_and_refuses_where_nothing_could_be_right(tmp_path):
    frame = table(["A", "A", "Rome", "Rome"]).with_columns(confidence=0.5, judge=pl.lit("j"))
    frame.write_csv(tmp_path / "a.csv")
    with pytest.warns(ReadingWarning, match="in 2 of the 4 rows with gold"):
        selection_of(answers(str(tmp_path / "a.csv")))
    frame.with_columns(gold=pl.lit("Rome")).write_csv(tmp_path / "b.csv")
    with pytest.raises(SweepError, match="verdict and gold have no value in common"):
        selection_of(answers(str(tmp_path / "b.csv")))


def test_an_import_says_so_where_the_table_is_read(tmp_path):
    file = tmp_path / "a.csv"
    table(["pass", "PASS", "Rome", "Rome"], ["Pass", "fail", "fail", "fail"]).rename(
        {"gold": "right"}
    ).write_csv(file)
    with pytest.warns(ReadingWarning, match=r"in 2 of the 4 rows .*'Rome'; verdicts are"):
        import_table(str(file), TableMapping(columns={"gold": "right"}))


words = st.sampled_from(["A", "a ", "B", "b", "Rome", "1", "1.0", None])


def plain(word):
    """A word in the one spelling an independent count compares."""
    return None if word is None else {"1.0": "1"}.get(word.strip().lower(), word.strip().lower())


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(words.filter(bool), words), min_size=1, max_size=6),
)
def test_accuracy_is_an_independent_count_or_none(rows):
    """One judgment a question: verdict and gold as anybody spells them."""
    frame = pl.DataFrame(
        {"item_id": [f"q{i}" for i in range(len(rows))], "replication": 0,
         "verdict": [verdict for verdict, _ in rows], "gold": [gold for _, gold in rows]},
        schema_overrides={"gold": pl.String},
    )  # fmt: skip
    known = [(plain(verdict), plain(gold)) for verdict, gold in rows if gold is not None]
    said = {plain(verdict) for verdict, _ in rows}
    strange = [gold for _, gold in known if gold not in said]
    value, why, lines = accuracy(frame)
    assert len(lines) == bool(strange)
    if not known or len(strange) == len(known):
        assert (value, why) == (None, "no_gold")
    else:
        assert value == pytest.approx(sum(v == g for v, g in known) / len(known))
        if strange:
            assert f"in {len(strange)} of the {len(known)} rows" in lines[0]


@pytest.mark.slow
def test_of_a_run_every_verb_knows_the_right_option_of_every_protocol_that_has_one():
    keys = ["judge", "protocol", "temperature"]
    run = jr.example("run")
    reduced = jr.reduce(run, coefficients="accuracy").drop_nulls("value")
    selected = jr.select(run).systems.unique(keys).rename({"accuracy": "value"})
    told = [one.sort(keys).select(*keys, "value").rows() for one in (reduced, selected)]
    assert told[0] == told[1]
    assert {protocol for _, protocol, *_ in told[0]} == {"best_of", "confusion"}
    asked_once = jr.questions(run).filter(protocol="confusion")
    assert asked_once.select("accuracy", "undefined").rows() == [
        (0.0, "single_replication"),
        (1.0, "single_replication"),
    ]
