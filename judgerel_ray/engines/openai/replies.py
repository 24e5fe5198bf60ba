"""What a server answered, as completions: read from the JSON itself, nothing taken for granted.

Servers list the tokens of log-probabilities as texts, not as numbers; a place in the list stands
for the number here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from judgerel_ray.core import (
    DECLINED,
    Completion,
    Condition,
    EngineError,
    Menu,
    TokenLogprob,
    request_key,
)
from judgerel_ray.engines.engine import JSON, cut_after
from judgerel_ray.engines.next_tokens import NextTokens, spelled_verdicts, verdict_place
from judgerel_ray.engines.openai.boundary import (
    LONGEST_MESSAGE,
    finite_logprob,
    int32_count,
    plain_text,
)
from judgerel_ray.engines.openai.requests import Request
from judgerel_ray.protocols import (
    content_text,
    drop_moved_thought,
    message_thought,
    split_thought,
)

LONGEST_SHOWN = 80  # characters of a finish reason
Listing = tuple[tuple[bytes, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyTokens:
    """The tokens of a reply, and the most probable ones at the place of each."""

    tokens: tuple[bytes, ...] = ()
    listings: tuple[Listing, ...] = ()


def reply_tokens(choice: Mapping[str, JSON]) -> ReplyTokens:
    """Read the tokens of a reply and their alternatives, of either endpoint."""
    logprobs = choice.get("logprobs")
    if not isinstance(logprobs, Mapping):
        return ReplyTokens()
    content = logprobs.get("content")
    if isinstance(content, list):  # chat
        steps = [step for step in content if isinstance(step, Mapping)]
        return ReplyTokens(
            tokens=tuple(_bytes_of(step) for step in steps),
            listings=tuple(_chat_server_next_tokens(step.get("top_logprobs")) for step in steps),
        )
    tokens, tops = logprobs.get("tokens"), logprobs.get("top_logprobs")
    if not isinstance(tokens, list) or not isinstance(tops, list) or len(tokens) != len(tops):
        return ReplyTokens()
    return ReplyTokens(
        tokens=tuple(_bytes_of({"token": token}) for token in tokens),
        listings=tuple(_plain_server_next_tokens(top) for top in tops),
    )


def served_logprobs(text: str, reply: ReplyTokens, menu: Menu | None) -> tuple[TokenLogprob, ...]:
    """Find the place of a reply's verdict, and say what each next token there would have spelled.

    Most probable first; ``continuation`` is the option's place on the menu. Empty where the reply
    has no verdict, or its tokens do not spell it.
    """
    if menu is None or not reply.tokens:
        return ()
    tokens = _tokens_spelling_server_text(text, reply.tokens)

    def text_of(places: Sequence[int]) -> str:
        return b"".join(pieces[place] for place in places).decode(errors="replace")

    pieces = list(tokens)
    place = verdict_place(range(len(tokens)), menu=menu, text_of=text_of)
    if place is None:
        return ()
    best = sorted(reply.listings[place], key=lambda pair: (-pair[1], pair[0]))
    pieces += [token for token, _ in best]
    found = NextTokens(
        tuple(range(len(tokens), len(pieces))), tuple(logprob for _, logprob in best)
    )
    texts = [token.decode(errors="replace") for token, _ in best]
    return spelled_verdicts(range(place), found, menu=menu, text_of=text_of, texts=texts)


def _tokens_spelling_server_text(text: str, tokens: Sequence[bytes]) -> tuple[bytes, ...]:
    """The tokens that spell a text, without others: an end mark, what was cut, a thought before."""
    wanted, spelled = text.encode(), b""
    before = b"".join(tokens).rfind(wanted) if wanted else 0
    skipped = 0
    while before > 0 and tokens and skipped + len(tokens[0]) <= before:
        skipped += len(tokens[0])
        tokens = tokens[1:]
    for place, token in enumerate(tokens):
        spelled += token
        if len(spelled) >= len(wanted):
            kept = (
                tokens[: place + 1]
                if spelled == wanted
                else (*tokens[:place], wanted[len(spelled) - len(token) :])
            )
            return tuple(kept) if spelled.startswith(wanted) else ()
    return tuple(tokens) if wanted.startswith(spelled) and len(spelled) == len(wanted) else ()


def _chat_server_next_tokens(reported: JSON) -> Listing:
    """Next tokens of a chat reply's step; what has no log-probability is left off."""
    steps = reported if isinstance(reported, list) else []
    pairs = [
        (_bytes_of(step), finite_logprob(step.get("logprob")))
        for step in steps
        if isinstance(step, Mapping)
    ]
    return tuple((token, logprob) for token, logprob in pairs if logprob is not None)


