"""Any layout of known judgments is read as they are, or asked about: never read otherwise."""

from __future__ import annotations

import json
import random
import warnings
from collections import Counter

import polars as pl
import pytest

from judgerel_ray.core import SweepError
from judgerel_ray.core.verb import Named
from judgerel_ray.counting.files.names import ROLES
from judgerel_ray.counting.snapshot import Snapshot

MODELS = ("gpt-4o", "claude-3.5", "gemini-1.5-pro", "llama-3-70b", "mistral-large")
MENUS = (("pass", "fail"), ("A", "B", "tie"), ("yes", "no"), ("good", "ok", "bad"))
SHORT = ("score", "rating", "verdict", "grade")


def truth(draw: random.Random) -> list[dict]:
    """Judgments: a row an item, a judge and a repeat."""
    judges = draw.sample(MODELS, draw.choice((1, 1, 2, 3)))
    repeats, rated = draw.choice((2, 3, 4)), draw.random() < 0.5
    menu = [str(n) for n in range(1, 6)] if rated else draw.choice(MENUS)
    items = [f"q{n}" for n in range(draw.randint(4, 9))]
    return [
        {"item": item, "judge": judge, "repeat": repeat, "value": draw.choice(menu),
         "rated": rated}
        for item in items for judge in judges for repeat in range(repeats)
    ]  # fmt: skip


def spelled(draw: random.Random, role: str) -> str:
    """A name of a role, in any of the ways that people write names."""
    name = draw.choice(ROLES[role])
    if role == "verdict" and name == "label":
        name = "verdict"
    ways = (str.lower, str.upper, str.title, lambda one: one.replace("_", " "),
            lambda one: one.replace("_", "-"), lambda one: one)  # fmt: skip
    return draw.choice(ways)(name)


def beside(draw: random.Random, rows: list[dict], names: set[str]) -> None:
    """Columns that say when, why, at what cost, or of what kind an item is."""
    more = {
        "timestamp": lambda n, _one: f"2026-01-{1 + n % 28:02}T10:{n % 60:02}:00Z",
        "reason": lambda _n, _one: f"because of {draw.random():.6f} and so on and so forth",
        "latency_ms": lambda _n, _one: draw.randint(100, 900),
        "human_label": lambda _n, _one: draw.choice(("pass", "fail")),
        "category": lambda _n, one: f"c{hash(one) % 3}",
        "request_id": lambda n, _one: f"r{n}",
        "expected": lambda _n, _one: draw.choice("AB"),
        "total_tokens": lambda _n, _one: draw.randint(10, 99),
        "dataset": lambda _n, _one: "own",
    }
    for name in draw.sample(sorted(more), draw.randint(0, 4)):
        if name.lower() not in {one.lower() for one in names}:
            for n, row in enumerate(rows):
                row[name] = more[name](n, row["__item"])


