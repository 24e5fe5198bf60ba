"""Every file operation of a verb as a place to die: is anything lost, doubled or half there?

    OMP_NUM_THREADS=1 POLARS_MAX_THREADS=1 python -m bench.crash_points [--verbs run rejudge ...]
                                                                        [--every 1]

A verb is run once to number its file operations: every file opened for writing, renamed, linked,
removed or cut, every folder made. Then it is run once more for each of them and dies there: before
it; half way, for a write, with half of its bytes in the file; and after the last one (after any
other is before the next). What is left is read by `verify`, `status` and `reduce`, which must
answer right or in one line. Then the verb is run again, and must come to the end that an
undisturbed one comes to.

Each point is a process of its own, forked from one that has loaded everything and computed nothing.
`run`, `exact` and `refresh` go without Ray, as `bench/small_run.py` does: opening, sessions, waves,
the actor's landing, tables and end are the real code in one process; Ray's own scheduling, and what
several processes do at once, is not in the list (`make chaos` is there for that).
"""

from __future__ import annotations

import argparse
import io
import os
import pickle
import pkgutil
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

import polars as pl

import judgerel_ray
from bench.faults import called
from bench.small_run import run_here, write_sweep
from judgerel_ray.asking import refreshing
from judgerel_ray.asking.run import rejudging
from judgerel_ray.asking.run.running import RunSummary
from judgerel_ray.config import Sweep, as_exact, read_sweep
from judgerel_ray.store import (
    RunDirectory,
    read_ledger,
    scan_completions,
    scan_judgments,
    verify_run,
)
from judgerel_ray.store.series import SeriesDirectory

DIED, FAILED = 77, 78
N_ITEMS = 2
REQUIRE = ("--require", "percent_agreement >= 0")
Rows = Mapping[str, tuple[object, ...]]


