"""A part of the places to die at, verb by verb; `python -m bench.crash_points` goes through all."""

from __future__ import annotations

import subprocess
import sys

import pytest

from bench.crash_points import SCENES

EVERY = {"run": 20, "rejudge": 12, "refresh": 20, "exact": 9}


@pytest.mark.slow
@pytest.mark.parametrize("verb", SCENES)
def test_a_verb_that_dies_and_is_run_again_comes_to_the_same_end(verb):
    # A process that computed something before may not fork: its threads would be missing.
    command = [sys.executable, "-m", "bench.crash_points", "--verbs", verb]
    ended = subprocess.run(
        [*command, "--every", str(EVERY.get(verb, 1))], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    n_operations, n_tried, n_bad, _ = map(int, ended.stdout.split("\n")[1].split()[1:])
    assert n_operations > 0
    assert n_tried > 1
    assert n_bad == 0
