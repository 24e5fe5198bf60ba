"""What reaches a terminal and a page: no orders of the data's, in any encoding and width."""

import contextlib
import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import judgerel_ray
from judgerel_ray.cli import main
from judgerel_ray.cli.screen import NotesFirst

HOSTILE = "item_id,replication,verdict,judge,criterion,gold\n" + "".join(
    f'"{item}",{n},"{verdict}","j\x1b[31m\u202e","c\x07\x9b",{verdict}\n'
    for item in ("q\x1b[2J", "q\x1b]0;title\x07", "q\nforged line", "q\u202e2")
    for n, verdict in enumerate(("A\x1b[5m", "B\x08"))
)
TABLES = [
    ["reduce"],
    ["reduce", "--by", "judge,criterion"],
    ["questions"],
    ["reduce", "--coefficient", "percent_agreement", "--missing", "drop"],
    ["select"],
    ["panels"],
    ["agree"],
    ["advise"],
    ["compare", "--by", "criterion"],
    ["reduce", "--by", "\x1b[2J"],
]


@pytest.fixture
def hostile(tmp_path):
    """Judgments whose every text holds what a terminal would obey."""
    path = tmp_path / "h\x1b[2J.csv"
    path.write_text(HOSTILE, encoding="utf-8")
    return path


def acting(text):
    """Characters that are no text."""
    return sorted({one for one in text if one != "\n" and (ord(one) < 32 or 0x7F <= ord(one) < 160)}
                  | ({"\u202e"} & set(text)))  # fmt: skip


@pytest.mark.alike(4)
@pytest.mark.parametrize("arguments", TABLES, ids=ascii)
def test_no_order_of_the_data_reaches_a_terminal(hostile, capsys, arguments):
    main([arguments[0], str(hostile), *arguments[1:]])
    out, err = capsys.readouterr()
    assert out + err
    assert acting(out + err) == []
    assert "\nforged line" not in out


@pytest.mark.slow
def test_no_order_of_the_data_reaches_a_page(hostile, tmp_path, capsys):
    page = tmp_path / "p\x1b[2J.html"
    assert main(["report", str(hostile), "--out", str(page)]) == 0
    assert acting(capsys.readouterr().out) == []
    text = page.read_text(encoding="utf-8")
    assert acting(text) == []
    assert r"q\x1b[2J" in text


def test_names_in_a_wrong_call_are_shown_too(capsys):
    with pytest.raises(SystemExit):
        main(["\x1b[2J"])
    assert acting(capsys.readouterr().err) == []


@pytest.fixture
def judgments(tmp_path):
    """A small file of judgments by a judge whose name is no ASCII."""
    path = tmp_path / "a.csv"
    rows = ["item_id,replication,verdict,judge", "q1,0,中,é", "q1,1,中,é", "q2,0,B,é", "q2,1,中,é"]
    path.write_text("\n".join(rows), encoding="utf-8")
    return str(path)


@pytest.mark.slow
@pytest.mark.parametrize("columns", ["0", "1", "7"])
def test_no_columns_are_no_reason_to_say_nothing(command, judgments, columns):
    asked = ("reduce", judgments, "--full")
    found = command(*asked, env=os.environ | {"COLUMNS": columns})
    assert (found.returncode, found.stdout) == (0, command(*asked).stdout)
    assert len(found.stdout.splitlines()) > 20


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp437"])
@pytest.mark.parametrize(
    ("verb", "flags"), [("reduce", []), ("questions", []), ("reduce", ["--by", "ж"])]
)
def test_a_stream_of_few_characters_shows_the_rest(command, judgments, encoding, verb, flags):
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    found = command(verb, judgments, *flags, text=False, env=environment)
    said = (found.stdout + found.stderr).decode(encoding)
    assert found.returncode == (2 if "--by" in flags else 0)
    assert "Traceback" not in said
    assert r"\u0436" in said or "é" in said or r"\xe9" in said


