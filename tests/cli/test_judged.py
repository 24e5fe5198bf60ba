"""What verbs say of how they read a file: one line each on stderr, and on the page."""

import json
import warnings
from pathlib import Path

import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.cli import main
from judgerel_ray.core import SweepError

LINE = "treated as the same verdict: PASS = pass; FAIL = fail (--exact-values keeps them separate)"


@pytest.fixture
def messy(tmp_path):
    path = tmp_path / "messy.csv"
    lines = ["item_id;judge;replication;verdict"]
    for item in range(12):
        word = "PASS" if item % 3 else "FAIL"
        for judge in "ab":
            lines += [
                f"q{item};{judge};{n};{word.lower() if n == 2 and item % 2 else word}"
                for n in range(4)
            ]
    path.write_text("\n".join(lines))
    return str(path)


def test_the_line_stands_beside_json_once(messy, capsys):
    assert main(["reduce", messy, "--format", "json", "--coefficient", "percent_agreement"]) == 0
    out, err = capsys.readouterr()
    assert [row["value"] for row in json.loads(out)] == [1.0, 1.0]
    assert err.splitlines() == [
        "judgerel: read with semicolons between columns, as in its first line",
        f"judgerel: {LINE}",
    ]


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    "arguments",
    [
        ["reduce"],
        ["questions"],
        pytest.param(["advise"], marks=pytest.mark.slow),
        ["compare", "--by", "judge"],
    ],
)
def test_every_verb_reads_by_one_reader(arguments, messy, capsys):
    verb, *rest = arguments
    assert main([verb, messy, *rest]) == 0
    assert capsys.readouterr().err.count(LINE) == 1
    assert main([verb, messy, *rest, "--exact-values"]) == 0
    assert LINE not in capsys.readouterr().err


@pytest.mark.slow
def test_two_files_are_compared_by_their_words(messy, tmp_path, capsys):
    other = tmp_path / "other.csv"
    other.write_text(Path(messy).read_text().replace("PASS", "Pass").replace("FAIL", "Fail"))
    found = {}
    for flags in ([], ["--exact-values"]):
        assert main(["compare", messy, str(other), "--format", "json", *flags]) == 0
        out, _ = capsys.readouterr()
        rows = [row for row in json.loads(out) if row["coefficient"] == "percent_agreement"]
        found[bool(flags)] = rows[0]
    assert (found[False]["value_a"], found[False]["value_b"]) == (1.0, 1.0)
    assert found[True]["value_a"] < 1


@pytest.mark.slow
@pytest.mark.parametrize("swapped", [False, True])
def test_words_of_two_files_are_the_same_words(swapped, messy, tmp_path, capsys):
    """Chance agreement is of two verdicts, not of the four spellings that both files have."""
    clean, other = tmp_path / "clean.csv", tmp_path / "other.csv"
    text = Path(messy).read_text().replace("pass", "PASS").replace("fail", "FAIL")
    text = text.replace("q1;a;0;PASS", "q1;a;0;FAIL")
    clean.write_text(text)
    other.write_text(text.replace("PASS", "pass").replace("FAIL", "Fail"))
    name = ["--coefficient", "brennan_prediger", "--format", "json"]
    assert main(["reduce", str(clean), *name]) == 0
    alone = [row["value"] for row in json.loads(capsys.readouterr().out)]
    paths = [str(clean), str(other)]
    assert main(["compare", "--full", *(reversed(paths) if swapped else paths), *name]) == 0
    out, err = capsys.readouterr()
    rows = json.loads(out)
    assert [row["value_a"] for row in rows] == [row["value_b"] for row in rows] == alone
    assert err.count("treated as the same verdict: PASS = pass; FAIL = Fail (") == 1
    assert main(["compare", "--full", *paths, *name, "--exact-values"]) == 0
    out, err = capsys.readouterr()
    assert "treated as the same verdict" not in err
    assert json.loads(out)[0]["value_a"] > alone[0]


@pytest.mark.slow
def test_the_page_says_how_its_file_was_read(messy, tmp_path, capsys):
    page = tmp_path / "page.html"
    assert main(["report", messy, "--out", str(page)]) == 0
    assert LINE in capsys.readouterr().err
    assert "treated as the same verdict: PASS = pass; FAIL = fail" in page.read_text(
        encoding="utf-8"
    )


