"""When the verdict of an unfinished reply is certain, whatever comes after."""

from __future__ import annotations

from judgerel_ray.core import Menu
from judgerel_ray.protocols.forms import form_of
from judgerel_ray.protocols.verdicts import Reading, read_verdict


def settled_reading(text: str, *, finish_reason: str | None, menu: Menu) -> Reading | None:
    """Read the verdict of a reply so far, if nothing that follows can change it.

    Only policy ``first`` is settled early, and only by the whole declared form: every other policy
    reads to the end, and a label without its brackets may be the start of another word.

    Parameters
    ----------
    text : str
        The reply so far.
    finish_reason : str or None
        ``stop`` or ``length`` where the reply ends here, None where it goes on.
    menu : Menu
        The labels on offer, the declared form and the reading policy.

    Returns
    -------
    Reading or None
        What :func:`read_verdict` gives for this reply however it goes on; None while that is open.

    Raises
    ------
    SweepError
        If the menu's form or policy is unknown.

    Examples
    --------
    >>> menu = Menu(labels=("A", "B"), option_ids=("x", "y"), form="best_response")
    >>> settled_reading("Best Response: [[B]] bec", finish_reason=None, menu=menu).label
    'B'
    >>> settled_reading("Best Response: [[B", finish_reason=None, menu=menu) is None
    True
    >>> settled_reading("Neither.", finish_reason="stop", menu=menu).outcome.value
    'unparsed'
    """
    if finish_reason is not None:
        return read_verdict(text, finish_reason=finish_reason, menu=menu)
    form = form_of(menu)
    if menu.reader != "first":
        return None
    # An earlier statement without its brackets counts in a reply that ends, and not in a cut one.
    firsts = (form.find(text, menu, ended)[:1] for ended in (False, True))
    if not all(first and first[0].complete for first in firsts):
        return None
    return read_verdict(text, finish_reason="stop", menu=menu)
