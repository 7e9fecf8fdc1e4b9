"""One HTTP client and one encoder per session: cheaper than one shared pool, and nothing is encoded twice."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final
from weakref import WeakKeyDictionary

import attrs
import httpx

from .encoder import Encoder

IDLE: Final = 64
"""Sessions whose client is kept while nothing is asked (our choice: each may hold an open connection)."""


@attrs.define(eq=False)
class Lane:
    """What one session keeps between its requests."""

    client: httpx.AsyncClient
    encoder: Encoder
    busy: int = 0


class Lanes:
    """Lanes by session, made when first asked for. A client belongs to one event loop, so each loop has its own."""

    def __init__(
        self, client: Callable[[], httpx.AsyncClient], encoder: Callable[[], Encoder], idle: int = IDLE
    ) -> None:
        self._client = client
        self._encoder = encoder
        self._idle = idle
        self._loops: WeakKeyDictionary[asyncio.AbstractEventLoop, OrderedDict[str, Lane]] = WeakKeyDictionary()

    @asynccontextmanager
    async def use(self, session: str) -> AsyncIterator[Lane]:
        """The session's lane; it stays open while somebody uses it."""
        lanes = self._loops.setdefault(asyncio.get_running_loop(), OrderedDict())
        lane = lanes.get(session)
        if lane is None:
            lane = lanes[session] = Lane(self._client(), self._encoder())
        lanes.move_to_end(session)
        lane.busy += 1
        try:
            if len(lanes) > self._idle:
                await self._thin(lanes)
            yield lane
        finally:
            lane.busy -= 1

    async def close(self) -> None:
        """Close every client of the running loop. The next request makes new ones."""
        lanes = self._loops.pop(asyncio.get_running_loop(), OrderedDict())
        for lane in lanes.values():
            await lane.client.aclose()

    async def _thin(self, lanes: OrderedDict[str, Lane]) -> None:
        """Close the lanes that have not been used for longest, beyond the number to keep."""
        spare = [session for session, lane in lanes.items() if not lane.busy][: len(lanes) - self._idle]
        for closing in [lanes.pop(session) for session in spare]:
            await closing.client.aclose()
