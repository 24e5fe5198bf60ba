"""Codes of how a number was made and what weakens it, each with its words.

Rooms that make numbers write codes into columns (``interval_method``, ``no_interval``,
``null_method``, ``flags``); rooms that show them ask here, and nowhere else, what a code means.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Self

_JACKKNIFE = "jackknife-t over {n} questions"
_POSTERIOR = "Dirichlet process posterior over {n} questions"


class Worded(StrEnum):
    """A code with its words."""

    template: str

    def __new__(cls, code: str, template: str = "") -> Self:
        """Make a member whose value is the code alone."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.template = template
        return member


class IntervalMethod(Worded):
    """How an interval was made.

    >>> IntervalMethod("jackknife_logit").words(n=20)
    'jackknife-t over 20 questions, logit scale'
    """

    JACKKNIFE = "jackknife", _JACKKNIFE
    JACKKNIFE_LOGIT = "jackknife_logit", f"{_JACKKNIFE}, logit scale"
    JACKKNIFE_AND_BINOMIAL = (
        "jackknife_and_binomial",
        "outer ends of jackknife-t and binomial over {n} questions",
    )
    JACKKNIFE_BINOMIAL_ONE_MORE = (
        "jackknife_binomial_one_more",
        "outer ends of jackknife-t, binomial and one question more over {n} questions",
    )
    JACKKNIFE_ONE_MORE = "jackknife_one_more", f"{_JACKKNIFE}, also with one question more"
    JACKKNIFE_LOG = "jackknife_log", f"{_JACKKNIFE}, log scale"
    JACKKNIFE_FISHER = "jackknife_fisher", f"{_JACKKNIFE}, Fisher's z"
    JACKKNIFE_LESS_BIAS = "jackknife_less_bias", f"{_JACKKNIFE}, about the value less its bias"
    JACKKNIFE_LESS_BIAS_WITH_0 = (
        "jackknife_less_bias_with_0",
        f"{_JACKKNIFE}, about the value less its bias, 0 kept in it",
    )
    JACKKNIFE_LESS_BIAS_EXTENDED = (
        "jackknife_less_bias_extended",
        f"{_JACKKNIFE}, about the value less its bias, extended to the value",
    )
    POSTERIOR = "posterior", _POSTERIOR
    POSTERIOR_WITH_0 = "posterior_with_0", f"{_POSTERIOR}, with 0: it may be noise"
    POSTERIOR_EXTENDED = "posterior_extended", f"{_POSTERIOR}, extended to the value"
    POSTERIOR_WITH_0_EXTENDED = (
        "posterior_with_0_extended",
        f"{_POSTERIOR}, with 0: it may be noise, extended to the value",
    )
    PERCENTILE_BOOTSTRAP = (
        "percentile_bootstrap",
        "percentile bootstrap, {resamples} resamples of {n} questions",
    )
    BASIC_BOOTSTRAP = "basic_bootstrap", "basic bootstrap, {resamples} resamples of {n} questions"
    CLOPPER_PEARSON = "clopper_pearson", "Clopper-Pearson over {n} questions"
    CLOPPER_PEARSON_LESS_CHANCE = (
        "clopper_pearson_less_chance",
        "Clopper-Pearson over {n} questions, less chance",
    )
    EXACT_WEIGHTED = "exact_weighted", "exact over {n} questions of unequal weight"
    EXACT_WEIGHTED_LESS_CHANCE = (
        "exact_weighted_less_chance",
        "exact over {n} questions of unequal weight, less chance",
    )
    BINOMIAL_BY_QUESTION = "binomial_by_question", "binomial, by {n} questions"
    CHERNOFF_HOEFFDING = "chernoff_hoeffding", "Chernoff-Hoeffding over {n} questions"
    T_QUESTIONS = "t_questions", "t over {n} questions"
    T_REPLICATIONS = "t_replications", "t over {n} replications"
    WORST_TO_BEST = "worst_to_best_case", "no sampling error in it"
    BRACKET = "bracket_of_worst_and_best_case", "no sampling error in it"

    def words(self, *, n: int, n_resamples: int = 0) -> str:
        """Say it, with the number of questions (or replications) and of resamples."""
        return self.template.format(n=n, resamples=n_resamples)


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


