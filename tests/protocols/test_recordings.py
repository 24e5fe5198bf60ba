"""The published judgments, read again: 55 questions, 100 replications, 5 temperatures a judge."""

import re
from collections import Counter
from pathlib import Path

import polars as pl
import pytest

from judgerel_ray.core import Menu
from judgerel_ray.protocols import read_verdict

LETTERS = tuple("ABCDE")
# Published rule -> policy first. Off the menu are options the judge made up ("[F]") or took from
# the question ("(I) mauve"); the published rule misses "best response:" in small letters, and
# takes the E of "Explanation" and the B of "[[Best Response Letter]]" for verdicts.
READ_DIFFERENTLY = {
    "starling": {
        "unparsed -> off_menu": 158,
        "unparsed -> letter": 40,
        "letter -> unparsed": 1,
        "letter -> off_menu": 1,
        "letter -> letter": 1,
    },
    "llama3": {
        "unparsed -> off_menu": 475,
        "unparsed -> letter": 11,
        "letter -> unparsed": 28,
        "letter -> off_menu": 6,
        "letter -> letter": 1,
        "conflicting -> letter": 52,
        "conflicting -> unparsed": 1,
    },
}


def read(text: str, reader: str, labels=LETTERS, form="best_response") -> str:
    menu = Menu(labels=labels, option_ids=labels, form=form, reader=reader)
    reading = read_verdict(text, finish_reason="stop", menu=menu)
    return reading.label or reading.outcome.value


@pytest.fixture(scope="module", params=["starling", "llama3"])
def judgments(request, recordings: Path) -> tuple[str, pl.DataFrame]:
    path = recordings / "seed000" / f"judgments_{request.param}.parquet"
    return request.param, pl.read_parquet(path, columns=["temperature", "text"])


@pytest.mark.slow
def test_the_published_rule_gives_the_published_shares_of_no_verdict(judgments):
    judge, rows = judgments
    silent = pl.col("text").map_elements(
        lambda text: read(text, "schroeder2024") == "unparsed", return_dtype=pl.Boolean
    )
    shares = rows.group_by("temperature").agg(silent.mean().alias("share"))["share"]
    low, high = {"starling": (0.52, 0.64), "llama3": (0.54, 0.80)}[judge]
    assert len(shares) == 5
    assert (round(shares.min(), 2), round(shares.max(), 2)) == (low, high)


@pytest.mark.slow
def test_where_the_first_declared_verdict_differs_from_the_published_rule(judgments):
    judge, rows = judgments
    kinds = Counter()
    for text in rows["text"]:
        published, first = read(text, "schroeder2024"), read(text, "first")
        if published != first:
            kinds[" -> ".join("letter" if r in LETTERS else r for r in (published, first))] += 1
    assert kinds == READ_DIFFERENTLY[judge]


def test_words_the_published_rule_takes_for_letters(judgments):
    judge, rows = judgments
    glued = re.compile(r"Best Response:\W*[A-Ea-e]\w")
    texts = [text for text in rows["text"] if glued.search(text)]
    assert len(texts) == {"starling": 1, "llama3": 38}[judge]


def test_the_published_rule_counts_the_published_correct_answers(recordings):
    path = recordings / "seed000" / "head_to_tail_starling.parquet"
    texts = pl.read_parquet(path)["verdict_text"].cast(pl.String).value_counts()
    labels = ("correct", "incorrect")
    counts: dict[str, Counter[str]] = {"schroeder2024": Counter(), "first": Counter()}
    for text, count in texts.iter_rows():
        for reader, counter in counts.items():
            counter[read(text, reader, labels, "correctness")] += count
    # 3,992 of 100,800 is the published accuracy .039603.
    assert counts["schroeder2024"] == {"correct": 3992, "incorrect": 87767, "unparsed": 9041}
    # The rest are questions ("Is this correct?") and "Correctness" with nothing after it.
    assert counts["first"] == {"correct": 3882, "incorrect": 87751, "unparsed": 9167}
