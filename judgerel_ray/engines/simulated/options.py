"""Options of a simulated judge, checked and typed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator, ConfigDict, Field

from judgerel_ray.core import SweepError
from judgerel_ray.engines.engine import EngineSpec, checked_options
from judgerel_ray.protocols.ask import Number, StrictBool, SweepTable, Text, Whole

MODELS = ("uniform", "always", "dirichlet", "position", "latent")

_FromZero = Annotated[Number, Field(ge=0)]
_AboveZero = Annotated[Number, Field(gt=0)]
_Share = Annotated[Number, Field(ge=0, le=1)]
_FromOne = Annotated[Whole, Field(ge=1)]


def _listed(value: object) -> object:
    """One number as a list of it."""
    return [value] if isinstance(value, int) else value


class SimulatedOptions(SweepTable):
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

    model_config = ConfigDict(title="simulated judge")

    seed: Whole = 0
    label: Text | None = None
    concentration: _AboveZero = 1.0
    base: Annotated[Mapping[str, _AboveZero], Field(min_length=1)] | None = None
    position_bias: tuple[Number, ...] = (1.0,)
    quality_sd: _FromZero = 1.0
    noise: _FromZero = 0.1
    refuse: _Share = 0.0
    unparsed: _Share = 0.0
    reason_words: Annotated[Whole, Field(ge=0)] = 0
    suggestibility: _FromZero = 0.0
    reasoning: _AboveZero | None = None
    logprobs: StrictBool = True
    dies_on: _FromOne | None = None
    dies: Literal["exit", "raise"] = "exit"
    dies_once: Text | None = None
    fails_on: Annotated[tuple[_FromOne, ...], BeforeValidator(_listed)] = ()
    hangs_on: _FromOne | None = None
    poison: Text | None = None
    fails_start: StrictBool = False
    latency_ms: _FromZero = 0.0
    tokens_per_s: _AboveZero | None = None


def simulated_options(spec: EngineSpec) -> SimulatedOptions:
    """Read and check a simulated judge's model and options."""
    if spec.model not in MODELS:
        raise SweepError(
            f"model of a simulated judge must be one of {', '.join(MODELS)}, got {spec.model!r}",
            where={"judge": spec.name},
        )
    options = checked_options(spec, SimulatedOptions)
    if options.refuse + options.unparsed > 1:
        raise SweepError(
            f"engine_options refuse + unparsed must be at most 1, got "
            f"{options.refuse + options.unparsed}",
            where={"judge": spec.name},
        )
    return options
