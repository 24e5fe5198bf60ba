"""What a refresh of a series calls moved, and what it does not."""

import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import BytesIO
from unittest.mock import ANY

import numpy as np
import polars as pl
import pytest

from judgerel_ray.analyses.drift import from_run
from judgerel_ray.analyses.drift.causes import Scores, causes_of
from judgerel_ray.analyses.drift.compute import with_content
from judgerel_ray.analyses.drift.show import summary_text
from judgerel_ray.analyses.drift.standing import history_of, since_alarms, summary_of
from judgerel_ray.asking import refreshing
from judgerel_ray.asking.plan import resolve as resolving
from judgerel_ray.asking.plan.planning import plan_resolved
from judgerel_ray.asking.plan.resolve import resolve
from judgerel_ray.asking.run.opening import prepare_run
from judgerel_ray.asking.run.running import RunSummary
from judgerel_ray.config import read_sweep
from judgerel_ray.config.series import Series
from judgerel_ray.stats.drift import drift_evidence
from judgerel_ray.store import RunDirectory
from judgerel_ray.store.series import Refresh, RefreshSweep
from tests.reporting.test_refresh import N_QUESTIONS, ROOT, World, without_page


@pytest.fixture
def world(tmp_path, driver_of, monkeypatch):
    made = World(tmp_path, driver_of)
    without_page(monkeypatch)
    monkeypatch.setattr(refreshing, "run_sweep", made.run_sweep)
    return made


def edit(world, name, old, new, *, suffix="toml"):
    file = world.folder / f"{name}.{suffix}"
    file.write_text(file.read_text().replace(old, new))


def own_template(world, sweep, items):
    """Give a sweep a template of its own, and return the file of its words."""
    template = world.folder / "mine"
    shutil.copytree(ROOT / "judgerel_ray/protocols/best_of/templates/default", template)
    world.sweep(sweep, items=items, more='templates = ["mine"]\n')
    return template / "question.txt"


@pytest.mark.slow
def test_a_judge_revised_for_the_system_alone_is_not_called_the_system(world, monkeypatch):
    for _ in range(2):
        world.go()
    world.sweep("system", items="system.jsonl", model="position")
    revised = resolve(read_sweep(world.folder / "system.toml")).fingerprints["j"].digest
    reply = world.reply

    def moved(ask, replication):
        world.shift = 0.35 if ask.condition.judge_fingerprint == revised else 0.0
        return reply(ask, replication)

    monkeypatch.setattr(world, "reply", moved)
    found = world.go()
    newest = found.summary["refreshes"][-1]
    assert [one["cause"] for one in newest["causes"]] == ["asked_otherwise"]
    assert found.summary["warnings"] == [
        "judge j of system is another than that of anchors (model): these anchors tell nothing of "
        "it"
    ]


@pytest.mark.slow
def test_a_template_edited_for_the_system_alone_is_not_called_the_system(world):
    words = own_template(world, "system", "system.jsonl")
    for _ in range(2):
        world.go()
    words.write_text(words.read_text().replace("the single best", "the better"))
    newest = world.go().summary["refreshes"][-1]
    assert [one["cause"] for one in newest["causes"]] == ["asked_otherwise"]


@pytest.mark.slow
def test_answers_and_a_template_that_change_at_once_are_undecided(world):
    words = own_template(world, "system", "system.jsonl")
    for _ in range(2):
        world.go()
    words.write_text(words.read_text().replace("the single best", "the better"))
    world.items("system.jsonl", words="other")
    found = world.go()
    assert [one["cause"] for one in found.summary["refreshes"][-1]["causes"]] == ["undecided"]
    assert found.summary["warnings"] == [
        "judge j of system: its answers and how it was asked (templates.mine) changed at once, so "
        "its scores tell neither"
    ]


