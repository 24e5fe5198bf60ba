"""Rows and columns of a sheet that may be repeats, copies, judges or something else."""

import json
import shlex

import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.cli import main
from judgerel_ray.core import ReadingWarning, SweepError
from judgerel_ray.core.verb import Labelled, Named
from judgerel_ray.counting.snapshot import Snapshot

pytestmark = pytest.mark.filterwarnings("ignore::judgerel_ray.ReadingWarning")
CLOCK = "2026-01-01T10:00:0"


def read(tmp_path, text, name="t.csv", **options):
    """Rows as they were read, and what was said of it."""
    path = tmp_path / name
    path.write_text(text)
    with Snapshot.open(str(path), Labelled(**options)) as judged:
        return judged.frame.collect(), " | ".join(judged.notes)


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("text", "n_rows"),
    [
        # A day, or the time of a batch, is that of many requests: equal rows are repeats.
        ("id,verdict,date\n" + "q,x,2026-01-01\n" * 3 + "r,x,2026-01-01\nr,y,2026-01-01\n", 5),
        ("id,verdict,time\n" + f"q,x,{CLOCK}1\n" * 2 + f"q,y,{CLOCK}1\nr,x,{CLOCK}1\n", 4),
        # A clock time that no rows share which differ, or the id of a request, tells copies.
        ("id,verdict,time\n" + f"q,x,{CLOCK}1\n" * 2 + f"q,y,{CLOCK}2\nr,x,{CLOCK}3\n", 3),
        ("id,verdict,request_id\nq,x,a\nq,x,a\nq,y,b\nr,x,c\n", 3),
        ("id,verdict,request_id\nq,x,a\nq,x,a\nq,y,a\nr,x,c\n", 4),
    ],
)
def test_equal_rows_are_copies_only_where_a_column_tells_requests_apart(tmp_path, text, n_rows):
    rows, said = read(tmp_path, text)
    assert rows.height == n_rows
    assert ("left out as copies" in said) == (n_rows == 3)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        # Numbered columns beside a column that numbers repeats, or beside numbered answers.
        ("id,run,score1,score2\nq,0,3,4\nq,1,3,2\n", "several columns may hold"),
        ("id,model_1,model_2,score_1,score_2\nq,a,b,3,4\nr,a,b,2,4\n", "several columns may hold"),
        # What was judged, or the judge's own words: its name does not say which.
        ("id,verdict,answer\nq,x,one\nq,y,two\nr,x,one\nr,x,two\n", "--column item_id=id,answer"),
        ("id,verdict,place\nq,x,x-1\nq,y,y-1\nr,x,x-1\nr,y,y-1\n", "differ in column place"),
    ],
)  # fmt: skip
def test_what_may_be_something_else_than_repeats_is_asked(tmp_path, text, words):
    with pytest.raises(SweepError) as refused:
        read(tmp_path, text)
    assert words in str(refused.value)


def test_columns_of_people_are_no_judges_side_by_side(tmp_path):
    rows, said = read(tmp_path, "id,gpt-4o_score,claude_score,human_score\nq,3,4,1\nr,2,4,1\n")
    assert sorted(rows["score"]) == [2, 3, 4, 4]
    assert "human_score (what people said: --column gold=human_score takes it as right)" in said


@pytest.mark.parametrize(("value", "read_as"), [("null", [None]), ("[]", [])])
def test_a_list_that_is_missing_is_a_row_without_verdict_and_an_empty_one_is_said(
    tmp_path, value, read_as
):
    text = f'{{"id": "q", "votes": ["x", "y"]}}\n{{"id": "r", "votes": {value}}}\n'
    rows, said = read(tmp_path, text, "t.jsonl", columns={"verdict": "votes.*"})
    assert rows.filter(item_id="q")["verdict"].to_list() == ["x", "y"]
    assert rows.filter(item_id="r")["verdict"].to_list() == read_as
    assert ("1 row with an empty list: no judgment" in said) == (value == "[]")


def test_lists_of_one_row_that_differ_in_length_are_refused(tmp_path):
    row = {"id": "q", "votes": ["x", "y", "x"], "who": ["a", "b"]}
    stated = {"verdict": "votes.*", "judge": "who.*"}
    with pytest.raises(SweepError, match="lists of one row differ in length"):
        read(tmp_path, json.dumps(row), "t.jsonl", columns=stated)


