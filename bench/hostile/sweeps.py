"""Sweep files, items, gold, templates and models: what `plan` and `items` make of them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from bench.hostile.case import Came, Case, Expect
from bench.hostile.run_directories import SWEEP, items

N_ITEMS = 3
PLAN = ("plan", "s.toml", "--json")
TEMPERATURES, REPLICATIONS, ORDERS = (1.0, 0.5), 6, 2
MODEL = Path(__file__).parents[2] / "judgerel_ray" / "demo" / "judge"


def planned(n: int | None) -> Expect:
    """A plan of so many requests; None where the number is not looked at."""

    def check(came: Came) -> str | None:
        found = json.loads(came.stdout)["requests"]
        return None if n is None or found == n else f"plans {found} requests, counted {n}"

    return Expect(check=check)


def count(
    temperatures: Sequence[float] = TEMPERATURES,
    replications: int = REPLICATIONS,
    orders: int = ORDERS,
    n_items: int = N_ITEMS,
) -> int:
    """Requests of a sweep: temperature 0 is asked once."""
    return sum(1 if t == 0 else replications for t in temperatures) * orders * n_items


def must(expect: Expect, *names: str) -> Expect:
    """A refusal that mentions what is wrong, where nothing else is right."""
    return Expect(refusal="must", names=names, harmless=True, check=expect.check)


REFUSED = Expect(refusal="must", harmless=True)


# ---- the file itself --------------------------------------------------------------------------


def file_cases() -> Iterator[Case]:
    """Encodings and texts of sweep files."""
    whole = count(n_items=N_ITEMS)
    contents: dict[str, tuple[bytes, Expect]] = {
        "UTF-8 with a byte order mark": (SWEEP.encode("utf-8-sig"), planned(whole)),
        "UTF-16": (SWEEP.encode("utf-16"), planned(whole)),
        "UTF-16 without a mark": (SWEEP.encode("utf-16-le"), planned(whole)),
        "UTF-32": (SWEEP.encode("utf-32"), planned(whole)),
        "Latin-1 letters": (SWEEP.replace("hostile", "böse").encode("latin-1"), REFUSED),
        "Windows line ends": (SWEEP.replace("\n", "\r\n").encode(), planned(whole)),
        "old Macintosh line ends": (SWEEP.replace("\n", "\r").encode(), planned(whole)),
        "a null byte": (SWEEP.replace("coin", "co\0in").encode(), REFUSED),
        "an escape in a name": (SWEEP.replace("coin", "co\\u001bin").encode(), REFUSED),
        "empty": (b"", REFUSED),
        "blanks alone": (b"\n \n", REFUSED),
        "JSON": (b'{"name": "x"}', REFUSED),
        "YAML": (b"name: x\njudge:\n  - name: coin\n", REFUSED),
        "a PNG": (b"\x89PNG\r\n\x1a\n\x00", REFUSED),
        "cut in half": (SWEEP.encode()[: len(SWEEP) // 2], REFUSED),
        "the same key twice": (SWEEP.encode() + b"replications = 7\n", REFUSED),
        "the same judge twice": (
            SWEEP.replace("[[ask]]", SWEEP[17 : SWEEP.index("[[ask]]")] + "[[ask]]").encode(),
            REFUSED,
        ),
        "an unknown key": (SWEEP.encode() + b"replication = 7\n", must(REFUSED, "replication")),
        "an unknown table": (SWEEP.encode() + b"[nonsense]\nx = 1\n", must(REFUSED, "nonsense")),
        "a thousand brackets": (SWEEP.encode() + b"x = " + b"[" * 1000, REFUSED),
        "a number of 5,000 digits": (SWEEP.encode() + b"order_seed = 1" + b"0" * 5000, REFUSED),
        "a name of 5,000 characters": (
            SWEEP.replace('"hostile"', f'"{"h" * 5000}"').encode(), REFUSED),
        "prose": (b"Please run the sweep.\n", REFUSED),
    }  # fmt: skip
    for what, (content, expect) in contents.items():
        yield Case(
            family="Sweep files",
            what=what,
            commands=(PLAN,),
            files={"s.toml": content, "items.jsonl": items(N_ITEMS).encode()},
            expect=expect,
            fast="mark" in what,
        )


WILD: dict[str, Any] = {
    "-1": -1, "0": 0, "1": 1, "true": True, '"abc"': "abc", '""': "", "nan": float("nan"),
    "1e300": 1e300, "[]": [], "[1.0]": [1.0], "{}": {}, "10000000000000000000": 10**19,
}  # fmt: skip
KEYS = {
    "replications": "replications = 6", "temperatures": "temperatures = [1.0, 0.5]",
    "option_orders": "option_orders = 2", "top_k": None, "top_p": None, "max_tokens": None,
    "order_seed": None, "repeat_greedy": None, "sample": None, "reader": None, "templates": None,
    "judges": None, "gold_is": None, "path": None,
}  # fmt: skip


def key_cases() -> Iterator[Case]:
    """Every key of an ask with values that are not for it."""
    for key, line in KEYS.items():
        for written, value in WILD.items():
            line_set = f"{key} = {written}"
            text = SWEEP.replace(line, line_set) if line else SWEEP + line_set + "\n"
            if key == "path":
                text = SWEEP.replace('path = "items.jsonl"', line_set)
            yield Case(
                family="Keys of a sweep",
                what=line_set,
                commands=(PLAN,),
                files={"s.toml": text.encode(), "items.jsonl": items(N_ITEMS).encode()},
                expect=Expect(check=_plan_of(key, value), names=(key,)),
            )
    judge_keys = ("name", "model", "engine", "gpus", "replicas", "engine_options", "max_model_len")
    lines = {"name": 'name = "coin"', "model": 'model = "dirichlet"',
             "engine": 'engine = "simulated"', "gpus": "gpus = 0",
             "engine_options": "engine_options = { concentration = 1.0, seed = 3 }"}  # fmt: skip
    for key in judge_keys:
        for written in ("-1", "true", '""', '"../../x"', '"a b"', '"x\\u0000"', "1e300", "[]"):
            line_set = f"{key} = {written}"
            old = lines.get(key, "gpus = 0")
            text = SWEEP.replace(old, line_set if key in lines else f"{old}\n{line_set}")
            yield Case(
                family="Keys of a sweep",
                what=f"judge: {line_set}",
                commands=(PLAN,),
                files={"s.toml": text.encode(), "items.jsonl": items(N_ITEMS).encode()},
                expect=planned(count()),
            )


def _plan_of(key: str, value: Any) -> Callable[[Came], str | None]:
    """The number of requests that a value means, where it is one."""
    changed: dict[str, Any] = {}
    if key == "replications" and isinstance(value, int) and not isinstance(value, bool):
        changed = {"replications": value}
    elif key == "temperatures" and value == [1.0]:
        changed = {"temperatures": value}
    elif key == "option_orders" and isinstance(value, int) and not isinstance(value, bool):
        changed = {"orders": value}
    elif key in ("replications", "temperatures", "option_orders"):
        return lambda _: f"takes {value!r} for {key}"
    if key == "sample":
        return planned(None).check or (lambda _: None)
    return planned(count(**changed)).check or (lambda _: None)


# ---- items and gold ---------------------------------------------------------------------------


def option_items(options: Sequence[Any], golds: Sequence[Any]) -> bytes:
    """Items that all have these options, each with its gold."""
    return "".join(
        json.dumps({"item_id": f"q{i}", "question": f"Q{i}?", "options": options, "gold": gold})
        + "\n"
        for i, gold in enumerate(golds)
    ).encode()


def named(*pairs: tuple[str, str]) -> list[dict[str, str]]:
    """Options with ids of their own."""
    return [{"option_id": option, "text": text} for option, text in pairs]


XY = named(("x", "this"), ("y", "that"))
TWO = r"(number|id).{0,200}(text)|text.{0,200}(number|id)"
# what: options, golds, gold_is, the ids that are right (None: must be refused), words of a refusal
GOLDS: dict[str, tuple[list[Any], list[Any], str | None, list[Any] | None, tuple[str, ...]]] = {
    "ids": (XY, ["x", "y"], None, ["x", "y"], ()),
    "texts": (XY, ["this", "that"], None, ["x", "y"], ()),
    "letters": (XY, ["A", "B"], None, ["x", "y"], ()),
    "numbers from 1": (XY, ["1", "2"], None, ["x", "y"], ()),
    "numbers that are numbers": (XY, [1, 2], None, ["x", "y"], ()),
    "indexes from 0": (XY, [0, 1, 0], None, ["x", "y", "x"], ()),
    "texts of a plain list": (["oak", "elm"], ["elm", "oak"], None, ["2", "1"], ()),
    "ids of a plain list": (["oak", "elm"], ["2", "1"], None, ["2", "1"], ()),
    "options [2, 1] with gold 2": (["2", "1"], ["2", "1"], None, None, (TWO,)),
    "options [1, 2] with gold 2": (["1", "2"], ["2", "1"], None, ["2", "1"], ()),
    "options [0, 1] with gold 1": (["0", "1"], ["1", "0"], None, ["2", "1"], ()),
    "options [0, 1] with gold 1 alone": (["0", "1"], ["1", "1"], None, None, ()),
    "numeric options [3, 4] with gold 4": ([3, 4], [4, 3], None, ["2", "1"], ()),
    "ids that are each other's texts": (
        named(("a", "b"), ("b", "a")), ["a", "b"], None, None, ("text",)),
    "letters that are each other's ids": (
        named(("B", "oak"), ("A", "elm")), ["A", "B"], None, None, ("letter",)),
    "texts that are each other's letters": (["B", "A"], ["A", "B"], None, None, ("letter",)),
    "a letter beyond the options": (XY, ["A", "C"], None, None, ("C",)),
    "a number beyond the options": (XY, [1, 3], None, None, ("3",)),
    "an id that nobody has": (XY, ["x", "z"], None, None, ("z",)),
    "prose": (XY, ["the first one", "y"], None, None, ("the first one",)),
    "a misspelt text": (XY, ["this", "taht"], None, None, ("taht",)),
    "two readings mixed": (XY, ["x", "that"], None, None, ()),
    "a list": (XY, [["x"], ["y"]], None, None, ()),
    "an object": (XY, [{"id": "x"}, {"id": "y"}], None, None, ()),
    "truth values": (XY, [True, False], None, None, ()),
    "half a number": (XY, [0.5, 1], None, None, ()),
    "a negative number": (XY, [-1, 1], None, None, ()),
    "null in one item": (XY, ["x", None], None, ["x", None], ()),
    "a word for nothing in one item": (XY, ["x", "N/A"], None, None, ()),
    "blanks around an id": (XY, [" x", "y "], None, ["x", "y"], ()),
    "an id in capitals": (XY, ["X", "Y"], None, ["x", "y"], ()),
    "declared as text: [2, 1]": (["2", "1"], ["2", "1"], "text", ["1", "2"], ()),
    "declared as number: [2, 1]": (["2", "1"], ["2", "1"], "number", ["2", "1"], ()),
    "declared as id: [2, 1]": (["2", "1"], ["2", "1"], "id", ["2", "1"], ()),
    "declared as index: 0, 1": (["0", "1"], [1, 1], "index", ["2", "2"], ()),
    "declared as letter": (["B", "A"], ["A", "B"], "letter", ["1", "2"], ()),
    "declared as letter, which it is not": (XY, ["x", "y"], "letter", None, ("letter",)),
    "declared as nonsense": (XY, ["x", "y"], "nonsense", None, ()),
    "two options of one text": (["oak", "oak"], ["oak", "oak"], None, None, ()),
    "two options of one id": (named(("x", "a"), ("x", "b")), ["x", "x"], None, None, ()),
}  # fmt: skip
LENIENT = frozenset({"blanks around an id", "an id in capitals", "declared as index: 0, 1"})


def gold_cases() -> Iterator[Case]:
    """What is right is read in one way, or refused with the ways there are."""
    for what, (options, golds, gold_is, right, names) in GOLDS.items():
        content = option_items(options, golds)
        flags = () if gold_is is None else ("--gold-is", gold_is)
        refusal = "must" if right is None else "may" if what in LENIENT else "never"
        expect = Expect(refusal=refusal, names=names, check=_gold_is(right))
        yield Case(
            family="Gold",
            what=f"{what} (items)",
            commands=(("items", "own", "i.jsonl", "--out", "o.parquet", *flags),),
            files={"i.jsonl": content},
            may_write=("o.parquet",),
            expect=expect,
            fast="[2, 1]" in what or what in ("letters", "an id that nobody has"),
        )
        text = SWEEP.replace("items.jsonl", "i.jsonl")
        text += f'gold_is = "{gold_is}"\n' if gold_is else ""
        yield Case(
            family="Gold",
            what=f"{what} (plan)",
            commands=(PLAN,),
            files={"i.jsonl": content, "s.toml": text.encode()},
            expect=Expect(refusal=refusal, names=names),
        )


def _gold_is(right: Sequence[Any] | None) -> Callable[[Came], str | None]:
    """The right options, as written to Parquet."""

    def check(came: Came) -> str | None:
        found = pq.ParquetFile(came.folder / "o.parquet").read().to_pydict()["gold"]
        return None if found == right else f"gold is read as {found}, meant is {right}"

    return check


def item_cases() -> Iterator[Case]:
    """Items that are wrong in themselves."""
    good = json.loads(items(1))
    changes: dict[str, tuple[Mapping[str, Any], Expect]] = {
        "no question": ({"question": None}, REFUSED),
        "an empty question": ({"question": ""}, REFUSED),
        "a question that is a number": ({"question": 7}, REFUSED),
        "a question that is a list": ({"question": ["a", "b"]}, REFUSED),
        "an item_id that is null": ({"item_id": None}, REFUSED),
        "an item_id that is an object": ({"item_id": {"a": 1}}, REFUSED),
        "an item_id that is a number": ({"item_id": 7}, planned(count(n_items=1))),
        "one option": ({"options": ["a"], "gold": None}, REFUSED),
        "no option": ({"options": [], "gold": None}, REFUSED),
        "options that are text": ({"options": "a,b", "gold": None}, REFUSED),
        "options that are numbers": ({"options": [3, 4], "gold": 4}, planned(count(n_items=1))),
        "options that are truth values": (
            {"options": [True, False], "gold": True}, Expect()),
        "options that are lists": ({"options": [["a"], ["b"]], "gold": None}, REFUSED),
        "an option that is null": ({"options": ["a", None], "gold": None}, REFUSED),
        "an option without a text": (
            {"options": [{"option_id": "x"}, {"option_id": "y"}]}, REFUSED),
        "three hundred options": (
            {"options": [f"o{i}" for i in range(300)], "gold": None}, Expect()),
        "a question of a million characters": ({"question": "q" * 1_000_000}, Expect()),
        "an escape in a question": ({"question": "\x1b[2J?"}, Expect()),
        "turns that are text": ({"turns": "a"}, REFUSED),
        "ratings that are a number": ({"ratings": 5}, REFUSED),
    }  # fmt: skip
    for what, (change, expect) in changes.items():
        yield Case(
            family="Items",
            what=what,
            commands=(PLAN,),
            files={
                "s.toml": SWEEP.encode(),
                "items.jsonl": (json.dumps({**good, **change}) + "\n").encode(),
            },
            expect=expect,
        )
    whole = items(N_ITEMS)
    files: dict[str, tuple[bytes, Expect]] = {
        "an id twice": ((whole + whole).encode(), REFUSED),
        "a broken line": (whole.encode() + b"{oops\n", must(REFUSED, r"\b(line|row)\D{0,3}4\b")),
        "empty": (b"", REFUSED),
        "a list of items": (b"[" + whole.replace("\n", ",").rstrip(",").encode() + b"]", Expect()),
        "a byte order mark": (whole.encode("utf-8-sig"), planned(count())),
        "UTF-16": (whole.encode("utf-16"), planned(count())),
        "a key twice in a line": (
            whole.replace('"gold": "x"', '"gold": "x", "gold": "y"').encode(), REFUSED),
    }  # fmt: skip
    for what, (content, expect) in files.items():
        yield Case(
            family="Items",
            what=f"a file of items: {what}",
            commands=(PLAN,),
            files={"s.toml": SWEEP.encode(), "items.jsonl": content},
            expect=expect,
        )


# ---- templates --------------------------------------------------------------------------------

TEXT = b"{question} {responses} Say which."
FORMS: dict[str, tuple[str, bool]] = {
    "[[A]]": ("pattern = '\\[\\[(?P<verdict>\\w+)\\]\\]'\nexample = '[[{verdict}]]'\n", True),
    "[[A]], [[C]] is a tie": (
        "pattern = '\\[\\[(?P<verdict>\\w+)\\]\\]'\nexample = '[[{verdict}]]'\ntie = 'C'\n", True),
    "Answer: A": ("pattern = 'Answer: (?P<verdict>\\w+)'\nexample = 'Answer: {verdict}'\n", True),
    "JSON": ("json = 'winner'\nexample = '{\"winner\": \"{verdict}\"}'\n", True),
    "a path in JSON": (
        "json = 'result.winner'\nexample = '{\"result\": {\"winner\": \"{verdict}\"}}'\n", True),
    "no group in the pattern": ("pattern = 'Answer: (\\w+)'\nexample = 'Answer: {verdict}'\n",
                                False),
    "a pattern that does not compile": ("pattern = 'Answer: (?P<verdict>'\nexample = '{verdict}'\n",
                                        False),
    "a pattern that does not fit its example": (
        "pattern = 'Answer: (?P<verdict>\\w+)'\nexample = 'I choose {verdict}'\n", False),
    "a pattern that backtracks": (
        "pattern = '^(a+)+(?P<verdict>b)$'\nexample = 'aaa{verdict}'\n", False),
    "an example without its place": ("pattern = '(?P<verdict>\\w+)'\nexample = 'Answer: A'\n",
                                     False),
    "no example": ("pattern = 'Answer: (?P<verdict>\\w+)'\n", False),
    "pattern and JSON": (
        "pattern = '(?P<verdict>\\w)'\njson = 'winner'\nexample = '{verdict}'\n", False),
    "neither": ("example = '{verdict}'\n", False),
    "a path that is not in the example": (
        "json = 'result'\nexample = '{\"winner\": \"{verdict}\"}'\n", False),
    "an example that is not JSON": ("json = 'winner'\nexample = 'winner: {verdict}'\n", False),
    "a tie that is an option's word": (
        "pattern = '\\[\\[(?P<verdict>\\w+)\\]\\]'\nexample = '[[{verdict}]]'\ntie = 'A'\n", False),
    "a refusal that is a tie": (
        "pattern = '\\[\\[(?P<verdict>\\w+)\\]\\]'\nexample = '[[{verdict}]]'\ntie = 'C'\n"
        "refusal = 'C'\n", False),
    "an unknown key": (
        "pattern = '\\[\\[(?P<verdict>\\w+)\\]\\]'\nexample = '[[{verdict}]]'\nties = 'C'\n",
        False),
    "words that are numbers": (
        "pattern = '\\[\\[(?P<verdict>\\w+)\\]\\]'\nexample = '[[{verdict}]]'\noptions = [1, 2]\n",
        True),
    "a pattern that fits the empty text": (
        "pattern = '(?P<verdict>[AB]?)'\nexample = '{verdict}'\n", False),
    "a pattern that reads one letter of a word": (
        "pattern = '(?P<verdict>\\w)'\nexample = 'Answer: {verdict}'\n", False),
}  # fmt: skip


def template_cases() -> Iterator[Case]:
    """Templates of one's own, with forms of verdict of their own."""
    sweep = SWEEP.encode() + b'templates = ["own"]\n'
    for what, (form, fits) in FORMS.items():
        content = f'verdict = "last"\n[form]\n{form}'.encode()
        files = {"s.toml": sweep, "items.jsonl": items(N_ITEMS).encode(),
                 "own/template.toml": content, "own/question.txt": TEXT}  # fmt: skip
        yield Case(
            family="Templates",
            what=f"{what} (plan)",
            commands=(PLAN,),
            files=files,
            expect=Expect(refusal="never", check=planned(count()).check) if fits else REFUSED,
            fast=what in ("[[A]]", "a pattern that does not fit its example"),
        )
    settings: dict[str, tuple[bytes | None, bytes | None]] = {
        "no settings": (None, TEXT),
        "no text": (b'form = "best_response"\nverdict = "first"\n', None),
        "settings that are no TOML": (b"form = ", TEXT),
        "an unknown form": (b'form = "letter"\nverdict = "first"\n', TEXT),
        "an empty text": (b'form = "best_response"\nverdict = "first"\n', b""),
        "a text in Latin-1": (b'form = "best_response"\nverdict = "first"\n', b"\xe4 {question}"),
        "an unknown placeholder": (b'form = "best_response"\nverdict = "first"\n',
                                   b"{question} {responses} {nonsense}"),
        "a placeholder too few": (b'form = "best_response"\nverdict = "first"\n', b"{question}"),
        "braces of code": (b'form = "best_response"\nverdict = "first"\n',
                           b"{question.__class__} {responses}"),
        "a byte order mark": (b'\xef\xbb\xbfform = "best_response"\nverdict = "first"\n', TEXT),
    }  # fmt: skip
    for what, (toml, text) in settings.items():
        files = {"s.toml": sweep, "items.jsonl": items(N_ITEMS).encode(), "own/.keep": b""}
        files |= {"own/template.toml": toml} if toml is not None else {}
        files |= {"own/question.txt": text} if text is not None else {}
        yield Case(
            family="Templates",
            what=what,
            commands=(PLAN,),
            files=files,
            expect=planned(count()) if "mark" in what else REFUSED,
        )


