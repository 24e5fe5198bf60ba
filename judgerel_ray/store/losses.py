"""Losses: commits that do not count any more, because of what is gone, and why.

A commit counts while its judgments are there whole. Texts are needed where they are answers that
later prompts are made of: without them the answers, and all that was judged of them, are lost,
too, or a run would hold verdicts on texts that nobody can read and that are never written again
in the same words. A judge's own texts only explain its verdicts, which count without them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from judgerel_ray.store.digests import altered
from judgerel_ray.store.ledger import Ledger, Look, build_ledger, look_at_commits
from judgerel_ray.store.leftovers import count_rows, torn_parts, unnamed_parts
from judgerel_ray.store.parts import expected_keys
from judgerel_ray.store.records import FOLDER, CommitRecord
from judgerel_ray.store.rundir import RunDirectory

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
        """The same, with the rows counted in files that no whole record tells of."""
        n_torn, n_unnamed = (count_rows(run, parts) for parts in (self.torn_parts, self.unnamed))
        return replace(self, n_torn=n_torn, n_unnamed=n_unnamed)

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
        Its ``broken`` names all commits that do not count any more: their rows are owed.

    Raises
    ------
    StoreError
        If the directory cannot be read.

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


def part_commits(
    run: RunDirectory, look: Look, *, ask_lost: bool = False, check: bool = False
) -> tuple[tuple[CommitRecord, ...], Losses]:
    """Part the commits of a look into those that count and what is lost.

    With `ask_lost`, judgments whose texts are gone are lost with them. With `check`, the digests of
    all files that are needed are compared, too: every byte of judgments, and of answers, is read.
    """
    if look.session is None:
        # Every session leaves its record before anything lands: these files had records, too.
        orphaned = any(run.files.sizes("data"))
        return (), Losses(torn=look.broken, folders=(FOLDER,) if orphaned else ())
    data = run.files.sizes("data")
    texts = run.files.sizes("texts") if look.commits else {}
    damaged, unread, kept = [], [], []
    bad: frozenset[str] = frozenset()
    if check:
        vouched = [
            one.vouched("data_file")
            for one in look.commits
            if one.is_whole("data_file", data.get(one.data_file))
        ]
        vouched += [
            one.vouched("texts_file")
            for one in look.commits
            if (one.holds_answers or ask_lost)
            and one.is_whole("texts_file", texts.get(one.texts_file))
        ]
        bad = frozenset(altered(run.files, vouched))
    for one in look.commits:
        has_texts = (
            one.is_whole("texts_file", texts.get(one.texts_file)) and one.texts_file not in bad
        )
        needs_texts = one.holds_answers or ask_lost
        has_data = one.is_whole("data_file", data.get(one.data_file)) and one.data_file not in bad
        if not has_data or (needs_texts and not has_texts):
            damaged.append(one)
            continue
        kept.append(one)
        if not has_texts:
            unread.append(one)
    whole, unfounded = _founded(kept)
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


def _founded(
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
        if not answers.issuperset(one.parents or ()):
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
