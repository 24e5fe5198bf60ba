"""Run directories whose files are gone, cut, altered or exchanged."""

from __future__ import annotations

import json
import shutil
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pyarrow.parquet as pq

from bench.hostile.case import Came, Case, Expect
from bench.hostile.counted import agreement

ROLES = {
    "run": (
        "sweep.toml", "manifest.json", "plan.json", "items.parquet", "progress.json",
        "first part", "last part", "first text", "first commit", "last commit", "session",
    ),
    "exact": ("first part", "distribution", "first commit", "items.parquet"),
}  # fmt: skip
PATTERNS = {
    "first part": ("data/**/*.parquet", 0),
    "last part": ("data/**/*.parquet", -1),
    "first text": ("texts/**/*.parquet", 0),
    "first commit": ("commits/s*-l*.json", 0),
    "last commit": ("commits/s*-l*.json", -1),
    "session": ("commits/session-*.json", 0),
    "distribution": ("distributions/**/*.parquet", 0),
}
# Files whose bytes say something that is counted, printed or asked again: `verify` must name them.
MEANT = frozenset(
    {"sweep.toml", "manifest.json", "plan.json", "items.parquet", "first part", "last part",
     "first text", "first commit", "last commit", "distribution"}
)  # fmt: skip
UNREAD = frozenset({"progress.json", "session"})  # looks at how a run went, no part of a number
SAID_LOST = r"pending|lost|gone|lack|missing|unfinished|damaged|cannot"


def file_of(folder: Path, role: str) -> Path:
    """The file of a run that plays a role; names of parts differ from run to run."""
    if role not in PATTERNS:
        return folder / role
    pattern, place = PATTERNS[role]
    return sorted(folder.glob(pattern))[place]


def _flipped(at: float) -> Callable[[Path], None]:
    def flip(path: Path) -> None:
        content = bytearray(path.read_bytes())
        content[int(at * (len(content) - 1))] ^= 0x10
        path.write_bytes(bytes(content))

    return flip


def _exchanged(path: Path) -> None:
    """Put another file of its kind in its place."""
    others = [one for one in sorted(path.parent.glob(f"*{path.suffix}")) if one != path]
    path.write_bytes(others[-1].read_bytes() if others else b"PAR1")


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _to_null(path: Path) -> None:
    path.unlink()
    path.symlink_to("/dev/null")


DAMAGES: dict[str, Callable[[Path], None]] = {
    "is gone": Path.unlink,
    "is empty": lambda path: path.write_bytes(b"") and None,
    "is cut in half": lambda path: (
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]) and None
    ),
    "lacks its last byte": lambda path: path.write_bytes(path.read_bytes()[:-1]) and None,
    "has a byte too many": lambda path: path.write_bytes(path.read_bytes() + b"\n") and None,
    "has a bit flipped near its start": _flipped(0.02),
    "has a bit flipped in its middle": _flipped(0.5),
    "has a bit flipped near its end": _flipped(0.97),
    "is all zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)) and None,
    "is prose": lambda path: path.write_bytes(b"I was never here.\n") and None,
    "is JSON of something else": lambda path: path.write_bytes(b'{"hello": [1, 2]}') and None,
    "is another file of its kind": _exchanged,
    "is a folder": _folder,
    "is a link to /dev/null": _to_null,
}


Prompt = tuple[float, str, int]


def verdicts_of(folder: str) -> dict[Prompt, list[str]]:
    """Verdicts by temperature, item and order, read from the parts."""
    units: dict[Prompt, list[str]] = defaultdict(list)
    for file in sorted(Path(folder).glob("data/**/*.parquet")):
        columns = ["temperature", "item_id", "option_order", "verdict"]
        for row in pq.ParquetFile(file).read(columns=columns).to_pylist():
            key = (row["temperature"], row["item_id"], row["option_order"])
            units[key].append(row["verdict"] or "(none)")
    return units


@cache
def counts_of(folder: str) -> dict[float, float]:
    """Agreement when the same prompt is asked again, by temperature, counted from the parts."""
    found: dict[float, list[list[str]]] = defaultdict(list)
    for (temperature, *_), verdicts in verdicts_of(folder).items():
        found[temperature].append(verdicts)
    return {temperature: agreement(verdicts) for temperature, verdicts in found.items()}


@cache
def questions_of(folder: str) -> dict[tuple[float, str], float]:
    """The same by temperature and item: the mean over its orders."""
    found: dict[tuple[float, str], list[list[str]]] = defaultdict(list)
    for (temperature, item, _), verdicts in verdicts_of(folder).items():
        found[temperature, item].append(verdicts)
    return {key: agreement(verdicts) for key, verdicts in found.items()}


