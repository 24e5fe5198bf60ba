"""Columns of what is written: one class a Parquet table, every column documented.

Items as loaders give them, one judgment a row for every request that landed, their texts apart so
that reducers never read them, and what a run lays out when it ends: verdict distributions,
confusion matrices and settled verdicts. Imports core alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields

import dataframely as dy
import polars as pl

from judgerel_ray.core import (
    CHOSEN,
    CUT_IN_THOUGHT,
    JUDGE_ROLES,
    OUTCOMES,
    HumanRating,
    Item,
    Option,
)


class Items(dy.Schema):
    """One item a row, as loaders write it and sweeps read it."""

    item_id = dy.String(primary_key=True)
    """Name of the item, unique in its file."""
    benchmark = dy.String()
    """Where it comes from."""
    category = dy.String()
    """Stratum for sampling."""
    question = dy.String()
    """The question; the first turn of a dialogue."""
    context = dy.String(nullable=True)
    """Passage the question is about."""
    turns = dy.List(dy.String())
    """Every user turn of a dialogue in order; empty otherwise."""
    options = dy.List(dy.Struct({"option_id": dy.String(), "text": dy.String()}))
    """Candidate answers; empty where responders write them."""
    gold = dy.String(nullable=True)
    """Reference answer as text, or the right option's id."""
    ratings = dy.List(
        dy.Struct(
            {
                "rater": dy.String(),
                "criterion": dy.String(nullable=True),
                "score": dy.Float64(nullable=True),
                "label": dy.String(nullable=True),
                "responder": dy.String(nullable=True),
            }
        )
    )
    """Human ratings, of the option that ``responder`` names or of the item; empty where none."""


def _field_values(one: Item | Option | HumanRating) -> dict[str, object]:
    """Fields by name; asdict copies each text in depth, and takes three times as long."""
    return {field.name: getattr(one, field.name) for field in fields(one)}


def items_to_frame(items: Iterable[Item]) -> dy.DataFrame[Items]:
    """Lay items out as rows of the items table.

    Examples
    --------
    >>> items_to_frame([Item(item_id="q1", benchmark="b", category="c", question="?")]).height
    1
    """
    rows = [
        {
            **_field_values(item),
            "options": [*map(_field_values, item.options)],
            "ratings": [*map(_field_values, item.ratings)],
        }
        for item in items
    ]
    schema = Items.create_empty().schema
    return Items.validate(pl.DataFrame(rows, schema=schema), cast=True)


def frame_to_items(frame: pl.DataFrame) -> tuple[Item, ...]:
    """Read rows of the items table back as items, in the order of the rows.

    Examples
    --------
    >>> one = Item(item_id="q1", benchmark="b", category="c", question="?")
    >>> frame_to_items(items_to_frame([one])) == (one,)
    True
    """
    return tuple(
        Item(**{
            **row,
            "turns": tuple(row["turns"]),
            "options": tuple(Option(**option) for option in row["options"]),
            "ratings": tuple(HumanRating(**rating) for rating in row["ratings"]),
        })
        for row in frame.iter_rows(named=True)
    )  # fmt: skip


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
    """stop, length, ``length: in its thought`` (cut off before the reply began), content_filter
    (declined outside the text), or ``refused: <why>``."""
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


class Completions(dy.Schema):
    """What came back, by key."""

    key = dy.String(primary_key=True)
    """The judgment's key."""
    text = dy.String(nullable=True)
    """The reply without its thoughts; null where the request can never succeed."""
    thought = dy.String(nullable=True)
    """What the model thought before it, with its marks; null where it did not."""
    logprobs = dy.List(
        dy.Struct(
            {
                "token": dy.String(),
                "logprob": dy.Float64(),
                "rank": dy.Int32(nullable=True),
                "continuation": dy.Int32(nullable=True),
            }
        ),
        nullable=True,
    )
    """Log-probabilities (natural log) at the verdict's position, where they were asked for: of the
    likeliest tokens by rank, or of the tokens of the options, `continuation` saying of which."""


