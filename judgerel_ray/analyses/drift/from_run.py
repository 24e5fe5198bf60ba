"""From the runs of a series to what one refresh found, and to where the series stands.

A refresh's result holds what :func:`measure` found. History and summary follow from these results,
so their files may be lost, and are written again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from itertools import chain
from typing import Any

import polars as pl

from judgerel_ray.analyses.comparison.from_run import compare_with_serving
from judgerel_ray.analyses.drift.compute import (
    COLUMNS,
    QUESTION,
    SERVED,
    WORDS,
    cause_of,
    changes,
    edited,
    fingerprint_of,
    judge_drift,
    near_constant,
    score_differences,
    spent,
    usual_verdicts,
    verdict_rows,
    what_changed,
    with_content,
)
from judgerel_ray.analyses.drift.tables import DRIFT_P, EVIDENCE, USUAL, Cause, History
from judgerel_ray.analyses.reliability.verb import reduce
from judgerel_ray.config import Judge, Sweep, parse_sweep
from judgerel_ray.config.series import Series
from judgerel_ray.core import JudgeRelError, StoreError, count_of
from judgerel_ray.core.types import JUDGE_ROLES
from judgerel_ray.counting.groups.grouping import DEFAULT_GROUPS
from judgerel_ray.protocols.registry import protocol_named
from judgerel_ray.stats.drift import drift_evidence
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
from judgerel_ray.store.series import MEASURED, AskedSweep, Refresh, SeriesDirectory

Row = dict[str, Any]
Parts = Callable[[Sweep, Judge], Mapping[str, str]]
"""From a judge of a sweep to the parts of its model on this machine, each with its digest."""
AGREEMENT = ("krippendorff_alpha", "percent_agreement")
COMPARED = (*AGREEMENT, "position_bias")
NAMED = 5
"""Questions that a line names."""
_NOT_BEHIND = ("judges", "n_items", "first_replication")
"""What of an ask is of no judge, of its items' digest, or of each refresh alone."""


