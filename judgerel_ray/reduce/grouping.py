"""What belongs together: groups of judgments, and the units of agreement inside them.

A unit is a question as it was asked: the item and every recorded facet that varies inside the
group. Its replications are the raters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Literal

import polars as pl

from judgerel_ray.core import Outcome, SweepError

DEFAULT_GROUPS = ("judge", "benchmark", "protocol", "criterion", "scale", "temperature")
FACETS = (
    "judge", "judge_fingerprint", "benchmark", "protocol", "stage", "responder", "criterion",
    "definition", "scale", "template", "temperature", "top_k", "top_p", "option_order",
)  # fmt: skip
Block = int | Literal["all"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedJudgments:
    """How often each unit received each verdict: all that coefficients of agreement need.

    Attributes
    ----------
    frame : pl.DataFrame
        Columns: the groups, item_id, the facets recorded, verdict, score, outcome, and ``n``, the
        number of rows; sorted by all of them, so that nothing depends on the order of the rows.
    groups : tuple of str
        Columns that make a group.
    facets : tuple of str
        Columns that make a unit besides item_id.
    """

    frame: pl.DataFrame
    groups: tuple[str, ...]
    facets: tuple[str, ...]


def count_judgments(
    frame: pl.LazyFrame, *, by: Sequence[str] | None = None, block: Block = 0
) -> CountedJudgments:
    """Count judgments by group, unit and verdict, in one streaming pass.

    Parameters
    ----------
    frame : pl.LazyFrame
        Judgments; only rows of judges count. ``item_id``, and ``verdict`` or ``score`` are needed;
        without ``outcome``, a row without both is ``unparsed``.
    by : sequence of str, optional
        Columns that make a group; by default those of `DEFAULT_GROUPS` with any value.
    block : int or "all"
        Only rows of this block; later blocks depend on the data of earlier ones.

    Returns
    -------
    CountedJudgments

    Raises
    ------
    SweepError
        If a column is missing, or there is no row to count.

    Examples
    --------
    >>> rows = {"item_id": ["q", "q"], "replication": [0, 1], "verdict": ["A", "A"]}
    >>> count_judgments(pl.LazyFrame(rows)).frame.select("item_id", "verdict", "n").rows()
    [('q', 'A', 2)]
    """
    columns = frame.collect_schema().names()
    if "item_id" not in columns or not {"verdict", "score"} & set(columns):
        raise SweepError(
            f"judgments need item_id, and verdict or score, got columns {', '.join(columns)}"
        )
    rows = _judges(frame, columns, block).with_columns(*_readings(columns))
    recorded = [name for name in FACETS if name in columns]
    groups = _default_groups(rows, recorded) if by is None else _checked_groups(by, columns)
    keys = [*dict.fromkeys((*groups, "item_id", *recorded)), "verdict", "score", "outcome"]
    counted = rows.group_by(keys).agg(pl.len().alias("n")).collect(engine="streaming")
    if counted.is_empty():
        raise SweepError(f"no judgments to reduce: no row of a judge in block {block}")
    facets = tuple(name for name in recorded if name not in groups)
    return CountedJudgments(frame=counted.sort(keys), groups=groups, facets=facets)


def varying_facets(group: pl.DataFrame, facets: Sequence[str]) -> tuple[str, ...]:
    """Name the facets that take more than one value, null being one.

    Examples
    --------
    >>> varying_facets(pl.DataFrame({"template": ["a", "b"], "stage": ["x", "x"]}),
    ...                ["template", "stage"])
    ('template',)
    """
    return tuple(name for name in facets if group[name].n_unique() > 1)


def _judges(frame: pl.LazyFrame, columns: Sequence[str], block: Block) -> pl.LazyFrame:
    """Rows of judges (a file without roles has no others), of one block."""
    if "role" in columns:
        frame = frame.filter(pl.col("role").fill_null("judge") == "judge")
    if "block" in columns and block != "all":
        frame = frame.filter(pl.col("block").fill_null(0) == block)
    return frame


def _readings(columns: Sequence[str]) -> tuple[pl.Expr, ...]:
    """The columns verdict, score and outcome, whichever of them are recorded."""
    verdict = pl.col("verdict").cast(pl.String) if "verdict" in columns else pl.lit(None, pl.String)
    score = pl.col("score").cast(pl.Float64) if "score" in columns else pl.lit(None, pl.Float64)
    read = pl.when(verdict.is_not_null() | score.is_not_null())
    told = read.then(pl.lit(Outcome.SCORED.value)).otherwise(pl.lit(Outcome.UNPARSED.value))
    outcome = pl.coalesce(pl.col("outcome").cast(pl.String), told) if "outcome" in columns else told
    return verdict.alias("verdict"), score.alias("score"), outcome.alias("outcome")


def _default_groups(rows: pl.LazyFrame, recorded: Sequence[str]) -> tuple[str, ...]:
    """The default columns that hold any value."""
    candidates = [name for name in DEFAULT_GROUPS if name in recorded]
    if not candidates:
        return ()
    used = rows.select(pl.col(candidates).is_not_null().any()).collect(engine="streaming").row(0)
    return tuple(name for name, any_value in zip(candidates, used, strict=True) if any_value)


def _checked_groups(by: Sequence[str], columns: Sequence[str]) -> tuple[str, ...]:
    """The columns asked for, each of which must be there."""
    for name in by:
        if name not in columns:
            near = get_close_matches(name, columns, n=1)
            raise SweepError(
                f"no column {name!r} to group by, got columns {', '.join(columns)}",
                where={"by": ",".join(by)},
                hint=f"--by {near[0]}" if near else None,
            )
        if name in ("item_id", "replication", "verdict", "score", "outcome"):
            raise SweepError(
                f"cannot group by {name!r}: it is part of what agreement is measured on",
                where={"by": ",".join(by)},
            )
    return tuple(dict.fromkeys(by))
