"""What each text of a template has to fill in, protocol by protocol."""

from __future__ import annotations

import re
from collections.abc import Mapping

PLACEHOLDER = re.compile(r"\{\{([A-Za-z_]\w*)\}\}|\{([A-Za-z_]\w*)\}")
"""``{name}`` is filled (group 2); ``{{name}}`` stands for the text ``{name}`` (group 1)."""

PLACEHOLDERS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "respond": {
        "question": ("question",),
        "context": ("context", "question"),
        "dialogue": ("question_1", "response_1", "question_2"),
    },
    "best_of": {
        "question": ("question", "responses"),
        "context": ("context", "question", "responses"),
        "dialogue": ("question_1", "question_2", "responses"),
    },
    "correctness": {
        "question": ("question", "ground_truth", "prediction"),
        "context": ("context", "question", "ground_truth", "prediction"),
        "dialogue": ("question_1", "question_2", "ground_truth", "prediction"),
    },
    "confusion": {
        "question": ("question", "options"),
        "context": ("context", "question", "options"),
        "verdict": (),
        "assessment": ("option",),
        "neutral": (),
        "choice": (),
        "single": ("assessments",),
    },
    "think_twice": {
        "question": ("question", "options"),
        "context": ("context", "question", "options"),
        "open_question": ("question",),
        "open_context": ("context", "question"),
        "select": ("candidates",),
        "choose": (),
        "compare": ("answers",),
        "open_select": ("candidates",),
        "open_choose": (),
        "open_compare": ("answers",),
    },
    "rating": {
        "question": ("question", "response", "criterion", "scale"),
        "context": ("context", "question", "response", "criterion", "scale"),
        "dialogue": ("question_1", "question_2", "response", "criterion", "scale"),
        "defined": ("criterion", "definition"),
        "numbers": ("lowest", "highest"),
        "decimals": ("lowest", "highest"),
        "words": ("labels",),
    },
}
"""Protocol -> text file -> the placeholders it has; all of them must appear."""

STAGE_TEXTS: Mapping[str, tuple[str, ...]] = {
    "confusion": ("verdict", "assessment", "neutral", "choice", "single"),
    "rating": ("defined", "numbers", "decimals", "words"),
    "think_twice": (
        "select",
        "choose",
        "compare",
        "open_question",
        "open_context",
        "open_select",
        "open_choose",
        "open_compare",
    ),
}
"""Protocol -> the texts of its stages, which every folder holds beside those of its items."""