def measure(
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
    moved: list[_Scores] = []
    alarms = since_alarms(series, counted)
    folders = {sweep.name: sweep.folder for sweep, _ in series.sweeps()}
    for asked in refresh.sweeps:
        run = directory.run(refresh, asked.name)
        if run is None:
            continue
        rows = _rows(run)
        # A system's runs hold rows of the runs before: for anchors they would count twice.
        alike = [one for one in counted if (asked.name, asked.role) in _roles(one)]
        all_runs = directory.runs(asked.name, alike)
        if asked.role == "anchor":
            comparable, lacking = _read_alike(asked.name, run, all_runs)
        else:
            comparable, lacking = all_runs, _read_otherwise(asked.name, run)
        found["warnings"] += lacking
        earlier, lacking = _earlier(asked, comparable)
        runs = [one for one in comparable if one[0].number in earlier]
        found["warnings"] += lacking
        judges = rows["judge"].unique().sort().to_list()
        usual = usual_verdicts(rows)
        found["warnings"] += near_constant(usual, series.drift.near_constant)
        found["measures"] += [
            {**_place(asked, one["judge"]), "measure": USUAL, "value": one["share"]}
            for one in usual
        ]
        agreement, lacking = _agreement(asked.name, run, _of_same_judges(runs, earlier, judges))
        found["measures"] += [{**_place(asked, one.pop("judge")), **one} for one in agreement]
        found["warnings"] += lacking
        behind = _behind(run, folders.get(asked.name, ""), parts_of)
        found["behind"].append({"sweep": asked.name, "judges": behind})
        behind_then = [_behind_at(directory, one, asked.name) for one in counted]
        found["changes"] += _changes(asked.name, behind_then, behind)
        if runs:
            last = runs[-1][0].number
            level = spent(series.drift.level, len(all_runs))
            scores = score_differences(earlier[last], rows, level=level)
            found["measures"] += [
                {**_place(asked, one["judge"]), **one, "against": last} for one in scores
            ]
            if asked.role == "system":
                then = _behind_at(directory, runs[-1][0], asked.name)
                moved += [
                    _Scores.of(asked.name, one, scores, then=then, now=behind) for one in judges
                ]
        elif asked.role == "system":
            moved += [_Scores(sweep=asked.name, judge=judge) for judge in judges]
        if asked.role == "anchor":
            name = f"{series.name} {asked.name} {refresh.number}"
            verdicts = _by_content(asked.name, earlier, rows, [*runs, (refresh, run)])
            found["warnings"] += verdicts.edited
            tests = _tests(asked.name, verdicts, alarms, name)
            found["drift"] += tests
            found["measures"] += [
                {**_place(asked, one["judge"]), "measure": DRIFT_P, "value": one["p"],
                 "n_questions": one["n_questions"]}
                for one in tests
            ]  # fmt: skip
    causes, notes = _causes(series, alarms, found, moved)
    found["causes"] = causes
    found["warnings"] += notes
    return {"since": series.drift.since, **found}


def anchor_ps(
    refreshes: Sequence[Refresh], since: int, *, of: str = "p"
) -> dict[tuple[str, str], list[tuple[int, float | None]]]:
    """The p-values of all refreshes that count, by anchors and judge, each with its refresh.

    None of the refresh from which on they count, to which later ones are held; and of those that
    were held to others. With ``of="p_since_alarm"`` those against refreshes since the last alarm.

    Examples
    --------
    >>> test = {"sweep": "a", "judge": "j", "p": 0.5}
    >>> found = [Refresh(number=n, started_at="", sweeps=(),
    ...                  result={"state": "done", "since": 1, "drift": [test]}) for n in (1, 2)]
    >>> anchor_ps(found, since=1)
    {('a', 'j'): [(1, None), (2, 0.5)]}
    """
    found: dict[tuple[str, str], list[tuple[int, float | None]]] = {}
    for one in refreshes:
        if one.number >= since and one.state in MEASURED and one.result is not None:
            for test in one.result["drift"]:
                place = (test["sweep"], test["judge"])
                counts = one.number > since and one.result["since"] == since
                found.setdefault(place, []).append((one.number, test.get(of) if counts else None))
    return found


def since_alarms(
    series: Series, refreshes: Sequence[Refresh]
) -> dict[tuple[str, str], tuple[int | None, list[float | None]]]:
    """The refresh of the last alarm, None where there was none, and the p-values since.

    An alarm stands until it is accepted; what a later refresh shows is what moved after it. So the
    bettor begins anew there, and with it the level, for causes alone.

    Examples
    --------
    >>> series = Series(name="s", out="o", sweep=({"path": "a", "role": "anchor"},))
    >>> tests = [{"p": None}, {"p": 1e-9}, {"p": 1e-9, "p_since_alarm": 0.5}]
    >>> found = [Refresh(number=n, started_at="", sweeps=(), result={"state": "done", "since": 1,
    ...                  "drift": [{"sweep": "a", "judge": "j", **test}]})
    ...          for n, test in enumerate(tests, 1)]
    >>> since_alarms(series, found)
    {('a', 'j'): (2, [0.5])}
    """
    ps = anchor_ps(refreshes, series.drift.since)
    after = anchor_ps(refreshes, series.drift.since, of="p_since_alarm")
    levels = levels_of(ps, series.drift.level)
    found = {}
    for place, tests in ps.items():
        alarm: int | None = None
        path: list[float | None] = []
        for (number, p), (_, p_after) in zip(tests, after[place], strict=True):
            path.append(p if alarm is None else p_after)
            if drift_evidence(path, level=levels[place[1]]).is_alarm:
                alarm, path = number, []
        found[place] = (alarm, path)
    return found


def levels_of(places: Collection[tuple[str, str]], level: float) -> dict[str, float]:
    """What each of a judge's sets of anchors may err with, by judge: together they have the level.

    Examples
    --------
    >>> levels_of([("a", "j"), ("b", "j"), ("a", "k")], 0.05)
    {'j': 0.025, 'k': 0.05}
    """
    n_sets = Counter(judge for _, judge in places)
    return {judge: level / n for judge, n in n_sets.items()}


def _roles(refresh: Refresh) -> set[tuple[str, str]]:
    """The sweeps of a refresh, each with what it was."""
    return {(asked.name, asked.role) for asked in refresh.sweeps}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scores:
    """What became of a judge's scores of a system since the refresh before, and why it may have.

    ``moved`` is None where no score has an interval; ``others`` names what changed of how the judge
    was asked.
    """

    sweep: str
    judge: str
    moved: bool | None = None
    answers_changed: bool = True
    others: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        sweep: str,
        judge: str,
        scores: Sequence[Row],
        *,
        then: Mapping[str, Row],
        now: Mapping[str, Row],
    ) -> _Scores:
        """Of a judge's scores, and of what was behind all names of the sweep at both times."""
        known = [
            one for one in scores if one["judge"] == judge and one["difference_low"] is not None
        ]
        away = any(one["difference_low"] > 0 or one["difference_high"] < 0 for one in known)
        moved = away if known else None
        if judge not in then or judge not in now:
            return cls(sweep=sweep, judge=judge, moved=moved)
        answers, others = what_changed(then[judge], now[judge])
        if len(now[judge].get("reader_version", ())) > 1 and WORDS["reader_version"] not in others:
            others.append(WORDS["reader_version"])
        writers = {
            name
            for key, names in now[judge].items()
            if key.startswith("asks.") and key.endswith(".responders")
            for name in names
            if name in now
        }
        # Who writes the answers is the system.
        answers |= any(
            name not in then or fingerprint_of(then[name]) != fingerprint_of(now[name])
            for name in writers
        )
        return cls(
            sweep=sweep, judge=judge, moved=moved, answers_changed=answers, others=tuple(others)
        )


