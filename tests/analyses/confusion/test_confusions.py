"""From log-probabilities to matrices: what lands in parts, what fails, where a label ends."""

import math

import polars as pl
import pytest

from judgerel_ray.analyses.confusion.matrices import (
    Scored,
    UncertaintyOptions,
    confusion_table,
    matrix_rows,
    scored_matrices,
)
from judgerel_ray.core import Condition, Menu, Scoring

NESTED = Menu(labels=("1", "2", "10"), option_ids=("1", "2", "10"), form="best_response")
LETTERS = Menu(labels=("A", "B", "C"), option_ids=("x", "y", "z"), form="best_response")


def condition(argued, continuations, *, kind="options", menu=LETTERS):
    return Condition(
        condition_key="0" * 32, seed_base=7, judge="j", judge_fingerprint="f", benchmark="b",
        item_id="i", protocol="confusion", stage="probabilities", role="scorer", prompt=(),
        template="default", temperature=0.0, top_k=50, top_p=1.0, max_tokens=1, menu=menu,
        argued=argued, scoring=Scoring(kind=kind, continuations=tuple(continuations)),
    )  # fmt: skip


def tokens(place, *read):
    return [
        {"token": text, "logprob": math.log(p), "rank": None, "continuation": place}
        for text, p in read
    ]


def column(argued, shares, **changes):
    read = [row for n, p in enumerate(shares) for row in tokens(n, ("ABC"[n], p))]
    return Scored(condition=condition(argued, "ABC", **changes), mode="columns", read=read)


def cell(argued, label, share):
    read = [] if share is None else tokens(0, (label, share))
    one = condition(argued, [label], kind="inserted")
    return Scored(condition=one, mode="paper", read=read)


def cells(table):
    return {
        (row["verdict_option"], row["assessment_option"]): row["probability"]
        for row in table.iter_rows(named=True)
    }


def scores(table):
    own = {"judge": ["j"], "benchmark": ["b"], "item_id": ["i"], "template": ["default"],
           "temperature": [0.0], "verdict": ["x"]}  # fmt: skip
    right = {"benchmark": ["b"], "item_id": ["i"], "right": ["x"]}
    options = UncertaintyOptions(threshold=0.5)
    found = scored_matrices(table, pl.DataFrame(own), pl.DataFrame(right), options)
    return matrix_rows(list(found)).row(0, named=True)


def test_rows_are_options_and_columns_assessments_whatever_the_order_of_landing():
    parts = {"z": (0.1, 0.2, 0.7), "x": (0.6, 0.3, 0.1), "y": (0.25, 0.5, 0.25)}
    table = confusion_table([column(argued, shares) for argued, shares in parts.items()])
    found = cells(table)
    assert len(found) == table.height == 9
    for argued, shares in parts.items():
        for option, share in zip("xyz", shares, strict=True):
            assert found[option, argued] == pytest.approx(share)
    row = scores(table)
    assert row["options"] == ["x", "y", "z"]
    diagonal, others = (0.6 + 0.5 + 0.7) / 3, (3 - 1.8) / 6
    assert row["suggestibility"] == pytest.approx(diagonal - others)


def test_a_matrix_of_which_a_column_has_not_landed_says_so():
    row = scores(confusion_table([column("x", (0.6, 0.3, 0.1)), column("z", (0.2, 0.1, 0.7))]))
    assert (row["n_missing"], row["options"]) == (1, ["x", "y", "z"])
    assert row["u"] == pytest.approx([0.4, 0.2, 0.4])


def test_pairs_of_which_some_have_not_landed_are_no_column():
    # Only the pairs of two of three options have landed: no probability of the third, no column.
    part = [cell(argued, label, 0.4) for argued in "xyz" for label in "AB"]
    table = confusion_table(part)
    assert table.height == 9
    assert table["probability"].null_count() == 9
    assert scores(table)["undefined"] == "no_assessments"
    whole = confusion_table([*part, cell("x", "C", 0.2)])
    assert cells(whole)["z", "x"] == pytest.approx(0.2)
    assert scores(whole)["n_missing"] == 2


def test_a_pair_that_failed_empties_its_column_and_nothing_else():
    asked = [cell(argued, label, 0.3) for argued in "xyz" for label in "ABC"]
    asked[4] = cell("y", "B", None)
    table = confusion_table(asked)
    assert table.filter(pl.col("probability").is_null())["assessment_option"].to_list() == ["y"] * 3
    assert scores(table)["n_missing"] == 1


@pytest.mark.parametrize(
    ("one", "ten", "last"),
    [
        # What closes the label is one token, two, or joined to the label's own.
        ([("1", 0.5), ("]]", 0.9)], [("1", 0.5), ("0", 0.25), ("]]", 0.8)], (0.5, 0.25)),
        ([("1", 0.5), ("]", 0.9), ("]", 0.7)], [("10", 0.4), ("]]", 0.8)], (0.5, 0.4)),
        ([("1", 0.5), ("]]", 0.9)], [("1", 0.5), ("0]]", 0.3)], (0.5, 0.3)),
    ],
)
def test_the_last_token_is_the_labels_and_not_that_of_its_brackets(one, ten, last):
    asked = condition("1", ["1]]", "2]]", "10]]"], menu=NESTED)
    read = [*tokens(0, *one), *tokens(1, ("2", 0.1), ("]]", 0.9)), *tokens(2, *ten)]
    scored = [Scored(condition=asked, mode="columns", read=read)]
    by_last, whole = (cells(confusion_table(scored, last_token=flag)) for flag in (True, False))
    assert (by_last["1", "1"], by_last["10", "1"]) == pytest.approx(last)
    for option, read in (("1", one), ("10", ten)):
        assert whole[option, "1"] == pytest.approx(math.prod(p for _, p in read))


def test_all_assessments_in_one_prompt_are_one_column():
    asked = condition(None, "ABC")
    read = [row for n, p in enumerate((0.5, 0.3, 0.2)) for row in tokens(n, ("ABC"[n], p))]
    table = confusion_table([Scored(condition=asked, mode="single", read=read)])
    assert cells(table) == pytest.approx({("x", None): 0.5, ("y", None): 0.3, ("z", None): 0.2})
