import math

import pytest

from judgerel_ray.core import SweepError
from judgerel_ray.engines.simulated.options import SimulatedOptions, simulated_options


def test_nothing_given_is_the_defaults(simulated):
    assert simulated_options(simulated()) == SimulatedOptions()


def test_every_option_is_read(simulated):
    given = {
        "seed": -3,
        "label": "B",
        "concentration": 2,
        "base": {"x": 1, "y": 2.5},
        "position_bias": [1, -0.5],
        "quality_sd": 0,
        "refuse": 0.1,
        "unparsed": 0.2,
        "reason_words": 4,
        "dies_on": 7,
        "dies": "raise",
        "dies_once": "mark",
        "fails_on": [1, 3],
        "hangs_on": 2,
        "poison": "q1",
        "fails_start": True,
        "latency_ms": 5,
        "tokens_per_s": 100,
    }
    read = simulated_options(simulated("dirichlet", **given))
    expected = given | {"position_bias": (1.0, -0.5), "fails_on": (1, 3)}
    assert read == SimulatedOptions(**expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"concentration": 0}, "concentration must be above 0, got 0"),
        ({"concentration": "much"}, "concentration must be a number"),
        ({"concentration": math.nan}, "concentration must be a finite number, got nan"),
        ({"seed": True}, "seed must be a whole number, got true"),
        ({"seed": 1.5}, "seed must be a whole number, got 1.5"),
        ({"refuse": 1.1}, "refuse must be at most 1, got 1.1"),
        ({"unparsed": -0.1}, "unparsed must be at least 0"),
        ({"refuse": 0.6, "unparsed": 0.6}, "refuse \\+ unparsed must be at most 1"),
        ({"base": {"y": 1, "x": 0}}, "engine_options.base.x must be above 0, got 0"),
        ({"base": {"x": "1"}}, "engine_options.base.x must be a number, got '1'"),
        ({"base": {}}, "base must be a table that is not empty, got {}"),
        ({"position_bias": {"a": 1}}, r"position_bias must be a list, got {'a': 1} \[judge=\w+\]$"),
        ({"base": [1, 2]}, "base must be a table"),
        ({"position_bias": "1"}, "position_bias must be a list, got '1'"),
        ({"position_bias": [1, None]}, "position_bias\\[1\\] must be a number, got None"),
        ({"dies_on": 0}, "dies_on must be at least 1, got 0"),
        ({"dies": "gladly"}, 'dies must be one of "exit" or "raise", got \'gladly\''),
        ({"fails_on": [0]}, "fails_on\\[0\\] must be at least 1, got 0"),
        ({"poison": ""}, "poison must be a text"),
        ({"fails_start": 1}, "fails_start must be true or false, got 1"),
        ({"tokens_per_s": 0}, "tokens_per_s must be above 0"),
        ({"lable": "A"}, "lable is not a key of a simulated judge .* Try: label"),
    ],
)
def test_an_option_that_makes_no_sense_is_named(simulated, options, message):
    with pytest.raises(SweepError, match=message):
        simulated_options(simulated(**options))


def test_an_unknown_model_is_refused_with_the_known_ones(simulated):
    known = "uniform, always, dirichlet, position, latent, got 'coin'"
    with pytest.raises(SweepError, match=known):
        simulated_options(simulated("coin"))
