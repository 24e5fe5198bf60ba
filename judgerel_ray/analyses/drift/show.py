"""What a series shows: where each judge stands, what moved when, and its trend, as blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log10
from typing import Any

import polars as pl

from judgerel_ray.analyses.drift.causes import Cause
from judgerel_ray.analyses.drift.tables import EVIDENCE
from judgerel_ray.blocks.blocks import (
    Axis,
    Block,
    Figure,
    Figures,
    Lines,
    Mark,
    Paragraph,
    Section,
    Table,
    rounded,
    row_columns,
    texts,
)
from judgerel_ray.blocks.words import number

Row = Mapping[str, Any]
MOST_LINES = 12
"""Refreshes whose changes are listed, the newest."""
_FOLLOWED = ("krippendorff_alpha", "percent_agreement", "mean_score")
_LEAST_LOG = -1.0


def series_blocks(summary: Mapping[str, Any], history: pl.DataFrame) -> list[Block]:
    """Make the page of a series.

    Examples
    --------
    >>> series_blocks({"judges": [], "refreshes": [], "level": 0.05, "level_of_any": 0.0,
    ...                "warnings": []}, pl.DataFrame())[0].text
    'Nothing has been refreshed yet.'
    """
    if not summary["refreshes"]:
        return [Paragraph("Nothing has been refreshed yet.", "lead")]
    alarms = [one for one in summary["judges"] if one["alarm"]]
    lead = (
        "Drift: " + "; ".join(f"{one['judge']} since refresh {one['since']}" for one in alarms)
        if alarms
        else "No judge is called drifted."
    )
    warnings = list(summary["warnings"])
    level = f"level {summary['level']:g} a judge"
    if summary["level_of_any"] > summary["level"]:
        level += f", at most {summary['level_of_any']:g} for any of them"
    blocks: list[Block] = [Paragraph(f"{lead} ({level})", "lead")]
    blocks += [Lines(warnings, "cautions")] if warnings else []
    blocks.append(_judge_table(summary["judges"]))
    blocks.append(
        Paragraph(
            "Evidence is the capital of a bettor who starts with 1 and bets that the judge has "
            "changed, on its anchors only. For a judge that never changes it ever reaches "
            "1 / level with a chance of at most the level, however often one looks. Several sets "
            "of anchors of one judge share its level. Where all verdicts are alike, p is drawn at "
            "random and does not hint at a change.",
            "soft",
        )
    )
    blocks.append(Section("What moved", [Lines(_drift_event_table(summary["refreshes"]))]))
    figures = _drift_figures(history, summary)
    if figures:
        blocks.append(Section("Trend", [Figures(figures)]))
    return blocks


def summary_text(summary: Mapping[str, Any]) -> str:
    """What a terminal says after a refresh: alarms, causes, changes and warnings.

    Examples
    --------
    >>> summary_text({"judges": [{"judge": "j", "sweep": "a", "evidence": 0.9, "p": 0.4,
    ...     "is_drawn": False, "alarm": False, "since": None, "level": 0.05}],
    ...     "refreshes": [], "warnings": []})
    'j (a): p 0.400, evidence 0.900 of 20: no alarm'
    """
    lines = [
        f"{one['judge']} ({one['sweep']}): p {_drift_p_value_cell(one)}, evidence "
        f"{number(one['evidence'])} of {1 / one['level']:.3g}: "
        + (f"ALARM since refresh {one['since']}" if one["alarm"] else "no alarm")
        for one in summary["judges"]
    ]
    newest = summary["refreshes"][-1:] if summary["refreshes"] else []
    return "\n".join([*lines, *_drift_event_table(newest, ahead=""), *summary["warnings"]])


def _drift_p_value_cell(one: Row) -> str:
    """The p-value of the last refresh, marked where it is no more than a draw."""
    return number(one["p"]) + (" (drawn: all verdicts alike)" if one["is_drawn"] else "")


def _judge_table(judges: Sequence[Row]) -> Table:
    """Where each judge stands on its anchors."""
    return Table(
        "Judges on frozen anchors",
        [
            texts("judge", judges, lambda one: str(one["judge"])),
            texts("anchors", judges, lambda one: str(one["sweep"])),
            *row_columns(["p of the last"], [[_drift_p_value_cell(one)] for one in judges]),
            rounded("evidence", judges, "evidence"),
            texts("standing", judges, _drift_alarm_cell),
        ],
    )


def _drift_alarm_cell(one: Row) -> str:
    """Whether a judge has an alarm."""
    return "ALARM" if one["alarm"] else "no alarm"


def _drift_event_table(refreshes: Sequence[Row], ahead: str = "refresh ") -> list[str]:
    """Causes, and what changed behind names, newest first."""
    lines = []
    for one in reversed(refreshes[-MOST_LINES:]):
        place = f"{ahead}{one['refresh']}, {one['started_at'][:16]}: " if ahead else ""
        for cause in one["causes"]:
            words = Cause(cause["cause"]).words
            lines.append(f"{place}{cause['judge']} on {cause['sweep']}: {words}")
        lines += [
            f"{place}{change['judge']} ({change['sweep']}): {change['change']}"
            for change in one["changes"]
        ]
    return lines


def _drift_figures(history: pl.DataFrame, summary: Mapping[str, Any]) -> list[Figure]:
    """Evidence of each judge over refreshes, and the measures followed."""
    figures = []
    levels = {one["judge"]: float(one["level"]) for one in summary["judges"]}
    for (sweep, judge, group, measure), rows in history.group_by(
        "sweep", "judge", "group", "measure", maintain_order=True
    ):
        rows = rows.drop_nulls("value").sort("refresh")
        if rows.is_empty() or measure not in (EVIDENCE, *_FOLLOWED):
            continue
        drawn = rows.select(
            pl.col("refresh").cast(pl.Float64), "value",
            low=pl.coalesce("low", "value"), high=pl.coalesce("high", "value"),
            label=pl.format("refresh {}: {}", "refresh", pl.col("value").round(3)),
        )  # fmt: skip
        about = f"{judge}, {sweep}" + (f", {group}" if group else "")
        if measure == EVIDENCE:
            figures.append(
                _drift_evidence_chart(drawn, about, levels.get(str(judge), summary["level"]))
            )
        else:
            figures.append(_drift_measure_chart(drawn, str(measure), about))
    return figures


def _drift_evidence_chart(drawn: pl.DataFrame, about: str, level: float) -> Figure:
    """Evidence on a log scale, with the alarm's limit."""
    log = drawn.with_columns(pl.col("value").log10().clip(_LEAST_LOG))
    limit = log10(1 / level)
    top = max(limit + 0.2, float(log["value"].max() or 0))  # type: ignore[arg-type]
    return Figure(
        title=f"Evidence of drift: {about}",
        description="; ".join(log["label"]),
        caption=f"{about}: log10 of the evidence; the line is the alarm",
        x=_drift_refresh_axis(drawn),
        y=Axis(title="log10 evidence", start=_LEAST_LOG, end=top, values=[-1, 0, 1, round(top, 1)],
               grid=True),
        marks=[
            Mark(shape="rule", style="share", y="limit", data=pl.DataFrame({"limit": [limit]})),
            Mark(shape="line", style="line", data=log, x="refresh", y="value"),
            Mark(shape="point", style="point", data=log, x="refresh", y="value", label="label"),
        ],
    )  # fmt: skip


