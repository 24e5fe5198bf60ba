"""From the text of a reply to its verdict or rating, or to the reason why it has none.

Reading is a pure function of text, finish reason and menu, so it can be done again on landed
texts. Nothing is guessed: no nearest label, no default, no second look at what was refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from judgerel_ray.core import CUT_IN_THOUGHT, Menu, Outcome, SweepError
from judgerel_ray.protocols.replies.declared_forms import DECLARED
from judgerel_ray.protocols.replies.forms import find_numbered, form_of
from judgerel_ray.protocols.replies.mentions import Mention
from judgerel_ray.protocols.replies.rating_form import RATING_FORMS
from judgerel_ray.protocols.replies.scales import score_of
from judgerel_ray.protocols.replies.thoughts import split_answer, spoken_reply

READER_VERSION = "5"
"""Changes whenever any text may be read differently; recorded with every run."""

_REFUSED_REQUEST = "refused:"
_SORRY = (
    r"(?:sorry|unfortunately|apologies|my\s+apologies|i\s+apologi[sz]e|i['’]m\s+(?:\w+\s+)?sorry"
    r"|i\s+am\s+(?:\w+\s+)?sorry)\s*+[,.:;—–-]*+\s*+(?:but\s++)?"
)
_AS_A_MODEL = r"as\s+an?\s+(?:ai|artificial|(?:large\s+)?language)\b"
_CANNOT = (
    r"i(?:\s+(?:cannot|can\s*not|can['’]?t|could\s+not|couldn['’]t|will\s+not|won['’]t|am\s+unable"
    r"|am\s+not\s+able|must\s+decline|have\s+to\s+decline|decline|refuse)"
    r"|['’]m\s+(?:unable|not\s+able))"
)
_VERBS = (
    r"judge|evaluate|assess|choose|select|pick|decide|determine|provide|help|assist|answer|comply"
    r"|fulfil|fulfill|do|make|offer|give|rate|rank|compare|complete|continue|engage|comment"
    r"|participate|respond|recommend|support"
)


def _reply_declining_pattern(verbs: str) -> re.Pattern[str]:
    """A reply that declines one of these."""
    judging = rf"(?:\s+to)?(?:\s*(?:[.!,;]|\Z)|\s+(?:\w+ly\s+)?(?:{verbs})\b)"
    # Only at the start: "I cannot ..." later in a reply is part of an explanation.
    return re.compile(
        r"[\s*_\"'“#>]*(?:"
        rf"(?:{_SORRY}|{_AS_A_MODEL}[^.\n]{{0,60}}?,?\s*)?{_CANNOT}{judging}"
        rf"|{_AS_A_MODEL}[^.\n]{{0,80}}?\b(?:unable|not\s+able)\s+to"
        r"\s+(?:judge|evaluate|assess|choose|select|pick|decide|determine|provide|compare)\b"
        r")",
        re.IGNORECASE,
    )


_DECLINES = _reply_declining_pattern(_VERBS)
_DECLINES_TO_RATE = _reply_declining_pattern(rf"{_VERBS}|assign|score|grade")


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read: a label of the menu, or None with the outcome that says why.

    >>> Reading("B", Outcome.SCORED).label
    'B'
    """

    label: str | None
    outcome: Outcome


