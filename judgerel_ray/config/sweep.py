"""The sweep file as one frozen type: judges, asks, fleet limits, and where its paths lead.

A ``[[judge]]`` is a model with all that changes its verdicts, and where it runs; its ``limits``,
where it is behind an API, say what its server may be asked, and how patiently.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self, get_args
from urllib.parse import urlsplit

from pydantic import (
    ConfigDict,
    Field,
    JsonValue,
    field_validator,
    model_validator,
)

from judgerel_ray.config.asks import AnyAsk
from judgerel_ray.core import ProviderName, SweepError
from judgerel_ray.core.files import is_of_the_web
from judgerel_ray.core.traits import SHIPPED
from judgerel_ray.protocols.ask import AskTable, Name, Number, StrictBool, SweepTable, Text, Whole
from judgerel_ray.protocols.registry import protocol_names

SHARED = ("concurrency", "requests_per_minute", "tokens_per_minute")
"""Limits of a provider, which all judges behind it share."""


class Limits(SweepTable):
    """What one provider may be asked; its judges and all their actors share it.

    A provider is a ``base_url`` with an ``api_key_env``.
    """

    concurrency: Whole = Field(default=32, ge=1, le=10_000)
    """Requests at the server at once."""
    requests_per_minute: Number | None = Field(default=None, ge=1)
    """Requests sent in any 60 seconds, those sent again included; default no limit."""
    tokens_per_minute: Number | None = Field(default=None, ge=1)
    """Tokens of prompts and replies in any 60 seconds; default no limit."""
    timeout: Number = Field(default=120.0, gt=0)
    """Seconds one try of a request may take."""
    retries: Whole = Field(default=6, ge=0, le=1000)
    """How often a request is sent again that its server failed at: no reply in time, half a reply,
    an error of the server's own (5xx). One that says to come back later, or is not there, is asked
    until the deadline."""
    deadline: Number = Field(default=600.0, gt=0)
    """Seconds a request may take with all its tries and the waiting between them."""

    @model_validator(mode="after")
    def _tries_fit(self) -> Self:
        """Refuse a deadline that not even one try can keep."""
        if self.deadline < self.timeout:
            raise ValueError(
                f"deadline must be at least timeout = {self.timeout:g}, got {self.deadline:g}"
            )
        return self

    def lease_seconds(self, requests: int, tokens: int) -> float:
        """Longest time in which so much work must have ended, one way or the other.

        Examples
        --------
        >>> Limits(concurrency=10, deadline=600).lease_seconds(20, 0)
        1200.0
        """
        seconds = -(-requests // self.concurrency) * self.deadline
        if self.requests_per_minute is not None:
            seconds += 60.0 * requests / self.requests_per_minute
        if self.tokens_per_minute is not None:
            seconds += 60.0 * tokens / self.tokens_per_minute
        return seconds


WithoutGpu = Literal["openai", "simulated"]
"""Engines whose judges hold a GPU only where their table says so."""
EngineName = Literal["vllm", WithoutGpu]
MILLION = 1_000_000
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")
_OF_SERVERS = ("provider", "base_url", "api_key_env", "limits")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._:+-]+")
_OF_LOADED = ("revision", "dtype", "quantization", "max_model_len", "batch_invariant",
              "trust_remote_code")  # fmt: skip


def check_shared_limits(judges: Iterable[tuple[str, Hashable, Limits | None]]) -> None:
    """Refuse judges of one provider that state other limits of it: by name, provider, limits.

    Examples
    --------
    >>> check_shared_limits([("a", "url", None), ("b", "url", Limits(retries=1))])
    >>> try:
    ...     check_shared_limits([("a", "url", None), ("b", "url", Limits(concurrency=2))])
    ... except ValueError as error:
    ...     print(str(error).rpartition(", but ")[2])
    limits.concurrency is 32 and 2
    """
    first: dict[Hashable, tuple[str, Limits]] = {}
    for name, provider, stated in judges:
        limits = stated or Limits()
        other, others = first.setdefault(provider, (name, limits))
        for key in SHARED:
            if getattr(limits, key) != getattr(others, key):
                raise ValueError(
                    f"judges {other} and {name} share a provider (base_url and api_key_env) and "
                    f"so its limits, but limits.{key} is {getattr(others, key)} and "
                    f"{getattr(limits, key)}"
                )


class Prices(SweepTable):
    """Money for a million tokens, in any one currency."""

    prompt: Number = Field(default=0.0, ge=0)
    """Of prompt tokens."""
    completion: Number = Field(default=0.0, ge=0)
    """Of tokens that are generated."""
    cached_prompt: Number | None = Field(default=None, ge=0)
    """Of prompt tokens that a provider served from its cache; default as any other."""

    def cost(self, prompt: int, cached: int, completion: int) -> float:
        """Money for one reply; `cached` are those of its prompt tokens that came from a cache.

        Examples
        --------
        >>> Prices(prompt=2.0, completion=8.0, cached_prompt=0.5).cost(1_000_000, 400_000, 0)
        1.4
        """
        kept = self.prompt if self.cached_prompt is None else self.cached_prompt
        spent = (prompt - cached) * self.prompt + cached * kept + completion * self.completion
        return spent / MILLION


class Judge(SweepTable):
    """One ``[[judge]]``: a model with all that changes its verdicts, and where it runs."""

    model_config = ConfigDict(json_schema_extra=lambda schema: schema["required"].remove("name"))

    name: Name
    """Name in every table; also a folder of the run directory. Behind an API by default the
    model's."""
    engine: EngineName = "vllm"
    """vllm, openai (any server that speaks OpenAI's API; default beside a provider), or simulated
    (answers from a stated distribution; not a judge)."""
    model: Text
    """Hub id or folder; the name it has at its server; for the simulated engine, the name of its
    distribution."""
    revision: Text | None = None
    """Commit or branch of a hub id."""
    gpus: Whole = Field(default=1, ge=0)
    """GPUs of one engine, all on one node (tensor parallel); 0 runs on the CPU. Openai, simulated:
    0."""
    pipeline_parallel_size: Whole = Field(default=1, ge=1)
    """Stages that a model too large for any node is cut into, each with its share of the GPUs on
    one node; nodes may differ."""
    replicas: Annotated[Whole, Field(ge=1)] | Literal["auto"] = "auto"
    """Engines of this judge side by side; auto takes as many as the cluster's GPUs allow."""
    dtype: Text | None = None
    """Precision of the weights; default: the model's own on GPU, float32 on CPU."""
    quantization: Text | None = None
    """Quantisation scheme of vLLM; part of the judge's identity."""
    max_model_len: Whole | None = Field(default=None, ge=16)
    """Longest prompt plus reply, in tokens."""
    batch_invariant: StrictBool = False
    """true: replies do not depend on what else is in a batch (vLLM on GPUs; slower). Part of the
    judge's identity. false leaves it to the environment's VLLM_BATCH_INVARIANT."""
    chat_template: StrictBool | Text = True
    """true: the tokenizer's; a path: that file; false: the plain prompt, as in the paper."""
    engine_options: dict[str, JsonValue] = Field(default_factory=dict)
    """Passed on to the engine as they are; for openai what its server can do."""
    provider: ProviderName | None = None
    """Who serves an openai judge: its address and the variable of its key are known, and what it
    does not take. azure needs its base_url, too; vllm and ollama are servers on this machine."""
    base_url: Text | None = None
    """Where an openai judge's server is, its version included: https://api.openai.com/v1; default
    that of its provider."""
    api_key_env: Text | None = None
    """Name of the environment variable that holds the key; a local server needs none. Default that
    of its provider."""
    limits: Limits | None = None
    """What the server may be asked; shared by all judges behind it."""
    prices: Prices | None = None
    """Money for a million tokens; fills the cost column."""
    trust_remote_code: StrictBool = False
    """Run code shipped with the model."""

    @model_validator(mode="before")
    @classmethod
    def _fills_in(cls, present: object) -> object:
        """Fill in what follows from the provider or the engine, where the table says no other."""
        if not isinstance(present, dict):
            return present
        if present.get("provider") is not None:
            present = {"engine": "openai", **present}
        if present.get("engine") in get_args(WithoutGpu):
            present = {"gpus": 0, **present}
        model = present.get("model")
        if present.get("engine") == "openai" and isinstance(model, str):
            last = model.rstrip("/").rpartition("/")[2]
            present = {"name": _NOT_IN_NAMES.sub("-", last).lstrip("._:+-"), **present}
        return present

    @field_validator("base_url")
    @classmethod
    def _plain_url(cls, value: str | None) -> str | None:
        """Refuse a place that is none, or that holds a secret; never say what it was."""
        if value is None:
            return None
        try:
            parts = urlsplit(value)
            port_is_sound = parts.port is None or parts.port > 0
        except ValueError:
            raise ValueError("must be a URL such as http://localhost:8000/v1") from None
        if "@" in parts.netloc or parts.query or parts.fragment:
            raise ValueError(
                "must not hold a user, password or query, as the run keeps a copy of the sweep "
                "file; name the environment variable of the key in api_key_env"
            )
        if parts.scheme not in ("http", "https") or not parts.hostname or not port_is_sound:
            raise ValueError("must be a URL such as http://localhost:8000/v1")
        return value.rstrip("/")

    @field_validator("api_key_env")
    @classmethod
    def _names_a_variable(cls, value: str | None) -> str | None:
        """Refuse what looks like the key itself; never say what it was."""
        if value is not None and not _VARIABLE.fullmatch(value):
            raise ValueError(
                "must be the name of an environment variable, of capitals, digits and _, and never "
                "the key itself"
            )
        return value

    @model_validator(mode="after")
    def _fits_its_engine(self) -> Self:
        """Refuse keys that have no meaning for the judge's engine."""
        present = self.model_fields_set
        if self.gpus % self.pipeline_parallel_size or self.pipeline_parallel_size > max(
            self.gpus, 1
        ):
            raise ValueError(
                f"pipeline_parallel_size must divide gpus = {self.gpus}, got "
                f"{self.pipeline_parallel_size}: each stage has as many"
            )
        if self.engine != "openai":
            for key in _OF_SERVERS:
                if key in present:
                    raise ValueError(f"{key} is of judges of engine openai, not {self.engine}")
            return self
        if self.base_url is None and self.provider is None:
            raise ValueError(
                "a judge of engine openai needs base_url, or its provider by name: "
                f"{', '.join(get_args(ProviderName))}"
            )
        for key in _OF_LOADED:
            if key in present:
                raise ValueError(f"{key} is the server's affair, leave it out for engine openai")
        if self.gpus:
            raise ValueError(f"gpus must be 0 for engine openai, got {self.gpus}: it asks a server")
        if isinstance(self.chat_template, str):
            raise ValueError(
                "chat_template must be true (the server's own) or false (the plain prompt) for "
                "engine openai"
            )
        return self


