"""The command line: its verbs and flags, its exit codes, and how it leaves."""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from datetime import UTC, datetime

import click
import polars as pl
import pytest

from judgerel_ray import __version__, cli, reduce
from judgerel_ray.asking.run import running
from judgerel_ray.asking.run.running import RunSummary
from judgerel_ray.cli import acts, main
from judgerel_ray.cli.parsing import commands, parse
from judgerel_ray.core import EngineError, EngineStartError, StoreError, SweepError, TableError
from judgerel_ray.counting.outcomes import Refusals
from judgerel_ray.fleet import address as ray_address

# Frozen: a verb or flag that changes here changes for everyone's scripts.
WRITTEN = ["--exact-values", "--leading-word", "--item-by-row", "--column NAME=COLUMN"]
NAMED = [*WRITTEN, "--verdict-names WHAT"]
READ = [*NAMED, "--labels FILE"]
SHORTENED = ["--format NAMES", "--md", "--full", "--explain"]
SHOWN = [*SHORTENED, "--out FILE", "--force", "--raw-cells"]
SCALED = ["--scale FILE", "--mapping NAME", "--preset NAME", "--pairing HOW"]
BY = ["--by COLS"]
OPTIONS = {
    "init": [
        "FILE",
        "--out SWEEP.toml",
        "--provider {anthropic,azure,groq,ollama,openai,openrouter,together,vllm}",
        "--model NAME",
        "--force",
    ],
    "plan": ["SWEEP.toml", "--cluster FILE", "--json", "--full"],
    "run": ["SWEEP.toml", "--out RUN", "--address ADDRESS", "--ray", "--ask-lost",
            "--unreadable-ok"],
    "exact": ["SWEEP.toml", "--out RUN", "--address ADDRESS", "--ray"],
    "refresh": ["SERIES.toml", "--address ADDRESS", "--ray", "--json"],
    "status": ["RUN", "--json"],
    "verify": ["RUN"],
    "rejudge": ["RUN", "--sweep SWEEP.toml"],
    "replay": ["RUN", "[KEY]", "--all SAMPLE", "--seed S", "--sweep SWEEP.toml", "--json"],
    "items": [
        "BENCHMARK",
        "PATH",
        "--out FILE.parquet",
        "--answers PATH",
        "--seed S",
        "--gold-is {id,text,letter,number,index,reference}",
        "--prompts",
        "--unpack-limit GB",
        "--force",
    ],
    "import": [
        "FORMAT",
        "PATH...",
        "--out FILE.parquet",
        "--map FILE.toml",
        "--repeats PATTERN",
        "--value NAME=TEXT",
        "--missing TEXT",
        "--order A,B",
        "--judge NAME",
        "--role ROLE",
        "--reread",
        "--unpack-limit GB",
        "--force",
        "--column NAME=COLUMN",
    ],
    "doctor": ["[PATH]", *NAMED, "--json"],
    "reduce": [
        "PATH",
        "--measurement NAMES",
        "--items COL",
        "--nuisance COLS",
        "--missing NAMES",
        "--coefficient NAME",
        "--block {0,all}",
        "--tolerance NAME=VALUE",
        "--interval METHOD",
        "--resamples N",
        "--seed S",
        *READ, *BY, *SHOWN,
    ],
    "questions": ["PATH", "--block {0,all}", "--missing NAMES", *READ, *BY, *SHOWN],
    "serving": ["PATH", "--block {0,all}", *WRITTEN, *BY, *SHOWN],
    "agree": ["PATH", "--missing NAMES", *READ, *BY, *SHOWN],
    "uncertainty": ["RUN", "--threshold T", "--rule RULES", "--risk R", "--delta D", *SHOWN],
    "distributions": ["RUN", "--view {limits,weighted,settled,reasoning}", *SHOWN],
    "scales": ["PATH", *SCALED, *WRITTEN, *BY, *SHOWN],
    "align": [
        "PATH",
        "--scale FILE",
        "--reference WHO",
        "--coefficient NAME",
        *WRITTEN, *BY, *SHOWN,
    ],
    "rank": ["PATH", *SCALED, "--reference WHO", "--outside FILE", *WRITTEN, *BY, *SHOWN],
    "select": [
        "PATH",
        "--gold FILE",
        "--confidence NAMES",
        "--band NAME",
        "--bins N",
        "--risk R",
        "--delta D",
        "--resamples N",
        "--seed S",
        *READ, *BY, *SHOWN,
    ],
    "systems": [
        "PATH",
        "--gold FILE",
        "--confidence NAME",
        "--answer RULE",
        "--answer-temperature T",
        "--resamples N",
        "--seed S",
        *READ, *BY, *SHOWN,
    ],
    "panels": [
        "PATH",
        "--gold FILE",
        "--price NAME=...",
        "--confidence NAME",
        "--seed S",
        *READ, *BY, *SHOWN,
    ],
    "cascade": [
        "PATH", "--gold FILE", "--price NAME=...", "--confidence NAME", "--seed S",
        "--order A,B", "--person-cost COST", "--person-accuracy A", *READ, *BY,
        *SHOWN,
    ],
    "advise": [
        "PATH", "--target NAME=VALUE", "--budget N", "--facet-size NAME=N", "--nested COLS",
        *READ, *BY, *SHORTENED,
    ],
    "compare": [
        "A", "[B]", "--coefficient NAME", "--tolerance D",
        *READ, *BY, *SHORTENED,
    ],
    "gate": [
        "PATH", "--require RULE", "--rules FILE", "--ledger FILE",
        *READ, *BY, *SHORTENED,
    ],
    "correct": [
        "PATH", "--labels FILE", "--positive VERDICT", "--width W", "--seed S", *NAMED, *BY,
        *SHOWN,
    ],
    "label": [
        "PATH", "--out page.html", "--n N", "--choose {random,unstable,uncertain}",
        "--items FILE", "--seed S", "--force", *NAMED,
    ],
    "report": [
        "PATH", "--out report.html", "--force", "--mapping NAME", "--preset NAME",
        "--pairing HOW", "--scale FILE", "--reference WHO", "--outside FILE",
        *READ,
    ],
}  # fmt: skip
GROUPS = {
    "Ask": ["init", "plan", "run", "exact", "status", "verify", "rejudge", "replay", "refresh"],
    "Data": ["items", "import", "doctor"],
    "Analyse": ["reduce", "questions", "serving", "agree", "uncertainty", "distributions",
                "select", "systems", "panels", "cascade", "scales", "align", "rank"],
    "Decide": ["advise", "compare", "gate", "correct", "label", "report"],
}  # fmt: skip


