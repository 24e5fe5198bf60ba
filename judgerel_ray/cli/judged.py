"""Judgments that a verb reads: where they are, and what their numbers rest on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from judgerel_ray.cli.paths import judged_path
from judgerel_ray.cli.screen import tell

if TYPE_CHECKING:
    from judgerel_ray.counting.given import Given


def judged(path: str, request: Any) -> str | Given:
    """The judgments named, which must be there; of a run what has landed by now.

    Raises
    ------
    SweepError
        If nothing is there.
    StoreError
        If a folder is there that is neither a run directory nor holds files of judgments; or
        records of a run are torn, altered or gone.
    """
    from judgerel_ray.counting.given import given, looked_at

    read = given(
        judged_path(path),
        exact_values=getattr(request, "exact_values", False),
        verdict_names=getattr(request, "verdict_names", None),
    )
    return looked_at(read)


def tell_basis(path: str | Given, formats: Sequence[str], *, about: str = "") -> None:
    """Say before any number what it rests on, where a run owes requests or has damaged files.

    Beside JSON it is no part of it.
    """
    from judgerel_ray.analyses.reliability.basis import basis_lines

    for line in basis_lines(path):
        tell(f"{about}{line}", aside="json" in formats)
