"""Objects and lists are never a verdict, and a hint never leads to one."""

import json
import re

import polars as pl
import pytest

from judgerel_ray.cli import main
from judgerel_ray.core import SweepError
from judgerel_ray.counting.judgments import tally_file
from judgerel_ray.importers import TableMapping, import_table

PROMPTFOO = [
    {
        "id": f"q{item}",
        "repeatIndex": repeat,
        "response": {"output": "text", "tokens": [1, 2]},
        "gradingResult": {"pass": item != repeat, "score": 0.5, "parts": [{"why": "x"}]},
    }
    for item in range(3)
    for repeat in range(2)
]


@pytest.fixture(params=["jsonl", "json", "parquet", "csv", "repr.csv"])
def log(request, tmp_path):
    """One log in every form: objects, and text that holds them as JSON or as Python writes it."""
    path = tmp_path / f"log.{request.param}"
    if request.param == "jsonl":
        path.write_text("\n".join(map(json.dumps, PROMPTFOO)))
    elif request.param == "json":
        path.write_text(json.dumps({"version": 3, "results": PROMPTFOO}))
    elif request.param == "parquet":
        pl.DataFrame(PROMPTFOO).write_parquet(path)
    else:
        write = str if "repr" in request.param else json.dumps
        flat = [
            {
                name: write(value) if isinstance(value, dict) else value
                for name, value in row.items()
            }
            for row in PROMPTFOO
        ]
        pl.DataFrame(flat).write_csv(path)
    return str(path)


MAPPING = {"item_id": "id", "replication": "repeatIndex"}


@pytest.mark.filterwarnings("ignore::judgerel_ray.ReadingWarning")
def test_a_dotted_name_reaches_into_objects(log):
    columns = {**MAPPING, "verdict": "gradingResult.pass", "score": "gradingResult.score",
               "responder": "gradingResult.parts.0.why"}  # fmt: skip
    found = import_table(log, TableMapping(columns=columns))
    assert found["verdict"].to_list() == [
        str(row["gradingResult"]["pass"]).lower() for row in PROMPTFOO
    ]
    assert found["score"].to_list() == [0.5] * 6
    assert found["responder"].to_list() == ["x"] * 6


@pytest.mark.filterwarnings("ignore::judgerel_ray.ReadingWarning")
@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("gradingResult", r"single value, column gradingResult holds .*gradingResult\.pass"),
        ("gradingResult.parts", r"single value.*gradingResult\.parts\.\*\.why"),
        ("gradingResult.pas", r"has 'pas', it holds .* Try: --column verdict=gradingResult\.pass"),
        ("gradingresult.pass", r"no column 'gradingresult\.pass' for verdict, got id, "),
        ("id.pass", "no value of column id has 'pass', it holds no objects"),
    ],
)
def test_what_is_no_single_value_is_refused(log, source, said):
    with pytest.raises(SweepError, match=said):
        import_table(log, TableMapping(columns={**MAPPING, "verdict": source}))


@pytest.mark.alike(3)
@pytest.mark.filterwarnings("ignore::judgerel_ray.ReadingWarning")
def test_every_hint_leads_to_a_single_value(log, capsys):
    """Two places may be the verdict: either is suggested, and works as it is printed."""
    assert main(["reduce", log]) == 2
    hint = capsys.readouterr().err.rpartition("Try: ")[2].strip()
    assert "verdict=gradingResult.pass" in hint
    for way in hint.split(" or "):
        assert main(["reduce", log, *way.split()]) == 0
    capsys.readouterr()
    assert main(["reduce", log, "--column", "verdict=gradingResult"]) == 2
    way = capsys.readouterr().err.rpartition("Try: ")[2].split()
    assert main(["reduce", log, *way]) == 0


