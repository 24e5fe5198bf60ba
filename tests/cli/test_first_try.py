"""What somebody does first: no verb, the examples of help, completion, a first sweep."""

from __future__ import annotations

import json
import shlex
import subprocess
import tomllib
from pathlib import Path

import polars as pl
import pytest

from judgerel_ray.cli import main
from judgerel_ray.core.verb import all_verbs

VERBS = all_verbs()

THAT_ASK = {"run", "exact", "refresh"}
"""Verbs whose examples ask judges: in this process, as where nobody has joined a cluster."""
ENDS = {"gate": {0, 4, 5}}
"""Codes with which an example may end, but for 0."""


def left(capsys, *arguments):
    """What a command prints that leaves before any verb, and its code."""
    with pytest.raises(SystemExit) as code:
        main([*arguments])
    return capsys.readouterr(), code.value.code


@pytest.fixture(scope="module")
def tryout(tmp_path_factory):
    """The folder that `judgerel --examples FOLDER` makes."""
    folder = tmp_path_factory.mktemp("first") / "tryout"
    with pytest.raises(SystemExit) as code:
        main(["--examples", str(folder)])
    assert code.value.code == 0
    return folder


def run_example(line, folder, monkeypatch):
    """Run the commands of one example."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "80")
    for command in f"judgerel {line}".split(" && "):
        program, *arguments = shlex.split(command)
        assert program == "judgerel"
        assert main(arguments) in ENDS.get(arguments[0], {0}), command


def test_nothing_asked_says_what_to_try_first(capsys):
    shown, code = left(capsys)
    lines = shown.out.splitlines()
    assert code == 0
    assert shown.err == ""
    assert len(lines) <= 12
    assert max(map(len, lines)) <= 80
    for first in ("--examples", "reduce", "gate", "init", "--help", "--install-completion"):
        assert f"judgerel {first}" in shown.out


def test_every_verb_has_two_examples_that_its_help_shows(capsys):
    for name, verb in VERBS.items():
        assert len(set(verb.examples)) == 2, name
        shown, _ = left(capsys, name, "--help")
        for line in verb.examples:
            assert f"\n  judgerel {line}\n" in shown.out
            assert line.split()[0] == name


@pytest.mark.alike(14)
@pytest.mark.parametrize("name", sorted(set(VERBS) - THAT_ASK))
def test_the_examples_of_help_run(name, tryout, monkeypatch):
    for line in VERBS[name].examples:
        run_example(line, tryout, monkeypatch)


@pytest.mark.slow
@pytest.mark.usefixtures("without_ray")
@pytest.mark.parametrize("name", sorted(THAT_ASK))
def test_the_examples_of_verbs_that_ask_run(name, tryout, monkeypatch):
    for line in VERBS[name].examples:
        run_example(line, tryout, monkeypatch)


def test_files_that_are_there_are_not_copied_over(capsys, tmp_path):
    (tmp_path / "mine").mkdir()
    shown, code = left(capsys, "--examples", str(tmp_path / "mine"))
    assert code == 2
    assert "it is there already" in shown.err
    assert shown.err.count("\n") == 1
    assert list((tmp_path / "mine").iterdir()) == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_installed_by_one_command_and_once(shell, capsys, tmp_path, monkeypatch):
    for name in ("XDG_CONFIG_HOME", "ZDOTDIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    start = tmp_path / {"bash": ".bashrc", "zsh": ".zshrc", "fish": "none"}[shell]
    if shell != "fish":
        start.write_text("alias ll='ls -l'")  # a last line without an end
    for _ in range(2):
        shown, code = left(capsys, "--install-completion", shell)
        assert code == 0
    script = Path(shown.out.partition(" is in ")[2].partition(", read by")[0].partition(";")[0])
    assert f"_JUDGEREL_COMPLETE={shell}_complete" in script.read_text()
    if shell == "fish":
        assert script == tmp_path / ".config" / "fish" / "completions" / "judgerel.fish"
        return
    lines = start.read_text().splitlines()
    assert lines[0] == "alias ll='ls -l'"
    assert len(lines) == 2
    assert lines[1].endswith(f"source {script}")


def test_bash_reads_what_was_installed(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    left(capsys, "--install-completion", "bash")
    found = subprocess.run(
        ["bash", "-c", f"source {tmp_path}/.bashrc && complete -p judgerel"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "judgerel" in found.stdout


PAIRS = [{"item_id": f"q{i}", "question": f"Which is {i}?", "option_a": f"{i}", "option_b": "none",
          "gold": "a" if i % 2 else "b"} for i in range(20)]  # fmt: skip
RAW = [{"prompt": f"Which is {i}?", "answer_a": f"{i}", "answer_b": "none", "winner": "AB"[i % 2]}
       for i in range(20)]  # fmt: skip
SINGLE = [{"id": i, "input": f"{i} + {i}?", "output": f"{2 * i}", "target": f"{2 * i}"}
          for i in range(20)]  # fmt: skip
BARE = [{"prompt": f"Write {i}", "response": f"text {i}"} for i in range(20)]
RATED = [{"item_id": f"q{i}", "question": f"Write {i}", "options": [f"text {i}"],
          "ratings": [{"rater": "x", "criterion": "logicality", "score": 3}]}
         for i in range(20)]  # fmt: skip


def written(rows, path):
    """Rows as a file by its suffix."""
    if path.suffix == ".jsonl":
        path.write_text("\n".join(map(json.dumps, rows)))
    else:
        frame = pl.DataFrame(rows)
        frame.write_csv(path) if path.suffix == ".csv" else frame.write_parquet(path)
    return str(path)


@pytest.mark.parametrize("name", ["i.csv", "i.jsonl", "i.parquet"])
@pytest.mark.parametrize(
    ("rows", "protocol", "requests", "shows"),
    [
        (PAIRS, "best_of", 200, "position bias (2 orders of the options)"),
        (RAW, "best_of", 200, "accuracy (gold of 20 of 20 items)"),
        (SINGLE, "correctness", 100, "no label by a person: accuracy stays unknown"),
        (BARE, "rating", 100, "repeatability (every prompt is asked 5 times)"),
        (RATED, "rating", 100, "accuracy (ratings by people of 20 of 20 items)"),
    ],
)
def test_a_first_sweep_fits_its_items_and_is_planned_as_it_is_written(
    name, rows, protocol, requests, shows, tmp_path, monkeypatch, capsys
):
    if name == "i.csv" and rows is RATED:
        pytest.skip("a CSV has no lists")
    monkeypatch.chdir(tmp_path)
    written(rows, tmp_path / name)
    assert main(["init", name]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"wrote sweep.toml, {protocol}: 20 items with ")
    assert shows in out
    text = (tmp_path / "sweep.toml").read_text()
    keys = tomllib.loads(text)
    assert keys["ask"][0]["protocol"] == protocol
    assert keys["judge"] == [{"provider": "openai", "model": "gpt-4o-mini"}]
    assert f"# It asks {requests} requests: " in text
    if rows is RATED:
        assert keys["ask"][0]["criteria"] == ["logicality"]
    # From wherever it is planned.
    monkeypatch.chdir("/")
    assert main(["plan", str(tmp_path / "sweep.toml"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["requests"] == requests


def test_a_first_sweep_says_which_columns_nothing_reads(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    renamed = [{**row, "better": row["winner"], "note": "", "rating": 3} for row in RAW]
    written([{k: v for k, v in row.items() if k != "winner"} for row in renamed], Path("i.csv"))
    assert main(["init", "i.csv"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "20 of them with a known right one; not read: note rating" in out
    assert main(["init", written(RAW, Path("j.csv")), "--out", "j.toml"]) == 0
    assert "not read" not in capsys.readouterr().out


def test_a_first_sweep_replaces_nothing_unless_it_is_forced(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    written(PAIRS, tmp_path / "i.csv")
    (tmp_path / "sweep.toml").write_text("mine")
    assert main(["init", "i.csv"]) == 2
    assert (tmp_path / "sweep.toml").read_text() == "mine"
    assert capsys.readouterr().err.count("\n") == 1
    assert main(["init", "i.csv", "--force"]) == 0
    assert main(["init", "i.csv"]) == 0  # the same content stays as it is
    assert main(["init", "i.csv", "--provider", "groq", "--model", "m"]) == 2


@pytest.mark.parametrize(
    ("rows", "arguments", "words"),
    [
        ([{"item_id": "a", "question": "?"}], [], "there is no answer to judge"),
        ([{"item_id": "a", "text": "?"}], [], "needs a column question"),
        (PAIRS, ["--provider", "groq"], "provider groq needs a model's name there. Try: --model"),
        (PAIRS, ["--provider", "nobody"], "--provider must be one of anthropic, azure"),
        (PAIRS, ["--out", "first.txt"], "--out must end in .toml"),
    ],
)
def test_what_no_sweep_can_be_written_of_is_one_line(
    rows, arguments, words, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    written(rows, tmp_path / "i.jsonl")
    try:
        code = main(["init", "i.jsonl", *arguments])
    except SystemExit as refused:
        code = refused.code
    err = capsys.readouterr().err
    assert code == 2
    assert words in err
    assert err.count("\n") == 1
    assert [file.name for file in tmp_path.iterdir()] == ["i.jsonl"]


@pytest.mark.parametrize("sweep", ["sweep.toml", "anchors.toml"])
def test_a_plan_is_one_screen(sweep, tryout, monkeypatch, capsys):
    monkeypatch.chdir(tryout)
    assert main(["plan", sweep]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sum(max(1, -(-len(line) // 80)) for line in lines) < 24
    assert lines[-1] == f"resolved sweep: every default is shown by judgerel plan {sweep} --full"
    assert main(["plan", sweep, "--full"]) == 0
    full = capsys.readouterr().out
    assert "resolved sweep:\n" in full
    assert [one for one in lines if one.startswith("note: ") and one not in full] == []


NOBODY = 'name = "nobody"\nengine = "simulated"\nmodel = "uniform"'
"""What the comment in a first sweep offers, to try it without a judge."""


@pytest.mark.slow
@pytest.mark.usefixtures("without_ray")
@pytest.mark.parametrize(("rows", "requests"), [(PAIRS, 200), (SINGLE, 100), (RATED, 100)])
def test_a_first_sweep_runs(rows, requests, fault_server, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    written(rows, tmp_path / "i.jsonl")
    assert main(["init", "i.jsonl", "--provider", "ollama", "--model", "tiny"]) == 0
    sweep = tmp_path / "sweep.toml"
    text = sweep.read_text()
    with fault_server() as server:
        if rows is PAIRS:  # what the server of tests has replies for
            sweep.write_text(text.replace("\nmodel =", f'\nbase_url = "{server.url}"\nmodel ='))
        else:
            lines = 'provider = "ollama"          # or anthropic'
            [provider] = [line for line in text.splitlines() if line.startswith(lines)]
            sweep.write_text(text.replace(provider, NOBODY).replace('model = "tiny"\n', ""))
        assert main(["run", "sweep.toml", "--out", "run"]) == 0
        sent = {name for seen in server.asked for name in seen.body}
    assert f"{requests} of {requests} requests landed" in capsys.readouterr().out
    assert "top_k" not in sent
    assert main(["reduce", "run"]) == 0
    orders = 2 if rows is PAIRS else 1
    assert ("20 questions, 2 option orders, 5 repeats" in capsys.readouterr().out) == (orders == 2)
