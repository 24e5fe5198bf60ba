"""Foreign judgments of schroeder2024, in every form people hold them."""

import json
import zipfile

import polars as pl
import pytest

from judgerel_ray.core import SweepError
from judgerel_ray.counting.judgments import tally_file
from judgerel_ray.importers import IMPORTERS, import_schroeder2024, read_foreign_judgments

TEXTS = {
    "bbh:navigate": ["Best Response: [[B]]", "[F]: none", "Best Response: c"],
    "squad:57": ["Best Response: A\nBest Response: D", "Best Response: E, Best Response: E", ""],
    "mtb:coding": ["x", "y", "Best Response: [[Best Response Letter]]"],
}
RELEASED = {"lab/judge": {"temperature: 1": TEXTS, "temperature: 2.220446049250313e-16": TEXTS}}
READ = {
    "bbh:navigate": [("B", "scored"), (None, "unparsed"), ("C", "scored")],
    "squad:57": [(None, "conflicting"), ("E", "scored"), (None, "unparsed")],
    "mtb:coding": [(None, "unparsed"), (None, "unparsed"), ("B", "scored")],
}


def table():
    rows = [
        ("lab/judge", temperature, question, benchmark, replication, text)
        for temperature in (1.0, 0.0)
        for (question, texts), benchmark in zip(
            TEXTS.items(), ("bbh", "squad", "mt_bench"), strict=True
        )
        for replication, text in enumerate(texts)
    ]
    names = ["judge", "temperature", "question_id", "benchmark", "replication", "text"]
    return pl.DataFrame(rows, schema=names, orient="row")


