"""What a judge's server can do, as its ``engine_options`` declare it.

Servers that speak OpenAI's API differ in what they take, and few say so before they are asked.
What is not declared is not sent, so that nothing is silently ignored that a sweep counts on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from typing import Literal

from judgerel_ray.core import SweepError
from judgerel_ray.engines.engine import JSON, EngineSpec

ServerKind = Literal["openai", "vllm"]
TokenLimit = Literal["max_tokens", "max_completion_tokens"]

MOST_LISTED = 20  # next tokens a chat reply lists, at most: OpenAI's bound, and vLLM's default
_SECRET_MARKS = ("api_key", "api-key", "apikey", "secret", "password", "credential", "access_key",
                 "access_token", "auth_token", "authorization", "bearer")  # fmt: skip
_OWNED = frozenset(
    {
        "model", "messages", "prompt", "n", "seed", "temperature", "top_k", "top_p", "max_tokens",
        "max_completion_tokens", "stop", "logprobs", "top_logprobs", "stream",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIOptions:
    """Options of engine ``openai``.

    ``server`` is ``vllm`` for `vllm serve`, which takes all that the house asks, or ``openai`` for
    any other. ``top_k``, ``seed`` and ``n`` say whether the server takes them (``n``: whether the
    i-th of n replies has seed + i, as vLLM's). ``logprobs`` is how many next tokens it lists, 0 for
    none. ``token_limit`` is what it calls the limit of new tokens. ``provider`` names the server in
    the judge's identity, where its address may change. ``extra_body`` is sent along as it is.
    """

    server: ServerKind = "openai"
    top_k: bool = False
    seed: bool = True
    n: bool = False
    logprobs: int = MOST_LISTED
    token_limit: TokenLimit = "max_tokens"
    provider: str | None = None
    extra_body: Mapping[str, JSON] = field(default_factory=dict)


_KINDS: dict[str, tuple[type, str]] = {
    "top_k": (bool, "true or false"),
    "seed": (bool, "true or false"),
    "n": (bool, "true or false"),
    "logprobs": (int, "a whole number, 0 for none"),
    "provider": (str, "a text"),
    "extra_body": (dict, "a table"),
}
_CHOICES = {
    "server": ("openai", "vllm"),
    "token_limit": ("max_tokens", "max_completion_tokens"),
}


def openai_options(spec: EngineSpec) -> OpenAIOptions:
    """Read the options of a judge.

    Parameters
    ----------
    spec : EngineSpec
        A judge of engine ``openai``.

    Returns
    -------
    OpenAIOptions

    Raises
    ------
    SweepError
        If an option is unknown, of a wrong kind, or one that judgerel sets itself.

    Examples
    --------
    >>> spec = EngineSpec(name="j", engine="openai", model="m", engine_options={"server": "vllm"})
    >>> openai_options(spec).top_k
    True
    """
    known = {one.name for one in fields(OpenAIOptions)}
    where = {"judge": spec.name}
    for name, value in spec.engine_options.items():
        if name not in known:
            close = get_close_matches(name, known, n=1)
            raise SweepError(
                f"engine_options of engine openai must be of {', '.join(sorted(known))}, "
                f"got {name!r}",
                where=where,
                hint=f"did you mean {close[0]}?" if close else "extra_body = { ... } is sent as is",
            )
        _check_kind(name, value, where)
    given: dict[str, JSON] = dict(spec.engine_options)
    _check_extra(given.get("extra_body", {}), where)
    defaults: dict[str, JSON] = {"top_k": True} if given.get("server") == "vllm" else {}
    return OpenAIOptions(**{**defaults, **given})  # type: ignore[arg-type]


def _check_kind(name: str, value: JSON, where: Mapping[str, str]) -> None:
    """Refuse a value that is none of those an option may have."""
    if name in _CHOICES:
        wanted = " or ".join(_CHOICES[name])
        wrong = value not in _CHOICES[name]
    else:
        kind, wanted = _KINDS[name]
        wrong = not isinstance(value, kind) or (kind is int and (isinstance(value, bool)))
        wrong = wrong or (isinstance(value, int) and value < 0) or value == ""
    if wrong:
        raise SweepError(
            f"engine_options.{name} must be {wanted}, got {str(value)[:40]!r}", where=where
        )


def _all_keys(value: JSON) -> Iterator[str]:
    """Every key, of the tables and lists inside too."""
    inside: Sequence[JSON] = ()
    if isinstance(value, Mapping):
        yield from value
        inside = list(value.values())
    elif isinstance(value, Sequence) and not isinstance(value, str):
        inside = value
    for one in inside:
        yield from _all_keys(one)


def _check_extra(extra: JSON, where: Mapping[str, str]) -> None:
    """Refuse what the house sends itself, and what looks like a secret."""
    for name in extra if isinstance(extra, Mapping) else ():
        if name in _OWNED:
            raise SweepError(
                f"engine_options.extra_body must not set {name!r}: judgerel sets it itself",
                where=where,
                hint="leave it out",
            )
    for name in sorted(_all_keys(extra)):
        if any(mark in name.lower() for mark in _SECRET_MARKS):
            raise SweepError(
                f"engine_options must not hold secrets, got {name!r}: the sweep file is kept with "
                "the run",
                where=where,
                hint="api_key_env = the name of an environment variable",
            )
