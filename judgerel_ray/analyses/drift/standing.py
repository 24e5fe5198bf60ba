"""Where a series stands: alarms, history and summary, from what its refreshes found.

All of it follows from the results of refreshes, so its files may be lost, and are written again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

import polars as pl

from judgerel_ray.analyses.drift.tables import EVIDENCE, History
from judgerel_ray.config.series import Series
from judgerel_ray.stats.drift import drift_evidence
from judgerel_ray.store.series import MEASURED, Refresh

Alarms = Mapping[tuple[str, str], tuple[int | None, list[float | None]]]
"""By anchors and judge: the refresh of the last alarm, None before any, and p-values since."""


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


def since_alarms(series: Series, refreshes: Sequence[Refresh]) -> Alarms:
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
