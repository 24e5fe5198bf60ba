"""``[[ask]]``: the name of a protocol is looked up here; asks hold the protocol itself."""

from __future__ import annotations

from collections.abc import Container
from typing import Any, Literal

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, create_model
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from judgerel_ray.core.text import either
from judgerel_ray.protocols.ask import ONCE_OF_ALL, AdaptiveReplications, AskTable, SweepTable
from judgerel_ray.protocols.registry import protocol_named, protocol_names

OTHERS_KEY = "key_of_another_protocol"
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
        unknown = create_model("Ask", __base__=SweepTable, **keys)
        one_of = core_schema.tagged_union_schema(
            {
                name: handler.generate_schema(one)
                for name, one in {**tables, UNKNOWN: unknown}.items()
            },
            discriminator=lambda keys: _protocol_of(keys, tables),
        )
        return core_schema.no_info_before_validator_function(_protocol_keys, one_of)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """One of the tables, told apart by ``protocol``."""
        assert schema["type"] == "function-before"
        assert schema["schema"]["type"] == "tagged-union"
        choices = schema["schema"]["choices"]
        known = {name: one for name, one in choices.items() if name != UNKNOWN}
        return handler(core_schema.tagged_union_schema(known, discriminator="protocol"))


def ask_table(**keys: object) -> AskTable:
    """Make the table of an ask whose ``protocol`` is among its keys.

    Raises
    ------
    SweepError
        If there is no such protocol.
    pydantic.ValidationError
        If a key is not of the protocol, or wrong.

    Examples
    --------
    >>> ask_table(protocol="confusion", benchmark="b", path="p").temperatures
    (0.0,)
    """
    table = protocol_named(str(keys.get("protocol"))).table
    return table.model_validate(_protocol_keys(keys))


def _protocol_of(keys: object, known: Container[str]) -> str:
    """The protocol that an ask names."""
    named = keys.get("protocol") if isinstance(keys, dict) else getattr(keys, "protocol", None)
    return named if isinstance(named, str) and named in known else UNKNOWN


def _protocol_keys(keys: object) -> object:
    """Refuse keys of other protocols; one that says what its default says is left out."""
    if not isinstance(keys, dict) or (name := _protocol_of(keys, protocol_names())) == UNKNOWN:
        return keys
    table, kept = protocol_named(name).table, dict(keys)
    for key in sorted(keys.keys() - set(table.taken())):
        takers = protocol_names(lambda one, key=key: key in one.table.taken())  # type: ignore[misc]
        if not takers:
            continue
        left_out = key in table.leaves_out
        nothing = table.model_fields[key].default if left_out else ONCE_OF_ALL.get(key)
        if keys[key] != nothing or (nothing == 0 and not left_out):
            why = table.leaves_out.get(key)
            raise PydanticCustomError(
                OTHERS_KEY,
                "{key} needs protocol {takers}, got {protocol}{why}",
                {
                    "key": key,
                    "takers": either(*takers),
                    "protocol": name,
                    "why": f": {why}" if why else "",
                    "taken": ", ".join(sorted(table.taken())),
                },
            )
        del kept[key]
    if not table.adapts and isinstance(keys.get("replications"), dict | AdaptiveReplications):
        takers = protocol_names(lambda one: one.table.adapts)
        raise ValueError(f"adaptive replications need protocol {either(*takers)}, got {name}")
    return kept
