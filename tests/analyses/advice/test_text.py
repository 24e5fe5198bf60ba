"""Advice and comparisons as text and JSON: every number there, nothing twice, reasons in words."""

import json
import re

import numpy as np
import polars as pl
import pytest

from judgerel_ray.analyses.advice.advice import advise_judgments
from judgerel_ray.analyses.advice.short import _COLUMNS, HEADS_NOTE, advised_short
from judgerel_ray.analyses.advice.show import advice_text, unreached
from judgerel_ray.analyses.advice.tables import Needs
from judgerel_ray.analyses.comparison.comparison import compare_judgments
from judgerel_ray.analyses.comparison.show import comparison_text
from judgerel_ray.blocks.result import tables_json
from judgerel_ray.blocks.terminal import printed


@pytest.fixture(scope="module")
def judged():
    rng = np.random.default_rng(1)
    tables = []
    for judge in ("calm", "wild"):
        shares = np.random.default_rng(2).dirichlet([0.5, 0.5], 12)
        verdict = np.concatenate([rng.choice(["A", "B"], 3, p=p) for p in shares])
        tables.append(
            pl.DataFrame({"item_id": np.repeat(np.arange(12), 3).astype(str), "judge": judge,
                          "temperature": 1.0, "replication": np.tile([0, 1, 2], 12),
                          "verdict": verdict, "prompt_tokens": 1000, "completion_tokens": 5})
        )  # fmt: skip
    return pl.concat(tables).lazy()


def column(text, head):
    """Everything that stands in a column, whatever lines it is wrapped over."""
    lines = text.splitlines()
    first = next(i for i, line in enumerate(lines) if head in re.split("  +", line))
    start = lines[first].index(head)
    rest = lines[first][start + len(head) :]
    stop = start + len(head) + len(rest) - len(rest.lstrip()) if rest.strip() else None
    return " ".join(" ".join(line[start:stop] for line in lines[first + 1 :]).split())


@pytest.mark.slow
def test_advice_answers_each_question_once(judged):
    text = advice_text(advise_judgments(judged).tables())
    titles = [part.splitlines()[0] for part in text.split("\n\n")]
    assert titles == [
        "What verdicts vary with [temperature 1]",
        "What more judgments of a question are worth [temperature 1]",
        "What the targets take [temperature 1]",
        "How to split the budget between questions and replications [temperature 1]",
        "The judges as a panel [temperature 1]",
    ]
    # Each is explained below it, in the words of its heads.
    assert [part.splitlines()[-1][-1] for part in text.split("\n\n")] == ["."] * 5
    assert "\ncalm   question  " in text
    assert "GPU-seconds  " not in text
    assert text.count("<- best") == 2
    assert "no gold" in text
    assert "None" not in text
    assert "nan" not in text
    for line in text.splitlines():
        assert line == line.rstrip()


def test_what_is_out_of_reach_says_why(judged):
    advice = advise_judgments(judged, target={"interval_width": 0.001})
    text = advice_text({"needs": advice.needs})
    assert "out of reach" in column(text, "needed")
    assert "too few questions, however often they are asked" in column(text, "cost")


def test_what_was_asked_once_is_not_known_rather_than_out_of_reach():
    rows = {"item_id": ["q", "r", "s"], "replication": [0, 0, 0], "verdict": list("ABA")}
    text = advice_text({"needs": advise_judgments(pl.LazyFrame(rows)).needs})
    assert column(text, "needed").startswith("not known")
    assert column(text, "cost").startswith("single replication")
    assert "out of reach" not in text


def test_a_small_p_is_not_printed_as_nothing():
    rng = np.random.default_rng(3)
    coin = rng.choice(["A", "B"], 160)
    steady = np.repeat(rng.choice(["A", "B"], 40), 4)
    steady[::16] = "B"
    rows = pl.DataFrame(
        {"item_id": np.tile(np.repeat(np.arange(40), 4), 2), "replication": [0, 1, 2, 3] * 80,
         "judge": ["coin"] * 160 + ["steady"] * 160, "verdict": np.concatenate([coin, steady])}
    )  # fmt: skip
    text = comparison_text(compare_judgments(rows.lazy(), by=["judge"]))
    assert " <.001  " in text
    assert " 0.000 " not in text
    assert "\nKrippendorff's  " in text


def test_a_negative_component_is_remarked_on():
    rows = {"item_id": ["q", "q", "r", "r"], "replication": [0, 1] * 2, "verdict": list("ABAB")}
    text = advice_text(advise_judgments(pl.LazyFrame(rows)).tables())
    assert "below 0\n" in text
    assert "below 0 by chance counts as 0 in the tables that follow" in " ".join(text.split())
    needs = text[text.index("What the targets take") :]
    assert "questions do not differ more than chance" in column(needs, "cost")


