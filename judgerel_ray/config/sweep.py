"""The sweep file as frozen types: judges, asks, fleet limits. The only pydantic of the house."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator, model_validator

NAME = r"^[A-Za-z0-9][A-Za-z0-9._:+-]*$"
MACHINE_EPSILON = 1e-6  # at or below it a temperature means "greedy", as the papers use the word
COLDEST_SAMPLED = 0.01  # vLLM clamps anything between 0 and this to it: random, not greedy

EngineName = Literal["vllm", "simulated"]
ProtocolName = Literal["respond", "best_of", "correctness"]


class Table(BaseModel):
    """A table of the sweep file: frozen, and closed to keys it does not know."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=(), strict=False)


class Prices(Table):
    """Money for a million tokens, in any one currency."""

    prompt: float = Field(default=0.0, ge=0)
    completion: float = Field(default=0.0, ge=0)


class Judge(Table):
    """One ``[[judge]]``: a model with all that changes its verdicts, and where it runs."""

    name: str = Field(pattern=NAME, max_length=120)
    """Name in every table; also a folder of the run directory."""
    engine: EngineName = "vllm"
    """vllm, or simulated (answers from a stated distribution; not a judge)."""
    model: str = Field(min_length=1)
    """Hub id or folder; for the simulated engine, the name of its distribution."""
    revision: str | None = None
    """Commit or branch of a hub id."""
    gpus: int = Field(default=1, ge=0)
    """GPUs of one engine (tensor parallel size); 0 runs on the CPU."""
    replicas: int | Literal["auto"] = "auto"
    """Engines of this judge side by side; auto takes as many as the cluster's GPUs allow."""
    dtype: str | None = None
    """Precision of the weights; default: the model's own on GPU, float32 on CPU."""
    quantization: str | None = None
    """Quantisation scheme of vLLM; part of the judge's identity."""
    max_model_len: int | None = Field(default=None, ge=16)
    """Longest prompt plus reply, in tokens."""
    chat_template: bool | str = True
    """true: the tokenizer's; a path: that file; false: the plain prompt, as in the paper."""
    engine_options: dict[str, JsonValue] = Field(default_factory=dict)
    """Passed on to the engine as they are."""
    prices: Prices | None = None
    """Money for a million tokens; fills the cost column."""
    trust_remote_code: bool = False
    """Run code shipped with the model."""

    @field_validator("replicas")
    @classmethod
    def _at_least_one(cls, value: int | str) -> int | str:
        """Refuse zero or fewer engines."""
        if isinstance(value, int) and value < 1:
            raise ValueError('must be at least 1 or "auto"')
        return value


class Sample(Table):
    """Which items are asked about: ``n`` of each stratum, drawn by ``seed``."""

    per: Literal["category", "benchmark"] | None = "category"
    """The stratum; leave out the key for one item per category."""
    n: int = Field(default=1, ge=1)
    """Items of each stratum."""
    seed: int = 1
    """The draw."""
    categories: int | None = Field(default=None, ge=1)
    """How many strata are drawn; default all."""


class RespondSettings(Table):
    """How responders write the candidate answers of a best_of or correctness ask."""

    temperature: float = 0.75
    top_k: int = Field(default=50, ge=0)
    top_p: float = Field(default=1.0, gt=0, le=1)
    max_tokens: int = Field(default=150, ge=1)
    template: str = "default"

    @field_validator("temperature")
    @classmethod
    def _greedy_or_warm(cls, value: float) -> float:
        """Map machine epsilon to 0, refuse what an engine would silently change."""
        return plain_temperature(value)


def plain_temperature(value: float) -> float:
    """Machine epsilon as 0; anything else an engine would clamp is an error.

    Raises
    ------
    ValueError
        If `value` is negative, above 2, or between machine epsilon and 0.01.

    Examples
    --------
    >>> plain_temperature(2.220446049250313e-16)
    0.0
    """
    if 0.0 <= value <= MACHINE_EPSILON:
        return 0.0
    if not COLDEST_SAMPLED <= value <= 2.0:
        raise ValueError(
            f"must be 0 or from {COLDEST_SAMPLED} to 2, got {value!r} "
            "(engines sample at 0.01 what is below it)"
        )
    return value


