"""Runs that ask a cascade, without a cluster: what is asked on, killed anywhere, and told."""

import random

import polars as pl
import pytest

from judgerel_ray.analyses.panels.from_run import cascaded_of
from judgerel_ray.asking.run.pending import NeverSent, Pending, landed_texts
from judgerel_ray.core import Completion, request_key
from judgerel_ray.design import CutText, voices_of
from judgerel_ray.store import end_session, read_ledger, scan_judgments, verify_run
from judgerel_ray.store.records import PROGRESS, seal
from judgerel_ray.store.status import read_status
from tests.opening import snapshot

ITEMS = [
    f'{{"item_id": "q{i}", "question": "Which {i}?", "options": ["a", "b", "c"], "gold": "b"}}'
    for i in range(4)
]
CASCADE = (
    'responders = ["small", "large"]\ncascade = 0.8\ntemperatures = [1.0, 0.0]\n'
    "replications = 3\nrepeat_greedy = 2\n"
)
SELECTED = "Option: 0\nJustification: x\n\nOption: 1\nJustification: y"
CHOSEN = (
    ("Final Answer: 1\nConfidence: 0.9", "stop"),
    ("Final Answer: 0\nConfidence: 0.5", "stop"),
    ("Final Answer: 1\nConfidence: 0.9", "length"),  # nobody knows what it would have become
    ("Neither of them.", "stop"),
)


class Killed(BaseException):
    """The driver is gone."""


def reply(ask, replication):
    """A reply that follows from what is asked and from nothing else."""
    key = request_key(ask.condition.condition_key, replication)
    text, end = SELECTED, "stop"
    seed = None if ask.condition.temperature == 0 else ask.condition.seed_base + replication
    if ask.condition.stage == "choose":
        text, end = random.Random(key).choice(CHOSEN)
    return Completion(
        key=key, replication=replication, seed=seed, text=text, finish_reason=end,
        prompt_tokens=10, cached_tokens=0, completion_tokens=5,
    )  # fmt: skip


def ask_all(driver, *, dies_after=None):
    """Ask what is pending, wave by wave; the driver may die after so many leases."""
    run, session = driver.run, driver.begin()
    lease = 0
    for wave in range(4):
        ledger = read_ledger(run)
        texts = landed_texts(run, ledger)
        for name in driver.resolved.specs:
            frames = driver.resolved.frames
            asked = tuple(
                (one, voice)
                for one in frames
                for voice in voices_of(one, wave)
                if voice.name == name
            )
            pending = Pending(asked=asked, wave=wave, texts=texts, ledger=ledger)
            for asks in pending.asks(NeverSent(run=run, session=session.number, fleet=None)):
                if lease == dies_after:
                    raise Killed
                lease += 1
                driver._land(run, session.number, lease, asks, "", True, reply=reply)
    end_session(run, session.number)


@pytest.fixture
def cascade(sweep, driver_of):
    names = (("small", ""), ("large", ""))
    return driver_of(sweep(judges=names, asks=(CASCADE,), items=ITEMS, protocol="think_twice"))


def rows_of(driver):
    return scan_judgments(driver.run).collect().sort("key")


def check_told(driver):
    """What is said about a cascade is what its rows say, and nobody is asked for nothing."""
    rows = rows_of(driver).filter(stage="choose")
    place = ["item_id", "temperature", "replication"]
    sure = (pl.col("confidence") >= 0.8).fill_null(False)
    passed = rows.filter((pl.col("judge") == "small") & ~sure)
    asked = rows.filter(judge="large")
    assert sorted(passed.select(place).rows()) == sorted(asked.select(place).rows())
    for row in cascaded_of(snapshot(driver.out)).filter(asked="large").to_dicts():
        assert row["n_asked"] == passed.filter(temperature=row["temperature"]).height
    return asked.height


def test_who_is_asked_next_is_who_the_rows_say(cascade):
    ask_all(cascade)
    n_passed = check_told(cascade)
    assert 0 < n_passed < 20
    assert [one.landed for one in read_status(cascade.out).judges] == [40, 2 * n_passed]
    assert [one for one in verify_run(cascade.run) if one.level == "error"] == []


@pytest.mark.slow
@pytest.mark.parametrize("dies_after", [7, 0, 2, 5, 9, 12])
def test_a_driver_that_died_in_any_wave_asks_what_is_pending_and_no_more(cascade, dies_after):
    with pytest.raises(Killed):
        ask_all(cascade, dies_after=dies_after)
    ask_all(cascade)
    check_told(cascade)
    again = rows_of(cascade)
    assert again["key"].n_unique() == again.height
    ask_all(cascade)
    assert rows_of(cascade).height == again.height


@pytest.mark.slow
@pytest.mark.parametrize(("told", "state"), [("running", "incomplete"), ("done", "done")])
def test_a_run_killed_between_two_models_is_not_done(cascade, told, state):
    with pytest.raises(Killed):
        ask_all(cascade, dies_after=8)  # both steps of the first model, and nothing of the second
    end_session(cascade.run, 1)
    board = {"sweep": "s", "session": 1, "state": told, "judges": {"large": {"asked": 0}}}
    cascade.run.write_bytes(PROGRESS, seal(board, PROGRESS, cascade.run.identity))
    status = read_status(cascade.out)
    assert [(one.landed, one.owed) for one in status.judges] == [(40, 0), (0, 0)]
    assert status.state == state


@pytest.mark.slow
def test_a_text_that_ended_at_its_limit_is_known_for_one(cascade):
    ask_all(cascade)
    run = cascade.run
    texts = landed_texts(run, read_ledger(run))
    ended = dict(scan_judgments(run).select("key", "finish_reason").collect().iter_rows())
    assert (
        {key for key, text in texts.items() if isinstance(text, CutText)}
        == {key for key, end in ended.items() if end == "length"}
        != set()
    )