def test_judges_inside_lists_number_repeats_of_each(tmp_path):
    votes = [{"judge": "a", "winner": "x"}, {"judge": "b", "winner": "y"},
             {"judge": "a", "winner": "y"}]  # fmt: skip
    lines = "\n".join(json.dumps({"id": one, "votes": votes}) for one in "qr")
    rows, _ = read(tmp_path, lines, "t.jsonl")
    found = rows.filter(item_id="q").sort("judge", "replication")
    assert found.select("judge", "replication", "verdict").rows() == [
        ("a", 0, "x"), ("a", 1, "y"), ("b", 0, "y"),
    ]  # fmt: skip


def test_lists_in_rows_that_are_repeats_are_numbered_over_both(tmp_path):
    lines = "\n".join(
        json.dumps({"id": "q", "run": run, "votes": votes})
        for run, votes in enumerate([["x", "y"], ["y"]])
    )
    rows, said = read(tmp_path, lines, "t.jsonl")
    assert rows.select("replication", "verdict").rows() == [(0, "x"), (1, "y"), (2, "y")]
    assert "each element of a list is a repeat" in said


def test_files_with_the_names_of_models_are_no_repeats(tmp_path, capsys):
    for name in ("gpt-4", "gpt-5"):
        (tmp_path / f"{name}.csv").write_text("id,verdict\nq,x\nr,y\n")
    assert main(["reduce", str(tmp_path / "*.csv")]) == 2
    assert "judge=NAME" in capsys.readouterr().err
    for name in ("gpt-4", "gpt-5"):  # as the message says
        folder = tmp_path / "all" / f"judge={name}"
        folder.mkdir(parents=True)
        (tmp_path / f"{name}.csv").rename(folder / "a.csv")
    with Snapshot.open(str(tmp_path / "all")) as judged:
        assert sorted(judged.frame.collect()["judge"]) == ["gpt-4"] * 2 + ["gpt-5"] * 2


def test_the_leading_word_is_read_in_a_column_of_another_name(tmp_path):
    text = 'id,run,winner\nq,0,"Yes, because"\nq,1,No way\nr,0,Yes.\nr,1,Yes\n'
    rows, _ = read(tmp_path, text, leading_word=True)
    assert rows["verdict"].to_list() == ["Yes", "No", "Yes", "Yes"]


def test_a_hint_is_quoted_as_a_shell_takes_it(tmp_path, capsys):
    path = tmp_path / "my sheet.csv"
    path.write_text("id,Judge Verdict,Final Verdict\nq,x,y\nq,y,x\n")
    assert main(["reduce", str(path)]) == 2
    ways = capsys.readouterr().err.rpartition("Try: ")[2].strip().split(" or ")
    assert ways == ["--column 'verdict=Judge Verdict'", "--column 'verdict=Final Verdict'"]
    for way in ways:
        assert main(["reduce", str(path), *shlex.split(way)]) == 0


def test_a_table_with_the_names_of_judgments_is_read_by_these_alone():
    rows = pl.DataFrame({
        "item_id": ["q", "q"], "replication": [0, 1], "verdict": ["x", "y"], "model": ["a", "a"],
        "truth": ["x", "x"],
    })  # fmt: skip
    with Snapshot.open(rows, Named(columns={"gold": "truth"})) as judged:
        assert "judge" not in judged.frame.collect_schema()


@pytest.fixture(scope="module")
def run():
    return judgerel_ray.example("run")


@pytest.mark.slow
def test_labels_of_a_run_are_what_is_right_for_every_verb(run, tmp_path):
    items = pl.read_parquet(f"{run}/items.parquet")
    path = tmp_path / "labels.csv"
    own = items.select("item_id", label="gold")
    wrong = own.with_columns(pl.lit("a").alias("label"))
    tables = {
        "select": lambda found: found.systems, "systems": lambda found: found.pairs,
        "panels": lambda found: found.members, "gate": lambda found: found.requirements,
    }  # fmt: skip
    for verb, table in tables.items():
        options = {"require": "accuracy >= .5"} if verb == "gate" else {}
        made = getattr(judgerel_ray, verb)
        recorded = table(made(run, **options))
        own.write_csv(path)
        with pytest.warns(ReadingWarning, match="taken as right"):
            labelled = table(made(run, labels=str(path), **options))
        assert labelled.equals(recorded), verb
        wrong.write_csv(path)
        assert not table(made(run, labels=str(path), **options)).equals(recorded), verb