def read_verdict(text: str | None, *, finish_reason: str, menu: Menu) -> Reading:
    """Read the verdict of one reply.

    Parameters
    ----------
    text : str or None
        The reply; None where there is none. Thoughts before it are not read
        (:mod:`judgerel_ray.protocols.replies.thoughts`).
    finish_reason : str
        ``stop``; ``length`` for a reply cut off at its limit, of which only a verdict counts that
        nothing could have changed; ``refused: <why>`` for a request that can never succeed.
    menu : Menu
        The labels on offer, the declared form and the reading policy:

        - ``first``: the first verdict in the declared form;
        - ``last``: the last one, which nobody knows of a reply that was cut off;
        - ``unanimous``: the only one; several different ones are ``conflicting``, also where a
          statement goes on with a second one, as in "[[A]] or [[B]]";
        - ``schroeder2024``: the published rule of [1]_, which knows neither cut-off replies nor
          refusals, and reads thoughts, too.

    Returns
    -------
    Reading
        ``scored`` with a label of the menu, or no label with ``off_menu`` (a verdict that was
        not on offer, never skipped for a later one), ``conflicting``, ``truncated``,
        ``refused``, ``unparsed`` or ``failed``.

    Raises
    ------
    SweepError
        If the menu's form or policy is unknown, or do not go together.

    References
    ----------
    .. [1] Schroeder and Wood-Doughty (2024), Can You Trust LLM Judgments?, arXiv:2412.12509.

    Examples
    --------
    >>> menu = Menu(labels=("A", "B"), option_ids=("x", "y"), form="best_response")
    >>> read_verdict("**Best Response:** [[B]]. It is right.", finish_reason="stop", menu=menu)
    Reading(label='B', outcome=<Outcome.SCORED: 'scored'>)
    >>> read_verdict("Best Response: [[F]]", finish_reason="stop", menu=menu).outcome.value
    'off_menu'
    """
    form = form_of(menu)
    if finish_reason.startswith(_REFUSED_REQUEST):
        return Reading(None, Outcome.FAILED)
    if menu.reader == "schroeder2024":
        if form.schroeder2024 is None:
            raise SweepError(
                f"reader schroeder2024 knows no {menu.form}, expected first, last or unanimous"
            )
        return _reply_by_published_rule(form.schroeder2024(text or ""), menu)
    reply = spoken_reply(text, finish_reason)
    if reply.in_thought:
        return Reading(None, Outcome.TRUNCATED)
    mentions = form.find(reply.text, menu, reply.is_whole)
    return counted_mention(mentions, menu, reply.is_whole) or _why_reply_lacks_verdict(
        reply.text, reply.is_whole, menu
    )


def counted_mention(mentions: Sequence[Mention], menu: Menu, is_whole: bool) -> Reading | None:
    """Read the mention that the menu's policy counts; None where it counts none.

    Of a reply that is not whole ``last`` and ``unanimous`` count none: what was cut off may have
    named another.

    Raises
    ------
    SweepError
        If the policy is unknown.

    Examples
    --------
    >>> menu = Menu(labels=("A", "B"), option_ids=("x", "y"), form="best_response", reader="last")
    >>> counted_mention([Mention(("A",)), Mention(("B",))], menu, True).label
    'B'
    """
    if menu.reader == "first":
        return _reply_reading_of_mention(mentions[0], menu) if mentions else None
    if menu.reader == "last":
        return _reply_reading_of_mention(mentions[-1], menu) if mentions and is_whole else None
    if menu.reader == "unanimous":
        return _unanimous_reply_mention(mentions, menu, is_whole)
    raise SweepError(
        f"unknown reader, expected first, last, unanimous or schroeder2024, got {menu.reader!r}"
    )


def declines(text: str, *, rating: bool = False) -> bool:
    """Whether a reply begins by declining the task, in more words where that is to rate."""
    return (_DECLINES_TO_RATE if rating else _DECLINES).match(text) is not None


def stop_strings(menu: Menu) -> tuple[str, ...]:
    """Texts after which nothing can change a verdict read by policy ``first``.

    Returns
    -------
    tuple of str
        The complete declared form for every label, in the menu's order; empty where the form
        has no end of its own, and for every other policy.

    Raises
    ------
    SweepError
        If the menu's form is unknown.

    Notes
    -----
    The engine must keep the stop string in the text (vLLM: ``include_stop_str_in_output``).

    Examples
    --------
    >>> stop_strings(Menu(labels=("A", "B"), option_ids=("x", "y"), form="best_response"))
    ('Best Response: [[A]]', 'Best Response: [[B]]')
    """
    form = form_of(menu)
    if menu.reader != "first" or form.complete is None:
        return ()
    return tuple(form.complete(label) for label in menu.labels)


def _reply_reading_of_mention(mention: Mention, menu: Menu) -> Reading:
    """The reading of the mention a policy chose, checked against the menu only now."""
    if mention.refuses:
        return Reading(None, Outcome.REFUSED)
    label = mention.labels[0]
    if len(mention.labels) > 1 or not _menu_offers_label(menu, label):
        return Reading(None, Outcome.OFF_MENU)
    return Reading(label, Outcome.SCORED)


