"""Options of a simulated judge, checked and typed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

from judgerel_ray.core import SweepError
from judgerel_ray.engines.engine import JSON, EngineSpec

MODELS = ("uniform", "always", "dirichlet", "position", "latent")


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

    seed: int = 0
    label: str | None = None
    concentration: float = 1.0
    base: Mapping[str, float] | None = None
    position_bias: tuple[float, ...] = (1.0,)
    quality_sd: float = 1.0
    noise: float = 0.1
    refuse: float = 0.0
    unparsed: float = 0.0
    reason_words: int = 0
    suggestibility: float = 0.0
    reasoning: float | None = None
    logprobs: bool = True
    dies_on: int | None = None
    dies: str = "exit"
    dies_once: str | None = None
    fails_on: tuple[int, ...] = ()
    hangs_on: int | None = None
    poison: str | None = None
    fails_start: bool = False
    latency_ms: float = 0.0
    tokens_per_s: float | None = None


def simulated_options(spec: EngineSpec) -> SimulatedOptions:
    """Read and check a simulated judge's model and options."""
    if spec.model not in MODELS:
        raise SweepError(
            f"model of a simulated judge must be one of {', '.join(MODELS)}, got {spec.model!r}",
            where={"judge": spec.name},
        )
    known = {field.name for field in fields(SimulatedOptions)}
    for name in spec.engine_options:
        if name not in known:
            raise SweepError(
                f"engine_options of a simulated judge must be among {', '.join(sorted(known))}, "
                f"got {name!r}",
                where={"judge": spec.name},
            )
    options = _read(_Reader(spec))
    if options.refuse + options.unparsed > 1:
        raise SweepError(
            f"engine_options refuse + unparsed must be at most 1, got "
            f"{options.refuse + options.unparsed}",
            where={"judge": spec.name},
        )
    return options


def _read(read: _Reader) -> SimulatedOptions:
    """Read every option in its kind and range."""
    default = SimulatedOptions()
    return SimulatedOptions(
        seed=read.whole("seed", at_least=None) or 0,
        label=read.text("label"),
        concentration=read.number("concentration", default.concentration, above=0.0),
        base=read.table("base"),
        position_bias=read.numbers("position_bias", default.position_bias),
        quality_sd=read.number("quality_sd", default.quality_sd),
        noise=read.number("noise", default.noise),
        refuse=read.number("refuse", 0.0, at_most=1.0),
        unparsed=read.number("unparsed", 0.0, at_most=1.0),
        reason_words=read.whole("reason_words", at_least=0) or 0,
        suggestibility=read.number("suggestibility", 0.0),
        reasoning=read.number("reasoning", 0.0, above=0.0) or None,
        logprobs=read.flag("logprobs", default=default.logprobs),
        dies_on=read.whole("dies_on"),
        dies=read.text("dies", among=("exit", "raise")) or default.dies,
        dies_once=read.text("dies_once"),
        fails_on=read.wholes("fails_on"),
        hangs_on=read.whole("hangs_on"),
        poison=read.text("poison"),
        fails_start=read.flag("fails_start"),
        latency_ms=read.number("latency_ms", 0.0),
        tokens_per_s=read.number("tokens_per_s", 0.0, above=0.0) or None,
    )


class _Reader:
    """Reads one option at a time, or says what it should have been."""

    def __init__(self, spec: EngineSpec) -> None:
        self.options = spec.engine_options
        self._judge = spec.name

    def _refuse(self, name: str, expected: str) -> SweepError:
        """Make the error for an option of the wrong kind."""
        return SweepError(
            f"engine_options.{name} must be {expected}, got {self.options.get(name)!r}",
            where={"judge": self._judge},
        )

    def _is_number(self, value: JSON) -> bool:
        """Whether a value is a finite number and no truth value."""
        return (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and (math.isfinite(value))
        )

    def number(
        self, name: str, default: float, *, above: float | None = None, at_most: float = math.inf
    ) -> float:
        """Read a finite number from 0 on."""
        value = self.options.get(name, default)
        if not isinstance(value, int | float) or not self._is_number(value):
            raise self._refuse(name, "a number")
        if value < 0 or value > at_most or (name in self.options and above == value):
            low = "above" if above is not None else "at least"
            limit = f" and at most {at_most}" if at_most < math.inf else ""
            raise self._refuse(name, f"{low} 0{limit}")
        return float(value)

    def whole(self, name: str, *, at_least: int | None = 1) -> int | None:
        """Read a whole number, None where not given."""
        value = self.options.get(name)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool):
            raise self._refuse(name, "a whole number")
        if at_least is not None and value < at_least:
            raise self._refuse(name, f"at least {at_least}")
        return value

    def wholes(self, name: str) -> tuple[int, ...]:
        """Read one whole number or a list of them."""
        value = self.options.get(name)
        if value is None:
            return ()
        listed = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
        kept = [entry for entry in listed if isinstance(entry, int) and not isinstance(entry, bool)]
        if len(kept) != len(listed) or any(entry < 1 for entry in kept):
            raise self._refuse(name, "whole numbers from 1")
        return tuple(kept)

    def numbers(self, name: str, default: tuple[float, ...]) -> tuple[float, ...]:
        """Read a list of finite numbers of any sign."""
        value = self.options.get(name)
        if value is None:
            return default
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise self._refuse(name, "a list of numbers")
        kept = [float(entry) for entry in value if isinstance(entry, int | float)]
        if len(kept) != len(value) or not all(self._is_number(entry) for entry in value):
            raise self._refuse(name, "a list of numbers")
        return tuple(kept)

    def table(self, name: str) -> dict[str, float] | None:
        """Read a table of weights by option id, None where not given."""
        value = self.options.get(name)
        if value is None:
            return None
        if not isinstance(value, Mapping):
            raise self._refuse(name, "a table of weights by option id")
        kept = {key: float(entry) for key, entry in value.items() if isinstance(entry, int | float)}
        if len(kept) != len(value) or not kept or not all(entry > 0 for entry in kept.values()):
            raise self._refuse(name, "a table of weights above 0")
        return kept

    def text(self, name: str, *, among: tuple[str, ...] = ()) -> str | None:
        """Read a text, None where not given."""
        value = self.options.get(name)
        if value is None:
            return None
        if not isinstance(value, str) or not value or (among and value not in among):
            raise self._refuse(name, " or ".join(repr(one) for one in among) or "a text")
        return value

    def flag(self, name: str, *, default: bool = False) -> bool:
        """Read a truth value."""
        value = self.options.get(name, default)
        if not isinstance(value, bool):
            raise self._refuse(name, "true or false")
        return value
