"""What a refresh asks of a system that is pending in part, or that lost what landed."""

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from judgerel_ray.asking import refreshing
from judgerel_ray.asking.plan.resolve import resolve
from judgerel_ray.asking.run.opening import known_judges
from judgerel_ray.asking.run.pending import Pending
from judgerel_ray.asking.run.running import RunSummary
from judgerel_ray.asking.run.waves import _rounds_of_wave, later_requests
from judgerel_ray.config import read_sweep
from judgerel_ray.core import EngineError, request_key
from judgerel_ray.design import voices_of
from judgerel_ray.store import end_session, read_ledger, scan_judgments, verify_run
from tests.reporting.test_refresh import (
    BATCH,
    N_QUESTIONS,
    Cut,
    World,
    dying,
    flip_a_bit,
    without_page,
)

ADAPTIVE = "replications = { adaptive = 0.05, first = 5, max = 20, step = 5 }"


class Asking(World):
    """A world whose later blocks of adaptive judgments are asked, too, unless they are withheld."""

    withheld = False

    def run_sweep(self, sweep, *, out, address, console, known=None):
        ended = super().run_sweep(sweep, out=out, address=address, console=console, known=known)
        resolved = resolve(sweep, known=known_judges(out))
        (frame,) = resolved.frames
        if frame.ask.adaptive is None:
            return ended
        one = self.driver(resolved)
        one.out = out
        run, session, lease = one.run, one.begin(), 0
        asked = tuple((frame, voice) for voice in voices_of(frame, 0))
        while not self.withheld:
            ledger = read_ledger(run)
            rounds = _rounds_of_wave(run, ledger, asked, 0)
            pending = Pending(asked=asked, wave=0, texts={}, ledger=ledger, rounds=rounds)
            rest = [ask for asks in pending.asks(None) for ask in asks][:BATCH]
            if not rest:
                break
            lease += 1
            self.asked += [
                request_key(ask.condition.condition_key, r)
                for ask in rest for r in ask.replications
            ]  # fmt: skip
            one._land(run, session.number, lease, rest, "", True, reply=self.reply)
        end_session(run, session.number)
        ledger = read_ledger(run)
        n_asked = one.plan.requests + later_requests(resolved, run, ledger).get("j", 0)
        return RunSummary(
            run=out, session=1, asked=n_asked, landed=ledger.n_rows, owed=n_asked - ledger.n_rows,
            failed=0, asked_now=ledger.n_rows, problems={},
        )  # fmt: skip


@pytest.fixture
def world(tmp_path, driver_of, monkeypatch):
    made = Asking(tmp_path, driver_of)
    without_page(monkeypatch)
    monkeypatch.setattr(refreshing, "run_sweep", made.run_sweep)
    return made


def adaptive(world):
    """Let the system's judge be asked until its verdicts on an answer are settled."""
    file = world.folder / "system.toml"
    file.write_text(file.read_text().replace("replications = 6", ADAPTIVE))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::judgerel_ray.ReadingWarning")
