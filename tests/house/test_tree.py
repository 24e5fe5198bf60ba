"""What stands in no file: addresses of registries, one machine's paths, promises."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

# Words are put together here so that this file does not break the rule it keeps.
PYTORCH_CPU = "https://download." + "pytorch.org/whl/cpu"
REGISTRIES = re.compile(
    "|".join(
        ("py" + r"pi\.org", "python" + "hosted", r"registry\.npm" + "js", r"deb\.deb" + r"ian\.org")
    )
)
INDEX = re.compile(r"--(?:extra-)?index" + r"-url[ =]+(\S+)|--find" + "-links|--trusted" + "-host")
MACHINE = re.compile(r"(?<![\w.:/-])/(?:" + "wo" + "rk|ro" + r"ot)/\w")
PROMISES = re.compile(r"\b(?:TO" + "DO|FIX" + "ME|XX" + r"X)\b")
READ = {".ci", ".github", ".gitignore", ".dockerignore", ".pre-commit-config.yaml"}
SKIPPED = {"__pycache__", "runs", "build", "dist"}


def _is_ours(name: str) -> bool:
    """Not of git, of an environment, of a tool's cache, or of a run."""
    hidden = name.startswith(".") and name not in READ
    return not hidden and name not in SKIPPED and not name.endswith(".egg-info")


def _texts(root: Path):
    """Every text of the tree but what tools and runs leave, with its name."""
    for folder, folders, files in os.walk(root):
        # In place, so that an environment's hundred thousand files are never walked.
        folders[:] = sorted(filter(_is_ours, folders))
        for path in (Path(folder, name) for name in sorted(filter(_is_ours, files))):
            try:
                yield path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue


def addresses(name: str, text: str) -> list[str]:
    indexes = (
        match[0]
        for match in INDEX.finditer(text)
        if match[1] is None or match[1].rstrip("\"'`,;)") != PYTORCH_CPU
    )
    return [f"{name}: {found}" for found in (*REGISTRIES.findall(text), *indexes)]


def promises(name: str, text: str) -> list[str]:
    return [f"{name}: {match[0]}" for match in PROMISES.finditer(text)]


def machine_paths(name: str, text: str) -> list[str]:
    return [f"{name}: {match[0]}" for match in MACHINE.finditer(text)]


def test_the_tree_is_read(root):
    names = {name for name, _ in _texts(root)}
    assert {"Makefile", "pyproject.toml", ".ci/run", "judgerel_ray/__init__.py"} <= names


def test_no_package_registry_is_named(root):
    faults = [fault for name, text in _texts(root) for fault in addresses(name, text)]
    assert not faults, "\n".join(faults)


def test_nothing_is_promised_for_later(root):
    faults = [fault for name, text in _texts(root) for fault in promises(name, text)]
    assert not faults, "\n".join(faults)


def test_no_path_of_one_machine_is_named(root):
    faults = [fault for name, text in _texts(root) for fault in machine_paths(name, text)]
    assert not faults, "\n".join(faults)


def test_every_python_file_parses(every_module):
    # The fixture has parsed each; the count says that there were some.
    assert len(every_module) > 10


def test_addresses_are_found():
    flag = "pip install x --index" + "-url"
    bad = f"{flag} https://example.org/simple\n" + "https://py" + "pi.org/simple"
    assert len(addresses("f", bad)) == 2
    assert addresses("f", f"{flag} {PYTORCH_CPU}\n") == []


def test_promises_and_machine_paths_are_found():
    assert promises("f", "# TO" + "DO: later") == ["f: TO" + "DO"]
    assert machine_paths("f", "open('/wo" + "rk/x')") == ["f: /wo" + "rk/x"]
    assert machine_paths("f", "https://example.org/wo" + "rk/x") == []


OF_OURS = re.compile(
    r"(?:pipx?3? install|uv pip install|uv tool install|uvx|pipx run|pip download)\b"
    r"(?:(?! in a )[^\n])*?"
    r"[ \t'\"]judgerel(?:[_.-]ray)?(?=$|[\s'\"`\[=<>~!;,)])",
    re.IGNORECASE,
)  # an index gives a name to anyone: a checkout, a wheel's file or a URL is installed


def installs_by_name(name: str, text: str) -> list[str]:
    return [f"{name}: {found[0]}" for found in OF_OURS.finditer(text) if " @ " not in found[0]]


def test_nothing_installs_the_package_by_a_name_of_an_index(root):
    faults = [fault for name, text in _texts(root) for fault in installs_by_name(name, text)]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(
    "line",
    [
        "pip install judge" + "rel_ray",
        "python -m pip install --quiet 'judge" + "rel-ray[run]'",
        "uv pip install -U judge" + "rel_ray==0.1",
        "uvx judge" + "rel gate",
    ],
)
def test_installs_by_name_are_found(line):
    assert installs_by_name("f", line)


@pytest.mark.parametrize(
    "line",
    [
        "pip install '.[run]' in a checkout of judgerel_ray",
        "pip install dist/judgerel_ray-0.1.0-py3-none-any.whl",
        "pip install git+https://example.org/OWNER/judgerel_ray",
        'pip install --quiet "$GITHUB_ACTION_PATH/../../.."',
    ],
)
def test_installs_of_a_checkout_are_none(line):
    assert not installs_by_name("f", line)
