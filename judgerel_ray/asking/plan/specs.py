"""Judges of a sweep file: their engines, and whether these can be asked what the sweep asks.

Simulated judges are held to the menus they are to judge, readers of probabilities to engines that
give them, and judges behind an API to what their server takes, with what that may cost.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from itertools import islice
from pathlib import Path
from urllib.parse import urlsplit

from judgerel_ray.config import AskTable, Judge, Limits, Prices, Sweep, check_shared_limits
from judgerel_ray.core import RequestRefused, SweepError
from judgerel_ray.design import AskFrame, build_wave, voices_of
from judgerel_ray.engines import EngineSpec, make_engine
from judgerel_ray.engines.catalog import gives_logprobs
from judgerel_ray.engines.openai.requests import MOST_STOPS, openai_options, provider_of
from judgerel_ray.engines.simulated.options import simulated_options
from judgerel_ray.engines.simulated.truth import option_log_weights
from judgerel_ray.engines.tokenization import template_file

_OF_JUDGE = tuple(one.name for one in fields(EngineSpec) if one.name in Judge.model_fields)
LOOPBACK = ("localhost", "127.0.0.1", "::1")


def engine_spec(sweep: Sweep, judge: Judge) -> EngineSpec:
    """A judge's engine with its paths made absolute.

    A model that exists as a folder is that folder; anything else is a hub id.
    """
    model = judge.model
    if judge.engine == "vllm":
        found = sweep.find(model)
        if is_local_folder(found) or model.startswith(("/", "./", "../", "~")):
            model = found
    template, provider = judge.chat_template, provider_of(judge.provider)
    base_url = judge.base_url or provider.base_url
    if judge.engine == "openai" and base_url is None:
        raise SweepError(
            f"provider {judge.provider} needs base_url, which is another one for each customer",
            where={"judge": judge.name},
            hint=f'base_url = "{provider.example}"',
        )
    stated = {name: getattr(judge, name) for name in _OF_JUDGE}
    stated |= {
        "model": model,
        "chat_template": sweep.find(template) if isinstance(template, str) else template,
        "base_url": base_url,
        "api_key_env": judge.api_key_env or _providers_key(judge),
    }
    spec = EngineSpec(**stated)
    if isinstance(spec.chat_template, str):
        template_file(spec)
    # Makes nothing heavy, and refuses now what would otherwise stop an actor on its node.
    make_engine(replace(spec, executor="mp") if spec.gpus > 1 else spec)
    return spec


def _providers_key(judge: Judge) -> str | None:
    """The variable of a provider's key; no other server is sent it, and one here gets none."""
    known = provider_of(judge.provider)
    if known.api_key_env is None or known.base_url is None or judge.base_url is None:
        return known.api_key_env
    home, there = urlsplit(known.base_url), urlsplit(judge.base_url)
    if (home.scheme, home.netloc) == (there.scheme, there.netloc.lower()):
        return known.api_key_env
    if there.hostname in LOOPBACK:
        return None
    raise SweepError(
        f"base_url is at {there.scheme}://{there.netloc}, not at provider {judge.provider}'s "
        f"{home.scheme}://{home.netloc}, and the key in {known.api_key_env} is for that server "
        "alone",
        where={"judge": judge.name},
        hint="api_key_env = the name of the variable with the key for base_url; for a server "
        'without keys engine = "openai" in place of provider',
    )


def is_local_folder(path: str) -> bool:
    """Whether a folder lies there.

    Examples
    --------
    >>> is_local_folder("/"), is_local_folder("s3://bucket")
    (True, False)
    """
    return "://" not in path and Path(path).is_dir()


def check_providers(specs: Iterable[EngineSpec]) -> None:
    """Refuse other limits of one provider, however its judges name it.

    Judges that write `base_url` and that of their provider by name have one server and key.
    """
    served = (spec for spec in specs if spec.engine == "openai")
    try:
        check_shared_limits(
            (one.name, (one.base_url, one.api_key_env), one.limits) for one in served
        )
    except ValueError as error:
        raise SweepError(str(error)) from None


MOST_CHECKED_ITEMS = 64
"""Items of an ask, the first ones; the engine itself looks at every menu."""


def check_simulated(spec: EngineSpec, frames: Sequence[AskFrame]) -> None:
    """Refuse a simulated judge whose distribution names no option of what it is asked.

    Menus of responders' answers are not known before these are; the engine checks those.
    """
    options = simulated_options(spec)
    for frame in frames:
        if frame.respond_waves or spec.name not in {one.name for one in voices_of(frame, 0)}:
            continue
        voice = next(one for one in voices_of(frame, 0) if one.name == spec.name)
        refused: list[str] = []
        n_menus = 0
        for work in islice(build_wave(frame, 0, voice, {}), MOST_CHECKED_ITEMS):
            menu = work.asks[0].condition.menu if work.asks else None
            if menu is None:
                continue
            n_menus += 1
            try:
                option_log_weights(spec.model, options, item_id=work.item_id, menu=menu)
            except RequestRefused as refusal:
                refused.append(refusal.problem.removeprefix("simulated: "))
        if refused and len(refused) == n_menus:
            raise SweepError(
                f"engine_options fit no menu of the ask: {refused[0]}",
                where={"judge": spec.name, "ask": frame.index},
            )


