"""Codes of how a number was made and what weakens it, each with its words.

Rooms that make numbers write codes into columns (``interval_method``, ``no_interval``,
``null_method``, ``flags``); rooms that show them ask here, and nowhere else, what a code means.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum


class IntervalMethod(StrEnum):
    """How an interval was made.

    >>> IntervalMethod("jackknife_logit").words(n=20)
    'jackknife-t over 20 questions, logit scale'
    """

    JACKKNIFE = "jackknife"
    JACKKNIFE_LOGIT = "jackknife_logit"
    JACKKNIFE_AND_BINOMIAL = "jackknife_and_binomial"
    JACKKNIFE_BINOMIAL_ONE_MORE = "jackknife_binomial_one_more"
    JACKKNIFE_ONE_MORE = "jackknife_one_more"
    JACKKNIFE_LOG = "jackknife_log"
    JACKKNIFE_FISHER = "jackknife_fisher"
    JACKKNIFE_LESS_BIAS = "jackknife_less_bias"
    JACKKNIFE_LESS_BIAS_WITH_0 = "jackknife_less_bias_with_0"
    JACKKNIFE_LESS_BIAS_EXTENDED = "jackknife_less_bias_extended"
    POSTERIOR = "posterior"
    POSTERIOR_WITH_0 = "posterior_with_0"
    POSTERIOR_EXTENDED = "posterior_extended"
    POSTERIOR_WITH_0_EXTENDED = "posterior_with_0_extended"
    PERCENTILE_BOOTSTRAP = "percentile_bootstrap"
    BASIC_BOOTSTRAP = "basic_bootstrap"
    CLOPPER_PEARSON = "clopper_pearson"
    CLOPPER_PEARSON_LESS_CHANCE = "clopper_pearson_less_chance"
    EXACT_WEIGHTED = "exact_weighted"
    EXACT_WEIGHTED_LESS_CHANCE = "exact_weighted_less_chance"
    BINOMIAL_BY_QUESTION = "binomial_by_question"
    CHERNOFF_HOEFFDING = "chernoff_hoeffding"
    T_QUESTIONS = "t_questions"
    T_REPLICATIONS = "t_replications"
    WORST_TO_BEST = "worst_to_best_case"
    BRACKET = "bracket_of_worst_and_best_case"

    def words(self, *, n: int, n_resamples: int = 0) -> str:
        """Say it, with the number of questions (or replications) and of resamples."""
        return _INTERVALS[self].format(n=n, resamples=n_resamples)


_JACKKNIFE = "jackknife-t over {n} questions"
_POSTERIOR = "Dirichlet process posterior over {n} questions"
_INTERVALS: Mapping[IntervalMethod, str] = {
    IntervalMethod.JACKKNIFE: _JACKKNIFE,
    IntervalMethod.JACKKNIFE_LOGIT: f"{_JACKKNIFE}, logit scale",
    IntervalMethod.JACKKNIFE_AND_BINOMIAL:
        "outer ends of jackknife-t and binomial over {n} questions",
    IntervalMethod.JACKKNIFE_BINOMIAL_ONE_MORE:
        "outer ends of jackknife-t, binomial and one question more over {n} questions",
    IntervalMethod.JACKKNIFE_ONE_MORE: f"{_JACKKNIFE}, also with one question more",
    IntervalMethod.JACKKNIFE_LOG: f"{_JACKKNIFE}, log scale",
    IntervalMethod.JACKKNIFE_FISHER: f"{_JACKKNIFE}, Fisher's z",
    IntervalMethod.JACKKNIFE_LESS_BIAS: f"{_JACKKNIFE}, about the value less its bias",
    IntervalMethod.JACKKNIFE_LESS_BIAS_WITH_0:
        f"{_JACKKNIFE}, about the value less its bias, 0 kept in it",
    IntervalMethod.JACKKNIFE_LESS_BIAS_EXTENDED:
        f"{_JACKKNIFE}, about the value less its bias, extended to the value",
    IntervalMethod.POSTERIOR: _POSTERIOR,
    IntervalMethod.POSTERIOR_WITH_0: f"{_POSTERIOR}, with 0: it may be noise",
    IntervalMethod.POSTERIOR_EXTENDED: f"{_POSTERIOR}, extended to the value",
    IntervalMethod.POSTERIOR_WITH_0_EXTENDED:
        f"{_POSTERIOR}, with 0: it may be noise, extended to the value",
    IntervalMethod.PERCENTILE_BOOTSTRAP:
        "percentile bootstrap, {resamples} resamples of {n} questions",
    IntervalMethod.BASIC_BOOTSTRAP: "basic bootstrap, {resamples} resamples of {n} questions",
    IntervalMethod.CLOPPER_PEARSON: "Clopper-Pearson over {n} questions",
    IntervalMethod.CLOPPER_PEARSON_LESS_CHANCE: "Clopper-Pearson over {n} questions, less chance",
    IntervalMethod.EXACT_WEIGHTED: "exact over {n} questions of unequal weight",
    IntervalMethod.EXACT_WEIGHTED_LESS_CHANCE:
        "exact over {n} questions of unequal weight, less chance",
    IntervalMethod.BINOMIAL_BY_QUESTION: "binomial, by {n} questions",
    IntervalMethod.CHERNOFF_HOEFFDING: "Chernoff-Hoeffding over {n} questions",
    IntervalMethod.T_QUESTIONS: "t over {n} questions",
    IntervalMethod.T_REPLICATIONS: "t over {n} replications",
    IntervalMethod.WORST_TO_BEST: "no sampling error in it",
    IntervalMethod.BRACKET: "no sampling error in it",
}  # fmt: skip

ALIKE, UNANIMOUS, UNANIMOUS_UNITS, IDENTICAL = (
    "no_spread", "unanimous", "unanimous_in_units", "identical_items"
)  # fmt: skip
"""``no_interval`` where leaving out any question changes nothing: what they have in common."""
UNBOUNDED, CONTINUOUS, VALUES_UNKNOWN, NAMES = (
    "nothing_bounds", "continuous_scores", "values_unknown", "verdicts_are_names"
)  # fmt: skip
"""``no_interval`` where worst and best case of missing verdicts are not known: why."""
SAME_WITHOUT_ANY, NONE_WITHOUT_ONE = "same_without_any_question", "no_value_without_one_question"
"""``no_interval`` of a coefficient with a reference."""
_LACKING = {
    SAME_WITHOUT_ANY: "without any one question it comes out the same",
    NONE_WITHOUT_ONE: "without one of the questions there is no value",
}
_IN_COMMON = {
    ALIKE: "come out alike",
    UNANIMOUS: "are unanimous",
    UNANIMOUS_UNITS: "are unanimous in each of their units",
    IDENTICAL: "have the same score on every item (but for level and unit of the items)",
}
_UNBOUNDED = {
    UNBOUNDED: "nothing bounds this coefficient",
    CONTINUOUS: "scores are continuous, and a missing one could be any number",
    VALUES_UNKNOWN:
        "not all values that a missing one could have are known (declare the options)",
    NAMES: "verdicts are names",
}  # fmt: skip


def no_interval_words(code: str, *, n: int = 0, level: str = "nominal") -> str:
    """Say why there is no interval; `n` is the number of questions, or of missing verdicts.

    >>> no_interval_words("too_few_units")
    'no interval: too few units'
    >>> print(no_interval_words("no_spread", n=3000))
    no interval: all 3000 questions come out alike; with 95 % confidence this fails for fewer than \
