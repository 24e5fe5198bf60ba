"""Judges held against several people: by the majority's label, and by the share of people matched.

    JUDGEREL_DATA=DIR OMP_NUM_THREADS=1 python -m bench.against_people [--runs 1000] [--seed 1]

First the recordings. Before: the share right against the most frequent label of all people
together, items without one left out, beside how often two people agree. Now: the share of an item's
people whose label the judge gave, beside a person held out, on the same items, by kind of people.
FeedbackQA holds no judge, so a constant one, one whose labels are people's of other items, and a
person by the old rule stand in; in SummEval each person is taken for a judge of the others in turn,
of the own kind and of the other; PandaLM holds two LLM judges and three annotators.

Then laws. People and judge are drawn alike from each item's distribution of labels (four labels,
even or 90/10-like), so that no judge is better than a person: how often the interval of the
difference lies beyond 0, how often each share's interval covers its truth, how often noise is
called something else, and how often the old rule has the judge above people, beyond its interval.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from judgerel_ray.stats import inter_rater_accuracy
from judgerel_ray.stats.people_match import PeopleMatch, people_match
from judgerel_ray.stats.shares import Share, clustered_share

ITEMS = (20, 55, 200)
PEOPLE = (2, 3, 5)
BASES = {"even": np.full(4, 0.25), "skewed": np.array([0.85, 0.09, 0.04, 0.02])}
_SPREAD = 1.0  # concentration: two draws of one item agree in half of what chance leaves


def majority_accuracy(
    counts: np.ndarray, verdicts: np.ndarray, clusters: np.ndarray | None = None
) -> Share:
    """The rule before: right is the most frequent label; items where it is not one are left out."""
    most = counts.max(axis=1)
    kept = ((counts == most[:, None]).sum(axis=1) == 1) & (most > 0)
    groups = np.arange(len(counts)) if clusters is None else clusters
    return clustered_share(counts.argmax(axis=1)[kept] == verdicts[kept], clusters_N=groups[kept])


def counted(labels: np.ndarray, n_labels: int) -> np.ndarray:
    """Labels of people (items, people), -1 for none, as counts."""
    return (labels[:, :, None] == np.arange(n_labels)).sum(axis=1)


def said(before: Share | None, now: PeopleMatch, who: str) -> str:
    """One row: before, and now."""
    old = "-" if before is None else f"{before.value:.3f} of {before.n:>5,}"
    new, bar, gap = now.judge, now.person, now.difference
    ends = "-" if gap.low is None else f"[{gap.low:+.3f}, {gap.high:+.3f}]"
    noise = "" if now.floor.p is None or now.floor.p <= 0.05 else ", noise"
    return (
        f"  {who:<34} {old:>14} | {new.value:.3f} [{new.low:.3f}, {new.high:.3f}]  person "
        f"{bar.value:.3f} [{bar.low:.3f}, {bar.high:.3f}]  {gap.value:+.3f} {ends}  by chance "
        f"{now.floor.mean:.3f}{noise}, {now.n_items:,} items, {now.n_split} split"
    )


def feedbackqa(folder: Path, seed: int) -> None:
    """Two people an item, no judge."""
    rows = pl.read_parquet(folder / "items/feedbackqa.parquet")
    names = sorted({one for ratings in rows["ratings"].to_list() for one in ratings})
    labels = np.array([[names.index(one) for one in ratings] for ratings in rows["ratings"]])
    counts = counted(labels, len(names))
    clusters = rows["question"].to_numpy()
    pairs = inter_rater_accuracy(labels.tolist(), clusters_U=clusters).value
    print(f"\nFeedbackQA (validation): two people agree in {pairs:.3f}; before, a person by the "
          f"rule of judges: {majority_accuracy(counts, labels[:, 0]).value:.3f}")  # fmt: skip
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(labels[:, 0])
    for who, verdicts in (("always 'Bad'", np.full(len(labels), names.index("Bad"))),
                          ("a person's labels of other items", shuffled)):  # fmt: skip
        before = majority_accuracy(counts, verdicts, clusters)
        print(said(before, people_match(counts, verdicts, clusters_U=clusters), who))


def summeval(folder: Path) -> None:
    """Three experts and five crowd workers, each for a judge of the others."""
    rows = pl.read_parquet(folder / "items/summeval_ratings.parquet").with_columns(
        who=pl.concat_str(pl.col("rater_type").cast(pl.String), pl.lit(":"), pl.col("rater")),
        doc=pl.col("doc_id").cast(pl.String),
    )
    table = rows.pivot("who", index=["system", "doc", "dimension"], values="score").sort(
        "doc", "system", "dimension"
    )
    kinds = {kind: [name for name in table.columns if name.startswith(kind)]
             for kind in ("expert", "turker")}  # fmt: skip
    clusters, raters = table["doc"].to_numpy(), [one for names in kinds.values() for one in names]
    print("\nSummEval: a person as the judge of the others (scores 1 to 5; by article)")
    for who in raters:
        verdicts = table[who].to_numpy() - 1
        for kind, names in kinds.items():
            others = [name for name in names if name != who]
            pooled = [name for name in raters if name != who]
            counts, every = (
                counted(table.select(one).to_numpy() - 1, 5) for one in (others, pooled)
            )
            before = majority_accuracy(every, verdicts, clusters)
            now = people_match(counts, verdicts, clusters_U=clusters)
            print(said(before, now, f"{who} against {kind}s"))


def pandalm(folder: Path) -> None:
    """Two LLM judges, three annotators of pairs."""
    rows = pl.read_parquet(folder / "multi/pandalm_testset.parquet")
    labels = rows.select("annotator1", "annotator2", "annotator3").to_numpy()
    counts = counted(labels, 3)
    pairs = inter_rater_accuracy(labels.tolist()).value
    print(f"\nPandaLM: two of three annotators agree in {pairs:.3f}")
    for judge in ("gpt", "pandalm"):
        verdicts = _choices(rows[f"{judge}_result"])
        before = majority_accuracy(counts, verdicts)
        print(said(before, people_match(counts, verdicts), judge))


def _choices(results: pl.Series) -> np.ndarray:
    """Verdicts as 0 for a tie, 1 and 2; -1 where nothing can be read."""
    text = results.cast(pl.String).str.to_lowercase().str.strip_chars()
    return np.array([{"0": 0, "tie": 0, "1": 1, "2": 2}.get(one, -1) for one in text])


def drawn(
    rng: np.random.Generator, base: np.ndarray, n: int, people: int
) -> tuple[np.ndarray, np.ndarray]:
    """Counts of people's labels, and a judge's, each drawn from its item's distribution."""
    steps = np.cumsum(rng.dirichlet(_SPREAD * base, size=n), axis=1)
    labels = (rng.random((n, people + 1, 1)) > steps[:, None, :-1]).sum(axis=2)
    return counted(labels[:, 1:], base.size), labels[:, 0]


