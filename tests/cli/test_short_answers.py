"""What each verb prints by itself fits one screen, hides nothing that decides, and says what next.

`reduce` has tests of its own.
"""

import json
import re
import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.analyses.advice.panel_worth import Unreachable
from judgerel_ray.analyses.advice.short import advised_short
from judgerel_ray.analyses.advice.tables import Needs
from judgerel_ray.analyses.comparison.show import compared_short
from judgerel_ray.analyses.correction.correction import Caution
from judgerel_ray.analyses.correction.short import corrected_short
from judgerel_ray.analyses.gate.show import short_gate_blocks
from judgerel_ray.analyses.selection.short import systems_short
from judgerel_ray.blocks.blocks import Column, Table
from judgerel_ray.blocks.short import MOST_ROWS, Remark, findings_of_row, short_blocks
from judgerel_ray.blocks.terminal import printed
from judgerel_ray.cli import main
from judgerel_ray.core.codes import Flag

PAIRS = "docs/data/two-judges.csv"
RUN = str(judgerel_ray.example("run"))
LINES = 20
"""Lines that a short answer may have, of two judges."""
_ORDER = ["--order", "simulated-erratic,simulated-steady", "--confidence", "probability"]
OF_VERBS = {
    "advise": ([PAIRS], LINES),
    "compare": ([PAIRS, "--by", "judge"], LINES),
    "gate": ([PAIRS], LINES),
    "questions": ([PAIRS], 25),
    "panels": (["answers.parquet"], LINES),
    "cascade": (["answers.parquet"], LINES),
    "select": (["answers.parquet"], LINES),
    "systems": (["answers.parquet"], LINES),
    "scales": (["ratings.parquet"], 25),  # two tables
    "rank": (["ratings.parquet"], LINES),
    "align": (["ratings.parquet", "--reference", "people.csv"], LINES),
    "correct": (
        ["docs/data/passed-by-a-judge.csv", "--labels", "docs/data/labelled-by-ann.csv",
         "--width", "0.1"], LINES,
    ),
    "serving": ([RUN], LINES),
    "distributions": ([RUN], LINES),
    "uncertainty": ([RUN], LINES),
}  # fmt: skip
"""The arguments of each verb for two judges, and how many lines it may print."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Answers with confidences of two judges, ratings of two judges on two scales, and people's."""
    rng = np.random.default_rng(1)
    made = tmp_path_factory.mktemp("two")
    letters, gold = np.array(list("ABCD")), rng.integers(0, 4, 60)
    answers, latent = [], rng.uniform(size=(24, 1))
    for judge, skill, tokens in (("flash", 0.6, 40), ("opus", 0.8, 500)):
        knows = rng.random(60) < skill
        answers.append(
            pl.DataFrame(
                {"item_id": [f"q{i}" for i in range(60)], "judge": judge, "replication": 0,
                 "gold": letters[gold], "confidence": np.where(knows, 0.9, 0.6),
                 "verdict": letters[np.where(knows, gold, rng.integers(0, 4, 60))],
                 "prompt_tokens": tokens, "completion_tokens": tokens}
            )
        )  # fmt: skip
    pl.concat(answers).write_parquet(made / "answers.parquet")
    ratings = [
        {"judge": judge, "item_id": f"q{n}", "criterion": "factuality", "scale": scale,
         "replication": r,
         "score": float(np.clip(np.rint(low + (high - low) * drawn[n, r]), low, high))}
        for judge, noise in (("steady", 0.05), ("wild", 0.6))
        for scale, (low, high) in {"points5": (1, 5), "points10": (1, 10)}.items()
        for drawn in [latent + noise * rng.normal(size=(24, 3))]
        for n in range(24) for r in range(3)
    ]  # fmt: skip
    pl.DataFrame(ratings).write_parquet(made / "ratings.parquet")
    people = pl.DataFrame({"item_id": [f"q{n}" for n in range(24)], "score": latent[:, 0]})
    people.write_csv(made / "people.csv")
    (made / "docs").symlink_to(Path(__file__).parents[2] / "docs")
    return made


