"""What numbers rest on is said with them: failed requests are no replies."""

import json
from pathlib import Path

import polars as pl
import pytest

import judgerel_ray as jr
from judgerel_ray.analyses.reliability.sections import outcome_section
from judgerel_ray.cli import main
from judgerel_ray.core import ReadingWarning
from judgerel_ray.counting.outcomes import outcome_table
from judgerel_ray.measuring.reliability import ReduceOptions
from tests.opening import reduction

TOO_LONG = "refused: prompt_too_long: 9 prompt + 2 new tokens > 8"
ROWS = ["item_id,judge,temperature,replication,verdict,outcome,finish_reason,block"]
ROWS += [f"q1,j,{t},{r},A,scored,stop,0" for t in (0.5, 1.0) for r in range(4)]
ROWS += [f"q2,j,0.5,{r},,failed,{TOO_LONG},0" for r in range(3)]
ROWS += ["q2,j,0.5,3,,failed,refused: no answer of ra,0", "q2,j,1.0,0,B,scored,stop,0"]
ROWS += [f"q3,j,0.5,0,,failed,{TOO_LONG},1"]


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "rows.csv"
    file.write_text("\n".join(ROWS), encoding="utf-8")
    return str(file)


def test_a_request_that_failed_is_no_reply(path, capsys):
    assert main(["reduce", path]) == 0
    assert "4 requests failed (3 prompt_too_long, 1" in " ".join(capsys.readouterr().out.split())
    assert main(["reduce", path, "--full"]) == 0
    out = capsys.readouterr().out
    cold, warm = (" ".join(part.split()) for part in out.split("temperature ")[1:3])
    assert cold.startswith(
        "0.5 2 questions asked, each up to 4 times: 4 replies, valid verdicts 1.000 [no interval] "
        "[1]; 4 requests failed (3 prompt_too_long, 1 never sent, an earlier stage has no text "
        "for them)"
    )
    assert "5 replies, valid" in warm
    assert "failed" not in warm


def test_few_coefficients_say_so_in_one_table(tmp_path, capsys):
    short = tmp_path / "short.csv"
    short.write_text("\n".join(row for row in ROWS if "no answer" not in row), encoding="utf-8")
    assert main(["reduce", str(short), "--coefficient", "valid_rate", "--full"]) == 0
    lines = capsys.readouterr().out.splitlines()
    cold = next(line for line in lines if line.startswith("0.5 "))
    assert "  3 (prompt_too_long)  " in cold
    assert "(prompt_too_long)" not in next(line for line in lines if line.startswith("1 "))


def test_later_blocks_count_where_they_are_asked_for(path, capsys):
    assert main(["reduce", path, "--by", "judge", "--block", "all"]) == 0
    assert "5 requests failed (4 prompt_too_long" in " ".join(capsys.readouterr().out.split())


