"""What reaches a terminal and a page: no orders of the data's, in any encoding and width."""

import os
import signal
import subprocess
import sys
import time

import pytest

from judgerel_ray.cli import main

HOSTILE = "item_id,replication,verdict,judge,criterion,gold\n" + "".join(
    f'"{item}",{n},"{verdict}","j\x1b[31m\u202e","c\x07\x9b",{verdict}\n'
    for item in ("q\x1b[2J", "q\x1b]0;title\x07", "q\nforged line", "q\u202e2")
    for n, verdict in enumerate(("A\x1b[5m", "B\x08"))
)
TABLES = [
    ["reduce"],
    ["reduce", "--by", "judge,criterion"],
    ["reduce", "--questions"],
    ["reduce", "--coefficient", "percent_agreement", "--missing", "drop"],
    ["reduce", "--selection"],
    ["reduce", "--panels"],
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


@pytest.mark.parametrize("arguments", TABLES, ids=ascii)
def test_no_order_of_the_data_reaches_a_terminal(hostile, capsys, arguments):
    main([arguments[0], str(hostile), *arguments[1:]])
    out, err = capsys.readouterr()
    assert out + err
    assert acting(out + err) == []
    assert "\nforged line" not in out


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


def command(*arguments, **environment):
    """The command as another process."""
    return subprocess.run(
        [sys.executable, "-m", "judgerel_ray", *arguments],
        capture_output=True, timeout=300, check=False, env=os.environ | environment,
    )  # fmt: skip


@pytest.mark.parametrize("columns", ["0", "1", "7"])
def test_no_columns_are_no_reason_to_say_nothing(judgments, columns):
    found = command("reduce", judgments, COLUMNS=columns)
    assert (found.returncode, found.stdout) == (0, command("reduce", judgments).stdout)
    assert len(found.stdout.splitlines()) > 20


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp437"])
@pytest.mark.parametrize("flags", [[], ["--questions"], ["--by", "ж"]])
def test_a_stream_of_few_characters_shows_the_rest(judgments, encoding, flags):
    found = command("reduce", judgments, *flags, PYTHONIOENCODING=encoding)
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


def test_an_interrupt_while_libraries_are_imported_is_one_line(judgments):
    """Ctrl-C at any time after Python itself has begun."""
    line = (
        "import judgerel_ray.__main__ as m, sys; print(flush=True); sys.exit(m.main(sys.argv[1:]))"
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


def test_an_endless_name_loses_its_middle(capsys):
    name = f"start{'n' * 5000}end.csv"
    assert main(["reduce", name]) == 2
    err = capsys.readouterr().err
    assert len(err) < 500
    assert "start" in err
    assert "nend.csv" in err
