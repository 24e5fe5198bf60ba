"""Options of a simulated judge, checked and typed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any

from judgerel_ray.core import SweepError
from judgerel_ray.engines.engine import JSON, EngineSpec

MODELS = ("uniform", "always", "dirichlet", "position", "latent")


def _simulated_finite_number(value: JSON) -> float:
    """Read a finite number that is no truth value, or say with ValueError what was expected."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise ValueError("a number")
    return float(value)


def _simulated_number(value: JSON, *, above: bool = False, at_most: float = math.inf) -> float:
    """Read a number from 0 on, or `above` it."""
    number = _simulated_finite_number(value)
    if number < 0 or number > at_most or (above and not number):
        limit = f" and at most {at_most}" if at_most < math.inf else ""
        raise ValueError(f"{'above' if above else 'at least'} 0{limit}")
    return number


def _simulated_whole_number(value: JSON, *, at_least: float = 1) -> int:
    """Read a whole number."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError("a whole number")
    if value < at_least:
        raise ValueError(f"at least {at_least}")
    return value


def _simulated_whole_numbers(value: JSON) -> tuple[int, ...]:
    """Read one whole number or a list of them."""
    try:
        return tuple(
            map(_simulated_whole_number, value if isinstance(value, list | tuple) else [value])
        )
    except ValueError:
        raise ValueError("whole numbers from 1") from None


def _simulated_finite_numbers(value: JSON) -> tuple[float, ...]:
    """Read a list of finite numbers of any sign."""
    try:
        return tuple(
            map(_simulated_finite_number, value if isinstance(value, list | tuple) else [None])
        )
    except ValueError:
        raise ValueError("a list of numbers") from None


def _simulated_weights_table(value: JSON) -> dict[str, float]:
    """Read a table of weights by option id."""
    if not isinstance(value, Mapping):
        raise ValueError("a table of weights by option id")
    kept = {key: float(entry) for key, entry in value.items() if isinstance(entry, int | float)}
    if len(kept) != len(value) or not kept or not all(entry > 0 for entry in kept.values()):
        raise ValueError("a table of weights above 0")
    return kept


def _simulated_option_text(value: JSON, *, among: tuple[str, ...] = ()) -> str:
    """Read a text."""
    if not isinstance(value, str) or not value or (among and value not in among):
        raise ValueError(" or ".join(map(repr, among)) or "a text")
    return value


def _simulated_truth_value(value: JSON) -> bool:
    """Read a truth value."""
    if not isinstance(value, bool):
        raise ValueError("true or false")
    return value


_above_0, _share = partial(_simulated_number, above=True), partial(_simulated_number, at_most=1.0)


def _simulated_option_field(default: object, read: Callable[[JSON], object]) -> Any:
    """A field that is read so where a sweep gives it."""
    return field(default=default, metadata={"read": read})


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedOptions:
    """Options of a simulated judge, in the sweep file's words.

    Who the judge is: ``seed`` of everything drawn; ``label`` that ``always`` gives (default the
    first); ``concentration`` s and ``base`` pi of ``dirichlet`` (pi a table of option ids,
    default even); ``position_bias`` (log-odds by place shown, 0 beyond its end) and
    ``quality_sd`` (spread of the log-odds of an item's options) of ``position``; ``noise`` of
    ``latent``, whose opinion is a number on [0, 1] and whose ratings are the part of any scale that
    it falls into with normal noise of this standard deviation (default 0.1); shares of
    ``refuse`` and ``unparsed`` replies; ``reason_words`` after each verdict; ``suggestibility``,
    the log-odds an option gains where an assessment argued for it; ``reasoning`` s: each reply's
    reasoning draws the distribution its verdict comes from, Dirichlet(s p) around the judge's p;
    ``logprobs = false`` gives no log-probabilities, as many a judge behind an API.

    What goes wrong, once per engine: it dies with its ``dies_on``-th request, by leaving the
    process (``dies = "exit"``) or by raising EngineLost (``"raise"``), and only if it is first to
    create the file ``dies_once`` where that is given; ``fails_on`` lists requests that fail;
    ``hangs_on`` one that never ends; ``poison`` is a part of the item ids that kill it each time;
    ``fails_start`` keeps it from starting.

    How long it takes: ``latency_ms`` for each ask, and ``tokens_per_s`` shared by all of them.
    """

    seed: int = _simulated_option_field(0, partial(_simulated_whole_number, at_least=-math.inf))
    label: str | None = _simulated_option_field(None, _simulated_option_text)
    concentration: float = _simulated_option_field(1.0, _above_0)
    base: Mapping[str, float] | None = _simulated_option_field(None, _simulated_weights_table)
    position_bias: tuple[float, ...] = _simulated_option_field((1.0,), _simulated_finite_numbers)
    quality_sd: float = _simulated_option_field(1.0, _simulated_number)
    noise: float = _simulated_option_field(0.1, _simulated_number)
    refuse: float = _simulated_option_field(0.0, _share)
    unparsed: float = _simulated_option_field(0.0, _share)
    reason_words: int = _simulated_option_field(0, partial(_simulated_whole_number, at_least=0))
    suggestibility: float = _simulated_option_field(0.0, _simulated_number)
    reasoning: float | None = _simulated_option_field(None, _above_0)
    logprobs: bool = _simulated_option_field(True, _simulated_truth_value)
    dies_on: int | None = _simulated_option_field(None, _simulated_whole_number)
    dies: str = _simulated_option_field(
        "exit", partial(_simulated_option_text, among=("exit", "raise"))
    )
    dies_once: str | None = _simulated_option_field(None, _simulated_option_text)
    fails_on: tuple[int, ...] = _simulated_option_field((), _simulated_whole_numbers)
    hangs_on: int | None = _simulated_option_field(None, _simulated_whole_number)
    poison: str | None = _simulated_option_field(None, _simulated_option_text)
    fails_start: bool = _simulated_option_field(False, _simulated_truth_value)
    latency_ms: float = _simulated_option_field(0.0, _simulated_number)
    tokens_per_s: float | None = _simulated_option_field(None, _above_0)


def simulated_options(spec: EngineSpec) -> SimulatedOptions:
    """Read and check a simulated judge's model and options."""
    if spec.model not in MODELS:
        raise SweepError(
            f"model of a simulated judge must be one of {', '.join(MODELS)}, got {spec.model!r}",
            where={"judge": spec.name},
        )
    readers = {one.name: one.metadata["read"] for one in fields(SimulatedOptions)}
    found: dict[str, Any] = {}
    for name, value in spec.engine_options.items():
        if name not in readers:
            raise SweepError(
                f"engine_options of a simulated judge must be among {', '.join(sorted(readers))}, "
                f"got {name!r}",
                where={"judge": spec.name},
            )
        try:
            found[name] = readers[name](value)
        except ValueError as error:
            raise SweepError(
                f"engine_options.{name} must be {error}, got {value!r}", where={"judge": spec.name}
            ) from None
    options = SimulatedOptions(**found)
    if options.refuse + options.unparsed > 1:
        raise SweepError(
            f"engine_options refuse + unparsed must be at most 1, got "
            f"{options.refuse + options.unparsed}",
            where={"judge": spec.name},
        )
    return options
