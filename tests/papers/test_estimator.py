"""Alpha and omega of schroeder2024 on constructed codes."""

import sys
from importlib import metadata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from judgerel_ray.core import SweepError
from judgerel_ray.papers import schroeder2024
from judgerel_ray.papers.estimator import absolute_correlations, fit_by_derivatives, fit_by_library


def dice(seed, *shape):
    return np.random.default_rng(seed).integers(1, 7, size=shape).astype(float)


def alpha_from_scratch(codes):
    """Spearman-Brown of the mean absolute correlation, pair by pair."""
    k = codes.shape[1]
    pairs = [(i, j) for i in range(k) for j in range(i)]
    mean = np.mean([abs(np.corrcoef(codes[:, i], codes[:, j])[0, 1]) for i, j in pairs])
    return k * mean / (1 + (k - 1) * mean)


def test_alpha_is_that_of_absolute_correlations():
    codes = dice(0, 30, 7)
    assert schroeder2024(codes).alpha == pytest.approx(alpha_from_scratch(codes), abs=1e-12)


def test_signs_are_lost():
    codes = dice(1, 40, 5)
    mirrored = codes * [1, -1, 1, -1, 1]
    assert schroeder2024(mirrored).omega == pytest.approx(schroeder2024(codes).omega, abs=1e-6)


def test_constant_questions_count_as_one_and_silent_ones_not_at_all():
    codes = dice(2, 30, 6)
    alone = schroeder2024(codes)
    constant = np.tile([3.0, 7.0, 0.0], (30, 1))
    silent = np.full((30, 5), 6.0)
    found = schroeder2024(np.hstack([codes, constant, silent]))
    assert found.alpha == pytest.approx((3 + 6 * alone.alpha) / 9)
    assert found.omega == pytest.approx((3 + 6 * alone.omega) / 9)
    assert (found.n_varying, found.n_constant, found.n_silent) == (6, 3, 5)
    assert (found.n_questions, found.n_replications) == (14, 30)


@pytest.mark.parametrize("codes", [np.full((4, 3), 2.0), [[6.0, 1.0], [6.0, 1.0]]])
def test_nothing_varies_is_one_by_definition(codes):
    assert [*schroeder2024(codes)] == [1.0, 1.0]


def test_a_replication_with_a_missing_code_is_left_out():
    codes = dice(3, 30, 4)
    holed = np.vstack([codes, [[1, np.nan, 2, 3], [np.nan] * 4]])
    found = schroeder2024(holed)
    assert [*found] == [*schroeder2024(codes)]
    assert (found.n_replications, found.n_dropped) == (30, 2)


@pytest.mark.parametrize(
    ("codes", "why"),
    [
        (np.empty((5, 0)), "no_verdicts"),
        (np.full((4, 3), 6.0), "no_verdicts"),
        (np.empty((0, 5)), "single_replication"),
        ([[1.0, 2.0]], "single_replication"),
        ([[1.0, np.nan], [2.0, 1.0]], "single_replication"),
        ([[1.0, 6.0], [2.0, 6.0]], "one_varying_question"),
    ],
)
def test_degenerate_codes_say_why(codes, why):
    found = schroeder2024(codes)
    assert [*found] == [None, None]
    assert (found.alpha_undefined, found.omega_undefined) == (why, why)


@pytest.mark.parametrize("n_questions", [2, 3, 6])
def test_questions_answered_alike_have_no_factor_analysis(n_questions):
    answers = np.array([1.0, 2.0, 1.0, 4.0, 1.0])
    found = schroeder2024(np.tile(answers[:, None], n_questions))
    assert found.alpha == pytest.approx(1.0)
    assert found.omega is None
    assert found.omega_undefined == "singular_correlations"


@pytest.mark.slow
def test_two_alike_among_many_have_an_omega_whatever_the_rounding():
    codes = dice(4, 12, 14)
    codes[:, 1] = codes[:, 0]
    found = {schroeder2024(codes[:, np.roll(np.arange(14), step)]).omega for step in range(5)}
    assert None not in found
    assert max(found) - min(found) < 1e-3


def test_the_order_of_questions_and_replications_does_not_matter():
    codes, rng = dice(9, 50, 12), np.random.default_rng(0)
    moved = codes[rng.permutation(50)][:, rng.permutation(12)]
    assert [*schroeder2024(moved)] == pytest.approx([*schroeder2024(codes)], abs=1e-6)


@pytest.mark.parametrize("codes", [[1.0, 2.0], np.ones((2, 2, 2)), [[1.0, np.inf], [2.0, 1.0]]])
def test_what_is_no_table_of_codes_is_refused(codes):
    with pytest.raises(ValueError, match="schroeder2024: codes must be"):
        schroeder2024(codes)


@given(
    arrays.arrays(
        float,
        st.tuples(st.integers(0, 6), st.integers(0, 5)),
        elements=st.sampled_from([1.0, 2.0, 6.0, 7.0, np.nan]),
    )
)
def test_no_codes_raise(codes):
    found = schroeder2024(codes)
    assert (found.alpha is None) != (found.alpha_undefined is None)
    assert (found.omega is None) != (found.omega_undefined is None)
    assert found.n_varying + found.n_constant + found.n_silent == found.n_questions


@pytest.mark.alike(3)
@pytest.mark.parametrize("shape", [(100, 25), (100, 8), (50, 3), (30, 2), (15, 20)])
def test_exact_derivatives_give_the_library_s_omega(shape):
    corr = absolute_correlations(dice(5, *shape))
    library, exact = fit_by_library(corr), fit_by_derivatives(corr)
    assert exact.omega == pytest.approx(library.omega, abs=1e-6)
    assert exact.n_improper == library.n_improper


def test_the_library_s_input_is_left_as_it_was():
    corr = absolute_correlations(dice(6, 40, 5))
    before = corr.copy()
    fit_by_library(corr)
    fit_by_derivatives(corr)
    assert np.array_equal(corr, before)


def test_a_missing_library_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "factor_analyzer", None)
    with pytest.raises(SweepError, match=r"pip install '\.\[legacy\]'"):
        schroeder2024(dice(7, 10, 3))


def test_a_library_too_new_is_named(monkeypatch):
    monkeypatch.setattr(metadata, "version", lambda _: "1.8.0")
    with pytest.raises(SweepError, match=r"scikit-learn before 1\.8, got 1\.8\.0"):
        schroeder2024(dice(8, 10, 3))


def test_without_factor_analysis_no_library_is_needed(monkeypatch):
    monkeypatch.setitem(sys.modules, "factor_analyzer", None)
    assert [*schroeder2024(np.ones((3, 3)))] == [1.0, 1.0]