class AskTable(Table):
    """One ``[[ask]]``: what is asked of the judges, about which items, how often."""

    protocol: ProtocolName
    """respond, best_of or correctness."""
    mode: Literal["sample"] = "sample"
    """How verdicts are had: sampled replies."""
    benchmark: str = Field(pattern=NAME, max_length=120)
    """A loader's name, or the name to give to generic items."""
    path: str
    """The benchmark's upstream files, or an items file."""
    answers: str | None = None
    """Recorded answers that become options, where they do not lie beside the questions."""
    sample: Sample | None = None
    """Which items; default all."""
    temperatures: tuple[float, ...] = ()
    """Sampling temperatures; default 1.0, and 0.75 for responders."""
    replications: int = Field(default=0, ge=0, le=100_000)
    """How often each condition is asked; default 5, and 1 for responders."""
    repeat_greedy: int = Field(default=0, ge=0, le=100_000)
    """How often temperature 0 is asked, to see serving noise; 0 asks it once."""
    top_k: int = Field(default=50, ge=0)
    """Most probable tokens kept; 0 keeps all."""
    top_p: float = Field(default=1.0, gt=0, le=1)
    """Probability mass kept."""
    max_tokens: int = Field(default=0, ge=0)
    """New tokens at most; default 150, and 16 for correctness."""
    early_stop: bool = False
    """Stop a reply after its verdict, where the template asks the verdict first."""
    reader: Literal["first", "last", "unanimous", "schroeder2024"] = "first"
    """Which verdict counts when a reply holds several."""
    templates: tuple[str, ...] = ("default",)
    """Names of shipped templates, or folders; several are crossed."""
    option_orders: int = Field(default=1, ge=1, le=1000)
    """Orders of the options, crossed; each item's are drawn once and held."""
    order_seed: int = 0
    """The draw of the orders."""
    responders: tuple[str, ...] = ()
    """Judges that write the candidate answers first, or recorded option ids to keep."""
    respond: RespondSettings | None = None
    """How they write them."""
    judges: tuple[str, ...] = ()
    """Judges asked; default every judge that is no responder."""

    @field_validator("temperatures")
    @classmethod
    def _each_plain(cls, values: tuple[float, ...]) -> tuple[float, ...]:
        """Map machine epsilon to 0 and refuse repeats."""
        plain = tuple(plain_temperature(value) for value in values)
        if len(set(plain)) < len(plain):
            raise ValueError(f"must all differ, got {list(values)}")
        return plain

    @field_validator("templates", "responders", "judges")
    @classmethod
    def _all_differ(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        """Refuse repeats."""
        if len(set(values)) < len(values):
            raise ValueError(f"must all differ, got {list(values)}")
        return values

    @model_validator(mode="after")
    def _defaults_by_protocol(self) -> Self:
        """Fill the defaults that differ by protocol, and refuse what does not go together."""
        if not self.templates:
            raise ValueError("templates must name at least one template")
        responds = self.protocol == "respond"
        defaults: dict[str, object] = {
            "temperatures": self.temperatures or ((0.75,) if responds else (1.0,)),
            "replications": self.replications or (1 if responds else 5),
            "max_tokens": self.max_tokens or (16 if self.protocol == "correctness" else 150),
        }
        if self.responders and not responds and self.respond is None:
            defaults["respond"] = RespondSettings()
        for key, value in defaults.items():
            object.__setattr__(self, key, value)
        if self.early_stop and self.reader != "first":
            raise ValueError(
                f'early_stop needs reader = "first", got {self.reader!r}: '
                "a reply cut after one verdict cannot show a later one"
            )
        if responds and self.responders:
            raise ValueError(
                "protocol respond asks its judges: name them in judges, not responders"
            )
        if self.option_orders > 1 and self.protocol != "best_of":
            raise ValueError(f"option_orders needs protocol best_of, got {self.protocol}")
        return self


class FleetTable(Table):
    """``[fleet]``: limits of the execution; never part of what is asked."""

    lease_seconds: float = Field(default=10.0, gt=0)
    """How much work one lease should hold, by the rate measured so far."""
    deadline_s: float = Field(default=600.0, gt=0)
    """Shortest deadline of a lease; it grows with the lease's expected time."""
    start_timeout_s: float = Field(default=1800.0, gt=0)
    """How long an engine may take to come up, waiting for its GPU included."""
    max_attempts: int = Field(default=3, ge=1)
    """How often a request that failed is asked before it is recorded."""
    max_engine_losses: int = Field(default=8, ge=1)
    """How many engines of one judge may die in a run before the judge is given up."""
    replications_per_request: int = Field(default=32, ge=1, le=1024)
    """Replications asked in one request."""


class Sweep(Table):
    """A whole sweep file."""

    name: str = Field(pattern=NAME, max_length=120)
    """Name of the sweep."""
    judge: Annotated[tuple[Judge, ...], Field(min_length=1)]
    """The judges, responders among them."""
    ask: Annotated[tuple[AskTable, ...], Field(min_length=1)]
    """What is asked."""
    fleet: FleetTable = FleetTable()
    """Limits of the execution."""
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
            if any(known) and not all(known):
                raise ValueError(
                    f"ask[{index}].responders mixes judges of the sweep with recorded option ids: "
                    f"{list(ask.responders)}, judges are {names}"
                )
            if not self.judges_of(index):
                raise ValueError(f"ask[{index}] has no judge: every judge is a responder")
        return self

    def judges_of(self, index: int) -> tuple[Judge, ...]:
        """Judges asked by ``ask[index]``: those it names, else all that are no responder of any."""
        wanted = self.ask[index].judges
        if wanted:
            return tuple(judge for judge in self.judge if judge.name in wanted)
        responders = {name for ask in self.ask for name in ask.responders}
        return tuple(judge for judge in self.judge if judge.name not in responders)

    def responders_of(self, index: int) -> tuple[Judge, ...]:
        """Judges that write the candidate answers of ``ask[index]``."""
        wanted = self.ask[index].responders
        return tuple(judge for judge in self.judge if judge.name in wanted)

    def find(self, path: str) -> str:
        """A path of the sweep file as an absolute path or URL.

        Relative paths are looked for beside the sweep file, then in the current folder; one that is
        in neither is returned as it stands beside the sweep file.
        """
        if "://" in path:
            return path
        given = Path(path).expanduser()
        if given.is_absolute():
            return str(given)
        beside = Path(self.folder or ".") / given
        for candidate in (beside, Path.cwd() / given):
            if candidate.exists():
                return str(candidate.resolve())
        return str(beside.resolve())