@pytest.mark.slow
def test_anchors_edited_under_their_ids_are_other_questions(world):
    for _ in range(2):
        world.go()
    world.items("frozen.jsonl", words="better")
    found = world.go()
    assert (found.alarm, found.summary["judges"][0]["p"]) == (False, None)
    assert found.summary["warnings"] == [
        "anchors: 40 questions edited under the old id (q0, q1, q10, q11, q12, ...): held against "
        "nothing of before; give a question that says other things an id of its own"
    ]
    # The others are compared as ever, and the edited ones from the next refresh on.
    edit(world, "frozen", "better 1", "other 1", suffix="jsonl")
    found = world.go()
    assert found.summary["warnings"][0].startswith("anchors: 11 questions edited")
    assert found.summary["judges"][0]["p"] is not None
    assert world.go().summary["warnings"] == []


def other_items(damage, data):
    """A table of items that cannot be read, has no rows, or names no question."""
    if damage == "torn":
        return data[:100]
    items, written = pl.read_parquet(BytesIO(data)), BytesIO()
    (items.clear() if damage == "empty" else items.drop("item_id")).write_parquet(written)
    return written.getvalue()


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["torn", "empty", "without ids"])
def test_questions_that_are_unknown_at_two_refreshes_are_not_the_same(world, monkeypatch, damage):
    """Their unknown contents were equal, so that edited questions were a judge that moved."""
    world.go()
    world.items("frozen.jsonl", words="better")
    by_content, read_bytes, told_apart = (
        from_run._drift_anchors_by_content,
        RunDirectory.read_bytes,
        [],
    )

    def damaged(run, name):
        data = read_bytes(run, name)
        return other_items(damage, data) if name == "items.parquet" else data

    def lost(*told):
        with monkeypatch.context() as patch:
            patch.setattr(RunDirectory, "read_bytes", damaged)
            told_apart.append(by_content(*told))
        return told_apart[-1]

    monkeypatch.setattr(from_run, "_drift_anchors_by_content", lost)
    found = world.go()
    (verdicts,) = told_apart[-1:]
    assert verdicts.old["content"].unique().to_list() == ["unknown 1"]
    assert verdicts.new["content"].unique().to_list() == ["unknown 2"]
    assert (found.alarm, found.summary["judges"][0]["p"]) == (False, None)
    assert not any("edited" in line for line in found.summary["warnings"])
    lines = [line for line in found.summary["warnings"] if "items of refresh" in line]
    assert len(lines) == 2 * (damage != "empty")


def test_items_of_versions_without_a_context_are_known_by_the_rest():
    rows = pl.DataFrame({"benchmark": "b", "item_id": ["q"], "protocol": "p"})
    item = {"benchmark": "b", "item_id": "q", "question": "?", "turns": [], "options": []}
    whole = pl.DataFrame([{**item, "context": None, "gold": None}])
    old, new = (
        with_content(rows, one, showing_gold=["p"]) for one in (pl.DataFrame([item]), whole)
    )
    assert old["content"].item() == new["content"].item() is not None


def refreshes_of(*nights):
    """Refreshes of which anchors gave p-values, or more of a test, by anchors and judge."""
    places = sorted({place for night in nights for place in night})
    asked = tuple(RefreshSweep(name=sweep, role="anchor") for sweep in {one for one, _ in places})
    return [
        Refresh(
            number=n, started_at=f"2026-01-01T00:00:{n:02d}+00:00", sweeps=asked,
            result={
                "state": "done", "since": 1, "measures": [],
                "drift": [{"sweep": sweep, "judge": judge,
                           **(found if isinstance(found, dict) else {"p": found})}
                          for (sweep, judge), found in night.items()],
                "behind": [
                    {"sweep": one.name, "judges": {judge: {} for sweep, judge in night
                                                   if sweep == one.name}} for one in asked
                ],
            },
        )
        for n, night in enumerate(nights, 1)
    ]  # fmt: skip


TWO = Series(
    name="s", out="o", sweep=({"path": "a", "role": "anchor"}, {"path": "b", "role": "anchor"})
)