def run_cases(bases: Path) -> Iterator[Case]:
    """Every damage to every file, seen by the verbs that read a run."""
    right = counts_of(str(bases / "run"))

    def numbers(came: Came) -> str | None:
        if came.stdout.strip() in ("", "[]"):
            return "prints nothing and says nothing" if not came.stderr.strip() else None
        rows = [
            row
            for row in came.rows()
            if (row["coefficient"], row["conditions"]) == ("percent_agreement", "repeatability")
        ]
        if not rows:
            return "no agreement"
        wrong = [
            f"agreement at {row['temperature']} is {row['value']}"
            for row in rows
            if row["value"] is None or abs(row["value"] - right[row["temperature"]]) > 1e-9
        ]
        if len(rows) < len(right):
            wrong.append(f"temperatures {sorted(set(right) - {r['temperature'] for r in rows})}")
        if wrong and any(word in came.stderr for word in SAID_LOST.split("|")):
            return None
        return ", ".join(wrong) or None

    for role in ROLES["run"]:
        for how, damage in DAMAGES.items():
            if role in UNREAD and how not in ("is gone", "is cut in half", "is prose"):
                continue
            yield from _damaged(bases, "run", role, how, damage, numbers)
    for role in ROLES["exact"]:
        for how in ("is gone", "is cut in half", "has a bit flipped in its middle", "is prose"):
            yield from _damaged(bases, "exact", role, how, DAMAGES[how], None)
    yield from _folder_cases(numbers)
    yield from _view_cases(bases)


Check = Callable[[Came], str | None]


def _damaged(
    bases: Path,
    base: str,
    role: str,
    how: str,
    damage: Callable[[Path], None],
    numbers: Check | None,
) -> Iterator[Case]:
    """One damage, seen by verbs."""
    reading = {"reduce": ("reduce", base, "--format", "json")}
    if base == "exact":
        reading = {"distributions": ("distributions", base, "--view", "limits", "--format", "json")}
    verbs = {
        **reading,
        "verify": ("verify", base),
        "status": ("status", base, "--json"),
        "report": ("report", base, "--out", "r.html"),
    }
    wide = how in ("is gone", "is cut in half")
    for verb, command in verbs.items():
        if verb in ("status", "report") and not wide:
            continue
        if base == "exact" and verb == "report":
            continue
        expect = Expect(check=numbers if verb == "reduce" else None)
        if verb == "verify":
            expect = Expect(codes=(0, 1), check=_named(bases, base, role, how))
        yield Case(
            family="Damaged runs",
            what=f"{role} {how} ({'' if base == 'run' else 'exact: '}{verb})",
            commands=(command,),
            bases=(base,),
            before=lambda folder: damage(file_of(folder / base, role)),
            may_write=("r.html",),
            expect=expect,
            fast=how == "has a bit flipped in its middle" and verb in ("reduce", "verify"),
        )


def _named(bases: Path, base: str, role: str, how: str) -> Check:
    """`verify` ends with 1 and names what is not as it was written."""

    def check(came: Came) -> str | None:
        if came.code == 1 and "0 errors" not in came.stdout:
            return None if role not in MEANT or _names(bases / base, role, came) else (
                f"defect|does not name the file: {came.stdout.splitlines()[0][:120]}")  # fmt: skip
        if role not in MEANT or not meaning_changed(file_of(bases / base, role), came, base):
            return None
        return f"finds nothing, {role} {how}"

    return check


def meaning_changed(whole: Path, came: Came, base: str) -> bool:
    """Whether a damaged file says something else than the whole one; blanks of JSON say nothing."""
    run = next(folder for folder in whole.parents if folder.name == base)
    try:
        content = (came.folder / base / whole.relative_to(run)).read_bytes()
    except OSError:
        return True
    readers = {".json": json.loads, ".toml": lambda text: tomllib.loads(text.decode())}
    read = readers.get(whole.suffix, bytes)
    try:
        return bool(read(content) != read(whole.read_bytes()))
    except ValueError:
        return True


def _names(whole: Path, role: str, came: Came) -> bool:
    """Whether a finding names the file, or the part that a commit is of."""
    if role not in PATTERNS:
        return role in came.shown
    names = [path.stem for path in whole.glob(PATTERNS[role][0])]
    return any(name in came.shown for name in names) or "s0001-l" in came.shown


