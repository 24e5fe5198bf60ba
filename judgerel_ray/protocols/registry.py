"""Which protocols there are; a shipped one is loaded when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from judgerel_ray.core import SweepError
from judgerel_ray.core.traits import SHIPPED, add_traits

if TYPE_CHECKING:
    from judgerel_ray.protocols.protocol import Protocol

_known: dict[str, Protocol | None] = dict.fromkeys(SHIPPED)


def protocol_named(name: str) -> Protocol:
    """Look up a protocol.

    Examples
    --------
    >>> protocol_named("correctness").forms
    ('best_response', 'correctness')
    """
    if name not in _known:
        raise SweepError(f"no such protocol, expected one of {', '.join(_known)}, got {name!r}")
    found = _known[name]
    if found is None:
        loaded: Protocol = import_module(f"{__package__}.{name}").PROTOCOL
        found = _known[name] = loaded
    return found


def protocol_names(where: Callable[[Protocol], bool] | None = None) -> tuple[str, ...]:
    """Names of all protocols, or of those that something holds of.

    Examples
    --------
    >>> protocol_names(lambda protocol: protocol.ties)
    ('best_of',)
    """
    return tuple(name for name in _known if where is None or where(protocol_named(name)))


def register_protocol(protocol: Protocol) -> None:
    """Add a protocol that does not ship, before a sweep that names it is read."""
    if _known.get(protocol.name, protocol) is not protocol or protocol.name in SHIPPED:
        raise SweepError(f"a protocol named {protocol.name} is there already")
    _known[protocol.name] = protocol
    add_traits(protocol.name, protocol.traits)
