"""What rows make doubtful of what their file says: in one line, and no number changes."""

import itertools
import shlex
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.cli import main
from judgerel_ray.core import ReadingWarning, SweepError


def said_of(rows, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        judgerel_ray.reduce(pl.DataFrame(rows), **options)
    return [str(one.message) for one in caught if one.category is ReadingWarning]


def asked(n_items, n_replications, **columns):
    item, replication = np.indices((n_items, n_replications)).reshape(2, -1)
    return {"item_id": [f"q{i:02}" for i in item], "replication": replication, **columns}


RATED = [str(1 + (i + n) % 5) for i in range(10) for n in range(3)]


@pytest.mark.slow
def test_numbers_read_as_names_are_said_and_the_advice_works(tmp_path, capsys):
    path = tmp_path / "rated.csv"
    pl.DataFrame(asked(10, 3, verdict=RATED)).write_csv(path)
    assert main(["reduce", str(path), "--format", "json"]) == 0
    line = capsys.readouterr().err
    assert line.startswith(
        "judgerel: all 5 different verdicts are numbers (1, 2, 3, 4, 5), read as"
    )
    page = tmp_path / "page.html"
    assert main(["report", str(path), "--out", str(page)]) == 0
    assert "read as names: 1 and 2 differ as much as 1 and 5" in page.read_text()
    capsys.readouterr()
    advice = "--column score=verdict"
    assert line.endswith(f"call the column score ({advice})\n")
    assert main(["reduce", str(path), *advice.split(), "--full"]) == 0
    shown = capsys.readouterr()
    assert "standard error of one rating" in shown.out
    assert "read as names" not in shown.err


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("columns", "options"),
    [
        ({"verdict": ["0", "1", "1"] * 10}, {}),  # of two values all levels agree
        ({"verdict": [*RATED[:-1], "good"]}, {}),
        ({"verdict": ["a/5", "b/5", "1/5"] * 10}, {}),
        ({"verdict": ["%", "1", "2"] * 10}, {}),
        ({"verdict": RATED, "score": [float(one) for one in RATED]}, {}),
        ({"verdict": RATED, "scale": ["points5"] * 30}, {}),  # which gives them scores
        ({"verdict": RATED, "n_options": [5] * 30}, {}),  # options that are called by numbers
        ({"verdict": RATED}, {"exact_values": True}),
    ],
)
def test_other_verdicts_are_no_numbers_read_as_names(columns, options):
    assert said_of(asked(10, 3, **columns), **options) == []


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("form", "order"),
    [("{}0%", "10%,20%,30%,40%,50%"), ("{}/5", "1/5,2/5,3/5,4/5,5/5"),
     ("{} / 5", "'1 / 5,2 / 5,3 / 5,4 / 5,5 / 5'")],
)  # fmt: skip
def test_numbers_with_a_sign_behind_them_are_said_and_the_advice_works(form, order, tmp_path):
    path, out = tmp_path / "rated.csv", tmp_path / "RATINGS.parquet"
    pl.DataFrame(asked(10, 3, verdict=[form.format(one) for one in RATED])).write_csv(path)
    with pytest.warns(ReadingWarning, match="all 5 different verdicts are numbers") as caught:
        judgerel_ray.reduce(path)
    advice = f"judgerel import table FILE --out RATINGS.parquet --order {order}"
    assert advice in str(caught[0].message)
    words = {"FILE": str(path), "RATINGS.parquet": str(out)}
    assert main([words.get(one, one) for one in shlex.split(advice)[1:]]) == 0
    assert pl.read_parquet(out)["score"].to_list() == [float(one) - 1 for one in RATED]
    with warnings.catch_warnings():
        warnings.simplefilter("error", ReadingWarning)
        judgerel_ray.reduce(out)


@pytest.mark.parametrize("most", [10, 20, 21])
def test_the_order_advised_is_whole_or_said_in_words(most, tmp_path):
    """Of more than six only the first and the last were written, and the command failed."""
    path, out = tmp_path / "rated.csv", tmp_path / "RATINGS.parquet"
    rated = [1 + i % most for i in range(3 * most)]
    rows = asked(most, 3, verdict=[f"{one}/{most}" for one in rated])
    pl.DataFrame(rows).write_csv(path)
    line = next(one for one in said_of(rows) if "are numbers" in one)
    in_words = "(judgerel import table FILE --out RATINGS.parquet and --order with all of them, "
    assert "..." not in line
    assert (f"{in_words}lowest first)" in line) == (most > 20)
    if most <= 20:
        words = {"FILE": str(path), "RATINGS.parquet": str(out)}
        command = shlex.split(line.partition("(judgerel ")[2].removesuffix(")"))
        assert main([words.get(one, one) for one in command]) == 0
        assert pl.read_parquet(out)["score"].to_list() == [float(one) - 1 for one in rated]


