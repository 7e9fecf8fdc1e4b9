"""What the sessions of one server know together: whether it is down, how many ask it now, what it still allows."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final
from weakref import WeakKeyDictionary

import attrs

from .rate_limits import Bucket, learn

FAILURES: Final = 5
"""Failures in a row, of whichever session, after which the circuit opens (our choice)."""
COOLDOWN: Final = 5.0
"""Seconds between two attempts on a server whose circuit is open (our choice)."""
HELD: Final = 60.0
"""Seconds that the sessions hold back at most for a server that asked one of them to wait (our choice)."""
CHARACTERS: Final = 4
"""Bytes of a request that count as one token, for the bucket (OpenAI's rule of thumb for English)."""


@attrs.frozen
class Hold:
    """A request has to wait for `seconds`. One that is not firm rests on an estimate: the server may say otherwise."""

    seconds: float
    why: str
    firm: bool = True


class Traffic:
    """Shared by everything that asks one server, under one key. `concurrency` limits the requests under way at once.

    Times are seconds of a clock that never goes back; the caller reads it.
    """

    def __init__(self, concurrency: int | None = None) -> None:
        self._concurrency = concurrency
        self._slots: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()
        self._failures = 0
        self._closed_until = 0.0
        self._buckets: dict[str, Bucket] = {}

    def admit(self, now: float, size: int) -> Hold | None:
        """Why a request of `size` bytes has to wait; None lets it go and counts it."""
        if now < self._closed_until:
            why = "the server is failing" if self._failures >= FAILURES else "the server asked to wait"
            return Hold(self._closed_until - now, why)
        needs = _needs(size)
        longest = max((bucket.wait(needs[kind], now) for kind, bucket in self._buckets.items()), default=0.0)
        if longest > 0:
            return Hold(longest, "its rate limit is used up", firm=False)
        self.count(now, size)
        return None

    def count(self, now: float, size: int) -> None:
        """A request goes."""
        needs = _needs(size)
        for kind, bucket in self._buckets.items():
            bucket.take(needs[kind], now)
        if self._failures >= FAILURES:
            self._closed_until = now + COOLDOWN  # this request is the probe; the others wait for what it finds

    def answered(self, now: float, headers: Mapping[str, str]) -> None:
        """The server answered something else than that it is failing."""
        if self._failures >= FAILURES:
            self._closed_until = now
        self._failures = 0
        self._buckets |= learn(headers, now)

    def failed(self, now: float) -> None:
        """It could not be reached, or failed."""
        self._failures += 1
        if self._failures >= FAILURES:
            self._closed_until = max(self._closed_until, now + COOLDOWN)

    def asked_to_wait(self, now: float, seconds: float) -> None:
        """It said when to come back; that is meant for every session."""
        self._closed_until = max(self._closed_until, now + min(seconds, HELD))

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """One of the places for a request under way."""
        if self._concurrency is None:
            yield
            return
        loop = asyncio.get_running_loop()
        slots = self._slots.get(loop)
        if slots is None:
            slots = self._slots[loop] = asyncio.Semaphore(self._concurrency)
        async with slots:
            yield


def _needs(size: int) -> dict[str, float]:
    """What a request takes from each kind of bucket."""
    tokens = size / CHARACTERS
    return {"requests": 1.0, "tokens": tokens, "input-tokens": tokens}