def shown(one):
    """An option as its help names it."""
    if isinstance(one, click.Argument):
        return one.metavar
    if one.is_flag:
        return one.opts[0]
    choices = "{" + ",".join(one.type.choices) + "}" if isinstance(one.type, click.Choice) else None
    return f"{one.opts[0]} {choices or one.metavar}"


def test_verbs_and_flags_are_these():
    found = {
        name: [shown(one) for one in command.params if one.name != "help"]
        for name, command in commands().items()
    }
    assert found == OPTIONS


def test_each_verb_has_fewer_than_a_dozen_flags_of_its_own():
    shared = {*READ, *SHOWN, *BY}
    for verb, flags in OPTIONS.items():
        own = [one for one in flags if one.startswith("--") and one not in shared]
        assert len(own) < 12, verb


def test_help_lists_flags_of_many_verbs_under_headings_of_their_own(capsys):
    with pytest.raises(SystemExit):
        main(["panels", "--help"])
    listed = {}
    for line in capsys.readouterr().out.splitlines():
        if line.endswith(":") and not line.startswith(" "):
            rows = listed.setdefault(line, [])
        elif match := re.match(r"  (?:-h, )?(--[a-z-]+)", line):
            rows.append(match[1])
    assert listed == {
        "Options:": ["--gold", "--price", "--confidence", "--seed", "--help"],
        "How judgments are read and grouped:": [
            "--exact-values",
            "--leading-word",
            "--item-by-row",
            "--column",
            "--verdict-names",
            "--labels",
            "--by",
        ],
        "What is printed and written:": [
            "--format",
            "--md",
            "--full",
            "--explain",
            "--out",
            "--force",
            "--raw-cells",
        ],
    }


