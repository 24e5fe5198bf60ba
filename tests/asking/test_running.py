"""What a run refuses before it touches a cluster."""

import io
import json

import pytest
from rich.console import Console

import judgerel_ray
from judgerel_ray.asking.plan.planning import plan_resolved
from judgerel_ray.asking.run import running
from judgerel_ray.asking.run.opening import prepare_run
from judgerel_ray.asking.run.running import _leave_final, _run_board_at_start, is_mistake
from judgerel_ray.core import EngineLost, EngineStartError, StoreError, SweepError
from judgerel_ray.engines import model_files
from judgerel_ray.reporting.standing import status_text
from judgerel_ray.store import RunDirectory, begin_session
from judgerel_ray.store.status import read_status


def test_a_sweep_that_is_not_what_its_text_says_is_refused(sweep, tmp_path):
    changed = sweep().sweep.model_copy(update={"name": "other"})
    with pytest.raises(SweepError, match="must be as it was loaded"):
        judgerel_ray.run(changed, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_folder_that_is_somebodys_is_left_alone(sweep, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("x")
    with pytest.raises(StoreError, match=r"holds 'thesis\.tex'"):
        judgerel_ray.run(sweep().sweep, out=tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.tex"]


def test_a_run_that_ended_before_it_began_is_not_done(tmp_path):
    RunDirectory.create(str(tmp_path / "run"))
    status = read_status(str(tmp_path / "run"))
    assert (status.state, status.session, status.judges) == ("incomplete", 0, ())
    first, note, *_ = status_text(status.as_json()).splitlines()
    told = "(no name known): incomplete, landed 0 of an unknown number (session 0, "
    assert first.startswith(told)
    assert "no session has begun here" in note
    assert (status.as_json()["asked"], status.as_json()["owed"]) == (None, None)


def test_public_names_take_paths_and_text(sweep, tmp_path):
    sweep()
    file = tmp_path / "one" / "s.toml"
    assert judgerel_ray.load_sweep(file) == judgerel_ray.load_sweep(str(file))
    for absent in (tmp_path / "none.toml", str(tmp_path / "none.toml")):
        with pytest.raises(SweepError, match="no such sweep file"):
            judgerel_ray.run(absent, out=tmp_path / "run")


def test_the_package_offers_these_functions():
    verbs = [
        "init",
        "plan",
        "run",
        "exact",
        "status",
        "verify",
        "items",
        "import_judgments",
        "reduce",
    ]
    verbs += [
        "questions",
        "serving",
        "agree",
        "uncertainty",
        "distributions",
        "scales",
        "align",
        "rank",
    ]
    verbs += ["select", "systems", "panels", "cascade", "advise", "compare", "report", "refresh"]
    verbs += ["rejudge", "replay", "doctor", "gate", "correct", "label"]
    assert sorted(judgerel_ray.__all__) == sorted(
        ["ReadingWarning", "UnfinishedRunWarning", "__version__", "example", "load_sweep", *verbs]
    )


def test_what_an_engine_runs_into_is_nobodys_mistake():
    assert [kind for kind in (SweepError, StoreError, EngineStartError, EngineLost, ValueError)
            if is_mistake(kind("so"))] == [SweepError, StoreError]  # fmt: skip


@pytest.mark.parametrize("address", ["127.0.0.1:9", "nonsense"])
def test_a_dead_cluster_leaves_no_run_directory(sweep, tmp_path, address):
    with pytest.raises((SweepError, EngineStartError), match=address):
        judgerel_ray.run(sweep().sweep, out=tmp_path / "run", address=address)
    assert not (tmp_path / "run").exists()


@pytest.fixture
def ended(sweep, tmp_path):
    """A session of a run, and its board as it stands where nothing was asked."""
    resolved = sweep()
    plan = plan_resolved(resolved)
    run = prepare_run(resolved, plan, str(tmp_path / "run"))
    session = begin_session(run)
    return run, session, _run_board_at_start(resolved, plan, run, session)


def test_a_session_says_how_it_ended(ended):
    run, session, board = ended
    _leave_final(run, session, board)
    told = json.loads(run.read_text("progress.json"))
    assert (told["state"], told["judges"]["j"]["state"]) == ("incomplete", "incomplete")


def test_a_session_that_was_taken_over_says_no_more(ended):
    run, session, board = ended
    begin_session(run)
    run.write_text("progress.json", "of the other")
    _leave_final(run, session, board)
    assert run.read_text("progress.json") == "of the other"


def test_a_folder_that_is_made_for_a_run_is_told(sweep, tmp_path, monkeypatch):
    monkeypatch.setattr(running, "_run_session", lambda *_, **__: None)
    resolved = sweep()
    for out, said in (("new/deep/run", "new"), ("new/deep/other", None), ("run", None)):
        told = io.StringIO()
        console = Console(file=told, width=40)
        running.run_sweep(resolved.sweep, out=str(tmp_path / out), console=console)
        line = f"made the folder {tmp_path / said} for the run directory\n" if said else ""
        assert told.getvalue() == line


def test_a_run_asks_the_hub_commit_that_it_is_handed(sweep, tmp_path, monkeypatch):
    sweep()
    file = tmp_path / "one" / "s.toml"
    text = file.read_text().replace('"simulated"', '"vllm"').replace('"uniform"', '"a/b"')
    file.write_text(text)
    commits = []

    def session(resolved, *_, **__):
        commits.append(resolved.pinned_spec("j").revision)

    monkeypatch.setattr(running, "_run_session", session)
    monkeypatch.setattr(model_files, "_cached_commit", lambda *_: None)
    monkeypatch.setattr(model_files, "_hub_commit", lambda *_: "b" * 40)
    model = {"kind": "hub", "name": "a/b", "revision": "main", "identity": "c" * 40}
    known = {"j": {"model": {**model, "resolved": True}}}
    for out, handed in (("run", known), ("run", None), ("other", None)):
        running.run_sweep(judgerel_ray.load_sweep(file), out=str(tmp_path / out), known=handed)
    assert commits == ["c" * 40, "c" * 40, "b" * 40]
