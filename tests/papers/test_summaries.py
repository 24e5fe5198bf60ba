"""Published summaries: agreement between judges, verbal bands and accuracies."""

import importlib
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray import papers
from judgerel_ray.papers import (
    BANDS,
    AnsweredQuestion,
    head_to_tail_accuracy,
    inter_rater_spread,
    response_accuracy,
    verbal_band,
)

NAMES = [name for name, _ in BANDS]


@pytest.mark.parametrize(
    ("low", "high", "band"),
    [
        (-0.4, 0.5, "Unacceptable"),
        (0.51, 0.6, "Poor"),
        (0.61, 0.7, "Questionable"),
        (0.71, 0.8, "Acceptable"),
        (0.81, 0.9, "Good"),
        (0.91, 1.0, "Excellent"),
        (0.5, 0.51, None),
        (0.9, 0.91, None),
    ],
)
def test_a_band_holds_the_whole_confidence_interval_or_none_does(low, high, band):
    assert verbal_band(low, high).band == band


def test_the_bands_spanned_are_named():
    found = verbal_band(0.35, 0.75)
    assert found.spans == ("Unacceptable", "Poor", "Questionable", "Acceptable")
    assert str(found) == "no one band: the interval spans Unacceptable to Acceptable"


def test_without_an_interval_there_is_no_band():
    assert (verbal_band(None, None).band, verbal_band(None, None).spans) == (None, ())


@pytest.mark.slow
@given(st.floats(-2, 1), st.floats(0, 1))
def test_a_wider_interval_never_touches_fewer_bands(low, width):
    narrow, wide = verbal_band(low, low + width), verbal_band(low - 0.1, low + width + 0.1)
    assert set(narrow.spans) <= set(wide.spans)
    assert NAMES[NAMES.index(wide.spans[0]) :][: len(wide.spans)] == [*wide.spans]
    assert (narrow.band is not None) == (len(narrow.spans) == 1)


@pytest.mark.parametrize(
    ("low", "high"),
    [(0.5, None), (None, 0.5), (0.6, 0.5), (float("nan"), 0.5), (0.1, float("nan"))],
)
def test_half_an_interval_is_refused(low, high):
    with pytest.raises(ValueError, match="verbal_band"):
        verbal_band(low, high)


def asked(gold, *responses, question="Which one is it?"):
    return AnsweredQuestion(question=question, gold=gold, responses=responses)


@pytest.mark.parametrize(
    ("response", "as_coded", "whole_answer"),
    [
        ("It is (B) for sure.", True, True),
        ("It is (B) for sure", False, True),
        ("(B) is incorrect.", False, True),
        ("It is (A).", False, False),
        ("Which one is it? (B).", False, True),
        ("Which one is it? (B). I say (B).", True, True),
    ],
)
def test_multiple_choice(response, as_coded, whole_answer):
    questions = [asked("(B)", response)]
    coded = response_accuracy(questions, benchmark="bbh", rule="as_coded")
    whole = response_accuracy(questions, benchmark="bbh", rule="whole_answer")
    assert (coded.correct_QM.item(), whole.correct_QM.item()) == (as_coded, whole_answer)


def test_other_questions_are_scored_by_stale_responses():
    questions = [asked("(A)", "It is (A). Or 11"), asked("11", "12"), asked("12", "12")]
    coded = response_accuracy(questions, benchmark="bbh", rule="as_coded")
    whole = response_accuracy(questions, benchmark="bbh", rule="whole_answer")
    assert coded.correct_QM[:, 0].tolist() == [True, True, False]
    assert whole.correct_QM[:, 0].tolist() == [True, False, True]
    assert (coded.n_stale, whole.n_stale) == (2, 0)
    with pytest.raises(ValueError, match="multiple-choice question first"):
        response_accuracy(questions[1:], benchmark="bbh", rule="as_coded")


def test_squad_needs_one_character():
    questions = [asked("Denver Broncos", "Denver", "the denver broncos won", "no")]
    coded = response_accuracy(questions, benchmark="squad", rule="as_coded")
    whole = response_accuracy(questions, benchmark="squad", rule="whole_answer")
    assert coded.correct_QM.tolist() == [[True, False, False]]
    assert whole.correct_QM.tolist() == [[False, True, False]]
    assert "first character" in coded.rule
    assert "whole gold answer" in whole.rule


def test_a_word_inside_a_word_is_no_answer():
    found = response_accuracy(
        [asked("valid", "It is invalid.", "Valid!")], benchmark="bbh", rule="whole_answer"
    )
    assert found.correct_QM.tolist() == [[False, True]]
    assert (found.share, [*found.summary]) == (0.5, [1.0] * 5)


