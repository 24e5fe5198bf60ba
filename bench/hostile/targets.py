"""Targets: what a command writes is never what it, or anybody, reads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.hostile.case import Case, Expect
from bench.hostile.counted import base_rows
from bench.hostile.tables import as_csv, as_parquet, cells

FAMILY = "Targets"
ITEMS = b'{"item_id":"q1","question":"?","options":["a","b"]}\n'
Link = Callable[[Path, Path], None]


def _symlink(source: Path, target: Path) -> None:
    target.symlink_to(source.name)


def _hard_link(source: Path, target: Path) -> None:
    os.link(source, target)


def _folder_link(source: Path, target: Path) -> None:
    """The same folder by another name."""
    target.parent.symlink_to(source.parent, target_is_directory=True)


def _inputs() -> dict[str, tuple[str, bytes, tuple[str, ...]]]:
    """Verbs that write, by what they read: name, content, and arguments before `--out`."""
    csv, parquet = as_csv(cells(base_rows())), as_parquet(cells(base_rows()))
    return {
        "reduce": ("a.csv", csv, ("reduce", "a.csv")),
        "reduce Parquet": ("a.parquet", parquet, ("reduce", "a.parquet")),
        "questions": ("a.csv", csv, ("questions", "a.csv")),
        "import": ("a.parquet", parquet, ("import", "table", "a.parquet")),
        "items": ("a.parquet", _items_parquet(), ("items", "own", "a.parquet")),
    }


def _items_parquet() -> bytes:
    return as_parquet(
        [["q1", "One?", "a", "b"], ["q2", "Two?", "c", "d"]],
        ("item_id", "question", "option_x", "option_y"),
    )


def same_file_cases() -> Iterator[Case]:
    """The input itself as target, by every name it has."""
    for verb, (name, content, command) in _inputs().items():
        ending = name.partition(".")[2]
        names: dict[str, tuple[str, Link | None]] = {
            "its own name": (name, None),
            "./ before it": (f"./{name}", None),
            "a way round": (f"../here/{name}", None),
            "doubled slashes": (f".//.//{name}", None),
            "a symbolic link": (f"l.{ending}", _symlink),
            "a hard link": (f"h.{ending}", _hard_link),
            "a file:// address": (f"file://{{folder}}/{name}", None),
        }
        for how, (target, link) in names.items():
            yield Case(
                family=FAMILY,
                what=f"{verb}, --out is the input: {how}",
                commands=() if "{folder}" in target else ((*command, "--out", target),),
                shell=f'$JUDGEREL {" ".join(command)} --out "file://$PWD/{name}"'
                if "{folder}" in target
                else None,
                files={name: content},
                before=_linked(name, target, link) if link else None,
                expect=Expect(refusal="must"),
                fast=how in ("its own name", "a symbolic link"),
            )
        yield Case(
            family=FAMILY,
            what=f"{verb}, --force and --out is the input",
            commands=((*command, "--out", name, "--force"),),
            files={name: content},
            expect=Expect(refusal="must"),
            fast=True,
        )


def _linked(name: str, target: str, link: Link) -> Callable[[Path], None]:
    return lambda folder: link(folder / name, folder / target)


RUN_FILES = ("items.parquet", "sweep.toml", "plan.json", "manifest.json", "progress.json")


def run_cases() -> Iterator[Case]:
    """Nothing of a run directory is a target, of its own numbers or of another file's."""
    csv = as_csv(cells(base_rows()))
    for source in ("run", "a.csv"):
        for name in ("part", "text", "items.parquet", "commits/new.json", "data/new.parquet",
                     "texts/new.parquet", "errors/new.json", "plan.json", "progress.json",
                     "manifest.json", "data/c.csv"):  # fmt: skip
            yield Case(
                family=FAMILY,
                what=f"reduce {source}, --out in a run directory: {name}",
                shell=f'$JUDGEREL reduce {source} --out "{_run_target(name)}"',
                files={"a.csv": csv},
                bases=("run",),
                expect=Expect(refusal="must"),
                fast=name in ("items.parquet",),
            )
    for verb, command in {
        "import": "import table a.csv",
        "items": "items own i.jsonl",
    }.items():
        for name in ("part", "items.parquet", "texts/new.parquet"):
            yield Case(
                family=FAMILY,
                what=f"{verb}, --out in a run directory: {name}",
                shell=f'$JUDGEREL {command} --out "{_run_target(name)}"',
                files={"a.csv": csv, "i.jsonl": ITEMS},
                bases=("run",),
                expect=Expect(refusal="must"),
            )
    yield Case(
        family=FAMILY,
        what="report RUN --out RUN/report.html",
        commands=(("report", "run", "--out", "run/report.html"),),
        bases=("run",),
        may_write=("run/report.html",),
        expect=Expect(refusal="never"),
        fast=True,
    )
    yield Case(
        family=FAMILY,
        what="report RUN twice to RUN/report.html",
        commands=(("report", "run", "--out", "run/report.html"),) * 2,
        bases=("run",),
        may_write=("run/report.html",),
        expect=Expect(refusal="never"),
    )