def test_labels_of_no_judged_item_are_refused_of_a_run_too(run, tmp_path):
    (tmp_path / "labels.csv").write_text("item_id,label\nnobody,A\n")
    with (
        pytest.raises(SweepError, match="no label is of a judged item"),
        Snapshot.open(run, Labelled(labels=str(tmp_path / "labels.csv"))),
    ):
        pass


def test_labels_of_several_benchmarks_are_told_apart(tmp_path):
    rows = pl.DataFrame({
        "item_id": ["q"] * 4, "benchmark": [*"aabb"], "replication": [0, 1] * 2,
        "verdict": [*"xxyy"],
    })  # fmt: skip
    (tmp_path / "labels.csv").write_text("benchmark,item_id,label\na,q,x\nb,q,x\n")
    found = judgerel_ray.reduce(rows, labels=str(tmp_path / "labels.csv"), coefficients="accuracy")
    assert dict(found.select("benchmark", "value").unique().rows()) == {"a": 1.0, "b": 0.0}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["select", "--gold", "G.csv", "--labels", "G.csv"], "--gold and --labels both say"),
        (["reduce", "--column", "verdict=label"], "leave --column out"),
        (["reduce", "--leading-word"], "leave --leading-word out"),
    ],
)
def test_an_option_that_a_run_has_no_use_for_is_refused(run, arguments, words, capsys):
    assert main([arguments[0], run, *arguments[1:]]) == 2
    assert words in capsys.readouterr().err


def test_rows_are_items_by_their_number_where_that_is_asked(tmp_path, capsys):
    for run, words in enumerate(("xyx", "xxx")):
        (tmp_path / f"run{run}.csv").write_text("\n".join(["verdict", *words]))
    files = [str(tmp_path / f"run{run}.csv") for run in range(2)]
    assert main(["reduce", *files]) == 2
    assert "or --item-by-row, where each row is an item" in capsys.readouterr().err
    with Snapshot.open(files, Named(item_by_row=True)) as judged:
        rows = judged.frame.collect().select("item_id", "replication", "verdict").rows()
    assert rows == [("1", 0, "x"), ("2", 0, "y"), ("3", 0, "x"),
                    ("1", 1, "x"), ("2", 1, "x"), ("3", 1, "x")]  # fmt: skip
    named = pl.DataFrame({"item_id": ["q"], "verdict": ["x"]})
    with (
        pytest.raises(SweepError, match="a column item_id says which item it is"),
        Snapshot.open(named, Named(item_by_row=True)),
    ):
        pass


