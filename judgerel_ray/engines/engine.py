"""What an engine is: a model that completes prompts, and what it says about itself.

An engine answers an :class:`~judgerel_ray.core.Ask` with one completion per replication. Which
engines there are is said in :mod:`judgerel_ray.engines.catalog`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias, TypeVar

from pydantic import BaseModel, ValidationError

from judgerel_ray.config import Limits
from judgerel_ray.config.reading import first_problem
from judgerel_ray.core import (
    Ask,
    Completion,
    Condition,
    EngineError,
    JudgeRelError,
    SweepError,
    TokenCounts,
)
from judgerel_ray.protocols import split_thought

T = TypeVar("T")
TableT = TypeVar("TableT", bound=BaseModel)
SMALLEST_TEMPERATURE = 0.01  # vLLM raises anything between 0 and this to it, without an error

# Strings, for the alias speaks of itself.
NEUTRAL: Mapping[str, float] = {
    "min_p": 0.0,
    "presence_penalty": 0.0,
    "frequency_penalty": 0.0,
    "repetition_penalty": 1.0,
    "min_tokens": 0,
}
"""Sampling parameters of vLLM that change nothing; a model's own file may say otherwise."""
JSON: TypeAlias = "bool | int | float | str | Sequence[JSON] | Mapping[str, JSON] | None"


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSpec:
    """All that decides how a judge's engine is made; plain data, safe to send to any node.

    ``model`` is a folder or a hub id for ``vllm`` and the name of a distribution for
    ``simulated``. ``gpus`` is how many it has, 0 for CPU, in ``pipeline_parallel_size`` stages,
    each of them tensor parallel over its share. ``chat_template`` is True (the
    model's own), False (plain text) or the path of a Jinja file. ``executor`` is how one engine
    spreads over its GPUs: in this process's child (``uni``), over one node (``mp``) or over
    several (``ray``). ``batch_invariant`` asks for kernels whose results do not depend on what else
    is in a batch. Of a judge behind an API ``base_url`` is its server, ``api_key_env`` the name of
    the environment variable that holds its key, never the key, and ``limits`` what the server may
    be asked; ``model`` is the name it has there. ``provider`` is who serves it, where known.
    """

    name: str
    engine: str
    model: str
    revision: str | None = None
    gpus: int = 0
    pipeline_parallel_size: int = 1
    dtype: str | None = None
    quantization: str | None = None
    max_model_len: int | None = None
    chat_template: bool | str = True
    engine_options: Mapping[str, JSON] = field(default_factory=dict)
    trust_remote_code: bool = False
    executor: str = "uni"
    batch_invariant: bool = False
    provider: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None
    limits: Limits | None = None

    @property
    def stages(self) -> tuple[int, ...]:
        """GPUs of each stage, which one node holds; none on the CPU."""
        each = self.gpus // self.pipeline_parallel_size
        return (each,) * self.pipeline_parallel_size if each else ()

    @property
    def cpus(self) -> int:
        """CPUs that its actor holds: none beside GPUs, and none to wait for a server."""
        return 0 if self.gpus or self.engine == "openai" else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineFacts:
    """What a started engine says about itself; every field is a plain JSON value.

    ``kv_tokens`` is how many tokens its key-value cache holds. ``seeds`` and ``stops`` say what is
    known of a server's seeds and stop strings. A field is None where the engine has no such thing
    or does not tell.
    """

    engine: str
    engine_version: str
    model: str
    revision: str | None = None
    device: str
    dtype: str | None = None
    max_model_len: int | None = None
    max_num_seqs: int | None = None
    max_num_batched_tokens: int | None = None
    block_size: int | None = None
    kv_tokens: int | None = None
    attention_backend: str | None = None
    chunked_prefill: bool | None = None
    prefix_caching: bool | None = None
    engine_seed: int | None = None
    chat_template_sha256: str | None = None
    start_seconds: float
    device_name: str | None = None
    batch_invariant: bool | None = None
    seeds: str | None = None
    stops: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A condition's prompt as one engine takes it.

    ``token_ids`` is None where the engine works on text. ``prompt_tokens`` is exact for a real
    engine and an estimate for the simulated one. ``continuations`` are the tokens of what is
    scored, in order. ``opened`` is the mark with which the prompt opens a thought at its end, which
    the reply then begins inside; ``may_think`` says that the chat template knows thoughts at all.
    """

    condition_key: str
    text: str
    token_ids: tuple[int, ...] | None
    prompt_tokens: int
    continuations: tuple[tuple[int, ...], ...] = ()
    opened: str = ""
    may_think: bool = False


class PartlyAnswered(EngineError):  # noqa: N818  a state of the world, not a mistake
    """Some replications of an ask were answered, and others failed.

    Parameters
    ----------
    completions : sequence of Completion
        Those that were answered, in order.
    errors : mapping of int to Exception
        Why each other replication was not: as of :meth:`Engine.complete`.

    Examples
    --------
    >>> str(PartlyAnswered((), {3: EngineError("no whole reply")}))
    'no whole reply'
    """

    def __init__(self, completions: Sequence[Completion], errors: Mapping[int, Exception]) -> None:
        first = next(iter(errors.values()))
        if not isinstance(first, JudgeRelError):
            first = EngineError(f"{type(first).__name__}: {first}")
        super().__init__(first.problem, where=first.where, hint=first.hint)
        self.completions, self.errors = tuple(completions), dict(errors)

    def __reduce__(self) -> tuple[object, ...]:
        return PartlyAnswered, (self.completions, self.errors)


class Engine(Protocol):
    """A model that completes prompts.

    ``prepare`` costs no accelerator time and refuses what can never succeed. ``complete`` may
    run many times at once on one event loop; cancelling it drops the request.
    """

    async def start(self) -> EngineFacts:
        """Load the model; EngineStartError if it never comes up, SweepError if told nonsense."""
        ...

    def prepare(self, condition: Condition) -> Prepared:
        """Turn a prompt into tokens; RequestRefused if it can never be answered."""
        ...

    async def complete(self, prepared: Prepared, ask: Ask) -> tuple[Completion, ...]:
        """Answer every replication of `ask`, in order, or read what its condition scores.

        EngineLost when the engine is gone, EngineError when this request failed and may be asked
        again, RequestRefused when it never will succeed, PartlyAnswered when that holds for some
        of its replications.
        """
        ...

    def counters(self) -> TokenCounts:
        """Tokens computed since the start."""
        ...

    def is_alive(self) -> bool:
        """Whether it could answer now, as far as that is known without asking it anything."""
        ...

    async def stop(self) -> None:
        """Release the model and every child process; safe to call twice."""
        ...


def checked_options(
    spec: EngineSpec,
    table: type[TableT],
    defaults: Mapping[str, JSON] | None = None,
    *,
    other: str = "",
) -> TableT:
    """The options of a judge's engine as its table of options has them; SweepError otherwise.

    `other` says where options go that are like none of the table's.
    """
    try:
        return table.model_validate({**(defaults or {}), **spec.engine_options})
    except ValidationError as error:
        found = first_problem(error, "", table)
        hint = found.hint
        if other and hint and hint.startswith("one of "):
            hint = f"{other}, or {hint}"
        raise SweepError(
            f"engine_options.{found.problem}", where={"judge": spec.name}, hint=hint
        ) from None


def refuse_secrets(options: JSON, marks: Iterable[str], judge: str, *, hint: str) -> None:
    """Refuse options of which a key, of the tables and lists inside too, has a mark of a secret."""
    for name in sorted(_all_keys(options)):
        if any(mark in name.lower() for mark in marks):
            raise SweepError(
                f"engine_options must not hold secrets, got {name!r}: the sweep file is kept with "
                "the run",
                where={"judge": judge},
                hint=hint,
            )


def _all_keys(value: JSON) -> Iterator[str]:
    inside: Sequence[JSON] = ()
    if isinstance(value, Mapping):
        yield from value
        inside = list(value.values())
    elif isinstance(value, Sequence) and not isinstance(value, str):
        inside = value
    for one in inside:
        yield from _all_keys(one)


async def all_or_first_error(work: Iterable[Awaitable[T]]) -> list[T]:
    """Do all together; when one raises, or this is cancelled, cancel the rest before raising it."""
    tasks = [asyncio.ensure_future(one) for one in work]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def cut_after(text: str, stop: tuple[str, ...]) -> str:
    """Cut a text after the stop string that ends first, keeping it; none inside a thought counts.

    Examples
    --------
    >>> cut_after("Best Response: [[A]] since", ("]]",))
    'Best Response: [[A]]'
    >>> cut_after("<think>[[B]]?</think>[[A]] since", ("]]",))
    '<think>[[B]]?</think>[[A]]'
    """
    reply = split_thought(text).reply
    begun = len(text) - len(reply) if text.endswith(reply) else len(text)
    ends = [place + len(mark) for mark in stop if (place := text.find(mark, begun)) >= 0]
    return text[: min(ends)] if ends else text


def stopped_in_thought(completion: Completion, stop: tuple[str, ...]) -> bool:
    """Whether a stop string ended a reply before its thought did."""
    text = completion.text or ""
    if completion.thought and not text:  # the server says thoughts apart
        return completion.thought.endswith(stop or ("\0",))
    return text.endswith(stop or ("\0",)) and split_thought(text, is_whole=False).is_open
