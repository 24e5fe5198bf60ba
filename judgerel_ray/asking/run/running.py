"""Run a sweep, or go on with it: ask what is pending, wave by wave, and land it.

A shell learns from the exit code how a run ended; a Python program is warned of pending requests.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec

import polars as pl
from rich.console import Console

from judgerel_ray.asking.plan.planning import Plan, plan_resolved
from judgerel_ray.asking.plan.resolve import Resolved, resolve
from judgerel_ray.asking.run.end_tables import write_confusions, write_distributions, write_settled
from judgerel_ray.asking.run.lost import agree_to_losses, stray_commits
from judgerel_ray.asking.run.opening import known_judges, prepare_run
from judgerel_ray.asking.run.pilot import PilotStop
from judgerel_ray.asking.run.waves import SessionWaves, later_requests
from judgerel_ray.asking.small_runs import needs_ray
from judgerel_ray.config import Sweep, parse_sweep
from judgerel_ray.core import (
    EngineError,
    JudgeRelError,
    SweepError,
    UnfinishedRunWarning,
)
from judgerel_ray.counting.outcomes import Refusals, read_refusals
from judgerel_ray.engines import EngineSpec
from judgerel_ray.engines.openai.channel import why_unreachable
from judgerel_ray.engines.openai.engine import PATIENCE_S
from judgerel_ray.fleet import (
    Board,
    Fleet,
    JudgeBoard,
    JudgePool,
    JudgeSpec,
    JudgeState,
    Outside,
    connected,
    in_process,
)
from judgerel_ray.fleet.address import probe_cluster, wanted_address
from judgerel_ray.fleet.board import display_on, print_line
from judgerel_ray.fleet.cluster import (
    check_gpus,
    check_judge_keys,
    check_keys_there,
    is_connected,
)
from judgerel_ray.fleet.telemetry import traced_run
from judgerel_ray.store import (
    Ledger,
    RunDirectory,
    Session,
    begin_session,
    end_session,
    is_superseded,
    leave_token,
    read_ledger,
    renew_unread_token,
    scan_judgments,
)
from judgerel_ray.store.places import missing_folder, refuse_inside_run, refuse_memory


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """How a run ended.

    ``asked_now`` counts requests sent in this session, 0 where none were pending. ``problems`` are
    the errors of judges that were given up, by judge; ``mistakes`` names those of them that running
    again cannot mend: the sweep, or where it runs, is wrong for this judge. ``refused`` are the
    requests that landed as failed, in this session or before. ``stops`` say which asks went no
    further than their pilot, as too few replies could be read.
    """

    run: str
    session: int
    asked: int
    landed: int
    owed: int
    failed: int
    asked_now: int
    problems: Mapping[str, str]
    mistakes: tuple[str, ...] = ()
    refused: Refusals = field(default_factory=Refusals)
    stops: tuple[PilotStop, ...] = ()


def run_sweep(
    sweep: Sweep,
    *,
    out: str,
    address: str | None = None,
    console: Console | None = None,
    ask_lost: bool = False,
    known: Mapping[str, Mapping[str, object]] | None = None,
    unreadable_ok: bool = False,
) -> RunSummary:
    """Run or resume a sweep into a run directory.

    The console says what landed and is lost before anything is asked, and it is asked again; where
    much of it is lost only with `ask_lost`, which asks judgments again whose texts are gone, too.

    `known` are parts of the judges' fingerprints, by judge: their hub models are those commits,
    whatever the hub says by now. By default they are those that the run was begun with.

    A judge of whose replies too few hold a verdict is asked no more of an ask, and the others go
    on, unless `unreadable_ok`.

    Effects: makes the directory, starts or joins a Ray cluster where anything is pending, asks the
    judges. Retry: safe; what has landed is never asked again.
    """
    console = console or Console(stderr=True)
    # The run directory keeps the text: it must say what is asked, or a report would not.
    if parse_sweep(sweep.text).model_dump() != sweep.model_dump():
        raise SweepError("a sweep to run must be as it was loaded", hint="change its file")
    refuse_memory(out)
    refuse_inside_run(out)
    fresh = not RunDirectory(url=out).is_run()
    if fresh:
        probe_cluster(address)  # before anything is written; later only where anything is pending
    begun = known_judges(out)
    resolved = resolve(sweep, known={**begun, **(known or {})})
    plan = plan_resolved(resolved)
    if fresh:
        _check_before(resolved, plan, [one.judge for one in plan.judges], address)
    above = missing_folder(out)
    run = prepare_run(resolved, plan, out)
    if above:
        print_line(console, f"made the folder {above} for the run directory")
    session = begin_session(
        run,
        ask_lost=ask_lost,
        strays=partial(stray_commits, run, resolved, plan),
        agree=partial(agree_to_losses, run, console, ask_lost=ask_lost),
    )
    try:
        return _run_session(
            resolved, plan, run, session, address, console, unreadable_ok=unreadable_ok
        )
    finally:
        end_session(run, session.number)


def _run_session(
    resolved: Resolved,
    plan: Plan,
    run: RunDirectory,
    session: Session,
    address: str | None,
    console: Console,
    *,
    unreadable_ok: bool,
) -> RunSummary:
    """Everything pending, wave by wave."""
    board = _run_board_at_start(resolved, plan, run, session)
    judges = board.judges.values()
    pending_before = sum(judge.owed for judge in judges)
    errors: dict[str, Exception] = {}
    stops: list[PilotStop] = []
    if pending_before:
        for line in plan.misfits:
            print_line(console, line)
        waiting = [name for name, judge in board.judges.items() if judge.owed]
        _check_before(resolved, plan, waiting, address)
        limits, shown = resolved.sweep.fleet, display_on(console)
        if not _is_on_ray(resolved, plan, address):
            board.notices += _unreachable_run_servers([resolved.specs[name] for name in waiting])
        traced = traced_run(resolved.sweep.name, session.number)
        world = _run_place_of_judges(resolved, plan, waiting, address)
        with world as (local, outside), traced, shown as display:
            pools = _run_judge_pools(resolved, run, session.number)
            fleet = Fleet(
                run=run,
                session=session.number,
                pools=pools,
                limits=limits,
                board=board,
                display=display,
                local=local,
                outside=outside,
            )
            try:
                waves = SessionWaves(
                    resolved=resolved,
                    run=run,
                    session=session,
                    fleet=fleet,
                    pools=pools,
                    board=board,
                    unreadable_ok=unreadable_ok,
                    stops=stops,
                )
                waves.ask_all()
                # At once: engines take a while to end, and readers take "running" for true.
                _leave_final(run, session, board)
            except KeyboardInterrupt:
                _leave_final(run, session, board, is_whole=False)
                raise
            finally:
                fleet.close()
                display.show(board, last=True)
        errors = {
            name: pool.fatal_error for name, pool in pools.items() if pool.fatal_error is not None
        }
        _raise_if_none_could_answer(pools, board, plan)
    else:
        renew_unread_token(run)
    ledger = read_ledger(run, since=session.ledger) if pending_before else session.ledger
    lay_out(resolved, run, ledger)
    _leave_final(run, session, board)
    return RunSummary(
        run=run.url,
        session=session.number,
        asked=sum(judge.asked for judge in judges),
        landed=sum(judge.landed for judge in judges),
        owed=sum(judge.owed for judge in judges),
        failed=sum(judge.failed for judge in judges),
        asked_now=sum(judge.landed - judge.landed_before for judge in judges),
        problems={name: str(error) for name, error in errors.items()},
        mistakes=tuple(name for name, error in errors.items() if is_mistake(error)),
        refused=read_refusals(run, ledger, session.number),
        stops=tuple(stops),
    )


def _is_on_ray(resolved: Resolved, plan: Plan, address: str | None) -> bool:
    """Whether the judges are asked on a Ray cluster, not in this process.

    What a run asks in all decides, not what is pending: it goes on where it was begun.
    """
    if address is not None or wanted_address(None) is not None or is_connected():
        return True
    asked = [resolved.specs[one.judge] for one in plan.judges if one.requests_at_most]
    return needs_ray(asked, plan.requests_at_most) is not None


def _check_before(
    resolved: Resolved, plan: Plan, names: Sequence[str], address: str | None
) -> None:
    """Refuse what cannot be asked here, before anything is asked: packages, GPUs, keys.

    Of `names` those count that are asked anything at all.
    """
    asked = {one.judge for one in plan.judges if one.requests_at_most}
    specs = [resolved.specs[name] for name in names if name in asked]
    needed = ["openai"] if any(spec.engine == "openai" for spec in specs) else []
    for package in ["ray"] if _is_on_ray(resolved, plan, address) else needed:
        if find_spec(package) is None:
            raise ModuleNotFoundError(f"No module named {package!r}", name=package)
    check_gpus({spec.name: spec.gpus for spec in specs}, address)
    check_judge_keys(specs, address)


def _unreachable_run_servers(specs: Sequence[EngineSpec]) -> Iterator[str]:
    """Say at once which judges' servers are not there: they are waited for all the same.

    Effects: connects to them.
    """
    why: dict[str, str | None] = {}
    for spec in specs:
        if (url := spec.base_url) is None:
            continue
        if url not in why:
            why[url] = why_unreachable(url)
        if why[url]:
            yield (
                f"judge {spec.name}: no connection to {url} ({why[url]}); it is waited for up to "
                f"{PATIENCE_S:.0f} s. Try: start the server, or mend base_url"
            )


@contextmanager
def _run_place_of_judges(
    resolved: Resolved, plan: Plan, waiting: Sequence[str], address: str | None
) -> Iterator[tuple[bool, Outside]]:
    """Where the judges are asked; those that wait have their keys there.

    Yields
    ------
    tuple of bool and Outside
        Whether what there is cannot grow, and a fleet's world.
    """
    if _is_on_ray(resolved, plan, address):
        with connected(address) as local:
            check_keys_there([resolved.specs[name] for name in waiting])
            yield local, Fleet.outside
    else:
        with in_process(Fleet.outside) as outside:
            yield True, outside


def lay_out(resolved: Resolved, run: RunDirectory, ledger: Ledger) -> None:
    """Write the tables that are made of what landed; they name nothing that has not.

    Effects: files beside what landed. Retry: safe.
    """
    write_settled(resolved, run, ledger)
    if any(frame.ask.mode != "sample" for frame in resolved.frames):
        write_confusions(resolved, run, ledger)
        write_distributions(resolved, run, ledger)


def is_mistake(error: Exception) -> bool:
    """Whether it is the caller who must change something: all but what engines run into."""
    return isinstance(error, JudgeRelError) and not isinstance(error, EngineError)


def _leave_final(
    run: RunDirectory, session: Session, board: Board, *, is_whole: bool = True
) -> None:
    """Write how the session ended; never where another run took the directory over.

    More may be pending of a session cut short than is counted yet: rounds and models to come.
    """
    if is_superseded(run, session.number):
        return
    judges = board.judges.values()
    for judge in judges:
        if judge.state is not JudgeState.FAILED:
            judge.state = JudgeState.INCOMPLETE if judge.owed else JudgeState.DONE
    is_done = is_whole and not any(judge.owed for judge in judges)
    board.state = "done" if is_done else "incomplete"
    run.write_text("progress.json", board.as_text(run.identity))


def _run_judge_pools(resolved: Resolved, run: RunDirectory, session: int) -> dict[str, JudgePool]:
    """A pool for every judge; nothing is started yet."""
    token = leave_token(run)
    pools = {}
    for judge in resolved.sweep.judge:
        spec = JudgeSpec(
            engine=resolved.pinned_spec(judge.name),
            run=run,
            session=session,
            visibility_token=token,
            fingerprint=resolved.fingerprints[judge.name],
            prices=judge.prices,
        )
        replicas = None if judge.replicas == "auto" else judge.replicas
        pools[judge.name] = JudgePool(name=judge.name, spec=spec, replicas=replicas)
    return pools


def _run_board_at_start(
    resolved: Resolved, plan: Plan, run: RunDirectory, session: Session
) -> Board:
    """The numbers as they stand before this session asks anything."""
    boards = {}
    later = later_requests(resolved, run, session.ledger)
    for judge in plan.judges:
        totals = session.ledger.judges.get(judge.judge)
        board = JudgeBoard(asked=judge.requests + later.get(judge.judge, 0))
        if totals is not None:
            board.landed = board.landed_before = totals.rows
            board.outcomes.update(totals.outcomes)
            board.tokens = totals.tokens
            board.busy_s = totals.seconds
        boards[judge.judge] = board
    return Board(sweep=resolved.sweep.name, session=session.number, judges=boards)


def _raise_if_none_could_answer(pools: Mapping[str, JudgePool], board: Board, plan: Plan) -> None:
    """Where every judge with pending requests was given up, the first error is the run's."""
    asked = [judge.judge for judge in plan.judges if judge.requests_at_most]
    errors = [pools[name].fatal_error for name in asked]
    nothing = all(board.judges[name].landed == board.judges[name].landed_before for name in asked)
    first = next((error for error in errors if error is not None), None)
    if nothing and first is not None and all(error is not None for error in errors):
        if isinstance(first, JudgeRelError):
            raise first
        raise SweepError(str(first))


CALLER = 4
"""Frames from the warning to the line that called ``judgerel_ray.run``, a verb made of options."""


def judgments_of(
    sweep: object,
    out: str,
    *,
    address: str | None = None,
    ask_lost: bool = False,
    unreadable_ok: bool = False,
) -> pl.DataFrame:
    """Run a sweep, or go on with it, and read all judgments that landed.

    Raises, Warns: as :func:`judgerel_ray.run`.
    """
    if not isinstance(sweep, Sweep):  # Python programs are not all type-checked
        got = type(sweep).__name__
        raise SweepError(f"sweep must be a path or what load_sweep gives, got {got}")
    if not out.strip():
        raise SweepError("out is empty", hint="name a new directory")
    summary = run_sweep(
        sweep, out=out, address=address, ask_lost=ask_lost, unreadable_ok=unreadable_ok
    )
    if summary.owed or summary.stops:
        warning = UnfinishedRunWarning(
            summary.run,
            owed=summary.owed,
            problems=summary.problems,
            stops=[stop.problem for stop in summary.stops],
        )
        warnings.warn(warning, stacklevel=CALLER)
    return scan_judgments(RunDirectory.open(out)).collect()
