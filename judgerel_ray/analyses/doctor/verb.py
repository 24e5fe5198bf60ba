"""``doctor``: what is missing on this machine, and what a file of judgments supports."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from judgerel_ray.core.verb import Named, verb

if TYPE_CHECKING:
    from judgerel_ray.analyses.doctor.diagnosis import Diagnosis
    from judgerel_ray.blocks.result import Result
    from judgerel_ray.counting.snapshot import JudgmentSource


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorRequest(Named):
    """What ``doctor`` is asked for."""


@verb(
    DoctorRequest,
    examples=("doctor", "doctor judgments.csv"),
    group="Data",
    help="what is missing on this machine, or what a file of judgments supports",
    source="[PATH]",
    prints="json",
)
def doctor(path: JudgmentSource | None, request: DoctorRequest) -> Result[Diagnosis]:
    """Say what this machine lacks; or, of judgments, what they support and what would unblock more.

    Parameters
    ----------
    path : str, path or frame, optional
        As of :func:`judgerel_ray.reduce`; without, this machine is looked at.

    Returns
    -------
    Diagnosis
        ``machine``; or ``columns`` and what each is taken for, ``judges`` and why one may be none,
        ``supports`` and what would unblock the rest.

    Raises
    ------
    SweepError, StoreError
        If the judgments cannot be read; rows that contradict each other are named.

    Examples
    --------
    >>> from judgerel_ray import example
    >>> found = doctor(example("judgments.csv"))
    >>> [one.verb for one in found.supports if one.is_supported]
    ['reduce', 'select', 'panels']
    """
    from judgerel_ray.analyses.doctor.diagnosis import Diagnosis
    from judgerel_ray.analyses.doctor.show import diagnosed

    if path is None:
        from judgerel_ray.analyses.doctor.diagnosis import checks

        return diagnosed(Diagnosis(machine=checks()))
    from judgerel_ray.analyses.doctor.from_run import diagnose, mapping_for
    from judgerel_ray.counting.files.understood import ColumnsMissing
    from judgerel_ray.counting.right_answers import GOLD
    from judgerel_ray.counting.snapshot import Snapshot, name_of

    try:
        with Snapshot.open(path, request, columns=[GOLD, "confidence"]) as judged:
            return diagnosed(diagnose(judged))
    except ColumnsMissing as error:
        return diagnosed(replace(mapping_for(error), source=name_of(path)))