class NullMethod(Worded):
    """How a noise floor was made.

    >>> NullMethod("random_reassignments").words(n=999)
    '999 random reassignments, two-sided'
    """

    REASSIGNMENTS = "random_reassignments", "{n} random reassignments, two-sided"
    CLOSED_FORM = "closed_form", "all reassignments in closed form, two-sided"
    CLOSED_FORM_SKEWED = "closed_form_skewed", "all reassignments in closed form, skewed, two-sided"
    CLOSED_FORM_NO_P = (
        "closed_form_no_p",
        "all reassignments in closed form; no p: too skewed to tell it, too many to permute",
    )
    LEVEL_PERMUTATIONS = (
        "level_permutations",
        "{n} permutations over items inside each level, two-sided",
    )
    LEVELS_CLOSED_FORM = (
        "levels_closed_form",
        "all permutations over items inside each level, in closed form, two-sided",
    )
    ITEM_PERMUTATIONS = (
        "item_permutations",
        "{n} random permutations of each item's scores, two-sided",
    )
    SCORE_PERMUTATIONS = "score_permutations", "{n} random permutations of the scores, two-sided"
    ONE_SCALE_PERMUTATIONS = (
        "one_scale_permutations",
        "{n} random permutations of one scale's scores over the items, two-sided",
    )
    SCALE_PERMUTATIONS = (
        "scale_permutations",
        "{n} random permutations of each further scale's scores over the questions, two-sided",
    )
    QUESTION_SHUFFLES = "question_shuffles", "{n} shuffles inside each question, two-sided"
    LABELS_NORMAL = "labels_normal", "labels shuffled across items, normal"
    LABELS_ALIKE = "labels_alike", "labels shuffled across items, all alike"
    SCORES_NORMAL = "scores_normal", "scores shuffled across judgments, normal"
    GOLD_NORMAL = "gold_normal", "right answers shuffled across questions, normal"
    GOLD_SHUFFLES = "gold_shuffles", "{n} shuffles of right answers across questions, two-sided"
    VERDICTS_CLOSED_FORM = (
        "verdicts_closed_form",
        "verdicts permuted over the questions, in closed form",
    )
    PLACE_PERMUTATIONS = "place_permutations", "{n:,} label permutations inside questions"
    PLACES_CLOSED_FORM = (
        "places_closed_form",
        "label permutations inside questions, by their chi-square limit",
    )
    PLACES_ALIKE = "places_alike", "label permutations inside questions"

    def words(self, *, n: int) -> str:
        """Say it, with the number of permutations that had a value."""
        return self.template.format(n=n)


