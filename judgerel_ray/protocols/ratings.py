"""From the text of a reply to the rating it gives, or to the reason why it gives none."""

from __future__ import annotations

from dataclasses import dataclass

from judgerel_ray.core import Menu, Outcome, SweepError
from judgerel_ray.protocols.own_forms import OWN
from judgerel_ray.protocols.rating_form import RATING_FORMS
from judgerel_ray.protocols.scales import score_of
from judgerel_ray.protocols.verdicts import read_verdict


@dataclass(frozen=True, slots=True)
class Rating:
    """What was read: a value of the scale, or neither score nor label and why.

    ``score`` is the number, or a word's place from 0; ``label`` the value's canonical text.

    >>> Rating(3.0, "Agree", Outcome.SCORED).label
    'Agree'
    """

    score: float | None
    label: str | None
    outcome: Outcome


def read_rating(text: str | None, *, finish_reason: str, menu: Menu) -> Rating:
    """Read the rating of one reply.

    A rating stands in the declared form, ``Rating: [[4]]`` or ``Score: 4`` (see
    :mod:`judgerel_ray.protocols.rating_form`), with or without brackets, or is all
    that a reply says. Nothing is matched to what is near it and nothing is clamped: a number
    beyond the scale, a fraction on a scale of whole numbers, a "4/10" on a scale to 5, a range,
    a percentage and a word of another scale are ``off_menu``.

    Parameters
    ----------
    text : str or None
        The reply; None where there is none.
    finish_reason : str
        ``stop``; ``length`` for a reply cut off at its limit, whose value counts only where what
        follows it shows that it is whole; ``refused: <why>`` for a request that can never succeed.
    menu : Menu
        The scale, form ``rating``, ``score`` or a template's own, and the reading policy:
        ``first``, ``last`` or ``unanimous`` (see :func:`read_verdict`).

    Returns
    -------
    Rating
        ``scored`` with score and label, or neither with the outcome that says why.

    Raises
    ------
    SweepError
        If the menu has no scale, or a form or policy that reads no ratings.

    Examples
    --------
    >>> from judgerel_ray.protocols.scales import load_scale, scale_labels
    >>> scale = load_scale("likert5")
    >>> labels = scale_labels(scale)
    >>> menu = Menu(labels=labels, option_ids=labels, form="rating", scale=scale)
    >>> read_rating("**Rating:** strongly-agree", finish_reason="stop", menu=menu)
    Rating(score=4.0, label='Strongly Agree', outcome=<Outcome.SCORED: 'scored'>)
    >>> read_rating("Rating: 4", finish_reason="stop", menu=menu).outcome.value
    'off_menu'
    """
    if menu.scale is None or menu.form not in (*RATING_FORMS, OWN):
        raise SweepError(
            f"a rating is read by form {' or '.join(RATING_FORMS)} on a scale, "
            f"got form {menu.form!r}" + ("" if menu.scale else " without a scale")
        )
    reading = read_verdict(text, finish_reason=finish_reason, menu=menu)
    score = None if reading.label is None else score_of(reading.label, menu.scale)
    return Rating(score, reading.label, reading.outcome)
