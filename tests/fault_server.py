"""A server that speaks OpenAI's API over real HTTP, and fails by a seeded plan.

It says what it saw: when requests came, how many were there at once, and what their headers held.
"""

from __future__ import annotations

import asyncio
import json
import random
import socket
import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

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

    def __post_init__(self) -> None:
        self._n: Counter[str] = Counter()
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
        app.router.add_post("/v1/chat/completions", self._complete)
        app.router.add_post("/v1/completions", self._complete)
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
        return self._keeps_out(request) or web.json_response({"data": [model]})

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

    def content_of(self, body: dict[str, Any], fault: str | None) -> dict[str, Any]:
        """What it answers: a verdict drawn from the prompt and the seed."""
        chat = "messages" in body
        prompt = body["messages"][-1]["content"] if chat else body["prompt"]
        choices = []
        for place in range(body.get("n", 1)):
            seed = body.get("seed")
            drawn = random.Random(f"{prompt}:{None if seed is None else seed + place}")
            text = f"Best Response: [[{drawn.choice(LABELS)}]] for reasons."
            choice: dict[str, Any] = {"index": place, "finish_reason": "stop"}
            if chat:
                choice["message"] = {"role": "assistant", "content": text}
            else:
                choice["text"] = text
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
