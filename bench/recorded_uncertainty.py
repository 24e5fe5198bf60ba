"""What the stated probability of a recorded verdict is worth, by judge and benchmark.

    JUDGEREL_DATA=DIR python -m bench.recorded_uncertainty

Reads the recorded verdicts of five judges with the probability of the option they chose (Feedback
Collection, TruthfulQA pairs, Toxic Chat, Persona Chat, Topical Chat), labels each low or high by a
threshold chosen on other folds, and prints accuracy by label, share of low, AUROC (pooled, and
inside criteria), excess area below the risk-coverage curve, the threshold chosen on the same data
(optimistic), a threshold with a guarantee, threshold transfer, and how far people agree among
themselves. Intervals of shares are exact where a text is judged once; three benchmarks judge each
text by two or six criteria, so theirs are by text, and the guarantee rests on one judgment a text.
A certainty that ranks worse than chance is printed as it is.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from bench.recordings import recordings
from judgerel_ray.stats import (
    LabelEdges,
    auroc,
    cross_fitted_labels,
    inter_rater_accuracy,
    label_accuracy,
    learn_then_test,
    rating_deviation,
    risk_coverage,
    threshold_transfer,
    wagner2024_threshold,
)
from judgerel_ray.stats.folds import grouped_folds
from judgerel_ray.stats.intervals.shares import Share

DELTA = 0.1
FILES = (
    "evalassist_feedback_collection",
    "evalassist_truthfulqa_pairwise",
    "evalassist_judgebench",
)


@dataclass(frozen=True)
class Recorded:
    """Verdicts of one judge on one benchmark."""

    dataset: str
    judge: str
    certainty: np.ndarray
    given: np.ndarray
    right: np.ndarray
    item: np.ndarray
    criterion: np.ndarray

    @property
    def correct(self) -> np.ndarray:
        """A mean of annotators between two options is nearest to one of them, or to none."""
        return np.abs(self.given - self.right) < 0.5

    @property
    def edges(self) -> LabelEdges:
        """Only the chosen option's probability is recorded: low from the threshold on."""
        n = self.certainty.size
        return LabelEdges(
            above_N=np.zeros(n), upto_N=self.certainty, allowed_N=np.ones(n, dtype=bool)
        )


def recorded(folder: Path) -> Iterator[Recorded]:
    """Every judge on every benchmark of the recordings."""
    for name in FILES:
        rows = pl.read_parquet(folder / f"seed001/{name}.parquet").select(
            pl.col("dataset", "judge").cast(pl.String),
            pl.col("option", "correct_option").cast(pl.Float64),
            "item",
            "certainty",
            pl.col("criterion").cast(pl.String),
        )
        for (dataset, judge), part in rows.group_by("dataset", "judge", maintain_order=True):
            yield Recorded(
                str(dataset), str(judge), part["certainty"].to_numpy(),
                part["option"].to_numpy(), part["correct_option"].to_numpy(),
                part["item"].to_numpy(),
                part["criterion"].to_numpy(),
            )  # fmt: skip


def shown(share: Share) -> str:
    """A share with its interval and its trials."""
    if share.value is None:
        return "-"
    if share.low is None:
        return f"{share.value:.3f} of {share.n}"
    return f"{share.value:.3f} [{share.low:.3f}, {share.high:.3f}] of {share.n}"


def inside_criteria(data: Recorded) -> float:
    """AUROC over pairs of one criterion: scales of different lengths are not compared."""
    found, pairs = [], []
    for criterion in np.unique(data.criterion):
        rows = data.criterion == criterion
        one = auroc(data.certainty[rows], data.correct[rows])
        if one.value is not None:
            right = int(data.correct[rows].sum())
            found.append(one.value)
            pairs.append(right * (int(rows.sum()) - right))
    return float(np.average(found, weights=pairs))