def test_help_lists_verbs_by_what_they_are_for(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    lines = capsys.readouterr().out.partition("\nAsk:")[2].splitlines()
    listed, group = {"Ask": []}, "Ask"
    for line in lines:
        if line.endswith(":"):
            group = line.rstrip(":")
            listed[group] = []
        elif re.match(r"  \w", line):
            listed[group].append(line.split()[0])
    assert listed == GROUPS


def test_defaults_are_those_of_the_options():
    assert parse(["reduce", "x"]).texts == {}
    request = parse(["reduce", "x"]).request()
    assert (request.by, request.measurement, request.coefficients) == (None, None, None)
    assert (request.missing, request.block) == (("category", "drop"), "0")
    assert parse(["run", "x", "--out", "y"]).request().address is None
    assert parse(["select", "x", "--seed", "0", "--risk", "0"]).texts == {"seed": 0, "risk": 0.0}


@pytest.mark.parametrize(
    ("flags", "hint"),
    [
        (["--questions"], "judgerel questions"),
        (["--reference", "human"], "judgerel align or rank or report"),
        (["--answer", "majority"], "judgerel systems"),
        (["--limits"], "judgerel reduce --help"),
        (["--by", "judge", "--gold", "x.csv"], "judgerel select or systems or panels or cascade"),
        (["--exact"], "judgerel exact"),
    ],
)
def test_a_flag_of_another_verb_is_refused_with_the_verb(capsys, flags, hint):
    with pytest.raises(SystemExit) as left:
        main(["reduce", "x", *flags])
    assert left.value.code == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("judgerel: no such option: --")
    assert err.endswith(f". Try: {hint}\n")


@pytest.mark.parametrize(
    ("typed", "meant"), [("--coeficient", "--coefficient"), ("--toleranse=0.5", "--tolerance")]
)
def test_a_slip_is_refused_with_what_was_meant(capsys, typed, meant):
    with pytest.raises(SystemExit):
        main(["reduce", "x", typed])
    told = (
        f"no such option: {typed.partition('=')[0]} (meant {meant}?). Try: judgerel reduce --help"
    )
    assert capsys.readouterr().err == f"judgerel: {told}\n"


def test_a_flag_of_many_verbs_is_refused_in_few_words(capsys):
    with pytest.raises(SystemExit):
        main(["plan", "x", "--by", "judge"])
    assert capsys.readouterr().err == "judgerel: no such option: --by. Try: judgerel --help\n"


def test_a_flag_is_never_taken_for_the_value_of_another(capsys):
    with pytest.raises(SystemExit) as left:
        main(["run", "x", "--out", "--address", "y"])
    assert left.value.code == 2
    assert "--out needs a value, got --address" in capsys.readouterr().err
    assert parse(["import", "table", "p", "--out", "o", "--missing=--"]).texts["missing"] == ("--",)
    assert parse(["systems", "p", "--answer-temperature", "-1"]).texts == {"answer_temperature": -1}


def test_help_loads_nothing_that_takes_long():
    heavy = ("polars", "ray", "numpy", "scipy", "pyarrow", "pydantic", "rich")
    code = f"""
import sys
from judgerel_ray.cli import main
try:
    main(["--help"])
except SystemExit:
    print([name for name in {heavy} if name in sys.modules], file=sys.stderr)
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stderr == "[]\n"


@pytest.mark.parametrize("verb", ["reduce", "gate"])
def test_a_verb_alone_in_its_process_suggests_another_whose_module_is_not_loaded(
    command, judgments, verb
):
    found = command(verb, judgments)
    assert "Traceback" not in found.stderr
    assert re.search(rf"judgerel (?!{verb})\w+ {judgments}", " ".join(found.stdout.split()))


@pytest.mark.parametrize("arguments", [["--help"], *([verb, "--help"] for verb in OPTIONS)])
def test_help_says_what_there_is(capsys, arguments):
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == 0
    out, err = capsys.readouterr()
    assert out.startswith("usage: judgerel")
    assert err == ""
    for name in OPTIONS.get(arguments[0], OPTIONS):
        assert name.split()[0].strip("[]") in out


@pytest.mark.parametrize(
    "arguments",
    [
        ["pln"],
        ["plan"],
        ["plan", "a", "b"],
        ["run", "a"],
        ["run", "a", "--out"],
        ["run", "a", "--out", "b", "--addres", "c"],  # no shortened flags
        ["reduce", "a", "--block", "1"],
        ["status", "a", "--jsn"],
        ["report", "a"],
    ],
)
def test_a_wrong_call_is_one_line_and_exit_2(capsys, arguments):
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("judgerel: ")
    assert err.count("\n") == 1
    verb = f" {arguments[0]}" if arguments and arguments[0] in OPTIONS else ""
    assert err.endswith(f". Try: judgerel{verb} --help\n")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (SweepError("x"), 2),
        (StoreError("x"), 2),
        (TableError("x"), 2),
        (EngineError("x"), 3),
        (EngineStartError("x"), 3),
        (KeyboardInterrupt(), 130),
    ],
)
def test_every_end_has_its_exit_code(monkeypatch, capsys, error, code):
    def act(_):
        raise error

    monkeypatch.setitem(cli.ACTS, "status", act)
    assert main(["status", "run"]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("judgerel: ")
    assert err.count("\n") == 1


def test_an_error_of_many_lines_is_told_in_one(monkeypatch, capsys):
    def act(_):
        raise EngineError("first\n  second\n\nthird", where={"judge": "j"}, hint="a\nb")

    monkeypatch.setitem(cli.ACTS, "verify", act)
    assert main(["verify", "run"]) == 3
    assert capsys.readouterr().err == "judgerel: first second third [judge=j]. Try: a b\n"


def test_a_defect_is_not_dressed_up_as_a_mistake(monkeypatch):
    def act(_):
        raise ZeroDivisionError

    monkeypatch.setitem(cli.ACTS, "verify", act)
    with pytest.raises(ZeroDivisionError):
        main(["verify", "run"])


def test_a_plan_is_text_or_json(sweep_file, capsys):
    file = sweep_file()
    assert main(["plan", file]) == 0
    assert "resolved sweep:" in capsys.readouterr().out
    assert main(["plan", file, "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["requests"] == 6
    assert plan["resolved"]["ask"][0]["replications"] == 3


def test_items_become_a_file_a_sweep_can_name(sweep_file, tmp_path, capsys):
    file = sweep_file(swaps=[("items.csv", "items.parquet")])
    out = str(tmp_path / "items.parquet")
    assert main(["items", "mine", str(tmp_path / "items.csv"), "--out", out]) == 0
    assert capsys.readouterr().out == f"wrote 2 items to {out}\n"
    assert main(["plan", file]) == 0


@pytest.mark.parametrize("name", ["items.csv", "items.csv/items.parquet"])
def test_items_that_cannot_be_written_are_a_mistake(sweep_file, tmp_path, capsys, name):
    sweep_file()
    source, out = str(tmp_path / "items.csv"), str(tmp_path / name)
    assert main(["items", "mine", source, "--out", out]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.fixture
def judgments(tmp_path):
    """A small file of judgments."""
    rows = ["item_id,replication,verdict", "q1,0,A", "q1,1,A", "q2,0,B", "q2,1,A", "q3,0,B"]
    file = tmp_path / "judgments.csv"
    file.write_text("\n".join(rows))
    return str(file)


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--coefficient", "krippendorf_alpha"], "krippendorf_alpha"),
        (["--by", "judg"], "judg"),
        (["--missing", "droop"], "droop"),
        (["--measurement", "nominl"], "nominl"),
        (["--format", "yaml"], "--format must be of table, json"),
        (["--format", ","], "--format must be of table, json, markdown, got nothing"),
        (["--out", "x.xlsx"], "--out must end in"),
    ],
)
def test_wrong_names_for_reduce_are_one_line_and_exit_2(judgments, capsys, flags, words):
    assert main(["reduce", judgments, *flags]) == 2
    err = capsys.readouterr().err
    assert words in err
    assert err.count("\n") == 1


def test_coefficients_are_printed_and_written(judgments, tmp_path, capsys):
    out = tmp_path / "c.json"
    flags = ["--coefficient", "percent_agreement,flip_rate", "--format", "table,json"]
    assert main(["reduce", judgments, *flags, "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "coefficient" in printed
    rows = json.loads(out.read_text())
    assert {row["coefficient"] for row in rows} == {"percent_agreement", "flip_rate"}
    assert json.dumps(rows[0])[:20] in json.dumps(json.loads(printed[printed.index("[\n") :]))


def test_the_version_is_told(capsys):
    with pytest.raises(SystemExit) as left:
        main(["--version"])
    assert left.value.code == 0
    assert capsys.readouterr().out == f"judgerel {__version__}\n"


@pytest.mark.parametrize(
    "error",
    [
        OSError(28, "No space left on device", "/disk/x"),
        PermissionError(13, "Permission denied", "x"),
        pl.exceptions.ComputeError("parquet: File out of specification\nmore"),
    ],
)
def test_whatever_is_wrong_with_a_file_is_one_line(monkeypatch, capsys, tmp_path, error):
    def act(_):
        raise error

    monkeypatch.setitem(cli.ACTS, "verify", act)
    assert main(["verify", str(tmp_path)]) == 2
    err = capsys.readouterr().err
    assert err.startswith("judgerel: a file cannot be read or written: ")
    assert err.endswith(f"Try: judgerel verify {tmp_path}\n")
    assert err.count("\n") == 1


def test_a_full_disk_is_not_blamed_on_the_run(monkeypatch, capsys, tmp_path):
    def act(_):
        raise OSError(28, "No space left on device")  # as stdout says it: without a name

    monkeypatch.setitem(cli.ACTS, "verify", act)
    assert main(["verify", str(tmp_path)]) == 2
    assert "No space left" in (err := capsys.readouterr().err)
    assert "judgerel verify" not in err


@pytest.mark.parametrize(("name", "defect"), [("s3fs.core", False), ("judgerel_ray.x", True)])
def test_a_missing_package_is_named_with_how_to_get_it(monkeypatch, capsys, name, defect):
    def act(_):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setitem(cli.ACTS, "verify", act)
    if defect:
        with pytest.raises(ModuleNotFoundError):
            main(["verify", "run"])
        return
    assert main(["verify", "run"]) == 2
    err = capsys.readouterr().err
    assert err.startswith("judgerel: a package is missing: s3fs.core. Try: ")
    assert err.count("\n") == 1


def test_what_a_terminal_would_obey_is_not_printed(monkeypatch, capsys):
    def act(_):
        raise SweepError("column \x1b[2J\x07\x00 é\u2028 is missing")

    monkeypatch.setitem(cli.ACTS, "verify", act)
    assert main(["verify", "run"]) == 2
    shown = r"judgerel: column \x1b[2J\x07\x00 é is missing" + "\n"
    assert capsys.readouterr().err == shown


@pytest.mark.slow
@pytest.mark.parametrize("closed", ["stdout", "stderr"])
def test_a_closed_stream_is_no_error(sweep_file, closed):
    """As `judgerel plan SWEEP >&-`."""
    redirection = {"stdout": ">&-", "stderr": "2>&-"}[closed]
    shell = f'"$0" -m judgerel_ray plan "$1" {redirection}'
    found = subprocess.run(
        ["/bin/sh", "-c", shell, sys.executable, sweep_file()],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (found.returncode, found.stderr) == (0, "")
    assert bool(found.stdout) is (closed == "stderr")


def test_an_empty_out_is_not_the_current_folder(sweep_file, tmp_path, monkeypatch, capsys):
    file = sweep_file()
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert main(["run", file, "--out", ""]) == 2
    assert "--out is empty" in capsys.readouterr().err
    assert list((tmp_path / "here").iterdir()) == []


@pytest.fixture
def landed(sweep_file, tmp_path):
    """A small run directory, as the actors would land it."""
    from judgerel_ray.asking.plan.planning import plan_resolved
    from judgerel_ray.asking.plan.resolve import resolve
    from judgerel_ray.asking.run.opening import prepare_run
    from judgerel_ray.config import read_sweep

    resolved = resolve(read_sweep(sweep_file()))
    run = prepare_run(resolved, plan_resolved(resolved), str(tmp_path / "run"))
    land_all(resolved, run)
    return tmp_path / "run"


def land_all(resolved, run):
    """Land every request of a sweep of one wave as the simulated engine's row."""
    from judgerel_ray.core import TokenCounts
    from judgerel_ray.design import build_wave
    from judgerel_ray.fleet import landed_rows, never_sent
    from judgerel_ray.store import begin_session, end_session, land

    session = begin_session(run).number
    [frame] = resolved.frames
    asks = [ask for work in build_wave(frame, 0, frame.judges[0], {}) for ask in work.asks]
    rows = landed_rows(
        [(ask, never_sent(ask, "as if")) for ask in asks],
        attempt=1,
        prices=None,
        landed_at=datetime.now(UTC),
    )
    conditions = {ask.condition.condition_key: [(ask.first, ask.n)] for ask in asks}
    assert land(
        run, session=session, lease=1, attempt=1, judge="coin", judgments=rows.judgments,
        completions=rows.completions, conditions=conditions, tokens=TokenCounts(), seconds=1.0,
    )  # fmt: skip
    end_session(run, session)


@pytest.mark.alike(2)
@pytest.mark.parametrize("damage", ["gone", "cut", "empty", "altered"])
def test_a_part_that_is_gone_or_damaged_is_one_line(landed, capsys, damage):
    [part] = (landed / "data").rglob("*.parquet")
    whole = part.read_bytes()
    altered = bytes(byte ^ 0x5A for byte in whole[:-4]) + b"PAR1"
    part.unlink()
    if damage != "gone":
        part.write_bytes({"cut": whole[:-9], "empty": b"", "altered": altered}[damage])
    for verb in (
        ["reduce"],
        ["advise"],
        ["compare", "--by", "judge"],
        ["report", "--out", "r.html"],
    ):
        assert main([verb[0], str(landed), *verb[1:]]) == 2
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        assert "judgerel verify" in err
    with pytest.raises(StoreError, match="judgerel verify"):
        reduce(landed)
    assert main(["verify", str(landed)]) == 1
    assert part.name in capsys.readouterr().out
    assert main(["status", str(landed), "--json"]) == 0
    status = json.loads(capsys.readouterr().out)
    assert (status["landed"], status["owed"]) == ((6, 0) if damage == "altered" else (0, 6))
    assert status["state"] == ("done" if damage == "altered" else "incomplete")


def test_a_folder_that_is_gone_is_refused_in_one_line(landed, sweep_file, capsys):
    (landed / "data").rename(landed.parent / "elsewhere")
    arguments = ["run", sweep_file(), "--out", str(landed)]
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    said = "files that landed are gone, cut or altered (data as a whole): 6 of 6"
    assert err.startswith(f"judgerel: {said}")
    assert f"judgerel run SWEEP.toml --out {landed} --ask-lost" in err
    (landed.parent / "elsewhere").rename(landed / "data")
    assert main(arguments) == 0
    assert capsys.readouterr().out.startswith("6 of 6 requests landed")


def test_judgments_count_without_their_texts(landed, sweep_file, capsys):
    shutil.rmtree(landed / "texts")
    assert main(["run", sweep_file(), "--out", str(landed)]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("6 of 6 requests landed")
    assert err.startswith("texts of 6 judgments are gone or cut")
    assert main(["reduce", str(landed)]) == 0


@pytest.mark.parametrize("flag", [True, False])
@pytest.mark.parametrize("address", ["127.0.0.1:9", "ray://127.0.0.1:9", "nonsense"])
def test_a_dead_cluster_is_told_before_anything_is_written(
    sweep_file, tmp_path, capsys, monkeypatch, address, flag
):
    run = tmp_path / "run"
    arguments = ["run", sweep_file(), "--out", str(run)]
    if flag:
        arguments += ["--address", address]
    else:
        monkeypatch.setenv("RAY_ADDRESS", address)
    assert main(arguments) == (2 if address == "nonsense" else 3)
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert address in err
    assert not run.exists()


def test_a_run_prints_its_own_words_only(sweep_file, tmp_path):
    """Whatever Ray and its children print meanwhile goes to stderr."""
    code = f"""
import os, subprocess, sys
from judgerel_ray import cli
from judgerel_ray.asking.run import running
from judgerel_ray.asking.run.running import RunSummary

def run_sweep(*_, **__):
    print("(raylet) a notice")
    os.write(1, b"from C++\\n")
    subprocess.run(["echo", "from a child"], check=True)
    done = {{"session": 1, "asked": 6, "landed": 6, "owed": 0, "failed": 0, "asked_now": 6}}
    return RunSummary(run="r", problems={{}}, **done)

running.run_sweep = run_sweep
sys.exit(cli.main(["run", {sweep_file()!r}, "--out", {str(tmp_path / "run")!r}]))
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "6 of 6 requests landed in r (6 in this session, 0 pending)\n"
    assert all(words in found.stderr for words in ("(raylet)", "from C++", "from a child"))


@pytest.mark.parametrize(
    ("mistakes", "code", "hint"),
    [((), 1, "run again"), (("b",), 2, "mend judge b as said above, then run again")],
)
def test_a_judge_that_is_wrong_is_not_to_be_run_again(
    sweep_file, tmp_path, capsys, monkeypatch, mistakes, code, hint
):
    numbers = {"session": 1, "asked": 6, "landed": 4, "owed": 2, "failed": 2, "asked_now": 4}
    summary = RunSummary(run="r", problems={"b": "not here"}, mistakes=mistakes, **numbers)
    monkeypatch.setattr(running, "run_sweep", lambda *_, **__: summary)
    monkeypatch.setattr(ray_address, "probe_cluster", lambda _: None)
    assert main(["run", sweep_file(), "--out", str(tmp_path / "run")]) == code
    out, err = capsys.readouterr()
    assert out.startswith("4 of 6 requests landed in r")
    first, last = err.splitlines()
    assert first == "judgerel: judge b was given up: not here"
    assert last.endswith(f"2 are pending. Try: {hint}")


@pytest.mark.parametrize(
    ("reasons", "now", "code"),
    [({"prompt_too_long": 2}, 2, 1), ({"prompt_too_long": 2}, 0, 0), ({}, 0, 0)],
)
def test_requests_that_failed_for_good_are_told_and_are_no_success(
    sweep_file, tmp_path, capsys, monkeypatch, reasons, now, code
):
    numbers = {"session": 1, "asked": 6, "landed": 6, "owed": 0, "failed": 0, "asked_now": 6}
    refused = Refusals(reasons=reasons, now=now)
    summary = RunSummary(run="r", problems={}, refused=refused, **numbers)
    monkeypatch.setattr(running, "run_sweep", lambda *_, **__: summary)
    assert main(["run", sweep_file(), "--out", str(tmp_path / "run")]) == code
    told = ["judgerel: 2 of 6 requests failed and never can succeed: prompt_too_long (2)"]
    assert capsys.readouterr().err.splitlines() == (told if reasons else [])


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["plan", "run"])
def test_a_hub_that_is_not_there_is_one_line(command, sweep_file, tmp_path, verb):
    file = sweep_file(swaps=[("simulated", "vllm"), ('"uniform"', '"acme/judge-of-a-test"')])
    out = ["--out", str(tmp_path / "run")] if verb == "run" else []
    environment = {**os.environ, "HF_HUB_OFFLINE": "0", "HF_ENDPOINT": "http://nothing.invalid"}
    found = command(verb, file, *out, env=environment)
    assert (found.returncode, found.stdout, found.stderr.count("\n")) == (3, "", 1)
    assert "acme/judge-of-a-test" in found.stderr
    assert "HF_HUB_OFFLINE=1" in found.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_python_m_is_the_command(command, tmp_path):
    found = command("status", "none", cwd=tmp_path)
    assert found.returncode == 2
    assert found.stderr.startswith("judgerel: expected a run directory, got none")
    assert found.stderr.count("\n") == 1


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["plan", "reduce"])
def test_a_reader_that_leaves_is_no_error(sweep_file, judgments, verb):
    """As `judgerel plan SWEEP | head -1` with a head that is gone before the first line."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        found = subprocess.run(
            [
                sys.executable,
                "-m",
                "judgerel_ray",
                verb,
                {"plan": sweep_file()}.get(verb, judgments),
            ],
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
            timeout=300,
            check=False,
        )
    finally:
        os.close(writing)
    assert (found.returncode, found.stderr) == (0, "")


def test_other_threads_of_a_program_keep_their_stdout(capsys):
    """A run inside a program: only a command owns its process."""
    told = []

    def inside():
        with acts._stdout_kept():
            print("of the program")
            told.append(True)

    thread = threading.Thread(target=inside)
    thread.start()
    thread.join()
    assert told == [True]
    assert capsys.readouterr().out == "of the program\n"
