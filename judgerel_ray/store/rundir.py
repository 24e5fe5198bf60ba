"""The run directory: where it is, what lies where in it, and how its files are written.

::

    RUN/  sweep.toml  manifest.json  plan.json  items.parquet  progress.json  report.html
          earlier.json (in a series)
          data/judge=<slug>/part-*.parquet    texts/judge=<slug>/part-*.parquet
          errors/judge=<slug>/*.parquet       distributions/        commits/*.json, *.pack
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self
from urllib.parse import quote, unquote, urlsplit

from judgerel_ray.core import StoreError, digest
from judgerel_ray.store.digests import sha256
from judgerel_ray.store.files import Bucket, Disk
from judgerel_ray.store.records import PLACE, json_object, parse_session, seal, sealed_run

MANIFEST = "manifest.json"
FORMAT = "judgerel-run/2"
_FORMAT = re.compile(r"judgerel-run/\d+")
FILES = "files"
"""Entry of the manifest with the SHA-256 of the run's own files, the last two that each had."""
FROM_SWEEP = ("sweep.toml", "plan.json", "items.parquet")
_MADE = ("distributions/", "confusions/", "settled/")
_BESIDE = frozenset({"commits", "sweep.toml"})
_SLUG_LENGTH = 160  # bytes; with digest, "judge=" and part names far below the usual limit of 255


