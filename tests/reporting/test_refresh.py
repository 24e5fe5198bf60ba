"""A series refreshed: what is asked, what it shows, and what survives."""

import json
import math
import shutil
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import ClassVar

import fsspec
import numpy as np
import polars as pl
import pytest
from fsspec.implementations.memory import MemoryFileSystem

import judgerel_ray
from judgerel_ray.asking import refreshing
from judgerel_ray.asking.plan.resolve import resolve
from judgerel_ray.asking.run.opening import known_judges
from judgerel_ray.asking.run.pending import Pending, landed_texts
from judgerel_ray.asking.run.pilot import PilotStop
from judgerel_ray.asking.run.running import RunSummary
from judgerel_ray.blocks.html import rendered_page
from judgerel_ray.cli import main
from judgerel_ray.core import Completion, EngineError, StoreError, SweepError, request_key
from judgerel_ray.design import voices_of
from judgerel_ray.reporting import pages
from judgerel_ray.store import (
    RunDirectory,
    end_session,
    holding,
    read_ledger,
    scan_judgments,
    verify_run,
)
from judgerel_ray.store.files import Bucket
from judgerel_ray.store.holding import take_lease
from judgerel_ray.store.series import SeriesDirectory
from judgerel_ray.store.status import read_status

ROOT = Path(__file__).resolve().parents[2]
N_QUESTIONS = 40
BATCH = 30
JUDGE = '[[judge]]\nname = "j"\nengine = "simulated"\nmodel = "{model}"\ngpus = 0\n'
ASK = '[[ask]]\nprotocol = "best_of"\nbenchmark = "mine"\npath = "{items}"\nreplications = 6\n'


class Cut(BaseException):
    """A kill in mid-run."""


