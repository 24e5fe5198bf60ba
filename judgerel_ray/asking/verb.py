"""``plan``, ``run``, ``exact``, ``status``, ``verify``: ask judges, and see how that stands.

``rejudge``, ``replay``: what landed read again, and asked again.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import TYPE_CHECKING, get_args

from judgerel_ray.asking.small_runs import MOST_REQUESTS
from judgerel_ray.blocks.result import Result
from judgerel_ray.core import ProviderName
from judgerel_ray.core.verb import check_choices, flag, verb

if TYPE_CHECKING:
    import polars as pl

    from judgerel_ray.asking.plan.planning import Plan
    from judgerel_ray.asking.run.rejudging import Rejudged, Replayed
    from judgerel_ray.config import Sweep
    from judgerel_ray.store import Finding
    from judgerel_ray.store.status import RunStatus


def load_sweep(path: str | PathLike[str]) -> Sweep:
    """Read and check a sweep file.

    Parameters
    ----------
    path : str or path
        A TOML file.

    Returns
    -------
    Sweep
        Frozen, every default filled in.

    Raises
    ------
    SweepError
        If it is missing or wrong; one line that names the key.

    Examples
    --------
    >>> from judgerel_ray import example
    >>> [judge.name for judge in load_sweep(example("sweep.toml")).judge]
    ['simulated-steady', 'simulated-erratic']
    """
    from judgerel_ray.config import read_sweep as load

    return load(fspath(path))


def _sweep_to_run(sweep: Sweep | str | PathLike[str]) -> Sweep:
    """A sweep that may be the path of one."""
    return load_sweep(sweep) if isinstance(sweep, str | PathLike) else sweep


@dataclass(frozen=True, slots=True, kw_only=True)
class NoRequest:
    """What a verb without options is asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InitRequest:
    """What ``init`` is asked for."""

    out: str | PathLike[str] = field(
        default="sweep.toml", metadata=flag("where the sweep goes", "SWEEP.toml")
    )
    provider: str = field(
        default="openai",
        metadata=flag("who serves the judge", choices=get_args(ProviderName)),
    )
    model: str | None = field(
        default=None,
        metadata=flag("its name there; of openai gpt-4o-mini where none is named", "NAME"),
    )
    force: bool = field(
        default=False, metadata=flag("replace the file of --out that is there with other content")
    )

    def __post_init__(self) -> None:
        check_choices(self)


