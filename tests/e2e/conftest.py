"""Runs of the demo's judge on real vLLM: each is made once, for the tests of all files here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from shutil import copytree

import pytest

from judgerel_ray.cli import main
from judgerel_ray.fleet import Fleet, Outside

ROOT = Path(__file__).resolve().parents[2]
TEMPLATE = ROOT / "judgerel_ray/protocols/best_of/templates/default"
UNDECIDED = 1e-4
AGAIN = 20
"""Replications of what is asked again; a key and its seed do not depend on how many there are."""


@pytest.fixture(scope="session")
def demo_sweep() -> Path:
    """The sweep of ``make demo``."""
    return ROOT / "jobs" / "demo__tiny-judge__cpu.toml"


@pytest.fixture(scope="session")
def questions_sweep() -> Path:
    """The sweep of the demo's judge alone: 16 questions, at four temperatures."""
    return ROOT / "demo" / "questions.toml"


@pytest.fixture(scope="session")
def lean() -> Callable[..., int]:
    """A command whose engines are a process less each: a third of what starting them takes.

    vLLM has a worker beside the core of every engine on the CPU; here the core does its work. The
    demo's run, the tests of an engine and the server keep the worker that users have.
    """

    def do(*arguments: str) -> int:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("VLLM_ENABLE_V1_MULTIPROCESSING", "0")  # of the worker: the core is apart
            return main(arguments)

    return do


@pytest.fixture(scope="session")
def run_lean(lean: Callable[..., int]) -> Callable[[Path, Path], int]:
    """Run a sweep so."""
    return lambda sweep, out: lean("run", str(sweep), "--out", str(out))


@pytest.fixture(scope="session")
def demo_run(ray_local, demo_sweep, tmp_path_factory) -> Path:  # noqa: ARG001  a cluster must be up
    """A finished run of it, by an engine a judge."""
    run = tmp_path_factory.mktemp("demo") / "run"
    assert main(["run", str(demo_sweep), "--out", str(run)]) == 0
    return run


@pytest.fixture(scope="session")
def questions_run(ray_local, questions_sweep, run_lean, tmp_path_factory) -> Path:  # noqa: ARG001
    """A finished run of the demo's judge over its questions, by one engine."""
    run = tmp_path_factory.mktemp("questions") / "run"
    assert run_lean(questions_sweep, run) == 0
    return run


@pytest.fixture(scope="session")
def questions_again(
    ray_local,  # noqa: ARG001  a cluster must be up
    questions_sweep,
    run_lean,
    engines_first,
    tmp_path_factory,
) -> Path:
    """The questions asked four times by two engines at once, each under a template of another name.

    As it is but for fewer replications (``default``), replies ended at their verdict (``early``), a
    few with the log-probabilities at their verdicts (``letters``), and explored (``exact``). The
    words are the default template's: a name is in no key and in no seed.
    """
    folder = tmp_path_factory.mktemp("again")
    for name in ("early", "letters", "exact"):
        copytree(TEMPLATE, folder / name)
    judge, ask = questions_sweep.read_text().replace("../", f"{ROOT}/").split("[[ask]]")
    judge = judge.replace("gpus = 0", "gpus = 0\nreplicas = 2")
    again = ask.replace("= 60", f"= {AGAIN}")
    few = ask.replace("[1.0, 0.75, 0.5, 0.0]", "[1.0, 0.0]").replace("= 60", "= 4")
    explored = ask.replace("replications = 60", 'mode = "exact"')
    sweep = (
        f"{judge}[[ask]]{again}"
        f'[[ask]]{again}templates = ["early"]\nearly_stop = true\n'
        f'[[ask]]{few}templates = ["letters"]\nverdict_logprobs = true\n'
        f'[[ask]]{explored}templates = ["exact"]\n'
        f"[ask.exact]\nundecided = {UNDECIDED}\n[fleet]\nlease_seconds = 0.2\n"
    )
    (folder / "s.toml").write_text(sweep)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Fleet, "outside", Outside(may_send=engines_first()))
        assert run_lean(folder / "s.toml", folder / "run") == 0
    return folder / "run"


@pytest.fixture(scope="session")
def n_again() -> int:
    """How many replications are asked again."""
    return AGAIN


@pytest.fixture(scope="session")
def undecided() -> float:
    """How much of a distribution the exploring engines may leave open."""
    return UNDECIDED
