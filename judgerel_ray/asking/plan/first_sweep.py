"""A first sweep for a file of items: the protocol that fits them, in a file with comments."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence

from judgerel_ray.asking.plan.answers import REPLICATIONS
from judgerel_ray.asking.plan.planning import Plan, plan_resolved
from judgerel_ray.asking.plan.resolve import resolve
from judgerel_ray.benchmarks import REFERENCE, read_items
from judgerel_ray.benchmarks.log import LOG, is_logged, unread_columns
from judgerel_ray.benchmarks.source import iterate_records, list_names, stem
from judgerel_ray.config import parse_sweep
from judgerel_ray.core import Item, SweepError, count_of
from judgerel_ray.engines.openai.requests import provider_of
from judgerel_ray.protocols import shipped_criteria

FIRST_MODEL = "gpt-4o-mini"
"""Model of provider openai where none is named."""
_WORDING = '# templates = ["default", "paraphrase"]   # other words, too: twice the requests'
_COMMENTS = {
    "provider": "or anthropic, azure, groq, ollama, openrouter, together, vllm",
    "protocol best_of": "which answer is best",
    "protocol correctness": "whether the answer agrees with the reference",
    "protocol rating": "how good each answer is",
    "option_orders": "each pair in both orders: shows a judge that goes by position",
    "criteria": f"of {', '.join(shipped_criteria())}, or a file",
    "scales": "1 to 5; binary is pass or fail",
    f"benchmark {LOG}": "the reader of files that name prompts and answers in their own words",
    "replications": "the same prompt so often: shows how far the judge repeats itself",
}


def first_sweep(path: str, *, out: str, provider: str, model: str | None) -> tuple[str, str, Plan]:
    """Look at a file of items; the text of a sweep of them, what it is of, and its plan.

    Effects: reads the items, twice. Retry: safe.

    Raises
    ------
    SweepError
        If the items cannot be read, or hold no answer that could be judged.
    """
    if model is None and provider != "openai":
        raise SweepError(f"provider {provider} needs a model's name there", hint="--model NAME")
    name = re.sub(r"[^A-Za-z0-9._:+-]+", "-", stem(path)).strip("._:+-") or "items"
    columns = next(iterate_records(path)).fields.keys()
    plain = {"item_id", "question"} <= columns and not is_logged(columns)
    benchmark = name if plain else LOG
    items = read_items(benchmark, path, gold_is=REFERENCE).items
    if bare := next((item for item in items if not item.options), None):
        raise SweepError(
            "there is no answer to judge",
            where={"file": path, "item": bare.item_id, "columns": list_names(columns)},
            hint="add columns option_a and option_b (which is better?) or answer (is it good?)",
        )
    protocol, what, keys, more = _first_sweep_protocol(items)
    folder = "" if "://" in out else os.path.dirname(os.path.abspath(out))
    place = path if "://" in path else os.path.relpath(path, folder or ".")
    ask = {"protocol": protocol, "benchmark": benchmark, "path": place.replace(os.sep, "/")}
    lines = [
        f"name = {json.dumps(name)}",
        "",
        *_first_sweep_judge_lines(provider, model or FIRST_MODEL),
        "",
    ]
    lines += [
        "[[ask]]",
        *_first_sweep_key_lines({**ask, **keys, "replications": REPLICATIONS}),
        more,
        "",
    ]
    body = "\n".join(lines)
    plan = plan_resolved(resolve(parse_sweep(body, source=out, folder=folder)))
    [judge] = plan.judges
    unread = [] if plain else unread_columns(columns)
    of = f"{count_of(len(items), 'item')} {what}"
    of += f"; not read: {list_names(unread)}" if unread else ""
    head = f"""\
# A first sweep about {os.path.basename(path)}: {of}.
# It asks {plan.requests:,} requests: about {judge.prompt:,} tokens of prompts and at most \
{judge.generated_at_most:,} of replies.
#   judgerel plan {out}: what it asks and costs, what that will show and what not
#   judgerel run {out} --out run: asks it; again, it goes on where it stopped
#   judgerel reduce run: how far the judge can be trusted
"""
    return f"{head}{body}", f"{protocol}: {of}", plan


def _first_sweep_protocol(items: Sequence[Item]) -> tuple[str, str, dict[str, object], str]:
    """The protocol that fits items, what they have, its keys, and a line a reader may want."""
    sizes = sorted({len(item.options) for item in items})
    answers = f"{sizes[0]} to {sizes[-1]} answers" if len(sizes) > 1 else f"{sizes[0]} answers"
    answers = "one answer" if sizes == [1] else answers
    rated = [rating for item in items for rating in item.ratings]
    gold = sum(item.gold is not None for item in items)
    if sizes[0] > 1 and (gold or not rated):
        what = f"with {answers} each, {gold:,} of them with a known right one"
        return "best_of", what, {"option_orders": 2}, _WORDING
    if sizes == [1] and gold == len(items) and not rated:
        other = '# To have it rated instead: protocol = "rating", criteria = ["helpfulness"].'
        return "correctness", f"with {answers} and a reference each", {}, other
    named = {one.criterion for one in rated} & set(shipped_criteria())
    criteria = sorted(filter(None, named)) or ["helpfulness"]
    people = f", {len(rated):,} ratings by people" if rated else ""
    keys: dict[str, object] = {"criteria": criteria, "scales": ["points5"]}
    return "rating", f"with {answers} each{people}", keys, _WORDING


def _first_sweep_judge_lines(provider: str, model: str) -> list[str]:
    """The judge's table, and what may be said in it."""
    known = provider_of(provider)
    place = {} if known.base_url else {"base_url": known.example}
    lines = ["[[judge]]", *_first_sweep_key_lines({"provider": provider, "model": model, **place})]
    if known.api_key_env:
        lines.append(f"# {known.api_key_env} holds its key, which is never written here.")
    return [
        *lines,
        "# prices = { prompt = 0.0, completion = 0.0 }   # money for a million tokens: the cost",
        '# To try it without a judge: name = "nobody", engine = "simulated", model = "uniform".',
    ]


def _first_sweep_key_lines(keys: Mapping[str, object]) -> list[str]:
    """Keys of a table, what they mean beside them."""
    lines = []
    for key, value in keys.items():
        line = f"{key} = {json.dumps(value, ensure_ascii=False)}"
        comment = _COMMENTS.get(key) or _COMMENTS.get(f"{key} {value}")
        lines.append(f"{line:<28} # {comment}" if comment else line)
    return lines
