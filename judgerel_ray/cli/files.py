"""Verbs that write what others read: items from upstream files, judgments from foreign logs."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from judgerel_ray.cli.paths import add_force, source_path
from judgerel_ray.cli.screen import tell
from judgerel_ray.core import SweepError

if TYPE_CHECKING:
    from judgerel_ray.importers import TableMapping

DONE = 0
AddVerb = Callable[..., argparse.ArgumentParser]


def add_files(add_verb: AddVerb) -> None:
    """Add the verbs that write files for others: items, import."""
    items = add_verb("items", help="items from a benchmark's upstream files")
    items.add_argument("benchmark", metavar="BENCHMARK")
    items.add_argument("path", metavar="PATH")
    items.add_argument("--out", required=True, metavar="FILE.parquet")
    items.add_argument("--answers", metavar="PATH", help="recorded answers that become options")
    items.add_argument(
        "--seed", type=int, default=1, metavar="S", help="of what truthfulqa_pairs and mix draw"
    )
    items.add_argument(
        "--gold-is",
        choices=("id", "text", "letter", "number", "index", "reference"),
        help="of a plain file: what gold names the right option by",
    )
    add_force(items)
    items.set_defaults(act=_items)
    importing = add_verb("import", help="judgments from logs that people hold")
    importing.add_argument(
        "format", metavar="FORMAT", help="schroeder2024, table, people, bergman2025"
    )
    importing.add_argument("path", metavar="PATH", nargs="+")
    importing.add_argument("--out", required=True, metavar="FILE.parquet")
    told = "of a table: "
    importing.add_argument(
        "--column", action="append", metavar="NAME=COLUMN", help=f"{told}what stands where"
    )
    importing.add_argument(
        "--repeats", metavar="PATTERN", help=f"{told}columns that are replications, such as s?"
    )
    importing.add_argument(
        "--value", action="append", metavar="NAME=TEXT", help=f"{told}where it says nothing"
    )
    importing.add_argument(
        "--missing", action="append", metavar="TEXT", help=f"{told}what stands for no verdict"
    )
    importing.add_argument(
        "--order", metavar="A,B", help=f"{told}verdicts from lowest to highest, for scores"
    )
    importing.add_argument("--judge", metavar="NAME", help="of bergman2025: whose answers they are")
    importing.add_argument(
        "--role", metavar="ROLE", help="of bergman2025: responder, participant, evaluator_only"
    )
    importing.add_argument(
        "--reread", action="store_true", help="of bergman2025: verdicts by our own readers"
    )
    add_force(importing)
    importing.set_defaults(act=_import)


def _items(parsed: argparse.Namespace) -> int:
    """Write items."""
    from judgerel_ray.importers.verbs import write_items

    answers = None if parsed.answers is None else source_path(parsed.answers)
    path = source_path(parsed.path)
    n = write_items(
        parsed.benchmark,
        path,
        parsed.out,
        answers=answers,
        seed=parsed.seed,
        gold_is=parsed.gold_is,
        tell=partial(tell, aside=True),
        force=parsed.force,
    )
    tell(f"wrote {n} items to {parsed.out}")
    return DONE


def _import(parsed: argparse.Namespace) -> int:
    """Write foreign judgments."""
    from judgerel_ray.importers.verbs import write_judgments

    paths = [source_path(path) for path in parsed.path]
    n = write_judgments(
        parsed.format,
        paths,
        parsed.out,
        mapping=_mapping(parsed),
        judge=parsed.judge,
        role=parsed.role,
        reread=parsed.reread,
        force=parsed.force,
    )
    tell(f"wrote {n} judgments to {parsed.out}")
    return DONE


def _mapping(parsed: argparse.Namespace) -> TableMapping | None:
    """What the columns of a table stand for; None where no flag says so."""
    from judgerel_ray.importers import TableMapping

    flags = (parsed.column, parsed.repeats, parsed.value, parsed.missing, parsed.order)
    if not any(flag is not None for flag in flags):
        return None
    return TableMapping(
        columns=_assigned(parsed.column, "--column"),
        repeats=parsed.repeats,
        values=_assigned(parsed.value, "--value"),
        missing=tuple(parsed.missing or ()),
        order=tuple(text.strip() for text in (parsed.order or "").split(",") if text.strip()),
    )


def _assigned(texts: Sequence[str] | None, flag: str) -> dict[str, str]:
    """What stands behind the sign, by what stands before it."""
    found: dict[str, str] = {}
    for text in texts or ():
        name, sign, value = text.partition("=")
        if not sign or not name.strip() or not value or name.strip() in found:
            raise SweepError(
                f"{flag} must be NAME=..., each name once, got {text!r}", hint=f"{flag} item_id=id"
            )
        found[name.strip()] = value
    return found
