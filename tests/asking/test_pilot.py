"""A judge of whose replies few can be read is stopped early; nothing else of a run changes."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import replace
from types import SimpleNamespace

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.asking.plan.planning import plan_resolved
from judgerel_ray.asking.plan.resolve import resolve
from judgerel_ray.asking.run.opening import prepare_run
from judgerel_ray.asking.run.pilot import (
    FEW_REQUESTS,
    gives_verdict,
    pilot_order,
    pilot_questions,
)
from judgerel_ray.asking.run.readability import (
    FEWEST,
    LOOKS,
    is_short,
    pilot_looks,
    shortfall_of,
)
from judgerel_ray.asking.run.running import _run_board_at_start
from judgerel_ray.asking.run.waves import SessionWaves
from judgerel_ray.config import as_exact, parse_sweep
from judgerel_ray.core import (
    CUT_IN_THOUGHT,
    Completion,
    SweepError,
    TokenCounts,
    request_key,
)
from judgerel_ray.design import build_wave, voices_of
from judgerel_ray.engines.simulated.options import SimulatedOptions
from judgerel_ray.engines.simulated.replies import THINKING_FORMS, draw_replies, thinking_replies
from judgerel_ray.fleet.lease import GrowingAsk, write_asks
from judgerel_ray.store import JudgeTotals, end_session, read_ledger, scan_judgments

WORDS = "Both have their merits.\nWho could say?"


def items(n):
    row = '{{"item_id": "q{0}", "question": "Larger {0}?", "options": ["one", "two"], "gold": "A"}}'
    return [row.format(i) for i in range(n)]


class Killed(Exception):  # noqa: N818  what stands for a signal is no error
    """The driver is gone."""


class HandFleet:
    """Takes leases from the queues as a fleet does, some ahead, and lands what a test replies."""

    def __init__(
        self, driver, run, session, board, pools, reply, *, ahead=1, dies_after=None, units=3_000,
        is_stuck=False,
    ):  # fmt: skip
        self.driver, self.run = driver, run
        self.session, self.board, self.pools = session, board, pools
        self.reply, self.ahead, self.left = reply, ahead, dies_after
        self.n_leases, self.units = 0, units
        self.sent: list[tuple[str, int]] = []
        self.is_stuck, self.stuck, self.sent_before = is_stuck, (), []

    def next_lease(self):
        self.n_leases += 1
        return self.n_leases

    def count_landed(self, judge, rows, outcomes):
        landed = JudgeTotals(rows=rows, outcomes=outcomes, tokens=TokenCounts(), seconds=0.0)
        self.board.judges[judge].count(landed)

    def run_wave(self, work, *, later=()):  # noqa: ARG002
        for name, queue in work.items():
            flying = deque()
            while True:
                asks = write_asks(queue.take("actor", self.units))
                self.sent += [(a.condition.condition_key, r) for a in asks for r in a.replications]
                if asks and self.is_stuck and not self.stuck:
                    self.stuck = asks
                elif asks:
                    flying.append(asks)
                if flying and (not asks or len(flying) > self.ahead):
                    self._land(name, flying.popleft())
                elif not flying and not asks and self.stuck and not self.sent_before:
                    self.sent_before = sorted(self.sent)
                    self._land(name, self.stuck)
                elif not flying and not asks:
                    queue.refill()
                    if queue.is_empty and queue.next_round is None:
                        break

    def _land(self, name, asks):
        for ask in asks:
            if self.left is not None:
                self.left -= ask.n
                if self.left < 0:
                    raise Killed
            if isinstance(ask, GrowingAsk):
                self.pools[name].unsettled.add(ask.condition.item_id)
        landed = [ask for ask in asks if self.reply(ask, ask.first) is not None]
        if landed:
            number = self.session.number
            self.driver._land(
                self.run, number, self.next_lease(), landed, "", True, self.completion
            )
        self.count_landed(name, sum(ask.n for ask in landed), {})

    def completion(self, ask, replication):
        text, why = self.reply(ask, replication)
        return Completion(
            key=request_key(ask.condition.condition_key, replication), replication=replication,
            seed=ask.condition.seed_base + replication if ask.condition.temperature else None,
            text=text, finish_reason=why, prompt_tokens=1, cached_tokens=0,
            completion_tokens=ask.condition.max_tokens,
        )  # fmt: skip


def go(driver, reply, *, unreadable_ok=False, **how):
    """One session of a sweep; what was sent, and what was stopped."""
    session = driver.begin()
    run, resolved = driver.run, driver.resolved
    board = _run_board_at_start(resolved, driver.plan, run, session)
    pools = {
        name: SimpleNamespace(failures=Counter(), unsettled=set(), requests_left=0)
        for name in resolved.specs
    }
    fleet = HandFleet(driver, run, session, board, pools, reply, **how)
    waves = SessionWaves(
        resolved=resolved, run=run, session=session, fleet=fleet, pools=pools, board=board,
        unreadable_ok=unreadable_ok,
    )  # fmt: skip
    is_killed = False
    try:
        waves.ask_all()
    except Killed:
        is_killed = True
    end_session(run, session.number)
    return SimpleNamespace(
        sent=fleet.sent, stops=waves.stops, board=board, is_killed=is_killed, stuck=fleet.stuck,
        sent_before=fleet.sent_before,
    )  # fmt: skip


def shares(share, *, words=WORDS, why="stop"):
    """Replies of which this share can be read, drawn by their keys."""

    def reply(ask, replication):
        key = request_key(ask.condition.condition_key, replication)
        readable = int(key[:8], 16) / 16**8 < share
        return ("Best Response: [[A]]", "stop") if readable else (words, why)

    return reply


# ---- the rule -----------------------------------------------------------------------------------


def test_a_pilot_stops_at_the_published_numbers_of_readable_replies():
    most = [max(k for k in range(n) if is_short(k, n, 0.2)) for n in LOOKS]
    assert most == [2, 9, 25, 59, 130]


@given(n=st.integers(0, 900), share=st.floats(0, 1), data=st.data())
def test_more_readable_replies_or_a_smaller_share_never_stop_what_went_on(n, share, data):
    k = data.draw(st.integers(0, n))
    if is_short(k, n, share):
        assert n >= FEWEST
        assert k < share * n
        assert k == 0 or is_short(k - 1, n, share)
        assert is_short(k, n, min(1.0, share * 1.1))
    assert not is_short(k, n, 0.0)


@given(st.integers(0, 2000))
def test_looks_are_at_numbers_of_questions_that_there_are(n):
    looks = pilot_looks(n)
    assert all(FEWEST <= look <= n for look in looks)
    assert bool(looks) == (n >= FEWEST)
    assert looks == tuple(sorted(looks))


@given(
    st.lists(st.tuples(st.sampled_from([True, False, None]), st.sampled_from("abc")), max_size=99)
)
def test_failed_requests_count_neither_way(pairs):
    counted = [(reply, cell) for reply, cell in pairs if reply is not None]

    def found(some):
        return shortfall_of([reply for reply, _ in some], [cell for _, cell in some], share=0.2)

    assert found(pairs) == found(counted)
    assert len(counted) >= FEWEST or found(pairs) is None


# ---- in a run -----------------------------------------------------------------------------------

GRID = 'templates = ["default", "paraphrase"]\ntemperatures = [1.0, 0.0]\nreplications = 3'


def planned(resolved):
    """Every request of a sweep's first wave, with its seed."""
    return {
        (ask.condition.condition_key, r): ask.condition
        for frame in resolved.frames
        for voice in voices_of(frame, 0)
        for work in build_wave(frame, 0, voice, {})
        for ask in work.asks
        for r in ask.replications
    }


