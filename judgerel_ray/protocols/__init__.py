"""Protocols: how a question is put to a judge and how its verdict is read from the reply."""

from judgerel_ray.core.rooms import offer
from judgerel_ray.protocols.criteria import DEFINITION_LENGTHS as DEFINITION_LENGTHS
from judgerel_ray.protocols.criteria import Criterion as Criterion
from judgerel_ray.protocols.criteria import DefinitionLength as DefinitionLength
from judgerel_ray.protocols.criteria import load_criterion as load_criterion
from judgerel_ray.protocols.criteria import shipped_criteria as shipped_criteria
from judgerel_ray.protocols.prompts import Template as Template
from judgerel_ray.protocols.prompts import as_plain as as_plain
from judgerel_ray.protocols.prompts import fill as fill
from judgerel_ray.protocols.prompts import labels_for as labels_for
from judgerel_ray.protocols.prompts import menu_for as menu_for
from judgerel_ray.protocols.prompts import question_form as question_form
from judgerel_ray.protocols.prompts import render_best_of as render_best_of
from judgerel_ray.protocols.prompts import render_correctness as render_correctness
from judgerel_ray.protocols.prompts import render_respond as render_respond
from judgerel_ray.protocols.replies.correctness_form import CONFIDENT_FORMS as CONFIDENT_FORMS
from judgerel_ray.protocols.replies.correctness_form import read_confidence as read_confidence
from judgerel_ray.protocols.replies.declared_forms import DECLARED as DECLARED
from judgerel_ray.protocols.replies.declared_forms import TIE as TIE
from judgerel_ray.protocols.replies.declared_forms import fill_example as fill_example
from judgerel_ray.protocols.replies.declared_forms import mention_of as mention_of
from judgerel_ray.protocols.replies.declared_forms import read_words as read_words
from judgerel_ray.protocols.replies.declared_forms import refuse_clashes as refuse_clashes
from judgerel_ray.protocols.replies.forms import FORMS as FORMS
from judgerel_ray.protocols.replies.forms import Form as Form
from judgerel_ray.protocols.replies.forms import answer_frame as answer_frame
from judgerel_ray.protocols.replies.free_form import FreeReading as FreeReading
from judgerel_ray.protocols.replies.free_form import read_free_reply as read_free_reply
from judgerel_ray.protocols.replies.mentions import Mention as Mention
from judgerel_ray.protocols.replies.scales import load_scale as load_scale
from judgerel_ray.protocols.replies.scales import scale_labels as scale_labels
from judgerel_ray.protocols.replies.scales import scale_values as scale_values
from judgerel_ray.protocols.replies.scales import score_of as score_of
from judgerel_ray.protocols.replies.scales import shipped_scales as shipped_scales
from judgerel_ray.protocols.replies.thoughts import content_text as content_text
from judgerel_ray.protocols.replies.thoughts import drop_moved_thought as drop_moved_thought
from judgerel_ray.protocols.replies.thoughts import may_think as may_think
from judgerel_ray.protocols.replies.thoughts import message_thought as message_thought
from judgerel_ray.protocols.replies.thoughts import opening_mark as opening_mark
from judgerel_ray.protocols.replies.thoughts import split_answer as split_answer
from judgerel_ray.protocols.replies.thoughts import split_thought as split_thought
from judgerel_ray.protocols.replies.verdicts import READER_VERSION as READER_VERSION
from judgerel_ray.protocols.replies.verdicts import RatingReading as RatingReading
from judgerel_ray.protocols.replies.verdicts import Reading as Reading
from judgerel_ray.protocols.replies.verdicts import SelectionReading as SelectionReading
from judgerel_ray.protocols.replies.verdicts import counted_mention as counted_mention
from judgerel_ray.protocols.replies.verdicts import read_assessment as read_assessment
from judgerel_ray.protocols.replies.verdicts import read_rating as read_rating
from judgerel_ray.protocols.replies.verdicts import read_selection as read_selection
from judgerel_ray.protocols.replies.verdicts import read_verdict as read_verdict
from judgerel_ray.protocols.replies.verdicts import settled_reading as settled_reading
from judgerel_ray.protocols.replies.verdicts import stop_strings as stop_strings
from judgerel_ray.protocols.templates import load_template as load_template
from judgerel_ray.protocols.templates import shipped_templates as shipped_templates

offer(__name__)