def write_zip(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("full_judgements_lab_judge.json", json.dumps(RELEASED))
        archive.writestr("__MACOSX/._full_judgements_lab_judge.json", b"\x00\x05attributes")


WRITERS = {
    "judgments.zip": write_zip,
    "full_judgements_lab_judge.json": lambda path: path.write_text(json.dumps(RELEASED)),
    "judgments.parquet": lambda path: table().write_parquet(path),
    "single.parquet": lambda path: (
        table()
        .cast({"temperature": pl.Float32, "replication": pl.Int16, "judge": pl.Categorical})
        .write_parquet(path)
    ),
    "judgments.csv": lambda path: table().write_csv(path),
    "judgments.jsonl": lambda path: table().write_ndjson(path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_form_gives_the_same_judgments(tmp_path, name):
    path = tmp_path / name
    WRITERS[name](path)
    found = import_schroeder2024(str(path))
    assert found.height == 18
    assert found["temperature"].unique().sort().to_list() == [0.0, 1.0]
    assert found.select("item_id", "benchmark").unique(maintain_order=True).rows() == [
        ("bbh:navigate", "bbh"),
        ("squad:57", "squad"),
        ("mtb:coding", "mt_bench"),
    ]
    for (question, temperature), rows in found.group_by("item_id", "temperature"):
        assert rows["replication"].to_list() == [0, 1, 2]
        assert rows.select("label", "outcome").rows() == READ[question], temperature
    assert found["verdict"].to_list() == found["label"].to_list()
    assert set(found["judge"]) == {"lab/judge"}


def test_what_is_imported_can_be_reduced(tmp_path):
    source, written = tmp_path / "judgments.zip", tmp_path / "judgments.parquet"
    write_zip(source)
    read_foreign_judgments("schroeder2024", str(source)).write_parquet(written)
    loaded = tally_file(str(written)).rows.collect()
    assert loaded.height == 18
    assert loaded["outcome"].n_unique() == 3


def test_temperatures_of_single_precision_are_those_asked_for(tmp_path):
    path = tmp_path / "judgments.parquet"
    told = table().with_columns(temperature=pl.lit(0.7, pl.Float32))
    told.unique(["question_id", "replication"]).write_parquet(path)
    assert import_schroeder2024(str(path))["temperature"].unique().to_list() == [0.7]


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ("{", "not JSON"),
        ("[]", "expected an object of judges, got list"),
        ("{}", "expected an object of judges"),
        ('{"j": []}', "expected an object of temperatures, got list"),
        ('{"j": {"hot": {}}}', "expected a key such as 'temperature: 0.25', got 'hot'"),
        ('{"j": {"temperature: -1": {}}}', "got 'temperature: -1'"),
        ('{"j": {"temperature: 1": {}}}', "expected an object of questions"),
        ('{"j": {"temperature: 1": {"gsm:1": []}}}', "bbh, squad or mtb, got 'gsm:1'"),
        ('{"j": {"temperature: 1": {"bbh:a": "x"}}}', "a list of texts"),
        ('{"j": {"temperature: 1": {"bbh:a": ["x", 1]}}}', "a list of texts"),
        ('{"j": {"temperature: 1": {"bbh:a": []}}}', "holds no judgments"),
    ],
)
def test_another_layout_is_one_line(tmp_path, document, said):
    path = tmp_path / "full_judgements_j.json"
    path.write_text(document)
    with pytest.raises(SweepError, match=said) as caught:
        import_schroeder2024(str(path))
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: t.drop("benchmark", "text"), "column missing: benchmark, text; got judge"),
        (lambda t: t.with_columns(benchmark=pl.lit("mmlu")), "bbh, squad or mt_bench.*row=1"),
        (lambda t: t.with_columns(temperature=-pl.col("temperature") - 1), "from 0 on"),
        (lambda t: t.with_columns(temperature=pl.lit(float("nan"))), "temperature must be"),
        (lambda t: t.with_columns(temperature=pl.lit("warm")), "cannot be read"),
        (lambda t: t.with_columns(replication=pl.col("replication") + 0.5), "whole number"),
        (lambda t: t.with_columns(replication=pl.lit(None, pl.Int64)), "whole number"),
        (lambda t: t.with_columns(judge=pl.lit(None, pl.String)), "judge is missing"),
        (lambda t: t.with_columns(question_id=pl.lit(None, pl.String)), "question_id is missing"),
        (lambda t: pl.concat([t, t]), "more than once.*question_id=bbh:navigate, replication=0"),
        (lambda t: t.clear(), "holds no judgments"),
    ],
)
def test_rows_that_say_something_impossible_are_one_line(tmp_path, change, said):
    path = tmp_path / "judgments.parquet"
    change(table()).write_parquet(path)
    with pytest.raises(SweepError, match=said) as caught:
        import_schroeder2024(str(path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("judgments.zip", b"no zip", "cannot be read: File is not a zip file"),
        ("judgments.parquet", b"no parquet", "cannot be read: it is no whole Parquet file: "),
        ("judgments.json", b"", "the file is empty"),
        (
            "judgments.txt",
            b"x",
            "expected .zip, .json, .parquet, .csv, .tsv, .jsonl, .ndjson, got .txt",
        ),
        ("judgments.json", b"\xff\xfe", "not JSON"),
    ],
)
def test_what_is_no_such_file_is_one_line(tmp_path, name, content, said):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(SweepError, match=said) as caught:
        import_schroeder2024(str(path))
    assert "\n" not in str(caught.value)


def test_an_archive_without_judgments_is_said(tmp_path):
    path = tmp_path / "judgments.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "x")
    with pytest.raises(SweepError, match=r"holds no \.json file"):
        import_schroeder2024(str(path))


def test_a_missing_file_and_a_folder_are_said(tmp_path):
    with pytest.raises(SweepError, match="no such file"):
        import_schroeder2024(str(tmp_path / "judgments.zip"))
    folder = tmp_path / "unpacked.json"
    folder.mkdir()
    with pytest.raises(SweepError, match="got a folder"):
        import_schroeder2024(str(folder))


