"""Forms that templates declare for themselves: what `plan` refuses, and what a run is of."""

import json

import pytest

from judgerel_ray.asking.plan.planning import plan_resolved
from judgerel_ray.asking.run.pending import Pending
from judgerel_ray.core import Completion, SweepError, request_key
from judgerel_ray.design import build_wave, verdict_ids
from judgerel_ray.measuring.reliability import ReduceOptions
from judgerel_ray.store import end_session
from tests.opening import coefficients as coefficients_of
from tests.opening import question_rows

ITEMS = [
    '{"item_id": "q1", "question": "Larger?", "options": [{"option_id": "x", "text": "one"}, '
    '{"option_id": "y", "text": "two"}]}',
    '{"item_id": "q2", "question": "Warmer?", "options": ["sun", "moon", "air"]}',
]
BRACKETS = r"""
pattern = '\[\[(?P<verdict>[A-Z])\]\]'
example = 'The first is shorter. [[{verdict}]]'
"""
TEXTS = {
    "best_of": "{question} {responses}",
    "correctness": "{question} {ground_truth} {prediction}",
    "respond": "{question}",
}


@pytest.fixture
def template(tmp_path):
    """Write a template with a form of its own; gives the line that names it."""

    def make(form=BRACKETS, *, name="mine", protocol="best_of", verdict="last"):
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        (folder / "template.toml").write_text(f'verdict = "{verdict}"\n[form]\n{form}')
        (folder / "question.txt").write_text(TEXTS[protocol])
        return f'templates = ["{folder}"]\n'

    return make


def menus_of(resolved):
    (frame,) = resolved.frames
    voice = frame.judges[0]
    return [
        (ask.condition.menu, ask.condition)
        for work in build_wave(frame, 0, voice, {})
        for ask in work.asks
    ]


@pytest.mark.parametrize(
    ("form", "said"),
    [
        (
            "pattern = '\\[\\[(?P<verdict>[AB])\\]\\]'\nexample = 'It is [{verdict}].'",
            ["reads nothing from 'It is [A].'", r"pattern '\[\[(?P<verdict>[AB])\]\]'", "'A'"],
        ),
        (
            "pattern = '\\[\\[(?P<verdict>[ABC])\\]\\]'\nexample = '[[{verdict}]]'\nrefusal = 'N'",
            ["with 'N' for a refusal", "reads nothing from '[[N]]'"],
        ),
        (
            "pattern = '(?P<verdict>[A-Z])'\nexample = 'My Answer: {verdict}'",
            ["reads 'M' then 'A' then 'A', which is off_menu", "'My Answer: A'"],
        ),
        (
            "pattern = 'Answer: (?P<verdict>.*)'\nexample = 'Answer: {verdict}, as it is'",
            ["'A, as it is', which is off_menu"],
        ),
        (
            "json = 'winner'\nexample = '{\"winer\": \"{verdict}\"}'",
            ["json 'winner'", 'reads nothing from \'{"winer": "A"}\''],
        ),
        ("json = 'winner'\nexample = '{\"winner\": {verdict}}'", ["reads nothing"]),
        (BRACKETS + "refusal = 'no verdict'", ["with 'no verdict' for a refusal"]),
        (BRACKETS + "tie = 'C'", ["the word 'C' names option 3 and a tie", "item=q2"]),
        (BRACKETS + "options = ['A', 'B']", ["words for 2 options, an item has 3"]),
    ],
)
def test_a_form_that_is_not_read_back_from_its_example_is_refused(sweep, template, form, said):
    with pytest.raises(SweepError) as caught:
        sweep(asks=[template(form)], items=ITEMS)
    line = str(caught.value)
    assert "\n" not in line
    assert [words for words in [*said, "mine"] if words not in line] == []


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("early_stop = true", "early_stop needs a form whose words end at the label"),
        ("verdict_logprobs = true", "verdict_logprobs needs a form whose words end at the label"),
        ('reader = "schroeder2024"', "declares a form of its own"),
        ('mode = "exact"\nexact = { forced = true }', "exact.forced needs a form with words"),
    ],
)
def test_what_needs_the_words_of_a_shipped_form_is_refused(sweep, template, more, said):
    named = template(verdict="first")
    sweep(asks=[named], items=ITEMS)
    with pytest.raises(SweepError, match=said):
        sweep(asks=[named + more], items=ITEMS)


