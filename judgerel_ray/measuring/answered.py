"""Options that all verbs share which measure answers as right or wrong."""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import TYPE_CHECKING

from judgerel_ray.core.verb import BY, Named, Names, flag
from judgerel_ray.counting.given import given

if TYPE_CHECKING:
    from judgerel_ray.counting.given import Given, Judgments

KINDS = "stated, agreement, support, margin, probability"


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered(Named):
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

    def judged(self, path: Judgments | Given) -> str | Given:
        """The judgments, read as is asked."""
        return given(path, exact_values=self.exact_values, verdict_names=self.verdict_names)
