"""Whether a server is there, takes the key and has the model, asked before anything that costs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from time import monotonic
from typing import Any

from judgerel_ray.core import EngineStartError, SweepError
from judgerel_ray.engines.engine import JSON, EngineSpec
from judgerel_ray.engines.openai.failures import wait_before

PATIENCE_S = 120.0  # a local server may be loading its model
LOOK_S = 20.0
MOST_NAMED = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """What a server says of itself and the model."""

    version: str
    max_model_len: int | None = None


async def look_at_server(client: Any, spec: EngineSpec, secret: str | None) -> Server:
    """Ask a server for its models.

    Parameters
    ----------
    client : openai.AsyncOpenAI
        Its client.
    spec : EngineSpec
        The judge.
    secret : str or None
        The key, to be kept out of messages.

    Returns
    -------
    Server
        With nothing but the client's version where the server lists no models.

    Raises
    ------
    SweepError
        If the server does not take the key, or has no such model.
    EngineStartError
        If no server answers in :data:`PATIENCE_S` seconds.
    """
    import openai

    until, n_tries = monotonic() + PATIENCE_S, 0
    while True:
        n_tries += 1
        try:
            async with asyncio.timeout(LOOK_S):
                answer = await client.models.with_raw_response.list()
            break
        except openai.APIStatusError as error:
            status = error.status_code
            if status in (401, 403):
                raise _key_refused(spec, status) from None
            if status == 501 or (status < 500 and status != 429):
                return Server(version=_client_version())  # a server that lists no models
            why = f"HTTP {status}"
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            why = f"{type(cause).__name__}: {' '.join(str(cause).split())[:200]}"
        except TimeoutError:
            why = f"no answer in {LOOK_S:.0f} s"
        wait = wait_before(spec.name, n_tries)
        if monotonic() + wait > until:
            raise EngineStartError(
                f"no server answers: {why.replace(secret, '[key]') if secret else why}",
                where={"judge": spec.name, "base_url": spec.base_url},
                hint="is it started, and base_url right, its /v1 included?",
            )
        await asyncio.sleep(wait)
    return _server_of(_models(answer.text), spec)


def _key_refused(spec: EngineSpec, status: int) -> SweepError:
    """What is wrong where a server does not let the judge in; its words may hold the key."""
    if spec.api_key_env is None:
        return SweepError(
            f"the server wants a key (HTTP {status})",
            where={"judge": spec.name},
            hint="api_key_env = the name of the environment variable that holds it",
        )
    return SweepError(
        f"the server does not take the key in environment variable {spec.api_key_env} "
        f"(HTTP {status})",
        where={"judge": spec.name},
    )


def _models(text: str) -> dict[str, Mapping[str, JSON]]:
    """The models a server lists, by name; empty where it is no list of models."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    listed = content.get("data") if isinstance(content, dict) else None
    rows = listed if isinstance(listed, list) else []
    return {str(row["id"]): row for row in rows if isinstance(row, dict) and row.get("id")}


def _server_of(models: Mapping[str, Mapping[str, JSON]], spec: EngineSpec) -> Server:
    """What the list says of the judge's model."""
    version = _client_version()
    if not models:
        return Server(version=version)
    if spec.model not in models:
        close = get_close_matches(spec.model, models, n=1)
        named = ", ".join(sorted(models)[:MOST_NAMED]) + (", ..." * (len(models) > MOST_NAMED))
        raise SweepError(
            f"the server has no model {spec.model!r}, it has {named}",
            where={"judge": spec.name},
            hint=f"did you mean {close[0]}?" if close else None,
        )
    longest = models[spec.model].get("max_model_len")
    owner = str(models[spec.model].get("owned_by") or "")
    return Server(
        version=f"{version}, server of {owner}" if owner else version,
        max_model_len=longest if isinstance(longest, int) else None,
    )


def _client_version() -> str:
    """Version of the client library."""
    import openai

    return f"client {openai.__version__}"
