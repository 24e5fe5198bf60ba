"""Messages as servers and their logs write them: what was said, and what was thought apart."""

from __future__ import annotations

from collections.abc import Mapping

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
