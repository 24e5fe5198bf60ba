"""Codes of what a doctor finds; :mod:`judgerel_ray.analyses.doctor.show` has their words."""

from __future__ import annotations

from enum import StrEnum


class Use(StrEnum):
    """What a column is taken for: of its own name, or one of several with the same use."""

    ITEM = "item"
    REPEAT = "repeat"
    BLOCK = "block"
    VERDICT = "verdict"
    SCORE = "score"
    OUTCOME = "outcome"
    PLACE = "place"
    GOLD = "gold"
    CONFIDENCE = "confidence"
    KEY = "key"
    SEED = "seed"
    N_OPTIONS = "n_options"
    N_ANSWERS = "n_answers"
    OPTIONS = "options"
    COST = "cost"
    END = "finish_reason"
    ATTEMPT = "attempt"
    LANDED = "landed_at"
    NUISANCE = "nuisance_facet"
    GROUP = "group"
    FACET = "facet"


class Question(StrEnum):
    """What may be asked of a file of judgments."""

    REPEATS = "repeats"
    INTERVALS = "intervals"
    FACET = "facet"
    POSITION = "position"
    RIGHT = "right"
    PANEL = "panel"


class Lack(StrEnum):
    """What is in the way of a question."""

    REPEATS = "repeats"
    ITEMS = "items"
    LEVELS = "levels"
    ORDERS = "orders"
    PLACES = "places"
    LABELS = "labels"
    JUDGES = "judges"


class Doubt(StrEnum):
    """Why a group of judgments may be no judging at all."""

    UNREADABLE = "few_verdicts"
    ONE_ANSWER = "one_answer"
    ONE_PLACE = "one_place"
    NEARLY_ONE_ANSWER = "nearly_one_answer"
