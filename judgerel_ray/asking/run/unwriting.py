"""Which items go to actors unwritten, and how much of them that is.

Items of one form of question with equally many options are asked alike: the first of them is
written here, and the others are counted by it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from judgerel_ray.core import Item
from judgerel_ray.design import AskFrame, Voice
from judgerel_ray.engines import PromptFit
from judgerel_ray.engines.sizing import most_tokens
from judgerel_ray.fleet import Unwritten
from judgerel_ray.fleet.pool import units_of
from judgerel_ray.protocols import question_form

CHARACTERS_PER_UNIT = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class _Form:
    """The first item of a form: what it asks, its length, and the room its longest prompt takes."""

    n: int
    n_pieces: int
    units: int
    n_bytes: int
    room: int


@dataclass(slots=True)
class Unwriting:
    """Items of an ask as work that is yet to be written.

    Parameters
    ----------
    frame : AskFrame
        The ask.
    voice : Voice
        The judge asked in its first wave.
    request_size : int
        Replications in one request, at most.
    fit : PromptFit or None
        The check of the judge's context, where it is known here.
    """

    frame: AskFrame
    voice: Voice
    request_size: int
    fit: PromptFit | None
    _forms: dict[tuple[str, int], _Form] = field(default_factory=dict)

    def of(self, item: Item) -> Unwritten | None:
        """An item as work; None where it asks nothing, or may not fit the judge's context.

        Examples
        --------
        >>> from judgerel_ray.config import ask_table
        >>> from judgerel_ray.protocols import load_template
        >>> item = Item(item_id="q", benchmark="b", category="c", question="?")
        >>> ask = ask_table(protocol="respond", benchmark="b", path="p", replications=70)
        >>> me = Voice(name="m", fingerprint="0")
        >>> frame = AskFrame(index=0, ask=ask, items=(item,), judges=(me,),
        ...                  templates=(load_template("respond", "default"),))
        >>> work = Unwriting(frame, me, 32, None).of(item)
        >>> work.n, [ask.n for ask in work.write()]
        (70, [32, 32, 6])
        """
        if self.frame.items:
            self.frame = replace(self.frame, items=(), order_draws={})
        kind = question_form(item), len(item.options)
        form = self._forms.get(kind)
        if form is None:
            form = self._forms[kind] = self._written(item)
        longer = _bytes_of(item) - form.n_bytes
        if not form.n or (self.fit is not None and form.room + longer > self.fit.longest):
            return None
        return Unwritten(
            frame=self.frame,
            voice=self.voice,
            item=item,
            request_size=self.request_size,
            n=form.n,
            n_pieces=form.n_pieces,
            units=max(form.n, form.units + form.n_pieces * longer // CHARACTERS_PER_UNIT),
        )

    def _written(self, item: Item) -> _Form:
        """Write an item out, and measure what it makes."""
        asks = Unwritten(
            frame=self.frame, voice=self.voice, item=item, request_size=self.request_size
        ).write()
        spare = 0 if self.fit is None else self.fit.spare
        return _Form(
            n=sum(ask.n for ask in asks),
            n_pieces=len(asks),
            units=units_of(asks),
            n_bytes=_bytes_of(item),
            room=max((most_tokens(ask.condition, spare) for ask in asks), default=0),
        )


def _bytes_of(item: Item) -> int:
    """Bytes of what a prompt may hold of an item."""
    texts = [item.question, item.context or "", *item.turns, *(o.text for o in item.options)]
    return sum(len(text) if text.isascii() else len(text.encode()) for text in texts)