def test_what_is_of_the_question_is_joined_to_its_item_by_one_flag(tmp_path, capsys):
    """People's votes on pairs of models, as MT-Bench keeps them."""
    path = tmp_path / "human.csv"
    path.write_text(
        "question_id,model_a,model_b,winner,judge,turn\n81,m,n,model_b,author_2,1\n"
        "81,m,n,model_b,author_2,2\n81,k,l,model_a,author_2,1\n82,k,l,tie,author_2,1\n"
    )
    assert main(["reduce", str(path)]) == 2
    way = capsys.readouterr().err.partition("Try: ")[2].partition(", where")[0]
    assert way == "--column item_id=question_id,model_a,model_b,turn"
    assert main(["reduce", str(path), *shlex.split(way), "--full"]) == 0
    assert "4 questions asked, each once" in capsys.readouterr().out


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("text", "words"),
    [
        # An id of each row beside a kind of items.
        ("id,task,verdict\n1,m,x\n2,m,y\n3,c,x\n4,c,x\n", "several columns may be item_id"),
        # Numbers of turns, answers, steps or models are no repeats.
        ("id,judge,turn1_score,turn2_score\nq,a,3,4\nr,a,2,4\n", "column missing"),
        ("id,step1_verdict,step2_verdict\nq,x,y\nr,y,y\n", "column missing"),
        ("id,model1_score,model2_score\nq,3,4\nr,2,4\n", "column missing"),
        # What was judged, whatever it is called and however long.
        ("doc,response_id,id,score\na,r0,q,1\na,r1,q,3\nb,r2,r,1\nb,r3,r,2\n", "response_id"),
        ("id,student_answer,score\nq,an essay,1\nq,another essay,3\nr,no essay,2\n", "answer"),
        # Numbers of repeats that go on from one prompt to the next.
        ("id,prompt_version,run,verdict\nq,v1,1,x\nq,v1,2,x\nq,v2,3,x\nq,v2,4,y\n",
         "differ in column prompt_version"),
        ("id,gpt-4o_verdict,o1_verdict,gpt-4o_score,claude_score\nq,x,y,1,2\nr,y,y,2,2\n",
         "several columns may hold"),
        ("id,score_first,score_second\nq,1,4\nr,2,3\n", "score=score_{responder}"),
        ("item,annotator,label\nq,anna,x\nq,ben,y\nr,anna,x\nr,ben,x\n", "judge=annotator"),
        ("id,run,rating\nq,0,A: 1\nq,1,B: 1\nr,0,A: 2\nr,1,B: 3\n", "expected"),
    ],
)  # fmt: skip
def test_what_only_its_keeper_knows_is_asked(tmp_path, text, words):
    with pytest.raises(SweepError) as refused:
        read(tmp_path, text)
    assert words in str(refused.value)


def test_judges_of_merged_cells_are_filled_down(tmp_path):
    text = "judge,item,verdict\ngpt-4o,q,x\n,r,y\n,s,y\nclaude,q,y\n,r,y\n,s,x\n"
    rows, said = read(tmp_path, text)
    assert rows["judge"].to_list() == ["gpt-4o"] * 3 + ["claude"] * 3
    assert "judge: 4 empty cells filled from the row above, as merged cells" in said
    both, _ = read(tmp_path, "judge,item,run,verdict\na,q,0,x\n,,1,x\n,r,0,y\n,,1,y\n"
                             "b,q,0,x\n,,1,x\n,r,0,y\n,,1,y\n")  # fmt: skip
    assert both.group_by("judge", "item_id").len().sort("judge", "item_id").rows() == [
        (judge, item, 2) for judge in "ab" for item in "qr"
    ]


def test_a_mean_of_judges_is_no_judge(tmp_path):
    rows, _ = read(tmp_path, "id,gpt-4o_score,claude-3_score,mean_score\nq,3,4,3.5\nr,2,4,3\n")
    assert set(rows["judge"]) == {"gpt-4o", "claude-3"}


def test_scores_beside_the_verdicts_of_the_same_judges_are_said(tmp_path):
    text = "id,gpt-4o_verdict,gpt-4o_score,claude_verdict,claude_score\nq,x,1,y,2\nr,y,2,y,2\n"
    rows, said = read(tmp_path, text)
    assert rows["verdict"].len() == 4
    assert "gpt-4o_score, claude_score (scores of the same judges, whose verdicts are read)" in said


def test_failed_tries_are_no_repeats(tmp_path):
    text = "case_id,attempt,status,verdict\nc,1,timeout,\nc,2,ok,x\nd,1,ok,y\ne,1,error,\n"
    rows, said = read(tmp_path, text)
    assert rows["item_id"].to_list() == ["c", "d", "e"]
    assert "1 row without a verdict beside another attempt that has one, left out" in said
    repeats, said = read(
        tmp_path, text + "c,3,ok,y\n"
    )  # asked again: an empty reply is the judge's
    assert repeats.height == 5
    assert "left out" not in said


