"""Systems that answer questions: a judge in a role, at a temperature, with a template.

A question has one right answer. An answer that cannot be read, and one without a confidence, is
no answer: it is never accepted, and stays in every denominator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgerel_ray.core import CHOSEN, Outcome, SweepError
from judgerel_ray.reduce.columns import FACETS, is_judge
from judgerel_ray.reduce.correctness import GOLD
from judgerel_ray.reduce.right_answers import ITEM, refuse_strangers, with_right
from judgerel_ray.reduce.system_confidence import CONFIDENCES, with_confidences

SYSTEM = (
    "benchmark", "protocol", "judge", "role", "criterion", "definition", "scale", "temperature",
    "template",
)  # fmt: skip
"""Columns that make a system, those that hold any value."""
QUESTION = "question"
"""Number of an item of a benchmark: what systems are joined by, and what is independent."""
SPENT = ("prompt_tokens", "completion_tokens", "cost")
"""What an answer took."""
_OWN = ("top_k", "top_p", "judge_fingerprint")
_READ = (
    *SYSTEM, *FACETS, ITEM, "replication", "verdict", "outcome", "confidence", GOLD, *SPENT,
    "margin", "probability", "category",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class System:
    """One system and its answers, sorted by question.

    Attributes
    ----------
    name : mapping
        Its columns.
    label : str
        What tells it from the others, in words.
    rows : DataFrame
        item_id, ``question``, replication, verdict, gold, ``right``, and a column a confidence.
    n_without_gold : int
        Answers left out as nobody knows what is right.
    """

    name: Mapping[str, object]
    label: str
    rows: pl.DataFrame
    n_without_gold: int = 0

    @property
    def right_N(self) -> NDArray[np.bool_]:  # noqa: N802  a shape, not a case
        """Whether each answer is right."""
        return self.rows["right"].to_numpy()

    @property
    def items_N(self) -> NDArray[np.int64]:  # noqa: N802
        """The question of each answer: numbers that all systems read together share."""
        return self.rows[QUESTION].to_numpy()

    @property
    def confidences(self) -> tuple[str, ...]:
        """Confidences that any of its answers has."""
        return tuple(name for name in CONFIDENCES if self.rows[name].count())

    def scores_N(self, confidence: str) -> NDArray[np.float64]:  # noqa: N802
        """A confidence of each answer; NaN, hence rejected, without one or without a verdict."""
        readable = pl.when(pl.col("verdict").is_not_null()).then(pl.col(confidence))
        found: NDArray[np.float64] = self.rows.select(readable).to_series().to_numpy()
        return np.asarray(found, dtype=np.float64)


def read_systems(
    judgments: pl.LazyFrame,
    *,
    gold: pl.DataFrame | None = None,
    by: Sequence[str] | None = None,
    chances: Sequence[pl.DataFrame] = (),
) -> list[System]:
    """Tell the systems of a file or run apart, and take their answers.

    Parameters
    ----------
    judgments : LazyFrame
        Judgments with verdicts; ``confidence`` where they state one, ``gold`` where `gold` does
        not give it. Rows of block 0 count.
    gold : DataFrame, optional
        item_id, gold, and benchmark where items of several have one name.
    by : sequence of str, optional
        Columns that make a system in place of `SYSTEM`.
    chances : sequence of DataFrame
        More confidences: columns that judgments have too, and ``margin`` or ``probability``; with
        a column ``verdict`` of that verdict.

    Returns
    -------
    list of System
        Sorted by their columns. Failed requests are no answers of anyone and are left out; an
        answer never written because the selection before it could not be read is one without a
        verdict.

    Raises
    ------
    SweepError
        If a column is missing, nothing is left, or gold and verdicts have no value in common.

    Examples
    --------
    >>> rows = {"item_id": ["q", "r"], "replication": [0, 0], "judge": ["j", "j"],
    ...         "verdict": ["1", None], "confidence": [0.9, None], "gold": ["1", "2"]}
    >>> [one] = read_systems(pl.LazyFrame(rows))
    >>> one.label, one.right_N.tolist(), one.confidences
    ('j', [True, False], ('stated',))
    """
    rows = answer_rows(judgments, more=by or ())
    names = _system_columns(rows, by)
    rows = with_confidences(with_right(rows, gold), unit=_unit(rows, names), chances=chances)
    known = _numbered(rows.filter(pl.col(GOLD).is_not_null()))
    refuse_strangers(known)
    told = [name for name in names if known[name].n_unique() > 1]
    told = [name for name in names if name in ("judge", *told)]
    keys = known.select(names).unique().sort(names, nulls_last=False).to_dicts() or [{}]
    found = []
    for key in keys:
        mine = pl.all_horizontal(
            pl.lit(True), *(pl.col(name).eq_missing(pl.lit(value)) for name, value in key.items())
        )
        found.append(
            System(
                name=key,
                label=system_label(key, told),
                rows=known.filter(mine).sort(QUESTION, "replication", nulls_last=True),
                n_without_gold=rows.filter(mine & pl.col(GOLD).is_null()).height,
            )
        )
    return found


def answer_rows(judgments: pl.LazyFrame, *, more: Sequence[str] = ()) -> pl.DataFrame:
    """Take the answers: verdicts, and why there is none, of block 0, failed requests left out.

    Columns that say nothing of systems, answers, confidence or cost are left behind, but for
    those named in `more`.

    Examples
    --------
    >>> rows = {"item_id": ["q", "r"], "verdict": ["1", None], "outcome": ["scored", "failed"]}
    >>> answer_rows(pl.LazyFrame(rows)).height
    1
    """
    columns = judgments.collect_schema().names()
    for name in (ITEM, "verdict"):
        if name not in columns:
            raise SweepError(f"selection needs a column {name!r}, got {', '.join(columns)}")
    frame = judgments.filter(_is_answer(columns))
    if "block" in columns:
        frame = frame.filter(pl.col("block").fill_null(0) == 0)
    if "outcome" in columns:
        frame = frame.filter(pl.col("outcome").fill_null("") != Outcome.FAILED.value)
    casts = {name: pl.String for name in (ITEM, "verdict", "judge", GOLD) if name in columns}
    wanted = [name for name in columns if name in (*_READ, *more)]
    rows = frame.select(wanted).cast(casts).collect()  # type: ignore[arg-type]
    if "role" in columns:
        rows = rows.with_columns(pl.col("role").fill_null("judge"))
    if "replication" not in columns:
        rows = rows.with_columns(replication=pl.lit(0))
    if rows.is_empty():
        raise SweepError("no verdicts to select among: no row of a judge in block 0")
    return _without_selections(rows)


def system_label(name: Mapping[str, object], told: Sequence[str]) -> str:
    """Name a system by the columns that tell it from others.

    Examples
    --------
    >>> system_label({"judge": "a", "role": "evaluator_only", "temperature": 0.0},
    ...              ["judge", "role", "temperature"])
    'a evaluator_only, temperature 0'
    """
    plain = [str(name[one]) for one in ("judge", "role") if one in told and name[one] is not None]
    rest = [
        f"{one} {value:g}" if isinstance(value := name[one], float) else f"{one} {value}"
        for one in told
        if one not in ("judge", "role") and name[one] is not None
    ]
    return ", ".join([*([" ".join(plain)] if plain else []), *rest]) or "all answers"


def _is_answer(columns: Sequence[str]) -> pl.Expr:
    """Rows of verdicts, and selections that could not be read, after which nobody answers."""
    judged = is_judge(columns)
    if not {"role", "stage", "outcome"} <= set(columns):
        return judged
    silent = (
        (pl.col("role") == "responder")
        & (pl.col("stage") == "select")
        & pl.col("outcome").is_not_null()
    )
    return judged | silent.fill_null(False)


def _without_selections(rows: pl.DataFrame) -> pl.DataFrame:
    """Selections that could not be read as answers not given, where none stands in their place."""
    if "stage" not in rows.columns:
        return rows
    is_selection = (pl.col("stage") == "select").fill_null(False)
    silent = rows.filter(is_selection)
    if silent.is_empty():
        return rows
    answers = rows.filter(~is_selection)
    keys = [name for name in (*FACETS, ITEM, "replication") if name in rows.columns]
    keys = [name for name in keys if name not in (*_OWN, "stage")]
    silent = silent.with_columns(
        stage=pl.lit(CHOSEN).cast(rows["stage"].dtype), verdict=pl.lit(None, pl.String)
    )
    lost = silent.join(answers.select(keys), on=keys, how="anti", nulls_equal=True)
    return pl.concat([answers, lost], how="vertical_relaxed")


def _system_columns(rows: pl.DataFrame, by: Sequence[str] | None) -> list[str]:
    """The columns that make a system."""
    if by is None:
        return [name for name in SYSTEM if name in rows.columns and rows[name].count()]
    for name in by:
        if name not in rows.columns or name in (ITEM, "replication", "verdict", "outcome", GOLD):
            raise SweepError(
                f"no column {name!r} to tell systems apart by, got {', '.join(rows.columns)}",
                where={"by": ",".join(by)},
            )
    return list(dict.fromkeys(by))


def _unit(rows: pl.DataFrame, names: Sequence[str]) -> list[str]:
    """Columns of a question as it was asked: what its replications have in common."""
    facets = [name for name in FACETS if name in rows.columns and name not in names]
    return [*names, ITEM, *(name for name in facets if name not in _OWN)]


def _numbered(rows: pl.DataFrame) -> pl.DataFrame:
    """The answers with a number for every item of every benchmark."""
    keys = [name for name in ("benchmark", ITEM) if name in rows.columns]
    return rows.with_columns(pl.struct(keys).rank("dense").cast(pl.Int64).alias(QUESTION))
