"""Logs as they come: any value in any field, bombs, copies of members, code among judges."""

from __future__ import annotations

import copy
import gzip
import json
import lzma
import subprocess
import zipfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.unpacking_bombs import BOMBS, refusal, write_bomb
from judgerel_ray.cli import main
from judgerel_ray.core import ReadingWarning, SweepError
from judgerel_ray.importers.logs.asked import log_items
from judgerel_ray.importers.logs.collect import import_logs
from tests.importers.test_logs import EVAL, INSPECT, LOGS, PROMPTFOO, SAMPLES, lines

quiet = pytest.mark.filterwarnings("ignore::judgerel_ray.core.ReadingWarning")
CASES = Path(__file__).parent.parent / "cases"


def outcomes(path, tmp_path, capsys, *more):
    """The last line of an import of a log, behind the name of its file, and its notes."""
    out = tmp_path / "j.parquet"
    assert main(["import", "auto", str(path), "--out", str(out), *more]) == 0
    printed = capsys.readouterr()
    return printed.out.partition(f"{out}: ")[2].strip(), printed.err


def test_a_preference_of_0_is_a_draw(tmp_path, capsys):
    said, _ = outcomes(CASES / "alp0.json", tmp_path, capsys)
    assert said == "5 scored, 1 unparsed"
    found = pl.read_parquet(tmp_path / "j.parquet")["verdict"].to_list()
    assert found == ["base", "cand", "tie", None, "tie", "tie"]


def test_scorers_of_code_are_no_judges(tmp_path, capsys):
    said, notes = outcomes(CASES / "inspect_code.json", tmp_path, capsys)
    assert said == "6 scored"
    assert "left out: scores 6 of word_count, 6 of latency_ok" in notes
    found = pl.read_parquet(tmp_path / "j.parquet")
    assert set(found.select("judge", "criterion").rows()) == {("grader-x", "model_graded_qa")}


def test_both_games_of_a_pair_are_read_by_their_order(tmp_path, capsys):
    outcomes(CASES / "ah.jsonl", tmp_path, capsys)
    found = pl.read_parquet(tmp_path / "j.parquet")
    assert found["verdict"].to_list()[:2] == ["base", "base"]
    assert found.filter(item_id="u3")["verdict"].to_list() == ["tie", None]


def test_single_answers_of_arena_bench_name_no_judge(tmp_path, capsys):
    said, _ = outcomes(CASES / "arena_single.jsonl", tmp_path, capsys, "--judge", "j")
    assert said == "1 scored, 1 unparsed"
    found = pl.read_parquet(tmp_path / "j.parquet").select("judge", "responder", "score").rows()
    assert found == [("j", "cand-7b", 8.0), ("j", "cand-7b", None)]


def test_what_a_reply_says_stands_before_the_score_that_fastchat_recorded(tmp_path, capsys):
    said, _ = outcomes(CASES / "fc_single.jsonl", tmp_path, capsys)
    assert said == "4 scored"
    found = pl.read_parquet(tmp_path / "j.parquet").select("item_id", "replication", "score")
    assert found.rows() == [("1", 0, 8.5), ("1", 1, 7.0), ("2", 0, 9.0), ("3", 0, 9.0)]


def scored(scores, **more):
    """A log of Inspect with one sample of these scores."""
    one = {"id": 1, "epoch": 1, "input": "q", "output": {"completion": "a"}, "scores": scores}
    return {**INSPECT, "eval": {"task": "t", "model": "m"}, "samples": [{**one, **more}]}


VALUE = {"value": 1.0}
STEPS = [
    {"event": "step", "action": "begin", "type": "scorer", "name": "mine"}, {"event": "model"},
    {"event": "step", "action": "end", "type": "scorer", "name": "mine"},
]  # fmt: skip
SPANS = [
    {"event": "span_begin", "id": "a", "type": "scorer", "name": "mine"},
    {"event": "span_begin", "id": "b", "parent_id": "a", "type": None, "name": "x"},
    {"event": "model", "span_id": "b"},
]


