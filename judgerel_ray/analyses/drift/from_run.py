"""From the runs of a series to what one refresh found, which its result holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from judgerel_ray.analyses.comparison.from_run import compare_with_serving
from judgerel_ray.analyses.drift.causes import SERVED, Scores, causes_of, changes
from judgerel_ray.analyses.drift.compute import (
    COLUMNS,
    QUESTION,
    edited,
    judge_drift,
    level_spent,
    near_constant,
    score_differences,
    usual_verdicts,
    verdict_rows,
    with_content,
)
from judgerel_ray.analyses.drift.standing import Alarms, since_alarms
from judgerel_ray.analyses.drift.tables import DRIFT_P, USUAL
from judgerel_ray.config import Judge, Sweep, parse_sweep
from judgerel_ray.config.series import Series
from judgerel_ray.core import JudgeRelError, StoreError, count_of
from judgerel_ray.core.types import JUDGE_ROLES
from judgerel_ray.counting.groups.grouping import DEFAULT_GROUPS
from judgerel_ray.counting.snapshot import Snapshot
from judgerel_ray.measuring.reliability import ReduceOptions, reduce_judged
from judgerel_ray.protocols.registry import protocol_named
from judgerel_ray.store import (
    CHEAP_COLUMNS,
    RunDirectory,
    read_ledger,
    read_manifest,
    reading,
    scan_judgments,
)
from judgerel_ray.store.digests import UNREADABLE
from judgerel_ray.store.generations import reader_of
from judgerel_ray.store.series import MEASURED, Refresh, RefreshSweep, SeriesDirectory

Row = dict[str, Any]
Parts = Callable[[Sweep, Judge], Mapping[str, str]]
"""From a judge of a sweep to the parts of its model on this machine, each with its digest."""
AGREEMENT = ("krippendorff_alpha", "percent_agreement")
COMPARED = (*AGREEMENT, "position_bias")
NAMED = 5
"""Questions that a line names."""
_NOT_BEHIND = ("judges", "n_items", "first_replication")
"""What of an ask is of no judge, of its items' digest, or of each refresh alone."""


def measure_refresh(
    series: Series,
    directory: SeriesDirectory,
    before: Sequence[Refresh],
    refresh: Refresh,
    *,
    parts_of: Parts,
) -> Mapping[str, Any]:
    """Find what a refresh shows, held against those before it.

    Effects: reads runs of the series and folders of models. Retry: safe, gives the same numbers.

    Returns
    -------
    mapping
        Plain content: ``measures`` (rows of the history), ``drift`` (a p-value a judge of the
        anchors), ``causes``, ``changes`` behind judges' names, ``behind`` them now, ``warnings``.
    """
    counted = [one for one in before if one.number >= series.drift.since and one.state in MEASURED]
    found: dict[str, list[Any]] = {
        name: [] for name in ("measures", "drift", "causes", "changes", "behind", "warnings")
    }
    moved: list[Scores] = []
    alarms = since_alarms(series, counted)
    folders = {sweep.name: sweep.folder for sweep, _ in series.sweeps()}
    for asked in refresh.sweeps:
        run = directory.run(refresh, asked.name)
        if run is None:
            continue
        rows = _drift_run_verdicts(run)
        # A system's runs hold rows of the runs before: for anchors they would count twice.
        place = (asked.name, asked.role)
        alike = [one for one in counted if place in ((it.name, it.role) for it in one.sweeps)]
        all_runs = directory.runs(asked.name, alike)
        if asked.role == "anchor":
            comparable, lacking = _read_alike(asked.name, run, all_runs)
        else:
            comparable, lacking = all_runs, _read_otherwise(asked.name, run)
        found["warnings"] += lacking
        earlier, lacking = _drift_earlier_verdicts(asked, comparable)
        runs = [one for one in comparable if one[0].number in earlier]
        found["warnings"] += lacking
        judges = rows["judge"].unique().sort().to_list()
        usual = usual_verdicts(rows)
        found["warnings"] += near_constant(usual, series.drift.near_constant)
        found["measures"] += [
            {**_drift_number_owner(asked, one["judge"]), "measure": USUAL, "value": one["share"]}
            for one in usual
        ]
        agreement, lacking = _drift_of_agreement(
            asked.name, run, _of_same_judges(runs, earlier, judges)
        )
        found["measures"] += [
            {**_drift_number_owner(asked, one.pop("judge")), **one} for one in agreement
        ]
        found["warnings"] += lacking
        behind = _drift_judge_fingerprints(run, folders.get(asked.name, ""), parts_of)
        found["behind"].append({"sweep": asked.name, "judges": behind})
        behind_then = [_behind_at(one, asked.name) for one in counted]
        found["changes"] += _drift_fingerprint_changes(asked.name, behind_then, behind)
        if runs:
            last = runs[-1][0].number
            level = level_spent(series.drift.level, len(all_runs))
            scores = score_differences(earlier[last], rows, level=level)
            found["measures"] += [
                {**_drift_number_owner(asked, one["judge"]), **one, "against": last}
                for one in scores
            ]
            if asked.role == "system":
                then = _behind_at(runs[-1][0], asked.name)
                moved += [
                    Scores.of(asked.name, one, scores, then=then, now=behind) for one in judges
                ]
        elif asked.role == "system":
            moved += [Scores(sweep=asked.name, judge=judge) for judge in judges]
        if asked.role == "anchor":
            name = f"{series.name} {asked.name} {refresh.number}"
            verdicts = _drift_anchors_by_content(asked.name, earlier, rows, [*runs, (refresh, run)])
            found["warnings"] += verdicts.edited
            tests = _drift_alarm_tests(asked.name, verdicts, alarms, name)
            found["drift"] += tests
            found["measures"] += [
                {**_drift_number_owner(asked, one["judge"]), "measure": DRIFT_P, "value": one["p"],
                 "n_questions": one["n_questions"]}
                for one in tests
            ]  # fmt: skip
    causes, notes = causes_of(series, alarms, found, moved)
    found["causes"] = causes
    found["warnings"] += notes
    return {"since": series.drift.since, **found}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Verdicts:
    """Verdicts on anchors with what their questions say: earlier ones by refresh, and new ones.

    ``edited`` says which questions say other things than before, in a line.
    """

    old: pl.DataFrame
    new: pl.DataFrame
    edited: tuple[str, ...] = ()