def test_comparisons_print_what_was_compared(judged):
    found = compare_judgments(judged, by=["judge"])
    lines = comparison_text(found).splitlines()
    assert lines[0] == "difference (b − a) on shared questions [temperature 1]"
    text = "\n".join(lines)
    assert "Holm and FDR correct p for all tests of this table" in " ".join(text.split())
    row = found.row(0, named=True)
    ends = f"{row['difference']:.3f} [{row['low']:.3f}, {row['high']:.3f}]"
    assert ends in column(text, "b - a [95 %]")
    assert lines[1].startswith("coefficient ")
    said = (
        "a calm, b wild, no verdict counts as a verdict, two judgments same prompt "
        "(repeatability), questions 12, remark undecided: few"
    )
    assert f"{said} informative questions:" in " ".join(text.split())


@pytest.mark.slow
def test_everything_fits_80_columns(judged):
    """Three facets, long names, groups, policies: no number lost, no interval cut in two."""
    long = judged.with_columns(
        judge=pl.lit("an-organisation/") + pl.col("judge") + "-judge-13b-instruct",
        benchmark=pl.lit("bbh"),
        template=pl.lit("t").add((pl.col("replication") % 2).cast(pl.String)),
        verdict=pl.when(pl.col("item_id") != "3").then("verdict"),
    )
    both = pl.concat([long, long.with_columns(benchmark=pl.lit("squad"))])
    parts = [
        advice_text(advise_judgments(both, costs={}).tables()),
        comparison_text(compare_judgments(both, by=["judge"])),
    ]
    for line in "\n".join(parts).splitlines():
        assert len(line) <= 80, line
        assert line.count("[") == line.count("]"), line
    needs = parts[0][parts[0].index("What the targets take") :]
    assert "judgments" in column(needs, "cost")


def in_both_orders(judge, pull, seed, templates=1):
    """Verdicts of pairs in both orders, three times each."""
    rng = np.random.default_rng(seed)
    first = rng.choice([-pull, pull], 60)
    logits = rng.normal(0, 1.5, 60)[:, None] + first[:, None] * np.array([1, -1])
    chosen = rng.random((60, 2, templates, 3)) < 1 / (1 + np.exp(-logits))[..., None, None]
    q, o, t, r = (axis.ravel() for axis in np.indices(chosen.shape))
    return pl.DataFrame(
        {"judge": judge, "item_id": q.astype(str), "option_order": o, "template": t.astype(str),
         "replication": r, "verdict": np.where(chosen.ravel(), "x", "y")}
    )  # fmt: skip


def test_orders_of_a_pair_are_told_as_two_and_never_as_new_each_time():
    advice = advise_judgments(in_both_orders("j", 1.5, 1).lazy(), target={"generalizability": 0.9})
    text = advice_text(advice.tables())
    needs = text[text.index("What the targets take") :]
    assert "option_order: 2 of 2 possible, each asked half of the time" in column(needs, "by")
    assert "a new option_order" not in text
    components = text[: text.index("\n\n")]
    assert re.search(r"option order .* 2 of 2", components)
    said = " ".join(text.split())
    drawn, again = re.search(
        r"One judgment, its reliability for ranking questions: (0\.\d+) \[.{12}\] "
        r"with its option_order drawn at random "
        r"\(reproducibility\), (0\.\d+) \[.{12}\] where all keep one order and wording "
        r"\(repeatability of the ranking\)\.",
        said,
    ).groups()
    one = advice.designs.filter(n_judgments=1, design="replications").row(0, named=True)
    assert float(drawn) == pytest.approx(one["generalizability"], abs=5e-4)
    assert float(again) == pytest.approx(one["repeatability"], abs=5e-4)


@pytest.mark.slow
def test_where_the_number_of_options_is_open_it_is_asked_for():
    """Options named apart in every question, without the labels that were shown."""
    rows = in_both_orders("j", 1.0, 1)
    named = rows.with_columns(verdict=pl.format("{}{}", "verdict", pl.col("item_id").str.tail(1)))
    named = named.filter(pl.col("item_id").str.tail(1).is_in(["0", "1"]))
    words = "a new option_order each time (if there are N: --facet-size option_order=N)"
    needs = advice_text({"needs": advise_judgments(named.lazy()).needs})
    assert words in column(needs, "by")
    shown = named.with_columns(label=pl.col("verdict").str.slice(0, 1))
    needs = advice_text({"needs": advise_judgments(shown.lazy()).needs})
    assert "option_order: 2 of 2 possible" in column(needs, "by")


@pytest.mark.slow
def test_what_one_judgment_is_worth_is_said_for_every_judge_and_where_nothing_varied(judged):
    both = pl.concat([in_both_orders("even", 0.0, 1), in_both_orders("pulled", 2.5, 2)])
    said = " ".join(advice_text(advise_judgments(both.lazy()).tables()).split())
    assert "One judgment, its reliability for ranking questions: even: 0." in said
    assert "; pulled: 0." in said
    plain = " ".join(advice_text(advise_judgments(judged).tables()).split())
    assert "another template does, or another order where options are compared, was not" in plain
    once = both.filter(pl.col("replication") == 0)
    said = " ".join(advice_text(advise_judgments(once.lazy()).tables()).split())
    assert "(reproducibility); the same prompt was not asked again" in said


