"""A series whose judge is a model of a hub: one commit a refresh, also without the hub."""

import json

import pytest

from judgerel_ray.asking import refreshing
from judgerel_ray.core import EngineStartError
from judgerel_ray.engines import model_files
from judgerel_ray.store import read_manifest
from tests.reporting.test_refresh import ASK, N_QUESTIONS, Cut, World, without_page


@pytest.fixture
def world(tmp_path, driver_of, monkeypatch):
    made = World(tmp_path, driver_of)
    without_page(monkeypatch)
    monkeypatch.setattr(refreshing, "run_sweep", made.run_sweep)
    return made


@pytest.fixture
def hub(world, monkeypatch):
    """Judge by a model of a hub, of whose branch only the hub knows the commit."""

    class Hub:
        commit: str | None = "a" * 40
        """None where the user says that it is not to be asked."""
        is_down = False
        n_asked = 0

        def names(self, spec, revision):  # noqa: ARG002  as the real one has them
            self.n_asked += 1
            if self.is_down:
                raise EngineStartError("the hub cannot be asked", where={"judge": spec.name})
            return self.commit

        @staticmethod
        def commits(refresh):
            """Of its sweeps: what the judge was, the commit alone where an engine is held to it."""
            found = {}
            for sweep in ("anchors", "system"):
                model = read_manifest(world.runs(sweep)[refresh])["sweep"]["judge"]["j"]["model"]
                found[sweep] = model["identity"][:4] if model["resolved"] else "any"
            return found

    made = Hub()
    monkeypatch.setattr(model_files, "_hub_commit", made.names)
    monkeypatch.setattr(model_files, "_cached_commit", lambda *_: None)
    for name, items in (("anchors", "frozen.jsonl"), ("system", "system.jsonl")):
        judged_by_hub(world, name, items)
    world.series("")
    return made


def judged_by_hub(world, name, items, model="acme/judge-8B"):
    judge = f'name = "{name}"\n[[judge]]\nname = "j"\nmodel = "{model}"\n'
    (world.folder / f"{name}.toml").write_text(judge + ASK.format(items=items))


@pytest.mark.slow
@pytest.mark.parametrize("is_down", [False, True])
def test_a_night_without_a_hub_is_a_night_with_the_judges_of_before(world, hub, capsys, is_down):
    world.go()
    hub.commit, hub.is_down = None, is_down
    world.items("system.jsonl", words="answers", n=N_QUESTIONS + 1)
    n_asked = len(world.asked)
    code, told, said = world.told(capsys)
    assert (code, told.splitlines()[0]) == (0, "refresh 2: done")
    assert len(world.asked) - n_asked == 6 * (N_QUESTIONS + 1)
    assert hub.commits(2) == {"anchors": "aaaa", "system": "aaaa"}
    newest = json.loads((world.folder / "out/summary.json").read_text())["refreshes"][-1]
    assert [one["change"].partition(":")[0] for one in newest["changes"]] == ["ask[0] items"]
    assert [one["cause"] for one in newest["causes"]] == ["neither"]
    warned = [line for line in said.splitlines() if line.startswith("warning: ")]
    assert warned == is_down * [
        "warning: the hub cannot be asked [judge=j]; it stays what the series asked last, "
        + "a" * 40
    ]


@pytest.mark.slow
@pytest.mark.parametrize("is_down", [False, True])
@pytest.mark.parametrize("cut", ["anchors", "system", "before system"])
def test_a_refresh_begun_at_a_commit_goes_on_at_it_without_a_hub(
    world, hub, monkeypatch, cut, is_down
):
    world.go()
    hub.commit = "b" * 40
    world.items("system.jsonl", words="answers", n=N_QUESTIONS + 5)

    def run_sweep(sweep, **given):
        if cut == "before system" and sweep.name == "system":
            raise Cut
        world.cut_after = 1 if sweep.name == cut else None
        return world.run_sweep(sweep, **given)

    monkeypatch.setattr(refreshing, "run_sweep", run_sweep)
    with pytest.raises(Cut):
        world.go()
    cut, hub.commit, hub.is_down = "", None, is_down
    assert world.go().line == "refresh 2: done"
    assert hub.commits(2) == {"anchors": "bbbb", "system": "bbbb"}
    assert len(world.asked) == len(set(world.asked))
    assert world.go().state == "unchanged"


def test_a_branch_that_moves_during_a_refresh_is_one_commit_of_it(world, hub, monkeypatch):
    def run_sweep(sweep, **given):
        hub.commit = "b" * 40
        return world.run_sweep(sweep, **given)

    monkeypatch.setattr(refreshing, "run_sweep", run_sweep)
    world.go()
    assert hub.commits(1) == {"anchors": "aaaa", "system": "aaaa"}
    assert hub.n_asked == 1
    world.go()
    assert hub.commits(2) == {"anchors": "bbbb", "system": "bbbb"}


@pytest.mark.slow
def test_a_model_that_nothing_names_keeps_no_other_sweep_from_being_asked(world, hub, capsys):
    world.go()
    hub.is_down = True
    judged_by_hub(world, "system", "system.jsonl", model="acme/other")
    n_asked = len(world.asked)
    code, _, told = world.told(capsys)
    assert (code, len(world.asked) - n_asked) == (3, 6 * N_QUESTIONS)
    assert told.splitlines()[-3:] == [
        "system: the hub cannot be asked [judge=j]",
        f"refresh 2: {6 * N_QUESTIONS} requests are pending",
        "judgerel: the hub cannot be asked [judge=j]",
    ]
    assert sorted(world.runs("system")) == [1]  # nothing was begun as a judge that nobody knows
    hub.is_down = False
    assert world.go().line == "refresh 2: done"
    assert hub.commits(2) == {"anchors": "aaaa", "system": "aaaa"}