def test_a_program_is_warned_at_its_own_line(messy):
    with pytest.warns(judgerel_ray.ReadingWarning) as caught:
        judgerel_ray.reduce(messy)
    assert [str(one.message) for one in caught][1:] == [LINE]
    assert {one.filename for one in caught} == {__file__}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        judgerel_ray.reduce(pl.read_csv(messy, separator=";"), exact_values=True)


@pytest.mark.slow
def test_frames_go_where_paths_go(messy):
    frame = pl.read_csv(messy, separator=";")
    with pytest.warns(judgerel_ray.ReadingWarning):
        of_frame = judgerel_ray.reduce(frame)
    with pytest.warns(judgerel_ray.ReadingWarning):
        of_path = judgerel_ray.reduce(messy)
    assert of_frame.equals(of_path)
    with pytest.warns(judgerel_ray.ReadingWarning):
        assert judgerel_ray.reduce(frame.to_arrow()).equals(of_path)


@pytest.mark.parametrize("given", [None, 7, [1, 2], {"item_id": ["q"]}, b"a.csv"])
def test_what_is_neither_path_nor_frame_is_refused(given):
    with pytest.raises(SweepError, match="expected"):
        judgerel_ray.reduce(given)


def test_ratings_and_answers_may_be_frames():
    scores = {
        "item_id": ["q", "r"] * 4, "replication": [0, 0, 1, 1] * 2, "judge": ["j"] * 8,
        "scale": ["points5"] * 4 + ["likert5"] * 4, "score": [1, 2, 1, 3, 0, 1, 0, 4],
    }  # fmt: skip
    assert judgerel_ray.scales(pl.DataFrame(scores)).self_consistency.height == 2
    answers = {
        "item_id": [f"q{n}" for n in range(20)], "replication": [0] * 20,
        "verdict": ["A", "B"] * 10, "gold": ["a ", "A"] * 10, "confidence": [0.5] * 20,
    }  # fmt: skip
    assert judgerel_ray.select(pl.DataFrame(answers).lazy()).systems["accuracy"].to_list() == [0.5]


def test_names_that_differ_in_spelling_alone_are_kept_apart_and_said(tmp_path, capsys):
    path = tmp_path / "log.csv"
    rows = [
        f"{item},{judge},{n},A"
        for item in ("1", "1.0", "q2", "Q2 ", "q3")
        for judge in ("GPT", "gpt ")
        for n in range(2)
    ]
    path.write_text("\n".join(["item_id,judge,replication,verdict", *rows]))
    assert main(["reduce", str(path), "--by", "judge", "--format", "json"]) == 0
    out, err = capsys.readouterr()
    assert {row["judge"]: row["n_items"] for row in json.loads(out)} == {"GPT": 5, "gpt ": 5}
    assert err.splitlines() == [
        "judgerel: judges kept apart that differ in spelling alone: 'GPT' and 'gpt '",
        "judgerel: items kept apart that differ in spelling alone: '1' and '1.0'; 'Q2 ' and 'q2'",
    ]


@pytest.mark.slow
def test_items_of_two_files_that_do_not_meet_are_said(tmp_path, capsys):
    a, b = tmp_path / "a.parquet", tmp_path / "b.parquet"
    rows = {"replication": [0, 1] * 3, "verdict": list("AABBAB")}
    pl.DataFrame({"item_id": [1, 1, 2, 2, 3, 3], **rows}).write_parquet(a)
    pl.DataFrame({"item_id": [1.0, 1.0, 2.0, 2.0, 3.0, 3.0], **rows}).write_parquet(b)
    assert main(["compare", str(a), str(b)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "no item_id is in both: a has '1', '2', '3'; b has '1.0', '2.0', '3.0'" in err
    assert err.count("\n") == 1
    pl.DataFrame({"item_id": ["1", "1", "2", "2", "3 ", "3 "], **rows}).write_parquet(b)
    assert main(["compare", str(a), str(b), "--format", "json"]) == 0
    out, err = capsys.readouterr()
    assert {(row["n_left_out_a"], row["n_left_out_b"]) for row in json.loads(out)} == {(1, 1)}
    line = "1 item of the two differs in spelling alone, and is left out on both sides: '3' and "
    assert line in err