def test_json_keeps_its_rows(path, capsys):
    assert main(["reduce", path, "--format", "json", "--coefficient", "valid_rate"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["n_judgments"] for row in rows] == [8, 5]


def test_a_report_says_first_that_requests_failed(path, tmp_path):
    page = tmp_path / "r.html"
    assert main(["report", path, "--out", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    said = "j: 4 of 13 requests failed (3 prompt_too_long, 1 never sent"
    assert said in text[: text.index("What was asked")]
    assert "every number rests on 9 replies." in text
    cells = text[text.index("Outcome of every reply") :].split("</table>")[0]
    # 4 replies at 0.5, all of them scored: the failed ones are no part of that share.
    assert 'data-head="replies">4</td><td class="number" data-head="scored">4<' in cells


@pytest.mark.slow
def test_counts_of_a_basis_multiply_where_two_answers_to_a_question_are_rated(tmp_path, capsys):
    page = tmp_path / "r.html"
    assert main(["reduce", jr.example("run"), "--full"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "4 questions asked, each up to 2 times per responder: 16 replies" in told
    assert main(["report", jr.example("run"), "--out", str(page)]) == 0
    written = page.read_text(encoding="utf-8")
    assert "4, each up to 2 times per responder; judgments: 16." in written
    assert "8, each up to 4 times; judgments: 32." in written


@pytest.mark.parametrize(
    ("last", "said"),
    [
        ("scored", ""),
        ("refused", ", with shares of the replies"),
        ("failed", "; failed requests with their share of all that landed"),
    ],
)
def test_the_caption_of_outcomes_speaks_of_the_shares_that_are_there(last, said):
    outcomes = ["scored"] * 3 + [last]
    rows = pl.LazyFrame({
        "item_id": list("qqrr"), "replication": [0, 1, 0, 1], "outcome": outcomes,
        "verdict": ["A" if one == "scored" else None for one in outcomes],
    })  # fmt: skip
    [table] = outcome_section(outcome_table(rows))
    assert table.caption == f"Outcome of every reply, counted{said}"


def test_where_nothing_failed_nothing_is_said(tmp_path, capsys):
    file = tmp_path / "whole.csv"
    file.write_text("\n".join(row for row in ROWS if "failed" not in row), encoding="utf-8")
    assert main(["reduce", str(file)]) == 0
    assert "requests failed" not in capsys.readouterr().out


@pytest.fixture
def half_run(sweep, driver_of):
    """A run of two judges of which one has answered."""
    resolved = sweep(judges=(("j", ""), ("x", "engine_options = { seed = 1 }")),
                     asks=("replications = 4",))  # fmt: skip
    driver = driver_of(resolved)
    resolved.specs.pop("x")
    driver.go("word", waves=1)
    return driver.out


def test_an_unfinished_run_says_so_before_its_numbers(half_run, capsys):
    said = "unfinished: rests on 12 of 24 requests; judge x has none"
    assert main(["reduce", half_run]) == 0
    assert capsys.readouterr().out.splitlines()[0] == said
    assert main(["questions", "--full", half_run]) == 0
    assert capsys.readouterr().out.splitlines()[0] == said
    assert main(["reduce", half_run, "--format", "json"]) == 0
    out, err = capsys.readouterr()
    assert err.splitlines() == [said]
    assert {row["judge"] for row in json.loads(out)} == {"j"}


@pytest.mark.slow
def test_python_and_verbs_of_decisions_say_the_same(half_run, capsys):
    said = "unfinished: rests on 12 of 24 requests; judge x has none"
    for use in (jr.reduce, jr.questions, jr.advise):
        with pytest.warns(ReadingWarning, match=f"^{said}$"):
            use(half_run)
    with pytest.warns(ReadingWarning, match=f"^{half_run}: {said}$"):
        jr.compare(half_run, b=half_run)
    for command, told in [(["advise", half_run], said),
                          (["compare", half_run, half_run], f"{half_run}: {said}")]:  # fmt: skip
        assert main(command) == 0
        assert capsys.readouterr().out.splitlines()[0] == told
        assert main([*command, "--format", "json"]) == 0
        out, err = capsys.readouterr()
        assert json.loads(out)
        assert told in err.splitlines()


def test_without_its_plan_nobody_knows_what_of_a_run_is_pending(half_run, capsys):
    Path(half_run, "plan.json").unlink()
    assert main(["reduce", half_run]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first == "unfinished: rests on 12 requests; how many were asked is not known"


def test_a_run_that_is_done_says_nothing(sweep, driver_of, capsys):
    driver = driver_of(sweep())
    driver.go("word", waves=1)
    assert main(["reduce", driver.out]) == 0
    assert "unfinished" not in capsys.readouterr().out


@pytest.mark.slow
def test_without_its_plan_a_run_has_a_report(half_run, tmp_path):
    Path(half_run, "plan.json").unlink()
    page = tmp_path / "r.html"
    assert main(["report", half_run, "--out", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    assert "12 requests landed, and how many were asked is not known" in text


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:1 row outside block:judgerel_ray.core.ReadingWarning")
def test_later_blocks_are_cautioned_about_where_they_count(tmp_path):
    file = str(tmp_path / "judgments.parquet")
    rows = {"item_id": list("qqqrr"), "replication": [0, 1, 2, 0, 1], "verdict": list("AABBB")}
    rows["block"] = [0, 0, 1, 0, 0]
    pl.DataFrame(rows).write_parquet(file)
    caution = reduction(file, ReduceOptions(block="all")).caution
    assert caution.startswith("1 of these replications are of later blocks")
    assert reduction(file, ReduceOptions()).caution is None
    pl.DataFrame(rows).filter(pl.col("block") == 0).write_parquet(file)
    assert reduction(file, ReduceOptions(block="all")).caution is None