def test_equal_rows_of_two_files_are_two_judges_or_copies(tmp_path, capsys):
    for name in ("gpt", "claude"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.csv").write_text("id,run,verdict\nq,0,x\nq,1,y\n")
    assert main(["reduce", str(tmp_path / "*/a.csv")]) == 2
    assert "FOLDER/judge=NAME/FILE" in capsys.readouterr().err


def test_a_label_beside_a_score_is_no_traceback(tmp_path):
    rows, _ = read(tmp_path, "id,run,label,score\nq,1,bad,2\nq,2,good,4\nr,1,bad,1\nr,2,good,5\n")
    assert rows["score"].to_list() == [2, 4, 1, 5]


@pytest.mark.alike(3)
@pytest.mark.parametrize("head", ["ID,Label", "id,human_label", "question_id,Urteil"])
def test_labels_may_have_other_names(tmp_path, head):
    (tmp_path / "labels.csv").write_text(f"{head}\nq,x\n")
    rows = pl.DataFrame({"item_id": ["q"] * 2, "replication": [0, 1], "verdict": ["x", "y"]})
    with Snapshot.open(rows, Labelled(labels=str(tmp_path / "labels.csv"))) as judged:
        assert judged.frame.collect()["gold"].to_list() == ["x", "x"]


def test_percentages_are_scores_where_all_are(tmp_path):
    text = 'id,run,score\nq,0,10%\nq,1,"12,5 %"\nr,0,90%\nr,1,100%\n'
    rows, said = read(tmp_path, text)
    assert rows["score"].to_list() == [10, 12.5, 90, 100]
    assert "score: read the number of '10%' (4 texts)" in said
    for other in (".5", "3"):
        with pytest.raises(SweepError):
            read(tmp_path, text.replace("100%", other))


@pytest.mark.parametrize(
    "rows", ["q0,0,x\n,1,x\n", "q0,0,x\nq1,0,y\n,1,x\n", "q0,0,x\n,1,x\nr,0,y\n"]
)
def test_one_empty_item_is_a_fault_and_no_merged_cell(tmp_path, rows):
    with pytest.raises(SweepError, match="item_id"):
        read(tmp_path, "item_id,replication,verdict\n" + rows)


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("text", "judge_and_repeats"),
    [
        ("id,gpt_run1,gpt_run2,claude_run1,claude_run2\nq,3,4,1,2\nr,1,1,2,2\n", {"gpt", "claude"}),
        ("id;GPT-4o Lauf 1;Claude Lauf 1\nq;3;4\nr;1;2\n", {"GPT-4o", "Claude"}),
        ('{"id": "q", "scores": {"gpt-4o": 3, "claude": 1, "mean": 2}}\n'
         '{"id": "r", "scores": {"gpt-4o": 2, "claude": 4, "mean": 3}}\n', {"gpt-4o", "claude"}),
        ('{"id": "q", "votes": {"gpt-4o": ["x", "y"], "claude": ["x", "x"]}}\n',
         {"gpt-4o", "claude"}),
        ('{"id": "q", "judges": {"alpha": {"verdict": "x", "reason": "so"}, "beta": '
         '{"verdict": "y", "reason": "no"}}}\n', {"alpha", "beta"}),
    ],
)  # fmt: skip
def test_judges_in_names_of_columns_and_in_keys_are_judges(tmp_path, text, judge_and_repeats):
    rows, _ = read(tmp_path, text, "t.jsonl" if text[0] == "{" else "t.csv")
    assert set(rows["judge"]) == judge_and_repeats
    assert rows.select("item_id", "judge", "replication").is_unique().all()


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("text", "way"),
    [
        ("id,gpt_run1,gpt_run2,claude_run1\nq,3,4,1\nr,1,1,2\n", "score={judge}_run{replication}"),
        ("id,claude-3_helpfulness,claude-3_safety,gpt_helpfulness,gpt_safety\nq,1,2,3,4\nr,1,3,3,4\n",
         "score={responder}_{criterion}"),
        ("id,helpfulness,safety,tone\nq,1,2,2\nr,2,3,1\n", "score={criterion}"),
        ("judge,q1,q2\ngpt,x,y\nclaude,y,y\nllama,y,x\n", "verdict=q{item_id}"),
        ("question_id,prompt_id,run,verdict\na,1,0,x\na,1,1,y\na,2,0,x\na,2,1,x\nb,1,0,y\nb,1,1,y\n",
         "item_id=question_id,prompt_id"),
        ("id,prompt,run,verdict\n1,a,0,x\n2,a,1,y\n3,b,0,x\n4,b,1,x\n", "item_id=prompt"),
        ('{"id": "q", "scores": {"alpha": 3, "beta": 1}}\n{"id": "r", "scores": {"alpha": 2, '
         '"beta": 4}}\n', "score=scores.{criterion}"),
    ],
)  # fmt: skip
def test_what_names_of_columns_tell_is_asked_with_a_flag_that_works(tmp_path, capsys, text, way):
    path = tmp_path / ("t.jsonl" if text[0] == "{" else "t.csv")
    path.write_text(text)
    assert main(["reduce", str(path)]) == 2
    assert way in capsys.readouterr().err
    assert main(["reduce", str(path), "--column", way]) == 0


