"""Lost results of a run: reported before anything is asked, and refused where there are many."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from rich.console import Console

from judgerel_ray.asking.plan.planning import Plan
from judgerel_ray.asking.plan.resolve import Resolved
from judgerel_ray.asking.run.pending import landed_texts
from judgerel_ray.core import StoreError, count_of
from judgerel_ray.design import AskFrame, planned_asks
from judgerel_ray.fleet.board import print_line
from judgerel_ray.store import CommitRecord, Ledger, Losses, RunDirectory
from judgerel_ray.store.generations import READINGS


def agree_to_losses(
    run: RunDirectory, console: Console, losses: Losses, *, ask_lost: bool = False
) -> None:
    """Tell what is lost in a line each; refuse where it is much, unless that is meant."""
    if not ask_lost:
        refuse_losses(run, losses)
    for line in loss_lines(losses):
        print_line(console, line)


class LostMuchError(StoreError):
    """Much of what landed is lost, as if a disk were not mounted: nothing to pay for twice."""


def refuse_losses(run: RunDirectory, losses: Losses) -> None:
    """Refuse losses that are much."""
    command = f"judgerel run SWEEP.toml --out {run.url} --ask-lost"
    if "commits" in losses.folders:
        raise LostMuchError(
            "judgments have landed here, and the records in commits/ that say which count are gone",
            where={"run": run.url},
            hint=f"mount the disk or put the folder back; {command} asks for everything again",
        )
    readings = [one for one in losses.damaged if one.data_file.startswith(f"{READINGS}/")]
    if readings:
        raise StoreError(
            "files of a later reading of the texts are gone, cut or altered; what landed is there",
            where={"run": run.url, "path": readings[0].data_file},
            hint=f"judgerel rejudge {run.url} reads the texts again and asks nothing; {command} "
            f"asks {count_of(sum(one.rows for one in readings), 'row')} again",
        )
    needed = losses.needed_folders
    if needed or losses.is_large:
        raise LostMuchError(
            _run_loss_refusal(losses, needed),
            where={"run": run.url},
            hint=f"mount the disk or put the files back; {command} asks for them again, and what "
            "lies in the files then counts no more"
            if losses.damaged or losses.torn or losses.has_gone_records
            else f"{command} drops them and asks what is planned of them again",
        )


def stray_commits(
    run: RunDirectory, resolved: Resolved, plan: Plan, ledger: Ledger
) -> Collection[str]:
    """Name the commits with rows that the sweep does not ask, given the answers that landed.

    Later prompts hold earlier answers, so what is planned follows from what landed. A sweep of
    one wave asks the same whatever landed, and is gone through only where there is too much.
    """
    asked = {judge.judge: judge.requests_at_most for judge in plan.judges}
    too_many = any(n > asked.get(judge, 0) for judge, n in ledger.rows.items())
    if not ledger.commits or not (too_many or any(f.n_waves > 1 for f in resolved.frames)):
        return frozenset()
    strays: set[str] = set()
    while True:
        kept = tuple(one for one in ledger.commits if one.name not in strays)
        texts = landed_texts(run, replace(ledger, commits=kept))
        planned = planned_replications(resolved.frames, texts)
        found = {one.name for one in kept if not _is_planned(one, planned)}
        strays |= found
        # What stood on an answer in one of them is none of the plan's, either.
        if not any(one.holds_answers for one in kept if one.name in found):
            return strays


def planned_replications(
    frames: tuple[AskFrame, ...], texts: Mapping[str, str | None]
) -> dict[str, int]:
    """Replications planned at most of every condition, in all waves that these answers allow."""
    planned: dict[str, int] = {}
    for ask in planned_asks(frames, texts, at_most=True):
        key = ask.condition.condition_key
        planned[key] = max(ask.first + ask.n, planned.get(key, 0))
    return planned


def _is_planned(commit: CommitRecord, planned: Mapping[str, int]) -> bool:
    """Whether every row of a commit is asked."""
    return all(
        first + n <= planned.get(key, 0)
        for key, ranges in commit.conditions.items()
        for first, n in ranges
    )


def loss_lines(losses: Losses) -> list[str]:
    """What is lost, a line for each kind."""
    lines = []
    if losses.torn:
        lines.append(
            f"lost: {len(losses.torn)} records are torn or gone ({_named(losses.torn)}); "
            f"their rows, about {losses.n_torn:,}, are asked again"
        )
    if losses.unnamed:
        lines.append(
            f"left: {len(losses.unnamed)} files in data/ have no record, because a driver was "
            f"killed or the records are gone ({_named(tuple(losses.unnamed))}); their rows, about "
            f"{losses.n_unnamed:,}, are asked again"
        )
    if losses.readings:
        lines.append(
            f"left: {len(losses.readings)} files in generations/ are newer than every reading, "
            "because a rejudge was killed or its record is gone "
            f"({_named(tuple(losses.readings))}); judgerel rejudge reads the texts again"
        )
    if losses.damaged:
        names = [one.name for one in losses.damaged]
        lines.append(
            f"lost: the files of {len(names)} commits are gone, cut or altered ({_named(names)}); "
            f"their {_rows(losses.damaged):,} rows are asked again"
        )
    if losses.unfounded:
        names = [one.name for one in losses.unfounded]
        lines.append(
            f"dropped: {len(names)} commits with rows on answers that the run does not hold, or "
            f"that no plan has ({_named(names)}); of their {_rows(losses.unfounded):,} rows, those "
            "planned are asked again"
        )
    if losses.unread:
        names = [one.name for one in losses.unread]
        lines.append(
            f"texts of {_rows(losses.unread):,} judgments are gone or cut ({_named(names)}); their "
            "verdicts count without them, --ask-lost asks them again"
        )
    return lines


def _run_loss_refusal(losses: Losses, needed: Collection[str]) -> str:
    """What is lost, in one line."""
    losses_named = []
    n_rows = f"{losses.n_landed:,} rows"
    n_unfounded = _rows(losses.unfounded)
    if losses.damaged:
        folders = f" ({', '.join(needed)} as a whole)" if needed else ""
        stand = f", and {n_unfounded:,} that stand on them" if n_unfounded else ""
        losses_named.append(
            f"files that landed are gone, cut or altered{folders}: "
            f"{_rows(losses.damaged):,} of {n_rows}{stand}"
        )
    elif n_unfounded:
        losses_named.append(
            f"{n_unfounded:,} of {n_rows} are on answers that the run does not hold, or of no plan"
        )
    if losses.torn:
        n_torn = f"about {losses.n_torn:,}" if losses.n_torn else "nobody knows how many"
        losses_named.append(
            f"{len(losses.torn)} records in commits/ are torn or gone "
            f"({_named(losses.torn)}): {n_torn} of {n_rows}"
        )
    if losses.has_gone_records:
        losses_named.append(
            f"{len(losses.unnamed)} files in data/ have no record in commits/: "
            f"about {losses.n_unnamed:,} of {n_rows}"
        )
    return "; ".join(losses_named)


def _named(names: Collection[str]) -> str:
    """The first name, and how many more there are."""
    first, *more = names
    return f"{first} and {len(more)} more" if more else first


def _rows(commits: Collection[CommitRecord]) -> int:
    """Rows of commits."""
    return sum(one.rows for one in commits)