class World:
    """A series whose judge and system change at will, asked without a cluster."""

    def __init__(self, folder: Path, driver):
        self.folder, self.driver = folder, driver
        self.shift = 0.0
        """Of the chance of the first answer: a hosted judge that changes behind its name."""
        self.heat = 0.0
        """How far that chance goes towards an even one: a judge that is served hotter."""
        self.says_a = False
        self.cut_after: int | None = None
        self.unanswered = 0
        self.asked: list[str] = []
        self.series()
        self.sweep("anchors", items="frozen.jsonl")
        self.sweep("system", items="system.jsonl")
        self.items("frozen.jsonl")
        self.items("system.jsonl", words="answers")

    def series(self, more="anchor_every_h = 0\n", drift=""):
        text = f'name = "nightly"\nout = "out"\n{more}'
        text += '[[sweep]]\npath = "anchors.toml"\nrole = "anchor"\n'
        text += f'[[sweep]]\npath = "system.toml"\n{drift}'
        (self.folder / "series.toml").write_text(text)

    def sweep(self, name, *, items, model="uniform", more=""):
        text = f'name = "{name}"\n' + JUDGE.format(model=model) + ASK.format(items=items) + more
        (self.folder / f"{name}.toml").write_text(text)

    def items(self, name, *, n=N_QUESTIONS, words="plain"):
        lines = [
            json.dumps({"item_id": f"q{i}", "question": f"{words} {i}?", "options": ["x", "y"]})
            for i in range(n)
        ]
        (self.folder / name).write_text("\n".join(lines))

    def go(self):
        return judgerel_ray.refresh(self.folder / "series.toml")

    def told(self, capsys):
        code = main(["refresh", str(self.folder / "series.toml")])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    @property
    def directory(self):
        return SeriesDirectory(url=str(self.folder / "out"))

    def answered(self, sweep):
        """Let models answer a sweep's questions first, and the judge judge what they said."""
        file = self.folder / f"{sweep}.toml"
        judges = "".join(
            JUDGE.format(model="uniform").replace('"j"', f'"{name}"')
            + f"engine_options = {{seed = {n}}}\n"
            for n, name in enumerate("ab")
        )
        text = file.read_text().replace("[[ask]]", f"{judges}[[ask]]")
        file.write_text(f'{text}responders = ["a", "b"]\n')

    def runs(self, sweep):
        found = self.directory.runs(sweep, self.directory.refreshes())
        return {one.number: run for one, run in found}

    def keys(self, sweep):
        return {
            n: scan_judgments(run).collect()["key"].to_list() for n, run in self.runs(sweep).items()
        }

    def run_sweep(self, sweep, *, out, address, console, known=None):  # noqa: ARG002
        """Land what is pending, item by item, as a run on a cluster does."""
        resolved = resolve(sweep, known={**known_judges(out), **(known or {})})
        one = self.driver(resolved)
        one.out = out
        run, session, lease = one.run, one.begin(), 0
        for wave in range(max(frame.n_waves for frame in resolved.frames)):
            ledger = session.ledger if wave == 0 else read_ledger(run)
            texts = landed_texts(run, ledger) if wave else {}
            for name in resolved.specs:
                voices = ((f, v) for f in resolved.frames for v in voices_of(f, wave))
                asked = tuple((frame, voice) for frame, voice in voices if voice.name == name)
                pending = Pending(asked=asked, wave=wave, texts=texts, ledger=ledger)
                rest = [ask for asks in pending.asks(None) for ask in asks]
                for batch in (rest[i : i + BATCH] for i in range(0, len(rest), BATCH)):
                    if self.cut_after is not None and lease >= self.cut_after:
                        raise Cut
                    lease += 1
                    self.asked += [
                        request_key(ask.condition.condition_key, r)
                        for ask in batch for r in ask.replications
                    ]  # fmt: skip
                    one._land(run, session.number, lease, batch, "", True, reply=self.reply)
        end_session(run, session.number)
        landed = len(scan_judgments(RunDirectory.open(out)).collect())
        return RunSummary(
            run=out, session=1, asked=landed + self.unanswered, landed=landed,
            owed=self.unanswered, failed=0, asked_now=landed, problems={},
        )  # fmt: skip

    @staticmethod
    def usual(law):
        """A question's chance of the first answer."""
        return 0.1 + 0.5 * law.uniform()

    def reply(self, ask, replication):
        """A verdict drawn by what is asked, or a responder's answer."""
        condition = ask.condition
        key = request_key(condition.condition_key, replication)
        prompt = "".join(message.content for message in condition.prompt)
        law = np.random.default_rng(int(condition.item_id[1:]))
        usual = self.usual(law) + self.shift + 0.3 * ("better" in prompt)
        usual += self.heat * (0.5 - usual)
        odds = (usual / (1 - usual)) ** (1 / condition.temperature)
        usual = odds / (1 + odds)
        first = np.random.default_rng(int(key[:12], 16)).uniform() < usual
        text = f"so {key}"
        if condition.role == "judge":
            chosen = min(condition.menu.option_ids) if first else max(condition.menu.option_ids)
            place = 0 if self.says_a else condition.menu.option_ids.index(chosen)
            text = f"Best Response: [[{condition.menu.labels[place]}]]"
        return Completion(
            key=key, replication=replication, seed=condition.seed_base + replication, text=text,
            finish_reason="stop", prompt_tokens=1, cached_tokens=0, completion_tokens=1,
        )  # fmt: skip


def without_page(monkeypatch):
    """Leave the page empty that each refresh writes: its charts take as long as the rest."""
    monkeypatch.setattr(pages, "rendered_page", lambda *_, **__: "")


@pytest.fixture
def world(tmp_path, driver_of, monkeypatch):
    made = World(tmp_path, driver_of)
    without_page(monkeypatch)
    monkeypatch.setattr(refreshing, "run_sweep", made.run_sweep)
    return made


@pytest.fixture
def with_page(world, monkeypatch):  # noqa: ARG001  which leaves it empty
    """The page as users have it."""
    monkeypatch.setattr(pages, "rendered_page", rendered_page)


@pytest.mark.slow
def test_what_did_not_change_is_not_asked_again(world):
    world.series("")
    assert world.go().state == "done"
    assert len(world.asked) == 2 * 6 * N_QUESTIONS
    found = world.go()
    assert (found.state, found.line) == ("unchanged", "nothing changed: no request is new")
    assert [one.number for one in world.directory.refreshes()] == [1]
    assert len(world.asked) == 2 * 6 * N_QUESTIONS


