"""``rejudge`` and ``replay``: read landed texts again, or ask landed requests once more.

``rejudge`` asks nothing. ``replay`` asks landed requests in isolation, one at a time on engines of
this process, and compares: what then differs differs by serving (batches, kernels, a provider's
servers), for prompt, parameters and seed are those that landed.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from io import BytesIO

import polars as pl

from judgerel_ray.asking.plan.identity import digest_of_items
from judgerel_ray.asking.plan.resolve import Resolved, resolve
from judgerel_ray.asking.run.opening import known_judges, refuse_live, stored_sweep
from judgerel_ray.asking.run.pending import landed_texts
from judgerel_ray.asking.run.running import lay_out
from judgerel_ray.asking.tables import ReplayedRequests
from judgerel_ray.benchmarks import sample_items
from judgerel_ray.config import AskTable, Sweep, parse_sweep, read_sweep
from judgerel_ray.core import Ask, Completion, Condition, Item, StoreError, SweepError, request_key
from judgerel_ray.design import Voice, planned_asks
from judgerel_ray.engines import EngineSpec, make_engine
from judgerel_ray.fleet.landing import read_by_condition, without_thought
from judgerel_ray.protocols import READER_VERSION
from judgerel_ray.protocols.ask import Sample
from judgerel_ray.stats import clopper_pearson
from judgerel_ray.store import (
    CommitRecord,
    RunDirectory,
    read_ledger,
    read_manifest,
    reading,
    scan_completions,
    scan_judgments,
)
from judgerel_ray.store.digests import UNREADABLE, sha256
from judgerel_ray.store.generations import (
    Generation,
    land_generation,
    note_generation,
    parse_generation,
)
from judgerel_ray.store.ledger import Ledger, build_ledger, look_at_commits
from judgerel_ray.store.parts import expected_keys
from judgerel_ray.store.records import requests_in
from judgerel_ray.tables import frame_to_items

READER = "judgerel_ray"
READ = ("verdict", "label", "score", "confidence", "outcome")
"""Columns of judgments that are read in a text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejudged:
    """What reading the texts again changed.

    Attributes
    ----------
    generation : Generation
        The readings that were written, with their number.
    rows, changed : mapping of str to int
        By judge, its judgments, and those of them that are others now.
    """

    generation: Generation
    rows: Mapping[str, int]
    changed: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class RejudgedRun:
    """A run, what it asked, and every condition that landed."""

    run: RunDirectory
    resolved: Resolved
    ledger: Ledger
    conditions: Mapping[str, Condition]


def open_landed(url: str, sweep: str | None) -> RejudgedRun:
    """Open a run with the conditions that it asked, as they landed."""
    run = RunDirectory.open(url)
    refuse_live(run)
    asked = parse_sweep(run.read_text("sweep.toml")) if sweep is None else read_sweep(sweep)
    readers = [_readers_of_asks(one) for one in (stored_sweep(run) or asked, asked)]
    if readers[0] != readers[1]:  # no part of a key, and what lands later is read by the run's own
        raise StoreError(
            f"the run reads replies by {readers[0]}, ask by ask, and the sweep by {readers[1]}",
            where={"run": run.url},
            hint="--sweep with the file as it was run",
        )
    resolved = _sweep_as_run_began(
        run, resolve(asked, known=known_judges(url), kept=_kept_items(run))
    )
    look = look_at_commits(run, as_landed=True)
    # A torn generation hides nothing here: texts are read as they landed.
    broken = [name for name in look.broken if parse_generation(name) is None]
    if broken:
        raise StoreError(
            f"a record of what landed is torn, altered or gone: {broken[0]}",
            where={"run": run.url},
            hint=f"judgerel verify {run.url} names all; judgerel run asks their rows again",
        )
    ledger = build_ledger(look.session.number if look.session else 0, look.commits, run=run)
    conditions = _rejudged_run_conditions(resolved, landed_texts(run, ledger), ledger)
    lacking = ledger.landed.keys() - conditions.keys()
    if lacking:
        raise StoreError(
            f"{len(lacking):,} of {len(ledger.landed):,} prompts that landed are not what the "
            "sweep asks, as this code reads it",
            where={"run": run.url},
            hint="--sweep with the file as it was run, and items and templates as they were",
        )
    return RejudgedRun(run=run, resolved=resolved, ledger=ledger, conditions=conditions)


