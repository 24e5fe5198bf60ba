"""Columns of judgments: their types, what is filled in, and what no row may say."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

import polars as pl

from judgerel_ray.core import CHOSEN, JUDGE_ROLES, OUTCOMES, Outcome, SweepError
from judgerel_ray.core.traits import Traits, protocols_where

FACETS = (
    "judge", "judge_fingerprint", "benchmark", "protocol", "stage", "role", "responder",
    "criterion", "definition", "scale", "template", "temperature", "top_k", "top_p",
    "option_order",
)  # fmt: skip
"""What makes a unit besides item_id, where it is recorded."""
NUISANCE = ("option_order", "template", "definition")
"""Facets that should not matter to a verdict, where they are recorded."""
N_ANSWERS = "n_answers"
"""How many answers of an item its repeats judge; where it is none or 1, all judge the same."""
OUT_OF = "out_of"
"""What a score was stated to be out of, as the 5 of 4/5, where a log says so."""
KINDS = ("verdict", "score", "outcome")
"""What became of a row."""
WHOLE = ("replication", "block", "option_order", "top_k")
_STRINGS = (
    "key", "judge", "judge_fingerprint", "benchmark", "item_id", "protocol", "stage", "role",
    "responder", "criterion", "definition", "scale", "template", "verdict", "label", "outcome",
    "finish_reason",
)  # fmt: skip
NUMBERS = (*WHOLE, "top_p", "temperature", "score", "confidence")
"""Columns of numbers."""
TYPED = frozenset((*_STRINGS, *NUMBERS))
"""Columns whose type is known by their name."""
MOST_COLUMNS = 10_000
"""Columns that a table of judgments may have; more are fields that were taken for columns."""
ALSO_CALLED = {
    "item_id": (
        "item", "question_id", "question", "id", "prompt_id", "example_id", "sample_id", "doc_id",
        "testidx",
    ),
    "replication": ("rep", "repeat", "repetition", "run", "trial", "sample", "iteration", "epoch",
                    "attempt"),
    "verdict": (
        "judgment", "judgement", "decision", "winner", "choice", "pass", "passed", "success",
        "value", "answer", "response",
    ),
    "score": ("rating", "grade", "points"),
}  # fmt: skip
"""What logs of others call these columns, most certain first."""
OFTEN_CALLED = {
    "judge": ("judge_name", "judge_model", "rater", "evaluator", "grader", "annotator", "model",
              "model_name"),
    "criterion": ("criteria", "metric", "aspect", "dimension"),
    "temperature": ("temp",),
    "gold": ("gold_label", "ground_truth", "human_label", "human_verdict"),
}  # fmt: skip
"""What a table may call columns that it need not have, and without which rows run together."""
KNOWN_BY = TYPED | {"gold"} | {name for names in ALSO_CALLED.values() for name in names}
"""Names of columns, and what logs of others call them."""
MOST_EXACT = 2**53 - 1
"""Above it double precision gives several whole numbers one value."""
NO_VALUE = (
    "", "nan", "-nan", "+nan", "n/a", "na", "null", "none", "<na>", "k.a.", "k. a.",
    "#n/a", "#ref!", "#value!", "#div/0!", "#name?", "#num!", "#null!",
)  # fmt: skip
"""What stands for no verdict and no number, in any case, errors of a spreadsheet among them."""
_NO_VALUES = pl.lit(pl.Series(NO_VALUE, dtype=pl.String)).implode()
PERHAPS_NO_VALUE = (
    "-", "--", "\u2013", "?", ".", "n.a.", "nil", "nat", "undefined", "missing", "not available",
    "no answer", "no response", "no verdict", "no_verdict", "error", "$error$", "api error",
    "api_error", "parse error", "parse_error", "parsing error", "exception", "timeout", "timed out",
    "unparsed", "unparseable", "keine angabe", "keine antwort", "entfällt", "fehler",
)  # fmt: skip
"""What may stand for no verdict, and counts as one, as do words behind ``error:``."""
OFTEN_NO_VALUE = ("invalid", "failed", "failure", "refused", "refusal", "skip", "skipped")
"""What stands for no verdict beside two others or more; of two verdicts it is one."""


def typed_columns(schema: Mapping[str, pl.DataType]) -> list[pl.Expr]:
    """Give each known column its own type; empty strings, NaN and numbers not there become null.

    Examples
    --------
    >>> rows = pl.DataFrame({"item_id": [7], "verdict": [""], "temperature": ["0.7"]})
    >>> rows.select(typed_columns(rows.schema)).rows()
    [('7', None, 0.7)]
    """
    return [typed_column(name, kind) for name, kind in schema.items() if name in TYPED]


def typed_column(name: str, kind: pl.DataType) -> pl.Expr:
    """Give one column its type.

    Examples
    --------
    >>> pl.DataFrame({"score": [1.0, float("nan")]}).select(
    ...     typed_column("score", pl.Float64())).to_series().to_list()
    [1.0, None]
    """
    column = pl.col(name).fill_nan(None) if kind.is_float() else pl.col(name)
    text = column.cast(pl.String)
    if name in _STRINGS:
        return pl.when(text != "").then(text).alias(name)
    if kind == pl.String:
        column = pl.when(~is_no_value(text)).then(text.str.strip_chars())
    number = column.cast(pl.Float64)
    # 0.7 in single precision is 0.699999988: not the temperature anyone asked for.
    return (number.round(6) if kind == pl.Float32 else number).fill_nan(None).alias(name)


def is_no_value(text: pl.Expr) -> pl.Expr:
    """Tell words that stand for no value; null of null.

    Examples
    --------
    >>> pl.DataFrame({"v": ["N/A ", "none", "-", None]}).select(
    ...     is_no_value(pl.col("v"))).to_series().to_list()
    [True, True, False, None]
    """
    return text.str.strip_chars().str.to_lowercase().is_in(_NO_VALUES)


def outcome_column(columns: Iterable[str]) -> pl.Expr:
    """Tell the outcome of every row of a judge, where none is recorded by what was read.

    Examples
    --------
    >>> rows = pl.DataFrame({"verdict": ["A", None]})
    >>> rows.select(outcome_column(rows.columns)).to_series().to_list()
    ['scored', 'unparsed']
    """
    read = pl.when(is_read(columns)).then(pl.lit(Outcome.SCORED.value))
    default = read.otherwise(pl.lit(Outcome.UNPARSED.value))
    if "outcome" not in columns:
        return default.alias("outcome")
    recorded = pl.col("outcome").cast(pl.String)
    # Named, or it would be called after what stands in for it and leave the column as it was.
    found = pl.when(recorded.is_null() & is_judge(columns)).then(default).otherwise(recorded)
    return found.alias("outcome")


def is_judge(columns: Iterable[str]) -> pl.Expr:
    """Tell rows that hold a verdict, or why there is none; a file without roles has no others.

    Beside judges' those are the verdicts of models that think twice, before anyone judges them.

    Examples
    --------
    >>> rows = pl.DataFrame({"role": ["judge", "responder", None, "responder", "participant"],
    ...                      "stage": ["judge", "answer", None, "choose", "judge"]})
    >>> rows.select(is_judge(rows.columns)).to_series().to_list()
    [True, False, True, True, True]
    """
    there = set(columns)
    if "role" not in there:
        return pl.lit(True)
    judges = pl.col("role").fill_null("judge").is_in(JUDGE_ROLES)
    if "stage" not in there:
        return judges
    chose = (pl.col("role") == "responder") & (pl.col("stage") == CHOSEN)
    return judges | chose.fill_null(False)


def is_read(columns: Iterable[str]) -> pl.Expr:
    """Tell whether a row holds a verdict or a score.

    Examples
    --------
    >>> pl.DataFrame({"score": [1.0, None]}).select(is_read(["score"])).to_series().to_list()
    [True, False]
    """
    return pl.any_horizontal(
        pl.col(name).is_not_null() for name in ("verdict", "score") if name in columns
    )


def faults(columns: Iterable[str]) -> dict[str, pl.Expr]:
    """Say what no row may say, of those columns that are there; true where a row does.

    Examples
    --------
    >>> rows = pl.DataFrame({"temperature": [-1.0, None]})
    >>> rows.select(pl.any_horizontal(faults(rows.columns).values())).to_series().to_list()
    [True, None]
    """
    known = set(columns)
    found: dict[str, pl.Expr] = {}
    for name in ("item_id", "replication"):
        if name in known:
            found[f"{name} is missing"] = pl.col(name).is_null()
    if "outcome" in known:
        scored = pl.col("outcome") == Outcome.SCORED.value
        read = is_read(known)
        found[f"outcome is none of {', '.join(OUTCOMES)}"] = ~pl.col("outcome").is_in(OUTCOMES)
        found["outcome is scored without a verdict"] = scored & ~read
        found["a verdict stands beside an outcome other than scored"] = ~scored & read
    for name in (name for name in NUMBERS if name in known):
        number = pl.col(name)
        found[f"{name} must be finite"] = number.is_infinite()
        if name in WHOLE:
            wrong = (number != number.floor()) | (number < 0)
            found[f"{name} must be a whole number from 0 on"] = wrong
            found[f"{name} must be at most {MOST_EXACT} (2^53 - 1)"] = number > MOST_EXACT
    if "temperature" in known:
        found["temperature must be at least 0"] = pl.col("temperature") < 0
    if "confidence" in known:
        outside = ~pl.col("confidence").is_between(0, 1)
        found["confidence must be between 0 and 1 (divide percentages by 100)"] = outside
    return found


def is_nested(kind: pl.DataType) -> bool:
    """Tell columns whose values are objects or lists.

    Examples
    --------
    >>> is_nested(pl.List(pl.Int64)), is_nested(pl.String())
    (True, False)
    """
    return isinstance(kind, pl.Struct | pl.List | pl.Array | pl.Object)


def may_be_nested(values: pl.Series) -> bool:
    """Tell values that are objects or lists, or among which a text begins as these do.

    Examples
    --------
    >>> may_be_nested(pl.Series(["A", '{"pass": true}'])), may_be_nested(pl.Series(["A"]))
    (True, False)
    """
    if values.dtype == pl.String:
        return bool(values.str.contains(r"^\s*[\[{]").any())
    return is_nested(values.dtype)


def are_judgments(columns: Collection[str]) -> bool:
    """Tell a table that has all columns that judgments need, and columns of judgments alone.

    Examples
    --------
    >>> are_judgments(["item_id", "replication", "verdict"]), are_judgments(["id", "verdict"])
    (True, False)
    """
    there = set(columns)
    return {"item_id", "replication"} <= there <= TYPED and bool({"verdict", "score"} & there)


def of_protocols(where: Callable[[Traits], bool]) -> pl.Expr:
    """Tell rows of the protocols that something holds of.

    Examples
    --------
    >>> rows = pl.DataFrame({"protocol": ["best_of", "confusion", None]})
    >>> rows.select(of_protocols(lambda one: one.makes_matrices))["protocol"].to_list()
    [False, True, None]
    """
    return pl.col("protocol").cast(pl.String).is_in(protocols_where(where))


def check_width(n_columns: int, where: Mapping[str, object], *, more: bool = False) -> None:
    """Refuse a table with more columns than any of judgments has.

    Examples
    --------
    >>> check_width(10_001, {})
    Traceback (most recent call last):
    ...
    judgerel_ray.core.errors.SweepError: the table has 10,001 columns, expected at most 10,000. ...
    """
    if n_columns > MOST_COLUMNS:
        raise SweepError(
            f"the table has {'at least ' * more}{n_columns:,} columns, expected at most "
            f"{MOST_COLUMNS:,}",
            where=where,
            hint="keep the columns that tell judgments apart, such as judge, item_id, replication "
            "and verdict",
        )
