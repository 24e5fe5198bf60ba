"""Where a series stands: alarms, history and summary, from what its refreshes found.

All of it follows from the results of refreshes, so its files may be lost, and are written again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from typing import Any, NamedTuple

import polars as pl

from judgerel_ray.analyses.drift.tables import EVIDENCE, AlarmHistory
from judgerel_ray.config.series import Series
from judgerel_ray.stats.drift import capital_path, first_alarm
from judgerel_ray.store.series import MEASURED, Refresh

Alarms = Mapping[tuple[str, str], tuple[int | None, list[float | None]]]
"""By anchors and judge: the refresh of the last alarm, None before any, and p-values since."""
_INFORMATIVE = {"p": "n_informative", "p_since_alarm": "n_informative_since_alarm"}


class RefreshLook(NamedTuple):
    """What one refresh found of a judge on one set of anchors.

    ``level`` is what an alarm of it may err with, None where it can raise none: without a p-value,
    and where all verdicts are alike, so that p is a draw. ``n_sets`` are the judge's sets of
    anchors that were known by then.
    """

    number: int
    p: float | None
    level: float | None
    n_sets: int


def looks_of(
    series: Series, refreshes: Sequence[Refresh], *, of: str = "p"
) -> dict[tuple[str, str], list[RefreshLook]]:
    """What all refreshes that count found, by anchors and judge.

    No p-value of the refresh from which on they count, to which later ones are held, but of those
    that were held to others. With ``of="p_since_alarm"`` they are held to refreshes since the last
    alarm. Each look has the level of its own time, shared by the sets of anchors known by then: a
    set that is added later makes no alarm undone that was raised before.

    Examples
    --------
    >>> series = Series(name="s", out="o", sweep=({"path": "a", "role": "anchor"},))
    >>> test = {"sweep": "a", "judge": "j", "p": 0.5}
    >>> found = [Refresh(number=n, started_at="", sweeps=(),
    ...                  result={"state": "done", "since": 1, "drift": [test]}) for n in (1, 2)]
    >>> [tuple(one) for one in looks_of(series, found)["a", "j"]]
    [(1, None, None, 1), (2, 0.5, 0.05, 1)]
    """
    since = series.drift.since
    found: dict[tuple[str, str], list[RefreshLook]] = {}
    sets: dict[str, set[str]] = {}
    for one in refreshes:
        if one.number < since or one.state not in MEASURED or one.result is None:
            continue
        counts = one.number > since and one.result["since"] == since
        for test in one.result["drift"]:
            sets.setdefault(test["judge"], set()).add(test["sweep"])
        for test in one.result["drift"]:
            n_sets = len(sets[test["judge"]])
            p = test.get(of) if counts else None
            # Where nothing is informative p was drawn at random.
            tells = p is not None and test.get(_INFORMATIVE[of]) != 0
            level = series.drift.level / n_sets if tells else None
            found.setdefault((test["sweep"], test["judge"]), []).append(
                RefreshLook(one.number, p, level, n_sets)
            )
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
    after = looks_of(series, refreshes, of="p_since_alarm")
    found: dict[tuple[str, str], tuple[int | None, list[float | None]]] = {}
    for place, looks in looks_of(series, refreshes).items():
        alarm: int | None = None
        start = 0
        while (at := _alarm_of(looks)) is not None:
            alarm, start = looks[at].number, start + at + 1
            looks = after[place][start:]
        found[place] = (alarm, [one.p for one in looks])
    return found


def _alarm_of(looks: Sequence[RefreshLook]) -> int | None:
    """Index of the look that raises the first alarm."""
    return first_alarm(capital_path(one.p for one in looks), (one.level for one in looks))


def levels_of(places: Collection[tuple[str, str]], level: float) -> dict[str, float]:
    """What each of a judge's sets of anchors may err with, by judge: together they have the level.

    That is of sets that are known from the start. One that is added later, as the m-th, errs with
    at most level / m, and those before it erred with a larger share until then: sets that are
    added one by one err together with at most (1 + 1/2 + ... + 1/m) times the level.

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
    for one in _drift_refreshes_observed(refreshes):
        rows += [
            {"refresh": one.number, "started_at": started[one.number], **row}
            for row in (one.result or {})["measures"]
        ]
    for (sweep, judge), looks in looks_of(series, refreshes).items():
        path = capital_path(one.p for one in looks)
        rows += [
            {"refresh": one.number, "started_at": started[one.number], "sweep": sweep,
             "role": "anchor", "judge": judge, "group": "", "measure": EVIDENCE, "value": capital}
            for one, capital in zip(looks, path, strict=True)
        ]  # fmt: skip
    frame = pl.DataFrame(
        [{name: row.get(name) for name in AlarmHistory.column_names()} for row in rows],
        schema=AlarmHistory.create_empty().schema,
        orient="row",
    )
    order = ["refresh", "sweep", "judge", "group", "measure"]
    return AlarmHistory.validate(frame.sort(order))


def summary_of(series: Series, refreshes: Sequence[Refresh]) -> dict[str, Any]:
    """Where a series stands, as plain content for programs.

    Examples
    --------
    >>> series = Series(name="s", out="o", sweep=({"path": "a", "role": "anchor"},))
    >>> summary_of(series, [])["alarm"]
    False
    """
    judges = []
    found = looks_of(series, refreshes)
    levels = levels_of(found, series.drift.level)
    asked = _judges_by_anchors(_drift_refreshes_observed(refreshes))
    for (sweep, judge), looks in sorted(found.items()):
        if asked is not None and judge not in asked.get(sweep, ()):
            continue  # of the series no more: nobody waits for an alarm of it
        path = list(capital_path(one.p for one in looks))
        at = _alarm_of(looks)
        judges.append(
            {"sweep": sweep, "judge": judge, "p": looks[-1].p, "evidence": path[-1],
             "is_drawn": looks[-1].p is not None and looks[-1].level is None,
             "level": levels[judge], "highest_evidence": max(path), "alarm": at is not None,
             "since": None if at is None else looks[at].number, "refreshes": len(looks)}
        )  # fmt: skip
    listed = {one["judge"] for one in judges}
    # Each set of anchors errs with its share of when it came.
    levels_in_all = sum(Fraction(1, looks[0].n_sets) for (_, judge), looks in found.items()
                        if judge in listed)  # fmt: skip
    measured = _drift_refreshes_observed(refreshes)
    newest: Mapping[str, Any] = (measured[-1].result or {}) if measured else {}
    return {
        "series": series.name,
        "level": series.drift.level,
        "level_of_any": min(1.0, float(levels_in_all) * series.drift.level),
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


def _judges_by_anchors(measured: Sequence[Refresh]) -> Mapping[str, Collection[str]] | None:
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


def _drift_refreshes_observed(refreshes: Sequence[Refresh]) -> list[Refresh]:
    """Refreshes that were observed."""
    return [one for one in refreshes if one.state in MEASURED]
