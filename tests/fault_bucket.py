"""A proxy before an S3 server, over real HTTP, that fails by a seeded plan.

``slow`` and ``full`` refuse a request (503 SlowDown); ``cut`` breaks the connection off before the
server has seen all of an upload; ``lost`` lets the server do what it is asked and says nothing of
it; ``stale`` gives a listing as it was some listings ago. What is refused is refused until the
client is tired of asking: errors reach the caller.
"""

from __future__ import annotations

import asyncio
import io
import random
import threading
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import aiohttp
from aiohttp import web
from yarl import URL

SLOW_DOWN = (
    '<?xml version="1.0" encoding="UTF-8"?><Error><Code>SlowDown</Code>'
    "<Message>Please reduce your request rate.</Message></Error>"
)
OUTAGE = 12
"""Requests for one object that are refused in a row by ``full``: more than a client tries."""
BEHIND = 3
"""Listings of one folder that ``stale`` is behind."""
_HOP = {"connection", "content-length", "expect", "keep-alive", "transfer-encoding"}


@dataclass
class FaultBucket:
    """A proxy of its own thread; ``shares`` are probabilities of faults, by name."""

    behind: str
    """Address of the server."""
    shares: Mapping[str, float] = field(default_factory=dict)
    seed: int = 1
    did: Counter[str] = field(default_factory=Counter)
    """How often each fault was done."""
    url: str = ""

    def __post_init__(self) -> None:
        self._n: Counter[str] = Counter()
        self._refusing: Counter[str] = Counter()
        self._listed: dict[str, list[bytes]] = {}
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> FaultBucket:
        self._thread.start()
        assert self._ready.wait(60)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(60)

    def mend(self) -> None:
        """Refuse nothing from now on, nor what it was about to go on refusing."""
        self.shares = {}
        self.end_outages()

    def end_outages(self) -> None:
        """Go on refusing nothing: the next request for it is drawn like any other."""
        self._refusing.clear()

    def _serve(self) -> None:
        asyncio.run(self._run())

    async def _run(self) -> None:
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application(client_max_size=2**30)
        app.router.add_route("*", "/{path:.*}", self._handle)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=1, auto_decompress=False)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        async with aiohttp.ClientSession(auto_decompress=False) as self._client:
            self._ready.set()
            await self._over.wait()
        await runner.cleanup()

    def _fault(self, request: web.Request) -> str | None:
        """What is done to a request: by the seed, what is asked, and how often it was before."""
        asked = f"{request.method} {request.path_qs}"
        if self._refusing[asked]:
            self._refusing[asked] -= 1
            return "slow"
        n_before = self._n[asked]
        self._n[asked] += 1
        # Buckets of tests have names of their own: a seed draws alike in each of them.
        place = request.path_qs.lstrip("/").partition("/")[2] or request.query_string
        draw = random.Random(f"{self.seed}:{request.method} {place}:{n_before}").random()
        for name, share in self.shares.items():
            draw -= share
            if draw < 0:
                return self._begun(name, request, asked)
        return None

    def _begun(self, name: str, request: web.Request, asked: str) -> str | None:
        """The fault, where a request of this kind can have it."""
        is_listing = "list-type" in request.query
        uploads = request.method == "PUT" or (
            request.method == "POST" and "uploadId" in request.query
        )
        if (name == "stale") != is_listing or (name in ("cut", "lost") and not uploads):
            return None
        if name == "stale" and not self._listed.get(asked):
            return None
        self.did[name] += 1
        if name == "full":
            self._refusing[asked] = OUTAGE - 1
        return name

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        fault = self._fault(request)
        if fault in ("slow", "full"):
            await request.read()
            return web.Response(status=503, text=SLOW_DOWN, content_type="application/xml")
        if fault == "cut":
            await request.content.readany()
            return self._hung_up(request)
        asked = f"{request.method} {request.path_qs}"
        if fault == "stale":
            known = self._listed[asked]
            return web.Response(body=known[-min(BEHIND, len(known))], content_type="text/xml")
        url = URL(f"{self.behind}{request.raw_path}", encoded=True)
        body, sent = await request.read(), _plain(request.headers)
        async with self._client.request(
            request.method, url, data=io.BytesIO(body) if body else None, headers=sent
        ) as answer:
            data = await answer.read()
            if "list-type" in request.query and answer.status == 200:
                self._listed.setdefault(asked, []).append(data)
            if fault == "lost":
                return self._hung_up(request)
            headers = _plain(answer.headers)
            if request.method == "HEAD" and "Content-Length" in answer.headers:
                headers["Content-Length"] = answer.headers["Content-Length"]
            return web.Response(status=answer.status, body=data, headers=headers)

    def _hung_up(self, request: web.Request) -> web.Response:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()


def _plain(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers, less those of one connection."""
    return {name: value for name, value in headers.items() if name.lower() not in _HOP}
