"""Judgments to coefficients: value, interval, noise floor and basis of every group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

import polars as pl

from judgerel_ray.core import SweepError
from judgerel_ray.reduce.estimates import COLUMNS, Group, Row, group_rows
from judgerel_ray.reduce.grouping import Block, CountedJudgments, count_judgments, varying_facets
from judgerel_ray.reduce.policy import FAILED, LABEL, MISSING, SCORED
from judgerel_ray.stats import COEFFICIENTS, LEVELS

_Name = TypeVar("_Name", bound=str)


def reduce_judgments(
    frame: pl.LazyFrame,
    *,
    by: Sequence[str] | None = None,
    measurement: Sequence[str] | None = None,
    missing: Sequence[str] = MISSING,
    coefficients: Sequence[str] | None = None,
    block: Block = 0,
    n_categories: Mapping[str, int] | None = None,
) -> pl.DataFrame:
    """Compute how far each judge agrees with itself.

    Parameters
    ----------
    frame : pl.LazyFrame
        Judgments, from a run directory or from :func:`judgerel_ray.reduce.load_judgments`.
    by : sequence of str, optional
        Columns that make a group; by default those of judge, benchmark, protocol, criterion, scale
        and temperature that hold any value.
    measurement : sequence of {"nominal", "ordinal", "interval", "ratio"}, optional
        Levels of Krippendorff's alpha; by default that of the group's own scale.
    missing : sequence of {"category", "drop"}
        What verdicts that are not there count as; both are shown only where they differ.
    coefficients : sequence of str, optional
        Names of ``judgerel_ray.stats.COEFFICIENTS``, all by default.
    block : int or "all"
        Only rows of this block; later blocks depend on the data of earlier ones.
    n_categories : mapping of str to int, optional
        Declared options of each benchmark; by default the distinct values of all rows.

    Returns
    -------
    pl.DataFrame
        One row a group, coefficient, level and missing policy: the group's columns, then `COLUMNS`.
        Never NaN: no number is null, and ``undefined`` or ``estimator`` says why.

    Raises
    ------
    SweepError
        If a column or name is unknown, or there is nothing to reduce.

    Notes
    -----
    One streaming pass makes counts; everything after is in proportion to questions times verdicts.

    Examples
    --------
    >>> rows = {"item_id": ["q", "q", "r", "r"], "replication": [0, 1, 0, 1],
    ...         "verdict": ["A", "A", "B", "A"]}
    >>> found = reduce_judgments(pl.LazyFrame(rows), coefficients=["percent_agreement"])
    >>> found.select("coefficient", "value", "unit").rows()
    [('percent_agreement', 0.5, 'item_id')]
    """
    names = list(COEFFICIENTS)
    chosen = _known(names if coefficients is None else coefficients, names, "coefficient")
    policies = _known(missing, MISSING, "missing policy")
    levels = None if measurement is None else _known(measurement, LEVELS, "measurement")
    counted = count_judgments(frame, by=by, block=block)
    rows = [
        {**key, **row}
        for key, group in _groups(counted, n_categories or {})
        for row in group_rows(group, coefficients=chosen, missing=policies, levels=levels)
    ]
    keys = {name: counted.frame.schema[name] for name in counted.groups}
    return pl.DataFrame(rows, schema={**keys, **COLUMNS}, orient="row")


def _known(names: Sequence[str], known: Sequence[_Name], what: str) -> tuple[_Name, ...]:
    """The names in the order they are known in; each must be known, and there must be one."""
    if not names:
        raise SweepError(f"no {what} given, expected some of {', '.join(known)}")
    for name in names:
        if name not in known:
            raise SweepError(f"unknown {what} {name!r}, expected one of {', '.join(known)}")
    return tuple(name for name in known if name in names)


def _groups(counted: CountedJudgments, declared: Mapping[str, int]) -> Iterator[tuple[Row, Group]]:
    """Every group with its key, in the order of the keys."""
    rows, groups = counted.frame, counted.groups
    distinct: int = rows.filter(SCORED).select(LABEL.n_unique()).item()
    any_without: bool = rows.select((~SCORED & ~FAILED).any()).item()
    for part in rows.partition_by(groups, maintain_order=True) if groups else [rows]:
        facets = varying_facets(part, counted.facets)
        benchmarks = part["benchmark"].unique().to_list() if "benchmark" in part.columns else []
        options = [declared[name] for name in benchmarks if name in declared]
        group = Group(
            rows=part,
            unit=("item_id", *facets),
            cluster=("item_id", *(name for name in facets if name == "benchmark")),
            n_categories=max(options, default=distinct),
            any_without_verdict=any_without,
        )
        yield dict(zip(groups, part.select(groups).row(0), strict=True)) if groups else {}, group
