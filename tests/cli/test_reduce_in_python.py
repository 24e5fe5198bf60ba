"""judgerel_ray.reduce does in Python what judgerel reduce does on the command line."""

import argparse
import inspect
import json

import pytest

import judgerel_ray
from judgerel_ray.cli import build_parser, main
from judgerel_ray.core import SweepError

OF_PRINTING = {"help", "path", "format", "out", "force"}
"""What changes no row."""
OTHER_TABLES = {"limits", "uncertainty", "threshold", "rule", "risk", "delta", "reasoning"}
OTHER_TABLES |= {"settled", "scales", "mapping", "preset", "pairing", "scale", "reference"}
OTHER_TABLES |= {"ranking", "outside", "weighted"}
OTHER_TABLES |= {"selection", "comparison", "gold", "confidence", "band", "bins", "answer"}
OTHER_TABLES |= {"family", "panels", "cascade", "compared", "order", "person", "points", "price"}
"""What prints another table: judgerel_ray.limits, .uncertainty, .reasoning, .settled, .scales,
.alignment, .ranking, .weighted, .selection, .comparison, .panels and .cascade."""
ASKED = {
    "by": (["--by", "template"], {"by": "template"}),
    "measurement": (
        ["--measurement", "nominal,interval"],
        {"measurement": ["nominal", "interval"]},
    ),
    "items": (["--items", "template"], {"items": "template"}),
    "missing": (["--missing", "bounds"], {"missing": "bounds"}),
    "nuisance": (["--nuisance", "stage"], {"nuisance": "stage"}),
    "verdict_names": (["--verdict-names", "option"], {"verdict_names": "option"}),
    "coefficient": (
        ["--coefficient", "icc1", "--coefficient", "flip_rate"],
        {"coefficients": ["icc1", "flip_rate"]},
    ),
    "block": (["--block", "all"], {"block": "all"}),
    "tolerance": (["--tolerance", "valid_rate=0.5"], {"tolerance": {"valid_rate": 0.5}}),
    "bands": (["--bands"], {"bands": True}),
    "questions": (["--questions"], {"questions": True}),
    "interval": (["--interval", "bootstrap"], {"interval": "bootstrap"}),
    "resamples": (
        ["--interval", "bootstrap", "--resamples", "50"],
        {"interval": "bootstrap", "resamples": 50},
    ),
    "exact_values": (["--exact-values"], {"exact_values": True}),
    "seed": (["--interval", "bootstrap", "--seed", "7"], {"interval": "bootstrap", "seed": 7}),
}


@pytest.fixture
def scores(tmp_path):
    path = tmp_path / "scores.csv"
    lines = ["item_id,template,stage,replication,block,score,verdict,outcome"]
    for i in range(40):
        kind, score = ("refused", "") if i % 9 == 5 else ("scored", (i * 7 + i // 4) % 5)
        lines.append(
            f"q{i // 4},{'ab'[i % 2]},{'st'[i % 2]},{i // 2 % 2},{int(i >= 36)},{score},"
            f"{score and 'vV'[i // 2 % 2]}{score},{kind}"
        )
    path.write_text("\n".join(lines))
    return str(path)


@pytest.fixture
def orders(tmp_path):
    path = tmp_path / "orders.csv"
    lines = [f"q{i // 4},{i % 4 // 2},{i % 2},{'AB'[i % 5 < 2]}" for i in range(24)]
    path.write_text("\n".join(["item_id,option_order,replication,verdict", *lines]))
    return str(path)


def options():
    """Destinations of all options of the verb."""
    parser = build_parser()
    [verbs] = (a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    return {action.dest for action in verbs.choices["reduce"]._actions} - OF_PRINTING - OTHER_TABLES


def test_every_option_that_changes_rows_has_a_counterpart():
    assert options() == set(ASKED)
    known = inspect.signature(judgerel_ray.reduce).parameters
    for _, keywords in ASKED.values():
        assert set(keywords) <= set(known)
    assert {name for _, keywords in ASKED.values() for name in keywords} == set(known) - {"path"}


@pytest.mark.filterwarnings("ignore::judgerel_ray.ReadingWarning")
@pytest.mark.parametrize("option", ASKED)
def test_an_option_gives_the_rows_that_the_command_prints(option, scores, orders, capsys):
    arguments, keywords = ASKED[option]
    scores = orders if option == "verdict_names" else scores
    assert main(["reduce", scores, *arguments, "--format", "json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    found = judgerel_ray.reduce(scores, **keywords)
    assert printed == json.loads(json.dumps(found.to_dicts()))
    assert not found.equals(judgerel_ray.reduce(scores))


@pytest.mark.filterwarnings("ignore::judgerel_ray.ReadingWarning")
def test_mistakes_are_one_line(scores):
    with pytest.raises(SweepError, match="block must be 0 or all, got '1'"):
        judgerel_ray.reduce(scores, block=1)
    with pytest.raises(SweepError, match="questions have columns and intervals of their own"):
        judgerel_ray.reduce(scores, questions=True, bands=True)
    with pytest.raises(SweepError, match="unknown coefficient 'alpha'"):
        judgerel_ray.reduce(scores, coefficients="alpha")
