"""``uncertainty``: how sure a judge is of single judgments."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from judgerel_ray.core.verb import Names, comma_names, command_on, flag, names_of, verb

if TYPE_CHECKING:
    from os import PathLike

    from judgerel_ray.analyses.confusion.confusion import UncertaintyTables
    from judgerel_ray.blocks.result import Result


@dataclass(frozen=True, slots=True, kw_only=True)
class UncertaintyRequest:
    """What ``uncertainty`` is asked for."""

    threshold: float | None = field(
        default=None,
        metadata=flag(
            "threshold of the labels low and high, in (0, 1]; cross-fitted without it", "T"
        ),
    )
    rule: Names = field(
        default=(),
        metadata=flag(
            "how matrices give labels: normalised (columns sum to 1), formula (low whatever the "
            "judge chose), exceeding (low above the threshold only)",
            "RULES",
            read=comma_names,
        ),
    )
    risk: float = field(
        default=0.1, metadata=flag("share of wrong answers that a guarantee bounds", "R")
    )
    delta: float = field(default=0.1, metadata=flag("chance that the guarantee fails", "D"))


@verb(
    UncertaintyRequest,
    examples=("uncertainty run", "uncertainty run --threshold 0.4"),
    group="Analyse",
    help="how sure a judge is of single judgments, from confusion matrices",
    source="RUN",
    file="judgments, a row each",
    probabilities="judgerel_ray.analyses.confusion.from_run:uncertainty_on_page",
)
def uncertainty(
    path: str | PathLike[str], request: UncertaintyRequest
) -> Result[UncertaintyTables]:
    """Uncertainty of single judgments, from the confusion matrices of a run.

    Parameters
    ----------
    path : str or path
        A run with asks of protocol ``confusion``.

    Returns
    -------
    UncertaintyTables
        ``judgments``, one row a judgment; ``worth``, ``scores``, ``labels``, ``transfer``,
        ``people`` and ``against_people``, which are printed; ``curves``, ``acceptance`` and
        ``sparsity``, which a page draws.

    Raises
    ------
    SweepError
        If the threshold, a rule, risk or delta is none.
    StoreError
        If the path is no run, or the run asked for no confusion.

    Examples
    --------
    >>> from judgerel_ray import example
    >>> found = uncertainty(example("run"))
    >>> found.judgments.select("item_id", "chosen", "right", "correct").rows()
    [('q2', 'b', 'a', False), ('q5', 'b', 'b', True)]
    """
    from judgerel_ray.analyses.confusion.from_run import run_uncertainty_tables
    from judgerel_ray.analyses.confusion.matrices import uncertainty_options
    from judgerel_ray.analyses.confusion.short import uncertainty_short
    from judgerel_ray.analyses.confusion.show import uncertainty_blocks
    from judgerel_ray.blocks.result import Result
    from judgerel_ray.counting.snapshot import open_run, run_notes

    options = uncertainty_options(
        threshold=request.threshold,
        rule=names_of(request.rule) or (),
        risk=request.risk,
        delta=request.delta,
    )
    run = open_run(path)
    command = command_on("reduce", path)
    found = run_uncertainty_tables(run, options)
    return Result(
        found=found,
        notes=run_notes(run),
        tables=found.printed(),
        full=lambda: uncertainty_blocks(found),
        short=lambda: uncertainty_short(found, command),
        rows=found.judgments,
    )
