"""The short answer of ``reduce``: how long it is, and that nothing that decides is left out."""

from __future__ import annotations

import gc
import random
import shlex
import weakref
from dataclasses import fields

import polars as pl
import pytest

import judgerel_ray as jr
from judgerel_ray.analyses.reliability.short import (
    FEW,
    by_judge,
    findings_of,
    lines_of,
    whole_judges,
)
from judgerel_ray.analyses.reliability.short_tables import ShownGroup, grouped
from judgerel_ray.analyses.reliability.verb import ReduceRequest
from judgerel_ray.blocks.short import Remark
from judgerel_ray.cli import main
from judgerel_ray.core.codes import Flag
from judgerel_ray.core.verb import Labelled, all_verbs, command_on, spelled
from judgerel_ray.measuring.lead_codes import LeadCode, lead
from judgerel_ray.measuring.reliability import reduce_judgments

VERBS = all_verbs()


def _rows(draw: random.Random, n_judges: int, ask) -> pl.DataFrame:
    """Judgments by a law: of a judge, a question, an order and a repeat."""
    rows = [
        {"judge": f"judge-{j}", "item_id": f"q{i}", **ask(draw, j, i, r)}
        for j in range(n_judges) for i in range(40) for r in range(6)
    ]  # fmt: skip
    return pl.DataFrame(rows, infer_schema_length=None)


def _often(draw, share, one, other):
    return one if draw.random() < share else other