@pytest.mark.slow
@pytest.mark.parametrize("ahead", [1, pytest.param(50, marks=pytest.mark.slow)])
def test_an_unreadable_judge_costs_fifty_questions(sweep, driver_of, ahead):
    resolved = sweep(asks=[GRID], items=items(80))
    driver = driver_of(resolved)
    ended, plan = go(driver, shares(0), ahead=ahead), planned(resolved)
    conditions = [plan[one] for one in ended.sent]
    assert len(ended.sent) == 50 == len({one.item_id for one in conditions})
    cells = Counter((one.template, one.temperature) for one in conditions)
    assert sorted(cells.values()) == [12, 12, 13, 13]
    assert {replication for _, replication in ended.sent} == {0}
    rows = scan_judgments(driver.run).collect().filter(temperature=1.0)
    assert all(plan[one].seed_base > 0 for one in ended.sent)
    seeds = {request_key(*one): plan[one].seed_base for one in ended.sent}
    assert [seeds[key] for key in rows["key"]] == rows["seed"].to_list()
    [stop] = ended.stops
    assert stop.line("--go") == (
        "stopped after 50 questions: 0 of 50 replies of judge j (ask[0], best_of) hold a verdict "
        'that can be read. One reply: "Both have their merits. Who could say?"; the reader wants '
        '"Best Response: [[A]]". Try: another template or form in a new --out, or --go to go on'
    )
    assert ended.board.judges["j"].error.startswith("stopped after 50 questions: 0 of 50 replies")


