"""People's ratings of items, as judgments of theirs."""

import polars as pl
import pytest

from judgerel_ray.core import HumanRating, Item, Option, SweepError
from judgerel_ray.importers import import_people
from judgerel_ray.importers.people import numbered_raters
from judgerel_ray.importers.verb import import_judgments
from judgerel_ray.tables import items_to_frame


def written(tmp_path, *items):
    items_to_frame(items).write_parquet(tmp_path / "items.parquet")
    return str(tmp_path / "items.parquet")


def item(name, *ratings, context=None, benchmark="b"):
    return Item(item_id=name, benchmark=benchmark, category="c", question="?", context=context,
                ratings=ratings)  # fmt: skip


def rating(rater, score=None, label=None, criterion="relevance"):
    return HumanRating(rater=rater, score=score, label=label, criterion=criterion)


def test_kinds_of_raters_are_judges_and_raters_replications(tmp_path):
    path = written(
        tmp_path,
        item("q", rating("expert:2", 4.0), rating("expert:10", 5.0), rating("crowd:x", 1.5)),
        item("r", rating("expert:10", 3.0), rating("ann", 2.0)),
    )
    found = import_people(path).select("judge", "item_id", "replication", "verdict", "score")
    assert found.rows() == [
        ("expert", "q", 0, "4", 4.0),
        ("expert", "q", 1, "5", 5.0),
        ("crowd", "q", 0, "1.5", 1.5),
        ("expert", "r", 1, "3", 3.0),
        ("people", "r", 0, "2", 2.0),
    ]


def test_items_about_one_text_are_one_item_for_intervals(tmp_path):
    text = "Article:\nIt rained.\n\nSummary:\n"
    path = written(
        tmp_path,
        item("a", rating("x:0", 1.0), context=f"{text}Rain."),
        item("b", rating("x:0", 2.0), context=f"{text}Sun."),
        item("c", rating("x:0", 3.0), context="Article:\nIt snowed.\n\nSummary:\nSnow."),
    )
    found = import_people(path)
    assert found.select("item_id", "responder").rows() == [("a", "a"), ("a", "b"), ("c", "c")]


def test_ratings_of_several_responses_stand_apart(tmp_path):
    options = (Option(option_id="x", text="this"), Option(option_id="y", text="that"))
    given = tuple(
        HumanRating(rater="expert:0", score=score, responder=responder)
        for responder, score in (("x", 1.0), ("y", 5.0))
    )
    item = Item(
        item_id="q", benchmark="b", category="c", question="?", options=options, ratings=given
    )
    found = import_people(written(tmp_path, item)).select("item_id", "responder", "score")
    assert found.rows() == [("q", "q/x", 1.0), ("q", "q/y", 5.0)]


def test_words_have_the_score_of_their_place_where_the_benchmark_is_known(tmp_path):
    path = written(
        tmp_path,
        item("q", rating("x", label="Bad"), rating("y", label="Excellent"), benchmark="feedbackqa"),
        item("r", rating("x", label="Bad")),
    )
    assert import_people(path).select("verdict", "score").rows() == [
        ("Bad", 0.0), ("Excellent", 3.0), ("Bad", None),
    ]  # fmt: skip


def test_items_without_ratings_are_refused(tmp_path):
    with pytest.raises(SweepError, match="no item has human ratings"):
        import_people(written(tmp_path, item("q")))


def test_one_rating_a_row_without_labels_is_told_the_verb_that_reads_it(tmp_path):
    (tmp_path / "ratings.csv").write_text("item_id,rater,grade\n1,ann,yes\n")
    with pytest.raises(SweepError, match=r"got columns item_id rater grade .*import table") as one:
        import_people(str(tmp_path / "ratings.csv"))
    assert "\n" not in str(one.value)


def test_labels_of_a_page_are_judgments_of_people(tmp_path):
    (tmp_path / "ann.csv").write_text(
        'item_id,responder,rater,label,probability\n"q1","m","ann","pass","0.5"\n"q2","m","ann","","1"\n'
    )
    (tmp_path / "zoe.csv").write_text(
        "item_id,responder,rater,label,probability\nq1,m,zoe,fail,0.5\nq2,m,zoe,3,1\n"
    )
    out = tmp_path / "people.parquet"
    paths = [str(tmp_path / f"{n}.csv") for n in ("ann", "zoe")]
    assert import_judgments("people", paths, out=str(out)) == 3
    found = pl.read_parquet(out)
    assert found.select("judge", "item_id", "rater", "replication", "verdict", "score",
                        "probability").rows() == [
        ("people", "q1", "ann", 0, "pass", None, 0.5),
        ("people", "q1", "zoe", 1, "fail", None, 0.5),
        ("people", "q2", "zoe", 1, "3", 3.0, 1.0),
    ]  # fmt: skip


def test_a_label_that_is_there_twice_is_refused_with_what_to_do(tmp_path):
    (tmp_path / "labels.csv").write_text("item_id,label\nq1,yes\nq1,no\n")
    with pytest.raises(SweepError, match=r"more than once.*item_id=q1.*a column rater tells"):
        import_judgments("people", [str(tmp_path / "labels.csv")], out=str(tmp_path / "p.parquet"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item_id,label\nq1,\n", "no item has a label"),
        ("item_id,label,probability\nq1,yes,0\n", "probability must be above 0"),
    ],
)
def test_labels_that_say_nothing_are_refused(tmp_path, text, message):
    (tmp_path / "labels.csv").write_text(text)
    with pytest.raises(SweepError, match=message):
        import_people(str(tmp_path / "labels.csv"))


def test_raters_are_numbered_by_name():
    raters = pl.DataFrame({"rater": ["zoe", "ann", "zoe"]})
    assert numbered_raters(raters)["replication"].to_list() == [1, 0, 1]
