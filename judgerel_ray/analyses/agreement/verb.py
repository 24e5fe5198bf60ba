"""``agree``: judges against labels, class by class, and against each other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from judgerel_ray.core.verb import (
    BY,
    Labelled,
    Names,
    comma_names,
    command_on,
    flag,
    names_of,
    verb,
)

if TYPE_CHECKING:
    from judgerel_ray.analyses.agreement.agreement import AgreementTables
    from judgerel_ray.blocks.result import Result
    from judgerel_ray.counting.snapshot import JudgmentSource


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreeRequest(Labelled):
    """What ``agree`` is asked for."""

    by: Names = field(default=None, metadata=BY)
    missing: Names = field(
        default=("category", "drop"),
        metadata=flag("how a missing verdict counts: category, drop", "NAMES", read=comma_names),
    )


@verb(
    AgreeRequest,
    examples=("agree judgments.csv", "agree judgments.csv --labels labels.csv"),
    group="Analyse",
    help="kappa of judges with labels, class by class, and of every two judges",
    file="pairs",
    section="judgerel_ray.analyses.agreement.show:agreement_on_page",
)
def agree(path: JudgmentSource, request: AgreeRequest) -> Result[AgreementTables]:
    """Cohen's kappa of judges with labels, label by label, and of every two judges.

    Returns
    -------
    AgreementTables
        ``labels``: accuracy and kappa of each judge with labels, and of the people who gave these;
        ``classes``: recall and precision of each label; ``pairs``: kappa and alpha of every two
        judges, over the questions that both judged.

    Raises
    ------
    SweepError, StoreError
        As of :func:`judgerel_ray.reduce`; or if no label is known and no two judges share a
        question.

    Examples
    --------
    >>> from judgerel_ray import example
    >>> found = agree(example("judgments.csv"))
    >>> [(judge, round(kappa, 2)) for judge, kappa in
    ...  found.labels.select("judge", "cohen_kappa").rows()]
    [('simulated-erratic', 0.31), ('simulated-steady', 0.75)]
    """
    from judgerel_ray.analyses.agreement.agreement import agreement_tables, checked_policies
    from judgerel_ray.analyses.agreement.show import agreement_result
    from judgerel_ray.counting.files.labelled import READ
    from judgerel_ray.counting.snapshot import Snapshot

    by = names_of(request.by)
    policies = checked_policies(names_of(request.missing) or ())
    with Snapshot.open(path, request, apart=by or (), columns=READ) as judged, judged.naming():
        found = agreement_tables(judged, by=by, missing=policies)
        command = command_on("gate", path, request)
        return agreement_result(found, judged.run_notes, command)