def test_ratings_off_their_scale_are_counted():
    scores = [float(one) for one in RATED]
    scores[:3] = 9.0, 0.0, 1.5
    (line,) = said_of(asked(10, 3, score=scores, scale=["points5"] * 30))
    assert line.startswith(
        "3 of 30 ratings are off scale points5, which has 1 to 5: 0 (1), 1.5 (1), 9 (1)"
    )
    assert said_of(asked(10, 3, score=scores, scale=["of our own"] * 30)) == []
    words = ["Agree", "Neutral", "9"] * 10
    (line,) = said_of(asked(10, 3, verdict=words, scale=["likert5"] * 30))
    assert line.startswith("10 of 30 ratings are off scale likert5, which has 0 to 4: 9 (10);")
    assert said_of(asked(10, 3, score=scores, role=["responder"] * 3 + ["judge"] * 27,
                         scale=["points5"] * 30)) == []  # fmt: skip


def tied(n_options, verdicts=("A", "B", "tie"), orders=2, **columns):
    told = list(itertools.islice(itertools.cycle(verdicts), 12 * orders))
    order = np.tile(np.arange(orders), 12)
    rows = asked(12, orders, verdict=told, option_order=order, n_options=[n_options] * len(told))
    return {**rows, **columns}


def test_a_tie_counted_as_an_option_is_said():
    (line,) = said_of(tied(3), verdict_names="option")
    assert line == (
        "n_options says 3, and verdicts name 2 at most, and tie: a tie is no option; if 3 counts "
        "it, write 2"
    )
    assert said_of(tied(2), verdict_names="option") == []


@pytest.mark.alike(2)
@pytest.mark.parametrize(
    "rows",
    [
        tied(3, ("A", "B", "C")),  # no tie
        tied(3, ("A", "B", "C", "tie")),
        tied(3, orders=3),  # two options have two orders
        tied(2, ("x", "y", "z", "tie")),
    ],
)
def test_options_that_fit_are_believed(rows):
    assert not [one for one in said_of(rows, verdict_names="option") if "a tie is no" in one]


def test_options_of_each_question_alone_are_counted():
    verdicts = [f"{i}{'ab'[n]}" if i else "tie" for i in range(12) for n in range(2)]
    rows = {**tied(3), "verdict": verdicts}
    (line,) = [one for one in said_of(rows, verdict_names="option") if "a tie is no" in one]
    assert "verdicts name 2 at most" in line


def test_doubts_of_each_benchmark(tmp_path):
    rows = pl.concat(
        [
            pl.DataFrame(tied(n)).with_columns(benchmark=pl.lit(name))
            for n, name in ((3, "pairs"), (2, "duels"))
        ]
    )
    path = Path(tmp_path, "two.csv")
    rows.write_csv(path)
    with pytest.warns(ReadingWarning, match="n_options of pairs says 3"):
        judgerel_ray.reduce(path, verdict_names="option")


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("judge_model", ["gpt", "claude"], "call it judge if it says who judged"),
        ("prompt", ["Which?", "Which one?"], "number its values in a column template"),
        ("question", ["Which?", "Which one?"], "number its values in a column template"),
        ("prompt_id", [7, 8], "number its values in a column template"),
        ("model_a", ["x", "y"], "number orders of the options in a column option_order"),
        ("swapped", [False, True], "were shown, number its values in a column option_order"),
        ("order", ["AB", "BA"], "were shown, number its values in a column option_order"),
        ("position", [0, 1], "were shown, number its values in a column option_order"),
    ],
)
def test_a_column_that_tells_repeats_apart_and_is_not_read_is_said(name, values, said):
    rows = asked(6, 2, verdict=["A", "B"] * 6)
    (line,) = said_of({**rows, name: values * 6})
    assert line.startswith(f"column {name} is not read, and rows that count as repeats of each")
    assert line.endswith(said)
    # The same of every repeat of a question, or read by its own name, it is no doubt.
    assert said_of({**rows, name: np.repeat(["a", "b"], 6)}) == []
    if name == "judge_model":
        assert said_of({**rows, name: values * 6, "judge": values * 6}) == []
        assert said_of({**rows, name: values * 6}, by="judge_model") == []