def _menu_offers_label(menu: Menu, label: str) -> bool:
    """Whether a label is on the menu; a scale of decimals has more than can be listed."""
    if menu.scale is not None:
        return score_of(label, menu.scale) is not None
    return label in menu.labels


def _unanimous_reply_mention(
    mentions: Sequence[Mention], menu: Menu, is_whole: bool
) -> Reading | None:
    """The one verdict all mentions agree on; None where there is none to read."""
    labels = {label for mention in mentions for label in (*mention.labels, *mention.also)}
    if len(labels) > 1:
        return Reading(None, Outcome.CONFLICTING)
    return _reply_reading_of_mention(mentions[0], menu) if labels and is_whole else None


def _reply_by_published_rule(labels: tuple[str, ...], menu: Menu) -> Reading:
    """The reading of the published rule: one letter, or none, or several."""
    distinct = set(labels)
    if len(distinct) > 1:
        return Reading(None, Outcome.CONFLICTING)
    if not distinct:
        return Reading(None, Outcome.UNPARSED)
    return _reply_reading_of_mention(Mention((labels[0],)), menu)


def _why_reply_lacks_verdict(text: str, is_whole: bool, menu: Menu) -> Reading:
    """Why a reply without a verdict has none."""
    if not is_whole:
        return Reading(None, Outcome.TRUNCATED)
    if declines(text, rating=menu.scale is not None):
        return Reading(None, Outcome.REFUSED)
    return Reading(None, Outcome.UNPARSED)


@dataclass(frozen=True, slots=True)
class RatingReading:
    """What was read: a value of the scale, or neither score nor label and why.

    ``score`` is the number, or a word's place from 0; ``label`` the value's canonical text.

    >>> RatingReading(3.0, "Agree", Outcome.SCORED).label
    'Agree'
    """

    score: float | None
    label: str | None
    outcome: Outcome


def read_rating(text: str | None, *, finish_reason: str, menu: Menu) -> RatingReading:
    """Read the rating of one reply.

    A rating stands in the declared form, ``Rating: [[4]]`` or ``Score: 4`` (see
    :mod:`judgerel_ray.protocols.replies.rating_form`), with or without brackets, or is all
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
    RatingReading
        ``scored`` with score and label, or neither with the outcome that says why.

    Raises
    ------
    SweepError
        If the menu has no scale, or a form or policy that reads no ratings.

    Examples
    --------
    >>> from judgerel_ray.protocols.replies.scales import load_scale, scale_labels
    >>> scale = load_scale("likert5")
    >>> labels = scale_labels(scale)
    >>> menu = Menu(labels=labels, option_ids=labels, form="rating", scale=scale)
    >>> read_rating("**Rating:** strongly-agree", finish_reason="stop", menu=menu)
    RatingReading(score=4.0, label='Strongly Agree', outcome=<Outcome.SCORED: 'scored'>)
    >>> read_rating("Rating: 4", finish_reason="stop", menu=menu).outcome.value
    'off_menu'
    """
    if menu.scale is None or menu.form not in (*RATING_FORMS, DECLARED):
        raise SweepError(
            f"a rating is read by form {' or '.join(RATING_FORMS)} on a scale, "
            f"got form {menu.form!r}" + ("" if menu.scale else " without a scale")
        )
    reading = read_verdict(text, finish_reason=finish_reason, menu=menu)
    score = None if reading.label is None else score_of(reading.label, menu.scale)
    return RatingReading(score, reading.label, reading.outcome)


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
        What :func:`read_verdict` gives for this reply however it goes on, but for a mark that ends
        a thought which nothing opened; None while that is open.

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
    form, reply = form_of(menu), spoken_reply(text, "length")
    if menu.reader != "first" or reply.in_thought:
        return None
    # An earlier statement without its brackets counts in a reply that ends, and not in a cut one.
    firsts = (form.find(reply.text, menu, is_whole)[:1] for is_whole in (False, True))
    if not all(first and first[0].complete for first in firsts):
        return None
    return read_verdict(text, finish_reason="stop", menu=menu)


