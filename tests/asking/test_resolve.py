"""A sweep's identity is what it asks: neither where it lies nor how it is run."""

import gc
import json
import shutil
from pathlib import Path

import pytest

from judgerel_ray.asking.plan.resolve import resolve, uncollected
from judgerel_ray.config import read_sweep
from judgerel_ray.core import SweepError
from judgerel_ray.protocols import rating as rating_protocol

ITEMS = [
    '{"item_id": "q1", "question": "Larger?", "options": ["one", "two"], "gold": "two"}',
    '{"item_id": "q2", "question": "Warmer?", "options": ["sun", "moon"], "gold": "sun"}',
    '{"item_id": "q3", "question": "Older?", "options": ["a", "b"], "gold": "a", "turns": '
    '["Older?", "And newer?"]}',
]
TEMPLATE = {
    "template.toml": 'form = "best_response"\nverdict = "first"\n',
    "question.txt": "{question} {responses}",
    "dialogue.txt": "{question_1} {question_2} {responses}",
}


def write_template(folder, **changes):
    folder.mkdir(parents=True)
    for name, text in {**TEMPLATE, **changes}.items():
        (folder / name).write_text(text, encoding="utf-8")


def identity(resolved):
    return json.loads(json.dumps(resolved.identity))


ASK = 'judges = ["j", "k"]\ntemperatures = [1.0, 0.0]'
JUDGES = [("j", ""), ("k", "")]


@pytest.mark.parametrize(
    "change",
    [
        {"judges": [("j", "replicas = 3"), ("k", "")]},
        {"judges": [("j", "prices = { prompt = 3.0 }"), ("k", "")]},
        {"judges": [("j", "engine_options = { latency_ms = 1 }"), ("k", "")]},
        {"judges": JUDGES[::-1]},
        {"judges": [*JUDGES, ("unasked", "")]},
        {"more": "[fleet]\nlease_seconds = 1.0\nmax_attempts = 9\n"},
        {"more": "# only a comment\n"},
        {"folder": "elsewhere", "path": "moved.jsonl"},
        {"items": ITEMS[::-1]},
        {"asks": ['judges = ["k", "j"]\ntemperatures = [0.0, 1.0]\nreplications = 5']},
        {"asks": [ASK + "\nsample = { n = 3, seed = 7 }"]},
    ],
)
def test_where_and_how_it_runs_is_not_its_identity(sweep, change):
    before = sweep(judges=JUDGES, asks=[ASK])
    after = sweep(**{"judges": JUDGES, "asks": [ASK], **change})
    assert identity(after) == identity(before)
    asked = {(voice.name, voice.fingerprint) for voice in before.frames[0].judges}
    assert {(voice.name, voice.fingerprint) for voice in after.frames[0].judges} == asked


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ({"judges": [("j", "engine_options = { seed = 2 }")]}, ["judge.j.engine_options"]),
        ({"judges": [("j", "max_model_len = 999")]}, ["judge.j.max_model_len"]),
        ({"judges": [("k", "")]}, ["judge.k", "ask.0.judges"]),
        ({"judges": [("j", ""), ("k", "")]}, ["judge.k", "ask.0.judges"]),
        ({"asks": ["temperatures = [0.5]"]}, ["ask.0.temperatures"]),
        ({"asks": ["replications = 6"]}, ["ask.0.replications"]),
        ({"asks": ["top_k = 5"]}, ["ask.0.top_k"]),
        ({"asks": ["max_tokens = 5"]}, ["ask.0.max_tokens"]),
        ({"asks": ['reader = "last"']}, ["ask.0.reader"]),
        ({"asks": ["early_stop = true"]}, ["ask.0.early_stop"]),
        ({"asks": ["option_orders = 2"]}, ["ask.0.option_orders"]),
        ({"asks": ["order_seed = 2"]}, ["ask.0.order_seed"]),
        ({"asks": ['templates = ["paraphrase"]']}, ["ask.0.templates"]),
        ({"asks": ['responders = ["1", "2"]']}, ["ask.0.responders"]),
        ({"asks": ["sample = { n = 1 }"]}, ["ask.0.items", "ask.0.n_items"]),
        ({"items": [ITEMS[0].replace("Larger", "Smaller")]}, ["ask.0.items"]),
        ({"protocol": "correctness"}, ["ask.0.protocol"]),
    ],
)
def test_what_is_asked_is_its_identity_by_readable_names(sweep, change, names):
    before, after = (identity(made) for made in (sweep(), sweep(folder="two", **change)))
    assert before != after
    differing = {
        name
        for name in flat(before).keys() | flat(after).keys()
        if flat(before).get(name) != flat(after).get(name)
    }
    for name in names:
        assert any(one == name or one.startswith(name + ".") for one in differing), differing


def flat(value, name=""):
    if isinstance(value, dict | list) and value:
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        return {
            leaf: end
            for key, inner in pairs
            for leaf, end in flat(inner, f"{name}.{key}" if name else str(key)).items()
        }
    return {name: value}