def count_thoughts(judgments: pl.DataFrame, completions: pl.DataFrame) -> dict[str, int]:
    """Count replies that came with a thought: whole, or cut off inside it; empty where none did.

    Examples
    --------
    >>> count_thoughts(pl.DataFrame({"finish_reason": ["stop", CUT_IN_THOUGHT, "stop"]}),
    ...                pl.DataFrame({"thought": ["B?", "Or", None]}))
    {'whole': 1, 'cut': 1}
    """
    n = len(completions) - completions["thought"].null_count()
    cut = int((judgments["finish_reason"] == CUT_IN_THOUGHT).sum())
    return {name: m for name, m in (("whole", n - cut), ("cut", cut)) if m}


class Errors(dy.Schema):
    """Requests that did not land because a transport or an engine failed; they stay pending."""

    key = dy.String()
    """The request's key."""
    judge = dy.String()
    """The judge asked."""
    item_id = dy.String()
    """The item asked about."""
    condition_key = dy.String()
    """The condition's key."""
    replication = dy.Int32()
    """The replication index."""
    lease = dy.String()
    """The lease that failed."""
    attempt = dy.Int32()
    """Which try of the lease, from 1."""
    kind = dy.String()
    """Class of the failure: engine_lost, deadline, transport, quarantined, ..."""
    message = dy.String()
    """What the engine or the transport said, first line."""
    failed_at = dy.Datetime(time_unit="us", time_zone="UTC")
    """When."""


_DISTRIBUTION = [
    "judge",
    "benchmark",
    "item_id",
    "template",
    "criterion",
    "option_order",
    "temperature",
    "responder",
    "definition",
    "scale",
]
_ROUNDING = 1e-6  # engines give log-probabilities in single precision


class _JudgedItem(dy.Schema):
    """What was asked of whom, where probabilities are read."""

    judge = dy.String()
    """Name of the judge in the sweep file."""
    benchmark = dy.String()
    """Where the item comes from."""
    item_id = dy.String()
    """The thing judged."""
    template = dy.String()
    """Name of the prompt template."""
    criterion = dy.String(nullable=True)
    """Criterion judged by, where the protocol has one."""


class Distributions(_JudgedItem):
    """One verdict of one question at one temperature a row."""

    option_order = dy.Int32(nullable=True)
    """Index of the order in which options were shown; 0 is the first drawn."""
    temperature = dy.Float64(min=0)
    """Temperature the probabilities are at; 0 is greedy, ties sharing it."""
    verdict = dy.String(nullable=True)
    """Id of the option, or the rating; null is a reply without a verdict."""
    probability = dy.Float64(min=0, max=1 + _ROUNDING)
    """Best guess; those of a distribution sum to 1."""
    low = dy.Float64(min=0, max=1 + _ROUNDING)
    """The probability is certainly no lower."""
    high = dy.Float64(min=0, max=1 + _ROUNDING)
    """The probability is certainly no higher."""
    responder = dy.String(nullable=True)
    """Whose answer is judged, where it is one answer."""
    definition = dy.String(nullable=True)
    """Length of the criterion's definition, of ratings."""
    scale = dy.String(nullable=True)
    """Scale rated on; a verdict is then its canonical text."""

    @dy.rule()
    def between_its_bounds(cls) -> pl.Expr:  # noqa: N805  dataframely calls rules on the class
        """The best guess is within the bounds."""
        above = pl.col("low") <= pl.col("probability") + _ROUNDING
        return above & (pl.col("probability") <= pl.col("high") + _ROUNDING)

    @dy.rule()
    def sums_to_one(cls) -> pl.Expr:  # noqa: N805
        """The verdicts of a question, with none among them, are all there is."""
        total = pl.col("probability").sum().over(*_DISTRIBUTION)
        return (total - 1).abs() <= _ROUNDING * pl.len().over(*_DISTRIBUTION)

    @dy.rule()
    def one_row_a_verdict(cls) -> pl.Expr:  # noqa: N805
        """No verdict of a distribution stands twice."""
        return pl.len().over(*_DISTRIBUTION, "verdict") == 1


