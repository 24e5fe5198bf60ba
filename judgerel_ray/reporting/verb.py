"""``report``: one self-contained page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import TYPE_CHECKING

from judgerel_ray.analyses.correction.verb import CorrectRequest
from judgerel_ray.analyses.ratings.verb import RankRequest, scale_files
from judgerel_ray.core.verb import FORCE, Named, flag, flag_of, verb
from judgerel_ray.counting.given import given

if TYPE_CHECKING:
    from judgerel_ray.counting.given import Given, Judgments

_RANKS = {one.name: {"flag": flag_of(one)} for one in RankRequest.__dataclass_fields__.values()}

_LABELS = {"flag": flag_of(CorrectRequest.__dataclass_fields__["labels"])}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportRequest(Named):
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
    labels: str | PathLike[str] | None = field(default=None, metadata=_LABELS)


@verb(ReportRequest, group="Decide", help="one self-contained page", prints="")
def report(path: Judgments | Given, asked: ReportRequest) -> str:
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
    from judgerel_ray.reporting.pages import report_path

    options = rating_options(
        reference=None if asked.reference is None else fspath(asked.reference),
        outside=None if asked.outside is None else fspath(asked.outside),
        mapping=asked.mapping,
        preset=asked.preset,
        pairing=asked.pairing,
        scale=scale_files(asked.scale),
    )
    opened = given(path, exact_values=asked.exact_values, verdict_names=asked.verdict_names)
    labels = None if asked.labels is None else fspath(asked.labels)
    return report_path(opened, fspath(asked.out), options, labels=labels, force=asked.force)