@pytest.mark.slow
def test_labels_in_other_words_are_said_by_every_verb_and_truth_values_are_none(tmp_path):
    rows = pl.DataFrame({"item_id": ["q", "q", "r", "r"], "replication": [0, 1] * 2,
                         "verdict": ["True", "False", "True", "True"]})  # fmt: skip
    path = tmp_path / "labels.csv"
    path.write_text("item_id,label\nq,yes\nr,no\n")
    for verb in (judgerel_ray.reduce, judgerel_ray.gate):
        with pytest.warns(ReadingWarning, match="write gold as the verdicts are"):
            verb(rows, labels=str(path))
    path.write_text("item_id,label\nq,1\nr,0\n")
    found = judgerel_ray.reduce(rows, labels=str(path), coefficients="accuracy")
    assert found["value"][0] == 0.25


def test_spellings_of_one_label_are_one_for_the_commonest(tmp_path):
    (tmp_path / "people.csv").write_text(
        "item_id,rater,label\n"
        "q,x,A\nq,y,a\nq,z,B\n"  # A twice
        "r,x,b\nr,y,B\nr,z,a\n"  # b twice, as B is shown in the file
        "s,x,A\ns,y,B\n"
        "other,x,A\nother,y,B\n"  # not judged
    )
    rows, said = read(
        tmp_path, "item_id,verdict\nq,A\nr,B\ns,A\n", labels=str(tmp_path / "people.csv")
    )
    assert dict(rows.select("item_id", "gold").iter_rows()) == {"q": "A", "r": "B", "s": None}
    assert "the commonest is taken as right; 1 item has no commonest label" in said


def test_no_value_below_a_key_is_no_name_beside_ratings(tmp_path):
    lines = (
        '{"id": "q", "scores": {"gpt-4o": 1, "claude-3": "n/a"}}\n'
        '{"id": "r", "scores": {"gpt-4o": 3, "claude-3": 2}}\n'
    )
    rows, said = read(tmp_path, lines, "t.jsonl")
    assert sorted(rows["score"].drop_nulls()) == [1, 2, 3]
    assert "taken as no score: n/a (1)" in said
    rows, _ = read(tmp_path, lines.replace('"n/a"', '"good"'), "t.jsonl")
    assert sorted(rows["verdict"]) == ["1", "2", "3", "good"]