CONFUSION_MODES = ("columns", "paper", "single")
"""One pass an assessment, one prompt a pair, or all assessments in one prompt."""

_MATRIX = [
    "judge",
    "benchmark",
    "item_id",
    "template",
    "criterion",
    "temperature",
    "mode",
]


class Confusions(_JudgedItem):
    """One cell of a confusion matrix a row: options are its rows, assessments its columns."""

    temperature = dy.Float64(min=0)
    """Temperature the assessments were sampled at; the probabilities are never tempered."""
    mode = dy.String(check=lambda column: column.is_in(list(CONFUSION_MODES)))
    """How the probabilities were read; see `CONFUSION_MODES`."""
    assessment_option = dy.String(nullable=True)
    """Id of the option argued for; null in mode single, where all assessments stand together."""
    verdict_option = dy.String()
    """Id of the option whose probability this is."""
    probability = dy.Float64(nullable=True, min=0, max=1 + _ROUNDING)
    """Probability of that option given that assessment, raw: options need not sum to 1. Null where
    the judge would not argue for the option, or not all of that assessment's have landed."""

    @dy.rule()
    def single_tells_no_assessments_apart(cls) -> pl.Expr:  # noqa: N805  dataframely calls rules on the class
        """Every mode but single names the option argued for."""
        return (pl.col("mode") == "single") == pl.col("assessment_option").is_null()

    @dy.rule()
    def one_probability_a_cell(cls) -> pl.Expr:  # noqa: N805
        """No cell of a matrix stands twice."""
        return pl.len().over(*_MATRIX, "assessment_option", "verdict_option") == 1

    @dy.rule()
    def whole_columns(cls) -> pl.Expr:  # noqa: N805
        """An assessment is there for every option or for none."""
        absent = pl.col("probability").is_null()
        column = (*_MATRIX, "assessment_option")
        return absent.all().over(*column) | absent.any().over(*column).not_()


STATES = ("settled", "no_verdict", "unstable", "failed", "open")


class Settled(dy.Schema):
    """One condition that was asked adaptively a row."""

    judge = dy.String()
    """Name of the judge in the sweep file."""
    benchmark = dy.String()
    """Where the item comes from."""
    item_id = dy.String()
    """The thing judged."""
    protocol = dy.String()
    """Form of the judgment."""
    responder = dy.String(nullable=True)
    """Whose answer was judged, where one answer is."""
    template = dy.String()
    """Name of the prompt template."""
    option_order = dy.Int32(nullable=True)
    """Index of the order in which options were shown."""
    temperature = dy.Float64(min=0)
    """Sampling temperature."""
    top_k = dy.Int64()
    """Most probable tokens kept; 0 keeps all."""
    top_p = dy.Float64()
    """Probability mass kept."""
    replications = dy.Int64(min=0)
    """Replications looked at: those of the last whole round."""
    state = dy.String()
    """settled on a verdict; no_verdict: settled that most replies hold none; unstable: no stable
    verdict within the most allowed; failed: it can never be asked; open: still to be asked."""
    verdict = dy.String(nullable=True)
    """Id of the option settled on."""
    share = dy.Float64(nullable=True, min=0, max=1)
    """Of the replications looked at, those with the most frequent verdict (or with none)."""
    low = dy.Float64(nullable=True, min=0, max=1)
    """Lower bound of that verdict's probability, of all verdicts at once, however often looked."""
    high = dy.Float64(nullable=True, min=0, max=1)
    """Upper bound."""
    delta = dy.Float64(min=0, max=1)
    """Chance allowed, a condition, that the verdict settled on is not the most frequent one."""
    most = dy.Int64(min=1)
    """Replications it would have been given at most."""

    @dy.rule()
    def is_of_a_known_state(cls) -> pl.Expr:  # noqa: N805  dataframely calls rules on the class
        """The state is one of those there are."""
        return pl.col("state").is_in(STATES)

    @dy.rule()
    def names_what_is_settled(cls) -> pl.Expr:  # noqa: N805
        """There is a verdict where one is settled, and nowhere else."""
        return pl.col("verdict").is_not_null() == (pl.col("state") == "settled")
