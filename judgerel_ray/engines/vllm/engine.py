"""vLLM behind the engine protocol; the only module that imports vllm, torch or transformers.

All imports are inside functions: making an engine costs nothing, starting it loads the model.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import itertools
import os
from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial
from multiprocessing import active_children
from time import monotonic
from typing import TYPE_CHECKING, Any

from judgerel_ray.core import (
    Ask,
    Completion,
    Condition,
    EngineError,
    EngineLost,
    EngineStartError,
    RequestRefused,
    TokenCounts,
)
from judgerel_ray.engines.engine import (
    JSON,
    EngineFacts,
    EngineSpec,
    Prepared,
    all_or_first_error,
    stopped_in_thought,
)
from judgerel_ray.engines.tokenization import (
    PromptEncoder,
    Tokenizer,
    chat_template_text,
    template_options,
)
from judgerel_ray.engines.vllm.arguments import (
    check_capability,
    cpu_token_budget,
    engine_arguments,
    environment,
    refuse_unknown_options,
)
from judgerel_ray.engines.vllm.reading import EngineChannel, answer_chunk, read_probabilities
from judgerel_ray.engines.vllm.sampling import Vocabulary, chunks, resolved_facts, vocabulary
from judgerel_ray.engines.vllm.scoring import OneKind

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

    from vllm.v1.engine.async_llm import AsyncLLM

_LAST_SECONDS = 10.0


class VllmEngine:
    """A judge served by vLLM in this process, its engine core in a child.

    Parameters
    ----------
    spec : EngineSpec
        The judge's engine; checked here as far as that needs no vLLM.

    Raises
    ------
    SweepError
        If an option is the house's own or would break the engine.
    """

    def __init__(self, spec: EngineSpec) -> None:
        self.spec = spec
        self._arguments = engine_arguments(spec)
        self._llm: AsyncLLM | None = None
        self._encoder: PromptEncoder | None = None
        self._max_model_len = 0
        self._counts = TokenCounts()
        self._request_ids = itertools.count()
        self._children: list[BaseProcess] = []
        self._kinds = OneKind()
        self._vocabulary = Vocabulary(0, frozenset())
        self._thinks = False

    def __repr__(self) -> str:
        return f"VllmEngine({self.spec.name!r})"

    async def start(self) -> EngineFacts:
        """Load tokenizer and model and start the engine core.

        Notes
        -----
        Effects: sets environment variables (see ``environment``), starts child processes, holds
        the event loop until the model is loaded: vLLM ties its sockets to the loop it starts on.
        """
        from vllm.envs import disable_envs_cache, enable_envs_cache

        began, others = monotonic(), active_children()
        disable_envs_cache()  # of an engine that ran here before
        os.environ.update(environment(self.spec, os.environ))
        try:
            tokenizer = _load_tokenizer(self.spec)
            template = chat_template_text(self.spec, tokenizer)
            self._encoder = PromptEncoder(tokenizer, template, template_options(self.spec))
            self._llm = _start_engine(self.spec, self._arguments, self._count)
        except (OSError, RuntimeError, ValueError, ImportError, TimeoutError) as error:
            why = f"engine did not start: {type(error).__name__}: {error}"
            where = {"judge": self.spec.name, "model": self.spec.model}
            hint = "what the engine wrote to its standard error has the cause"
            raise EngineStartError(why, where=where, hint=hint) from error
        self._vocabulary = vocabulary(self._llm.vllm_config, tokenizer)
        self._children = [child for child in active_children() if child not in others]
        version, device = _installed_vllm_version()
        facts = resolved_facts(
            self.spec,
            self._llm.vllm_config,
            version=version,
            device_name=device,
            chat_template_sha256=self._encoder.chat_template_sha256,
            seconds=monotonic() - began,
        )
        self._max_model_len = facts.max_model_len or 0
        enable_envs_cache()  # else read anew for every reply of every step; the core does it too
        # Of the million objects that are loaded by now none goes: a full collection would walk
        # through them, and the loop stand still for half a second.
        gc.collect()
        gc.freeze()
        return facts

    def prepare(self, condition: Condition) -> Prepared:
        """Encode a prompt; refuse one that cannot fit, before any accelerator time."""
        if self._encoder is None:
            raise EngineError("engine is not started", where={"judge": self.spec.name})
        return self._encoder.prepare(condition, longest=self._max_model_len)

    async def complete(self, prepared: Prepared, ask: Ask) -> tuple[Completion, ...]:
        """Answer every replication of an ask; its requests are queued back to back.

        Notes
        -----
        Retry: safe; nothing is remembered of a failed ask. One failed request fails the ask and
        drops its others, so that an ask is answered whole or not at all.
        """
        llm, encoder = self._llm, self._encoder
        if llm is None or encoder is None:
            raise EngineLost("engine is not running", where={"judge": self.spec.name})
        send = partial(self._send, llm, key=prepared.condition_key)
        channel = EngineChannel(
            send=send, kinds=self._kinds, encoder=encoder, vocabulary=self._vocabulary
        )
        condition = ask.condition
        if condition.scoring is not None and condition.scoring.kind != "verdict":
            return (await read_probabilities(ask, prepared, channel),)
        thinks = prepared.may_think or self._thinks
        parts = (
            answer_chunk(condition, prepared, part, channel)
            for part in chunks(ask, stops=not thinks, special=prepared.may_think)
        )
        answers = await all_or_first_error(parts)  # those left would burn time unread
        made = tuple(completion for answer in answers for completion in answer)
        if not thinks and any(stopped_in_thought(one, condition.stop) for one in made):
            # Its template knows no thoughts, and it thinks: asked once more, to its end.
            self._thinks = True
            return await self.complete(prepared, ask)
        return made

    async def _send(
        self, llm: AsyncLLM, ids: tuple[int, ...], asked: dict[str, JSON], *, key: str
    ) -> Any:
        """Send one request; its errors in the words of the house."""
        from vllm import SamplingParams
        from vllm.exceptions import VLLMClientError, VLLMError
        from vllm.inputs import TokensPrompt
        from vllm.sampling_params import RequestOutputKind
        from vllm.v1.engine.exceptions import EngineDeadError

        where = {"judge": self.spec.name, "condition": key}
        # Streaming kinds hand out the samples of n > 1 unevenly: only the final one has them all.
        final = RequestOutputKind.FINAL_ONLY
        try:
            parameters = SamplingParams(**asked, output_kind=final)
        except (VLLMClientError, ValueError) as error:
            raise RequestRefused(f"sampling_parameters: {error}", where=where) from error
        request_id = f"{key}:{next(self._request_ids)}"
        prompt = TokensPrompt(prompt_token_ids=list(ids))
        output = None
        try:
            async for latest in llm.generate(prompt, parameters, request_id):
                output = latest
        except EngineDeadError as error:
            raise EngineLost(f"engine died: {error}", where=where) from error
        except (VLLMClientError, ValueError) as error:
            raise RequestRefused(f"request_refused: {error}", where=where) from error
        except VLLMError as error:
            if llm.errored:
                raise EngineLost(f"engine died: {error}", where=where) from error
            raise EngineError(f"request failed: {error}", where=where) from error
        return output

    def counters(self) -> TokenCounts:
        """Tokens since the start, from the engine's own statistics; they may lag by one step."""
        return self._counts

    def is_alive(self) -> bool:
        """Whether the core is up; vLLM watches over it also while nothing is asked."""
        return self._llm is not None and not self._llm.errored

    def _count(self, counts: TokenCounts) -> None:
        """Add one step's tokens."""
        self._counts += counts

    async def stop(self) -> None:
        """Shut the engine down with its child processes; safe to call twice, or on a dead one."""
        llm, self._llm = self._llm, None
        if llm is None:
            return
        gc.unfreeze()
        handler = llm.output_handler
        llm.shutdown()
        for child in self._children:  # killed where it took too long, and not yet waited for
            child.join(_LAST_SECONDS)
        if handler is not None:  # else the loop closes over a task that still waits
            handler.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await handler


