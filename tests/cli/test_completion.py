"""What a shell completes of the command line."""

import os

import pytest

from judgerel_ray.cli import main


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("judgerel pa", ["panels"]),
        ("judgerel reduce --co", ["--coefficient", "--column"]),
        ("judgerel distributions --view ", ["limits", "reasoning", "settled", "weighted"]),
    ],
)
def test_a_shell_completes_verbs_flags_and_choices(command, typed, offered):
    words = {"COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
    found = command(env={**os.environ, "_JUDGEREL_COMPLETE": "bash_complete", **words})
    assert (found.returncode, found.stderr) == (0, "")
    assert sorted(line.partition(",")[2] for line in found.stdout.splitlines()) == offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_completion_is_printed(shell, capsys):
    with pytest.raises(SystemExit) as left:
        main(["--completion", shell])
    assert left.value.code == 0
    assert f"_JUDGEREL_COMPLETE={shell}_complete" in capsys.readouterr().out