def _causes(
    series: Series,
    alarms: Mapping[tuple[str, str], tuple[int | None, list[float | None]]],
    found: Mapping[str, Sequence[Row]],
    moved: Sequence[_Scores],
) -> tuple[list[Row], list[str]]:
    """What moved, for each judge of each system; of judges of anchors alone for these.

    And what makes anchors or scores tell less, a line each.
    """
    drift = found["drift"]
    p_of: dict[str, dict[str, list[float | None]]] = {}
    for one in drift:
        alarm, earlier = alarms.get((one["sweep"], one["judge"]), (None, []))
        now = one["p"] if alarm is None else one["p_since_alarm"]
        p_of.setdefault(one["judge"], {})[one["sweep"]] = [*earlier, now]
    levels = levels_of({*alarms, *((one["sweep"], one["judge"]) for one in drift)},
                       series.drift.level)  # fmt: skip
    behind = {one["sweep"]: one["judges"] for one in found["behind"]}
    alone = [
        _Scores(sweep=one["sweep"], judge=one["judge"], moved=False)
        for one in drift
        if all(score.judge != one["judge"] for score in moved)
    ]
    causes: list[Row] = []
    notes: list[str] = []
    for score in chain(moved, alone):
        place = {"sweep": score.sweep, "judge": score.judge}
        by_anchors = p_of.get(score.judge, {})
        paths = []
        for anchors, path in by_anchors.items():
            others = _otherwise(
                behind[anchors].get(score.judge), behind[score.sweep].get(score.judge)
            )
            if others:
                notes.append(
                    f"judge {score.judge} of {score.sweep} is another than that of {anchors} "
                    f"({', '.join(others)}): these anchors tell nothing of it"
                )
            else:
                paths.append(path)
        # Of several sets of anchors the one that says most.
        paths.sort(key=lambda path: [p if p is not None else 2 for p in path[-1:]])
        found_by = [
            cause_of(
                path,
                level=levels.get(score.judge, series.drift.level),
                scores_moved=score.moved,
                answers_changed=score.answers_changed,
                asked_otherwise=bool(score.others),
            )
            for path in paths or [[]]
        ]
        of_judge = [one for one in found_by if one in (Cause.JUDGE, Cause.BOTH)]
        cause = (of_judge or found_by)[0]
        causes.append({**place, "cause": cause.value})
        if cause is Cause.UNDECIDED and score.moved and score.answers_changed and score.others:
            notes.append(
                f"judge {score.judge} of {score.sweep}: its answers and how it was asked "
                f"({', '.join(score.others)}) changed at once, so its scores tell neither"
            )
    return causes, notes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Verdicts:
    """Verdicts on anchors with what their questions say: earlier ones by refresh, and new ones.

    ``edited`` says which questions say other things than before, in a line.
    """

    old: pl.DataFrame
    new: pl.DataFrame
    edited: tuple[str, ...] = ()


def _tests(
    sweep: str,
    verdicts: _Verdicts,
    alarms: Mapping[tuple[str, str], tuple[int | None, list[float | None]]],
    name: str,
) -> list[Row]:
    """The p-value of each judge of anchors, and of one with an alarm that against those since."""
    tests = judge_drift(verdicts.old, verdicts.new, name=name)
    for one in tests:
        one["sweep"], one["p_since_alarm"] = sweep, None
        alarm, _ = alarms.get((sweep, one["judge"]), (None, []))
        if alarm is not None:
            of_judge = pl.col("judge") == one["judge"]
            since = verdicts.old.filter(of_judge, pl.col("refresh") >= alarm)
            new = verdicts.new.filter(of_judge)
            (test,) = judge_drift(since, new, name=f"{name} since {alarm}")
            one["p_since_alarm"] = test["p"]
    return tests


