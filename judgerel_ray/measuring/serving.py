"""Serving noise: how often a greedy judge, asked the same again, answers otherwise.

Shape suffixes: U = units, V = distinct values.

Of one run, and between two: how often one request, asked in both, got another reply. Requests with
the same key have the same seed, so a server that repeats itself returns the same text, at any
temperature. Where engines differ in what is part of a judge (its precision, its version) keys and
seeds differ, too: then only temperature 0 is compared, prompt by prompt, as sampling would differ
by chance.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgerel_ray.blocks.words import estimator_words, group_columns
from judgerel_ray.core import FileGone, StoreError, SweepError
from judgerel_ray.core.codes import Flag
from judgerel_ray.core.traits import protocols_where
from judgerel_ray.counting.columns import FACETS, is_judge, outcome_column
from judgerel_ray.counting.groups.grouping import TEMPERATURE, BlockChoice, varying_facets
from judgerel_ray.counting.verdicts.policy import (
    FAILED,
    Row,
    flag_columns,
    method_columns,
    value_of,
)
from judgerel_ray.measuring.tables import Coefficients, RequestsDiffering
from judgerel_ray.stats.intervals.differing import Differing, differing_replies, differing_requests

if TYPE_CHECKING:
    from judgerel_ray.counting.snapshot import Snapshot
    from judgerel_ray.store import RunDirectory

# Of an engine's facts: what may change how numbers round, and what a reader knows engines by.
FACTS = (
    "engine_version", "device", "device_name", "dtype", "attention_backend", "batch_invariant",
    "max_num_seqs", "max_num_batched_tokens", "chunked_prefill", "prefix_caching", "block_size",
    "backends",
)  # fmt: skip
# Of a judge's fingerprint: its weights and what it is shown, without which it is another judge.
SERVER_COLUMNS = ("engine", "model", "quantization", "chat_template")
# Of an ask: how much of it is asked, not what.
AMOUNTS = ("temperatures", "replications", "repeat_greedy", "early_stop", "judges")


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedRequests:
    """Requests that two runs share."""

    rows: pl.DataFrame  # From `shared_requests`.
    # What differs between the engines of each judge, as `name: a's, b's`; empty where nothing that
    # is recorded does.
    settings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def serving_of(
    judged: Snapshot, coefficients: pl.DataFrame, *, block: BlockChoice = 0
) -> pl.DataFrame:
    """Serving noise of the groups that coefficients have; no rows where there is none to see.

    Texts are read only where temperature 0 was asked more than once. Where they are gone, verdicts
    are compared alone; where they are damaged, nothing is.

    Effects: reads. Retry: safe.
    """
    groups = group_columns(coefficients)
    if TEMPERATURE not in judged.frame.collect_schema():
        return _empty_serving_coefficients(coefficients)
    if TEMPERATURE in groups and not coefficients.is_empty():
        cold = coefficients.filter((pl.col(TEMPERATURE) == 0) & (pl.col("n_replications") > 1))
        if cold.is_empty():
            return _empty_serving_coefficients(coefficients)
    found = serving_noise(judged.frame, groups=groups, block=block)
    if found.is_empty() or judged.run is None:
        return found
    try:
        texts = hashed_texts(_serving_reply_texts(judged.run))
    except FileGone:
        return found
    return serving_noise(judged.keyed, groups=groups, block=block, texts=texts)


def texts_are_gone(serving: pl.DataFrame) -> bool:
    """Whether the serving noise of a run, all of it, is of verdicts alone: no text is left.

    Examples
    --------
    >>> texts_are_gone(pl.DataFrame({"coefficient": [SERVING[0]]}))
    True
    """
    return not serving.is_empty() and SERVING[2] not in set(serving["coefficient"])


def _empty_serving_coefficients(coefficients: pl.DataFrame) -> pl.DataFrame:
    """No rows, in the columns of those that there might be."""
    return coefficients.select(*group_columns(coefficients), *Coefficients.columns).head(0)


def with_serving(coefficients: pl.DataFrame, serving: pl.DataFrame) -> pl.DataFrame:
    """Coefficients with the rows of serving noise below them, in the same columns."""
    if serving.is_empty():
        return coefficients
    both = pl.concat([coefficients, serving], how="diagonal_relaxed").select(coefficients.columns)
    groups = group_columns(coefficients)
    lead = pl.col("lead").first()  # of the group, whose coefficients stand above
    return both.with_columns(lead=pl.col("lead").fill_null(lead.over(groups) if groups else lead))


def requested_serving(
    judged: Snapshot,
    coefficients: pl.DataFrame,
    named: Sequence[str] | None,
    *,
    block: BlockChoice = 0,
) -> pl.DataFrame:
    """Serving noise as far as it is asked for: all of it where nothing is named, else what is.

    Something of it is named, or nothing at all.
    """
    chosen = SERVING if named is None else tuple(name for name in named if name in SERVING)
    found = serving_of(judged, coefficients, block=block)
    if named and found.is_empty():
        raise SweepError(
            f"{chosen[0]} is of temperature 0 asked more than once, which these judgments do not "
            "hold",
            hint="repeat_greedy = 8 in [[ask]]",
        )
    return found.filter(pl.col("coefficient").is_in(chosen))


def serving_between(a: Snapshot, b: Snapshot) -> SharedRequests | None:
    """Requests that two runs or files share, and what tells their engines apart.

    None where nothing is shared. Requests of one key are compared at every temperature; where a
    judge's settings gave it other keys, those of one prompt at temperature 0.

    Effects: reads. Retry: safe.
    """
    alike = _judges_in_common(a.run, b.run) if a.run and b.run else ()
    keyed_a, keyed_b = a.keyed, b.keyed
    rows = shared_requests(keyed_a, keyed_b, judges=alike)
    if rows.is_empty():
        return None
    if a.run and b.run:
        try:
            texts = (
                hashed_texts(_serving_reply_texts(a.run)),
                hashed_texts(_serving_reply_texts(b.run)),
            )
            rows = shared_requests(keyed_a, keyed_b, judges=alike, texts=texts)
        except FileGone:  # texts are lost, verdicts are not
            pass
    judges = rows["judge"].unique(maintain_order=True).to_list()
    settings = {}
    if a.run and b.run:
        of_a, of_b = _serving_settings_by_judge(a.run), _serving_settings_by_judge(b.run)
        settings = {
            name: _differing_serving_settings(of_a.get(name, {}), of_b.get(name, {}))
            for name in judges
        }
    return SharedRequests(rows=rows, settings=settings)


def with_shared(
    differences: pl.DataFrame, shared: SharedRequests | None, names: tuple[str, str]
) -> pl.DataFrame:
    """Paired differences with a row below them for each of the requests shared.

    ``difference`` is the share of these requests that were answered otherwise.
    """
    if shared is None:
        return differences
    rows = []
    for row in shared.rows.iter_rows(named=True):
        settings = "; ".join(shared.settings.get(row["judge"], ()))
        engines = f"; engines differ in {settings}" if settings else ""
        rows.append(
            {
                "judge": row["judge"], "temperature": row["temperature"],
                "a": names[0], "b": names[1],
                "coefficient": SERVING[0 if row["what"] == "verdicts" else 2],
                "measurement": "nominal", "missing": "category", "difference": row["value"],
                "low": row["low"], "high": row["high"], "n_items": row["n_items"],
                "n_judgments_a": row["n_requests"], "n_judgments_b": row["n_requests"],
                "estimator": f"{row['estimator']}; matched by {row['matched']}; "
                f"{Flag.SERVING_NOISE.words()}{engines}",
                **flag_columns([(Flag.SERVING_NOISE, ())]), "flag_sides": [None],
            }
        )  # fmt: skip
    kinds = {name: kind for name, kind in differences.schema.items() if name in rows[0]}
    kept = [{name: row[name] for name in kinds} for row in rows]
    below = pl.DataFrame(kept, schema=kinds, orient="row")
    return pl.concat([differences, below], how="diagonal_relaxed").select(differences.columns)


def _serving_reply_texts(run: RunDirectory) -> pl.LazyFrame:
    """The replies of a run by key."""
    from judgerel_ray.store import scan_completions

    return scan_completions(run, columns=("key", "text"))


def _serving_run_sweep(run: RunDirectory) -> Mapping[str, object]:
    """What a run's manifest says of its sweep; nothing where it is lost."""
    from judgerel_ray.store import read_manifest

    try:
        sweep = read_manifest(run).get("sweep")
    except StoreError:
        return {}
    return sweep if isinstance(sweep, Mapping) else {}


