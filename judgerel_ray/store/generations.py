"""Generations of readings: the texts of a run read again, in files of their own.

What landed is never changed. A generation lays the judgments of commits whose readings differ out
in new files, and one record in commits/, created exclusively, makes all of them count at once: who
reads a run sees the newest generation whole, or not at all. Files of older ones stay, and so does
``data/``: programs that read its files by pattern see each judgment once, as it landed.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import Any

import polars as pl

from judgerel_ray.store.digests import sections_of, sha256
from judgerel_ray.store.manifest import read_manifest, write_manifest
from judgerel_ray.store.parts import encode_parquet, foldered, valid_rows
from judgerel_ray.store.records import (
    FOLDER,
    CommitFile,
    CommitRecord,
    numbered_names,
    plain_sections,
    seal,
    sections,
    unseal,
)
from judgerel_ray.store.rundir import MANIFEST, RunDirectory, judge_folder
from judgerel_ray.tables import Judgments, count_outcomes

READINGS = "generations"
"""The folder of these files in a run directory."""
_FILE = re.compile(r"(\d{4,})-s\d+-l\d+-a\d+-[0-9a-f]+\.parquet")


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """One reading of all texts of a run.

    ``files`` has, by name of a commit, what replaces its file of judgments: those fields of the
    commit's record that are others. Commits that it does not name were read alike, or landed later.
    """

    number: int
    reader: str
    version: str
    read_at: str
    files: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the record's file in commits/."""
        return generation_name(self.number)


generation_name, parse_generation = numbered_names("generation-", ".json")  # of its record


def read_generations(
    run: RunDirectory, names: Iterable[str]
) -> tuple[tuple[Generation, ...], tuple[str, ...]]:
    """Read the generations of a run, in order, and name the later records that are torn or gone.

    Examples
    --------
    >>> read_generations(RunDirectory.create("memory://doctest-generations"), ())
    ((), ())
    """
    records = sorted(name for name in names if parse_generation(name) is not None)
    data = run.files.read_many(f"{FOLDER}/{name}" for name in records) if records else {}
    found, broken = [], []
    for name in records:
        content = unseal(data.get(f"{FOLDER}/{name}"), f"{FOLDER}/{name}", run.identity)
        if content is None:
            broken.append(name)
            continue
        kept = {one.name: content[one.name] for one in fields(Generation)}
        found.append(Generation(**kept))
    found.sort(key=lambda one: one.number)
    newest = found[-1].number if found else 0
    if (noted := _newest_noted(run)) > newest and generation_name(noted) not in broken:
        broken.append(generation_name(noted))
    # Those before it are read by nobody any more.
    later = tuple(name for name in broken if (parse_generation(name) or 0) > newest)
    return tuple(found), later


def newer_readings(run: RunDirectory) -> dict[str, int]:
    """Files of readings that are newer than every record of one, with their number.

    A `rejudge` that died before its record leaves some; or a record is gone, and they are all that
    tells that the run was read again.

    Examples
    --------
    >>> run = RunDirectory.create("memory://doctest-newer-readings")
    >>> run.write_bytes("generations/judge=j/0001-s0001-l000001-a1-00ff00ff.parquet", b"")
    >>> list(newer_readings(run).values())
    [1]
    """
    newest = max((parse_generation(one) or 0 for one in run.names(FOLDER)), default=0)
    found = ((one, _FILE.fullmatch(one.rpartition("/")[2])) for one in run.files.sizes(READINGS))
    numbers = {name: int(match.group(1)) for name, match in found if match}
    return {name: number for name, number in numbers.items() if number > newest}


def note_generation(run: RunDirectory, made: Generation) -> None:
    """Write into the manifest which generation is the newest: its record cannot go unseen then."""
    reading = {"generation": made.number, "reader": made.reader, "version": made.version}
    reading["read_at"] = made.read_at
    write_manifest(run, {**read_manifest(run), "reading": reading})


def _newest_noted(run: RunDirectory) -> int:
    """The newest generation that the manifest knows; 0 where it knows none."""
    content = unseal(run.files.find(MANIFEST), MANIFEST, run.identity)
    reading = (content or {}).get("reading")
    number = reading.get("generation") if isinstance(reading, Mapping) else None
    return number if isinstance(number, int) else 0