@pytest.mark.slow
def test_two_templates_have_numbers_without_intervals_and_the_reason():
    rows = in_both_orders("a-7b-instruct", 1.0, 3, templates=2)
    tables = advise_judgments(rows.lazy()).tables()
    text = advice_text(tables)
    assert "[too few levels]" in column(text, "estimate [95 %]")
    assert "[too few levels]" in column(text, "ranking [95 %]")
    needs = text[text.index("What the targets take") :]
    assert "a new template each time; option_order: 2 of 2 possible" in column(needs, "by")
    for line in text.splitlines():
        assert len(line) <= 80, line
        assert line.count("[") == line.count("]"), line


@pytest.mark.slow
def test_json_holds_every_number(judged):
    tables = advise_judgments(judged).tables()
    content = json.loads(tables_json(tables))
    assert list(content) == ["components", "designs", "needs", "splits", "panel"]
    for name, table in tables.items():
        assert content[name] == table.to_dicts()


@pytest.mark.slow
def test_a_remark_on_a_component_parts_no_group():
    rows = [
        {"judge": judge, "item_id": f"q{i}", "template": template, "temperature": heat,
         "replication": r, "verdict": "AB"[(i + r * (judge == "one") + i * r) % 2]}
        for judge in ("one", "a-judge-of-a-long-name-that-takes-its-room") for heat in (0.5, 1.0)
        for template in ("default", "paraphrase") for i in range(12) for r in range(3)
    ]  # fmt: skip
    components = advise_judgments(pl.LazyFrame(rows)).components
    text = advice_text({"components": components})
    assert "below 0" in text
    heads = [line for line in text.splitlines() if line.endswith(":")]
    assert len(heads) == len(set(heads)) == 4
    assert not any("remark" in line for line in heads)


def of_replies(verdicts):
    """Twelve questions, three replies each, of two judges."""
    rows = [
        {"item_id": f"q{q}", "judge": judge, "replication": n, "verdict": verdicts(judge, q, n)}
        for q in range(12) for judge in ("calm", "wild") for n in range(3)
    ]  # fmt: skip
    return pl.LazyFrame(rows)


def test_why_there_is_no_difference_is_said_in_words():
    rows = of_replies(lambda judge, q, n: "A" if judge == "calm" else "AB"[(q + n) % 2])
    text = comparison_text(compare_judgments(rows, by=["judge"]))
    assert "a has no value" in text
    assert "undecided: no value, or no test of it" in " ".join(text.split())
    assert "undefined" not in text


def test_few_verdicts_are_said_once_a_group():
    rows = of_replies(lambda _judge, _q, n: None if n else "A")
    advice = advice_text(advise_judgments(rows).tables())
    compared = comparison_text(compare_judgments(rows, by=["judge"]))
    for text in (advice, compared):
        told = " ".join(text.split())
        assert told.count("12 of 36") == 2, told  # a judge, a number
        assert "few verdicts: 12" not in told


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"unreachable": "not_known", "n_replications": 1, "n_questions": 20},
         "1 replication of 20 questions cannot show it"),
        ({"unreachable": "not_known_from_more", "n_replications": 2, "n_questions": 20,
          "design_replications": 51, "design_questions": 320},
         "2 replications of 20 questions cannot show it, "
         "nor could 51 replications of 320 questions"),
        ({"unreachable": "known_from_more", "n_replications": 2, "n_questions": 20,
          "design_replications": 5, "design_questions": 20},
         "2 replications of 20 questions cannot show it; 5 replications would"),
        ({"unreachable": "error_stays", "error_of": None}, "the error of one facet stays"),
        ({"unreachable": "too_many_votes"}, "not within 51 votes"),
        ({"unreachable": "no_variance"}, "no variance"),
    ],
)  # fmt: skip
def test_why_no_purchase_reaches_a_target_in_words(row, words):
    assert unreached(row) == words
    empty = {**dict.fromkeys(Needs.columns), "target": "majority_stability", "now": 0.8}
    needed = advice_text({"needs": Needs.frame([empty | row])})
    known = "cannot show it" in words
    assert column(needed, "needed").startswith("not known" if known else "out of reach")


def short_words(rows, **about):
    tables = advise_judgments(rows, target={"generalizability": 0.9}).tables()
    return " ".join(printed(advised_short(tables, None, **about)).split())


@pytest.mark.slow
def test_short_advice_names_orders_where_options_have_any_alone(judged):
    words = short_words(judged)
    assert "reproducibility is unknown: ask a second template, too" in words
    assert "a panel of 2 judges: worth not known (no right verdicts); two such agree" in words
    several = short_words(judged, has_options=True)
    assert "in another order, too (option_orders = 2), or with a second template" in several


def test_short_advice_on_questions_asked_once_says_that_nothing_can_be_said(judged):
    said = short_words(judged.filter(pl.col("replication") == 0))
    assert "each question was asked once, so nothing can be said" in said
    assert "confounded" not in said
    assert "needed" not in said


def test_every_head_of_short_advice_is_explained():
    explained = " ".join(HEADS_NOTE.split())
    for head in _COLUMNS:
        assert head.removesuffix(" [95 %]") in explained