@pytest.fixture
def output(folder, monkeypatch, capsys):
    """What a command prints to the terminal, in that folder."""
    monkeypatch.chdir(folder)

    def call(*words):
        capsys.readouterr()
        assert main([*words]) in (0, 4, 5)
        return capsys.readouterr().out

    return call


@pytest.mark.alike(8)
@pytest.mark.parametrize("verb", OF_VERBS)
def test_the_answer_fits_one_screen_and_names_a_next_command_that_runs(verb, output):
    words, most = OF_VERBS[verb]
    text = output(verb, *words)
    lines = text.rstrip("\n").splitlines()
    assert len(lines) <= most
    before, _, last = text.partition("\nNext, ")
    assert max(map(len, before.splitlines())) <= 80
    if command := last.partition(":")[2].strip():
        program, *following = shlex.split(command)
        assert program == "judgerel"
        assert output(*following)
    assert command or "PASS" in text


MISSING = {"reduce": 18, "questions": 25}
"""Lines of verbs that may print more, or fewer, than ``LINES`` of two judges with labels."""


@pytest.mark.alike(8)
@pytest.mark.parametrize("two_verdicts", [True, False])
@pytest.mark.parametrize(
    "verb",
    "reduce gate agree questions select systems panels cascade advise compare correct".split(),  # noqa: SIM905
)
def test_labels_and_missing_verdicts_leave_it_one_screen(verb, two_verdicts, output, folder):
    rows, rng = pl.read_parquet(folder / "answers.parquet"), np.random.default_rng(4)
    again = pl.concat([rows.with_columns(replication=pl.lit(k)) for k in range(3)])
    drawn = pl.Series(rng.random(again.height))
    other = rng.choice([*"ABCD"], again.height)
    again = again.with_columns(
        verdict=pl.when(drawn > 0.9).then(pl.lit(None))
        .when(drawn < 0.1).then(pl.Series(other)).otherwise("verdict"),
    )  # fmt: skip
    if two_verdicts:
        right = pl.col("gold").is_in(["A", "B"])
        good = pl.col("verdict").is_in(["A", "B"])
        again = again.with_columns(gold=right.cast(pl.String), verdict=good.cast(pl.String))
    again.write_parquet("gaps.parquet")
    by = {
        "compare": ["--by", "judge"],
        "correct": ["--labels", "labels.csv", "--positive", "true" if two_verdicts else "A"],
    }
    labels = again.filter(replication=0, judge="opus").select("item_id", label="gold")
    labels.head(40).write_csv("labels.csv")
    text = output(verb, "gaps.parquet", *by.get(verb, []))
    lines = text.rstrip("\n").splitlines()
    assert len(lines) <= MISSING.get(verb, LINES)
    assert max(map(len, text.partition("\nNext")[0].splitlines())) <= 80


@pytest.mark.alike(8)
@pytest.mark.parametrize("verb", OF_VERBS)
def test_full_has_everything_and_json_is_the_same_either_way(verb, output):
    words, _ = OF_VERBS[verb]
    short, full = output(verb, *words), output(verb, *words, "--full")
    assert full != short or verb == "gate"
    as_json = [output(verb, *words, "--format", "json", *more) for more in ([], ["--full"])]
    assert as_json[0] == as_json[1]
    assert json.loads(as_json[0])
    explained = output(verb, *words, "--explain")
    assert explained.startswith(short.rstrip("\n"))
    assert len(explained) > len(short)


METHOD_ALONE = {
    Flag.NO_REPEATS: "which judgments are compared stands beside the number as `conditions`",
    Flag.IN_BLOCKS: "tells how the interval was computed, and takes nothing from it",
    Flag.RESAMPLES_UNDEFINED: "tells how the interval was computed",
    Flag.PERMUTATIONS_UNDEFINED: "tells how the floor was computed",
}
"""Flags that no short answer has, and why: ``--full`` has them in the estimator's words."""


