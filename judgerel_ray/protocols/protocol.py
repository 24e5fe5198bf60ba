"""What a protocol is: an object that says what its asks hold, ask, and how replies are read.

Defaults are those of a protocol whose judges each give one verdict on the candidate answers of an
item; a protocol overrides what it does otherwise. No other room asks which protocol it has.
"""

from __future__ import annotations

from collections.abc import Iterator

from judgerel_ray.core import Item
from judgerel_ray.protocols.waves.counts import (
    answer_counts,
    judge_count,
    judgment_marks,
    judgment_rows,
)
from judgerel_ray.protocols.waves.frame import (
    AskFrame,
    FrameKey,
    ItemWork,
    SettingsMapping,
    StageCount,
    Texts,
    Voice,
    Waves,
)
from judgerel_ray.protocols.waves.work import respond_work, singly_work


class Protocol(Waves):
    """A protocol: its table of the sweep file, its prompts, its waves, its menus, its forms."""

    def answering_work(
        self, frame: AskFrame, wave: int, voice: Voice, item: Item, texts: Texts
    ) -> ItemWork | None:
        """What a responder is asked about one item; None where a wave asks nothing."""
        return respond_work(frame, wave, voice, item, texts)

    def judging_work(
        self, frame: AskFrame, wave: int, voice: Voice, item: Item, texts: Texts
    ) -> ItemWork | None:
        """What a judge is asked about one item, given the texts of the waves before."""
        return singly_work(frame, voice, item, texts)

    def counts(
        self, frame: AskFrame, written: dict[FrameKey, int], judged: dict[FrameKey, int]
    ) -> Iterator[StageCount]:
        """Requests of every stage, less those that asks before it `written` and `judged`."""
        for wave in range(frame.respond_waves):
            for voice in self.voices(frame, wave):
                yield from answer_counts(frame, wave, voice, written)
        for voice in frame.judges if self.traits.judges else ():
            yield judge_count(frame, voice, judged)

    def marks(self, frame: AskFrame, item: Item) -> Iterator[tuple[FrameKey, str, int, int]]:
        """All that is asked about an item; see :func:`counts.judgment_marks`."""
        return judgment_marks(frame, item)

    def rows(self, frame: AskFrame, item: Item) -> Iterator[tuple[FrameKey, SettingsMapping]]:
        """What rows about an item record, and what else is in their keys."""
        return judgment_rows(frame, item)
