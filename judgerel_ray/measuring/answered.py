"""Options that all verbs share which measure answers as right or wrong."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import TYPE_CHECKING

from judgerel_ray.core import SweepError
from judgerel_ray.core.verb import BY, Labelled, Names, flag, names_of

if TYPE_CHECKING:
    from judgerel_ray.counting.snapshot import JudgmentSource, Snapshot

KINDS = "stated, agreement, support, margin, probability"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered(Labelled):
    """Options of verbs on answers that are right or wrong."""

    by: Names = field(default=None, metadata=BY)
    gold: str | PathLike[str] | None = field(
        default=None,
        metadata=flag(
            "a table of item_id, gold: right answers, in place of the recorded ones", "FILE"
        ),
    )

    @property
    def gold_file(self) -> str | None:
        """The file of right answers."""
        return None if self.gold is None else fspath(self.gold)

    @contextmanager
    def opened(self, source: JudgmentSource) -> Iterator[Snapshot]:
        """The judgments, with what tells how sure an answer is and what is right."""
        from judgerel_ray.counting.right_answers import GOLD
        from judgerel_ray.counting.snapshot import Snapshot

        if self.gold is not None and self.labels is not None:
            raise SweepError("--gold and --labels both say what is right", hint="leave one out")
        apart = names_of(self.by) or ()
        with Snapshot.open(source, self, apart=apart, columns=["confidence", GOLD]) as judged:
            yield judged
