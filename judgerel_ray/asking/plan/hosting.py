"""Judges behind an API: whether they can be asked what a sweep asks, and what that may cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from judgerel_ray.config import Limits, Prices
from judgerel_ray.core import SweepError
from judgerel_ray.design import AskFrame
from judgerel_ray.engines import EngineSpec
from judgerel_ray.engines.openai.requests import MOST_STOPS, openai_options


def check_served(frames: Sequence[AskFrame], specs: Mapping[str, EngineSpec]) -> None:
    """Refuse what a judge's server would silently ignore, or answer with an error.

    Raises
    ------
    SweepError
        If an ask keeps the most probable tokens of a judge whose server is not declared to.
    """
    for frame in frames:
        asked = [(frame.ask.top_k, "top_k", voice) for voice in frame.judges]
        if frame.respond is not None:
            kept = frame.respond.top_k
            asked += [(kept, "respond.top_k", voice) for voice in frame.responders]
        if frame.protocol.traits.models_answer:  # its models answer as its judges judge
            asked += [(frame.ask.top_k, "top_k", voice) for voice in frame.responders]
        for top_k, key, voice in asked:
            spec = specs[voice.name]
            if spec.engine == "openai" and top_k and not openai_options(spec).top_k:
                raise SweepError(
                    f"{key} = {top_k} keeps the {top_k} most probable tokens, which OpenAI's API "
                    "has no word for: a server would ignore it or refuse",
                    where={"ask": frame.index, "judge": voice.name},
                    hint=f"{key} = 0, which keeps all, as hosted models do; or, where the server "
                    'takes it, engine_options = { server = "vllm" } or { top_k = true }',
                )


def request_size(spec: EngineSpec, most: int) -> int:
    """How many replications are given out together: what fails together, and is asked again.

    A server is asked for each by itself, and for each that it answered it was paid.

    Examples
    --------
    >>> request_size(EngineSpec(name="j", engine="openai", model="m", base_url="http://h/v1"), 32)
    1
    >>> request_size(EngineSpec(name="j", engine="vllm", model="m"), 32)
    32
    """
    alone = spec.engine == "openai" and not openai_options(spec).n
    return 1 if alone else most


def served_remarks(
    spec: EngineSpec,
    prices: Prices | None,
    *,
    requests: int,
    prompt: int,
    generated: int,
    early_stop: bool,
) -> Iterator[str]:
    """What a person should know of a judge behind an API, its money and its time before all.

    Parameters
    ----------
    spec : EngineSpec
        The judge.
    prices : Prices or None
        Money for a million tokens.
    requests, prompt, generated : int
        What it is asked, in requests and tokens, at most.
    early_stop : bool
        Whether an ask of it ends replies at their verdict.

    Yields
    ------
    str
        One line each.
    """
    options, limits = openai_options(spec), spec.limits or Limits()
    if prices is None:
        yield f"{spec.name}: no prices, so the cost column stays empty"
    else:
        cost = prices.cost(prompt, 0, generated)
        yield (
            f"{spec.name}: costs about {cost:,.2f} at most, in the currency of its prices: no "
            "prompt served from a cache, and replies as long as max_tokens allows"
        )
    minutes = [
        (needed / most, f"{name} = {most:g}")
        for needed, most, name in (
            (requests, limits.requests_per_minute, "requests_per_minute"),
            (prompt + generated, limits.tokens_per_minute, "tokens_per_minute"),
        )
        if most is not None
    ]
    for needed, limit in minutes:
        if needed > 1:
            yield f"{spec.name}: takes about {needed:,.0f} minutes at most by {limit}"
    if options.server == "vllm":
        if early_stop:
            yield (
                f"{spec.name}: early_stop saves tokens only of questions with {MOST_STOPS} options "
                "or fewer: a request names no more stop strings; other replies are cut when they "
                "come"
            )
        return
    if options.seed:
        yield (
            f"{spec.name}: every replication is sent its own seed, but the server may ignore it: "
            "replications are independent draws, and asking again may give other replies"
        )
    else:
        yield (
            f"{spec.name}: no seeds are sent, so all replications of a question are the same "
            "request: a server that caches replies would repeat one, which looks like agreement"
        )
    if early_stop:
        yield (
            f"{spec.name}: early_stop saves no tokens here: only vLLM servers return the verdict "
            "at which they stop, so whole replies are generated and cut on arrival"
        )
    yield (
        f"{spec.name}: what serves {spec.model!r} can change behind its name; the manifest keeps "
        "what the server says of itself"
    )
