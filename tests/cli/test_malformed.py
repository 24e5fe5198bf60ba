"""Whatever is wrong with a sweep, its items or its templates: one line, exit 2, no traceback."""

import pytest

from judgerel_ray.cli import main

ASK2 = '[[ask]]\nprotocol = "best_of"\nbenchmark = "mine"\npath = "items.csv"\n'
TEMPLATE = (("t/template.toml", 'form = "best_response"\nverdict = "first"\n'),)
QUESTION = (("t/question.txt", "{question} {responses}"),)
MORE_JUDGES = "".join(
    f'[[judge]]\nname = "{name}"\nengine = "simulated"\nmodel = "uniform"\ngpus = 0\n'
    for name in "ab"
)


def template(folder, question="{question} {responses}"):
    return ((f"{folder}/template.toml", TEMPLATE[0][1]), (f"{folder}/question.txt", question))


def templates(*names):
    return f"templates = {list(names)}\n".replace("'", '"')


# (what is wrong, swaps in the sweep, text after it, other files, words of the one line)
SWEEPS = [
    ("empty", [("name", "#name")], "", (), ["name is missing", "sweep.toml"]),
    ("no toml", [('name = "small"', "name = ")], "", (), ["not TOML", "sweep.toml"]),
    ("key", [("engine", "engin")], "", (), ["judge[0].engin is not a key", "Try: engine"]),
    ("ask key", [("replications", "repeats")], "", (), ["ask[0].repeats is not a key of an ask"]),
    ("fleet key", [], "[fleet]\nattempts = 1\n", (), ["fleet.attempts", "Try: max_attempts"]),
    ("protocol", [("best_of", "bestof")], "", (), ["ask[0].protocol", "Try: best_of"]),
    ("engine", [("simulated", "opnai")], "", (), ["judge[0].engine must be", "Try: openai"]),
    ("server", [("simulated", "openai")], "", (), ["judge[0]: a judge of engine openai needs"]),
    ("digits", [], f"order_seed = 1{'0' * 5000}\n", (), ["not TOML: a number is too long"]),
    ("top_k", [], "top_k = 2147483648\n", (), ["ask[0].top_k must be at most 2147483647"]),
    ("huge", [], "max_tokens = 99999999999\n", (), ["max_tokens must be at most 1000000"]),
    ("nan", [], "temperatures = [nan]\n", (), ["must be a finite number, got nan"]),
    ("labels", [], "thresholds = [0.5]\n", (), ["thresholds needs protocol confusion"]),
    (
        "high",
        [("best_of", "confusion")],
        "thresholds = [1.5]\n",
        (),
        ["ask[0].thresholds", "below 1, got 1.5"],
    ),
    ("cold", [], "temperatures = [0.005]\n", (), ["ask[0].temperatures", "0 or from 0.01"]),
    ("hot", [], "temperatures = [3]\n", (), ["ask[0].temperatures"]),
    ("twice", [], "temperatures = [1.0, 1.0]\n", (), ["must all differ"]),
    ("kind", [("= 3", '= "3"')], "", (), ["ask[0].replications must be a whole number"]),
    ("none", [("= 3", "= 0")], "", (), ["ask[0].replications must be at least 1, got 0"]),
    ("judge", [], 'judges = ["coyn"]\n', (), ["ask[0].judges names 'coyn'"]),
    ("nobody", [], 'responders = ["coin"]\n', (), ["has no judge"]),
    ("half", [], 'responders = ["coin", "x"]\n', (), ["mixes judges"]),
    ("early", [], 'early_stop = true\nreader = "last"\n', (), ["early_stop needs reader"]),
    ("model", [("uniform", "unifrom")], "", (), ["model of a simulated judge", "judge=coin"]),
    (
        "option",
        [("gpus = 0", "gpus = 0\nengine_options = { sed = 1 }")],
        "",
        (),
        ["engine_options.sed", "Try: seed"],
    ),
    (
        "folder",
        [("simulated", "vllm"), ("uniform", "./no-such-model")],
        "",
        (),
        ["no-such-model", "does not exist", "judge=coin"],
    ),
    (
        "empty folder",
        [("simulated", "vllm"), ("uniform", "./bare")],
        "",
        (("bare/README.md", "nothing"),),
        ["model folder cannot be a model, it has no config.json"],
    ),
    (
        "chat template",
        [("simulated", "vllm"), ("gpus = 0", 'chat_template = "c.jinja"')],
        "",
        (),
        ["c.jinja", "judge=coin"],
    ),
    ("path", [("items.csv", "itms.csv")], "", (), ["path names nothing that exists", "ask=0"]),
    ("answers", [], 'answers = "a.jsonl"\n', (), ["answers names nothing that exists"]),
    ("not answers", [], 'answers = "items.csv"\n', (), ["answers belong to mt_bench"]),
    ("suffix", [("items.csv", "i.xls")], "", (("i.xls", "x"),), ["unknown file format"]),
    ("null byte", [("items.csv", "i\\u0000.csv")], "", (), ["not a path"]),
    ("long path", [("items.csv", "i" * 5000)], "", (), ["not a path"]),
    ("absolute", [("items.csv", "/" + "i" * 5000)], "", (), ["path is not a path"]),
    ("loader", [('"mine"', '"bbh"'), ("items.csv", ".")], "", (), ["bbh"]),
    ("sample", [], "sample = { n = 2 }\n", (), ["asked for 2 items", "has 1"]),
    ("strata", [], "sample = { categories = 9 }\n", (), ["9"]),
    ("orders", [], "option_orders = 3\n", (), ["option_orders must be at most 2", "item=q1"]),
    ("recorded", [], 'responders = ["x", "z"]\n', (), ["neither a judge nor an option", "'z'"]),
    ("single", [], 'responders = ["x"]\n', (), ["best_of needs at least 2 options, got 1"]),
    ("same ask", [], ASK2 + "replications = 9\n", (), ["ask[0] and ask[1] ask the same"]),
    (
        "clash",
        [],
        ASK2.replace("items.csv", "b.csv"),
        (("b.csv", "item_id,question,option_x,option_y\nq1,Another?,a,b\n"),),
        ["different items of one name", "item=q1"],
    ),
    ("template", [], templates("defalt"), (), ["unknown template", "did you mean 'default'?"]),
    ("folder of it", [], templates("./t"), (), ["template folder not found"]),
    ("its settings", [], templates("./t"), QUESTION, ["lacks template.toml"]),
    ("its form", [], templates("t"), (("t/template.toml", ""), *QUESTION), ["declare a form"]),
    (
        "unknown form",
        [],
        templates("t"),
        (("t/template.toml", 'form = "letter"\nverdict = "first"'), *QUESTION),
        ["declare a form", "got 'letter'"],
    ),
    (
        "placeholder",
        [],
        templates("t"),
        (*TEMPLATE, ("t/question.txt", "{question} {answers}")),
        ["unknown placeholder {answers}"],
    ),
    (
        "left out",
        [],
        templates("t"),
        (*TEMPLATE, ("t/question.txt", "{question}")),
        ["text lacks {responses}"],
    ),
    (
        "no form for items",
        [],
        templates("t"),
        (*TEMPLATE, ("t/dialogue.txt", "{question_1} {question_2} {responses}")),
        ["has no text for questions of the form question", "add question.txt"],
    ),
    (
        "twins",
        [],
        templates("t", "u"),
        (*template("t"), *template("u")),
        ["templates must differ"],
    ),
    (
        "one name",
        [],
        templates("t", "v/t"),
        (*template("t"), *template("v/t", "Say: {question} {responses}")),
        ["templates must differ in name"],
    ),
    (
        "verdict last",
        [],
        templates("t") + "early_stop = true\n",
        (("t/template.toml", 'form = "best_response"\nverdict = "last"\n'), *QUESTION),
        ["early_stop needs templates that ask the verdict first"],
    ),
    (
        "reasons first",
        [],
        templates("reason_first") + "early_stop = true\n",
        (),
        ["early_stop needs templates that ask the verdict first, reason_first does not"],
    ),
    (
        "forced past the reasons",
        [("replications", "#replications")],
        templates("reason_first") + 'mode = "exact"\nexact = { forced = true }\n',
        (),
        ["exact.forced needs templates that ask the verdict first, reason_first does not"],
    ),
    (
        "responders' template",
        [],
        'responders = ["a", "b"]\nrespond = { template = "short" }\n' + MORE_JUDGES,
        (),
        ["unknown template", "protocol=respond"],
    ),
    (
        "no gold",
        [("best_of", "correctness"), ("items.csv", "i.csv")],
        "",
        (("i.csv", "item_id,question,option_a\n1,Q,x\n"),),
        ["correctness needs a gold answer", "item=1"],
    ),
    (
        "three turns",
        [("best_of", "respond"), ("items.csv", "i.jsonl")],
        "",
        (("i.jsonl", '{"item_id": "1", "question": "Q", "turns": ["Q", "R", "S"]}'),),
        ["a dialogue has 2 turns, got 3"],
    ),
]