def rejudge_run(url: str, *, sweep: str | None = None) -> Rejudged:
    """Read all texts of a run again, into a new generation of judgments.

    Notes
    -----
    Effects: files of judgments that differ, one record in commits/, the manifest, and tables made
    of judgments. Retry: safe.
    """
    landed = open_landed(url, sweep)
    run = landed.run
    rows: dict[str, int] = {}
    changed: dict[str, int] = {}

    def differing() -> Iterator[tuple[CommitRecord, pl.DataFrame]]:
        for commit in landed.ledger.commits:
            before = _whole_rejudged_file(run, commit.data_file, commit.data_sha256)
            texts = _whole_rejudged_file(run, commit.texts_file, commit.texts_sha256)
            after = _read_again(before, texts, commit, landed.conditions)
            read = (frame.select(READ).rows() for frame in (before, after))
            n_changed = sum(a != b for a, b in zip(*read, strict=True))
            rows[commit.judge] = rows.get(commit.judge, 0) + before.height
            changed[commit.judge] = changed.get(commit.judge, 0) + n_changed
            if n_changed:
                yield commit, after

    numbers = [number for name in run.names("commits") if (number := parse_generation(name))]
    made = land_generation(
        run,
        differing(),
        number=max(numbers, default=0) + 1,
        reader=READER,
        version=READER_VERSION,
    )
    if made is None:
        raise StoreError(
            "the run was read again by another process meanwhile",
            where={"run": run.url},
            hint="judgerel rejudge once more, if that was another version",
        )
    note_generation(run, made)
    lay_out(landed.resolved, run, read_ledger(run))
    # By name: commits come in the order of their random names.
    return Rejudged(
        generation=made, rows=dict(sorted(rows.items())), changed=dict(sorted(changed.items()))
    )


def _readers_of_asks(sweep: Sweep) -> str:
    """By which of several verdicts in a reply each ask reads it."""
    return ", ".join(str(one.model_dump().get("reader", "none")) for one in sweep.ask)


def _kept_items(run: RunDirectory) -> Callable[[AskTable], tuple[Item, ...] | None]:
    """The items that an ask of a run was about, by the run's copy: their file may hold others now.

    None where the copy does not have them, by the digest that the run was begun with.
    """
    stated = read_manifest(run).get("sweep")
    asks = stated.get("ask") if isinstance(stated, Mapping) else None
    digests = {one.get("items") for one in asks or () if isinstance(one, Mapping)}
    try:
        stored = frame_to_items(pl.read_parquet(BytesIO(run.read_bytes("items.parquet"))))
    except (*UNREADABLE, StoreError):
        stored = ()

    @cache
    def kept(benchmark: str, draw: Sample | None) -> tuple[Item, ...] | None:
        # Of one set every ask is about all; of several the benchmark tells, and what is drawn.
        is_one = len(digests) == 1
        every = tuple(one for one in stored if is_one or one.benchmark == benchmark)
        if draw is not None and every:
            every = sample_items(every, **draw.model_dump())
        return every if digest_of_items(every) in digests else None

    return lambda ask: kept(ask.benchmark, ask.sample)


def _sweep_as_run_began(run: RunDirectory, resolved: Resolved) -> Resolved:
    """The sweep with the judges that the run asked: this machine may lack their engine."""
    prints = read_manifest(run).get("fingerprints")
    known = prints if isinstance(prints, Mapping) else {}

    def begun(voices: tuple[Voice, ...]) -> tuple[Voice, ...]:
        return tuple(
            replace(one, fingerprint=known.get(one.name, one.fingerprint)) for one in voices
        )

    frames = tuple(
        replace(frame, judges=begun(frame.judges), responders=begun(frame.responders))
        for frame in resolved.frames
    )
    return replace(resolved, frames=frames)


def _rejudged_run_conditions(
    resolved: Resolved, texts: Mapping[str, str | None], ledger: Ledger
) -> dict[str, Condition]:
    """Every condition that landed, by its key."""
    conditions = (ask.condition for ask in planned_asks(resolved.frames, texts))
    return {one.condition_key: one for one in conditions if one.condition_key in ledger.landed}


def _whole_rejudged_file(run: RunDirectory, name: str, digest: str) -> pl.DataFrame:
    """A file that landed, or StoreError where its bytes are others."""
    data = run.files.find(name)
    if data is None or sha256(data) != digest:
        raise StoreError(
            f"a file that landed is {'gone' if data is None else 'altered'}",
            where={"path": run.address(name)},
            hint="judgerel run asks its rows again",
        )
    return pl.read_parquet(BytesIO(data))