_ARGUING = re.compile(
    rf"[\s*_\"'“#>]*(?:{_SORRY}|{_AS_A_MODEL}[^.\n]{{0,60}}?,?\s*)?{_CANNOT}"
    r"(?:\s+to)?(?:\s+in\s+good\s+(?:conscience|faith)|\s+\w+ly)?(?:\s+to)?"
    r"\s+(?:argue|assert|claim|make|write|produce|present|support|defend|justify|endorse|advocate"
    r"|agree|say|state|help|do|provide|give)\b",
    re.IGNORECASE,
)


def read_assessment(text: str | None, *, finish_reason: str = "stop") -> Outcome | None:
    """Tell why a text is no assessment; None where it is one.

    An assessment cut at its token limit is one: it argues as far as it goes. A thought is none.

    Parameters
    ----------
    text : str or None
        What the judge wrote; None where it could not be asked.
    finish_reason : str
        ``length`` for a reply cut off at its limit.

    Returns
    -------
    Outcome or None
        ``refused`` where the judge will not argue the option, ``unparsed`` where it wrote nothing,
        ``truncated`` where it was cut off in its thought, ``failed`` without a text.

    Examples
    --------
    >>> read_assessment("The reply answers what was asked.") is None
    True
    >>> read_assessment("I cannot in good conscience argue for this.").value
    'refused'
    """
    if text is None:
        return Outcome.FAILED
    split = split_answer(text)
    if finish_reason == CUT_IN_THOUGHT or (split.is_open and finish_reason.startswith("length")):
        return Outcome.TRUNCATED
    if not split.reply.strip():
        return Outcome.UNPARSED
    return Outcome.REFUSED if declines(split.reply) or _ARGUING.match(split.reply) else None


@dataclass(frozen=True, slots=True)
class SelectionReading:
    """What a model selected: labels of the menu as written, or none with the outcome saying why.

    >>> SelectionReading(("0", "3"), None).labels
    ('0', '3')
    """

    labels: tuple[str, ...]
    outcome: Outcome | None


def read_selection(text: str | None, *, finish_reason: str, menu: Menu) -> SelectionReading:
    r"""Read which options a reply selects.

    Parameters
    ----------
    text : str or None
        The reply; None where it could not be had.
    finish_reason : str
        ``stop`` or ``length``.
    menu : Menu
        Of form ``options`` (``Option: 3``) or ``candidates`` (``Candidate: 1``); ``menu.most`` is
        how many may be selected.

    Returns
    -------
    Selection
        From one to ``menu.most`` labels, in the order written, and no outcome; else no label and
        ``off_menu`` (a number that was not on offer), ``conflicting`` (more than were asked for),
        ``truncated``, ``refused``, ``unparsed`` or ``failed``.

    Examples
    --------
    >>> menu = Menu(labels=("0", "1", "2"), option_ids=("a", "b", "c"), form="options", most=2)
    >>> reply = "Option: 2\nJustification: it fits.\n\nOption: 0\nJustification: it may."
    >>> read_selection(reply, finish_reason="stop", menu=menu).labels
    ('2', '0')
    >>> read_selection("Option: 7", finish_reason="stop", menu=menu).outcome.value
    'off_menu'
    """
    if text is None:
        return SelectionReading((), Outcome.FAILED)
    reply = spoken_reply(text, finish_reason)
    mentions = [] if reply.in_thought else find_numbered(reply.text, menu, reply.is_whole)
    labels = tuple(dict.fromkeys(label for one in mentions for label in one.labels))
    if not labels:
        if not reply.is_whole:
            return SelectionReading((), Outcome.TRUNCATED)
        return SelectionReading((), Outcome.REFUSED if declines(reply.text) else Outcome.UNPARSED)
    if any(label not in menu.labels for label in labels):
        return SelectionReading((), Outcome.OFF_MENU)
    if len(labels) > menu.most:
        return SelectionReading((), Outcome.CONFLICTING)
    return SelectionReading(labels, None)
