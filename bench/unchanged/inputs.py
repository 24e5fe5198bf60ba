"""What verbs are given: made once, then kept."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import polars as pl

from bench.unchanged.cases import JOBS, RECORDED, import_path
from bench.unchanged.sweeps import SWEEPS, write_sweeps
from bench.unchanged.tables import IMPORTS, ITEMS, LAID_OUT

ROOT = Path(__file__).resolve().parents[2]


def make_inputs(folder: Path, *, demo: bool) -> None:
    """Make what is not there yet: sweeps, jobs, recordings as tables, runs."""
    folder.mkdir(parents=True, exist_ok=True)
    here = Path.cwd()
    os.chdir(folder)  # runs remember no path that another machine lacks
    try:
        _lay_out(folder)
        if "JUDGEREL_DATA" in os.environ:
            _import_recordings(folder, Path(os.environ["JUDGEREL_DATA"]))
        else:
            print("JUDGEREL_DATA names no recordings: left out", file=sys.stderr)
        for name in SWEEPS:
            _run("exact" if name == "explored" else "run", f"sweeps/{name}.toml", f"runs/{name}")
        if demo:
            _run("run", "jobs/demo__tiny-judge__cpu.toml", "runs/demo")
    finally:
        os.chdir(here)


def _lay_out(folder: Path) -> None:
    """Sweeps with their items, ready sweeps on recorded files, and a few tables by hand."""
    write_sweeps(folder / "sweeps")
    if not (folder / "demo").exists():
        shutil.copytree(ROOT / "judgerel_ray" / "demo", folder / "demo")
    (folder / "jobs").mkdir(exist_ok=True)
    for name, swaps in JOBS.items():
        text = (ROOT / "jobs" / f"{name}.toml").read_text("utf-8")
        for before, after in swaps.items():
            text = text.replace(before, after)
        (folder / "jobs" / f"{name}.toml").write_text(text, encoding="utf-8")
    tables = folder / "tables"
    tables.mkdir(exist_ok=True)
    things = [(f"q{i:02}", one) for i in range(20) for one in ("good", "bad")]
    pl.DataFrame(
        {
            "item_id": [item for item, _ in things],
            "responder": [one for _, one in things],
            "score": [1.0 + (7 * n) % 5 for n in range(len(things))],
        }
    ).write_csv(tables / "reference.csv")
    pl.DataFrame({"judge": ["fine", "coarse"], "score": [0.8, 0.6]}).write_csv(
        tables / "outside.csv"
    )
    gold = {"item_id": [f"q{i}" for i in range(30)], "gold": ["abcde"[i % 5] for i in range(30)]}
    pl.DataFrame(gold).write_csv(tables / "gold.csv")


def _import_recordings(folder: Path, recordings: Path) -> None:
    """Items, judgments as imported, and tables laid out by hand."""
    from judgerel_ray.__main__ import main

    if not (folder / RECORDED).exists():
        (folder / RECORDED).symlink_to(recordings, target_is_directory=True)
    (folder / "items").mkdir(exist_ok=True)
    for name, (kind, path, *flags) in ITEMS.items():
        there = [f"{RECORDED}/{one}" if ".parquet" in one else one for one in flags]
        out = f"items/{name}.parquet"
        if not Path(out).exists():
            _must(main(["items", kind, f"{RECORDED}/{path}", *there, "--out", out]), out)
    for name, (kind, path, *flags) in IMPORTS.items():
        out = f"tables/{name}.parquet"
        if not Path(out).exists():
            _must(main(["import", kind, import_path(path), *flags, "--out", out]), out)
    for name, lay_out in LAID_OUT.items():
        if not Path(f"tables/{name}.parquet").exists():
            lay_out(recordings).write_parquet(f"tables/{name}.parquet")


def _run(verb: str, sweep: str, out: str) -> None:
    from judgerel_ray.__main__ import main

    if not Path(out, "manifest.json").exists():
        code = main([verb, sweep, "--out", out])
        if out != "runs/unfinished":  # one judge of which never starts
            _must(code, out)


def _must(code: int, what: str) -> None:
    if code:
        sys.exit(f"{what} could not be made: exit code {code}")
