"""Sessions: one ``judgerel run`` each, and the line drawn under everything before it.

Opening a session fixes which earlier commits count; whatever an earlier session still writes
afterwards never does. So a second driver, started because the first seemed dead, is always safe.

The token that proves a process sees the driver's run directory, not one of the same name.
"""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from judgerel_ray.core import StoreError
from judgerel_ray.store.files import check_exclusive
from judgerel_ray.store.ledger import (
    CommitsLook,
    Ledger,
    build_ledger,
    look_at_commits,
    newest_session,
)
from judgerel_ray.store.losses import Losses, newest_part, part_commits
from judgerel_ray.store.packs import is_whole_file, leave_pack, pack_name, parse_pack
from judgerel_ray.store.records import (
    FOLDER,
    PROGRESS,
    CommitRecord,
    SessionRecord,
    end_name,
    parse_attempt,
    parse_end,
    parse_session,
    seal,
    session_name,
    unseal,
)
from judgerel_ray.store.rundir import RunDirectory

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_PROCESSES = Path("/proc/self/ns/pid")


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session just opened.

    ``ledger`` is what earlier sessions landed. ``losses`` are earlier commits that do not count
    any more: their rows are pending again.
    """

    number: int
    ledger: Ledger
    losses: Losses


def begin_session(
    run: RunDirectory,
    *,
    ask_lost: bool = False,
    strays: Callable[[Ledger], Collection[str]] | None = None,
    agree: Callable[[Losses], None] | None = None,
) -> Session:
    """Open the next session of a run.

    Parameters
    ----------
    run : RunDirectory
        The run, made by :meth:`RunDirectory.create`.
    ask_lost : bool
        Whether judgments whose texts are gone are lost with them.
    strays : callable, optional
        Names of commits, of those of a ledger, that the run's plan does not have.
    agree : callable, optional
        Called with the losses before anything is written; what it raises ends the session before
        it began, and every commit counts as it did.

    Returns
    -------
    Session
        Its number (from 1) and what had landed before it.

    Raises
    ------
    StoreError
        If the store does not honour exclusive creation, or cannot be read or written.

    Examples
    --------
    >>> run = RunDirectory.create("memory://doctest-begin")
    >>> begin_session(run).number, begin_session(run).number
    (1, 2)

    Notes
    -----
    Effects: one record in commits/. Retry: opens one more session, which is harmless.
    """
    check_exclusive(run.files, FOLDER, "two writers could land the same request")
    while True:
        # Before the look: a session that begins meanwhile is seen in its record, or races for it.
        in_data = newest_part(run.files.sizes("data"))
        look = look_at_commits(run)
        kept, losses = part_commits(run, look, ask_lost=ask_lost, check=True)
        if strays is not None:
            names = strays(build_ledger(0, kept))
            losses = losses.with_unfounded(names, kept)
            kept = tuple(one for one in kept if one.name not in names)
        if agree is not None:
            agree(losses.counted(run))
        number = 1 + max(in_data, _highest_session_in_commits(look))
        record = _session_driver_record(number, kept)
        name = f"{FOLDER}/{session_name(number)}"
        data = seal({"kind": "session", **asdict(record)}, name, run.identity)
        if run.settle(name, data) == data:
            ledger = build_ledger(number, kept, broken=look.broken, run=run)
            return Session(number=number, ledger=ledger, losses=losses)


def end_session(run: RunDirectory, session: int) -> None:
    """Say that a session's driver is done, so that it no longer counts as live.

    The records that it has by now are named there: one that goes later is missed. So are those that
    it went on without, because they are torn or altered, and the files of failures and progress:
    ``verify`` knows them from then on. After that, and only to save reads, the records are packed,
    and the pack is named, too; not where another session has begun, which packs them at its end.

    Examples
    --------
    >>> run = RunDirectory.create("memory://doctest-end")
    >>> end_session(run, begin_session(run).number)
    >>> live_session(run) is None
    True
    """
    names = run.names(FOLDER)
    records = [
        name
        for name in names
        if (place := parse_attempt(name)) is not None and place.session == session
    ]
    newest, _ = newest_session(run, names)
    counting = {*records, *(newest.accepted if newest else ())}
    found = run.files.read_many(f"{FOLDER}/{name}" for name in names if name not in counting)
    identity = run.identity
    by_name = {place.removeprefix(f"{FOLDER}/"): data for place, data in found.items()}
    broken = {name for name in by_name if not is_whole_file(name, by_name, identity)}
    ended = {number for name in names if (number := parse_end(name)) is not None}
    broken |= {session_name(number) for number in ended}.difference(names)
    packs = [f"{FOLDER}/{name}" for name in names if parse_pack(name)]
    beside = [name for name in (PROGRESS, *run.files.sizes("errors"), *packs) if run.exists(name)]
    content = {"kind": "end", "number": session, "records": records, "broken": sorted(broken)}
    content |= {"beside": beside, "ended_at": datetime.now(UTC).isoformat()}
    mark = f"{FOLDER}/{end_name(session)}"
    run.write_bytes(mark, seal(content, mark, run.identity))
    if newest is not None and newest.number == session:
        with suppress(StoreError):
            if leave_pack(run, session, names, counting):
                packed_name = f"{FOLDER}/{pack_name(session)}"
                content["beside"] = list(dict.fromkeys([*beside, packed_name]))
                run.write_bytes(mark, seal(content, mark, run.identity))


def is_superseded(run: RunDirectory, session: int) -> bool:
    """Tell whether a newer session was opened, so that nothing this one lands counts any more.

    Examples
    --------
    >>> run = RunDirectory.create("memory://doctest-superseded")
    >>> first, second = begin_session(run).number, begin_session(run).number
    >>> is_superseded(run, first), is_superseded(run, second)
    (True, False)
    """
    return run.exists(f"{FOLDER}/{session_name(session + 1)}")


def live_session(run: RunDirectory) -> str | None:
    """Describe the newest session's driver if another process of this host still runs it.

    Parameters
    ----------
    run : RunDirectory
        The run.

    Returns
    -------
    str or None
        ``session 3, process 4711 on node7, since ...``; None if the session has ended, its
        process is gone or is the caller's own, or it was opened on another host.

    Examples
    --------
    >>> live_session(RunDirectory.create("memory://doctest-live")) is None
    True
    """
    record = _open_session(run)
    if record is None or not _is_session_driver_seen(record):
        return None
    started = process_started(record.pid)
    return _described_stored_session(record) if started and started == record.pid_started else None


def unseen_session(run: RunDirectory) -> str | None:
    """Describe the newest session's driver where only what it tells can say whether it lives.

    Returns
    -------
    str or None
        As of :func:`live_session`, of a session that was opened on another host or by the caller's
        own process; None if it has ended, or :func:`live_session` can tell.

    Examples
    --------
    >>> run = RunDirectory.create("memory://doctest-unseen")
    >>> session = begin_session(run).number
    >>> str(unseen_session(run)).startswith("session 1, process ")
    True
    >>> end_session(run, session)
    >>> unseen_session(run) is None
    True
    """
    record = _open_session(run)
    return (
        None
        if record is None or _is_session_driver_seen(record)
        else _described_stored_session(record)
    )


def _open_session(run: RunDirectory) -> SessionRecord | None:
    """The newest session, if nobody has said that it ended."""
    record, _ = newest_session(run, run.names(FOLDER))
    return None if record is None or run.exists(f"{FOLDER}/{end_name(record.number)}") else record


def _is_session_driver_seen(record: SessionRecord) -> bool:
    """Whether this process can tell whether a session's driver lives, which is another one."""
    here = (record.host, record.boot) == (socket.gethostname(), boot_name())
    return here and record.pid != os.getpid()