def _judges_in_common(a: RunDirectory, b: RunDirectory) -> tuple[str, ...]:
    """Judges that both runs ask the same prompts: same weights, same asks but for how often."""
    sweep_a, sweep_b = _serving_run_sweep(a), _serving_run_sweep(b)
    if (
        not sweep_a
        or _serving_run_asks(sweep_a) is None
        or _serving_run_asks(sweep_a) != _serving_run_asks(sweep_b)
    ):
        return ()
    judges_a, judges_b = _serving_judge_fingerprints(sweep_a), _serving_judge_fingerprints(sweep_b)
    return tuple(
        name
        for name in judges_a
        if name in judges_b
        and all(judges_a[name].get(part) == judges_b[name].get(part) for part in SERVER_COLUMNS)
    )


def _serving_run_asks(sweep: Mapping[str, object]) -> list[str] | None:
    """What a sweep asks, amounts left out; None where prompts hold what a model wrote before."""
    asks = sweep.get("ask")
    if not isinstance(asks, list):
        return None
    known = protocols_where(lambda one: one.judges and not one.makes_matrices)
    if any(ask.get("respond") or ask.get("protocol") not in known for ask in asks):
        return None
    kept = [{key: value for key, value in ask.items() if key not in AMOUNTS} for ask in asks]
    return sorted(json.dumps(one, sort_keys=True) for one in kept)