def test_resamples_are_bounded_with_the_reason(judgments, capsys):
    flags = ["--interval", "bootstrap", "--resamples", "100000000000"]
    assert main(["reduce", judgments, *flags]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "at most 100000" in err
    assert "moves the ends of an interval by 0.2 % of its width" in err


@pytest.mark.slow
def test_an_interrupt_while_libraries_are_imported_is_one_line(judgments):
    """Ctrl-C at any time after the package has begun, which hears it first of all."""
    line = (
        "import judgerel_ray.__main__ as m, sys; m.catch_interrupts(); print(flush=True); "
        "sys.exit(m.main(sys.argv[1:]))"
    )
    ends = set()
    for wait_s in (0.0, 0.02, 0.05, 0.1, 0.2, 0.3):
        started = subprocess.Popen(
            [sys.executable, "-c", line, "report", judgments, "--out", "no/where.html"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        started.stdout.readline()
        time.sleep(wait_s)
        started.send_signal(signal.SIGINT)
        _, err = started.communicate(timeout=60)
        assert "Traceback" not in err
        ends.add((started.returncode, err))
    assert (130, "judgerel: stopped\n") in ends
    done = [code for code, err in ends if err != "judgerel: stopped\n"]
    assert set(done) <= {2, -2, 130}  # it had ended, or was ending, by itself


INTERRUPTING = """
import os, signal, sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == os.environ["AT"]:
            os.kill(os.getpid(), signal.SIGINT)
            for _ in range(1000):  # signals are seen between two steps of Python
                pass

sys.meta_path.insert(0, Interrupting())
"""
SCRIPT = "import sys\nfrom judgerel_ray.__main__ import main\nsys.exit(main())\n"


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    "module", ["judgerel_ray.core", "judgerel_ray.analyses.reliability.verb", "polars"]
)
@pytest.mark.parametrize("how", ["judgerel", "-m"])
def test_an_interrupt_at_any_import_of_ours_is_one_line(judgments, tmp_path, module, how):
    (tmp_path / "sitecustomize.py").write_text(INTERRUPTING)
    script = tmp_path / "judgerel"
    script.write_text(SCRIPT)
    started = [str(script)] if how == "judgerel" else ["-m", "judgerel_ray"]
    path = os.pathsep.join([str(tmp_path), str(Path(judgerel_ray.__file__).parents[1])])
    ended = subprocess.run(
        [sys.executable, *started, "reduce", judgments],
        env={**os.environ, "PYTHONPATH": path, "AT": module},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "judgerel: stopped\n")


@pytest.mark.alike(3)
@pytest.mark.parametrize("started", [["-c", "{}"], ["-m", "other"], ["judgerel.d/other.py"]])
def test_programs_that_import_the_package_keep_their_own_interrupts(tmp_path, started):
    line = "import signal; own = signal.getsignal(2); import judgerel_ray; "
    line += "print(signal.getsignal(2) is own)"
    (tmp_path / "other.py").write_text(line)
    (tmp_path / "judgerel.d").mkdir()
    (tmp_path / "judgerel.d" / "other.py").write_text(line)
    path = os.pathsep.join([str(tmp_path), str(Path(judgerel_ray.__file__).parents[1])])
    ended = subprocess.run(
        [sys.executable, *(one.format(line) for one in started)],
        env={**os.environ, "PYTHONPATH": path},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout == "True\n"


def test_a_very_long_name_loses_its_middle(capsys):
    name = f"start{'n' * 5000}end.csv"
    assert main(["reduce", name]) == 2
    err = capsys.readouterr().err
    assert len(err) < 500
    assert "start" in err
    assert "nend.csv" in err


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("table", "code", "lines"),
    [
        (
            "item_id;replication;verdict\nq;0;A\nq;1;a\n",
            0,
            ["read with semicolons", "treated as the same verdict"],
        ),
        ("item_id;replication;vrdct\nq;0;A\n", 2, ["column missing: verdict or score"]),
        ("item_id;replication;score\nq;0;one\n", 2, ["score: expected a number"]),
    ],
)
@pytest.mark.parametrize("verb", ["reduce", "import"])
def test_how_a_file_was_read_is_said_with_numbers_and_a_refusal_is_one_line(
    tmp_path, capsys, verb, table, code, lines
):
    file = tmp_path / "log.csv"
    file.write_text(table)
    commands = {
        "reduce": ["reduce", str(file)],
        "import": ["import", "table", str(file), "--out", str(tmp_path / "o.parquet")],
    }
    assert main(commands[verb]) == code
    said = capsys.readouterr().err.splitlines()
    if verb == "import":
        lines = lines[:1]  # verdicts are merged where they are counted
    assert len(said) == len(lines)
    assert all(start in line for start, line in zip(lines, said, strict=True))


def test_notes_stand_before_the_first_number():
    written = []

    class Both(io.StringIO):
        def write(self, text):
            written.append(text)
            return len(text)

    notes = NotesFirst(Both())
    with contextlib.redirect_stderr(Both()):
        notes.add("read so")
        notes.add("read so")
        notes.write("1.0")
        notes.add("and so")
        notes.say()
    assert "".join(written) == "read so\n1.0and so\n"