@pytest.mark.parametrize("flag", Flag)
def test_every_flag_is_a_finding(flag):
    row = {"flags": [flag.value], "flag_numbers": [[1.0, 2.0, 3.0]]}
    texts = [one.text for one in findings_of_row(row)]
    assert texts == ([] if flag in METHOD_ALONE else [flag.words([1.0, 2.0, 3.0])])


@pytest.mark.parametrize("code", Unreachable)
def test_every_reason_why_a_target_is_out_of_reach_is_said(code):
    of = {name: None for name in Needs.columns}
    row = of | {"judge": "j", "target": "generalizability", "wanted": 0.9, "now": 0.5,
                "lever": "replications", "unreachable": code.value, "error_of": "template",
                "n_replications": 2, "n_questions": 9, "design_replications": 21,
                "design_questions": 80}  # fmt: skip
    needs = Needs.frame([row], ["judge"])
    text = " ".join(printed(advised_short({"needs": needs}, None)).split())
    words = {
        Unreachable.LEVELS_ASKED_ONCE: "asked once at each level",
        Unreachable.QUESTIONS_ALIKE: "questions do not differ more than chance",
        Unreachable.ERROR_STAYS: "the error of one template stays",
        Unreachable.TOO_FEW_QUESTIONS: "never by replications",
        Unreachable.TOO_MANY_QUESTIONS: "not within 10^9 questions",
        Unreachable.TOO_MANY_VOTES: "votes",
        Unreachable.TOO_MANY_VERDICTS: "different verdicts",
        Unreachable.NOT_KNOWN: "2 replications of 9 questions cannot show it",
        Unreachable.NOT_KNOWN_FROM_MORE: "nor would 21 replications of 80 questions",
        Unreachable.KNOWN_FROM_MORE: "21 replications of 80 questions would show it",
    }
    assert words[code] in text


REASONS = {
    "interval_covers_0": "includes 0",
    "interval_crosses_tolerance": "crosses the tolerance",
    "not_after_correction": "corrected for the number of tests",
    "few_informative_questions": "fewer than 10 questions",
    "few_verdicts": "too few replies hold a verdict",
    "undefined": "no test of it",
}


@pytest.mark.alike(3)
@pytest.mark.parametrize("reason", REASONS)
def test_every_reason_why_a_comparison_is_open_is_said(reason):
    found = judgerel_ray.compare(judgerel_ray.example("judgments.csv"), by="judge")
    rows = found.with_columns(reason=pl.lit(reason), standing=pl.lit("undecided"))
    assert REASONS[reason] in printed(compared_short(rows, None, "", None))


@pytest.mark.alike(2)
@pytest.mark.parametrize("caution", Caution)
def test_every_caution_of_corrected_scores_is_said(caution, folder):
    found = judgerel_ray.correct(
        folder / "docs/data/passed-by-a-judge.csv", labels=folder / "docs/data/labelled-by-ann.csv"
    )
    flagged = found.estimates.with_columns(flags=pl.lit([caution.value], pl.List(pl.String)))
    tables = replace(found, estimates=flagged).tables()
    words = {
        Caution.FEW_LABELS: "labels of fewer than",
        Caution.TRANSPORT: "otherwise of labelled items",
        Caution.UNMATCHED: "of nothing that was judged",
        Caution.RATERS_DISAGREE: "people disagree",
    }
    assert words[caution] in " ".join(printed(corrected_short(tables, None)).split())


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("finding", "words"),
    [
        ("favours_its_own", "favours its own answers"),
        ("option_was_shown", "because it was shown"),
        ("avoids_its_own", "avoids its own answers"),
        ("not_distinguishable", "no preference for its own answers"),
        (None, "not known: no other judge"),
    ],
)
def test_every_finding_on_preferences_is_said(finding, words, folder):
    tables = judgerel_ray.systems(folder / "answers.parquet", resamples=9).tables()
    empty = tables["self_preference"]
    row = {name: None for name in empty.columns} | {"judge": "opus", "finding": finding}
    row["undefined"] = None if finding else "no_other_judge"
    own = pl.DataFrame([row], schema=empty.schema)
    assert words in printed(systems_short({**tables, "self_preference": own}, None))


