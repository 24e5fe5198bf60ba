"""``refresh``: a series of sweeps asked again on a schedule, and an alarm where a judge drifts.

The verb asks and then measures, so it stands above both wings: ``asking/refresh/`` asks,
``analyses/drift/`` measures, and what the series shows is written here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from judgerel_ray.core.verb import flag, verb

if TYPE_CHECKING:
    from judgerel_ray.asking.refresh.refreshing import State
    from judgerel_ray.config.series import Series
    from judgerel_ray.store.series import Refresh, SeriesDirectory


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshRequest:
    """What ``refresh`` is asked for."""

    address: str | None = field(
        default=None,
        metadata=flag("Ray cluster; default: one on this machine", "ADDRESS"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Refreshed:
    """What a trigger of a series did, and where the series stands.

    Attributes
    ----------
    state : str
        ``held``: another refresh holds the series; ``unchanged``: nothing was due; ``done``;
        ``partial``: closed with requests pending; ``pending``: unfinished, run again.
    line : str
        The same in a line.
    alarm : bool
        Whether a judge is called drifted; False where another refresh holds the series.
    summary : mapping
        As ``summary.json`` of the series holds it; empty where another refresh holds it.
    refused, problems, mistakes
        Of the runs asked now: requests that can never succeed, and judges that were given up.
    """

    state: State
    line: str
    alarm: bool = False
    summary: Mapping[str, Any] = field(default_factory=dict)
    refused: int = 0
    problems: Mapping[str, str] = field(default_factory=dict)
    mistakes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """As ``--json`` prints it."""
        return {"state": self.state, "line": self.line, "alarm": self.alarm, **self.summary}


@verb(
    RefreshRequest,
    group="Ask",
    help="ask what is new of a series of sweeps, and watch its judges for drift",
    source="SERIES.toml",
    prints="json",
)
def refresh(series: str | PathLike[str], asked: RefreshRequest) -> Refreshed:
    """Refresh a series: ask what no earlier refresh asked, and anchors anew on their schedule.

    Safe to trigger at any time, from many places at once, and after a kill.

    Parameters
    ----------
    series : str or path
        A series file.

    Returns
    -------
    Refreshed
        What was done, and where each judge stands on its anchors.

    Raises
    ------
    SweepError, StoreError
        If the series, a sweep or the folder is wrong.
    EngineError
        If no judge could be asked.

    Examples
    --------
    On a Ray of this machine, which takes a while to start:

    >>> import tempfile, pathlib
    >>> from judgerel_ray import example
    >>> anchors = f'''
    ... name = "anchors"
    ... [[judge]]
    ... name = "simulated"
    ... engine = "simulated"
    ... model = "uniform"
    ... gpus = 0
    ... [[ask]]
    ... protocol = "best_of"
    ... benchmark = "example"
    ... path = "{example("items.jsonl")}"
    ... replications = 2
    ... '''
    >>> nightly = '''
    ... name = "nightly"
    ... out = "nightly"
    ... sweep = [{ path = "anchors.toml", role = "anchor" }]
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:  # doctest: +SKIP
    ...     _ = pathlib.Path(folder, "anchors.toml").write_text(anchors)
    ...     series = pathlib.Path(folder, "nightly.toml")
    ...     _ = series.write_text(nightly)
    ...     refresh(series).line
    'refresh 1: done'
    """
    from functools import partial

    from judgerel_ray.analyses.drift.from_run import measure, summary_of
    from judgerel_ray.asking.plan.specs import engine_spec
    from judgerel_ray.asking.refresh.refreshing import refresh_series
    from judgerel_ray.config.series import load_series
    from judgerel_ray.engines.model_files import model_parts
    from judgerel_ray.store.series import SeriesDirectory

    loaded = load_series(fspath(series))
    measured = partial(
        measure, parts_of=lambda sweep, judge: model_parts(engine_spec(sweep, judge))
    )
    found = refresh_series(loaded, measure=measured, write=_write, address=asked.address)
    if found.state == "held":
        return Refreshed(state=found.state, line=found.line)
    summary = summary_of(loaded, SeriesDirectory(url=loaded.url).refreshes())
    ended = found.summaries.values()
    return Refreshed(
        state=found.state,
        line=found.line,
        alarm=summary["alarm"],
        summary=summary,
        refused=sum(one.refused.now for one in ended),
        problems={name: why for one in ended for name, why in one.problems.items()},
        mistakes=tuple(dict.fromkeys(name for one in ended for name in one.mistakes)),
    )


def _write(series: Series, directory: SeriesDirectory, refreshes: Sequence[Refresh]) -> None:
    """Write the history, the summary and the page of a series.

    Effects: replaces three files where they are not there as they were written. Retry: safe.
    """
    from judgerel_ray.analyses.drift.from_run import history_of, summary_of
    from judgerel_ray.analyses.drift.show import series_blocks
    from judgerel_ray.blocks.html import rendered_page
    from judgerel_ray.store.parts import encode_parquet
    from judgerel_ray.store.seals import is_whole, sealed
    from judgerel_ray.store.series import MADE

    history_name, summary_name, page_name = MADE
    history, summary = history_of(series, refreshes), summary_of(series, refreshes)
    rows, text = encode_parquet(history), (json.dumps(summary, indent=1) + "\n").encode()
    there = directory.files.read_many(MADE)
    is_there = (there.get(history_name), there.get(summary_name)) == (rows, text)
    if is_there and is_whole(there.get(page_name, b"")):
        return
    page = rendered_page(
        "reporting/page.html",
        script="reporting/tables.js.html",
        title=f"Series {series.name}",
        notice=[],
        blocks=series_blocks(summary, history),
        footer="",
    )
    directory.files.write(history_name, rows)
    directory.files.write(page_name, sealed(page.encode()))
    directory.files.write(summary_name, text)
