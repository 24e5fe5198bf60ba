"""Terminal, page and JSON lead with the same finding and figures, whatever was asked."""

from __future__ import annotations

import html
import itertools
import json
import random
import re

import polars as pl
import pytest

import judgerel_ray
from judgerel_ray.analyses.reliability.headlines import first_rows
from judgerel_ray.analyses.reliability.sections import headline_table
from judgerel_ray.blocks.words import NOISE, number, percent
from judgerel_ray.cli import main
from judgerel_ray.core import HumanRating, Item
from judgerel_ray.importers import import_people
from judgerel_ray.measuring.reliability import reduce_judgments
from judgerel_ray.tables import items_to_frame

OTHER = {"A": "B", "B": "A"}


def asked(pick, *, items=20, orders=(None,), times=5, **columns):
    """Rows of what `pick` says of an item, in an order of its options, each time."""
    rows = []
    for item, order, replication in itertools.product(range(items), orders, range(times)):
        row = {"item_id": f"q{item}", "replication": replication, **columns, **pick(item, order)}
        rows.append(row if order is None else {**row, "option_order": order})
    return rows


def verdict(value):
    return {"verdict": value}


def shown(place, order):
    """A verdict that names the option, and the place where it stood."""
    option = place if order == 0 else OTHER[place]
    return {"verdict": f"option {option}", "label": place}


def often(rng, right, share):
    return right if rng.random() < share else OTHER[right]


def steady(share, seed=1, **columns):
    rng = random.Random(seed)
    return asked(lambda item, _: verdict(often(rng, "AB"[item % 2], share)), **columns)


def held(share, seed=2):
    rng = random.Random(seed)
    return asked(lambda item, _: verdict("AB"[item % 2] if rng.random() < share else ""))


def by_place(share, times, seed=3, **columns):
    rng = random.Random(seed)
    return asked(
        lambda _, order: shown(often(rng, "A", share), order), orders=(0, 1), times=times, **columns
    )


def of_options(seed=4):
    rng = random.Random(seed)

    def pick(item, order):
        option = often(rng, "AB"[item % 2], 0.9)
        return shown(option if order == 0 else OTHER[option], order)

    return asked(pick, orders=(0, 1))


def unnamed(seed=5):
    return [{name: value for name, value in row.items() if name != "label"} | verdict(row["label"])
            for row in by_place(0.8, 4, seed)]  # fmt: skip


def ratings(seed=6, **columns):
    rng = random.Random(seed)
    return asked(lambda item, _: {"score": float(item % 5 + 1 + rng.randint(0, 1))}, **columns)


