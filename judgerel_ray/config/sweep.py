"""The sweep file as one frozen type: judges, asks, fleet limits, and where its paths lead."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    create_model,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from judgerel_ray.config.judge import SHARED, Judge, Limits
from judgerel_ray.core import SweepError
from judgerel_ray.core.table import Name, Number, Table, Whole
from judgerel_ray.core.traits import SHIPPED
from judgerel_ray.protocols.ask import AskTable
from judgerel_ray.protocols.registry import protocol_named, protocol_names

UNKNOWN = "of no protocol"


class AnyAsk:
    """An ``[[ask]]``: the table of the protocol that it names."""

    def __get_pydantic_core_schema__(
        self, source: type[AskTable], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """One table a protocol; what names none is held against the keys of all."""
        tables = {name: protocol_named(name).table for name in protocol_names()}
        keys: dict[str, Any] = {
            key: (Any, None) for table in tables.values() for key in table.taken()
        }
        keys["protocol"] = (Literal[tuple(tables)], ...)
        unknown = create_model("Ask", __base__=Table, **keys)
        return core_schema.tagged_union_schema(
            {
                name: handler.generate_schema(one)
                for name, one in {**tables, UNKNOWN: unknown}.items()
            },
            discriminator=lambda given: _protocol_of(given, tables),
        )

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """One of the tables, told apart by ``protocol``."""
        assert schema["type"] == "tagged-union"
        known = {name: one for name, one in schema["choices"].items() if name != UNKNOWN}
        return handler(core_schema.tagged_union_schema(known, discriminator="protocol"))


def _protocol_of(given: object, known: Container[str]) -> str:
    """The protocol that an ask names."""
    named = given.get("protocol") if isinstance(given, dict) else getattr(given, "protocol", None)
    return named if isinstance(named, str) and named in known else UNKNOWN


class FleetTable(Table):
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


class Sweep(Table):
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
            protocol = protocol_named(ask.protocol)
            if protocol.traits.models_answer and not all(known):
                raise ValueError(
                    f"ask[{index}].responders must be judges of the sweep, got "
                    f"{list(ask.responders)}, judges are {names}"
                )
            if any(known) and not all(known):
                raise ValueError(
                    f"ask[{index}].responders mixes judges of the sweep with recorded option ids: "
                    f"{list(ask.responders)}, judges are {names}"
                )
            if not self.judges_of(index) and protocol.cascade(ask) is None:
                raise ValueError(f"ask[{index}] has no judge: every judge is a responder")
        return self

    @model_validator(mode="after")
    def _later_replications_can_be_asked(self) -> Self:
        """Refuse to begin late where replications follow from earlier ones, or are none."""
        for index, ask in enumerate(self.ask if self.first_replication else ()):
            traits = protocol_named(ask.protocol).traits
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
        first: dict[tuple[str | None, str | None], Judge] = {}
        for judge in self.judge:
            if judge.engine != "openai":
                continue
            other = first.setdefault((judge.base_url, judge.api_key_env), judge)
            one_limits, other_limits = judge.limits or Limits(), other.limits or Limits()
            for key in SHARED:
                if getattr(one_limits, key) != getattr(other_limits, key):
                    raise ValueError(
                        f"judges {other.name} and {judge.name} share a provider (base_url and "
                        f"api_key_env) and so its limits, but limits.{key} is "
                        f"{getattr(other_limits, key)} and {getattr(one_limits, key)}"
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
        protocol = protocol_named(ask.protocol)
        if ask.judges:
            return tuple(judge for judge in self.judge if judge.name in ask.judges)
        if protocol.traits.models_answer:
            return self.responders_of(index) if protocol.cascade(ask) is None else ()
        responders = {name for ask in self.ask for name in ask.responders}
        return tuple(judge for judge in self.judge if judge.name not in responders)

    def responders_of(self, index: int) -> tuple[Judge, ...]:
        """Judges that write the candidate answers of ``ask[index]``; of think_twice default all."""
        ask = self.ask[index]
        wanted, protocol = ask.responders, protocol_named(ask.protocol)
        if not wanted and protocol.traits.models_answer:
            return self.judge
        named = {judge.name: judge for judge in self.judge if judge.name in wanted}
        # A cascade asks them in the order in which they are named.
        names = wanted if protocol.cascade(ask) is not None else tuple(named)
        return tuple(named[name] for name in names if name in named)

    def find(self, path: str) -> str:
        """A path of the sweep file as an absolute path or URL.

        Relative paths are looked for beside the sweep file, then in the current folder; one that is
        in neither is returned as it stands beside the sweep file.

        Raises
        ------
        SweepError
            If no file system could have such a path.
        """
        if "://" in path:
            return path
        try:
            given = Path(path).expanduser()
            if given.is_absolute():
                return str(given)
            beside = Path(self.folder or ".") / given
            for candidate in (beside, Path.cwd() / given):
                if candidate.exists():
                    return str(candidate.resolve())
            return str(beside.resolve())
        # A home folder nobody has; a null byte; a name longer than the file system allows.
        except (RuntimeError, ValueError, OSError) as error:
            raise SweepError(f"not a path: {error}", where={"path": repr(path)[:80]}) from error