def _folder_cases(numbers: Check) -> Iterator[Case]:
    """Folders of a run that are gone or exchanged, and runs that are none."""
    folders: dict[str, Callable[[Path], None]] = {
        "data is gone": lambda run: shutil.rmtree(run / "data"),
        "texts is gone": lambda run: shutil.rmtree(run / "texts"),
        "commits is gone": lambda run: shutil.rmtree(run / "commits"),
        "commits is empty": _emptied,
        "all is gone but manifest.json": _only_manifest,
        "a part without a commit": _stray_part,
        "a commit twice under two names": _commit_twice,
        "a part of another run": _other_part,
        "gold altered in items.parquet": _altered_gold,
        "a verdict altered in a part": _altered_verdict,
        "a judge's folder renamed": _renamed,
        "a half-written file of a killed driver": lambda run: (
            (run / "data/x.tmp").write_bytes(b"PAR1") and None
        ),
    }
    harmless = ("a part without a commit", "a half-written file of a killed driver",
                "a commit twice under two names", "a part of another run")  # fmt: skip
    for what, damage in folders.items():
        for verb, command in {
            "reduce": ("reduce", "run", "--format", "json"),
            "verify": ("verify", "run"),
            "status": ("status", "run"),
            "report": ("report", "run", "--out", "r.html"),
        }.items():
            expect = Expect(check=numbers if verb == "reduce" else None)
            if verb == "verify":
                expect = Expect(codes=(0, 1), check=None if what in harmless else _found(what))
            yield Case(
                family="Damaged runs",
                what=f"{what} ({verb})",
                commands=(command,),
                bases=("run",),
                before=lambda folder, damage=damage: damage(folder / "run"),
                may_write=("r.html",),
                expect=expect,
                fast=verb == "verify" and "altered" in what,
            )


def _view_cases(bases: Path) -> Iterator[Case]:
    """Numbers by question where a file is damaged that they do not rest on, or do."""
    right = questions_of(str(bases / "run"))

    def questions(came: Came) -> str | None:
        rows = {(row["temperature"], row["item_id"]): row["percent_agreement"]
                for row in came.rows()}  # fmt: skip
        wrong = [key for key in right if abs(rows.get(key, 9) - right[key]) > 1e-9]
        if wrong or rows.keys() != right.keys():
            return f"{len(wrong)} questions differ"
        return "says that requests are pending" if "unfinished" in came.shown else None

    for role in ("first text", "progress.json", "first part", "first commit", "items.parquet"):
        for how in ("is gone", "is cut in half", "has a bit flipped in its middle"):
            yield Case(
                family="Damaged runs",
                what=f"{role} {how} (questions)",
                commands=(("questions", "run", "--format", "json"),),
                bases=("run",),
                before=lambda folder, role=role, how=how: DAMAGES[how](
                    file_of(folder / "run", role)
                ),
                expect=Expect(
                    check=questions, refusal="never" if role in ("first text", "progress.json")
                    else "may",
                ),
                fast=role == "first text" and how == "is gone",
            )  # fmt: skip


def _found(what: str) -> Check:
    return lambda came: None if came.code == 1 else f"finds nothing, {what}"


def _emptied(run: Path) -> None:
    for path in (run / "commits").iterdir():
        path.unlink()


def _only_manifest(run: Path) -> None:
    for path in run.iterdir():
        if path.name != "manifest.json":
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _stray_part(run: Path) -> None:
    part = file_of(run, "first part")
    shutil.copy(part, part.with_name("part-s0009-l000009-a1-deadbeef.parquet"))


def _commit_twice(run: Path) -> None:
    commit = file_of(run, "first commit")
    shutil.copy(commit, commit.with_name("s0009-l000009-a1.json"))


def _other_part(run: Path) -> None:
    exact = run.parent / "exact"
    source = file_of(exact, "first part") if exact.is_dir() else file_of(run, "last part")
    shutil.copy(source, file_of(run, "first part").with_name("part-s0001-l000099-a1-0.parquet"))


def _altered_gold(run: Path) -> None:
    table = pq.ParquetFile(run / "items.parquet").read().to_pylist()
    for row in table:
        row["gold"] = "y" if row["gold"] == "x" else "x"
    schema = pq.read_schema(run / "items.parquet")
    import pyarrow as pa

    pq.write_table(pa.Table.from_pylist(table, schema=schema), run / "items.parquet")


def _altered_verdict(run: Path) -> None:
    """One verdict exchanged by somebody with a Parquet writer, the file whole."""
    import pyarrow as pa

    path = file_of(run, "first part")
    file = pq.ParquetFile(path)
    rows = file.read().to_pylist()
    for row in rows[:5]:
        row["verdict"] = "y" if row["verdict"] == "x" else "x"
    pq.write_table(pa.Table.from_pylist(rows, schema=file.schema_arrow), path)


def _renamed(run: Path) -> None:
    (run / "data/judge=coin").rename(run / "data/judge=toss")
