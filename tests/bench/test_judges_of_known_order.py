"""Judges of two orders: their truths against long simulations, and what is printed of them."""

from __future__ import annotations

import numpy as np
import pyarrow.parquet as pq
import pytest

from bench.coverage_of_reproducibility import (
    AUDITED,
    coverage,
    floors,
    many_terms,
    shipped_terms,
)
from bench.judges_of_known_order import ORDER_BIAS, PURE, OrderedJudge
from bench.reduce_at_scale import write_judgments
from bench.reproducibility_page import page
from judgerel_ray.stats import krippendorff_alpha


@pytest.mark.alike(3)
@pytest.mark.parametrize("bias", ORDER_BIAS)
@pytest.mark.parametrize("base", ["90/10", "five options", "80 % unanimous"])
def test_truths_are_what_many_questions_show(base, bias):
    judge = OrderedJudge(base=base, bias=ORDER_BIAS[bias], alpha=0.0 if bias == PURE else 0.6)
    rng = np.random.default_rng(0)
    (table,) = judge.counts(questions=60_000, replications=4, runs=1, rng=rng)

    def at(name):
        found = shipped_terms(name, table)
        return float(found.value(found.terms_CT.sum(axis=0)))

    assert at("krippendorff_alpha") == pytest.approx(judge.reproducibility, abs=0.012)
    assert at("percent_agreement") == pytest.approx(judge.agreement, abs=0.006)
    assert krippendorff_alpha(table).value == pytest.approx(judge.repeatability, abs=0.012)
    first, second = table[::2] / 4, table[1::2] / 4
    assert (first * second).sum(axis=1).mean() == pytest.approx(judge.swap_consistency, abs=0.006)


def test_many_tables_at_once_are_the_shipped_terms():
    judge = OrderedJudge(base="five options", bias=0.3, alpha=0.6)
    tables = judge.counts(questions=9, replications=3, runs=4, rng=np.random.default_rng(1))
    for by_question, table in zip(many_terms(tables), tables, strict=True):
        assert by_question == pytest.approx(shipped_terms("percent_agreement", table).terms_CT)


@pytest.mark.slow
def test_a_judge_of_position_is_noise_and_a_reader_is_covered():
    """The audit's two judges: .88 by repeatability is nothing, .73 by content is held."""
    place, content = (judge for judge, _ in AUDITED.values())
    assert place.repeatability == pytest.approx(0.884, abs=0.001)
    assert place.reproducibility == pytest.approx(0.0, abs=1e-12)
    assert content.reproducibility == content.repeatability == pytest.approx(0.734)
    rng = np.random.default_rng(2)
    size = {"questions": 40, "replications": 4, "rng": rng}
    alpha, agreement = floors(place.counts(**size, runs=60), "position")
    # 95 % in the mean: 60 runs show fewer than 51 once in a thousand.
    assert min(alpha.noise, agreement.noise) >= 51
    of_place = coverage(
        "krippendorff_alpha", place.counts(**size, runs=200), 0.0, place, "first shown"
    )
    read = coverage(
        "krippendorff_alpha", content.counts(**size, runs=200), 0.734, content, "content"
    )
    assert of_place.covered >= 0.9 * of_place.intervals > 0
    assert read.covered >= 0.9 * read.intervals > 0
    said = page([of_place, read], [alpha, agreement], [], runs=200, seed=2)
    assert "50/50, bias" not in said
    assert f"{100 * alpha.noise / alpha.with_p:.1f}" in said


def test_crossed_orders_at_scale(tmp_path):
    file = tmp_path / "crossed.parquet"
    write_judgments(file, questions=5, replications=3, orders=2, contract=True)
    rows = pq.read_table(file).to_pylist()
    assert len(rows) == 30
    assert {row["option_order"] for row in rows} == {0, 1}
    for row in rows:
        if row["verdict"]:
            apart = (ord(row["verdict"]) - ord(row["label"]) - row["option_order"]) % 5
            assert apart == 0
