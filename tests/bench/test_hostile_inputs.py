"""The hostile inputs of ``make test-hostile``: a fast few of them, and the judge of cases."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bench.hostile.case import Answer, Came, Case, Expect, judged
from bench.hostile.counted import agreement, alpha, base_rows, counted
from bench.hostile.page import INTRO, page_of, shown, summary_of

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.ray
def test_hostile_inputs_are_refused_or_answered_right(tmp_path):
    # In a process of its own: it forks for every case, which one that computed before must not.
    written = tmp_path / "results.jsonl"
    done = subprocess.run(
        [sys.executable, "-m", "bench.hostile", "--fast", "--results", str(written)],
        cwd=ROOT, capture_output=True, text=True, timeout=600, check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"},
    )  # fmt: skip
    results = [json.loads(line) for line in written.read_text().splitlines()]
    assert len(results) > 100
    wrong = [one for one in results if one["kind"] not in ("refused", "answered")]
    assert not wrong, "\n".join(f"{one['family']} / {one['what']}: {one['why']}" for one in wrong)
    assert done.returncode == 0


def test_agreement_and_alpha_are_counted_by_hand():
    # Pairs that agree: 1 of 1, 0 of 1, 1 of 3. Of 7 verdicts 4 are A: D_e = 2 * 4 * 3 = 24,
    # observed 0 + 2 / 1 + 4 / 2 = 4, alpha = 1 - 6 * 4 / 24 = 0.
    units = [["A", "A"], ["A", "B"], ["A", "B", "B"]]
    assert agreement(units) == pytest.approx((1 + 0 + 1 / 3) / 3)
    assert alpha(units) == pytest.approx(0.0)
    found = counted(base_rows())
    assert found["percent_agreement", "category"] == pytest.approx(2 / 3)
    assert found["n_judgments", ""] == 48


CASE = Case(family="f", what="w", files={"t.csv": b""})
ROW = {"coefficient": "percent_agreement", "missing": "category", "conditions": "repeatability",
       "value": 0.5, "n_items": 3}  # fmt: skip
RIGHT = Expect(answers=(Answer(numbers={("percent_agreement", "category"): 0.5}),))
SAID = Expect(
    answers=(Answer(numbers=RIGHT.answers[0].numbers, messages=("treated as the same verdict",)),)
)


@pytest.fixture
def came(tmp_path):
    return Came(code=0, stdout=json.dumps([ROW]), stderr="", folder=tmp_path, changed=(), made=())


@pytest.mark.parametrize(
    ("kind", "expect", "change"),
    [
        ("answered", RIGHT, {}),
        ("silent wrong", RIGHT, {"stdout": json.dumps([{**ROW, "value": 0.6}])}),
        ("silent wrong", RIGHT, {"stdout": json.dumps([{**ROW, "value": None}])}),
        ("silent wrong", RIGHT, {"changed": ("t.csv",)}),
        ("defect", RIGHT, {"stdout": ""}),
        ("defect", RIGHT, {"made": ("left.csv",)}),
        ("defect", RIGHT, {"code": 1}),
        ("defect", RIGHT, {"code": None}),
        ("defect", RIGHT, {"code": 1, "stderr": "Traceback (most recent call last):\nx"}),
        ("defect", SAID, {}),
        ("answered", SAID, {"stderr": "treated as the same verdict: PASS = pass"}),
        ("silent wrong", Expect(refusal="must"), {}),
        ("defect", Expect(refusal="must", harmless=True), {}),
        ("silent wrong", Expect(untrue=("agreement",)), {}),
        ("refused", RIGHT, {"code": 2, "stdout": "", "stderr": "judgerel: no [file=t.csv]\n"}),
        ("defect", RIGHT, {"code": 2, "stdout": "0.5", "stderr": "judgerel: no\n"}),
        ("defect", RIGHT, {"code": 2, "stdout": "", "stderr": "judgerel: no\nand no\n"}),
        ("defect", RIGHT, {"code": 2, "stdout": "", "stderr": "no\n"}),
        ("defect", RIGHT, {"code": 2, "stdout": "", "stderr": f"judgerel: {'n' * 500}\n"}),
        ("defect", RIGHT, {"code": 2, "stdout": "", "stderr": "judgerel: KeyError: 'x'\n"}),
        ("defect", RIGHT, {"code": 2, "stdout": "", "stderr": "judgerel: \x1b[2J\n"}),
        (
            "defect",
            replace(RIGHT, refusal="never"),
            {"code": 2, "stdout": "", "stderr": "judgerel: no\n"},
        ),
        (
            "defect",
            replace(RIGHT, names=("t.csv",)),
            {"code": 2, "stdout": "", "stderr": "judgerel: no\n"},
        ),
    ],
)
def test_a_case_is_judged_by_its_oracle(came, kind, expect, change):
    assert judged(replace(CASE, expect=expect), replace(came, **change)).kind == kind


def test_the_page_of_the_repository_is_the_summary():
    text = (ROOT / "docs" / "hostile-inputs.md").read_text("utf-8")
    rows = re.findall(r"^\| \S.* \| [\d,]+ \|.*", text, re.MULTILINE)
    numbers = [int(row.split(" | ")[1].replace(",", "")) for row in rows]
    assert text == INTRO.format(n=f"{numbers[-1]:,}", counts="\n".join(rows))
    assert sum(numbers[:-1]) == numbers[-1] > 2000


def test_the_page_names_no_folder_and_breaks_no_table(came):
    result = judged(replace(CASE, what="a | b\x1b[2J <i>", expect=RIGHT), came)
    page = page_of([result])
    assert page.startswith(summary_of([result]))
    assert "2J" not in summary_of([result])
    assert "\x1b" not in page
    (row,) = [line for line in page.splitlines() if "2J" in line]
    assert row.count(" | ") == 3
    assert row.endswith("| 0 |  |")
    assert shown("/tmp/hostile-ab_1/3-99/here/t.csv is gone") == "t.csv is gone"
    wrong = judged(replace(CASE, expect=RIGHT), replace(came, changed=("t.csv",)))
    assert "| 0 | input changed: t.csv |" in page_of([wrong])
