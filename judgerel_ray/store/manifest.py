"""The manifest: what a run was begun with, and whether a sweep is that run's."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import cast

from judgerel_ray.core import StoreError
from judgerel_ray.store.digests import sha256
from judgerel_ray.store.records import SEAL_KEYS, seal
from judgerel_ray.store.rundir import FILES, FORMAT, MANIFEST, RunDirectory, manifest_problem

SWEEP_KEY = "sweep"
"""Entry of the manifest that :func:`check_same_sweep` compares with."""
_ASKS = "ask"
_ABSENT = "nothing"


def write_manifest(run: RunDirectory, manifest: Mapping[str, object]) -> None:
    """Write the manifest, replacing the one that was there.

    Parameters
    ----------
    run : RunDirectory
        The run.
    manifest : mapping
        Plain content (what JSON can hold). Its entry ``sweep`` says which sweep the run is of:
        everything that must not change between sessions, nested as it reads best.

    Examples
    --------
    >>> run = RunDirectory.create("memory://doctest-manifest")
    >>> write_manifest(run, {"sweep": {"judge": {"llama": {"temperature": 0.7}}}})
    >>> read_manifest(run)["sweep"]
    {'judge': {'llama': {'temperature': 0.7}}}
    """
    run.write_bytes(MANIFEST, seal({**manifest, "format": FORMAT}, MANIFEST, run.identity))


def write_vouched(run: RunDirectory, name: str, data: bytes) -> None:
    """Write a file of the run's own, which the manifest vouches for from then on.

    Examples
    --------
    >>> run = RunDirectory.create("memory://doctest-write-own")
    >>> write_manifest(run, {"sweep": {}})
    >>> write_vouched(run, "plan.json", b"{}")
    >>> run.write_bytes("plan.json", b"[]")
    >>> run.read_text("plan.json")
    Traceback (most recent call last):
        ...
    judgerel_ray.core.errors.StoreError: plan.json of the run is altered: its bytes are not ...

    Notes
    -----
    Effects: the manifest first, with the digests of what may be there before and of what will be,
    so that readers trust either whenever they look; then the file; and the manifest again, so that
    what was there before is trusted no longer. Retry: safe.
    """
    manifest = read_manifest(run)
    if SWEEP_KEY not in manifest:
        run.write_bytes(name, data)
        return
    known, new = run.file_digests(), sha256(data)
    before = [one for one in known.get(name, ()) if one != new]
    if before or name not in known:
        write_manifest(run, {**manifest, FILES: {**known, name: [*before, new]}})
    run.write_bytes(name, data)
    if before:
        write_manifest(run, {**manifest, FILES: {**known, name: [new]}})


def read_manifest(run: RunDirectory) -> dict[str, object]:
    """Read the manifest, without its seal.

    Raises
    ------
    StoreError
        If it is missing, altered, or not of a run directory.

    Examples
    --------
    >>> read_manifest(RunDirectory.create("memory://doctest-read-manifest"))
    {'format': 'judgerel-run/2'}
    """
    data = run.read_bytes(MANIFEST)
    if problem := manifest_problem(data):
        raise StoreError(
            f"the manifest of the run {problem}", where={"path": run.address(MANIFEST)}
        )
    content = json.loads(data)
    return {name: value for name, value in content.items() if name not in SEAL_KEYS}


def check_same_sweep(
    run: RunDirectory,
    digest_parts: Mapping[str, object],
    *,
    same_file: bool = False,
    versions: Mapping[str, str] | None = None,
) -> None:
    """Refuse a run directory that was begun with another sweep.

    Parameters
    ----------
    run : RunDirectory
        The run.
    digest_parts : mapping
        What :func:`write_manifest` was given as ``sweep``, of the sweep at hand. A run whose
        manifest has no such entry yet is nobody's and passes.
    same_file : bool
        Whether the sweep file says what it said when the run was begun. What differs then is the
        work of other code, or of a file that the sweep names.
    versions : mapping, optional
        Packages and their versions now; the manifest's entries ``judgerel_ray``, ``python`` and
        ``packages`` are those the run was begun with.

    Raises
    ------
    StoreError
        Naming every key that differs, with what the run has and what the sweep has; each ask beside
        the one most like it.

    Examples
    --------
    >>> run = RunDirectory.create("memory://doctest-same")
    >>> write_manifest(run, {"sweep": {"judge": {"llama": {"temperature": 0.7}}}})
    >>> check_same_sweep(run, {"judge": {"llama": {"temperature": 0.7}}})
    """
    manifest = read_manifest(run)
    if SWEEP_KEY not in manifest:
        return
    # Through JSON and back, so that a tuple equals the list it was stored as.
    stored, wanted = _matched_manifest_sweeps(
        manifest[SWEEP_KEY], json.loads(json.dumps(digest_parts))
    )
    differing = [
        f"{name}: expected {_shown(stored, name)}, got {_shown(wanted, name)}"
        for name in sorted(stored.keys() | wanted.keys())
        if _shown(stored, name) != _shown(wanted, name)
    ]
    if differing and same_file:
        raise StoreError(
            "the sweep file is the run's, but what it is read as has changed: "
            f"{'; '.join(differing)}. {_changed_versions(manifest, versions or {})}",
            where={"run": run.url},
            hint="give --out a new directory, or go back to the code and files it was begun with",
        )
    if differing:
        raise StoreError(
            "the run directory is of another sweep: " + "; ".join(differing),
            where={"run": run.url},
            hint="give --out a new directory, or put the sweep back as it was",
        )


def _changed_versions(manifest: Mapping[str, object], now: Mapping[str, str]) -> str:
    """In words, which packages are not those that the run was begun with."""
    packages = manifest.get("packages")
    begun = dict(packages) if isinstance(packages, Mapping) else {}
    begun |= {name: manifest[name] for name in ("judgerel_ray", "python") if name in manifest}
    changed = [
        f"{name} {begun.get(name, _ABSENT)}, now {now.get(name, _ABSENT)}"
        for name in sorted(begun.keys() | now.keys())
        if begun.get(name) != now.get(name)
    ]
    if changed:
        return "It was begun with " + "; ".join(changed)
    return (
        f"Versions are the same (judgerel_ray {now.get('judgerel_ray', 'unknown')}): another "
        "state of its code, or a file that the sweep names"
    )


def _matched_manifest_sweeps(
    stored: object, wanted: object
) -> tuple[dict[str, object], dict[str, object]]:
    """Name the leaves of two sweeps, each ask by its place in the stored one.

    Asks are stored sorted by content, so one changed number may put them in another order: by place
    they would be compared with what they never were. Each goes with the one most like it.
    """
    flat = [_flat_manifest_leaves(one) for one in (stored, wanted)]
    lists = [one.get(_ASKS) if isinstance(one, Mapping) else None for one in (stored, wanted)]
    if not all(isinstance(one, Sequence) and not isinstance(one, str) for one in lists):
        return flat[0], flat[1]
    old, new = (
        [_flat_manifest_leaves(ask) for ask in cast(Sequence[object], one)] for one in lists
    )
    distances = sorted(
        (sum(_shown(a, name) != _shown(b, name) for name in a.keys() | b.keys()), i, j)
        for i, a in enumerate(old)
        for j, b in enumerate(new)
    )
    places: dict[int, int] = {}
    for _, i, j in distances:
        if i not in places.values() and j not in places:
            places[j] = i
    left = [j for j in range(len(new)) if j not in places]
    places |= {j: len(old) + n for n, j in enumerate(left)}
    for one, asks, where in ((flat[0], old, range(len(old))), (flat[1], new, places)):
        for name in [name for name in one if name.startswith(f"{_ASKS}[")]:
            del one[name]
        for n, ask in enumerate(asks):
            one |= {f"{_ASKS}[{where[n]}].{name}": value for name, value in ask.items()}
    return flat[0], flat[1]


def _flat_manifest_leaves(value: object, name: str = "") -> dict[str, object]:
    """Name every leaf of nested content by its path, as in ``judge.llama.temperature``."""
    if isinstance(value, Mapping) and (value or not name):
        pairs = [(f"{name}.{key}" if name else str(key), inner) for key, inner in value.items()]
    elif isinstance(value, Sequence) and not isinstance(value, str) and value:
        pairs = [(f"{name}[{index}]", inner) for index, inner in enumerate(value)]
    else:
        return {name: value}
    return {
        leaf: end
        for path, inner in pairs
        for leaf, end in _flat_manifest_leaves(inner, path).items()
    }


def _shown(flat: Mapping[str, object], name: str) -> str:
    """Show a leaf as JSON, or say that there is none."""
    return json.dumps(flat[name], ensure_ascii=False) if name in flat else _ABSENT
