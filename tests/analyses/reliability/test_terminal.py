from __future__ import annotations

import json

import polars as pl
import pytest

from judgerel_ray.analyses.reliability.show import coefficients_text
from judgerel_ray.blocks.blocks import Laid
from judgerel_ray.blocks.result import rows_json
from judgerel_ray.blocks.terminal import printed as laid_out
from judgerel_ray.cli import main
from judgerel_ray.counting.judgments import tally_file
from judgerel_ray.measuring.reliability import reduce_judgments

# A hand-made file: three questions asked four times.
ROWS = """item_id,judge,replication,verdict
capital,[bold]j,0,A
capital,[bold]j,1,A
capital,[bold]j,2,A
capital,[bold]j,3,A
river,[bold]j,0,B
river,[bold]j,1,B
river,[bold]j,2,B
river,[bold]j,3,
poem,[bold]j,0,A
poem,[bold]j,1,B
poem,[bold]j,2,C
poem,[bold]j,3,B
"""


@pytest.fixture
def coefficients(tmp_path) -> pl.DataFrame:
    path = tmp_path / "rows.csv"
    path.write_text(ROWS)
    return reduce_judgments(tally_file(str(path)).rows)


def printed(coefficients: pl.DataFrame) -> str:
    return laid_out([Laid(coefficients_text(coefficients))])


def reduced(verdicts: list[list[str | None]], **options) -> pl.DataFrame:
    rows = [
        {"item_id": f"q{item}", "replication": replication, "verdict": verdict}
        for item, replies in enumerate(verdicts)
        for replication, verdict in enumerate(replies)
    ]
    schema = {"item_id": pl.String, "replication": pl.Int64, "verdict": pl.String}
    return reduce_judgments(pl.LazyFrame(rows, schema=schema), **options)


def test_twelve_rows_print_a_table_a_person_understands(coefficients):
    text = printed(coefficients)
    lines = text.splitlines()
    assert lines[:5] == [
        "judge: [bold]j",
        "unit: item_id",
        "",
        "3 questions asked, each up to 4 times: 12 replies, valid verdicts 0.917",
        "[0.091, 1.000] [1]",
    ]
    # Agreeing pairs: 6, 3 and 1 of 6.
    assert lines[5].startswith(
        "Asked the same prompt again, this judge gives the same verdict 56 %"
    )
    counted, left_out = (
        text.index(f"{said}:")
        for said in (
            "a reply without a verdict counts as a verdict of its own",
            "replies without a verdict left out",
        )
    )
    by_name = {line.split("  ")[0]: line for line in text[counted:left_out].splitlines()}
    assert " 0.556 [0.000, 1.000] " in by_name["agreement"]
    assert by_name["agreement"].endswith("0.301        noise [1]")
    assert "(3 questions with two verdicts or more, 4 categories)" in by_name
    assert "(3 questions with two verdicts or more, 3 categories)" in text[left_out:]
    assert "[1] few informative questions: fewer than 10 questions show any disagreement" in text
    assert "noise floor: what a coefficient gives" in text
    assert "How to read it" in text


def test_of_ratings_only_what_is_in_the_table_is_explained():
    scores = {"item_id": [*"aabbcc"], "replication": [0, 1] * 3, "score": [4, 4, 2, 3, 1, 1]}
    text = printed(reduce_judgments(pl.LazyFrame(scores), coefficients=["icc1", "standard_error"]))
    legend = text[text.index("How to read it") :]
    assert "  ICC(1): 1 where a judge always agrees" in legend
    assert "points of the scale" in legend
    for absent in ("AC1", "kappa", "Brennan", "flip rate", "alpha"):
        assert absent not in text


def test_one_reason_for_all_is_said_once_and_nothing_explained():
    text = printed(reduced([["A"], ["B"]]))
    assert text.count("none: single replication") == 1
    assert text.count("[1]") == 2
    assert "How to read it" not in text


def test_nothing_is_wider_than_eighty_columns_or_cut(coefficients):
    names = ["krippendorff_alpha", "icc1", "majority_stability_11", "entropy_agreement"]
    several = [
        coefficients,
        reduced([["A"], ["B"]]),
        reduced([["A", "A"], ["A", "A"]]),
        reduced([[None, None]]),
        reduced([["A", "B"], ["B", "A"]], coefficients=names),
    ]
    for frame in several:
        text = printed(frame)
        assert max(map(len, text.splitlines())) <= 80
        assert "…" not in text