@dataclass(frozen=True, slots=True, kw_only=True)
class RunDirectory:
    """A run directory by its address: a path, or any fsspec URL.

    It holds no open file or connection, so it crosses processes as it is. Relative paths are
    made absolute at once, because processes elsewhere have other working directories.

    Parameters
    ----------
    url : str
        Path, ``file://`` URL, or ``protocol://`` URL of a store that can create exclusively.
    storage_options : mapping, optional
        What fsspec needs to reach a remote store; never written to the directory.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = RunDirectory.create(folder + "/run")
    ...     run.write_text("plan.json", "{}")
    ...     run.create_exclusive("plan.json", b"again"), run.names()
    (False, ('manifest.json', 'plan.json'))
    """

    url: str
    storage_options: Mapping[str, object] = field(default_factory=dict, repr=False)
    spelling: str = field(default="", repr=False, compare=False)
    """The address as it was given: what messages and tables call the run."""
    _identity: str | None = field(default=None, repr=False, compare=False)
    _disk: Disk | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "spelling", self.spelling or self.url)
        object.__setattr__(self, "url", _absolute_store_address(self.url))

    @classmethod
    def create(cls, url: str, *, storage_options: Mapping[str, object] | None = None) -> Self:
        """Make a run directory, or take the one that is there.

        Parameters
        ----------
        url : str
            Where.
        storage_options : mapping, optional
            As for the class.

        Returns
        -------
        RunDirectory
            Empty, or the run already begun there.

        Raises
        ------
        StoreError
            If something else lies there, or it cannot be written.

        Examples
        --------
        >>> RunDirectory.create("memory://doctest-create").url
        'memory://doctest-create'
        """
        run = cls(url=url, storage_options=storage_options or {})
        if run.is_run():
            return run._identified()
        if run.is_local and os.path.exists(run.url) and not os.path.isdir(run.url):
            raise StoreError(
                "expected an empty or a run directory, got a file",
                where={"run": run.url},
                hint="give --out a new directory",
            )
        foreign = [name for name in run.names() if not name.startswith(".")]
        if foreign:
            raise StoreError(
                f"expected an empty or a run directory, got one that holds {foreign[0]!r}"
                + (f" and {len(foreign) - 1} more" if len(foreign) > 1 else ""),
                where={"run": run.url},
                hint="give --out a new directory",
            )
        run.files.prepare()
        marker = seal({"format": FORMAT}, MANIFEST, secrets.token_hex(8))
        if not run.create_exclusive(MANIFEST, marker) and not run.is_run():
            raise StoreError("the manifest cannot be read", where={"path": run.address(MANIFEST)})
        return run._identified()

    @classmethod
    def open(cls, url: str, *, storage_options: Mapping[str, object] | None = None) -> Self:
        """Take the run directory that is there.

        Raises
        ------
        StoreError
            If there is none.

        Examples
        --------
        >>> RunDirectory.open("memory://doctest-nothing")
        Traceback (most recent call last):
        judgerel_ray.core.errors.StoreError: expected a run directory, got none ...
        """
        run = cls(url=url, storage_options=storage_options or {})
        if not run.is_run():
            raise StoreError(
                f"expected a run directory, got {run._what_is_there()}",
                where={"run": run.url},
                hint="judgerel run SWEEP.toml --out RUN makes one",
            )
        return run._identified()

    @property
    def identity(self) -> str:
        """What tells this run from every other: drawn when it is made, and in each of its seals.

        Where a manifest was written by hand it is that of the records; "" where there are none.
        """
        if self._identity is not None:
            return self._identity
        found = sealed_run(self.files.find(MANIFEST), MANIFEST)
        sessions = [one for one in self.names("commits") if parse_session(one)] if not found else ()
        for name in (f"commits/{one}" for one in reversed(sessions)):
            found = found or sealed_run(self.files.find(name), name)
        return found or ""

    def _identified(self) -> Self:
        """The same, with its identity, which crosses processes with it."""
        return replace(self, _identity=self.identity)

    def read_through(self, disk: Disk) -> Self:
        """The same local directory, whose files are read as this disk reads them."""
        return replace(self, _disk=disk)

    @property
    def files(self) -> Disk | Bucket:
        """The files by name, wherever they are."""
        if self.is_local:
            return self._disk or Disk(root=self.url)
        return Bucket(url=self.url, options=self.storage_options)

    @property
    def is_local(self) -> bool:
        """Whether the directory is a path of this machine's file system."""
        return "://" not in self.url

    def is_run(self) -> bool:
        """Tell whether a run directory is there.

        Raises
        ------
        StoreError
            If it is one, and its manifest is gone, damaged or of another format.
        """
        if self.is_local and not os.path.isdir(self.url):
            return False
        data = self.files.find(MANIFEST)
        problem = manifest_problem(data)
        if problem is None:
            return True
        # Other programs have manifests, too; only ours lie beside these.
        if not _BESIDE.issubset(self.names()):
            return False
        raise StoreError(
            f"the manifest of the run {problem}",
            where={"path": self.address(MANIFEST)},
            hint=(
                f"{self._reduced_as_files()} measures its judgments as they landed; to ask, give "
                "--out a new directory"
                if other_format(data)
                else f"put a copy back, or write {json.dumps({'format': FORMAT})} into it and run "
                "the same sweep again: what landed is not asked again"
            ),
        )

    def _reduced_as_files(self) -> str:
        """The command that measures the files of a run of another format, which it reads as tables.

        Of a bucket no folder is read.
        """
        if self.is_local:
            return f"judgerel reduce {shlex.quote(self.address('data'))}"
        return "copy it to this machine: judgerel reduce COPY/data"

    def _what_is_there(self) -> str:
        """What lies at the address in place of a run directory, in words."""
        if self.is_local and os.path.isfile(self.url):
            return "a file"
        if not self.names() and not (self.is_local and os.path.isdir(self.url)):
            return "none"
        return f"a folder without a {MANIFEST} of judgerel"

    def address(self, name: str) -> str:
        """Full path or URL of a file of the directory."""
        return self.files.address(name)

    def write_text(self, name: str, text: str) -> None:
        """Write a text file (UTF-8) whole, replacing what was there."""
        self.files.write(name, text.encode())

    def write_bytes(self, name: str, data: bytes) -> None:
        """Write a file whole, replacing what was there."""
        self.files.write(name, data)

    def read_text(self, name: str) -> str:
        """Read a text file (UTF-8); StoreError where it is missing or no text."""
        try:
            return self.read_bytes(name).decode()
        except UnicodeDecodeError as error:
            raise StoreError("not UTF-8 text", where={"path": self.address(name)}) from error

    def read_bytes(self, name: str) -> bytes:
        """Read a file; StoreError where it is missing, or the run's own and altered."""
        try:
            data = self.files.read(name)
        except StoreError as error:
            if name not in FROM_SWEEP or self.exists(name):
                raise
            if not self._is_begun():
                raise StoreError(
                    f"the run has not begun: {name} is not there yet",
                    where={"run": self.url},
                    hint="wait for the judgerel run that is making it, or start one",
                ) from error
            raise StoreError(
                f"{name} of the run is gone",
                where={"path": self.address(name)},
                hint="judgerel run with the same sweep and --out writes it again",
            ) from error
        if (name in FROM_SWEEP or name.startswith(_MADE)) and not self.vouches(name, data):
            advice = (
                "; what you change, change in your own SWEEP.toml" if name == "sweep.toml" else ""
            )
            raise StoreError(
                f"{name} of the run is altered: its bytes are not those that were written",
                where={"path": self.address(name)},
                hint=f"judgerel run SWEEP.toml --out {self.url}, as the run was made, writes it "
                f"again and asks nothing again{advice}",
            )
        return data

    def _is_begun(self) -> bool:
        """Whether a run has ever held its sweep: a driver claims the directory before it writes."""
        data = self.files.find(MANIFEST)
        is_known = manifest_problem(data) is None and "sweep" in (json_object(data) or {})
        return is_known or bool(self.names("commits") or self.names("data"))

    def vouches(self, name: str, data: bytes) -> bool:
        """Whether a file of the run's own is as the manifest knows it; also where it knows none."""
        known = self.file_digests().get(name)
        return known is None or sha256(data) in known

    def file_digests(self) -> Mapping[str, Sequence[str]]:
        """SHA-256 of the run's own files by name; none before it has begun."""
        data = self.files.find(MANIFEST)
        content = None if manifest_problem(data) else json_object(data)
        files: Mapping[str, Sequence[str]] = (content or {}).get(FILES, {})
        return files

    def exists(self, name: str) -> bool:
        """Tell whether a file is there."""
        return self.files.exists(name)

    def names(self, folder: str = "") -> tuple[str, ...]:
        """Name what lies directly in a folder, sorted; none where it is missing."""
        return self.files.names(folder)

    def remove(self, name: str) -> None:
        """Remove a file; nothing happens where it is missing."""
        self.files.remove(name)

    def create_exclusive(self, name: str, data: bytes) -> bool:
        """Write a file under a name nobody holds; False where somebody does.

        Of any number of callers with one name at most one is told True. The bytes that stand may
        still be those of a caller that is told False, if a network repeated its request:
        :meth:`settle`.
        """
        return self.files.create(name, data)

    def settle(self, name: str, data: bytes) -> bytes:
        """Try to write a file under a name nobody holds, and say what stands there.

        Returns
        -------
        bytes
            `data` itself if it stands, else what another wrote. With a nonce in `data` equality
            means that this call wrote it, whatever the network repeated.
        """
        return data if self.files.create(name, data) else self.files.read(name)


