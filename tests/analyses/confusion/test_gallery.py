"""Single matrices are picked by a stated rule, and laid out as they are."""

import numpy as np
import pytest

from judgerel_ray.analyses.confusion.matrices import ScoredMatrix, picked_matrices, sparsity_table
from judgerel_ray.stats import confusion_uncertainty


def scored(item, matrix, *, chosen=0, right=0, judge="j"):
    matrix = np.array(matrix, dtype=float)
    scores = confusion_uncertainty(matrix, chosen=chosen, own_choice_required=True)
    names = [str(n) for n in range(len(matrix))]
    row = {
        "judge": judge, "benchmark": "b", "item_id": item, "template": "t", "options": names,
        "right": None if right is None else str(right),
        "correct": None if right is None else chosen == right,
    }  # fmt: skip
    return ScoredMatrix(row=row, scores=scores, matrix_OA=matrix, argued=tuple(names), text=item)


SURE = [[0.9, 0.8], [0.1, 0.2]]
SURER = [[0.97, 0.95], [0.03, 0.05]]
TORN = [[0.9, 0.1], [0.1, 0.9]]


def test_certain_torn_and_confidently_wrong():
    found = picked_matrices(
        [
            scored("sure", SURE),
            scored("torn", TORN),
            scored("wrong", SURE, right=1),
            scored("surer and wrong", SURER, right=1),
            scored("unknown", SURE, right=None),
        ]
    )
    names = {one.why: one.matrix.row["item_id"] for one in found}
    assert names == {
        "most certain": "sure", "most torn": "torn", "most confidently wrong": "surer and wrong"
    }  # fmt: skip


def test_each_is_picked_once_and_ties_go_to_the_first():
    found = picked_matrices([scored("b", SURE), scored("a", SURE)])
    assert [(one.why, one.matrix.row["item_id"]) for one in found] == [
        ("most certain", "a"), ("most torn", "b")
    ]  # fmt: skip


def test_judges_beyond_the_first_are_left_out():
    many = [scored("q", SURE, judge=f"j{n}") for n in range(6)]
    assert [one.matrix.row["judge"] for one in picked_matrices(many, most=2)] == ["j0", "j1"]


def test_cells_are_raw_and_scaled_and_absent_where_nobody_argued():
    nan = float("nan")
    [one] = picked_matrices([scored("q", [[0.6, nan], [0.2, nan]])])
    cells = {(cell["option"], cell["argued"]): cell for cell in one.cells()}
    assert cells["0", "0"]["probability"] == pytest.approx(0.6)
    assert cells["0", "0"]["scaled"] == pytest.approx(0.75)
    assert cells["1", "1"] == {"option": "1", "argued": "1", "probability": None, "scaled": None}


def test_how_far_probability_follows_what_was_argued():
    three = [[0.8, 0.1, 0.0], [0.1, 0.8, 0.2], [0.1, 0.1, 0.8]]
    found = sparsity_table([scored("a", TORN), scored("b", SURE), scored("c", three)])
    assert found["n_options"].to_list() == [2, 3]
    two, other = found.to_dicts()
    assert (two["n_matrices"], two["argued"]) == (2, pytest.approx((0.9 + 0.9 + 0.9 + 0.2) / 4))
    assert two["other"] == pytest.approx((0.1 + 0.1 + 0.1 + 0.8) / 4)
    assert (other["even"], other["empty"]) == (pytest.approx(1 / 3), pytest.approx(1 / 6))