def _serving_judge_fingerprints(sweep: Mapping[str, object]) -> dict[str, Mapping[str, object]]:
    """Parts of the judges' fingerprints, by name."""
    judges = sweep.get("judge")
    return dict(judges) if isinstance(judges, Mapping) else {}


def _serving_settings_by_judge(run: RunDirectory) -> dict[str, dict[str, str]]:
    """What is recorded of the engines of each judge: of its fingerprint, and of engines at work."""
    from judgerel_ray.store import checked_ledger

    found: dict[str, dict[str, str]] = {}
    for name, parts in _serving_judge_fingerprints(_serving_run_sweep(run)).items():
        flat = {
            key: value
            for key, value in parts.items()
            if key not in (*SERVER_COLUMNS, "engine_options")
        }
        options = parts.get("engine_options")
        flat |= dict(options) if isinstance(options, Mapping) else {}
        found[name] = {key: json.dumps(value, sort_keys=True) for key, value in flat.items()}
    seen: dict[str, dict[str, set[str]]] = {}
    for commit in checked_ledger(run).commits:
        facts = seen.setdefault(commit.judge, {})
        for key in FACTS:
            if commit.engine.get(key) is not None:
                facts.setdefault(key, set()).add(json.dumps(commit.engine[key]))
    for name, facts in seen.items():
        # Engines of one judge may differ, on other nodes or in later sessions.
        found.setdefault(name, {}).update(
            {key: " and ".join(sorted(values)) for key, values in facts.items()}
        )
    return found


