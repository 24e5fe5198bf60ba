"""A sweep file becomes a frozen sweep, or one line that names the file and the key."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgerel_ray.config import parse_sweep, read_sweep
from judgerel_ray.core import SweepError

HEAD = 'name = "s"\n'
JUDGE = '[[judge]]\nname = "j"\nengine = "simulated"\nmodel = "uniform"\ngpus = 0\n'
ASK = '[[ask]]\nprotocol = "best_of"\nbenchmark = "b"\npath = "items.parquet"\n'


def sweep_text(*, head=HEAD, judge="", ask="", more=""):
    return f"{head}{JUDGE}{judge}\n{ASK}{ask}\n{more}"


def problem(**lines):
    with pytest.raises(SweepError) as refused:
        parse_sweep(sweep_text(**lines), source="my.toml")
    text = str(refused.value)
    assert "\n" not in text
    assert "[file=my.toml]" in text
    return text


def test_a_small_sweep_gets_every_default():
    sweep = parse_sweep(sweep_text())
    judge, ask = sweep.judge[0], sweep.ask[0]
    assert judge.model_dump() == {
        "name": "j",
        "engine": "simulated",
        "model": "uniform",
        "revision": None,
        "gpus": 0,
        "pipeline_parallel_size": 1,
        "replicas": "auto",
        "dtype": None,
        "quantization": None,
        "max_model_len": None,
        "batch_invariant": False,
        "chat_template": True,
        "provider": None,
        "base_url": None,
        "api_key_env": None,
        "limits": None,
        "engine_options": {},
        "prices": None,
        "trust_remote_code": False,
    }
    assert ask.model_dump() == {
        "protocol": "best_of",
        "mode": "sample",
        "exact": None,
        "benchmark": "b",
        "path": "items.parquet",
        "answers": None,
        "gold_is": None,
        "sample": None,
        "temperatures": (1.0,),
        "replications": 5,
        "repeat_greedy": 0,
        "top_k": 50,
        "top_p": 1.0,
        "max_tokens": 150,
        "verdict_logprobs": False,
        "early_stop": False,
        "reader": "first",
        "templates": ("default",),
        "option_orders": 1,
        "order_seed": 0,
        "readable": 0.2,
        "responders": (),
        "respond": None,
        "judges": (),
    }
    assert sweep.fleet.model_dump() == {
        "lease_seconds": 10.0,
        "deadline_s": 600.0,
        "start_timeout_s": 1800.0,
        "max_attempts": 3,
        "max_engine_losses": 8,
        "replications_per_request": 32,
    }


@pytest.mark.parametrize(
    ("protocol", "temperatures", "replications", "max_tokens"),
    [("respond", (0.75,), 1, 150), ("best_of", (1.0,), 5, 150), ("correctness", (1.0,), 5, 16)],
)
def test_defaults_differ_by_protocol(protocol, temperatures, replications, max_tokens):
    text = sweep_text().replace("best_of", protocol)
    ask = parse_sweep(text).ask[0]
    assert (ask.temperatures, ask.replications) == (temperatures, replications)
    assert (ask.max_tokens, ask.respond) == (max_tokens, None)


def test_responders_write_by_settings_of_their_own():
    ask = parse_sweep(sweep_text(ask='responders = ["x", "y"]')).ask[0]
    assert ask.respond is not None
    assert ask.respond.model_dump() == {
        "temperature": 0.75,
        "top_k": 50,
        "top_p": 1.0,
        "max_tokens": 150,
        "template": "default",
    }


def test_what_is_stated_wins_over_defaults():
    ask = parse_sweep(
        sweep_text(ask="replications = 1\nmax_tokens = 1\ntemperatures = [2, 0.01, 1e-6]")
    ).ask[0]
    assert (ask.replications, ask.max_tokens) == (1, 1)
    assert ask.temperatures == (2.0, 0.01, 0.0)


def test_machine_epsilon_is_greedy():
    ask = parse_sweep(sweep_text(ask="temperatures = [2.220446049250313e-16]")).ask[0]
    assert ask.temperatures == (0.0,)
    text = 'responders = ["x", "y"]\nrespond = { temperature = 1e-16 }'
    assert parse_sweep(sweep_text(ask=text)).ask[0].respond.temperature == 0.0


@given(st.floats(min_value=1.0000001e-6, max_value=0.0099999))
def test_what_engines_would_change_silently_is_refused(temperature):
    words = re.escape("ask[0].temperatures[0]: must be 0 or from 0.01")
    with pytest.raises(SweepError, match=words):
        parse_sweep(sweep_text(ask=f"temperatures = [{temperature!r}]"))


@pytest.mark.parametrize(
    ("place", "line", "words"),
    [
        # bounds of every key
        ("judge", "replicas = 0", 'judge[0].replicas must be at least 1 or "auto", got 0'),
        ("judge", "replicas = -3", "must be at least 1"),
        ("judge", "max_model_len = 15", "judge[0].max_model_len must be at least 16, got 15"),
        ("judge", "prices = { prompt = -0.1 }", "judge[0].prices.prompt must be at least 0"),
        ("judge", "prices = { completion = -1 }", "judge[0].prices.completion must be at least 0"),
        ("ask", "temperatures = [-0.1]", "ask[0].temperatures[0]: must be 0 or from 0.01 to 2"),
        ("ask", "temperatures = [2.1]", "must be 0 or from 0.01 to 2, got 2.1"),
        ("ask", "temperatures = [nan]", "temperatures[0] must be a finite number, got nan"),
        ("ask", "temperatures = [inf]", "temperatures[0] must be a finite number, got inf"),
        ("ask", "temperatures = []", "ask[0].temperatures: must name at least one"),
        ("ask", "temperatures = [1.0, 1]", "must all differ, got [1.0, 1.0]"),
        ("ask", "temperatures = [0, 1e-12]", "must all differ"),
        ("ask", "replications = 0", "ask[0].replications must be at least 1, got 0"),
        ("ask", "replications = -1", "replications must be at least 1, got -1"),
        ("ask", "replications = 100_001", "replications must be at most 100000"),
        ("ask", "repeat_greedy = -1", "repeat_greedy must be at least 0"),
        ("ask", "temperatures = [0]\nrepeat_greedy = 100_001", "repeat_greedy must be at most"),
        ("ask", "top_k = -1", "ask[0].top_k must be at least 0, got -1"),
        ("ask", "top_p = 0", "ask[0].top_p must be above 0"),
        ("ask", "top_p = 1.01", "ask[0].top_p must be at most 1"),
        ("ask", "max_tokens = 0", "ask[0].max_tokens must be at least 1, got 0"),
        (
            "more",
            '[[ask]]\nprotocol = "think_twice"\nbenchmark = "b"\npath = "p"\n'
            "replications = { adaptive = 0.05 }",
            "adaptive replications need protocol best_of or correctness, got think_twice",
        ),
        ("ask", "option_orders = 0", "option_orders must be at least 1"),
        ("ask", "option_orders = 1001", "option_orders must be at most 1000"),
        ("ask", "sample = { n = 0 }", "ask[0].sample.n must be at least 1"),
        ("ask", "sample = { categories = 0 }", "ask[0].sample.categories must be at least 1"),
        ("ask", "respond = { top_k = -1 }", "ask[0].respond.top_k must be at least 0"),
        ("ask", "respond = { top_p = 0 }", "ask[0].respond.top_p must be above 0"),
        ("ask", "respond = { max_tokens = 0 }", "ask[0].respond.max_tokens must be at least 1"),
        ("ask", "respond = { temperature = 0.001 }", "ask[0].respond.temperature: must be 0 or"),
        ("more", "[fleet]\nlease_seconds = 0", "fleet.lease_seconds must be above 0"),
        ("more", "[fleet]\nlease_seconds = inf", "fleet.lease_seconds must be a finite number"),
        ("more", "[fleet]\ndeadline_s = 0", "fleet.deadline_s must be above 0"),
        ("more", "[fleet]\nstart_timeout_s = -1", "fleet.start_timeout_s must be above 0"),
        ("more", "[fleet]\nmax_attempts = 0", "fleet.max_attempts must be at least 1"),
        ("more", "[fleet]\nmax_engine_losses = 0", "fleet.max_engine_losses must be at least 1"),
        ("more", "[fleet]\nreplications_per_request = 0", "must be at least 1, got 0"),
        ("more", "[fleet]\nreplications_per_request = 1025", "must be at most 1024, got 1025"),
        # kinds
        ("judge", 'max_model_len = "64"', "max_model_len must be a whole number, got '64'"),
        ("judge", "max_model_len = 64.0", "max_model_len must be a whole number, got 64.0"),
        ("judge", "replicas = true", 'replicas must be a whole number or "auto", got true'),
        ("judge", 'replicas = "many"', 'replicas must be a whole number or "auto"'),
        ("judge", 'trust_remote_code = "yes"', "must be true or false, got 'yes'"),
        ("judge", "trust_remote_code = 1", "must be true or false, got 1"),
        ("judge", "chat_template = 3", "chat_template must be true or false or a text, got 3"),
        ("judge", 'chat_template = ""', "chat_template must be"),
        ("judge", "dtype = 16", "dtype must be a text, got 16"),
        ("judge", "engine_options = []", "judge[0].engine_options must be a table, got []"),
        ("judge", "engine_options = { a = 1979-05-27 }", "judge[0].engine_options.a must be text"),
        ("judge", "prices = 3", "judge[0].prices must be a table, got 3"),
        ("ask", "temperatures = 1.0", "ask[0].temperatures must be a list, got 1.0"),
        ("ask", 'temperatures = ["1"]', "ask[0].temperatures[0] must be a number, got '1'"),
        ("ask", "replications = 2.5", "replications must be a whole number, got 2.5"),
        ("ask", 'criteria = ["x"]', "ask[0].criteria needs protocol rating, got best_of"),
        ("ask", 'scales = ["x"]', "ask[0].scales needs protocol rating, got best_of"),
        ("ask", "replications = true", "replications must be a whole number, got true"),
        ("ask", "replications = [1]", "replications must be a whole number, got [1]"),
        ("ask", "replications = { first = 3 }", "ask[0].replications.adaptive is missing"),
        ("ask", "replications = { adaptive = 1 }", "adaptive must be below 1, got 1"),
        ("ask", "replications = { adaptive = 0 }", "adaptive must be above 0, got 0"),
        ("ask", "replications = { adaptive = 0.1, first = 1 }", "first must be at least 2, got 1"),
        ("ask", "replications = { adaptive = 0.1, max = 4 }", "max must be at least first, 5"),
        ("ask", "replications = { adaptive = 0.1, step = 0 }", "step must be at least 1, got 0"),
        ("ask", "replications = { adaptive = 0.1, width = 2 }", "width must be at most 1, got 2"),
        ("ask", "early_stop = 1", "early_stop must be true or false, got 1"),
        ("ask", 'templates = "default"', "templates must be a list, got 'default'"),
        ("ask", 'templates = [""]', "templates[0] must be a text that is not empty"),
        ("ask", 'sample = "all"', "ask[0].sample must be a table, got 'all'"),
        ("ask", 'sample = { per = "item" }', 'must be one of "category" or "benchmark"'),
        ("ask", 'reader = "fist"', "Try: first"),
        ("ask", 'mode = "exact"\nreplications = 3', "leave out replications"),
        ("ask", 'mode = "exact"\nreader = "last"', 'mode exact needs reader = "first"'),
        ("ask", 'mode = "exact"\ntop_p = 0.9', "mode exact needs top_p = 1, got 0.9"),
        ("ask", 'mode = "exact"\ntop_k = 60', "mode exact needs top_k = 0 or at most 56, got 60"),
        ("ask", 'mode = "columns"', 'ask[0].mode must be one of "sample" or "exact"'),
        ("ask", 'verdict_logprobs = true\nreader = "last"', 'needs reader = "first"'),
        ("ask", "verdict_logprobs = true\ntop_k = 0\ntop_p = 0.5", "needs top_p = 1 and top_k = 0"),
        (
            "ask",
            'option_labels = "ids"',
            "option_labels needs protocol confusion, got best_of",
        ),
        ("ask", "thresholds = [0.5]", "ask[0].thresholds needs protocol confusion, got best_of"),
        # what does not go together
        ("ask", 'early_stop = true\nreader = "last"', 'early_stop needs reader = "first"'),
        ("ask", "repeat_greedy = 3", "repeat_greedy repeats temperature 0"),
        ("ask", "respond = {}", "respond says how responders write"),
        ("ask", "templates = []", "templates must name at least one"),
        ("ask", 'templates = ["a", "a"]', "templates: must all differ"),
        ("ask", 'judges = ["j", "j"]', "judges: must all differ"),
        ("ask", 'responders = ["x", "x"]', "responders: must all differ"),
        ("ask", 'judges = ["k"]', "ask[0].judges names 'k', known are ['j']"),
        ("ask", 'responders = ["j", "x"]', "ask[0].responders mixes judges"),
        ("ask", 'responders = ["j"]', "ask[0] has no judge: every judge is a responder"),
        ("more", JUDGE, "two judges are named 'j'; names must differ"),
    ],
)
def test_a_wrong_key_is_named(place, line, words):
    assert words in problem(**{place: line})


@pytest.mark.parametrize(
    ("protocol", "line", "words"),
    [
        ("think_twice", "candidates = 0", "ask[0].candidates must be at least 1, got 0"),
        ("confusion", "thresholds = [0]", "ask[0].thresholds[0] must be above 0, got 0"),
        ("confusion", "thresholds = [0.5, 1]", "ask[0].thresholds[1] must be below 1, got 1"),
        ("confusion", "thresholds = [0.5, 0.5]", "thresholds: must all differ, got [0.5, 0.5]"),
        ("confusion", 'thresholds = ["0.5"]', "ask[0].thresholds[0] must be a number, got '0.5'"),
        ("rating", 'definitions = ["medium"]', "ask[0].definitions[0] must be one of"),
        ("rating", 'critera = ["x"]', "ask[0].critera is not a key of an ask"),
        ("think_twice", "respond = {}", "got think_twice: its models answer as they judge"),
        ("think_twice", 'mode = "exact"', "got think_twice: it samples replies"),
        ("correctness", "cascade = 0.5", "ask[0].cascade needs protocol think_twice, got correct"),
    ],
)
def test_a_wrong_key_of_a_protocol_is_named(protocol, line, words):
    text = sweep_text(ask=line).replace("best_of", protocol)
    with pytest.raises(SweepError, match=re.escape(words)):
        parse_sweep(text)


def test_a_key_of_another_protocol_tells_what_this_one_takes():
    told = problem(ask="thresholds = [0.5]")
    assert "Try: leave it out; best_of takes answers, benchmark, early_stop, exact" in told
    assert "thresholds" not in told.partition("Try:")[2]
    close = sweep_text(ask="threshold = [0.5]").replace("best_of", "confusion")
    with pytest.raises(
        SweepError, match=r"ask\[0\].threshold is not a key of an ask.*: thresholds"
    ):
        parse_sweep(close)


def test_what_every_ask_once_had_may_be_written_where_it_says_nothing():
    nothing = 'thresholds = []\noption_labels = "letters"\ncriteria = []\nscales = []\n'
    ask = parse_sweep(sweep_text(ask=nothing + "early_stop = false")).ask
    assert ask == parse_sweep(sweep_text()).ask


@pytest.mark.parametrize("protocol", ["respond", "correctness"])
@pytest.mark.parametrize("line", ["early_stop = true", "option_orders = 2"])
def test_keys_of_best_of_are_refused_elsewhere(protocol, line):
    text = sweep_text(ask=line).replace("best_of", protocol)
    with pytest.raises(SweepError, match=f"needs protocol best_of.*, got {protocol}"):
        parse_sweep(text)


def test_respond_asks_judges_not_responders():
    with pytest.raises(SweepError, match="got respond: its judges answer, name them in judges"):
        parse_sweep(sweep_text(ask='responders = ["x"]').replace("best_of", "respond"))


@pytest.mark.parametrize(
    ("lines", "words", "hint"),
    [
        ({"head": HEAD + "nmae = 1\n"}, "nmae is not a key of a sweep", "Try: name"),
        ({"judge": "gpu = 1"}, "judge[0].gpu is not a key of a judge", "Try: gpus"),
        ({"judge": "prices = { promt = 1 }"}, "judge[0].prices.promt is not", "Try: prompt"),
        ({"ask": "temperature = [1.0]"}, "ask[0].temperature is not a key", "Try: temperatures"),
        ({"ask": "sample = { sed = 1 }"}, "ask[0].sample.sed is not a key", "Try: seed"),
        ({"ask": "respond = { topk = 1 }"}, "ask[0].respond.topk is not a key", "Try: top_k"),
        ({"more": "[fleet]\nlease_second = 1"}, "fleet.lease_second is not", "Try: lease_seconds"),
        (
            {"more": "[store]\nx = 1"},
            "store is not a key of a sweep",
            "Try: one of ask, fetch, first_replication, fleet",
        ),
        ({"head": HEAD + 'folder = "x"\n'}, "folder is not a key of a sweep", ""),
        ({"head": HEAD + 'text = "x"\n'}, "text is not a key of a sweep", ""),
    ],
)
def test_an_unknown_key_comes_with_a_suggestion_at_every_level(lines, words, hint):
    text = problem(**lines)
    assert words in text
    assert hint in text


def test_an_unknown_key_is_told_before_the_missing_one_it_explains():
    text = sweep_text().replace("protocol", "protocl")
    with pytest.raises(SweepError) as refused:
        parse_sweep(text)
    assert str(refused.value) == (
        "ask[0].protocl is not a key of an ask (and 1 more problem) [file=sweep.toml]."
        " Try: protocol"
    )


def test_every_problem_is_counted_once():
    text = problem(judge='replicas = "x"\ndtype = 1', ask="top_k = -1")
    assert "(and 2 more problems)" in text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "missing (and 2 more problems)"),
        ("name = ", "not TOML: "),
        ("x = [1,", "not TOML: "),
        ("a = 1\na = 2", "not TOML: Cannot overwrite a value"),
        ("a = " + "[" * 5000, "not TOML: nested too deeply"),
        (HEAD + ASK, "judge is missing"),
        (HEAD + JUDGE, "ask is missing"),
        (HEAD + ASK + JUDGE.replace("[[judge]]", "[judge]"), "Try: write [[judge]]"),
        (HEAD + "judge = []\nask = []", "judge must be a list of tables, at least 1, got []"),
        (sweep_text(head='name = "a b"\n'), "name must be letters, digits and"),
        (sweep_text(head='name = "../x"\n'), "name must be letters, digits and"),
        (sweep_text(head=f'name = "{"x" * 121}"\n'), "name must be a text, its length at most 120"),
        (sweep_text().replace('name = "j"', 'name = "j/k"'), "judge[0].name must be letters"),
        (sweep_text(head=HEAD + "fleet = 3\n"), "fleet must be a table, got 3"),
        (sweep_text(more="[[fleet]]"), "Try: write [fleet]"),
        (sweep_text().replace("gpus = 0", "gpus = -1"), "judge[0].gpus must be at least 0, got -1"),
        (sweep_text().replace("gpus = 0", "gpus = false"), "judge[0].gpus must be a whole number"),
        (sweep_text().replace('"simulated"', '"vlm"'), "Try: vllm"),
        (sweep_text().replace('"best_of"', '"best-of"'), "Try: best_of"),
        (sweep_text().replace('"uniform"', '""'), "judge[0].model must be a text that is not"),
    ],
)
def test_a_file_that_is_no_sweep_is_one_line(text, words):
    with pytest.raises(SweepError) as refused:
        parse_sweep(text, source="my.toml")
    message = str(refused.value)
    assert words in message
    assert "[file=my.toml]" in message
    assert "\n" not in message


@given(st.text(max_size=60))
def test_any_text_is_a_sweep_or_refused_in_words(text):
    with pytest.raises(SweepError):
        parse_sweep(text)


def test_a_long_value_is_cut():
    assert len(problem(ask=f'top_k = "{"x" * 5000}"')) < 300


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(SweepError, match=r"no such sweep file \[file=.*none\.toml\]\. Try: "):
        read_sweep(tmp_path / "none.toml")


def test_a_folder_and_bytes_that_are_no_text_are_refused(tmp_path):
    (tmp_path / "latin.toml").write_bytes(b'name = "\xe9"')
    with pytest.raises(SweepError, match="cannot read the sweep file"):
        read_sweep(tmp_path)
    with pytest.raises(SweepError, match=r"not UTF-8 text: byte 0xe9 at offset 8 \[file=.*latin"):
        read_sweep(tmp_path / "latin.toml")


def test_a_byte_order_mark_and_lines_of_other_systems_change_nothing(tmp_path):
    text = sweep_text()
    for name, content in (
        ("plain", text.encode()),
        ("mark", text.encode("utf-8-sig")),
        ("windows", text.replace("\n", "\r\n").encode("utf-8-sig")),
    ):
        (tmp_path / f"{name}.toml").write_bytes(content)
        assert read_sweep(tmp_path / f"{name}.toml").text == text


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_another_unicode_encoding_is_named(tmp_path, encoding):
    (tmp_path / "s.toml").write_bytes(sweep_text().encode(encoding))
    what = "UTF-32" if encoding == "utf-32" else "UTF-16"
    with pytest.raises(SweepError, match=f"not UTF-8 text, it is {what} .* save it as UTF-8"):
        read_sweep(tmp_path / "s.toml")


def test_a_confusion_ask_states_thresholds_of_its_labels():
    text = sweep_text(ask="thresholds = [0.7, 0.25]").replace("best_of", "confusion")
    assert parse_sweep(text).ask[0].thresholds == (0.7, 0.25)


def test_the_file_is_kept_as_written(tmp_path):
    file = tmp_path / "s.toml"
    text = "# why\n" + sweep_text()
    file.write_text(text, encoding="utf-8")
    sweep = read_sweep(str(file))
    assert sweep.text == text
    assert Path(sweep.folder) == tmp_path
    assert "text" not in sweep.model_dump()
    assert "folder" not in sweep.model_dump()


def test_a_sweep_is_frozen():
    sweep = parse_sweep(sweep_text())
    for thing, key in ((sweep, "name"), (sweep.ask[0], "top_k"), (sweep.judge[0], "gpus")):
        with pytest.raises(ValueError, match="frozen"):
            setattr(thing, key, 1)