def _drift_alarm_tests(
    sweep: str,
    verdicts: _Verdicts,
    alarms: Alarms,
    name: str,
) -> list[Row]:
    """The p-value of each judge of anchors, and of one with an alarm that against those since."""
    tests = judge_drift(verdicts.old, verdicts.new, name=name)
    for one in tests:
        one |= {"sweep": sweep, "p_since_alarm": None, "n_informative_since_alarm": None}
        alarm, _ = alarms.get((sweep, one["judge"]), (None, []))
        if alarm is not None:
            of_judge = pl.col("judge") == one["judge"]
            since = verdicts.old.filter(of_judge, pl.col("refresh") >= alarm)
            new = verdicts.new.filter(of_judge)
            (test,) = judge_drift(since, new, name=f"{name} since {alarm}")
            for name_of in ("p", "n_informative"):
                one[f"{name_of}_since_alarm"] = test[name_of]
    return tests


def _behind_at(refresh: Refresh, sweep: str) -> Mapping[str, Row]:
    """What was behind the judges' names of a sweep at an earlier refresh."""
    for one in (refresh.result or {}).get("behind", ()):
        if one["sweep"] == sweep:
            judges: Mapping[str, Row] = one["judges"]
            return judges
    return {}


def _read_alike(
    sweep: str, run: RunDirectory, runs: Sequence[tuple[Refresh, RunDirectory]]
) -> tuple[list[tuple[Refresh, RunDirectory]], list[str]]:
    """Runs of anchors whose replies were read as those of this one, and a line where others were.

    What another reader makes of the same replies is no change of the judge.
    """
    now = reader_of(read_manifest(run))
    alike = [one for one in runs if reader_of(read_manifest(one[1])) == now]
    if not runs or alike[-1:] == list(runs[-1:]):
        return alike, []
    then = reader_of(read_manifest(runs[-1][1]))
    return alike, [
        f"{sweep}: replies are read by reader {now}, those before by {then}, and are held against "
        "none of these: evidence is gathered anew from this refresh on, what it was before stands"
    ]


def _read_otherwise(sweep: str, run: RunDirectory) -> list[str]:
    """Say which rows of a run were read by another reader than its own, in a line."""
    manifest = read_manifest(run)
    reader, n_rows = reader_of(manifest), Counter[str]()
    commits = read_ledger(run).commits
    for commit in commits:
        n_rows[reader_of(manifest, commit.engine)] += commit.rows
    others = sorted(n_rows.keys() - {reader})
    if not others:
        return []
    n_others = sum(n_rows[one] for one in others)
    return [
        f"{sweep}: {n_others:,} of {n_rows.total():,} rows were carried as reader "
        f"{' or '.join(others)} read them, and the others are read by {reader}; "
        f"judgerel rejudge {run.url} reads all by one"
    ]