def people(tmp_path):
    items = [
        Item(item_id=f"q{item}", benchmark="b", category="c", question="?", ratings=tuple(
            HumanRating(rater=f"expert:{who}", score=float(1 + (item + who // 2) % 5))
            for who in range(3)
        ))
        for item in range(12)
    ]  # fmt: skip
    items_to_frame(items).write_parquet(tmp_path / "items.parquet")
    return import_people(str(tmp_path / "items.parquet")).to_dicts()


CASES = {
    "one judgment an item": (steady(0.9, times=1), {"undefined"}),
    "temperature 0, two orders, by place": (by_place(0.9, 1, temperature=0.0), {"follows_place"}),
    "temperature 0, two orders, by option": (
        [{**row, "temperature": 0.0} for row in of_options() if row["replication"] == 0],
        {"agreement"},
    ),
    "temperature 0, repeated": (steady(0.95, temperature=0.0), {"agreement"}),
    "by place": (by_place(0.95, 4), {"follows_place"}),
    "by option": (of_options(), {"agreement"}),
    "one place": (
        asked(lambda item, _: {"verdict": f"o{item % 4}", "label": "A"}), {"one_place:A"}),
    "one place in two orders": (by_place(1.0, 3), {"one_place:A"}),
    "one answer": (asked(lambda *_: verdict("PASS")), {"one_answer:PASS"}),
    "noise": (steady(0.5), {"noise"}),
    "against itself": (
        [{**row, "verdict": "AB"[row["replication"] % 2]} for row in steady(1.0, times=2)],
        {"below_chance"},
    ),
    "steady": (steady(0.9), {"agreement"}),
    "pass and fail": (
        [{**row, "verdict": {"A": "pass", "B": "fail"}[row["verdict"]]} for row in steady(0.9)],
        {"agreement"},
    ),
    "no verdict": (held(0.0), {"few_verdicts"}),
    "one verdict in ten": (held(0.1), {"few_verdicts"}),
    "two verdicts in three": (held(0.66), {"agreement", "noise"}),
    "ratings": (ratings(), {"rating_error"}),
    "ratings of two judges": (ratings(judge="x") + ratings(7, judge="y"), {"rating_error"}),
    "several judges": (
        steady(0.9, judge="good") + held(0.1) + asked(lambda *_: verdict("A"), judge="stuck"),
        {"agreement", "few_verdicts", "one_answer:A"},
    ),
    "several temperatures": (
        steady(0.9, temperature=0.5) + steady(0.5, seed=9, temperature=1.0), {"agreement", "noise"}
    ),
    "orders, nothing says what verdicts name": (unnamed(), {"verdict_names_unknown"}),
}  # fmt: skip


def percent_ends(row):
    return "" if row["low"] is None else f" ({percent(row['low'])} to {percent(row['high'])})"


def first(rows, name, **of):
    found = (row for row in rows if row["coefficient"] == name)
    return next(row for row in found if of.items() <= row.items())


def expected(code, rows):
    """What a group's lead has to say, of the figures in its rows of JSON."""
    if code == "few_verdicts":
        valid = first(rows, "valid_rate")
        of = valid["n_judgments"] - valid["n_missing"]
        n = round(valid["value"] * of)
        return f"{n} of {of} replies ({percent(n / of)}) hold a verdict, too few to report"
    if code.startswith("one_"):
        n = first(rows, "valid_rate")["n_judgments"]
        whatever = "options are" if "place" in code else "question is"
        return f"answers {code.partition(':')[2]} whatever the {whatever} ({n} of {n} verdicts"
    if code == "follows_place":
        kept, option = first(rows, "place_consistency"), first(rows, "swap_consistency")
        return (
            f"two verdicts name the same place {percent(kept['value'])}{percent_ends(kept)} of the "
            f"time and the same option {percent(option['value'])}{percent_ends(option)}."
        )
    if code == "verdict_names_unknown":
        again = first(rows, "percent_agreement", conditions="repeatability")
        return f"it repeats itself {percent(again['value'])}{percent_ends(again)} of the time."
    if code == "undefined":
        return "very question was asked once"
    if code == "rating_error":
        row = first(rows, "standard_error")
        return f"standard error of {number(row['value'])} points"
    row = first(rows, "percent_agreement")
    assert row["noise"] is (code == "noise")
    assert (row["value"] < row["noise_floor"]) is (code == "below_chance") or row["noise"]
    said = f"gives the same verdict {percent(row['value'])} of the time{percent_ends(row)}"
    return f"{said}; its own verdicts shuffled across the questions would agree {percent(row['noise_floor'])} of"  # noqa: E501


def led(path, tmp_path, capsys, *flags):
    """Rows of JSON by group, the text of the terminal, and that of the page above its sections."""
    assert main(["reduce", path, *flags, "--format", "json"]) == 0
    groups = {}
    for row in json.loads(capsys.readouterr().out):
        names = list(row)[: list(row).index("coefficient")]
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    assert main(["reduce", path, *flags, "--full"]) == 0
    terminal = " ".join(capsys.readouterr().out.split())
    page = tmp_path / "page.html"
    assert main(["report", path, *flags, "--out", str(page)]) == 0
    capsys.readouterr()
    text = page.read_text(encoding="utf-8").replace("\u00a0", " ")
    above = text[text.index("<h1") : text.index("<h2>What was asked")]
    return groups, terminal, " ".join(html.unescape(re.sub("<[^>]*>", " ", above)).split()), above


@pytest.mark.slow
@pytest.mark.parametrize("case", [*CASES, "people"])
def test_the_three_lead_with_the_same(case, tmp_path, capsys):
    rows, codes = (people(tmp_path), {"rating_error"}) if case == "people" else CASES[case]
    path = str(tmp_path / "rows.parquet")
    pl.DataFrame(rows, infer_schema_length=None).write_parquet(path)
    groups, terminal, page, markup = led(path, tmp_path, capsys)
    assert {row["lead"] for mine in groups.values() for row in mine} <= codes
    for mine in groups.values():
        (code,) = {row["lead"] for row in mine}
        said = expected(code, mine)
        assert said in terminal
        warning = code.startswith(("few", "one_", "follows", "verdict_names"))
        if warning or len(groups) == 1:
            assert said in page
        else:  # several stand in a table
            name = "standard_error" if code == "rating_error" else "percent_agreement"
            row = first(mine, name)
            digits = number(row["value"]) if code == "rating_error" else percent(row["value"])
            assert re.search(f">{re.escape(digits)}[ <]", markup)
    if not any("agreement" in code or code in ("noise", "below_chance") for code in codes):
        praised = "gives the same verdict"
        assert praised not in terminal
        assert praised not in page


@pytest.mark.slow
def test_a_share_without_verdicts_is_flagged_beside_agreement(tmp_path, capsys):
    path = str(tmp_path / "rows.parquet")
    pl.DataFrame(held(0.66)).write_parquet(path)
    groups, terminal, page, _ = led(path, tmp_path, capsys)
    (rows,) = groups.values()
    valid = first(rows, "valid_rate")
    n = valid["n_judgments"] - round(valid["value"] * valid["n_judgments"])
    alone = first(rows, "percent_agreement", missing="drop")
    said = (
        f"{n} of 100 replies hold no verdict and count as agreeing with each other; without them "
        f"agreement is {percent(alone['value'])}."
    )
    assert said in terminal
    assert said in page
    assert (
        f"replies without a verdict: {n} of 100" in first(rows, "krippendorff_alpha")["estimator"]
    )
    assert "replies without a verdict" not in valid["estimator"]


@pytest.mark.slow
def test_nothing_is_met_or_higher_where_few_replies_hold_a_verdict(tmp_path, capsys):
    path = str(tmp_path / "rows.parquet")
    rows = [{**row, "judge": "silent"} for row in held(0.1)] + steady(0.5, judge="noisy")
    pl.DataFrame(rows).write_parquet(path)
    tolerance = ["--tolerance", "percent_agreement=0.3", "--tolerance", "valid_rate=0.001"]
    assert main(["reduce", path, *tolerance, "--format", "json"]) == 0
    silent = [row for row in json.loads(capsys.readouterr().out) if row["judge"] == "silent"]
    agreement = first(silent, "percent_agreement")
    assert agreement["low"] > 0.3
    assert agreement["standing"] == "undecided"
    assert first(silent, "valid_rate")["standing"] == "meets"
    assert main(["compare", path, "--by", "judge", "--format", "json"]) == 0
    compared = json.loads(capsys.readouterr().out)
    assert min(row["p_holm"] for row in compared if row["p_holm"] is not None) < 0.05
    assert {(row["standing"], row["reason"]) for row in compared} == {("undecided", "few_verdicts")}
    assert main(["compare", "--full", path, "--by", "judge"]) == 0
    told = capsys.readouterr().out
    assert re.match(r"\d+ of 100 replies hold a verdict \(silent\): nothing is said", told)
    assert main(["advise", path, "--format", "json"]) == 0
    tables = json.loads(capsys.readouterr().out)
    (row,) = (row for row in tables["components"] if row["judge"] == "silent")
    assert row["undefined"] == "few_verdicts"
    assert row["estimate"] is None
    assert {row["judge"] for row in tables["needs"]} == {"noisy"}
    assert main(["advise", "--full", path]) == 0
    assert "silent: " in (text := " ".join(capsys.readouterr().out.split()))
    assert "replies hold a verdict: nothing is said of what more judgments are worth." in text


@pytest.mark.slow
@pytest.mark.parametrize(("share", "follows"), [(0.5, False), (0.95, True)])
def test_ties_make_no_judge_follow_the_place(share, follows):
    """They stand nowhere: shares of the same place and of the same option are of other pairs."""
    rng = random.Random(4)

    def pick(_, order):
        tie = {"verdict": "tie", "label": None}
        return tie if rng.random() < 0.4 else shown(often(rng, "A", share), order)

    rows = pl.LazyFrame(asked(pick, items=200, orders=(0, 1), times=3))
    leads = set(reduce_judgments(rows)["lead"])
    assert (leads == {"follows_place"}) is follows


@pytest.mark.alike(3)
@pytest.mark.parametrize(
    ("items", "said"),
    [
        (4, "This rests on 4 questions: a few more can change it."),
        (30, "Of the 30 questions few decide this: one of them can move it."),
        (60, None),
    ],
)
def test_the_lead_says_how_few_questions_it_rests_on(items, said, tmp_path, capsys):
    # In the middle case one question in ten is not answered the same way every time.
    often_split = 2 if items == 60 else 10
    rows = [
        {
            "item_id": f"q{i}",
            "replication": n,
            "verdict": "AB"[(i % 2 + (n == 0 and i % often_split == 0)) % 2],
        }
        for i in range(items)
        for n in range(3)
    ]
    path, page = str(tmp_path / "rows.csv"), tmp_path / "page.html"
    pl.DataFrame(rows).write_csv(path)
    assert main(["reduce", path, "--full"]) == 0
    told = " ".join(capsys.readouterr().out.split("(" + str(items))[0].split())
    assert main(["report", path, "--out", str(page)]) == 0
    written = page.read_text()
    for text in (told, written):
        assert ("This rests on" in text or "few decide this" in text) == (said is not None)
        assert said is None or said in text


def test_only_groups_whose_repeats_judge_other_answers_say_so(tmp_path, capsys):
    draw = random.Random(1)
    rows = [
        {"judge": judge, "item_id": f"q{item}", "replication": times, "n_answers": answers,
         "score": draw.randint(1, 5)}
        for judge, answers in (("fixed", 1), ("mixed", 3))
        for item in range(20)
        for times in range(3)
    ]  # fmt: skip
    pl.DataFrame(rows).write_csv(file := tmp_path / "rows.csv")
    assert main(["reduce", str(file), "--full"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    fixed, mixed = said.split(" mixed 20 questions")
    assert "Asked the same prompt again, one rating of this judge" in fixed
    assert "other answers" not in fixed
    assert "Asked the same question again, with another answer to judge, one rating" in mixed
    assert "Of mixed: The judge's own repeatability is unknown" in mixed
    assert "Of fixed: Reproducibility is unknown" in mixed


@pytest.mark.slow
def test_ratings_are_noise_on_the_page_where_their_error_is():
    """Two ratings of a steady judge are seldom exactly equal, and seldom far apart."""
    found = judgerel_ray.reduce(judgerel_ray.example("run"))
    rows = first_rows(found, "percent_agreement")
    [table] = headline_table(found)
    told = next(column.cells for column in table.columns if column.head == "remark")
    assert [NOISE in cell for cell in told] == [row["lead"] == "noise" for row in rows]
    assert any(row["noise"] and row["lead"] == "rating_error" for row in rows)
