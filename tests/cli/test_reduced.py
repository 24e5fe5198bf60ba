"""No flag of reduce is taken and then ignored."""

import argparse

import pytest

from judgerel_ray.cli import build_parser, main
from judgerel_ray.cli.reduced import COEFFICIENTS, GOES_WITH, TABLES

OF_ALL = {"help", "path", "format", "out", "force"}
VALUES = {"block": "all", "missing": "drop", "threshold": "0.5", "risk": "0.2", "delta": "0.2",
          "rule": "formula", "by": "nonsense", "coefficient": "x", "pairing": "first",
          "interval": "bootstrap", "measurement": "nominal", "bins": "5", "points": "3",
          "compared": "1", "verdict_names": "place",
          "tolerance": "gwet_ac1=.1"}  # fmt: skip
ASKED = {name: [f"--{name}"] for name in TABLES} | {
    "reference": ["--reference", "human"], COEFFICIENTS: [],
}  # fmt: skip


@pytest.fixture
def judged(tmp_path):
    path = tmp_path / "j.csv"
    path.write_text(
        "item_id,replication,verdict\n" + "".join(f"q{n % 2},{n},a\n" for n in range(4))
    )
    return str(path)


def flag(name):
    alone = {"bands": ["--bands"], "exact_values": ["--exact-values"]}
    return alone.get(name) or [f"--{name.replace('_', '-')}", VALUES.get(name, "x")]


def test_the_rule_knows_every_flag():
    [verbs] = [a for a in build_parser()._actions if isinstance(a, argparse._SubParsersAction)]
    flags = {action.dest for action in verbs.choices["reduce"]._actions} - OF_ALL
    assert flags == {*TABLES, *GOES_WITH}
    assert set().union(*GOES_WITH.values()) <= {*TABLES, COEFFICIENTS}


@pytest.mark.parametrize(
    ("table", "name"),
    [
        (table, name)
        for table in (*TABLES, COEFFICIENTS)
        for name, tables in GOES_WITH.items()
        if table not in tables and name not in {"resamples", "seed"}
    ],
)
def test_a_flag_of_another_table_is_refused(table, name, judged, capsys):
    assert main(["reduce", judged, *ASKED[table], *flag(name)]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    of = table if table == COEFFICIENTS else ASKED[table][0]
    assert f"--{name.replace('_', '-')} would do nothing with {of}" in err


@pytest.mark.parametrize("other", [one for one in TABLES if one != "settled"])
def test_two_tables_are_refused(other, judged, capsys):
    assert main(["reduce", judged, "--settled", *ASKED[other]]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "ask for one of them" in err


def test_all_that_does_nothing_is_named_at_once(judged, capsys):
    assert main(["reduce", judged, "--settled", "--by", "x", "--bands"]) == 2
    assert "--by and --bands would do nothing with --settled" in capsys.readouterr().err


def test_what_goes_with_a_table_is_taken(judged, capsys):
    assert main(["reduce", judged, "--questions", "--block", "all", "--missing", "drop"]) == 0
    assert "q0" in capsys.readouterr().out
