"""``compare``: paired differences of runs, judges or temperatures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from judgerel_ray.core.verb import Named, Names, comma_names, flag, names_of, split_names, verb
from judgerel_ray.counting.given import basis_of, given

if TYPE_CHECKING:
    import polars as pl

    from judgerel_ray.counting.given import Given, Judgments
    from judgerel_ray.measuring.serving import SharedRequests


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareRequest(Named):
    """What ``compare`` is asked for."""

    b: Judgments | Given | None = field(
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
            "coefficients by name; default krippendorff_alpha and percent_agreement",
            "NAME",
            read=split_names,
            repeats=True,
        ),
    )
    tolerance: float | None = field(
        default=None, metadata=flag("the largest difference that does not matter", "D")
    )


def compared(
    a: Judgments | Given, asked: CompareRequest
) -> tuple[pl.DataFrame, SharedRequests | None]:
    """Paired differences, and requests that two runs share one by one.

    Raises: as of :func:`compare`.
    """
    from judgerel_ray.analyses.comparison.from_run import compare_with_serving

    read = [
        None
        if one is None
        else given(one, exact_values=asked.exact_values, verdict_names=asked.verdict_names)
        for one in (a, asked.b)
    ]
    assert read[0] is not None
    return compare_with_serving(
        read[0],
        read[1],
        by=names_of(asked.by),
        coefficients=names_of(asked.coefficients),
        tolerance=asked.tolerance,
    )


def _basis_of_both(
    a: Judgments | Given, asked: CompareRequest
) -> tuple[Judgments | Given, Callable[[], None]]:
    """Open the first, and say what both rest on."""
    first = basis_of(a, asked)
    second = None if asked.b is None else basis_of(asked.b, asked)

    def say() -> None:
        first[1]()
        if second is not None:
            second[1]()

    return first[0], say


@verb(
    CompareRequest,
    group="Decide",
    help="paired differences of runs, judges or temperatures",
    source="A",
    prints="format",
    basis=_basis_of_both,
)
def compare(a: Judgments | Given, asked: CompareRequest) -> pl.DataFrame:
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
    from judgerel_ray.measuring.serving import with_shared

    found, shared = compared(a, asked)
    return with_shared(found, shared, (_called(a), _called(asked.b)))


def _called(source: object) -> str:
    """A path as it is given, or what a frame is called."""
    from os import PathLike

    is_path = isinstance(source, str | PathLike)
    return str(source) if is_path or source is None else "the frame given"