def p_for(evidence, *before):
    """A p-value after which a bettor has at least so much."""
    return next(
        p for p in np.geomspace(0.01, 1e-9, 900)
        if drift_evidence([*before, p]).capital >= evidence
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(("evidence", "alarm"), [(25, False), (50, True)])
def test_alarm_and_cause_agree_on_the_level_that_sets_of_anchors_share(
    world, monkeypatch, evidence, alarm
):
    world.items("more.jsonl", words="more")
    world.sweep("more", items="more.jsonl")
    edit(world, "series", '[[sweep]]\npath = "sys', '[[sweep]]\npath = "more.toml"\nrole = '
               '"anchor"\n[[sweep]]\npath = "sys')  # fmt: skip
    ps = iter([None, None, p_for(evidence, None), 0.5])
    test = from_run.judge_drift

    def planned(old, new, *, name):
        return [{**one, "p": next(ps)} for one in test(old, new, name=name)]

    monkeypatch.setattr(from_run, "judge_drift", planned)
    world.go()
    found = world.go()
    first = found.summary["judges"][0]
    assert (first["sweep"], first["level"], first["alarm"]) == ("anchors", 0.025, alarm)
    assert 20 < first["evidence"] < 60
    causes = {one["cause"] for one in found.summary["refreshes"][-1]["causes"]}
    assert (found.alarm, "judge" in causes) == (alarm, alarm)


def test_an_alarm_stands_when_a_set_of_anchors_is_added():
    """What it may err with was halved of the past, too, so that the alarm went unaccepted."""
    nights = [{("a", "j"): None}, {("a", "j"): p_for(25)}]
    alone = summary_of(TWO, refreshes_of(*nights))
    assert (alone["alarm"], alone["judges"][0]["since"], alone["level_of_any"]) == (True, 2, 0.05)
    nights += [{("a", "j"): 0.9, ("b", "j"): None}, {("a", "j"): 0.9, ("b", "j"): p_for(25)}]
    found = summary_of(TWO, refreshes_of(*nights))
    assert [(one["alarm"], one["since"], one["level"]) for one in found["judges"]] == [
        (True, 2, 0.025), (False, None, 0.025)
    ]  # fmt: skip
    # The first set may have erred with all of the level, and the second with half of it.
    assert found["level_of_any"] == pytest.approx(0.075)
    assert since_alarms(TWO, refreshes_of(*nights))["a", "j"] == (2, [None, None])
    # A set that is known by the refresh itself shares its level.
    nights = [{("a", "j"): None}, {("a", "j"): p_for(25), ("b", "j"): None}]
    assert not summary_of(TWO, refreshes_of(*nights))["alarm"]


def test_one_pass_finds_the_alarms_of_each_refresh():
    rng = np.random.default_rng(8)
    ps = np.column_stack([rng.beta(0.3, 1, size=49), rng.beta(0.3, 1, size=49)]).tolist()
    nights = [{"p": None}, *({"p": p, "p_since_alarm": after} for p, after in ps)]
    refreshes = refreshes_of(*({("a", "j"): one} for one in nights))
    path, alarms = [], []
    for number, one in enumerate(nights, 1):
        path.append(one["p_since_alarm"] if alarms else one["p"])
        if drift_evidence(path).is_alarm:
            alarms, path = [*alarms, number], []
    assert len(alarms) > 3
    assert since_alarms(TWO, refreshes) == {("a", "j"): (alarms[-1], path)}
    evidence = history_of(TWO, refreshes)["value"].to_list()
    p_T = [one["p"] for one in nights]
    assert evidence == [drift_evidence(p_T[: n + 1]).capital for n in range(50)]


@pytest.mark.slow
def test_a_judge_whose_verdicts_never_differ_is_steady_whatever_is_drawn(world):
    world.says_a = True
    for _ in range(3):
        found = world.go()
    (judge,) = found.summary["judges"]
    assert (judge["is_drawn"], judge["alarm"]) == (True, False)
    assert 0 < judge["p"] < 1
    assert {one["cause"] for one in found.summary["refreshes"][-1]["causes"]} == {"neither"}
    assert f"p {judge['p']:.3f} (drawn: all verdicts alike)" in summary_text(found.summary)


def test_a_draw_raises_no_alarm():
    nights = [{("a", "j"): None}, {("a", "j"): {"p": 1e-9, "n_informative": 0}}]
    (judge,) = summary_of(TWO, refreshes_of(*nights))["judges"]
    assert (judge["alarm"], judge["is_drawn"]) == (False, True)
    assert judge["evidence"] > 20
    assert since_alarms(TWO, refreshes_of(*nights))["a", "j"] == (None, [None, 1e-9])
    # What was won by it is kept, as what is lost by others is.
    nights.append({("a", "j"): {"p": 0.5, "n_informative": 1}})
    (judge,) = summary_of(TWO, refreshes_of(*nights))["judges"]
    assert (judge["since"], judge["is_drawn"]) == (3, False)


@pytest.mark.parametrize(
    ("tests", "cause"),
    [
        ({"a": (0.001, 0)}, "system"),
        ({"a": (0.03, 4)}, "undecided"),
        ({"a": (0.001, 0), "b": (0.03, 4)}, "undecided"),
        ({"a": (0.001, 0), "b": (0.9, 4)}, "system"),
        ({"a": (None, 0)}, "undecided"),
        ({"a": (None, 0), "b": (0.001, 0)}, "system"),
        ({"a": (1e-9, 0)}, "system"),
        ({"a": (1e-9, 4)}, "both"),
    ],
)
@pytest.mark.parametrize("alarm", [None, 1])
def test_a_draw_hints_at_no_change_of_the_judge(tests, cause, alarm):
    of = "" if alarm is None else "_since_alarm"
    drift = [
        {"sweep": sweep, "judge": "j", "p": 0.5, "n_informative": 4}
        | {f"p{of}": p, f"n_informative{of}": n_informative}
        for sweep, (p, n_informative) in tests.items()
    ]
    behind = [{"sweep": one, "judges": {}} for one in (*tests, "system")]
    alarms = {(sweep, "j"): (alarm, []) for sweep in tests}
    moved = [Scores(sweep="system", judge="j", moved=True)]
    causes, _ = causes_of(TWO, alarms, {"drift": drift, "behind": behind}, moved)
    assert [one["cause"] for one in causes] == [cause]


def test_the_chance_of_any_false_alarm_is_of_all_judges():
    judges = {("a", judge): 0.5 for judge in "jkl"}
    assert summary_of(TWO, refreshes_of(judges))["level_of_any"] == pytest.approx(0.15)


@pytest.mark.slow
def test_another_reader_is_named_and_no_change_of_the_judge(world, monkeypatch):
    for _ in range(2):
        world.go()
    old = resolving.READER_VERSION
    monkeypatch.setattr(resolving, "READER_VERSION", "next")
    reply = world.reply

    def read_otherwise(ask, replication):
        found = reply(ask, replication)
        return replace(found, text="??") if int(found.key[:2], 16) % 3 == 0 else found

    monkeypatch.setattr(world, "reply", read_otherwise)
    world.items("system.jsonl", words="answers", n=N_QUESTIONS + 2)
    found = world.go()
    assert (found.alarm, found.summary["judges"][0]["p"]) == (False, None)
    newest = found.summary["refreshes"][-1]
    assert newest["changes"] == [
        {"sweep": "anchors", "judge": "j", "change": f"reader version: {old}, now next"},
        {"sweep": "system", "judge": "j", "change": f"reader version: {old}, now {old} or next"},
        {"sweep": "system", "judge": "j", "change": ANY},  # the items
    ]
    anchors, system = found.summary["warnings"]
    assert f"replies are read by reader next, those before by {old}" in anchors
    assert anchors.startswith("anchors: ")
    assert f"system: 240 of 252 rows were carried as reader {old} read them" in system
    # Refreshes that were read alike are held against each other again.
    found = world.go()
    assert found.summary["judges"][0]["p"] > 0.001
    assert found.summary["warnings"] == []
    # Rows that were carried stay what they are, however often.
    world.items("system.jsonl", words="answers", n=N_QUESTIONS + 3)
    found = world.go()
    assert f"system: 240 of 258 rows were carried as reader {old}" in found.summary["warnings"][-1]


def test_an_alarm_of_a_judge_that_is_asked_no_more_is_none():
    judges = {("a", "j"): None, ("a", "k"): None}, {("a", "j"): 0.5, ("a", "k"): 1e-9}
    assert summary_of(TWO, refreshes_of(*judges))["alarm"]
    removed = summary_of(TWO, refreshes_of(*judges, {("a", "j"): 0.4}))
    assert (removed["alarm"], [one["judge"] for one in removed["judges"]]) == (False, ["j"])
    # So are those of a set of anchors that is none any more.
    *earlier, last = refreshes_of(*judges, {("a", "j"): 0.4, ("a", "k"): 0.4})
    system = replace(last, sweeps=(RefreshSweep(name="a", role="system"),
                                   RefreshSweep(name="b", role="anchor")))  # fmt: skip
    system.result["behind"].append({"sweep": "b", "judges": {"j": {}}})
    assert not summary_of(TWO, [*earlier, system])["alarm"]


@pytest.mark.slow
def test_a_judge_that_drifted_once_has_not_moved_every_night_since(world):
    for _ in range(2):
        world.go()
    world.shift = 0.35
    assert [one["cause"] for one in world.go().summary["refreshes"][-1]["causes"]] == ["judge"]
    found = world.go()
    assert found.alarm
    assert [one["cause"] for one in found.summary["refreshes"][-1]["causes"]] == ["neither"]
    world.items("system.jsonl", words="better")
    found = world.go()
    assert found.alarm
    assert [one["cause"] for one in found.summary["refreshes"][-1]["causes"]] == ["system"]
    # A judge that moves again is called so again.
    world.shift = -0.1
    assert [one["cause"] for one in world.go().summary["refreshes"][-1]["causes"]] == ["judge"]


@pytest.mark.slow
def test_an_alarm_hides_no_mistake(world, capsys, monkeypatch):
    world.go()
    world.shift = 0.35
    assert world.go().alarm
    asked = world.run_sweep

    def mistaken(sweep, **places):
        found = asked(sweep, **places)
        return replace(found, owed=3, problems={"j": "no such model"}, mistakes=("j",))

    monkeypatch.setattr(refreshing, "run_sweep", mistaken)
    code, out, err = world.told(capsys)
    assert code == 2
    assert out == "refresh 3: 3 requests are pending\n"
    assert "judge j was given up: no such model" in err
    assert "drift of judge j since refresh 2" in err


@pytest.mark.slow
@pytest.mark.parametrize("sweeps", [["anchors", "system"], ["system"]])
def test_a_judge_of_another_name_is_compared_with_nobody(world, sweeps):
    world.go()
    for sweep in sweeps:
        edit(world, sweep, 'name = "j"', 'name = "fresh"')
    found = world.go()
    assert (found.state, found.alarm, found.summary["warnings"]) == ("done", False, [])
    assert [one.state for one in world.directory.refreshes()] == ["done", "done"]
    history = pl.read_parquet(world.folder / "out/history.parquet")
    fresh = history.filter(judge="fresh", measure="percent_agreement")
    assert fresh.height == len(sweeps)
    assert fresh["difference"].null_count() == len(sweeps)


@pytest.mark.slow
def test_a_run_in_which_nothing_landed_is_closed_as_partial(world, monkeypatch):
    world.series("anchor_every_h = 20\n")

    def away(sweep, *, out, address, console, known):  # noqa: ARG001  as the real one
        resolved = resolve(sweep)
        prepare_run(resolved, plan_resolved(resolved), out)
        return RunSummary(run=out, session=1, asked=9, landed=0, owed=9, failed=0, asked_now=0,
                          problems={})  # fmt: skip

    monkeypatch.setattr(refreshing, "run_sweep", away)
    assert world.go().state == "pending"
    later = datetime.now(UTC) + timedelta(hours=21)
    monkeypatch.setattr(refreshing, "_refresh_time_now", lambda: later)
    world.go()
    closed, following = world.directory.refreshes()
    assert (closed.state, following.state) == ("partial", "open")
    assert closed.result["warnings"][0].startswith("anchors: agreement is unknown: no judgments")