def layout(draw: random.Random, known: list[dict]) -> tuple[str, list[dict]]:
    """Known judgments in one of the layouts that people keep, and what that is called."""
    judges = list(dict.fromkeys(one["judge"] for one in known))
    value = "score" if known[0]["rated"] else "verdict"
    kind = draw.choice(("long", "long", "unnumbered", "runs", "judges", "list", "objects", "json"))
    item, verdict = spelled(draw, "item_id"), spelled(draw, value)
    judge, repeat = spelled(draw, "judge"), spelled(draw, "replication")
    if len({item.lower(), verdict.lower(), judge.lower(), repeat.lower()}) < 4:
        item, verdict, judge, repeat = "question_id", value, "judge_model", "trial"
    groups: dict[tuple, list[str]] = {}
    for one in known:
        groups.setdefault((one["item"], one["judge"]), []).append(one["value"])
    rows: list[dict] = []
    if kind in ("long", "unnumbered", "json"):
        for one in known:
            told = one["value"]
            if kind == "json":
                told = json.dumps({draw.choice(SHORT[:2]) if value == "score" else "verdict":
                                   one["value"], "reason": "so"})  # fmt: skip
            row = {"__item": one["item"], item: one["item"], verdict: told}
            if kind == "json":
                row = {"__item": one["item"], item: one["item"], "judge_output": told}
            if len(judges) > 1 or draw.random() < 0.5:
                row[judge] = one["judge"]
            if kind != "unnumbered":
                row[repeat] = one["repeat"]
            rows.append(row)
        keys = [judge in row for row in rows]
        if any(keys) and not all(keys):
            for row, one in zip(rows, known, strict=True):
                row[judge] = one["judge"]
        if kind == "json":
            name = "score" if value == "score" else "verdict"
            for row, one in zip(rows, known, strict=True):
                row["judge_output"] = json.dumps({name: one["value"], "reason": "so"})
    elif kind == "runs":
        stem = draw.choice(("run", "run_", "trial", "s", "sample_", "rep"))
        after = draw.choice(("", "", f"_{value}"))
        for (name, who), values in groups.items():
            row = {"__item": name, item: name}
            row |= {judge: who} if len(judges) > 1 else {}
            rows.append(row | {f"{stem}{n}{after}": one for n, one in enumerate(values, 1)})
    elif kind == "judges" and len(judges) > 1:
        for name in dict.fromkeys(one["item"] for one in known):
            for n in range(len(groups[name, judges[0]])):
                row = {"__item": name, item: name, repeat: n}
                rows.append(row | {f"{who}_{value}": groups[name, who][n] for who in judges})
    else:
        for (name, who), values in groups.items():
            row = {"__item": name, item: name, judge: who}
            if kind == "objects":
                row["votes"] = [{value: one, "run": n} for n, one in enumerate(values)]
            else:
                row[f"{value}s"] = values
            rows.append(row)
    if draw.random() < 0.15:  # a column that fits as well, of which nobody can know
        trap = draw.choice(("second", "version"))
        for n, row in enumerate(rows):
            row |= {"judgement": draw.choice("AB")} if trap == "second" else {
                "prompt_version": f"v{n % 2}"}  # fmt: skip
    beside(draw, rows, set(rows[0]))
    order = [name for name in rows[0] if name != "__item"]
    draw.shuffle(order)
    return kind, [{name: row[name] for name in order} for row in rows]


def counted(rows: list[tuple]) -> Counter:
    return Counter(rows)


def read(rows: list[dict], tmp_path) -> tuple[Counter, bool] | None:
    """What was read of a layout, and whether judges were told apart; None where it was asked."""
    nested = any(isinstance(value, list) for value in rows[0].values())
    file = tmp_path / ("t.jsonl" if nested else "t.csv")
    if nested:
        file.write_text("\n".join(json.dumps(row) for row in rows))
    else:
        pl.DataFrame({name: [str(row[name]) for row in rows] for name in rows[0]}).write_csv(file)
    try:
        with Snapshot.open(str(file), Named()) as judged:
            frame = judged.frame.collect()
    except SweepError:
        return None
    value = pl.coalesce(
        pl.col(name).cast(pl.String) if name == "verdict" else pl.col(name).cast(pl.Int64)
        .cast(pl.String) for name in ("verdict", "score") if name in frame.columns
    )  # fmt: skip
    has_judge = "judge" in frame.columns
    who = pl.col("judge").cast(pl.String) if has_judge else pl.lit("")
    found = frame.select(pl.col("item_id").cast(pl.String), who, value.alias("value"))
    return counted(found.rows()), has_judge


def wrong_and_asked(seeds, tmp_path) -> tuple[list[str], int]:
    """Seeds of layouts that were read otherwise than they are, and how many were asked about."""
    wrong, asked = [], 0
    for seed in seeds:
        draw = random.Random(seed)
        known = truth(draw)
        kind, rows = layout(draw, known)
        found = read(rows, tmp_path)
        if found is None:
            asked += 1
            continue
        got, has_judge = found
        judges = {one["judge"] for one in known}
        right = counted([(one["item"], one["judge"] if has_judge else "", one["value"])
                         for one in known])  # fmt: skip
        if got != right or (len(judges) > 1 and not has_judge):
            wrong.append(f"{seed} ({kind}): {list(rows[0])}")
    return wrong, asked


@pytest.mark.parametrize("seeds", [
    range(150), pytest.param(range(150, 2400), marks=pytest.mark.slow),
])  # fmt: skip
def test_no_layout_is_read_otherwise_than_it_is(seeds, tmp_path, record_property):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wrong, asked = wrong_and_asked(seeds, tmp_path)
    record_property("asked", asked / len(seeds))
    assert not wrong, "\n".join(wrong)
    assert asked < len(seeds) / 4
