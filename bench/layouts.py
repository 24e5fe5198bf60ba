"""Any layout of known judgments is read as they are, or asked about: never read otherwise.

    OMP_NUM_THREADS=1 python -m bench.layouts [--layouts 4_000] [--first 100_000]

Judgments are drawn by a seed and written in one of the layouts that people keep (long, a column a
repeat, a judge or both, lists, objects, JSON, a file each), with names as people write them and
columns beside them. What is read is held against what was drawn. Prints how many layouts were read,
how many were asked about, of which kinds, and the seeds of those read otherwise; ends with 1 if
there is any. 2,800 of other seeds are read by ``tests/laws/test_layouts.py``.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import polars as pl

from judgerel_ray.core import SweepError
from judgerel_ray.core.verb import Named
from judgerel_ray.counting.files.names import ROLES
from judgerel_ray.counting.snapshot import Snapshot

MODELS = ("gpt-4o", "claude-3.5", "gemini-1.5-pro", "llama-3-70b", "mistral-large")
METRICS = ("faithfulness", "answer_relevancy", "context_precision", "helpfulness", "toxicity")
MENUS = (("pass", "fail"), ("A", "B", "tie"), ("yes", "no"), ("good", "ok", "bad"),
         ("True", "False"), ("TRUE", "FALSE"))  # fmt: skip
WHOLE = tuple(map(str, range(1, 6)))
HALVES = ("1", "1.5", "2", "2.5", "3", "0.5")
UNITS = (".3", "1e-1", "0.75", "1.0", "-.5", "5E-1")
SHORT = ("score", "rating", "verdict", "grade")
KINDS = ("long", "long", "unnumbered", "runs", "judges", "list", "objects", "json", "orders",
         "metrics", "named values", "a file a judge", "a file a run")  # fmt: skip
MORE = ("judges and runs", "judges and orders", "keyed", "keyed lists", "keyed metrics",
        "metrics in words", "id of the row", "seeds", "two columns", "ragged")  # fmt: skip
TOLD = ("marks", "numbered judges", "nested", "metric and value", "bars", "lists beside",
        "merged")  # fmt: skip


def truth(draw: random.Random) -> list[dict]:
    """Judgments: a row an item, a judge and a repeat."""
    judges = draw.sample(MODELS, draw.choice((1, 1, 2, 3)))
    repeats, rated = draw.choice((1, 2, 3, 4)), draw.random() < 0.5
    menu = draw.choice((WHOLE, WHOLE, HALVES, UNITS)) if rated else draw.choice(MENUS)
    called = draw.choice(("q{}", "q{}", "{}", "item-{}-of-set"))
    items = [called.format(n) for n in range(draw.randint(4, 9))]
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
        "timestamp": lambda n, _: f"2026-01-{1 + n % 28:02}T10:{n % 60:02}:00Z",
        "reason": lambda *_: f"because of {draw.random():.6f} and so on and so forth",
        "latency_ms": lambda *_: draw.randint(100, 900),
        "human_label": lambda *_: draw.choice(("pass", "fail")),
        "category": lambda _, item: f"c{len(item) % 3}",
        "request_id": lambda n, _: f"r{n}",
        "expected": lambda *_: draw.choice("AB"),
        "total_tokens": lambda *_: draw.randint(10, 99),
        "dataset": lambda *_: "own",
        "date": lambda *_: "2026-01-01",
    }
    for name in draw.sample(sorted(more), draw.randint(0, 4)):
        if name.lower() not in {one.lower() for one in names}:
            for n, row in enumerate(rows):
                row[name] = more[name](n, row["__item"])


def layout(
    draw: random.Random, known: list[dict], kinds: tuple[str, ...] = KINDS
) -> tuple[str, list[dict]]:
    """Known judgments in one of the layouts that people keep, and what that is called."""
    judges = list(dict.fromkeys(one["judge"] for one in known))
    value = "score" if known[0]["rated"] else "verdict"
    kind = draw.choice(kinds)
    item, verdict = spelled(draw, "item_id"), spelled(draw, value)
    judge, repeat = spelled(draw, "judge"), spelled(draw, "replication")
    if len({item.lower(), verdict.lower(), judge.lower(), repeat.lower()}) < 4:
        item, verdict, judge, repeat = "question_id", value, "judge_model", "trial"
    groups: dict[tuple, list[str]] = {}
    for one in known:
        groups.setdefault((one["item"], one["judge"]), []).append(one["value"])
    rows: list[dict] = []
    if kind in TOLD:
        rows = told_layout(draw, kind, known, {"item": item, "judge": judge, "repeat": repeat})
    elif kind in MORE:
        rows = wide_layout(draw, kind, known, {"item": item, "verdict": verdict, "judge": judge})
    elif kind in ("orders", "metrics", "named values", "a file a judge", "a file a run"):
        rows = other_layout(draw, kind, known, {"item": item, "verdict": verdict, "judge": judge})
    elif kind in ("long", "unnumbered", "json"):
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
    # A column that fits as well, of which nobody can know.
    if draw.random() < 0.15 and kind != "marks":
        trap = draw.choice(("second", "version"))
        second = "judgement" if verdict.lower() != "judgement" else "decision"
        for n, row in enumerate(rows):
            row |= {second: draw.choice("AB")} if trap == "second" else {
                "prompt_version": f"v{n % 2}"}  # fmt: skip
    if kind != "merged":  # in whose empty cells nothing else may stand
        beside(draw, rows, set(rows[0]))
    order = [name for name in rows[0] if name != "__item"]
    draw.shuffle(order)
    return kind, [{name: row[name] for name in order} for row in rows]


def other_layout(
    draw: random.Random, kind: str, known: list[dict], names: dict[str, str]
) -> list[dict]:
    """Layouts in which something else than a repeat tells rows or columns apart."""
    value = "score" if known[0]["rated"] else "verdict"
    if kind in ("a file a judge", "a file a run"):
        told = "judge" if kind == "a file a judge" else "repeat"
        rest = {} if kind == "a file a judge" else {names["judge"]: "judge"}
        return [
            {"__item": one["item"], "__file": one[told], names["item"]: one["item"],
             names["verdict"]: one["value"], **{name: one[key] for name, key in rest.items()}}
            for one in known
        ]  # fmt: skip
    if kind == "named values":
        return [
            {"__item": one["item"], "trace_id": one["item"], "name": metric(known, one["judge"]),
             "value": one["value"]}
            for one in known
        ]  # fmt: skip
    marks = draw.choice((("ab", "ba"), ("original", "swapped"), ("AB", "BA")))
    rows: dict[tuple, dict] = {}
    for one in known:
        key = (one["item"], one["judge"]) if kind == "orders" else (one["item"], one["repeat"])
        row = rows.setdefault(key, {"__item": one["item"], names["item"]: one["item"]})
        if kind == "metrics":
            row[metric(known, one["judge"])] = one["value"]
        elif one["repeat"] < len(marks):
            row[names["judge"]] = one["judge"]
            row[f"{value}_{marks[one['repeat']]}"] = one["value"]
    return [*rows.values()]


def wide_layout(
    draw: random.Random, kind: str, known: list[dict], names: dict[str, str]
) -> list[dict]:
    """Layouts in which two things stand in the names of columns, in keys, or in two columns."""
    value = "score" if known[0]["rated"] else "verdict"
    form = draw.choice((
        "{0}_run{1}", "{0}-run-{1}", "run{1}_{0}", "{0} run {1}", f"{{0}}_{value}_{{1}}",
        f"{{0}}_rep{{1}}_{value}", f"trial{{1}}: {{0}} {value}",
    ))  # fmt: skip
    mark = draw.choice((("ab", "ba"), ("original", "swapped")))
    keys, single = draw.choice((("votes", "vote"), ("judgments", "judgment"), (f"{value}s", value)))
    rows: dict[tuple, dict] = {}
    for n, one in enumerate(known):
        told, who, said = one["item"], one["judge"], one["value"]
        if kind in ("id of the row", "seeds", "two columns"):
            row = rows.setdefault((n,), {"__item": told, names["judge"]: who,
                                         names["verdict"]: said})  # fmt: skip
            if kind == "id of the row":
                row |= {"uuid": f"u{n}", "question": told, "run": one["repeat"]}
                if len(known) > len({other["item"] for other in known}):
                    row |= {"id": n}
            elif kind == "seeds":
                row |= {names["item"]: told, "seed": 17 * one["repeat"] + 5}
            else:
                place = [*dict.fromkeys(other["item"] for other in known)].index(told)
                row |= {"set_name": "ab"[place % 2], "example_id": place // 2,
                        "trial": one["repeat"]}  # fmt: skip
            continue
        is_wide = kind in ("judges and runs", "judges and orders", "ragged", "keyed lists")
        key = (told,) if is_wide else (told, one["repeat"])
        row = rows.setdefault(key, {"__item": told, names["item"]: told})
        if kind in ("judges and runs", "ragged"):
            row[form.format(who, one["repeat"] + 1)] = said
        elif kind == "judges and orders" and one["repeat"] < len(mark):
            row[f"{who}_{value}_{mark[one['repeat']]}"] = said
        elif kind == "metrics in words":
            row[f"{metric(known, who)}_{value}"] = said
        elif kind == "keyed lists":
            row.setdefault(keys, {}).setdefault(who, []).append(said)
        elif kind.startswith("keyed"):
            told = metric(known, who) if kind == "keyed metrics" else who
            plain_value = {single: said, "reason": "so"} if names["item"].islower() else said
            row.setdefault(keys, {})[told] = plain_value
    found = [*rows.values()]
    if kind == "ragged" and len(found[0]) > 4:
        last = [*found[0]][-1]
        found = [{name: one for name, one in row.items() if name != last} for row in found]
    return found


def told_layout(
    draw: random.Random, kind: str, known: list[dict], names: dict[str, str]
) -> list[dict]:
    """Layouts in which marks, numbers, objects or lists beside each other tell what was judged."""
    value = "score" if known[0]["rated"] else "verdict"
    judges = [*dict.fromkeys(one["judge"] for one in known)]
    words = sorted({str(one["value"]) for one in known})
    mark = draw.choice(("is_{}", "{}", "{}_reply"))
    between = draw.choice("|;")
    listed = draw.choice(("judges", "graders", "who"))
    is_item_merged = draw.random() < 0.5
    lists: dict[str, list[dict]] = {}
    rows: dict[tuple, dict] = {}
    last: tuple = ()
    for one in known:
        told, who, said = one["item"], one["judge"], one["value"]
        key = (told, one["repeat"]) if kind == "numbered judges" else (told, who, one["repeat"])
        row = rows.setdefault(key, {"__item": told})
        if kind == "marks":
            row |= {names["item"]: told, names["judge"]: who, names["repeat"]: one["repeat"]}
            row |= {mark.format(f"word {word}"): int(str(said) == word) for word in words}
        elif kind == "numbered judges":
            row |= {names["item"]: told, names["repeat"]: one["repeat"]}
            row[f"judge{1 + judges.index(who)}_{value}"] = said
        elif kind == "nested":
            row |= {"example": {"id": told, "text": "so"}, "evaluation": {value: said},
                    "meta": {"run": one["repeat"], "judge": {"name": who}}}  # fmt: skip
        elif kind == "metric and value":
            row |= {names["item"]: told, "trial": one["repeat"],
                    "metric": metric(known, who), "value": said}  # fmt: skip
        elif kind == "merged":
            row |= {names["item"]: "" if is_item_merged and last[:1] == (told,) else told,
                    names["judge"]: "" if last == (told, who) else who,
                    names["repeat"]: one["repeat"], value: said}  # fmt: skip
            last = (told, who)
        else:
            lists.setdefault(told, []).append(one)
    if kind not in ("bars", "lists beside"):
        return [*rows.values()]
    return [
        {"__item": told, names["item"]: told, listed: [one["judge"] for one in each],
         f"{value}s": [one["value"] for one in each]} if kind == "lists beside" else
        {"__item": told, names["item"]: told, names["judge"]: who,
         f"{value}s": between.join(one["value"] for one in each if one["judge"] == who)}
        for told, each in lists.items() for who in ([""] if kind == "lists beside" else judges)
    ]  # fmt: skip


def metric(known: list[dict], judge: str) -> str:
    """A criterion in place of a judge."""
    return METRICS[[*dict.fromkeys(one["judge"] for one in known)].index(judge)]


def plain(value: object) -> str:
    """A value as it is compared: numbers by what they are, words without their case."""
    try:
        return f"{float(str(value)):g}"
    except ValueError:
        return str(value).lower()


def write(rows: list[dict], folder: Path) -> str:
    """The files of a layout, in a folder of its own: one pattern or path names them."""
    for old in folder.iterdir():
        old.unlink()
    if any(isinstance(value, list | dict) for value in rows[0].values()):
        (folder / "t.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
        return str(folder / "t.jsonl")
    files = {row.get("__file"): [] for row in rows}
    for row in rows:
        files[row.get("__file")].append({k: str(v) for k, v in row.items() if k != "__file"})
    for name, some in files.items():
        pl.DataFrame(some).write_csv(folder / ("t.csv" if name is None else f"of-{name}.csv"))
    return str(folder / "t.csv") if None in files else str(folder / "*.csv")


def read(rows: list[dict], folder: Path) -> tuple[Counter, bool] | None:
    """What was read of a layout, and whether judges were told apart; None where it was asked."""
    try:
        with Snapshot.open(write(rows, folder), Named()) as judged:
            frame = judged.frame.collect()
    except SweepError:
        return None
    value = next(name for name in ("verdict", "score") if name in frame.columns)
    apart = next((name for name in ("judge", "criterion") if name in frame.columns), None)
    who = frame[apart].cast(pl.String) if apart else [""] * frame.height
    items = frame["item_id"].cast(pl.String)
    return Counter(zip(items, who, map(plain, frame[value]), strict=True)), apart is not None


def wrong_and_asked(
    seeds: Iterable[int], folder: Path, kinds: tuple[str, ...] = KINDS
) -> tuple[list[str], Counter]:
    """Seeds of layouts that were read otherwise than they are, and how many were asked about."""
    wrong, asked = [], Counter()
    for seed in seeds:
        draw = random.Random(seed)
        known = truth(draw)
        kind, rows = layout(draw, known, kinds)
        found = read(rows, folder)
        if found is None:
            asked[kind] += 1
            continue
        if kind == "ragged":  # less the column that is not there
            columns = [*dict.fromkeys((one["judge"], one["repeat"]) for one in known)]
            last = columns[2:] and columns[-1]
            known = [one for one in known if (one["judge"], one["repeat"]) != last]
        if kind in ("orders", "judges and orders"):  # hold two
            known = [one for one in known if one["repeat"] < 2]
        told = dict.fromkeys(one["judge"] for one in known)
        if kind == "numbered judges":
            told = {judge: f"judge{n}" for n, judge in enumerate(told, 1)}
        if kind in ("metrics", "named values", "keyed metrics", "metrics in words",
                    "metric and value"):  # fmt: skip
            told = {judge: metric(known, judge) for judge in told}
        got, is_apart = found
        right = Counter(
            (one["item"], (told[one["judge"]] or one["judge"]) if is_apart else "",
             plain(one["value"]))
            for one in known
        )  # fmt: skip
        if got != right or (len(told) > 1 and not is_apart):
            wrong.append(f"{seed} ({kind}): {list(rows[0])}")
    return wrong, asked


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layouts", type=int, default=4_000)
    parser.add_argument("--first", type=int, default=100_000, help="the first seed")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    third = given.layouts // 3
    wrong: list[str] = []
    asked: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        for n, kinds in enumerate((KINDS, MORE, TOLD)):
            seeds = range(given.first + n * third, given.first + (n + 1) * third)
            misread, refused = wrong_and_asked(seeds, Path(folder), kinds)
            wrong += misread
            asked += refused
    kinds_asked = ", ".join(f"{n:,} {kind}" for kind, n in asked.most_common())
    print(f"{given.layouts:,} layouts: {len(wrong):,} read otherwise than they are")
    print(f"asked about: {asked.total():,} ({kinds_asked})")
    print("\n".join(wrong[:20]))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
