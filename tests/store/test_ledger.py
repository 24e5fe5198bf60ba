from __future__ import annotations

import polars as pl

from judgerel_ray.core import CUT_IN_THOUGHT, TokenCounts, request_key
from judgerel_ray.reporting.standing import status_text
from judgerel_ray.store import (
    RunDirectory,
    begin_session,
    land,
    read_ledger,
    scan_judgments,
    verify_run,
)
from judgerel_ray.store.ledger import build_ledger, summed_counts
from judgerel_ray.store.status import read_status


def outcomes_of(ledger):
    return summed_counts(totals.outcomes for totals in ledger.judges.values())


def test_totals_by_judge_and_of_all(run, land_rows):
    begin_session(run)
    land_rows(run, 1, 1, {"aa": [(0, 3)]})
    land_rows(run, 1, 2, {"aa": [(3, 2)], "bb": [(0, 1)]})
    land_rows(run, 1, 3, {"cc": [(0, 5)]}, judge="k")
    ledger = read_ledger(run)
    assert ledger.session == 1
    assert ledger.commit_names == tuple(f"s0001-l00000{lease}-a1.json" for lease in (1, 2, 3))
    assert ledger.landed == {"aa": ((0, 5),), "bb": ((0, 1),), "cc": ((0, 5),)}
    assert ledger.rows == {"j": 6, "k": 5}
    assert ledger.n_rows == 11
    assert ledger.tokens == TokenCounts(prompt=30, cached=12, generated=11)
    assert ledger.judges["j"].tokens == TokenCounts(prompt=20, cached=8, generated=6)
    assert ledger.judges["j"].seconds == 4.0
    assert outcomes_of(ledger) == {"scored": 11}
    assert (ledger.duplicates, ledger.broken) == ({}, ())
    assert ledger.owed("aa", 7) == ((5, 2),)
    assert ledger.owed("dd", 2) == ((0, 2),)
    assert ledger.owed("aa", 2) == ()


def test_nothing_landed():
    ledger = build_ledger(0, [])
    assert (ledger.n_rows, ledger.tokens, outcomes_of(ledger)) == (0, TokenCounts(), {})


def test_what_two_commits_claim_the_first_holds(run, land_rows):
    begin_session(run)
    # Landed in the other order, to show that time does not count.
    land_rows(run, 1, 2, {"aa": [(1, 4)], "bb": [(0, 1)]}, mark="second")
    land_rows(run, 1, 1, {"aa": [(0, 3)]}, mark="first")
    ledger = read_ledger(run)
    assert ledger.duplicates == {"s0001-l000002-a1.json": (("aa", 1), ("aa", 2))}
    assert ledger.rows == {"j": 6}
    assert outcomes_of(ledger) == {"scored": 6}
    assert ledger.tokens.generated == 8  # spent all the same
    landed = scan_judgments(run).collect().select("key", "label")
    first = [request_key("aa", replication) for replication in range(3)]
    assert landed.height == landed["key"].n_unique() == 6
    assert landed.filter(pl.col("label") == "first")["key"].sort().to_list() == sorted(first)
    assert [(found.level, found.kind) for found in verify_run(run)] == [("error", "duplicate_rows")]


def test_what_an_earlier_commit_holds_whole_adds_no_outcomes(run, land_rows):
    begin_session(run)
    for lease in (1, 2):
        land_rows(run, 1, lease, {"aa": [(0, 3)]})
    ledger = begin_session(run).ledger
    assert (ledger.n_rows, outcomes_of(ledger)) == (3, {"scored": 3})
    assert outcomes_of(build_ledger(1, ledger.commits)) == {"scored": 3}


def test_outcomes_of_a_damaged_file_that_repeats_others_are_not_guessed(disk_run, land_rows):
    begin_session(disk_run)
    land_rows(disk_run, 1, 1, {"aa": [(0, 3)]})
    land_rows(disk_run, 1, 2, {"aa": [(2, 3)]})
    disk_run.write_bytes(read_ledger(disk_run).commits[1].data_file, b"x")
    assert outcomes_of(read_ledger(disk_run)) == {"scored": 3}


def test_replies_that_came_with_a_thought_are_counted(rows):
    run = RunDirectory.create("memory://counted-thoughts")
    session = begin_session(run).number
    made = rows(conditions={"a": [(0, 5)]})
    judgments, completions = made.judgments(), made.completions()
    cut = judgments["key"][0]
    judgments = judgments.with_columns(
        finish_reason=pl.when(pl.col("key") == cut).then(pl.lit(CUT_IN_THOUGHT)).otherwise(
            pl.lit("stop"))
    )  # fmt: skip
    thinks = pl.col("key").is_in([cut, *judgments["key"][2:4]])
    completions = completions.with_columns(thought=pl.when(thinks).then(pl.lit("<think>Or B?")))
    assert land(
        run, session=session, lease=1, attempt=1, judge="j", judgments=judgments,
        completions=completions, conditions=made.conditions, tokens=TokenCounts(), seconds=0.0,
    )  # fmt: skip
    assert read_ledger(run).judges["j"].thoughts == {"whole": 2, "cut": 1}
    lines = status_text(read_status("memory://counted-thoughts").as_json())
    assert (
        "j: 3 replies came with a thought, 1 of them cut off inside it: raise max_tokens" in lines
    )
