"""``report`` and ``refresh``: one page of all analyses, and a series that is asked and measured.

Judges are asked in one wing and measured in the other, so the verb that does both stands here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from judgerel_ray.analyses.ratings.verb import RankRequest, scale_files
from judgerel_ray.asking.verb import ADDRESS, RAY, wanted_cluster
from judgerel_ray.blocks.blocks import Laid
from judgerel_ray.blocks.result import Result
from judgerel_ray.core.verb import FORCE, Labelled, flag, flag_of, verb

if TYPE_CHECKING:
    from judgerel_ray.asking.refreshing import State
    from judgerel_ray.counting.snapshot import JudgmentSource

_RANKS = {one.name: {"flag": flag_of(one)} for one in RankRequest.__dataclass_fields__.values()}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRequest(Labelled):
    """What ``report`` is asked for; of ratings in the words of ``rank``."""

    out: str | PathLike[str] = field(metadata=flag("where the page goes", "report.html"))
    force: bool = field(default=False, metadata=FORCE)
    mapping: str | None = field(default=None, metadata=_RANKS["mapping"])
    preset: str | None = field(default=None, metadata=_RANKS["preset"])
    pairing: str = field(default="all", metadata=_RANKS["pairing"])
    scale: Sequence[str | PathLike[str]] | str | PathLike[str] = field(
        default=(), metadata=_RANKS["scale"]
    )
    reference: str | PathLike[str] | None = field(
        default=None, metadata=flag("agreement of ratings with a judge, human, or a file", "WHO")
    )
    outside: str | PathLike[str] | None = field(default=None, metadata=_RANKS["outside"])
    labels: str | PathLike[str] | None = field(
        default=None,
        metadata=flag(
            "people's labels of some items, as correct reads them: the page then has scores "
            "without the judge's errors, and labels that are one an item are taken as right",
            "FILE",
        ),
    )


@verb(
    ReportRequest,
    examples=("report judgments.csv --out report.html", "report run --out run-report.html"),
    group="Decide",
    help="one self-contained page",
    prints="",
)
def report(path: JudgmentSource, request: ReportRequest) -> Result[str]:
    """Write one self-contained page on a run or on judgments one holds.

    Returns
    -------
    str
        Where the page is; of a run without any verdict, it says so.

    Raises
    ------
    SweepError, StoreError
        If the judgments or an option are wrong, or `out` must not be written.

    Examples
    --------
    >>> import tempfile
    >>> from judgerel_ray import example
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report(example("run"), out=f"{folder}/page.html").removeprefix(folder)
    '/page.html'
    """
    from judgerel_ray.analyses.ratings.from_run import rating_options
    from judgerel_ray.counting.files.labelled import READ, has_one_label_each
    from judgerel_ray.counting.snapshot import Snapshot, name_of
    from judgerel_ray.reporting.pages import build_page
    from judgerel_ray.store.outputs import output_to

    options = rating_options(
        reference=None if request.reference is None else fspath(request.reference),
        outside=None if request.outside is None else fspath(request.outside),
        mapping=request.mapping,
        preset=request.preset,
        pairing=request.pairing,
        scale=scale_files(request.scale),
    )
    labels = None if request.labels is None else fspath(request.labels)
    out = fspath(request.out)
    reads = (name_of(path), options.reference, options.outside, labels, *options.scale_files)
    output = output_to(out, "report", reads=reads, force=request.force)
    reading = request
    if labels is not None and not has_one_label_each(labels):
        reading = replace(request, labels=None)  # of several people, who may differ: no gold
    with Snapshot.open(path, reading, columns=["confidence", *READ], empty=True) as judged:
        page, absent = build_page(judged, options, labels=labels)
    output.write(page.encode())
    found = f"{out}: no verdicts. {absent}" if absent else out
    return Result(found=found, full=lambda: [Laid(f"wrote {found}")])


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshRequest:
    """What ``refresh`` is asked for."""

    address: str | None = field(default=None, metadata=ADDRESS)
    ray: bool = field(default=False, metadata=RAY)


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
    examples=("refresh series.toml", "refresh series.toml --json"),
    group="Ask",
    help="ask what is new of a series of sweeps, and watch its judges for drift",
    source="SERIES.toml",
    prints="json",
)
def refresh(series: str | PathLike[str], request: RefreshRequest) -> Result[Refreshed]:
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
        If no judge of a sweep could be asked; after the other sweeps were.

    Examples
    --------
    Its page takes seconds to draw:

    >>> import tempfile, pathlib
    >>> from judgerel_ray import example
    >>> items = example("items.jsonl")
    >>> anchors = f'''
    ... name = "anchors"
    ... judge = [{{ name = "j", engine = "simulated", model = "uniform", gpus = 0 }}]
    ... ask = [{{ protocol = "best_of", benchmark = "mine", path = "{items}", replications = 2 }}]
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
    from judgerel_ray.analyses.drift.from_run import measure_refresh
    from judgerel_ray.analyses.drift.standing import summary_of
    from judgerel_ray.asking.plan.specs import engine_spec
    from judgerel_ray.asking.refreshing import refresh_series
    from judgerel_ray.config.series import load_series
    from judgerel_ray.engines.model_files import model_parts
    from judgerel_ray.reporting.pages import write_series
    from judgerel_ray.store.series import SeriesDirectory

    loaded = load_series(fspath(series))
    measured = partial(
        measure_refresh, parts_of=lambda sweep, judge: model_parts(engine_spec(sweep, judge))
    )
    found = refresh_series(
        loaded,
        measure=measured,
        write=write_series,
        address=wanted_cluster(request.address, ray=request.ray),
    )
    if found.state == "held":
        return Result(found=Refreshed(state=found.state, line=found.line))
    summary = summary_of(loaded, SeriesDirectory(url=loaded.url).refreshes())
    ended = found.summaries.values()
    refreshed = Refreshed(
        state=found.state,
        line=found.line,
        alarm=summary["alarm"],
        summary=summary,
        refused=sum(one.refused.now for one in ended),
        problems={name: why for one in ended for name, why in one.problems.items()},
        mistakes=tuple(dict.fromkeys(name for one in ended for name in one.mistakes)),
    )
    return Result(found=refreshed)
