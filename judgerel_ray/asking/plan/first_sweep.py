"""A first sweep for a file of items: the protocol that fits them, in a file with comments."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from judgerel_ray.asking.plan.answers import REPLICATIONS
from judgerel_ray.asking.plan.planning import Plan, plan_resolved
from judgerel_ray.asking.plan.resolve import resolve
from judgerel_ray.benchmarks import REFERENCE, read_items
from judgerel_ray.benchmarks.log import LOG, is_logged
from judgerel_ray.benchmarks.source import iterate_records, list_names, stem
from judgerel_ray.config import parse_sweep
from judgerel_ray.core import Item, SweepError, count_of
from judgerel_ray.engines.openai.requests import provider_of
from judgerel_ray.protocols import shipped_criteria

FIRST_MODEL = "gpt-4o-mini"
"""Model of provider openai where none is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstSweep:
    """The text of a first sweep, what it is of in a few words, and its plan."""

    text: str
    summary: str
    plan: Plan


def first_sweep(path: str, *, out: str, provider: str, model: str | None) -> FirstSweep:
    """Look at a file of items, and write the text of a sweep that asks a judge about them.

    Effects: reads the items, twice. Retry: safe.

    Raises
    ------
    SweepError
        If the items cannot be read, or hold no answer that could be judged.
    """
    if model is None and provider != "openai":
        raise SweepError(f"provider {provider} needs a model's name there", hint="--model NAME")
    name = re.sub(r"[^A-Za-z0-9._:+-]+", "-", stem(path)).strip("._:+-") or "items"
    columns = next(iterate_records(path)).fields
    plain = {"item_id", "question"} <= columns.keys() and not is_logged(columns)
    benchmark = name if plain else LOG
    items = read_items(benchmark, path, gold_is=REFERENCE).items
    fitting = _fitting(items, path, columns)
    folder = "" if "://" in out else os.path.dirname(os.path.abspath(out))
    place = path if "://" in path else os.path.relpath(path, folder or ".")
    ask = {
        "protocol": fitting.protocol,
        "benchmark": benchmark,
        "path": place.replace(os.sep, "/"),
        **fitting.keys,
        "replications": REPLICATIONS,
    }
    body = "\n".join(
        [
            f"name = {json.dumps(name)}",
            "",
            *_judge(provider, model or FIRST_MODEL),
            "",
            "[[ask]]",
            *_lines(ask, {**COMMENTS, **fitting.comments}),
            *fitting.more,
        ]
    )
    plan = plan_resolved(resolve(parse_sweep(body, source=out, folder=folder)))
    [judge] = plan.judges
    what = f"{count_of(len(items), 'item')} {fitting.what}"
    head = [
        f"# A first sweep about {os.path.basename(path)}: {what}.",
        f"# It asks {plan.requests:,} requests: about {judge.prompt:,} tokens of prompts and at "
        f"most {judge.generated_at_most:,} of replies.",
        f"#   judgerel plan {out}: what it asks and costs, what that will show and what not",
        f"#   judgerel run {out} --out run: asks it; again, it goes on where it stopped",
        "#   judgerel reduce run: how far the judge can be trusted",
    ]
    return FirstSweep(text="\n".join([*head, body, ""]), summary=f"{fitting.protocol}: {what}",
                      plan=plan)  # fmt: skip


COMMENTS = {
    "best_of": "which answer is best",
    "correctness": "whether the answer agrees with the reference",
    "rating": "how good each answer is",
    "option_orders": "each pair in both orders: shows a judge that goes by the place",
    "replications": "the same prompt so often: shows how far the judge repeats itself",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fitting:
    """The protocol that fits items, its keys, and lines that a reader may want instead."""

    protocol: str
    what: str
    keys: Mapping[str, object] = field(default_factory=dict)
    comments: Mapping[str, str] = field(default_factory=dict)
    more: Sequence[str] = ()


def _fitting(items: Sequence[Item], path: str, columns: Mapping[str, object]) -> _Fitting:
    """Which protocol fits items, by how many answers each has, and whether people judged them."""
    fewest, most = (edge(len(item.options) for item in items) for edge in (min, max))
    rated = [rating for item in items for rating in item.ratings]
    gold = sum(item.gold is not None for item in items)
    if not fewest:
        bare = next(item for item in items if not item.options)
        raise SweepError(
            "there is no answer to judge",
            where={"file": path, "item": bare.item_id, "columns": list_names(columns)},
            hint="add columns option_a and option_b (which is better?) or answer (is it good?)",
        )
    wording = '# templates = ["default", "paraphrase"]   # other words, too: twice the requests'
    if fewest > 1 and (gold or not rated):
        return _Fitting(
            protocol="best_of",
            what=f"with {_counted(fewest, most)} answers each, {gold:,} of them with gold",
            keys={"option_orders": 2},
            more=[wording],
        )
    answers = "one answer" if most == 1 else f"{_counted(fewest, most)} answers"
    if most == 1 and gold == len(items) and not rated:
        return _Fitting(
            protocol="correctness",
            what="with one answer and a reference each",
            more=['# To have it rated instead: protocol = "rating", criteria = ["helpfulness"].'],
        )
    named = {one.criterion for one in rated} & set(shipped_criteria())
    people = f", {len(rated):,} ratings by people" if rated else ""
    return _Fitting(
        protocol="rating",
        what=f"with {answers} each{people}",
        keys={"criteria": sorted(filter(None, named)) or ["helpfulness"], "scales": ["points5"]},
        comments={
            "criteria": f"of {', '.join(shipped_criteria())}, or a file",
            "scales": "1 to 5; binary is pass or fail",
        },
        more=[wording],
    )


def _counted(fewest: int, most: int) -> str:
    """A number, or from how many to how many."""
    return f"{fewest}" if fewest == most else f"{fewest} to {most}"


def _judge(provider: str, model: str) -> list[str]:
    """The judge's table, and what may be said in it."""
    known = provider_of(provider)
    place = {} if known.base_url else {"base_url": known.example}
    comments = {"provider": "or anthropic, azure, groq, ollama, openrouter, together, vllm"}
    lines = ["[[judge]]", *_lines({"provider": provider, "model": model, **place}, comments)]
    if known.api_key_env:
        lines.append(f"# {known.api_key_env} holds its key, which is never written here.")
    return [
        *lines,
        "# prices = { prompt = 0.0, completion = 0.0 }   # money for a million tokens: the cost",
        '# To try it without a judge: name = "nobody", engine = "simulated", model = "uniform".',
    ]


def _lines(keys: Mapping[str, object], comments: Mapping[str, str]) -> list[str]:
    """Keys of a table, what they mean beside them."""
    lines = []
    for key, value in keys.items():
        line = f"{key} = {json.dumps(value, ensure_ascii=False)}"
        comment = comments.get(str(value) if key == "protocol" else key, "")
        lines.append(f"{line:<28} # {comment}" if comment else line)
    return lines
