"""``replay``: landed requests asked again in isolation, and compared with what landed.

One request at a time, on an engine of this process: what then differs differs by serving (batches,
kernels, a provider's servers), for prompt, parameters and seed are those that landed.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import polars as pl

from judgerel_ray.asking.run.rejudging import Landed, open_landed
from judgerel_ray.core import Ask, Completion, SweepError, request_key
from judgerel_ray.engines import EngineSpec, make_engine
from judgerel_ray.fleet.limiting import share_limits
from judgerel_ray.stats import clopper_pearson
from judgerel_ray.store import read_ledger, reading, scan_completions, scan_judgments

COLUMNS = {
    "key": pl.String,
    "judge": pl.String,
    "item_id": pl.String,
    "temperature": pl.Float64,
    "replication": pl.Int32,
    "same": pl.Boolean,
    "first_difference": pl.Int64,
    "landed_tokens": pl.Int32,
    "replayed_tokens": pl.Int32,
    "landed_text": pl.String,
    "replayed_text": pl.String,
}
"""Of what is replayed; ``first_difference`` is the first character that differs, from 0."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Replayed:
    """Requests asked again, and the share that differ with its 95 % interval.

    ``rows`` has one row a request; ``low`` and ``high`` are Clopper-Pearson limits of the share of
    all landed requests that differ, None where one request was named and not drawn.
    """

    rows: pl.DataFrame
    n: int
    n_differing: int
    share: float
    low: float | None
    high: float | None


def replay_run(
    url: str,
    *,
    key: str | None = None,
    sample: int | None = None,
    seed: int = 0,
    sweep: str | None = None,
) -> Replayed:
    """Ask landed requests again, each alone, and compare texts and numbers of tokens.

    Parameters
    ----------
    url : str
        The run directory.
    key : str or None
        The request; else a `sample` of all that have a reply is drawn with `seed`.
    sample : int or None
        How many are drawn, without replacement.
    seed : int
        Of the draw.
    sweep : str or None
        As of :func:`judgerel_ray.asking.run.rejudging.open_landed`.

    Raises
    ------
    StoreError, SweepError
        As of :func:`judgerel_ray.asking.run.rejudging.open_landed`; or if the key has no reply, or
        a judge is another one on this machine.
    EngineError
        If an engine does not come up, or does not answer.

    Notes
    -----
    Effects: starts the judge's engine here; the run is not changed. Retry: safe.
    """
    if (key is None) == (sample is None):
        raise SweepError("replay needs either KEY or --all SAMPLE")
    if sample is not None and sample < 1:
        raise SweepError(f"--all must be at least 1, got {sample}")
    landed = open_landed(url, sweep)
    there = _replies(landed)
    if key is not None and key not in there["key"]:
        raise SweepError(
            f"no reply landed under key {key!r}",
            where={"run": url},
            hint="a key of the judgments table whose request has a text",
        )
    drawn = [key] if key is not None else _draw(there["key"], sample or 1, seed)
    rows = there.filter(pl.col("key").is_in(drawn)).sort("judge", "key")
    asks = _asks(landed, set(drawn))
    done: list[Completion] = []
    for (judge,), of_judge in rows.group_by("judge", maintain_order=True):
        spec = _spec(landed, str(judge))
        done += asyncio.run(_ask_alone(spec, [asks[one] for one in of_judge["key"]]))
    compared = _compared(rows, done)
    n, n_differing = compared.height, int((~compared["same"]).sum())
    limits = None if key is not None else clopper_pearson(n_differing, n)
    return Replayed(
        rows=compared,
        n=n,
        n_differing=n_differing,
        share=n_differing / n,
        low=None if limits is None else limits.low,
        high=None if limits is None else limits.high,
    )


def _replies(landed: Landed) -> pl.DataFrame:
    """Requests that have a reply, with it; probabilities that were read have none."""
    scored = {key for key, one in landed.conditions.items() if one.scoring is not None}
    unasked = [
        request_key(key, replication)
        for key in scored
        for first, n in landed.ledger.landed[key]
        for replication in range(first, first + n)
    ]
    ledger = read_ledger(landed.run)
    columns = ("key", "judge", "item_id", "temperature", "replication", "completion_tokens")
    with reading(landed.run.url):
        judged = scan_judgments(landed.run, columns=columns, ledger=ledger)
        texts = scan_completions(landed.run, columns=("key", "text"), ledger=ledger)
        found = judged.join(texts, on="key").filter(pl.col("text").is_not_null()).collect()
    found = found.filter(~pl.col("key").is_in(unasked)).sort("key")
    if found.is_empty():
        raise SweepError("no reply has landed that could be replayed")
    return found


def _draw(keys: Iterable[str], n: int, seed: int) -> list[str]:
    """So many keys, or all that there are."""
    ordered = list(keys)
    return random.Random(seed).sample(ordered, min(n, len(ordered)))


def _asks(landed: Landed, keys: set[str]) -> Mapping[str, Ask]:
    """The requests of these keys."""
    return {
        key: Ask(condition=condition, first=replication, n=1)
        for name, condition in landed.conditions.items()
        for first, n in landed.ledger.landed[name]
        for replication in range(first, first + n)
        if (key := request_key(name, replication)) in keys
    }


def _spec(landed: Landed, judge: str) -> EngineSpec:
    """A judge's engine, refused where it would be another judge here."""
    spec, resolved = landed.resolved.pinned_spec(judge), landed.resolved
    begun = {
        voice.name: voice.fingerprint
        for f in resolved.frames
        for voice in (*f.judges, *f.responders)
    }
    if begun.get(judge) != resolved.fingerprints[judge].digest:
        raise SweepError(
            f"judge {judge} is another one on this machine: expected fingerprint "
            f"{begun.get(judge)}, got {resolved.fingerprints[judge].digest}",
            where={"run": landed.run.url},
            hint="the same model files and engine as the run had",
        )
    return replace(spec, executor="mp") if spec.gpus > 1 else spec


async def _ask_alone(spec: EngineSpec, asks: Iterable[Ask]) -> list[Completion]:
    """Ask one request after the other, with nothing beside it."""
    engine = make_engine(spec)
    share_limits(engine, None)
    try:
        await engine.start()
        return [
            one for ask in asks for one in await engine.complete(engine.prepare(ask.condition), ask)
        ]
    finally:
        await engine.stop()


def _compared(rows: pl.DataFrame, done: Iterable[Completion]) -> pl.DataFrame:
    """Landed and replayed side by side."""
    texts = {one.key: (one.text, one.completion_tokens) for one in done}
    found = []
    for row in rows.iter_rows(named=True):
        text, tokens = texts[row["key"]]
        known = row["completion_tokens"]
        differs_by_tokens = None not in (known, tokens) and known != tokens
        found.append(
            {
                **{name: row[name] for name in COLUMNS if name in row},
                "same": text == row["text"] and not differs_by_tokens,
                "first_difference": first_difference(row["text"], text),
                "landed_tokens": known,
                "replayed_tokens": tokens,
                "landed_text": row["text"],
                "replayed_text": text,
            }
        )
    return pl.DataFrame(found, schema=COLUMNS)


def first_difference(one: str, other: str | None) -> int | None:
    """Index of the first character that differs; None where none does.

    Examples
    --------
    >>> first_difference("[[A]]", "[[B]]"), first_difference("A", "A"), first_difference("A", "AB")
    (2, None, 1)
    """
    if other is None:
        return 0
    if one == other:
        return None
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