def _run_target(name: str) -> str:
    """A file of the run, for a shell."""
    parts = {"part": "data", "text": "texts"}
    if name not in parts:
        return f"run/{name}"
    return f"$(find run/{parts[name]} -name '*.parquet' | sort | head -1)"


VERBS = {
    "reduce": (("reduce", "a.csv"), ".csv"),
    "reduce to JSON": (("reduce", "a.csv"), ".json"),
    "reduce to Parquet": (("reduce", "a.csv"), ".parquet"),
    "report": (("report", "a.csv"), ".html"),
    "import": (("import", "table", "a.csv"), ".parquet"),
    "items": (("items", "own", "i.jsonl"), ".parquet"),
}
"""Commands that write, before `--out`, and the ending of what they write."""
FILES = {"a.csv": as_csv(cells(base_rows())), "i.jsonl": ITEMS}


def foreign_file_cases() -> Iterator[Case]:
    """A file that no command of the package wrote is kept, unless `--force` is given."""
    notes = b"item,thoughts\n1,irreplaceable\n"
    for verb, (command, ending) in VERBS.items():
        name = f"notes{ending}"
        foreign = as_parquet([["x", 1]], ("a", "b")) if ending == ".parquet" else notes
        yield Case(
            family=FAMILY,
            what=f"{verb}, a file of somebody else's is there",
            commands=((*command, "--out", name),),
            files={**FILES, name: foreign},
            expect=Expect(refusal="must", names=("--force",)),
            fast=True,
        )
        yield Case(
            family=FAMILY,
            what=f"{verb}, a file of somebody else's and --force",
            commands=((*command, "--out", name, "--force"),),
            files={**FILES, name: foreign},
            may_write=(name,),
            expect=Expect(refusal="never"),
        )


def earlier_output_cases() -> Iterator[Case]:
    """The output of the same command of before is written again."""
    for verb, (command, ending) in VERBS.items():
        yield Case(
            family=FAMILY,
            what=f"{verb}, its own output of before",
            commands=((*command, "--out", f"o{ending}"),) * 2,
            files=FILES,
            may_write=(f"o{ending}",),
            expect=Expect(refusal="never"),
            fast=True,
        )
        yield Case(
            family=FAMILY,
            what=f"{verb}, its own output, changed by hand since",
            commands=(
                (*command, "--out", f"o{ending}"),
                ("python", f"open('o{ending}', 'ab').write(b' ')"),
                (*command, "--out", f"o{ending}"),
            ),
            files=FILES,
            may_write=(f"o{ending}",),
            # What a person wrote into it stays.
            expect=Expect(refusal="must", names=("--force",)),
            fast=True,
        )


def no_place_cases() -> Iterator[Case]:
    """Folders that are not there, names that are none, a disk that is full."""
    for verb, (command, ending) in VERBS.items():
        yield Case(
            family=FAMILY,
            what=f"{verb}, the folder is not there",
            commands=((*command, "--out", f"deep/er/o{ending}"),),
            files=FILES,
            expect=Expect(refusal="must", harmless=True),
            fast=True,
        )
        for what, target in {
            "a folder": f"dir{ending}",
            "the ending of something else": "o.exe",
            "an empty name": "",
            "a name with a null byte": f"o\0{ending}",
            "a name of 5,000 characters": "o" * 5000 + ending,
            "a file as folder": f"a.csv/o{ending}",
            "a bucket that nobody can reach": f"nosuch://bucket/o{ending}",
        }.items():
            yield Case(
                family=FAMILY,
                what=f"{verb}, --out is {what}",
                commands=((*command, "--out", target),),
                files=FILES,
                before=lambda folder, e=ending: (folder / f"dir{e}").mkdir(),
                expect=Expect(refusal="must", harmless=True),
            )
        yield Case(
            family=FAMILY,
            what=f"{verb}, a disk that is full",
            commands=((*command, "--out", f"o{ending}"),),
            files=FILES,
            before=lambda folder, e=ending: (folder / f"o{e}").symlink_to("/dev/full"),
            may_write=(f"o{ending}",),
            expect=Expect(refusal="must", harmless=True),
        )


def target_cases() -> Iterator[Case]:
    """All cases of this module."""
    yield from same_file_cases()
    yield from run_cases()
    yield from foreign_file_cases()
    yield from earlier_output_cases()
    yield from no_place_cases()