@pytest.mark.slow
def test_a_stopped_run_stops_again_at_once_and_goes_on_where_that_is_meant(sweep, driver_of):
    driver = driver_of(sweep(asks=[GRID], items=items(80)))
    first = go(driver, shares(0))
    again = go(driver, shares(0))
    assert again.sent == []
    assert again.stops == first.stops
    rest = go(driver, shares(0), unreadable_ok=True, units=30_000)
    assert rest.stops == []
    assert not set(rest.sent) & set(first.sent)
    driver.check_whole()


@pytest.mark.slow
@pytest.mark.parametrize("asks", [GRID, "replications = 3"])
def test_a_request_that_is_stuck_holds_back_no_judge_that_can_be_read(sweep, driver_of, asks):
    driver = driver_of(sweep(asks=[asks], items=items(80)))
    ended = go(driver, shares(1), is_stuck=True)
    assert ended.stops == []
    assert len(ended.stuck) == FEW_REQUESTS  # one lease, which landed last
    assert ended.sent_before == sorted(planned(driver.resolved))
    driver.check_whole()


@pytest.mark.slow
def test_a_stop_waits_for_the_last_reply(sweep, driver_of):
    driver = driver_of(sweep(asks=[GRID], items=items(80)))
    ended = go(driver, shares(0), is_stuck=True)
    assert len(ended.sent_before) == 50
    assert [stop.problem[:38] for stop in ended.stops] == ["stopped after 50 questions: 0 of 50 re"]


@pytest.mark.slow
@given(
    landed=st.lists(st.sampled_from([True, False, None]), min_size=25, max_size=120),
    to_come=st.lists(st.sampled_from([True, False, None]), max_size=40),
    share=st.sampled_from([0.1, 0.2, 0.5]),
    n_cells=st.integers(1, 3),
)
def test_what_passes_with_unreadable_replies_to_come_passes_with_any(
    landed, to_come, share, n_cells
):
    cells = [place % n_cells for place in range(len(landed) + len(to_come))]
    worst = shortfall_of([*landed, *[False] * len(to_come)], cells, share=share)
    if worst is None:
        assert shortfall_of([*landed, *to_come], cells, share=share) is None


@pytest.mark.alike(2)
@pytest.mark.parametrize("dies_after", [0, 20, 49, 50])
def test_a_killed_pilot_goes_on_with_the_same_questions(sweep, driver_of, dies_after):
    driver = driver_of(sweep(asks=[GRID], items=items(80)))
    killed = go(driver, shares(0), dies_after=dies_after)
    assert killed.is_killed == (dies_after < 50)
    n_landed = read_ledger(driver.run).n_rows
    ended = go(driver, shares(0))
    assert len(ended.sent) == 50 - n_landed
    assert read_ledger(driver.run).n_rows == 50
    assert [stop.problem[:30] for stop in ended.stops] == ["stopped after 50 questions: 0 "]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_items", "ahead"),
    [
        (30, 1),
        (60, 9),
        pytest.param(230, 1, marks=pytest.mark.slow),
        pytest.param(850, 9, marks=pytest.mark.slow),
    ],
)
def test_a_poor_judge_is_never_stopped_and_everything_lands_once(sweep, driver_of, n_items, ahead):
    driver = driver_of(sweep(asks=["replications = 3"], items=items(n_items)))
    ended = go(driver, shares(0.35), ahead=ahead, units=9_000)
    assert ended.stops == []
    assert sorted(ended.sent) == sorted(planned(driver.resolved))
    driver.check_whole()


