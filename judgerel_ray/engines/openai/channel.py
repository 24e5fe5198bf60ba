"""The way to a server: one request with all its tries, within its provider's limits.

The client library sends; whether and when to send again is decided here alone, by what the failure
was::

    send --- 200 ------------------------------> the body
         --- 429, 502, 503, no connection ----> again, until the deadline
         --- 5xx, half a body, no answer -----> again, so many times
         --- 4xx ------------------------------> the prompt's fault, or the setting's

What is the prompt's fault lands as failed, or as refused; where it is how the judge is set up, the
request is given up, and everything stays pending.
"""

from __future__ import annotations

import asyncio
import random
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from time import monotonic
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from judgerel_ray.config import Limits
from judgerel_ray.core import EngineError
from judgerel_ray.engines.engine import JSON, EngineSpec
from judgerel_ray.engines.openai.boundary import Boundary, int32_count
from judgerel_ray.engines.openai.limits import Limiter

FIRST_WAIT_S, LONGEST_WAIT_S = 0.5, 20.0


class Blame(StrEnum):
    """Why a request was not answered, by what is done about it."""

    LATER = "later"
    """The server is not there, or says to come back: asked until the deadline."""
    SERVER = "server"
    """The server failed at it: asked again so many times."""
    PROMPT = "prompt"
    """The server can never answer this one: it lands as failed."""
    DECLINED = "declined"
    """The provider will not have this one answered: it lands as refused."""
    SETTING = "setting"
    """The judge is set up in a way that the server does not take: nothing of it can be asked."""
    UNKNOWN = "unknown"
    """Anything else: it is recorded, and stays pending."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A request that was not answered: whose fault, in words, and how long the server wants."""

    blame: Blame
    message: str
    wait_s: float | None = None


_LATER = frozenset({429, 502, 503})
_SERVER = frozenset({408, 409, 425})
_OF_PROMPTS = frozenset({400, 413, 422})
_OF_SETTINGS = frozenset({401, 402, 403, 404, 405, 410})
_DECLINED = ("content_filter", "content_policy", "moderation", "safety")
_SPENT = ("insufficient_quota", "billing_hard_limit", "credit")
_PARAMETERS = frozenset(
    {
        "model", "temperature", "top_p", "top_k", "seed", "n", "stop", "max_tokens",
        "max_completion_tokens", "logprobs", "top_logprobs",
    }
)  # fmt: skip
_UNTAKEN = ("unsupported_parameter", "unsupported_value", "unknown_parameter", "model_not_found",
            "extra_forbidden", "invalid_api_key")  # fmt: skip
# vLLM's server and others built on pydantic name the field that they do not take.
_OF_FIELD = re.compile(rf"body\W+(?:{'|'.join(sorted(_PARAMETERS))})\b")
_TOO_LONG = ("context_length", "context length", "maximum context", "too long", "string_above_max")


def status_failure(
    status: int,
    body: str,
    headers: Mapping[str, str],
    *,
    at: datetime | None = None,
    boundary: Boundary | None = None,
) -> Failure:
    """Say what an answer other than 200 means."""
    boundary = boundary or Boundary()
    error = _error_of(body, boundary)
    words = " ".join(
        _server_error_field(error, name) for name in ("code", "type", "message")
    ).lower()
    code = f"{_server_error_field(error, 'code')} {_server_error_field(error, 'type')}".lower()
    message = f"HTTP {status}: {boundary.message(_server_error_field(error, 'message') or body)}"
    wait_s = retry_after(headers, at=at)
    if status == 429 and any(mark in code for mark in _SPENT):
        return Failure(blame=Blame.SETTING, message=message)
    if status in _LATER:
        return Failure(blame=Blame.LATER, message=message, wait_s=wait_s)
    if status in _SERVER or status >= 500:
        return Failure(blame=Blame.SERVER, message=message, wait_s=wait_s)
    if status in (400, 403, 422) and any(mark in words for mark in _DECLINED):
        return Failure(blame=Blame.DECLINED, message=message)
    if status in _OF_SETTINGS:
        return Failure(blame=Blame.SETTING, message=message)
    if status in _OF_PROMPTS:
        of_setting = _server_error_field(error, "param") in _PARAMETERS or any(
            mark in code for mark in _UNTAKEN
        )
        of_setting = of_setting or _OF_FIELD.search(words) is not None
        too_long = any(mark in words for mark in _TOO_LONG)
        blame = Blame.SETTING if of_setting and not too_long else Blame.PROMPT
        return Failure(blame=blame, message=message)
    return Failure(blame=Blame.UNKNOWN, message=message)


def retry_after(headers: Mapping[str, str], *, at: datetime | None = None) -> float | None:
    """Seconds that a server asks to wait: in milliseconds, in seconds, or until a date."""
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) * unit
        except (KeyError, ValueError):
            continue
        if 0.0 <= seconds < float("inf"):
            return seconds
    try:
        until = parsedate_to_datetime(headers["retry-after"])
    except (KeyError, ValueError, TypeError, IndexError, OverflowError):
        return None
    if until.tzinfo is None:  # "-0000" stands for UTC, too
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - (at or datetime.now(UTC))).total_seconds())


