"""``doctor``: what is missing on this machine, and what a file of judgments supports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgerel_ray.core.verb import Named, verb
from judgerel_ray.counting.given import given

if TYPE_CHECKING:
    from judgerel_ray.analyses.doctor.diagnosis import Diagnosis
    from judgerel_ray.counting.given import Given, Judgments


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorRequest(Named):
    """What ``doctor`` is asked for."""


@verb(
    DoctorRequest,
    group="Data",
    help="what is missing on this machine, or what a file of judgments supports",
    source="[PATH]",
    prints="json",
)
def doctor(path: Judgments | Given | None, asked: DoctorRequest) -> Diagnosis:
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

    if path is None:
        from judgerel_ray.analyses.doctor.diagnosis import checks

        return Diagnosis(machine=checks())
    from judgerel_ray.analyses.doctor.from_run import diagnose

    return diagnose(given(path, exact_values=asked.exact_values, verdict_names=asked.verdict_names))