def _read_again(
    before: pl.DataFrame,
    texts: pl.DataFrame,
    commit: CommitRecord,
    conditions: Mapping[str, Condition],
) -> pl.DataFrame:
    """Judgments of a commit, as their texts are read now."""
    asked = {request_key(key, n): conditions[key] for key, n in requests_in(commit.conditions)}
    before = before.cast({"judge": pl.String})  # a category in parts
    text_of = dict(texts.select("key", "text").iter_rows())
    read = [
        read_by_condition(asked[key], text_of[key], reason or "")._asdict()
        for key, reason in before.select("key", "finish_reason").iter_rows()
    ]
    schema = {name: before.schema[name] for name in READ}
    return before.with_columns(pl.DataFrame(read, schema=schema))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Replayed:
    """Requests asked again, and the share that differ with its 95 % interval.

    Attributes
    ----------
    rows : pl.DataFrame
        One row a request: what landed, and what came back now.
    n, n_differing : int
        Requests asked again, and those whose reply differs.
    share : float
        The one by the other.
    low, high : float or None
        Clopper-Pearson limits of the share of all landed requests that differ; None where one
        request was named and not drawn.
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

    Notes
    -----
    Effects: starts the judge's engine here; the run is not changed. Retry: safe.
    """
    if (key is None) == (sample is None):
        raise SweepError("replay needs either KEY or --all SAMPLE")
    if sample is not None and sample < 1:
        raise SweepError(f"--all must be at least 1, got {sample}")
    landed = open_landed(url, sweep)
    there = _replayed_request_replies(landed)
    if key is not None and key not in there["key"]:
        raise SweepError(
            f"no reply landed under key {key!r}",
            where={"run": url},
            hint="a key of the judgments table whose request has a text",
        )
    keys = there["key"].to_list()
    drawn = [key] if key else random.Random(seed).sample(keys, min(sample or 1, len(keys)))
    rows = there.filter(pl.col("key").is_in(drawn)).sort("judge", "key")
    asks = _asks_to_replay(landed, set(drawn))
    done: list[Completion] = []
    for (judge,), of_judge in rows.group_by("judge", maintain_order=True):
        spec = _replayed_run_engine(landed, str(judge))
        done += asyncio.run(_ask_alone(spec, [asks[one] for one in of_judge["key"]]))
    compared = _compared_replayed_requests(rows, done)
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


def _replayed_request_replies(landed: RejudgedRun) -> pl.DataFrame:
    """Requests that have a reply, with it; probabilities that were read have none."""
    scored = (key for key, one in landed.conditions.items() if one.scoring is not None)
    unasked = expected_keys({key: landed.ledger.landed[key] for key in scored})
    ledger = read_ledger(landed.run)
    columns = ("key", "judge", "item_id", "temperature", "replication", "completion_tokens")
    with reading(landed.run.url):
        judged = scan_judgments(landed.run, columns=columns, ledger=ledger)
        texts = scan_completions(landed.run, columns=("key", "text", "thought"), ledger=ledger)
        written = texts.select("key", text=pl.col("thought").fill_null("") + pl.col("text"))
        found = judged.join(written, on="key").filter(pl.col("text").is_not_null()).collect()
    found = found.filter(~pl.col("key").is_in(unasked)).sort("key")
    if found.is_empty():
        raise SweepError("no reply has landed that could be replayed")
    return found


def _asks_to_replay(landed: RejudgedRun, keys: set[str]) -> Mapping[str, Ask]:
    """The requests of these keys."""
    return {
        key: Ask(condition=landed.conditions[name], first=replication, n=1)
        for name, replication in requests_in(landed.ledger.landed)
        if name in landed.conditions and (key := request_key(name, replication)) in keys
    }


def _replayed_run_engine(landed: RejudgedRun, judge: str) -> EngineSpec:
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
    try:
        await engine.start()
        return [
            without_thought(one, ask.condition)
            for ask in asks
            for one in await engine.complete(engine.prepare(ask.condition), ask)
        ]
    finally:
        await engine.stop()


def _compared_replayed_requests(rows: pl.DataFrame, done: Iterable[Completion]) -> pl.DataFrame:
    """Landed and replayed side by side."""
    texts = {
        one.key: (one.text and (one.thought or "") + one.text, one.completion_tokens)
        for one in done
    }
    found = []
    for row in rows.iter_rows(named=True):
        text, tokens = texts[row["key"]]
        known = row["completion_tokens"]
        differs_by_tokens = None not in (known, tokens) and known != tokens
        found.append(
            {
                **{name: row[name] for name in ReplayedRequests.columns if name in row},
                "same": text == row["text"] and not differs_by_tokens,
                "first_difference": first_difference(row["text"], text),
                "landed_tokens": known,
                "replayed_tokens": tokens,
                "landed_text": row["text"],
                "replayed_text": text,
            }
        )
    return ReplayedRequests.frame(found)


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
