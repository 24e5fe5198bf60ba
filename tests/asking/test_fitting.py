"""Prompts past a context: told by the plan, landed as failed by the driver."""

import json
from types import SimpleNamespace

import pytest

from judgerel_ray.asking.plan.planning import plan_resolved, prompt_fits
from judgerel_ray.asking.run.pending import NeverSent, Pending
from judgerel_ray.asking.run.waves import fitting
from judgerel_ray.core import RequestRefused
from judgerel_ray.design import voices_of
from judgerel_ray.engines import make_engine
from judgerel_ray.fleet import landed_rows, never_sent
from judgerel_ray.store import begin_session, end_session, read_ledger, scan_judgments

LONG = {"item_id": "q9", "question": "Longer? " * 900, "options": ["one", "two"], "gold": "two"}
SHORT = {"item_id": "q1", "question": "Larger?", "options": ["one", "two"], "gold": "two"}
MORE = "temperatures = [1.0, 0.5]\nreplications = 4\nmax_tokens = 8\noption_orders = 2"


class NoFleet:
    """What a driver asks of the fleet where nothing is asked."""

    landed = 0
    leases = 0

    def next_lease(self):
        self.leases += 1
        return self.leases

    def count_landed(self, judge, rows, outcomes):
        assert (judge, outcomes) == ("j", {"failed": rows})
        self.landed += rows


@pytest.fixture
def resolved(sweep):
    return sweep(
        judges=(("j", "max_model_len = 1000"), ("free", "engine_options = { seed = 1 }")),
        asks=(MORE,),
        items=[json.dumps(one) for one in (SHORT, LONG)],
    )


def test_a_plan_says_what_does_not_fit(resolved):
    plan = plan_resolved(resolved)
    assert len(plan.misfits) == 1
    said, rest = plan.misfits[0].split("longest ")
    assert said == "2 of 4 prompts of ask[0] do not fit judge j: "
    assert rest.endswith(" prompt + 8 new tokens > 1,000; they will land as failed without being "
                         "asked")  # fmt: skip
    assert plan.misfits[0] in plan.as_json()["notes"]


def test_a_plan_of_prompts_that_fit_says_nothing(sweep):
    assert plan_resolved(sweep(judges=(("j", "max_model_len = 100000"),))).misfits == ()


def test_what_does_not_fit_lands_as_an_engine_would_have_landed_it(resolved, driver_of):
    run, fleet = driver_of(resolved).run, NoFleet()
    session = begin_session(run)
    frame = resolved.frames[0]
    voice = next(one for one in voices_of(frame, 0) if one.name == "j")
    pending = Pending(asked=((frame, voice),), wave=0, texts={}, ledger=session.ledger)
    never = NeverSent(run=run, session=session.number, fleet=fleet)
    fits = prompt_fits(resolved)
    assert list(fits) == ["j"]
    asked = [ask for asks in fitting(pending.asks(never), fits["j"], never) for ask in asks]
    end_session(run, session.number)
    assert {ask.condition.item_id for ask in asked} == {"q1"}
    assert sum(ask.n for ask in asked) == fleet.landed == 16
    landed = scan_judgments(run, ledger=read_ledger(run)).collect()
    assert set(landed["item_id"]) == {"q9"}
    engine = make_engine(resolved.specs["j"])
    by_engine = []
    for asks in Pending(asked=((frame, voice),), wave=0, texts={}, ledger=session.ledger).asks(
        never
    ):
        for ask in asks:
            try:
                engine.prepare(ask.condition)
            except RequestRefused as refusal:
                by_engine.append((ask, never_sent(ask, refusal.problem, refusal.where)))
    at = landed["landed_at"][0]
    expected = landed_rows(by_engine, attempt=1, prices=None, landed_at=at).judgments
    assert landed.sort("key").drop("landed_at").equals(expected.sort("key").drop("landed_at"))


def test_without_a_check_everything_is_asked():
    asks = [("one",), ("two",)]
    assert list(fitting(iter(asks), None, SimpleNamespace(land=int))) == asks