@pytest.mark.slow
def test_a_new_item_is_asked_alone_and_anchors_with_it(world):
    world.series("")
    world.go()
    world.asked.clear()
    world.items("system.jsonl", words="answers", n=N_QUESTIONS + 2)
    assert world.go().state == "done"
    assert len(world.asked) == 6 * N_QUESTIONS + 2 * 6
    systems, anchors = world.keys("system"), world.keys("anchors")
    # The run is whole by itself, and holds the rows of the first as they landed there.
    assert (len(systems[2]), set(systems[1]) < set(systems[2])) == (6 * (N_QUESTIONS + 2), True)
    assert not set(anchors[1]) & set(anchors[2])
    rows = scan_judgments(world.runs("anchors")[2]).collect()
    assert rows["replication"].unique().sort().to_list() == list(range(6, 12))
    assert rows["seed"].n_unique() == rows.height
    for sweep in ("anchors", "system"):
        for run in world.runs(sweep).values():
            assert verify_run(run) == []
            assert read_status(run.url).state == "done"


@pytest.mark.usefixtures("with_page")
def test_a_judge_that_changes_behind_its_name_raises_the_alarm(world, capsys):
    for _ in range(3):
        assert world.told(capsys)[0] == 0
    world.shift = 0.35
    code, out, err = world.told(capsys)
    assert code == 6, out + err
    assert "ALARM since refresh 4" in out
    assert err.splitlines()[-1].startswith("judgerel: drift of judge j since refresh 4. Try: ")
    summary = json.loads((world.folder / "out/summary.json").read_text())
    assert (summary["alarm"], summary["judges"][0]["since"]) == (True, 4)
    assert summary["refreshes"][-1]["causes"] == [
        {"sweep": "anchors", "judge": "j", "cause": "judge"}
    ]
    history = pl.read_parquet(world.folder / "out/history.parquet")
    evidence = history.filter(pl.col("measure") == "drift_evidence")
    assert evidence["refresh"].to_list() == [1, 2, 3, 4]
    assert evidence["value"][-1] > 20
    assert "Drift: j since refresh 4" in (world.folder / "out/trend.html").read_text()
    # It stands until it is accepted.
    world.series("")
    assert world.told(capsys)[0] == 6
    world.series("", drift="[drift]\nsince = 4\n")
    assert world.told(capsys)[0] == 0


@pytest.mark.slow
def test_a_hotter_judge_is_caught_and_called_the_judge(world, monkeypatch):
    monkeypatch.setattr(
        world, "usual", lambda law: 0.03 + 0.94 * law.integers(2)
    )  # decided on each question, so that heat shows
    for _ in range(3):
        assert not world.go().alarm
    world.heat = 0.8
    found = world.go()
    assert found.alarm
    judge = {"sweep": "anchors", "judge": "j", "cause": "judge"}
    assert judge in found.summary["refreshes"][-1]["causes"]
    assert found.summary["refreshes"][-1]["changes"] == []


@pytest.mark.slow
def test_a_template_that_changes_under_its_name_is_caught_and_named(world):
    template = world.folder / "mine"
    shutil.copytree(ROOT / "judgerel_ray/protocols/best_of/templates/default", template)
    world.sweep("anchors", items="frozen.jsonl", more='templates = ["mine"]\n')
    for _ in range(3):
        assert not world.go().alarm
    words = (template / "question.txt").read_text()
    (template / "question.txt").write_text(words.replace("the single best", "the better"))
    found = world.go()
    assert found.alarm
    newest = found.summary["refreshes"][-1]
    assert {"sweep": "anchors", "judge": "j", "cause": "judge"} in newest["causes"]
    assert [one["change"].partition(": ")[0] for one in newest["changes"]] == [
        "ask[0] templates.mine"
    ]


