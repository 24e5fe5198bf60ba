"""The law of this room: whatever attempts, closings and sessions do, each request reads once."""

from __future__ import annotations

import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from judgerel_ray.core import request_key
from judgerel_ray.store import (
    RunDirectory,
    begin_session,
    close_lease,
    end_session,
    packs,
    read_ledger,
    scan_completions,
    scan_judgments,
    sessions,
    verify_run,
)
from judgerel_ray.store.ledger import look_at_commits

CONDITIONS = ("aa", "bb")
N = 4
WANTED = {(key, replication) for key in CONDITIONS for replication in range(N)}


def requests(conditions):
    return {
        (k, r)
        for k, made in conditions.items()
        for first, n in made
        for r in range(first, first + n)
    }


class Fleet(RuleBasedStateMachine):
    """Drivers that come and go, and actors that land late, twice, or after they were given up."""

    land_rows = None
    make_run = None

    @initialize()
    def start(self):
        self.run = self.make_run()
        self.given = {}  # attempt -> what it was given; any of them may land at any time
        self.settled = {}  # attempt -> "landed" or "closed"
        self.open = {}  # lease -> attempt, of the newest session
        self.base = {}  # request -> mark, as the newest session found it
        self.session = 0

    def readable(self):
        found = dict(self.base)
        for place, what in self.given.items():
            if place[0] == self.session and self.settled.get(place) == "landed":
                found |= dict.fromkeys(requests(what), str(place))
        return found

    def land(self, place):
        landed = self.land_rows(
            self.run, place[0], place[1], self.given[place], attempt=place[2], mark=str(place)
        )
        assert landed == (place not in self.settled)
        self.settled.setdefault(place, "landed")

    def begin(self, meanwhile):
        before = self.readable()
        plain = sessions.look_at_commits

        def look_and_wait(run):
            look = plain(run)
            for place in meanwhile:
                self.land(place)
            return look

        patch = pytest.MonkeyPatch()
        patch.setattr(sessions, "look_at_commits", look_and_wait)
        opened = begin_session(self.run)
        patch.undo()
        self.session, self.base, self.open = opened.number, before, {}
        owed = {key: opened.ledger.owed(key, N) for key in CONDITIONS}
        assert requests(owed) == WANTED - before.keys()
        # One lease a condition, of what is pending.
        for lease, (key, ranges) in enumerate(owed.items()):
            if ranges:
                self.open[lease] = 1
                self.given[self.session, lease, 1] = {key: ranges}

    @rule(data=st.data())
    def a_driver_starts(self, data):
        places = sorted(self.given)
        choice = (
            st.lists(st.sampled_from(places), max_size=2, unique=True) if places else st.just([])
        )
        self.begin(data.draw(choice))

    @precondition(lambda self: self.given)
    @rule(data=st.data())
    def an_actor_lands(self, data):
        self.land(data.draw(st.sampled_from(sorted(self.given))))

    @precondition(lambda self: self.open)
    @rule(data=st.data())
    def the_driver_gives_an_attempt_up(self, data):
        lease = data.draw(st.sampled_from(sorted(self.open)))
        place = (self.session, lease, self.open[lease])
        record = close_lease(self.run, session=place[0], lease=lease, attempt=place[2])
        self.settled.setdefault(place, "closed")
        if self.settled[place] == "landed":
            assert requests(record.conditions) == requests(self.given[place])
            del self.open[lease]
        else:
            assert record is None
            self.open[lease] += 1
            self.given[self.session, lease, self.open[lease]] = self.given[place]

    @precondition(lambda self: self.session)
    @rule(data=st.data())
    def a_driver_ends(self, data):
        """The newest, or one that was taken for dead; both pack what they read."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(packs, "MIN_RECORDS", 1)
            end_session(self.run, data.draw(st.integers(1, self.session)))

    @invariant()
    def every_request_reads_once_from_the_first_to_land(self):
        expected = {request_key(*one): mark for one, mark in self.readable().items()}
        landed = scan_judgments(self.run).collect()
        assert landed["key"].n_unique() == landed.height
        assert dict(landed.select("key", "label").iter_rows()) == expected
        texts = scan_completions(self.run).select("key", "text").collect()
        marks = {key: text.split(":")[0] for key, text in texts.iter_rows()}
        assert (marks, texts.height) == (expected, len(expected))
        ledger = read_ledger(self.run)
        assert ledger.n_rows == len(expected)
        assert ledger.duplicates == {}
        assert look_at_commits(self.run) == look_at_commits(self.run, packed=False)

    def teardown(self):
        if hasattr(self, "run"):
            assert [found for found in verify_run(self.run) if found.level == "error"] == []


def machine(land, make):
    class Bound(Fleet):
        land_rows = staticmethod(land)
        make_run = staticmethod(make)

    return Bound.TestCase


def check(land, make, examples):
    case = machine(land, make)
    case.settings = settings(max_examples=examples, stateful_step_count=14, deadline=None)
    case("runTest").runTest()
    return case


@pytest.mark.slow
def test_in_memory(land_rows):
    assert check(land_rows, lambda: RunDirectory.create(f"memory://{uuid.uuid4().hex}"), 30)


@pytest.mark.slow
def test_on_disk(land_rows, tmp_path):
    assert check(land_rows, lambda: RunDirectory.create(str(tmp_path / uuid.uuid4().hex)), 10)


@pytest.mark.slow
def test_in_s3(land_rows, s3_options):
    def make():
        return RunDirectory.create(f"s3://runs/{uuid.uuid4().hex}", storage_options=s3_options)

    assert check(land_rows, make, 4)


RANGE = st.tuples(st.integers(0, 5), st.integers(1, 4))
CLAIMS = st.lists(
    st.tuples(st.integers(1, 4), st.integers(1, 2), st.sampled_from(CONDITIONS), RANGE),
    min_size=2,
    max_size=5,
    unique_by=lambda claim: claim[:2],
)


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(CLAIMS)
def test_even_drivers_that_fence_nothing_read_once(land_rows, claims):
    run = RunDirectory.create(f"memory://{uuid.uuid4().hex}")
    begin_session(run)
    for lease, attempt, key, one in claims:
        mark = f"{lease}-{attempt}"
        assert land_rows(run, 1, lease, {key: [one]}, attempt=attempt, mark=mark)
    expected = {}
    for lease, attempt, key, one in sorted(claims):
        for request in requests({key: [one]}):
            expected.setdefault(request_key(*request), f"{lease}-{attempt}")
    landed = scan_judgments(run).select("key", "label").collect()
    assert (dict(landed.iter_rows()), landed.height) == (expected, len(expected))
    assert read_ledger(run).n_rows == len(expected)
    n_claimed = sum(n for _, _, _, (_, n) in claims)
    doubled = [found for found in verify_run(run) if found.kind == "duplicate_rows"]
    assert bool(doubled) == (n_claimed > len(expected))
