"""The declared forms of thinking twice: ``Final Answer: 2``, ``Correct Answer: 1``, ``Option: 0``.

Options and models are numbered, and the number may stand with or without brackets, marks of
emphasis, or the word for what it counts. Whether it was on the menu is checked after it was found.
"""

from __future__ import annotations

from judgerel_ray.core import Menu
from judgerel_ray.protocols.replies.best_response import (
    best_response_is_cut,
    find_best_response,
    lead_of,
)
from judgerel_ray.protocols.replies.mentions import Mention

_CHOICE = "option|answer|choice|candidate"
_OF_A_MODEL = r"""[\s*_`"'“”‘’]*[:：][\s*_`"'“”‘’\[(<]*(?:model|response)\b"""
# Of answers that models gave, "the correct answer: model 2" names no option: only the best one,
# which is asked for where the answers themselves are compared, is a model's.
_LEADS = {
    "final_answer": lead_of(r"final[\s_]+answer", nouns=_CHOICE),
    "correct_answer": lead_of(
        rf"(?:correct[\s_]+answer(?!{_OF_A_MODEL})|best[\s_]+answer)",
        nouns=f"{_CHOICE}|model|response",
    ),
    "options": lead_of("option", nouns=_CHOICE),
    "candidates": lead_of("candidate", nouns=_CHOICE),
}
NUMBERED_FORMS = ("final_answer", "correct_answer")
"""Forms of verdicts; ``options`` and ``candidates`` are those of a selection."""


def find_numbered(text: str, menu: Menu, ended: bool) -> list[Mention]:
    r"""Find every statement of the menu's form, in the order written.

    Examples
    --------
    >>> menu = Menu(labels=("0", "1"), option_ids=("a", "b"), form="final_answer")
    >>> [one.labels for one in find_numbered("Final Answer: 1\nReason: Option 0 is weak.", menu, True)]
    [('1',)]
    >>> find_numbered("Final Answer: 1.5", menu, True)
    []
    """  # noqa: E501  the example is one reply
    return find_best_response(text, menu.labels, ended, lead=_LEADS[menu.form])


def numbered_is_cut(text: str, menu: Menu) -> bool:
    r"""Whether a cut reply ends inside the menu's form, before its number is whole.

    Examples
    --------
    >>> menu = Menu(labels=("0", "1"), option_ids=("a", "b"), form="final_answer")
    >>> numbered_is_cut("Final Answer: ", menu), numbered_is_cut("Final Answer: 1\nRea", menu)
    (True, False)
    """
    return best_response_is_cut(text, menu.labels, lead=_LEADS[menu.form])
