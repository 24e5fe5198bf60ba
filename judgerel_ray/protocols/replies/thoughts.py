"""What a model thought before its reply: taken off once, before any form looks for a verdict.

A thought stands between marks (``<think> ... </think>`` and their like), before a closing mark
alone where the chat template wrote the opening one, or in a channel other than ``final`` (gpt-oss,
also where its special tokens were left out of the text). A verdict inside it is none.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from judgerel_ray.core import CUT_IN_THOUGHT

_NAME = r"(?:[a-z]+:)?(?:think(?:ing)?|thoughts?)"
_PIPED = r"(?:thought|thinking|think)"
_MARK = re.compile(
    rf"(?P<open><{_NAME}>|\[THINK\]|<\|begin_of_{_PIPED}\|>|<\|START_THINKING\|>|◁think▷"
    r"|<unused94>(?:thought)?|<\|channel>[ \t]*thought)"
    rf"|(?P<close></{_NAME}>|\[/THINK\]|<\|end_of_{_PIPED}\|>|<\|END_THINKING\|>|◁/think▷"
    r"|<unused95>|<channel\|>)",
    re.IGNORECASE,
)
_CHANNEL = re.compile(
    r"(?:<\|start\|>\s*)?(?:assistant\s*)?<\|channel\|>\s*(?P<name>\w+)[^\n]{0,200}?<\|message\|>"
)
_MESSAGE_ENDS = re.compile(r"<\|(?:end|return|call)\|>")
# Special tokens left out of the text: "analysisWe compare ...assistantfinalBest Response: [[A]]".
_BARE_CHANNEL = re.compile(r"\s*(?:analysis|commentary)(?=[A-Z\"“*\u0080-\uffff])")
_BARE_FINAL = "assistantfinal"
_JSON = re.compile(r"\s*(?:```\w*\s*)?(?=[{\[])")
_DECODER = json.JSONDecoder(strict=False)
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
    """Take the thoughts off a reply.

    Parameters
    ----------
    text : str
        What the model wrote; of a prompt that ends inside a thought, with its opening mark before.
    is_whole : bool
        False for a reply that was cut off: of a thought that holds more opening than closing marks
        it is then not known that it ended.

    Returns
    -------
    SplitReply
        A closing mark without an opening one ends a thought that began with the reply. Marks that a
        reply in JSON quotes are left alone; so is an opening mark within a line. What remains holds
        no thought: splitting it again takes nothing off.

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
    """Take the thoughts off a reply that ended for a reason.

    Parameters
    ----------
    text : str or None
        What the model wrote, or what is kept of it without its thoughts.
    finish_reason : str
        ``length``, also with the words of :data:`~judgerel_ray.core.CUT_IN_THOUGHT`, for a reply
        that was cut off at its limit; anything else for a whole one.

    Examples
    --------
    >>> spoken_reply("<think>[[B]]", "length").in_thought, spoken_reply("[[A]]", "stop").text
    (True, '[[A]]')
    """
    is_whole = not finish_reason.startswith("length")
    split = split_thought(text or "", is_whole=is_whole)
    in_thought = finish_reason == CUT_IN_THOUGHT or (split.is_open and not is_whole)
    return SpokenReply(split.reply, is_whole, in_thought)


def whole_reply(reply: str, thought: str | None) -> str:
    """Put a reply and what was taken off it together again, as the model wrote them.

    A thought that a server gave in a field of its own has no marks, and is not put back.

    Examples
    --------
    >>> whole_reply("[[A]]", "<think>[[B]]?</think> "), whole_reply("[[A]]", "Maybe [[B]].")
    ('<think>[[B]]?</think> [[A]]', '[[A]]')
    """
    if thought is None or _split_once(thought, False) is None:
        return reply
    return thought + reply


def drop_moved_thought(text: str, thought: str | None) -> str:
    """Take off a thought that a server gives in a field of its own and at the reply's begin, too.

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
    if "<|channel|>" in text:
        headers = list(_CHANNEL.finditer(text))
        final = next((one for one in reversed(headers) if one["name"] == "final"), None)
        if final is not None:
            end = _MESSAGE_ENDS.search(text, final.end())
            rest = end.start() if end else len(text)
            return SplitReply(text[final.end() : rest], text[: final.end()])
        if headers and not text[: headers[0].start()].strip():
            return SplitReply("", text, is_open=True)
    if (begun := text.rfind(_BARE_FINAL)) >= 0:
        begun += len(_BARE_FINAL)
        return SplitReply(text[begun:], text[:begun])
    if _BARE_CHANNEL.match(text):
        return SplitReply("", text, is_open=True)
    return _split_marked(text, is_whole) if _MARK.search(text) else None


def _split_marked(text: str, is_whole: bool) -> SplitReply | None:
    """A reply without what stands between marks; None where marks are quoted alone."""
    kept: list[tuple[int, int]] = []  # ranges before a thought
    start = depth = last_open = last_close = 0
    place = _json_end(text, 0)
    while (mark := _MARK.search(text, place)) is not None:
        place = mark.end()
        if mark["open"]:
            if depth:  # quoted inside a thought, perhaps with the mark that closes it
                depth, last_open = depth + 1, place
            elif not text[max(start, text.rfind("\n", 0, mark.start()) + 1) : mark.start()].strip():
                if text[start : mark.start()].strip():
                    kept.append((start, mark.start()))
                depth, last_open = 1, place
            continue
        last_close = place
        if depth > 1:
            depth -= 1
            continue
        if not depth:  # nothing opened it: all before it is thought
            kept.clear()
        start, depth = place, 0
        if not kept:
            place = max(place, _json_end(text, place))
    is_open = depth > 0 and (last_close < last_open or not is_whole)
    if depth and not is_open:  # an opening mark was quoted inside the thought
        start = last_close
    if not is_open:
        kept.append((start, len(text)))
    if kept == [(0, len(text))]:
        return None
    reply = "".join(text[a:b] for a, b in kept)
    edges = [0, *(edge for part in kept for edge in part), len(text)]
    thought = "".join(text[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True))
    return SplitReply(reply, thought, is_open)


def _json_end(text: str, start: int) -> int:
    """Where the JSON value ends with which a reply begins; `start` where it begins with none."""
    begun = _JSON.match(text, start)
    if begun is None:
        return start
    try:
        return _DECODER.raw_decode(text, begun.end())[1]
    except (ValueError, RecursionError):
        return start
