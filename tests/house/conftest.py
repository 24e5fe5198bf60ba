"""The tree the house rules read: parsed once, never imported."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """One Python file: where it is, what it says, what it means."""

    path: str
    text: str
    tree: ast.Module

    @property
    def room(self) -> str:
        """The room of the package it is in; its own name for a module directly in the package."""
        return self.path.split("/")[1].removesuffix(".py")


def _read(path: Path) -> Module:
    """Parse one file; a file that does not parse fails every rule with its name."""
    text = path.read_text(encoding="utf-8")
    name = path.relative_to(ROOT).as_posix()
    return Module(path=name, text=text, tree=ast.parse(text, filename=name))


def _modules(*folders: str) -> tuple[Module, ...]:
    return tuple(
        _read(path) for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))
    )


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository's root."""
    return ROOT


@pytest.fixture(scope="session")
def package() -> tuple[Module, ...]:
    """Every module of the package."""
    return _modules("judgerel_ray")


@pytest.fixture(scope="session")
def every_module() -> tuple[Module, ...]:
    """Every Python file of the project."""
    return _modules("judgerel_ray", "demo", "jobs", "bench", "cluster", "tests")


@pytest.fixture
def planted():
    """Make a module of a text, to see that a rule finds what it is for."""

    def plant(text: str, path: str = "judgerel_ray/store/planted.py") -> Module:
        return Module(path=path, text=text, tree=ast.parse(text))

    return plant