def test_an_unknown_format_is_told_its_neighbour():
    assert IMPORTERS["schroeder2024"] is import_schroeder2024
    with pytest.raises(SweepError, match=r"unknown format 'Schroeder24'.*Try: schroeder2024"):
        read_foreign_judgments("Schroeder24", "x.zip")
    with pytest.raises(
        SweepError, match=r"expected one of auto, .*, schroeder2024, table, people, bergman2025$"
    ):
        read_foreign_judgments("nonsense", "x.eval")


SAID = {"Who?": ["correct", "INCORRECT.", "2019"], "Where?": ["", "it is correct", "incorrect"]}


def said_table():
    rows = [(q, r, text) for q, texts in SAID.items() for r, text in enumerate(texts)]
    return pl.DataFrame(rows, schema=["question", "replication", "verdict_text"], orient="row")


def test_the_application_is_read_from_its_files_and_from_tables(tmp_path):
    released = tmp_path / "judge_full_lab_judge-7b_by_lmsys_vicuna.json"
    released.write_text(json.dumps(SAID))
    said_table().with_columns(judge=pl.lit("lab/judge-7b")).write_csv(tmp_path / "told.csv")
    found = import_schroeder2024(str(released))
    assert set(found["responder"]) == {"lmsys/vicuna"}
    for one in (found.drop("responder"), import_schroeder2024(str(tmp_path / "told.csv"))):
        assert one.select("judge", "benchmark", "protocol", "temperature").unique().rows() == [
            ("lab/judge-7b", "head_to_tail", "correctness", 0.75)
        ]
        assert one["item_id"].to_list() == ["Who?"] * 3 + ["Where?"] * 3
        assert one["verdict"].to_list() == [
            "correct",
            "incorrect",
            None,
            None,
            "correct",
            "incorrect",
        ]
        assert one["outcome"].to_list()[2:4] == ["unparsed", "unparsed"]


def test_the_application_of_another_layout_is_one_line(tmp_path):
    path = tmp_path / "told.parquet"
    pl.concat([said_table()] * 2).write_parquet(path)
    with pytest.raises(SweepError, match="more than once"):
        import_schroeder2024(str(path))
    said_table().with_columns(replication=pl.lit("first")).write_parquet(path)
    with pytest.raises(SweepError, match="cannot be read"):
        import_schroeder2024(str(path))
    released = tmp_path / "judge_full_a_by_b.json"
    released.write_text('{"Who?": ["correct"], "Where?": ["correct", 1]}')
    with pytest.raises(SweepError, match=r"a list of texts.*question=Where\?"):
        import_schroeder2024(str(released))


def test_a_folder_gives_the_answers_judged_by_both_rules(tmp_path):
    asked = {
        "bbh:b": {"type": "bbh", "prompt": "Is it?", "model_responses": {"m": "It is no."}},
        "bbh:a": {
            "type": "bbh",
            "prompt": "Which? (A) no (B) yes",
            "model_responses": {"m": "I say (A). It is."},
        },
    }
    (tmp_path / "prompt_responses.json").write_text(json.dumps(asked))
    sampled = [
        {"category": "a", "input": "Which? (A) no (B) yes", "target": "(A)"},
        {"category": "b", "input": "Is it?", "target": "no"},
    ]
    (tmp_path / "bbh_sampled_q.json").write_text(json.dumps(sampled))
    found = import_schroeder2024(str(tmp_path))
    assert found.select("judge", "item_id", "responder", "verdict").rows() == [
        ("as_coded", "bbh:a", "m", "correct"),
        ("as_coded", "bbh:b", "m", "incorrect"),  # by the answer to the question before
        ("whole_answer", "bbh:a", "m", "correct"),
        ("whole_answer", "bbh:b", "m", "correct"),
    ]
    assert "1 of 2 questions are scored by another's responses" in found["definition"][0]
    with pytest.raises(SweepError, match="expected one prompt_responses"):
        import_schroeder2024(str(tmp_path / ".."))