@pytest.mark.slow
@pytest.mark.parametrize("ahead", [1, 40])
def test_a_later_look_stops_before_twice_its_questions_are_asked(sweep, driver_of, ahead):
    resolved = sweep(asks=["replications = 30"], items=items(500))
    [frame] = resolved.frames
    numbers = {item.item_id: place for place, item in enumerate(pilot_order(frame))}

    def reply(ask, replication):  # noqa: ARG001
        # 5 of 50, 9 of 100
        readable = numbers[ask.condition.item_id] in (1, 2, 3, 4, 5, 60, 61, 62, 63)
        return ("Best Response: [[A]]" if readable else WORDS), "stop"

    ended = go(driver_of(resolved), reply, ahead=ahead)
    [stop] = ended.stops
    assert stop.problem.startswith("stopped after 100 questions: 9 of 100 replies")
    assert 100 <= len(ended.sent) <= 200
    assert {replication for _, replication in ended.sent} == {0}


def test_a_template_at_a_temperature_that_fails_by_itself_is_named(sweep, driver_of):
    grid = GRID.replace("[1.0, 0.0]", "[0.5]")
    driver = driver_of(sweep(asks=[grid], items=items(80)))

    def reply(ask, replication):  # noqa: ARG001
        readable = ask.condition.template == "default"
        return ("Best Response: [[A]]" if readable else WORDS), "stop"

    ended = go(driver, reply)
    [stop] = ended.stops
    assert stop.problem == (
        "stopped after 50 questions: 0 of 25 replies of judge j (ask[0], best_of, template "
        "paraphrase at temperature 0.5) hold a verdict that can be read"
    )


@pytest.mark.slow
def test_one_ask_is_stopped_and_the_others_go_on(sweep, driver_of):
    asks = ["replications = 2", "temperatures = [0.5]\nreplications = 2"]
    driver = driver_of(sweep(judges=[("j", ""), ("k", "")], asks=asks, items=items(80)))

    def reply(ask, replication):  # noqa: ARG001
        bad = (ask.condition.judge, ask.condition.temperature) == ("j", 0.5)
        return (WORDS if bad else "Best Response: [[A]]"), "stop"

    ended = go(driver, reply)
    assert [(stop.judge, stop.ask) for stop in ended.stops] == [("j", 1)]
    landed = scan_judgments(driver.run).collect().group_by("judge", "temperature").len()
    assert sorted(landed.iter_rows()) == [
        ("j", 0.5, 50), ("j", 1.0, 160), ("k", 0.5, 160), ("k", 1.0, 160),
    ]  # fmt: skip
    assert sorted(ended.sent) == sorted(set(ended.sent))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_cut", "problem", "remedy"),
    [
        (
            80,
            "50 of 50 replies of judge j (ask[0], best_of) were cut off in their thought at "
            "max_tokens = 40",
            "max_tokens = 80 in a new --out",
        ),
        (
            45,
            "0 of 50 replies of judge j (ask[0], best_of) hold a verdict that can be read; 20 were "
            "cut off in their thought at max_tokens = 40",
            "max_tokens = 80 or another template or form in a new --out",
        ),
    ],
)
def test_thoughts_cut_off_are_told_apart(sweep, driver_of, n_cut, problem, remedy):
    driver = driver_of(sweep(asks=["max_tokens = 40\nreplications = 2"], items=items(80)))
    first = {item.item_id for item in pilot_order(driver.resolved.frames[0])[: n_cut and 20]}

    def reply(ask, replication):  # noqa: ARG001
        is_cut = n_cut == 80 or ask.condition.item_id in first
        return ("<think>Well", CUT_IN_THOUGHT) if is_cut else (WORDS, "stop")

    [stop] = go(driver, reply).stops
    assert stop.problem == f"stopped after 50 questions: {problem}"
    assert stop.remedy == remedy
    assert bool(stop.evidence) == (n_cut != 80)


@pytest.mark.slow
def test_requests_that_fail_do_not_count(sweep, driver_of):
    driver = driver_of(sweep(asks=["replications = 2"], items=items(60)))
    order = [item.item_id for item in pilot_order(driver.resolved.frames[0])]

    def reply(ask, replication):  # noqa: ARG001
        place = order.index(ask.condition.item_id)
        if place < 13:
            return None, "refused: too long"
        return None if place < 26 else (WORDS, "stop")  # the request failed: it is pending

    ended = go(driver, reply)
    assert ended.stops == []  # 24 replies
    mended = go(driver, shares(0))
    [stop] = mended.stops
    assert stop.problem.startswith("stopped after 50 questions: 0 of 37 replies")
    assert len(mended.sent) == 13


