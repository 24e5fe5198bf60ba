"""What a model thought before its reply: taken off once, before any form looks for a verdict.

A thought stands between marks (``<think> ... </think>`` and their like), before a closing mark
alone where the chat template wrote the opening one, or in a channel other than ``final`` (gpt-oss,
also where its special tokens were left out of the text). Where marks leave it open whether
something was thought or spoken, it counts as thought: a lost verdict is seen, a wrong one is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from judgerel_ray.core import CUT_IN_THOUGHT
from judgerel_ray.protocols.replies.json_values import OBJECT, outermost_values

_NAME = r"(?:[a-z]+[:_])?(?:think(?:ing)?|thoughts?)"
_PIPED = r"(?:thought|thinking|think)"
_MARK = re.compile(
    rf"(?P<open>(?:<|&lt;){_NAME}(?:\s[^<>\n]{{0,80}})?(?:>|&gt;)|\[THINK\]"
    rf"|<\|begin_of_{_PIPED}\|>|<\|START_THINKING\|>|<\|inner_prefix\|>|◁think▷"
    r"|<unused94>(?:thought)?|<\|channel>[ \t]*thought|Thinking\.\.\.(?=\n))"
    rf"|(?P<close>(?:<|&lt;)/{_NAME}(?:>|&gt;)|\[/THINK\]|<\|end_of_{_PIPED}\|>"
    r"|<\|END_THINKING\|>|<\|inner_suffix\|>|◁/think▷|<unused95>|<channel\|>"
    r"|\.\.\.done thinking\.)",
    re.IGNORECASE,
)
# One of these is part of every mark and channel: most replies hold none, and are done with.
_HINTS = ("hink", "HINK", "hought", "HOUGHT", "unused9", "channel", "inner_", "analysis",
          "commentary", "assistant")  # fmt: skip
# What may stand before an opening mark on its line: blanks, emphasis, special tokens.
_BEFORE = re.compile(r"(?:[\s*_>#\ufeff-]|</?s>|<bos>|<\|[^<>|\n]{1,40}\|>(?:assistant)?)*")
_QUOTES = "`'\"“”‘’"
_CHANNEL = re.compile(
    r"(?:<\|start\|>\s{0,9})?(?:assistant\s{0,9})?<\|channel\|>\s{0,9}(?P<name>\w{1,40})"
    r"[^\n]{0,200}?<\|message\|>"
)
_MESSAGE_ENDS = re.compile(r"<\|(?:end|return|call)\|>")
# Special tokens left out of the text: "analysisWe compare ...assistantfinalBest Response: [[A]]".
_BARE_CHANNEL = re.compile(r"\s*(?:analysis|commentary)(?=\w|[ \t]*\n)")
_BARE_FINAL = re.compile(r"assistant(?:\n\s{0,9})?final")
_LONGEST_MARK = 300


class SplitReply(NamedTuple):
    """A reply without its thoughts.

    ``thought`` is what was taken off with its marks (None where nothing was); ``is_open`` says that
    the last thought never ends, so that nothing is spoken behind it.

    >>> SplitReply("[[A]]").is_open
    False
    """

    reply: str
    thought: str | None = None
    is_open: bool = False


def split_thought(text: str, *, is_whole: bool = True) -> SplitReply:
    """Take the thoughts off a judge's reply.

    Parameters
    ----------
    text : str
        What the model wrote; of a prompt that ends inside a thought, with its opening mark before.
    is_whole : bool
        False for a reply that was cut off: an opening mark that nothing closes is then a thought
        wherever it stands; in a whole reply one within a line is a word that is quoted.

    Returns
    -------
    SplitReply
        A closing mark without an opening one ends a thought that began with the reply. Marks that
        stand in quotes, in a pair within one line, or in a value of JSON are words that are quoted.
        What remains holds no thought: splitting it again takes nothing off.

    Examples
    --------
    >>> split_thought("<think>[[B]]? No.</think> [[A]]")
    SplitReply(reply='[[A]]', thought='<think>[[B]]? No.</think> ', is_open=False)
    >>> split_thought("[[B]]? No.</think>[[A]]").reply, split_thought("<think>[[B]]?").is_open
    ('[[A]]', True)
    >>> split_thought("analysisMaybe [[B]]assistantfinal[[A]]").reply
    '[[A]]'
    """
    reply, thoughts, is_open = text, [], False
    while (found := _split_once(reply, is_whole)) is not None:
        reply = found.reply.lstrip()
        thoughts.append((found.thought or "") + found.reply[: len(found.reply) - len(reply)])
        is_open = is_open or found.is_open
    return SplitReply(reply, "".join(thoughts) or None, is_open)


def split_answer(text: str) -> SplitReply:
    r"""Take off the thought with which an answer begins, and nothing else.

    An answer may be about such marks: a program that removes them, a poem in tags. Only a thought
    at its very beginning is surely none of it.

    Examples
    --------
    >>> split_answer("<think>A regex?</think>\nre.sub('</think>', '', text)").reply
    "re.sub('</think>', '', text)"
    >>> split_answer("Cut the text at </think>.").thought is None
    True
    """
    if not any(hint in text for hint in _HINTS):
        return SplitReply(text)
    if _CHANNEL.match(text.lstrip()) or _BARE_CHANNEL.match(text):
        return split_thought(text)
    depth = 0
    for mark in _MARK.finditer(text):
        if not depth and (mark["close"] or not _BEFORE.fullmatch(text, 0, mark.start())):
            return SplitReply(text)
        depth += 1 if mark["open"] and _begins_line(text, 0, mark.start()) else 0
        depth -= 1 if mark["close"] else 0
        if not depth:
            reply = text[mark.end() :].lstrip()
            return SplitReply(reply, text[: len(text) - len(reply)])
    return SplitReply("", text, is_open=True) if depth else SplitReply(text)


class SpokenReply(NamedTuple):
    """What a form is looked for in: a reply without its thoughts, and how it ended.

    ``is_whole`` is False of a reply that was cut off at its limit, ``in_thought`` says that this
    happened before its last thought ended, so that it holds no verdict whatever was spoken before.

    >>> SpokenReply("[[A]]").in_thought
    False
    """

    text: str
    is_whole: bool = True
    in_thought: bool = False


def spoken_reply(text: str | None, finish_reason: str) -> SpokenReply:
    """Take the thoughts off a reply that ended for a reason."""
    is_whole = not finish_reason.startswith("length")
    split = split_thought(text or "", is_whole=is_whole)
    in_thought = finish_reason == CUT_IN_THOUGHT or (split.is_open and not is_whole)
    return SpokenReply(split.reply, is_whole, in_thought)


THOUGHT = "<think>"
"""A mark for thoughts that a prompt opened, where it is not known which one it wrote."""


def lone_closing_mark(text: str | None) -> bool:
    """Whether a reply ends a thought that it did not open: its prompt did."""
    thought = split_thought(text or "").thought or ""
    first = next(_MARK.finditer(thought), None)
    return first is not None and first["close"] is not None


def drop_moved_thought(text: str, thought: str | None) -> str:
    """Take off a thought that a server gives in a field, and again at the start of the reply.

    Examples
    --------
    >>> drop_moved_thought("Maybe B. [[A]]", "Maybe B."), drop_moved_thought("[[A]]", "Maybe B.")
    (' [[A]]', '[[A]]')
    """
    moved = (thought or "").strip()
    begun = text.lstrip()
    return begun[len(moved) :] if moved and begun.startswith(moved) else text


def opening_mark(prompt: str) -> str:
    r"""Return the mark with which a prompt opens a thought at its end; empty where it opens none.

    Examples
    --------
    >>> opening_mark("<|assistant|>\n<think>\n"), opening_mark("<think>\n\n</think>\n\n")
    ('<think>', '')
    """
    end = prompt[-_LONGEST_MARK:].rstrip()
    for mark in (*_MARK.finditer(end), *_CHANNEL.finditer(end)):
        opens = mark["open"] if mark.re is _MARK else mark["name"] != "final"
        if mark.end() == len(end) and opens:
            return mark[0]
    return ""


def may_think(prompt: str, chat_template: str | None) -> bool:
    r"""Whether a judge may think before it replies to a prompt that its chat template wrote.

    Examples
    --------
    >>> may_think("<|user|>?<|assistant|>", "{% if t %}<think>{% endif %}")
    True
    >>> may_think("<|assistant|><think>\n\n</think>\n\n", "{{ '<think>' }}")
    False
    """
    if opening_mark(prompt):
        return True
    end = prompt[-_LONGEST_MARK:].rstrip()
    is_closed = any(one["close"] and one.end() == len(end) for one in _MARK.finditer(end))
    template = chat_template or ""
    return not is_closed and ("<|channel|>" in template or _MARK.search(template) is not None)


def _split_once(text: str, is_whole: bool) -> SplitReply | None:
    """A reply in channels, or with marks, without what was thought; None where nothing was."""
    if not any(hint in text for hint in _HINTS):
        return None
    if "<|channel|>" in text:
        headers = list(_CHANNEL.finditer(text))
        final = next((one for one in reversed(headers) if one["name"] == "final"), None)
        if final is not None:
            end = _MESSAGE_ENDS.search(text, final.end())
            rest = end.start() if end else len(text)
            return SplitReply(text[final.end() : rest], text[: final.end()])
        if headers and not text[: headers[0].start()].strip():
            return SplitReply("", text, is_open=True)
    final_mark = max(_BARE_FINAL.finditer(text), key=re.Match.end, default=None)
    if final_mark is not None:
        return SplitReply(text[final_mark.end() :], text[: final_mark.end()])
    if _BARE_CHANNEL.match(text):
        return SplitReply("", text, is_open=True)
    return _split_marked(text, is_whole)


def _split_marked(text: str, is_whole: bool) -> SplitReply | None:
    """A reply whose thoughts stand between marks; None where it has none.

    `depth` counts the thoughts that are open; `start` is where what is now spoken began, and `kept`
    are the ranges spoken before a thought.
    """
    kept: list[tuple[int, int]] = []
    start = depth = 0
    unclosed = -1  # an opening mark within a line, which nothing has closed yet
    for mark in _unquoted_marks(text):
        if mark["close"]:
            unclosed = -1
            if not depth:  # nothing opened it: all before it is thought
                kept.clear()
            depth = max(0, depth - 1)
            start = mark.end() if not depth else start
        elif depth or _begins_line(text, start, mark.start()):
            line = max(start, text.rfind("\n", 0, mark.start()) + 1)
            if not depth and text[start:line].strip():
                kept.append((start, line))
            depth += 1 if _begins_line(text, start, mark.start()) else 0
        elif unclosed < 0:
            unclosed = mark.start()
    if not depth and unclosed >= 0 and not is_whole:
        kept.append((start, unclosed))
        depth = 1
    if not depth:
        kept.append((start, len(text)))
    if kept == [(0, len(text))]:
        return None
    edges = [0, *(edge for part in kept for edge in part), len(text)]
    reply = "".join(text[a:b] for a, b in kept)
    thought = "".join(text[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True))
    return SplitReply(reply, thought, depth > 0)


def _unquoted_marks(text: str) -> Iterator[re.Match[str]]:
    """Marks that are no words a reply speaks about.

    Quoted are those with a quotation mark on each side, an opening and a closing one within one
    line, and those in a value of JSON; also ``Thinking...`` where nothing is done thinking.
    """
    marks = [one for one in _MARK.finditer(text) if not _is_thought_mark_quoted(text, one)]
    if "...done thinking." not in text.lower():
        marks = [one for one in marks if not one[0].lower().startswith("thinking")]
    if marks and "{" in text:
        # A reply holds few objects; of a text of thousands the first say enough, in linear time.
        values = [one for one in outermost_values(text, OBJECT) if one.is_whole][:99]
        marks = [one for one in marks if not any(v.start < one.start() < v.end for v in values)]
    place = 0
    while place < len(marks):
        one = marks[place]
        other = marks[place + 1] if place + 1 < len(marks) else None
        is_pair = other is not None and one["open"] and other["close"]
        if (
            is_pair
            and other is not None
            and not _begins_line(text, 0, one.start())
            and not _begins_line(text, marks[place - 1].end() if place else 0, one.start())
            and "\n" not in text[one.end() : other.start()]
        ):
            place += 2
            continue
        yield one
        place += 1


def _is_thought_mark_quoted(text: str, mark: re.Match[str]) -> bool:
    """Whether a mark stands between two quotation marks or backticks."""
    before, after = text[mark.start() - 1 : mark.start()], text[mark.end() : mark.end() + 1]
    return bool(before and after) and before in _QUOTES and after in _QUOTES


def _begins_line(text: str, start: int, place: int) -> bool:
    """Whether nothing is spoken between a place and the start of its line, or of what is spoken."""
    line = max(start, text.rfind("\n", 0, place) + 1)
    return _BEFORE.fullmatch(text, line, place) is not None


_THOUGHTS = ("reasoning_content", "reasoning", "thinking", "reasoning_details")
_OF_THOUGHT = ("thinking", "reasoning", "redacted_thinking", "summary")


def content_text(content: object) -> str | None:
    """Read what a message says, whose content may be in parts; None where it says nothing.

    Examples
    --------
    >>> content_text([{"type": "thinking", "thinking": "B?"}, {"type": "text", "text": "A"}])
    'A'
    """
    if isinstance(content, list):
        spoken = [part for part in content if not _is_thought(part)]
        return "".join(_text_of(part) for part in spoken)
    return content if isinstance(content, str) else None


def message_thought(message: Mapping[str, object]) -> str | None:
    """Read what a message says apart of a thought: a field, or parts of its content.

    Examples
    --------
    >>> message_thought({"content": "A", "reasoning_content": "B?"})
    'B?'
    """
    for name in _THOUGHTS:
        if (found := _text_of(message.get(name))).strip():
            return found
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    return "".join(_text_of(part) for part in parts if _is_thought(part)).strip() or None


def _is_thought(part: object) -> bool:
    """Whether a part of a content is a thought, by its kind or its mark."""
    if not isinstance(part, Mapping):
        return False
    return part.get("type") in _OF_THOUGHT or part.get("thought") is True or "thinking" in part


def _text_of(part: object) -> str:
    """The text of a part, of an object that holds one, or of parts together."""
    if isinstance(part, list):
        return "".join(map(_text_of, part))
    if isinstance(part, Mapping):
        held = (part.get(name) for name in ("text", "thinking", "reasoning", "summary", "content"))
        return next((text for one in held if (text := _text_of(one))), "")
    return part if isinstance(part, str) else ""