def report(data: Recorded) -> None:
    """Print what one judge's certainty is worth."""
    fitted = cross_fitted_labels(data.edges, data.correct, groups_N=data.item, seed=1)
    by_label = label_accuracy(fitted.low_N, data.correct, clusters_N=data.item)
    ranking = auroc(data.certainty, data.correct, clusters_N=data.item)
    curve = risk_coverage(data.certainty, data.correct)
    tuned = wagner2024_threshold(data.edges, data.correct)
    apart = rating_deviation(data.given, data.right, fitted.low_N, clusters_N=data.item)
    half = grouped_folds(data.item, n_folds=2, seed=1) == 0
    risk = round(0.75 * (1 - by_label.all.value), 3)
    safe = learn_then_test(
        data.certainty[half], data.correct[half], risk=risk, delta=DELTA,
        clusters_N=data.item[half], seed=1,
    )  # fmt: skip
    print(f"\n{data.dataset} | {data.judge} | accuracy {shown(by_label.all)}")
    print(f"  low   {shown(by_label.low)}; high {shown(by_label.high)}")
    print(f"  share of low {shown(by_label.share_low)}; cross-fitted {fitted.thresholds}")
    ends = "" if ranking.low is None else f" [{ranking.low:.3f}, {ranking.high:.3f}]"
    print(f"  AUROC {ranking.value:.3f}{ends}, inside criteria {inside_criteria(data):.3f}")
    print(f"  AURC {curve.aurc:.3f}, excess {curve.excess:.3f}; at half {curve.risk_at(0.5):.3f}")
    print(f"  in-sample threshold {tuned.threshold}: {tuned.accuracy_low:.3f} of {tuned.n_low}, "
          f"optimistic")  # fmt: skip
    deviations = [f"{one.value:.3f}" if one.n else "-" for one in (apart.low, apart.high)]
    print(f"  deviation low {deviations[0]}, high {deviations[1]}")
    if safe.threshold is None:
        print(f"  risk <= {risk}: no threshold ({safe.undefined})")
    else:
        taken = ~half & (data.certainty >= safe.threshold)
        print(f"  risk <= {risk} with {1 - DELTA:.0%}: from {safe.threshold:.4f} on; on the other "
              f"half {1 - data.correct[taken].mean():.3f} of {taken.sum()}")  # fmt: skip


def people(folder: Path) -> None:
    """Print how far people agree among themselves."""
    ratings = pl.read_parquet(folder / "items/feedbackqa.parquet")["ratings"].to_list()
    found = inter_rater_accuracy(ratings)
    print(
        f"\npeople, FeedbackQA (validation): {found.value:.3f} [{found.low:.3f}, {found.high:.3f}]"
    )
    rows = pl.read_parquet(folder / "items/summeval_ratings.parquet").with_columns(
        pl.col("rater_type", "doc_id", "dimension").cast(pl.String),
        pl.col("score").cast(pl.Float64),
    )
    for kind in ("expert", "turker"):
        items = (
            rows.filter(rater_type=kind)
            .group_by("system", "doc_id", "dimension", maintain_order=True)
            .agg("score")
        )
        found = inter_rater_accuracy(
            items["score"].to_list(), clusters_U=items["doc_id"].to_numpy()
        )
        print(f"people, SummEval, {kind}s: {found.value:.3f} [{found.low:.3f}, {found.high:.3f}]")


def main() -> None:
    """Print the whole."""
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    folder = recordings()
    everything = list(recorded(folder))
    for data in everything:
        report(data)
    print("\nthreshold of the row on the column: accuracy of low / share of low")
    names = {f"{data.judge} on {data.dataset}": data for data in everything if
             data.dataset in ("feedback_collection", "truthfulqa_pairwise")}  # fmt: skip
    for row in threshold_transfer(
        {name: (data.edges, data.correct) for name, data in names.items()}, seed=1
    ):
        accuracy = f"{row.n_correct_low / row.n_low:.3f}" if row.n_low else "-"
        kind = "cross-fitted" if row.cross_fitted else f"threshold {row.threshold}"
        print(f"  {row.source} -> {row.target}: {accuracy} / {row.n_low / row.n:.3f} ({kind})")
    people(folder)


if __name__ == "__main__":
    main()