@pytest.mark.slow
def test_anchors_at_another_temperature_are_caught_and_the_setting_is_named(world):
    world.sweep("anchors", items="frozen.jsonl", more="temperatures = [1.0]\n")
    for _ in range(2):
        assert not world.go().alarm
    world.sweep("anchors", items="frozen.jsonl", more="temperatures = [0.2]\n")
    found = world.go()
    assert found.alarm
    newest = found.summary["refreshes"][-1]
    assert {"sweep": "anchors", "judge": "j", "cause": "judge"} in newest["causes"]
    assert newest["changes"] == [
        {"sweep": "anchors", "judge": "j", "change": "ask[0] temperatures: 1.0, now 0.2"}
    ]
    # Those of before are held against no more: the next refresh is as this one.
    assert world.go().summary["judges"][0]["p"] > 0.05


@pytest.mark.slow
def test_a_system_judged_at_another_temperature_has_not_moved(world):
    world.sweep("system", items="system.jsonl", more="temperatures = [1.0]\n")
    for _ in range(2):
        world.go()
    world.sweep("system", items="system.jsonl", more="temperatures = [0.2]\n")
    newest = world.go().summary["refreshes"][-1]
    assert {one["cause"] for one in newest["causes"]} == {"neither"}
    assert newest["changes"] == [
        {"sweep": "system", "judge": "j", "change": "ask[0] temperatures: 1.0, now 0.2"}
    ]


@pytest.mark.slow
def test_a_better_system_under_a_steady_judge_is_the_system(world):
    for _ in range(3):
        world.go()
    world.items("system.jsonl", words="better")
    found = world.go()
    assert not found.alarm
    causes = {(one["sweep"], one["cause"]) for one in found.summary["refreshes"][-1]["causes"]}
    assert causes == {("system", "system")}
    history = pl.read_parquet(world.folder / "out/history.parquet")
    moved = history.filter(sweep="system", refresh=4, measure="share:1")
    assert moved["against"].to_list() == [1]
    assert moved["difference_low"][0] > 0.1


@pytest.mark.slow
def test_judge_and_system_that_move_together_are_both(world):
    world.go()
    world.go()
    world.shift = 0.35
    world.items("system.jsonl", words="other")
    causes = world.go().summary["refreshes"][-1]["causes"]
    assert [one["cause"] for one in causes] == ["both"]


@pytest.mark.slow
def test_what_changed_behind_a_judges_name_is_said(world):
    world.go()
    for name in ("anchors", "system"):
        world.sweep(
            name, items=f"{'frozen' if name == 'anchors' else name}.jsonl", model="position"
        )
    found = world.go()
    changes = {one["change"] for one in found.summary["refreshes"][-1]["changes"]}
    assert changes == {"model: uniform, now position"}


@pytest.mark.slow
def test_a_judge_that_says_one_thing_is_warned_of(world):
    world.says_a = True
    found = world.go()
    assert found.summary["warnings"][0] == (
        "judge j is near-constant: 100 % of its verdicts are A, so no case is told from another"
    )


@pytest.mark.slow
@pytest.mark.parametrize("cut_after", [pytest.param(0, marks=pytest.mark.slow), 1])
def test_a_killed_refresh_is_gone_on_with(world, cut_after):
    world.go()
    world.items("system.jsonl", words="answers", n=N_QUESTIONS + 5)
    before = list(world.asked)
    world.cut_after = cut_after
    with pytest.raises(Cut):
        world.go()
    world.cut_after = None
    assert world.go().line == "refresh 2: done"
    assert [one.state for one in world.directory.refreshes()] == ["done", "done"]
    asked = world.asked[len(before) :]
    assert len(asked) == len(set(asked)) == 6 * N_QUESTIONS + 6 * 5
    for sweep, n in (("anchors", N_QUESTIONS), ("system", N_QUESTIONS + 5)):
        keys = world.keys(sweep)[2]
        assert len(keys) == len(set(keys)) == 6 * n


class Kept(MemoryFileSystem):
    """A bucket that outlives those who write there."""

    protocol = ("kept",)
    store: ClassVar[dict] = {}
    pseudo_dirs: ClassVar[list] = [""]