def _differing_serving_settings(
    settings_a: Mapping[str, str], settings_b: Mapping[str, str]
) -> tuple[str, ...]:
    """Settings that are not the same in both, where both are known."""
    return tuple(
        f"{name} {settings_a.get(name, 'not set')} against {settings_b.get(name, 'not set')}"
        for name in sorted(settings_a.keys() | settings_b.keys())
        if settings_a.get(name) != settings_b.get(name)
    )


SERVING = (
    "serving_noise",
    "serving_noise_questions",
    "serving_noise_texts",
    "serving_noise_text_questions",
)
"""Shares at temperature 0: of pairs of replies whose verdicts differ, of questions with any such
pair, and the same of whole texts."""
TEXT, _VALUE, _N, _MANY = "text_hash", "__value", "__n", "__many"


def serving_noise(
    frame: pl.LazyFrame,
    *,
    groups: Sequence[str],
    block: BlockChoice = 0,
    texts: pl.LazyFrame | None = None,
) -> pl.DataFrame:
    """Compute how often replies at temperature 0 differ, where it was asked more than once.

    The groups' columns, then those of `Coefficients`: for each group a row of each of `SERVING`,
    those of texts only with `texts`. A reply without a verdict counts as a verdict of its own; a
    failed request is no reply. No rows where temperature 0 was asked once, or never.

    Examples
    --------
    >>> rows = pl.LazyFrame({"item_id": ["q", "q", "r", "r"], "replication": [0, 1, 0, 1],
    ...                      "temperature": [0.0] * 4, "verdict": ["A", "A", "B", "A"]})
    >>> serving_noise(rows, groups=["temperature"]).select("coefficient", "value").rows()
    [('serving_noise', 0.5), ('serving_noise_questions', 0.5)]
    """
    schema = frame.collect_schema()
    keys = {name: schema[name] for name in groups}
    empty = Coefficients.frame(groups=keys)
    rows = _greedy_rows(frame, block)
    columns = rows.collect_schema().names()
    unit = [name for name in dict.fromkeys((*groups, "item_id", *FACETS)) if name in columns]
    verdicts = _serving_reply_counts(rows, unit, value_of("category"))
    if verdicts.is_empty() or verdicts[_MANY].max() < 2:  # type: ignore[operator]  # of integers
        return empty
    found = [{**key, **row} for key, row in _serving_rows_of_groups(verdicts, groups, texts=False)]
    if texts is not None:
        read = rows.join(texts, on="key", how="inner").filter(pl.col(TEXT).is_not_null())
        found += [
            {**key, **row}
            for key, row in _serving_rows_of_groups(
                _serving_reply_counts(read, unit, pl.col(TEXT)), groups, texts=True
            )
        ]
    table = Coefficients.frame(found, keys)
    order = pl.col("coefficient").replace_strict(list(SERVING), range(len(SERVING)))
    return table.sort([*groups, order], maintain_order=True)


def hashed_texts(texts: pl.LazyFrame) -> pl.LazyFrame:
    """Replies as 64 bits each, by key: as good as the texts to tell whether two are the same.

    Hashes are those of this process: they are compared, and kept nowhere.

    Examples
    --------
    >>> same = hashed_texts(pl.LazyFrame({"key": ["a", "b"], "text": ["[[A]]", "[[A]]"]}))
    >>> same.collect()["text_hash"].n_unique()
    1
    """
    text = pl.col("text")
    return texts.select("key", pl.when(text.is_not_null()).then(text.hash(seed=0)).alias(TEXT))


def _greedy_rows(frame: pl.LazyFrame, block: BlockChoice) -> pl.LazyFrame:
    """Replies of judges at temperature 0."""
    columns = frame.collect_schema().names()
    rows = frame.filter(is_judge(columns) & (pl.col(TEMPERATURE) == 0))
    if "block" in columns and block != "all":
        rows = rows.filter(pl.col("block").fill_null(0) == block)
    absent = {"verdict": pl.String(), "score": pl.Float64()}
    rows = rows.with_columns(outcome_column(columns))
    rows = rows.with_columns(
        pl.lit(None, kind).alias(name) for name, kind in absent.items() if name not in columns
    )
    return rows.filter(~FAILED)


