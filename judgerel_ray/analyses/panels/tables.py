"""What ``panels`` and ``cascade`` print."""

from __future__ import annotations

from judgerel_ray.core.schema import Bool, Float64, Int64, Schema, SchemasByVerb, String
from judgerel_ray.core.tables import (
    Common,
    FloorColumns,
    FloorSpread,
    GroupColumns,
    WorthColumns,
    interval_ends,
)


class AccuracyEnds(Schema):
    """Ends of an accuracy."""

    low, high = interval_ends("the accuracy, over questions")


class AccuracyColumns(Schema):
    """What members answer rightly together."""

    accuracy = Float64(
        "Share of the questions answered rightly, no verdict counted as wrong and a tie by its "
        "share (0 to 1)."
    )
    ends = AccuracyEnds


class GainColumns(Schema):
    """What is gained over the best single member."""

    gain = Float64(
        "Accuracy less that of the best single member, which other folds chose, on the same "
        "questions; null of a single question."
    )
    gain_low, gain_high = interval_ends("the gain")


class Members(Schema):
    """Each system alone: one row per group and member."""

    member = String("The system: a judge, and its role where there are several.")
    n_items = Int64("Questions that all members answered.")
    answered_rightly = AccuracyColumns
    valid = Float64("Share of its answers with a verdict (0 to 1).")
    cost = Float64("Mean cost of one question, in cost_unit.")
    cost_unit = Common.cost_unit


class PanelRules(Schema):
    """One row per group and rule by which all members vote.

    The noise floor permutes verdicts at random.
    """

    rule = String(
        "What a vote counts: majority (all alike), confidence (by confidence) or accuracy (by "
        "accuracy on other questions)."
    )
    n_members = Int64("Members that vote.")
    n_items = Int64("Questions that all members answered.")
    answered_rightly = AccuracyColumns
    floor = FloorColumns
    tied = Float64("Share of the questions whose votes tie, so that the verdict is drawn by lot.")
    silent = Float64("Share of the questions without any vote.")
    cost = Float64("Mean cost of one question to all members, in cost_unit.")
    cost_unit = Common.cost_unit
    gained = GainColumns
    n_dropped = Int64("Questions left out because not all members were asked.")


class BestPanels(Schema):
    """The best panel of each size, and at each cost, and its worth where other folds chose."""

    chosen_by = String(
        "size: the best panel of so many members; cost: the best that costs no more."
    )
    limit = Float64("That size, or that cost of one question.")
    members = String("The panel chosen on all questions, names with + between.")
    n_members = Int64("Members of it.")
    cost = Float64("Mean cost of one question, in cost_unit.")
    cost_unit = Common.cost_unit
    in_sample = Float64("Its accuracy on the questions that it was chosen by: optimistic.")
    accuracy = Float64(
        "Accuracy of the panels that the other folds chose, each on questions it was not chosen by "
        "(0 to 1)."
    )
    ends = AccuracyEnds
    gained = GainColumns
    n_alike = Int64("Folds that chose the same panel as all questions do.")
    n_folds = Int64("Folds.")
    n_panels = Int64("Panels looked at.")
    exhaustive = Bool("true where these are all panels that there are.")


class RandomPanels(Schema):
    """One row per group and size: panels drawn at random, and what one more member adds."""

    n_members = Int64("Members of panels drawn at random.")
    answered_rightly = AccuracyColumns
    gain = Float64("Accuracy less that of random panels with one member fewer; null for the first.")
    gain_low, gain_high = interval_ends("the gain", "for the first")


class PanelWorth(Schema):
    """One row per group: how many members with independent errors they are worth."""

    n_members = Int64("Members whose errors vary.")
    worth = WorthColumns
    most = Float64(
        "What infinitely many members of this kind would be worth; null where there is no limit."
    )
    error_correlation = Common.error_correlation
    n_items = Int64("Questions that all of them answered.")
    undefined = String(
        "Code that says why there is no effective (too_few_judges, too_few_units, no_bound); null "
        "where there is one."
    )


