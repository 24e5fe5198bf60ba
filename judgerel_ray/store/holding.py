"""A lease on a folder: of many processes that may be started on it, one at a time works.

::

    FOLDER/leases/000001.json  000002.json  ...

A lease is a number taken by exclusive creation; the highest one counts, and is the fence: who finds
a higher one than its own has lost the lease and writes no more. It ends when its holder says so,
when its holder's process is gone on this host, or at its expiry, which the holder renews while it
lives. On one host that is by the seconds since it started, so that a clock that is set ends none.
"""

from __future__ import annotations

import os
import secrets
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime

from judgerel_ray.core import StoreError
from judgerel_ray.store.files import Bucket, Disk, check_exclusive
from judgerel_ray.store.records import seal, unseal
from judgerel_ray.store.sessions import boot_name, process_started

FOLDER = "leases"
TTL_S = 180.0
"""Seconds after which a lease that is not renewed is free: hosts' clocks may differ by less."""
RENEWALS = 6
"""How often a lease is renewed in that time."""
_KEPT = 20
_ENDING = ".json"


@dataclass(frozen=True, slots=True, kw_only=True)
class FencedLease:
    """A lease that this process holds: its number, which is the fence, and when it was taken."""

    files: Disk | Bucket
    number: int
    taken_at: str
    nonce: str

    def check(self) -> None:
        """Refuse to go on where another holds the folder by now.

        Raises
        ------
        StoreError
            If a later lease was taken.

        Examples
        --------
        >>> lease = take_lease(Bucket(url="memory://doctest-check"))
        >>> lease.check()
        """
        # By its name, too: a listing may be older than what it lists.
        is_next = self.files.exists(_series_lease_file_name(self.number + 1))
        if is_next or _highest_series_lease_file(self.files) > self.number:
            raise StoreError(
                f"lease {self.number} on the series is lost: another refresh took it over",
                where={"series": self.files.address("")},
                hint="nothing; the other one goes on with what is pending",
            )

    def renew(self) -> None:
        """Put the expiry off. Effects: replaces the lease's own file. Retry: safe."""
        self.files.write(
            _series_lease_file_name(self.number), _series_lease_file_content(self, TTL_S)
        )

    def release(self) -> None:
        """Say that the lease is over. Effects: replaces the lease's own file. Retry: safe."""
        self.files.write(
            _series_lease_file_name(self.number), _series_lease_file_content(self, None)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldLease:
    """A lease that somebody else holds."""

    number: int
    holder: str
    since: str


def take_lease(files: Disk | Bucket) -> FencedLease | HeldLease:
    """Take the lease on a folder, or say who holds it.

    Examples
    --------
    >>> files = Bucket(url="memory://doctest-take-lease")
    >>> first, second = take_lease(files), take_lease(files)
    >>> first.number, type(second).__name__
    (1, 'HeldLease')
    >>> first.release()
    >>> take_lease(files).number
    2

    Notes
    -----
    Effects: one small file; old ones are removed. Retry: safe.
    """
    while True:
        number = _highest_series_lease_file(files)
        if number and (held := _series_lease_file_holder(files, number)) is not None:
            return held
        lease = FencedLease(
            files=files,
            number=number + 1,
            taken_at=datetime.now(UTC).isoformat(timespec="seconds"),
            nonce=secrets.token_hex(8),
        )
        check_exclusive(files, FOLDER, "two refreshes could hold one series")
        if _create_series_lease_file(lease):
            for old in range(max(1, number - 2 * _KEPT), number - _KEPT):
                files.remove(_series_lease_file_name(old))
            return lease


@contextmanager
def renewing(lease: FencedLease) -> Iterator[None]:
    """Renew a lease from a thread of its own while a block runs, and release it at the end."""
    over = threading.Event()

    def renew() -> None:
        while not over.wait(TTL_S / RENEWALS):
            # A store that is away for a moment must not end what the lease is held for.
            with suppress(StoreError):
                lease.renew()

    thread = threading.Thread(target=renew, name="judgerel-lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        # What was done is done where the store is away just now: the lease expires by itself.
        with suppress(StoreError):
            lease.release()


def _create_series_lease_file(lease: FencedLease) -> bool:
    """Create a lease's file; whether it is ours that stands, whatever a network repeated."""
    name, data = _series_lease_file_name(lease.number), _series_lease_file_content(lease, TTL_S)
    if lease.files.create(name, data):
        return True
    standing = unseal(lease.files.find(name), name)
    return standing is not None and standing.get("holder_nonce") == lease.nonce


def _series_lease_file_holder(files: Disk | Bucket, number: int) -> HeldLease | None:
    """Who holds a lease; None where nobody does any more.

    One that cannot be read was cut off while it was written, on a disk without hard links.
    """
    name = _series_lease_file_name(number)
    content = unseal(files.find(name), name)
    if content is None or _is_series_lease_over(content):
        return None
    return HeldLease(
        number=number,
        holder=f"process {content['pid']} on {content['host']}",
        since=str(content["taken_at"]),
    )


def _is_series_lease_over(content: Mapping[str, object]) -> bool:
    """Whether a lease was released, has expired, or its holder is gone from this host."""
    boot = boot_name()
    is_here = (content.get("host"), content.get("boot")) == (socket.gethostname(), boot)
    # Without a name of its boot the host may have started anew since.
    expires = content.get("expires_uptime") if is_here and boot else None
    now = time.monotonic()
    if expires is None:
        expires, now = content.get("expires_at"), time.time()
    if not isinstance(expires, int | float) or expires <= now:
        return True
    pid = content.get("pid")
    return is_here and isinstance(pid, int) and process_started(pid) != content.get("pid_started")


def _series_lease_file_content(lease: FencedLease, ttl_s: float | None) -> bytes:
    """A lease as it is written: it expires after some seconds, or is over."""
    return seal(
        {
            "kind": "lease",
            "number": lease.number,
            "holder_nonce": lease.nonce,
            "host": socket.gethostname(),
            "boot": boot_name(),
            "pid": os.getpid(),
            "pid_started": process_started(os.getpid()),
            "taken_at": lease.taken_at,
            "expires_at": 0.0 if ttl_s is None else time.time() + ttl_s,
            "expires_uptime": 0.0 if ttl_s is None else time.monotonic() + ttl_s,
        },
        _series_lease_file_name(lease.number),
    )


def _highest_series_lease_file(files: Disk | Bucket) -> int:
    """The highest number taken; 0 before the first."""
    names = [one.removesuffix(_ENDING) for one in files.names(FOLDER) if one.endswith(_ENDING)]
    return max((int(one) for one in names if one.isdecimal()), default=0)


def _series_lease_file_name(number: int) -> str:
    return f"{FOLDER}/{number:06d}{_ENDING}"
