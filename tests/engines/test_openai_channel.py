"""What a request that failed is taken to have cost its provider."""

import asyncio

import pytest

from judgerel_ray.config import Limits
from judgerel_ray.engines.openai.channel import Channel, RequestFailed
from judgerel_ray.engines.openai.failures import Blame, Failure


class Counter:
    """A limiter that lets everything through and keeps what was given back."""

    def __init__(self):
        self.entered, self.left = [], []

    async def enter(self, tokens):
        self.entered.append(tokens)
        return len(self.entered)

    async def leave(self, permit, tokens):
        self.left.append((permit, tokens))

    async def pause(self, seconds):
        raise AssertionError(f"nobody asked for a pause, got {seconds}")


class Answering(Channel):
    """A channel to a server that always says the same."""

    async def _once(self, body):
        return body["answer"]


def spent_on(answer):
    counter = Counter()
    limits = Limits(timeout=1, retries=0, deadline=1)
    channel = Answering(client=None, limits=limits, limiter=counter)
    if isinstance(answer, Failure):
        with pytest.raises(RequestFailed) as failed:
            asyncio.run(channel.send({"answer": answer}, key="k", tokens=90))
        assert failed.value.failure.blame is answer.blame
    else:
        assert asyncio.run(channel.send({"answer": answer}, key="k", tokens=90)) == answer
    assert counter.entered[:1] == [90]
    (permit, spent), *_ = counter.left
    assert permit == 1
    return spent


@pytest.mark.parametrize("blame", [Blame.SERVER, Blame.UNKNOWN])
def test_a_reply_that_may_have_been_made_and_lost_counts_in_full(blame):
    assert spent_on(Failure(blame=blame, message="half a body")) == 90


@pytest.mark.parametrize("blame", [Blame.LATER, Blame.PROMPT, Blame.DECLINED, Blame.SETTING])
def test_a_request_that_was_turned_away_took_no_tokens(blame):
    assert spent_on(Failure(blame=blame, message="no")) == 0


def test_an_answer_counts_what_it_says_it_took():
    assert spent_on('{"usage": {"total_tokens": 12}}') == 12
    assert spent_on("{}") == 90


class OneAtATime(Counter):
    """A limiter of one permit."""

    def __init__(self):
        super().__init__()
        self.free = asyncio.Semaphore(1)

    async def enter(self, tokens):
        await self.free.acquire()
        return await super().enter(tokens)

    async def leave(self, permit, tokens):
        await super().leave(permit, tokens)
        self.free.release()
        await asyncio.sleep(0)  # one that waits goes on before the one that left


def test_what_waited_is_not_sent_to_a_server_that_takes_nothing_more():
    sent = []

    class Refusing(Channel):
        async def _once(self, body):
            sent.append(body["n"])
            await asyncio.sleep(0)
            return Failure(blame=Blame.SETTING, message="no money left")

    async def story():
        limiter = OneAtATime()
        limits = Limits(timeout=1, retries=0, deadline=1)
        channel = Refusing(client=None, limits=limits, limiter=limiter)
        asked = [channel.send({"n": n}, key=str(n), tokens=9) for n in range(3)]
        return await asyncio.gather(*asked, return_exceptions=True), limiter.left

    failures, left = asyncio.run(story())
    assert sent == [0]
    assert [one.failure.message for one in failures] == ["no money left"] * 3
    assert left == [(1, 0), (2, 0), (3, 0)]