@pytest.fixture
def lives(world, monkeypatch):
    """Put the series in a bucket, and give what kills its next trigger before a change there."""
    fsspec.register_implementation("kept", Kept, clobber=True)
    monkeypatch.setattr(Kept, "store", {})
    life = {"n": 0, "left": math.inf}

    def counted(do):
        def step(*given):
            life["left"] -= 1
            if life["left"] < 0:
                raise Cut  # who is dead changes nothing more, at no end of any block either
            return do(*given)

        return step

    def begin(left=math.inf):
        life.update(n=life["n"] + 1, left=left)

    for name in ("write", "create", "remove"):
        monkeypatch.setattr(Bucket, name, counted(getattr(Bucket, name)))
    monkeypatch.setattr(holding, "process_started", lambda _pid: f"life {life['n']}")
    world.items("frozen.jsonl", n=2)
    world.items("system.jsonl", n=2, words="answers")
    return begin


@pytest.mark.slow
@pytest.mark.parametrize("steps", [range(5), range(5, 37)])
def test_a_refresh_in_a_bucket_is_gone_on_with_wherever_it_is_killed(world, lives, steps):
    """Killed before each change that it makes: of the probe, the lease, the runs, the results."""
    for step in steps:
        world.series("")
        text = (world.folder / "series.toml").read_text()
        text = text.replace('"out"', f'"kept://nightly/{step}"')
        (world.folder / "series.toml").write_text(text)
        lives(step)
        with pytest.raises(Cut):
            world.go()
        lives()
        assert world.go().state in {"done", "unchanged"}
        assert [one.state for one in SeriesDirectory(url=f"kept://nightly/{step}").refreshes()] == [
            "done"
        ]


@pytest.mark.slow
def test_a_night_that_was_killed_costs_the_next_one_nothing(world, monkeypatch):
    world.series("")
    world.go()
    nights = iter(datetime.now(UTC) + timedelta(days=n) for n in range(1, 4))

    def fall():
        night = next(nights)
        monkeypatch.setattr(refreshing, "_refresh_time_now", lambda: night)

    fall()
    world.cut_after = 0
    with pytest.raises(Cut):
        world.go()
    world.cut_after = None
    fall()
    found = world.go()
    assert (found.state, found.line) == ("done", "refresh 2: done, then refresh 3: done")
    refreshes = world.directory.refreshes()
    assert [one.state for one in refreshes] == ["done"] * 3
    assert [one.started_at[:10] for one in refreshes] == sorted(
        {one.started_at[:10] for one in refreshes}
    )
    assert len(world.asked) == len(set(world.asked)) == (2 + 2) * 6 * N_QUESTIONS
    assert world.go().state == "unchanged"


def flip_a_bit(run):
    """Alter a file of judgments that landed in a run, and has a name in later ones, too."""
    file = sorted(Path(run.url, "data").rglob("*.parquet"))[0]
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    with file.open("r+b") as there:
        there.write(data)


@pytest.mark.slow
def test_damage_in_an_older_run_of_a_system_stops_no_refresh(world):
    world.series("")
    for n in range(2):
        world.items("system.jsonl", words="answers", n=N_QUESTIONS + n)
        world.go()
    shutil.rmtree(Path(world.runs("system")[1].url, "data"))  # other names of its files stay
    world.items("system.jsonl", words="answers", n=N_QUESTIONS + 2)
    found = world.go()
    assert (found.state, found.summary["warnings"]) == ("done", [])
    assert len(world.asked) == len(set(world.asked))


@pytest.mark.slow
def test_damage_in_the_last_run_of_a_system_is_said_and_asked_again(world, capsys):
    world.series("")
    world.go()
    flip_a_bit(world.runs("system")[1])
    n_asked = len(world.asked)
    world.items("system.jsonl", words="answers", n=N_QUESTIONS + 1)
    code, told, error = world.told(capsys)
    assert (code, told.splitlines()[0]) == (0, "refresh 2: done")
    assert "not carried: a file that landed is altered" in error
    assert "nothing is compared with refresh 1: a file that landed is altered" in told
    # Anchors, the new item, and the one batch that was lost.
    assert len(world.asked) - n_asked == 6 * N_QUESTIONS + 6 + 6 * BATCH
    rows = scan_judgments(world.runs("system")[2]).collect()
    assert (rows.height, rows["key"].n_unique()) == (6 * (N_QUESTIONS + 1), rows.height)