def _serving_reply_counts(rows: pl.LazyFrame, unit: Sequence[str], value: pl.Expr) -> pl.DataFrame:
    """Numbers of replies of each unit by value, the most frequent first, and of all of them."""
    counts = rows.group_by(*unit, value.alias(_VALUE)).agg(pl.len().alias(_N))
    return (
        counts.collect(engine="streaming")
        .group_by(unit)
        .agg(
            pl.col(_N).cast(pl.Int64).sort(descending=True),
            pl.col(_N).cast(pl.Int64).sum().alias(_MANY),
        )
        .sort(unit)
    )


def _serving_rows_of_groups(
    units: pl.DataFrame, groups: Sequence[str], *, texts: bool
) -> Iterator[tuple[Row, Row]]:
    """Every group's key, with each of its rows."""
    parts = units.partition_by(groups, maintain_order=True) if groups else [units]
    for part in parts:
        again = part.filter(pl.col(_MANY) > 1)
        if again.is_empty():
            continue
        key = dict(zip(groups, part.select(groups).row(0), strict=True)) if groups else {}
        facets = varying_facets(part, [name for name in FACETS if name in part.columns])
        questions = ["item_id", *(name for name in facets if name == "benchmark")]
        number = again.select(pl.struct(questions).rank("dense")).to_series().to_numpy()
        found = differing_replies(_serving_count_table(again[_N]), clusters_U=number)
        basis: Row = {
            "unit": " x ".join(("item_id", *facets)),
            "n_items": found.n_questions,
            "n_replications": int(again[_MANY].to_numpy().max()),
            "n_judgments": found.n_replies,
            "n_missing": 0,
        }
        for row in _differing_serving_share_rows(found, texts=texts):
            yield key, {**dict.fromkeys(Coefficients.columns), **basis, **row}


def _differing_serving_share_rows(found: Differing, *, texts: bool) -> Iterator[Row]:
    """The share of pairs, and that of questions."""
    what, names = ("texts", SERVING[2:]) if texts else ("verdicts", SERVING[:2])
    shares = (
        (found.pairs, found.pairs_interval, f"share of pairs of replies with other {what}"),
        (found.questions, found.questions_interval, f"share of questions with other {what}"),
    )
    for name, (value, ends, estimator) in zip(names, shares, strict=True):
        made = method_columns(estimator, ends, noted=[(Flag.SERVING_NOISE, ())])
        yield {
            "coefficient": name, "value": value, "low": ends.low, "high": ends.high,
            "measurement": "nominal", "missing": "category",
            **made, "estimator": estimator_words(made),
        }  # fmt: skip