class FleetTable(SweepTable):
    """``[fleet]``: limits of the execution; never part of what is asked."""

    lease_seconds: Number = Field(default=10.0, gt=0)
    """How much work one lease should hold, by the rate measured so far."""
    deadline_s: Number = Field(default=600.0, gt=0)
    """Shortest deadline of a lease; it grows with the lease's expected time."""
    start_timeout_s: Number = Field(default=1800.0, gt=0)
    """How long an engine may take to come up, waiting for its GPU included."""
    max_attempts: Whole = Field(default=3, ge=1)
    """How often a request that failed is asked before it is recorded."""
    max_engine_losses: Whole = Field(default=8, ge=1)
    """How many engines of one judge may die, with nothing landed between, before it is given up.

    From 3 on it is never reached by one deadly item at a time: something else lands in between.
    Several deadly items may be before engines at once, and their engines' deaths add up.
    """
    replications_per_request: Whole = Field(default=32, ge=1, le=1024)
    """Replications asked in one request."""


class Sweep(SweepTable):
    """A whole sweep file."""

    _known: ClassVar[tuple[str, ...]] = tuple(SHIPPED)

    name: Name
    """Name of the sweep."""
    judge: Annotated[tuple[Judge, ...], Field(min_length=1)]
    """The judges, responders among them."""
    ask: Annotated[tuple[Annotated[AskTable, AnyAsk()], ...], Field(min_length=1)]
    """What is asked."""
    fleet: FleetTable = FleetTable()
    """Limits of the execution."""
    first_replication: Whole = Field(default=0, ge=0)
    """Number of the first replication of every judgment: a run from N on asks what one from 0 with
    fewer did not, under keys and seeds of its own. Of protocols that sample verdicts, a fixed
    number of times; `judgerel refresh` sets it for anchors."""
    tolerance: dict[str, Number] = Field(default_factory=dict)
    """What the domain asks of coefficients, by name; never part of what is asked of judges."""
    fetch: StrictBool = False
    """Whether paths of the sweep may be addresses of the web (http, hf, sftp: all but disks and
    buckets), which are fetched from wherever they point: a sweep of somebody else's does not decide
    that unnoticed."""
    folder: str = Field(default="", exclude=True)
    """Folder of the sweep file: where relative paths are looked for first."""

    text: str = Field(default="", exclude=True, repr=False)
    """The file as it was written; kept in the run directory."""

    @model_validator(mode="after")
    def _names_meet(self) -> Self:
        """Judge names differ, and asks name judges that exist."""
        names = [judge.name for judge in self.judge]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"two judges are named {name!r}; names must differ")
        for index, ask in enumerate(self.ask):
            for name in ask.judges:
                if name not in names:
                    raise ValueError(f"ask[{index}].judges names {name!r}, known are {names}")
            known = [name in names for name in ask.responders]
            if ask.kind.traits.models_answer and not all(known):
                raise ValueError(
                    f"ask[{index}].responders must be judges of the sweep, got "
                    f"{list(ask.responders)}, judges are {names}"
                )
            if any(known) and not all(known):
                raise ValueError(
                    f"ask[{index}].responders mixes judges of the sweep with recorded option ids: "
                    f"{list(ask.responders)}, judges are {names}"
                )
            if not self.judges_of(index) and ask.kind.cascade(ask) is None:
                raise ValueError(f"ask[{index}] has no judge: every judge is a responder")
        return self

    @model_validator(mode="after")
    def _can_begin_late(self) -> Self:
        """Refuse to begin late where replications follow from earlier ones, or are none."""
        for index, ask in enumerate(self.ask if self.first_replication else ()):
            traits = ask.kind.traits
            samples = traits.judges and not traits.models_answer and not traits.makes_matrices
            if not samples or ask.mode != "sample" or ask.adaptive is not None:
                raise ValueError(
                    "first_replication needs asks that sample verdicts a fixed number of times, "
                    f"ask[{index}] does not"
                )
        return self

    @model_validator(mode="after")
    def _providers_agree(self) -> Self:
        """Judges of one provider share its limits, so they must state the same ones."""
        check_shared_limits(
            (judge.name, (known, judge.base_url, judge.api_key_env), judge.limits)
            for judge in self.judge
            if judge.engine == "openai"
            for known in (judge.provider if judge.base_url is None else None,)
        )
        return self

    @classmethod
    def current(cls) -> type[Self]:
        """The class, with the protocols that have been registered since it was made."""
        if cls._known != protocol_names():
            cls._known = protocol_names()
            cls.model_rebuild(force=True)
        return cls

    def judges_of(self, index: int) -> tuple[Judge, ...]:
        """Judges asked by ``ask[index]``: those it names, else all that are no responder of any.

        Of think_twice those are its responders: each model is a judge of the others too.
        """
        ask = self.ask[index]
        if ask.judges:
            return tuple(judge for judge in self.judge if judge.name in ask.judges)
        if ask.kind.traits.models_answer:
            return self.responders_of(index) if ask.kind.cascade(ask) is None else ()
        responders = {name for ask in self.ask for name in ask.responders}
        return tuple(judge for judge in self.judge if judge.name not in responders)

    def responders_of(self, index: int) -> tuple[Judge, ...]:
        """Judges that write the candidate answers of ``ask[index]``; of think_twice default all."""
        ask = self.ask[index]
        wanted = ask.responders
        if not wanted and ask.kind.traits.models_answer:
            return self.judge
        named = {judge.name: judge for judge in self.judge if judge.name in wanted}
        # A cascade asks them in the order in which they are named.
        names = wanted if ask.kind.cascade(ask) is not None else tuple(named)
        return tuple(named[name] for name in names if name in named)

    def find(self, path: str) -> str:
        """A path of the sweep file as an absolute path or URL.

        Relative paths are looked for beside the sweep file, then in the current folder; one that is
        in neither is returned as it stands beside the sweep file.

        Raises
        ------
        SweepError
            If no file system could have such a path; or it is an address of the web, and `fetch`
            is not true.
        """
        if is_of_the_web(path) and not self.fetch:
            raise SweepError(
                "the sweep does not say that addresses of the web may be fetched",
                where={"path": path},
                hint="write fetch = true at the head of the sweep, or download it and name it",
            )
        if "://" in path:
            return path
        try:
            present = Path(path).expanduser()
            if present.is_absolute():
                return str(present)
            beside = Path(self.folder or ".") / present
            for candidate in (beside, Path.cwd() / present):
                if candidate.exists():
                    return str(candidate.resolve())
            return str(beside.resolve())
        # A home folder nobody has; a null byte; a name longer than the file system allows.
        except (RuntimeError, ValueError, OSError) as error:
            raise SweepError(f"not a path: {error}", where={"path": repr(path)[:80]}) from error