def wait_before(key: str, n_tries: int, asked_s: float | None = None) -> float:
    """Seconds to wait before a request is sent again: doubling, spread, and never less than asked.

    The spread is drawn from the request and the try, so that a run repeats.
    """
    doubled = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2.0 ** min(n_tries - 1, 16))
    share = random.Random(f"{key}:{n_tries}").random()  # seeded, no secret
    wait = doubled * (0.5 + 0.5 * share)
    # Many who were told the same second would otherwise all be back in it.
    return wait if asked_s is None else max(wait, asked_s + share * min(1.0, 0.1 + asked_s))


def _error_of(body: str, boundary: Boundary) -> Mapping[str, JSON]:
    """What a server says of an error, in OpenAI's layout or any near to it."""
    try:
        content = boundary.document(body)
    except EngineError:
        return {}
    if not isinstance(content, dict):
        return {}
    error = content.get("error", content)
    if isinstance(error, str):
        return {"message": error}
    return error if isinstance(error, dict) else {}


def _server_error_field(error: Mapping[str, JSON], name: str) -> str:
    """What stands under a name, where it is text or a number."""
    value = error.get(name)
    return str(value) if isinstance(value, str | int | float) and value else ""


_NAMED = frozenset({"model", "messages", "prompt"})
_NOT_THERE = ("ConnectError", "ConnectTimeout", "PoolTimeout")
REACH_S = 3.0
NO_KEY = "none"  # what a server without keys is sent: the client library insists on one
_AGAIN = frozenset({Blame.LATER, Blame.SERVER})
# A reply may have been made and lost on the way: the provider counts it, whatever arrived.
_COUNTED = frozenset({Blame.SERVER, Blame.UNKNOWN})


class SentElsewhere(Exception):  # noqa: N818  a state of the world, not a mistake
    """A server that wants the prompt sent to another, which the sweep does not name."""


OF_BYTES = (SentElsewhere, ValueError, LookupError, OSError, RuntimeError)
"""What a server's bytes can make the client library raise beside its own errors."""


class RequestFailed(EngineError):  # noqa: N818  a state of the world, not a mistake
    """A request that was not answered, and why; caught by the engine."""

    def __init__(self, failure: Failure, n_tries: int) -> None:
        super().__init__(failure.message)
        self.failure, self.n_tries = failure, n_tries


@dataclass(slots=True)
class Channel:
    """A client of one server, with the limits of its provider.

    ``client`` is the library's; all that it brings passes ``boundary``.
    """

    client: Any
    limits: Limits
    limiter: Limiter
    boundary: Boundary = field(default_factory=Boundary)
    refusal: Failure | None = None
    """Why the server takes nothing more of this judge; nothing is sent after it."""

    async def send(self, body: dict[str, JSON], *, key: str, tokens: int) -> JSON:
        """Send a request until it is answered, or never will be."""
        permit = await self.limiter.enter(tokens)
        until, n_tries, n_failed = monotonic() + self.limits.deadline, 0, 0
        while True:
            if self.refusal is not None:  # said while this one waited
                await self.limiter.leave(permit, 0)
                raise RequestFailed(self.refusal, n_tries)
            n_tries += 1
            answer = await self._try(body, permit, tokens, until)
            if not isinstance(answer, Failure):
                return answer
            n_failed += answer.blame is Blame.SERVER
            wait = wait_before(key, n_tries, answer.wait_s)
            over = answer.blame not in _AGAIN or n_failed > self.limits.retries
            if over or monotonic() + wait >= until:
                raise RequestFailed(self._with_tries(answer, n_tries, over=over), n_tries)
            if answer.blame is Blame.LATER and answer.wait_s is not None:
                await self.limiter.pause(answer.wait_s)  # it is said to everybody
            try:
                async with asyncio.timeout(until - monotonic()):
                    await asyncio.sleep(wait)
                    permit = await self.limiter.enter(tokens)
            except TimeoutError:
                raise RequestFailed(
                    self._with_tries(answer, n_tries, over=False), n_tries
                ) from None

    async def _try(
        self, body: dict[str, JSON], permit: int, tokens: int, until: float
    ) -> JSON | Failure:
        """Send once; the answer, or why there is none."""
        answer: JSON | Failure
        spent = tokens
        try:
            async with asyncio.timeout(max(0.0, min(self.limits.timeout, until - monotonic()))):
                answer = await self._once(body)
            if not isinstance(answer, Failure):
                spent = tokens_reported(answer, tokens)
            elif answer.blame not in _COUNTED:
                spent = 0
            if isinstance(answer, Failure) and answer.blame is Blame.SETTING:
                self.refusal = answer  # before the permit goes to one that waits
        except TimeoutError:
            answer = Failure(blame=Blame.SERVER, message=f"no answer in {self.limits.timeout:g} s")
        finally:
            await self.limiter.leave(permit, spent)
        return answer

    async def _once(self, body: dict[str, JSON]) -> JSON | Failure:
        """Send once with the client library; its errors as failures, without keys."""
        import openai

        rest = {name: value for name, value in body.items() if name not in _NAMED}
        named = {name: value for name, value in body.items() if name in _NAMED}
        asked = self.client.completions if "prompt" in body else self.client.chat.completions
        try:
            answer = await asked.with_raw_response.create(**named, extra_body=rest)
            return self.boundary.document(body_text(answer.http_response.content))
        except EngineError as error:
            return Failure(blame=Blame.UNKNOWN, message=error.problem)
        except openai.APIStatusError as error:
            headers = {name.lower(): value for name, value in error.response.headers.items()}
            return status_failure(
                error.status_code,
                body_text(error.response.content),
                headers,
                boundary=self.boundary,
            )
        except openai.APITimeoutError:
            return Failure(blame=Blame.SERVER, message="no answer in time")
        except (openai.OpenAIError, *OF_BYTES) as error:
            return connection_failure(error, self.boundary)

    def _with_tries(self, failure: Failure, n_tries: int, *, over: bool) -> Failure:
        """A failure with how long it was tried."""
        if failure.blame not in _AGAIN:
            return failure
        tries = f"{n_tries} {'try' if n_tries == 1 else 'tries'}"
        limit = (
            f"retries = {self.limits.retries}"
            if over
            else (f"deadline = {self.limits.deadline:g} s")
        )
        message = f"{failure.message} (after {tries}; limits: {limit})"
        return replace(failure, message=message)


