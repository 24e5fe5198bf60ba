from __future__ import annotations

import dataclasses

import pytest

from judgerel_ray.stats import Coefficient

WHOLE = Coefficient(
    name="flip_rate", estimator="e", n_units=1, n_raters=2, n_ratings=2, n_missing=0, value=0.0
)


def test_it_has_the_fields_of_the_contract():
    fields = {field.name for field in dataclasses.fields(Coefficient)}
    assert fields == {
        "name", "value", "low", "high", "noise_floor", "noise_floor_sd", "p_noise", "n_units",
        "n_raters", "n_ratings", "n_missing", "estimator", "undefined",
        "interval_method", "no_interval", "null_method", "n_permutations",  # how it was made
    }  # fmt: skip


def test_it_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        WHOLE.value = 1.0


@pytest.mark.parametrize(
    "change",
    [
        {"undefined": "no_variance"},
        {"value": None},
        {"value": float("nan")},
        {"low": float("inf")},
        {"p_noise": float("nan")},
    ],
)
def test_it_refuses_what_no_coefficient_is(change):
    with pytest.raises(ValueError):
        dataclasses.replace(WHOLE, **change)