@pytest.mark.slow
def test_a_judges_own_reply_and_running_numbers_are_no_doubt():
    rows = asked(20, 3, verdict=["A", "B", "A"] * 20)
    for name in ("response", "answer", "order", "position"):
        assert said_of({**rows, name: list(range(60))}) == []


def test_a_column_in_another_case_is_said():
    rows = asked(6, 2, verdict=["A", "B"] * 6)
    assert said_of({**rows, "Gold": ["A"] * 12}) == [
        "column 'Gold' is not read: in lower case it would be gold"
    ]
    assert said_of({**rows, "Verdict": ["A"] * 12}) == [
        "column 'Verdict' is not read; verdict is read: in lower case it would be verdict"
    ]


def test_verdict_and_score_that_differ_are_said():
    verdict, score = ["pass", "fail"] * 6, [1.0, 2.0, 3.0, 4.0] * 3
    (line,) = said_of(asked(6, 2, verdict=verdict, score=score))
    assert line.startswith("a row has a verdict and a score of its own: agreement, flip rate and")
    (line,) = said_of(asked(6, 2, verdict=verdict, score=[5.0, 5.0, 4.0] * 4))
    assert "of its own (score 4 stands beside verdicts fail, pass): agreement" in line
    assert said_of(asked(6, 2, verdict=verdict, score=[1.0, 0.0] * 6)) == []


def test_a_score_of_minus_one_below_all_others_is_said():
    (line,) = said_of(asked(6, 2, score=[-1.0, 3.0, 4.0, 5.0] * 3))
    assert line.startswith("score -1 (3) is below all others, which are 3 to 5; counted as")
    assert said_of(asked(6, 2, score=[-1.0, 0.0, 1.0, -2.0] * 3)) == []
    assert said_of(asked(6, 2, score=[-1.0, 0.0, 1.0] * 4)) == []


def test_items_called_by_no_value_and_by_zeros_are_said():
    rows = asked(6, 2, verdict=["A", "B"] * 6)
    rows["item_id"] = ["nan" if one == "q00" else one for one in rows["item_id"]]
    assert said_of(rows) == [
        "counted as a question: 'nan'; if it stands for no id, give its rows theirs or leave them "
        "out"
    ]
    names = ["1", "001", "2", "02", "0.05", "0.5"]
    assert said_of({**rows, "item_id": list(np.repeat(["1.1", "1.10", *"abcd"], 2))}) == []
    rows["item_id"] = list(np.repeat(names, 2))
    assert said_of(rows) == [
        "items kept apart that differ in spelling alone: '001' and '1'; '02' and '2'"
    ]


def test_words_of_failures_are_said_though_they_count():
    (line,) = said_of(
        asked(6, 2, verdict=["A", "$ERROR$", "B", "Error: timeout", "refused", "A"] * 2)
    )
    assert line == (
        "counted as verdicts: $ERROR$ (2), Error: timeout (2), refused (2); leave empty what "
        "stands for none"
    )
    for menu in (["passed", "failed"], ["valid", "invalid"], ["A", "Unknown", "B"]):
        assert said_of(asked(6, 2, verdict=(menu * 6)[:12])) == []


def test_gold_that_one_row_of_a_question_states_is_of_its_other_rows(tmp_path):
    gold = ["A", None, None, "B", "", None, None, None, None]
    rows = asked(3, 3, verdict=[*"AAAAAABBB"], gold=gold)
    line = (
        "gold is empty in 4 rows of 2 questions that have it in another row, and is taken from "
        "there"
    )
    with pytest.warns(ReadingWarning, match=line):
        found = judgerel_ray.questions(pl.DataFrame(rows))
    assert found["accuracy"].to_list() == [1.0, 0.0, None]
    assert found["majority_right"].to_list()[:2] == [1.0, 0.0]
    full = {**rows, "gold": ["A"] * 3 + ["B"] * 3 + [None] * 3}
    assert found.equals(judgerel_ray.questions(pl.DataFrame(full)))
    path = tmp_path / "once.csv"
    pl.DataFrame(rows).write_csv(path)
    with pytest.warns(ReadingWarning, match=line):
        said = judgerel_ray.select(str(path)).systems
    assert said.select("n_right", "n_answers").row(0) == (3, 6)


