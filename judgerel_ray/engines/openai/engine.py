"""A judge behind an API: any server that speaks OpenAI's, hosted or local.

The client library is imported when the engine starts. Whether the server is there, takes the key
and has the model is asked then, before anything that costs. The key is read from the environment of
the process that asks, and is in nothing that is stored, sent or said.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from time import monotonic
from typing import Any

from judgerel_ray.config import Limits
from judgerel_ray.core import (
    DECLINED,
    Ask,
    Completion,
    Condition,
    EngineError,
    EngineLost,
    EngineStartError,
    JudgeRelError,
    RequestRefused,
    SweepError,
    TokenCounts,
    request_key,
)
from judgerel_ray.engines.engine import (
    JSON,
    EngineFacts,
    EngineSpec,
    PartlyAnswered,
    Prepared,
    stopped_in_thought,
)
from judgerel_ray.engines.openai.boundary import Boundary, int32_count
from judgerel_ray.engines.openai.channel import (
    OF_BYTES,
    Blame,
    Channel,
    Failure,
    RequestFailed,
    body_text,
    connection_failure,
    make_client,
    wait_before,
)
from judgerel_ray.engines.openai.limits import Limiter, SharedLimits
from judgerel_ray.engines.openai.replies import (
    Reply,
    completions_of,
    message_of,
    read_answer_body,
)
from judgerel_ray.engines.openai.requests import (
    OpenAIOptions,
    Request,
    check_askable,
    openai_options,
    provider_of,
    requests_of,
    stops_there,
    tokens_at_most,
)
from judgerel_ray.protocols import as_plain, message_thought, opening_mark
from judgerel_ray.protocols.replies.thoughts import THOUGHT, lone_closing_mark

PATIENCE_S = 120.0  # a local server may be loading its model
LOOK_S = 20.0
MOST_NAMED = 8
LONGEST_NAME = 80  # of what a server says it is, and of the models that it lists
MOST_BACKENDS = 64
CHARACTERS_PER_TOKEN = 4


class OpenAIEngine:
    """A judge at a server.

    Attributes
    ----------
    limiter : Limiter
        Its provider's limits: its own, until it is given those that all share.
    backends : set of str
        What the server called that which answered (``system_fingerprint``).
    """

    def __init__(self, spec: EngineSpec) -> None:
        self.spec = spec
        self.options = openai_options(spec)
        self.limits = spec.limits or Limits()
        self.limiter: Limiter = SharedLimits(self.limits)
        self._channel: Channel | None = None
        self._counts = TokenCounts()
        self._mistake: SweepError | None = None
        self._opened = ""
        self._thinks = False
        self._closes = False  # has ended a thought that its prompt opened
        self._says_apart = False
        self.backends: set[str] = set()

    def __repr__(self) -> str:
        return f"OpenAIEngine({self.spec.name!r})"

    async def start(self) -> EngineFacts:
        """Read the key, and see that the server is there, takes it, and has the model."""
        began = monotonic()
        check_key(self.spec, os.environ)
        client = make_client(self.spec, os.environ, self.limits)
        boundary = Boundary(os.environ.get(self.spec.api_key_env or ""))
        async with contextlib.AsyncExitStack() as closing:
            closing.push_async_callback(client.close)
            server = await look_at_server(client, self.spec, boundary)
            if self.options.server == "vllm" and self.spec.chat_template is not False:
                self._opened = await opened_thought(client, self.spec, self.options)
                self._thinks = bool(self._opened)
            closing.pop_all()
        self._channel = Channel(
            client=client, limits=self.limits, limiter=self.limiter, boundary=boundary
        )
        return self._facts(server, monotonic() - began)

    def _facts(self, server: Server, seconds: float) -> EngineFacts:
        """What is known of the server."""
        vllm = self.options.server == "vllm"
        seeds = "sent; the server's use of them is not known"
        if not self.options.seed:
            seeds = "not sent: the server is declared to have none"
        elif vllm:
            seeds = "sent; vLLM draws by them"
        return EngineFacts(
            engine="openai",
            engine_version=server.version,
            model=self.spec.model,
            device="server",
            max_model_len=server.max_model_len,
            max_num_seqs=self.limits.concurrency,
            start_seconds=round(seconds, 3),
            device_name=self.spec.base_url,
            seeds=seeds,
            stops=(
                "sent where there are four or fewer"
                if vllm and not self._thinks
                else "replies are cut here"
            ),
        )

    def prepare(self, condition: Condition) -> Prepared:
        """Write a prompt as text and estimate its tokens (RequestRefused)."""
        check_askable(condition, self.options)
        text = as_plain(condition.prompt)
        return Prepared(
            condition_key=condition.condition_key,
            text=text,
            token_ids=None,
            prompt_tokens=-(-len(text) // CHARACTERS_PER_TOKEN),
        )

    async def complete(self, prepared: Prepared, ask: Ask) -> tuple[Completion, ...]:
        """Answer every replication of an ask, side by side.

        Notes
        -----
        Retry: safe. What failed is known after all requests have ended: what they cost is spent
        already, and a server's clients should not hang up on it.
        """
        channel = self._channel
        if channel is None:
            raise EngineLost("engine is not running", where={"judge": self.spec.name})
        if self._mistake is not None:
            raise self._mistake
        chat, thinks = self.spec.chat_template is not False, self._thinks
        # A stop string inside a thought is no verdict: a judge that thinks is sent none.
        sent = replace(ask, condition=replace(ask.condition, stop=())) if thinks else ask
        cuts = not stops_there(sent.condition, self.options)
        made = requests_of(sent, model=self.spec.model, chat=chat, options=self.options)
        tasks = [asyncio.ensure_future(self._ask_one(channel, one, ask)) for one in made]
        try:
            ended = await asyncio.gather(*tasks, return_exceptions=True)
        finally:
            for task in tasks:  # cancelled, else all are done
                task.cancel()
        answers = self._read(channel, made, ended, ask, cuts)
        found = tuple(one for one in answers if isinstance(one, Completion))
        closes = any(lone_closing_mark(one.text) for one in found)
        if not cuts and (
            closes or any(stopped_in_thought(one, ask.condition.stop) for one in found)
        ):
            self._thinks = True
            return await self.complete(prepared, ask)
        if closes and not self._closes:
            # Its template opens thoughts, as this shows: a cut reply without a mark never left one.
            self._closes = self._thinks = True
            answers = self._read(channel, made, ended, ask, cuts)
            found = tuple(one for one in answers if isinstance(one, Completion))
        errors = {
            replication: one
            for replication, one in zip(ask.replications, answers, strict=True)
            if isinstance(one, Exception)
        }
        if found and errors:
            raise PartlyAnswered(found, errors)
        if errors:
            # A prompt's own fault is the same for all replications, and the last thing to notice.
            raise min(errors.values(), key=lambda error: isinstance(error, RequestRefused))
        return found

    async def _ask_one(
        self, channel: Channel, request: Request, ask: Ask
    ) -> Reply | tuple[Completion, ...]:
        """One request: the reply, or what stands for each replication that was declined."""
        key = request_key(ask.condition.condition_key, request.first)
        where = {"judge": self.spec.name, "key": key}
        try:
            answer = await channel.send(request.body, key=key, tokens=tokens_at_most(request))
            reply = read_answer_body(answer, request)
        except RequestFailed as failed:
            if failed.failure.blame is Blame.DECLINED:
                return _declined(request, ask.condition)
            raise self._refusal(failed.failure, where) from None
        except EngineError as error:
            raise EngineError(error.problem, where={**where, **error.where}) from error
        self._says_apart |= any(message_thought(message_of(one)) for one in reply.choices)
        usage = reply.usage
        self._counts += TokenCounts(
            prompt=usage.prompt or 0, cached=usage.cached or 0, generated=usage.completion or 0
        )
        if reply.backend is not None and len(self.backends) < MOST_BACKENDS:
            self.backends.add(reply.backend[:LONGEST_NAME])
        return reply

    def _read(
        self,
        channel: Channel,
        made: Sequence[Request],
        ended: Sequence[Reply | tuple[Completion, ...] | BaseException],
        ask: Ask,
        cuts: bool,
    ) -> list[Completion | BaseException]:
        """What came of each replication, by what is known of the server's thoughts by now."""
        answers: list[Completion | BaseException] = []
        for request, each in zip(made, ended, strict=True):
            if isinstance(each, BaseException):
                answers += [each] * request.n
            elif isinstance(each, Reply):
                found = completions_of(
                    each,
                    request,
                    ask.condition,
                    cuts=cuts,
                    clean=channel.boundary.clean,
                    opened="" if self._says_apart else self._opened,
                    opened_if_cut=THOUGHT if self._closes and not self._says_apart else "",
                )
                key = request_key(ask.condition.condition_key, request.first)
                where = {"judge": self.spec.name, "key": key}
                answers += [
                    EngineError(one.problem, where={**where, **one.where})
                    if isinstance(one, EngineError)
                    else one
                    for one in found
                ]
            else:
                answers += each
        return answers

    def _refusal(self, failure: Failure, where: dict[str, str]) -> JudgeRelError:
        """Why a request was not answered: by whose fault."""
        if failure.blame is Blame.PROMPT:
            return RequestRefused(f"request_refused: {failure.message}", where=where)
        if failure.blame is Blame.SETTING:
            self._mistake = SweepError(
                f"the server takes nothing of this judge: {failure.message}",
                where={"judge": self.spec.name},
                hint="mend its key, model, base_url or engine_options",
            )
            return self._mistake
        return EngineError(f"request failed: {failure.message}", where=where)

    def counters(self) -> TokenCounts:
        """Tokens since the start, as the server counts them; what it does not say is not in it."""
        return self._counts

    def is_alive(self) -> bool:
        """Whether it has a client; a server that is away comes back."""
        return self._channel is not None

    async def stop(self) -> None:
        """Close the connections; safe to call twice."""
        channel, self._channel = self._channel, None
        if channel is not None:
            await channel.client.close()


