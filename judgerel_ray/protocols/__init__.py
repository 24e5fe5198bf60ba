"""Protocols: how a question is put to a judge and how its verdict is read from the reply."""

from judgerel_ray.protocols.criteria import (
    DEFINITION_LENGTHS,
    Criterion,
    DefinitionLength,
    load_criterion,
    shipped_criteria,
)
from judgerel_ray.protocols.prompts import (
    Template,
    as_plain,
    fill,
    labels_for,
    menu_for,
    question_form,
    render_best_of,
    render_correctness,
    render_respond,
)
from judgerel_ray.protocols.replies.correctness_form import CONFIDENT_FORMS, read_confidence
from judgerel_ray.protocols.replies.declared_forms import (
    DECLARED,
    TIE,
    fill_example,
    mention_of,
    read_words,
    refuse_clashes,
)
from judgerel_ray.protocols.replies.forms import FORMS, Form, answer_frame
from judgerel_ray.protocols.replies.free_form import FreeReading, read_free_reply
from judgerel_ray.protocols.replies.mentions import Mention
from judgerel_ray.protocols.replies.messages import content_text, message_thought
from judgerel_ray.protocols.replies.scales import (
    load_scale,
    scale_labels,
    scale_values,
    score_of,
    shipped_scales,
)
from judgerel_ray.protocols.replies.thoughts import (
    drop_moved_thought,
    may_think,
    opening_mark,
    split_answer,
    split_thought,
)
from judgerel_ray.protocols.replies.verdicts import (
    READER_VERSION,
    RatingReading,
    Reading,
    SelectionReading,
    counted_mention,
    read_assessment,
    read_rating,
    read_selection,
    read_verdict,
    settled_reading,
    stop_strings,
)
from judgerel_ray.protocols.templates import load_template, shipped_templates

__all__ = [
    "CONFIDENT_FORMS",
    "DECLARED",
    "DEFINITION_LENGTHS",
    "FORMS",
    "READER_VERSION",
    "TIE",
    "Criterion",
    "DefinitionLength",
    "Form",
    "FreeReading",
    "Mention",
    "RatingReading",
    "Reading",
    "SelectionReading",
    "Template",
    "answer_frame",
    "as_plain",
    "content_text",
    "counted_mention",
    "drop_moved_thought",
    "fill",
    "fill_example",
    "labels_for",
    "load_criterion",
    "load_scale",
    "load_template",
    "may_think",
    "mention_of",
    "menu_for",
    "message_thought",
    "opening_mark",
    "question_form",
    "read_assessment",
    "read_confidence",
    "read_free_reply",
    "read_rating",
    "read_selection",
    "read_verdict",
    "read_words",
    "refuse_clashes",
    "render_best_of",
    "render_correctness",
    "render_respond",
    "scale_labels",
    "scale_values",
    "score_of",
    "settled_reading",
    "shipped_criteria",
    "shipped_scales",
    "shipped_templates",
    "split_answer",
    "split_thought",
    "stop_strings",
]
