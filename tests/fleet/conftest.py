"""Conditions, asks and leases to work on, and sweeps of simulated judges to run."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from judgerel_ray.core import Ask, Condition, Menu, Message
from judgerel_ray.engines import EngineSpec
from judgerel_ray.fleet import JudgeSpec
from judgerel_ray.fleet.judge_actor import JudgeActor
from judgerel_ray.store import RunDirectory, leave_token

MENU = Menu(labels=("A", "B", "C"), option_ids=("x", "y", "z"), form="best_response")


def make_condition(item: str = "q1", temperature: float = 1.0, **changes: Any) -> Condition:
    """A condition of an item; its key says which one it is."""
    values: dict[str, Any] = {
        "condition_key": f"{item}@{temperature}",
        "seed_base": 1000,
        "judge": "j",
        "judge_fingerprint": "f",
        "benchmark": "b",
        "item_id": item,
        "protocol": "best_of",
        "stage": "judge",
        "role": "judge",
        "prompt": (Message(role="user", content=f"Which is best, for {item}?"),),
        "template": "default",
        "temperature": temperature,
        "top_k": 50,
        "top_p": 1.0,
        "max_tokens": 8,
        "menu": MENU,
    }
    return Condition(**{**values, **changes})


def make_ask(item: str = "q1", first: int = 0, n: int = 1, **changes: Any) -> Ask:
    """An ask of one item."""
    return Ask(condition=make_condition(item, **changes), first=first, n=n)


def make_items(
    n_items: int, n: int, temperatures: Sequence[float] = (1.0,)
) -> list[tuple[Ask, ...]]:
    """Asks of several items, each item's side by side."""
    return [
        tuple(make_ask(f"q{i}", n=n, temperature=t) for t in temperatures) for i in range(n_items)
    ]


def requests(asks: Iterable[Ask]) -> list[tuple[str, int]]:
    """Every replication asked, by condition."""
    return [(ask.condition.condition_key, r) for ask in asks for r in ask.replications]


@pytest.fixture(scope="session")
def asking() -> SimpleNamespace:
    """Builders: ``condition``, ``ask``, ``items``; and the ``requests`` in asks."""
    return SimpleNamespace(
        condition=make_condition, ask=make_ask, items=make_items, requests=requests
    )


@pytest.fixture
def run_here(tmp_path: Path) -> RunDirectory:
    """An empty run directory with a token in it."""
    return RunDirectory.create(str(tmp_path / "run"))


@pytest.fixture
def make_actor_here(run_here: RunDirectory) -> Callable[..., JudgeActor]:
    """Judge actors as plain objects of this process, with simulated engines."""
    token = leave_token(run_here)

    def make(*, visibility_token: str = token, **options: Any) -> JudgeActor:
        max_model_len = options.pop("max_model_len", None)
        engine = EngineSpec(
            name="j",
            engine="simulated",
            model="uniform",
            engine_options=options,
            max_model_len=max_model_len,
        )
        return JudgeActor(
            JudgeSpec(engine=engine, run=run_here, session=1, visibility_token=visibility_token)
        )

    return make


@pytest.fixture
def write_sweep(tmp_path: Path) -> Callable[..., Path]:
    """Write a sweep file of simulated judges, and its items beside it."""

    def write(
        judges: Sequence[dict[str, Any]],
        *,
        n_items: int = 12,
        replications: int = 10,
        temperatures: Sequence[float] = (1.0, 0.0),
        folder: Path = tmp_path,
        **fleet: Any,
    ) -> Path:
        rows = [
            f"q{i:03d},Which of these is number {i}?,this {i},that {i},those {i}"
            for i in range(n_items)
        ]
        lines = ["item_id,question,option_x,option_y,option_z", *rows]
        (folder / "items.csv").write_text("\n".join(lines) + "\n")
        text = ['name = "fleet-test"']
        for judge in judges:
            text.append("[[judge]]")
            given = {"engine": "simulated", "model": "uniform", "gpus": 0, **judge}
            text += [f"{key} = {toml(value)}" for key, value in given.items()]
        text += ["[[ask]]", 'protocol = "best_of"', 'benchmark = "mine"', 'path = "items.csv"']
        text += [f"temperatures = {toml(list(temperatures))}", f"replications = {replications}"]
        text += ["[fleet]", *(f"{key} = {toml(value)}" for key, value in fleet.items())]
        path = folder / "sweep.toml"
        path.write_text("\n".join(text) + "\n")
        return path

    return write


def toml(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(toml(one) for one in value) + "]"
    return json.dumps(value)
