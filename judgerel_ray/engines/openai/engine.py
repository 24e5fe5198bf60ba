"""A judge behind an API: any server that speaks OpenAI's, hosted or local.

The client library is imported when the engine starts. The key is read from the environment of the
process that asks, and is in nothing that is stored, sent or said.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
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
    RequestRefused,
    SweepError,
    TokenCounts,
    request_key,
)
from judgerel_ray.engines.engine import EngineFacts, EngineSpec, Prepared
from judgerel_ray.engines.openai.channel import Channel, RequestFailed, make_client
from judgerel_ray.engines.openai.failures import Blame
from judgerel_ray.engines.openai.limits import Limiter, SharedLimits
from judgerel_ray.engines.openai.options import openai_options
from judgerel_ray.engines.openai.replies import Usage, completions_of, read_reply
from judgerel_ray.engines.openai.requests import (
    Request,
    check_askable,
    requests_of,
    stops_there,
    tokens_at_most,
)
from judgerel_ray.engines.openai.servers import Server, look_at_server
from judgerel_ray.protocols import as_plain

CHARACTERS_PER_TOKEN = 4


class OpenAIEngine:
    """A judge at a server.

    Parameters
    ----------
    spec : EngineSpec
        ``base_url``, ``api_key_env`` and ``limits``; its ``engine_options`` are those of
        :class:`~judgerel_ray.engines.openai.options.OpenAIOptions`.

    Raises
    ------
    SweepError
        If an option makes no sense.

    Attributes
    ----------
    limiter : Limiter
        Its provider's limits: its own, until it is given those that all share.
    backends : set of str
        What the server called that which answered (``system_fingerprint``).

    Examples
    --------
    >>> OpenAIEngine(EngineSpec(name="j", engine="openai", model="m", base_url="http://h/v1"))
    OpenAIEngine('j')
    """

    def __init__(self, spec: EngineSpec) -> None:
        self.spec = spec
        self.options = openai_options(spec)
        self.limits = spec.limits or Limits()
        self.limiter: Limiter = SharedLimits(self.limits)
        self._channel: Channel | None = None
        self._counts = TokenCounts()
        self._mistake: SweepError | None = None
        self.backends: set[str] = set()

    def __repr__(self) -> str:
        return f"OpenAIEngine({self.spec.name!r})"

    async def start(self) -> EngineFacts:
        """Read the key, and see that the server is there, takes it, and has the model.

        Raises
        ------
        SweepError
            If the key's variable is not set, the server does not take it, or lacks the model.
        EngineStartError
            If no server answers.
        """
        began = monotonic()
        check_key(self.spec, os.environ)
        client = make_client(self.spec, os.environ, self.limits)
        secret = os.environ.get(self.spec.api_key_env or "") or None
        async with contextlib.AsyncExitStack() as closing:
            closing.push_async_callback(client.close)
            server = await look_at_server(client, self.spec, secret)
            closing.pop_all()
        self._channel = Channel(
            client=client, limits=self.limits, limiter=self.limiter, secret=secret
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
            revision=None,
            device="server",
            dtype=None,
            max_model_len=server.max_model_len,
            max_num_seqs=self.limits.concurrency,
            max_num_batched_tokens=None,
            block_size=None,
            kv_tokens=None,
            attention_backend=None,
            chunked_prefill=None,
            prefix_caching=None,
            engine_seed=None,
            chat_template_sha256=None,
            start_seconds=round(seconds, 3),
            device_name=self.spec.base_url,
            seeds=seeds,
            stops="sent where there are four or fewer" if vllm else "replies are cut here",
        )

    def prepare(self, condition: Condition) -> Prepared:
        """Write a prompt as text and estimate its tokens; RequestRefused for what cannot be asked.

        Examples
        --------
        See :func:`~judgerel_ray.engines.openai.requests.check_askable`.
        """
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

        Raises
        ------
        SweepError
            If the server takes nothing of this judge: its key, its model, a parameter.
        EngineError
            If a request was not answered within its deadline; the ask stays owed.
        RequestRefused
            If the server can never answer it.

        Notes
        -----
        Retry: safe. One failed request fails the ask, after the others have ended: what they cost
        is spent already, and a server's clients should not hang up on it.
        """
        del prepared  # what is sent is written with each replication's seed
        channel = self._channel
        if channel is None:
            raise EngineLost("engine is not running", where={"judge": self.spec.name})
        if self._mistake is not None:
            raise self._mistake
        chat = self.spec.chat_template is not False
        made = requests_of(ask, model=self.spec.model, chat=chat, options=self.options)
        tasks = [asyncio.ensure_future(self._ask_one(channel, one, ask)) for one in made]
        try:
            answers = await asyncio.gather(*tasks, return_exceptions=True)
        finally:
            for task in tasks:  # cancelled, else all are done
                task.cancel()
        errors = [answer for answer in answers if isinstance(answer, BaseException)]
        if errors:
            # A prompt's own fault is the same for all replications, and the last thing to notice.
            raise min(errors, key=lambda error: isinstance(error, RequestRefused))
        return tuple(one for each in answers if isinstance(each, tuple) for one in each)

    async def _ask_one(
        self, channel: Channel, request: Request, ask: Ask
    ) -> tuple[Completion, ...]:
        """One request; what its server declined is a reply, too."""
        condition = ask.condition
        key = request_key(condition.condition_key, request.first)
        where = {"judge": self.spec.name, "key": key}
        try:
            text = await channel.send(request.body, key=key, tokens=tokens_at_most(request))
            reply = read_reply(text, request)
            cuts = not stops_there(condition, self.options)
            found = completions_of(reply, request, condition, cuts=cuts)
        except RequestFailed as failed:
            return self._failed(failed, request, condition, where)
        except EngineError as error:
            raise EngineError(error.problem, where={**where, **error.where}) from None
        self._count(reply.usage)
        if reply.backend is not None:
            self.backends.add(reply.backend)
        return found

    def _failed(
        self,
        failed: RequestFailed,
        request: Request,
        condition: Condition,
        where: dict[str, str],
    ) -> tuple[Completion, ...]:
        """A request that was not answered: by whose fault."""
        failure = failed.failure
        if failure.blame is Blame.DECLINED:
            return tuple(
                Completion(
                    key=request_key(condition.condition_key, request.first + place),
                    replication=request.first + place,
                    seed=None if request.seed is None else request.seed + place,
                    text=None,
                    finish_reason=DECLINED,
                    prompt_tokens=None,
                    cached_tokens=None,
                    completion_tokens=0,
                )
                for place in range(request.n)
            )
        if failure.blame is Blame.PROMPT:
            raise RequestRefused(f"request_refused: {failure.message}", where=where) from None
        if failure.blame is Blame.SETTING:
            self._mistake = SweepError(
                f"the server takes nothing of this judge: {failure.message}",
                where={"judge": self.spec.name},
                hint="mend its key, model or engine_options",
            )
            raise self._mistake from None
        raise EngineError(f"request failed: {failure.message}", where=where) from None

    def _count(self, usage: Usage) -> None:
        """Add what a server says one request took."""
        self._counts += TokenCounts(
            prompt=usage.prompt or 0, cached=usage.cached or 0, generated=usage.completion or 0
        )

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


def check_key(spec: EngineSpec, environment: Any) -> None:
    """Refuse a judge whose key is not in the environment; never say what is there.

    Examples
    --------
    >>> check_key(EngineSpec(name="j", engine="openai", model="m", api_key_env="NO_KEY"), {})
    Traceback (most recent call last):
        ...
    judgerel_ray.core.errors.SweepError: environment variable NO_KEY is not set, which api_key_env names [judge=j]. Try: export NO_KEY=... where the judge's actor runs, or leave api_key_env out for a server without keys
    """  # noqa: E501  the message is one line
    name = spec.api_key_env
    if name is not None and not str(environment.get(name, "")).strip():
        raise SweepError(
            f"environment variable {name} is not set, which api_key_env names",
            where={"judge": spec.name},
            hint=f"export {name}=... where the judge's actor runs, or leave api_key_env out for a "
            "server without keys",
        )
