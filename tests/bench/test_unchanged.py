"""What is held against a record: numbers, fields, words and exit codes of cases."""

from __future__ import annotations

import copy
import json

import pytest

from bench.unchanged import differ, spelling
from bench.unchanged.cases import Case, all_cases
from bench.unchanged.differ import Found, lines_of
from bench.unchanged.running import come_to, run_case
from bench.unchanged.spelling import VIEWS, Expected

JUDGED = "judge,item_id,replication,verdict,gold\n" + "".join(
    f"{judge},q{i},{k},{'ab'[(i + k * (i % 3 == 0)) % 2]},{'ab'[i % 2]}\n"
    for judge in ("one", "other")
    for i in range(12)
    for k in range(4)
)
CASES = (Case("coefficients", ("judged.csv",)), Case("panels", ("judged.csv",)),
         Case("report", ("judged.csv",)), Case("limits", ("judged.csv",)))  # fmt: skip


@pytest.fixture
def ask(tmp_path, monkeypatch):
    """Ask for a case of the judgments beside."""
    (tmp_path / "judged.csv").write_text(JUDGED)
    monkeypatch.chdir(tmp_path)
    return lambda case: run_case(case, tmp_path, tmp_path / "out")


def differences(before, now):
    found = Found()
    found.add(before, now)
    return [(one.field, one.kind) for one in found.unexplained]


@pytest.mark.slow
def test_the_same_code_says_the_same_twice(ask):
    found = Found()
    for case in CASES:
        found.add(json.loads(json.dumps(ask(case))), ask(case))
    assert found.unexplained == []
    assert found.cases == 4
    assert found.numbers > 200
    refused = ask(CASES[-1])
    assert (refused["code"], refused["numbers"]) == (2, None)
    page = ask(CASES[2])["texts"]["page"]
    assert "krippendorff" in page.lower()


def test_what_moves_is_found_and_what_rounds_is_not(ask):
    before = ask(CASES[0])
    now = copy.deepcopy(before)
    row = now["numbers"][0]
    row["value"] *= 1 + 1e-12
    assert differences(before, now) == []
    row["value"] *= 1 + 1e-8
    assert differences(before, now) == [("#.value", "number")]
    row["value"] = None
    assert differences(before, now) == [("#.value", "number")]
    del row["value"]
    row["worth"] = 1.0
    assert sorted(differences(before, now)) == [("#.value", "missing"), ("#.worth", "new")]
    now = copy.deepcopy(before) | {"numbers": before["numbers"][1:], "code": 1}
    assert sorted(differences(before, now)) == [("", "code"), ("#", "row missing")]


def test_rows_are_held_by_what_names_them_wherever_they_stand(ask):
    before = ask(CASES[0])
    now = copy.deepcopy(before) | {"numbers": before["numbers"][::-1]}
    assert differences(before, now) == []
    now["numbers"].insert(3, {**before["numbers"][0], "coefficient": "of_its_own"})
    assert differences(before, now) == [("#", "row new")]
    now = copy.deepcopy(before)
    now["numbers"][0]["coefficient"] = "alpha"  # called otherwise: held by its place
    assert differences(before, now) == [("#.coefficient", "text")]


def test_lists_of_numbers_are_held_by_place_and_by_length():
    pairs, gone, came = differ.matched([1, 2, 3], [3, 2])
    assert (pairs, gone, came) == ([(1, 3), (2, 2)], [], [])


def test_lines_of_progress_hold_no_numbers(ask):
    before = ask(CASES[0])
    now = copy.deepcopy(before)
    now["texts"]["stderr"] += "judgerel: 8 of 9 plans, about 2 s left; groups are of judge\n"
    assert differences(before, now) == []
    now["texts"]["stderr"] += "judgerel: 8 of 9 rows are copies\n"
    assert differences(before, now) == [("stderr", "wording")]


def test_a_text_may_be_worded_otherwise_with_the_same_numbers(ask):
    before = {**ask(CASES[0]), "numbers": None}
    before["texts"] = {"stdout": "alpha 0.25 of 1,200 [.1, -.3]", "stderr": ""}
    found = Found()
    found.add(before, before | {"texts": {"stdout": "-0.30 to 0.1: 1200 give alpha .250"}})
    assert (found.unexplained, found.reworded) == ([], 1)
    now = before | {"texts": {"stdout": "alpha 0.26 of 1,200 [.1, -.3]"}}
    assert differences(before, now) == [("stdout", "wording")]


def test_names_of_today_and_differences_that_were_meant(ask, monkeypatch):
    before = ask(CASES[0])
    now = copy.deepcopy(before)
    for row in now["numbers"]:
        row["method"] = row.pop("estimator")
        row["high"] = 2.0
    monkeypatch.setitem(spelling.FIELDS, "coefficients", {"estimator": "method"})
    meant = Expected("clamped", case="coefficients *", field="#.high", kind="number")
    monkeypatch.setattr(differ, "EXPECTED", (meant,))
    found = Found()
    found.add(before, now)
    assert found.unexplained == []
    assert found.explained["clamped"] > 0
    *_, counts = lines_of(found, 5)
    assert "0 differences unexplained" in counts


def test_long_tables_in_few_numbers_hold_every_value_and_its_place():
    columns = {"x": [0.5, None, 2.0], "s": ["a", None, "b"], "flag": [True, False, True]}
    before = come_to(columns)
    for name, values in (("x", [2.0, None, 0.5]), ("s", ["b", None, "a"]),
                         ("flag", [True, True, False]), ("x", [0.5, 2.0, None])):  # fmt: skip
        assert come_to({**columns, name: values}) != before


def test_every_case_has_a_name_of_its_own_and_a_view():
    cases = list(all_cases())
    assert len({case.name for case in cases}) == len(cases) > 1000
    assert {case.view for case in cases} == set(VIEWS)
