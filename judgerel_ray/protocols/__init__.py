"""Protocols: how a question is put to a judge and how its verdict is read from the reply."""

from judgerel_ray.protocols.assessing import (
    answer_frame,
    read_assessment,
    render_assessment,
    render_confused,
    render_together,
    render_verdict,
)
from judgerel_ray.protocols.forms import FORMS, Form
from judgerel_ray.protocols.mentions import Mention
from judgerel_ray.protocols.rendering import (
    as_plain,
    fill,
    labels_for,
    question_form,
    render_best_of,
    render_correctness,
    render_respond,
)
from judgerel_ray.protocols.settling import settled_reading
from judgerel_ray.protocols.templates import (
    PLACEHOLDERS,
    STAGE_TEXTS,
    Template,
    load_template,
    shipped_templates,
)
from judgerel_ray.protocols.verdicts import READER_VERSION, Reading, read_verdict, stop_strings

__all__ = [
    "FORMS",
    "PLACEHOLDERS",
    "READER_VERSION",
    "STAGE_TEXTS",
    "Form",
    "Mention",
    "Reading",
    "Template",
    "answer_frame",
    "as_plain",
    "fill",
    "labels_for",
    "load_template",
    "question_form",
    "read_assessment",
    "read_verdict",
    "render_assessment",
    "render_best_of",
    "render_confused",
    "render_correctness",
    "render_respond",
    "render_together",
    "render_verdict",
    "settled_reading",
    "shipped_templates",
    "stop_strings",
]
