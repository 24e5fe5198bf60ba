"""Answers that others recorded, selected by their stated confidence.

The page docs/recorded-selection.md says these numbers; a line of a table that is not computed here,
or the other way round, fails.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.importers.verb import import_judgments
from judgerel_ray.stats import clopper_pearson

PAGE = Path(__file__).resolve().parents[2] / "docs" / "recorded-selection.md"
PUBLISHED = (
    ("Claude 3.5 Haiku", 356, 408, 431),
    ("GPT-4.1 nano", 252, 316, 318),
    ("Gemini 2.0 Flash", 399, 392, 361),
)


@pytest.fixture(scope="module")
def claude(recordings, tmp_path_factory):
    """The recorded answers, their file's rows, and what selection says of them."""
    file = tmp_path_factory.mktemp("recorded") / "answers.parquet"
    source = recordings / "seed004" / "monolithic_claude.parquet"
    import_judgments("bergman2025", [str(source)], out=str(file))
    strict = judgerel_ray.select(file, risk=0.1, resamples=1).guarantees
    assert strict["undefined"].to_list() == ["risk_too_high"]  # as the page says
    answers = pl.read_parquet(file).filter(pl.col("stage") == "choose")
    return judgerel_ray.select(file, risk=0.4, resamples=400), answers


def tables(*parts):
    """Lines of the page's tables that begin with one of these cells."""
    lines = PAGE.read_text("utf-8").splitlines()
    return [line for line in lines if line.startswith(tuple(f"| {part} |" for part in parts))]


def test_all_published_accuracies_have_their_published_intervals():
    expected = []
    for model, *counts in PUBLISHED:
        cells = []
        for k in counts:
            ends = clopper_pearson(k, 600)
            cells.append(f"{k / 6:.3f} [{100 * ends.low:.3f}, {100 * ends.high:.3f}]")
        expected.append(f"| {model} | {' | '.join(cells)} |")
    assert tables(*(model for model, *_ in PUBLISHED)) == expected


@pytest.mark.slow
def test_accuracy_and_ranking_of_the_recorded_model(claude):
    found, rows = claude
    systems = found.systems
    row = systems.row(0, named=True)
    assert (row["role"], row["n_right"], row["n_answers"]) == ("responder", 356, 600)
    assert (row["low"], row["high"]) == pytest.approx((0.55282, 0.63293), abs=5e-6)
    assert row["auroc"] == pytest.approx(0.6064, abs=5e-5)
    # DeLong's ends with the normal quantile, and Student's t with one answer more of each kind.
    plain, logit = _delong(rows)
    assert plain == pytest.approx((0.561, 0.652), abs=5e-4)
    assert logit == pytest.approx((0.5599, 0.6511), abs=5e-5)
    assert (row["auroc_low"], row["auroc_high"]) == pytest.approx((0.5597, 0.6512), abs=5e-5)
    # The reference's ends are [.563, .652]; ends of a bootstrap vary by .003 with its seed.
    assert (row["auroc_low"], row["auroc_high"]) == pytest.approx((0.563, 0.652), abs=4e-3)
    said = {
        "accuracy": f"{row['accuracy']:.3f} [{row['low']:.3f}, {row['high']:.3f}]",
        "accuracy by chance": f"{row['noise_floor']:.3f}",
        "AUROC": f"{row['auroc']:.3f} [{row['auroc_low']:.3f}, {row['auroc_high']:.3f}]",
        "AURC, of no use": f"{row['aurc']:.3f}, {row['aurc_floor']:.3f}",
        "mean confidence": f"{row['mean_confidence']:.3f}",
        "ECE, calibrated": f"{row['ece']:.3f}, {row['ece_floor']:.3f}",
        "Brier, by chance": f"{row['brier']:.3f}, {row['brier_floor']:.3f}",
    }
    assert tables(*said) == [f"| {name} | {value} |" for name, value in said.items()]


def _delong(rows):
    """DeLong's ends, plain and on the logit scale, by all pairs."""
    scores = rows["confidence"].to_numpy()
    right = (rows["verdict"] == rows["gold"]).to_numpy()
    x, y = scores[right][:, None], scores[~right]
    pairs = (x > y) + (x == y) / 2
    value = pairs.mean()
    error = np.sqrt(sum(pairs.mean(axis=k).var(ddof=1) / pairs.shape[1 - k] for k in (0, 1)))
    half, centre = 1.959964 * error, np.log(value / (1 - value))
    reach = half / (value * (1 - value))
    logit = tuple(1 / (1 + np.exp(-centre - one)) for one in (-reach, reach))
    return (value - half, value + half), logit


def test_bootstraps_of_the_ranking_straddle_the_ends_others_found(claude):
    rows = claude[1]
    scores = rows["confidence"].to_numpy()
    right = (rows["verdict"] == rows["gold"]).to_numpy()
    lows, highs = [], []
    for seed in range(6):
        rng, drawn = np.random.default_rng(seed), []
        for _ in range(300):
            taken = rng.integers(0, 600, 600)
            x, y = scores[taken][right[taken]], np.sort(scores[taken][~right[taken]])
            below = np.searchsorted(y, x, "left") + np.searchsorted(y, x, "right")
            drawn.append(below.mean() / 2 / y.size)
        low, high = np.quantile(drawn, [0.025, 0.975])
        lows.append(low)
        highs.append(high)
    assert min(lows) < 0.563 < max(lows) + 0.002
    assert min(highs) - 0.002 < 0.652 < max(highs) + 0.002


def test_the_acceptance_curve_of_the_recorded_model(claude):
    found, rows = claude
    acceptance = found.acceptance
    right = rows["verdict"] == rows["gold"]
    assert acceptance["threshold"].to_list() == sorted(set(rows["confidence"]), reverse=True)
    expected = []
    for row in acceptance.iter_rows(named=True):
        taken = rows["confidence"] >= row["threshold"]
        wrong = int((taken & ~right).sum())
        exact = clopper_pearson(wrong, int(taken.sum()))
        assert (row["n_accepted"], row["n_errors"]) == (int(taken.sum()), wrong)
        assert (row["low"], row["high"]) == pytest.approx((exact.low, exact.high))
        assert row["band_low"] <= row["low"]
        assert row["band_high"] >= row["high"]
        ends = [f"[{1 - row[b]:.3f}, {1 - row[a]:.3f}]" for a, b in
                (("low", "high"), ("band_low", "band_high"))]  # fmt: skip
        expected.append(
            f"| {row['threshold']:.2f} | {row['n_accepted']} | {row['acceptance']:.3f} | "
            f"{row['accuracy']:.3f} | {ends[0]} | {ends[1]} |"
        )
    told = tables(*(f"{one:.2f}" for one in acceptance["threshold"].to_list()))
    assert told == expected


def test_the_threshold_with_a_guarantee_of_the_recorded_model(claude):
    guarantees = claude[0].guarantees
    row = guarantees.row(0, named=True)
    said = (
        f"accepts {row['n_accepted']} of the {row['n_heldout']} questions held out, "
        f"{row['n_errors']} of them wrong"
    )
    assert row["risk"] == 0.4
    assert f"at {row['threshold']:g}" in PAGE.read_text("utf-8")
    assert said in PAGE.read_text("utf-8")
