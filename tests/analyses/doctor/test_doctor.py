"""What a doctor finds on a machine and in files of judgments."""

import json
import re
import shlex
import subprocess
import sys
from functools import partial
from importlib.metadata import PackageNotFoundError

import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.analyses.doctor.diagnosis import checks
from judgerel_ray.cli import main
from judgerel_ray.core import SweepError

doctor = partial(judgerel_ray.doctor, exact_values=True)


def judged(**columns):
    """Three repeats of 24 items by one judge, and further columns."""
    n = 24
    rows = {
        "item_id": [f"q{one // 3}" for one in range(3 * n)],
        "replication": [0, 1, 2] * n,
        "verdict": ["a", "b", "b", "a", "a", "a"] * (n // 2),
    }
    return pl.DataFrame(rows | columns, strict=False)


def supported(found):
    return {one.question: one.is_supported for one in found.supports}


def test_a_file_of_repeats_supports_repeating_itself():
    found = doctor(judged())
    told = supported(found)
    assert told["does it repeat itself"]
    assert told["are intervals to be trusted"]
    assert not told["is it right"]
    assert not told["does option order matter"]
    assert all(one.unblock for one in found.supports if not one.is_supported)
    assert {one.column: one.taken_for for one in found.columns}["verdict"] == "the verdict"


def test_judged_once_says_what_would_unblock():
    found = doctor(judged().filter(pl.col("replication") == 0))
    told = {one.question: one for one in found.supports}["does it repeat itself"]
    assert (told.is_supported, told.found) == (False, "every item was judged once")
    assert told.unblock == (
        "ask 2 more times (replication 0, 1, 2), or bring 24 labels in a column gold"
    )


def test_judged_once_beside_right_verdicts_names_the_verb_that_needs_no_repeats():
    rows = judged(gold=["a"] * 72).filter(pl.col("replication") == 0)
    told = {one.question: one for one in doctor(rows).supports}["does it repeat itself"]
    assert "judgerel agree FILE" in told.unblock
    assert "labels in a column gold" not in told.unblock


def test_what_a_file_supports_fits_a_terminal(tmp_path, capsys):
    rows = judged(judge=["a", "b", "a"] * 24, strange="x", another_column_of_no_use="y")
    rows = rows.with_columns(**{f"yet_another_column_{one}": pl.lit("z") for one in range(5)})
    rows.with_columns(replication=pl.col("replication")).write_csv(tmp_path / "t.csv")
    assert main(["doctor", str(tmp_path / "t.csv")]) == 0
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


def test_orders_labels_and_gold_are_found():
    at = pl.when((pl.col("verdict") == "a") == (pl.col("option_order") == 0))
    rows = judged(option_order=[0, 1, 0] * 24, gold=["a"] * 72)
    told = supported(doctor(rows.with_columns(label=at.then(pl.lit("A")).otherwise(pl.lit("B")))))
    assert told["does option order matter"]
    assert told["does it go by position"]
    assert told["is it right"]


@pytest.mark.parametrize(
    ("verdicts", "says"),
    [
        (["a"] * 72, "constant: every verdict is a"),
        (["a"] * 70 + ["b", "c"], "nearly constant: 70 of 72 verdicts are a"),
        ([None, None, "a"] * 24, "unreadable: fewer than half"),
        (["a", "b", "b"] * 24, None),
    ],
)
def test_a_judge_that_never_judged_is_named(verdicts, says):
    (one,) = doctor(judged(verdict=verdicts)).judges
    assert one.doubt is None if says is None else one.doubt.startswith(says)


@pytest.mark.parametrize(
    ("verdicts", "codes"),
    [
        (["a"] * 72, ("one_answer", "a", None, None)),
        (["=a"] * 70 + ["b", "c"], ("nearly_one_answer", "=a", 70, 72)),
        ([None, None, "a"] * 24, ("few_verdicts", None, None, None)),
    ],
)
def test_why_a_group_may_be_no_judging_is_a_code_with_its_numbers(verdicts, codes):
    (one,) = json.loads(doctor(judged(verdict=verdicts)).as_json())["judges"]
    assert (one["why"], one["answer"], one["n_answer"], one["n_verdicts"]) == codes


def test_json_has_codes_and_numbers_beside_the_words():
    told = json.loads(doctor(judged().filter(pl.col("replication") == 0)).as_json())
    by_code = {(one["asks"], one["facet"]): one for one in told["supports"]}
    repeats = by_code["repeats", None]
    assert repeats["lacks"] == ["repeats", "labels"]
    assert repeats["counts"] == {"n_items": 24, "n_repeated": 0, "most": 1, "n_labels": 24}
    assert repeats["found"] == "every item was judged once"
    assert by_code["facet", "template"]["lacks"] == ["levels"]
    assert by_code["position", None]["lacks"] == ["orders", "places"]
    assert by_code["panel", None]["lacks"] == ["judges", "labels"]
    roles = {one["column"]: (one["role"], one["taken_for"]) for one in told["columns"]}
    assert roles["verdict"] == ("verdict", "the verdict")


def test_scores_alone_are_read_too():
    rows = judged(score=[float(one % 5) for one in range(72)]).drop("verdict")
    assert supported(doctor(rows))["does it repeat itself"]


@pytest.mark.parametrize("n_judges", [1, 40])
def test_no_group_is_looked_for_among_all_others(n_judges, monkeypatch):
    """What filters all verdicts for each group is quadratic in the groups."""
    rows = pl.DataFrame(
        {"item_id": ["q"] * n_judges + ["r"] * n_judges, "replication": [0] * 2 * n_judges}
        | {"judge": [None, *(f"j{i}" for i in range(1, n_judges))] * 2, "verdict": "a"}
    )
    next_replies, plain = [], pl.DataFrame.filter

    def counted(frame, *conditions, **equal):
        next_replies.append(frame.height)
        return plain(frame, *conditions, **equal)

    monkeypatch.setattr(pl.DataFrame, "filter", counted)
    found = doctor(rows)
    assert [one.answer for one in found.judges] == ["a"] * n_judges
    assert sum(next_replies) < 20 * rows.height


def test_rows_that_contradict_each_other_are_named(tmp_path, capsys):
    path = tmp_path / "twice.csv"
    path.write_text("item_id,replication,verdict\nq1,0,A\nq1,0,B\n")
    with pytest.raises(SweepError, match=r"2 rows hold the same replication.*item_id=q1"):
        doctor(path)
    assert main(["doctor", str(path)]) == 2
    assert "item_id=q1, replication=0" in capsys.readouterr().err


def test_a_machine_without_a_base_package_is_not_fit():
    def version_of(name):
        if name in ("polars", "altair"):
            raise PackageNotFoundError(name)
        return "1"

    required = ["numpy>=2", "polars>=2", "altair>=6; extra == 'report'", "s3fs; extra == 's3'"]
    found = {one.name: one for one in checks(required=lambda: required, version_of=version_of)}
    assert (found["base"].is_there, found["base"].hint) == (
        False,
        "pip install . in a checkout of judgerel_ray",
    )
    assert found["report"].hint == "pip install '.[report]' in a checkout of judgerel_ray"
    assert found["s3"].is_there
    fit = judgerel_ray.doctor().is_fit
    assert fit


def test_the_command_says_what_the_machine_has(capsys):
    assert main(["doctor", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {"python", "base", "gpu", "disk", "token"} <= {one["name"] for one in told["machine"]}
    assert set(told) == {"machine"}


def test_the_machine_is_looked_at_without_what_it_may_lack():
    code = (
        "import judgerel_ray, sys; judgerel_ray.doctor().as_text(); "
        "sys.exit(bool({'polars', 'ray', 'torch', 'rich'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_table_of_other_names_gets_a_mapping_that_import_reads_once_filled_in(tmp_path, capsys):
    table, mapping, out = (tmp_path / one for one in ("t.csv", "map.toml", "out.parquet"))
    table.write_text('prompt_id,run,"is ""ok""",who\nq,1,yes,a\nq,2,yes,a\nr,1,no,a\nr,2,yes,a\n')
    assert main(["doctor", str(table)]) == 2
    said = capsys.readouterr()
    assert said.err.count("\n") == 1
    assert f"import table {table} --map map.toml" in said.err
    [flags] = re.findall(r"Try: judgerel (reduce \S+ .*?); for", said.err)
    assert main(shlex.split(flags)) == 0
    assert r'verdict = "is \"ok\""' in said.out
    imported = ["import", "table", str(table), "--map", str(mapping), "--out", str(out)]
    mapping.write_text(said.out.replace(r'"is \"ok\""', '"?"'))
    capsys.readouterr()
    assert main(imported) == 2
    assert "no column '?' for verdict" in capsys.readouterr().err
    mapping.write_text(said.out)
    assert main(imported) == 0
    rows = pl.read_parquet(out).select("item_id", "replication", "verdict").rows()
    assert sorted(rows) == [("q", 1, "yes"), ("q", 2, "yes"), ("r", 1, "no"), ("r", 2, "yes")]


def test_a_column_of_a_frame_and_repeats_alone_are_missed_as_by_reduce(tmp_path):
    with pytest.raises(SweepError, match="column missing: item_id"):
        doctor(judged(verdict=["a"] * 72).drop("item_id"))
    (tmp_path / "t.csv").write_text("item_id,verdict\nq,a\nr,b\n")
    doctor(str(tmp_path / "t.csv"))


@pytest.mark.parametrize("called", ["model", "Judge", "rater"])
def test_the_mapping_that_is_proposed_keeps_judges_apart(tmp_path, capsys, called):
    table, mapping, out = (tmp_path / one for one in ("t.csv", "map.toml", "out.parquet"))
    lines = [f"p{item},{judge},{run},{'yes' if (item + run) % 3 else 'no'}"
             for judge in ("a", "b") for item in range(12) for run in range(3)]  # fmt: skip
    table.write_text("\n".join([f"prompt_id,{called},run,answer", *lines]))
    assert main(["doctor", str(table)]) == 2
    said = capsys.readouterr().out
    assert f'judge = "{called}"' in said
    said = said.replace('verdict = "?"', 'verdict = "answer"')
    imported = ["import", "table", str(table), "--map", str(mapping), "--out", str(out)]
    mapping.write_text(said)
    assert main(imported) == 0
    rows = pl.read_parquet(out)
    assert rows.group_by("judge").len().sort("judge").rows() == [("a", 36), ("b", 36)]
    assert rows.select("judge", "item_id", "replication").is_unique().all()
    # Without that line who judged is read by its name, and nothing is thrown away.
    mapping.write_text(said.replace("judge =", "# judge ="))
    capsys.readouterr()
    assert main([*imported, "--force"]) == 0
    assert f"read {called} as judge" in capsys.readouterr().err
    assert pl.read_parquet(out).equals(rows)


def test_repeats_side_by_side_are_read(tmp_path, capsys):
    table = tmp_path / "t.csv"
    table.write_text("item,run1,run2,run3\n" + "".join(f"q{one},a,b,a\n" for one in range(8)))
    assert main(["doctor", str(table)]) == 0
    assert "run1, run2, run3 as verdict, a replication each" in capsys.readouterr().err


@pytest.mark.alike(2)
@pytest.mark.parametrize("kind", ["right", "no right verdicts", "other items", "one judge"])
def test_a_panel_is_supported_exactly_where_panels_counts_one(kind):
    rows = judged(judge=["a"] * 72, gold=["a"] * 72)
    other = rows.with_columns(judge=pl.lit("b"), verdict=pl.col("verdict").reverse())
    if kind == "other items":
        other = other.with_columns(pl.col("item_id") + "x")
    both = rows if kind == "one judge" else pl.concat([rows, other])
    both = both.drop("gold") if kind == "no right verdicts" else both
    told = {one.verb: one for one in doctor(both).supports}["panels"]
    assert told.is_supported == (kind == "right")
    if told.is_supported:
        assert not judgerel_ray.panels(both, exact_values=True).panels.is_empty()
        return
    with pytest.raises(SweepError):
        judgerel_ray.panels(both, exact_values=True)
    assert ("labels in a column gold" in told.unblock) == (kind == "no right verdicts")
    assert ("another judge" in told.unblock) == (kind != "no right verdicts")


def test_of_scores_alone_nothing_is_promised_that_select_refuses():
    rows = judged(score=[float(one % 5) for one in range(72)], gold=["1"] * 72).drop("verdict")
    told = {one.question: one for one in doctor(rows).supports}["is it right"]
    assert (told.verb, told.is_supported) == ("reduce", True)
    assert judgerel_ray.reduce(rows, coefficients="accuracy")["value"][0] > 0


def test_an_empty_cell_is_no_value_of_its_column():
    rows = judged(confidence=None, cost=[0.1, None] * 36, option_order=[0, None] * 36)
    found = doctor(rows)
    told = {one.column: (one.n_values, one.n_empty) for one in found.columns}
    assert told["confidence"] == (0, 72)
    assert told["cost"] == told["option_order"] == (1, 36)
    shown = [line.split() for line in found.as_text().splitlines()]
    assert ["1", "value,", "36", "empty"] in [line[-4:] for line in shown if line[:1] == ["cost"]]


def test_many_judges_of_which_as_much_is_known_are_one_line(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [
        {"judge": f"judge-{k}-{'x' * 90}", "item_id": f"q{n}", "replication": r,
         "verdict": "ab"[(n + k * r) % 2] if k else "a"}
        for k in range(7) for n in range(4) for r in range(2)
    ]  # fmt: skip
    pl.DataFrame(rows).write_csv("many.csv")
    assert main(["doctor", "many.csv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    assert any(line.startswith("ok  6 groups") and line.endswith(" each") for line in lines)
    constant = next(line for line in lines if line.startswith("--  ..0"))  # names end alike
    assert constant.endswith("4 items, 8 judgments")
    assert "do option order, template and definition matter" in " ".join(lines)
