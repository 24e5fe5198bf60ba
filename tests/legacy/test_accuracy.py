"""Accuracies of responses and of models, by rules that are stated."""

import math

import numpy as np
import pytest

from judgerel_ray.legacy import AnsweredQuestion, head_to_tail_accuracy, response_accuracy


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