@pytest.mark.slow
def test_of_many_groups_twenty_rows_are_shown_and_the_others_counted(folder, capsys, tmp_path):
    rows = pl.read_csv(folder / PAIRS)
    many = [rows.with_columns(judge=pl.col("judge") + f"-{n}") for n in range(15)]
    path = tmp_path / "many.csv"
    pl.concat(many).write_csv(path)
    assert main(["gate", str(path)]) == 4
    text = capsys.readouterr().out
    assert "10 more groups in --full" in text
    table = [line for line in text.splitlines() if re.match(r"(first|reader)-\d+ +\w+ 0\.", line)]
    assert len(table) == MOST_ROWS
    assert all("FAIL" in line for line in table[:15])  # the worst come first


def _gated(required):
    """Requirements of fourteen judges; the last is missed by every third."""
    rows = []
    for n in range(14):
        for place, requirement in enumerate(required):
            missed = place == len(required) - 1 and n % 3 == 0
            rows.append(
                {"judge": f"judge-{n}", "requirement": requirement, "missing": "category",
                 "verdict": "FAIL" if missed else "PASS", "value": 0.25 if missed else 0.75,
                 "coefficient": "accuracy", "conditions": "reproducibility", "low": 0.2,
                 "high": 0.9, "limit": 0.5, "at_most": False, "reason": None}
            )  # fmt: skip
    return rows


@pytest.mark.parametrize("how", ["a column each", "counted"])
def test_a_gate_of_many_judges_is_a_row_a_judge_and_shows_what_each_misses(how):
    required = ["krippendorff_alpha >= .667", "accuracy >= .5"]
    if how == "counted":  # as many as no terminal has columns for
        required = [f"accuracy >= .{n} where benchmark=b{n}" for n in range(9)]
    rows = _gated(required)
    empty = judgerel_ray.gate(PAIRS).requirements.clear()
    full = pl.DataFrame(
        [{name: row.get(name) for name in empty.columns} for row in rows], schema=empty.schema
    )
    gated = replace(judgerel_ray.gate(PAIRS), requirements=full, verdict="FAIL")
    text = printed(short_gate_blocks(gated, {}))
    table = [line for line in text.splitlines() if line.startswith("judge-")]
    assert len(table) == 14
    assert len(text.splitlines()) <= 14 + 10
    assert max(map(len, text.splitlines())) <= 80
    if how == "counted":
        assert table[0].split() == ["judge-0", "1", "8"]
        missed = "- accuracy >= .8 where benchmark=b8: missed by judge-0, judge-3, judge-6, "
        assert missed in " ".join(text.split())
    else:
        assert [line.split()[-2:] for line in table] == [["FAIL", "0.250"]] * 5 + (
            [["PASS", "0.750"]] * 9
        )


@pytest.mark.alike(2)
def test_ratings_with_gaps_have_the_alpha_that_is_known_on_terminal_and_page(output, folder):
    rng = np.random.default_rng(4)
    rows = pl.read_parquet(folder / "ratings.parquet").filter(scale="points5")
    is_gap = pl.Series(rng.random(rows.height) < 0.1)
    rows.with_columns(score=pl.when(is_gap).then(None).otherwise("score")).write_parquet(
        "gap.parquet"
    )
    found = judgerel_ray.reduce("gap.parquet").filter(
        coefficient="krippendorff_alpha", missing="drop"
    )
    assert found["measurement"].unique().to_list() == ["interval"]
    text = output("reduce", "gap.parquet")
    assert "needs nominal" not in text
    assert main(["report", "gap.parquet", "--out", "gap.html", "--force"]) == 0
    page = Path("gap.html").read_text()
    for row in found.iter_rows(named=True):
        assert f"{row['judge']}" in text
        assert f"{row['value']:.3f} [{row['low']:.3f}, {row['high']:.3f}]" in text
        assert f"{row['value']:.3f}" in page.partition("Agreement with itself")[0]
        assert f"{row['noise_floor']:.3f}" in text
    assert "<figure" in page.partition("Agreement with itself")[0]