def rates(base: np.ndarray, n: int, people: int, runs: int, seed: int) -> dict[str, float]:
    """How often intervals cover, and how often something is told that is not so."""
    rng = np.random.default_rng([seed, n, people, int(1000 * base[0])])
    truth = (1 + _SPREAD * float((base**2).sum())) / (1 + _SPREAD)
    found = []
    for _ in range(runs):
        counts, verdicts = drawn(rng, base, n, people)
        now = people_match(counts, verdicts)
        noise = people_match(counts, rng.permutation(verdicts))
        old = majority_accuracy(counts, verdicts)
        pairs = now.person.value or 0.0
        found.append(
            (
                _outside(now.difference.low, now.difference.high, 0.0),
                1 - _outside(now.judge.low, now.judge.high, truth),
                1 - _outside(now.person.low, now.person.high, truth),
                float(noise.floor.p is not None and noise.floor.p <= 0.05),
                float(old.low is not None and old.low > pairs),
                now.judge.value, now.person.value, old.value or 0.0,
            )
        )  # fmt: skip
    names = ("differs", "judge", "person", "noise", "old_above", "share", "bar", "old")
    return dict(zip(names, np.mean(found, axis=0).tolist(), strict=True)) | {"truth": truth}


def _outside(low: float | None, high: float | None, truth: float) -> float:
    """Whether an interval leaves the truth out; none leaves nothing out."""
    return float(low is not None and high is not None and not low <= truth <= high)


def cells(runs: int, seed: int) -> Iterator[str]:
    """A line a law."""
    for name, base in BASES.items():
        for n in ITEMS:
            for people in PEOPLE:
                one = rates(base, n, people, runs, seed)
                yield (
                    f"{name:>7} {n:>6} {people:>7} {one['truth']:>7.3f} {one['share']:>7.3f} "
                    f"{one['bar']:>7.3f} {one['old']:>7.3f} {one['old_above']:>10.3f} "
                    f"{one['differs']:>8.3f} {one['judge']:>7.3f} {one['person']:>7.3f} "
                    f"{one['noise']:>7.3f}"
                )


def main() -> None:
    """Print the whole."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parsed = parser.parse_args()
    if "JUDGEREL_DATA" in os.environ:
        folder = Path(os.environ["JUDGEREL_DATA"])
        print("right by the majority of all (before) | share of people matched, and a person's")
        feedbackqa(folder, parsed.seed)
        summeval(folder)
        pandalm(folder)
    print("\nA judge that is one more person: shares, false findings, and coverage of 95 %")
    heads = ("law", "items", "people", "truth", "judge", "person", "before")
    print(("{:>7} {:>6} {:>7}" + " {:>7}" * 4).format(*heads)
          + "  old above  differs  covers  covers   noise")  # fmt: skip
    for line in cells(parsed.runs, parsed.seed):
        print(line)


if __name__ == "__main__":
    main()
