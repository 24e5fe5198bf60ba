"""A run directory is counted as its rows in one file are, and as quickly."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from judgerel_ray.cli import main
from judgerel_ray.core import TokenCounts, request_key
from judgerel_ray.counting.groups import fast_count, tally
from judgerel_ray.counting.judgments import tally_file
from judgerel_ray.measuring.reliability import reduce_judgments
from judgerel_ray.store import RunDirectory, begin_session, land, scan_judgments
from judgerel_ray.tables import Completions, Judgments

REPLICATIONS = 6
VERDICTS = ["A", "B", "A", None, "C", "A", "B", "B", "A", "A", "C"]


def lease_rows(lease: int, judge: str, temperature: float, attempt: int = 1) -> pl.DataFrame:
    """Three questions, asked six times each."""
    rows = []
    for question in range(3):
        for replication in range(REPLICATIONS):
            key = f"{judge}-{lease}-{question}"
            verdict = VERDICTS[(7 * lease + 5 * question + replication**2) % len(VERDICTS)]
            rows.append(
                {
                    "key": request_key(key, replication),
                    "judge": judge,
                    "item_id": f"question {lease}-{question}",
                    "temperature": temperature,
                    "replication": replication,
                    "verdict": verdict,
                    "label": verdict,
                    "outcome": "unparsed" if verdict is None else "scored",
                    "attempt": attempt,
                    "role": "judge",
                    "landed_at": datetime(2026, 1, 1, tzinfo=UTC),
                    "seed": 1 + replication,
                    **dict.fromkeys(("top_k", "block", "completion_tokens"), 0),
                    "top_p": 1.0,
                    **dict.fromkeys(
                        ("judge_fingerprint", "benchmark", "protocol", "stage", "template"), "x"
                    ),
                    "finish_reason": "stop",
                }
            )
    return pl.DataFrame(rows, schema=Judgments.create_empty().schema)


def landed(folder: Path, judges: dict[str, float], leases: int = 4) -> RunDirectory:
    """A run of these judges at their temperatures."""
    run = RunDirectory.create(str(folder))
    session = begin_session(run).number
    places = [(judge, lease) for judge in judges for lease in range(leases)]
    for number, (judge, lease) in enumerate(places):
        rows = lease_rows(lease, judge, judges[judge])
        none = pl.lit(None)
        texts = rows.select("key", text=pl.lit("?"), thought=none, logprobs=none)
        assert land(
            run,
            session=session,
            lease=number,
            attempt=1,
            judge=judge,
            judgments=rows,
            completions=texts.cast(Completions.create_empty().schema),
            conditions={f"{judge}-{lease}-{i}": [(0, REPLICATIONS)] for i in range(3)},
            tokens=TokenCounts(),
            seconds=1.0,
        )
    return run


@pytest.mark.parametrize("judges", [{"one": 1.0}, {"one": 0.5, "two": 1.0}])
def test_a_run_directory_and_its_rows_in_one_file_give_the_same_digits(judges, tmp_path):
    run = landed(tmp_path / "run", judges)
    rows = scan_judgments(run).collect()
    rows.write_parquet(tmp_path / "one.parquet")
    shuffled = rows.sample(fraction=1, shuffle=True, seed=1)
    shuffled.write_parquet(tmp_path / "shuffled.parquet", row_group_size=20)
    expected = reduce_judgments(scan_judgments(run)).write_json()
    assert expected.count("krippendorff_alpha") == 2 * len(judges)
    for name in ("one", "shuffled"):
        assert reduce_judgments(tally_file(str(tmp_path / f"{name}.parquet"))).write_json() == (
            expected
        )
    assert reduce_judgments(rows.lazy()).write_json() == expected


def test_a_run_directory_is_counted_by_unit_and_not_by_unit_and_verdict(tmp_path, monkeypatch):
    counted = []
    plain = fast_count.count_rows

    def count_rows(frame, keys, *rest):
        counted.append(list(keys))
        return plain(frame, keys, *rest)

    for module in (fast_count, tally):
        monkeypatch.setattr(module, "count_rows", count_rows)
    reduce_judgments(scan_judgments(landed(tmp_path / "run", {"one": 1.0})))
    assert counted == [["item_id"]]


def test_the_judge_of_a_run_is_told_by_its_commits(tmp_path):
    run = landed(tmp_path / "run", {"one": 0.5, "two": 1.0})
    frame = scan_judgments(run)
    assert frame.collect_schema() == Judgments.create_empty().schema
    assert frame.group_by("judge").len().collect().sort("judge").rows() == [
        ("one", 72),
        ("two", 72),
    ]
    assert "PROJECT 1/32" in frame.select("judge", "item_id").explain()


@pytest.mark.parametrize("arguments", [["reduce"], ["questions"], ["panels"], ["advise"]])
def test_a_run_in_which_nothing_landed_says_how_to_go_on(tmp_path, capsys, arguments):
    """It said that no row of a judge is in block 0."""
    run = RunDirectory.create(str(tmp_path / "r"))
    begin_session(run)
    run.write_text("sweep.toml", 'name = "s"\n')
    assert main([arguments[0], run.url, *arguments[1:]]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "nothing has landed in the run yet" in err
    assert f"judgerel status {run.url} tells" in err
    assert f"judgerel run SWEEP.toml --out {run.url} goes on" in err
