"""Looks that a gate counts: each later one is wider, and none is a re-roll."""

import polars as pl
import pytest

from judgerel_ray.core import SweepError
from tests.analyses.gate.test_gate import gate, judged


@pytest.fixture
def ledger(tmp_path):
    return tmp_path / "looks.jsonl"


def test_looks_are_counted_and_their_intervals_widen(ledger):
    rows = judged(40, 6)
    widths = []
    for n in (2, 4, 6):
        found = gate(rows.filter(pl.col("replication") < n), require="valid_rate >= .5",
                     ledger=ledger)  # fmt: skip
        row = found.requirements.row(0, named=True)
        widths.append(row["high"] - row["low"])
        assert (found.look.number, found.look.again) == (n // 2, False)
    assert widths == sorted(widths)
    again = gate(rows.sample(fraction=1, shuffle=True, seed=1), require="flip_rate <= .5",
                 ledger=ledger)  # fmt: skip
    assert (again.look.number, again.look.again) == (3, True)
    assert len(ledger.read_text().splitlines()) == 3


@pytest.mark.alike(2)
@pytest.mark.parametrize("change", ["fewer", "other", "changed verdicts", "earlier look"])
def test_a_re_roll_is_refused(ledger, change):
    rows = judged(40, 3)
    first = rows.filter(pl.col("replication") < 2)
    gate(first, require="valid_rate >= .5", ledger=ledger)
    if change == "earlier look":
        gate(rows, require="valid_rate >= .5", ledger=ledger)
    then = {
        "fewer": first.head(60),
        "other": judged(40, 3, seed=9),
        "changed verdicts": first.with_columns(
            verdict=pl.when(pl.col("item_id") == "q3").then(pl.lit("zz")).otherwise("verdict")
        ),
        "earlier look": first,
    }[change]
    before = ledger.read_bytes()
    with pytest.raises(SweepError, match="a re-roll: look"):
        gate(then, require="valid_rate >= .5", ledger=ledger)
    assert ledger.read_bytes() == before


def test_a_ledger_is_never_put_into_a_run_nor_misread(tmp_path, ledger):
    from judgerel_ray import example

    with pytest.raises(SweepError, match="lies in a run directory"):
        gate(judged(), require="valid_rate >= .5", ledger=f"{example('run')}/data/looks.jsonl")
    with pytest.raises(SweepError, match="the folder of --ledger is not there"):
        gate(judged(), require="valid_rate >= .5", ledger=tmp_path / "none" / "looks.jsonl")
    with pytest.raises(SweepError, match="a file that keeps what is written"):
        gate(judged(), require="valid_rate >= .5", ledger="/dev/null")
    for text in ("[" * 100_000, "judge,item_id\n", '{"a": 1}\n', "[]\n", '{"": {"digest": 1}}\n'):
        ledger.write_text(text)
        with pytest.raises(SweepError, match="no ledger of looks, or damaged"):
            gate(judged(), require="valid_rate >= .5", ledger=ledger)
        assert ledger.read_text() == text


@pytest.mark.slow
def test_a_baseline_that_a_look_left_out_is_not_asked_anew(tmp_path, ledger):
    rows, path = judged(40, 3), tmp_path / "baseline.parquet"
    drop, level = f"drop of percent_agreement <= .5 against {path}", "valid_rate >= .5"
    judged(40, 3, seed=5).write_parquet(path)
    assert gate(rows, require=[drop], ledger=ledger).look.number == 1
    for rule in (level, drop, level):
        look = gate(rows, require=rule, ledger=ledger).look
        assert (look.number, look.again) == (1, True)
    gate(pl.concat([rows, judged(9, judge="k")]), require=level, ledger=ledger)
    judged(40, 3, seed=6).write_parquet(path)
    with pytest.raises(SweepError, match="a re-roll: look 1 had 120"):
        gate(pl.concat([rows, judged(9, judge="k")]), require=drop, ledger=ledger)


def test_a_ledger_whose_last_line_has_lost_its_end_takes_another(ledger):
    rows = judged(40, 3)
    gate(rows.filter(pl.col("replication") < 2), require="valid_rate >= .5", ledger=ledger)
    ledger.write_text(ledger.read_text().rstrip())
    assert gate(rows, require="valid_rate >= .5", ledger=ledger).look.number == 2
    assert len(ledger.read_text().splitlines()) == 2


def test_a_run_directory_is_gated_and_stays_as_it_is(ledger):
    from pathlib import Path

    from judgerel_ray import example

    run = Path(example("run"))
    before = sorted((one, one.stat().st_mtime_ns) for one in run.rglob("*"))
    found = gate(run, require=["valid_rate >= .5", "accuracy >= .1"], ledger=ledger)
    assert found.look.number == 1
    assert set(found.requirements["requirement"]) == {"valid_rate >= .5", "accuracy >= .1"}
    assert sorted((one, one.stat().st_mtime_ns) for one in run.rglob("*")) == before
