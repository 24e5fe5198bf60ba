"""Lists and objects in cells: never a verdict, read by a dotted path or refused."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from typing import Any

from bench.hostile.case import Answer, Case, Expect
from bench.hostile.formats import CELLS, MUST_REFUSE, READ_OR_REFUSED, ROWS
from bench.hostile.tables import HEADER, as_jsonl, as_parquet, reduce_json

FAMILY = "Nested columns"


def promptfoo(always: bool = True) -> bytes:
    """The layout of promptfoo's results, one a line: the verdict lies in an object."""
    return "".join(
        json.dumps(
            {
                "testIdx": i,
                "repeatIndex": r,
                "provider": {"id": "openai:gpt"},
                "gradingResult": {
                    "pass": always or v == "PASS",
                    "score": 1,
                    "reason": f"because {i} {r}",
                },
                "response": {"output": f"text {i} {r}", "tokens": [1, r]},
            }
        )
        + "\n"
        for i, r, v in [(int(i[1:]), r, v) for i, r, v in ROWS]
    ).encode()


def promptfoo_cases() -> Iterator[Case]:
    """Dotted paths lead into objects, or are refused."""

    def table(*columns: str) -> tuple[tuple[str, ...], ...]:
        flags = [part for one in columns for part in ("--column", one)]
        return (
            ("import", "table", "t.jsonl", *flags, "--out", "u.parquet"),
            reduce_json("u.parquet"),
        )

    ids = ("item_id=testIdx", "replication=repeatIndex")
    always = Answer(numbers={("percent_agreement", "category"): 1.0, ("n_judgments", ""): 48})
    mapped: dict[str, tuple[tuple[str, ...], bool, Expect]] = {
        "promptfoo, the field named by a dotted path": (
            (*ids, "verdict=gradingResult.pass"), False, READ_OR_REFUSED),
        "promptfoo, a judge that always passes": (
            (*ids, "verdict=gradingResult.pass"), True, Expect(answers=(always,))),
        "promptfoo, the whole object as verdict": ((*ids, "verdict=gradingResult"), False,
                                                  MUST_REFUSE),
        "promptfoo, a path to nothing": ((*ids, "verdict=gradingResult.passed"), False,
                                        MUST_REFUSE),
        "promptfoo, a path into text": ((*ids, "verdict=gradingResult.reason.x"), False,
                                       MUST_REFUSE),
        "promptfoo, a list as verdict": ((*ids, "verdict=response.tokens"), False, MUST_REFUSE),
        "promptfoo, an object as item_id": (
            ("item_id=provider", "replication=repeatIndex", "verdict=gradingResult.pass"), False,
            MUST_REFUSE),
        "promptfoo, no column named": ((), False, MUST_REFUSE),
    }  # fmt: skip
    for what, (columns, passes, expect) in mapped.items():
        yield Case(
            family=FAMILY,
            what=what,
            commands=table(*columns),
            files={"t.jsonl": promptfoo(passes)},
            may_write=("u.parquet",),
            expect=expect,
            fast=True,
        )
    yield Case(
        family=FAMILY,
        what="promptfoo as it is (reduce)",
        commands=(reduce_json("t.jsonl"),),
        files={"t.jsonl": promptfoo()},
        expect=Expect(refusal="must", names=("--column verdict=gradingResult.pass",)),
        fast=True,
    )


def wrapped_cases() -> Iterator[Case]:
    """A list or an object is never a verdict."""
    number = itertools.count()
    wrapped: dict[str, Callable[[str], Any]] = {
        "an object": lambda v: {"pass": v, "reason": "x"},
        "a list of one": lambda v: [v],
        "a list of two": lambda v: [v, "because"],
        "an empty list": lambda _: [],
        "an object in a list": lambda v: [{"pass": v}],
        "JSON as text": lambda v: json.dumps({"pass": v, "n": 1}),
        "an object with reasons that differ": lambda v: {"pass": v, "at": next(number)},
    }
    for what, wrap in wrapped.items():
        nested = [[i, r, wrap(v)] for i, r, v in CELLS]
        contents = {"t.jsonl": as_jsonl(nested), "t.parquet": as_parquet(nested)}
        for name, content in contents.items():
            text = what == "JSON as text"
            yield Case(
                family=FAMILY,
                what=f"a verdict is {what} ({name[1:]})",
                commands=(reduce_json(name),),
                files={name: content},
                expect=READ_OR_REFUSED if text else MUST_REFUSE,
                fast=what == "an object",
            )
    mixed = [[i, r, v if k % 7 else {"pass": v}] for k, (i, r, v) in enumerate(CELLS)]
    numbers = [[i, r, {"PASS": 1, "FAIL": "FAIL"}[v]] for i, r, v in CELLS]
    for what, rows in {"objects among words": mixed, "numbers among words": numbers}.items():
        yield Case(
            family=FAMILY,
            what=f"verdicts are {what} (.jsonl)",
            commands=(reduce_json("t.jsonl"),),
            files={"t.jsonl": as_jsonl(rows)},
            expect=MUST_REFUSE if "objects" in what else READ_OR_REFUSED,
        )


def object_column_cases() -> Iterator[Case]:
    """Nor is it an id, a number or a judge."""
    for column in ("item_id", "replication", "temperature", "judge"):
        header = HEADER if column in HEADER else (*HEADER, column)
        where = header.index(column)
        rows = [[{"v": cell} if k == where else cell for k, cell in enumerate([*row, 1.0][: len(
            header)])] for row in CELLS]  # fmt: skip
        for name, content in {
            "t.jsonl": as_jsonl(rows, header),
            "t.parquet": as_parquet(rows, header),
        }.items():
            yield Case(
                family=FAMILY,
                what=f"{column} is an object ({name[1:]})",
                commands=(reduce_json(name),),
                files={name: content},
                expect=MUST_REFUSE,
            )


def nested_cases() -> Iterator[Case]:
    """All cases of this module."""
    yield from promptfoo_cases()
    yield from wrapped_cases()
    yield from object_column_cases()
