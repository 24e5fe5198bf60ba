"""Declared forms of a verdict: where a reply states one, in the words the template asked for.

A form only finds mentions; which of them counts is the policy's matter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from judgerel_ray.core import Menu, Scale, SweepError
from judgerel_ray.protocols.replies.choice_forms import (
    NUMBERED_FORMS,
    authors_letters,
    best_response_is_cut,
    find_best_response,
    find_numbered,
    numbered_is_cut,
)
from judgerel_ray.protocols.replies.correctness_form import authors_correctness, find_correctness
from judgerel_ray.protocols.replies.mentions import Mention
from judgerel_ray.protocols.replies.own_forms import OWN, find_own
from judgerel_ray.protocols.replies.rating_form import RATING_FORMS, find_ratings, rating_is_cut


@dataclass(frozen=True, slots=True)
class Form:
    """A declared form.

    ``find(text, menu, ended)`` gives the mentions in order; ``ended`` is False for a reply
    that was cut off. ``is_cut(text, menu)`` says that a cut reply ends inside the form and
    ``complete(label)`` is the whole form for a label; both are None where the form is one word.
    ``schroeder2024(text)`` gives the labels the published rule of [1]_ reads, and is None where
    that study did not ask for the form.

    References
    ----------
    .. [1] Schroeder and Wood-Doughty (2024), Can You Trust LLM Judgments?, arXiv:2412.12509.
    """

    find: Callable[[str, Menu, bool], list[Mention]]
    is_cut: Callable[[str, Menu], bool] | None
    complete: Callable[[str], str] | None
    schroeder2024: Callable[[str], tuple[str, ...]] | None


def _scale(menu: Menu) -> Scale:
    """The scale a rating is read on."""
    if menu.scale is None:
        raise SweepError(f"form {menu.form} needs a scale, got a menu without one")
    return menu.scale


FORMS: Mapping[str, Form] = {
    "best_response": Form(
        find=lambda text, menu, ended: find_best_response(text, menu.labels, ended),
        is_cut=lambda text, menu: best_response_is_cut(text, menu.labels),
        complete="Best Response: [[{}]]".format,
        schroeder2024=authors_letters,
    ),
    # No stop string: "correct" ends inside "incorrect" and "correctness", and one word is short.
    "correctness": Form(
        find=lambda text, menu, ended: find_correctness(text, menu.labels, ended),
        is_cut=None,
        complete=None,
        schroeder2024=authors_correctness,
    ),
    # Without brackets no value has an end of its own: "Score: 1" may go on to "Score: 10".
    **{
        name: Form(
            find=lambda text, menu, ended: find_ratings(text, _scale(menu), ended, form=menu.form),
            is_cut=lambda text, menu: rating_is_cut(text, _scale(menu), form=menu.form),
            complete="Rating: [[{}]]".format if name == "rating" else None,
            schroeder2024=None,
        )
        for name in RATING_FORMS
    },
    # No stop string: what comes after the number is the confidence in it.
    **{
        name: Form(find=find_numbered, is_cut=numbered_is_cut, complete=None, schroeder2024=None)
        for name in NUMBERED_FORMS
    },
}
"""Declared forms by the name a template's ``form`` and a menu's ``form`` use."""

# What follows may change any match: nothing is settled early, and of a reply that was cut off
# nobody knows the last verdict.
_OWN = Form(find=find_own, is_cut=lambda *_: True, complete=None, schroeder2024=None)


def form_of(menu: Menu) -> Form:
    """Look up the form a menu is read by: one that ships, or its template's own.

    Raises
    ------
    SweepError
        If there is no such form.

    Examples
    --------
    >>> menu = Menu(labels=("A", "B"), option_ids=("x", "y"), form="best_response")
    >>> form_of(menu).complete("A")
    'Best Response: [[A]]'
    """
    if menu.form == OWN:
        return _OWN
    if menu.form not in FORMS:
        known = ", ".join(FORMS)
        raise SweepError(f"unknown verdict form, expected one of {known}, got {menu.form!r}")
    return FORMS[menu.form]


def answer_frame(form: str) -> tuple[str, str]:
    """What the declared form of a verdict has before its label and after it.

    Raises
    ------
    SweepError
        If the form has no words around its label.

    Examples
    --------
    >>> answer_frame("best_response")
    ('Best Response: [[', ']]')
    """
    complete = FORMS[form].complete if form in FORMS else None
    if complete is None:
        raise SweepError(f"confusion needs a form with words around its label, got {form!r}")
    before, after = complete("\0").split("\0")
    return before, after
