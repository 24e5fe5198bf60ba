"""The names that pages outside call, and what their first use loads."""

import importlib.util
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

import judgerel_ray.stats
from judgerel_ray.stats import (
    bootstrap_interval,
    count_statistic,
    jackknife_interval,
    mcnemar_exact,
    noise_floor,
)
from judgerel_ray.stats.agreement.agreement import declaration

PLANS = (
    "intervals.paired",
    "generalizability.dstudy",
    "panels.panel",
    "generalizability.variance_components",
)


@pytest.mark.parametrize("room", ["stats", "engines", "papers", "importers"])
def test_every_name_of_a_room_is_there(room):
    module = importlib.import_module(f"judgerel_ray.{room}")
    assert len(module.__all__) > 2
    for name in module.__all__:
        assert getattr(module, name) is not None


def test_a_name_that_is_not_there_is_said_so():
    with pytest.raises(AttributeError, match="no attribute 'nonesuch'"):
        judgerel_ray.stats.nonesuch  # noqa: B018


@pytest.mark.slow
def test_coefficients_load_no_plans():
    assert all(importlib.util.find_spec(f"judgerel_ray.stats.{name}") for name in PLANS)
    code = (
        "import sys, judgerel_ray.stats, judgerel_ray.measuring.reliability\n"
        f"print([n for n in {PLANS} if f'judgerel_ray.stats.{{n}}' in sys.modules])\n"
        "judgerel_ray.stats.holm\n"
        "print('judgerel_ray.stats.intervals.judge_differences' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split("\n")[:2] == ["[]", "True"]


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    "before",
    [
        "from judgerel_ray.stats import *",
        "[getattr(stats, name) for name in stats.__all__]",
        "[getattr(stats, name) for name in reversed(stats.__all__)]",
        "from judgerel_ray.stats import VarianceComponents, dependability",
        "[importlib.import_module(f'judgerel_ray.stats.{one.name}')"
        " for one in pkgutil.iter_modules(stats.__path__)]",
    ],
)
def test_no_public_name_is_ever_a_module(before):
    # Python binds a submodule to its room when it is first imported, over a function of that name.
    code = (
        f"import importlib, pkgutil, judgerel_ray.stats as stats\n{before}\n"
        "print([n for n in stats.__all__ if type(getattr(stats, n)) is type(pkgutil)])\n"
        "from judgerel_ray.stats import variance_components\n"
        "print(variance_components.__name__, 'variance_components' in dir(stats))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "variance_components True"]


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_the_binomial_test_of_discordant_pairs(b, c):
    expected = binomtest(b, b + c, 0.5).pvalue if b + c else 1.0
    assert mcnemar_exact(b, c) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("b", "c"), [(-1, 2), (1.5, 2)])
def test_mcnemar_refuses_what_is_no_number_of_questions(b, c):
    with pytest.raises(ValueError, match="whole numbers from 0 on"):
        mcnemar_exact(b, c)


COUNTS = [[4, 0, 1], [0, 3, 1], [2, 2, 0], [5, 0, 0], [0, 1, 4], [3, 0, 2]]


@pytest.mark.parametrize("name", ["krippendorff_alpha", "gwet_ac1", "majority_stability_2"])
@pytest.mark.parametrize("function", [jackknife_interval, bootstrap_interval, noise_floor])
def test_a_name_is_its_coefficient(function, name):
    statistic = count_statistic(name, n_values=3)
    assert function(COUNTS, name) == function(COUNTS, statistic)


@pytest.mark.parametrize("function", [jackknife_interval, bootstrap_interval, noise_floor])
def test_names_of_nothing_are_refused(function):
    with pytest.raises(ValueError, match="name must be one of"):
        function(COUNTS, "alpha")
    with pytest.raises(ValueError, match="2 dimensions"):
        function([1, 2], "krippendorff_alpha")


def test_traits_are_found_by_name():
    flips = declaration("flip_rate")
    assert flips is not None
    assert flips.less_is_better
    assert declaration("accuracy") is None