def _otherwise(one: Row | None, other: Row | None) -> list[str]:
    """What of two judges of one name differs; nothing where either is unknown."""
    if one is None or other is None:
        return []
    return what_changed(fingerprint_of(one), fingerprint_of(other))[1]


def _behind_at(directory: SeriesDirectory, refresh: Refresh, sweep: str) -> Mapping[str, Row]:
    """What was behind the judges' names of a sweep at an earlier refresh."""
    for one in (refresh.result or {}).get("behind", ()):
        if one["sweep"] == sweep:
            judges: Mapping[str, Row] = one["judges"]
            known = all("reader_version" in row for row in judges.values())
            run = None if known else directory.run(refresh, sweep)
            if run is None:
                return judges
            # Versions before this wrote no reader down: the run's own manifest has it.
            reader = {"reader_version": [reader_of(read_manifest(run))]}
            return {name: {**reader, **row} for name, row in judges.items()}
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
    own, n_rows = reader_of(manifest), Counter[str]()
    commits = read_ledger(run).commits
    for commit in commits:
        n_rows[reader_of(manifest, commit.engine)] += commit.rows
    others = sorted(n_rows.keys() - {own})
    if not others:
        return []
    n_others = sum(n_rows[one] for one in others)
    return [
        f"{sweep}: {n_others:,} of {n_rows.total():,} rows were carried as reader "
        f"{' or '.join(others)} read them, and the others are read by {own}; "
        f"judgerel rejudge {run.url} reads all by one"
    ]


def _earlier(
    asked: AskedSweep, runs: Sequence[tuple[Refresh, RunDirectory]]
) -> tuple[dict[int, pl.DataFrame], list[str]]:
    """Verdicts that a run is compared with, by refresh, and what could not be read of them.

    Of anchors they are those of every run: an alarm over fewer would not keep its level, so a
    damaged one is refused. Of a system they are those of the last, which holds all rows before it.
    """
    if asked.role == "anchor":
        return {refresh.number: _rows(run) for refresh, run in runs}, []
    last = runs[-1:]
    try:
        for _, run in last:
            scan_judgments(run, columns=CHEAP_COLUMNS)  # all that any comparison reads
        return {refresh.number: _rows(run) for refresh, run in last}, []
    except StoreError as error:
        number = last[0][0].number
        return {}, [f"nothing is compared with refresh {number}: {error.sentence}"]