def _plain_server_next_tokens(reported: JSON) -> Listing:
    """Next tokens of a plain completion's step."""
    if not isinstance(reported, Mapping):
        return ()
    return _chat_server_next_tokens(
        [{"token": token, "logprob": value} for token, value in reported.items()]
    )


def _bytes_of(step: Mapping[str, JSON]) -> bytes:
    """A token's bytes, where they are some; else those of its text."""
    numbers, token = step.get("bytes"), step.get("token")
    if isinstance(numbers, list) and numbers:
        whole = [one for one in map(int32_count, numbers) if one is not None and one < 256]
        if len(whole) == len(numbers):
            return bytes(whole)
    return plain_text(token).encode() if isinstance(token, str) else b""


_WHOLE = {
    "stop": "stop", "eos": "stop", "end_turn": "stop", "stop_sequence": "stop",
    "length": "length", "max_tokens": "length",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens a server says it counted; None where it does not say."""

    prompt: int | None = None
    cached: int | None = None
    completion: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A whole answer of a server: its choices in order, its usage, and what served it."""

    choices: tuple[Mapping[str, JSON], ...]
    usage: Usage
    backend: str | None


def read_answer_body(content: JSON, request: Request) -> Reply:
    """Read the body of an answer."""
    if not isinstance(content, Mapping):
        raise EngineError("the server's answer is not a JSON object")
    listed = content.get("choices")
    choices = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    by_place = {int32_count(one.get("index", place)): one for place, one in enumerate(choices)}
    if len(choices) != request.n or set(by_place) != set(range(request.n)):
        why = _error_words(content)
        raise EngineError(f"the server gave {len(choices)} of {request.n} replies{why}")
    backend = content.get("system_fingerprint")
    return Reply(
        choices=tuple(by_place[place] for place in range(request.n)),
        usage=_server_token_usage(content.get("usage")),
        backend=backend if isinstance(backend, str) and backend else None,
    )


def _error_words(content: Mapping[str, JSON]) -> str:
    """What an answer says of an error, as some servers do under status 200."""
    error = content.get("error")
    message = error.get("message") if isinstance(error, Mapping) else error
    return f": {' '.join(message.split())[:LONGEST_MESSAGE]}" if isinstance(message, str) else ""


def completions_of(
    reply: Reply,
    request: Request,
    condition: Condition,
    *,
    cuts: bool,
    clean: Callable[[str], str] = plain_text,
    opened: str = "",
    opened_if_cut: str = "",
) -> tuple[Completion | EngineError, ...]:
    """Read one answer as completions, one per replication, in order.

    A reply that was declined has that finish reason, and no text where none was written. In place
    of one that is not whole there is the reason.
    """
    made: list[Completion | EngineError] = []
    for place, choice in enumerate(reply.choices):
        try:
            is_cut = _WHOLE.get(str(choice.get("finish_reason"))) == "length"
            mark = opened or (opened_if_cut if is_cut else "")
            made.append(
                _completion_of_server_choice(
                    place, choice, reply.usage, request, condition, cuts, clean, mark
                )
            )
        except EngineError as error:
            made.append(error)
    return tuple(made)


def _completion_of_server_choice(
    place: int,
    choice: Mapping[str, JSON],
    usage: Usage,
    request: Request,
    condition: Condition,
    cuts: bool,
    clean: Callable[[str], str],
    opened: str,
) -> Completion:
    """Read one choice; EngineError where it is not whole."""
    key = request_key(condition.condition_key, request.first + place)
    text, why = (
        _server_choice_text(choice, chat=request.chat),
        _server_choice_ending(choice, key=key),
    )
    thought = message_thought(message_of(choice))
    if why == DECLINED:
        text = text or _server_choice_refusal(choice)
    elif text is None and thought is not None:
        text = ""  # it thought, and said nothing
    elif text is None:
        raise EngineError("the server's reply has no text", where={"key": key})
    text = text and clean(drop_moved_thought(text, thought))
    if opened and text and not (thought or split_thought(text).thought):
        text = opened + text
    cut = cut_after(text, condition.stop) if cuts and text else text
    tokens = reply_tokens(choice) if condition.scoring is not None else ReplyTokens()
    return Completion(
        key=key,
        replication=request.first + place,
        seed=None if request.seed is None else request.seed + place,
        text=cut,
        finish_reason="stop" if cut != text else why,
        prompt_tokens=usage.prompt,
        cached_tokens=usage.cached if request.n == 1 else None,
        completion_tokens=_n_new_server_tokens(choice, usage, request),
        thought=thought and clean(thought),
        logprobs=tuple(
            replace(one, token=clean(one.token))
            for one in served_logprobs(cut or "", tokens, condition.menu)
        ),
    )


def _server_choice_text(choice: Mapping[str, JSON], *, chat: bool) -> str | None:
    """What a reply says; None where it has no text at all."""
    if not chat:
        text = choice.get("text")
        return text if isinstance(text, str) else None
    message = message_of(choice)
    content = message.get("content")
    if isinstance(content, list):  # parts, as some servers give
        return content_text(content)
    if content is None and choice.get("finish_reason") == "length":
        return ""  # all new tokens went into reasoning that is not shown
    return content if isinstance(content, str) else None


def message_of(choice: Mapping[str, JSON]) -> Mapping[str, JSON]:
    """The message of a choice, empty where there is none."""
    message = choice.get("message")
    return message if isinstance(message, Mapping) else {}


def _server_choice_refusal(choice: Mapping[str, JSON]) -> str | None:
    """A refusal that a model wrote in a field of its own."""
    refusal = message_of(choice).get("refusal")
    return refusal if isinstance(refusal, str) and refusal else None


def _server_choice_ending(choice: Mapping[str, JSON], *, key: str) -> str:
    """Why a reply ended, in the words of the house."""
    reason = choice.get("finish_reason")
    if reason == DECLINED or _server_choice_refusal(choice) is not None:
        return DECLINED
    if not isinstance(reason, str) or reason not in _WHOLE:
        shown = repr(reason[:LONGEST_SHOWN] if isinstance(reason, str) else type(reason).__name__)
        raise EngineError(f"no whole reply: finish reason {shown}", where={"key": key})
    return _WHOLE[reason]


def _n_new_server_tokens(choice: Mapping[str, JSON], usage: Usage, request: Request) -> int | None:
    """New tokens of one reply; of several in one request only where the server lists them."""
    if request.n == 1:
        return usage.completion
    ids = choice.get("token_ids")
    return len(ids) if isinstance(ids, list) else None


def _server_token_usage(reported: JSON) -> Usage:
    """Token counts, where they are numbers."""
    if not isinstance(reported, Mapping):
        return Usage()
    details = reported.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else None
    return Usage(
        prompt=int32_count(reported.get("prompt_tokens")),
        cached=int32_count(cached),
        completion=int32_count(reported.get("completion_tokens")),
    )
