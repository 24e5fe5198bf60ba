from __future__ import annotations

import json

import numpy as np
import pytest

from bench.coverage_of_intervals import cells
from bench.coverage_page import cell_text, page, short_of_noise, table
from bench.judges_of_known_truth import ALPHAS, BASES, QUESTIONS, REPLICATIONS, TRUTHS, Judge
from bench.noise_is_called_noise import Called, called, experiments, of_counts
from bench.simulated_coverage import Coverage, agree, cell, coverage
from judgerel_ray.stats import count_statistic, jackknife_interval


def of(**changes: object) -> Coverage:
    known = {
        "base": "uniform", "alpha": 0.5, "questions": 20, "replications": 5,
        "coefficient": "krippendorff_alpha", "truth": 0.5, "runs": 1000, "intervals": 1000,
        "covered": 950, "flagged": 0, "covered_unflagged": 950, "mean_width": 0.25,
    }  # fmt: skip
    return Coverage(**{**known, **changes})


def test_an_interval_is_counted_as_it_is():
    judge = Judge(base="uniform", alpha=0.5)
    rng = np.random.default_rng(0)
    tables = judge.counts(questions=20, replications=5, runs=40, rng=rng)
    tables[0] = [[5, 0, 0, 0, 0]] * 20  # one verdict is all there is
    alpha = count_statistic("krippendorff_alpha", n_values=5)
    found = coverage(tables, alpha, 0.5, judge)
    by_hand = [jackknife_interval(one, alpha) for one in tables[1:]]
    assert (found.runs, found.intervals) == (40, 39)
    assert found.covered == sum(one.low <= 0.5 <= one.high for one in by_hand)
    assert found.flagged == sum(one.few_informative for one in by_hand)
    assert found.mean_width == pytest.approx(np.mean([one.high - one.low for one in by_hand]))
    assert found.covered_unflagged == sum(
        one.low <= 0.5 <= one.high for one in by_hand if not one.few_informative
    )
    assert (found.questions, found.replications, found.truth) == (20, 5, 0.5)


def test_a_cell_depends_on_its_seed_alone():
    judge = Judge(base="pass/fail", alpha=0.0)
    first = cell(judge, 8, 5, runs=5, seed=1)
    assert first == cell(judge, 8, 5, runs=5, seed=1)
    assert first != cell(judge, 8, 5, runs=5, seed=2)
    covered, noise = first
    assert [one.coefficient for one in covered] == list(TRUTHS)
    assert len(noise) == len(TRUTHS) + 1


@pytest.mark.parametrize(("covered", "short"), [(903, False), (902, True), (1000, False)])
def test_short_is_two_errors_below_92(covered, short):
    # .92 - 2 sqrt(.92 x .08 / 1000) = .90284
    assert of(covered=covered).short is short


def test_without_intervals_there_is_nothing_to_fall_short():
    none = of(intervals=0, covered=0, mean_width=None)
    assert not none.short
    assert cell_text(none) == "none 100"


def test_a_cell_as_text():
    assert cell_text(of(flagged=100)) == "95.0 ± 0.7, 0.25, 0, 10"
    assert cell_text(of(covered=800)) == "**80.0 ± 1.3**, 0.25, 0, 0"


def test_noise_without_a_p_is_told_apart():
    found = called("alpha", "dice", [0.5, None, 0.05, 0.06])
    assert found == Called(coefficient="alpha", data="dice", runs=4, with_p=3, noise=2)
    assert not short_of_noise(called("alpha", "dice", [None]))
    assert short_of_noise(called("alpha", "dice", [0.01] * 10 + [0.5] * 10))


def test_what_is_no_noise_is_not_called_so():
    steady = np.tile(4 * np.eye(2, dtype=int), (3, 10, 1))
    alpha, agreement = of_counts(
        steady,
        [count_statistic(name, n_values=2) for name in ("krippendorff_alpha", "percent_agreement")],
        "by hand",
    )
    assert (alpha.coefficient, alpha.noise, alpha.with_p) == (
        "krippendorff_alpha (nominal alpha)", 0, 3,
    )  # fmt: skip
    assert (agreement.coefficient, agreement.noise) == ("percent_agreement", 0)


def test_another_interval_than_the_shipped_one_stops_the_run():
    agreement = count_statistic("percent_agreement", n_values=2)
    shipped = jackknife_interval([[2, 0], [1, 1], [0, 2], [2, 0]], agreement)
    agree(shipped, shipped.low, shipped.high, shipped.few_informative)
    with pytest.raises(SystemExit, match="jackknife_interval gives"):
        agree(shipped, shipped.low, shipped.high - 0.01, shipped.few_informative)
    with pytest.raises(SystemExit, match="jackknife_interval gives"):
        agree(shipped, shipped.low, shipped.high, not shipped.few_informative)
    with pytest.raises(SystemExit, match="jackknife_interval gives"):
        agree(shipped, np.nan, np.nan, shipped.few_informative)


def test_a_table_in_markdown():
    assert table(["a", "b"], [[1, "x"]]) == "| a | b |\n| --- | --- |\n| 1 | x |"


def kept_cells(path, *, runs: int, seed: int) -> None:
    """Write every cell as if it had been computed."""
    keys = [
        (f"{seed} {runs} {base} {q} {m} {alpha}", base, q, m, alpha)
        for base in BASES
        for q in QUESTIONS
        for m in REPLICATIONS
        for alpha in ALPHAS
    ]
    with path.open("w") as file:
        for key, base, q, m, alpha in keys:
            covered = [
                {
                    "base": base, "alpha": alpha, "questions": q, "replications": m,
                    "coefficient": name, "truth": 0.5, "runs": runs, "intervals": runs,
                    "covered": runs - (base == "skewed"), "flagged": 1,
                    "covered_unflagged": runs - 1, "mean_width": 0.5,
                }
                for name in TRUTHS
            ]  # fmt: skip
            file.write(json.dumps({"key": key, "coverage": covered, "noise": []}) + "\n")
        for name, _ in experiments(runs, seed):
            noise = {"coefficient": name, "data": "dice", "runs": 9, "with_p": 8, "noise": 8}
            record = {"key": f"{seed} {runs} {name}", "coverage": [], "noise": [noise]}
            file.write(json.dumps(record) + "\n")


def test_what_is_kept_is_not_computed_again(tmp_path, capsys):
    kept_cells(tmp_path / "cells", runs=2, seed=7)
    covered, noise = cells(runs=2, seed=7, kept=tmp_path / "cells")
    assert capsys.readouterr().out == ""
    assert len(covered) == 3 * 4 * 4 * 4 * len(TRUTHS)
    text = page(covered, noise, runs=2, seed=7)
    assert "--runs 2 --seed 7" in text
    assert "| krippendorff_alpha | uniform | 0 of 48 | 100.0 (20 x 2, alpha 0) |" in text
    assert "| majorities | dice | 9 | 11.1 | 100.0 |" in text
    assert "| krippendorff_alpha | skewed | 20 | 2 | 0.0 | 50.0 ± 35.4 | 50.0 | 100.0 |" in text