def _serving_count_table(lists: pl.Series) -> NDArray[np.int64]:
    """Lists of counts as rows of one length."""
    lengths = lists.list.len().to_numpy().astype(np.int64)
    counts_UV = np.zeros((lengths.size, int(lengths.max(initial=1))), dtype=np.int64)
    row = np.repeat(np.arange(lengths.size), lengths)
    place = np.arange(row.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    counts_UV[row, place] = lists.explode().to_numpy()
    return counts_UV


KEY, PROMPT = "key", "prompt"
"""How two replies were found to be to one request: by their key, or by prompt and replication."""
_PAIRED = (*(name for name in FACETS if name != "judge_fingerprint"), "item_id", "replication")
_NEEDED = ("judge", "benchmark", "item_id", "temperature", "replication", "seed", "outcome", "key")


def shared_requests(
    frame_a: pl.LazyFrame,
    frame_b: pl.LazyFrame,
    *,
    judges: Sequence[str] = (),
    texts: tuple[pl.LazyFrame, pl.LazyFrame] | None = None,
) -> pl.DataFrame:
    """Compute how often requests that both have were answered otherwise.

    A reply without a verdict counts as a verdict of its own; failed requests are left out. No rows
    where nothing is shared.

    Examples
    --------
    >>> rows = pl.LazyFrame({"key": ["k1", "k2"], "judge": ["j"] * 2, "benchmark": ["b"] * 2,
    ...     "item_id": ["q", "r"], "temperature": [1.0] * 2, "replication": [0] * 2,
    ...     "seed": [1, 2], "role": ["judge"] * 2, "outcome": ["scored"] * 2,
    ...     "score": [None] * 2, "verdict": ["A", "B"]}, schema_overrides={"score": pl.Float64})
    >>> other = rows.with_columns(verdict=pl.lit("A"))
    >>> shared_requests(rows, other).select("n_requests", "n_differing", "value").rows()
    [(2, 1, 0.5)]
    """
    a, b = _serving_replies_by_request(frame_a), _serving_replies_by_request(frame_b)
    if a is None or b is None:
        return RequestsDiffering.frame()
    if texts is not None:
        a, b = (
            side.join(replies, on="key", how="left")
            for side, replies in zip((a, b), texts, strict=True)
        )
    same = a.join(b, on="key", how="inner", suffix="_b")
    found = [*_shared_requests_rows(same, KEY)]
    if judges:
        greedy_rows = pl.col("judge").is_in(list(judges)) & (pl.col("temperature") == 0)
        rest_a = a.filter(greedy_rows).join(b.select("key"), on="key", how="anti")
        rest_b = b.filter(greedy_rows)
        there = [set(side.collect_schema().names()) for side in (a, b)]
        on = [name for name in _PAIRED if name in there[0] & there[1]]
        asked = rest_a.join(rest_b, on=on, how="inner", suffix="_b", nulls_equal=True)
        found += _shared_requests_rows(asked, PROMPT)
    table = RequestsDiffering.frame(found)
    order = ["matched", "judge", "temperature", "what"]
    return table.sort(order, descending=[False, False, False, True])


def _serving_replies_by_request(frame: pl.LazyFrame) -> pl.LazyFrame | None:
    """Replies of judges with what they say; None where requests have no keys."""
    columns = frame.collect_schema().names()
    if not set(_NEEDED) <= set(columns):
        return None
    kept = [name for name in dict.fromkeys((*_NEEDED, *_PAIRED)) if name in columns]
    return frame.filter(is_judge(columns) & ~FAILED).select(
        *kept, value_of("category").alias("verdicts")
    )


def _shared_requests_rows(pairs: pl.LazyFrame, matched: str) -> Iterator[Row]:
    """Shares of pairs that differ, by judge and temperature."""
    columns = pairs.collect_schema().names()
    by = ["judge", "temperature"]
    for what, name in (("verdicts", "verdicts"), ("texts", TEXT)):
        if name not in columns:
            continue
        both = pl.col(name).is_not_null() & pl.col(f"{name}_b").is_not_null()
        counted = (
            pairs.filter(both)
            .group_by(*by, "benchmark", "item_id")
            .agg(n=pl.len(), k=(pl.col(name) != pl.col(f"{name}_b")).sum())
            .collect(engine="streaming")
            .sort(*by, "benchmark", "item_id")
        )
        for part in counted.partition_by(by, maintain_order=True):
            found = differing_requests(part["k"].to_numpy(), part["n"].to_numpy())
            ends = found.pairs_interval
            yield {
                "judge": part["judge"][0], "temperature": part["temperature"][0],
                "matched": matched, "what": what,
                "n_requests": found.n_units, "n_items": found.n_questions,
                "n_differing": int(part["k"].sum()), "value": found.pairs,
                "low": ends.low, "high": ends.high, "n_items_differing": found.n_differing,
                "estimator": f"share of shared requests with other {what}; {ends.method}",
            }  # fmt: skip
