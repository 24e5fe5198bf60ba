"""``judgerel gate`` as it is typed: what it prints, and with which code it leaves."""

import json

import pytest

from judgerel_ray import example
from judgerel_ray.cli import main

FILE = example("judgments.csv")


@pytest.mark.parametrize(
    ("rule", "code", "says"),
    [
        ("flip_rate <= .9", 0, "PASS: 2 of 2 met"),
        ("krippendorff_alpha >= .75", 4, "FAIL: 1 missed, 1 open, of 2"),
        ("valid_rate >= .95", 5, "INCONCLUSIVE: 2 open, of 2"),
    ],
)
def test_each_verdict_has_its_code(rule, code, says, capsys):
    assert main(["gate", FILE, "--exact-values", "--require", rule]) == code
    out = capsys.readouterr().out
    assert out.startswith(says)
    assert "This look is not counted" in out


def test_formats_are_printed_as_asked(capsys):
    asked = ["gate", FILE, "--exact-values", "--require", "flip_rate <= .9", "--format"]
    assert main([*asked, "json"]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "PASS"
    assert main([*asked, "markdown"]) == 0
    assert capsys.readouterr().out.startswith("### Judge gate: PASS")
    assert main([*asked, "junit"]) == 0
    assert capsys.readouterr().out.startswith("<?xml")
    assert main([*asked, "html"]) == 2
    assert "--format must be of table, json, markdown, junit" in capsys.readouterr().err


def test_what_would_decide_is_said(capsys):
    assert main(["gate", FILE, "--exact-values", "--require", "krippendorff_alpha >= .7 where "
                 "judge=simulated-steady", "--full"]) == 5  # fmt: skip
    assert "more questions" in " ".join(capsys.readouterr().out.split())


def test_a_mistake_is_one_line(capsys):
    assert main(["gate", FILE, "--require", "flip_rate < .1"]) == 2
    assert capsys.readouterr().err.startswith("judgerel: a requirement is [drop of] NAME >= NUMBER")


def test_without_a_requirement_those_of_default_hold(capsys):
    assert main(["gate", FILE, "--exact-values"]) == 5
    out = " ".join(capsys.readouterr().out.split())
    assert "krippendorff_alpha" in out
    assert ">= .667" in out
    assert "accuracy >= .8" in out
    assert "swap_consistency" not in out  # no other order was asked