def test_questions_asked_and_questions_compared_are_named_apart():
    text = printed(reduced([["A", "B"], ["A", "A"], ["B"], ["A", None]]))
    assert "4 questions asked" in text
    assert "(3 questions with two verdicts or more, 3 categories" in text
    assert "(2 questions with two verdicts or more, 2 categories" in text


@pytest.mark.parametrize(
    ("verdicts", "reason", "meaning"),
    [
        ([["A"], ["B"]], "single replication", "every question was asked once, so nothing shows"),
        ([["A", "A"], ["A", "A"]], "no variance", "every verdict is the same one"),
        ([[None, None], [None]], "no verdicts", "no reply held a verdict"),
    ],
)
def test_each_reason_is_printed_and_explained(verdicts, reason, meaning):
    text = printed(reduced(verdicts, missing=["drop"]))
    assert f"none: {reason}" in text
    assert f"] {reason}: {meaning}" in " ".join(text.split())
    assert " nan" not in text


def test_noise_is_named_in_words():
    text = " ".join(printed(reduced([["A", "B"], ["A", "B"]])).split())
    assert (
        "That is not distinguishable from noise: these data do not show that the question matters"
        in text
    )
    assert '"noise": not distinguishable from noise; over 5 % of shuffles' in text


def test_what_looks_like_markup_stays_as_it_is(coefficients):
    assert "judge: [bold]j" in printed(coefficients)


def test_each_group_has_a_heading_and_tables_of_its_own(coefficients):
    two = pl.concat([coefficients, coefficients.with_columns(judge=pl.lit("[red]k"))])
    lines = printed(two).splitlines()
    assert "judge: [bold]j" not in lines
    assert lines.index("[bold]j") < lines.index("[red]k")
    assert sum(line.startswith("Krippendorff's alpha  ") for line in lines) == 4


def test_one_coefficient_of_many_groups_is_one_table(coefficients):
    alpha = coefficients.filter(coefficient="krippendorff_alpha")
    biased = pl.element() == "biased_at_this_size"  # two notes need more room
    alpha = alpha.with_columns(
        pl.col("flags").list.eval(pl.element().filter(~biased)),
        pl.col("flag_numbers").list.head(pl.col("flags").list.eval(~biased).list.sum()),
    )
    two = pl.concat([alpha, alpha.with_columns(judge=pl.lit("k"))])
    lines = printed(two).splitlines()
    assert "coefficient: Krippendorff's alpha" in lines
    assert "questions: 3" in lines
    assert lines[lines.index("") + 1].split() == [
        "judge", "no", "verdict", "value", "[95", "%]", "noise", "floor", "remark"
    ]  # fmt: skip
    assert sum(line.startswith(("[bold]j  ", "k  ")) for line in lines) == 4
    assert "categories: the verdicts" not in " ".join(lines)
    ac1 = two.with_columns(coefficient=pl.lit("gwet_ac1"), n_categories=pl.Series([4, 3, 4, 3]))
    heads = next(line for line in printed(ac1).splitlines() if line.startswith("judge "))
    assert "categories" in heads
    wide = pl.concat([alpha, alpha.with_columns(judge=pl.lit("k" * 60))])
    assert max(map(len, printed(wide).splitlines())) <= 80


def test_json_has_null_and_never_nan(coefficients):
    once = reduce_judgments(
        pl.LazyFrame({"item_id": ["q"], "replication": [0], "verdict": ["A"], "judge": ["j"]})
    )
    text = rows_json(pl.concat([coefficients, once]))
    rows = json.loads(text, parse_constant=lambda name: pytest.fail(name))
    assert rows == pl.concat([coefficients, once]).to_dicts()
    assert rows[-2]["value"] is None
    assert rows[-2]["undefined"] == "single_replication"


def test_nan_is_refused():
    with pytest.raises(ValueError):
        rows_json(pl.DataFrame({"value": [float("nan")]}))


def test_the_judge_that_is_not_given_is_said(tmp_path, capsys):
    rows = [
        {"item_id": f"q{n}", "replication": r, "judge": judge, "verdict": "AB"[(n + r) % 2]}
        for judge in ("a", None) for n in range(4) for r in range(2)
    ]  # fmt: skip
    file = tmp_path / "rows.parquet"
    pl.DataFrame(rows).write_parquet(file)
    assert main(["reduce", str(file), "--by", "judge", "--full"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert {"a", "judge not given"} <= set(lines)
    page = tmp_path / "page.html"
    assert main(["report", str(file), "--out", str(page)]) == 0
    assert "judge not given" in page.read_text("utf-8")