# (what is wrong, the items file, its content, words of the one line)
HEADER = "item_id,question"
ITEM = '{"item_id": "1", "question": "Q"'
ITEMS = [
    ("no rows", "i.csv", HEADER, ["i.csv"]),
    ("nothing", "i.csv", "", ["i.csv"]),
    ("columns", "i.csv", "id,question\n1,Q", ["missing column item_id"]),
    ("double", "i.csv", f"{HEADER}\n1,Q\n1,R", ["'1' stands twice", "line=3"]),
    ("ragged", "i.csv", f"{HEADER}\n1", ["i.csv", "line=2"]),
    ("no options", "i.csv", f"{HEADER}\n1,Q", ["no candidate answers", "item=1"]),
    ("one option", "i.csv", f"{HEADER},option_a\n1,Q,x", ["needs at least 2 options, got 1"]),
    ("broken json", "i.jsonl", "{", ["broken JSON", "line=1"]),
    ("list", "i.jsonl", "[1]", ["expected one object a line"]),
    ("null id", "i.jsonl", '{"item_id": null, "question": "Q"}', ["item_id", "line=1"]),
    ("number", "i.jsonl", '{"item_id": "1", "question": 3}', ["question must be text"]),
    ("blank", "i.jsonl", '{"item_id": "1", "question": " "}', ["question of item '1' is empty"]),
    ("surrogate", "i.jsonl", '{"item_id": "1", "question": "\\ud800"}', ["surrogate"]),
    ("options", "i.jsonl", ITEM + ', "options": 3}', ["options must be a list"]),
    ("nameless", "i.jsonl", ITEM + ', "options": [{"text": "a"}]}', ["option_id"]),
    (
        "same option",
        "i.jsonl",
        ITEM + ', "options": [{"option_id": "a", "text": ""}, {"option_id": "a", "text": ""}]}',
        ["'a' stands twice"],
    ),
    (
        "one turn",
        "i.jsonl",
        ITEM + ', "turns": ["Q"], "options": ["a", "b"]}',
        ["a dialogue has 2 turns, got 1", "item=1"],
    ),
    ("rating", "i.jsonl", ITEM + ', "ratings": [{"rater": "r"}]}', ["a rating needs"]),
    ("not parquet", "i.parquet", "x", ["i.parquet"]),
]