def test_questions_that_are_too_few_are_warned_of_alone(sweep, driver_of):
    driver = driver_of(sweep(asks=["replications = 2"], items=items(24)))
    ended = go(driver, shares(0))
    assert ended.stops == []
    [notice] = ended.board.notices
    assert notice.startswith("warning: 0 of 24 replies of judge j (ask[0], best_of) hold a verdict")
    quoted = f'nothing is stopped. One reply: "{" ".join(WORDS.split())}"; the reader wants "'
    assert quoted in notice
    assert notice.endswith("Try: another template or form in a new --out")
    driver.check_whole()


def test_few_replies_that_were_all_cut_off_are_told_to_get_room(sweep, driver_of):
    driver = driver_of(sweep(items=items(3)))
    ended = go(driver, lambda _ask, _replication: ("", CUT_IN_THOUGHT))
    [notice] = ended.board.notices
    assert notice.startswith("warning: 3 of 3 replies of judge j (ask[0], best_of) were cut off in")
    assert "Try: max_tokens = " in notice


@pytest.mark.slow
@pytest.mark.parametrize("share", [0, 0.7])
def test_a_sweep_sets_the_share_and_stays_the_same_sweep(sweep, driver_of, share):
    driver = driver_of(sweep(asks=[GRID], items=items(80)))
    go(driver, shares(0.35), dies_after=30)
    resolved = sweep(asks=[f"{GRID}\nreadable = {share}"], items=items(80))
    again = driver_of(resolved)
    ended = go(again, shares(0.35 if share else 0))
    assert len(ended.stops) == bool(share)
    assert f"readable = {share}" in again.run.read_text("sweep.toml")
    if not share:
        again.check_whole()


@pytest.mark.slow
def test_adaptive_replication_goes_on_after_a_pilot(sweep, driver_of):
    rule = "replications = { adaptive = 0.05, first = 5, max = 12, step = 5 }"
    driver = driver_of(sweep(asks=[rule], items=items(60)))

    def reply(ask, replication):
        key = request_key(ask.condition.condition_key, replication)
        return f"Best Response: [[{'AB'[int(key[0], 16) % 2]}]]", "stop"

    ended = go(driver, reply)
    assert ended.stops == []
    assert len(ended.sent) == len(set(ended.sent))
    rows = scan_judgments(driver.run).collect()
    n = Counter(rows["item_id"].to_list())
    assert set(n.values()) <= {5, 10, 12}
    assert max(n.values()) > 5
    # As without a pilot, request for request.
    other = driver_of(sweep(asks=[rule], items=items(60), folder="other"))
    other.out += "-other"
    plain = go(other, reply, unreadable_ok=True)
    assert sorted(plain.sent) == sorted(ended.sent)
    blocks = [
        scan_judgments(one.run).select("key", "block").sort("key").collect()
        for one in (driver, other)
    ]
    assert blocks[0].equals(blocks[1])


@pytest.mark.slow
def test_later_replications_have_a_pilot_of_their_own(sweep, driver_of):
    asks = ["replications = 3"]
    resolved = sweep(asks=asks, items=items(60))
    file = resolved.sweep.text
    later = sweep(asks=asks, items=items(60), more="")
    assert later.sweep.text == file
    text = file.replace('name = "s"\n', 'name = "s"\nfirst_replication = 7\n', 1)
    moved = resolve(parse_sweep(text, folder=resolved.sweep.folder))
    driver = driver_of(moved)
    ended = go(driver, shares(0))
    assert {replication for _, replication in ended.sent} == {7}
    assert len(ended.sent) == 50
    assert go(driver, shares(1), unreadable_ok=True).stops == []
    driver.check_whole()


# ---- what has no pilot, and what every protocol's asks ------------------------------------------