@verb(
    InitRequest,
    examples=(
        "init items.jsonl --out first.toml",
        "init items.jsonl --provider ollama --model llama3.2 --out local.toml",
    ),
    group="Ask",
    help="a first sweep for a file of items, with comments",
    source="FILE",
    prints="",
)
def init(path: str | PathLike[str], request: InitRequest) -> Result[Plan]:
    """Write a first sweep for a file of items, with what it costs and what its keys mean.

    Items with several answers are asked which is best, in both orders; items with one and a
    reference whether they agree; others are rated. Nothing is asked.

    Parameters
    ----------
    path : str or path
        A table of items, or of questions and answers: CSV, TSV, JSON Lines, JSON or Parquet.

    Returns
    -------
    Plan
        The plan of the sweep that was written, as of :func:`plan`.

    Raises
    ------
    SweepError
        If the items cannot be read, hold no answer to judge, or `out` must not be written.

    Examples
    --------
    >>> import tempfile
    >>> from judgerel_ray import example, plan
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = init(example("items.jsonl"), out=f"{folder}/sweep.toml")
    ...     plan(f"{folder}/sweep.toml").requests == written.requests == 8 * 2 * 5
    True
    """
    from judgerel_ray.asking.plan.first_sweep import first_sweep
    from judgerel_ray.store.outputs import output_to

    source, out = fspath(path), fspath(request.out)
    output = output_to(out, "sweep", reads=[source], force=request.force)
    text, summary, found = first_sweep(
        source, out=out, provider=request.provider, model=request.model
    )
    output.write(text.encode())
    return Result(found=found, title=f"wrote {out}, {summary}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """What ``plan`` is asked for."""

    cluster: str | PathLike[str] | None = field(
        default=None,
        metadata=flag(
            "recipe of a cluster: which nodes hold each judge; refused where none do", "FILE"
        ),
    )


ADDRESS = flag("Ray cluster to join; default: one on this machine, where needed", "ADDRESS")
RAY = flag(
    f"use Ray also for up to {MOST_REQUESTS:,} requests to judges behind an API or simulated ones, "
    "which else need no Ray"
)


def wanted_cluster(address: str | None, *, ray: bool) -> str | None:
    """Address of the cluster that is asked for; None leaves it to the run."""
    if address is None and ray:
        return os.environ.get("RAY_ADDRESS") or "local"
    return address


@dataclass(frozen=True, slots=True, kw_only=True)
class ExactRequest:
    """What ``exact`` is asked for."""

    out: str | PathLike[str] = field(metadata=flag("run directory or fsspec URL", "RUN"))
    address: str | None = field(default=None, metadata=ADDRESS)
    ray: bool = field(default=False, metadata=RAY)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest(ExactRequest):
    """What ``run`` is asked for."""

    ask_lost: bool = field(
        default=False,
        metadata=flag(
            "ask lost requests again, however many they are, and judgments whose texts are lost"
        ),
    )
    unreadable_ok: bool = field(
        default=False,
        metadata=flag("ask on where too few of a judge's replies hold a verdict that can be read"),
    )


@verb(
    PlanRequest,
    examples=("plan sweep.toml", "plan sweep.toml --full"),
    group="Ask",
    help="what a sweep asks and costs; asks nothing",
    source="SWEEP.toml",
    prints="plan",
)
def plan(sweep: Sweep | str | PathLike[str], request: PlanRequest) -> Result[Plan]:
    """Tell what a sweep asks of whom, and what that costs; asks nothing.

    Parameters
    ----------
    sweep : Sweep, str or path
        From :func:`load_sweep`, or the path of a sweep file.

    Returns
    -------
    Plan
        Counts per judge and stage, tokens, GPU-hours, disk; ``as_json()`` is what is printed.

    Raises
    ------
    SweepError
        If the sweep, or a file it names, is wrong, or the cluster cannot hold one of its judges.

    Examples
    --------
    >>> from judgerel_ray import example
    >>> plan(example("sweep.toml")).as_json()["requests"]
    184
    """
    from judgerel_ray.asking.plan.planning import plan_resolved
    from judgerel_ray.asking.plan.recipes import nodes_of_judges
    from judgerel_ray.asking.plan.resolve import resolve

    resolved = resolve(_sweep_to_run(sweep))
    if request.cluster is None:
        return Result(found=plan_resolved(resolved))
    nodes = nodes_of_judges(resolved.specs.values(), fspath(request.cluster))
    return Result(found=plan_resolved(resolved, nodes))


@verb(
    RunRequest,
    examples=("run sweep.toml --out my-run", "run sweep.toml --out my-run --unreadable-ok"),
    group="Ask",
    help="run a sweep, or go on with it",
    source="SWEEP.toml",
    prints="",
)
def run(sweep: Sweep | str | PathLike[str], request: RunRequest) -> Result[pl.DataFrame]:
    """Run a sweep into a run directory, or go on with it.

    Parameters
    ----------
    sweep : Sweep, str or path
        As of :func:`plan`.

    Returns
    -------
    pl.DataFrame
        The judgments table: one row for every request that landed.

    Raises
    ------
    SweepError, StoreError
        If the sweep or the directory is wrong.
    EngineError
        If no judge could be asked.

    Warns
    -----
    UnfinishedRunWarning
        If requests are pending, or a judge was stopped as too few of its replies can be read; it
        has ``owed``, ``problems`` and ``stops``, the frame what landed.

    Examples
    --------
    >>> import tempfile
    >>> from judgerel_ray import example
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run(example("sweep.toml"), out=f"{folder}/run").height
    184
    """
    loaded = _sweep_to_run(sweep)
    from judgerel_ray.asking.run.running import judgments_of

    landed = judgments_of(
        loaded,
        str(request.out),
        address=wanted_cluster(request.address, ray=request.ray),
        ask_lost=request.ask_lost,
        unreadable_ok=request.unreadable_ok,
    )
    return Result(found=landed)


@verb(
    ExactRequest,
    examples=(
        "exact anchors.toml --out my-exact",
        "exact anchors.toml --out my-exact --address local",
    ),
    group="Ask",
    help="distributions of verdicts from log-probabilities",
    source="SWEEP.toml",
    prints="",
)
def exact(sweep: Sweep | str | PathLike[str], request: ExactRequest) -> Result[pl.DataFrame]:
    """Find the verdict distributions of a sweep, or go on with it.

    What they say of infinitely many replications, :func:`judgerel_ray.distributions` tells.

    Parameters
    ----------
    sweep : Sweep, str or path
        As of :func:`plan`, with an ask whose verdicts have a distribution.

    Returns
    -------
    pl.DataFrame
        The judgments table, as of :func:`run`.

    Raises
    ------
    SweepError, StoreError
        If the sweep or the directory is wrong, or no ask has a distribution to find.
    EngineError
        If no judge could be asked.

    Warns
    -----
    UnfinishedRunWarning
        As of :func:`run`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from judgerel_ray import example
    >>> text = f'''
    ... name = "exact"
    ... judge = [{{ name = "j", engine = "simulated", model = "uniform", gpus = 0 }}]
    ... [[ask]]
    ... protocol = "best_of"
    ... benchmark = "b"
    ... path = "{example("items.jsonl")}"
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "sweep.toml")
    ...     _ = file.write_text(text)
    ...     exact(file, out=f"{folder}/run").height
    8
    """
    loaded = _sweep_to_run(sweep)
    from judgerel_ray.asking.run.running import judgments_of
    from judgerel_ray.config import as_exact

    landed = judgments_of(
        as_exact(loaded), str(request.out), address=wanted_cluster(request.address, ray=request.ray)
    )
    return Result(found=landed)


@verb(
    NoRequest,
    examples=("status run", "status run --json"),
    group="Ask",
    help="how a run stands, also while it goes on",
    source="RUN",
    prints="json",
)
def status(out: str | PathLike[str], request: NoRequest) -> Result[RunStatus]:  # noqa: ARG001
    """Tell how a run directory stands, also while the run goes on.

    Parameters
    ----------
    out : str or path
        A run directory.

    Returns
    -------
    RunStatus
        What was asked, landed and is pending, outcomes, tokens, failures; ``as_json()`` is what is
        printed.

    Raises
    ------
    StoreError
        If there is no run directory, or a file of it cannot be read.

    Examples
    --------
    >>> from judgerel_ray import example
    >>> found = status(example("run"))
    >>> found.state, [(judge.judge, judge.landed, judge.owed) for judge in found.judges]
    ('done', [('simulated-steady', 96, 0), ('simulated-erratic', 88, 0)])
    """
    from judgerel_ray.store.status import read_status

    return Result(found=read_status(fspath(out)))


@verb(
    NoRequest,
    examples=("verify run", "verify run && judgerel status run"),
    group="Ask",
    help="check a run directory end to end",
    source="RUN",
    prints="",
)
def verify(out: str | PathLike[str], request: NoRequest) -> Result[list[Finding]]:  # noqa: ARG001
    """Check a run directory end to end: every committed file is read.

    Parameters
    ----------
    out : str or path
        The run directory to check.

    Returns
    -------
    list of Finding
        ``level`` ("error", or "note", which is harmless), ``kind``, ``name`` and ``message``;
        empty if all is well.

    Raises
    ------
    StoreError
        If the directory cannot be read at all.

    Examples
    --------
    >>> from judgerel_ray import example
    >>> verify(example("run"))
    []
    """
    from judgerel_ray.store import RunDirectory, verify_run

    return Result(found=verify_run(RunDirectory.open(fspath(out))))


SWEEP = flag("the sweep file as it was run; default: the run's copy of it", "SWEEP.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class RejudgeRequest:
    """What ``rejudge`` is asked for."""

    sweep: str | PathLike[str] | None = field(default=None, metadata=SWEEP)


@verb(
    RejudgeRequest,
    examples=("rejudge run", "rejudge run --sweep sweep.toml"),
    group="Ask",
    help="read the texts of a run again; asks nothing",
    source="RUN",
    prints="",
)
def rejudge(out: str | PathLike[str], request: RejudgeRequest) -> Result[Rejudged]:
    """Read the texts of a run again into a new generation of judgments; nothing is asked.

    Whatever reads the run from then on has the newest generation; what landed, and older
    generations, stay. The manifest names the reader and its version.

    Parameters
    ----------
    out : str or path
        Of the run whose texts are read.

    Returns
    -------
    Rejudged
        ``generation``, and by judge ``rows`` and ``changed``: judgments, and those that are read
        otherwise than when they landed.

    Raises
    ------
    StoreError, SweepError
        If something writes there, a file that landed is damaged, or the sweep is not the run's.

    Examples
    --------
    >>> import shutil, tempfile
    >>> from judgerel_ray import example
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     copy = shutil.copytree(example("run"), f"{folder}/run")
    ...     found = rejudge(copy, sweep=example("sweep.toml"))
    >>> found.generation.number, found.rows, found.changed["simulated-steady"]
    (1, {'simulated-erratic': 88, 'simulated-steady': 96}, 0)
    """
    from judgerel_ray.asking.run.rejudging import rejudge_run

    sweep = None if request.sweep is None else fspath(request.sweep)
    return Result(found=rejudge_run(fspath(out), sweep=sweep))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayRequest:
    """What ``replay`` is asked for."""

    key: str | None = field(
        default=None, kw_only=False, metadata=flag("of a landed request", "KEY")
    )
    all: int | None = field(
        default=None, metadata=flag("draw so many of all landed requests", "SAMPLE")
    )
    seed: int = field(default=0, metadata=flag("of the draw", "S"))
    sweep: str | PathLike[str] | None = field(default=None, metadata=SWEEP)


@verb(
    ReplayRequest,
    examples=("replay run --all 20", "replay run --all 20 --seed 1 --json"),
    group="Ask",
    help="ask landed requests again, each alone, and compare",
    source="RUN",
    prints="json",
)
def replay(out: str | PathLike[str], request: ReplayRequest) -> Result[Replayed]:
    """Ask landed requests again, each alone on an engine of this process, and compare.

    What differs differs by serving: prompt, parameters and seed are those that landed.

    Parameters
    ----------
    out : str or path
        Of the run that asked them.

    Returns
    -------
    Replayed
        ``rows``, one a request; ``n``, ``n_differing``, ``share`` and, of a draw, its
        Clopper-Pearson interval ``low``, ``high``.

    Raises
    ------
    StoreError, SweepError
        As of :func:`rejudge`; or if the key has no reply, or a judge is another one here.
    EngineError
        If an engine does not come up, or does not answer.

    Examples
    --------
    >>> from judgerel_ray import example
    >>> found = replay(example("run"), all=20, sweep=example("sweep.toml"))
    >>> found.n, found.n_differing, round(found.high, 3)
    (20, 0, 0.168)
    """
    from judgerel_ray.asking.run.rejudging import replay_run

    sweep = None if request.sweep is None else fspath(request.sweep)
    found = replay_run(
        fspath(out), key=request.key, sample=request.all, seed=request.seed, sweep=sweep
    )
    return Result(found=found)
