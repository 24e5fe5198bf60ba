r"""Looks at data that grow: how much error each may spend, and a ledger so that none is forgotten.

To look five times at 95 % intervals and stop when one pleases errs more often than 5 %. The
k-th look has intervals at :math:`1 - \alpha_k` with :math:`\alpha_k = 6 \alpha / (\pi^2 k^2)`; all
:math:`\alpha_k` sum to :math:`\alpha`, so over any number of looks, stopped whenever one likes, the
chance that any interval misses is at most :math:`\alpha` (a union bound, whatever the looks have in
common). A look must contain every judgment of the looks before: judgments are pooled, never asked
again until they please.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from hashlib import blake2b
from heapq import nsmallest
from pathlib import Path

import polars as pl

from judgerel_ray.analyses.gate.standing import GateLook, alpha_at
from judgerel_ray.core import SweepError
from judgerel_ray.core.files import read_regular
from judgerel_ray.counting.columns import FACETS, KINDS

_SAMPLED = 256  # rows kept of a look: of a re-roll that changes 2 % of them, 99.4 % are noticed
_BEGIN = b'{"'
_LOOK_COLUMNS = ("item_id", *FACETS, "block", *KINDS, "label", "gold")


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What was looked at of one source of judgments."""

    digest: str  # Of all that makes a judgment, whatever the order of the rows.
    n_judgments: int
    # Of the kinds of rows with the smallest hashes, how many rows there were.
    sample: Mapping[str, int]


def seen_in(rows: pl.LazyFrame) -> tuple[Seen, Mapping[str, int]]:
    """Take in what is looked at; and how many rows of each kind there are, by hash.

    Requests that failed are no judgments.

    Examples
    --------
    >>> told = {"item_id": ["q", "q"], "verdict": ["A", "B"], "outcome": ["scored"] * 2}
    >>> one, again = (seen_in(pl.LazyFrame(told).sort("verdict", descending=down))[0]
    ...               for down in (True, False))
    >>> one == again, one.n_judgments
    (True, 2)
    """
    schema = rows.collect_schema()
    names = [name for name in _LOOK_COLUMNS if name in schema]
    text = pl.concat_str(
        [pl.lit(f"{name}=") + pl.col(name).cast(pl.String) for name in names],
        separator="\x1f",
        ignore_nulls=True,
    )
    if "outcome" in names:
        rows = rows.filter(pl.col("outcome").cast(pl.String).ne_missing("failed"))
    counted = rows.group_by(text.alias("row")).agg(n=pl.len()).collect(engine="streaming")
    found = {blake2b(row.encode(), digest_size=8).hexdigest(): n for row, n in counted.iter_rows()}
    whole = blake2b(digest_size=16)
    for name in sorted(found):
        whole.update(f"{name}{found[name]}".encode())
    sample = {name: found[name] for name in nsmallest(_SAMPLED, found)}
    n = int(counted["n"].sum())
    return Seen(digest=whole.hexdigest(), n_judgments=n, sample=sample), found


def look_at(rows: Mapping[str, pl.LazyFrame], ledger: str) -> GateLook:
    """Count a look in a ledger.

    Effects: appends a line to the ledger, where the data are not those of its last look. Retry:
    safe, the same data are the same look.
    """
    _check_look_ledger_place(ledger)
    found = {name: seen_in(one) for name, one in rows.items()}
    seen = {name: one for name, (one, _) in found.items()}
    before = _looks_of_ledger(ledger)
    latest = {
        name: (place, one) for place, look in enumerate(before, 1) for name, one in look.items()
    }
    again = all(name in latest and latest[name][1] == one for name, one in seen.items())
    if not again:
        # A source that the last look left out is held against the last that had it.
        for name in latest.keys() & found.keys():
            place, one = latest[name]
            _check_pooled(one, *found[name], number=place, ledger=ledger)
        _append_look(ledger, seen)
    # Read again: a look taken meanwhile has a line, too.
    looks = _looks_of_ledger(ledger)
    number = len(before) if again else max(n for n, one in enumerate(looks, 1) if one == seen)
    return GateLook(
        number=number,
        confidence=1 - alpha_at(number),
        ledger=ledger,
        again=again,
        n_judgments=seen[""].n_judgments,
    )