_READ_ANEW = ("data_file", "data_sha256", "data_bytes", "outcomes")
"""What a generation says of a commit in place of the commit itself, beside its sections."""


def reader_of(manifest: Mapping[str, Any], engine: Mapping[str, Any] | None = None) -> str:
    """The version of the reader by which replies of a run were read, or of a commit of it.

    Rows that were carried from another run are as they were read there, until the run is read anew;
    its ``engine`` facts say by which version where that is another than the run's.

    Examples
    --------
    >>> manifest = {"sweep": {"reader_version": "4"}}
    >>> reader_of(manifest), reader_of(manifest, {"reader_version": "3"})
    ('4', '3')
    >>> reader_of({**manifest, "reading": {"version": "5"}}, {"reader_version": "3"})
    '5'
    """
    read_anew, begun = manifest.get("reading"), manifest.get("sweep")
    if isinstance(read_anew, Mapping) and "version" in read_anew:
        return str(read_anew["version"])
    version = begun.get("reader_version") if isinstance(begun, Mapping) else None
    return str((engine or {}).get("reader_version", version))


def as_read(generation: Generation | None, commit: CommitRecord) -> CommitRecord:
    """A commit with the judgments that a generation read in its texts."""
    other = None if generation is None else generation.files.get(commit.name)
    if other is None:
        return commit
    read = {name: other[name] for name in _READ_ANEW}
    return replace(commit, **read, data_sections=sections(other["data_sections"]))


def land_generation(
    run: RunDirectory,
    readings: Iterable[tuple[CommitRecord, pl.DataFrame]],
    *,
    number: int,
    reader: str,
    version: str,
) -> Generation | None:
    """Land what was read again, all of it or nothing.

    Examples
    --------
    >>> run = RunDirectory.create("memory://doctest-land-generation")
    >>> land_generation(run, [], number=1, reader="judgerel", version="4").number
    1
    >>> land_generation(run, [], number=1, reader="judgerel", version="4") is None
    True

    Notes
    -----
    Effects: a Parquet file a commit, then one record. Retry: safe, lands once.
    """
    files: dict[str, dict[str, object]] = {}
    for commit, frame in readings:
        rows = valid_rows(Judgments, frame)
        stem = commit.name.removesuffix(".json")
        name = f"{number:04d}-{stem}-{secrets.token_hex(4)}.parquet"
        place = f"{READINGS}/{judge_folder(commit.judge)}/{name}"
        data = encode_parquet(foldered(rows))
        run.write_bytes(place, data)
        files[commit.name] = {
            "data_file": place,
            "data_sha256": sha256(data),
            "data_bytes": len(data),
            "outcomes": dict(count_outcomes(rows)),
            "data_sections": plain_sections(sections_of(data)),
        }
    made = Generation(
        number=number,
        reader=reader,
        version=version,
        read_at=datetime.now(UTC).isoformat(),
        files=files,
    )
    place = f"{FOLDER}/{made.name}"
    sealed = seal({"kind": "generation", **asdict(made)}, place, run.identity)
    if run.settle(place, sealed) == sealed:
        return made
    for one in files.values():
        run.remove(str(one["data_file"]))
    return None


def file_sizes(
    run: RunDirectory, commits: Iterable[CommitRecord], file: CommitFile
) -> dict[str, int]:
    """Bytes of files of judgments or of texts by name, those that were read again included.

    What no listing shows is looked for by its name: a listing may be older than what it lists.

    Examples
    --------
    >>> file_sizes(RunDirectory.create("memory://doctest-file-sizes"), [], "data_file")
    {}
    """
    names = [getattr(one, file) for one in commits]
    sizes = run.files.sizes("data" if file == "data_file" else "texts")
    if any(name.startswith(f"{READINGS}/") for name in names):
        sizes |= run.files.sizes(READINGS)
    return sizes | run.files.sizes_of(name for name in names if name not in sizes)


def older_files(
    generations: Iterable[Generation], commits: Iterable[CommitRecord]
) -> Mapping[str, str]:
    """Files of judgments of all readings, and their digests.

    Those that a later reading replaced are kept, and no number is read from them.
    """
    made = {
        str(o["data_file"]): str(o["data_sha256"]) for g in generations for o in g.files.values()
    }
    return made | {one.data_file: one.data_sha256 for one in commits}