def _declined(request: Request, condition: Condition) -> tuple[Completion, ...]:
    """Completions of a request that the provider will not have answered."""
    return tuple(
        Completion(
            key=request_key(condition.condition_key, request.first + place),
            replication=request.first + place,
            seed=None if request.seed is None else request.seed + place,
            text=None,
            finish_reason=DECLINED,
            completion_tokens=0,
        )
        for place in range(request.n)
    )


def check_key(spec: EngineSpec, environment: Any) -> None:
    """Refuse a judge whose key is not in the environment; never say what is there."""
    name = spec.api_key_env
    if name is not None and not str(environment.get(name, "")).strip():
        known = spec.provider
        whose = f"holds the key of provider {known}" if known else "api_key_env names"
        raise SweepError(
            f"environment variable {name} is not set, which {whose}",
            where={"judge": spec.name},
            hint=f"export {name}=... where the judge's actor runs"
            + ("" if spec.provider else ", or leave api_key_env out for a server without keys"),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """What a server says of itself and the model."""

    version: str
    max_model_len: int | None = None


async def look_at_server(client: Any, spec: EngineSpec, boundary: Boundary) -> Server:
    """Ask a server for its models, where it has such a list."""
    import openai

    if not provider_of(spec.provider).lists_models:
        return Server(version=_client_version())
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
        except TimeoutError:
            why = f"no answer in {LOOK_S:.0f} s"
        except (openai.OpenAIError, *OF_BYTES) as error:
            failure = connection_failure(error, boundary)
            if failure.blame is Blame.SETTING:
                raise SweepError(
                    failure.message,
                    where={"judge": spec.name},
                    hint="base_url = the server that answers",
                ) from None
            why = failure.message
        wait = wait_before(spec.name, n_tries)
        if monotonic() + wait > until:
            raise EngineStartError(
                f"no server answers: {why}",
                where={"judge": spec.name, "base_url": spec.base_url},
                hint="is it started, and base_url right, its /v1 included?",
            )
        await asyncio.sleep(wait)
    return _server_of(_models_server_lists(body_text(answer.http_response.content), boundary), spec)


async def opened_thought(client: Any, spec: EngineSpec, options: OpenAIOptions) -> str:
    """Ask a vLLM server with which mark its chat template opens a thought at a prompt's end.

    Empty where it opens none, or the server does not say: a reply that is cut off inside such a
    thought has no mark by which it could be known.
    """
    import openai

    root = str(client.base_url).rstrip("/").removesuffix("/v1")
    body: dict[str, JSON] = {
        "model": spec.model,
        "messages": [{"role": "user", "content": "?"}],
        "return_token_strs": True,
        "chat_template_kwargs": options.extra_body.get("chat_template_kwargs"),
    }
    try:
        async with asyncio.timeout(LOOK_S):
            answer = await client.post(f"{root}/tokenize", cast_to=object, body=body)
    except (openai.OpenAIError, TimeoutError, *OF_BYTES):
        return ""
    listed = answer.get("token_strs") if isinstance(answer, dict) else None
    pieces = [one for one in listed if isinstance(one, str)] if isinstance(listed, list) else []
    # As byte-pair and SentencePiece tokenizers spell blanks and line breaks.
    return opening_mark("".join(pieces).translate(str.maketrans("\u0120\u010a\u2581", " \n ")))


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


def _models_server_lists(text: str, boundary: Boundary) -> dict[str, Mapping[str, JSON]]:
    """The models a server lists, by name; empty where it is no list of models."""
    try:
        content = boundary.document(text)
    except EngineError:
        return {}
    listed = content.get("data") if isinstance(content, dict) else None
    rows = [row for row in listed if isinstance(row, dict)] if isinstance(listed, list) else []
    return {row["id"]: row for row in rows if isinstance(row.get("id"), str) and row["id"]}


def _server_of(models: Mapping[str, Mapping[str, JSON]], spec: EngineSpec) -> Server:
    """What the list says of the judge's model."""
    version = _client_version()
    if not models:
        return Server(version=version)
    listed = spec.model if spec.model in models else f"{spec.model}:latest"  # as Ollama's tags
    if listed not in models:
        close = get_close_matches(spec.model, models, n=1)
        shown = [" ".join(name.split())[:LONGEST_NAME] for name in sorted(models)[:MOST_NAMED]]
        named = ", ".join(shown) + (", ..." * (len(models) > MOST_NAMED))
        raise SweepError(
            f"the server has no model {spec.model!r}, it has {named}",
            where={"judge": spec.name},
            hint=f"did you mean {close[0][:LONGEST_NAME]}?" if close else "one of these as model",
        )
    owner = models[listed].get("owned_by")
    if isinstance(owner, str) and owner:
        version += f", server of {owner[:LONGEST_NAME]}"
    longest = int32_count(models[listed].get("max_model_len"))
    return Server(version=version, max_model_len=longest or None)


def _client_version() -> str:
    import openai

    return f"client {openai.__version__}"