LAWS = {
    "pass and fail": lambda d, _, i, r: {
        "replication": r, "verdict": _often(d, 0.8, "pass" if i % 3 else "fail", "fail")},
    "ratings": lambda d, _, i, r: {
        "replication": r, "score": max(1, min(5, round(1 + i % 5 + d.gauss(0, 0.8))))},
    "noise": lambda d, _, __, r: {"replication": r, "verdict": _often(d, 0.5, "A", "B")},
    "one answer": lambda _, __, ___, r: {"replication": r, "verdict": "A"},
    "few verdicts": lambda d, _, __, r: {
        "replication": r, "verdict": _often(d, 0.3, _often(d, 0.5, "A", "B"), None)},
    "some without": lambda d, _, i, r: {
        "replication": r, "verdict": _often(d, 0.85, "AB"[i % 2], None)},
    "by place": lambda d, _, __, r: {
        "replication": r // 2, "option_order": r % 2, "label": (p := _often(d, 0.9, "A", "B")),
        "verdict": ("xy" if r % 2 else "yx")["AB".index(p)]},
    "by option": lambda d, _, i, r: {
        "replication": r // 2, "option_order": r % 2,
        "verdict": (v := _often(d, 0.9, "xy"[i % 2], "xy"[1 - i % 2])),
        "label": "AB"[("xy" if r % 2 else "yx").index(v)]},
    "names unknown": lambda d, _, __, r: {
        "replication": r // 2, "option_order": r % 2, "verdict": _often(d, 0.8, "A", "B")},
    "two templates": lambda d, _, i, r: {
        "replication": r // 2, "template": "xy"[r % 2],
        "verdict": _often(d, 0.8, "AB"[i % 2], "B")},
    "temperature 0": lambda d, _, i, r: {
        "replication": r, "temperature": 0.0, "verdict": _often(d, 0.95, "AB"[i % 2], "B")},
}  # fmt: skip


@pytest.mark.alike(17)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("n_judges", [1, 2, 14])
def test_it_fits_one_screen(law, n_judges, tmp_path, capsys):
    _rows(random.Random(1), n_judges, LAWS[law]).write_parquet(path := tmp_path / "rows.parquet")
    assert main(["reduce", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 14 + max(0, n_judges - 2)
    while lines[-1].startswith("  judgerel "):  # what to type next: one command, or either of two
        lines.pop()
    assert max(map(len, lines)) <= 80
    assert sum(line.startswith("judge-") and "  " in line for line in lines) >= n_judges


@pytest.mark.alike(11)
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize(("n_replies", "labelled"), [(6, False), (1, True)])
def test_the_command_it_ends_with_runs(law, n_replies, labelled, tmp_path, capsys):
    rows = _rows(random.Random(2), 2, LAWS[law]).filter(pl.int_range(pl.len()) % 6 < n_replies)
    rows.write_parquet(path := tmp_path / "rows of mine.parquet")
    labels = pl.DataFrame({"item_id": [f"q{i}" for i in range(40)], "label": ["A", "B"] * 20})
    labels.write_csv(there := tmp_path / "labels of mine.csv")
    assert main(["reduce", str(path), *(["--labels", str(there)] if labelled else [])]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    program, *words = shlex.split(last)
    assert program == "judgerel"
    assert main(words) in (0, 4, 5)


@pytest.mark.parametrize("verb", VERBS)
def test_a_command_has_only_options_of_its_verb(verb):
    reading = Labelled(
        exact_values=True, item_by_row=True, columns={"item_id": "id"}, verdict_names="option",
        labels="people.csv",
    )  # fmt: skip
    words = shlex.split(command_on(verb, "rows.csv", reading) or "")
    known = {spelled(one) for one in fields(VERBS[verb].options)}
    assert words[:3] == ["judgerel", verb, "rows.csv"]
    assert {word for word in words if word.startswith("--")} <= known
    assert ("--labels" in words) == ("--labels" in known)


@pytest.mark.slow
def test_in_full_is_all_and_json_is_the_same(capsys):
    path = jr.example("judgments.csv")
    texts = {}
    for flag in ((), ("--full",), ("--explain",)):
        assert main(["reduce", path, *flag]) == 0
        texts[flag] = capsys.readouterr().out
        assert main(["reduce", path, *flag, "--format", "json"]) == 0
        texts[flag, "json"] = capsys.readouterr().out
    assert texts[(), "json"] == texts[("--full",), "json"] == texts[("--explain",), "json"]
    assert texts["--explain",].startswith(texts[()].rstrip("\n"))
    for name in ("Gwet's AC1", "flip rate", "How to read it"):
        assert name in texts["--full",]
        assert name not in texts[()]


SHOWN = {
    Flag.FEW_INFORMATIVE: FEW,
    Flag.FEW_VERDICTS: "its lead",
    Flag.SOME_WITHOUT: "hold no verdict",
    Flag.OTHER_ANSWERS: "repeats judge other answers",
}
"""What the short answer says of a flag where that is not the flag's own words."""
IN_FULL_ALONE = {
    Flag.NO_REPEATS: "how a number was made, and takes nothing from it",
    Flag.IN_BLOCKS: "how a number was made, and takes nothing from it",
    Flag.RESAMPLES_UNDEFINED: "how a number was made, and takes nothing from it",
    Flag.PERMUTATIONS_UNDEFINED: "how a number was made, and takes nothing from it",
}


@pytest.mark.alike(7)
@pytest.mark.parametrize("flag", Flag)
def test_every_flag_shows(flag):
    rows = _rows(random.Random(3), 1, LAWS["by option"])
    row = reduce_judgments(rows.lazy()).row(0, named=True)
    numbers = [7.0, 9.0]
    row |= {"flags": [flag.value], "flag_numbers": [numbers], "noise": False, "lead": "agreement"}
    valid = row | {"coefficient": "valid_rate", "value": 0.8, "n_judgments": 240, "n_missing": 0,
                   "flags": [], "flag_numbers": [], "conditions": None}  # fmt: skip
    group = ShownGroup(rows=[row, valid], key={}, label="j", lead=lead([row, valid]))
    text = " ".join(" ".join(lines_of(findings_of([group]), 99)).split())
    if flag in IN_FULL_ALONE or flag is Flag.FEW_VERDICTS:  # the latter is a lead, held below
        return
    assert SHOWN.get(flag, flag.note(numbers)).casefold() in text.casefold()


LEADS = {
    LeadCode.FEW_VERDICTS: ("few verdicts", "too few to report agreement"),
    LeadCode.ONE_ANSWER: ("one answer", "answers A whatever the question is"),
    LeadCode.NAMES_UNKNOWN: ("names unknown", "whether a verdict names an option or a place"),
    LeadCode.FOLLOWS_PLACE: ("by place", "goes by position"),
    LeadCode.RATING_ERROR: ("ratings", "has a standard error of"),
    LeadCode.NOISE: ("noise", "not distinguishable from noise"),
    LeadCode.AGREEMENT: ("by option", "keeps its option"),
}


@pytest.mark.alike(4)
@pytest.mark.parametrize("code", LEADS)
def test_every_lead_shows(code, tmp_path, capsys):
    law, words = LEADS[code]
    rows = _rows(random.Random(4), 1, LAWS[law])
    assert set(jr.reduce(rows)["lead"].str.split(":").list.first()) == {code.value}
    rows.write_parquet(path := tmp_path / "rows.parquet")
    assert main(["reduce", str(path)]) == 0
    assert words.casefold() in " ".join(capsys.readouterr().out.split()).casefold()


def test_leads_of_few_rows_show_too(tmp_path, capsys):
    for verdicts, words in (
        ([("q", 0, "A"), ("r", 0, "B")], "every question was asked once"),
        ([("q", 0, "A"), ("q", 1, "B"), ("r", 0, "B"), ("r", 1, "A")] * 1, "this rests on 2 quest"),
    ):
        rows = pl.DataFrame(verdicts, schema=["item_id", "replication", "verdict"], orient="row")
        rows.write_csv(path := tmp_path / "rows.csv")
        assert main(["reduce", str(path)]) == 0
        assert words in " ".join(capsys.readouterr().out.split()).casefold()


def test_the_most_harmful_comes_first_as_far_as_there_is_room():
    found = [
        *(Remark(severity=6, text="few", who=who) for who in ("a", "b")),
        Remark(severity=0, text="stuck", who="b"),
    ]
    assert lines_of(found, 9) == ["b: stuck.", "a and b: few."]
    assert lines_of([*found, Remark(severity=7, text="more", who="a")], 2) == [
        "b: stuck.", "2 more remarks: --full.",
    ]  # fmt: skip


def _stuck(_draw, _judge, _question, r):
    return {"replication": r // 2, "option_order": r % 2, "label": "BA"[r % 2], "verdict": "x"}


@pytest.mark.slow
@pytest.mark.parametrize("second", [LAWS["by place"], _stuck])
def test_no_judge_that_is_to_be_left_out_goes_unnamed(second, tmp_path, capsys):
    draw = random.Random(11)
    names = ["openai/gpt-4o-2024-11-20-with-a-long-name", "another/mini-2025-01-31-of-long-names"]
    rows = pl.DataFrame([
        {"judge": judge, "item_id": f"q{i}", **law(draw, 0, i, r)}
        for judge, law in zip(names, [LAWS["by place"], second], strict=True)
        for i in range(40) for r in range(6)
    ], infer_schema_length=None)  # fmt: skip
    rows.write_csv(path := tmp_path / "rows.csv")
    assert main(["reduce", str(path)]) == 0
    printed = capsys.readouterr().out
    remarks, _, following = printed.rpartition("\n\n")[2].partition("Next: ")
    assert len(printed.splitlines()) <= 14
    shown = [line.split()[0] for line in printed.splitlines()[3:5]]  # as the table shortens them
    assert [name[:4] for name in shown] == ["mini", "gpt-"]
    assert all(name in remarks for name in shown)
    assert "position decides" in remarks or "goes by position" in remarks
    assert (f"{shown[0]}: not distinguishable from noise" in remarks) == (second is _stuck)
    assert following.startswith("rely on none of them;")


def test_unusable_judges_are_named_whatever_the_room():
    found = [
        *(Remark(severity=1, text=f"goes by {n}", who=who, kind="follows_place")
          for n, who in enumerate("ab")),
        Remark(severity=1, text="noise", who="c"), Remark(severity=4, text="few"),
    ]  # fmt: skip
    a_and_b, *_, c, more = lines_of(found, 1)
    assert a_and_b.startswith("a and b: position decides")
    assert (c, more) == ("c: noise.", "1 more remark: --full.")
    assert lines_of(found, 9)[:2] == ["a: goes by 0.", "b: goes by 1."]


def test_what_is_true_of_all_is_said_of_none_by_name():
    rows = _rows(random.Random(7), 3, LAWS["noise"])
    found = findings_of(grouped(reduce_judgments(rows.lazy())))
    (unknown,) = {one.who for one in found if "the same prompt was repeated" in one.text}
    assert unknown == ""
    assert all(one.who for one in found if sum(two.text == one.text for two in found) < 3)


@pytest.mark.parametrize("verb", ["reduce", "questions", "serving"])
def test_what_is_found_keeps_no_frame_alive(verb):
    rows = _rows(random.Random(5), 1, LAWS["temperature 0"])
    gone = weakref.ref(rows)
    found = getattr(jr, verb)(rows)
    assert "Next" not in repr(found)
    del rows
    gc.collect()
    assert gone() is None
    assert found.height


def test_a_frame_has_no_command():
    rows = _rows(random.Random(5), 1, LAWS["noise"])
    text = VERBS["reduce"].act(rows, ReduceRequest()).as_text()
    assert "Next" not in text


def test_no_agreement_stands_beside_too_few_verdicts(tmp_path, capsys):
    draw, laws = random.Random(8), [LAWS["few verdicts"], LAWS["pass and fail"]]
    rows = pl.DataFrame([
        {"judge": f"judge-{j}", "item_id": f"q{i}", **laws[j](draw, j, i, r)}
        for j in range(2) for i in range(40) for r in range(6)
    ], infer_schema_length=None)  # fmt: skip
    rows.write_csv(path := tmp_path / "rows.csv")
    assert main(["reduce", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    few, many = (next(one for one in lines if one.startswith(f"judge-{j} ")) for j in range(2))
    assert few.split()[:4] == ["judge-0", "-", "-", "-"]
    assert few.count("%") == 1  # valid replies
    assert "[" in many
    assert "-" not in many.removeprefix("judge-1").split()


@pytest.mark.alike(2)
@pytest.mark.parametrize("n_judges", [1, 2])
@pytest.mark.parametrize("gold", [True, False])
def test_what_was_asked_once_is_held_against_its_labels_next(n_judges, gold, tmp_path, capsys):
    draw = random.Random(9)
    rows = pl.DataFrame([
        {"judge": f"judge-{j}", "item_id": f"q{i}", "gold": (right := "AB"[i % 2]),
         "verdict": _often(draw, 0.85, right, "BA"[i % 2])}
        for j in range(n_judges) for i in range(40)
    ])  # fmt: skip
    rows.drop([] if gold else "gold").write_csv(path := tmp_path / "rows.csv")
    assert main(["reduce", str(path)]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.split() == ["judgerel", "agree" if gold else "doctor", str(path)]


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.9, 0.5])
def test_labels_have_a_table_of_their_own(share, tmp_path, capsys):
    draw = random.Random(6)
    rows = [
        {"judge": judge, "item_id": f"q{i}", "replication": r, "gold": (right := "AB"[i % 2]),
         "verdict": _often(draw, share, right, "BA"[i % 2])}
        for judge in ("a", "b") for i in range(60) for r in range(3)
    ]  # fmt: skip
    pl.DataFrame(rows).write_csv(path := tmp_path / "rows.csv")
    assert main(["reduce", str(path)]) == 0
    text = capsys.readouterr().out
    assert len(text.splitlines()) <= 18
    noise = "kappa with labels is not distinguishable from noise"
    assert (noise in text.casefold()) == (share == 0.5)
    found = jr.reduce(path).filter(judge="a", coefficient="cohen_kappa").row(0, named=True)
    assert f"{found['value']:.3f} [{found['low']:.3f}, {found['high']:.3f}]" in text


@pytest.mark.slow
def test_a_judge_whose_groups_are_all_alike_is_named_alone(tmp_path, capsys):
    draw, laws = random.Random(5), {"a": LAWS["by place"], "b": LAWS["by option"]}
    rows = pl.DataFrame([
        {"judge": judge, "temperature": t, "item_id": f"q{i}", **law(draw, 0, i, r)}
        for judge, law in laws.items() for t in (0.5, 1.0) for i in range(40) for r in range(6)
    ])  # fmt: skip
    rows.write_parquet(path := tmp_path / "rows.parquet")
    assert main(["reduce", str(path)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "a: position decides" in printed
    assert "repeats of the same prompt hide this" in printed
    assert "Next: leave out a; check" in printed
    assert "(temperature" not in printed


def test_groups_are_named_by_their_judge_only_where_all_of_it_are():
    groups = [
        ShownGroup(
            rows=[], key={"judge": one, "temperature": t}, label=f"{one} ({t})", lead=None
        )
        for one in "ab" for t in (0.5, 1.0)
    ]  # fmt: skip
    assert whole_judges(["a (0.5)", "a (1.0)", "b (0.5)"], groups) == ["a", "b (0.5)"]
    assert whole_judges(["a (0.5)"], groups) == ["a (0.5)"]
    everyone = [one.label for one in groups]
    assert whole_judges(everyone, groups) == everyone  # of whom nothing need be told
    found = [Remark(severity=2, text="odd", who=label) for label in everyone[2:]]
    assert [one.who for one in by_judge(found, groups)] == ["b"]


def test_agreement_on_each_verdict_is_of_the_conditions_that_lead():
    draw = random.Random(5)
    rows = pl.DataFrame(
        {"judge": "a", "item_id": f"q{i}", "template": t, "replication": r,
         "verdict": _often(draw, 0.9, "pass" if i % 3 else "fail", "fail")}
        for i in range(30) for t in ("long", "short") for r in range(3)
    )  # fmt: skip
    text = repr(jr.reduce(rows))
    assert text.count("repeats fail") == 1
    assert text.count("and pass") == 1


def test_nothing_is_called_noise_of_a_judge_whose_agreement_is_not_reported():
    draw = random.Random(5)
    rows = pl.DataFrame(
        {"judge": name, "item_id": f"q{i}", "replication": r,
         "verdict": None if draw.random() < lost else _often(draw, 0.9, "a" if i % 2 else "b", "a")}
        for name, lost in (("good", 0.0), ("mute", 0.7)) for i in range(30) for r in range(3)
    )  # fmt: skip
    text = repr(jr.reduce(rows))
    assert "hold a verdict" in text
    assert "mute: not distinguishable" not in text
