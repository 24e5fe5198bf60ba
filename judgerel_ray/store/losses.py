"""Losses: commits that do not count any more, because of what is gone, and why.

A commit counts while its judgments are there whole. Texts are needed where they are answers that
later prompts are made of: without them the answers, and all that was judged of them, are lost,
too, or a run would hold verdicts on texts that nobody can read and that are never written again
in the same words. A judge's own texts only explain its verdicts, which count without them.

Leftovers: files of judgments that no record of the newest session names, and what is in them.

A writer that dies between its files and its record leaves a pair of them behind. Where many are
left, nobody died so often: their records are gone, and they are all that tells how much landed.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import polars as pl

from judgerel_ray.store.digests import UNREADABLE, altered
from judgerel_ray.store.generations import file_sizes, newer_readings
from judgerel_ray.store.ledger import CommitsLook, Ledger, build_ledger, look_at_commits
from judgerel_ray.store.parts import expected_keys
from judgerel_ray.store.records import FOLDER, AttemptId, CommitFile, CommitRecord, parse_attempt
from judgerel_ray.store.rundir import RunDirectory

_PART = re.compile(r"part-s(\d+)-l(\d+)-a(\d+)-[0-9a-f]+\.parquet")
_OPENED = 32
"""Files opened to count rows; the rest are taken to be alike, byte for byte."""


def parse_part(name: str) -> AttemptId | None:
    """Read whose part a file is, by its name; None if it is none.

    Examples
    --------
    >>> parse_part("data/judge=j/part-s0001-l000002-a1-00ff00ff.parquet")
    AttemptId(session=1, lease=2, attempt=1)
    """
    match = _PART.fullmatch(name.rpartition("/")[2])
    return AttemptId(*(int(part) for part in match.groups())) if match else None


def torn_parts(look: CommitsLook, sizes: Mapping[str, int]) -> dict[str, int]:
    """Files whose records are torn, or were accepted and are gone, with their bytes.

    Examples
    --------
    >>> torn_parts(CommitsLook(session=None, names=(), commits=(), broken=(), late=()), {})
    {}
    """
    torn = {parse_attempt(name) for name in look.broken} - {None}
    return {name: size for name, size in sizes.items() if torn and parse_part(name) in torn}


def unnamed_parts(look: CommitsLook, sizes: Mapping[str, int]) -> dict[str, int]:
    """Files of the newest session or a later one that no record names, with their bytes.

    One file a lease; none of leases that landed in another attempt, of attempts that were closed,
    or of torn records, and none that an earlier session left: the newest one went on without.

    Examples
    --------
    >>> unnamed_parts(CommitsLook(session=None, names=(), commits=(), broken=(), late=()), {})
    {}
    """
    newest = look.session.number if look.session else 0
    landed = {(one.session, one.lease) for one in look.commits}
    # What is late by number of session belongs to one whose own record is gone.
    known = {parse_attempt(name) for name in set(look.names).difference(look.late)}
    known |= {parse_attempt(name) for name in look.broken}
    found: dict[tuple[int, int], str] = {}
    for name in sizes:
        place = parse_part(name)
        if place is None or place.session < newest or place in known:
            continue
        if (place.session, place.lease) not in landed:
            found.setdefault((place.session, place.lease), name)
    return {name: sizes[name] for name in found.values()}


def estimate_rows(run: RunDirectory, parts: Mapping[str, int]) -> int:
    """Count the rows in files of these sizes; of many, a few are opened and stand for the rest.

    Examples
    --------
    >>> estimate_rows(RunDirectory.create("memory://doctest-rows"), {})
    0
    """
    opened = _evenly_spread_part_names(sorted(parts))
    rows = bytes_ = 0
    for name, data in run.files.read_many(opened).items():
        try:
            rows += pl.read_parquet(io.BytesIO(data), columns=["key"]).height
        except UNREADABLE:
            continue
        bytes_ += parts[name]
    if len(opened) == len(parts) or not bytes_:
        return rows
    return round(rows * sum(parts.values()) / bytes_)


def newest_part(names: Iterable[str]) -> int:
    """Highest number of a session among files; 0 where there is none.

    Examples
    --------
    >>> newest_part(["data/judge=j/part-s0003-l000002-a1-00ff00ff.parquet", "data/else"])
    3
    """
    return max((place.session for name in names if (place := parse_part(name))), default=0)


def _evenly_spread_part_names(names: Sequence[str]) -> Sequence[str]:
    """At most as many names as are opened, evenly spread."""
    step = -(-len(names) // _OPENED) or 1
    return names[::step]


LARGE_SHARE = 0.25
"""Of the rows that landed: what is lost beyond it is asked again only on purpose."""
SMALL_ROWS = 1_000
"""What one lost file may cost whatever its share is: a small run is mended without a question."""
MOST_LEFT = 8
"""Leases whose files a driver that was killed may leave without a record: one an engine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Losses:
    """What of a run's commits does not count any more.

    Attributes
    ----------
    torn : tuple of str
        Names of records that are torn, altered or gone.
    damaged : tuple of CommitRecord
        Commits whose files are gone, cut or altered.
    unfounded : tuple of CommitRecord
        Whole commits with rows that stand on answers the run does not hold, or that its plan
        does not have.
    unread : tuple of CommitRecord
        Commits that count, and whose texts are gone or cut: nothing that is asked needs them.
    folders : tuple of str
        Folders of which nothing is there, though commits name files in them; ``commits`` where
        files of judgments are there, and no record of any session.
    n_rows : int
        Rows of all commits whose records are whole, those lost included.
    torn_parts, unnamed : mapping
        Files of judgments by name, with their bytes: of torn records, and of leases of the newest
        session, or a later one, that no record names.
    n_torn, n_unnamed : int
        Rows in those files, as :meth:`counted` found.
    readings : mapping
        Files of readings newer than every record of one, with their number, as it found, too.
    """

    torn: tuple[str, ...] = ()
    damaged: tuple[CommitRecord, ...] = ()
    unfounded: tuple[CommitRecord, ...] = ()
    unread: tuple[CommitRecord, ...] = ()
    folders: tuple[str, ...] = ()
    n_rows: int = 0
    torn_parts: Mapping[str, int] = field(default_factory=dict)
    unnamed: Mapping[str, int] = field(default_factory=dict)
    n_torn: int = 0
    n_unnamed: int = 0
    readings: Mapping[str, int] = field(default_factory=dict)

    @property
    def n_landed(self) -> int:
        """Rows of all that is known to have landed, and of what may have."""
        return self.n_rows + self.n_torn + self.n_unnamed

    @property
    def has_gone_records(self) -> bool:
        """Whether more files are without a record than a driver leaves that is killed."""
        is_much = self.n_unnamed > max(SMALL_ROWS, LARGE_SHARE * self.n_landed)
        return len(self.unnamed) > MOST_LEFT or is_much

    @property
    def needed_folders(self) -> tuple[str, ...]:
        """Folders of which nothing is there, and that commits do not count without."""
        needed = [name for one in self.damaged for name in (one.data_file, one.texts_file)]
        return tuple(
            folder
            for folder in self.folders
            if any(name.startswith(f"{folder}/") for name in needed)
        )

    @property
    def lacks_folder(self) -> bool:
        """Whether a whole folder that rows need is gone, as where a disk is not mounted."""
        return FOLDER in self.folders or bool(self.needed_folders)

    @property
    def is_large(self) -> bool:
        """Whether so much would not count any more that only a person may give it up.

        What stands on a lost answer goes with it, so files alone do not tell how much is lost.
        """
        n_lost = sum(one.rows for one in (*self.damaged, *self.unfounded)) + self.n_torn
        n_causes = len(self.damaged) + len(self.torn)
        if self.has_gone_records:
            n_lost, n_causes = n_lost + self.n_unnamed, n_causes + len(self.unnamed)
        is_small = (n_causes or len(self.unfounded)) == 1 and n_lost <= SMALL_ROWS
        return n_lost > LARGE_SHARE * self.n_landed and not is_small

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the records that do not count."""
        return (*self.torn, *(one.name for one in (*self.damaged, *self.unfounded)))

    def counted(self, run: RunDirectory) -> Losses:
        """The same, with what files hold that no whole record tells of."""
        n_torn, n_unnamed = (estimate_rows(run, parts) for parts in (self.torn_parts, self.unnamed))
        return replace(self, n_torn=n_torn, n_unnamed=n_unnamed, readings=newer_readings(run))

    def with_unfounded(self, names: Iterable[str], kept: Sequence[CommitRecord]) -> Losses:
        """The same, and these of the commits kept so far."""
        dropped = set(names)
        more = tuple(one for one in kept if one.name in dropped)
        return replace(self, unfounded=(*self.unfounded, *more))


def read_whole_ledger(run: RunDirectory) -> Ledger:
    """Read what landed and still counts, as the next session will count it.

    Returns
    -------
    Ledger
        Its ``broken`` names all commits that do not count any more: their rows are pending.

    Raises
    ------
    StoreError
        As of :func:`read_ledger`.

    Examples
    --------
    >>> read_whole_ledger(RunDirectory.create("memory://doctest-whole")).n_rows
    0

    Notes
    -----
    Effects: none. Cost: that of :func:`read_ledger`, and a listing of data/ and texts/.
    """
    look = look_at_commits(run)
    kept, losses = part_commits(run, look)
    number = look.session.number if look.session else 0
    return build_ledger(number, kept, broken=losses.names, run=run)


def whole_commits(run: RunDirectory) -> tuple[CommitRecord, ...]:
    """Read the commits that still count, as the next session will count them; nothing is added up.

    Examples
    --------
    >>> whole_commits(RunDirectory.create("memory://doctest-whole-commits"))
    ()
    """
    return part_commits(run, look_at_commits(run))[0]


def read_losses(run: RunDirectory) -> Losses:
    """Read what of a run's commits does not count any more, as the next session will find it.

    Examples
    --------
    >>> read_losses(RunDirectory.create("memory://doctest-read-losses")).is_large
    False

    Notes
    -----
    Effects: none. Digests are not compared. Cost: of files that no record names some are opened.
    """
    return part_commits(run, look_at_commits(run))[1].counted(run)


def lost_files(run: RunDirectory, commits: Iterable[CommitRecord]) -> dict[str, str]:
    """Files of some commits that are gone or cut, by name, and which of the two; none is read.

    Examples
    --------
    >>> lost_files(RunDirectory.create("memory://doctest-lost-files"), [])
    {}
    """
    named = tuple(commits)
    sizes = file_sizes(run, named, "data_file") | file_sizes(run, named, "texts_file")
    there = _of_size(named, "data_file", sizes) | _of_size(named, "texts_file", sizes)
    files = (name for one in named for name in (one.data_file, one.texts_file))
    return {name: "cut" if name in sizes else "gone" for name in files if name not in there}


def _of_size(
    commits: Iterable[CommitRecord], file: CommitFile, sizes: Mapping[str, int]
) -> set[str]:
    """Names of the commits' files that are as long as those that landed."""
    names = ((one, getattr(one, file)) for one in commits)
    return {name for one, name in names if one.is_whole(file, sizes.get(name))}


