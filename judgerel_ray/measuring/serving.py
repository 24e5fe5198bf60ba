"""Serving noise of a run, and between two: their texts, and the engines that wrote them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from judgerel_ray.core import FileGone, StoreError, SweepError
from judgerel_ray.core.codes import Flag
from judgerel_ray.core.traits import protocols_where
from judgerel_ray.counting.groups.grouping import TEMPERATURE, BlockChoice
from judgerel_ray.counting.verdicts.policy import flag_columns
from judgerel_ray.measuring.noise import (
    SERVING,
    hashed_texts,
    serving_noise,
    shared_requests,
)
from judgerel_ray.measuring.tables import Coefficients

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
    groups = _groups(coefficients)
    if TEMPERATURE not in judged.frame.collect_schema():
        return _nothing(coefficients)
    if TEMPERATURE in groups and not coefficients.is_empty():
        cold = coefficients.filter((pl.col(TEMPERATURE) == 0) & (pl.col("n_replications") > 1))
        if cold.is_empty():
            return _nothing(coefficients)
    frame = judged.frame
    found = serving_noise(frame, groups=groups, block=block)
    if found.is_empty() or judged.run is None:
        return found
    try:
        texts = hashed_texts(_texts(judged.run))
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


def _nothing(coefficients: pl.DataFrame) -> pl.DataFrame:
    """No rows, in the columns of those that there might be."""
    return coefficients.select(*_groups(coefficients), *Coefficients.columns).head(0)


def _groups(coefficients: pl.DataFrame) -> list[str]:
    """Columns that make a group."""
    names = coefficients.columns
    return names[: names.index("coefficient")]


def with_serving(coefficients: pl.DataFrame, serving: pl.DataFrame) -> pl.DataFrame:
    """Coefficients with the rows of serving noise below them, in the same columns."""
    if serving.is_empty():
        return coefficients
    both = pl.concat([coefficients, serving], how="diagonal_relaxed").select(coefficients.columns)
    groups = _groups(coefficients)
    lead = pl.col("lead").first()  # of the group, whose coefficients stand above
    return both.with_columns(lead=pl.col("lead").fill_null(lead.over(groups) if groups else lead))


def requested_serving(
    judged: Snapshot,
    coefficients: pl.DataFrame,
    named: Sequence[str] | None,
    *,
    block: BlockChoice = 0,
) -> pl.DataFrame:
    """Serving noise as far as it is asked for: all of it where nothing is named, else what is."""
    chosen = SERVING if named is None else tuple(name for name in named if name in SERVING)
    if not chosen:
        return _nothing(coefficients)
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
            texts = (hashed_texts(_texts(a.run)), hashed_texts(_texts(b.run)))
            rows = shared_requests(keyed_a, keyed_b, judges=alike, texts=texts)
        except FileGone:  # texts are lost, verdicts are not
            pass
    judges = rows["judge"].unique(maintain_order=True).to_list()
    settings = {}
    if a.run and b.run:
        of_a, of_b = _settings(a.run), _settings(b.run)
        settings = {name: _differing(of_a.get(name, {}), of_b.get(name, {})) for name in judges}
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


def _texts(run: RunDirectory) -> pl.LazyFrame:
    """The replies of a run by key."""
    from judgerel_ray.store import scan_completions

    return scan_completions(run, columns=("key", "text"))


def _sweep(run: RunDirectory) -> Mapping[str, object]:
    """What a run's manifest says of its sweep; nothing where it is lost."""
    from judgerel_ray.store import read_manifest

    try:
        sweep = read_manifest(run).get("sweep")
    except StoreError:
        return {}
    return sweep if isinstance(sweep, Mapping) else {}


def _judges_in_common(a: RunDirectory, b: RunDirectory) -> tuple[str, ...]:
    """Judges that both runs ask the same prompts: same weights, same asks but for how often."""
    sweep_a, sweep_b = _sweep(a), _sweep(b)
    if not sweep_a or _asks(sweep_a) is None or _asks(sweep_a) != _asks(sweep_b):
        return ()
    judges_a, judges_b = _judges(sweep_a), _judges(sweep_b)
    return tuple(
        name
        for name in judges_a
        if name in judges_b
        and all(judges_a[name].get(part) == judges_b[name].get(part) for part in SERVER_COLUMNS)
    )


def _asks(sweep: Mapping[str, object]) -> list[str] | None:
    """What a sweep asks, amounts left out; None where prompts hold what a model wrote before."""
    asks = sweep.get("ask")
    if not isinstance(asks, list):
        return None
    known = protocols_where(lambda one: one.judges and not one.makes_matrices)
    if any(ask.get("respond") or ask.get("protocol") not in known for ask in asks):
        return None
    kept = [{key: value for key, value in ask.items() if key not in AMOUNTS} for ask in asks]
    return sorted(json.dumps(one, sort_keys=True) for one in kept)


def _judges(sweep: Mapping[str, object]) -> dict[str, Mapping[str, object]]:
    """Parts of the judges' fingerprints, by name."""
    judges = sweep.get("judge")
    return dict(judges) if isinstance(judges, Mapping) else {}


def _settings(run: RunDirectory) -> dict[str, dict[str, str]]:
    """What is recorded of the engines of each judge: of its fingerprint, and of engines at work."""
    from judgerel_ray.store import checked_ledger

    found: dict[str, dict[str, str]] = {}
    for name, parts in _judges(_sweep(run)).items():
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


def _differing(settings_a: Mapping[str, str], settings_b: Mapping[str, str]) -> tuple[str, ...]:
    """Settings that are not the same in both, where both are known."""
    return tuple(
        f"{name} {settings_a.get(name, 'not set')} against {settings_b.get(name, 'not set')}"
        for name in sorted(settings_a.keys() | settings_b.keys())
        if settings_a.get(name) != settings_b.get(name)
    )