def test_one_element_of_a_list_says_how_many_it_leaves_out(tmp_path, capsys):
    path = tmp_path / "votes.jsonl"
    votes = [[{"winner": one} for one in "ABA"], [{"winner": one} for one in "BBA"]]
    path.write_text("\n".join(json.dumps({"id": n, "votes": one}) for n, one in enumerate(votes)))
    assert main(["reduce", str(path), "--column", "verdict=votes.0.winner"]) == 0
    shown = capsys.readouterr()
    assert "votes.0.winner leaves out 4 more values of the same lists" in shown.err
    way = re.search(r"--column verdict=\S+", shown.err)[0]
    assert main(["reduce", str(path), *way.split()]) == 0
    shown = capsys.readouterr()
    assert "6 replies" in shown.out
    assert "leaves out" not in shown.err


def test_lists_of_rows_that_are_numbered_themselves_are_more_repeats():
    rows = pl.LazyFrame(
        {"item_id": ["q", "q"], "replication": [0, 1], "votes": [["A", "B"], ["A"]]}
    )
    found = tally_file(rows, stated={"verdict": "votes.*"})
    assert found.rows.collect()["replication"].to_list() == [0, 1, 2]


@pytest.mark.parametrize("name", ["verdict", "score"])
def test_a_list_of_verdicts_or_scores_is_a_repeat_each(name):
    values = [["A", "B"], ["B", "A"]] if name == "verdict" else [[1, 2], [3, 1]]
    found = tally_file(pl.LazyFrame({"item_id": ["q", "r"], name: values}))
    assert found.rows.collect()["replication"].to_list() == [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("verdict", [{"pass": True}, {"pass": False}], "verdict must be .* verdict.pass"),
        ("verdict", [["A"], ["B", "A"]], "verdict must be a single value, it holds a list"),
        ("verdict", ['{"pass": true}', "x"], "an object written as text with verdict.pass"),
        ("verdict", ['["A", "B"]', "A"], "a list written as text"),
        ("item_id", [{"n": 1}, {"n": 2}], "item_id must be a single value"),
        ("judge", [{"name": "x"}, {"name": "x"}], "judge must be a single value"),
        ("score", [[1.0], [2.0]], "score must be a single value"),
    ],
)
def test_objects_and_lists_are_refused_with_the_names_inside(name, values, said):
    told = {"item_id": ["q", "r"], "replication": [0, 0], "verdict": ["A", "B"], name: values}
    with pytest.raises(SweepError, match=said):
        tally_file(pl.DataFrame(told).lazy())


def test_brackets_that_hold_no_list_are_a_verdict():
    told = {"item_id": ["q", "q"], "replication": [0, 1], "verdict": ["[[A]]", "{A}"]}
    assert tally_file(pl.DataFrame(told).lazy()).nested.kinds["verdict"].to_list() == [
        "[[A]]", "{A}",
    ]  # fmt: skip


def test_objects_beside_what_is_read_do_not_matter():
    told = {"item_id": ["q", "q"], "replication": [0, 1], "verdict": ["A", "A"],
            "vars": [{"x": 1}, {"x": 2}], "tags": [["a"], []]}  # fmt: skip
    assert tally_file(pl.DataFrame(told).lazy()).nested.units.height == 1
    with pytest.raises(SweepError, match=r"vars must be a single value, it holds .* vars\.x"):
        tally_file(pl.DataFrame(told).lazy(), extra=["vars"])


def test_verdicts_beside_scores_alone_are_refused():
    from judgerel_ray.measuring.reliability import reduce_judgments

    told = {"item_id": ["q"] * 3, "replication": [0, 1, 2], "verdict": ["A", None, None],
            "score": [None, 3.0, None], "criterion": ["x", "y", "y"]}  # fmt: skip
    with pytest.raises(SweepError, match="1 row has a verdict and 1 only a score"):
        reduce_judgments(tally_file(pl.DataFrame(told).lazy()), by=[])
    several = pl.concat([pl.DataFrame(told), pl.DataFrame(told | {"item_id": ["r"] * 3})])
    with pytest.raises(SweepError, match="2 rows have a verdict and 2 only a score"):
        reduce_judgments(tally_file(several.lazy()), by=[])
    apart = reduce_judgments(tally_file(pl.DataFrame(told).lazy()), coefficients=["valid_rate"])
    assert apart["value"].to_list() == [1.0, 0.5]
