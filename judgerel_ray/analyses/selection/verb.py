"""``select`` and ``systems``: which answers to accept, and systems compared by their answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from judgerel_ray.core.verb import Names, comma_names, command_on, flag, names_of, verb
from judgerel_ray.measuring.answered import KINDS, Answered

if TYPE_CHECKING:
    from judgerel_ray.analyses.selection.selection import Selection
    from judgerel_ray.analyses.selection.systems_compared import SystemComparison
    from judgerel_ray.blocks.result import Result
    from judgerel_ray.counting.snapshot import JudgmentSource


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectRequest(Answered):
    """What ``select`` is asked for."""

    confidence: Names = field(
        default=None,
        metadata=flag(
            f"kinds of confidence: {KINDS}; default those that are there", "NAMES", read=comma_names
        ),
    )
    band: str = field(
        default="bonferroni",
        metadata=flag("band of the acceptance curve: bonferroni, dkw", "NAME"),
    )
    bins: int = field(default=10, metadata=flag("bins of the calibration error", "N"))
    risk: float = field(
        default=0.1, metadata=flag("share of wrong answers that a guarantee bounds", "R")
    )
    delta: float = field(default=0.1, metadata=flag("chance that the guarantee fails", "D"))
    resamples: int = field(default=2000, metadata=flag("number of bootstrap resamples", "N"))
    seed: int = field(default=0, metadata=flag("seed of the draws; equal seeds, equal digits", "S"))


@verb(
    SelectRequest,
    examples=("select judgments.csv", "select run --risk 0.3"),
    group="Analyse",
    help="accuracy by confidence: which answers to accept",
    file="systems",
    section="judgerel_ray.analyses.selection.from_run:selection_on_page",
)
def select(path: JudgmentSource, request: SelectRequest) -> Result[Selection]:
    """Tell what accepting answers from a confidence on is worth, by system.

    A system is a judge in a role, at a temperature, with a template; `by` names other columns.
    Questions are what is independent, however often each was asked.

    Parameters
    ----------
    path : str, path or frame
        A run whose items name their right option, or a file of judgments with ``item_id``,
        ``replication``, ``verdict``, ``gold`` and, where it was stated, ``confidence``.

    Returns
    -------
    Selection
        ``systems`` (accuracy beside chance, AUROC, AURC, calibration error, Brier score),
        ``acceptance`` (error and accuracy at every threshold that occurs), ``reliability``
        (accuracy by confidence) and ``guarantees`` (thresholds learnt on half of the questions,
        tried on the other). ``band`` and ``split`` are codes, with their numbers beside them:
        ``band_thresholds`` that a band holds at, ``band_off`` of "dkw", ``seed``.

    Raises
    ------
    SweepError, StoreError
        If the path, a column or a choice is wrong, or nobody knows what is right.

    Examples
    --------
    >>> from judgerel_ray import example
    >>> found = select(example("judgments.csv"), confidence="agreement", resamples=100)
    >>> found.systems.select("judge", "accuracy").rows()
    [('simulated-erratic', 0.65625), ('simulated-steady', 0.875)]
    """
    from judgerel_ray.analyses.selection.from_run import selection_of
    from judgerel_ray.analyses.selection.selection import SelectionOptions
    from judgerel_ray.analyses.selection.short import selection_short
    from judgerel_ray.analyses.selection.show import selection_blocks
    from judgerel_ray.blocks.result import Result

    options = SelectionOptions(
        confidences=names_of(request.confidence) or None, n_bins=request.bins,
        band=request.band,  # type: ignore[arg-type]
        risk=request.risk, delta=request.delta, resamples=request.resamples, seed=request.seed,
    )  # fmt: skip
    with request.opened(path) as judged:
        found = selection_of(judged, options, by=names_of(request.by), gold=request.gold_file)
        notes = judged.run_notes
    tables, command = found.tables(), command_on("systems", path, request)
    return Result(
        found=found,
        notes=notes,
        tables=tables,
        full=lambda: selection_blocks(tables),
        short=lambda: selection_short(tables, command),
        rows=found.systems,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemsRequest(Answered):
    """What ``systems`` is asked for."""

    confidence: str | None = field(
        default=None,
        metadata=flag(f"accept answers by one of {KINDS}; default the first both have", "NAME"),
    )
    answer: str = field(
        default="first",
        metadata=flag("of a question asked several times: first, majority", "RULE"),
    )
    answer_temperature: float | None = field(
        default=None,
        metadata=flag("temperature of the answers that judges compared; default the run's", "T"),
    )
    resamples: int = field(default=2000, metadata=flag("number of bootstrap resamples", "N"))
    seed: int = field(default=0, metadata=flag("seed of the draws; equal seeds, equal digits", "S"))


@verb(
    SystemsRequest,
    examples=("systems run", "systems run --answer majority"),
    group="Analyse",
    help="systems compared on the questions they share, at matched cost, too",
    file="pairs",
)
def systems(path: JudgmentSource, request: SystemsRequest) -> Result[SystemComparison]:
    """Compare systems on the questions they share, joined by question.

    Parameters
    ----------
    path : str, path or frame
        As of :func:`select`.

    Returns
    -------
    SystemComparison
        ``pairs`` (exact McNemar with Holm's adjustment, differences with intervals),
        ``equal_acceptance`` (errors where both accept the same share), ``matched_cost`` (judges
        against the same cost spent on a single model) and ``self_preference``.

    Raises
    ------
    SweepError, StoreError
        As of :func:`select`; or if there are no two systems.

    Examples
    --------
    >>> from judgerel_ray import example
    >>> found = systems(example("judgments.csv"), resamples=100)
    >>> found.pairs.select("first", "second", "first_only", "second_only").rows()
    [('simulated-erratic', 'simulated-steady', 1, 2)]
    """
    from judgerel_ray.analyses.selection.from_run import systems_of
    from judgerel_ray.analyses.selection.short import systems_short
    from judgerel_ray.analyses.selection.show import systems_blocks
    from judgerel_ray.analyses.selection.systems_compared import ComparisonOptions
    from judgerel_ray.blocks.result import Result

    options = ComparisonOptions(
        answer=request.answer,  # type: ignore[arg-type]
        confidence=request.confidence, resamples=request.resamples, seed=request.seed,
        answer_temperature=request.answer_temperature,
    )  # fmt: skip
    with request.opened(path) as judged:
        found = systems_of(judged, options, by=names_of(request.by), gold=request.gold_file)
        notes = judged.run_notes
    tables, command = found.tables(), command_on("select", path, request)
    return Result(
        found=found,
        notes=notes,
        tables=tables,
        full=lambda: systems_blocks(tables),
        short=lambda: systems_short(tables, command),
        rows=found.pairs,
    )