def test_there_are_many_of_them():
    names = [name for name, *_ in (*SWEEPS, *ITEMS)]
    assert len(names) >= 60
    assert len(set(names)) == len(names)


def refused(capsys, file):
    """The one line that `plan` says of a file it refuses."""
    assert main(["plan", file]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("judgerel: ")
    assert err.count("\n") == 1
    assert err.endswith("\n")
    assert "Traceback" not in err
    return err


@pytest.mark.parametrize(
    ("swaps", "more", "files", "words"),
    [case[1:] for case in SWEEPS],
    ids=[case[0].replace(" ", "-") for case in SWEEPS],
)
def test_a_wrong_sweep_is_one_line_and_exit_2(sweep_file, capsys, swaps, more, files, words):
    line = refused(capsys, sweep_file(swaps=swaps, more=more, files=files))
    assert [word for word in words if word not in line] == []


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [case[1:] for case in ITEMS],
    ids=[case[0].replace(" ", "-") for case in ITEMS],
)
def test_wrong_items_are_one_line_and_exit_2(sweep_file, capsys, name, content, words):
    file = sweep_file(swaps=[("items.csv", name)], files=[(name, content)])
    line = refused(capsys, file)
    assert [word for word in words if word not in line] == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["plan", "none.toml"], "no such sweep file [file=none.toml]"),
        (["plan", "."], "cannot read the sweep file"),
        (["run", "none.toml", "--out", "r"], "no such sweep file"),
        (["status", "none"], "expected a run directory, got none"),
        (["verify", "none"], "expected a run directory, got none"),
        (["reduce", "none"], "none"),
        (["reduce", "none.csv"], "none.csv"),
        (["report", "none", "--out", "r.html"], "none"),
        (["items", "bbh", "none", "--out", "i.parquet"], "none"),
        (["items", "bbhh", ".", "--out", "i.parquet"], "Try: bbh"),
        (
            ["reduce", "none.csv", "--format", "xml"],
            "--format must be of table, json, markdown, got 'xml'",
        ),
    ],
)
def test_what_is_not_there_is_one_line_and_exit_2(tmp_path, monkeypatch, capsys, arguments, words):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert words in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_sound_sweep_passes(sweep_file, capsys):
    assert main(["plan", sweep_file()]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("sweep small: 6 requests\n")
    assert err == ""