def _by_content(
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
                items = pl.read_parquet(BytesIO(run.read_bytes("items.parquet")))
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


def _rows(run: RunDirectory) -> pl.DataFrame:
    """Verdicts of a run."""
    with reading(run.url):
        frame = scan_judgments(run, columns=COLUMNS).collect()
    return verdict_rows(frame.filter(pl.col("role").is_in(JUDGE_ROLES)))


def _place(asked: AskedSweep, judge: str) -> Row:
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


def _agreement(
    sweep: str, run: RunDirectory, before: tuple[Refresh, RunDirectory] | None
) -> tuple[list[Row], list[str]]:
    """Agreement of a run, and its difference from that of the refresh before, with intervals.

    And what could not be had, a line each: it must not keep a refresh open that was asked and paid.
    """
    found: dict[tuple[str, str, str], Row] = {}
    try:
        rows = reduce(run.url, coefficients=AGREEMENT, missing="category")
    except JudgeRelError as error:  # such as a run in which nothing landed
        return [], [f"{sweep}: agreement is unknown: {error.sentence}"]
    for one in rows.iter_rows(named=True):
        leads = one["conditions"] == "reproducibility"
        key = (one["judge"], _group(one), one["coefficient"])
        if key not in found or leads:
            found[key] = {name: one[name] for name in ("value", "low", "high")}
            found[key]["n_questions"] = one["n_items"]
    lacking = []
    if before is not None:
        earlier, other = before
        try:
            compared, _ = compare_with_serving(
                other.url, run.url, coefficients=COMPARED, serving=False
            )
        except JudgeRelError as error:  # such as questions of which none is the same
            compared = pl.DataFrame()
            lacking = [
                f"{sweep}: agreement is not compared with refresh {earlier.number}: "
                f"{error.sentence}"
            ]
        for one in compared.iter_rows(named=True):
            if one["missing"] == "category":
                row = found.setdefault((one["judge"], _group(one), one["coefficient"]), {})
                row.setdefault("value", one["value_b"])
                row |= {"against": earlier.number, "difference": one["difference"],
                        "difference_low": one["low"], "difference_high": one["high"]}  # fmt: skip
    return [
        {"judge": judge, "group": group, "measure": name, **row}
        for (judge, group, name), row in found.items()
    ], lacking


def _group(row: Row) -> str:
    """What else than the judge a coefficient is of."""
    names = [name for name in DEFAULT_GROUPS if name != "judge" and row.get(name) is not None]
    return ", ".join(f"{name} {row[name]}" for name in names)


def _behind(run: RunDirectory, folder: str, parts_of: Parts) -> dict[str, Row]:
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


def _changes(
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


def history_of(series: Series, refreshes: Sequence[Refresh]) -> pl.DataFrame:
    """All measures of all refreshes, and the evidence of drift at each.

    Examples
    --------
    >>> series = Series(name="s", out="o", sweep=({"path": "a", "role": "anchor"},))
    >>> history_of(series, []).height
    0
    """
    rows: list[dict[str, Any]] = []
    started = {one.number: datetime.fromisoformat(one.started_at) for one in refreshes}
    for one in _measured(refreshes):
        rows += [
            {"refresh": one.number, "started_at": started[one.number], **row}
            for row in (one.result or {})["measures"]
        ]
    found = anchor_ps(refreshes, series.drift.since)
    levels = levels_of(found, series.drift.level)
    for (sweep, judge), tests in found.items():
        ps = [p for _, p in tests]
        for n, (number, _) in enumerate(tests):
            evidence = drift_evidence(ps[: n + 1], level=levels[judge])
            rows.append(
                {"refresh": number, "started_at": started[number], "sweep": sweep,
                 "role": "anchor", "judge": judge, "group": "", "measure": EVIDENCE,
                 "value": evidence.capital}
            )  # fmt: skip
    frame = pl.DataFrame(
        [{name: row.get(name) for name in History.column_names()} for row in rows],
        schema=History.create_empty().schema,
        orient="row",
    )
    order = ["refresh", "sweep", "judge", "group", "measure"]
    return History.validate(frame.sort(order))


def summary_of(series: Series, refreshes: Sequence[Refresh]) -> dict[str, Any]:
    """Where a series stands, as plain content for programs.

    Examples
    --------
    >>> series = Series(name="s", out="o", sweep=({"path": "a", "role": "anchor"},))
    >>> summary_of(series, [])["alarm"]
    False
    """
    judges = []
    found = anchor_ps(refreshes, series.drift.since)
    levels = levels_of(found, series.drift.level)
    asked = _asked_of(_measured(refreshes))
    for (sweep, judge), tests in sorted(found.items()):
        if asked is not None and judge not in asked.get(sweep, ()):
            continue  # of the series no more: nobody waits for an alarm of it
        evidence = drift_evidence([p for _, p in tests], level=levels[judge])
        since = None if evidence.since is None else tests[evidence.since][0]
        judges.append(
            {"sweep": sweep, "judge": judge, "p": tests[-1][1], "evidence": evidence.capital,
             "level": levels[judge], "highest_evidence": evidence.highest,
             "alarm": evidence.is_alarm, "since": since, "refreshes": len(tests)}
        )  # fmt: skip
    measured = _measured(refreshes)
    newest: Mapping[str, Any] = (measured[-1].result or {}) if measured else {}
    return {
        "series": series.name,
        "level": series.drift.level,
        "level_of_any": min(1.0, len({one["judge"] for one in judges}) * series.drift.level),
        "since": series.drift.since,
        "alarm": any(one["alarm"] for one in judges),
        "judges": judges,
        "warnings": list(newest.get("warnings", ())),
        "refreshes": [
            {"refresh": one.number, "started_at": one.started_at, "state": one.state,
             "sweeps": [asked.name for asked in one.sweeps],
             "pending": (one.result or {}).get("pending"),
             "causes": (one.result or {}).get("causes", []),
             "changes": (one.result or {}).get("changes", [])}
            for one in refreshes
        ],
    }  # fmt: skip


def _asked_of(measured: Sequence[Refresh]) -> Mapping[str, Collection[str]] | None:
    """The judges of each set of anchors, as the newest refresh asks it; None where unknown.

    Of a set of which it landed nothing those of the refresh before.
    """
    if not measured:
        return None
    anchors = {one.name for one in measured[-1].sweeps if one.role == "anchor"}
    return {
        behind["sweep"]: list(behind["judges"])
        for one in measured
        for behind in (one.result or {}).get("behind", ())
        if behind["sweep"] in anchors
    } or None


def _measured(refreshes: Sequence[Refresh]) -> list[Refresh]:
    """Refreshes that were observed."""
    return [one for one in refreshes if one.state in MEASURED]
