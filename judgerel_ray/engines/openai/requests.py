"""What a server is asked, as plain data: one body a request, every parameter written out.

Servers that speak OpenAI's API differ in what they take, and few say so before they are asked: a
judge's ``engine_options`` declare what its server can do, and of providers that are known by name
:data:`PROVIDERS` does. What is not declared is not sent, so that nothing is silently ignored that a
sweep counts on. Pure, so that what differs between servers is tested without one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic import ConfigDict, Field, JsonValue

from judgerel_ray.core import Ask, Condition, ProviderName, RequestRefused, SweepError
from judgerel_ray.engines.engine import (
    JSON,
    NEUTRAL,
    SMALLEST_TEMPERATURE,
    EngineSpec,
    checked_options,
    refuse_secrets,
)
from judgerel_ray.engines.next_tokens import listed_tokens
from judgerel_ray.protocols import as_plain
from judgerel_ray.protocols.ask import StrictBool, SweepTable, Text, Whole

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


class OpenAIOptions(SweepTable):
    """Options of engine ``openai``.

    ``server`` is ``vllm`` for `vllm serve`, which takes all that the house asks, or ``openai`` for
    any other. ``top_k``, ``seed`` and ``n`` say whether the server takes them (``n``: whether the
    i-th of n replies has seed + i, as vLLM's). ``logprobs`` is how many next tokens it lists, 0 for
    none. ``token_limit`` is what it calls the limit of new tokens. ``ones`` says whether
    temperature = 1 and top_p = 1 are sent: some models refuse the words, and mean 1 without them.
    ``provider`` names the server in the judge's identity, where its address may change.
    ``extra_body`` is sent along as it is.
    """

    model_config = ConfigDict(title="judge of engine openai")

    server: ServerKind = "openai"
    top_k: StrictBool = False
    seed: StrictBool = True
    n: StrictBool = False
    logprobs: Whole = Field(default=MOST_LISTED, ge=0)
    token_limit: TokenLimit = "max_tokens"
    ones: StrictBool = True
    provider: Text | None = None
    extra_body: Mapping[str, JsonValue] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ApiProvider:
    """Where a provider's API is, and what it takes."""

    base_url: str | None = None  # None where each customer has another one, as `example` shows.
    api_key_env: str | None = None
    options: Mapping[str, JSON] = field(default_factory=dict)  # Defaults of the engine's options.
    hottest: float = 2.0  # The highest temperature that is not silently lowered.
    lists_models: bool = True  # Whether the API's list has the judge's model, for the key sent.
    example: str = ""


_OPENAI: dict[str, JSON] = {"token_limit": "max_completion_tokens", "ones": False}
_ANTHROPIC: dict[str, JSON] = {"seed": False, "logprobs": 0, "ones": False}
_AZURE = "https://RESOURCE.openai.azure.com/openai/v1"
PROVIDERS: Mapping[ProviderName, ApiProvider] = {
    # platform.claude.com/docs/en/api/openai-sdk: seed and logprobs are ignored, temperature is
    # capped at 1; models from 4.5 on refuse temperature beside top_p. Its list has another header.
    "anthropic": ApiProvider(
        "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", _ANTHROPIC, 1.0, lists_models=False
    ),
    # learn.microsoft.com/azure/foundry/openai/api-version-lifecycle (API v1): the model is the name
    # of a deployment, and the list has models.
    "azure": ApiProvider(None, "AZURE_OPENAI_API_KEY", _OPENAI, lists_models=False, example=_AZURE),
    # console.groq.com/docs/openai: log-probabilities are refused.
    "groq": ApiProvider("https://api.groq.com/openai/v1", "GROQ_API_KEY", {"logprobs": 0}),
    # docs.ollama.com/api/openai-compatibility: max_tokens, seed, no top_k.
    "ollama": ApiProvider("http://localhost:11434/v1"),
    # platform.openai.com/docs/api-reference/chat: reasoning models refuse max_tokens and top_p.
    "openai": ApiProvider("https://api.openai.com/v1", "OPENAI_API_KEY", _OPENAI),
    "openrouter": ApiProvider("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    # docs.together.ai/docs/inference/openai-compatibility; logprobs is a number there.
    "together": ApiProvider("https://api.together.ai/v1", "TOGETHER_API_KEY", {"logprobs": 0}),
    "vllm": ApiProvider("http://localhost:8000/v1", options={"server": "vllm"}),
}
"""Providers by name, as their documentation said on 27 November 2026."""


def provider_of(name: str | None) -> ApiProvider:
    """A provider by name; of a server that has none nothing is known.

    Examples
    --------
    >>> provider_of("openai").api_key_env, provider_of(None).base_url
    ('OPENAI_API_KEY', None)
    """
    known: Mapping[str, ApiProvider] = PROVIDERS  # type: ignore[assignment]
    return known[name] if name else ApiProvider()


def openai_options(spec: EngineSpec) -> OpenAIOptions:
    """Read the options of a judge."""
    options = checked_options(
        spec,
        OpenAIOptions,
        provider_of(spec.provider).options,
        other="extra_body = { ... }, which is sent as it is",
    )
    _check_extra(options.extra_body, spec.name)
    if options.server == "vllm" and "top_k" not in options.model_fields_set:
        return options.model_copy(update={"top_k": True})
    return options


def _check_extra(extra: Mapping[str, JSON], judge: str) -> None:
    """Refuse what the house sends itself, and what looks like a secret."""
    for name in sorted(_OWNED.intersection(extra)):
        raise SweepError(
            f"engine_options.extra_body must not set {name!r}: judgerel sets it itself",
            where={"judge": judge},
            hint="leave it out",
        )
    hint = "api_key_env = the name of an environment variable"
    refuse_secrets(extra, _SECRET_MARKS, judge, hint=hint)


_ONES = ("temperature", "top_p")
MOST_STOPS = 4  # of one request; OpenAI's bound, which vLLM's server keeps too
MOST_REPLIES = 128  # in one request; what OpenAI's API takes
TOKENS_OF_MESSAGE = 16  # what a chat template writes around a message, about


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request: ``n`` replications from ``first`` on, and what is sent for them."""

    first: int
    n: int
    seed: int | None
    chat: bool
    body: dict[str, JSON]


def requests_of(ask: Ask, *, model: str, chat: bool, options: OpenAIOptions) -> tuple[Request, ...]:
    """Write the requests of an ask: one a replication, or n where the server counts seeds on."""
    condition = ask.condition
    check_askable(condition, options)
    greedy = condition.temperature == 0
    size = MOST_REPLIES if options.n and not greedy else 1
    made = []
    for first in range(ask.first, ask.first + ask.n, size):
        n = min(size, ask.first + ask.n - first)
        seed = None if greedy else condition.seed_base + first
        body = _server_request_body(condition, model=model, chat=chat, options=options)
        if seed is not None and options.seed:
            body["seed"] = seed
        if n > 1:
            body["n"] = n
            if options.server == "vllm":
                body["return_token_ids"] = True  # usage tells the sum of all replies' tokens only
        made.append(Request(first=first, n=n, seed=seed, chat=chat, body=body))
    return tuple(made)


def check_askable(condition: Condition, options: OpenAIOptions) -> None:
    """Refuse a condition that the server cannot be asked, or would silently answer differently."""
    scoring = condition.scoring
    if scoring is not None and (scoring.kind != "verdict" or not options.logprobs):
        raise RequestRefused(f"no_logprobs: the server gives none for {scoring.kind}")
    if condition.top_k and not options.top_k:
        raise RequestRefused(
            f"top_k: the server is not declared to take it, got {condition.top_k}",
            hint="top_k = 0, or engine_options = { top_k = true }",
        )
    if options.server == "vllm" and 0 < condition.temperature < SMALLEST_TEMPERATURE:
        raise RequestRefused(
            f"temperature_too_small: expected 0 or at least {SMALLEST_TEMPERATURE}, got "
            f"{condition.temperature}",
            hint="temperature = 0",
        )


def stops_there(condition: Condition, options: OpenAIOptions) -> bool:
    """Whether replies end at the server, behind a stop string that it keeps, and are not cut here.

    Servers other than vLLM cut before the string and do not say which it was, and the string is
    the verdict.
    """
    return options.server == "vllm" and 0 < len(condition.stop) <= MOST_STOPS


def tokens_at_most(request: Request) -> int:
    """Bound the tokens of a request: no tokenizer in use makes more of a text than its bytes."""
    body = request.body
    prompt = body.get("prompt")
    messages = body.get("messages")
    size = len(prompt.encode()) + TOKENS_OF_MESSAGE if isinstance(prompt, str) else 0
    for message in messages if isinstance(messages, list) else ():
        size += len(str(message["content"]).encode()) + TOKENS_OF_MESSAGE
    new = body.get("max_tokens", body.get("max_completion_tokens"))
    return size + request.n * (new if isinstance(new, int) else 0)


def _server_request_body(
    condition: Condition, *, model: str, chat: bool, options: OpenAIOptions
) -> dict[str, JSON]:
    """What every request of a condition says; the rest differs by replication."""
    limit = options.token_limit if chat else "max_tokens"
    body: dict[str, JSON] = {
        "model": model,
        "temperature": condition.temperature,
        "top_p": condition.top_p,
        limit: condition.max_tokens,
    }
    if not options.ones:
        body = {name: value for name, value in body.items() if name not in _ONES or value != 1}
    if chat:
        body["messages"] = [{"role": m.role, "content": m.content} for m in condition.prompt]
    else:
        body["prompt"] = as_plain(condition.prompt)
    if options.server == "vllm":
        # A model's own file of defaults fills in at the server whatever is not said here.
        body |= {
            "top_k": condition.top_k,
            **NEUTRAL,
            "ignore_eos": False,
            "skip_special_tokens": True,
        }
        if stops_there(condition, options):
            body |= {"stop": list(condition.stop), "include_stop_str_in_output": True}
    elif condition.top_k:
        body["top_k"] = condition.top_k
    if condition.scoring is not None:
        # Of kind verdict, for what else there is was refused: the most probable next tokens
        # beside every token of the reply.
        most = min(listed_tokens(condition.top_k), options.logprobs)
        body |= {"logprobs": True, "top_logprobs": most} if chat else {"logprobs": most}
    return {**options.extra_body, **body}
