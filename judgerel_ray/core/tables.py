"""Columns that several results have: those of groups, and those of one meaning everywhere."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Protocol

from judgerel_ray.core.schema import Bool, Float64, Int64, List, Schema, String

if TYPE_CHECKING:
    import polars as pl


class GroupColumns(Schema):
    """Columns that groups are made of, and that tell tables' rows apart; no table has all."""

    judge = String("Name of the judge.")
    benchmark = String("Where the questions come from; null where the file does not say.")
    protocol = String("What was asked of the judge: best_of, correctness, rating, ...")
    criterion = String("Criterion judged by; null where there is none.")
    definition = String(
        "Length of the criterion's definition that was shown; null where there is none."
    )
    scale = String("Name of the rating scale; null where there is none.")
    temperature = Float64("Sampling temperature; 0 is greedy.")
    template = String("Name of the prompt template.")
    role = String(
        "judge; responder where a model answers alone; participant or evaluator_only where a judge "
        "compares what models chose, its own answer among them or not."
    )
    mode = String(
        "How the probabilities of a confusion matrix were read: columns (one pass an assessment), "
        "paper (one prompt a pair) or single (all assessments in one prompt)."
    )


class Estimated(Protocol):
    """A number with its interval; None for what there is not."""

    @property
    def value(self) -> float | None:
        """The number."""

    @property
    def low(self) -> float | None:
        """The lower end."""

    @property
    def high(self) -> float | None:
        """The upper end."""


def interval_ends(what: str, null: str = "where there is none") -> tuple[Float64, Float64]:
    """Describe the columns of a 95 % interval's ends.

    Examples
    --------
    >>> interval_ends("the mean")[0].description
    'Lower end of the 95 % interval of the mean; null where there is none.'
    """
    lower, upper = (
        f"{end} end of the 95 % interval of {what}; null {null}." for end in ("Lower", "Upper")
    )
    return Float64(lower), Float64(upper)


def value_columns(name: str, found: Estimated) -> dict[str, float | None]:
    """Write an estimate as columns: its value, and the ends of its interval.

    Examples
    --------
    >>> from judgerel_ray.stats.intervals.shares import exact_share
    >>> [*value_columns("rate", exact_share(1, 2))]
    ['rate', 'rate_low', 'rate_high']
    """
    return {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}


def as_columns(found: object, *names: str, **named: str) -> dict[str, object]:
    """Write attributes of what was found as columns, by their own names or by others.

    Examples
    --------
    >>> from fractions import Fraction
    >>> as_columns(Fraction(1, 2), "denominator", top="numerator")
    {'denominator': 2, 'top': 1}
    """
    columns = dict(zip(names, names, strict=True)) | named
    return {column: getattr(found, name) for column, name in columns.items()}


def flat_table(frame: pl.DataFrame) -> pl.DataFrame:
    """Write lists and objects as JSON text, which a cell of CSV can hold.

    Examples
    --------
    >>> import polars as pl
    >>> flat_table(pl.DataFrame({"flags": [["noise"], None]})).rows()
    [('["noise"]',), (None,)]
    """
    import polars as pl

    def texts(name: str) -> list[str | None]:
        return [
            None if one is None else json.dumps(one, default=str) for one in frame[name].to_list()
        ]

    nested = [name for name, kind in frame.schema.items() if kind.is_nested()]
    return frame.with_columns(pl.Series(name, texts(name), pl.String) for name in nested)


class EndColumns(Schema):
    """Ends of a 95 % interval."""

    low = Float64("Lower end of the 95 % interval; null where there is none.")
    high = Float64("Upper end of the 95 % interval; null where there is none.")


class FloorSpread(Schema):
    """How far chance alone lies about its floor, and whether the value can be told from it."""

    noise_floor_sd = Float64(
        "Standard deviation of that chance distribution; null where there is no floor."
    )
    p_noise = Float64(
        "Two-sided p-value: how often chance lies at least as far from the noise floor as the "
        "value; null where that is not known."
    )
    noise = Bool(
        "true where p_noise is above .05, so that the value cannot be told from chance; null "
        "without a p_noise."
    )


class FloorColumns(Schema):
    """What chance alone would give."""

    noise_floor = Float64(
        "What the value would be by chance: its mean with the verdicts shuffled across the "
        "questions; null where it has no floor."
    )
    spread = FloorSpread


class FlagColumns(Schema):
    """What weakens a number: codes, as :class:`judgerel_ray.core.codes.Flag`."""

    flags = List(
        String(),
        "Codes of what weakens the value, such as few_informative_questions or serving_noise; "
        "empty where nothing does.",
    )
    flag_numbers = List(
        List(Float64()),
        "For each flag the numbers that belong to it, in the order in which its words name them.",
    )


class MethodColumns(Schema):
    """How a number was made, in codes of :mod:`judgerel_ray.core.codes`."""

    statistic = String("Which estimate it is, in words.")
    interval_method = String(
        "Code of how the interval was made (jackknife_logit, posterior, clopper_pearson, ...); "
        "null where there is none."
    )
    no_interval = String(
        "Code that says why there is no interval; null where there is one, or no value to have one."
    )
    n_compared = Int64(
        "Questions that value and interval rest on; null where no interval is by question, unless "
        "all questions come out alike."
    )
    n_resamples = Int64("Bootstrap resamples drawn; null where none were.")
    null_method = String(
        "Code of how the noise floor was made (random_reassignments, closed_form, ...); null where "
        "there is none."
    )
    n_permutations = Int64("Permutations drawn for the noise floor; null where none were.")
    weakened = FlagColumns


class WorthColumns(Schema):
    """Independent members that would do as well as these."""

    effective = Float64("Independent members that would do as well; null where undefined says why.")
    effective_low, effective_high = interval_ends("effective")


class Common(Schema):
    """Columns of one meaning, wherever they stand."""

    coefficient = String("Name of the coefficient.")
    difference = Float64(
        "Second less first, in the unit of the values; above 0 where the second is higher."
    )
    p_holm = Float64(
        "The p-value adjusted by Holm's method for all comparisons of the table; null where that "
        "is."
    )
    undefined = String("Code that says why there is no value; null where nothing is lacking.")
    measurement = String(
        "Level of measurement: nominal (verdicts as names), ordinal, interval or ratio (as "
        "numbers)."
    )
    missing = String(
        "What a reply without a verdict counts as: category (a verdict of its own), drop (left "
        "out) or bounds (any verdict)."
    )
    conditions = String(
        "repeatability (the same prompt again) or reproducibility (facets that should not matter, "
        "such as the order of the options, drawn at random for each judgment); null where neither "
        "is meant."
    )
    unit = String(
        "What agreement is about: the question and the facets held fixed, with x between."
    )
    estimator = String("How the number was made and what weakens it, in words.")
    cost_unit = String(
        "What costs are counted in: cost (money), tokens (read and written) or requests."
    )
    judgments = Float64("Cost in judgments.")
    tokens = Float64(
        "Cost in tokens, those of a prompt counted once for its replications; null where they were "
        "not measured."
    )
    gpu_seconds = Float64("Cost in seconds of GPU time; null where they were not measured.")
    confidence = String(
        "Which confidence ranks the answers: stated, agreement, support, margin or probability; "
        "null where there is none."
    )
    n_accepted = Int64("Answers accepted.")
    n_errors = Int64("Wrong answers among the accepted.")
    error_correlation = Float64(
        "Mean correlation of the errors of two members (-1 to 1); null where it cannot be told."
    )
