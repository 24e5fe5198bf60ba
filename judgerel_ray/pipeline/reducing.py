"""From a run directory or a file of judgments to coefficients, a report, or a frame of items."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import polars as pl

from judgerel_ray.benchmarks import load_items
from judgerel_ray.config import Judge, Sweep, parse_sweep
from judgerel_ray.core import SweepError
from judgerel_ray.reduce import (
    least_stable,
    load_judgments,
    outcome_table,
    reduce_judgments,
)
from judgerel_ray.report import render_report
from judgerel_ray.store import RunDirectory, read_ledger, scan_judgments, verify_run
from judgerel_ray.tables import items_to_frame

CORRECTNESS_OPTIONS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ReduceOptions:
    """What ``reduce`` computes; None is the default of ARCHITECTURE 3.1."""

    by: tuple[str, ...] | None = None
    measurement: tuple[str, ...] | None = None
    missing: tuple[str, ...] = ("category", "drop")
    coefficients: tuple[str, ...] | None = None
    block: str = "0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """Judgments with what is declared about them, wherever they come from."""

    frame: pl.LazyFrame
    n_categories: Mapping[str, int]
    run: RunDirectory | None = None


def reduce_path(path: str, options: ReduceOptions | None = None) -> pl.DataFrame:
    """Coefficients of a run directory or a file of judgments.

    Effects: reads. Retry: safe, also while a run goes on.

    Raises
    ------
    SweepError
        If a name or a file is wrong.
    StoreError
        If the path is a folder but no run directory.
    """
    return _reduce(open_judgments(path), options or ReduceOptions())


def open_judgments(path: str) -> Judged:
    """Judgments of a run directory (committed rows only) or of a Parquet, CSV or JSONL file."""
    run = RunDirectory(url=path)
    if not Path(path).is_file() and run.is_run():
        return Judged(frame=scan_judgments(run), n_categories=_declared(run), run=run)
    return Judged(frame=load_judgments(path), n_categories={})


def report_path(path: str, out: str) -> str:
    """Write the report of a run directory or a file of judgments; return where it is.

    Effects: writes one file. Retry: safe.
    """
    judged = open_judgments(path)
    coefficients = _reduce(judged, ReduceOptions())
    page = render_report(
        coefficients,
        outcome_table(judged.frame),
        least_stable(judged.frame),
        title=_title(judged, path),
        asked=_asked(judged, path),
    )
    file = Path(out)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(page, encoding="utf-8")
    except OSError as error:
        raise SweepError(f"cannot write the report: {error}", where={"file": out}) from error
    return out


def write_coefficients(frame: pl.DataFrame, out: str) -> None:
    """Write coefficients by the file's ending: .parquet, .csv or .json.

    Effects: writes one file. Retry: safe.
    """
    from judgerel_ray.report import coefficients_json

    ending = Path(out).suffix
    try:
        if ending == ".parquet":
            frame.write_parquet(out)
        elif ending == ".csv":
            frame.write_csv(out)
        elif ending == ".json":
            Path(out).write_text(coefficients_json(frame) + "\n", encoding="utf-8")
        else:
            raise SweepError(
                f"--out must end in .parquet, .csv or .json, got {out!r}", where={"file": out}
            )
    except OSError as error:
        raise SweepError(f"cannot write coefficients: {error}", where={"file": out}) from error


def write_items(benchmark: str, path: str, out: str, *, answers: str | None = None) -> int:
    """Write a benchmark's items as Parquet; return how many.

    Effects: writes one file. Retry: safe.
    """
    items = load_items(benchmark, path, answers=answers)
    if Path(out).suffix != ".parquet":
        raise SweepError(f"--out must end in .parquet, got {out!r}", where={"file": out})
    try:
        items_to_frame(items).write_parquet(out)
    except OSError as error:
        raise SweepError(f"cannot write items: {error}", where={"file": out}) from error
    return len(items)


def verify_path(path: str) -> tuple[list[str], int]:
    """Findings of a run directory in lines, and how many of them are errors.

    Effects: reads every committed file. Retry: safe.
    """
    findings = verify_run(RunDirectory.open(path))
    lines = [f"{found.level}: {found.name}: {found.message}" for found in findings]
    return lines, sum(found.level == "error" for found in findings)


def _reduce(judged: Judged, options: ReduceOptions) -> pl.DataFrame:
    """Coefficients by the options."""
    block: Literal[0, "all"] = "all" if options.block == "all" else 0
    return reduce_judgments(
        judged.frame,
        by=options.by,
        measurement=options.measurement,
        missing=options.missing,
        coefficients=options.coefficients,
        block=block,
        n_categories=judged.n_categories,
    )


def _declared(run: RunDirectory) -> dict[str, int]:
    """Options on the menu of each benchmark, where a run has one number of them."""
    sweep = parse_sweep(run.read_text("sweep.toml"), source=run.address("sweep.toml"))
    items = pl.read_parquet(run.read_bytes("items.parquet"))
    menus: dict[str, set[int]] = {}
    for index, ask in enumerate(sweep.ask):
        if ask.protocol == "respond":
            continue
        names = _benchmarks(sweep, index, items)
        for benchmark in names:
            if ask.protocol == "correctness":
                menus.setdefault(benchmark, set()).add(CORRECTNESS_OPTIONS)
            elif ask.responders:
                menus.setdefault(benchmark, set()).add(len(ask.responders))
            else:
                mine = items.filter(pl.col("benchmark") == benchmark)
                menus.setdefault(benchmark, set()).update(mine["options"].list.len().to_list())
    return {name: sizes.pop() for name, sizes in menus.items() if len(sizes) == 1}


def _benchmarks(sweep: Sweep, index: int, items: pl.DataFrame) -> list[str]:
    """Benchmarks of an ask's items: its own name, or all where a loader names several."""
    names = items["benchmark"].unique(maintain_order=True).to_list()
    own = sweep.ask[index].benchmark
    return [own] if own in names else names


def _title(judged: Judged, path: str) -> str:
    """What the report is about."""
    if judged.run is None:
        return Path(path).name
    return parse_sweep(judged.run.read_text("sweep.toml")).name


def _asked(judged: Judged, path: str) -> list[tuple[str, str]]:
    """What was asked, as the report says it."""
    if judged.run is None:
        return [("file", path)]
    plan = json.loads(judged.run.read_text("plan.json"))
    sweep = parse_sweep(judged.run.read_text("sweep.toml"))
    ledger = read_ledger(judged.run)
    lines = [
        ("sweep", sweep.name),
        ("judges", ", ".join(f"{judge.name} ({_kind(judge)})" for judge in sweep.judge)),
        ("requests", f"{plan['requests']:,} asked, {ledger.n_rows:,} landed"),
    ]
    for index, ask in enumerate(sweep.ask):
        temperatures = ", ".join(f"{value:g}" for value in ask.temperatures)
        lines.append(
            (
                f"ask {index}",
                f"{ask.protocol} on {ask.benchmark}, {ask.replications} replications at "
                f"temperatures {temperatures}",
            )
        )
    tokens = ledger.tokens
    lines.append(
        (
            "tokens",
            f"prompt {tokens.prompt:,} ({tokens.cached:,} from the prefix cache), "
            f"generated {tokens.generated:,}",
        )
    )
    return lines


def _kind(judge: Judge) -> str:
    """What a judge is, never passing a simulated one off as a judge."""
    if judge.engine == "simulated":
        return f"simulated: {judge.model}; answers from a stated distribution, not a judge"
    return judge.model