def test_no_questions_have_no_accuracy():
    found = response_accuracy([], benchmark="squad", rule="as_coded")
    assert (found.share, found.summary, found.correct_QM.shape) == (None, None, (0, 0))


@pytest.mark.parametrize(
    ("questions", "benchmark", "rule"),
    [
        ([], "mt_bench", "as_coded"),
        ([], "bbh", "proper"),
        ([asked("a", "b"), asked("a", "b", "c")], "bbh", "whole_answer"),
    ],
)
def test_wrong_tables_are_refused(questions, benchmark, rule):
    with pytest.raises(ValueError, match="response_accuracy"):
        response_accuracy(questions, benchmark=benchmark, rule=rule)


def test_both_errors_of_an_accuracy():
    correct = np.array([[1, 1, 0, 0, 0], [1, 0, 0, 0, 0], [1, 1, 1, 0, 0]])
    found = head_to_tail_accuracy(correct)
    assert found.value == pytest.approx(6 / 15)
    assert found.monte_carlo_se == pytest.approx(np.std([0.4, 0.2, 0.6], ddof=1) / math.sqrt(3))
    shares = [1, 2 / 3, 1 / 3, 0, 0]
    assert found.sampling_se == pytest.approx(np.std(shares, ddof=1) / math.sqrt(5))
    assert (found.n_questions, found.n_replications) == (5, 3)


def test_missing_verdicts_leave_the_rest():
    found = head_to_tail_accuracy([[1, 0, np.nan], [1, np.nan, np.nan]])
    assert (found.value, found.n_questions, found.n_replications) == (0.5, 2, 2)


def test_too_little_for_an_error():
    one = head_to_tail_accuracy([[1.0]])
    assert (one.value, one.monte_carlo_se, one.sampling_se) == (1.0, None, None)
    assert head_to_tail_accuracy(np.empty((0, 3))).value is None


@pytest.mark.parametrize("correct", [[1.0], [[2.0]]])
def test_what_is_no_table_of_shares_is_refused(correct):
    with pytest.raises(ValueError, match="head_to_tail_accuracy"):
        head_to_tail_accuracy(correct)


# Judges x replications x questions.
CODES = np.array(
    [
        [[1, 6, 7], [1, 2, 6], [6, 6, 6]],
        [[1, 6, 7], [2, 2, 3], [6, 6, 6]],
        [[2, 6, 1], [1, 2, 6], [6, 6, 6]],
    ],
    dtype=float,
)


def by_hand(non_response):
    """Pair by pair, in plain Python."""
    shares = []
    for replication in range(CODES.shape[1]):
        hits = pairs = 0
        for i in range(3):
            for j in range(i):
                for a, b in zip(CODES[i, replication], CODES[j, replication], strict=True):
                    both = a < 6 and b < 6
                    if non_response == "left_out" and not both:
                        continue
                    pairs += 1
                    hits += a == b and (both or non_response == "agrees")
        shares.append(hits / pairs if pairs else np.nan)
    return shares


@pytest.mark.parametrize("non_response", ["agrees", "never_agrees", "left_out"])
def test_shares_are_counted_pair_by_pair(non_response):
    found = inter_rater_spread(CODES, non_response=non_response)
    assert found.agreement_R == pytest.approx(by_hand(non_response), nan_ok=True)
    assert found.non_response == non_response


def test_a_replication_without_pairs_is_left_out_of_the_summary():
    found = inter_rater_spread(CODES, non_response="left_out")
    assert np.isnan(found.agreement_R[2])
    assert found.summary.n == 2
    assert inter_rater_spread(CODES[:, 2:], non_response="left_out").summary is None


def test_missing_codes_are_left_out():
    codes = CODES.copy()
    codes[2] = np.nan
    assert np.array_equal(
        inter_rater_spread(codes).agreement_R, inter_rater_spread(codes[:2]).agreement_R
    )


@pytest.mark.parametrize("codes", [CODES[:1], CODES[0]])
def test_one_judge_has_nobody_to_agree_with(codes):
    with pytest.raises(ValueError, match="at least two judges"):
        inter_rater_spread(codes)


def test_an_unknown_rule_is_refused():
    with pytest.raises(ValueError, match="agrees, never_agrees, left_out, got 'no'"):
        inter_rater_spread(CODES, non_response="no")


def test_the_earlier_name_of_the_room_warns_and_has_the_same_names():
    with pytest.warns(DeprecationWarning, match="from judgerel_ray.papers"):
        legacy = importlib.reload(importlib.import_module("judgerel_ray.legacy"))
    assert legacy.__all__ == papers.__all__
    assert all(getattr(legacy, name) is getattr(papers, name) for name in papers.__all__)
