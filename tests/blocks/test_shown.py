"""What a program is given prints as the short answer, and is in all else what it was."""

from __future__ import annotations

import copy
import pickle

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import judgerel_ray as jr
from judgerel_ray.cli import main


@pytest.fixture(scope="module")
def found() -> pl.DataFrame:
    return jr.reduce(jr.example("judgments.csv"))


def test_a_table_prints_as_the_command_does(found, capsys):
    assert main(["reduce", jr.example("judgments.csv")]) == 0
    text = capsys.readouterr().out.strip("\n")
    assert repr(found).startswith(text)
    assert str(found) == repr(found)
    assert f"{found.height} rows and {found.width} columns" in repr(found)
    assert found._repr_html_().startswith("<pre>2 judges")


def test_it_is_a_table_in_all_else(found):
    plain = pl.DataFrame(found)
    assert_frame_equal(found, plain)
    assert type(found.filter(judge="simulated-steady")) is pl.DataFrame
    assert "shape:" in repr(found.head(2))
    assert "shape:" in repr(pl.concat([found, found]))
    again = pickle.loads(pickle.dumps(found))
    assert_frame_equal(again, plain)
    assert "shape:" in repr(again)


@pytest.mark.slow
def test_results_print_as_the_command_does(capsys):
    for verb in ("advise", "gate"):
        shown = getattr(jr, verb)(jr.example("judgments.csv"))
        main([verb, jr.example("judgments.csv")])
        assert capsys.readouterr().out.startswith(repr(shown))
        assert "<" in shown._repr_html_()


@pytest.mark.slow
def test_copies_print_their_fields():
    advice = copy.copy(jr.advise(jr.example("judgments.csv")))
    assert repr(advice).startswith("Advice(")
    assert advice._repr_html_() is None
