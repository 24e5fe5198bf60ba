"""The gate where others run it: the script of the GitHub Action, and the fixture of pytest."""

import os
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path

import pytest
import yaml

from judgerel_ray import example

pytest_plugins = ["pytester"]
ROOT = Path(__file__).resolve().parents[3]
ACTION = ROOT / ".github" / "actions" / "gate"
PLUGIN = "judgerel_ray.analyses.gate.pytest_plugin"
FILE = example("judgments.csv")


def run_action(folder, **inputs):
    """Run the action's script as a job would; its exit code, its log and its files."""
    files = {name: folder / name for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")}
    told = {f"GATE_{name.upper()}": str(value) for name, value in inputs.items()}
    variables = {**os.environ, "PYTHON": sys.executable, "PYTHONPATH": str(ROOT), **told}
    variables |= {name: str(path) for name, path in files.items()}
    done = subprocess.run(["bash", str(ACTION / "gate.sh")], env=variables, cwd=folder,
                          capture_output=True, text=True, check=False)  # fmt: skip
    return done, {name: path.read_text() for name, path in files.items() if path.exists()}


@pytest.mark.slow
def test_the_action_tells_its_verdict_where_a_job_looks(tmp_path):
    done, files = run_action(
        tmp_path, path=FILE, junit=tmp_path / "gate.xml", ledger=tmp_path / "looks.jsonl",
        require="flip_rate <= .9\n\n  valid_rate >= .2 where judge=simulated-steady\n",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("### Judge gate: PASS: 3 of 3 met")
    assert files["GITHUB_STEP_SUMMARY"] == done.stdout
    assert files["GITHUB_OUTPUT"] == "verdict=PASS\n"
    assert 'tests="3" failures="0" errors="0"' in (tmp_path / "gate.xml").read_text()
    assert len((tmp_path / "looks.jsonl").read_text().splitlines()) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("inputs", "code", "verdict"),
    [
        ({"require": "flip_rate <= .01"}, 4, "FAIL"),
        ({"require": "valid_rate >= .95"}, 5, "INCONCLUSIVE"),
        ({"require": "valid_rate >= .95", "inconclusive": "pass"}, 0, "INCONCLUSIVE"),
    ],
)
def test_the_action_fails_with_the_gate_s_code(tmp_path, inputs, code, verdict):
    done, files = run_action(tmp_path, path=FILE, **inputs)
    assert done.returncode == code
    assert files["GITHUB_OUTPUT"] == f"verdict={verdict}\n"


@pytest.mark.slow
def test_no_input_of_the_action_is_run(tmp_path):
    done, files = run_action(tmp_path, path=FILE, require='"; touch hit; $(touch hit) `touch hit`')
    assert done.returncode == 2
    assert "a requirement is" in done.stderr
    assert not (tmp_path / "hit").exists()
    assert "GITHUB_OUTPUT" not in files


@pytest.mark.slow
@pytest.mark.parametrize(
    ("inputs", "says"),
    [
        ({"path": "--help"}, "no such file or folder [path=--help]"),
        ({"require": "--help"}, "a requirement is"),
        ({"require": "valid_rate >= .5 where judge=##[stop-commands]x"}, r"#\[stop-commands]x"),
        ({"inconclusive": "Pass"}, "inconclusive must be fail or pass, got Pass"),
        ({"junit": "none/gate.xml"}, "No such file or directory"),
    ],
)
def test_the_action_gives_no_verdict_of_what_it_cannot_do(tmp_path, inputs, says):
    done, files = run_action(tmp_path, **{"path": FILE, "ledger": tmp_path / "looks", **inputs})
    assert done.returncode == 2
    assert says in done.stderr
    assert "##[" not in done.stderr
    assert "GITHUB_OUTPUT" not in files


def test_the_action_hands_every_input_to_its_script():
    action = yaml.safe_load((ACTION / "action.yml").read_text())
    _, step = action["runs"]["steps"]
    handed = {name.removeprefix("GATE_").lower() for name in step["env"]}
    assert handed == set(action["inputs"]) - {"install"}
    script = (ACTION / "gate.sh").read_text()
    assert all(name in script for name in step["env"])
    # What is given is put into no text that a shell runs.
    assert all("inputs." not in one["run"] for one in action["runs"]["steps"])


@pytest.mark.slow
def test_the_fixture_passes_fails_and_skips(pytester, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.makepyfile(f"""
        def test_met(judgerel_gate):
            assert judgerel_gate({FILE!r}, require="flip_rate <= .9").verdict == "PASS"

        def test_missed(judgerel_gate):
            judgerel_gate({FILE!r}, require="flip_rate <= .01")

        def test_open(judgerel_gate):
            judgerel_gate({FILE!r}, require="valid_rate >= .95")

        def test_open_and_skipped(judgerel_gate):
            judgerel_gate({FILE!r}, require="valid_rate >= .95", inconclusive="skip")
    """)
    installed = {one.value for one in entry_points(group="pytest11")}
    # A process of its own: what a test imports first would be gone again after it.
    loaded = [] if PLUGIN in installed else ["-p", PLUGIN]
    found = pytester.runpytest_subprocess("-p", "no:randomly", *loaded)
    found.assert_outcomes(passed=1, failed=2, skipped=1)
    found.stdout.fnmatch_lines(["FAIL: 1 missed, 1 open, of 2", "INCONCLUSIVE: 2 open, of 2"])


def test_pytest_finds_the_fixture_where_the_package_is_installed():
    told = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert told["project"]["entry-points"]["pytest11"] == {"judgerel_ray": PLUGIN}
    assert hasattr(import_module(PLUGIN), "judgerel_gate")


def test_the_action_installs_the_checkout_that_it_is_part_of():
    action = yaml.safe_load((ACTION / "action.yml").read_text())
    step, _ = action["runs"]["steps"]
    (there,) = re.findall(r"\$GITHUB_ACTION_PATH(\S*?)\"", step["run"])
    assert Path(f"{ACTION}{there}").resolve() == ROOT
    assert (ROOT / "pyproject.toml").is_file()
    assert step["if"] == "inputs.install != 'false'"
