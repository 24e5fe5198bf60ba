"""Many nights of a series: which earlier runs are looked at, and that nothing is asked twice."""

import random
import shutil
from pathlib import Path

import pytest

from judgerel_ray.analyses.drift import from_run
from judgerel_ray.asking import earlier_runs, refreshing
from judgerel_ray.core import StoreError
from judgerel_ray.store import scan_judgments, verify_run, whole_commits
from judgerel_ray.store.parts import expected_keys
from tests.reporting.test_refresh import World, without_page

NOTHING_FOUND = {"since": 1} | {
    name: [] for name in ("measures", "drift", "causes", "changes", "behind", "warnings")
}


@pytest.fixture
def world(tmp_path, driver_of, monkeypatch):
    made = World(tmp_path, driver_of)
    without_page(monkeypatch)
    # What a night shows is measured by other tests; here it is what nights ask.
    monkeypatch.setattr(from_run, "measure_refresh", lambda *_, **__: NOTHING_FOUND)
    monkeypatch.setattr(refreshing, "run_sweep", made.run_sweep)
    made.series("")
    return made


def small(world, names, *, replications=3):
    """Ask these questions, some times each, of systems that answer or not, and few anchors."""
    world.items("frozen.jsonl", n=2)
    world.items("system.jsonl", words="answers", n=20)
    lines = (world.folder / "system.jsonl").read_text().splitlines()
    (world.folder / "system.jsonl").write_text("\n".join(lines[i] for i in names))
    path = world.folder / "system.toml"
    lines = path.read_text().splitlines()
    lines = [f"replications = {replications}" if one[:4] == "repl" else one for one in lines]
    path.write_text("\n".join(lines) + "\n")


def asked_again(world):
    """Run a trigger: how many requests it asks of systems, and which it need not have asked."""
    held = {
        key
        for run in world.runs("system").values()
        for commit in whole_commits(run)
        for key in expected_keys(commit.conditions)
    }
    world.asked.clear()
    assert world.go().state in {"done", "unchanged"}
    runs = world.runs("system")
    last = runs[max(runs)]
    systems = set(scan_judgments(last).collect()["key"])
    asked = [key for key in world.asked if key in systems]
    assert len(asked) == len(set(asked))
    assert [one for one in verify_run(last) if one.level == "error"] == []
    return len(asked), held.intersection(asked)


def asked_again_when_mended(world):
    """The same; a run that lost so much that it is refused is moved away, as the refusal says."""
    try:
        return asked_again(world)
    except StoreError as error:
        if "move the run's folder away" not in (error.hint or ""):
            raise
        shutil.rmtree(error.where["run"])
        return asked_again(world)


@pytest.mark.slow
@pytest.mark.parametrize("answers", [False, True])
def test_a_night_looks_at_as_many_runs_as_the_one_before(world, monkeypatch, answers):
    if answers:
        world.answered("system")
    looked, counts = [], []
    for module, name in (
        (earlier_runs, "whole_commits"),
        (refreshing, "whole_commits"),
        (earlier_runs, "read_whole_ledger"),
    ):
        plain = getattr(module, name)

        def look(run, plain=plain):
            looked.append(int(Path(run.url).parent.name))
            return plain(run)

        monkeypatch.setattr(module, name, look)
    for night in range(1, 7):
        small(world, range(night))
        looked.clear()
        assert world.go().state == "done"
        assert set(looked) <= {night - 1, night}
        counts.append(len(looked))
    assert len(set(counts[2:])) == 1


@pytest.mark.slow
@pytest.mark.parametrize("named", [0, earlier_runs.MOST_NAMED])
@pytest.mark.parametrize("answers", [False, True])
def test_a_question_that_comes_back_is_carried_from_whatever_run_has_it(
    world, monkeypatch, answers, named
):
    monkeypatch.setattr(earlier_runs, "MOST_NAMED", named)
    if answers:
        world.answered("system")
    of_one = 3 + 2 * answers
    for names, n_new in (
        (range(4), 4), ([1, 2, 3, 4], 1), ([2, 3, 4, 5], 1), ([0, 2, 3, 4, 5, 6], 1),
        (range(8), 1), (range(8), 0),
    ):  # fmt: skip
        small(world, names)
        assert asked_again(world) == (n_new * of_one, set())


@pytest.mark.slow
def test_replications_that_come_back_are_carried(world):
    for names, replications, n_asked in ((2, 6, 12), (3, 3, 3), (4, 3, 3), (5, 6, 3 + 3 + 6)):
        small(world, range(names), replications=replications)
        assert asked_again(world) == (n_asked, set())


@pytest.mark.slow
@pytest.mark.parametrize("of", ["data", "commits", "earlier.json", "all"])
def test_what_the_last_run_lost_is_carried_from_those_before(world, of):
    for n in range(1, 5):
        small(world, range(n))
        world.go()
    runs = world.runs("system")
    for run in runs.values() if of == "all" else [runs[4]]:
        path = Path(run.url, "earlier.json" if of == "all" else of)
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)  # as in a series of earlier versions
    small(world, range(5))
    # The question of the last run alone is lost with it.
    assert asked_again_when_mended(world) == (3 + 3 * (of in {"data", "commits"}), set())


@pytest.mark.slow
@pytest.mark.parametrize("of", ["system/data", ""])
def test_what_a_run_lost_that_a_newer_one_left_there_is_carried_from_an_older_one(world, of):
    for names in ([0, 1], [0, 1, 2], [1, 2, 3]):
        small(world, names)
        world.go()
    shutil.rmtree(world.folder / "out/refreshes/0002" / of)
    small(world, range(5))
    assert asked_again(world) == (3, set())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_nothing_that_a_run_holds_is_asked_again_whatever_else_is_lost(world, seed):
    draw = random.Random(seed)
    if seed % 2:
        world.answered("system")
    for night in range(8):
        names = sorted({night, *(i for i in range(night) if draw.random() < 0.7)})
        small(world, names, replications=draw.choice([3, 3, 2]))
        runs = list(world.runs("system").values())
        if runs and draw.random() < 0.4:
            lost = Path(draw.choice(runs).url, draw.choice(["data", "commits", "earlier.json"]))
            if lost.is_dir():
                shutil.rmtree(lost)
            else:
                lost.unlink(missing_ok=True)
        again = asked_again_when_mended(world)[1]
        assert not again