def part_commits(
    run: RunDirectory, look: CommitsLook, *, ask_lost: bool = False, check: bool = False
) -> tuple[tuple[CommitRecord, ...], Losses]:
    """Part the commits of a look into those that count and what is lost.

    With `ask_lost`, judgments whose texts are gone are lost with them. With `check`, the digests of
    all files that are needed are compared, too: every byte of judgments, and of answers, is read.
    """
    if look.session is None:
        # Every session leaves its record before anything lands: these files had records, too.
        orphaned = any(run.files.sizes("data"))
        return (), Losses(torn=look.broken, folders=(FOLDER,) if orphaned else ())
    data = file_sizes(run, look.commits, "data_file")
    texts = file_sizes(run, look.commits, "texts_file") if look.commits else {}
    there = _of_size(look.commits, "data_file", data) | _of_size(look.commits, "texts_file", texts)
    without_texts = {one.name for one in look.commits if not (one.holds_answers or ask_lost)}
    if check:
        vouched = [one.vouched("data_file") for one in look.commits if one.data_file in there]
        vouched += [
            one.vouched("texts_file")
            for one in look.commits
            if one.texts_file in there and one.name not in without_texts
        ]
        there.difference_update(altered(run.files, vouched))
    damaged, unread, kept = [], [], []
    for one in look.commits:
        has_texts = one.texts_file in there
        if one.data_file not in there or not (has_texts or one.name in without_texts):
            damaged.append(one)
            continue
        kept.append(one)
        if not has_texts:
            unread.append(one)
    whole, unfounded = _commits_landed_after_parents(kept)
    gone = {one.name for one in unfounded}
    losses = Losses(
        torn=look.broken,
        damaged=tuple(damaged),
        unfounded=unfounded,
        unread=tuple(one for one in unread if one.name not in gone),
        folders=_empty_folders((*damaged, *unread), {*data, *texts}),
        n_rows=sum(one.rows for one in look.commits),
        torn_parts=torn_parts(look, data),
        unnamed=unnamed_parts(look, data),
    )
    return whole, losses