def manifest_problem(data: bytes | None) -> str | None:
    """What is wrong with a manifest; None where it is a run directory's.

    Examples
    --------
    >>> manifest_problem(b'{"format": "judgerel-run/2"}') is None, manifest_problem(b"")
    (True, 'is empty')
    """
    if data is None:
        return "is gone"
    if not data.strip():
        return "is empty"
    try:
        content = json.loads(data)
    except (ValueError, RecursionError) as error:
        return f"is not JSON: {error}"
    if not isinstance(content, dict):
        return f"is not a JSON object, it starts with {data[:20].decode(errors='replace')!r}"
    stated = content.get("format")
    if stated != FORMAT and _is_manifest_format_meant(data, content):
        return f"states another format, expected {FORMAT!r}, got {stated!r}"
    if content != {"format": FORMAT} and sealed_run(data, MANIFEST) is None:
        return "is altered: its seal does not hold"
    return None


def _is_manifest_format_meant(data: bytes, content: Mapping[str, object]) -> bool:
    """Whether a manifest states its format on purpose; else it may be a flipped bit of ours.

    Versions before had no place in their seals.
    """
    return PLACE not in content or sealed_run(data, MANIFEST) is not None


def other_format(data: bytes | None) -> str | None:
    """Tell the format of a run of another version by its manifest; None of any other manifest.

    Examples
    --------
    >>> other_format(b'{"format": "judgerel-run/1"}'), other_format(b'{"format": "judgerel-run/2"}')
    ('judgerel-run/1', None)
    """
    content = json_object(data) or {}
    stated = content.get("format")
    if not isinstance(stated, str) or stated == FORMAT or not _FORMAT.fullmatch(stated):
        return None
    return stated if _is_manifest_format_meant(data or b"", content) else None


def judge_folder(judge: str) -> str:
    """Name of a judge's folder: safe in every file system and one to one.

    Parameters
    ----------
    judge : str
        The judge's name in the sweep file.

    Returns
    -------
    str
        ``judge=`` and the percent-encoded name; the tail of a very long name becomes its digest.

    Examples
    --------
    >>> judge_folder("meta-llama/Llama 3")
    'judge=meta-llama%2FLlama%203'
    """
    slug = quote(judge, safe="")
    if len(slug) > _SLUG_LENGTH:
        slug = f"{slug[:_SLUG_LENGTH]}%~{digest({'judge': judge})}"  # quote() never writes "%~"
    return f"judge={slug}"


def _absolute_store_address(url: str) -> str:
    """Spell an address so that every process reads it alike."""
    if "::" in url:
        raise StoreError("expected a plain URL, got a chain of file systems", where={"url": url})
    if url.startswith("file://"):
        return os.path.abspath(unquote(urlsplit(url).path))
    if "://" in url:
        return url.rstrip("/")
    return os.path.abspath(Path(url).expanduser())