0.1 % of such questions
    """
    if code in _IN_COMMON:
        # None of Q differs: at 95 % the share that does is below 1 - .05^(1/Q).
        bound = 100 * (1 - 0.05 ** (1 / n))
        share = f"{bound:.0f}" if bound >= 10 else f"{bound:.2g}"  # of thousands it is no 0
        return (
            f"no interval: all {n} questions {_IN_COMMON[code]}; with 95 % confidence this fails "
            f"for fewer than {share} % of such questions"
        )
    if code in _LACKING:
        return f"no interval: {_LACKING[code]}"
    if code in _UNBOUNDED:
        at = "" if level == "nominal" else f" ({level} level)"
        return f"no interval from worst to best case over {n} missing: {_UNBOUNDED[code]}{at}"
    return f"no interval: {code.replace('_', ' ')}"


class NullMethod(StrEnum):
    """How a noise floor was made.

    >>> NullMethod("random_reassignments").words(n=999)
    '999 random reassignments, two-sided'
    """

    REASSIGNMENTS = "random_reassignments"
    CLOSED_FORM = "closed_form"
    CLOSED_FORM_SKEWED = "closed_form_skewed"
    CLOSED_FORM_NO_P = "closed_form_no_p"
    LEVEL_PERMUTATIONS = "level_permutations"
    LEVELS_CLOSED_FORM = "levels_closed_form"
    ITEM_PERMUTATIONS = "item_permutations"
    SCORE_PERMUTATIONS = "score_permutations"
    ONE_SCALE_PERMUTATIONS = "one_scale_permutations"
    SCALE_PERMUTATIONS = "scale_permutations"
    QUESTION_SHUFFLES = "question_shuffles"
    LABELS_NORMAL = "labels_normal"
    LABELS_ALIKE = "labels_alike"
    SCORES_NORMAL = "scores_normal"
    GOLD_NORMAL = "gold_normal"
    GOLD_SHUFFLES = "gold_shuffles"
    VERDICTS_CLOSED_FORM = "verdicts_closed_form"
    PLACE_PERMUTATIONS = "place_permutations"
    PLACES_CLOSED_FORM = "places_closed_form"
    PLACES_ALIKE = "places_alike"

    def words(self, *, n: int) -> str:
        """Say it, with the number of permutations that had a value."""
        return _NULLS[self].format(n=n)


_NULLS: Mapping[NullMethod, str] = {
    NullMethod.REASSIGNMENTS: "{n} random reassignments, two-sided",
    NullMethod.CLOSED_FORM: "all reassignments in closed form, two-sided",
    NullMethod.CLOSED_FORM_SKEWED: "all reassignments in closed form, skewed, two-sided",
    NullMethod.CLOSED_FORM_NO_P:
        "all reassignments in closed form; no p: too skewed to tell it, too many to permute",
    NullMethod.LEVEL_PERMUTATIONS: "{n} permutations over items inside each level, two-sided",
    NullMethod.LEVELS_CLOSED_FORM:
        "all permutations over items inside each level, in closed form, two-sided",
    NullMethod.ITEM_PERMUTATIONS: "{n} random permutations of each item's scores, two-sided",
    NullMethod.SCORE_PERMUTATIONS: "{n} random permutations of the scores, two-sided",
    NullMethod.ONE_SCALE_PERMUTATIONS:
        "{n} random permutations of one scale's scores over the items, two-sided",
    NullMethod.SCALE_PERMUTATIONS:
        "{n} random permutations of each further scale's scores over the questions, two-sided",
    NullMethod.QUESTION_SHUFFLES: "{n} shuffles inside each question, two-sided",
    NullMethod.LABELS_NORMAL: "labels shuffled across items, normal",
    NullMethod.LABELS_ALIKE: "labels shuffled across items, all alike",
    NullMethod.SCORES_NORMAL: "scores shuffled across judgments, normal",
    NullMethod.GOLD_NORMAL: "right answers shuffled across questions, normal",
    NullMethod.GOLD_SHUFFLES: "{n} shuffles of right answers across questions, two-sided",
    NullMethod.VERDICTS_CLOSED_FORM: "verdicts permuted over the questions, in closed form",
    NullMethod.PLACE_PERMUTATIONS: "{n:,} label permutations inside questions",
    NullMethod.PLACES_CLOSED_FORM:
        "label permutations inside questions, by their chi-square limit",
    NullMethod.PLACES_ALIKE: "label permutations inside questions",
}  # fmt: skip


class Flag(StrEnum):
    """What a reader must know of a number besides its value.

    ``flag_numbers`` holds the numbers of each, in the order of its words.

    >>> Flag("few_verdicts").words([3, 40])
    'few verdicts: 3 of 40 replies hold one'
    """

    FEW_INFORMATIVE = "few_informative_questions"
    CARRIED_BY_FEW = "rests_on_few_questions"
    BIASED = "biased_at_this_size"
    NO_REPEATS = "no_prompt_asked_twice"
    SOME_ORDERS = "some_orders_recorded"
    SOME_ORDERS_OF_MANY = "some_of_many_orders_recorded"
    IN_BLOCKS = "left_out_in_blocks"
    RESAMPLES_UNDEFINED = "resamples_undefined"
    PERMUTATIONS_UNDEFINED = "permutations_undefined"
    SUBJECTS_LEFT_OUT = "subjects_left_out"
    HEYWOOD = "heywood_case"
    EQUAL_LOADINGS = "equal_loadings_assumed"
    EQUAL_GENERAL_LOADINGS = "equal_general_loadings_assumed"
    AT_BOUND = "uniqueness_at_bound"
    NEGATIVE_LOADINGS = "negative_loadings"
    NOT_UNIQUE = "other_solutions_fit"
    TURNED_ROUND = "items_turned_round"
    CONSTANT_ITEMS = "constant_items_dropped"
    NOT_SEMIDEFINITE = "not_positive_semidefinite"
    NO_GENERAL_FACTOR = "no_general_factor"
    FACTORS_APART = "factors_correlate_negatively"
    GENERAL_AT_BOUND = "general_loading_at_bound"
    PUBLISHED = "published_estimator"
    MONTE_CARLO_ONLY = "monte_carlo_error_only"
    FEW_RIGHT = "few_right_answers"
    FEW_WRONG = "few_wrong_answers"
    FEW_VERDICTS = "few_verdicts"
    SOME_WITHOUT = "replies_without_verdict"
    SERVING_NOISE = "serving_noise"
    GREEDY_LEFT_OUT = "temperature_0_left_out"
    OTHER_ANSWERS = "repeats_of_other_answers"
    WITHIN_PROMPT = "within_one_prompt"
    SCALE_OF_DECIMALS = "scale_of_decimals"
    SCALE_BELOW_0 = "scale_below_0"
    SCALE_NOT_WHOLE = "scale_not_of_whole_points"
    UNEQUAL_GROUPS = "no_equal_groups_of_points"
    TOO_MANY_TO_RANK = "too_many_scores_to_rank"
    LABELS_NO_NUMBERS = "labels_no_numbers"

    def note(self, numbers: Sequence[float] = ()) -> str:
        """Say it, a warning like any other."""
        items = ", ".join(f"{one:.0f}" for one in numbers)
        improper = f", {numbers[0]:.3f} without it" if numbers else ""
        plural = "" if numbers and numbers[0] == 1 else "s"
        return _FLAGS[self].format(*numbers, items=items, improper=improper, s=plural)

    def words(self, numbers: Sequence[float] = ()) -> str:
        """Say it as a remark."""
        return f"WARNING: {self.note(numbers)}" if self in _WARNINGS else self.note(numbers)


_FLAGS: Mapping[Flag, str] = {
    Flag.FEW_INFORMATIVE: "few informative questions",
    Flag.CARRIED_BY_FEW:
        "rests on few questions: {0:.1f} of {1:.0f} carry the differences between them",
    Flag.BIASED: "biased at this size",
    Flag.NO_REPEATS:
        "no prompt was asked twice, so only judgments at different levels are compared",
    Flag.SOME_ORDERS: "orders recorded: {0:,.0f} of {1:,.0f} a question, the others taken to be "
        "like them",
    Flag.SOME_ORDERS_OF_MANY: "orders recorded: {0:,.0f} of {1:,.0f} or more a question, the "
        "others taken to be like them",
    Flag.IN_BLOCKS: "blocks of {0:.0f} questions left out in turn",
    Flag.RESAMPLES_UNDEFINED: "{0:.0f} resamples undefined",
    Flag.PERMUTATIONS_UNDEFINED: "{0:.0f} permutations had no value",
    Flag.SUBJECTS_LEFT_OUT:
        "{0:.0f} of {1:.0f} subjects left out, without a score on every item",
    Flag.HEYWOOD: "Heywood case: a fitted error variance is held at its bound{improper}",
    Flag.EQUAL_LOADINGS: "two items: equal loadings assumed",
    Flag.EQUAL_GENERAL_LOADINGS:
        "two factors: equal loadings on the general factor assumed",
    Flag.AT_BOUND: "uniqueness at its bound, .005 of the variance",
    Flag.NEGATIVE_LOADINGS: "negative loadings: {items}",
    Flag.NOT_UNIQUE:
        "as many loadings as correlations: other solutions may fit as well",
    Flag.TURNED_ROUND: "items turned round: {items}",
    Flag.CONSTANT_ITEMS: "constant items dropped: {items}",
    Flag.NOT_SEMIDEFINITE: "matrix not positive semidefinite (pairs of items rest on "
        "different subjects)",
    Flag.NO_GENERAL_FACTOR: "no general factor: the factors' correlations do not sum "
        "above 0",
    Flag.FACTORS_APART: "no general factor: the two factors correlate negatively",
    Flag.GENERAL_AT_BOUND:
        "a group factor's loading on the general factor is kept at 1",
    Flag.PUBLISHED: "schroeder2024 correlates questions over independent replications and drops "
        "the signs: pure noise scores high, and the more questions, the higher. Read it beside its "
        "noise floor only; krippendorff_alpha says how far a judge agrees with itself.",
    Flag.MONTE_CARLO_ONLY:
        "Monte-Carlo error only, of the same questions asked again",
    Flag.FEW_RIGHT: "few right answers ({0:.0f} question{s})",
    Flag.FEW_WRONG: "few wrong answers ({0:.0f} question{s})",
    Flag.FEW_VERDICTS: "few verdicts: {0:,.0f} of {1:,.0f} replies hold one",
    Flag.SOME_WITHOUT: "replies without a verdict: {0:,.0f} of {1:,.0f}",
    Flag.SERVING_NOISE: "serving noise, not sampling",
    Flag.GREEDY_LEFT_OUT: "temperature 0 left out, its repeats are serving noise",
    Flag.OTHER_ANSWERS: "other answers: the repeats of {0:,.0f} of {1:,.0f} questions judge other "
        "answers, too",
    Flag.WITHIN_PROMPT: "no reproducibility: it is defined within one prompt, and says nothing of "
        "the other orders or wordings that were asked",
    Flag.SCALE_OF_DECIMALS: "collapse is of whole points, and a scale has decimals",
    Flag.SCALE_BELOW_0: "fraction needs a scale from 0 on, got {0}",
    Flag.SCALE_NOT_WHOLE: "collapse needs a scale of whole points, got one from {0} to {1}",
    Flag.UNEQUAL_GROUPS: "{0:.0f} points cannot collapse to {1:.0f} equal groups of points",
    Flag.TOO_MANY_TO_RANK: "{0:.0f} different scores of {1:.0f} items are too many to rank, round "
        "them or choose the level interval",
    Flag.LABELS_NO_NUMBERS: "labels that are no numbers: kappa of ratings leaves out {0:,.0f}, "
        "which accuracy counts",
}  # fmt: skip
_WARNINGS = frozenset(
    (
        Flag.SUBJECTS_LEFT_OUT,
        Flag.EQUAL_LOADINGS,
        Flag.EQUAL_GENERAL_LOADINGS,
        Flag.AT_BOUND,
        Flag.NEGATIVE_LOADINGS,
        Flag.NOT_UNIQUE,
        Flag.TURNED_ROUND,
        Flag.CONSTANT_ITEMS,
        Flag.NOT_SEMIDEFINITE,
        Flag.NO_GENERAL_FACTOR,
        Flag.FACTORS_APART,
        Flag.GENERAL_AT_BOUND,
        Flag.PUBLISHED,
        Flag.MONTE_CARLO_ONLY,
    )
)
Noted = tuple[Flag, tuple[float, ...]]
"""A flag with its numbers."""