PROTOCOLS = {
    "best_of": 'templates = ["default", "paraphrase"]\noption_orders = 2\ntemperatures = [1, 0]',
    "correctness": "temperatures = [1.0, 0.5]",
    "rating": 'criteria = ["helpfulness", "factuality"]\nscales = ["points5", "likert5"]',
    "confusion": "temperatures = [0.5, 0.0]",
    "think_twice": "temperatures = [1.0, 0.5]",
    "respond": "temperatures = [1.0, 0.5]",
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_questions_of_a_pilot_are_requests_of_the_sweep(sweep, protocol):
    people = [("j", ""), ("k", "")]
    resolved = sweep(judges=people, asks=[PROTOCOLS[protocol]], items=items(40), protocol=protocol)
    [frame] = resolved.frames
    voice = voices_of(frame, 0)[0]
    asks = [ask for work in build_wave(frame, 0, voice, {}) for ask in work.asks]
    known = {ask.condition.condition_key: ask for ask in asks}
    found = list(pilot_questions(frame, 0, voice, {}, iter(pilot_order(frame))))
    of_verdicts = {key for key, ask in known.items() if gives_verdict(ask.condition)}
    assert {ask.condition.condition_key for ask in found} <= of_verdicts
    assert bool(found) == bool(of_verdicts) == (protocol not in ("respond", "think_twice"))
    if found:
        assert len({ask.condition.item_id for ask in found}) == len(found) == 40
        assert all(ask.condition == known[ask.condition.condition_key].condition for ask in found)
        facets = ("template", "temperature", "option_order", "criterion", "scale")
        for facet in facets:
            values = {getattr(ask.condition, facet) for ask in known.values()
                      if gives_verdict(ask.condition)}  # fmt: skip
            assert {getattr(ask.condition, facet) for ask in found} == values


DIALOGUE = '"gold": "A", "turns": ["Larger?", "And newer?"]'


@pytest.mark.slow
@pytest.mark.parametrize(
    ("protocol", "keys"),
    [
        ("think_twice", "temperatures = [1.0, 0.5]\nreplications = 2"),
        ("think_twice", 'cascade = 0.6\nresponders = ["j", "k"]\nreplications = 2'),
        ("correctness", 'responders = ["k"]\ntemperatures = [1.0, 0.0]\nreplications = 2'),
        ("best_of", 'responders = ["j", "k"]\njudges = ["j"]\noption_orders = 2'),
    ],
)
def test_in_every_wave_a_pilot_asks_what_is_planned(sweep, driver_of, protocol, keys):
    people = [("j", ""), ("k", "")]
    rows = items(32)
    if protocol in ("best_of", "correctness"):
        rows[:9] = [row.replace('"gold": "A"', DIALOGUE) for row in rows[:9]]
    resolved = sweep(judges=people, asks=[keys], items=rows, protocol=protocol)
    driver = driver_of(resolved)

    def reply(ask, replication):
        one, menu = replace(ask, first=replication, n=1), ask.condition.menu
        draw = thinking_replies if menu and menu.form in THINKING_FORMS else draw_replies
        return draw("uniform", SimulatedOptions(), one)[0], "stop"

    ended = go(driver, reply, units=9_000)
    assert ended.stops == []
    plain, bad = driver_of(resolved), driver_of(resolved)
    plain.out, bad.out = f"{driver.out}-plain", f"{driver.out}-bad"
    assert sorted(go(plain, reply, unreadable_ok=True).sent) == sorted(ended.sent)
    assert len(set(ended.sent)) == len(ended.sent)
    verdicts = {"choose", "judge"}

    def unread(ask, replication):
        return reply(ask, replication) if ask.condition.stage not in verdicts else (WORDS, "stop")

    stopped = go(bad, unread)
    stages = scan_judgments(bad.run).collect().filter(pl.col("stage").is_in(verdicts))
    assert {stop.judge for stop in stopped.stops} == set(stages["judge"])
    assert set(stages.group_by("judge", "stage").len()["len"]) == {32}


@pytest.mark.parametrize(
    ("protocol", "keys", "told"),
    [
        ("respond", "readable = 0.3", "readable needs protocol .*its replies hold no verdict"),
        ("best_of", 'mode = "exact"\nreadable = 0.3', "leave out readable"),
        ("best_of", "readable = 1.5", "must be at most 1|less than or equal"),
    ],
)
def test_a_share_where_nothing_can_be_read_is_refused(sweep, protocol, keys, told):
    with pytest.raises(SweepError, match=told):
        sweep(asks=[keys], items=items(2), protocol=protocol)


def test_a_share_is_left_out_where_distributions_are_found(sweep):
    resolved = sweep(asks=["readable = 0.3\nreplications = 9"], items=items(2))
    assert as_exact(resolved.sweep).ask[0].mode == "exact"


def test_the_order_of_a_pilot_does_not_follow_that_of_the_file(sweep, tmp_path):
    [one] = sweep(items=items(90)).frames
    [two] = sweep(items=items(90)[::-1], folder="two").frames
    assert pilot_order(one) == pilot_order(two)
    assert [item.item_id for item in pilot_order(one)] != sorted(i.item_id for i in one.items)
    prepare_run(two_ := sweep(items=items(9)), plan_resolved(two_), str(tmp_path / "run"))