@pytest.mark.slow
def test_damaged_anchors_are_refused_before_anything_is_asked(world, capsys):
    world.go()
    flip_a_bit(world.runs("anchors")[1])
    n_asked = len(world.asked)
    code, _, told = world.told(capsys)
    assert (code, len(world.asked)) == (2, n_asked)
    told = told.splitlines()[-1]
    assert "anchors of refresh 1 cannot be read, and the alarm rests on them: " in told
    assert told.endswith("or begin the alarm anew with this refresh: since = 2 in [drift]")
    world.series(drift="[drift]\nsince = 2\n")
    code, told, _ = world.told(capsys)
    assert (code, told.splitlines()[0]) == (0, "refresh 2: done")


@pytest.mark.slow
def test_a_kill_before_the_result_asks_nothing_again(world, monkeypatch):
    monkeypatch.setattr(SeriesDirectory, "close", lambda *_: (_ for _ in ()).throw(Cut()))
    with pytest.raises(Cut):
        world.go()
    monkeypatch.undo()
    monkeypatch.setattr(refreshing, "run_sweep", world.run_sweep)
    n_asked = len(world.asked)
    assert world.go().state == "done"
    assert len(world.asked) == n_asked


@pytest.mark.slow
def test_an_unfinished_refresh_of_other_sweeps_is_replaced_and_its_rows_kept(world):
    world.series("")
    world.cut_after = 1
    with pytest.raises(Cut):
        world.go()
    world.cut_after = None
    world.items("frozen.jsonl", n=N_QUESTIONS + 1)
    assert world.go().line == "refresh 2: done"
    assert [one.state for one in world.directory.refreshes()] == ["replaced", "done"]
    # Anchors of the replaced refresh were asked in part: none of their keys is asked again.
    assert len(world.asked) == len(set(world.asked))


