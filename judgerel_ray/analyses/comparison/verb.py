"""``compare``: paired differences of runs, judges or temperatures."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from judgerel_ray.core.verb import (
    Labelled,
    Names,
    comma_names,
    command_on,
    flag,
    names_of,
    split_names,
    verb,
)

if TYPE_CHECKING:
    import polars as pl

    from judgerel_ray.blocks.result import Result
    from judgerel_ray.counting.snapshot import JudgmentSource


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareRequest(Labelled):
    """What ``compare`` is asked for."""

    b: JudgmentSource | None = field(
        default=None,
        kw_only=False,
        metadata=flag(
            "the other run or file; without it, what --by names is compared inside the first", "B"
        ),
    )
    by: Names = field(
        default=None,
        metadata=flag(
            "columns to match on; without a second, columns to compare", "COLS", read=comma_names
        ),
    )
    coefficients: Names = field(
        default=None,
        metadata=flag(
            "coefficients by name; default krippendorff_alpha and percent_agreement; of labels, "
            "cohen_kappa",
            "NAME",
            read=split_names,
            repeats=True,
        ),
    )
    tolerance: float | None = field(
        default=None, metadata=flag("the largest difference that does not matter", "D")
    )


@verb(
    CompareRequest,
    examples=("compare judgments.csv --by judge", "compare run --by judge --coefficient flip_rate"),
    group="Decide",
    help="paired differences of runs, judges or temperatures",
    source="A",
    prints="format",
)
def compare(a: JudgmentSource, request: CompareRequest) -> Result[pl.DataFrame]:
    """Paired differences of two runs or files, or of judges or temperatures inside one.

    Parameters
    ----------
    a : str, path or frame
        As of :func:`judgerel_ray.reduce`.

    Returns
    -------
    pl.DataFrame
        One row a pair, coefficient and missing policy: the difference with its interval; below
        them, of two runs that share requests, the share of these answered otherwise.

    Raises
    ------
    SweepError, StoreError
        If a name or a path is wrong, or there is nothing to compare.

    Examples
    --------
    >>> from judgerel_ray import example
    >>> found = compare(example("judgments.csv"), by="judge", coefficients="percent_agreement")
    >>> found.select("a", "b", "difference").rows()
    [('simulated-erratic', 'simulated-steady', 0.1875)]
    """
    from judgerel_ray.analyses.comparison.from_run import compare_with_serving
    from judgerel_ray.analyses.comparison.show import compared_result
    from judgerel_ray.counting.files.labelled import READ
    from judgerel_ray.counting.snapshot import Snapshot, sides

    with ExitStack() as opened:
        first, *others = [
            opened.enter_context(Snapshot.open(source, reading, columns=READ))
            for source, reading in sides([a] if request.b is None else [a, request.b], request)
        ]
        second = others[0] if others else None
        found, shared = compare_with_serving(
            first, second, by=names_of(request.by), coefficients=names_of(request.coefficients),
            tolerance=request.tolerance,
        )  # fmt: skip
        command = command_on("advise", a if request.b is None else request.b, request)
        return compared_result(found, shared, first, second, command)