def _load_tokenizer(spec: EngineSpec) -> Tokenizer:
    """Load the tokenizer the engine itself will use."""
    from transformers import AutoTokenizer

    tokenizer: Tokenizer = AutoTokenizer.from_pretrained(
        os.path.expanduser(str(spec.engine_options.get("tokenizer") or spec.model)),
        revision=spec.engine_options.get("tokenizer_revision") or spec.revision,
        trust_remote_code=spec.trust_remote_code,
    )
    return tokenizer


def _start_engine(
    spec: EngineSpec, arguments: dict[str, Any], count: Callable[[TokenCounts], None]
) -> AsyncLLM:
    """Resolve the engine's configuration and start it."""
    from vllm import AsyncEngineArgs
    from vllm.platforms import current_platform
    from vllm.usage.usage_lib import UsageContext
    from vllm.v1.engine.async_llm import AsyncLLM

    refuse_unknown_options(spec, {field.name for field in fields(AsyncEngineArgs)})
    check_capability(spec, current_platform.get_device_capability())
    engine_args = AsyncEngineArgs(**arguments)
    if not spec.gpus and spec.max_model_len is None:
        longest = engine_args.create_model_config().max_model_len
        budget = cpu_token_budget(spec, longest)
        engine_args = replace(engine_args, max_model_len=longest, max_num_batched_tokens=budget)
    return AsyncLLM.from_engine_args(
        engine_args,
        usage_context=UsageContext.LLM_CLASS,
        stat_loggers=[_stat_logger(count)],
    )


def _stat_logger(count: Callable[[TokenCounts], None]) -> Any:
    """Make a statistics sink that hands on each step's tokens.

    It stands in for vLLM's own Prometheus sink, which nobody reads in an actor and which works
    for every request of every step: vLLM adds its own unless it is given one of that class.
    """
    from vllm.v1.metrics.loggers import PrometheusStatLogger

    class Counter(PrometheusStatLogger):  # type: ignore[misc]
        """Adds each step's tokens; makes and keeps no metric."""

        def __init__(self, vllm_config: object, engine_indexes: object = None) -> None:
            del vllm_config, engine_indexes

        def record(self, scheduler_stats: object, iteration_stats: Any, **rest: object) -> None:
            """Count one step: prompts whose prefill it finished, and new tokens."""
            del scheduler_stats, rest
            if iteration_stats is None:  # an idle step
                return
            prompts = iteration_stats.prompt_token_stats
            new = iteration_stats.num_generation_tokens
            count(TokenCounts(prompt=prompts.total, cached=prompts.cached_tokens, generated=new))

        def log_engine_initialized(self) -> None:
            """Nothing to say."""

        def record_sleep_state(self, sleep: int = 0, level: int = 0) -> None:
            """Nothing to keep."""

        def record_admission_rejection(self, reason: str) -> None:
            """Nothing to keep."""

    return Counter


def _installed_vllm_version() -> tuple[str, str]:
    """Version of vLLM (metadata has other names in the GPU and CPU builds), and the device."""
    import vllm
    from vllm.platforms import current_platform

    return vllm.__version__, current_platform.get_device_name()