def test_twenty_triggers_at_once_are_one_refresh(world):
    world.series("")
    gate, states = threading.Barrier(20), []

    def trigger():
        gate.wait()
        states.append(world.go().state)

    threads = [threading.Thread(target=trigger) for _ in range(20)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert states.count("done") == 1
    assert set(states) <= {"done", "held", "unchanged"}
    assert len(states) == 20
    assert len(world.asked) == len(set(world.asked)) == 2 * 6 * N_QUESTIONS


@pytest.mark.slow
def test_who_finds_the_lease_taken_says_so_and_is_done(world, capsys):
    world.directory.files.prepare()
    lease = take_lease(world.directory.files)
    code, out, err = world.told(capsys)
    assert (code, err) == (0, "")
    assert out.startswith(f"another refresh holds the lease since {lease.taken_at} (process ")
    lease.release()
    assert world.told(capsys)[0] == 0


@pytest.mark.slow
def test_pending_requests_keep_a_refresh_open_until_its_time_is_over(world, capsys, monkeypatch):
    world.series("anchor_every_h = 20\n")
    world.unanswered = 3
    code, out, _ = world.told(capsys)
    assert (code, out) == (1, "refresh 1: 6 requests are pending\n")
    later = datetime.now(UTC) + timedelta(hours=21)
    monkeypatch.setattr(refreshing, "_refresh_time_now", lambda: later)
    code, out, _ = world.told(capsys)
    assert code == 1
    assert out.startswith("refresh 1: done; closed with 6 requests pending: the next one asks ")
    assert out.endswith(", then refresh 2: 3 requests are pending\n")
    assert [one.state for one in world.directory.refreshes()] == ["partial", "open"]


@pytest.mark.slow
def test_without_a_time_pending_requests_are_given_up_at_the_next_trigger(world):
    world.unanswered = 3
    assert [world.go().state for _ in range(3)] == ["pending", "partial", "pending"]
    assert [one.state for one in world.directory.refreshes()] == ["partial", "open"]


def dying(world, monkeypatch, *names):
    """Let no judge of some sweeps answer any more."""

    def run_sweep(sweep, **given):
        if sweep.name in names:
            raise EngineError(f"{sweep.name}: 404 retired")
        return world.run_sweep(sweep, **given)

    monkeypatch.setattr(refreshing, "run_sweep", run_sweep)


@pytest.mark.slow
def test_a_sweep_that_cannot_be_asked_keeps_no_other_from_it(world, capsys, monkeypatch):
    world.series("")
    world.go()
    dying(world, monkeypatch, "anchors")
    world.items("system.jsonl", words="answers", n=N_QUESTIONS + 1)
    n_asked = len(world.asked)
    code, _, told = world.told(capsys)
    assert (code, len(world.asked) - n_asked) == (3, 6)
    assert told.splitlines()[-3:] == [
        "anchors: anchors: 404 retired",
        f"refresh 2: {6 * N_QUESTIONS} requests are pending",
        "judgerel: anchors: 404 retired",
    ]
    later = datetime.now(UTC) + timedelta(hours=21)
    monkeypatch.setattr(refreshing, "_refresh_time_now", lambda: later)
    code, _, told = world.told(capsys)
    assert (code, len(world.asked) - n_asked) == (3, 6)
    assert "refresh 2: done; closed with 240 requests pending: " in told
    assert [one.state for one in world.directory.refreshes()][:2] == ["done", "partial"]


@pytest.mark.slow
def test_a_judge_that_is_stopped_early_is_told_and_the_refresh_stays_pending(
    world, capsys, monkeypatch
):
    stop = PilotStop(
        judge="j", ask=0, problem="stopped", evidence="One reply", remedy="another form"
    )

    def run_sweep(sweep, **given):
        return replace(world.run_sweep(sweep, **given), owed=7, stops=(stop,))

    monkeypatch.setattr(refreshing, "run_sweep", run_sweep)
    code, out, told = world.told(capsys)
    line = "stopped. One reply. Try: another form, or readable = 0 in ask[0] to go on"
    assert (code, out) == (1, "refresh 1: 14 requests are pending\n")
    assert [f"{name}: {line}" in told for name in ("anchors", "system")] == [True, True]


@pytest.mark.slow
def test_answers_of_a_system_are_carried_with_the_verdicts_on_them(world):
    world.series("")
    world.answered("system")
    world.go()
    n_asked = len(world.asked)
    assert n_asked == 6 * N_QUESTIONS + (2 + 6) * N_QUESTIONS
    world.items("system.jsonl", words="answers", n=N_QUESTIONS + 1)
    world.go()
    assert len(world.asked) - n_asked == 6 * N_QUESTIONS + 2 + 6
    assert verify_run(world.runs("system")[2]) == []


@pytest.mark.slow
def test_a_folder_or_a_series_of_others_is_refused(world, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("x")
    with pytest.raises(StoreError, match=r"holds 'thesis\.tex'"):
        world.go()
    (tmp_path / "out" / "thesis.tex").unlink()
    world.go()
    text = (tmp_path / "series.toml").read_text()
    (tmp_path / "series.toml").write_text(text.replace('"nightly"', '"other"'))
    with pytest.raises(StoreError, match="of another series: expected 'nightly', got 'other'"):
        world.go()


@pytest.mark.slow
@pytest.mark.usefixtures("with_page")
@pytest.mark.parametrize("name", ["history.parquet", "summary.json", "trend.html"])
def test_what_is_made_of_refreshes_is_made_again(world, name):
    world.series("")
    world.go()
    file = world.folder / "out" / name
    whole = file.read_bytes()
    file.unlink()
    assert world.go().state == "unchanged"
    assert file.read_bytes() == whole
    file.write_bytes(whole[:-9] + b"." * 9)
    world.go()
    assert file.read_bytes() == whole
    before = file.stat().st_mtime_ns
    world.go()
    assert file.stat().st_mtime_ns == before


@pytest.mark.parametrize(
    ("out", "said"),
    [
        ("a\\u0000b", "cannot be a path: "),
        ("~nobody-of-this-name/x", "cannot be a path: "),
        ("earlier/x", "lies in a run directory"),
    ],
)
def test_a_place_that_cannot_be_is_refused_in_one_line(world, capsys, out, said):
    RunDirectory.create(str(world.folder / "earlier"))
    text = (world.folder / "series.toml").read_text().replace('out = "out"', f'out = "{out}"')
    (world.folder / "series.toml").write_text(text)
    code, shown, told = world.told(capsys)
    assert (code, shown, told.count("\n")) == (2, "", 1)
    assert said in told
    assert world.asked == []


@pytest.mark.slow
def test_a_place_may_be_a_file_url(world, tmp_path):
    text = (tmp_path / "series.toml").read_text()
    (tmp_path / "series.toml").write_text(text.replace('"out"', f'"file://{tmp_path}/out"'))
    assert world.go().state == "done"
    assert len(world.runs("anchors")) == 1


@pytest.mark.slow
def test_refreshes_to_come_cannot_be_left_out(world, capsys):
    world.series("", drift="[drift]\nsince = 3\n")
    code, _, told = world.told(capsys)
    assert (code, told.count("\n"), world.asked) == (2, 1, [])
    assert "drift.since must be a refresh of the series or its next one, at most 1, got 3" in told
    world.series("", drift="[drift]\nsince = 1\n")
    assert world.told(capsys)[0] == 0


@pytest.mark.slow
def test_a_system_that_becomes_an_anchor_begins_anew(world):
    for n in range(3):
        world.items("system.jsonl", words="answers", n=N_QUESTIONS + n)
        world.go()
    text = (world.folder / "series.toml").read_text()
    (world.folder / "series.toml").write_text(f'{text}role = "anchor"\n')
    found = world.go().summary["judges"]
    (one,) = (one for one in found if one["sweep"] == "system")
    assert (one["p"], one["refreshes"]) == (None, 1)  # rows that were carried are no history
    keys = world.keys("system")
    assert not set(keys[4]) & {key for n in (1, 2, 3) for key in keys[n]}


@pytest.mark.slow
def test_a_clock_that_goes_back_asks_anchors_once(world, monkeypatch):
    world.series("")
    world.go()
    earlier = datetime.now(UTC) - timedelta(days=3)
    monkeypatch.setattr(refreshing, "_refresh_time_now", lambda: earlier)
    assert [world.go().state for _ in range(2)] == ["done", "unchanged"]
    assert len(world.asked) == len(set(world.asked)) == 3 * 6 * N_QUESTIONS


def test_anchors_must_be_sampled_a_fixed_number_of_times(world):
    world.sweep("anchors", items="frozen.jsonl", more='mode = "exact"\n')
    text = (world.folder / "anchors.toml").read_text().replace("replications = 6\n", "")
    (world.folder / "anchors.toml").write_text(text)
    with pytest.raises(SweepError, match="sample verdicts a fixed number of times"):
        world.go()


@pytest.mark.slow
def test_a_torn_record_is_named(world):
    world.go()
    record = world.folder / "out/refreshes/0001/result.json"
    record.write_bytes(record.read_bytes()[:-20])
    with pytest.raises(StoreError, match=r"torn or altered.*result\.json"):
        world.go()


def test_a_record_of_what_a_refresh_asks_that_is_gone_is_named(tmp_path):
    """Without it the refresh would be none: asked again, and missing from the drift."""
    directory = SeriesDirectory(url=str(tmp_path))
    directory.close(directory.begin(1, "2026-11-24T00:00:00+00:00", ()), {"state": "done"})
    (tmp_path / "refreshes/0002").mkdir()  # its writer died before it began anything
    assert [one.state for one in directory.refreshes()] == ["done"]
    (tmp_path / "refreshes/0001/refresh.json").unlink()
    with pytest.raises(StoreError, match=r"is gone.*0001/refresh\.json"):
        directory.refreshes()