def test_a_templates_words_are_identity_and_its_place_is_not(sweep, tmp_path):
    texts = [("a", {}), ("b", {}), ("c", {"question.txt": "Say: {question} {responses}"})]
    for folder, changes in texts:
        write_template(tmp_path / folder / "mine", **changes)
    one, two, three = (
        identity(sweep(asks=[f'templates = ["../{folder}/mine"]'])) for folder in "abc"
    )
    assert one == two != three


@pytest.mark.parametrize("name", ["mine", "./mine", "absolute"])
def test_a_template_folder_is_found_beside_the_sweep(sweep, tmp_path, name):
    write_template(tmp_path / "one" / "mine")
    given = str(tmp_path / "one" / "mine") if name == "absolute" else name
    [frame] = sweep(asks=[f'templates = ["{given}"]']).frames
    assert [template.name for template in frame.templates] == ["mine"]
    assert frame.templates[0].texts["question"] == TEMPLATE["question.txt"]


def test_a_shipped_name_is_never_taken_for_a_folder(sweep, tmp_path):
    write_template(tmp_path / "one" / "default")
    [frame] = sweep(asks=['templates = ["default"]']).frames
    assert frame.templates[0].texts["question"] != TEMPLATE["question.txt"]


def test_twins_by_the_texts_that_matter_are_refused(sweep, tmp_path):
    write_template(tmp_path / "one" / "t")
    write_template(tmp_path / "one" / "u", **{"context.txt": "{context} {question} {responses}"})
    with pytest.raises(SweepError, match="t and u do not"):
        sweep(asks=['templates = ["t", "u"]'])


def test_judges_voices_and_items_are_at_hand(sweep):
    resolved = sweep(judges=[("j", ""), ("k", "")], asks=['judges = ["k"]', 'judges = ["j"]'])
    assert [[voice.name for voice in frame.judges] for frame in resolved.frames] == [["k"], ["j"]]
    assert [item.item_id for item in resolved.items] == ["q1", "q2", "q3"]
    assert resolved.fingerprints["j"].digest == resolved.fingerprints["k"].digest
    assert sum(count.requests for count in resolved.counts) == 2 * 3 * 5


def test_responders_bring_their_template_and_settings(sweep):
    judges = [("j", ""), ("x", ""), ("y", "")]
    [frame] = sweep(judges=judges, asks=['responders = ["x", "y"]']).frames
    assert [voice.name for voice in frame.responders] == ["x", "y"]
    assert (frame.recorded, frame.respond_template.protocol) == ((), "respond")
    [frame] = sweep(asks=['responders = ["1", "2"]']).frames
    assert (frame.responders, frame.recorded) == ((), ("1", "2"))
    assert (frame.respond, frame.respond_template) == (None, None)


def test_paths_of_models_and_chat_templates_lead_beside_the_sweep(tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "config.json").write_text('{"model_type": "llama"}')
    (tmp_path / "model" / "tokenizer.json").write_text("{}")
    (tmp_path / "model" / "w.safetensors").write_bytes(bytes([2, *[0] * 7]) + b"{}")
    (tmp_path / "c.jinja").write_text("{{ messages }}")
    (tmp_path / "i.csv").write_text("item_id,question,option_a,option_b\n1,Q,x,y\n")
    text = (
        'name = "s"\n[[judge]]\nname = "j"\nmodel = "model"\nchat_template = "c.jinja"\n'
        '[[judge]]\nname = "hub"\nmodel = "acme/judge-8B"\n'
        '[[ask]]\nprotocol = "best_of"\nbenchmark = "b"\npath = "i.csv"\n'
    )
    (tmp_path / "s.toml").write_text(text)
    resolved = resolve(read_sweep(tmp_path / "s.toml"))
    spec = resolved.specs["j"]
    assert Path(spec.model) == tmp_path / "model"
    assert Path(str(spec.chat_template)) == tmp_path / "c.jinja"
    assert resolved.specs["hub"].model == "acme/judge-8B"
    before = identity(resolved)
    assert "sha256:" in before["judge"]["j"]["chat_template"]
    (tmp_path / "c.jinja").write_text("{{ messages[0] }}")
    assert identity(resolve(read_sweep(tmp_path / "s.toml"))) != before


@pytest.mark.parametrize("model", ["./no-such", "../no-such", "/no/such", "~/no-such-model"])
def test_a_missing_model_folder_is_named(tmp_path, model):
    (tmp_path / "i.csv").write_text("item_id,question,option_a,option_b\n1,Q,x,y\n")
    (tmp_path / "s.toml").write_text(
        f'name = "s"\n[[judge]]\nname = "j"\nmodel = "{model}"\n'
        '[[ask]]\nprotocol = "best_of"\nbenchmark = "b"\npath = "i.csv"\n'
    )
    with pytest.raises(SweepError, match=r"no.such.*does not exist \[judge=j\]"):
        resolve(read_sweep(tmp_path / "s.toml"))