def _drift_measure_chart(drawn: pl.DataFrame, measure: str, about: str) -> Figure:
    """A measure with its intervals over refreshes."""
    least, most = float(drawn["low"].min() or 0), float(drawn["high"].max() or 0)  # type: ignore[arg-type]
    start, end = (min(0.0, least), max(1.0, most))
    return Figure(
        title=f"{measure.replace('_', ' ')}: {about}",
        description="; ".join(drawn["label"]),
        caption=f"{about}: {measure.replace('_', ' ')} with 95 % intervals",
        x=_drift_refresh_axis(drawn),
        y=Axis(title=measure.replace("_", " "), start=start, end=end,
               values=[start, (start + end) / 2, end], grid=True),
        marks=[
            Mark(shape="rule", style="interval", data=drawn, x="refresh", y="low", y2="high"),
            Mark(shape="line", style="join", data=drawn, x="refresh", y="value"),
            Mark(shape="point", style="point", data=drawn, x="refresh", y="value", label="label"),
        ],
    )  # fmt: skip


def _drift_refresh_axis(drawn: pl.DataFrame) -> Axis:
    """The axis of refreshes."""
    numbers = [int(one) for one in drawn["refresh"]]
    step = max(1, (numbers[-1] - numbers[0]) // 6)
    return Axis(title="refresh", start=numbers[0] - 0.5, end=numbers[-1] + 0.5,
                values=range(numbers[0], numbers[-1] + 1, step))  # fmt: skip