def check_probabilities(frames: Sequence[AskFrame], specs: Mapping[str, EngineSpec]) -> None:
    """Refuse probabilities that nobody gives or can read, which could only fail once asked."""
    for frame in frames:
        sampled = "verdict_logprobs" if frame.ask.verdict_logprobs else None
        needed = frame.protocol.reads_probabilities(frame.ask) or sampled
        if needed is None:
            continue
        for voice in frame.judges:
            of_prompts = needed != "verdict_logprobs"
            if not gives_logprobs(specs[voice.name], of_prompts=of_prompts):
                of = " of prompts" * (of_prompts and gives_logprobs(specs[voice.name]))
                raise SweepError(
                    f"{needed} reads log-probabilities{of}, the judge's engine gives none",
                    where={"ask": frame.index, "judge": voice.name},
                    hint="leave the judge out with judges = [...], or sample its replies: "
                    "protocol best_of, with replications",
                )
        if frame.ask.exact is not None and frame.ask.exact.draws and not frame.ask.top_k:
            raise SweepError(
                "exact.draws needs a top_k: with all tokens kept, engines list only the most "
                "probable, and no reply can be drawn from the others",
                where={"ask": frame.index},
                hint="top_k = 50, or draws = 0",
            )
        frame.protocol.check_options(frame)


def takes_top_k(spec: EngineSpec) -> bool:
    """Whether a judge can be asked to keep the most probable tokens alone.

    Examples
    --------
    >>> takes_top_k(EngineSpec(name="j", engine="openai", model="m", provider="groq"))
    False
    """
    return spec.engine != "openai" or openai_options(spec).top_k


def ask_as_taken(sweep: Sweep, index: int, specs: Mapping[str, EngineSpec]) -> AskTable:
    """An ask whose `top_k` is 0 where nobody wrote one and the API of one it asks has none.

    It is 0 for all whom it asks, so that they sample alike.
    """
    ask = sweep.ask[index]
    judges, writers = (
        [specs[judge.name] for judge in judges]
        for judges in (sweep.judges_of(index), sweep.responders_of(index))
    )
    if ask.kind.traits.models_answer:  # its models answer as its judges judge
        judges += writers
    changed: dict[str, object] = {}
    if "top_k" not in ask.model_fields_set and not all(map(takes_top_k, judges)):
        changed["top_k"] = 0
    respond = None if all(map(takes_top_k, writers)) else ask.respond
    if respond is not None and "top_k" not in respond.model_fields_set:
        changed["respond"] = respond.model_copy(update={"top_k": 0})
    return ask.model_copy(update=changed) if changed else ask


def check_served(frames: Sequence[AskFrame], specs: Mapping[str, EngineSpec]) -> None:
    """Refuse what a judge's server would silently ignore, or answer with an error."""
    for frame in frames:
        settings = ("", frame.ask.top_k, max(frame.ask.temperatures))
        asked = [(voice, *settings) for voice in frame.judges]
        if frame.respond is not None:
            writing = ("respond.", frame.respond.top_k, frame.respond.temperature)
            asked += [(voice, *writing) for voice in frame.responders]
        if frame.protocol.traits.models_answer:  # its models answer as its judges judge
            asked += [(voice, *settings) for voice in frame.responders]
        for voice, table, top_k, heat in asked:
            spec, where = specs[voice.name], {"ask": frame.index, "judge": voice.name}
            if top_k and not takes_top_k(spec):
                raise SweepError(
                    f"{table}top_k = {top_k} keeps the {top_k} most probable tokens, which "
                    "OpenAI's API has no word for: a server would ignore it or refuse",
                    where=where,
                    hint=f"{table}top_k = 0, which keeps all, or left out; or, where the server "
                    'takes it, engine_options = { server = "vllm" } or { top_k = true }',
                )
            if heat > (most := provider_of(spec.provider).hottest):
                raise SweepError(
                    f"{table}temperature must be at most {most:g} for provider {spec.provider}, "
                    f"which lowers a higher one silently, got {heat:g}",
                    where=where,
                )


def unset_keys(specs: Iterable[EngineSpec]) -> list[str]:
    """Say which judges' keys are not in the environment of this process.

    Examples
    --------
    >>> unset_keys([EngineSpec(name="j", engine="openai", model="m", api_key_env="NO_SUCH_KEY")])
    ['j: NO_SUCH_KEY, which holds its key, is not set here: export it where the judge is asked']
    """
    return [
        f"{spec.name}: {spec.api_key_env}, which holds its key, is not set here: export it where "
        "the judge is asked"
        for spec in specs
        if spec.api_key_env and not os.environ.get(spec.api_key_env, "").strip()
    ]


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
    """What a person should know of a judge behind an API, its money and its time before all."""
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