def test_options_of_an_engine_are_refused_before_it_is_made(tmp_path):
    (tmp_path / "i.csv").write_text("item_id,question,option_a,option_b\n1,Q,x,y\n")
    (tmp_path / "s.toml").write_text(
        'name = "s"\n[[judge]]\nname = "j"\nmodel = "a/b"\ngpus = 2\n'
        "engine_options = { seed = 3 }\n"
        '[[ask]]\nprotocol = "best_of"\nbenchmark = "b"\npath = "i.csv"\n'
    )
    with pytest.raises(SweepError, match=r"engine_options must not set 'seed'.*\[judge=j\]"):
        resolve(read_sweep(tmp_path / "s.toml"))


def test_a_release_that_hashes_or_renders_otherwise_is_another_sweep(sweep, monkeypatch):
    before = identity(sweep())
    import judgerel_ray.protocols.waves.work as work

    real = work.digest
    monkeypatch.setattr(work, "digest", lambda content: real({"release": 2, **content}))
    after = identity(sweep())
    assert before["first_keys"] != after["first_keys"]
    assert {name for name in before if before[name] != after[name]} == {"first_keys"}


def test_every_node_loads_the_commit_that_was_fingerprinted(sweep):
    from dataclasses import replace

    from judgerel_ray.engines import Fingerprint

    resolved = sweep()
    [name] = [voice.name for voice in resolved.frames[0].judges][:1]
    hub = {"kind": "hub", "name": "a/b", "identity": "c0ffee", "resolved": True, "weights": None}
    for known, revision in ((True, "c0ffee"), (False, None)):
        parts = {"model": {**hub, "resolved": known}}
        prints = {**resolved.fingerprints, name: Fingerprint(digest="0", parts=parts)}
        assert replace(resolved, fingerprints=prints).pinned_spec(name).revision == revision
    assert resolved.pinned_spec(name) == resolved.specs[name]


def test_the_order_of_the_asks_is_no_identity(sweep):
    asks = ['templates = ["default"]', 'templates = ["paraphrase"]']
    assert identity(sweep(asks=asks)) == identity(sweep(asks=asks[::-1]))


def test_two_order_seeds_share_what_they_draw_alike(sweep):
    one = sum(count.requests for count in sweep().counts)
    both = sum(count.requests for count in sweep(asks=["", "order_seed = 1"]).counts)
    assert one < both < 2 * one


def test_a_template_declares_a_form_that_its_protocol_can_read(sweep, tmp_path):
    write_template(tmp_path / "rates", **{"template.toml": 'form = "rating"\nverdict = "first"\n'})
    named = f'templates = ["{tmp_path / "rates"}"]\n'
    with pytest.raises(SweepError, match="must declare a form") as caught:
        sweep(asks=[named])
    assert caught.value.hint == 'form = "best_response" or "correctness"'
    shipped = Path(rating_protocol.__file__).parent / "templates" / "default"
    copied = tmp_path / "mine"
    shutil.copytree(shipped, copied)
    (copied / "template.toml").write_text('form = "best_response"\nverdict = "first"\n')
    rating = f'criteria = ["helpfulness"]\ntemplates = ["{copied}"]\n'
    with pytest.raises(SweepError, match="must declare a form") as caught:
        sweep(asks=[rating], protocol="rating")
    assert caught.value.hint == 'form = "rating" or "score"'
    for form in ("rating", "score"):
        (copied / "template.toml").write_text(f'form = "{form}"\nverdict = "first"\n')
        assert sweep(asks=[rating], protocol="rating").frames[0].templates[0].form == form


def test_a_form_without_words_around_its_label_cannot_be_forced(sweep):
    ask = 'criteria = ["helpfulness"]\ntemplates = ["default", "lee2025"]\nmode = "exact"\n'
    assert len(sweep(asks=[ask], protocol="rating").frames[0].templates) == 2
    with pytest.raises(SweepError, match="template lee2025 declares 'score'"):
        sweep(asks=[ask + "exact = { forced = true }\n"], protocol="rating")


def test_mode_exact_needs_scales_whose_values_can_be_listed(sweep, tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "grade.toml").write_text(
        'level = "interval"\nlowest = 0\nhighest = 10\ndecimals = true\n'
    )
    ask = 'criteria = ["helpfulness"]\nscales = ["points5", "grade.toml"]\n'
    assert len(sweep(asks=[ask], protocol="rating").frames[0].scales) == 2
    with pytest.raises(SweepError, match="scales whose values can be listed, grade allows dec"):
        sweep(asks=[ask + 'mode = "exact"\n'], protocol="rating")


def test_cycles_are_looked_for_again_once_items_are_read(sweep):
    seen = []

    def watch(phase, _):
        seen.append(phase)

    gc.callbacks.append(watch)
    try:
        with uncollected():
            made = [[n] for n in range(5_000)]
            looked = tuple(seen)
        assert (len(made), looked) == (5_000, ())
    finally:
        gc.callbacks.remove(watch)
    with pytest.raises(SweepError, match="question"):
        sweep(items=['{"item_id": "q"}'])
    assert gc.isenabled()
