"""Judges held against several people: by the majority's label, and by the share of people matched.

    JUDGEREL_DATA=DIR OMP_NUM_THREADS=1 python -m bench.against_people [--runs 1000] [--seed 1]

First the recordings. Before: the share right against the most frequent label of all people
together, items without one left out, beside how often two people agree. Now: the share of an item's
people whose label the judge gave, beside a person held out, on the same items, by kind of people.
FeedbackQA holds no judge, so a constant one and one whose labels are people's of other items stand
in; in SummEval each person is taken for a judge of the others in turn, of the own kind and of the
other; PandaLM holds two LLM judges and three annotators.

Then laws. People and judge are drawn alike from each item's distribution of labels (four labels,
even or 90/10-like), so that no judge is better than a person: how often the interval of the
difference lies beyond 0 (t alone: were its error that of leaving items out and no more), how often
each share's interval covers its truth, how often noise is called something else, and how often the
old rule has the judge above people, beyond its interval.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from judgerel_ray.stats.intervals.ends import t_quantile
from judgerel_ray.stats.intervals.shares import Share, clustered_share
from judgerel_ray.stats.ratings.reference import PeopleMatch, people_match

ITEMS = (20, 55, 200)
PEOPLE = (2, 3, 5)
BASES = {"even": np.full(4, 0.25), "skewed": np.array([0.85, 0.09, 0.04, 0.02])}
_SPREAD = 1.0  # concentration: two draws of one item agree in half of what chance leaves


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A judge, or who stands in for one, held against people of one kind."""

    judge: str
    people: str
    before: Share
    now: PeopleMatch


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


def row_text(row: Recorded) -> str:
    """One row: before, and now."""
    new, bar, gap, floor = (
        row.now.judge, row.now.person, row.now.difference, row.now.floor
    )  # fmt: skip
    return (
        f"  {row.judge:<32} {row.people:<10} {row.before.value:.3f} of {row.before.n:>5,} | "
        f"{new.value:.3f} [{new.low:.3f}, {new.high:.3f}]  person {bar.value:.3f} "
        f"[{bar.low:.3f}, {bar.high:.3f}]  {gap.value:+.3f} [{gap.low:+.3f}, {gap.high:+.3f}]  "
        f"by chance {floor.mean:.3f} (p {floor.p:.3f})  {row.now.n_items:,} items, "
        f"{row.now.n_split} split"
    )


def feedbackqa(folder: Path, seed: int = 1) -> Iterator[Recorded]:
    """Two people an item, no judge: a constant one, and a person's labels of other items."""
    rows = pl.read_parquet(folder / "items/feedbackqa.parquet")
    names = sorted({one for ratings in rows["ratings"].to_list() for one in ratings})
    labels = np.array([[names.index(one) for one in ratings] for ratings in rows["ratings"]])
    counts, clusters = counted(labels, len(names)), rows["question"].to_numpy()
    shuffled = np.random.default_rng(seed).permutation(labels[:, 0])
    for judge, verdicts in (("always Bad", np.full(len(labels), names.index("Bad"))),
                            ("a person, of other items", shuffled)):  # fmt: skip
        yield Recorded(
            judge=judge, people="people", before=majority_accuracy(counts, verdicts, clusters),
            now=people_match(counts, verdicts, clusters_U=clusters),
        )  # fmt: skip


def summeval(folder: Path) -> Iterator[Recorded]:
    """Three experts and five crowd workers, each for a judge of the others; by article."""
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
    for who in raters:
        verdicts = table[who].to_numpy() - 1
        pooled = table.select(name for name in raters if name != who).to_numpy() - 1
        before = majority_accuracy(counted(pooled, 5), verdicts, clusters)
        for kind, names in kinds.items():
            others = table.select(name for name in names if name != who).to_numpy() - 1
            now = people_match(counted(others, 5), verdicts, clusters_U=clusters)
            yield Recorded(judge=who, people=f"{kind}s", before=before, now=now)


def pandalm(folder: Path) -> Iterator[Recorded]:
    """Two LLM judges, three annotators of pairs."""
    rows = pl.read_parquet(folder / "multi/pandalm_testset.parquet")
    counts = counted(rows.select("annotator1", "annotator2", "annotator3").to_numpy(), 3)
    for judge, name in (("gpt-3.5-turbo", "gpt"), ("pandalm-7b", "pandalm")):
        verdicts = _choices(rows[f"{name}_result"])
        yield Recorded(
            judge=judge, people="annotators", before=majority_accuracy(counts, verdicts),
            now=people_match(counts, verdicts),
        )  # fmt: skip


RECORDINGS = {"FeedbackQA": feedbackqa, "SummEval": summeval, "PandaLM": pandalm}


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
                _student_alone(counts, verdicts),
                now.judge.value, now.person.value, old.value or 0.0,
            )
        )  # fmt: skip
    names = ("differs", "judge", "person", "noise", "old_above", "alone", "share", "bar", "old")
    return dict(zip(names, np.mean(found, axis=0).tolist(), strict=True)) | {"truth": truth}


def _student_alone(counts: np.ndarray, verdicts: np.ndarray) -> float:
    """Whether Student's t over items alone calls judge and person different."""
    m = counts.sum(axis=1)
    agree = (counts * (counts - 1)).sum(axis=1) / (m * (m - 1))
    gap = counts[np.arange(len(counts)), verdicts] / m - agree
    error = gap.std(ddof=1) / np.sqrt(gap.size)
    return float(error > 0 and abs(gap.mean()) > t_quantile(gap.size - 1, 0.95) * error)


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
                    f"{one['alone']:>8.3f} {one['differs']:>8.3f} {one['judge']:>7.3f} "
                    f"{one['person']:>7.3f} {one['noise']:>7.3f}"
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
        for name, rows in RECORDINGS.items():
            print(f"\n{name}")
            for row in rows(folder):
                print(row_text(row))
    print("\nA judge that is one more person: shares, false findings, and coverage of 95 %")
    heads = ("law", "items", "people", "truth", "judge", "person", "before")
    print(("{:>7} {:>6} {:>7}" + " {:>7}" * 4).format(*heads)
          + "  old above  t alone  differs  covers  covers   noise")  # fmt: skip
    for line in cells(parsed.runs, parsed.seed):
        print(line)


if __name__ == "__main__":
    main()
