"""Protocols: how a question is put to a judge and how its verdict is read from the reply."""

from judgerel_ray.protocols.confusion.prompts import (
    read_assessment,
    render_assessment,
    render_confused,
    render_together,
    render_verdict,
)
from judgerel_ray.protocols.criteria import (
    DEFINITION_LENGTHS,
    Criterion,
    DefinitionLength,
    load_criterion,
    shipped_criteria,
)
from judgerel_ray.protocols.prompts.rendering import (
    as_plain,
    fill,
    labels_for,
    menu_for,
    question_form,
    render_best_of,
    render_correctness,
    render_respond,
)
from judgerel_ray.protocols.prompts.templates import Template, load_template, shipped_templates
from judgerel_ray.protocols.rating.prompts import criterion_words, render_rating
from judgerel_ray.protocols.replies.correctness_form import CONFIDENT_FORMS, read_confidence
from judgerel_ray.protocols.replies.forms import FORMS, Form, answer_frame
from judgerel_ray.protocols.replies.mentions import Mention
from judgerel_ray.protocols.replies.own_forms import (
    OWN,
    TIE,
    fill_example,
    mention_of,
    read_words,
    refuse_clashes,
)
from judgerel_ray.protocols.replies.scales import (
    load_scale,
    scale_labels,
    scale_values,
    score_of,
    shipped_scales,
)
from judgerel_ray.protocols.replies.verdicts import (
    READER_VERSION,
    Rating,
    Reading,
    counted_mention,
    read_rating,
    read_verdict,
    settled_reading,
    stop_strings,
)
from judgerel_ray.protocols.think_twice.prompts import (
    Selection,
    read_selection,
    render_choose,
    render_compare,
    render_select,
)

__all__ = [
    "CONFIDENT_FORMS",
    "DEFINITION_LENGTHS",
    "FORMS",
    "OWN",
    "READER_VERSION",
    "TIE",
    "Criterion",
    "DefinitionLength",
    "Form",
    "Mention",
    "Rating",
    "Reading",
    "Selection",
    "Template",
    "answer_frame",
    "as_plain",
    "counted_mention",
    "criterion_words",
    "fill",
    "fill_example",
    "labels_for",
    "load_criterion",
    "load_scale",
    "load_template",
    "mention_of",
    "menu_for",
    "question_form",
    "read_assessment",
    "read_confidence",
    "read_rating",
    "read_selection",
    "read_verdict",
    "read_words",
    "refuse_clashes",
    "render_assessment",
    "render_best_of",
    "render_choose",
    "render_compare",
    "render_confused",
    "render_correctness",
    "render_rating",
    "render_respond",
    "render_select",
    "render_together",
    "render_verdict",
    "scale_labels",
    "scale_values",
    "score_of",
    "settled_reading",
    "shipped_criteria",
    "shipped_scales",
    "shipped_templates",
    "stop_strings",
]
