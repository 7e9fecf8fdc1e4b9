"""How many runs may go on at once: the others wait, in the order in which they came."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from weakref import WeakKeyDictionary

from states.errors import ConfigError


class Admission:
    """Lets in `most` at once (None: all). One per loop of events, since one cannot wait for another's."""

    def __init__(self, most: int | None) -> None:
        if most is not None and most < 1:
            raise ConfigError(f"max_runs must be at least 1, not {most}; None is no limit")
        self._most = most
        self._gates: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()

    @asynccontextmanager
    async def admitted(self) -> AsyncIterator[None]:
        """Wait for a place and keep it. Whoever is cancelled while waiting has begun nothing."""
        if self._most is None:
            yield
            return
        async with self._gates.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(self._most)):
            yield