def test_ratings_with_gaps_are_compared_though_alpha_comes_later():
    """Alpha has no row that counts a gap, so agreement by that policy stands before it."""
    rows = [
        {"judge": judge, "item_id": f"q{item}", "replication": k,
         "score": None if (item + k + place) % 7 == 0 else float((item + k * place) % 5 + 1)}
        for place, judge in enumerate(("a", "b")) for item in range(12) for k in range(3)
    ]  # fmt: skip
    found = judgerel_ray.compare(pl.DataFrame(rows).lazy(), by="judge")
    assert found["coefficient"].to_list().index("krippendorff_alpha") > 0
    assert "other coefficients" in printed(compared_short(found, None, "", None))


def _many():
    """Fourteen judges with long names, three verdicts on each of twelve questions."""
    rng = np.random.default_rng(3)
    return pl.DataFrame([
        {"judge": f"vendor-{k % 3}/A-long-model-{k}-Instruct-v0.{k}", "item_id": f"q{i}",
         "replication": r, "gold": "ab"[i % 2],
         "verdict": "ab"[(i + (rng.random() < 0.5 - k / 28)) % 2]}
        for k in range(14) for i in range(12) for r in range(3)
    ])  # fmt: skip


def test_pairs_of_many_judges_are_a_row_a_judge_and_every_pair_is_accounted_for(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    _many().write_csv("many.csv")
    assert main(["compare", "many.csv", "--by", "judge", "--coefficient", "percent_agreement"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "91 pairs of a and b, on 12 shared questions"
    assert max(map(len, lines[:-1])) <= 80
    rows = [line.split() for line in lines if line.startswith("A-long-model")]
    assert len(rows) == 14
    assert {sum(map(int, row[2:])) for row in rows} == {13}
    undecided = sum(int(line.split()[0]) for line in lines if "undecided:" in line)
    assert undecided == sum(int(row[-1]) for row in rows) / 2


@pytest.mark.parametrize("verb", ["reduce", "gate", "questions", "agree"])
def test_tables_of_fourteen_judges_fit_a_terminal(verb, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    _many().write_csv("many.csv")
    assert main([verb, "many.csv"]) in (0, 4, 5)
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= 80
    assert "~" not in text  # names are told apart without digests


@pytest.mark.parametrize("verb", ["select", "systems"])
def test_fourteen_systems_are_a_row_each(verb, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    _many().write_csv("many.csv")
    assert main([verb, "many.csv", "--resamples", "50"]) == 0
    lines = capsys.readouterr().out.splitlines()
    table = "\n".join(lines).split("\n\n")[1]
    rows = [line for line in table.splitlines() if "A-long" in line]
    assert len(rows) == 14
    assert len(lines) < 45
    names = [row.split()[0] for row in rows]
    told = [word.strip(":,") for line in lines for word in line.split() if "A-long" in word]
    assert {*told} <= {*names}  # a sentence names a system as its row does
    assert not any(line.startswith(("row", "rows")) for line in lines)


def test_a_number_of_rows_that_no_sentence_names_is_not_shown():
    numbered = Table("", [Column(head="row", cells=["1", "2"]), Column(head="x", cells=["a", "b"])])
    (_, table, *_) = short_blocks("two", [numbered], [Remark(text="is noise", who="all")])
    assert [column.head for column in table.columns] == ["x"]
    (_, table, *_) = short_blocks("two", [numbered], [Remark(text="is noise", who="row 2")])
    assert [column.head for column in table.columns] == ["row", "x"]
