"""What becomes of a request that a server did not answer: one pure decision for every failure.

Only what may go otherwise the next time is asked again. What cannot is told by whose fault it is:
the prompt's (it lands as failed, or as refused), or that of how the judge is set up (it is given
up, and everything stays owed).
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum

FIRST_WAIT_S, LONGEST_WAIT_S = 0.5, 20.0
LONGEST_SHOWN = 300


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
    """Anything else: it is recorded, and owed."""


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
    status: int, body: str, headers: Mapping[str, str], *, at: datetime | None = None
) -> Failure:
    """Say what an answer other than 200 means.

    Parameters
    ----------
    status : int
        Of HTTP.
    body : str
        What came with it.
    headers : mapping of str to str
        Their names in small letters.
    at : datetime, optional
        When it came; default now.

    Returns
    -------
    Failure

    Examples
    --------
    >>> failure = status_failure(429, "", {"retry-after": "3"})
    >>> failure.blame.value, failure.wait_s
    ('later', 3.0)
    >>> status_failure(404, '{"error": {"message": "no such model"}}', {}).blame.value
    'setting'
    """
    error = _error_of(body)
    words = " ".join(str(error.get(name) or "") for name in ("code", "type", "message")).lower()
    code = f"{error.get('code') or ''} {error.get('type') or ''}".lower()
    message = str(error.get("message") or body)
    message = f"HTTP {status}: {' '.join(message.split())[:LONGEST_SHOWN]}"
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
        of_setting = error.get("param") in _PARAMETERS or any(mark in code for mark in _UNTAKEN)
        of_setting = of_setting or _OF_FIELD.search(words) is not None
        too_long = any(mark in words for mark in _TOO_LONG)
        blame = Blame.SETTING if of_setting and not too_long else Blame.PROMPT
        return Failure(blame=blame, message=message)
    return Failure(blame=Blame.UNKNOWN, message=message)


def retry_after(headers: Mapping[str, str], *, at: datetime | None = None) -> float | None:
    """Seconds that a server asks to wait: in milliseconds, in seconds, or until a date.

    Parameters
    ----------
    headers : mapping of str to str
        Their names in small letters.
    at : datetime, optional
        When they came; default now.

    Returns
    -------
    float or None
        None where it asks for nothing that can be read.

    Examples
    --------
    >>> retry_after({"retry-after-ms": "250"}), retry_after({"retry-after": "2"})
    (0.25, 2.0)
    >>> retry_after({"retry-after": "Wed, 21 Oct 2026 07:28:10 GMT"},
    ...             at=datetime(2026, 10, 21, 7, 28, tzinfo=UTC))
    10.0
    >>> retry_after({"retry-after": "soon"}) is None
    True
    """
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) * unit
        except (KeyError, ValueError):
            continue
        if 0.0 <= seconds < float("inf"):
            return seconds
    try:
        until = parsedate_to_datetime(headers["retry-after"])
    except (KeyError, ValueError, TypeError):
        return None
    if until.tzinfo is None:  # "-0000" stands for UTC, too
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - (at or datetime.now(UTC))).total_seconds())


def wait_before(key: str, n_tries: int, asked_s: float | None = None) -> float:
    """Seconds to wait before a request is sent again: doubling, spread, and never less than asked.

    The spread is drawn from the request and the try, so that a run repeats.

    Examples
    --------
    >>> wait_before("k", 1) == wait_before("k", 1) < wait_before("k", 9)
    True
    >>> 7.0 <= wait_before("k", 1, asked_s=7.0) <= 8.0
    True
    """
    doubled = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2.0 ** min(n_tries - 1, 16))
    share = random.Random(f"{key}:{n_tries}").random()  # seeded, no secret
    wait = doubled * (0.5 + 0.5 * share)
    # Many who were told the same second would otherwise all be back in it.
    return wait if asked_s is None else max(wait, asked_s + share * min(1.0, 0.1 + asked_s))


def _error_of(body: str) -> Mapping[str, object]:
    """What a server says of an error, in OpenAI's layout or any near to it."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(content, dict):
        return {}
    error = content.get("error", content)
    if isinstance(error, str):
        return {"message": error}
    return error if isinstance(error, dict) else {}