@pytest.mark.slow
@pytest.mark.parametrize("column", ["criterion", "responder"])
def test_gold_of_one_criterion_or_answer_is_not_that_of_another(column):
    rows = asked(4, 2, verdict=[*"ABABABAB"], gold=["A", None] * 4)
    rows[column] = ["one", "other"] * 4
    assert said_of(rows, coefficients="accuracy") == []
    found = judgerel_ray.questions(pl.DataFrame(rows), by=column)
    assert found.filter(pl.col(column) == "other")["accuracy"].to_list() == [None] * 4


def by_question(menus, n=4, seed=3):
    """Verdicts drawn at random, each question's from a menu of its own."""
    rng = np.random.default_rng(seed)
    return asked(len(menus), n, verdict=[str(rng.choice(one)) for one in menus for _ in range(n)])


def test_questions_with_verdicts_of_their_own_are_said():
    two_menus = by_question([["pass", "fail"]] * 15 + [["yes", "no", "tie"]] * 15)
    (line,) = said_of(two_menus)
    assert line.startswith("2 groups of questions share no verdict ('fail', 'pass'; 'no', 'yes'):")
    names = [f"m{n}" for n in range(9)]
    of_pairs = [[names[n % 9], names[(n + 1 + n // 9) % 9]] for n in range(45)]
    (line,) = said_of(by_question(of_pairs))
    assert line.startswith("no question has more than 2 of the 9 verdicts: chance agreement is")
    (line,) = said_of(by_question([[f"m{n}", f"k{n}"] for n in range(12)]))
    assert line.startswith("11 groups of questions share no verdict ('k0', 'm0'; 'k1', 'm1'; ...)")


@pytest.mark.slow
def test_questions_that_share_verdicts_or_are_answered_in_one_way_are_not():
    menus = [["pass", "fail"]] * 15 + [["yes", "no"]] * 15
    assert said_of({**by_question(menus), "benchmark": list(np.repeat(["x", "y"], 60))}) == []
    assert said_of(by_question([["pass", "fail", "yes", "no"]] * 30)) == []
    assert said_of(by_question([*menus, ["fail", "yes"]], n=30)) == []  # one that links them
    stray = [["a", "b", "c", "d"]] * 30 + [["e", "f"]] * 2  # nearly all share theirs
    assert said_of(by_question(stray)) == []
    words = ["awful", "bad", "fair", "good", "great"]
    assert said_of(by_question([[one] for one in words * 6])) == []
    near = [words[n % 4 : n % 4 + 2] for n in range(40)]
    assert said_of(by_question(near)) == []
    strengths = by_question([["A>B", "A>>B"]] * 15 + [["B>A", "B>>A"]] * 15)
    assert said_of(strengths) == []
    assert said_of(by_question([["poor", "fair"]] * 15 + [["good", "excellent"]] * 15)) == []
    grades = ["A+", "A", "A-", "B+", "B", "B-", "C+", "C", "C-", "D", "F"]
    assert said_of(by_question([grades[n % 10 : n % 10 + 2] for n in range(60)])) == []
    tenths = by_question([[f"{n % 9 + 1}/10", f"{n % 9 + 2}/10"] for n in range(60)])
    assert len(said_of(tenths)) == 1  # that they are numbers, alone
    classes = by_question([[f"c{n % 12}"] * 9 + [f"c{m}" for m in range(12)] for n in range(40)])
    assert said_of(classes) == []


@pytest.mark.slow
def test_a_column_that_takes_the_place_of_the_verdict_halfway_is_said(tmp_path, capsys):
    path = tmp_path / "log.jsonl"
    keys = ["verdict"] * 9 + ["judgment"] * 3
    rows = [f'{{"item_id": "q{n // 3}", "replication": {n % 3}, "{key}": "{"AB"[n % 2]}"}}'
            for n, key in enumerate(keys)]  # fmt: skip
    path.write_text("\n".join(rows))
    with pytest.warns(ReadingWarning, match="column judgment is not read, and is filled in 3 of 3"):
        judgerel_ray.reduce(str(path))
    assert main(["import", "table", str(path), "--out", str(tmp_path / "log.parquet")]) == 0
    assert "column judgment is not read, and is filled in 3 of 3" in capsys.readouterr().err
    scored = asked(6, 2, score=[1.0, 2.0] * 5 + [None] * 2, rating=[None] * 10 + [1.0, None])
    (line,) = said_of(scored)
    assert line == (
        "column rating is not read, and is filled in 1 of 2 rows without a score and in no other: "
        "if it holds the score there, move that into the column score"
    )
    half = asked(6, 2, verdict=[*"ABABABABAB", None, None])
    for decision in (["text"] * 12, [None] * 9 + ["text"] * 3, ["text"] * 9 + [None] * 3):
        assert said_of({**half, "decision": decision}) == []
    assert said_of({**half, "decision": [None] * 10 + ["n/a", " "]}) == []
    assert said_of({**half, "answer": [None] * 9 + ["text"] * 3}) == []


@pytest.mark.slow
def test_scores_of_two_scales_in_one_column_are_said():
    fives, hundreds = [1.0, 2.0, 3.0, 4.0, 5.0], [20.0, 40.0, 60.0, 80.0, 100.0]
    line = (
        "scores may be of two scales: 1 to 5 (30) and 20 to 100 (30), and none between them; "
        "counted as written; rate on one scale, or name that of each row in a column scale"
    )
    assert said_of(asked(20, 3, score=(fives + hundreds) * 6)) == [line]
    assert said_of(asked(20, 3, score=fives * 6 + hundreds * 6)) == [line]
    (line,) = said_of(asked(20, 3, score=[1.0, 2.0] * 15 + [50.0, 100.0] * 15))
    assert line.startswith("scores may be of two scales: 1 to 2 (30) and 50 to 100 (30),")
    names = ["five"] * 30 + ["hundred"] * 30
    for column in ("judge", "scale", "criterion"):
        rows = asked(20, 3, score=fives * 6 + hundreds * 6, **{column: names})
        assert said_of(rows) == []


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    "scores",
    [
        [0.0, 5.0, 10.0, 85.0, 90.0, 95.0],  # both ends of one scale
        [1.0, 2.0, 3.0, 8.0, 9.0, 10.0],
        [1.0, 2.0, 5.0, 10.0, 20.0, 50.0],
        [0.0, 0.25, 0.5, 0.75, 1.0, 2.0],
        [1.0, 2.0, 6.0, 10.0, 6.0, 10.0],
        [1.0, 5.0, 50.0, 100.0, 1.0, 5.0],
        [0.01, 0.03, 0.05, 0.7, 0.8, 0.95],  # a chance, sure at both ends
        [5.0, 10.0, 15.0, 60.0, 80.0, 95.0],
    ],
)
def test_scores_of_one_scale_are_not(scores):
    assert said_of(asked(20, 3, score=scores * 10)) == []
    few = [1.0, 2.0, 3.0, 4.0, 5.0] * 11 + [20.0, 60.0, 100.0, 3.0, 4.0]
    assert said_of(asked(20, 3, score=few)) == []


@pytest.mark.parametrize(("out_of", "n"), [([5.0, 10.0, 5.0, 5.0], 1), ([5.0, None, 5.0, 5.0], 0)])
def test_several_denominators_in_a_group_are_doubted(out_of, n):
    rows = asked(2, 2, score=[4.0, 8.0, 3.0, 2.0], out_of=out_of)
    lines = [one for one in said_of(rows) if "are out of" in one]
    assert len(lines) == n
    assert n == 0 or "5 (3) and 10 (1)" in lines[0]


@pytest.mark.slow
@pytest.mark.parametrize("first", ["0", 0], ids=["text", "number"])
def test_a_repeat_joined_with_two_golds_is_no_two_repeats(tmp_path, first):
    each = [
        {"item_id": f"q{n}", "replication": first, "verdict": "AB"[n % 2], "gold": gold}
        for n in range(8) for gold in ("AB" if n else "BA")
    ]  # fmt: skip
    path = str(tmp_path / "joined.parquet")
    pl.DataFrame(each).write_parquet(path)
    for source in (path, pl.DataFrame(each), pl.DataFrame(each[:2])):
        with pytest.raises(SweepError, match="rows of one repeat differ in column gold"):
            judgerel_ray.reduce(source)
    once = [{**row, "replication": n} for n, row in enumerate(each)]
    pl.DataFrame(once).write_parquet(path)
    with pytest.warns(ReadingWarning, match="gold differs between the rows of one question"):
        judgerel_ray.reduce(path)