def _drift_earlier_verdicts(
    asked: RefreshSweep, runs: Sequence[tuple[Refresh, RunDirectory]]
) -> tuple[dict[int, pl.DataFrame], list[str]]:
    """Verdicts that a run is compared with, by refresh, and what could not be read of them.

    Of anchors they are those of every run: an alarm over fewer would not keep its level, so a
    damaged one is refused. Of a system they are those of the last, which holds all rows before it.
    """
    if asked.role == "anchor":
        return {refresh.number: _drift_run_verdicts(run) for refresh, run in runs}, []
    last = runs[-1:]
    try:
        for _, run in last:
            scan_judgments(run, columns=CHEAP_COLUMNS)  # all that any comparison reads
        return {refresh.number: _drift_run_verdicts(run) for refresh, run in last}, []
    except StoreError as error:
        number = last[0][0].number
        return {}, [f"nothing is compared with refresh {number}: {error.sentence}"]


def _drift_anchors_by_content(
    sweep: str,
    earlier: Mapping[int, pl.DataFrame],
    new: pl.DataFrame,
    runs: Sequence[tuple[Refresh, RunDirectory]],
) -> _Verdicts:
    """Tell anchors apart by what they say; the last of the runs is that of the new verdicts.

    An edited question is another one, whatever its id: held against what was said of the old one it
    would be a judge that moved.
    """
    sides = [one.with_columns(refresh=number) for number, one in earlier.items()]
    sides.append(new.with_columns(refresh=runs[-1][0].number))
    lacking = []
    if len({_items_digests(run) for _, run in runs}) == 1:
        sides = [one.with_columns(content=pl.lit("")) for one in sides]
    else:
        showing = {one for one in new["protocol"].unique() if protocol_named(one).traits.shows_gold}
        for n, (refresh, run) in enumerate(runs):
            try:
                items = pl.read_parquet(run.read_bytes("items.parquet"))
                items.select(QUESTION)  # a table without them tells of no question
            except (StoreError, *UNREADABLE):
                items = None
                lacking.append(
                    f"{sweep}: items of refresh {refresh.number} cannot be read, so that its "
                    "answers are compared with none"
                )
            sides[n] = with_content(sides[n], items, showing_gold=showing)
        if ids := edited(sides[-2], sides[-1]):
            named = ", ".join(ids[:NAMED]) + (", ..." if len(ids) > NAMED else "")
            lacking.append(
                f"{sweep}: {count_of(len(ids), 'question')} edited under the old id ({named}): "
                "held against nothing of before; give a question that says other things an id of "
                "its own"
            )
        # What is unknown at two refreshes is not the same: each has an unknown of its own.
        sides = [
            one.with_columns(pl.col("content").fill_null(pl.lit(f"unknown {refresh.number}")))
            for one, (refresh, _) in zip(sides, runs, strict=True)
        ]
    *before, now = sides
    old = pl.concat(before) if before else now.clear()
    return _Verdicts(old=old, new=now, edited=tuple(lacking))


def _items_digests(run: RunDirectory) -> tuple[str, ...]:
    """Digests of the items of a run's asks."""
    stated = read_manifest(run).get("sweep")
    asks = stated.get("ask", ()) if isinstance(stated, Mapping) else ()
    return tuple(sorted(str(one.get("items")) for one in asks))


def _drift_run_verdicts(run: RunDirectory) -> pl.DataFrame:
    """Verdicts of a run."""
    with reading(run.url):
        frame = scan_judgments(run, columns=COLUMNS).collect()
    return verdict_rows(frame.filter(pl.col("role").is_in(JUDGE_ROLES)))


def _drift_number_owner(asked: RefreshSweep, judge: str) -> Row:
    """Whose a number is."""
    return {"sweep": asked.name, "role": asked.role, "judge": judge, "group": ""}


def _of_same_judges(
    runs: Sequence[tuple[Refresh, RunDirectory]],
    earlier: Mapping[int, pl.DataFrame],
    judges: Sequence[str],
) -> tuple[Refresh, RunDirectory] | None:
    """The run before, if any judge of now was asked in it: others are compared with nobody."""
    for refresh, run in runs[-1:]:
        if earlier[refresh.number]["judge"].is_in(judges).any():
            return refresh, run
    return None