def test_later_blocks_that_are_pending_are_asked_by_the_next_refresh(world):
    world.series("anchor_every_h = 0\n")
    adaptive(world)
    world.withheld = True
    assert [world.go().state for _ in range(2)] == ["pending"] * 2
    assert [one.state for one in world.directory.refreshes()] == ["partial", "open"]
    n_left = world.directory.refreshes()[0].result["pending"]
    assert n_left > 0
    world.withheld = False
    assert world.go().line.startswith("refresh 2: done")
    assert [one.state for one in world.directory.refreshes()][:2] == ["partial", "done"]
    assert len(world.asked) == len(set(world.asked))
    # All is settled: the next refresh asks anchors alone.
    world.go()
    assert [one.name for one in world.directory.refreshes()[-1].sweeps] == ["anchors"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::judgerel_ray.ReadingWarning")
def test_a_judge_that_dies_with_later_blocks_pending_leaves_its_refresh_partial(world, monkeypatch):
    world.series("")
    adaptive(world)
    world.withheld = True
    assert world.go().state == "pending"
    n_left = int(world.go().line.split()[2])
    dying(world, monkeypatch, "system")
    later = datetime.now(UTC) + timedelta(hours=21)
    monkeypatch.setattr(refreshing, "_refresh_time_now", lambda: later)
    with pytest.raises(EngineError, match="404 retired"):
        world.go()
    first, second = world.directory.refreshes()
    assert (first.state, first.result["pending"], second.state) == ("partial", n_left, "open")
    # As of any sweep: a trigger tries the open refresh once, and opens no other one.
    with pytest.raises(EngineError, match="404 retired"):
        world.go()
    assert len(world.directory.refreshes()) == 2


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::judgerel_ray.ReadingWarning")
def test_verdicts_that_are_altered_keep_no_refresh_from_asking_them_again(world, capsys):
    world.series("")
    adaptive(world)
    world.go()
    flip_a_bit(world.runs("system")[1])
    code, _, told = world.told(capsys)
    assert (code, "not carried: a file that landed is altered" in told) == (0, True)
    assert verify_run(world.runs("system")[2]) == []
    assert world.go().state == "unchanged"


def lose(run, folder="data"):
    """Remove a folder of a run."""
    shutil.rmtree(Path(run.url, folder))


def ask_lost(world, run):
    """What ``judgerel run system.toml --out RUN --ask-lost`` does."""
    sweep = read_sweep(world.folder / "system.toml")
    one = world.driver(resolve(sweep))
    one.out = run.url
    end_session(run, one.begin(ask_lost=True).number)
    world.run_sweep(sweep, out=run.url, address=None, console=None)


@pytest.mark.slow
def test_an_open_refresh_that_lost_much_is_refused_before_it_pays_twice(world, capsys):
    world.series("")
    world.go()
    world.items("system.jsonl", words="answers", n=3 * N_QUESTIONS)
    world.cut_after = 2
    with pytest.raises(Cut):
        world.go()
    world.cut_after = None
    run = world.directory.run(world.directory.refreshes()[1], "system")
    n_landed, n_asked = read_ledger(run).n_rows, len(world.asked)
    lose(run)
    capsys.readouterr()
    for _ in range(2):
        code, out, told = world.told(capsys)
        assert (code, out, len(world.asked)) == (2, "", n_asked)
        assert told.count("\n") == 1
        # What the first refresh holds could be carried again: that is no loss.
        assert f"(data as a whole): 360 of {n_landed} rows [run={run.url}]" in told
        assert "move the run's folder away" in told
    ask_lost(world, run)
    n_asked = len(world.asked)
    assert world.told(capsys)[0] == 0
    assert (len(world.asked), read_ledger(run).n_rows) == (n_asked, 6 * 3 * N_QUESTIONS)


@pytest.mark.slow
def test_what_goes_while_a_refresh_is_open_is_refused_too(world, capsys):
    world.series("")
    world.go()
    world.items("system.jsonl", words="answers", n=N_QUESTIONS + 1)
    world.cut_after = 0
    with pytest.raises(Cut):
        world.go()
    world.cut_after = None
    n_asked = len(world.asked)
    run = world.runs("system")[1]
    lose(run)
    capsys.readouterr()
    code, out, told = world.told(capsys)
    assert (code, out, told.count("\n")) == (2, "", 1)
    assert f"240 of 240 rows [run={run.url}]" in told
    assert len(world.asked) == n_asked + 6 * N_QUESTIONS  # anchors alone


@pytest.mark.slow
def test_anchors_of_an_open_refresh_that_lost_much_are_asked_anew_once_moved(world, capsys):
    world.series("anchor_every_h = 0\n")
    world.items("frozen.jsonl", n=4 * BATCH)
    world.go()
    world.cut_after = 2
    with pytest.raises(Cut):
        world.go()
    world.cut_after = None
    run = world.directory.run(world.directory.refreshes()[1], "anchors")
    lose(run)
    capsys.readouterr()
    code, _, told = world.told(capsys)
    assert (code, told.count("\n")) == (2, 1)
    # As an anchor run begins with a later replication, no command of its own could go on with it.
    assert "judgerel run" not in told
    assert "move the run's folder away" in told
    Path(run.url).rename(world.folder / "away")
    assert world.told(capsys)[0] == 0
    assert read_ledger(run).n_rows == 6 * 4 * BATCH


@pytest.mark.slow
def test_answers_of_anchors_are_asked_once_and_judged_again(world):
    world.series("anchor_every_h = 0\n")
    world.items("frozen.jsonl", n=4)
    world.answered("anchors")
    for _ in range(3):
        world.go()
    assert len(world.asked) == len(set(world.asked))
    for run in world.runs("anchors").values():
        rows = scan_judgments(run).collect()
        assert rows.filter(role="responder").height == 2 * 4


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::judgerel_ray.ReadingWarning")
def test_an_adaptive_system_put_back_as_it_was_is_held_against_its_own_verdicts(world):
    world.series("")
    adaptive(world)
    for options in (["x", "y"], ["x", "y", "z"], ["x", "y"]):
        lines = (
            json.dumps({"item_id": f"q{n}", "question": f"answers {n}?", "options": options})
            for n in range(6)
        )
        (world.folder / "system.jsonl").write_text("\n".join(lines))
        found = world.go()
    assert found.state == "unchanged"
    assert len(world.asked) == len(set(world.asked))


@pytest.mark.slow
@pytest.mark.parametrize("by", ["run", pytest.param("moving", marks=pytest.mark.slow)])
def test_a_system_whose_last_run_lost_much_is_refused_before_it_is_paid_twice(world, capsys, by):
    world.series("")
    world.go()
    run = world.runs("system")[1]
    lose(run)
    world.asked.clear()
    capsys.readouterr()
    code, out, told = world.told(capsys)
    assert (code, out, told.count("\n"), world.asked) == (2, "", 1, [])
    assert f"(data as a whole): {6 * N_QUESTIONS} of {6 * N_QUESTIONS} rows [run={run.url}]" in told
    assert "move the run's folder away: the next refresh carries what other runs hold" in told
    assert len(world.directory.refreshes()) == 1
    if by == "run":
        ask_lost(world, run)
        assert (len(world.asked), world.told(capsys)[1].splitlines()[0]) == (
            6 * N_QUESTIONS, "nothing changed: no request is new"
        )  # fmt: skip
        world.items("system.jsonl", words="answers", n=N_QUESTIONS + 1)
    else:
        world.items("system.jsonl", words="answers", n=N_QUESTIONS + 1)
        assert world.told(capsys)[0] == 2
        Path(run.url).rename(world.folder / "away")
    code, out, _ = world.told(capsys)
    assert (code, out.splitlines()[0]) == (0, "refresh 2: done")
    # What was lost, once; anchors of this refresh, and the new item.
    assert len(world.asked) == (2 * N_QUESTIONS + 1) * 6


@pytest.mark.slow
def test_losses_that_nothing_asks_for_are_refused_by_nobody(world, capsys):
    world.series("")
    world.go()
    lose(world.runs("system")[1])
    world.items("system.jsonl", words="other")
    assert world.told(capsys)[0] == 0
    assert len(world.asked) == len(set(world.asked))


def test_a_little_that_is_lost_is_told_and_asked_again(world, capsys):
    world.series("")
    world.items("system.jsonl", words="answers", n=4 * BATCH)
    world.go()
    run = world.runs("system")[1]
    Path(run.address(read_ledger(run).commits[0].data_file)).unlink()
    n_asked = len(world.asked)
    code, _, told = world.told(capsys)
    assert (code, len(world.asked) - n_asked) == (0, 6 * N_QUESTIONS + 6 * BATCH)
    assert "system: lost: the files of 1 commits are gone, cut or altered " in told
    assert f"their {6 * BATCH} rows are asked again" in told


@pytest.mark.slow
def test_texts_that_are_gone_make_nobody_ask_again(world, capsys):
    world.series("")
    world.go()
    lose(world.runs("system")[1], "texts")
    assert world.go().state == "unchanged"
    for n in range(1, 3):
        n_asked = len(world.asked)
        world.items("system.jsonl", words="answers", n=N_QUESTIONS + n)
        code, _, told = world.told(capsys)
        assert (code, len(world.asked) - n_asked) == (0, 6 * N_QUESTIONS + 6)
        assert "not carried" not in told
        run = world.runs("system")[1 + n]
        assert read_ledger(run).n_rows == 6 * (N_QUESTIONS + n)
        assert {one.kind for one in verify_run(run)} == {"missing_file"}
