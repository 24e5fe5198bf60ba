"""Systems that answer questions: a judge in a role, at a temperature, with a template.

A question has one right answer. An answer that cannot be read, and one without a confidence, is
no answer: it is never accepted, and stays in every denominator.

One answer a question: the first replication's, or what most say; whose is right most often.

How sure a system is of each answer: what it states, how far its replications agree, and more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from judgerel_ray.core import CHOSEN, Outcome, SweepError
from judgerel_ray.counting.columns import FACETS, is_judge
from judgerel_ray.counting.files.source import quote_columns
from judgerel_ray.counting.measured import CHANCES, SPENT
from judgerel_ray.counting.right_answers import GOLD, ITEM, refuse_unmatched_gold, with_right
from judgerel_ray.stats.null.noise import NoiseFloor
from judgerel_ray.stats.selective.discrimination import accuracy_floor
from judgerel_ray.stats.selective.systems import PairedAccuracy, paired_accuracy

CONFIDENCES = ("stated", "agreement", "support", "margin", "probability")
"""Confidences an answer may have.

stated: as the reply says. agreement: share of the most frequent verdict among the question's other
replications. support: share of its other replications that gave this very verdict. margin: of the
confusion matrix. probability: of this verdict, as log-probabilities have it.
"""
NOBODY = "all rows (no judge named)"
"""What rows are called that name no judge, and nothing else that tells systems apart."""


def with_confidences(
    rows: pl.DataFrame, *, unit: Sequence[str], chances: Sequence[pl.DataFrame] = ()
) -> pl.DataFrame:
    """Give every answer the confidences there are; null where it has none.

    With a column for each of `CONFIDENCES`. An answer takes no part in its own agreement or
    support; other replications without a verdict count as such.

    Examples
    --------
    >>> rows = pl.DataFrame({"item_id": ["q"] * 3, "verdict": ["A", "A", "B"]})
    >>> with_confidences(rows, unit=["item_id"]).select("agreement", "support").rows()
    [(0.5, 0.5), (0.5, 0.5), (1.0, 0.0)]
    """
    for table in chances:
        rows = _system_rows_with_chances(rows, table)
    stated = pl.col("confidence") if "confidence" in rows.columns else pl.lit(None)
    rows = rows.with_columns(stated=stated.cast(pl.Float64).fill_nan(None))
    rows = rows.with_columns(
        pl.lit(None, pl.Float64).alias(name) for name in CHANCES if name not in rows.columns
    )
    for name in ("stated", *CHANCES):
        outside = rows.filter(~pl.col(name).cast(pl.Float64).is_between(0, 1))
        if outside.height:
            raise SweepError(
                f"{name} confidence must be between 0 and 1, got {outside[name][0]}",
                where={ITEM: outside[ITEM][0]} if ITEM in outside.columns else None,
                hint="divide percentages by 100" if 1 < float(outside[name][0]) <= 100 else None,
            )
    return _system_rows_with_votes(rows, unit).cast(dict.fromkeys(CONFIDENCES, pl.Float64))


def _system_rows_with_chances(rows: pl.DataFrame, chances: pl.DataFrame) -> pl.DataFrame:
    """Margins and probabilities that lie in a table of their own, where the rows say nothing."""
    if chances.is_empty():
        return rows
    keys = [name for name in chances.columns if name not in CHANCES and name in rows.columns]
    present = [name for name in CHANCES if name in chances.columns]
    one = chances.select(*keys, *present).unique(keys, keep="any")
    one = one.cast({name: rows.schema[name] for name in keys})
    joined = rows.join(one, on=keys, how="left", nulls_equal=True, suffix="__new")
    both = [name for name in present if name in rows.columns]
    return joined.with_columns(pl.coalesce(name, f"{name}__new").alias(name) for name in both).drop(
        f"{name}__new" for name in both
    )


def _system_rows_with_votes(rows: pl.DataFrame, unit: Sequence[str]) -> pl.DataFrame:
    """Agreement and support among the other replications of the question."""
    votes = rows.group_by(*unit, "verdict").agg(__votes=pl.len().cast(pl.Int64))
    spoken = votes.with_columns(
        __spoken=pl.when(pl.col("verdict").is_not_null()).then(pl.col("__votes")).otherwise(0)
    )
    # Only the two most frequent verdicts can be the most frequent one of the others.
    most = spoken.group_by(*unit).agg(
        __all=pl.col("__votes").sum(),
        __first=pl.col("__spoken").max(),
        __second=pl.col("__spoken").sort(descending=True).slice(1, 1).first().fill_null(0),
    )
    keyed = rows.join(votes, on=[*unit, "verdict"], how="left", nulls_equal=True)
    keyed = keyed.join(most, on=list(unit), how="left", nulls_equal=True)
    item_votes, first, second = pl.col("__votes"), pl.col("__first"), pl.col("__second")
    spoke = pl.col("verdict").is_not_null()
    alone_on_top = spoke & (item_votes == first) & (second < first)
    others = pl.when(pl.col("__all") > 1).then(pl.col("__all") - 1)
    leading = pl.when(alone_on_top).then(pl.max_horizontal(first - 1, second)).otherwise(first)
    return keyed.with_columns(
        agreement=leading / others, support=pl.when(spoke).then((item_votes - 1) / others)
    ).drop("__votes", "__all", "__first", "__second")


SYSTEM = (
    "benchmark", "protocol", "judge", "role", "criterion", "definition", "scale", "temperature",
    "template",
)  # fmt: skip
"""Columns that make a system, those that hold any value."""
QUESTION = "question"
"""Number of an item of a benchmark: what systems are joined by, and what is independent."""
_SETTINGS = ("top_k", "top_p", "judge_fingerprint")
_READ = (
    *SYSTEM, *FACETS, ITEM, "replication", "verdict", "outcome", "confidence", GOLD, *SPENT,
    *CHANCES, "category",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class System:
    """One system and its answers, sorted by question."""

    name: Mapping[str, object]
    label: str  # What tells it from the others, in words.
    # item_id, `question`, replication, verdict, gold, `right`, and a column a confidence.
    rows: pl.DataFrame
    n_without_gold: int = 0  # Answers left out as nobody knows what is right.

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

    Sorted by their columns. Failed requests are no answers of anyone and are left out; an answer
    never written because the selection before it could not be read is one without a verdict.

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
    rows = with_confidences(
        with_right(rows, gold), unit=_measured_system_unit(rows, names), chances=chances
    )
    known = _measured_system_answers(rows.filter(pl.col(GOLD).is_not_null()))
    refuse_unmatched_gold(known)
    varying = [name for name in names if known[name].n_unique() > 1]
    varying = [name for name in names if name in ("judge", *varying)]
    keys = known.select(names).unique().sort(names, nulls_last=False).to_dicts() or [{}]
    found = []
    for key in keys:
        of_system = pl.all_horizontal(
            pl.lit(True), *(pl.col(name).eq_missing(pl.lit(value)) for name, value in key.items())
        )
        found.append(
            System(
                name=key,
                label=system_label(key, varying),
                rows=known.filter(of_system).sort(QUESTION, "replication", nulls_last=True),
                n_without_gold=rows.filter(of_system & pl.col(GOLD).is_null()).height,
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
            raise SweepError(
                f"judgments need a column {name!r}, got {quote_columns(columns)}",
                hint="a column item_id of the question, and verdict of the answer that was chosen",
            )
    frame = judgments.filter(_is_measured_system_answer(columns))
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


def system_label(name: Mapping[str, object], columns: Sequence[str]) -> str:
    """Name a system by the columns that tell it from others.

    Examples
    --------
    >>> system_label({"judge": "a", "role": "evaluator_only", "temperature": 0.0},
    ...              ["judge", "role", "temperature"])
    'a evaluator_only, temperature 0'
    >>> system_label({}, []), system_label({"template": "short"}, [])
    ('all rows (no judge named)', 'template short')
    """
    columns = [one for one in columns if name[one] is not None]
    columns = columns or [one for one, value in name.items() if value is not None]
    plain = [str(name[one]) for one in ("judge", "role") if one in columns]
    rest = [
        f"{one} {value:g}" if isinstance(value := name[one], float) else f"{one} {value}"
        for one in columns
        if one not in ("judge", "role")
    ]
    return ", ".join([*([" ".join(plain)] if plain else []), *rest]) or NOBODY


def _is_measured_system_answer(columns: Sequence[str]) -> pl.Expr:
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
    keys = [name for name in keys if name not in (*_SETTINGS, "stage")]
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


def _measured_system_unit(rows: pl.DataFrame, names: Sequence[str]) -> list[str]:
    """Columns of a question as it was asked: what its replications have in common."""
    facets = [name for name in FACETS if name in rows.columns and name not in names]
    return [*names, ITEM, *(name for name in facets if name not in _SETTINGS)]


def _measured_system_answers(rows: pl.DataFrame) -> pl.DataFrame:
    """The answers with a number for every item of every benchmark."""
    keys = [name for name in ("benchmark", ITEM) if name in rows.columns]
    return rows.with_columns(pl.struct(keys).rank("dense").cast(pl.Int64).alias(QUESTION))


AnswerRule = Literal["first", "majority"]
ANSWER_RULES: tuple[AnswerRule, ...] = ("first", "majority")


def one_answer(rows: pl.DataFrame, rule: AnswerRule, *, k: int | None = None) -> pl.DataFrame:
    """Take one answer of every question.

    question, verdict, ``right``, ``sure`` (the reply's stated confidence; of a majority its share
    of the replies), ``n_votes``; sorted by question.

    Examples
    --------
    >>> rows = pl.DataFrame({"question": [1] * 3, "replication": [0, 1, 2], "gold": ["2"] * 3,
    ...                      "verdict": ["1", "2", "2"], "stated": [0.9, 0.5, 0.6]})
    >>> one_answer(rows, "first").select("verdict", "right", "sure").row(0)
    ('1', False, 0.9)
    >>> one_answer(rows, "majority").select("verdict", "right").row(0)
    ('2', True)
    """
    facets = [name for name in ("option_order", "template", "temperature") if name in rows.columns]
    ordered = rows.sort(QUESTION, "replication", *facets, nulls_last=True)
    if rule == "first":
        taken = ordered.unique(QUESTION, keep="first", maintain_order=True)
        found = taken.select(QUESTION, GOLD, "verdict", sure="stated", n_votes=pl.lit(1, pl.Int64))
    else:
        voting = ordered.group_by(QUESTION, maintain_order=True).head(k) if k else ordered
        voting = voting.with_columns(
            __place=pl.int_range(pl.len()).over(QUESTION),
            __all=pl.len().over(QUESTION).cast(pl.Int64),
        )
        votes = voting.group_by(QUESTION, GOLD, "verdict", "__all").agg(
            __n=pl.len(), __place=pl.col("__place").min()
        )
        spoken = pl.col("verdict").is_not_null()
        best = votes.with_columns(__n=pl.when(spoken).then("__n").otherwise(0))
        best = best.sort(QUESTION, "__n", "__place", descending=[False, True, False])
        best = best.unique(QUESTION, keep="first", maintain_order=True)
        share = pl.when(spoken).then(pl.col("__n") / pl.col("__all"))
        found = best.select(QUESTION, GOLD, "verdict", sure=share, n_votes="__all")
    right = (pl.col("verdict") == pl.col(GOLD)).fill_null(False)
    sure = pl.when(pl.col("verdict").is_not_null()).then(pl.col("sure"))
    return found.with_columns(right=right, sure=sure).drop(GOLD).sort(QUESTION)


def most_accurate(answers: Sequence[pl.DataFrame], asked: pl.DataFrame | None = None) -> int:
    """Find whose single answers are right most often, on questions that all of them were asked.

    Where there is none, each is taken on its own; of equals the first. `asked` are questions that
    count, by default all.

    Examples
    --------
    Once of once is no better than twice of three times, where both were asked once:

    >>> short = pl.DataFrame({"question": [1], "right": [True]})
    >>> long = pl.DataFrame({"question": [1, 2, 3], "right": [True, False, True]})
    >>> most_accurate([long, short])
    0
    """
    parts = [one if asked is None else one.join(asked, on=QUESTION, how="semi") for one in answers]
    shared = parts[0].select(QUESTION)
    for one in parts[1:]:
        shared = shared.join(one, on=QUESTION, how="semi")
    if shared.height:
        parts = [one.join(shared, on=QUESTION, how="semi") for one in parts]
    found = [one["right"].mean() or 0.0 for one in parts]
    return int(np.argmax(np.asarray(found, dtype=np.float64)))


def answers_floor(rows: pl.DataFrame, items_N: NDArray[np.generic]) -> NoiseFloor:
    """Compute the accuracy of the same answers given to other questions.

    Examples
    --------
    >>> rows = pl.DataFrame({"verdict": ["a", "b"], GOLD: ["a", "b"]})
    >>> answers_floor(rows, np.arange(2)).mean
    0.5
    """
    known = pl.Enum(pl.concat([rows["verdict"], rows[GOLD]]).drop_nulls().unique().sort())
    verdicts, gold = (rows[name].cast(known).to_physical() for name in ("verdict", GOLD))
    _, first, question = np.unique(items_N, return_index=True, return_inverse=True)
    return accuracy_floor(
        verdicts.cast(pl.Int64).fill_null(-1).to_numpy(), question, gold.to_numpy()[first]
    )


def joined_accuracy(first: pl.DataFrame, second: pl.DataFrame) -> PairedAccuracy:
    """Compare single answers of two systems, joined by question.

    Examples
    --------
    >>> one = pl.DataFrame({"question": [1, 2], "right": [True, False]})
    >>> joined_accuracy(one, one.reverse()).both
    1
    """
    both = first.select(QUESTION, one="right").join(
        second.select(QUESTION, two="right"), on=QUESTION
    )
    return paired_accuracy(both["one"].to_numpy(), both["two"].to_numpy())
