"""A server that speaks OpenAI's API over real HTTP, and fails by a seeded plan.

It says what it saw: when requests came, how many were there at once, and what their headers held.
Beside faults that come by chance it has :data:`MODES`, named ways to misbehave towards the requests
that a test picks: each is a reply that some server has given, or could.
"""

from __future__ import annotations

import asyncio
import json
import random
import socket
import threading
import time
from base64 import b64encode, urlsafe_b64encode
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any
from urllib.parse import quote

from aiohttp import web

LABELS = "ABC"
FAULTS = ("429", "503", "500", "half", "hang", "json", "empty", "usage", "filter")


def digest_of(body: Mapping[str, Any]) -> str:
    """What tells one request's body from another's."""
    return blake2b(json.dumps(body, sort_keys=True).encode(), digest_size=8).hexdigest()


@dataclass
class Seen:
    """One request as it came: when, for how long, how large, and what became of it."""

    at: float
    key: str
    fault: str | None
    authorization: str
    body: dict[str, Any]
    until: float | None = None
    tokens: int = 0


@dataclass
class FaultServer:
    """A server of its own thread; ``shares`` are probabilities of faults, by name.

    What is done to a request depends on the server's seed, what is asked and how often that came
    before. The request's own seed has no part in it: it follows the server's port, which is another
    one in each run.
    """

    shares: Mapping[str, float] = field(default_factory=dict)
    seed: int = 1
    seconds: float = 0.0
    retry_after: str = "0.2"
    model: str = "tiny"
    key: str | None = None
    """The only key it takes; None takes any."""
    says: str | None = None
    """What every refusal repeats, as some servers do with what they were sent."""
    seen: list[Seen] = field(default_factory=list)
    port: int = 0
    failing: bool = True
    spent_after: int | None = None
    """After how many requests there is no money left."""
    mode: str | None = None
    """One of :data:`MODES`, for the requests that `picks` is true of."""
    picks: Callable[[Mapping[str, Any]], bool] = lambda _: True
    elsewhere: str = ""
    """Address of another server, to which it may redirect."""
    thinks: str | None = None
    """How it says the thought of every reply: ``tags``, ``opened`` (by the prompt), ``field``; or
    of replies with the first label alone, without an opening mark: ``some``."""

    def __post_init__(self) -> None:
        self._n: Counter[Any] = Counter()
        self._here = self.most_here = 0
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def asked(self) -> list[Seen]:
        """Requests for completions."""
        return list(self.seen)

    def most_within(self, seconds: float) -> int:
        """The most requests that came within any window of so many seconds."""
        times = sorted(one.at for one in self.seen)
        return max(
            (sum(1 for t in times[i:] if t < start + seconds) for i, start in enumerate(times)),
            default=0,
        )

    def most_tokens_within(self, seconds: float) -> int:
        """The most tokens of requests that came within any window of so many seconds."""
        ordered = sorted(self.seen, key=lambda one: one.at)
        return max(
            (
                sum(one.tokens for one in ordered[i:] if one.at < first.at + seconds)
                for i, first in enumerate(ordered)
            ),
            default=0,
        )

    def __enter__(self) -> FaultServer:
        self._thread.start()
        assert self._ready.wait(300)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(300)
        assert not self._thread.is_alive()

    def _serve(self) -> None:
        asyncio.run(self._run())

    async def _run(self) -> None:
        self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application(client_max_size=2**24)
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/v1/models/", self._models)
        app.router.add_post("/v1/chat/completions", self._complete)
        app.router.add_post("/v1/chat/completions/", self._complete)
        app.router.add_post("/v1/completions", self._complete)
        app.router.add_post("/tokenize", self._tokenize)
        # A client that hangs up ends its request, as at any server.
        runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
        await runner.setup()
        listener = socket.create_server(("127.0.0.1", self.port), backlog=1024)
        await web.SockSite(runner, listener, backlog=1024).start()
        self.port = listener.getsockname()[1]
        self._ready.set()
        await self._stopping.wait()
        # asyncio loses, unclosed, a connection accepted in the step in which its server closes:
        # first nobody new is accepted, then those who were become connections, then all are closed.
        self._loop.remove_reader(listener.fileno())
        for _ in range(3):
            await asyncio.sleep(0)
        await runner.cleanup()

    def _keeps_out(self, request: web.Request) -> web.Response | None:
        given = request.headers.get("Authorization", "")
        if self.key is None or given == f"Bearer {self.key}":
            return None
        error = {"message": f"Incorrect API key: {given}", "code": "invalid_api_key"}
        return web.json_response({"error": error}, status=401)

    async def _models(self, request: web.Request) -> web.Response:
        model = {"id": self.model, "object": "model", "owned_by": "tests"}
        if self.mode == "models_redirect_other":
            raise web.HTTPTemporaryRedirect(f"{self.elsewhere}/models")
        if self.mode in LISTS and not request.path.endswith("/"):
            return LISTS[self.mode](Bad(self, request, {}, {"data": [model]}))
        return self._keeps_out(request) or web.json_response({"data": [model]})

    async def _tokenize(self, request: web.Request) -> web.Response:
        """What vLLM's server says of a prompt, where the template opens a thought."""
        del request
        tokens = ["<|user|>", "?", "<|assistant|>", "\u010a", "<think>", "\u010a"]
        return web.json_response({"token_strs": tokens[: 6 if self.thinks == "opened" else 4]})

    def _thinking(self, text: str, body: dict[str, Any]) -> dict[str, Any]:
        """A choice with a thought that names every verdict, stopped and cut as a server does."""
        thought = "".join(f"Best Response: [[{label}]]? " for label in LABELS)
        whole = f"<think>{thought}</think>{text}"
        if body["max_tokens"] < len(whole) // 4:
            whole = whole[: 4 * body["max_tokens"]]
        ended = "stop" if whole.endswith(text) else "length"
        ends = [whole.find(mark) + len(mark) for mark in body.get("stop", ()) if mark in whole]
        if ends:
            whole, ended = whole[: min(ends)], "stop"
        message: dict[str, Any] = {"role": "assistant", "content": whole}
        if self.thinks == "opened":
            message["content"] = whole.removeprefix("<think>")
        elif self.thinks == "some":
            message["content"] = (
                whole.removeprefix("<think>") if f"[[{LABELS[0]}]]" in text else text
            )
            ended = ended if f"[[{LABELS[0]}]]" in text else "stop"
        elif self.thinks == "field":
            thought, mark, reply = whole.removeprefix("<think>").partition("</think>")
            message |= {"reasoning_content": thought, "content": reply if mark else None}
        return {"message": message, "finish_reason": ended}

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        key = digest_of(body)
        question = digest_of({name: value for name, value in body.items() if name != "seed"})
        fault = self._fault(question, self._n[question])
        self._n[question] += 1
        given = request.headers.get("Authorization", "")
        now = time.monotonic()
        seen = Seen(now, key, fault, given, body)
        self.seen.append(seen)
        self._here += 1
        self.most_here = max(self.most_here, self._here)
        try:
            if out := self._keeps_out(request):
                return out
            if self.seconds:
                await asyncio.sleep(self.seconds)
            if self._is_bad(request, body):
                seen.fault = self.mode
                return await self._misbehave(request, body)
            return await self._answer(request, seen)
        finally:
            self._here -= 1
            seen.until = time.monotonic()

    def _fault(self, question: str, n_before: int) -> str | None:
        """What is done to a request."""
        if self.spent_after is not None and len(self.seen) >= self.spent_after:
            return "quota"
        draw = random.Random(f"{self.seed}:{question}:{n_before}").random()
        for name, share in self.shares.items() if self.failing else ():
            draw -= share
            if draw < 0:
                return name
        return None

    async def _answer(self, request: web.Request, seen: Seen) -> web.StreamResponse:
        """Fail in the way that was drawn, or answer."""
        fault = seen.fault
        said = self.says or ""
        if fault in ("429", "503"):
            headers = {"Retry-After": self.retry_after}
            error = {"error": {"message": f"come back later {said}", "code": "rate_limit"}}
            return web.json_response(error, status=int(fault), headers=headers)
        if fault == "500":
            return web.Response(status=500, text=f"out of order {said}")
        if fault == "400":
            error = {"message": f"maximum context length is 8 tokens {said}", "code": "context"}
            return web.json_response({"error": error}, status=400)
        if fault == "parameter":
            error = {
                "message": f"temperature is not taken {said}",
                "param": "temperature",
                "code": "unsupported_value",
            }
            return web.json_response({"error": error}, status=400)
        if fault == "quota":
            error = {"message": "no money left", "code": "insufficient_quota"}
            return web.json_response({"error": error}, status=429)
        if fault == "policy":
            error = {"message": "not this one", "code": "content_policy_violation"}
            return web.json_response({"error": error}, status=400)
        if fault == "hang":
            await asyncio.sleep(3600)
        if fault == "json":
            return web.Response(text='{"choices": [{"message": ', content_type="application/json")
        content = self.content_of(seen.body, fault)
        seen.tokens = content.get("usage", {}).get("total_tokens", 0)
        if fault == "half":
            whole = json.dumps(content).encode()
            response = web.StreamResponse(headers={"Content-Length": str(len(whole))})
            await response.prepare(request)
            await response.write(whole[: len(whole) // 2])
            assert request.transport is not None
            request.transport.close()
            return response
        return web.json_response(content)

    def _is_bad(self, request: web.Request, body: dict[str, Any]) -> bool:
        """Whether the mode is done to a request: of those that pass, to each request once."""
        if self.mode not in REPLIES or not self.picks(body) or request.path.endswith("/"):
            return False
        once = self.mode, digest_of(body)
        self._n[once] += 1
        return self._n[once] == 1 or self.mode not in PASSING

    async def _misbehave(self, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        """Do what the mode says."""
        assert self.mode is not None
        if self.mode == "hang":
            await asyncio.sleep(3600)
        found = REPLIES[self.mode](Bad(self, request, body, self.content_of(body, None)))
        if isinstance(found, web.StreamResponse):
            return found
        assert request.transport is not None
        if isinstance(found, Trickle):
            response = web.StreamResponse(headers={"Content-Length": str(len(found.data))})
            await response.prepare(request)
            for byte in found.data:
                await response.write(bytes([byte]))
                await asyncio.sleep(found.pause_s)
            return response
        request.transport.write(found)  # type: ignore[attr-defined]
        await asyncio.sleep(0.05)
        request.transport.close()
        return web.Response()

    def content_of(self, body: dict[str, Any], fault: str | None) -> dict[str, Any]:
        """What it answers: a verdict drawn from the prompt and the seed."""
        chat = "messages" in body
        prompt = body["messages"][-1]["content"] if chat else body["prompt"]
        choices = []
        for place in range(body.get("n", 1)):
            seed = body.get("seed")
            drawn = random.Random(f"{prompt}:{None if seed is None else seed + place}")
            label = drawn.choice(LABELS)
            text = f"Best Response: [[{label}]] for reasons."
            choice: dict[str, Any] = {"index": place, "finish_reason": "stop"}
            if body.get("logprobs"):
                choice["logprobs"] = _logprobs(label, chat=chat)
            if chat:
                choice["message"] = {"role": "assistant", "content": text}
            else:
                choice["text"] = text
            if self.thinks:
                choice |= self._thinking(text, body)
            if fault == "filter":
                choice |= {"finish_reason": "content_filter", "message": {"content": None}}
            if fault == "refusal":
                choice["message"] = {"content": None, "refusal": "I will not judge this."}
            choices.append(choice)
        if fault == "empty":
            choices = []
        n_prompt = len(prompt) // 4
        usage = {
            "prompt_tokens": n_prompt,
            "completion_tokens": 12 * len(choices),
            "total_tokens": n_prompt + 12 * len(choices),
            "prompt_tokens_details": {"cached_tokens": n_prompt // 2},
        }
        whole = {"id": "x", "choices": choices, "system_fingerprint": "fp-1", "usage": usage}
        if fault == "usage":
            del whole["usage"]
        return whole


def _logprobs(label: str, *, chat: bool) -> dict[str, Any]:
    """The tokens of a reply, and what else each could have been."""
    tokens = ["Best Response: [[", label, "]]", " for reasons."]
    tops = [[(token, -0.1), ("A", -2.5), ("B", -3.5)] for token in tokens]
    if not chat:
        return {"tokens": tokens, "top_logprobs": [dict(reversed(top)) for top in tops]}
    steps = [
        [{"token": t, "logprob": p, "bytes": list(t.encode())} for t, p in top] for top in tops
    ]
    return {"content": [{**step[0], "top_logprobs": step[1:]} for step in steps]}


@dataclass(frozen=True)
class Bad:
    """What a mode may use: the server, the request, its body, and the good answer to it."""

    server: FaultServer
    request: web.Request
    body: Mapping[str, Any]
    content: dict[str, Any]

    @property
    def key(self) -> str:
        """The API key, as it was sent."""
        return self.request.headers.get("Authorization", "").removeprefix("Bearer ")

    def with_value(self, path: str, value: Any) -> dict[str, Any]:
        """The good answer with one value changed; of a path as ``choices.0.message``."""
        changed: Any = json.loads(json.dumps(self.content))
        inner = changed
        *outer, last = [int(name) if name.isdigit() else name for name in path.split(".")]
        for name in outer:
            inner = inner[name]
        inner[last] = value
        return changed  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Trickle:
    """Bytes that come one by one."""

    data: bytes
    pause_s: float


Mode = Callable[[Bad], Any]
SURROGATE = "half \ud800 of one"
CHOICE = "choices.0"
TEXT = f"{CHOICE}.message.content"
STEP = f"{CHOICE}.logprobs.content.1"
TOP = f"{STEP}.top_logprobs.0"
USAGE = "usage"


def _json(content: Any, status: int = 200, **headers: str) -> web.Response:
    """JSON as Python writes it, which has NaN."""
    text = json.dumps(content)
    return web.Response(text=text, status=status, content_type="application/json", headers=headers)


def _value(path: str, value: Any) -> Mode:
    """A good answer with another value somewhere."""
    return lambda bad: _json(bad.with_value(path, value))


def _with_key(path: str, spell: Callable[[str], Any] = str) -> Mode:
    """A good answer with the key somewhere, in some spelling."""
    return lambda bad: _json(bad.with_value(path, spell(bad.key)))


def _raw(text: str | Callable[[Bad], str], status: int = 200, **headers: str) -> Mode:
    """A body as it stands."""
    return lambda bad: web.Response(
        text=text if isinstance(text, str) else text(bad), status=status, headers=headers
    )


def _error(status: int, spell: Callable[[str], Any] = str, **more: Any) -> Mode:
    """An error whose message is made from the key."""
    return lambda bad: _json({"error": {"message": spell(bad.key), **more}}, status)


def _headers(status: int, **headers: Callable[[Bad], str]) -> Mode:
    """A status with headers."""
    return lambda bad: web.Response(
        status=status,
        text="see the headers",
        headers={name.replace("_", "-"): made(bad) for name, made in headers.items()},
    )


def _said(key: str) -> str:
    return f"Best Response: [[A]] by {key} for reasons."


def _escaped(key: str) -> str:
    return "".join(f"\\u{ord(one):04x}" for one in key)


SPELLINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "upper": str.upper,
    "base64": lambda key: b64encode(key.encode()).decode(),
    "base64_second": lambda key: b64encode(f"x{key}".encode()).decode(),
    "base64_third": lambda key: b64encode(f"xy{key}z".encode()).decode(),
    "base64_url": lambda key: urlsafe_b64encode(f"user:{key}".encode()).decode(),
    "url": lambda key: quote(key, safe=""),
    "url_twice": lambda key: quote(quote(key, safe=""), safe=""),
    "url_whole": lambda key: "".join(f"%{ord(one):02x}" for one in key),
    "json": lambda key: json.dumps({"Authorization": f"Bearer {key}"}).replace("/", "\\/"),
    "json_whole": _escaped,
    "hex": lambda key: key.encode().hex(),
}
"""How a key may be written, whole or cut."""

_HEAD = b"HTTP/1.1 200 OK\r\n"
LISTS: dict[str, Mode] = {
    "models_key": _with_key("data.0.owned_by"),
    "models_key_base64": _with_key("data.0.owned_by", SPELLINGS["base64_second"]),
    "models_surrogate": _value("data.0.owned_by", SURROGATE),
    "models_owner_list": _value("data.0.owned_by", [1]),
    "models_length_1e30": _value("data.0.max_model_len", 10**30),
    "models_names_list": _value("data", [{"id": ["x"]}, 7, None]),
    "models_html": _raw("<html>hello</html>"),
    "models_deep": _raw("[" * 100_000),
    "models_404_key": _error(404),
    "models_redirect_same": _headers(307, location=lambda _: "/v1/models/"),
}
"""Ways of the list of models under which a judge starts all the same."""
REPLIES: dict[str, Mode] = {
    **{f"text_{name}": _with_key(TEXT, lambda key, to=to: _said(to(key)))  # type: ignore[misc]
       for name, to in SPELLINGS.items()},
    **{f"error_{name}": _error(500, SPELLINGS[name]) for name in ("plain", "base64_url", "url")},
    "text_key_escaped_in_body": lambda bad: web.Response(
        text=json.dumps(bad.with_value(TEXT, _said("KEY"))).replace("KEY", _escaped(bad.key))
    ),
    "text_key_cut": _with_key(TEXT, lambda key: _said(key[:14])),
    "text_surrogate": _value(TEXT, SURROGATE),
    "text_nul": _value(TEXT, "Best Response: [[A]] \0 \x1b[2J"),
    "text_number": _value(TEXT, 7),
    "text_null": _value(TEXT, None),
    "text_dict": _value(TEXT, {"text": "x"}),
    "text_parts": _value(TEXT, [{"text": "Best Response: "}, 7, {"text": None}, {"text": "[[A]]"}]),
    "text_parts_key": _with_key(
        TEXT, lambda key: [{"text": "Best Response: [[A]] " + key[:9]}, {"text": key[9:]}]
    ),
    "text_huge": _value(TEXT, "Best Response: [[A]] " + "x" * 2_000_000),
    "finish_key": _with_key(f"{CHOICE}.finish_reason"),
    "finish_key_late": _with_key(f"{CHOICE}.finish_reason", lambda key: "x" * 70 + key),
    "finish_null": _value(f"{CHOICE}.finish_reason", None),
    "finish_list": _value(f"{CHOICE}.finish_reason", ["stop"]),
    "finish_surrogate": _value(f"{CHOICE}.finish_reason", SURROGATE),
    "fingerprint_key": _with_key("system_fingerprint"),
    "fingerprint_base64": _with_key("system_fingerprint", SPELLINGS["base64_third"]),
    "fingerprint_surrogate": _value("system_fingerprint", SURROGATE),
    "fingerprint_list": _value("system_fingerprint", [1]),
    "refusal_key": _with_key(f"{CHOICE}.message", lambda key: {"content": None, "refusal": key}),
    "refusal_list": _value(f"{CHOICE}.message.refusal", [1]),
    "reasoning_key": _with_key(f"{CHOICE}.message.reasoning"),
    "reasoning_surrogate": _value(f"{CHOICE}.message.reasoning_content", SURROGATE),
    **{
        f"prompt_tokens_{label}": _value(f"{USAGE}.prompt_tokens", value)
        for label, value in {
            "2_33": 2**33, "1e30": 10**30, "negative": -1, "fraction": 1.5, "text": "7",
            "null": None, "nan": float("nan"), "true": True,
        }.items()
    },
    "completion_tokens_2_33": _value(f"{USAGE}.completion_tokens", 2**33),
    "completion_tokens_most": _value(f"{USAGE}.completion_tokens", 2**31 - 1),
    "total_tokens_1e30": _value(f"{USAGE}.total_tokens", 10**30),
    "cached_tokens_2_33": _value(f"{USAGE}.prompt_tokens_details.cached_tokens", 2**33),
    "cached_list": _value(f"{USAGE}.prompt_tokens_details", [1]),
    "usage_list": _value(USAGE, [1]),
    "usage_null": _value(USAGE, None),
    **{
        f"logprob_{label}": _value(f"{TOP}.logprob", value)
        for label, value in {
            "null": None, "nan": float("nan"), "infinity": float("inf"),
            "minus_infinity": float("-inf"), "text": "-1", "true": True, "1e400": 10**400,
            "positive": 5.0,
        }.items()
    },
    "logprobs_text": _value(f"{CHOICE}.logprobs", "x"),
    "logprobs_null": _value(f"{CHOICE}.logprobs", None),
    "logprobs_content_text": _value(f"{CHOICE}.logprobs.content", "abc"),
    "logprobs_short": _value(f"{CHOICE}.logprobs.content", [{"token": "Best"}]),
    "logprobs_of_nulls": _value(f"{CHOICE}.logprobs.content", [None, None]),
    "logprobs_unequal": _value(
        f"{CHOICE}.logprobs", {"tokens": ["Best Response: [[", "A"], "top_logprobs": [{}]}
    ),
    "top_logprobs_dict": _value(f"{STEP}.top_logprobs", {"A": -1}),
    "token_surrogate": _value(f"{TOP}.token", "\ud800"),
    "token_surrogate_alone": _value(TOP, {"token": "\ud800", "logprob": -1.0}),
    "token_key": _with_key(TOP, lambda key: {"token": key, "logprob": -1.0}),
    "token_list": _value(TOP, {"token": [1], "logprob": -1.0}),
    "bytes_key": _with_key(f"{TOP}.bytes", lambda key: list(key.encode())),
    "bytes_300": _value(f"{TOP}.bytes", [300]),
    "bytes_negative": _value(f"{TOP}.bytes", [-1]),
    "bytes_text": _value(f"{TOP}.bytes", ["x", None]),
    "choices_none": _value("choices", []),
    "choices_null": _value("choices", None),
    "choices_dict": _value("choices", {"0": {}}),
    "choices_two": lambda bad: _json({**bad.content, "choices": bad.content["choices"] * 2}),
    "choice_null": _value(CHOICE, None),
    "index_other": _value(f"{CHOICE}.index", 1),
    "index_text": _value(f"{CHOICE}.index", "0"),
    "index_null": _value(f"{CHOICE}.index", None),
    "message_list": _value(f"{CHOICE}.message", [1]),
    "message_text": _value(f"{CHOICE}.message", "Best Response: [[A]]"),
    "deep": _raw("[" * 100_000),
    "deep_inside": lambda bad: web.Response(
        text=json.dumps({**bad.content, "more": "DEEP"}).replace(
            '"DEEP"', '["\\ud800",' * 600 + "0" + "]" * 600
        )
    ),
    "digits": lambda bad: web.Response(
        text=json.dumps(bad.content).replace('"fp-1"', "9" * 5_000)
    ),
    "garbage_behind": lambda bad: web.Response(text=json.dumps(bad.content) + "}]"),
    "mark_before": lambda bad: web.Response(text="\ufeff" + json.dumps(bad.content)),
    "html": _raw(lambda bad: f"<html>{bad.key}</html>"),
    "empty": _raw(""),
    "array": _raw("[1]"),
    "number": _raw("7"),
    "half_json": _raw('{"choices": [{"message": '),
    "not_utf8": lambda bad: web.Response(
        body=json.dumps(bad.with_value(TEXT, "[[A]] ?")).encode().replace(b"?", b"\xff")
    ),
    "charset_lie": lambda bad: web.Response(
        body=json.dumps(bad.content).encode(),
        headers={"Content-Type": "application/json; charset=utf-16"},
    ),
    "charset_unknown": lambda bad: web.Response(
        body=json.dumps(bad.content).encode(),
        headers={"Content-Type": "application/json; charset=klingon"},
    ),
    "gzip_lie": lambda _: _HEAD + b"Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd",
    "error_200": _raw('{"error": {"message": "overloaded"}}'),
    "error_200_key": _error(200),
    "error_at_cut": _error(500, lambda key: "x" * 285 + key),
    "error_cut_by_server": _error(500, lambda key: f"Bearer {key[:20]}"),
    "error_cut_before": _error(500, lambda key: f"...{key[9:]}"),
    "error_surrogate": _error(500, lambda _: SURROGATE),
    "error_list": _error(500, lambda key: [key, {"a": key}]),
    "error_plain": _raw(lambda bad: f"Bearer {bad.key}", 500),
    "error_deep": _raw('{"error":' * 900 + "1" + "}" * 900, 500),
    "400_key": _error(400, lambda key: f"maximum context length, {key}"),
    "400_param_list": _error(400, lambda key: f"no {key}", param=["model"], code={"a": 1}),
    "400_setting_key": _error(400, code="unsupported_value", param="temperature"),
    "401_key": _error(401, lambda key: f"Incorrect API key: {key}", code="invalid_api_key"),
    "404_key": _error(404),
    "413_key": _error(413),
    "418_key": _error(418),
    "422_list": _raw('{"detail": [{"loc": ["body", "messages"]}]}', 422),
    "429_key_header": _headers(429, retry_after=lambda bad: bad.key),
    "429_nan": _headers(429, retry_after=lambda _: "nan"),
    "429_date": _headers(429, retry_after=lambda _: f"Wed, 21 Oct {'9' * 30} 07:28:00 GMT"),
    "429_year": _headers(429, retry_after=lambda _: "Wed, 21 Oct 99999 07:28:00 GMT"),
    "503_key": _error(503),
    "204": lambda _: web.Response(status=204),
    "304": lambda _: web.Response(status=304),
    "302_nowhere": lambda _: web.Response(status=302),
    "redirect_same": _headers(307, location=lambda _: "/v1/chat/completions/"),
    "redirect_loop": _headers(307, location=lambda _: "/v1/chat/completions"),
    "redirect_other": _headers(
        307, location=lambda bad: f"{bad.server.elsewhere}/chat/completions"
    ),
    "redirect_other_get": _headers(302, location=lambda bad: f"{bad.server.elsewhere}/models"),
    "redirect_key": _headers(308, location=lambda bad: f"//{quote(bad.key, safe='')}.example/v1"),
    "redirect_nonsense": _headers(307, location=lambda bad: f"http://[{bad.key}/"),
    "redirect_file": _headers(307, location=lambda bad: f"file:///{bad.key}"),
    "header_key": lambda bad: _HEAD + f"X-Key : {bad.key}\r\n\r\n".encode(),
    "header_key_good": lambda bad: _json(bad.content, **{"X-Request-Id": bad.key}),
    "status_line_key": lambda bad: f"HTP {bad.key}\r\n\r\n".encode(),
    "length_lie": lambda _: _HEAD + b"Content-Length: 99999\r\n\r\n{}",
    "hangs_up": lambda _: b"",
    "hang": lambda _: web.Response(),
    "trickle": lambda _: Trickle(b"{" * 10_000, 0.05),
}  # fmt: skip
"""What may come in place of a good answer."""
PASSING = frozenset(name for name in REPLIES if name.startswith(("429", "503"))) | {"redirect_same"}
"""Those after which a request is sent again at once: done to each request once."""
SETTINGS = frozenset(
    {
        "401_key", "404_key", "400_setting_key", "redirect_other", "redirect_other_get",
        "redirect_key", "redirect_nonsense", "redirect_file",
    }
)  # fmt: skip
"""Those after which nothing more can be asked of the judge."""
SLOW = frozenset({"hang", "trickle"})
MODES = (*LISTS, *REPLIES)