def test_texts_of_options_must_be_known_and_differ(sweep, template):
    form = "json = 'winner'\nexample = '{\"winner\": \"{verdict}\"}'\noptions = 'texts'"
    (menu, condition), *_ = menus_of(sweep(asks=[template(form)], items=ITEMS))
    texts = {"x": "one", "y": "two"}
    assert menu.words == tuple((texts[one],) for one in menu.option_ids)
    shown = [texts[one] for one in menu.option_ids]
    assert condition.prompt[0].content == f"Larger? - {shown[0]}\n- {shown[1]}"
    alike = '{"item_id": "q3", "question": "?", "options": [{"option_id": "x", "text": "Up"}, '
    alike += '{"option_id": "y", "text": "up "}]}'
    with pytest.raises(SweepError, match=r"the word 'up' names option 1 and option 2.*item=q3"):
        sweep(asks=[template(form)], items=[*ITEMS, alike])
    judges = [("j", ""), ("k", "")]
    asks = [template(form) + 'responders = ["j", "k"]\njudges = ["j"]\n']
    with pytest.raises(SweepError, match="texts are yet to be written"):
        sweep(judges=judges, asks=asks, items=ITEMS)


def test_an_option_called_tie_is_not_taken_for_one(sweep, template):
    options = [{"option_id": one, "text": one} for one in ("Tie", "Bow")]
    items = [json.dumps({"item_id": "q", "question": "?", "options": options})]
    with pytest.raises(SweepError, match="a tie is recorded as 'tie', which is an option's id"):
        sweep(asks=[template(BRACKETS + "tie = 'C'")], items=items)


@pytest.mark.parametrize("protocol", ["respond", "confusion", "think_twice"])
def test_protocols_that_read_otherwise_say_so(sweep, tmp_path, protocol):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "template.toml").write_text(f'verdict = "last"\n[form]{BRACKETS}')
    (folder / "question.txt").write_text("{question}")
    with pytest.raises(SweepError, match=f"protocol {protocol} reads no form of one's own"):
        sweep(asks=[f'templates = ["{folder}"]\n'], protocol=protocol, items=ITEMS)


def test_a_form_called_own_is_a_table(sweep, tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "template.toml").write_text('verdict = "last"\nform = "own"\n')
    (folder / "question.txt").write_text("{question} {responses}")
    with pytest.raises(SweepError, match="a form of one's own is a table"):
        sweep(asks=[f'templates = ["{folder}"]\n'], items=ITEMS)


def test_a_changed_form_is_another_run_and_asks_the_same(sweep, template):
    def known(form):
        resolved = sweep(asks=[template(form) + "option_orders = 2"], items=ITEMS)
        keys = [condition.condition_key for _, condition in menus_of(resolved)]
        return json.loads(json.dumps(resolved.identity)), keys

    before, keys = known(BRACKETS)
    after, same = known(BRACKETS.replace("[A-Z]", "[A-F]"))
    assert keys == same
    assert before["first_keys"] == after["first_keys"]
    assert before["ask"] != after["ask"]
    own = before["ask"][0]["forms"]["mine"]
    assert own["pattern"] == r"\[\[(?P<verdict>[A-Z])\]\]"
    # What options are called is shown, and a tie is something else to answer.
    assert known(BRACKETS.replace("[A-Z]", r"\w") + "options = 'numbers'")[1] != keys
    assert known(BRACKETS + "tie = 'T'")[1] != keys


def test_words_name_places_and_places_options(sweep, template):
    form = "json = 'winner'\nexample = '{\"winner\": {verdict}}'\noptions = 'numbers'\ntie = 0"
    resolved = sweep(asks=[template(form) + "option_orders = 2"], items=ITEMS[:1])
    menus = [menu for menu, _ in menus_of(resolved)]
    assert sorted(menu.option_ids for menu in menus) == [("x", "y", "tie"), ("y", "x", "tie")]
    assert {menu.labels for menu in menus} == {("A", "B", "tie")}
    assert {menu.words for menu in menus} == {(("1",), ("2",), ("0",))}
    shown = {menu.option_ids[0]: one.prompt[0].content for menu, one in menus_of(resolved)}
    assert shown["y"] == "Larger? - [1]: two\n- [2]: one"
    (frame,) = resolved.frames
    assert verdict_ids(frame, frame.items[0], frame.templates[0]) == ("x", "y", "tie")


def test_the_plan_tells_how_replies_are_read(sweep, template):
    resolved = sweep(asks=[template(BRACKETS + "tie = ['T', 'Z']") + "max_tokens = 5"], items=ITEMS)
    notes = "\n".join(plan_resolved(resolved).notes)
    assert "template mine is read by a form of its own, pattern '\\[\\[" in notes
    assert "T/Z for a tie" in notes
    assert 'template mine asks the verdict last and reader = "first" counts the first one' in notes
    assert "has 27 characters, max_tokens = 5 is some 20: such replies are cut off" in notes
    assert "early_stop = true would" not in notes


