"""What a series shows of all its refreshes: ``history.parquet``, ``summary.json``, ``trend.html``.

All three follow from the results of refreshes, so they may be lost, and are written again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import polars as pl

from judgerel_ray.analyses.drift.show import series_blocks
from judgerel_ray.analyses.drift.tables import EVIDENCE, History
from judgerel_ray.asking.refresh.directory import MADE, Refresh, SeriesDirectory
from judgerel_ray.blocks.html import rendered_page
from judgerel_ray.config.series import Series
from judgerel_ray.reporting.refresh.measuring import MEASURED, anchor_ps
from judgerel_ray.stats.drift import drift_evidence
from judgerel_ray.store.parts import encode_parquet
from judgerel_ray.store.seals import is_whole, sealed

HISTORY, SUMMARY, TREND = MADE


def write_series(series: Series, directory: SeriesDirectory, refreshes: Sequence[Refresh]) -> None:
    """Write the history, the summary and the page of a series.

    Effects: replaces three files where they are not there as they were written. Retry: safe.
    """
    history, summary = history_of(series, refreshes), summary_of(series, refreshes)
    rows, text = encode_parquet(history), (json.dumps(summary, indent=1) + "\n").encode()
    there = directory.files.read_many(MADE)
    if (there.get(HISTORY), there.get(SUMMARY)) == (rows, text) and is_whole(there.get(TREND, b"")):
        return
    page = rendered_page(
        "reporting/page.html",
        script="reporting/tables.js.html",
        title=f"Series {series.name}",
        notice=[],
        blocks=series_blocks(summary, history),
        footer="",
    )
    directory.files.write(HISTORY, rows)
    directory.files.write(TREND, sealed(page.encode()))
    directory.files.write(SUMMARY, text)


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
    for (sweep, judge), tests in anchor_ps(refreshes, series.drift.since).items():
        ps = [p for _, p in tests]
        for n, (number, _) in enumerate(tests):
            evidence = drift_evidence(ps[: n + 1], level=series.drift.level)
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
    for (sweep, judge), tests in sorted(anchor_ps(refreshes, series.drift.since).items()):
        evidence = drift_evidence([p for _, p in tests], level=series.drift.level)
        since = None if evidence.since is None else tests[evidence.since][0]
        judges.append(
            {"sweep": sweep, "judge": judge, "p": tests[-1][1], "evidence": evidence.capital,
             "highest_evidence": evidence.highest, "alarm": evidence.is_alarm, "since": since,
             "refreshes": len(tests)}
        )  # fmt: skip
    measured = _measured(refreshes)
    newest: Mapping[str, Any] = (measured[-1].result or {}) if measured else {}
    return {
        "series": series.name,
        "level": series.drift.level,
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


def _measured(refreshes: Sequence[Refresh]) -> list[Refresh]:
    """Refreshes that were observed."""
    return [one for one in refreshes if one.state in MEASURED]