def _drift_of_agreement(
    sweep: str, run: RunDirectory, before: tuple[Refresh, RunDirectory] | None
) -> tuple[list[Row], list[str]]:
    """Agreement of a run, and its difference from that of the refresh before, with intervals.

    And what could not be had, a line each: it must not keep a refresh open that was asked and paid.
    """
    found: dict[tuple[str, str, str], Row] = {}
    try:
        with Snapshot.open(run.url) as judged:
            options = ReduceOptions(coefficients=tuple(AGREEMENT), missing=("category",))
            rows = reduce_judged(judged, options)
    except JudgeRelError as error:  # such as a run in which nothing landed
        return [], [f"{sweep}: agreement is unknown: {error.sentence}"]
    for one in rows.iter_rows(named=True):
        leads = one["conditions"] == "reproducibility"
        key = (one["judge"], _drift_coefficient_group(one), one["coefficient"])
        if key not in found or leads:
            found[key] = {name: one[name] for name in ("value", "low", "high")}
            found[key]["n_questions"] = one["n_items"]
    lacking = []
    if before is not None:
        earlier, other = before
        try:
            with Snapshot.open(other.url) as first, Snapshot.open(run.url) as second:
                compared, _ = compare_with_serving(
                    first, second, coefficients=COMPARED, serving=False
                )
        except JudgeRelError as error:  # such as questions of which none is the same
            compared = pl.DataFrame()
            lacking = [
                f"{sweep}: agreement is not compared with refresh {earlier.number}: "
                f"{error.sentence}"
            ]
        for one in compared.iter_rows(named=True):
            if one["missing"] == "category":
                row = found.setdefault(
                    (one["judge"], _drift_coefficient_group(one), one["coefficient"]), {}
                )
                row.setdefault("value", one["value_b"])
                row |= {"against": earlier.number, "difference": one["difference"],
                        "difference_low": one["low"], "difference_high": one["high"]}  # fmt: skip
    return [
        {"judge": judge, "group": group, "measure": name, **row}
        for (judge, group, name), row in found.items()
    ], lacking


def _drift_coefficient_group(row: Row) -> str:
    """What else than the judge a coefficient is of."""
    names = [name for name in DEFAULT_GROUPS if name != "judge" and row.get(name) is not None]
    return ", ".join(f"{name} {row[name]}" for name in names)


def _drift_judge_fingerprints(run: RunDirectory, folder: str, parts_of: Parts) -> dict[str, Row]:
    """What is behind each judge's name: its fingerprint's parts, its files, and what served it.

    Models are looked for from the folder of the sweep file, of which the run has a copy.
    """
    stated = read_manifest(run).get("sweep")
    content: Any = stated if isinstance(stated, Mapping) else {}
    sweep = parse_sweep(run.read_text("sweep.toml"), folder=folder)
    asks = {
        f"asks.{n}.{name}": value
        for n, one in enumerate(content.get("ask", ()))
        for name, value in one.items()
        if name not in _NOT_BEHIND
    }
    served: dict[str, dict[str, set[str]]] = {}
    readers: dict[str, set[str]] = {}
    manifest = read_manifest(run)
    for commit in read_ledger(run).commits:
        readers.setdefault(commit.judge, set()).add(reader_of(manifest, commit.engine))
        if "carried_from" in commit.engine:
            continue
        for name in SERVED:
            value = commit.engine.get(name)
            values = value if isinstance(value, list) else [value]
            facts = served.setdefault(commit.judge, {}).setdefault(name, set())
            facts.update(str(one) for one in values if one is not None)
    specs = {one.name: one for one in sweep.judge}
    found: dict[str, Row] = {}
    for judge, parts in content.get("judge", {}).items():
        local = parts_of(sweep, specs[judge]) if judge in specs else {}
        seen = {name: sorted(some) for name, some in served.get(judge, {}).items() if some}
        found[judge] = {
            **parts, **asks, "reader_version": sorted(readers.get(judge, {reader_of(manifest)})),
            "parts": local, "served": seen,
        }  # fmt: skip
    return found


def _drift_fingerprint_changes(
    sweep: str, earlier: Sequence[Mapping[str, Row]], judges: Mapping[str, Row]
) -> list[dict[str, str]]:
    """What changed behind judges' names since they were last asked."""
    found = []
    for judge, now in judges.items():
        seen = [one[judge] for one in earlier if judge in one]
        if seen:
            before = seen[-1] if now["served"] else {**seen[-1], "served": {}}
            found += [
                {"sweep": sweep, "judge": judge, "change": one} for one in changes(before, now)
            ]
    return found