def test_a_criterion_of_ones_own_is_found_beside_the_sweep_and_called_by_its_name(sweep, tmp_path):
    place = tmp_path / "one"
    place.mkdir()
    text = 'question = "Is it kind?"\n[definitions]\nshort = "Kind."\nlong = "Kind, truly."\n'
    (place / "kind.toml").write_text('name = "Kindness to users"\n' + text)
    (place / "helpfulness.toml").write_text(text.replace("kind?", "nice?"))
    asks = ['criteria = ["kind", "./helpfulness.toml"]\n']
    resolved = sweep(protocol="rating", asks=asks, items=ITEMS)
    assert [one.name for one in resolved.frames[0].criteria] == ["Kindness to users", "helpfulness"]
    notes = plan_resolved(resolved).notes
    assert any("criterion helpfulness has a text of its own" in note for note in notes)
    assert not any("criterion Kindness" in note for note in notes)
    with pytest.raises(SweepError, match="unknown name, expected one of conciseness"):
        sweep(protocol="rating", asks=['criteria = ["kindly"]\n'], items=ITEMS)


TIED = BRACKETS + "tie = 'C'\nrefusal = 'N'\n"
WITH_GOLD = [
    '{"item_id": "q1", "question": "Larger?", "options": ["one", "two"], "gold": "two"}',
    '{"item_id": "q2", "question": "Warmer?", "options": ["sun", "moon"], "gold": "tie"}',
    '{"item_id": "q3", "question": "Older?", "options": ["old", "new"], "gold": "C"}',
]


def test_gold_may_be_a_tie_where_the_template_declares_one(sweep, template, driver_of):
    driver = driver_of(sweep(asks=(template(TIED),), items=WITH_GOLD))
    items = driver.resolved.items
    assert [item.gold for item in items] == ["2", "tie", "tie"]
    assert not any("reference answer" in note for note in plan_resolved(driver.resolved).notes)

    def reply(ask, replication):
        """The first option of the file, and of q2 a tie."""
        menu = ask.condition.menu
        chosen = {"q2": "tie"}.get(ask.condition.item_id, "1")
        label = menu.words[menu.option_ids.index(chosen)][0]
        return Completion(
            key=request_key(ask.condition.condition_key, replication), replication=replication,
            seed=1, text=f"[[{label}]]", finish_reason="stop", prompt_tokens=1, cached_tokens=0,
            completion_tokens=1,
        )  # fmt: skip

    run, session = driver.run, driver.begin()
    frame = driver.resolved.frames[0]
    pending = Pending(asked=((frame, frame.judges[0]),), wave=0, texts={}, ledger=session.ledger)
    for lease, asks in enumerate(pending.asks(None), start=1):
        driver._land(run, session.number, lease, asks, "", True, reply)
    end_session(run, session.number)
    options = ReduceOptions(by=("judge",), coefficients=("accuracy",), missing=("drop",))
    found = coefficients_of(driver.out, options)
    # One of three is right: the tie that is one.
    assert (found["n_items"].item(), found["value"].item()) == (3, pytest.approx(1 / 3))
    right = question_rows(driver.out).sort("item_id")["accuracy"].to_list()
    assert right == [0.0, 1.0, 0.0]


@pytest.mark.parametrize("other", ["default", "untied"])
def test_gold_that_is_a_tie_is_refused_where_a_template_has_none(sweep, template, other):
    lines = [template(TIED), template(BRACKETS, name="untied")]
    folders = [line.split('"')[1] for line in lines]
    names = [folders[0], folders[1] if other == "untied" else "default"]
    with pytest.raises(SweepError, match="names no option by") as told:
        sweep(asks=(f"templates = {json.dumps(names)}\n",), items=WITH_GOLD)
    assert "gold 'tie' of item 'q2'" in str(told.value)


def test_a_word_for_a_tie_that_names_an_option_is_refused(sweep, template):
    form = BRACKETS.replace("[A-Z]", "[0-9]") + "options = 'numbers'\ntie = '0'\n"
    items = [WITH_GOLD[0].replace('"two"}', '"0"}')]
    with pytest.raises(SweepError, match="may mean a tie, or by index option 1, which is '1'"):
        sweep(asks=(template(form),), items=items)


@pytest.mark.parametrize(
    "pattern",
    ["(?P<verdict>[AB]?)", "(?P<verdict>[AB]*)", r"\b(?P<verdict>A|B|)", "(?P<verdict>)"],
)
def test_a_pattern_that_matches_nothing_at_all_is_refused(sweep, template, pattern):
    form = f"pattern = '{pattern}'\nexample = '{{verdict}} it is'\n"
    with pytest.raises(SweepError, match="pattern matches the empty text") as told:
        sweep(asks=(template(form),), items=ITEMS)
    assert "\n" not in str(told.value)