# ---- models -----------------------------------------------------------------------------------


def _copied(change: Callable[[Path], None]) -> Callable[[Path], None]:
    """The demo's judge as ./m, with something done to it."""

    def before(folder: Path) -> None:
        shutil.copytree(MODEL, folder / "m")
        change(folder / "m")

    return before


def _cut(path: Path, share: float = 0.5) -> None:
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * share)])


def model_cases() -> Iterator[Case]:
    """Folders that are no models: refused by `plan`, before an engine starts."""
    weights = next(MODEL.glob("*.safetensors")).name
    models: dict[str, tuple[str, Callable[[Path], None] | None]] = {
        "/etc/hostname": ("/etc/hostname", None),
        "/dev/null": ("/dev/null", None),
        "a folder of nothing": ("./e", lambda folder: (folder / "e").mkdir()),
        "a folder that is not there": ("./none", None),
        "an empty configuration": ("./m", _copied(lambda m: _put(m / "config.json", b""))),
        "a configuration of {}": ("./m", _copied(lambda m: _put(m / "config.json", b"{}"))),
        "a configuration of a list": ("./m", _copied(lambda m: _put(m / "config.json", b"[]"))),
        "a configuration that is not JSON": (
            "./m",
            _copied(lambda m: _put(m / "config.json", b"{oops")),
        ),
        "no configuration": ("./m", _copied(lambda m: (m / "config.json").unlink())),
        "no tokenizer": ("./m", _copied(_without_tokenizer)),
        "a tokenizer that is not JSON": (
            "./m",
            _copied(lambda m: _put(m / "tokenizer.json", b"{oops")),
        ),
        "no weights": ("./m", _copied(lambda m: (m / weights).unlink())),
        "weights cut in half": ("./m", _copied(lambda m: _cut(m / weights))),
        "weights that lack a byte": ("./m", _copied(lambda m: _cut(m / weights, 0.99999))),
        "empty weights": ("./m", _copied(lambda m: _put(m / weights, b""))),
        "weights of prose": ("./m", _copied(lambda m: _put(m / weights, b"weights" * 20))),
    }
    for what, (model, before) in models.items():
        text = SWEEP.replace('"simulated"', '"vllm"').replace('"dirichlet"', f'"{model}"')
        text = text.replace("engine_options = { concentration = 1.0, seed = 3 }\n", "")
        yield Case(
            family="Models",
            what=what,
            commands=(PLAN,),
            files={"s.toml": text.encode(), "items.jsonl": items(N_ITEMS).encode()},
            before=before,
            expect=REFUSED,
            fast=what in ("/etc/hostname", "weights cut in half"),
        )


def _put(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def _without_tokenizer(model: Path) -> None:
    for path in model.glob("*token*"):
        path.unlink()


def sweep_cases() -> Iterator[Case]:
    """All cases of this module."""
    yield from file_cases()
    yield from key_cases()
    yield from gold_cases()
    yield from item_cases()
    yield from template_cases()
    yield from model_cases()