class Stages(Schema):
    """Who is asked, in order."""

    stage = Int64("Place in asking order, from 1.")
    member = String("Who is asked there; person where nobody measured it.")
    n_items = Int64("Questions that all members answered.")
    cost = Float64("Mean cost of asking it one question, in cost_unit.")
    cost_unit = Common.cost_unit
    accuracy = Float64(
        "Share of all questions that it answers rightly by itself; of a person as assumed."
    )
    low, high = interval_ends("the accuracy, over questions", "of a person")
    confident = Float64("Share of its answers that state a confidence; null of a person.")


class CascadeCurve(Schema):
    """One row per group and budget.

    ``random``: as many passed on at each stage, however sure they are. ``alone``: the best member
    for that money, its majority of so many replications.
    """

    budget = Float64("What one question may cost on average, in cost_unit.")
    cost_unit = Common.cost_unit
    cost = Float64("What one question cost, with thresholds that other questions chose.")
    cost_low, cost_high = interval_ends("the cost, over questions")
    accuracy = Float64(
        "Share of the questions answered rightly, with thresholds that other questions chose (0 to "
        "1)."
    )
    ends = AccuracyEnds
    answered = String(
        "Share of the questions that each stage answers, in asking order, with commas between."
    )
    thresholds = String(
        "Confidence from which each stage but the last answers, chosen on all questions: -inf "
        "always, inf never."
    )
    in_sample = Float64(
        "Accuracy with these thresholds on the questions that chose them: optimistic."
    )
    in_sample_cost = Float64("Cost with these thresholds on the questions that chose them.")
    n_alike = Int64("Folds that chose the same thresholds.")
    n_folds = Int64("Folds.")
    random = Float64("Accuracy were as many questions passed on at each stage at random.")
    over_random = Float64("accuracy less random.")
    over_random_low, over_random_high = interval_ends("over_random", "where both answer alike")
    alone = String(
        "The best single member for the same money, x K where it is the majority of K of its "
        "replications; null where the money buys none."
    )
    alone_accuracy = Float64("Its accuracy, chosen on other questions than those it is tried on.")
    alone_cost = Float64("Its cost of one question.")
    over_alone = Float64("accuracy less alone_accuracy.")
    over_alone_low, over_alone_high = interval_ends("over_alone", "where both answer alike")
    n_items = Int64("Questions that all members answered.")


class CascadedShares(Schema):
    """In place of the other two, where a run asked a cascade.

    One row per model, one of what was left to a person, and one of all of it.
    """

    benchmark = GroupColumns.benchmark
    template = GroupColumns.template
    temperature = GroupColumns.temperature
    asked = String("A model of the cascade, a person (what was left to one), or all of it.")
    threshold = Float64("Confidence from which an answer counted.")
    n_questions = Int64("Different questions put to it.")
    n_asked = Int64("Questions times replications put to it.")
    n_answered = Int64("Those of them that it answered.")
    answered = Float64("Share that it answered (0 to 1); null of a person.")
    answered_low, answered_high = interval_ends("answered")
    n_right = Int64("Right answers, where the right one is known.")
    accuracy = Float64(
        "Share right of the answers to questions whose right answer is known; null without any."
    )
    low, high = interval_ends("the accuracy")
    interval = String("How the interval of the accuracy was made, in words.")
    noise_floor = Float64(
        "Accuracy that the same answers would have on average with the right answers shuffled "
        "across questions; null below two questions."
    )
    floor = FloorSpread
    spent = Float64(
        "What it took, by question put to the cascade, in unit; null where replies do not say."
    )
    unit = String(
        "cost (money) where every reply has one, else tokens; null where neither is known."
    )


TABLES: SchemasByVerb = {
    "panels": {
        "members": Members,
        "panels": PanelRules,
        "best": BestPanels,
        "next": RandomPanels,
        "worth": PanelWorth,
    },
    "cascade": {"stages": Stages, "curve": CascadeCurve, "cascaded": CascadedShares},
}