@pytest.mark.parametrize(
    ("log", "judges"),
    [
        (scored({"mine": VALUE, "code": VALUE}, events=STEPS), {"mine"}),
        (scored({"mine": VALUE, "code": VALUE}, events=SPANS), {"mine"}),
        (scored({"model_graded_fact1": VALUE, "code": VALUE}), {"model_graded_fact1"}),
        ({**scored({"mine": VALUE, "code": VALUE}), "eval": {"task": "t", "scorers": [
            {"name": "own/mine", "options": {"model": "g"}}, {"name": "code", "options": {}}]}},
         {"mine"}),
        ({**scored({"mine": VALUE, "match": VALUE}), "eval": EVAL}, {"mine"}),
    ],
    ids=["steps", "spans", "name", "option", "role"],
)  # fmt: skip
def test_a_scorer_judges_where_something_shows_that_it_asked_a_model(log, judges, tmp_path):
    (tmp_path / "log.json").write_text(json.dumps(log))
    with pytest.warns(ReadingWarning, match="computed without a model"):
        found = import_logs("auto", [str(tmp_path / "log.json")])
    assert set(found["criterion"]) == judges


def test_a_member_that_stands_twice_counts_once(tmp_path, capsys):
    file = tmp_path / "log.eval"
    first = {**SAMPLES[0], "scores": {"model_graded_qa": {"value": "I"}}}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", json.dumps({"eval": EVAL}))
        archive.writestr("samples/1_epoch_1.json", json.dumps(first))
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("samples/1_epoch_1.json", json.dumps(SAMPLES[0]))
    said, notes = outcomes(file, tmp_path, capsys)
    assert said == "1 scored"
    assert "1 member of" in notes
    assert "the last counts" in notes
    assert pl.read_parquet(tmp_path / "j.parquet")["verdict"].to_list() == ["correct"]


def test_half_a_character_is_kept_as_its_escape(tmp_path, capsys):
    changed = copy.deepcopy(PROMPTFOO["results"]["results"][:2])
    changed[0]["vars"]["q"] = "2+2? \ud83d"
    changed[1]["vars"]["q"] = "2+2? \ud83e \U0001f600"
    (tmp_path / "log.jsonl").write_text(lines(*changed))
    said, notes = outcomes(tmp_path / "log.jsonl", tmp_path, capsys)
    assert said == "3 scored"
    assert "2 texts with half of a character" in notes
    names = pl.read_parquet(tmp_path / "j.parquet")["item_id"].str.replace("#.*", "").to_list()
    assert names == ["2+2? \\ud83d", *["2+2? \\ud83e \U0001f600"] * 2]


def test_what_a_reader_cannot_read_is_one_line_with_record_and_cause(tmp_path, monkeypatch):
    from judgerel_ray.importers.logs import graders

    monkeypatch.setattr(graders, "named_by", lambda _: 1 / 0)
    (tmp_path / "log.json").write_text(json.dumps(LOGS["alpaca_eval", "annotations.json"]))
    with pytest.raises(SweepError) as refused:
        import_logs("auto", [str(tmp_path / "log.json")])
    assert str(refused.value) == (
        "a record is none of alpaca_eval: ZeroDivisionError: division by zero "
        f"[file={tmp_path}/log.json, record=1]"
    )


DEEP = '{"a":' * 300 + "1" + "}" * 300
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8),
    st.sampled_from([10**400, -(10**30), "\ud800", "x\udfff", "", [], {}, [[]], [None],
                     {"": None}, {"\ud800": "\udc00"}, "\0", "a\nb", json.loads(DEEP)]),
    st.lists(st.one_of(st.none(), st.integers(), st.text(max_size=3)), max_size=3),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
)  # fmt: skip


def places(value, path=()):
    """Every place in a document."""
    yield path
    inner = value.items() if isinstance(value, dict) else ()
    for name, one in enumerate(value) if isinstance(value, list) else inner:
        yield from places(one, (*path, name))


