"""The judgments table: one row for every request that landed."""

from __future__ import annotations

import dataframely as dy
import polars as pl

from judgerel_ray.core import CHOSEN, JUDGE_ROLES, OUTCOMES


class Judgments(dy.Schema):
    """One landed request a row: what was asked, the verdict read, what it took.

    Null means not applicable. A responder's answer has no outcome; a judge's reply always has one.
    """

    key = dy.String(primary_key=True)
    """Hash of what was asked, replication included (32 hexadecimal digits)."""
    judge = dy.String()
    """Name of the judge in the sweep file."""
    judge_fingerprint = dy.String()
    """Hash of model, revision, precision, engine version and chat template."""
    benchmark = dy.String()
    """Where the item comes from."""
    item_id = dy.String()
    """The thing judged; the cluster of every interval."""
    protocol = dy.String()
    """What was asked of the judge: respond, best_of, correctness, ..."""
    stage = dy.String()
    """Which round of the protocol: judge, turn1, turn2, select, choose, ..."""
    role = dy.String()
    """judge; responder where the row is a candidate answer, or a model's own verdict before it is
    judged; participant or evaluator_only where a judge compared what models chose."""
    responder = dy.String(nullable=True)
    """Model whose answer is judged or written, where there is just one."""
    criterion = dy.String(nullable=True)
    """Criterion rated, where the protocol has one."""
    definition = dy.String(nullable=True)
    """Length of the criterion's definition shown, where the protocol has one."""
    scale = dy.String(nullable=True)
    """Rating scale, where the protocol has one."""
    template = dy.String()
    """Name of the prompt template."""
    temperature = dy.Float64()
    """Sampling temperature; 0 is greedy."""
    top_k = dy.Int32()
    """Number of most probable tokens kept; 0 keeps all."""
    top_p = dy.Float64()
    """Probability mass kept; 1 keeps all."""
    option_order = dy.Int32(nullable=True)
    """Index of the order in which options were shown; 0 is the first drawn."""
    replication = dy.Int32()
    """Repeat index within everything above, from 0."""
    block = dy.Int32()
    """0 for the fixed first block, above it where earlier data asked for more."""
    seed = dy.Int64(nullable=True)
    """Seed sent with the request; null at temperature 0."""
    verdict = dy.String(nullable=True)
    """Id of the option chosen; null unless outcome is scored."""
    label = dy.String(nullable=True)
    """The label as shown to the judge (a letter, a word, a number)."""
    score = dy.Float64(nullable=True)
    """The verdict as a number where the scale has numbers."""
    confidence = dy.Float64(nullable=True)
    """Confidence the judge stated, in [0, 1]."""
    outcome = dy.String(nullable=True, check=lambda column: column.is_in(list(OUTCOMES)))
    """What became of the reply; null for a responder's answer that landed."""
    prompt_tokens = dy.Int32(nullable=True)
    """Tokens of the prompt."""
    cached_tokens = dy.Int32(nullable=True)
    """Prompt tokens served by the prefix cache; null where the engine cannot say it for one reply
    (several replications in one request): the run's totals come from the engine's counters."""
    completion_tokens = dy.Int32(nullable=True)
    """Tokens generated; null where a server does not say."""
    finish_reason = dy.String()
    """stop, length, content_filter (declined outside the text), or ``refused: <why>``."""
    cost = dy.Float64(nullable=True)
    """Money in the currency of the sweep's prices; null where no price is given."""
    attempt = dy.Int32()
    """Which try of its lease landed it, from 1."""
    landed_at = dy.Datetime(time_unit="us", time_zone="UTC")
    """When its part was written."""

    @dy.rule()
    def verdict_iff_scored(cls) -> pl.Expr:  # noqa: N805  dataframely calls rules on the class
        """A verdict stands exactly where the outcome is scored."""
        scored = (pl.col("outcome") == "scored").fill_null(False)
        return pl.col("verdict").is_not_null() == scored

    @dy.rule()
    def judge_has_outcome(cls) -> pl.Expr:  # noqa: N805
        """Every judge's row says what became of it."""
        return ~pl.col("role").is_in(JUDGE_ROLES) | pl.col("outcome").is_not_null()

    @dy.rule()
    def greedy_has_no_seed(cls) -> pl.Expr:  # noqa: N805
        """Temperature 0 is asked without a seed, everything else with one."""
        return (pl.col("temperature") == 0.0) == pl.col("seed").is_null()


def count_outcomes(rows: pl.DataFrame) -> dict[str, int]:
    """Count verdicts by what became of them, and whatever failed.

    What became of an assessment is no verdict's outcome, and is not counted.

    Examples
    --------
    >>> count_outcomes(pl.DataFrame({"role": ["judge", "assessor", "scorer"],
    ...                              "outcome": ["scored", "refused", "failed"]}))
    {'failed': 1, 'scored': 1}
    """
    judged = pl.col("role").is_in(JUDGE_ROLES)
    if "stage" in rows.columns:  # a model's own verdict, before it is judged
        judged |= pl.col("stage") == CHOSEN
    counted = rows.filter(judged | (pl.col("outcome") == "failed"))
    counts = counted["outcome"].drop_nulls().value_counts().sort("outcome")
    return dict(counts.iter_rows())


def count_answers(rows: pl.DataFrame) -> int:
    """Count rows that later requests may be made of: answers, assessments, probabilities.

    A model's own verdict, before it is judged, is both a verdict and an answer.

    Examples
    --------
    >>> count_answers(pl.DataFrame({"role": ["judge", "responder", "responder"],
    ...                             "outcome": ["scored", "scored", "failed"]}))
    1
    """
    answers = ~pl.col("role").is_in(JUDGE_ROLES) & pl.col("outcome").ne_missing("failed")
    return rows.filter(answers).height