def _check_look_ledger_place(ledger: str) -> None:
    """Refuse a ledger in a run directory, where nothing else is put, or in no folder."""
    where = {"ledger": ledger}
    folder = Path(ledger).absolute().parent
    if not folder.is_dir():
        raise SweepError("the folder of --ledger is not there", where=where)
    if Path(ledger).is_dir():
        raise SweepError("--ledger must be a file, got a folder", where=where)
    if Path(ledger).exists() and not Path(ledger).is_file():
        raise SweepError("--ledger must be a file that keeps what is written", where=where)
    from judgerel_ray.store import RunDirectory

    for above in (folder, *folder.parents):
        if RunDirectory(url=str(above)).is_run():
            raise SweepError(
                "--ledger lies in a run directory, where nothing else is put",
                where={**where, "inside": str(above)},
                hint="a file beside it",
            )


def _check_pooled(
    before: Seen, now: Seen, kinds: Mapping[str, int], *, number: int, ledger: str
) -> None:
    """Refuse judgments that lack some of those looked at before (SweepError)."""
    gone = sum(kinds.get(name, 0) < n for name, n in before.sample.items())
    if not gone and now.n_judgments >= before.n_judgments:
        return
    are = "is" if gone == 1 else "are"
    raise SweepError(
        f"a re-roll: look {number} had {before.n_judgments:,} judgments, this one has "
        f"{now.n_judgments:,}, and {gone:,} of the {len(before.sample):,} distinct judgments "
        f"sampled from that look {are} missing or less frequent; a look must contain every "
        "judgment of the looks before",
        where={"ledger": ledger},
        hint="pool the judgments of all looks (a folder or pattern of files); a judge or prompt "
        "that was changed has a ledger of its own",
    )


def _append_look(ledger: str, seen: Mapping[str, Seen]) -> None:
    """Write one line, whole, after whatever others write.

    What a process that died left of its line goes: nobody was shown that look.
    """
    line = json.dumps({name: asdict(one) for name, one in seen.items()}, sort_keys=True)
    target = os.open(ledger, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
    try:
        with _look_ledger_locked(target):
            there = os.pread(target, os.fstat(target).st_size, 0)
            begun = there.rpartition(b"\n")[2]
            if _is_torn_look(begun):
                os.ftruncate(target, len(there) - len(begun))
            # An editor, or git, may have taken the last line's end.
            ended = not begun or _is_torn_look(begun)
            os.write(target, f"{'' if ended else chr(10)}{line}\n".encode())
            os.fsync(target)
    finally:
        os.close(target)


@contextmanager
def _look_ledger_locked(target: int) -> Iterator[None]:
    """Keep other processes from writing, where the system can: half a line is a dead one's then."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with suppress(OSError):  # a file system without locks
        fcntl.flock(target, fcntl.LOCK_EX)
    yield  # closing the file gives it up


def _is_torn_look(line: bytes) -> bool:
    """Whether a last line without an end is the begin of a look that was never all written."""
    if not line or not _BEGIN.startswith(line[: len(_BEGIN)]):
        return False
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return True
    return False


def _looks_of_ledger(ledger: str) -> list[Mapping[str, Seen]]:
    """All looks of a ledger; none where it is not there yet."""
    try:
        data = read_regular(ledger)
        begun = data.rpartition(b"\n")[2]
        lines = (data.removesuffix(begun) if _is_torn_look(begun) else data).decode().splitlines()
    except FileNotFoundError:
        return []
    except UnicodeDecodeError:
        lines = [""]
    return [_look_of(line, place, ledger) for place, line in enumerate(lines, start=1)]


def _look_of(line: str, place: int, ledger: str) -> Mapping[str, Seen]:
    """One look of a ledger; SweepError where the line is none."""
    try:
        found = {name: Seen(**one) for name, one in json.loads(line).items()}
        if "" in found and all(_look_has_been_seen(one) for one in found.values()):
            return found
    except (ValueError, TypeError, AttributeError, RecursionError):
        pass
    raise SweepError(
        "--ledger is no ledger of looks, or damaged: a line is no look",
        where={"ledger": ledger, "line": place},
        hint="restore the file, or name a new one",
    )


def _look_has_been_seen(one: Seen) -> bool:
    """Whether a line of a ledger has what one has."""
    numbers: Sequence[object] = (one.n_judgments, *one.sample.values())
    return isinstance(one.digest, str) and all(isinstance(n, int) for n in numbers)