def changed(value, path, new):
    """A document with another value in one place."""
    if not path:
        return new
    found = copy.copy(value)
    found[path[0]] = changed(value[path[0]], path[1:], new)
    return found


@pytest.mark.alike(5)
@quiet
@settings(max_examples=25, deadline=None)
@pytest.mark.parametrize("log", LOGS, ids="-".join)
@given(data=st.data())
def test_any_value_in_any_field_is_read_or_refused_in_one_line(log, data, tmp_path_factory):
    given = LOGS[log]
    listed = isinstance(given, str)
    document = [json.loads(line) for line in given.splitlines()] if listed else given
    at = data.draw(st.sampled_from([one for one in places(document) if one]))
    document = changed(document, at, data.draw(VALUES))
    file = tmp_path_factory.mktemp("logs") / log[1]
    file.write_text(lines(*document) if listed else json.dumps(document))
    for read in (lambda: import_logs(log[0], [str(file)]), lambda: log_items([str(file)])):
        try:
            read()
        except SweepError as error:
            assert len(error.problem.splitlines()) <= 1, error.problem  # noqa: PT017
            assert str(file) in str(error.where.values()), error  # noqa: PT017


MIB = 1 << 20


@pytest.mark.slow
@pytest.mark.parametrize("kind", BOMBS)
def test_a_bomb_is_refused_before_it_fills_the_memory(kind, tmp_path):
    file = write_bomb(kind, tmp_path, 300)
    assert file.stat().st_size < 2 * MIB
    said, peak = refusal(kind, file)
    assert said.count("\n") == 1
    for part in ("times its packed size", str(file), "--unpack-limit"):
        assert part in said
    assert peak <= 300


@pytest.mark.slow
@quiet
@pytest.mark.parametrize("verb", ["import", "reduce"])
def test_rows_alike_but_honest_are_read_however_well_they_pack(verb, tmp_path, capsys):
    file, out = tmp_path / "rows.jsonl.xz", tmp_path / "j.parquet"
    row = {
        "judge": "j",
        "replication": 0,
        "verdict": "A",
        "prompt": "Judge the two answers. " * 500,
    }
    rows = "".join(json.dumps({**row, "item_id": f"q{n}"}) + "\n" for n in range(800))
    file.write_bytes(lzma.compress(rows.encode()))
    assert len(rows) > 8 * MIB > 400 * file.stat().st_size
    asked = ["import", "table", str(file), "--out", str(out)]
    assert main(asked if verb == "import" else ["reduce", str(file)]) == 0, capsys.readouterr().err


@pytest.mark.slow
def test_a_measuring_verb_names_the_command_that_unpacks(tmp_path, capsys):
    file = tmp_path / "rows of mine.csv.gz"
    write_bomb("equal rows of a table", tmp_path, 140).rename(file)
    assert main(["reduce", str(file)]) == 2
    command = f"gunzip -k '{file}'"
    assert command in capsys.readouterr().err
    subprocess.run(command, shell=True, check=True)
    assert file.with_suffix("").exists()


@pytest.mark.slow
@quiet
def test_the_flag_raises_the_ceiling(tmp_path, capsys):
    file, out = tmp_path / "log.json.gz", tmp_path / "j.parquet"
    one = {**LOGS["alpaca_eval", "annotations.json"][0], "output_1": "a" * 6 * MIB}
    file.write_bytes(gzip.compress(json.dumps([one]).encode()))
    verb = ["import", "auto", str(file), "--out", str(out)]
    assert main(verb) == 2
    assert "--unpack-limit GB" in capsys.readouterr().err
    assert main([*verb, "--unpack-limit", "0.001"]) == 2
    assert "more than 0.001 GiB" in capsys.readouterr().err
    assert main([*verb, "--unpack-limit", "1"]) == 0
    assert pl.read_parquet(out).height == 1