@dataclass
class Killer:
    """An audit hook that numbers file operations below a folder, and dies at one of them.

    Attributes
    ----------
    root : str
        The folder.
    at : int
        The operation to die at, from 1; 0 for none.
    is_half : bool
        Whether half of what is written there is left, in place of nothing.
    seen : list of (str, str)
        The operations so far: what, and of which file.
    """

    root: str
    at: int = 0
    is_half: bool = False
    seen: list[tuple[str, str]] = field(default_factory=list)
    written: tuple[str, int] | None = None
    is_off: bool = False

    def __call__(self, event: str, given: tuple[Any, ...]) -> None:
        if self.is_off or event not in _EVENTS or isinstance(given[0], int):
            return
        self.is_off = True
        try:
            if self.written is not None:
                self.halve()
            path = os.path.abspath(os.fsdecode(given[0]))
            if not path.startswith(f"{self.root}/") or (event == "open" and not _writes(given)):
                return
            self.seen.append((event, path.removeprefix(f"{self.root}/")))
            if len(self.seen) == self.at:
                if not self.is_half:
                    os._exit(DIED)
                self.written = path, os.path.getsize(path) if os.path.exists(path) else 0
        finally:
            self.is_off = False

    def halve(self) -> None:
        """Leave half of what was just written, and die."""
        assert self.written is not None
        path, before = self.written
        os.truncate(path, before + (os.path.getsize(path) - before) // 2)
        os._exit(DIED)


_EVENTS = frozenset(
    {"open", "os.rename", "os.link", "os.remove", "os.mkdir", "os.rmdir", "os.truncate"}
)


def _writes(given: tuple[Any, ...]) -> bool:
    """Whether a file is opened for writing."""
    return bool(given[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))


def forked(do: Callable[[], Any]) -> tuple[int, Any]:
    """Do something in a process of its own: how it ended, and what it gave or raised."""
    reader, writer = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(reader)
        code, found = 0, None
        try:
            found = do()
        except BaseException:  # noqa: BLE001  whatever it is, it is reported
            code, found = FAILED, traceback.format_exc()
        with os.fdopen(writer, "wb") as file:
            pickle.dump(found, file)
        os._exit(code)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        data = file.read()
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return code, pickle.loads(data) if data else None


@dataclass(frozen=True)
class Scene:
    """A verb and its surroundings, each a function of the folder that all of it lies in.

    Attributes
    ----------
    prepare : callable
        What is there before.
    act : callable
        The verb.
    end : callable
        What an undisturbed verb leaves, as a value that can be compared.
    check : callable
        Called with the folder after a death, what was there before, and the undisturbed end:
        names what is wrong with what can be read.
    """

    prepare: Callable[[Path], None]
    act: Callable[[Path], None]
    end: Callable[[Path], Any]
    check: Callable[[Path, Any, Any], list[str]]


def rows_of(run: RunDirectory) -> Rows:
    """What every judgment of a run says, and the text it was read in, by key."""
    ledger = read_ledger(run)
    rows = scan_judgments(run, ledger=ledger).select(
        "key", "seed", "verdict", "label", "outcome", pl.col("score").cast(pl.String)
    )
    texts = dict(scan_completions(run, ledger=ledger).select("key", "text").collect().iter_rows())
    found = [(*row, texts[row[0]]) for row in rows.collect().iter_rows()]
    assert len({row[0] for row in found}) == len(found), "a key is there twice"
    return {str(row[0]): row[1:] for row in found}


def tables_of(run: RunDirectory) -> dict[str, list[str]]:
    """The tables that a run made of its judgments."""
    names = [name for name in run.file_digests() if name.endswith(".parquet")]
    return {
        name: sorted(map(repr, pl.read_parquet(io.BytesIO(run.read_bytes(name))).iter_rows()))
        for name in names
    }


def run_end(run: RunDirectory) -> tuple[Rows, dict[str, list[str]], list[str]]:
    """All of a run that must not depend on what happened on the way."""
    errors = [f"{one.name}: {one.message}" for one in verify_run(run) if one.level == "error"]
    return rows_of(run), tables_of(run), errors


def check_run(run: RunDirectory, versions: list[Rows]) -> list[str]:
    """What is wrong with a run after a death: its rows must be some of one of these versions."""
    wrong = []
    for arguments in (["verify", run.url], ["status", run.url], ["reduce", run.url]):
        ended = called(arguments)
        # Of a table that is vouched for before it is written `verify` says what writes it.
        lines = [line for line in ended.out.splitlines() if line.startswith("error: ")]
        is_mended = ended.code == 1 and all(line.endswith("writes it again") for line in lines)
        if ended.code != 0 and not ended.is_one_line and not (lines and is_mended):
            wrong.append(f"{arguments[0]}: {ended}")
    if run.exists("commits"):
        found = rows_of(RunDirectory.open(run.url)).items()
        if not any(found <= version.items() for version in versions):
            wrong.append("rows that no undisturbed run has")
    return wrong


def _run_scene(act: Callable[[Path], None]) -> Scene:
    """A verb that asks into a new run directory."""

    def check(folder: Path, _before: Any, end: Any) -> list[str]:
        run = RunDirectory(url=str(folder / "run"))
        return check_run(run, [end[0]]) if run.is_run() else []

    return Scene(
        prepare=lambda folder: cast(None, write_sweep(folder, n_items=N_ITEMS)),
        act=act,
        end=lambda folder: run_end(RunDirectory.open(str(folder / "run"))),
        check=check,
    )


def run_now(folder: Path) -> None:
    """`run`."""
    run_here(folder / "sweep.toml", str(folder / "run"))


EXACT = """
name = "exact"
judge = [{ name = "j", engine = "simulated", model = "uniform", gpus = 0 }]
[[ask]]
protocol = "best_of"
benchmark = "own"
path = "items.jsonl"
"""


def exact_now(folder: Path) -> None:
    """`exact`."""
    (folder / "exact.toml").write_text(EXACT)
    run_here(as_exact(read_sweep(folder / "exact.toml")), str(folder / "run"))


def rejudge_now(folder: Path) -> None:
    """`rejudge` by a reader that finds no verdict in first replies."""
    plain = rejudging._read_again

    def read_otherwise(*given: Any) -> pl.DataFrame:
        kept = pl.col("replication") != 0
        return plain(*given).with_columns(
            *(pl.when(kept).then(name) for name in ("verdict", "label")),
            pl.when(~kept).then(pl.lit("unparsed")).otherwise("outcome").alias("outcome"),
        )

    with patch.object(rejudging, "_read_again", read_otherwise):
        rejudging.rejudge_run(str(folder / "run"), sweep=str(folder / "sweep.toml"))


def _prepare_run(folder: Path) -> None:
    """A finished run, of the sweep that the package ships."""
    for name in ("sweep.toml", "items.jsonl"):
        shutil.copy(judgerel_ray.example(name), folder)
    run_now(folder)


def _check_rejudged(folder: Path, before: Any, end: Any) -> list[str]:
    return check_run(RunDirectory.open(str(folder / "run")), [before[0], end[0]])


SERIES = 'name = "n"\nout = "out"\n[[sweep]]\npath = "anchors.toml"\nrole = "anchor"\n'


def _prepare_series(folder: Path) -> None:
    """A series of one sweep."""
    write_sweep(folder, n_items=N_ITEMS)
    (folder / "anchors.toml").write_text(EXACT.replace('"exact"', '"anchors"') + "replications = 4")
    (folder / "series.toml").write_text(SERIES)


def run_sweep_here(sweep: Sweep, *, out: str, **_surroundings: Any) -> RunSummary:
    """What a refresh does to ask, without Ray."""
    asked, _ = run_here(sweep, out)
    ledger = read_ledger(RunDirectory.open(out))
    return RunSummary(
        run=out, session=ledger.session, asked=ledger.n_rows, landed=ledger.n_rows, owed=0,
        failed=0, asked_now=asked, problems={},
    )  # fmt: skip


def refresh_now(folder: Path) -> None:
    """`refresh`, twice: the second has nothing to do but what is left of the first."""
    with patch.object(refreshing, "run_sweep", run_sweep_here):
        judgerel_ray.refresh(folder / "series.toml")


def _series_end(folder: Path) -> Any:
    """All of a series that must not depend on what happened on the way."""
    directory = SeriesDirectory(url=str(folder / "out"))
    refreshes = directory.refreshes()
    history = pl.read_parquet(folder / "out/history.parquet")
    timeless = [name for name, kind in history.schema.items() if not kind.is_temporal()]
    return (
        [(one.number, one.state) for one in refreshes],
        [run_end(run) for _, run in directory.runs("anchors", refreshes)],
        sorted(map(repr, history.select(timeless).iter_rows())),
        (folder / "out/trend.html").read_bytes().rstrip().endswith(b"</html>"),
    )


def _check_series(folder: Path, _before: Any, end: Any) -> list[str]:
    directory = SeriesDirectory(url=str(folder / "out"))
    runs = directory.runs("anchors", directory.refreshes())
    return [line for _, run in runs for line in check_run(run, [end[1][0][0]])]


def cli(*arguments: str) -> None:
    """A command that must end well."""
    ended = called(arguments)
    assert ended.code == 0, ended


def _prepare_gate(folder: Path) -> None:
    """Judgments, and a ledger with a look at some of them."""
    text = Path(judgerel_ray.example("judgments.csv")).read_text()
    (folder / "judgments.csv").write_text(text)
    (folder / "some.csv").write_text("".join(text.splitlines(keepends=True)[:40]))
    cli("gate", str(folder / "some.csv"), *REQUIRE, "--ledger", str(folder / "looks"))


def gate_now(folder: Path) -> None:
    """`gate --ledger`."""
    cli("gate", str(folder / "judgments.csv"), *REQUIRE, "--ledger", str(folder / "looks"))


def import_now(folder: Path) -> None:
    """`import`, in the place of what it wrote before."""
    cli(
        "import",
        "table",
        str(folder / "some.csv"),
        "--out",
        str(folder / "made.parquet"),
        "--force",
    )


def _prepare_import(folder: Path) -> None:
    """A table, and what was imported of less of it."""
    _prepare_gate(folder)
    import_now(folder)
    shutil.copy(folder / "judgments.csv", folder / "some.csv")


def report_now(folder: Path) -> None:
    """`report`, in the place of an earlier page."""
    cli("report", str(folder / "judgments.csv"), "--out", str(folder / "made.html"), "--force")


def _prepare_report(folder: Path) -> None:
    _prepare_gate(folder)
    cli("report", str(folder / "some.csv"), "--out", str(folder / "made.html"))


def _whole_file(name: str) -> tuple[Callable[[Path], Any], Callable[[Path, Any, Any], list[str]]]:
    """The end of a verb that writes one file, and a check that it is the old one or the new one."""

    def end(folder: Path) -> bytes:
        return (folder / name).read_bytes()

    def check(folder: Path, before: Any, after: Any) -> list[str]:
        return [] if end(folder) in (before, after) else [f"{name} is neither old nor new"]

    return end, check


def _check_looks(folder: Path, before: bytes, end: bytes) -> list[str]:
    found = (folder / "looks").read_bytes()
    is_whole = found in (before, end) or (found.startswith(before) and end.startswith(found))
    return [] if is_whole else ["looks are neither those before nor those after"]


_IMPORTED, _REPORTED = _whole_file("made.parquet"), _whole_file("made.html")
SCENES: Mapping[str, Scene] = {
    "run": _run_scene(run_now),
    "rejudge": Scene(
        _prepare_run,
        rejudge_now,
        lambda folder: run_end(RunDirectory.open(str(folder / "run"))),
        _check_rejudged,
    ),
    "refresh": Scene(_prepare_series, refresh_now, _series_end, _check_series),
    "exact": _run_scene(exact_now),
    "gate": Scene(_prepare_gate, gate_now, lambda one: (one / "looks").read_bytes(), _check_looks),
    "import": Scene(_prepare_import, import_now, *_IMPORTED),
    "report": Scene(_prepare_report, report_now, *_REPORTED),
}


@dataclass(frozen=True)
class Point:
    """A place to die: an operation from 1 on, before it or half way; 0 is after the last one."""

    verb: str
    at: int
    is_half: bool
    operation: str


def act(scene: Scene, folder: Path, killer: Killer) -> list[tuple[str, str]]:
    """Run a verb under a hook; the operations it made, if it does not die."""
    sys.addaudithook(killer)
    scene.act(folder)
    killer.is_off = True
    if killer.written is not None:
        killer.halve()
    return killer.seen


class Stage:
    """A verb's surroundings as they are before it, and its undisturbed end."""

    def __init__(self, verb: str, folder: Path) -> None:
        self.verb, self.scene, self.folder = verb, SCENES[verb], folder
        self.whole, self.place = folder / "before", folder / "here"
        self.whole.mkdir()
        self.done(lambda: self.scene.prepare(self.whole))
        # At the path of every later try: some files name where they lie.
        self.reset()
        self.before = self.done(lambda: self.scene.end(self.place)) if _has_before(verb) else None
        self.seen = self.done(lambda: act(self.scene, self.place, Killer(str(self.place))))
        self.end = self.done(lambda: self.scene.end(self.place))

    @staticmethod
    def done(do: Callable[[], Any]) -> Any:
        """What something gives that must not fail."""
        code, found = forked(do)
        assert code == 0, found
        return found

    def reset(self) -> None:
        """Put all of it as it was before the verb."""
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.copytree(self.whole, self.place, symlinks=True)

    def points(self) -> Iterator[Point]:
        """All places to die."""
        for at, (event, name) in enumerate(self.seen, start=1):
            for is_half in (False, True) if event == "open" else (False,):
                yield Point(self.verb, at, is_half, f"{event} {name}")
        yield Point(self.verb, 0, False, "the end")

    def tried(self, point: Point) -> list[str]:
        """What is wrong after a death at a point, and after the verb was run again."""
        self.reset()
        killer = Killer(str(self.place), at=point.at, is_half=point.is_half)
        code, found = forked(partial(act, self.scene, self.place, killer))
        if code != (DIED if point.at else 0):
            return [f"did not die there: {code}, {found}"]
        code, found = forked(partial(self._looked, point))
        return found if code == 0 else [str(found)]

    def _looked(self, point: Point) -> list[str]:
        wrong = self.scene.check(self.place, self.before, self.end)
        self.scene.act(self.place)
        if self.scene.end(self.place) != self.end:
            wrong.append(f"another end than undisturbed, after {point.operation}")
        return wrong


def _has_before(verb: str) -> bool:
    """Whether what a verb leaves may be there before it."""
    return verb in ("rejudge", "gate", "import", "report")


def load_all() -> None:
    """Load all modules, so that a forked process need not; nothing is computed by them."""
    for module in pkgutil.walk_packages(judgerel_ray.__path__, "judgerel_ray."):
        if not module.name.endswith("__main__"):
            import_module(module.name)


def try_verb(verb: str, every: int = 1) -> tuple[int, int, list[str]]:
    """Die at every n-th point of a verb: operations, points tried, and what is wrong."""
    with tempfile.TemporaryDirectory() as folder:
        stage = Stage(verb, Path(folder).resolve())
        points = list(stage.points())[:: every or 1]
        wrong = [f"{point}: {line}" for point in points for line in stage.tried(point)]
        return len(stage.seen), len(points), wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--verbs", nargs="+", choices=SCENES, default=list(SCENES))
    parser.add_argument("--every", type=int, default=1, help="try one point in so many")
    given = parser.parse_args()
    load_all()
    print(f"{'verb':10}{'operations':>12}{'points':>8}{'bad':>6}{'seconds':>9}")
    n_bad = 0
    for verb in given.verbs:
        started = time.monotonic()
        n, tried, wrong = try_verb(verb, given.every)
        n_bad += len(wrong)
        seconds = time.monotonic() - started
        print(f"{verb:10}{n:12,}{tried:8,}{len(wrong):6,}{seconds:9.0f}", flush=True)
        for line in wrong[:20]:
            print(f"  {line}", flush=True)
    sys.exit(bool(n_bad))


if __name__ == "__main__":
    main()
