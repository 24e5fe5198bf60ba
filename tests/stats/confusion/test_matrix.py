"""Scores of confusion matrices: by hand, by law, and where they must be silent."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgerel_ray.stats import confusion_uncertainty

SURE = [[0.9, 0.7], [0.1, 0.3]]
TORN = [[0.9, 0.2], [0.1, 0.8]]


@st.composite
def matrices(draw: st.DrawFn, *, most: int = 6) -> np.ndarray:
    n = draw(st.integers(2, most))
    cells = draw(st.lists(st.floats(0.001, 1), min_size=n * n, max_size=n * n))
    matrix = np.array(cells).reshape(n, n)
    return matrix / matrix.sum(axis=0)


def test_rows_are_options_and_columns_assessments():
    # By hand: u of a row is its mean over assessments.
    found = confusion_uncertainty([[0.8, 0.6, 0.7], [0.1, 0.3, 0.2], [0.1, 0.1, 0.1]], chosen=0)
    assert found.u_O == pytest.approx((0.7, 0.2, 0.1))
    assert found.margin == pytest.approx(0.5)
    assert found.signed_margin == pytest.approx(0.5)
    assert found.worst_case == pytest.approx(0.6)
    # Diagonal .8 .3 .1, mean .4; the other six sum to 3 - 1.2.
    assert found.suggestibility == pytest.approx(0.4 - 1.8 / 6)
    assert found.dobrushin == pytest.approx(0.2)
    assert found.entropy == pytest.approx(
        -(0.7 * np.log(0.7) + 0.2 * np.log(0.2) + 0.1 * np.log(0.1))
    )
    assert (found.label, found.chosen, found.chosen_by_matrix) == (None, 0, 0)


@pytest.mark.parametrize(
    ("threshold", "chosen", "required", "label"),
    [
        (0.5, 0, None, "low"),
        (0.5, 1, None, "high"),  # the matrix speaks against the choice
        (0.5, 1, False, "low"),  # the formula does not ask
        (0.5, None, None, "low"),
        (0.5, None, True, "high"),  # no verdict of its own
        (0.81, 0, None, "high"),  # no row reaches it
        (0.2, 0, None, "high"),  # both do
        (0.8, 0, None, "low"),  # reaching is enough
    ],
)
def test_the_four_rules_of_the_label(threshold, chosen, required, label):
    matrix = [[0.8, 0.8], [0.2, 0.2]]
    found = confusion_uncertainty(
        matrix, threshold=threshold, chosen=chosen, own_choice_required=required
    )
    assert found.label == label


def test_the_text_asks_to_exceed_the_threshold():
    matrix = [[0.5, 0.5], [0.25, 0.25]]
    assert confusion_uncertainty(matrix, threshold=0.5).label == "low"
    assert confusion_uncertainty(matrix, threshold=0.5, strict=True).label == "high"


def test_another_choice_leaves_no_margin_unless_the_rule_is_off():
    assert confusion_uncertainty(SURE, chosen=1).margin == 0
    assert confusion_uncertainty(SURE, chosen=1).signed_margin == pytest.approx(-0.6)
    off = confusion_uncertainty(SURE, chosen=1, own_choice_required=False)
    assert off.margin == pytest.approx(0.6)


@pytest.mark.slow
@settings(max_examples=10)
@given(matrices(), st.data())
def test_the_margin_is_the_share_of_thresholds_that_label_low(matrix, data):
    chosen = data.draw(st.integers(0, len(matrix) - 1))
    grid = (np.arange(200) + 0.5) / 200
    labels = [confusion_uncertainty(matrix, threshold=t, chosen=chosen).label for t in grid]
    share = np.mean([label == "low" for label in labels])
    assert share == pytest.approx(confusion_uncertainty(matrix, chosen=chosen).margin, abs=0.011)


@given(st.floats(0.01, 0.99), st.floats(0.01, 0.99), st.floats(0.01, 0.99))
def test_two_normalised_options_have_labels_symmetric_about_one_half(a, b, threshold):
    # The published parabola about one half is this identity, whatever the judge.
    matrix = [[a, b], [1 - a, 1 - b]]
    u = confusion_uncertainty(matrix).u_O
    if min(abs(one - end) for one in u for end in (threshold, 1 - threshold)) < 1e-9:
        return
    labels = {confusion_uncertainty(matrix, threshold=t).label for t in (threshold, 1 - threshold)}
    assert len(labels) == 1


@pytest.mark.slow
@given(matrices(), st.randoms(use_true_random=False))
def test_the_order_of_options_changes_nothing(matrix, random):
    order = list(range(len(matrix)))
    random.shuffle(order)
    first = confusion_uncertainty(matrix, chosen=order[0])
    second = confusion_uncertainty(matrix[np.ix_(order, order)], chosen=0)
    for name in ("margin", "signed_margin", "entropy", "worst_case", "suggestibility",
                 "dobrushin", "mutual_information"):  # fmt: skip
        assert getattr(first, name) == pytest.approx(getattr(second, name), abs=1e-12)


@given(matrices())
def test_bounds_and_the_judge_nobody_can_move(matrix):
    found = confusion_uncertainty(matrix)
    n = len(matrix)
    assert sum(found.u_O) == pytest.approx(1)
    assert 0 <= found.margin <= 1
    assert 0 <= found.entropy <= np.log(n) + 1e-12
    assert 0 <= found.dobrushin <= 1
    assert 0 <= found.mutual_information <= np.log(n) + 1e-12
    still = confusion_uncertainty(np.repeat(matrix[:, :1], n, axis=1))
    assert still.dobrushin == pytest.approx(0)
    assert still.mutual_information == pytest.approx(0, abs=1e-12)
    assert still.suggestibility == pytest.approx(0, abs=1e-12)


def test_a_judge_that_follows_every_assessment():
    found = confusion_uncertainty(np.eye(5), threshold=0.5)
    assert found.label == "high"
    assert found.margin == 0
    assert found.chosen_by_matrix is None
    assert found.worst_case is None
    assert (found.suggestibility, found.dobrushin) == (1, 1)
    assert found.mutual_information == pytest.approx(np.log(5))


def test_raw_and_normalised_differ_where_columns_leave_probability_out():
    raw = confusion_uncertainty([[0.4, 0.2], [0.1, 0.2]], threshold=0.5)
    scaled = confusion_uncertainty([[0.4, 0.2], [0.1, 0.2]], threshold=0.5, normalised=True)
    assert (raw.label, scaled.label) == ("high", "low")
    assert scaled.u_O == pytest.approx((0.65, 0.35))


def test_an_assessment_the_judge_would_not_write_is_left_out_and_counted():
    nan = float("nan")
    found = confusion_uncertainty([[0.9, nan], [0.1, nan]], threshold=0.5, chosen=0)
    assert (found.u_O, found.n_missing, found.label) == ((0.9, 0.1), 1, "low")
    assert (found.suggestibility, found.dobrushin) == (None, None)
    zeros = confusion_uncertainty([[0.9, 0.0], [0.1, 0.0]], normalised=True)
    assert (zeros.u_O, zeros.n_missing) == ((0.9, 0.1), 1)


def test_one_query_for_all_assessments_is_one_column():
    found = confusion_uncertainty([[0.7], [0.2], [0.1]], threshold=0.5, chosen=0)
    assert (found.label, found.margin, found.suggestibility) == ("low", pytest.approx(0.5), None)


def test_what_cannot_be_said_says_why():
    assert confusion_uncertainty([[1.0]], threshold=0.5).undefined == "single_option"
    nan = float("nan")
    none = confusion_uncertainty([[nan, nan], [nan, nan]], threshold=0.5)
    assert (none.undefined, none.label, none.u_O) == ("no_assessments", None, ())
    assert confusion_uncertainty([[0.0, 0.0], [0.0, 0.0]]).entropy is None


def test_twenty_six_options():
    found = confusion_uncertainty(np.full((26, 26), 1 / 26), threshold=0.5, chosen=3)
    assert found.label == "high"
    assert found.entropy == pytest.approx(np.log(26))


@pytest.mark.parametrize(
    ("matrix", "options", "message"),
    [
        ([0.5, 0.5], {}, "2 dimensions"),
        ([[1.2, 0.0], [0.0, 0.5]], {}, "probabilities"),
        ([[0.5, float("nan")], [0.5, 0.5]], {}, "whole column"),
        (SURE, {"threshold": 0.0}, "threshold"),
        (SURE, {"threshold": 1.1}, "threshold"),
        (SURE, {"chosen": 2}, "chosen"),
        (TORN, {"chosen": -1}, "chosen"),
    ],
)
def test_mistakes_are_named(matrix, options, message):
    with pytest.raises(ValueError, match=message):
        confusion_uncertainty(matrix, **options)
