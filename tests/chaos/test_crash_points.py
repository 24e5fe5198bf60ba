"""A part of the places to die at, verb by verb; `python -m bench.crash_points` goes through all."""

from __future__ import annotations

import subprocess
import sys

import pytest

from bench.crash_points import SCENES

EVERY = {20: ("run", "refresh"), 10: ("rejudge", "exact"), 1: ("gate", "import", "report")}
"""Of which verbs one place in how many is tried; a process that has loaded all tries several."""


def test_every_verb_that_has_a_scene_dies():
    assert {verb for verbs in EVERY.values() for verb in verbs} == set(SCENES)


@pytest.mark.slow
@pytest.mark.parametrize(("every", "verbs"), EVERY.items(), ids=map(" ".join, EVERY.values()))
def test_verbs_that_die_and_are_run_again_come_to_the_same_end(every, verbs):
    # A process that computed something before may not fork: its threads would be missing.
    ended = subprocess.run(
        [sys.executable, "-m", "bench.crash_points", "--verbs", *verbs, "--every", str(every)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stdout + ended.stderr
    rows = [line.split() for line in ended.stdout.splitlines()[1:]]
    assert [row[0] for row in rows] == [*verbs]
    for row in rows:
        n_operations, n_tried, n_bad, _ = map(int, row[1:])
        assert n_operations > 0
        assert n_tried > 1
        assert n_bad == 0
