"""From paths to advice and comparisons, and the verbs that print them."""

import io
import json
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.analyses.advice.from_run import gpu_seconds
from judgerel_ray.cli import main
from judgerel_ray.core import SweepError, TokenCounts
from judgerel_ray.store import JudgeTotals, RunDirectory


@pytest.fixture
def files(tmp_path):
    """Two files of eight questions, asked three times, and one of two judges."""
    paths = []
    for name, verdicts in (("may", "AABABBAABBBA"), ("june", "AABBBBAABABA")):
        lines = ["item_id,replication,judge,verdict"]
        lines += [
            f"q{i},{r},j,{verdicts[(i * 5 + r * (i % 3)) % 12]}" for i in range(8) for r in range(3)
        ]
        path = tmp_path / f"{name}.csv"
        path.write_text("\n".join(lines))
        paths.append(str(path))
    both = tmp_path / "both.csv"
    first, second = (Path(path).read_text() for path in paths)
    both.write_text("\n".join([first, *second.replace(",j,", ",k,").splitlines()[1:]]))
    return [*paths, str(both)]


def test_advice_of_a_file(files):
    advice = judgerel_ray.advise(files[0], targets=["generalizability=0.8"], budget="100")
    assert advice.needs["target"].to_list() == ["generalizability"]
    assert advice.splits["judgments"].max() <= 100


@pytest.mark.slow
def test_how_many_judges_there_are_can_be_declared(files):
    unlimited = judgerel_ray.advise(files[2], by=[])
    assert set(unlimited.components["no_interval"]) == {"too_few_levels"}
    for told in ("judge=2", "judge=fixed"):
        advice = judgerel_ray.advise(files[2], by=[], facet_sizes=[told])
        row = advice.components.filter(component="judge").row(0, named=True)
        assert (row["n_levels"], row["levels_of"], row["no_interval"]) == (2, 2, None)
    again = judgerel_ray.advise(files[2], by=[], facet_sizes=["judge=unlimited"])
    assert again.components.equals(unlimited.components)


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"targets": ["generalizability"]}, "--target must be NAME=VALUE"),
        ({"targets": ["generalizability=high"]}, "--target must be a number, got 'high'"),
        ({"budget": "much"}, "--budget must be a number"),
        ({"budget": "euros=5"}, "--budget is in judgments, tokens, gpu_seconds"),
        ({"budget": "tokens=1000"}, "a budget in tokens needs"),
        ({"budget": "0"}, "above 0"),
        ({"by": ["juge"]}, "Try: --by judge"),
        ({"facet_sizes": ["template"]}, "--facet-size must be NAME=N"),
        ({"facet_sizes": ["template=some"]}, "a whole number from 1 on, fixed or unlimited"),
        ({"facet_sizes": ["template=0"]}, "a whole number from 1 on, fixed or unlimited"),
        ({"facet_sizes": ["juge=2"], "by": []}, "Try: --facet-size judge=2"),
    ],
)
def test_mistakes_are_refused(files, options, words):
    with pytest.raises(SweepError) as error:
        judgerel_ray.advise(files[0], **options)
    assert words in str(error.value)


@pytest.mark.slow
def test_two_files_and_one_file_compared(files):
    two = judgerel_ray.compare(files[0], files[1])
    assert two.select("a", "b").unique().rows() == [(files[0], files[1])]
    assert two["judge"].unique().to_list() == ["j"]
    one = judgerel_ray.compare(
        files[2], by=["judge"], coefficients=["percent_agreement"], tolerance=0.5
    )
    agreement = two.filter(coefficient="percent_agreement")
    assert one.select("a", "b").rows() == [("j", "k")]
    assert one["difference"].to_list() == agreement["difference"].to_list()


def test_gpu_seconds_are_those_of_judges_on_gpus(monkeypatch):
    judges = "".join(
        f'[[judge]]\nname = "{name}"\nmodel = "m"\ngpus = {gpus}\n'
        for name, gpus in (("one", 1), ("four", 4), ("cpu", 0), ("idle", 1))
    )
    sweep = f'name = "s"\n{judges}[[ask]]\nprotocol = "best_of"\nbenchmark = "b"\npath = "i.csv"\n'
    totals = {
        name: JudgeTotals(rows=rows, outcomes={}, tokens=TokenCounts(), seconds=seconds)
        for name, rows, seconds in (
            ("one", 100, 50.0),
            ("four", 10, 5.0),
            ("cpu", 10, 9.0),
            ("idle", 0, 0.0),
        )
    }
    ledger = SimpleNamespace(judges=totals)
    monkeypatch.setattr("judgerel_ray.store.checked_ledger", lambda _: ledger)
    run = SimpleNamespace(read_text=lambda _: sweep, address=lambda name: name)
    assert gpu_seconds(run) == {"one": 0.5, "four": 2.0}


@pytest.mark.slow
def test_the_verbs_print_tables_and_json(files, capsys):
    assert main(["advise", files[0], "--target", "generalizability=0.8", "--format", "json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["needs"][0]["wanted"] == 0.8
    assert main(["advise", "--full", files[0]]) == 0
    assert capsys.readouterr().out.startswith("What verdicts vary with")
    assert (
        main(["compare", files[0], files[1], "--coefficient", "flip_rate", "--format", "json"]) == 0
    )
    assert [row["coefficient"] for row in json.loads(capsys.readouterr().out)] == ["flip_rate"]
    assert main(["compare", "--full", files[2], "--by", "judge", "--tolerance", "0.3"]) == 0
    assert capsys.readouterr().out.startswith("difference (b − a) on shared questions")
    assert main(["compare", files[2]]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "Try: --by judge" in err


def test_right_options_of_a_run_become_gold():
    from judgerel_ray.counting.gold import with_gold
    from judgerel_ray.counting.snapshot import Snapshot

    items = pl.DataFrame(
        {
            "item_id": ["q", "r"],
            "benchmark": ["b", "b"],
            "options": [[{"option_id": "x", "text": "1"}, {"option_id": "y", "text": "2"}]] * 2,
            "gold": ["x", "a text"],
        }
    )
    frame = pl.LazyFrame(
        {
            "item_id": ["q", "r", "q", "q", "q"],
            "benchmark": ["b"] * 5,
            "protocol": ["best_of", "best_of", "confusion", "correctness", "think_twice"],
        }
    )
    run = RunDirectory.create("memory://right-options")
    data = io.BytesIO()
    items.write_parquet(data)
    run.write_bytes("items.parquet", data.getvalue())
    judged = Snapshot(frame=frame, run=run)
    found = with_gold(judged).frame.collect().sort("protocol", "item_id")
    assert found["gold"].to_list() == ["x", None, "x", None, "x"]


def test_a_facet_nested_in_questions_must_be_there(files, capsys):
    assert main(["advise", files[0], "--nested", "respnder"]) == 2
    assert "'respnder' is no facet here" in capsys.readouterr().err