def body_text(body: bytes) -> str:
    r"""Decode a body: JSON is UTF-8, whatever its header says."""
    return body.decode("utf-8-sig", "replace")


def connection_failure(error: Exception, boundary: Boundary) -> Failure:
    """Say what an error of the way to a server means."""
    cause = error.__cause__ or error
    if isinstance(cause, SentElsewhere):
        return Failure(blame=Blame.SETTING, message=boundary.message(str(cause)))
    kind = type(cause).__name__
    blame = Blame.LATER if kind in _NOT_THERE else Blame.SERVER
    return Failure(blame=blame, message=boundary.message(f"{kind}: {cause}"))


def why_unreachable(base_url: str, *, timeout: float = REACH_S) -> str | None:
    """Why no connection to a server comes about from here; None where one does, or a proxy's would.

    Effects: connects, and sends nothing. Retry: safe.

    Examples
    --------
    >>> why_unreachable("http://127.0.0.1:1/v1")
    'Connection refused'
    """
    url = urlsplit(base_url)
    host = url.hostname or ""
    if url.scheme in getproxies() and not proxy_bypass(host):
        return None
    try:
        with socket.create_connection((host, url.port or _PORTS[url.scheme]), timeout=timeout):
            return None
    except TimeoutError:
        return f"no answer in {timeout:g} s"
    except OSError as error:
        return error.strerror or str(error)


def tokens_reported(answer: JSON, at_most: int) -> int:
    """Tokens that an answer says it took; the most it may have where it says none, or more."""
    usage = answer.get("usage") if isinstance(answer, Mapping) else None
    total = int32_count(usage.get("total_tokens")) if isinstance(usage, Mapping) else None
    return at_most if total is None else min(total, at_most)


def make_client(spec: EngineSpec, environment: Mapping[str, str], limits: Limits) -> Any:
    """Make the library's client; it connects when it is first used.

    It follows redirects at the server alone: what is sent anywhere else would be a prompt given
    away, and what came back another judge's reply.
    """
    import openai

    key = environment.get(spec.api_key_env or "") or NO_KEY

    async def stay_home(request: Any) -> None:
        home = client.base_url
        if not is_same_server(home, request.url):
            raise SentElsewhere(
                f"{_server_name(home)} redirects to {_server_name(request.url)}, which is not the "
                "server in base_url"
            )

    client = openai.AsyncOpenAI(
        api_key=key,
        base_url=spec.base_url,
        max_retries=0,
        timeout=limits.timeout + 5.0,  # the last resort; the try's own time ends before
        # Before any request is sent, those that redirects make included.
        http_client=openai.DefaultAsyncHttpxClient(event_hooks={"request": [stay_home]}),
    )
    # Taken from variables that the sweep does not name.
    client.organization = client.project = None
    return client


_PORTS = {"http": 80, "https": 443}


def is_same_server(home: Any, there: Any) -> bool:
    """Whether two URLs are of one server: scheme, host and port, or HTTPS where it was HTTP."""
    ports = [url.port or _PORTS.get(url.scheme) for url in (home, there)]
    same = (home.scheme, home.host, ports[0]) == (there.scheme, there.host, ports[1])
    safer = (home.scheme, there.scheme) == ("http", "https") and ports == [80, 443]
    return same or (safer and home.host == there.host)


def _server_name(url: Any) -> str:
    """A URL without its path, and without what may stand before its host."""
    port = "" if url.port is None else f":{url.port}"
    return f"{url.scheme}://{url.host}{port}"
