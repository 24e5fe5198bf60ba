"""What a doctor found in words: for a terminal, and beside the codes of its JSON.

Needs no package but the standard library where a machine is looked at.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from judgerel_ray.analyses.doctor.codes import Doubt, Lack, Question, Role
from judgerel_ray.core import count_of, printable

if TYPE_CHECKING:
    from judgerel_ray.analyses.doctor.diagnosis import Judging, Proposal, Support

_ROLES: Mapping[Role, str] = {
    Role.ITEM: "the item judged", Role.REPEAT: "which repeat it is",
    Role.BLOCK: "which block of repeats", Role.VERDICT: "the verdict", Role.SCORE: "the score",
    Role.OUTCOME: "what became of the request", Role.PLACE: "the place of the chosen option",
    Role.GOLD: "the right verdict", Role.CONFIDENCE: "the judge's confidence",
    Role.KEY: "the request's key", Role.SEED: "the seed",
    Role.N_OPTIONS: "how many options there are",
    Role.N_ANSWERS: "how many answers its repeats judge", Role.OPTIONS: "the options",
    Role.COST: "cost", Role.END: "why the reply ended", Role.ATTEMPT: "which attempt landed",
    Role.LANDED: "when it landed", Role.NUISANCE: "a facet that should not matter",
    Role.GROUP: "makes groups", Role.FACET: "tells units apart",
}  # fmt: skip
_NEEDED = {
    "item_id": _ROLES[Role.ITEM],
    "replication": _ROLES[Role.REPEAT],
    "verdict": _ROLES[Role.VERDICT],
}
_PERHAPS = {
    "judge": "who judged", "criterion": "what was judged", "temperature": "the judge's temperature",
    "gold": _ROLES[Role.GOLD],
}  # fmt: skip
_QUESTIONS: Mapping[Question, str] = {
    Question.REPEATS: "does it repeat itself",
    Question.INTERVALS: "are intervals to be trusted",
    Question.POSITION: "does it go by position",
    Question.RIGHT: "is it right",
    Question.PANEL: "is a panel worth more",
}


def role_words(role: Role | None) -> str:
    """Say what a column is taken for.

    Examples
    --------
    >>> role_words(Role.GROUP), role_words(None)
    ('makes groups', '')
    """
    return "" if role is None else _ROLES[role]


def doubt_words(judging: Judging) -> str | None:
    """Say why a group of judgments may be no judging at all.

    Examples
    --------
    >>> from judgerel_ray.analyses.doctor.diagnosis import Judging
    >>> doubt_words(Judging(group="", n_items=9, n_judgments=9, valid_rate=1.0,
    ...                     why=Doubt.ONE_ANSWER, answer="A"))
    'constant: every verdict is A, whatever is asked'
    """
    if judging.why is None:
        return None
    if judging.why is Doubt.UNREADABLE:
        return "unreadable: fewer than half of the replies hold a verdict; judgerel rejudge, or " \
               "another reader of replies"  # fmt: skip
    if judging.why is Doubt.ONE_ANSWER:
        return f"constant: every verdict is {judging.answer}, whatever is asked"
    if judging.why is Doubt.ONE_PLACE:
        return f"constant: every verdict names place {judging.answer}, whatever stands there"
    return (
        f"nearly constant: {judging.n_answer:,} of {judging.n_verdicts:,} verdicts are "
        f"{judging.answer}; perhaps what was put in place of replies that could not be read"
    )


def question_words(support: Support) -> str:
    """Say what is asked.

    Examples
    --------
    >>> from judgerel_ray.analyses.doctor.diagnosis import Support
    >>> question_words(Support(asks=Question.FACET, verb="reduce", facet="option_order"))
    'does option order matter'
    """
    if support.asks is Question.FACET:
        return f"does {_plain(support.facet)} matter"
    return _QUESTIONS[support.asks]


def _plain(facet: str | None) -> str:
    """A facet as a reader calls it."""
    return (facet or "").replace("_", " ")


def found_words(support: Support) -> str:
    """Say what was found of what is asked.

    Examples
    --------
    >>> from judgerel_ray.analyses.doctor.diagnosis import Support
    >>> found_words(Support(asks=Question.INTERVALS, verb="gate", counts={"n_items": 24}))
    '24 items'
    """
    n, lacks = support.counts, support.lacks
    match support.asks:
        case Question.REPEATS:
            if n["n_repeated"]:
                return (
                    f"{n['n_repeated']:,} of {n['n_items']:,} items asked up to {n['most']:,} times"
                )
            return "every item was judged once" if n["most"] == 1 else "no item has a verdict"
        case Question.INTERVALS:
            return f"{n['n_items']:,} items"
        case Question.FACET:
            several = f"{n['n_crossed']:,} items at several levels"
            return "no item at two levels" if lacks else several
        case Question.POSITION:
            orders = "one order" if Lack.ORDERS in lacks else "several orders"
            column = "no" if Lack.PLACES in lacks else "a"
            return f"{orders} of the options, {column} column label"
        case Question.RIGHT:
            if "n_right" in n:
                return f"{n['n_right']:,} items with a right verdict"
            return "no right verdicts" if lacks else "the run's items say"
        case Question.PANEL:
            shared = f" on {count_of(n['n_shared'], 'item')} that two judged"
            return (
                count_of(n["n_judges"], "judge")
                + shared * (n["n_judges"] > 1)
                + ", no right verdicts" * (Lack.LABELS in lacks)
            )


def unblock_words(support: Support) -> str | None:
    """Say what would help; None where nothing is in the way.

    Examples
    --------
    >>> from judgerel_ray.analyses.doctor.diagnosis import Support
    >>> unblock_words(Support(asks=Question.FACET, verb="reduce", facet="template",
    ...                       lacks=(Lack.LEVELS,)))
    'ask the same items at two levels of template'
    """
    if not support.lacks:
        return None
    if support.asks is Question.POSITION:
        return (
            "ask in both orders (option_order 0, 1), and say in a column label where the chosen "
            "option stood"
        )
    both = ", and " if support.asks is Question.PANEL else ", or "
    return both.join(_help(one, support) for one in support.lacks)


def _help(lack: Lack, support: Support) -> str:
    """What would help where something is lacking."""
    n = support.counts
    match lack:
        case Lack.REPEATS:
            return "ask 2 more times (replication 0, 1, 2)"
        case Lack.ITEMS:
            few = n["n_items"] + n["n_more"]
            return f"{n['n_more']:,} more items: below {few} they cover less than they say"
        case Lack.LEVELS:
            return f"ask the same items at two levels of {support.facet}"
        case Lack.LABELS:
            return f"bring {n['n_labels']:,} labels in a column gold"
        case _:
            return "ask another judge the same items"


def mapping_text(proposal: Proposal) -> str:
    """Write what ``import table --map`` reads: columns meant, and ``?`` where it must be said.

    Examples
    --------
    >>> from judgerel_ray.analyses.doctor.diagnosis import Proposal
    >>> print(mapping_text(Proposal(meant={"item_id": "id"}, open={}, lacking=("verdict",),
    ...                             free=("one", "two"))))
    [columns]
    item_id = "id"
    verdict = "?"  # the verdict: one of one, two
    """
    from judgerel_ray.counting.files.source import names_told

    lines = [f"{name} = {json.dumps(place)}" for name, place in proposal.meant.items()]
    lines += [f'{name} = "?"  # {_NEEDED.get(name, name)}: {" or ".join(places)}'
              for name, places in proposal.open.items()]  # fmt: skip
    named = f": one of {printable(names_told(proposal.free))}" if proposal.free else ""
    lines += [f'{name} = "?"  # {_NEEDED.get(name, name)}{named}' for name in proposal.lacking]
    return "\n".join(["[columns]", *lines])