QUESTIONS = ("Is the summary faithful to its source?", "Does the answer cite the policy at all?")


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("text", "replications", "value"),
    [
        # A name that pandas numbers where a file has it several times.
        ("id,verdict,verdict.1,verdict.2\nq,x,y,x\nr,x,x,x\n", 3, "verdict"),
        ("id,score,score.1\nq,3,4\nr,2,2\n", 2, "score"),
        ("id,score,score_2,score_3\nq,3,4,5\nr,2,2,1\n", 3, "score"),
        # The number is of the run, and of no judge.
        ("id,llm_judge_run1,llm_judge_run2\nq,x,y\nr,x,x\n", 2, "verdict"),
        ("ticket,Rating round 1,Rating round 2\nq,4,5\nr,3,3\n", 2, "score"),
        # The text of a question names it where nothing else does.
        (f"prompt,score_1,score_2,mean\n{QUESTIONS[0]},3,4,3\n{QUESTIONS[1]},2,2,2\n", 2,
         "score"),
        ("prompt,run,winner\n" + "".join(f"{q},{n},x\n" for q in QUESTIONS for n in (0, 1)), 2,
         "verdict"),
        # Headings of runs, the names again, and an empty line are no rows.
        ("id,verdict\nRun 1,\nq,x\nr,y\n,\nRun 2,\nq,x\nr,x\n", 2, "verdict"),
        ("id,verdict\nq,x\nr,y\nid,verdict\nq,x\nr,x\n", 2, "verdict"),
        ("id;Lauf 1;Lauf 2\nq;2,5;3,5\nr;1,5;3,5\nMittelwert;2,0;3,5\n", 2, "score"),
    ],
)  # fmt: skip
def test_sheets_that_can_mean_one_thing_alone_are_read(tmp_path, text, replications, value):
    rows, _ = read(tmp_path, text)
    assert rows.height == 2 * replications
    assert rows["item_id"].n_unique() == 2
    assert rows["replication"].n_unique() == replications
    assert rows[value].null_count() == 0
    assert "judge" not in rows.columns


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("text", "words"),
    [
        # Models that answered are of no order of the options: who won is the verdict.
        ("id,first_model,second_model,run,winner\nq,a,b,0,a\nq,b,a,1,b\nr,a,b,0,a\nr,a,b,1,a\n",
         "winner as verdict"),
        # A comment stands beside a metric, and is none.
        ("id,feedback.tone,feedback.tone.comment,feedback.depth\nq,1,good,3\nr,2,bad,4\n",
         "feedback.tone, feedback.depth as score, a criterion each"),
        ("id,run,answer,score\n" + "".join(f"{q},{n},on {q}{n},3\n" for q in "qr" for n in "01"),
         "answer is another one in every repeat"),
    ],
)  # fmt: skip
def test_columns_beside_what_was_said_are_not_what_was_said(tmp_path, text, words):
    _, said = read(tmp_path, text)
    assert words in said


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("id,position,rep,winner\nq,AB,0,x\nq,BA,0,y\nr,AB,0,x\nr,BA,0,x\n",
         "--column option_order=position, where it says how the options stood"),
        ("conversation_id,message_id,run,verdict\n" + "".join(
            f"c{m // 2},m{m},{n},x\n" for m in range(8) for n in (0, 1, 2)),
         "--column item_id=conversation_id,message_id, where it is of the question"),
        ("id,1st pass,2nd pass\nq,good,bad\nr,good,good\ns,bad,bad\n",
         "--column 'verdict={replication} pass'"),
    ],
)  # fmt: skip
def test_a_refusal_names_what_would_settle_it(tmp_path, text, hint):
    with pytest.raises(SweepError) as refused:
        read(tmp_path, text)
    assert hint in str(refused.value)


def test_a_column_with_braces_in_its_name_is_that_column(tmp_path):
    rows, _ = read(tmp_path, "id,run,{{x}} said\nq,0,a\nq,1,b\nr,0,a\nr,1,a\n",
                   columns={"verdict": "{{x}} said"})  # fmt: skip
    assert rows["verdict"].to_list() == ["a", "b", "a", "a"]


def test_columns_like_a_pattern_that_hold_something_else_are_named(tmp_path):
    with pytest.raises(
        SweepError, match=r"hold no numbers.*Try: --column 'verdict=\{replication\}"
    ):
        read(tmp_path, "id,1 try,2 try\nq,x,y\nr,x,x\n", columns={"score": "{replication} try"})


def test_gold_that_is_read_is_not_said_to_be_left_out(tmp_path):
    _, said = read(tmp_path, "id,verdict,gold\n" + "q,x,x\nq,y,x\nr,x,y\nr,x,y\n")
    assert "rows alike as repeats" in said
    assert "gold" not in said


@pytest.mark.parametrize("name", ["Run {}", "r{}", "{}"])
def test_items_that_are_called_as_runs_are_no_headings(tmp_path, name):
    text = "id,verdict\n" + "".join(f"{name.format(n)},{'x' * (n != 2)}\n" for n in (1, 2, 3) * 2)
    rows, said = read(tmp_path, text)
    assert rows.height == 6
    assert rows["verdict"].null_count() == 2
    assert "heading" not in said