def _commits_landed_after_parents(
    commits: Sequence[CommitRecord],
) -> tuple[tuple[CommitRecord, ...], tuple[CommitRecord, ...]]:
    """Part commits, in their order, into those whose answers landed before them, and the others.

    An answer that landed later than what stands on it was written anew, in other words.
    """
    if not any(one.parents for one in commits):
        return tuple(commits), ()
    answers: set[str] = set()
    whole, unfounded = [], []
    for one in commits:
        if not answers.issuperset(one.parents):
            unfounded.append(one)
            continue
        whole.append(one)
        # Judgments are many, and nothing stands on them: their keys are never written out.
        if one.holds_answers or one.outcomes.get("failed"):
            answers.update(expected_keys(one.conditions))
    return tuple(whole), tuple(unfounded)


def _empty_folders(commits: Iterable[CommitRecord], there: Iterable[str]) -> tuple[str, ...]:
    """Folders that these commits name files in, and nothing is in; the outermost of each."""
    full: set[str] = set()
    for name in there:
        parts = name.split("/")
        full.update("/".join(parts[:depth]) for depth in range(1, len(parts)))
    empty: dict[str, None] = {}
    for one in commits:
        for name in (one.data_file, one.texts_file):
            root, folder, _ = name.split("/", 2)
            if root not in full:
                empty[root] = None
            elif f"{root}/{folder}" not in full:
                empty[f"{root}/{folder}"] = None
    return tuple(empty)