class Flag(Worded):
    """What a reader must know of a number besides its value.

    ``flag_numbers`` holds the numbers of each, in the order of its words.

    >>> Flag("few_verdicts").words([3, 40])
    'few verdicts: 3 of 40 replies hold one'
    """

    FEW_INFORMATIVE = "few_informative_questions", "few informative questions"
    CARRIED_BY_FEW = (
        "rests_on_few_questions",
        "rests on few questions: {0:.1f} of {1:.0f} carry the differences between them",
    )
    BIASED = "biased_at_this_size", "biased by too few questions or replications"
    NO_REPEATS = (
        "no_prompt_asked_twice",
        "no prompt was asked twice, so only judgments at different levels are compared",
    )
    SOME_ORDERS = (
        "some_orders_recorded",
        "orders recorded: {0:,.0f} of {1:,.0f} a question, the others taken to be like them",
    )
    SOME_ORDERS_OF_MANY = (
        "some_of_many_orders_recorded",
        "orders recorded: {0:,.0f} of {1:,.0f} or more a question, the others taken to be like "
        "them",
    )
    IN_BLOCKS = "left_out_in_blocks", "blocks of {0:.0f} questions left out in turn"
    RESAMPLES_UNDEFINED = "resamples_undefined", "{0:.0f} resamples undefined"
    PERMUTATIONS_UNDEFINED = "permutations_undefined", "{0:.0f} permutations had no value"
    SUBJECTS_LEFT_OUT = (
        "subjects_left_out",
        "WARNING: {0:.0f} of {1:.0f} subjects left out, without a score on every item",
    )
    HEYWOOD = "heywood_case", "Heywood case: a fitted error variance is held at its bound{improper}"
    EQUAL_LOADINGS = "equal_loadings_assumed", "WARNING: two items: equal loadings assumed"
    EQUAL_GENERAL_LOADINGS = (
        "equal_general_loadings_assumed",
        "WARNING: two factors: equal loadings on the general factor assumed",
    )
    AT_BOUND = "uniqueness_at_bound", "WARNING: uniqueness at its bound, .005 of the variance"
    NEGATIVE_LOADINGS = "negative_loadings", "WARNING: negative loadings: {items}"
    NOT_UNIQUE = (
        "other_solutions_fit",
        "WARNING: as many loadings as correlations: other solutions may fit as well",
    )
    TURNED_ROUND = "items_turned_round", "WARNING: items turned round: {items}"
    CONSTANT_ITEMS = "constant_items_dropped", "WARNING: constant items dropped: {items}"
    NOT_SEMIDEFINITE = (
        "not_positive_semidefinite",
        "WARNING: matrix not positive semidefinite (pairs of items rest on different subjects)",
    )
    NO_GENERAL_FACTOR = (
        "no_general_factor",
        "WARNING: no general factor: the factors' correlations do not sum above 0",
    )
    FACTORS_APART = (
        "factors_correlate_negatively",
        "WARNING: no general factor: the two factors correlate negatively",
    )
    GENERAL_AT_BOUND = (
        "general_loading_at_bound",
        "WARNING: a group factor's loading on the general factor is kept at 1",
    )
    PUBLISHED = (
        "published_estimator",
        "WARNING: schroeder2024 correlates questions over independent replications and drops "
        "the signs: pure noise scores high, and the more questions, the higher. Read it beside "
        "its noise floor only; krippendorff_alpha says how far a judge agrees with itself.",
    )
    MONTE_CARLO_ONLY = (
        "monte_carlo_error_only",
        "WARNING: Monte-Carlo error only, of the same questions asked again",
    )
    FEW_RIGHT = "few_right_answers", "few right answers ({0:.0f} question{s})"
    FEW_WRONG = "few_wrong_answers", "few wrong answers ({0:.0f} question{s})"
    FEW_VERDICTS = "few_verdicts", "few verdicts: {0:,.0f} of {1:,.0f} replies hold one"
    SOME_WITHOUT = "replies_without_verdict", "replies without a verdict: {0:,.0f} of {1:,.0f}"
    SERVING_NOISE = "serving_noise", "serving noise, not sampling"
    GREEDY_LEFT_OUT = (
        "temperature_0_left_out",
        "temperature 0 left out, its repeats are serving noise",
    )
    OTHER_ANSWERS = (
        "repeats_of_other_answers",
        "other answers: the repeats of {0:,.0f} of {1:,.0f} questions judge other answers, too",
    )
    WITHIN_PROMPT = (
        "within_one_prompt",
        "no reproducibility: it is defined within one prompt, and says nothing of the other "
        "orders or wordings that were asked",
    )
    SCALE_OF_DECIMALS = "scale_of_decimals", "collapse is of whole points, and a scale has decimals"
    SCALE_BELOW_0 = "scale_below_0", "fraction needs a scale from 0 on, got {0}"
    SCALE_NOT_WHOLE = (
        "scale_not_of_whole_points",
        "collapse needs a scale of whole points, got one from {0} to {1}",
    )
    UNEQUAL_GROUPS = (
        "no_equal_groups_of_points",
        "{0:.0f} points cannot collapse to {1:.0f} equal groups of points",
    )
    TOO_MANY_TO_RANK = (
        "too_many_scores_to_rank",
        "{0:.0f} different scores of {1:.0f} items are too many to rank, round them or choose "
        "the level interval",
    )
    LABELS_NO_NUMBERS = (
        "labels_no_numbers",
        "labels that are no numbers: kappa of ratings leaves out {0:,.0f}, which accuracy counts",
    )

    def note(self, numbers: Sequence[float] = ()) -> str:
        """Say it, a warning like any other."""
        return self.words(numbers).removeprefix("WARNING: ")

    def words(self, numbers: Sequence[float] = ()) -> str:
        """Say it as a remark."""
        items = ", ".join(map("{:.0f}".format, numbers))
        improper = f", {numbers[0]:.3f} without it" if numbers else ""
        plural = "" if numbers and numbers[0] == 1 else "s"
        return self.template.format(*numbers, items=items, improper=improper, s=plural)


Noted = tuple[Flag, tuple[float, ...]]
"""A flag with its numbers."""
