"""One case: the command line in this process, and all that it says and writes."""

from __future__ import annotations

import hashlib
import html
import io
import json
import re
import shutil
import sys
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import polars as pl

from bench.unchanged.cases import Case
from bench.unchanged.spelling import VIEWS, flags_today

LONG = 1_000
"""Rows from which a table is kept as what its columns come to."""
ALWAYS_NEW = {"landed_at", "cached_tokens", "attempt", "session", "lease"}
"""Columns of a run that differ whenever it is run: times, and what happened to be in a cache."""
UNSEEN = re.compile(
    r"<(style|script|svg)\b.*?</\1>|<details class=\"source\">.*?</details>", re.DOTALL
)


def run_case(case: Case, inputs: Path, out: Path) -> dict[str, Any]:
    """Ask for a view in the folder of inputs; `out` is a folder for what is written.

    Returns
    -------
    dict
        ``code``; ``numbers``, from JSON or from what was written; ``texts`` by name.
    """
    view = VIEWS[case.view]
    words = [view.verb, *case.paths, *view.flags, *flags_today(case.view, case.flags)]
    if view.form == "tables":
        code, printed, aside = _main([*words, "--format", "json,table"])
        numbers, printed = _split(printed)
        answer = {"numbers": numbers, "texts": {"stdout": printed, "stderr": aside}}
    elif view.form == "json":
        _, json_text, _ = _main([*words, "--json"])
        code, printed, aside = _main(words)
        answer = {"numbers": _split(json_text)[0], "texts": {"stdout": printed, "stderr": aside}}
    elif view.form == "text":
        code, printed, aside = _main(words)
        answer = {"numbers": None, "texts": {"stdout": printed, "stderr": aside}}
    else:
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        file = out / {"page": "page.html", "file": "file.parquet", "run": "run"}[view.form]
        code, printed, aside = _main([*words, "--out", str(file)])
        answer = {"numbers": None, "texts": {"stdout": printed, "stderr": aside}}
        if file.exists():
            _add_written(answer, file)
    answer["texts"] = {
        name: _without_places(text, inputs, out) for name, text in answer["texts"].items()
    }
    return {"case": case.name, "view": case.view, "code": code, **answer}


def _main(words: list[str]) -> tuple[object, str, str]:
    """The exit code, stdout and stderr of a command; an exception's class for a defect."""
    from judgerel_ray.__main__ import main

    stdout, stderr = io.StringIO(), io.StringIO()
    with redirect_stdout(stdout), redirect_stderr(stderr), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            code: object = main(words)
        except SystemExit as end:
            code = end.code
        except Exception as error:  # noqa: BLE001  what it is, is what is recorded
            code = f"{type(error).__name__}: {error}"
    return code, stdout.getvalue(), stderr.getvalue()


def _split(printed: str) -> tuple[Any, str]:
    """JSON at the beginning of what was printed, and what follows it."""
    text = printed.lstrip()
    if not text.startswith(("{", "[")):
        return None, printed
    numbers, end = json.JSONDecoder().raw_decode(text)
    return _shortened(numbers), text[end:].lstrip("\n")


def _shortened(value: Any) -> Any:
    """Long lists of rows as what their columns come to."""
    if isinstance(value, dict):
        return {key: _shortened(part) for key, part in value.items()}
    if isinstance(value, list) and len(value) > LONG and isinstance(value[0], dict):
        return come_to({key: [row.get(key) for row in value] for key in value[0]})
    return value


def come_to(columns: dict[str, list[Any]]) -> dict[str, Any]:
    """A table in few numbers, none of which survives a change of a value or of the order."""
    found: dict[str, Any] = {}
    for name, values in columns.items():
        there = [value for value in values if value is not None]
        one: dict[str, Any] = {"n": len(values), "n_null": len(values) - len(there)}
        if all(isinstance(value, int | float) and not isinstance(value, bool) for value in there):
            one["sum"] = sum(there)
            placed = (value * (1 + place % 9973) for place, value in enumerate(values) if value)
            one["sum_by_place"] = sum(placed)
        else:
            text = json.dumps(values, default=str, sort_keys=True)
            one["digest"] = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
        found[name] = one
    return found


def _add_written(answer: dict[str, Any], path: Path) -> None:
    """What was written: a page's words, a file's rows, a run's tables."""
    if path.suffix == ".html":
        page = html.unescape(re.sub(r"<[^>]+>", " ", UNSEEN.sub(" ", path.read_text("utf-8"))))
        answer["texts"]["page"] = "\n".join(re.sub(r"\s+", " ", page).strip().split(". "))
    elif path.is_file():
        answer["numbers"] = come_to(pl.read_parquet(path).to_dict(as_series=False))
    else:
        answer["numbers"] = {
            folder.name: come_to(_rows_of(folder)) for folder in sorted(path.iterdir())
            if folder.is_dir() and any(folder.rglob("*.parquet"))
        }  # fmt: skip
        answer["numbers"]["items"] = come_to(
            pl.read_parquet(path / "items.parquet").to_dict(as_series=False)
        )
        answer["numbers"]["plan"] = json.loads((path / "plan.json").read_text("utf-8"))
        # How fast it went, and what its actors said meanwhile.
        answer["texts"].pop("stderr")


def _rows_of(folder: Path) -> dict[str, list[Any]]:
    """All rows of a table of a run, in an order of their own."""
    frame = pl.read_parquet(folder / "**/*.parquet", hive_partitioning=False)
    frame = frame.drop(ALWAYS_NEW & set(frame.columns))
    plain = [name for name, kind in frame.schema.items() if not kind.is_nested()]
    return frame.sort(plain).to_dict(as_series=False)


def _without_places(text: str, inputs: Path, out: Path) -> str:
    """A text that says where nothing lies, nor on what machine."""
    for path, name in ((out, "OUT"), (inputs, "INPUTS")):
        text = text.replace(str(path), name)
    return text


def show_progress(done: int, of: int, name: str) -> None:
    """One line that is written over, where somebody watches."""
    if sys.stderr.isatty():
        print(f"\r{done}/{of} {name[:70]:70}", end="", file=sys.stderr, flush=True)