def _described_stored_session(record: SessionRecord) -> str:
    """A session and its driver in words."""
    return (
        f"session {record.number}, process {record.pid} on {record.host}, since {record.started_at}"
    )


def _highest_session_in_commits(look: CommitsLook) -> int:
    """Highest number that a session has in any name, broken ones included.

    A session that took a number whose record is gone would find its leases settled, or be taken for
    one that has ended.
    """
    attempts = (one.session for name in look.names if (one := parse_attempt(name)))
    sessions = (parse_session(name) or parse_end(name) or 0 for name in look.names)
    return max((*sessions, *attempts), default=0)


def _session_driver_record(number: int, kept: tuple[CommitRecord, ...]) -> SessionRecord:
    """Describe this process as the driver of a session."""
    return SessionRecord(
        number=number,
        accepted=tuple(record.name for record in kept),
        host=socket.gethostname(),
        boot=boot_name(),
        pid=os.getpid(),
        pid_started=process_started(os.getpid()),
        started_at=datetime.now(UTC).isoformat(),
    )


def boot_name() -> str:
    """Name this boot of the host, and the processes seen here, where the system names them.

    Containers of one host may share its name and its boot, and still number other processes.
    """
    try:
        boot = _BOOT_ID.read_text().strip()
    except OSError:
        return ""
    with suppress(OSError):
        boot += f" {os.readlink(_PROCESSES)}"
    return boot


def process_started(pid: int) -> str:
    """Say when a process started (a number is used again, a start is not); "" if it is gone."""
    if _BOOT_ID.exists():
        try:
            text = Path(f"/proc/{pid}/stat").read_text()
        except OSError:
            return ""
        # Fields after the command's closing parenthesis: state, ..., start time in clock ticks.
        fields = text.rpartition(")")[2].split()
        return "" if fields[0] in "ZX" else fields[19]
    command = ["ps", "-o", "stat=,lstart=", "-p", str(pid)]
    try:
        shown = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    state, _, started = shown.stdout.strip().partition(" ")
    return "" if state.startswith("Z") else started.strip()


TOKEN = f"{FOLDER}/token"


def leave_token(run: RunDirectory) -> str:
    """Leave a new token in the run directory and give it, to be compared by every actor.

    Examples
    --------
    >>> run = RunDirectory.create("memory://doctest-token")
    >>> leave_token(run) == read_token(run)
    True
    """
    token = seal({"kind": "token"}, TOKEN, run.identity).decode()
    run.write_text(TOKEN, token)
    return token


def renew_unread_token(run: RunDirectory) -> None:
    """Leave a new token where the one that is there is torn or altered.

    Examples
    --------
    >>> run = RunDirectory.create("memory://doctest-torn-token")
    >>> run.write_text(TOKEN, "torn")
    >>> renew_unread_token(run)
    >>> read_token(run) == "torn"
    False
    """
    token = run.files.find(TOKEN)
    if token is not None and unseal(token, TOKEN, run.identity) is None:
        leave_token(run)


def read_token(run: RunDirectory) -> str:
    """Read the token where the caller runs.

    Raises
    ------
    StoreError
        If there is none: this process does not see the driver's directory.

    Examples
    --------
    >>> read_token(RunDirectory(url="memory://doctest-no-token"))
    Traceback (most recent call last):
    judgerel_ray.core.errors.StoreError: the run directory cannot be seen ...
    """
    if not run.exists(TOKEN):
        raise StoreError(
            "the run directory cannot be seen from this process: expected the driver's token, "
            "got none",
            where={"run": run.url},
            hint="a folder shared by all nodes, or an object store",
        )
    return run.read_text(TOKEN)
